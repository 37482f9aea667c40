/* test_kernels_delta.c - the delta-rule kernels beside the witness: outputs, final states, carried states, tiny and
 * vanishing keys, what is not read, what is refused.
 */
#include "tests/kernels/cpu/scene_check.h"

Suite *suite_kernels_delta(void);

static const char *const kernels[] = { "delta-recurrent-f32", "delta-chunk-f32", "delta-parallel-f32" };

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
    for (size_t n = 0; n < 2 * COUNT(presets) * COUNT(extras); n++) { /* 11 sizes in turn: two of each pair */
        char line[320];
        snprintf(line, sizeof line, "variant=%s %s %s d=4 e=3", presets[n / COUNT(extras) % COUNT(presets)],
                 sizes[n % COUNT(sizes)], extras[n % COUNT(extras)]);
        judged += scene_check_line(kernel, line);
    }
    ck_assert_msg(judged >= 120, "%s computed only %d cases", kernel->name, judged);
}
END_TEST

/* ---- efla where 1-e^-x would fail ------------------------------------------------------------------------------ */

/* A run on keys of size `size`. */
static void run_tiny(scene *s, const attest_kernel *kernel, const char *variant, double size)
{
    char line[128];
    snprintf(line, sizeof line, "variant=%s n=9 d=4 e=3 chunk=4", variant);
    ck_assert_msg(scene_serves(s, kernel, line), "%s", s->where);
    scene_open(s);
    const attest_tensor *k = attest_bundle_role(s->bundle, ATTEST_K);
    for (int64_t at = 0; at < attest_tensor_count(k); at++)
        attest_store_bits(k, at, attest_from_f64(k->dtype, attest_load(k, at) * size));
    scene_run(s);
}

/* b' = b - b^2 r/2 + .. to all digits. */
START_TEST(test_tiny)
{
    static const double scales[] = { 0x1p-4, 0x1p-9, 0x1p-30 };
    for (size_t i = 0; i < COUNT(kernels) * COUNT(scales); i++) {
        scene s;
        run_tiny(&s, scene_kernel(kernels[i % COUNT(kernels)]), "efla", scales[i / COUNT(kernels)]);
        ck_assert_msg(scene_check(&s), "%s: nothing compared", s.where);
        scene_close(&s);
    }
}
END_TEST

/* Where r underflows or is 0, b' is b: the bits of the delta rule, which is right there. */
START_TEST(test_vanishing)
{
    static const double scales[] = { 0x1p-72, 0 };
    for (size_t i = 0; i < COUNT(kernels) * COUNT(scales); i++) {
        scene efla, delta;
        run_tiny(&efla, scene_kernel(kernels[i % COUNT(kernels)]), "efla", scales[i / COUNT(kernels)]);
        run_tiny(&delta, scene_kernel(kernels[i % COUNT(kernels)]), "deltanet", scales[i / COUNT(kernels)]);
        ck_assert_msg(scene_check(&delta), "%s: nothing compared", delta.where);
        const attest_tensor *o = attest_bundle_role(efla.bundle, ATTEST_O);
        ck_assert_msg(memcmp(o->data, attest_bundle_role(delta.bundle, ATTEST_O)->data, attest_tensor_bytes(o)) == 0,
                      "%s: not the bits of the delta rule", efla.where);
        scene_close(&delta);
        scene_close(&efla);
    }
}
END_TEST

/* ---- carried states -------------------------------------------------------------------------------------------- */

START_TEST(test_carried)
{
    static const char *const variants[] = { "deltanet", "gdn", "efla", "sla-gdn", "deltanet decay=vector" };
    for (size_t v = 0; v < COUNT(variants); v++)
        for (int k = 0; k < 2; k++) {
            scene_check_carried(scene_kernel(kernels[k]), variants[v], 5);
            scene_check_carried(scene_kernel(kernels[k]), variants[v], 8);
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
    tcase_add_test(numbers, test_vanishing);
    tcase_add_test(numbers, test_carried);
    tcase_add_test(numbers, test_refusals);
    suite_add_tcase(s, numbers);
    return s;
}
