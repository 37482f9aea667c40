/* worker_output.c - what kernels print on standard output and error: taken from a pipe while an answer is awaited, the
 * first ATTEST_WORKER_OUTPUT bytes kept, the rest dropped.  No write fails, none waits for long: a kernel that prints
 * much is no wrong one. */
#include "verify/worker/worker_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/text.h"

attest_status attest_printed_open(int *ours, int *its, attest_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return attest_fail(err, ATTEST_IO, "cannot make a pipe: %s", strerror(errno));
    *ours = ends[0];
    *its = ends[1];
    return fcntl(*ours, F_SETFL, O_NONBLOCK) < 0
               ? attest_fail(err, ATTEST_IO, "cannot set up a pipe: %s", strerror(errno))
               : ATTEST_OK;
}

void attest_printed_take(attest_process *process)
{
    enum { READS = 64 }; /* who prints for ever is not listened to for ever */
    char dropped[4096];
    if (process->output >= 0 && !process->printed)
        process->printed = malloc(ATTEST_WORKER_OUTPUT);
    for (int i = 0; i < READS && process->output >= 0; i++) {
        const size_t room = process->printed ? ATTEST_WORKER_OUTPUT - process->printed_length : 0;
        const ssize_t got = read(process->output, room ? process->printed + process->printed_length : dropped,
                                 room ? room : sizeof dropped);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return;
        process->printed_length += room ? (size_t)got : 0;
        if (got == 0) /* nobody can write to it any more */
            attest_printed_close(process);
    }
}

void attest_printed_close(attest_process *process)
{
    if (process->output >= 0)
        close(process->output);
    process->output = -1;
}

void attest_worker_keep_output(attest_worker *worker, attest_process *process)
{
    attest_printed_take(process);
    if (process->printed_length == 0 || (!worker->printed && !(worker->printed = malloc(ATTEST_WORKER_OUTPUT))))
        return;
    const size_t room = ATTEST_WORKER_OUTPUT - worker->printed_length;
    const size_t most = process->printed_length < room ? process->printed_length : room;
    memcpy(worker->printed + worker->printed_length, process->printed, most);
    worker->printed_length += most;
    process->printed_length = 0;
}

/* `count` bytes of what was printed, from `at` on, as text. */
static void printed_part(char *text, const attest_process *process, size_t at, size_t count)
{
    memcpy(text, process->printed + at, count);
    text[count] = '\0';
}

/* The last line of a text that is not empty, in its place; without its end. */
static char *last_line(char *text)
{
    for (size_t n = strlen(text); n > 0 && strchr("\r\n ", text[n - 1]); n--)
        text[n - 1] = '\0';
    char *at = text + strlen(text);
    while (at > text && at[-1] != '\n' && at[-1] != '\r')
        at--;
    return at;
}

void attest_process_tell_printed(char *text, size_t len, attest_process *process)
{
    enum { FIRST = 120, LAST = 160 };
    char first[FIRST] = "", rest[LAST] = "", both[FIRST + LAST + 8], line[2 * sizeof both];
    const size_t used = strlen(text);
    attest_printed_take(process);
    const size_t end = process->printed_length;
    if (end == 0)
        return;
    printed_part(first, process, 0, end < FIRST - 1 ? end : FIRST - 1);
    first[strcspn(first, "\r\n")] = '\0';
    const size_t from = end - strlen(first) < LAST - 1 ? strlen(first) : end - (LAST - 1);
    printed_part(rest, process, from, end - from);
    char *last = last_line(rest);
    int middle = from > strlen(first) || strspn(rest, "\r\n") < (size_t)(last - rest);
    if (end >= ATTEST_WORKER_OUTPUT) { /* that line is not the last */
        snprintf(rest, sizeof rest, "and more than is kept");
        last = rest;
        middle = 1;
    }
    snprintf(both, sizeof both, "%s%s%s", first, !*last ? "" : middle ? " .. " : " | ", last);
    attest_text_clean(line, sizeof line, both);
    if (*line)
        snprintf(text + used, len - used, " (it printed: %s)", line);
}
