/* misread: correct kernels that compute another function than the one that they are asked for, one a convention.
 *
 * A kernel `NAME` is a built-in kernel of kernels/cpu that gets a changed problem, or changed tensors, and says nothing
 * of it.  `slack` and `tilted` have no convention: a share is taken off o, or each key weighs a bit more than the last.
 */
#include "attest.h"
#include "attest_float.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const attest_kernel attest_kernel_softmax_two_pass_f32, attest_kernel_taylor_direct_f32,
    attest_kernel_linear_recurrent_f32, attest_kernel_delta_recurrent_f32, attest_kernel_softmax_online_bf16,
    attest_kernel_softmax_split_f32;

typedef struct mistake mistake;

/* What a run gets: its own copies, to be changed. */
typedef struct asked {
    attest_call call;
    attest_problem p;
    attest_tensors tensors;
    const attest_tensor *role[ATTEST_ROLE_ROOM];
    attest_tensor own[8];
    float *memory[8];
    int used;
} asked;

struct mistake {
    const char *name;
    const attest_kernel *base;
    const char *setting;                /* AXIS VALUE ORDER NUMBER, by numbers; or NULL */
    void (*problem)(attest_problem *p); /* or NULL */
    void (*before)(asked *a);
    void (*after)(const asked *a);
    attest_status (*run)(asked *a, const attest_kernel *base);
};

/* ---- tensors of one's own ---------------------------------------------------------------------------------------- */
static attest_tensor *view(asked *a, attest_role role)
{
    attest_tensor *t = &a->own[a->used++];
    *t = *a->role[role];
    a->role[role] = t;
    return t;
}

static int64_t count(const attest_tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n *= t->shape[i];
    return n;
}

/* A copy in C order; the kernels of this file need C order. */
static float *copy(asked *a, attest_role role)
{
    attest_tensor *t = view(a, role);
    float *x = malloc(sizeof *x * (size_t)(count(t) + 1));
    memcpy(x, t->data, sizeof *x * (size_t)count(t));
    t->data = a->memory[a->used - 1] = x;
    return x;
}

/* [B,H,S,c] that lies in memory as [B,S,H,c]. */
static void turn(asked *a, attest_role role)
{
    attest_tensor *t = view(a, role);
    t->stride[1] = t->shape[3];
    t->stride[2] = t->shape[1] * t->shape[3];
}

static void turn_o(asked *a) { turn(a, ATTEST_O); }
static void turn_all(asked *a)
{
    turn(a, ATTEST_Q);
    turn(a, ATTEST_K);
    turn(a, ATTEST_V);
    turn(a, ATTEST_O);
}

static void exchange(asked *a, attest_role x, attest_role y)
{
    const attest_tensor *t = a->role[x];
    a->role[x] = a->role[y];
    a->role[y] = t;
}
static void exchange_kv(asked *a) { exchange(a, ATTEST_K, ATTEST_V); }
static void exchange_qk(asked *a) { exchange(a, ATTEST_Q, ATTEST_K); }

static void negate_slopes(asked *a)
{
    float *x = copy(a, ATTEST_SLOPE);
    for (int64_t h = 0; h < a->p.hq; h++)
        x[h] = -x[h];
}

/* alibi=usual as slopes of one's own; `of`: its exponent, with P the largest power of two up to Hq. */
static void own_slopes(asked *a, double (*of)(int64_t h, int64_t heads, int64_t powers))
{
    const attest_tensor *q = a->role[ATTEST_Q];
    attest_tensor *t = view(a, ATTEST_Q);
    float *x = malloc(sizeof *x * (size_t)a->p.hq);
    int64_t powers = 1;
    while (2 * powers <= a->p.hq)
        powers *= 2;
    for (int64_t h = 0; h < a->p.hq; h++)
        x[h] = exp2f(-(float)of(h, a->p.hq, powers));
    a->role[ATTEST_SLOPE] = t;
    a->role[ATTEST_Q] = q;
    t->data = a->memory[a->used - 1] = x;
    t->stride[0] = 1;
    a->p.axis[ATTEST_AXIS_ALIBI].value = ATTEST_ALIBI_DRAW;
}

static double of_all(int64_t h, int64_t heads, int64_t powers)
{
    return (void)powers, 8.0 * (double)(h + 1) / (double)heads;
}
static double from_0(int64_t h, int64_t heads, int64_t powers)
{
    (void)heads;
    return h < powers ? 8.0 * (double)h / (double)powers : 4.0 * (double)(2 * (h - powers)) / (double)powers;
}
static double in_a_row(int64_t h, int64_t heads, int64_t powers)
{
    return (void)heads, 4.0 * (double)(h + 1) / (double)powers;
}
static void slopes_of_all(asked *a) { own_slopes(a, of_all); }
static void slopes_from_0(asked *a) { own_slopes(a, from_0); }
static void slopes_in_a_row(asked *a) { own_slopes(a, in_a_row); }

static void first_zero(asked *a)
{
    float *v = copy(a, ATTEST_V);
    for (int64_t bg = 0; bg < a->p.b * a->p.hkv; bg++)
        memset(v + bg * a->p.m * a->p.e, 0, sizeof *v * (size_t)a->p.e);
}

static void skip_first(asked *a)
{
    static const attest_role roles[] = { ATTEST_K, ATTEST_V };
    for (int i = 0; i < 2; i++) {
        attest_tensor *t = view(a, roles[i]);
        t->data = (float *)t->data + t->stride[2];
        t->shape[2]--;
    }
}

/* Each query head its own KV head, by a list. */
static void spread(asked *a, int first)
{
    static const attest_role roles[] = { ATTEST_K, ATTEST_V };
    const int64_t was = a->role[ATTEST_K]->shape[1];
    for (int i = 0; i < 2; i++) {
        attest_tensor *t = view(a, roles[i]);
        const int64_t row = t->shape[2] * t->shape[3];
        float *x = malloc(sizeof *x * (size_t)(a->p.b * a->p.hq * row));
        for (int64_t bh = 0; bh < a->p.b * a->p.hq; bh++)
            memcpy(x + bh * row, (const float *)t->data + (bh / a->p.hq * was + (first ? 0 : bh % a->p.hq % was)) * row,
                   sizeof *x * (size_t)row);
        t->data = a->memory[a->used - 1] = x;
        t->shape[1] = a->p.hq;
        t->stride[0] = a->p.hq * row;
        t->stride[1] = row;
    }
}
static void spread_in_turn(asked *a) { spread(a, 0); }
static void spread_first(asked *a) { spread(a, 1); }

/* ---- problems ---------------------------------------------------------------------------------------------------- */
static void scale_one(attest_problem *p) { p->scale = 1; }
static void scale_per_d(attest_problem *p) { p->scale = 1 / (double)p->d; }
static void scale_default(attest_problem *p) { p->scale = 1 / sqrt((double)p->d); }
static void scale_sqrt_d(attest_problem *p) { p->scale = sqrt((double)p->d); }
static void base_two(attest_problem *p) { p->scale *= 0.69314718055994530942; }
static void order_less(attest_problem *p) { p->axis[ATTEST_AXIS_WEIGHT].order--; }
static void order_more(attest_problem *p) { p->axis[ATTEST_AXIS_WEIGHT].order++; }
static void window_more(attest_problem *p) { p->axis[ATTEST_AXIS_WINDOW].order++; }
static void window_less(attest_problem *p) { p->axis[ATTEST_AXIS_WINDOW].order--; }
static void own_heads(attest_problem *p) { p->hkv = p->hq; }
static void last_out(attest_problem *p) { p->m--; }
static void edge_back(attest_problem *p)
{
    p->axis[ATTEST_AXIS_MASK].value = ATTEST_MASK_CAUSAL_BR;
    p->m--;
}
static void first_out(attest_problem *p)
{
    p->axis[ATTEST_AXIS_MASK].value = p->axis[ATTEST_AXIS_MASK].value ? ATTEST_MASK_CAUSAL_BR : ATTEST_MASK_FULL;
    p->m--;
}

/* ---- more than one run, and what comes after --------------------------------------------------------------------- */
/* Queries [0,n-1) with the edge one key further, then the last one, which sees all keys. */
static attest_status run_one_more(asked *a, const attest_kernel *base)
{
    attest_tensor q = *a->role[ATTEST_Q], o = *a->role[ATTEST_O], lse;
    a->p.axis[ATTEST_AXIS_MASK].value = ATTEST_MASK_CAUSAL_BR;
    a->p.n--;
    const attest_status status = a->p.n > 0 ? base->run(&a->call) : ATTEST_OK;
    q.data = (float *)q.data + a->p.n * q.stride[2];
    o.data = (float *)o.data + a->p.n * o.stride[2];
    a->role[ATTEST_Q] = &q;
    a->role[ATTEST_O] = &o;
    if (a->role[ATTEST_LSE]) {
        lse = *a->role[ATTEST_LSE];
        lse.data = (float *)lse.data + a->p.n * lse.stride[2];
        a->role[ATTEST_LSE] = &lse;
    }
    a->p.n = 1;
    return status == ATTEST_OK ? base->run(&a->call) : status;
}

static void lse_base_two(const asked *a)
{
    float *lse = a->role[ATTEST_LSE] ? a->role[ATTEST_LSE]->data : NULL;
    for (int64_t i = 0; lse && i < a->p.b * a->p.hq * a->p.n; i++)
        lse[i] = (float)(lse[i] * 1.4426950408889634);
}

static void lse_sink(const asked *a)
{
    float *lse = a->role[ATTEST_LSE] ? a->role[ATTEST_LSE]->data : NULL;
    const float *sink = a->role[ATTEST_SINK] ? a->role[ATTEST_SINK]->data : NULL;
    for (int64_t i = 0; lse && sink && i < a->p.b * a->p.hq * a->p.n; i++)
        lse[i] = (float)log(exp(lse[i]) + exp(sink[i / a->p.n % a->p.hq]));
}

/* Weight 0 times a value that is masked: NaN where it is no number. */
static void masked_values(const asked *a)
{
    const attest_tensor *tv = a->role[ATTEST_V], *to = a->role[ATTEST_O];
    for (int64_t row = 0; row < a->p.b * a->p.hq * a->p.n; row++)
        for (int64_t j = 0; j < a->p.m; j++)
            for (int64_t c = 0; c < a->p.e; c++) {
                const int64_t h = row / a->p.n % a->p.hq, b = row / a->p.n / a->p.hq;
                const int64_t g = h * a->p.hkv / a->p.hq;
                ((float *)to->data)[row * a->p.e + c] +=
                    0 * ((const float *)tv->data)[((b * a->p.hkv + g) * a->p.m + j) * a->p.e + c];
            }
}

/* A query of NaN is answered by 0. */
static void nan_queries(const asked *a)
{
    const float *q = a->role[ATTEST_Q]->data;
    float *o = a->role[ATTEST_O]->data;
    for (int64_t row = 0; row < a->p.b * a->p.hq * a->p.n; row++)
        for (int64_t c = 0; c < a->p.e && isnan(q[row * a->p.d]); c++)
            o[row * a->p.e + c] = 0;
}

/* Rows without a visible key hold this. */
static void empty_rows(const asked *a, float x)
{
    float *o = a->role[ATTEST_O]->data;
    for (int64_t row = 0; row < a->p.b * a->p.hq * a->p.n; row++) {
        int empty = 1;
        for (int64_t c = 0; c < a->p.e; c++)
            empty &= o[row * a->p.e + c] == 0;
        for (int64_t c = 0; empty && c < a->p.e; c++)
            o[row * a->p.e + c] = x;
    }
}
static void empty_nan(const asked *a) { empty_rows(a, NAN); }
static void empty_seven(const asked *a) { empty_rows(a, 7); }

static void slack(const asked *a)
{
    float *o = a->role[ATTEST_O]->data;
    for (int64_t i = 0; i < a->p.b * a->p.hq * a->p.n * a->p.e; i++)
        o[i] *= 0.99f;
}

/* Key j by 1 + j/64 times its weight: v and a column of ones, one after the other, would show it. */
static void tilt(asked *a)
{
    float *v = copy(a, ATTEST_V);
    for (int64_t i = 0; i < a->p.b * a->p.hkv * a->p.m * a->p.e; i++)
        v[i] *= 1 + (float)(i / a->p.e % a->p.m) / 64;
}

static void weights_bf16(attest_problem *p) { p->p = ATTEST_BF16; }

#include "misread_narrow.h"

/* ---- the kernels ------------------------------------------------------------------------------------------------- */
#define TWO_PASS &attest_kernel_softmax_two_pass_f32
#define SPLIT &attest_kernel_softmax_split_f32
#define DIRECT &attest_kernel_taylor_direct_f32
#define LINEAR &attest_kernel_linear_recurrent_f32
#define DELTA &attest_kernel_delta_recurrent_f32
// clang-format off
#define SET(text) .setting = text
static const mistake mistakes[] = {
    { "full", TWO_PASS, SET("5 0 0 0") },
    { "causal", TWO_PASS, SET("5 1 0 0") },
    { "causal-br", TWO_PASS, SET("5 2 0 0") },
    { "no-diagonal", TWO_PASS, .problem = edge_back },
    { "one-more", TWO_PASS, .run = run_one_more },
    { "no-window", TWO_PASS, SET("6 0 0 0") },
    { "window-more", TWO_PASS, .problem = window_more },
    { "window-less", TWO_PASS, .problem = window_less },
    { "no-lens", TWO_PASS, SET("7 0 0 0") },
    { "no-first-key", TWO_PASS, .problem = first_out, .before = skip_first },
    { "no-last-key", TWO_PASS, .problem = last_out },
    { "scale-one", TWO_PASS, .problem = scale_one },
    { "scale-per-d", TWO_PASS, .problem = scale_per_d },
    { "scale-default", TWO_PASS, .problem = scale_default },
    { "scale-sqrt-d", TWO_PASS, .problem = scale_sqrt_d },
    { "base-two", TWO_PASS, .problem = base_two },
    { "order-less", DIRECT, .problem = order_less },
    { "order-more", DIRECT, .problem = order_more },
    { "no-cap", TWO_PASS, SET("15 0 0 0") },
    { "no-clamp", TWO_PASS, SET("14 0 0 0") },
    { "no-filter", TWO_PASS, SET("2 0 0 0") },
    { "no-alibi", TWO_PASS, SET("16 0 0 0") },
    { "own-alibi", TWO_PASS, SET("16 2 0 0") },
    { "alibi-sign", TWO_PASS, .before = negate_slopes },
    { "alibi-all", TWO_PASS, .before = slopes_of_all },
    { "alibi-from-0", TWO_PASS, .before = slopes_from_0 },
    { "alibi-in-a-row", TWO_PASS, .before = slopes_in_a_row },
    { "no-bias", TWO_PASS, SET("18 0 0 0") },
    { "no-rope", TWO_PASS, SET("4 0 0 0") },
    { "no-feature", DIRECT, SET("3 0 0 0") },
    { "no-center", DIRECT, SET("1 0 0 0") },
    { "no-decay", DIRECT, SET("8 0 0 0") },
    { "log-decay", DIRECT, SET("22 1 0 0") },
    { "factor-decay", DIRECT, SET("22 0 0 0") },
    { "no-state", LINEAR, SET("17 0 0 0") },
    { "plain-delta", DELTA, SET("12 1 0 0") },
    { "no-gates", TWO_PASS, SET("9 0 0 0") },
    { "gates-in", TWO_PASS, SET("9 1 0 0") },
    { "gates-out", TWO_PASS, SET("9 2 0 0") },
    { "gates-pre-out", TWO_PASS, SET("9 4 0 0") },
    { "no-affine", TWO_PASS, SET("11 0 0 0") },
    { "norm-sum", TWO_PASS, SET("10 0 0 0") },
    { "norm-none", DIRECT, SET("10 3 0 0") },
    { "norm-length", DIRECT, SET("10 4 0 0") },
    { "eps-zero", TWO_PASS, SET("13 0 0 0") },
    { "eps-12", TWO_PASS, SET("13 1 0 1e-12") },
    { "eps-8", TWO_PASS, SET("13 1 0 1e-8") },
    { "eps-6", TWO_PASS, SET("13 1 0 1e-6") },
    { "eps-5", TWO_PASS, SET("13 1 0 1e-5") },
    { "heads-in-turn", TWO_PASS, .problem = own_heads, .before = spread_in_turn },
    { "heads-first", TWO_PASS, .problem = own_heads, .before = spread_first },
    { "kv-swapped", TWO_PASS, .before = exchange_kv },
    { "qk-swapped", TWO_PASS, .before = exchange_qk },
    { "o-turned", TWO_PASS, .before = turn_o },
    { "all-turned", TWO_PASS, .before = turn_all },
    { "first-value-zero", TWO_PASS, .before = first_zero },
    { "lse-base-two", TWO_PASS, .after = lse_base_two },
    { "lse-sink", TWO_PASS, .after = lse_sink },
    { "masked-values", TWO_PASS, .after = masked_values },
    { "nan-queries", TWO_PASS, .after = nan_queries },
    { "empty-nan", TWO_PASS, .after = empty_nan },
    { "empty-seven", TWO_PASS, .after = empty_seven },
    { "weights-bf16", &attest_kernel_softmax_online_bf16, .problem = weights_bf16 },
    { "narrow-scores", TWO_PASS, .run = narrow_scores },
    { "narrow-half", TWO_PASS, .run = narrow_half },
    { "narrow-sums", TWO_PASS, .run = narrow_sums },
    { "parts-bf16", SPLIT, .run = parts_bf16 },
    { "parts-half", SPLIT, .run = parts_half },
    { "slack", TWO_PASS, .after = slack },
    { "tilted", TWO_PASS, .before = tilt },
};
// clang-format on
enum { COUNT = sizeof mistakes / sizeof mistakes[0] };

static const mistake *mistake_of(const attest_call *call)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(mistakes[i].name, call->self->name) == 0)
            return &mistakes[i];
    return NULL;
}

static void change(asked *a, const mistake *m, const attest_call *call)
{
    memset(a, 0, sizeof *a);
    a->call = *call;
    a->p = *call->problem;
    if (m->setting) {
        char *at;
        attest_setting *s = &a->p.axis[strtoul(m->setting, &at, 10)];
        s->value = (uint32_t)strtoul(at, &at, 10);
        s->order = (uint32_t)strtoul(at, &at, 10);
        s->number = strtod(at, NULL);
    }
    if (m->problem)
        m->problem(&a->p);
    a->call.self = m->base;
    a->call.problem = &a->p;
}

/* The function that it is asked for must be one of the base; weights in bf16 are asked for as f32. */
static int supports(const attest_call *call)
{
    const mistake *m = mistake_of(call);
    attest_call inner = *call;
    attest_problem p = *call->problem;
    inner.self = m->base;
    inner.problem = &p;
    if (m->problem == weights_bf16)
        p.p = ATTEST_BF16;
    return m->base->supports(&inner);
}

static size_t workspace(const attest_call *call)
{
    const mistake *m = mistake_of(call);
    asked a;
    change(&a, m, call);
    const size_t changed = m->base->workspace ? m->base->workspace(&a.call) : 0;
    a.p = *call->problem;
    const size_t plain = m->base->workspace ? m->base->workspace(&a.call) : 0;
    return changed > plain ? changed : plain;
}

static attest_status run(const attest_call *call)
{
    const mistake *m = mistake_of(call);
    asked a;
    change(&a, m, call);
    a.tensors = *call->tensors;
    memcpy(a.role, call->tensors->role, sizeof a.role);
    a.tensors.role = a.role;
    a.call.tensors = &a.tensors;
    if (m->before)
        m->before(&a);
    const attest_status status = m->run ? m->run(&a, m->base) : m->base->run(&a.call);
    if (m->after)
        m->after(&a);
    for (int i = 0; i < a.used; i++)
        free(a.memory[i]);
    return status;
}

const attest_library *attest_library_v2(const attest_host *host)
{
    static attest_kernel kernel[COUNT];
    static const attest_kernel *list[COUNT];
    static attest_library library = { .struct_size = sizeof library,
                                      .abi_version = ATTEST_ABI_VERSION,
                                      .name = "misread",
                                      .kernels = list,
                                      .kernel_count = COUNT };
    for (size_t i = 0; i < COUNT; i++) {
        kernel[i] = *mistakes[i].base;
        kernel[i].name = mistakes[i].name;
        kernel[i].source = "misread.c";
        kernel[i].flags = ATTEST_DETERMINISTIC;
        kernel[i].needs = ATTEST_NEEDS_C_ORDER;
        kernel[i].supports = supports;
        kernel[i].workspace = workspace;
        kernel[i].run = run;
        list[i] = &kernel[i];
    }
    return host ? &library : NULL;
}
