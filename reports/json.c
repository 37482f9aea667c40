/* json.c - see json.h. */
#include "reports/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int starved;

static void *take(size_t size)
{
    void *pointer = malloc(size);
    starved |= !pointer;
    return pointer;
}

void attest_json_begin(void) { json_set_alloc_funcs(take, free); }

void attest_starve(void) { starved = 1; }
int attest_starved(void) { return starved; }

attest_status attest_print_failed(attest_error *err, const char *what)
{
    if (starved)
        return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for all of it", what);
    return attest_fail(err, attest_of_errno(ATTEST_IO), "%s: write failed: %s", what, strerror(errno));
}

json_t *attest_json_number(double x)
{
    if (isnan(x))
        return json_null();
    if (isinf(x))
        return json_string(x > 0 ? "inf" : "-inf");
    if (fabs(x) <= 0x1p53 && x == trunc(x) && !(x == 0 && signbit(x)))
        return json_integer((json_int_t)x);
    return json_real(x);
}

json_t *attest_json_text(const char *text)
{
    json_t *value = json_string(text);
    return value ? value : json_string("?");
}

json_t *attest_json_pair(double a, double b)
{
    return json_pack("[o,o]", attest_json_number(a), attest_json_number(b));
}

enum { LAYOUT = JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17) };

static attest_status print(FILE *out, json_t *value, size_t flags)
{
    const int bad = starved || !value || json_dumpf(value, out, flags | LAYOUT) != 0 || fputc('\n', out) == EOF;
    json_decref(value);
    return starved ? ATTEST_NO_MEMORY : bad ? ATTEST_IO : ATTEST_OK;
}

attest_status attest_json_line(FILE *out, json_t *value) { return print(out, value, JSON_COMPACT); }

char *attest_json_dump(json_t *value)
{
    char *text = value ? json_dumps(value, LAYOUT | JSON_COMPACT) : NULL;
    json_decref(value);
    return text;
}

attest_status attest_json_pretty(FILE *out, json_t *value) { return print(out, value, JSON_INDENT(1)); }
