/* conventions.c - see conventions.h: failing cases are run again, and judged under each row of the table. */
#include "verify/gate/diagnosis/conventions.h"

#include <stdlib.h>
#include <string.h>

#include "reports/causes/causes.h"
#include "reports/report.h"
#include "verify/compare/compare.h"
#include "verify/gate/diagnosis/convention.h"

enum { ROWS = 128 }; /* room; the table has fewer */

/* Reasons that an output's numbers have, and not what a kernel did beside them. */
#define NUMBERS                                                                                                        \
    (ATTEST_REASON_BOUND | ATTEST_REASON_LSE | ATTEST_REASON_STATE | ATTEST_REASON_NAN_PATTERN | ATTEST_REASON_BIAS)

/* What the rows of the table are worth on the cases of one group so far. */
typedef struct tried {
    const attest_subject *subject;
    double timeout_s;
    int dead[ROWS]; /* a case fails under it, or it says nothing of one */
    size_t passed[ROWS], open[ROWS];
    int lost; /* the kernel ended badly */
} tried;

static void count_verdict(tried *x, size_t row, int64_t verdict)
{
    x->dead[row] |= verdict == ATTEST_FAIL || verdict == ATTEST_CRASH || verdict == ATTEST_TIMEOUT ||
                    verdict == ATTEST_SKIP;
    const int passed = verdict == ATTEST_PASS || (verdict == ATTEST_PARTIAL && attest_convention_table[row].partial);
    x->passed[row] += (size_t)passed;
    x->open[row] += (size_t)!passed;
}

/* ---- rows that change the function ------------------------------------------------------------------------------- */
/* What ran, judged as it is (`row` NULL) or under a row; *verdict: ATTEST_SKIP where the row says nothing of it. */
static attest_status judge(int64_t *verdict, const tried *x, const attest_prepared *prepared,
                           const attest_bundle *outputs, const attest_convention *row, attest_error *err)
{
    static const attest_convention as_it_is = { .name = "" };
    const attest_kernel_facts *facts = attest_worker_kernel(x->subject->worker, x->subject->index);
    attest_status status = ATTEST_OK;
    attest_declared declared;
    attest_truth *truth = NULL;
    attest_result result;
    char why[256];
    int applies = 0;
    *verdict = ATTEST_SKIP;
    ATTEST_TRY(attest_worker_declared(x->subject->worker, x->subject->index, &prepared->c.problem, &declared, err));
    if (!facts->differs)
        declared = (attest_declared){ .numerics = facts->numerics, .flags = facts->flags };
    attest_changed t = { .was = &prepared->c,
                         .inputs = prepared->inputs,
                         .outputs = outputs,
                         .numerics = declared.numerics,
                         .flags = declared.flags };
    status = attest_changed_make(&t, &applies, row ? row : &as_it_is, err);
    declared = (attest_declared){ .numerics = t.numerics, .flags = t.flags };
    if (status != ATTEST_OK || !applies ||
        !attest_declared_resolve(&declared, &t.c.problem, facts->outputs, why, sizeof why))
        goto out;
    ATTEST_TRY(attest_truth_new(&truth, &t.c.problem, t.in, ATTEST_ENGINE_AUTO, err));
    attest_result_init(&result);
    ATTEST_TRY(attest_compare(&result, truth, NULL, &t.c, t.out, &declared.numerics, declared.flags, 0, err));
    *verdict = result.verdict;
out:
    attest_truth_free(truth);
    attest_changed_clear(&t);
    return status;
}

/* A case that fails by what else it did (a wrong mask reads poison), or passes this time, cannot tell. */
static attest_status ask_functions(tried *x, const attest_result *result, const attest_prepared *prepared,
                                   const attest_bundle *outputs, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t verdict;
    ATTEST_TRY(judge(&verdict, x, prepared, outputs, NULL, err));
    const int fails = verdict == ATTEST_FAIL && (result->reasons & ~(int64_t)NUMBERS) == 0;
    for (size_t row = 0; row < attest_convention_count; row++) {
        if (attest_convention_table[row].declare || x->dead[row])
            continue;
        if (fails)
            ATTEST_TRY(judge(&verdict, x, prepared, outputs, &attest_convention_table[row], err));
        count_verdict(x, row, fails ? verdict : ATTEST_UNDECIDED);
    }
out:
    return status;
}

static attest_status ask_case(tried *x, const attest_result *result, const attest_case *c, const attest_bundle *given,
                              attest_error *err)
{
    const attest_subject *subject = x->subject;
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { .inputs = NULL };
    attest_bundle *bundle = NULL;
    attest_run_result run;
    attest_prepared borrowed = { .c = *c, .inputs = (attest_bundle *)(uintptr_t)given };
    const attest_prepared *at = given ? &borrowed : &prepared;
    if (!given)
        ATTEST_TRY(attest_prepare_inputs(&prepared, c, NULL, err));
    ATTEST_TRY(attest_case_bundle(&bundle, at, attest_worker_kernel(subject->worker, subject->index), err));
    ATTEST_TRY(attest_worker_run(subject->worker, subject->index, &c->problem, bundle, x->timeout_s, &run, err));
    x->lost |= run.state != ATTEST_RUN_DONE || run.status != ATTEST_OK;
    if (!x->lost)
        ATTEST_TRY(ask_functions(x, result, at, bundle, err));
out:
    attest_bundle_free(bundle);
    attest_prepared_clear(&prepared);
    return status;
}

/* ---- rows that declare ------------------------------------------------------------------------------------------- */
/* The whole case, as the gate judges it, by a worker whose kernel is taken to declare the words besides. */
static attest_status ask_declared(tried *x, size_t row, const attest_subject *subject, const attest_case *c,
                                  attest_bundle *given, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { .inputs = NULL };
    attest_result result;
    int supported = 0;
    if (given)
        ATTEST_TRY(attest_prepare_inputs(&prepared, c, given, err));
    else
        ATTEST_TRY(attest_prepare(&prepared, c, err));
    ATTEST_TRY(attest_run_case(&result, &supported, &prepared, subject, NULL, x->timeout_s, err));
    count_verdict(x, row, supported ? result.verdict : ATTEST_SKIP);
out:
    attest_prepared_clear(&prepared);
    return status;
}

/* A kernel that says it already is not asked; nor one that says other things of other problems. */
static int may_declare(const attest_convention *row, const attest_kernel_facts *facts)
{
    attest_kernel_facts with = *facts;
    attest_error none;
    return !facts->differs && attest_facts_assume(&with, row->declare, &none) == ATTEST_OK &&
           memcmp(&with, facts, sizeof with) != 0;
}

static int fits_before(const tried *x, size_t row, size_t least)
{
    for (size_t i = 0; i < row; i++)
        if (!x->dead[i] && x->passed[i] >= least && !attest_convention_table[i].arithmetic)
            return 1;
    return 0;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */
/* The failing cases of a group that are asked. */
typedef struct failing {
    size_t count;
    attest_result *result; /* [count] */
    attest_case *c;        /* [count] */
    const attest_bundle *given;
} failing;

static attest_status copy_bundle(attest_bundle **to, const attest_bundle *from, const attest_problem *p,
                                 attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_bundle_new(to, err));
    for (size_t i = 0; i < count; i++) {
        attest_tensor *t;
        ATTEST_TRY(attest_bundle_add(*to, p, ids[i], 0, &t, err));
        memcpy(t->data, attest_bundle_get(from, ids[i])->data, attest_tensor_bytes(t));
    }
out:
    if (status != ATTEST_OK) {
        attest_bundle_free(*to);
        *to = NULL;
    }
    return status;
}

static attest_status ask_row_declared(tried *x, size_t row, const failing *f, attest_worker *worker, attest_error *err)
{
    const attest_convention *convention = &attest_convention_table[row];
    attest_subject subject = *x->subject;
    attest_status status = ATTEST_OK;
    subject.worker = worker;
    ATTEST_TRY(attest_worker_assume(worker, subject.index, convention->declare, err));
    for (size_t i = 0; i < f->count && !x->dead[row]; i++) {
        attest_bundle *given = NULL;
        if (!(f->result[i].reasons & convention->reasons)) {
            x->dead[row] = 1;
            break;
        }
        if (f->given)
            ATTEST_TRY(copy_bundle(&given, f->given, &f->c[i].problem, err));
        ATTEST_TRY(ask_declared(x, row, &subject, &f->c[i], given, err));
    }
out:
    return status;
}

/* Rows with a declaration: each by a worker of its own; looser arithmetic only where nothing else fits. */
static attest_status ask_all_declared(tried *x, const failing *f, size_t least, attest_error *err)
{
    const attest_kernel_facts *facts = attest_worker_kernel(x->subject->worker, x->subject->index);
    attest_status status = ATTEST_OK;
    attest_worker *worker = NULL;
    for (size_t row = 0; row < attest_convention_count; row++) {
        const attest_convention *convention = &attest_convention_table[row];
        if (!convention->declare)
            continue;
        x->dead[row] = f->count == 0 || !(f->result[0].reasons & convention->reasons) ||
                       !may_declare(convention, facts) || (convention->arithmetic && fits_before(x, row, least));
        if (x->dead[row])
            continue;
        ATTEST_TRY(attest_worker_start(&worker, x->subject->library, x->timeout_s, err));
        if (x->subject->declare && *x->subject->declare)
            ATTEST_TRY(attest_worker_assume(worker, x->subject->index, x->subject->declare, err));
        ATTEST_TRY(ask_row_declared(x, row, f, worker, err));
        attest_worker_free(worker);
        worker = NULL;
    }
out:
    attest_worker_free(worker);
    return status;
}

static attest_status add_fits(attest_fit **list, size_t *count, const tried *x, const attest_fit *like, size_t least,
                              attest_error *err)
{
    for (size_t row = 0; row < attest_convention_count; row++) {
        const attest_convention *convention = &attest_convention_table[row];
        if (x->dead[row] || x->passed[row] < least || (convention->arithmetic && fits_before(x, row, least)))
            continue;
        attest_fit *more = realloc(*list, (*count + 1) * sizeof *more);
        if (!more)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for what fits");
        *list = more;
        more[*count] = *like;
        more[*count].declared = convention->declare != NULL;
        more[*count].passed = x->passed[row];
        more[*count].open = x->open[row];
        snprintf(more[*count].convention, sizeof more->convention, "%s", attest_convention_name(convention));
        ++*count;
    }
    return ATTEST_OK;
}

/* All rows on these cases; what fits, `least` passes or more, is added to the list. */
static attest_status ask_group(attest_fit **list, size_t *count, const failing *f, const attest_subject *subject,
                               double timeout_s, const attest_fit *like, size_t least, attest_error *err)
{
    attest_status status = ATTEST_OK;
    tried x = { .subject = subject, .timeout_s = timeout_s };
    if (attest_convention_count > ROWS)
        return attest_fail(err, ATTEST_INTERNAL, "%zu conventions, room for %d", attest_convention_count, ROWS);
    for (size_t i = 0; i < f->count && !x.lost; i++)
        ATTEST_TRY(ask_case(&x, &f->result[i], &f->c[i], f->given, err));
    if (x.lost)
        goto out;
    ATTEST_TRY(ask_all_declared(&x, f, least, err));
    ATTEST_TRY(add_fits(list, count, &x, like, least, err));
out:
    return status;
}

/* The failures of a group that are judged by numbers and are small enough. */
static attest_status read_group(failing *f, const attest_cause *cause, const attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t i = 0; i < cause->members; i++) {
        attest_result *r = &f->result[f->count];
        ATTEST_TRY(attest_results_get(r, results, cause->member[i], err));
        const double work = (double)r->b * (double)r->hq * (double)r->n * (double)r->m * (double)(r->d + r->e);
        if (r->verdict != ATTEST_FAIL || work > ATTEST_FIT_WORK)
            continue;
        ATTEST_TRY(attest_case_parse(&f->c[f->count], r->problem, NULL, NULL, err));
        f->count++;
    }
out:
    return status;
}

static attest_status ask_kernel(attest_fit **list, size_t *count, const attest_causes *causes,
                                const attest_results *results, const attest_subject *subject, double timeout_s,
                                attest_error *err)
{
    attest_status status = ATTEST_OK;
    failing f = { .count = 0 };
    f.result = calloc(ATTEST_CAUSE_MEMBERS, sizeof *f.result);
    f.c = calloc(ATTEST_CAUSE_MEMBERS, sizeof *f.c);
    if (!f.result || !f.c)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for failing cases"));
    for (size_t g = 0; g <= causes->count; g++) {
        const attest_cause *cause = g < causes->count ? &causes->cause[g] : &causes->rest;
        attest_fit like = { .failures = cause->of_failed, .all = causes->failed };
        snprintf(like.kernel, sizeof like.kernel, "%s", causes->kernel);
        snprintf(like.group, sizeof like.group, "%s", cause->text);
        f.count = 0;
        ATTEST_TRY(read_group(&f, cause, results, err));
        ATTEST_TRY(ask_group(list, count, &f, subject, timeout_s, &like, 2, err));
    }
out:
    free(f.result);
    free(f.c);
    return status;
}

/* The kernel of the plan with this name in results; kernel_count: none. */
static size_t find_kernel(const attest_gate *gate, const char *name)
{
    size_t k = 0;
    for (; k < gate->plan->kernel_count; k++) {
        const attest_subject subject = attest_gate_subject(gate, k);
        char is[512];
        attest_subject_name(is, sizeof is, &subject);
        if (strcmp(is, name) == 0)
            break;
    }
    return k;
}

attest_status attest_conventions_find(attest_fit **list, size_t *count, const attest_results *results,
                                      const attest_gate *gate, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_causes *causes = NULL;
    size_t kernels = 0;
    *list = NULL;
    *count = 0;
    ATTEST_TRY(attest_causes_find(&causes, &kernels, results, err));
    for (size_t n = 0; n < kernels && n < ATTEST_FIT_KERNELS; n++) {
        const size_t k = find_kernel(gate, causes[n].kernel);
        if (k == gate->plan->kernel_count)
            continue;
        attest_subject subject = attest_gate_subject(gate, k);
        if (attest_plan_start(&subject.worker, gate->plan, gate->plan->kernel[k].library, gate->options->timeout,
                              err) != ATTEST_OK)
            continue; /* its results say so */
        status = ask_kernel(list, count, &causes[n], results, &subject, gate->options->timeout, err);
        attest_worker_free(subject.worker);
        if (status != ATTEST_OK && status != ATTEST_IO && status != ATTEST_UNSUPPORTED)
            goto out;
        status = ATTEST_OK;
    }
out:
    free(causes);
    if (status != ATTEST_OK) {
        free(*list);
        *list = NULL;
        *count = 0;
    }
    return status;
}

attest_status attest_conventions_of_case(attest_fit **list, size_t *count, const attest_result *result,
                                         const attest_case *c, const attest_bundle *inputs,
                                         const attest_subject *subject, double timeout_s, attest_error *err)
{
    attest_result copy = *result;
    attest_case same = *c;
    const failing f = { .count = 1, .result = &copy, .c = &same, .given = inputs };
    attest_fit like = { .failures = 1, .all = 1 };
    const attest_problem *p = &c->problem;
    *list = NULL;
    *count = 0;
    snprintf(like.kernel, sizeof like.kernel, "%s", result->kernel);
    if (result->verdict != ATTEST_FAIL ||
        (double)p->b * (double)p->hq * (double)p->n * (double)p->m * (double)(p->d + p->e) > ATTEST_FIT_WORK)
        return ATTEST_OK;
    const attest_status status = ask_group(list, count, &f, subject, timeout_s, &like, 1, err);
    if (status != ATTEST_OK) {
        free(*list);
        *list = NULL;
        *count = 0;
    }
    return status == ATTEST_IO || status == ATTEST_UNSUPPORTED ? ATTEST_OK : status;
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */
static attest_status print_json(FILE *out, const attest_fit *fit)
{
    return attest_json_line(out, json_pack("{s:o,s:o,s:o,s:b,s:I,s:I,s:I}", "kernel", attest_json_text(fit->kernel),
                                           "would_pass_with", attest_json_text(fit->convention), "group",
                                           attest_json_text(fit->group), "declare", fit->declared, "failures",
                                           (json_int_t)fit->failures, "passed", (json_int_t)fit->passed, "open",
                                           (json_int_t)fit->open));
}

/* `KERNEL with mask=full: tested on 24 of 26 failures that have mask=causal, and all pass` */
static void tell_fit(char *text, size_t len, const attest_fit *fit)
{
    char which[160] = "", verdicts[64] = "all pass";
    if (*fit->group)
        snprintf(which, sizeof which, " that have %s", fit->group);
    else if (fit->failures < fit->all)
        snprintf(which, sizeof which, " that are in no group of the %zu", fit->all);
    if (fit->open)
        snprintf(verdicts, sizeof verdicts, "%zu pass, %zu cannot tell", fit->passed, fit->open);
    const int used = snprintf(text, len, "%s with %s%s%s: tested on ", fit->kernel, fit->declared ? "--declare '" : "",
                              fit->convention, fit->declared ? "'" : "");
    if (fit->all == 1)
        snprintf(text + used, len - (size_t)used, "this case alone");
    else
        snprintf(text + used, len - (size_t)used, "%zu of %zu failures%s, and %s", fit->passed + fit->open,
                 fit->failures, which, verdicts);
}

void attest_conventions_keep(attest_run_info *run, const attest_fit *list, size_t count)
{
    const size_t most = sizeof run->would_pass - 32; /* room to say how many more */
    size_t used = 0;
    *run->would_pass = '\0';
    for (size_t i = 0; i < count; i++) {
        char text[1024];
        tell_fit(text, sizeof text, &list[i]);
        if (used + strlen(text) + 3 > most) {
            snprintf(run->would_pass + used, sizeof run->would_pass - used, "%sand %zu more", i ? " | " : "",
                     count - i);
            return;
        }
        used += (size_t)snprintf(run->would_pass + used, sizeof run->would_pass - used, "%s%s", i ? " | " : "", text);
    }
}

attest_status attest_conventions_print(FILE *out, const attest_fit *list, size_t count, int json, attest_error *err)
{
    for (size_t i = 0; i < count; i++) {
        char text[1024];
        tell_fit(text, sizeof text, &list[i]);
        if (!json)
            fprintf(out, "would pass: %s\n", text);
        else if (print_json(out, &list[i]) != ATTEST_OK)
            return attest_print_failed(err, "what would pass");
    }
    return ATTEST_OK;
}
