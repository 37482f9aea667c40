// softmax-flash-cuda-f32: softmax attention in float without tensor cores, 32 queries a block, tiles of 64 keys.
//
// Formula    o_i = sum_j e^(s_ij) v_j / sum_j e^(s_ij), s_ij = scale <q_i,k_j>, then s := cap tanh(s/cap) if cap is
//            set; j over the keys that mask, window and lens leave visible; lse_i = log sum_j e^(s_ij).
// Algorithm  128 threads: 8 groups of 16 lanes, a group four rows.  Tiles of K and V lie in shared memory; a tile that
//            no row of the block sees is skipped.  Per tile each lane makes the scores of its four rows and every 16th
//            key; m' = max(m, s) of a group's lanes; p = e^(s-m'); a = e^(m-m'); l = a l + sum p, each lane its own
//            keys; p goes to the group's lanes by shared memory; U = a U, then U += p v, key by key, each lane every
//            16th channel.  At the end l of the lanes, o = U/l, lse = m + log l.
// Errors     scores gamma_d, scale, cap; e^x warp.h; U and l gamma of the keys, a rescaling a tile; one division.  A
//            masked key of a tile takes part with weight 0.  A row without visible keys: o = 0, lse = -inf.
// Bits       every operation is named (__fmaf_rn, ..) and in a fixed order: the CPU's bits are the GPU's (but a NaN's).
#include "steps.h"

namespace {

constexpr int rows = 32, keys = 64, threads = 128;
constexpr int lanes = 16, mine = 4; // lanes of a group; rows of a group, and keys of a lane

typedef steps::softmax<float> arguments;

// ---- on the device ---------------------------------------------------------------------------------------

// Rows of q and k have an odd stride: 16 lanes that read a channel of 16 keys read different banks.
template <int width> struct storage {
    float q[rows][width + 1], k[keys][width + 1], v[keys][width], p[rows][keys + lanes];
};

// A row of the group as a lane knows it: its own part of l.
struct row {
    steps::range seen;
    float m, l;
};

// s[r][j] of the group's row r and the tile's key lane + 16 j: serial in the channels.
template <int width>
__device__ void score_tile(float (&s)[mine][mine], const storage<width> &x, int top, int lane, int d)
{
#pragma unroll
    for (int r = 0; r < mine; r++)
#pragma unroll
        for (int j = 0; j < mine; j++)
            s[r][j] = 0;
    for (int c = 0; c < d; c++) {
        float k[mine];
#pragma unroll
        for (int j = 0; j < mine; j++)
            k[j] = x.k[lane + lanes * j][c];
#pragma unroll
        for (int r = 0; r < mine; r++)
#pragma unroll
            for (int j = 0; j < mine; j++)
                s[r][j] = __fmaf_rn(x.q[top + r][c], k[j], s[r][j]);
    }
}

// Sums of products become weights of the new maximum; returns what older sums shrink by.
__device__ float weigh(float (&s)[mine], row &x, const arguments &a, int64_t key)
{
    float top = x.m, sum = 0;
#pragma unroll
    for (int j = 0; j < mine; j++) {
        const int64_t at = key + lanes * j;
        const bool seen = at >= x.seen.first && at < x.seen.last;
        s[j] = seen ? steps::score_of(s[j], a.scale, a.cap) : -INFINITY;
        top = fmaxf(top, s[j]);
    }
    top = steps::lanes_max<lanes>(top);
    const float from = top == -INFINITY ? 0 : top; // no key seen yet: every weight is 0
    const float shrink = warp::exp(__fsub_rn(x.m, from));
#pragma unroll
    for (int j = 0; j < mine; j++) {
        s[j] = warp::exp(__fsub_rn(s[j], from));
        sum = __fadd_rn(sum, s[j]);
    }
    x.l = __fmaf_rn(x.l, shrink, sum);
    x.m = top;
    return shrink;
}

// U += p v, of the tile's first `count` keys.
template <int width>
__device__ void add_values(float (&u)[mine][width / lanes], const storage<width> &x, int top, int lane, int count,
                           int e)
{
    for (int j = 0; j < count; j++) {
        float p[mine];
#pragma unroll
        for (int r = 0; r < mine; r++)
            p[r] = x.p[top + r][j];
#pragma unroll
        for (int c = 0; c < width / lanes; c++)
            if (lanes * c < e) {
                const float v = x.v[j][lane + lanes * c];
#pragma unroll
                for (int r = 0; r < mine; r++)
                    u[r][c] = __fmaf_rn(p[r], v, u[r][c]);
            }
    }
}

// Row r of the group.
template <int width>
__device__ void store(const arguments &a, int64_t b, int64_t h, int64_t i, const row &x,
                      const float (&u)[width / lanes])
{
    const int lane = threadIdx.x % lanes;
    const float l = steps::lanes_sum<lanes>(x.l);
    const bool any = x.seen.first < x.seen.last;
    if (i >= a.seen.n)
        return;
#pragma unroll
    for (int c = 0; c < width / lanes; c++) {
        const float o = any ? __fdiv_rn(u[c], l) : 0;
        if (lane + lanes * c < a.e)
            a.o.put(b, h, i, lane + lanes * c, o);
    }
    if (a.lse.data && lane == 0)
        a.lse.data[a.lse.at(b, h, i, 0)] = any ? __fadd_rn(x.m, warp::log(l)) : -INFINITY;
}

template <int width> __global__ void __launch_bounds__(threads) flash(arguments a)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    storage<width> &s = *reinterpret_cast<storage<width> *>(bytes);
    const int lane = threadIdx.x % lanes, top = threadIdx.x / lanes * mine;
    const int64_t blocks = (a.seen.n + rows - 1) / rows, block = blocks - 1 - blockIdx.x % blocks; // long rows first
    const int64_t h = blockIdx.x / blocks % a.hq, b = blockIdx.x / blocks / a.hq, g = h * a.hkv / a.hq;
    const int64_t first_row = block * rows, end_row = first_row + rows < a.seen.n ? first_row + rows : a.seen.n;
    const int64_t len = a.seen.length(b);
    const int64_t first = a.seen.seen(len, first_row).first; // tiles begin at multiples of `keys`, whatever the rows
    const int64_t begin = first - first % keys, end = a.seen.seen(len, end_row - 1).last;
    float u[mine][width / lanes] = {};
    row x[mine];
#pragma unroll
    for (int r = 0; r < mine; r++) {
        const int64_t i = first_row + top + r;
        x[r] = { i < a.seen.n ? a.seen.seen(len, i) : steps::range{ 0, 0 }, -INFINITY, 0 };
    }
    steps::load_tile<threads>(s.q[0], width + 1, a.q, b, h, first_row, static_cast<int>(end_row - first_row), a.d);
    for (int64_t key = begin; key < end; key += keys) {
        const int count = static_cast<int>(end - key < keys ? end - key : keys);
        steps::load_tile<threads>(s.k[0], width + 1, a.k, b, g, key, count, a.d);
        steps::load_tile<threads>(s.v[0], width, a.v, b, g, key, count, a.e);
        __syncthreads(); // the tile is there
        float p[mine][mine];
        score_tile<width>(p, s, top, lane, a.d);
#pragma unroll
        for (int r = 0; r < mine; r++) {
            const float shrink = weigh(p[r], x[r], a, key + lane);
#pragma unroll
            for (int j = 0; j < mine; j++)
                s.p[top + r][lane + lanes * j] = p[r][j];
#pragma unroll
            for (int c = 0; c < width / lanes; c++)
                u[r][c] = __fmul_rn(u[r][c], shrink);
        }
        __syncwarp(); // weights are read by the group that wrote them
        add_values<width>(u, s, top, lane, count, a.e);
        __syncthreads(); // the tile is free
    }
#pragma unroll
    for (int r = 0; r < mine; r++)
        store<width>(a, b, h, first_row + top + r, x[r], u[r]);
}

// ---- on the host ---------------------------------------------------------------------------------------------

int supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (!steps::softmax_served(call) || !steps::floats_served(call))
        return 0;
    if (p->b * p->hq > INT32_MAX / ((p->n + rows - 1) / rows))
        return attest_refuse(call, "more than 2^31-1 blocks");
    return 1;
}

template <int width> attest_status run_width(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const unsigned blocks = static_cast<unsigned>(p->b * p->hq * ((p->n + rows - 1) / rows));
    const size_t size = sizeof(storage<width>);
    const attest_status status = cuda_library::allow(call, flash<width>, size);
    if (status != ATTEST_OK)
        return status;
    flash<width><<<blocks, threads, size, cuda_library::stream_of(call)>>>(steps::softmax_of<float>(call));
    return cuda_library::launched(call);
}

attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (!cuda_library::present())
        return ATTEST_NO_DEVICE;
    return p->d <= 64 && p->e <= 64 ? run_width<64>(call) : run_width<128>(call);
}

attest_numerics declare_numerics()
{
    attest_numerics n = steps::softmax_numerics();
    n.schedule = ATTEST_SCHEDULE_ONLINE;
    n.tile = keys;
    return n;
}

const attest_numerics numerics = declare_numerics();
const attest_limits limits = cuda_library::widths(128, 128);

attest_kernel declare_kernel()
{
    attest_kernel k =
        cuda_library::kernel_of("softmax-flash-cuda-f32", "kernels/cuda/flash_f32.cu", &numerics, &limits);
    k.form = ATTEST_TILED;
    k.flags |= ATTEST_MASKED_FINITE;
    k.outputs |= ATTEST_GIVES_LSE;
    k.summary = "flash attention in float: 32 queries by 64 keys in shared memory, four rows to 16 lanes";
    k.variants = "softmax";
    k.supports = supports;
    k.run = run;
    return k;
}

const attest_kernel kernel = declare_kernel();
const attest_kernel *const kernels[] = { &kernel };

} // namespace

extern "C" const attest_library *attest_library_v2(const attest_host *)
{
    return cuda_library::library("attest CUDA kernels: flash attention in float", kernels);
}
