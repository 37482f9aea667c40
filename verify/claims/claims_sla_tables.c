/* claims_sla_tables.c - "Softmax Linear Attention: Reclaiming Global Competition": what its tables of results say of
 * themselves.  The training runs behind the numbers are not checked.
 */
#include "verify/claims/claims_printed.h"

#include <math.h>

static const char *const models[] = { "RetNet", "GLA", "GDN" };

attest_status claim_check_better(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const claim_models *m = claim->data;
    int64_t all = 0;
    (void)err;
    attest_note(finding, "cells", m->count * m->cells);
    for (int i = 0; i < m->count; i++) {
        int64_t worse = 0;
        char name[56];
        for (int c = 0; c < m->cells; c++) {
            const double gain = m->with[i * m->cells + c] - m->without[i * m->cells + c];
            worse += m->less ? gain > 0 : gain < 0;
        }
        snprintf(name, sizeof name, "%s, worse with SLA", m->names[i]);
        attest_note(finding, name, (double)worse);
        all += worse;
    }
    attest_note(finding, "worse with SLA", (double)all);
    attest_conclude(finding, all == 0, 0);
    return ATTEST_OK;
}

/* S-NIAH-1, -2 and -3 at 1K, 2K, 4K and 8K. */
enum { NEEDLES = 12 };
static const double needles_without[3 * NEEDLES] = {
    71.6,  27.8,  14.8,  6.6,   88.6,  32.0,  12.0, 7.2,  3.6,  2.2,  0.8, 1.8, /* RetNet */
    95.2,  44.8,  19.8,  8.4,   97.0,  81.4,  27.2, 3.0,  30.4, 19.2, 0.2, 0.6, /* GLA */
    100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 67.8, 14.4, 3.6,  16.4, 0.0, 5.9, /* GDN */
};
static const double needles_with[3 * NEEDLES] = {
    99.2,  71.2,  18.0,  0.0,   95.4,  69.2,  13.8, 3.0,  21.2, 6.4,  1.6,  0.0,  /* Softmax RetNet */
    98.6,  85.2,  40.4,  13.6,  99.4,  98.4,  62.6, 17.4, 28.6, 15.4, 5.6,  1.6,  /* Softmax GLA */
    100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 57.0, 37.4, 89.4, 89.6, 46.6, 21.4, /* Softmax GDN */
};
const claim_models claim_sla_retrieval = { models, needles_without, needles_with, 3, NEEDLES, 0 };

/* Perplexities of table 4, WikiText and LAMBADA. */
static const double perplexity_without[] = { 29.58, 42.88, 28.93, 43.63, 24.22, 32.94 };
static const double perplexity_with[] = { 27.79, 40.76, 26.32, 39.67, 23.99, 31.44 };
static const claim_models perplexities = { models, perplexity_without, perplexity_with, 3, 2, 1 };

/* ---- averages ---------------------------------------------------------------------------------------------------- */
enum { MOST = 6 };
typedef struct average_row {
    int cells;                         /* 0 ends the table */
    double cell[MOST], average, delta; /* delta: to the row before, NAN where none is printed */
} average_row;

static const average_row averages[] = {
    /* table 2 */
    { 3, { 52.21, 30.90, 65.43 }, 49.51, NAN },
    { 3, { 19.71, 27.28, 12.89 }, 19.96, NAN },
    { 3, { 30.51, 32.74, 9.98 }, 24.41, 4.45 },
    { 3, { 22.41, 25.84, 9.26 }, 19.17, NAN },
    { 3, { 33.48, 31.27, 15.88 }, 26.88, 7.71 },
    { 3, { 41.40, 34.05, 29.13 }, 34.86, NAN },
    { 3, { 41.80, 34.76, 28.96 }, 35.17, 0.31 },
    /* table 4, accuracies */
    { 6, { 34.39, 65.07, 31.89, 52.57, 46.55, 19.62 }, 41.68, NAN },
    { 6, { 30.93, 63.93, 31.11, 51.62, 45.62, 19.71 }, 40.49, NAN },
    { 6, { 31.83, 65.07, 31.50, 50.99, 46.21, 19.28 }, 40.81, 0.32 },
    { 6, { 30.37, 63.60, 30.41, 52.72, 40.87, 18.43 }, 39.40, NAN },
    { 6, { 32.58, 64.15, 31.82, 50.20, 45.66, 20.14 }, 40.76, 1.36 },
    { 6, { 33.34, 65.29, 32.37, 51.14, 47.77, 18.52 }, 41.41, NAN },
    { 6, { 34.58, 64.64, 31.40, 50.99, 47.83, 20.82 }, 41.71, 0.30 },
    { .cells = 0 },
};

/* In hundredths: whole numbers, so that a half is a half. */
static int64_t hundredths(double x) { return (int64_t)llround(100 * x); }

static attest_status average_table(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const average_row *rows = claim->data;
    int64_t wrong = 0, deltas = 0, other = 0, count = 0;
    (void)err;
    for (const average_row *r = rows; r->cells; r++, count++) {
        int64_t sum = 0;
        for (int c = 0; c < r->cells; c++)
            sum += hundredths(r->cell[c]);
        const int64_t off = sum - r->cells * hundredths(r->average);
        wrong += 2 * (off < 0 ? -off : off) > r->cells;
        if (!isnan(r->delta)) {
            deltas++;
            other += r == rows || hundredths(r->average) - hundredths(r[-1].average) != hundredths(r->delta);
        }
    }
    attest_note(finding, "averages", (double)count);
    attest_note(finding, "not the rounded mean of their cells", (double)wrong);
    attest_note(finding, "differences", (double)deltas);
    attest_note(finding, "not those of the averages", (double)other);
    attest_conclude(finding, count > 0 && wrong == 0 && other == 0, 0);
    return ATTEST_OK;
}

static const attest_statement claims[] = {
    { "Incorporating SLA 'consistently reduces perplexity across all evaluated backbones'.", "section 5.4, table 4",
      "the six printed perplexities with SLA against those without; the training runs are not checked",
      ATTEST_CLAIM_HOLDS, NULL, claim_check_better, &perplexities },
    { "The averages of tables 2 and 4 and their differences are those of the printed cells.",
      "sections 5.3 and 5.4, tables 2 and 4", "whole hundredths: each average is the mean rounded to two digits",
      ATTEST_CLAIM_HOLDS, NULL, average_table, averages },
    { "A model that is trained with SLA retrieves more.", "section 5.3, tables 2 and 3",
      "needs the paper's training runs; what its table 3 says is a row above", ATTEST_CLAIM_NOT_CHECKABLE, NULL, NULL,
      NULL },
};
const attest_claim_source attest_claims_sla_tables = { "paper-softmax-linear-attention.txt", claims,
                                                       sizeof claims / sizeof claims[0] };
