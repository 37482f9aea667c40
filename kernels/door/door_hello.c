/* door_hello.c - the first line of a program, and the problems that it serves by it. */
#include <stdio.h>
#include <string.h>

#include "kernels/door/door_private.h"
#include "kernels/problem/problem.h"

#define WORD 256

static const char *const type_keys[4] = { "in", "acc", "p", "out" };

static attest_status keep(char *to, size_t size, const char *key, const char *value, attest_error *err)
{
    if (strlen(value) >= size)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s=%s: longer than %zu bytes", key, value, size - 1);
    strcpy(to, value);
    return ATTEST_OK;
}

/* Each of the words between commas, to `take`. */
static attest_status each_value(const char *list,
                                attest_status (*take)(void *state, const char *value, attest_error *err), void *state,
                                attest_error *err)
{
    char value[WORD];
    for (const char *at = list;; at++) {
        const size_t len = strcspn(at, ",");
        snprintf(value, sizeof value, "%.*s", (int)len, at);
        const attest_status status = take(state, value, err);
        at += len;
        if (status != ATTEST_OK || *at == '\0')
            return status;
    }
}

typedef struct axis_list {
    uint32_t axis;
    const attest_problem *p; /* NULL: only read */
    int found;
} axis_list;

/* Later values that programs which say `any` have not met and that lack a tensor of the others: by name alone. */
static const struct {
    uint32_t axis, value;
} by_name[] = { { ATTEST_AXIS_ALIBI, ATTEST_ALIBI_USUAL } };

static int is_by_name(const attest_problem *p, uint32_t axis)
{
    int found = 0;
    for (size_t k = 0; k < sizeof by_name / sizeof by_name[0]; k++)
        found |= by_name[k].axis == axis && by_name[k].value == p->axis[axis].value;
    return found;
}

static attest_status take_axis(void *state, const char *value, attest_error *err)
{
    axis_list *list = state;
    attest_setting setting;
    if (strcmp(value, "any") == 0) {
        list->found |= !list->p || !is_by_name(list->p, list->axis);
        return ATTEST_OK;
    }
    const attest_status status = attest_axis_parse(&setting, list->axis, value, err);
    if (status == ATTEST_OK && list->p && attest_setting_equal(&setting, &list->p->axis[list->axis]))
        list->found = 1;
    return status;
}

typedef struct type_list {
    uint32_t wanted;
    int found;
} type_list;

static attest_status take_type(void *state, const char *value, attest_error *err)
{
    type_list *list = state;
    for (uint32_t dtype = ATTEST_F32; dtype <= ATTEST_BF16; dtype++)
        if (strcmp(value, attest_dtype_name(dtype)) == 0) {
            list->found |= dtype == list->wanted;
            return ATTEST_OK;
        }
    return attest_fail(err, ATTEST_BAD_INPUT, "'%s' is no type: f32, f64, f16 or bf16", value);
}

typedef struct variant_list {
    const attest_door_hello *hello;
    const attest_problem *p; /* NULL: only read */
    int found;
    uint32_t unserved; /* axis of the last variant that is not as the problem has it */
} variant_list;

/* Every axis is that of the variant, or among those that are named. */
static attest_status take_variant(void *state, const char *value, attest_error *err)
{
    variant_list *list = state;
    attest_setting base[ATTEST_AXIS_COUNT];
    const attest_status status = attest_variant_from_preset(base, value, err);
    int served = status == ATTEST_OK && list->p;
    for (uint32_t axis = 0; served && axis < ATTEST_AXIS_COUNT; axis++) {
        const char *own = list->hello->axes[axis];
        axis_list values = { axis, list->p, !*own && attest_setting_equal(&base[axis], &list->p->axis[axis]) };
        if (*own)
            each_value(own, take_axis, &values, err);
        served = values.found;
        list->unserved = axis;
    }
    list->found |= served;
    return status;
}

static attest_status take_word(attest_door_hello *hello, const char *word, attest_error *err)
{
    const char *value = strchr(word, '=');
    const size_t key = value ? (size_t)(value - word) : 0;
    attest_status status = ATTEST_OK;
    int taken = 0;
    if (!value)
        return attest_fail(err, ATTEST_BAD_INPUT, "'%s' is not key=value", word);
    value++;
    if (strncmp(word, "name=", 5) == 0)
        return keep(hello->name, sizeof hello->name, "name", value, err);
    if (strncmp(word, "version=", 8) == 0)
        return keep(hello->version, sizeof hello->version, "version", value, err);
    if (strncmp(word, "variants=", 9) == 0) {
        ATTEST_TRY(keep(hello->variants, sizeof hello->variants, "variants", value, err));
        return each_value(value, take_variant, &(variant_list){ hello, NULL, 0, 0 }, err);
    }
    if (strncmp(word, "asks=", 5) == 0) {
        hello->asks = strcmp(value, "yes") == 0;
        return ATTEST_OK;
    }
    for (size_t i = 0; i < 4; i++)
        if (strlen(type_keys[i]) == key && strncmp(type_keys[i], word, key) == 0) {
            ATTEST_TRY(keep(hello->types[i], sizeof hello->types[i], type_keys[i], value, err));
            return each_value(value, take_type, &(type_list){ 0, 0 }, err);
        }
    for (uint32_t i = 0; i < ATTEST_AXIS_COUNT; i++)
        if (strlen(attest_axes[i].key) == key && strncmp(attest_axes[i].key, word, key) == 0) {
            const uint32_t axis = attest_axes[i].axis;
            ATTEST_TRY(keep(hello->axes[axis], sizeof hello->axes[axis], attest_axes[i].key, value, err));
            return each_value(value, take_axis, &(axis_list){ axis, NULL, 0 }, err);
        }
    ATTEST_TRY(attest_declaration_word(&hello->declared, &taken, word, err));
    if (!taken)
        status = attest_fail(err, ATTEST_BAD_INPUT, "'%s' is no axis, no type and nothing that a kernel declares",
                             word);
out:
    return status;
}

attest_status attest_door_hello_parse(attest_door_hello *hello, const char *line, attest_error *err)
{
    char word[WORD];
    memset(hello, 0, sizeof *hello);
    strcpy(hello->name, "program");
    strcpy(hello->version, "1");
    strcpy(hello->variants, "softmax");
    attest_declaration_init(&hello->declared);
    if (strncmp(line, "attest 1", 8) != 0 || (line[8] != ' ' && line[8] != '\0'))
        return attest_fail(err, ATTEST_BAD_INPUT, "the program's first line is '%.100s', not `attest 1 KEY=VALUE ..`",
                           line);
    for (const char *at = line + 8 + strspn(line + 8, " "); *at; at += strspn(at, " ")) {
        const size_t len = strcspn(at, " ");
        if (len >= sizeof word)
            return attest_fail(err, ATTEST_BAD_INPUT, "a word of the first line is longer than %d bytes", WORD - 1);
        snprintf(word, sizeof word, "%.*s", (int)len, at);
        const attest_status status = take_word(hello, word, err);
        if (status != ATTEST_OK)
            return status;
        at += len;
    }
    return ATTEST_OK;
}

/* ---- what it serves ----------------------------------------------------------------------------------------- */
static int refuse(char *why, size_t len, const char *key, const char *value)
{
    snprintf(why, len, "%s=%s is not served", key, value);
    return 0;
}

static int serves_types(const attest_door_hello *hello, const attest_problem *p, char *why, size_t len)
{
    const uint32_t own_acc = p->in == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    const uint32_t given[4] = { p->in, p->acc, p->p, p->out }, usual[4] = { ATTEST_F32, own_acc, p->acc, p->in };
    for (size_t i = 0; i < 4; i++) {
        type_list list = { given[i], hello->types[i][0] == '\0' && given[i] == usual[i] };
        attest_error err;
        if (hello->types[i][0])
            each_value(hello->types[i], take_type, &list, &err);
        if (!list.found)
            return refuse(why, len, type_keys[i], attest_dtype_name(given[i]));
    }
    return 1;
}

int attest_door_hello_serves(const attest_door_hello *hello, const attest_problem *p, char *why, size_t len)
{
    const int later = attest_axis_unserved(p, ATTEST_AXES_KNOWN);
    variant_list list = { hello, p, 0, 0 };
    attest_error err;
    char value[64];
    if (later >= 0)
        return snprintf(why, len, "axis number %d is not known to this version", later), 0;
    each_value(hello->variants, take_variant, &list, &err);
    if (list.found)
        return serves_types(hello, p, why, len);
    attest_axis_print(value, sizeof value, list.unserved, &p->axis[list.unserved]);
    return refuse(why, len, attest_axes[list.unserved].key, value);
}

void attest_door_problem(char *text, size_t len, const attest_problem *p)
{
    const struct {
        const char *key;
        int64_t value;
    } sizes[] = { { "b", p->b }, { "hq", p->hq }, { "hkv", p->hkv },     { "n", p->n },          { "m", p->m },
                  { "d", p->d }, { "e", p->e },   { "chunk", p->chunk }, { "splits", p->splits } };
    const uint32_t types[4] = { p->in, p->acc, p->p, p->out };
    char value[64];
    size_t n = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        n += (size_t)snprintf(text + n, n < len ? len - n : 0, "%s=%lld ", sizes[i].key, (long long)sizes[i].value);
    attest_double_text(value, sizeof value, p->scale);
    n += (size_t)snprintf(text + n, n < len ? len - n : 0, "scale=%s", value);
    for (size_t i = 0; i < 4; i++)
        n += (size_t)snprintf(text + n, n < len ? len - n : 0, " %s=%s", type_keys[i], attest_dtype_name(types[i]));
    for (uint32_t i = 0; i < ATTEST_AXIS_COUNT; i++) {
        const uint32_t axis = attest_axes[i].axis;
        if (p->axis[axis].value == 0)
            continue;
        attest_axis_print(value, sizeof value, axis, &p->axis[axis]);
        n += (size_t)snprintf(text + n, n < len ? len - n : 0, " %s=%s", attest_axes[i].key, value);
    }
}
