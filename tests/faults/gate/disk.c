/* disk.c - loaded before libc: a disk that is full after $DISK_BYTES bytes, or (READ_ONLY) takes no new file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long written;

static int is_full(size_t size)
{
    const char *most = getenv("DISK_BYTES");
    if (!most || written + (long)size <= atol(most)) {
        written += (long)size;
        return 0;
    }
    errno = ENOSPC;
    return 1;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    ssize_t (*real)(int, const void *, size_t, off_t) = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT,
                                                                                                            "pwrite");
    if (is_full(size)) { /* half of it still fits */
        real(fd, data, size / 2, at);
        errno = ENOSPC;
        return -1;
    }
    return real(fd, data, size, at);
}

static ssize_t cookie_write(void *cookie, const char *data, size_t size)
{
    return is_full(size) ? 0 : write((int)(long)cookie, data, size);
}

static int cookie_close(void *cookie) { return close((int)(long)cookie); }

FILE *fdopen(int fd, const char *mode)
{
    const cookie_io_functions_t functions = { .write = cookie_write, .close = cookie_close };
    FILE *(*real)(int, const char *) = (FILE * (*)(int, const char *)) dlsym(RTLD_NEXT, "fdopen");
    if (mode[0] == 'r')
        return real(fd, mode);
    return fopencookie((void *)(long)fd, "w", functions);
}

int open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    va_list arguments;
    va_start(arguments, flags);
    const int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
    va_end(arguments);
    const char *folder = getenv("READ_ONLY");
    if (folder && flags & O_CREAT && strncmp(path, folder, strlen(folder)) == 0) {
        errno = EROFS;
        return -1;
    }
    return real(path, flags, mode);
}
