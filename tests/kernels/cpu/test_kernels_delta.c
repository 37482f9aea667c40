/* test_kernels_delta.c - the delta-rule kernels against the plain recurrence in double: outputs, final states, carried
 * states, tiny and vanishing keys, what is not read, what is refused.
 *
 * Tolerance: the state's error is followed through the recurrence, one bound E_c on the norm of column c: a token
 * multiplies it by the norm of (I - b k^T k) diag(a), at most max(1, abs(1 - b r)) max a, and adds what the token's own
 * roundings can do.  In the WY form the read phi(k) S' is a sum over the written values, so its roundings are K u times
 * the sum of absolute terms of that sum, sum_j D_tj abs(k_t).abs(k_j) abs(w_j) + D_t abs(k_t).abs(h0); it bounds the
 * terms of the recurrence's own read too, and an error of a written value passes on in either form as the recurrence
 * does.  K = 4 (m+2) + 2 dim + 16 as in states_naive.h.
 */
#include "tests/kernels/cpu/states_naive.h"

Suite *suite_kernels_delta(void);

#define COUNT(array) (sizeof array / sizeof array[0])
#define DIM 8

static const char *const kernels[] = { "delta-recurrent-f32", "delta-chunk-f32", "delta-parallel-f32" };

/* ---- the recurrence -------------------------------------------------------------------------------------------- */

typedef struct naive_state {
    double S[DIM][NAIVE_E];    /* S_t */
    double size[DIM][NAIVE_E]; /* sum of absolute terms: decayed abs(h0) and abs(k_j) abs(w_j) */
    double error[NAIVE_E];     /* E_c */
} naive_state;

static double norm_of(const near *x, int64_t dim, int errors)
{
    double squares = 0;
    for (int64_t c = 0; c < dim; c++)
        squares += errors ? x[c].e * x[c].e : x[c].v * x[c].v;
    return sqrt(squares);
}

/* b_t with its error; efla: (1-e^-x)/r by expm1, whose error and that of x = b r are relative (delta.h). */
static near rate(const scene *s, int64_t b, int64_t g, int64_t t, const near *k)
{
    const int64_t dim = attest_feature_dim(&s->c.problem);
    const double given = naive_load(s, ATTEST_BETA, b, g, t, 0), norm = norm_of(k, dim, 0), r = norm * norm;
    if (naive_axis(s, ATTEST_AXIS_UPDATE) != ATTEST_UPDATE_EFLA)
        return (near){ given, 0 };
    const double value = r > 0 ? -expm1(-given * r) / r : given;
    const double moved = r > 0 ? 2 * norm_of(k, dim, 1) / norm : 0;
    return (near){ value, fabs(value) * (((double)dim + 7) * NAIVE_U + 1.01 * moved) };
}

/* S := (a_t S) + phi(k_t)^T w, w = b_t (gin_t v_t - phi(k_t) a_t S). */
static void token(naive_state *a, const scene *s, int64_t b, int64_t g, int64_t t)
{
    const attest_problem *p = &s->c.problem;
    const int64_t dim = attest_feature_dim(p);
    const double K = (4 * (double)(p->m + 2) + 2 * (double)dim + 16) * NAIVE_U;
    near k[DIM];
    naive_feature(k, s, ATTEST_K, b, g, t);
    const near beta = rate(s, b, g, t, k), gin = naive_gin(s, b, g, t);
    const double length = norm_of(k, dim, 0), moved = norm_of(k, dim, 1);
    double most = 0;
    for (int64_t c = 0; c < dim; c++)
        most = fmax(most, fabs(naive_decay(s, b, g, t, c)));
    const double grow = fmax(1, fabs(1 - beta.v * length * length)) * most;
    for (int64_t ch = 0; ch < p->e; ch++) {
        double read = 0, terms = 0, column = 0;
        for (int64_t c = 0; c < dim; c++) {
            const double D = naive_decay(s, b, g, t, c);
            a->S[c][ch] *= D;
            a->size[c][ch] *= D;
            read += k[c].v * a->S[c][ch];
            terms += fabs(k[c].v) * a->size[c][ch];
            column += a->size[c][ch] * a->size[c][ch];
        }
        const near value = naive_times(gin, (near){ naive_load(s, ATTEST_V, b, g, t, ch), 0 });
        const double w = beta.v * (value.v - read);
        column = sqrt(column);
        /* of w: the read's roundings, a moved key, the value, b_t, two roundings */
        const double e = fabs(beta.v) * (K * terms + moved * column + value.e + 2 * NAIVE_U * (fabs(value.v) + terms)) +
                         beta.e * (fabs(value.v) + terms);
        a->error[ch] = grow * a->error[ch] + (length + moved) * e + moved * fabs(w) + K * (column + length * fabs(w));
        for (int64_t c = 0; c < dim; c++) {
            a->S[c][ch] += k[c].v * w;
            a->size[c][ch] += fabs(k[c].v * w);
        }
    }
}

static void start(naive_state *a, const scene *s, int64_t b, int64_t g)
{
    const attest_problem *p = &s->c.problem;
    const int64_t dim = attest_feature_dim(p);
    memset(a, 0, sizeof *a);
    for (int64_t c = 0; c < dim && p->axis[ATTEST_AXIS_STATE].value; c++)
        for (int64_t ch = 0; ch < p->e; ch++) {
            a->S[c][ch] = scene_state(ATTEST_KIND_H0, 1, b * p->hkv + g, c, dim, ch);
            a->size[c][ch] = fabs(a->S[c][ch]);
        }
}

/* ---- one case -------------------------------------------------------------------------------------------------- */

static void check_row(const scene *s, const naive_state *a, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = &s->c.problem;
    const attest_tensor *o = attest_bundle_role(s->bundle, ATTEST_O);
    const int64_t dim = attest_feature_dim(p);
    const double K = (4 * (double)(p->m + 2) + 2 * (double)dim + 16) * NAIVE_U;
    near q[DIM];
    naive_feature(q, s, ATTEST_Q, b, h, i);
    for (int64_t ch = 0; ch < p->e; ch++) {
        near u = { 0, (norm_of(q, dim, 0) + norm_of(q, dim, 1)) * a->error[ch] };
        for (int64_t c = 0; c < dim; c++) {
            u.v += q[c].v * a->S[c][ch];
            u.e += (K * fabs(q[c].v) + q[c].e) * a->size[c][ch];
        }
        near y = naive_times((near){ u.v * p->scale, u.e * fabs(p->scale) }, naive_gout(s, b, h, i));
        y.e += naive_unit(p->out) * (fabs(y.v) + y.e);
        naive_check(s, o, attest_offset(o, b, h, i, ch), y, "o");
    }
}

/* All rows, and the final state, of one KV head. */
static void check_head(const scene *s, int64_t b, int64_t g)
{
    const attest_problem *p = &s->c.problem;
    const attest_tensor *ht = attest_bundle_get(s->bundle, (attest_tensor_id){ ATTEST_KIND_HT, 1 });
    const int64_t group = p->hq / p->hkv;
    naive_state a;
    int64_t taken = 0;
    start(&a, s, b, g);
    for (int64_t i = 0; i < p->n; i++) {
        for (; taken < p->m && naive_sees(s, b, i, taken); taken++)
            token(&a, s, b, g, taken);
        for (int64_t h = g * group; h < (g + 1) * group; h++)
            check_row(s, &a, b, h, i);
    }
    for (int64_t at = 0; ht && at < attest_feature_dim(p) * p->e; at++) {
        const int64_t c = at / p->e, ch = at % p->e;
        naive_check(s, ht, attest_offset(ht, b, g, c, ch), (near){ a.S[c][ch], a.error[ch] }, "ht");
    }
}

static void check_case(scene *s)
{
    const attest_problem *p = &s->c.problem;
    for (int64_t head = 0; head < p->b * p->hkv; head++)
        check_head(s, head / p->hkv, head % p->hkv);
}

static int check_line(const attest_kernel *kernel, const char *line)
{
    scene s;
    if (!scene_serves(&s, kernel, line))
        return 0;
    scene_open(&s);
    scene_run(&s);
    check_case(&s);
    scene_check_unread(&s, (s.c.problem.n + 1) / 2);
    scene_close(&s);
    return 1;
}

/* ---- presets x sizes x axes ------------------------------------------------------------------------------------ */

static const char *const presets[] = { "deltanet",
                                       "gdn",
                                       "efla",
                                       "sla-deltanet",
                                       "sla-gdn",
                                       "efla decay=scalar",
                                       "deltanet decay=vector",
                                       "deltanet decay=retnet",
                                       "efla decay=vector gates=inout" };
static const char *const sizes[] = { "n=1 chunk=1",
                                     "n=2 chunk=1 hq=2",
                                     "n=5 chunk=3 b=2 hq=4 hkv=2",
                                     "n=17 chunk=8",
                                     "n=33 chunk=8 hq=2 hkv=1",
                                     "n=17 chunk=64",
                                     "n=33 chunk=3",
                                     "n=5 m=9 chunk=3",
                                     "n=9 m=5 chunk=1",
                                     "n=5 m=9 mask=causal-br",
                                     "n=9 m=5 mask=causal-br chunk=2" };
static const char *const extras[] = { "",
                                      "state=draw",
                                      "in=bf16",
                                      "in=bf16 out=f32 state=draw",
                                      "rope=10 feature=unit",
                                      "feature=cosformer",
                                      "feature=silu-unit",
                                      "feature=elu1",
                                      "gates=in",
                                      "gates=out",
                                      "gates=heads",
                                      "feature=silu scale=-0.7",
                                      "feature=relu state=draw" };

START_TEST(test_numbers)
{
    const attest_kernel *kernel = scene_kernel(kernels[_i]);
    int judged = 0;
    for (size_t n = 0; n < COUNT(presets) * COUNT(sizes) * COUNT(extras); n++) {
        char line[320];
        snprintf(line, sizeof line, "variant=%s %s %s d=4 e=3", presets[n / COUNT(extras) / COUNT(sizes)],
                 sizes[n / COUNT(extras) % COUNT(sizes)], extras[n % COUNT(extras)]);
        judged += check_line(kernel, line);
    }
    ck_assert_msg(judged >= 600, "%s computed only %d cases", kernel->name, judged);
}
END_TEST

/* ---- efla where 1-e^-x would fail ------------------------------------------------------------------------------ */

/* Keys of size `scale`: b' = b - b^2 r/2 + .. to all digits, and b itself where r underflows or is 0. */
static void check_tiny(const attest_kernel *kernel, double size)
{
    scene s;
    ck_assert_msg(scene_serves(&s, kernel, "variant=efla n=9 d=4 e=3 chunk=4"), "%s", s.where);
    scene_open(&s);
    const attest_tensor *k = attest_bundle_role(s.bundle, ATTEST_K);
    for (int64_t at = 0; at < attest_tensor_count(k); at++)
        attest_store_bits(k, at, attest_from_f64(k->dtype, attest_load(k, at) * size));
    scene_run(&s);
    check_case(&s);
    scene_close(&s);
}

START_TEST(test_tiny)
{
    for (size_t i = 0; i < COUNT(kernels); i++) {
        check_tiny(scene_kernel(kernels[i]), 0x1p-4);
        check_tiny(scene_kernel(kernels[i]), 0x1p-9);
        check_tiny(scene_kernel(kernels[i]), 0x1p-30);
        check_tiny(scene_kernel(kernels[i]), 0x1p-72);
        check_tiny(scene_kernel(kernels[i]), 0);
    }
}
END_TEST

/* ---- carried states -------------------------------------------------------------------------------------------- */

static attest_tensor from_token(const attest_tensor *t, int64_t from, int64_t n)
{
    attest_tensor part = *t;
    part.shape[2] = n;
    part.data = (char *)t->data + (size_t)(from * t->stride[2]) * attest_dtype_bytes(t->dtype);
    return part;
}

/* Two passes, the second from the first one's final state, over the memory of one. */
static void check_carried(const attest_kernel *kernel, const char *variant, int64_t cut)
{
    static const attest_role sliced[] = {
        ATTEST_Q, ATTEST_K, ATTEST_V, ATTEST_K_HEAD_LOGITS, ATTEST_Q_HEAD_LOGITS, ATTEST_DECAY, ATTEST_BETA, ATTEST_O
    };
    scene s;
    char line[256];
    snprintf(line, sizeof line, "variant=%s b=2 hq=4 hkv=2 n=12 d=3 e=2 chunk=4", variant);
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
            view.h0[1] = view.ht[1]; /* in place: read before it is written */
        }
        const size_t size = attest_kernel_workspace(attest_own(kernel), &p);
        void *scratch = malloc(size);
        ck_assert_int_eq(attest_kernel_run(attest_own(kernel), &p, &view, scratch, size, NULL, 0), ATTEST_OK);
        free(scratch);
    }
    check_case(&s);
    scene_close(&s);
}

START_TEST(test_carried)
{
    static const char *const variants[] = { "deltanet", "gdn", "efla", "sla-gdn", "deltanet decay=vector" };
    for (size_t v = 0; v < COUNT(variants); v++)
        for (int k = 0; k < 2; k++) {
            check_carried(scene_kernel(kernels[k]), variants[v], 5);
            check_carried(scene_kernel(kernels[k]), variants[v], 8);
        }
}
END_TEST

START_TEST(test_refusals)
{
    static const struct {
        const char *kernel, *line, *reason;
    } cases[] = {
        { "delta-recurrent-f32", "variant=linear mask=causal", "update=add" },
        { "delta-chunk-f32", "variant=retnet", "update=add" },
        { "delta-parallel-f32", "variant=gdn state=draw", "state=draw" },
        { "delta-parallel-f32", "variant=efla in=f64", "in=f64" },
        { "delta-chunk-f32", "variant=gdn d=65535 e=65535 n=1", "2^26" },
        { "linear-recurrent-f32", "variant=deltanet", "update=delta" },
        { "taylor-recurrent-f32", "variant=efla", "update=efla" },
        { "taylor-chunk-f32", "variant=gdn", "update=delta" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const attest_kernel *k = scene_kernel(cases[i].kernel);
        attest_case c;
        attest_error err;
        char why[256] = "";
        ck_assert_msg(attest_case_parse(&c, cases[i].line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_msg(!attest_kernel_supports(attest_own(k), &c.problem, why, sizeof why), "%s: %s", k->name,
                      cases[i].line);
        ck_assert_msg(strstr(why, cases[i].reason) != NULL, "%s: %s: says '%s', not '%s'", k->name, cases[i].line, why,
                      cases[i].reason);
    }
}
END_TEST

Suite *suite_kernels_delta(void)
{
    Suite *s = suite_create("kernels_delta");
    TCase *numbers = tcase_create("numbers");
    tcase_set_timeout(numbers, 60);
    tcase_add_loop_test(numbers, test_numbers, 0, (int)COUNT(kernels));
    tcase_add_test(numbers, test_tiny);
    tcase_add_test(numbers, test_carried);
    tcase_add_test(numbers, test_refusals);
    suite_add_tcase(s, numbers);
    return s;
}
