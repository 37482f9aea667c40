/* worker_library.c - see worker_library.h. */
#include "verify/worker/program/worker_library.h"

attest_status attest_worker_library_open(attest_plugin **plugin, attest_door **door, const char *path,
                                         const attest_host *host, attest_error *err)
{
    *door = NULL;
    if (attest_door_is(path))
        return attest_door_open(door, plugin, path, err);
    return path ? attest_plugin_open(plugin, path, host, err)
                : attest_plugin_take(plugin, attest_builtin_library(), "built-in", err);
}

void attest_worker_library_free(attest_plugin *plugin, attest_door *door)
{
    attest_plugin_free(plugin);
    attest_door_free(door);
}
