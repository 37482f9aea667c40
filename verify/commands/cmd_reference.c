/* cmd_reference.c - `attest reference`: the truth as decimals with proven radius, rationals, or .npy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/npy/npy.h"
#include "reference/dd/dd.h"
#include "reference/reference.h"
#include "reports/report.h"
#include "verify/commands/cli.h"
#include "verify/base/base.h"
#include "verify/commands/inputs.h"

#define TRUTH_BYTES 256 /* of one number: a ball, a rational, three texts */

typedef struct request {
    attest_watch *watch;
    attest_case c;
    attest_bundle *inputs;
    attest_truth *truth;
    attest_tensor_id want[ATTEST_MAX_TENSORS];
    size_t want_count;
    uint32_t engine;
} request;

/* Adds an output, or says why the variant has none. */
static attest_status want_one(request *r, attest_tensor_id id, attest_error *err)
{
    char why[256], name[32];
    attest_tensor_id_print(name, sizeof name, id);
    if (!attest_problem_has(&r->c.problem, id, why, sizeof why))
        return attest_fail(err, ATTEST_BAD_INPUT, "--want %s: %s", name, why);
    for (size_t i = 0; i < r->want_count; i++)
        if (attest_tensor_id_equal(r->want[i], id))
            return ATTEST_OK;
    r->want[r->want_count++] = id;
    return ATTEST_OK;
}

/* `ht` is every ht.n of the variant, with zt.n beside it where there is one. */
static attest_status want_states(request *r, attest_error *err)
{
    int lowest, highest;
    char why[256];
    attest_status status = ATTEST_OK;
    if (!attest_variant_degrees(r->c.problem.axis, &lowest, &highest))
        return attest_fail(err, ATTEST_BAD_INPUT, "--want ht: this variant has no recurrence, so no state");
    for (int n = lowest; n <= highest; n++) {
        ATTEST_TRY(want_one(r, (attest_tensor_id){ ATTEST_KIND_HT, (uint32_t)n }, err));
        const attest_tensor_id z = { ATTEST_KIND_ZT, (uint32_t)n };
        if (attest_problem_has(&r->c.problem, z, why, sizeof why))
            ATTEST_TRY(want_one(r, z, err));
    }
out:
    return status;
}

static attest_status parse_want(request *r, const char *list, attest_error *err)
{
    char names[512];
    attest_status status = ATTEST_OK;
    if (strlen(list) >= sizeof names || *list == '\0')
        return attest_fail(err, ATTEST_BAD_INPUT, "--want: names of outputs separated by commas: o,u,z,lse,ht");
    strcpy(names, list);
    char *save = NULL;
    for (char *name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        attest_tensor_id id;
        if (strcmp(name, "ht") == 0) {
            ATTEST_TRY(want_states(r, err));
            continue;
        }
        status = attest_tensor_id_parse(&id, name, err);
        if (status != ATTEST_OK)
            return attest_fail_prefix(err, status, "--want");
        ATTEST_TRY(want_one(r, id, err));
    }
    if (r->want_count == 0)
        status = attest_fail(err, ATTEST_BAD_INPUT, "--want %s: no output is named; allowed: o,u,z,lse,ht", list);
out:
    return status;
}

static attest_status parse_engine(uint32_t *engine, const char *name, attest_error *err)
{
    static const uint32_t all[] = { ATTEST_ENGINE_AUTO, ATTEST_ENGINE_DD, ATTEST_ENGINE_BALL, ATTEST_ENGINE_EXACT,
                                    ATTEST_ENGINE_WITNESS };
    *engine = ATTEST_ENGINE_AUTO;
    if (!name)
        return ATTEST_OK;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(attest_engine_name(all[i]), name) == 0) {
            *engine = all[i];
            return ATTEST_OK;
        }
    return attest_fail(err, ATTEST_BAD_INPUT, "--engine=%s: auto, dd, ball, exact or witness", name);
}

/* Decimals as texts, null where there is none. */
static json_t *list_to_json(char *const *text, int64_t count)
{
    json_t *list = text ? json_array() : json_null();
    for (int64_t i = 0; text && i < count; i++)
        json_array_append_new(list, text[i] ? json_string(text[i]) : json_null());
    return list;
}

static json_t *decimals_to_json(const attest_decimals *d)
{
    json_t *shape = json_array();
    for (int a = 0; a < d->rank; a++)
        json_array_append_new(shape, json_integer(d->shape[a]));
    return json_pack("{s:o,s:o,s:o,s:o}", "shape", shape, "mid", list_to_json(d->mid, d->count), "rad",
                     list_to_json(d->rad, d->count), "exact", list_to_json(d->exact, d->count));
}

/* One object on one line; computed whole before anything is printed. */
static attest_status print_json(request *r, const attest_cli *cli, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char line[ATTEST_LINE], name[32];
    long bits = 0;
    uint32_t engine = ATTEST_ENGINE_AUTO;
    json_t *tensors = json_object();
    ATTEST_TRY(attest_case_print(line, sizeof line, &r->c, err));
    for (size_t i = 0; i < r->want_count; i++) {
        attest_decimals d;
        ATTEST_TRY(attest_truth_decimals(&d, r->truth, r->want[i], (int)cli->digits, cli->prec, err));
        bits = d.bits > bits ? d.bits : bits;
        engine = i == 0 || engine == d.engine ? d.engine : (uint32_t)ATTEST_ENGINE_MIXED;
        attest_tensor_id_print(name, sizeof name, r->want[i]);
        json_object_set_new(tensors, name, decimals_to_json(&d));
        attest_decimals_free(&d);
    }
    attest_watch_end(r->watch);
    r->watch = NULL;
    json_t *object = json_pack("{s:o,s:I,s:s,s:O}", "problem", attest_json_text(line), "precision_bits",
                               (json_int_t)bits, "engine", attest_engine_name(engine), "tensors", tensors);
    if (attest_json_line(stdout, object) != ATTEST_OK || fflush(stdout) != 0)
        status = attest_print_failed(err, "standard output");
out:
    json_decref(tensors);
    return status;
}

/* All tensors are rounded before the first is written.  *open: elements whose rounding is not decided. */
static attest_status write_npy(request *r, const attest_cli *cli, int64_t *open, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char path[4096], name[32];
    attest_rounding_counts counts = { 0 };
    attest_tensor *rounded = calloc(r->want_count, sizeof *rounded);
    if (!rounded)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the results");
    for (size_t i = 0; i < r->want_count; i++) {
        attest_tensor described;
        attest_tensor_describe(&described, &r->c.problem, r->want[i], 0);
        ATTEST_TRY(attest_truth_rounded(&rounded[i], r->truth, r->want[i], described.dtype, &counts, err));
    }
    attest_watch_end(r->watch);
    r->watch = NULL;
    for (size_t i = 0; i < r->want_count; i++) {
        attest_tensor_id_print(name, sizeof name, r->want[i]);
        if (snprintf(path, sizeof path, "%s/%s.npy", cli->out, name) >= (int)sizeof path)
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "--out: the path is too long"));
        ATTEST_TRY(attest_npy_write(path, &rounded[i], err));
    }
    *open = counts.at_cap;
    if (!cli->options.quiet || counts.at_cap > 0)
        fprintf(stderr,
                "rounded: %lld by enclosure; %lld left open by balls, %lld of them decided by the tie lemma; "
                "%lld open at the cap; %lld without truth\n",
                (long long)counts.by_enclosure, (long long)counts.open_at_ball, (long long)counts.by_tie,
                (long long)counts.at_cap, (long long)counts.no_truth);
out:
    for (size_t i = 0; i < r->want_count; i++)
        free(rounded[i].data);
    free(rounded);
    return status;
}

static int64_t rows_done(const void *truth) { return attest_truth_rows(truth); }

/* Does the dd engine give all that is wanted, in seconds?  By default only where values are rounded. */
static int by_dd(const request *r, int npy)
{
    char why[256];
    int all = r->engine == ATTEST_ENGINE_DD || (npy && r->engine == ATTEST_ENGINE_AUTO);
    for (size_t i = 0; i < r->want_count; i++)
        all = all && r->want[i].kind == ATTEST_KIND_ROLE &&
              (r->want[i].index == ATTEST_O || r->want[i].index == ATTEST_LSE);
    return all && attest_enclose_serves(&r->c.problem, why, sizeof why);
}

/* Balls enclose about 3e7 products of a query or weight with a key or value a second (128 bits, one core). */
static void tell_cost(const request *r, const attest_cli *cli, int npy)
{
    const attest_problem *p = &r->c.problem;
    const double minutes = (double)(p->b * p->hq) * (double)p->n * (double)p->m * (double)(p->d + p->e) / 18e8;
    if (minutes > 1 && !cli->options.quiet && !by_dd(r, npy))
        fprintf(stderr, "attest reference: %lld rows of %lld keys: about %.0f %s\n", (long long)(p->b * p->hq * p->n),
                (long long)p->m, minutes, attest_plural(llround(minutes), "minute", "minutes"));
}

int attest_command_reference(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    request r = { 0 };
    int64_t open = 0;
    const int npy = cli->options.format && strcmp(cli->options.format, "npy") == 0;
    if (cli->options.format && !npy && strcmp(cli->options.format, "json") != 0)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--format=%s: json or npy", cli->options.format));
    if (!npy && cli->out)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--out=%s: only --format npy writes files", cli->out));
    if (npy && !cli->out)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--format npy needs --out DIR"));
    ATTEST_TRY(attest_watch_start(&r.watch,
                                  &(attest_watch_options){ "reference", "--max-time", cli->options.max_time,
                                                           !cli->options.quiet && isatty(STDERR_FILENO) },
                                  &err));
    ATTEST_TRY(parse_engine(&r.engine, cli->engine, &err));
    if (npy && r.engine == ATTEST_ENGINE_WITNESS)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--engine witness writes no .npy: it proves no rounding"));
    ATTEST_TRY(attest_bundle_new(&r.inputs, &err));
    ATTEST_TRY(attest_inputs_load(&r.c, r.inputs, NULL, cli, &err));
    ATTEST_TRY(parse_want(&r, cli->want ? cli->want : "o", &err));
    ATTEST_TRY(attest_outputs_memory(&r.c.problem, r.want, r.want_count, TRUTH_BYTES, &err));
    if (npy)
        ATTEST_TRY(attest_output_dir(cli->out, &err));
    tell_cost(&r, cli, npy);
    char line[ATTEST_LINE];
    ATTEST_TRY(attest_case_print(line, sizeof line, &r.c, &err));
    attest_reference_case(line);
    ATTEST_TRY(attest_truth_new(&r.truth, &r.c.problem, r.inputs, r.engine, &err));
    attest_watch_count(r.watch, rows_done, r.truth, "rows of the truth");
    ATTEST_TRY(npy ? write_npy(&r, cli, &open, &err) : print_json(&r, cli, &err));
out:
    attest_watch_end(r.watch);
    attest_truth_free(r.truth);
    attest_bundle_free(r.inputs);
    return status != ATTEST_OK ? attest_cli_error(cli, status, &err) : open > 0 ? 4 : 0;
}
