/* json.h - the one writer of JSON: values of jansson, printed in the order in which keys were set. */
#ifndef ATTEST_JSON_H
#define ATTEST_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "kernels/status.h"
#include "reports/files/memory.h"

/* A double to the last bit (17 digits): whole numbers up to 2^53 without a point, infinities as "inf" and "-inf", NaN
 * as null: JSON has none. */
json_t *attest_json_number(double x);
/* Text; bytes that are no UTF-8 become "?". */
json_t *attest_json_text(const char *text);
/* [a, b] of numbers. */
json_t *attest_json_pair(double a, double b);

/* Prints one line, takes `value` over (NULL: it could not be made).  ATTEST_NO_MEMORY; ATTEST_IO if it could not
 * be made or written. */
attest_status attest_json_line(FILE *out, json_t *value);
/* That line without its newline; malloc'd, the caller's; NULL: no memory. */
char *attest_json_dump(json_t *value);
/* The same over several lines, for files that people read. */
attest_status attest_json_pretty(FILE *out, json_t *value);

#endif
