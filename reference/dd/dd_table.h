/* dd_table.h - inside reference/: constants of the dd engine, made by reference/tables/exp_table.c at build time.
 *
 * Pairs are (hi, lo), hi the nearest double and lo the nearest double of the rest.
 */
#ifndef ATTEST_DD_TABLE_H
#define ATTEST_DD_TABLE_H

extern const double dd_power[1024][2];           /* 2^(i/1024) */
extern const double dd_inverse_factorial[65][2]; /* 1/n! */
extern const double dd_ln2[1][2];
extern const double dd_steps_per_unit; /* 1024/ln2, nearest */
extern const double dd_step[3];        /* ln2/1024 = sum of the three, of 33, 33 and 53 bits */

#endif
