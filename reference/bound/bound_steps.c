/* bound_steps.c - what the steps between a score and its weighted value add to the errors: cap, alibi, clamp (R-STEP),
 * filter (R-FILTER-BOUND), decay (R-DECAY), gates (R-GATE). */
#include "reference/bound/bound.h"
#include "reference/exact/exact.h"

/* ---- steps of a score ------------------------------------------------------------------------------------- */
typedef struct step_job {
    const bound_model *m;
    mag_t cap, slope, clamp; /* sizes */
    mag_t divide, wave;      /* relative errors: s/cap; cap tanh(.) */
} step_job;

/* delta is that of s, size bounds |s^|; both become those of cap tanh(s/cap). */
static void through_cap(mag_t delta, mag_t size, const step_job *job)
{
    const bound_model *m = job->m;
    mag_t x, y;
    mag_init(x);
    mag_init(y);
    mag_mul_ui(x, job->cap, 15); /* x sech^2(x) < 0.448 < 15/32 */
    mag_mul_2exp_si(x, x, -5);
    mag_min(x, x, size);
    mag_addmul(delta, x, job->divide);
    mag_min(y, job->cap, size);
    mag_set(size, y);
    mag_addmul(delta, m->numerics->exp_error > 0 && !m->unknown ? y : job->cap, job->wave);
    mag_add_ui(x, job->cap, 1);
    mag_mul_2exp_si(x, x, 2);
    mag_addmul(delta, x, m->tiny);
    mag_clear(y);
    mag_clear(x);
}

static void through_alibi(mag_t delta, mag_t size, const step_job *job, int64_t distance)
{
    mag_t bias, x;
    mag_init(bias);
    mag_init(x);
    mag_mul_ui(bias, job->slope, (ulong)distance);
    bound_gamma(x, job->m->log2_domain ? 4 : 3, job->m->u); /* the distance above 2^24, the product, bases */
    mag_addmul(delta, bias, x);
    mag_add(size, size, bias);
    mag_add(x, size, delta);
    mag_addmul(delta, x, job->m->u); /* the subtraction */
    mag_mul_2exp_si(x, job->m->tiny, 1);
    mag_add(delta, delta, x);
    mag_clear(x);
    mag_clear(bias);
}

static void job_set(step_job *job, const bound_model *m, const ref_inputs *in, int64_t h)
{
    const attest_setting *axis = m->p->axis;
    const double clamp = axis[ATTEST_AXIS_CLAMP].number;
    mag_t x;
    mag_init(x);
    mag_init(job->cap);
    mag_init(job->slope);
    mag_init(job->clamp);
    mag_init(job->divide);
    mag_init(job->wave);
    job->m = m;
    mag_set_d(job->cap, axis[ATTEST_AXIS_CAP].number);
    bound_compose(job->divide, m->u_div, m->u);
    bound_gamma(job->wave, 10, m->u); /* tanh 4 ulp = 8u, the product, cap itself */
    if (axis[ATTEST_AXIS_ALIBI].value == ATTEST_ALIBI_DRAW)
        mag_set_d(job->slope, attest_load(in->role[ATTEST_SLOPE], attest_offset(in->role[ATTEST_SLOPE], h, 0, 0, 0)));
    if (m->log2_domain || attest_to_f64(m->p->acc, attest_from_f64(m->p->acc, clamp)) != clamp) {
        mag_set_d(x, clamp);
        bound_gamma(job->clamp, 2, m->u);
        mag_mul(job->clamp, job->clamp, x);
    }
    mag_clear(x);
}

static void job_clear(step_job *job)
{
    mag_clear(job->cap);
    mag_clear(job->slope);
    mag_clear(job->clamp);
    mag_clear(job->divide);
    mag_clear(job->wave);
}

void bound_score_steps(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, int64_t b,
                       int64_t h, int64_t i)
{
    const attest_setting *axis = m->p->axis;
    const int cap = axis[ATTEST_AXIS_CAP].value != ATTEST_CAP_NONE;
    const int alibi = axis[ATTEST_AXIS_ALIBI].value != ATTEST_ALIBI_NONE;
    const int clamp = axis[ATTEST_AXIS_CLAMP].value != ATTEST_CLAMP_NONE;
    const int64_t position = ref_position(in, b, i);
    step_job job;
    mag_t size;
    if (!cap && !alibi && !clamp)
        return;
    mag_init(size);
    job_set(&job, m, in, h);
    for (int64_t j = 0; j < row->keys; j++) {
        const int64_t back = position - row->first - j;
        mag_add(size, row->mass + j, w->delta + j);
        if (cap)
            through_cap(w->delta + j, size, &job);
        if (alibi)
            through_alibi(w->delta + j, size, &job, back < 0 ? -back : back);
        if (clamp)
            mag_add(w->delta + j, w->delta + j, job.clamp);
    }
    job_clear(&job);
    mag_clear(size);
}

/* ---- filter ----------------------------------------------------------------------------------------------- */
static void see_token(exact_span *span, const attest_tensor *t, int64_t b, int64_t h, int64_t token)
{
    for (int64_t c = 0; c < t->shape[3]; c++)
        exact_span_see(span, attest_load(t, attest_offset(t, b, h, token, c)));
}

/* Steps that leave the product of q and k alone, or nothing is known of how they are taken. */
static int plain_scores(const bound_model *m)
{
    static const attest_axis axes[] = { ATTEST_AXIS_FEATURE, ATTEST_AXIS_ROPE, ATTEST_AXIS_CAP, ATTEST_AXIS_ALIBI,
                                        ATTEST_AXIS_CLAMP };
    for (size_t a = 0; a < sizeof axes / sizeof axes[0]; a++)
        if (m->p->axis[axes[a]].value)
            return 0;
    return !m->vector && !m->narrows && !m->log2_domain && (m->numerics->scale_dtype || m->p->scale == 1);
}

/* R-FILTER-EXACT: no kernel of this class rounds a score of the row, or the threshold. */
static int scores_are_exact(const bound_model *m, const ref_row *row, const ref_inputs *in, int64_t b, int64_t h,
                        int64_t i)
{
    const slong least = attest_format_of(m->p->acc).emin;
    exact_span q, k, scale, gap;
    mag_t size, unit;
    if (!plain_scores(m) || m->flags & ATTEST_FTZ)
        return 0;
    exact_span_start(&q);
    exact_span_start(&k);
    exact_span_start(&scale);
    exact_span_start(&gap);
    see_token(&q, in->role[ATTEST_Q], b, h, i);
    for (int64_t j = 0; j < row->keys; j++)
        see_token(&k, in->role[ATTEST_K], b, attest_kv_head(in->p, h), row->first + j);
    exact_span_see(&scale, m->p->scale);
    exact_span_see(&gap, m->p->axis[ATTEST_AXIS_FILTER].number);
    const slong grid = q.low + k.low + scale.low;
    if (!q.finite || !k.finite || scale.top != scale.low + 1 || gap.low < grid || grid < least ||
        q.low + k.low < least || q.low + scale.low < least || k.low + scale.low < least)
        return 0;
    mag_init(size);
    mag_init(unit);
    for (int64_t j = 0; j < row->keys; j++)
        mag_max(size, size, row->mass + j);
    mag_set_d(unit, m->p->axis[ATTEST_AXIS_FILTER].number);
    mag_mul_2exp_si(size, size, 1);
    mag_add(size, size, unit);
    mag_max(unit, m->u, m->u_sum);
    mag_mul(size, size, unit);
    const int exact = mag_cmp_2exp_si(size, grid) <= 0;
    mag_clear(unit);
    mag_clear(size);
    return exact;
}

/* Keys whose score may be on either side of max - TAU for the kernel swing by all of their weight; others are surely
 * kept or surely dropped. */
void bound_filter_sizes(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, int64_t b,
                        int64_t h, int64_t i)
{
    const attest_setting *filter = &m->p->axis[ATTEST_AXIS_FILTER];
    const int exact = filter->value != ATTEST_FILTER_NONE && scores_are_exact(m, row, in, b, h, i);
    arb_t top, gap;
    mag_t slack, x, size;
    if (filter->value == ATTEST_FILTER_NONE)
        return;
    arb_init(top);
    arb_init(gap);
    mag_init(slack);
    mag_init(x);
    mag_init(size);
    arb_neg_inf(top);
    for (int64_t j = 0; j < row->keys; j++)
        arb_max(top, top, row->s + j, row->prec);
    arb_set_d(gap, filter->number);
    arb_sub(top, top, gap, row->prec);
    mag_set_d(size, filter->number);
    mag_add(size, size, w->score_max);
    bound_gamma(x, 4, m->u); /* TAU, max - TAU, s - max, the comparison */
    for (int64_t j = 0; j < row->keys; j++) {
        arb_sub(gap, row->s + j, top, row->prec);
        mag_add(slack, w->delta + j, w->delta_max);
        mag_addmul(slack, size, x);
        if (!exact)
            mag_add(arb_radref(gap), arb_radref(gap), slack);
        w->choice[j] = arb_is_positive(gap) ? BOUND_KEPT : arb_is_nonpositive(gap) ? BOUND_DROPPED : BOUND_OPEN;
        if (w->choice[j] == BOUND_DROPPED)
            mag_zero(w->size + j);
        if (w->choice[j] == BOUND_OPEN)
            mag_max(w->size + j, w->size + j, row->kept + j);
    }
    mag_clear(size);
    mag_clear(x);
    mag_clear(slack);
    arb_clear(gap);
    arb_clear(top);
}

void bound_filter_weights(bound_weights *w, const bound_model *m, const ref_row *row)
{
    if (m->p->axis[ATTEST_AXIS_FILTER].value == ATTEST_FILTER_NONE)
        return;
    for (int64_t j = 0; j < row->keys; j++) {
        if (w->choice[j] == BOUND_DROPPED) {
            mag_zero(w->set[BOUND_SCORE] + j);
            mag_zero(w->set[BOUND_EXP] + j);
        } else if (w->choice[j] == BOUND_OPEN) {
            mag_add(w->set[BOUND_SCORE] + j, w->set[BOUND_SCORE] + j, row->kept + j);
        }
    }
}

/* ---- decay ------------------------------------------------------------------------------------------------ */
int64_t bound_decay_steps(const bound_model *m, int64_t tokens)
{
    const int64_t chunk = m->p->chunk > 0 ? m->p->chunk : 1;
    const int chunked = m->unknown || m->numerics->schedule == ATTEST_SCHEDULE_CHUNK;
    int64_t count = tokens > 0 ? 2 * tokens + 8 : 0;
    if (!m->decays)
        return 0;
    if (chunked)
        count += 9 * (tokens / chunk + 1);
    return count;
}

/* Products of max(1, |a|) and sums of |ln a| over tokens [first, last], for channel c of a. */
static void gather(mag_t most, mag_t logs, int *positive, const ref_inputs *in, int64_t b, int64_t g, int64_t first,
                   int64_t last, int64_t c)
{
    const int retnet = in->p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_RETNET;
    const attest_tensor *t = in->role[retnet ? ATTEST_GAMMA : ATTEST_DECAY];
    mag_t x;
    mag_init(x);
    mag_one(most);
    mag_zero(logs);
    for (int64_t k = first; k <= last; k++) {
        const double a = attest_load(t, retnet ? attest_offset(t, g, 0, 0, 0) : attest_offset(t, b, g, k, c));
        *positive &= a > 0;
        if (!(a > 0) && !(a < 0))
            continue; /* 0, or a NaN that the row does not read */
        mag_set_d(x, a);
        if (mag_cmp_2exp_si(x, 0) > 0)
            mag_mul(most, most, x);
        if (!*positive)
            continue;
        mag_log(x, x);
        mag_add(logs, logs, x);
        mag_set_d_lower(x, a);
        mag_neg_log(x, x);
        mag_add(logs, logs, x);
    }
    mag_clear(x);
}

void bound_decay_set(mag_t most, mag_t logs, const bound_model *m, const ref_inputs *in, int64_t first, int64_t b,
                     int64_t g, int64_t i)
{
    const int64_t channels = m->vector ? m->p->d : 1, from = m->unknown || m->given ? 0 : first + 1;
    int positive = m->unknown;
    mag_t product, sum;
    mag_one(most);
    mag_zero(logs);
    if (!m->decays)
        return;
    mag_init(product);
    mag_init(sum);
    for (int64_t c = 0; c < channels; c++) {
        gather(product, sum, &positive, in, b, g, from, i < in->p->m ? i : in->p->m - 1, c);
        mag_max(most, most, product);
        mag_max(logs, logs, sum);
    }
    /* undeclared kernels may add logarithms up and subtract two of the sums */
    bound_gamma(sum, i + 12, m->u);
    bound_compose(sum, sum, m->u_log);
    mag_mul_2exp_si(sum, sum, 1);
    mag_mul(logs, logs, sum);
    if (!positive)
        mag_zero(logs);
    mag_clear(sum);
    mag_clear(product);
}

void bound_decay_error(mag_t theta, mag_t lost, const bound_weights *w, const bound_model *m, int64_t tokens)
{
    const int64_t steps = bound_decay_steps(m, tokens);
    mag_t x;
    mag_init(x);
    bound_gamma(theta, steps, m->u);
    mag_mul_ui(lost, m->tiny, (ulong)steps);
    mag_mul(lost, lost, w->decay_most);
    if (!mag_is_zero(w->decay_log)) {
        mag_set(x, w->decay_log);
        if (m->exponential) { /* exponents shifted by another maximum; a polynomial's score is none */
            mag_t shift;
            mag_init(shift);
            bound_gamma(shift, 6, m->u);
            mag_addmul(x, shift, w->score_max);
            mag_clear(shift);
        }
        mag_expm1(x, x);
        bound_compose(theta, theta, x);
        bound_gamma(x, 2, m->u_exp);
        bound_compose(theta, theta, x);
        mag_add(lost, lost, m->normal);
    }
    mag_clear(x);
}

void bound_decay_scale(bound_weights *w, const bound_model *m, const ref_row *row)
{
    if (!m->decays || m->vector || m->exponential) /* exponential ones are relative to D w already */
        return;
    for (int64_t j = 0; j < row->keys; j++) {
        mag_mul(w->set[BOUND_SCORE] + j, w->set[BOUND_SCORE] + j, row->decay + j);
        mag_mul(w->set[BOUND_EXP] + j, w->set[BOUND_EXP] + j, row->decay + j);
    }
}

void bound_decay_weights(bound_weights *w, const bound_model *m, const ref_row *row, int64_t i)
{
    mag_t theta, lost, x;
    if (!m->decays || m->vector)
        return;
    mag_init(theta);
    mag_init(lost);
    mag_init(x);
    for (int64_t j = 0; j < row->keys; j++) {
        bound_decay_error(theta, lost, w, m, i - row->first - j);
        mag_add(x, w->size + j, w->set[BOUND_SCORE] + j);
        mag_add(x, x, w->set[BOUND_EXP] + j);
        mag_addmul(w->set[BOUND_EXP] + j, x, theta);
        mag_addmul(w->set[BOUND_EXP] + j, lost, w->weight_max);
        mag_mul(x, m->tiny, w->unit);
        mag_mul_2exp_si(x, x, 1);
        mag_add(w->set[BOUND_EXP] + j, w->set[BOUND_EXP] + j, x);
    }
    mag_clear(x);
    mag_clear(lost);
    mag_clear(theta);
}

/* ---- gates ------------------------------------------------------------------------------------------------ */
/* A gate that is a softmax over heads, for tokens [first, last): relative error. */
static void heads_error(mag_t theta, const bound_model *m, const ref_inputs *in, attest_role role, int64_t b,
                        int64_t first, int64_t last)
{
    const attest_tensor *t = in->role[role];
    const int64_t heads = t->shape[1];
    mag_t top, x, e;
    mag_init(top);
    mag_init(x);
    mag_init(e);
    for (int64_t token = first; token < last; token++)
        for (int64_t h = 0; h < heads; h++) {
            mag_set_d(x, attest_load(t, attest_offset(t, b, h, token, 0)));
            mag_max(top, top, x);
        }
    bound_gamma(x, m->log2_domain ? 4 : 1, m->u); /* the exponent is at most 2 top */
    mag_mul(x, x, top);
    mag_mul_2exp_si(x, x, 1);
    mag_expm1(e, x);
    bound_compose(e, e, m->u_exp);
    bound_gamma(x, 1, e); /* e/(1-e) */
    bound_compose(theta, e, x);
    bound_gamma(x, heads + 1, m->u);
    bound_compose(theta, theta, x);
    bound_compose(theta, theta, m->u_div);
    mag_clear(e);
    mag_clear(x);
    mag_clear(top);
}

void bound_value_gate(mag_t theta, const bound_model *m, const ref_inputs *in, int64_t b, int64_t first, int64_t last)
{
    mag_t x;
    mag_zero(theta);
    if (!m->gates_values)
        return;
    mag_init(x);
    mag_set(theta, m->u);
    if (m->p->axis[ATTEST_AXIS_GATES].value == ATTEST_GATES_HEADS)
        heads_error(x, m, in, ATTEST_K_HEAD_LOGITS, b, first, last);
    bound_compose(theta, theta, x);
    mag_clear(x);
}

void bound_row_gate(mag_t theta, mag_t tiny, const bound_model *m, const ref_inputs *in, int64_t b, int64_t i)
{
    mag_t x;
    mag_zero(theta);
    mag_zero(tiny);
    if (!m->gates_rows)
        return;
    mag_init(x);
    mag_set(theta, m->u);
    if (m->p->axis[ATTEST_AXIS_GATES].value == ATTEST_GATES_HEADS) {
        heads_error(x, m, in, ATTEST_Q_HEAD_LOGITS, b, i, i + 1);
        mag_mul_2exp_si(tiny, m->normal, 2);
    }
    bound_compose(theta, theta, x);
    mag_clear(x);
}
