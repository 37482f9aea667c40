/* props_replay.c - see props_replay.h. */
#include "verify/properties/props_replay.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernels/input.h"
#include "reports/report.h"
#include "verify/gate/gate.h"
#include "verify/properties/props_files.h"
#include "verify/properties/props_run.h"

int attest_is_token(const char *text)
{
    const size_t digits = strncmp(text, "av", 2) == 0 ? strspn(text + 2, "0123456789") : 0;
    return digits > 0 && text[2 + digits] == ':';
}

char *attest_repro_of_file(const char *path)
{
    char name[4200], *text = NULL;
    struct stat info;
    size_t size = 0;
    if (stat(path, &info) != 0 ||
        snprintf(name, sizeof name, "%s%s", path, S_ISDIR(info.st_mode) ? "/repro-id" : "") >= (int)sizeof name)
        return NULL;
    FILE *in;
    attest_error none;
    const int read = attest_input_stream(&in, NULL, name, &none) == ATTEST_OK && getline(&text, &size, in) > 0;
    if (in)
        fclose(in);
    if (!read || !attest_is_token(text)) {
        free(text);
        return NULL;
    }
    text[strcspn(text, "\r\n")] = '\0';
    return text;
}

/* NULL stands for the run itself. */
static attest_status find_property(const attest_property **property, const char *name, attest_error *err)
{
    *property = attest_property_find(name);
    if (!*property && strcmp(name, ATTEST_PROPS_RUN) != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "repro: no property `%s` (attest list properties)", name);
    return ATTEST_OK;
}

/* The property's own words, and where it has none because the run itself says it all: a run that ended badly is broken
 * whatever was asked, and `run` holds if it ended well. */
static attest_status ask(attest_finding *found, attest_props_world *world, const attest_property *property,
                         const attest_example *example, attest_error *err)
{
    const attest_prop_host host = attest_props_host(world);
    const attest_status status = attest_props_try(found, world, property, &example->c, example->number, example->inputs,
                                                  err);
    found->broken |= found->end != ATTEST_PROP_DONE;
    if (!property && !found->broken)
        found->compared = host.supports(host.context, &example->c.problem);
    return status;
}

static int exit_of(const attest_finding *found)
{
    if (!found->broken)
        return found->compared > 0 ? 0 : 77;
    return attest_finding_ended(found) ? 3 : 1;
}

static const char *word_of(const attest_finding *found)
{
    if (attest_finding_ended(found))
        return found->end == ATTEST_PROP_CRASH ? "crash" : "timeout";
    return found->broken ? "broken" : found->compared > 0 ? "holds" : "says nothing of this case";
}

static attest_status print_json(const attest_repro *repro, const attest_finding *found, const char *line)
{
    char ratio[40];
    snprintf(ratio, sizeof ratio, "%a", found->ratio);
    return attest_json_line(stdout,
                            json_pack("{s:o,s:o,s:o,s:s,s:o,s:I,s:s}", "property", attest_json_text(repro->property),
                                      "kernel", attest_json_text(repro->kernel), "problem", attest_json_text(line),
                                      "verdict", word_of(found), "found", attest_json_text(found->what), "compared",
                                      (json_int_t)found->compared, "ratio", ratio));
}

static attest_status tell(const attest_options *options, const attest_repro *repro, const attest_property *property,
                          const attest_finding *found, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char line[ATTEST_LINE];
    const attest_props_report report = {
        .repro = repro, .property = property, .found = found, .program = options->program
    };
    ATTEST_TRY(attest_case_print(line, sizeof line, &repro->example.c, err));
    if (options->format && strcmp(options->format, "json") == 0) {
        status = print_json(repro, found, line);
    } else if (!options->quiet) {
        printf("verdict    %s\n", word_of(found));
        ATTEST_TRY(attest_props_tell(stdout, &report, err));
    }
out:
    return status;
}

attest_status attest_props_replay(int *code, const attest_options *options, const char *text, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_repro repro = { .kernel = "" };
    attest_props_world world = { .timeout_s = options->timeout, .reference = 1 };
    const attest_property *property;
    attest_finding found = { 0 };
    char library[4096];
    const char *name;
    ATTEST_TRY(attest_repro_parse(&repro, text, err));
    ATTEST_TRY(find_property(&property, repro.property, err));
    if (options->kernel &&
        snprintf(repro.kernel, sizeof repro.kernel, "%s", options->kernel) >= (int)sizeof repro.kernel)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "--kernel: the name is too long"));
    attest_split_target(repro.kernel, library, sizeof library, &name);
    world.subject.library = *library ? library : NULL;
    world.subject.program = options->program;
    ATTEST_TRY(attest_worker_start(&world.subject.worker, world.subject.library, options->timeout, err));
    ATTEST_TRY(attest_find_kernel(&world.subject, name, err));
    ATTEST_TRY(ask(&found, &world, property, &repro.example, err));
    ATTEST_TRY(tell(options, &repro, property, &found, err));
out:
    attest_repro_clear(&repro);
    attest_worker_free(world.subject.worker);
    *code = exit_of(&found);
    return status;
}
