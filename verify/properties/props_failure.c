/* props_failure.c - see props_failure.h. */
#include "verify/properties/props_failure.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/input.h"
#include "verify/base/base.h"
#include "verify/gate/gate.h"
#include "verify/properties/props_explain.h"
#include "verify/properties/props_files.h"

/* Of one failure.  Tries bound it; the time is for kernels that hang. */
static const attest_shrink_options patience = { 3000, 60, attest_now_seconds };

/* ---- shrink and explain ------------------------------------------------------------------------------------------ */

typedef struct asker {
    attest_props_world world;
    const attest_property *property;
} asker;

static attest_status try_example(void *context, attest_finding *found, const attest_example *example, attest_error *err)
{
    asker *a = context;
    return attest_props_try(found, &a->world, a->property, &example->c, example->number, example->inputs, err);
}

static attest_status start(asker *a, const attest_props_request *request, const char *kernel,
                           const attest_property *property, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char library[4096];
    const char *name;
    attest_split_target(kernel, library, sizeof library, &name);
    *a = (asker){ .world = { .subject = { .library = request->library, .program = request->program },
                             .timeout_s = request->timeout_s,
                             .reference = request->reference },
                  .property = property };
    ATTEST_TRY(attest_props_start(&a->world.subject.worker, request, err));
    ATTEST_TRY(attest_find_kernel(&a->world.subject, name, err));
out:
    return status;
}

attest_status attest_props_failure_tell(FILE *out, const attest_props_request *request, attest_props_failure *f,
                                        const char *store, attest_error *err)
{
    attest_status status = ATTEST_OK;
    asker a = { .property = NULL };
    attest_example first = { .inputs = NULL };
    attest_shrunk shrunk = { .attempts = 0 };
    attest_repro repro = { .property = "" };
    attest_shrink_options budget = patience;
    ATTEST_TRY(start(&a, request, f->kernel, f->asked, err));
    ATTEST_TRY(attest_example_draw(&first, &f->c, f->number, err));
    if (request->seconds > 0)
        budget.seconds = request->seconds / 3;
    ATTEST_TRY(attest_shrink(&shrunk, &first, &f->found, &budget, try_example, &a, err));
    snprintf(repro.property, sizeof repro.property, "%s", f->asked ? f->asked->name : ATTEST_PROPS_RUN);
    snprintf(repro.kernel, sizeof repro.kernel, "%s", f->kernel);
    repro.example = shrunk.example; /* borrowed */
    const attest_props_report report = { .repro = &repro,
                                         .property = f->asked,
                                         .found = &shrunk.found,
                                         .first = &f->c,
                                         .first_found = &f->found,
                                         .first_number = f->number,
                                         .program = request->program };
    ATTEST_TRY(attest_props_tell(out, &report, err));
    ATTEST_TRY(attest_props_files(f->kept, sizeof f->kept, store, &report, err));
    ATTEST_TRY(
        attest_props_explain(out, &a.world.subject, &repro.example.c, repro.example.inputs, request->timeout_s, err));
    fprintf(out, "kept in    %s (%ld %s)\n\n", f->kept, shrunk.attempts,
            attest_plural(shrunk.attempts, "try", "tries"));
out:
    attest_example_clear(&shrunk.example);
    attest_example_clear(&first);
    attest_worker_free(a.world.subject.worker);
    return status;
}

/* ---- explicit and reuse ------------------------------------------------------------------------------------------ */

typedef struct rerun {
    FILE *out;
    attest_props_known *known;
    const attest_props_request *request;
} rerun;

/* 1 if the repro id's kernel and property are among those that the request asks. */
static int is_asked(const attest_repro *repro, const attest_props_request *request)
{
    const int program = strncmp(repro->kernel, "exec:", 5) == 0; /* its only kernel has no name here */
    const char *colon = program ? strchr(repro->kernel, '\0') : strrchr(repro->kernel, ':');
    const char *name = !colon ? repro->kernel : program ? "" : colon + 1;
    const size_t library = colon ? (size_t)(colon - repro->kernel) : 0;
    const char *own = request->library ? request->library : "";
    return strlen(own) == library && memcmp(own, repro->kernel, library) == 0 &&
           (!request->kernel_glob || program || fnmatch(request->kernel_glob, name, 0) == 0) &&
           (!request->property_glob || fnmatch(request->property_glob, repro->property, 0) == 0);
}

/* `where`: of the repro id, for people. */
static attest_status run_token(const rerun *r, const char *text, const char *where, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_repro repro = { .property = "" };
    attest_finding found;
    asker a = { .property = NULL };
    status = attest_repro_parse(&repro, text, err);
    if (status != ATTEST_OK)
        return attest_fail_prefix(err, status, where);
    r->known->repros++;
    const attest_property *property = attest_property_find(repro.property);
    if (!is_asked(&repro, r->request) || (!property && strcmp(repro.property, ATTEST_PROPS_RUN) != 0)) {
        r->known->others++;
        goto out;
    }
    ATTEST_TRY(start(&a, r->request, repro.kernel, property, err));
    ATTEST_TRY(try_example(&a, &found, &repro.example, err));
    r->known->broken += found.broken;
    r->known->hold += !found.broken;
    r->known->ended += attest_finding_ended(&found);
    if (found.broken)
        fprintf(r->out, "STILL BROKEN %s: %s of %s\n    found      %s\n", where,
                attest_finding_ended(&found) ? ATTEST_PROPS_RUN : repro.property, repro.kernel, found.what);
out:
    attest_worker_free(a.world.subject.worker);
    attest_repro_clear(&repro);
    return status;
}

/* Every line of a file of repros; a missing file is none. */
static attest_status run_file(const rerun *r, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char *line = NULL, where[4200];
    size_t size = 0;
    long number = 0;
    FILE *in;
    if ((status = attest_input_stream(&in, NULL, path, err)) != ATTEST_OK)
        return errno == ENOENT || errno == ENOTDIR ? ATTEST_OK : status;
    while (getline(&line, &size, in) > 0) {
        number++;
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] == '\0' || line[0] == '#')
            continue;
        snprintf(where, sizeof where, "%s:%ld", path, number);
        ATTEST_TRY(run_token(r, line, where, err));
    }
    status = attest_input_ended(in, path, err);
out:
    free(line);
    fclose(in);
    return status;
}

static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static attest_status run_store(const rerun *r, const char *store, attest_error *err)
{
    attest_status status = ATTEST_OK;
    struct dirent **entries = NULL;
    char path[4096];
    const int count = scandir(store, &entries, visible, alphasort);
    for (int k = 0; k < count; k++) {
        snprintf(path, sizeof path, "%s/%s/repro-id", store, entries[k]->d_name);
        ATTEST_TRY(run_file(r, path, err));
    }
out:
    for (int k = 0; k < count; k++)
        free(entries[k]);
    free(entries);
    return status;
}

attest_status attest_props_rerun(FILE *out, attest_props_known *known, const attest_props_request *request,
                                 const char *store, const char *repros, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const rerun r = { out, known, request };
    *known = (attest_props_known){ 0 };
    ATTEST_TRY(run_file(&r, repros, err));
    ATTEST_TRY(run_store(&r, store, err));
out:
    return status;
}
