/* generate_parts.c - the parts of a line that are drawn each for itself: numbers of axes, types, scale, family. */
#include "props/generate/generate_draw.h"

#include <stdio.h>
#include <string.h>

/* ---- numbers of axes -------------------------------------------------------------------------------------------- */

static const double taus[] = { 0.5, 1, 2, 4, 0.01, 30 };
static const double floors[] = { 1, 0.5, 1e-6, 16 };
static const double bases[] = { 10000, 10000, 500000, 100, 2 };
static const double epsilons[] = { 1e-6, 1e-5, 1e-12, 0x1p-10, 1 };
static const double clamps[] = { 5, 5, 0, -1, 0.5, 10 };
static const double caps[] = { 50, 30, 1, 0.5, 8 };
static const double rates[] = { 0.1, 0.5, 0.25, 0.2, 0.9, 0.001 };
static const uint32_t page_sizes[] = { 1, 2, 3, 7, 16, 16, 32, 64, 128 };
static const struct order {
    uint32_t weight, from, count;
} orders[] = {
    { 2, 0, 1 }, { 4, 1, 1 }, { 4, 2, 1 }, { 4, 3, 1 }, { 4, 4, 1 }, { 12, 5, 4 }, { 2, 9, 7 },
};

uint32_t attest_draw_order(attest_dice *dice)
{
    const struct order *o = ATTEST_DICE_PICK(dice, orders);
    return o->from + attest_dice_roll(dice, o->count);
}

/* A window of 1, 2, about all keys, or between. */
static uint32_t draw_window(attest_dice *dice, int64_t m)
{
    const uint32_t keys = (uint32_t)m;
    switch (attest_dice_roll(dice, 4)) {
    case 0: return 1 + attest_dice_roll(dice, 2);
    case 1: return keys + attest_dice_roll(dice, 2);
    default: return 1 + attest_dice_roll(dice, keys);
    }
}

/* Order and number that the axis's value takes. */
static void draw_argument(attest_setting *s, attest_axis axis, attest_dice *dice, int64_t m)
{
    s->order = 0;
    s->number = 0;
    if (axis == ATTEST_AXIS_NORM) {
        if (s->value == ATTEST_NORM_FLOOR)
            s->number = ATTEST_DICE_ANY(dice, floors);
        return;
    }
    if (s->value == 0)
        return;
    switch (axis) {
    case ATTEST_AXIS_WEIGHT: s->order = attest_draw_order(dice); break;
    case ATTEST_AXIS_FILTER: s->number = ATTEST_DICE_ANY(dice, taus); break;
    case ATTEST_AXIS_ROPE: s->number = ATTEST_DICE_ANY(dice, bases); break;
    case ATTEST_AXIS_PAGES: s->order = ATTEST_DICE_ANY(dice, page_sizes); break;
    case ATTEST_AXIS_WINDOW: s->order = draw_window(dice, m); break;
    case ATTEST_AXIS_EPS: s->number = ATTEST_DICE_ANY(dice, epsilons); break;
    case ATTEST_AXIS_CLAMP: s->number = ATTEST_DICE_ANY(dice, clamps); break;
    case ATTEST_AXIS_CAP: s->number = ATTEST_DICE_ANY(dice, caps); break;
    case ATTEST_AXIS_DROPOUT: s->number = ATTEST_DICE_ANY(dice, rates); break;
    default: break;
    }
}

double attest_draw_tau(attest_dice *dice) { return ATTEST_DICE_ANY(dice, taus); }

static const uint32_t affine_norms[] = { ATTEST_NORM_RMS, ATTEST_NORM_LAYERNORM, ATTEST_NORM_LENGTH_RMS,
                                         ATTEST_NORM_LENGTH_LAYERNORM };

void attest_redraw_axis(attest_case *c, attest_dice *dice, attest_axis axis, uint32_t value)
{
    attest_problem *p = &c->problem;
    attest_setting *s = &p->axis[axis];
    s->value = value;
    draw_argument(s, axis, dice, p->m);
    if (axis == ATTEST_AXIS_DECAY_INPUT && s->value && p->axis[ATTEST_AXIS_DECAY].value < ATTEST_DECAY_SCALAR)
        attest_redraw_axis(c, dice, ATTEST_AXIS_DECAY, ATTEST_DECAY_SCALAR);
    if (axis == ATTEST_AXIS_DECAY && s->value < ATTEST_DECAY_SCALAR)
        p->axis[ATTEST_AXIS_DECAY_INPUT].value = ATTEST_DECAY_INPUT_FACTOR;
    if (axis == ATTEST_AXIS_DECAY && s->value != ATTEST_DECAY_NONE) {
        p->m = p->n;
        if (p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_FULL)
            p->axis[ATTEST_AXIS_MASK].value = ATTEST_MASK_CAUSAL;
    }
    if (axis == ATTEST_AXIS_LENS_Q && s->value == ATTEST_LENS_Q_LEN) {
        p->m = p->n;
        p->axis[ATTEST_AXIS_LENS].value = ATTEST_LENS_DRAW;
    }
    if (axis == ATTEST_AXIS_AFFINE && p->axis[ATTEST_AXIS_UPDATE].value == ATTEST_UPDATE_ADD)
        p->axis[ATTEST_AXIS_NORM] = (attest_setting){ ATTEST_DICE_ANY(dice, affine_norms), 0, 0 };
    if (axis == ATTEST_AXIS_ROPE && s->value != ATTEST_ROPE_NONE && p->d % 2 == 1) {
        const int same = p->e == p->d, plain = p->scale == attest_default_scale(p->d);
        p->d++;
        p->e = same ? p->d : p->e;
        p->scale = plain ? attest_default_scale(p->d) : p->scale;
    }
}

/* ---- types, scale, family ---- */

static const struct types {
    uint32_t weight, in, acc, p, out;
} types[ATTEST_TYPES_ROWS] = {
    { 40, ATTEST_F32, ATTEST_F32, ATTEST_F32, ATTEST_F32 },  { 8, ATTEST_BF16, ATTEST_F32, ATTEST_F32, ATTEST_BF16 },
    { 8, ATTEST_F16, ATTEST_F32, ATTEST_F32, ATTEST_F16 },   { 3, ATTEST_F32, ATTEST_F32, ATTEST_F32, ATTEST_BF16 },
    { 3, ATTEST_F32, ATTEST_F32, ATTEST_F32, ATTEST_F16 },   { 3, ATTEST_BF16, ATTEST_F32, ATTEST_F32, ATTEST_F32 },
    { 3, ATTEST_F16, ATTEST_F32, ATTEST_F32, ATTEST_F32 },   { 12, ATTEST_BF16, ATTEST_F32, ATTEST_BF16, ATTEST_BF16 },
    { 6, ATTEST_BF16, ATTEST_F32, ATTEST_BF16, ATTEST_F32 }, { 4, ATTEST_F16, ATTEST_F32, ATTEST_F16, ATTEST_F16 },
    { 12, ATTEST_F64, ATTEST_F64, ATTEST_F64, ATTEST_F64 },  { 1, ATTEST_F32, ATTEST_F64, ATTEST_F64, ATTEST_F32 },
};

void attest_types_set(attest_problem *p, size_t row)
{
    const struct types *t = &types[row];
    p->in = t->in;
    p->acc = t->acc;
    p->p = t->p;
    p->out = t->out;
}

void attest_draw_types(attest_problem *p, attest_dice *dice)
{
    attest_types_set(p, (size_t)(ATTEST_DICE_PICK(dice, types) - types));
}

static const double powers[] = { 1, 1, 0.5, 0.25, 0.125, 2, -0.5 };

void attest_draw_scale(attest_problem *p, attest_dice *dice, const char *family)
{
    const int dyadic = strcmp(family, "dyadic") == 0; /* exact under a power of two only */
    p->scale = attest_default_scale(p->d);
    if (attest_dice_roll(dice, 12) < (dyadic ? 11u : 4u))
        p->scale = ATTEST_DICE_ANY(dice, powers);
}

static const struct family {
    uint32_t weight;
    const char *name;
} families[] = {
    { 24, "normal" },     { 6, "uniform" },      { 4, "positive" },
    { 6, "integers" },    { 12, "dyadic" },      { 6, "flat" },
    { 3, "ones" },        { 4, "ramp-up" },      { 4, "ramp-down" },
    { 4, "negative" },    { 6, "huge" },         { 20, "range" },
    { 5, "peaked" },      { 4, "cancel" },       { 4, "onehot" },
    { 6, "repeat-max" },  { 5, "subnormal" },    { 6, "near-zero-denominator" },
    { 4, "cast-edge" },   { 2, "stairs" },       { 1, "stairs:1" },
    { 1, "stairs:5" },    { 4, "half-peak" },    { 4, "large-products" },
    { 4, "p-underflow" }, { 4, "zero-keys" },    { 6, "edges" },
    { 4, "offset" },      { 2, "normal:0.001" }, { 2, "normal:0.0625" },
    { 2, "normal:0.25" }, { 2, "normal:2" },     { 2, "normal:4" },
    { 1, "normal:10" },
};

/* range:R, R one digit of a decade from 0.01 to 1000. */
static const char *const decades[] = { "range:0.0%u", "range:0.%u", "range:%u", "range:%u0", "range:%u00" };

/* Weights of both signs that near-zero-denominator knows how to balance. */
static int is_signed(const attest_problem *p)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    return weight->value != ATTEST_WEIGHT_EXP && weight->order % 2 == 1 && weight->order < 16 &&
           p->axis[ATTEST_AXIS_CENTER].value == ATTEST_CENTER_ZERO &&
           p->axis[ATTEST_AXIS_FEATURE].value == ATTEST_FEATURE_IDENTITY &&
           p->axis[ATTEST_AXIS_NORM].value <= ATTEST_NORM_FLOOR;
}

/* Taylor sums whose roots taylor-roots knows (no rope yet). */
static int has_roots(const attest_problem *p)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    const uint32_t center = p->axis[ATTEST_AXIS_CENTER].value;
    return weight->value == ATTEST_WEIGHT_TAYLOR && weight->order >= 1 && weight->order < 16 &&
           (center == ATTEST_CENTER_ZERO || center == ATTEST_CENTER_MAX) &&
           p->axis[ATTEST_AXIS_FEATURE].value == ATTEST_FEATURE_IDENTITY;
}

/* Writes the family; a range gets a number. */
static void write_family(attest_case *c, const char *name, attest_dice *dice)
{
    if (strcmp(name, "range") == 0) {
        const char *decade = ATTEST_DICE_ANY(dice, decades);
        char digit[] = { (char)('1' + attest_dice_roll(dice, 9)), '\0' };
        const size_t before = (size_t)(strchr(decade, '%') - decade);
        snprintf(c->family, sizeof c->family, "%.*s%s%s", (int)before, decade, digit, decade + before + 2);
    } else {
        snprintf(c->family, sizeof c->family, "%s", name);
    }
}

void attest_draw_family_name(attest_case *c, attest_dice *dice)
{
    const char *name = ATTEST_DICE_PICK(dice, families)->name;
    if (is_signed(&c->problem) && attest_dice_roll(dice, 3) == 0)
        name = "near-zero-denominator";
    if (has_roots(&c->problem) && attest_dice_roll(dice, 3) == 0)
        name = "taylor-roots";
    write_family(c, name, dice);
}

void attest_redraw_family(attest_case *c, attest_dice *dice)
{
    const char *name = attest_families[attest_dice_roll(dice, (uint32_t)attest_family_drawn)].name;
    if (attest_dice_roll(dice, 4) == 0) /* those with numbers of their own */
        name = ATTEST_DICE_ANY(dice, families).name;
    write_family(c, name, dice);
}

size_t attest_types_row(const attest_problem *p)
{
    size_t row = 0;
    while (row < ATTEST_TYPES_ROWS &&
           (types[row].in != p->in || types[row].acc != p->acc || types[row].p != p->p || types[row].out != p->out))
        row++;
    return row;
}
