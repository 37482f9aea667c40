/* ht_highest_unwritten - the loop over the degrees that are stored stops one too early. */
#include "cpu/steps/degrees.h"

static inline void store_below(const degrees *a, const row *r)
{
    degrees less = *a;
    less.highest -= less.highest > less.lowest;
    degrees_store(&less, r);
}
#define degrees_store store_below
#define attest_kernel_taylor_packed_f32 attest_defect_ht_highest_unwritten
#include "cpu/taylor_packed_f32.c"
