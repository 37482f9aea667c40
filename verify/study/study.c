/* study.c - the table of studies. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/study/study_cost.h"

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

/* ---- cost -------------------------------------------------------------------------------------------------------- */
static void cost_line(char *line, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(line, len, "variant=%s mask=causal n=%s d=%s family=range:%s", study_text(g, p, ATTEST_STUDY_VARIANT),
             study_text(g, p, ATTEST_STUDY_LENGTHS), study_text(g, p, ATTEST_STUDY_DIMS),
             study_text(g, p, ATTEST_STUDY_RANGES));
}

static void cost_label(char *series, size_t len, const study_grid *g, const study_point *p)
{
    const int types = g->list[ATTEST_STUDY_IN].count > 1;
    snprintf(series, len, "d=%s,R=%s%s%s %s", study_text(g, p, ATTEST_STUDY_DIMS),
             study_text(g, p, ATTEST_STUDY_RANGES), types ? "," : "", types ? study_text(g, p, ATTEST_STUDY_IN) : "",
             study_text(g, p, ATTEST_STUDY_VARIANT));
}

static double ordinate_of(const attest_result *r) { return r->ordinate; }

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
    { .name = "cost",
      .sentence = "time per token of o, and its error against softmax, of softmax and Taylor orders in every form",
      .abscissa = "length N (causal, one head, one thread)",
      .ordinate = "ns a token, median of the rounds",
      .series = "dim, range of the scores, variant, kernel",
      .kernels = "softmax-two-pass-f32|softmax-online-f32|softmax-flash-f32|softmax-flash-bf16|taylor-direct-f32|"
                 "taylor-recurrent-f32|taylor-packed-f32|taylor-chunk-f32|taylor-packed-fast-f32|taylor-chunk-fast-f32",
      .axis = { [ATTEST_STUDY_VARIANT] = "softmax,taylor:1,taylor:2,taylor:3,taylor:4,taylor:5,taylor:6",
                [ATTEST_STUDY_IN] = "f32",
                [ATTEST_STUDY_LENGTHS] = "256,1024,4096",
                [ATTEST_STUDY_DIMS] = "16,64",
                [ATTEST_STUDY_RANGES] = "2",
                [ATTEST_STUDY_SEEDS] = "0" },
      .nest = { ATTEST_STUDY_IN, ATTEST_STUDY_DIMS, ATTEST_STUDY_RANGES, ATTEST_STUDY_VARIANT, ATTEST_STUDY_LENGTHS,
                ATTEST_STUDY_SEEDS },
      .own = OWN(VARIANT) | OWN(LENGTHS) | OWN(DIMS) | OWN(RANGES),
      .kernel_is_line = 1,
      .line = cost_line,
      .label = cost_label,
      .all = study_measure_cost,
      .mark = study_mark_front,
      .ordinate_of = ordinate_of,
      .column = { { LEFT("series", 44), study_cell_series },
                  { RIGHT("N", 6), study_cell_abscissa },
                  { RIGHT("ns/token", 28), study_cell_time },
                  { RIGHT("|got-softmax|", 13), study_cell_total },
                  { RIGHT("truncation", 11), study_cell_short_truncation },
                  { RIGHT("rounding", 11), study_cell_short_rounding },
                  { { .head = "front", .gap = 1 }, study_cell_front } },
      .below = study_cost_below,
      .chart = study_cost_chart },
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
