/* variant.c - settings and presets as text. */
#include "kernels/problem/variant.h"

#include "kernels/attest_float.h"
#include "kernels/problem/problem.h"
#include "kernels/problem/variant_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WINDOW_MAX 2147483647u
#define LIST_TEXT 800

/* Appends to a list of words, cut at the end of the buffer. */
static void append(char *list, const char *before, const char *text, const char *after)
{
    const size_t used = strlen(list);
    snprintf(list + used, LIST_TEXT - used, "%s%s%s", before, text, after);
}

static const char *argument_suffix(uint32_t argument)
{
    return argument == ATTEST_ARG_ORDER ? ":P" : argument == ATTEST_ARG_NUMBER ? ":NUMBER" : "";
}

/* "exp taylor:P", "none or a number > 0", ... */
static void describe_values(char list[LIST_TEXT], const attest_axis_info *info)
{
    list[0] = '\0';
    for (uint32_t i = 0; i < info->value_count; i++) {
        const attest_axis_value *v = &info->values[i];
        const char *gap = i ? " " : "";
        if (v->name)
            append(list, gap, v->name, argument_suffix(v->argument));
        else if (v->argument == ATTEST_ARG_BARE_INT)
            append(list, gap, "or an integer from 1 to 2147483647", "");
        else
            append(list, gap, v->above < 0 ? "or a finite number" : "or a number > 0", "");
    }
}

static void describe_presets(char list[LIST_TEXT])
{
    list[0] = '\0';
    for (size_t i = 0; i < attest_preset_count; i++)
        append(list, i ? " " : "", attest_presets[i].name, argument_suffix(attest_presets[i].argument));
}

/* Reads the argument of one value or preset; 0 if it is outside its range. */
static int read_argument(attest_setting *setting, uint32_t argument, double above, const char *text)
{
    uint64_t integer = 0;
    double number = 0.0;
    switch (argument) {
    case ATTEST_ARG_ORDER:
    case ATTEST_ARG_BARE_INT: {
        const int bare = argument == ATTEST_ARG_BARE_INT;
        const int ok = attest_text_integer(&integer, text, (uint64_t)bare, bare ? WINDOW_MAX : ATTEST_MAX_ORDER);
        setting->order = (uint32_t)integer;
        return ok;
    }
    case ATTEST_ARG_NUMBER:
    case ATTEST_ARG_BARE:
        if (!attest_text_number(&number, text) || !(number > above))
            return 0;
        setting->number = number;
        return 1;
    default: return 0;
    }
}

static const char *argument_range(uint32_t argument, double above)
{
    if (argument == ATTEST_ARG_ORDER)
        return "P is an integer from 0 to 64 without leading zeros";
    return above < 0 ? "the argument is a finite number" : "the argument is a number > 0";
}

/* 1 if `text` is `name` alone or `name:ARG`; *argument points behind the colon, NULL without one. */
static int name_matches(const char *text, const char *name, const char **argument)
{
    const size_t len = strlen(name);
    *argument = NULL;
    if (strncmp(text, name, len) != 0 || (text[len] != '\0' && text[len] != ':'))
        return 0;
    if (text[len] == ':')
        *argument = text + len + 1;
    return 1;
}

/* The argument of value or preset `name`, written as `key=text`; NULL: there is no colon. */
static attest_status take_argument(attest_setting *setting, uint32_t kind, double above, const char *argument,
                                   const char *key, const char *text, const char *name, attest_error *err)
{
    if (kind == ATTEST_ARG_NONE && argument)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s=%.80s: %s takes no argument", key, text, name);
    if (kind != ATTEST_ARG_NONE && !argument)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s=%.80s: an argument is missing, %s%s", key, text, name,
                           argument_suffix(kind));
    if (argument && !read_argument(setting, kind, above, argument))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s=%.80s: %s", key, text, argument_range(kind, above));
    return ATTEST_OK;
}

/* `eps=0.0` is the value named `0`. */
static int names_this_number(const attest_axis_value *v, const char *text)
{
    double named, given;
    return v->name && v->argument == ATTEST_ARG_NONE && attest_text_number(&named, v->name) &&
           attest_text_number(&given, text) && attest_f64_bits(named) == attest_f64_bits(given);
}

attest_status attest_axis_parse(attest_setting *setting, uint32_t axis, const char *text, attest_error *err)
{
    const attest_axis_info *info = &attest_axes[axis];
    char list[LIST_TEXT];
    *setting = (attest_setting){ 0 };
    for (uint32_t i = 0; i < info->value_count; i++) {
        const attest_axis_value *v = &info->values[i];
        const char *argument;
        attest_setting found = { v->value, 0, 0.0 };
        if (!v->name) {
            if (!read_argument(&found, v->argument, v->above, text))
                continue;
        } else if (name_matches(text, v->name, &argument)) {
            const attest_status status = take_argument(&found, v->argument, v->above, argument, info->key, text,
                                                       v->name, err);
            if (status != ATTEST_OK)
                return status;
        } else if (!names_this_number(v, text)) {
            continue;
        }
        *setting = found;
        return ATTEST_OK;
    }
    describe_values(list, info);
    return attest_fail(err, ATTEST_BAD_INPUT, "%s=%.80s: the values are %s", info->key, text, list);
}

void attest_axis_print(char *text, size_t len, uint32_t axis, const attest_setting *setting)
{
    const attest_axis_info *info = &attest_axes[axis];
    const attest_axis_value *v = &info->values[0];
    char number[40];
    for (uint32_t i = 0; i < info->value_count; i++) {
        if (info->values[i].value == setting->value)
            v = &info->values[i];
    }
    attest_double_text(number, sizeof number, setting->number);
    switch (v->argument) {
    case ATTEST_ARG_ORDER: snprintf(text, len, "%s:%u", v->name, (unsigned)setting->order); break;
    case ATTEST_ARG_NUMBER: snprintf(text, len, "%s:%s", v->name, number); break;
    case ATTEST_ARG_BARE: snprintf(text, len, "%s", number); break;
    case ATTEST_ARG_BARE_INT: snprintf(text, len, "%u", (unsigned)setting->order); break;
    default: snprintf(text, len, "%s", v->name); break;
    }
}

int attest_setting_equal(const attest_setting *a, const attest_setting *b)
{
    return a->value == b->value && a->order == b->order && attest_f64_bits(a->number) == attest_f64_bits(b->number);
}

/* Writes the settings of a preset's row, with `given` in the places that its own argument fills. */
static void apply_preset(attest_setting axis[ATTEST_AXIS_COUNT], const attest_preset *preset, attest_setting given)
{
    for (int i = 0; i < ATTEST_AXIS_COUNT; i++)
        axis[i] = (attest_setting){ 0 };
    for (uint32_t i = 0; i < preset->setting_count; i++) {
        const attest_preset_setting *s = &preset->settings[i];
        axis[s->axis].value = s->value;
        axis[s->axis].order = s->order == ATTEST_ORDER_FROM_NAME ? given.order : s->order;
        axis[s->axis].number = isnan(s->number) ? given.number : s->number;
    }
}

static void print_preset(char *text, size_t len, const attest_preset *preset, attest_setting given)
{
    char number[40];
    attest_double_text(number, sizeof number, given.number);
    if (preset->argument == ATTEST_ARG_ORDER)
        snprintf(text, len, "%s:%u", preset->name, (unsigned)given.order);
    else if (preset->argument == ATTEST_ARG_NUMBER)
        snprintf(text, len, "%s:%s", preset->name, number);
    else
        snprintf(text, len, "%s", preset->name);
}

attest_status attest_preset_resolve(attest_setting axis[ATTEST_AXIS_COUNT], char *canonical, size_t len,
                                    const char *text, attest_error *err)
{
    char list[LIST_TEXT];
    for (int i = 0; i < ATTEST_AXIS_COUNT; i++)
        axis[i] = (attest_setting){ 0 };
    if (canonical)
        canonical[0] = '\0';
    for (size_t i = 0; i < attest_preset_count; i++) {
        const attest_preset *preset = &attest_presets[i];
        const char *argument;
        attest_setting given = { 0 };
        if (!name_matches(text, preset->name, &argument))
            continue;
        const attest_status status = take_argument(&given, preset->argument, 0.0, argument, "variant", text,
                                                   preset->name, err);
        if (status != ATTEST_OK)
            return status;
        apply_preset(axis, preset, given);
        if (canonical)
            print_preset(canonical, len, preset, given);
        return ATTEST_OK;
    }
    describe_presets(list);
    return attest_fail(err, ATTEST_BAD_INPUT, "variant=%.80s: unknown; the variants are %s", text, list);
}

attest_status attest_variant_from_preset(attest_setting axis[ATTEST_AXIS_COUNT], const char *text, attest_error *err)
{
    return attest_preset_resolve(axis, NULL, 0, text, err);
}
