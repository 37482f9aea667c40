/* worker_sandbox.h - what holds a worker back: which means are tried, and what was reached.
 *
 * $ATTEST_SANDBOX: `auto` (or unset) uses what the system allows, `off` nothing, `require` fails without Landlock and
 * seccomp.  The means:
 *
 *     namespaces   of pids, mounts and IPC (with one of users, unless we are root and may do without): the worker sees
 *                  no other process; all that it starts ends with its supervisor; ATTEST_SANDBOX_FOLDER is its own, all
 *                  else read-only (Linux 5.12), so that modes and times of files stay; no shared memory, semaphore or
 *                  queue of the system outlives it
 *     Landlock     files are written and made in a folder of its own only; from Linux 6.10 on no device but those that
 *                  compute gets an ioctl(), from 6.12 on it signals nobody outside
 *     seccomp      signals but to itself (in namespaces: to its supervisor) by kill() and its like or by a descriptor,
 *                  ptrace(), the memory of others, their limits, what a terminal reads or does: EPERM
 *     memory       where the system has none left, it ends workers before attest (oom_score_adj)
 *     session      of its own, without a terminal (also where the mode is `off`)
 *     rights       of root none but to read; no new ones by exec (PR_SET_NO_NEW_PRIVS)
 *
 * The first are entered here, between fork and exec; the others in the worker (worker_confine.h).
 */
#ifndef ATTEST_WORKER_SANDBOX_H
#define ATTEST_WORKER_SANDBOX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernels/status.h"

/* Where a worker in namespaces finds a file system of its own, which nobody else sees. */
#define ATTEST_SANDBOX_FOLDER "/dev/shm"
#define ATTEST_SANDBOX_REFUSED 126 /* exit code of a child that could not enter */

typedef enum attest_sandbox_mode {
    ATTEST_SANDBOX_AUTO = 0,
    ATTEST_SANDBOX_OFF = 1,
    ATTEST_SANDBOX_REQUIRE = 2
} attest_sandbox_mode;

typedef struct attest_sandbox {
    attest_sandbox_mode mode;
    int namespaces; /* 1: to be entered */
    int users;      /* 1: with one of users */
} attest_sandbox;

/* Lines of uid_map and gid_map: everyone keeps his number. */
typedef struct attest_sandbox_ids {
    char user[64], group[64];
} attest_sandbox_ids;

/* By $ATTEST_SANDBOX and by what the system allows (a child that does nothing is started to see).  A library inside
 * ATTEST_SANDBOX_FOLDER: no namespaces. */
attest_status attest_sandbox_choose(attest_sandbox *sandbox, const char *library, attest_error *err);
attest_sandbox_ids attest_sandbox_ids_of(const attest_sandbox *sandbox);

/* fork() into the namespaces. */
pid_t attest_sandbox_fork(const attest_sandbox *sandbox);

/* In the child: maps and mounts, by async-signal-safe calls.  0: the system refuses. */
int attest_sandbox_enter(const attest_sandbox *sandbox, const attest_sandbox_ids *ids);

/* ATTEST_BAD_INPUT if `require` asks for more than `confined` (ATTEST_CONFINED_*). */
attest_status attest_sandbox_satisfied(const attest_sandbox *sandbox, uint64_t confined, attest_error *err);

/* In words, for a report. */
void attest_sandbox_text(char *text, size_t len, const attest_sandbox *sandbox, uint64_t confined);

#endif
