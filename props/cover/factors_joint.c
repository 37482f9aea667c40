/* factors_joint.c - see factors.h: conditions of several parts at once, for arrays of live pairs.  A pair with one of
 * them is a triple of what the plain factors say, or more; random changes of one factor at a time hardly ever make it.
 */
#include "props/cover/factors.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof(table)[0]))

/* ---- what 64 and 128 leave of the queries and of the keys ------------------------------------------------------- */

static const char *const rests[] = { "below 64", "whole 128s", "whole 64s", "rest 1", "rest 63", "another rest" };

static const char *const sharing[] = { "not shared", "shared" };

static int rest_of(int64_t size)
{
    const int64_t rest = size % 64;
    return size < 64 ? 0 : rest == 0 ? 1 + (int)(size / 64 % 2) : rest == 1 ? 3 : rest == 63 ? 4 : 5;
}

static int is_queries(const attest_factor *factor) { return factor->offset == offsetof(attest_problem, n); }

static int tiles_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const attest_problem *p = &c->problem;
    (void)kernel;
    if (is_queries(factor) ? p->m < 3 : attest_most_keys(p) < p->m)
        return -1;
    return rest_of(is_queries(factor) ? p->n : p->m);
}

/* The other one of n and m is the same half of the time, else it stays where a line allows that. */
static void tiles_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    attest_problem *p = &c->problem;
    const int64_t size = 64 * (1 + (int64_t)attest_dice_roll(dice, 4)) - 1 + (int64_t)attest_dice_roll(dice, 3);
    const int square = p->axis[ATTEST_AXIS_DECAY].value != ATTEST_DECAY_NONE || attest_dice_roll(dice, 2) == 0;
    if (square || is_queries(factor))
        p->n = size;
    if (square || !is_queries(factor))
        p->m = size;
}

static void tiles_label(const attest_factor *factor, char *text, size_t len, int level)
{
    (void)factor;
    snprintf(text, len, "%s", rests[level]);
}

/* The same of as many queries as keys, where heads share keys or do not. */
static int square_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const attest_problem *p = &c->problem;
    (void)factor, (void)kernel;
    return p->n == p->m ? 2 * rest_of(p->n) + (p->hq > p->hkv) : -1;
}

static void square_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    tiles_redraw(factor, c, dice);
    c->problem.m = c->problem.n;
    c->problem.hq = c->problem.hkv * (1 + (int64_t)attest_dice_roll(dice, 4));
}

static void square_label(const attest_factor *factor, char *text, size_t len, int level)
{
    (void)factor;
    snprintf(text, len, "%s %s", rests[level / 2], sharing[level % 2]);
}

/* ---- lengths at the edges of tiles ------------------------------------------------------------------------------ */

enum { ENTRIES = 3, KEYS = 64 }; /* so many batch entries have a length of whole tiles, or beside it; tiles of 64 */

static int lengths_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const attest_problem *p = &c->problem;
    (void)factor, (void)kernel;
    return p->axis[ATTEST_AXIS_LENS].value == ATTEST_LENS_DRAW && attest_is_edges(c) && p->b >= ENTRIES &&
                   attest_most_keys(p) >= KEYS
               ? 0
               : -1;
}

static void lengths_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    attest_problem *p = &c->problem;
    (void)factor;
    attest_redraw_axis(c, dice, ATTEST_AXIS_LENS, ATTEST_LENS_DRAW);
    snprintf(c->family, sizeof c->family, "edges");
    p->b = ENTRIES + (int64_t)attest_dice_roll(dice, 3);
    p->m = KEYS + (int64_t)attest_dice_roll(dice, 2 * KEYS + 3);
    if (p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL)
        p->n = p->m;
}

static void lengths_label(const attest_factor *factor, char *text, size_t len, int level)
{
    (void)factor, (void)level;
    snprintf(text, len, "of tiles");
}

/* ---- types, where heads share keys or do not -------------------------------------------------------------------- */

static int shared_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const int row = (int)attest_types_row(&c->problem);
    (void)factor, (void)kernel;
    return row < ATTEST_TYPES_ROWS ? 2 * row + (c->problem.hq > c->problem.hkv) : -1;
}

static void shared_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    (void)factor;
    attest_draw_types(&c->problem, dice);
    c->problem.hq = c->problem.hkv * (1 + (int64_t)attest_dice_roll(dice, 4));
}

static void shared_label(const attest_factor *factor, char *text, size_t len, int level)
{
    attest_problem p;
    (void)factor;
    attest_types_set(&p, (size_t)level / 2);
    snprintf(text, len, "%s p=%s out=%s %s", attest_dtype_name(p.in), attest_dtype_name(p.p), attest_dtype_name(p.out),
             sharing[level % 2]);
}

/* ---- products far above the scores ------------------------------------------------------------------------------ */

/* Families that choose q and k so that the scores are what they are, whatever the scale. */
static const char *const by_score[] = { "range", "huge" };
static const double small[] = { 0.001, -0.001, 0x1p-10 };

static int products_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const attest_family_info *family = attest_family_of(c);
    const double scale = fabs(c->problem.scale);
    (void)factor, (void)kernel;
    for (int i = 0; family && i < COUNT(by_score); i++)
        if (strcmp(family->name, by_score[i]) == 0)
            return scale > 0 && scale <= 0.001 ? 0 : -1;
    return -1;
}

static void products_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    (void)factor;
    c->problem.scale = ATTEST_DICE_ANY(dice, small);
    if (attest_dice_roll(dice, 3) == 0)
        snprintf(c->family, sizeof c->family, "huge");
    else
        snprintf(c->family, sizeof c->family, "range:%u0", 1 + (unsigned)attest_dice_roll(dice, 9));
}

static void products_label(const attest_factor *factor, char *text, size_t len, int level)
{
    (void)factor, (void)level;
    snprintf(text, len, "1000 times the scores");
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

#define TILES(name, size)                                                                                              \
    {                                                                                                                  \
        name, tiles_level, tiles_redraw, tiles_label, 0, offsetof(attest_problem, size), NULL, COUNT(rests), 1, 0      \
    }

size_t attest_factors_joint(attest_factor *factor)
{
    const attest_factor rows[] = {
        TILES("queries by 64", n),
        TILES("keys by 64", m),
        { "n=m by 64", square_level, square_redraw, square_label, 0, offsetof(attest_problem, n), NULL,
          2 * COUNT(rests), 1, 0 },
        { "edge lens", lengths_level, lengths_redraw, lengths_label, 0, 0, NULL, 1, 1, 0 },
        { "in and heads", shared_level, shared_redraw, shared_label, 0, 0, NULL, 2 * ATTEST_TYPES_ROWS, 1, 0 },
        { "products", products_level, products_redraw, products_label, 0, 0, NULL, 1, 1, 0 },
    };
    memcpy(factor, rows, sizeof rows);
    return sizeof rows / sizeof rows[0];
}
