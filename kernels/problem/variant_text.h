/* variant_text.h - private to variant*.c and problem*.c: numbers and preset names as text. */
#ifndef ATTEST_VARIANT_TEXT_H
#define ATTEST_VARIANT_TEXT_H

#include "kernels/problem/variant.h"

/* Decimal digits without sign or leading zeros, low <= value <= high: returns 1, else 0. */
int attest_text_integer(uint64_t *value, const char *text, uint64_t low, uint64_t high);

/* The double nearest to a decimal or hexadecimal floating literal, always with '.' as the point.  0 for
 * anything else: blanks, inf, nan, trailing characters, a value beyond the largest double. */
int attest_text_number(double *value, const char *text);

/* attest_variant_from_preset that also writes the preset's canonical text (NULL: not wanted). */
attest_status attest_preset_resolve(attest_setting axis[ATTEST_AXIS_COUNT], char *canonical, size_t len,
                                    const char *text, attest_error *err);

#endif
