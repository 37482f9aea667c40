/* study_private.h - a study's row, its grid, and a run of it; for the files of this room. */
#ifndef ATTEST_STUDY_PRIVATE_H
#define ATTEST_STUDY_PRIVATE_H

#include "verify/gate/gate.h"
#include "reports/charts/charts.h"
#include "verify/study/study.h"

#define STUDY_VALUES 4096    /* of an axis */
#define STUDY_POINTS 1000000 /* of a grid, kernels and seeds counted */
#define STUDY_SERIES 128

/* ---- axes -------------------------------------------------------------------------------------------------------- */
typedef struct study_value {
    char text[ATTEST_FAMILY]; /* as it stands in a problem line */
    double number;            /* of a type its unit roundoff; NAN of other words */
} study_value;

typedef struct study_list {
    study_value *value; /* [count]; NULL: the study has not this axis */
    size_t count;
} study_list;

#define STUDY_NO_TYPE UINT32_MAX
/* The type of this name, or STUDY_NO_TYPE. */
uint32_t study_type(const char *text, size_t len);

/* Reads a list.  ATTEST_BAD_INPUT: `--ranges=x: what is allowed`. */
attest_status study_list_read(study_list *list, attest_study_axis axis, const char *text, attest_error *err);

/* ---- the grid ---------------------------------------------------------------------------------------------------- */
typedef struct study_grid {
    const attest_study *study;
    study_list list[ATTEST_STUDY_AXES];
    struct study_point *point;
    size_t count;
} study_grid;

typedef struct study_point {
    size_t number;                /* in the grid */
    size_t at[ATTEST_STUDY_AXES]; /* which value of each axis */
    char series[STUDY_SERIES];    /* without the kernel; its first word is the panel */
    char line[ATTEST_LINE];       /* without seed; without scale where that depends on the inputs */
    double abscissa;              /* NAN: measured */
    double work;                  /* products of the truth, roughly */
    double states;                /* numbers of a full state, times tokens; 0: none */
} study_point;

const char *study_text(const study_grid *grid, const study_point *p, attest_study_axis axis);
double study_number(const study_grid *grid, const study_point *p, attest_study_axis axis);

/* Every combination, the last axis of the study's nest innermost.  Each line is parsed: what cannot be is
 * ATTEST_BAD_INPUT. */
attest_status study_grid_make(study_grid *grid, const attest_study_request *request, attest_error *err);
void study_grid_clear(study_grid *grid);

/* ---- a run ------------------------------------------------------------------------------------------------------- */
typedef struct study_run {
    const attest_study_request *request;
    study_grid grid;
    attest_plan plan; /* of the kernels; none of a study of the reference alone */
    size_t kernels;   /* at least 1 */
    char hash[20];    /* of the request: who resumes must have the same */
    char date[32];
    size_t *slot; /* [kernels*grid.count] index in results + 1; 0: not yet; SIZE_MAX: refused */
    attest_results *results;
    attest_study_end *end;
    double started;
} study_run;

/* What one thread owns: a worker a library, started when first asked. */
typedef struct study_thread {
    attest_worker **worker; /* [plan.library_count] */
} study_thread;

/* One seed of one point on all kernels. */
typedef struct study_answer {
    attest_result result;
    int served; /* 0: `why` says why not */
    char why[256];
} study_answer;

/* Answers answer[kernels] of those whose slot is 0. */
typedef attest_status study_measure(study_answer *answer, study_run *run, study_thread *thread, const study_point *p,
                                    uint64_t seed, attest_error *err);

/* ---- a study ----------------------------------------------------------------------------------------------------- */
#define STUDY_COLUMNS 10

typedef struct study_column {
    attest_column column;
    void (*cell)(attest_table *table, const attest_result *r);
} study_column;

struct attest_study {
    const char *name, *sentence;
    const char *abscissa, *ordinate, *series;  /* what they are, in words */
    const char *kernels;                       /* default glob; NULL: no kernel runs */
    const char *axis[ATTEST_STUDY_AXES];       /* default values; NULL: not an axis of this study */
    attest_study_axis nest[ATTEST_STUDY_AXES]; /* outermost first, SEEDS ends it; the one before is the abscissa */
    uint32_t own;       /* axes that `line` or `label` writes: set of 1 << axis; the others are appended */
    int kernel_is_line; /* 1: the series ends in the kernel's name always, 0: where there are several */
    void (*line)(char *line, size_t len, const study_grid *grid, const study_point *p);
    void (*label)(char *series, size_t len, const study_grid *grid, const study_point *p);
    study_measure *measure;
    /* NULL, or measures the whole grid at once (times, which are taken side by side) in place of `measure`. */
    attest_status (*all)(study_run *run, attest_error *err);
    double (*ordinate_of)(const attest_result *r);
    /* Of study_measure_o: NULL, or makes a problem the one with which o is compared too (result->truncation). */
    void (*against)(attest_problem *p);
    /* NULL, or what is noted in results once all are there. */
    attest_status (*mark)(attest_results *results, attest_error *err);
    study_column column[STUDY_COLUMNS];
    /* NULL, or what is said below the table. */
    attest_status (*below)(FILE *out, attest_table_format format, const attest_results *results, attest_error *err);
    attest_status (*chart)(const attest_results *results, const char *path, attest_error *err);
};

/* study_measure.c: as the gate runs a case; the weights of one row.  study_kernels.c: o alone; one row of it.
 * study_state.c: the model of a state. */
study_measure study_measure_case, study_measure_weights, study_measure_o, study_measure_position, study_measure_state;

/* What a judge of this room has: the kernel that ran, and of study position the row; -1. */
typedef struct study_judged {
    attest_subject subject;
    int64_t position;
} study_judged;

/* The case of this seed: a family that takes no range reaches it by the scale. */
attest_status study_case_of(attest_case *c, const study_run *run, const study_point *p, uint64_t seed,
                            attest_error *err);
/* pass, partial and no-evidence become measured; the rest stays. */
void study_plain_verdict(attest_result *r);

/* An attest_judge of o alone; context: a study_judged. */
attest_status study_judge_o(void *context, attest_result *result, attest_prepared *prepared,
                            const attest_bundle *outputs, attest_error *err);

/* The worker of kernel k in this thread, as a subject. */
attest_status study_subject(attest_subject *subject, study_run *run, study_thread *thread, size_t k, attest_error *err);

/* What a result says beside its numbers: suite, run, hash, point, seed and what the line says. */
void study_describe(attest_result *r, const study_run *run, const study_point *p, size_t k);

/* Adds the result of (kernel k, point) and notes where it lies.  One call at a time. */
attest_status study_add(study_run *run, size_t k, const study_point *p, const attest_result *r, attest_error *err);
/* The kernel does not serve the point. */
void study_refuse(study_run *run, size_t k, const study_point *p, const char *why);
/* 1 once the run is to end; says why in run->end. */
int study_ends(study_run *run);

/* On a terminal: how far it is. */
void study_progress(const study_run *run);

/* study_spread.c: one result of the answers of `count` seeds. */
void study_spread(attest_result *to, const attest_study *study, study_answer *const *answer, size_t count);

/* study_columns.c: cells of tables. */
void study_cell_series(attest_table *table, const attest_result *r);
void study_cell_range(attest_table *table, const attest_result *r);
void study_cell_order(attest_table *table, const attest_result *r);
void study_cell_abscissa(attest_table *table, const attest_result *r);
void study_cell_truncation(attest_table *table, const attest_result *r);
void study_cell_rounding(attest_table *table, const attest_result *r);
void study_cell_ordinate(attest_table *table, const attest_result *r);
void study_cell_spread(attest_table *table, const attest_result *r);
void study_cell_kernel(attest_table *table, const attest_result *r);
void study_cell_time(attest_table *table, const attest_result *r);
void study_cell_total(attest_table *table, const attest_result *r);
void study_cell_short_truncation(attest_table *table, const attest_result *r);
void study_cell_short_rounding(attest_table *table, const attest_result *r);
void study_cell_front(attest_table *table, const attest_result *r);
void study_cell_verdict(attest_table *table, const attest_result *r);

/* study_state.c: from which length on each series takes up less than half. */
attest_status study_state_below(FILE *out, attest_table_format format, const attest_results *results,
                                attest_error *err);

/* study_fits.c: slopes of the series on log-log paper, as a table. */
attest_status study_fits_orders(FILE *out, attest_table_format format, const attest_results *results,
                                attest_error *err);
attest_status study_fits_growth(FILE *out, attest_table_format format, const attest_results *results,
                                attest_error *err);

#endif
