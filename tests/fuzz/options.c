/* options.c - the command line.  Each line of the input is a word; the first is the command.  This is cli.c again,
 * whose exit() comes back here and whose words go nowhere. */
#include "tests/fuzz/fuzz.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static jmp_buf back;
static FILE *sink;

static void __attribute__((noreturn)) leave(int code) { longjmp(back, 1 + code); }

#undef stderr
#undef stdout
#define stderr sink
#define stdout sink
#define printf(...) fprintf(sink, __VA_ARGS__)
#define exit leave
#define attest_cli_parse parse_again
#define attest_cli_error error_again
#define attest_cli_say say_again
#define attest_cli_plugins plugins_again
#define attest_cli_is_compact is_compact_again
#define attest_cli_check_results check_results_again
#include "verify/commands/cli.c" /* NOLINT: its exit() and its streams are replaced */

/* What argp holds when exit() is called is lost here, and only here. */
#ifdef __SANITIZE_ADDRESS__
#define LEAKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAKS
#endif
#endif
#ifdef LEAKS
#include <sanitizer/lsan_interface.h>
#else
static void __lsan_disable(void) {}
static void __lsan_enable(void) {}
#endif

enum { WORDS = 64 };

/* 1: a command is to be run; 0: exit() was called. */
static int parse(int count, char **words)
{
    attest_cli cli;
    const attest_command *command;
    const int code = setjmp(back);
    if (code != 0) {
        FUZZ_CHECK(code == 1 || code == 3); /* 0 after --help, 2 */
        return 0;
    }
    parse_again(&cli, count, words, &command);
    FUZZ_CHECK(cli.argument_count >= command->least && cli.argument_count <= command->most);
    FUZZ_CHECK(cli.options.timeout >= 0.01 && cli.digits >= 1 && cli.tensor_count <= ATTEST_CLI_LIST);
    return 1;
}

static int take(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = text, *words[WORDS + 2] = { "attest" };
    int count = 1;
    for (char *word; count <= WORDS && (word = strsep(&rest, "\n"));)
        words[count++] = word;
    words[count] = NULL;
    if (!sink)
        sink = fopen("/dev/null", "w");
    FUZZ_CHECK(sink);
    __lsan_disable();
    const int taken = parse(count, words);
    __lsan_enable();
    free(text);
    return taken;
}

extern const fuzz_reader fuzz_options;
const fuzz_reader fuzz_options = { "options", take, NULL };
