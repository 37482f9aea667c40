/* claims_tables.c - comparisons listed in a claim's data, counted over drawn cases. */
#include "verify/claims/claims_tables.h"

typedef struct parts {
    int good[3], seen[3]; /* by claim_part */
} parts;

static void add_part(parts *p, int part, int good)
{
    p->good[part] = (p->seen[part] ? p->good[part] : 1) && good;
    p->seen[part] = 1;
}

/* A reading said to be right that is not: nothing is known of the others. */
static attest_status conclude(attest_claim_finding *finding, const parts *p, attest_error *err)
{
    if (p->seen[CLAIM_ASIDE] && !p->good[CLAIM_ASIDE])
        return attest_fail(err, ATTEST_INTERNAL, "the reading given as right does not match");
    attest_conclude(finding, p->seen[CLAIM_WRITTEN] && p->good[CLAIM_WRITTEN],
                    p->seen[CLAIM_MEANT] && p->good[CLAIM_MEANT]);
    return ATTEST_OK;
}

attest_status claim_check_rules(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    parts p = { 0 };
    int equal;
    claim_case x = { 0 };
    for (const claim_rule *r = claim->data; r->name; r++) {
        attest_match match = { 0 };
        for (int seed = 0; seed < r->cases; seed++) {
            ATTEST_TRY(claim_case_open(&x, err, "%s seed=%d", r->line, seed));
            ATTEST_TRY(attest_evidence_rule(&match, r->rule, r->number, r->extra, x.truth, err));
            claim_case_close(&x);
        }
        attest_note_match(finding, r->name, &match, match.different > 0);
        ATTEST_TRY(attest_match_decide(&equal, &match, r->cases, err));
        add_part(&p, r->part, equal);
    }
    ATTEST_TRY(conclude(finding, &p, err));
out:
    claim_case_close(&x);
    return status;
}

attest_status claim_check_constant_state(attest_claim_finding *finding, const attest_statement *claim,
                                         attest_error *err)
{
    attest_status status;
    claim_case x = { 0 };
    double first = 0;
    int constant = 1;
    ATTEST_TRY(claim_check_rules(finding, claim, err));
    for (const claim_rule *r = claim->data; r->name; r++) {
        attest_decimals d;
        char name[56];
        ATTEST_TRY(claim_case_open(&x, err, "%s", r->line));
        ATTEST_TRY(attest_truth_decimals(&d, x.truth, (attest_tensor_id){ ATTEST_KIND_HT, 1 }, 6, 0, err));
        const double numbers = (double)d.count;
        attest_decimals_free(&d);
        claim_case_close(&x);
        snprintf(name, sizeof name, "%s numbers in the state", r->name);
        attest_note(finding, name, numbers);
        first = r == claim->data ? numbers : first;
        constant = constant && numbers > 0 && numbers == first;
    }
    attest_conclude(finding, constant && finding->verdict == ATTEST_CLAIM_HOLDS, 0);
out:
    claim_case_close(&x);
    return status;
}

static attest_status compare_rows(attest_match *match, const claim_pair *r, claim_case *x, claim_case *y,
                                  attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_problem *p = &x->c.problem;
    const int64_t from = r->rows == CLAIM_LAST_ROW ? p->n - 1 : 0, to = r->rows == CLAIM_FIRST_ROW ? 1 : p->n;
    for (int64_t bh = 0; bh < p->b * p->hq; bh++)
        for (int64_t i = from; i < to; i++)
            ATTEST_TRY(attest_evidence_same(match, r->role, x->truth, (attest_row){ bh / p->hq, bh % p->hq, i },
                                            y->truth, (attest_row){ bh / p->hq, bh % p->hq, i }, err));
out:
    return status;
}

attest_status claim_check_pairs(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    parts p = { 0 };
    int equal;
    claim_case x = { 0 }, y = { 0 };
    for (const claim_pair *r = claim->data; r->name; r++) {
        attest_match match = { 0 };
        for (int seed = 0; seed < r->cases; seed++) {
            ATTEST_TRY(claim_case_open(&x, err, "%s seed=%d", r->one, seed));
            ATTEST_TRY(claim_case_open(&y, err, "%s seed=%d", r->two, seed));
            ATTEST_TRY(compare_rows(&match, r, &x, &y, err));
            claim_case_close(&x);
            claim_case_close(&y);
        }
        attest_note_match(finding, r->name, &match, match.different > 0 || r->enclosed);
        ATTEST_TRY(attest_match_decide(&equal, &match, r->cases, err));
        if (equal && !r->enclosed && match.rational < match.compared)
            ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "'%s' are no rationals", r->name));
        add_part(&p, r->part, equal);
    }
    ATTEST_TRY(conclude(finding, &p, err));
out:
    claim_case_close(&x);
    claim_case_close(&y);
    return status;
}
