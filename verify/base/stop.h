/* stop.h - SIGINT and SIGTERM: the first one asks a run to end, the next one ends the process at once. */
#ifndef ATTEST_STOP_H
#define ATTEST_STOP_H

/* From now on the first SIGINT or SIGTERM is only noted. */
void attest_stop_watch(void);

/* The signal that was noted; 0: none. */
int attest_stop_signal(void);

#endif
