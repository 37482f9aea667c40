/* scope.h - numbers of GMP, MPFR and FLINT that are cleared where their block ends.
 *
 *     AUTO_MAG(x, y);     mag_t x, y; mag_init(x); mag_init(y); and mag_clear() of both where the block is left
 *
 * One to eight names.  A goto from above the line to a label below it would clear what was never initialised: declare
 * at the top of the block, before anything that may leave it.  gcc and clang have the attribute.
 */
#ifndef ATTEST_SCOPE_H
#define ATTEST_SCOPE_H

#include "reference/engine/flint_headers.h"

#define SCOPE_CAT(a, b) SCOPE_JOIN(a, b)
#define SCOPE_JOIN(a, b) a##b
#define SCOPE_COUNT(...) SCOPE_NINTH(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SCOPE_NINTH(a, b, c, d, e, f, g, h, n, ...) n
#define SCOPE_1(t, x) SCOPE_ONE(t, x)
#define SCOPE_2(t, x, ...) SCOPE_ONE(t, x) SCOPE_1(t, __VA_ARGS__)
#define SCOPE_3(t, x, ...) SCOPE_ONE(t, x) SCOPE_2(t, __VA_ARGS__)
#define SCOPE_4(t, x, ...) SCOPE_ONE(t, x) SCOPE_3(t, __VA_ARGS__)
#define SCOPE_5(t, x, ...) SCOPE_ONE(t, x) SCOPE_4(t, __VA_ARGS__)
#define SCOPE_6(t, x, ...) SCOPE_ONE(t, x) SCOPE_5(t, __VA_ARGS__)
#define SCOPE_7(t, x, ...) SCOPE_ONE(t, x) SCOPE_6(t, __VA_ARGS__)
#define SCOPE_8(t, x, ...) SCOPE_ONE(t, x) SCOPE_7(t, __VA_ARGS__)
#define SCOPE_ONE(t, x)                                                                                                \
    t##_t x __attribute__((cleanup(scope_##t##_end)));                                                                 \
    t##_init(x);
#define SCOPE_ALL(t, ...) SCOPE_CAT(SCOPE_, SCOPE_COUNT(__VA_ARGS__))(t, __VA_ARGS__)

#define SCOPE_END(t)                                                                                                   \
    static inline void scope_##t##_end(t##_t *x) { t##_clear(*x); }
SCOPE_END(mag)
SCOPE_END(arb)
SCOPE_END(arf)
SCOPE_END(mpz)
SCOPE_END(mpq)
SCOPE_END(fmpz)
SCOPE_END(fmpq)

#define AUTO_MAG(...) SCOPE_ALL(mag, __VA_ARGS__)
#define AUTO_ARB(...) SCOPE_ALL(arb, __VA_ARGS__)
#define AUTO_ARF(...) SCOPE_ALL(arf, __VA_ARGS__)
#define AUTO_MPZ(...) SCOPE_ALL(mpz, __VA_ARGS__)
#define AUTO_MPQ(...) SCOPE_ALL(mpq, __VA_ARGS__)
#define AUTO_FMPZ(...) SCOPE_ALL(fmpz, __VA_ARGS__)
#define AUTO_FMPQ(...) SCOPE_ALL(fmpq, __VA_ARGS__)

#endif
