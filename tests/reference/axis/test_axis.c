/* test_axis.c - the rows of reference/axis/: who serves which value, the lemmas they name, the predicate. */
#include <check.h>
#include <string.h>

#include "kernels/problem/variant.h"
#include "reference/axis/axis.h"
#include "reference/reference.h"

Suite *suite_axis(void);

/* Who serves each value, in the order of the enum: one letter a bit, from AXIS_BALL on. */
#define LETTERS "bewsftdy"

static const char *const served[ATTEST_AXIS_COUNT] = {
    [ATTEST_AXIS_WEIGHT] = "btdy bewsfdy bewsfd bewsfd",
    [ATTEST_AXIS_CENTER] = "bewsftdy bewfd bewfd bewfd",
    [ATTEST_AXIS_FILTER] = "bewsftdy be",
    [ATTEST_AXIS_FEATURE] = "bewsftdy bewsft bewsftd b b b b",
    [ATTEST_AXIS_ROPE] = "bewsftdy b",
    [ATTEST_AXIS_MASK] = "bewsftdy bewsftdy bewsftdy",
    [ATTEST_AXIS_WINDOW] = "bewsftdy bewtdy",
    [ATTEST_AXIS_LENS] = "bewsftdy bewsftdy",
    [ATTEST_AXIS_DECAY] = "bewsftdy besf besf besf",
    [ATTEST_AXIS_GATES] = "bewsftdy besf besf besf besf b",
    [ATTEST_AXIS_NORM] = "betdy bt be betd bed b b b b b b",
    [ATTEST_AXIS_AFFINE] = "bewsftdy b",
    [ATTEST_AXIS_UPDATE] = "bewsftdy besf b",
    [ATTEST_AXIS_EPS] = "bewsftdy betd",
    [ATTEST_AXIS_CLAMP] = "bewsftdy bed",
    [ATTEST_AXIS_CAP] = "bewsftdy b",
    [ATTEST_AXIS_ALIBI] = "bewsftdy be be",
    [ATTEST_AXIS_STATE] = "bewsftdy besf",
    [ATTEST_AXIS_BIAS] = "bewsftdy be be be be",
    [ATTEST_AXIS_ATTN_MASK] = "bewsftdy be be be be",
    [ATTEST_AXIS_PAGES] = "bewsftdy bewsftdy",
    [ATTEST_AXIS_LENS_Q] = "bewsftdy bewstdy bewstdy",
    [ATTEST_AXIS_PACKED] = "bewsftdy bewsftdy",
    [ATTEST_AXIS_KV] = "bewsftdy bewsftdy bewsftdy bewsft bewsft",
    [ATTEST_AXIS_DECAY_INPUT] = "bewsftdy b",
    [ATTEST_AXIS_DROPOUT] = "bewsftdy be",
};

/* Of a value; those that are written as a number have none. */
static const char *name_of(uint32_t axis, uint32_t value)
{
    const char *name = attest_axes[axis].values[value].name;
    return name ? name : "of a number";
}

START_TEST(every_value)
{
    for (uint32_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++) {
        const char *want = served[axis];
        for (uint32_t value = 0; value < attest_axes[axis].value_count; value++) {
            const uint32_t bits = axis_serves(axis, value);
            const size_t length = strcspn(want, " ");
            char letters[sizeof LETTERS] = "";
            for (size_t k = 0; LETTERS[k]; k++)
                if (bits >> k & 1u)
                    strncat(letters, &LETTERS[k], 1);
            ck_assert_msg(
                length == strlen(letters) && memcmp(want, letters, length) == 0,
                "%s, value %s: served by \"%s\" (letters: enum of axis.h), served[] of this test says \"%.*s\"",
                attest_axes[axis].key, name_of(axis, value), letters, (int)length, want);
            want += length + (want[length] == ' ');
        }
        ck_assert_msg(*want == '\0', "%s: served[] of this test has one value more: \"%s\"", attest_axes[axis].key,
                      want);
        ck_assert_uint_eq(axis_serves(axis, attest_axes[axis].value_count), 0);
    }
    ck_assert_uint_eq(axis_serves(ATTEST_AXIS_COUNT, 0), 0);
}
END_TEST

/* A row names a lemma of the document, and every value but a default has one, if it is more than a choice of keys. */
START_TEST(lemmas)
{
    static const uint32_t silent = 1u << ATTEST_AXIS_MASK | 1u << ATTEST_AXIS_WINDOW | 1u << ATTEST_AXIS_LENS |
                                   1u << ATTEST_AXIS_PAGES | 1u << ATTEST_AXIS_KV | 1u << ATTEST_AXIS_LENS_Q |
                                   1u << ATTEST_AXIS_PACKED;
    for (uint32_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++)
        for (uint32_t value = 0; value < attest_axes[axis].value_count; value++) {
            const char *name = axis_lemma(axis, value);
            const int exact = axis == ATTEST_AXIS_FEATURE && value == ATTEST_FEATURE_RELU;
            int found = 0;
            for (size_t k = 0; name && k < attest_lemma_count; k++)
                found |= strcmp(attest_lemmas[k].name, name) == 0;
            ck_assert_msg(!name || found, "%s, value %u: no lemma %s", attest_axes[axis].key, value, name);
            ck_assert_msg(name || value == 0 || exact || silent >> axis & 1u, "%s, value %u: no lemma",
                          attest_axes[axis].key, value);
        }
    ck_assert_ptr_null(axis_lemma(ATTEST_AXIS_FEATURE, 1000));
}
END_TEST

/* The first axis that is refused, in the order of the enum; axes that are not read are not looked at. */
START_TEST(predicate)
{
    attest_problem p = { .axis_count = ATTEST_AXIS_COUNT };
    uint32_t axis = 1000;
    ck_assert(axis_served(&p, AXIS_BALL | AXIS_TIE, 0, &axis));
    ck_assert_uint_eq(axis, 1000);
    ck_assert(!axis_served(&p, AXIS_EXACT, 0, &axis));
    ck_assert_uint_eq(axis, ATTEST_AXIS_WEIGHT);
    p.axis[ATTEST_AXIS_WEIGHT].value = ATTEST_WEIGHT_POWER;
    p.axis[ATTEST_AXIS_NORM].value = ATTEST_NORM_L2;
    p.axis[ATTEST_AXIS_CAP].value = ATTEST_CAP_SET;
    ck_assert(!axis_served(&p, AXIS_EXACT, 0, &axis));
    ck_assert_uint_eq(axis, ATTEST_AXIS_NORM);
    ck_assert(!axis_served(&p, AXIS_EXACT, 1u << ATTEST_AXIS_NORM, &axis));
    ck_assert_uint_eq(axis, ATTEST_AXIS_CAP);
    ck_assert(axis_served(&p, AXIS_EXACT, 1u << ATTEST_AXIS_NORM | 1u << ATTEST_AXIS_CAP, NULL));
    ck_assert(axis_served(&p, AXIS_BALL, 0, NULL));
    p.axis[ATTEST_AXIS_CAP].value = 7;
    ck_assert(!axis_served(&p, AXIS_BALL, 0, NULL));
}
END_TEST

/* A feature's three exact functions say the same of a number: on its grid, as an integer, as a word. */
START_TEST(exact_features)
{
    static const double x[] = { 0, 1, -1, 0.375, -0.375, 12, 0x1p-9, -0x1.8p7 };
    for (uint32_t value = 0; value < attest_axes[ATTEST_AXIS_FEATURE].value_count; value++) {
        const axis_feature *f = axis_feature_row(value);
        for (size_t k = 0; f->exact && k < sizeof x / sizeof x[0]; k++) {
            exact_span s;
            mpz_t integer;
            arb_t ball, number;
            const attest_problem p = { .d = 1 };
            exact_span_start(&s);
            exact_span_see(&s, x[k]);
            if (!axis_feature_span(&s, f))
                continue; /* elu1 below 0 */
            mpz_init(integer);
            arb_init(ball);
            arb_init(number);
            axis_feature_integer(integer, x[k], f, s.low);
            ck_assert_int_eq(mpz_get_si(integer), f->exact->word(exact_word(x[k], s.low), s.low));
            arb_set_d(number, x[k]);
            f->ball(ball, number, &p, 0, 128);
            fmpz_t whole;
            fmpz_init(whole);
            fmpz_set_mpz(whole, integer);
            arb_set_fmpz(number, whole);
            arb_mul_2exp_si(number, number, s.low);
            ck_assert_msg(arb_equal(ball, number), "feature %u of %g", value, x[k]);
            fmpz_clear(whole);
            arb_clear(number);
            arb_clear(ball);
            mpz_clear(integer);
        }
    }
}
END_TEST

Suite *suite_axis(void)
{
    Suite *s = suite_create("axis");
    TCase *t = tcase_create("rows");
    tcase_add_test(t, every_value);
    tcase_add_test(t, lemmas);
    tcase_add_test(t, predicate);
    tcase_add_test(t, exact_features);
    suite_add_tcase(s, t);
    return s;
}
