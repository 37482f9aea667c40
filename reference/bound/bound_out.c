/* bound_out.c - from the error of a quotient or of u to that of o: norms, gain and shift, row gates, the output's
 * format (R-OUT, R-GATE, R-LENGTH, R-FLOOR, R-ROOT). */
#include "reference/bound/bound_row.h"

/* R-OUT: an overflow that the bound can neither exclude nor demand. */
static int may_overflow(const mag_t high, const arb_t truth, uint32_t dtype)
{
    const attest_format f = attest_format_of(dtype);
    AUTO_ARF(least, size);
    AUTO_MAG(x);
    int open;
    if (mag_cmp_2exp_si(high, f.emax) < 0)
        return 0;
    arf_set_mag(size, high);
    arf_set_si_2exp_si(least, 1, f.emax + 1); /* (2 - 2^-p) 2^emax rounds to infinity */
    AUTO_ARF(last);
    arf_set_si_2exp_si(last, 1, f.emax - f.p);
    arf_sub(least, least, last, ARF_PREC_EXACT, ARF_RND_DOWN);
    open = arf_cmp(size, least) >= 0;
    if (open) {
        arb_get_mag_lower(x, truth);
        arf_set_mag(last, x);
        arf_sub(size, size, last, 128, ARF_RND_UP);   /* high - |t| = the bound; exponents may be far apart */
        arf_sub(last, last, size, 128, ARF_RND_DOWN); /* |t| - bound */
        open = arf_cmp(last, least) < 0;
    }
    return open;
}

void bound_unbounded(ref_bound *bound)
{
    mag_inf(bound->total);
    bound->unbounded = 1;
}

/* R-OUT: who declares nothing may store what a norm, its gain or a gate reads in the type of the output: once more the
 * rounding of a number of that size, and eta of it times `unit`. */
static void stored_between(ref_bound *bound, const row_job *job, mag_t size, const mag_t unit)
{
    AUTO_MAG(x);
    if (!job->model.unknown || mag_is_zero(job->out))
        return;
    mag_mul(x, size, job->out);
    mag_addmul(x, job->out_tiny, unit);
    mag_add(bound->term[ATTEST_TERM_DIVISION], bound->term[ATTEST_TERM_DIVISION], x);
    mag_add(size, size, x);
}

/* R-GATE: all terms times |gout|, its error and one rounding; `size` is that of the gated number, and becomes that of
 * the row. */
static void through_gate(ref_bound *bound, mag_t size, const row_job *job)
{
    const bound_model *m = &job->model;
    AUTO_MAG(x);
    if (attest_kv_scaled(m->p)) /* R-KV-SCALE: the quotient, times v_scale */
        stored_between(bound, job, size, m->kept);
    if (!m->gates_rows)
        return;
    mag_one(x);
    stored_between(bound, job, size, x);
    if (mag_cmp(size, m->limit) > 0)
        bound->unbounded = 1;
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_mul(bound->term[t], bound->term[t], job->gate);
    mag_mul(bound->probable, bound->probable, job->gate);
    mag_mul(x, size, job->weights.gate_tiny);
    mag_mul(size, size, job->gate);
    mag_addmul(x, size, job->weights.gate_row);
    mag_add(x, x, m->tiny);
    mag_add(bound->term[ATTEST_TERM_DIVISION], bound->term[ATTEST_TERM_DIVISION], x);
    mag_add(size, size, x);
}

/* Rounding a number of at most `size` to nearest, with unit roundoff u: u times the power of two at or below it. */
static void half_ulp(mag_t y, const mag_t size, const mag_t u)
{
    if (mag_is_special(size)) {
        mag_mul(y, size, u);
    } else {
        mag_mul_2exp_fmpz(y, u, MAG_EXPREF(size)); /* size is in [1/2, 1) of that power */
        mag_mul_2exp_si(y, y, -1);
    }
}

void bound_finish(ref_bound *bound, const row_job *job, const arb_t inner, const arb_t truth, const mag_t relative,
                  int gated)
{
    const bound_model *m = &job->model;
    AUTO_MAG(size, x);
    arb_get_mag(size, inner);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_add(size, size, bound->term[t]);
    mag_mul(x, size, relative);
    mag_add(bound->term[ATTEST_TERM_DIVISION], bound->term[ATTEST_TERM_DIVISION], x);
    mag_add(size, size, x);
    mag_add(size, size, m->tiny);
    if (gated)
        through_gate(bound, size, job);
    half_ulp(x, size, job->out);
    mag_add(x, x, m->tiny);
    mag_add(x, x, job->out_tiny);
    mag_add(bound->term[ATTEST_TERM_DIVISION], bound->term[ATTEST_TERM_DIVISION], x);
    mag_zero(bound->total);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_add(bound->total, bound->total, bound->term[t]);
    bound_probabilistic_finish(bound);
    arb_get_mag(size, truth);
    mag_add(size, size, bound->total);
    if (job->weights.overflow || mag_is_inf(bound->total) || may_overflow(size, truth, job->got_dtype) ||
        (job->got_dtype != m->p->acc && mag_cmp_2exp_si(size, attest_format_of(m->p->acc).emax) >= 0))
        bound->unbounded = 1;
}

void bound_out_none(ref_bound *bound, const row_job *job)
{
    AUTO_MAG(none);
    for (int64_t c = 0; c < job->in->p->e; c++)
        bound_finish(bound + c, job, job->row->u + c, job->row->o + c, none, 1);
}

/* R-LENGTH: t is exact below 2^p, and rounded once above. */
void bound_out_length(ref_bound *bound, const row_job *job)
{
    const ulong keys = (ulong)job->row->keys;
    AUTO_ARB(inner);
    AUTO_MAG(relative);
    bound_compose(relative, job->model.u_div, job->model.u);
    for (int64_t c = 0; c < job->in->p->e; c++) {
        for (int t = 0; keys && t < ATTEST_TERM_COUNT; t++)
            mag_div_ui(bound[c].term[t], bound[c].term[t], keys);
        mag_div_ui(bound[c].probable, bound[c].probable, keys ? keys : 1);
        arb_div_ui(inner, job->row->u + c, keys ? keys : 1, job->row->prec);
        bound_finish(bound + c, job, inner, job->row->o + c, relative, 1);
    }
}

void bound_out_floor(ref_bound *bound, const row_job *job, const arb_t divisor, const mag_t error)
{
    AUTO_MAG(low, x);
    AUTO_ARB(inner);
    arb_get_mag_lower(low, divisor);
    mag_sub_lower(low, low, error);
    for (int64_t c = 0; c < job->in->p->e; c++) {
        if (mag_is_zero(low)) {
            bound_unbounded(bound + c);
            continue;
        }
        arb_div(inner, job->row->u + c, divisor, job->row->prec);
        for (int t = 0; t < ATTEST_TERM_COUNT; t++)
            mag_div(bound[c].term[t], bound[c].term[t], low);
        mag_div(bound[c].probable, bound[c].probable, low);
        arb_get_mag(x, inner);
        mag_mul(x, x, error);
        mag_div(x, x, low);
        mag_add(bound[c].term[ATTEST_TERM_DIVISION], bound[c].term[ATTEST_TERM_DIVISION], x);
        bound_finish(bound + c, job, inner, job->row->o + c, job->division, 1);
    }
}

/* ---- R-ROOT ----------------------------------------------------------------------------------------------- */
typedef struct root_job {
    const row_job *job;
    axis_root kind;
    int64_t e;
    arb_ptr y;                                   /* [e] x/s; the argument x of the root before */
    mag_ptr size;                                /* [e] |x| */
    arb_t root;                                  /* s */
    mag_t spread[ATTEST_TERM_COUNT], spread_all; /* how far the root may be off, by term, in all */
    mag_t low;                                   /* lower bound of s - spread */
    mag_t relative;                              /* of the computed root, and the division */
    mag_t whole;                                 /* root of the mean square before the mean is taken away */
} root_job;

/* Terms of term t of all channels += x[c] relative to size. */
static void add_relative(ref_bound *bound, const root_job *r, const mag_t relative)
{
    AUTO_MAG(x);
    for (int64_t c = 0; c < r->e; c++) {
        mag_set(x, r->size + c);
        for (int t = 0; t < ATTEST_TERM_COUNT; t++)
            mag_add(x, x, bound[c].term[t]);
        mag_mul(x, x, relative);
        mag_add(x, x, r->job->model.tiny);
        mag_add(bound[c].term[ATTEST_TERM_DIVISION], bound[c].term[ATTEST_TERM_DIVISION], x);
    }
}

static void set_sizes(root_job *r)
{
    for (int64_t c = 0; c < r->e; c++)
        arb_get_mag(r->size + c, r->y + c);
}

static void set_whole(root_job *r)
{
    mag_zero(r->whole);
    for (int64_t c = 0; c < r->e; c++)
        mag_addmul(r->whole, r->size + c, r->size + c);
    mag_div_ui(r->whole, r->whole, (ulong)r->e);
    mag_sqrt(r->whole, r->whole);
}

/* Upper bound of C^-1: parts that are merged may be scaled by e^-lse, up to 1/N below e^-M. */
static void largest_scale(mag_t y, const row_job *job)
{
    mag_mul_ui(y, job->weights.unit, job->weights.merges ? (ulong)job->row->keys + 1 : 1);
}

/* What the norm sees, and a gate before it, may be stored: u, or o of a mean. */
static void store_before(ref_bound *bound, const root_job *r)
{
    AUTO_MAG(size, unit);
    mag_max(unit, r->job->weights.unit, r->job->total_size);
    for (int64_t c = 0; c < r->e; c++) {
        mag_set(size, r->size + c);
        for (int t = 0; t < ATTEST_TERM_COUNT; t++)
            mag_add(size, size, bound[c].term[t]);
        stored_between(bound + c, r->job, size, unit);
    }
}

/* gates=pre-out and u/t: from the errors of u to those of what the norm sees. */
static void before_root(ref_bound *bound, root_job *r)
{
    const row_job *job = r->job;
    const int gated = axis_gates_of(job->in->p)->before;
    AUTO_MAG(x);
    for (int64_t c = 0; c < r->e; c++)
        arb_set(r->y + c, job->row->u + c);
    set_sizes(r);
    store_before(bound, r);
    for (int64_t c = 0; c < r->e; c++) {
        if (gated) {
            arb_mul(r->y + c, r->y + c, job->row->gout, job->row->prec);
            for (int t = 0; t < ATTEST_TERM_COUNT; t++)
                mag_mul(bound[c].term[t], bound[c].term[t], job->gate);
        }
    }
    set_sizes(r);
    for (int64_t c = 0; job->weights.merges && c < r->e; c++) { /* two roundings a merge, each may underflow */
        largest_scale(x, job);
        mag_mul(x, x, job->model.tiny);
        mag_mul_ui(x, x, 2 * (ulong)job->weights.merges + 2);
        if (gated)
            mag_mul(x, x, job->gate);
        mag_add(bound[c].term[ATTEST_TERM_DIVISION], bound[c].term[ATTEST_TERM_DIVISION], x);
    }
    if (gated) {
        add_relative(bound, r, job->weights.gate_row);
        for (int64_t c = 0; c < r->e; c++) { /* a gate that counts as 0, a product that underflows */
            arb_get_mag(x, job->row->u + c);
            mag_mul(x, x, job->weights.gate_tiny);
            mag_addmul(x, job->weights.unit, job->model.tiny);
            mag_add(bound[c].term[ATTEST_TERM_DIVISION], bound[c].term[ATTEST_TERM_DIVISION], x);
        }
        store_before(bound, r);
    }
    if (r->kind.length) {
        const ulong keys = job->row->keys ? (ulong)job->row->keys : 1;
        for (int64_t c = 0; c < r->e; c++) {
            mag_div_ui(r->size + c, r->size + c, keys);
            for (int t = 0; t < ATTEST_TERM_COUNT; t++)
                mag_div_ui(bound[c].term[t], bound[c].term[t], keys);
        }
        bound_compose(x, job->model.u_div, job->model.u);
        add_relative(bound, r, x);
    }
}

/* R-ROOT: the computed mean, and one subtraction a channel. */
static void subtract_mean(ref_bound *bound, root_job *r)
{
    const bound_model *m = &r->job->model;
    mag_t sum[ATTEST_TERM_COUNT], size, x;
    mag_init(size);
    mag_init(x);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++) {
        mag_init(sum[t]);
        for (int64_t c = 0; c < r->e; c++)
            mag_add(sum[t], sum[t], bound[c].term[t]);
        mag_add(size, size, sum[t]);
    }
    for (int64_t c = 0; c < r->e; c++)
        mag_add(size, size, r->size + c);
    mag_max(x, m->u, m->u_sum);
    bound_gamma(x, r->e + 1, x);
    bound_compose(x, x, m->u_div);
    mag_mul(size, size, x);
    mag_add(sum[ATTEST_TERM_DIVISION], sum[ATTEST_TERM_DIVISION], size); /* the mean's own roundings, times e */
    for (int64_t c = 0; c < r->e; c++) {
        mag_zero(size);
        for (int t = 0; t < ATTEST_TERM_COUNT; t++) {
            mag_div_ui(x, sum[t], (ulong)r->e);
            mag_add(bound[c].term[t], bound[c].term[t], x);
            mag_add(size, size, bound[c].term[t]);
        }
        arb_get_mag(x, r->y + c); /* here the difference from the mean */
        mag_add(size, size, x);
        mag_mul(size, size, m->u);
        mag_add(size, size, m->tiny);
        mag_add(bound[c].term[ATTEST_TERM_DIVISION], bound[c].term[ATTEST_TERM_DIVISION], size);
    }
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_clear(sum[t]);
    mag_clear(x);
    mag_clear(size);
}

/* y = x - mean x, as the reference has it: x itself where the norm is not centred. */
static void centre(root_job *r)
{
    const row_job *job = r->job;
    AUTO_ARB(mean);
    if (r->kind.length)
        for (int64_t c = 0; c < r->e; c++)
            arb_div_ui(r->y + c, r->y + c, job->row->keys ? (ulong)job->row->keys : 1, job->row->prec);
    for (int64_t c = 0; c < r->e; c++)
        arb_add(mean, mean, r->y + c, job->row->prec);
    arb_div_si(mean, mean, (slong)r->e, job->row->prec);
    for (int64_t c = 0; r->kind.centered && c < r->e; c++)
        arb_sub(r->y + c, r->y + c, mean, job->row->prec);
}

/* The root's spread, and whether its squares are safe in the kernel's scaling (u times C, 1/unit <= C <= inverse). */
static int set_root(root_job *r, const ref_bound *bound)
{
    const row_job *job = r->job;
    const bound_model *m = &job->model;
    const double eps = m->p->axis[ATTEST_AXIS_EPS].number;
    AUTO_MAG(x, y);
    int good;
    for (int t = 0; t < ATTEST_TERM_COUNT; t++) {
        mag_zero(r->spread[t]);
        for (int64_t c = 0; c < r->e; c++)
            mag_addmul(r->spread[t], bound[c].term[t], bound[c].term[t]);
        if (r->kind.mean)
            mag_div_ui(r->spread[t], r->spread[t], (ulong)r->e);
        mag_sqrt(r->spread[t], r->spread[t]);
        mag_add(r->spread_all, r->spread_all, r->spread[t]);
    }
    arb_get_mag_lower(r->low, r->root);
    mag_sub_lower(r->low, r->low, r->spread_all);
    for (int64_t c = 0; c < r->e; c++) {
        mag_set(y, r->size + c);
        for (int t = 0; t < ATTEST_TERM_COUNT; t++)
            mag_add(y, y, bound[c].term[t]);
        mag_addmul(x, y, y);
    }
    mag_mul(x, x, job->weights.inverse);
    mag_mul(x, x, job->weights.inverse);
    good = mag_cmp(x, m->limit) <= 0 && mag_cmp(x, m->sum_limit) <= 0 && !mag_is_zero(r->low);
    /* underflow: (e + 4) tiny of s^2, at most u of it; squares are sums of the accumulator */
    mag_max(x, m->tiny, m->tiny_sum);
    mag_mul_ui(x, x, (ulong)r->e + 4);
    largest_scale(y, job);
    mag_mul(x, x, y);
    mag_mul(x, x, y);
    mag_mul_lower(y, r->low, r->low);
    mag_mul_lower(y, y, m->u);
    good = good && mag_cmp(x, y) <= 0;
    /* squares and their sum, mean, eps; half of it through the root; root, quotient, product */
    mag_max(x, m->u, m->u_sum);
    bound_gamma(x, r->e + (r->kind.mean ? 1 : 0) + (eps > 0 ? 2 : 0) + 1, x);
    if (r->kind.mean)
        bound_compose(x, x, m->u_div);
    if (m->unknown && r->kind.centered && good) { /* a variance updated value by value */
        mag_div(y, r->whole, r->low);
        mag_add_ui(y, y, 1);
        mag_max(x, m->u, m->u_sum);
        bound_gamma(x, 4 * r->e + 8, x);
        mag_mul(x, x, y);
    }
    bound_gamma(r->relative, 1, x); /* x/(1-x) */
    mag_mul_2exp_si(r->relative, r->relative, -1);
    bound_gamma(y, 4, m->u);
    bound_compose(r->relative, r->relative, y);
    bound_compose(r->relative, r->relative, m->u_div);
    bound_compose(r->relative, r->relative, m->u_div);
    return good;
}

/* y = gain y + shift, its errors with it. */
static void affine(ref_bound *bound, const root_job *r, int64_t c)
{
    const row_job *job = r->job;
    const attest_tensor *gain = job->in->role[ATTEST_GAIN], *shift = job->in->role[ATTEST_SHIFT];
    AUTO_MAG(size, lost, x);
    AUTO_ARB(number);
    if (job->in->p->axis[ATTEST_AXIS_AFFINE].value == ATTEST_AFFINE_NONE)
        return;
    arb_set_d(number, attest_load(gain, attest_offset(gain, c, 0, 0, 0)));
    arb_get_mag(x, number);
    arb_get_mag(lost, r->y + c);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_add(lost, lost, bound->term[t]);
    mag_one(size);
    stored_between(bound, job, lost, size);
    arb_mul(r->y + c, r->y + c, number, job->row->prec);
    arb_get_mag(size, r->y + c);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++) {
        mag_mul(bound->term[t], bound->term[t], x);
        mag_add(size, size, bound->term[t]);
    }
    arb_set_d(number, attest_load(shift, attest_offset(shift, c, 0, 0, 0)));
    arb_get_mag(x, number);
    mag_add(size, size, x);
    arb_add(r->y + c, r->y + c, number, job->row->prec);
    bound_gamma(x, 2, job->model.u);
    mag_mul(size, size, x);
    mag_add_ui(lost, lost, 2); /* of both operations, and of a gain and a shift that count as 0 */
    mag_addmul(size, lost, job->model.tiny);
    mag_add(bound->term[ATTEST_TERM_DIVISION], bound->term[ATTEST_TERM_DIVISION], size);
}

/* (d_c + |y_c| spread)/(s - spread), term by term, then the roundings. */
static void divide_by_root(ref_bound *bound, root_job *r, int64_t c)
{
    const row_job *job = r->job;
    AUTO_MAG(size, x);
    arb_div(r->y + c, r->y + c, r->root, job->row->prec);
    arb_get_mag(size, r->y + c);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++) {
        mag_addmul(bound->term[t], size, r->spread[t]);
        mag_div(bound->term[t], bound->term[t], r->low);
    }
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_add(size, size, bound->term[t]);
    mag_mul(x, size, r->relative);
    mag_add(x, x, job->model.tiny);
    mag_add(bound->term[ATTEST_TERM_DIVISION], bound->term[ATTEST_TERM_DIVISION], x);
    affine(bound, r, c);
}

static void root_init(root_job *r)
{
    r->y = _arb_vec_init((slong)r->e);
    r->size = _mag_vec_init((slong)r->e);
    arb_init(r->root);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_init(r->spread[t]);
    mag_init(r->spread_all);
    mag_init(r->low);
    mag_init(r->relative);
    mag_init(r->whole);
}

static void root_clear(root_job *r)
{
    _arb_vec_clear(r->y, (slong)r->e);
    _mag_vec_clear(r->size, (slong)r->e);
    arb_clear(r->root);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_clear(r->spread[t]);
    mag_clear(r->spread_all);
    mag_clear(r->low);
    mag_clear(r->relative);
    mag_clear(r->whole);
}

void bound_out_root(ref_bound *bound, const row_job *job)
{
    root_job r = { .job = job, .kind = axis_norm_of(job->in->p)->root, .e = job->in->p->e };
    const int gated = !axis_gates_of(job->in->p)->before;
    AUTO_MAG(none);
    root_init(&r);
    before_root(bound, &r);
    set_whole(&r);
    arb_ptr x = _arb_vec_init((slong)r.e);
    for (int64_t c = 0; c < r.e; c++)
        arb_set(x + c, r.y + c);
    int good = axis_root_norm(x, r.root, job->in->p, job->row->keys, job->row->prec);
    _arb_vec_clear(x, (slong)r.e);
    centre(&r);
    if (r.kind.centered)
        subtract_mean(bound, &r);
    set_sizes(&r);
    good = good && set_root(&r, bound);
    for (int64_t c = 0; c < r.e; c++) {
        if (!good) {
            bound_unbounded(bound + c);
            continue;
        }
        divide_by_root(bound + c, &r, c);
        bound_finish(bound + c, job, r.y + c, job->row->o + c, none, gated);
    }
    root_clear(&r);
}
