/* claims_tables.h - checks that are a table: a claim's data lists comparisons, each counted over seeds 0..cases-1.
 *
 * An entry is `written` (what the source prints), `meant` (under the condition) or an `aside` (the reading said to be
 * right where the printed one is false: it must match, else the check is an error).  holds: every written entry has no
 * difference; holds if: every meant one (and there is one); false: some written entry has one.  Comparisons that decide
 * neither (too few, too wide) are an error.  All are of exact rationals unless the entry says `enclosed`.
 */
#ifndef ATTEST_CLAIMS_TABLES_H
#define ATTEST_CLAIMS_TABLES_H

#include "verify/claims/claims_case.h"

/* A row about the results of training runs, which are not made here. */
#define CLAIM_TRAINED(statement, section)                                                                              \
    {                                                                                                                  \
        statement, section, "needs the paper's training runs", ATTEST_CLAIM_NOT_CHECKABLE, NULL, NULL, NULL            \
    }

typedef enum claim_part { CLAIM_WRITTEN = 0, CLAIM_MEANT = 1, CLAIM_ASIDE = 2 } claim_part;

/* A published rule (reference/evidence/evidence.h) against the truth of a line. */
typedef struct claim_rule {
    const char *name; /* of the figures; NULL ends the list */
    const char *line;
    const char *rule;
    int64_t number;
    const attest_rule_extra *extra;
    int cases;
    int part; /* claim_part */
} claim_rule;
attest_status claim_check_rules(attest_claim_finding *finding, const attest_statement *claim, attest_error *err);

/* The same for rules that carry one state from token to token; also the numbers of that state (ht.1) of every line: the
 * claim holds if each rule gives the outputs from a state of one and the same size. */
attest_status claim_check_constant_state(attest_claim_finding *finding, const attest_statement *claim,
                                         attest_error *err);

typedef enum claim_rows { CLAIM_ALL_ROWS = 0, CLAIM_FIRST_ROW = 1, CLAIM_LAST_ROW = 2 } claim_rows;

/* Rows of one output of two lines on the same drawn inputs. */
typedef struct claim_pair {
    const char *name;
    const char *one, *two;
    attest_role role;
    int rows;     /* claim_rows */
    int enclosed; /* irrational: every difference must be below 2^-100 */
    int cases;
    int part;
} claim_pair;
attest_status claim_check_pairs(attest_claim_finding *finding, const attest_statement *claim, attest_error *err);

/* An identity of reference/identities/identities.h. */
typedef struct claim_identity {
    const char *name; /* of the figures; NULL ends the list */
    const char *identity;
    const char *variant;
    int cases;
} claim_identity;
attest_status claim_check_identities(attest_claim_finding *finding, const attest_statement *claim, attest_error *err);

/* ---- the tutorial's worked example: Q, K, V (also examples/tutorial) and its printed tables ---------------------- */
#define CLAIM_TUTORIAL_TOKENS 5
#define CLAIM_TUTORIAL_WIDTH 4
extern const double claim_tutorial_q[20], claim_tutorial_k[20], claim_tutorial_v[20];

typedef enum claim_printed_what {
    CLAIM_PRINTED_U = 0,
    CLAIM_PRINTED_Z = 1,
    CLAIM_PRINTED_O = 2,
    CLAIM_PRINTED_STATE = 3, /* ht.1 */
    CLAIM_PRINTED_SUM = 4,   /* zt.1 */
    CLAIM_PRINTED_WEIGHTS = 5
} claim_printed_what;

typedef struct claim_printed {
    const char *line; /* of the truth; n and d are added */
    int what;         /* claim_printed_what */
    int count;
    double unit; /* of the last printed digit */
    const double *printed;
} claim_printed;
/* holds: every printed number is the true one rounded to its digits. */
attest_status claim_check_printed(attest_claim_finding *finding, const attest_statement *claim, attest_error *err);

#endif
