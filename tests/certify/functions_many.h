/* functions_many.h - the functions of kernels/fast on many arguments, compiled for one instruction set. */
#include "fast/exp.h"

#include <stddef.h>

void FAST_NAME(certify_exp)(float *y, const float *x, size_t count);

void FAST_NAME(certify_exp)(float *y, const float *x, size_t count)
{
    for (size_t n = 0; n < count; n += LANES)
        vec_store(y + n, fast_exp(vec_load(x + n)));
}
