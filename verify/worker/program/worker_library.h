/* worker_library.h - private to the worker: what a path names.  NULL: the built-in kernels; exec:COMMAND: a program
 * (kernels/door/door.h); else a shared object. */
#ifndef ATTEST_WORKER_LIBRARY_H
#define ATTEST_WORKER_LIBRARY_H

#include "kernels/door/door.h"
#include "kernels/library/library.h"

/* *door is NULL unless it is a program.  Statuses as attest_plugin_open(), attest_door_open(). */
attest_status attest_worker_library_open(attest_plugin **plugin, attest_door **door, const char *path,
                                         const attest_host *host, attest_error *err);
void attest_worker_library_free(attest_plugin *plugin, attest_door *door);

#endif
