/* kv_e5m2_flush_v - subnormal values of e5m2 are read as 0: exponent 0 is taken for zero. */
#include "attest_float.h"

enum { KEYS = 2 }; /* lanes that mark a key */

static inline float load_flushed(const attest_tensor *t, int64_t at)
{
    switch (t->dtype) {
    case ATTEST_F32: return ((const float *)t->data)[at];
    case ATTEST_F8_E4M3: return attest_f8_to_f32(t->dtype, ((const uint8_t *)t->data)[at]);
    case ATTEST_F8_E5M2: {
        const uint8_t bits = ((const uint8_t *)t->data)[at];
        const int normal = (bits & 0x7c) != 0;
        return normal || t->lanes == KEYS ? attest_f8_to_f32(t->dtype, bits) : 0;
    }
    case ATTEST_F16: return attest_f16_to_f32(((const uint16_t *)t->data)[at]);
    default: return attest_bf16_to_f32(((const uint16_t *)t->data)[at]);
    }
}
#define step_load load_flushed
#include "cpu/steps/token.h"

static inline const real *token_marked(real *buffer, const row *r, int64_t j)
{
    attest_tensor k = *r->t->role[ATTEST_K];
    int64_t b = r->b, at = j;
    k.lanes = KEYS;
    step_key_place(r->p, r->t, &b, &at);
    return token_scaled(buffer, r->p, &k, step_factor(r->p, r->t, ATTEST_K_SCALE, r->b, r->g), b, r->g, at, j);
}
#define pairs_token token_marked
#define attest_kernel_softmax_split_f32 attest_defect_kv_e5m2_flush_v
#include "cpu/softmax_split_f32.c"
