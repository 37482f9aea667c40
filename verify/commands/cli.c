/* cli.c - argp over one table of options; each row says which commands take it. */
#include "verify/commands/cli.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reference/reference.h"
#include "verify/bench/bench.h"
#include "verify/worker/worker.h"

typedef struct option_row {
    struct argp_option option;
    const char *commands; /* separated by spaces; NULL: all */
} option_row;

enum {
    KEY_SUITE = 256,
    KEY_GATE,
    KEY_KERNEL,
    KEY_DEVICE,
    KEY_REQUIRE,
    KEY_OUT,
    KEY_TIMEOUT,
    KEY_MAX_TIME,
    KEY_FAIL_ON,
    KEY_STRICT,
    KEY_STRICT_MORE,
    KEY_TYPICAL,
    KEY_NO_STRICT,
    KEY_LIST,
    KEY_COVER,
    KEY_COVERAGE,
    KEY_PROBLEM,
    KEY_WANT,
    KEY_DRAW,
    KEY_DIGITS,
    KEY_FORMAT,
    KEY_PREC,
    KEY_ENGINE,
    KEY_MODEL,
    KEY_EXP_ULP,
    KEY_QUIET,
    KEY_SANDBOX,
    KEY_JOBS,
    KEY_ROUNDS,
    KEY_OBJECTIVE,
    KEY_STRATEGY,
    KEY_CASES,
    KEY_SEED,
    KEY_PROPERTY,
    KEY_RESUME,
    KEY_AXIS,
    KEY_AXIS_LAST = KEY_AXIS + ATTEST_STUDY_AXES - 1
};

static const option_row option_table[] = {
    { { "suite", KEY_SUITE, "NAME", 0, "smoke (default), ci (`make gate`), full, or a suite file", 0 }, "gate audit" },
    { { "TARGET", 0, 0, OPTION_DOC | OPTION_NO_USAGE, "NAME, glob, LIB.so or LIB.so:KERNEL", 0 }, "audit" },
    { { "suite", KEY_SUITE, "NAME", 0, "ci (default), smoke, full, or a suite file", 0 }, "defects" },
    { { "gate", KEY_GATE, "GATE", 0,
        "what the gates of other suites let through, on their own inputs, instead of the matrix: all (minutes), or "
        "one of flash-attn, allclose[=R,A], nmse[=X], fla, benchdnn; --suite adds attest's own column (ci: minutes "
        "more).  props: what properties find, with and without the reference",
        0 },
      "defects" },
    { { "kernel", KEY_KERNEL, "GLOB", 0, "only kernels whose name matches", 0 }, "gate bench" },
    { { "kernel", KEY_KERNEL, "GLOB", 0, "only defects whose name matches", 0 }, "defects" },
    { { "kernel", KEY_KERNEL, "KERNEL", 0, "a built-in kernel, or LIB.so:KERNEL (default: the case file's)", 0 },
      "replay" },
    { { "kernel", KEY_KERNEL, "GLOB", 0, "only built-in kernels whose name matches, or LIB.so:GLOB with --problem", 0 },
      "search" },
    { { "device", KEY_DEVICE, "cpu|cuda", 0, "only kernels of this device", 0 }, "gate" },
    { { "require-device", KEY_REQUIRE, "NAME", 0, "cpu or cuda: exit 2 unless a kernel of this device can run", 0 },
      "gate" },
    { { "out", KEY_OUT, "DIR", 0,
        "write results.jsonl, results.csv, junit.xml, results.sarif, code-quality.json and summary.md into DIR", 0 },
      "gate" },
    { { "out", KEY_OUT, "DIR", 0, "the same files as gate, traits.jsonl and noticed.json into DIR", 0 }, "audit" },
    { { "out", KEY_OUT, "DIR", 0, "write study-NAME.jsonl, .csv, .md and .svg into DIR", 0 }, "study" },
    { { "kernel", KEY_KERNEL, "GLOB", 0, "built-in kernels whose name matches, or LIB.so[:GLOB]", 0 }, "study" },
    { { "variant", KEY_AXIS + ATTEST_STUDY_VARIANT, "LIST", 0,
        "variants, separated by commas (order and range: without the order)", 0 },
      "study" },
    { { "in", KEY_AXIS + ATTEST_STUDY_IN, "LIST", 0, "types of q, k, v", 0 }, "study" },
    { { "p", KEY_AXIS + ATTEST_STUDY_P, "LIST", 0, "types of the weights before the value product", 0 }, "study" },
    { { "orders", KEY_AXIS + ATTEST_STUDY_ORDERS, "LIST", 0, "Taylor orders: 0..12, or 1,2,4", 0 }, "study" },
    { { "ranges", KEY_AXIS + ATTEST_STUDY_RANGES, "LIST", 0, "ranges of the scores: 0.25..64 (doubling), or 1,3", 0 },
      "study" },
    { { "centers", KEY_AXIS + ATTEST_STUDY_CENTERS, "LIST", 0, "zero, max, min, mid", 0 }, "study" },
    { { "lengths", KEY_AXIS + ATTEST_STUDY_LENGTHS, "LIST", 0, "keys: 64..4096 (doubling), or 100,1000", 0 }, "study" },
    { { "dims", KEY_AXIS + ATTEST_STUDY_DIMS, "LIST", 0, "channels: 16..64 (doubling), or 8,24", 0 }, "study" },
    { { "seeds", KEY_AXIS + ATTEST_STUDY_SEEDS, "LIST", 0,
        "0..4, or 1,7: a point is the median of its seeds, least and greatest beside it", 0 },
      "study" },
    { { "families", KEY_AXIS + ATTEST_STUDY_FAMILIES, "LIST", 0, "families of inputs (`attest list families`)", 0 },
      "study" },
    { { "out", KEY_OUT, "DIR", 0, "write claims.md and claims.json into DIR", 0 }, "claims" },
    { { "out", KEY_OUT, "DIR", 0, "write defects.md and .json, or with --gate gates.md and .json, into DIR", 0 },
      "defects" },
    { { "out", KEY_OUT, "DIR", 0,
        "keep the worst inputs in DIR/KERNEL-OBJECTIVE.case, LIBRARY- before it of a library's; a built-in kernel's "
        "only if they are worse than what is there",
        0 },
      "search" },
    { { "out", KEY_OUT, "DIR", 0, "with --format npy: write NAME.npy into DIR", 0 }, "reference" },
    { { "timeout", KEY_TIMEOUT, "S", 0, "seconds a kernel may take for one case (default 10)", 0 },
      "gate audit replay defects search props study" },
    { { "resume", KEY_RESUME, 0, 0, "go on with the run in --out that did not finish: same suite, kernels, options",
        0 },
      "gate" },
    { { "resume", KEY_RESUME, 0, 0, "go on with the study in --out that did not finish: same values, same kernels", 0 },
      "study" },
    { { "sandbox", KEY_SANDBOX, "MODE", 0,
        "hold kernels back from other processes and files: auto (default: as far as the system allows), off, or "
        "require (exit 2 where it does not)",
        0 },
      "gate audit replay defects search props study" },
    { { "max-time", KEY_MAX_TIME, "S", 0, "start no further case after S seconds; those left are skipped (exit code 4)",
        0 },
      "gate audit" },
    { { "max-time", KEY_MAX_TIME, "S", 0, "start no further point after S seconds (exit code 4); --resume goes on", 0 },
      "study" },
    { { "max-time", KEY_MAX_TIME, "S", 0, "end after S seconds, with one line and without a result (exit code 4)", 0 },
      "reference replay" },
    { { "fail-on", KEY_FAIL_ON, "VERDICT", 0, "undecided or skip: treat VERDICT as exit code 4", 0 }, "gate audit" },
    { { "strict", KEY_STRICT, 0, 0, "a partial result (an element of a wanted output was not judged) is exit code 4",
        0 },
      "compare replay" },
    { { "typical", KEY_TYPICAL, 0, 0,
        "measure each error of o also beside those of plain kernels of the declared kind whose roundings are redrawn: "
        "more than 4 times theirs on 3 seeds is the finding worse-than-plain, which is in no verdict",
        0 },
      "gate audit replay" },
    { { "strict", KEY_STRICT_MORE, "typical", 0, "--typical, and worse-than-plain is a failure (exit code 1)", 0 },
      "gate audit" },
    { { "no-strict", KEY_NO_STRICT, 0, 0,
        "a partial result (an element of a wanted output was not judged) is not exit code 4", 0 },
      "gate audit" },
    { { "list-cases", KEY_LIST, 0, 0, "print the suite's problem lines and stop", 0 }, "gate" },
    { { "cover", KEY_COVER, "N", 0,
        "add cases until each kernel meets every pair (2) or triple (3) of conditions that it serves", 0 },
      "gate audit" },
    { { "coverage", KEY_COVERAGE, 0, 0,
        "print which share of the pairs and triples of conditions meet in a case of the suite, by kernel, and stop",
        0 },
      "gate" },
    { { "problem", KEY_PROBLEM, "LINE", 0, "the problem line, e.g. 'variant=softmax n=128 mask=causal'", 0 },
      "reference compare bench search" },
    { { "tensor", 't', "NAME=FILE[:LAYOUT]", 0, "a tensor from a .npy file; LAYOUT BHSD (default) or BSHD", 0 },
      "reference compare" },
    { { "want", KEY_WANT, "LIST", 0, "outputs to print: o,u,z,lse,ht (default o)", 0 }, "reference" },
    { { "draw", KEY_DRAW, "LIST", 0, "tensors to draw instead of giving files, e.g. sink,len", 0 },
      "reference compare" },
    { { "digits", KEY_DIGITS, "N", 0, "significant decimal digits (default 40)", 0 }, "reference" },
    { { "format", KEY_FORMAT, "json|npy", 0, "one JSON object (default), or correctly rounded .npy files", 0 },
      "reference" },
    { { "format", KEY_FORMAT, "text|json", 0, "a Markdown table (default), or a JSON array, on stdout", 0 }, "claims" },
    { { "format", KEY_FORMAT, "text|json", 0, "a text for people (default), or JSON lines", 0 },
      "compare replay bench defects search props" },
    { { "format", KEY_FORMAT, "text|json|tap", 0, "a text for people (default), JSON lines, or TAP 14", 0 },
      "gate audit" },
    { { "prec", KEY_PREC, "BITS", 0, "fixed working precision, 16 to 8192, instead of raising it", 0 }, "reference" },
    { { "engine", KEY_ENGINE, "ENGINE", 0,
        "auto (default: exact where it serves a row, else ball), dd (fast; o and lse, balls for the rest), ball, "
        "exact, witness",
        0 },
      "reference" },
    { { "engine", KEY_ENGINE, "GLOB", 0,
        "bench reference: only rows whose name matches, however long they take: dd-avx512, dd-avx2, dd-portable, "
        "dd-PATH-N-threads, dd-PATH-on-f32, mpfr-128, arb-mat-96, exact, naive-f32, vendor-openblas, "
        "vendor-onednn",
        0 },
      "bench" },
    { { "model", KEY_MODEL, "MODEL", 0, "two-pass, online:TILE, split:S, recurrent, unknown (default)", 0 },
      "compare" },
    { { "exp-ulp", KEY_EXP_ULP, "X", 0, "error of the kernel's exp in ulps of acc (default 4)", 0 }, "compare" },
    { { "jobs", KEY_JOBS, "N", 0, "threads (default: all cores); never changes a number", 0 },
      "gate audit defects search props study" },
    { { "jobs", KEY_JOBS, "N", 0, "threads of one more row: of dd (default 2), or of each kernel (default: none)", 0 },
      "bench" },
    { { "rounds", KEY_ROUNDS, "N", 0, "rounds over all rows (study cost: over all kernels), 5 (default) to 1000", 0 },
      "bench study" },
    { { "objective", KEY_OBJECTIVE, "NAME", 0,
        "what to maximise: ratio (default; error/bound), ulp, kappa (abs_scale/|o|), state (final state over writes)",
        0 },
      "search" },
    { { "strategy", KEY_STRATEGY, "NAME", 0,
        "anneal (default), random (plain draws of the line's family), compare (both, medians of 5 seeds)", 0 },
      "search" },
    { { "kernel", KEY_KERNEL, "GLOB", 0, "only built-in CPU kernels whose name matches, or LIB.so[:GLOB]", 0 },
      "props" },
    { { "property", KEY_PROPERTY, "GLOB", 0, "only properties whose name matches (`attest list properties`)", 0 },
      "props" },
    { { "out", KEY_OUT, "DIR", 0, "where failures are kept, and run again first (default .attest)", 0 }, "props" },
    { { "cases", KEY_CASES, "N", 0, "problems to draw, spread over the kernels (default 500)", 0 }, "props" },
    { { "seed", KEY_SEED, "S", 0, "seed of the lines that --cover adds (default 1)", 0 }, "gate audit" },
    { { "seed", KEY_SEED, "S", 0, "seed of all draws (default 0)", 0 }, "props" },
    { { "cases", KEY_CASES, "N", 0, "evaluations of each search, 1 to 1e9 (default 10000)", 0 }, "search" },
    { { "seed", KEY_SEED, "S", 0, "seed of the search (default: the line's)", 0 }, "search" },
    { { "quiet", KEY_QUIET, 0, 0, "no progress", 0 }, "bench defects" },
    { { "quiet", KEY_QUIET, 0, 0, "no progress, no table", 0 },
      "gate audit reference compare replay study report claims search props list" },
};

#define OPTION_COUNT (sizeof option_table / sizeof option_table[0])

typedef struct parse_input {
    attest_cli *cli;
    const attest_command *command;
    uint64_t seen; /* bit key-KEY_SUITE: given already */
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

/* One line and exit code 2: argp's own argp_error() adds a second line. */
static void __attribute__((format(printf, 2, 3), noreturn))
usage_error(const struct argp_state *state, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", state->name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, " (`%s --help` lists the options)\n", state->name);
    va_end(arguments);
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
    const char *elsewhere = NULL;
    for (size_t i = 0; len > 0 && i < OPTION_COUNT; i++) {
        const option_row *row = &option_table[i];
        if ((row->option.flags & OPTION_DOC) || strncmp(row->option.name, text + 2, len) != 0 ||
            row->option.name[len] != '\0')
            continue;
        if (!row->commands || in_list(row->commands, command->name))
            usage_error(state, row->option.arg ? "%s needs a value: %s=%s" : "%s takes no value", text, text,
                        row->option.arg);
        elsewhere = row->commands;
    }
    if (elsewhere)
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

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    parse_input *input = state->input;
    attest_cli *cli = input->cli;
    const uint64_t bit = key >= KEY_SUITE && key < KEY_SUITE + 64 ? 1ull << (key - KEY_SUITE) : 0;
    if (input->seen & bit)
        usage_error(state, "an option is given twice, the second time as '%s'", text ? text : "");
    input->seen |= bit;
    if (key >= KEY_AXIS && key <= KEY_AXIS_LAST) {
        cli->axis[key - KEY_AXIS] = text;
        return 0;
    }
    switch (key) {
    case KEY_SUITE: cli->suite = text; break;
    case KEY_GATE: cli->gate = text; break;
    case KEY_KERNEL: cli->options.kernel = text; break;
    case KEY_DEVICE: cli->options.device = text; break;
    case KEY_REQUIRE: cli->require_device = text; break;
    case KEY_OUT: cli->out = text; break;
    case KEY_TIMEOUT: cli->options.timeout = parse_number(state, "timeout", text, 0.01); break;
    case KEY_MAX_TIME: cli->options.max_time = parse_number(state, "max-time", text, 0); break;
    case KEY_FAIL_ON: cli->options.fail_on = text; break;
    case KEY_STRICT: cli->options.strict = 1; break;
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
    case KEY_PROBLEM: cli->problem = text; break;
    case 't':
        if (cli->tensor_count == ATTEST_CLI_LIST)
            usage_error(state, "more than %d -t options", ATTEST_CLI_LIST);
        cli->tensor[cli->tensor_count++] = text;
        break;
    case KEY_WANT: cli->want = text; break;
    case KEY_DRAW: cli->draw = text; break;
    case KEY_DIGITS: cli->digits = parse_integer(state, "digits", text, 1, 2000); break;
    case KEY_FORMAT: cli->options.format = text; break;
    case KEY_PREC: cli->prec = parse_integer(state, "prec", text, 16, 8192); break;
    case KEY_ENGINE: cli->engine = text; break;
    case KEY_MODEL: cli->model = text; break;
    case KEY_EXP_ULP: cli->exp_ulp = parse_number(state, "exp-ulp", text, 0); break;
    case KEY_JOBS: cli->options.jobs = parse_integer(state, "jobs", text, 1, 1024); break;
    case KEY_ROUNDS:
        cli->rounds = parse_integer(state, "rounds", text, ATTEST_BENCH_ROUNDS, ATTEST_BENCH_ROUNDS_MAX);
        break;
    case KEY_OBJECTIVE: cli->objective = text; break;
    case KEY_STRATEGY: cli->strategy = text; break;
    case KEY_CASES: cli->cases = parse_integer(state, "cases", text, 1, 1000000000); break;
    case KEY_SEED: cli->options.seed = parse_integer(state, "seed", text, 0, LONG_MAX); break;
    case KEY_PROPERTY: cli->property = text; break;
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
        fprintf(out, "  %-10s %s\n", attest_commands[i].name, attest_commands[i].summary);
    fprintf(
        out,
        "\n`attest COMMAND --help` lists a command's options.\n"
        "Exit codes: 0 pass, 1 numerical failure, 2 usage or bad input, 3 crash or timeout of a kernel,\n"
        "4 inconclusive, no evidence or unfinished, 70 our own error, 77 nothing judged, 130 and 143 ended by SIGINT\n"
        "and SIGTERM with results kept.\n");
}

static const attest_command *find_command(const char *name)
{
    for (size_t i = 0; i < attest_command_count; i++)
        if (strcmp(attest_commands[i].name, name) == 0)
            return &attest_commands[i];
    fprintf(stderr, "attest: '%s' is no command; commands:", name);
    for (size_t i = 0; i < attest_command_count; i++)
        fprintf(stderr, " %s", attest_commands[i].name);
    fprintf(stderr, "\n");
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

void attest_cli_parse(attest_cli *cli, int argc, char **argv, const attest_command **command)
{
    static char name[64];
    if (argc < 2) {
        fprintf(stderr, "attest: a command is missing; `attest --help` lists them\n");
        exit(2);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        exit(0);
    }
    if (strcmp(argv[1], "--version") == 0) {
        char versions[256];
        attest_reference_versions(versions, sizeof versions);
        printf("attest %s (%s)\n", ATTEST_VERSION, versions);
        exit(0);
    }
    *command = find_command(argv[1]);
    *cli = (attest_cli){ .command = (*command)->name,
                         .options = { .program = argv[0],
                                      .timeout = 10,
                                      .max_time = -1,
                                      .seed = -1,
                                      .strict = in_list("gate audit", (*command)->name) },
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
    parse_input input = { cli, *command, 0 };
    snprintf(name, sizeof name, "attest %s", (*command)->name);
    argv[1] = name;
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) { /* ARGP_NO_ERRS silences argp's own */
            argp_help(&argp, stdout, ARGP_HELP_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, name);
            exit(0);
        }
    const error_t bad = argp_parse(&argp, argc - 1, argv + 1, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &input);
    if (bad) {
        fprintf(stderr, "%s: the options cannot be read: %s\n", name, strerror(bad));
        exit(bad == ENOMEM ? 3 : 2);
    }
    if (input.seen & 1ull << (KEY_SANDBOX - KEY_SUITE))
        check_sandbox(cli);
}

int attest_cli_error(const attest_cli *cli, attest_status status, const attest_error *err)
{
    fprintf(stderr, "attest %s: %s\n", cli->command, err->text);
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

int attest_cli_plugins(char *folder, size_t len, const attest_cli *cli)
{
    static const char below[] = "/kernels";
    if (strchr(cli->options.program, '/')) {
        if (snprintf(folder, len, "%s", cli->options.program) >= (int)len)
            return 0;
    } else {
        const ssize_t n = readlink("/proc/self/exe", folder, len);
        if (n <= 0 || (size_t)n >= len)
            return 0;
        folder[n] = '\0';
    }
    char *end = strrchr(folder, '/');
    if (!end || (size_t)(end - folder) + sizeof below > len)
        return 0;
    strcpy(end, below);
    return 1;
}
