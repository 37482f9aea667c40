/* defects.c - see defects.h: the run. */
#include "verify/defects/defects.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/gate/gate.h"

const attest_defect attest_defects[] = {
#define DEFECT(id, base, bugs, what) { #id, base, bugs, what },
#include "kernels/defects/list.h"
#undef DEFECT
};
const size_t attest_defect_count = sizeof attest_defects / sizeof attest_defects[0];

const char *attest_check_name(int check)
{
    return check == ATTEST_CHECK_CRASH     ? "crash"
           : check == ATTEST_CHECK_TIMEOUT ? "timeout"
                                           : attest_reason_names[check];
}

/* What the base kernels gave on a case. */
typedef struct base_output {
    char bits[20];
    int good; /* passed or ill-posed */
} base_output;

/* A part of the suite: its cases first, first + step, ... */
typedef struct defect_run {
    const attest_options *options;
    const attest_suite *suite; /* the whole */
    const attest_judge *judge;
    attest_defect_result *result;
    size_t first, step;
    base_output *base; /* [case of the part][defect]: of the defect's base kernel */
} defect_run;

const char *attest_defect_name(char name[128], const attest_defect *defect)
{
    snprintf(name, 128, "%s", defect->id);
    for (char *at = name; *at; at++)
        *at = *at == '_' ? '-' : *at;
    return name;
}

static int is_kernel_of(const char *kernel, const attest_defect *defect)
{
    char name[128];
    return strcmp(kernel, attest_defect_name(name, defect)) == 0;
}

int attest_defect_selected(const attest_options *options, const attest_defect *defect)
{
    char name[128];
    return !options->kernel || fnmatch(options->kernel, attest_defect_name(name, defect), 0) == 0;
}

/* Selected, and not killed by an earlier part. */
static int lives(const defect_run *r, size_t k)
{
    return attest_defect_selected(r->options, &attest_defects[k]) && (r->first == 0 || r->result[k].killed == 0);
}

static int wanted(const void *context, const char *kernel)
{
    const defect_run *r = context;
    for (size_t k = 0; k < attest_defect_count; k++)
        if (lives(r, k) && (strcmp(kernel, attest_defects[k].base) == 0 || is_kernel_of(kernel, &attest_defects[k])))
            return 1;
    return 0;
}

static uint32_t checks_of(const attest_result *result)
{
    uint32_t checks = (uint32_t)result->reasons;
    if (result->verdict == ATTEST_CRASH)
        checks |= 1u << ATTEST_CHECK_CRASH;
    if (result->verdict == ATTEST_TIMEOUT)
        checks |= 1u << ATTEST_CHECK_TIMEOUT;
    return checks;
}

static double work_of(const attest_suite *suite, size_t index)
{
    attest_case c;
    attest_suite_case(&c, suite, index);
    const attest_problem *p = &c.problem;
    return (double)p->b * (double)p->hq * (double)p->n * (double)p->m * (double)(p->d + p->e);
}

static void add_kill(attest_defect_result *to, const attest_result *result, size_t index, double work)
{
    const uint32_t checks = checks_of(result);
    to->killed++;
    for (int c = 0; c < ATTEST_CHECK_COUNT; c++)
        to->by[c] += checks >> c & 1;
    if (to->killed > 1 && (work > to->work || (work == to->work && index > to->index)))
        return;
    to->work = work;
    to->index = index;
    to->reasons = checks;
    to->margin = result->ratio_lo > 1 ? result->ratio_lo : NAN; /* else it was no bound that killed */
    snprintf(to->line, sizeof to->line, "%s", result->problem);
}

static void add_defect_result(defect_run *r, size_t k, size_t index, const attest_result *result)
{
    attest_defect_result *to = &r->result[k];
    const base_output *base = &r->base[index * attest_defect_count + k];
    const size_t place = r->first + r->step * index; /* in the suite */
    const int ended = result->verdict == ATTEST_CRASH || result->verdict == ATTEST_TIMEOUT;
    const unsigned pages = ATTEST_REASON_READ_OUTSIDE | ATTEST_REASON_WROTE_OUTSIDE | ATTEST_REASON_WROTE_INPUT;
    if (result->verdict == ATTEST_SKIP || !base->good)
        return;
    const int late = result->verdict == ATTEST_TIMEOUT; /* a busy machine is no finding of a gate */
    if (r->judge && (late || (result->verdict == ATTEST_CRASH && (result->reasons & pages)))) {
        to->stopped++;
        return;
    }
    to->run++;
    to->differs += ended || result->verdict == ATTEST_FAIL || strcmp(base->bits, result->outputs) != 0;
    if (ended || result->verdict == ATTEST_FAIL)
        add_kill(to, result, place, work_of(r->suite, place));
}

static attest_status take(void *context, size_t index, const attest_result *result, attest_error *err)
{
    defect_run *r = context;
    const char *colon = strrchr(result->kernel, ':'), *name = colon ? colon + 1 : result->kernel;
    (void)err;
    for (size_t k = 0; k < attest_defect_count; k++) {
        base_output *base = &r->base[index * attest_defect_count + k];
        if (colon && is_kernel_of(name, &attest_defects[k]))
            add_defect_result(r, k, index, result);
        if (colon || strcmp(name, attest_defects[k].base) != 0)
            continue;
        snprintf(base->bits, sizeof base->bits, "%s", result->outputs);
        base->good = attest_result_judged_good(result) || (result->verdict == ATTEST_SKIP && result->rows_judged > 0);
    }
    return ATTEST_OK;
}

/* A view: only `line` is the part's own. */
static attest_status take_part(attest_suite *part, const defect_run *r, attest_error *err)
{
    *part = *r->suite;
    part->case_count = 0;
    part->line = malloc((r->suite->case_count / r->step + 1) * sizeof *part->line);
    if (!part->line)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", r->suite->case_count);
    for (size_t i = r->first; i < r->suite->case_count; i += r->step)
        part->line[part->case_count++] = r->suite->line[i];
    part->drawn = 0; /* verdicts are compared with the base kernel's: what drew a case says nothing */
    return ATTEST_OK;
}

static attest_status run_part(defect_run *r, const char *plugin, attest_error *err)
{
    attest_results none = { 0 };
    const char *libraries[] = { NULL, plugin };
    attest_status status = ATTEST_OK;
    attest_run_info info;
    attest_plan plan = { .library = NULL };
    attest_suite part = { .case_count = 0 };
    const attest_gate gate = { .options = r->options,
                               .suite = &part,
                               .plan = &plan,
                               .judge = r->judge,
                               .take = take,
                               .wanted = wanted,
                               .context = r,
                               .remembers = 1 };
    ATTEST_TRY(take_part(&part, r, err));
    r->base = calloc(part.case_count * attest_defect_count, sizeof *r->base);
    if (!r->base)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases of %zu defects", part.case_count,
                               attest_defect_count));
    ATTEST_TRY(attest_plan_make(&plan, libraries, 2, attest_gate_wants, &gate, r->options->timeout, err));
    if (plan.library[1].failed[0])
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s", plan.library[1].failed));
    ATTEST_TRY(attest_gate_describe(&info, &gate, err));
    ATTEST_TRY(attest_gate_run(&none, &info, &gate, err));
out:
    attest_results_clear(&none);
    attest_plan_clear(&plan);
    free(r->base);
    r->base = NULL;
    free(part.line);
    return status;
}

attest_status attest_defects_run(attest_defect_result *result, const attest_options *options, const attest_suite *suite,
                                 const char *plugin, const attest_judge *judge, int whole, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const size_t parts = suite->case_count / ATTEST_DEFECTS_PART;
    defect_run r = { .options = options, .suite = suite, .judge = judge, .result = result };
    r.step = whole || parts < 1 ? 1 : parts;
    memset(result, 0, attest_defect_count * sizeof *result);
    for (size_t k = 0; k < attest_defect_count; k++)
        result[k].work = result[k].margin = INFINITY;
    for (int left = 1; left && r.first < r.step; r.first++) {
        ATTEST_TRY(run_part(&r, plugin, err));
        left = 0;
        for (size_t k = 0; k < attest_defect_count; k++)
            left |= attest_defect_selected(options, &attest_defects[k]) && result[k].killed == 0;
    }
out:
    return status;
}
