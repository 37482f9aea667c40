/* evidence_work.c - the work of standard and of linear attention, counted while it is done: each form is written out as
 * loops over the inputs of one head, every multiply-add, addition and division counted where it is executed and every
 * number where it is stored; its outputs are compared with the truth, so that what is counted is the work of the
 * answer.
 */
#include <string.h>

#include "reference/evidence/evidence_rules.h"
#include "reference/truth/truth.h"

enum { BITS = 256 };

typedef struct work_job {
    rule_job rule;
    attest_work *work;
    fmpq_mat_t term;  /* [1,1] */
    fmpq_mat_t z;     /* [n,1] */
    arb_ptr streamed; /* [n,e], of the streaming form */
} work_job;

/* to += x y, counted in *count */
static void multiply_add(int64_t *count, fmpq *to, const fmpq *x, const fmpq *y)
{
    fmpq_addmul(to, x, y);
    ++*count;
}

static void add(work_job *job, fmpq *to, const fmpq *x)
{
    fmpq_add(to, to, x);
    job->work->additions++;
}

/* out_i /= z_i */
static attest_status divide(work_job *job, attest_error *err)
{
    for (slong i = 0; i < (slong)job->rule.n; i++) {
        if (fmpq_is_zero(fmpq_mat_entry(job->z, i, 0)))
            return attest_fail(err, ATTEST_BAD_INPUT, "the denominator of row %lld is 0", (long long)i);
        for (slong c = 0; c < (slong)job->rule.e; c++) {
            fmpq *out = fmpq_mat_entry(job->rule.out, i, c);
            fmpq_div(out, out, fmpq_mat_entry(job->z, i, 0));
            job->work->divisions++;
        }
    }
    return ATTEST_OK;
}

/* W = Q K^T, held; then W V and the row sums of W. */
static attest_status run_pairs(work_job *job, attest_error *err)
{
    rule_job *r = &job->rule;
    fmpq_mat_t w;
    fmpq_mat_init(w, (slong)r->n, (slong)r->m);
    for (slong i = 0; i < (slong)r->n; i++)
        for (slong j = 0; j < ref_rule_visible(r, i); j++) {
            for (slong c = 0; c < (slong)r->d; c++)
                multiply_add(&job->work->products, fmpq_mat_entry(w, i, j), fmpq_mat_entry(r->q, i, c),
                             fmpq_mat_entry(r->k, j, c));
            job->work->held++;
        }
    for (slong i = 0; i < (slong)r->n; i++)
        for (slong j = 0; j < ref_rule_visible(r, i); j++) {
            for (slong c = 0; c < (slong)r->e; c++)
                multiply_add(&job->work->products, fmpq_mat_entry(r->out, i, c), fmpq_mat_entry(w, i, j),
                             fmpq_mat_entry(r->v, j, c));
            add(job, fmpq_mat_entry(job->z, i, 0), fmpq_mat_entry(w, i, j));
        }
    fmpq_mat_clear(w);
    return divide(job, err);
}

/* S = sum k^T v and the sum of k, held, over the keys that a query sees; then q S and q . sum. */
static attest_status run_state(work_job *job, attest_error *err)
{
    rule_job *r = &job->rule;
    const slong d = (slong)r->d, e = (slong)r->e;
    fmpq_mat_t s, sum;
    slong seen = 0;
    fmpq_mat_init(s, d, e);
    fmpq_mat_init(sum, d, 1);
    job->work->held = d * e + d;
    for (slong i = 0; i < (slong)r->n; i++) {
        for (; seen < ref_rule_visible(r, i); seen++)
            for (slong c = 0; c < d; c++) {
                for (slong x = 0; x < e; x++)
                    multiply_add(&job->work->products, fmpq_mat_entry(s, c, x), fmpq_mat_entry(r->k, seen, c),
                                 fmpq_mat_entry(r->v, seen, x));
                add(job, fmpq_mat_entry(sum, c, 0), fmpq_mat_entry(r->k, seen, c));
            }
        for (slong c = 0; c < d; c++) {
            for (slong x = 0; x < e; x++)
                multiply_add(&job->work->products, fmpq_mat_entry(r->out, i, x), fmpq_mat_entry(r->q, i, c),
                             fmpq_mat_entry(s, c, x));
            multiply_add(&job->work->of_denominators, fmpq_mat_entry(job->z, i, 0), fmpq_mat_entry(r->q, i, c),
                         fmpq_mat_entry(sum, c, 0));
        }
    }
    fmpq_mat_clear(s);
    fmpq_mat_clear(sum);
    return divide(job, err);
}

/* Key j of a row whose maximum so far is `most`: rescales z and u where the score s is a new one, then adds e^(s-m). */
static void stream_key(work_job *job, arb_ptr u, arb_t z, arb_t most, const arb_t s, slong j)
{
    AUTO_ARB(top, by);
    arb_max(top, most, s, BITS);
    arb_sub(by, most, top, BITS);
    arb_exp(by, by, BITS); /* e^(old maximum - new): at the first key u and z are 0 */
    arb_mul(z, z, by, BITS);
    _arb_vec_scalar_mul(u, u, (slong)job->rule.e, by, BITS);
    arb_sub(by, s, top, BITS);
    arb_exp(by, by, BITS);
    arb_add(z, z, by, BITS);
    job->work->additions++;
    for (slong c = 0; c < (slong)job->rule.e; c++) {
        arb_t v;
        arb_init(v);
        arb_set_fmpq(v, fmpq_mat_entry(job->rule.v, j, c), BITS);
        arb_addmul(u + c, by, v, BITS);
        arb_clear(v);
        job->work->products++;
    }
    arb_swap(most, top);
}

/* Softmax, one key after another: a maximum, z and u of the row at hand are all that is held. */
static attest_status run_streaming(work_job *job, attest_error *err)
{
    rule_job *r = &job->rule;
    const slong e = (slong)r->e;
    AUTO_ARB(z, most, s);
    (void)err;
    job->work->held = e + 2;
    for (slong i = 0; i < (slong)r->n; i++) {
        arb_ptr u = job->streamed + i * e;
        arb_zero(z);
        for (slong j = 0; j < ref_rule_visible(r, i); j++) {
            fmpq_mat_zero(job->term);
            for (slong c = 0; c < (slong)r->d; c++)
                multiply_add(&job->work->products, fmpq_mat_entry(job->term, 0, 0), fmpq_mat_entry(r->q, i, c),
                             fmpq_mat_entry(r->k, j, c));
            arb_set_fmpq(s, fmpq_mat_entry(job->term, 0, 0), BITS);
            if (j == 0)
                arb_set(most, s);
            stream_key(job, u, z, most, s, j);
        }
        for (slong c = 0; c < e; c++) {
            arb_div(u + c, u + c, z, BITS);
            job->work->divisions++;
        }
    }
    return ATTEST_OK;
}

static const struct {
    const char *name;
    attest_status (*run)(work_job *job, attest_error *err);
    uint32_t weight; /* of the truth's problem */
} forms[] = {
    { "pairs", run_pairs, ATTEST_WEIGHT_POWER },
    { "state", run_state, ATTEST_WEIGHT_POWER },
    { "streaming", run_streaming, ATTEST_WEIGHT_EXP },
};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* Row i of the form against the truth's o. */
static attest_status compare_row(attest_match *match, const work_job *job, int exact, attest_truth *truth, int64_t i,
                                 attest_error *err)
{
    ref_row *row;
    const attest_status status = ref_truth_row(&row, truth, (attest_row){ 0, 0, i }, BITS, err);
    if (status != ATTEST_OK)
        return status;
    if (exact && (!row->rational || row->illposed))
        return attest_fail(err, ATTEST_INTERNAL, "row %lld is not rational", (long long)i);
    if (exact)
        ref_row_reduce(row);
    for (int64_t c = 0; c < job->rule.e; c++) {
        if (exact)
            ref_rule_compare(match, fmpq_mat_entry(job->rule.out, (slong)i, (slong)c), &row->oq[c], row->o + c);
        else
            ref_match_balls(match, job->streamed + i * job->rule.e + c, row->o + c);
    }
    return ATTEST_OK;
}

attest_status attest_evidence_work(attest_work *work, attest_match *match, const char *form, attest_truth *truth,
                                   attest_error *err)
{
    attest_status status = ATTEST_OK;
    const ref_inputs *in = ref_truth_inputs(truth);
    const attest_problem *p = in->p;
    work_job job;
    int started = 0;
    size_t index = 0;
    memset(&job, 0, sizeof job);
    memset(work, 0, sizeof *work);
    job.work = work;
    while (index < FORMS && strcmp(forms[index].name, form) != 0)
        index++;
    if (index == FORMS)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "'%s' is no form", form));
    if (attest_axis_value_of(p, ATTEST_AXIS_WEIGHT) != forms[index].weight ||
        attest_axis_value_of(p, ATTEST_AXIS_NORM) != ATTEST_NORM_SUM || p->m < 1)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "the work of '%s' needs another weight, norm or a key", form));
    started = 1;
    fmpq_mat_init(job.term, 1, 1);
    fmpq_mat_init(job.z, (slong)p->n, 1);
    job.streamed = _arb_vec_init((slong)(p->n * p->e));
    ATTEST_TRY(ref_rule_start(&job.rule, in, 0, 0, 0, err));
    ATTEST_TRY(forms[index].run(&job, err));
    for (int64_t i = 0; i < p->n; i++)
        ATTEST_TRY(compare_row(match, &job, forms[index].weight == ATTEST_WEIGHT_POWER, truth, i, err));
out:
    if (started) {
        ref_rule_stop(&job.rule);
        fmpq_mat_clear(job.term);
        fmpq_mat_clear(job.z);
        _arb_vec_clear(job.streamed, (slong)(p->n * p->e));
    }
    return status;
}
