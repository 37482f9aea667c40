/* redrawn.c - which kernel models what is declared, and one run of it; see redrawn.h. */
#include "kernels/redrawn/redrawn.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/hash.h"
#include "kernels/library/library.h"
#include "redraw.h"

extern const attest_kernel attest_redrawn_softmax_two_pass, attest_redrawn_softmax_two_pass_carried;
extern const attest_kernel attest_redrawn_softmax_online, attest_redrawn_softmax_online_carried;
extern const attest_kernel attest_redrawn_softmax_split;
extern const attest_kernel attest_redrawn_taylor_direct, attest_redrawn_taylor_direct_carried;
extern const attest_kernel attest_redrawn_taylor_recurrent, attest_redrawn_taylor_chunk;
extern const attest_kernel attest_redrawn_linear_recurrent, attest_redrawn_linear_recurrent_carried;
extern const attest_kernel attest_redrawn_delta_recurrent, attest_redrawn_delta_chunk, attest_redrawn_delta_parallel;

_Thread_local redraw_run redraw_now;

/* The first of a schedule that serves the problem is taken. */
static const struct {
    uint32_t schedule;
    int carried;
    const attest_kernel *kernel;
} models[] = {
    { ATTEST_SCHEDULE_TWO_PASS, 0, &attest_redrawn_softmax_two_pass },
    { ATTEST_SCHEDULE_TWO_PASS, 0, &attest_redrawn_taylor_direct },
    { ATTEST_SCHEDULE_ONLINE, 0, &attest_redrawn_softmax_online },
    { ATTEST_SCHEDULE_SPLIT, 0, &attest_redrawn_softmax_split },
    { ATTEST_SCHEDULE_DIRECT, 0, &attest_redrawn_taylor_direct },
    { ATTEST_SCHEDULE_DIRECT, 0, &attest_redrawn_delta_parallel },
    { ATTEST_SCHEDULE_RECURRENT, 0, &attest_redrawn_linear_recurrent },
    { ATTEST_SCHEDULE_RECURRENT, 0, &attest_redrawn_taylor_recurrent },
    { ATTEST_SCHEDULE_RECURRENT, 0, &attest_redrawn_delta_recurrent },
    { ATTEST_SCHEDULE_CHUNK, 0, &attest_redrawn_taylor_chunk },
    { ATTEST_SCHEDULE_CHUNK, 0, &attest_redrawn_delta_chunk },
    { ATTEST_SCHEDULE_UNKNOWN, 0, &attest_redrawn_softmax_online },
    { ATTEST_SCHEDULE_UNKNOWN, 0, &attest_redrawn_softmax_two_pass },
    { ATTEST_SCHEDULE_TWO_PASS, 1, &attest_redrawn_softmax_two_pass_carried },
    { ATTEST_SCHEDULE_ONLINE, 1, &attest_redrawn_softmax_online_carried },
    { ATTEST_SCHEDULE_DIRECT, 1, &attest_redrawn_taylor_direct_carried },
    { ATTEST_SCHEDULE_RECURRENT, 1, &attest_redrawn_linear_recurrent_carried },
};

/* ---- what is declared -------------------------------------------------------------------------------------------- */
static int is_narrow(uint32_t declared) { return declared == 1 + ATTEST_BF16 || declared == 1 + ATTEST_F16; }

#define PLAIN_ERROR 0x1p-21 /* of a function, of a quotient: what a plain one of float stays below */

/* A step of the declared kernel that no model has; NULL: none.  Nothing is said of a kernel without a schedule, which
 * is compared with plain arithmetic whatever it does. */
static const char *own_step(const attest_problem *p, const attest_numerics *n)
{
    const int narrow_weights = p->p != p->acc, capped = p->axis[ATTEST_AXIS_CAP].value != 0;
    if (n->schedule == ATTEST_SCHEDULE_UNKNOWN)
        return NULL;
    if (n->div_error > PLAIN_ERROR)
        return "quotients of a declared error";
    if (is_narrow(n->scale_dtype))
        return "a scale in a narrow type";
    if (capped && !(n->tanh_error > 0 && n->tanh_error <= PLAIN_ERROR))
        return "a tanh of another error, or made of exponentials";
    if (n->division > ATTEST_DIVISION_AFTER_SUM || (n->division == ATTEST_DIVISION_UNKNOWN && narrow_weights))
        return "weights that are, or may be, divided before their sum with values is done";
    if (p->axis[ATTEST_AXIS_DECAY].value != 0 && n->decay_products != ATTEST_YES)
        return "decays that may be made of logarithms";
    if (p->axis[ATTEST_AXIS_UPDATE].value == ATTEST_UPDATE_EFLA &&
        !(n->expm1_error > 0 && n->expm1_error <= PLAIN_ERROR))
        return "1 - e^-x of another error";
    if (n->schedule == ATTEST_SCHEDULE_SPLIT && n->log_error > PLAIN_ERROR)
        return "a logarithm of a declared error";
    if (n->sigmoid_error > PLAIN_ERROR)
        return "a sigmoid of a declared error";
    if (p->axis[ATTEST_AXIS_FEATURE].value == ATTEST_FEATURE_ELU1 && n->exp_error == 0)
        return "elu1 that may be made of expm1";
    return NULL;
}

/* Why nothing models this; NULL: something may. */
static const char *beyond_models(const attest_problem *p, const attest_numerics *n)
{
    static const uint32_t beside_carried[] = { ATTEST_AXIS_FEATURE, ATTEST_AXIS_ROPE, ATTEST_AXIS_GATES,
                                               ATTEST_AXIS_DECAY,   ATTEST_AXIS_CAP,  ATTEST_AXIS_ALIBI };
    if (p->in == ATTEST_F64 || p->acc != ATTEST_F32)
        return "only acc=f32";
    if (n->acc_truncates == ATTEST_YES || n->p_rounding == ATTEST_ROUNDING_TRUNCATE)
        return "sums or casts that are truncated";
    if (is_narrow(n->score_dtype) || is_narrow(n->scaled_dtype))
        return "scores, or q and k once scaled, in a narrow type";
    for (size_t k = 0; n->compensated == ATTEST_YES && k < sizeof beside_carried / sizeof beside_carried[0]; k++)
        if (p->axis[beside_carried[k]].value != 0)
            return "compensated sums beside features, rope, gates, decays, cap or alibi";
    return own_step(p, n);
}

static int digits_of(double unit) { return unit > 0 ? -(int)ceil(log2(unit)) : REDRAW_FLOAT; }

static int digits_of_type(uint32_t declared)
{
    return declared == 1 + ATTEST_BF16 ? 8 : declared == 1 + ATTEST_F16 ? 11 : REDRAW_FLOAT;
}

static int fewer(int a, int b) { return a < b ? a : b; }

attest_status attest_redrawn_find(attest_redrawn *redrawn, const attest_problem *p, const attest_numerics *numerics,
                                  attest_error *err)
{
    const char *beyond = beyond_models(p, numerics);
    const int carried = numerics->compensated == ATTEST_YES;
    attest_problem asked = *p; /* the cast of weights is a step of every model */
    char why[256] = "no plain kernel of the declared schedule";
    asked.p = p->acc;
    asked.axis[ATTEST_AXIS_PAGES] = asked.axis[ATTEST_AXIS_PACKED] = (attest_setting){ 0, 0,
                                                                                       0 }; /* as bundles have it */
    *redrawn = (attest_redrawn){ NULL, *p, *numerics };
    redrawn->problem.axis[ATTEST_AXIS_PAGES] = redrawn->problem.axis[ATTEST_AXIS_PACKED] = (attest_setting){ 0, 0, 0 };
    if (numerics->splits > 0)
        redrawn->problem.splits = numerics->splits;
    if (beyond)
        return attest_fail(err, ATTEST_UNSUPPORTED, "%s", beyond);
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        if (models[k].schedule != numerics->schedule || models[k].carried != carried)
            continue;
        if (!attest_kernel_supports(attest_own(models[k].kernel), &asked, why, sizeof why))
            continue;
        redrawn->kernel = models[k].kernel;
        return ATTEST_OK;
    }
    return attest_fail(err, ATTEST_UNSUPPORTED, "%s", why);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */
static redraw_run run_of(const attest_redrawn *r, const unsigned char *wanted, uint64_t seed)
{
    const attest_numerics *n = &r->numerics;
    const int sums = fewer(digits_of(n->acc_unit), digits_of(n->value_unit)), kept = digits_of_type(n->state_dtype);
    const int64_t tile = n->tile > 0 ? n->tile : 1;
    return (redraw_run){ .stream = seed ? attest_mix64(seed) | 1 : 0,
                         .score_digits = n->score_unit > 0 ? digits_of(n->score_unit) : digits_of(n->acc_unit),
                         .sum_digits = sums,
                         .state_digits = n->schedule == ATTEST_SCHEDULE_SPLIT ? kept : fewer(sums, kept),
                         .tile = tile < REDRAW_TILE ? tile : REDRAW_TILE,
                         .exp_error = n->exp_error > 0x1p-22 ? n->exp_error : 0,
                         .wanted = wanted };
}

attest_status attest_redrawn_run(const attest_redrawn *redrawn, const attest_bundle *inputs, attest_tensor *o,
                                 const unsigned char *wanted, uint64_t seed, attest_error *err)
{
    const attest_loaded kernel = attest_own(redrawn->kernel);
    const size_t size = attest_kernel_workspace(kernel, &redrawn->problem);
    attest_view view;
    char why[256] = "";
    void *workspace = malloc(size + 64);
    if (!workspace)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu bytes of workspace", size);
    attest_bundle_view(inputs, &view);
    for (size_t n = 0; n < ATTEST_STATE_SLOTS; n++)
        view.ht[n] = view.zt[n] = NULL;
    for (uint32_t role = ATTEST_O; role <= ATTEST_LSE; role++)
        view.role[role] = NULL;
    view.role[ATTEST_O] = o;
    redraw_now = run_of(redrawn, wanted, seed);
    const attest_status status = attest_kernel_run(kernel, &redrawn->problem, &view, workspace, size, why, sizeof why);
    free(workspace);
    return status == ATTEST_OK ? ATTEST_OK : attest_fail(err, ATTEST_INTERNAL, "a redrawn kernel failed: %s", why);
}
