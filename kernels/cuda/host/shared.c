/* Shared memory of a block, and copies into it that are on their way. */
#include "machine_private.h"

#include <stdlib.h>

enum { ODD_MOST = 128, CANARY = 0xfe, POISON = 0xff, COPY = 16 }; /* as in memory.c */
#define ROOM ((size_t)CUDA_HOST_SHARED_MOST + (CUDA_HOST_ARRAYS + 1) * (CUDA_HOST_REDZONE + CUDA_HOST_ALIGNMENT))

/* The least multiple of the alignment from `used` on, and an odd one as far as ODD_MOST. */
static size_t place(size_t used, size_t alignment)
{
    const size_t multiple = (used + alignment - 1) / alignment;
    return (multiple | (alignment <= ODD_MOST)) * alignment;
}

static void *take(machine *m, size_t size, size_t alignment, const void *which)
{
    shared_memory *s = m->shared;
    const size_t at = place(s->used > 0 ? s->used : CUDA_HOST_REDZONE, alignment), end = at + size + CUDA_HOST_REDZONE;
    if (s->arrays == CUDA_HOST_ARRAYS || end > ROOM)
        return NULL;
    fibre_open_memory(s->byte + s->used, end - s->used);
    machine_fill(s->byte + s->used, CANARY, at - s->used);
    machine_fill(s->byte + at, POISON, size);
    machine_fill(s->byte + at + size, CANARY, CUDA_HOST_REDZONE);
    fibre_close_memory(s->byte + s->used, at - s->used);
    fibre_close_memory(s->byte + at + size, CUDA_HOST_REDZONE);
    s->array[s->arrays].which = which;
    s->array[s->arrays].at = at;
    s->array[s->arrays++].size = size;
    s->used = end;
    return s->byte + at;
}

int machine_shared_begin(machine *m)
{
    if (m->shared && fibre_races_watched()) { /* what a block has synchronised says nothing of the next */
        m->shared->next = m->old;
        m->old = m->shared;
        m->shared = NULL;
    }
    if (!m->shared) {
        shared_memory *s = calloc(1, sizeof *s);
        m->shared = s;
        if (s && !(s->byte = aligned_alloc(CUDA_HOST_ALIGNMENT, place(ROOM, CUDA_HOST_ALIGNMENT)))) {
            free(s);
            m->shared = NULL;
        }
    }
    if (!m->shared)
        return 0;
    fibre_close_memory(m->shared->byte, ROOM);
    m->shared->arrays = 0;
    m->shared->used = 0;
    return 1;
}

int machine_shared_end(machine *m)
{
    shared_memory *s = m->shared;
    const volatile unsigned char *byte = s->byte;
    size_t from = 0;
    int whole = 1;
    fibre_open_memory(s->byte, ROOM);
    for (unsigned i = 0; i <= s->arrays; i++) {
        const size_t to = i < s->arrays ? s->array[i].at : s->used;
        for (size_t k = from; k < to; k++)
            whole &= byte[k] == CANARY;
        from = i < s->arrays ? to + s->array[i].size : to;
    }
    return whole;
}

static void free_one(shared_memory *s)
{
    if (s)
        free(s->byte);
    free(s);
}

void machine_shared_free(machine *m)
{
    while (m->old) {
        shared_memory *next = m->old->next;
        free_one(m->old);
        m->old = next;
    }
    free_one(m->shared);
    m->shared = NULL;
}

void *cuda_host_dynamic(size_t alignment, cuda_host_place where)
{
    machine *m = machine_now();
    const shared_memory *s = m->shared;
    void *at = NULL;
    for (unsigned i = 0; i < s->arrays && !at; i++)
        if (!s->array[i].which)
            at = s->byte + s->array[i].at;
    if (!at)
        at = take(m, m->dynamic, alignment, NULL);
    if (!at)
        cuda_host_fault(where, "more shared arrays than %d", CUDA_HOST_ARRAYS);
    if ((uintptr_t)at % alignment)
        cuda_host_fault(where, "extern __shared__ aligned to %zu bytes, after one of less that a thread met first",
                        alignment);
    return at;
}

void *cuda_host_shared(size_t size, size_t alignment, const void *which, cuda_host_place where)
{
    machine *m = machine_now();
    const shared_memory *s = m->shared;
    size_t all = size;
    for (unsigned i = 0; i < s->arrays; i++) {
        if (s->array[i].which == which)
            return s->byte + s->array[i].at;
        all += s->array[i].which ? s->array[i].size : 0;
    }
    if (all > CUDA_HOST_SHARED_DEFAULT || all + m->asked > m->shared_most)
        cuda_host_fault(where, "%zu bytes of static and %zu of dynamic shared memory: more than a block can have", all,
                        m->asked);
    void *made = take(m, size, alignment, which);
    if (!made)
        cuda_host_fault(where, "more shared arrays than %d", CUDA_HOST_ARRAYS);
    return made;
}

/* ---- cp.async, ldmatrix -------------------------------------------------------------------------------------- */
static int is_below(const void *at, const void *from, size_t size) { return (uintptr_t)at - (uintptr_t)from < size; }

/* COPY bytes of one of the block's arrays. */
static int is_shared(const shared_memory *s, const void *at)
{
    for (unsigned i = 0; i < s->arrays; i++)
        if (s->array[i].size >= COPY && is_below(at, s->byte + s->array[i].at, s->array[i].size - COPY + 1))
            return 1;
    return 0;
}

void cuda_host_row(const void *row, cuda_host_place where)
{
    machine_needs(machine_now(), 75, "ldmatrix", where);
    if ((uintptr_t)row % COPY)
        cuda_host_fault(where, "ldmatrix: a row that is not aligned to 16 bytes");
    if (!is_shared(machine_now()->shared, row))
        cuda_host_fault(where, "ldmatrix of what is not 16 bytes of one shared array");
}

static void check_copy(const machine *m, const void *to, const void *from, unsigned size, cuda_host_place where)
{
    machine_needs(m, 80, "cp.async", where);
    if ((uintptr_t)to % COPY || (uintptr_t)from % COPY || size > COPY)
        cuda_host_fault(where, "cp.async of %u bytes: both addresses have to be multiples of 16", size);
    if (!is_shared(m->shared, to))
        cuda_host_fault(where, "cp.async to what is not 16 bytes of one shared array");
    if (size > 0 &&
        (is_below(from, m->shared->byte, ROOM) || is_below(from, m->stacks, (size_t)m->threads * FIBRE_STACK)))
        cuda_host_fault(where, "cp.async from what is not device memory");
}

void cuda_host_copy(void *to, const void *from, unsigned size, cuda_host_place where)
{
    machine_thread *t = machine_now()->now;
    check_copy(machine_now(), to, from, size, where);
    if (t->copy_count == t->copy_room) {
        const unsigned room = t->copy_room ? 2 * t->copy_room : 64;
        async_copy *more = realloc(t->copy, room * sizeof *more);
        if (!more)
            cuda_host_fault(where, "out of memory");
        t->copy = more;
        t->copy_room = room;
    }
    memset(to, POISON, COPY); /* what is there before the wait is not to be read */
    t->copy[t->copy_count++] = (async_copy){ to, from, size, t->groups, where };
}

void cuda_host_copy_commit(void) { machine_now()->now->groups++; }

void cuda_host_copy_wait(unsigned keep)
{
    machine_thread *t = machine_now()->now;
    unsigned left = 0;
    for (unsigned i = 0; i < t->copy_count; i++) {
        const async_copy *c = &t->copy[i];
        if (c->group + keep >= t->groups) {
            t->copy[left++] = *c;
            continue;
        }
        memcpy(c->to, c->from, c->size); /* which sanitizers see */
        memset(c->to + c->size, 0, COPY - c->size);
    }
    t->copy_count = left;
}
