/* values.c - see values.h. */
#include "props/properties/values.h"

#include "kernels/attest_float.h"
#include "props/draw/draw.h"

#include <math.h>

attest_status values_run_make(values_run *run, int *usable, attest_finding *found, const attest_trial *trial,
                              const attest_relation *r, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_error contradiction;
    int inexact = 0;
    const attest_problem *p = &r->c.problem;
    *usable = 0;
    *run = (values_run){ .trial = { .host = trial->host,
                                    .kernel = trial->kernel,
                                    .c = r->c,
                                    .number = trial->number,
                                    .violated = trial->violated } };
    if (attest_variant_check(p->axis, p->n, p->m, &contradiction) != ATTEST_OK ||
        !trial->host->supports(trial->host->context, p))
        return ATTEST_OK;
    ATTEST_TRY(attest_relation_inputs(&run->inputs, &inexact, r, trial, err));
    run->trial.inputs = run->inputs;
    if (inexact)
        goto out;
    ATTEST_TRY(attest_trial_run(&run->trial.outputs, usable, found, trial, &r->c, run->inputs, UINT32_MAX, 0, err));
out:
    return status;
}

void values_run_clear(values_run *run)
{
    attest_trial_clear(&run->trial);
    attest_bundle_free(run->inputs);
    run->inputs = NULL;
}

values_row values_row_of(const attest_problem *p, const attest_bundle *inputs, int64_t number)
{
    values_row row = { .b = number / (p->hq * p->n), .h = number / p->n % p->hq, .i = number % p->n };
    row.g = attest_kv_head(p, row.h);
    attest_visible(p, attest_bundle_lengths(p, inputs, row.b), row.i, &row.first, &row.last);
    return row;
}

double values_at(const attest_bundle *bundle, attest_role role, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    const attest_tensor *t = attest_bundle_role(bundle, role);
    const attest_tensor *scale = role == ATTEST_K   ? attest_bundle_role(bundle, ATTEST_K_SCALE)
                                 : role == ATTEST_V ? attest_bundle_role(bundle, ATTEST_V_SCALE)
                                                    : NULL;
    const double x = attest_load(t, attest_offset(t, i0, i1, i2, i3));
    return scale ? x * attest_load(scale, attest_offset(scale, i0, i1, 0, 0)) : x;
}

double values_slope(const attest_problem *p, const attest_bundle *inputs, int64_t h, int *inexact)
{
    const attest_tensor *slope = attest_bundle_role(inputs, ATTEST_SLOPE);
    if (p->axis[ATTEST_AXIS_ALIBI].value != ATTEST_ALIBI_USUAL)
        return attest_load(slope, h);
    const attest_usual root = attest_usual_slope(p, h);
    if (root.step * root.power % root.heads != 0)
        *inexact = 1;
    return attest_usual_double(p, h);
}

double values_slope_size(const attest_problem *p, const attest_bundle *inputs)
{
    double most = 0;
    int inexact = 0;
    for (int64_t h = 0; h < p->hq && p->axis[ATTEST_AXIS_ALIBI].value != ATTEST_ALIBI_NONE; h++) {
        const double slope = fabs(values_slope(p, inputs, h, &inexact)) * (1 + 0x1p-50);
        if (!(slope <= most)) /* NaN too */
            most = isnan(slope) ? (double)INFINITY : slope;
    }
    return most;
}

double values_output(const attest_bundle *outputs, attest_role role, const values_row *row, int64_t c)
{
    return values_at(outputs, role, row->b, row->h, row->i, c);
}

void values_add(attest_finding *found, attest_role role, const values_row *row, int64_t c, double got, double want,
                double tolerance)
{
    const int64_t at[4] = { row->b, row->h, row->i, c };
    attest_finding_add(found, (attest_tensor_id){ ATTEST_KIND_ROLE, role }, at, got, want, tolerance);
}

attest_status values_compare_sum(attest_finding *found, attest_trial *whole, attest_trial *part0, attest_trial *part1,
                                 attest_role role, attest_error *err)
{
    attest_trial *const trials[3] = { whole, part0, part1 };
    const double *bound[3];
    const attest_problem *p = &whole->c.problem;
    attest_status status = ATTEST_OK;
    for (int k = 0; k < 3; k++) {
        if (!attest_bundle_role(trials[k]->outputs, role))
            return ATTEST_OK;
        ATTEST_TRY(attest_trial_bounds(&bound[k], trials[k], role, err));
        if (!bound[k])
            goto out;
    }
    const uint32_t dtype = attest_bundle_role(whole->outputs, role)->dtype;
    for (int64_t number = 0; number < values_row_count(p); number++) {
        const values_row row = values_row_of(p, whole->inputs, number);
        for (int64_t c = 0; c < (role == ATTEST_Z ? 1 : p->e); c++) {
            const int64_t at = values_index(p, role, &row, c);
            const double a = values_output(part0->outputs, role, &row, c);
            const double b = values_output(part1->outputs, role, &row, c);
            const double sum = values_output(whole->outputs, role, &row, c);
            const double tolerance = bound[0][at] + bound[1][at] + bound[2][at] + 0x1p-52 * (fabs(a) + fabs(b));
            if (isinf(a) || isinf(b)) /* a part beyond the format: nothing is known of the sum */
                continue;
            if (!isinf(sum) || !attest_may_overflow(dtype, a + b, tolerance) || signbit(sum) != signbit(a + b))
                values_add(found, role, &row, c, sum, a + b, tolerance);
        }
    }
out:
    return status;
}

double values_room(const attest_problem *p, const attest_numerics *n)
{
    const double room = 1 / fmax(n->acc_unit, attest_unit_roundoff(p->acc));
    return n->state_dtype ? fmin(room, 1 / attest_unit_roundoff(n->state_dtype - 1)) : room;
}

void values_add_interval(attest_finding *found, const attest_bundle *outputs, attest_role role, const values_row *row,
                         int64_t c, double want, double radius)
{
    const uint32_t dtype = attest_bundle_role(outputs, role)->dtype;
    const double got = values_output(outputs, role, row, c);
    const double wide = radius > 0 ? radius * (1 + 0x1p-50) + 0x1p-52 * fabs(want) : 0; /* doubles round too */
    const double lo = attest_to_f64(dtype, attest_from_f64(dtype, want - wide));
    const double hi = attest_to_f64(dtype, attest_from_f64(dtype, want + wide));
    if (!isfinite(radius) || !isfinite(lo) || !isfinite(hi))
        return;
    values_add(found, role, row, c, got, !(got >= lo) ? lo : !(got <= hi) ? hi : got, -1);
}

double values_divisor(const attest_problem *p, double z, double keys)
{
    const attest_setting *norm = &p->axis[ATTEST_AXIS_NORM];
    if (norm->value == ATTEST_NORM_SUM)
        return z;
    if (norm->value == ATTEST_NORM_FLOOR)
        return fmax(z, norm->number);
    return norm->value == ATTEST_NORM_LENGTH ? keys : 1;
}

double values_quotient_radius(const attest_problem *p, const attest_prop_kernel *k, double u, double divisor)
{
    const double want = u / divisor, unit = attest_unit_roundoff(p->acc);
    const double error = values_declared(k->numerics.div_error);
    const int held = attest_to_f64(p->acc, attest_from_f64(p->acc, want)) == want && want * divisor == u;
    /* floor:F may be rounded to acc */
    const int exact = held && error <= unit && p->axis[ATTEST_AXIS_NORM].value != ATTEST_NORM_FLOOR;
    return exact || divisor == 1 ? 0 : fabs(want) * (error + unit);
}

int values_decay_nonnegative(const attest_problem *p, const attest_bundle *inputs)
{
    static const attest_role roles[] = { ATTEST_DECAY, ATTEST_GAMMA };
    for (int k = 0; k < 2; k++) {
        const attest_tensor *t = attest_bundle_role(inputs, roles[k]);
        for (int64_t at = 0; t && at < attest_tensor_count(t); at++)
            if (attest_log_decays(p) ? isnan(attest_load(t, at)) : !(attest_load(t, at) >= 0))
                return 0;
    }
    return 1;
}

double values_score(const attest_problem *p, const attest_bundle *inputs, const values_row *row, int64_t j,
                    double *error)
{
    const attest_tensor *q = attest_bundle_role(inputs, ATTEST_Q), *k = attest_bundle_role(inputs, ATTEST_K);
    const int relu = p->axis[ATTEST_AXIS_FEATURE].value == ATTEST_FEATURE_RELU;
    double sum = 0, absolute = 0;
    for (int64_t c = 0; c < p->d; c++) {
        double x = attest_load(q, attest_offset(q, row->b, row->h, row->i, c));
        double y = attest_load(k, attest_offset(k, row->b, row->g, j, c));
        if (relu) {
            x = fmax(x, 0);
            y = fmax(y, 0);
        }
        sum += x * y;
        absolute += fabs(x * y);
    }
    *error = (double)(p->d + 4) * 0x1p-52 * fabs(p->scale) * absolute;
    return p->scale * sum;
}

uint64_t values_exactly(uint32_t dtype, double x, int *inexact)
{
    const uint64_t bits = attest_from_f64(dtype, x);
    if (!(attest_to_f64(dtype, bits) == x))
        *inexact = 1;
    return bits;
}

uint32_t values_word(const attest_trial *trial, const attest_property *property, const attest_cell *cell)
{
    const uint64_t tensor = (uint64_t)cell->id.kind * 32 + cell->id.index;
    return attest_trial_word(trial, property,
                             attest_draw_index(cell->at[0], cell->at[1], cell->at[2], cell->at[3]) ^
                                 tensor * 0x9e3779b97f4a7c15u);
}
