/* test_conventions.c - a planted kernel for each row of the table is explained by that row, and by no other one that is
 * not listed; kernels that fit no convention are explained by none. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/gate/diagnosis/convention.h"
#include "verify/gate/diagnosis/conventions.h"

Suite *suite_conventions(void);

#define LIBRARY ATTEST_TEST_BUILD "/plugins/misread.so"

/* Lines that show each mistake; `also`: other rows that are the same function on all of them. */
static const struct {
    const char *kernel, *row, *lines, *also;
} planted[] = {
    { "full", "mask=full", "mask=causal n={5,9,17} d=4", "" },
    { "causal", "mask=causal", "mask=causal-br n=5 m={9,13,17} d=4", "" },
    { "causal-br", "mask=causal-br", "mask=causal n=5 m={9,13,17} d=4", "" },
    { "no-diagonal", "the causal diagonal left out", "mask=causal n={5,9,17} d=4", "" },
    { "one-more", "one key too many under the causal mask", "mask=causal n={5,9,17} d=4", "" },
    { "no-window", "window=none", "mask={full,causal} window=5 n={9,17} d=4", "" },
    { "window-more", "window W+1", "mask={full,causal} window=5 n={9,17} d=4", "" },
    { "window-less", "window W-1", "mask={full,causal} window=5 n={9,17} d=4", "" },
    { "no-lens", "lens=none", "b=3 lens=draw n={9,17} d={4,8}", "" },
    { "no-first-key", "the first key left out", "mask={full,causal} n={9,17} d=4", "" },
    { "no-last-key", "the last key left out", "n={5,9,17} d=4", "" },
    { "scale-one", "scale=1", "n={5,9} d={4,9}", "" },
    { "scale-per-d", "scale=1/d", "n={5,9} d={4,9}", "" },
    { "scale-default", "scale=1/sqrt(d)", "n={5,9} d={4,9} scale=0.25", "" },
    { "scale-sqrt-d", "scale=sqrt(d)", "n={5,9} d={4,9}", "" },
    { "base-two", "weights 2^s", "n={5,9} d={4,9}", "" },
    { "order-less", "a polynomial of one order less", "variant=taylor:{2,3} n={5,9} d=4", "" },
    { "order-more", "a polynomial of one order more", "variant=taylor:{2,3} n={5,9} d=4", "" },
    { "no-cap", "cap=none", "cap=0.5 n={5,9} d={4,9}", "" },
    { "no-clamp", "clamp=none", "clamp=0.1 n={5,9} d={4,9}", "" },
    { "no-filter", "filter=none", "filter=0.5 n={5,9} d={4,9}", "" },
    { "no-alibi", "alibi=none", "alibi=draw hq=2 n={5,9} d={4,9}", "" },
    { "own-alibi", "alibi=usual", "alibi=draw hq={3,6} n={5,9} d={4,9}", "" },
    { "alibi-sign", "alibi with the other sign", "alibi=draw hq=2 n={5,9} d={4,9}", "" },
    { "alibi-all", "alibi slopes 2^(-8(h+1)/Hq), Hq not a power of two", "alibi=usual hq={3,6} n={5,9} d={4,9}", "" },
    { "alibi-from-0", "alibi slopes of h in place of h+1", "alibi=usual hq={2,3} n={5,9} d={4,9}", "" },
    { "alibi-in-a-row", "alibi slopes 2^(-4(h+1)/P), not in turn", "alibi=usual hq={3,6} n={5,9} d={4,9}", "" },
    { "no-bias", "bias=none", "bias=full hq=2 n={5,9} d={4,9}", "" },
    { "no-rope", "rope=none", "rope=10000 n={5,9} d={4,8}", "" },
    { "no-feature", "feature=identity", "variant=taylor:2 feature=silu n={5,9} d={4,9}", "" },
    { "no-center", "center=zero", "variant=taylor:2 center=max n={5,9} d={4,9}", "" },
    { "no-decay", "decay=none", "variant=retnet n={5,9} d={4,9}", "" },
    { "log-decay", "decay_input=log", "variant=simple-gla n={5,9} d={4,9}", "" },
    { "factor-decay", "decay_input=factor", "variant=simple-gla decay_input=log n={5,9} d={4,9}", "" },
    { "no-state", "state=none", "variant=linear mask=causal state=draw n={5,9} d={4,9}", "" },
    { "plain-delta", "update=delta", "variant=efla n={5,9} d={4,9}", "" },
    { "no-gates", "gates=none", "gates=inout n={5,9} d={4,9}", "" },
    { "gates-in", "gates=in", "gates=inout n={5,9} d={4,9}", "" },
    { "gates-out", "gates=out", "gates=inout n={5,9} d={4,9}", "gates=pre-out" },
    { "gates-pre-out", "gates=pre-out", "variant=l2norm eps=0.5 gates=out n={5,9} d={4,9}", "" },
    { "no-affine", "affine=none", "variant=layernorm affine=draw n={5,9} d={4,9}", "" },
    { "norm-sum", "norm=sum", "norm=sink n={5,9} d={4,9}", "" },
    { "norm-none", "norm=none", "variant=linear-elu n={5,9} d={4,9}", "" },
    { "norm-length", "norm=length", "variant=linear-elu n={5,9} d={4,9}", "" },
    { "eps-zero", "eps=0", "variant=l2norm eps=0.01 family=normal:0.0001 n={5,9} d={4,9}", "eps=1e-12" },
    { "eps-12", "eps=1e-12", "variant=l2norm eps=0.01 family=normal:0.0001 n={5,9} d={4,9}", "" },
    { "eps-8", "eps=1e-8", "variant=l2norm eps=0.01 family=normal:0.0001 n={5,9} d={4,9}", "" },
    { "eps-6", "eps=1e-6", "variant=l2norm eps=0.01 family=normal:0.0001 n={5,9} d={4,9}", "" },
    { "eps-5", "eps=1e-5", "variant=l2norm eps=0.01 family=normal:0.0001 n={5,9} d={4,9}", "" },
    { "heads-in-turn", "query head h reading KV head h % hkv", "hq=4 hkv=2 n={5,9} d={4,9}", "" },
    { "heads-first", "every query head reading KV head 0", "hq=4 hkv=2 n={5,9} d={4,9}", "" },
    { "kv-swapped", "k and v swapped", "n={5,9} d={4,9}", "" },
    { "qk-swapped", "q and k swapped", "n={5,9} d={4,9}", "" },
    { "o-turned", "o as [B,N,Hq,e] in place of [B,Hq,N,e]", "b=2 hq=3 n={5,9} d={4,9}", "" },
    { "all-turned", "q, k, v and o as [B,N,H,d] in place of [B,H,N,d]", "b=2 hq=3 n={5,9} d={4,9}", "" },
    { "first-value-zero", "the value of the first token taken as 0", "n={5,9} d={4,9}", "" },
    { "lse-base-two", "lse in the other base (2 or e: flag lse-base2)", "n={5,9} d={4,9}", "" },
    { "lse-sink", "lse with or without the sink (flag lse-with-sink)", "norm=sink n={5,9} d={4,9}", "" },
    { "masked-values", "flags=masked-finite", "mask=causal n={5,9} d={4,9}", "" },
    { "nan-queries", NULL, "mask=causal n={5,9} d={4,9}", "" },
    { "empty-nan", "empty_row=nan", "mask=causal-br n=9 m=5 d={4,9} seed={0,1}", "empty_row=any" },
    { "empty-seven", "empty_row=any", "mask=causal-br n=9 m=5 d={4,9} seed={0,1}", "" },
    { "weights-bf16", "weights cast to bf16 (p=bf16)", "in=bf16 out=f32 n={17,33} d={4,9}",
      "acc_unit=2^-11;score_dtype=bf16" },
    { "narrow-scores", "score_dtype=bf16", "n={17,33} d={4,9}", "acc_unit=2^-11" },
    { "narrow-half", "score_dtype=f16", "n={17,33} d={4,9}", "*" },
    { "narrow-sums", "acc_unit=2^-11", "n={17,33} d={4,9}", "*" },
    { "parts-bf16", "state_dtype=bf16", "splits=2 n={17,33} d={4,9}", "*" },
    { "parts-half", "state_dtype=f16", "splits=2 n={17,33} d={4,9}", "*" },
    { "slack", NULL, "mask={full,causal} n={5,9} d={4,9} hq=2", "" },
    { "tilted", NULL, "mask={full,causal} n={5,9} d={4,9} hq=2", "" },
};
enum { PLANTED = sizeof planted / sizeof planted[0] };

static void ok(attest_status status, const attest_error *err) { ck_assert_msg(status == ATTEST_OK, "%s", err->text); }

/* A suite of these lines, softmax where they name no variant. */
static void read_suite(attest_suite *suite, const char *lines)
{
    char path[] = ATTEST_TEST_BUILD "/conventions-XXXXXX";
    attest_error err = { "" };
    const int fd = mkstemp(path);
    FILE *out = fdopen(fd, "w");
    ck_assert(out && fprintf(out, "%s%s\n", strstr(lines, "variant=") ? "" : "variant=softmax ", lines) > 0);
    ck_assert(fclose(out) == 0);
    ok(attest_suite_read(suite, path, &err), &err);
    unlink(path);
}

/* 1 if `name` is one of the words of a list that ; divides. */
static int is_listed(const char *list, const char *name)
{
    const size_t len = strlen(name);
    for (const char *at = list; at; at = strchr(at, ';')) {
        at += *at == ';';
        if (strncmp(at, name, len) == 0 && (at[len] == ';' || at[len] == '\0'))
            return 1;
    }
    return strcmp(list, "*") == 0;
}

static void check_fits(int i, const attest_fit *list, size_t count, size_t failures)
{
    int found = 0;
    for (size_t n = 0; n < count; n++) {
        const int is = planted[i].row && strcmp(list[n].convention, planted[i].row) == 0;
        found += is;
        ck_assert_msg(is || is_listed(planted[i].also, list[n].convention), "%s: also fits %s", planted[i].kernel,
                      list[n].convention);
        ck_assert_uint_le(list[n].passed + list[n].open, failures);
        ck_assert_uint_gt(list[n].passed, 1);
    }
    ck_assert_msg(found == (planted[i].row != NULL), "%s: %zu of %zu rows that fit are %s", planted[i].kernel,
                  (size_t)found, count, planted[i].row ? planted[i].row : "told");
}

START_TEST(planted_kernels)
{
    static const char *const libraries[] = { LIBRARY };
    attest_suite suite;
    attest_plan plan;
    attest_options options = { .program = "attest", .timeout = 30, .max_time = -1, .quiet = 1, .jobs = 1 };
    attest_gate gate = { .options = &options, .suite = &suite, .plan = &plan, .kernel_glob = planted[_i].kernel };
    attest_results results = { 0 };
    attest_run_info info;
    attest_fit *list = NULL;
    attest_result r;
    attest_error err = { "" };
    size_t count = 0, failures = 0;
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1);
    read_suite(&suite, planted[_i].lines);
    ok(attest_plan_make(&plan, libraries, 1, attest_gate_wants, &gate, 30, &err), &err);
    ck_assert_uint_eq(plan.kernel_count, 1);
    ok(attest_gate_describe(&info, &gate, &err), &err);
    ok(attest_gate_run(&results, &info, &gate, &err), &err);
    for (size_t n = 0; n < results.count; n++) {
        ok(attest_results_get(&r, &results, n, &err), &err);
        failures += r.verdict == ATTEST_FAIL;
    }
    ck_assert_msg(failures > 1, "%s: %zu failures of %zu, %s", planted[_i].kernel, failures, results.count, r.why);
    ok(attest_conventions_find(&list, &count, &results, &gate, &err), &err);
    check_fits(_i, list, count, failures);
    free(list);
    attest_results_clear(&results);
    attest_plan_clear(&plan);
    attest_suite_clear(&suite);
}
END_TEST

/* Each row has a planted kernel, but those named here with the reason. */
START_TEST(every_row)
{
    static const char *const unplanted[] = {
        "weights cast to f16 (p=f16)", /* as bf16; no built-in kernel casts weights to f16 from bf16 inputs */
        "flags=ftz",                   /* which subnormals are flushed is the machine's: tests/plugins/ftz.c */
    };
    for (size_t row = 0; row < attest_convention_count; row++) {
        const char *name = attest_convention_name(&attest_convention_table[row]);
        int known = 0;
        for (int i = 0; i < PLANTED; i++)
            known |= planted[i].row && strcmp(planted[i].row, name) == 0;
        for (size_t i = 0; i < sizeof unplanted / sizeof unplanted[0]; i++)
            known |= strcmp(unplanted[i], name) == 0;
        ck_assert_msg(known, "no planted kernel for '%s'", name);
    }
}
END_TEST

/* Which failures were asked is said: all of a kernel, a group, or those that are left. */
START_TEST(words)
{
    attest_fit list[40] = {
        { .kernel = "k", .convention = "scale=1", .failures = 8, .all = 8, .passed = 8 },
        { .kernel = "k",
          .group = "n > 16",
          .convention = "mask=full",
          .failures = 6,
          .all = 8,
          .passed = 4,
          .open = 1 },
        { .kernel = "k", .convention = "empty_row=nan", .declared = 1, .failures = 2, .all = 8, .passed = 2 },
        { .kernel = "k", .convention = "scale=1", .failures = 1, .all = 1, .passed = 1 }
    };
    attest_run_info run;
    attest_conventions_keep(&run, list, 4);
    ck_assert_str_eq(run.would_pass,
                     "k with scale=1: tested on 8 of 8 failures, and all pass | "
                     "k with mask=full: tested on 5 of 6 failures that have n > 16, and 4 pass, 1 cannot tell | "
                     "k with --declare 'empty_row=nan': tested on 2 of 2 failures that are in no group of the 8, and "
                     "all pass | k with scale=1: tested on this case alone");
    for (size_t i = 4; i < 40; i++)
        list[i] = list[0];
    attest_conventions_keep(&run, list, 40);
    size_t told = 1, more = 0;
    const char *last = run.would_pass;
    for (const char *at = strstr(last, " | "); at; at = strstr(at + 1, " | "), told++)
        last = at;
    ck_assert_int_eq(sscanf(last, " | and %zu more", &more), 1);
    ck_assert_uint_eq(told - 1 + more, 40);
    attest_conventions_keep(&run, list, 0);
    ck_assert_str_eq(run.would_pass, "");
}
END_TEST

Suite *suite_conventions(void)
{
    Suite *suite = suite_create("conventions");
    TCase *tc = tcase_create("conventions");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, planted_kernels, 0, PLANTED);
    tcase_add_test(tc, every_row);
    tcase_add_test(tc, words);
    suite_add_tcase(suite, tc);
    return suite;
}
