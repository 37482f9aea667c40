/* shrink.c - see shrink.h: examples, one try, and the order of the moves. */
#include "props/shrink/shrink_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- examples ----------------------------------------------------------------------------------------------- */

void attest_example_clear(attest_example *example)
{
    attest_bundle_free(example->inputs);
    example->inputs = NULL;
}

attest_status attest_example_draw(attest_example *example, const attest_case *c, uint32_t number, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *example = (attest_example){ .c = *c, .number = number };
    ATTEST_TRY(attest_bundle_new(&example->inputs, err));
    ATTEST_TRY(attest_draw_missing(example->inputs, c, number, 0, err));
out:
    if (status != ATTEST_OK)
        attest_example_clear(example);
    return status;
}

attest_status attest_example_copy(attest_example *to, const attest_example *from, attest_error *err)
{
    const attest_selection everything = { { NULL } };
    int possible;
    const attest_status status = attest_example_select(to, &possible, from, &from->c, &everything, err);
    to->explicit_values = from->explicit_values;
    return status;
}

/* ---- what was tried ----------------------------------------------------------------------------------------- */

static uint64_t add_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

/* Of all that a try depends on; never 0. */
static uint64_t hash_of(const attest_example *example)
{
    const attest_problem *p = &example->c.problem;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    uint64_t hash = add_word(attest_case_hash(&example->c), example->number);
    hash = add_word(add_word(hash, (uint64_t)p->chunk), (uint64_t)p->splits);
    for (size_t k = 0; k < count; k++) {
        const attest_tensor *t = attest_bundle_get(example->inputs, ids[k]);
        for (int64_t at = 0; at < attest_tensor_count(t); at++)
            hash = add_word(hash, attest_load_bits(t, at));
    }
    return hash ? hash : 1;
}

static uint64_t *slot_of(uint64_t *seen, size_t room, uint64_t hash)
{
    size_t at = hash % room;
    while (seen[at] && seen[at] != hash)
        at = (at + 1) % room;
    return &seen[at];
}

static attest_status grow(attest_shrinker *s, attest_error *err)
{
    const size_t room = s->room ? 2 * s->room : 1024;
    uint64_t *seen = calloc(room, sizeof *seen);
    if (!seen)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for what was tried while shrinking");
    for (size_t at = 0; at < s->room; at++)
        if (s->seen[at])
            *slot_of(seen, room, s->seen[at]) = s->seen[at];
    free(s->seen);
    s->seen = seen;
    s->room = room;
    return ATTEST_OK;
}

/* *is_new = 0 if an example with this hash was noted before. */
static attest_status note(int *is_new, attest_shrinker *s, const attest_example *example, attest_error *err)
{
    const uint64_t hash = hash_of(example);
    if (2 * s->used >= s->room) {
        const attest_status status = grow(s, err);
        if (status != ATTEST_OK)
            return status;
    }
    uint64_t *slot = slot_of(s->seen, s->room, hash);
    *is_new = *slot == 0;
    s->used += *slot == 0;
    *slot = hash;
    return ATTEST_OK;
}

/* ---- one try ------------------------------------------------------------------------------------------------ */

int attest_shrink_spent(const attest_shrinker *s)
{
    const attest_shrink_options *o = s->options;
    return s->best->attempts >= o->attempts || (o->now && !(o->now() - s->begun < o->seconds));
}

int attest_shrink_legal(const attest_case *c)
{
    char line[ATTEST_LINE];
    attest_case again;
    attest_error ignored;
    return attest_case_print(line, sizeof line, c, &ignored) == ATTEST_OK &&
           attest_case_parse(&again, line, NULL, NULL, &ignored) == ATTEST_OK &&
           attest_family_check(c, &ignored) == ATTEST_OK;
}

/* The same failure (shrink.h). */
static int same_failure(const attest_shrinker *s, const attest_finding *found)
{
    return found->broken && found->end == s->end && found->ratio >= s->least;
}

attest_status attest_shrink_offer(int *kept, attest_shrinker *s, attest_example *candidate, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_finding found = { 0 };
    int is_new;
    *kept = 0;
    ATTEST_TRY(note(&is_new, s, candidate, err));
    if (!is_new || attest_shrink_spent(s))
        goto out;
    s->best->attempts++;
    ATTEST_TRY(s->try_example(s->context, &found, candidate, err));
    if (same_failure(s, &found)) {
        attest_example_clear(&s->best->example);
        s->best->example = *candidate;
        s->best->found = found;
        s->best->kept++;
        candidate->inputs = NULL;
        *kept = 1;
    }
out:
    attest_example_clear(candidate);
    return status;
}

/* ---- the order of the moves --------------------------------------------------------------------------------- */

/* Values instead of draws, until nothing gets simpler.  Where that gains nothing, the example stays a drawn one. */
static attest_status shrink_explicit(attest_shrinker *s, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_shrunk *best = s->best;
    const long kept = best->kept;
    const int was_explicit = best->example.explicit_values;
    long before;
    best->example.explicit_values = 1;
    do {
        before = best->kept;
        ATTEST_TRY(attest_shrink_parts(s, err));
        ATTEST_TRY(attest_shrink_line(s, err));
        ATTEST_TRY(attest_shrink_values(s, err));
    } while (best->kept > before && !attest_shrink_spent(s));
out:
    if (best->kept == kept)
        best->example.explicit_values = was_explicit;
    return status;
}

attest_status attest_shrink(attest_shrunk *shrunk, const attest_example *first, const attest_finding *broken,
                            const attest_shrink_options *options, attest_try try_example, void *context,
                            attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_shrinker s = { .best = shrunk,
                          .options = options,
                          .try_example = try_example,
                          .context = context,
                          .begun = options->now ? options->now() : 0,
                          .least = fmax(1, broken->ratio / 2),
                          .end = broken->end };
    int is_new;
    *shrunk = (attest_shrunk){ .found = *broken };
    ATTEST_TRY(attest_example_copy(&shrunk->example, first, err));
    ATTEST_TRY(note(&is_new, &s, first, err));
    if (!first->explicit_values)
        ATTEST_TRY(attest_shrink_line(&s, err));
    ATTEST_TRY(shrink_explicit(&s, err));
out:
    free(s.seen);
    return status;
}
