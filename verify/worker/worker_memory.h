/* worker_memory.h - how much memory there is, and whether a worker takes more than its part.
 *
 * What there is: the memory of the machine, or the limit of a cgroup of this process (version 2: memory.max, version 1:
 * memory.limit_in_bytes, of the group and of those above it) where that is less.  A worker may use half of it; while
 * less than a sixteenth is free, an eighth.
 */
#ifndef ATTEST_WORKER_MEMORY_H
#define ATTEST_WORKER_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes that this process and its children may use together. */
uint64_t attest_memory_total(void);

/* 1 if process `pid` has more than `most` bytes resident, or more than a quarter of `most` where memory is short. */
int attest_memory_is_over(pid_t pid, uint64_t most);

#endif
