/* cmd_predict.c - `attest predict`: the bits that CUDA kernels will give on a GPU; and predictions for `attest gate`.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verify/commands/cli.h"
#include "verify/commands/inputs.h"
#include "verify/exchange/predict.h"

/* LINE.., else --suite; both narrowed by --where and --case. */
static attest_status choose_cases(attest_suite *suite, const attest_cli *cli, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (cli->argument_count > 0 && cli->suite)
        return attest_fail(err, ATTEST_BAD_INPUT, "problem lines and --suite: one of them");
    if (cli->argument_count == 0)
        ATTEST_TRY(attest_suite_read(suite, cli->suite ? cli->suite : "smoke", err));
    for (int i = 0; i < cli->argument_count; i++) {
        attest_case c;
        ATTEST_TRY(attest_case_parse(&c, cli->argument[i], NULL, NULL, err));
        ATTEST_TRY(attest_suite_add(suite, &c, err));
    }
    if (cli->where)
        ATTEST_TRY(attest_suite_where(suite, cli->where, err));
    if (cli->case_glob)
        attest_suite_keep(suite, cli->case_glob);
    if (suite->case_count == 0)
        status = attest_fail(err, ATTEST_BAD_INPUT, "no case is wanted (`attest gate --list-cases` prints a suite's)");
out:
    return status;
}

static void tell_split(const attest_prediction *p)
{
    const attest_hardware *h = &p->hardware;
    const attest_result *r = &p->result;
    printf("  error       %.3g of the norm, %.3g ulp, %.3g of the bound\n", r->norm_error, r->ulp_hi, r->ratio_hi);
    if (p->no_hardware[0])
        printf("  truncation  of the tensor cores: not known: %s\n", p->no_hardware);
    else if (p->tensor_cores)
        printf("  truncation  of the tensor cores changes %lld of %lld elements of o, by %.3g numbers of its type at "
               "most, %.3g of the norm; without it the error is %.3g\n",
               (long long)h->changed, (long long)h->elements, h->steps, h->norm, h->norm_error);
    printf(
        "  bound       at the worst element, no errors: scores %.3g, exp %.3g, cast %.3g, sums %.3g, division %.3g\n",
        r->term_score, r->term_exp, r->term_cast, r->term_accumulation, r->term_division);
}

static void tell_text(void *context, const attest_prediction *p)
{
    const attest_cli *cli = context;
    if (p->cannot[0])
        printf("%s: not predicted: %s%s%s\n", p->kernel, p->cannot, p->result.problem[0] ? ": " : "",
               p->result.problem);
    else
        printf("%s: %s: %s: %s%s%s\n", p->kernel, p->result.outputs, attest_verdict_names[p->result.verdict],
               p->result.problem, p->unsure ? ": unsure, " : "", p->unsure ? p->unsure : "");
    if (!p->cannot[0] && cli->argument_count > 0)
        tell_split(p);
}

static void tell_done(const attest_predicted *done, const attest_cli *cli)
{
    char without[64] = "", unsure[128] = "";
    if (done->no_hardware)
        snprintf(without, sizeof without, " (%zu without exact sums)", done->no_hardware);
    if (done->unsure)
        snprintf(unsure, sizeof unsure, " (%zu unsure: it is not known whether every operation is named)",
                 done->unsure);
    fprintf(stderr, "%zu %s predicted for %s%s%s, %zu not, %zu %s%s%s\n", done->cases,
            attest_plural((int64_t)done->cases, "case", "cases"), cli->gpu, without, unsure, done->not_predicted,
            done->kernels, attest_plural((int64_t)done->kernels, "kernel", "kernels"), cli->out ? ", in " : "",
            cli->out ? cli->out : "");
}

/* What --library names (of a gate), and the plugins beside the executable. */
static attest_status list_libraries(const char *list[2 * ATTEST_CLI_LIBRARIES], size_t *count, attest_libraries *l,
                                    const attest_cli *cli, attest_error *err)
{
    const attest_status status = attest_libraries_find(l, cli, err);
    *count = 0;
    for (int i = 0; i < cli->library_count; i++)
        list[(*count)++] = cli->library[i];
    for (size_t i = 1; status == ATTEST_OK && i < l->count; i++)
        list[(*count)++] = l->list[i];
    return status;
}

/* Of LIB.so of --kernel, else of all these. */
static attest_status make_plan(attest_plan *plan, attest_libraries *l, char *library, size_t len, const attest_cli *cli,
                               attest_error *err)
{
    const char *kernel = NULL, *list[2 * ATTEST_CLI_LIBRARIES];
    attest_status status = ATTEST_OK;
    size_t count = 1;
    *library = '\0';
    if (cli->options.kernel)
        attest_split_target(cli->options.kernel, library, len, &kernel);
    list[0] = library;
    if (!*library)
        ATTEST_TRY(list_libraries(list, &count, l, cli, err));
    status = attest_plan_make(plan, list, count, attest_predict_wants, kernel, cli->options.timeout, err);
out:
    return status;
}

int attest_command_predict(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_suite suite = { .name = "lines" };
    attest_plan plan = { .library = NULL };
    attest_libraries l = { .count = 0 };
    attest_predicted done = { 0 };
    char library[4096], plugins[4096];
    if (!cli->gpu)
        ATTEST_TRY(
            attest_fail(&err, ATTEST_BAD_INPUT, "--gpu is missing: v100, a100, a2, ada, l40s, h100, h200, b200"));
    ATTEST_TRY(choose_cases(&suite, cli, &err));
    ATTEST_TRY(make_plan(&plan, &l, library, sizeof library, cli, &err));
    const attest_predict_request request = { .suite = &suite,
                                             .plan = &plan,
                                             .gpu = cli->gpu,
                                             .dir = cli->out,
                                             .plugins = attest_cli_plugins(plugins, sizeof plugins, cli) ? plugins
                                                                                                         : NULL,
                                             .timeout_s = cli->options.timeout,
                                             .tell = cli->options.quiet ? NULL : tell_text,
                                             .context = (void *)(uintptr_t)cli };
    ATTEST_TRY(attest_predict(&done, &request, &err));
    if (!cli->options.quiet)
        tell_done(&done, cli);
out:
    attest_libraries_clear(&l);
    attest_plan_clear(&plan);
    attest_suite_clear(&suite);
    return status != ATTEST_OK ? attest_cli_error(cli, status, &err) : done.died ? 3 : done.cases ? 0 : 77;
}

/* ---- gate --predict ---------------------------------------------------------------------------------------------- */
/* OUT/predicted: for the GPU that --predict names; those of a run that goes on are kept. */
static attest_status predict_first(char *dir, size_t len, const attest_cli *cli, const attest_suite *suite,
                                   attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_plan plan = { .library = NULL };
    attest_libraries l = { .count = 0 };
    attest_predicted done;
    char list[4200], library[4096], plugins[4096];
    if (!attest_predict_knows(cli->predict))
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "--predict=%.200s: no such folder and no such GPU; GPUs: v100, a100, a2, ada, l40s, h100, "
                           "h200, b200",
                           cli->predict);
    if (!cli->out)
        return attest_fail(err, ATTEST_BAD_INPUT, "--predict=%s: no folder; to predict first needs --out DIR",
                           cli->predict);
    if (snprintf(dir, len, "%s/predicted", cli->out) >= (int)len)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: the path is too long", cli->out);
    snprintf(list, sizeof list, "%s/predictions.jsonl", dir);
    if (cli->resume && access(list, F_OK) == 0)
        return ATTEST_OK;
    if (unlink(list) != 0 && errno != ENOENT)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: %s", list, strerror(errno));
    ATTEST_TRY(make_plan(&plan, &l, library, sizeof library, cli, err));
    const attest_predict_request request = { .suite = suite,
                                             .plan = &plan,
                                             .gpu = cli->predict,
                                             .dir = dir,
                                             .plugins = attest_cli_plugins(plugins, sizeof plugins, cli) ? plugins
                                                                                                         : NULL,
                                             .timeout_s = cli->options.timeout };
    status = attest_predict(&done, &request, err);
out:
    attest_libraries_clear(&l);
    attest_plan_clear(&plan);
    return status == ATTEST_BAD_INPUT ? attest_fail_prefix(err, status, "--predict") : status;
}

static void tell_stale(void *context, const char *path)
{
    const attest_cli *cli = context;
    fprintf(stderr,
            "attest gate: --predict=%s: %s is another file than the one that predicted: predictions may be old\n",
            cli->predict, path);
}

static attest_status check_stale(const attest_predictions *predictions, const attest_cli *cli, attest_error *err)
{
    attest_libraries l = { .count = 0 };
    const char *list[2 * ATTEST_CLI_LIBRARIES];
    size_t count;
    const attest_status status = list_libraries(list, &count, &l, cli, err);
    if (status == ATTEST_OK)
        attest_predictions_stale(predictions, list, count, tell_stale, (void *)(uintptr_t)cli);
    attest_libraries_clear(&l);
    return status;
}

attest_status attest_cli_predictions(attest_predictions **predictions, const attest_cli *cli, const attest_suite *suite,
                                     attest_error *err)
{
    char dir[4096];
    attest_status status = ATTEST_OK;
    *predictions = NULL;
    if (!cli->predict)
        return ATTEST_OK;
    snprintf(dir, sizeof dir, "%s", cli->predict);
    if (access(cli->predict, F_OK) != 0)
        ATTEST_TRY(predict_first(dir, sizeof dir, cli, suite, err));
    ATTEST_TRY(attest_predictions_read(predictions, dir, err));
    status = check_stale(*predictions, cli, err);
out:
    return status;
}
