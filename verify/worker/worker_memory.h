/* worker_memory.h - whether a worker takes more than its part of the memory.
 *
 * It may use half of what there is (attest_memory_total()); while less than a sixteenth is free, an eighth.  Processes
 * that it starts are not counted: they are the system's to end.
 */
#ifndef ATTEST_WORKER_MEMORY_H
#define ATTEST_WORKER_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* 1 if process `pid` has more than `most` bytes resident, or more than a quarter of `most` where memory is short. */
int attest_memory_is_over(pid_t pid, uint64_t most);

#endif
