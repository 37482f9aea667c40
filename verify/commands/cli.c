/* cli.c - argp over one table of options; each row says which commands take it. */
#include "verify/commands/cli.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reference/reference.h"
#include "reports/ci/ci.h"
#include "verify/bench/bench.h"
#include "verify/commands/cli_options.h"
#include "verify/worker/worker.h"

#ifndef ATTEST_BUILD_FLAGS /* the Makefile passes compiler and flags */
#define ATTEST_BUILD_FLAGS "a C compiler"
#endif
#define OPTION_COUNT (sizeof option_table / sizeof option_table[0])

typedef struct parse_input {
    attest_cli *cli;
    const attest_command *command;
    unsigned char seen[KEY_LIBRARY - KEY_SUITE]; /* key-KEY_SUITE: how often given */
} parse_input;

/* 1 if `word` is one of the space-separated words of `list`. */
static int in_list(const char *list, const char *word)
{
    const size_t len = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[len] == '\0' || at[len] == ' '))
            return 1;
    return 0;
}

void attest_cli_say(const char *who, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (attest_ci_on_github())
        attest_ci_print_error(stderr, who, text);
    else
        fprintf(stderr, "%s: %s\n", who, text);
}

/* One line and exit code 2: argp's own argp_error() adds a second line. */
static void __attribute__((format(printf, 2, 3), noreturn))
usage_error(const struct argp_state *state, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    attest_cli_say(state->name, "%s (`%s --help` lists the options)", text, state->name);
    exit(2);
}

static double parse_number(struct argp_state *state, const char *name, const char *text, double least)
{
    char *end;
    errno = 0;
    const double x = strtod(text, &end);
    if (*text == '\0' || *end != '\0' || errno || !(x >= least) || !(x <= 1e9))
        usage_error(state, "--%s=%s: a number from %g to 1e9", name, text, least);
    return x;
}

static long parse_integer(struct argp_state *state, const char *name, const char *text, long least, long most)
{
    char *end;
    errno = 0;
    const long x = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || errno || x < least || x > most)
        usage_error(state, "--%s=%s: an integer from %ld to %ld", name, text, least, most);
    return x;
}

/* With ARGP_NO_ERRS getopt is silent: says whether the option is unknown, another command's, or lacks its value. */
static void __attribute__((noreturn)) refuse_option(const struct argp_state *state, const attest_command *command)
{
    const char *text = state->argv[state->next > 0 ? state->next - 1 : 0];
    const size_t len = strncmp(text, "--", 2) == 0 ? strcspn(text + 2, "=") : 0;
    char elsewhere[200] = "";
    for (size_t i = 0; len > 0 && i < OPTION_COUNT; i++) {
        const option_row *row = &option_table[i];
        if ((row->option.flags & OPTION_DOC) || strncmp(row->option.name, text + 2, len) != 0 ||
            row->option.name[len] != '\0')
            continue;
        if (!row->commands || in_list(row->commands, command->name))
            usage_error(state, row->option.arg ? "%s needs a value: %s=%s" : "%s takes no value", text, text,
                        row->option.arg);
        const size_t at = strlen(elsewhere);
        snprintf(elsewhere + at, sizeof elsewhere - at, "%s%s", at ? " " : "", row->commands);
    }
    if (*elsewhere)
        usage_error(state, "%s is no option of this command but of: %s", text, elsewhere);
    usage_error(state, "'%s' is no option", text);
}

static error_t parse_argument(int key, char *text, struct argp_state *state)
{
    const parse_input *input = state->input;
    attest_cli *cli = input->cli;
    if (key == ARGP_KEY_ARG) {
        if (cli->argument_count >= input->command->most)
            usage_error(state, "'%s' is one argument too many", text);
        cli->argument[cli->argument_count++] = text;
        return 0;
    }
    if (key == ARGP_KEY_ERROR)
        refuse_option(state, input->command);
    if (key == ARGP_KEY_END && cli->argument_count < input->command->least)
        usage_error(state, "missing argument: %s", input->command->arguments);
    return key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}

/* Options whose text is kept as it is. */
static const struct {
    int key;
    size_t offset;
} texts[] = { { KEY_SUITE, offsetof(attest_cli, suite) },
              { KEY_GATE, offsetof(attest_cli, gate) },
              { KEY_KERNEL, offsetof(attest_cli, options.kernel) },
              { KEY_DEVICE, offsetof(attest_cli, options.device) },
              { KEY_REQUIRE, offsetof(attest_cli, require_device) },
              { KEY_OUT, offsetof(attest_cli, out) },
              { KEY_FAIL_ON, offsetof(attest_cli, options.fail_on) },
              { KEY_CASE, offsetof(attest_cli, case_glob) },
              { KEY_WHERE, offsetof(attest_cli, where) },
              { KEY_BATCH, offsetof(attest_cli, batch) },
              { KEY_DECLARE, offsetof(attest_cli, declare) },
              { KEY_EXEC, offsetof(attest_cli, exec) },
              { KEY_LANG, offsetof(attest_cli, language) },
              { KEY_ROWS, offsetof(attest_cli, row) },
              { KEY_PROBLEM, offsetof(attest_cli, problem) },
              { KEY_WANT, offsetof(attest_cli, want) },
              { KEY_DRAW, offsetof(attest_cli, draw) },
              { KEY_FORMAT, offsetof(attest_cli, options.format) },
              { KEY_ENGINE, offsetof(attest_cli, engine) },
              { KEY_MODEL, offsetof(attest_cli, model) },
              { KEY_OBJECTIVE, offsetof(attest_cli, objective) },
              { KEY_STRATEGY, offsetof(attest_cli, strategy) },
              { KEY_PROPERTY, offsetof(attest_cli, property) },
              { KEY_RANGE, offsetof(attest_cli, range) },
              { KEY_CENTER, offsetof(attest_cli, center) },
              { KEY_TRACE, offsetof(attest_cli, trace) },
              { KEY_COST, offsetof(attest_cli, cost) },
              { KEY_BASELINE, offsetof(attest_cli, baseline) },
              { KEY_REASON, offsetof(attest_cli, reason) },
              { KEY_SHARD, offsetof(attest_cli, shard) },
              { KEY_GPU, offsetof(attest_cli, gpu) },
              { KEY_PREDICT, offsetof(attest_cli, predict) },
              { KEY_RESULTS, offsetof(attest_cli, options.results) } };

static int keep_text(attest_cli *cli, int key, const char *text)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].key == key) {
            memcpy((char *)cli + texts[i].offset, &text, sizeof text);
            return 1;
        }
    return 0;
}

/* One more of an option that may be given `most` times. */
static void keep_more(const char **list, int *count, int most, const char *text, struct argp_state *state)
{
    if (*count == most)
        usage_error(state, "'%s' is one too many: at most %d of this option", text, most);
    list[(*count)++] = text;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    parse_input *input = state->input;
    attest_cli *cli = input->cli;
    if (key >= KEY_SUITE && key < KEY_LIBRARY && input->seen[key - KEY_SUITE]++)
        usage_error(state, "an option is given twice, the second time as '%s'", text ? text : "");
    if (key >= KEY_AXIS && key <= KEY_AXIS_LAST) {
        cli->axis[key - KEY_AXIS] = text;
        return 0;
    }
    if (keep_text(cli, key, text))
        return 0;
    switch (key) {
    case KEY_TIMEOUT: cli->options.timeout = parse_number(state, "timeout", text, 0.01); break;
    case KEY_MAX_TIME: cli->options.max_time = parse_number(state, "max-time", text, 0); break;
    case KEY_STRICT: cli->options.strict = 1; break;
    case KEY_INFER: cli->infer = 1; break;
    case KEY_GOLDEN: cli->golden = 1; break;
    case KEY_STEPS: cli->steps = 1; break;
    case KEY_DEBUG: cli->debug = 1; break;
    case KEY_MATRIX: cli->matrix = 1; break;
    case KEY_STRICT_MORE:
        if (strcmp(text, "typical") != 0)
            usage_error(state, "--strict=%s: typical", text);
        cli->options.typical = 2;
        break;
    case KEY_TYPICAL: cli->options.typical = cli->options.typical ? cli->options.typical : 1; break;
    case KEY_NO_STRICT: cli->options.strict = 0; break;
    case KEY_LIST: cli->list_cases = 1; break;
    case KEY_COVER: cli->cover = parse_integer(state, "cover", text, 2, 3); break;
    case KEY_COVERAGE: cli->coverage = 1; break;
    case KEY_RESUME: cli->resume = 1; break;
    case KEY_FAIL_FAST: cli->options.fail_fast = 1; break;
    case 't': keep_more(cli->tensor, &cli->tensor_count, ATTEST_CLI_LIST, text, state); break;
    case KEY_LIBRARY: keep_more(cli->library, &cli->library_count, ATTEST_CLI_LIBRARIES, text, state); break;
    case KEY_DIGITS: cli->digits = parse_integer(state, "digits", text, 1, 2000); break;
    case KEY_PREC: cli->prec = parse_integer(state, "prec", text, 16, 8192); break;
    case KEY_EXP_ULP:
        cli->exp_ulp = parse_number(state, "exp-ulp", text, 0);
        cli->exp_ulp_given = 1;
        break;
    case KEY_JOBS: cli->options.jobs = parse_integer(state, "jobs", text, 1, 1024); break;
    case KEY_ROUNDS:
        cli->rounds = parse_integer(state, "rounds", text, ATTEST_BENCH_ROUNDS, ATTEST_BENCH_ROUNDS_MAX);
        break;
    case KEY_CASES: cli->cases = parse_integer(state, "cases", text, 1, 1000000000); break;
    case KEY_SEED:
        cli->options.seed = parse_integer(state, "seed", text, 0, LONG_MAX);
        if (strcmp(input->command->name, "judge") == 0)
            memset(text, '*', strlen(text)); /* no kernel shall read it in /proc/PID/cmdline */
        break;
    case KEY_QUIET: cli->options.quiet = 1; break;
    case KEY_SANDBOX: setenv("ATTEST_SANDBOX", text, 1); break;
    default: return parse_argument(key, text, state);
    }
    return 0;
}

static void print_usage(FILE *out)
{
    fprintf(out,
            "Usage: attest COMMAND [OPTION...]\n"
            "Proves or refutes, with certified numbers, that an attention kernel computes what its formula says.\n\n");
    for (size_t i = 0; i < attest_command_count; i++)
        fprintf(out, "  %-11s %s\n", attest_commands[i].name, attest_commands[i].summary);
    fprintf(
        out,
        "\n`attest COMMAND --help` lists a command's options.\n"
        "Exit codes: 0 pass, 1 numerical failure, 2 usage or bad input, 3 crash or timeout of a kernel,\n"
        "4 inconclusive, partial, no evidence or unfinished, 70 our own error, 77 nothing judged, 130, 143 and 129\n"
        "ended by SIGINT, SIGTERM and SIGHUP with results kept.\n");
}

static const attest_command *find_command(const char *name)
{
    for (size_t i = 0; i < attest_command_count; i++)
        if (strcmp(attest_commands[i].name, name) == 0)
            return &attest_commands[i];
    char list[1024] = "";
    for (size_t i = 0; i < attest_command_count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), " %s", attest_commands[i].name);
    attest_cli_say("attest", "'%.1000s' is no command; commands:%s", name, list);
    exit(2);
}

/* A mode that is none, or more than the system allows: before anything runs. */
static void check_sandbox(const attest_cli *cli)
{
    attest_error err = { "" };
    char text[200];
    const attest_status status = attest_worker_sandbox(text, sizeof text, &err);
    if (status == ATTEST_BAD_INPUT)
        exit(attest_cli_error(cli, status, &err));
}

/* Versions, what this executable was made of, and where it finds the worker and plugins. */
static void print_version(const char *program)
{
    const attest_cli cli = { .options = { .program = program } };
    char versions[256], plugins[4096], *worker = NULL;
    attest_error err;
    attest_reference_versions(versions, sizeof versions);
    printf("attest %s (%s)\n", ATTEST_VERSION, versions);
    printf("kernel ABI %u, built by %s\n", ATTEST_ABI_VERSION, ATTEST_BUILD_FLAGS);
    if (attest_worker_path(&worker, &err) == ATTEST_OK)
        printf("worker  %s\n", worker);
    else
        printf("worker  none: %s\n", err.text);
    if (attest_cli_plugins(plugins, sizeof plugins, &cli))
        printf("plugins %s/*.so\n", plugins);
    free(worker);
}

void attest_cli_parse(attest_cli *cli, int argc, char **argv, const attest_command **command)
{
    static char name[64];
    if (argc < 2) {
        attest_cli_say("attest", "a command is missing; `attest --help` lists them");
        exit(2);
    }
    const int help = argc > 2 && strcmp(argv[1], "help") == 0; /* attest help COMMAND */
    if (help)
        argv[1] = argv[2];
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        exit(0);
    }
    if (strcmp(argv[1], "--version") == 0) {
        print_version(argv[0]);
        exit(0);
    }
    *command = find_command(argv[1]);
    *cli = (attest_cli){ .command = (*command)->name,
                         .options = { .program = argv[0],
                                      .timeout = ATTEST_TIMEOUT_SECONDS,
                                      .max_time = -1,
                                      .seed = -1,
                                      .strict = in_list("gate audit merge", (*command)->name) },
                         .exp_ulp = 4,
                         .digits = 40,
                         .rounds = ATTEST_BENCH_ROUNDS };
    struct argp_option options[OPTION_COUNT + 1];
    size_t count = 0;
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (!option_table[i].commands || in_list(option_table[i].commands, (*command)->name))
            options[count++] = option_table[i].option;
    options[count] = (struct argp_option){ 0 };
    const struct argp argp = { options, parse_option, (*command)->arguments, (*command)->summary, NULL, NULL, NULL };
    parse_input input = { cli, *command, { 0 } };
    snprintf(name, sizeof name, "attest %s", (*command)->name);
    argv[1] = name;
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (help || strcmp(argv[i], "--help") == 0 ||
            strcmp(argv[i], "-h") == 0) { /* ARGP_NO_ERRS silences argp's own */
            argp_help(&argp, stdout, ARGP_HELP_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, name);
            exit(0);
        }
    const error_t bad = argp_parse(&argp, argc - 1, argv + 1, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &input);
    if (bad) {
        attest_cli_say(name, "the options cannot be read: %s", strerror(bad));
        exit(bad == ENOMEM ? 3 : 2);
    }
    if (input.seen[KEY_SANDBOX - KEY_SUITE])
        check_sandbox(cli);
    if (cli->debug) { /* whatever else was said */
        cli->options.timeout = 1e9;
        setenv("ATTEST_SANDBOX", "off", 1);
    }
}

int attest_cli_error(const attest_cli *cli, attest_status status, const attest_error *err)
{
    char title[64];
    snprintf(title, sizeof title, "attest %s", cli->command);
    attest_cli_say(title, "%s", err->text);
    switch (status) {
    case ATTEST_OK: return 0;
    case ATTEST_BAD_INPUT:
    case ATTEST_UNSUPPORTED:
    case ATTEST_IO: return 2;
    case ATTEST_NO_MEMORY:
    case ATTEST_NO_DEVICE:
    case ATTEST_KERNEL_ERROR: return 3;
    default: return 70;
    }
}

/* `kernels` in the folder of the executable of this path. */
static int plugins_beside(char *folder, size_t len, const char *executable)
{
    const char *slash = strrchr(executable, '/');
    const int n = slash ? snprintf(folder, len, "%.*s/kernels", (int)(slash - executable), executable) : -1;
    return n >= 0 && (size_t)n < len;
}

int attest_cli_plugins(char *folder, size_t len, const attest_cli *cli)
{
    char self[4096];
    if (plugins_beside(folder, len, cli->options.program) && access(folder, F_OK) == 0)
        return 1;
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0 || (size_t)n >= sizeof self - 1)
        return 0;
    self[n] = '\0';
    return plugins_beside(folder, len, self);
}

int attest_cli_is_compact(const attest_cli *cli)
{
    return cli->options.results && strcmp(cli->options.results, "compact") == 0;
}

attest_status attest_cli_check_results(const attest_cli *cli, attest_error *err)
{
    const char *results = cli->options.results, *format = cli->options.format;
    const char *without = cli->resume                             ? "--resume (a shard that was killed begins again)"
                          : cli->baseline                         ? "--baseline"
                          : cli->options.typical                  ? "--typical"
                          : format && strcmp(format, "text") != 0 ? "--format"
                                                                  : NULL;
    if (results && strcmp(results, "all") != 0 && strcmp(results, "compact") != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--results=%s: all or compact", results);
    if (attest_cli_is_compact(cli) && without)
        return attest_fail(err, ATTEST_BAD_INPUT, "--results=compact: not together with %s", without);
    return ATTEST_OK;
}
