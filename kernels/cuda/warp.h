/* warp.h - what the kernels of this folder share on the device: tensor cores, copies in the background, functions.
 *
 * Instructions are inline PTX for nvcc and the machine of host/ for the CPU; functions are made of __fmaf_rn and the
 * like, so that no compiler chooses what is contracted: their bits are the same on every GPU and on the CPU.
 */
#ifndef ATTEST_CUDA_WARP_H
#define ATTEST_CUDA_WARP_H

#include "attest.h"

#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

#ifdef CUDA_HOST
#include "attest_float.h"
#define WARP_PLACE , const char *file = __builtin_FILE(), int line = __builtin_LINE()
#else
#define WARP_PLACE
#endif

namespace warp
{

/* ---- functions ----------------------------------------------------------------------------------------------- */
#define EXP_ERROR                                                                                                      \
    0x1.a4p-24 /* relative, of a normal result: tests/kernels/cuda; the method is that of kernels/fast/exp.h */

/* e^x, x <= 0; NaN of NaN.  Below -110 it is 0; a result below the normal numbers is rounded once. */
__device__ inline float exp(float x)
{
    const float magic = 0x1.8p23f, y = x < -110.0f ? -110.0f : x;
    const float shifted = __fmaf_rn(y, 0x1.715476p+0f, magic), k = __fsub_rn(shifted, magic);
    const float r = __fmaf_rn(k, -0x1.7f7d1cp-20f, __fmaf_rn(k, -0x1.62e4p-1f, y));
    float p = 0x1.6a241ap-10f * 0x1p-64f;
    p = __fmaf_rn(p, r, 0x1.1239f2p-7f * 0x1p-64f);
    p = __fmaf_rn(p, r, 0x1.5558f2p-5f * 0x1p-64f);
    p = __fmaf_rn(p, r, 0x1.555492p-3f * 0x1p-64f);
    p = __fmaf_rn(p, r, 0x1.fffffcp-2f * 0x1p-64f);
    p = __fmaf_rn(p, r, 0x1p-64f);
    p = __fmaf_rn(p, r, 0x1p-64f);
    return __fmul_rn(p, __uint_as_float((__float_as_uint(shifted) + (127u + 64u)) << 23)); /* 2^(k+64) */
}

#define LOG_ERROR 0x1p-21 /* relative; tests/kernels/cuda */

/* log x of a normal number x > 0; inf and NaN are themselves.  x = 2^k f, f in [sqrt(1/2), sqrt 2), t = (f-1)/(f+1):
 * log f = 2 (t + t^3/3 + .. + t^9/9), |t| < 0.172, so that what is left out is below 2^-29 of it. */
__device__ inline float log(float x)
{
    if (!(x < INFINITY))
        return x;
    const unsigned bits = __float_as_uint(x), above = bits - 0x3f3504f3u; /* of sqrt(1/2) */
    const float k = (float)((int)above >> 23), f = __uint_as_float((above & 0x7fffffu) + 0x3f3504f3u);
    const float t = __fdiv_rn(__fsub_rn(f, 1), __fadd_rn(f, 1)), s = __fmul_rn(t, t);
    float p = 0x1.c71c72p-4f; /* 1/9 */
    p = __fmaf_rn(p, s, 0x1.24924ap-3f);
    p = __fmaf_rn(p, s, 0x1.99999ap-3f);
    p = __fmaf_rn(p, s, 0x1.555556p-2f);
    const float twice = __fadd_rn(t, t), small = __fmaf_rn(__fmul_rn(twice, s), p, __fmul_rn(k, 0x1.7f7d1cp-20f));
    return __fmaf_rn(k, 0x1.62e4p-1f, __fadd_rn(twice, small)); /* ln 2 in two parts */
}

/* tanh x, made of an exponential: the error is absolute, near 2^-23. */
__device__ inline float tanh(float x)
{
    const float e = exp(__fmul_rn(-2, fabsf(x)));
    return copysignf(__fdiv_rn(__fsub_rn(1, e), __fadd_rn(1, e)), x);
}

/* ---- lanes --------------------------------------------------------------------------------------------------- */
/* Of the four lanes that hold a row of a fragment.  A NaN is never the maximum. */
__device__ inline float quad_max(float x)
{
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

__device__ inline float quad_sum(float x)
{
    x = __fadd_rn(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return __fadd_rn(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

/* ---- copies in the background -------------------------------------------------------------------------------- */
/* 16 bytes to shared memory, both addresses multiples of 16: the first `size` of them from `from`, then zeros. */
__device__ __forceinline__ void copy_16(void *shared, const void *from, int size WARP_PLACE)
{
#ifdef CUDA_HOST
    cuda_host_copy(shared, from, static_cast<unsigned>(size), { file, line });
#else
    const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(size) : "memory");
#endif
}

__device__ __forceinline__ void copy_commit()
{
#ifdef CUDA_HOST
    cuda_host_copy_commit();
#else
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Until all groups but the latest `keep` have arrived, of this thread's copies. */
template <int keep> __device__ __forceinline__ void copy_wait()
{
#ifdef CUDA_HOST
    cuda_host_copy_wait(keep);
#else
    asm volatile("cp.async.wait_group %0;" ::"n"(keep) : "memory");
#endif
}

/* ---- matrices ------------------------------------------------------------------------------------------------ */
#ifdef CUDA_HOST
/* The lane reads its own row, so that sanitizers see who reads it. */
inline void load_rows(uint32_t (&r)[4], const void *row, cuda_host_combine *combine, cuda_host_place where)
{
    uint32_t mine[4];
    cuda_host_row(row, where);
    for (int t = 0; t < 4; t++)
        mine[t] = static_cast<const uint32_t *>(row)[t];
    cuda_host_meet(0xffffffffu, "ldmatrix", combine, mine, sizeof mine, r, sizeof r, where);
}
#endif

/* Four 8x8 matrices of 16 bits from shared memory: lane k names row k%8 of matrix k/8; transposed if turned. */
template <bool turned> __device__ __forceinline__ void load_matrices(uint32_t (&r)[4], const void *row WARP_PLACE)
{
#ifdef CUDA_HOST
    load_rows(r, row, turned ? cuda_host_matrices_turned : cuda_host_matrices, { file, line });
#else
    const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(row));
    if (turned)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at)
                     : "memory");
#endif
}

/* The types of tensor cores.  pack(): two floats to nearest even, `low` in the low half.  multiply(): d += a b, a
 * 16x16, b 16x8, d 16x8 floats, in PTX's fragments of mma.m16n8k16. */
struct bf16 {
    static constexpr uint32_t dtype = ATTEST_BF16;
    __device__ static __forceinline__ uint32_t pack(float low, float high)
    {
#ifdef CUDA_HOST
        const auto cast = [](float x) -> uint32_t {
            const uint32_t bits = __float_as_uint(x);
            return x != x ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
        };
        return cast(low) | cast(high) << 16;
#else
        uint32_t both;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
        return both;
#endif
    }
    __device__ static __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                                    uint32_t b1 WARP_PLACE)
    {
#ifdef CUDA_HOST
        const cuda_host_fragments all = { { a[0], a[1], a[2], a[3] }, { b0, b1 }, { d[0], d[1], d[2], d[3] } };
        cuda_host_meet(0xffffffffu, "mma", cuda_host_mma_bf16, &all, sizeof all, d, sizeof d, { file, line });
#else
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                     "{%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
    }
};

struct f16 {
    static constexpr uint32_t dtype = ATTEST_F16;
    __device__ static __forceinline__ uint32_t pack(float low, float high)
    {
#ifdef CUDA_HOST
        const auto cast = [](float x) -> uint32_t { return x != x ? 0x7fffu : attest_f16_from_f32(x); };
        return cast(low) | cast(high) << 16;
#else
        uint32_t both;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
        return both;
#endif
    }
    __device__ static __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                                    uint32_t b1 WARP_PLACE)
    {
#ifdef CUDA_HOST
        const cuda_host_fragments all = { { a[0], a[1], a[2], a[3] }, { b0, b1 }, { d[0], d[1], d[2], d[3] } };
        cuda_host_meet(0xffffffffu, "mma", cuda_host_mma_f16, &all, sizeof all, d, sizeof d, { file, line });
#else
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                     "{%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
    }
};

} // namespace warp

#endif
