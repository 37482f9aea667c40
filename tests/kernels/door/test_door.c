/* test_door.c - programs as kernels: what a first line may say, which problems it serves; door.py has the programs. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/door/door_private.h"
#include "kernels/problem/problem.h"

Suite *suite_door(void);

START_TEST(test_hello)
{
    static const char line[] = "attest 1 name=mine version=2 outputs=o,lse flags=ftz schedule=online tile=16 "
                               "mask=causal,full weight=exp,taylor:2 cap=any in=f32,bf16 p=bf16 asks=yes";
    attest_door_hello hello;
    attest_error err;
    ck_assert_msg(attest_door_hello_parse(&hello, line, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_str_eq(hello.name, "mine");
    ck_assert_str_eq(hello.version, "2");
    ck_assert_uint_eq(hello.declared.outputs, ATTEST_GIVES_O | ATTEST_GIVES_LSE);
    ck_assert_uint_eq(hello.declared.flags, ATTEST_FTZ);
    ck_assert_int_eq(hello.declared.numerics.tile, 16);
    ck_assert_int_eq(hello.asks, 1);
    static const char *const bad[] = { "attest 10",         "attest",           "attest 1 fast",
                                       "attest 1 mask=odd", "attest 1 in=f31",  "attest 1 variants=odd",
                                       "attest 1 odd=1",    "attest 1 tile=-1", "attest 1 flags=fast" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(attest_door_hello_parse(&hello, bad[i], &err) == ATTEST_BAD_INPUT, "%s", bad[i]);
    ck_assert_int_eq(attest_door_hello_parse(&hello, "attest 1", &err), ATTEST_OK);
    ck_assert(attest_door_is("exec:x") && !attest_door_is("x.so") && !attest_door_is(NULL));
}
END_TEST

START_TEST(test_serves)
{
    static const struct {
        const char *hello, *line, *why; /* NULL: served */
    } rows[] = { { "", "n=3", NULL },
                 { "", "mask=causal", "mask=causal" },
                 { "mask=causal", "mask=causal", NULL },
                 { "mask=causal", "mask=full", "mask=full" },
                 { "mask=any", "mask=causal-br", NULL },
                 { "alibi=any", "alibi=draw", NULL },
                 { "alibi=any", "alibi=usual", "alibi=usual" }, /* not asked of programs that read slopes */
                 { "alibi=none,draw,usual", "alibi=usual", NULL },
                 { "weight=exp,taylor:2 norm=any", "variant=taylor:2", NULL },
                 { "weight=exp,taylor:2 norm=any", "variant=taylor:3", "weight=taylor:3" },
                 { "", "in=bf16", "in=bf16" },
                 { "in=f32,bf16", "in=bf16", NULL },
                 { "in=bf16", "in=bf16 p=bf16", "p=bf16" },
                 { "in=bf16 p=bf16,f32", "in=bf16 p=bf16", NULL },
                 { "", "out=f64", "out=f64" },
                 { "variants=taylor:2", "variant=taylor:2", NULL },
                 { "variants=taylor:2", "variant=softmax", "weight=exp" },
                 { "variants=softmax,linear-elu", "variant=linear-elu", NULL },
                 { "variants=linear-elu mask=any", "variant=linear-elu mask=causal", NULL },
                 { "variants=linear-elu", "variant=linear-elu mask=causal", "mask=causal" },
                 { "in=f64", "in=f64", NULL } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        attest_door_hello hello;
        attest_error err;
        attest_case c;
        char text[128], why[128] = "";
        snprintf(text, sizeof text, "attest 1 %s", rows[i].hello);
        ck_assert_msg(attest_door_hello_parse(&hello, text, &err) == ATTEST_OK, "%s: %s", text, err.text);
        ck_assert_msg(attest_case_parse(&c, rows[i].line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
        const int served = attest_door_hello_serves(&hello, &c.problem, why, sizeof why);
        ck_assert_msg(served == (rows[i].why == NULL), "%s: %s: %s", text, rows[i].line, why);
        ck_assert_msg(served || strstr(why, rows[i].why), "%s: %s: %s", text, rows[i].line, why);
    }
}
END_TEST

START_TEST(test_problem)
{
    attest_error err;
    attest_case c;
    char text[1024];
    ck_assert_int_eq(attest_case_parse(&c, "mask=causal cap=2.5 n=3 d=4 hq=2 scale=0.1 in=bf16", NULL, NULL, &err), 0);
    attest_door_problem(text, sizeof text, &c.problem);
    ck_assert_str_eq(text, "b=1 hq=2 hkv=2 n=3 m=3 d=4 e=4 chunk=64 splits=1 scale=0.1 in=bf16 acc=f32 p=f32 out=bf16 "
                           "mask=causal cap=2.5");
}
END_TEST

START_TEST(test_programs)
{
    const char *python = system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") == 0 ? "/usr/bin/python3" : "python3";
    char command[1024];
    ck_assert(snprintf(command, sizeof command,
                       "%s " ATTEST_TEST_ROOT "/tests/kernels/door/door.py " ATTEST_TEST_BUILD " " ATTEST_TEST_ROOT,
                       python) < (int)sizeof command);
    ck_assert_msg(system(command) == 0, "%s failed", command);
}
END_TEST

Suite *suite_door(void)
{
    Suite *s = suite_create("door");
    TCase *t = tcase_create("door");
    tcase_set_timeout(t, 600);
    tcase_add_test(t, test_hello);
    tcase_add_test(t, test_serves);
    tcase_add_test(t, test_problem);
    tcase_add_test(t, test_programs);
    suite_add_tcase(s, t);
    return s;
}
