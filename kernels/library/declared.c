/* declared.c - see declared.h. */
#include "kernels/library/declared.h"

#include "kernels/attest_float.h"

#include <stdio.h>
#include <string.h>

#define ERROR_MAX 0x1p-7 /* of a declared relative error: an ulp of bf16; above it a kernel would excuse itself */
#define COUNT_MAX 0x1p60
#define FUNCTION_ROUNDOFFS 9 /* unit roundoffs that the bounds give log and an undeclared exp: C-FUNCTIONS */

void attest_copy_struct(void *to, size_t size, const void *from)
{
    const uint32_t own = (uint32_t)size;
    uint32_t given;
    memcpy(&given, from, sizeof given);
    memset(to, 0, size);
    memcpy(to, from, given < own ? given : own);
    memcpy(to, &own, sizeof own);
}

int attest_numerics_check(const attest_numerics *n, char *why, size_t len)
{
    const struct {
        const char *name;
        uint32_t value, most;
    } enums[] = {
        { "schedule", n->schedule, ATTEST_SCHEDULE_CHUNK },   { "log2_domain", n->log2_domain, ATTEST_NO },
        { "cast_in_sum", n->cast_in_sum, ATTEST_NO },         { "p_rounding", n->p_rounding, ATTEST_ROUNDING_TRUNCATE },
        { "acc_truncates", n->acc_truncates, ATTEST_NO },     { "scale_dtype", n->scale_dtype, 1 + ATTEST_BF16 },
        { "state_dtype", n->state_dtype, 1 + ATTEST_BF16 },   { "empty_row", n->empty_row, ATTEST_EMPTY_ANY },
        { "division", n->division, ATTEST_DIVISION_RUNNING }, { "score_dtype", n->score_dtype, 1 + ATTEST_BF16 },
        { "compensated", n->compensated, ATTEST_NO },         { "score_acc", n->score_acc, 1 + ATTEST_BF16 },
        { "value_acc", n->value_acc, 1 + ATTEST_BF16 },       { "scaled_dtype", n->scaled_dtype, 1 + ATTEST_BF16 },
        { "decay_products", n->decay_products, ATTEST_NO }
    };
    const struct {
        const char *name;
        double value, most;
    } numbers[] = {
        { "tile", (double)n->tile, COUNT_MAX },           { "splits", (double)n->splits, COUNT_MAX },
        { "exp_error", n->exp_error, ERROR_MAX },         { "acc_unit", n->acc_unit, ERROR_MAX },
        { "block", (double)n->block, COUNT_MAX },         { "div_error", n->div_error, ERROR_MAX },
        { "score_unit", n->score_unit, ERROR_MAX },       { "value_unit", n->value_unit, ERROR_MAX },
        { "tanh_error", n->tanh_error, ERROR_MAX },       { "log_error", n->log_error, ERROR_MAX },
        { "sigmoid_error", n->sigmoid_error, ERROR_MAX }, { "score_block", (double)n->score_block, COUNT_MAX },
        { "expm1_error", n->expm1_error, ERROR_MAX }
    };
    for (size_t i = 0; i < sizeof enums / sizeof enums[0]; i++)
        if (enums[i].value > enums[i].most)
            return snprintf(why, len, "numerics.%s is %u; allowed are 0 to %u", enums[i].name, enums[i].value,
                            enums[i].most),
                   0;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!(numbers[i].value >= 0 && numbers[i].value <= numbers[i].most))
            return snprintf(why, len, "numerics.%s is %g; allowed are 0 to %g", numbers[i].name, numbers[i].value,
                            numbers[i].most),
                   0;
    return 1;
}

/* ---- what the bounds take ---------------------------------------------------------------------------------- */
typedef struct question {
    attest_declared *d;
    const attest_problem *p;
    uint32_t outputs;
    char *why;
    size_t len;
} question;

static int uncovered(const question *q, const char *what)
{
    snprintf(q->why, q->len, "unsupported declaration: no bound covers %s", what);
    return 0;
}

/* R-SCORE and R-SUM have one unit of accumulation: the largest, that of a type's own bits included. */
static void resolve_units(const question *q)
{
    attest_numerics *n = &q->d->numerics;
    const double units[] = { n->score_unit, n->value_unit, n->score_acc ? attest_unit_roundoff(n->score_acc - 1) : 0,
                             n->value_acc ? attest_unit_roundoff(n->value_acc - 1) : 0 };
    const double given = n->acc_unit > 0 ? n->acc_unit : attest_unit_roundoff(q->p->acc);
    double own = given;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (units[i] > own)
            n->acc_unit = own = units[i];
    if (own > given && given <= attest_unit_roundoff(q->p->acc)) { /* one of them says nothing of the other's range */
        if (!n->score_acc && n->score_unit <= given)
            n->score_acc = 1 + q->p->acc;
        if (!n->value_acc && n->value_unit <= given)
            n->value_acc = 1 + q->p->acc;
    }
}

/* R-MERGE and R-LSE take C-FUNCTIONS for the logarithm, R-FEATURE the error of exp for a sigmoid. */
static int resolve_functions(const question *q)
{
    attest_numerics *n = &q->d->numerics;
    const double most = FUNCTION_ROUNDOFFS * attest_unit_roundoff(q->p->acc);
    const uint32_t feature = q->p->axis[ATTEST_AXIS_FEATURE].value;
    const int logs = (q->outputs & ATTEST_GIVES_LSE) || n->schedule == ATTEST_SCHEDULE_SPLIT ||
                     n->schedule == ATTEST_SCHEDULE_UNKNOWN;
    if (n->log_error > most && logs)
        return uncovered(q, "a log of more than 4.5 ulp");
    if (feature != ATTEST_FEATURE_SILU && feature != ATTEST_FEATURE_SILU_UNIT)
        return 1;
    if (n->exp_error > 0 && n->sigmoid_error > n->exp_error)
        n->exp_error = n->sigmoid_error;
    else if (n->sigmoid_error > most && !(n->exp_error > 0))
        return uncovered(q, "a sigmoid of more than 4.5 ulp beside an exp that is not declared");
    return 1;
}

/* R-RUNNING is about weights that are not negative, and a quotient by their sum. */
static int resolve_division(const question *q)
{
    const uint32_t norm = q->p->axis[ATTEST_AXIS_NORM].value;
    const int quotient = norm == ATTEST_NORM_SUM || norm == ATTEST_NORM_SINK;
    if (q->d->numerics.division != ATTEST_DIVISION_RUNNING)
        return 1;
    if (norm == ATTEST_NORM_FLOOR || (quotient && q->p->axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_EXP))
        return uncovered(q, "a running mean of other weights than exp's, or over a floor");
    return 1;
}

/* R-ALIBI: what the row's constant cancels in. */
static int resolve_alibi(const question *q)
{
    const attest_setting *axis = q->p->axis;
    const int causal = axis[ATTEST_AXIS_MASK].value != ATTEST_MASK_FULL;
    if (!(q->d->flags & ATTEST_ALIBI_BY_KEY) || !axis[ATTEST_AXIS_ALIBI].value || !causal ||
        axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_EXP)
        return 1;
    if (axis[ATTEST_AXIS_NORM].value != ATTEST_NORM_SUM || axis[ATTEST_AXIS_EPS].value || axis[ATTEST_AXIS_CLAMP].value)
        return uncovered(q, "alibi by key beside a clamp, an eps, or another norm than sum");
    if (q->outputs & (ATTEST_GIVES_U | ATTEST_GIVES_Z) || q->d->numerics.schedule == ATTEST_SCHEDULE_DIRECT)
        return uncovered(q, "u and z of alibi by key, or such scores without their maximum taken off");
    return 1;
}

int attest_declared_resolve(attest_declared *declared, const attest_problem *p, uint32_t outputs, char *why, size_t len)
{
    const question q = { declared, p, outputs, why, len };
    resolve_units(&q);
    if (declared->flags & ATTEST_SERIAL_SUMS)
        declared->numerics.division = ATTEST_DIVISION_AFTER_SUM;
    return resolve_division(&q) && resolve_functions(&q) && resolve_alibi(&q);
}

int attest_declared_of(attest_declared *declared, attest_loaded k, const attest_problem *p, char *why, size_t len)
{
    const attest_numerics *own = attest_kernel_numerics(k, p);
    char wrong[200];
    *declared = (attest_declared){ .numerics = *k.kernel->numerics, .flags = k.kernel->flags };
    if (own)
        attest_copy_struct(&declared->numerics, sizeof declared->numerics, own);
    if (own && !attest_numerics_check(&declared->numerics, wrong, sizeof wrong))
        return snprintf(why, len, "unsupported declaration: of this problem, %s", wrong), 0;
    return attest_declared_resolve(declared, p, k.kernel->outputs, why, len);
}
