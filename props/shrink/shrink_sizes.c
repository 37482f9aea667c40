/* shrink_sizes.c - moves of the problem line: a table; drawn tensors are drawn again under the smaller line (the
 * elements that stay keep their values), explicit ones are cut to their first indices.
 */
#include "props/shrink/shrink_private.h"

#include "kernels/attest_float.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Makes step `step` (0, 1, ..) of the move on an example without tensors; 0 after the last.  A step that has nothing to
 * do leaves the example as it is. */
typedef int (*move_step)(attest_example *e, int step);

/* ---- smaller integers --------------------------------------------------------------------------------------- */

enum { SMALLER = 11 };

/* Candidates for x, smallest first: tiny ones, a half, a tile less, one less; x where a candidate is none. */
static int64_t smaller(int64_t x, int step, int64_t least)
{
    const int64_t candidates[SMALLER] = { 0, 1, 2, 3, 4, x / 2, x - x / 4, x - 16, x - 8, x - 2, x - 1 };
    return candidates[step] >= least && candidates[step] < x ? candidates[step] : x;
}

static int set_width(attest_problem *p, int64_t d)
{
    const int follows = attest_f64_bits(p->scale) == attest_f64_bits(attest_default_scale(p->d));
    p->d = d;
    if (follows)
        p->scale = attest_default_scale(d);
    return 1;
}

static int one_head(attest_example *e, int step)
{
    attest_problem *p = &e->c.problem;
    p->b = 1;
    p->hq = p->hkv = 1;
    return step == 0;
}

static int batch(attest_example *e, int step)
{
    if (step >= SMALLER)
        return 0;
    e->c.problem.b = smaller(e->c.problem.b, step, 1);
    return 1;
}

static int kv_heads(attest_example *e, int step)
{
    attest_problem *p = &e->c.problem;
    const int64_t group = p->hq / p->hkv;
    if (step >= SMALLER)
        return 0;
    p->hkv = smaller(p->hkv, step, 1);
    p->hq = p->hkv * group;
    return 1;
}

static int query_heads(attest_example *e, int step)
{
    attest_problem *p = &e->c.problem;
    if (step >= SMALLER)
        return 0;
    p->hq = p->hkv * smaller(p->hq / p->hkv, step, 1);
    return 1;
}

/* Queries and keys together: their difference stays. */
static int tokens(attest_example *e, int step)
{
    attest_problem *p = &e->c.problem;
    const int64_t least = p->n < p->m ? p->n : p->m;
    if (step >= SMALLER)
        return 0;
    const int64_t less = least - smaller(least, step, 1);
    p->n -= less;
    p->m -= less;
    return 1;
}

static int queries(attest_example *e, int step)
{
    if (step >= SMALLER)
        return 0;
    e->c.problem.n = smaller(e->c.problem.n, step, 1);
    return 1;
}

static int keys(attest_example *e, int step)
{
    if (step >= SMALLER)
        return 0;
    e->c.problem.m = smaller(e->c.problem.m, step, 1);
    return 1;
}

static int square(attest_example *e, int step)
{
    attest_problem *p = &e->c.problem;
    p->n = p->m = p->n < p->m ? p->n : p->m;
    return step == 0;
}

static int widths(attest_example *e, int step)
{
    attest_problem *p = &e->c.problem;
    const int64_t least = p->d < p->e ? p->d : p->e;
    if (step >= SMALLER)
        return 0;
    const int64_t both = smaller(least, step, 1);
    p->e = both;
    return set_width(p, both);
}

static int value_width(attest_example *e, int step)
{
    if (step >= SMALLER)
        return 0;
    e->c.problem.e = smaller(e->c.problem.e, step, 1);
    return 1;
}

static int key_width(attest_example *e, int step)
{
    return step < SMALLER && set_width(&e->c.problem, smaller(e->c.problem.d, step, 1));
}

/* ---- chunks and splits: only where tokens go with them ------------------------------------------------------ */

enum { CHUNKS = 6, TAILS = 4 };

/* Chunks of 1, 2, 4, .. and as many tokens as one or two of them, or one token more. */
static int chunks(attest_example *e, int step)
{
    attest_problem *p = &e->c.problem;
    const int64_t chunk = (int64_t)1 << step / TAILS, counts[TAILS] = { chunk, chunk + 1, 2 * chunk, 2 * chunk + 1 };
    const int64_t count = counts[step % TAILS];
    if (step >= CHUNKS * TAILS)
        return 0;
    if (chunk >= p->chunk || count >= p->m)
        return 1;
    if (p->n == p->m)
        p->n = count;
    p->m = count;
    p->chunk = chunk;
    return 1;
}

static int splits(attest_example *e, int step)
{
    if (step >= SMALLER)
        return 0;
    e->c.problem.splits = smaller(e->c.problem.splits, step, 1);
    return 1;
}

/* ---- axes --------------------------------------------------------------------------------------------------- */

static int order(attest_example *e, int step)
{
    attest_setting *weight = &e->c.problem.axis[ATTEST_AXIS_WEIGHT];
    if (step >= SMALLER)
        return 0;
    weight->order = (uint32_t)smaller(weight->order, step, 0);
    return 1;
}

/* A smaller number of an axis whose values are whole numbers from 1 on. */
static int whole(attest_example *e, int step, attest_axis axis)
{
    attest_setting *s = &e->c.problem.axis[axis];
    if (step >= SMALLER)
        return 0;
    if (s->value != 0)
        s->order = (uint32_t)smaller(s->order, step, 1);
    return 1;
}

static int window(attest_example *e, int step) { return whole(e, step, ATTEST_AXIS_WINDOW); }
static int pages(attest_example *e, int step) { return whole(e, step, ATTEST_AXIS_PAGES); }

enum { VALUES = 12 }; /* more than any axis has */

/* An earlier value of an axis's table is a simpler one; those with an argument are left out. */
static int axes(attest_example *e, int step)
{
    const int axis = 1 + step / VALUES;
    const uint32_t row = (uint32_t)(step % VALUES);
    if (axis >= ATTEST_AXIS_COUNT)
        return 0;
    attest_setting *setting = &e->c.problem.axis[axis];
    const attest_axis_info *info = &attest_axes[axis];
    if (row < info->value_count && info->values[row].argument == ATTEST_ARG_NONE &&
        info->values[row].value < setting->value)
        *setting = (attest_setting){ .value = info->values[row].value };
    return 1;
}

/* 0 for 1, 1 for a power of two, 2 for what is not. */
static int roughness(double x)
{
    int exponent;
    return !(fabs(x - 1) > 0) ? 0 : !(fabs(frexp(x, &exponent) - 0.5) > 0) ? 1 : 2;
}

/* 1, then the power of two below and above; x where that is not simpler. */
static double simpler_number(double x, int step)
{
    int exponent;
    (void)frexp(x, &exponent);
    const double candidates[] = { 1, ldexp(1, exponent - 1), ldexp(1, exponent) };
    return roughness(candidates[step]) < roughness(x) && isfinite(candidates[step]) ? candidates[step] : x;
}

enum { NUMBERS = 3 };

static int numbers(attest_example *e, int step)
{
    const int axis = step / NUMBERS;
    if (axis >= ATTEST_AXIS_COUNT)
        return 0;
    attest_setting *setting = &e->c.problem.axis[axis];
    if (setting->number < 0 || setting->number > 0)
        setting->number = simpler_number(setting->number, step % NUMBERS);
    return 1;
}

static int scale(attest_example *e, int step)
{
    if (step >= NUMBERS)
        return 0;
    e->c.problem.scale = simpler_number(e->c.problem.scale, step);
    return 1;
}

/* ---- types, families, draws --------------------------------------------------------------------------------- */

static int types(attest_example *e, int step)
{
    attest_problem *p = &e->c.problem;
    if (step == 0)
        p->in = p->acc = p->p = p->out = ATTEST_F32;
    else if (step == 1)
        p->p = p->acc;
    else if (step == 2)
        p->out = p->in;
    else if (step == 3)
        p->chunk = 64;
    return step < 4;
}

/* Simpler families first; any other family may become one of these. */
static int families(attest_example *e, int step)
{
    static const char *const simple[] = { "integers", "dyadic", "uniform", "normal" };
    enum { SIMPLE = sizeof simple / sizeof simple[0] };
    int rank = 0;
    while (rank < SIMPLE && strcmp(e->c.family, simple[rank]) != 0)
        rank++;
    if (step >= SIMPLE)
        return 0;
    if (!e->explicit_values && step < rank)
        snprintf(e->c.family, sizeof e->c.family, "%s", simple[step]);
    return 1;
}

/* What a line with explicit values need not say. */
static int draws(attest_example *e, int step)
{
    if (e->explicit_values && step == 0)
        snprintf(e->c.family, sizeof e->c.family, "normal");
    else if (e->explicit_values && step == 1)
        e->number = 0;
    else if (e->explicit_values && step == 2)
        e->c.seed = 0;
    return step < 3;
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

static const struct move {
    const char *name;
    move_step step;
} moves[] = {
    { "one batch entry, one head", one_head },
    { "batch", batch },
    { "KV heads", kv_heads },
    { "query heads of a KV head", query_heads },
    { "tokens", tokens },
    { "queries", queries },
    { "keys", keys },
    { "as many keys as queries", square },
    { "chunks and their tokens", chunks },
    { "splits", splits },
    { "both widths", widths },
    { "width of values", value_width },
    { "width of keys", key_width },
    { "order", order },
    { "window", window },
    { "tokens of a page", pages },
    { "axes", axes },
    { "numbers of axes", numbers },
    { "types and chunk as by default", types },
    { "family", families },
    { "what explicit values do not need", draws },
    { "scale", scale },
};
enum { MOVES = sizeof moves / sizeof moves[0] };

/* How many axes the preset sets otherwise; ATTEST_AXIS_COUNT + 1: no such preset. */
static int differing(const attest_setting axis[ATTEST_AXIS_COUNT], const char *text)
{
    attest_setting other[ATTEST_AXIS_COUNT];
    attest_error ignored;
    int count = 0;
    if (attest_variant_from_preset(other, text, &ignored) != ATTEST_OK)
        return ATTEST_AXIS_COUNT + 1;
    for (int k = 0; k < ATTEST_AXIS_COUNT; k++)
        count += !attest_setting_equal(&axis[k], &other[k]);
    return count;
}

/* The preset that says most of the axes, so that the line is short: the first of them, softmax before all others. */
static void name_preset(attest_case *c)
{
    const attest_setting *axis = c->problem.axis;
    char best[sizeof c->preset] = "";
    int least = ATTEST_AXIS_COUNT + 1;
    for (size_t k = 0; k <= attest_preset_count; k++) {
        char text[sizeof c->preset];
        if (k == attest_preset_count)
            snprintf(text, sizeof text, "%s", c->preset);
        else if (attest_presets[k].argument == ATTEST_ARG_ORDER)
            snprintf(text, sizeof text, "%.36s:%u", attest_presets[k].name, axis[ATTEST_AXIS_WEIGHT].order);
        else
            snprintf(text, sizeof text, "%.47s", attest_presets[k].name);
        const int count = differing(axis, text);
        if (count < least) {
            least = count;
            snprintf(best, sizeof best, "%s", text);
        }
    }
    snprintf(c->preset, sizeof c->preset, "%s", best);
}

/* One candidate: the example under another line. */
static attest_status offer_line(int *kept, attest_shrinker *s, const attest_example *like, attest_error *err)
{
    static const attest_selection first = { { NULL } };
    const attest_example *best = &s->best->example;
    attest_example candidate;
    attest_status status = ATTEST_OK;
    int possible = 1;
    *kept = 0;
    if (!attest_shrink_legal(&like->c))
        return ATTEST_OK;
    if (best->explicit_values)
        ATTEST_TRY(attest_example_select(&candidate, &possible, best, &like->c, &first, err));
    else
        ATTEST_TRY(attest_example_draw(&candidate, &like->c, like->number, err));
    candidate.number = like->number;
    if (possible)
        ATTEST_TRY(attest_shrink_offer(kept, s, &candidate, err));
out:
    return status;
}

static int same_line(const attest_example *a, const attest_example *b)
{
    return a->number == b->number && attest_case_hash(&a->c) == attest_case_hash(&b->c) &&
           a->c.problem.chunk == b->c.problem.chunk && a->c.problem.splits == b->c.problem.splits;
}

/* Steps of one move, from the first again after each that was kept. */
static attest_status run_move(attest_shrinker *s, const struct move *move, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (int step = 0; !attest_shrink_spent(s); step++) {
        attest_example next = s->best->example;
        int kept = 0;
        if (!move->step(&next, step))
            break;
        if (same_line(&next, &s->best->example))
            continue;
        name_preset(&next.c);
        ATTEST_TRY(offer_line(&kept, s, &next, err));
        if (kept)
            step = -1;
    }
out:
    return status;
}

attest_status attest_shrink_line(attest_shrinker *s, attest_error *err)
{
    long before;
    do {
        before = s->best->kept;
        for (int k = 0; k < MOVES; k++) {
            const attest_status status = run_move(s, &moves[k], err);
            if (status != ATTEST_OK)
                return attest_fail_prefix(err, status, moves[k].name);
        }
    } while (s->best->kept > before && !attest_shrink_spent(s));
    return ATTEST_OK;
}
