/* conditions.c - the table of conditions: tokens of the line, sizes against powers of two, relations of sizes. */
#include "reports/causes/conditions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N, M, D, E, B, HQ, HKV, CHUNK };

static const char *const size_names[CONDITION_SIZES] = { "n", "m", "d", "e", "b", "hq", "hkv", "chunk" };

typedef enum rule_kind { TOKEN, GIVEN, ABSENT, ABOVE, AT_MOST, ODD, MULTIPLE, LESS, EQUAL, UNEVEN, NEGATIVE } rule_kind;

struct condition_rule {
    rule_kind kind;
    int x, y;       /* sizes */
    int64_t number; /* to compare with */
};

/* Relations of two sizes, in words. */
static const struct {
    struct condition_rule rule;
    const char *text;
} relations[] = {
    { { LESS, N, M, 0 }, "n < m" },         { { LESS, M, N, 0 }, "m < n" },
    { { EQUAL, N, M, 0 }, "n = m" },        { { LESS, D, E, 0 }, "d < e" },
    { { LESS, E, D, 0 }, "e < d" },         { { EQUAL, D, E, 0 }, "d = e" },
    { { LESS, HKV, HQ, 0 }, "hkv < hq" },   { { EQUAL, HKV, HQ, 0 }, "hkv = hq" },
    { { LESS, CHUNK, M, 0 }, "chunk < m" }, { { UNEVEN, M, CHUNK, 0 }, "m % chunk != 0" },
    { { NEGATIVE, 0, 0, 0 }, "scale < 0" },
};

const char *condition_value(const char *line, const char *key)
{
    const size_t length = strcspn(key, " ");
    for (const char *at = line; at && *at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

void condition_case_of(condition_case *c, const attest_result *result)
{
    const char *chunk = condition_value(result->problem, "chunk");
    *c = (condition_case){ .size = { result->n, result->m, result->d, result->e, result->b, result->hq, result->hkv,
                                     chunk ? strtoll(chunk, NULL, 10) : -1 },
                           .scale = result->scale,
                           .line = result->problem };
}

static int add(condition_set *set, struct condition_rule rule, const char *text)
{
    char(*texts)[48] = realloc(set->text, (set->count + 1) * sizeof *texts);
    if (texts)
        set->text = texts;
    struct condition_rule *rules = texts ? realloc(set->rule, (set->count + 1) * sizeof *rules) : NULL;
    if (!rules)
        return 0;
    set->rule = rules;
    set->rule[set->count] = rule;
    snprintf(set->text[set->count++], sizeof *texts, "%s", text);
    return 1;
}

static int known(const condition_set *set, const char *text)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->text[i], text) == 0)
            return 1;
    return 0;
}

/* Numbers are rules on sizes; a seed is no condition. */
static int is_condition(const char *token, size_t key)
{
    for (int s = 0; s < CONDITION_SIZES; s++)
        if (strlen(size_names[s]) == key && strncmp(token, size_names[s], key) == 0)
            return 0;
    return !(key == 4 && strncmp(token, "seed", 4) == 0);
}

/* The tokens of a line: `mask=causal`, `family=range` for `family=range:8` too, `mask given` and `mask not given`. */
static int add_tokens(condition_set *set, const char *line)
{
    for (const char *at = line; *at;) {
        const size_t length = strcspn(at, " "), key = strcspn(at, "="), head = strcspn(at, " :");
        char token[48], without[48];
        if (length < sizeof token - 10 && key < length && is_condition(at, key) && set->count < CONDITION_TOKENS) {
            snprintf(token, sizeof token, "%.*s", (int)length, at);
            if (!known(set, token) && !add(set, (struct condition_rule){ .kind = TOKEN }, token))
                return 0;
            snprintf(token, sizeof token, "%.*s", (int)head, at);
            if (!known(set, token) && !add(set, (struct condition_rule){ .kind = TOKEN }, token))
                return 0;
            snprintf(without, sizeof without, "%.*s not given", (int)key, at);
            if (!known(set, without) && !add(set, (struct condition_rule){ .kind = ABSENT }, without))
                return 0;
            snprintf(without, sizeof without, "%.*s given", (int)key, at);
            if (!known(set, without) && !add(set, (struct condition_rule){ .kind = GIVEN }, without))
                return 0;
        }
        at += length + (at[length] == ' ');
    }
    return 1;
}

/* The largest power of two comes first: of conditions that hold as much, the narrowest is told. */
static int add_sizes(condition_set *set)
{
    char text[48];
    for (int s = 0; s < CHUNK; s++)
        for (int64_t number = 4096; number >= 1; number /= 2) {
            static const struct {
                rule_kind kind;
                const char *format;
            } kinds[] = { { ABOVE, "%s > %d" }, { ODD, "%s %% %d != 0" }, { MULTIPLE, "%s %% %d = 0" } };
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                snprintf(text, sizeof text, kinds[k].format, size_names[s], (int)number);
                if ((kinds[k].kind == ABOVE || number > 1) &&
                    !add(set, (struct condition_rule){ kinds[k].kind, s, 0, number }, text))
                    return 0;
            }
        }
    for (int s = 0; s < CHUNK; s++)
        for (int64_t number = 1; number <= 256; number *= 2) {
            snprintf(text, sizeof text, "%s <= %d", size_names[s], (int)number);
            if (!add(set, (struct condition_rule){ AT_MOST, s, 0, number }, text))
                return 0;
        }
    return 1;
}

attest_status condition_set_of(condition_set *set, const char *const *lines, size_t count, attest_error *err)
{
    *set = (condition_set){ 0 };
    int ok = 1;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_tokens(set, lines[i]);
    for (size_t r = 0; ok && r < sizeof relations / sizeof *relations; r++)
        ok = add(set, relations[r].rule, relations[r].text);
    if (ok && add_sizes(set))
        return ATTEST_OK;
    condition_set_clear(set);
    return attest_fail(err, ATTEST_NO_MEMORY, "out of memory");
}

/* Is `text` a token of the line, whole or up to a colon? */
static int has_token(const char *line, const char *text)
{
    const size_t length = strlen(text);
    for (const char *at = line; at && *at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
        if (strncmp(at, text, length) == 0 && strchr(" :", at[length])) /* the 0 at the end too */
            return 1;
    return 0;
}

int condition_holds(const condition_set *set, size_t number, const condition_case *c)
{
    const struct condition_rule *rule = &set->rule[number];
    const int64_t x = c->size[rule->x], y = c->size[rule->y];
    switch (rule->kind) {
    case TOKEN: return has_token(c->line, set->text[number]);
    case GIVEN: return condition_value(c->line, set->text[number]) != NULL;
    case ABSENT: return condition_value(c->line, set->text[number]) == NULL;
    case ABOVE: return x > rule->number;
    case AT_MOST: return x >= 0 && x <= rule->number;
    case ODD: return x >= 0 && x % rule->number != 0;
    case MULTIPLE: return x >= 0 && x % rule->number == 0;
    case LESS: return x >= 0 && x < y;
    case EQUAL: return x >= 0 && x == y;
    case UNEVEN: return x >= 0 && y > 0 && x % y != 0;
    case NEGATIVE: return c->scale < 0;
    }
    return 0;
}

void condition_set_clear(condition_set *set)
{
    free(set->text);
    free(set->rule);
    *set = (condition_set){ 0 };
}
