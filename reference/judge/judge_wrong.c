/* judge_wrong.c - how far o is from the answers of simple wrong kernels: whether a bound can tell them apart. */
#include "reference/judge/judge.h"

#include <math.h>

typedef struct wrong_job {
    const ref_inputs *in;
    const ref_row *row;
    int64_t e, keys;
    double *share;         /* [keys] w_j/Z; without a quotient, w_j times o/u */
    double *loss;          /* [keys] what multiplies |gin v - o| when key j is lost; without a quotient, |gin v| */
    int weights, quotient; /* the row has weights whose loss is modelled; o is a quotient of sums */
    int heads;             /* there is another head */
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

/* o/u in the channel where |u| is largest: what a norm without a divisor of weights multiplies u by. */
static void norm_factor(arb_t factor, const ref_row *row)
{
    AUTO_ARF(most, size);
    arf_zero(most);
    arb_zero(factor);
    for (int64_t c = 0; c < row->e; c++) {
        arf_abs(size, arb_midref(row->u + c));
        if (arf_cmp(size, most) > 0) {
            arf_set(most, size);
            arb_div(factor, row->o + c, row->u + c, 64);
        }
    }
}

/* u/Z: the norm's divisor is the sum of the weights and a constant (of a floor: where the sum is above it). */
static int is_quotient(arb_t divisor, const wrong_job *job, int64_t h)
{
    const axis_norm_kind kind = axis_norm_of(job->in->p)->kind;
    return (kind == AXIS_NORM_QUOTIENT || kind == AXIS_NORM_FLOOR) && axis_divisor(divisor, job->row, job->in, h) &&
           (kind == AXIS_NORM_QUOTIENT || arb_overlaps(divisor, job->row->z));
}

static void set_shares(wrong_job *job, int64_t h)
{
    const ref_row *row = job->row;
    AUTO_ARB(divisor, factor, x, rest);
    job->quotient = is_quotient(divisor, job, h);
    job->gate = middle(row->gout);
    if (!job->quotient)
        norm_factor(factor, row);
    for (int64_t j = 0; j < job->keys; j++) {
        if (job->quotient) {
            arb_div(x, row->w + j, divisor, 64);
            job->share[j] = middle(x);
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

/* How far u/Z moves without key j.  One that outweighs the others: from what they give, since a difference would be
 * what rounding left of it; 0 where they are too small to tell; an only key leaves 0. */
#define OUTWEIGHS 0x1p10
static double quotient_change(const wrong_job *job, const double *x, int64_t j, double inner)
{
    double sum = 0, weight = 0;
    if (job->loss[j] < OUTWEIGHS)
        return job->loss[j] * __builtin_fabs(gated(&job->own, x, j) - inner);
    for (int64_t k = 0; k < job->keys; k++) {
        sum += k == j ? 0 : job->share[k] * gated(&job->own, x, k);
        weight += k == j ? 0 : job->share[k];
    }
    if (job->keys == 1)
        return __builtin_fabs(inner);
    return weight != 0 ? __builtin_fabs(sum / weight - inner) : 0;
}

static void lost_keys(unsigned char *keys, const wrong_job *job, const double *x, double o, double bound)
{
    const double inner = job->quotient && job->gate != 0 ? o / job->gate : 0;
    const double room = job->quotient ? bound / __builtin_fabs(job->gate) : bound;
    for (int64_t j = 0; j < job->keys; j++) {
        if (keys[job->row->key[j]] != ATTEST_KEY_VISIBLE)
            continue;
        const double change = job->quotient ? quotient_change(job, x, j, inner)
                                            : job->loss[j] * __builtin_fabs(gated(&job->own, x, j));
        if (change > room)
            keys[job->row->key[j]] = ATTEST_KEY_SEEN;
    }
}

static void column(double *distance, unsigned char *keys, wrong_job *job, double bound, int64_t b, int64_t g, int64_t c)
{
    const ref_row *row = job->row;
    const attest_tensor *v = job->in->role[ATTEST_V];
    const double o = middle(row->o + c), gate = job->weights && job->quotient ? job->gate : 1;
    const double *x = bound_sums_channel(&job->own, v, b, g, row->key, c);
    double sum = 0, mixed = 0, largest = 0;
    for (int64_t j = 0; j < job->keys; j++) {
        const double y = gate * gated(&job->own, x, j);
        sum += y;
        largest = __builtin_fabs(y) > largest ? __builtin_fabs(y) : largest;
    }
    if (job->keys > 1) {
        distance[ATTEST_WRONG_MEAN * job->e + c] = distance_of(sum / (double)job->keys, o, largest);
        distance[ATTEST_WRONG_LAST * job->e + c] = distance_of(gate * gated(&job->own, x, job->keys - 1), o, largest);
    }
    if (!job->weights)
        return;
    lost_keys(keys, job, x, o, bound);
    if (!job->heads)
        return;
    x = bound_sums_channel(&job->other, v, b, (g + 1) % v->shape[1], row->key, c);
    for (int64_t j = 0; j < job->keys; j++)
        mixed += job->share[j] * gate * gated(&job->own, x, j);
    distance[ATTEST_WRONG_HEAD * job->e + c] = distance_of(mixed, o, largest);
}

/* The sums' columns, shares and gates of a row with keys. */
static attest_status open_job(wrong_job *job, unsigned char *keys, int64_t h, attest_error *err)
{
    const attest_problem *p = job->in->p;
    attest_status status = ATTEST_OK;
    job->keys = job->row->keys;
    job->weights = p->axis[ATTEST_AXIS_UPDATE].value == ATTEST_UPDATE_ADD && !axis_norm_of(p)->root.root;
    job->heads = job->weights && p->hkv > 1;
    ATTEST_TRY(bound_sums_init(&job->own, job->keys, err));
    if (job->heads)
        ATTEST_TRY(bound_sums_init(&job->other, job->keys, err));
    job->share = job->own.coef[0];
    job->loss = job->own.coef[1];
    if (ref_row_pass(job->row, p))
        bound_sums_gates(&job->own, ref_row_pass(job->row, p));
    if (!job->weights)
        goto out;
    set_shares(job, h);
    for (int64_t j = 0; j < job->keys; j++)
        if (!arb_is_zero(job->row->w + j) && keys[job->row->key[j]] == 0)
            keys[job->row->key[j]] = ATTEST_KEY_VISIBLE;
out:
    return status;
}

attest_status attest_judge_wrong(double *distance, unsigned char *keys, attest_truth *truth, const double *bound,
                                 attest_row at, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ref_row *row;
    wrong_job job = { .in = ref_truth_inputs(truth) };
    const attest_problem *p = job.in->p;
    for (int64_t k = 0; k < ATTEST_WRONG_COUNT * p->e; k++)
        distance[k] = NAN;
    ATTEST_TRY(ref_truth_row_settled(&row, truth, at, err));
    if (row->no_truth || row->empty || row->illposed)
        return ATTEST_OK;
    job.row = row;
    job.e = p->e;
    for (int64_t c = 0; c < p->e; c++) {
        const double o = middle(row->o + c);
        distance[ATTEST_WRONG_ZEROS * p->e + c] = o != 0 ? __builtin_fabs(o) / 2 : NAN;
    }
    if (row->keys < 1)
        return ATTEST_OK;
    ATTEST_TRY(open_job(&job, keys, at.h, err));
    for (int64_t c = 0; c < p->e; c++)
        column(distance, keys, &job, bound[c], at.b, attest_kv_head(p, at.h), c);
out:
    if (job.own.value)
        bound_sums_clear(&job.own);
    if (job.other.value)
        bound_sums_clear(&job.other);
    return status;
}

attest_status attest_truth_shares(double *share, attest_truth *truth, attest_row at, attest_error *err)
{
    const attest_problem *p = ref_truth_inputs(truth)->p;
    attest_status status = ATTEST_OK;
    ref_row *row;
    AUTO_ARB(sum, x);
    for (int64_t j = 0; j < p->m; j++)
        share[j] = 0;
    ATTEST_TRY(ref_truth_row(&row, truth, at, ATTEST_PRECISION_START, err));
    if (row->no_truth || row->empty || p->axis[ATTEST_AXIS_UPDATE].value != ATTEST_UPDATE_ADD)
        return ATTEST_OK;
    for (int64_t j = 0; j < row->keys; j++) {
        arb_abs(x, row->w + j);
        arb_add(sum, sum, x, 64);
    }
    for (int64_t j = 0; j < row->keys && !arb_contains_zero(sum); j++) {
        arb_div(x, row->w + j, sum, 64);
        share[row->key[j]] = middle(x);
    }
out:
    return status;
}

/* ---- of an element ----------------------------------------------------------------------------------------------- */
double attest_element_size(const attest_element *el)
{
    return el->truth_lo > 0 ? el->truth_lo : el->truth_hi < 0 ? -el->truth_hi : 0;
}

double attest_element_bound(const attest_element *el)
{
    return el->class == ATTEST_CLASS_NORMAL || el->class == ATTEST_CLASS_PREMATURE_OVERFLOW ? el->bound
                                                                                            : (double)INFINITY;
}
