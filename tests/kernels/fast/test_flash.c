/* test_flash.c - kernels/fast/softmax: softmax-flash-f32 on every instruction set that this CPU runs, beside the
 * witness; the blocking of avx512 in portable code; threads; keys that a row does not see.
 */
#include "fast/isa.h"
#include "kernels/hash.h"
#include "tests/kernels/cpu/scene_check.h"

#ifdef _OPENMP
#include <omp.h>
#endif

Suite *suite_flash(void);

attest_status flash_run_wide(const attest_call *call); /* flash_wide.c */

/* Sizes around tiles of 64 keys, blocks of 48 queries, groups of 6 and 12, panels of 8, 16 and 32. */
// clang-format off
static const char *const lines[] = {
    "n=1 m=1 d=1 e=1", "n=1 m=65 d=1 e=257", "n=3 m=64 d=257 e=1", "n=49 m=129 d=8 e=16",
    "n=13 m=63 d=5 e=33 mask=full",
    "n=65 m=65 d=3 e=17 mask=causal", "n=50 m=140 d=4 e=8 mask=causal-br", "n=140 m=50 d=4 e=8 mask=causal-br",
    "b=2 n=5 m=70 d=4 e=4 mask=causal lens=draw", "b=3 n=61 m=61 d=2 e=2 mask=causal-br lens=draw",
    "n=130 m=130 d=4 e=4 mask=causal window=5", "n=70 m=200 d=4 e=4 mask=causal-br window=64",
    "n=140 m=140 d=4 e=4 window=3", "b=2 hq=6 hkv=2 n=20 m=90 d=4 e=4 mask=causal-br", "hq=3 hkv=1 n=7 m=100 d=6 e=5",
    "n=20 m=100 d=4 e=4 cap=2", "hq=2 n=20 m=100 d=4 e=4 alibi=draw", "n=20 m=100 d=4 e=4 clamp=0.5",
    "n=20 m=100 d=4 e=4 cap=3 alibi=draw clamp=1 norm=sink", "n=20 m=100 d=4 e=4 filter=0.7",
    "n=70 m=100 d=4 e=4 filter=1 mask=causal norm=sink", "n=70 m=70 d=4 e=4 mask=causal decay=retnet",
    "n=70 m=70 d=4 e=4 mask=causal decay=scalar gates=heads", "n=20 m=100 d=4 e=4 eps=0.5",
    "n=20 m=70 d=6 e=4 feature=elu1 rope=100", "n=9 m=70 d=4 e=4 feature=cosformer gates=inout",
    "n=9 m=70 d=4 e=4 gates=pre-out",
    "n=20 m=100 d=4 e=20 in=bf16", "n=20 m=100 d=4 e=20 in=f16", "n=20 m=100 d=4 e=20 in=bf16 out=f32",
    "n=5 m=300 d=4 e=4 scale=40", "n=20 m=150 d=4 e=4 scale=-3 mask=causal",
};
// clang-format on

static const char *isa_of(int n)
{
    const char *name = fast_isa_name((fast_isa)n);
    return strcmp(fast_isa_name(fast_isa_at_most(name)), name) == 0 ? name : NULL;
}

static void open_line(scene *s, const char *line)
{
    char text[256];
    snprintf(text, sizeof text, "variant=softmax %s", line);
    ck_assert_msg(scene_serves(s, scene_kernel("softmax-flash-f32"), text), "%s: %s", text, s->err.text);
    scene_open(s);
}

START_TEST(test_witness)
{
    for (int n = 0; n < FAST_ISAS; n++) {
        scene s;
        if (!isa_of(n))
            continue;
        setenv("FAST_CPU", isa_of(n), 1);
        open_line(&s, lines[_i]);
        scene_run(&s);
        ck_assert(scene_check(&s));
        scene_close(&s);
    }
}
END_TEST

/* ---- bits ------------------------------------------------------------------------------------------------------ */

static uint64_t outputs_hash(const scene *s)
{
    const attest_tensor *o = attest_bundle_role(s->bundle, ATTEST_O), *lse = attest_bundle_role(s->bundle, ATTEST_LSE);
    return attest_fnv(attest_fnv(ATTEST_FNV_START, o->data, attest_tensor_bytes(o)), lse->data,
                      attest_tensor_bytes(lse));
}

/* The loops with the panels and groups of avx512. */
static void run_wide(const scene *s)
{
    const attest_tensors tensors = attest_view_tensors(&s->view);
    const size_t size = attest_kernel_workspace(attest_own(s->kernel), &s->c.problem);
    void *workspace = malloc(size);
    ck_assert_ptr_nonnull(workspace);
    memset(workspace, 0xff, size);
    const attest_call call = { .struct_size = sizeof call,
                               .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
                               .problem = &s->c.problem,
                               .tensors = &tensors,
                               .workspace = workspace,
                               .workspace_size = size };
    scene_blank(s);
    ck_assert_int_eq(flash_run_wide(&call), ATTEST_OK);
    free(workspace);
}

START_TEST(test_wide)
{
    scene s;
    open_line(&s, lines[_i]);
    run_wide(&s);
    ck_assert(scene_check(&s));
    if (fast_isa_at_most(NULL) != FAST_PORTABLE) { /* both fuse multiply-adds */
        const uint64_t wide = outputs_hash(&s);
        scene_run(&s);
        ck_assert_msg(outputs_hash(&s) == wide, "%s: bits depend on the width of vectors", s.where);
    }
    scene_close(&s);
}
END_TEST

#ifdef _OPENMP /* without it there is one thread */
START_TEST(test_threads)
{
    static const char *const large[] = { "n=400 m=400 d=16 e=16 mask=causal",
                                         "b=2 hq=4 hkv=2 n=130 m=300 d=16 e=16 filter=3",
                                         "n=397 d=33 e=40 decay=retnet mask=causal-br" };
    scene s;
    open_line(&s, large[_i]);
    omp_set_num_threads(1);
    const size_t size = attest_kernel_workspace(attest_own(s.kernel), &s.c.problem);
    scene_run(&s);
    const uint64_t one = outputs_hash(&s);
    for (int threads = 2; threads <= 5; threads++) {
        omp_set_num_threads(threads);
        ck_assert_uint_gt(attest_kernel_workspace(attest_own(s.kernel), &s.c.problem), size); /* it uses them */
        scene_run(&s);
        ck_assert_msg(outputs_hash(&s) == one, "%s: bits depend on threads", s.where);
    }
    scene_close(&s);
}
END_TEST
#endif

/* ---- what a row does not see ------------------------------------------------------------------------------------ */

/* Rows before number `key`, under a causal mask, keep their bits when key and value `key` are NaN. */
START_TEST(test_unseen)
{
    static const int64_t keys[] = { 1, 5, 17, 63, 64, 99 };
    for (int n = 0; n < FAST_ISAS; n++)
        for (size_t i = 0; i < COUNT(keys) && isa_of(n); i++) {
            scene s;
            setenv("FAST_CPU", isa_of(n), 1);
            open_line(&s, "n=100 m=100 d=4 e=20 mask=causal");
            scene_run(&s);
            const attest_tensor *o = attest_bundle_role(s.bundle, ATTEST_O);
            const size_t bytes = sizeof(float) * (size_t)(keys[i] * s.c.problem.e);
            const uint64_t before = attest_fnv(ATTEST_FNV_START, o->data, bytes);
            const attest_tensor *k = attest_bundle_role(s.bundle, ATTEST_K),
                                *v = attest_bundle_role(s.bundle, ATTEST_V);
            for (int64_t c = 0; c < 4; c++)
                ((float *)k->data)[keys[i] * 4 + c] = NAN;
            for (int64_t c = 0; c < 20; c++)
                ((float *)v->data)[keys[i] * 20 + c] = c % 2 ? INFINITY : NAN;
            scene_run(&s);
            ck_assert_msg(attest_fnv(ATTEST_FNV_START, o->data, bytes) == before, "%s: %s: key %d is seen too early",
                          s.where, isa_of(n), (int)keys[i]);
            for (int64_t r = keys[i]; r < 100; r++)
                ck_assert(isnan(((const float *)o->data)[r * 20]));
            scene_close(&s);
        }
}
END_TEST

Suite *suite_flash(void)
{
    Suite *suite = suite_create("flash");
    TCase *numbers = tcase_create("numbers"), *bits = tcase_create("bits");
    tcase_set_timeout(numbers, 120);
    tcase_set_timeout(bits, 120);
    tcase_add_loop_test(numbers, test_witness, 0, COUNT(lines));
    tcase_add_loop_test(bits, test_wide, 0, COUNT(lines));
#ifdef _OPENMP
    tcase_add_loop_test(bits, test_threads, 0, 3);
#endif
    tcase_add_test(bits, test_unseen);
    suite_add_tcase(suite, numbers);
    suite_add_tcase(suite, bits);
    return suite;
}
