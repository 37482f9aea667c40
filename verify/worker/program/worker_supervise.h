/* worker_supervise.h - inside attest-worker: the process that stands between attest and the worker.
 *
 * It loads no library.  It forks the worker, waits, and ends whatever the worker has started, however often that has
 * forked or changed its session: orphans become its children (PR_SET_CHILD_SUBREAPER), or it is the first process of
 * its pid namespace.  Then it says how the worker ended (attest_shared.end) and ends itself with exit code 0.  SIGTERM
 * ends all at once.
 */
#ifndef ATTEST_WORKER_SUPERVISE_H
#define ATTEST_WORKER_SUPERVISE_H

#include "verify/worker/worker_protocol.h"

/* Returns in the worker only: 1, or 0 if it could not be made.  Where `own` (a worker that is confined, or one of a
 * program, whose tensors are files) and there is no namespace with a file system of its own, the worker gets a new
 * folder for its files, which the supervisor removes: *folder, and $TMPDIR; else what $TMPDIR says (NULL where not
 * `own`). */
int attest_supervise(attest_shared *shared, int own, const char **folder);

/* 1 if the supervisor is the first process of a namespace. */
int attest_supervise_namespace(void);

#endif
