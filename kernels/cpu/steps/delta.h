/* delta.h - what the delta-rule kernels share: the rate of a token, supports().
 *
 *     S' = decay(S),  S = S' + phi(k_t)^T b_t (gin_t v_t - phi(k_t) S'),  o_i = gout_i scale phi(q_i) S
 *
 * n, m and the mask say only after which token query i reads: the last one that it sees.
 */
#ifndef ATTEST_CPU_DELTA_H
#define ATTEST_CPU_DELTA_H

#include "heads.h"
#include "norms.h"
#include "serve.h"

#ifndef delta_given
/* b_t as it is given. */
static inline real delta_given(const row *r, int64_t t)
{
    const attest_tensor *rates = r->t->role[ATTEST_BETA];
    return step_load(rates, r->b * rates->stride[0] + r->g * rates->stride[1] + t * rates->stride[2]);
}
#endif

#ifndef delta_rate
/* b_t; for efla (1-e^(-b_t r))/r, r = norm2(phi(k_t))^2, as b_t expm1(-x)/(-x) with x = b_t r: 1-e^-x itself would lose
 * all digits of a small x.  efla: x gamma_(dim+1), which moves the quotient by no more for x >= 0; expm1 2u, the
 * quotient and the product one rounding each.  x = 0, also by underflow: b_t, which is right to x/2. */
static inline real delta_rate(const row *r, const real *k, int64_t t)
{
    const real b = delta_given(r, t);
    if (r->p->axis[ATTEST_AXIS_UPDATE].value != ATTEST_UPDATE_EFLA)
        return b;
    const int64_t dim = token_dim(r->p);
    const real x = b * step_dot(k, k, dim);
    return x == 0 ? b : b * (expm1f(-x) / -x);
}
#endif

#ifndef delta_write
/* w := b_t (gin_t v_t - w), w = phi(k_t) S' before: the value that token t writes; two roundings, and those of b_t and
 * gin_t v_t.  buffer[e]. */
static inline void delta_write(real *w, real *buffer, const row *r, const real *k, int64_t t)
{
    const real b = delta_rate(r, k, t), *v = heads_value(buffer, r, t);
    for (int64_t c = 0; c < r->p->e; c++)
        w[c] = b * (v[c] - w[c]);
}
#endif

#define DELTA_TABLE(states, sequences)                                                                                 \
    {                                                                                                                  \
        .axis = { [ATTEST_AXIS_WEIGHT] = SERVE_BIT(ATTEST_WEIGHT_POWER),                                               \
                  [ATTEST_AXIS_UPDATE] = SERVE_BIT(ATTEST_UPDATE_DELTA) | SERVE_BIT(ATTEST_UPDATE_EFLA),               \
                  [ATTEST_AXIS_FEATURE] = SERVE_ALL_FEATURES,                                                          \
                  [ATTEST_AXIS_ROPE] = SERVE_ROPE,                                                                     \
                  [ATTEST_AXIS_MASK] = SERVE_BIT(ATTEST_MASK_CAUSAL) | SERVE_BIT(ATTEST_MASK_CAUSAL_BR),               \
                  [ATTEST_AXIS_DECAY] = SERVE_ALL_DECAYS,                                                              \
                  [ATTEST_AXIS_DECAY_INPUT] = SERVE_DECAY_INPUT,                                                       \
                  [ATTEST_AXIS_GATES] = SERVE_ALL_GATES & ~SERVE_BIT(ATTEST_GATES_PRE_OUT),                            \
                  [ATTEST_AXIS_NORM] = SERVE_BIT(ATTEST_NORM_NONE),                                                    \
                  [ATTEST_AXIS_LENS] = (sequences) ? SERVE_LENS : 0, /* with lens_q=len alone */                       \
                  [ATTEST_AXIS_LENS_Q] = (sequences) ? SERVE_LENS_Q : 0,                                               \
                  [ATTEST_AXIS_PACKED] = (sequences) ? SERVE_PACKED : 0,                                               \
                  [ATTEST_AXIS_STATE] = states },                                                                      \
        .in = SERVE_UP_TO_F32, .acc = SERVE_BIT(ATTEST_F32), .p = SERVE_BIT(ATTEST_F32), .out = SERVE_UP_TO_F32        \
    }

#endif
