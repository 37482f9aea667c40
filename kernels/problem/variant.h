/* variant.h - which functions exist: the table of axes, the table of presets, the rules between axes.
 *
 * Pure data and its lookup.  A variant is a point in the axes (attest_setting per axis, attest.h); a preset
 * names a point.  A new preset is one row of variant_presets.c; a new axis value is one row of its axis in
 * variant_axes.c (and one function per engine that serves it, with its lemma).  Nothing else in the project
 * switches over presets.  The formula is in reference/derivations.md, section 0; values are printed by `attest list
 * variants`.
 */
#ifndef ATTEST_VARIANT_H
#define ATTEST_VARIANT_H

#include "kernels/status.h"

/* What follows the name of an axis value: `taylor:P`, `floor:F`, or the value is itself a number. */
typedef enum attest_argument {
    ATTEST_ARG_NONE = 0,
    ATTEST_ARG_ORDER = 1,   /* NAME:P, P in 0..64 */
    ATTEST_ARG_NUMBER = 2,  /* NAME:F, finite double */
    ATTEST_ARG_BARE = 3,    /* the value is the number itself (eps, clamp, cap, filter, rope) */
    ATTEST_ARG_BARE_INT = 4 /* the value is an integer 1..2^31-1 (window); kept in `order` */
} attest_argument;

typedef struct attest_axis_value {
    const char *name;    /* NULL for bare numbers */
    uint32_t value;      /* the enum of attest.h */
    uint32_t argument;   /* attest_argument */
    double above;        /* a number must be > above (-inf: any finite) */
    const char *formula; /* one line for `list variants` */
} attest_axis_value;

typedef struct attest_axis_info {
    const char *key; /* problem-line key */
    uint32_t axis;
    uint32_t value_count;
    const attest_axis_value *values; /* values[0] is the default, enum value 0 */
    const char *summary;
} attest_axis_info;

#define ATTEST_PRESET_SETTINGS 6

typedef struct attest_preset_setting {
    uint32_t axis;
    uint32_t value;
    uint32_t order; /* ATTEST_ORDER_FROM_NAME: the P of the preset's own name */
    double number;  /* NAN: from the preset's own argument */
} attest_preset_setting;

#define ATTEST_ORDER_FROM_NAME UINT32_MAX

typedef struct attest_preset {
    const char *name;
    uint32_t argument; /* ATTEST_ARG_NONE, _ORDER or _NUMBER: NAME, NAME:P, NAME:TAU */
    uint32_t setting_count;
    attest_preset_setting settings[ATTEST_PRESET_SETTINGS];
    const char *formula;
    const char *stands_for; /* paper and equation */
} attest_preset;

extern const attest_axis_info attest_axes[ATTEST_AXIS_COUNT];
extern const attest_preset attest_presets[];
extern const size_t attest_preset_count;

/* Sets all axes to the preset's values.  `text` is `NAME` or `NAME:ARG`.  ATTEST_BAD_INPUT: unknown
 * preset, argument missing, superfluous or outside its range. */
attest_status attest_variant_from_preset(attest_setting axis[ATTEST_AXIS_COUNT], const char *text, attest_error *err);

/* Parses one axis value (`taylor:4`, `max`, `0.5`, `none`) into *setting. */
attest_status attest_axis_parse(attest_setting *setting, uint32_t axis, const char *text, attest_error *err);

/* Writes the value as attest_axis_parse reads it; numbers as the shortest text that gives the same double. */
void attest_axis_print(char *text, size_t len, uint32_t axis, const attest_setting *setting);

/* Bitwise equality of the three fields (numbers by their bits; -0 equals +0 nowhere). */
int attest_setting_equal(const attest_setting *a, const attest_setting *b);

/* ATTEST_BAD_INPUT with a message that names both keys if a setting cannot be used by the formula
 * (kernels/problem/variant_rules.c lists them).  n and m are needed for decay (n = m). */
attest_status attest_variant_check(const attest_setting axis[ATTEST_AXIS_COUNT], int64_t n, int64_t m,
                                   attest_error *err);

/* 1 if every weight is a polynomial in the score: taylor, term, power. */
int attest_variant_polynomial(const attest_setting axis[ATTEST_AXIS_COUNT]);

/* 1 if the function has a recurrence over tokens: polynomial weight without cap, clamp, filter, alibi,
 * window, with center zero. */
int attest_variant_recurrent(const attest_setting axis[ATTEST_AXIS_COUNT]);

/* Degrees n of the states: lowest and highest (taylor:P 0..P, term:P and power:P only P, delta and efla 1).
 * Returns 0 and leaves the outputs 0 if the variant has no recurrence. */
int attest_variant_degrees(const attest_setting axis[ATTEST_AXIS_COUNT], int *lowest, int *highest);

/* 1 if `form` (attest_form) is legal for the variant (derivations.md, section 0); else the reason. */
int attest_variant_form_legal(const attest_setting axis[ATTEST_AXIS_COUNT], uint32_t form, char *why, size_t len);

/* 1 if every feature, weight, gate and norm maps rationals to rationals for all inputs; elu1 counts as
 * 0 here although it is rational where all inputs are >= 0, and alibi=usual, rational for some heads. */
int attest_variant_rational(const attest_setting axis[ATTEST_AXIS_COUNT]);

#endif
