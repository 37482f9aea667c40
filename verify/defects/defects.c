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

typedef struct ordered_case {
    size_t early; /* its place in suite killers; SIZE_MAX: in none */
    size_t part;  /* one of some 100 cases from all over the suite */
    double work;  /* pairs times (d + e) */
    size_t place; /* in the suite */
} ordered_case;

/* What became of a defect on a case. */
enum { RAN = 1, DIFFERS = 2, STOPPED = 4 };
enum { PART = 100 }; /* cases of a part, at least */

typedef struct defect_run {
    const attest_options *options;
    const attest_suite *suite;
    const attest_judge *judge;
    int whole;                    /* every defect runs every case */
    attest_defect_result *result; /* [defect] */
    ordered_case *order;          /* [case], in the order in which they run */
    size_t *first;                /* [defect]: the first case, in that order, that kills it; SIZE_MAX: none so far */
    size_t *base_of;              /* [defect]: the number of its base kernel */
    size_t bases;
    base_output *base;   /* [case][base] */
    unsigned char *mark; /* [case][defect]: RAN | DIFFERS | STOPPED */
    size_t *role;        /* [kernel of the plan]: a defect, or attest_defect_count + the number of a base kernel */
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

static int wanted(const void *context, const char *kernel)
{
    const defect_run *r = context;
    for (size_t k = 0; k < attest_defect_count; k++)
        if (attest_defect_selected(r->options, &attest_defects[k]) &&
            (strcmp(kernel, attest_defects[k].base) == 0 || is_kernel_of(kernel, &attest_defects[k])))
            return 1;
    return 0;
}

/* A defect that an earlier case has killed, and a base kernel all of whose defects are.  `first` only falls, so what is
 * not wanted now is not wanted later. */
static int unwanted(const void *context, size_t index, size_t kernel)
{
    const defect_run *r = context;
    const size_t role = r->role[kernel];
    if (r->whole)
        return 0;
    if (role < attest_defect_count)
        return r->first[role] < index;
    for (size_t k = 0; k < attest_defect_count; k++)
        if (attest_defect_count + r->base_of[k] == role && r->first[k] >= index &&
            attest_defect_selected(r->options, &attest_defects[k]))
            return 0;
    return 1;
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

/* The smallest case that kills is kept; unless all cases run it is the first one, and the only one that counts. */
static void add_kill(defect_run *r, size_t k, size_t index, const attest_result *result)
{
    attest_defect_result *to = &r->result[k];
    const uint32_t checks = checks_of(result);
    if (!r->whole && index > r->first[k])
        return;
    if (!r->whole) {
        memset(to->by, 0, sizeof to->by);
        to->killed = 0;
    }
    to->killed++;
    for (int c = 0; c < ATTEST_CHECK_COUNT; c++)
        to->by[c] += checks >> c & 1;
    if (index > r->first[k])
        return;
    r->first[k] = index;
    to->work = r->order[index].work;
    to->index = r->order[index].place;
    to->reasons = checks;
    to->margin = result->ratio_lo > 1 ? result->ratio_lo : NAN; /* else it was no bound that killed */
    snprintf(to->line, sizeof to->line, "%s", result->problem);
}

static void add_defect_result(defect_run *r, size_t k, size_t index, const attest_result *result)
{
    const base_output *base = &r->base[index * r->bases + r->base_of[k]];
    unsigned char *mark = &r->mark[index * attest_defect_count + k];
    const int ended = result->verdict == ATTEST_CRASH || result->verdict == ATTEST_TIMEOUT;
    const unsigned pages = ATTEST_REASON_READ_OUTSIDE | ATTEST_REASON_WROTE_OUTSIDE | ATTEST_REASON_WROTE_INPUT;
    if (result->verdict == ATTEST_SKIP || !base->good)
        return;
    const int late = result->verdict == ATTEST_TIMEOUT; /* a busy machine is no finding of a gate */
    if (r->judge && (late || (result->verdict == ATTEST_CRASH && (result->reasons & pages)))) {
        *mark = STOPPED;
        return;
    }
    *mark = RAN;
    if (ended || result->verdict == ATTEST_FAIL || strcmp(base->bits, result->outputs) != 0)
        *mark |= DIFFERS;
    if (ended || result->verdict == ATTEST_FAIL)
        add_kill(r, k, index, result);
}

static attest_status take(void *context, size_t index, const attest_result *result, attest_error *err)
{
    defect_run *r = context;
    const char *colon = strrchr(result->kernel, ':'), *name = colon ? colon + 1 : result->kernel;
    (void)err;
    for (size_t k = 0; k < attest_defect_count; k++) {
        base_output *base = &r->base[index * r->bases + r->base_of[k]];
        if (colon && is_kernel_of(name, &attest_defects[k]))
            add_defect_result(r, k, index, result);
        if (colon || strcmp(name, attest_defects[k].base) != 0)
            continue;
        snprintf(base->bits, sizeof base->bits, "%s", result->outputs);
        base->good = attest_result_judged_good(result) || (result->verdict == ATTEST_SKIP && result->rows_judged > 0);
        break; /* its other defects share what it gave */
    }
    return ATTEST_OK;
}

/* Each defect's base kernel by a number: that of the first defect which has the same one, counted. */
static void number_bases(defect_run *r)
{
    for (size_t k = 0; k < attest_defect_count; k++) {
        size_t same = 0;
        while (strcmp(attest_defects[same].base, attest_defects[k].base) != 0)
            same++;
        r->base_of[k] = same < k ? r->base_of[same] : r->bases++;
    }
}

/* First suite killers in its order, then parts, so that cases of every kind come early, each by work. */
static int by_part(const void *a, const void *b)
{
    const ordered_case *x = a, *y = b;
    if (x->early != y->early)
        return x->early < y->early ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return x->work < y->work ? -1 : x->work > y->work ? 1 : x->place < y->place ? -1 : 1;
}

/* A kernel's name says what it is. */
static attest_status assign_roles(defect_run *r, const attest_plan *plan, attest_error *err)
{
    r->role = calloc(plan->kernel_count + 1, sizeof *r->role);
    if (!r->role)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu kernels", plan->kernel_count);
    for (size_t i = 0; i < plan->kernel_count; i++) {
        const attest_plan_kernel *kernel = &plan->kernel[i];
        const int is_base = plan->library[kernel->library].path == NULL;
        for (size_t k = 0; k < attest_defect_count; k++)
            if (is_base && strcmp(kernel->facts.name, attest_defects[k].base) == 0)
                r->role[i] = attest_defect_count + r->base_of[k];
            else if (!is_base && is_kernel_of(kernel->facts.name, &attest_defects[k]))
                r->role[i] = k;
    }
    return ATTEST_OK;
}

static size_t place_in(const attest_suite *suite, const char *line)
{
    for (size_t i = 0; i < suite->case_count; i++)
        if (strcmp(attest_suite_line(suite, i), line) == 0)
            return i;
    return SIZE_MAX;
}

static attest_status order_cases(defect_run *r, attest_error *err)
{
    const size_t cases = r->suite->case_count, parts = r->whole || cases < 2 * PART ? 1 : cases / PART;
    attest_status status = ATTEST_OK;
    attest_suite killers = { .line = NULL };
    if (!r->whole)
        ATTEST_TRY(attest_suite_read(&killers, "killers", err));
    for (size_t i = 0; i < cases; i++)
        r->order[i] = (ordered_case){ place_in(&killers, attest_suite_line(r->suite, i)), i % parts,
                                      work_of(r->suite, i), i };
    qsort(r->order, cases, sizeof *r->order, by_part);
out:
    attest_suite_clear(&killers);
    return status;
}

static attest_status make(defect_run *r, attest_error *err)
{
    const size_t cases = r->suite->case_count;
    r->first = malloc(attest_defect_count * sizeof *r->first);
    r->base_of = calloc(attest_defect_count, sizeof *r->base_of);
    r->order = calloc(cases + 1, sizeof *r->order);
    r->mark = calloc(cases + 1, attest_defect_count);
    if (!r->first || !r->base_of || !r->order || !r->mark)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases of %zu defects", cases, attest_defect_count);
    number_bases(r);
    r->base = calloc(cases + 1, r->bases * sizeof *r->base);
    if (!r->base)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", cases);
    for (size_t k = 0; k < attest_defect_count; k++) {
        r->first[k] = SIZE_MAX;
        r->result[k] = (attest_defect_result){ .work = INFINITY, .margin = INFINITY };
    }
    return order_cases(r, err);
}

/* Counts up to the case that kills, so that they are the same whatever ran beside it. */
static void count(defect_run *r)
{
    for (size_t k = 0; k < attest_defect_count; k++)
        for (size_t i = 0; i < r->suite->case_count && (r->whole || i <= r->first[k]); i++) {
            const unsigned char mark = r->mark[i * attest_defect_count + k];
            r->result[k].run += (mark & RAN) != 0;
            r->result[k].differs += (mark & DIFFERS) != 0;
            r->result[k].stopped += (mark & STOPPED) != 0;
        }
}

attest_status attest_defects_run(attest_defect_result *result, const attest_options *options, const attest_suite *suite,
                                 const char *plugin, const attest_judge *judge, int whole, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_results none = { 0 };
    const char *libraries[] = { NULL, plugin };
    attest_run_info info;
    attest_plan plan = { .library = NULL };
    attest_suite ordered = *suite; /* a view: only `line` is its own */
    defect_run r = { .options = options, .suite = suite, .judge = judge, .whole = whole, .result = result };
    const attest_gate gate = { .options = options,
                               .suite = &ordered,
                               .plan = &plan,
                               .judge = judge,
                               .take = take,
                               .wanted = wanted,
                               .unwanted = unwanted,
                               .context = &r,
                               .remembers = 1 };
    ordered.drawn = 0; /* verdicts are compared with the base kernel's: what drew a case says nothing */
    ordered.line = malloc((suite->case_count + 1) * sizeof *ordered.line);
    if (!ordered.line)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", suite->case_count);
    ATTEST_TRY(make(&r, err));
    for (size_t i = 0; i < suite->case_count; i++)
        ordered.line[i] = suite->line[r.order[i].place];
    ATTEST_TRY(attest_plan_make(&plan, libraries, 2, attest_gate_wants, &gate, options->timeout, err));
    if (plan.library[1].failed[0])
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s", plan.library[1].failed));
    ATTEST_TRY(assign_roles(&r, &plan, err));
    ATTEST_TRY(attest_gate_describe(&info, &gate, err));
    ATTEST_TRY(attest_gate_run(&none, &info, &gate, err));
    count(&r);
out:
    attest_results_clear(&none);
    attest_plan_clear(&plan);
    free(r.first);
    free(r.role);
    free(r.base_of);
    free(r.order);
    free(r.mark);
    free(r.base);
    free(ordered.line);
    return status;
}
