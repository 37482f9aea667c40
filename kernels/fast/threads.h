/* threads.h - how many threads a fast kernel uses: OpenMP's number where there is work for them, else one.
 *
 * A kernel divides its work into tasks that share nothing but inputs, so that its bits do not depend on the number.
 */
#ifndef ATTEST_FAST_THREADS_H
#define ATTEST_FAST_THREADS_H

#include <stddef.h>
#include <stdint.h>

#ifdef _OPENMP
#include <omp.h>
static inline int64_t fast_threads_most(void) { return omp_get_max_threads(); }
static inline int64_t fast_thread(void) { return omp_get_thread_num(); }
#else
static inline int64_t fast_threads_most(void) { return 1; }
static inline int64_t fast_thread(void) { return 0; }
#endif

/* So many of `threads` as have a share of `each` floats in a workspace of `bytes`, behind the `shared` floats of all;
 * at least 1.  OpenMP's number may have grown since the workspace was asked for. */
static inline int64_t fast_threads_within(int64_t threads, size_t bytes, int64_t shared, int64_t each)
{
    const int64_t room = ((int64_t)(bytes / sizeof(float)) - shared) / each;
    return room < 1 ? 1 : room < threads ? room : threads;
}

/* Multiply-adds below which threads cost more than they bring: some 10 microseconds.  The gate compares the bits of
 * several numbers of threads on cases of up to 2^20. */
#define FAST_THREAD_WORK 5e5

/* For so many multiply-adds in so many tasks; at least 1. */
static inline int64_t fast_threads(double work, int64_t tasks)
{
    const int64_t most = work < FAST_THREAD_WORK ? 1 : fast_threads_most();
    return most < tasks ? most : tasks < 1 ? 1 : tasks;
}

#endif
