/* machine_private.h - a launch under way, for the files of this folder. */
#ifndef ATTEST_CUDA_HOST_MACHINE_PRIVATE_H
#define ATTEST_CUDA_HOST_MACHINE_PRIVATE_H

#include "fibre.h"
#include "machine.h"
#include "order.h"

#include "model/mma.h"

enum { CUDA_HOST_LINE = 320, CUDA_HOST_ARRAYS = 32, CUDA_HOST_REDZONE = 128 };

typedef enum thread_state { THREAD_READY, THREAD_AT_BARRIER, THREAD_IN_WARP, THREAD_DONE } thread_state;

/* A copy that is on its way. */
typedef struct async_copy {
    unsigned char *to;
    const unsigned char *from;
    unsigned size, group;
    cuda_host_place where;
} async_copy;

typedef struct machine_thread {
    cuda_host_here here;
    fibre_side fibre;
    thread_state state;
    cuda_host_place where; /* that it waits at */
    async_copy *copy;
    unsigned copy_count, copy_room, groups;
} machine_thread;

/* The lanes that have come to an instruction of their warp. */
typedef struct machine_warp {
    uint32_t alive; /* lanes that there are and that have not ended */
    uint32_t come, mask[CUDA_HOST_LANES];
    const char *what[CUDA_HOST_LANES];
    uint32_t company, company_mask; /* lanes known to have come for the same, under the same mask */
    const char *company_what;
    cuda_host_slot in[CUDA_HOST_LANES], out[CUDA_HOST_LANES];
} machine_warp;

/* Addresses by which ThreadSanitizer knows one synchronisation from the other. */
typedef struct machine_sync {
    char arrive, leave;
    struct {
        char arrive[CUDA_HOST_LANES], leave[CUDA_HOST_LANES];
    } warp[CUDA_HOST_THREADS_MOST / CUDA_HOST_LANES];
} machine_sync;

/* A block's shared memory; one for each block where races are watched, else the same for all. */
typedef struct shared_memory {
    struct shared_memory *next;
    machine_sync sync;
    struct {
        const void *which; /* NULL: the dynamic one */
        size_t at, size;
    } array[CUDA_HOST_ARRAYS];
    unsigned arrays;
    size_t used; /* with redzones */
    unsigned char *byte;
} shared_memory;

typedef struct machine {
    fibre_side home;
    machine_thread *thread;
    machine_warp *warp;
    unsigned *rank;
    const unsigned *turn; /* the threads whose turn it is, in order: numbers next <= i < turns are still to come */
    unsigned turns, next;
    int passes; /* a thread that waits gives its place to the next one, not to home */
    unsigned threads, live, at_barrier;
    cuda_host_place barrier; /* of those that wait at one */
    machine_thread *now;
    shared_memory *shared, *old; /* of this block; of those before */
    char *stacks;
    size_t dynamic;
    size_t asked, shared_most; /* dynamic memory, or what was allowed of it; with the static memory at most */
    launch_order order;
    mma_rule bf16, f16;
    int target; /* 70 is sm_70: the GPU whose tensor cores are modelled */
    int exact;  /* mma by kernels/model/mma_exact.h, no rule */
    void (*body)(void *context);
    void *context;
    char done; /* a synchronisation: what all threads did is before what follows the launch */
    char line[CUDA_HOST_LINE];
} machine;

/* The machine whose kernel runs on this thread of the system, NULL: none. */
machine *machine_now(void);
/* The first line stays. */
void machine_says(machine *m, cuda_host_place where, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A fault where the GPU of ATTEST_CUDA_HOST_GPU is older than sm_`target`, which `what` needs. */
void machine_needs(const machine *m, int target, const char *what, cuda_host_place where);
/* Gives the processor away until something makes the thread ready. */
void machine_wait(machine *m, thread_state state, cuda_host_place where);

/* warp.c: the running thread ends; lanes that wait for it alone are ready, and complete their group themselves, so that
 * what it did is before nothing of theirs. */
void machine_left_warp(machine *m);

/* shared.c: fresh memory for a block, 0: none left; 0 where something was written outside of its arrays. */
int machine_shared_begin(machine *m);
int machine_shared_end(machine *m);
void machine_shared_free(machine *m);

/* Bytes that sanitizers do not see moving: words of four of them, then the rest. */
static inline void machine_move(void *to, const void *from, size_t size)
{
    typedef uint32_t __attribute__((may_alias, aligned(1))) word;
    volatile word *words_out = to;
    const volatile word *words_in = from;
    volatile unsigned char *out = to;
    const volatile unsigned char *in = from;
    const size_t words = size / sizeof(word);
    for (size_t i = 0; i < words; i++)
        words_out[i] = words_in[i];
    for (size_t i = words * sizeof(word); i < size; i++)
        out[i] = in[i];
}

static inline void machine_fill(void *to, unsigned char byte, size_t size)
{
    volatile unsigned char *out = to;
    for (size_t i = 0; i < size; i++)
        out[i] = byte;
}

#endif
