/* generate.c - see generate.h: a plain case that the kernel serves, then axes that it serves too, one by one. */
#include "props/generate/generate_draw.h"

#include <stdio.h>
#include <string.h>

/* ---- dice ------------------------------------------------------------------------------------------------------- */

#define CHOICES 0x2001u /* tensors are numbered below 2^12, choices of properties below 2^13 */

void attest_dice_init(attest_dice *dice, uint64_t seed, uint32_t number, uint32_t attempt)
{
    *dice = (attest_dice){ { seed, number, CHOICES }, (uint64_t)attempt << 16 };
}

uint32_t attest_dice_roll(attest_dice *dice, uint32_t sides)
{
    uint32_t words[4];
    attest_draw_words(words, &dice->stream, 0, dice->next++);
    return (uint32_t)((uint64_t)words[0] * sides >> 32);
}

static uint32_t weight_of(const void *table, size_t row, size_t bytes)
{
    uint32_t weight;
    memcpy(&weight, (const char *)table + row * bytes, sizeof weight);
    return weight;
}

size_t attest_dice_row(attest_dice *dice, const void *table, size_t rows, size_t bytes)
{
    uint32_t sum = 0;
    for (size_t row = 0; row < rows; row++)
        sum += weight_of(table, row, bytes);
    uint32_t at = attest_dice_roll(dice, sum);
    size_t row = 0;
    while (at >= weight_of(table, row, bytes))
        at -= weight_of(table, row++, bytes);
    return row;
}

/* ---- presets ---------------------------------------------------------------------------------------------------- */

/* What form and schedule of a kernel make likely; supports() decides. */
static int is_likely(const attest_setting *axis, const attest_prop_kernel *kernel)
{
    const uint32_t schedule = kernel->numerics.schedule;
    char why[8];
    if (!attest_variant_form_legal(axis, kernel->form, why, sizeof why))
        return 0;
    if (schedule == ATTEST_SCHEDULE_UNKNOWN)
        return 1;
    return attest_variant_polynomial(axis) == (schedule >= ATTEST_SCHEDULE_DIRECT);
}

/* Presets that few kernels serve, or that stand for many orders, weigh more. */
static uint32_t preset_weight(const attest_preset *preset)
{
    uint32_t weight = preset->argument == ATTEST_ARG_ORDER ? 4 : preset->setting_count == 0 ? 4 : 2;
    for (uint32_t i = 0; i < preset->setting_count; i++)
        if (preset->settings[i].axis == ATTEST_AXIS_CENTER || preset->settings[i].axis == ATTEST_AXIS_UPDATE)
            weight = 4;
    return weight;
}

static const attest_preset *draw_preset(attest_dice *dice)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < attest_preset_count; i++)
        sum += preset_weight(&attest_presets[i]);
    uint32_t at = attest_dice_roll(dice, sum);
    size_t i = 0;
    while (at >= preset_weight(&attest_presets[i]))
        at -= preset_weight(&attest_presets[i++]);
    return &attest_presets[i];
}

static int draw_variant(attest_case *c, attest_dice *dice, const attest_prop_kernel *kernel, int likely)
{
    attest_error err;
    char number[40];
    for (int i = 0; i < 100; i++) {
        const attest_preset *preset = draw_preset(dice);
        attest_double_text(number, sizeof number, attest_draw_tau(dice));
        if (preset->argument == ATTEST_ARG_ORDER)
            snprintf(c->preset, sizeof c->preset, "%s:%u", preset->name, (unsigned)attest_draw_order(dice));
        else
            snprintf(c->preset, sizeof c->preset, "%s%s%s", preset->name,
                     preset->argument == ATTEST_ARG_NUMBER ? ":" : "",
                     preset->argument == ATTEST_ARG_NUMBER ? number : "");
        if (attest_variant_from_preset(c->problem.axis, c->preset, &err) == ATTEST_OK &&
            (!likely || is_likely(c->problem.axis, kernel)))
            return 1;
    }
    return 0;
}

/* ---- mask, types, scale, family --------------------------------------------------------------------------------- */

static const struct mask {
    uint32_t weight, mask;
} masks[] = {
    { 9, ATTEST_MASK_FULL },
    { 7, ATTEST_MASK_CAUSAL },
    { 4, ATTEST_MASK_CAUSAL_BR },
};

static void draw_center(attest_problem *p, attest_dice *dice)
{
    uint32_t *center = &p->axis[ATTEST_AXIS_CENTER].value;
    if (*center != ATTEST_CENTER_ZERO)
        *center = 1 + attest_dice_roll(dice, ATTEST_CENTER_MID);
}

/* Polynomial weights over their sum, which may be negative, more often than presets have it. */
static void draw_divisor(attest_problem *p, attest_dice *dice)
{
    if (attest_variant_polynomial(p->axis) && p->axis[ATTEST_AXIS_UPDATE].value == ATTEST_UPDATE_ADD &&
        p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_NONE && attest_dice_roll(dice, 3) == 0)
        p->axis[ATTEST_AXIS_NORM].value = ATTEST_NORM_SUM;
}

static void draw_mask(attest_problem *p, attest_dice *dice)
{
    uint32_t *mask = &p->axis[ATTEST_AXIS_MASK].value;
    if (*mask == ATTEST_MASK_FULL)
        *mask = ATTEST_DICE_PICK(dice, masks)->mask;
    else if (attest_dice_roll(dice, 5) == 0)
        *mask = ATTEST_MASK_CAUSAL_BR;
}

/* ---- more axes -------------------------------------------------------------------------------------------------- */

static const struct extra {
    uint32_t weight;
    attest_axis axis;
} extras[] = {
    { 6, ATTEST_AXIS_WINDOW },    { 6, ATTEST_AXIS_LENS },   { 4, ATTEST_AXIS_DECAY },   { 5, ATTEST_AXIS_GATES },
    { 5, ATTEST_AXIS_NORM },      { 3, ATTEST_AXIS_AFFINE }, { 3, ATTEST_AXIS_EPS },     { 3, ATTEST_AXIS_CLAMP },
    { 3, ATTEST_AXIS_CAP },       { 5, ATTEST_AXIS_ALIBI },  { 4, ATTEST_AXIS_ROPE },    { 6, ATTEST_AXIS_STATE },
    { 2, ATTEST_AXIS_CENTER },    { 3, ATTEST_AXIS_FILTER }, { 4, ATTEST_AXIS_FEATURE }, { 3, ATTEST_AXIS_BIAS },
    { 3, ATTEST_AXIS_ATTN_MASK }, { 2, ATTEST_AXIS_PAGES },  { 3, ATTEST_AXIS_KV },      { 3, ATTEST_AXIS_DECAY_INPUT },
    { 3, ATTEST_AXIS_DROPOUT },   { 3, ATTEST_AXIS_LENS_Q }, { 2, ATTEST_AXIS_PACKED },
};

/* Another value of one axis, and what must go with it. */
static void draw_extra(attest_case *c, attest_dice *dice)
{
    const attest_axis axis = ATTEST_DICE_PICK(dice, extras)->axis;
    const uint32_t count = attest_axes[axis].value_count;
    attest_redraw_axis(c, dice, axis, (c->problem.axis[axis].value + 1 + attest_dice_roll(dice, count - 1)) % count);
}

static uint32_t draw_extra_count(attest_dice *dice)
{
    static const uint32_t counts[] = { 0, 0, 0, 1, 1, 1, 2, 2, 3, 4 };
    return ATTEST_DICE_ANY(dice, counts);
}

/* ---- a line ----------------------------------------------------------------------------------------------------- */

/* A variance of 0 in every row, and nothing added to it: 0/0, which the truth can only find after long.  So are the
 * rows that dropout drops under a norm by a root. */
static int is_void(const attest_case *c)
{
    const attest_problem *p = &c->problem;
    const uint32_t norm = p->axis[ATTEST_AXIS_NORM].value;
    if (attest_drops(p) && norm >= ATTEST_NORM_L2 && p->axis[ATTEST_AXIS_EPS].value == ATTEST_EPS_ZERO)
        return 1;
    return (norm == ATTEST_NORM_LAYERNORM || norm == ATTEST_NORM_LENGTH_LAYERNORM) &&
           p->axis[ATTEST_AXIS_EPS].value == ATTEST_EPS_ZERO &&
           (p->e == 1 || strcmp(c->family, "ones") == 0 || strcmp(c->family, "cast-edge") == 0);
}

int attest_line_consistent(const attest_case *c)
{
    const attest_problem *p = &c->problem;
    attest_error err;
    int lowest, highest;
    if (is_void(c) || (p->axis[ATTEST_AXIS_ROPE].value != ATTEST_ROPE_NONE && p->d % 2 == 1))
        return 0;
    if (p->axis[ATTEST_AXIS_STATE].value != ATTEST_STATE_NONE && attest_variant_degrees(p->axis, &lowest, &highest)) {
        const int64_t rows = attest_state_rows(attest_feature_dim(p), highest, 0);
        if (rows < 0 || rows * p->e > 1 << 14)
            return 0;
    }
    return attest_variant_check(p->axis, p->n, p->m, &err) == ATTEST_OK && attest_types_check(p, &err) == ATTEST_OK &&
           attest_family_check(c, &err) == ATTEST_OK;
}

/* One attempt in four goes by no hint and has extra axes that nobody was asked about: for kernels that serve nothing
 * plain. */
static int is_wild(uint32_t attempt) { return attempt % 4 == 3; }

static int draw_base(attest_case *c, attest_dice *dice, uint32_t number, uint32_t attempt,
                     const attest_prop_kernel *kernel)
{
    memset(c, 0, sizeof *c);
    c->seed = dice->stream.seed;
    c->problem.struct_size = (uint32_t)sizeof c->problem;
    c->problem.axis_count = ATTEST_AXIS_COUNT;
    if (!draw_variant(c, dice, kernel, !is_wild(attempt)))
        return 0;
    draw_center(&c->problem, dice);
    draw_divisor(&c->problem, dice);
    draw_mask(&c->problem, dice);
    attest_draw_types(&c->problem, dice);
    attest_draw_sizes(c, dice, kernel, number, attempt);
    attest_draw_family_name(c, dice);
    if (!attest_limit_sizes(c, dice, kernel, attempt))
        return 0;
    attest_draw_scale(&c->problem, dice, c->family);
    if (is_wild(attempt))
        draw_extra(c, dice);
    return attest_line_consistent(c);
}

/* Extra axes, each kept if the line contradicts nothing and, with a host, the kernel serves it. */
static void add_extras(attest_case *c, attest_dice *dice, const attest_prop_kernel *kernel, uint32_t attempt,
                       const attest_prop_host *host)
{
    const uint32_t wanted = draw_extra_count(dice);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < 4 * wanted && kept < wanted; i++) {
        attest_case more = *c;
        draw_extra(&more, dice);
        if (!attest_limit_sizes(&more, dice, kernel, attempt) || !attest_line_consistent(&more) ||
            (host && !host->supports(host->context, &more.problem)))
            continue;
        *c = more;
        kept++;
    }
}

int attest_draw_line(attest_case *c, uint64_t seed, uint32_t number, uint32_t attempt, const attest_prop_kernel *kernel)
{
    attest_dice dice;
    attest_dice_init(&dice, seed, number, attempt);
    if (!draw_base(c, &dice, number, attempt, kernel))
        return 0;
    add_extras(c, &dice, kernel, attempt, NULL);
    return 1;
}

/* The case as its line says it. */
static attest_status settle(attest_case *c, attest_error *err)
{
    char line[ATTEST_LINE];
    attest_status status = attest_case_print(line, sizeof line, c, err);
    if (status != ATTEST_OK)
        return status;
    status = attest_case_parse(c, line, NULL, NULL, err);
    return status == ATTEST_OK || status == ATTEST_NO_MEMORY
               ? status
               : attest_fail_prefix(err, ATTEST_INTERNAL, "a generated line");
}

attest_status attest_generate(attest_generated *made, uint64_t seed, uint32_t number, const attest_prop_kernel *kernel,
                              const attest_prop_host *host, attest_error *err)
{
    memset(made, 0, sizeof *made);
    for (uint32_t attempt = 0; attempt < ATTEST_GENERATE_TRIES; attempt++) {
        attest_dice dice;
        attest_dice_init(&dice, seed, number, attempt);
        made->tries = (int)attempt + 1;
        if (!draw_base(&made->c, &dice, number, attempt, kernel) || !host->supports(host->context, &made->c.problem))
            continue;
        add_extras(&made->c, &dice, kernel, attempt, host);
        made->found = 1;
        return settle(&made->c, err);
    }
    return ATTEST_OK;
}
