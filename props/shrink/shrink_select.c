/* shrink_select.c - a smaller problem with some of an example's elements: see shrink_private.h. */
#include "props/shrink/shrink_private.h"

#include <string.h>

static const char letters[ATTEST_LETTER_COUNT + 1] = "bhgnmder";

static const char *axes_of(const attest_problem *p, attest_tensor_id id)
{
    static const char *const states[] = { "", "bgre", "bgr", "bgre", "bgr" };
    return id.kind == ATTEST_KIND_ROLE ? attest_tensor_axes(p, id) : states[id.kind];
}

/* The row of a full state of this degree that becomes row `row` when channels of d are left out: digit by digit.  The
 * second half of cosformer's features (dim = 2d) belongs to the same channels. */
static int64_t state_row(int64_t row, int degree, const attest_problem *to, const attest_problem *from,
                         const int64_t *channel)
{
    const int64_t dim = attest_feature_dim(to), old_dim = attest_feature_dim(from);
    int64_t source = 0, place = 1;
    for (int k = 0; k < degree; k++) {
        const int64_t digit = row % dim, c = digit % to->d;
        source += place * (digit / to->d * from->d + (channel ? channel[c] : c));
        row /= dim;
        place *= old_dim;
    }
    return source;
}

typedef struct source {
    const attest_problem *to, *from;
    const attest_selection *selection;
} source;

static int64_t source_offset(const source *s, attest_tensor_id id, const attest_tensor *from, const int64_t index[4])
{
    const char *axes = axes_of(s->from, id);
    int64_t at[4] = { 0 };
    for (int i = 0; i < from->rank; i++) {
        const char *found = strchr(letters, axes[i]); /* NULL: an axis that is shared */
        const int letter = found ? (int)(found - letters) : ATTEST_LETTER_COUNT;
        const int64_t *map = found ? s->selection->from[letter] : NULL;
        if (letter == ATTEST_LETTER_R)
            at[i] = state_row(index[i], (int)id.index, s->to, s->from, s->selection->from[ATTEST_LETTER_D]);
        else
            at[i] = map ? map[index[i]] : index[i];
    }
    return attest_offset(from, at[0], at[1], at[2], at[3]);
}

static void select_tensor(const attest_tensor *to, const source *s, attest_tensor_id id, const attest_tensor *from)
{
    const int64_t count = attest_tensor_count(to);
    for (int64_t x = 0; x < count; x++) {
        int64_t index[4] = { 0 }, rest = x;
        for (int i = to->rank - 1; i >= 0; i--) {
            index[i] = rest % to->shape[i];
            rest /= to->shape[i];
        }
        attest_store_bits(to, x, attest_load_bits(from, source_offset(s, id, from, index)));
    }
}

/* len counts keys, len_q queries: of those that were there, the ones that stay. */
static void select_length(const attest_tensor *len, const source *s, int queries)
{
    const int64_t *kept = s->selection->from[queries ? ATTEST_LETTER_N : ATTEST_LETTER_M];
    for (int64_t b = 0; b < attest_tensor_count(len); b++) {
        const int64_t old = attest_load_int(len, b), count = queries ? s->to->n : s->to->m;
        int64_t visible = 0;
        for (int64_t j = 0; j < count; j++)
            visible += (kept ? kept[j] : j) < old;
        attest_store_bits(len, b, (uint64_t)visible);
    }
}

/* 1 if every tensor of problem p can be taken from the example. */
static int has_sources(const attest_problem *p, const attest_example *from)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    for (size_t k = 0; k < count; k++) {
        const attest_tensor *old = attest_bundle_get(from->inputs, ids[k]);
        attest_tensor t;
        attest_tensor_describe(&t, p, ids[k], 0);
        if (!old || old->dtype != t.dtype || old->rank != t.rank)
            return 0;
        for (int i = 0; i < t.rank; i++)
            if (t.shape[i] > old->shape[i])
                return 0;
    }
    return (attest_feature_dim(p) == p->d) == (attest_feature_dim(&from->c.problem) == from->c.problem.d) ||
           attest_axis_value_of(p, ATTEST_AXIS_STATE) == ATTEST_STATE_NONE;
}

attest_status attest_example_select(attest_example *to, int *possible, const attest_example *from, const attest_case *c,
                                    const attest_selection *selection, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&c->problem, ids, ATTEST_MAX_TENSORS);
    const source s = { &c->problem, &from->c.problem, selection };
    *to = (attest_example){ .c = *c, .number = from->number, .explicit_values = 1 };
    *possible = has_sources(&c->problem, from);
    if (!*possible)
        return ATTEST_OK;
    ATTEST_TRY(attest_bundle_new(&to->inputs, err));
    for (size_t k = 0; k < count; k++) {
        attest_tensor *t;
        ATTEST_TRY(attest_bundle_add(to->inputs, &c->problem, ids[k], 0, &t, err));
        select_tensor(t, &s, ids[k], attest_bundle_get(from->inputs, ids[k]));
        if (ids[k].kind == ATTEST_KIND_ROLE && (ids[k].index == ATTEST_KV_LENS || ids[k].index == ATTEST_Q_LENS))
            select_length(t, &s, ids[k].index == ATTEST_Q_LENS);
    }
out:
    if (status != ATTEST_OK)
        attest_example_clear(to);
    return status;
}
