/* truth_state.c - the states of a case in balls, computed on demand and kept. */
#include "reference/truth/truth.h"

#include <stdlib.h>

static void state_free(ref_state *state)
{
    ref_ball_vector_free(state->value, state->count);
    for (int64_t k = 0; state->abs_scale && k < state->count; k++)
        mag_clear(state->abs_scale + k);
    free(state->abs_scale);
    free(state);
}

void ref_truth_states_free(attest_truth *truth)
{
    while (truth->states) {
        ref_state *next = truth->states->next;
        state_free(truth->states);
        truth->states = next;
    }
    truth->state_bytes = 0;
}

static size_t state_bytes(const ref_state *state)
{
    const size_t limbs = state->prec > 128 ? (size_t)state->prec / 64 + 1 : 0;
    return sizeof *state + (size_t)state->count * (sizeof(arb_struct) + 8 * limbs + sizeof(mag_struct));
}

static int is_asked_for(const ref_state *state, const ref_state *asked)
{
    return state->b == asked->b && state->g == asked->g && state->degree == asked->degree &&
           state->z_state == asked->z_state && state->prec == asked->prec;
}

/* Room for the state that `asked` describes. */
static attest_status state_new(ref_state **made, const ref_state *asked, attest_error *err)
{
    ref_state *state = malloc(sizeof *state);
    if (state) {
        *state = *asked;
        state->value = ref_ball_vector(state->count);
        state->abs_scale = calloc((size_t)state->count, sizeof *state->abs_scale);
    }
    if (state && state->value && state->abs_scale) {
        *made = state;
        return ATTEST_OK;
    }
    if (state)
        state_free(state);
    return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for a state of degree %d", asked->degree);
}

attest_status ref_truth_state(const ref_state **state, attest_truth *truth, int64_t b, int64_t g, int degree,
                              int z_state, slong prec, attest_error *err)
{
    const int64_t rows = attest_state_rows(attest_feature_dim(truth->p), degree, 0), width = z_state ? 1 : truth->p->e;
    const ref_state asked = {
        .b = b, .g = g, .count = rows * width, .degree = degree, .z_state = z_state, .prec = prec
    };
    attest_status status = ATTEST_OK;
    ref_state *made = NULL;
    for (const ref_state *kept = truth->states; kept; kept = kept->next)
        if (is_asked_for(kept, &asked)) {
            *state = kept;
            return ATTEST_OK;
        }
    ATTEST_TRY(state_new(&made, &asked, err));
    ATTEST_TRY(ref_ball_state(made->value, made->abs_scale, &truth->in, b, g, degree, z_state, prec, err));
    if (truth->state_bytes + state_bytes(made) > truth->state_bytes_most)
        ref_truth_states_free(truth);
    truth->state_bytes += state_bytes(made);
    made->next = truth->states;
    truth->states = made;
    *state = made;
    made = NULL;
out:
    if (made)
        state_free(made);
    return status;
}
