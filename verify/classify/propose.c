/* propose.c - a declaration made of what a kernel's answers show. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/classify/classify.h"

typedef enum word_kind {
    WORD_SAME = 0,  /* the answer is the value */
    WORD_TYPE = 1,  /* the same, but for f64 */
    WORD_UNIT = 2,  /* 2^-K or a number, but for what f64 alone has */
    WORD_ERROR = 3, /* the largest that was seen: the next power of two above it, twice */
    WORD_COUNT = 4, /* a whole number; `none` says nothing */
    WORD_FLAG = 5   /* `yes`: a word of flags= */
} word_kind;

/* Promises (serial_sums, deterministic, batch-invariant) are left out: answers can break them, never prove them. */
static const struct {
    const char *trait, *key;
    word_kind kind;
} rows[] = { { "schedule", "schedule", WORD_SAME },
             { "tile", "tile", WORD_COUNT },
             { "splits", "splits", WORD_COUNT },
             { "acc_unit", "acc_unit", WORD_UNIT },
             { "acc_truncates", "acc_truncates", WORD_SAME },
             { "state_dtype", "state_dtype", WORD_TYPE },
             { "p_rounding", "p_rounding", WORD_SAME },
             { "cast_in_sum", "cast_in_sum", WORD_SAME },
             { "log2_domain", "log2_domain", WORD_SAME },
             { "exp_error", "exp_error", WORD_ERROR },
             { "scale_dtype", "scale_dtype", WORD_TYPE },
             { "div_error", "div_error", WORD_ERROR },
             { "empty_row", "empty_row", WORD_SAME },
             { "ftz", "ftz", WORD_FLAG },
             { "lse_base2", "lse-base2", WORD_FLAG },
             { "lse_with_sink", "lse-with-sink", WORD_FLAG },
             { "masked_finite", "masked-finite", WORD_FLAG } };
enum { ROWS = sizeof rows / sizeof rows[0] };

/* Below a quarter of the unit roundoff of f32: a figure of f64, which says nothing of f32 problems. */
#define FINEST 0x1p-26

/* log2 of `2^X` or of a number; NAN: neither. */
static double log2_of(const char *text)
{
    char *end;
    const int power = strncmp(text, "2^", 2) == 0;
    const double x = strtod(text + (power ? 2 : 0), &end);
    return end == text || *end ? NAN : power ? x : log2(x);
}

/* The word of one trait; "": none. */
static void word_of(char *word, size_t len, const attest_trait *t, size_t row)
{
    const double exponent = log2_of(t->inferred);
    word[0] = '\0';
    switch (rows[row].kind) {
    case WORD_COUNT:
        if (strspn(t->inferred, "0123456789") != strlen(t->inferred))
            return;
        snprintf(word, len, "%s=%s", rows[row].key, t->inferred);
        return;
    case WORD_TYPE:
        if (strcmp(t->inferred, "f64") == 0)
            return;
    /* fall through */
    case WORD_SAME: snprintf(word, len, "%s=%s", rows[row].key, t->inferred); return;
    case WORD_UNIT:
        if (exponent >= log2(FINEST))
            snprintf(word, len, "%s=%s", rows[row].key, t->inferred);
        return;
    case WORD_ERROR:
        if (exponent >= log2(FINEST))
            snprintf(word, len, "%s=2^%d", rows[row].key, (int)ceil(exponent) + 1);
        return;
    default: break;
    }
}

/* A flag, and what an empty row holds, have no word for "nothing said": of a kernel that says nothing at all they are
 * open, whatever came of them; of another one where it has no flag, or rows of 0, and two probes say otherwise. */
static int is_open(const attest_trait *t, size_t row, int silent)
{
    const int wordless = rows[row].kind == WORD_FLAG || strcmp(rows[row].key, "empty_row") == 0;
    const int absent = strcmp(t->declared, "no") == 0 || strcmp(t->declared, "zero") == 0;
    if (t->verdict == ATTEST_TRAIT_UNDECLARED || !wordless)
        return t->verdict == ATTEST_TRAIT_UNDECLARED;
    return silent ? t->verdict != ATTEST_TRAIT_HIDDEN && t->verdict != ATTEST_TRAIT_AGREES
                  : absent && t->verdict == ATTEST_TRAIT_FAIL;
}

attest_status attest_classify_propose(char *words, size_t len, const attest_traits *traits, int silent,
                                      attest_error *err)
{
    char flags[256] = "", word[128];
    size_t at = 0;
    words[0] = '\0';
    for (size_t i = 0; i < traits->count; i++) {
        const attest_trait *t = &traits->trait[i];
        for (size_t row = 0; row < ROWS; row++) {
            if (strcmp(t->trait, rows[row].trait) != 0 || !is_open(t, row, silent) || strcmp(t->inferred, "-") == 0)
                continue;
            const size_t used = strlen(flags);
            word_of(word, sizeof word, t, row);
            if (rows[row].kind == WORD_FLAG && strcmp(t->inferred, "yes") == 0)
                snprintf(flags + used, sizeof flags - used, "%s%s", used ? "," : "", rows[row].key);
            if (*word && at < len)
                at += (size_t)snprintf(words + at, len - at, "%s%s", at ? " " : "", word);
        }
    }
    if (*flags && at < len)
        at += (size_t)snprintf(words + at, len - at, "%sflags=%s", at ? " " : "", flags);
    return at < len ? ATTEST_OK : attest_fail(err, ATTEST_INTERNAL, "a declaration of %zu bytes", at);
}
