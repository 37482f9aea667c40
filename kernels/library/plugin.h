/* plugin.h - loads a kernel library (a shared object that exports attest_library_v2), checks it and holds a copy of
 * what it describes, in this host's layout: what an older library lacks is 0 (the alignment of a kernel: 64), what a
 * newer one has beyond is not read.
 *
 * A library runs code as soon as it is loaded: gates and audits call this in the worker process only.  `attest bench`
 * loads the vendor plugins, and with --device the libraries beside attest, to time them in one process; what it says of
 * their results has no isolation behind it.
 */
#ifndef ATTEST_PLUGIN_H
#define ATTEST_PLUGIN_H

#include "kernels/library/call.h"

typedef struct attest_plugin_kernel {
    attest_kernel kernel; /* numerics, claim and limits point to these copies */
    attest_numerics numerics;
    attest_claim claim;
    attest_limits limits;
    const attest_kernel *self; /* where the library has it */
} attest_plugin_kernel;

typedef struct attest_plugin {
    attest_library library; /* `memory` points to this copy; `kernels` is the library's own: read `kernel` instead */
    attest_memory memory;
    attest_plugin_kernel *kernel; /* [library.kernel_count] */
    void *context;                /* of open() */
    attest_status opened;         /* ATTEST_OK, or ATTEST_NO_DEVICE: no kernel can be asked */
} attest_plugin;

/* Takes a library that is in memory already: checks it and copies its structs.  `path` is for messages.
 * ATTEST_BAD_INPUT, naming the file and what is wrong, unless this host can use it: ABI version, at least one kernel,
 * each with a name of [a-z0-9-]+ that no other has, supports(), run(), numerics, a known form and device; no bit of
 * flags, outputs or needs and no number of an enum that this host does not know; an alignment of 0 or a power of two up
 * to 64; device kernels need a complete attest_memory.  On failure *plugin is NULL. */
attest_status attest_plugin_take(attest_plugin **plugin, const attest_library *library, const char *path,
                                 attest_error *err);

/* Loads `path` (a path, never searched for: `x.so` is ./x.so), takes its library and calls its open().  What dlopen
 * gave is never closed: the code lives until the process ends.  ATTEST_BAD_INPUT as above, or: missing, a directory, no
 * shared library, no attest_library_v2 (a library of version 1 is told so), NULL returned, open() failed. */
attest_status attest_plugin_open(attest_plugin **plugin, const char *path, const attest_host *host, attest_error *err);

/* Calls close(), if open() was well. */
void attest_plugin_free(attest_plugin *plugin);

static inline attest_loaded attest_plugin_loaded(const attest_plugin *plugin, uint32_t index)
{
    const attest_plugin_kernel *k = &plugin->kernel[index];
    return (attest_loaded){ .kernel = &k->kernel, .self = k->self, .context = plugin->context };
}

#endif
