/* claims_theory.c - the project's own error theory (lemma R-TAIL of reference/derivations.md), as far as statements of
 * the papers lean on it: error identities, slopes, orders needed, roots and poles.
 */
#include "verify/claims/claims_case.h"

#include <math.h>

/* ---- identities and bounds --------------------------------------------------------------------------------------- */
static attest_status error_identities(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const char *const centers[] = { "zero", "max", "min", "mid" };
    static const int orders[] = { 1, 2, 3, 4, 6, 8 };
    attest_status status = ATTEST_OK;
    attest_match match[4] = { { 0 } };
    claim_case t = { 0 }, s = { 0 };
    int good = 1, equal;
    (void)claim;
    for (int c = 0; c < 4; c++)
        for (int o = 0; o < 6; o++) {
            ATTEST_TRY(
                claim_case_open(&t, err, "variant=taylor:%d center=%s n=8 d=4 seed=%d", orders[o], centers[c], o));
            ATTEST_TRY(claim_case_open(&s, err, "variant=softmax n=8 d=4 seed=%d", o));
            for (int64_t i = 0; i < 8; i++)
                ATTEST_TRY(
                    attest_evidence_identities(match, t.truth, s.truth, orders[o], (attest_row){ 0, 0, i }, err));
            claim_case_close(&t);
            claim_case_close(&s);
        }
    for (int k = 0; k < 4; k++) {
        char name[16];
        snprintf(name, sizeof name, "I%d", k + 1);
        attest_note_match(finding, name, &match[k], 0);
        ATTEST_TRY(attest_match_decide(&equal, &match[k], 4 * 6 * 8, err)); /* centers, orders, rows */
        good = good && equal;
    }
    attest_note(finding, "widest difference",
                fmax(fmax(match[0].distance, match[1].distance), fmax(match[2].distance, match[3].distance)));
    attest_conclude(finding, good, 0);
out:
    claim_case_close(&t);
    claim_case_close(&s);
    return status;
}

/* B e^(y(p+1)/(p+2)) <= |P_p(x)| <= B((p+1)e^y+1)/(p+2), x = -y; for x = y with e^-y and 1 as another upper bound. */
static attest_status tail_bounds(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const double sizes[] = { 0.01, 0.1, 0.5, 1, 2, 4, 8, 16 };
    attest_status status = ATTEST_OK;
    attest_span low, high;
    int64_t count = 0, outside = 0;
    double tightest = INFINITY;
    (void)claim;
    for (int p = 0; p <= 11; p++)
        for (int i = 0; i < 16; i++, count++) {
            const double y = sizes[i / 2], sign = i % 2 ? 1 : -1;
            ATTEST_TRY(attest_evidence_value(&low, err, "abs(1-exp(-(%g))*T(%d,%g))/(%g^%d/fact(%d)*exp(-(%g)*%d/%d))",
                                             sign * y, p, sign * y, y, p + 1, p + 1, sign * y, p + 1, p + 2));
            ATTEST_TRY(attest_evidence_value(
                &high, err, "abs(1-exp(-(%g))*T(%d,%g))/min(%g^%d/fact(%d)*(%d*exp(-(%g))+1)/%d,%s)", sign * y, p,
                sign * y, y, p + 1, p + 1, p + 1, sign * y, p + 2, sign > 0 ? "1" : "1e30"));
            outside += !(low.lo >= 1) + !(high.hi <= 1);
            tightest = fmin(tightest, high.lo);
        }
    attest_note(finding, "points", (double)count);
    attest_note(finding, "outside", (double)outside);
    attest_note(finding, "smallest value/upper bound", tightest);
    attest_conclude(finding, count == 12 * 16 && outside == 0, 0);
out:
    return status;
}

/* ---- slopes ------------------------------------------------------------------------------------------------------ */
/* Largest relative weight error of taylor:p at the scores base + size*unit. */
static attest_status scaled_error(attest_span *error, int p, const char *center, const double *unit, int count,
                                  double base, double size, attest_error *err)
{
    attest_status status = ATTEST_OK;
    claim_case t = { 0 }, s = { 0 };
    double scores[8];
    for (int j = 0; j < count; j++)
        scores[j] = base + size * unit[j];
    ATTEST_TRY(claim_case_scores(&t, scores, count, 0, err, "taylor:%d center=%s", p, center));
    ATTEST_TRY(claim_case_scores(&s, scores, count, 0, err, "softmax"));
    ATTEST_TRY(attest_truth_weight_error(&error->lo, &error->hi, t.truth, s.truth, (attest_row){ 0, 0, 0 }, err));
out:
    claim_case_close(&t);
    claim_case_close(&s);
    return status;
}

/* log2 of the ratio of errors at sizes 2^-9 and 2^-10: the local slope. */
static attest_status slope(attest_span *value, int p, const char *center, const double *unit, int count, double base,
                           attest_error *err)
{
    attest_status status;
    attest_span wide, narrow;
    ATTEST_TRY(scaled_error(&wide, p, center, unit, count, base, 0x1p-9, err));
    ATTEST_TRY(scaled_error(&narrow, p, center, unit, count, base, 0x1p-10, err));
    *value = (attest_span){ log2(wide.lo / narrow.hi), log2(wide.hi / narrow.lo) };
out:
    return status;
}

static int near(attest_span value, double expected) { return value.lo > expected - 0.1 && value.hi < expected + 0.1; }

static const double generic[5] = { 0, 0.125, 0.3125, 0.75, 1 }, both_ends[2] = { 0, 1 };

static attest_status generic_slopes(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const char *const centers[] = { "max", "mid", "min", "zero" };
    attest_status status = ATTEST_OK;
    int good = 1;
    (void)claim;
    for (int c = 0; c < 4; c++)
        for (int p = 1; p <= 4; p++) {
            attest_span value;
            char name[56];
            ATTEST_TRY(slope(&value, p, centers[c], generic, 5, 0, err));
            snprintf(name, sizeof name, "%s p=%d", centers[c], p);
            attest_note_span(finding, name, value);
            good = good && near(value, p + 1);
        }
    attest_conclude(finding, good, 0);
out:
    return status;
}

static attest_status slope_exceptions(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_span odd, even, offset;
    const double base = *(const double *)claim->data; /* where the scores go, with center zero */
    ATTEST_TRY(slope(&odd, 3, "mid", both_ends, 2, 0, err));
    ATTEST_TRY(slope(&even, 2, "mid", both_ends, 2, 0, err));
    ATTEST_TRY(slope(&offset, 3, "zero", generic, 5, base, err));
    attest_note_span(finding, "two keys, center mid, p=3", odd);
    attest_note_span(finding, "two keys, center mid, p=2", even);
    attest_note_span(finding, "center zero, scores that go elsewhere, p=3", offset);
    attest_conclude(finding, near(odd, 4) && near(even, 3) && near(offset, 4),
                    near(odd, 5) && near(even, 3) && near(offset, 1));
out:
    return status;
}

static const double off_center = 1;

/* ---- orders ------------------------------------------------------------------------------------------------------ */
typedef struct order_cell {
    double range, tolerance;
    const char *center;
    int64_t printed;
} order_cell;

static attest_status order_table(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t count = 0, different = 0, mid = 0;
    for (const order_cell *cell = claim->data; cell->center; cell++, count++) {
        int64_t p;
        char name[56];
        ATTEST_TRY(attest_evidence_order(&p, cell->range, cell->center, cell->tolerance, err));
        snprintf(name, sizeof name, "R=%g, 2^%d, %s", cell->range, (int)log2(cell->tolerance), cell->center);
        attest_note(finding, name, (double)p);
        different += p != cell->printed;
        if (count % 2 == 1) /* max after mid */
            different += !(p > mid && p <= 2 * mid);
        mid = p;
    }
    attest_note(finding, "cells different from the table, or max not in (mid, 2 mid]", (double)different);
    attest_conclude(finding, count > 0 && different == 0, 0);
out:
    return status;
}
static const order_cell order_cells[] = {
    { 1, 0x1p-8, "mid", 4 },   { 1, 0x1p-8, "max", 5 },   { 1, 0x1p-24, "mid", 8 },  { 1, 0x1p-24, "max", 11 },
    { 4, 0x1p-8, "mid", 9 },   { 4, 0x1p-8, "max", 16 },  { 8, 0x1p-8, "mid", 16 },  { 8, 0x1p-8, "max", 30 },
    { 8, 0x1p-24, "mid", 23 }, { 8, 0x1p-24, "max", 38 }, { 16, 0x1p-8, "mid", 30 }, { 16, 0x1p-8, "max", 59 },
    { 0, 0, NULL, 0 },
};

/* ---- signs ------------------------------------------------------------------------------------------------------- */
typedef struct root_cell {
    int order;
    double printed;
} root_cell;

static attest_status odd_roots(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t different = 0;
    for (const root_cell *cell = claim->data; cell->order; cell++) {
        attest_span root, beyond;
        char name[56];
        ATTEST_TRY(attest_evidence_root(&root, cell->order, err));
        ATTEST_TRY(attest_evidence_value(&beyond, err, "T(%d,%.17g)", cell->order, cell->printed - 0.001));
        snprintf(name, sizeof name, "root of T_%d", cell->order);
        attest_note_span(finding, name, root);
        different += !(root.lo > cell->printed - 1e-9 && root.hi < cell->printed + 1e-9) || !(beyond.hi < 0);
    }
    attest_note(finding, "different", (double)different);
    attest_conclude(finding, different == 0, 0);
out:
    return status;
}
static const root_cell roots[] = {
    { 1, -1 },
    { 3, -1.59607163798 },
    { 5, -2.18060712404 },
    { 7, -2.75900270996 },
    { 9, -3.33355148527 },
    { 15, -5.04388707261 },
    { 0, 0 },
};

/* min T_p = x_{p-1}^p/p! > 0 for p even, at the root of T_{p-1}. */
static attest_status even_positive(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int good = 1;
    (void)claim;
    for (int p = 2; p <= 8; p += 2) {
        attest_span root, low, around;
        char name[56];
        ATTEST_TRY(attest_evidence_root(&root, p - 1, err));
        ATTEST_TRY(attest_evidence_value(&low, err, "(%.17g)^%d/fact(%d)", root.lo, p, p));
        ATTEST_TRY(
            attest_evidence_value(&around, err, "min(T(%d,%.17g),T(%d,%.17g))", p, root.lo - 0.01, p, root.hi + 0.01));
        snprintf(name, sizeof name, "smallest T_%d", p);
        attest_note_span(finding, name, low);
        good = good && low.lo > 0 && around.lo > low.hi;
    }
    attest_conclude(finding, good, 0);
out:
    return status;
}

typedef struct pole_cell {
    int keys;
    double printed;
} pole_cell;

/* Order 1, one key at the maximum and N-1 at -R: the denominator at 1e-4 below and above the printed pole. */
static attest_status odd_pole(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    static const double scores[3][2] = { { 0, -1.9375 }, { 0, -2.0625 }, { 0, -2 } };
    attest_span weights[3][2], below, above;
    claim_case x = { 0 };
    int64_t keys, wrong = 0;
    for (const pole_cell *cell = claim->data; cell->keys; cell++) {
        ATTEST_TRY(attest_evidence_value(&below, err, "1+%d*T(1,-(%.9g))", cell->keys - 1, cell->printed - 1e-4));
        ATTEST_TRY(attest_evidence_value(&above, err, "1+%d*T(1,-(%.9g))", cell->keys - 1, cell->printed + 1e-4));
        wrong += !(below.lo > 0 && above.hi < 0);
    }
    attest_note(finding, "poles not where printed", (double)wrong);
    for (int k = 0; k < 2; k++) {
        ATTEST_TRY(claim_case_scores(&x, scores[k], 2, 0, err, "shifted:1"));
        ATTEST_TRY(attest_evidence_weights(weights[k], NULL, 2, &keys, x.truth, (attest_row){ 0, 0, 0 }, err));
        claim_case_close(&x);
    }
    attest_note_span(finding, "weight of the maximum at R=1.9375", weights[0][0]);
    attest_note_span(finding, "of the other key", weights[0][1]);
    attest_note_span(finding, "weight of the maximum at R=2.0625", weights[1][0]);
    ATTEST_TRY(claim_case_scores(&x, scores[2], 2, 0, err, "shifted:1"));
    ATTEST_TRY(attest_evidence_row(&above, x.truth, ATTEST_Z, (attest_row){ 0, 0, 0 }, err));
    attest_note_span(finding, "denominator at R=2", above);
    attest_conclude(finding,
                    wrong == 0 && weights[0][0].lo > 1 && weights[0][1].hi < 0 && weights[1][0].hi < 0 &&
                        above.lo <= 0 && above.hi >= 0,
                    0);
out:
    claim_case_close(&x);
    return status;
}
static const pole_cell poles[] = { { 2, 2 }, { 16, 1.0666666667 }, { 1024, 1.000977517 }, { 0, 0 } };

/* T_p(-y_p) = 1 for even p: from there on a key further below the maximum outweighs it. */
static attest_status regained_weight(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t wrong = 0;
    for (const root_cell *cell = claim->data; cell->order; cell++) {
        attest_span before, after;
        char name[56];
        ATTEST_TRY(attest_evidence_value(&before, err, "T(%d,-(%.9g))", cell->order, cell->printed - 1e-4));
        snprintf(name, sizeof name, "T_%d at %g", cell->order, -cell->printed - 1e-4);
        ATTEST_TRY(attest_note_value(finding, &after, name, err, "T(%d,-(%.9g))", cell->order, cell->printed + 1e-4));
        wrong += !(before.hi < 1 && after.lo > 1);
    }
    attest_note(finding, "not where printed", (double)wrong);
    attest_conclude(finding, wrong == 0, 0);
out:
    return status;
}
static const root_cell regained[] = { { 2, 2 }, { 4, 2.78529 }, { 6, 3.55344 }, { 8, 4.31363 }, { 0, 0 } };

static const attest_statement claims[] = {
    { "The error of truncated weights and outputs obeys four exact identities in P_p(x) = 1 - e^-x T_p(x).",
      "behind section 1.3 of the note", "both sides on 192 drawn rows, p 1..8, four centers, enclosed to 2^-100",
      ATTEST_CLAIM_HOLDS, NULL, error_identities, NULL },
    { "P_p(x) lies between two closed bounds on either side of 0.", "behind section 1.3 of the note",
      "P_p(-y) is y^(p+1)/(p+1)! times a mean of e^t, t in 0..y: Jensen's bound and the chord's; value over bound at "
      "192 "
      "points, p 0..11, abs(x) 0.01..16, enclosed",
      ATTEST_CLAIM_HOLDS, NULL, tail_bounds, NULL },
    { "As the scores of a row shrink together, the relative weight error falls like R^(p+1), whatever the center.",
      "behind section 1.4 of the note",
      "slope between R=2^-9 and 2^-10 within 0.1 of p+1, p 1..4, four centers, one list of five asymmetric keys",
      ATTEST_CLAIM_HOLDS, NULL, generic_slopes, NULL },
    { "The exponent is p+1 for every row.", "behind section 1.4 of the note",
      "the same slopes, within 0.1, for two keys, and for scores near 1 with center zero", ATTEST_CLAIM_HOLDS_IF,
      "sigma^(p+1) differs between keys (else p+2) and the scores go to the "
      "center (else 1)",
      slope_exceptions, &off_center },
    { "The smallest order for a tolerance and a range is that of attest's table, larger for center max than for mid, "
      "at most "
      "twice.",
      "behind sections 4.4 and 5 of the expressiveness paper",
      "smallest p within the tolerance by enclosures: the 12 cells in the figures, no others", ATTEST_CLAIM_HOLDS, NULL,
      order_table, order_cells },
    { "T_p, p odd, has one real root, below which it is negative.", "behind section 1.3 of the note",
      "six roots, p 1..15, by bisection on certain signs, within 1e-9 of attest's table, and T_p < 0 at 0.001 below; "
      "the "
      "only one for every p by the lemma (T_p' = T_{p-1} > 0)",
      ATTEST_CLAIM_HOLDS, NULL, odd_roots, roots },
    { "T_p, p even, is positive everywhere, smallest at the root of T_{p-1}.", "behind section 1.3 of the note",
      "p = 2, 4, 6, 8 only: x_{p-1}^p/p! at the root and T_p at 0.01 beside it, enclosed; every even p by the lemma",
      ATTEST_CLAIM_HOLDS, NULL, even_positive, NULL },
    { "At odd order the denominator vanishes at a range R* >= abs(x_p): weights beyond 1 and below 0 near it.",
      "behind section 1.4 of the note",
      "order 1 only: signs of the denominator at 1e-4 beside three poles, and weights of shifted:1 on two keys",
      ATTEST_CLAIM_HOLDS, NULL, odd_pole, poles },
    { "At even order a key far below the maximum regains weight: T_p(-y_p) = 1.", "behind section 1.4.2 of the note",
      "p = 2, 4, 6, 8: T_p at 1e-4 beside y_p of attest's table, enclosed", ATTEST_CLAIM_HOLDS, NULL, regained_weight,
      regained },
};
const attest_claim_source attest_claims_theory = {
    "no paper: attest's own theorem (R-TAIL of reference/derivations.md)", claims, sizeof claims / sizeof claims[0]
};
