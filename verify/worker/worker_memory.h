/* worker_memory.h - whether a worker takes more than its part of the memory.
 *
 * It may use half of what there is (attest_memory_total()); while less than a sixteenth is left
 * (attest_memory_available()), an eighth.  Its
 * resident pages count (those of any thread, where the first has ended), the files in memory that it has open
 * (memfd_create(), /dev/shm), and in namespaces all that its own /dev/shm holds.  Not counted are processes that it
 * starts, and what is in neither (a shared mapping that it has let go of): where those take all, the system ends the
 * worker and what it started before it ends attest (worker_sandbox.h).
 */
#ifndef ATTEST_WORKER_MEMORY_H
#define ATTEST_WORKER_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

typedef enum attest_memory_use {
    ATTEST_MEMORY_FITS = 0,
    ATTEST_MEMORY_OVER = 1, /* more than `most` bytes */
    ATTEST_MEMORY_SHORT =
        2 /* more than a quarter of `most`, or nobody knows how much, where memory is short: others may
                               have taken it */
} attest_memory_use;

attest_memory_use attest_memory_is_over(pid_t pid, uint64_t most);

#endif
