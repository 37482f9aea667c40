/* runner.c - see runner.h. */
#include "verify/gate/runner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/door/door.h"
#include "kernels/hash.h"
#include "kernels/text.h"
#include "props/draw/draw.h"
#include "verify/base/base.h"
#include "verify/compare/compare.h"
#include "verify/gate/altered.h"
#include "verify/gate/case_checks.h"
#include "verify/gate/plan.h"

attest_status attest_library_hash(char text[20], const char *library, attest_error *err)
{
    char *path = NULL;
    attest_status status = ATTEST_OK;
    text[0] = '\0';
    if (!library)
        status = attest_worker_path(&path, err);
    if (status == ATTEST_OK && library && attest_door_is(library))
        attest_command_hash(text, library + strlen(ATTEST_DOOR_PREFIX));
    else if (status == ATTEST_OK)
        attest_file_hash(text, library ? library : path);
    free(path);
    return status;
}

/* The softmax that taylor:P with norm=sum truncates: same inputs, weight exp, center zero. */
static attest_status exp_counterpart(attest_prepared *prepared, attest_error *err)
{
    const attest_problem *p = &prepared->c.problem;
    attest_problem *softmax = &prepared->exp_problem;
    char why[256];
    if (attest_axis_value_of(p, ATTEST_AXIS_WEIGHT) != ATTEST_WEIGHT_TAYLOR ||
        attest_axis_value_of(p, ATTEST_AXIS_NORM) != ATTEST_NORM_SUM ||
        attest_axis_value_of(p, ATTEST_AXIS_STATE) != ATTEST_STATE_NONE)
        return ATTEST_OK;
    *softmax = *p;
    softmax->axis[ATTEST_AXIS_WEIGHT] = (attest_setting){ ATTEST_WEIGHT_EXP, 0, 0 };
    softmax->axis[ATTEST_AXIS_CENTER] = (attest_setting){ ATTEST_CENTER_ZERO, 0, 0 };
    if (!attest_truth_serves(softmax, why, sizeof why))
        return ATTEST_OK;
    return attest_truth_new(&prepared->exp_truth, softmax, prepared->inputs, ATTEST_ENGINE_AUTO, err);
}

/* A witness row for every 64th case: what judges is judged. */
static attest_status cross_examine(attest_prepared *prepared, attest_error *err)
{
    const attest_problem *p = &prepared->c.problem;
    const uint64_t hash = prepared->hash;
    int overlap = 1;
    if (hash % 64 != 0)
        return ATTEST_OK;
    const attest_status status = attest_truth_cross_examine(&overlap, prepared->truth,
                                                            (attest_row){ (int64_t)(hash >> 8 & 0xff) % p->b,
                                                                          (int64_t)(hash >> 16 & 0xff) % p->hq,
                                                                          (int64_t)(hash >> 24 & 0xffff) % p->n },
                                                            err);
    if (status == ATTEST_OK && !overlap)
        return attest_fail_prefix(err, ATTEST_INTERNAL, "the witness disagrees with the engine");
    return status;
}

attest_status attest_case_memory(uint64_t *bytes, const attest_problem *p, attest_error *err)
{
    const uint64_t mib = (uint64_t)1 << 20, keys = (uint64_t)p->m;
    const uint64_t rows = (uint64_t)(p->b * p->hq) * (uint64_t)(p->n < 256 ? p->n : 256);
    uint64_t tensors;
    const attest_status status = attest_problem_memory(p, &tensors, err);
    *bytes = 0;
    if (status != ATTEST_OK)
        return status;
    const uint64_t kept = rows > 512 * mib / (256 * keys) ? 512 * mib : rows * 256 * keys;
    const uint64_t rest = 64 * mib + 2560 * keys + 3 * kept;
    *bytes = tensors > (UINT64_MAX - rest) / 12 ? UINT64_MAX : rest + 12 * tensors;
    return ATTEST_OK;
}

attest_status attest_prepare_inputs(attest_prepared *prepared, const attest_case *c, attest_bundle *given,
                                    attest_error *err)
{
    attest_status status = ATTEST_OK;
    uint64_t bytes;
    memset(prepared, 0, sizeof *prepared);
    prepared->inputs = given;
    prepared->c = *c;
    prepared->hash = attest_case_hash(c);
    ATTEST_TRY(attest_case_print(prepared->line, sizeof prepared->line, c, err));
    attest_reference_case(prepared->line);
    ATTEST_TRY(attest_family_check(c, err));
    ATTEST_TRY(attest_problem_memory(&c->problem, &bytes, err));
    if (!given)
        ATTEST_TRY(attest_bundle_new(&prepared->inputs, err));
    ATTEST_TRY(attest_draw_missing(prepared->inputs, c, 0, 0, err));
    ATTEST_TRY(attest_truth_new(&prepared->truth, &prepared->c.problem, prepared->inputs, ATTEST_ENGINE_AUTO, err));
out:
    if (status != ATTEST_OK)
        attest_prepared_clear(prepared);
    return status;
}

attest_status attest_prepare(attest_prepared *prepared, const attest_case *c, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_prepare_inputs(prepared, c, NULL, err));
    ATTEST_TRY(exp_counterpart(prepared, err));
    ATTEST_TRY(attest_alter(prepared, NULL, err));
    ATTEST_TRY(cross_examine(prepared, err));
out:
    if (status != ATTEST_OK)
        attest_prepared_clear(prepared);
    return status;
}

void attest_prepared_clear(attest_prepared *prepared)
{
    attest_altered_clear(prepared);
    if (prepared->larger)
        attest_prepared_clear(prepared->larger);
    free(prepared->larger);
    attest_truth_free(prepared->exp_truth);
    attest_truth_free(prepared->truth);
    attest_bundle_free(prepared->inputs);
    attest_memo_free(prepared->memo);
    prepared->exp_truth = prepared->truth = NULL;
    prepared->inputs = NULL;
    prepared->memo = NULL;
    prepared->larger = NULL;
}

attest_status attest_find_kernel(attest_subject *subject, const char *name, attest_error *err)
{
    const size_t count = attest_worker_kernel_count(subject->worker);
    size_t k = 0;
    while (k < count && (name ? strcmp(attest_worker_kernel(subject->worker, k)->name, name) != 0 : count > 1))
        k++;
    if (k == count)
        return attest_fail(err, ATTEST_BAD_INPUT, "--kernel: no kernel '%s' in %s (it has %zu, the first is '%s')",
                           name ? name : "", subject->library ? subject->library : "the built-in library", count,
                           attest_worker_kernel(subject->worker, 0)->name);
    subject->index = k;
    const attest_kernel_facts *facts = attest_worker_kernel(subject->worker, k);
    const attest_status status = attest_name_fits(subject->library, facts->name, err);
    return status == ATTEST_OK ? attest_device_settings(facts->device_type, err) : status;
}

static const attest_kernel_facts *facts_of(const attest_subject *subject)
{
    return subject->facts ? subject->facts : attest_worker_kernel(subject->worker, subject->index);
}

/* 1 if all of it is in the text. */
static int name_of(char *text, size_t len, const char *library, const char *kernel)
{
    const char *path = library ? library : "";
    const int program = attest_door_is(path);
    char name[4096 + 80], whole[4 * sizeof name]; /* a byte is shown as four at most */
    const int needed = snprintf(name, sizeof name, "%s%s%s", path, *path && !program ? ":" : "", program ? "" : kernel);
    attest_text_clean(text, len, name);
    attest_text_clean(whole, sizeof whole, name);
    return needed < (int)sizeof name && strcmp(text, whole) == 0;
}

void attest_subject_name(char *text, size_t len, const attest_subject *subject)
{
    name_of(text, len, subject->library, facts_of(subject)->name);
}

attest_status attest_name_fits(const char *library, const char *kernel, attest_error *err)
{
    attest_result result;
    const int program = library && attest_door_is(library);
    if (name_of(result.kernel, sizeof result.kernel, library, kernel ? kernel : "k"))
        return ATTEST_OK;
    return attest_fail(err, ATTEST_BAD_INPUT,
                       "%.100s..: %zu bytes; the name of a kernel, %s%s, has at most %zu: give a shorter %s", library,
                       strlen(library), program ? "exec:COMMAND" : "LIBRARY:",
                       program  ? ""
                       : kernel ? kernel
                                : "NAME",
                       sizeof result.kernel - 1, program ? "command" : "path");
}

static void print_axis(char *text, size_t len, const attest_problem *p, uint32_t axis)
{
    attest_axis_print(text, len, axis, &p->axis[axis]);
}

void attest_result_describe(attest_result *result, const attest_case *c, const char *line, uint64_t hash)
{
    const attest_problem *p = &c->problem;
    const attest_family_info *family = attest_family_of(c);
    const char *colon = strchr(c->family, ':');
    const size_t len = colon ? (size_t)(colon - c->family) : strlen(c->family);
    snprintf(result->problem, sizeof result->problem, "%s", line);
    snprintf(result->hash, sizeof result->hash, "%016llx", (unsigned long long)hash);
    snprintf(result->variant, sizeof result->variant, "%s", c->preset);
    print_axis(result->weight, sizeof result->weight, p, ATTEST_AXIS_WEIGHT);
    print_axis(result->mask, sizeof result->mask, p, ATTEST_AXIS_MASK);
    print_axis(result->norm, sizeof result->norm, p, ATTEST_AXIS_NORM);
    print_axis(result->update, sizeof result->update, p, ATTEST_AXIS_UPDATE);
    snprintf(result->family, sizeof result->family, "%.*s", (int)len, c->family);
    snprintf(result->family_argument, sizeof result->family_argument, "%s", colon ? colon + 1 : "");
    result->family_constant = family && family->constant;
    result->family_repeats = family && family->repeats;
    result->seed = (int64_t)c->seed;
    result->b = p->b;
    result->hq = p->hq;
    result->hkv = p->hkv;
    result->n = p->n;
    result->m = p->m;
    result->d = p->d;
    result->e = p->e;
    snprintf(result->in, sizeof result->in, "%s", attest_dtype_name(p->in));
    snprintf(result->acc, sizeof result->acc, "%s", attest_dtype_name(p->acc));
    snprintf(result->p, sizeof result->p, "%s", attest_dtype_name(p->p));
    snprintf(result->out, sizeof result->out, "%s", attest_dtype_name(p->out));
    result->scale = p->scale;
}

size_t attest_subject_options(char *command, size_t room, const attest_subject *subject)
{
    char declare[2 * ATTEST_DECLARATION];
    size_t n = strlen(command);
    if (subject->declare && *subject->declare) {
        attest_shell_quote(declare, sizeof declare, subject->declare);
        n += (size_t)snprintf(command + n, room - n, " --declare %s", declare);
    }
    if (subject->timeout > 0 && subject->timeout != ATTEST_TIMEOUT_SECONDS && n < room)
        n += (size_t)snprintf(command + n, room - n, " --timeout %g", subject->timeout);
    const char *sandbox = attest_worker_sandbox_asked();
    if (sandbox && n < room)
        n += (size_t)snprintf(command + n, room - n, " --sandbox=%.20s", sandbox);
    return n < room ? n : room - 1;
}

void attest_result_identify(attest_result *result, const attest_subject *subject, const attest_prepared *prepared)
{
    const attest_kernel_facts *facts = facts_of(subject);
    char name[512], quoted_name[1024], quoted_line[1200], quoted_program[512];
    const size_t room = sizeof result->reproduction;
    attest_result_init(result);
    attest_subject_name(name, sizeof name, subject);
    snprintf(result->kernel, sizeof result->kernel, "%s", name);
    snprintf(result->kernel_version, sizeof result->kernel_version, "%.31s", facts->version);
    snprintf(result->file, sizeof result->file, "%.95s", facts->source);
    snprintf(result->file_hash, sizeof result->file_hash, "%s", subject->file_hash);
    snprintf(result->flags, sizeof result->flags, "%.159s", facts->build_flags);
    snprintf(result->device, sizeof result->device, "%.95s", facts->device);
    if (!prepared)
        return;
    attest_result_describe(result, &prepared->c, prepared->line, prepared->hash);
    attest_shell_quote(quoted_program, sizeof quoted_program, subject->program);
    attest_shell_quote(quoted_name, sizeof quoted_name, name);
    attest_shell_quote(quoted_line, sizeof quoted_line, prepared->line);
    snprintf(result->reproduction, room, "%s replay --kernel %s", quoted_program, quoted_name);
    const size_t n = attest_subject_options(result->reproduction, room, subject);
    snprintf(result->reproduction + n, room - n, " %s", quoted_line);
}

/* Adds the outputs that the kernel gives, the variant has and compare will judge. */
static attest_status add_outputs(attest_bundle *bundle, const attest_problem *p, const attest_kernel_facts *facts,
                                 attest_error *err)
{
    static const struct {
        uint32_t bit;
        attest_role role;
    } roles[] = { { ATTEST_GIVES_O, ATTEST_O },
                  { ATTEST_GIVES_U, ATTEST_U },
                  { ATTEST_GIVES_Z, ATTEST_Z },
                  { ATTEST_GIVES_LSE, ATTEST_LSE } };
    attest_status status = ATTEST_OK;
    const int packed = (facts->flags & ATTEST_PACKED_STATE) != 0;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    char why[256];
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        const attest_tensor_id id = { ATTEST_KIND_ROLE, roles[i].role };
        if ((facts->outputs & roles[i].bit) && attest_problem_has(p, id, why, sizeof why))
            ATTEST_TRY(attest_bundle_add(bundle, p, id, 0, NULL, err));
    }
    if (!(facts->outputs & ATTEST_GIVES_STATE))
        return ATTEST_OK;
    const size_t count = attest_problem_outputs(p, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count; i++)
        if (ids[i].kind != ATTEST_KIND_ROLE)
            ATTEST_TRY(attest_bundle_add(bundle, p, ids[i], packed, NULL, err));
out:
    return status;
}

/* FNV-1a over the outputs, in the order of their numbers. */
static void hash_outputs(attest_result *result, const attest_problem *p, const attest_bundle *bundle)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_outputs(p, ids, ATTEST_MAX_TENSORS);
    uint64_t hash = ATTEST_FNV_START;
    for (size_t i = 0; i < count; i++) {
        const attest_tensor *t = attest_bundle_get(bundle, ids[i]);
        if (t)
            hash = attest_fnv(hash, t->data, attest_tensor_bytes(t));
    }
    snprintf(result->outputs, sizeof result->outputs, "%016llx", (unsigned long long)hash);
}

int attest_result_settle(attest_result *result, attest_status status, const attest_error *err)
{
    if (status == ATTEST_INTERNAL)
        return 0;
    result->verdict = status == ATTEST_IO ? ATTEST_CRASH : ATTEST_UNDECIDED;
    snprintf(result->why, sizeof result->why, "%.250s", err->text);
    return 1;
}

int attest_result_of_stop(const attest_result *result)
{
    return attest_stop_signal() && (result->verdict == ATTEST_TIMEOUT || result->verdict == ATTEST_CRASH);
}

int attest_result_death(attest_result *result, const attest_run_result *run, const char *what)
{
    if (run->state == ATTEST_RUN_DONE || run->state == ATTEST_RUN_UNSUPPORTED)
        return 0;
    result->verdict = run->state == ATTEST_RUN_TIMEOUT ? ATTEST_TIMEOUT : ATTEST_CRASH;
    result->reasons |= run->state == ATTEST_RUN_EXIT ? ATTEST_REASON_EXIT : 0;
    result->others = run->others;
    snprintf(result->why, sizeof result->why, "%s%s%.190s", what, *what ? ": " : "", run->why);
    return 1;
}

void attest_result_end(attest_result *result, const attest_run_result *run, uint32_t device, const attest_judge *judge)
{
    result->reasons |= run->reasons;
    result->seconds_kernel = run->seconds;
    snprintf(result->fp_state, sizeof result->fp_state, "%s", run->fp_state);
    if (run->state == ATTEST_RUN_DONE && run->status == ATTEST_OK && (run->reasons == 0 || judge))
        return;
    if (attest_result_death(result, run, ""))
        return;
    snprintf(result->why, sizeof result->why, "%s", run->why);
    const int none = run->state == ATTEST_RUN_UNSUPPORTED || (run->status == ATTEST_NO_DEVICE && device != ATTEST_CPU);
    result->verdict = none ? ATTEST_SKIP : ATTEST_FAIL;
    if (run->status != ATTEST_OK && result->verdict == ATTEST_FAIL)
        result->reasons |= ATTEST_REASON_KERNEL_ERROR;
}

/* Row number of the full layout that a non-decreasing multi-index names; moves it to the next one. */
static int64_t next_full_row(int64_t *multi, int degree, int64_t dim)
{
    int64_t row = 0;
    for (int k = 0; k < degree; k++)
        row = row * dim + multi[k];
    int at = degree - 1;
    while (at >= 0 && multi[at] == dim - 1)
        at--;
    if (at >= 0) {
        const int64_t next = multi[at] + 1;
        for (int k = at; k < degree; k++)
            multi[k] = next;
    }
    return row;
}

/* A symmetric state, full, into the packed layout: [b,g,rows(,e)]. */
static void pack_state(const attest_tensor *packed, const attest_tensor *full, int degree, int64_t dim)
{
    const int64_t width = full->rank == 4 ? full->shape[3] : 1;
    for (int64_t head = 0; head < packed->shape[0] * packed->shape[1]; head++) {
        int64_t multi[ATTEST_MAX_ORDER] = { 0 };
        for (int64_t row = 0; row < packed->shape[2]; row++) {
            const int64_t from = next_full_row(multi, degree, dim);
            for (int64_t c = 0; c < width; c++)
                attest_store_bits(packed, (head * packed->shape[2] + row) * width + c,
                                  attest_load_bits(full, (head * full->shape[2] + from) * width + c));
        }
    }
}

/* The inputs as the kernel reads them, its own: what it writes to them nobody else sees. */
static attest_status add_inputs(attest_bundle *bundle, const attest_prepared *prepared, int packed, attest_error *err)
{
    const attest_problem *p = &prepared->c.problem;
    attest_status status = ATTEST_OK;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count; i++) {
        const attest_tensor *from = attest_bundle_get(prepared->inputs, ids[i]);
        attest_tensor *to;
        ATTEST_TRY(attest_bundle_add(bundle, p, ids[i], packed, &to, err));
        if (packed && ids[i].kind != ATTEST_KIND_ROLE)
            pack_state(to, from, (int)ids[i].index, attest_feature_dim(p));
        else
            memcpy(to->data, from->data, attest_tensor_bytes(to)); /* of a smaller batch: the first entries */
    }
out:
    return status;
}

attest_status attest_case_bundle(attest_bundle **bundle, const attest_prepared *prepared,
                                 const attest_kernel_facts *kernel, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_bundle_new(bundle, err));
    ATTEST_TRY(add_inputs(*bundle, prepared, (kernel->flags & ATTEST_PACKED_STATE) != 0, err));
    ATTEST_TRY(add_outputs(*bundle, &prepared->c.problem, kernel, err));
out:
    return status;
}

/* The numbers of a run that ended well. */
static attest_status judge_run(attest_result *result, attest_prepared *prepared, const attest_subject *subject,
                               const attest_bundle *bundle, const attest_judge *judge, attest_error *err)
{
    const attest_kernel_facts *facts = attest_worker_kernel(subject->worker, subject->index);
    attest_status status = ATTEST_OK;
    attest_declared declared;
    const double start = attest_now_seconds();
    if (judge) {
        ATTEST_TRY(judge->judge(judge->context, result, prepared, bundle, err));
    } else {
        ATTEST_TRY(attest_worker_declared(subject->worker, subject->index, &prepared->c.problem, &declared, err));
        ATTEST_TRY(attest_memo_compare(prepared->memo, 0, result, prepared->truth, prepared->exp_truth, &prepared->c,
                                       bundle, &declared.numerics, declared.flags,
                                       facts->has_claim ? facts->claim_ulp : 0, NULL, err));
    }
    result->seconds_truth = attest_now_seconds() - start;
    hash_outputs(result, &prepared->c.problem, bundle);
out:
    return status;
}

/* How the first run looked, where that may be why a result is wrong; and what it had to be without. */
static void tell_disguise(attest_result *result, const attest_run_result *run)
{
    const size_t n = strlen(result->why);
    if (attest_result_failed(result) && run->disguise[0])
        snprintf(result->why + n, sizeof result->why - n, " (in the first run %s)", run->disguise);
    else if (run->unshifted)
        attest_result_note(result, "refuses data that begins off 64 bytes");
    if (run->left && attest_result_judged_good(result))
        attest_result_note(result, "run() leaves processes, which were ended");
}

void attest_result_taken_back(attest_result *result, const char *why)
{
    char no[128];
    snprintf(no, sizeof no, "%.127s", why);
    result->verdict = ATTEST_SKIP;
    snprintf(result->why, sizeof result->why, "supports() said yes when it was asked first, and then no: %s", no);
}

attest_status attest_run_case(attest_result *result, int *supported, attest_prepared *prepared,
                              const attest_subject *subject, const attest_judge *judge, double timeout_s,
                              attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_problem *p = &prepared->c.problem;
    attest_kernel_facts asked = *attest_worker_kernel(subject->worker, subject->index);
    const attest_kernel_facts *facts = &asked;
    attest_bundle *bundle = NULL;
    attest_run_result run;
    memset(&run, 0, sizeof run);
    if (judge)
        asked.outputs &= judge->outputs;
    attest_result_identify(result, subject, prepared);
    /* No answer (-1) is a finding, not a refusal: the run below asks again and makes it a result. */
    const int served = attest_worker_supports(subject->worker, subject->index, p, result->why, sizeof result->why);
    *supported = served != 0;
    result->verdict = ATTEST_SKIP;
    if (!*supported)
        return ATTEST_OK;
    result->why[0] = '\0';
    ATTEST_TRY(attest_case_bundle(&bundle, prepared, facts, err));
    ATTEST_TRY(attest_worker_run(subject->worker, subject->index, p, bundle, timeout_s, &run, err));
    const int ended = run.state == ATTEST_RUN_DONE && run.status == ATTEST_OK;
    if (ended)
        ATTEST_TRY(judge_run(result, prepared, subject, bundle, judge, err));
    if (ended && subject->look)
        ATTEST_TRY(subject->look->look(subject->look->context, result, facts, prepared, bundle, err));
    attest_result_end(result, &run, facts->device_type, judge);
    tell_disguise(result, &run);
    *supported = run.state != ATTEST_RUN_UNSUPPORTED; /* where supports() gave no answer before */
    if (run.state == ATTEST_RUN_UNSUPPORTED && served > 0) {
        *supported = 1;
        attest_result_taken_back(result, run.why);
    }
    if (ended && !judge)
        ATTEST_TRY(attest_case_checks(result, prepared, subject, bundle, timeout_s, err));
out:
    attest_bundle_free(bundle);
    return status;
}
