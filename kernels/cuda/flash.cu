// softmax-flash-cuda-bf16, -f16: softmax attention on tensor cores, 64 queries a block, tiles of 64 keys.
//
// Formula    o_i = sum_j e^(s_ij) v_j / sum_j e^(s_ij), s_ij = scale <q_i,k_j>, then s := cap tanh(s/cap) if cap is
//            set; j over the keys that mask, window and lens leave visible; lse_i = log sum_j e^(s_ij).
// Algorithm  four warps of 16 rows.  Tiles of K and V come by cp.async into one of two buffers while the other is read;
//            tiles that no row of the block sees are skipped.  Per tile: S = Q K^T by mma.m16n8k16, the sums starting
//            from 0; m' = max(m, S); p = e^(S-m'); a = e^(m-m'); l = a l + sum p; U = a U, then U += cast(p) V by mma
//            into the same accumulators.  At the end o = U/l, lse = m + log l.  l adds the uncast weights: each lane
//            its own 16 of a tile, the four lanes of a row at the end.
// Errors     R-TENSOR for scores and U; e^x warp.h; p to nearest before V; one division.  A masked key takes part with
//            weight 0.  A row without visible keys: o = 0, lse = -inf.
// Bits       every operation is named (__fmaf_rn, ..) and in a fixed order: with the model of the GPU's tensor cores
//            the CPU's bits are the GPU's.
#include "steps.h"

namespace {

constexpr int rows = 64, keys = 64, threads = 128;
constexpr int pad = 8; // 16-bit elements behind each row of a tile: eight rows lie in different banks

typedef cuda_library::view<const uint16_t> input;

// ---- on the device ---------------------------------------------------------------------------------------

struct arguments : steps::softmax<uint16_t> {
    cuda_library::view<uint16_t> narrow; // o where it is no float, which then has no data
};

template <int width> struct storage {
    uint16_t q[rows][width + pad], k[2][keys][width + pad], v[2][keys][width + pad];
};

// 64 rows of x from `first` on into a tile; zeros for rows from `end` on and channels from `channels` on.
template <int width>
__device__ void load_tile(uint16_t (*tile)[width + pad], const input &x, int64_t b, int64_t h, int64_t first,
                          int64_t end, int channels)
{
    constexpr int pieces = width / 8;
    for (int t = threadIdx.x; t < rows * pieces; t += threads) {
        const int r = t / pieces, c = t % pieces * 8;
        const int some = first + r >= end || c >= channels ? 0 : channels - c < 8 ? channels - c : 8;
        const uint16_t *from = some > 0 ? x.row(b, h, first + r) + c : x.data;
        if (reinterpret_cast<uintptr_t>(from) % 16 == 0)
            warp::copy_16(&tile[r][c], from, 2 * some);
        else
            for (int s = 0; s < 8; s++)
                tile[r][c + s] = s < some ? from[s] : 0;
    }
}

// S of the warp's 16 rows and a tile's keys: fragments of eight keys each.
template <class type, int width>
__device__ void score_tile(float (&s)[keys / 8][4], const uint32_t (&q)[width / 16][4],
                           const uint16_t (*k)[width + pad])
{
    const int lane = threadIdx.x % 32;
    for (int j = 0; j < keys / 8; j++)
        for (int r = 0; r < 4; r++)
            s[j][r] = 0;
#pragma unroll
    for (int c = 0; c < width / 16; c++)
#pragma unroll
        for (int j = 0; j < keys / 16; j++) {
            uint32_t x[4]; // keys 16j..16j+7, both halves of the channels; keys 16j+8..16j+15
            warp::load_matrices<false>(x, &k[16 * j + lane / 16 * 8 + lane % 8][16 * c + lane / 8 % 2 * 8]);
            type::multiply(s[2 * j], q[c], x[0], x[1]);
            type::multiply(s[2 * j + 1], q[c], x[2], x[3]);
        }
}

// A row of the warp's fragments as a lane knows it: its quarter of the keys.
struct row {
    int64_t i;
    steps::range seen;
    float m, l;
};

// Scores of half r (rows lane/4 and lane/4 + 8) become weights of the new maximum; returns what older sums shrink by.
__device__ float weigh(float (&s)[keys / 8][4], int r, row &x, const arguments &a, int64_t key)
{
    float top = x.m, sum = 0;
#pragma unroll
    for (int j = 0; j < keys / 8; j++)
#pragma unroll
        for (int t = 0; t < 2; t++) {
            const int64_t at = key + 8 * j + threadIdx.x % 4 * 2 + t;
            const float score = steps::score_of(s[j][2 * r + t], a.scale, a.cap);
            s[j][2 * r + t] = at >= x.seen.first && at < x.seen.last ? score : -INFINITY;
            top = fmaxf(top, s[j][2 * r + t]);
        }
    top = warp::quad_max(top);
    const float from = top == -INFINITY ? 0 : top; // no key seen yet: every weight is 0
    const float shrink = warp::exp(__fsub_rn(x.m, from));
#pragma unroll
    for (int j = 0; j < keys / 8; j++)
#pragma unroll
        for (int t = 0; t < 2; t++) {
            s[j][2 * r + t] = warp::exp(__fsub_rn(s[j][2 * r + t], from));
            sum = __fadd_rn(sum, s[j][2 * r + t]);
        }
    x.l = __fmaf_rn(x.l, shrink, sum);
    x.m = top;
    return shrink;
}

// U += cast(p) V: the scores' fragments are those of a left factor once two neighbours are packed.
template <class type, int width>
__device__ void add_values(float (&u)[width / 8][4], const float (&p)[keys / 8][4], const uint16_t (*v)[width + pad])
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < keys / 16; j++) {
        const uint32_t left[4] = { type::pack(p[2 * j][0], p[2 * j][1]), type::pack(p[2 * j][2], p[2 * j][3]),
                                   type::pack(p[2 * j + 1][0], p[2 * j + 1][1]),
                                   type::pack(p[2 * j + 1][2], p[2 * j + 1][3]) };
#pragma unroll
        for (int c = 0; c < width / 16; c++) {
            uint32_t x[4]; // channels 16c..16c+7, both halves of the keys; channels 16c+8..16c+15
            warp::load_matrices<true>(x, &v[16 * j + lane % 16][16 * c + lane / 16 * 8]);
            type::multiply(u[2 * c], left, x[0], x[1]);
            type::multiply(u[2 * c + 1], left, x[2], x[3]);
        }
    }
}

template <class type, int width>
__device__ void store(const arguments &a, int64_t b, int64_t h, const row &x, const float (&u)[width / 8][4], int r)
{
    const int lane = threadIdx.x % 32;
    const float l = warp::quad_sum(x.l);
    const bool any = x.seen.first < x.seen.last;
    if (x.i >= a.seen.n)
        return;
#pragma unroll
    for (int c = 0; c < width / 8; c++)
#pragma unroll
        for (int t = 0; t < 2; t++) {
            const int channel = 8 * c + lane % 4 * 2 + t;
            const float o = any ? __fdiv_rn(u[c][2 * r + t], l) : 0;
            if (channel >= a.e)
                continue;
            if (a.narrow.data)
                a.narrow.put(b, h, x.i, channel, static_cast<uint16_t>(type::pack(o, 0)));
            else
                a.o.put(b, h, x.i, channel, o);
        }
    if (a.lse.data && lane % 4 == 0)
        a.lse.data[a.lse.at(b, h, x.i, 0)] = any ? __fadd_rn(x.m, warp::log(l)) : -INFINITY;
}

template <class type, int width> __global__ void __launch_bounds__(threads) flash(arguments a)
{
    extern __shared__ __align__(128) unsigned char bytes[];
    storage<width> &s = *reinterpret_cast<storage<width> *>(bytes);
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * 16;
    const int64_t blocks = (a.seen.n + rows - 1) / rows, block = blocks - 1 - blockIdx.x % blocks; // long rows first
    const int64_t h = blockIdx.x / blocks % a.hq, b = blockIdx.x / blocks / a.hq, g = h * a.hkv / a.hq;
    const int64_t first_row = block * rows, end_row = first_row + rows < a.seen.n ? first_row + rows : a.seen.n;
    const int64_t len = a.seen.length(b);
    const int64_t first = a.seen.seen(len, first_row).first; // tiles begin at multiples of `keys`, whatever the rows
    const int64_t begin = first - first % keys, end = a.seen.seen(len, end_row - 1).last;
    uint32_t q[width / 16][4];
    float u[width / 8][4] = {};
    row x[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int64_t i = first_row + warp_row + lane / 4 + 8 * r;
        x[r] = { i, i < a.seen.n ? a.seen.seen(len, i) : steps::range{ 0, 0 }, -INFINITY, 0 };
    }
    load_tile<width>(s.q, a.q, b, h, first_row, a.seen.n, a.d);
    load_tile<width>(s.k[0], a.k, b, g, begin, end, a.d);
    load_tile<width>(s.v[0], a.v, b, g, begin, end, a.e);
    warp::copy_commit();
    for (int64_t key = begin, stage = 0; key < end; key += keys, stage ^= 1) {
        if (key + keys < end) {
            load_tile<width>(s.k[stage ^ 1], a.k, b, g, key + keys, end, a.d);
            load_tile<width>(s.v[stage ^ 1], a.v, b, g, key + keys, end, a.e);
        }
        warp::copy_commit();
        warp::copy_wait<1>(); // this tile, of this thread's copies;
        __syncthreads();      // of all
        if (key == begin)
#pragma unroll
            for (int c = 0; c < width / 16; c++)
                warp::load_matrices<false>(q[c], &s.q[warp_row + lane % 16][16 * c + lane / 16 * 8]);
        float p[keys / 8][4];
        score_tile<type, width>(p, q, s.k[stage]);
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const float shrink = weigh(p, r, x[r], a, key);
#pragma unroll
            for (int c = 0; c < width / 8; c++)
                for (int t = 0; t < 2; t++)
                    u[c][2 * r + t] = __fmul_rn(u[c][2 * r + t], shrink);
        }
        add_values<type, width>(u, p, s.v[stage]);
        __syncthreads(); // this buffer is free for the tile after the next
    }
    warp::copy_wait<0>();
#pragma unroll
    for (int r = 0; r < 2; r++)
        store<type, width>(a, b, h, x[r], u, r);
}

// ---- on the host ---------------------------------------------------------------------------------------------

template <class type> int supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (!steps::softmax_served(call))
        return 0;
    if (p->in != type::dtype || p->p != type::dtype || p->acc != ATTEST_F32)
        return attest_refuse(call, "only in and p of the kernel's own type and acc f32 are served");
    if (p->out != type::dtype && p->out != ATTEST_F32)
        return attest_refuse(call, "only out of the kernel's own type or f32 is served");
    if (p->b * p->hq > INT32_MAX / ((p->n + rows - 1) / rows))
        return attest_refuse(call, "more than 2^31-1 blocks");
    return 1;
}

template <class type, int width> attest_status run_width(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const unsigned blocks = static_cast<unsigned>(p->b * p->hq * ((p->n + rows - 1) / rows));
    arguments a = { steps::softmax_of<uint16_t>(call), {} };
    if (p->out != ATTEST_F32) {
        a.narrow = cuda_library::view_of<uint16_t>(call->tensors->role[ATTEST_O]);
        a.o = {};
    }
    const size_t size = sizeof(storage<width>);
    const attest_status status = cuda_library::allow(call, flash<type, width>, size);
    if (status != ATTEST_OK)
        return status;
    flash<type, width><<<blocks, threads, size, cuda_library::stream_of(call)>>>(a);
    return cuda_library::launched(call);
}

template <class type> attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (!cuda_library::present())
        return ATTEST_NO_DEVICE;
    return p->d <= 64 && p->e <= 64 ? run_width<type, 64>(call) : run_width<type, 128>(call);
}

attest_numerics declare_numerics()
{
    attest_numerics n = steps::softmax_numerics();
    n.schedule = ATTEST_SCHEDULE_ONLINE;
    n.tile = keys;
    n.acc_truncates = ATTEST_YES;
    return n;
}

const attest_numerics numerics = declare_numerics();
const attest_limits limits = cuda_library::widths(128, 128);

template <class type> attest_kernel declare_kernel(const char *name)
{
    attest_kernel k = cuda_library::kernel_of(name, "kernels/cuda/flash.cu", &numerics, &limits);
    k.form = ATTEST_TILED;
    k.flags |= ATTEST_MASKED_FINITE;
    k.outputs |= ATTEST_GIVES_LSE;
    k.summary = "flash attention on tensor cores: 64 queries by 64 keys, mma m16n8k16, copies two deep";
    k.variants = "softmax";
    k.supports = supports<type>;
    k.run = run<type>;
    return k;
}

const attest_kernel kernel_bf16 = declare_kernel<warp::bf16>("softmax-flash-cuda-bf16");
const attest_kernel kernel_f16 = declare_kernel<warp::f16>("softmax-flash-cuda-f16");
const attest_kernel *const kernels[] = { &kernel_bf16, &kernel_f16 };

} // namespace

extern "C" const attest_library *attest_library_v2(const attest_host *)
{
    return cuda_library::library("attest CUDA kernels: flash attention", kernels);
}
