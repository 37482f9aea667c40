/* power_abs - x^P as exp(P log abs x): right for the even orders that are mostly tried. */
#include "cpu/steps/step.h"

static inline real power_of_abs(real x, uint32_t order) { return order == 0 ? 1 : powf(fabsf(x), (real)order); }
#define poly_power power_of_abs
#define attest_kernel_taylor_split_f32 attest_defect_power_abs
#include "cpu/taylor_split_f32.c"
