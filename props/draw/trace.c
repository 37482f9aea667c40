/* trace.c - see trace.h. */
#include "props/draw/trace.h"

#include <stdio.h>
#include <sys/stat.h>

#include "kernels/npy/npy.h"
#include "kernels/problem/problem.h"

enum { PATH_TEXT = ATTEST_FAMILY + 64 };

static int is_there(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0;
}

static void path_of(char path[PATH_TEXT], const char *folder, attest_tensor_id id)
{
    char name[32];
    attest_tensor_id_print(name, sizeof name, id);
    snprintf(path, PATH_TEXT, "%s/%s.npy", folder, name);
}

attest_status attest_trace_check(const char *folder, attest_error *err)
{
    static const attest_role needed[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    struct stat about;
    if (!folder || !*folder)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "family 'trace': name a folder with q.npy, k.npy and v.npy, "
                           "trace:DIR");
    if (stat(folder, &about) != 0 || !S_ISDIR(about.st_mode))
        return attest_fail(err, ATTEST_BAD_INPUT, "family 'trace:%s': there is no such folder", folder);
    for (size_t k = 0; k < sizeof needed / sizeof needed[0]; k++) {
        char path[PATH_TEXT];
        path_of(path, folder, (attest_tensor_id){ ATTEST_KIND_ROLE, needed[k] });
        if (!is_there(path))
            return attest_fail(err, ATTEST_BAD_INPUT,
                               "family 'trace:%s': %s is missing; q.npy, k.npy and v.npy must "
                               "be there",
                               folder, path);
    }
    return ATTEST_OK;
}

attest_status attest_trace_read(int *given, attest_bundle *bundle, const attest_problem *p, const char *folder,
                                attest_tensor_id id, attest_error *err)
{
    char path[PATH_TEXT];
    path_of(path, folder, id);
    *given = is_there(path);
    if (!*given)
        return ATTEST_OK;
    if (id.kind != ATTEST_KIND_ROLE)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: states are drawn, not read, by the family trace", path);
    return attest_npy_load(bundle, p, id, path, 0, err);
}
