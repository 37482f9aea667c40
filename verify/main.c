/* main.c - attest: one command, then what the libraries keep is given back. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "reference/reference.h"
#include "reports/report.h"
#include "verify/commands/cli.h"

/* A result that could not be written is no result: bad output is exit 2, but for our own error, and where the terminal
 * was closed; without memory for it, 3. */
static int written(int code)
{
    const int starved = attest_starved(), bad = fflush(stdout) != 0 || ferror(stdout);
    if (code == 70 || code == 128 + SIGHUP || (!bad && !starved))
        return code;
    if (code != 2 && code != 3)
        fprintf(stderr, "attest: standard output: %s\n", starved ? "no memory for all of it" : "write failed");
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

int main(int argc, char **argv)
{
    static int finished; /* read after main() has returned */
    attest_cli cli;
    const attest_command *command;
    attest_reference_begin();
    attest_json_begin();
    signal(SIGXFSZ, SIG_IGN); /* what a limit on files refuses is a failed write, and told as one */
    on_exit(ended, &finished);
    attest_cli_parse(&cli, argc, argv, &command);
    const int code = written(command->run(&cli));
    attest_reference_thread_end();
    finished = 1;
    return code;
}
