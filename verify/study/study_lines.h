/* study_lines.h - what a point of each study is: its problem line, its series, its ordinate.
 *
 * A line has neither seed nor type; a series begins with the word of its panel.
 */
#ifndef ATTEST_STUDY_LINES_H
#define ATTEST_STUDY_LINES_H

#include "verify/study/study_private.h"

void study_order_line(char *line, size_t len, const study_grid *g, const study_point *p);
void study_order_label(char *series, size_t len, const study_grid *g, const study_point *p);
double study_truncation_of(const attest_result *r);
void study_range_line(char *line, size_t len, const study_grid *g, const study_point *p);
void study_range_label(char *series, size_t len, const study_grid *g, const study_point *p);
double study_weight_error_of(const attest_result *r);
void study_cost_line(char *line, size_t len, const study_grid *g, const study_point *p);
void study_cost_label(char *series, size_t len, const study_grid *g, const study_point *p);
double study_ordinate_of(const attest_result *r);
void study_length_line(char *line, size_t len, const study_grid *g, const study_point *p);
void study_square_line(char *line, size_t len, const study_grid *g, const study_point *p);
void study_position_line(char *line, size_t len, const study_grid *g, const study_point *p);
void study_variant_label(char *series, size_t len, const study_grid *g, const study_point *p);
double study_scaled_of(const attest_result *r);
double study_norm_of(const attest_result *r);
void study_denominator_line(char *line, size_t len, const study_grid *g, const study_point *p);
void study_filter_line(char *line, size_t len, const study_grid *g, const study_point *p);
void study_typed_label(char *series, size_t len, const study_grid *g, const study_point *p);
void study_softmax_of_all(attest_problem *p);
void study_state_line(char *line, size_t len, const study_grid *g, const study_point *p);
void study_state_label(char *series, size_t len, const study_grid *g, const study_point *p);

#endif
