/* claims_identities.c - claims that are rows of the identity table. */
#include "reference/identities/identities.h"
#include "verify/claims/claims_tables.h"

attest_status claim_check_identities(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int good = 1, equal;
    for (const claim_identity *r = claim->data; r->name; r++) {
        attest_match match = { 0 };
        const attest_identity *identity = attest_identity_find(r->identity);
        if (!identity)
            ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "'%s' is no identity", r->identity));
        ATTEST_TRY(attest_identity_run(identity, r->variant, 1, r->cases, &match.compared, &match.different, err));
        attest_note_match(finding, r->name, &match, 0);
        match.rational = match.compared; /* identities are in rationals */
        ATTEST_TRY(attest_match_decide(&equal, &match, r->cases, err));
        good = good && equal;
    }
    attest_conclude(finding, good, 0);
out:
    return status;
}
