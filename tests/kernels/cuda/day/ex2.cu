// ex2.cu - what ex2.approx gives on this GPU: for build/ex2-fit (tests/vectors/ex2_fit.c), and whether whole parts of x
// do nothing but shift.
//
//     ex2 OUTPUTS        writes 2^23 floats, ex2.approx.f32(k 2^-23), k = 0, 1, ..
//
// Prints their hash (FNV-1a, as ex2_hash()), how many of ex2.approx.ftz.f32 are others, and of 2^22 numbers in
// [-126,128) with no bit below 2^-23 how many are not 2^n times the output of their part in [0,1).  By nvcc alone.
// Exit codes: 0; 1 a launch failed; 2 usage, or the file cannot be written; 77 no GPU.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

namespace
{

constexpr int points = 1 << 23, shifted = 1 << 22;

__global__ void run(const float *x, float *y, float *flushed, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y[i]) : "f"(x[i]));
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(flushed[i]) : "f"(x[i]));
}

bool ask(const std::vector<float> &x, std::vector<float> &y, std::vector<float> &flushed)
{
    float *at[3] = { nullptr, nullptr, nullptr };
    const size_t bytes = x.size() * sizeof(float);
    y.resize(x.size());
    flushed.resize(x.size());
    for (float *&p : at)
        if (cudaMalloc(&p, bytes) != cudaSuccess)
            return false;
    cudaMemcpy(at[0], x.data(), bytes, cudaMemcpyHostToDevice);
    run<<<static_cast<unsigned>((x.size() + 255) / 256), 256>>>(at[0], at[1], at[2], static_cast<int>(x.size()));
    bool good = cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
    good = good && cudaMemcpy(y.data(), at[1], bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
    good = good && cudaMemcpy(flushed.data(), at[2], bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
    for (float *p : at)
        cudaFree(p);
    return good;
}

uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

} // namespace

int main(int argc, char **argv)
{
    int devices = 0, other = 0, unshifted = 0;
    if (argc != 2) {
        fprintf(stderr, "ex2 OUTPUTS\n");
        return 2;
    }
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("not run: no GPU\n");
        return 77;
    }
    std::vector<float> x(points), y, flushed, far(shifted), of_far, far_flushed;
    std::vector<int> whole(shifted), part(shifted);
    for (int k = 0; k < points; k++)
        x[k] = static_cast<float>(k) * 0x1p-23f;
    uint32_t word = 1;
    for (int i = 0; i < shifted; i++) { // n + f exact: f of as few bits as the exponent of n leaves
        word = word * 1664525u + 1013904223u;
        whole[i] = static_cast<int>((word >> 8) % 254) - 126;
        word = word * 1664525u + 1013904223u;
        part[i] = static_cast<int>(word >> 9 & 0x7f0000u) | (i % 2 ? 0x8000 : 0);
        far[i] = static_cast<float>(whole[i]) + static_cast<float>(part[i]) * 0x1p-23f;
    }
    if (!ask(x, y, flushed) || !ask(far, of_far, far_flushed)) {
        fprintf(stderr, "ex2: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    uint64_t hash = 0xcbf29ce484222325u;
    for (int k = 0; k < points; k++) {
        other += bits_of(y[k]) != bits_of(flushed[k]);
        for (int byte = 0; byte < 4; byte++)
            hash = (hash ^ (bits_of(y[k]) >> 8 * byte & 0xff)) * 0x100000001b3u;
    }
    for (int i = 0; i < shifted; i++) {
        const uint32_t want = bits_of(y[part[i]]) + (static_cast<uint32_t>(whole[i]) << 23);
        unshifted += bits_of(of_far[i]) != want;
    }
    FILE *out = fopen(argv[1], "wb");
    const bool written = out && fwrite(y.data(), sizeof(float), points, out) == static_cast<size_t>(points);
    if (!out || fclose(out) != 0 || !written) {
        fprintf(stderr, "ex2: %s: cannot be written\n", argv[1]);
        return 2;
    }
    printf("hash %016" PRIx64 "\nof ex2.approx.ftz others %d\nnot shifted %d of %d\n", hash, other, unshifted, shifted);
    return 0;
}
