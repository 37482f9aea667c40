/* test_declared.c - what the bounds take for what a kernel declares: nothing new for version 1's fields, the loosest
 * class for what is worse, a reason where no bound covers it.  And the limits of a kernel, checked by the host.
 */
#include "kernels/library/declared.h"
#include "kernels/library/registry.h"

#include <check.h>
#include <string.h>

Suite *suite_declared(void);

static attest_problem problem_of(const char *line)
{
    attest_case c;
    attest_error err;
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    return c.problem;
}

static const char *const lines[] = { "n=8",
                                     "in=bf16 p=bf16",
                                     "in=f64",
                                     "variant=gate cap=30 clamp=none gates=none",
                                     "variant=linear feature=silu",
                                     "variant=taylor:2 splits=3" };
#define LINES (sizeof lines / sizeof lines[0])

/* A built-in kernel is judged by what it declares, to the bit. */
START_TEST(test_built_in)
{
    const attest_library *library = attest_builtin_library();
    for (uint32_t k = 0; k < library->kernel_count; k++)
        for (size_t n = 0; n < LINES; n++) {
            const attest_problem p = problem_of(lines[n]);
            attest_declared d;
            char why[256] = "";
            ck_assert_msg(attest_declared_of(&d, attest_own(library->kernels[k]), &p, why, sizeof why), "%s", why);
            ck_assert_mem_eq(&d.numerics, library->kernels[k]->numerics, sizeof d.numerics);
            ck_assert_uint_eq(d.flags, library->kernels[k]->flags);
        }
}
END_TEST

#define SIZED .struct_size = sizeof(attest_numerics)

/* Declarations that no bound covers, and beside each one that is covered. */
START_TEST(test_uncovered)
{
    static const struct {
        const char *line;
        attest_numerics no, yes;
        uint32_t outputs;
        const char *why;
    } cases[] = {
        { "n=8",
          { SIZED, .schedule = ATTEST_SCHEDULE_TWO_PASS, .log_error = 0x1p-20 },
          { SIZED, .schedule = ATTEST_SCHEDULE_TWO_PASS, .log_error = 0x1p-21 },
          ATTEST_GIVES_O | ATTEST_GIVES_LSE,
          "log" },
        { "n=8",
          { SIZED, .schedule = ATTEST_SCHEDULE_SPLIT, .log_error = 0x1p-20 },
          { SIZED, .schedule = ATTEST_SCHEDULE_TWO_PASS, .log_error = 0x1p-20 },
          1,
          "log" },
        { "variant=taylor:2",
          { SIZED, .division = ATTEST_DIVISION_RUNNING },
          { SIZED, .division = ATTEST_DIVISION_THEN_CAST },
          1,
          "running mean" },
        { "norm=floor:1",
          { SIZED, .division = ATTEST_DIVISION_RUNNING },
          { SIZED, .division = ATTEST_DIVISION_THEN_CAST },
          1,
          "running mean" },
        { "variant=linear feature=silu",
          { SIZED, .sigmoid_error = 0x1p-20 },
          { SIZED, .sigmoid_error = 0x1p-20, .exp_error = 0x1p-22 },
          1,
          "sigmoid" },
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const attest_problem p = problem_of(cases[n].line);
        attest_declared no = { .numerics = cases[n].no }, yes = { .numerics = cases[n].yes };
        char why[256] = "";
        ck_assert_int_eq(attest_declared_resolve(&no, &p, cases[n].outputs, why, sizeof why), 0);
        ck_assert_msg(strstr(why, "unsupported declaration") && strstr(why, cases[n].why), "%s", why);
        ck_assert_msg(attest_declared_resolve(&yes, &p, cases[n].outputs, why, sizeof why), "%zu: %s", n, why);
    }
}
END_TEST

/* Never tighter: a better unit beside acc_unit changes nothing, a worse one counts for all sums. */
START_TEST(test_looser)
{
    const attest_problem p = problem_of("n=8"), silu = problem_of("variant=linear feature=silu");
    char why[256];
    attest_declared d = { .numerics = { SIZED, .score_unit = 0x1p-30, .value_unit = 0x1p-40, .acc_unit = 0x1p-24 } };
    ck_assert(attest_declared_resolve(&d, &p, 1, why, sizeof why) && d.numerics.acc_unit == 0x1p-24);
    d.numerics.acc_unit = 0;
    ck_assert(attest_declared_resolve(&d, &p, 1, why, sizeof why) && d.numerics.acc_unit == 0);
    d.numerics.value_unit = 0x1p-11;
    ck_assert(attest_declared_resolve(&d, &p, 1, why, sizeof why) && d.numerics.acc_unit == 0x1p-11);
    d = (attest_declared){ .numerics = { SIZED, .value_acc = 1 + ATTEST_BF16, .acc_unit = 0x1p-24 } };
    ck_assert(attest_declared_resolve(&d, &p, 1, why, sizeof why) && d.numerics.acc_unit == 0x1p-8);
    d = (attest_declared){ .numerics = { SIZED, .score_acc = 1 + ATTEST_F16 } }; /* the values' range stays acc's */
    ck_assert(attest_declared_resolve(&d, &p, 1, why, sizeof why) && d.numerics.acc_unit == 0x1p-11);
    ck_assert(d.numerics.value_acc == 1 + ATTEST_F32);
    d = (attest_declared){ .numerics = { SIZED, .score_acc = 1 + ATTEST_F16, .value_unit = 0x1p-11 } };
    ck_assert(attest_declared_resolve(&d, &p, 1, why, sizeof why) && !d.numerics.value_acc);
    d = (attest_declared){ .numerics = { SIZED, .score_acc = 1 + ATTEST_F32 } };
    ck_assert(attest_declared_resolve(&d, &p, 1, why, sizeof why) && d.numerics.acc_unit == 0);
    for (uint32_t division = 0; division <= ATTEST_DIVISION_RUNNING; division++) {
        d = (attest_declared){ .numerics = { SIZED, .division = division }, .flags = ATTEST_FTZ };
        ck_assert(attest_declared_resolve(&d, &p, 1, why, sizeof why) && d.numerics.division == division);
        d.flags |= ATTEST_SERIAL_SUMS; /* of weights that are not divided */
        ck_assert(attest_declared_resolve(&d, &p, 1, why, sizeof why));
        ck_assert_uint_eq(d.numerics.division, ATTEST_DIVISION_AFTER_SUM);
    }
    d = (attest_declared){ .numerics = { SIZED, .exp_error = 0x1p-22, .sigmoid_error = 0x1p-20 } };
    ck_assert(attest_declared_resolve(&d, &p, 1, why, sizeof why) && d.numerics.exp_error == 0x1p-22);
    ck_assert(attest_declared_resolve(&d, &silu, 1, why, sizeof why) && d.numerics.exp_error == 0x1p-20);
    d.numerics.exp_error = 0x1p-18;
    ck_assert(attest_declared_resolve(&d, &silu, 1, why, sizeof why) && d.numerics.exp_error == 0x1p-18);
}
END_TEST

/* R-ALIBI: only what the row's constant cancels in. */
START_TEST(test_alibi_by_key)
{
    static const struct {
        const char *line, *says; /* NULL: covered */
        uint32_t outputs, schedule;
    } rows[] = { { "alibi=draw mask=causal", NULL, ATTEST_GIVES_O | ATTEST_GIVES_LSE, ATTEST_SCHEDULE_ONLINE },
                 { "alibi=draw mask=causal-br cap=2", NULL, ATTEST_GIVES_O, 0 },
                 { "alibi=usual mask=causal", NULL, ATTEST_GIVES_O | ATTEST_GIVES_LSE, ATTEST_SCHEDULE_ONLINE },
                 { "alibi=usual mask=causal clamp=2", "a clamp", ATTEST_GIVES_O, 0 },
                 { "alibi=draw mask=causal clamp=2", "a clamp", ATTEST_GIVES_O, 0 },
                 { "alibi=draw mask=causal eps=1", "an eps", ATTEST_GIVES_O, 0 },
                 { "variant=softmax1 alibi=draw mask=causal", "another norm", ATTEST_GIVES_O, 0 },
                 { "alibi=draw mask=causal", "u and z", ATTEST_GIVES_O | ATTEST_GIVES_Z, 0 },
                 { "alibi=draw mask=causal", "u and z", ATTEST_GIVES_O | ATTEST_GIVES_U, 0 },
                 { "alibi=draw mask=causal", "maximum", ATTEST_GIVES_O, ATTEST_SCHEDULE_DIRECT },
                 { "alibi=draw clamp=2", NULL, ATTEST_GIVES_O, 0 }, /* nothing is shifted */
                 { "mask=causal clamp=2", NULL, ATTEST_GIVES_O, 0 },
                 { "variant=taylor:2 alibi=draw mask=causal clamp=2", NULL, ATTEST_GIVES_O, 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const attest_problem p = problem_of(rows[i].line);
        char why[256] = "";
        attest_declared d = { .numerics = { SIZED, .schedule = rows[i].schedule }, .flags = ATTEST_ALIBI_BY_KEY };
        const int covered = attest_declared_resolve(&d, &p, rows[i].outputs, why, sizeof why);
        ck_assert_msg(covered == !rows[i].says && (covered || strstr(why, rows[i].says)), "%s: %s", rows[i].line, why);
        d.flags = 0;
        ck_assert(attest_declared_resolve(&d, &p, rows[i].outputs, why, sizeof why));
    }
}
END_TEST

static int serves_all(const attest_call *call) { return call->problem != NULL; }

START_TEST(test_limits)
{
    static const struct {
        attest_limits limits;
        const char *line, *why;
    } cases[] = {
        { { .struct_size = sizeof(attest_limits), .n = { .multiple = 64 } }, "n=100", "n=100 is no multiple of 64" },
        { { .struct_size = sizeof(attest_limits), .n = { .multiple = 64 } }, "n=128", "" },
        { { .struct_size = sizeof(attest_limits), .d = { .most = 8 } }, "d=9", "d=9 is above the kernel's limit of 8" },
        { { .struct_size = sizeof(attest_limits), .d = { .most = 8 } }, "d=8", "" },
        { { .struct_size = sizeof(attest_limits), .m = { .least = 2 } }, "m=1", "m=1 is below the kernel's limit" },
        { { .struct_size = sizeof(attest_limits), .m = { .least = 2 } }, "m=2", "" },
        { { .struct_size = sizeof(attest_limits), .b = { .most = 1 } }, "b=2", "b=2" },
        { { .struct_size = sizeof(attest_limits), .hq = { .most = 1 } }, "hq=2", "hq=2" },
        { { .struct_size = sizeof(attest_limits), .hkv = { .most = 1 } }, "hq=4 hkv=2", "hkv=2" },
        { { .struct_size = sizeof(attest_limits), .e = { .multiple = 8 } }, "e=12", "e=12 is no multiple of 8" },
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const attest_kernel kernel = { .struct_size = sizeof kernel,
                                       .supports = serves_all,
                                       .limits = &cases[n].limits };
        const attest_problem p = problem_of(cases[n].line);
        char why[256] = "x";
        ck_assert_int_eq(attest_kernel_supports(attest_own(&kernel), &p, why, sizeof why), !cases[n].why[0]);
        ck_assert_msg(strstr(why, cases[n].why) == why, "%s", why);
        ck_assert(cases[n].why[0] || !why[0]);
    }
}
END_TEST

static int says_nothing(const attest_call *call) { return call->problem == NULL; }

static int names_an_axis(const attest_call *call)
{
    return attest_refuse_axis(call, attest_axis_unserved(call->problem, 0));
}

static int forgets_the_end(const attest_call *call)
{
    memset(call->why, 'x', call->why_size);
    return 0;
}

START_TEST(test_reasons)
{
    const attest_kernel silent = { .struct_size = sizeof silent, .supports = says_nothing };
    const attest_kernel endless = { .struct_size = sizeof endless, .supports = forgets_the_end };
    const attest_problem p = problem_of("n=8");
    char why[8] = "?";
    ck_assert_int_eq(attest_kernel_supports(attest_own(&endless), &p, why, sizeof why), 0);
    ck_assert_str_eq(why, "xxxxxxx");
    char text[64];
    ck_assert_int_eq(attest_kernel_supports(attest_own(&silent), &p, text, sizeof text), 0);
    ck_assert_str_eq(text, "supports() gave no reason");
}
END_TEST

/* The host words the axis that a kernel names, one that only a newer host knows too. */
START_TEST(test_named_axis)
{
    const attest_kernel kernel = { .struct_size = sizeof kernel, .supports = names_an_axis };
    attest_problem p = problem_of("n=8 feature=silu window=3");
    char why[64] = "";
    ck_assert_int_eq(attest_kernel_supports(attest_own(&kernel), &p, why, sizeof why), 0);
    ck_assert_str_eq(why, "feature=silu is not served");
    p.axis[ATTEST_AXIS_FEATURE].value = 0;
    ck_assert_int_eq(attest_kernel_supports(attest_own(&kernel), &p, why, sizeof why), 0);
    ck_assert_str_eq(why, "window=3 is not served");
    p.axis[ATTEST_AXIS_WINDOW].value = 0;
    p.axis[40].value = 1;
    ck_assert_int_eq(attest_kernel_supports(attest_own(&kernel), &p, why, sizeof why), 0);
    ck_assert_str_eq(why, "axis number 40 is not known to this version");
}
END_TEST

Suite *suite_declared(void)
{
    Suite *s = suite_create("declared");
    TCase *t = tcase_create("declared");
    tcase_add_test(t, test_built_in);
    tcase_add_test(t, test_uncovered);
    tcase_add_test(t, test_looser);
    tcase_add_test(t, test_alibi_by_key);
    tcase_add_test(t, test_limits);
    tcase_add_test(t, test_reasons);
    tcase_add_test(t, test_named_axis);
    suite_add_tcase(s, t);
    return s;
}
