/* bound_delta.c - update=delta and efla: error of the state, token by token, and of what is read from it (R-DELTA).
 *
 * E bounds the distance of the kernel's state from the true one, as the largest norm2 of a column.  Inside a chunk the
 * kernel's state is the one that its written values imply: decayed start plus sum of k_j^T w_j.  Q bounds the mass of
 * those terms, with keys as the kernel has them, and Qf the part of it that the features' errors bring.
 */
#include "reference/bound/bound_row.h"

typedef struct delta_job {
    const bound_model *m;
    const ref_row *row;
    const ref_inputs *in;
    int64_t b, g;
    int recurrent;           /* the state is stored after every token and is what is read */
    int64_t chunk, start;    /* tokens a chunk; first token of the one at hand */
    mag_t error, mass, bad;  /* E, Q, Qf */
    mag_t fresh;             /* the part of Q that this chunk's tokens wrote: pairs */
    mag_t peak;              /* the largest Q before a decay since the start of the chunk */
    mag_t most, logs;        /* R-DECAY; logs: relative error of D by way of logarithms */
    mag_t gate;              /* relative error of a gated value */
    mag_t top, growth, ends; /* unknown: largest Q, product of growths above 1, roundings at ends of chunks */
    mag_t key_top, written;  /* largest key; sum of |w| */
    bound_errors errors;     /* of each token; NULL: nobody asks */
    int overflow;
} delta_job;

/* What one token brings. */
typedef struct delta_token {
    mag_t key, wrong;   /* |k^|, |k^ - k| */
    mag_t before, old;  /* Q and E of S', after the decay */
    mag_t theta, shift; /* error of b: relative, absolute */
    mag_t write, local; /* |w^|; error of w^ beside that of S' */
} delta_token;

static const size_t token_fields[] = {
    offsetof(delta_token, key),   offsetof(delta_token, wrong), offsetof(delta_token, before),
    offsetof(delta_token, old),   offsetof(delta_token, theta), offsetof(delta_token, shift),
    offsetof(delta_token, write), offsetof(delta_token, local),
};
static const size_t job_fields[] = {
    offsetof(delta_job, error), offsetof(delta_job, mass),    offsetof(delta_job, bad),     offsetof(delta_job, most),
    offsetof(delta_job, logs),  offsetof(delta_job, gate),    offsetof(delta_job, top),     offsetof(delta_job, growth),
    offsetof(delta_job, ends),  offsetof(delta_job, key_top), offsetof(delta_job, written), offsetof(delta_job, peak),
    offsetof(delta_job, fresh),
};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void each_mag(void *base, const size_t *fields, size_t count, void (*act)(mag_t))
{
    for (size_t k = 0; k < count; k++)
        act((mag_ptr)(void *)((char *)base + fields[k]));
}

/* Calls: some compilers lose the size of a mag_t whose inline copy they have seen. */
__attribute__((noinline)) static void copy(mag_t y, const mag_t x) { mag_set(y, x); }

__attribute__((noinline)) static void raise_to(mag_t y, const mag_t x)
{
    if (mag_cmp(y, x) < 0)
        mag_set(y, x);
}

static void start_mag(mag_t x) { mag_init(x); }
static void end_mag(mag_t x) { mag_clear(x); }

static int64_t roundings(const delta_job *job, int64_t t)
{
    const int64_t since = t - job->start;
    return since + 6 + (job->recurrent ? 0 : bound_decay_steps(job->m, since + 1));
}

/* g = gamma_(n + since ..) and what logarithms add */
/* Keys and queries times decays may be stored. */
static int stores_decayed(const delta_job *job)
{
    return bound_decays_tokens(job->m) && job->m->scales_inputs && !job->recurrent;
}

static mag_srcptr tiny_of(const delta_job *job)
{
    const bound_model *m = job->m;
    return stores_decayed(job) && mag_cmp(m->scaled_tiny, m->tiny_sum) > 0 ? m->scaled_tiny : m->tiny_sum;
}

static void sum_gamma(mag_t g, const delta_job *job, int64_t n, int64_t t)
{
    AUTO_MAG(u);
    mag_max(u, job->m->u, job->m->u_sum);
    bound_gamma(g, n + roundings(job, t), u);
    bound_compose(g, g, job->logs);
    if (stores_decayed(job)) { /* both factors of a pair */
        bound_compose(g, g, job->m->scaled);
        bound_compose(g, g, job->m->scaled);
    }
}

/* |v_t|, the largest, before its gate. */
static void raw_value(mag_t y, const delta_job *job, int64_t t)
{
    const attest_tensor *v = job->in->role[ATTEST_V];
    AUTO_MAG(x);
    mag_zero(y);
    for (int64_t c = 0; c < job->in->p->e; c++) {
        mag_set_d(x, attest_load(v, attest_offset(v, job->b, job->g, t, c)));
        raise_to(y, x);
    }
}

/* Underflow of an operation, or of a product of decays, on the way to token t: times the factors above 1; and of
 * exponentials that make a decay (R-DECAY). */
static void lost_unit(mag_t y, const delta_job *job, const mag_t tiny, int64_t t)
{
    AUTO_MAG(x, one);
    mag_one(one);
    mag_mul_ui(x, tiny, 8 * (ulong)(attest_feature_dim(job->m->p) + t + 2));
    bound_decay_flush(y, job->m, one, job->logs, t + 1);
    mag_add(y, y, x);
    mag_mul(y, y, job->most);
}

/* What decays lose on the terms that the state is made of, before they decay. */
static void decays_lost(mag_t y, const delta_job *job, int64_t t)
{
    AUTO_MAG(unit);
    mag_zero(y);
    if (!job->m->decays || job->recurrent)
        return;
    lost_unit(unit, job, tiny_of(job), t);
    mag_add_ui(y, job->key_top, 1); /* the product of a key and its decay underflows too, whatever the key's size */
    mag_mul(y, y, job->written);
    mag_add(y, y, job->peak);
    mag_mul(y, y, unit);
}

/* Underflow of any of the operations that make one written value: each loses tiny times other factors. */
static void lose(mag_t y, const delta_job *job, const delta_token *token, int64_t t)
{
    const ref_delta *d = &job->row->delta;
    AUTO_MAG(x, z);
    mag_add(x, token->before, d->value + t);
    mag_add(x, x, job->peak); /* a decay may be flushed */
    mag_add(x, x, job->written);
    mag_add_ui(x, x, 1);
    mag_add_ui(z, job->key_top, 1);
    mag_mul(z, z, z);
    mag_mul(x, x, z);
    mag_add_ui(z, d->rate + t, 1);
    mag_mul(x, x, z);
    lost_unit(z, job, tiny_of(job), t);
    mag_addmul(y, x, z);
    if (job->m->gates_values && (job->m->flags & ATTEST_FTZ || !axis_gates_of(job->m->p)->stored)) {
        mag_mul(x, d->rate + t, job->m->normal); /* a stored gate that is flushed, one of gates=heads: R-GATE */
        mag_mul_2exp_si(x, x, 3);
        raw_value(z, job, t);
        mag_addmul(y, x, z);
    }
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
    bound_gamma(g, m->narrows ? 5 : 4, m->u);
    bound_compose(x, g, job->gate);
    mag_addmul(part, d->value + t, x);
    mag_add(part, part, m->gated_tiny);
    bound_compose(g, g, y->theta);
    bound_compose(g, g, m->written);
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
    lose(part, job, y, t);
    mag_add(part, part, m->written_tiny);
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
    mag_mul_ui(g, tiny_of(job), (ulong)(last - job->start + 1) * (ulong)attest_feature_dim(job->m->p));
    mag_add(x, x, g); /* products of keys and written values */
    decays_lost(g, job, last);
    mag_add(x, x, g);
    add_error(job, x, last);
    add_error(job, job->bad, last);
}

/* Q, Qf and E of S'. */
static void before_token(delta_token *y, delta_job *job, int64_t t)
{
    const ref_delta *d = &job->row->delta;
    AUTO_MAG(x);
    const int first = t % job->chunk == 0;
    if (first && t > 0 && !job->recurrent)
        end_chunk(job, t - 1);
    if (first) {
        job->start = t;
        mag_zero(job->fresh);
        copy(job->peak, job->mass);
    }
    raise_to(job->peak, job->mass);
    mag_add(x, job->error, job->ends);
    mag_mul(y->old, x, d->decay + t);
    if (job->m->decays && job->m->flags & ATTEST_FTZ) /* a decay below 2^emin counts as 0 */
        mag_addmul(y->old, job->m->normal, job->mass);
    if (job->m->decays && stores(job)) { /* the decay of a stored state rounds once */
        mag_add(x, y->old, d->size + t);
        mag_mul(x, x, job->m->u);
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

/* E after the token: grow E + (1 + b |k|^2)(rounding of the decay) + |k| local + rounding of the stored state. */
static void after_token(const delta_token *y, delta_job *job, int64_t t)
{
    const ref_delta *d = &job->row->delta;
    AUTO_MAG(x, g);
    mag_mul(job->error, job->error, d->grow + t);
    if (job->m->decays && stores(job)) {
        mag_add(x, d->size + t, y->old);
        mag_mul(x, x, job->m->u);
        mag_mul_ui(g, job->m->tiny, (ulong)attest_feature_dim(job->m->p));
        mag_add(x, x, g);
        if (job->m->flags & ATTEST_FTZ)
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
    if (job->m->unknown) { /* any chunks: 24 roundings a token of the largest mass, and all growth since */
        raise_to(job->top, job->mass);
        mag_set_ui(x, 1);
        raise_to(x, d->grow + t);
        mag_mul(job->growth, job->growth, x);
        copy(x, job->m->u);
        raise_to(x, job->m->u_sum);
        bound_gamma(x, 24 * (t + 1), x);
        bound_compose(x, x, job->logs);
        if (!mag_is_zero(job->logs)) { /* chunks of its own: an exponential at the end of each */
            bound_gamma(g, t + 1, job->m->u_exp);
            bound_compose(x, x, g);
        }
        mag_mul(x, x, job->top);
        decays_lost(g, job, t);
        mag_mul_ui(g, g, (ulong)t + 1);
        mag_add(x, x, g);
        mag_mul(job->ends, x, job->growth);
    }
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
    raise_to(job->key_top, y.key);
    if (job->m->stores_features && mag_cmp(y.key, job->m->scaled_limit) > 0)
        job->overflow = 1;
    before_token(&y, job, t);
    bound_efla_rate(y.theta, y.shift, job->m, attest_load(beta, attest_offset(beta, job->b, job->g, t, 0)), d->key + t,
                    y.key, y.wrong);
    set_local(&y, job, t);
    after_token(&y, job, t);
    mag_mul(x, y.key, y.before);
    mag_mul(x, x, job->most);
    if (!(mag_cmp(x, job->m->sum_limit) <= 0) || !(mag_cmp(job->mass, job->m->state_limit) <= 0) ||
        !(mag_cmp(y.write, job->m->sum_limit) <= 0) || !(mag_cmp(d->value + t, job->m->gated_limit) <= 0))
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
    mag_expm1(job->logs, x);
    if (!mag_is_zero(x)) {
        bound_gamma(x, 2, m->u_exp);
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

/* Products of the query with the chunk's keys are cast to p before they meet written values (R-CAST). */
static void cast_pairs(mag_t y, delta_job *job, const mag_t q)
{
    const bound_model *m = job->m;
    AUTO_MAG(x, most);
    if (job->recurrent || mag_is_zero(m->u_cast))
        return;
    mag_mul(x, q, job->fresh);
    mag_mul(x, x, m->scale);
    mag_addmul(y, x, m->u_cast);
    mag_add_ui(x, m->scale, 1); /* before or after the scale */
    mag_mul(x, x, job->most);
    mag_mul(x, x, job->written);
    mag_addmul(y, x, m->tiny_cast);
    mag_mul(x, q, job->key_top);
    mag_mul(x, x, m->room);
    mag_mul(x, x, m->scale);
    mag_mul(x, x, job->most);
    mag_set_ui_2exp_si(most, 1, attest_format_of(m->p->p).emax - 1);
    if (!(mag_cmp(x, most) <= 0))
        job->overflow = 1;
}

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
    if (m->stores_features)
        mag_max(x, x, q);
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
    cast_pairs(y, job, q);
    mag_max(score, m->tiny_sum, m->scaled_tiny);
    lost_unit(g, job, score, last);
    mag_add(x, job->mass, job->written);
    mag_add(x, x, q);
    mag_add_ui(x, x, 1);
    mag_mul(x, x, g);
    decays_lost(g, job, last); /* they meet q as well */
    mag_addmul(x, q, g);
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
