/* test_fast_exp.c - kernels/fast/exp.h: one block of floats in every 256, the last blocks before 0, and the arguments
 * that stand in its header; make certify-functions asks all.
 */
#include "fast/exp.h"
#include "tests/certify/functions.h"

#include <check.h>

Suite *suite_fast_exp(void);

enum { STEP = 256 * CERTIFY_BLOCK };

START_TEST(test_errors)
{
    for (size_t n = 0; certify_function_number(n); n++) {
        const certify_function *f = certify_function_number(n);
        double most = 0;
        for (uint32_t first = 0xc2e00000u; first >= 0x80000000u + STEP; first -= STEP) {
            certify_errors e;
            certify_function_errors(&e, f, first, first);
            ck_assert_msg(e.wrong == 0 && e.relative <= f->declared && e.subnormal <= 1,
                          "%s %s: block %08x: %ld wrong, %a at %08x, %a subnormals at %08x", f->name, f->isa,
                          (unsigned)first, e.wrong, e.relative, (unsigned)e.at, e.subnormal, (unsigned)e.below_at);
            most = e.relative > most ? e.relative : most;
        }
        ck_assert_double_gt(most, 0x1p-24); /* the truth sees more than a rounding */
    }
}
END_TEST

START_TEST(test_ends)
{
    for (size_t n = 0; certify_function_number(n); n++) {
        const certify_function *f = certify_function_number(n);
        static const uint32_t first[] = { 0x80000000u, 0xff7ff000u, 0xff800000u, 0xfffff000u };
        for (size_t k = 0; k < sizeof first / sizeof first[0]; k++) {
            certify_errors e;
            certify_function_errors(&e, f, first[k], first[k]);
            ck_assert_msg(e.wrong == 0, "%s %s: block %08x", f->name, f->isa, (unsigned)first[k]);
        }
    }
}
END_TEST

/* The arguments and errors of the header. */
START_TEST(test_worst)
{
    for (size_t n = 0; certify_function_number(n); n++) {
        const certify_function *f = certify_function_number(n);
        const int fused = f->isa[0] == 'a';
        const float x = fused ? -0x1.abcacp+4f : -0x1.4c97p+2f;
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        const double error = certify_function_error_at(f, bits), most = fused ? 0x1.4af31fp-24 : 0x1.a3f469p-24;
        ck_assert_double_le(error, most);
        ck_assert_double_gt(error, most - 0x1p-46);
        ck_assert_double_le(most, f->declared);
    }
}
END_TEST

Suite *suite_fast_exp(void)
{
    Suite *suite = suite_create("fast_exp");
    TCase *all = tcase_create("exp");
    tcase_set_timeout(all, 600);
    tcase_add_test(all, test_errors);
    tcase_add_test(all, test_ends);
    tcase_add_test(all, test_worst);
    suite_add_tcase(suite, all);
    return suite;
}
