/* rows_numerics.h - what rows declare, as pieces of initialisers. */
#ifndef ATTEST_TESTS_ROWS_NUMERICS_H
#define ATTEST_TESTS_ROWS_NUMERICS_H

#include "tests/simulators/rows.h"

/* A row names what differs from the usual numerics, and ends where it has no more to say. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

#define NUMERICS(...)                                                                                                  \
    {                                                                                                                  \
        .struct_size = sizeof(attest_numerics), __VA_ARGS__                                                            \
    }
/* All but the scale's type: IEEE arithmetic, an exp of 2 ulp in base e. */
#define FREE_SCALE                                                                                                     \
    .exp_error = 0x1p-23, .div_error = 0x1p-24, .log2_domain = ATTEST_NO, .p_rounding = ATTEST_ROUNDING_NEAREST,       \
    .acc_truncates = ATTEST_NO, .cast_in_sum = ATTEST_NO
#define DECLARED FREE_SCALE, .scale_dtype = 1 + ATTEST_F32
#define BASE2                                                                                                          \
    .exp_error = 0x1p-23, .div_error = 0x1p-24, .log2_domain = ATTEST_YES, .p_rounding = ATTEST_ROUNDING_NEAREST,      \
    .acc_truncates = ATTEST_NO, .cast_in_sum = ATTEST_NO, .scale_dtype = 1 + ATTEST_F32
#define TWO_PASS .schedule = ATTEST_SCHEDULE_TWO_PASS
#define ONLINE .schedule = ATTEST_SCHEDULE_ONLINE
#define SPLIT .schedule = ATTEST_SCHEDULE_SPLIT
#define DIRECT .schedule = ATTEST_SCHEDULE_DIRECT
#define RECURRENT .schedule = ATTEST_SCHEDULE_RECURRENT
#define CHUNK .schedule = ATTEST_SCHEDULE_CHUNK
#define SECTION(rows)                                                                                                  \
    {                                                                                                                  \
        rows, sizeof rows / sizeof rows[0]                                                                             \
    }
#define WILD "wild:3 wild:8"

#endif
