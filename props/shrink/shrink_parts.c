/* shrink_parts.c - leaves out parts of explicit tensors: halves first, then smaller runs, then single ones. */
#include "props/shrink/shrink_private.h"

#include "kernels/attest_float.h"

#include <stdlib.h>

/* What is left out together.  `units`: how many there are to choose from; `stays`: 1 if index x of this letter stays
 * when units first..last-1 go; the sizes of the letters follow from it. */
typedef struct part {
    const char *name;
    int64_t (*units)(const attest_problem *p);
    int64_t (*unit)(const attest_problem *p, attest_letter letter, int64_t x); /* -1: belongs to none */
    unsigned letters;                                                          /* bits of the letters that it thins */
} part;

#define BIT(letter) (1u << ATTEST_LETTER_##letter)

static int64_t batch_units(const attest_problem *p) { return p->b; }
static int64_t kv_units(const attest_problem *p) { return p->hkv; }
static int64_t group_units(const attest_problem *p) { return p->hq / p->hkv; }
static int64_t token_units(const attest_problem *p) { return p->n == p->m ? p->n : 1; }
static int64_t query_units(const attest_problem *p) { return p->n; }
static int64_t key_units(const attest_problem *p) { return p->m; }
static int64_t value_units(const attest_problem *p) { return p->e; }

/* rope turns pairs (c, c + d/2): they go together. */
static int64_t channel_units(const attest_problem *p)
{
    return attest_axis_value_of(p, ATTEST_AXIS_ROPE) == ATTEST_ROPE_NONE ? p->d : p->d / 2;
}

static int64_t itself(const attest_problem *p, attest_letter letter, int64_t x)
{
    (void)p;
    (void)letter;
    return x;
}

static int64_t of_kv_head(const attest_problem *p, attest_letter letter, int64_t x)
{
    return letter == ATTEST_LETTER_H ? attest_kv_head(p, x) : x;
}

static int64_t within_group(const attest_problem *p, attest_letter letter, int64_t x)
{
    (void)letter;
    return x % group_units(p);
}

static int64_t of_pair(const attest_problem *p, attest_letter letter, int64_t x)
{
    (void)letter;
    return x % channel_units(p);
}

static const part parts[] = {
    { "batch entries", batch_units, itself, BIT(B) },
    { "KV heads with their query heads", kv_units, of_kv_head, BIT(G) | BIT(H) },
    { "query heads of each KV head", group_units, within_group, BIT(H) },
    { "tokens, as query and as key", token_units, itself, BIT(N) | BIT(M) },
    { "queries", query_units, itself, BIT(N) },
    { "keys", key_units, itself, BIT(M) },
    { "channels of values", value_units, itself, BIT(E) },
    { "channels of queries and keys", channel_units, of_pair, BIT(D) },
};
enum { PARTS = sizeof parts / sizeof parts[0] };

static int64_t *size_of(attest_problem *p, int letter)
{
    int64_t *const sizes[ATTEST_LETTER_COUNT] = { &p->b, &p->hq, &p->hkv, &p->n, &p->m, &p->d, &p->e, NULL };
    return sizes[letter];
}

/* The indices of each thinned letter that stay without units first..last-1; sizes of `c` are cut. */
static attest_status thin(attest_selection *selection, int64_t *stay[ATTEST_LETTER_COUNT], attest_case *c,
                          const attest_problem *old, const part *what, int64_t first, int64_t last, attest_error *err)
{
    for (int l = 0; l < ATTEST_LETTER_R; l++) {
        const int64_t size = attest_letter_size(old, (attest_letter)l);
        int64_t count = 0;
        if (!(what->letters >> l & 1))
            continue;
        stay[l] = malloc((size_t)size * sizeof *stay[l]);
        if (!stay[l])
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld indices", (long long)size);
        for (int64_t x = 0; x < size; x++) {
            const int64_t unit = what->unit(old, (attest_letter)l, x);
            if (unit < first || unit >= last)
                stay[l][count++] = x;
        }
        *size_of(&c->problem, l) = count;
        selection->from[l] = stay[l];
    }
    return ATTEST_OK;
}

static attest_status offer_case(int *kept, attest_shrinker *s, const attest_case *c, const attest_selection *selection,
                                attest_error *err)
{
    attest_example candidate;
    int possible;
    attest_status status = ATTEST_OK;
    *kept = 0;
    if (!attest_shrink_legal(c))
        return ATTEST_OK;
    ATTEST_TRY(attest_example_select(&candidate, &possible, &s->best->example, c, selection, err));
    if (possible)
        ATTEST_TRY(attest_shrink_offer(kept, s, &candidate, err));
out:
    return status;
}

/* Without units first..last-1; a default scale first follows d, then stays. */
static attest_status leave_out(int *kept, attest_shrinker *s, const part *what, int64_t first, int64_t last,
                               attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_problem old = s->best->example.c.problem;
    attest_case c = s->best->example.c;
    attest_selection selection = { { NULL } };
    int64_t *stay[ATTEST_LETTER_COUNT] = { NULL };
    *kept = 0;
    ATTEST_TRY(thin(&selection, stay, &c, &old, what, first, last, err));
    if (c.problem.d != old.d && attest_f64_bits(old.scale) == attest_f64_bits(attest_default_scale(old.d))) {
        c.problem.scale = attest_default_scale(c.problem.d);
        ATTEST_TRY(offer_case(kept, s, &c, &selection, err));
        c.problem.scale = old.scale;
    }
    if (!*kept)
        ATTEST_TRY(offer_case(kept, s, &c, &selection, err));
out:
    for (int l = 0; l < ATTEST_LETTER_COUNT; l++)
        free(stay[l]);
    return status;
}

static attest_status thin_out(attest_shrinker *s, const part *what, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (int64_t width = what->units(&s->best->example.c.problem) / 2; width >= 1; width /= 2) {
        for (int64_t at = 0; !attest_shrink_spent(s);) {
            const int64_t units = what->units(&s->best->example.c.problem);
            int kept;
            if (units <= width || at >= units)
                break;
            ATTEST_TRY(leave_out(&kept, s, what, at, at + width < units ? at + width : units, err));
            at += kept ? 0 : width;
        }
    }
out:
    return status;
}

attest_status attest_shrink_parts(attest_shrinker *s, attest_error *err)
{
    for (int k = 0; k < PARTS; k++) {
        const attest_status status = thin_out(s, &parts[k], err);
        if (status != ATTEST_OK)
            return attest_fail_prefix(err, status, parts[k].name);
    }
    return ATTEST_OK;
}
