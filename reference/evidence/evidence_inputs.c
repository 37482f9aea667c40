/* evidence_inputs.c - the inputs of one query head as exact rational matrices, for the rules and the counts of work. */
#include "reference/evidence/evidence_rules.h"

#include <math.h> /* isfinite only: no function of libm */

void ref_rule_double(fmpq_t x, double value)
{
    AUTO_MPQ(q);
    mpq_set_d(q, value);
    fmpq_set_mpq(x, q);
}

/* x[rows,columns] from the tensor's (b,h); 1 everywhere without a tensor.  0 and no value where one is not finite. */
static int fill(fmpq_mat_t x, const attest_tensor *t, int64_t b, int64_t h, slong rows, slong columns)
{
    int finite = 1;
    fmpq_mat_init(x, rows, columns);
    for (slong r = 0; r < rows; r++)
        for (slong c = 0; c < columns; c++) {
            const double value = t ? attest_load(t, attest_offset(t, b, h, r, c)) : 1.0;
            finite = finite && isfinite(value);
            ref_rule_double(fmpq_mat_entry(x, r, c), isfinite(value) ? value : 0.0);
        }
    return finite;
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

attest_status ref_rule_start(rule_job *job, const ref_inputs *in, int inverse, int64_t b, int64_t h, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_problem *p = in->p;
    const int64_t g = attest_kv_head(p, h);
    const slong n = (slong)p->n, m = (slong)p->m, d = (slong)p->d, e = (slong)p->e;
    const int retnet = attest_axis_value_of(p, ATTEST_AXIS_DECAY) == ATTEST_DECAY_RETNET;
    int finite = 1;
    fmpq_t scale;
    *job = (rule_job){ .p = p, .n = n, .m = m, .d = d, .e = e, .number = job->number, .extra = job->extra };
    finite &= fill(job->q, in->role[ATTEST_Q], b, h, n, d);
    finite &= fill(job->k, in->role[ATTEST_K], b, g, m, d);
    finite &= fill(job->v, in->role[ATTEST_V], b, g, m, e);
    finite &= fill(job->gin, in->role[ATTEST_GIN], b, g, m, 1);
    finite &= fill(job->gout, in->role[ATTEST_GOUT], b, h, n, 1);
    finite &= fill(job->b, in->role[ATTEST_BETA], b, g, m, 1);
    /* a [B,Hkv,M] or [M,d]; gamma [Hkv], whose head is its first axis */
    finite &= fill(job->a, in->role[retnet ? ATTEST_GAMMA : ATTEST_DECAY], retnet ? g : b, retnet ? 0 : g, m, d);
    fmpq_mat_init(job->out, n, e);
    if (!finite || !isfinite(p->scale))
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "a rule needs finite inputs"));
    for (slong at = 0; inverse && at < m * d; at++)
        if (fmpq_is_zero(fmpq_mat_entry(job->a, at / d, at % d)))
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "1/a_t needs every a_t to be other than 0"));
    ATTEST_TRY(feature(job->q, p, err));
    ATTEST_TRY(feature(job->k, p, err));
    fmpq_init(scale);
    ref_rule_double(scale, p->scale);
    fmpq_mat_scalar_mul_fmpq(job->q, job->q, scale);
    fmpq_clear(scale);
out:
    return status;
}

void ref_rule_stop(rule_job *job)
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
