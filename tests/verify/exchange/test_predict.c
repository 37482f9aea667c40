/* test_predict.c - predicted bits: what counts as the same; and, by predict.py, a CPU under another GPU's model in
 * place of a GPU. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "verify/exchange/predict_private.h"

Suite *suite_predict(void);

static attest_tensor tensor_of(uint32_t dtype, void *data, int64_t rows, int64_t columns)
{
    const attest_tensor t = {
        .data = data, .dtype = dtype, .rank = 2, .shape = { rows, columns, 1, 1 }, .stride = { columns, 1 }
    };
    return t;
}

START_TEST(test_same)
{
    float a[] = { 1, 0.0f, NAN, INFINITY, -0x1p-149f, 1 }, b[] = { 1, -0.0f, -NAN, INFINITY, 0x1p-149f, 0x1.000002p0f };
    static const int same[] = { 1, 0, 1, 1, 0, 0 };
    static const double steps[] = { 0, 0, 0, 0, 2, 1 }; /* of the NaN: not asked */
    const attest_tensor x = tensor_of(ATTEST_F32, a, 2, 3), y = tensor_of(ATTEST_F32, b, 2, 3);
    char index[16];
    for (int64_t at = 0; at < 6; at++) {
        ck_assert_int_eq(attest_predict_same(&x, &y, at), same[at]);
        if (at != 2)
            ck_assert_msg(attest_predict_steps(&x, &y, at) == steps[at], "%d: %g", (int)at,
                          attest_predict_steps(&x, &y, at));
    }
    attest_predict_index(index, sizeof index, &x, 4);
    ck_assert_str_eq(index, "1,1");
    ck_assert_uint_eq(attest_predict_bits(&y, 1), 0x80000000u);
}
END_TEST

START_TEST(test_narrow)
{
    uint16_t a[] = { 0x3f80, 0x8000, 0x7fff, 0x0001 }, b[] = { 0x3f7f, 0x0000, 0x7fc0, 0x8001 };
    const attest_tensor x = tensor_of(ATTEST_BF16, a, 1, 4), y = tensor_of(ATTEST_BF16, b, 1, 4);
    ck_assert(!attest_predict_same(&x, &y, 0) && attest_predict_steps(&x, &y, 0) == 1);
    ck_assert(!attest_predict_same(&x, &y, 1) && attest_predict_same(&x, &y, 2));
    ck_assert(attest_predict_steps(&x, &y, 3) == 2);
}
END_TEST

/* What the tensor cores change, beside values that are no numbers. */
START_TEST(test_measure)
{
    static const struct {
        float model[3], exact[3];
        int64_t changed;
        double steps, norm;
    } rows[] = {
        { { 3, 4, 0 }, { 3, 4, 0 }, 0, 0, 0 },
        { { 3, 4, 0 }, { 3, 4, 0.5f }, 1, 0x3f000000, 0.1 },
        { { 0, 0, 0 }, { 0, 0, 1 }, 1, 0x3f800000, INFINITY }, /* nothing to be relative to */
        { { NAN, INFINITY, 4 }, { -NAN, INFINITY, 4 }, 0, 0, 0 },
        { { NAN, INFINITY, 4 }, { NAN, INFINITY, 2 }, 1, 0x800000, 0.5 },
        { { FLT_MAX, 1, 1 }, { INFINITY, 1, 1 }, 1, 1, INFINITY },
        { { INFINITY, 1, 1 }, { -INFINITY, 1, 1 }, 1, 2.0 * 0x7f800000, INFINITY },
        { { 1, NAN, 1 }, { 1, 2, 1 }, 1, INFINITY, INFINITY },
        { { 1, 0, 1 }, { 1, INFINITY, NAN }, 2, INFINITY, INFINITY },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        float model[3], exact[3];
        memcpy(model, rows[i].model, sizeof model);
        memcpy(exact, rows[i].exact, sizeof exact);
        const attest_tensor x = tensor_of(ATTEST_F32, model, 1, 3), y = tensor_of(ATTEST_F32, exact, 1, 3);
        attest_hardware h = { .norm_error = 7 };
        attest_predict_measure(&h, &x, &y);
        ck_assert_msg(h.elements == 3 && h.changed == rows[i].changed && h.steps == rows[i].steps &&
                          h.norm == rows[i].norm && h.norm_error == 7,
                      "row %zu: changed %lld, steps %g, norm %g", i, (long long)h.changed, h.steps, h.norm);
    }
    double large[] = { 1e300, -1e300 }, other[] = { -1e300, -1e300 };
    const attest_tensor x = tensor_of(ATTEST_F64, large, 1, 2), y = tensor_of(ATTEST_F64, other, 1, 2);
    attest_hardware h;
    attest_predict_measure(&h, &x, &y);
    ck_assert_msg(fabs(h.norm - sqrt(2)) < 1e-12, "%g", h.norm);
}
END_TEST

START_TEST(test_predict_py)
{
    ck_assert_int_eq(system("python3 " ATTEST_TEST_ROOT "/tests/verify/exchange/predict.py " ATTEST_TEST_BUILD), 0);
}
END_TEST

Suite *suite_predict(void)
{
    Suite *s = suite_create("predict");
    TCase *bits = tcase_create("bits"), *whole = tcase_create("predict");
    tcase_add_test(bits, test_same);
    tcase_add_test(bits, test_narrow);
    tcase_add_test(bits, test_measure);
    tcase_set_timeout(whole, 600);
    tcase_add_test(whole, test_predict_py);
    suite_add_tcase(s, bits);
    suite_add_tcase(s, whole);
    return s;
}
