/* dropout_kv_head - grouped query heads read keep of their KV head: shows where there are fewer KV heads. */
#include "cpu/steps/dropout.h"

static inline const uint8_t *by_group(const row *r)
{
    row other = *r;
    other.h = r->g;
    return dropout_keep(&other);
}
#define dropout_keep by_group
#define attest_kernel_taylor_direct_f32 attest_defect_dropout_kv_head
#include "cpu/taylor_direct_f32.c"
