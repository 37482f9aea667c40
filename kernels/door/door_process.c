/* door_process.c - the program behind a door: its pipes, its lines, its end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/door/door_private.h"

/* In the child, between fork and exec. */
static void become_program(int in, int out, const char *command)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0)
        _exit(127);
#ifdef SYS_close_range
    syscall(SYS_close_range, 3, ~0u, 0); /* the worker's socket is none of its business */
#endif
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

attest_status attest_door_start(attest_door *door, const char *command, attest_error *err)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 };
    signal(SIGPIPE, SIG_IGN);
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        return attest_fail(err, ATTEST_IO, "cannot make a pipe: %s", strerror(errno));
    door->pid = fork();
    if (door->pid == 0)
        become_program(in[0], out[1], command);
    close(in[0]);
    close(out[1]);
    door->to = fdopen(in[1], "w");
    door->from = fdopen(out[0], "r");
    if (door->pid < 0 || !door->to || !door->from)
        return attest_fail(err, ATTEST_IO, "cannot start the program: %s", strerror(errno));
    return ATTEST_OK;
}

void attest_door_say(attest_door *door, const char *line)
{
    fprintf(door->to, "%s\n", line);
    fflush(door->to); /* who does not read has ended: hearing finds it out */
}

/* This process ends as the program did, so that the result says of the kernel what is true of it. */
static void __attribute__((noreturn)) end_like(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : code > 128 && code < 128 + NSIG ? code - 128 : 0;
    const int stops = number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
    if (number && !stops) { /* a shell says 128 + N of a command that signal N ended */
        signal(number, SIG_DFL);
        kill(getpid(), number);
    }
    _exit(code);
}

/* The line begins with one of the words. */
static int is_one_of(const char *line, const char *const *words)
{
    for (; *words; words++) {
        const size_t len = strlen(*words);
        if (strncmp(line, *words, len) == 0 && (line[len] == '\0' || line[len] == ' '))
            return 1;
    }
    return 0;
}

int attest_door_hear(char line[ATTEST_DOOR_LINE], attest_door *door, const char *const *words, int started)
{
    while (fgets(line, ATTEST_DOOR_LINE, door->from)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (is_one_of(line, words))
            return 1;
        fprintf(stderr, "%s\n", line);
    }
    if (started)
        end_like(door->pid);
    return 0;
}
