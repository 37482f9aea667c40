/* contest_calls.c - one call of a case: its inputs, its time beside the baseline's, and what is found. */
#include <string.h>
#include <unistd.h>

#include "kernels/hash.h"
#include "props/draw/draw.h"
#include "verify/compare/compare.h"
#include "verify/gate/gate.h"
#include "verify/gate/repeat_checks.h"
#include "verify/contest/contest_private.h"

#define PAGES 3 /* that a tensor has more, at some of the calls */
/* Seconds of processor time that a call may be charged beside its run: two ticks of a kernel that counts by ticks of
 * 10 ms. */
#define CLOCK_FLOOR 2e-2
#define PREFERRED "softmax-online-f32"

/* ---- what is found ----------------------------------------------------------------------------------------------- */
static void count_result(contest_state *t, const attest_result *result, const attest_run_result *run)
{
    attest_judgement *j = t->out;
    int found = attest_result_failed(result);
    if (attest_result_of_stop(result))
        return;
    j->calls++;
    for (int i = 0; i < ATTEST_REASON_COUNT && found; i++)
        j->reason[i] += result->reasons >> i & 1;
    j->finding[ATTEST_CONTEST_CRASH] += result->verdict == ATTEST_CRASH;
    j->finding[ATTEST_CONTEST_TIMEOUT] += result->verdict == ATTEST_TIMEOUT;
    if (run && run->left) {
        j->finding[ATTEST_CONTEST_PROCESSES]++;
        found = 1;
    }
    j->failed += found;
    j->undecided += !found && result->verdict == ATTEST_UNDECIDED;
}

static void find(contest_state *t, attest_result *result, attest_contest_finding finding)
{
    t->out->finding[finding]++;
    result->verdict = ATTEST_FAIL;
}

/* What ran cannot have used more processor time than there are processors, by an honest clock. */
static int clock_is_bent(const contest_state *t, const attest_run_result *run)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return t->subject.facts->device_type == ATTEST_CPU &&
           run->seconds_cpu > 2 * (double)(processors > 2 ? processors : 2) * run->seconds + CLOCK_FLOOR;
}

/* ---- the baseline ------------------------------------------------------------------------------------------------ */
static int baseline_serves(contest_state *t, size_t index, const attest_problem *p)
{
    char why[256];
    return attest_worker_kernel(t->base, index)->device_type == ATTEST_CPU &&
           attest_worker_supports(t->base, index, p, why, sizeof why) > 0;
}

/* The kernel asked for; else the preferred one, the first that serves the case. */
static void choose_baseline(contest_state *t, contest_case *tc)
{
    const size_t count = attest_worker_kernel_count(t->base);
    const attest_problem *p = &tc->c.problem;
    if (t->contest->baseline && baseline_serves(t, t->chosen, p)) {
        tc->baseline = t->chosen;
        return;
    }
    for (size_t k = 0; k < count && !t->contest->baseline; k++)
        if (strcmp(attest_worker_kernel(t->base, k)->name, PREFERRED) == 0 && baseline_serves(t, k, p))
            tc->baseline = k;
    for (size_t k = 0; k < count && !t->contest->baseline && tc->baseline == SIZE_MAX; k++)
        if (baseline_serves(t, k, p))
            tc->baseline = k;
}

/* Seconds of the baseline on the inputs of a call; 0: it has none. */
static attest_status time_baseline(double *seconds, contest_state *t, contest_case *tc, const attest_prepared *prepared,
                                   uint32_t pages, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_bundle *bundle = NULL;
    attest_run_result run;
    *seconds = 0;
    if (tc->baseline == SIZE_MAX)
        return ATTEST_OK;
    ATTEST_TRY(attest_case_bundle(&bundle, prepared, attest_worker_kernel(t->base, tc->baseline), err));
    attest_worker_hold(t->subject.worker, t->subject.index, 1); /* what it left running slows nobody */
    status = attest_worker_run_once(t->base, tc->baseline, &tc->c.problem, bundle, pages, t->contest->options->timeout,
                                    &run, err);
    attest_worker_hold(t->subject.worker, t->subject.index, 0);
    if (status == ATTEST_OK && run.state == ATTEST_RUN_DONE && run.status == ATTEST_OK)
        *seconds = run.seconds_seen;
out:
    attest_bundle_free(bundle);
    return status;
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */
/* The inputs of the last fresh call, but one row of v, whose numbers change their sign and place. */
static attest_status change_row(attest_bundle **bundle, contest_state *t, const attest_case *c, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_bundle_new(bundle, err));
    ATTEST_TRY(attest_draw_missing(*bundle, c, 0, 0, err));
    attest_tensor *v = attest_bundle_role(*bundle, ATTEST_V);
    if (!v)
        return ATTEST_OK;
    const int64_t e = v->shape[3], rows = attest_tensor_count(v) / e, row = contest_between(t, 0, rows - 1);
    const uint64_t sign = 1ull << (8 * attest_dtype_bytes(v->dtype) - 1);
    for (int64_t i = 0; i <= (e - 1) / 2; i++) {
        const int64_t a = row * e + i, b = row * e + e - 1 - i;
        const uint64_t kept = attest_load_bits(v, a);
        attest_store_bits(v, a, attest_load_bits(v, b) ^ sign);
        if (a != b)
            attest_store_bits(v, b, kept ^ sign);
    }
out:
    return status;
}

static attest_status prepare(attest_prepared *prepared, contest_state *t, contest_case *tc, contest_kind kind,
                             attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_bundle *given = NULL;
    attest_case c = tc->c;
    if (kind == CONTEST_FRESH)
        tc->last = contest_random(t) >> 1;
    c.seed = kind == CONTEST_INSPECT ? contest_random(t) >> 1 : tc->last;
    if (kind == CONTEST_INSPECT)
        return attest_prepare(prepared, &c, err);
    if (kind == CONTEST_NEAR)
        ATTEST_TRY(change_row(&given, t, &c, err));
    status = attest_prepare_inputs(prepared, &c, given, err);
    given = NULL;
out:
    attest_bundle_free(given);
    return status;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */
static uint64_t hash_outputs(const attest_problem *p, const attest_bundle *bundle)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_outputs(p, ids, ATTEST_MAX_TENSORS);
    uint64_t hash = ATTEST_FNV_START;
    for (size_t i = 0; i < count; i++) {
        const attest_tensor *x = attest_bundle_get(bundle, ids[i]);
        if (x)
            hash = attest_fnv(hash, x->data, attest_tensor_bytes(x));
    }
    return hash;
}

/* By the kernel's own bound, and by that of the baseline. */
static attest_status judge_outputs(attest_result *result, contest_state *t, const contest_case *tc,
                                   attest_prepared *prepared, const attest_bundle *bundle, attest_error *err)
{
    const attest_problem *p = &tc->c.problem;
    attest_status status = ATTEST_OK;
    attest_declared declared;
    attest_result beside;
    if (attest_worker_declared(t->subject.worker, t->subject.index, p, &declared, err) != ATTEST_OK) {
        result->verdict = ATTEST_FAIL; /* it served the problem, and then says nothing of its numerics */
        result->reasons |= ATTEST_REASON_KERNEL_ERROR;
        return ATTEST_OK;
    }
    ATTEST_TRY(attest_compare(result, prepared->truth, NULL, &prepared->c, bundle, &declared.numerics, declared.flags,
                              0, err));
    if (attest_result_failed(result) || tc->baseline == SIZE_MAX)
        return ATTEST_OK;
    const uint32_t flags = declared.flags, empty_row = declared.numerics.empty_row; /* no error: a convention */
    attest_result_init(&beside);
    ATTEST_TRY(attest_worker_declared(t->base, tc->baseline, p, &declared, err));
    declared.numerics.empty_row = empty_row;
    ATTEST_TRY(attest_compare(&beside, prepared->truth, NULL, &prepared->c, bundle, &declared.numerics, flags, 0, err));
    if (beside.ratio_lo > ATTEST_CONTEST_SLACK)
        find(t, result, ATTEST_CONTEST_IMPRECISE);
out:
    return status;
}

/* A deterministic kernel repeats the bits of the fresh call. */
static void compare_again(contest_state *t, contest_case *tc, attest_result *result, contest_kind kind, uint64_t bits)
{
    if (kind == CONTEST_AGAIN && tc->has_bits && bits != tc->bits && t->subject.facts->flags & ATTEST_DETERMINISTIC) {
        result->verdict = ATTEST_FAIL;
        result->reasons |= ATTEST_REASON_NONDETERMINISTIC;
    }
    if (kind == CONTEST_FRESH) {
        tc->bits = bits;
        tc->has_bits = 1;
    }
}

static attest_status run_and_judge(contest_state *t, contest_case *tc, attest_prepared *prepared, contest_kind kind,
                                   double *seconds, attest_error *err)
{
    const attest_problem *p = &tc->c.problem;
    attest_status status = ATTEST_OK;
    attest_bundle *bundle = NULL;
    attest_result result;
    attest_run_result run = { .fp_state = "ok" };
    const int deterministic = (t->subject.facts->flags & ATTEST_DETERMINISTIC) != 0;
    const uint32_t pages = contest_between(t, 0, 1) ? PAGES : 0;
    attest_result_init(&result);
    tc->has_bits = kind == CONTEST_FRESH ? 0 : tc->has_bits;
    ATTEST_TRY(attest_case_bundle(&bundle, prepared, t->subject.facts, err));
    ATTEST_TRY(attest_worker_run_once(t->subject.worker, t->subject.index, p, bundle, pages,
                                      t->contest->options->timeout, &run, err));
    if (run.state == ATTEST_RUN_DONE && run.status == ATTEST_OK) {
        if (kind != CONTEST_AGAIN || !deterministic)
            ATTEST_TRY(judge_outputs(&result, t, tc, prepared, bundle, err));
        compare_again(t, tc, &result, kind, hash_outputs(p, bundle));
        if (clock_is_bent(t, &run))
            find(t, &result, ATTEST_CONTEST_CLOCK);
        *seconds = run.seconds_seen;
    }
    attest_result_end(&result, &run, t->subject.facts->device_type, NULL);
    if (result.verdict == ATTEST_SKIP || run.state == ATTEST_RUN_UNSUPPORTED) { /* it served the case before */
        result.verdict = ATTEST_FAIL;
        result.reasons |= ATTEST_REASON_KERNEL_ERROR;
    }
    count_result(t, &result, &run);
out:
    attest_bundle_free(bundle);
    return status;
}

/* Kernel and baseline on the same inputs, one after the other in either order. */
static attest_status call_timed(contest_state *t, contest_case *tc, attest_prepared *prepared, contest_kind kind,
                                attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int timed = tc->timed && kind == CONTEST_FRESH && tc->times < CONTEST_CALLS_MOST;
    const int before = timed && contest_between(t, 0, 1);
    double seconds = 0, reference = 0;
    if (before)
        ATTEST_TRY(time_baseline(&reference, t, tc, prepared, 0, err));
    ATTEST_TRY(run_and_judge(t, tc, prepared, kind, &seconds, err));
    if (timed && !before)
        ATTEST_TRY(time_baseline(&reference, t, tc, prepared, 0, err));
    if (seconds > 0 && reference > 0) {
        tc->seconds[tc->times] = seconds;
        tc->reference[tc->times++] = reference;
    }
out:
    return status;
}

/* All that the gate asks of a case; of a tiny one also 1,100 calls. */
static attest_status inspect(contest_state *t, contest_case *tc, attest_prepared *prepared, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double timeout = t->contest->options->timeout;
    const attest_repeated repeated = { prepared, NULL };
    attest_result result;
    int supported = 0;
    ATTEST_TRY(attest_run_case(&result, &supported, prepared, &t->subject, NULL, timeout, err));
    if (!supported || result.verdict == ATTEST_SKIP)
        result.verdict = ATTEST_FAIL;
    if (tc->many && attest_result_judged_good(&result)) {
        attest_repeated often = repeated;
        often.result = &result;
        ATTEST_TRY(attest_check_calls(&often, &t->subject, timeout, err));
    }
    t->evidence |= attest_gate_is_evidence(&result);
    count_result(t, &result, NULL);
out:
    return status;
}

attest_status contest_call(contest_state *t, contest_case *tc, contest_kind kind, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared;
    memset(&prepared, 0, sizeof prepared);
    if (tc->baseline == SIZE_MAX)
        choose_baseline(t, tc);
    ATTEST_TRY(prepare(&prepared, t, tc, kind, err));
    status = kind == CONTEST_INSPECT ? inspect(t, tc, &prepared, err) : call_timed(t, tc, &prepared, kind, err);
out:
    attest_prepared_clear(&prepared);
    return status;
}
