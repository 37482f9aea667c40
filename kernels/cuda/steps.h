/* steps.h - what the kernels of this folder share: which keys a row sees, features, gates and norms, tiles of floats,
 * sums of lanes; on the host's side what they serve, are given and declare.
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

/* What kernels of softmax are given; `type` is that of q, k and v. */
template <class type> struct softmax {
    cuda_library::view<const type> q, k, v;
    cuda_library::view<float> o, lse;
    visibility seen;
    int64_t hq, hkv;
    int d, e;
    float scale, cap;
};

template <class type> inline softmax<type> softmax_of(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensor *const *t = call->tensors->role;
    const auto in = cuda_library::view_of<const type>;
    const auto out = cuda_library::view_of<float>;
    return { in(t[ATTEST_Q]),
             in(t[ATTEST_K]),
             in(t[ATTEST_V]),
             out(t[ATTEST_O]),
             out(t[ATTEST_LSE]),
             keys_of(call),
             p->hq,
             p->hkv,
             static_cast<int>(p->d),
             static_cast<int>(p->e),
             static_cast<float>(p->scale),
             cap_of(p) };
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

/* ---- tokens of the kernels with states ------------------------------------------------------------------------- */
typedef cuda_library::view<const float> input;
typedef cuda_library::view<float> output;

/* What they are given, but for the states themselves. */
struct tokens {
    input q, k, v, decay, gamma, gin, gout, k_logits, q_logits;
    output o, u, z;
    visibility seen;
    int64_t hq, hkv;
    int d, e, feature, decays, gates, norm, given;
    float scale, floor;
};

__device__ inline float feature_of(float x, int feature)
{
    if (feature == ATTEST_FEATURE_RELU)
        return x < 0 ? 0 : x; /* a NaN stays one */
    if (feature == ATTEST_FEATURE_ELU1)
        return x >= 0 ? __fadd_rn(x, 1) : warp::exp(x);
    return x;
}

/* e^(x_h - m) / sum e^(x - m) over the heads of x[b,:,token]. */
__device__ inline float gate_of_heads(const input &x, int64_t b, int64_t heads, int64_t h, int64_t token)
{
    float m = -INFINITY, sum = 0;
    for (int64_t t = 0; t < heads; t++)
        m = fmaxf(m, x.data[x.at(b, t, token, 0)]);
    for (int64_t t = 0; t < heads; t++)
        sum = __fadd_rn(sum, warp::exp(__fsub_rn(x.data[x.at(b, t, token, 0)], m)));
    return __fdiv_rn(warp::exp(__fsub_rn(x.data[x.at(b, h, token, 0)], m)), sum);
}

/* Channel c of gin_j v_j. */
__device__ inline float value_of(const tokens &a, int64_t b, int64_t g, int64_t j, int c)
{
    const float v = a.v.data[a.v.at(b, g, j, c)];
    if (a.gates == ATTEST_GATES_HEADS)
        return __fmul_rn(gate_of_heads(a.k_logits, b, a.hkv, g, j), v);
    return a.gin.data ? __fmul_rn(a.gin.data[a.gin.at(b, g, j, 0)], v) : v;
}

/* a_t of a KV head, where it is one number. */
__device__ inline float decay_of(const tokens &a, int64_t b, int64_t g, int64_t t)
{
    if (a.decays == ATTEST_DECAY_RETNET)
        return a.gamma.data[a.gamma.at(g, 0, 0, 0)];
    return a.decays == ATTEST_DECAY_SCALAR ? a.decay.data[a.decay.at(b, g, t, 0)] : 1;
}

/* Writes channel c of a row of u and, with the first one, z; returns that of o.  `empty`: no key and no state. */
__device__ inline float row_of(const tokens &a, int64_t b, int64_t h, int64_t i, int c, float u, float z, bool empty)
{
    float gout = a.gout.data ? a.gout.data[a.gout.at(b, h, i, 0)] : 1;
    if (a.gates == ATTEST_GATES_HEADS)
        gout = gate_of_heads(a.q_logits, b, a.hq, h, i);
    if (empty)
        u = z = 0;
    if (a.u.data)
        a.u.data[a.u.at(b, h, i, c)] = u;
    if (a.z.data && c == 0)
        a.z.data[a.z.at(b, h, i, 0)] = z;
    if (a.norm == ATTEST_NORM_FLOOR && z < a.floor)
        z = a.floor;
    if (a.gates == ATTEST_GATES_PRE_OUT)
        u = __fmul_rn(gout, u);
    if (a.norm != ATTEST_NORM_NONE && !empty)
        u = __fdiv_rn(u, z);
    if (a.gates != ATTEST_GATES_PRE_OUT)
        u = __fmul_rn(gout, u);
    return u;
}

__device__ inline void write_row(const tokens &a, int64_t b, int64_t h, int64_t i, int c, float u, float z, bool empty)
{
    a.o.put(b, h, i, c, row_of(a, b, h, i, c, u, z, empty));
}

/* 1 if all axes but weight, and those that the caller knows more of, are served; decays up to `decays`. */
inline int tokens_served(const attest_call *call, uint32_t decays, uint64_t known = 0)
{
    const attest_setting *x = call->problem->axis;
    const uint64_t served = ATTEST_BIT(ATTEST_AXIS_WEIGHT) | ATTEST_BIT(ATTEST_AXIS_FEATURE) |
                            ATTEST_BIT(ATTEST_AXIS_MASK) | ATTEST_BIT(ATTEST_AXIS_LENS) |
                            ATTEST_BIT(ATTEST_AXIS_DECAY) | ATTEST_BIT(ATTEST_AXIS_GATES) |
                            ATTEST_BIT(ATTEST_AXIS_NORM) | ATTEST_BIT(ATTEST_AXIS_STATE);
    static const uint32_t last[][2] = {
        { ATTEST_AXIS_FEATURE, ATTEST_FEATURE_RELU }, { ATTEST_AXIS_MASK, ATTEST_MASK_CAUSAL_BR },
        { ATTEST_AXIS_LENS, ATTEST_LENS_DRAW },       { ATTEST_AXIS_GATES, ATTEST_GATES_HEADS },
        { ATTEST_AXIS_NORM, ATTEST_NORM_NONE },       { ATTEST_AXIS_STATE, ATTEST_STATE_DRAW }
    };
    const int axis = attest_axis_unserved(call->problem, served | known);
    if (axis >= 0)
        return attest_refuse_axis(call, axis);
    for (const auto &row : last)
        if (x[row[0]].value > row[1])
            return attest_refuse_axis(call, static_cast<int>(row[0]));
    if (x[ATTEST_AXIS_DECAY].value > decays)
        return attest_refuse_axis(call, ATTEST_AXIS_DECAY);
    if (x[ATTEST_AXIS_NORM].value == ATTEST_NORM_SINK)
        return attest_refuse_axis(call, ATTEST_AXIS_NORM);
    if (x[ATTEST_AXIS_DECAY].value && x[ATTEST_AXIS_LENS].value)
        return attest_refuse(call, "decays with lens=draw are not served");
    return 1;
}

inline tokens tokens_of(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensor *const *t = call->tensors->role;
    const auto in = cuda_library::view_of<const float>;
    const auto out = cuda_library::view_of<float>;
    const auto value = [p](int axis) { return static_cast<int>(p->axis[axis].value); };
    return { in(t[ATTEST_Q]),
             in(t[ATTEST_K]),
             in(t[ATTEST_V]),
             in(t[ATTEST_DECAY]),
             in(t[ATTEST_GAMMA]),
             in(t[ATTEST_GIN]),
             in(t[ATTEST_GOUT]),
             in(t[ATTEST_K_HEAD_LOGITS]),
             in(t[ATTEST_Q_HEAD_LOGITS]),
             out(t[ATTEST_O]),
             out(t[ATTEST_U]),
             out(t[ATTEST_Z]),
             keys_of(call),
             p->hq,
             p->hkv,
             static_cast<int>(p->d),
             static_cast<int>(p->e),
             value(ATTEST_AXIS_FEATURE),
             value(ATTEST_AXIS_DECAY),
             value(ATTEST_AXIS_GATES),
             value(ATTEST_AXIS_NORM),
             value(ATTEST_AXIS_STATE),
             static_cast<float>(p->scale),
             static_cast<float>(p->axis[ATTEST_AXIS_NORM].number) };
}

/* The states of a degree: `given` (tokens) says whether h0 and z0 are; a NULL of them has no data. */
struct states {
    input h0, z0;
    output ht, zt;
};

inline states states_of(const attest_call *call, uint32_t degree)
{
    const attest_tensors *t = call->tensors;
    const int given = call->problem->axis[ATTEST_AXIS_STATE].value == ATTEST_STATE_DRAW;
    return { cuda_library::view_of<const float>(given ? t->h0[degree] : nullptr),
             cuda_library::view_of<const float>(given ? t->z0[degree] : nullptr),
             cuda_library::view_of<float>(t->ht[degree]), cuda_library::view_of<float>(t->zt[degree]) };
}

/* S, d rows of `width` channels of v from `first` on, of KV head (b,g); channels from e on are 0. */
template <int threads, int width>
__device__ inline void load_state(float *S, const states &s, const tokens &a, int64_t b, int64_t g, int first)
{
    for (int t = threadIdx.x; t < a.d * width; t += threads) {
        const int c = first + t % width;
        S[t] = s.h0.data && c < a.e ? s.h0.data[s.h0.at(b, g, t / width, c)] : 0;
    }
}

template <int threads, int width>
__device__ inline void store_state(const float *S, const states &s, const tokens &a, int64_t b, int64_t g, int first)
{
    for (int t = threadIdx.x; s.ht.data && t < a.d * width; t += threads) {
        const int c = first + t % width;
        if (c < a.e)
            s.ht.data[s.ht.at(b, g, t / width, c)] = S[t];
    }
}

/* What kernels with states declare, but for the schedule. */
inline attest_numerics tokens_numerics()
{
    attest_numerics n = attest_numerics_init();
    n.exp_error = EXP_ERROR;
    n.acc_truncates = ATTEST_NO;
    n.acc_unit = 0x1p-24;
    n.division = ATTEST_DIVISION_AFTER_SUM;
    n.div_error = 0x1p-24;
    n.scale_dtype = 1 + ATTEST_F32;
    n.state_dtype = 1 + ATTEST_F32;
    n.decay_products = ATTEST_YES;
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
