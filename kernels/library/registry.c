/* registry.c - the table of built-in kernels: one row each. */
#include "kernels/library/registry.h"

#include "kernels/fast/isa.h"

#ifndef ATTEST_BUILD_FLAGS /* the Makefile passes compiler and flags of kernels/cpu */
#define ATTEST_BUILD_FLAGS "-O3 -ffp-contract=off"
#endif

extern const attest_kernel attest_kernel_softmax_two_pass_f32;
extern const attest_kernel attest_kernel_softmax_two_pass_f64;
extern const attest_kernel attest_kernel_softmax_online_f32;
extern const attest_kernel attest_kernel_softmax_online_bf16;
extern const attest_kernel attest_kernel_softmax_mma_bf16;
extern const attest_kernel attest_kernel_softmax_split_f32;
extern const attest_kernel attest_kernel_softmax_decode_f32;
extern const attest_kernel attest_kernel_softmax_flash_f32;
extern const attest_kernel attest_kernel_softmax_flash_bf16;
extern const attest_kernel attest_kernel_softmax_amx_bf16;
extern const attest_kernel attest_kernel_taylor_packed_fast_f32;
extern const attest_kernel attest_kernel_taylor_chunk_fast_f32;
extern const attest_kernel attest_kernel_linear_chunk_f32;
extern const attest_kernel attest_kernel_linear_chunk_state_bf16;
extern const attest_kernel attest_kernel_delta_wy_f32;
extern const attest_kernel attest_kernel_taylor_direct_f32;
extern const attest_kernel attest_kernel_taylor_split_f32;
extern const attest_kernel attest_kernel_taylor_recurrent_f32;
extern const attest_kernel attest_kernel_taylor_packed_f32;
extern const attest_kernel attest_kernel_linear_recurrent_f32;
extern const attest_kernel attest_kernel_taylor_chunk_f32;
extern const attest_kernel attest_kernel_delta_parallel_f32;
extern const attest_kernel attest_kernel_delta_recurrent_f32;
extern const attest_kernel attest_kernel_delta_chunk_f32;

static const attest_kernel *const builtin_kernels[] = {
    &attest_kernel_softmax_two_pass_f32,   &attest_kernel_softmax_two_pass_f64,    &attest_kernel_softmax_online_f32,
    &attest_kernel_softmax_online_bf16,    &attest_kernel_softmax_mma_bf16,        &attest_kernel_softmax_split_f32,
    &attest_kernel_softmax_decode_f32,     &attest_kernel_softmax_flash_f32,       &attest_kernel_softmax_flash_bf16,
    &attest_kernel_taylor_direct_f32,      &attest_kernel_taylor_split_f32,        &attest_kernel_taylor_recurrent_f32,
    &attest_kernel_taylor_packed_f32,      &attest_kernel_linear_recurrent_f32,    &attest_kernel_taylor_chunk_f32,
    &attest_kernel_delta_parallel_f32,     &attest_kernel_delta_recurrent_f32,     &attest_kernel_delta_chunk_f32,
    &attest_kernel_taylor_packed_fast_f32, &attest_kernel_taylor_chunk_fast_f32,   &attest_kernel_linear_chunk_f32,
    &attest_kernel_delta_wy_f32,           &attest_kernel_linear_chunk_state_bf16, &attest_kernel_softmax_amx_bf16,
};

/* What a result says of its build tells too which instruction set the fast kernels use in this process. */
#define BUILTIN(level)                                                                                                 \
    {                                                                                                                  \
        .struct_size = sizeof(attest_library),                                                                         \
        .abi_version = ATTEST_ABI_VERSION,                                                                             \
        .name = "built-in",                                                                                            \
        .build_flags = ATTEST_BUILD_FLAGS "; fast kernels: " level,                                                    \
        .kernels = builtin_kernels,                                                                                    \
        .kernel_count = sizeof builtin_kernels / sizeof builtin_kernels[0],                                            \
    },

const attest_library *attest_builtin_library(void)
{
    static const attest_library library[] = { FAST_LEVELS(BUILTIN) };
    return &library[fast_level()];
}
