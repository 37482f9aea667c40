/* output.c - see output.h. */
#include "reports/files/output.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define TRIES 1000 /* names of one process */
#define LINK "/proc/self/fd/"

/* A file of that folder without a name, which /proc/self/fd can give one; -1: not here. */
static int open_nameless(const char *path)
{
#ifdef O_TMPFILE
    char folder[4096], link[sizeof LINK + 12];
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 1;
    snprintf(folder, sizeof folder, "%.*s", (int)length, slash ? path : ".");
    const int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    snprintf(link, sizeof link, LINK "%d", fd);
    if (fd < 0 || access(link, F_OK) == 0)
        return fd;
    close(fd);
#else
    (void)path;
#endif
    return -1;
}

/* A new name: of the file without one if `fd` is >= 0, else of a new file, whose descriptor is returned; -1: errno. */
static int take_name(attest_output *out, int fd)
{
    char link[sizeof LINK + 12];
    int made = -1;
    snprintf(link, sizeof link, LINK "%d", fd);
    for (int number = 0; made < 0 && number < TRIES; number++) {
        snprintf(out->temporary, sizeof out->temporary, "%s.%ld%03d.tmp", out->path, (long)getpid(), number);
        if (fd >= 0)
            made = linkat(AT_FDCWD, link, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW);
        else
            made = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (made < 0 && errno != EEXIST)
            break;
    }
    out->named = made >= 0;
    return made;
}

attest_status attest_output_open(attest_output *out, const char *path, attest_error *err)
{
    out->file = NULL;
    out->named = 0;
    if ((size_t)snprintf(out->path, sizeof out->path, "%s", path) >= sizeof out->path)
        return attest_fail(err, ATTEST_BAD_INPUT, "%.100s...: the path is too long", path);
    out->fd = open_nameless(path);
    if (out->fd < 0)
        out->fd = take_name(out, -1);
    out->file = out->fd >= 0 ? fdopen(out->fd, "w") : NULL;
    if (!out->file) {
        const int why = errno;
        if (out->fd >= 0)
            close(out->fd);
        if (out->named)
            unlink(out->temporary);
        errno = why;
        return attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot write: %s", path, strerror(why));
    }
    return ATTEST_OK;
}

attest_status attest_output_close(attest_output *out, attest_status status, attest_error *err)
{
    if (!out->file)
        return status;
    int bad = ferror(out->file) || fflush(out->file) != 0;
    if (status == ATTEST_OK && !bad && !out->named)
        bad = take_name(out, out->fd) < 0;
    const int why = errno, closed = fclose(out->file);
    out->file = NULL;
    errno = bad ? why : errno;
    if (status == ATTEST_OK && (bad || closed != 0))
        status = attest_fail(err, attest_of_errno(ATTEST_IO), "%s: write failed: %s", out->path, strerror(errno));
    if (status == ATTEST_OK && rename(out->temporary, out->path) != 0)
        status = attest_fail(err, attest_of_errno(ATTEST_IO), "%s: cannot rename into place: %s", out->path,
                             strerror(errno));
    if (status != ATTEST_OK && out->named)
        unlink(out->temporary);
    return status;
}

int attest_output_is_temporary(const char *name)
{
    const char *tail = strstr(name, ".tmp");
    const size_t length = strlen(name);
    if (!tail || tail[4] != '\0' || length < 9)
        return 0;
    const char *digits = tail;
    while (digits > name && isdigit((unsigned char)digits[-1]))
        digits--;
    return tail - digits >= 4 && digits > name && digits[-1] == '.';
}

/* A run that was killed a moment ago may have a child that has not ended yet, or is about to. */
#define LOCK_TRIES 50

attest_status attest_output_lock(int *lock, const char *dir, attest_error *err)
{
    const struct timespec pause = { 0, 20000000 };
    int held = 0;
    *lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int tries = 0; *lock >= 0 && tries < LOCK_TRIES; tries++) {
        held = flock(*lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (!held)
            break;
        nanosleep(&pause, NULL);
    }
    if (held) {
        close(*lock);
        *lock = -1;
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: another run of attest writes into it", dir);
    }
    return ATTEST_OK;
}

int attest_output_is_locked(const char *dir)
{
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return locked;
}
