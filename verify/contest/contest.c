/* contest.c - see contest.h: the order of the calls, the verdict and the score. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/base/base.h"
#include "verify/contest/contest_private.h"

#define TIMEOUTS_MOST 3

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *x, int count)
{
    double sorted[CONTEST_CALLS_MOST];
    memcpy(sorted, x, (size_t)count * sizeof *x);
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* Geometric mean over the cases that were timed; NAN: none was. */
static double score_of(const contest_state *t, int64_t *timed)
{
    double sum = 0;
    *timed = 0;
    for (size_t i = 0; i < t->count; i++) {
        const contest_case *tc = &t->cases[i];
        if (tc->times == 0)
            continue;
        sum += log(median(tc->reference, tc->times) / median(tc->seconds, tc->times));
        ++*timed;
    }
    return *timed ? exp(sum / (double)*timed) : NAN;
}

static attest_verdict verdict_of(const contest_state *t)
{
    const attest_judgement *j = t->out;
    int64_t found = j->failed;
    for (int i = 0; i < ATTEST_CONTEST_FINDINGS; i++)
        found += j->finding[i];
    if (found > 0)
        return ATTEST_FAIL;
    if (j->calls == 0)
        return ATTEST_SKIP;
    if (2 * j->undecided > j->calls)
        return ATTEST_UNDECIDED;
    return t->evidence ? ATTEST_PASS : ATTEST_NO_EVIDENCE;
}

/* A kernel that is late again and again has lost; with --fail-fast one finding is enough. */
static int goes_on(const contest_state *t)
{
    return !attest_stop_signal() && t->out->finding[ATTEST_CONTEST_TIMEOUT] < TIMEOUTS_MOST &&
           !(t->contest->options->fail_fast && t->out->failed > 0);
}

/* Every case as often as it has calls, in an order drawn by the seed; then each once more, on fresh inputs: after all
 * that has been called by then. */
static attest_status call_all(contest_state *t, attest_error *err)
{
    attest_status status = ATTEST_OK;
    size_t total = 0, *order = NULL;
    for (size_t i = 0; i < t->count; i++)
        total += (size_t)t->cases[i].kinds;
    if (!(order = malloc((total + 1) * sizeof *order)))
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu calls", total));
    size_t filled = 0;
    for (size_t i = 0; i < t->count; i++)
        for (int k = 0; k < t->cases[i].kinds; k++) {
            const size_t at = (size_t)contest_between(t, 0, (int64_t)filled);
            order[filled++] = order[at];
            order[at] = i;
        }
    for (size_t i = 0; i < total && goes_on(t); i++) {
        contest_case *tc = &t->cases[order[i]];
        ATTEST_TRY(contest_call(t, tc, tc->kind[tc->next++], err));
    }
    for (size_t i = 0; i < t->count && goes_on(t); i++)
        ATTEST_TRY(contest_call(t, &t->cases[i], CONTEST_FRESH, err));
out:
    free(order);
    return status;
}

static attest_status start(contest_state *t, size_t kernel, attest_error *err)
{
    const attest_contest *contest = t->contest;
    const attest_plan_kernel *k = &contest->plan->kernel[kernel];
    const double timeout = contest->options->timeout;
    attest_status status = ATTEST_OK;
    attest_worker *worker = NULL;
    ATTEST_TRY(attest_worker_start(&t->base, NULL, timeout, err));
    const size_t count = attest_worker_kernel_count(t->base);
    t->chosen = count;
    for (size_t i = 0; i < count && contest->baseline; i++)
        if (strcmp(attest_worker_kernel(t->base, i)->name, contest->baseline) == 0)
            t->chosen = i;
    if (contest->baseline && t->chosen == count)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "--baseline=%.100s: no built-in kernel (`attest list kernels`)",
                               contest->baseline));
    ATTEST_TRY(attest_plan_start(&worker, contest->plan, k->library, timeout, err));
    t->subject = (attest_subject){ .worker = worker,
                                   .index = k->index,
                                   .facts = &k->facts,
                                   .library = contest->plan->library[k->library].path,
                                   .program = contest->options->program };
    snprintf(t->subject.file_hash, sizeof t->subject.file_hash, "%s", contest->plan->library[k->library].file.hash);
out:
    return status;
}

static void describe(attest_judgement *j, const attest_contest *contest, size_t kernel)
{
    const attest_plan_kernel *k = &contest->plan->kernel[kernel];
    memset(j, 0, sizeof *j);
    snprintf(j->kernel, sizeof j->kernel, "%s", k->name);
    snprintf(j->file_hash, sizeof j->file_hash, "%s", contest->plan->library[k->library].file.hash);
    snprintf(j->suite, sizeof j->suite, "%s", contest->suite->name);
    snprintf(j->suite_hash, sizeof j->suite_hash, "%016llx", (unsigned long long)contest->suite->hash);
    snprintf(j->baseline, sizeof j->baseline, "%.60s", contest->baseline ? contest->baseline : "best");
    attest_contest_digest(j->digest, contest->seed);
}

attest_status attest_contest_run(attest_judgement *judgement, const attest_contest *contest, size_t kernel,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    contest_state t = { .contest = contest, .out = judgement };
    describe(judgement, contest, kernel);
    status = start(&t, kernel, err);
    if (status == ATTEST_IO && t.base) { /* a worker of its library that cannot be had is the kernel's doing */
        judgement->finding[ATTEST_CONTEST_CRASH]++;
        judgement->verdict = ATTEST_FAIL;
        status = ATTEST_OK;
        goto out;
    }
    ATTEST_TRY(status);
    ATTEST_TRY(contest_cases_make(&t, err));
    ATTEST_TRY(call_all(&t, err));
    judgement->verdict = verdict_of(&t);
    const double score = score_of(&t, &judgement->timed);
    judgement->score = judgement->verdict == ATTEST_PASS ? score : 0;
out:
    attest_worker_free(t.subject.worker);
    attest_worker_free(t.base);
    free(t.cases);
    return status;
}
