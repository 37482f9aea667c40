/* cover.c - see cover.h: pools of lines, sets of tuples, greedy choice. */
#include "props/cover/factors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Levels of a case: number of the level among all levels of all factors, one a factor that applies, ascending. */
typedef struct levels {
    uint16_t id[ATTEST_FACTORS_MOST];
    int count;
} levels;

typedef struct line {
    attest_case c;
    levels has;
    double gain; /* new tuples for its cost when last looked at: never less than now */
} line;

/* A set of tuples of levels. */
typedef struct tuples {
    uint64_t *word;
    size_t count;
} tuples;

typedef struct covered {
    attest_prop_kernel kernel;
    attest_prop_host host;
    int (*over)(void *context); /* NULL: never */
    line *pool;                 /* [ATTEST_COVER_POOL] */
    size_t pool_count;
    tuples possible, met;
} covered;

struct attest_cover {
    int strength, all_levels;
    uint64_t seed;
    attest_factor factor[ATTEST_FACTORS_MOST];
    int first_id[ATTEST_FACTORS_MOST]; /* id of a factor's level 0 */
    size_t factor_count;
    covered *kernel; /* [kernel_count] */
    size_t *order;   /* [kernel_count]: those that can meet least come first */
    size_t kernel_count;
    size_t turn; /* the place in `order` of the kernel that is being covered */
    uint32_t chosen;
};

/* ---- tuples ----------------------------------------------------------------------------------------------------- */

static levels levels_of(const attest_cover *cover, const attest_case *c, const attest_prop_kernel *kernel)
{
    levels has = { .count = 0 };
    for (size_t f = 0; f < cover->factor_count; f++) {
        const int level = cover->factor[f].level(&cover->factor[f], c, kernel);
        if (level >= 0 && level < cover->factor[f].levels)
            has.id[has.count++] = (uint16_t)(cover->first_id[f] + level);
    }
    return has;
}

static size_t words_of(const attest_cover *cover)
{
    size_t bits = 1;
    for (int k = 0; k < cover->strength; k++)
        bits *= (size_t)cover->all_levels;
    return bits / 64 + 1;
}

static int is_in(const tuples *set, size_t at) { return (int)(set->word[at / 64] >> at % 64 & 1); }

/* What is done with each tuple of a case. */
typedef size_t (*visit)(tuples *set, size_t at);

static size_t put(tuples *set, size_t at)
{
    const size_t fresh = !is_in(set, at);
    set->word[at / 64] |= (uint64_t)1 << at % 64;
    set->count += fresh;
    return fresh;
}

static size_t lacks(tuples *set, size_t at) { return !is_in(set, at); }

/* The sum of visit() over all tuples of `strength` levels. */
static size_t each(const attest_cover *cover, const levels *has, visit look, tuples *set)
{
    const size_t all = (size_t)cover->all_levels;
    size_t sum = 0;
    for (int a = 0; a < has->count; a++)
        for (int b = a + 1; b < has->count; b++) {
            const size_t pair = has->id[a] * all + has->id[b];
            if (cover->strength == 2)
                sum += look(set, pair);
            else
                for (int d = b + 1; d < has->count; d++)
                    sum += look(set, pair * all + has->id[d]);
        }
    return sum;
}

/* ---- pools ------------------------------------------------------------------------------------------------------ */

static int serves(const covered *k, const attest_case *c) { return k->host.supports(k->host.context, &c->problem); }

static int is_over(const covered *k) { return k->over && k->over(k->host.context); }

/* 1 if the case says what it is on a line, costs little and is served; it then is as its line says it. */
static int is_usable(const covered *k, attest_case *c)
{
    char text[ATTEST_LINE];
    attest_error err;
    return attest_cover_affordable(c) && attest_line_consistent(c) &&
           attest_case_print(text, sizeof text, c, &err) == ATTEST_OK &&
           attest_case_parse(c, text, NULL, NULL, &err) == ATTEST_OK && serves(k, c);
}

/* Changes one factor, any one; 1 if the case is usable still. */
static int change(const attest_cover *cover, const covered *k, attest_case *c, attest_dice *dice)
{
    const attest_factor *factor = &cover->factor[attest_dice_roll(dice, (uint32_t)cover->factor_count)];
    attest_case other = *c;
    factor->redraw(factor, &other, dice);
    attest_keep_limits(&other.problem, &k->kernel.limits);
    if (!is_usable(k, &other))
        return 0;
    *c = other;
    return 1;
}

enum { CHANGES = 24, TRIES = 200 }; /* of a line of the pool; of the line that is chosen */
enum { STREAM = 1 << 24 };          /* case numbers that no property uses */

/* Line `number` of the kernel's pool; 0 if none of a few draws is served. */
static int draw_line(const attest_cover *cover, const covered *k, uint32_t number, line *one)
{
    for (uint32_t attempt = 0; attempt < 8; attempt++) {
        attest_dice dice;
        if (!attest_draw_line(&one->c, cover->seed, STREAM + number, attempt, &k->kernel) || !is_usable(k, &one->c))
            continue;
        attest_dice_init(&dice, cover->seed, STREAM + number, 1000);
        const uint32_t changes = attest_dice_roll(&dice, CHANGES);
        for (uint32_t i = 0; i < changes; i++)
            change(cover, k, &one->c, &dice);
        one->has = levels_of(cover, &one->c, &k->kernel);
        return 1;
    }
    return 0;
}

static void tuples_clear(tuples *set)
{
    free(set->word);
    *set = (tuples){ .word = NULL };
}

/* The tuples of the pool can be met, and none is yet. */
static attest_status count_pool(const attest_cover *cover, covered *k, attest_error *err)
{
    const size_t words = words_of(cover);
    tuples_clear(&k->possible);
    tuples_clear(&k->met);
    k->possible.word = calloc(words, sizeof *k->possible.word);
    k->met.word = calloc(words, sizeof *k->met.word);
    if (!k->possible.word || !k->met.word)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the tuples of a covering array");
    for (size_t i = 0; i < k->pool_count; i++) {
        each(cover, &k->pool[i].has, put, &k->possible);
        k->pool[i].gain = HUGE_VAL;
    }
    return ATTEST_OK;
}

static attest_status fill_pool(const attest_cover *cover, covered *k, attest_error *err)
{
    k->pool = calloc(ATTEST_COVER_POOL, sizeof *k->pool);
    if (!k->pool)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the lines of a covering array");
    for (uint32_t number = 0; number < ATTEST_COVER_POOL && !is_over(k); number++)
        k->pool_count += (size_t)draw_line(cover, k, number, &k->pool[k->pool_count]);
    return ATTEST_OK;
}

/* ---- the array -------------------------------------------------------------------------------------------------- */

static double gain_of(const attest_cover *cover, covered *k, const attest_case *c, const levels *has)
{
    return (double)each(cover, has, lacks, &k->met) / attest_cover_cost(c);
}

/* The line of most gain; NULL if none meets anything new.  Gains only fall: what was looked at last is the best if it
 * still is not below any other. */
static line *best_line(const attest_cover *cover, covered *k)
{
    for (line *last = NULL;;) {
        line *best = NULL;
        for (size_t i = 0; i < k->pool_count; i++)
            if (!best || k->pool[i].gain > best->gain)
                best = &k->pool[i];
        if (!best || best->gain <= 0)
            return NULL;
        if (best == last)
            return best;
        best->gain = gain_of(cover, k, &best->c, &best->has);
        last = best;
    }
}

/* Changes that raise the gain. */
static void improve(const attest_cover *cover, covered *k, line *one, attest_dice *dice)
{
    for (int i = 0; i < TRIES; i++) {
        line other = *one;
        if (!change(cover, k, &other.c, dice))
            continue;
        other.has = levels_of(cover, &other.c, &k->kernel);
        other.gain = gain_of(cover, k, &other.c, &other.has);
        if (other.gain > one->gain)
            *one = other;
    }
}

void attest_cover_add(attest_cover *cover, const attest_case *c)
{
    for (size_t i = 0; i < cover->kernel_count; i++) {
        covered *k = &cover->kernel[i];
        if (!serves(k, c))
            continue;
        const levels has = levels_of(cover, c, &k->kernel);
        each(cover, &has, put, &k->possible);
        each(cover, &has, put, &k->met);
    }
}

attest_status attest_cover_next(attest_cover *cover, attest_case *c, int *found, attest_error *err)
{
    (void)err;
    *found = 0;
    for (; cover->turn < cover->kernel_count; cover->turn++) {
        covered *k = &cover->kernel[cover->order[cover->turn]];
        line *best = is_over(k) ? NULL : best_line(cover, k);
        if (!best)
            continue;
        attest_dice dice;
        line one = *best;
        attest_dice_init(&dice, cover->seed, STREAM - 1, cover->chosen++);
        improve(cover, k, &one, &dice);
        one.c.seed = 0;
        attest_cover_add(cover, &one.c);
        *c = one.c;
        *found = 1;
        return ATTEST_OK;
    }
    return ATTEST_OK;
}

/* ---- making, measuring ------------------------------------------------------------------------------------------ */

/* Kernels by what they can meet, least first: a case that serves the choosy serves others too. */
static void sort_kernels(attest_cover *cover)
{
    for (size_t i = 0; i < cover->kernel_count; i++) {
        size_t at = i;
        for (; at > 0 && cover->kernel[cover->order[at - 1]].possible.count > cover->kernel[i].possible.count; at--)
            cover->order[at] = cover->order[at - 1];
        cover->order[at] = i;
    }
}

attest_status attest_cover_restart(attest_cover *cover, int strength, attest_error *err)
{
    attest_status status = ATTEST_OK;
    cover->strength = strength;
    cover->turn = 0;
    cover->chosen = 0;
    for (size_t i = 0; i < cover->kernel_count; i++)
        ATTEST_TRY(count_pool(cover, &cover->kernel[i], err));
    sort_kernels(cover);
out:
    return status;
}

attest_status attest_cover_new(attest_cover **made, int strength, int wide, uint64_t seed,
                               const attest_cover_kernel *kernels, size_t count, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_cover *cover = calloc(1, sizeof *cover);
    *made = NULL;
    if (!cover)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a covering array");
    cover->seed = seed;
    cover->kernel_count = count;
    cover->factor_count = attest_factors_list(cover->factor, wide);
    for (size_t f = 0; f < cover->factor_count; f++) {
        cover->first_id[f] = cover->all_levels;
        cover->all_levels += cover->factor[f].levels;
    }
    cover->kernel = calloc(count + 1, sizeof *cover->kernel);
    cover->order = calloc(count + 1, sizeof *cover->order);
    if (!cover->kernel || !cover->order) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "no memory for a covering array");
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        cover->kernel[i].kernel = kernels[i].kernel;
        cover->kernel[i].host = kernels[i].host;
        cover->kernel[i].over = kernels[i].over;
        ATTEST_TRY(fill_pool(cover, &cover->kernel[i], err));
    }
    ATTEST_TRY(attest_cover_restart(cover, strength, err));
    *made = cover;
    cover = NULL;
out:
    attest_cover_free(cover);
    return status;
}

void attest_cover_free(attest_cover *cover)
{
    if (!cover)
        return;
    for (size_t i = 0; cover->kernel && i < cover->kernel_count; i++) {
        free(cover->kernel[i].pool);
        tuples_clear(&cover->kernel[i].possible);
        tuples_clear(&cover->kernel[i].met);
    }
    free(cover->kernel);
    free(cover->order);
    free(cover);
}

/* A tuple by names: `window from 2, family huge`.  Returns which factors it is of. */
static uint64_t tell(const attest_cover *cover, size_t at, char *text, size_t len)
{
    int id[3], count = cover->strength;
    uint64_t factors = 0;
    size_t used = 0;
    for (int k = count - 1; k >= 0; k--, at /= (size_t)cover->all_levels)
        id[k] = (int)(at % (size_t)cover->all_levels);
    for (int k = 0; k < count && used < len; k++) {
        char label[64];
        size_t f = cover->factor_count - 1;
        while (cover->first_id[f] > id[k])
            f--;
        const attest_factor *factor = &cover->factor[f];
        factor->label(factor, label, sizeof label, id[k] - cover->first_id[f]);
        used += (size_t)snprintf(text + used, len - used, "%s%s %s", k ? ", " : "", factor->name, label);
        factors = factors * cover->factor_count + f;
    }
    return factors;
}

void attest_cover_measure(attest_cover_share *share, const attest_cover *cover, size_t kernel)
{
    const covered *k = &cover->kernel[kernel];
    const size_t words = words_of(cover);
    uint64_t factors[ATTEST_COVER_FIRST];
    size_t told = 0;
    *share = (attest_cover_share){ .possible = k->possible.count, .met = k->met.count };
    for (size_t w = 0; w < words; w++)
        for (uint64_t missing = k->possible.word[w] & ~k->met.word[w]; missing; missing &= missing - 1) {
            char *text = share->first[told];
            int again = 0;
            factors[told] = tell(cover, w * 64 + (size_t)__builtin_ctzll(missing), text, sizeof share->first[0]);
            for (size_t i = 0; i < told; i++)
                again |= factors[i] == factors[told];
            if (again)
                text[0] = '\0';
            else if (++told == ATTEST_COVER_FIRST)
                return;
        }
}
