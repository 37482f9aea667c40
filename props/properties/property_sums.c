/* property_sums.c - how u, z, o and lse of one row belong together, and the degrees of T_P. */
#include "props/properties/property_list.h"

#include "props/properties/values.h"

#include "kernels/attest_float.h"

#include <math.h>

/* ---- o z = u, lse = ln z ---------------------------------------------------------------------------------------- */

static int applies_quotient(const attest_problem *p, const attest_prop_kernel *k)
{
    const uint32_t gates = prop_axis(p, ATTEST_AXIS_GATES);
    return (k->outputs & (ATTEST_GIVES_U | ATTEST_GIVES_LSE)) && (k->outputs & ATTEST_GIVES_Z) &&
           (gates == ATTEST_GATES_NONE || gates == ATTEST_GATES_IN) && !prop_axis(p, ATTEST_AXIS_UPDATE);
}

/* What o is u divided by, and how far that may be from the real one; 0 if the norm divides by nothing of the kind. */
static int divisor_of(double *divisor, double *error, const attest_trial *t, const values_row *row, double z,
                      double bound)
{
    const attest_problem *p = &t->c.problem;
    const double eps = p->axis[ATTEST_AXIS_EPS].number, least = p->axis[ATTEST_AXIS_NORM].number;
    *error = bound;
    switch (prop_axis(p, ATTEST_AXIS_NORM)) {
    case ATTEST_NORM_SUM: *divisor = prop_axis(p, ATTEST_AXIS_EPS) ? z + eps : z; break;
    case ATTEST_NORM_SINK: *divisor = z + exp(values_at(t->inputs, ATTEST_SINK, row->h, 0, 0, 0)); break;
    case ATTEST_NORM_FLOOR: *divisor = fmax(z, least); break;
    case ATTEST_NORM_NONE:
        *divisor = 1;
        *error = 0;
        return 1;
    case ATTEST_NORM_LENGTH:
        *divisor = (double)(row->last - row->first);
        *error = 0;
        return row->last > row->first;
    default: return 0;
    }
    *error += 0x1p-50 * (fabs(z) + fabs(*divisor)); /* a sum, an exp */
    return isfinite(*divisor);
}

static void compare_quotient(attest_finding *found, const attest_trial *t,
                             const double *const bound[ATTEST_TENSOR_ROLES], const values_row *row)
{
    const attest_problem *p = &t->c.problem;
    double divisor, error;
    const int64_t at = values_index(p, ATTEST_Z, row, 0);
    const double z = values_output(t->outputs, ATTEST_Z, row, 0);
    if (!divisor_of(&divisor, &error, t, row, z, bound[ATTEST_Z][at]))
        return;
    for (int64_t c = 0; c < p->e; c++) {
        const double o = values_output(t->outputs, ATTEST_O, row, c), u = values_output(t->outputs, ATTEST_U, row, c);
        const double o_bound = bound[ATTEST_O][at * p->e + c], u_bound = bound[ATTEST_U][at * p->e + c];
        const double slack = 0x1p-50 * (fabs(o * divisor) + fabs(u));
        values_add(found, ATTEST_U, row, c, u, o * divisor,
                   u_bound + o_bound * fabs(divisor) + error * (fabs(o) + o_bound) + slack);
    }
}

/* With a center the center itself stands between lse and z. */
static void compare_lse(attest_finding *found, const attest_trial *t, const double *const bound[ATTEST_TENSOR_ROLES],
                        const values_row *row)
{
    const attest_problem *p = &t->c.problem;
    const int64_t at = values_index(p, ATTEST_Z, row, 0);
    const double z = values_output(t->outputs, ATTEST_Z, row, 0), z_bound = bound[ATTEST_Z][at];
    const double unit = t->kernel.flags & ATTEST_LSE_BASE2 ? M_LOG2E : 1;
    const int with_sink = prop_axis(p, ATTEST_AXIS_NORM) == ATTEST_NORM_SINK &&
                          (t->kernel.flags & ATTEST_LSE_WITH_SINK);
    if (!(z > z_bound) || !isfinite(z) || with_sink || prop_axis(p, ATTEST_AXIS_CENTER))
        return;
    const double want = log(z) * unit;
    values_add(found, ATTEST_LSE, row, 0, values_output(t->outputs, ATTEST_LSE, row, 0), want,
               bound[ATTEST_LSE][at] + (z_bound / (z - z_bound)) * unit * (1 + 0x1p-50) + 0x1p-50 * (1 + fabs(want)));
}

static attest_status check_quotient(attest_finding *found, attest_trial *trial, attest_error *err)
{
    static const attest_role roles[] = { ATTEST_O, ATTEST_U, ATTEST_Z, ATTEST_LSE };
    const double *bound[ATTEST_TENSOR_ROLES] = { NULL };
    attest_status status = ATTEST_OK;
    for (size_t k = 0; k < sizeof roles / sizeof roles[0]; k++)
        ATTEST_TRY(attest_trial_bounds(&bound[roles[k]], trial, roles[k], err));
    for (int64_t number = 0; bound[ATTEST_Z] && number < values_row_count(&trial->c.problem); number++) {
        const values_row row = values_row_of(&trial->c.problem, trial->inputs, number);
        if (bound[ATTEST_O] && bound[ATTEST_U])
            compare_quotient(found, trial, bound, &row);
        if (bound[ATTEST_LSE])
            compare_lse(found, trial, bound, &row);
    }
out:
    return status;
}

/* o and lse are those of larger sums than u and z. */
static void violate_quotient(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    static const attest_role roles[] = { ATTEST_O, ATTEST_LSE };
    (void)p;
    (void)inputs;
    for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++) {
        const attest_tensor *t = attest_bundle_role(outputs, roles[r]);
        for (int64_t at = 0; t && at < attest_tensor_count(t); at++) {
            const double x = attest_load(t, at);
            attest_store_bits(t, at, attest_from_f64(t->dtype, x + 3 + 3 * fabs(x)));
        }
    }
}

const attest_property attest_property_lse_of_z = {
    "lse-of-z",
    "o is u over what the norm divides by, and lse is ln z",
    "kernels that give z with u or lse; norms sum, sink, floor, none, length; gates none or in; lse without a center",
    "the run's bounds (R-JUDGE), roundings of doubles",
    ATTEST_NEEDS_BOUNDS,
    applies_quotient,
    check_quotient,
    violate_quotient
};

/* ---- Lagrange's remainder --------------------------------------------------------------------------------------- */

#define ELEMENTWISE (1u << ATTEST_FEATURE_IDENTITY | 1u << ATTEST_FEATURE_RELU)
enum { CENTERS = ATTEST_CENTER_MID + 1 }; /* those that center_of() knows */

static int applies_lagrange(const attest_problem *p, const attest_prop_kernel *k)
{
    return prop_axis(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_TAYLOR && prop_feature_in(p, ELEMENTWISE) &&
           prop_axis(p, ATTEST_AXIS_CENTER) < CENTERS && (k->outputs & (ATTEST_GIVES_U | ATTEST_GIVES_Z)) &&
           !prop_axis(p, ATTEST_AXIS_ROPE) && !prop_axis(p, ATTEST_AXIS_CAP) && !prop_has_bias(p) &&
           !prop_axis(p, ATTEST_AXIS_CLAMP) && !prop_axis(p, ATTEST_AXIS_FILTER) && !prop_axis(p, ATTEST_AXIS_DECAY) &&
           !prop_axis(p, ATTEST_AXIS_STATE);
}

/* The row's center, and the error of a score minus it. */
static double center_of(double *error, const attest_trial *t, const values_row *row)
{
    double least = INFINITY, most = -INFINITY;
    *error = 0;
    for (int64_t j = row->first; j < row->last; j++) {
        double one;
        const double s = values_score(&t->c.problem, t->inputs, row, j, &one);
        least = fmin(least, s);
        most = fmax(most, s);
        *error = fmax(*error, 2 * one + 0x1p-51 * fabs(s));
    }
    const double centers[] = { [ATTEST_CENTER_ZERO] = 0,
                               [ATTEST_CENTER_MAX] = most,
                               [ATTEST_CENTER_MIN] = least,
                               [ATTEST_CENTER_MID] = (least + most) / 2 };
    _Static_assert(sizeof centers / sizeof centers[0] == CENTERS,
                   "each center that applies_lagrange() takes has a row");
    return centers[prop_axis(&t->c.problem, ATTEST_AXIS_CENTER)];
}

/* |e^x - T_P(x)| and what the doubles here err, for an x known to within `error`. */
static double remainder_of(double x, double error, uint32_t order)
{
    const double y = fabs(x) + error;
    double term = 1;
    for (uint32_t n = 1; n <= order + 1; n++)
        term *= y / n;
    const double exact = term * exp(fmax(0, x + error)), evaluated = exp(x) * (expm1(error) + 0x1p-51);
    return (exact + evaluated) * (1 + 0x1p-40);
}

/* z (c = -1) or channel c of u against the sum of e^x, or of e^x v. */
static void compare_lagrange(attest_finding *found, const attest_trial *t, const double *bound, const values_row *row,
                             int64_t c)
{
    const attest_problem *p = &t->c.problem;
    const attest_role role = c < 0 ? ATTEST_Z : ATTEST_U;
    const int64_t channel = c < 0 ? 0 : c;
    double error, one, sum = 0, absolute = 0, rest = 0;
    const double center = center_of(&error, t, row), roundings = (double)(row->last - row->first + 2) * 0x1p-52;
    for (int64_t j = row->first; j < row->last; j++) {
        const double x = values_score(p, t->inputs, row, j, &one) - center;
        const double v = c < 0 ? 1 : values_at(t->inputs, ATTEST_V, row->b, row->g, j, c);
        sum += exp(x) * v;
        absolute += exp(x) * fabs(v);
        rest += remainder_of(x, error, p->axis[ATTEST_AXIS_WEIGHT].order) * fabs(v);
    }
    const double tolerance = rest * (1 + 0x1p-40) + roundings * absolute;
    if (isfinite(tolerance) && isfinite(sum))
        values_add(found, role, row, channel, values_output(t->outputs, role, row, channel), sum,
                   tolerance + bound[values_index(p, role, row, channel)]);
}

static attest_status check_lagrange(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    const int gated = prop_axis(p, ATTEST_AXIS_GATES) != ATTEST_GATES_NONE;
    const double *u_bound, *z_bound;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_trial_bounds(&u_bound, trial, ATTEST_U, err));
    ATTEST_TRY(attest_trial_bounds(&z_bound, trial, ATTEST_Z, err));
    for (int64_t number = 0; number < values_row_count(p); number++) {
        const values_row row = values_row_of(p, trial->inputs, number);
        if (z_bound)
            compare_lagrange(found, trial, z_bound, &row, -1);
        for (int64_t c = 0; u_bound && !gated && c < p->e; c++)
            compare_lagrange(found, trial, u_bound, &row, c);
    }
out:
    return status;
}

static void violate_sums(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    static const attest_role roles[] = { ATTEST_U, ATTEST_Z };
    for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++) {
        const attest_tensor *t = attest_bundle_role(outputs, roles[r]);
        for (int64_t number = 0; t && number < values_row_count(p); number++) {
            const values_row row = values_row_of(p, inputs, number);
            const int64_t width = roles[r] == ATTEST_U ? p->e : 1;
            for (int64_t c = 0; c < width; c++) {
                const double x = values_output(outputs, roles[r], &row, c);
                attest_store_bits(t, number * width + c, attest_from_f64(t->dtype, 16 + 16 * fabs(x)));
            }
        }
    }
}

const attest_property attest_property_lagrange = {
    "lagrange",
    "u and z of taylor:P are those of exp, within Lagrange's remainder of each key",
    "taylor with any center; features identity, relu; no rope, cap, alibi, bias, clamp, filter, decay, given states; u "
    "without gates",
    "A1.2: |e^x - T_P(x)| <= |x|^(P+1)/(P+1)! max(1,e^x); the run's bound; doubles to 2^-51",
    ATTEST_NEEDS_BOUNDS,
    applies_lagrange,
    check_lagrange,
    violate_sums
};

/* ---- T_P = T_(P-1) + x^P/P! ------------------------------------------------------------------------------------- */

static int applies_orders(const attest_problem *p, const attest_prop_kernel *k)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    return weight->value == ATTEST_WEIGHT_TAYLOR && weight->order > 0 && !prop_axis(p, ATTEST_AXIS_CENTER) &&
           (k->outputs & (ATTEST_GIVES_U | ATTEST_GIVES_Z));
}

static attest_status check_orders(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const uint32_t order = trial->c.problem.axis[ATTEST_AXIS_WEIGHT].order;
    const attest_setting weights[2] = { { ATTEST_WEIGHT_TAYLOR, order - 1, 0 }, { ATTEST_WEIGHT_TERM, order, 0 } };
    values_run run[2] = { { .inputs = NULL }, { .inputs = NULL } };
    int usable = trial->host->bounds != NULL;
    attest_relation r;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    for (int k = 0; usable && k < 2; k++) {
        r.c.problem.axis[ATTEST_AXIS_WEIGHT] = weights[k];
        ATTEST_TRY(values_run_make(&run[k], &usable, found, trial, &r, err));
    }
    if (!usable)
        goto out;
    ATTEST_TRY(values_compare_sum(found, trial, &run[0].trial, &run[1].trial, ATTEST_U, err));
    ATTEST_TRY(values_compare_sum(found, trial, &run[0].trial, &run[1].trial, ATTEST_Z, err));
out:
    values_run_clear(&run[0]);
    values_run_clear(&run[1]);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_order_sum = {
    "order-sum",
    "u and z of taylor:P are those of taylor:P-1 plus those of term:P",
    "taylor of order 1 and more, center=zero; given states too, each degree where it belongs",
    "the bounds of three runs (R-JUDGE)",
    ATTEST_NEEDS_BOUNDS,
    applies_orders,
    check_orders,
    violate_sums
};
