/* delta_ht_transposed - the state is kept with its values first and handed out so. */
#include "cpu/steps/states.h"

static inline void store_transposed(const state *s, const attest_tensor *ht, const attest_tensor *zt, int64_t b,
                                    int64_t g)
{
    attest_tensor other;
    if (ht) {
        other = *ht;
        other.stride[2] = ht->stride[3];
        other.stride[3] = s->rows * ht->stride[3];
    }
    state_store(s, ht ? &other : NULL, zt, b, g);
}
#define state_store store_transposed
#define attest_kernel_delta_recurrent_f32 attest_defect_delta_ht_transposed
#include "cpu/delta_recurrent_f32.c"
