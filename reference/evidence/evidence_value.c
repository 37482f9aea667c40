/* evidence_value.c - formulas given as text, enclosed: recursive descent over balls of 256 bits. */
#include <ctype.h>
#include <math.h> /* NAN only: no function of libm */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reference/evidence/evidence_private.h"

enum { BITS = 256, FORMULA = 512, NAME = 16, NUMBER = 64, DEPTH = 64 };

typedef struct reader {
    const char *at;
    int depth;
    int bad;
} reader;

static void read_sum(arb_t x, reader *r);

static int accept(reader *r, char c)
{
    while (*r->at == ' ')
        r->at++;
    if (*r->at != c)
        return 0;
    r->at++;
    return 1;
}

static void need(reader *r, char c)
{
    if (!accept(r, c))
        r->bad = 1;
}

/* A whole number from a ball that holds exactly one. */
static ulong whole(const arb_t x, reader *r)
{
    AUTO_FMPZ(n);
    ulong value = 0;
    if (arb_get_unique_fmpz(n, x) && fmpz_sgn(n) >= 0 && fmpz_cmp_ui(n, 100000) <= 0)
        value = fmpz_get_ui(n);
    else
        r->bad = 1;
    return value;
}

/* ---- functions: x, or x and y ------------------------------------------------------------------------------------ */
typedef void (*formula_call)(arb_t x, const arb_t y, reader *r);

static void call_exp(arb_t x, const arb_t y, reader *r)
{
    (void)y;
    (void)r;
    arb_exp(x, x, BITS);
}

static void call_log(arb_t x, const arb_t y, reader *r)
{
    (void)y;
    (void)r;
    arb_log(x, x, BITS);
}

static void call_sqrt(arb_t x, const arb_t y, reader *r)
{
    (void)y;
    (void)r;
    arb_sqrt(x, x, BITS);
}

static void call_abs(arb_t x, const arb_t y, reader *r)
{
    (void)y;
    (void)r;
    arb_abs(x, x);
}

static void call_fact(arb_t x, const arb_t y, reader *r)
{
    (void)y;
    arb_fac_ui(x, whole(x, r), BITS);
}

static void call_binom(arb_t x, const arb_t y, reader *r)
{
    const ulong n = whole(x, r), k = whole(y, r);
    arb_bin_uiui(x, n, k, BITS);
}

static void call_min(arb_t x, const arb_t y, reader *r)
{
    (void)r;
    arb_min(x, x, y, BITS);
}

static void call_max(arb_t x, const arb_t y, reader *r)
{
    (void)r;
    arb_max(x, x, y, BITS);
}

static void call_taylor(arb_t x, const arb_t y, reader *r) { ref_taylor_sum(x, whole(x, r), y, BITS); }

static const struct {
    const char *name;
    int arguments;
    formula_call call;
} calls[] = {
    { "exp", 1, call_exp }, { "log", 1, call_log },   { "sqrt", 1, call_sqrt },
    { "abs", 1, call_abs }, { "fact", 1, call_fact }, { "binom", 2, call_binom },
    { "min", 2, call_min }, { "max", 2, call_max },   { "T", 2, call_taylor },
};

/* ---- grammar ----------------------------------------------------------------------------------------------------- */
static void read_call(arb_t x, reader *r)
{
    char name[NAME];
    size_t len = 0;
    AUTO_ARB(y);
    while (isalpha((unsigned char)r->at[len]) && len + 1 < NAME)
        len++;
    memcpy(name, r->at, len);
    name[len] = '\0';
    r->at += len;
    need(r, '(');
    read_sum(x, r);
    size_t i = 0;
    while (i < sizeof calls / sizeof calls[0] && strcmp(calls[i].name, name) != 0)
        i++;
    if (i == sizeof calls / sizeof calls[0]) {
        r->bad = 1;
    } else {
        if (calls[i].arguments == 2) {
            need(r, ',');
            read_sum(y, r);
        }
        need(r, ')');
        if (!r->bad)
            calls[i].call(x, y, r);
    }
}

static void read_number(arb_t x, reader *r)
{
    char text[NUMBER];
    size_t len = strspn(r->at, "0123456789.");
    if ((r->at[len] == 'e' || r->at[len] == 'E') && len > 0)
        len += 1 + (size_t)(r->at[len + 1] == '-' || r->at[len + 1] == '+') +
               strspn(r->at + len + 1 + (r->at[len + 1] == '-' || r->at[len + 1] == '+'), "0123456789");
    if (len == 0 || len >= NUMBER) {
        r->bad = 1;
        return;
    }
    memcpy(text, r->at, len);
    text[len] = '\0';
    r->at += len;
    r->bad |= arb_set_str(x, text, BITS) != 0;
}

static void read_factor(arb_t x, reader *r)
{
    if (++r->depth > DEPTH) /* bounds the recursion; ends the reading */
        r->bad = 1;
    if (r->bad) {
        arb_zero(x);
    } else if (accept(r, '-')) {
        read_factor(x, r);
        arb_neg(x, x);
    } else if (accept(r, '(')) {
        read_sum(x, r);
        need(r, ')');
    } else if (isalpha((unsigned char)*r->at)) {
        read_call(x, r);
    } else {
        read_number(x, r);
    }
    if (!r->bad && accept(r, '^')) {
        arb_t y;
        arb_init(y);
        read_factor(y, r);
        arb_pow(x, x, y, BITS);
        arb_clear(y);
    }
    r->depth--;
}

static void read_product(arb_t x, reader *r)
{
    AUTO_ARB(y);
    read_factor(x, r);
    for (int more = 1; more && !r->bad;) {
        const int times = accept(r, '*');
        more = times || accept(r, '/');
        if (!more)
            break;
        read_factor(y, r);
        if (times)
            arb_mul(x, x, y, BITS);
        else
            arb_div(x, x, y, BITS);
    }
}

static void read_sum(arb_t x, reader *r)
{
    AUTO_ARB(y);
    read_product(x, r);
    for (int more = 1; more && !r->bad;) {
        const int plus = accept(r, '+');
        more = plus || accept(r, '-');
        if (!more)
            break;
        read_product(y, r);
        if (plus)
            arb_add(x, x, y, BITS);
        else
            arb_sub(x, x, y, BITS);
    }
}

attest_status attest_evidence_value(attest_span *value, attest_error *err, const char *formula, ...)
{
    attest_status status = ATTEST_OK;
    char text[FORMULA];
    va_list arguments;
    va_start(arguments, formula);
    const int len = vsnprintf(text, sizeof text, formula, arguments);
    va_end(arguments);
    AUTO_ARB(x);
    *value = (attest_span){ NAN, NAN };
    reader r = { text, 0, len < 0 || len >= (int)sizeof text };
    if (!r.bad)
        read_sum(x, &r);
    while (*r.at == ' ')
        r.at++;
    if (r.bad || *r.at != '\0')
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "'%s' is no formula, at '%s'", text, r.at));
    *value = ref_span_of(x);
out:
    return status;
}
