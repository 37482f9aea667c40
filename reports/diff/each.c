/* each.c - the cases of a class in a baseline's file: of each the hash of its line (12 hex digits), of its outputs (8),
 * its error and typical error (4 each). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/diff/figures.h"

/* An error x is q = 2^8 (x + 192): from 0 to 65280; no error is ffff. */
enum { DIGITS = 28, LINE = 12, BITS = 8, ERROR = 4, NONE = 0xffff, OFFSET = 192 };

static unsigned packed(double x) { return isfinite(x) ? (unsigned)ldexp(x + OFFSET, 8) & NONE : (unsigned)NONE; }

json_t *diff_each_of(diff_item *const *item, size_t count)
{
    char *text = malloc(DIGITS * count + 1);
    if (!text)
        return NULL;
    *text = '\0';
    for (size_t i = 0; i < count; i++)
        snprintf(text + DIGITS * i, DIGITS + 1, "%012" PRIx64 "%08" PRIx32 "%04x%04x", item[i]->line, item[i]->bits,
                 packed(item[i]->error), packed(item[i]->typical));
    json_t *each = json_string(text);
    free(text);
    return each;
}

/* The next `count` digits. */
static uint64_t digits(const char **at, size_t count)
{
    char text[LINE + 1] = "";
    memcpy(text, *at, count);
    *at += count;
    return strtoull(text, NULL, 16);
}

static float error_of(uint64_t q) { return q == NONE ? NAN : (float)(ldexp((double)q, -8) - OFFSET); }

void diff_each(diff_item *item, const json_t *each, size_t number)
{
    const char *at = json_string_value(each) + DIGITS * number;
    item->line = digits(&at, LINE);
    item->bits = (uint32_t)digits(&at, BITS);
    item->error = error_of(digits(&at, ERROR));
    item->typical = error_of(digits(&at, ERROR));
}

int diff_each_all(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && strlen(text) % DIGITS == 0 && strspn(text, "0123456789abcdef") == strlen(text);
}

int64_t diff_each_count(const json_t *each) { return (int64_t)(json_string_length(each) / DIGITS); }
