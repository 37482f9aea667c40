/* test_simulators.c - a part of the table of simulators: no error above its bound, none far below; and the tape. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/simulators/rows.h"

Suite *suite_simulators(void);

static const tape_unit f32 = { .u = 0x1p-24L, .eta = 0x1p-150L, .least = 0x1p-126L, .digits = 24, .gradual = 1 };

static tape_unit flushing(void)
{
    tape_unit unit = f32;
    unit.flush = 1;
    unit.gradual = 0;
    return unit;
}

/* Is |error - want| at most a thousandth of a rounding error of `scale`? */
static void must_be(long double error, long double want, long double scale)
{
    ck_assert_msg(fabsl(error - want) <= 1e-3L * 0x1p-24L * scale, "error %La, wanted %La", error, want);
}

START_TEST(the_tape_finds_the_worst_sum)
{
    tape t = { 0 };
    const num third = tape_given(&t, 1 / 3.0L);
    num sum = third;
    for (int k = 1; k < 4; k++)
        sum = tape_do(&t, &f32, TAPE_ADD, sum, third);
    must_be(tape_attack(&t, sum, 2), 0x1p-24L * (2 + 3 + 4) / 3, 1); /* each partial sum, rounded the same way */
    ck_assert(!t.failed);
    tape_free(&t);
}
END_TEST

START_TEST(signs_are_chosen_by_what_follows)
{
    tape t = { 0 };
    const num x = tape_given(&t, 1 / 3.0L), y = tape_given(&t, 1 / 7.0L);
    const num a = tape_do(&t, &f32, TAPE_MUL, x, x), b = tape_do(&t, &f32, TAPE_MUL, y, y);
    const num difference = tape_do(&t, NULL, TAPE_SUB, a, b);
    must_be(tape_attack(&t, difference, 2), 0x1p-24L * (1 / 9.0L + 1 / 49.0L), 1);
    must_be(tape_attack(&t, tape_do(&t, NULL, TAPE_DIV, a, a), 2), 0, 1); /* one rounding, above and below */
    tape_free(&t);
}
END_TEST

START_TEST(short_products_are_exact)
{
    tape t = { 0 };
    const num x = tape_given(&t, 5), y = tape_given(&t, 3 * 0x1p-90L), tenth = tape_given(&t, 0.1L);
    must_be(tape_attack(&t, tape_do(&t, &f32, TAPE_MUL, x, y), 2), 0, 0);
    must_be(tape_attack(&t, tape_do(&t, &f32, TAPE_MUL, x, tenth), 2), 0x1p-25L, 1);
    tape_free(&t);
}
END_TEST

START_TEST(small_results_underflow)
{
    const tape_unit flush = flushing();
    tape t = { 0 };
    const num x = tape_given(&t, 0x1.8p-70L), y = tape_given(&t, 0x1p-58L / 3), tiny = tape_given(&t, 0x1p-90L / 3);
    const num product = tape_do(&t, &f32, TAPE_MUL, x, y), flushed = tape_do(&t, &flush, TAPE_MUL, x, y);
    const num nothing = tape_do(&t, &f32, TAPE_MUL, tiny, tiny);
    const num sum = tape_do(&t, &f32, TAPE_ADD, tape_given(&t, 0x1p-130L), tape_given(&t, 0x1p-131L));
    must_be(tape_attack(&t, product, 2) * 0x1p126L, 0x1p-24L, 1);
    must_be(tape_attack(&t, flushed, 2) * 0x1p126L, tape_value(&t, flushed) * 0x1p126L, 1);
    must_be(tape_attack(&t, nothing, 2) * 0x1p180L, tape_value(&t, nothing) * 0x1p180L, 1); /* it is lost, not more */
    must_be(tape_attack(&t, sum, 2), 0, 0);
    tape_free(&t);
}
END_TEST

enum { SEEDS = 6 };

static sim_result run(const sim_row *row)
{
    sim_result result;
    char why[1200];
    ck_assert_msg(sim_run(&result, row, SEEDS, why, sizeof why), "%s, %s: %s", row->lemma, row->name, why);
    return result;
}

START_TEST(errors_stay_below_their_bounds_and_come_near)
{
    int rows = 0;
    for (const sim_section *const *section = sim_sections; *section; section++)
        for (size_t k = 0; k < (*section)->count; k++) {
            const sim_row *row = &(*section)->row[k];
            if (!row->quick)
                continue;
            const sim_result result = run(row);
            rows++;
            ck_assert_msg(result.worst <= 1, "%s, %s: ratio %g at %s", row->lemma, row->name, result.worst,
                          result.where);
            if (row->quick == 1)
                ck_assert_msg(result.worst >= 0.3, "%s, %s: the bound is loose, at most %g of it is reached",
                              row->lemma, row->name, result.worst);
        }
    ck_assert_int_ge(rows, 8);
}
END_TEST

START_TEST(worse_arithmetic_than_declared_is_seen)
{
    for (const sim_section *const *section = sim_sections; *section; section++)
        for (size_t k = 0; k < (*section)->count; k++) {
            sim_row row = (*section)->row[k];
            if (row.quick != 1)
                continue;
            row.options.worse = 4;
            const sim_result result = run(&row);
            ck_assert_msg(result.worst > 1, "%s, %s: errors of four times the roundings are %g of the bound", row.lemma,
                          row.name, result.worst);
        }
}
END_TEST

START_TEST(a_mark_has_a_reason_and_no_row_is_there_twice)
{
    for (const sim_section *const *section = sim_sections; *section; section++)
        for (size_t k = 0; k < (*section)->count; k++) {
            const sim_row *row = &(*section)->row[k];
            ck_assert(!row->known || (row->known[0] != '\0' && !row->quick));
            for (size_t other = 0; other < k; other++) {
                const sim_row *before = &(*section)->row[other];
                ck_assert_msg(strcmp(row->lemma, before->lemma) || strcmp(row->name, before->name) ||
                                  strcmp(row->declared, before->declared) || strcmp(row->output, before->output),
                              "%s, %s, %s is there twice", row->lemma, row->name, row->declared);
            }
        }
}
END_TEST

Suite *suite_simulators(void)
{
    Suite *s = suite_create("simulators");
    TCase *tape_case = tcase_create("tape"), *rows = tcase_create("rows");
    tcase_add_test(tape_case, the_tape_finds_the_worst_sum);
    tcase_add_test(tape_case, signs_are_chosen_by_what_follows);
    tcase_add_test(tape_case, short_products_are_exact);
    tcase_add_test(tape_case, small_results_underflow);
    tcase_set_timeout(rows, 60);
    tcase_add_test(rows, errors_stay_below_their_bounds_and_come_near);
    tcase_add_test(rows, worse_arithmetic_than_declared_is_seen);
    tcase_add_test(rows, a_mark_has_a_reason_and_no_row_is_there_twice);
    suite_add_tcase(s, tape_case);
    suite_add_tcase(s, rows);
    return s;
}
