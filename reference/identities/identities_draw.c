/* identities_draw.c - small random cases for the identities: sizes, masks, states, and dyadic values. */
#include "reference/identities/identities.h"

#include <stdio.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/hash.h"

/* from..to */
static int64_t between(uint64_t *state, int64_t from, int64_t to)
{
    return from + (int64_t)((attest_next64(state) >> 16) % (uint64_t)(to - from + 1));
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

enum { MAX_TOKENS = 7, MAX_D = 3, MAX_E = 2, TRIES = 40 };

/* One attempt at a line; what does not go with the variant is refused by the parser or by applies(). */
static void draw_line(char *line, size_t len, const char *variant, uint64_t *state)
{
    static const char *const masks[] = { "", " mask=causal", " mask=causal-br" };
    const int own_mask = strstr(variant, "mask=") != NULL;
    const int64_t hkv = between(state, 1, 2), n = between(state, 1, MAX_TOKENS);
    const int64_t m = between(state, 0, 2) ? n : between(state, 1, MAX_TOKENS);
    int64_t scale = between(state, 1, 12) * (between(state, 0, 3) ? 1 : -1);
    const char *mask = own_mask ? "" : masks[between(state, 0, 2)];
    snprintf(line, len, "%s%s%s%s b=1 hq=%lld hkv=%lld n=%lld m=%lld d=%lld e=%lld scale=%g in=%s", variant, mask,
             between(state, 0, 3) ? "" : " lens=draw", between(state, 0, 2) ? "" : " state=draw",
             (long long)(hkv * between(state, 1, 3 - hkv)), (long long)hkv, (long long)n, (long long)m,
             (long long)between(state, 1, MAX_D), (long long)between(state, 1, MAX_E), (double)scale / 8,
             between(state, 0, 1) ? "f32" : "f64");
}

static attest_status draw_case(attest_case *c, const attest_identity *identity, const char *variant, uint64_t *state,
                               attest_error *err)
{
    char line[ATTEST_LINE];
    for (int k = 0; k < TRIES; k++) {
        draw_line(line, sizeof line, variant, state);
        if (attest_case_parse(c, line, NULL, NULL, err) == ATTEST_OK && identity->applies(&c->problem))
            return ATTEST_OK;
    }
    return attest_fail(err, ATTEST_BAD_INPUT, "identity %s: no case of %s it speaks about", identity->name, variant);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* An integer of at most 3 bits times 2^-e, e = 0..4; one in eight is 0. */
static double draw_value(uint64_t *state, int nonnegative)
{
    double x = (double)between(state, nonnegative ? 0 : -7, 7);
    if (between(state, 0, 7) == 0)
        return 0.0;
    for (int64_t e = between(state, 0, 4); e > 0; e--)
        x /= 2; /* exact */
    return x;
}

/* One value in four repeats the one a row earlier: equal scores, equal values. */
static void fill(attest_tensor *t, const attest_problem *p, int nonnegative, uint64_t *state)
{
    const int64_t count = attest_tensor_count(t), width = t->rank > 3 ? t->shape[3] : 1;
    for (int64_t k = 0; k < count; k++) {
        if (t->dtype == ATTEST_I64)
            attest_store_bits(t, k, (uint64_t)between(state, 0, p->m));
        else if (k >= width && between(state, 0, 3) == 0)
            attest_store_bits(t, k, attest_load_bits(t, k - width));
        else
            attest_store_bits(t, k, attest_from_f64(t->dtype, draw_value(state, nonnegative)));
    }
}

attest_status attest_identity_draw(attest_case *c, attest_bundle **in, const attest_identity *identity,
                                   const char *variant, uint64_t seed, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    uint64_t state = seed;
    *in = NULL;
    ATTEST_TRY(draw_case(c, identity, variant, &state, err));
    ATTEST_TRY(attest_bundle_new(in, err));
    const int nonnegative = attest_axis_value_of(&c->problem, ATTEST_AXIS_FEATURE) == ATTEST_FEATURE_ELU1;
    const size_t count = attest_problem_inputs(&c->problem, ids, ATTEST_MAX_TENSORS);
    for (size_t k = 0; k < count; k++) {
        attest_tensor *t;
        ATTEST_TRY(attest_bundle_add(*in, &c->problem, ids[k], 0, &t, err));
        fill(t, &c->problem, nonnegative && ids[k].kind == ATTEST_KIND_ROLE, &state);
    }
out:
    if (status != ATTEST_OK) {
        attest_bundle_free(*in);
        *in = NULL;
    }
    return status;
}
