/* main.c - attest: one command, then what the libraries keep is given back. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "reference/reference.h"
#include "reports/files/output.h"
#include "reports/report.h"
#include "verify/commands/cli.h"

#define STACK ((size_t)8 << 20)

/* A result that could not be written is no result: bad output is exit 2, but for our own error, and where the terminal
 * was closed; without memory for it, 3. */
static int written(int code)
{
    const int starved = attest_starved(), bad = fflush(stdout) != 0 || ferror(stdout);
    if (code == 70 || code == 128 + SIGHUP || (!bad && !starved))
        return code;
    if (code != 2 && code != 3)
        attest_cli_say("attest", "standard output: %s", starved ? "no memory for all of it" : "write failed");
    return starved ? 3 : 2;
}

/* Before the command has its exit code, nobody here calls exit(1): OpenMP does, without memory or threads, after a line
 * of its own.  That is no numerical failure. */
static void ended(int code, void *at)
{
    const int *finished = at;
    if (code != EXIT_FAILURE || *finished)
        return;
    fflush(stdout);
    _exit(3);
}

typedef struct given {
    int argc, code;
    char **argv;
} given;

static void *run(void *at)
{
    given *g = at;
    attest_cli cli;
    const attest_command *command;
    attest_cli_parse(&cli, g->argc, g->argv, &command);
    g->code = written(command->run(&cli));
    attest_reference_thread_end();
    return NULL;
}

/* On a stack of usual size, where `ulimit -s` leaves less; so do threads that are started later.  0: there is none. */
static int run_beside(given *g)
{
    pthread_attr_t usual;
    pthread_t thread;
    return pthread_attr_init(&usual) == 0 && pthread_attr_setstacksize(&usual, STACK) == 0 &&
           pthread_setattr_default_np(&usual) == 0 && pthread_create(&thread, &usual, run, g) == 0 &&
           pthread_join(thread, NULL) == 0;
}

int main(int argc, char **argv)
{
    static int finished; /* read after main() has returned */
    given g = { argc, 0, argv };
    struct rlimit stack;
    attest_reference_begin(attest_output_abandon);
    attest_json_begin();
    signal(SIGCHLD, SIG_DFL); /* whoever started us may have ignored it: then no child's end could be read */
    signal(SIGXFSZ, SIG_IGN); /* what a limit on files refuses is a failed write, and told as one */
    on_exit(ended, &finished);
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= STACK || !run_beside(&g))
        run(&g);
    finished = 1;
    return g.code;
}
