/* dd_path.h - inside reference/: one path of the dd engine, from the vector operations included before it. */
#ifndef ATTEST_DD_PATH_H
#define ATTEST_DD_PATH_H

#include <string.h>

#include "reference/dd/dd_transforms.h"

#include "reference/dd/dd_products.h"
#include "reference/dd/dd_weights.h"

/* Each transform on numbers whose result is known: a reordered sum, a dropped error or flushed subnormals show. */
static int sound(void)
{
    volatile double one = 1, tiny = 0x1p-60, third = 1 / 3.0, least = 0x1p-1074, square = 0x1.c71c71c71c71cp-4;
    double got[LANES];
    vec e, acc = v_all(0x1.8p10 * one), low = v_all(0);
    v_store(got, two_sum(v_all(tiny), v_all(one), &e));
    int good = got[0] == 1;
    v_store(got, e);
    good = good && got[0] == 0x1p-60;
    v_store(got, fast_two_sum(v_all(one), v_all(-tiny), &e));
    good = good && got[0] == 1;
    v_store(got, e);
    good = good && got[0] == -0x1p-60;
    v_store(got, two_product(v_all(third), v_all(third), &e));
    good = good && got[0] == 0x1.c71c71c71c71cp-4;
    v_store(got, e);
    good = good && got[0] == -0x1.c71c71c71c71cp-58;
    v_store(got, v_sub(v_mul(v_all(third), v_all(third)), v_all(square)));
    good = good && got[0] == 0; /* not contracted */
    add_product(&acc, &low, v_all(0x1.000002p0), v_all(0x1.000002p-30 * one));
    fold(&acc, &low);
    v_store(got, v_sub(acc, v_all(0x1.8p10)));
    good = good && got[0] == 0x1p-30;
    v_store(got, low);
    good = good && got[0] == 0x1p-52 + 0x1p-76;
    v_store(got, v_add(v_all(least), v_all(0)));
    return good && got[0] > 0;
}

const dd_path DD_PATH = {
    .name = DD_NAME,
    .lanes = LANES,
    .fma = DD_FMA,
    .slices = DD_SLICES,
    .runs = machine_runs,
    .sound = sound,
    .scan = scan,
    .survey = survey,
    .scores = scores,
    .scores_exact = scores_exact,
    .slice = slice,
    .scores_sliced = scores_sliced,
    .range = range,
    .exponential = exponential,
    .exponential_short = exponential_short,
    .series = series,
    .cut = cut,
    .values = values,
    .values_exact = values_exact,
    .values_sliced = values_sliced,
    .divide = divide,
};

#endif
