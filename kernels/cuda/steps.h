/* steps.h - what the kernels of this folder share: which keys a row sees, tiles of floats, sums of lanes; on the host's
 * side what a softmax kernel serves and is given.
 *
 * Arithmetic is named (__fmaf_rn and the like), so that no compiler chooses what is contracted.
 */
#ifndef ATTEST_CUDA_STEPS_H
#define ATTEST_CUDA_STEPS_H

#include "library.h"
#include "warp.h"

namespace steps
{

constexpr unsigned all_lanes = 0xffffffffu;

/* ---- keys ---------------------------------------------------------------------------------------------------- */
/* Keys [first,last) that a row sees: attest.h's formula. */
struct range {
    int64_t first, last;
};

/* What decides of them; window 0: none. */
struct visibility {
    const int64_t *lens;
    int64_t lens_stride, n, m, window;
    int mask;

    __device__ int64_t length(int64_t b) const { return lens ? lens[b * lens_stride] : m; }
    __device__ range seen(int64_t len, int64_t i) const;
};

__device__ inline int64_t within(int64_t x, int64_t len) { return x < 0 ? 0 : x > len ? len : x; }

__device__ inline range visibility::seen(int64_t len, int64_t i) const
{
    const int64_t position = mask == ATTEST_MASK_CAUSAL_BR ? i + len - n : i;
    int64_t first = 0, last = mask == ATTEST_MASK_FULL ? len : position + 1;
    if (window > 0) {
        first = position - window + 1;
        last = mask == ATTEST_MASK_FULL ? position + window : last;
    }
    return { within(first, len), within(last, len) };
}

inline visibility keys_of(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensor *lens = call->tensors->role[ATTEST_KV_LENS];
    visibility x = {};
    if (p->axis[ATTEST_AXIS_LENS].value) {
        x.lens = static_cast<const int64_t *>(lens->data);
        x.lens_stride = lens->stride[0];
    }
    x.n = p->n;
    x.m = p->m;
    x.window = p->axis[ATTEST_AXIS_WINDOW].value ? static_cast<int64_t>(p->axis[ATTEST_AXIS_WINDOW].order) : 0;
    x.mask = static_cast<int>(p->axis[ATTEST_AXIS_MASK].value);
    return x;
}

/* ---- softmax --------------------------------------------------------------------------------------------------- */
/* scale and cap of a sum of products; cap 0: none. */
__device__ inline float score_of(float dot, float scale, float cap)
{
    const float score = __fmul_rn(dot, scale);
    return cap > 0 ? __fmul_rn(cap, warp::tanh(__fdiv_rn(score, cap))) : score;
}

inline float cap_of(const attest_problem *p)
{
    return p->axis[ATTEST_AXIS_CAP].value ? static_cast<float>(p->axis[ATTEST_AXIS_CAP].number) : 0;
}

/* 1 if only mask, window, lens and cap differ from softmax. */
inline int softmax_served(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const uint64_t served = ATTEST_BIT(ATTEST_AXIS_MASK) | ATTEST_BIT(ATTEST_AXIS_WINDOW) |
                            ATTEST_BIT(ATTEST_AXIS_LENS) | ATTEST_BIT(ATTEST_AXIS_CAP);
    const int axis = attest_axis_unserved(p, served);
    if (axis >= 0)
        return attest_refuse_axis(call, axis);
    if (p->axis[ATTEST_AXIS_MASK].value > ATTEST_MASK_CAUSAL_BR ||
        p->axis[ATTEST_AXIS_WINDOW].value > ATTEST_WINDOW_W || p->axis[ATTEST_AXIS_LENS].value > ATTEST_LENS_DRAW ||
        p->axis[ATTEST_AXIS_CAP].value > ATTEST_CAP_SET)
        return attest_refuse(call, "a mask, window, lens or cap of a later version");
    return 1;
}

inline int floats_served(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (p->in != ATTEST_F32 || p->acc != ATTEST_F32 || p->p != ATTEST_F32 || p->out != ATTEST_F32)
        return attest_refuse(call, "only in, acc, p and out f32 are served");
    return 1;
}

/* What all kernels here declare of softmax, but for the schedule. */
inline attest_numerics softmax_numerics()
{
    attest_numerics n = attest_numerics_init();
    n.exp_error = EXP_ERROR;
    n.log2_domain = ATTEST_NO;
    n.cast_in_sum = ATTEST_NO;
    n.p_rounding = ATTEST_ROUNDING_NEAREST;
    n.acc_truncates = ATTEST_NO;
    n.acc_unit = 0x1p-24;
    n.division = ATTEST_DIVISION_AFTER_SUM;
    n.div_error = 0x1p-24;
    n.scale_dtype = 1 + ATTEST_F32;
    n.log_error = LOG_ERROR;
    return n;
}

/* ---- lanes ------------------------------------------------------------------------------------------------------ */
/* Of the `width` neighbouring lanes that the calling one belongs to: a power of two.  A NaN is never the maximum. */
template <int width> __device__ inline float lanes_max(float x)
{
#pragma unroll
    for (int by = width / 2; by > 0; by /= 2)
        x = fmaxf(x, __shfl_xor_sync(all_lanes, x, by));
    return x;
}

template <int width> __device__ inline float lanes_sum(float x)
{
#pragma unroll
    for (int by = width / 2; by > 0; by /= 2)
        x = __fadd_rn(x, __shfl_xor_sync(all_lanes, x, by));
    return x;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------ */
/* Rows [first,first+count) of x, `channels` each, into rows of `stride` floats; all `threads` of the block take part,
 * and whoever reads the tile waits for a barrier first. */
template <int threads>
__device__ inline void load_tile(float *tile, int stride, const cuda_library::view<const float> &x, int64_t b,
                                 int64_t h, int64_t first, int count, int channels)
{
    for (int t = threadIdx.x; t < count * channels; t += threads) {
        const int r = t / channels, c = t % channels;
        tile[r * stride + c] = x.data[x.at(b, h, first + r, c)];
    }
}

} // namespace steps

#endif
