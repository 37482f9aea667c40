/* variant_text.c - numbers as text, independent of the process's locale. */
#include "kernels/problem/variant_text.h"

#include "kernels/attest_float.h"
#include "kernels/problem/problem.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int attest_text_integer(uint64_t *value, const char *text, uint64_t low, uint64_t high)
{
    uint64_t result = 0;
    *value = 0;
    if (text[0] == '\0' || (text[0] == '0' && text[1] != '\0'))
        return 0;
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9')
            return 0;
        const uint64_t digit = (uint64_t)(*c - '0');
        if (result > (UINT64_MAX - digit) / 10)
            return 0;
        result = 10 * result + digit;
    }
    if (result < low || result > high)
        return 0;
    *value = result;
    return 1;
}

int attest_text_number(double *value, const char *text)
{
    *value = 0.0;
    const char *first = text + (text[0] == '+' || text[0] == '-');
    if (*first != '.' && (*first < '0' || *first > '9'))
        return 0;
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale)
        return 0;
    char *end;
    const double x = strtod_l(text, &end, c_locale);
    freelocale(c_locale);
    if (end == text || *end != '\0' || !isfinite(x))
        return 0;
    *value = x;
    return 1;
}

/* Fewest significant digits that read back as the same bits (17 always suffice); a whole number without an
 * exponent where that is not longer. */
static void shortest(char *text, size_t len, double x)
{
    char whole[32];
    for (int digits = 1; digits <= 17; digits++) {
        double back;
        snprintf(text, len, "%.*g", digits, x);
        if (attest_text_number(&back, text) && attest_f64_bits(back) == attest_f64_bits(x))
            break;
    }
    if (strchr(text, 'e') && fabs(x) < 0x1p53 && x == (double)(int64_t)x) {
        snprintf(whole, sizeof whole, "%.0f", x);
        if (strlen(whole) <= strlen(text))
            snprintf(text, len, "%s", whole);
    }
}

void attest_double_text(char *text, size_t len, double x)
{
    if (isnan(x) || isinf(x)) {
        snprintf(text, len, "%s", isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
        return;
    }
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t before = c_locale ? uselocale(c_locale) : (locale_t)0;
    shortest(text, len, x);
    if (c_locale) {
        uselocale(before);
        freelocale(c_locale);
    }
}
