/* plugin.h - loads a kernel library (a shared object that exports attest_library_v1) and checks it.
 *
 * Only the worker process calls this for a kernel that is judged: a library runs code as soon as it is loaded.  `attest
 * bench` loads our own vendor plugins with it, to time them beside everything else in one process.
 */
#ifndef ATTEST_PLUGIN_H
#define ATTEST_PLUGIN_H

#include "kernels/status.h"

/* Loads `path` (a path, never searched for: `x.so` is ./x.so), asks it for its library and checks that with
 * attest_library_check().  *handle is dlopen's and is never closed: the kernels live until the process ends.
 * ATTEST_BAD_INPUT, the message naming the file: missing, a directory, no shared library, no
 * attest_library_v1, NULL returned, or whatever the check found.  On failure *lib and *handle are NULL. */
attest_status attest_plugin_open(const attest_library **lib, void **handle, const char *path,
                                 const attest_host *host, attest_error *err);

/* ATTEST_BAD_INPUT unless this host can use the library: ABI version, sizes of its structs, at least one
 * kernel, each with a name of [a-z0-9-]+ that no other has, supports(), run(), numerics and a known form and
 * device; device kernels need a complete attest_memory.  `path` is for the message. */
attest_status attest_library_check(const attest_library *lib, const char *path, attest_error *err);

#endif
