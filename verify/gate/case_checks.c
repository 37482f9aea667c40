/* case_checks.c - see case_checks.h. */
#include "verify/gate/case_checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "verify/compare/compare.h"
#include "verify/gate/altered.h"

/* ---- comparing --------------------------------------------------------------------------------------------------- */
static const attest_role row_roles[] = { ATTEST_O, ATTEST_U, ATTEST_Z, ATTEST_LSE };

/* Elements [from,to) in C order have the same bits in both; else `where` says where not. */
static int same_elements(char where[ATTEST_WHERE], attest_tensor_id id, const attest_tensor *was,
                         const attest_tensor *is, int64_t from, int64_t to)
{
    for (int64_t at = from; at < to; at++) {
        const uint64_t p = attest_load_bits(was, at), q = attest_load_bits(is, at);
        char name[32], index[96] = "";
        size_t n = 0;
        if (p == q)
            continue;
        attest_tensor_id_print(name, sizeof name, id);
        for (int axis = 0; axis < is->rank; axis++)
            n += (size_t)snprintf(index + n, sizeof index - n, "%s%lld", axis ? "," : "",
                                  (long long)(at / is->stride[axis] % is->shape[axis]));
        snprintf(where, ATTEST_WHERE, "%s[%s] was %a, is %a", name, index, attest_to_f64(was->dtype, p),
                 attest_to_f64(is->dtype, q));
        return 0;
    }
    return 1;
}

/* Row (b,h,i) of every row output. */
static int same_row(char where[ATTEST_WHERE], const attest_bundle *was, const attest_bundle *is, int64_t b, int64_t h,
                    int64_t i)
{
    for (size_t r = 0; r < sizeof row_roles / sizeof row_roles[0]; r++) {
        const attest_tensor *x = attest_bundle_role(was, row_roles[r]), *y = attest_bundle_role(is, row_roles[r]);
        const int64_t at = x ? attest_offset(x, b, h, i, 0) : 0, width = x && x->rank == 4 ? x->shape[3] : 1;
        if (x && y && !same_elements(where, (attest_tensor_id){ ATTEST_KIND_ROLE, row_roles[r] }, x, y, at, at + width))
            return 0;
    }
    return 1;
}

int attest_same_outputs(char where[ATTEST_WHERE], const attest_problem *p, const attest_bundle *was,
                        const attest_bundle *is)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_outputs(p, ids, ATTEST_MAX_TENSORS);
    for (size_t k = 0; k < count; k++) {
        const attest_tensor *x = attest_bundle_get(was, ids[k]), *y = attest_bundle_get(is, ids[k]);
        if (x && y && !same_elements(where, ids[k], x, y, 0, attest_tensor_count(y)))
            return 0;
    }
    return 1;
}

static int has_others(const attest_bundle *outputs)
{
    return attest_bundle_role(outputs, ATTEST_U) || attest_bundle_role(outputs, ATTEST_Z) ||
           attest_bundle_role(outputs, ATTEST_LSE);
}

/* Nothing was found yet, and the kernel came back. */
static int is_sound(const attest_result *result)
{
    return !result->reasons && result->verdict != ATTEST_CRASH && result->verdict != ATTEST_TIMEOUT;
}

void attest_result_find(attest_result *result, int64_t reason, const char *what, const char *where)
{
    result->verdict = ATTEST_FAIL;
    result->reasons |= reason;
    snprintf(result->why, sizeof result->why, "%s: %.180s", what, where);
}

/* Runs the kernel once more.  *usable: it finished and said so.  A crash or a hang is one; a refusal is none. */
static attest_status run_again(int *usable, attest_result *result, const attest_subject *subject,
                               const attest_problem *p, const attest_bundle *bundle, double timeout_s, const char *what,
                               attest_error *err)
{
    attest_run_result run = { 0 };
    const attest_status status = attest_worker_run(subject->worker, subject->index, p, bundle, timeout_s, &run, err);
    *usable = status == ATTEST_OK && run.state == ATTEST_RUN_DONE && run.status == ATTEST_OK;
    if (status == ATTEST_OK)
        attest_result_death(result, &run, what);
    return status;
}

/* ---- poison ------------------------------------------------------------------------------------------------------ */

/* Of the last query that every head has (lens_q): what must be NaN where it is one itself, or, eight = 1, reads one in
 * k or v of 8 bits.  An infinite value of e5m2 may stay infinite.  Nothing is computed, the pattern is judged. */
static attest_status check_last_query(attest_result *result, const attest_prepared *prepared,
                                      const attest_subject *subject, const attest_bundle *run, int eight,
                                      attest_error *err)
{
    const attest_problem *p = &prepared->c.problem;
    const attest_tensor *o = attest_bundle_role(run, ATTEST_O);
    const int infinite = eight && attest_kv_dtype(p) == ATTEST_F8_E5M2;
    attest_status status = ATTEST_OK;
    attest_kernel_facts plain = *attest_worker_kernel(subject->worker, subject->index); /* truth reads states in full */
    attest_bundle *inputs = NULL;
    attest_truth *truth = NULL;
    attest_declared declared;
    attest_element *elements = calloc((size_t)p->e, sizeof *elements);
    if (!elements)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld elements", (long long)p->e);
    ATTEST_TRY(attest_worker_declared(subject->worker, subject->index, p, &declared, err));
    plain.flags &= ~(uint32_t)ATTEST_PACKED_STATE;
    ATTEST_TRY(eight ? attest_nonfinite_bundle(&inputs, prepared, &plain, 1, err)
                     : attest_poison_bundle(&inputs, prepared, &plain, err));
    ATTEST_TRY(attest_truth_new(&truth, p, inputs, ATTEST_ENGINE_AUTO, err));
    for (int64_t bh = 0; bh < p->b * p->hq && !result->reasons; bh++) {
        const int64_t b = bh / p->hq, h = bh % p->hq;
        const int64_t i = attest_bundle_lengths(p, prepared->inputs, b).queries - 1;
        if (i < (eight ? 0 : attest_poison_cut(p, attest_poison_length(p, prepared->inputs, b))))
            continue;
        ATTEST_TRY(attest_judge_row(elements, NULL, truth, &declared.numerics, declared.flags,
                                    (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, o, (attest_row){ b, h, i }, err));
        for (int64_t c = 0; c < p->e && !result->reasons; c++)
            if (elements[c].class == ATTEST_CLASS_NO_TRUTH && elements[c].ratio_hi > 1 &&
                !(infinite && isinf(attest_load(o, attest_offset(o, b, h, i, c)))))
                attest_result_find(result, ATTEST_REASON_NAN_PATTERN,
                                   eight ? "a NaN or an infinity in k or v of 8 bits" : "a query of NaN",
                                   "o is a number");
    }
out:
    attest_truth_free(truth);
    attest_bundle_free(inputs);
    free(elements);
    return status;
}

static attest_status check_nonfinite(attest_result *result, const attest_prepared *prepared,
                                     const attest_subject *subject, double timeout_s, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_bundle *run = NULL;
    int usable;
    ATTEST_TRY(attest_nonfinite_bundle(&run, prepared, attest_worker_kernel(subject->worker, subject->index), 0, err));
    ATTEST_TRY(run_again(&usable, result, subject, &prepared->c.problem, run, timeout_s, "with NaN of 8 bits", err));
    if (usable) /* a kernel may refuse NaN */
        ATTEST_TRY(check_last_query(result, prepared, subject, run, 1, err));
out:
    attest_bundle_free(run);
    return status;
}

static attest_status check_poison(attest_result *result, const attest_prepared *prepared, const attest_subject *subject,
                                  const attest_bundle *before, double timeout_s, attest_error *err)
{
    const attest_problem *p = &prepared->c.problem;
    attest_status status = ATTEST_OK;
    attest_bundle *after = NULL;
    const attest_kernel_facts *kernel = attest_worker_kernel(subject->worker, subject->index);
    const attest_tensor *mask = attest_bundle_role(prepared->inputs, ATTEST_MASK);
    attest_declared declared;
    char where[ATTEST_WHERE];
    int same = 1, usable;
    ATTEST_TRY(attest_worker_declared(subject->worker, subject->index, p, &declared, err));
    const int free_rows = attest_empty_row_is_free(declared.numerics.empty_row); /* without a key, of what is hidden */
    ATTEST_TRY(attest_poison_bundle(&after, prepared, kernel, err));
    ATTEST_TRY(run_again(&usable, result, subject, p, after, timeout_s, "with poisoned tokens", err));
    if (!usable) /* a kernel may refuse NaN */
        goto out;
    for (int64_t b = 0; b < p->b; b++) {
        const int64_t len = attest_poison_length(p, prepared->inputs, b), cut = attest_poison_cut(p, len);
        for (int64_t i = 0; i < p->n && i < cut && same; i++) {
            int64_t first, last;
            attest_visible(p, attest_bundle_lengths(p, prepared->inputs, b), i, &first, &last);
            for (int64_t h = 0; h < p->hq && last <= cut && same; h++)
                same = (free_rows && attest_masks_all(mask, b, h, i, first, last)) ||
                       attest_poison_seen(prepared, (attest_row){ b, h, i }) || same_row(where, before, after, b, h, i);
        }
    }
    if (same)
        ATTEST_TRY(check_last_query(result, prepared, subject, after, 0, err));
    else
        attest_result_find(result, ATTEST_REASON_POISON,
                           isnan(attest_poison_value(kernel))
                               ? "a token that the row does not see, made NaN, changes it"
                               : "a token that the row does not see, made 1024, its query NaN, changes it",
                           where);
out:
    attest_bundle_free(after);
    return status;
}

/* ---- o alone ----------------------------------------------------------------------------------------------------- */

static attest_status check_alone(attest_result *result, const attest_prepared *prepared, const attest_subject *subject,
                                 const attest_bundle *whole, double timeout_s, attest_error *err)
{
    attest_kernel_facts only_o = *attest_worker_kernel(subject->worker, subject->index);
    const attest_problem *p = &prepared->c.problem;
    attest_status status = ATTEST_OK;
    attest_bundle *alone = NULL;
    char where[ATTEST_WHERE] = "it reports an error";
    int usable;
    only_o.outputs = ATTEST_GIVES_O;
    ATTEST_TRY(attest_case_bundle(&alone, prepared, &only_o, err));
    ATTEST_TRY(run_again(&usable, result, subject, p, alone, timeout_s, "asked for o alone", err));
    if (is_sound(result) && !(usable && attest_same_outputs(where, p, whole, alone)))
        attest_result_find(result, ATTEST_REASON_ALONE, "asked for o alone", where);
out:
    attest_bundle_free(alone);
    return status;
}

/* ---- batch ------------------------------------------------------------------------------------------------------- */

/* Batch entry 0 as a case of its own, on the same numbers. */
static attest_status check_batch(attest_result *result, const attest_prepared *prepared, const attest_subject *subject,
                                 const attest_bundle *whole, double timeout_s, attest_error *err)
{
    attest_prepared one = { .c = prepared->c, .inputs = prepared->inputs };
    attest_status status = ATTEST_OK;
    attest_bundle *alone = NULL;
    char where[ATTEST_WHERE];
    int usable;
    one.c.problem.b = 1;
    ATTEST_TRY(attest_case_bundle(&alone, &one, attest_worker_kernel(subject->worker, subject->index), err));
    ATTEST_TRY(run_again(&usable, result, subject, &one.c.problem, alone, timeout_s, "batch entry 0 alone", err));
    if (usable && !attest_same_outputs(where, &one.c.problem, whole, alone))
        attest_result_find(result, ATTEST_REASON_BATCH, "batch entry 0 alone has other bits", where);
out:
    attest_bundle_free(alone);
    return status;
}

/* The worst element of a run that fails where the first did not, with its figures. */
static void take_worst(attest_result *to, const attest_result *from)
{
    memcpy(to->worst, from->worst, sizeof to->worst);
    memcpy(to->got, from->got, sizeof to->got);
    memcpy(to->truth, from->truth, sizeof to->truth);
    to->abs_lo = from->abs_lo;
    to->abs_hi = from->abs_hi;
    to->ulp_lo = from->ulp_lo;
    to->ulp_hi = from->ulp_hi;
    to->ratio_lo = from->ratio_lo;
    to->ratio_hi = from->ratio_hi;
    to->bound = from->bound;
    to->term_score = from->term_score;
    to->term_exp = from->term_exp;
    to->term_cast = from->term_cast;
    to->term_accumulation = from->term_accumulation;
    to->term_division = from->term_division;
}

/* `judged` of a further run, called `what`, fails: so does the case, with the worst element of this run. */
static void find_failed(attest_result *result, const attest_result *judged, int64_t reasons, const char *what)
{
    if (judged->verdict != ATTEST_FAIL)
        return;
    if (is_sound(result))
        take_worst(result, judged);
    attest_result_find(result, reasons, what, judged->why);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* Runs of altered inputs at most, each with values for the keys only whose loss no run before it would show. */
#define ALTERED_RUNS 8
/* The next run is worth its time if the last one made fewer by at least one in so many. */
#define ALTERED_GAIN 8

static size_t unseen(const unsigned char *keys, size_t count)
{
    size_t left = 0;
    for (size_t j = 0; j < count; j++)
        left += keys[j] == ATTEST_KEY_VISIBLE;
    return left;
}

/* One run of the altered inputs; the keys whose loss it would show are added to `keys`.  `stage`: 1 the first, 2 the
 * others, which `keys` tells apart. */
static attest_status run_altered(attest_result *result, const attest_prepared *prepared, int stage,
                                 const attest_subject *subject, const attest_bundle *before, unsigned char *keys,
                                 double timeout_s, attest_error *err)
{
    static const char *const words[] = { "with slope and gamma halved, sq and sk raised by 120",
                                         "with slope and gamma halved, sq and sk raised by 120, one value a key" };
    const char *what = words[prepared->c.problem.m >= ATTEST_MANY_KEYS];
    const attest_prepared other = { .c = prepared->c, .inputs = prepared->altered };
    const attest_kernel_facts *kernel = attest_worker_kernel(subject->worker, subject->index);
    attest_status status = ATTEST_OK;
    attest_bundle *outputs = NULL;
    attest_declared declared;
    char where[ATTEST_WHERE];
    int usable;
    attest_result judged;
    attest_result_init(&judged);
    ATTEST_TRY(attest_case_bundle(&outputs, &other, kernel, err));
    ATTEST_TRY(run_again(&usable, result, subject, &other.c.problem, outputs, timeout_s, what, err));
    if (!usable)
        goto out;
    ATTEST_TRY(attest_worker_declared(subject->worker, subject->index, &prepared->c.problem, &declared, err));
    ATTEST_TRY(attest_memo_compare(prepared->memo, stage, &judged, prepared->altered_truth, NULL, &prepared->c, outputs,
                                   &declared.numerics, declared.flags, 0, keys, err));
    find_failed(result, &judged,
                attest_same_outputs(where, &other.c.problem, before, outputs) ? ATTEST_REASON_IGNORED_ARGUMENT
                                                                              : judged.reasons,
                what);
    if (judged.keys_seen > result->keys_seen)
        result->keys_seen = judged.keys_seen;
out:
    attest_bundle_free(outputs);
    return status;
}

static attest_status check_altered(attest_result *result, const attest_prepared *prepared,
                                   const attest_subject *subject, const attest_bundle *before, double timeout_s,
                                   attest_error *err)
{
    const attest_problem *p = &prepared->c.problem;
    const size_t count = (size_t)(p->b * p->hkv * p->m);
    attest_prepared again = *prepared;
    attest_status status = ATTEST_OK;
    size_t left = 0, last;
    unsigned char *keys = calloc(count + 1, 1);
    again.altered = NULL;
    again.altered_truth = NULL;
    if (!keys)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu keys", count);
    ATTEST_TRY(run_altered(result, prepared, 1, subject, before, keys, timeout_s, err));
    if (p->m < ATTEST_MANY_KEYS)
        goto out;
    left = unseen(keys, count);
    for (int run = 1; run < ALTERED_RUNS && left > 0 && is_sound(result); run++) {
        ATTEST_TRY(attest_alter(&again, keys, err));
        ATTEST_TRY(run_altered(result, &again, 2, subject, before, keys, timeout_s, err));
        attest_altered_clear(&again);
        last = left;
        left = unseen(keys, count);
        if ((last - left) * ALTERED_GAIN < last)
            break;
    }
out:
    attest_altered_clear(&again);
    free(keys);
    return status;
}

/* ---- strides ----------------------------------------------------------------------------------------------------- */

void attest_result_note(attest_result *result, const char *text)
{
    if (!result->reasons && !result->why[0])
        snprintf(result->why, sizeof result->why, "%s", text);
}

static attest_status check_layout(attest_result *result, const attest_prepared *prepared, const attest_subject *subject,
                                  const attest_bundle *before, double timeout_s, attest_error *err)
{
    static const char what[] = "with other strides";
    const attest_kernel_facts *kernel = attest_worker_kernel(subject->worker, subject->index);
    const attest_problem *p = &prepared->c.problem;
    attest_status status = ATTEST_OK;
    attest_bundle *after = NULL;
    char where[ATTEST_WHERE];
    attest_run_result run;
    attest_declared declared;
    attest_result judged;
    attest_result_init(&judged);
    ATTEST_TRY(attest_case_bundle(&after, prepared, kernel, err));
    ATTEST_TRY(attest_worker_declared(subject->worker, subject->index, p, &declared, err));
    ATTEST_TRY(attest_worker_run_strided(subject->worker, subject->index, p, after, timeout_s, &run, err));
    if (run.state == ATTEST_RUN_UNSUPPORTED || (run.state == ATTEST_RUN_DONE && run.status == ATTEST_UNSUPPORTED)) {
        attest_result_note(result, "refuses tensors that are not in C order");
        goto out;
    }
    if (attest_result_death(result, &run, what))
        goto out;
    if (run.status != ATTEST_OK || run.reasons)
        attest_result_find(result, ATTEST_REASON_LAYOUT, what, run.why);
    else if (kernel->flags & ATTEST_DETERMINISTIC && !attest_same_outputs(where, p, before, after))
        attest_result_find(result, ATTEST_REASON_LAYOUT, what, where);
    else if (!(kernel->flags & ATTEST_DETERMINISTIC))
        ATTEST_TRY(attest_compare(&judged, prepared->truth, NULL, &prepared->c, after, &declared.numerics,
                                  declared.flags, 0, err));
    find_failed(result, &judged, ATTEST_REASON_LAYOUT, what);
    if (run.near)
        attest_result_note(result, "offsets beyond 2^32 elements not tried: no address space");
out:
    attest_bundle_free(after);
    return status;
}

/* ---- among others ------------------------------------------------------------------------------------------------ */

/* What the last entries and heads of the larger run hold, as outputs of the case. */
static attest_status extract(attest_bundle **small, const attest_prepared *prepared, const attest_kernel_facts *kernel,
                             const attest_bundle *large, attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_outputs(&prepared->c.problem, ids, ATTEST_MAX_TENSORS);
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_case_bundle(small, prepared, kernel, err));
    for (size_t k = 0; k < count; k++) {
        const attest_tensor *to = attest_bundle_get(*small, ids[k]), *from = attest_bundle_get(large, ids[k]);
        if (to && from)
            attest_extract(to, from);
    }
out:
    return status;
}

/* How many times as much a run takes: a kernel may use all of its time for the case. */
static double times_larger(const attest_problem *larger, const attest_problem *p)
{
    return (double)(larger->b * larger->hq) / (double)(p->b * p->hq);
}

static attest_status check_among(attest_result *result, attest_prepared *prepared, const attest_subject *subject,
                                 const attest_bundle *before, double timeout_s, attest_error *err)
{
    static const char what[] = "as the last of more batch entries and heads";
    const attest_kernel_facts *kernel = attest_worker_kernel(subject->worker, subject->index);
    attest_status status = ATTEST_OK;
    attest_bundle *outputs = NULL, *small = NULL;
    attest_declared declared;
    attest_result judged;
    attest_run_result run;
    char text[ATTEST_WHERE];
    attest_result_init(&judged);
    ATTEST_TRY(attest_embed(prepared, err));
    const attest_problem *p = &prepared->larger->c.problem;
    if (!prepared->larger->inputs || attest_worker_supports(subject->worker, subject->index, p, text, sizeof text) == 0)
        goto out;
    ATTEST_TRY(attest_case_bundle(&outputs, prepared->larger, kernel, err));
    ATTEST_TRY(attest_worker_run(subject->worker, subject->index, p, outputs,
                                 timeout_s * times_larger(p, &prepared->c.problem), &run, err));
    if (attest_result_death(result, &run, what) || run.state != ATTEST_RUN_DONE || run.status != ATTEST_OK)
        goto out;
    if (run.reasons) {
        attest_result_find(result, run.reasons, what, run.why);
        goto out;
    }
    ATTEST_TRY(extract(&small, prepared, kernel, outputs, err));
    if (attest_same_outputs(text, &prepared->c.problem, before, small))
        goto out;
    ATTEST_TRY(attest_worker_declared(subject->worker, subject->index, p, &declared, err));
    ATTEST_TRY(attest_compare(&judged, prepared->truth, NULL, &prepared->c, small, &declared.numerics, declared.flags,
                              0, err));
    find_failed(result, &judged, judged.reasons, what);
out:
    attest_bundle_free(small);
    attest_bundle_free(outputs);
    return status;
}

static attest_status check_bits(attest_result *result, const attest_prepared *prepared, const attest_subject *subject,
                                const attest_bundle *outputs, double timeout_s, attest_error *err)
{
    const uint32_t flags = attest_worker_kernel(subject->worker, subject->index)->flags;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(check_poison(result, prepared, subject, outputs, timeout_s, err));
    if (is_sound(result) && has_others(outputs))
        ATTEST_TRY(check_alone(result, prepared, subject, outputs, timeout_s, err));
    if (is_sound(result) && flags & ATTEST_BATCH_INVARIANT && prepared->c.problem.b > 1)
        ATTEST_TRY(check_batch(result, prepared, subject, outputs, timeout_s, err));
out:
    return status;
}

attest_status attest_case_checks(attest_result *result, attest_prepared *prepared, const attest_subject *subject,
                                 const attest_bundle *outputs, double timeout_s, attest_error *err)
{
    const uint32_t flags = attest_worker_kernel(subject->worker, subject->index)->flags;
    attest_status status = ATTEST_OK;
    if (prepared->altered && is_sound(result))
        ATTEST_TRY(check_altered(result, prepared, subject, outputs, timeout_s, err));
    if (flags & ATTEST_DETERMINISTIC && is_sound(result))
        ATTEST_TRY(check_bits(result, prepared, subject, outputs, timeout_s, err));
    if (is_sound(result))
        ATTEST_TRY(check_layout(result, prepared, subject, outputs, timeout_s, err));
    if (attest_kv_scaled(&prepared->c.problem) && attest_bundle_role(outputs, ATTEST_O) && is_sound(result))
        ATTEST_TRY(check_nonfinite(result, prepared, subject, timeout_s, err));
    if (is_sound(result))
        ATTEST_TRY(check_among(result, prepared, subject, outputs, timeout_s, err));
out:
    return status;
}
