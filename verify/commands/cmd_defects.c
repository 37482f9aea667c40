/* cmd_defects.c - `attest defects [--suite S] [--matrix] [--gate G] [--kernel GLOB] [--out DIR]`: the planted defects:
 * what catches them, or the table of what other suites' gates let through. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/report.h"
#include "verify/commands/cli.h"
#include "verify/peer_gates/peer_gates.h"
#include "verify/properties/properties.h"

#define PROPS_CASES 200 /* of `--gate props`, a defect */

/* defects/defects.so beside the executable. */
static attest_status find_library(char *path, size_t len, const attest_cli *cli, attest_error *err)
{
    static const char below[] = "/defects/defects.so";
    char *end = attest_cli_plugins(path, len, cli) ? strrchr(path, '/') : NULL;
    if (!end || (size_t)(end - path) + sizeof below > len)
        return attest_fail(err, ATTEST_BAD_INPUT, "the folder of %s is not known", cli->options.program);
    strcpy(end, below);
    if (access(path, R_OK) != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: not there (`make defects` builds it)", path);
    return ATTEST_OK;
}

static attest_status check_words(const attest_cli *cli, attest_error *err)
{
    size_t selected = 0;
    for (size_t k = 0; k < attest_defect_count; k++)
        selected += (size_t)attest_defect_selected(&cli->options, &attest_defects[k]);
    if (selected == 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "no defect matches '%s' (`attest list defects`)",
                           cli->options.kernel);
    if (cli->options.format && strcmp(cli->options.format, "text") != 0 && strcmp(cli->options.format, "json") != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--format=%s: text or json", cli->options.format);
    return ATTEST_OK;
}

/* Marks what suite smoke kills; a run of it alone is the same as the marks. */
static attest_status run(attest_defect_result *result, const attest_cli *cli, const attest_suite *suite,
                         const char *library, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_suite smoke = { 0 };
    attest_defect_result *small = calloc(attest_defect_count, sizeof *small);
    if (!small)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu defects", attest_defect_count);
    ATTEST_TRY(attest_suite_read(&smoke, "smoke", err));
    ATTEST_TRY(attest_defects_run(small, &cli->options, &smoke, library, NULL, cli->matrix, err));
    ATTEST_TRY(attest_defects_run(result, &cli->options, suite, library, NULL, cli->matrix, err));
    for (size_t k = 0; k < attest_defect_count; k++)
        result[k].smoke = small[k].killed > 0;
out:
    free(small);
    attest_suite_clear(&smoke);
    return status;
}

/* DIR/defects.md or DIR/gates.md, .json: `table->count` gates, or none and attest's own results. */
static attest_status write_file(const attest_peer_table *table, const attest_cli *cli, int json, attest_error *err)
{
    char path[4000];
    attest_output out;
    if (snprintf(path, sizeof path, "%s/%s.%s", cli->out, table->count ? "gates" : "defects", json ? "json" : "md") >=
        (int)sizeof path)
        return attest_fail(err, ATTEST_BAD_INPUT, "--out: the path is too long");
    const attest_status status = attest_output_open(&out, path, err);
    if (status == ATTEST_OK && table->count)
        (json ? attest_peer_json : attest_peer_markdown)(out.file, table);
    else if (status == ATTEST_OK && json)
        attest_defects_json(out.file, &cli->options, table->own, cli->matrix);
    else if (status == ATTEST_OK)
        attest_defects_markdown(out.file, &cli->options, table->own, table->suite, cli->matrix);
    return attest_output_close(&out, status, err);
}

static attest_status tell(const attest_peer_table *table, const attest_cli *cli, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int json = cli->options.format && strcmp(cli->options.format, "json") == 0;
    if (cli->out) {
        ATTEST_TRY(write_file(table, cli, 0, err));
        ATTEST_TRY(write_file(table, cli, 1, err));
    }
    if (table->count)
        (json ? attest_peer_json : attest_peer_print)(stdout, table);
    else if (json)
        attest_defects_json(stdout, &cli->options, table->own, cli->matrix);
    else
        attest_defects_print(stdout, &cli->options, table->own, table->suite, cli->matrix);
out:
    return status;
}

/* `--gate props`: what properties find.  Every defect that they do not find is told, none of it is a failure. */
static attest_status run_props(const attest_cli *cli, const char *library, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_props_defect *result = calloc(attest_defect_count, sizeof *result);
    if (!result)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu defects", attest_defect_count);
    ATTEST_TRY(attest_props_defects(result, &cli->options, library, PROPS_CASES, err));
    if (cli->options.format && strcmp(cli->options.format, "json") == 0)
        attest_props_defects_json(stdout, &cli->options, result);
    else
        attest_props_defects_print(stdout, &cli->options, result, PROPS_CASES);
out:
    free(result);
    return status;
}

/* Every selected defect differs from its kernel, and is caught. */
static int all_caught(const attest_cli *cli, const attest_defect_result *result)
{
    for (size_t k = 0; k < attest_defect_count; k++)
        if (attest_defect_selected(&cli->options, &attest_defects[k]) &&
            !(result[k].killed > 0 && result[k].differs > 0))
            return 0;
    return 1;
}

int attest_command_defects(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_suite suite = { 0 };
    attest_peer_gate gates[ATTEST_PEER_COUNT];
    size_t count = 0;
    char library[4096];
    int good = 0;
    attest_defect_result *result = calloc(attest_defect_count, sizeof *result);
    if (!result)
        ATTEST_TRY(attest_fail(&err, ATTEST_NO_MEMORY, "no memory for %zu defects", attest_defect_count));
    ATTEST_TRY(check_words(cli, &err));
    const int props = cli->gate && strcmp(cli->gate, "props") == 0;
    if (cli->gate && !props)
        ATTEST_TRY(attest_peer_parse(gates, &count, cli->gate, &err));
    ATTEST_TRY(find_library(library, sizeof library, cli, &err));
    if (props) {
        ATTEST_TRY(run_props(cli, library, &err));
        good = 1;
        goto out;
    }
    ATTEST_TRY(attest_suite_read(&suite, cli->suite ? cli->suite : "ci", &err));
    if (cli->out)
        ATTEST_TRY(attest_output_dir(cli->out, &err));
    for (size_t g = 0; g < count; g++)
        ATTEST_TRY(attest_peer_run(&gates[g], &cli->options, library, &err));
    if (count && cli->suite)
        ATTEST_TRY(attest_defects_run(result, &cli->options, &suite, library, NULL, cli->matrix, &err));
    else if (!count)
        ATTEST_TRY(run(result, cli, &suite, library, &err));
    const attest_peer_table table = { &cli->options, gates, count, count && !cli->suite ? NULL : result, suite.name };
    ATTEST_TRY(tell(&table, cli, &err));
    good = count > 0 || all_caught(cli, result);
out:
    attest_peer_clear(gates, count);
    free(result);
    attest_suite_clear(&suite);
    return status == ATTEST_OK ? !good : attest_cli_error(cli, status, &err);
}
