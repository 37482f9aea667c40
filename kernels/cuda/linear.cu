// linear-chunk-cuda-f32: linear attention, RetNet and gated linear attention in float, states between blocks of tokens.
//
// Formula    u_i = sum_(j<=i) D_ij s_ij gin_j v_j, z_i = sum_(j<=i) D_ij s_ij, s_ij = <scale phi(q_i), phi(k_j)>,
//            o_i = gout_i Norm(u_i, z_i), D_ij = a_(j+1) .. a_i; decay=vector: a_t has an entry for each of the
//            products that s_ij is the sum of.  A given state h0, z0 counts as tokens before the first.
// Algorithm  A block of 128 threads takes a KV head and 32 channels of v, and its tokens one after another in blocks of
//            at most 32, which end where a chunk of problem.chunk tokens ends.  S and Z lie in shared memory.  32 rows
//            at a time, four lanes a row: the query walks back from its own token to the block's first, w_ij = D s_ij
//            on the way; what is left of it reads S.  u_i = sum_j w_ij v_j + f q_i S, channel by channel.  At the
//            block's end the keys walk forwards to its last token, S = f S + sum_j (D_j k_j)^T v_j, Z likewise.
//            Every product of decays has one factor a token: none is divided, and none is a logarithm.
// Errors     phi and scale a rounding each, e^x warp.h; s gamma_d, D a rounding a token, sums gamma of a block and of
//            d, a rounding of S a block.  Blocks shorter than a chunk are another order of the chunk's addends.
// Masked     A key that a row does not see is not read for it.  A row without a key reads h0, or is 0.
// Bits       every operation is named (__fmaf_rn, ..) and in a fixed order: the CPU's bits are the GPU's (but a NaN's).
#include "steps.h"

namespace {

constexpr int threads = 128, tokens = 32, rows = 32, width = 32, lanes = threads / rows, widest = 128;

// ---- on the device ---------------------------------------------------------------------------------------

struct arguments {
    steps::tokens all;
    steps::states state;
    int64_t chunk;
};

// Where a block's shared memory lies, in floats; d entries of a row stand in rows of `row`.
struct layout {
    int row, S, Z, k, v, a, q, w, f, z, keep, last, size;
    __host__ __device__ explicit layout(int d, bool vector)
    {
        row = d + 1; // odd: lanes that read a channel of several rows read different banks
        S = 0;
        Z = S + d * width;
        k = Z + d;
        v = k + tokens * row;
        a = v + tokens * width;
        q = a + tokens * (vector ? row : 1);
        w = q + rows * row;
        f = w + rows * (tokens + 1);
        z = f + rows;
        keep = z + rows;
        last = keep + d;
        size = last + rows;
    }
};

// What a thread knows of its block of threads and of the open block of tokens.
struct task {
    int64_t b, g, from;
    int first, count; // channel of v; tokens
    int len;          // of row
    bool vector;
    float *S, *Z, *k, *v, *a, *q, *w, *f, *z, *keep;
};

__device__ void load_state(const task &x, const arguments &a)
{
    steps::load_state<threads, width>(x.S, a.state, a.all, x.b, x.g, x.first);
    for (int c = threadIdx.x; c < a.all.d; c += threads)
        x.Z[c] = a.state.z0.data ? a.state.z0.data[a.state.z0.at(x.b, x.g, c, 0)] : 0;
}

__device__ void store_state(const task &x, const arguments &a)
{
    steps::store_state<threads, width>(x.S, a.state, a.all, x.b, x.g, x.first);
    for (int c = threadIdx.x; a.state.zt.data && x.first == 0 && c < a.all.d; c += threads)
        a.state.zt.data[a.state.zt.at(x.b, x.g, c, 0)] = x.Z[c];
}

// phi(k), gin v and the decays of the open block.
__device__ void load_tokens(const task &x, const arguments &a)
{
    for (int t = threadIdx.x; t < x.count * a.all.d; t += threads) {
        const int j = t / a.all.d, c = t % a.all.d;
        x.k[j * x.len + c] = steps::feature_of(a.all.k.data[a.all.k.at(x.b, x.g, x.from + j, c)], a.all.feature);
        if (x.vector)
            x.a[j * x.len + c] = a.all.decay.data[a.all.decay.at(x.b, x.g, x.from + j, c)];
    }
    for (int t = threadIdx.x; t < x.count * width; t += threads) {
        const int j = t / width, channel = x.first + t % width;
        x.v[t] = channel < a.all.e ? steps::value_of(a.all, x.b, x.g, x.from + j, channel) : 0;
    }
    for (int j = threadIdx.x; !x.vector && j < x.count; j += threads)
        x.a[j] = steps::decay_of(a.all, x.b, x.g, x.from + j);
}

// Row r of the tile, whose last key is token `last` of the block (-1: none): weights of its keys, what its query is
// worth at S, and z.  Four lanes, each every fourth channel.
__device__ void walk_back(const task &x, const arguments &a, int r, int last, int most)
{
    const int lane = threadIdx.x % lanes;
    float *q = x.q + r * x.len, f = 1, sum = 0;
    for (int j = most; j >= 0; j--) {
        float dot = 0;
        for (int c = lane; j <= last && c < a.all.d; c += lanes) {
            dot = __fmaf_rn(q[c], x.k[j * x.len + c], dot);
            if (x.vector)
                q[c] = __fmul_rn(q[c], x.a[j * x.len + c]);
        }
        dot = __fmul_rn(f, steps::lanes_sum<lanes>(dot));
        if (j > last)
            continue;
        if (!x.vector && a.all.decays)
            f = __fmul_rn(f, x.a[j]);
        sum = __fadd_rn(sum, dot);
        if (lane == 0)
            x.w[r * (tokens + 1) + j] = dot;
    }
    float far = 0;
    for (int c = lane; c < a.all.d; c += lanes)
        far = __fmaf_rn(q[c], x.Z[c], far);
    far = steps::lanes_sum<lanes>(far);
    if (lane == 0) {
        x.f[r] = f;
        x.z[r] = __fmaf_rn(f, far, sum);
    }
}

// Rows [i,i+count) of head h: each thread a channel and every fourth row.
__device__ void read_rows(const task &x, const arguments &a, const int *last, int64_t h, int64_t i, int count)
{
    const int c = threadIdx.x % width, channel = x.first + c;
    for (int r = threadIdx.x / width; channel < a.all.e && r < count; r += threads / width) {
        const float *q = x.q + r * x.len, *w = x.w + r * (tokens + 1);
        float near = 0, far = 0;
        for (int j = last[r]; j >= 0; j--)
            near = __fmaf_rn(w[j], x.v[j * width + c], near);
        for (int k = 0; k < a.all.d; k++)
            far = __fmaf_rn(q[k], x.S[k * width + c], far);
        const bool empty = last[r] < 0 && x.from == 0 && !a.all.given; // no key and no state
        steps::write_row(a.all, x.b, h, i + r, channel, __fmaf_rn(x.f[r], far, near), x.z[r], empty);
    }
}

// The rows from i on whose last key is in the open block, 32 at a time, for each query head; returns the first row
// behind them.
__device__ int64_t read_block(const task &x, const arguments &a, int *last, int64_t len, int64_t i)
{
    const int64_t group = a.all.hq / a.all.hkv;
    while (i < a.all.seen.n && a.all.seen.seen(len, i).last <= x.from + x.count) {
        int count = 0, most = -1;
        for (; count < rows && i + count < a.all.seen.n; count++) {
            const int64_t end = a.all.seen.seen(len, i + count).last;
            if (end > x.from + x.count)
                break;
            most = end > x.from ? static_cast<int>(end - x.from) - 1 : -1;
            if (threadIdx.x == 0)
                last[count] = most;
        }
        for (int64_t h = x.g * group; h < (x.g + 1) * group; h++) {
            for (int t = threadIdx.x; t < count * a.all.d; t += threads) {
                const float q = steps::feature_of(a.all.q.data[a.all.q.at(x.b, h, i + t / a.all.d, t % a.all.d)],
                                                  a.all.feature);
                x.q[t / a.all.d * x.len + t % a.all.d] = __fmul_rn(a.all.scale, q);
            }
            __syncthreads(); // queries are there
            const int r = threadIdx.x / lanes;
            walk_back(x, a, r, r < count ? last[r] : -1, most);
            __syncthreads(); // weights are there
            read_rows(x, a, last, h, i, count);
            __syncthreads(); // queries and weights are used up
        }
        i += count;
    }
    return i;
}

// S = f S + sum_j (D_j k_j)^T v_j, Z likewise.
__device__ void close_block(const task &x, const arguments &a)
{
    for (int c = threadIdx.x; c < a.all.d; c += threads) {
        float f = 1, sum = 0;
        for (int j = x.count - 1; j >= 0; j--) {
            const float k = __fmul_rn(f, x.k[j * x.len + c]);
            x.k[j * x.len + c] = k;
            sum = __fadd_rn(sum, k);
            if (a.all.decays)
                f = __fmul_rn(f, x.vector ? x.a[j * x.len + c] : x.a[j]);
        }
        x.keep[c] = f;
        x.Z[c] = __fmaf_rn(f, x.Z[c], sum);
    }
    __syncthreads(); // keys are decayed
    for (int t = threadIdx.x; t < a.all.d * width; t += threads) {
        float sum = 0;
        for (int j = 0; j < x.count; j++)
            sum = __fmaf_rn(x.k[j * x.len + t / width], x.v[j * width + t % width], sum);
        x.S[t] = __fmaf_rn(x.keep[t / width], x.S[t], sum);
    }
    __syncthreads(); // the state is whole, and the tokens are used up
}

__global__ void __launch_bounds__(threads, 2) linear(arguments a)
{
    extern __shared__ float shared[];
    const bool vector = a.all.decays == ATTEST_DECAY_VECTOR;
    const layout at(a.all.d, vector);
    const int64_t slices = (a.all.e + width - 1) / width, g = blockIdx.x / slices % a.all.hkv,
                  b = blockIdx.x / slices / a.all.hkv;
    const int64_t len = a.all.seen.length(b), total = a.all.seen.seen(len, a.all.seen.n - 1).last;
    int *last = reinterpret_cast<int *>(shared + at.last);
    task x = { b,
               g,
               0,
               static_cast<int>(blockIdx.x % slices) * width,
               0,
               at.row,
               vector,
               shared + at.S,
               shared + at.Z,
               shared + at.k,
               shared + at.v,
               shared + at.a,
               shared + at.q,
               shared + at.w,
               shared + at.f,
               shared + at.z,
               shared + at.keep };
    int64_t i = 0;
    load_state(x, a);
    do {
        const int64_t left = a.chunk - x.from % a.chunk, most = left < tokens ? left : tokens;
        x.count = static_cast<int>(total - x.from < most ? total - x.from : most);
        load_tokens(x, a);
        __syncthreads(); // state and tokens are there
        i = read_block(x, a, last, len, i);
        close_block(x, a);
        x.from += x.count;
    } while (x.from < total);
    store_state(x, a);
}

// ---- on the host ---------------------------------------------------------------------------------------------

int supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    if ((weight->value != ATTEST_WEIGHT_TERM && weight->value != ATTEST_WEIGHT_POWER) || weight->order != 1)
        return attest_refuse(call, "only weight=power:1 and term:1 are served");
    if (!steps::tokens_served(call, ATTEST_DECAY_VECTOR) || !steps::floats_served(call))
        return 0;
    if (p->b * p->hkv > INT32_MAX / ((p->e + width - 1) / width))
        return attest_refuse(call, "more than 2^31-1 blocks");
    return 1;
}

attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (!cuda_library::present())
        return ATTEST_NO_DEVICE;
    const arguments a = { steps::tokens_of(call), steps::states_of(call, 1), p->chunk > 0 ? p->chunk : 1 };
    const layout at(a.all.d, a.all.decays == ATTEST_DECAY_VECTOR);
    const unsigned blocks = static_cast<unsigned>(p->b * p->hkv * ((p->e + width - 1) / width));
    const size_t size = static_cast<size_t>(at.size) * sizeof(float);
    const attest_status status = cuda_library::allow(call, linear, size);
    if (status != ATTEST_OK)
        return status;
    linear<<<blocks, threads, size, cuda_library::stream_of(call)>>>(a);
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
    attest_kernel k = cuda_library::kernel_of("linear-chunk-cuda-f32", "kernels/cuda/linear.cu", &numerics, &limits);
    k.form = ATTEST_CHUNK;
    k.outputs |= ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE;
    k.summary = "a state in shared memory between blocks of tokens, pairs inside; decays by products; float";
    k.variants = "linear linear-elu linear-relu term:1 retnet gla simple-gla sla sla-retnet sla-gla";
    k.supports = supports;
    k.run = run;
    return k;
}

const attest_kernel kernel = declare_kernel();
const attest_kernel *const kernels[] = { &kernel };

} // namespace

extern "C" const attest_library *attest_library_v2(const attest_host *)
{
    return cuda_library::library("attest CUDA kernels: linear attention", kernels);
}
