/* worker_memory.h - whether a worker takes more than its part of the memory.
 *
 * It may use half of what there is (attest_memory_total()); beside other workers, while less than a sixteenth is left
 * (attest_memory_available()), an eighth.  Its resident pages count (those of any thread, where the first has ended),
 * the files in memory that it has open (memfd_create(), /dev/shm), and in namespaces all that its own /dev/shm holds.
 * Not counted are processes that it starts, and what is in neither (a shared mapping that it has let go of): where
 * those take all, the system ends the worker and what it started before it ends attest (worker_sandbox.h).
 */
#ifndef ATTEST_WORKER_MEMORY_H
#define ATTEST_WORKER_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* OVER: more than `most` bytes.  SHORT: memory is short, which others may have taken, and the process has more than a
 * quarter of `most`, or what it has open cannot be read. */
typedef enum attest_memory_use {
    ATTEST_MEMORY_FITS = 0,
    ATTEST_MEMORY_OVER = 1,
    ATTEST_MEMORY_SHORT = 2
} attest_memory_use;

attest_memory_use attest_memory_is_over(pid_t pid, uint64_t most);

#endif
