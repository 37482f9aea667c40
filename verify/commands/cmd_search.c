/* cmd_search.c - `attest search`: for each kernel and problem the worst inputs that so many evaluations find. */
#include <fnmatch.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"
#include "verify/case_file/case_file.h"
#include "verify/commands/cli.h"
#include "verify/base/base.h"
#include "verify/gate/gate.h"
#include "verify/search/search.h"

#define EVALUATIONS 10000
enum { SEEDS = 5 }; /* of a comparison; odd: the median is one of them */

/* Where a built-in kernel is searched without --problem: small enough for 10^5 evaluations in a minute; one query, for
 * the rows of a problem are judged apart.  `compared`: the classes of --strategy compare. */
static const struct {
    const char *kernel, *line;
    int compared;
} searched[] = {
    { "softmax-two-pass-f32", "variant=softmax n=1 m=8 d=2 e=1", 1 },
    { "softmax-online-f32", "variant=softmax n=1 m=33 d=2 e=1", 1 }, /* a tile of 32 and one key */
    { "softmax-online-bf16", "variant=softmax n=1 m=8 d=2 e=1 in=bf16 p=bf16", 1 },
    { "softmax-flash-f32", "variant=softmax n=1 m=65 d=2 e=1", 0 }, /* a tile of 64 and one key */
    { "softmax-flash-bf16", "variant=softmax n=1 m=65 d=2 e=1 in=bf16 p=bf16", 0 },
    { "softmax-amx-bf16", "variant=softmax n=1 m=65 d=2 e=1 in=bf16 p=bf16", 0 },
    { "softmax-decode-f32", "variant=softmax n=1 m=65 d=2 e=1 splits=2", 0 }, /* a tile and a part of one key */
    { "taylor-recurrent-f32", "variant=taylor:2 n=1 m=8 d=2 e=1", 1 },
    { "taylor-chunk-f32", "variant=linear n=1 m=8 d=2 e=1 chunk=4", 1 },
    { "delta-recurrent-f32", "variant=deltanet mask=causal-br n=1 m=8 d=2 e=1", 1 },
    { "softmax-two-pass-f64", "variant=softmax n=1 m=8 d=2 e=1 in=f64", 0 },
    { "softmax-mma-bf16", "variant=softmax n=1 m=33 d=2 e=1 in=bf16 p=bf16", 0 }, /* instructions of 16 keys */
    { "softmax-split-f32", "variant=softmax n=1 m=8 d=2 e=1 splits=2", 0 },
    { "taylor-direct-f32", "variant=taylor:2 n=1 m=8 d=2 e=1", 0 },
    { "taylor-split-f32", "variant=taylor:2 n=1 m=8 d=2 e=1 splits=2", 0 },
    { "taylor-packed-f32", "variant=taylor:2 n=1 m=8 d=2 e=1", 0 },
    { "linear-recurrent-f32", "variant=linear n=1 m=8 d=2 e=1", 0 },
    { "taylor-chunk-fast-f32", "variant=taylor:2 n=1 m=8 d=2 e=1 chunk=4", 0 },
    { "taylor-packed-fast-f32", "variant=taylor:2 n=1 m=8 d=2 e=1", 0 },
    { "delta-wy-f32", "variant=deltanet mask=causal-br n=1 m=8 d=2 e=1 chunk=4", 0 },
    { "linear-chunk-f32", "variant=linear n=1 m=8 d=2 e=1 chunk=4", 0 },
    { "linear-chunk-state-bf16", "variant=linear n=1 m=8 d=2 e=1 chunk=4", 0 },
    { "delta-parallel-f32", "variant=deltanet mask=causal-br n=1 m=8 d=2 e=1", 0 },
    { "delta-chunk-f32", "variant=deltanet mask=causal-br n=1 m=8 d=2 e=1 chunk=4", 0 },
};

enum { SEARCHED = sizeof searched / sizeof searched[0] };

/* One line of the output. */
typedef struct finding {
    attest_search_request request;
    attest_search_found found;
    double figure, seconds;
    attest_result result; /* the found inputs, with every check of a case */
    char path[4096];
} finding;

/* ---- one search ------------------------------------------------------------------------------------------------- */
/* DIR/KERNEL-OBJECTIVE.case or, of a library's kernel, DIR/LIBRARY-KERNEL-OBJECTIVE.case. */
static int case_path(char *path, size_t len, const char *dir, const char *kernel, const char *objective)
{
    kernel = strncmp(kernel, "exec:", 5) == 0 ? "program" : kernel;
    const char *colon = strrchr(kernel, ':'), *base = kernel, *name = colon ? colon + 1 : kernel;
    for (const char *at = kernel; colon && at < colon; at++)
        base = *at == '/' ? at + 1 : base;
    int stem = colon ? (int)(colon - base) : 0;
    if (stem > 3 && strncmp(colon - 3, ".so", 3) == 0)
        stem -= 3;
    return snprintf(path, len, "%s/%.*s%s%s-%s.case", dir, stem, base, stem ? "-" : "", name, objective) < (int)len;
}

/* Keeps the file, unless it is of a built-in kernel and what stands there is worse already: a library may have been
 * mended since. */
static attest_status keep(finding *f, attest_bundle *inputs, const char *dir, attest_error *err)
{
    const attest_search_request *r = &f->request;
    const char *objective = attest_objective_names[r->objective];
    attest_case_file file = { .c = r->c, .value = f->figure, .evaluations = f->found.evaluations, .seed = r->seed };
    attest_case_file there;
    attest_error ignored;
    char why[200];
    if (!case_path(f->path, sizeof f->path, dir, f->result.kernel, objective))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: the path is too long", dir);
    if (!strchr(f->result.kernel, ':') && attest_case_file_read(&there, f->path, &ignored) == ATTEST_OK) {
        const int worse = there.value >= f->figure && strcmp(there.objective, objective) == 0;
        attest_case_file_clear(&there);
        if (worse)
            return ATTEST_OK;
    }
    file.inputs = inputs; /* only read */
    snprintf(file.kernel, sizeof file.kernel, "%s", f->result.kernel);
    snprintf(file.objective, sizeof file.objective, "%s", objective);
    snprintf(file.strategy, sizeof file.strategy, "%s", attest_strategy_names[r->strategy]);
    snprintf(why, sizeof why, "the largest %s known of this kernel and problem, not a proven maximum", objective);
    return attest_case_file_write(&file, f->path, why, err);
}

/* Runs the found inputs once more, alone, with every check of a case. */
static attest_status confirm(finding *f, const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_search_request *r = &f->request;
    attest_subject subject = { .library = r->library, .program = r->program };
    attest_evaluator ev = { .subject = NULL };
    attest_bundle *given = f->found.inputs;
    int supported;
    ATTEST_TRY(attest_worker_start(&subject.worker, r->library, r->timeout_s, err));
    ATTEST_TRY(attest_find_kernel(&subject, r->kernel, err));
    ATTEST_TRY(attest_library_hash(subject.file_hash, r->library, err));
    f->found.inputs = NULL; /* the evaluator takes them over */
    ATTEST_TRY(attest_evaluator_init(&ev, &r->c, given, &subject, r->objective, r->timeout_s, err));
    ATTEST_TRY(attest_evaluate(&f->figure, &ev, err));
    ATTEST_TRY(attest_run_case(&f->result, &supported, &ev.prepared, &subject, NULL, r->timeout_s, err));
    if (dir)
        ATTEST_TRY(keep(f, ev.prepared.inputs, dir, err));
out:
    attest_evaluator_clear(&ev);
    attest_worker_free(subject.worker);
    return status;
}

static attest_status run_one(finding *f, const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double start = attest_now_seconds();
    f->path[0] = '\0';
    ATTEST_TRY(attest_search_find(&f->found, &f->request, err));
    ATTEST_TRY(confirm(f, dir, err));
    f->seconds = attest_now_seconds() - start;
out:
    attest_search_found_clear(&f->found);
    return status;
}

/* ---- output ----------------------------------------------------------------------------------------------------- */
static attest_status print_json(const finding *f, attest_error *err)
{
    const attest_search_request *r = &f->request;
    char hex[40];
    json_t *reached = json_object();
    for (int k = 0; k < ATTEST_PHASE_COUNT; k++)
        json_object_set_new(reached, attest_phase_names[k], attest_json_number(f->found.reached[k]));
    snprintf(hex, sizeof hex, "%a", f->figure);
    json_t *object = json_pack(
        "{s:o,s:o,s:s,s:s,s:I,s:I,s:o,s:s,s:s,s:o,s:I,s:I,s:o,s:o,s:o}", "kernel", attest_json_text(f->result.kernel),
        "problem", attest_json_text(f->result.problem), "objective", attest_objective_names[r->objective], "strategy",
        attest_strategy_names[r->strategy], "seed", (json_int_t)r->seed, "evaluations",
        (json_int_t)f->found.evaluations, "value", attest_json_number(f->figure), "value_hex", hex, "verdict",
        attest_verdict_names[f->result.verdict], "ratio", attest_json_number(f->result.ratio_hi), "refuted",
        (json_int_t)f->found.refuted, "crashed", (json_int_t)f->found.crashed, "reached", reached, "file",
        attest_json_text(f->path), "seconds", attest_json_number(f->seconds));
    const attest_status status = attest_json_line(stdout, object);
    fflush(stdout);
    return status == ATTEST_OK ? ATTEST_OK : attest_print_failed(err, "standard output");
}

static void print_text(const finding *f)
{
    const attest_search_request *r = &f->request;
    printf("%-22s %-6s %-7s seed %-4llu %8ld evaluations  largest %s %-10.6g verdict %s\n", r->kernel,
           attest_objective_names[r->objective], attest_strategy_names[r->strategy], (unsigned long long)r->seed,
           f->found.evaluations, attest_objective_names[r->objective], f->figure,
           attest_verdict_names[f->result.verdict]);
    if (f->found.refuted > 0)
        printf("    %ld %s bound; the first: %s\n", f->found.refuted,
               attest_plural(f->found.refuted, "evaluation outside its", "evaluations outside their"), f->found.why);
    if (f->found.crashed > 0)
        printf("    %ld %s that the kernel did not survive; the first: %s\n", f->found.crashed,
               attest_plural(f->found.crashed, "evaluation", "evaluations"), f->found.why);
    if (f->path[0])
        printf("    %s\n", f->path);
    fflush(stdout);
}

static int exit_of(const finding *f)
{
    const int code = attest_result_exit(&f->result, 0);
    if (f->found.crashed > 0)
        return 3;
    return code == 0 && f->found.refuted > 0 ? 1 : code;
}

/* ---- what is searched ------------------------------------------------------------------------------------------- */
typedef struct job {
    char kernel[64];
    attest_case c;
} job;

typedef struct jobs {
    char library[4096]; /* "": the built-in kernels */
    const char *glob;   /* NULL: all */
    job *job;
    size_t count;
} jobs;

static int wanted(const jobs *j, const char *kernel) { return !j->glob || fnmatch(j->glob, kernel, 0) == 0; }

static attest_status add_line(jobs *j, const char *kernel, const char *line, attest_error *err)
{
    job *to = &j->job[j->count++];
    snprintf(to->kernel, sizeof to->kernel, "%s", kernel);
    return attest_case_parse(&to->c, line, NULL, NULL, err);
}

/* Every wanted kernel of the library that serves --problem. */
static attest_status add_problem(jobs *j, const attest_cli *cli, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_worker *worker = NULL;
    attest_case c;
    char why[256] = "no kernel of this name";
    ATTEST_TRY(attest_case_parse(&c, cli->problem, NULL, NULL, err));
    ATTEST_TRY(attest_worker_start(&worker, *j->library ? j->library : NULL, cli->options.timeout, err));
    const size_t count = attest_worker_kernel_count(worker);
    j->job = calloc(count + 1, sizeof *j->job);
    if (!j->job)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu kernels", count));
    for (size_t k = 0; k < count; k++) {
        const char *name = attest_worker_kernel(worker, k)->name;
        if (!wanted(j, name) || attest_worker_supports(worker, k, &c.problem, why, sizeof why) == 0)
            continue; /* no answer is no refusal: the search tells how it ends */
        ATTEST_TRY(attest_name_fits(*j->library ? j->library : NULL, name, err));
        ATTEST_TRY(add_line(j, name, cli->problem, err));
    }
    if (j->count == 0)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "no kernel to search: %s", why));
out:
    attest_worker_free(worker);
    return status;
}

static attest_status choose(jobs *j, const attest_cli *cli, int compare, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (cli->options.kernel)
        attest_split_target(cli->options.kernel, j->library, sizeof j->library, &j->glob);
    if (cli->problem)
        return add_problem(j, cli, err);
    if (*j->library)
        return attest_fail(err, ATTEST_BAD_INPUT, "--problem LINE is needed for kernels of a library");
    j->job = calloc(SEARCHED, sizeof *j->job);
    if (!j->job)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the list of searches");
    for (int k = 0; k < SEARCHED; k++)
        if (wanted(j, searched[k].kernel) && (searched[k].compared || !compare || cli->options.kernel))
            ATTEST_TRY(add_line(j, searched[k].kernel, searched[k].line, err));
    if (j->count == 0)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "--kernel=%s: no built-in kernel matches", cli->options.kernel));
out:
    return status;
}

/* ---- commands --------------------------------------------------------------------------------------------------- */
static void set_request(attest_search_request *r, const jobs *j, const job *from, const attest_cli *cli,
                        uint32_t objective)
{
    *r = (attest_search_request){ .c = from->c,
                                  .library = *j->library ? j->library : NULL,
                                  .kernel = from->kernel,
                                  .program = cli->options.program,
                                  .objective = objective,
                                  .seed = cli->options.seed >= 0 ? (uint64_t)cli->options.seed : from->c.seed,
                                  .evaluations = cli->cases > 0 ? cli->cases : EVALUATIONS,
                                  .jobs = cli->options.jobs,
                                  .timeout_s = cli->options.timeout };
}

static attest_status run_and_tell(finding *f, const attest_cli *cli, attest_exit *code, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(run_one(f, cli->out, err));
    attest_exit_add(code, exit_of(f));
    if (cli->options.format && strcmp(cli->options.format, "json") == 0)
        ATTEST_TRY(print_json(f, err));
    else if (!cli->options.quiet)
        print_text(f);
out:
    return status;
}

/* Both strategies over SEEDS seeds: *ahead = 1 if the median of the search is the larger. */
static attest_status compare_one(int *ahead, finding *f, const attest_cli *cli, attest_exit *code, attest_error *err)
{
    attest_status status = ATTEST_OK;
    double figure[ATTEST_STRATEGY_COUNT][SEEDS];
    const attest_search_request *r = &f->request;
    const uint64_t first = r->seed;
    for (uint32_t s = 0; s < ATTEST_STRATEGY_COUNT; s++) {
        f->request.strategy = s;
        for (int k = 0; k < SEEDS; k++) {
            f->request.seed = first + (uint64_t)k;
            ATTEST_TRY(run_and_tell(f, cli, code, err));
            figure[s][k] = f->figure;
        }
        gsl_sort(figure[s], 1, SEEDS);
    }
    const double search = gsl_stats_median_from_sorted_data(figure[ATTEST_STRATEGY_ANNEAL], 1, SEEDS);
    const double draws = gsl_stats_median_from_sorted_data(figure[ATTEST_STRATEGY_RANDOM], 1, SEEDS);
    *ahead = search > draws;
    if (cli->options.format && strcmp(cli->options.format, "json") == 0)
        ATTEST_TRY(attest_json_line(
            stdout, json_pack("{s:s,s:s,s:I,s:i,s:o,s:o}", "compare", r->kernel, "objective",
                              attest_objective_names[r->objective], "evaluations", (json_int_t)r->evaluations, "seeds",
                              SEEDS, "anneal", attest_json_number(search), "random", attest_json_number(draws))));
    else
        printf("%-22s median of %d seeds: search %.6g, random draws %.6g (%.3g times)\n", r->kernel, SEEDS, search,
               draws, search / draws);
    fflush(stdout);
out:
    return status;
}

/* The index of a name, or `count`. */
static uint32_t index_of(const char *name, const char *const *names, uint32_t count)
{
    uint32_t k = 0;
    while (k < count && strcmp(name, names[k]) != 0)
        k++;
    return k;
}

static attest_status check_options(uint32_t *objective, uint32_t *strategy, int *compare, const attest_cli *cli,
                                   attest_error *err)
{
    *objective = cli->objective ? index_of(cli->objective, attest_objective_names, ATTEST_OBJECTIVE_COUNT) : 0;
    *compare = cli->strategy && strcmp(cli->strategy, "compare") == 0;
    *strategy = cli->strategy && !*compare ? index_of(cli->strategy, attest_strategy_names, ATTEST_STRATEGY_COUNT) : 0;
    if (*objective == ATTEST_OBJECTIVE_COUNT)
        return attest_fail(err, ATTEST_BAD_INPUT, "--objective=%s: ratio, ulp, kappa or state", cli->objective);
    if (*strategy == ATTEST_STRATEGY_COUNT)
        return attest_fail(err, ATTEST_BAD_INPUT, "--strategy=%s: anneal, random or compare", cli->strategy);
    if (cli->options.format && strcmp(cli->options.format, "text") != 0 && strcmp(cli->options.format, "json") != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--format=%s: text or json", cli->options.format);
    return cli->out ? attest_output_dir(cli->out, err) : ATTEST_OK;
}

int attest_command_search(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_exit code = { 0 };
    uint32_t objective, strategy;
    int compare;
    size_t ahead = 0;
    jobs j = { .count = 0 };
    finding *f = calloc(1, sizeof *f);
    if (!f)
        ATTEST_TRY(attest_fail(&err, ATTEST_NO_MEMORY, "no memory for a search"));
    ATTEST_TRY(check_options(&objective, &strategy, &compare, cli, &err));
    ATTEST_TRY(choose(&j, cli, compare, &err));
    for (size_t k = 0; k < j.count; k++) {
        int larger = 0;
        set_request(&f->request, &j, &j.job[k], cli, objective);
        f->request.strategy = strategy;
        ATTEST_TRY(compare ? compare_one(&larger, f, cli, &code, &err) : run_and_tell(f, cli, &code, &err));
        ahead += (size_t)larger;
    }
    if (compare) {
        fprintf(stderr, "attest search: more is found than by random draws in %zu of %zu classes\n", ahead, j.count);
        attest_exit_add(&code, ahead * 6 >= j.count * 5 ? 0 : 1);
    }
out:
    free(j.job);
    free(f);
    return status == ATTEST_OK ? attest_exit_code(&code) : attest_cli_error(cli, status, &err);
}
