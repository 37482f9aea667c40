/* evidence_rules.c - rules and sums written out as they are published, in exact rational matrices, and compared with
 * the truth of a problem on the same bits.  Nothing here comes from the engines but the rows compared with.
 */
#include "reference/evidence/evidence_rules.h"

#include <math.h> /* isfinite only: no function of libm */
#include <string.h>

/* ---- sums -------------------------------------------------------------------------------------------------------- */
/* x^(x n), 1 x d^n */
static void power_of(fmpq_mat_t power, const fmpq_mat_t x, int64_t n)
{
    fmpq_mat_t next;
    fmpq_one(fmpq_mat_entry(power, 0, 0));
    for (int64_t step = 0; step < n; step++) {
        fmpq_mat_init(next, 1, fmpq_mat_ncols(power) * fmpq_mat_ncols(x));
        fmpq_mat_kronecker_product(next, power, x);
        fmpq_mat_swap(power, next);
        fmpq_mat_clear(next);
    }
}

/* out_i += q_i^(x n) H / divisor, H = sum_s k_s^(x n)^T v_s over the keys that i sees; only the first `terms` of the
 * d^n entries (0: all). */
static void add_degree(rule_job *job, int64_t n, const fmpz_t divisor, slong terms)
{
    fmpq_mat_t x, power, state, y, v;
    slong rows = 1;
    for (int64_t step = 0; step < n; step++)
        rows *= (slong)job->d;
    fmpq_mat_init(x, 1, (slong)job->d);
    fmpq_mat_init(v, 1, (slong)job->e);
    fmpq_mat_init(y, 1, (slong)job->e);
    fmpq_mat_init(state, rows, (slong)job->e);
    slong seen = 0;
    for (slong i = 0; i < (slong)job->n; i++) {
        for (; seen < ref_rule_visible(job, i); seen++) {
            fmpq_mat_init(power, 1, 1);
            ref_rule_row(x, job->k, seen);
            ref_rule_row(v, job->v, seen);
            power_of(power, x, n);
            ref_rule_outer(state, power, v);
            fmpq_mat_clear(power);
        }
        fmpq_mat_init(power, 1, 1);
        ref_rule_row(x, job->q, i);
        power_of(power, x, n);
        for (slong c = terms ? terms : rows; c < rows; c++)
            fmpq_zero(fmpq_mat_entry(power, 0, c));
        fmpq_mat_mul(y, power, state);
        fmpq_mat_scalar_div_fmpz(y, y, divisor);
        for (slong c = 0; c < (slong)job->e; c++)
            fmpq_add(fmpq_mat_entry(job->out, i, c), fmpq_mat_entry(job->out, i, c), fmpq_mat_entry(y, 0, c));
        fmpq_mat_clear(power);
    }
    fmpq_mat_clear(x);
    fmpq_mat_clear(v);
    fmpq_mat_clear(y);
    fmpq_mat_clear(state);
}

static void one_degree(rule_job *job, slong terms)
{
    fmpz_t one;
    fmpz_init_set_ui(one, 1);
    add_degree(job, job->number, one, terms);
    fmpz_clear(one);
}

static void run_kronecker(rule_job *job) { one_degree(job, 0); }
static void run_kronecker_short(rule_job *job) { one_degree(job, (slong)job->d); }

static void run_taylor_states(rule_job *job)
{
    fmpz_t factorial;
    fmpz_init_set_ui(factorial, 1);
    for (int64_t n = 0; n <= job->number; n++) {
        if (n > 0)
            fmpz_mul_ui(factorial, factorial, (ulong)n);
        add_degree(job, n, factorial, 0);
    }
    fmpz_clear(factorial);
}

/* sum_{n<=number} (q_i.k_j)^n / n! */
static void pair_weight(fmpq_t w, const rule_job *job, slong i, slong j)
{
    AUTO_FMPQ(s);
    AUTO_FMPZ(n);
    for (slong c = 0; c < (slong)job->d; c++)
        fmpq_addmul(s, fmpq_mat_entry(job->q, i, c), fmpq_mat_entry(job->k, j, c));
    fmpq_one(w);
    for (slong step = (slong)job->number; step > 0; step--) {
        fmpz_set_si(n, step);
        fmpq_mul(w, w, s);
        fmpq_div_fmpz(w, w, n);
        fmpz_one(n);
        fmpq_add_fmpz(w, w, n);
    }
}

/* out_i = sum_j row_i w_ij column_j v_j; row or column NULL: 1 */
static void pair_sum(rule_job *job, const fmpq_mat_struct *row, const fmpq_mat_struct *column)
{
    AUTO_FMPQ(w);
    for (slong i = 0; i < (slong)job->n; i++)
        for (slong j = 0; j < ref_rule_visible(job, i); j++) {
            pair_weight(w, job, i, j);
            if (row)
                fmpq_mul(w, w, fmpq_mat_entry(row, i, 0));
            if (column)
                fmpq_mul(w, w, fmpq_mat_entry(column, j, 0));
            for (slong c = 0; c < (slong)job->e; c++)
                fmpq_addmul(fmpq_mat_entry(job->out, i, c), w, fmpq_mat_entry(job->v, j, c));
        }
}

static void run_taylor_sum(rule_job *job) { pair_sum(job, NULL, NULL); }
static void run_gates_text(rule_job *job) { pair_sum(job, job->gout, job->gin); }
static void run_gates_printed(rule_job *job) { pair_sum(job, job->gin, job->gout); }

/* row_i applied after the sum over gated values */
static void run_gates_outside(rule_job *job)
{
    pair_sum(job, NULL, job->gin);
    for (slong i = 0; i < (slong)job->n; i++)
        for (slong c = 0; c < (slong)job->e; c++)
            fmpq_mul(fmpq_mat_entry(job->out, i, c), fmpq_mat_entry(job->out, i, c), fmpq_mat_entry(job->gout, i, 0));
}

/* Q (K^T V) over all keys */
static void run_values_first(rule_job *job)
{
    fmpq_mat_t kt, kv;
    fmpq_mat_init(kt, (slong)job->d, (slong)job->m);
    fmpq_mat_init(kv, (slong)job->d, (slong)job->e);
    fmpq_mat_transpose(kt, job->k);
    fmpq_mat_mul(kv, kt, job->v);
    fmpq_mat_mul(job->out, job->q, kv);
    fmpq_mat_clear(kt);
    fmpq_mat_clear(kv);
}

/* (Q K^T) V over all keys */
static void run_scores_first(rule_job *job)
{
    fmpq_mat_t kt, qk;
    fmpq_mat_init(kt, (slong)job->d, (slong)job->m);
    fmpq_mat_init(qk, (slong)job->n, (slong)job->m);
    fmpq_mat_transpose(kt, job->k);
    fmpq_mat_mul(qk, job->q, kt);
    fmpq_mat_mul(job->out, qk, job->v);
    fmpq_mat_clear(kt);
    fmpq_mat_clear(qk);
}

/* power = gamma^n, gamma the decay of the first token */
static void gamma_power(fmpq_t power, const rule_job *job, slong n)
{
    fmpq_pow_si(power, fmpq_mat_entry(job->a, 0, 0), n);
}

/* sum over j in [from,to], j <= i, of gamma^(i-j) (q_i.k_j) v_j into out_i */
static void retain(rule_job *job, slong i, slong from, slong to)
{
    AUTO_FMPQ(w, g);
    for (slong j = from; j <= i && j < to; j++) {
        fmpq_zero(w);
        for (slong c = 0; c < (slong)job->d; c++)
            fmpq_addmul(w, fmpq_mat_entry(job->q, i, c), fmpq_mat_entry(job->k, j, c));
        gamma_power(g, job, i - j);
        fmpq_mul(w, w, g);
        for (slong c = 0; c < (slong)job->e; c++)
            fmpq_addmul(fmpq_mat_entry(job->out, i, c), w, fmpq_mat_entry(job->v, j, c));
    }
}

/* (Q K^T (.) D) V, D_ij = gamma^(i-j), j <= i */
static void run_retention_parallel(rule_job *job)
{
    for (slong i = 0; i < (slong)job->n; i++)
        retain(job, i, 0, i + 1);
}

/* Chunks of B: out_i = inner + gamma^(r+1) q_i R, r = i mod B; R := gamma^B R + sum_r gamma^(B-1-r) k^T v */
static void run_retention_chunk(rule_job *job)
{
    const slong size = (slong)job->number, n = (slong)job->n;
    fmpq_mat_t state, x, v, y;
    AUTO_FMPQ(g);
    fmpq_mat_init(state, (slong)job->d, (slong)job->e);
    fmpq_mat_init(x, 1, (slong)job->d);
    fmpq_mat_init(v, 1, (slong)job->e);
    fmpq_mat_init(y, 1, (slong)job->e);
    for (slong start = 0; start < n; start += size) {
        const slong len = start + size < n ? size : n - start;
        for (slong r = 0; r < len; r++) {
            retain(job, start + r, start, start + len);
            ref_rule_row(x, job->q, start + r);
            fmpq_mat_mul(y, x, state);
            gamma_power(g, job, r + 1);
            for (slong c = 0; c < (slong)job->e; c++)
                fmpq_addmul(fmpq_mat_entry(job->out, start + r, c), g, fmpq_mat_entry(y, 0, c));
        }
        gamma_power(g, job, len);
        fmpq_mat_scalar_mul_fmpq(state, state, g);
        for (slong r = 0; r < len; r++) {
            ref_rule_row(x, job->k, start + r);
            ref_rule_row(v, job->v, start + r);
            gamma_power(g, job, len - 1 - r);
            fmpq_mat_scalar_mul_fmpq(v, v, g);
            ref_rule_outer(state, x, v);
        }
    }
    fmpq_mat_clear(state);
    fmpq_mat_clear(x);
    fmpq_mat_clear(v);
    fmpq_mat_clear(y);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */
typedef void (*rule_run)(rule_job *job);

enum {
    NEEDS_TOKENS = 1,  /* m = n: row t of keys beside row t of queries */
    NEEDS_SQUARE = 2,  /* e = d */
    NEEDS_DEGREE = 4,  /* 0 <= number <= MOST_DEGREE */
    NEEDS_ROWS = 8,    /* d^number <= MOST_ROWS */
    NEEDS_CHUNK = 16,  /* number >= 1 */
    NEEDS_INVERSE = 32 /* with number = 1: no a_t is 0, and no extra */
};
enum { MOST_DEGREE = 1000, MOST_ROWS = 1 << 20 };
enum { EXTRA_NONE = 0, EXTRA_ONE = 1, EXTRA_WIDTH = 2 }; /* numbers of `extra`: none, 1, d */

/* Formulas: evidence.h. */
static const struct {
    const char *name;
    rule_run run;
    int needs, extra;
} rules[] = {
    { "linear", ref_rule_linear, NEEDS_TOKENS, EXTRA_NONE },
    { "kronecker", run_kronecker, NEEDS_DEGREE | NEEDS_ROWS, EXTRA_NONE },
    { "kronecker-short", run_kronecker_short, NEEDS_DEGREE | NEEDS_ROWS, EXTRA_NONE },
    { "taylor-states", run_taylor_states, NEEDS_DEGREE | NEEDS_ROWS, EXTRA_NONE },
    { "taylor-sum", run_taylor_sum, NEEDS_DEGREE, EXTRA_NONE },
    { "gates-text", run_gates_text, NEEDS_DEGREE, EXTRA_NONE },
    { "gates-printed", run_gates_printed, NEEDS_DEGREE | NEEDS_TOKENS, EXTRA_NONE },
    { "gates-outside", run_gates_outside, NEEDS_DEGREE, EXTRA_NONE },
    { "factor-inside", ref_rule_factor_inside, NEEDS_TOKENS, EXTRA_NONE },
    { "values-first", run_values_first, 0, EXTRA_NONE },
    { "scores-first", run_scores_first, 0, EXTRA_NONE },
    { "absorbed", ref_rule_absorbed, NEEDS_TOKENS, EXTRA_NONE },
    { "gated", ref_rule_gated, NEEDS_TOKENS, EXTRA_NONE },
    { "value-gate", ref_rule_value_gate, NEEDS_TOKENS | NEEDS_SQUARE, EXTRA_NONE },
    { "retention-parallel", run_retention_parallel, NEEDS_TOKENS, EXTRA_NONE },
    { "retention-chunk", run_retention_chunk, NEEDS_TOKENS | NEEDS_CHUNK, EXTRA_NONE },
    { "ssd", ref_rule_ssd, NEEDS_TOKENS, EXTRA_ONE },
    { "rwkv-bonus", ref_rule_bonus, NEEDS_TOKENS | NEEDS_INVERSE, EXTRA_WIDTH },
    { "gated-delta", ref_rule_gated_delta, NEEDS_TOKENS, EXTRA_NONE },
    { "sla-delta", ref_rule_sla_delta, NEEDS_TOKENS, EXTRA_NONE },
    { "rwkv7", ref_rule_removal, NEEDS_TOKENS, EXTRA_WIDTH },
};
enum { RULES = sizeof rules / sizeof rules[0] };

static int small_power(int64_t d, int64_t n)
{
    int64_t rows = 1;
    while (n-- > 0 && rows <= MOST_ROWS && d > 1)
        rows *= d <= MOST_ROWS ? d : MOST_ROWS + 1;
    return rows <= MOST_ROWS;
}

/* What the rule cannot take, or NULL. */
static const char *refused(size_t rule, const attest_problem *p, int64_t number, const attest_rule_extra *extra)
{
    const int needs = rules[rule].needs, inverse = (needs & NEEDS_INVERSE) && number == 1;
    const int64_t wanted = inverse ? 0 : rules[rule].extra == EXTRA_WIDTH ? p->d : rules[rule].extra;
    if ((needs & NEEDS_TOKENS) && p->m != p->n)
        return "m = n";
    if ((needs & NEEDS_SQUARE) && p->e != p->d)
        return "e = d";
    if ((needs & NEEDS_DEGREE) && (number < 0 || number > MOST_DEGREE))
        return "a degree from 0 to 1000";
    if ((needs & NEEDS_ROWS) && !small_power(p->d, number))
        return "a state of at most 2^20 rows";
    if ((needs & NEEDS_CHUNK) && number < 1)
        return "chunks of 1 token or more";
    if (wanted != (extra ? extra->count : 0))
        return wanted == 0      ? "no extra numbers"
               : wanted == p->d ? "an extra number for each dimension"
                                : "an extra number";
    for (int64_t c = 0; c < wanted; c++)
        if (!isfinite(extra->value[c]))
            return "extra numbers that are finite";
    return NULL;
}

/* ---- the comparison ---------------------------------------------------------------------------------------------- */
void ref_rule_compare(attest_match *match, const fmpq_t value, const mpq_t *rational, const arb_t ball)
{
    AUTO_ARB(x);
    AUTO_MPQ(q);
    fmpq_get_mpq(q, value);
    arb_set_fmpq(x, value, 256);
    arb_sub(x, x, ball, 256);
    arb_abs(x, x);
    const int equal = rational ? mpq_equal(q, *rational) : arb_contains_fmpq(ball, value);
    if (rational && equal)
        arb_zero(x);
    ref_match_add(match, x, !equal, rational != NULL);
}

attest_status attest_evidence_rule(attest_match *match, const char *rule, int64_t number,
                                   const attest_rule_extra *extra, attest_truth *truth, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const ref_inputs *in = ref_truth_inputs(truth);
    const attest_problem *p = in->p;
    rule_job job;
    int started = 0;
    size_t index = 0;
    while (index < RULES && strcmp(rules[index].name, rule) != 0)
        index++;
    if (index == RULES)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "'%s' is no rule", rule));
    const char *need = refused(index, p, number, extra);
    if (need)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "rule %s needs %s", rule, need));
    const int inverse = (rules[index].needs & NEEDS_INVERSE) && number == 1;
    for (int64_t bh = 0; bh < p->b * p->hq; bh++) {
        job.number = number;
        job.extra = extra ? extra->value : NULL;
        started = 1;
        ATTEST_TRY(ref_rule_start(&job, in, inverse, bh / p->hq, bh % p->hq, err));
        rules[index].run(&job);
        for (int64_t i = 0; i < p->n; i++) {
            ref_row *row;
            ATTEST_TRY(ref_truth_row(&row, truth, (attest_row){ bh / p->hq, bh % p->hq, i }, 256, err));
            ref_row_reduce(row);
            const int plain = attest_problem_has(p, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_U }, NULL, 0) &&
                              attest_axis_value_of(p, ATTEST_AXIS_NORM) != ATTEST_NORM_NONE;
            for (int64_t c = 0; c < p->e; c++)
                ref_rule_compare(match, fmpq_mat_entry(job.out, (slong)i, (slong)c),
                                 !row->rational ? NULL
                                 : plain        ? &row->uq[c]
                                                : &row->oq[c],
                                 plain ? row->u + c : row->o + c);
        }
        ref_rule_stop(&job);
        started = 0;
    }
out:
    if (started)
        ref_rule_stop(&job);
    return status;
}
