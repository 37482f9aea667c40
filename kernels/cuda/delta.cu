// delta-chunk-cuda-f32: the delta rule (DeltaNet, gated DeltaNet) in float: states between chunks, WY form inside.
//
// Formula    S'_t = a_t S_(t-1), S_t = S'_t + k_t^T w_t, w_t = b_t (gin_t v_t - k_t S'_t), o_i = gout_i scale q_i S_t,
//            t the last token that row i sees; k and q stand for phi(k) and phi(q).  With S before a chunk, D_tj =
//            a_(j+1) .. a_t and D_t the product from the chunk's first token on (R-WY):
//                w_t = b_t (gin_t v_t - D_t k_t S - sum_(j<t) L_tj w_j), L_tj = D_tj <k_t, k_j>
//                o_i = gout_i (D_t q_i S + sum_(j<=t) D_tj <q_i, k_j> w_j), q_i scaled
//            and S := D_T S + sum_j D_Tj k_j^T w_j behind the chunk's last token T.
// Algorithm  A block of 128 threads takes a KV head and 32 channels of v, its chunks one after another: problem.chunk
//            tokens each, at most 64.  S, keys, w and a square matrix lie in shared memory: D above its diagonal, L
//            below.  w by forward substitution, 8 tokens at a time: S and the tokens before them by all threads, then
//            each other by one warp, a lane a channel.  Then 16 rows at a time, each thread some pairs of a row and a
//            key, then some channels of a row.  chunk=1: rows read the state itself.
// Errors     a pair gamma_d, its decays a rounding a token, sums gamma of a chunk and of d, two roundings a written
//            value, two of S a chunk; no inverse is formed, no decay divided.
// Masked     A key that a row does not see takes no part in it.  A row without a key reads h0, or is 0.
// Bits       every operation is named (__fmaf_rn, ..) and in a fixed order: the CPU's bits are the GPU's (but a NaN's).
#include "steps.h"

namespace {

constexpr int threads = 128, warps = threads / 32, tokens = 64, rows = 16, width = 32, group = 8, widest = 128;
constexpr int square = tokens + 1; // floats of a row of the matrix: a column's lie in different banks

// ---- on the device ---------------------------------------------------------------------------------------

struct arguments {
    steps::tokens all;
    steps::states state;
    steps::input beta;
    int64_t chunk;
};

// Where a block's shared memory lies, in floats; d entries of a row stand in rows of `row`.
struct layout {
    int row, S, k, w, M, u, D, a, b, q, p, last, size;
    __host__ __device__ explicit layout(int d)
    {
        row = d + 1; // odd: lanes that read a channel of several rows read different banks
        S = 0;
        k = S + d * width;
        w = k + tokens * row;
        M = w + tokens * width;
        u = M + tokens * square;
        D = u + group * width;
        a = D + tokens;
        b = a + tokens;
        q = b + tokens;
        p = q + rows * row;
        last = p + rows * tokens;
        size = last + rows;
    }
};

// What a thread knows of its block of threads and of the open chunk.
struct task {
    int64_t b, g, from;
    int first, count; // channel of v; tokens
    int row;          // of layout
    float *S, *k, *w, *M, *u, *D, *decay, *beta, *q, *p;
    int *last; // of a row: its last token in the open chunk, -1: none

    // D_tj, j <= t.
    __device__ float decayed(int t, int j) const { return j < t ? M[j * square + t] : 1; }
};

// phi(k), gin v, b and the decays of the open chunk.
__device__ void load_tokens(const task &x, const arguments &a)
{
    for (int t = threadIdx.x; t < x.count * a.all.d; t += threads) {
        const int j = t / a.all.d, c = t % a.all.d;
        x.k[j * x.row + c] = steps::feature_of(a.all.k.data[a.all.k.at(x.b, x.g, x.from + j, c)], a.all.feature);
    }
    for (int t = threadIdx.x; t < x.count * width; t += threads) {
        const int j = t / width, channel = x.first + t % width;
        x.w[t] = channel < a.all.e ? steps::value_of(a.all, x.b, x.g, x.from + j, channel) : 0;
    }
    for (int j = threadIdx.x; j < x.count; j += threads) {
        x.decay[j] = x.from + j > 0 || a.all.given ? steps::decay_of(a.all, x.b, x.g, x.from + j) : 1;
        x.beta[j] = a.beta.data[a.beta.at(x.b, x.g, x.from + j, 0)];
    }
}

// D above the diagonal, then L below: a thread a token, then a thread a pair.  Nobody reads L before the next barrier.
__device__ void make_matrix(const task &x, const arguments &a)
{
    for (int t = threadIdx.x; t < x.count; t += threads) {
        float f = 1;
        for (int j = t - 1; j >= 0; j--) {
            f = a.all.decays ? __fmul_rn(f, x.decay[j + 1]) : f;
            x.M[j * square + t] = f;
        }
        x.D[t] = a.all.decays ? __fmul_rn(f, x.decay[0]) : f;
    }
    __syncthreads(); // decays are multiplied
    for (int pair = threadIdx.x; pair < x.count * x.count; pair += threads) {
        const int t = pair / x.count, j = pair % x.count;
        float dot = 0;
        for (int c = 0; j < t && c < a.all.d; c++)
            dot = __fmaf_rn(x.k[t * x.row + c], x.k[j * x.row + c], dot);
        if (j < t)
            x.M[t * square + j] = __fmul_rn(x.decayed(t, j), dot);
    }
}

// w of the open chunk, in place of gin v.
__device__ void substitute(const task &x, const arguments &a)
{
    const int c = threadIdx.x % width, warp = threadIdx.x / width;
    for (int first = 0; first < x.count; first += group) {
        const int end = first + group < x.count ? first + group : x.count;
        for (int t = first + warp; t < end; t += warps) {
            float far = 0, near = 0;
            for (int s = 0; s < a.all.d; s++)
                far = __fmaf_rn(x.k[t * x.row + s], x.S[s * width + c], far);
            for (int j = 0; j < first; j++)
                near = __fmaf_rn(x.M[t * square + j], x.w[j * width + c], near);
            x.u[(t - first) * width + c] = __fmaf_rn(x.D[t], far, near);
        }
        __syncthreads(); // what S and the tokens before say
        for (int t = first; warp == 0 && t < end; t++) {
            float sum = x.u[(t - first) * width + c];
            for (int j = first; j < t; j++)
                sum = __fmaf_rn(x.M[t * square + j], x.w[j * width + c], sum);
            x.w[t * width + c] = __fmul_rn(x.beta[t], __fsub_rn(x.w[t * width + c], sum));
        }
        __syncthreads(); // the group is written
    }
}

// Rows [i,i+count) of head h.
__device__ void read_rows(const task &x, const arguments &a, int64_t h, int64_t i, int count)
{
    for (int t = threadIdx.x; t < count * a.all.d; t += threads) {
        const int r = t / a.all.d, c = t % a.all.d;
        const float q = steps::feature_of(a.all.q.data[a.all.q.at(x.b, h, i + r, c)], a.all.feature);
        x.q[r * x.row + c] = __fmul_rn(a.all.scale, q);
    }
    __syncthreads(); // queries are there
    for (int pair = threadIdx.x; pair < count * tokens; pair += threads) {
        const int r = pair / tokens, j = pair % tokens;
        float dot = 0;
        for (int c = 0; j <= x.last[r] && c < a.all.d; c++)
            dot = __fmaf_rn(x.q[r * x.row + c], x.k[j * x.row + c], dot);
        if (j <= x.last[r])
            x.p[pair] = __fmul_rn(x.decayed(x.last[r], j), dot);
    }
    __syncthreads(); // pairs are there
    const int c = threadIdx.x % width, channel = x.first + c;
    for (int r = threadIdx.x / width; channel < a.all.e && r < count; r += warps) {
        float far = 0, near = 0;
        for (int s = 0; s < a.all.d; s++)
            far = __fmaf_rn(x.q[r * x.row + s], x.S[s * width + c], far);
        for (int j = 0; j <= x.last[r]; j++)
            near = __fmaf_rn(x.p[r * tokens + j], x.w[j * width + c], near);
        const bool empty = x.from == 0 && x.last[r] < 0 && !a.all.given; // no key and no state
        const float f = x.last[r] < 0 ? 1 : x.D[x.last[r]];
        steps::write_row(a.all, x.b, h, i + r, channel, __fmaf_rn(f, far, near), 0, empty);
    }
    __syncthreads(); // queries and pairs are used up
}

// The rows from i on that see no token behind the open chunk, 16 at a time, for each query head; returns the first row
// behind them.
__device__ int64_t read_chunk(const task &x, const arguments &a, int64_t len, int64_t i)
{
    const int64_t heads = a.all.hq / a.all.hkv;
    for (;;) {
        int count = 0;
        for (; count < rows && i + count < a.all.seen.n; count++) {
            const int64_t end = a.all.seen.seen(len, i + count).last;
            if (end > x.from + x.count)
                break;
            if (threadIdx.x == 0)
                x.last[count] = end > x.from ? static_cast<int>(end - x.from) - 1 : -1;
        }
        if (count == 0)
            return i;
        for (int64_t h = x.g * heads; h < (x.g + 1) * heads; h++)
            read_rows(x, a, h, i, count);
        i += count;
    }
}

// S := D S + sum_j (D_j k_j)^T w_j, as of the chunk's last token; no chunk is open then.
__device__ void close_chunk(task &x, const arguments &a)
{
    const int end = x.count - 1;
    for (int t = threadIdx.x; t < x.count * a.all.d; t += threads) {
        const int j = t / a.all.d, at = j * x.row + t % a.all.d;
        x.k[at] = __fmul_rn(x.decayed(end, j), x.k[at]);
    }
    __syncthreads(); // keys are decayed
    for (int t = threadIdx.x; t < a.all.d * width; t += threads) {
        float sum = 0;
        for (int j = 0; j <= end; j++)
            sum = __fmaf_rn(x.k[j * x.row + t / width], x.w[j * width + t % width], sum);
        x.S[t] = __fmaf_rn(x.D[end], x.S[t], sum);
    }
    __syncthreads(); // the state is whole, and the tokens are used up
    x.from += x.count;
    x.count = 0;
}

__global__ void __launch_bounds__(threads) delta(arguments a)
{
    extern __shared__ float shared[];
    const layout at(a.all.d);
    const int64_t slices = (a.all.e + width - 1) / width, head = blockIdx.x / slices;
    const int64_t b = head / a.all.hkv, len = a.all.seen.length(b);
    const int64_t total = a.all.seen.seen(len, a.all.seen.n - 1).last;
    task x = { b,
               head % a.all.hkv,
               0,
               static_cast<int>(blockIdx.x % slices) * width,
               0,
               at.row,
               shared + at.S,
               shared + at.k,
               shared + at.w,
               shared + at.M,
               shared + at.u,
               shared + at.D,
               shared + at.a,
               shared + at.b,
               shared + at.q,
               shared + at.p,
               reinterpret_cast<int *>(shared + at.last) };
    steps::load_state<threads, width>(x.S, a.state, a.all, b, x.g, x.first);
    for (int64_t i = 0;;) {
        i = read_chunk(x, a, len, i);
        if (x.count > 0)
            close_chunk(x, a);
        if (x.from >= total)
            break;
        x.count = static_cast<int>(total - x.from < a.chunk ? total - x.from : a.chunk);
        load_tokens(x, a);
        __syncthreads(); // state and tokens are there
        make_matrix(x, a);
        substitute(x, a);
        if (a.chunk == 1)
            close_chunk(x, a);
    }
    steps::store_state<threads, width>(x.S, a.state, a.all, b, x.g, x.first);
}

// ---- on the host ---------------------------------------------------------------------------------------------

int supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_setting *x = p->axis, *weight = x + ATTEST_AXIS_WEIGHT;
    if (x[ATTEST_AXIS_UPDATE].value != ATTEST_UPDATE_DELTA)
        return attest_refuse_axis(call, ATTEST_AXIS_UPDATE);
    if (weight->value != ATTEST_WEIGHT_POWER || weight->order != 1)
        return attest_refuse(call, "only weight=power:1 is served");
    if (x[ATTEST_AXIS_NORM].value != ATTEST_NORM_NONE)
        return attest_refuse_axis(call, ATTEST_AXIS_NORM);
    if (x[ATTEST_AXIS_MASK].value == ATTEST_MASK_FULL)
        return attest_refuse_axis(call, ATTEST_AXIS_MASK);
    if (!steps::tokens_served(call, ATTEST_DECAY_SCALAR, ATTEST_BIT(ATTEST_AXIS_UPDATE)) || !steps::floats_served(call))
        return 0;
    if (p->chunk > tokens && p->m > tokens)
        return attest_refuse(call, "a chunk of more than 64 tokens is not served");
    if (p->b * p->hkv > INT32_MAX / ((p->e + width - 1) / width))
        return attest_refuse(call, "more than 2^31-1 blocks");
    return 1;
}

attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (!cuda_library::present())
        return ATTEST_NO_DEVICE;
    const arguments a = { steps::tokens_of(call), steps::states_of(call, 1),
                          cuda_library::view_of<const float>(call->tensors->role[ATTEST_BETA]),
                          p->chunk > 0 ? p->chunk : 1 };
    const layout at(a.all.d);
    const unsigned blocks = static_cast<unsigned>(p->b * p->hkv * ((p->e + width - 1) / width));
    const size_t size = static_cast<size_t>(at.size) * sizeof(float);
    const attest_status status = cuda_library::allow(call, delta, size);
    if (status != ATTEST_OK)
        return status;
    delta<<<blocks, threads, size, cuda_library::stream_of(call)>>>(a);
    return cuda_library::launched(call);
}

attest_numerics declare_numerics()
{
    attest_numerics n = steps::tokens_numerics();
    n.schedule = ATTEST_SCHEDULE_CHUNK;
    n.scaled_dtype = 1 + ATTEST_F32;
    return n;
}

const attest_numerics numerics = declare_numerics();
const attest_limits limits = cuda_library::widths(widest, 0);

attest_kernel declare_kernel()
{
    attest_kernel k = cuda_library::kernel_of("delta-chunk-cuda-f32", "kernels/cuda/delta.cu", &numerics, &limits);
    k.form = ATTEST_CHUNK;
    k.outputs |= ATTEST_GIVES_STATE | ATTEST_TAKES_STATE;
    k.summary = "delta rule: a matrix in shared memory between chunks, forward substitution of WY inside; float";
    k.variants = "deltanet gdn sla-deltanet sla-gdn";
    k.supports = supports;
    k.run = run;
    return k;
}

const attest_kernel kernel = declare_kernel();
const attest_kernel *const kernels[] = { &kernel };

} // namespace

extern "C" const attest_library *attest_library_v2(const attest_host *)
{
    return cuda_library::library("attest CUDA kernels: the delta rule", kernels);
}
