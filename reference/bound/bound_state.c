/* bound_state.c - errors of the states S_n and z-states that a kernel writes (R-HT). */
#include "reference/bound/bound.h"

#include <stdint.h>
#include <string.h>

typedef struct state_job {
    const ref_inputs *in;
    bound_model model;
    int64_t keys;
    int degree, z_state;
    mag_ptr values;   /* [e]: sum over keys of |v_tc|, the largest over the KV heads */
    mag_t raw;        /* the largest sum over keys of |v|, where gates multiply them; else 0 */
    mag_t feature;    /* largest |phi(k)| */
    mag_t entry;      /* absolute error of one of its entries */
    mag_t gate;       /* relative error of a gated value */
    mag_t most, logs; /* R-DECAY */
    mag_t relative;   /* against the sum of absolute terms */
    mag_t slope;      /* times `values` (or keys): absolute error of the features */
    mag_t given;      /* the largest entry of a given state */
    mag_t product;    /* of n features and decays, upward, at least 1 */
    mag_t lost;       /* underflow */
    mag_t largest;    /* the largest |v|, gated */
    mag_t kept;       /* what a stored key times decays loses, times `values` (or keys); a stored value, for all keys */
    mag_t kept_value;
    mag_t out, out_tiny;
} state_job;

static void job_init(state_job *job)
{
    bound_model_init(&job->model);
    job->values = _mag_vec_init((slong)job->in->p->e);
    mag_init(job->raw);
    mag_init(job->feature);
    mag_init(job->entry);
    mag_init(job->gate);
    mag_init(job->most);
    mag_init(job->logs);
    mag_init(job->relative);
    mag_init(job->slope);
    mag_init(job->given);
    mag_init(job->product);
    mag_init(job->lost);
    mag_init(job->largest);
    mag_init(job->kept);
    mag_init(job->kept_value);
    mag_init(job->out);
    mag_init(job->out_tiny);
}

static void job_clear(state_job *job)
{
    bound_model_clear(&job->model);
    _mag_vec_clear(job->values, (slong)job->in->p->e);
    mag_clear(job->raw);
    mag_clear(job->feature);
    mag_clear(job->entry);
    mag_clear(job->gate);
    mag_clear(job->most);
    mag_clear(job->logs);
    mag_clear(job->relative);
    mag_clear(job->slope);
    mag_clear(job->given);
    mag_clear(job->product);
    mag_clear(job->lost);
    mag_clear(job->largest);
    mag_clear(job->kept);
    mag_clear(job->kept_value);
    mag_clear(job->out);
    mag_clear(job->out_tiny);
}

/* sum over the keys of |gin v|; of |v| where the gate is a softmax over heads: it is at most 1. */
static void sum_of_values(mag_t sum, state_job *job, int64_t b, int64_t g, int64_t c)
{
    const attest_tensor *v = job->in->role[ATTEST_V], *gin = job->in->role[ATTEST_GIN];
    const axis_gates *gates = axis_gates_of(job->in->p);
    AUTO_MAG(x, gate, raw);
    mag_zero(sum);
    for (int64_t t = 0; t < job->keys; t++) {
        mag_set_d(x, attest_load(v, attest_offset(v, b, g, t, c)));
        if (gates->values && gates->stored) {
            mag_add(raw, raw, x);
            mag_set_d(gate, attest_load(gin, attest_offset(gin, b, g, t, 0)));
            mag_mul(x, x, gate);
        }
        mag_add(sum, sum, x);
        mag_max(job->largest, job->largest, x);
    }
    mag_max(job->raw, job->raw, raw);
}

/* Sizes of keys, values and decays, over all KV heads of batch entry b. */
static void set_sizes(state_job *job, int64_t b)
{
    const ref_inputs *in = job->in;
    AUTO_MAG(sum, top);
    if (!job->z_state)
        bound_value_gate(job->gate, &job->model, in, b, 0, job->keys);
    for (int64_t g = 0; g < in->p->hkv; g++) {
        for (int64_t t = 0; t < job->keys; t++) {
            bound_token_size(sum, top, in, ATTEST_K, b, g, t);
            mag_max(job->feature, job->feature, top);
            bound_entry_error(top, &job->model, in, ATTEST_K, b, g, t, t);
            mag_max(job->entry, job->entry, top);
        }
        bound_state_top(top, in, b, g);
        mag_max(job->given, job->given, top);
        bound_decay_set(sum, top, &job->model, in, 0, b, g, job->keys - 1);
        mag_max(job->most, job->most, sum);
        mag_max(job->logs, job->logs, top);
        for (int64_t c = 0; c < in->p->e && !job->z_state; c++) {
            sum_of_values(sum, job, b, g, c);
            mag_max(job->values + c, job->values + c, sum);
        }
    }
}

/* Keys or values times decays may be stored, up to a chunk's end: one factor of a term, 2 eta_q A of it. */
static void set_stored(state_job *job)
{
    const bound_model *m = &job->model;
    AUTO_MAG(x, one);
    mag_zero(job->kept);
    mag_zero(job->kept_value);
    if (!bound_stores_decayed(m))
        return;
    mag_one(one);
    mag_max(one, one, job->feature);
    mag_mul(x, m->scaled_tiny, job->most);
    mag_mul_2exp_si(x, x, 1);
    if (job->degree > 0) {
        mag_pow_ui(job->kept, one, (ulong)job->degree - 1);
        mag_mul(job->kept, job->kept, x);
    }
    if (!bound_stores_values(m) || job->z_state)
        return;
    mag_pow_ui(job->kept_value, one, (ulong)job->degree);
    mag_mul(job->kept_value, job->kept_value, x);
    mag_mul_ui(job->kept_value, job->kept_value, (ulong)job->keys);
}

/* May what is stored in a narrower type, as it is or times decays, be beyond it? */
static int stores_too_far(const state_job *job)
{
    const bound_model *m = &job->model;
    const int decayed = bound_stores_decayed(m);
    AUTO_MAG(x);
    mag_set(x, job->feature);
    if (decayed)
        mag_mul(x, x, job->most);
    if ((m->stores_features || decayed) && mag_cmp(x, m->scaled_limit) > 0)
        return 1;
    mag_mul(x, job->largest, job->most);
    return bound_stores_values(m) && !job->z_state && mag_cmp(x, m->scaled_limit) > 0;
}

/* What set_stored() says, of one column. */
static void add_stored(mag_t y, const state_job *job, int64_t c)
{
    AUTO_MAG(sum);
    mag_set_ui(sum, (ulong)job->keys);
    mag_addmul(y, job->kept, job->z_state ? sum : job->values + c);
    mag_add(y, y, job->kept_value);
}

/* slope = n t (K+t)^(n-1); lost = keys (n+3) tiny max(1,K)^n; decays above 1 multiply both */
static void set_absolute(state_job *job)
{
    const bound_model *m = &job->model;
    const ulong n = (ulong)job->degree;
    AUTO_MAG(k);
    mag_mul(k, job->feature, m->feature);
    mag_add(k, k, job->feature);
    mag_add(k, k, job->entry);
    mag_pow_ui(job->slope, k, n ? n - 1 : 0);
    mag_mul(job->slope, job->slope, job->entry);
    mag_mul_ui(job->slope, job->slope, n);
    mag_mul(job->slope, job->slope, job->most);
    mag_one(job->lost);
    mag_max(k, k, job->lost);
    mag_pow_ui(job->lost, k, n);
    mag_mul(job->product, job->lost, job->most);
    if (!axis_gates_of(m->p)->stored) {
        mag_mul(job->lost, job->lost, m->normal); /* R-GATE: 4 2^emin of a gate */
        mag_mul_2exp_si(job->lost, job->lost, 2);
    } else {
        mag_mul(job->lost, job->lost, m->tiny);
    }
    mag_max(k, m->tiny_state, m->tiny_sum); /* of the state, once a token */
    const ulong steps = (m->decays ? 2u : 0u) + (m->gates_values ? 1u : 0u);
    mag_mul_ui(job->lost, job->lost, ((ulong)job->keys + 1) * (n + 3 + steps));
    mag_mul_ui(k, k, 2 * (ulong)job->keys + 2);
    mag_add(job->lost, job->lost, k);
    mag_mul(job->lost, job->lost, job->most);
    mag_mul_ui(k, m->gated_tiny, (ulong)job->keys); /* of gin v, R-GATE */
    mag_addmul(job->lost, job->product, k);
    bound_decay_flush(k, m, job->most, job->logs, job->keys);
    mag_mul_ui(k, k, (ulong)job->keys);
    mag_addmul(job->lost, job->product, k); /* `product` has job->most in it: at least 1 */
}

/* (1+F)^n (1+gamma_{keys+n+2}(u)) (1+gamma_stores(u_state)) - 1, decays and gates */
static void set_relative(state_job *job)
{
    const bound_model *m = &job->model;
    AUTO_MAG(x, u);
    mag_max(u, m->u, m->u_sum);
    bound_gamma(job->relative, job->keys + job->degree + 2 + bound_decay_steps(m, job->keys + 1), u);
    bound_compose(job->relative, job->relative, job->gate);
    if (!mag_is_zero(job->logs)) {
        mag_expm1(x, job->logs);
        bound_compose(job->relative, job->relative, x);
        bound_gamma(x, bound_decay_exponentials(m, job->keys), m->u_exp);
        bound_compose(job->relative, job->relative, x);
    }
    bound_gamma(x, bound_state_stores(m, job->keys + 1), m->u_state);
    bound_compose(job->relative, job->relative, x);
    bound_gamma(x, job->degree, m->feature);
    bound_compose(job->relative, job->relative, x);
    if (bound_stores_decayed(m))
        bound_compose(job->relative, job->relative, m->scaled);
}

static void set_output(state_job *job, uint32_t dtype)
{
    if (attest_format_of(dtype).p < attest_format_of(job->model.p->acc).p) {
        mag_set_d(job->out, attest_unit_roundoff(dtype));
        bound_tiny(job->out_tiny, dtype, job->model.flags);
    }
}

static void element(ref_bound *bound, const state_job *job, const mag_t abs_scale, const arb_t state, int64_t c)
{
    const bound_model *m = &job->model;
    AUTO_MAG(x, one, gates);
    mag_one(one);
    mag_mul(bound->term[ATTEST_TERM_ACCUMULATION], abs_scale, job->relative);
    if (job->z_state)
        mag_mul_ui(x, job->slope, (ulong)job->keys);
    else
        mag_mul(x, job->slope, job->values + c);
    mag_set(bound->term[ATTEST_TERM_SCORE], x);
    if (!job->z_state)
        mag_max(one, one, job->values + c);
    mag_mul(x, job->product, one);
    bound_stretch(x, m, m->spread); /* R-KV-SCALE: of k and v before their scales */
    if (!job->z_state)
        bound_stretch(x, m, m->shrink);
    bound->unbounded = mag_cmp(x, m->state_limit) > 0 || /* features may be multiplied before v is */
                       stores_too_far(job) || (!job->z_state && mag_cmp(job->values + c, m->gated_limit) > 0);
    mag_mul(x, job->lost, one);
    add_stored(x, job, c);
    if (m->flags & ATTEST_FTZ && !job->z_state) { /* an input v, or a gate, below 2^emin counts as 0 */
        mag_add_ui(gates, job->raw, (ulong)job->keys);
        mag_one(one);
        mag_max(one, one, job->feature);
        mag_pow_ui(one, one, (ulong)job->degree);
        mag_mul(one, one, m->normal);
        mag_mul(one, one, job->most);
        mag_addmul(x, one, gates);
    }
    mag_mul_ui(one, m->tiny, (ulong)bound_decay_steps(m, job->keys + 1)); /* 0 without decay */
    mag_mul(one, one, job->most);
    bound_decay_flush(gates, m, job->most, job->logs, job->keys + 1);
    mag_add(one, one, gates);
    mag_addmul(x, one, job->given);
    mag_add(bound->term[ATTEST_TERM_ACCUMULATION], bound->term[ATTEST_TERM_ACCUMULATION], x);
    arb_get_mag(one, state);
    mag_add(one, one, bound->term[ATTEST_TERM_ACCUMULATION]);
    mag_add(one, one, bound->term[ATTEST_TERM_SCORE]);
    mag_mul(x, one, job->out);
    mag_add(bound->term[ATTEST_TERM_DIVISION], x, job->out_tiny);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_add(bound->total, bound->total, bound->term[t]);
    if (mag_is_inf(bound->total) || mag_cmp(abs_scale, m->state_limit) > 0 || mag_cmp(job->given, m->state_limit) > 0 ||
        mag_cmp_2exp_si(one, attest_format_of(m->p->acc).emax) >= 0)
        bound->unbounded = 1;
}

/* R-DELTA: the error of any entry of the state of KV head (b,g) after the last token, from a row of the last query.  A
 * state has it whatever the queries hold: that query is one of ones here.  Infinite where such a row has no truth. */
static attest_status delta_error(mag_t error, const bound_model *m, const ref_inputs *in, int64_t b, int64_t g,
                                 attest_error *err)
{
    static const double one = 1;
    attest_tensor ones = *in->role[ATTEST_Q];
    ref_inputs with = *in;
    attest_status status = ATTEST_OK;
    ref_row row;
    const int64_t last = ref_last_query(in, b);
    if (last < 0) { /* a sequence without tokens: the state is 0 */
        mag_zero(error);
        return ATTEST_OK;
    }
    ref_row_init(&row);
    ones.dtype = ATTEST_F64;
    ones.data = (void *)(uintptr_t)&one;
    memset(ones.stride, 0, sizeof ones.stride);
    with.role[ATTEST_Q] = &ones;
    ATTEST_TRY(ref_ball_row(&row, &with, (attest_row){ b, g * in->p->hq / in->p->hkv, last }, 128, err));
    if (row.no_truth || !bound_delta_state(error, m, &row, &with, b, g))
        mag_inf(error);
out:
    ref_row_clear(&row);
    return status;
}

/* The terms of an element of a delta state. */
static void delta_element(ref_bound *bound, const state_job *job, const mag_t error, const arb_t state)
{
    const bound_model *m = &job->model;
    AUTO_MAG(size);
    mag_set(bound->term[ATTEST_TERM_ACCUMULATION], error);
    arb_get_mag(size, state);
    mag_add(size, size, error);
    mag_mul(bound->term[ATTEST_TERM_DIVISION], size, job->out);
    mag_add(bound->term[ATTEST_TERM_DIVISION], bound->term[ATTEST_TERM_DIVISION], job->out_tiny);
    mag_add(bound->total, bound->term[ATTEST_TERM_ACCUMULATION], bound->term[ATTEST_TERM_DIVISION]);
    bound->unbounded = mag_is_inf(bound->total) || mag_cmp_2exp_si(size, attest_format_of(m->p->acc).emax) >= 0;
}

attest_status ref_bound_state(ref_bound *bound, int64_t count, mag_srcptr abs_scale, arb_srcptr state,
                              const ref_inputs *in, const attest_numerics *numerics, uint32_t flags,
                              attest_tensor_id id, uint32_t got_dtype, int64_t b, int64_t g, attest_error *err)
{
    const int delta = in->p->axis[ATTEST_AXIS_UPDATE].value != ATTEST_UPDATE_ADD;
    state_job job = { .in = in, .degree = (int)id.index, .z_state = id.kind == ATTEST_KIND_ZT };
    attest_status status = ATTEST_OK;
    int64_t first, last;
    AUTO_MAG(error);
    job_init(&job);
    ref_visible(in, b, ref_last_query(in, b), &first, &last);
    job.keys = last > 0 ? last : 0;
    bound_model_set(&job.model, in, numerics, flags);
    bound_model_scales(&job.model, in, b, g);
    if (delta)
        ATTEST_TRY(delta_error(error, &job.model, in, b, g, err));
    else
        set_sizes(&job, b);
    set_absolute(&job);
    set_stored(&job);
    set_relative(&job);
    set_output(&job, got_dtype);
    for (int64_t k = 0; k < count; k++) {
        ref_bound_clear(bound + k);
        ref_bound_init(bound + k);
        if (delta)
            delta_element(bound + k, &job, error, state + k);
        else
            element(bound + k, &job, abs_scale + k, state + k, job.z_state ? 0 : k % in->p->e);
    }
out:
    job_clear(&job);
    return status;
}
