/* study_state.c - study state: when a state kept in few bits no longer takes up what is written to it.
 *
 * No kernel: the state S += k_t^T v_t of linear attention (one head, no decay) is computed here as one would that
 * keeps it in a type T: each entry is rounded to T, to nearest even, after every token; product and sum are exact
 * before it (in double, whose 2^-53 is far below T's roundoff).  The exact state is the same sum in double.  Figures,
 * in no proof.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "verify/study/study_private.h"

typedef struct model {
    double kept, exact, size; /* S in T; S; sum of |k v| */
} model;

/* Writes k v; 1 if the entry is another number than before. */
static int write_entry(model *m, uint32_t type, double k, double v)
{
    const double before = m->kept;
    m->exact += k * v;
    m->size += fabs(k * v);
    m->kept = attest_to_f64(type, attest_from_f64(type, before + k * v));
    return m->kept != before;
}

static attest_status run_model(attest_result *r, const attest_problem *p, const attest_bundle *in, uint32_t type,
                               attest_error *err)
{
    const attest_tensor *k = attest_bundle_role(in, ATTEST_K), *v = attest_bundle_role(in, ATTEST_V);
    int64_t written = 0, taken = 0;
    model *m = calloc((size_t)(p->d * p->e), sizeof *m);
    if (!m)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a state");
    for (int64_t t = 0; t < p->m; t++)
        for (int64_t a = 0; a < p->d; a++)
            for (int64_t c = 0; c < p->e; c++) {
                const double x = attest_load(k, t * p->d + a), y = attest_load(v, t * p->e + c);
                const int changed = write_entry(&m[a * p->e + c], type, x, y);
                written += 2 * t >= p->m && x * y != 0;
                taken += 2 * t >= p->m && x * y != 0 && changed;
            }
    r->rounding = 0;
    for (int64_t i = 0; i < p->d * p->e; i++)
        r->rounding = fmax(r->rounding, fabs(m[i].kept - m[i].exact) / m[i].size);
    r->ordinate = written ? (double)taken / (double)written : (double)NAN;
    free(m);
    return ATTEST_OK;
}

attest_status study_measure_state(study_answer *answer, study_run *run, study_thread *thread, const study_point *p,
                                  uint64_t seed, attest_error *err)
{
    (void)thread;
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { 0 };
    attest_result *r = &answer->result;
    attest_case c;
    const char *type = study_text(&run->grid, p, ATTEST_STUDY_IN);
    attest_result_init(r);
    ATTEST_TRY(study_case_of(&c, run, p, seed, err));
    ATTEST_TRY(attest_prepare_inputs(&prepared, &c, NULL, err));
    attest_result_describe(r, &prepared.c, prepared.line, prepared.hash);
    ATTEST_TRY(run_model(r, &c.problem, prepared.inputs, study_type(type, strlen(type)), err));
    r->verdict = ATTEST_MEASURED;
    answer->served = 1;
out:
    attest_prepared_clear(&prepared);
    return status;
}

/* ---- where it stops ---------------------------------------------------------------------------------------------- */
/* The series that begins at `start`: how many points, and the least N whose ordinate is below one half; 0: none. */
static attest_status read_series(size_t *count, double *stops, attest_result *last, const attest_results *results,
                                 size_t start, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result r;
    *stops = 0;
    for (*count = 0; start + *count < results->count; ++*count) {
        ATTEST_TRY(attest_results_get(&r, results, start + *count, err));
        if (*count > 0 && strcmp(r.series, last->series) != 0)
            return ATTEST_OK;
        *last = r;
        if (r.ordinate < 0.5 && *stops == 0)
            *stops = r.abscissa;
    }
out:
    return status;
}

attest_status study_state_below(FILE *out, attest_table_format format, const attest_results *results, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "series", .flags = ATTEST_COLUMN_FIT },
        { .head = "takes up less than half from", .flags = ATTEST_COLUMN_FIT },
        { .head = "lost at the longest", .flags = ATTEST_COLUMN_FIT | ATTEST_COLUMN_RIGHT },
    };
    attest_status status = ATTEST_OK;
    attest_result last;
    attest_table table;
    double stops;
    fputc('\n', out);
    attest_table_begin(&table, out, format, columns, sizeof columns / sizeof columns[0]);
    for (size_t start = 0, count; start < results->count; start += count) {
        ATTEST_TRY(read_series(&count, &stops, &last, results, start, err));
        attest_table_cell(&table, "%s", last.series);
        attest_table_cell(&table, stops > 0 ? "N=%.0f" : "not up to N=%.0f", stops > 0 ? stops : last.abscissa);
        attest_table_cell(&table, "%.1e", last.rounding);
    }
    status = attest_table_end(&table, err);
out:
    return status;
}
