/* Device memory: the host's, between canaries that lie 256 bytes deep on both sides. */
#include "machine.h"

#include "fibre.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ZONE = 256, CANARY = 0xfe, POISON = 0xff }; /* 0xfefe..: about -1.7e38 as f32 and bf16, NaN as f16 */

typedef struct allocation {
    struct allocation *next;
    unsigned char *at; /* of what the kernel has */
    size_t size;
} allocation;

/* All that is allocated: what cudaDeviceSynchronize() has to look at. */
static struct {
    pthread_mutex_t lock;
    allocation *first;
} device = { PTHREAD_MUTEX_INITIALIZER, NULL };

static size_t whole_size(size_t size) { return 2 * ZONE + (size + ZONE - 1) / ZONE * ZONE; }

static void zones(const allocation *a, void (*act)(void *at, size_t size))
{
    act(a->at - ZONE, ZONE);
    act(a->at + a->size, whole_size(a->size) - ZONE - a->size);
}

static void fill(void *at, size_t size, unsigned char byte)
{
    for (size_t i = 0; i < size; i++)
        ((volatile unsigned char *)at)[i] = byte;
}

static void mark(void *at, size_t size) { fill(at, size, CANARY); }

static int marked(const allocation *a)
{
    const volatile unsigned char *before = a->at - ZONE, *after = a->at + a->size;
    const size_t behind = whole_size(a->size) - ZONE - a->size;
    for (size_t i = 0; i < ZONE; i++)
        if (before[i] != CANARY)
            return 0;
    for (size_t i = 0; i < behind; i++)
        if (after[i] != CANARY)
            return 0;
    return 1;
}

static const char *judge(const allocation *a) { return marked(a) ? NULL : "device memory was written past its end"; }

void *cuda_host_allocate(size_t size)
{
    allocation *a = size > SIZE_MAX / 2 ? NULL : malloc(sizeof *a);
    unsigned char *whole = a ? aligned_alloc(ZONE, whole_size(size)) : NULL;
    if (!whole) {
        free(a);
        return NULL;
    }
    a->at = whole + ZONE;
    a->size = size;
    fill(a->at, size, POISON);
    zones(a, mark);
    zones(a, fibre_close_memory);
    pthread_mutex_lock(&device.lock);
    a->next = device.first;
    device.first = a;
    pthread_mutex_unlock(&device.lock);
    return a->at;
}

const char *cuda_host_release(void *at)
{
    allocation **link = &device.first, *found;
    if (!at)
        return NULL;
    pthread_mutex_lock(&device.lock);
    while (*link && (*link)->at != at)
        link = &(*link)->next;
    found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&device.lock);
    if (!found)
        return "cudaFree() of what cudaMalloc() did not give";
    const char *wrong = judge(found);
    zones(found, fibre_open_memory);
    free(found->at - ZONE);
    free(found);
    return wrong;
}

const char *cuda_host_canaries(void)
{
    const char *wrong = NULL;
    pthread_mutex_lock(&device.lock);
    for (const allocation *a = device.first; a && !wrong; a = a->next)
        wrong = judge(a);
    pthread_mutex_unlock(&device.lock);
    return wrong;
}
