/* chunk_first_unread - the second chunk does not read the states: the first one is forgotten there. */
#include "fast/taylor/chunked_block.h"

static inline int live_late(const chunked_task *a) { return a->from > a->x->at.size || heads_given(a->r.p); }

#define chunked_live live_late
#define FAST_PLANTED attest_defect_chunk_first_unread_run
#define attest_kernel_taylor_chunk_fast_f32 attest_defect_chunk_first_unread
#include "fast/taylor/chunked.c"
