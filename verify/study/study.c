/* study.c - the table of studies. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/study/study_private.h"

/* ---- order ------------------------------------------------------------------------------------------------------- */
static void order_line(char *line, size_t len, const study_grid *g, const study_point *p)
{
    const char *family = study_text(g, p, ATTEST_STUDY_FAMILIES);
    const int ranged = strcmp(family, "range") == 0; /* it takes the range; the scale gives it to others */
    snprintf(line, len, "variant=%s:%s center=%s n=%s d=%s family=%s%s%s", study_text(g, p, ATTEST_STUDY_VARIANT),
             study_text(g, p, ATTEST_STUDY_ORDERS), study_text(g, p, ATTEST_STUDY_CENTERS),
             study_text(g, p, ATTEST_STUDY_LENGTHS), study_text(g, p, ATTEST_STUDY_DIMS), family, ranged ? ":" : "",
             ranged ? study_text(g, p, ATTEST_STUDY_RANGES) : "");
}

static void order_label(char *series, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(series, len, "%s R=%s", study_text(g, p, ATTEST_STUDY_CENTERS), study_text(g, p, ATTEST_STUDY_RANGES));
}

static double truncation_of(const attest_result *r) { return r->truncation; }

/* ---- range ------------------------------------------------------------------------------------------------------- */
/* One query: its keys' scores are generic, so that no symmetry raises the exponent p+1. */
static void range_line(char *line, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(line, len, "variant=%s:%s center=%s n=1 m=%s d=%s family=%s", study_text(g, p, ATTEST_STUDY_VARIANT),
             study_text(g, p, ATTEST_STUDY_ORDERS), study_text(g, p, ATTEST_STUDY_CENTERS),
             study_text(g, p, ATTEST_STUDY_LENGTHS), study_text(g, p, ATTEST_STUDY_DIMS),
             study_text(g, p, ATTEST_STUDY_FAMILIES));
}

static void range_label(char *series, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(series, len, "%s p=%s", study_text(g, p, ATTEST_STUDY_CENTERS), study_text(g, p, ATTEST_STUDY_ORDERS));
}

static double weight_error_of(const attest_result *r) { return r->abs_hi; }

/* ---- the table --------------------------------------------------------------------------------------------------- */
#define OWN(axis) (1u << ATTEST_STUDY_##axis)
#define LEFT(text, least)                                                                                              \
    {                                                                                                                  \
        .head = text, .width = least                                                                                   \
    }
#define RIGHT(text, least)                                                                                             \
    {                                                                                                                  \
        .head = text, .flags = ATTEST_COLUMN_RIGHT, .width = least                                                     \
    }

static const attest_study studies[] = {
    { .name = "order",
      .sentence = "error of o against Taylor order: truncation (pure reference) and rounding of the kernel",
      .abscissa = "order P",
      .ordinate = "truncation, largest |o_P - o_exp|",
      .series = "center and range of the scores R",
      .kernels = "taylor-direct-f32",
      .axis = { [ATTEST_STUDY_VARIANT] = "taylor",
                [ATTEST_STUDY_IN] = "f32",
                [ATTEST_STUDY_P] = "f32",
                [ATTEST_STUDY_FAMILIES] = "range",
                [ATTEST_STUDY_LENGTHS] = "24",
                [ATTEST_STUDY_DIMS] = "4",
                [ATTEST_STUDY_CENTERS] = "zero,max,min,mid",
                [ATTEST_STUDY_RANGES] = "0.5,1,2,4,8,16",
                [ATTEST_STUDY_ORDERS] = "0..12",
                [ATTEST_STUDY_SEEDS] = "0" },
      .nest = { ATTEST_STUDY_VARIANT, ATTEST_STUDY_IN, ATTEST_STUDY_P, ATTEST_STUDY_FAMILIES, ATTEST_STUDY_LENGTHS,
                ATTEST_STUDY_DIMS, ATTEST_STUDY_CENTERS, ATTEST_STUDY_RANGES, ATTEST_STUDY_ORDERS, ATTEST_STUDY_SEEDS },
      .own = OWN(CENTERS) | OWN(RANGES) | OWN(ORDERS),
      .line = order_line,
      .label = order_label,
      .measure = study_measure_case,
      .ordinate_of = truncation_of,
      .column = { { LEFT("series", 14), study_cell_series },
                  { LEFT("range", 10), study_cell_range },
                  { RIGHT("order", 5), study_cell_order },
                  { RIGHT("truncation", 12), study_cell_truncation },
                  { RIGHT("rounding", 12), study_cell_rounding },
                  { { .head = "verdict", .gap = 1 }, study_cell_verdict } },
      .chart = attest_chart_order },
    { .name = "range",
      .sentence = "largest relative error of a normalised weight as all scores of a row shrink together: slope p+1",
      .abscissa = "range of the scores; with center zero the largest |score|",
      .ordinate = "largest |w_T/w - 1| over the keys (upper end)",
      .series = "center and order p",
      .axis = { [ATTEST_STUDY_VARIANT] = "taylor",
                [ATTEST_STUDY_IN] = "f32",
                [ATTEST_STUDY_FAMILIES] = "normal",
                [ATTEST_STUDY_LENGTHS] = "7",
                [ATTEST_STUDY_DIMS] = "4",
                [ATTEST_STUDY_CENTERS] = "zero,max,min,mid",
                [ATTEST_STUDY_RANGES] = "2^-12..2^-6",
                [ATTEST_STUDY_ORDERS] = "1..6",
                [ATTEST_STUDY_SEEDS] = "3" },
      .nest = { ATTEST_STUDY_VARIANT, ATTEST_STUDY_IN, ATTEST_STUDY_FAMILIES, ATTEST_STUDY_LENGTHS, ATTEST_STUDY_DIMS,
                ATTEST_STUDY_CENTERS, ATTEST_STUDY_ORDERS, ATTEST_STUDY_RANGES, ATTEST_STUDY_SEEDS },
      .own = OWN(CENTERS) | OWN(RANGES) | OWN(ORDERS),
      .line = range_line,
      .label = range_label,
      .measure = study_measure_weights,
      .ordinate_of = weight_error_of,
      .below = study_fits_orders,
      .chart = attest_chart_range },
};

const attest_study *attest_study_find(const char *name)
{
    for (size_t i = 0; i < sizeof studies / sizeof studies[0]; i++)
        if (strcmp(studies[i].name, name) == 0)
            return &studies[i];
    return NULL;
}

int attest_study_row(const char **name, const char **sentence, size_t index)
{
    if (index >= sizeof studies / sizeof studies[0])
        return 0;
    *name = studies[index].name;
    *sentence = studies[index].sentence;
    return 1;
}
