/* study_columns.c - cells of the tables of studies. */
#include "verify/study/study_private.h"

void study_cell_series(attest_table *table, const attest_result *r) { attest_table_cell(table, "%s", r->series); }

void study_cell_range(attest_table *table, const attest_result *r) { attest_table_cell(table, "%.4g", r->range); }

void study_cell_order(attest_table *table, const attest_result *r) { attest_table_cell(table, "%.0f", r->abscissa); }

void study_cell_abscissa(attest_table *table, const attest_result *r) { attest_table_cell(table, "%.6g", r->abscissa); }

void study_cell_truncation(attest_table *table, const attest_result *r)
{
    attest_table_cell(table, "%.3e", r->truncation);
}

void study_cell_rounding(attest_table *table, const attest_result *r) { attest_table_cell(table, "%.3e", r->rounding); }

void study_cell_ordinate(attest_table *table, const attest_result *r) { attest_table_cell(table, "%.3e", r->ordinate); }

/* Least and greatest; empty where there is one value. */
void study_cell_spread(attest_table *table, const attest_result *r)
{
    if (r->ordinate_least < r->ordinate_most)
        attest_table_cell(table, "%.2e .. %.2e", r->ordinate_least, r->ordinate_most);
    else
        attest_table_cell(table, "%s", "");
}

void study_cell_verdict(attest_table *table, const attest_result *r)
{
    attest_table_cell(table, "%s", attest_verdict_names[r->verdict]);
}

void study_cell_kernel(attest_table *table, const attest_result *r) { attest_table_cell(table, "%s", r->kernel); }

/* The median of the rounds, and least and greatest. */
void study_cell_time(attest_table *table, const attest_result *r)
{
    attest_table_cell(table, "%.4g [%.4g .. %.4g]", r->ordinate, r->ordinate_least, r->ordinate_most);
}

static void short_number(attest_table *table, double x)
{
    if (x == x)
        attest_table_cell(table, "%.2e", x);
    else
        attest_table_cell(table, "-");
}

void study_cell_total(attest_table *table, const attest_result *r) { short_number(table, r->total_hi); }

void study_cell_short_truncation(attest_table *table, const attest_result *r) { short_number(table, r->truncation); }

void study_cell_short_rounding(attest_table *table, const attest_result *r) { short_number(table, r->rounding); }

void study_cell_front(attest_table *table, const attest_result *r) { attest_table_cell(table, "%s", r->why); }
