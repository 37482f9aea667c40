/* The one test runner: all suites (tests/test_*.c) under Check, or ONLY_SUITE alone.
 *
 * ATTEST_TEST_JOBS suites run at a time (unset: one more than processors, as some wait, at most 4), each in a process
 * of its own, whose output is kept until it ends; at the end come Check's summary over all suites and each failure, as
 * Check prints them.  A suite that took 10 seconds or more is told with its times.
 *
 * ATTEST_TEST_PART=quick leaves out the suites in `slow` (`make test`: three minutes on two cores), and
 * ATTEST_TEST_PART=slow runs them alone (`make check`); unset: all of them.
 *
 * A suite whose process does not come to its end is an error.  With one job, or where Check is asked for a log or not
 * to fork, it is Check's own runner in this process.
 */
#include <check.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SUITE(name) Suite *name(void);
#ifdef ONLY_SUITE
SUITE(ONLY_SUITE)
#else
#include "test_suites.h"
#endif
#undef SUITE

#define NAMED(name) { #name, name },
#define SUITE(name) NAMED(name)
static const struct entry {
    const char *name; /* suite_... */
    Suite *(*make)(void);
} entries[] = {
#ifdef ONLY_SUITE
    SUITE(ONLY_SUITE)
#else
#include "test_suites.h"
#endif
};

enum {
    ENTRIES = sizeof entries / sizeof entries[0],
    JOBS_MOST = 4,
    TOLD_SECONDS = 10, /* a suite's time is told from here on */
    PATIENCE = 5       /* times Check's own limits, beside as many suites as run at a time: they are for what hangs */
};

/* What takes longest starts first, so that it does not run on alone at the end; its place here is no more than that. */
static const char *const longest[] = { "suite_cmd_gate", "suite_classify", "suite_hollow", "suite_independent",
                                       "suite_contest",  "suite_door",     "suite_linear", "suite_kernels" };

/* Suites that `make test` leaves to `make check`: of fifteen seconds of a processor and more. */
static const char *const slow[] = {
    "suite_alloc",       "suite_batch",        "suite_classify",          "suite_cmd_audit",    "suite_cmd_bench",
    "suite_cmd_defects", "suite_cmd_gate",     "suite_cmd_init_kernel",   "suite_contest",      "suite_defects",
    "suite_delta",       "suite_door",         "suite_family_hard",       "suite_hollow",       "suite_independent",
    "suite_kernels",     "suite_linear",       "suite_linear_state_bf16", "suite_made_up",      "suite_python",
    "suite_study_run",   "suite_taylor_chunk", "suite_taylor_packed",     "suite_typical_case",
};

/* What measures how long something takes runs after all others, one at a time. */
static const char *const timed[] = { "suite_yardstick" };

/* What a suite's process says, in memory that is shared with it. */
typedef struct result {
    int checks, failures, errors;
    off_t summary; /* where in its output Check's summary starts; before it is what the tests printed */
    int ended;
} result;

typedef struct job {
    const struct entry *suite;
    pid_t process;
    FILE *output;
    double since; /* the time at its start */
    result *result;
} job;

/* Over all suites; `lines` of failures go to `text`, in memory: a file's buffer would be written by each child too. */
typedef struct total {
    int checks, failures, errors;
    FILE *lines;
    char *text;
    size_t size;
} total;

/* Where the name stands in the list; `count` if it does not. */
static size_t place(const char *const *list, size_t count, const char *name)
{
    size_t at = 0;
    while (at < count && strcmp(list[at], name) != 0)
        at++;
    return at;
}

static int is_timed(const struct entry *s)
{
    const size_t count = sizeof timed / sizeof timed[0];
    return place(timed, count, s->name) < count;
}

/* 1: the suite is of the part that is asked for. */
static int is_wanted(const struct entry *s)
{
    const size_t count = sizeof slow / sizeof slow[0];
    const char *part = getenv("ATTEST_TEST_PART");
    const int is_slow = place(slow, count, s->name) < count;
    if (!part || !*part || ENTRIES == 1)
        return 1;
    if (strcmp(part, "quick") != 0 && strcmp(part, "slow") != 0) {
        fprintf(stderr, "ATTEST_TEST_PART=%s: quick, slow or unset\n", part);
        exit(EXIT_FAILURE);
    }
    return is_slow == (strcmp(part, "slow") == 0);
}

/* The longest first, the timed last, else as they stand. */
static int in_order(const void *one, const void *other)
{
    const struct entry *const *a = one, *const *b = other;
    const size_t count = sizeof longest / sizeof longest[0];
    const size_t place_a = is_timed(*a) ? count + 1 : place(longest, count, (*a)->name);
    const size_t place_b = is_timed(*b) ? count + 1 : place(longest, count, (*b)->name);
    if (place_a != place_b)
        return place_a < place_b ? -1 : 1;
    return *a < *b ? -1 : *a > *b;
}

static int jobs_wanted(void)
{
    static const char *const of_check[] = { "CK_LOG_FILE_NAME", "CK_XML_LOG_FILE_NAME", "CK_TAP_LOG_FILE_NAME" };
    const char *fork_word = getenv("CK_FORK"), *jobs = getenv("ATTEST_TEST_JOBS");
    cpu_set_t mine;
    for (size_t n = 0; n < sizeof of_check / sizeof of_check[0]; n++)
        if (getenv(of_check[n]))
            return 1;
    if (fork_word && strcmp(fork_word, "no") == 0)
        return 1;
    if (jobs)
        return atoi(jobs);
    const int count = sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
    return count + 1 < JOBS_MOST ? count + 1 : JOBS_MOST;
}

static int run_here(void)
{
    SRunner *runner = srunner_create(NULL);
    for (size_t n = 0; n < ENTRIES; n++)
        if (is_wanted(&entries[n]))
            srunner_add_suite(runner, entries[n].make());
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    const int run = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The suite's own process; a sanitizer may still change its exit code at the end. */
static _Noreturn void run_suite(const job *j)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* Check passes it on to the test that runs */
    dup2(fileno(j->output), STDOUT_FILENO);
    dup2(fileno(j->output), STDERR_FILENO);
    SRunner *runner = srunner_create(j->suite->make());
    srunner_run_all(runner, CK_SILENT);
    TestResult **failed = srunner_failures(runner);
    for (int n = 0; n < srunner_ntests_failed(runner); n++)
        *(tr_rtype(failed[n]) == CK_FAILURE ? &j->result->failures : &j->result->errors) += 1;
    free(failed);
    j->result->checks = srunner_ntests_run(runner);
    fflush(stdout);
    j->result->summary = lseek(STDOUT_FILENO, 0, SEEK_CUR);
    srunner_print(runner, CK_ENV);
    srunner_free(runner);
    j->result->ended = 1;
    exit(EXIT_SUCCESS);
}

/* No summary: the run is worth nothing. */
static _Noreturn void stop(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void start(job *j, const struct entry *suite, result *shared)
{
    *j = (job){ .suite = suite, .result = shared, .output = tmpfile(), .since = now() };
    printf(" %s\n", suite->name + strlen("suite_"));
    fflush(stdout);
    j->process = j->output ? fork() : -1;
    if (j->process == 0)
        run_suite(j);
    if (j->process < 0)
        stop(suite->name);
}

/* What the tests printed goes out; the lines of failures, without Check's summary of this suite, are kept. */
static void take_output(const job *j, FILE *lines)
{
    const off_t summary = j->result->ended ? j->result->summary : lseek(fileno(j->output), 0, SEEK_END);
    int before = 1, c;
    rewind(j->output);
    for (off_t at = 0; (c = fgetc(j->output)) != EOF; at++) {
        if (at < summary)
            putchar(c);
        else if (!before)
            fputc(c, lines);
        else
            before = c != '\n';
    }
    fflush(stdout);
    fclose(j->output);
}

static double seconds_of(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

static void finish(job *j, int status, const struct rusage *used, total *all)
{
    const result *r = j->result;
    const double seconds = now() - j->since;
    take_output(j, all->lines);
    if (seconds >= TOLD_SECONDS)
        printf("%s: %.0f s, %.0f s of processor time\n", j->suite->name + strlen("suite_"), seconds,
               seconds_of(used->ru_utime) + seconds_of(used->ru_stime));
    all->checks += r->checks;
    all->failures += r->failures;
    all->errors += r->errors;
    j->process = 0;
    if (r->ended && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    all->errors++;
    fprintf(all->lines, "%s:%d:E:%s:process:0: the process of the suite %s %d\n", __FILE__, __LINE__, j->suite->name,
            WIFSIGNALED(status) ? "was ended by signal" : "ended early or uncleanly, with exit code",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* Waits for the end of any suite that runs. */
static void finish_one(job *jobs, total *all)
{
    int status;
    struct rusage used;
    const pid_t process = wait4(-1, &status, 0, &used);
    if (process < 0)
        stop("wait4");
    for (int n = 0; n < ENTRIES; n++)
        if (jobs[n].process == process)
            finish(&jobs[n], status, &used, all);
}

/* As Check prints them. */
static void print_summary(total *all)
{
    const int bad = all->failures + all->errors, passed = all->checks > bad ? all->checks - bad : 0;
    const int percent = bad == 0 ? 100 : all->checks ? (int)(100. * passed / all->checks) : 0;
    if (fclose(all->lines) != 0)
        stop("memory");
    printf("%d%%: Checks: %d, Failures: %d, Errors: %d\n", percent, all->checks, all->failures, all->errors);
    fputs(all->text, stdout);
    free(all->text);
}

static int run_side_by_side(int count)
{
    const struct entry *queue[ENTRIES];
    job jobs[ENTRIES] = { { 0 } };
    total all = { 0 };
    result *results = mmap(NULL, ENTRIES * sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    all.lines = open_memstream(&all.text, &all.size);
    if (!all.lines || results == MAP_FAILED)
        stop("memory");
    char times[16];
    snprintf(times, sizeof times, "%d", PATIENCE * count);
    setenv("CK_TIMEOUT_MULTIPLIER", times, 0);
    int wanted = 0;
    for (int n = 0; n < ENTRIES; n++)
        if (is_wanted(&entries[n]))
            queue[wanted++] = &entries[n];
    qsort(queue, (size_t)wanted, sizeof queue[0], in_order);
    printf("Running suite(s):\n");
    for (int next = 0, running = 0; next < wanted || running > 0;) {
        if (next < wanted && running < (is_timed(queue[next]) ? 1 : count)) {
            start(&jobs[next], queue[next], &results[next]);
            next++;
            running++;
        } else {
            finish_one(jobs, &all);
            running--;
        }
    }
    print_summary(&all);
    return all.failures + all.errors == 0 && all.checks > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* What whoever started us left open, ignored, blocked or forbidden is no part of a test: the same start everywhere. */
static void start_afresh(void)
{
    static const int as_usual[] = { SIGPIPE, SIGCHLD, SIGINT, SIGQUIT, SIGTERM };
    sigset_t none;
    int fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd < 3)
        fd = dup(fd);
    if (close_range(3, ~0u, 0) != 0)
        stop("close_range");
    for (size_t n = 0; n < sizeof as_usual / sizeof as_usual[0]; n++)
        signal(as_usual[n], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    umask(022);
    unsetenv("GITHUB_ACTIONS"); /* under it commands speak otherwise */
}

int main(void)
{
    start_afresh();
    const int jobs = jobs_wanted();
    return jobs > 1 && ENTRIES > 1 ? run_side_by_side(jobs) : run_here();
}
