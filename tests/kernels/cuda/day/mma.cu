// mma.cu - what tensor cores give, as vectors for build/mma-compare (tests/vectors/mma_rows.h).
//
//     mma FOLDER GPU        GPU: the row of kernels/model/mma.h that the vectors are to be compared with
//
// Writes FOLDER/INPUT-KIND.txt for each type and kind below: 128 rows a tile, each an element of one mma.m16n8k16 or of
// a chain of four.  Inputs are drawn from fixed seeds: the same on every machine.  On the CPU (host/) the tensor cores
// are the model's, so that the vectors must be equal; tf32 (m16n8k8) exists by nvcc alone.
// Exit codes: 0; 2 usage or a file that cannot be written; 77 no GPU.
#include "library.h"
#include "warp.h"

#include <cstdlib>
#include <vector>

namespace
{

constexpr int tiles = 16, rows = 16, columns = 8, chain_most = 4;

struct half_type { // bits of a type: where its exponent begins, its bias
    const char *name;
    int mantissa, bias, exponents;
};
const half_type bf16 = { "bf16", 7, 127, 255 }, f16 = { "f16", 10, 15, 31 }, tf32 = { "tf32", 10, 127, 255 };

// ---- on the device -----------------------------------------------------------------------------------------------

// A tile a block: a[16][depth], b[8][depth] in 16-bit elements, c[16][8] becomes d.
template <class type> __global__ void products(const uint16_t *a, const uint16_t *b, float *c, int depth)
{
    const int lane = threadIdx.x, group = lane / 4, pair = lane % 4 * 2;
    a += blockIdx.x * rows * depth;
    b += blockIdx.x * columns * depth;
    c += blockIdx.x * rows * columns;
    float d[4];
    for (int r = 0; r < 4; r++)
        d[r] = c[(group + r / 2 * 8) * columns + pair + r % 2];
    for (int first = 0; first < depth; first += 16) {
        uint32_t left[4], right[2];
        for (int r = 0; r < 4; r++)
            left[r] = *reinterpret_cast<const uint32_t *>(&a[(group + r % 2 * 8) * depth + first + pair + r / 2 * 8]);
        for (int r = 0; r < 2; r++)
            right[r] = *reinterpret_cast<const uint32_t *>(&b[group * depth + first + pair + r * 8]);
        type::multiply(d, left, right[0], right[1]);
    }
    for (int r = 0; r < 4; r++)
        c[(group + r / 2 * 8) * columns + pair + r % 2] = d[r];
}

#ifndef CUDA_HOST
// The same of tf32, 32-bit elements, m16n8k8.
__global__ void products_tf32(const uint32_t *a, const uint32_t *b, float *c, int depth)
{
    const int lane = threadIdx.x, group = lane / 4, t = lane % 4;
    a += blockIdx.x * rows * depth;
    b += blockIdx.x * columns * depth;
    c += blockIdx.x * rows * columns;
    float d[4];
    for (int r = 0; r < 4; r++)
        d[r] = c[(group + r / 2 * 8) * columns + t * 2 + r % 2];
    for (int first = 0; first < depth; first += 8) {
        uint32_t x[4], y[2];
        for (int r = 0; r < 4; r++)
            x[r] = a[(group + r % 2 * 8) * depth + first + t + r / 2 * 4];
        for (int r = 0; r < 2; r++)
            y[r] = b[group * depth + first + t + r * 4];
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                     "{%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    for (int r = 0; r < 4; r++)
        c[(group + r / 2 * 8) * columns + t * 2 + r % 2] = d[r];
}
#endif

// ---- inputs ------------------------------------------------------------------------------------------------------

struct random_words {
    uint64_t state;
    uint32_t below(uint32_t n) // 0 .. n-1
    {
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return static_cast<uint32_t>(((z ^ z >> 31) >> 32) * n >> 32);
    }
    int between(int least, int most)
    {
        return least + static_cast<int>(below(static_cast<uint32_t>(most - least + 1)));
    }
};

// A kind: exponents of a and b (those of a type with eight bits of them; f16 has an eighth, so its limits beyond 16
// are an eighth), of c likewise, how many of 16 entries are zeros, how many subnormal.
struct kind {
    const char *name;
    int least, most, c_least, c_most, zeros, subnormal, chain, special, c_zero;
};
constexpr int far_off = 1000;
const kind kinds[] = {
    { "random", -4, 4, -8, 8, 0, 0, 1, 0, 0 },
    { "wide", -70, 60, -126, 127, 0, 0, 1, 0, 0 },
    { "subnormal", -far_off, -60, -far_off, -120, 1, 8, 1, 0, 0 },
    { "floor", -79, -70, 0, 0, 2, 0, 1, 0, 1 }, // sums below what c = 0 and the floor of exponents leave visible
    { "zeros", -70, 62, -far_off, 127, 12, 1, 1, 0, 0 },
    { "chain", -8, 8, -16, 16, 1, 0, chain_most, 0, 0 },
    { "saturation", 55, 65, 120, 127, 0, 0, 1, 0, 0 },
    { "special", -4, 4, -8, 8, 2, 0, 1, 1, 0 },
};

// Exponent field of a limit.
int field_of(const half_type &type, int limit)
{
    const int own = type.bias == 15 && (limit > 16 || limit < -16) ? limit / 8 : limit, field = own + type.bias;
    return field < 0 ? 0 : field > type.exponents - 1 ? type.exponents - 1 : field;
}

// Bits of a number of the type with an exponent between two limits.
uint32_t draw(random_words &word, const half_type &type, const kind &k, int least, int most)
{
    const uint32_t sign = word.below(2) << (type.bias == 15 ? 15 : type.mantissa + 8), which = word.below(16);
    const uint32_t zeros = static_cast<uint32_t>(k.zeros), below = zeros + static_cast<uint32_t>(k.subnormal);
    if (which < zeros)
        return sign;
    if (k.special && word.below(24) == 0) // infinity or NaN
        return sign | static_cast<uint32_t>(type.exponents) << type.mantissa | word.below(2);
    const int field = which < below ? 0 : word.between(field_of(type, least), field_of(type, most));
    return sign | static_cast<uint32_t>(field) << type.mantissa | word.below(1u << type.mantissa);
}

// c, a float; beside f16 within what its products reach.
float draw_float(random_words &word, const half_type &type, const kind &k)
{
    if (k.c_zero)
        return 0;
    const half_type f32 = { "f32", 23, 127, 255 };
    const int part = type.bias == 15 ? 4 : 1;
    const uint32_t bits = draw(word, f32, k, k.c_least / part, k.c_most / part);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// ---- one file ----------------------------------------------------------------------------------------------------

template <class word> struct tile_set {
    std::vector<word> a, b;
    std::vector<float> c, d;
    int depth;
};

template <class word> void fill(tile_set<word> &s, const half_type &type, const kind &k, uint64_t seed)
{
    random_words random = { seed };
    s.depth = 16 * k.chain;
    s.a.resize(static_cast<size_t>(tiles * rows * s.depth));
    s.b.resize(static_cast<size_t>(tiles * columns * s.depth));
    s.c.resize(tiles * rows * columns);
    const int shift = type.bias == 127 && type.mantissa == 10 ? 13 : 0; // tf32: a float
    for (word &x : s.a)
        x = static_cast<word>(draw(random, type, k, k.least, k.most) << shift);
    for (word &x : s.b)
        x = static_cast<word>(draw(random, type, k, k.least, k.most) << shift);
    for (float &x : s.c)
        x = draw_float(random, type, k);
    s.d = s.c;
}

// On the device; nullptr, or what went wrong.
template <class word, class launch> const char *run(tile_set<word> &s, launch start)
{
    void *a = nullptr, *b = nullptr, *c = nullptr;
    const size_t size = sizeof(word), na = s.a.size() * size, nb = s.b.size() * size, nc = s.c.size() * sizeof(float);
    if (cudaMalloc(&a, na) != cudaSuccess || cudaMalloc(&b, nb) != cudaSuccess || cudaMalloc(&c, nc) != cudaSuccess)
        return "no device memory";
    cudaMemcpy(a, s.a.data(), na, cudaMemcpyHostToDevice);
    cudaMemcpy(b, s.b.data(), nb, cudaMemcpyHostToDevice);
    cudaMemcpy(c, s.c.data(), nc, cudaMemcpyHostToDevice);
    start(static_cast<const word *>(a), static_cast<const word *>(b), static_cast<float *>(c));
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    cudaMemcpy(s.d.data(), c, nc, cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

template <class word>
int write(const char *folder, const char *gpu, const half_type &type, const kind &k, const tile_set<word> &s)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-%s.txt", folder, type.name, k.name);
    FILE *out = fopen(path, "w");
    if (!out) {
        fprintf(stderr, "mma: %s: cannot be written\n", path);
        return 2;
    }
    fprintf(out, "# mma.sync on %s, kind %s; drawn by tests/kernels/cuda/day/mma.cu.\n# set: %s %s f32 %d\n", gpu,
            k.name, gpu, type.name, s.depth);
    const int digits = 2 * static_cast<int>(sizeof(word));
    for (int n = 0; n < tiles * rows * columns; n++) {
        const int tile = n / (rows * columns), i = n / columns % rows, j = n % columns;
        uint32_t c, d;
        memcpy(&c, &s.c[static_cast<size_t>(n)], sizeof c);
        memcpy(&d, &s.d[static_cast<size_t>(n)], sizeof d);
        for (int t = 0; t < s.depth; t++)
            fprintf(out, "%0*x ", digits,
                    static_cast<unsigned>(s.a[static_cast<size_t>((tile * rows + i) * s.depth + t)]));
        for (int t = 0; t < s.depth; t++)
            fprintf(out, "%0*x ", digits,
                    static_cast<unsigned>(s.b[static_cast<size_t>((tile * columns + j) * s.depth + t)]));
        fprintf(out, "%08x %08x\n", c, d);
    }
    return fclose(out) == 0 ? 0 : 2;
}

template <class word, class launch>
int make(const char *folder, const char *gpu, const half_type &type, const kind &k, uint64_t seed, launch start)
{
    tile_set<word> s;
    fill(s, type, k, seed);
    const char *wrong = run(s, [&](const word *a, const word *b, float *c) { start(a, b, c, s.depth); });
    if (!wrong)
        return write(folder, gpu, type, k, s);
    fprintf(stderr, "mma: %s %s: %s\n", type.name, k.name, wrong);
    return 1;
}

} // namespace

int main(int argc, char **argv)
{
    int code = 0;
    uint64_t seed = 1;
    if (argc != 3) {
        fprintf(stderr, "mma FOLDER GPU\n");
        return 2;
    }
    if (!cuda_library::present()) {
        printf("not run: no GPU\n");
        return 77;
    }
    for (const kind &k : kinds) {
        const int a = make<uint16_t>(argv[1], argv[2], bf16, k, seed++,
                                     [](const uint16_t *x, const uint16_t *y, float *z, int depth) {
                                         products<warp::bf16><<<tiles, 32>>>(x, y, z, depth);
                                     });
        const int b = make<uint16_t>(argv[1], argv[2], f16, k, seed++,
                                     [](const uint16_t *x, const uint16_t *y, float *z, int depth) {
                                         products<warp::f16><<<tiles, 32>>>(x, y, z, depth);
                                     });
        code = code ? code : a ? a : b;
#ifndef CUDA_HOST
        const int c = make<uint32_t>(argv[1], argv[2], tf32, k, seed,
                                     [](const uint32_t *x, const uint32_t *y, float *z, int depth) {
                                         products_tf32<<<tiles, 32>>>(x, y, z, depth);
                                     });
        code = code ? code : c;
#else
        (void)tf32;
#endif
        seed++;
    }
    return code;
}
