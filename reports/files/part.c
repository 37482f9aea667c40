/* part.c - see part.h. */
#include "reports/files/part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

attest_status attest_part_temporary(attest_part *part, attest_error *err)
{
    const char *given = getenv("TMPDIR"), *folder = given && *given ? given : "/tmp";
    char path[4096];
    if (snprintf(path, sizeof path, "%s/attest-XXXXXX", folder) < (int)sizeof path &&
        (part->fd = mkostemp(path, O_CLOEXEC)) >= 0)
        unlink(path);
    else
        part->fd = memfd_create("results", MFD_CLOEXEC);
    return part->fd >= 0 ? ATTEST_OK
                         : attest_fail(err, attest_of_errno(ATTEST_IO), "no temporary file: %s", strerror(errno));
}

attest_status attest_part_append(attest_part *part, const char *text, size_t length, const char *path,
                                 attest_error *err)
{
    for (size_t done = 0; done < length;) {
        const ssize_t n = pwrite(part->fd, text + done, length - done, (off_t)part->end + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            const int why = errno;
            if (ftruncate(part->fd, (off_t)part->end) != 0) /* what is cut is left out by who reads it */
                return attest_fail(err, ATTEST_IO, "%s: write failed: %s; its last line is cut", path, strerror(why));
            return attest_fail(err, ATTEST_IO, "%s: write failed: %s", path, strerror(why));
        }
        done += (size_t)n;
    }
    part->end += (int64_t)length;
    return ATTEST_OK;
}

int attest_part_read(const attest_part *part, char *to, size_t length, int64_t at)
{
    for (size_t done = 0; done < length;) {
        const ssize_t got = pread(part->fd, to + done, length - done, (off_t)at + (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = 0;
        if (got <= 0)
            return -1;
        done += (size_t)got;
    }
    return 0;
}
