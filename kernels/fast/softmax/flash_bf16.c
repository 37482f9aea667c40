/* flash_bf16.c - softmax-flash-bf16: the descriptor of flash.h in the arithmetic of flash_bf16.h, and the choice of the
 * instruction set, which changes no bit. */
#include "fast/softmax/flash_serve.h"

#include "fast/isa.h"

#ifdef FAST_PLANTED /* by a planted defect: the loops without extensions are part of this file, under this name */
#define FAST_FUSED
#define FLASH_BF16
#define flash_bf16_run_portable FAST_PLANTED
#include "fast/softmax/flash_kernel.h"
#endif

static size_t workspace(const attest_call *call)
{
    const flash_layout at = flash_lay_out(call->problem, FLASH_PANEL_MOST, 2);
    return sizeof(float) * (size_t)(at.scratch + flash_threads(call->problem) * at.each);
}

static attest_status run(const attest_call *call)
{
#ifdef FAST_ALL_ISAS
    if (fast_has_bf16() && !fast_has_amx()) /* beside AMX, VDPBF16PS takes longer than two multiply-adds (bench.md) */
        return flash_bf16_run_avx512bf16(call);
#endif
    return FAST_CALL(flash_bf16_run, call);
}

const attest_kernel attest_kernel_softmax_flash_bf16 = {
    .struct_size = sizeof attest_kernel_softmax_flash_bf16,
    .form = ATTEST_TILED,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_FTZ,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
    .name = "softmax-flash-bf16",
    .version = "1",
    .source = "kernels/fast/softmax/flash_bf16.c",
    .summary = "online softmax in tiles of 64 keys, in products of pairs of bf16 numbers (VDPBF16PS)",
    .variants = "softmax softmax1 fox",
    .numerics = &flash_bf16_numerics,
    .supports = flash_serves_bf16,
    .workspace = workspace,
    .run = run,
};
