/* gate_private.h - inside verify/gate: what a run knows of its results while it goes. */
#ifndef ATTEST_GATE_PRIVATE_H
#define ATTEST_GATE_PRIVATE_H

#include <math.h>

#include "verify/gate/gate.h"

#define ATTEST_NO_KERNEL UINT32_MAX

/* One result, beside the list. */
typedef struct attest_gate_entry {
    uint32_t of_case, kernel; /* numbers in suite and plan; ATTEST_NO_KERNEL: of a whole kernel, library or run */
    uint32_t variant;
    int good; /* attest_result_judged_good() */
} attest_gate_entry;

/* A variant of one kernel. */
typedef struct attest_gate_variant {
    uint32_t kernel;
    int evidence; /* some case of it can tell right from wrong */
    char name[64];
} attest_gate_variant;

typedef struct attest_gate_state {
    const attest_gate *gate;
    attest_run_info *info;
    attest_results *results;
    attest_gate_entry *entry; /* [results->count]: of each, in the same order */
    size_t capacity;
    attest_gate_variant *variant;
    size_t variant_count;
    unsigned char *ended; /* [cases][kernels]: 1 result, 2 refused; 4 while the run goes: once more when it is alone */
    int alone;            /* 1: the pairs that wait for that are run, one at a time */
    double started;
    size_t done;          /* cases whose kernels have all been asked */
    int twice;            /* pairs that ended more than once */
    attest_status status; /* first error of ours */
    attest_error err;
} attest_gate_state;

static inline unsigned char *attest_gate_ended(const attest_gate_state *g, size_t index, size_t kernel)
{
    return &g->ended[index * g->gate->plan->kernel_count + kernel];
}

/* When --max-time is over, by attest_now_seconds(), for what is done before attest_gate_run(). */
static inline double attest_gate_until(const attest_gate *gate)
{
    const double limit = gate->options->max_time;
    return limit >= 0 && gate->began > 0 ? gate->began + limit : HUGE_VAL;
}

/* Kernels that run side by side: --jobs, or the processors. */
long attest_gate_threads(const attest_gate *gate);

static inline int attest_gate_is_drawn(const attest_suite *suite, size_t index)
{
    return index >= suite->case_count - suite->drawn;
}

/* Adds a result: to the file and the entries (or gives it to gate->take).  One thread at a time. */
attest_status attest_gate_add(attest_gate_state *g, size_t index, uint32_t kernel, attest_result *result,
                              attest_error *err);
/* Of results that are in the list already (a run that is resumed): their entries.  ATTEST_BAD_INPUT: one is of no case
 * or kernel of this run. */
attest_status attest_gate_take_over(attest_gate_state *g, attest_error *err);

/* A crash of library `l`, whose worker could not be had: `why`. */
attest_status attest_gate_library_failed(attest_gate_state *g, size_t l, const char *why, attest_error *err);

/* Nothing more is begun, for this reason, if there is no earlier one. */
void attest_gate_end(attest_gate_state *g, const char *why);

/* 1: nothing more is to be begun; info->ended says why, unless an error does. */
int attest_gate_stopped(attest_gate_state *g);

/* After a suite: picks the few cases of each kernel that repeat_checks.h is asked of.  One for many calls, the smallest
 * that has more than one query and key; and three for threads, the largest below ATTEST_THREADS_WORK, of different
 * variants where there are.  Only cases that passed, are partial, or ill-posed by leave.  Results that are found wrong
 * are replaced; they are in the order of their cases.  What ends a run ends it here too, between two kernels. */
attest_status attest_gate_repeats(attest_gate_state *g, attest_error *err);

/* What is done with the results once every case has run, or something ended the run before: counts, order, repeated
 * calls, evidence, kernels that served nothing, libraries that could not be loaded. */
attest_status attest_gate_finish(attest_gate_state *g, attest_error *err);

/* Appends the options of a command that is an audit of the subject: attest_subject_options(), and ` --suite NAME`. */
void attest_gate_audit_options(char *command, size_t room, const attest_subject *subject);

#endif
