/* acts.h - harms that a kernel library can do: 0, or 1 where what is to be refused has succeeded (`why` says it),
 * or ACT_STATUS.
 * tests/faults/table.py says what each must come to. */
#ifndef ATTEST_FAULTS_ACTS_H
#define ATTEST_FAULTS_ACTS_H

#include <fcntl.h>
#include <errno.h>
#include <mqueue.h>
#include <setjmp.h>
#include <signal.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

#include "verify/worker/worker_protocol.h"

#define ACTS_MOST 64
#define ACT_STATUS (-1) /* what run() gives back, and is no attest_status */

typedef struct act_call {
    char *why;
    size_t len;
    const attest_call *call; /* NULL: of the library */
} act_call;

static int worked(const act_call *a, const char *what)
{
    if (a->len)
        snprintf(a->why, a->len, "it worked: %s", what);
    fprintf(stderr, "it worked: %s\n", what);
    return 1;
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */
static int do_segv(const act_call *a) { return *(volatile int *)(uintptr_t)(16 + 0 * a->len); }
static int do_abort(const act_call *a) { fprintf(stderr, "assertion failed: %d\n", (int)(0 * a->len)), abort(); }
static int do_exit_now(const act_call *a) { _exit(3 + (int)(0 * a->len)); }
static int do_exit(const act_call *a) { exit(5 + (int)(0 * a->len)); }
static int do_hang(const act_call *a)
{
    for (volatile int i = 0; a; i++)
        ;
    return 0;
}
static int do_stop(const act_call *a) { return a && raise(SIGSTOP) != 0; }
static int do_overflow(const act_call *a)
{
    volatile char room[4096];
    room[0] = (char)a->len;
    return do_overflow(a) + room[0];
}
static int do_alarm(const act_call *a)
{
    ualarm(1000, 0);
    return do_hang(a);
}
static int do_raise_fpe(const act_call *a) { return a && raise(SIGFPE) != 0; }
static int do_self_kill(const act_call *a) { return a && kill(getpid(), SIGKILL) != 0; }

/* ---- what is left behind ----------------------------------------------------------------------------------------- */
static void linger(void)
{
    for (;;)
        pause();
}
static int do_fork(const act_call *a)
{
    if (fork() == 0)
        linger();
    return a == NULL;
}
static int do_fork_away(const act_call *a)
{
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            signal(SIGTERM, SIG_IGN);
            prctl(PR_SET_NAME, "gone");
            linger();
        }
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return a == NULL;
}
static int do_fork_busy(const act_call *a)
{
    if (fork() == 0)
        do_hang(a);
    return 0;
}
static void *park(void *state)
{
    linger();
    return state;
}
static int do_thread(const act_call *a)
{
    pthread_t thread;
    return a && pthread_create(&thread, NULL, park, NULL) != 0;
}
static void *write_late(void *state)
{
    usleep(20000);
    *(volatile int *)(uintptr_t)16 = 1;
    return state;
}
static int do_thread_late(const act_call *a)
{
    pthread_t thread;
    return a && pthread_create(&thread, NULL, write_late, NULL) != 0;
}
static int make_file(const char *path)
{
    const int fd = open(path, O_CREAT | O_WRONLY, 0600);
    const int made = fd >= 0 && write(fd, "left", 4) == 4;
    if (fd >= 0)
        close(fd);
    return made;
}
static int do_files(const act_call *a)
{
    char path[4200];
    const char *dir = getenv("TMPDIR");
    make_file("/dev/shm/faults-left"); /* a file system of its own, or refused: the table looks */
    snprintf(path, sizeof path, "%s/left", dir ? dir : "/tmp");
    make_file(path);
    return make_file("/tmp/faults-left") || make_file("faults-left") ? worked(a, "a file outside") : 0;
}

/* ---- itself ------------------------------------------------------------------------------------------------------ */
static int do_close_socket(const act_call *a) { return a && close(ATTEST_WORKER_SOCKET) != 0; }
static int do_close_all(const act_call *a)
{
    for (int fd = 0; fd < 64; fd++)
        close(fd);
    return a == NULL;
}
static int do_block(const act_call *a)
{
    sigset_t all;
    sigfillset(&all);
    for (int s = 1; s < 32; s++)
        signal(s, SIG_IGN);
    return a && sigprocmask(SIG_BLOCK, &all, NULL) != 0;
}
static int do_unmap(const act_call *a)
{
    FILE *f = fopen("/proc/self/maps", "r");
    unsigned long from, to;
    char line[512];
    while (a && f && fgets(line, sizeof line, f))
        if (strstr(line, "memfd:") && sscanf(line, "%lx-%lx", &from, &to) == 2)
            munmap((void *)from, to - from);
    if (f)
        fclose(f);
    return 0;
}
static int lower(int what)
{
    const struct rlimit none = { 0, 0 };
    return setrlimit(what, &none) != 0;
}
static int do_no_files(const act_call *a) { return a && lower(RLIMIT_NOFILE); }
static int do_no_space(const act_call *a) { return a && lower(RLIMIT_AS); }
static int do_no_time(const act_call *a) { return (a && lower(RLIMIT_CPU)) || do_hang(a); }
static int do_no_stack(const act_call *a) { return a && lower(RLIMIT_STACK); }
static int do_no_data(const act_call *a) { return a && lower(RLIMIT_DATA); }
static int do_rename(const act_call *a)
{
    prctl(PR_SET_PDEATHSIG, 0);
    return a && prctl(PR_SET_NAME, "attest") != 0;
}
static int do_exec(const act_call *a)
{
    execl("/bin/true", "true", (char *)NULL);
    return a == NULL;
}
static jmp_buf gone;
static int do_longjmp(const act_call *a)
{
    memset(&gone, 0x5a, sizeof gone); /* of no frame that there is */
    longjmp(gone, a ? 1 : 2);
}
static int do_stdin(const act_call *a)
{
    char c[64];
    while (a && read(0, c, sizeof c) > 0)
        ;
    return 0;
}

/* ---- others ------------------------------------------------------------------------------------------------------ */
/* attest, if it can be found: the parent's parent, else the parent. */
static pid_t victim(void)
{
    char line[256];
    snprintf(line, sizeof line, "/proc/%d/stat", (int)getppid());
    FILE *f = fopen(line, "r");
    int parent = 0;
    if (f && fscanf(f, "%*d %*s %*c %d", &parent) != 1)
        parent = 0;
    if (f)
        fclose(f);
    return parent > 0 ? parent : getppid();
}
static int do_kill_parent(const act_call *a)
{
    return kill(victim(), SIGKILL) == 0 || kill(getppid(), SIGKILL) == 0 ? worked(a, "kill of a parent") : 0;
}
static int do_term_parent(const act_call *a)
{
    return kill(victim(), SIGTERM) == 0 || kill(getppid(), SIGTERM) == 0 || kill(getppid(), SIGSTOP) == 0
               ? worked(a, "a signal to a parent")
               : 0;
}
static int do_kill_all(const act_call *a) { return kill(-1, SIGKILL) == 0 ? worked(a, "kill of all") : 0; }
static int do_tgkill(const act_call *a)
{
    return syscall(SYS_tgkill, getppid(), getppid(), SIGKILL) == 0 || syscall(SYS_tkill, getppid(), SIGKILL) == 0
               ? worked(a, "tgkill of a parent")
               : 0;
}
static int do_trace(const act_call *a)
{
    return ptrace(PTRACE_SEIZE, victim(), 0, 0) == 0 || ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0
               ? worked(a, "ptrace of a parent")
               : 0;
}
static int do_memory_of_parent(const act_call *a)
{
    char path[64], byte;
    struct iovec here = { &byte, 1 }, there = { (void *)(uintptr_t)environ, 1 };
    snprintf(path, sizeof path, "/proc/%d/mem", (int)victim());
    return open(path, O_RDWR) >= 0 || process_vm_readv(victim(), &here, 1, &there, 1, 0) == 1
               ? worked(a, "the memory of a parent")
               : 0;
}
static int do_limits_of_parent(const act_call *a)
{
    const struct rlimit none = { 0, 0 };
    return prlimit(getppid(), RLIMIT_CPU, &none, NULL) == 0 || prlimit(victim(), RLIMIT_NOFILE, &none, NULL) == 0
               ? worked(a, "limits of a parent")
               : 0;
}
static int do_mount(const act_call *a)
{
    return syscall(SYS_mount, "x", "/tmp", "tmpfs", 0, "") == 0 || syscall(SYS_unshare, 0x10000000) == 0
               ? worked(a, "mount")
               : 0;
}
static int do_truncate_self(const act_call *a)
{
    const char *path = getenv("FAULTS_LIBRARY");
    return path && (open(path, O_WRONLY | O_TRUNC) >= 0 || truncate(path, 0) == 0 || unlink(path) == 0)
               ? worked(a, "its own file is written")
               : 0;
}
static int do_unlink(const act_call *a)
{
    const int lost = unlink("victim") == 0 || rename("victim", "lost") == 0;
    if (chdir("/") != 0)
        return 0;
    return lost ? worked(a, "a file is gone") : 0;
}
static int do_terminal(const act_call *a)
{
    const int fd = open("/dev/tty", O_RDWR), input = open("/dev/tty", O_RDONLY);
    struct termios mode;
    printf("\033[2J\033]0;owned\007");
    signal(SIGTTOU, SIG_IGN);
    return (fd >= 0 && write(fd, "\033[2J", 4) == 4) || ioctl(input, TIOCSTI, "x") == 0 ||
                   (tcgetattr(input, &mode) == 0 && tcsetattr(input, TCSANOW, &mode) == 0) ||
                   tcsetpgrp(input, getpgrp()) == 0
               ? worked(a, "the terminal")
               : 0;
}
static int do_modes(const act_call *a)
{
    return chmod("victim", 0) == 0 || utimensat(AT_FDCWD, "victim", NULL, 0) == 0 ||
                   setxattr("victim", "user.faults", "x", 1, 0) == 0
               ? worked(a, "modes of a file")
               : 0;
}
/* The group of attest, and a signal to all of it. */
static int do_group(const act_call *a)
{
    return setpgid(0, getpgid(victim())) == 0 && kill(0, SIGTERM) == 0 ? worked(a, "a signal to a group") : 0;
}
/* Data at a descriptor as a signal to its owner. */
static int do_owner(const act_call *a)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return 0;
    const struct f_owner_ex owner = { F_OWNER_PID, victim() };
    const int pid = (int)victim();
    return fcntl(pair[0], F_SETOWN, pid) == 0 || fcntl(pair[0], F_SETOWN_EX, &owner) == 0 ||
                   fcntl(pair[0], F_SETSIG, SIGKILL) == 0 || ioctl(pair[0], FIOSETOWN, &pid) == 0
               ? worked(a, "signals by a descriptor")
               : 0;
}
/* What outlives a process: table.py looks for the key and the name. */
static int do_queues(const act_call *a)
{
    const mqd_t queue = mq_open("/faults-left", O_CREAT | O_RDWR, 0600, NULL);
    return a && shmget(0x4641554c, 4096, IPC_CREAT | 0600) < 0 && queue < 0;
}

#include "acts_socket.h"

/* ---- much -------------------------------------------------------------------------------------------------------- */
static int print(FILE *to)
{
    char line[1024];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    for (int i = 0; i < 500000; i++)
        fwrite(line, 1, sizeof line, to);
    return 0;
}
static int do_print(const act_call *a) { return a && print(stdout); }
static int do_print_errors(const act_call *a) { return a && print(stderr); }
static int do_bomb(const act_call *a)
{
    for (size_t n = 0; a && n < 20; n++)
        memset(malloc((size_t)1 << 30), 1, (size_t)1 << 30);
    return 0;
}
static int do_text(const act_call *a)
{
    const char text[] = "<script>alert(1)</script>\033[31m=cmd|'/C calc'!A0\xff\xfe\xc3(\r\n";
    if (a->len)
        snprintf(a->why, a->len, "%s", text);
    fprintf(stderr, "%s", text);
    return 1;
}
static int do_endless_text(const act_call *a)
{
    memset(a->why, '<', a->len);
    return 1;
}

static int do_status(const act_call *a) { return a ? ACT_STATUS : 0; }

static const struct {
    const char *name;
    int (*act)(const act_call *a);
} acts[] = { { "segv", do_segv },
             { "abort", do_abort },
             { "exit-now", do_exit_now },
             { "exit", do_exit },
             { "hang", do_hang },
             { "stop", do_stop },
             { "overflow", do_overflow },
             { "alarm", do_alarm },
             { "fpe", do_raise_fpe },
             { "self-kill", do_self_kill },
             { "fork", do_fork },
             { "fork-away", do_fork_away },
             { "fork-busy", do_fork_busy },
             { "thread", do_thread },
             { "thread-late", do_thread_late },
             { "files", do_files },
             { "close-socket", do_close_socket },
             { "close-all", do_close_all },
             { "block", do_block },
             { "unmap", do_unmap },
             { "no-files", do_no_files },
             { "no-space", do_no_space },
             { "no-time", do_no_time },
             { "no-stack", do_no_stack },
             { "no-data", do_no_data },
             { "rename", do_rename },
             { "exec", do_exec },
             { "longjmp", do_longjmp },
             { "stdin", do_stdin },
             { "kill-parent", do_kill_parent },
             { "term-parent", do_term_parent },
             { "kill-all", do_kill_all },
             { "tgkill", do_tgkill },
             { "trace", do_trace },
             { "memory-of-parent", do_memory_of_parent },
             { "limits-of-parent", do_limits_of_parent },
             { "mount", do_mount },
             { "truncate-self", do_truncate_self },
             { "unlink", do_unlink },
             { "terminal", do_terminal },
             { "modes", do_modes },
             { "group", do_group },
             { "owner", do_owner },
             { "queues", do_queues },
             { "seconds", do_seconds },
             { "forge", do_forge },
             { "forge-death", do_forge_death },
             { "resize", do_resize },
             { "garbage", do_garbage },
             { "answer", do_answer },
             { "empty-packet", do_empty_packet },
             { "close-and-stay", do_close_and_stay },
             { "flood", do_flood },
             { "inputs", do_inputs },
             { "print", do_print },
             { "print-errors", do_print_errors },
             { "bomb", do_bomb },
             { "text", do_text },
             { "endless-text", do_endless_text },
             { "status", do_status } };

static inline size_t act_count(void) { return sizeof acts / sizeof acts[0]; }
static inline const char *act_name(size_t index) { return acts[index].name; }

static inline int act(const char *name, char *why, size_t len, const attest_call *call)
{
    const act_call a = { why, len, call };
    for (size_t i = 0; i < act_count(); i++)
        if (strcmp(acts[i].name, name) == 0)
            return acts[i].act(&a);
    return 0;
}

#endif
