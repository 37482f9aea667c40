/* test_kernels.c - cheap sanity of the built-in kernels: each against tests/kernels_naive.h over masks, heads, sizes,
 * windows, lengths, strides and states; and supports().
 *
 * The tolerances here are generous and prove nothing: the certified judgement of every kernel is the gate's.
 */
#include "kernels/attest_float.h"
#include "kernels/registry.h"
#include "kernels/tensor.h"
#include "tests/kernels_naive.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

Suite *suite_kernels(void);

/* ---- running a kernel --------------------------------------------------------------------------------------- */

static const attest_kernel *kernel_named(const char *name)
{
    const attest_library *lib = attest_builtin_library();
    for (uint32_t i = 0; i < lib->kernel_count; i++)
        if (strcmp(lib->kernels[i]->name, name) == 0)
            return lib->kernels[i];
    ck_abort_msg("no kernel %s", name);
    return NULL;
}

static attest_tensor *add(attest_bundle *bundle, const attest_problem *p, uint32_t kind, uint32_t index, int packed)
{
    attest_tensor *t = NULL;
    attest_error err;
    const attest_tensor_id id = { kind, index };
    ck_assert_msg(attest_bundle_add(bundle, p, id, packed, &t, &err) == ATTEST_OK, "%s", err.text);
    return t;
}

static void put(const attest_tensor *t, int64_t at, double x)
{
    attest_store_bits(t, at, attest_from_f64(t->dtype, x));
}

/* 1 if the index tuple number `at` of dim^n is non-decreasing: a row of the packed layout, in its order. */
static int is_sorted(int64_t at, int n, int64_t dim)
{
    for (int k = 1; k < n; k++, at /= dim)
        if (at / dim % dim > at % dim)
            return 0;
    return 1;
}

static void fill_states(attest_bundle *bundle, const attest_problem *p, int packed)
{
    int lowest, highest;
    if (!p->axis[ATTEST_AXIS_STATE].value || !attest_variant_degrees(p->axis, &lowest, &highest))
        return;
    for (int n = lowest; n <= highest; n++) {
        const attest_tensor *h = add(bundle, p, ATTEST_KIND_H0, (uint32_t)n, packed);
        const attest_tensor *z = add(bundle, p, ATTEST_KIND_Z0, (uint32_t)n, packed);
        for (int64_t head = 0; head < p->b * p->hkv; head++) {
            const int64_t b = head / p->hkv, g = head % p->hkv;
            int64_t row = 0;
            for (int64_t at = 0; at < attest_state_rows(p->d, n, 0); at++) {
                if (packed && !is_sorted(at, n, p->d))
                    continue;
                put(z, attest_offset(z, b, g, row, 0), naive_state_input(NAIVE_Z0, n, b, g, at, p->d, 0));
                for (int64_t c = 0; c < p->e; c++)
                    put(h, attest_offset(h, b, g, row, c), naive_state_input(NAIVE_H0, n, b, g, at, p->d, c));
                row++;
            }
        }
    }
}

static void fill_inputs(attest_bundle *bundle, const attest_problem *p, int packed)
{
    const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    for (int r = 0; r < 3; r++) {
        const attest_tensor *t = add(bundle, p, ATTEST_KIND_ROLE, roles[r], 0);
        for (int64_t at = 0; at < attest_tensor_count(t); at++) {
            const int64_t c = at % t->shape[3], i = at / t->shape[3] % t->shape[2];
            const int64_t h = at / t->shape[3] / t->shape[2] % t->shape[1], b = at / t->stride[0];
            put(t, at, naive_value(roles[r], b, h, i, c));
        }
    }
    if (p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_SINK) {
        const attest_tensor *t = add(bundle, p, ATTEST_KIND_ROLE, ATTEST_SINK, 0);
        for (int64_t h = 0; h < p->hq; h++)
            put(t, h, naive_value(NAIVE_SINK, h, 0, 0, 0));
    }
    if (p->axis[ATTEST_AXIS_LENS].value) {
        const attest_tensor *t = add(bundle, p, ATTEST_KIND_ROLE, ATTEST_LEN, 0);
        for (int64_t b = 0; b < p->b; b++)
            attest_store_bits(t, b, (uint64_t)naive_length(p, b));
    }
    fill_states(bundle, p, packed);
}

/* A NaN in every element: one that is never written is seen. */
static void add_output(attest_bundle *bundle, const attest_problem *p, uint32_t kind, uint32_t index, int packed)
{
    const attest_tensor *t = add(bundle, p, kind, index, packed);
    memset(t->data, 0xff, attest_tensor_bytes(t));
}

/* Adds the outputs that the kernel gives and the variant has. */
static void add_outputs(attest_bundle *bundle, const attest_problem *p, const attest_kernel *k)
{
    static const struct { uint32_t bit, role; } gives[] = { { ATTEST_GIVES_O, ATTEST_O }, { ATTEST_GIVES_U, ATTEST_U },
                                                           { ATTEST_GIVES_Z, ATTEST_Z },
                                                           { ATTEST_GIVES_LSE, ATTEST_LSE } };
    int lowest, highest;
    char why[256];
    for (int i = 0; i < 4; i++) {
        const attest_tensor_id id = { ATTEST_KIND_ROLE, gives[i].role };
        if (k->outputs & gives[i].bit && attest_problem_has(p, id, why, sizeof why))
            add_output(bundle, p, ATTEST_KIND_ROLE, gives[i].role, 0);
    }
    if (!(k->outputs & ATTEST_GIVES_STATE) || !attest_variant_degrees(p->axis, &lowest, &highest))
        return;
    for (int n = lowest; n <= highest; n++) {
        add_output(bundle, p, ATTEST_KIND_HT, (uint32_t)n, (k->flags & ATTEST_PACKED_STATE) != 0);
        add_output(bundle, p, ATTEST_KIND_ZT, (uint32_t)n, (k->flags & ATTEST_PACKED_STATE) != 0);
    }
}

/* Runs with a scratch of exactly the size asked for, full of NaNs. */
static void run(const attest_kernel *k, const attest_problem *p, const attest_tensors *view)
{
    const size_t size = k->workspace ? k->workspace(p) : 0;
    void *scratch = malloc(size > 0 ? size : 1);
    ck_assert_ptr_nonnull(scratch);
    memset(scratch, 0xff, size);
    ck_assert_int_eq(k->run(p, view, scratch, NULL), ATTEST_OK);
    free(scratch);
}

static attest_bundle *run_case(const attest_kernel *k, const attest_problem *p)
{
    attest_bundle *bundle;
    attest_tensors view;
    attest_error err;
    ck_assert_int_eq(attest_bundle_new(&bundle, &err), ATTEST_OK);
    fill_inputs(bundle, p, (k->flags & ATTEST_PACKED_STATE) != 0);
    add_outputs(bundle, p, k);
    attest_bundle_view(bundle, &view);
    run(k, p, &view);
    return bundle;
}

/* ---- against the naive formula ---------------------------------------------------------------------------------- */

/* |got - want| <= tolerance * gauge, infinities and NaNs alike; reads the element's double by its tensor. */
static int near(double got, double want, double gauge)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= gauge;
}

static double tolerance_of(const attest_problem *p)
{
    const double u[] = { 1e-4, 1e-12, 2e-3, 1e-2 }; /* of the coarser of p and out */
    return fmax(u[p->out], u[p->p]);
}

static void check_element(const attest_tensor *t, int64_t at, double want, double gauge, const char *where)
{
    if (t)
        ck_assert_msg(near(attest_load(t, at), want, gauge + 1e-7), "%s element %lld: got %.9g, want %.9g +- %.3g",
                      where, (long long)at, attest_load(t, at), want, gauge);
}

static void check_row(const attest_bundle *bundle, const attest_problem *p, int64_t b, int64_t h, int64_t i,
                      const char *where)
{
    const attest_tensor *o = attest_bundle_role(bundle, ATTEST_O), *u = attest_bundle_role(bundle, ATTEST_U);
    const attest_tensor *z = attest_bundle_role(bundle, ATTEST_Z), *lse = attest_bundle_role(bundle, ATTEST_LSE);
    const naive_row row = naive_attention(p, b, h, i);
    const double tol = tolerance_of(p), relative = row.z_gauge / fabs(row.z);
    if (z)
        check_element(z, attest_offset(z, b, h, i, 0), row.z, tol * row.z_gauge, where);
    if (lse && row.regular)
        check_element(lse, attest_offset(lse, b, h, i, 0), row.lse, tol * (relative + fabs(row.lse)), where);
    for (int64_t c = 0; c < p->e; c++) {
        const int64_t at = attest_offset(o, b, h, i, c);
        if (row.regular)
            check_element(o, at, row.o[c], tol * row.o_gauge[c], where);
        check_element(u, at, row.u[c], tol * row.u_gauge[c], where);
    }
}

static void check_states(const attest_bundle *bundle, const attest_problem *p, int n, int packed, const char *where)
{
    const attest_tensor *h = attest_bundle_get(bundle, (attest_tensor_id){ ATTEST_KIND_HT, (uint32_t)n });
    const attest_tensor *z = attest_bundle_get(bundle, (attest_tensor_id){ ATTEST_KIND_ZT, (uint32_t)n });
    const double gauge = 1e-4 * (double)(p->m + 1) * (p->axis[ATTEST_AXIS_FEATURE].value ? pow(2, n) : 1);
    for (int64_t head = 0; h && head < p->b * p->hkv; head++) {
        const int64_t b = head / p->hkv, g = head % p->hkv;
        int64_t row = 0;
        for (int64_t at = 0; at < attest_state_rows(p->d, n, 0); at++) {
            if (packed && !is_sorted(at, n, p->d))
                continue;
            check_element(z, attest_offset(z, b, g, row, 0), naive_state(p, n, b, g, at, -1), gauge, where);
            for (int64_t c = 0; c < p->e; c++)
                check_element(h, attest_offset(h, b, g, row, c), naive_state(p, n, b, g, at, c), gauge, where);
            row++;
        }
        ck_assert_msg(row == h->shape[2], "%s: state %d has %lld rows, want %lld", where, n, (long long)h->shape[2],
                      (long long)row);
    }
}

/* 0 if the line is contradictory or the kernel refuses it (with a reason). */
static int parse_for(attest_case *c, const attest_kernel *k, const char *line)
{
    attest_error err;
    char why[256] = "";
    if (attest_case_parse(c, line, NULL, NULL, &err) != ATTEST_OK)
        return 0;
    if (k->supports(&c->problem, why, sizeof why))
        return 1;
    ck_assert_msg(why[0] != '\0', "%s refuses '%s' without a reason", k->name, line);
    return 0;
}

static const char *const variants[] = {
    "softmax", "softmax1", "softmax in=bf16 p=bf16", "softmax in=f64", "softmax in=f16", "softmax in=bf16",
    "softmax splits=3", "taylor:0", "taylor:1", "taylor:2", "taylor:3", "taylor:4", "taylor:3 center=max",
    "taylor:2 center=min", "taylor:3 center=mid", "taylor:2 norm=none", "term:0", "term:1", "term:3",
    "term:2 norm=sum", "quadratic", "linear", "linear chunk=2", "linear-elu", "linear-relu", "linear-elu chunk=3",
    "elu-taylor:2", "relu-taylor:3", "based in=bf16", "shifted:2", "term:1 norm=sum", "linear norm=sum in=f16"
};
static const char *const masks[] = { "full", "causal", "causal-br" };
static const char *const shapes[] = { "b=2 hq=4 hkv=2 n=5 m=7 d=3 e=2", "hq=3 hkv=1 n=7 m=5 d=2 e=3", "n=1 m=1 d=1 e=1",
                                      "hq=2 n=9 m=70 d=4 e=3 scale=300", "b=3 n=40 m=40 d=3 e=1 scale=-0.7" };
static const char *const extras[] = { "", "lens=draw", "window=3", "lens=draw window=4", "state=draw",
                                      "state=draw lens=draw" };
#define COUNT(array) (sizeof array / sizeof array[0])

/* Every combination of the lists, for one kernel; returns how many it computed. */
static int each_case(const attest_kernel *k, int (*check)(const attest_kernel *, const attest_case *, const char *))
{
    int judged = 0;
    for (size_t n = 0; n < COUNT(variants) * COUNT(masks) * COUNT(shapes) * COUNT(extras); n++) {
        attest_case c;
        char line[256], where[320];
        snprintf(line, sizeof line, "variant=%s mask=%s %s %s", variants[n / 90], masks[n / 30 % 3], shapes[n / 6 % 5],
                 extras[n % 6]);
        snprintf(where, sizeof where, "%s: %s", k->name, line);
        if (parse_for(&c, k, line))
            judged += check(k, &c, where);
    }
    return judged;
}

static int check_naive(const attest_kernel *k, const attest_case *c, const char *where)
{
    const attest_problem *p = &c->problem;
    attest_bundle *bundle = run_case(k, p);
    int lowest, highest;
    for (int64_t row = 0; row < p->b * p->hq * p->n; row++)
        check_row(bundle, p, row / p->n / p->hq, row / p->n % p->hq, row % p->n, where);
    if (k->outputs & ATTEST_GIVES_STATE && attest_variant_degrees(p->axis, &lowest, &highest))
        for (int n = lowest; n <= highest; n++)
            check_states(bundle, p, n, (k->flags & ATTEST_PACKED_STATE) != 0, where);
    attest_bundle_free(bundle);
    return 1;
}

START_TEST(test_naive)
{
    const attest_kernel *k = attest_builtin_library()->kernels[_i];
    const int judged = each_case(k, check_naive);
    ck_assert_msg(judged >= 60, "%s computed only %d cases", k->name, judged);
}
END_TEST

/* ---- properties that need no reference ------------------------------------------------------------------------- */

/* The same tensor as [B,S,H,D] with every channel followed by a hole of 0x7f bytes. */
static attest_tensor respread(const attest_tensor *t, void **memory)
{
    const size_t bytes = attest_dtype_bytes(t->dtype);
    attest_tensor s = *t;
    s.stride[3] = 2;
    s.stride[1] = t->shape[3] * 2;
    s.stride[2] = t->shape[1] * s.stride[1];
    s.stride[0] = t->shape[2] * s.stride[2];
    *memory = malloc((size_t)(t->shape[0] * s.stride[0]) * bytes);
    ck_assert_ptr_nonnull(*memory);
    memset(*memory, 0x7f, (size_t)(t->shape[0] * s.stride[0]) * bytes);
    s.data = *memory;
    for (int64_t at = 0; at < attest_tensor_count(t); at++) {
        const int64_t c = at % t->shape[3], i = at / t->shape[3] % t->shape[2];
        const int64_t h = at / t->shape[3] / t->shape[2] % t->shape[1], b = at / t->stride[0];
        attest_store_bits(&s, attest_offset(&s, b, h, i, c), attest_load_bits(t, at));
    }
    return s;
}

/* q, k, v, o as BSHD with holes: the same bits, and the holes stay as they are. */
static int check_strided(const attest_kernel *k, const attest_case *c, const char *where)
{
    const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V, ATTEST_O };
    const attest_problem *p = &c->problem;
    attest_bundle *bundle = run_case(k, p);
    attest_tensors view;
    attest_tensor spread[4];
    void *memory[4];
    attest_bundle_view(bundle, &view);
    const attest_tensor *o = view.role[ATTEST_O];
    for (int r = 0; r < 4; r++) {
        spread[r] = respread(view.role[roles[r]], &memory[r]);
        view.role[roles[r]] = &spread[r];
    }
    for (int64_t at = 0; at < attest_tensor_count(o); at++)
        attest_store_bits(&spread[3], at * 2, 0);
    run(k, p, &view);
    for (int64_t at = 0; at < attest_tensor_count(o); at++) {
        const int64_t ch = at % p->e, i = at / p->e % p->n, h = at / p->e / p->n % p->hq, b = at / o->stride[0];
        const int64_t there = attest_offset(&spread[3], b, h, i, ch);
        ck_assert_msg(attest_load_bits(o, at) == attest_load_bits(&spread[3], there), "%s: o[%lld] differs", where,
                      (long long)at);
        ck_assert_msg((attest_load_bits(&spread[3], there + 1) & 0xffff) == 0x7f7f, "%s: wrote a hole", where);
    }
    for (int r = 0; r < 4; r++)
        free(memory[r]);
    attest_bundle_free(bundle);
    return 1;
}

/* NaN in keys and values at and after len_b: not a bit changes. */
static int check_invisible(const attest_kernel *k, const attest_case *c, const char *where)
{
    const attest_problem *p = &c->problem;
    if (!p->axis[ATTEST_AXIS_LENS].value)
        return 0;
    attest_bundle *bundle = run_case(k, p);
    attest_tensors view;
    attest_bundle_view(bundle, &view);
    const attest_tensor *o = view.role[ATTEST_O];
    const size_t bytes = attest_tensor_bytes(o);
    void *before = malloc(bytes);
    ck_assert_ptr_nonnull(before);
    memcpy(before, o->data, bytes);
    for (int64_t row = 0; row < p->b * p->hkv * p->m; row++) {
        const int64_t b = row / p->m / p->hkv;
        for (int64_t ch = 0; row % p->m >= naive_length(p, b) && ch < p->d; ch++)
            put(view.role[ATTEST_K], row * p->d + ch, NAN);
        for (int64_t ch = 0; row % p->m >= naive_length(p, b) && ch < p->e; ch++)
            put(view.role[ATTEST_V], row * p->e + ch, NAN);
    }
    run(k, p, &view);
    ck_assert_msg(memcmp(before, o->data, bytes) == 0, "%s: an invisible NaN changed o", where);
    free(before);
    attest_bundle_free(bundle);
    return 1;
}

START_TEST(test_bits)
{
    const attest_kernel *k = attest_builtin_library()->kernels[_i];
    ck_assert_msg(each_case(k, check_strided) >= 60, "%s: too few cases", k->name);
    ck_assert_msg(each_case(k, check_invisible) >= 20, "%s: too few cases with lens", k->name);
}
END_TEST

/* ---- carried states ---------------------------------------------------------------------------------------------- */

/* Tokens [from, from + n) of the whole problem's tensors. */
static attest_tensor slice(const attest_tensor *t, int64_t from, int64_t n)
{
    attest_tensor s = *t;
    s.shape[2] = n;
    s.data = (char *)t->data + (size_t)(from * t->stride[2]) * attest_dtype_bytes(t->dtype);
    return s;
}

/* The second half of the tokens, starting from the first half's states, against the whole. */
static void check_composition(const attest_kernel *k, const char *variant)
{
    attest_case c;
    char line[256];
    attest_tensors whole, part;
    attest_error err;
    attest_bundle *scratch;
    attest_tensor cut[4];
    const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V, ATTEST_U };
    snprintf(line, sizeof line, "variant=%s mask=causal b=2 hq=4 hkv=2 n=12 d=3 e=2 chunk=4", variant);
    ck_assert_msg(parse_for(&c, k, line), "%s: %s", k->name, line);
    attest_problem half = c.problem;
    half.n = half.m = 6;
    attest_bundle *bundle = run_case(k, &c.problem);
    attest_bundle_view(bundle, &whole);
    ck_assert_int_eq(attest_bundle_new(&scratch, &err), ATTEST_OK);
    add_outputs(scratch, &half, k); /* the first half's states, and u and z of both halves in turn */
    for (int round = 0; round < 2; round++) {
        attest_bundle_view(scratch, &part);
        for (int r = 0; r < 3; r++) {
            cut[r] = slice(whole.role[roles[r]], round * 6, 6);
            part.role[roles[r]] = &cut[r];
        }
        if (round == 1) {
            half.axis[ATTEST_AXIS_STATE].value = ATTEST_STATE_DRAW;
            memcpy(part.h0, part.ht, sizeof part.h0); /* in place: read before it is written */
            memcpy(part.z0, part.zt, sizeof part.z0);
        }
        run(k, &half, &part);
        for (int64_t row = 0; row < 2 * 4 * 6; row++)
            for (int64_t ch = 0; ch < 2; ch++) {
                const double got = attest_load(part.role[ATTEST_U], row * 2 + ch);
                const double want = attest_load(whole.role[ATTEST_U], (row / 6 * 12 + round * 6 + row % 6) * 2 + ch);
                ck_assert_msg(near(got, want, 1e-4), "%s: %s: half %d row %lld: %.9g, whole %.9g", k->name, line,
                              round, (long long)row, got, want);
            }
    }
    for (int n = 0; n < ATTEST_STATE_SLOTS; n++)
        for (int64_t at = 0; whole.ht[n] && at < attest_tensor_count(whole.ht[n]); at++)
            ck_assert_msg(near(attest_load(part.ht[n], at), attest_load(whole.ht[n], at), 1e-4),
                          "%s: %s: ht.%d[%lld] of the halves is not that of the whole", k->name, line, n,
                          (long long)at);
    attest_bundle_free(scratch);
    attest_bundle_free(bundle);
}

START_TEST(test_composition)
{
    const char *const linear[] = { "linear-recurrent-f32", "linear-chunk-f32", "taylor-recurrent-f32",
                                   "taylor-packed-f32" };
    for (int i = 0; i < 4; i++) {
        check_composition(kernel_named(linear[i]), "linear-elu");
        check_composition(kernel_named(linear[i]), "term:1");
    }
    for (int i = 2; i < 4; i++) {
        check_composition(kernel_named(linear[i]), "taylor:3");
        check_composition(kernel_named(linear[i]), "quadratic");
    }
}
END_TEST

/* ---- what is refused ------------------------------------------------------------------------------------------- */

START_TEST(test_refusals)
{
    static const struct { const char *kernel, *line, *reason; } cases[] = {
        { "softmax-two-pass-f32", "variant=taylor:2", "weight=taylor" },
        { "softmax-two-pass-f32", "variant=softmax cap=20", "cap=CAP" },
        { "softmax-two-pass-f32", "variant=softmax in=f64", "in=f64" },
        { "softmax-online-f32", "variant=softmax1", "norm=sink" },
        { "softmax-online-f32", "variant=softmax p=bf16", "p=bf16" },
        { "softmax-online-bf16", "variant=softmax", "in=f32" },
        { "softmax-online-bf16", "variant=softmax in=bf16", "p=f32" },
        { "softmax-split-f32", "variant=softmax alibi=draw", "alibi=draw" },
        { "taylor-direct-f32", "variant=softmax", "weight=exp" },
        { "taylor-direct-f32", "variant=taylor:2 state=draw", "state=draw" },
        { "taylor-recurrent-f32", "variant=shifted:2", "center=max" },
        { "taylor-recurrent-f32", "variant=taylor:2 window=3", "window=W" },
        { "taylor-recurrent-f32", "variant=taylor:6 d=64", "2^20 rows" },
        { "taylor-recurrent-f32", "variant=taylor:40 d=1", "no normal float" },
        { "taylor-recurrent-f32", "variant=taylor:2 d=1000 e=1000", "2^26" },
        { "taylor-packed-f32", "variant=taylor:8 d=16", "2^24" },
        { "linear-parallel-f32", "variant=quadratic", "order 2" },
        { "linear-chunk-f32", "variant=taylor:1", "weight=taylor" },
        { "linear-recurrent-f32", "variant=retnet mask=causal", "decay=retnet" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const attest_kernel *k = kernel_named(cases[i].kernel);
        attest_case c;
        attest_error err;
        char why[256] = "", tiny[4];
        ck_assert_msg(attest_case_parse(&c, cases[i].line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_msg(!k->supports(&c.problem, why, sizeof why), "%s: %s", k->name, cases[i].line);
        ck_assert_msg(strstr(why, cases[i].reason) != NULL, "%s: %s: says '%s', not '%s'", k->name, cases[i].line, why,
                      cases[i].reason);
        ck_assert_int_eq(k->supports(&c.problem, tiny, sizeof tiny), 0);
        ck_assert_int_lt((int)strlen(tiny), (int)sizeof tiny);
    }
}
END_TEST

Suite *suite_kernels(void)
{
    Suite *s = suite_create("kernels");
    TCase *numbers = tcase_create("numbers");
    const int count = (int)attest_builtin_library()->kernel_count;
    tcase_set_timeout(numbers, 60);
    tcase_add_loop_test(numbers, test_naive, 0, count);
    tcase_add_loop_test(numbers, test_bits, 0, count);
    tcase_add_test(numbers, test_composition);
    tcase_add_test(numbers, test_refusals);
    suite_add_tcase(s, numbers);
    return s;
}
