/* factors_tiles.c - see factors.h: long rows and keys beside what a kernel does only then, for arrays of live pairs.
 *
 * A loop over tiles of 64 and a loop over channels beyond 64 meet in few cases that are drawn one size at a time, for
 * most of them cost too much.  Here both sizes are one condition, and what is not part of it is drawn small.
 */
#include "props/cover/factors.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof(table)[0]))

enum { TILE = 64, PARTS = 24 };

/* A size from `least` on: half of the time beside a multiple of 64. */
static int64_t draw_from(attest_dice *dice, int64_t least, uint32_t range)
{
    const int64_t size = least + (int64_t)attest_dice_roll(dice, range);
    const int64_t edge = size / TILE * TILE - 1 + (int64_t)attest_dice_roll(dice, 3);
    return edge >= least && attest_dice_roll(dice, 2) ? edge : size;
}

static int64_t draw_small(attest_dice *dice) { return 1 + (int64_t)attest_dice_roll(dice, PARTS); }

static int is_masked(const attest_problem *p) { return p->axis[ATTEST_AXIS_MASK].value != ATTEST_MASK_FULL; }

static int needs_square(const attest_problem *p) { return p->axis[ATTEST_AXIS_DECAY].value != ATTEST_DECAY_NONE; }

/* Classes of the length: from least[k] to the next. */
typedef struct lengths {
    int64_t least[3];
    int count;
    const char *label[3];
} lengths;

static const lengths of_wide = { { 65, 129 }, 2, { "65..128", "129.." } };
static const lengths of_shared = { { 65, 257, 1024 }, 3, { "65..256", "257..1023", "1024.." } };

static int64_t draw_length(attest_dice *dice, const lengths *of)
{
    const int64_t least = of->least[attest_dice_roll(dice, (uint32_t)of->count)];
    return draw_from(dice, least, least >= 1024 ? 8 : TILE);
}

static int is_queries(const attest_factor *factor) { return factor->other == offsetof(attest_problem, n); }

/* The class of the length: of queries that see several keys, or of keys that are seen; -1 where it is not, or short. */
static int live_length(const attest_factor *factor, const attest_problem *p, const lengths *of)
{
    const int64_t size = is_queries(factor) ? p->n : p->m;
    int class = of->count - 1;
    if (is_queries(factor) ? p->m < 3 : attest_most_keys(p) < p->m)
        return -1;
    while (class >= 0 && size < of->least[class])
        class --;
    return class;
}

/* One length is `size`, the other small where a line allows that. */
static void set_lengths(const attest_factor *factor, attest_problem *p, int64_t size, int64_t other)
{
    const int square = needs_square(p) ||
                       (!is_queries(factor) && p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL);
    p->n = square || is_queries(factor) ? size : other;
    p->m = square || !is_queries(factor) ? size : other;
}

static void set_width(attest_problem *p, int64_t d, int64_t e)
{
    const int plain = p->scale == attest_default_scale(p->d);
    p->d = d;
    p->e = e;
    if (plain)
        p->scale = attest_default_scale(d);
}

static void set_heads(attest_problem *p, int64_t b, int64_t hkv, int64_t ratio)
{
    p->b = b;
    p->hkv = hkv;
    p->hq = hkv * ratio;
}

/* ---- channels beyond 64, of many queries or keys ----------------------------------------------------------------- */

enum { WIDE_LEVELS = 4 }; /* of the length and of the width two each */

static int wide_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const attest_problem *p = &c->problem;
    const int64_t width = factor->offset == offsetof(attest_problem, d) ? p->d : p->e;
    const int length = live_length(factor, p, &of_wide);
    (void)kernel;
    return length < 0 || width <= TILE ? -1 : 2 * length + (width > 2 * TILE);
}

static void wide_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    attest_problem *p = &c->problem;
    const int64_t width = draw_from(dice, TILE + 1 + TILE * (int64_t)attest_dice_roll(dice, 2), TILE);
    const int64_t other = attest_dice_roll(dice, 4) ? 1 + (int64_t)attest_dice_roll(dice, 8) : width;
    const int d = factor->offset == offsetof(attest_problem, d);
    const int64_t length = draw_length(dice, &of_wide);
    set_lengths(factor, p, length, attest_dice_roll(dice, 3) ? draw_small(dice) : length);
    set_width(p, d ? width : other, d ? other : width);
    set_heads(p, 1 + (int64_t)attest_dice_roll(dice, 2), 1, 1 + (int64_t)attest_dice_roll(dice, 2));
}

static void wide_label(const attest_factor *factor, char *text, size_t len, int level)
{
    (void)factor;
    snprintf(text, len, "beyond %s, %s", level % 2 ? "128" : "64", of_wide.label[level / 2]);
}

/* ---- heads that share keys, of many queries or keys -------------------------------------------------------------- */

enum { SHARED_LEVELS = 6, MANY_HEADS = 8 }; /* three of the length, two of the heads that share */

static int shared_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const attest_problem *p = &c->problem;
    const int length = live_length(factor, p, &of_shared);
    (void)kernel;
    return length < 0 || p->hq == p->hkv ? -1 : 2 * length + (p->hq / p->hkv >= MANY_HEADS);
}

static void shared_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    static const int64_t ratios[] = { 2, 3, 4, 8, 9, 16 };
    attest_problem *p = &c->problem;
    const int64_t length = draw_length(dice, &of_shared);
    set_lengths(factor, p, length, attest_dice_roll(dice, 3) ? draw_small(dice) : length);
    if (p->d > PARTS || p->e > PARTS)
        set_width(p, draw_small(dice), draw_small(dice));
    set_heads(p, 1, 1 + (int64_t)attest_dice_roll(dice, 2), ATTEST_DICE_ANY(dice, ratios));
}

static void shared_label(const attest_factor *factor, char *text, size_t len, int level)
{
    (void)factor;
    snprintf(text, len, "%s heads, %s", level % 2 ? "8.." : "2..7", of_shared.label[level / 2]);
}

/* ---- windows that leave out whole tiles -------------------------------------------------------------------------- */

/* Keys that the last row's window leaves out. */
static int64_t left_out(const attest_problem *p)
{
    const int64_t window = (int64_t)p->axis[ATTEST_AXIS_WINDOW].order;
    const int64_t rows = p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL_BR ? p->m : p->n < p->m ? p->n : p->m;
    return p->axis[ATTEST_AXIS_WINDOW].value == ATTEST_WINDOW_NONE ? 0 : rows - window;
}

static int skipped_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const int64_t keys = left_out(&c->problem);
    (void)factor, (void)kernel;
    return keys < TILE ? -1 : keys >= 2 * TILE;
}

static void skipped_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    attest_problem *p = &c->problem;
    (void)factor;
    attest_redraw_axis(c, dice, ATTEST_AXIS_WINDOW, ATTEST_WINDOW_W);
    p->axis[ATTEST_AXIS_WINDOW].order = (uint32_t)draw_small(dice);
    p->n = p->m = draw_from(dice, TILE + PARTS, 2 * TILE);
    set_heads(p, 1, 1, 1 + (int64_t)attest_dice_roll(dice, 3));
}

static void skipped_label(const attest_factor *factor, char *text, size_t len, int level)
{
    (void)factor;
    snprintf(text, len, "%d keys", level ? 2 * TILE : TILE);
}

/* ---- masked rows and keys that are many and not the same number -------------------------------------------------- */

static const char *const beside[] = { "causal n<m", "causal n>m", "causal-br n<m", "causal-br n>m" };

static int beside_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const attest_problem *p = &c->problem;
    (void)factor, (void)kernel;
    if (!is_masked(p) || p->n == p->m || p->n <= TILE || p->m <= TILE)
        return -1;
    return 2 * (p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL_BR) + (p->n > p->m);
}

static void beside_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    attest_problem *p = &c->problem;
    const uint32_t level = attest_dice_roll(dice, COUNT(beside));
    const int64_t less = draw_from(dice, TILE + 1, PARTS), more = less + draw_small(dice);
    (void)factor;
    p->axis[ATTEST_AXIS_MASK].value = level < 2 ? ATTEST_MASK_CAUSAL : ATTEST_MASK_CAUSAL_BR;
    p->n = level % 2 ? more : less;
    p->m = level % 2 ? less : more;
    set_heads(p, 1, 1, 1 + (int64_t)attest_dice_roll(dice, 3));
}

static void beside_label(const attest_factor *factor, char *text, size_t len, int level)
{
    (void)factor;
    snprintf(text, len, "%s", beside[level]);
}

/* ---- a cap before large steps: the scores leave what the cap holds ----------------------------------------------- */

static int capped_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const attest_setting *axis = c->problem.axis;
    (void)factor, (void)kernel;
    return axis[ATTEST_AXIS_CAP].value != 0 && axis[ATTEST_AXIS_BIAS].value != 0 && attest_is_edges(c) ? 0 : -1;
}

static void capped_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    const uint32_t count = attest_axes[ATTEST_AXIS_BIAS].value_count;
    (void)factor;
    attest_redraw_axis(c, dice, ATTEST_AXIS_CAP, 1);
    attest_redraw_axis(c, dice, ATTEST_AXIS_BIAS, 1 + attest_dice_roll(dice, count - 1));
    snprintf(c->family, sizeof c->family, "edges");
}

static void capped_label(const attest_factor *factor, char *text, size_t len, int level)
{
    (void)factor, (void)level;
    snprintf(text, len, "of large steps");
}

/* ---- states of degree 2 and more that are wide on both sides ----------------------------------------------------- */

enum { WIDE_KEYS = 9, WIDE_VALUES = 33, WIDER_KEYS = 17 };

static int states_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const attest_problem *p = &c->problem;
    int lowest, highest;
    (void)factor, (void)kernel;
    if (!attest_variant_degrees(p->axis, &lowest, &highest) || highest < 2 || p->d < WIDE_KEYS || p->e < WIDE_VALUES)
        return -1;
    return p->d >= WIDER_KEYS;
}

static void states_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    attest_problem *p = &c->problem;
    (void)factor;
    set_width(p, WIDE_KEYS + (int64_t)attest_dice_roll(dice, 12), WIDE_VALUES + (int64_t)attest_dice_roll(dice, 8));
    p->n = p->m = draw_small(dice);
    set_heads(p, 1, 1, 1 + (int64_t)attest_dice_roll(dice, 2));
}

static void states_label(const attest_factor *factor, char *text, size_t len, int level)
{
    (void)factor;
    snprintf(text, len, "of degree 2.., d %s, e 33..", level ? "17.." : "9..16");
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

#define OF(size) offsetof(attest_problem, size)
#define WIDE(name, width, length)                                                                                      \
    {                                                                                                                  \
        name, wide_level, wide_redraw, wide_label, 0, OF(width), NULL, WIDE_LEVELS, 1, OF(length)                      \
    }
#define SHARED(name, length)                                                                                           \
    {                                                                                                                  \
        name, shared_level, shared_redraw, shared_label, 0, 0, NULL, SHARED_LEVELS, 1, OF(length)                      \
    }

size_t attest_factors_tiles(attest_factor *factor)
{
    const attest_factor rows[] = {
        WIDE("d by queries", d, n),
        WIDE("e by queries", e, n),
        WIDE("d by keys", d, m),
        WIDE("e by keys", e, m),
        SHARED("sharing by queries", n),
        SHARED("sharing by keys", m),
        { "left out", skipped_level, skipped_redraw, skipped_label, 0, 0, NULL, 2, 1, 0 },
        { "long mask", beside_level, beside_redraw, beside_label, 0, 0, NULL, COUNT(beside), 1, 0 },
        { "cap and bias", capped_level, capped_redraw, capped_label, 0, 0, NULL, 1, 1, 0 },
        { "states", states_level, states_redraw, states_label, 0, 0, NULL, 2, 1, 0 },
    };
    memcpy(factor, rows, sizeof rows);
    return COUNT(rows);
}
