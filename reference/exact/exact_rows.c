/* exact_rows.c - all rows of one head by the exact engine: as rationals, or rounded once. */
#include "reference/exact/exact_integer.h"

#include "kernels/attest_float.h"

static attest_status find_keys(exact_keys *r, const ref_inputs *in, attest_row at, int norm, attest_error *err)
{
    if (exact_row_keys(r, in, at, norm) && exact_row_bits(r) >= 0)
        return ATTEST_OK;
    return attest_fail(err, ATTEST_UNSUPPORTED, "the exact engine does not serve row b=%lld h=%lld i=%lld",
                       (long long)at.b, (long long)at.h, (long long)at.i);
}

/* o[e] = 0 of an empty row, else from u and z; 0 where the divisor is 0. */
static int output(mpq_t *o, mpq_t *u, const mpq_t z, const exact_keys *r)
{
    for (int64_t c = 0; c < r->in->p->e; c++)
        mpq_set_ui(o[c], 0, 1);
    return (r->first == r->last && !exact_given_state(r->in)) || exact_row_output(o, u, z, r);
}

attest_status ref_exact_rows(mpq_t *u, mpq_t *z, mpq_t *o, int *defined, const ref_inputs *in, int64_t b, int64_t h,
                             attest_error *err)
{
    const attest_problem *p = in->p;
    attest_status status = ATTEST_OK;
    exact_keys r;
    for (int64_t i = 0; i < p->n; i++) {
        ATTEST_TRY(find_keys(&r, in, (attest_row){ b, h, i }, o != NULL, err));
        ATTEST_TRY(exact_row_sums(u + i * p->e, z[i], &r, err));
        if (!o)
            continue;
        defined[i] = output(o + i * p->e, u + i * p->e, z[i], &r);
        for (int64_t at = i * p->e; at < (i + 1) * p->e; at++)
            mpq_canonicalize(o[at]);
    }
out:
    return status;
}

/* ---- rounded ----------------------------------------------------------------------------------------------------- */
typedef struct rounding {
    uint32_t dtype;
    uint64_t none;   /* where the divisor is 0 */
    mpq_t *u, *o, z; /* of one row; [e] */
} rounding;

/* By rationals: any norm, gates, states. */
static attest_status round_rationals(uint64_t *bits, rounding *x, const exact_keys *r, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(exact_row_sums(x->u, x->z, r, err));
    const int defined = output(x->o, x->u, x->z, r);
    for (int64_t c = 0; c < r->in->p->e; c++)
        bits[c] = defined ? ref_round_rational(x->o[c], x->dtype) : x->none;
out:
    return status;
}

/* Norm sum without eps: o is a quotient of two integers of the head, factorials and powers cancel. */
static int by_integers(const exact_keys *r)
{
    const attest_setting *axis = r->in->p->axis;
    return r->head && r->last > r->first && axis_norm_of(r->in->p)->eps && axis[ATTEST_AXIS_EPS].value == 0;
}

static void round_integers(uint64_t *bits, const rounding *x, const exact_keys *r)
{
    const int64_t e = r->in->p->e;
    exact_integer_scale scale;
    mpz_t one, two;
    exact_integer_sums(&scale, r);
    const int sign = mpz_sgn(exact_integer_sum(two, r, e, 0));
    mpz_srcptr z = exact_integer_sum(two, r, e, sign < 0);
    for (int64_t c = 0; c < e; c++)
        bits[c] = sign == 0 ? x->none
                            : ref_round_quotient(exact_integer_sum(one, r, c, sign < 0), z, r->v.low, x->dtype);
}

attest_status ref_exact_rounded(uint64_t *o, uint32_t dtype, const ref_inputs *in, int64_t b, int64_t h,
                                attest_error *err)
{
    const int64_t e = in->p->e;
    attest_status status = ATTEST_OK;
    exact_keys r;
    rounding x = { .dtype = dtype, .none = attest_from_f64(dtype, attest_bits_f64(0x7ff8000000000000u)) };
    mpq_init(x.z);
    x.u = exact_rationals_new(e);
    x.o = exact_rationals_new(e);
    if (!x.u || !x.o)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for %lld rationals", (long long)e));
    for (int64_t i = 0; i < in->p->n; i++) {
        ATTEST_TRY(find_keys(&r, in, (attest_row){ b, h, i }, 1, err));
        if (by_integers(&r))
            round_integers(o + i * e, &x, &r);
        else
            ATTEST_TRY(round_rationals(o + i * e, &x, &r, err));
    }
out:
    exact_rationals_free(x.u, e);
    exact_rationals_free(x.o, e);
    mpq_clear(x.z);
    return status;
}
