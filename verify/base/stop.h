/* stop.h - SIGINT, SIGTERM and SIGHUP (a closed terminal): the first one asks a run to end.  A second SIGINT,
 * or SIGTERM, ends the process at once, unless it comes within half a second of the first (timeout(1) sends each
 * twice); a second SIGHUP does not, since shell and system send one each. */
#ifndef ATTEST_STOP_H
#define ATTEST_STOP_H

/* From now on the first of them is only noted.  SIGHUP stays ignored where it is (nohup). */
void attest_stop_watch(void);

/* The signal that was noted; 0: none. */
int attest_stop_signal(void);

/* What it is called; NULL: none was noted. */
const char *attest_stop_name(void);

/* The exit code of a run that ended by the signal of this name: 128 and its number; 0: no such signal ends a run. */
int attest_stop_exit(const char *name);

#endif
