/* scene.h - one case of a built-in kernel: inputs drawn, outputs full of NaN, a scratch of exactly the size asked for.
 * For the suites of kernels/cpu; scene_check.h says what must hold.
 */
#ifndef ATTEST_TEST_SCENE_H
#define ATTEST_TEST_SCENE_H

#include "kernels/attest_float.h"
#include "kernels/library/library.h"
#include "props/draw/draw.h"
#include "tests/oracle.h"

#include <math.h>
#include <stdio.h>

#define COUNT(array) (sizeof array / sizeof array[0])

typedef struct scene {
    attest_case c;
    const attest_kernel *kernel;
    attest_bundle *bundle;    /* what the kernel reads and writes */
    attest_bundle *full;      /* the same inputs with full states; `bundle` itself where the kernel's are full */
    attest_view view;         /* of `bundle` */
    attest_declared declared; /* what the bound is of */
    attest_truth *bound;      /* asked for bounds alone */
    oracle want;
    char where[384];
    attest_error err;
} scene;

#define SCENE_MUST(call, s) ck_assert_msg((call) == ATTEST_OK, "%s: %s", (s)->where, (s)->err.text)

static inline const attest_kernel *scene_kernel(const char *name)
{
    const attest_library *lib = attest_builtin_library();
    for (uint32_t i = 0; i < lib->kernel_count; i++)
        if (strcmp(lib->kernels[i]->name, name) == 0)
            return lib->kernels[i];
    ck_abort_msg("no kernel %s", name);
    return NULL;
}

/* 0 if the line is contradictory or the kernel refuses it (with a reason). */
static inline int scene_serves(scene *s, const attest_kernel *kernel, const char *line)
{
    char why[256] = "";
    memset(s, 0, sizeof *s);
    s->kernel = kernel;
    snprintf(s->where, sizeof s->where, "%s: %s", kernel->name, line);
    if (attest_case_parse(&s->c, line, NULL, NULL, &s->err) != ATTEST_OK)
        return 0;
    if (attest_kernel_supports(attest_own(kernel), &s->c.problem, why, sizeof why))
        return 1;
    ck_assert_msg(why[0] != '\0', "%s refuses '%s' without a reason", kernel->name, line);
    return 0;
}

/* 1 if the kernel gives this output. */
static inline int scene_gives(const attest_kernel *kernel, attest_tensor_id id)
{
    static const uint32_t gives[] = { ATTEST_GIVES_O, ATTEST_GIVES_U, ATTEST_GIVES_Z, ATTEST_GIVES_LSE };
    return (kernel->outputs & (id.kind == ATTEST_KIND_ROLE ? gives[id.index - ATTEST_O] : ATTEST_GIVES_STATE)) != 0;
}

/* Draws the inputs and adds the outputs that the kernel gives and the variant has. */
static inline void scene_open(scene *s)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const attest_problem *p = &s->c.problem;
    const int packed = (s->kernel->flags & ATTEST_PACKED_STATE) != 0;
    const size_t outputs = attest_problem_outputs(p, ids, ATTEST_MAX_TENSORS);
    SCENE_MUST(attest_bundle_new(&s->bundle, &s->err), s);
    SCENE_MUST(attest_draw_missing(s->bundle, &s->c, 0, packed, &s->err), s);
    s->full = s->bundle;
    if (packed) {
        SCENE_MUST(attest_bundle_new(&s->full, &s->err), s);
        SCENE_MUST(attest_draw_missing(s->full, &s->c, 0, 0, &s->err), s);
    }
    for (size_t i = 0; i < outputs; i++)
        if (scene_gives(s->kernel, ids[i]))
            SCENE_MUST(attest_bundle_add(s->bundle, p, ids[i], packed, NULL, &s->err), s);
    attest_bundle_view(s->bundle, &s->view);
    ck_assert(attest_declared_of(&s->declared, attest_own(s->kernel), p, s->err.text, sizeof s->err.text));
    SCENE_MUST(attest_truth_new(&s->bound, p, s->full, ATTEST_ENGINE_BALL, &s->err), s);
    oracle_init(&s->want, p, s->full, 128);
}

static inline void scene_close(scene *s)
{
    oracle_clear(&s->want);
    attest_truth_free(s->bound);
    if (s->full != s->bundle)
        attest_bundle_free(s->full);
    attest_bundle_free(s->bundle);
}

/* How this thread rounds and flushes floats: MXCSR but for the flags of what has happened. */
static inline unsigned scene_float_mode(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_stmxcsr() & ~0x3fu;
#else
    return 0;
#endif
}

/* Runs on a problem and tensors that need not be the scene's, with a scratch of exactly the size asked for, full of
 * NaNs.  The kernel leaves the thread's way to round as it was. */
static inline void scene_run_on(const scene *s, const attest_problem *p, const attest_view *view)
{
    const size_t size = attest_kernel_workspace(attest_own(s->kernel), p);
    void *scratch = malloc(size > 0 ? size : 1);
    ck_assert_ptr_nonnull(scratch);
    memset(scratch, 0xff, size);
    const unsigned before = scene_float_mode();
    ck_assert_int_eq(attest_kernel_run(attest_own(s->kernel), p, view, scratch, size, NULL, 0), ATTEST_OK);
    ck_assert_msg(scene_float_mode() == before, "%s: MXCSR is %x, not %x", s->where, scene_float_mode(), before);
    free(scratch);
}

/* Fills the outputs with NaNs: an element that is never written is seen. */
static inline void scene_blank(const scene *s)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t outputs = attest_problem_outputs(&s->c.problem, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < outputs; i++) {
        const attest_tensor *t = attest_bundle_get(s->bundle, ids[i]);
        if (t)
            memset(t->data, 0xff, attest_tensor_bytes(t));
    }
}

static inline void scene_run(const scene *s)
{
    scene_blank(s);
    scene_run_on(s, &s->c.problem, &s->view);
}

static inline int64_t scene_length(const scene *s, int64_t b)
{
    const attest_tensor *len = attest_bundle_role(s->bundle, ATTEST_KV_LENS);
    return len ? attest_load_int(len, b) : s->c.problem.m;
}

#endif
