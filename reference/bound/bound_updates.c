/* bound_updates.c - states that are updated in the order of the tokens: the sizes of the states themselves (R-UPDATE).
 *
 * An update rounds the state as it is, and no sum of absolute terms.  Sizes are norm2 of a column of S_n after each
 * token, in double; what that changes, at most so many 2^-52 of the sum of the terms' norms, is added.  They are those
 * of a KV head, whatever the query, and are kept until another head is asked for.
 */
#include "reference/bound/bound_row.h"

#include <float.h>
#include <stdlib.h>

enum { MOST_NUMBERS = 1 << 25 }; /* of the sizes that are kept: 256 MiB */
static const double most_products = 0x1p32;
/* Where the squares of a norm may vanish; far below anything that counts. */
static const double least_norm = 0x1p-500;

/* KV head (b,g) after tokens 0..tokens-1.  A column: one of v's, or the last one, that of the z-state. */
typedef struct ref_update_cache {
    const ref_inputs *in;
    int64_t b, g, tokens, room, dim, width, rows, top; /* rows of all degrees, of the highest */
    int lowest, degrees;
    int flushed;                        /* a factor of the token is below the normal numbers */
    int64_t good;                       /* tokens before the first one with a number not known well enough */
    double *phi, *power[2], *v, *decay; /* one token: dim, top, width, dim */
    double *state, *square, *mass;      /* [rows][width], [width], [degrees][width]: sums of the terms' norms */
    double *size;                       /* [degrees][room][width] */
    arb_ptr key;
} ref_update_cache;

void ref_update_cache_free(struct ref_update_cache *cache)
{
    if (!cache)
        return;
    _arb_vec_clear(cache->key, (slong)cache->dim);
    free(cache->phi);
    free(cache);
}

/* 1 if the sizes of all tokens of a head are worth their room and time. */
static int affordable(const ref_inputs *in, int64_t rows)
{
    const double tokens = (double)in->p->m, width = (double)in->p->e + 1;
    const double degrees = in->highest - in->lowest + 1;
    return rows > 0 && degrees > 0 && (double)rows * width * tokens <= most_products &&
           degrees * width * tokens <= MOST_NUMBERS && (double)rows * width <= MOST_NUMBERS;
}

static ref_update_cache *cache_new(const ref_inputs *in, int64_t rows)
{
    const int64_t dim = attest_feature_dim(in->p), width = in->p->e + 1, room = in->p->m;
    const int64_t top = attest_state_rows(dim, in->highest, 0), degrees = in->highest - in->lowest + 1;
    ref_update_cache *y = calloc(1, sizeof *y);
    if (!y)
        return NULL;
    *y = (ref_update_cache){ .in = in, .b = -1, .room = room, .dim = dim, .width = width, .rows = rows, .top = top };
    y->lowest = in->lowest;
    y->degrees = (int)degrees;
    y->phi = calloc((size_t)(2 * dim + 2 * top + (2 + rows + degrees + degrees * room) * width), sizeof(double));
    if (!y->phi) {
        free(y);
        return NULL;
    }
    y->decay = y->phi + dim;
    y->power[0] = y->decay + dim;
    y->power[1] = y->power[0] + top;
    y->v = y->power[1] + top;
    y->square = y->v + width;
    y->state = y->square + width;
    y->mass = y->state + rows * width;
    y->size = y->mass + degrees * width;
    y->key = _arb_vec_init((slong)dim);
    return y;
}

static void start(ref_update_cache *y, int64_t b, int64_t g)
{
    y->b = b;
    y->g = g;
    y->tokens = 0;
    y->good = INT64_MAX;
    for (int64_t at = 0; at < (y->rows + y->degrees) * y->width; at++) /* mass lies behind state */
        y->state[at] = 0;
}

/* phi(k_t) to the nearest doubles; *norm >= its norm2.  Each is within 2^-50 *norm. */
static void read_key(ref_update_cache *y, mag_t norm, int64_t t)
{
    const attest_tensor *k = y->in->role[ATTEST_K];
    AUTO_MAG(x, rest);
    mag_zero(norm);
    int bad = !axis_phi(y->key, y->in, k, attest_offset(k, y->b, y->g, t, 0), k->stride[3], t, 128);
    for (int64_t r = 0; r < y->dim; r++) {
        y->phi[r] = arf_get_d(arb_midref(y->key + r), ARF_RND_NEAR);
        arb_get_mag(x, y->key + r);
        mag_addmul(norm, x, x);
        mag_addmul(rest, arb_radref(y->key + r), arb_radref(y->key + r));
    }
    mag_sqrt(norm, norm);
    mag_sqrt(rest, rest);
    mag_mul_2exp_si(x, norm, -51);
    bad |= mag_cmp(rest, x) > 0;
    y->good = bad && t < y->good ? t : y->good;
}

/* gin_t v_t and 1, and the factors of token t; returns the largest of them. */
static double read_token(ref_update_cache *y, const ref_row *row, int64_t t)
{
    const attest_tensor *v = y->in->role[ATTEST_V];
    const int gated = axis_gates_of(y->in->p)->values;
    const double gate = gated ? arf_get_d(arb_midref(row->gin + t - row->first), ARF_RND_NEAR) : 1;
    double most = 0;
    AUTO_MAG(x);
    y->flushed = 0;
    if (gated) {
        mag_set_d(x, gate);
        mag_mul_2exp_si(x, x, -51);
        if (mag_cmp(arb_radref(row->gin + t - row->first), x) > 0 && t < y->good)
            y->good = t;
    }
    for (int64_t c = 0; c + 1 < y->width; c++)
        y->v[c] = gate * attest_load(v, attest_offset(v, y->b, y->g, t, c));
    y->v[y->width - 1] = 1;
    for (int64_t r = 0; r < y->dim; r++) {
        const double a = t > 0 ? axis_decay_factor(y->in, y->b, y->g, t, axis_decay_of(y->in->p)->vector ? r : 0) : 1;
        y->decay[r] = a;
        if (attest_log_decays(y->in->p) && __builtin_fabs(a) < DBL_MIN) {
            y->decay[r] = 0; /* not known to a unit of its own: see take_token() */
            y->flushed = 1;
        }
        most = __builtin_fabs(a) > most ? __builtin_fabs(a) : most;
    }
    return most;
}

/* One degree: S := a S + k^(x n) v, and the squares of its columns. */
static void update_degree(ref_update_cache *y, double *state, const double *power, int64_t rows)
{
    const int vector = axis_decay_of(y->in->p)->vector;
    for (int64_t c = 0; c < y->width; c++)
        y->square[c] = 0;
    for (int64_t r = 0; r < rows; r++) {
        const double a = y->decay[vector ? r : 0], k = power[r];
        double *s = state + r * y->width;
        for (int64_t c = 0; c < y->width; c++) {
            s[c] = a * s[c] + k * y->v[c];
            y->square[c] += s[c] * s[c];
        }
    }
}

static double root(double x)
{
    AUTO_MAG(y);
    if (!(x <= DBL_MAX))
        return (double)INFINITY;
    mag_set_d(y, x);
    mag_sqrt(y, y);
    return ref_mag_upper(y);
}

static void take_token(ref_update_cache *y, const ref_row *row)
{
    const int64_t t = y->tokens;
    double *power = y->power[0], *next = y->power[1], *state = y->state;
    int64_t rows = 1;
    AUTO_MAG(norm, x);
    read_key(y, norm, t);
    const double most = read_token(y, row, t);
    power[0] = 1;
    for (int n = 0; n < y->lowest + y->degrees; n++) {
        if (n > 0) {
            for (int64_t r = 0; r < rows; r++)
                for (int64_t c = 0; c < y->dim; c++)
                    next[r * y->dim + c] = power[r] * y->phi[c];
            double *other = power;
            power = next;
            next = other;
            rows *= y->dim;
        }
        if (n < y->lowest)
            continue;
        const int64_t at = n - y->lowest;
        const double slack = (double)(4 * (t + 1) + 8 * n + rows + 40) * 0x1p-52;
        double *mass = y->mass + at * y->width, *size = y->size + (at * y->room + t) * y->width;
        mag_pow_ui(x, norm, (ulong)n);
        const double k = ref_mag_upper(x);
        update_degree(y, state, power, rows);
        for (int64_t c = 0; c < y->width; c++) {
            /* 2^-1022 of that is below what least_norm in it is multiplied by */
            y->good = y->flushed && !(mass[c] <= 0x1p440) && t < y->good ? t : y->good;
            mass[c] = (most * mass[c] + k * __builtin_fabs(y->v[c])) * (1 + 0x1p-50) + least_norm;
            size[c] = root(y->square[c]) * (1 + slack) + mass[c] * slack + least_norm;
        }
        state += rows * y->width;
    }
    y->tokens++;
}

/* The sizes of the row's KV head after all of its tokens; NULL: not known. */
static const ref_update_cache *sizes_of(ref_update_cache **kept, const row_job *job)
{
    ref_update_cache *y = *kept;
    if (!y)
        *kept = y = cache_new(job->in, job->model.full_rows);
    if (!y)
        return NULL;
    if (y->b != job->b || y->g != job->g)
        start(y, job->b, job->g);
    while (y->tokens < job->row->last)
        take_token(y, job->row);
    return job->row->last <= y->good ? y : NULL;
}

/* ---- what a row's query makes of them ---------------------------------------------------------------------------- */
/* factor[n][t] >= |coefficient_n| |phi(q)|^n |D_(t,i)|; with decay=vector the norm of the decayed query. */
static void set_factors(double *factor, const row_job *job)
{
    const ref_inputs *in = job->in;
    const attest_tensor *q = in->role[ATTEST_Q];
    const int64_t dim = attest_feature_dim(in->p), keys = job->row->keys, first = job->row->first;
    AUTO_MAG(norm, x, y);
    arb_ptr phi = _arb_vec_init((slong)dim);
    mag_ptr size = _mag_vec_init((slong)dim);
    axis_phi(phi, in, q, attest_offset(q, job->b, job->h, job->i, 0), q->stride[3], ref_position(in, job->b, job->i),
             64);
    for (int64_t r = 0; r < dim; r++) {
        arb_get_mag(size + r, phi + r);
        mag_addmul(norm, size + r, size + r);
    }
    mag_sqrt(norm, norm);
    for (int n = in->lowest; n <= in->highest && !job->model.vector; n++) {
        axis_degree_size(y, in->p, n);
        mag_pow_ui(x, norm, (ulong)n);
        mag_mul(y, y, x);
        for (int64_t t = 0; t < keys; t++) {
            mag_mul(x, y, job->row->decay + t);
            factor[(n - in->lowest) * keys + t] = ref_mag_upper(x);
        }
    }
    for (int64_t t = job->i; t >= first && job->model.vector; t--) { /* degree 1: D_(t,i), then one factor more */
        mag_zero(norm);
        for (int64_t r = 0; r < dim; r++)
            mag_addmul(norm, size + r, size + r);
        mag_sqrt(norm, norm);
        axis_degree_size(y, in->p, 1);
        mag_mul(norm, norm, y);
        if (t < job->row->last)
            factor[t - first] = ref_mag_upper(norm);
        for (int64_t r = 0; r < dim && t > first; r++) {
            axis_decay_size(x, in, job->b, job->g, t, r);
            mag_mul(size + r, size + r, x);
        }
    }
    _mag_vec_clear(size, (slong)dim);
    _arb_vec_clear(phi, (slong)dim);
}

/* Per column, of x_t = sum_n factor_n size_n after token t. */
typedef struct update_sums {
    double *sum;  /* over windows of `length` tokens, the largest x_t of each */
    double *scan; /* the same of x_t times the roundings of a scan, and so many windows' times its largest */
    double *last; /* the largest x_t after one of the last length + 1 tokens */
    double *most; /* room: 3 numbers a column */
} update_sums;

/* Roundings that a sum over tokens up to t meets where it joins the one behind it, in a scan over chunks: that of the
 * addition, of either side, and those of a decay up to the query. */
static double scan_roundings(const row_job *job, int64_t t)
{
    const int64_t behind = job->i > t ? job->i - t : 0;
    if (job->model.numerics->schedule == ATTEST_SCHEDULE_RECURRENT)
        return 0;
    return (double)(2 + bound_decay_steps(&job->model, behind));
}

/* Infinite where one is a NaN. */
static inline double larger(double a, double b) { return a > b ? a : b >= a ? b : (double)INFINITY; }

static void add_sizes(update_sums *s, const ref_update_cache *y, const double *factor, const row_job *job)
{
    const int64_t keys = job->row->keys, length = job->model.update, width = y->width;
    double *most = s->most, *scan = most + width, *top = scan + width;
    for (int64_t from = 0; from < keys; from += length) {
        for (int64_t c = 0; c < width; c++)
            most[c] = scan[c] = 0;
        for (int64_t t = from; t < keys && t < from + length; t++) {
            const double roundings = scan_roundings(job, t);
            for (int64_t c = 0; c < width; c++) {
                double x = 0;
                for (int n = 0; n < y->degrees; n++)
                    x += factor[n * keys + t] * y->size[(n * y->room + t) * width + c];
                most[c] = larger(most[c], x);
                scan[c] = larger(scan[c], x * roundings);
                if (t + length + 1 >= keys)
                    s->last[c] = larger(s->last[c], x);
            }
        }
        for (int64_t c = 0; c < width; c++) {
            s->sum[c] += most[c];
            s->scan[c] += scan[c];
            top[c] = larger(top[c], scan[c]);
        }
    }
    for (int64_t c = 0; c < width; c++)
        s->scan[c] += top[c] * (double)(keys / length + 2);
}

/* x >= 0, a sum of products with `count` roundings at most. */
static void lifted(mag_t y, double x, int64_t count)
{
    AUTO_MAG(factor);
    if (x >= 0 && x <= DBL_MAX)
        mag_set_d(y, x);
    else
        mag_inf(y);
    mag_set_ui_2exp_si(factor, (ulong)count, -52);
    mag_add_ui(factor, factor, 1);
    mag_mul(y, y, factor);
    mag_add_ui_2exp_si(y, y, (ulong)count, -1060);
}

/* What an update does to a state, or a term; one rounding of a scan; a readout. */
static void set_gammas(mag_t update, mag_t one, mag_t read, const row_job *job)
{
    const bound_model *m = &job->model;
    mag_srcptr made = job->weights.decay_made;
    const int64_t chunk = m->update, behind = job->i - job->row->last + 1;
    AUTO_MAG(u, x);
    mag_max(u, m->u, m->u_sum);
    bound_gamma(update, bound_update_roundings(m), u);
    bound_gamma(x, bound_update_exponentials(m), made);
    bound_compose(update, update, x);
    bound_gamma(x, bound_update_stores(m), m->u_state);
    bound_compose(update, update, x);
    const int64_t scan = 2 + bound_decay_steps(m, job->i + 1);
    bound_gamma(one, scan, u);
    mag_div_ui(one, one, (ulong)scan);
    bound_compose(one, one, m->u_state);
    bound_compose(one, one, made);
    bound_gamma(read, m->rows + 2 * m->degree + 4 + chunk + bound_decay_steps(m, (behind > 0 ? behind : 0) + chunk), u);
    bound_gamma(x, bound_state_stores(m, behind > 0 ? behind : 0), m->u_state);
    bound_compose(read, read, x);
    bound_gamma(x, (behind > 0 ? behind : 0) + chunk, made);
    bound_compose(read, read, x);
}

static void set_column(mag_t y, const update_sums *s, int64_t c, const mag_t update, const mag_t one, const mag_t read,
                       int64_t count)
{
    AUTO_MAG(x);
    lifted(y, s->sum[c], count);
    mag_mul(y, y, update);
    lifted(x, s->scan[c], count);
    mag_addmul(y, x, one);
    lifted(x, s->last[c], count);
    mag_addmul(y, x, read);
}

void bound_updates_set(row_job *job)
{
    const bound_model *m = &job->model;
    const ref_row *row = job->row;
    const int64_t keys = row->keys, width = job->in->p->e + 1;
    ref_update_cache *own = NULL, **kept = job->in->updates ? job->in->updates : &own;
    const ref_update_cache *y = NULL;
    double *block = NULL;
    AUTO_MAG(update, one, read, x);
    for (int64_t c = 0; c < width; c++)
        mag_inf(job->update + c);
    const int added = !mag_is_zero(job->weights.decay_log) && !bound_decay_multiplied(m);
    if (!m->update || added || row->first != 0 || keys < 1 || (m->vector && job->i < row->last - 1) ||
        !affordable(job->in, m->full_rows))
        goto out;
    y = sizes_of(kept, job);
    block = calloc((size_t)(6 * width + (job->in->highest - job->in->lowest + 1) * keys), sizeof *block);
    if (!y || !block)
        goto out;
    update_sums s = { block, block + width, block + 2 * width, block + 3 * width };
    set_factors(block + 6 * width, job);
    add_sizes(&s, y, block + 6 * width, job);
    set_gammas(update, one, read, job);
    for (int64_t c = 0; c < width; c++)
        set_column(job->update + c, &s, c, update, one, read, keys + y->degrees + 16);
out:
    free(block);
    ref_update_cache_free(own);
}

void bound_updates_find(mag_t y, mag_t probable, const row_job *job, const mag_t terms, const mag_t moved, int64_t c)
{
    AUTO_MAG(all, x);
    if (!job->model.update)
        return;
    mag_mul(x, terms, job->weights.gamma_state);
    mag_add(x, x, moved);
    mag_mul(x, x, job->weights.gamma_state); /* what roundings of these errors bring */
    mag_add(x, x, job->update + c);
    mag_sub(all, job->weights.gamma_state, job->weights.gamma_term); /* what R-STATE says; the rest is in `moved` */
    mag_mul(all, all, terms);
    mag_min(y, x, all);
    mag_sub(x, job->weights.likely_state, job->weights.gamma_term);
    mag_mul(x, x, terms);
    mag_min(probable, y, x);
}
