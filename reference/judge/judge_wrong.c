/* judge_wrong.c - how far o is from the answers of simple wrong kernels: whether a bound can tell them apart. */
#include "reference/judge/judge.h"

#include <math.h>

typedef struct wrong_job {
    const ref_inputs *in;
    const ref_row *row;
    int64_t e, keys;
    double *share; /* [keys] w_j/Z; without a quotient, w_j times o/u */
    double *loss;  /* [keys] what multiplies |gin v - o| when key j is lost, infinite where no weight is left and
                               o is 0 then; without a quotient, what multiplies |gin v| */
    int weights, quotient; /* the row has weights; o is a quotient of sums */
    double gate;           /* gout */
    bound_sums own, other; /* columns of v: of the row's KV head, of the next one */
} wrong_job;

static double middle(const arb_t x) { return arf_get_d(arb_midref(x), ARF_RND_NEAR); }

/* Distance of an answer that is not the right one. */
static double distance_of(double answer, double o, double largest)
{
    const double d = __builtin_fabs(answer - o);
    return d > 0x1p-36 * (__builtin_fabs(o) + largest) ? d : NAN;
}

/* max |o| / max |u|: what a norm other than a quotient multiplies u by. */
static void norm_factor(arb_t factor, const ref_row *row)
{
    AUTO_ARB(o, u);
    AUTO_ARF(most, size);
    arf_zero(most);
    for (int64_t c = 0; c < row->e; c++) {
        arf_abs(size, arb_midref(row->u + c));
        if (arf_cmp(size, most) > 0) {
            arf_set(most, size);
            arb_set_arf(u, size);
            arb_get_mid_arb(o, row->o + c);
            arb_abs(o, o);
        }
    }
    if (arf_is_zero(most))
        arb_zero(factor);
    else
        arb_div(factor, o, u, 64);
}

static void set_shares(wrong_job *job, int64_t h)
{
    const ref_row *row = job->row;
    AUTO_ARB(divisor, factor, x, rest);
    job->quotient = axis_norm_of(job->in->p)->kind == AXIS_NORM_QUOTIENT && axis_divisor(divisor, row, job->in, h);
    job->gate = middle(row->gout);
    if (!job->quotient)
        norm_factor(factor, row);
    for (int64_t j = 0; j < job->keys; j++) {
        if (job->quotient) {
            arb_div(x, row->w + j, divisor, 64);
            job->share[j] = job->gate * middle(x);
            arb_sub(rest, divisor, row->w + j, 64);
            arb_div(x, row->w + j, rest, 64);
            job->loss[j] = arb_is_finite(x) ? __builtin_fabs(middle(x)) : (double)INFINITY;
        } else {
            arb_mul(x, row->w + j, factor, 64);
            job->share[j] = middle(x);
            job->loss[j] = __builtin_fabs(job->share[j]);
        }
    }
}

static double gated(const bound_sums *sums, const double *x, int64_t j)
{
    return sums->gate ? sums->gate[j] * x[j] : x[j];
}

static void column(double *distance, unsigned char *keys, wrong_job *job, double bound, int64_t b, int64_t g, int64_t c)
{
    const ref_row *row = job->row;
    const attest_tensor *v = job->in->role[ATTEST_V];
    const double o = middle(row->o + c), inner = job->quotient && job->gate != 0 ? o / job->gate : 0;
    const double *x = bound_sums_channel(&job->own, v, b, g, row->first, c);
    const double room = job->quotient ? bound / __builtin_fabs(job->gate) : bound;
    double sum = 0, mixed = 0, largest = 0;
    for (int64_t j = 0; j < job->keys; j++) {
        const double y = gated(&job->own, x, j);
        sum += y;
        largest = __builtin_fabs(y) > largest ? __builtin_fabs(y) : largest;
        const double change = isinf(job->loss[j]) ? __builtin_fabs(inner) : job->loss[j] * __builtin_fabs(y - inner);
        if (job->weights && change > room)
            keys[row->first + j] = ATTEST_KEY_SEEN;
    }
    distance[ATTEST_WRONG_ZEROS * job->e + c] = o != 0 ? __builtin_fabs(o) / 2 : NAN;
    if (job->keys > 1) {
        distance[ATTEST_WRONG_MEAN * job->e + c] = distance_of(sum / (double)job->keys, o, largest);
        distance[ATTEST_WRONG_LAST * job->e + c] = distance_of(gated(&job->own, x, job->keys - 1), o, largest);
    }
    if (!job->weights || v->shape[1] < 2)
        return;
    x = bound_sums_channel(&job->other, v, b, (g + 1) % v->shape[1], row->first, c);
    for (int64_t j = 0; j < job->keys; j++)
        mixed += job->share[j] * gated(&job->own, x, j);
    distance[ATTEST_WRONG_HEAD * job->e + c] = distance_of(mixed, o, largest);
}

attest_status attest_judge_wrong(double *distance, unsigned char *keys, attest_truth *truth, const double *bound,
                                 int64_t b, int64_t h, int64_t i, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ref_row *row;
    wrong_job job = { .in = ref_truth_inputs(truth) };
    const attest_problem *p = job.in->p;
    for (int64_t k = 0; k < ATTEST_WRONG_COUNT * p->e; k++)
        distance[k] = NAN;
    ATTEST_TRY(ref_truth_row(&row, truth, b, h, i, ATTEST_PRECISION_START, err));
    if (row->no_truth || row->empty || row->illposed || row->keys < 1)
        return ATTEST_OK;
    job.row = row;
    job.e = p->e;
    job.keys = row->keys;
    job.weights = p->axis[ATTEST_AXIS_UPDATE].value == ATTEST_UPDATE_ADD;
    ATTEST_TRY(bound_sums_init(&job.own, row->keys, err));
    ATTEST_TRY(bound_sums_init(&job.other, row->keys, err));
    job.share = job.own.coef[0];
    job.loss = job.own.coef[1];
    if (axis_gates_of(p)->values)
        bound_sums_gates(&job.own, row->gin);
    if (job.weights) {
        set_shares(&job, h);
        for (int64_t j = row->first; j < row->last; j++)
            if (!arb_is_zero(row->w + (j - row->first)) && keys[j] == 0)
                keys[j] = ATTEST_KEY_VISIBLE;
    }
    for (int64_t c = 0; c < p->e; c++)
        column(distance, keys, &job, bound[c], b, attest_kv_head(p, h), c);
out:
    if (job.own.value)
        bound_sums_clear(&job.own);
    if (job.other.value)
        bound_sums_clear(&job.other);
    return status;
}
