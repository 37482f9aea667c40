/* memory_use.h - how much of the heap is in use, for the tests of functions that only give memory back. */
#ifndef ATTEST_TESTS_MEMORY_USE_H
#define ATTEST_TESTS_MEMORY_USE_H

#include <malloc.h>
#include <stddef.h>

/* Bytes in blocks that are not freed; 0 where the C library (or a sanitizer's) does not tell. */
static inline size_t memory_use(void)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

/* 1 if doing it over and over comes to use no more memory: the allocator's own caches fill up first, so one of many
 * spans of 20 turns without growth is enough; what leaks grows in each. */
static inline int memory_stays(void (*act)(void))
{
    for (int span = 0; span < 40; span++) {
        const size_t before = memory_use();
        for (int turn = 0; turn < 20; turn++)
            act();
        if (memory_use() <= before)
            return 1;
    }
    return 0;
}

#endif
