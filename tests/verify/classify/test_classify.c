/* test_classify.c - the classifier: all declared traits of every built-in kernel are inferred; altered kernels and
 * altered declarations are noticed; rows, file and page. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/problem/problem.h"
#include "kernels/library/registry.h"
#include "tests/reports/report_cases.h"
#include "reports/traits.h"
#include "tests/verify/classify/classify_ask.h"

Suite *suite_classify(void);

/* ---- built-in kernels -------------------------------------------------------------------------------------------- */

START_TEST(builtin_kernels)
{
    const attest_library *library = attest_builtin_library();
    const attest_kernel *kernel = library->kernels[_i];
    attest_traits traits = classify(NULL, kernel->name);
    ck_assert_uint_eq(traits.count, 23);
    for (size_t n = 0; n < traits.count; n++) {
        const attest_trait *t = &traits.trait[n];
        if (strcmp(t->declared, "-") == 0)
            continue;
        ck_assert_msg(t->verdict == ATTEST_TRAIT_AGREES, "%s %s: declared %s, inferred %s, %s", kernel->name, t->trait,
                      t->declared, t->inferred, t->why);
        ck_assert_str_ne(t->inferred, "-");
    }
    attest_traits_clear(&traits);
}
END_TEST

/* ---- altered kernels, under their bases' declarations
 * ---------------------------------------------------------------- */

static const struct {
    const char *defect, *trait, *inferred;
} altered[] = {
    { "p-truncated", "p_rounding", "truncate" },
    { "cast-in-sum", "cast_in_sum", "yes" },
    { "acc-bf16", "acc_unit", "2^-8" },
    { "acc-bf16", "serial_sums", "no" },
    { "acc-f16", "acc_unit", "2^-11" },
    { "acc-between-tiles", "acc_unit", "2^-8" },
    { "l-bf16", "acc_unit", "2^-8" },
    { "dot-f16", "acc_unit", "2^-11" },
    { "dot-float", "acc_unit", "2^-24" },
    { "exp-wobble", "exp_error", "2^-16" },
    { "exp-biased", "exp_error", "2^-15" },
    { "exp-float", "exp_error", "2^-24" },
    { "poly-exp2-2", "exp_error", "2^-8.54" },
    { "poly-exp2-3", "exp_error", "2^-13.5" },
    { "log2e-short", "exp_error", NULL },
    { "rcp-approx", "div_error", "2^-11.4" },
    { "scale-float", "scale_dtype", "f32" },
    { "state-bf16", "state_dtype", "bf16" },
    { "state-f16", "state_dtype", "f16" },
    { "delta-state-bf16", "state_dtype", "bf16" },
    { "state-cast-read", "state_dtype", "f16" },
    { "ftz-weights", "ftz", "yes" },
    { "lse-base2", "lse_base2", "yes" },
    { "lse-mixed-base", "lse_base2", "another" },
    { "lse-with-sink", "lse_with_sink", "yes" },
    { "mask-row-nan", "empty_row", "nan" },
    { "mask-row-mean", "empty_row", "mean" },
    { "masked-poison", "masked_finite", "yes" },
    { "causal-align", "causal", "bottom-right" },
    { "strict-diag", "causal", "another" },
    { "causal-leak", "causal_br", "another" },
    { "batch-variant", "batch_invariant", "no" },
    { "batch-variant", "tile", "16" },
};
enum { ALTERED = sizeof altered / sizeof altered[0] };

START_TEST(altered_kernels)
{
    if (_i > 0 && strcmp(altered[_i].defect, altered[_i - 1].defect) == 0)
        return; /* with the row before */
    attest_traits traits = classify(ATTEST_TEST_BUILD "/defects/defects.so", altered[_i].defect);
    for (size_t n = (size_t)_i; n < ALTERED && strcmp(altered[n].defect, altered[_i].defect) == 0; n++) {
        const attest_trait *t = trait_of(&traits, altered[n].trait);
        ck_assert_msg(t->verdict == ATTEST_TRAIT_FAIL, "%s %s: inferred %s: %s", altered[n].defect, t->trait,
                      t->inferred, t->why);
        if (altered[n].inferred)
            ck_assert_str_eq(t->inferred, altered[n].inferred);
    }
    attest_traits_clear(&traits);
}
END_TEST

/* A row without a key that holds the mean of v is a trait of its own, and no other alignment of the mask. */
START_TEST(mean_is_no_alignment)
{
    attest_traits traits = classify(ATTEST_TEST_BUILD "/defects/defects.so", "mask-row-mean");
    const attest_trait *t = trait_of(&traits, "causal_br");
    ck_assert_msg(t->verdict == ATTEST_TRAIT_AGREES, "inferred %s: %s", t->inferred, t->why);
    attest_traits_clear(&traits);
}
END_TEST

/* ---- kernels whose arithmetic no built-in kernel has, and declarations that are not true -------------------- */

#define TRAITS ATTEST_TEST_BUILD "/plugins/traits.so"

static const struct {
    const char *kernel, *trait, *declared, *inferred; /* inferred NULL: it is libm's */
    uint32_t verdict;
} declarations[] = {
    { "odd", "log2_domain", "yes", "yes", ATTEST_TRAIT_AGREES },
    { "odd", "acc_truncates", "yes", "yes", ATTEST_TRAIT_AGREES },
    { "odd", "p_rounding", "truncate", "truncate", ATTEST_TRAIT_AGREES },
    { "odd", "cast_in_sum", "yes", "yes", ATTEST_TRAIT_AGREES },
    { "odd", "exp_error", "2^-23", NULL, ATTEST_TRAIT_AGREES },
    { "odd", "scale_dtype", "bf16", "bf16", ATTEST_TRAIT_AGREES },
    { "odd", "ftz", "yes", "yes", ATTEST_TRAIT_AGREES },
    { "odd", "empty_row", "nan", "nan", ATTEST_TRAIT_AGREES },
    { "odd", "lse_base2", "yes", "yes", ATTEST_TRAIT_AGREES },
    { "parts", "splits", "4", "4", ATTEST_TRAIT_AGREES },
    { "parts", "tile", "none", "none", ATTEST_TRAIT_AGREES },
    { "fifths", "splits", "5", "5", ATTEST_TRAIT_AGREES },
    { "rough", "div_error", "2^-12", NULL, ATTEST_TRAIT_AGREES },
    { "rough", "exp_error", "2^-23", NULL, ATTEST_TRAIT_HIDDEN },
    { "series", "exp_error", "2^-14.1", NULL, ATTEST_TRAIT_HIDDEN },
    { "fine", "acc_unit", "2^-53", "2^-24", ATTEST_TRAIT_HIDDEN },
    { "backwards", "tile", "8", "8", ATTEST_TRAIT_AGREES },
    { "keeper", "state_dtype", "bf16", "bf16", ATTEST_TRAIT_AGREES },
    { "keeper", "acc_unit", "2^-24", "2^-24", ATTEST_TRAIT_AGREES },
    { "keeper", "scale_dtype", "f32", "f32", ATTEST_TRAIT_AGREES },
    { "textbook", "tile", "1", "1", ATTEST_TRAIT_AGREES },
    { "textbook", "schedule", "online", "online", ATTEST_TRAIT_AGREES },
    { "pairs", "tile", "2", "2", ATTEST_TRAIT_AGREES },
    { "quiet", "acc_unit", "2^-24", "2^-24", ATTEST_TRAIT_AGREES },
    { "long", "tile", "512", "-", ATTEST_TRAIT_HIDDEN },
    { "long", "schedule", "online", "-", ATTEST_TRAIT_HIDDEN },
    { "faint", "schedule", "two-pass", "-", ATTEST_TRAIT_HIDDEN },
    { "faint", "causal", "top-left", "-", ATTEST_TRAIT_HIDDEN },
    { "lone", "ftz", "-", "-", ATTEST_TRAIT_HIDDEN },
    { "loose", "schedule", "online", "two-pass", ATTEST_TRAIT_FINDING },
    { "loose", "tile", "16", "none", ATTEST_TRAIT_FINDING },
    { "loose", "exp_error", "2^-16", NULL, ATTEST_TRAIT_FINDING },
    { "loose", "log2_domain", "yes", "no", ATTEST_TRAIT_FINDING },
    { "loose", "acc_unit", "2^-20", "2^-24", ATTEST_TRAIT_FINDING },
    { "loose", "acc_truncates", "yes", "no", ATTEST_TRAIT_AGREES }, /* twice the error: within 4 times */
    { "loose", "div_error", "2^-20", "2^-24", ATTEST_TRAIT_FINDING },
    { "loose", "scale_dtype", "f16", "f32", ATTEST_TRAIT_FINDING },
    { "loose", "ftz", "yes", "no", ATTEST_TRAIT_FINDING },
    { "loose", "masked_finite", "yes", "no", ATTEST_TRAIT_FINDING },
    { "loose", "batch_invariant", "-", "yes", ATTEST_TRAIT_UNDECLARED },
    { "adder", "splits", "64", "4", ATTEST_TRAIT_FAIL },
    { "boaster", "exp_error", "2^-26", NULL, ATTEST_TRAIT_HIDDEN }, /* o itself is rounded to 2^-24 */
    { "boaster", "acc_unit", "2^-25", "2^-24", ATTEST_TRAIT_FAIL },
    { "boaster", "div_error", "2^-26", "2^-24", ATTEST_TRAIT_HIDDEN },
    { "boaster", "scale_dtype", "f64", "f32", ATTEST_TRAIT_FAIL },
    { "boaster", "serial_sums", "yes", "no", ATTEST_TRAIT_FAIL },
    { "reader", "serial_sums", "yes", "no", ATTEST_TRAIT_FAIL },
    { "laner", "serial_sums", "yes", "no", ATTEST_TRAIT_FAIL },
    { "divider", "serial_sums", "yes", "no", ATTEST_TRAIT_FAIL },
    { "seldom", "serial_sums", "yes", "no", ATTEST_TRAIT_REMARK },
    { "odd", "serial_sums", "-", "yes", ATTEST_TRAIT_UNDECLARED },
    { "quiet", "serial_sums", "-", "-", ATTEST_TRAIT_HIDDEN },
    { "loose", "serial_sums", "-", "yes", ATTEST_TRAIT_UNDECLARED },
    { "backwards", "serial_sums", "-", "no", ATTEST_TRAIT_UNDECLARED },
    { "boaster", "empty_row", "nan", "zero", ATTEST_TRAIT_FINDING }, /* attest.h: NaN, or as zero */
    { "boaster", "p_rounding", "-", "-", ATTEST_TRAIT_HIDDEN },
    { "hasty", "exp_error", "2^-23", "2^-9", ATTEST_TRAIT_FAIL }, /* bf16 numbers that are stored in bf16 stay */
};

static const char *const kernels[] = { "fifths",    "rough",   "series",   "fine",  "odd",     "parts",
                                       "backwards", "keeper",  "textbook", "pairs", "quiet",   "long",
                                       "faint",     "lone",    "loose",    "adder", "boaster", "reader",
                                       "laner",     "divider", "seldom",   "hasty" };
enum { KERNELS = sizeof kernels / sizeof kernels[0], LIARS = 8 };

/* Of all but the last ones (LIARS), whose declarations are true, nothing else is found either. */
START_TEST(declared_values)
{
    attest_traits traits = classify(TRAITS, kernels[_i]);
    for (size_t n = 0; n < sizeof declarations / sizeof declarations[0]; n++) {
        if (strcmp(declarations[n].kernel, kernels[_i]) != 0)
            continue;
        const attest_trait *t = trait_of(&traits, declarations[n].trait);
        ck_assert_str_eq(t->declared, declarations[n].declared);
        if (declarations[n].inferred)
            ck_assert_str_eq(t->inferred, declarations[n].inferred);
        ck_assert_uint_eq(t->verdict, declarations[n].verdict);
    }
    for (size_t n = 0; n < traits.count && _i < KERNELS - LIARS; n++) {
        const attest_trait *t = &traits.trait[n];
        ck_assert_msg(t->verdict != ATTEST_TRAIT_FAIL && t->verdict != ATTEST_TRAIT_FINDING,
                      "%s %s: declared %s, inferred %s: %s", kernels[_i], t->trait, t->declared, t->inferred, t->why);
        ck_assert_msg(t->verdict != ATTEST_TRAIT_HIDDEN || *t->why, "%s %s: no reason", kernels[_i], t->trait);
    }
    attest_traits_clear(&traits);
}
END_TEST

/* ---- correct kernels that a probe once took for something else ------------------------------------------------ */

#define CONTROLS ATTEST_TEST_BUILD "/plugins/controls.so"

// clang-format off
static const char *const controls[] = {
    "taylor2", "half-p", "half", "half-out", "half-quiet", "roots", "roots-quiet", "smooth", "smooth-quiet",
    "divided", "divided-f16", "quotients", "quotients-f16", "running", "moving", "divided-quiet", "divided-f16-quiet",
    "ahead", "fine", "stored", "backwards", "one-state", "parts", "parts-stored", "scaled", "scaled-f16", "decayed",
    "online-f16",
};
// clang-format on
enum { CONTROLS_COUNT = sizeof controls / sizeof controls[0] };

/* What is true of them all, then what is true of one.  Of the rest any answer is true.  A number: at most that. */
static const struct {
    const char *kernel, *trait, *is;
    double most;
} truths[] = {
    { "taylor2", "schedule", "direct", 0 },
    { "taylor2", "serial_sums", "yes", 0 },
    { "backwards", "schedule", "online", 0 },
    { "backwards", "tile", "1", 0 },
    { "ahead", "div_error", NULL, 0x1p-23 }, /* n times a rounded 1/m: two roundings */
    { "moving", "schedule", "online", 0 },
    { "online-f16", "schedule", "online", 0 },
    { "online-f16", "tile", "1", 0 },
    { "online-f16", "serial_sums", "yes", 0 },
    { "moving", "tile", "1", 0 },
    { "roots", "scale_dtype", "-", 0 },
    { "roots-quiet", "scale_dtype", "-", 0 },
    { "quotients", "cast_in_sum", "yes", 0 },
    { "quotients-f16", "cast_in_sum", "yes", 0 },
    { "half-p", "serial_sums", "yes", 0 },
    { "half", "serial_sums", "yes", 0 },
    { "half-out", "serial_sums", "yes", 0 },
    { "half-quiet", "serial_sums", "yes", 0 },
    { "stored", "serial_sums", "yes", 0 },
    { "one-state", "schedule", "-", 0 },
    { "one-state", "serial_sums", "yes", 0 },
    { "one-state", "state_dtype", "f32", 0 },
    { "decayed", "schedule", "direct", 0 },
    { "decayed", "serial_sums", "yes", 0 },
    { "parts", "schedule", "split", 0 },
    { "parts-stored", "schedule", "split", 0 },
    { "parts", "serial_sums", "yes", 0 },       /* of one part */
    { "parts-stored", "serial_sums", "no", 0 }, /* what is stored does not show them */
    { "parts-stored", "exp_error", NULL, 0x1p-7 },
    { "scaled-f16", "exp_error", NULL, 0x1p-5 }, /* with the rounding of its scores */
    { "parts", "splits", "problem.splits", 0 },
    { "parts-stored", "splits", "problem.splits", 0 },
    { "parts", "div_error", NULL, 0x1p-20 }, /* with that of the merges */
    { "parts-stored", "div_error", NULL, 0x1p-7 },
    { "parts-stored", "acc_unit", NULL, 0x1p-8 }, /* with the rounding of what the parts leave */
    { NULL, "schedule", "two-pass", 0 },
    { NULL, "tile", "none", 0 },
    { NULL, "splits", "-", 0 },
    { NULL, "state_dtype", "-", 0 },
    { NULL, "packed_state", "-", 0 },
    { NULL, "lse_base2", "no", 0 },
    { NULL, "lse_with_sink", "-", 0 },
    { NULL, "acc_unit", "2^-24", 0 },
    { NULL, "acc_truncates", "no", 0 },
    { NULL, "serial_sums", "no", 0 },
    { NULL, "p_rounding", "nearest", 0 },
    { NULL, "cast_in_sum", "no", 0 },
    { NULL, "log2_domain", "no", 0 },
    { NULL, "exp_error", NULL, 0x1p-23 },
    { NULL, "scale_dtype", "f32", 0 },
    { NULL, "div_error", NULL, 0x1p-24 },
    { NULL, "ftz", "no", 0 },
    { NULL, "empty_row", "zero", 0 },
    { NULL, "masked_finite", "no", 0 },
    { NULL, "causal", "top-left", 0 },
    { NULL, "causal_br", "bottom-right", 0 },
    { NULL, "deterministic", "yes", 0 },
    { NULL, "batch_invariant", "yes", 0 },
};

/* An answer is none or the truth. */
static int is_true(const char *kernel, const attest_trait *t)
{
    double log2_of = 0;
    if (strcmp(t->inferred, "-") == 0)
        return 1;
    for (size_t n = 0; n < sizeof truths / sizeof truths[0]; n++) {
        if ((truths[n].kernel && strcmp(truths[n].kernel, kernel) != 0) || strcmp(truths[n].trait, t->trait) != 0)
            continue;
        if (truths[n].is)
            return strcmp(truths[n].is, t->inferred) == 0;
        return sscanf(t->inferred, "2^%lf", &log2_of) == 1 && exp2(log2_of) <= truths[n].most * (1 + 0x1p-10);
    }
    return 0;
}

/* With the property declared (first half) and without a word, where ATTEST_TEST_LONG is set. */
START_TEST(nothing_false_of_controls)
{
    char name[64];
    const char *base = controls[_i % CONTROLS_COUNT];
    snprintf(name, sizeof name, "%s%s", base, _i < CONTROLS_COUNT ? "" : "-silent");
    attest_traits traits = classify(CONTROLS, name);
    for (size_t n = 0; n < traits.count; n++) {
        const attest_trait *t = &traits.trait[n];
        ck_assert_msg(is_true(base, t), "%s %s: declared %s, inferred %s: %s", name, t->trait, t->declared, t->inferred,
                      t->why);
        ck_assert_msg(t->verdict != ATTEST_TRAIT_FAIL && t->verdict != ATTEST_TRAIT_REMARK &&
                          t->verdict != ATTEST_TRAIT_FINDING,
                      "%s %s: declared %s, inferred %s: %s", name, t->trait, t->declared, t->inferred, t->why);
        ck_assert_msg(t->verdict != ATTEST_TRAIT_HIDDEN || *t->why, "%s %s: no reason", name, t->trait);
    }
    attest_traits_clear(&traits);
}
END_TEST

/* A kernel that serves nothing without decays is asked with decays of 1. */
START_TEST(only_decays)
{
    attest_traits traits = classify(CONTROLS, "decayed");
    ck_assert_str_eq(trait_of(&traits, "schedule")->inferred, "direct");
    ck_assert_str_eq(trait_of(&traits, "acc_unit")->inferred, "2^-24");
    attest_traits_clear(&traits);
}
END_TEST

/* Rows without a key need no mask=causal-br: lens and attn_mask make them.  What is proposed has them, and a flush to
 * zero, of a kernel that says nothing and of one that says something else. */
START_TEST(rows_without_keys)
{
    static const struct {
        const char *kernel, *empty, *words, *flags;
    } of[] = { { "padded", "nan", "empty_row=nan", "flags=ftz" },
               { "padded-mean", "mean", "empty_row=mean", "" },
               { "hidden", "zero", "", "" } };
    char words[2048];
    attest_error err = { "" };
    attest_traits traits = classify(ATTEST_TEST_BUILD "/plugins/padded.so", of[_i].kernel);
    const attest_trait *t = trait_of(&traits, "empty_row");
    ck_assert_msg(strcmp(t->inferred, of[_i].empty) == 0, "%s: %s: %s", of[_i].kernel, t->inferred, t->why);
    ck_assert_uint_eq(t->verdict, _i < 2 ? ATTEST_TRAIT_FAIL : ATTEST_TRAIT_AGREES); /* by the second probe, too */
    for (int silent = 0; silent < 2; silent++) {
        ck_assert_int_eq(attest_classify_propose(words, sizeof words, &traits, silent, &err), ATTEST_OK);
        ck_assert_msg(strstr(words, of[_i].words) && strstr(words, of[_i].flags), "%s: %s", of[_i].kernel, words);
        ck_assert_msg(*of[_i].flags || !strstr(words, "flags="), "%s: %s", of[_i].kernel, words);
    }
    attest_traits_clear(&traits);
}
END_TEST

/* Nothing hides all keys from a row of a causal delta rule, which knows no lens: that is said, and is no error. */
START_TEST(no_rows_without_keys)
{
    attest_traits traits = classify(ATTEST_TEST_BUILD "/plugins/padded.so", "delta-causal");
    ck_assert_uint_eq(trait_of(&traits, "empty_row")->verdict, ATTEST_TRAIT_HIDDEN);
    ck_assert_ptr_nonnull(strstr(trait_of(&traits, "empty_row")->why, "rows without a key"));
    for (size_t n = 0; n < traits.count; n++)
        ck_assert_uint_ne(traits.trait[n].verdict, ATTEST_TRAIT_FAIL);
    attest_traits_clear(&traits);
}
END_TEST

/* A kernel that is not what it promises. */
START_TEST(broken_promises)
{
    attest_traits traits = classify(ATTEST_TEST_BUILD "/plugins/flaky.so", "flaky");
    ck_assert_str_eq(trait_of(&traits, "deterministic")->inferred, "no");
    ck_assert_uint_eq(trait_of(&traits, "deterministic")->verdict, ATTEST_TRAIT_FAIL);
    attest_traits_clear(&traits);
}
END_TEST

/* A kernel that dies is asked once. */
START_TEST(dead_kernels)
{
    attest_traits traits = classify(ATTEST_TEST_BUILD "/plugins/segfault.so", "segfault");
    for (size_t n = 0; n < traits.count; n++) {
        ck_assert_uint_eq(traits.trait[n].verdict, ATTEST_TRAIT_HIDDEN);
        ck_assert_str_eq(traits.trait[n].why, "the kernel crashed in a probe");
    }
    attest_traits_clear(&traits);
}
END_TEST

/* ---- rows
 * ---------------------------------------------------------------------------------------------------------------- */

static attest_traits sample_traits(void)
{
    attest_traits traits = { 0 };
    attest_error err;
    for (uint32_t n = 0; n < 100; n++) {
        attest_trait t = {
            .kernel = "k<1>", .trait = "tile", .declared = "32", .verdict = n % ATTEST_TRAIT_VERDICT_COUNT
        };
        snprintf(t.inferred, sizeof t.inferred, "%u", n);
        snprintf(t.why, sizeof t.why, "because \"%u\" & more", n);
        ck_assert_int_eq(attest_traits_add(&traits, &t, &err), ATTEST_OK);
    }
    return traits;
}

START_TEST(file_of_traits)
{
    attest_traits traits = sample_traits(), back = { 0 };
    attest_error err;
    ck_assert_int_eq(attest_traits_write_jsonl(&traits, path_of("traits.jsonl"), &err), ATTEST_OK);
    ck_assert_int_eq(attest_traits_read_jsonl(&back, path_of("traits.jsonl"), &err), ATTEST_OK);
    ck_assert_uint_eq(back.count, traits.count);
    for (size_t n = 0; n < back.count; n++) {
        ck_assert_str_eq(back.trait[n].kernel, traits.trait[n].kernel);
        ck_assert_str_eq(back.trait[n].trait, traits.trait[n].trait);
        ck_assert_str_eq(back.trait[n].declared, traits.trait[n].declared);
        ck_assert_str_eq(back.trait[n].inferred, traits.trait[n].inferred);
        ck_assert_str_eq(back.trait[n].why, traits.trait[n].why);
        ck_assert_uint_eq(back.trait[n].verdict, traits.trait[n].verdict);
    }
    FILE *out = fopen(path_of("traits.jsonl"), "a");
    fputs("{\"kernel\":\"x\",\"trait\":\"y\",\"declared\":\"\",\"inferred\":\"\",\"verdict\":\"good\",\"why\":\"\"}\n",
          out);
    fclose(out);
    ck_assert_int_eq(attest_traits_read_jsonl(&back, path_of("traits.jsonl"), &err), ATTEST_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "traits.jsonl:101"));
    ck_assert_int_eq(attest_traits_read_jsonl(&back, path_of("none.jsonl"), &err), ATTEST_BAD_INPUT);
    attest_traits_clear(&traits);
    attest_traits_clear(&back);
    ck_assert_ptr_null(back.trait);
}
END_TEST

START_TEST(table_and_page)
{
    attest_traits traits = sample_traits(), none = { 0 };
    attest_error err;
    FILE *out = fopen(path_of("table"), "w");
    ck_assert_int_eq(attest_traits_print(out, &traits, &err), ATTEST_OK);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text_of("table"), "k<1>\n  trait "));
    ck_assert_ptr_nonnull(
        strstr(text_of("table"), "  tile              32               14               FAIL: because"));
    out = fopen(path_of("page"), "w");
    ck_assert_int_eq(attest_traits_print_html(out, &none, &err), ATTEST_OK);
    ck_assert_int_eq((int)ftell(out), 0);
    ck_assert_int_eq(attest_traits_print_html(out, &traits, &err), ATTEST_OK);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text_of("page"), "<code>k&lt;1&gt;</code>"));
    ck_assert_ptr_nonnull(strstr(text_of("page"), "<td>14<td class=\"fail\">FAIL<td>because &quot;14&quot;"));
    attest_traits_clear(&traits);
}
END_TEST

Suite *suite_classify(void)
{
    Suite *suite = suite_create("classify");
    TCase *asked = tcase_create("kernels"), *rows = tcase_create("rows");
    tcase_add_unchecked_fixture(asked, use_our_worker, NULL);
    tcase_set_timeout(asked, 60);
    tcase_add_loop_test(asked, builtin_kernels, 0, (int)attest_builtin_library()->kernel_count);
    tcase_add_loop_test(asked, altered_kernels, 0, ALTERED);
    tcase_add_test(asked, mean_is_no_alignment);
    tcase_add_loop_test(asked, declared_values, 0, KERNELS);
    tcase_add_loop_test(asked, nothing_false_of_controls, 0, (getenv("ATTEST_TEST_LONG") ? 2 : 1) * CONTROLS_COUNT);
    tcase_add_loop_test(asked, rows_without_keys, 0, 3);
    tcase_add_test(asked, only_decays);
    tcase_add_test(asked, no_rows_without_keys);
    tcase_add_test(asked, broken_promises);
    tcase_add_test(asked, dead_kernels);
    suite_add_tcase(suite, asked);
    tcase_add_unchecked_fixture(rows, setup, teardown);
    tcase_add_test(rows, file_of_traits);
    tcase_add_test(rows, table_and_page);
    suite_add_tcase(suite, rows);
    return suite;
}
