/* runner.c - see runner.h. */
#include "verify/gate/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/draw/family.h"
#include "verify/gate/case_checks.h"
#include "verify/commands/cli.h"
#include "verify/judge/compare.h"
#include "verify/base/clock.h"

uint64_t attest_fnv(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * 0x100000001b3ull;
    return hash;
}

void attest_file_hash(char text[20], const char *path)
{
    unsigned char buffer[65536];
    uint64_t hash = ATTEST_FNV_START;
    size_t got;
    text[0] = '\0';
    FILE *in = fopen(path, "rb");
    if (!in)
        return;
    while ((got = fread(buffer, 1, sizeof buffer, in)) > 0)
        hash = attest_fnv(hash, buffer, got);
    if (!ferror(in))
        snprintf(text, 20, "%016llx", (unsigned long long)hash);
    fclose(in);
}

void attest_library_hash(char text[20], const char *library)
{
    attest_error err;
    char *path = NULL;
    if (!library && attest_worker_path(&path, &err) != ATTEST_OK)
        path = NULL;
    text[0] = '\0';
    if (library || path)
        attest_file_hash(text, library ? library : path);
    free(path);
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

/* Inputs that a draw keeps from most values, and where they go. */
static const struct {
    attest_role role;
    double factor, plus;
} alterations[] = { { ATTEST_SLOPE, 0.5, 0 },
                    { ATTEST_GAMMA, 0.5, 0 },
                    { ATTEST_Q_HEAD_LOGITS, 1, 120 },
                    { ATTEST_K_HEAD_LOGITS, 1, 120 } };

static attest_status alter(attest_prepared *prepared, attest_error *err)
{
    const attest_problem *p = &prepared->c.problem;
    attest_status status = ATTEST_OK;
    for (size_t k = 0; k < sizeof alterations / sizeof alterations[0]; k++) {
        const attest_tensor *from = attest_bundle_role(prepared->inputs, alterations[k].role);
        attest_tensor *to;
        if (!from)
            continue;
        if (!prepared->altered)
            ATTEST_TRY(attest_bundle_new(&prepared->altered, err));
        ATTEST_TRY(attest_bundle_add(prepared->altered, p,
                                     (attest_tensor_id){ ATTEST_KIND_ROLE, alterations[k].role }, 0, &to, err));
        for (int64_t at = 0; at < attest_tensor_count(to); at++)
            attest_store_bits(to, at, attest_from_f64(to->dtype, attest_load(from, at) * alterations[k].factor +
                                                                     alterations[k].plus));
    }
    if (prepared->altered) {
        ATTEST_TRY(attest_draw_missing(prepared->altered, &prepared->c, 0, 0, err));
        ATTEST_TRY(attest_truth_new(&prepared->altered_truth, p, prepared->altered, ATTEST_ENGINE_AUTO, err));
    }
out:
    return status;
}

/* A witness row for every 64th case: what judges is judged. */
static attest_status cross_examine(attest_prepared *prepared, attest_error *err)
{
    const attest_problem *p = &prepared->c.problem;
    const uint64_t hash = prepared->hash;
    int overlap = 1;
    if (hash % 64 != 0)
        return ATTEST_OK;
    const attest_status status =
        attest_truth_cross_examine(&overlap, prepared->truth, (int64_t)(hash >> 8 & 0xff) % p->b,
                                   (int64_t)(hash >> 16 & 0xff) % p->hq, (int64_t)(hash >> 24 & 0xffff) % p->n, err);
    if (status == ATTEST_OK && !overlap)
        return attest_fail_prefix(err, ATTEST_INTERNAL, "the witness disagrees with the engine");
    return status;
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
    ATTEST_TRY(alter(prepared, err));
    ATTEST_TRY(cross_examine(prepared, err));
out:
    if (status != ATTEST_OK)
        attest_prepared_clear(prepared);
    return status;
}

void attest_prepared_clear(attest_prepared *prepared)
{
    attest_truth_free(prepared->altered_truth);
    attest_bundle_free(prepared->altered);
    attest_truth_free(prepared->exp_truth);
    attest_truth_free(prepared->truth);
    attest_bundle_free(prepared->inputs);
    prepared->altered_truth = prepared->exp_truth = prepared->truth = NULL;
    prepared->altered = prepared->inputs = NULL;
}

attest_status attest_find_kernel(attest_subject *subject, const char *name, attest_error *err)
{
    const size_t count = attest_worker_kernel_count(subject->worker);
    if (!name && count == 1) {
        subject->index = 0;
        return ATTEST_OK;
    }
    for (size_t k = 0; name && k < count; k++)
        if (strcmp(attest_worker_kernel(subject->worker, k)->name, name) == 0) {
            subject->index = k;
            return ATTEST_OK;
        }
    return attest_fail(err, ATTEST_BAD_INPUT, "--kernel: no kernel '%s' in %s (it has %zu, the first is '%s')",
                       name ? name : "", subject->library ? subject->library : "the built-in library", count,
                       attest_worker_kernel(subject->worker, 0)->name);
}

void attest_subject_name(char *text, size_t len, const attest_subject *subject)
{
    const attest_kernel_facts *facts = attest_worker_kernel(subject->worker, subject->index);
    snprintf(text, len, "%s%s%s", subject->library ? subject->library : "", subject->library ? ":" : "", facts->name);
}

void attest_row_identify(attest_row *row, const attest_subject *subject, const char *line, uint64_t hash)
{
    const attest_kernel_facts *facts = attest_worker_kernel(subject->worker, subject->index);
    char name[512], quoted_name[1024], quoted_line[1200], quoted_program[512];
    attest_row_init(row);
    attest_subject_name(name, sizeof name, subject);
    snprintf(row->kernel, sizeof row->kernel, "%s", name);
    snprintf(row->kernel_version, sizeof row->kernel_version, "%.31s", facts->version);
    snprintf(row->file, sizeof row->file, "%.95s", facts->source);
    snprintf(row->file_hash, sizeof row->file_hash, "%s", subject->file_hash);
    snprintf(row->flags, sizeof row->flags, "%.159s", facts->build_flags);
    snprintf(row->device, sizeof row->device, "%.95s", facts->device);
    snprintf(row->line, sizeof row->line, "%s", line);
    snprintf(row->hash, sizeof row->hash, "%016llx", (unsigned long long)hash);
    attest_shell_quote(quoted_program, sizeof quoted_program, subject->program);
    attest_shell_quote(quoted_name, sizeof quoted_name, name);
    attest_shell_quote(quoted_line, sizeof quoted_line, line);
    snprintf(row->reproduction, sizeof row->reproduction, "%s replay --kernel %s %s", quoted_program, quoted_name,
             quoted_line);
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
static void hash_outputs(attest_row *row, const attest_problem *p, const attest_bundle *bundle)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_outputs(p, ids, ATTEST_MAX_TENSORS);
    uint64_t hash = ATTEST_FNV_START;
    for (size_t i = 0; i < count; i++) {
        const attest_tensor *t = attest_bundle_get(bundle, ids[i]);
        if (t)
            hash = attest_fnv(hash, t->data, attest_tensor_bytes(t));
    }
    snprintf(row->outputs, sizeof row->outputs, "%016llx", (unsigned long long)hash);
}

void attest_row_end(attest_row *row, const attest_run_result *run, uint32_t device, const attest_judge *judge)
{
    row->reasons |= run->reasons;
    row->seconds_kernel = run->seconds;
    snprintf(row->fp_state, sizeof row->fp_state, "%s", run->fp_state);
    if (run->state == ATTEST_RUN_DONE && run->status == ATTEST_OK && (run->reasons == 0 || judge))
        return;
    snprintf(row->why, sizeof row->why, "%s", run->why);
    switch (run->state) {
    case ATTEST_RUN_UNSUPPORTED: row->verdict = ATTEST_SKIP; break;
    case ATTEST_RUN_CRASH: row->verdict = ATTEST_CRASH; break;
    case ATTEST_RUN_TIMEOUT: row->verdict = ATTEST_TIMEOUT; break;
    case ATTEST_RUN_EXIT:
        row->verdict = ATTEST_CRASH;
        row->reasons |= ATTEST_REASON_EXIT;
        break;
    default:
        row->verdict = run->status == ATTEST_NO_DEVICE && device != ATTEST_CPU ? ATTEST_SKIP : ATTEST_FAIL;
        if (run->status != ATTEST_OK && row->verdict == ATTEST_FAIL)
            row->reasons |= ATTEST_REASON_KERNEL_ERROR;
    }
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
static attest_status judge_run(attest_row *row, attest_prepared *prepared, const attest_subject *subject,
                               const attest_bundle *bundle, const attest_judge *judge, attest_error *err)
{
    const attest_kernel_facts *facts = attest_worker_kernel(subject->worker, subject->index);
    attest_status status = ATTEST_OK;
    attest_declared declared;
    const double start = attest_now_seconds();
    if (judge) {
        ATTEST_TRY(judge->judge(judge->context, row, prepared, bundle, err));
    } else {
        ATTEST_TRY(attest_worker_declared(subject->worker, subject->index, &prepared->c.problem, &declared, err));
        ATTEST_TRY(attest_compare(row, prepared->truth, prepared->exp_truth, &prepared->c, bundle, &declared.numerics,
                                  declared.flags, facts->has_claim ? facts->claim_ulp : 0, err));
    }
    row->seconds_truth = attest_now_seconds() - start;
    hash_outputs(row, &prepared->c.problem, bundle);
out:
    return status;
}

attest_status attest_run_case(attest_row *row, int *supported, attest_prepared *prepared, const attest_subject *subject,
                              const attest_judge *judge, double timeout_s, attest_error *err)
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
    attest_row_identify(row, subject, prepared->line, prepared->hash);
    /* No answer (-1) is a finding, not a refusal: the run below asks again and makes it a row. */
    *supported = attest_worker_supports(subject->worker, subject->index, p, row->why, sizeof row->why) != 0;
    row->verdict = ATTEST_SKIP;
    if (!*supported)
        return ATTEST_OK;
    row->why[0] = '\0';
    ATTEST_TRY(attest_case_bundle(&bundle, prepared, facts, err));
    ATTEST_TRY(attest_worker_run(subject->worker, subject->index, p, bundle, timeout_s, &run, err));
    const int ended = run.state == ATTEST_RUN_DONE && run.status == ATTEST_OK;
    if (ended)
        ATTEST_TRY(judge_run(row, prepared, subject, bundle, judge, err));
    attest_row_end(row, &run, facts->device_type, judge);
    if (ended && !judge)
        ATTEST_TRY(attest_case_checks(row, prepared, subject, bundle, timeout_s, err));
out:
    attest_bundle_free(bundle);
    return status;
}
