/* test_ex2.c - kernels/model/ex2.h, ex2_table.c: the documented interval on every kind of float, tables read and
 * refused, and the fit of a table to outputs of a made-up unit whose integers are known. */
#include "kernels/model/ex2_table.h"
#include "tests/kernels/base_random.h"
#include "tests/vectors/ex2_fit.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

Suite *suite_ex2(void);

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ---- documented ----------------------------------------------------------------------------------------------- */

static void is(float x, int ftz, float lo, float hi)
{
    const ex2_range range = ex2_approx(NULL, x, ftz);
    ck_assert_msg(bits_of(range.lo) == bits_of(lo) && bits_of(range.hi) == bits_of(hi),
                  "%a, ftz %d: [%a, %a] not [%a, %a]", (double)x, ftz, (double)range.lo, (double)range.hi, (double)lo,
                  (double)hi);
}

/* What the table of the documentation says, and the edges of the range. */
START_TEST(documented_by_hand)
{
    const float nan = ex2_float(0x7fffffffu);
    for (int ftz = 0; ftz < 2; ftz++) {
        is(NAN, ftz, nan, nan);
        is(-NAN, ftz, nan, nan);
        is(INFINITY, ftz, INFINITY, INFINITY);
        is(-INFINITY, ftz, 0, 0);
        is(0, ftz, 1, 1);
        is(-0.0f, ftz, 1, 1);
        is(1, ftz, 2 - 0x1p-21f, 2 + 0x1p-21f); /* 2 ulp of 2 */
        is(-1, ftz, 0.5f - 0x1p-23f, 0.5f + 0x1p-23f);
        is(128, ftz, 0x1.fffff8p127f, INFINITY);
        is(129, ftz, INFINITY, INFINITY);
        is(-200, ftz, 0, ftz ? 0 : 0x1p-148f); /* correctly rounded 0, 2 ulp */
        is(-1e30f, ftz, 0, ftz ? 0 : 0x1p-148f);
        is(-126, ftz, ftz ? 0 : 0x1.fffff8p-127f, 0x1.000004p-126f);
    }
    is(0x1p-140f, 1, 1, 1);
    is(-0x1p-140f, 1, 1, 1);
    is(0x1p-140f, 0, 1 - 0x1p-22f, 1 + 0x1p-22f);
    is(-127, 1, 0, 0);
    is(-127, 0, 0x1p-127f - 0x1p-148f, 0x1p-127f + 0x1p-148f);
    is(-149, 0, 0, 0x1.8p-148f);
}
END_TEST

/* The relation to 2^x computed in long double, over floats of all sizes. */
START_TEST(documented_holds_the_neighbours)
{
    uint64_t stream = 5;
    for (int n = 0; n < 400000; n++) {
        const uint32_t word = (uint32_t)random_word(&stream);
        const float x = n % 2 ? ex2_float(word) : (float)(int32_t)word * 0x1.2p-24f;
        const ex2_range wide = ex2_approx(NULL, x, 0), ftz = ex2_approx(NULL, x, 1);
        if (x != x)
            continue;
        const long double y = exp2l((long double)x);
        const float rounded = (float)y;
        ck_assert_msg(wide.lo <= rounded && rounded <= wide.hi && wide.lo >= 0, "%a", (double)x);
        ck_assert_msg(ftz.lo <= ftz.hi && (ftz.lo == 0 || ftz.lo >= 0x1p-126f || ftz.lo == 1), "%a", (double)x);
        ck_assert(ftz.hi == 0 || ftz.hi >= 0x1p-126f);
        if (rounded >= 0x1p-120f && rounded < 0x1p120f && fabsf(x) > 0x1p-30f) {
            int exponent;
            frexpf(rounded, &exponent);
            const double ulp = ldexp(1, exponent - 24);
            ck_assert((double)nextafterf(wide.hi, INFINITY) > (double)rounded + 2 * ulp);
            ck_assert((double)wide.lo == (double)rounded - 2 * ulp && (double)wide.hi <= (double)rounded + 2 * ulp);
            ck_assert(ftz.lo == wide.lo && ftz.hi == wide.hi);
        }
    }
}
END_TEST

/* ---- a made-up unit ------------------------------------------------------------------------------------------- */

/* In [0,1) of a segment 2^f = start (1 + rate x + ..): a quadratic with the cubic term's best one, x^3 ~ 1.5 x^2 -
 * 9/16 x + 1/32, rounded to integers; half of what the slope loses goes to the base. */
static void make_up(ex2_table *table)
{
    memset(table, 0, sizeof *table);
    memcpy(table->gpu, "made-up", 8);
    for (int s = 0; s < EX2_SEGMENTS; s++) {
        const double start = exp2((double)s / EX2_SEGMENTS), rate = log(2) / EX2_SEGMENTS;
        const double cubic = rate * rate * rate / 6, slope = start * (rate - cubic * 9 / 16) * 0x1p21;
        table->segment[s].slope = llround(slope);
        table->segment[s].bend = llround(start * (rate * rate / 2 + cubic * 1.5) * 0x1p23);
        const double lost = (slope - (double)table->segment[s].slope) * 0x1p35;
        table->segment[s].base = llround(start * (1 + cubic / 32) * 0x1p57 + lost) + (1ll << 33) + s * 12345;
    }
    table->hash = ex2_hash(table);
}

static uint32_t *outputs_of(const ex2_table *table)
{
    uint32_t *outputs = malloc(EX2_POINTS * sizeof *outputs);
    ck_assert_ptr_nonnull(outputs);
    for (uint32_t f = 0; f < EX2_POINTS; f++)
        outputs[f] = 127u << 23 | (ex2_significand(table, f) & 0x7fffff);
    return outputs;
}

static ex2_found found[EX2_SEGMENTS];

START_TEST(fit_finds_the_integers)
{
    ex2_table unit, fitted;
    int64_t where;
    make_up(&unit);
    uint32_t *outputs = outputs_of(&unit);
    memset(&fitted, 0, sizeof fitted);
    ck_assert_int_eq(ex2_fit(&fitted, found, outputs, &where), EX2_SEGMENTS);
    for (int s = 0; s < EX2_SEGMENTS; s++) {
        const ex2_segment *is_one = &fitted.segment[s], *was = &unit.segment[s];
        ck_assert_msg(is_one->slope == was->slope && is_one->bend == was->bend, "segment %d", s);
        ck_assert(found[s].least <= was->base && was->base <= found[s].most);
        ck_assert(is_one->base >= found[s].least && is_one->base <= found[s].most);
    }
    ck_assert(ex2_hash(&fitted) == unit.hash);
    free(outputs);
}
END_TEST

/* One output that is off by an ulp, a unit that squares exactly, outputs that are no significands. */
START_TEST(fit_says_where_not)
{
    ex2_table unit, fitted;
    int64_t where;
    make_up(&unit);
    uint32_t *outputs = outputs_of(&unit);
    outputs[7 * EX2_RUN + 1234]++;
    ck_assert_int_eq(ex2_fit(&fitted, found, outputs, &where), EX2_SEGMENTS - 1);
    ck_assert(found[7].least > found[7].most && found[7].wrong >= 1 && found[6].least <= found[6].most);
    for (int64_t r = 0; r < EX2_RUN; r++)
        outputs[r] = 127u << 23 |
                     ((uint32_t)((unit.segment[0].base + unit.segment[0].slope * r * ((int64_t)1 << EX2_COLUMN) +
                                  unit.segment[0].bend * r * r) >>
                                 34) &
                      0x7fffff);
    ck_assert_int_eq(ex2_fit(&fitted, found, outputs, &where), EX2_SEGMENTS - 2);
    ck_assert(found[0].wrong > 0 && found[0].first >= 0);
    outputs[99] = 0x40000000;
    ck_assert_int_eq(ex2_fit(&fitted, found, outputs, &where), -1);
    ck_assert_int_eq(where, 99);
    free(outputs);
}
END_TEST

START_TEST(a_table_speaks_where_it_was_measured)
{
    ex2_table unit;
    make_up(&unit);
    for (uint32_t f = 1; f < EX2_POINTS; f += 4099) {
        const float x = (float)f * 0x1p-23f, y = ex2_float(127u << 23 | (ex2_significand(&unit, f) & 0x7fffff));
        const ex2_range one = ex2_approx(&unit, x, 1), any = ex2_approx(NULL, x, 1);
        ck_assert(one.lo == y && one.hi == y && any.lo <= y && y <= any.hi);
    }
    ex2_range range = ex2_approx(&unit, 0x1.000002p-2f, 1); /* bits below 2^-23 */
    ck_assert(range.lo < range.hi);
    range = ex2_approx(&unit, -2.75f, 1);
    ck_assert(range.lo < range.hi);
    unit.shifts = 1;
    range = ex2_approx(&unit, -2.75f, 1);
    const float quarter = ex2_float(127u << 23 | (ex2_significand(&unit, 1u << 21) & 0x7fffff));
    ck_assert(range.lo == quarter / 8 && range.hi == range.lo);
    range = ex2_approx(&unit, -126.5f, 1);
    ck_assert(range.lo == 0 && range.hi == 0);
    range = ex2_approx(&unit, 127.5f, 1);
    ck_assert(range.lo == range.hi && isfinite(range.lo));
    range = ex2_approx(&unit, 0, 1);
    ck_assert(range.lo == 1 && range.hi == 1);
}
END_TEST

/* ---- files ---------------------------------------------------------------------------------------------------- */

/* A new file with this text; its path is the caller's to unlink and free. */
static char *file_of(const char *text)
{
    char *path = strdup("/tmp/attest-ex2-XXXXXX");
    const int fd = mkstemp(path);
    ck_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    return path;
}

static attest_status read_text(ex2_table *table, const char *text, attest_error *err)
{
    char *path = file_of(text);
    const attest_status status = ex2_table_read(table, path, err);
    unlink(path);
    free(path);
    return status;
}

/* Text with the first `old` replaced; the caller's to free. */
static char *with(const char *text, const char *old, const char *new)
{
    const char *at = strstr(text, old);
    const size_t size = strlen(text) + strlen(new) + 1;
    char *result = malloc(size);
    ck_assert_msg(at && result, "no '%s'", old);
    snprintf(result, size, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    return result;
}

START_TEST(tables_as_text)
{
    static const char *const wrong[][2] = {
        { "ex2-table 1", "ex2-table 2" },
        { "ex2-table 1", "ex2-table 1 " },
        { "gpu made-up", "gpu Made" },
        { "gpu made-up", "gpu " },
        { "gpu made-up", "gpu a-name-that-is-much-too-long-for-a-gpu" },
        { "shifts no", "shifts maybe" },
        { "hash ", "hash 0" },
        { "hash ", "hash g" },
        { "\n0 ", "\n1 " },
        { "\n5 ", "\n6 " },
        { "\n5 ", "\n4 " },
        { "\n0 ", "\n0  " },
        { "\n0 1", "\n0 -1" },
        { "\n0 1", "\n0 9" },
        { "\n0 1", "\n0 1e" },
        { "\n63 2", "\n63 9" },
        { "\n0 ", "\n" },
    };
    ex2_table unit, back;
    attest_error err;
    char text[8192], *path = file_of("");
    make_up(&unit);
    ck_assert_int_eq(ex2_table_write(&unit, path, &err), ATTEST_OK);
    ck_assert_msg(ex2_table_read(&back, path, &err) == ATTEST_OK, "%s", err.text);
    ck_assert(memcmp(&unit, &back, sizeof unit) == 0);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    const size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    for (size_t n = 0; n < sizeof wrong / sizeof wrong[0]; n++) {
        char *other = with(text, wrong[n][0], wrong[n][1]);
        ck_assert_msg(read_text(&back, other, &err) == ATTEST_BAD_INPUT, "'%s' is taken", wrong[n][1]);
        ck_assert(strstr(err.text, "/tmp/attest-ex2-") && back.hash == 0 && back.segment[3].base == 0);
        free(other);
    }
    /* one digit of one integer; a line too many; cut short */
    char *last = strrchr(text, ' ') + 1;
    *last = *last == '7' ? '8' : '7';
    ck_assert(read_text(&back, text, &err) == ATTEST_BAD_INPUT && strstr(err.text, "hash"));
    *last = '\0';
    ck_assert(read_text(&back, text, &err) == ATTEST_BAD_INPUT && strstr(err.text, "line 68"));
    ck_assert(ex2_table_write(&unit, path, &err) == ATTEST_OK);
    file = fopen(path, "a");
    fputs("64 1 1 1\n", file);
    fclose(file);
    ck_assert(ex2_table_read(&back, path, &err) == ATTEST_BAD_INPUT && strstr(err.text, "more than 68 lines"));
    unlink(path);
    ck_assert_int_ne(ex2_table_read(&back, path, &err), ATTEST_OK);
    free(path);
}
END_TEST

Suite *suite_ex2(void)
{
    Suite *suite = suite_create("ex2");
    TCase *all = tcase_create("ex2");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, documented_by_hand);
    tcase_add_test(all, documented_holds_the_neighbours);
    tcase_add_test(all, fit_finds_the_integers);
    tcase_add_test(all, fit_says_where_not);
    tcase_add_test(all, a_table_speaks_where_it_was_measured);
    tcase_add_test(all, tables_as_text);
    suite_add_tcase(suite, all);
    return suite;
}
