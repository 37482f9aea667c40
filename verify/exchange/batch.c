/* batch.c - judges a folder of outputs; see exchange.h. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "verify/compare/compare.h"
#include "verify/exchange/exchange_files.h"

/* The suite that a case was taken from, read once for those in a row; none if it cannot be read any more. */
typedef struct rules {
    attest_suite suite;
    char name[64];
} rules;

static const attest_suite *rules_of(rules *r, const char *name)
{
    attest_error err;
    if (strcmp(r->name, name) == 0)
        return r->suite.case_count ? &r->suite : NULL;
    attest_suite_clear(&r->suite);
    r->suite = (attest_suite){ 0 };
    snprintf(r->name, sizeof r->name, "%s", name);
    if (!*name || attest_suite_read(&r->suite, name, &err) != ATTEST_OK)
        return NULL;
    return &r->suite;
}

/* The same judgement of this case alone. */
static void reproduce(attest_result *result, const attest_batch_request *request, const attest_exchanged *e,
                      const char *declared)
{
    char program[512], dir[1024], declare[2 * ATTEST_DECLARATION];
    attest_shell_quote(program, sizeof program, request->program);
    attest_shell_quote(dir, sizeof dir, request->dir);
    attest_shell_quote(declare, sizeof declare, declared);
    snprintf(result->reproduction, sizeof result->reproduction,
             "%.400s compare --batch %.900s --case %s --declare %.1500s", program, dir, e->folder, declare);
}

attest_status attest_exchange_declared(attest_declared *declared, attest_declaration *d, int *covered, char *why,
                                       size_t len, const attest_assumed *assumed, const char *own,
                                       const attest_problem *p, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *covered = 1;
    attest_declaration_init(d);
    if (own[0] && !assumed->always) {
        ATTEST_TRY(attest_declaration_parse(d, own, err));
    } else if (assumed->declare) {
        ATTEST_TRY(assumed->declare(assumed->context, d, p, err));
    }
    *declared = (attest_declared){ .numerics = d->numerics, .flags = d->flags & ~(uint32_t)ATTEST_PACKED_STATE };
    *covered = attest_declared_resolve(declared, p, d->outputs, why, len);
out:
    return status;
}

attest_status attest_exchange_judge(attest_result *result, const attest_prepared *prepared,
                                    const attest_bundle *outputs, const attest_declared *declared,
                                    const attest_suite *suite, attest_error *err)
{
    const attest_status status = attest_compare(result, prepared->truth, NULL, &prepared->c, outputs,
                                                &declared->numerics, declared->flags, 0, err);
    if (status == ATTEST_OK && suite)
        attest_gate_allow(result, suite, result->kernel, &prepared->c, attest_suite_draws(suite, prepared->line));
    return status;
}

static attest_status judge(attest_result *result, const attest_batch_request *request, const attest_exchanged *e,
                           const attest_suite *suite, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_bundle *inputs = NULL, *outputs = NULL;
    attest_prepared prepared = { .index = 0 };
    attest_declaration d;
    attest_declared declared;
    char text[ATTEST_DECLARATION];
    int covered;
    ATTEST_TRY(attest_exchange_declared(&declared, &d, &covered, result->why, sizeof result->why, &request->assumed,
                                        e->declare, &e->c.problem, err));
    result->verdict = ATTEST_SKIP;
    if (!covered || attest_exchange_skips(result->why, sizeof result->why, e, request->dir))
        goto out;
    ATTEST_TRY(attest_declaration_print(text, sizeof text, &d, err));
    reproduce(result, request, e, text);
    ATTEST_TRY(attest_bundle_new(&inputs, err));
    ATTEST_TRY(attest_bundle_new(&outputs, err));
    ATTEST_TRY(attest_exchange_load(inputs, outputs, e, request->dir, err));
    status = attest_prepare_inputs(&prepared, &e->c, inputs, err);
    inputs = NULL;
    if (status == ATTEST_OK)
        status = attest_exchange_judge(result, &prepared, outputs, &declared, suite, err);
out:
    attest_prepared_clear(&prepared);
    attest_bundle_free(outputs);
    attest_bundle_free(inputs);
    return status;
}

static void identify(attest_result *result, const attest_exchanged *e, const char *dir)
{
    const attest_tensor_id o = { ATTEST_KIND_ROLE, ATTEST_O };
    char file[ATTEST_EXCHANGE_FILE];
    attest_error err;
    if (attest_exchange_output(file, e, dir, o, &err) != ATTEST_OK || !*file)
        snprintf(file, sizeof file, "o.npy");
    attest_result_init(result);
    snprintf(result->kernel, sizeof result->kernel, "file");
    snprintf(result->file, sizeof result->file, "%s/%s", e->folder, file);
    attest_result_describe(result, &e->c, e->line, attest_case_hash(&e->c));
}

static int is_wanted(const attest_batch_request *request, const attest_exchanged *e)
{
    return (!request->where || attest_suite_has(&e->c, request->where)) &&
           (!request->cases || fnmatch(request->cases, e->folder, 0) == 0 || fnmatch(request->cases, e->line, 0) == 0);
}

attest_status attest_batch(attest_results *results, const attest_batch_request *request, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_exchanged *cases = NULL;
    rules r = { .name = "" };
    size_t count = 0;
    int taken = 0;
    ATTEST_TRY(attest_exchange_read(&cases, &count, request->dir, err));
    for (size_t i = 0; i < count; i++)
        taken += cases[i].taken = is_wanted(request, &cases[i]);
    if (taken == 0)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "no case of %s is wanted", request->dir));
    ATTEST_TRY(attest_exchange_check(cases, count, request->dir, err));
    for (size_t i = 0; i < count; i++) {
        attest_result result;
        if (!cases[i].taken)
            continue;
        identify(&result, &cases[i], request->dir);
        status = judge(&result, request, &cases[i], rules_of(&r, cases[i].suite), err);
        if (status != ATTEST_OK)
            ATTEST_TRY(attest_fail_prefix(err, status, cases[i].folder));
        ATTEST_TRY(attest_results_add(results, &result, err));
    }
out:
    attest_suite_clear(&r.suite);
    attest_exchange_free(cases, count);
    return status;
}
