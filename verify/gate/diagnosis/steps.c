/* steps.c - see steps.h. */
#include "verify/gate/diagnosis/steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

attest_status attest_steps_row(attest_row *row, const char *text, const char *worst, const attest_problem *p,
                               attest_error *err)
{
    char rest;
    *row = (attest_row){ 0, 0, 0 };
    if (!text) {
        if (sscanf(worst, "%*[a-z][%" SCNd64 ",%" SCNd64 ",%" SCNd64, &row->b, &row->h, &row->i) != 3)
            *row = (attest_row){ 0, 0, 0 };
    } else if (sscanf(text, "%" SCNd64 ",%" SCNd64 ",%" SCNd64 "%c", &row->b, &row->h, &row->i, &rest) != 3) {
        row->b = row->h = 0;
        if (sscanf(text, "%" SCNd64 "%c", &row->i, &rest) != 1)
            return attest_fail(err, ATTEST_BAD_INPUT, "--rows=%s: I, or B,H,I", text);
    }
    if (row->b < 0 || row->b >= p->b || row->h < 0 || row->h >= p->hq || row->i < 0 || row->i >= p->n)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "--rows=%s: b, hq and n of the case are %" PRId64 ", %" PRId64 " and %" PRId64,
                           text ? text : worst, p->b, p->hq, p->n);
    return ATTEST_OK;
}

/* `1.25 +- 3e-40`; `-`: there is none. */
static void print_interval(FILE *out, attest_interval x)
{
    if (isnan(x.lo))
        fprintf(out, "%30s", "-");
    else
        fprintf(out, "%22.15g +- %.1g", x.lo / 2 + x.hi / 2, x.hi / 2 - x.lo / 2);
}

/* A number of the kernel behind the truth, where there is one. */
static void print_got(FILE *out, const attest_bundle *outputs, attest_role role, attest_row at, int64_t c,
                      attest_interval truth)
{
    const attest_tensor *t = outputs ? attest_bundle_role(outputs, role) : NULL;
    if (t) {
        const double got = attest_load(t, attest_offset(t, at.b, at.h, at.i, t->rank == 4 ? c : 0));
        fprintf(out, "   kernel %.9g, off by %.2g", got, got - (truth.lo / 2 + truth.hi / 2));
    }
    fputc('\n', out);
}

static void print_row(FILE *out, const attest_problem *p, const attest_steps *steps, const attest_bundle *outputs,
                      attest_row at)
{
    fprintf(out, "\nrow b=%" PRId64 " h=%" PRId64 " i=%" PRId64 ", by the truth; %s\n", at.b, at.h, at.i,
            outputs ? "a kernel gives no scores and weights, only what stands behind `kernel`"
                    : "the kernel ended badly and gives nothing");
    for (int64_t j = 0; j < p->m; j++) {
        if (isnan(steps->s[j].lo))
            continue;
        fprintf(out, "key %-6" PRId64 " s", j);
        print_interval(out, steps->s[j]);
        fputs("   w", out);
        print_interval(out, steps->w[j]);
        if (steps->z.lo > 0)
            fprintf(out, "   w/z %.6g",
                    (steps->w[j].lo / 2 + steps->w[j].hi / 2) / (steps->z.lo / 2 + steps->z.hi / 2));
        fputc('\n', out);
    }
    fputs("z         ", out);
    print_interval(out, steps->z);
    print_got(out, outputs, ATTEST_Z, at, 0, steps->z);
    fputs("lse       ", out);
    print_interval(out, steps->lse);
    print_got(out, outputs, ATTEST_LSE, at, 0, steps->lse);
    for (int64_t c = 0; c < p->e; c++) {
        fprintf(out, "c %-6" PRId64 "u ", c);
        print_interval(out, steps->u[c]);
        print_got(out, outputs, ATTEST_U, at, c, steps->u[c]);
        fputs("         o ", out);
        print_interval(out, steps->o[c]);
        print_got(out, outputs, ATTEST_O, at, c, steps->o[c]);
    }
}

attest_status attest_steps_print(FILE *out, attest_prepared *prepared, const attest_subject *subject, attest_row at,
                                 double timeout_s, attest_error *err)
{
    const attest_problem *p = &prepared->c.problem;
    attest_status status = ATTEST_OK;
    attest_bundle *bundle = NULL;
    attest_run_result run;
    attest_steps steps = { .s = calloc((size_t)p->m, sizeof *steps.s),
                           .w = calloc((size_t)p->m, sizeof *steps.w),
                           .u = calloc((size_t)p->e, sizeof *steps.u),
                           .o = calloc((size_t)p->e, sizeof *steps.o) };
    if (!steps.s || !steps.w || !steps.u || !steps.o)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for the steps of a row"));
    ATTEST_TRY(attest_truth_steps(&steps, prepared->truth, at, err));
    ATTEST_TRY(attest_case_bundle(&bundle, prepared, attest_worker_kernel(subject->worker, subject->index), err));
    ATTEST_TRY(attest_worker_run(subject->worker, subject->index, p, bundle, timeout_s, &run, err));
    print_row(out, p, &steps, run.state == ATTEST_RUN_DONE && run.status == ATTEST_OK ? bundle : NULL, at);
out:
    attest_bundle_free(bundle);
    free(steps.s);
    free(steps.w);
    free(steps.u);
    free(steps.o);
    return status;
}
