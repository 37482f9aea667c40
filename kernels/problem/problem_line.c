/* problem_line.c - the problem line: keys, defaults, parse and print. */
#include "kernels/problem/problem.h"

#include "kernels/attest_float.h"
#include "kernels/problem/variant_text.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys, in the order of printing: variant, the axes, then these -------------------------------------- */
typedef enum key_kind { KEY_SIZE, KEY_SCALE, KEY_DTYPE, KEY_COUNTER, KEY_FAMILY, KEY_SEED } key_kind;

#define SIZES_NONE SIZE_MAX
#define FROM_NONE SIZE_MAX
#define BIT(dtype) (1u << (dtype))
#define DTYPES_ALL (BIT(ATTEST_F64) | BIT(ATTEST_F32) | BIT(ATTEST_F16) | BIT(ATTEST_BF16))
#define DTYPES_ACC (BIT(ATTEST_F64) | BIT(ATTEST_F32))
#define AT(field) offsetof(attest_problem, field)

typedef struct key_info {
    const char *key;
    key_kind kind;
    size_t field;    /* offset in attest_problem */
    size_t in_sizes; /* offset in attest_sizes */
    size_t from;     /* default: the value of this field, or FROM_NONE: `standard` */
    uint64_t standard;
    uint64_t limit; /* largest integer; for dtypes the set of allowed ones */
} key_info;

#define SIZE(name, from, standard, limit)                                                                              \
    {                                                                                                                  \
#name, KEY_SIZE, AT(name), offsetof(attest_sizes, name), from, standard, limit                                 \
    }
#define DTYPE(name, from, set)                                                                                         \
    {                                                                                                                  \
#name, KEY_DTYPE, AT(name), SIZES_NONE, from, ATTEST_F32, set                                                  \
    }
#define COUNTER(name, standard)                                                                                        \
    {                                                                                                                  \
#name, KEY_COUNTER, AT(name), SIZES_NONE, FROM_NONE, standard, 1 << 24                                         \
    }
#define OTHER(name, kind)                                                                                              \
    {                                                                                                                  \
        name, kind, 0, SIZES_NONE, FROM_NONE, 0, 0                                                                     \
    }

static const key_info infos[] = {
    SIZE(b, FROM_NONE, 1, 4096),
    SIZE(hq, FROM_NONE, 1, 4096),
    SIZE(hkv, AT(hq), 0, 4096),
    SIZE(n, FROM_NONE, 64, 1 << 24),
    SIZE(m, AT(n), 0, 1 << 24),
    SIZE(d, FROM_NONE, 16, 65535),
    SIZE(e, AT(d), 0, 65535),
    OTHER("scale", KEY_SCALE),
    DTYPE(in, FROM_NONE, DTYPES_ALL),
    DTYPE(acc, AT(in), DTYPES_ACC),
    DTYPE(p, AT(acc), DTYPES_ALL),
    DTYPE(out, AT(in), DTYPES_ALL),
    COUNTER(chunk, 64),
    COUNTER(splits, 1),
    OTHER("family", KEY_FAMILY),
    OTHER("seed", KEY_SEED),
};

#define INFO_COUNT (sizeof infos / sizeof infos[0])
#define KEY_COUNT (1 + ATTEST_AXIS_COUNT + INFO_COUNT)
#define FIRST_INFO (1 + (size_t)ATTEST_AXIS_COUNT)

static const char *key_name(size_t key)
{
    if (key == 0)
        return "variant";
    return key < FIRST_INFO ? attest_axes[key - 1].key : infos[key - FIRST_INFO].key;
}

static int64_t *integer_field(attest_problem *p, size_t offset) { return (int64_t *)(void *)((char *)p + offset); }

static uint32_t *dtype_field(attest_problem *p, size_t offset) { return (uint32_t *)(void *)((char *)p + offset); }

/* The value that a size, counter or dtype has when nothing states it; `from` is filled already. */
static uint64_t default_of(const key_info *info, const attest_problem *p)
{
    attest_problem copy = *p;
    if (info->from == FROM_NONE)
        return info->standard;
    if (info->kind != KEY_DTYPE)
        return (uint64_t)*integer_field(&copy, info->from);
    const uint32_t from = *dtype_field(&copy, info->from);
    return info->limit & BIT(from) ? from : ATTEST_F32; /* acc: f32 unless in=f64 */
}

static int is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* ---- parse ------------------------------------------------------------------------------------------------ */
static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* In place; 0 on a bad escape or an escaped NUL. */
static int percent_decode(char *text)
{
    char *out = text;
    for (const char *c = text; *c; c++) {
        if (*c != '%') {
            *out++ = *c;
            continue;
        }
        const int high = hex_digit(c[1]);
        const int low = high < 0 ? -1 : hex_digit(c[2]);
        if (low < 0 || high + low == 0)
            return 0;
        *out++ = (char)(unsigned char)(16 * high + low);
        c += 2;
    }
    *out = '\0';
    return 1;
}

static attest_status unknown_key(const char *key, attest_error *err)
{
    char list[400] = "";
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, " %s", key_name(i));
    }
    return attest_fail(err, ATTEST_BAD_INPUT, "unknown key `%.40s`; the keys are%s", key, list);
}

/* Cuts the line into values[key]; NULL where a key is not given. */
static attest_status split_line(char *values[KEY_COUNT], char *line, attest_error *err)
{
    for (char *c = line; *c;) {
        if (is_space(*c)) {
            c++;
            continue;
        }
        char *word = c;
        while (*c && !is_space(*c))
            c++;
        if (*c)
            *c++ = '\0';
        char *equal = strchr(word, '=');
        if (!equal)
            return attest_fail(err, ATTEST_BAD_INPUT, "`%.80s` is not key=value", word);
        *equal = '\0';
        size_t key = 0;
        while (key < KEY_COUNT && strcmp(key_name(key), word) != 0)
            key++;
        if (key == KEY_COUNT)
            return unknown_key(word, err);
        if (values[key])
            return attest_fail(err, ATTEST_BAD_INPUT, "%s is given twice", word);
        values[key] = equal + 1;
        if (equal[1] == '\0')
            return attest_fail(err, ATTEST_BAD_INPUT, "%s has an empty value", word);
        char raw[81];
        snprintf(raw, sizeof raw, "%s", equal + 1);
        if (!percent_decode(values[key]))
            return attest_fail(err, ATTEST_BAD_INPUT, "%s=%s: %% is followed by two hexadecimal digits, not 00", word,
                               raw);
    }
    return ATTEST_OK;
}

static attest_status bad_integer(const key_info *info, const char *before, const char *text, attest_error *err)
{
    return attest_fail(err, ATTEST_BAD_INPUT, "%s%s=%.80s: a %s is an integer from 1 to %llu", before, info->key, text,
                       info->kind == KEY_SIZE ? "size" : "count", (unsigned long long)info->limit);
}

/* A size or counter: stated, else the files', else the default. */
static attest_status take_integer(attest_problem *p, const key_info *info, const char *text, const attest_sizes *sizes,
                                  attest_error *err)
{
    int64_t *field = integer_field(p, info->field);
    int64_t given = 0;
    uint64_t value = default_of(info, p);
    if (sizes && info->in_sizes != SIZES_NONE)
        memcpy(&given, (const char *)sizes + info->in_sizes, sizeof given);
    if (given != 0) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)given);
        if (given < 1 || (uint64_t)given > info->limit)
            return bad_integer(info, "from the files ", number, err);
        value = (uint64_t)given;
    }
    if (text && !attest_text_integer(&value, text, 1, info->limit))
        return bad_integer(info, "", text, err);
    if (given != 0 && value != (uint64_t)given)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s=%s differs from the files' %s=%lld", info->key, text, info->key,
                           (long long)given);
    *field = (int64_t)value;
    return ATTEST_OK;
}

/* Types that attest.h names and no problem has. */
static int is_later_dtype(const char *text)
{
    uint32_t dtype = ATTEST_F8_E4M3;
    while (dtype < ATTEST_DTYPE_COUNT && strcmp(text, attest_dtype_name(dtype)) != 0)
        dtype++;
    return dtype < ATTEST_DTYPE_COUNT;
}

static attest_status take_dtype(attest_problem *p, const key_info *info, const char *text, attest_error *err)
{
    char list[40] = "";
    uint32_t value = (uint32_t)default_of(info, p);
    if (text) {
        value = 0;
        while (value < ATTEST_DTYPE_COUNT &&
               (!(info->limit & BIT(value)) || strcmp(text, attest_dtype_name(value)) != 0))
            value++;
    }
    if (value == ATTEST_DTYPE_COUNT) {
        const int named = is_later_dtype(text);
        for (uint32_t i = 0; i < ATTEST_DTYPE_COUNT; i++) {
            const size_t used = strlen(list);
            if (info->limit & BIT(i))
                snprintf(list + used, sizeof list - used, " %s", attest_dtype_name(i));
        }
        return attest_fail(err, ATTEST_BAD_INPUT, "%s=%.80s: %sthe values are%s", info->key, text,
                           named ? "attest.h names this type for later versions, this one has no problem of it; " : "",
                           list);
    }
    *dtype_field(p, info->field) = value;
    return ATTEST_OK;
}

static attest_status take_scale(attest_problem *p, const char *text, attest_error *err)
{
    p->scale = attest_default_scale(p->d);
    if (text && !attest_text_number(&p->scale, text))
        return attest_fail(err, ATTEST_BAD_INPUT, "scale=%.80s: scale is a finite number, decimal or hexadecimal",
                           text);
    return ATTEST_OK;
}

static attest_status take_family(attest_case *c, const char *text, attest_error *err)
{
    if (text && strlen(text) >= sizeof c->family)
        return attest_fail(err, ATTEST_BAD_INPUT, "family=%.40s...: a family has at most %d bytes", text,
                           ATTEST_FAMILY - 1);
    snprintf(c->family, sizeof c->family, "%s", text ? text : "normal");
    return ATTEST_OK;
}

static attest_status take_seed(attest_case *c, const char *text, attest_error *err)
{
    if (text && !attest_text_integer(&c->seed, text, 0, UINT64_MAX))
        return attest_fail(err, ATTEST_BAD_INPUT, "seed=%.80s: a seed is an integer from 0 to 18446744073709551615",
                           text);
    return ATTEST_OK;
}

/* One key of the table; keys that it takes its default from come earlier in the table. */
static attest_status take_key(attest_case *c, const key_info *info, const char *text, const attest_sizes *sizes,
                              attest_error *err)
{
    switch (info->kind) {
    case KEY_SIZE:
    case KEY_COUNTER: return take_integer(&c->problem, info, text, sizes, err);
    case KEY_SCALE: return take_scale(&c->problem, text, err);
    case KEY_DTYPE: return take_dtype(&c->problem, info, text, err);
    case KEY_FAMILY: return take_family(c, text, err);
    case KEY_SEED: return take_seed(c, text, err);
    }
    return attest_fail(err, ATTEST_INTERNAL, "key %s has no kind", info->key);
}

/* What only the whole line shows. */
static attest_status check_whole(const attest_case *c, attest_error *err)
{
    const attest_problem *p = &c->problem;
    char text[64], line[ATTEST_LINE];
    int lowest, highest;
    attest_status status = attest_variant_check(p->axis, p->n, p->m, err);
    if (status == ATTEST_OK)
        status = attest_types_check(p, err);
    if (status != ATTEST_OK)
        return status;
    if (p->hq % p->hkv != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "hq=%lld hkv=%lld: hq is a multiple of hkv", (long long)p->hq,
                           (long long)p->hkv);
    if (attest_axis_value_of(p, ATTEST_AXIS_ROPE) != ATTEST_ROPE_NONE && p->d % 2 != 0) {
        attest_axis_print(text, sizeof text, ATTEST_AXIS_ROPE, &p->axis[ATTEST_AXIS_ROPE]);
        return attest_fail(err, ATTEST_BAD_INPUT, "rope=%s contradicts d=%lld: rope needs an even d", text,
                           (long long)p->d);
    }
    if (attest_axis_value_of(p, ATTEST_AXIS_STATE) != ATTEST_STATE_NONE &&
        attest_variant_degrees(p->axis, &lowest, &highest) &&
        attest_state_rows(attest_feature_dim(p), highest, 0) < 0) {
        attest_axis_print(text, sizeof text, ATTEST_AXIS_WEIGHT, &p->axis[ATTEST_AXIS_WEIGHT]);
        return attest_fail(err, ATTEST_BAD_INPUT, "state=draw weight=%s d=%lld: a state has at most 2^40 rows", text,
                           (long long)p->d);
    }
    if (attest_case_print(line, sizeof line, c, err) != ATTEST_OK)
        return attest_fail(err, ATTEST_BAD_INPUT, "longer than %d bytes when printed", ATTEST_LINE - 1);
    return ATTEST_OK;
}

static void note_stated(attest_stated *stated, char *const values[KEY_COUNT])
{
    char *const *v = values + FIRST_INFO; /* in the order of infos[] */
    *stated = (attest_stated){ .b = v[0] != NULL,
                               .hq = v[1] != NULL,
                               .hkv = v[2] != NULL,
                               .n = v[3] != NULL,
                               .m = v[4] != NULL,
                               .d = v[5] != NULL,
                               .e = v[6] != NULL,
                               .scale = v[7] != NULL,
                               .in = v[8] != NULL };
}

attest_status attest_case_parse(attest_case *c, const char *line, const attest_sizes *sizes, attest_stated *stated,
                                attest_error *err)
{
    attest_status status = ATTEST_OK;
    char *values[KEY_COUNT] = { NULL };
    char usual[2 * ATTEST_LINE], *copy = usual; /* a canonical line is parsed again without memory */
    if (line && strlen(line) >= sizeof usual)
        copy = strdup(line);
    else
        strcpy(usual, line ? line : "");
    memset(c, 0, sizeof *c);
    if (stated)
        *stated = (attest_stated){ 0 };
    if (!copy) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "no memory for the line");
        goto out;
    }
    c->problem.struct_size = (uint32_t)sizeof c->problem;
    c->problem.axis_count = ATTEST_AXIS_COUNT;
    ATTEST_TRY(split_line(values, copy, err));
    ATTEST_TRY(
        attest_preset_resolve(c->problem.axis, c->preset, sizeof c->preset, values[0] ? values[0] : "softmax", err));
    for (uint32_t i = 0; i < ATTEST_AXIS_COUNT; i++) {
        if (values[1 + i])
            ATTEST_TRY(attest_axis_parse(&c->problem.axis[i], i, values[1 + i], err));
    }
    for (size_t i = 0; i < INFO_COUNT; i++)
        ATTEST_TRY(take_key(c, &infos[i], values[FIRST_INFO + i], sizes, err));
    ATTEST_TRY(check_whole(c, err));
    if (stated)
        note_stated(stated, values);
out:
    if (copy != usual)
        free(copy);
    if (status != ATTEST_OK) {
        memset(c, 0, sizeof *c);
        attest_fail_prefix(err, status, "problem line");
    }
    return status;
}

/* ---- print ------------------------------------------------------------------------------------------------ */
typedef struct writer {
    char *line;
    size_t len, used;
    int full;
} writer;

static void put(writer *w, char c)
{
    if (w->used + 1 >= w->len)
        w->full = 1;
    else
        w->line[w->used++] = c;
}

static void put_pair(writer *w, const char *key, const char *value)
{
    if (w->used > 0)
        put(w, ' ');
    for (; *key; key++)
        put(w, *key);
    put(w, '=');
    for (; *value; value++) {
        const unsigned char c = (unsigned char)*value;
        if (c > ' ' && c != '%' && c != 0x7f) {
            put(w, *value);
        } else {
            put(w, '%');
            put(w, "0123456789ABCDEF"[c >> 4]);
            put(w, "0123456789ABCDEF"[c & 15]);
        }
    }
}

/* The value of a key as text; 0 if it is the default. */
static int key_text(char *text, size_t len, const attest_case *c, const key_info *info)
{
    attest_problem p = c->problem;
    uint64_t value = 0;
    switch (info->kind) {
    case KEY_SIZE:
    case KEY_COUNTER:
        value = (uint64_t)*integer_field(&p, info->field);
        snprintf(text, len, "%lld", (long long)value);
        return value != default_of(info, &p);
    case KEY_DTYPE:
        value = *dtype_field(&p, info->field);
        snprintf(text, len, "%s", attest_dtype_name((uint32_t)value));
        return value != default_of(info, &p);
    case KEY_SCALE:
        attest_double_text(text, len, p.scale);
        return attest_f64_bits(p.scale) != attest_f64_bits(attest_default_scale(p.d));
    case KEY_FAMILY: snprintf(text, len, "%s", c->family); return strcmp(c->family, "normal") != 0;
    case KEY_SEED: snprintf(text, len, "%llu", (unsigned long long)c->seed); return c->seed != 0;
    }
    return 0;
}

attest_status attest_case_print(char *line, size_t len, const attest_case *c, attest_error *err)
{
    writer w = { line, len, 0, len == 0 };
    char text[ATTEST_FAMILY];
    attest_setting preset[ATTEST_AXIS_COUNT];
    attest_status status = attest_variant_from_preset(preset, c->preset, err);
    if (len > 0)
        line[0] = '\0';
    if (status != ATTEST_OK)
        return attest_fail(err, ATTEST_INTERNAL, "case without a preset: `%.40s`", c->preset);
    put_pair(&w, "variant", c->preset);
    for (uint32_t i = 0; i < ATTEST_AXIS_COUNT; i++) {
        if (attest_setting_equal(&preset[i], &c->problem.axis[i]))
            continue;
        attest_axis_print(text, sizeof text, i, &c->problem.axis[i]);
        put_pair(&w, attest_axes[i].key, text);
    }
    for (size_t i = 0; i < INFO_COUNT; i++) {
        if (key_text(text, sizeof text, c, &infos[i]))
            put_pair(&w, infos[i].key, text);
    }
    if (w.full) {
        if (len > 0)
            line[0] = '\0';
        return attest_fail(err, ATTEST_INTERNAL, "the problem line does not fit into %zu bytes", len);
    }
    line[w.used] = '\0';
    return ATTEST_OK;
}
