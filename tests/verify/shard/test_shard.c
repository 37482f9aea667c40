/* test_shard.c - which cases a shard has, and who says which shard it is. */
#include "verify/shard/shard.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *suite_shard(void);

#define MUST(call) ck_assert_msg((call) == ATTEST_OK, "%s", err.text)

static const char *const variables[] = { "GTEST_TOTAL_SHARDS",  "GTEST_SHARD_INDEX",    "SLURM_ARRAY_TASK_COUNT",
                                         "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP" };

START_TEST(who_asks)
{
    static const struct {
        const char *text, *values[6];
        int index, count; /* count -1: refused */
    } rows[] = {
        { "2/3", { "5", "1" }, 2, 3 },
        { "1/1", { NULL }, 1, 1 },
        { NULL, { NULL }, 0, 0 },
        { NULL, { "3", "0" }, 1, 3 },
        { NULL, { "3", "2", "7", "1", "1" }, 3, 3 },
        { NULL, { NULL, NULL, "4", "1", "0" }, 2, 4 },
        { NULL, { NULL, NULL, "4", "16", "10", "2" }, 4, 4 },
        { NULL, { "3" }, 0, 0 },
        { "0/3", { NULL }, 0, -1 },
        { "4/3", { NULL }, 0, -1 },
        { "2", { NULL }, 0, -1 },
        { "2/3x", { NULL }, 0, -1 },
        { "-1/3", { NULL }, 0, -1 },
        { "", { NULL }, 0, -1 },
        { NULL, { "3", "3" }, 0, -1 },
        { NULL, { "x", "0" }, 0, -1 },
        { NULL, { NULL, NULL, "4", "9", "0" }, 0, -1 },
        { NULL, { NULL, NULL, "4", "13", "10", "2" }, 0, -1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        attest_error err = { "" };
        attest_shard shard;
        for (size_t v = 0; v < 6; v++)
            (void)(rows[i].values[v] ? setenv(variables[v], rows[i].values[v], 1) : unsetenv(variables[v]));
        const attest_status status = attest_shard_read(&shard, rows[i].text, &err);
        ck_assert_msg(status == (rows[i].count < 0 ? ATTEST_BAD_INPUT : ATTEST_OK), "row %zu: %s", i, err.text);
        if (rows[i].count >= 0)
            ck_assert_msg(shard.index == rows[i].index && shard.count == rows[i].count, "row %zu: %d/%d", i,
                          (int)shard.index, (int)shard.count);
    }
}
END_TEST

/* Every case is in one shard, in its order; a case stays where it is when others come. */
START_TEST(every_case_once)
{
    enum { SHARDS = 5 };
    attest_error err = { "" };
    attest_suite whole = { 0 };
    const attest_plan plan = { .kernel_count = 0 };
    size_t seen = 0, at[SHARDS] = { 0 };
    attest_suite part[SHARDS];
    char *text;
    MUST(attest_suite_read(&whole, "smoke", &err));
    for (int i = 0; i < SHARDS; i++) {
        const attest_shard shard = { i + 1, SHARDS };
        MUST(attest_suite_read(&part[i], "smoke", &err));
        MUST(attest_shard_keep(&text, &part[i], &plan, &shard, 1, &err));
        ck_assert(part[i].case_count > whole.case_count / SHARDS / 3);
        char *third = strstr(text, "case ");
        ck_assert_ptr_nonnull(third);
        free(text);
        seen += part[i].case_count;
    }
    ck_assert_uint_eq(seen, whole.case_count);
    for (size_t c = 0; c < whole.case_count; c++) {
        int found = 0;
        for (int i = 0; i < SHARDS; i++)
            if (at[i] < part[i].case_count &&
                strcmp(attest_suite_line(&part[i], at[i]), attest_suite_line(&whole, c)) == 0) {
                at[i]++;
                found++;
                break;
            }
        ck_assert_msg(found == 1, "%s", attest_suite_line(&whole, c));
    }
    for (int i = 0; i < SHARDS; i++)
        attest_suite_clear(&part[i]);
    attest_suite_clear(&whole);
}
END_TEST

Suite *suite_shard(void)
{
    Suite *suite = suite_create("shard");
    TCase *tests = tcase_create("shard");
    tcase_add_test(tests, who_asks);
    tcase_add_test(tests, every_case_once);
    suite_add_tcase(suite, tests);
    return suite;
}
