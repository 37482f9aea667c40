// taylor-packed-cuda-f32: polynomial attention as a recurrence over tokens, packed symmetric states of degrees to 3.
//
// Formula    S_n(t) = a_t S_n(t-1) + phi(k_t)^(x n) (x) gin_t v_t, Z_n(t) = a_t Z_n(t-1) + phi(k_t)^(x n),
//            u_i = sum_n c_n <phi(q_i)^(x n), S_n(i)>, z_i the same of Z_n, o_i = gout_i Norm(u_i, z_i); taylor:P has
//            n = 0..P, term:P and power:P only n = P; c_n = scale^n/n! (power: scale^n); P <= 3.
// Packed     A monomial x_a x_b x_c with a <= b <= c stands for all its orders: the query has n!/I! of it, which is 1,
//            2, 3 or 6.  Rows of a state are in lexicographic order, C(d+n-1,n) of degree n, degree after degree.
// Algorithm  taylor_part: a block of 8 warps takes a KV head, up to 8 of its query heads, 256 rows of the states and 32
//            channels of v, for all tokens; a thread holds 32 rows of one channel in registers, and Z of one row.
//            Up to 8 tokens and 8 queries at a time: each thread the monomial of its row for all of them; each warp
//            walks over the tokens, and sums its 32 rows for a query behind the last token that the query sees; then
//            the sums of the warps.
//            taylor_join: o of a row from the sums of all blocks, in the order of the rows.
// Errors     phi a rounding (e^x warp.h), a monomial n-1, the query's with c_n and n!/I! three more; a token two
//            roundings of a state, one without decay; sums gamma of the rows; one division.
// Masked     A key that a row does not see takes no part in it.  A row without a key reads h0, or is 0.
// Bits       every operation is named (__fmaf_rn, ..) and in a fixed order: the CPU's bits are the GPU's (but a NaN's).
#include "steps.h"
#include "taylor.h"

namespace {

constexpr int threads = 256, warps = threads / 32, own = 32, rows = warps * own, width = 32;
constexpr int tokens = 8, slots = 8, widest = 128, joiners = 128;
constexpr int64_t most_numbers = INT64_C(1) << 28; // of the workspace

// ---- on the device ---------------------------------------------------------------------------------------

struct arguments {
    steps::tokens all;
    steps::states state[taylor::most + 1];
    int64_t start[taylor::most + 2]; // the first row of each degree; of the one behind the last: all rows
    float c[taylor::most + 1];
    int64_t parts;
    float *part; // [b][hq][n][parts][e + 1]: u, z
    int lowest, highest, heads;
};

__device__ float *part_of(const arguments &a, int64_t b, int64_t h, int64_t i, int64_t part)
{
    return a.part + (((b * a.all.hq + h) * a.all.seen.n + i) * a.parts + part) * (a.all.e + 1);
}

// A slot is a query of a head.
struct storage {
    float k[tokens][widest + 1], q[slots][widest + 1], v[tokens][width], a[tokens];
    float of_k[tokens][rows], of_q[slots][rows]; // monomials
    float u[slots][warps][width], z[slots][warps];
    int last[slots]; // of a query: tokens of the open batch before it
};

// What a thread knows of its block.
struct task {
    int64_t b, g, head, first, from; // first query head; first row of the states; first token of the open batch
    int channel;                     // of the thread
    int count, queries, held;        // tokens and queries of the batch; rows of the thread
    bool sums_z;
};

// The three entries of x whose product a row is, x[d] = 1 where the degree is lower, and the query's factor.
struct monomial {
    int x[taylor::most];
    float c;
    __device__ float of(const float *x_of) const
    {
        return __fmul_rn(__fmul_rn(x_of[x[0]], x_of[x[1]]), x_of[x[2]]);
    }
};

__device__ int degree_of(const arguments &a, int64_t row)
{
    int n = a.lowest;
    while (n < a.highest && row >= a.start[n + 1])
        n++;
    return n;
}

// Row `row` of all states: the tuple of its number, entry by entry.
__device__ monomial monomial_of(const arguments &a, int64_t row)
{
    const int d = a.all.d, n = degree_of(a, row);
    monomial m = { { d, d, d }, a.c[n] };
    int64_t left = row - a.start[n];
    int from = 0;
#pragma unroll
    for (int t = 0; t < taylor::most; t++) {
        for (; t < n && from < d - 1; from++) {
            const int64_t w = d - from; // entries from `from` on; tuples that begin with it:
            const int64_t tuples = n - t == 1 ? 1 : n - t == 2 ? w : w * (w + 1) / 2;
            if (left < tuples)
                break;
            left -= tuples;
        }
        m.x[t] = t < n ? from : d;
    }
    const int alike = (m.x[0] == m.x[1]) + (m.x[1] == m.x[2]);
    const int orders = n == 3 ? (alike == 0 ? 6 : alike == 1 ? 3 : 1) : n == 2 && m.x[0] != m.x[1] ? 2 : 1;
    m.c = __fmul_rn(m.c, static_cast<float>(orders));
    return m;
}

__device__ void load_state(float (&S)[own], float &Z, const task &x, const arguments &a)
{
    const int64_t row = x.first + threadIdx.x, of_warp = row - threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < own; r++) {
        const int n = degree_of(a, of_warp + r);
        const steps::input &h0 = a.state[n].h0;
        S[r] = r < x.held && h0.data && x.channel < a.all.e
                   ? h0.data[h0.at(x.b, x.g, of_warp + r - a.start[n], x.channel)]
                   : 0;
    }
    const int n = degree_of(a, row);
    const steps::input &z0 = a.state[n].z0;
    Z = row < a.start[a.highest + 1] && z0.data ? z0.data[z0.at(x.b, x.g, row - a.start[n], 0)] : 0;
}

__device__ void store_state(const float (&S)[own], float Z, const task &x, const arguments &a)
{
    const int64_t row = x.first + threadIdx.x, of_warp = row - threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < own; r++) {
        const int n = degree_of(a, of_warp + r);
        const steps::output &ht = a.state[n].ht;
        if (r < x.held && ht.data && x.channel < a.all.e)
            ht.data[ht.at(x.b, x.g, of_warp + r - a.start[n], x.channel)] = S[r];
    }
    const int n = degree_of(a, row);
    const steps::output &zt = a.state[n].zt;
    if (x.sums_z && row < a.start[a.highest + 1] && zt.data)
        zt.data[zt.at(x.b, x.g, row - a.start[n], 0)] = Z;
}

// The next tokens, and the queries from i on that see no token behind them.
__device__ void open_batch(task &x, storage &s, const arguments &a, int64_t len, int64_t total, int64_t i)
{
    const int room = slots / a.heads;
    int64_t end = x.from;
    for (x.queries = 0; x.queries < room && i + x.queries < a.all.seen.n; x.queries++) {
        const int64_t last = a.all.seen.seen(len, i + x.queries).last;
        if (last > x.from + tokens)
            break;
        end = last;
        if (threadIdx.x == 0)
            s.last[x.queries] = static_cast<int>(last - x.from);
    }
    if (x.queries < room) // else more queries may wait for the token behind
        end = x.from + tokens < total ? x.from + tokens : total;
    x.count = static_cast<int>(end - x.from);
}

__device__ void load_batch(const task &x, storage &s, const arguments &a, int64_t i)
{
    const int wide = a.all.d + 1;
    for (int t = threadIdx.x; t < x.count * wide; t += threads) {
        const int j = t / wide, c = t % wide;
        s.k[j][c] = c == a.all.d ? 1
                                 : steps::feature_of(a.all.k.data[a.all.k.at(x.b, x.g, x.from + j, c)], a.all.feature);
    }
    for (int t = threadIdx.x; t < x.queries * a.heads * wide; t += threads) {
        const int slot = t / wide, c = t % wide;
        const int64_t h = x.head + slot % a.heads, row = i + slot / a.heads;
        s.q[slot][c] = c == a.all.d ? 1 : steps::feature_of(a.all.q.data[a.all.q.at(x.b, h, row, c)], a.all.feature);
    }
    const int j = threadIdx.x / width; // a warp a token
    if (j < x.count) {
        s.v[j][threadIdx.x % width] = x.channel < a.all.e ? steps::value_of(a.all, x.b, x.g, x.from + j, x.channel) : 0;
        if (threadIdx.x % width == 0)
            s.a[j] = steps::decay_of(a.all, x.b, x.g, x.from + j);
    }
}

// What the warp's rows give slot `slot`.
__device__ void read_slot(const float (&S)[own], float Z, const task &x, storage &s, int slot)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;
#pragma unroll
    for (int r = 0; r < own; r++)
        if (r < x.held)
            sum = __fmaf_rn(s.of_q[slot][own * warp + r], S[r], sum);
    s.u[slot][warp][lane] = sum;
    const float z = steps::lanes_sum<32>(lane < x.held ? __fmul_rn(s.of_q[slot][threadIdx.x], Z) : 0);
    if (lane == 0)
        s.z[slot][warp] = z;
}

// The state takes token j of the batch.
__device__ void take(float (&S)[own], float &Z, const task &x, const storage &s, const arguments &a, int j)
{
    const float *k = s.of_k[j] + own * (threadIdx.x / 32);
    const float v = s.v[j][threadIdx.x % 32];
    const bool decays = a.all.decays && (a.all.given || x.from + j > 0);
    const float by = decays ? s.a[j] : 1;
#pragma unroll
    for (int r = 0; r < own; r++)
        if (r < x.held)
            S[r] = __fmaf_rn(k[r], v, __fmul_rn(by, S[r]));
    if (static_cast<int>(threadIdx.x % 32) < x.held)
        Z = __fmaf_rn(by, Z, s.of_k[j][threadIdx.x]);
}

// The open batch: states and reads, token by token.
__device__ void walk(float (&S)[own], float &Z, const task &x, storage &s, const arguments &a)
{
    int r = 0;
    for (int j = 0; j <= x.count; j++) {
        for (; r < x.queries && s.last[r] == j; r++)
            for (int h = 0; h < a.heads; h++)
                read_slot(S, Z, x, s, r * a.heads + h);
        if (j < x.count)
            take(S, Z, x, s, a, j);
    }
}

// A warp a slot: sums of the warps go to the workspace.
__device__ void store_sums(const task &x, const storage &s, const arguments &a, int64_t i, int64_t part)
{
    const int slot = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (slot >= x.queries * a.heads)
        return;
    float *to = part_of(a, x.b, x.head + slot % a.heads, i + slot / a.heads, part);
    float u = 0, z = 0;
    for (int w = 0; w < warps; w++) {
        u = __fadd_rn(u, s.u[slot][w][lane]);
        z = __fadd_rn(z, s.z[slot][w]);
    }
    if (x.channel < a.all.e)
        to[x.channel] = u;
    if (x.channel == 0)
        to[a.all.e] = z;
}

__global__ void __launch_bounds__(threads, 2) taylor_part(arguments a)
{
    __shared__ storage s;
    const int64_t slices = (a.all.e + width - 1) / width, group = a.all.hq / a.all.hkv, bunches = group / a.heads;
    const int64_t part = blockIdx.x % a.parts, slice = blockIdx.x / a.parts % slices;
    const int64_t bunch = blockIdx.x / a.parts / slices % bunches, head = blockIdx.x / a.parts / slices / bunches;
    const int64_t b = head / a.all.hkv, g = head % a.all.hkv, len = a.all.seen.length(b);
    const int64_t total = a.all.seen.seen(len, a.all.seen.n - 1).last;
    const int64_t left = a.start[a.highest + 1] - part * rows - threadIdx.x / 32 * own;
    task x = { b,
               g,
               g * group + bunch * a.heads,
               part * rows,
               0,
               static_cast<int>(slice * width + threadIdx.x % 32),
               0,
               0,
               static_cast<int>(left < 0 ? 0 : left < own ? left : own),
               slice == 0 && bunch == 0 };
    const monomial mine = monomial_of(a, x.first + threadIdx.x);
    float S[own], Z;
    load_state(S, Z, x, a);
    for (int64_t i = 0; i < a.all.seen.n; i += x.queries, x.from += x.count) {
        open_batch(x, s, a, len, total, i);
        load_batch(x, s, a, i);
        __syncthreads(); // tokens and queries are there
        for (int j = 0; j < x.count; j++)
            s.of_k[j][threadIdx.x] = mine.of(s.k[j]);
        for (int slot = 0; slot < x.queries * a.heads; slot++)
            s.of_q[slot][threadIdx.x] = __fmul_rn(mine.c, mine.of(s.q[slot]));
        __syncthreads(); // monomials are there, and the sums before are used up
        walk(S, Z, x, s, a);
        __syncthreads(); // sums are there, and the tokens are used up
        store_sums(x, s, a, i, part);
    }
    if (bunch == 0)
        store_state(S, Z, x, a);
}

// A block a row.
__global__ void __launch_bounds__(joiners) taylor_join(arguments a)
{
    const int64_t n = a.all.seen.n, i = blockIdx.x % n, h = blockIdx.x / n % a.all.hq, b = blockIdx.x / n / a.all.hq;
    const float *part = part_of(a, b, h, i, 0);
    const int64_t step = a.all.e + 1;
    const bool empty = a.all.seen.seen(a.all.seen.length(b), i).last <= 0 && !a.all.given; // no key and no state
    float z = 0;
    for (int64_t s = 0; s < a.parts; s++)
        z = __fadd_rn(z, part[s * step + a.all.e]);
    for (int c = threadIdx.x; c < a.all.e; c += joiners) {
        float u = 0;
        for (int64_t s = 0; s < a.parts; s++)
            u = __fadd_rn(u, part[s * step + c]);
        steps::write_row(a.all, b, h, i, c, u, z, empty);
    }
}

// ---- on the host ---------------------------------------------------------------------------------------------

int64_t parts_of(const attest_problem *p)
{
    return (taylor::rows_below(p, taylor::highest_of(p) + 1) + rows - 1) / rows;
}

// Query heads of a block: the largest divisor of a group that has room.
int heads_of(const attest_problem *p)
{
    const int64_t group = p->hq / p->hkv;
    int heads = slots;
    while (group % heads)
        heads--;
    return heads;
}

int64_t numbers(const attest_problem *p) { return p->b * p->hq * p->n * parts_of(p) * (p->e + 1); }

int64_t blocks_of(const attest_problem *p)
{
    return p->b * p->hq / heads_of(p) * ((p->e + width - 1) / width) * parts_of(p);
}

int supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (!taylor::weight_served(call) || !steps::tokens_served(call, ATTEST_DECAY_SCALAR) || !steps::floats_served(call))
        return 0;
    if (numbers(p) > most_numbers)
        return attest_refuse(call, "sums of more than 2^28 numbers between the two kernels");
    if (p->b * p->hq * p->n > INT32_MAX || blocks_of(p) > INT32_MAX)
        return attest_refuse(call, "more than 2^31-1 blocks");
    return 1;
}

size_t workspace(const attest_call *call) { return static_cast<size_t>(numbers(call->problem)) * sizeof(float); }

attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (!cuda_library::present())
        return ATTEST_NO_DEVICE;
    arguments a = {};
    a.all = steps::tokens_of(call);
    a.lowest = taylor::lowest_of(p);
    a.highest = taylor::highest_of(p);
    a.heads = heads_of(p);
    a.parts = parts_of(p);
    a.part = static_cast<float *>(call->workspace);
    for (int n = a.lowest; n <= a.highest; n++) {
        a.state[n] = steps::states_of(call, static_cast<uint32_t>(n));
        a.c[n] = taylor::coefficient(p, n);
        a.start[n] = taylor::rows_below(p, n);
    }
    a.start[a.highest + 1] = taylor::rows_below(p, a.highest + 1);
    const cudaStream_t stream = cuda_library::stream_of(call);
    taylor_part<<<static_cast<unsigned>(blocks_of(p)), threads, 0, stream>>>(a);
    const attest_status status = cuda_library::launched(call);
    if (status != ATTEST_OK)
        return status;
    taylor_join<<<static_cast<unsigned>(p->b * p->hq * p->n), joiners, 0, stream>>>(a);
    return cuda_library::launched(call);
}

attest_numerics declare_numerics()
{
    attest_numerics n = steps::tokens_numerics();
    n.schedule = ATTEST_SCHEDULE_RECURRENT;
    return n;
}

const attest_numerics numerics = declare_numerics();
const attest_limits limits = cuda_library::widths(widest, 0);

attest_kernel declare_kernel()
{
    attest_kernel k = cuda_library::kernel_of("taylor-packed-cuda-f32", "kernels/cuda/taylor.cu", &numerics, &limits);
    k.form = ATTEST_RECURRENT;
    k.flags |= ATTEST_PACKED_STATE;
    k.outputs |= ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE;
    k.summary = "packed symmetric states of degrees to 3 in registers, token by token, 256 rows a block; float";
    k.variants = "taylor:1 taylor:2 taylor:3 term:1 term:2 term:3 quadratic linear linear-elu linear-relu elu-taylor:2 "
                 "relu-taylor:2 retnet simple-gla sla sla-retnet";
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
    return cuda_library::library("attest CUDA kernels: polynomial attention by recurrence", kernels);
}
