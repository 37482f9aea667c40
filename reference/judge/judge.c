/* judge.c - rows and states judged against their bounds; precision is raised until every element is decided. */
#include "reference/judge/judge.h"

#include <math.h>
#include <stdlib.h>

/* ---- rows -------------------------------------------------------------------------------------------------- */
typedef struct row_judge {
    const ref_inputs *in;
    const attest_numerics *numerics;
    const attest_tensor *got;
    uint32_t flags;
    attest_tensor_id id;
    int64_t b, h, i, count;
    ref_bound *bound; /* [count] */
} row_judge;

static attest_status judge_init(row_judge *judge, attest_error *err)
{
    judge->bound = malloc((size_t)judge->count * sizeof *judge->bound);
    if (!judge->bound)
        return attest_fail(err, ATTEST_NO_MEMORY, "judge: no memory for %lld elements", (long long)judge->count);
    for (int64_t c = 0; c < judge->count; c++)
        ref_bound_init(judge->bound + c);
    return ATTEST_OK;
}

static void judge_clear(row_judge *judge)
{
    for (int64_t c = 0; judge->bound && c < judge->count; c++)
        ref_bound_clear(judge->bound + c);
    free(judge->bound);
}

static uint64_t got_bits(const row_judge *judge, int64_t c)
{
    return attest_load_bits(judge->got, attest_offset(judge->got, judge->b, judge->h, judge->i, c));
}

static double sink_of(const row_judge *judge)
{
    const attest_tensor *sink = judge->in->role[ATTEST_SINK];
    return attest_load(sink, attest_offset(sink, judge->h, 0, 0, 0));
}

static int includes_sink(const row_judge *judge)
{
    return (judge->flags & ATTEST_LSE_WITH_SINK) && axis_norm_of(judge->in->p)->sink;
}

/* lse as the kernel's flags define it; not finite where it is not known. */
static void row_lse(arb_t lse, const row_judge *judge, const ref_row *row)
{
    AUTO_ARB(x);
    arb_set(lse, row->lse);
    if (includes_sink(judge) && axis_divisor(lse, row, judge->in, judge->h)) {
        arb_log(lse, lse, row->prec);
        arb_add(lse, lse, row->c, row->prec);
    }
    if (judge->flags & ATTEST_LSE_BASE2) {
        arb_const_log2(x, row->prec);
        arb_div(lse, lse, x, row->prec);
    }
}

static void judge_empty_row(attest_element *elements, const row_judge *judge)
{
    const uint32_t holds = judge->numerics->empty_row;
    const int nan_allowed = holds == ATTEST_EMPTY_NAN;
    const int lse = judge->id.index == ATTEST_LSE, absent = judge->i > ref_last_query(judge->in, judge->b);
    for (int64_t c = 0; c < judge->count; c++) {
        const uint64_t got = got_bits(judge, c);
        if (absent || attest_empty_row_is_free(holds)) {
            judge_without_truth(elements + c, ATTEST_CLASS_ABSENT, got);
            continue;
        }
        judge_exactly(elements + c, lse ? -(double)INFINITY : 0.0, got, judge->got->dtype, nan_allowed);
        if (lse && includes_sink(judge) && isinf(elements[c].ratio_hi) && !(judge->flags & ATTEST_LSE_BASE2))
            judge_exactly(elements + c, sink_of(judge), got, judge->got->dtype, nan_allowed);
    }
}

/* More bits cannot tell more about an ill-posed row: what the divisor is made of is known exactly. */
static int is_settled(const row_judge *judge, const ref_row *row)
{
    int exact = row->rational || arb_is_exact(row->z);
    if (axis_norm_of(judge->in->p)->root.root)
        for (int64_t c = 0; c < row->e; c++)
            exact = exact && arb_is_zero(row->u + c);
    return exact;
}

/* Is the divisor at most u times the natural scale of z?  1, 0, or -1: more precision may tell.  Exponentials are
 * positive: their sum does not vanish. */
static attest_status divisor_vanishes(int *vanishes, const row_judge *judge, ref_row *row, attest_error *err)
{
    const attest_tensor_id z = { ATTEST_KIND_ROLE, ATTEST_Z };
    attest_status status = ATTEST_OK;
    mag_srcptr scale;
    AUTO_ARB(divisor);
    AUTO_MAG(limit, unit);
    AUTO_ARF(size, most);
    *vanishes = 0;
    if (attest_axis_value_of(judge->in->p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP || judge->id.index != ATTEST_O ||
        axis_norm_of(judge->in->p)->kind != AXIS_NORM_QUOTIENT || !axis_divisor(divisor, row, judge->in, judge->h))
        return ATTEST_OK; /* a quotient of sums is never of a delta rule */
    ATTEST_TRY(ref_abs_scale_kept(&scale, row, judge->in, z, (attest_row){ judge->b, judge->h, judge->i }, err));
    mag_set_d(unit, attest_unit_roundoff(judge->in->p->acc));
    mag_mul(limit, scale, unit);
    arf_set_mag(most, limit);
    arb_get_abs_lbound_arf(size, divisor, 64);
    if (arf_cmp(size, most) > 0)
        goto out;
    arb_get_abs_ubound_arf(size, divisor, 64);
    *vanishes = arf_cmp(size, most) <= 0 ? 1 : -1;
out:
    return status;
}

/* The class of a row that has no value to compare with; 0 (normal) if it has.  *open: more precision may tell. */
static uint32_t row_class(const row_judge *judge, const ref_row *row, int *open)
{
    const int lse = judge->id.index == ATTEST_LSE;
    *open = 0;
    if (row->no_truth)
        return ATTEST_CLASS_NO_TRUTH;
    if (row->empty)
        return ATTEST_CLASS_EMPTY;
    if (lse && row->lse_absent && !includes_sink(judge))
        return ATTEST_CLASS_ABSENT;
    if (lse && row->lse_open) {
        *open = !is_settled(judge, row);
        return ATTEST_CLASS_ILLPOSED;
    }
    if (judge->id.index == ATTEST_O && row->illposed) {
        *open = !is_settled(judge, row);
        return ATTEST_CLASS_ILLPOSED;
    }
    return ATTEST_CLASS_NORMAL;
}

/* One precision.  *open = 1: an element is not decided. */
static attest_status judge_once(attest_element *elements, row_judge *judge, ref_row *row, int *open, attest_error *err)
{
    attest_status status = ATTEST_OK;
    mag_srcptr abs_scale;
    AUTO_ARB(lse);
    int vanishes = 0;
    uint32_t class = row_class(judge, row, open);
    if (class == ATTEST_CLASS_NORMAL)
        ATTEST_TRY(divisor_vanishes(&vanishes, judge, row, err));
    if (vanishes > 0)
        class = ATTEST_CLASS_ILLPOSED;
    if (class == ATTEST_CLASS_EMPTY) {
        judge_empty_row(elements, judge);
        goto out;
    }
    if (class != ATTEST_CLASS_NORMAL) {
        for (int64_t c = 0; c < judge->count; c++)
            if (class == ATTEST_CLASS_NO_TRUTH)
                judge_nan_pattern(
                    elements + c,
                    judge_must_be_nan(judge->in, judge->id, (attest_row){ judge->b, judge->h, judge->i }, c),
                    got_bits(judge, c), judge->got->dtype);
            else
                judge_without_truth(elements + c, class, got_bits(judge, c));
        goto out;
    }
    ATTEST_TRY(
        ref_abs_scale_kept(&abs_scale, row, judge->in, judge->id, (attest_row){ judge->b, judge->h, judge->i }, err));
    ATTEST_TRY(ref_bound_row(judge->bound, row, judge->in, judge->numerics, judge->flags, judge->id, judge->got->dtype,
                             (attest_row){ judge->b, judge->h, judge->i }, err));
    *open = vanishes < 0;
    row_lse(lse, judge, row);
    for (int64_t c = 0; c < judge->count; c++) {
        arb_srcptr truth = judge->id.index == ATTEST_O   ? row->o + c
                           : judge->id.index == ATTEST_U ? row->u + c
                           : judge->id.index == ATTEST_Z ? row->z
                                                         : lse;
        if (!arb_is_finite(truth)) {
            judge_without_truth(elements + c, ATTEST_CLASS_ABSENT, got_bits(judge, c));
            *open = 1;
            continue;
        }
        judge_element(elements + c, truth, judge->bound + c, abs_scale + c, got_bits(judge, c), judge->got->dtype,
                      (judge->flags & ATTEST_FTZ) != 0);
        if (!elements[c].decided)
            *open = 1;
    }
out:
    return status;
}

attest_status attest_judge_row(attest_element *elements, attest_row_facts *facts, attest_truth *truth,
                               const attest_numerics *numerics, uint32_t flags, attest_tensor_id id,
                               const attest_tensor *got, attest_row at, attest_error *err)
{
    const ref_inputs *in = ref_truth_inputs(truth);
    attest_status status = ATTEST_OK;
    uint32_t engine = 0;
    long bits = 0;
    int open = 1, sign = 0;
    row_judge judge = {
        .in = in, .numerics = numerics, .got = got, .flags = flags, .id = id, .b = at.b, .h = at.h, .i = at.i
    };
    judge.count = id.index == ATTEST_O || id.index == ATTEST_U ? in->p->e : 1;
    ATTEST_TRY(judge_init(&judge, err));
    for (slong prec = ATTEST_PRECISION_START; open && prec <= ATTEST_PRECISION_CAP; prec *= 2) {
        ref_row *row;
        ATTEST_TRY(ref_truth_row(&row, truth, at, prec, err));
        ATTEST_TRY(judge_once(elements, &judge, row, &open, err));
        engine = row->engine;
        bits = row->prec;
        sign = arb_is_positive(row->z) ? 1 : arb_is_negative(row->z) ? -1 : 0;
    }
    if (facts) {
        ATTEST_TRY(attest_truth_facts(facts, truth, at, err));
        facts->sum_sign = sign; /* of the last precision, which may show it first */
        facts->engine = engine;
        facts->bits = bits;
    }
out:
    judge_clear(&judge);
    return status;
}

/* ---- states ------------------------------------------------------------------------------------------------ */
/* Steps a non-decreasing multi-index to the next one in lexicographic order. */
static void next_index(int64_t *index, int n, int64_t dim)
{
    int k = n - 1;
    while (k >= 0 && index[k] == dim - 1)
        k--;
    if (k < 0)
        return;
    index[k]++;
    for (int l = k + 1; l < n; l++)
        index[l] = index[k];
}

static int64_t full_row(const int64_t *index, int n, int64_t dim)
{
    int64_t r = 0;
    for (int k = 0; k < n; k++)
        r = r * dim + index[k];
    return r;
}

typedef struct state_judge {
    const ref_inputs *in;
    int64_t rows, full, width; /* rows of the layout at hand and of the full one; width e or 1 */
    int packed, degree, z_state;
    arb_ptr state;
    mag_ptr abs_scale;
    ref_bound *bound;
} state_judge;

/* Picks the rows of the packed layout out of the full one (they are equal by symmetry, R-HT). */
static void choose_rows(state_judge *judge, const ref_state *all)
{
    int64_t index[ATTEST_MAX_ORDER] = { 0 };
    const int64_t dim = attest_feature_dim(judge->in->p);
    for (int64_t r = 0; r < judge->rows; r++) {
        const int64_t from = judge->packed ? full_row(index, judge->degree, dim) : r;
        for (int64_t c = 0; c < judge->width; c++) {
            arb_set(judge->state + r * judge->width + c, all->value + from * judge->width + c);
            mag_set(judge->abs_scale + r * judge->width + c, all->abs_scale + from * judge->width + c);
        }
        next_index(index, judge->degree, dim);
    }
}

static attest_status state_init(state_judge *judge, attest_error *err)
{
    const int64_t dim = attest_feature_dim(judge->in->p);
    judge->rows = attest_state_rows(dim, judge->degree, judge->packed);
    judge->full = attest_state_rows(dim, judge->degree, 0);
    if (judge->full < 0 || judge->full > (int64_t)1 << 24)
        return attest_fail(err, ATTEST_BAD_INPUT, "state of degree %d: too many rows to judge", judge->degree);
    const slong count = (slong)(judge->rows * judge->width);
    judge->bound = malloc((size_t)count * sizeof *judge->bound);
    if (!judge->bound)
        return attest_fail(err, ATTEST_NO_MEMORY, "judge: no memory for a state of degree %d", judge->degree);
    for (slong k = 0; k < count; k++)
        ref_bound_init(judge->bound + k);
    judge->state = _arb_vec_init(count);
    judge->abs_scale = _mag_vec_init(count);
    return ATTEST_OK;
}

static void state_clear(state_judge *judge)
{
    if (!judge->bound)
        return;
    const slong count = (slong)(judge->rows * judge->width);
    for (slong k = 0; k < count; k++)
        ref_bound_clear(judge->bound + k);
    free(judge->bound);
    _arb_vec_clear(judge->state, count);
    _mag_vec_clear(judge->abs_scale, count);
}

attest_status attest_judge_state(attest_element *elements, attest_truth *truth, const attest_numerics *numerics,
                                 uint32_t flags, attest_tensor_id id, int packed, const attest_tensor *got, int64_t b,
                                 int64_t g, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int open = 1;
    state_judge judge = { .in = ref_truth_inputs(truth), .packed = packed, .degree = (int)id.index };
    judge.z_state = id.kind == ATTEST_KIND_ZT;
    judge.width = judge.z_state ? 1 : judge.in->p->e;
    ATTEST_TRY(state_init(&judge, err));
    for (slong prec = ATTEST_PRECISION_START; open && prec <= ATTEST_PRECISION_CAP; prec *= 2) {
        const int64_t count = judge.rows * judge.width;
        const ref_state *all;
        ATTEST_TRY(ref_truth_state(&all, truth, b, g, judge.degree, judge.z_state, prec, err));
        choose_rows(&judge, all);
        ATTEST_TRY(ref_bound_state(judge.bound, count, judge.abs_scale, judge.state, judge.in, numerics, flags, id,
                                   got->dtype, b, g, err));
        open = 0;
        for (int64_t k = 0; k < count; k++) {
            const uint64_t bits = attest_load_bits(
                got, attest_offset(got, b, g, k / judge.width, judge.z_state ? 0 : k % judge.width));
            if (!arb_is_finite(judge.state + k)) {
                judge_without_truth(elements + k, ATTEST_CLASS_NO_TRUTH, bits);
                continue;
            }
            judge_element(elements + k, judge.state + k, judge.bound + k, judge.abs_scale + k, bits, got->dtype,
                          (flags & ATTEST_FTZ) != 0);
            open |= !elements[k].decided;
        }
    }
out:
    state_clear(&judge);
    return status;
}
