/* input.c - see input.h. */
#include "kernels/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    mode_t type;
    const char *name;
} kinds[] = { { S_IFDIR, "a directory" },
              { S_IFIFO, "a FIFO" },
              { S_IFSOCK, "a socket" },
              { S_IFCHR, "a device" },
              { S_IFBLK, "a device" } };

static attest_status refuse(const char *path, mode_t mode, attest_error *err)
{
    size_t k = 0;
    while (k + 1 < sizeof kinds / sizeof kinds[0] && kinds[k].type != (mode & S_IFMT))
        k++;
    attest_fail(err, ATTEST_BAD_INPUT, "%s: %s; allowed: a regular file", path, kinds[k].name);
    errno = EINVAL;
    return ATTEST_BAD_INPUT;
}

attest_status attest_input_open(int *fd, uint64_t *size, const char *path, attest_error *err)
{
    struct stat info;
    *fd = -1;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) /* to open a device can be to use it */
        return refuse(path, info.st_mode, err);
    *fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* it may have become a FIFO */
    if (*fd < 0 || fstat(*fd, &info) != 0) {
        const int why = errno;
        const attest_status status = attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot read it: %s", path,
                                                 strerror(why));
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
        errno = why;
        return status;
    }
    if (!S_ISREG(info.st_mode)) {
        close(*fd);
        *fd = -1;
        return refuse(path, info.st_mode, err);
    }
    if (size)
        *size = (uint64_t)info.st_size;
    return ATTEST_OK;
}

attest_status attest_input_stream(FILE **in, uint64_t *size, const char *path, attest_error *err)
{
    int fd;
    *in = NULL;
    const attest_status status = attest_input_open(&fd, size, path, err);
    if (status != ATTEST_OK)
        return status;
    *in = fdopen(fd, "r");
    if (*in)
        return ATTEST_OK;
    close(fd);
    errno = ENOMEM;
    return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory to read it", path);
}

attest_status attest_input_ended(FILE *in, const char *path, attest_error *err)
{
    if (feof(in))
        return ATTEST_OK;
    return attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot read: %s", path, strerror(errno));
}
