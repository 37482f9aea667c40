/* watch.h - a command that may take long: progress on a terminal, and the end of its time.
 *
 * A thread of its own looks at the clock, so that nothing that computes has to.
 */
#ifndef ATTEST_WATCH_H
#define ATTEST_WATCH_H

#include <stdint.h>

#include "kernels/status.h"

typedef struct attest_watch_options {
    const char *command; /* `reference`, as messages begin */
    const char *option;  /* which one sets the limit, `--max-time` */
    double limit_s;      /* negative: none */
    int progress;        /* say each second how far it is; for a terminal */
} attest_watch_options;

typedef struct attest_watch attest_watch;

/* Begins.  After `limit_s` seconds the process ends: one line on standard error, what was not yet written to standard
 * output is dropped, exit code 4.  *watch is NULL (and nothing is watched) where there is neither a limit nor progress
 * to tell.  ATTEST_NO_MEMORY. */
attest_status attest_watch_start(attest_watch **watch, const attest_watch_options *options, attest_error *err);

/* From now on what is done is told too: `done(context)` of `unit` (`rows of the truth`), asked by the watching thread
 * until attest_watch_end(). */
void attest_watch_count(attest_watch *watch, int64_t (*done)(const void *context), const void *context,
                        const char *unit);

/* No end any more: from here on results are written.  Both take NULL. */
void attest_watch_end(attest_watch *watch);

#endif
