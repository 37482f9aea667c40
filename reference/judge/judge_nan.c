/* judge_nan.c - where a NaN must stand: rows that read a NaN have no truth, only a NaN pattern (R-NAN). */
#include "reference/judge/judge.h"

#include <math.h>

/* 1 if one of `count` elements from `offset` on is a NaN. */
static int any_nan(const attest_tensor *t, int64_t offset, int64_t count, int64_t stride)
{
    for (int64_t c = 0; c < count; c++)
        if (isnan(attest_load(t, offset + c * stride)))
            return 1;
    return 0;
}

/* A NaN score makes a NaN weight: not through a feature (max(NaN, 0) is 0 in C), a clamp (min), nor through x^0. */
static int weight_keeps_nan(const attest_problem *p)
{
    return attest_axis_value_of(p, ATTEST_AXIS_FEATURE) == ATTEST_FEATURE_IDENTITY &&
           attest_axis_value_of(p, ATTEST_AXIS_CLAMP) == ATTEST_CLAMP_NONE &&
           (attest_axis_value_of(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP || p->axis[ATTEST_AXIS_WEIGHT].order > 0);
}

/* A filter drops a key whose comparison with a NaN is false; a delta rule may overwrite or solve for what it read. */
static int spoken_for(const attest_problem *p)
{
    return attest_axis_value_of(p, ATTEST_AXIS_FILTER) == ATTEST_FILTER_NONE &&
           attest_axis_value_of(p, ATTEST_AXIS_UPDATE) == ATTEST_UPDATE_ADD;
}

/* Is key j visible, and does u read its weight?  What dropout leaves out need not be computed. */
static int reads(const ref_inputs *in, attest_row at, int64_t j, int values)
{
    return ref_sees(in, at, j) && (!values || axis_keeps(in, at, j));
}

int judge_must_be_nan(const ref_inputs *in, attest_tensor_id id, attest_row at, int64_t channel)
{
    const attest_problem *p = in->p;
    const int64_t g = attest_kv_head(p, at.h);
    const attest_tensor *q = in->role[ATTEST_Q], *k = in->role[ATTEST_K], *v = in->role[ATTEST_V];
    const int values = id.index == ATTEST_O || id.index == ATTEST_U;
    const int scores = weight_keeps_nan(p);
    int64_t first, last;
    if (!spoken_for(p))
        return 0;
    ref_visible(in, at.b, at.i, &first, &last);
    while (first < last && !reads(in, at, first, values))
        first++;
    if (first < last && scores && any_nan(q, attest_offset(q, at.b, at.h, at.i, 0), p->d, q->stride[3]))
        return 1;
    for (int64_t j = first; j < last; j++)
        if (reads(in, at, j, values) && ((scores && any_nan(k, attest_offset(k, at.b, g, j, 0), p->d, k->stride[3])) ||
                                         (values && isnan(attest_load(v, attest_offset(v, at.b, g, j, channel))))))
            return 1;
    return 0;
}
