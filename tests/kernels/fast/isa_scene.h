/* isa_scene.h - scenes of a fast kernel (tests/kernels/cpu/scene.h) on every instruction set that this CPU runs; what
 * no bit may depend on: the width of vectors, threads.
 */
#ifndef ATTEST_TEST_ISA_SCENE_H
#define ATTEST_TEST_ISA_SCENE_H

#include "fast/isa.h"
#include "kernels/hash.h"
#include "tests/kernels/cpu/scene_check.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* The name of instruction set n; NULL: this CPU has it not. */
static inline const char *isa_of(int n)
{
    const char *name = fast_isa_name((fast_isa)n);
    return strcmp(fast_isa_name(fast_isa_at_most(name)), name) == 0 ? name : NULL;
}

enum { ISA_CHOICES = FAST_ISAS + 1 };

/* From here on kernels use choice n of ISA_CHOICES, an instruction set or, the last one, all that the CPU has; its
 * name, NULL: this CPU has no such set, or no more than the sets. */
static inline const char *isa_use(int n)
{
    if (n < FAST_ISAS) {
        if (isa_of(n))
            setenv("FAST_CPU", isa_of(n), 1);
        return isa_of(n);
    }
    unsetenv("FAST_CPU");
    return fast_level() >= FAST_ISAS ? "all" : NULL;
}

static inline void isa_open(scene *s, const char *kernel, const char *line)
{
    ck_assert_msg(scene_serves(s, scene_kernel(kernel), line), "%s: %s", line, s->err.text);
    scene_open(s);
}

/* Every output beside the witness, on every instruction set. */
static inline void isa_check_witness(const char *kernel, const char *line)
{
    for (int n = 0; n < ISA_CHOICES; n++) {
        scene s;
        if (!isa_use(n))
            continue;
        isa_open(&s, kernel, line);
        scene_run(&s);
        ck_assert_msg(scene_check(&s), "%s: nothing was compared", s.where);
        scene_close(&s);
    }
}

/* Of all outputs. */
static inline uint64_t isa_hash(const scene *s)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t outputs = attest_problem_outputs(&s->c.problem, ids, ATTEST_MAX_TENSORS);
    uint64_t hash = ATTEST_FNV_START;
    for (size_t i = 0; i < outputs; i++) {
        const attest_tensor *t = attest_bundle_get(s->bundle, ids[i]);
        if (t)
            hash = attest_fnv(hash, t->data, attest_tensor_bytes(t));
    }
    return hash;
}

/* Of a kernel whose portable loops model what the others do: all instruction sets give the same bits. */
static inline void isa_check_same_bits(const char *kernel, const char *line)
{
    uint64_t first = 0;
    for (int n = 0; n < ISA_CHOICES; n++) {
        scene s;
        if (!isa_use(n))
            continue;
        isa_open(&s, kernel, line);
        scene_run(&s);
        first = n == 0 ? isa_hash(&s) : first;
        ck_assert_msg(isa_hash(&s) == first, "%s: other bits than without extensions", s.where);
        scene_close(&s);
    }
}

/* The loops with the vectors of avx512 in portable code that fuses multiply-adds: right, and the bits of avx2. */
static inline void isa_check_wide(const char *kernel, const char *line, attest_status (*wide)(const attest_call *call))
{
    scene s;
    isa_open(&s, kernel, line);
    const attest_tensors tensors = attest_view_tensors(&s.view);
    const size_t size = attest_kernel_workspace(attest_own(s.kernel), &s.c.problem);
    void *workspace = malloc(size);
    ck_assert_ptr_nonnull(workspace);
    memset(workspace, 0xff, size);
    const attest_call call = { .struct_size = sizeof call,
                               .outputs = ATTEST_OUTPUTS_KNOWN,
                               .problem = &s.c.problem,
                               .tensors = &tensors,
                               .workspace = workspace,
                               .workspace_size = size };
    scene_blank(&s);
    ck_assert_int_eq(wide(&call), ATTEST_OK);
    free(workspace);
    ck_assert(scene_check(&s));
    if (fast_isa_at_most(NULL) != FAST_PORTABLE) {
        const uint64_t hash = isa_hash(&s);
        unsetenv("FAST_CPU");
        scene_run(&s);
        ck_assert_msg(isa_hash(&s) == hash, "%s: bits depend on the width of vectors", s.where);
    }
    scene_close(&s);
}

#ifdef _OPENMP /* without it there is one thread */
/* Threads that came after the workspace was asked for find no room in it, and write nowhere else. */
static inline void isa_check_late_threads(scene *s, size_t size, int most)
{
    enum { BEHIND = 1 << 20, SIGN = 0x5a };
    const attest_tensors tensors = attest_view_tensors(&s->view);
    unsigned char *workspace = malloc(size + BEHIND);
    ck_assert_ptr_nonnull(workspace);
    memset(workspace, SIGN, size + BEHIND);
    const attest_call call = { .struct_size = sizeof call,
                               .outputs = ATTEST_OUTPUTS_KNOWN,
                               .problem = &s->c.problem,
                               .tensors = &tensors,
                               .workspace = workspace,
                               .workspace_size = size };
    omp_set_num_threads(most);
    scene_blank(s);
    ck_assert_int_eq(s->kernel->run(&call), ATTEST_OK);
    for (size_t n = 0; n < BEHIND; n++)
        ck_assert_msg(workspace[size + n] == SIGN, "%s: written %zu bytes behind the workspace", s->where, n);
    free(workspace);
}

/* The problem has work for `most` threads at least. */
static inline void isa_check_threads(const char *kernel, const char *line, int most)
{
    scene s;
    isa_open(&s, kernel, line);
    omp_set_num_threads(1);
    const size_t size = attest_kernel_workspace(attest_own(s.kernel), &s.c.problem);
    scene_run(&s);
    const uint64_t one = isa_hash(&s);
    isa_check_late_threads(&s, size, most);
    ck_assert_msg(isa_hash(&s) == one, "%s: bits depend on late threads", s.where);
    for (int threads = 2; threads <= most; threads++) {
        omp_set_num_threads(threads);
        ck_assert_uint_gt(attest_kernel_workspace(attest_own(s.kernel), &s.c.problem), size); /* it uses them */
        scene_run(&s);
        ck_assert_msg(isa_hash(&s) == one, "%s: bits depend on threads", s.where);
    }
    scene_close(&s);
}
#endif

/* Row `token` of t, of one head, becomes NaN; Inf every so many entries (0: nowhere); f32 or bf16. */
static inline void isa_spoil(const attest_tensor *t, int64_t token, int infinite)
{
    const int64_t width = t->shape[3];
    for (int64_t at = token * width; at < (token + 1) * width; at++) {
        const uint32_t bits = infinite && at % infinite == 0 ? 0x7f800000u : 0x7fc00000u;
        attest_store_bits(t, at, t->dtype == ATTEST_F32 ? bits : bits >> 16);
    }
}

/* Rows before number `token`, under a causal mask and of one head, keep their bits when key and value `token` are no
 * numbers; the rows from there on are NaN. */
static inline void isa_check_unseen(const char *kernel, const char *line, int64_t token)
{
    for (int n = 0; n < ISA_CHOICES; n++) {
        scene s;
        const char *isa = isa_use(n);
        if (!isa)
            continue;
        isa_open(&s, kernel, line);
        scene_run(&s);
        const attest_problem *p = &s.c.problem;
        const attest_tensor *o = attest_bundle_role(s.bundle, ATTEST_O);
        const size_t bytes = attest_tensor_bytes(o) / (size_t)p->n * (size_t)token;
        const uint64_t before = attest_fnv(ATTEST_FNV_START, o->data, bytes);
        isa_spoil(attest_bundle_role(s.bundle, ATTEST_K), token, 0);
        for (int infinite = 2; infinite > 0; infinite--) { /* NaN and Inf, then Inf alone */
            isa_spoil(attest_bundle_role(s.bundle, ATTEST_V), token, infinite);
            scene_run(&s);
            ck_assert_msg(attest_fnv(ATTEST_FNV_START, o->data, bytes) == before, "%s: %s: token %d is seen too early",
                          s.where, isa, (int)token);
            for (int64_t row_of = token; row_of < p->n; row_of++)
                ck_assert(isnan(attest_load(o, row_of * p->e)));
        }
        scene_close(&s);
    }
}

#endif
