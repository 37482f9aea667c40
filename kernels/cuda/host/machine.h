/* machine.h - a machine that runs CUDA kernels on the CPU: what cuda_runtime.h of this folder is made of.
 *
 * A launch runs one block after the other; the threads of a block are fibres (fibre.h), which switch at barriers and at
 * what a warp does together, and nowhere else.  A kernel without races gives the same bits in every order of them.
 * ATTEST_CUDA_HOST_ORDER, read at each launch, chooses it:
 *     forward (default)   blocks and threads by their numbers
 *     reverse             both the other way round
 *     greedy              a warp runs until all its threads wait for the block, then the next warp
 *     greedy-reverse      the same the other way round
 *     random:SEED         threads shuffled after every round, blocks by a stride
 * ATTEST_CUDA_HOST_GPU (a name of kernels/model/mma.h, default h100) chooses whose tensor cores are modelled; `exact`:
 * none, each mma is the exact sum rounded once (kernels/model/mma_exact.h).
 *
 * Faults.  Whatever no order could make right ends the launch with one line, which cudaGetErrorString() gives:
 * threads that wait for each other for ever, or at different barriers; lanes of a warp that meet at different
 * instructions or under different masks; a shuffle from a lane that takes no part (it may have ended); a misaligned
 * copy or matrix row, or one in another memory than the instruction's; a copy that nobody waits for; bytes written
 * outside of shared arrays or of device memory; more shared memory than was asked for, or than the GPU has; a grid or
 * a block that is too large.  Under ATTEST_CUDA_HOST_GPU=v100 mma, cp.async and ldmatrix are faults: that GPU has
 * none of these.
 * Shared memory holds 0xff.. (NaN) when a block begins; each array has its exact size and canaries around it.  Under
 * AddressSanitizer its ends are closed; under ThreadSanitizer each CUDA thread is a thread, ordered by barriers and
 * warp collectives alone.  Blocks are not ordered either, but ThreadSanitizer forgets threads that have ended: a race
 * between blocks shows in their order, not there for certain.  This folder's own .c files are compiled without them:
 * their memory is not the kernel's.
 * State: one machine a thread of the system; the list of device allocations is the process's.
 */
#ifndef ATTEST_CUDA_HOST_MACHINE_H
#define ATTEST_CUDA_HOST_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CUDA_HOST_LANES = 32, CUDA_HOST_SLOT = 64 }; /* lanes of a warp; most bytes that a lane brings along */

/* Shared memory of a block, in bytes: what every GPU gives, what none exceeds; its threads; greatest alignment. */
enum { CUDA_HOST_SHARED_DEFAULT = 48 * 1024, CUDA_HOST_SHARED_MOST = 227 * 1024, CUDA_HOST_THREADS_MOST = 1024 };
enum { CUDA_HOST_ALIGNMENT = 1024 };

typedef struct cuda_host_index {
    unsigned x, y, z;
} cuda_host_index;

/* What the running thread sees of itself. */
typedef struct cuda_host_here {
    cuda_host_index thread, block, size, grid;
    unsigned rank; /* of the thread in its block */
} cuda_host_here;

/* Where in the source. */
typedef struct cuda_host_place {
    const char *file;
    int line;
} cuda_host_place;

typedef struct cuda_host_slot {
    unsigned char byte[CUDA_HOST_SLOT] __attribute__((aligned(16)));
} cuda_host_slot;

/* out[lane] from in[..] for the lanes of mask and no others; returns 0 or what is wrong. */
typedef const char *cuda_host_combine(const cuda_host_slot *in, cuda_host_slot *out, uint32_t mask);

/* In a kernel: the calling thread. */
const cuda_host_here *cuda_host_now(void) __attribute__((pure));

/* __syncthreads(). */
void cuda_host_barrier(cuda_host_place where);
/* All lanes of mask that there are and that have not ended bring in[in_size]; combine(), which gets the mask of these,
 * makes what each takes home. */
void cuda_host_meet(uint32_t mask, const char *what, cuda_host_combine *combine, const void *in, size_t in_size,
                    void *out, size_t out_size, cuda_host_place where);
/* The bytes of the block's shared array `which`, an address that is its declaration's alone; of the launch's dynamic
 * shared memory.  Either begins at an odd multiple of its alignment, so that it has no greater one by chance (above
 * 128 bytes: at any multiple).  The dynamic memory's is that of the declaration which a thread meets first; a greater
 * one that comes later is a fault. */
void *cuda_host_shared(size_t size, size_t alignment, const void *which, cuda_host_place where);
void *cuda_host_dynamic(size_t alignment, cuda_host_place where);
/* cp.async from device memory to 16 bytes of a shared array: `size` bytes and then zeros; nothing arrives before the
 * wait for its group. */
void cuda_host_copy(void *to, const void *from, unsigned size, cuda_host_place where);
void cuda_host_copy_commit(void);
void cuda_host_copy_wait(unsigned keep);
/* Of ldmatrix: a fault if the row is not 16 bytes of a shared array. */
void cuda_host_row(const void *row, cuda_host_place where);
/* Ends the launch with this line; does not return. */
void cuda_host_fault(cuda_host_place where, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* The combinations of warp.c and tensor.c, with what a lane brings. */
typedef struct cuda_host_shuffled {
    uint64_t value;
    uint32_t from; /* the lane whose value this one takes */
} cuda_host_shuffled;
cuda_host_combine cuda_host_nothing, cuda_host_shuffle; /* out: uint64_t */
cuda_host_combine cuda_host_ballot;                     /* in: uint32_t predicate; out: uint32_t */
/* ldmatrix.x4 of 16-bit elements: in: the lane's row, 16 bytes; out: uint32_t[4]. */
cuda_host_combine cuda_host_matrices, cuda_host_matrices_turned;
/* mma.m16n8k16: in: a uint32_t[4], b uint32_t[2], c float[4] as PTX lays fragments out; out: d float[4]. */
typedef struct cuda_host_fragments {
    uint32_t a[4], b[2];
    float c[4];
} cuda_host_fragments;
cuda_host_combine cuda_host_mma_bf16, cuda_host_mma_f16;

/* From outside of kernels: what is wrong with a launch before it begins, as CUDA's documents say it (static memory
 * counts when a thread meets it): 0 or a cudaError_t with its line.  allowed: the kernel's attribute
 * cudaFuncAttributeMaxDynamicSharedMemorySize, -1 where nobody set it. */
int cuda_host_configure(cuda_host_index grid, cuda_host_index size, size_t dynamic, int allowed);
/* From outside of kernels: a launch; body(context) is what a thread does.  Returns 0 or a cudaError_t with its line. */
int cuda_host_launch(cuda_host_index grid, cuda_host_index size, size_t dynamic, int allowed,
                     void (*body)(void *context), void *context);
/* The line of the last error of this thread's launches. */
const char *cuda_host_line(void);
/* The GPU whose tensor cores are modelled, NULL: ATTEST_CUDA_HOST_GPU names none. */
const char *cuda_host_gpu(void);
/* The most that the attribute may be on that GPU. */
int cuda_host_shared_most(void);

/* Device memory, aligned to 256 bytes, filled with 0xff, between canaries; NULL: none left. */
void *cuda_host_allocate(size_t size);
/* 0, or what was overwritten; NULL is free already. */
const char *cuda_host_release(void *at);
/* The same of all that is allocated. */
const char *cuda_host_canaries(void);

#ifdef __cplusplus
}
#endif
#endif
