/* controls: correct kernels whose arithmetic a probe of the classifier once took for something else.  Each stands here
 * twice, with all that it could declare and with nothing (its name ends in -silent); nothing false may be inferred of
 * either, and nothing may fail.
 *
 *   taylor2    T_2(s) pair by pair, and no other weight: s^2/2 needs no state
 *   half-p     the weights cast to f16, where those below 2^-25 are 0
 *   half       q, k, v, o and the weights in f16, sums in f32
 *   half-out   q, k, v and o in f16, weights and sums in f32; half-quiet, too, gives no lse
 *   roots      q and k each multiplied by sqrt(scale), rounded; roots-quiet gives no lse
 *   smooth     the mean of the keys taken off each key, its product with q added to the lse; smooth-quiet gives none
 *   divided    weights divided by their sum, then cast to p = bf16; divided-f16: to f16
 *   quotients  weights cast to p = bf16, then divided by the sum of the cast weights; quotients-f16: to f16
 *   ahead      weights divided by their sum, which is exact, before they meet the values, whose sum is exact too
 *   fine       exponentials, sums and division in double; the scores in float
 *   stored     scores rounded to bf16 after the product and after the scale, as where they are stored
 *   running    a running mean of two passes: l += w, o += (w / l) (v - o)
 *   moving     the same online, key by key; backwards: from the last key on
 *   online-f16  online, key by key, in q, k, v and weights of f16: a rescaling is in float, and uncast
 *   one-state  linear attention under mask=full: one state sum_j k_j v_j of all keys, then read, as its chunks would be
 *   parts      problem.splits parts of two passes, merged by their lse; parts-stored rounds their o to bf16 before
 *   decayed    simple-gla pair by pair, under mask=causal with n = m, and nothing else
 *   scaled     q times scale log2(e) rounded to bf16, the scores times ln 2; scaled-f16: to f16, as q, k and v are
 *   scaled-once  q times scale rounded to bf16, but where the scale is 1
 * Their names with -quiet: without lse.
 */
#include "attest.h"
#include "attest_float.h"
#include <math.h>

typedef struct style {
    int taylor, roots, smooth, running, online, summed, backwards, stored, exact, fine, state, parts, scaled, once,
        decayed;
    uint32_t division, narrow; /* what a scaled q is rounded to */
} style;

static int64_t offset_of(const attest_tensor *t, int64_t b, int64_t h, int64_t i, int64_t c)
{
    return b * t->stride[0] + h * t->stride[1] + i * t->stride[2] + c * t->stride[3];
}

static float load(const attest_tensor *t, int64_t b, int64_t h, int64_t i, int64_t c)
{
    const int64_t at = offset_of(t, b, h, i, c);
    return t->bits == 16 ? (float)attest_to_f64(t->dtype, ((const uint16_t *)t->data)[at])
                         : ((const float *)t->data)[at];
}

static void store(const attest_tensor *t, int64_t b, int64_t h, int64_t i, int64_t c, float x)
{
    if (!t)
        return;
    const int64_t at = offset_of(t, b, h, i, c);
    if (t->bits == 16)
        ((uint16_t *)t->data)[at] = (uint16_t)attest_from_f64(t->dtype, x);
    else
        ((float *)t->data)[at] = x;
}

/* A query's row: what all steps of it read. */
typedef struct row {
    const style *k;
    const attest_problem *p;
    const attest_tensors *t;
    int64_t b, h, i, keys;
    float *s, *o; /* [m], [e] */
} row;

/* The mean of the keys that the query sees, one channel of it. */
static float mean_of(const row *r, int64_t c)
{
    float sum = 0;
    for (int64_t j = 0; j < r->keys; j++)
        sum += load(r->t->role[ATTEST_K], r->b, r->h, j, c);
    return sum / (float)r->keys;
}

static float rounded(uint32_t dtype, float x) { return (float)attest_to_f64(dtype, attest_from_f64(dtype, x)); }
static float bf16(float x) { return rounded(ATTEST_BF16, x); }

/* The scores, and what was taken off all of them. */
static float make_scores(const row *r)
{
    const float scale = (float)r->p->scale, root = sqrtf(fabsf(scale));
    float common = 0;
    for (int64_t j = 0; j < r->keys; j++)
        r->s[j] = 0;
    for (int64_t c = 0; c < r->p->d; c++) {
        const float q = load(r->t->role[ATTEST_Q], r->b, r->h, r->i, c), mean = r->k->smooth ? mean_of(r, c) : 0;
        common += q * mean;
        for (int64_t j = 0; j < r->keys; j++) {
            const float x = load(r->t->role[ATTEST_K], r->b, r->h, j, c) - mean;
            r->s[j] += r->k->roots    ? q * root * (x * root)
                       : r->k->once   ? (scale == 1 ? q : rounded(r->k->narrow, q * scale)) * x
                       : r->k->scaled ? rounded(r->k->narrow, q * (scale * 1.44269504f)) * x
                                      : q * x;
        }
    }
    for (int64_t j = 0; j < r->keys; j++) {
        const int narrow = r->k->stored && !r->k->parts;
        const float x = narrow ? bf16(r->s[j]) : r->s[j];
        r->s[j] = x * (r->k->roots ? copysignf(1, scale) : r->k->once ? 1 : r->k->scaled ? 0.693147181f : scale);
        if (narrow)
            r->s[j] = bf16(r->s[j]);
    }
    return scale * common;
}

/* Turns scores into weights, uncast.  Returns the largest score. */
static float make_weights(const row *r)
{
    float m = -INFINITY;
    for (int64_t j = 0; j < r->keys; j++)
        m = fmaxf(m, r->s[j]);
    for (int64_t j = 0; j < r->keys && !r->k->fine; j++)
        r->s[j] = r->k->taylor ? 1 + r->s[j] * (1 + r->s[j] * 0.5f) : expf(r->s[j] - m);
    return r->k->taylor ? 0 : m;
}

/* Returns the denominator. */
static float add_values(const row *r)
{
    float l = 0;
    const uint32_t division = r->k->division;
    for (int64_t j = 0; j < r->keys; j++)
        l += division == ATTEST_DIVISION_AFTER_CAST ? rounded(r->p->p, r->s[j]) : r->s[j];
    for (int64_t c = 0; c < r->p->e; c++) {
        float u = 0;
        for (int64_t j = 0; j < r->keys; j++) {
            const float w = division == ATTEST_DIVISION_THEN_CAST    ? rounded(r->p->p, r->s[j] / l)
                            : division == ATTEST_DIVISION_AFTER_CAST ? rounded(r->p->p, r->s[j]) / l
                                                                     : rounded(r->p->p, r->s[j]);
            u += w * load(r->t->role[ATTEST_V], r->b, r->h, j, c);
        }
        r->o[c] = division == ATTEST_DIVISION_UNKNOWN || division == ATTEST_DIVISION_AFTER_SUM ? u / l : u;
    }
    return l;
}

/* The same with all sums exact, weights divided first; `fine`: of scores, in double. */
static float add_exactly(const row *r, float m)
{
    double l = 0;
    for (int64_t j = 0; j < r->keys; j++)
        l += r->k->fine ? exp((double)r->s[j] - m) : r->s[j];
    for (int64_t c = 0; c < r->p->e; c++) {
        double u = 0;
        for (int64_t j = 0; j < r->keys; j++) {
            const double v = load(r->t->role[ATTEST_V], r->b, r->h, j, c);
            u += v * (r->k->fine ? exp((double)r->s[j] - m) : r->s[j] / (float)l);
        }
        r->o[c] = (float)(r->k->fine ? u / l : u);
    }
    return (float)l;
}

/* The same by a running mean, the largest score known before or not, or online by sums (`summed`); *m is the largest
 * score that an online pass found. */
static float mean_values(const row *r, float *m)
{
    float l = 0, high = -INFINITY;
    for (int64_t c = 0; c < r->p->e; c++)
        r->o[c] = 0;
    for (int64_t n = 0; n < r->keys; n++) {
        const int64_t j = r->k->backwards ? r->keys - 1 - n : n;
        float w = r->s[j], alpha = 1;
        if (r->k->online) {
            const float next = fmaxf(high, w);
            alpha = expf(high - next); /* 0 at first */
            l *= alpha;
            w = expf(w - next);
            high = next;
        }
        l += w;
        for (int64_t c = 0; c < r->p->e; c++) {
            const float v = load(r->t->role[ATTEST_V], r->b, r->h, j, c);
            r->o[c] = r->k->summed ? r->o[c] * alpha + rounded(r->p->p, w) * v
                      : l > 0      ? r->o[c] + w / l * (v - r->o[c])
                                   : r->o[c];
        }
    }
    for (int64_t c = 0; c < r->p->e && r->k->summed; c++)
        r->o[c] /= l;
    if (r->k->online)
        *m = high;
    return l;
}

/* Problem.splits parts, each divided by itself, then merged by e^(lse of the part - lse).  Returns the lse. */
static float merge_parts(const row *r)
{
    const int64_t splits = r->p->splits > 0 ? r->p->splits : 1, len = (r->keys + splits - 1) / splits, e = r->p->e;
    float lse[2] = { -INFINITY, 0 }, sum = 0; /* of all parts, of one */
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t first = 0; first < r->keys; first += len) {
            const int64_t end = first + len < r->keys ? first + len : r->keys;
            float m = -INFINITY, l = 0;
            for (int64_t j = first; j < end; j++)
                m = fmaxf(m, r->s[j]);
            for (int64_t j = first; j < end; j++)
                l += expf(r->s[j] - m);
            lse[1] = m + logf(l);
            sum = pass ? sum : lse[1] > lse[0] ? sum * expf(lse[0] - lse[1]) + 1 : sum + expf(lse[1] - lse[0]);
            lse[0] = pass ? lse[0] : fmaxf(lse[0], lse[1]);
            for (int64_t c = 0; c < e && pass; c++) {
                float u = 0;
                for (int64_t j = first; j < end; j++)
                    u += expf(r->s[j] - m) * load(r->t->role[ATTEST_V], r->b, r->h, j, c);
                r->o[c] = (first > 0 ? r->o[c] : 0) + expf(lse[1] - lse[0]) * (r->k->stored ? bf16(u / l) : u / l);
            }
        }
        lse[0] += pass ? 0 : logf(sum);
    }
    return lse[0];
}

/* q S, S = sum_j k_j v_j. */
static void read_state(const row *r)
{
    for (int64_t c = 0; c < r->p->e; c++) {
        float u = 0;
        for (int64_t a = 0; a < r->p->d; a++) {
            float entry = 0;
            for (int64_t j = 0; j < r->keys; j++)
                entry += load(r->t->role[ATTEST_K], r->b, r->h, j, a) * load(r->t->role[ATTEST_V], r->b, r->h, j, c);
            u += load(r->t->role[ATTEST_Q], r->b, r->h, r->i, a) * entry;
        }
        store(r->t->role[ATTEST_O], r->b, r->h, r->i, c, u * (float)r->p->scale);
    }
}

/* sum_j (q k_j) scale (a_(j+1) .. a_i) v_j. */
static void decay_pairs(const row *r)
{
    make_scores(r);
    for (int64_t j = 0; j < r->keys; j++)
        for (int64_t t = j + 1; t <= r->i; t++)
            r->s[j] *= load(r->t->role[ATTEST_DECAY], r->b, r->h, t, 0);
    for (int64_t c = 0; c < r->p->e; c++) {
        float u = 0;
        for (int64_t j = 0; j < r->keys; j++)
            u += r->s[j] * load(r->t->role[ATTEST_V], r->b, r->h, j, c);
        store(r->t->role[ATTEST_O], r->b, r->h, r->i, c, u);
    }
}

static void make_row(const row *r)
{
    const attest_tensor *o = r->t->role[ATTEST_O];
    if (r->k->state || r->k->decayed) {
        (r->k->state ? read_state : decay_pairs)(r);
        return;
    }
    if (r->keys <= 0) {
        for (int64_t c = 0; c < r->p->e; c++)
            store(o, r->b, r->h, r->i, c, 0);
        store(r->t->role[ATTEST_LSE], r->b, r->h, r->i, 0, -INFINITY);
        return;
    }
    const float common = make_scores(r);
    if (r->k->parts) {
        const float lse = merge_parts(r);
        for (int64_t c = 0; c < r->p->e; c++)
            store(o, r->b, r->h, r->i, c, r->o[c]);
        store(r->t->role[ATTEST_LSE], r->b, r->h, r->i, 0, lse);
        return;
    }
    float m = r->k->online ? 0 : make_weights(r);
    const float l = r->k->running ? mean_values(r, &m) : r->k->exact || r->k->fine ? add_exactly(r, m) : add_values(r);
    for (int64_t c = 0; c < r->p->e; c++)
        store(o, r->b, r->h, r->i, c, r->o[c]);
    store(r->t->role[ATTEST_LSE], r->b, r->h, r->i, 0, m + logf(l) + common);
}

static attest_status run(const style *k, const attest_call *call)
{
    const attest_problem *p = call->problem;
    float *scratch = (float *)call->workspace;
    const uint32_t mask = p->axis[ATTEST_AXIS_MASK].value;
    for (int64_t n = 0; n < p->b * p->hq * p->n; n++) {
        const int64_t i = n % p->n, seen = i + 1 + (mask == ATTEST_MASK_CAUSAL_BR ? p->m - p->n : 0);
        make_row(&(row){ .k = k,
                         .p = p,
                         .t = call->tensors,
                         .b = n / p->n / p->hq,
                         .h = n / p->n % p->hq,
                         .i = i,
                         .keys = mask == ATTEST_MASK_FULL || seen > p->m ? p->m : seen,
                         .s = scratch,
                         .o = scratch + p->m });
    }
    return ATTEST_OK;
}

static size_t workspace(const attest_call *call)
{
    return (size_t)(call->problem->m + call->problem->e) * sizeof(float);
}

/* ---- which problems each serves ------------------------------------------------------------------------------ */

static int serves(const attest_call *call, uint64_t axes, int types)
{
    const attest_problem *p = call->problem;
    const int plain = p->hq == p->hkv && p->acc == ATTEST_F32;
    return (plain && types && attest_axis_unserved(p, axes | ATTEST_BIT(ATTEST_AXIS_MASK)) < 0) ||
           attest_refuse(call, "not served");
}

static int all_are(const attest_problem *p, uint32_t type) { return p->in == type && p->p == type && p->out == type; }

static int serves_f32(const attest_call *call) { return serves(call, 0, all_are(call->problem, ATTEST_F32)); }

static int serves_taylor(const attest_call *call)
{
    const attest_setting *w = &call->problem->axis[ATTEST_AXIS_WEIGHT];
    return serves(call, ATTEST_BIT(ATTEST_AXIS_WEIGHT),
                  all_are(call->problem, ATTEST_F32) && w->value == ATTEST_WEIGHT_TAYLOR && w->order == 2);
}

static int serves_one_state(const attest_call *call)
{
    const attest_setting *axis = call->problem->axis;
    return serves(call, ATTEST_BIT(ATTEST_AXIS_WEIGHT) | ATTEST_BIT(ATTEST_AXIS_NORM),
                  all_are(call->problem, ATTEST_F32) && axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_POWER &&
                      axis[ATTEST_AXIS_WEIGHT].order == 1 && axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_NONE &&
                      axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_FULL);
}

static int serves_decays(const attest_call *call)
{
    const attest_setting *axis = call->problem->axis;
    const uint64_t axes = ATTEST_BIT(ATTEST_AXIS_WEIGHT) | ATTEST_BIT(ATTEST_AXIS_NORM) | ATTEST_BIT(ATTEST_AXIS_DECAY);
    return serves(call, axes,
                  all_are(call->problem, ATTEST_F32) && axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_POWER &&
                      axis[ATTEST_AXIS_WEIGHT].order == 1 && axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_NONE &&
                      axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_SCALAR &&
                      axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL);
}

static int serves_half(const attest_call *call) { return serves(call, 0, all_are(call->problem, ATTEST_F16)); }

/* Inputs of f32, with weights of f16: the cast stands alone. */
static int serves_half_p(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return serves(call, 0, p->in == ATTEST_F32 && p->p == ATTEST_F16 && p->out == ATTEST_F32);
}

static int serves_half_of(const attest_call *call, uint32_t p, uint32_t out)
{
    return serves(call, 0, call->problem->in == ATTEST_F16 && call->problem->p == p && call->problem->out == out);
}
static int serves_half_out(const attest_call *call) { return serves_half_of(call, ATTEST_F32, ATTEST_F16); }
static int serves_half_in(const attest_call *call) { return serves_half_of(call, ATTEST_F32, ATTEST_F32); }
static int serves_f16(const attest_call *call) { return serves_half_of(call, ATTEST_F16, ATTEST_F32); }

static int serves_bf16(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return serves(call, 0, p->in == ATTEST_BF16 && p->p == ATTEST_BF16 && p->out == ATTEST_F32);
}

/* ---- the kernels --------------------------------------------------------------------------------------------- */

#define SIZED .struct_size = sizeof(attest_numerics)
#define TWO_PASS_OF(base2)                                                                                             \
    SIZED, .schedule = ATTEST_SCHEDULE_TWO_PASS, .exp_error = 0x1p-23, .log2_domain = base2, .div_error = 0x1p-24,     \
           .acc_unit = 0x1p-24, .acc_truncates = ATTEST_NO
#define TWO_PASS TWO_PASS_OF(ATTEST_NO)
static const attest_numerics silent = { SIZED };
static const attest_numerics taylor2 = { SIZED, .schedule = ATTEST_SCHEDULE_DIRECT, .div_error = 0x1p-24,
                                         .acc_unit = 0x1p-24, .scale_dtype = 1 + ATTEST_F32 };
static const attest_numerics half = { TWO_PASS, .scale_dtype = 1 + ATTEST_F32, .cast_in_sum = ATTEST_NO,
                                      .p_rounding = ATTEST_ROUNDING_NEAREST, .division = ATTEST_DIVISION_AFTER_SUM };
static const attest_numerics roots = { TWO_PASS, .division = ATTEST_DIVISION_AFTER_SUM };
static const attest_numerics smooth = { TWO_PASS, .scale_dtype = 1 + ATTEST_F32,
                                        .division = ATTEST_DIVISION_AFTER_SUM };
static const attest_numerics divided = { TWO_PASS, .scale_dtype = 1 + ATTEST_F32, .cast_in_sum = ATTEST_NO,
                                         .p_rounding = ATTEST_ROUNDING_NEAREST, .division = ATTEST_DIVISION_THEN_CAST };
static const attest_numerics quotients = { TWO_PASS, .scale_dtype = 1 + ATTEST_F32, .cast_in_sum = ATTEST_YES,
                                           .p_rounding = ATTEST_ROUNDING_NEAREST,
                                           .division = ATTEST_DIVISION_AFTER_CAST };
static const attest_numerics ahead = { TWO_PASS, .scale_dtype = 1 + ATTEST_F32,
                                       .division = ATTEST_DIVISION_AFTER_CAST };
static const attest_numerics fine = {
    SIZED,
    .schedule = ATTEST_SCHEDULE_TWO_PASS,
    .exp_error = 0x1p-52,
    .div_error = 0x1p-52,
    .scale_dtype = 1 + ATTEST_F32,
    .division = ATTEST_DIVISION_AFTER_SUM,
};
static const attest_numerics stored = { TWO_PASS, .scale_dtype = 1 + ATTEST_F32, .score_dtype = 1 + ATTEST_BF16,
                                        .division = ATTEST_DIVISION_AFTER_SUM };
static const attest_numerics scaled = { TWO_PASS, .scale_dtype = 1 + ATTEST_F32, .scaled_dtype = 1 + ATTEST_BF16,
                                        .division = ATTEST_DIVISION_AFTER_SUM };
static const attest_numerics scaled_f16 = { TWO_PASS_OF(ATTEST_YES), .scale_dtype = 1 + ATTEST_F32,
                                            .scaled_dtype = 1 + ATTEST_F16, .division = ATTEST_DIVISION_AFTER_SUM };
static const attest_numerics running = { TWO_PASS, .scale_dtype = 1 + ATTEST_F32, .division = ATTEST_DIVISION_RUNNING };
#define ONLINE                                                                                                         \
    SIZED, .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 1, .exp_error = 0x1p-23, .log2_domain = ATTEST_NO,              \
           .div_error = 0x1p-24, .acc_unit = 0x1p-24, .scale_dtype = 1 + ATTEST_F32
static const attest_numerics moving = { ONLINE, .division = ATTEST_DIVISION_RUNNING };
static const attest_numerics online_f16 = { ONLINE, .cast_in_sum = ATTEST_NO, .p_rounding = ATTEST_ROUNDING_NEAREST,
                                            .division = ATTEST_DIVISION_AFTER_SUM };
#define PARTS                                                                                                          \
    SIZED, .schedule = ATTEST_SCHEDULE_SPLIT, .exp_error = 0x1p-23, .log2_domain = ATTEST_NO, .div_error = 0x1p-24,    \
           .log_error = 0x1p-23, .acc_truncates = ATTEST_NO, .scale_dtype = 1 + ATTEST_F32,                            \
           .division = ATTEST_DIVISION_AFTER_SUM
static const attest_numerics parts = { PARTS };
static const attest_numerics parts_stored = { PARTS, .state_dtype = 1 + ATTEST_BF16 };
static const attest_numerics one_state = { SIZED, .schedule = ATTEST_SCHEDULE_CHUNK, .acc_unit = 0x1p-24,
                                           .scale_dtype = 1 + ATTEST_F32 };
static const attest_numerics decayed = { SIZED, .schedule = ATTEST_SCHEDULE_DIRECT, .acc_unit = 0x1p-24,
                                         .scale_dtype = 1 + ATTEST_F32, .decay_products = ATTEST_YES };

#define ONE(id, title, number, go, taken, gives, preset)                                                               \
    static const attest_kernel id = { .struct_size = sizeof id,                                                        \
                                      .form = ATTEST_PARALLEL,                                                         \
                                      .device = ATTEST_CPU,                                                            \
                                      .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,                          \
                                      .outputs = ATTEST_GIVES_O | (gives),                                             \
                                      .name = title,                                                                   \
                                      .version = "1",                                                                  \
                                      .source = "tests/plugins/classify/controls.c",                                   \
                                      .summary = title,                                                                \
                                      .variants = preset,                                                              \
                                      .numerics = &number,                                                             \
                                      .supports = taken,                                                               \
                                      .workspace = workspace,                                                          \
                                      .run = go };
#define KERNEL(id, title, number, taken, gives, preset, ...)                                                           \
    static attest_status run_##id(const attest_call *call)                                                             \
    {                                                                                                                  \
        static const style k = { __VA_ARGS__ };                                                                        \
        return run(&k, call);                                                                                          \
    }                                                                                                                  \
    ONE(kernel_##id, title, number, run_##id, taken, gives, preset)                                                    \
    ONE(silent_##id, title "-silent", silent, run_##id, taken, gives, preset)
#define LSE ATTEST_GIVES_LSE
#define EXP "softmax"
KERNEL(taylor2, "taylor2", taylor2, serves_taylor, LSE, "based", .taylor = 1)
KERNEL(half_p, "half-p", half, serves_half_p, LSE, EXP, .taylor = 0)
KERNEL(half, "half", half, serves_half, LSE, EXP, .taylor = 0)
KERNEL(half_out, "half-out", half, serves_half_out, LSE, EXP, .taylor = 0)
KERNEL(half_quiet, "half-quiet", half, serves_half_out, 0, EXP, .taylor = 0)
KERNEL(roots, "roots", roots, serves_f32, LSE, EXP, .roots = 1)
KERNEL(roots_quiet, "roots-quiet", roots, serves_f32, 0, EXP, .roots = 1)
KERNEL(smooth, "smooth", smooth, serves_f32, LSE, EXP, .smooth = 1)
KERNEL(smooth_quiet, "smooth-quiet", smooth, serves_f32, 0, EXP, .smooth = 1)
KERNEL(divided, "divided", divided, serves_bf16, LSE, EXP, .division = ATTEST_DIVISION_THEN_CAST)
KERNEL(divided_f16, "divided-f16", divided, serves_f16, LSE, EXP, .division = ATTEST_DIVISION_THEN_CAST)
KERNEL(divided_quiet, "divided-quiet", divided, serves_bf16, 0, EXP, .division = ATTEST_DIVISION_THEN_CAST)
KERNEL(divided_f16_quiet, "divided-f16-quiet", divided, serves_f16, 0, EXP, .division = ATTEST_DIVISION_THEN_CAST)
KERNEL(ahead, "ahead", ahead, serves_f32, 0, EXP, .exact = 1)
KERNEL(fine, "fine", fine, serves_f32, 0, EXP, .fine = 1)
KERNEL(stored, "stored", stored, serves_f32, 0, EXP, .stored = 1)
KERNEL(quotients, "quotients", quotients, serves_bf16, LSE, EXP, .division = ATTEST_DIVISION_AFTER_CAST)
KERNEL(quotients_f16, "quotients-f16", quotients, serves_f16, LSE, EXP, .division = ATTEST_DIVISION_AFTER_CAST)
KERNEL(running, "running", running, serves_f32, LSE, EXP, .running = 1)
KERNEL(moving, "moving", moving, serves_f32, LSE, EXP, .running = 1, .online = 1)
KERNEL(backwards, "backwards", moving, serves_f32, LSE, EXP, .running = 1, .online = 1, .backwards = 1)
KERNEL(online_f16, "online-f16", online_f16, serves_f16, LSE, EXP, .running = 1, .online = 1, .summed = 1)
KERNEL(one_state, "one-state", one_state, serves_one_state, 0, "linear", .state = 1)
KERNEL(scaled, "scaled", scaled, serves_f32, LSE, EXP, .scaled = 1, .narrow = ATTEST_BF16)
KERNEL(scaled_once, "scaled-once", scaled, serves_f32, LSE, EXP, .once = 1, .narrow = ATTEST_BF16)
KERNEL(scaled_f16, "scaled-f16", scaled_f16, serves_half_in, LSE, EXP, .scaled = 1, .narrow = ATTEST_F16)
KERNEL(decayed, "decayed", decayed, serves_decays, 0, "simple-gla", .decayed = 1)
KERNEL(parts, "parts", parts, serves_f32, LSE, EXP, .parts = 1)
KERNEL(parts_stored, "parts-stored", parts_stored, serves_f32, LSE, EXP, .parts = 1, .stored = 1)

#define BOTH(id) &kernel_##id, &silent_##id
static const attest_kernel *const kernels[] = {
    BOTH(taylor2),           BOTH(half_p),     BOTH(half),        BOTH(half_out),
    BOTH(half_quiet),        BOTH(roots),      BOTH(roots_quiet), BOTH(smooth),
    BOTH(smooth_quiet),      BOTH(divided),    BOTH(divided_f16), BOTH(quotients),
    BOTH(quotients_f16),     BOTH(running),    BOTH(moving),      BOTH(divided_quiet),
    BOTH(divided_f16_quiet), BOTH(ahead),      BOTH(fine),        BOTH(stored),
    BOTH(backwards),         BOTH(online_f16), BOTH(one_state),   BOTH(parts),
    BOTH(parts_stored),      BOTH(scaled),     BOTH(scaled_f16),  BOTH(scaled_once),
    BOTH(decayed),
};
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "controls",
                                        .kernels = kernels,
                                        .kernel_count = sizeof kernels / sizeof kernels[0] };
const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }
