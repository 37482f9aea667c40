/* json.c - see json.h. */
#include "reports/files/json.h"

#include <math.h>
#include <string.h>

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
    const int bad = attest_starved() || !value || json_dumpf(value, out, flags | LAYOUT) != 0 ||
                    fputc('\n', out) == EOF;
    json_decref(value);
    return attest_starved() ? ATTEST_NO_MEMORY : bad ? ATTEST_IO : ATTEST_OK;
}

attest_status attest_json_line(FILE *out, json_t *value) { return print(out, value, JSON_COMPACT); }

char *attest_json_dump(json_t *value)
{
    char *text = value && !attest_starved() ? json_dumps(value, LAYOUT | JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    char *own = text && !attest_starved() ? strdup(text) : NULL;
    attest_json_release(text);
    json_decref(value);
    return own;
}

attest_status attest_json_pretty(FILE *out, json_t *value) { return print(out, value, JSON_INDENT(1)); }
