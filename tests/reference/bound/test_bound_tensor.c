/* test_bound_tensor.c - lemma R-TENSOR beyond its factor 6: what sums that truncate lose beside subnormal factors. */
#include "reference/bound/bound_row.h"
#include "tests/reference/bound/bound_row.h"

Suite *suite_bound_tensor(void);

#define KNOWN .schedule = ATTEST_SCHEDULE_TWO_PASS, .log2_domain = ATTEST_NO, .scale_dtype = 1
#define HALF " n=1 m=3 d=2 e=1 scale=0.5"

/* R-TENSOR: a step that adds a product with a subnormal number loses 17 2^-23 2^emin of the other one; twice. */
START_TEST(operands_of_truncating_sums)
{
    static const attest_numerics n = { KNOWN, .acc_truncates = ATTEST_YES, .division = ATTEST_DIVISION_AFTER_SUM };
    const double lost = 34 * 0x1p-37, s = both(gamma_of(2, 6 * U), 2 * U);
    row_case r;
    row_start(&r, "in=f16 p=f16" HALF, &n, 0, 1);
    for (int j = 0; j < 3; j++)
        is("f16", "delta", r.w.delta + j,
           s * mass[j] + 4 * ETA * (2 * 2 * 1.5 + 2 + 4 + k_sum[j]) + lost * 1.5 * (4 + k_sum[j] + 2));
    is("f16", "value_tiny", r.w.value_tiny, lost);
    is("f16", "sum_tiny", r.w.sum_tiny, lost * value_of(r.w.unit));
    row_stop(&r);
    row_start(&r, "in=f16 p=f16" HALF,
              &(attest_numerics){ KNOWN, .acc_truncates = ATTEST_NO, .division = ATTEST_DIVISION_AFTER_SUM }, 0, 1);
    is("f16, rounded", "value_tiny", r.w.value_tiny, 0);
    is("f16, rounded", "sum_tiny", r.w.sum_tiny, 0);
    row_stop(&r);
}
END_TEST

Suite *suite_bound_tensor(void)
{
    Suite *s = suite_create("bound_tensor");
    TCase *t = tcase_create("bound_tensor");
    tcase_add_test(t, operands_of_truncating_sums);
    suite_add_tcase(s, t);
    return s;
}
