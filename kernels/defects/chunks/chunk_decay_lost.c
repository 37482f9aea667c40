/* chunk_decay_lost - cross-chunk decay is forgotten: pairs inside a chunk are right. */
#include "cpu/steps/degrees.h"

static inline void keep(const state *s, real a) { (void)s, (void)a; }
#define state_decay keep
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_decay_lost
#include "cpu/taylor_chunk_f32.c"
