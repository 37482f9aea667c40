/* worker_confine.h - inside attest-worker: what the worker may not do to others (worker_sandbox.h says why). */
#ifndef ATTEST_WORKER_CONFINE_H
#define ATTEST_WORKER_CONFINE_H

#include <stdint.h>

/* Holds this process and all that it will start back, for good; before a library is loaded.  Files may be written in
 * `folder` (NULL: nowhere) and to the devices that compute.  `alone`: in a namespace of pids, whose processes may
 * signal each other, but not process 1.
 * Returns what was reached: ATTEST_CONFINED_LANDLOCK, ATTEST_CONFINED_SECCOMP. */
uint64_t attest_confine(const char *folder, int alone);

#endif
