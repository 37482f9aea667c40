/* cmd_replay.c - `attest replay --kernel K LINE` or `replay FILE`: one kernel, one case, every field of its result.
 * `replay ID` is props_replay.c. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "reports/report.h"
#include "verify/case_file/case_file.h"
#include "verify/commands/cli.h"
#include "verify/gate/diagnosis/conventions.h"
#include "verify/gate/diagnosis/steps.h"
#include "verify/gate/gate.h"
#include "verify/properties/properties.h"

/* Every field that has a value, one a line. */
static void print_fields(FILE *out, const attest_result *result)
{
    for (size_t i = 0; i < attest_result_field_count; i++) {
        const attest_field *f = &attest_result_fields[i];
        const char *at = (const char *)result + f->offset;
        char text[256] = "";
        double x;
        int64_t n;
        switch (f->type) {
        case ATTEST_FIELD_TEXT: snprintf(text, sizeof text, "%.255s", at); break;
        case ATTEST_FIELD_REAL:
            memcpy(&x, at, sizeof x);
            if (x == x)
                snprintf(text, sizeof text, "%.9g", x);
            break;
        case ATTEST_FIELD_VERDICT: snprintf(text, sizeof text, "%s", attest_verdict_names[result->verdict]); break;
        case ATTEST_FIELD_REASONS: attest_reasons_text(text, sizeof text, result->reasons); break;
        default: memcpy(&n, at, sizeof n); snprintf(text, sizeof text, "%lld", (long long)n);
        }
        if (*text && f->type == ATTEST_FIELD_TEXT)
            fprintf(out, "%-18s %s\n", f->name, at);
        else if (*text && f->type == ATTEST_FIELD_REAL)
            fprintf(out, "%-18s %-16s %s\n", f->name, text, f->meaning);
        else if (*text)
            fprintf(out, "%-18s %s\n", f->name, text);
    }
}

/* Every byte that a terminal could take for a command as \xNN. */
static void print_line(const char *line, size_t length)
{
    fprintf(stderr, "kernel: ");
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)line[i];
        fprintf(stderr, c >= ' ' && c <= '~' ? "%c" : "\\x%02x", c);
    }
    fputc('\n', stderr);
}

static void print_again(size_t again)
{
    if (again > 0)
        fprintf(stderr, "kernel: (the same %zu more %s)\n", again, again == 1 ? "time" : "times");
}

/* What the kernel printed; a line that it printed again and again once, as it is called hundreds of times. */
static void print_output(const attest_worker *worker)
{
    size_t length, last_length = 0, again = 0, n;
    const char *text = attest_worker_printed(worker, &length), *last = NULL;
    for (size_t at = 0; text && at < length; at += n + 1) {
        const char *line = text + at, *end = memchr(line, '\n', length - at);
        n = end ? (size_t)(end - line) : length - at;
        if (last && n == last_length && memcmp(line, last, n) == 0) {
            again++;
            continue;
        }
        print_again(again);
        print_line(line, n);
        again = 0;
        last = line;
        last_length = n;
    }
    print_again(again);
    if (length == ATTEST_WORKER_OUTPUT)
        fprintf(stderr, "attest replay: these are the first %u KiB that it printed: what came after is not kept\n",
                ATTEST_WORKER_OUTPUT / 1024);
}

/* What to replay: a problem line (every line has a '='), or a case file with its kernel and its tensors. */
typedef struct replayed {
    attest_case c;
    const char *kernel;    /* NULL: not known */
    attest_bundle *inputs; /* owned; NULL: to be drawn */
    attest_case_file file;
} replayed;

static attest_status check_steps(const attest_cli *cli, int of_property, attest_error *err)
{
    if (cli->row && !cli->steps)
        return attest_fail(err, ATTEST_BAD_INPUT, "--rows is the row of --steps");
    if (cli->debug && cli->options.max_time >= 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--debug: not together with --max-time");
    if ((cli->steps || cli->debug) && of_property)
        return attest_fail(err, ATTEST_BAD_INPUT, "--%s: of a problem line or a case file, not of a kept property",
                           cli->steps ? "steps" : "debug");
    return ATTEST_OK;
}

static attest_status read_argument(replayed *r, const attest_cli *cli, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const char *path = cli->argument[0];
    r->kernel = cli->options.kernel;
    if (strchr(path, '=') != NULL)
        return attest_case_parse(&r->c, path, NULL, NULL, err);
    if (!attest_is_case_file(path))
        return attest_fail(
            err, ATTEST_BAD_INPUT,
            "%s: %s; allowed: a problem line, a repro id, a case file (attest search --out) or the folder "
            "of a failure (attest props --out)",
            path, access(path, R_OK) == 0 ? "holds no case and no repro id" : strerror(errno));
    ATTEST_TRY(attest_case_file_read(&r->file, path, err));
    r->c = r->file.c;
    r->inputs = r->file.inputs;
    r->file.inputs = NULL;
    if (!r->kernel)
        r->kernel = r->file.kernel;
out:
    return status;
}

/* What was found in a file is reproduced by the file. */
static void tell_file(attest_result *result, const attest_cli *cli)
{
    char program[512], path[1500], kernel[900] = "";
    attest_shell_quote(program, sizeof program, cli->options.program);
    attest_shell_quote(path, sizeof path, cli->argument[0]);
    if (cli->options.kernel)
        attest_shell_quote(kernel, sizeof kernel, cli->options.kernel);
    snprintf(result->reproduction, sizeof result->reproduction, "%s replay %s%s%s%s", program,
             *kernel ? "--kernel " : "", kernel, *kernel ? " " : "", path);
    const attest_subject subject = { .timeout = cli->options.timeout };
    attest_subject_options(result->reproduction, sizeof result->reproduction, &subject);
}

/* Which other convention a case that failed would pass under: tested on this case alone. */
static attest_status tell_conventions(const attest_cli *cli, const attest_result *result,
                                      const attest_prepared *prepared, int from_file, const attest_subject *subject,
                                      attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_fit *list = NULL;
    size_t count = 0;
    ATTEST_TRY(attest_conventions_of_case(&list, &count, result, &prepared->c, from_file ? prepared->inputs : NULL,
                                          subject, cli->options.timeout, err));
    ATTEST_TRY(attest_conventions_print(stdout, list, count, 0, err));
out:
    free(list);
    return status;
}

static attest_status tell(const attest_cli *cli, const attest_result *result, attest_prepared *prepared, int from_file,
                          const attest_subject *subject, attest_error *err)
{
    const int json = cli->options.format && strcmp(cli->options.format, "json") == 0;
    attest_status status = ATTEST_OK;
    attest_row row;
    ATTEST_TRY(
        attest_steps_row(&row, cli->row, result->worst, &prepared->c.problem, err)); /* before anything is told */
    if (json)
        attest_result_print_json(stdout, result);
    else if (!cli->options.quiet)
        print_fields(stdout, result);
    if (!cli->options.quiet)
        print_output(subject->worker);
    if (json || cli->options.quiet)
        return ATTEST_OK;
    ATTEST_TRY(tell_conventions(cli, result, prepared, from_file, subject, err));
    if (cli->steps)
        ATTEST_TRY(attest_steps_print(stdout, prepared, subject, row, cli->options.timeout, err));
out:
    return status;
}

/* The case takes the inputs over. */
static attest_status prepare(attest_prepared *prepared, replayed *what, attest_error *err)
{
    attest_bundle *given = what->inputs;
    what->inputs = NULL;
    return given ? attest_prepare_inputs(prepared, &what->c, given, err) : attest_prepare(prepared, &what->c, err);
}

static int64_t rows_done(const void *truth) { return attest_truth_rows(truth); }

/* 1: a debugger has this process. */
static int is_traced(pid_t pid)
{
    char path[64], line[128];
    int tracer = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "TracerPid: %d", &tracer) == 1)
            break;
    if (in)
        fclose(in);
    return tracer != 0;
}

static volatile pid_t running_gdb; /* for the signal handler only */

/* SIGINT of the terminal is gdb's while there is one, then ours again. */
static void of_gdb(int number)
{
    const int why = errno;
    if (waitpid(running_gdb, NULL, WNOHANG) != 0) {
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = why;
}

/* Waits until gdb is left. */
static void end_gdb(pid_t *gdb)
{
    if (*gdb <= 0)
        return;
    while (waitpid(*gdb, NULL, 0) < 0 && errno == EINTR)
        ;
    *gdb = -1;
    signal(SIGINT, SIG_DFL);
}

/* Starts gdb on the kernel's process and waits until it has it: the run that follows stops where run() is called. */
static attest_status start_gdb(pid_t *gdb, const attest_subject *subject, attest_error *err)
{
    const struct timespec pause = { 0, 10000000 };
    attest_status status = ATTEST_OK;
    pid_t worker;
    int ended = 0;
    char pid[24];
    ATTEST_TRY(attest_worker_pid(&worker, subject->worker, subject->index, err));
    if (worker <= 0)
        ATTEST_TRY(attest_fail(err, ATTEST_IO, "--debug: the kernel has no process"));
    snprintf(pid, sizeof pid, "%d", (int)worker);
    if ((*gdb = fork()) == 0) {
        execlp("gdb", "gdb", "-q", "-p", pid, "-ex", "break attest_kernel_run", "-ex", "continue", (char *)NULL);
        _exit(127);
    }
    if (*gdb < 0)
        ATTEST_TRY(attest_fail(err, ATTEST_IO, "--debug: no process for gdb: %s", strerror(errno)));
    running_gdb = *gdb;
    signal(SIGINT, of_gdb);
    while (!is_traced(worker)) {
        if (waitpid(*gdb, &ended, WNOHANG) != 0) {
            *gdb = -1;
            return attest_fail(err, ATTEST_BAD_INPUT, "--debug: gdb %s",
                               WIFEXITED(ended) && WEXITSTATUS(ended) == 127
                                   ? "cannot be started: is it installed?"
                                   : "ended, and has not taken the kernel's process");
        }
        nanosleep(&pause, NULL);
    }
out:
    return status;
}

static attest_status measure(attest_result *result, attest_prepared *prepared, int from_file,
                             const attest_subject *subject, const attest_options *options, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int supported = 0;
    ATTEST_TRY(attest_run_case(result, &supported, prepared, subject, NULL, options->timeout, err));
    ATTEST_TRY(attest_repeat_case(result, prepared, subject, options->timeout, err));
    if (supported && options->typical && from_file)
        snprintf(result->typical, sizeof result->typical,
                 "not modelled: the inputs are given, no other seed draws them");
    else if (supported && options->typical)
        ATTEST_TRY(attest_typical_case(result, prepared, subject, options, err));
out:
    return status;
}

/* At the kernel of this word; its name in the library, NULL for the only one. */
static const char *aim(attest_subject *subject, char *library, size_t len, const char *kernel, const attest_cli *cli)
{
    const char *name;
    attest_split_target(kernel, library, len, &name);
    subject->library = *library ? library : NULL;
    subject->timeout = cli->debug ? 0 : cli->options.timeout;
    return name;
}

int attest_command_replay(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { 0 };
    attest_subject subject = { .program = cli->options.program, .declare = cli->declare };
    replayed what = { .inputs = NULL };
    attest_result result;
    char library[4096];
    const char *name;
    char *kept = NULL; /* a repro id in a file */
    int code = 0;
    pid_t gdb = -1;
    attest_watch *watch = NULL;
    const attest_watch_options limits = { "replay", "--max-time", cli->options.max_time,
                                          !cli->options.quiet && !cli->debug && isatty(STDERR_FILENO) };
    attest_result_init(&result);
    if (cli->options.format && strcmp(cli->options.format, "text") != 0 && strcmp(cli->options.format, "json") != 0)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--format=%s: text or json", cli->options.format));
    ATTEST_TRY(attest_watch_start(&watch, &limits, &err));
    const int is_token = attest_is_token(cli->argument[0]);
    kept = is_token ? NULL : (errno = 0, attest_repro_of_file(cli->argument[0]));
    if (!kept && errno == ENOMEM)
        ATTEST_TRY(attest_fail(&err, ATTEST_NO_MEMORY, "%s: no memory to read it", cli->argument[0]));
    ATTEST_TRY(check_steps(cli, is_token || kept, &err));
    if (is_token || kept) {
        status = attest_props_replay(&code, &cli->options, kept ? kept : cli->argument[0], &err);
        goto out;
    }
    ATTEST_TRY(read_argument(&what, cli, &err));
    if (!what.kernel)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--kernel KERNEL or --kernel LIB.so:KERNEL is needed"));
    name = aim(&subject, library, sizeof library, what.kernel, cli);
    ATTEST_TRY(attest_worker_start(&subject.worker, subject.library, cli->options.timeout, &err));
    ATTEST_TRY(attest_find_kernel(&subject, name, &err));
    if (cli->declare)
        ATTEST_TRY(attest_worker_assume(subject.worker, subject.index, cli->declare, &err));
    ATTEST_TRY(attest_library_hash(subject.file_hash, subject.library, &err));
    const int from_file = what.inputs != NULL;
    ATTEST_TRY(prepare(&prepared, &what, &err));
    if (cli->debug)
        ATTEST_TRY(start_gdb(&gdb, &subject, &err));
    attest_watch_count(watch, rows_done, prepared.truth, "rows of the truth");
    ATTEST_TRY(measure(&result, &prepared, from_file, &subject, &cli->options, &err));
    attest_watch_end(watch);
    watch = NULL;
    end_gdb(&gdb);
    if (from_file)
        tell_file(&result, cli);
    ATTEST_TRY(tell(cli, &result, &prepared, from_file, &subject, &err));
    attest_exit exit_code = { 0 };
    attest_exit_add(&exit_code, attest_result_exit(&result, cli->options.strict));
    code = attest_exit_code(&exit_code);
out:
    attest_watch_end(watch);
    free(kept);
    attest_bundle_free(what.inputs);
    attest_prepared_clear(&prepared);
    attest_worker_free(subject.worker);
    end_gdb(&gdb);
    return status == ATTEST_OK ? code : attest_cli_error(cli, status, &err);
}
