/* output.c - see output.h. */
#include "reports/files/output.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define TRIES 1000 /* names of one process */

/* The temporary files of writers, for a death that no writer sees coming: FLINT and GMP end the process where they have
 * no memory.  More writers at once than slots: theirs are left, as by SIGKILL. */
enum { SLOTS = 16, FREE = 0, FILLED = 1, NAMED = 2 };
static struct slot {
    atomic_int state;
    char path[sizeof((attest_output *)0)->temporary];
} slots[SLOTS];

static int take_slot(const char *path)
{
    for (int i = 0; i < SLOTS; i++) {
        int expected = FREE;
        if (!atomic_compare_exchange_strong(&slots[i].state, &expected, FILLED))
            continue;
        snprintf(slots[i].path, sizeof slots[i].path, "%s", path);
        atomic_store(&slots[i].state, NAMED);
        return i;
    }
    return -1;
}

void attest_output_abandon(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (atomic_load(&slots[i].state) == NAMED)
            unlink(slots[i].path);
}

attest_status attest_output_open(attest_output *out, const char *path, attest_error *err)
{
    out->file = NULL;
    if ((size_t)snprintf(out->path, sizeof out->path, "%s", path) >= sizeof out->path)
        return attest_fail(err, ATTEST_BAD_INPUT, "%.100s...: the path is too long", path);
    int fd = -1;
    for (int number = 0; fd < 0 && number < TRIES; number++) {
        snprintf(out->temporary, sizeof out->temporary, "%s.%ld%03d.tmp", path, (long)getpid(), number);
        fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    out->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out->file) {
        const int why = errno;
        if (fd >= 0) {
            close(fd);
            unlink(out->temporary);
        }
        errno = why;
        return attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot write: %s", path, strerror(why));
    }
    out->slot = take_slot(out->temporary);
    return ATTEST_OK;
}

attest_status attest_output_close(attest_output *out, attest_status status, attest_error *err)
{
    if (!out->file)
        return status;
    const int bad = ferror(out->file) || fflush(out->file) != 0;
    const int closed = fclose(out->file);
    out->file = NULL;
    if (status == ATTEST_OK && (bad || closed != 0))
        status = attest_fail(err, attest_of_errno(ATTEST_IO), "%s: write failed: %s", out->path, strerror(errno));
    if (status == ATTEST_OK && rename(out->temporary, out->path) != 0)
        status = attest_fail(err, attest_of_errno(ATTEST_IO), "%s: cannot rename into place: %s", out->path,
                             strerror(errno));
    if (status != ATTEST_OK)
        unlink(out->temporary);
    if (out->slot >= 0)
        atomic_store(&slots[out->slot].state, FREE);
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
    if (*lock < 0 && errno == EACCES)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: a folder that cannot be read cannot be locked for one run: %s",
                           dir, strerror(errno));
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
