/* output_dir.c - a folder that results can be written into. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verify/base/base.h"

attest_status attest_output_dir(const char *dir, attest_error *err)
{
    char path[4096];
    const int len = snprintf(path, sizeof path - 32, "%s", dir);
    if (len <= 0 || len >= (int)sizeof path - 32)
        return attest_fail(err, ATTEST_BAD_INPUT, "--out: the path is empty or too long");
    for (char *at = path + 1;; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        const char was = *at;
        *at = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot make the output directory: %s", dir,
                               strerror(errno));
        *at = was;
        if (was == '\0')
            break;
    }
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: not a directory", dir);
    strcat(path, "/.attest-XXXXXX");
    const int fd = mkstemp(path);
    if (fd < 0)
        return attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot write into it: %s", dir,
                           strerror(errno));
    close(fd);
    unlink(path);
    return ATTEST_OK;
}
