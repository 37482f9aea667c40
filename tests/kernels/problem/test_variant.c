/* test_variant.c - the tables of axes and presets, and the rules between axes against the design's sentences. */
#include "kernels/attest_float.h"
#include "kernels/problem/problem.h"
#include "tests/kernels/base_random.h"
#include "tests/kernels/problem/variant_rows.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *suite_variant(void);

typedef attest_setting axes[ATTEST_AXIS_COUNT];

/* Sets axes from `key=value key=value ...`. */
static void set_axes(axes axis, const char *text)
{
    char copy[512], *rest = copy, *word;
    attest_error err;
    snprintf(copy, sizeof copy, "%s", text);
    while ((word = strsep(&rest, " "))) {
        char *equal = strchr(word, '=');
        uint32_t i = 0;
        if (!equal)
            continue;
        *equal = '\0';
        while (i < ATTEST_AXIS_COUNT && strcmp(attest_axes[i].key, word) != 0)
            i++;
        ck_assert_msg(i < ATTEST_AXIS_COUNT, "no axis %s", word);
        ck_assert_msg(attest_axis_parse(&axis[i], i, equal + 1, &err) == ATTEST_OK, "%s", err.text);
    }
}

/* The inverse of set_axes: what differs from the defaults. */
static void print_axes(char *text, size_t len, axes axis)
{
    const attest_setting standard = { 0 };
    text[0] = '\0';
    for (uint32_t i = 0; i < ATTEST_AXIS_COUNT; i++) {
        char value[64];
        const size_t used = strlen(text);
        if (attest_setting_equal(&axis[i], &standard))
            continue;
        attest_axis_print(value, sizeof value, i, &axis[i]);
        snprintf(text + used, len - used, "%s%s=%s", used ? " " : "", attest_axes[i].key, value);
    }
}

START_TEST(tables)
{
    static const char keys[] = "weight center filter feature rope mask window lens decay gates norm affine update eps "
                               "clamp cap alibi state bias attn_mask pages kv decay_input dropout lens_q packed ";
    char seen[512] = "";
    for (uint32_t i = 0; i < ATTEST_AXIS_COUNT; i++) {
        const attest_axis_info *info = &attest_axes[i];
        snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s ", info->key);
        ck_assert_uint_eq(info->axis, i);
        ck_assert_uint_ge(info->value_count, 2);
        ck_assert(info->values[0].name && info->values[0].argument == ATTEST_ARG_NONE && info->summary[0]);
        for (uint32_t v = 0; v < info->value_count; v++) {
            ck_assert_uint_eq(info->values[v].value, v);
            ck_assert_msg(info->values[v].formula[0] && !strchr(info->values[v].formula, '\n'), "%s", info->key);
        }
    }
    ck_assert_str_eq(seen, keys);
    for (size_t i = 0; i < attest_preset_count; i++) {
        ck_assert(attest_presets[i].formula[0] && attest_presets[i].stands_for[0]);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(attest_presets[i].name, attest_presets[j].name);
    }
}
END_TEST

#define PRESET_ROWS (sizeof preset_axes / sizeof preset_axes[0])

START_TEST(presets)
{
    attest_error err;
    char text[512];
    for (size_t i = 0; i < PRESET_ROWS; i++) {
        axes got;
        ck_assert_msg(attest_variant_from_preset(got, preset_axes[i][0], &err) == ATTEST_OK, "%s", err.text);
        print_axes(text, sizeof text, got);
        ck_assert_msg(strcmp(text, preset_axes[i][1]) == 0, "%s is %s", preset_axes[i][0], text);
        ck_assert_msg(attest_variant_check(got, 64, 64, &err) == ATTEST_OK, "%s: %s", preset_axes[i][0], err.text);
    }
    for (size_t k = 0; k < attest_preset_count; k++) {
        const size_t length = strlen(attest_presets[k].name);
        int lines = 0;
        for (size_t i = 0; i < PRESET_ROWS; i++)
            lines += strncmp(preset_axes[i][0], attest_presets[k].name, length) == 0 &&
                     strchr(":", preset_axes[i][0][length]) != NULL;
        ck_assert_msg(lines > 0, "preset %s has no line in preset_axes[] of this test", attest_presets[k].name);
    }
    static const char *const bad[] = { "",
                                       "Softmax",
                                       "softmax:1",
                                       "softmax ",
                                       "taylor",
                                       "taylor:",
                                       "taylor:65",
                                       "taylor:-1",
                                       "taylor:04",
                                       "taylor:+4",
                                       "taylor:4x",
                                       "taylor:4:4",
                                       "taylor:4.0",
                                       "filtered",
                                       "filtered:0",
                                       "soft",
                                       "softmax1:0",
                                       "filtered:-1",
                                       "filtered:nan",
                                       "filtered:inf",
                                       "based:2",
                                       "filtered:1,5",
                                       "taylor:99999999999999999999",
                                       "quadratic:2" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        axes got;
        err.text[0] = '\0';
        ck_assert_msg(attest_variant_from_preset(got, bad[i], &err) == ATTEST_BAD_INPUT, "accepted `%s`", bad[i]);
        ck_assert_msg(strncmp(err.text, "variant=", 8) == 0, "%s", err.text);
    }
    axes got;
    attest_variant_from_preset(got, "nonsense", &err);
    for (size_t i = 0; i < attest_preset_count; i++)
        ck_assert_msg(strstr(err.text, attest_presets[i].name), "%s not in: %s", attest_presets[i].name, err.text);
}
END_TEST

START_TEST(axis_values)
{
    int covered[ATTEST_AXIS_COUNT][16] = { { 0 } };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const char *key = values[i][0], *text = values[i][1], *canonical = values[i][2];
        uint32_t axis = 0;
        attest_setting setting, again;
        attest_error err = { "" };
        char printed[64];
        while (strcmp(attest_axes[axis].key, key) != 0)
            axis++;
        const attest_status status = attest_axis_parse(&setting, axis, text, &err);
        if (!canonical) {
            ck_assert_msg(status == ATTEST_BAD_INPUT, "accepted %s=%s", key, text);
            ck_assert_msg(strncmp(err.text, key, strlen(key)) == 0, "%s=%s: %s", key, text, err.text);
            ck_assert_uint_eq(setting.value, 0);
            continue;
        }
        ck_assert_msg(status == ATTEST_OK, "%s", err.text);
        attest_axis_print(printed, sizeof printed, axis, &setting);
        ck_assert_msg(strcmp(printed, canonical) == 0, "%s=%s printed %s", key, text, printed);
        ck_assert(attest_axis_parse(&again, axis, printed, &err) == ATTEST_OK);
        ck_assert_msg(attest_setting_equal(&setting, &again), "%s=%s", key, printed);
        covered[axis][setting.value] = 1;
    }
    for (uint32_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++)
        for (uint32_t v = 0; v < attest_axes[axis].value_count; v++)
            ck_assert_msg(covered[axis][v], "%s value %u has no case", attest_axes[axis].key, v);
    const attest_setting base = { 1, 2, 0.0 }, other[] = { { 2, 2, 0.0 }, { 1, 3, 0.0 }, { 1, 2, -0.0 } };
    ck_assert(attest_setting_equal(&base, &base));
    for (int i = 0; i < 3; i++)
        ck_assert(!attest_setting_equal(&base, &other[i]));
}
END_TEST

/* { axes, the two keys of the message } */
static const char *const contradictions[][3] = {
    { "center=max", "center", "weight" },
    { "center=mid weight=term:2", "center", "weight" },
    { "center=min weight=power:1", "center", "weight" },
    { "center=max weight=taylor:1 norm=none", "center", "norm" },
    { "center=max weight=taylor:2 norm=sink", "center", "norm" },
    { "center=max weight=taylor:2 norm=floor:1", "center", "norm" },
    { "affine=draw", "affine", "norm" },
    { "affine=draw norm=l2", "affine", "norm" },
    { "affine=draw norm=length-l2", "affine", "norm" },
    { "eps=1 norm=sink", "eps", "norm" },
    { "eps=1 norm=floor:1", "eps", "norm" },
    { "eps=1 norm=none", "eps", "norm" },
    { "eps=1 norm=length", "eps", "norm" },
    { "update=delta weight=power:2 norm=none mask=causal", "update", "weight" },
    { "update=efla weight=term:1 norm=none mask=causal", "update", "weight" },
    { "update=delta weight=taylor:1 norm=none mask=causal", "update", "weight" },
    { "update=delta weight=power:1 mask=causal", "update", "norm" },
    { "update=efla weight=power:1 norm=none", "update", "mask" },
    { "update=delta weight=power:1 norm=none mask=causal window=3", "update", "window" },
    { "update=delta weight=power:1 norm=none mask=causal lens=draw", "update", "lens" },
    { "update=delta weight=power:1 norm=none mask=causal filter=3", "update", "filter" },
    { "update=delta weight=power:1 norm=none mask=causal clamp=3", "update", "clamp" },
    { "update=delta weight=power:1 norm=none mask=causal cap=3", "update", "cap" },
    { "update=delta weight=power:1 norm=none mask=causal alibi=draw", "update", "alibi" },
    { "update=delta weight=power:1 norm=none mask=causal bias=head", "update", "bias" },
    { "update=delta weight=power:1 norm=none mask=causal gates=pre-out", "update", "gates" },
    { "decay=vector weight=power:1 mask=causal feature=cosformer", "decay", "feature" },
    { "decay=vector mask=causal", "decay", "weight" },
    { "decay=vector weight=power:2 mask=causal", "decay", "weight" },
    { "decay=vector weight=taylor:1 mask=causal", "decay", "weight" },
    { "decay=retnet", "decay", "mask" },
    { "decay=scalar mask=full", "decay", "mask" },
    { "state=draw", "state", "weight" },
    { "state=draw weight=taylor:2 center=max", "state", "center" },
    { "state=draw weight=taylor:2 filter=1", "state", "filter" },
    { "state=draw weight=taylor:2 window=4", "state", "window" },
    { "state=draw weight=taylor:2 clamp=1", "state", "clamp" },
    { "state=draw weight=taylor:2 cap=1", "state", "cap" },
    { "state=draw weight=taylor:2 alibi=draw", "state", "alibi" },
    { "state=draw weight=taylor:2 bias=full", "state", "bias" },
    { "update=delta weight=power:1 norm=none mask=causal attn_mask=head", "update", "attn_mask" },
    { "state=draw weight=taylor:2 attn_mask=full", "state", "attn_mask" },
    { "decay=scalar mask=causal attn_mask=batch", "attn_mask", "decay" },
    { "alibi=draw bias=shared", "bias", "alibi" },
    { "alibi=usual bias=full", "bias", "alibi" },
    { "state=draw weight=taylor:2 alibi=usual", "state", "alibi" },
    { "update=delta weight=power:1 norm=none mask=causal alibi=usual", "update", "alibi" },
    { "update=delta weight=power:1 norm=none mask=causal lens_q=draw", "update", "lens_q" },
    { "feature=cosformer lens_q=draw", "lens_q", "feature" },
    { "state=draw weight=taylor:2 lens_q=draw", "state", "lens_q" },
    { "decay=retnet mask=causal-br lens_q=draw", "decay", "lens_q" },
    { "lens_q=len", "lens_q", "lens" },
    { "update=delta weight=power:1 norm=none mask=causal lens=draw", "update", "lens" },
    { "state=draw weight=taylor:2 lens=draw lens_q=len", "state", "lens_q" },
    { "feature=cosformer lens=draw lens_q=len", "lens_q", "feature" },
    { "decay=scalar mask=causal lens=draw packed=on", "decay", "packed" },
};

/* 1 if `key=` starts a word of the message. */
static int names_key(const char *message, const char *key)
{
    char word[32];
    snprintf(word, sizeof word, "%s=", key);
    const char *at = strstr(message, word);
    return at && (at == message || at[-1] == ' ');
}

START_TEST(contradiction_messages)
{
    for (size_t i = 0; i < sizeof contradictions / sizeof contradictions[0]; i++) {
        axes axis = { { 0, 0, 0.0 } };
        attest_error err = { "" };
        set_axes(axis, contradictions[i][0]);
        ck_assert_msg(attest_variant_check(axis, 8, 8, &err) == ATTEST_BAD_INPUT, "accepted %s", contradictions[i][0]);
        ck_assert_msg(names_key(err.text, contradictions[i][1]) && names_key(err.text, contradictions[i][2]), "%s: %s",
                      contradictions[i][0], err.text);
    }
    axes fox;
    attest_error err = { "" };
    ck_assert(attest_variant_from_preset(fox, "fox", &err) == ATTEST_OK);
    ck_assert(attest_variant_check(fox, 8, 9, &err) == ATTEST_BAD_INPUT);
    ck_assert_msg(names_key(err.text, "decay") && strstr(err.text, "n=8 m=9"), "%s", err.text);
    ck_assert(attest_variant_check(fox, 9, 8, &err) == ATTEST_BAD_INPUT);
}
END_TEST

#define IS(name, what) (axis[ATTEST_AXIS_##name].value == ATTEST_##name##_##what)

/* The sentences of the design, one a line: 1 if some setting cannot be used by the formula. */
static int contradictory(axes axis, int64_t n, int64_t m)
{
    const int one = axis[ATTEST_AXIS_WEIGHT].order == 1;
    const int rms = IS(NORM, RMS) || IS(NORM, LAYERNORM) || IS(NORM, LENGTH_RMS) || IS(NORM, LENGTH_LAYERNORM);
    const int reads_eps = rms || IS(NORM, SUM) || IS(NORM, L2) || IS(NORM, LENGTH_L2);
    const int score = !IS(FILTER, NONE) || !IS(CLAMP, NONE) || !IS(CAP, NONE) || !IS(ALIBI, NONE) || !IS(BIAS, NONE);
    if (!IS(CENTER, ZERO) && !(IS(WEIGHT, TAYLOR) && IS(NORM, SUM)))
        return 1;
    if (!IS(AFFINE, NONE) && !rms)
        return 1;
    if (!IS(DECAY_INPUT, FACTOR) && !IS(DECAY, SCALAR) && !IS(DECAY, VECTOR))
        return 1;
    if ((!IS(BIAS, NONE) && !IS(ALIBI, NONE)) || (!IS(ATTN_MASK, NONE) && (!IS(DECAY, NONE) || !IS(UPDATE, ADD))))
        return 1;
    if (!IS(DROPOUT, NONE) && (!IS(UPDATE, ADD) || !IS(STATE, NONE) || !(axis[ATTEST_AXIS_DROPOUT].number < 1)))
        return 1;
    if (!IS(EPS, ZERO) && !reads_eps)
        return 1;
    if (!IS(UPDATE, ADD) && (!(IS(WEIGHT, POWER) && one) || !IS(NORM, NONE) || IS(MASK, FULL)))
        return 1;
    if (!IS(UPDATE, ADD) && (!IS(WINDOW, NONE) || (!IS(LENS, NONE) && !IS(LENS_Q, LEN)) || score || IS(GATES, PRE_OUT)))
        return 1;
    if (IS(DECAY, VECTOR) && (IS(FEATURE, COSFORMER) || !((IS(WEIGHT, POWER) || IS(WEIGHT, TERM)) && one)))
        return 1;
    if (!IS(DECAY, NONE) && (IS(MASK, FULL) || n != m))
        return 1;
    if (!IS(LENS_Q, NONE) && (!IS(STATE, NONE) || IS(FEATURE, COSFORMER)))
        return 1;
    if (IS(LENS_Q, LEN) && (IS(LENS, NONE) || n != m))
        return 1;
    if (IS(LENS_Q, DRAW) && (!IS(UPDATE, ADD) || (!IS(DECAY, NONE) && IS(MASK, CAUSAL_BR))))
        return 1;
    if (!IS(PACKED, OFF) && !IS(LENS, NONE) && !IS(LENS_Q, LEN) && (IS(DECAY, SCALAR) || IS(DECAY, VECTOR)))
        return 1;
    return !IS(STATE, NONE) &&
           (IS(WEIGHT, EXP) || score || !IS(ATTN_MASK, NONE) || !IS(WINDOW, NONE) || !IS(CENTER, ZERO));
}

/* Random axes; each is at its default in about two of three cases. */
static void random_axes(axes axis, uint64_t *random)
{
    for (uint32_t i = 0; i < ATTEST_AXIS_COUNT; i++) {
        const attest_axis_info *info = &attest_axes[i];
        const attest_axis_value *v = &info->values[0];
        if (random_below(random, 3) == 0)
            v = &info->values[random_below(random, info->value_count)];
        axis[i] = (attest_setting){ v->value, 0, 0.0 };
        if (v->argument == ATTEST_ARG_ORDER)
            axis[i].order = random_below(random, 2) ? 1 : random_below(random, 6);
        else if (v->argument == ATTEST_ARG_BARE_INT)
            axis[i].order = 1 + random_below(random, 5);
        else if (v->argument != ATTEST_ARG_NONE)
            axis[i].number = 1.5;
    }
}

static void check_consequences(axes axis, const char *text)
{
    char why[256];
    int lowest = 9, highest = 9;
    const int order = (int)axis[ATTEST_AXIS_WEIGHT].order, exponential = IS(WEIGHT, EXP);
    const int row_wide = !IS(CENTER, ZERO) || !IS(FILTER, NONE); /* a key's weight depends on the whole row */
    const int recurrent = !exponential && !row_wide && IS(CAP, NONE) && IS(CLAMP, NONE) && IS(ALIBI, NONE) &&
                          IS(BIAS, NONE) && IS(ATTN_MASK, NONE) && IS(DROPOUT, NONE) && IS(WINDOW, NONE);
    const int scaled_away = IS(NORM, SUM) || IS(NORM, SINK) || IS(NORM, L2) || IS(NORM, RMS);
    const int legal[6] = { 0, 1, exponential && scaled_away, IS(UPDATE, ADD) && !row_wide, recurrent, recurrent };
    const int rational = !exponential && (IS(FEATURE, IDENTITY) || IS(FEATURE, RELU)) && IS(ROPE, NONE) &&
                         !IS(GATES, HEADS) && IS(CAP, NONE) && !IS(UPDATE, EFLA) && !IS(ALIBI, USUAL) &&
                         (IS(NORM, SUM) || IS(NORM, FLOOR) || IS(NORM, NONE) || IS(NORM, LENGTH));
    must(attest_variant_polynomial(axis) == !exponential, "polynomial: %s", text);
    must(attest_variant_recurrent(axis) == recurrent, "recurrent: %s", text);
    must(attest_variant_rational(axis) == rational, "rational: %s", text);
    must(attest_variant_degrees(axis, &lowest, &highest) == recurrent, "degrees: %s", text);
    must(highest == (recurrent ? order : 0), "highest %d: %s", highest, text);
    must(lowest == (recurrent && !IS(WEIGHT, TAYLOR) ? order : 0), "lowest %d: %s", lowest, text);
    for (uint32_t form = 0; form <= 6; form++) {
        const int want = form < 6 && legal[form];
        must(attest_variant_form_legal(axis, form, why, sizeof why) == want, "%s: %s", attest_form_name(form), text);
        must(want ? !why[0] : why[0] != '\0', "%s: reason `%s`: %s", attest_form_name(form), why, text);
    }
}

START_TEST(rules_on_random_axes)
{
    uint64_t random = 7;
    int legal = 0, illegal = 0;
    for (int i = 0; i < 60000; i++) {
        axes axis;
        char text[512];
        attest_error err = { "" };
        const int64_t n = 8, m = 7 + random_below(&random, 3);
        random_axes(axis, &random);
        print_axes(text, sizeof text, axis);
        const int bad = contradictory(axis, n, m);
        must((attest_variant_check(axis, n, m, &err) == ATTEST_BAD_INPUT) == bad, "n=8 m=%d %s: %s", (int)m, text,
             err.text);
        if (bad)
            illegal++;
        else
            legal++;
        check_consequences(axis, text);
    }
    must(legal > 1000 && illegal > 1000, "%d legal, %d illegal", legal, illegal);
}
END_TEST

Suite *suite_variant(void)
{
    Suite *suite = suite_create("variant");
    TCase *tcase = tcase_create("tables and rules");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, tables);
    tcase_add_test(tcase, presets);
    tcase_add_test(tcase, axis_values);
    tcase_add_test(tcase, contradiction_messages);
    tcase_add_test(tcase, rules_on_random_axes);
    suite_add_tcase(suite, tcase);
    return suite;
}
