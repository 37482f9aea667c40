/* worker_supervise.c - see worker_supervise.h. */
#include "verify/worker/program/worker_supervise.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/base/base.h"

/* Seconds that ending all processes may take: one that forks faster than it is killed is left to attest. */
#define END_TIME 1.5

/* Levels of folders that are removed at once, and how often one goes on with what lies deeper. */
#define DEPTH_MOST 64
#define ROUNDS_MOST 1000

int attest_supervise_namespace(void) { return getppid() == 1 && syscall(SYS_getpid) == 2; }

/* ---- the worker's folder ----------------------------------------------------------------------------------------- */
/* Where folders go that lie too deep, and how many went. */
typedef struct removal {
    int top;
    unsigned moved;
} removal;

/* Removes what is in the open folder, without following links. */
static void empty_folder(int fd, int depth, removal *r)
{
    char name[32];
    DIR *dir = fdopendir(fd);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || unlinkat(fd, e->d_name, 0) == 0)
            continue;
        fchmodat(fd, e->d_name, S_IRWXU, 0);
        const int below = depth < DEPTH_MOST ? openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                                             : -1;
        if (below >= 0)
            empty_folder(below, depth + 1, r);
        snprintf(name, sizeof name, "deeper-%u", r->moved);
        if (unlinkat(fd, e->d_name, AT_REMOVEDIR) != 0 && depth == DEPTH_MOST)
            r->moved += renameat(fd, e->d_name, r->top, name) == 0;
    }
    if (dir)
        closedir(dir);
    else
        close(fd);
}

/* Its kernel may have taken the right to read the folder from us, but nobody could put another in its place. */
static void remove_folder(const char *folder)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    removal r = { -1, 0 };
    struct stat is;
    if (lstat(folder, &is) == 0 && S_ISDIR(is.st_mode))
        chmod(folder, S_IRWXU);
    for (int round = 0; round < ROUNDS_MOST; round++) {
        const int fd = open(folder, flags);
        r.top = fd >= 0 ? dup(fd) : -1;
        if (fd >= 0)
            empty_folder(fd, 0, &r);
        if (r.top >= 0)
            close(r.top);
        if (rmdir(folder) == 0 || errno != ENOTEMPTY)
            return;
    }
}

static const char *make_folder(char *room, size_t len)
{
    const char *base = getenv("TMPDIR");
    snprintf(room, len, "%.4000s/kernel-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(room))
        return NULL;
    setenv("TMPDIR", room, 1);
    return room;
}

/* ---- ending ------------------------------------------------------------------------------------------------------ */
/* SIGKILL to each child of ours; the children of those become ours next. */
static void kill_children(void)
{
    char path[64];
    int pid;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *f = fopen(path, "r");
    while (f && fscanf(f, "%d", &pid) == 1)
        kill(pid, SIGKILL);
    if (f)
        fclose(f);
}

/* Until there is no child any more. */
static void end_all(pid_t worker)
{
    const double deadline = attest_now_seconds() + END_TIME;
    const struct timespec pause = { 0, 200000 };
    kill(worker, SIGKILL);
    kill(-worker, SIGKILL);
    while (attest_now_seconds() < deadline) {
        const pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return;
        if (pid > 0)
            continue;
        kill_children();
        nanosleep(&pause, NULL);
    }
}

/* Waits for the worker's end or SIGTERM; 1 and its status if it has ended. */
static int await(pid_t worker, const sigset_t *signals, int *status)
{
    for (;;) {
        siginfo_t info;
        for (pid_t pid = waitpid(-1, status, WNOHANG); pid > 0; pid = waitpid(-1, status, WNOHANG))
            if (pid == worker)
                return 1;
        if (sigwaitinfo(signals, &info) == SIGTERM)
            return 0;
    }
}

static void watch(pid_t worker, const sigset_t *signals, attest_shared *shared, const char *folder)
{
    int status = 0;
    close(ATTEST_WORKER_SOCKET);
    const int ended = await(worker, signals, &status);
    if (getpid() != 1) /* else the kernel ends them all with us */
        end_all(worker);
    if (folder)
        remove_folder(folder);
    shared->end.status = status;
    shared->end.valid = ended ? 1u : 0u;
    _exit(0);
}

/* The system ends this process before it ends attest.  In namespaces it does so already: worker_sandbox.c. */
static void volunteer(void)
{
    FILE *f = fopen("/proc/self/oom_score_adj", "w");
    if (f) {
        fputs("1000", f);
        fclose(f);
    }
}

int attest_supervise(attest_shared *shared, int own, const char **folder)
{
    static char room[4096];
    sigset_t signals, before;
    const int alone = getpid() == 1;
    const char *made = own && !alone ? make_folder(room, sizeof room) : NULL;
    *folder = !own ? NULL : alone ? getenv("TMPDIR") : made;
    sigfillset(&signals);
    sigprocmask(SIG_BLOCK, &signals, &before);
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t supervisor = getpid(), worker = fork();
    if (worker > 0)
        watch(worker, &signals, shared, made);
    sigprocmask(SIG_SETMASK, &before, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid(); /* a group of its own, and no way into the supervisor's, which lies in another session */
    if (!alone)
        volunteer();
    return worker == 0 && getppid() == supervisor;
}
