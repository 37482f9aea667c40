/* evidence_rules.c - rules and sums written out as they are published, in exact rational matrices, and compared with
 * the truth of a problem on the same bits.  Nothing here comes from the engines but the rows compared with.
 */
#include "reference/evidence_rules.h"

#include <string.h>

/* ---- small steps ------------------------------------------------------------------------------------------------- */
void ref_rule_row(fmpq_mat_t row, const fmpq_mat_t x, slong t)
{
    for (slong c = 0; c < fmpq_mat_ncols(x); c++)
        fmpq_set(fmpq_mat_entry(row, 0, c), fmpq_mat_entry(x, t, c));
}

/* S += x^T y for rows x, y */
void ref_rule_outer(fmpq_mat_t s, const fmpq_mat_t x, const fmpq_mat_t y)
{
    for (slong r = 0; r < fmpq_mat_ncols(x); r++)
        for (slong c = 0; c < fmpq_mat_ncols(y); c++)
            fmpq_addmul(fmpq_mat_entry(s, r, c), fmpq_mat_entry(x, 0, r), fmpq_mat_entry(y, 0, c));
}

void ref_rule_put(rule_job *job, slong t, const fmpq_mat_t row)
{
    for (slong c = 0; c < (slong)job->e; c++)
        fmpq_set(fmpq_mat_entry(job->out, t, c), fmpq_mat_entry(row, 0, c));
}

slong ref_rule_visible(const rule_job *job, slong i)
{
    const int all = attest_axis_value_of(job->p, ATTEST_AXIS_MASK) == ATTEST_MASK_FULL;
    return all || i + 1 > (slong)job->m ? (slong)job->m : i + 1;
}

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
static void add_degree(rule_job *job, int64_t n, ulong divisor, slong terms)
{
    fmpq_mat_t x, power, state, y, v;
    slong rows = 1;
    for (int64_t step = 0; step < n; step++)
        rows *= (slong)job->d;
    fmpq_mat_init(x, 1, (slong)job->d);
    fmpq_mat_init(v, 1, (slong)job->e);
    fmpq_mat_init(y, 1, (slong)job->e);
    fmpq_mat_init(state, rows, (slong)job->e);
    fmpz_t by;
    fmpz_init_set_ui(by, divisor);
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
        fmpq_mat_scalar_div_fmpz(y, y, by);
        for (slong c = 0; c < (slong)job->e; c++)
            fmpq_add(fmpq_mat_entry(job->out, i, c), fmpq_mat_entry(job->out, i, c), fmpq_mat_entry(y, 0, c));
        fmpq_mat_clear(power);
    }
    fmpz_clear(by);
    fmpq_mat_clear(x);
    fmpq_mat_clear(v);
    fmpq_mat_clear(y);
    fmpq_mat_clear(state);
}

static void run_kronecker(rule_job *job)
{
    add_degree(job, job->number, 1, 0);
}
static void run_kronecker_short(rule_job *job)
{
    add_degree(job, job->number, 1, (slong)job->d);
}

static void run_taylor_states(rule_job *job)
{
    ulong factorial = 1;
    for (int64_t n = 0; n <= job->number; n++) {
        factorial *= n ? (ulong)n : 1;
        add_degree(job, n, factorial, 0);
    }
}

/* sum_{n<=number} (q_i.k_j)^n / n! */
static void pair_weight(fmpq_t w, const rule_job *job, slong i, slong j)
{
    fmpq_t s;
    fmpz_t n;
    fmpq_init(s);
    fmpz_init(n);
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
    fmpq_clear(s);
    fmpz_clear(n);
}

/* out_i = sum_j row_i w_ij column_j v_j; row or column NULL: 1 */
static void pair_sum(rule_job *job, const fmpq_mat_struct *row, const fmpq_mat_struct *column)
{
    fmpq_t w;
    fmpq_init(w);
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
    fmpq_clear(w);
}

static void run_taylor_sum(rule_job *job)
{
    pair_sum(job, NULL, NULL);
}
static void run_gates_text(rule_job *job)
{
    pair_sum(job, job->gout, job->gin);
}
static void run_gates_printed(rule_job *job)
{
    pair_sum(job, job->gin, job->gout);
}

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
    fmpq_t w, g;
    fmpq_init(w);
    fmpq_init(g);
    for (slong j = from; j <= i && j < to; j++) {
        fmpq_zero(w);
        for (slong c = 0; c < (slong)job->d; c++)
            fmpq_addmul(w, fmpq_mat_entry(job->q, i, c), fmpq_mat_entry(job->k, j, c));
        gamma_power(g, job, i - j);
        fmpq_mul(w, w, g);
        for (slong c = 0; c < (slong)job->e; c++)
            fmpq_addmul(fmpq_mat_entry(job->out, i, c), w, fmpq_mat_entry(job->v, j, c));
    }
    fmpq_clear(w);
    fmpq_clear(g);
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
    fmpq_t g;
    fmpq_init(g);
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
    fmpq_clear(g);
    fmpq_mat_clear(state);
    fmpq_mat_clear(x);
    fmpq_mat_clear(v);
    fmpq_mat_clear(y);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */
typedef void (*rule_run)(rule_job *job);

static const struct {
    const char *name, *formula;
    rule_run run;
} rules[] = {
    { "linear", "H_t = H_{t-1} + k_t^T v_t; o_t = q_t H_t", ref_rule_linear },
    { "kronecker", "o_t = q_t^(x n) H_t, H_t = sum_s (k_s^(x n))^T v_s", run_kronecker },
    { "kronecker-short", "the same, summed over the first d of the d^n entries only", run_kronecker_short },
    { "taylor-states", "o_t = sum_{n<=P} 1/n! q_t^(x n) H_t^n", run_taylor_states },
    { "taylor-sum", "o_t = sum_s sum_{n<=P} 1/n! (q_t.k_s)^n v_s", run_taylor_sum },
    { "gates-text", "o_t = sum_s gout_t w_ts gin_s v_s", run_gates_text },
    { "gates-printed", "o_t = sum_s gin_t w_ts gout_s v_s", run_gates_printed },
    { "gates-outside", "o_t = gout_t sum_s w_ts (gin_s v_s)", run_gates_outside },
    { "factor-inside", "H_t = H_{t-1} + g_t k_t^T v_t; o_t = q_t H_t", ref_rule_factor_inside },
    { "values-first", "Q (K^T V)", run_values_first },
    { "scores-first", "(Q K^T) V", run_scores_first },
    { "absorbed", "S_t = S_{t-1} + (gin_t k_t)^T v_t; y_t = (gout_t q_t) S_t", ref_rule_absorbed },
    { "gated", "S_t = diag(a_t) S_{t-1} + (gin_t k_t)^T v_t; y_t = gout_t q_t S_t", ref_rule_gated },
    { "value-gate", "S_t = S_{t-1} diag(a_t) + k_t^T v_t; y_t = q_t S_t", ref_rule_value_gate },
    { "retention-parallel", "(Q K^T (.) D) V, D_ij = gamma^(i-j)", run_retention_parallel },
    { "retention-chunk", "inner chunk plus gamma^(r+1) q R; R = gamma^B R + sum_r gamma^(B-1-r) k^T v",
      run_retention_chunk },
    { "ssd", "h_t = a_t h_{t-1} + B_t^T (dt_t x_t); y_t = C_t h_t + D x_t", ref_rule_ssd },
    { "rwkv-bonus", "o_t = r_t (S_{t-1} + diag(u) k_t^T v_t), S_t = diag(w_t) S_{t-1} + k_t^T v_t, r_t = w_t q_t",
      ref_rule_bonus },
    { "gated-delta", "S_t = a_t (I - b_t k_t^T k_t) S_{t-1} + b_t k_t^T v_t; o_t = q_t S_t", ref_rule_gated_delta },
    { "sla-delta", "v' = b_t (gin_t v_t - k_t S_{t-1}); S_t = S_{t-1} + k_t^T v'; y_t = gout_t q_t S_t",
      ref_rule_sla_delta },
    { "rwkv7", "S_t = (diag(w_t) - (b_t x_t)^T x_t) S_{t-1} + b_t k_t^T v_t; o_t = r_t S_t, removal key x_t",
      ref_rule_removal },
};
enum { RULES = sizeof rules / sizeof rules[0] };

/* ---- inputs ------------------------------------------------------------------------------------------------------ */
static void set_double(fmpq_t x, double value)
{
    mpq_t q;
    mpq_init(q);
    mpq_set_d(q, value);
    fmpq_set_mpq(x, q);
    mpq_clear(q);
}

/* x[rows,columns] from the tensor's (b,h); 1 everywhere without a tensor. */
static void fill(fmpq_mat_t x, const attest_tensor *t, int64_t b, int64_t h, slong rows, slong columns)
{
    fmpq_mat_init(x, rows, columns);
    for (slong r = 0; r < rows; r++)
        for (slong c = 0; c < columns; c++)
            set_double(fmpq_mat_entry(x, r, c), t ? attest_load(t, attest_offset(t, b, h, r, c)) : 1.0);
}

/* phi of every entry: identity, relu, elu1 where x >= 0. */
static attest_status feature(fmpq_mat_t x, const attest_problem *p, attest_error *err)
{
    const uint32_t value = attest_axis_value_of(p, ATTEST_AXIS_FEATURE);
    fmpz_t one;
    fmpz_init_set_ui(one, 1);
    int good = value == ATTEST_FEATURE_IDENTITY || value == ATTEST_FEATURE_RELU || value == ATTEST_FEATURE_ELU1;
    for (slong r = 0; r < fmpq_mat_nrows(x); r++)
        for (slong c = 0; c < fmpq_mat_ncols(x); c++) {
            fmpq *entry = fmpq_mat_entry(x, r, c);
            if (value == ATTEST_FEATURE_RELU && fmpq_sgn(entry) < 0)
                fmpq_zero(entry);
            good &= value != ATTEST_FEATURE_ELU1 || fmpq_sgn(entry) >= 0;
            if (value == ATTEST_FEATURE_ELU1)
                fmpq_add_fmpz(entry, entry, one);
        }
    fmpz_clear(one);
    return good ? ATTEST_OK : attest_fail(err, ATTEST_UNSUPPORTED, "a rule needs rational features");
}

static attest_status job_start(rule_job *job, const ref_inputs *in, int64_t b, int64_t h, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_problem *p = in->p;
    const int64_t g = attest_kv_head(p, h);
    const slong n = (slong)p->n, m = (slong)p->m, d = (slong)p->d, e = (slong)p->e;
    const int retnet = attest_axis_value_of(p, ATTEST_AXIS_DECAY) == ATTEST_DECAY_RETNET;
    fmpq_t scale;
    *job = (rule_job){ .p = p, .n = n, .m = m, .d = d, .e = e, .number = job->number, .extra = job->extra };
    fill(job->q, in->role[ATTEST_Q], b, h, n, d);
    fill(job->k, in->role[ATTEST_K], b, g, m, d);
    fill(job->v, in->role[ATTEST_V], b, g, m, e);
    fill(job->gin, in->role[ATTEST_GIN], b, g, m, 1);
    fill(job->gout, in->role[ATTEST_GOUT], b, h, n, 1);
    fill(job->b, in->role[ATTEST_B], b, g, m, 1);
    /* a [B,Hkv,M] or [M,d]; gamma [Hkv], whose head is its first axis */
    fill(job->a, in->role[retnet ? ATTEST_GAMMA : ATTEST_A], retnet ? g : b, retnet ? 0 : g, m, d);
    fmpq_mat_init(job->out, n, e);
    ATTEST_TRY(feature(job->q, p, err));
    ATTEST_TRY(feature(job->k, p, err));
    fmpq_init(scale);
    set_double(scale, p->scale);
    fmpq_mat_scalar_mul_fmpq(job->q, job->q, scale);
    fmpq_clear(scale);
out:
    return status;
}

static void job_stop(rule_job *job)
{
    fmpq_mat_clear(job->q);
    fmpq_mat_clear(job->k);
    fmpq_mat_clear(job->v);
    fmpq_mat_clear(job->gin);
    fmpq_mat_clear(job->gout);
    fmpq_mat_clear(job->b);
    fmpq_mat_clear(job->a);
    fmpq_mat_clear(job->out);
}

/* One value of the rule against one of the row. */
static void compare(attest_match *match, const fmpq_t value, const mpq_t *rational, const arb_t ball)
{
    arb_t x;
    mpq_t q;
    arb_init(x);
    mpq_init(q);
    fmpq_get_mpq(q, value);
    arb_set_fmpq(x, value, 256);
    arb_sub(x, x, ball, 256);
    arb_abs(x, x);
    const int equal = rational ? mpq_equal(q, *rational) : arb_contains_fmpq(ball, value);
    if (rational && equal)
        arb_zero(x);
    ref_match_add(match, x, !equal, rational != NULL);
    arb_clear(x);
    mpq_clear(q);
}

attest_status attest_evidence_rule(attest_match *match, const char *rule, int64_t number, const double *extra,
                                   attest_truth *truth, attest_error *err)
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
    for (int64_t bh = 0; bh < p->b * p->hq; bh++) {
        job.number = number;
        job.extra = extra;
        started = 1;
        ATTEST_TRY(job_start(&job, in, bh / p->hq, bh % p->hq, err));
        rules[index].run(&job);
        for (int64_t i = 0; i < p->n; i++) {
            ref_row *row;
            ATTEST_TRY(ref_truth_row(&row, truth, bh / p->hq, bh % p->hq, i, 256, err));
            const int plain = attest_problem_has(p, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_U }, NULL, 0) &&
                              attest_axis_value_of(p, ATTEST_AXIS_NORM) != ATTEST_NORM_NONE;
            for (int64_t c = 0; c < p->e; c++)
                compare(match, fmpq_mat_entry(job.out, (slong)i, (slong)c),
                        !row->rational ? NULL
                        : plain        ? &row->uq[c]
                                       : &row->oq[c],
                        plain ? row->u + c : row->o + c);
        }
        job_stop(&job);
        started = 0;
    }
out:
    if (started)
        job_stop(&job);
    return status;
}
