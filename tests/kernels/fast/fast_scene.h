/* fast_scene.h - what the tests of the fast kernels share: a problem of one of them, its bits, its loops by themselves.
 *
 * The wide loops (flash_wide.c, decode_wide.c) have the panels and groups of avx512, in portable code.
 */
#ifndef ATTEST_TESTS_FAST_SCENE_H
#define ATTEST_TESTS_FAST_SCENE_H

#include "fast/isa.h"
#include "kernels/hash.h"
#include "tests/kernels/cpu/scene_check.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* The name of instruction set n, NULL where this CPU does not run it. */
static inline const char *isa_of(int n)
{
    const char *name = fast_isa_name((fast_isa)n);
    return strcmp(fast_isa_name(fast_isa_at_most(name)), name) == 0 ? name : NULL;
}

/* Problem `variant=softmax LINE`, which the kernel serves. */
static inline void fast_open(scene *s, const char *kernel, const char *line)
{
    char text[256];
    snprintf(text, sizeof text, "variant=softmax %s", line);
    ck_assert_msg(scene_serves(s, scene_kernel(kernel), text), "%s: %s", text, s->err.text);
    scene_open(s);
}

static inline uint64_t outputs_hash(const scene *s)
{
    const attest_tensor *o = attest_bundle_role(s->bundle, ATTEST_O), *lse = attest_bundle_role(s->bundle, ATTEST_LSE);
    return attest_fnv(attest_fnv(ATTEST_FNV_START, o->data, attest_tensor_bytes(o)), lse->data,
                      attest_tensor_bytes(lse));
}

/* Such loops, in a workspace of NaN. */
static inline void fast_run(const scene *s, attest_status (*run)(const attest_call *call))
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
    ck_assert_int_eq(run(&call), ATTEST_OK);
    free(workspace);
}

#ifdef _OPENMP
/* Ends with a failure where bits depend on the number of threads, or no more than one is used. */
static inline void fast_check_threads(const char *kernel, const char *line)
{
    scene s;
    fast_open(&s, kernel, line);
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
#endif

/* Ends with a failure where wide loops are outside a bound, or have other bits than those of this CPU. */
static inline void fast_check_wide(const char *kernel, const char *line, attest_status (*run)(const attest_call *call))
{
    scene s;
    fast_open(&s, kernel, line);
    fast_run(&s, run);
    ck_assert(scene_check(&s));
    if (fast_isa_at_most(NULL) != FAST_PORTABLE) { /* both fuse multiply-adds */
        const uint64_t wide = outputs_hash(&s);
        scene_run(&s);
        ck_assert_msg(outputs_hash(&s) == wide, "%s: bits depend on the width of vectors", s.where);
    }
    scene_close(&s);
}

/* Ends with a failure where an instruction set that this CPU runs is outside a bound. */
static inline void fast_check_witness(const char *kernel, const char *line)
{
    for (int n = 0; n < FAST_ISAS; n++) {
        scene s;
        if (!isa_of(n))
            continue;
        setenv("FAST_CPU", isa_of(n), 1);
        fast_open(&s, kernel, line);
        scene_run(&s);
        ck_assert(scene_check(&s));
        scene_close(&s);
    }
}

#endif
