/* exact_forms.c - the recurrent and the chunked form in integers, for the identities of derivations.md
 * (R-RECURRENT, R-CHUNK, R-PACKED): u and z by states, which share no step with the pairwise form but the loading of
 * inputs and the last partial chunk. */
#include "reference/exact.h"

#define BOTH (EXACT_COLUMN_V | EXACT_COLUMN_ONE)

/* The row of the tree that holds the monomial of row `index` of the full Kronecker state of degree n. */
static int64_t tree_row(const exact_tree *t, int n, int64_t index)
{
    int64_t letters[ATTEST_MAX_ORDER];
    for (int k = n - 1; k >= 0; k--, index /= t->dim)
        letters[k] = index % t->dim;
    for (int k = 1; t->packed && k < n; k++)
        for (int l = k; l > 0 && letters[l] < letters[l - 1]; l--) {
            const int64_t swap = letters[l];
            letters[l] = letters[l - 1];
            letters[l - 1] = swap;
        }
    int64_t row = 0;
    for (int k = 0; k < n; k++)
        row = t->level[k].child[row] + letters[k] - t->level[k].from[row];
    return row;
}

/* sum[c] += sum over rows of monomial(q) * multiplicity * s[row][c]. */
static void read_state(mpz_t *sum, mpz_t *monomials, const exact_level *l, mpz_t *s, int64_t columns)
{
    mpz_t weighted;
    mpz_init(weighted);
    for (int64_t row = 0; row < l->rows; row++) {
        mpz_mul(weighted, monomials[row], l->multiplicity[row]);
        for (int64_t c = 0; c < columns; c++)
            mpz_addmul(sum[c], weighted, s[row * columns + c]);
    }
    mpz_clear(weighted);
}

/* sum[c] += sum over the rows of a full state of monomial(q) * a[row][c]: orderings are already apart. */
static void read_given(mpz_t *sum, mpz_t *monomials, const exact_tree *t, int n, const exact_given *a)
{
    for (int64_t index = 0; index < a->rows; index++)
        for (int64_t c = 0; c < a->columns; c++)
            mpz_addmul(sum[c], monomials[tree_row(t, n, index)], a->a[index * a->columns + c]);
}

/* u, z += coefficient_n * sum * 2^exponent; then sum = 0. */
static void add_degree(mpq_t *u, mpq_t z, mpz_t *sum, long exponent, const attest_problem *p, int n)
{
    mpq_t coefficient, x;
    mpz_t one;
    mpq_init(coefficient);
    mpq_init(x);
    mpz_init_set_ui(one, 1);
    exact_degree_coefficient(coefficient, p, n);
    for (int64_t c = 0; c <= p->e; c++) {
        mpq_ptr target = c < p->e ? u[c] : z;
        exact_ratio(x, sum[c], exponent, one);
        mpq_mul(x, x, coefficient);
        mpq_add(target, target, x);
        mpz_set_ui(sum[c], 0);
    }
    mpz_clear(one);
    mpq_clear(x);
    mpq_clear(coefficient);
}

/* The state of degree n over keys [first,last), one chunk after the other, each begun from zero and then added;
 * `chunk` = last - first builds it token by token. */
static attest_status build_state(mpz_t *s, const exact_tree *t, int n, const exact_keys *r, int64_t first,
                                 int64_t last, int64_t chunk, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int64_t count = t->level[n].rows * (r->in->p->e + 1);
    mpz_t *part = exact_integers_new(count);
    if (!part)
        return attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for the state of degree %d", n);
    for (int64_t start = first; start < last; start += chunk) {
        ATTEST_TRY(exact_state_add(part, t, n, BOTH, r, start, start + chunk < last ? start + chunk : last, err));
        for (int64_t k = 0; k < count; k++) {
            mpz_add(s[k], s[k], part[k]);
            mpz_set_ui(part[k], 0);
        }
    }
out:
    exact_integers_free(part, count);
    return status;
}

/* u, z += what states over keys [first,last) and the given states yield to the row's query. */
static attest_status add_states(mpq_t *u, mpq_t z, const exact_keys *r, int64_t first, int64_t last, int64_t chunk,
                                int packed, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_problem *p = r->in->p;
    const int given_state = attest_axis_value_of(p, ATTEST_AXIS_STATE) != ATTEST_STATE_NONE;
    const int64_t columns = p->e + 1;
    exact_tree tree = { 0 };
    exact_given given = { 0 };
    mpz_t **monomials = NULL;
    mpz_t *s = NULL;
    int64_t count = 0;
    mpz_t *q = exact_integers_new(p->d), *sum = exact_integers_new(columns);
    ATTEST_TRY(exact_tree_new(&tree, p->d, r->in->highest, packed, err));
    monomials = exact_monomials_new(&tree);
    if (!q || !sum || !monomials) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for a query");
        goto out;
    }
    for (int64_t c = 0; c < p->d; c++)
        exact_feature_integer(q[c], exact_load_q(r, c), r->feature, r->q.low);
    exact_monomials_of(monomials, &tree, q, r->in->highest);
    for (int n = r->in->lowest; n <= r->in->highest; n++) {
        count = tree.level[n].rows * columns;
        s = exact_integers_new(count);
        if (!s) {
            status = attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for the state of degree %d", n);
            goto out;
        }
        ATTEST_TRY(build_state(s, &tree, n, r, first, last, chunk, err));
        read_state(sum, monomials[n], &tree.level[n], s, columns);
        add_degree(u, z, sum, n * (r->q.low + r->k.low) + r->v.low, p, n);
        if (given_state) {
            ATTEST_TRY(exact_given_new(&given, r->in, r->b, r->g, n, BOTH, err));
            read_given(sum, monomials[n], &tree, n, &given);
            add_degree(u, z, sum, n * r->q.low + given.exponent, p, n);
            exact_given_free(&given);
        }
        exact_integers_free(s, count);
        s = NULL;
    }
out:
    exact_given_free(&given);
    exact_integers_free(s, count);
    exact_monomials_free(monomials, &tree);
    exact_tree_free(&tree);
    exact_integers_free(sum, columns);
    exact_integers_free(q, p->d);
    return status;
}

static attest_status start(exact_keys *r, const ref_inputs *in, int64_t b, int64_t h, int64_t i, attest_error *err)
{
    const char *why = NULL;
    if (!exact_axes_allowed(in->p, exact_states_served))
        why = "the variant has no plain sum as its state";
    if (!why && !exact_keys_scan(r, in, b, h, i, 1))
        why = "an input is not finite or its feature not rational";
    if (!why && r->first > 0 && r->last > r->first)
        why = "the visible keys are no prefix";
    return why ? attest_fail(err, ATTEST_UNSUPPORTED, "exact forms: %s", why) : ATTEST_OK;
}

attest_status ref_exact_recurrent(mpq_t *u, mpq_t z, const ref_inputs *in, int64_t b, int64_t h, int64_t i,
                                  int packed, attest_error *err)
{
    attest_status status = ATTEST_OK;
    exact_keys r;
    ATTEST_TRY(start(&r, in, b, h, i, err));
    for (int64_t c = 0; c < in->p->e; c++)
        mpq_set_ui(u[c], 0, 1);
    mpq_set_ui(z, 0, 1);
    ATTEST_TRY(add_states(u, z, &r, r.first, r.last, r.last - r.first + 1, packed, err));
out:
    return status;
}

attest_status ref_exact_chunked(mpq_t *u, mpq_t z, const ref_inputs *in, int64_t b, int64_t h, int64_t i,
                                int64_t chunk, int packed, attest_error *err)
{
    attest_status status = ATTEST_OK;
    exact_keys r, rest;
    if (chunk < 1)
        return attest_fail(err, ATTEST_BAD_INPUT, "exact forms: chunk is %lld, must be at least 1", (long long)chunk);
    ATTEST_TRY(start(&r, in, b, h, i, err));
    rest = r;
    rest.first = r.last - (r.last - r.first) % chunk;
    ATTEST_TRY(exact_sums(u, z, &rest, err));
    ATTEST_TRY(add_states(u, z, &r, r.first, rest.first, chunk, packed, err));
out:
    return status;
}
