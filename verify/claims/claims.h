/* claims.h - the ledger of the papers' mathematical statements: a table of descriptors, each checked with numbers.
 *
 * Answers whether each statement of the papers holds, with figures. Touches no kernel and no worker.
 *
 * A claim's check function puts named figures into a finding and concludes from them; it never says a verdict that
 * its figures did not decide.  The verdict each row must have is committed in its descriptor.  Ids C1, C2, ... follow
 * from the order of the sources and of the rows in them.  No kernel is run.
 */
#ifndef ATTEST_CLAIMS_H
#define ATTEST_CLAIMS_H

#include <stdio.h>

#include "kernels/problem/problem.h"
#include "reference/evidence/evidence.h"

typedef enum attest_claim_verdict {
    ATTEST_CLAIM_HOLDS = 0,
    ATTEST_CLAIM_HOLDS_IF = 1, /* under the descriptor's condition, and the figures show a case without it that fails */
    ATTEST_CLAIM_FALSE = 2,
    ATTEST_CLAIM_NOT_CHECKABLE = 3 /* results of training runs and the like: no check function */
} attest_claim_verdict;

#define ATTEST_FIGURES 48

typedef struct attest_figure {
    char name[56];
    attest_span value; /* lo = hi: exact, or a count */
} attest_figure;

typedef struct attest_claim_finding {
    attest_figure figures[ATTEST_FIGURES];
    size_t count;
    uint32_t verdict;
    int concluded;
} attest_claim_finding;

typedef struct attest_statement attest_statement;
typedef attest_status (*attest_claim_check)(attest_claim_finding *finding, const attest_statement *claim,
                                            attest_error *err);

struct attest_statement {
    const char *statement; /* in our words; in quotes '' the source's */
    const char *section;   /* of the source; "ours, to SECTION" where the source does not say it */
    const char *how;
    uint32_t expected;     /* attest_claim_verdict */
    const char *condition; /* of `holds if`; NULL for the others */
    attest_claim_check check;
    const void *data; /* what the statement prints: tables, constants; NULL where it needs none */
};

typedef struct attest_claim_source {
    const char *file;
    const attest_statement *claims;
    size_t count;
} attest_claim_source;

extern const attest_claim_source *const attest_claim_sources[];
extern const size_t attest_claim_source_count;
extern const attest_claim_source attest_claims_expressiveness, attest_claims_denominator, attest_claims_series,
    attest_claims_theory, attest_claims_summary, attest_claims_note, attest_claims_note_filter, attest_claims_sla,
    attest_claims_tutorial_tables, attest_claims_tutorial_costs, attest_claims_tutorial_forms,
    attest_claims_updates_retnet, attest_claims_updates_mamba, attest_claims_updates_gla, attest_claims_updates_delta,
    attest_claims_updates_rwkv, attest_claims_recurrent, attest_claims_norms, attest_claims_note_accuracy,
    attest_claims_sla_tables, attest_claims_tutorial_noise;

/* ---- inside a check ---------------------------------------------------------------------------------------------- */
void attest_note(attest_claim_finding *finding, const char *name, double value);
void attest_note_span(attest_claim_finding *finding, const char *name, attest_span value);
/* `name compared`, `name different`; with `apart`: also the lower bound of the largest difference. */
void attest_note_match(attest_claim_finding *finding, const char *name, const attest_match *match, int apart);
/* Encloses a formula (attest_evidence_value), notes it under `name`, returns it in *value (or NULL). */
attest_status attest_note_value(attest_claim_finding *finding, attest_span *value, const char *name, attest_error *err,
                                const char *formula, ...) __attribute__((format(printf, 5, 6)));
/* holds if as_written; else `holds if` if under_condition; else false. */
void attest_conclude(attest_claim_finding *finding, int as_written, int under_condition);
/* *equal = 1: at least `least` > 0 values compared, none different, all of them rationals or enclosures that leave
 * 2^-100; 0: some surely differ.  ATTEST_INTERNAL where the comparisons decide neither. */
attest_status attest_match_decide(int *equal, const attest_match *match, int64_t least, attest_error *err);

/* ---- the ledger -------------------------------------------------------------------------------------------------- */
typedef struct attest_claim_row {
    char id[32];
    const char *file;
    const attest_statement *claim;
    attest_claim_finding finding;
} attest_claim_row;

typedef struct attest_ledger {
    attest_claim_row *rows;
    size_t count;
} attest_ledger;

/* Runs the rows of the sources in order; a check that fails is an error that names the row. */
attest_status attest_ledger_run(attest_ledger *ledger, const attest_claim_source *const *sources, size_t count,
                                attest_error *err);
void attest_ledger_free(attest_ledger *ledger);

/* `holds`, `holds if z != 0`, `false as written`, `not checkable here`. */
void attest_claim_verdict_text(char *text, size_t len, uint32_t verdict, const char *condition);

/* 0 if every verdict is the expected one; else 1 and a line for each other row on `talk`. */
int attest_ledger_exit(const attest_ledger *ledger, FILE *talk);
/* Rows with at least one figure and a verdict other than `not checkable here`. */
size_t attest_ledger_checked(const attest_ledger *ledger);

/* A title, what the verdicts mean, totals; then one Markdown table, first column the id. */
void attest_ledger_markdown(FILE *out, const attest_ledger *ledger);
/* A JSON array of objects: claim statement source how figures verdict expected; a figure is a named number; an
 * enclosure wider than a double is two, `NAME lo` and `NAME hi`. */
attest_status attest_ledger_json(FILE *out, const attest_ledger *ledger, attest_error *err);

/* `attest list claims`: id, expected verdict, statement, source of every row; nothing is run. */
void attest_claims_list(FILE *out);

#endif
