/* ball_delta.c - update=delta and efla in balls (R-DELTA-BALL).
 *
 * S' = diag(a_t) S, S = S' + phi(k_t)^T b_t (gin_t v_t - phi(k_t) S'), u = scale phi(q) S; efla's b_t is
 * (1-e^(-b_t r))/r.  Balls pushed through n tokens would widen by a factor a token.  The step is affine in S, so the
 * state is kept as points and one bound of the 2-norm of the error of each column: a step evaluated at the points
 * encloses the exact step there, and the old error passes through (I - b_t k^T k) diag(a_t), whose norm is at most
 * max(1, |1 - b_t r|) max|a_t|.  A bound of each entry beside it keeps exact zeros: where no key reaches a dimension,
 * nothing errs.
 */
#include "reference/ball/ball.h"

#include <stdlib.h>

enum { RUN_BYTES = 64 << 20, MOST_RUNS = 32 }; /* of all runs that a cache keeps */

/* What a row is told of each token: the arrays of ref_delta. */
enum { KEY, SIZE, VALUE, WRITE, RATE, DECAY, GROW, HISTORIES };

/* The state of KV head (b,g) after tokens 0..tokens-1, at one precision. */
typedef struct ref_delta_run {
    struct ref_delta_run *next;
    const ref_inputs *in;
    int64_t b, g, tokens, dim, e;
    slong prec;
    int started, given; /* given: h0 was read */
    int bad;            /* a value that was read is not finite */
    arb_ptr state;      /* [e][dim] points, column after column */
    mag_ptr error;      /* [e] bound of the 2-norm of (true column - points) */
    mag_ptr entry;      /* [e][dim] bound of the error of each entry, at most that of its column */
    mag_ptr abs_scale;  /* [e][dim] sum of absolute terms */
    mag_ptr history[HISTORIES];
    int64_t room; /* tokens that the histories can hold */
    arb_ptr key;  /* [dim] phi(k_t) */
    mag_ptr key_mag;
    mag_t start;
} ref_delta_run;

static void free_mags(mag_ptr x, int64_t count)
{
    for (int64_t i = 0; x && i < count; i++)
        mag_clear(x + i);
    free(x);
}

static void run_free(ref_delta_run *run)
{
    ref_ball_vector_free(run->state, run->e * run->dim);
    ref_ball_vector_free(run->key, run->dim);
    free_mags(run->key_mag, run->dim);
    free_mags(run->error, run->e);
    free_mags(run->entry, run->e * run->dim);
    free_mags(run->abs_scale, run->e * run->dim);
    for (int a = 0; a < HISTORIES; a++)
        free_mags(run->history[a], run->room);
    mag_clear(run->start);
    free(run);
}

void ref_delta_runs_free(struct ref_delta_run *list)
{
    while (list) {
        ref_delta_run *next = list->next;
        run_free(list);
        list = next;
    }
}

static attest_status no_memory(attest_error *err)
{
    return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for the state of the delta rule");
}

static ref_delta_run *run_new(const ref_inputs *in)
{
    ref_delta_run *run = calloc(1, sizeof *run); /* all zero bits = mag_init */
    if (!run)
        return NULL;
    run->in = in;
    run->dim = attest_feature_dim(in->p);
    run->e = in->p->e;
    run->state = ref_ball_vector(run->e * run->dim);
    run->key = ref_ball_vector(run->dim);
    run->key_mag = calloc((size_t)run->dim, sizeof(mag_struct));
    run->error = calloc((size_t)run->e, sizeof(mag_struct));
    run->entry = calloc((size_t)(run->e * run->dim), sizeof(mag_struct));
    run->abs_scale = calloc((size_t)(run->e * run->dim), sizeof(mag_struct));
    if (run->state && run->key && run->key_mag && run->error && run->entry && run->abs_scale)
        return run;
    run_free(run);
    return NULL;
}

/* Room for the histories of `tokens` tokens. */
static int run_reserve(ref_delta_run *run, int64_t tokens)
{
    int64_t room = run->room ? run->room : 64;
    while (room < tokens)
        room *= 2;
    for (int a = 0; a < HISTORIES && room > run->room; a++) {
        mag_ptr more = realloc(run->history[a], (size_t)room * sizeof(mag_struct)); /* a mag moves like any bits */
        if (!more)
            return 0; /* what is longer by now holds zeros beyond run->room: free() is enough for them */
        run->history[a] = more;
        for (int64_t t = run->room; t < room; t++)
            mag_init(more + t);
    }
    run->room = room;
    return 1;
}

/* norm = upper bound of the 2-norm of count balls. */
static void norm_of(mag_t norm, arb_srcptr x, int64_t count)
{
    AUTO_MAG(size);
    mag_zero(norm);
    for (int64_t r = 0; r < count; r++) {
        arb_get_mag(size, x + r);
        mag_addmul(norm, size, size);
    }
    mag_sqrt(norm, norm);
}

static void read_value(ref_delta_run *run, arb_t x, const attest_tensor *t, int64_t offset)
{
    arb_set_d(x, attest_load(t, offset));
    run->bad |= !arb_is_finite(x);
}

/* S(-1) = h0, or 0. */
static void run_start(ref_delta_run *run, int64_t b, int64_t g, slong prec)
{
    const attest_tensor *h0 = run->in->h0[1];
    AUTO_MAG(norm);
    run->given = attest_axis_value_of(run->in->p, ATTEST_AXIS_STATE) != ATTEST_STATE_NONE;
    run->b = b;
    run->g = g;
    run->prec = prec;
    run->tokens = 0;
    run->bad = 0;
    run->started = 1;
    mag_zero(run->start);
    for (int64_t c = 0; c < run->e; c++) {
        arb_ptr column = run->state + c * run->dim;
        for (int64_t r = 0; r < run->dim; r++) {
            arb_zero(column + r);
            if (run->given)
                read_value(run, column + r, h0, attest_offset(h0, b, g, r, c));
            arb_get_mag(run->abs_scale + c * run->dim + r, column + r);
            mag_zero(run->entry + c * run->dim + r);
        }
        mag_zero(run->error + c);
        norm_of(norm, column, run->dim);
        mag_max(run->start, run->start, norm);
    }
}

/* The factor of token t for key dimension r. */
static void read_factor(ref_delta_run *run, arb_t x, int64_t t, int64_t r)
{
    axis_decay_ball(x, run->in, run->b, run->g, t, r, run->prec);
    run->bad |= !arb_is_finite(x);
}

/* S' = decay(S), abs_scale and entry too; most = max |a_t|.  Token 0 meets a decay only where a state was given. */
static void decay_state(ref_delta_run *run, mag_t most, int64_t t)
{
    AUTO_ARB(a);
    AUTO_MAG(size);
    mag_one(most);
    if (!axis_decay_of(run->in->p)->set || (t == 0 && !run->given))
        return;
    mag_zero(most);
    for (int64_t r = 0; r < run->dim; r++) {
        read_factor(run, a, t, r);
        arb_get_mag(size, a);
        mag_max(most, most, size);
        for (int64_t c = 0; c < run->e; c++) {
            const int64_t at = c * run->dim + r;
            arb_mul(run->state + at, run->state + at, a, run->prec);
            mag_mul(run->entry + at, run->entry + at, size);
            mag_mul(run->abs_scale + at, run->abs_scale + at, size);
        }
    }
}

/* rate = b_t, efla: (1 - e^(-b_t r))/r, r = norm2(phi(k_t))^2; left = |1 - rate r|. */
static void load_rate(ref_delta_run *run, arb_t rate, mag_t left, int64_t t)
{
    const attest_tensor *b = run->in->role[ATTEST_BETA];
    const int efla = attest_axis_value_of(run->in->p, ATTEST_AXIS_UPDATE) == ATTEST_UPDATE_EFLA;
    AUTO_ARB(r, x);
    read_value(run, rate, b, attest_offset(b, run->b, run->g, t, 0));
    arb_dot(r, NULL, 0, run->key, 1, run->key, 1, (slong)run->dim, run->prec);
    if (!arb_is_finite(rate) || !arb_is_finite(r)) {
        arb_indeterminate(rate); /* 1 - e^-inf would be 1: what was read stays unknown */
    } else if (efla && !arb_is_zero(r)) {
        arb_mul(x, rate, r, run->prec);
        arb_neg(x, x);
        arb_expm1(x, x, run->prec);
        arb_neg(x, x);
        arb_div(rate, x, r, run->prec);
    }
    arb_mul(x, rate, r, run->prec);
    arb_sub_ui(x, x, 1, run->prec);
    arb_get_mag(left, x);
}

/* What the columns of one step share. */
typedef struct delta_step {
    arb_t rate, gate, value, write;
    mag_t norm, through, size, sum;
} delta_step;

static void step_init(delta_step *s)
{
    arb_init(s->rate);
    arb_init(s->gate);
    arb_init(s->value);
    arb_init(s->write);
    mag_init(s->norm);
    mag_init(s->through);
    mag_init(s->size);
    mag_init(s->sum);
}

static void step_clear(delta_step *s)
{
    arb_clear(s->rate);
    arb_clear(s->gate);
    arb_clear(s->value);
    arb_clear(s->write);
    mag_clear(s->norm);
    mag_clear(s->through);
    mag_clear(s->size);
    mag_clear(s->sum);
}

/* column += phi(k_t) write, then points again: what the balls enclose goes into the bounds.  `size`: of the write,
 * `through`: how much of it the old error is. */
static void write_column(ref_delta_run *run, delta_step *s, int64_t t, int64_t c)
{
    arb_ptr column = run->state + c * run->dim;
    mag_ptr abs_scale = run->abs_scale + c * run->dim, entry = run->entry + c * run->dim, error = run->error + c;
    mag_zero(s->sum);
    for (int64_t r = 0; r < run->dim; r++) {
        mag_addmul(abs_scale + r, run->key_mag + r, s->size);
        arb_addmul(column + r, run->key + r, s->write, run->prec);
        if (!arb_is_finite(column + r))
            mag_inf(arb_radref(column + r));
        mag_addmul(s->sum, arb_radref(column + r), arb_radref(column + r));
        mag_addmul(entry + r, run->key_mag + r, s->through);
        mag_add(entry + r, entry + r, arb_radref(column + r));
        mag_zero(arb_radref(column + r));
    }
    mag_sqrt(s->sum, s->sum);
    mag_mul(error, error, run->history[GROW] + t);
    mag_add(error, error, s->sum);
    for (int64_t r = 0; r < run->dim; r++)
        mag_min(entry + r, entry + r, error);
}

/* Column c of S from that of S', which holds balls around the decayed points; |true S' - points'| <= max|a| error. */
static void step_column(ref_delta_run *run, delta_step *s, int64_t t, int64_t c)
{
    const attest_tensor *v = run->in->role[ATTEST_V];
    arb_ptr column = run->state + c * run->dim;
    norm_of(s->size, column, run->dim);
    mag_mul(s->through, run->history[DECAY] + t, run->error + c);
    mag_add(s->size, s->size, s->through);
    mag_max(run->history[SIZE] + t, run->history[SIZE] + t, s->size);
    read_value(run, s->value, v, attest_offset(v, run->b, run->g, t, c));
    arb_mul(s->value, s->value, s->gate, run->prec);
    arb_get_mag(s->size, s->value);
    mag_max(run->history[VALUE] + t, run->history[VALUE] + t, s->size);
    arb_dot(s->write, s->value, 1, run->key, 1, column, 1, (slong)run->dim, run->prec); /* value - <key, column> */
    arb_mul(s->write, s->write, s->rate, run->prec);
    mag_mul(s->through, s->through, run->history[KEY] + t);
    mag_mul(s->through, s->through, run->history[RATE] + t); /* |true write - write| */
    arb_get_mag(s->size, s->write);
    mag_add(s->size, s->size, s->through);
    mag_max(run->history[WRITE] + t, run->history[WRITE] + t, s->size);
    write_column(run, s, t, c);
}

static void run_step(ref_delta_run *run)
{
    const attest_tensor *k = run->in->role[ATTEST_K];
    const int64_t t = run->tokens;
    delta_step s;
    step_init(&s);
    run->bad |= !axis_phi(run->key, run->in, k, attest_offset(k, run->b, run->g, t, 0), k->stride[3], t, run->prec);
    for (int64_t r = 0; r < run->dim; r++)
        arb_get_mag(run->key_mag + r, run->key + r);
    norm_of(run->history[KEY] + t, run->key, run->dim);
    decay_state(run, run->history[DECAY] + t, t);
    load_rate(run, s.rate, run->history[GROW] + t, t);
    arb_get_mag(run->history[RATE] + t, s.rate);
    mag_one(s.norm);
    mag_max(run->history[GROW] + t, run->history[GROW] + t, s.norm);
    mag_mul(run->history[GROW] + t, run->history[GROW] + t, run->history[DECAY] + t);
    run->bad |= !ref_ball_value_gate(s.gate, run->in, run->b, run->g, t, run->prec);
    mag_zero(run->history[SIZE] + t);
    mag_zero(run->history[VALUE] + t);
    mag_zero(run->history[WRITE] + t);
    for (int64_t c = 0; c < run->e; c++)
        step_column(run, &s, t, c);
    run->tokens++;
    step_clear(&s);
}

/* The place of the run of (b,g,prec) in the list; else the end, or the last one to use again where the list is full. */
static ref_delta_run **place_of(ref_delta_run **list, int64_t b, int64_t g, slong prec, int64_t limit)
{
    ref_delta_run **at = list;
    for (; *at; at = &(*at)->next, limit--) {
        const ref_delta_run *run = *at;
        if (limit <= 1 || (run->b == b && run->g == g && run->prec == prec))
            break;
    }
    return at;
}

/* The run of (b,g,prec) after exactly `tokens` tokens: carried on, or started anew where it is further.  The list, the
 * last used first, keeps as many as fit. */
static attest_status run_to(ref_delta_run **found, ref_delta_run **list, const ref_inputs *in, int64_t b, int64_t g,
                            int64_t tokens, slong prec, attest_error *err)
{
    const int64_t bytes = attest_feature_dim(in->p) * in->p->e * ((int64_t)sizeof(arb_struct) + prec / 8);
    ref_delta_run **at = place_of(list, b, g, prec, RUN_BYTES / bytes < MOST_RUNS ? RUN_BYTES / bytes : MOST_RUNS);
    ref_delta_run *run = *at;
    if (run)
        *at = run->next;
    else
        run = run_new(in);
    if (!run)
        return no_memory(err);
    run->next = *list;
    *list = *found = run;
    if (!run_reserve(run, tokens))
        return no_memory(err);
    if (!run->started || run->b != b || run->g != g || run->prec != prec || run->tokens > tokens)
        run_start(run, b, g, prec);
    while (run->tokens < tokens)
        run_step(run);
    return ATTEST_OK;
}

/* ---- what a row and a state read of it -------------------------------------------------------------------------- */
static void copy_history(ref_row *row, const ref_delta_run *run)
{
    ref_delta *d = &row->delta;
    mag_ptr const to[HISTORIES] = { d->key, d->size, d->value, d->write, d->rate, d->decay, d->grow };
    for (int a = 0; a < HISTORIES; a++)
        for (int64_t t = 0; t < row->keys; t++)
            mag_set(to[a] + t, run->history[a] + t);
    mag_set(d->start, run->start);
}

/* The error of <q, column c>, min(norm2(q) error, sum |q_r| entry_r) (Cauchy-Schwarz), and its terms, sum |q_r| G_r. */
static void read_errors(mag_t wrong, mag_t terms, const ref_delta_run *run, arb_srcptr q, const mag_t norm, int64_t c)
{
    AUTO_MAG(x, sum);
    mag_zero(terms);
    for (int64_t r = 0; r < run->dim; r++) {
        arb_get_mag(x, q + r);
        mag_addmul(sum, x, run->entry + c * run->dim + r);
        mag_addmul(terms, x, run->abs_scale + c * run->dim + r);
    }
    mag_mul(wrong, norm, run->error + c);
    mag_min(wrong, wrong, sum);
}

/* u_c = scale <q, S_c> */
static void read_state(ref_row *row, const ref_delta_run *run, arb_srcptr q, slong prec)
{
    AUTO_ARB(scale);
    AUTO_MAG(size, x);
    arb_set_d(scale, run->in->p->scale);
    arb_get_mag(size, scale);
    norm_of(row->delta.query, q, run->dim);
    mag_zero(row->delta.last);
    for (int64_t c = 0; c < run->e; c++) {
        arb_srcptr column = run->state + c * run->dim;
        arb_dot(row->u + c, NULL, 0, q, 1, column, 1, (slong)run->dim, prec);
        read_errors(x, row->delta.terms + c, run, q, row->delta.query, c);
        arb_add_error_mag(row->u + c, x);
        arb_mul(row->u + c, row->u + c, scale, prec);
        mag_mul(row->delta.terms + c, row->delta.terms + c, size);
        norm_of(x, column, run->dim);
        mag_add(x, x, run->error + c);
        mag_max(row->delta.last, row->delta.last, x);
    }
}

static void clear_scores(ref_row *row)
{
    for (int64_t j = 0; j < row->keys; j++) {
        arb_zero(row->s + j);
        arb_zero(row->w + j);
        mag_zero(row->mass + j);
        mag_zero(row->decay + j);
    }
    arb_zero(row->z);
    arb_zero(row->c);
}

attest_status ref_delta_row(ref_row *row, const ref_inputs *in, ref_ball_cache *cache, arb_srcptr q, int64_t b,
                            int64_t g, slong prec, attest_error *err)
{
    attest_status status;
    ref_delta_run *run;
    ATTEST_TRY(run_to(&run, &cache->delta, in, b, g, row->last, prec, err));
    clear_scores(row);
    row->no_truth |= run->bad;
    ATTEST_TRY(ref_ball_gate_keys(row, in, &cache->gin, b, g, prec, err));
    copy_history(row, run);
    read_state(row, run, q, prec);
out:
    return status;
}

attest_status ref_delta_state(arb_ptr out, mag_ptr abs_scale, const ref_inputs *in, int64_t b, int64_t g, slong prec,
                              attest_error *err)
{
    struct ref_delta_run *own = NULL;
    attest_status status;
    ref_delta_run *run;
    int64_t first, last;
    ref_visible(in, b, ref_last_query(in, b), &first, &last);
    ATTEST_TRY(run_to(&run, in->ball ? &in->ball->delta : &own, in, b, g, last > 0 ? last : 0, prec, err));
    for (int64_t r = 0; r < run->dim; r++)
        for (int64_t c = 0; c < run->e; c++) {
            arb_set(out + r * run->e + c, run->state + c * run->dim + r);
            arb_add_error_mag(out + r * run->e + c, run->entry + c * run->dim + r);
            if (abs_scale)
                mag_set(abs_scale + r * run->e + c, run->abs_scale + c * run->dim + r);
        }
out:
    ref_delta_runs_free(own);
    return status;
}
