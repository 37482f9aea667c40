/* factors.c - see factors.h: axes first, then sizes, what sizes are to each other, types, family, scale. */
#include "props/cover/factors.h"

#include "props/draw/draw.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- axes: a value, and the class of its number ----------------------------------------------------------------- */

/* Numbers (orders) of an axis value fall into classes: below the first edge, from it, from the second, .. */
static const struct classes {
    attest_axis axis;
    int edges;
    double edge[7];
    int far; /* so many edges more where sizes go further */
} classes[] = {
    { ATTEST_AXIS_WEIGHT, 6, { 1, 2, 3, 4, 5, 10 }, 0 },
    { ATTEST_AXIS_WINDOW, 3, { 2, 4, 31, 64, 250 }, 2 },
    { ATTEST_AXIS_CLAMP, 1, { 0x1p-1074 }, 0 },
    { ATTEST_AXIS_CAP, 1, { 2 }, 0 },
    { ATTEST_AXIS_FILTER, 1, { 1 }, 0 },
    { ATTEST_AXIS_ROPE, 1, { 1000 }, 0 },
    { ATTEST_AXIS_EPS, 1, { 0x1p-16 }, 0 },
    { ATTEST_AXIS_PAGES, 2, { 2, 16 }, 0 },
};

static const struct classes *classes_of(attest_axis axis)
{
    for (size_t k = 0; k < sizeof classes / sizeof classes[0]; k++)
        if (classes[k].axis == axis)
            return &classes[k];
    return NULL;
}

static int edges_of(const struct classes *of, int wide) { return of->edges + (wide ? of->far : 0); }

/* ---- what is live: a level that changes nothing meets nothing ---------------------------------------------------- */

int64_t attest_most_keys(const attest_problem *p)
{
    const int causal = p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL;
    return causal && p->n < p->m ? p->n : p->m;
}

/* Axes whose value says something only of a row that sees several keys. */
#define OF_SEVERAL_KEYS                                                                                                \
    (ATTEST_BIT(ATTEST_AXIS_LENS) | ATTEST_BIT(ATTEST_AXIS_ALIBI) | ATTEST_BIT(ATTEST_AXIS_BIAS) |                     \
     ATTEST_BIT(ATTEST_AXIS_ROPE) | ATTEST_BIT(ATTEST_AXIS_FILTER) | ATTEST_BIT(ATTEST_AXIS_CENTER) |                  \
     ATTEST_BIT(ATTEST_AXIS_ATTN_MASK))

/* A window that some row's keys go beyond. */
static int window_is_live(const attest_problem *p, int64_t window)
{
    switch (p->axis[ATTEST_AXIS_MASK].value) {
    case ATTEST_MASK_CAUSAL: return p->n > window;
    case ATTEST_MASK_CAUSAL_BR: return p->m > window;
    default: return p->n > window || p->m > window;
    }
}

static int axis_is_live(attest_axis axis, const attest_problem *p)
{
    const attest_setting *s = &p->axis[axis];
    if (s->value == 0)
        return 1;
    if (axis == ATTEST_AXIS_WINDOW)
        return window_is_live(p, (int64_t)s->order);
    if (axis == ATTEST_AXIS_PAGES)
        return attest_most_keys(p) > (int64_t)s->order;
    if (axis == ATTEST_AXIS_LENS_Q)
        return p->n >= 3 && p->b >= 2;
    if (axis == ATTEST_AXIS_PACKED)
        return p->b >= 2;
    if (axis == ATTEST_AXIS_MASK)
        return s->value == ATTEST_MASK_CAUSAL ? p->m >= 2 : p->n >= 2 && p->m >= 2;
    if (axis == ATTEST_AXIS_DECAY)
        return (p->n >= 3 && p->m >= 3) || p->axis[ATTEST_AXIS_STATE].value != ATTEST_STATE_NONE;
    return !(OF_SEVERAL_KEYS & ATTEST_BIT(axis)) || attest_most_keys(p) >= 3;
}

static int axis_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const attest_setting *s = &c->problem.axis[factor->axis];
    const struct classes *of = classes_of(factor->axis);
    (void)kernel;
    if (factor->wide && !axis_is_live(factor->axis, &c->problem))
        return -1;
    if (!of)
        return (int)s->value;
    int class = 0;
    const int edges = edges_of(of, factor->wide);
    const double x = s->number != 0 ? s->number : (double)s->order;
    while (s->value != 0 && class < edges && x >= of->edge[class])
        class ++;
    return (int)s->value * (edges + 1) + class;
}

static void axis_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    attest_redraw_axis(c, dice, factor->axis, attest_dice_roll(dice, attest_axes[factor->axis].value_count));
}

static void axis_label(const attest_factor *factor, char *text, size_t len, int level)
{
    const struct classes *of = classes_of(factor->axis);
    const int parts = of ? edges_of(of, factor->wide) + 1 : 1, value = level / parts, class = level % parts;
    const char *name = attest_axes[factor->axis].values[value].name;
    if (!of || value == 0)
        snprintf(text, len, "%s", name ? name : "set");
    else if (class == 0)
        snprintf(text, len, "%s%sbelow %g", name ? name : "", name ? " " : "", of->edge[0]);
    else
        snprintf(text, len, "%s%sfrom %g", name ? name : "", name ? " " : "", of->edge[class - 1]);
}

/* ---- sizes: tiles, chunks and vectors are 8, 16, .. 256 long; their edges are classes of their own -------------- */

/* The last class of each (of tokens and widths: the last two) is for arrays whose sizes go further. */
static const int64_t tokens[][2] = { { 1, 1 },   { 2, 2 },   { 3, 14 },   { 15, 17 },    { 18, 30 },    { 31, 33 },
                                     { 34, 62 }, { 63, 65 }, { 66, 260 }, { 261, 1023 }, { 1024, 1100 } };
static const int64_t widths[][2] = { { 1, 1 },   { 2, 2 },   { 3, 7 },    { 8, 9 },     { 10, 30 },
                                     { 31, 33 }, { 34, 65 }, { 66, 136 }, { 137, 192 }, { 193, 264 } };
static const int64_t batches[][2] = { { 1, 1 }, { 2, 4 }, { 5, 8 } };
static const int64_t heads[][2] = { { 1, 1 }, { 2, 2 }, { 3, 5 }, { 6, 16 } };
static const int64_t groups[][2] = { { 1, 1 }, { 2, 2 }, { 3, 7 }, { 8, 16 } };
static const int64_t parts[][2] = { { 1, 1 }, { 2, 3 }, { 4, 8 }, { 9, 64 }, { 65, 256 } };
static const int64_t edges[] = { 8, 16, 32, 64, 128, 256 };

enum { WIDTH_USUAL = 136, TILE = 32 };

static int64_t *size_at(const attest_factor *factor, attest_case *c)
{
    return (int64_t *)(void *)((char *)&c->problem + factor->offset);
}

static int range_of(const attest_factor *factor, int64_t size)
{
    for (int level = 0; level < factor->levels; level++)
        if (size >= factor->range[level][0] && size <= factor->range[level][1])
            return level;
    return -1;
}

static int64_t draw_range(const attest_factor *factor, attest_dice *dice)
{
    const int64_t *range = factor->range[attest_dice_roll(dice, (uint32_t)factor->levels)];
    const int64_t edge = ATTEST_DICE_ANY(dice, edges) - 1 + attest_dice_roll(dice, 3);
    return edge >= range[0] && edge <= range[1]
               ? edge
               : range[0] + attest_dice_roll(dice, (uint32_t)(range[1] - range[0] + 1));
}

/* Many queries of one or two keys are one query, keys that no row sees are none, a chunk or a part of the keys is never
 * longer than what there is, and the widest rows are told from others over more than one tile of keys: `level` is of
 * the size as it stands. */
static int size_is_live(const attest_factor *factor, const attest_problem *p, int level)
{
    switch (factor->offset) {
    case offsetof(attest_problem, n): return p->n <= 2 || p->m >= 3;
    case offsetof(attest_problem, m): return attest_most_keys(p) == p->m;
    case offsetof(attest_problem, d):
    case offsetof(attest_problem, e):
        return level < 0 || factor->range[level][0] <= WIDTH_USUAL || attest_most_keys(p) > TILE;
    case offsetof(attest_problem, chunk): return level < 0 || p->n >= factor->range[level][0];
    case offsetof(attest_problem, splits): return level < 0 || attest_most_keys(p) >= factor->range[level][0];
    default: return 1;
    }
}

static int size_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const int64_t *size = (const int64_t *)(const void *)((const char *)&c->problem + factor->offset);
    const int chunks = factor->offset == offsetof(attest_problem, chunk);
    const int splits = factor->offset == offsetof(attest_problem, splits);
    if ((chunks && kernel->form != ATTEST_CHUNK) || (splits && kernel->form != ATTEST_SPLIT))
        return -1;
    const int level = range_of(factor, *size);
    return factor->wide && !size_is_live(factor, &c->problem, level) ? -1 : level;
}

/* n and m stay equal where they must, and half of the time where they are; a default scale stays one. */
static void size_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    attest_problem *p = &c->problem;
    const int plain = p->scale == attest_default_scale(p->d), square = p->n == p->m, wide = p->e == p->d;
    const int64_t group = p->hq / p->hkv;
    *size_at(factor, c) = draw_range(factor, dice);
    const int one = p->axis[ATTEST_AXIS_DECAY].value != ATTEST_DECAY_NONE || attest_dice_roll(dice, 2) == 0;
    if (factor->offset == offsetof(attest_problem, n) && square && one)
        p->m = p->n;
    if (factor->offset == offsetof(attest_problem, m) && square && one)
        p->n = p->m;
    if (factor->offset == offsetof(attest_problem, d) && wide && one)
        p->e = p->d;
    p->hq = p->hkv * group;
    if (plain)
        p->scale = attest_default_scale(p->d);
}

static void size_label(const attest_factor *factor, char *text, size_t len, int level)
{
    const int64_t *range = factor->range[level];
    snprintf(text, len, range[0] == range[1] ? "%d" : "%d..%d", (int)range[0], (int)range[1]);
}

static int group_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    (void)kernel;
    return range_of(factor, c->problem.hq / c->problem.hkv);
}

static void group_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    c->problem.hq = c->problem.hkv * draw_range(factor, dice);
}

/* ---- what sizes are to each other ------------------------------------------------------------------------------- */

static const char *const shapes[] = { "n=m", "n<m", "n>m" };

static int shape_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    (void)factor, (void)kernel;
    return c->problem.n == c->problem.m ? 0 : c->problem.n < c->problem.m ? 1 : 2;
}

static void shape_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    attest_problem *p = &c->problem;
    const int64_t n = p->n;
    (void)factor;
    switch (attest_dice_roll(dice, 3)) {
    case 0: p->m = n; break;
    case 1: p->n = p->m; break;
    default: p->n = p->m; p->m = n;
    }
}

static const char *const rests[] = { "no rest", "rest 1", "rest -1", "another rest", "one part, short" };

/* What is left of `size` after whole parts. */
static int rest_of(int64_t size, int64_t part)
{
    const int64_t rest = size % part;
    return size < part ? 4 : rest == 0 ? 0 : rest == 1 ? 1 : rest == part - 1 ? 2 : 3;
}

static int rest_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const attest_problem *p = &c->problem;
    (void)factor;
    return kernel->form == ATTEST_CHUNK   ? rest_of(p->n, p->chunk)
           : kernel->form == ATTEST_SPLIT ? rest_of(p->m, p->splits)
                                          : -1;
}

static void rest_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    static const int64_t around[] = { -1, 0, 1, 2 };
    attest_problem *p = &c->problem;
    const int64_t size = p->chunk * (1 + attest_dice_roll(dice, 3)) + ATTEST_DICE_ANY(dice, around);
    (void)factor;
    if (size >= 1)
        p->n = p->m = size;
}

/* ---- types, family, scale --------------------------------------------------------------------------------------- */

static int types_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const int row = (int)attest_types_row(&c->problem);
    (void)kernel;
    return row < factor->levels ? row : -1;
}

static void types_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    (void)factor;
    attest_draw_types(&c->problem, dice);
}

static void types_label(const attest_factor *factor, char *text, size_t len, int level)
{
    attest_problem p;
    (void)factor;
    attest_types_set(&p, (size_t)level);
    snprintf(text, len, "%s p=%s out=%s", attest_dtype_name(p.in), attest_dtype_name(p.p), attest_dtype_name(p.out));
}

/* Family edges goes through its laws over heads and batch entries. */
enum { LAWS = 4 };

int attest_is_edges(const attest_case *c)
{
    const attest_family_info *family = attest_family_of(c);
    return family && strcmp(family->name, "edges") == 0;
}

static int family_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const attest_family_info *family = attest_family_of(c);
    const size_t row = family ? (size_t)(family - attest_families) : attest_family_drawn;
    (void)kernel;
    if (factor->wide && attest_is_edges(c) && c->problem.b + c->problem.hkv < LAWS)
        return -1;
    return row < (size_t)factor->levels ? (int)row : -1;
}

static void family_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    attest_redraw_family(c, dice);
    if (factor->wide && attest_is_edges(c) && c->problem.b < LAWS - 1)
        c->problem.b = LAWS - 1;
}

static void family_label(const attest_factor *factor, char *text, size_t len, int level)
{
    (void)factor;
    snprintf(text, len, "%s", attest_families[level].name);
}

static const char *const scales[] = { "default", "0", "1", "negative", "another" };

static int scale_level(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel)
{
    const double scale = c->problem.scale;
    (void)factor, (void)kernel;
    return scale == attest_default_scale(c->problem.d) ? 0 : scale == 0 ? 1 : scale == 1 ? 2 : scale < 0 ? 3 : 4;
}

static void scale_redraw(const attest_factor *factor, attest_case *c, attest_dice *dice)
{
    static const double others[] = { 0, 1, -0.5, -0.3, 0.5, 0.125, 0.3, 2 };
    const uint32_t at = attest_dice_roll(dice, 12);
    (void)factor;
    c->problem.scale = at < 8 ? others[at] : attest_default_scale(c->problem.d);
}

#define LABEL_FROM(names)                                                                                              \
    static void names##_label(const attest_factor *factor, char *text, size_t len, int level)                          \
    {                                                                                                                  \
        (void)factor;                                                                                                  \
        snprintf(text, len, "%s", names[level]);                                                                       \
    }
LABEL_FROM(shapes)
LABEL_FROM(rests)
LABEL_FROM(scales)

/* ---- the table -------------------------------------------------------------------------------------------------- */

#define COUNT(table) ((int)(sizeof(table) / sizeof(table)[0]))
/* Sizes have their last `far` classes only where they go further. */
#define SIZE(name, ranges, far)                                                                                        \
    {                                                                                                                  \
#name, size_level, size_redraw, size_label, 0, offsetof(attest_problem, name), ranges,                         \
            COUNT(ranges) - (wide ? 0 : far), wide, 0                                                                  \
    }

size_t attest_factors_list(attest_factor factor[ATTEST_FACTORS_MOST], int wide)
{
    const attest_factor others[] = {
        SIZE(n, tokens, 2),
        SIZE(m, tokens, 2),
        SIZE(d, widths, 2),
        SIZE(e, widths, 2),
        SIZE(b, batches, 1),
        SIZE(hkv, heads, 1),
        { "hq/hkv", group_level, group_redraw, size_label, 0, 0, groups, COUNT(groups) - !wide, wide, 0 },
        SIZE(chunk, parts, 1),
        SIZE(splits, parts, 1),
        { "parts", rest_level, rest_redraw, rests_label, 0, 0, NULL, COUNT(rests), wide, 0 },
        { "shape", shape_level, shape_redraw, shapes_label, 0, 0, NULL, COUNT(shapes), wide, 0 },
        { "in", types_level, types_redraw, types_label, 0, 0, NULL, ATTEST_TYPES_ROWS, wide, 0 },
        { "family", family_level, family_redraw, family_label, 0, 0, NULL, (int)attest_family_drawn, wide, 0 },
        { "scale", scale_level, scale_redraw, scales_label, 0, 0, NULL, COUNT(scales), wide, 0 },
    };
    size_t count = 0;
    for (uint32_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++) {
        const struct classes *of = classes_of(axis);
        factor[count++] = (attest_factor){ attest_axes[axis].key,
                                           axis_level,
                                           axis_redraw,
                                           axis_label,
                                           axis,
                                           0,
                                           NULL,
                                           (int)attest_axes[axis].value_count * (of ? edges_of(of, wide) + 1 : 1),
                                           wide,
                                           0 };
    }
    memcpy(factor + count, others, sizeof others);
    count += sizeof others / sizeof others[0];
    if (wide) {
        count += attest_factors_joint(factor + count);
        count += attest_factors_tiles(factor + count);
    }
    return count;
}

/* ---- costs ------------------------------------------------------------------------------------------------------ */

enum { WORK_MOST = 1500000, STATE_MOST = 3000000, STATE_NUMBERS = 8192, ALWAYS = 40000 };

static double pairs_cost(const attest_problem *p)
{
    return (double)(p->b * p->hq * p->n * p->m) * (double)(p->d + p->e + 10);
}

/* Numbers of the highest state, 0 without one. */
static double state_numbers(const attest_problem *p)
{
    int lowest, highest;
    if (!attest_variant_degrees(p->axis, &lowest, &highest))
        return 0;
    const int64_t rows = attest_state_rows(attest_feature_dim(p), highest, 0);
    return rows < 0 ? HUGE_VAL : (double)rows * (double)p->e;
}

int attest_cover_affordable(const attest_case *c)
{
    const attest_problem *p = &c->problem;
    const double numbers = state_numbers(p);
    return pairs_cost(p) <= WORK_MOST && numbers <= STATE_NUMBERS &&
           numbers * (double)(p->b * p->hq * (p->n + p->m)) <= STATE_MOST;
}

double attest_cover_cost(const attest_case *c)
{
    const attest_problem *p = &c->problem;
    return ALWAYS + pairs_cost(p) + state_numbers(p) * (double)(p->b * p->hkv * p->n);
}
