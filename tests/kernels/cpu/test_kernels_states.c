/* test_kernels_states.c - the recurrent and chunk kernels of update=add beside the witness: outputs, final states,
 * carried states, what is not read.
 */
#include "tests/kernels/cpu/scene_check.h"

Suite *suite_kernels_states(void);

static const char *const kernels[] = { "linear-recurrent-f32", "taylor-recurrent-f32", "taylor-packed-f32",
                                       "taylor-chunk-f32" };

/* ---- presets x sizes, axes x masks ----------------------------------------------------------------------------- */

static const char *const presets[] = { "taylor:0",     "taylor:1",   "taylor:2",   "taylor:3",     "term:0",
                                       "term:1",       "term:3",     "quadratic",  "linear",       "linear-elu",
                                       "linear-relu",  "cosformer",  "linear-cos", "elu-taylor:2", "relu-taylor:3",
                                       "cos-taylor:2", "based",      "retnet",     "gla",          "simple-gla",
                                       "sla",          "sla-retnet", "sla-gla" };
static const char *const sizes[] = { "n=1 chunk=1",  "n=2 chunk=1 hq=2",        "n=5 chunk=3 b=2 hq=4 hkv=2",
                                     "n=17 chunk=8", "n=17 chunk=8 hq=2 hkv=1", "n=11 chunk=64",
                                     "n=13 chunk=3", "n=5 m=9 chunk=3",         "n=9 m=5 chunk=1" };
static const char *const extras[] = { "mask=causal",         "",
                                      "mask=causal in=bf16", "state=draw in=bf16 out=f32",
                                      "lens=draw b=2",       "mask=causal-br lens=draw state=draw b=2" };

START_TEST(test_presets)
{
    const attest_kernel *kernel = scene_kernel(kernels[_i]);
    int judged = 0;
    for (size_t n = 0; n < COUNT(presets) * COUNT(sizes); n++) {
        char line[256];
        snprintf(line, sizeof line, "variant=%s %s %s d=3 e=%d", presets[n / COUNT(sizes)], sizes[n % COUNT(sizes)],
                 extras[(n + n / COUNT(sizes)) % COUNT(extras)], n % 2 ? 2 : 3);
        judged += scene_check_line(kernel, line);
    }
    ck_assert_msg(judged >= 90, "%s computed only %d cases", kernel->name, judged);
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
                                      "mask=causal-br decay=scalar lens=draw b=2",
                                      "mask=causal decay=vector lens=draw b=2",
                                      "mask=causal-br decay=vector lens=draw state=draw b=2",
                                      "mask=causal decay=scalar state=draw lens=draw b=2" };

START_TEST(test_axes)
{
    const attest_kernel *kernel = scene_kernel(kernels[_i]);
    int judged = 0;
    for (size_t n = 0; n < COUNT(axes) * COUNT(decays); n++) { /* the weights in turn along both */
        char line[320];
        const size_t axis = n / COUNT(decays), decay = n % COUNT(decays);
        snprintf(line, sizeof line, "variant=%s hq=4 hkv=2 n=7 d=4 e=3 chunk=3 %s %s",
                 weights[(axis + decay) % COUNT(weights)], decays[decay], axes[axis]);
        judged += scene_check_line(kernel, line);
    }
    ck_assert_msg(judged >= 75, "%s computed only %d cases", kernel->name, judged);
}
END_TEST

/* ---- carried states -------------------------------------------------------------------------------------------- */

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
        scene_check_carried(kernel, variant, 5);
        scene_check_carried(kernel, variant, 8);
    }
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
    suite_add_tcase(s, numbers);
    return s;
}
