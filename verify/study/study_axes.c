/* study_axes.c - lists of values: `1,2,4`, `0..12`, `64..4096`, `2^-12..2^-6`, words. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "verify/study/study_private.h"

const char *const attest_study_axis_names[ATTEST_STUDY_AXES] = {
    [ATTEST_STUDY_VARIANT] = "variant",   [ATTEST_STUDY_IN] = "in",           [ATTEST_STUDY_P] = "p",
    [ATTEST_STUDY_FAMILIES] = "families", [ATTEST_STUDY_LENGTHS] = "lengths", [ATTEST_STUDY_DIMS] = "dims",
    [ATTEST_STUDY_CENTERS] = "centers",   [ATTEST_STUDY_RANGES] = "ranges",   [ATTEST_STUDY_ORDERS] = "orders",
    [ATTEST_STUDY_SEEDS] = "seeds",
};

/* How the values of an axis are written. */
typedef struct axis_rule {
    int numbers;         /* 1: numbers; 0: words */
    int whole, doubling; /* numbers without a fraction; A..B doubles */
    double least, most;
    const char *words;   /* the only ones, separated by blanks; NULL: any */
    const char *allowed; /* what an error says */
} axis_rule;

static const axis_rule rules[ATTEST_STUDY_AXES] = {
    [ATTEST_STUDY_VARIANT] = { .allowed = "names separated by commas" },
    [ATTEST_STUDY_IN] = { .words = " f64 f32 f16 bf16 ", .allowed = "f64, f32, f16, bf16, separated by commas" },
    [ATTEST_STUDY_P] = { .words = " f64 f32 f16 bf16 ", .allowed = "f64, f32, f16, bf16, separated by commas" },
    [ATTEST_STUDY_FAMILIES] = { .allowed = "names of `attest list families`, separated by commas" },
    [ATTEST_STUDY_LENGTHS] = { 1, 1, 1, 1, 16777216, NULL, "sizes from 1 to 16777216: N, A,B,.. or A..B (doubling)" },
    [ATTEST_STUDY_DIMS] = { 1, 1, 1, 1, 65535, NULL, "sizes from 1 to 65535: D, A,B,.. or A..B (doubling)" },
    [ATTEST_STUDY_CENTERS] = { .words = " zero max min mid ", .allowed = "zero, max, min, mid, separated by commas" },
    [ATTEST_STUDY_RANGES] = { 1, 0, 1, 0x1p-200, 1e6, NULL,
                              "numbers above 0, at most 1e6: R, A,B,.. or A..B (doubling); 2^K is a number" },
    [ATTEST_STUDY_ORDERS] = { 1, 1, 0, 0, 64, NULL, "orders from 0 to 64: P, A,B,.. or A..B" },
    [ATTEST_STUDY_SEEDS] = { 1, 1, 0, 0, 9007199254740991.0, NULL, "seeds from 0 to 2^53-1: S, A,B,.. or A..B" },
};

uint32_t study_type(const char *text, size_t len)
{
    static const uint32_t types[] = { ATTEST_F64, ATTEST_F32, ATTEST_F16, ATTEST_BF16 };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(attest_dtype_name(types[i])) == len && strncmp(attest_dtype_name(types[i]), text, len) == 0)
            return types[i];
    return STUDY_NO_TYPE;
}

static attest_status refuse(attest_study_axis axis, const char *text, attest_error *err)
{
    return attest_fail(err, ATTEST_BAD_INPUT, "--%s=%s: %s", attest_study_axis_names[axis], text, rules[axis].allowed);
}

/* The decimal at *at, which moves behind it; NAN: there is none. */
static double read_decimal(const char **at)
{
    char *end;
    const double x = strtod(*at, &end);
    if (end == *at || (**at != '-' && **at != '.' && (**at < '0' || **at > '9')))
        return NAN;
    *at = *end == '.' && end[-1] == '.' ? end - 1 : end; /* of `0..12` strtod() takes the first point */
    return x;
}

/* A number, or 2^K, at *at, which moves behind it; NAN: there is none that the axis allows. */
static double read_number(const char **at, const axis_rule *rule)
{
    double x = read_decimal(at);
    if (x == 2 && **at == '^') {
        ++*at;
        x = exp2(read_decimal(at));
    }
    return x >= rule->least && x <= rule->most && (!rule->whole || x == floor(x)) ? x : NAN;
}

static attest_status add(study_list *list, const char *text, size_t len, double number)
{
    study_value v = { .number = number };
    if (list->count == STUDY_VALUES || len == 0 || len >= sizeof v.text)
        return ATTEST_BAD_INPUT;
    snprintf(v.text, sizeof v.text, "%.*s", (int)len, text);
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->value[i].text, v.text) == 0)
            return ATTEST_BAD_INPUT;
    list->value[list->count++] = v;
    return ATTEST_OK;
}

static attest_status add_number(study_list *list, double number)
{
    char text[40];
    attest_double_text(text, sizeof text, number);
    return add(list, text, strlen(text), number);
}

/* One item, [at, at+len). */
static attest_status read_item(study_list *list, const char *item, size_t len, const axis_rule *rule)
{
    char text[ATTEST_FAMILY + 2];
    const char *at = text;
    if (len == 0 || len >= ATTEST_FAMILY)
        return ATTEST_BAD_INPUT;
    snprintf(text, sizeof text, " %.*s ", (int)len, item);
    if (!rule->numbers) {
        const uint32_t type = study_type(item, len);
        if (strchr(text + 1, ' ') != text + 1 + len || (rule->words && !strstr(rule->words, text)))
            return ATTEST_BAD_INPUT;
        return add(list, item, len, type == STUDY_NO_TYPE ? NAN : attest_unit_roundoff(type));
    }
    text[len + 1] = '\0';
    at++;
    const double first = read_number(&at, rule);
    if (first != first)
        return ATTEST_BAD_INPUT;
    if (*at == '\0')
        return add_number(list, first);
    if (strncmp(at, "..", 2) != 0)
        return ATTEST_BAD_INPUT;
    at += 2;
    const double last = read_number(&at, rule);
    if (!(last >= first) || *at)
        return ATTEST_BAD_INPUT;
    for (double x = first; x <= last; x = rule->doubling ? 2 * x : x + 1) {
        const attest_status status = add_number(list, x);
        if (status != ATTEST_OK)
            return status;
    }
    return ATTEST_OK;
}

attest_status study_list_read(study_list *list, attest_study_axis axis, const char *text, attest_error *err)
{
    *list = (study_list){ .value = calloc(STUDY_VALUES, sizeof *list->value) };
    if (!list->value)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the values of --%s", attest_study_axis_names[axis]);
    for (const char *at = text;; at++) {
        const size_t len = strcspn(at, ",");
        if (read_item(list, at, len, &rules[axis]) != ATTEST_OK)
            return refuse(axis, text, err);
        at += len;
        if (*at == '\0')
            return ATTEST_OK;
    }
}
