/* worker_sandbox.c - see worker_sandbox.h. */
#include "verify/worker/worker_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/worker/worker_protocol.h"

static const char *const mode_names[] = { "auto", "off", "require" };

static attest_status read_mode(attest_sandbox_mode *mode, attest_error *err)
{
    const char *text = getenv("ATTEST_SANDBOX");
    *mode = ATTEST_SANDBOX_AUTO;
    for (size_t i = 0; text && i < sizeof mode_names / sizeof mode_names[0]; i++)
        if (strcmp(text, mode_names[i]) == 0) {
            *mode = (attest_sandbox_mode)i;
            return ATTEST_OK;
        }
    if (text && *text)
        return attest_fail(err, ATTEST_BAD_INPUT, "--sandbox=%s: auto, off or require", text);
    return ATTEST_OK;
}

attest_sandbox_ids attest_sandbox_ids_of(const attest_sandbox *sandbox)
{
    attest_sandbox_ids ids = { "", "" };
    if (sandbox->users) {
        snprintf(ids.user, sizeof ids.user, "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
        snprintf(ids.group, sizeof ids.group, "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
    }
    return ids;
}

pid_t attest_sandbox_fork(const attest_sandbox *sandbox)
{
    const long flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | (sandbox->users ? CLONE_NEWUSER : 0);
    return sandbox->namespaces ? (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL) : fork();
}

static int write_file(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const size_t size = strlen(text);
    const int written = fd >= 0 && write(fd, text, size) == (ssize_t)size;
    if (fd >= 0)
        close(fd);
    return written;
}

/* No mode, time or attribute of a file can be changed, which Landlock would allow; Linux 5.12 and later.  Devices can
 * be written to all the same. */
static void make_read_only(void)
{
    const struct {
        uint64_t set, clear, propagation, users;
    } read_only = { 1 /* MOUNT_ATTR_RDONLY */, 0, 0, 0 };
    syscall(442 /* mount_setattr */, -1, "/", 0x8000 /* AT_RECURSIVE */, &read_only, sizeof read_only);
}

int attest_sandbox_enter(const attest_sandbox *sandbox, const attest_sandbox_ids *ids)
{
    const unsigned long plain = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (!sandbox->namespaces)
        return 1;
    write_file("/proc/self/oom_score_adj", "1000"); /* now: the worker finds /proc read-only */
    if (sandbox->users && !(write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/uid_map", ids->user) &&
                            write_file("/proc/self/gid_map", ids->group)))
        return 0;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 || mount("proc", "/proc", "proc", plain, NULL) != 0)
        return 0;
    make_read_only();
    return mount("tmpfs", ATTEST_SANDBOX_FOLDER, "tmpfs", MS_NOSUID | MS_NODEV, "size=1g,mode=1777") == 0;
}

/* 1 if a child can enter. */
static int can_enter(const attest_sandbox *sandbox)
{
    const attest_sandbox_ids ids = attest_sandbox_ids_of(sandbox);
    int status = -1;
    const pid_t pid = attest_sandbox_fork(sandbox);
    if (pid == 0)
        _exit(attest_sandbox_enter(sandbox, &ids) ? 0 : ATTEST_SANDBOX_REFUSED);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && status == 0;
}

/* The file, whatever links lead to it, lies where the worker will see another file system. */
static int is_hidden(const char *library)
{
    char *real = library ? realpath(library, NULL) : NULL;
    const int hidden = real && strncmp(real, ATTEST_SANDBOX_FOLDER "/", sizeof ATTEST_SANDBOX_FOLDER) == 0;
    free(real);
    return hidden;
}

const char *attest_worker_sandbox_asked(void)
{
    const char *mode = getenv("ATTEST_SANDBOX");
    return mode && *mode && strcmp(mode, "auto") != 0 ? mode : NULL;
}

attest_status attest_sandbox_choose(attest_sandbox *sandbox, const char *library, attest_error *err)
{
    *sandbox = (attest_sandbox){ ATTEST_SANDBOX_AUTO, 0, 0 };
    const attest_status status = read_mode(&sandbox->mode, err);
    if (status != ATTEST_OK || sandbox->mode == ATTEST_SANDBOX_OFF || is_hidden(library))
        return status;
    for (int users = geteuid() != 0; users <= 1 && !sandbox->namespaces; users++) {
        sandbox->namespaces = 1;
        sandbox->users = users;
        sandbox->namespaces = can_enter(sandbox);
    }
    return ATTEST_OK;
}

attest_status attest_sandbox_satisfied(const attest_sandbox *sandbox, uint64_t confined, attest_error *err)
{
    const uint64_t needed = ATTEST_CONFINED_SECCOMP | ATTEST_CONFINED_LANDLOCK;
    if (sandbox->mode != ATTEST_SANDBOX_REQUIRE || (confined & needed) == needed)
        return ATTEST_OK;
    return attest_fail(err, ATTEST_BAD_INPUT, "--sandbox=require: this system has no %s for kernels",
                       confined & ATTEST_CONFINED_LANDLOCK ? "seccomp" : "Landlock");
}

void attest_sandbox_text(char *text, size_t len, const attest_sandbox *sandbox, uint64_t confined)
{
    static const struct {
        uint64_t bit;
        const char *words;
    } means[] = { { ATTEST_CONFINED_NAMESPACE, "namespaces (pid, mount)" },
                  { ATTEST_CONFINED_LANDLOCK, "Landlock" },
                  { ATTEST_CONFINED_SECCOMP, "seccomp" } };
    size_t n = (size_t)snprintf(text, len, "%s:", mode_names[sandbox->mode]);
    int count = 0;
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++)
        if (confined & means[i].bit && n < len)
            n += (size_t)snprintf(text + n, len - n, "%s %s", count++ ? "," : "", means[i].words);
    if (!count && n < len)
        snprintf(text + n, len - n, " kernels are a process like any other of this user");
}
