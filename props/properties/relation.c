/* relation.c - see relation.h. */
#include "props/properties/relation.h"

#include "kernels/attest_float.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char letters[ATTEST_LETTER_COUNT + 1] = "bhgnmder";

int64_t attest_letter_size(const attest_problem *p, attest_letter letter)
{
    const int64_t sizes[ATTEST_LETTER_COUNT] = { p->b, p->hq, p->hkv, p->n, p->m, p->d, p->e, -1 };
    return sizes[letter];
}

uint64_t attest_flip_sign(uint32_t dtype, uint64_t bits)
{
    return bits ^ (uint64_t)1 << (8 * attest_dtype_bytes(dtype) - 1);
}

void attest_relation_init(attest_relation *r, const attest_trial *trial)
{
    *r = (attest_relation){ .c = trial->c,
                            .bits = 1,
                            .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_LSE };
}

void attest_relation_clear(attest_relation *r)
{
    for (int l = 0; l < ATTEST_LETTER_COUNT; l++)
        free(r->from[l]);
    memset(r->from, 0, sizeof r->from);
}

attest_status attest_relation_map(int64_t **map, attest_relation *r, attest_letter letter, int64_t size,
                                  attest_error *err)
{
    int64_t *made = malloc((size_t)size * sizeof *made);
    if (!made)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a map of %lld indices", (long long)size);
    for (int64_t x = 0; x < size; x++)
        made[x] = x;
    free(r->from[letter]);
    r->from[letter] = made;
    if (map)
        *map = made;
    return ATTEST_OK;
}

attest_status attest_relation_shuffle(attest_relation *r, attest_letter letter, int64_t size, const attest_trial *trial,
                                      const attest_property *property, attest_error *err)
{
    int64_t *map = NULL;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_relation_map(&map, r, letter, size, err));
    for (int64_t x = 1; x < size; x++) { /* by insertion: sizes are small */
        const uint32_t word = attest_trial_word(trial, property, (uint64_t)x);
        int64_t at = x;
        while (at > 0 && attest_trial_word(trial, property, (uint64_t)map[at - 1]) > word) {
            map[at] = map[at - 1];
            at--;
        }
        map[at] = x;
    }
out:
    return status;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* Letters; `1` of an axis that is shared. */
static const char *axes_of(const attest_problem *p, attest_tensor_id id)
{
    static const char *const states[] = { "", "bgre", "bgr", "bgre", "bgr" };
    return id.kind == ATTEST_KIND_ROLE ? attest_tensor_axes(p, id) : states[id.kind];
}

/* The element number `number` of tensor t in C order. */
static void cell_of(attest_cell *cell, const attest_problem *p, attest_tensor_id id, const attest_tensor *t,
                    int64_t number)
{
    const char *axes = axes_of(p, id);
    *cell = (attest_cell){ .id = id, .dtype = t->dtype, .rank = t->rank };
    for (int l = 0; l < ATTEST_LETTER_COUNT; l++)
        cell->index[l] = -1;
    for (int i = t->rank - 1; i >= 0; i--) {
        cell->at[i] = number % t->shape[i];
        number /= t->shape[i];
        const char *letter = strchr(letters, axes[i]);
        if (letter)
            cell->index[letter - letters] = cell->at[i];
    }
}

/* Where the element comes from; 0: nowhere. */
static int source_of(int64_t source[4], const attest_relation *r, const attest_cell *cell, const attest_tensor *from)
{
    const char *axes = axes_of(&r->c.problem, cell->id);
    for (int i = 0; i < 4; i++) {
        const char *letter = i < cell->rank ? strchr(letters, axes[i]) : NULL;
        source[i] = cell->at[i];
        if (letter && r->from[letter - letters])
            source[i] = r->from[letter - letters][cell->at[i]];
        if (source[i] < 0 || source[i] >= from->shape[i])
            return 0;
    }
    return from->rank == cell->rank;
}

static int64_t offset_of(const attest_tensor *t, const int64_t at[4])
{
    return attest_offset(t, at[0], at[1], at[2], at[3]);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

attest_status attest_relation_inputs(attest_bundle **bundle, int *inexact, const attest_relation *r,
                                     const attest_trial *trial, attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&r->c.problem, ids, ATTEST_MAX_TENSORS);
    attest_status status = ATTEST_OK;
    const int64_t same = r->c.problem.axis[ATTEST_AXIS_LENS_Q].value == ATTEST_LENS_Q_LEN ? r->c.problem.m : 0;
    *bundle = NULL;
    *inexact = 0;
    ATTEST_TRY(attest_bundle_new(bundle, err));
    for (size_t k = 0; k < count; k++) {
        const attest_tensor *from = attest_bundle_get(trial->inputs, ids[k]);
        attest_tensor *t;
        ATTEST_TRY(attest_bundle_add(*bundle, &r->c.problem, ids[k], 0, &t, err));
        for (int64_t x = 0; x < attest_tensor_count(t); x++) {
            attest_cell cell;
            int64_t source[4];
            cell_of(&cell, &r->c.problem, ids[k], t, x);
            uint64_t bits = from && source_of(source, r, &cell, from) ? attest_load_bits(from, offset_of(from, source))
                                                                      : 0;
            if (r->value)
                bits = r->value(r, trial, &cell, bits, inexact);
            if (ids[k].kind == ATTEST_KIND_ROLE && ids[k].index == ATTEST_Q_LENS && (int64_t)bits > r->c.problem.n)
                bits = (uint64_t)r->c.problem.n; /* fewer queries: of a prefix */
            if (ids[k].kind == ATTEST_KIND_ROLE && ids[k].index == ATTEST_KV_LENS && same && (int64_t)bits > same)
                bits = (uint64_t)same;
            attest_store_bits(t, x, bits);
        }
    }
out:
    if (status != ATTEST_OK || *inexact) {
        attest_bundle_free(*bundle);
        *bundle = NULL;
    }
    return status;
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

/* The bounds of one output of a run of the case; NULL without reference. */
static attest_status bounds_of(double **bound, const attest_trial *trial, const attest_case *c,
                               const attest_bundle *inputs, attest_tensor_id id, const attest_tensor *got,
                               attest_error *err)
{
    attest_status status = ATTEST_OK;
    *bound = NULL;
    if (!trial->host->bounds)
        return ATTEST_OK;
    *bound = calloc((size_t)attest_tensor_count(got) + 1, sizeof **bound);
    if (!*bound)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for bounds");
    ATTEST_TRY(trial->host->bounds(trial->host->context, *bound, NULL, c, inputs, id, got, err));
out:
    return status;
}

/* What one element of the second run must be, from one of the first. */
static double wanted_value(const attest_relation *r, attest_role role, double first)
{
    if (role == ATTEST_LSE)
        return first + r->lse_shift;
    if (role == ATTEST_TENSOR_ROLES) /* a state */
        return first;
    return ldexp(r->negative && role != ATTEST_Z ? -first : first, r->exponent[role]);
}

/* Both runs' bounds; of a state the first's are made here (*made, the caller's). */
static attest_status both_bounds(const double **first, double **made, double **second, attest_trial *trial,
                                 const attest_relation *r, const attest_bundle *inputs, const attest_bundle *outputs,
                                 attest_tensor_id id, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *made = NULL;
    if (id.kind == ATTEST_KIND_ROLE) {
        ATTEST_TRY(attest_trial_bounds(first, trial, (attest_role)id.index, err));
    } else {
        ATTEST_TRY(bounds_of(made, trial, &trial->c, trial->inputs, id, attest_bundle_get(trial->outputs, id), err));
        *first = *made;
    }
    ATTEST_TRY(bounds_of(second, trial, &r->c, inputs, id, attest_bundle_get(outputs, id), err));
out:
    return status;
}

/* An infinity in one run where the other's value, moved to it, is beyond the format's range: right, though no
 * difference says so. */
static int both_overflow(double got, uint32_t got_type, double want, uint32_t want_type, int exponent, double tolerance)
{
    if (isinf(got) == isinf(want) || signbit(got) != signbit(want))
        return 0;
    return isinf(got) ? attest_may_overflow(got_type, want, tolerance)
                      : attest_may_overflow(want_type, ldexp(got, -exponent), ldexp(tolerance, -exponent));
}

/* The elements that have a source in the first run. */
static void compare_elements(attest_finding *found, const attest_trial *trial, const attest_relation *r,
                             attest_tensor_id id, const attest_tensor *first, const attest_tensor *second,
                             const double *bound, const double *other)
{
    const attest_role role = id.kind == ATTEST_KIND_ROLE ? (attest_role)id.index : ATTEST_TENSOR_ROLES;
    for (int64_t x = 0; x < attest_tensor_count(second); x++) {
        attest_cell cell;
        int64_t source[4];
        cell_of(&cell, &r->c.problem, id, second, x);
        if (!source_of(source, r, &cell, first) || (r->related && !r->related(r, trial, &cell)))
            continue; /* NaN bounds are left out by attest_finding_add() */
        const int64_t at = offset_of(first, source);
        const double want = wanted_value(r, role, attest_load(first, at));
        const double got = attest_load(second, x);
        if (r->least > 0 && role != ATTEST_LSE && fmin(fabs(want), fabs(attest_load(first, at))) < r->least &&
            fabs(got) <= 2 * fmax(fabs(want), r->least)) /* NaN and what is large are compared */
            continue;
        const double slack = role == ATTEST_LSE ? r->lse_slack + fabs(want) * 0x1p-52 : 0;
        const int exponent = role < ATTEST_TENSOR_ROLES ? r->exponent[role] : 0;
        const double tolerance = r->bits ? -1 : other[x] + ldexp(bound[at], exponent) + slack;
        if (!r->bits && both_overflow(got, second->dtype, want, first->dtype, exponent, tolerance))
            continue;
        attest_finding_add(found, id, cell.at, got, want, tolerance);
    }
}

static attest_status compare_output(attest_finding *found, attest_trial *trial, const attest_relation *r,
                                    const attest_bundle *inputs, const attest_bundle *outputs, attest_tensor_id id,
                                    attest_error *err)
{
    const attest_tensor *first = attest_bundle_get(trial->outputs, id), *second = attest_bundle_get(outputs, id);
    attest_status status = ATTEST_OK;
    const double *bound = NULL;
    double *made = NULL, *other = NULL;
    if (!first || !second)
        return ATTEST_OK;
    if (!r->bits)
        ATTEST_TRY(both_bounds(&bound, &made, &other, trial, r, inputs, outputs, id, err));
    if (r->bits || (bound && other))
        compare_elements(found, trial, r, id, first, second, bound, other);
out:
    free(made);
    free(other);
    return status;
}

attest_status attest_relation_run(attest_finding *found, attest_trial *trial, const attest_relation *r,
                                  const attest_bundle *inputs, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_bundle *outputs = NULL;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_outputs(&r->c.problem, ids, ATTEST_MAX_TENSORS);
    int usable = 0;
    if (!trial->host->supports(trial->host->context, &r->c.problem) || (!r->bits && !trial->host->bounds))
        return ATTEST_OK;
    ATTEST_TRY(attest_trial_run(&outputs, &usable, found, trial, &r->c, inputs, r->outputs, r->strided, err));
    for (size_t k = 0; usable && k < count; k++)
        ATTEST_TRY(compare_output(found, trial, r, inputs, outputs, ids[k], err));
out:
    attest_bundle_free(outputs);
    return status;
}

attest_status attest_relation_check(attest_finding *found, attest_trial *trial, const attest_relation *r,
                                    attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_bundle *inputs = NULL;
    int inexact = 0;
    const attest_problem *p = &r->c.problem;
    attest_error contradiction;
    if (attest_variant_check(p->axis, p->n, p->m, &contradiction) != ATTEST_OK)
        return ATTEST_OK;
    if (!trial->host->supports(trial->host->context, p) || (!r->bits && !trial->host->bounds))
        return ATTEST_OK;
    ATTEST_TRY(attest_relation_inputs(&inputs, &inexact, r, trial, err));
    if (!inexact)
        ATTEST_TRY(attest_relation_run(found, trial, r, inputs, err));
out:
    attest_bundle_free(inputs);
    return status;
}
