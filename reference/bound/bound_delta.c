/* bound_delta.c - update=delta and efla: error of the state, token by token, and of what is read from it (R-DELTA).
 *
 * E bounds the distance of the kernel's state from the true one, as the largest norm2 of a column.  Inside a chunk the
 * kernel's state is the one that its written values imply: decayed start plus sum of k_j^T w_j.  Q bounds the mass of
 * those terms, with keys as the kernel has them, and Qf the part of it that the features' errors bring.
 */
#include "reference/bound/bound_row.h"

static const size_t token_fields[] = {
    offsetof(delta_token, key),   offsetof(delta_token, wrong), offsetof(delta_token, before),
    offsetof(delta_token, old),   offsetof(delta_token, theta), offsetof(delta_token, shift),
    offsetof(delta_token, write), offsetof(delta_token, local),
};
static const size_t job_fields[] = {
    offsetof(delta_job, error), offsetof(delta_job, mass),    offsetof(delta_job, bad),     offsetof(delta_job, most),
    offsetof(delta_job, logs),  offsetof(delta_job, gate),    offsetof(delta_job, top),     offsetof(delta_job, growth),
    offsetof(delta_job, ends),  offsetof(delta_job, key_top), offsetof(delta_job, written), offsetof(delta_job, peak),
    offsetof(delta_job, fresh), offsetof(delta_job, made),    offsetof(delta_job, near),
};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void each_mag(void *base, const size_t *fields, size_t count, void (*act)(mag_t))
{
    for (size_t k = 0; k < count; k++)
        act((mag_ptr)(void *)((char *)base + fields[k]));
}

/* A call, as bound_raise(). */
__attribute__((noinline)) static void copy(mag_t y, const mag_t x) { mag_set(y, x); }

static void start_mag(mag_t x) { mag_init(x); }
static void end_mag(mag_t x) { mag_clear(x); }

static int64_t roundings(const delta_job *job, int64_t t)
{
    const int64_t since = t - job->start;
    return since + 6 + (job->recurrent ? 0 : bound_decay_steps(job->m, since + 1));
}

/* g = gamma_(n + since ..) and what logarithms add */
static void sum_gamma(mag_t g, const delta_job *job, int64_t n, int64_t t)
{
    AUTO_MAG(u);
    mag_max(u, job->m->u, job->m->u_sum);
    bound_gamma(g, n + roundings(job, t), u);
    bound_compose(g, g, job->logs);
    bound_compose(g, g, job->near);
    if (bound_stores_decayed(job->m)) { /* both factors of a pair */
        bound_compose(g, g, job->m->scaled);
        bound_compose(g, g, job->m->scaled);
    }
}

/* b k and b v may be stored by themselves, where the form S + k (b (v - k S)) is not declared: both sides of the
 * difference are rounded, not the difference alone. */
static void stored_rates(mag_t part, const delta_job *job, const delta_token *y, int64_t t)
{
    AUTO_MAG(x);
    if (job->m->numerics->schedule == ATTEST_SCHEDULE_RECURRENT)
        return;
    mag_mul(x, y->key, y->before);
    mag_add(x, x, job->row->delta.value + t);
    mag_addmul(part, x, job->m->written);
}

/* What both lose by underflow: b v is told for what is written. */
static void stored_rates_lost(mag_t part, const delta_job *job, const delta_token *y)
{
    AUTO_MAG(x);
    if (job->m->numerics->schedule == ATTEST_SCHEDULE_RECURRENT)
        return;
    mag_set_ui(x, (ulong)attest_feature_dim(job->m->p));
    mag_sqrt(x, x);
    mag_mul(x, x, y->before);
    mag_add_ui(x, x, 1);
    mag_addmul(part, x, job->m->written_tiny);
}

/* local: b (1+..)(error of k S' + error of gin v) + (theta + roundings) |b (gin v - k S')| */
static void set_local(delta_token *y, const delta_job *job, int64_t t)
{
    const bound_model *m = job->m;
    const ref_delta *d = &job->row->delta;
    AUTO_MAG(x, g, part);
    sum_gamma(g, job, attest_feature_dim(m->p), t);
    mag_mul(part, y->key, y->before);
    mag_mul(part, part, g);
    mag_addmul(part, y->wrong, y->before);
    mag_mul(x, d->decay + t, job->bad); /* Qf before this token, decayed */
    mag_addmul(part, y->key, x);
    bound_delta_pairs_lost(x, job, y->key);
    mag_addmul(x, x, g);
    mag_add(part, part, x);
    bound_gamma(g, m->narrows ? 5 : 4, m->u);
    bound_compose(x, g, job->gate);
    mag_addmul(part, d->value + t, x);
    mag_add(part, part, m->gated_tiny);
    bound_compose(g, g, y->theta);
    bound_compose(g, g, m->written);
    stored_rates(part, job, y, t);
    mag_mul(part, part, d->rate + t);
    mag_addmul(part, part, g);
    mag_mul(x, d->rate + t, d->key + t);
    mag_mul(x, x, y->old);
    mag_add(y->write, d->write + t, x);
    mag_addmul(part, y->write, g);
    mag_add(x, d->size + t, y->old); /* the absolute error of b meets gin v - k S' */
    mag_mul(x, x, d->key + t);
    mag_add(x, x, d->value + t);
    mag_addmul(part, x, y->shift);
    bound_delta_lose(part, job, y, t);
    mag_add(part, part, m->written_tiny);
    stored_rates_lost(part, job, y);
    copy(y->local, part);
    mag_add(y->write, y->write, part);
}

/* Does the kernel (maybe) store its state after every token? */
static int stores(const delta_job *job) { return job->recurrent || job->m->unknown; }

/* Roundings of a stored state of this mass. */
static void store_error(mag_t y, const delta_job *job, const mag_t mass, const mag_t relative)
{
    AUTO_MAG(x);
    bound_compose(x, relative, job->m->u_state);
    mag_mul(y, mass, x);
    mag_max(x, job->m->tiny_sum, job->m->tiny_state);
    mag_mul_ui(x, x, 4 * (ulong)attest_feature_dim(job->m->p));
    mag_add(y, y, x);
}

/* x is one of the errors of the state after token t. */
static void add_error(delta_job *job, const mag_t x, int64_t t)
{
    mag_add(job->error, job->error, x);
    if (job->errors.plain)
        mag_add(job->errors.plain + t, job->errors.plain + t, x);
}

/* At the end of a chunk the state is formed from what it implies. */
static void end_chunk(delta_job *job, int64_t last)
{
    AUTO_MAG(x, g);
    sum_gamma(g, job, 0, last);
    store_error(x, job, job->mass, g);
    const int64_t since = last - job->start + 1;
    mag_mul_ui(g, job->m->tiny_sum, (ulong)since * (ulong)attest_feature_dim(job->m->p));
    mag_add(x, x, g); /* products of keys and written values */
    bound_delta_decays_lost(g, job, last);
    mag_add(x, x, g);
    bound_delta_end_lost(g, job, since);
    mag_add(x, x, g);
    add_error(job, x, last);
    add_error(job, job->bad, last);
}

/* A stored decay below 2^emin counts as 0, or an exponential errs there. */
static int loses_decay(const delta_job *job)
{
    return job->m->decays && (job->m->flags & ATTEST_FTZ || attest_log_decays(job->m->p));
}

/* The decay of a stored state rounds once; its factor may be an exponential. */
static void decay_rounding(mag_t y, const delta_job *job) { bound_compose(y, job->m->u, job->made); }

/* Q, Qf and E of S'. */
static void before_token(delta_token *y, delta_job *job, int64_t t)
{
    const ref_delta *d = &job->row->delta;
    AUTO_MAG(x, g);
    const int first = t % job->chunk == 0;
    if (first && t > 0 && !job->recurrent)
        end_chunk(job, t - 1);
    if (first) {
        job->start = t;
        mag_zero(job->fresh);
        mag_zero(job->written);
        mag_zero(job->near);
        copy(job->peak, job->mass);
    }
    bound_raise(job->peak, job->mass);
    bound_decay_made(job->made, job->m, job->in, job->b, job->g, t, t);
    if (bound_decay_multiplied(job->m) && !job->recurrent)
        bound_compose(job->near, job->near, job->made);
    mag_add(x, job->error, job->ends);
    mag_mul(y->old, x, d->decay + t);
    if (loses_decay(job))
        mag_addmul(y->old, job->m->normal, job->mass);
    if (job->m->decays && stores(job)) {
        mag_add(x, y->old, d->size + t);
        decay_rounding(g, job);
        mag_mul(x, x, g);
        mag_add(y->old, y->old, x);
        mag_mul_ui(x, job->m->tiny, (ulong)attest_feature_dim(job->m->p));
        mag_add(y->old, y->old, x);
    }
    if (first) {
        mag_add(y->before, d->size + t, y->old);
        mag_zero(job->bad);
    } else {
        mag_mul(y->before, job->mass, d->decay + t);
        mag_mul(job->fresh, job->fresh, d->decay + t);
    }
}

/* Any chunks: 24 roundings a token of the largest mass, and all growth since. */
static void any_ends(delta_job *job, int64_t t)
{
    AUTO_MAG(x, g);
    bound_raise(job->top, job->mass);
    mag_set_ui(x, 1);
    bound_raise(x, job->row->delta.grow + t);
    mag_mul(job->growth, job->growth, x);
    copy(x, job->m->u);
    bound_raise(x, job->m->u_sum);
    bound_gamma(x, 24 * (t + 1), x);
    bound_compose(x, x, job->logs);
    if (!mag_is_zero(job->logs)) { /* chunks of its own: an exponential at the end of each */
        bound_gamma(g, t + 1, job->m->u_exp);
        bound_compose(x, x, g);
    }
    mag_mul(x, x, job->top);
    bound_delta_decays_lost(g, job, t);
    mag_mul_ui(g, g, (ulong)t + 1);
    mag_add(x, x, g);
    bound_delta_end_lost(g, job, t + 1); /* of all ends together: each token is in one chunk */
    mag_add(x, x, g);
    mag_mul(job->ends, x, job->growth);
}

/* E after the token: grow E + (1 + b |k|^2)(rounding of the decay) + |k| local + rounding of the stored state. */
static void after_token(const delta_token *y, delta_job *job, int64_t t)
{
    const ref_delta *d = &job->row->delta;
    AUTO_MAG(x, g);
    mag_mul(job->error, job->error, d->grow + t);
    if (job->m->decays && stores(job)) {
        mag_add(x, d->size + t, y->old);
        decay_rounding(g, job);
        mag_mul(x, x, g);
        mag_mul_ui(g, job->m->tiny, (ulong)attest_feature_dim(job->m->p));
        mag_add(x, x, g);
        if (loses_decay(job))
            mag_addmul(x, job->m->normal, job->mass);
        mag_mul(g, d->key + t, d->key + t);
        mag_mul(g, g, d->rate + t);
        mag_add_ui(g, g, 1);
        mag_addmul(job->error, x, g);
        if (job->errors.decayed)
            copy(job->errors.decayed + t, x);
    }
    mag_addmul(job->error, d->key + t, y->local);
    if (job->errors.local)
        copy(job->errors.local + t, y->local);
    mag_mul(job->bad, job->bad, d->decay + t);
    mag_addmul(job->bad, y->wrong, y->write);
    copy(job->mass, y->before);
    mag_addmul(job->mass, y->key, y->write);
    mag_addmul(job->fresh, y->key, y->write);
    mag_add(job->written, job->written, y->write);
    if (stores(job)) {
        mag_max(g, job->m->u, job->m->u_sum); /* S + k w is a sum */
        bound_gamma(g, 2, g);
        mag_mul(x, y->key, y->write);
        mag_mul(x, x, g);
        mag_addmul(x, y->wrong, y->write);
        add_error(job, x, t);
        mag_add(x, y->old, d->size + t); /* what is rounded: the state, not its mass */
        mag_addmul(x, y->key, y->write);
        mag_max(g, job->m->u, job->m->u_sum);
        store_error(x, job, x, g);
        add_error(job, x, t);
    }
    if (job->m->unknown)
        any_ends(job, t);
}

static void run_token(delta_job *job, int64_t t)
{
    const ref_delta *d = &job->row->delta;
    const attest_tensor *beta = job->in->role[ATTEST_BETA];
    delta_token y;
    AUTO_MAG(x);
    each_mag(&y, token_fields, COUNT(token_fields), start_mag);
    if (!bound_token_error(y.wrong, job->m, job->in, ATTEST_K, d->key + t, job->b, job->g, t, t))
        job->overflow = 1;
    mag_add(y.key, d->key + t, y.wrong);
    bound_raise(job->key_top, y.key);
    copy(x, y.key);
    if (bound_stores_decayed(job->m))
        mag_mul(x, x, job->most);
    if ((job->m->stores_features || bound_stores_decayed(job->m)) && mag_cmp(x, job->m->scaled_limit) > 0)
        job->overflow = 1;
    before_token(&y, job, t);
    bound_efla_rate(y.theta, y.shift, job->m, attest_load(beta, attest_offset(beta, job->b, job->g, t, 0)), d->key + t,
                    y.key, y.wrong);
    set_local(&y, job, t);
    after_token(&y, job, t);
    mag_mul(x, y.key, y.before);
    mag_mul(x, x, job->most);
    if (!(mag_cmp(x, job->m->sum_limit) <= 0) || !(mag_cmp(job->mass, job->m->state_limit) <= 0) ||
        !(mag_cmp(y.write, job->m->sum_limit) <= 0) || mag_cmp_2exp_si(y.write, job->m->written_emax) > 0 ||
        !(mag_cmp(d->value + t, job->m->gated_limit) <= 0))
        job->overflow = 1;
    each_mag(&y, token_fields, COUNT(token_fields), end_mag);
}

/* All tokens of the row. */
static void run(delta_job *job)
{
    const bound_model *m = job->m;
    const uint32_t schedule = m->numerics->schedule;
    AUTO_MAG(x);
    job->recurrent = schedule == ATTEST_SCHEDULE_RECURRENT;
    job->chunk = job->recurrent ? 1 : schedule == ATTEST_SCHEDULE_CHUNK ? m->p->chunk : INT64_MAX;
    if (job->chunk < 1)
        job->chunk = 1;
    copy(job->mass, job->row->delta.start);
    if (!(mag_cmp(job->mass, m->state_limit) <= 0)) /* a given state is stored too */
        job->overflow = 1;
    mag_set_ui(job->growth, 1);
    bound_decay_set(job->most, x, m, job->in, 0, job->b, job->g, job->row->keys - 1);
    if (bound_decay_multiplied(m))
        mag_zero(x); /* `made` and `near` instead */
    mag_expm1(job->logs, x);
    if (!mag_is_zero(x)) {
        bound_gamma(x, bound_decay_pair_exponentials(m, job->row->keys), m->u_exp);
        bound_compose(job->logs, job->logs, x);
    }
    bound_value_gate(job->gate, m, job->in, job->b, 0, job->row->keys);
    for (int64_t t = 0; t < job->row->keys; t++)
        run_token(job, t);
    if (m->unknown)
        mag_add(job->error, job->error, job->ends);
}

static void job_init(delta_job *job) { each_mag(job, job_fields, COUNT(job_fields), start_mag); }

static void job_clear(delta_job *job) { each_mag(job, job_fields, COUNT(job_fields), end_mag); }

/* error = |scale| (|q| E + (|q^ - q| Q + |q^| Qf)(1+g) + g |q^| Q), and underflow */
static void read_error(mag_t y, mag_t scores, delta_job *job, const row_job *row)
{
    const bound_model *m = job->m;
    const ref_delta *d = &job->row->delta;
    const int64_t last = job->row->keys - 1;
    AUTO_MAG(wrong, q, g, x, score);
    if (!bound_token_error(wrong, m, row->in, ATTEST_Q, d->query, row->b, row->h, row->i,
                           ref_position(row->in, row->b, row->i)))
        job->overflow = 1;
    mag_add(q, d->query, wrong);
    mag_mul(x, q, m->scale);
    if (m->stores_features || m->p->axis[ATTEST_AXIS_KV].value)
        mag_max(x, x, q);
    if (bound_stores_decayed(m))
        mag_mul(x, x, job->most);
    if (m->scales_inputs && mag_cmp(x, m->scaled_limit) > 0)
        job->overflow = 1;
    if (job->chunk == 1 && !job->recurrent && last >= 0) /* of chunks of one token, pairs or the state are read */
        end_chunk(job, last);
    if (job->recurrent) {
        mag_add(job->mass, d->last, job->error);
        mag_zero(job->bad);
    }
    sum_gamma(g, job, 0, last > 0 ? last : 0);
    bound_compose(g, g, m->score);
    mag_mul(scores, wrong, job->mass);
    mag_addmul(scores, q, job->bad);
    mag_addmul(scores, scores, g);
    mag_mul(x, d->query, job->error);
    bound_adjoint_sum(score, row, &job->errors);
    mag_min(x, x, score);
    mag_add(scores, scores, x);
    mag_mul(scores, scores, m->scale);
    mag_mul(y, q, job->mass);
    mag_mul(y, y, m->scale);
    mag_mul(y, y, g);
    bound_delta_cast(y, job, q, g);
    bound_delta_unit(g, job, last);
    mag_add(x, job->mass, job->written);
    mag_add(x, x, q);
    mag_add_ui(x, x, 1);
    mag_mul(x, x, g);
    bound_delta_decays_lost(g, job, last); /* they meet q as well */
    mag_addmul(x, q, g);
    bound_delta_query_lost(g, job, q);
    mag_add(x, x, g);
    mag_add_ui(wrong, m->scale, 1);
    mag_addmul(y, x, wrong);
    mag_mul(x, q, job->mass);
    mag_mul(x, x, m->room);
    mag_mul(x, x, m->scale);
    if (!(mag_cmp(x, m->sum_limit) <= 0))
        job->overflow = 1;
}

void bound_delta_columns(ref_bound *bound, row_job *job)
{
    delta_job delta = { .m = &job->model, .row = job->row, .in = job->in, .b = job->b, .g = job->g };
    const slong keys = (slong)job->row->keys;
    AUTO_MAG(score, sum, none);
    job_init(&delta);
    delta.errors = (bound_errors){ _mag_vec_init(keys), _mag_vec_init(keys), _mag_vec_init(keys) };
    run(&delta);
    read_error(sum, score, &delta, job);
    mag_one(job->gate);
    if (job->model.gates_rows)
        arb_get_mag(job->gate, job->row->gout);
    bound_row_gate(job->weights.gate_row, job->weights.gate_tiny, &job->model, job->in, job->b, job->i);
    job->weights.overflow = delta.overflow;
    for (int64_t c = 0; c < job->in->p->e; c++) {
        mag_set(bound[c].term[ATTEST_TERM_SCORE], score);
        mag_set(bound[c].term[ATTEST_TERM_ACCUMULATION], sum);
        bound_finish(bound + c, job, job->row->u + c, job->row->o + c, none, 1);
    }
    _mag_vec_clear(delta.errors.local, keys);
    _mag_vec_clear(delta.errors.plain, keys);
    _mag_vec_clear(delta.errors.decayed, keys);
    job_clear(&delta);
}

int bound_delta_state(mag_t error, const bound_model *m, const ref_row *row, const ref_inputs *in, int64_t b, int64_t g)
{
    delta_job delta = { .m = m, .row = row, .in = in, .b = b, .g = g };
    job_init(&delta);
    run(&delta);
    if (row->keys > 0 && !delta.recurrent)
        end_chunk(&delta, row->keys - 1);
    mag_set(error, delta.error);
    const int good = !delta.overflow;
    job_clear(&delta);
    return good;
}
