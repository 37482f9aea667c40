/* study_lines.c - problem lines, series and ordinates of the studies. */
#include "verify/study/study_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- order ------------------------------------------------------------------------------------------------------- */
void study_order_line(char *line, size_t len, const study_grid *g, const study_point *p)
{
    const char *family = study_text(g, p, ATTEST_STUDY_FAMILIES);
    const int ranged = strcmp(family, "range") == 0; /* it takes the range; the scale gives it to others */
    snprintf(line, len, "variant=%s:%s center=%s n=%s d=%s family=%s%s%s", study_text(g, p, ATTEST_STUDY_VARIANT),
             study_text(g, p, ATTEST_STUDY_ORDERS), study_text(g, p, ATTEST_STUDY_CENTERS),
             study_text(g, p, ATTEST_STUDY_LENGTHS), study_text(g, p, ATTEST_STUDY_DIMS), family, ranged ? ":" : "",
             ranged ? study_text(g, p, ATTEST_STUDY_RANGES) : "");
}

void study_order_label(char *series, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(series, len, "%s R=%s", study_text(g, p, ATTEST_STUDY_CENTERS), study_text(g, p, ATTEST_STUDY_RANGES));
}

double study_truncation_of(const attest_result *r) { return r->truncation; }

/* ---- range ------------------------------------------------------------------------------------------------------- */
/* One query: its keys' scores are generic, so that no symmetry raises the exponent p+1. */
void study_range_line(char *line, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(line, len, "variant=%s:%s center=%s n=1 m=%s d=%s family=%s", study_text(g, p, ATTEST_STUDY_VARIANT),
             study_text(g, p, ATTEST_STUDY_ORDERS), study_text(g, p, ATTEST_STUDY_CENTERS),
             study_text(g, p, ATTEST_STUDY_LENGTHS), study_text(g, p, ATTEST_STUDY_DIMS),
             study_text(g, p, ATTEST_STUDY_FAMILIES));
}

void study_range_label(char *series, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(series, len, "%s p=%s", study_text(g, p, ATTEST_STUDY_CENTERS), study_text(g, p, ATTEST_STUDY_ORDERS));
}

double study_weight_error_of(const attest_result *r) { return r->abs_hi; }

/* ---- cost -------------------------------------------------------------------------------------------------------- */
void study_cost_line(char *line, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(line, len, "variant=%s mask=causal n=%s d=%s family=range:%s", study_text(g, p, ATTEST_STUDY_VARIANT),
             study_text(g, p, ATTEST_STUDY_LENGTHS), study_text(g, p, ATTEST_STUDY_DIMS),
             study_text(g, p, ATTEST_STUDY_RANGES));
}

void study_cost_label(char *series, size_t len, const study_grid *g, const study_point *p)
{
    const int types = g->list[ATTEST_STUDY_IN].count > 1;
    snprintf(series, len, "d=%s,R=%s%s%s %s", study_text(g, p, ATTEST_STUDY_DIMS),
             study_text(g, p, ATTEST_STUDY_RANGES), types ? "," : "", types ? study_text(g, p, ATTEST_STUDY_IN) : "",
             study_text(g, p, ATTEST_STUDY_VARIANT));
}

double study_ordinate_of(const attest_result *r) { return r->ordinate; }

/* ---- kernels against size, type, place -------------------------------------------------------------------------- */
/* `variant=V n=4 m=N`: few queries that see every key; of variants that need it, n=m. */
void study_length_line(char *line, size_t len, const study_grid *g, const study_point *p)
{
    attest_case c;
    attest_error err;
    const char *n = study_text(g, p, ATTEST_STUDY_LENGTHS);
    snprintf(line, len, "variant=%s n=4 m=%s d=%s family=%s", study_text(g, p, ATTEST_STUDY_VARIANT), n,
             study_text(g, p, ATTEST_STUDY_DIMS), study_text(g, p, ATTEST_STUDY_FAMILIES));
    if (attest_case_parse(&c, line, NULL, NULL, &err) != ATTEST_OK)
        snprintf(line, len, "variant=%s n=%s d=%s family=%s", study_text(g, p, ATTEST_STUDY_VARIANT), n,
                 study_text(g, p, ATTEST_STUDY_DIMS), study_text(g, p, ATTEST_STUDY_FAMILIES));
}

void study_square_line(char *line, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(line, len, "variant=%s n=%s d=%s family=%s", study_text(g, p, ATTEST_STUDY_VARIANT),
             study_text(g, p, ATTEST_STUDY_LENGTHS), study_text(g, p, ATTEST_STUDY_DIMS),
             study_text(g, p, ATTEST_STUDY_FAMILIES));
}

/* One causal problem, as long as the largest position. */
void study_position_line(char *line, size_t len, const study_grid *g, const study_point *p)
{
    const study_list *positions = &g->list[ATTEST_STUDY_LENGTHS];
    double longest = 0;
    for (size_t i = 0; i < positions->count; i++)
        longest = fmax(longest, positions->value[i].number);
    snprintf(line, len, "variant=%s mask=causal n=%.0f d=%s family=%s", study_text(g, p, ATTEST_STUDY_VARIANT), longest,
             study_text(g, p, ATTEST_STUDY_DIMS), study_text(g, p, ATTEST_STUDY_FAMILIES));
}

void study_variant_label(char *series, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(series, len, "%s", study_text(g, p, ATTEST_STUDY_VARIANT));
}

double study_scaled_of(const attest_result *r) { return r->abs_scale_ratio; }
double study_norm_of(const attest_result *r) { return r->norm_error; }

/* ---- denominators, filters --------------------------------------------------------------------------------------- */
void study_denominator_line(char *line, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(line, len, "variant=softmax norm=%s n=%s d=%s family=range:%s", study_text(g, p, ATTEST_STUDY_VARIANT),
             study_text(g, p, ATTEST_STUDY_LENGTHS), study_text(g, p, ATTEST_STUDY_DIMS),
             study_text(g, p, ATTEST_STUDY_RANGES));
}

void study_filter_line(char *line, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(line, len, "variant=%s n=%s d=%s family=range:%s", study_text(g, p, ATTEST_STUDY_VARIANT),
             study_text(g, p, ATTEST_STUDY_LENGTHS), study_text(g, p, ATTEST_STUDY_DIMS),
             study_text(g, p, ATTEST_STUDY_RANGES));
}

/* The panel is the type. */
void study_typed_label(char *series, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(series, len, "%s %s", study_text(g, p, ATTEST_STUDY_IN), study_text(g, p, ATTEST_STUDY_VARIANT));
}

/* Softmax over all visible keys. */
void study_softmax_of_all(attest_problem *p)
{
    p->axis[ATTEST_AXIS_WEIGHT] = (attest_setting){ ATTEST_WEIGHT_EXP, 0, 0 };
    p->axis[ATTEST_AXIS_CENTER] = (attest_setting){ ATTEST_CENTER_ZERO, 0, 0 };
    p->axis[ATTEST_AXIS_FILTER] = (attest_setting){ 0, 0, 0 };
}

/* ---- states ------------------------------------------------------------------------------------------------------ */
void study_state_line(char *line, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(line, len, "variant=term:1 n=1 m=%s d=%s family=%s", study_text(g, p, ATTEST_STUDY_LENGTHS),
             study_text(g, p, ATTEST_STUDY_DIMS), study_text(g, p, ATTEST_STUDY_FAMILIES));
}

void study_state_label(char *series, size_t len, const study_grid *g, const study_point *p)
{
    snprintf(series, len, "%s %s", study_text(g, p, ATTEST_STUDY_FAMILIES), study_text(g, p, ATTEST_STUDY_IN));
}
