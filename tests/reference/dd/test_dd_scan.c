/* test_dd_scan.c - what the dd engine's scans find on every path, and the powers of two that bounds are made of. */
#include <stdlib.h>

#include "tests/reference/ball/ball_case.h"
#include "tests/reference/dd/dd_paths.h"

Suite *suite_dd_scan(void);

static void check_slices(double first, double second, double grid, double x)
{
    must(first + second == x && __builtin_fabs(second) <= grid / 2 && first / grid == (double)(int64_t)(first / grid),
         "%a in slices of %a: %a + %a", x, grid, first, second);
}

START_TEST(exponents)
{
    static const struct {
        double x;
        int64_t k;
    } table[] = {
        { 0, -1075 },
        { -0.0, -1075 },
        { 0x1p-1074, -1074 },
        { 0x3p-1074, -1072 },
        { 0x1p-1022, -1022 },
        { 0x1.8p-1022, -1021 },
        { 0x0.8p-1022, -1023 },
        { 0x0.fp-1022, -1022 },
        { 1, 0 },
        { -1, 0 },
        { 0x1.0000000000001p0, 1 },
        { 3, 2 },
        { 4, 2 },
        { 0x1p1023, 1023 },
        { 0x1.fp1023, 1024 },
        { __builtin_inf(), 1024 },
    };
    for (size_t n = 0; n < sizeof table / sizeof table[0]; n++)
        must(dd_exponent(table[n].x) == table[n].k, "dd_exponent(%a) = %d", table[n].x, (int)dd_exponent(table[n].x));
    must(dd_power_of_two(-1075) == 0 && dd_power_of_two(1024) == __builtin_inf(), "outside");
    must(dd_power_of_two(-1074) == 0x1p-1074 && dd_power_of_two(1023) == 0x1p1023, "ends");
    for (int k = -1074; k <= 1023; k++) {
        const double x = dd_power_of_two(k);
        must(dd_exponent(x) == k && x / 2 * 2 == (k > -1074 ? x : 0) && (k == -1074 || x / 2 == dd_power_of_two(k - 1)),
             "2^%d", k);
        must(k < -1021 || (dd_exponent(x * (1 - 0x1p-53)) == k && dd_exponent(x * (1 + 0x1p-52)) == k + 1),
             "next to 2^%d", k);
    }
}
END_TEST

START_TEST(scans)
{
    int count;
    const dd_path *const *path = dd_paths_here(&count);
    uint64_t s = 50;
    for (int trial = 0; trial < 2000; trial++)
        for (int n = 0; n < count; n++) {
            double x[40], squares = 0.25, largest = 0.5, least = 0x1p100, sum = 0.25, most = 0.5, fewest = 0x1p100;
            const int size = 1 + (int)random_below(&s, 40), special = trial % 4 == 0 ? (int)random_below(&s, 40) : -1;
            for (int c = 0; c < size; c++) {
                x[c] = random_below(&s, 5) ? dd_float(&s, -149, 127) : 0;
                x[c] = c == special ? (trial % 8 ? __builtin_inf() : __builtin_nan("")) : x[c];
                const double a = __builtin_fabs(x[c]);
                sum += a * a;
                most = a > most ? a : most;
                fewest = a > 0 && a < fewest ? a : fewest;
            }
            const int good = path[n]->scan(&squares, &largest, &least, x, size);
            must(good == !(special >= 0 && special < size), "path %s: scan says %d", path[n]->name, good);
            must(!good || (largest == most && least == fewest && __builtin_fabs(squares - sum) <= sum * 0x1p-20),
                 "path %s: %d numbers: %a %a %a", path[n]->name, size, squares, largest, least);
            must(good || (squares == 0.25 && largest == 0.5 && least == 0x1p100), "path %s: kept", path[n]->name);
            if (special >= 0)
                continue;
            const int first = (int)random_below(&s, (uint32_t)size);
            double lowest, highest, low = x[first], high = x[first];
            for (int c = first; c < size; c++) {
                low = x[c] < low ? x[c] : low;
                high = x[c] > high ? x[c] : high;
            }
            path[n]->range(&lowest, &highest, x, first, size);
            must(lowest == low && highest == high, "path %s: range", path[n]->name);
        }
}
END_TEST

/* The same of 16 vectors side by side. */
START_TEST(surveys)
{
    int count;
    const dd_path *const *path = dd_paths_here(&count);
    uint64_t s = 51;
    for (int trial = 0; trial < 2000; trial++)
        for (int n = 0; n < count; n++) {
            double x[20 * DD_PANEL], squares[DD_PANEL], largest[DD_PANEL], least = 0x1p90, fewest = 0x1p90;
            const int groups = 1 + (int)random_below(&s, 20), numbers = groups * DD_PANEL;
            const int special = trial % 4 == 0 ? (int)random_below(&s, (uint32_t)numbers) : -1;
            double sum[DD_PANEL] = { 0 }, most[DD_PANEL];
            for (int lane = 0; lane < DD_PANEL; lane++)
                most[lane] = largest[lane] = dd_float(&s, -149, 127) * (lane % 2);
            for (int c = 0; c < numbers; c++) {
                x[c] = random_below(&s, 5) ? dd_float(&s, -149, 127) : 0;
                x[c] = c == special ? (trial % 8 ? __builtin_inf() : __builtin_nan("")) : x[c];
                const double a = __builtin_fabs(x[c]);
                sum[c % DD_PANEL] += a * a;
                most[c % DD_PANEL] = a > most[c % DD_PANEL] ? a : most[c % DD_PANEL];
                fewest = a > 0 && a < fewest ? a : fewest;
            }
            const int good = path[n]->survey(squares, largest, &least, x, groups);
            must(good == (special < 0), "path %s: survey says %d", path[n]->name, good);
            if (!good)
                continue;
            must(least == fewest, "path %s: least %a", path[n]->name, least);
            for (int lane = 0; lane < DD_PANEL; lane++)
                must(largest[lane] == most[lane] && __builtin_fabs(squares[lane] - sum[lane]) <= sum[lane] * 0x1p-20,
                     "path %s: lane %d: %a %a", path[n]->name, lane, squares[lane], largest[lane]);
        }
}
END_TEST

/* Slices lie on the grids that R-DD-SLICE declares, are at most half a grid off, and add up to what was packed. */
START_TEST(slices)
{
    ball_case x;
    attest_error err;
    int count;
    const dd_path *const *path = dd_paths_here(&count);
    ball_case_start(&x, "n=3 m=50 d=7 e=19 family=normal:300 seed=3", 1);
    for (int n = 0; n < count; n++) {
        const attest_problem *p = &x.c.problem;
        dd_job job = { .p = p,
                       .path = path[n],
                       .sliced = 1,
                       .panels = 4,
                       .columns = 2,
                       .f = { .fold = 1 },
                       .k = attest_bundle_role(x.bundle, ATTEST_K),
                       .v = attest_bundle_role(x.bundle, ATTEST_V) };
        dd_found found;
        ck_assert_int_eq(dd_head_init(&job.head, &job, &err), ATTEST_OK);
        double *scratch = calloc(dd_pack_scratch(&job), sizeof *scratch);
        dd_pack_start(&job, 0, 0);
        dd_pack_thread(&found, &job, scratch);
        for (int64_t panel = 0; panel < job.panels; panel++)
            dd_pack_panel(&job, panel, &found);
        dd_pack_merge(&job, &found);
        dd_pack_finish(&job);
        for (int64_t panel = 0; panel < job.panels; panel++)
            dd_pack_slice(&job, panel);
        const double grid = dd_power_of_two(job.head.key_exponent - 26);
        for (int64_t j = 0; j < p->m; j++) {
            for (int64_t c = 0; c < p->d; c++) {
                const int64_t at = (j / DD_PANEL * p->d + c) * DD_PANEL + j % DD_PANEL;
                check_slices(job.head.key[at], job.head.key2[at], grid, ball_case_get(&x, ATTEST_K, 0, 0, j, c));
            }
            for (int64_t c = 0; c < p->e; c++) {
                const int64_t at = (c / DD_PANEL * job.panels * DD_PANEL + j) * DD_PANEL + c % DD_PANEL;
                check_slices(job.head.value[at], job.head.value2[at], 0x1p-25 * job.head.power[c],
                             ball_case_get(&x, ATTEST_V, 0, 0, j, c));
            }
        }
        free(scratch);
        dd_head_clear(&job.head);
    }
    ball_case_stop(&x);
}
END_TEST

Suite *suite_dd_scan(void)
{
    Suite *suite = suite_create("dd_scan");
    TCase *tc = tcase_create("scan");
    tcase_add_test(tc, exponents);
    tcase_add_test(tc, scans);
    tcase_add_test(tc, surveys);
    tcase_add_test(tc, slices);
    suite_add_tcase(suite, tc);
    return suite;
}
