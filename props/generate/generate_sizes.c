/* generate_sizes.c - sizes at edges: one, two, primes, tiles and chunks and parts +-1, and few enough of everything. */
#include "props/generate/generate_draw.h"

#include <string.h>

enum { LATE = 60 }; /* attempts after which sizes are those that kernels of fixed tiles want */

enum { SIZES_SMALL, SIZES_TINY, SIZES_LONG, SIZES_WIDE, SIZES_MANY, SIZES_ROUND };

static const struct kind {
    uint32_t weight;
    int kind;
} kinds[] = {
    { 56, SIZES_SMALL }, { 8, SIZES_TINY }, { 8, SIZES_LONG }, { 12, SIZES_WIDE }, { 16, SIZES_MANY },
};

static const int64_t tokens_tiny[] = { 1, 2, 3 };
static const int64_t tokens_few[] = { 1, 2, 3, 4, 5, 7, 8, 9, 11 };
static const int64_t tokens_small[] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 13, 15,
                                        16, 17, 19, 23, 24, 29, 31, 32, 33, 37, 40 };
static const int64_t tokens_long[] = { 41, 47, 48, 49, 63, 64, 65, 66, 79, 95, 96, 97, 113, 127, 128, 129, 130 };
static const int64_t tokens_round[] = { 16, 32, 64, 128, ATTEST_GENERATE_TOKENS };
static const int64_t width_few[] = { 1, 1, 2, 2, 3, 4 };
static const int64_t width_small[] = { 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8 };
static const int64_t width_wide[] = { 9, 12, 15, 16, 16, 17, 24, 31, 32, 33, 48, 63, 64 };
static const int64_t width_round[] = { 16, 32, 64, 128, 256 };
static const int64_t heads_kv[] = { 1, 1, 2, 2, 3 };
static const int64_t heads_shared[] = { 1, 1, 2, 2, 3, 4 };
static const int64_t batch[] = { 1, 1, 1, 2, 2, 3, ATTEST_GENERATE_BATCH };
static const int64_t parts[] = { 1, 2, 2, 3, 3, 4, 5, 7, 8, 16, 32, 64 };

/* ---- tokens ----------------------------------------------------------------------------------------------------- */

static int64_t draw_tokens(attest_dice *dice, int kind)
{
    switch (kind) {
    case SIZES_TINY: return ATTEST_DICE_ANY(dice, tokens_tiny);
    case SIZES_LONG: return ATTEST_DICE_ANY(dice, tokens_long);
    case SIZES_WIDE:
    case SIZES_MANY: return ATTEST_DICE_ANY(dice, tokens_few);
    case SIZES_ROUND: return ATTEST_DICE_ANY(dice, tokens_round);
    default: return ATTEST_DICE_ANY(dice, tokens_small);
    }
}

/* Keys of a kernel with tiles: whole tiles and a rest of 0, 1, tile-1, or one that the case's number says, so that the
 * cases of a run, or every k-th of them, leave every rest. */
static int64_t draw_tiled(attest_dice *dice, int64_t tile, uint32_t number)
{
    const int64_t whole = attest_dice_roll(dice, tile > 32 ? 2 : 3) * tile;
    switch (attest_dice_roll(dice, 16)) {
    case 0: return whole + tile;
    case 1: return whole + 1;
    case 2: return whole + tile - 1;
    default: return whole + 1 + ((int64_t)number + (int64_t)number / tile) % tile;
    }
}

static void draw_lengths(attest_problem *p, attest_dice *dice, const attest_prop_kernel *kernel, uint32_t number,
                         int kind)
{
    const int64_t tile = kernel->numerics.tile;
    const int tiled = kind != SIZES_TINY && kind != SIZES_ROUND && tile > 1 && tile <= 64 &&
                      attest_dice_roll(dice, 8) != 0;
    p->n = p->m = draw_tokens(dice, kind);
    if (tiled)
        p->n = p->m = draw_tiled(dice, tile, number);
    if (p->axis[ATTEST_AXIS_DECAY].value != ATTEST_DECAY_NONE || attest_dice_roll(dice, 2) == 0)
        return;
    if (p->m > 40)
        p->n = ATTEST_DICE_ANY(dice, tokens_few);
    else
        p->n = draw_tokens(dice, kind);
    if (kind == SIZES_LONG && !tiled && attest_dice_roll(dice, 2) == 0) {
        const int64_t n = p->n;
        p->n = p->m;
        p->m = n;
    }
}

/* ---- the rest --------------------------------------------------------------------------------------------------- */

static int64_t draw_width(attest_dice *dice, int kind)
{
    switch (kind) {
    case SIZES_TINY:
    case SIZES_LONG:
    case SIZES_MANY: return ATTEST_DICE_ANY(dice, width_few);
    case SIZES_WIDE:
        return attest_dice_roll(dice, 3) ? ATTEST_DICE_ANY(dice, width_wide) : ATTEST_DICE_ANY(dice, width_small);
    case SIZES_ROUND: return ATTEST_DICE_ANY(dice, width_round);
    default: return ATTEST_DICE_ANY(dice, width_small);
    }
}

static void draw_heads(attest_problem *p, attest_dice *dice, int kind)
{
    const int many = p->axis[ATTEST_AXIS_GATES].value == ATTEST_GATES_HEADS || /* a softmax over one head is 1 */
                     p->axis[ATTEST_AXIS_ALIBI].value == ATTEST_ALIBI_USUAL;
    p->b = p->hq = p->hkv = 1;
    if (kind != SIZES_MANY && attest_dice_roll(dice, many ? 2 : 4) != 0)
        return;
    p->hkv = ATTEST_DICE_ANY(dice, heads_kv);
    p->hq = p->hkv * ATTEST_DICE_ANY(dice, heads_shared);
    p->b = ATTEST_DICE_ANY(dice, batch);
}

/* chunk or splits: a part, or about all `tokens`. */
static int64_t draw_parts(attest_dice *dice, int64_t tokens)
{
    const int64_t near = tokens - 1 + attest_dice_roll(dice, 3);
    return attest_dice_roll(dice, 4) == 0 && near >= 1 ? near : ATTEST_DICE_ANY(dice, parts);
}

void attest_draw_sizes(attest_case *c, attest_dice *dice, const attest_prop_kernel *kernel, uint32_t number,
                       uint32_t attempt)
{
    attest_problem *p = &c->problem;
    const int kind = attempt > LATE && attempt % 2 ? SIZES_ROUND : ATTEST_DICE_PICK(dice, kinds)->kind;
    draw_lengths(p, dice, kernel, number, kind);
    draw_heads(p, dice, kind);
    p->d = draw_width(dice, kind);
    p->e = attest_dice_roll(dice, 2) ? p->d : draw_width(dice, kind);
    attest_keep_limits(p, &kernel->limits);
    p->chunk = kernel->form == ATTEST_CHUNK ? draw_parts(dice, p->n) : 64;
    p->splits = kernel->form == ATTEST_SPLIT ? draw_parts(dice, p->m) : 1;
}

/* ---- what a kernel declares of its sizes ------------------------------------------------------------------------ */

/* The most that a line may say; a kernel that wants more has no drawn case. */
enum { HEADS_MOST = 4096, TOKENS_MOST = 1 << 13, WIDTH_MOST = 65535 };

static int64_t keep(int64_t size, const attest_limit *limit, int64_t most)
{
    const int64_t step = limit->multiple > 1 ? limit->multiple : 1;
    int64_t kept = size < limit->least ? limit->least : size;
    if (kept > most || step > most)
        return size;
    kept += (step - kept % step) % step;
    if (limit->most > 0 && kept > limit->most)
        kept = limit->most - limit->most % step;
    return kept > 0 && kept <= most ? kept : size;
}

/* Query heads for this many KV heads: about `group` each; 0 if none fits. */
static int64_t keep_queries(int64_t hkv, int64_t group, const attest_limit *limit)
{
    for (int64_t more = 0; hkv * (group + more) <= HEADS_MOST; more++) {
        if (keep(hkv * (group + more), limit, HEADS_MOST) == hkv * (group + more))
            return hkv * (group + more);
        if (more < group && keep(hkv * (group - more), limit, HEADS_MOST) == hkv * (group - more))
            return hkv * (group - more);
    }
    return 0;
}

/* Heads keep their ratio, else another, else there are fewer KV heads; where nothing fits they stay. */
static void keep_heads(attest_problem *p, const attest_limits *limits)
{
    const int64_t group = p->hq / p->hkv;
    for (int64_t hkv = keep(p->hkv, &limits->hkv, HEADS_MOST); hkv >= 1; hkv--) {
        const int64_t hq = hkv == keep(hkv, &limits->hkv, HEADS_MOST) ? keep_queries(hkv, group, &limits->hq) : 0;
        if (hq > 0) {
            p->hkv = hkv;
            p->hq = hq;
            return;
        }
    }
}

void attest_keep_limits(attest_problem *p, const attest_limits *limits)
{
    const int plain = p->scale == attest_default_scale(p->d);
    keep_heads(p, limits);
    p->b = keep(p->b, &limits->b, HEADS_MOST);
    p->n = keep(p->n, &limits->n, TOKENS_MOST);
    p->m = keep(p->m, &limits->m, TOKENS_MOST);
    p->d = keep(p->d, &limits->d, WIDTH_MOST);
    p->e = keep(p->e, &limits->e, WIDTH_MOST);
    if (plain)
        p->scale = attest_default_scale(p->d);
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

enum { WORK = 60000, WORK_LATE = 1 << 24 };                       /* pairs of tokens times numbers a pair */
enum { ROWS_USUAL = 128, ROWS_MOST = 4096, NUMBERS_MOST = 8192 }; /* of the highest state */
#define STATES_LATE 3e6                                           /* of all tokens; for kernels of fixed widths */

static double work(const attest_problem *p)
{
    return (double)p->b * (double)p->hq * (double)p->n * (double)p->m * (double)(p->d + p->e + 10);
}

/* Rows of the highest state; ROWS_MOST + 1 for more. */
static int64_t state_rows(const attest_problem *p, int degree)
{
    const int64_t rows = attest_state_rows(attest_feature_dim(p), degree, 0);
    return rows < 0 || rows > ROWS_MOST ? ROWS_MOST + 1 : rows;
}

static int limit_states(attest_problem *p, attest_dice *dice)
{
    int lowest, highest;
    const int64_t most = attest_dice_roll(dice, 8) ? ROWS_USUAL : ROWS_MOST;
    if (!attest_variant_degrees(p->axis, &lowest, &highest))
        return 1;
    while (p->d > 1 && highest > 1 && state_rows(p, highest) > most)
        p->d--;
    while (p->e > 1 && state_rows(p, highest) * p->e > NUMBERS_MOST)
        p->e--;
    return state_rows(p, highest) <= ROWS_MOST;
}

/* Numbers of the highest state, once a token and head. */
static double states_cost(const attest_problem *p)
{
    int lowest, highest;
    if (!attest_variant_degrees(p->axis, &lowest, &highest))
        return 0;
    return (double)state_rows(p, highest) * (double)p->e * (double)(p->b * p->hq) * (double)(p->n + p->m);
}

int attest_limit_sizes(attest_case *c, attest_dice *dice, const attest_prop_kernel *kernel, uint32_t attempt)
{
    attest_problem *p = &c->problem;
    const double most = attempt > LATE ? WORK_LATE : WORK;
    const int states = kernel->form == ATTEST_RECURRENT || kernel->form == ATTEST_CHUNK ||
                       (kernel->outputs & (ATTEST_GIVES_STATE | ATTEST_TAKES_STATE)) != 0 ||
                       p->axis[ATTEST_AXIS_STATE].value != ATTEST_STATE_NONE;
    const int plain = p->scale == attest_default_scale(p->d), fits = !states || limit_states(p, dice);
    if (plain)
        p->scale = attest_default_scale(p->d);
    while (work(p) > most && p->b > 1)
        p->b--;
    while (work(p) > most && p->hq > p->hkv)
        p->hq -= p->hkv;
    if (work(p) > most)
        p->hq = p->hkv = 1;
    while (work(p) > most && p->n > 1) {
        p->n = (p->n + 1) / 2;
        if (p->axis[ATTEST_AXIS_DECAY].value != ATTEST_DECAY_NONE)
            p->m = p->n;
    }
    attest_keep_limits(p, &kernel->limits);
    return fits && work(p) <= WORK_LATE && (!states || states_cost(p) <= STATES_LATE);
}
