/* shim.c - preloaded into a program: its k-th allocation fails, or all from the k-th on, in a child each.
 *
 * main() runs here: it reads lines `K MODE` from file 100 (MODE 1: the k-th alone; 2: all from it on; K = 0: none),
 * forks, lets the program's own main() run in the child, in the folder ./run, and writes `STATUS ALLOCATIONS LEFT` to
 * file 101: the child's status as wait() gives it, -1 if it took longer than TIME_MOST seconds; how many allocations it
 * asked for; 1 if a process that it started was left.  Processes that the child starts load nothing of this.  The
 * allocations of the child's threads count too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMMANDS = 100, ANSWERS = 101, TIME_MOST = 30 };

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long *asked; /* shared with the child; NULL: nothing is counted */
static long first, all_after;

/* 1: this allocation is to fail. */
static int fails(void)
{
    if (!asked)
        return 0;
    const long number = atomic_fetch_add(asked, 1) + 1;
    if (first == 0 || number < first || (number > first && !all_after))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void *realloc(void *pointer, size_t size) { return fails() ? NULL : __libc_realloc(pointer, size); }
void *memalign(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }

void *reallocarray(void *pointer, size_t count, size_t size)
{
    if (fails() || (size && count > SIZE_MAX / size))
        return NULL;
    return __libc_realloc(pointer, count * size);
}

int posix_memalign(void **pointer, size_t alignment, size_t size)
{
    void *got = fails() ? NULL : __libc_memalign(alignment, size);
    if (!got)
        return ENOMEM;
    *pointer = got;
    return 0;
}

typedef int (*program)(int, char **, char **);
static program program_main;

static void child(int count, char **words, char **environment)
{
    setpgid(0, 0);
    if (chdir("run") != 0)
        _exit(99);
    const int out = open("../stdout", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const int err = open("../stderr", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
        _exit(99);
    close(COMMANDS);
    close(ANSWERS);
    atomic_store(asked, 0);
    const int code = program_main(count, words, environment);
    exit(code);
}

/* Ends what is left of the child's group; 1 if there was something. */
static int sweep(pid_t group)
{
    int left = 0;
    for (int round = 0; round < 200 && kill(-group, 0) == 0; round++) {
        if (round == 100) { /* a second is enough for a worker that sees the end of its parent */
            left = 1;
            kill(-group, SIGKILL);
        }
        while (waitpid(-group, NULL, WNOHANG) > 0)
            ;
        usleep(round < 20 ? 200 : 10000);
    }
    return left;
}

static void one(int count, char **words, char **environment)
{
    int status = -1, left = 0;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        child(count, words, environment);
    const int file = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd wait = { .fd = file, .events = POLLIN };
    if (poll(&wait, 1, TIME_MOST * 1000) == 1) {
        waitpid(pid, &status, 0);
        left = sweep(pid);
    } else {
        kill(-pid, SIGKILL);
        waitpid(pid, NULL, 0);
        sweep(pid);
    }
    close(file);
    dprintf(ANSWERS, "%d %ld %d\n", status, atomic_load(asked), left);
}

static int control(int count, char **words, char **environment)
{
    char line[64];
    unsetenv("LD_PRELOAD");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    asked = mmap(NULL, sizeof *asked, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (asked == MAP_FAILED)
        return 99;
    for (;;) {
        size_t used = 0;
        while (used + 1 < sizeof line && read(COMMANDS, line + used, 1) == 1 && line[used] != '\n')
            used++;
        line[used] = '\0';
        if (used == 0 || sscanf(line, "%ld %ld", &first, &all_after) != 2)
            return 0;
        all_after = all_after == 2;
        const long wanted = first;
        first = 0; /* nothing fails here */
        fflush(NULL);
        first = wanted;
        one(count, words, environ);
        first = 0;
    }
    (void)environment;
}

int __libc_start_main(program run, int count, char **words, int (*init)(int, char **, char **), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    int (*start)(program, int, char **, int (*)(int, char **, char **), void (*)(void), void (*)(void), void *) = NULL;
    void *symbol = dlsym(RTLD_NEXT, "__libc_start_main");
    memcpy(&start, &symbol, sizeof start);
    program_main = run;
    return start(control, count, words, init, fini, rtld_fini, stack_end);
}
