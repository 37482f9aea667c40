/* exact_given.c - h0 and z0 as integers over one power of two (R-EXACT). */
#include "reference/exact/exact.h"

int64_t exact_columns(const attest_problem *p, int columns)
{
    return (columns & EXACT_COLUMN_V ? p->e : 0) + (columns & EXACT_COLUMN_ONE ? 1 : 0);
}

/* Entry (row, column) of the given state of degree n: h0 in the columns of v, z0 in the column of 1. */
static double given_load(const ref_inputs *in, int64_t b, int64_t g, int degree, int columns, int64_t row,
                         int64_t column)
{
    const int is_v = columns & EXACT_COLUMN_V && column < in->p->e;
    const attest_tensor *t = is_v ? in->h0[degree] : in->z0[degree];
    return t ? attest_load(t, attest_offset(t, b, g, row, is_v ? column : 0)) : 0.0;
}

void exact_given_span(exact_span *s, const ref_inputs *in, int64_t b, int64_t g, int degree, int columns)
{
    const int64_t rows = attest_state_rows(in->p->d, degree, 0);
    const int64_t count = exact_columns(in->p, columns);
    exact_span_start(s);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < count; c++)
            exact_span_see(s, given_load(in, b, g, degree, columns, r, c));
}

attest_status exact_given_new(exact_given *a, const ref_inputs *in, int64_t b, int64_t g, int degree, int columns,
                              attest_error *err)
{
    exact_span span;
    exact_given_span(&span, in, b, g, degree, columns);
    a->rows = attest_state_rows(in->p->d, degree, 0);
    a->columns = exact_columns(in->p, columns);
    a->exponent = span.low;
    a->a = NULL;
    if (!span.finite)
        return attest_fail(err, ATTEST_BAD_INPUT, "exact engine: h0.%d or z0.%d is not finite", degree, degree);
    a->a = exact_integers_new(a->rows * a->columns);
    if (!a->a)
        return attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for the state of degree %d", degree);
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t c = 0; c < a->columns; c++)
            exact_integer(a->a[r * a->columns + c], given_load(in, b, g, degree, columns, r, c), span.low);
    return ATTEST_OK;
}

void exact_given_free(exact_given *a)
{
    exact_integers_free(a->a, a->rows * a->columns);
    a->a = NULL;
}
