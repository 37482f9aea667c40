/* main.c - attest: one command, then what the libraries keep is given back. */
#include <stdio.h>

#include "reference/reference.h"
#include "verify/commands/cli.h"

/* A result that could not be written is no result: bad output is exit 2, but for our own error. */
static int written(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (code != 2 && code != 70)
        fprintf(stderr, "attest: standard output: write failed\n");
    return code == 70 ? code : 2;
}

int main(int argc, char **argv)
{
    attest_cli cli;
    const attest_command *command;
    attest_cli_parse(&cli, argc, argv, &command);
    const int code = written(command->run(&cli));
    attest_reference_thread_end();
    return code;
}
