/* suite_rules.c - what a suite says about its cases: !skip and !allow rules, !floor counts. */
#include "verify/suite/suite_rules.h"
#include "kernels/text.h"
#include "reports/report.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- settings --------------------------------------------------------------------------------------------------- */
/* The axis of the word `key=value...`, ATTEST_AXIS_COUNT if the key is none. */
static uint32_t axis_of_word(const char *word)
{
    const size_t key = strcspn(word, "=");
    for (uint32_t i = 0; i < ATTEST_AXIS_COUNT; i++)
        if (strlen(attest_axes[i].key) == key && strncmp(attest_axes[i].key, word, key) == 0)
            return attest_axes[i].axis;
    return ATTEST_AXIS_COUNT;
}

/* A word of the settings surely differs from the case: an axis with another value; with `by_name`, also a preset of
 * another name (which may be the same function all the same).  Saves the parsing of most cases. */
static int differs(const attest_case *c, const char *settings, int by_name)
{
    char word[ATTEST_LINE];
    for (const char *at = settings + strspn(settings, " \t"); *at; at += strspn(at, " \t")) {
        const size_t length = strcspn(at, " \t");
        attest_setting setting;
        attest_error err;
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        const uint32_t axis = axis_of_word(word);
        if (axis != ATTEST_AXIS_COUNT && attest_axis_parse(&setting, axis, strchr(word, '=') + 1, &err) == ATTEST_OK &&
            !attest_setting_equal(&setting, &c->problem.axis[axis]))
            return 1;
        if (by_name && strncmp(word, "variant=", 8) == 0 && strcmp(word + 8, c->preset) != 0)
            return 1;
        at += length;
    }
    return 0;
}

/* 1 if the case has all settings `key=value key=value`: putting them into its line leaves the case as it is. */
static int has_settings(const attest_case *c, uint64_t hash, const char *settings)
{
    char line[ATTEST_LINE], changed[2 * ATTEST_LINE];
    attest_error err;
    attest_case other;
    size_t n = 0;
    if (differs(c, settings, 0) || attest_case_print(line, sizeof line, c, &err) != ATTEST_OK)
        return 0;
    for (const char *at = line; *at; at += strspn(at, " ")) {
        const size_t word = strcspn(at, " "), key = strcspn(at, "=") + 1;
        int named = 0;
        for (const char *s = settings + strspn(settings, " \t"); *s && !named; s += strspn(s, " \t")) {
            named = strncmp(s, at, key) == 0;
            s += strcspn(s, " \t");
        }
        if (!named)
            n += (size_t)snprintf(changed + n, sizeof changed - n, "%.*s ", (int)word, at);
        at += word;
    }
    snprintf(changed + n, sizeof changed - n, "%s", settings);
    return attest_case_parse(&other, changed, NULL, NULL, &err) == ATTEST_OK && attest_case_hash(&other) == hash &&
           other.problem.chunk == c->problem.chunk && other.problem.splits == c->problem.splits;
}

/* The value is one that the key can have somewhere; contradictions between keys do not matter here. */
static attest_status check_setting(const char *setting, attest_error *err)
{
    attest_setting axes[ATTEST_AXIS_COUNT];
    char line[2 * ATTEST_LINE];
    attest_case c;
    const char *equals = strchr(setting, '=');
    if (!equals)
        return attest_fail(err, ATTEST_BAD_INPUT, "`%s` is not key=value", setting);
    const size_t key = (size_t)(equals - setting);
    const uint32_t axis = axis_of_word(setting);
    if (axis != ATTEST_AXIS_COUNT)
        return attest_axis_parse(&axes[0], axis, equals + 1, err);
    if (key == 7 && strncmp(setting, "variant", key) == 0)
        return attest_variant_from_preset(axes, equals + 1, err);
    snprintf(line, sizeof line, "%s%s%s%s",
             strncmp(setting, "hkv=", 4) ? "" : "hq=", strncmp(setting, "hkv=", 4) ? "" : equals + 1,
             strncmp(setting, "hkv=", 4) ? "" : " ", setting);
    return attest_case_parse(&c, line, NULL, NULL, err);
}

static attest_status check_settings(const char *settings, attest_error *err)
{
    char word[ATTEST_LINE];
    for (const char *at = settings + strspn(settings, " \t"); *at; at += strspn(at, " \t")) {
        const size_t length = strcspn(at, " \t");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        const attest_status status = check_setting(word, err);
        if (status != ATTEST_OK)
            return status;
        at += length;
    }
    return ATTEST_OK;
}

/* ---- rules about cases of kernels -------------------------------------------------------------------------------- */
attest_status attest_rules_grow(void **rules, size_t count, size_t size, const char *begin, attest_error *err)
{
    if (count >= ATTEST_RULES_MOST)
        return attest_fail(err, ATTEST_BAD_INPUT, "more than %d rules `%s`", ATTEST_RULES_MOST, begin);
    if (count & (count - 1)) /* full where count is 0 or a power of two */
        return ATTEST_OK;
    void *more = realloc(*rules, (count ? 2 * count : 1) * size);
    if (!more)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for rules of the suite");
    *rules = more;
    return ATTEST_OK;
}

/* `KERNELGLOB key=value ... : reason` */
attest_status attest_rule_read(attest_case_rule **rules, size_t *count, const char *begin, const char *text,
                               attest_error *err)
{
    attest_case_rule rule;
    const char *colon = strstr(text, " : ");
    const size_t kernel = strcspn(text, " \t");
    memset(&rule, 0, sizeof rule);
    if (!colon || kernel == 0 || kernel >= sizeof rule.kernel || text + kernel > colon ||
        strlen(colon + 3) >= sizeof rule.reason || strspn(colon + 3, " \t") == strlen(colon + 3))
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "such a rule is `%s KERNELGLOB key=value ... : reason` "
                           "(kernel under %zu bytes, reason under %zu)",
                           begin, sizeof rule.kernel, sizeof rule.reason);
    memcpy(rule.kernel, text, kernel);
    attest_text_clean(rule.reason, sizeof rule.reason, colon + 3 + strspn(colon + 3, " \t"));
    const char *from = text + kernel + strspn(text + kernel, " \t");
    snprintf(rule.settings, sizeof rule.settings, "%.*s", (int)(from < colon ? colon - from : 0), from);
    void *list = *rules;
    attest_status status = check_settings(rule.settings, err);
    if (status == ATTEST_OK)
        status = attest_rules_grow(&list, *count, sizeof rule, begin, err);
    *rules = list;
    if (status == ATTEST_OK)
        (*rules)[(*count)++] = rule;
    return status;
}

/* The words of `absent,illposed` as a set; 0: another word is there. */
static unsigned classes_of(const char *text, size_t length)
{
    unsigned set = 0;
    for (size_t at = 0; at < length;) {
        const size_t word = strcspn(text + at, ", \t");
        unsigned bit = 0;
        for (int i = 0; i < ATTEST_LEFT_CLASSES; i++)
            if (strlen(attest_left_names[i]) == word && strncmp(attest_left_names[i], text + at, word) == 0)
                bit = 1u << i;
        if (!bit)
            return 0;
        set |= bit;
        at += word + 1;
    }
    return set;
}

/* A misspelt class is read as the kernel: what is wrong behind it is told with what was taken for the kernel. */
static attest_status tell_kernel(const char *text, int first, attest_status status, attest_error *err)
{
    const attest_error was = *err;
    char names[128] = "";
    for (int i = 0; i < ATTEST_LEFT_CLASSES; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", attest_left_names[i]);
    return attest_fail(err, status, "%.300s (`%.*s` was read as the kernel; the classes are %s)", was.text, first, text,
                       names);
}

attest_status attest_allow_read(attest_suite *s, const char *text, attest_error *err)
{
    const size_t first = strcspn(text, " \t");
    const unsigned named = classes_of(text, first);
    const unsigned usual = ((1u << ATTEST_LEFT_CLASSES) - 1) & ~(unsigned)ATTEST_LEFT_BLIND;
    const char *rule = named ? text + first + strspn(text + first, " \t") : text;
    const attest_status status = attest_rule_read(&s->allows, &s->allow_count, "!allow partial [CLASS,..]", rule, err);
    if (status == ATTEST_OK)
        s->allows[s->allow_count - 1].classes = named ? named : usual;
    else if (!named)
        return tell_kernel(text, (int)first, status, err);
    return status;
}

static int fits(const attest_case_rule *rule, const char *kernel, const attest_case *c)
{
    return fnmatch(rule->kernel, kernel, 0) == 0 && has_settings(c, attest_case_hash(c), rule->settings);
}

const char *attest_suite_skip(const attest_suite *suite, const char *kernel, const attest_case *c)
{
    for (size_t i = 0; i < suite->skip_count; i++)
        if (fits(&suite->skips[i], kernel, c))
            return suite->skips[i].reason;
    return NULL;
}

const char *attest_suite_allow(const attest_suite *suite, const char *kernel, const attest_case *c, unsigned classes)
{
    for (size_t i = 0; i < suite->allow_count && classes; i++) {
        const attest_case_rule *rule = &suite->allows[i];
        if (rule->classes & classes && fits(rule, kernel, c))
            classes &= ~rule->classes;
        if (!classes)
            return rule->reason;
    }
    return NULL;
}

/* ---- floors ----------------------------------------------------------------------------------------------------- */
attest_status attest_floor_read(attest_floor *floor, const char *text, attest_error *err)
{
    char *end;
    const long count = strtol(text, &end, 10);
    const char *settings = end + strspn(end, " \t");
    if (end == text || count < 1 || count > 1000000 || settings == end || !*settings ||
        strlen(settings) >= sizeof floor->settings)
        return attest_fail(err, ATTEST_BAD_INPUT, "a floor is `!floor COUNT key=value ...`, COUNT in 1..1000000");
    floor->count = (size_t)count;
    strcpy(floor->settings, settings);
    return check_settings(settings, err);
}

/* Counts the cases that have the settings of floors; those without enough once more, not by the preset's name alone. */
static void count_cases(const attest_suite *suite, attest_floor *floors, size_t count, int by_name)
{
    for (size_t f = 0; f < count; f++)
        floors[f].found = by_name || floors[f].found < floors[f].count ? 0 : floors[f].found;
    for (size_t i = 0; i < suite->case_count; i++) {
        attest_case c;
        attest_suite_case(&c, suite, i);
        const uint64_t hash = attest_case_hash(&c);
        for (size_t f = 0; f < count; f++)
            if (floors[f].found < floors[f].count && !differs(&c, floors[f].settings, by_name))
                floors[f].found += (size_t)has_settings(&c, hash, floors[f].settings);
    }
}

attest_status attest_floors_check(const attest_suite *suite, attest_floor *floors, size_t count, int *line,
                                  attest_error *err)
{
    int low = 0;
    for (int by_name = 1; by_name >= 0 && count > 0; by_name--) {
        if (by_name || low)
            count_cases(suite, floors, count, by_name);
        low = 0;
        for (size_t f = 0; f < count; f++)
            low |= floors[f].found < floors[f].count;
    }
    for (size_t f = 0; f < count; f++) {
        *line = floors[f].line;
        if (floors[f].found < floors[f].count)
            return attest_fail(err, ATTEST_BAD_INPUT, "the suite has %zu cases with %s, its floor is %zu",
                               floors[f].found, floors[f].settings, floors[f].count);
    }
    return ATTEST_OK;
}

/* ---- --where ----------------------------------------------------------------------------------------------------- */
int attest_suite_has(const attest_case *c, const char *settings)
{
    return has_settings(c, attest_case_hash(c), settings);
}

attest_status attest_suite_where(attest_suite *suite, const char *settings, attest_error *err)
{
    const attest_status status = check_settings(settings, err);
    const size_t count = suite->case_count, first_drawn = count - suite->drawn;
    if (status != ATTEST_OK)
        return status;
    suite->case_count = suite->drawn = 0;
    for (size_t i = 0; i < count; i++) {
        attest_case c;
        attest_suite_case(&c, suite, i);
        /* what is kept lies at or before what is read */
        if (!attest_suite_has(&c, settings))
            continue;
        suite->line[suite->case_count++] = suite->line[i];
        suite->drawn += i >= first_drawn;
    }
    return ATTEST_OK;
}
