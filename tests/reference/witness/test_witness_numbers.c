/* test_witness_numbers.c - the witness's error rules on random operands, and what it refuses or leaves open. */
#include <check.h>
#include <stdlib.h>

#include "kernels/attest_float.h"
#include "props/draw/draw.h"
#include "tests/reference/witness/witness_lines.h"
#include "tests/reference/witness/witness_meets.h"

Suite *suite_witness_numbers(void);

typedef void (*binary)(wit *, const wit *, const wit *);
static void exp_of(wit *r, const wit *x, const wit *y)
{
    (void)y;
    wit_exp(r, x);
}
static void sqrt_of(wit *r, const wit *x, const wit *y)
{
    (void)y;
    wit_sqrt(r, x);
}
static void tanh_of(wit *r, const wit *x, const wit *y)
{
    (void)y;
    wit_tanh(r, x);
}
static void log_of(wit *r, const wit *x, const wit *y)
{
    (void)y;
    wit_log(r, x);
}
static void cos_of(wit *r, const wit *x, const wit *y)
{
    (void)y;
    wit_cos(r, x);
}
static void sin_of(wit *r, const wit *x, const wit *y)
{
    (void)y;
    wit_sin(r, x);
}
static void expm1_of(wit *r, const wit *x, const wit *y)
{
    (void)y;
    wit_expm1(r, x);
}

static void pow_of(wit *r, const wit *x, const wit *y)
{
    wit base;
    (void)y;
    wit_init(&base, 60);
    wit_set_double(&base, 0.125 + 0x1p-40);
    wit_pow(r, &base, x);
    wit_clear(&base);
}

/* Operands known to 2^-20..2^-50; the operation on any real numbers inside must stay inside the result. */
START_TEST(number_rules_hold)
{
    static const struct {
        binary apply;
        int steep;
    } operation[] = {
        /* steep: an error may grow beyond all limits */
        { wit_add, 0 }, { wit_sub, 0 }, { wit_mul, 0 }, { wit_div, 1 }, { exp_of, 0 }, { log_of, 1 },   { wit_max, 0 },
        { wit_min, 0 }, { tanh_of, 0 }, { sqrt_of, 1 }, { cos_of, 0 },  { sin_of, 0 }, { expm1_of, 0 }, { pow_of, 0 },
    };
    wit x, y, r, exact_x, exact_y, exact;
    wit *const low[] = { &x, &y, &r }, *const high[] = { &exact_x, &exact_y, &exact };
    for (int n = 0; n < 3; n++) {
        wit_init(low[n], 60);
        wit_init(high[n], 400);
    }
    uint64_t r_state = 7, *seed = &r_state;
    for (int n = 0; n < 1600 * COUNT(operation); n++) {
        wit *const both[2][2] = { { &x, &exact_x }, { &y, &exact_y } };
        for (int k = 0; k < 2; k++) { /* real = value + t error, t in {-1, ..., 1}: the ends most of the time */
            const double at = (double)(int64_t)random_word(seed) * 0x1p-61;
            const double error = attest_bits_f64((uint64_t)(1003 - pick(seed, 30)) << 52);
            const double t = pick(seed, 4) ? (pick(seed, 2) ? 1.0 : -1.0) : (double)(pick(seed, 2001) - 1000) / 1024;
            wit_set_double(both[k][0], at);
            mpfr_set_d(both[k][0]->e, error, MPFR_RNDU);
            wit_set_double(both[k][1], t * error);
            mpfr_add_d(both[k][1]->v, both[k][1]->v, at, MPFR_RNDN);
        }
        const int at = n % COUNT(operation);
        operation[at].apply(&r, &x, &y);
        operation[at].apply(&exact, &exact_x, &exact_y);
        if (!mpfr_number_p(r.v))
            continue;
        ck_assert_msg(meets_number(r.v, r.e, exact.v, exact.e), "operation %d, case %d", at, n);
        ck_assert_msg(operation[at].steep || mpfr_cmp_d(r.e, 0x1p10) < 0, "operation %d: error too large", at);
    }
    for (int n = 0; n < 3; n++) {
        wit_clear(low[n]);
        wit_clear(high[n]);
    }
}
END_TEST

START_TEST(number_edges)
{
    wit x, y;
    wit_init(&x, 60);
    wit_init(&y, 60);
    wit_set_double(&x, attest_bits_f64(0x7ffull << 52));
    ck_assert(mpfr_nan_p(x.v) && mpfr_inf_p(x.e));
    wit_set_double(&y, 0);
    wit_mul(&x, &x, &y);
    ck_assert(mpfr_nan_p(x.v) && mpfr_inf_p(x.e));
    wit_set_ui(&x, 1);
    wit_div(&x, &x, &y);
    ck_assert(mpfr_nan_p(x.v) && mpfr_inf_p(x.e));
    wit_set_double(&x, -1e300); /* e^x underflows: the error must still reach the truth */
    wit_exp(&x, &x);
    ck_assert(mpfr_zero_p(x.v) && mpfr_cmp_ui(x.e, 0) > 0);
    wit_set_double(&x, 1e300);
    wit_exp(&x, &x);
    ck_assert(mpfr_nan_p(x.v) && mpfr_inf_p(x.e));
    wit_set_double(&x, 0);
    wit_exp(&x, &x);
    ck_assert(mpfr_cmp_ui(x.v, 1) == 0 && mpfr_zero_p(x.e));
    wit_log(&x, &x);
    ck_assert(mpfr_zero_p(x.v) && mpfr_zero_p(x.e));
    wit_log(&x, &x);
    ck_assert(mpfr_nan_p(x.v) && mpfr_inf_p(x.e));
    wit_set_double(&x, -1);
    wit_pow(&x, &x, &y); /* only a positive base has every power */
    ck_assert(mpfr_nan_p(x.v) && mpfr_inf_p(x.e));
    wit_set_ui(&x, 3);
    mpfr_set_d(x.e, 0x1p-30, MPFR_RNDU);
    wit_pow(&x, &x, &y); /* only an exact base has an error rule */
    ck_assert(mpfr_nan_p(x.v) && mpfr_inf_p(x.e));
    wit_set_pi(&x);
    ck_assert(mpfr_cmp_d(x.v, 3.14159265) > 0 && mpfr_cmp_d(x.e, 0x1p-58) < 0 && mpfr_cmp_d(x.e, 0) > 0);
    wit_clear(&x);
    wit_clear(&y);
    mpfr_free_cache();
}
END_TEST

/* ---- what it refuses, what it leaves open ------------------------------------------------------------------------ */
static attest_bundle *drawn(attest_case *c, const char *line, attest_error *err)
{
    attest_bundle *bundle = NULL;
    ck_assert_msg(attest_case_parse(c, line, NULL, NULL, err) == ATTEST_OK, "%s: %s", line, err->text);
    ck_assert_int_eq(attest_bundle_new(&bundle, err), ATTEST_OK);
    ck_assert_int_eq(attest_draw_missing(bundle, c, 0, 0, err), ATTEST_OK);
    return bundle;
}

static attest_status witness_of(const char *line, ref_witness *w, mpfr_prec_t bits, uint64_t q_bits, attest_error *err)
{
    attest_case c;
    attest_bundle *bundle = drawn(&c, line, err);
    if (q_bits)
        attest_store_bits(attest_bundle_role(bundle, ATTEST_Q), 0, q_bits);
    const attest_status status = ref_witness_row(w, &c.problem, bundle, (attest_row){ 0, 0, 0 }, bits, err);
    mpfr_t v, x;
    mpfr_inits2(BITS, v, x, (mpfr_ptr)0);
    ck_assert_int_eq(ref_witness_state(&v, &x, &c.problem, bundle, 0, 0, 9, 1, BITS, &(attest_error){ "" }),
                     ATTEST_BAD_INPUT);
    mpfr_clears(v, x, (mpfr_ptr)0);
    attest_bundle_free(bundle);
    return status;
}

START_TEST(refusals_and_flags)
{
    char why[128];
    attest_error err;
    ref_witness w;
    ref_witness_init(&w);
    for (uint32_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++) { /* a value that no axis has */
        attest_problem p = { .struct_size = sizeof p, .axis_count = ATTEST_AXIS_COUNT };
        p.axis[axis].value = 31;
        ck_assert_int_eq(ref_witness_serves(&p, why, sizeof why), 0);
        ck_assert_msg(strstr(why, attest_axes[axis].key) != NULL, "%s: %s", attest_axes[axis].key, why);
    }
    ck_assert_int_eq(witness_of("variant=softmax n=2 d=1", &w, 40, 0, &err), ATTEST_BAD_INPUT);
    ck_assert_int_eq(witness_of("variant=softmax n=2 d=1", &w, BITS, 0x7f800000, &err), ATTEST_OK);
    ck_assert(w.no_truth && !w.illposed);
    ck_assert_int_eq(witness_of("variant=linear-relu n=2 d=1", &w, BITS, 0xbf800000, &err), ATTEST_OK);
    ck_assert(!w.no_truth && w.illposed && w.lse_absent);
    ck_assert_int_eq(witness_of("variant=linear n=2 d=1", &w, BITS, 0x3f800000, &err), ATTEST_OK);
    ck_assert(!w.no_truth && !w.illposed && w.lse_absent);
    ck_assert_int_eq(witness_of("variant=softmax n=3 m=1 d=1 mask=causal-br", &w, BITS, 0, &err), ATTEST_OK);
    ck_assert(w.empty && mpfr_zero_p(w.z) && mpfr_inf_p(w.lse));
    ref_witness_clear(&w);
    mpfr_free_cache();
}
END_TEST

/* Two keys, scores exactly TAU apart.  With dyadic scores that is decided: the key is dropped.  With scores 1 and 0
 * from unit vectors it is not: the row is then not known, which is no statement about the inputs. */
START_TEST(filter_at_the_threshold)
{
    static const float q[] = { 1, 1 }, k[] = { 1, 1, 1, -1 };
    static const struct {
        const char *line;
        int known;
        double z;
    } cases[] = {
        { "variant=filtered:2 n=1 m=2 d=2 scale=1", 1, 1.0 },    /* scores 2, 0 */
        { "variant=filtered:2.25 n=1 m=2 d=2 scale=1", 1, 0.0 }, /* 1 + (1 - 2) */
        { "variant=filtered:1 feature=unit n=1 m=2 d=2 scale=1", 0, 0.0 },
    };
    for (int n = 0; n < COUNT(cases); n++) {
        attest_case c;
        attest_error err;
        ref_witness w;
        attest_bundle *bundle = drawn(&c, cases[n].line, &err);
        memcpy(attest_bundle_role(bundle, ATTEST_Q)->data, q, sizeof q);
        memcpy(attest_bundle_role(bundle, ATTEST_K)->data, k, sizeof k);
        ref_witness_init(&w);
        ck_assert_int_eq(ref_witness_row(&w, &c.problem, bundle, (attest_row){ 0, 0, 0 }, BITS, &err), ATTEST_OK);
        ck_assert(!w.no_truth && !w.empty && mpfr_number_p(w.z) == cases[n].known);
        ck_assert(mpfr_number_p(w.u[0]) == cases[n].known && mpfr_inf_p(w.z_error) == !cases[n].known);
        ck_assert_msg(!cases[n].known || mpfr_cmp_d(w.z, cases[n].z) == 0, "%s", cases[n].line);
        ref_witness_clear(&w);
        attest_bundle_free(bundle);
    }
    mpfr_free_cache();
}
END_TEST

/* Ball and witness serve the same values, and tests/mutations/axes.txt lists them. A value that is a
 * number counts as `set`, a window as `W`. */
START_TEST(served_values)
{
    char listed[2048] = " ", why[128];
    FILE *list = fopen(ATTEST_TEST_ROOT "/tests/mutations/axes.txt", "r");
    ck_assert_ptr_nonnull(list);
    const size_t length = fread(listed + 1, 1, sizeof listed - 3, list);
    fclose(list);
    ck_assert_uint_lt(length, sizeof listed - 3);
    for (char *c = listed; c < listed + length + 2; c++)
        *c = *c == '\n' || *c == '\0' ? ' ' : *c;
    for (uint32_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++)
        for (uint32_t v = 0; v < attest_axes[axis].value_count; v++) {
            const attest_axis_value *value = &attest_axes[axis].values[v];
            attest_problem p = { .struct_size = sizeof p, .axis_count = ATTEST_AXIS_COUNT };
            char text[64];
            p.axis[axis].value = value->value;
            snprintf(text, sizeof text, " %s=%s ", attest_axes[axis].key,
                     value->name                              ? value->name
                     : value->argument == ATTEST_ARG_BARE_INT ? "W"
                                                              : "set");
            const int ball = ref_ball_serves(&p, why, sizeof why), witness = ref_witness_serves(&p, why, sizeof why);
            ck_assert_msg(ball == witness, "%s: ball %d, witness %d", text, ball, witness);
            ck_assert_msg(ball == (strstr(listed, text) != NULL), "%s: served %d", text, ball);
        }
}
END_TEST

Suite *suite_witness_numbers(void)
{
    Suite *suite = suite_create("witness_numbers");
    TCase *numbers = tcase_create("numbers");
    tcase_set_timeout(numbers, 30);
    tcase_add_test(numbers, number_rules_hold);
    tcase_add_test(numbers, number_edges);
    tcase_add_test(numbers, refusals_and_flags);
    tcase_add_test(numbers, filter_at_the_threshold);
    tcase_add_test(numbers, served_values);
    suite_add_tcase(suite, numbers);
    return suite;
}
