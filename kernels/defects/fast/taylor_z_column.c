/* taylor_z_column - the column of z is left out where it holds nothing else. */
#include "fast/rows.h"

static inline int64_t columns_of_values(const attest_problem *p) { return (p->e + LANES - 1) / LANES; }

#define columns_count columns_of_values
#define FAST_PLANTED attest_defect_taylor_z_column_run
#define attest_kernel_taylor_packed_fast_f32 attest_defect_taylor_z_column
#include "fast/taylor/packed.c"
