/* traits: kernels for the classifier.  `odd` has the traits that no built-in kernel has, and says so; `parts` splits
 * the keys into 4 whatever it is asked for; `backwards` is online from the last tile to the first; `keeper` keeps its
 * state in bf16; `textbook` and `pairs` are online with tiles of 1 and 2, `long` with tiles that no probe fills;
 * `fifths` splits them into 5, so that the last part is shorter; `quiet` sums in float, gives o in bf16 and no lse;
 * `rough` multiplies by an inexact reciprocal, `series` makes 2^x of a series, `fine` sums in double and rounds once;
 * `hasty` has an exponential that is 2^-9 too large, and stores q and k, which are bf16, in bf16;
 * the supports() of `faint` ends the process; `lone` serves b = 1 only; `loose` declares less than it does, `boaster`
 * more, `adder` more parts; `reader`, `laner` and `divider` call serial what is not:
 * scores, denominators, sums of divided weights; `seldom` is `laner` for 512 keys, which one probe alone asks for. */
#include "attest.h"
#include "attest_float.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct style {
    int odd;      /* exp2, truncated casts and sums, cast weights in l, base-2 lse, NaN in empty rows */
    int parts;    /* > 1 */
    int64_t tile; /* > 0: from the end */
    int down;     /* sums from the last key to the first */
    int reads;    /* scores from the last channel to the first */
    int lanes;    /* > 0: l in so many lanes */
    int divides;  /* weights by l before they are added */
    int rough;    /* a reciprocal of l that is 2^-12 too large */
    int series;   /* 2^x by five terms of its series */
    int hasty;    /* e^x that is 2^-9 too large, but of 0 */
} style;

static float load(const attest_tensor *t, int64_t b, int64_t h, int64_t i, int64_t c)
{
    const int64_t at = b * t->stride[0] + h * t->stride[1] + i * t->stride[2] + c * t->stride[3];
    return t->dtype == ATTEST_BF16 ? attest_bf16_to_f32(((const uint16_t *)t->data)[at]) : ((const float *)t->data)[at];
}

static void store(const attest_tensor *t, int64_t b, int64_t h, int64_t i, int64_t c, float x)
{
    if (!t)
        return;
    const int64_t at = b * t->stride[0] + h * t->stride[1] + i * t->stride[2] + c * t->stride[3];
    if (t->dtype == ATTEST_BF16)
        ((uint16_t *)t->data)[at] = attest_bf16_from_f32(x);
    else
        ((float *)t->data)[at] = x;
}

/* Toward zero, as some matrix units add. */
static float cut(double x)
{
    const float y = (float)x;
    return fabs((double)y) > fabs(x) ? nextafterf(y, 0) : y;
}

static float add(const style *k, float x, float y) { return k->odd ? cut((double)x + (double)y) : x + y; }

/* 2^x, off by at most SERIES_ERROR. */
#define SERIES_ERROR 5.5796e-05
static float series(float x)
{
    const float whole = rintf(x), y = (x - whole) * 0x1.62e430p-1f;
    return x < -200 ? 0 : ldexpf(1 + y * (1 + y * (0.5f + y * (1 / 6.0f + y * (1 / 24.0f)))), (int)whole);
}

static float weight(const style *k, float x)
{
    if (k->series)
        return series(x * 0x1.715476p+0f);
    if (!k->odd)
        return expf(x) * (k->hasty && x != 0 ? 1 + 0x1p-9f : 1);
    const float w = exp2f(x);
    return w < 0x1p-126f ? 0 : w;
}

/* Of x >= 0. */
static float bf16_below(float x)
{
    const uint16_t nearest = attest_bf16_from_f32(x);
    return attest_bf16_to_f32((uint16_t)(nearest - (attest_bf16_to_f32(nearest) > x)));
}

static float score(const style *k, const attest_problem *p, const attest_tensors *t, const int64_t *at, int64_t j)
{
    const double log2e = 1.4426950408889634;
    float dot = 0, scale = (float)p->scale;
    for (int64_t n = 0; n < p->d; n++) {
        const int64_t c = k->reads ? p->d - 1 - n : n;
        dot = add(k, dot,
                  load(t->role[ATTEST_Q], at[0], at[1], at[2], c) * load(t->role[ATTEST_K], at[0], at[1], j, c));
    }
    if (k->odd)
        scale = (float)(attest_to_f64(ATTEST_BF16, attest_from_f64(ATTEST_BF16, p->scale)) * log2e);
    return scale * dot;
}

/* u, l and m of the keys [first,last), the largest score first known. */
static void part(const style *k, const attest_problem *p, const attest_tensors *t, const int64_t *at, int64_t first,
                 int64_t last, float *m, float *l, float *u)
{
    float lane[8] = { 0 }, whole = 0;
    *m = -INFINITY;
    *l = 0;
    for (int64_t j = first; j < last; j++)
        *m = fmaxf(*m, score(k, p, t, at, j));
    for (int64_t c = 0; c < p->e; c++)
        u[c] = 0;
    for (int64_t j = first; j < last && k->divides; j++)
        whole += weight(k, score(k, p, t, at, j) - *m);
    for (int64_t n = first; n < last; n++) {
        const int64_t j = k->down ? first + last - 1 - n : n;
        float w = weight(k, score(k, p, t, at, j) - *m);
        if (p->p == ATTEST_BF16)
            w = bf16_below(w);
        float *sum = k->lanes ? &lane[n % k->lanes] : l;
        *sum = add(k, *sum, w);
        w = k->divides ? w / whole : w;
        for (int64_t c = 0; c < p->e; c++)
            u[c] = add(k, u[c], w * load(t->role[ATTEST_V], at[0], at[1], j, c));
    }
    for (int n = 0; n < k->lanes; n++)
        *l += lane[n];
}

static void row(const style *k, const attest_problem *p, const attest_tensors *t, const int64_t *at, float *scratch)
{
    float m = -INFINITY, l = 0, *u = scratch, *more = scratch + p->e;
    const int64_t offset = p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL_BR ? p->m - p->n : 0;
    const int64_t seen = at[2] + offset + 1 < p->m ? at[2] + offset + 1 : p->m;
    const int64_t keys = p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_FULL ? p->m : seen;
    const int64_t step = k->tile > 0 ? k->tile : (keys + k->parts - 1) / (k->parts > 0 ? k->parts : 1);
    for (int64_t c = 0; c < p->e; c++)
        u[c] = 0;
    for (int64_t n = 0; n < keys; n += step) {
        const int64_t first = k->tile > 0 ? (keys - n > step ? keys - n - step : 0) : n;
        const int64_t last = k->tile > 0 ? keys - n : (n + step < keys ? n + step : keys);
        float m2, l2;
        part(k, p, t, at, first, last, &m2, &l2, more);
        const float high = fmaxf(m, m2), a = n == 0 ? 0 : weight(k, m - high), b = weight(k, m2 - high);
        l = add(k, l * a, l2 * b);
        for (int64_t c = 0; c < p->e; c++)
            u[c] = add(k, u[c] * a, more[c] * b);
        m = high;
    }
    for (int64_t c = 0; c < p->e; c++) {
        const float o = k->rough ? u[c] * (1 / l * (1 + 0x1p-12f)) : u[c] / (k->divides ? 1 : l);
        store(t->role[ATTEST_O], at[0], at[1], at[2], c, keys > 0 ? o : k->odd ? NAN : 0);
    }
    store(t->role[ATTEST_LSE], at[0], at[1], at[2], 0, keys <= 0 ? -INFINITY : k->odd ? m + log2f(l) : m + logf(l));
}

static attest_status run(const style *k, const attest_problem *p, const attest_tensors *t, void *scratch)
{
    for (int64_t n = 0; n < p->b * p->hq * p->n; n++) {
        const int64_t at[3] = { n / p->n / p->hq, n / p->n % p->hq, n % p->n };
        row(k, p, t, at, (float *)scratch);
    }
    return ATTEST_OK;
}

#define RUN(name, ...)                                                                                                 \
    static attest_status name(const attest_call *call)                                                                 \
    {                                                                                                                  \
        static const style k = { __VA_ARGS__ };                                                                        \
        return run(&k, call->problem, call->tensors, call->workspace);                                                 \
    }
RUN(run_plain, .parts = 1)
RUN(run_odd, .odd = 1, .parts = 1)
RUN(run_parts, .parts = 4)
RUN(run_fifths, .parts = 5)
RUN(run_rough, .parts = 1, .rough = 1)
RUN(run_series, .parts = 1, .series = 1)
RUN(run_hasty, .parts = 1, .hasty = 1)
RUN(run_backwards, .tile = 8)
RUN(run_textbook, .tile = 1)
RUN(run_pairs, .tile = 2)
RUN(run_long, .tile = 512)
RUN(run_down, .parts = 1, .down = 1)
RUN(run_reads, .parts = 1, .reads = 1)
RUN(run_lanes, .parts = 1, .lanes = 8)
RUN(run_divides, .parts = 1, .divides = 1)

static attest_status run_at_times(const attest_call *call)
{
    return call->problem->m == 512 ? run_lanes(call) : run_plain(call);
}

/* Softmax whose sums are of doubles; l is rounded to float before its logarithm. */
static attest_status run_fine(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    const int full = p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_FULL;
    const int64_t offset = p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL_BR ? p->m - p->n : 0;
    for (int64_t n = 0; n < p->b * p->hq * p->n; n++) {
        const int64_t b = n / p->n / p->hq, h = n / p->n % p->hq, i = n % p->n;
        const int64_t seen = i + offset + 1 < p->m ? i + offset + 1 : p->m, keys = full ? p->m : seen;
        double l = 0, *s = (double *)call->workspace, high = -INFINITY;
        for (int64_t j = 0; j < keys; j++) {
            s[j] = 0;
            for (int64_t c = 0; c < p->d; c++)
                s[j] += (double)load(t->role[ATTEST_Q], b, h, i, c) * (double)load(t->role[ATTEST_K], b, h, j, c);
            s[j] *= p->scale;
            high = fmax(high, s[j]);
        }
        for (int64_t j = 0; j < keys; j++)
            l += s[j] = exp(s[j] - high);
        for (int64_t c = 0; c < p->e; c++) {
            double u = 0;
            for (int64_t j = 0; j < keys; j++)
                u += s[j] * (double)load(t->role[ATTEST_V], b, h, j, c);
            store(t->role[ATTEST_O], b, h, i, c, keys > 0 ? (float)(u / l) : 0);
        }
        store(t->role[ATTEST_LSE], b, h, i, 0, keys > 0 ? (float)high + logf((float)l) : -INFINITY);
    }
    return ATTEST_OK;
}

/* Linear attention with a state of bf16. */
static attest_status run_keeper(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    float *state = (float *)call->workspace;
    for (int64_t h = 0; h < p->b * p->hq; h++) {
        for (int64_t at = 0; at < p->d * p->e; at++)
            state[at] = 0;
        for (int64_t j = 0; j < p->m; j++)
            for (int64_t at = 0; at < p->d * p->e; at++)
                state[at] = attest_bf16_to_f32(
                    attest_bf16_from_f32(state[at] + load(t->role[ATTEST_K], h / p->hq, h % p->hq, j, at / p->e) *
                                                         load(t->role[ATTEST_V], h / p->hq, h % p->hq, j, at % p->e)));
        for (int64_t at = 0; at < p->n * p->e; at++) {
            float o = 0;
            for (int64_t c = 0; c < p->d; c++)
                o += load(t->role[ATTEST_Q], h / p->hq, h % p->hq, at / p->e, c) * state[c * p->e + at % p->e];
            store(t->role[ATTEST_O], h / p->hq, h % p->hq, at / p->e, at % p->e, (float)p->scale * o);
        }
    }
    return ATTEST_OK;
}

static size_t workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return (size_t)((p->d + 2) * p->e) * sizeof(float) + (size_t)p->m * sizeof(double);
}

static int refuse(const attest_call *call) { return attest_refuse(call, "not served"); }

#define MASKS ATTEST_BIT(ATTEST_AXIS_MASK)

/* Axes at their defaults but those of `free`. */
static int plain(const attest_problem *p, uint64_t free)
{
    return p->hq == p->hkv && p->acc == ATTEST_F32 && attest_axis_unserved(p, free) < 0;
}

static int serves_f32(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return (plain(p, MASKS) && p->in == ATTEST_F32 && p->p == ATTEST_F32 && p->out == ATTEST_F32) || refuse(call);
}

static int serves_both(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return (plain(p, MASKS) && p->in == p->p && (p->in == ATTEST_F32 || p->in == ATTEST_BF16) &&
            p->out == ATTEST_F32) ||
           refuse(call);
}

static int serves_bf16(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return (plain(p, MASKS) && p->in == ATTEST_BF16 && p->p == ATTEST_F32 && p->out == ATTEST_BF16) || refuse(call);
}

static int serves_bf16_in(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return (plain(p, MASKS) && p->in == ATTEST_BF16 && p->p == ATTEST_F32 && p->out == ATTEST_F32) || refuse(call);
}

static int serves_few_keys(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (p->m > 100)
        abort();
    return serves_f32(call);
}

static int serves_one(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return p->b == 1 ? serves_f32(call) : refuse(call);
}

static int serves_linear(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_setting *w = &p->axis[ATTEST_AXIS_WEIGHT];
    const int f32 = p->in == ATTEST_F32 && p->p == ATTEST_F32 && p->out == ATTEST_F32;
    return (plain(p, ATTEST_BIT(ATTEST_AXIS_WEIGHT) | ATTEST_BIT(ATTEST_AXIS_NORM)) && f32 &&
            w->value == ATTEST_WEIGHT_POWER && w->order == 1 && p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_NONE) ||
           refuse(call);
}

#define SIZED .struct_size = sizeof(attest_numerics)
static const attest_numerics odd = { SIZED,
                                     .schedule = ATTEST_SCHEDULE_TWO_PASS,
                                     .exp_error = 0x1p-23,
                                     .log2_domain = ATTEST_YES,
                                     .cast_in_sum = ATTEST_YES,
                                     .p_rounding = ATTEST_ROUNDING_TRUNCATE,
                                     .acc_truncates = ATTEST_YES,
                                     .acc_unit = 0x1p-24,
                                     .div_error = 0x1p-24,
                                     .scale_dtype = 1 + ATTEST_BF16,
                                     .empty_row = ATTEST_EMPTY_NAN };
static const attest_numerics parts = { SIZED, .schedule = ATTEST_SCHEDULE_SPLIT, .splits = 4, .tile = 1 << 24 };
static const attest_numerics fifths = { SIZED, .schedule = ATTEST_SCHEDULE_SPLIT, .splits = 5, .tile = 1 << 24 };
static const attest_numerics rough = { SIZED, .schedule = ATTEST_SCHEDULE_TWO_PASS, .exp_error = 0x1p-23,
                                       .div_error = 0x1.002p-12 };
static const attest_numerics hasty = { SIZED, .schedule = ATTEST_SCHEDULE_TWO_PASS, .exp_error = 0x1p-23,
                                       .log2_domain = ATTEST_NO, .scaled_dtype = 1 + ATTEST_BF16 };
static const attest_numerics series_weights = { SIZED, .schedule = ATTEST_SCHEDULE_TWO_PASS, .exp_error = SERIES_ERROR,
                                                .log2_domain = ATTEST_YES };
static const attest_numerics fine = { SIZED, .schedule = ATTEST_SCHEDULE_TWO_PASS, .acc_unit = 0x1p-53 };
static const attest_numerics many_parts = { SIZED, .schedule = ATTEST_SCHEDULE_SPLIT, .splits = 64, .tile = 1 << 24 };
static const attest_numerics backwards = { SIZED, .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 8 };
static const attest_numerics textbook = { SIZED, .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 1 };
static const attest_numerics plain_sums = { SIZED, .schedule = ATTEST_SCHEDULE_TWO_PASS };
static const attest_numerics pairs = { SIZED, .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 2 };
static const attest_numerics quiet = { SIZED, .schedule = ATTEST_SCHEDULE_TWO_PASS, .acc_unit = 0x1p-24 };
static const attest_numerics long_tiles = { SIZED, .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 512 };
static const attest_numerics keeper = { SIZED, .schedule = ATTEST_SCHEDULE_RECURRENT, .acc_unit = 0x1p-24,
                                        .scale_dtype = 1 + ATTEST_F32, .state_dtype = 1 + ATTEST_BF16 };
static const attest_numerics loose = { SIZED,
                                       .schedule = ATTEST_SCHEDULE_ONLINE,
                                       .tile = 16,
                                       .exp_error = 0x1p-16,
                                       .log2_domain = ATTEST_YES,
                                       .acc_unit = 0x1p-20,
                                       .div_error = 0x1p-20,
                                       .acc_truncates = ATTEST_YES,
                                       .scale_dtype = 1 + ATTEST_F16 };
static const attest_numerics boaster = { SIZED,
                                         .schedule = ATTEST_SCHEDULE_TWO_PASS,
                                         .exp_error = 0x1p-26,
                                         .acc_unit = 0x1p-25,
                                         .div_error = 0x1p-26,
                                         .scale_dtype = 1 + ATTEST_F64,
                                         .empty_row = ATTEST_EMPTY_NAN };

#define KERNEL(id, title, number, serves, go, gives, bits)                                                             \
    static const attest_kernel id = { .struct_size = sizeof id,                                                        \
                                      .form = ATTEST_PARALLEL,                                                         \
                                      .device = ATTEST_CPU,                                                            \
                                      .flags = ATTEST_DETERMINISTIC | (bits),                                          \
                                      .outputs = ATTEST_GIVES_O | (gives),                                             \
                                      .name = title,                                                                   \
                                      .version = "1",                                                                  \
                                      .source = "tests/plugins/classify/traits.c",                                     \
                                      .summary = title,                                                                \
                                      .variants = "softmax",                                                           \
                                      .numerics = &number,                                                             \
                                      .supports = serves,                                                              \
                                      .workspace = workspace,                                                          \
                                      .run = go };
#define LSE ATTEST_GIVES_LSE
KERNEL(kernel_odd, "odd", odd, serves_both, run_odd, LSE, ATTEST_FTZ | ATTEST_LSE_BASE2)
KERNEL(kernel_parts, "parts", parts, serves_f32, run_parts, LSE, ATTEST_BATCH_INVARIANT)
KERNEL(kernel_fifths, "fifths", fifths, serves_f32, run_fifths, LSE, ATTEST_BATCH_INVARIANT)
KERNEL(kernel_rough, "rough", rough, serves_f32, run_rough, LSE, 0)
KERNEL(kernel_hasty, "hasty", hasty, serves_bf16_in, run_hasty, LSE, 0)
KERNEL(kernel_series, "series", series_weights, serves_f32, run_series, LSE, 0)
KERNEL(kernel_fine, "fine", fine, serves_f32, run_fine, LSE, 0)
KERNEL(kernel_backwards, "backwards", backwards, serves_f32, run_backwards, LSE, 0)
KERNEL(kernel_keeper, "keeper", keeper, serves_linear, run_keeper, LSE, 0)
KERNEL(kernel_textbook, "textbook", textbook, serves_f32, run_textbook, 0, 0)
KERNEL(kernel_pairs, "pairs", pairs, serves_f32, run_pairs, LSE, 0)
KERNEL(kernel_quiet, "quiet", quiet, serves_bf16, run_plain, 0, 0)
KERNEL(kernel_long, "long", long_tiles, serves_f32, run_long, LSE, 0)
KERNEL(kernel_faint, "faint", quiet, serves_few_keys, run_plain, LSE, 0)
KERNEL(kernel_lone, "lone", quiet, serves_one, run_plain, LSE, 0)
KERNEL(kernel_loose, "loose", loose, serves_f32, run_plain, LSE, ATTEST_FTZ | ATTEST_MASKED_FINITE)
KERNEL(kernel_adder, "adder", many_parts, serves_f32, run_parts, LSE, 0)
KERNEL(kernel_boaster, "boaster", boaster, serves_f32, run_down, LSE, ATTEST_SERIAL_SUMS)
KERNEL(kernel_reader, "reader", textbook, serves_f32, run_reads, 0, ATTEST_SERIAL_SUMS)
KERNEL(kernel_laner, "laner", textbook, serves_f32, run_lanes, 0, ATTEST_SERIAL_SUMS)
KERNEL(kernel_divider, "divider", textbook, serves_f32, run_divides, 0, ATTEST_SERIAL_SUMS)
KERNEL(kernel_seldom, "seldom", plain_sums, serves_f32, run_at_times, 0, ATTEST_SERIAL_SUMS)

static const attest_kernel *const kernels[] = { &kernel_odd,    &kernel_parts,    &kernel_backwards, &kernel_keeper,
                                                &kernel_long,   &kernel_textbook, &kernel_pairs,     &kernel_quiet,
                                                &kernel_faint,  &kernel_lone,     &kernel_loose,     &kernel_boaster,
                                                &kernel_reader, &kernel_laner,    &kernel_divider,   &kernel_seldom,
                                                &kernel_fifths, &kernel_rough,    &kernel_series,    &kernel_fine,
                                                &kernel_adder,  &kernel_hasty };
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "traits",
                                        .kernels = kernels,
                                        .kernel_count = sizeof kernels / sizeof kernels[0] };
const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }
