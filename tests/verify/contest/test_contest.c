/* test_contest.c - `attest judge` refuses every cheat of cheats/, no honest kernel, and tells nothing of its cases. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/contest/contest.h"

Suite *suite_contest(void);

#define SUITE ATTEST_TEST_ROOT "/tests/verify/contest/cheats/cheats.suite"
#define CHEATS ATTEST_TEST_BUILD "/plugins/cheats.so"
#define JUDGE "exec " ATTEST_TEST_BUILD "/attest judge "
#define SEED "7142857000001"

/* What a command prints; the exit code. */
static int said(char *text, size_t len, const char *command)
{
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    const size_t n = fread(text, 1, len - 1, pipe);
    text[n] = '\0';
    return pclose(pipe) / 256;
}

static char text[1 << 17];

static const char *field(const json_t *judgement, const char *name)
{
    const char *value = json_string_value(json_object_get(judgement, name));
    return value ? value : "";
}

/* One line of the output: what is told, and the verdict that the name asks for. */
static int check_line(const char *line)
{
    json_error_t error;
    json_t *judgement = json_loads(line, 0, &error);
    ck_assert_msg(judgement != NULL, "%s: %s", error.text, line);
    const char *kernel = strrchr(field(judgement, "kernel"), ':');
    ck_assert_ptr_nonnull(kernel);
    const int honest = strncmp(kernel, ":honest", 7) == 0;
    const double score = json_number_value(json_object_get(judgement, "score"));
    ck_assert_msg(strcmp(field(judgement, "verdict"), honest ? "pass" : "fail") == 0, "%s", line);
    ck_assert_msg(honest ? score > 0 : score == 0, "%s", line);
    ck_assert_msg((json_object_size(json_object_get(judgement, "reasons")) == 0) == honest, "%s", line);
    ck_assert_msg(!strstr(line, "variant") && !strstr(line, "n=") && !strstr(line, SEED), "%s", line);
    json_decref(judgement);
    return honest;
}

START_TEST(cheats_are_refused)
{
    int cheats = 0, honest = 0;
    ck_assert_int_eq(
        said(text, sizeof text, JUDGE CHEATS " --suite " SUITE " --seed " SEED " --fail-fast --format json"), 1);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (check_line(line))
            honest++;
        else
            cheats++;
    ck_assert_int_ge(cheats, 25);
    ck_assert_int_ge(honest, 4);
}
END_TEST

static const struct {
    const char *kernel, *reason;
} expected[] = { { "hard-coded-refusal", "sizes" }, { "bf16-sums-declared", "imprecise" }, { "patched-timer", "clock" },
                 { "late-process", "processes" },   { "scribbled-inputs", "wrote-input" }, { "exit-zero", "crash" } };

/* Each check that only the judge has, by the cheat that only it finds. */
START_TEST(each_check_finds)
{
    char command[1024];
    json_error_t error;
    snprintf(command, sizeof command,
             JUDGE CHEATS " --kernel %s --suite " SUITE " --seed " SEED " --fail-fast --format json",
             expected[_i].kernel);
    ck_assert_int_eq(said(text, sizeof text, command), 1);
    json_t *judgement = json_loads(text, 0, &error);
    ck_assert_msg(judgement && json_object_get(json_object_get(judgement, "reasons"), expected[_i].reason), "%s", text);
    json_decref(judgement);
}
END_TEST

/* Without a sandbox a kernel sees all processes; the seed is in the command line of none. */
START_TEST(seed_is_wiped)
{
    static const char *const ways[] = { " --sandbox=off --seed=" SEED, " --seed " SEED " --sandbox=off" };
    char command[1024];
    snprintf(command, sizeof command, JUDGE CHEATS " --kernel honest-seeker --fail-fast --suite " SUITE "%s", ways[_i]);
    ck_assert_msg(said(text, sizeof text, command) == 0, "%s", text);
}
END_TEST

START_TEST(seeds)
{
    attest_error err;
    uint64_t a, b;
    char x[20], y[20], z[20];
    unsigned char hash[32];
    ck_assert_int_eq(attest_contest_seed(&a, -1, &err), ATTEST_OK);
    ck_assert_int_eq(attest_contest_seed(&b, -1, &err), ATTEST_OK);
    ck_assert(a != b && a >> 63 == 0);
    ck_assert_int_eq(attest_contest_seed(&b, 7, &err), ATTEST_OK);
    ck_assert_uint_eq(b, 7);
    attest_contest_digest(x, 7);
    attest_contest_digest(y, 7);
    attest_contest_digest(z, 8);
    ck_assert_str_eq(x, y);
    ck_assert_str_ne(x, z);
    ck_assert_uint_eq(strlen(x), 16);
    attest_sha256(hash, "abc", 3); /* FIPS 180-4, examples */
    ck_assert(hash[0] == 0xba && hash[1] == 0x78 && hash[30] == 0x15 && hash[31] == 0xad);
    attest_sha256(hash, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
    ck_assert(hash[0] == 0x24 && hash[1] == 0x8d && hash[30] == 0x06 && hash[31] == 0xc1);
}
END_TEST

static const struct {
    const char *arguments;
    int code;
} usage[] = { { "nowhere.so", 2 },
              { CHEATS " --kernel nobody", 2 },
              { CHEATS " --kernel honest --baseline nobody", 2 },
              { CHEATS " --format xml", 2 },
              { "softmax-online-bf16 --suite " SUITE, 77 },
              { "", 2 } };

START_TEST(bad_requests)
{
    char command[1024];
    snprintf(command, sizeof command, JUDGE "%s 2>&1 >/dev/null", usage[_i].arguments);
    ck_assert_int_eq(said(text, sizeof text, command), usage[_i].code);
    ck_assert_msg((strchr(text, '\n') == NULL) == (usage[_i].code == 77), "%s", text);
    ck_assert_msg(!strchr(text, '\n') || strchr(text, '\n')[1] == '\0', "%s", text);
}
END_TEST

Suite *suite_contest(void)
{
    Suite *suite = suite_create("contest");
    TCase *tc = tcase_create("contest");
    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, cheats_are_refused);
    tcase_add_loop_test(tc, each_check_finds, 0, sizeof expected / sizeof expected[0]);
    tcase_add_loop_test(tc, seed_is_wiped, 0, 2);
    tcase_add_test(tc, seeds);
    tcase_add_loop_test(tc, bad_requests, 0, sizeof usage / sizeof usage[0]);
    suite_add_tcase(suite, tc);
    return suite;
}
