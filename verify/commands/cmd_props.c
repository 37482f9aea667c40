/* cmd_props.c - `attest props`: statements that must hold for every input, asked of kernels on drawn cases. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/commands/cli.h"
#include "verify/base/base.h"
#include "verify/gate/gate.h"
#include "verify/properties/properties.h"

#define CASES 500
#define FLOORS_FROM 500 /* cases: floors are in proportion to them, and at least 1 */
#define SHRUNK 12       /* failures that are made small; the others are told as they are */
#define PART_SHRUNK 4   /* of them behind an audit */

/* Behind an audit; slow programs are asked fewer. */
static const attest_props_share audit_props = { .cases = 200, .seconds = 30 };

static void progress(void *context, long done, long total)
{
    (void)context;
    fprintf(stderr, "\rattest props: %ld of about %ld %s", done, total, done >= total ? "\n" : "");
}

static void print_failure(FILE *out, const attest_props_failure *f)
{
    char line[ATTEST_LINE] = "";
    attest_error err;
    (void)attest_case_print(line, sizeof line, &f->c, &err);
    fprintf(out, "BROKEN %s: %s, %" PRId64 " %s\n", f->kernel, f->property ? f->property->name : "the run itself",
            f->cases, attest_plural(f->cases, "case", "cases"));
    if (f->property)
        fprintf(out, "    statement  %s\n", f->property->statement);
    fprintf(out, "    case %u     %s\n    found      %s\n", f->number, line, f->found.what);
}

static attest_status tell_failures(attest_props_result *result, const attest_props_request *request, const char *store,
                                   size_t shrunk, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t k = 0; k < result->failure_count; k++)
        if (k < shrunk)
            ATTEST_TRY(attest_props_failure_tell(stderr, request, &result->failure[k], store, err));
        else
            print_failure(stderr, &result->failure[k]);
out:
    return status;
}

static int failure_exit(const attest_props_failure *f) { return attest_finding_ended(&f->found) ? 3 : 1; }

static attest_status add_failure(attest_results *results, const attest_run_info *info, const attest_gate *gate,
                                 const attest_props_failure *f, attest_error *err)
{
    char why[4096], line[ATTEST_LINE] = "";
    attest_error none;
    (void)attest_case_print(line, sizeof line, &f->c, &none);
    snprintf(why, sizeof why, "property %s: %.300s; first on case %u, %.600s",
             f->property ? f->property->name : "the run itself", f->found.what, f->number, line);
    return attest_gate_add_broken(results, info, gate, f->kernel, attest_finding_ended(&f->found), why, f->kept, err);
}

attest_status attest_props_part(int *code, attest_results *results, const attest_run_info *info,
                                const attest_gate *gate, const attest_cli *cli, attest_props_share share,
                                attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_props_result result = { .count = NULL };
    const long kernels = (long)gate->plan->kernel_count;
    const attest_props_request request = { .library = gate->plan->library[0].path,
                                           .plan = gate->plan,
                                           .kernel_glob = gate->kernel_glob,
                                           .program = cli->options.program,
                                           .cases = kernels * share.cases,
                                           .jobs = cli->options.jobs,
                                           .timeout_s = cli->options.timeout,
                                           .reference = 1,
                                           .seconds = (double)kernels * share.seconds,
                                           .progress = !cli->options.quiet && isatty(STDERR_FILENO) ? progress : NULL };
    ATTEST_TRY(attest_props_run(&result, &request, err));
    if (attest_stop_signal()) /* which runs it took away is not known */
        goto out;
    ATTEST_TRY(tell_failures(&result, &request, cli->out ? cli->out : ATTEST_PROPS_STORE, PART_SHRUNK, err));
    for (size_t k = 0; k < result.failure_count; k++)
        ATTEST_TRY(add_failure(results, info, gate, &result.failure[k], err));
    const int nothing = result.left_out > 0 && result.elements == 0;
    *code = nothing ? 4 : 0;
    if (!cli->options.quiet || nothing) {
        fprintf(stderr, "attest audit: %lld %s for properties (`attest props` asks more), %zu %s broken",
                (long long)result.cases, attest_plural(result.cases, "case", "cases"), result.failure_count,
                attest_plural((int64_t)result.failure_count, "property", "properties"));
        if (result.left_out > 0)
            fprintf(stderr, "; %lld left out after %g s", (long long)result.left_out, request.seconds);
        fputc('\n', stderr);
    }
out:
    attest_props_result_clear(&result);
    return status;
}

attest_status attest_audit_more(int *code, attest_results *results, attest_traits *traits, attest_run_info *info,
                                const attest_gate *gate, const attest_cli *cli, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (!gate->traits || !info->complete)
        return ATTEST_OK;
    ATTEST_TRY(attest_gate_traits(results, traits, info, gate, err));
    if (gate->suite->builtin && !cli->case_glob && !gate->plan->library[0].failed[0] && !attest_stop_signal())
        ATTEST_TRY(attest_props_part(code, results, info, gate, cli, audit_props, err));
    if (attest_stop_signal()) {
        info->complete = 0;
        snprintf(info->ended, sizeof info->ended, "%s", attest_stop_name());
    }
out:
    return status;
}

/* 1: properties; 3: a kernel that crashed or hung; 4: nothing broken, but the run is not to be trusted. */
static int exit_of(const attest_props_result *result, const attest_props_known *known, int whole)
{
    const attest_props_doubts d = attest_props_doubt(result, whole);
    attest_exit code = { 0 };
    if (known->broken > known->ended)
        attest_exit_add(&code, 1);
    if (known->ended > 0)
        attest_exit_add(&code, 3);
    for (size_t k = 0; k < result->failure_count; k++)
        attest_exit_add(&code, failure_exit(&result->failure[k]));
    if (d.vacuous || d.floors || d.silent || d.starved)
        attest_exit_add(&code, 4);
    attest_exit_add(&code, result->elements > 0 ? 0 : 77);
    return attest_exit_code(&code);
}

int attest_command_props(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_props_result result = { .count = NULL };
    char library[4096] = "";
    const char *glob = cli->options.kernel;
    int code = 0;
    attest_case problem;
    attest_props_known known = { 0 };
    const long cases = cli->cases > 0 ? cli->cases : CASES;
    const char *store = cli->out ? cli->out : ATTEST_PROPS_STORE;
    if (cli->options.format && strcmp(cli->options.format, "text") != 0 && strcmp(cli->options.format, "json") != 0)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--format=%s: text or json", cli->options.format));
    if (cli->out)
        ATTEST_TRY(attest_output_dir(cli->out, &err));
    if (cli->options.kernel)
        attest_split_target(cli->options.kernel, library, sizeof library, &glob);
    if (cli->problem)
        ATTEST_TRY(attest_case_parse(&problem, cli->problem, NULL, NULL, &err));
    if (cli->problem && cli->options.seed >= 0)
        problem.seed = (uint64_t)cli->options.seed;
    /* every kernel of the library, every property, and enough cases to meet what is rare */
    const int whole = !glob && !cli->property && !cli->problem && cases >= FLOORS_FROM;
    const attest_props_request request = { .library = *library ? library : NULL,
                                           .kernel_glob = glob,
                                           .property_glob = cli->property,
                                           .program = cli->options.program,
                                           .problem = cli->problem ? &problem : NULL,
                                           .seed = cli->options.seed >= 0 ? (uint64_t)cli->options.seed : 0,
                                           .cases = cases,
                                           .jobs = cli->options.jobs,
                                           .timeout_s = cli->options.timeout,
                                           .reference = 1,
                                           .floors = whole,
                                           .progress = !cli->options.quiet && isatty(STDERR_FILENO) ? progress : NULL };
    ATTEST_TRY(attest_props_check(&request, &err)); /* before what is kept is told */
    ATTEST_TRY(attest_props_rerun(stderr, &known, &request, store, ATTEST_PROPS_REPROS, &err));
    if (known.repros > 0 && !cli->options.quiet)
        fprintf(stderr,
                "attest props: %" PRId64 " kept %s: %" PRId64 " broken, %" PRId64 " %s, %" PRId64
                " of kernels or properties not asked\n",
                known.repros, attest_plural(known.repros, "case", "cases"), known.broken, known.hold,
                attest_plural(known.hold, "holds", "hold"), known.others);
    ATTEST_TRY(attest_props_run(&result, &request, &err));
    if (cli->options.format && strcmp(cli->options.format, "json") == 0)
        attest_props_json(stdout, &result, whole && !*library);
    else if (!cli->options.quiet)
        attest_props_print(stdout, &result, whole && !*library);
    if (result.elements == 0 && result.failure_count == 0)
        fprintf(stderr, "attest props: nothing compared: these properties are not about what these kernels serve\n");
    ATTEST_TRY(tell_failures(&result, &request, store, SHRUNK, &err));
    code = exit_of(&result, &known, whole && !*library);
out:
    attest_props_result_clear(&result);
    return status == ATTEST_OK ? code : attest_cli_error(cli, status, &err);
}
