/* kernels_compare.h - what a kernel computed against the formulas of kernels_naive.h, within their errors. */
#ifndef ATTEST_TEST_KERNELS_COMPARE_H
#define ATTEST_TEST_KERNELS_COMPARE_H

#include "tests/kernels/cpu/kernels_case.h"

/* |got - want| <= error, infinities and NaNs alike. */
static inline int near(double got, double want, double error)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= error;
}

static inline void check_element(const attest_tensor *t, int64_t at, double want, double error, const char *where)
{
    if (t)
        ck_assert_msg(near(attest_load(t, at), want, error), "%s element %lld: got %.9g, want %.9g +- %.3g", where,
                      (long long)at, attest_load(t, at), want, error);
}

/* Query i of p, row i - skip of the bundle; 1 if o was compared. */
static inline int check_row(const attest_bundle *bundle, const attest_problem *p, int64_t b, int64_t h, int64_t i,
                            int64_t skip, const char *where)
{
    const attest_tensor *o = attest_bundle_role(bundle, ATTEST_O), *u = attest_bundle_role(bundle, ATTEST_U);
    const attest_tensor *z = attest_bundle_role(bundle, ATTEST_Z), *lse = attest_bundle_role(bundle, ATTEST_LSE);
    const naive_row row = naive_attention(p, b, h, i);
    char text[400];
    if (!row.judged)
        return 0;
    snprintf(text, sizeof text, "%s row %d %d %d", where, (int)b, (int)h, (int)i);
    if (z)
        check_element(z, attest_offset(z, b, h, i - skip, 0), row.z, row.z_error, text);
    if (lse && row.lse_regular)
        check_element(lse, attest_offset(lse, b, h, i - skip, 0), row.lse, row.lse_error, text);
    for (int64_t c = 0; c < p->e; c++) {
        const int64_t at = attest_offset(o, b, h, i - skip, c);
        if (row.regular)
            check_element(o, at, row.o[c], row.o_error[c], text);
        check_element(u, at, row.u[c], row.u_error[c] + attest_unit_roundoff(p->acc) * fabs(row.u[c]), text);
    }
    return row.regular;
}

static inline void check_states(const attest_bundle *bundle, const attest_problem *p, int n, int packed,
                                const char *where)
{
    const attest_tensor *h = attest_bundle_get(bundle, (attest_tensor_id){ ATTEST_KIND_HT, (uint32_t)n });
    const attest_tensor *z = attest_bundle_get(bundle, (attest_tensor_id){ ATTEST_KIND_ZT, (uint32_t)n });
    const int64_t dim = attest_feature_dim(p);
    double want, error;
    for (int64_t head = 0; h && head < p->b * p->hkv; head++) {
        const int64_t b = head / p->hkv, g = head % p->hkv;
        int64_t row = 0;
        for (int64_t at = 0; at < attest_state_rows(dim, n, 0); at++) {
            if (packed && !is_sorted(at, n, dim))
                continue;
            want = naive_state(&error, p, n, b, g, at, -1);
            check_element(z, attest_offset(z, b, g, row, 0), want, error, where);
            for (int64_t c = 0; c < p->e; c++) {
                want = naive_state(&error, p, n, b, g, at, c);
                check_element(h, attest_offset(h, b, g, row, c), want, error, where);
            }
            row++;
        }
        ck_assert_msg(row == h->shape[2], "%s: state %d has %lld rows, want %lld", where, n, (long long)h->shape[2],
                      (long long)row);
    }
}

static inline void check_all_states(const attest_bundle *bundle, const attest_problem *p, const attest_kernel *k,
                                    const char *where)
{
    int lowest, highest;
    if (k->outputs & ATTEST_GIVES_STATE && attest_variant_degrees(p->axis, &lowest, &highest))
        for (int n = lowest; n <= highest; n++)
            check_states(bundle, p, n, (k->flags & ATTEST_PACKED_STATE) != 0, where);
}

#endif
