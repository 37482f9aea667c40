/* classify.c - the table of traits: what is declared, which probe infers it, how the two are compared and told. */
#include "verify/classify/classify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "verify/classify/classify_private.h"

/* ---- what is declared: 0 if nothing is ----------------------------------------------------------------------- */

typedef int declared_function(double *value, const attest_kernel_facts *facts, const probed_kernel *k);

#define NUMBER(name, field)                                                                                            \
    static int name(double *value, const attest_kernel_facts *facts, const probed_kernel *k)                           \
    {                                                                                                                  \
        (void)k;                                                                                                       \
        *value = (double)facts->numerics.field;                                                                        \
        return *value != 0;                                                                                            \
    }

NUMBER(of_schedule, schedule)
NUMBER(of_tile, tile)
NUMBER(of_exp_error, exp_error)
NUMBER(of_log2_domain, log2_domain)
NUMBER(of_cast_in_sum, cast_in_sum)
NUMBER(of_p_rounding, p_rounding)
NUMBER(of_acc_truncates, acc_truncates)
NUMBER(of_div_error, div_error)
NUMBER(of_scale_dtype, scale_dtype)
NUMBER(of_state_dtype, state_dtype)

/* Scores and values may be said to be coarser: the largest of what is declared of any sum. */
static int of_acc_unit(double *value, const attest_kernel_facts *facts, const probed_kernel *k)
{
    const attest_numerics *n = &facts->numerics;
    *value = n->acc_unit > 0 ? n->acc_unit : classify_unit(k);
    *value = fmax(*value, fmax(n->score_unit, n->value_unit));
    return n->acc_unit > 0 || k->path; /* else the type of acc is not known */
}

/* 0 is a declaration: as many as problem.splits says. */
static int of_splits(double *value, const attest_kernel_facts *facts, const probed_kernel *k)
{
    (void)k;
    *value = (double)facts->numerics.splits;
    return facts->numerics.schedule == ATTEST_SCHEDULE_SPLIT;
}

/* No flag: a declaration where it makes a difference that is seen. */
#define BY_ABSENCE 2
#define FLAG(name, bit)                                                                                                \
    static int name(double *value, const attest_kernel_facts *facts, const probed_kernel *k)                           \
    {                                                                                                                  \
        (void)k;                                                                                                       \
        *value = facts->flags & (bit) ? ATTEST_YES : ATTEST_NO;                                                        \
        return facts->flags & (bit) ? 1 : BY_ABSENCE;                                                                  \
    }

FLAG(of_ftz, ATTEST_FTZ)
FLAG(of_lse_base2, ATTEST_LSE_BASE2)
FLAG(of_lse_with_sink, ATTEST_LSE_WITH_SINK)
FLAG(of_packed_state, ATTEST_PACKED_STATE)
FLAG(of_masked_finite, ATTEST_MASKED_FINITE)

/* 0 is a declaration here. */
static int of_empty_row(double *value, const attest_kernel_facts *facts, const probed_kernel *k)
{
    (void)k;
    *value = (double)facts->numerics.empty_row;
    return *value != 0 ? 1 : BY_ABSENCE;
}

/* Promises: without the flag nothing is said. */
#define PROMISE(name, bit)                                                                                             \
    static int name(double *value, const attest_kernel_facts *facts, const probed_kernel *k)                           \
    {                                                                                                                  \
        (void)k;                                                                                                       \
        *value = ATTEST_YES;                                                                                           \
        return (facts->flags & (bit)) != 0;                                                                            \
    }

PROMISE(of_serial_sums, ATTEST_SERIAL_SUMS)
PROMISE(of_deterministic, ATTEST_DETERMINISTIC)
PROMISE(of_batch_invariant, ATTEST_BATCH_INVARIANT)

/* The ABI fixes both masks: 1 top-left, 2 bottom-right. */
static int of_causal(double *value, const attest_kernel_facts *facts, const probed_kernel *k)
{
    (void)facts, (void)k;
    *value = 1;
    return 1;
}

static int of_causal_br(double *value, const attest_kernel_facts *facts, const probed_kernel *k)
{
    of_causal(value, facts, k);
    *value = 2;
    return 1;
}

#define LONGEST_TILE 1e6 /* more keys are no tile */

/* ---- how values are told ------------------------------------------------------------------------------------- */

static void pick(char *text, size_t len, const char *const *names, size_t count, double value)
{
    snprintf(text, len, "%s", value >= 0 && value < (double)count ? names[(size_t)value] : "?");
}

#define PICK(name, ...)                                                                                                \
    static void name(char *text, size_t len, double value)                                                             \
    {                                                                                                                  \
        static const char *const names[] = { __VA_ARGS__ };                                                            \
        pick(text, len, names, sizeof names / sizeof names[0], value);                                                 \
    }

PICK(tell_schedule, "unknown", "two-pass", "online", "split", "direct", "recurrent", "chunk")
PICK(tell_answer, "unknown", "yes", "no")
PICK(tell_rounding, "unknown", "nearest", "truncate")
PICK(tell_type, "unknown", "f32", "f64", "f16", "bf16")
PICK(tell_empty, "zero", "nan", "mean", "any")
PICK(tell_corner, "", "top-left", "bottom-right")

static void tell_error(char *text, size_t len, double value)
{
    if (value > 0 && value < 1)
        snprintf(text, len, "2^%.3g", log2(value));
    else
        snprintf(text, len, "%.3g", value);
}

static void tell_tile(char *text, size_t len, double value)
{
    if (value > LONGEST_TILE)
        snprintf(text, len, "none");
    else
        snprintf(text, len, "%.0f", value);
}

static void tell_splits(char *text, size_t len, double value)
{
    if (value > 0)
        snprintf(text, len, "%.0f", value);
    else
        snprintf(text, len, "problem.splits");
}

/* ---- how the two are compared -------------------------------------------------------------------------------- */

typedef uint32_t compare_function(double declared, double inferred);

/* Errors; an inferred 0 is as good as any. */
static uint32_t by_error(double declared, double inferred)
{
    if (!(inferred <= declared * (1 + 0x1p-10)))
        return ATTEST_TRAIT_FAIL;
    return declared > 4 * inferred ? ATTEST_TRAIT_FINDING : ATTEST_TRAIT_AGREES;
}

/* Types, as their unit roundoffs. */
static uint32_t by_type(double declared, double inferred)
{
    return by_error(attest_unit_roundoff((uint32_t)declared - 1), attest_unit_roundoff((uint32_t)inferred - 1));
}

static uint32_t by_convention(double declared, double inferred)
{
    return declared == inferred ? ATTEST_TRAIT_AGREES : ATTEST_TRAIT_FAIL;
}

/* `any` is the looser answer, and `nan` is that of rows which hold NaN or 0. */
static uint32_t by_content(double declared, double inferred)
{
    const int covered = declared == ATTEST_EMPTY_ANY || (declared == ATTEST_EMPTY_NAN && inferred == ATTEST_EMPTY_ZERO);
    return declared != inferred && covered ? ATTEST_TRAIT_FINDING : by_convention(declared, inferred);
}

/* `yes` is the looser answer, by far. */
static uint32_t by_licence(double declared, double inferred)
{
    if (declared == inferred)
        return ATTEST_TRAIT_AGREES;
    return declared == ATTEST_YES ? ATTEST_TRAIT_FINDING : ATTEST_TRAIT_FAIL;
}

/* Toward zero is twice the error of to nearest (ATTEST_ROUNDING_TRUNCATE 2, NEAREST 1): looser, but within 4 times. */
static uint32_t by_truncation(double declared, double inferred)
{
    return by_error(declared == ATTEST_YES ? 2 : 1, inferred == ATTEST_YES ? 2 : 1);
}

/* By how many roundings a schedule adds: two-pass, online, split; direct, chunk, recurrent. */
static uint32_t by_schedule(double declared, double inferred)
{
    static const int rank[] = {
        [ATTEST_SCHEDULE_TWO_PASS] = 1, [ATTEST_SCHEDULE_ONLINE] = 2, [ATTEST_SCHEDULE_SPLIT] = 3,
        [ATTEST_SCHEDULE_DIRECT] = 1,   [ATTEST_SCHEDULE_CHUNK] = 2,  [ATTEST_SCHEDULE_RECURRENT] = 3
    };
    const size_t known = sizeof rank / sizeof rank[0];
    if (declared == inferred)
        return ATTEST_TRAIT_AGREES;
    if (declared >= (double)known) /* no schedule that there is */
        return ATTEST_TRAIT_FAIL;
    return rank[(size_t)declared] > rank[(size_t)inferred] ? ATTEST_TRAIT_FINDING : ATTEST_TRAIT_FAIL;
}

/* A tile longer than all that was asked is none; else the bound counts the declared tiles, and they must be those. */
static uint32_t by_tile(double declared, double inferred)
{
    if (inferred == INFINITY)
        return declared > LONGEST_TILE ? ATTEST_TRAIT_AGREES : ATTEST_TRAIT_FINDING;
    return by_convention(declared, inferred);
}

/* ---- the table ----------------------------------------------------------------------------------------------- */

typedef struct trait_row {
    const char *name;
    declared_function *declared;
    classify_probe *probe, *again;
    compare_function *compare;
    void (*tell)(char *text, size_t len, double value);
} trait_row;

static const trait_row table[] = {
    { "schedule", of_schedule, classify_schedule, classify_schedule_again, by_schedule,
      tell_schedule }, /* first: others read what it saw */
    { "tile", of_tile, classify_tile, classify_tile_again, by_tile, tell_tile },
    { "splits", of_splits, classify_splits, classify_splits_again, by_convention, tell_splits },
    { "lse_base2", of_lse_base2, classify_lse_base, classify_lse_base_again, by_convention, tell_answer },
    { "acc_unit", of_acc_unit, classify_acc_unit, classify_acc_unit_again, by_error,
      tell_error }, /* exp_error reads what these saw */
    { "acc_truncates", of_acc_truncates, classify_acc_truncates, classify_acc_truncates_again, by_truncation,
      tell_answer },
    { "serial_sums", of_serial_sums, classify_serial, classify_serial_again, by_convention, tell_answer },
    { "state_dtype", of_state_dtype, classify_state_dtype, classify_state_dtype_again, by_type, tell_type },
    { "p_rounding", of_p_rounding, classify_p_rounding, classify_p_rounding_again, by_error, tell_rounding },
    { "cast_in_sum", of_cast_in_sum, classify_cast_in_sum, classify_cast_in_sum_again, by_convention, tell_answer },
    { "log2_domain", of_log2_domain, classify_log2_domain, classify_log2_domain_again, by_licence, tell_answer },
    { "exp_error", of_exp_error, classify_exp_error, classify_exp_error_again, by_error, tell_error },
    { "scale_dtype", of_scale_dtype, classify_scale_dtype, classify_scale_dtype_again, by_type, tell_type },
    { "div_error", of_div_error, classify_div_error, classify_div_error_again, by_error, tell_error },
    { "ftz", of_ftz, classify_ftz, classify_ftz_again, by_licence, tell_answer },
    { "lse_with_sink", of_lse_with_sink, classify_lse_sink, classify_lse_sink_again, by_convention, tell_answer },
    { "empty_row", of_empty_row, classify_empty_row, classify_empty_row_again, by_content, tell_empty },
    { "packed_state", of_packed_state, classify_packed, classify_packed_again, by_convention, tell_answer },
    { "masked_finite", of_masked_finite, classify_masked_finite, classify_masked_finite_again, by_licence,
      tell_answer },
    { "causal", of_causal, classify_causal, classify_causal_again, by_convention, tell_corner },
    { "causal_br", of_causal_br, classify_causal_br, classify_causal_br_again, by_convention, tell_corner },
    { "deterministic", of_deterministic, classify_deterministic, classify_deterministic_again, by_convention,
      tell_answer },
    { "batch_invariant", of_batch_invariant, classify_batch, classify_batch_again, by_convention, tell_answer },
};

/* A declared tile that no probe fills: nothing is rescaled, and an online kernel is one of two passes. */
static int out_of_reach(const trait_row *row, const probed_kernel *k, const attest_kernel_facts *facts)
{
    const int64_t tile = facts->numerics.tile;
    if (tile < CLASSIFY_KEYS || k->tile > 0)
        return 0;
    return row->probe == classify_tile ? (double)tile <= LONGEST_TILE
           : row->probe == classify_schedule
               ? k->schedule == ATTEST_SCHEDULE_TWO_PASS && facts->numerics.schedule == ATTEST_SCHEDULE_ONLINE
               : 0;
}

/* What a probe sees of the trait; a reason if nothing. */
static attest_status ask_probe(inference *seen, classify_probe *probe, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *seen = (inference){ 0 };
    if (!*k->dead && k->path)
        status = probe(seen, k, err);
    if (!k->path)
        classify_hidden(seen, "the kernel serves none of the problems that are asked");
    if (*k->dead)
        classify_hidden(seen, "%s", k->dead);
    if (!seen->visible && !*seen->why)
        classify_hidden(seen, "the kernel serves none of the problems that show it");
    return status;
}

static uint32_t compare(const trait_row *row, double declared, const inference *seen)
{
    if (!seen->visible)
        return ATTEST_TRAIT_HIDDEN;
    return seen->value == seen->value ? row->compare(declared, seen->value) : ATTEST_TRAIT_FAIL;
}

/* Declared, or seen where nothing is. */
static int is_split(const attest_numerics *n, const probed_kernel *k)
{
    return (n->schedule != ATTEST_SCHEDULE_UNKNOWN ? n->schedule : k->schedule) == ATTEST_SCHEDULE_SPLIT;
}

/* The unit roundoff of a type that is declared narrower than acc. */
static double unit_of(const probed_kernel *k, uint32_t declared)
{
    const double unit = declared > 0 ? attest_unit_roundoff(declared - 1) : 0;
    return unit > classify_unit(k) ? unit : 0;
}

/* What storing scaled q and k in the declared type may do to a probe's scores, whose scale is 1: nothing where q and k
 * are numbers of that type, and log2(e) is in no factor. */
static double scaled_unit(const probed_kernel *k, const attest_numerics *n)
{
    const uint32_t type = n->scaled_dtype;
    if (!type || (n->log2_domain == ATTEST_NO && attest_format_of(k->types.in).p <= attest_format_of(type - 1).p))
        return 0;
    return unit_of(k, type);
}

/* The unit roundoff of what the parts of a split kernel leave, where it is stored in a narrower type. */
static double of_stored_parts(const attest_numerics *n, const probed_kernel *k)
{
    return is_split(n, k) ? unit_of(k, n->state_dtype) : 0;
}

/* R-MERGE: what merges, one after another, of the parts that a probe asks for may do to a mean: each by the lse of at
 * most CLASSIFY_MERGED keys, an exponential or a sigmoid, and what it stores.  Undeclared functions err by at most 4.5
 * ulp. */
static double of_merges(const attest_numerics *n, const probed_kernel *k)
{
    const double unit = classify_unit(k), plain = 9 * unit, size = log(CLASSIFY_MERGED + 1);
    if (!is_split(n, k))
        return 0;
    const double lse = (n->log_error > 0 ? n->log_error : plain) * (1 + size) + 12 * unit * size;
    const double weight = (n->exp_error > 0 ? n->exp_error : plain) + (n->sigmoid_error > 0 ? n->sigmoid_error : plain);
    return CLASSIFY_PARTS * (lse + weight + 4 * unit + of_stored_parts(n, k));
}

/* What declared roundings beside that of the trait may add to its error.  Scores that are stored look like sums of that
 * unit.  A finer sum of weights is rounded to acc before its logarithm.  A weight is read from a quotient of o and 1-o,
 * which has less than twice the error of a division.  Its argument may be x log2(e), rounded twice, |x| up to 80: the
 * probe takes that off, but where the declared error itself hides it.  Where weights are divided before they meet the
 * values, a mean has a product more.  What parts store may be rounded to the state's type before it is merged. */
static double beside(const trait_row *row, const attest_kernel_facts *facts, const probed_kernel *k)
{
    const attest_numerics *n = &facts->numerics;
    const int first = n->division == ATTEST_DIVISION_THEN_CAST || n->division == ATTEST_DIVISION_AFTER_CAST;
    const double parts = 4 * of_stored_parts(n, k);
    if (row->probe == classify_acc_unit)
        return parts + unit_of(k, n->score_dtype) + (k->coarse_weights && n->acc_unit > 0 ? classify_unit(k) : 0);
    if (row->probe == classify_exp_error)
        return parts + 2 * n->div_error + 2 * 80 * (unit_of(k, n->score_dtype) + 2 * scaled_unit(k, n)) +
               (n->log2_domain == ATTEST_YES && k->argument == 0 && n->exp_error >= 32 * classify_unit(k)
                    ? 2 * 80 * classify_unit(k)
                    : 0);
    return row->probe == classify_div_error ? (first ? classify_unit(k) : 0) + of_merges(n, k) : 0;
}

/* Two values look the same, and it declares one of them. */
static int may_be(const inference *seen, double declared)
{
    return seen->either != 0 && (declared == seen->value || declared == seen->either);
}

static double rounded_up(double x, double y) { return ceil(x / y); }

/* S parts are of whole tiles (of some 128 keys at most where none is declared; of single keys where one tile holds
 * all), so that the last parts may be empty.  Parts of KEYS/S keys, rounded down, leave less than S keys, which may
 * look like more parts. */
static int may_be_parts(const trait_row *row, double declared, const inference *seen, const attest_kernel_facts *facts)
{
    const int64_t own = facts->numerics.tile;
    const double tile = own >= CLASSIFY_KEYS ? 1 : own > 0 ? (double)own : 128;
    const double tiles = rounded_up(CLASSIFY_KEYS, tile), least = rounded_up(tiles, rounded_up(tiles, declared));
    const double most = declared < CLASSIFY_KEYS ? declared * CLASSIFY_KEYS / (CLASSIFY_KEYS - declared) : INFINITY;
    return row->probe == classify_splits && declared > 0 && seen->value >= least && seen->value <= most + 0.5;
}

/* Does what a probe sees contradict the declaration, beyond what its reading and those roundings may have made? */
static int contradicts(const trait_row *row, double declared, const inference *seen, const attest_kernel_facts *facts,
                       const probed_kernel *k)
{
    const double more = beside(row, facts, k);
    if (compare(row, declared, seen) != ATTEST_TRAIT_FAIL || may_be(seen, declared) ||
        may_be_parts(row, declared, seen, facts))
        return 0;
    if (row->probe == classify_serial && of_stored_parts(&facts->numerics, k) > 0) /* is it what is stored, or a sum? */
        return 0;
    if (seen->blind == 0 && more == 0)
        return 1;
    return !(seen->value <= fmax(seen->blind, declared + more) * (1 + 0x1p-10)); /* a NaN does */
}

static void tell(char *text, size_t len, const trait_row *row, const inference *seen)
{
    if (!seen->visible)
        snprintf(text, len, "-");
    else if (seen->value == seen->value)
        row->tell(text, len, seen->value);
    else
        snprintf(text, len, "another");
}

/* A contradiction of one probe is a verdict only if the second one contradicts the declaration as well. */
static attest_status confirm(attest_trait *t, const trait_row *row, probed_kernel *k, const attest_kernel_facts *facts,
                             double declared, attest_error *err)
{
    char value[48];
    inference second;
    const attest_status status = ask_probe(&second, row->again, k, err);
    if (contradicts(row, declared, &second, facts, k))
        return status;
    t->verdict = ATTEST_TRAIT_REMARK;
    tell(value, sizeof value, row, &second);
    if (second.visible)
        snprintf(t->why, sizeof t->why, "a second probe infers %s", value);
    else
        snprintf(t->why, sizeof t->why, "to a second probe not visible: %s", second.why);
    return status;
}

static attest_status ask_trait(attest_trait *t, const trait_row *row, probed_kernel *k,
                               const attest_kernel_facts *facts, attest_error *err)
{
    attest_status status = ATTEST_OK;
    inference seen;
    double declared = 0;
    snprintf(t->trait, sizeof t->trait, "%s", row->name);
    ATTEST_TRY(ask_probe(&seen, row->probe, k, err));
    if (seen.visible && out_of_reach(row, k, facts))
        classify_hidden(&seen, "no probe has more than %d keys", CLASSIFY_KEYS);
    const int how = row->declared(&declared, facts, k), is_declared = how == BY_ABSENCE ? seen.visible : how;
    if (seen.either != 0 && (!is_declared || may_be(&seen, declared)))
        seen.visible = 0;
    snprintf(t->declared, sizeof t->declared, "-");
    if (is_declared)
        row->tell(t->declared, sizeof t->declared, declared);
    tell(t->inferred, sizeof t->inferred, row, &seen);
    snprintf(t->why, sizeof t->why, "%s", seen.why);
    t->verdict = is_declared     ? compare(row, declared, &seen)
                 : !seen.visible ? ATTEST_TRAIT_HIDDEN
                                 : ATTEST_TRAIT_UNDECLARED;
    if (t->verdict == ATTEST_TRAIT_FAIL && !contradicts(row, declared, &seen, facts, k)) {
        t->verdict = ATTEST_TRAIT_HIDDEN;
        snprintf(t->why, sizeof t->why, "%s",
                 row->probe == classify_splits ? "parts of whole tiles may be fewer, or the last one shorter"
                                               : "roundings beside it may err so much: less is not to be seen");
    }
    if (t->verdict == ATTEST_TRAIT_FAIL)
        ATTEST_TRY(confirm(t, row, k, facts, declared, err));
out:
    return status;
}

/* probed_kernel.stated */
static int64_t stated_tile(const attest_numerics *n)
{
    const int unknown = n->schedule == ATTEST_SCHEDULE_UNKNOWN || (n->schedule == ATTEST_SCHEDULE_ONLINE && !n->tile);
    return unknown ? -1 : (int64_t)n->tile;
}

attest_status attest_classify(attest_traits *traits, attest_classify_fault *fault, attest_worker *worker, size_t index,
                              const char *name, double timeout_s, attest_error *err)
{
    attest_status status = ATTEST_OK, failed = ATTEST_OK;
    attest_error why;
    const attest_kernel_facts *facts = attest_worker_kernel(worker, index);
    probed_kernel k = {
        .worker = worker, .index = index, .outputs = facts->outputs, .timeout_s = timeout_s, .fault = fault
    };
    *fault = (attest_classify_fault){ .line = "" };
    k.stated = stated_tile(&facts->numerics);
    classify_begin(&k);
    for (size_t n = 0; n < sizeof table / sizeof table[0]; n++) {
        attest_trait t = { .verdict = ATTEST_TRAIT_HIDDEN };
        const attest_status asking = ask_trait(&t, &table[n], &k, facts, err);
        if (asking != ATTEST_OK) {
            snprintf(k.dead, sizeof k.dead, "not asked: %.100s", err->text);
            ATTEST_TRY(ask_trait(&t, &table[n], &k, facts, err));
            failed = asking;
            why = *err;
        }
        snprintf(t.kernel, sizeof t.kernel, "%s", name);
        ATTEST_TRY(attest_traits_add(traits, &t, err));
    }
out:
    if (status == ATTEST_OK && failed != ATTEST_OK) {
        *err = why;
        status = failed;
    }
    return status;
}
