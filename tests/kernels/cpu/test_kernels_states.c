/* test_kernels_states.c - the recurrent and chunk kernels of update=add against the parallel form in double
 * (tests/kernels/cpu/states_naive.h): outputs, final states, carried states, what is not read; and that every legal
 * cell of the forms recurrent and chunk, and of parallel for the delta rule, has a kernel.
 */
#include "tests/kernels/cpu/states_naive.h"

Suite *suite_kernels_states(void);

#define COUNT(array) (sizeof array / sizeof array[0])
#define DIM 8 /* most features of a case */

static const char *const kernels[] = { "linear-recurrent-f32", "taylor-recurrent-f32", "taylor-packed-f32",
                                       "taylor-chunk-f32" };

/* ---- the formula ----------------------------------------------------------------------------------------------- */

/* W and W' with x >= 0 as polynomials of non-negative coefficients; W itself for any x. */
static double weight_of(const attest_problem *p, double x, int derivative)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    double sum = 0, lower = 0, term = 1;
    for (uint32_t n = 0; n <= weight->order; n++) {
        sum += term;
        if (weight->value != ATTEST_WEIGHT_TAYLOR && n < weight->order)
            sum = 0;
        if (n < weight->order)
            lower = weight->value == ATTEST_WEIGHT_TAYLOR ? lower + term : term;
        term *= weight->value == ATTEST_WEIGHT_POWER ? x : x / (n + 1);
    }
    return !derivative ? sum : weight->value == ATTEST_WEIGHT_POWER ? lower * weight->order : lower;
}

/* Roundings that a term can meet. */
static double naive_count(const attest_problem *p)
{
    const uint32_t order = p->axis[ATTEST_AXIS_WEIGHT].order;
    const double dim = (double)attest_feature_dim(p);
    return 8 * (double)order + 4 * (double)(p->m + 2) + pow(dim, order) + dim + 16;
}

typedef struct naive_row {
    int empty;
    int64_t keys;
    near u[NAIVE_E], z;
} naive_row;

static void add_key(naive_row *row, const scene *s, const near *q, int64_t b, int64_t g, int64_t i, int64_t j)
{
    const attest_problem *p = &s->c.problem;
    const int vector = p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR;
    near k[DIM];
    double score = 0, mass = 0, moved = 0;
    naive_feature(k, s, ATTEST_K, b, g, j);
    for (int64_t c = 0; c < attest_feature_dim(p); c++) {
        const double D = p->scale * (vector ? naive_product(s, b, g, j + 1, i, c) : 1);
        score += D * q[c].v * k[c].v;
        mass += fabs(D * q[c].v * k[c].v);
        moved += fabs(D) * ((fabs(q[c].v) + q[c].e) * (fabs(k[c].v) + k[c].e) - fabs(q[c].v * k[c].v));
    }
    const double D = vector ? 1 : naive_product(s, b, g, j + 1, i, 0);
    const double terms = D * weight_of(p, mass + moved, 0);
    const near w = { D * weight_of(p, score, 0),
                     naive_count(p) * NAIVE_U * terms + D * moved * weight_of(p, mass + moved, 1) };
    const near gin = naive_gin(s, b, g, j);
    row->keys++;
    row->z.v += w.v;
    row->z.e += w.e;
    for (int64_t c = 0; c < p->e; c++) {
        const double v = naive_load(s, ATTEST_V, b, g, j, c);
        row->u[c].v += w.v * gin.v * v;
        row->u[c].e += w.e * fabs(gin.v * v) + (terms + w.e) * gin.e * fabs(v);
    }
}

/* c_n sum over index tuples of D q^I h0_I. */
static void add_given(naive_row *row, const scene *s, const near *q, int64_t b, int64_t g, int64_t i, int n)
{
    const attest_problem *p = &s->c.problem;
    const int64_t dim = attest_feature_dim(p), head = b * p->hkv + g;
    const int vector = p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR;
    double factor = vector ? 1 : naive_product(s, b, g, 0, i, 0);
    for (int x = 1; x <= n; x++)
        factor *= p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_POWER ? p->scale : p->scale / x;
    for (int64_t at = 0; at < attest_state_rows(dim, n, 0); at++) {
        double x = factor, most = fabs(factor);
        int64_t rest = at;
        for (int y = 0; y < n; y++, rest /= dim) {
            const double D = vector ? naive_product(s, b, g, 0, i, rest % dim) : 1;
            x *= D * q[rest % dim].v;
            most *= D * (fabs(q[rest % dim].v) + q[rest % dim].e);
        }
        const double e = naive_count(p) * NAIVE_U * most + most - fabs(x);
        const double z0 = scene_state(ATTEST_KIND_Z0, n, head, at, dim, 0);
        row->z.v += x * z0;
        row->z.e += e * fabs(z0);
        for (int64_t c = 0; c < p->e; c++) {
            const double h0 = scene_state(ATTEST_KIND_H0, n, head, at, dim, c);
            row->u[c].v += x * h0;
            row->u[c].e += e * fabs(h0);
        }
    }
}

static naive_row attention(const scene *s, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = &s->c.problem;
    const int given = p->axis[ATTEST_AXIS_STATE].value != 0;
    const int64_t g = attest_kv_head(p, h);
    int lowest, highest;
    near q[DIM];
    naive_row row;
    memset(&row, 0, sizeof row);
    naive_feature(q, s, ATTEST_Q, b, h, i);
    for (int64_t j = 0; j < p->m; j++)
        if (naive_sees(s, b, i, j))
            add_key(&row, s, q, b, g, i, j);
    attest_variant_degrees(p->axis, &lowest, &highest);
    for (int n = lowest; given && n <= highest; n++)
        add_given(&row, s, q, b, g, i, n);
    row.empty = row.keys == 0 && !given;
    return row;
}

/* Entry (index tuple `at` of dim^n, channel c; c < 0: z-state) after the last key T that query n-1 sees. */
static near final_state(const scene *s, int n, int64_t b, int64_t g, int64_t at, int64_t c)
{
    const attest_problem *p = &s->c.problem;
    const int64_t dim = attest_feature_dim(p), head = b * p->hkv + g;
    const int vector = p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR;
    const int64_t decayed = vector ? at : 0; /* vector: n = 1, and `at` is the key dimension */
    const double K = naive_count(p) * NAIVE_U;
    int64_t T = -1;
    near sum = { 0, 0 };
    for (int64_t j = 0; j < p->m; j++)
        T = naive_sees(s, b, p->n - 1, j) ? j : T;
    if (p->axis[ATTEST_AXIS_STATE].value) {
        sum.v = scene_state(c < 0 ? ATTEST_KIND_Z0 : ATTEST_KIND_H0, n, head, at, dim, c < 0 ? 0 : c);
        sum.v *= naive_product(s, b, g, 0, T, decayed);
        sum.e = K * fabs(sum.v);
    }
    for (int64_t j = 0; j <= T; j++) {
        const near gin = naive_gin(s, b, g, j);
        near k[DIM], x = { naive_product(s, b, g, j + 1, T, decayed), 0 };
        int64_t rest = at;
        naive_feature(k, s, ATTEST_K, b, g, j);
        for (int y = 0; y < n; y++, rest /= dim)
            x = naive_times(x, k[rest % dim]);
        if (c >= 0)
            x = naive_times(naive_times(x, gin), (near){ naive_load(s, ATTEST_V, b, g, j, c), 0 });
        sum.v += x.v;
        sum.e += x.e + K * fabs(x.v);
    }
    return sum;
}

/* ---- one case -------------------------------------------------------------------------------------------------- */

static void check_row(const scene *s, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = &s->c.problem;
    const attest_tensor *o = attest_bundle_role(s->bundle, ATTEST_O), *u = attest_bundle_role(s->bundle, ATTEST_U);
    const attest_tensor *z = attest_bundle_role(s->bundle, ATTEST_Z);
    const naive_row row = attention(s, b, h, i);
    near y[NAIVE_E] = { { 0, 0 } };
    const int judged = row.empty || naive_norm(y, s, row.u, row.z, row.keys, b, h, i);
    naive_check(s, z, attest_offset(z, b, h, i, 0), row.z, "z");
    for (int64_t c = 0; c < p->e; c++) {
        naive_check(s, u, attest_offset(u, b, h, i, c), row.u[c], "u");
        if (judged)
            naive_check(s, o, attest_offset(o, b, h, i, c), y[c], "o");
    }
}

static void check_states(const scene *s, int n)
{
    const attest_problem *p = &s->c.problem;
    const int64_t dim = attest_feature_dim(p);
    const attest_tensor *h = attest_bundle_get(s->bundle, (attest_tensor_id){ ATTEST_KIND_HT, (uint32_t)n });
    const attest_tensor *z = attest_bundle_get(s->bundle, (attest_tensor_id){ ATTEST_KIND_ZT, (uint32_t)n });
    for (int64_t head = 0; head < p->b * p->hkv; head++) {
        const int64_t b = head / p->hkv, g = head % p->hkv;
        for (int64_t at = 0, row = 0; at < attest_state_rows(dim, n, 0); at++) {
            if (s->packed && !scene_sorted(at, n, dim))
                continue;
            naive_check(s, z, attest_offset(z, b, g, row, 0), final_state(s, n, b, g, at, -1), "zt");
            for (int64_t c = 0; c < p->e; c++)
                naive_check(s, h, attest_offset(h, b, g, row, c), final_state(s, n, b, g, at, c), "ht");
            row++;
        }
    }
}

/* 1 if the kernel serves the line, and is right. */
static int check_line(const attest_kernel *kernel, const char *line)
{
    scene s;
    int lowest, highest;
    if (!scene_serves(&s, kernel, line))
        return 0;
    const attest_problem *p = &s.c.problem;
    scene_open(&s);
    scene_run(&s);
    for (int64_t row = 0; row < p->b * p->hq * p->n; row++)
        check_row(&s, row / p->n / p->hq, row / p->n % p->hq, row % p->n);
    attest_variant_degrees(p->axis, &lowest, &highest);
    for (int n = lowest; n <= highest; n++)
        check_states(&s, n);
    scene_check_unread(&s, (p->n + 1) / 2);
    scene_close(&s);
    return 1;
}

/* ---- presets x sizes, axes x masks ----------------------------------------------------------------------------- */

static const char *const presets[] = { "taylor:0",     "taylor:1",   "taylor:2",   "taylor:3",     "term:0",
                                       "term:1",       "term:3",     "quadratic",  "linear",       "linear-elu",
                                       "linear-relu",  "cosformer",  "linear-cos", "elu-taylor:2", "relu-taylor:3",
                                       "cos-taylor:2", "based",      "retnet",     "gla",          "simple-gla",
                                       "sla",          "sla-retnet", "sla-gla" };
static const char *const sizes[] = { "n=1 chunk=1",  "n=2 chunk=1 hq=2",        "n=5 chunk=3 b=2 hq=4 hkv=2",
                                     "n=17 chunk=8", "n=33 chunk=8 hq=2 hkv=1", "n=17 chunk=64",
                                     "n=33 chunk=3", "n=5 m=9 chunk=3",         "n=9 m=5 chunk=1" };
static const char *const extras[] = { "", "state=draw", "lens=draw b=3", "lens=draw state=draw mask=causal-br b=3" };

START_TEST(test_presets)
{
    const attest_kernel *kernel = scene_kernel(kernels[_i]);
    int judged = 0;
    for (size_t n = 0; n < COUNT(presets) * COUNT(sizes) * 2; n++) {
        char line[256];
        const size_t size = n / 2 % COUNT(sizes), preset = n / 2 / COUNT(sizes);
        snprintf(line, sizeof line, "variant=%s %s %s %s d=3 e=2", presets[preset], n % 2 ? "in=bf16 out=f32" : "",
                 strstr(sizes[size], "b=2") ? "" : extras[(n / 2 + preset) % COUNT(extras)], sizes[size]);
        judged += check_line(kernel, line);
        snprintf(line, sizeof line, "variant=%s mask=causal %s %s d=3 e=3", presets[preset], n % 2 ? "in=bf16" : "",
                 sizes[size]);
        judged += check_line(kernel, line);
    }
    ck_assert_msg(judged >= 360, "%s computed only %d cases", kernel->name, judged);
}
END_TEST

static const char *const axes[] = { "gates=in",
                                    "gates=out",
                                    "gates=inout",
                                    "gates=pre-out",
                                    "gates=heads",
                                    "norm=sink",
                                    "norm=floor:1",
                                    "norm=none",
                                    "norm=length",
                                    "norm=l2 eps=0.01",
                                    "norm=rms affine=draw",
                                    "norm=layernorm affine=draw eps=0.001",
                                    "norm=length-l2 gates=pre-out",
                                    "norm=length-rms eps=0.1",
                                    "norm=length-layernorm affine=draw gates=out",
                                    "feature=silu",
                                    "feature=silu-unit",
                                    "feature=unit",
                                    "feature=elu1 eps=0.5",
                                    "feature=cosformer rope=10",
                                    "rope=100",
                                    "rope=100 feature=elu1",
                                    "rope=100 feature=unit state=draw",
                                    "scale=-0.7",
                                    "scale=0" };
static const char *const weights[] = { "linear norm=sum", "taylor:2", "term:2 norm=sum", "linear-elu" };
static const char *const decays[] = { "",
                                      "mask=causal",
                                      "mask=causal-br m=11",
                                      "mask=causal decay=retnet",
                                      "mask=causal-br decay=scalar lens=draw b=4",
                                      "mask=causal decay=vector lens=draw b=4",
                                      "mask=causal-br decay=vector lens=draw state=draw b=4",
                                      "mask=causal decay=scalar state=draw lens=draw b=3" };

START_TEST(test_axes)
{
    const attest_kernel *kernel = scene_kernel(kernels[_i]);
    int judged = 0;
    for (size_t n = 0; n < COUNT(axes) * COUNT(weights) * COUNT(decays); n++) {
        char line[320];
        const size_t axis = n / COUNT(weights) / COUNT(decays);
        snprintf(line, sizeof line, "variant=%s hq=4 hkv=2 n=7 d=4 e=3 chunk=3 %s %s",
                 weights[n / COUNT(decays) % COUNT(weights)], decays[n % COUNT(decays)],
                 strstr(decays[n % COUNT(decays)], "state") ? "" : axes[axis]);
        judged += check_line(kernel, line);
    }
    ck_assert_msg(judged >= 300, "%s computed only %d cases", kernel->name, judged);
}
END_TEST

/* ---- carried states -------------------------------------------------------------------------------------------- */

/* The part of a tensor [B,H,S,..] from token `from` on. */
static attest_tensor from_token(const attest_tensor *t, int64_t from, int64_t n)
{
    attest_tensor part = *t;
    part.shape[2] = n;
    part.data = (char *)t->data + (size_t)(from * t->stride[2]) * attest_dtype_bytes(t->dtype);
    return part;
}

/* The tokens from `cut` on, started from the states that the tokens before leave, in a second pass over the same
 * memory: u of every row is that of one pass. */
static void check_carried(const attest_kernel *kernel, const char *variant, int64_t cut)
{
    static const attest_role sliced[] = {
        ATTEST_Q,     ATTEST_K, ATTEST_V, ATTEST_GIN, ATTEST_GOUT, ATTEST_K_HEAD_LOGITS, ATTEST_Q_HEAD_LOGITS,
        ATTEST_DECAY, ATTEST_O, ATTEST_U, ATTEST_Z
    };
    scene s;
    char line[256];
    snprintf(line, sizeof line, "variant=%s mask=causal b=2 hq=4 hkv=2 n=12 d=3 e=2 chunk=4", variant);
    ck_assert_msg(scene_serves(&s, kernel, line), "%s", s.where);
    scene_open(&s);
    scene_run(&s);
    for (int pass = 0; pass < 2; pass++) {
        attest_problem p = s.c.problem;
        attest_view view = s.view;
        attest_tensor part[COUNT(sliced)];
        p.n = p.m = pass ? 12 - cut : cut;
        for (size_t r = 0; r < COUNT(sliced); r++)
            if (view.role[sliced[r]]) {
                part[r] = from_token(view.role[sliced[r]], pass ? cut : 0, p.n);
                view.role[sliced[r]] = &part[r];
            }
        if (pass) {
            p.axis[ATTEST_AXIS_STATE].value = ATTEST_STATE_DRAW;
            memcpy(view.h0, view.ht, sizeof view.h0); /* in place: read before it is written */
            memcpy(view.z0, view.zt, sizeof view.z0);
        }
        const size_t size = attest_kernel_workspace(attest_own(kernel), &p);
        void *scratch = malloc(size);
        ck_assert_int_eq(attest_kernel_run(attest_own(kernel), &p, &view, scratch, size, NULL, 0), ATTEST_OK);
        free(scratch);
    }
    int lowest, highest;
    for (int64_t row = 0; row < 2 * 4 * 12; row++)
        check_row(&s, row / 48, row / 12 % 4, row % 12);
    attest_variant_degrees(s.c.problem.axis, &lowest, &highest);
    for (int n = lowest; n <= highest; n++)
        check_states(&s, n);
    scene_close(&s);
}

START_TEST(test_carried)
{
    static const char *const variants[] = { "linear-elu",
                                            "term:1",
                                            "retnet",
                                            "gla",
                                            "simple-gla",
                                            "sla-gla",
                                            "taylor:3",
                                            "quadratic",
                                            "taylor:2%decay=scalar",
                                            "based%gates=inout" };
    for (size_t v = 0; v < COUNT(variants) * COUNT(kernels); v++) {
        const attest_kernel *kernel = scene_kernel(kernels[v % COUNT(kernels)]);
        char variant[64];
        snprintf(variant, sizeof variant, "%s", variants[v / COUNT(kernels)]);
        if (v / COUNT(kernels) >= 6 && v % COUNT(kernels) == 0)
            continue; /* not linear */
        for (char *c = variant; *c; c++)
            *c = *c == '%' ? ' ' : *c;
        check_carried(kernel, variant, 5);
        check_carried(kernel, variant, 8);
    }
}
END_TEST

/* ---- cells ----------------------------------------------------------------------------------------------------- */

static int served(const attest_problem *p, uint32_t form)
{
    const attest_library *lib = attest_builtin_library();
    char why[256];
    for (uint32_t k = 0; k < lib->kernel_count; k++)
        if (lib->kernels[k]->form == form && attest_kernel_supports(attest_own(lib->kernels[k]), p, why, sizeof why))
            return 1;
    return 0;
}

/* Every preset, with a few orders where it has one, is served in its legal forms that keep a state, and the delta rule
 * in parallel too, for f32 and bf16 inputs. */
START_TEST(test_cells)
{
    static const uint32_t forms[] = { ATTEST_RECURRENT, ATTEST_CHUNK, ATTEST_PARALLEL };
    static const char *const dtypes[] = { "in=f32", "in=bf16" };
    int cells = 0;
    for (size_t n = 0; n < attest_preset_count * 4 * 3 * 2; n++) {
        const attest_preset *preset = &attest_presets[n / 24];
        char line[256], why[256], argument[8] = "";
        attest_case c;
        attest_error err;
        if (preset->argument != ATTEST_ARG_NONE)
            snprintf(argument, sizeof argument, ":%d", (int)(n / 6 % 4) + 1);
        snprintf(line, sizeof line, "variant=%s%s n=9 d=4 %s", preset->name, argument, dtypes[n % 2]);
        ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s: %s", line, err.text);
        const uint32_t form = forms[n / 2 % 3];
        if (!attest_variant_form_legal(c.problem.axis, form, why, sizeof why) ||
            (form == ATTEST_PARALLEL && !c.problem.axis[ATTEST_AXIS_UPDATE].value))
            continue;
        ck_assert_msg(served(&c.problem, form), "no kernel of form %s serves '%s'", attest_form_name(form), line);
        cells++;
    }
    ck_assert_int_ge(cells, 300);
}
END_TEST

Suite *suite_kernels_states(void)
{
    Suite *s = suite_create("kernels_states");
    TCase *numbers = tcase_create("numbers");
    tcase_set_timeout(numbers, 60);
    tcase_add_loop_test(numbers, test_presets, 0, (int)COUNT(kernels));
    tcase_add_loop_test(numbers, test_axes, 0, (int)COUNT(kernels));
    tcase_add_test(numbers, test_carried);
    tcase_add_test(numbers, test_cells);
    suite_add_tcase(s, numbers);
    return s;
}
