/* taylor.h - what the kernels of polynomial weights share on the host's side: degrees, rows of states, coefficients.
 *
 * A state of degree n has a row for each of the C(d+n-1,n) non-decreasing tuples of n of the d entries of phi(k), in
 * lexicographic order; a variant has the degrees lowest_of() .. order, one after the other.
 */
#ifndef ATTEST_CUDA_TAYLOR_H
#define ATTEST_CUDA_TAYLOR_H

#include "attest.h"

#include <cfloat>
#include <cmath>

namespace taylor
{

constexpr int most = 3; /* degree */

inline const attest_setting *weight_of(const attest_problem *p) { return &p->axis[ATTEST_AXIS_WEIGHT]; }

inline int lowest_of(const attest_problem *p)
{
    return static_cast<int>(weight_of(p)->value == ATTEST_WEIGHT_TAYLOR ? 0 : weight_of(p)->order);
}

inline int highest_of(const attest_problem *p) { return static_cast<int>(weight_of(p)->order); }

/* Rows of the variant's states below degree n. */
inline int64_t rows_below(const attest_problem *p, int n)
{
    const int64_t d = p->d, of[most + 1] = { 1, d, d * (d + 1) / 2, d * (d + 1) * (d + 2) / 6 };
    int64_t sum = 0;
    for (int k = lowest_of(p); k < n; k++)
        sum += of[k];
    return sum;
}

/* c_n = scale^n/n!, power: scale^n, rounded once. */
inline float coefficient(const attest_problem *p, int n)
{
    double c = 1;
    for (int k = 1; k <= n; k++)
        c *= weight_of(p)->value == ATTEST_WEIGHT_POWER ? p->scale : p->scale / k;
    return static_cast<float>(c);
}

/* 1 if the weight is served, and c_n times n!/I! is a normal float. */
inline int weight_served(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_setting *weight = weight_of(p);
    if (weight->value == ATTEST_WEIGHT_EXP || weight->value > ATTEST_WEIGHT_POWER || weight->order > most)
        return attest_refuse(call, "only weight=taylor:P, term:P and power:P with P at most 3 are served");
    for (int n = lowest_of(p); n <= highest_of(p); n++) {
        const float c = std::fabs(coefficient(p, n));
        if (p->scale != 0 && !(c >= FLT_MIN && c <= FLT_MAX / 6))
            return attest_refuse(call, "a coefficient scale^n/n! (power: scale^n) is no normal float");
    }
    return 1;
}

} // namespace taylor

#endif
