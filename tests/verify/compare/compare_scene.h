/* compare_scene.h - a case, its truth, outputs that are the truth rounded once, and what a verdict must be. */
#ifndef ATTEST_TESTS_COMPARE_SCENE_H
#define ATTEST_TESTS_COMPARE_SCENE_H

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/draw/draw.h"
#include "verify/compare/compare.h"

static const attest_tensor_id O = { ATTEST_KIND_ROLE, ATTEST_O }, U = { ATTEST_KIND_ROLE, ATTEST_U };
static const attest_tensor_id Z = { ATTEST_KIND_ROLE, ATTEST_Z }, LSE = { ATTEST_KIND_ROLE, ATTEST_LSE };

/* A case, its truth, and outputs that are the truth rounded once. */
typedef struct scene {
    attest_case c;
    attest_bundle *inputs, *outputs;
    attest_truth *truth;
    attest_result result;
} scene;

static inline void ok(attest_status status, const attest_error *err)
{
    ck_assert_msg(status == ATTEST_OK, "status %d: %s", (int)status, err->text);
}

/* `inputs` is drawn if NULL. */
static inline void open_scene(scene *s, const char *line, attest_bundle *inputs)
{
    attest_error err = { "" };
    memset(s, 0, sizeof *s);
    ok(attest_case_parse(&s->c, line, NULL, NULL, &err), &err);
    s->inputs = inputs;
    if (!inputs) {
        ok(attest_bundle_new(&s->inputs, &err), &err);
        ok(attest_draw_missing(s->inputs, &s->c, 0, 0, &err), &err);
    }
    ok(attest_truth_new(&s->truth, &s->c.problem, s->inputs, ATTEST_ENGINE_AUTO, &err), &err);
    ok(attest_bundle_new(&s->outputs, &err), &err);
}

static inline void close_scene(scene *s)
{
    attest_truth_free(s->truth);
    attest_bundle_free(s->outputs);
    attest_bundle_free(s->inputs);
}

/* Adds the rounded truth of an output (NaN where there is none: 0 then). */
static inline attest_tensor *give(scene *s, attest_tensor_id id)
{
    attest_error err = { "" };
    attest_tensor *t = NULL, rounded;
    attest_rounding_counts counts = { 0, 0, 0, 0, 0 };
    ok(attest_bundle_add(s->outputs, &s->c.problem, id, 0, &t, &err), &err);
    ok(attest_truth_rounded(&rounded, s->truth, id, t->dtype, &counts, &err), &err);
    for (int64_t i = 0; i < attest_tensor_count(t); i++)
        attest_store_bits(t, i, isnan(attest_load(&rounded, i)) ? 0 : attest_load_bits(&rounded, i));
    free(rounded.data);
    return t;
}

static inline void judge_declared(scene *s, attest_truth *exp_truth, const attest_numerics *numerics, uint32_t flags,
                                  double claim)
{
    attest_error err = { "" };
    attest_result_init(&s->result);
    ok(attest_compare(&s->result, s->truth, exp_truth, &s->c, s->outputs, numerics, flags, claim, &err), &err);
}

static inline void judge(scene *s, attest_truth *exp_truth, uint32_t flags, double claim)
{
    const attest_numerics numerics = { .struct_size = sizeof numerics };
    judge_declared(s, exp_truth, &numerics, flags, claim);
}

/* Of a kernel that declares what its empty rows hold. */
static inline void judge_empty(scene *s, uint32_t holds)
{
    const attest_numerics numerics = { .struct_size = sizeof numerics, .empty_row = holds };
    judge_declared(s, NULL, &numerics, 0, 0);
}

static inline void expect(const scene *s, const char *what, int64_t verdict, int64_t reasons)
{
    char got[256], want[256];
    attest_reasons_text(got, sizeof got, s->result.reasons);
    attest_reasons_text(want, sizeof want, reasons);
    ck_assert_msg(s->result.verdict == verdict, "%s: %s, not %s (%s)", what, attest_verdict_names[s->result.verdict],
                  attest_verdict_names[verdict], s->result.why);
    ck_assert_msg(s->result.reasons == reasons, "%s: reasons `%s`, not `%s` (%s)", what, got, want, s->result.why);
}

static inline void put(attest_tensor *t, int64_t at, double x)
{
    attest_store_bits(t, at, attest_from_f64(t->dtype, x));
}

#endif
