// taylor-chunk-cuda-bf16: polynomial attention in chunks; pairs inside by tensor cores, packed states between in float.
//
// Formula    u_i = sum_j W(s_ij) v_j, z_i = sum_j W(s_ij), s_ij = scale <phi(q_i), phi(k_j)>,
//            o_i = gout_i Norm(u_i, z_i); W of order P <= 3: taylor:P sum_(n<=P) s^n/n!, term:P s^P/P!, power:P s^P.
//            Tokens before the open chunk by sum_n c_n <phi(q_i)^(x n), S_n>, c_n = scale^n/n! (power: scale^n),
//            S_n = h0_n + sum_j phi(k_j)^(x n) (x) v_j.
// Packed     A monomial x_a x_b x_c with a <= b <= c stands for all its orders: the query has n!/I! of it, which is 1,
//            2, 3 or 6.  Rows of a state are in lexicographic order, degree after degree, at most 561 of them.
// Algorithm  A block of four warps takes a KV head and 32 channels of v, its chunks one after another: problem.chunk
//            tokens each, at most 64.  The states lie in shared memory, Z as a 33rd channel.  64 rows at a time, a warp
//            16: S = Q K^T by mma.m16n8k16; w = W(scale S), 0 for keys that the row does not see; z adds the uncast
//            weights, each lane its own 16 and then the four lanes of a row; U = cast(w) V by mma; then what the states
//            give, monomial by monomial.  At the chunk's end a thread adds the chunk's tokens to a row of the states.
// Errors     R-TENSOR for scores and pairs; W three roundings a degree; w to nearest before V; states gamma of the
//            tokens, n-1 a monomial, and of the rows; one division.  phi is exact: the identity, or relu.
// Masked     A key that a row does not see takes part with weight 0.  A row without a key reads h0, or is 0.
// Bits       every operation is named (__fmaf_rn, ..) and in a fixed order: with the model of the GPU's tensor cores
//            the CPU's bits are the GPU's.
#include "steps.h"
#include "taylor.h"

namespace {

constexpr int threads = 128, tokens = 64, rows = 64, width = 32, widest = 64;
constexpr int pad = 8;          // 16-bit elements behind each row of a tile: eight rows lie in different banks
constexpr int each = width + 1; // floats of a row of the states: 32 channels and z
constexpr int state_rows = 561; // d = 32 at order 2: less than 99 KiB with the tiles
constexpr uint16_t one = 0x3f80;

typedef cuda_library::view<const uint16_t> input;

// ---- on the device ---------------------------------------------------------------------------------------

struct arguments {
    steps::tokens all; // but for q, k, v and o:
    input q, k, v;
    cuda_library::view<uint16_t> narrow; // o where it is no float, which then has no data
    steps::states state[taylor::most + 1];
    int start[taylor::most + 2]; // the first row of each degree; of the one behind the last: all rows
    float c[taylor::most + 1];
    int64_t chunk;
    int lowest, highest, kind; // kind: of ATTEST_WEIGHT_
};

struct tiles {
    uint16_t q[rows][widest + pad], k[tokens][widest + pad], v[tokens][width + pad];
    int last[rows]; // of a row: its last token in the open chunk, -1: none
};

// What a thread knows of its block and of the open chunk.
struct task {
    int64_t b, g, from;
    int first, count; // channel of v; tokens
    bool before;      // the states hold something
};

__device__ float wide(uint16_t x) { return __uint_as_float(static_cast<unsigned>(x) << 16); }

// Rows [first,first+count) of x from channel `left` on into a tile; zeros behind them and behind `channels`.
template <int columns>
__device__ void load_tile(uint16_t (*tile)[columns + pad], const input &x, int64_t b, int64_t h, int64_t first,
                          int count, int left, int channels, int feature)
{
    for (int t = threadIdx.x; t < rows * columns; t += threads) {
        const int r = t / columns, c = t % columns;
        uint16_t y = r < count && left + c < channels ? x.data[x.at(b, h, first + r, left + c)] : 0;
        if (feature == ATTEST_FEATURE_RELU && wide(y) < 0) // a NaN stays one
            y = 0;
        tile[r][c] = y;
    }
}

// f(row, n, i, j, k) for each row of the states: its degree and the entries whose product it is, `widest` for those
// that it has not.
template <class function> __device__ void each_row(const arguments &a, const function &f)
{
    const int d = a.all.d;
    int row = 0;
    for (int n = a.lowest; n <= a.highest; n++)
        for (int i = n > 0 ? 0 : widest; i < (n > 0 ? d : widest + 1); i++)
            for (int j = n > 1 ? i : widest; j < (n > 1 ? d : widest + 1); j++)
                for (int k = n > 2 ? j : widest; k < (n > 2 ? d : widest + 1); k++)
                    f(row++, n, i, j, k);
}

// c_n n!/I! of a row.
__device__ float coefficient_of(const arguments &a, int n, int i, int j, int k)
{
    const int alike = (i == j) + (j == k);
    const int orders = n == 3 ? (alike == 0 ? 6 : alike == 1 ? 3 : 1) : n == 2 && i != j ? 2 : 1;
    return __fmul_rn(a.c[n], static_cast<float>(orders));
}

__device__ float monomial_of(const uint16_t *x, int i, int j, int k)
{
    return __fmul_rn(__fmul_rn(wide(x[i]), wide(x[j])), wide(x[k]));
}

// S of the warp's 16 rows and the chunk's keys: fragments of eight keys each.
__device__ void score_tile(float (&s)[tokens / 8][4], const tiles &x, int d)
{
    const int lane = threadIdx.x % 32, top = threadIdx.x / 32 * 16;
#pragma unroll
    for (int j = 0; j < tokens / 8; j++)
#pragma unroll
        for (int r = 0; r < 4; r++)
            s[j][r] = 0;
    for (int c = 0; c < d; c += 16) {
        uint32_t q[4];
        warp::load_matrices<false>(q, &x.q[top + lane % 16][c + lane / 16 * 8]);
#pragma unroll
        for (int j = 0; j < tokens / 16; j++) {
            uint32_t k[4]; // keys 16j..16j+7, both halves of the channels; keys 16j+8..16j+15
            warp::load_matrices<false>(k, &x.k[16 * j + lane / 16 * 8 + lane % 8][c + lane / 8 % 2 * 8]);
            warp::bf16::multiply(s[2 * j], q, k[0], k[1]);
            warp::bf16::multiply(s[2 * j + 1], q, k[2], k[3]);
        }
    }
}

// W(x); a series by Horner's rule.
__device__ float weight(float x, const arguments &a)
{
    float w = 1;
    if (a.kind == ATTEST_WEIGHT_TAYLOR)
        for (int n = a.highest; n > 0; n--)
            w = __fmaf_rn(w, __fdiv_rn(x, static_cast<float>(n)), 1);
    else
        for (int n = 1; n <= a.highest; n++)
            w = __fmul_rn(w, a.kind == ATTEST_WEIGHT_POWER ? x : __fdiv_rn(x, static_cast<float>(n)));
    return w;
}

// Scores become weights, 0 behind token `last` of each row; z[r] adds this lane's of row lane/4 + 8 r.
__device__ void weigh(float (&s)[tokens / 8][4], float (&z)[2], const int (&last)[2], const arguments &a)
{
#pragma unroll
    for (int j = 0; j < tokens / 8; j++)
#pragma unroll
        for (int t = 0; t < 4; t++) {
            const int key = 8 * j + threadIdx.x % 4 * 2 + t % 2;
            s[j][t] = key <= last[t / 2] ? weight(__fmul_rn(a.all.scale, s[j][t]), a) : 0;
            z[t / 2] = __fadd_rn(z[t / 2], s[j][t]);
        }
}

// U = cast(w) V: the scores' fragments are those of a left factor once two neighbours are packed.
__device__ void add_values(float (&u)[width / 8][4], const float (&w)[tokens / 8][4], const tiles &x)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < tokens / 16; j++) {
        const uint32_t left[4] = { warp::bf16::pack(w[2 * j][0], w[2 * j][1]),
                                   warp::bf16::pack(w[2 * j][2], w[2 * j][3]),
                                   warp::bf16::pack(w[2 * j + 1][0], w[2 * j + 1][1]),
                                   warp::bf16::pack(w[2 * j + 1][2], w[2 * j + 1][3]) };
#pragma unroll
        for (int c = 0; c < width / 16; c++) {
            uint32_t v[4]; // channels 16c..16c+7, both halves of the keys; channels 16c+8..16c+15
            warp::load_matrices<true>(v, &x.v[16 * j + lane % 16][16 * c + lane / 16 * 8]);
            warp::bf16::multiply(u[2 * c], left, v[0], v[1]);
            warp::bf16::multiply(u[2 * c + 1], left, v[2], v[3]);
        }
    }
}

// What the states give the lane's two rows and their eight channels each, and z, the same in the four lanes of a row.
__device__ void read_states(float (&u)[width / 8][4], float (&z)[2], const tiles &x, const float *S,
                            const arguments &a)
{
    const int top = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, channel = threadIdx.x % 4 * 2;
    each_row(a, [&](int row, int n, int i, int j, int k) {
        const float c = coefficient_of(a, n, i, j, k), *from = S + row * each;
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const float m = __fmul_rn(c, monomial_of(x.q[top + 8 * r], i, j, k));
#pragma unroll
            for (int t = 0; t < width / 8; t++) {
                u[t][2 * r] = __fmaf_rn(m, from[8 * t + channel], u[t][2 * r]);
                u[t][2 * r + 1] = __fmaf_rn(m, from[8 * t + channel + 1], u[t][2 * r + 1]);
            }
            z[r] = __fmaf_rn(m, from[width], z[r]);
        }
    });
}

__device__ void store(const task &x, const arguments &a, int64_t h, int64_t i, int c, float u, float z, bool empty)
{
    if (x.first + c >= a.all.e)
        return;
    const float o = steps::row_of(a.all, x.b, h, i, x.first + c, u, z, empty);
    if (a.narrow.data)
        a.narrow.put(x.b, h, i, x.first + c, static_cast<uint16_t>(warp::bf16::pack(o, 0)));
    else
        a.all.o.put(x.b, h, i, x.first + c, o);
}

// Rows [i,i+count) of head h, whose queries are in their tile.
__device__ void read_rows(const task &x, const tiles &s, const float *S, const arguments &a, int64_t h, int64_t i,
                          int count)
{
    const int lane = threadIdx.x % 32, top = threadIdx.x / 32 * 16 + lane / 4;
    const int last[2] = { top < count ? s.last[top] : -1, top + 8 < count ? s.last[top + 8] : -1 };
    float w[tokens / 8][4], near[width / 8][4] = {}, far[width / 8][4] = {}, z[2] = {}, far_z[2] = {};
    if (x.count > 0) {
        score_tile(w, s, a.all.d);
        weigh(w, z, last, a);
        add_values(near, w, s);
    }
    if (x.before)
        read_states(far, far_z, s, S, a);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float sum = __fadd_rn(far_z[r], warp::quad_sum(z[r]));
        const bool empty = !x.before && last[r] < 0; // no key and no state
#pragma unroll
        for (int c = 0; c < width / 8; c++)
#pragma unroll
            for (int t = 0; t < 2; t++)
                if (top + 8 * r < count)
                    store(x, a, h, i + top + 8 * r, 8 * c + lane % 4 * 2 + t,
                          __fadd_rn(far[c][2 * r + t], near[c][2 * r + t]), sum, empty);
    }
}

// The rows from i on that see no token behind the open chunk, 64 at a time, for each query head; returns the first row
// behind them.
__device__ int64_t read_chunk(const task &x, tiles &s, const float *S, const arguments &a, int64_t len, int64_t i)
{
    const int64_t heads = a.all.hq / a.all.hkv;
    for (;;) {
        int count = 0;
        for (; count < rows && i + count < a.all.seen.n; count++) {
            const int64_t end = a.all.seen.seen(len, i + count).last;
            if (end > x.from + x.count)
                break;
            if (threadIdx.x == 0)
                s.last[count] = end > x.from ? static_cast<int>(end - x.from) - 1 : -1;
        }
        if (count == 0)
            return i;
        for (int64_t h = x.g * heads; h < (x.g + 1) * heads; h++) {
            load_tile<widest>(s.q, a.q, x.b, h, i, count, 0, a.all.d, a.all.feature);
            __syncthreads(); // queries are there
            read_rows(x, s, S, a, h, i, count);
            __syncthreads(); // queries are used up
        }
        i += count;
    }
}

// S += k^(x n) (x) v, Z += k^(x n), token by token: a thread a row.
__device__ void close_chunk(task &x, const tiles &s, float *S, const arguments &a)
{
    each_row(a, [&](int row, int, int i, int j, int k) {
        if (row % threads != static_cast<int>(threadIdx.x))
            return;
        float sum[each], *to = S + row * each;
#pragma unroll
        for (int c = 0; c < each; c++)
            sum[c] = to[c];
        for (int t = 0; t < x.count; t++) {
            const float m = monomial_of(s.k[t], i, j, k);
#pragma unroll
            for (int c = 0; c < width; c++)
                sum[c] = __fmaf_rn(m, wide(s.v[t][c]), sum[c]);
            sum[width] = __fadd_rn(sum[width], m);
        }
#pragma unroll
        for (int c = 0; c < each; c++)
            to[c] = sum[c];
    });
    __syncthreads(); // the states are whole, and the tokens are used up
    x.from += x.count;
    x.count = 0;
    x.before = true;
}

// From h0 and z0 or zeros; at the end to ht and zt, z by the first channels' block.
__device__ void load_states(const task &x, float *S, const arguments &a)
{
    for (int n = a.lowest; n <= a.highest; n++) {
        const steps::states &from = a.state[n];
        for (int t = threadIdx.x; t < (a.start[n + 1] - a.start[n]) * each; t += threads) {
            const int row = t / each, c = t % each, channel = x.first + c;
            float y = 0;
            if (c == width)
                y = from.z0.data ? from.z0.data[from.z0.at(x.b, x.g, row, 0)] : 0;
            else if (from.h0.data && channel < a.all.e)
                y = from.h0.data[from.h0.at(x.b, x.g, row, channel)];
            S[a.start[n] * each + t] = y;
        }
    }
}

__device__ void store_states(const task &x, const float *S, const arguments &a)
{
    for (int n = a.lowest; n <= a.highest; n++) {
        const steps::states &to = a.state[n];
        for (int t = threadIdx.x; t < (a.start[n + 1] - a.start[n]) * each; t += threads) {
            const int row = t / each, c = t % each, channel = x.first + c;
            const float y = S[a.start[n] * each + t];
            if (c == width && to.zt.data && x.first == 0)
                to.zt.data[to.zt.at(x.b, x.g, row, 0)] = y;
            if (c < width && to.ht.data && channel < a.all.e)
                to.ht.data[to.ht.at(x.b, x.g, row, channel)] = y;
        }
    }
}

__global__ void __launch_bounds__(threads, 2) taylor_chunk(arguments a)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    tiles &s = *reinterpret_cast<tiles *>(bytes);
    float *S = reinterpret_cast<float *>(bytes + sizeof(tiles));
    const int64_t slices = (a.all.e + width - 1) / width, head = blockIdx.x / slices;
    const int64_t b = head / a.all.hkv, len = a.all.seen.length(b);
    const int64_t total = a.all.seen.seen(len, a.all.seen.n - 1).last;
    task x = { b, head % a.all.hkv, 0, static_cast<int>(blockIdx.x % slices) * width, 0, a.all.given != 0 };
    for (int t = threadIdx.x; t < rows; t += threads) // the entry 1 of lower degrees, where no tile has channels
        s.q[t][widest] = s.k[t][widest] = one;
    load_states(x, S, a);
    for (int64_t i = 0;;) {
        i = read_chunk(x, s, S, a, len, i);
        if (x.count > 0)
            close_chunk(x, s, S, a);
        if (x.from >= total)
            break;
        x.count = static_cast<int>(total - x.from < a.chunk ? total - x.from : a.chunk);
        load_tile<widest>(s.k, a.k, b, x.g, x.from, x.count, 0, a.all.d, a.all.feature);
        load_tile<width>(s.v, a.v, b, x.g, x.from, x.count, x.first, a.all.e, ATTEST_FEATURE_IDENTITY);
        __syncthreads(); // states and tokens are there
    }
    store_states(x, S, a);
}

// ---- on the host ---------------------------------------------------------------------------------------------

int supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_setting *x = p->axis;
    if (!taylor::weight_served(call) || !steps::tokens_served(call, ATTEST_DECAY_NONE))
        return 0;
    if (x[ATTEST_AXIS_FEATURE].value == ATTEST_FEATURE_ELU1)
        return attest_refuse_axis(call, ATTEST_AXIS_FEATURE); // phi(k) would be rounded to bf16
    const uint32_t gates = x[ATTEST_AXIS_GATES].value;
    if (gates != ATTEST_GATES_NONE && gates != ATTEST_GATES_OUT && gates != ATTEST_GATES_PRE_OUT)
        return attest_refuse_axis(call, ATTEST_AXIS_GATES); // gin v would be
    if (p->in != ATTEST_BF16 || p->p != ATTEST_BF16 || p->acc != ATTEST_F32)
        return attest_refuse(call, "only in and p bf16 and acc f32 are served");
    if (p->out != ATTEST_BF16 && p->out != ATTEST_F32)
        return attest_refuse(call, "only out bf16 or f32 is served");
    if (taylor::rows_below(p, taylor::highest_of(p) + 1) > state_rows)
        return attest_refuse(call, "states of more than 561 rows do not fit into shared memory");
    if (p->chunk > tokens && p->m > tokens)
        return attest_refuse(call, "a chunk of more than 64 tokens is not served");
    if (p->b * p->hkv > INT32_MAX / ((p->e + width - 1) / width))
        return attest_refuse(call, "more than 2^31-1 blocks");
    return 1;
}

arguments arguments_of(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensor *const *t = call->tensors->role;
    const auto in = cuda_library::view_of<const uint16_t>;
    arguments a = {};
    a.all = steps::tokens_of(call);
    a.q = in(t[ATTEST_Q]);
    a.k = in(t[ATTEST_K]);
    a.v = in(t[ATTEST_V]);
    if (p->out != ATTEST_F32) {
        a.narrow = cuda_library::view_of<uint16_t>(t[ATTEST_O]);
        a.all.o = {};
    }
    a.lowest = taylor::lowest_of(p);
    a.highest = taylor::highest_of(p);
    a.kind = static_cast<int>(taylor::weight_of(p)->value);
    a.chunk = p->chunk > 0 ? p->chunk : 1;
    for (int n = a.lowest; n <= a.highest; n++) {
        a.state[n] = steps::states_of(call, static_cast<uint32_t>(n));
        a.c[n] = taylor::coefficient(p, n);
        a.start[n] = static_cast<int>(taylor::rows_below(p, n));
    }
    a.start[a.highest + 1] = static_cast<int>(taylor::rows_below(p, a.highest + 1));
    return a;
}

attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (!cuda_library::present())
        return ATTEST_NO_DEVICE;
    const arguments a = arguments_of(call);
    const unsigned blocks = static_cast<unsigned>(p->b * p->hkv * ((p->e + width - 1) / width));
    const size_t size = sizeof(tiles) + static_cast<size_t>(a.start[a.highest + 1]) * each * sizeof(float);
    const attest_status status = cuda_library::allow(call, taylor_chunk, size);
    if (status != ATTEST_OK)
        return status;
    taylor_chunk<<<blocks, threads, size, cuda_library::stream_of(call)>>>(a);
    return cuda_library::launched(call);
}

attest_numerics declare_numerics()
{
    attest_numerics n = steps::tokens_numerics();
    n.schedule = ATTEST_SCHEDULE_CHUNK;
    n.acc_truncates = ATTEST_YES;
    n.p_rounding = ATTEST_ROUNDING_NEAREST;
    n.cast_in_sum = ATTEST_NO;
    n.scaled_dtype = 1 + ATTEST_F32;
    return n;
}

const attest_numerics numerics = declare_numerics();
const attest_limits limits = cuda_library::widths(widest, 0);

attest_kernel declare_kernel()
{
    attest_kernel k =
        cuda_library::kernel_of("taylor-chunk-cuda-bf16", "kernels/cuda/taylor_chunk.cu", &numerics, &limits);
    k.form = ATTEST_CHUNK;
    k.flags |= ATTEST_PACKED_STATE | ATTEST_MASKED_FINITE;
    k.outputs |= ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE;
    k.summary = "pairs of a chunk by mma m16n8k16, packed states of degrees to 3 between chunks in float";
    k.variants = "taylor:1 taylor:2 taylor:3 term:1 term:2 term:3 quadratic linear linear-relu relu-taylor:2";
    k.supports = supports;
    k.run = run;
    return k;
}

const attest_kernel kernel = declare_kernel();
const attest_kernel *const kernels[] = { &kernel };

} // namespace

extern "C" const attest_library *attest_library_v2(const attest_host *)
{
    return cuda_library::library("attest CUDA kernels: polynomial attention in chunks", kernels);
}
