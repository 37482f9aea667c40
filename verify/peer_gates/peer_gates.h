/* peer_gates.h - the gates of other projects' tests, on the inputs of those tests: what would they have let
 * through?
 *
 * A gate is one row: its rule (which numbers it compares, with which tolerance) and its law (a built-in suite that
 * draws as that project's tests do, verify/suites/NAME.suite; the sources stand there).  Every planted defect runs
 * every case of the law that its base kernel serves, and the rule alone decides.  The expected values that a rule
 * needs are the truth, rounded once to the output's type: those projects compute them in float or double, so this
 * favours their gates.
 */
#ifndef ATTEST_PEER_H
#define ATTEST_PEER_H

#include "verify/defects/defects.h"

/* One output of one run, element by element. */
typedef struct attest_peer_sample {
    int64_t count;
    const double *got, *want; /* want: the truth, rounded to dtype */
    const double *plain;      /* rules with `plain`: the unfused low-precision result (peer_gates_plain.h); else NULL */
    const double *magnitude;  /* rules with `magnitude`: sum_j p_ij |v_jc|, rounded to f32; else NULL */
    uint32_t dtype;           /* of the output */
    int64_t keys;             /* m */
    int softmax;              /* weight=exp; else linear, decayed or delta */
} attest_peer_sample;

enum { ATTEST_PEER_NUMBERS = 2 };

typedef struct attest_peer_rule {
    const char *name;
    const char *suite;  /* its law */
    const char *syntax; /* what follows NAME=, or NULL */
    int number_count;
    double customary[ATTEST_PEER_NUMBERS]; /* NAN: the usual one of the output's type */
    uint32_t outputs;                      /* ATTEST_GIVES_*: what those tests look at */
    int plain, magnitude;
    /* 1 if the project's test fails on this output, as it does on NaN and on infinities there. */
    int (*refuses)(const attest_peer_sample *sample, const double numbers[ATTEST_PEER_NUMBERS]);
    const char *metric, *source;
} attest_peer_rule;

extern const attest_peer_rule attest_peer_rules[];
enum { ATTEST_PEER_COUNT = 5 };

/* A rule with its numbers, and what came out. */
typedef struct attest_peer_gate {
    const attest_peer_rule *rule;
    double number[ATTEST_PEER_NUMBERS];
    int64_t cases;                 /* of its law */
    int64_t correct, refused;      /* runs of correct kernels, and how many of them the rule refused */
    attest_defect_result *defects; /* [attest_defect_count]; killed = refused or ended; NULL before the run */
} attest_peer_gate;

/* `all`, or NAME or NAME=NUMBERS of one rule; *count gates, nothing run yet.  ATTEST_BAD_INPUT lists what is
 * allowed. */
attest_status attest_peer_parse(attest_peer_gate gates[ATTEST_PEER_COUNT], size_t *count, const char *text,
                                attest_error *err);

/* Runs the defects that cli selects, of library `plugin`, and their base kernels under the gate: fills all but rule and
 * numbers.  The same for any number of threads. */
attest_status attest_peer_run(attest_peer_gate *gate, const attest_options *options, const char *plugin,
                              attest_error *err);
void attest_peer_clear(attest_peer_gate *gates, size_t count);

/* What a gate made of a defect. */
typedef enum attest_peer_outcome {
    ATTEST_PEER_CAUGHT,    /* refused in a run */
    ATTEST_PEER_PASSED,    /* other bits than the correct kernel's in a run, and never refused */
    ATTEST_PEER_UNSEEN,    /* the correct kernel's bits in every run: the law does not reach the wrong step */
    ATTEST_PEER_STOPPED,   /* no run left an output: all died on the guard pages that only attest has, or late */
    ATTEST_PEER_UNCOVERED, /* no case of the law that the base kernel serves, and that the rule lets it pass */
    ATTEST_PEER_OUTCOMES
} attest_peer_outcome;
attest_peer_outcome attest_peer_outcome_of(const attest_defect_result *result);

/* The escape table of the defects that cli selects: a row per defect, a column per gate; with `own` a last column,
 * attest's on suite `suite`.  Text, Markdown, JSON (one object per line: the gates, then the defects). */
typedef struct attest_peer_table {
    const attest_options *options;
    const attest_peer_gate *gates;
    size_t count;
    const attest_defect_result *own; /* or NULL */
    const char *suite;
} attest_peer_table;
void attest_peer_print(FILE *out, const attest_peer_table *table);
void attest_peer_markdown(FILE *out, const attest_peer_table *table);
void attest_peer_json(FILE *out, const attest_peer_table *table);

#endif
