/* linear.h - linear attention in blocks of tokens: what linear.c (descriptor, workspace, choice of the instruction set)
 * and linear_kernel.h (the loops) share.
 *
 * Formula    u_i = sum_(j<=i) D_ij s_ij gin_j v_j, z_i = sum_(j<=i) D_ij s_ij, s_ij = <scale phi(q_i), phi(k_j)>,
 *            o_i = gout_i Norm(u_i, z_i), D_ij = a_(j+1) .. a_i; decay=vector: a_t has an entry for each of the
 *            products that s_ij is the sum of.
 * Algorithm  A block is at most LINEAR_TOKENS tokens; it ends where a chunk of problem.chunk tokens ends.  With S, Z
 *            the states before it, f_i the product of the decays from its first token to i:
 *                u_i = f_i (q_i S) + sum_(j in block) w_ij v_j,   w_ij = D_ij s_ij,   S := f S + sum_j (D_j k_j)^T v_j
 *            all as products of small matrices, D_j the decays from token j to the block's last one.
 *            decay=vector: the block is cut into parts of LINEAR_PART tokens.  Against a key of an earlier part q_i
 *            takes the decays from its own part's first token on, the key those between; in the same part the query
 *            walks back, token by token.
 *            Every product of decays is made forwards, one factor a token: none is divided, and none is a logarithm.
 * Tasks      a KV head and LINEAR_WIDTH channels of its values, or all where Norm takes the channels together.
 * Errors     phi: rows.h; s: gamma_dim and the scale; D: a rounding a token; the sum over a block by itself, then one
 *            rounding with f S.  Blocks shorter than a chunk are another order of the chunk's addends.
 * States     S and Z are floats; of linear-chunk-state-bf16 (LINEAR_STATE_BF16) the end of a chunk of problem.chunk
 *            tokens rounds them to bf16, to nearest even, and the end of all tokens too, before ht is written.  A given
 *            state is read as it is.
 * Masked     A key that a row does not see has the weight 0; where a block's values are not all finite, each row is
 *            summed to its own last key.
 */
#ifndef ATTEST_FAST_LINEAR_H
#define ATTEST_FAST_LINEAR_H

#include "fast/rows.h"
#include "fast/threads.h"

#include "cpu/steps/heads.h"
#include "cpu/steps/norms.h"
#include "cpu/steps/serve.h"

enum { LINEAR_TOKENS = 32, LINEAR_PART = 8, LINEAR_ROWS = 32 }; /* of a block, of its parts, rows at a time */
enum { LINEAR_WIDTH = 64, LINEAR_UNIT = 32 }; /* rows of buffers are multiples of LINEAR_UNIT floats */

/* Where things lie in a thread's share of the workspace, in floats. */
typedef struct linear_layout {
    int64_t dim;                      /* entries of phi */
    int64_t row;                      /* the same, rounded up */
    int64_t channels;                 /* of a task, rounded up */
    int64_t tokens;                   /* of a block at most, rounded up: T */
    int64_t S, Z, keep;               /* [row][channels], [row], [row] */
    int64_t k, kt, v, a;              /* [T][row], [parts or 1][row][T], [T][channels], [T][row] */
    int64_t D, from_part, from_block; /* [T][T]; [T + 1][row] both */
    int64_t q, near, far, w, u;       /* [ROWS][row] three times, [ROWS][T], [ROWS][channels] */
    int64_t f, g, z, x;               /* [T + 1], [ROWS], [ROWS]; a buffer */
    int64_t each;
} linear_layout;

/* Is o made of u channel by channel? */
static inline int linear_by_channel(const attest_problem *p)
{
    const uint32_t norm = p->axis[ATTEST_AXIS_NORM].value;
    return (norm == ATTEST_NORM_NONE || norm == ATTEST_NORM_SUM) && !p->axis[ATTEST_AXIS_EPS].value;
}

/* Tasks of a KV head. */
static inline int64_t linear_slices(const attest_problem *p)
{
    return linear_by_channel(p) ? fast_up(p->e, LINEAR_WIDTH) / LINEAR_WIDTH : 1;
}

/* Tokens of a block at most. */
static inline int64_t linear_tokens(const attest_problem *p)
{
    if (p->axis[ATTEST_AXIS_UPDATE].value == ATTEST_UPDATE_ADD)
        return LINEAR_TOKENS;
    return fast_up(step_max(step_min(p->chunk, p->m), 1), LINEAR_UNIT);
}

static inline linear_layout linear_lay_out(const attest_problem *p)
{
    const int vector = p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR;
    const int64_t dim = token_dim(p), wide = fast_up(dim, LINEAR_UNIT), T = linear_tokens(p);
    const int64_t channels = linear_slices(p) > 1 ? LINEAR_WIDTH : fast_up(p->e, LINEAR_UNIT);
    linear_layout at = { .dim = dim, .row = wide, .channels = channels, .tokens = T };
    at.Z = at.S + wide * channels;
    at.keep = at.Z + wide;
    at.k = at.keep + wide;
    at.kt = at.k + T * wide;
    at.v = at.kt + (vector ? T / LINEAR_PART : 1) * wide * T;
    at.a = at.v + T * channels;
    at.D = at.a + (vector ? T * wide : 0);
    at.from_part = at.D + T * T;
    at.from_block = at.from_part + (vector ? (T + 1) * wide : 0);
    at.q = at.from_block + (vector ? (T + 1) * wide : 0);
    at.near = at.q + LINEAR_ROWS * wide;
    at.far = at.near + (vector ? LINEAR_ROWS * wide : 0);
    at.w = at.far + (vector ? LINEAR_ROWS * wide : 0);
    at.u = at.w + LINEAR_ROWS * T;
    at.f = at.u + LINEAR_ROWS * channels;
    at.g = at.f + T + LINEAR_UNIT;
    at.z = at.g + LINEAR_ROWS;
    at.x = at.z + LINEAR_ROWS;
    at.each = at.x + LINEAR_PART * wide + fast_up(p->e, LINEAR_UNIT);
    return at;
}

static inline int64_t linear_threads(const attest_problem *p)
{
    const double numbers = (double)token_dim(p) * (double)p->e;
    return fast_threads((double)(p->b * p->hq * p->n + p->b * p->hkv * p->m) * numbers,
                        p->b * p->hkv * linear_slices(p));
}

/* The loops, compiled for each instruction set. */
typedef attest_status linear_run(const attest_call *call);
linear_run linear_run_avx512, linear_run_avx2, linear_run_portable, linear_run_wide;
linear_run linear_state_bf16_run_avx512, linear_state_bf16_run_avx2, linear_state_bf16_run_portable,
    linear_state_bf16_run_wide;

#endif
