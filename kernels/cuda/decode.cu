// softmax-decode-cuda-f32: softmax attention of few queries and many keys in float; parts of the keys side by side.
//
// Formula    o_i = sum_j e^(s_ij) v_j / sum_j e^(s_ij), s_ij = scale <q_i,k_j>, then s := cap tanh(s/cap) if cap is
//            set; j over the keys that mask, window and lens leave visible; lse_i = log sum_j e^(s_ij).
// Algorithm  decode_part: a block of 128 threads takes a KV head, up to 8 rows of its query heads and one of
//            problem.splits parts of the keys, in tiles of 64.  Per tile: K to shared memory; each thread the scores of
//            one key and every second row; a warp every fourth row: m' = max(m, s), p = e^(s-m'), l = e^(m-m') l +
//            sum p; each thread a channel of v: u = e^(m-m') u + sum p v, key by key.  (m, l, u) of a part go to the
//            workspace.  decode_merge: a block a row: M = max m, o = sum e^(m-M) u / sum e^(m-M) l, part by part,
//            lse = M + log of that sum.
// Errors     scores gamma_d, scale, cap; e^x warp.h; sums gamma of a part's keys, a rescaling a tile, one a part; one
//            division.  A row without visible keys: o = 0, lse = -inf.
// Bits       every operation is named (__fmaf_rn, ..) and in a fixed order: the CPU's bits are the GPU's (but a NaN's).
#include "steps.h"

namespace {

constexpr int keys = 64, threads = 128, rows = 8, widest = 128;
constexpr int most_queries = 64;

// ---- on the device ---------------------------------------------------------------------------------------

struct arguments : steps::softmax<float> {
    int64_t parts;
    float *part; // [b][hq][n][parts][e + 2]: u, m, l
};

__device__ float *part_of(const arguments &a, int64_t b, int64_t h, int64_t i, int64_t part)
{
    return a.part + (((b * a.hq + h) * a.seen.n + i) * a.parts + part) * (a.e + 2);
}

// The rows of a block: row r of a KV head is query (first + r) % n of its query head (first + r) / n.
struct block_rows {
    int64_t b, g, first;
    int count;
    __device__ int64_t head(const arguments &a, int r) const { return g * (a.hq / a.hkv) + (first + r) / a.seen.n; }
    __device__ int64_t query(const arguments &a, int r) const { return (first + r) % a.seen.n; }
};

struct storage {
    float q[rows][widest], k[keys][widest + 1], p[rows][keys], shrink[rows];
};

// Row r of the tile as its warp knows it; l: each lane its own keys.
struct row {
    steps::range seen;
    float m, l;
};

// Thread t the key t % 64 and rows t / 64, t / 64 + 2, ..: serial in the channels.
__device__ void score_tile(storage &s, const arguments &a, int count, int rows_here)
{
    const int j = threadIdx.x % keys, half = threadIdx.x / keys;
    float dot[rows / 2] = {};
    if (j >= count)
        return;
    for (int c = 0; c < a.d; c++) {
        const float k = s.k[j][c];
#pragma unroll
        for (int r = 0; r < rows / 2; r++)
            if (2 * r + half < rows_here)
                dot[r] = __fmaf_rn(s.q[2 * r + half][c], k, dot[r]);
    }
#pragma unroll
    for (int r = 0; r < rows / 2; r++)
        s.p[2 * r + half][j] = steps::score_of(dot[r], a.scale, a.cap);
}

// Scores of row r become weights of the new maximum, by the 32 lanes of a warp.
__device__ void weigh(storage &s, int r, row &x, int64_t key, int count)
{
    const int lane = threadIdx.x % 32;
    float w[keys / 32], top = x.m, sum = 0;
#pragma unroll
    for (int t = 0; t < keys / 32; t++) {
        const int j = lane + 32 * t;
        w[t] = j < count && key + j >= x.seen.first && key + j < x.seen.last ? s.p[r][j] : -INFINITY;
        top = fmaxf(top, w[t]);
    }
    top = steps::lanes_max<32>(top);
    const float from = top == -INFINITY ? 0 : top; // no key seen yet: every weight is 0
    const float shrink = warp::exp(__fsub_rn(x.m, from));
#pragma unroll
    for (int t = 0; t < keys / 32; t++) {
        w[t] = warp::exp(__fsub_rn(w[t], from));
        sum = __fadd_rn(sum, w[t]);
        s.p[r][lane + 32 * t] = w[t];
    }
    x.l = __fmaf_rn(x.l, shrink, sum);
    x.m = top;
    if (lane == 0)
        s.shrink[r] = shrink;
}

// u = shrink u + sum p v in the thread's channel c.
__device__ void add_values(float (&u)[rows], const storage &s, const arguments &a, const block_rows &x, int64_t key,
                           int count)
{
    const int c = threadIdx.x;
    if (c >= a.e)
        return;
#pragma unroll
    for (int r = 0; r < rows; r++)
        if (r < x.count)
            u[r] = __fmul_rn(u[r], s.shrink[r]);
    for (int j = 0; j < count; j++) {
        const float v = a.v.data[a.v.at(x.b, x.g, key + j, c)];
#pragma unroll
        for (int r = 0; r < rows; r++)
            if (r < x.count)
                u[r] = __fmaf_rn(s.p[r][j], v, u[r]);
    }
}

// Keys of a part that some row of the block sees.
__device__ steps::range part_range(const arguments &a, const block_rows &x, int64_t len, int64_t part)
{
    steps::range some = { len * part / a.parts, len * (part + 1) / a.parts };
    int64_t first = some.last, last = some.first;
    for (int r = 0; r < x.count; r++) {
        const steps::range seen = a.seen.seen(len, x.query(a, r));
        first = seen.first < first ? seen.first : first;
        last = seen.last > last ? seen.last : last;
    }
    if (first > some.first) // tiles begin at multiples of `keys` from the part's start, whatever the rows
        some.first += (first - some.first) / keys * keys;
    some.last = last < some.last ? last : some.last;
    return some;
}

__global__ void __launch_bounds__(threads) decode_part(arguments a)
{
    __shared__ storage s;
    const int64_t total = a.hq / a.hkv * a.seen.n, groups = (total + rows - 1) / rows;
    const int64_t part = blockIdx.x % a.parts, group = blockIdx.x / a.parts % groups;
    const int64_t g = blockIdx.x / a.parts / groups % a.hkv, b = blockIdx.x / a.parts / groups / a.hkv;
    const int64_t left = total - group * rows;
    const block_rows x = { b, g, group * rows, static_cast<int>(left < rows ? left : rows) };
    const int64_t len = a.seen.length(b);
    const steps::range some = part_range(a, x, len, part);
    const int warp = threadIdx.x / 32;
    float u[rows] = {};
    row mine[rows / 4];
#pragma unroll
    for (int t = 0; t < rows / 4; t++) {
        const int r = warp + 4 * t;
        mine[t] = { r < x.count ? a.seen.seen(len, x.query(a, r)) : steps::range{ 0, 0 }, -INFINITY, 0 };
    }
    for (int r = 0; r < x.count; r++)
        for (int c = threadIdx.x; c < a.d; c += threads)
            s.q[r][c] = a.q.data[a.q.at(b, x.head(a, r), x.query(a, r), c)];
    for (int64_t key = some.first; key < some.last; key += keys) {
        const int count = static_cast<int>(some.last - key < keys ? some.last - key : keys);
        steps::load_tile<threads>(s.k[0], widest + 1, a.k, b, g, key, count, a.d);
        __syncthreads(); // keys are there, and the weights before are used up
        score_tile(s, a, count, x.count);
        __syncthreads(); // scores are there
#pragma unroll
        for (int t = 0; t < rows / 4; t++)
            if (warp + 4 * t < x.count)
                weigh(s, warp + 4 * t, mine[t], key, count);
        __syncthreads(); // weights are there
        add_values(u, s, a, x, key, count);
    }
#pragma unroll
    for (int r = 0; r < rows; r++)
        if (r < x.count && threadIdx.x < a.e)
            part_of(a, b, x.head(a, r), x.query(a, r), part)[threadIdx.x] = u[r];
#pragma unroll
    for (int t = 0; t < rows / 4; t++) {
        const int r = warp + 4 * t;
        const float l = steps::lanes_sum<32>(mine[t].l);
        if (r < x.count && threadIdx.x % 32 == 0) {
            float *to = part_of(a, b, x.head(a, r), x.query(a, r), part) + a.e;
            to[0] = mine[t].m;
            to[1] = l;
        }
    }
}

__global__ void __launch_bounds__(threads) decode_merge(arguments a)
{
    const int64_t i = blockIdx.x % a.seen.n, h = blockIdx.x / a.seen.n % a.hq, b = blockIdx.x / a.seen.n / a.hq;
    const float *part = part_of(a, b, h, i, 0);
    const int64_t step = a.e + 2, c = threadIdx.x;
    const steps::range seen = a.seen.seen(a.seen.length(b), i);
    const bool any = seen.first < seen.last;
    float m = -INFINITY, l = 0, u = 0;
    for (int64_t s = 0; s < a.parts; s++)
        m = fmaxf(m, part[s * step + a.e]);
    const float from = m == -INFINITY ? 0 : m;
    for (int64_t s = 0; s < a.parts; s++) {
        const float w = warp::exp(__fsub_rn(part[s * step + a.e], from));
        l = __fmaf_rn(w, part[s * step + a.e + 1], l);
        u = c < a.e ? __fmaf_rn(w, part[s * step + c], u) : 0;
    }
    if (c < a.e)
        a.o.put(b, h, i, c, any ? __fdiv_rn(u, l) : 0);
    if (a.lse.data && c == 0)
        a.lse.data[a.lse.at(b, h, i, 0)] = any ? __fadd_rn(m, warp::log(l)) : -INFINITY;
}

// ---- on the host ---------------------------------------------------------------------------------------------

// Parts that have a key, of the longest entry.
int64_t parts_of(const attest_problem *p)
{
    const int64_t parts = p->splits < p->m ? p->splits : p->m;
    return parts > 1 ? parts : 1;
}

int64_t groups_of(const attest_problem *p) { return (p->hq / p->hkv * p->n + rows - 1) / rows; }

int supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (!steps::softmax_served(call) || !steps::floats_served(call))
        return 0;
    if (p->b * p->hq * p->n > INT32_MAX || p->b * p->hkv * groups_of(p) > INT32_MAX / parts_of(p))
        return attest_refuse(call, "more than 2^31-1 blocks");
    return 1;
}

size_t workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return static_cast<size_t>(p->b * p->hq * p->n * parts_of(p) * (p->e + 2)) * sizeof(float);
}

attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (!cuda_library::present())
        return ATTEST_NO_DEVICE;
    const cudaStream_t stream = cuda_library::stream_of(call);
    const arguments a = { steps::softmax_of<float>(call), parts_of(p), static_cast<float *>(call->workspace) };
    const unsigned blocks = static_cast<unsigned>(p->b * p->hkv * groups_of(p) * parts_of(p));
    decode_part<<<blocks, threads, 0, stream>>>(a);
    const attest_status status = cuda_library::launched(call);
    if (status != ATTEST_OK)
        return status;
    decode_merge<<<static_cast<unsigned>(p->b * p->hq * p->n), threads, 0, stream>>>(a);
    return cuda_library::launched(call);
}

attest_numerics declare_numerics()
{
    attest_numerics n = steps::softmax_numerics();
    n.schedule = ATTEST_SCHEDULE_SPLIT;
    n.tile = keys;
    return n;
}

attest_limits declare_limits()
{
    attest_limits l = cuda_library::widths(widest, widest);
    l.n.most = most_queries;
    return l;
}

const attest_numerics numerics = declare_numerics();
const attest_limits limits = declare_limits();

attest_kernel declare_kernel()
{
    attest_kernel k = cuda_library::kernel_of("softmax-decode-cuda-f32", "kernels/cuda/decode.cu", &numerics, &limits);
    k.form = ATTEST_SPLIT;
    k.flags |= ATTEST_MASKED_FINITE;
    k.outputs |= ATTEST_GIVES_LSE;
    k.summary = "few queries, many keys: problem.splits parts in blocks of their own, joined by a second kernel; float";
    k.variants = "softmax";
    k.supports = supports;
    k.workspace = workspace;
    k.run = run;
    return k;
}

const attest_kernel kernel = declare_kernel();
const attest_kernel *const kernels[] = { &kernel };

} // namespace

extern "C" const attest_library *attest_library_v2(const attest_host *)
{
    return cuda_library::library("attest CUDA kernels: decoding", kernels);
}
