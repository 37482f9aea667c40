/* efla_small_keys - a series for small arguments, one term too short.
 *
 * shows  variant=efla n=33 d=4 chunk=4 family=normal:0.08
 * hides  variant=efla feature=unit n=5 d=4 chunk=4
 * hides  variant=deltanet n=33 d=4 chunk=4 family=normal:0.08
 */
#include "cpu/steps/heads.h"

static inline real two_terms(real x) { return x > -(real)0x1p-4 ? x + x * x / 2 : expm1f(x); }
#define expm1f two_terms
#define attest_kernel_delta_chunk_f32 attest_defect_efla_small_keys
#include "cpu/delta_chunk_f32.c"
