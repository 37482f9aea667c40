/* clock.h - seconds of the monotonic clock; header only, for attest and its worker. */
#ifndef ATTEST_CLOCK_H
#define ATTEST_CLOCK_H

#include <time.h>

static inline double attest_now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
