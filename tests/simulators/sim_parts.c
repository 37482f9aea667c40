/* sim_parts.c - what programs are made of: units, inputs, sums, features, scores, decays. */
#include "tests/simulators/sim.h"

#include <math.h>

/* ---- units -------------------------------------------------------------------------------------------------- */
static tape_unit unit_of(uint32_t dtype, int flush)
{
    const attest_format f = attest_format_of(dtype);
    return (tape_unit){ .u = ldexpl(1, -f.p),
                        .eta = ldexpl(1, f.emin - f.p),
                        .least = ldexpl(1, f.emin),
                        .digits = f.p,
                        .gradual = !flush,
                        .flush = flush ? 1 : 0 };
}

/* A function of relative error u whose results below 2^emin are off by a subnormal more, or may be flushed. */
static tape_unit function_of(const tape_unit *acc, long double u, int flush)
{
    tape_unit unit = *acc;
    unit.u = u;
    unit.eta = 2 * acc->eta;
    unit.function = 1;
    unit.flush = flush ? 1 : 0;
    return unit;
}

static void set_sum(sim *s, uint32_t acc, int flush)
{
    const double given = s->numerics->acc_unit;
    sim_units *unit = &s->unit;
    unit->sum = s->options->narrow_range ? unit_of(ATTEST_F16, flush) : unit_of(acc, flush);
    if (s->options->narrow_range)
        unit->sum.gradual = 0; /* what is added has more digits than it holds */
    if (given > 0) {
        unit->sum.u = given;
        unit->sum.digits = (int)-ilogb(given);
    }
    s->finer = unit->sum.u < unit->acc.u;
}

static void set_units(sim *s)
{
    const attest_numerics *n = s->numerics;
    const int flush = (s->flags & ATTEST_FTZ) != 0;
    sim_units *unit = &s->unit;
    unit->acc = unit_of(s->p->acc, flush);
    if (n->acc_truncates == ATTEST_YES) {
        unit->acc.u *= 2;
        unit->acc.toward_zero = 1;
    }
    unit->input = unit->acc;
    unit->input.digits = 1000;
    if (!flush && attest_format_of(s->p->in).p <= attest_format_of(s->p->acc).p)
        unit->input.u = 0;
    set_sum(s, s->p->acc, flush);
    const tape_unit acc = unit->acc;
    unit->exp = function_of(&acc, n->exp_error > 0 ? n->exp_error : 8 * acc.u, flush || !(n->exp_error > 0));
    unit->function = function_of(&acc, 8 * acc.u, flush);
    unit->expm1 = n->expm1_error > 0 ? function_of(&acc, n->expm1_error, flush) : unit->function;
    unit->tanh = n->tanh_error > 0 ? function_of(&acc, n->tanh_error, flush) : unit->function;
    unit->log = n->log_error > 0 ? function_of(&acc, n->log_error, flush) : unit->function;
    unit->sigmoid = n->sigmoid_error > 0 ? function_of(&acc, n->sigmoid_error, flush) : unit->function;
    unit->score = n->score_dtype ? unit_of(n->score_dtype - 1, flush) : acc;
    unit->div = acc;
    unit->div.u = n->div_error > 0 ? n->div_error : 4 * acc.u;
    if (unit->div.u > acc.u)
        unit->div.function = 1;
    s->casts = attest_format_of(s->p->p).p < attest_format_of(s->p->acc).p;
    unit->cast = unit_of(s->p->p, flush);
    if (n->p_rounding != ATTEST_ROUNDING_NEAREST) {
        unit->cast.u *= 2;
        unit->cast.eta *= 2;
        unit->cast.toward_zero = 1;
    }
    if (s->flags & ATTEST_SERIAL_SUMS)
        unit->cast.nearest = 1 + s->p->p;
    unit->state = n->state_dtype ? unit_of(n->state_dtype - 1, flush) : acc;
    unit->scaled = unit_of(s->options->scaled ? s->options->scaled - 1 : s->p->acc, flush);
    unit->out = unit_of(s->p->out, flush);
    unit->out.ulp = 1;
}

static void make_worse(sim *s)
{
    tape_unit *const units[] = { &s->unit.acc, &s->unit.sum,      &s->unit.exp,   &s->unit.expm1,
                                 &s->unit.div, &s->unit.log,      &s->unit.cast,  &s->unit.state,
                                 &s->unit.out, &s->unit.function, &s->unit.scaled };
    for (size_t k = 0; s->options->worse > 0 && k < sizeof units / sizeof units[0]; k++)
        units[k]->u *= s->options->worse;
}

/* What rounding the scale to its declared type changes: known, but the bound takes its size alone. */
static void set_scale(sim *s)
{
    const uint32_t dtype = s->numerics->scale_dtype;
    const double scale = s->p->scale;
    s->unit.scale = s->unit.acc;
    s->unit.scale.function = 1;
    if (dtype && scale != 0)
        s->unit.scale.u = fabsl(attest_to_f64(dtype - 1, attest_from_f64(dtype - 1, scale)) / (long double)scale - 1);
}

/* Which of the keys [first,last) attn_mask hides, and how many it leaves; which weights dropout drops. */
static void set_hidden(sim *s)
{
    const attest_tensor *mask = attest_bundle_role(s->bundle, ATTEST_MASK);
    const attest_tensor *keep = attest_bundle_role(s->bundle, ATTEST_KEEP);
    s->keys = 0;
    for (int64_t j = s->first; j < s->last; j++) {
        s->hidden[j] = mask && attest_load_int(mask, attest_offset(mask, 0, 0, s->i, j)) == 0;
        s->keys += !s->hidden[j];
        s->dropped[j] = keep && attest_load_int(keep, attest_offset(keep, 0, 0, s->i, j)) == 0;
    }
}

void sim_start(sim *s)
{
    const attest_tensor *lens = attest_bundle_role(s->bundle, ATTEST_KV_LENS);
    s->p = &s->c.problem;
    s->i = s->p->n - 1;
    attest_visible(s->p, (attest_lengths){ lens ? attest_load_int(lens, 0) : s->p->m, s->p->n }, s->i, &s->first,
                   &s->last);
    set_hidden(s);
    s->dim = attest_feature_dim(s->p);
    s->constants = 0;
    s->cuts = 0;
    s->scale = s->root = s->slope = -1;
    for (int64_t t = 0; t < SIM_KEYS; t++)
        for (int64_t c = 0; c < SIM_DIM; c++)
            s->decay[t][c] = s->log_sum[t][c] = -1;
    s->has_u = s->has_z = s->has_lse = s->has_state = 0;
    tape_clear(&s->tape);
    set_units(s);
    make_worse(s);
    set_scale(s);
}

int64_t sim_seen(const sim *s, num *to, const num *x, int64_t first, int64_t last)
{
    int64_t count = 0;
    for (int64_t j = first; j < last; j++)
        if (!s->hidden[j])
            to[count++] = x[j];
    return count;
}

uint32_t sim_axis(const sim *s, attest_axis axis) { return s->p->axis[axis].value; }

static num rounded_input(sim *s, long double x)
{
    const num given = tape_given(&s->tape, x);
    const int narrows = attest_format_of(s->p->in).p > attest_format_of(s->p->acc).p;
    if (!(s->flags & ATTEST_FTZ) && !narrows)
        return given;
    return sim_round(s, narrows ? &s->unit.acc : &s->unit.input, given);
}

num sim_input(sim *s, attest_role role, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    const attest_tensor *t = attest_bundle_role(s->bundle, role);
    if (!t) { /* the program asks for what the problem has not: it is not its formula */
        s->tape.failed = 1;
        return tape_given(&s->tape, 0);
    }
    const num x = rounded_input(s, attest_load(t, attest_offset(t, i0, i1, i2, i3)));
    if (role != ATTEST_K || !attest_kv_scaled(s->p))
        return x;
    if (s->options->cache == CACHE_KEYS)
        return sim_scaled(s, x, sim_input(s, ATTEST_K_SCALE, 0, 0, 0, 0));
    if (sim_axis(s, ATTEST_AXIS_FEATURE) || sim_axis(s, ATTEST_AXIS_ROPE)) /* who maps keys multiplies them first */
        s->tape.failed = 1;
    return x;
}

num sim_given_state(sim *s, int degree, int64_t row, int64_t c, int below)
{
    const attest_tensor_id id = { below ? ATTEST_KIND_Z0 : ATTEST_KIND_H0, (uint32_t)degree };
    const attest_tensor *t = attest_bundle_get(s->bundle, id);
    return rounded_input(s, attest_load(t, attest_offset(t, 0, 0, row, below ? 0 : c)));
}

/* A constant of the program is rounded once, wherever it is used. */
num sim_number(sim *s, long double x)
{
    for (int k = 0; k < s->constants; k++)
        if (s->constant[k].value == x)
            return s->constant[k].node;
    const num node = tape_constant(&s->tape, &s->unit.acc, x);
    if (s->constants < SIM_CONSTANTS)
        s->constant[s->constants++] = (sim_constant){ x, node };
    return node;
}

/* ---- tokens --------------------------------------------------------------------------------------------------- */
static num scale_number(sim *s)
{
    if (!s->numerics->scale_dtype)
        return sim_number(s, s->p->scale);
    if (s->scale < 0)
        s->scale = sim_round(s, s->unit.scale.u == 0 ? NULL : &s->unit.scale, tape_given(&s->tape, s->p->scale));
    return s->scale;
}

/* The scale, times k_scale where that is folded into it. */
static num cache_scale(sim *s, num scale)
{
    if (!attest_kv_scaled(s->p) || s->options->cache != CACHE_SCALE)
        return scale;
    return sim_mul(s, &s->unit.acc, scale, sim_input(s, ATTEST_K_SCALE, 0, 0, 0, 0));
}

num sim_scaled(sim *s, num x, num factor)
{
    const num y = sim_mul(s, &s->unit.acc, x, factor);
    return s->options->scaled ? sim_round(s, &s->unit.scaled, y) : y;
}

static void scale_tokens(sim *s)
{
    const sim_scale where = s->options->scale;
    const tape_unit *acc = &s->unit.acc;
    if ((s->p->scale == 1 && !s->options->scaled) || (where != SCALE_Q && where != SCALE_K && where != SCALE_ROOTS))
        return;
    num factor = cache_scale(s, scale_number(s));
    if (where == SCALE_ROOTS)
        factor = sim_call(s, acc, TAPE_SQRT, factor);
    for (int64_t c = 0; c < s->dim && where != SCALE_K; c++)
        s->q[c] = sim_scaled(s, s->q[c], factor);
    for (int64_t j = s->first; j < s->last && where != SCALE_Q; j++)
        for (int64_t c = 0; c < s->dim; c++)
            s->k[j][c] = sim_scaled(s, s->k[j][c], factor);
}

void sim_tokens(sim *s)
{
    const uint32_t gates = sim_axis(s, ATTEST_AXIS_GATES);
    const int gated = gates == ATTEST_GATES_IN || gates == ATTEST_GATES_INOUT;
    sim_token(s, s->q, ATTEST_Q, s->i, s->i);
    for (int64_t c = 0; attest_kv_scaled(s->p) && s->options->cache == CACHE_QUERY && c < s->dim; c++)
        s->q[c] = sim_scaled(s, s->q[c], sim_input(s, ATTEST_K_SCALE, 0, 0, 0, 0));
    for (int64_t j = 0; j < s->last; j++) {
        sim_token(s, s->k[j], ATTEST_K, j, j);
        const num gate = gated ? sim_input(s, ATTEST_GIN, 0, 0, j, 0) : 0;
        for (int64_t c = 0; c < s->p->e; c++) {
            s->v[j][c] = sim_input(s, ATTEST_V, 0, 0, j, c);
            if (gated)
                s->v[j][c] = sim_mul(s, s->options->gated ? &s->unit.scaled : &s->unit.acc, gate, s->v[j][c]);
        }
    }
}

/* ---- scores --------------------------------------------------------------------------------------------------- */
/* A score, stored after a step. */
static num stored(sim *s, num x) { return s->numerics->score_dtype ? sim_round(s, &s->unit.score, x) : x; }

static num scaled(sim *s, num x)
{
    const int cached = attest_kv_scaled(s->p);
    if (cached && s->options->cache == CACHE_PRODUCT)
        x = sim_mul(s, &s->unit.acc, x, sim_input(s, ATTEST_K_SCALE, 0, 0, 0, 0));
    if (cached && s->options->cache == CACHE_SCALE && s->options->scale == SCALE_SCORE)
        return stored(s, sim_mul(s, &s->unit.acc, x, cache_scale(s, scale_number(s))));
    if (s->p->scale == 1)
        return x;
    if (s->options->scale == SCALE_SCORE)
        return stored(s, sim_mul(s, &s->unit.acc, x, scale_number(s)));
    if (s->options->scale != SCALE_DIVIDE)
        return x;
    if (s->root < 0)
        s->root = sim_call(s, &s->unit.acc, TAPE_SQRT, tape_given(&s->tape, s->p->d));
    return sim_div(s, x, s->root);
}

static int joins_product(const sim *s) { return s->options->bias == BIAS_FOLDED || s->options->bias == BIAS_FIRST; }

static num usual_slope(sim *s)
{
    const attest_usual root = attest_usual_slope(s->p, s->options->head);
    const tape_unit *function = &s->unit.function;
    const long double step = (long double)root.step / (long double)root.heads, all = step * (long double)root.power;
    if (s->options->slope == SLOPE_EXP2)
        return sim_call(s, function, TAPE_EXP2, tape_given(&s->tape, -all));
    if (s->options->slope == SLOPE_EXP) {
        const num ln2 = sim_number(s, 0.693147180559945309417232121458176568L);
        return sim_call(s, function, TAPE_EXP, sim_mul(s, &s->unit.acc, tape_given(&s->tape, -all), ln2));
    }
    const num base = sim_call(s, function, TAPE_EXP2, tape_given(&s->tape, -step));
    num x = base;
    for (int64_t n = 1; n < root.power; n++)
        x = sim_mul(s, s->options->slope == SLOPE_PRODUCT ? &s->unit.acc : NULL, x, base);
    return s->options->slope == SLOPE_PRODUCT ? x : sim_round(s, function, x);
}

static num slope_of(sim *s)
{
    if (sim_axis(s, ATTEST_AXIS_ALIBI) != ATTEST_ALIBI_USUAL)
        return sim_input(s, ATTEST_SLOPE, s->options->head, 0, 0, 0);
    if (s->slope < 0)
        s->slope = usual_slope(s);
    return s->slope;
}

/* slope (j - C); folded: over the scale. */
static num alibi_of(sim *s, int64_t j)
{
    const int64_t place = s->options->alibi == ALIBI_LAST ? j - (s->p->m - 1) : j;
    num slope = slope_of(s);
    if (s->options->alibi == ALIBI_FOLDED && s->p->scale != 1)
        slope = sim_div(s, slope, scale_number(s));
    return sim_mul(s, &s->unit.acc, slope, tape_given(&s->tape, place));
}

/* <q,k>, with bias/scale where that is one of its terms. */
static num product(sim *s, int64_t j)
{
    num term[SIM_DIM + 1];
    if (s->options->alibi == ALIBI_FOLDED)
        return sim_add(s, &s->unit.sum, sim_dot(s, s->q, s->k[j], s->dim), alibi_of(s, j));
    if (!joins_product(s))
        return sim_dot(s, s->q, s->k[j], s->dim);
    const num bias = sim_input(s, ATTEST_BIAS, 0, 0, s->i, j);
    const num part = s->p->scale == 1 ? bias : sim_div(s, bias, scale_number(s));
    if (s->options->bias == BIAS_FOLDED)
        return sim_add(s, &s->unit.sum, sim_dot(s, s->q, s->k[j], s->dim), part);
    term[0] = part;
    for (int64_t c = 0; c < s->dim; c++)
        term[c + 1] = sim_mul(s, &s->unit.sum, s->q[c], s->k[j][c]);
    return sim_total(s, term, s->dim + 1);
}

/* 1 - 2/(e^2x + 1) */
static num tanh_of_one(sim *s, num x)
{
    const tape_unit *acc = &s->unit.acc;
    const num one = tape_given(&s->tape, 1), two = tape_given(&s->tape, 2);
    const num e = sim_call(s, &s->unit.exp, TAPE_EXP, sim_mul(s, acc, two, x));
    return sim_sub(s, acc, one, sim_div(s, two, sim_add(s, acc, e, one)));
}

/* tanh x: a call; or (1 - e)/(1 + e), e = e^(-2|x|), with the sign put back. */
static num hyperbolic(sim *s, num x)
{
    const tape_unit *acc = &s->unit.acc;
    if (s->options->tanh == TANH_CALL)
        return sim_call(s, &s->unit.tanh, TAPE_TANH, x);
    if (s->options->tanh == TANH_ONE)
        return tanh_of_one(s, x);
    const num one = tape_given(&s->tape, 1), sign = tape_given(&s->tape, tape_value(&s->tape, x) < 0 ? 2 : -2);
    const num e = sim_call(s, &s->unit.exp, TAPE_EXP, sim_mul(s, acc, sign, x));
    const num y = sim_div(s, sim_sub(s, acc, one, e), sim_add(s, acc, one, e));
    return tape_value(&s->tape, x) < 0 ? sim_sub(s, NULL, tape_given(&s->tape, 0), y) : y;
}

static num steps(sim *s, num x, int64_t j)
{
    const attest_setting *axis = s->p->axis;
    const tape_unit *acc = &s->unit.acc;
    if (axis[ATTEST_AXIS_CAP].value) {
        const num cap = sim_number(s, axis[ATTEST_AXIS_CAP].number);
        x = stored(s, sim_div(s, x, cap));
        x = stored(s, sim_mul(s, acc, cap, stored(s, hyperbolic(s, x))));
    }
    if (s->options->alibi == ALIBI_KEY || s->options->alibi == ALIBI_LAST) {
        x = stored(s, sim_add(s, acc, x, alibi_of(s, j)));
    } else if (axis[ATTEST_AXIS_ALIBI].value && s->options->alibi != ALIBI_FOLDED) {
        const long double distance = fabsl((long double)(s->i - j));
        const num slope = slope_of(s);
        x = stored(s, sim_sub(s, acc, x, sim_mul(s, acc, slope, tape_given(&s->tape, distance))));
    }
    if (axis[ATTEST_AXIS_BIAS].value && !joins_product(s)) {
        num bias = sim_input(s, ATTEST_BIAS, 0, 0, s->i, j);
        if (s->options->bias == BIAS_NARROWED)
            bias = stored(s, bias);
        if (s->options->bias == BIAS_BASE2) {
            const num log2e = sim_number(s, 1.442695040888963407359924681001892137L);
            x = sim_mul(s, acc, x, log2e);
            bias = sim_mul(s, acc, bias, log2e);
        }
        x = stored(s, sim_add(s, acc, x, bias));
    }
    if (axis[ATTEST_AXIS_CLAMP].value)
        x = stored(s, tape_do(&s->tape, NULL, TAPE_MIN, x, sim_number(s, axis[ATTEST_AXIS_CLAMP].number)));
    return x;
}

void sim_scores(sim *s)
{
    scale_tokens(s);
    for (int64_t j = s->first; j < s->last; j++)
        s->score[j] = steps(s, scaled(s, stored(s, product(s, j))), j);
}

num sim_scale_power(sim *s, int n)
{
    num x = scale_number(s), y = x;
    for (int k = 1; k < n; k++)
        y = sim_mul(s, &s->unit.acc, y, x);
    return y;
}

/* ---- decays --------------------------------------------------------------------------------------------------- */
int sim_decays(const sim *s) { return sim_axis(s, ATTEST_AXIS_DECAY) != ATTEST_DECAY_NONE; }

num sim_decay_factor(sim *s, int64_t t, int64_t c)
{
    const uint32_t kind = sim_axis(s, ATTEST_AXIS_DECAY);
    t = kind == ATTEST_DECAY_RETNET ? 0 : t;
    c = kind == ATTEST_DECAY_VECTOR ? c : 0;
    if (s->decay[t][c] < 0 && sim_axis(s, ATTEST_AXIS_DECAY_INPUT))
        s->decay[t][c] = sim_call(s, &s->unit.exp, TAPE_EXP, sim_input(s, ATTEST_DECAY, 0, 0, t, c));
    if (s->decay[t][c] < 0)
        s->decay[t][c] = kind == ATTEST_DECAY_RETNET ? sim_input(s, ATTEST_GAMMA, 0, 0, 0, 0)
                                                     : sim_input(s, ATTEST_DECAY, 0, 0, t, c);
    return s->decay[t][c];
}

/* By a library power (retnet): e^(n ln gamma), of 4 ulp in all. */
static num power_of(sim *s, int64_t n)
{
    const num log = sim_call(s, NULL, TAPE_LOG, sim_decay_factor(s, 0, 0));
    const num exponent = sim_mul(s, NULL, log, tape_given(&s->tape, n));
    return sim_call(s, &s->unit.function, TAPE_EXP, exponent);
}

/* The logarithm of the decay of token t, channel c; of 0: 2 emin. */
static num log_of(sim *s, int64_t t, int64_t c)
{
    if (sim_axis(s, ATTEST_AXIS_DECAY_INPUT))
        return sim_input(s, ATTEST_DECAY, 0, 0, t, sim_axis(s, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR ? c : 0);
    const num a = sim_decay_factor(s, t, c);
    return tape_value(&s->tape, a) == 0 ? tape_given(&s->tape, -252) : sim_call(s, &s->unit.log, TAPE_LOG, a);
}

/* The sum of the logarithms of the decays of tokens 0 to t, channel c. */
static num log_sum(sim *s, int64_t t, int64_t c)
{
    if (s->log_sum[t][c] < 0) {
        const num log = log_of(s, t, c);
        s->log_sum[t][c] = t == 0 ? log : sim_add(s, &s->unit.acc, log_sum(s, t - 1, c), log);
    }
    return s->log_sum[t][c];
}

num sim_decay_of(sim *s, int64_t j, int64_t i, int64_t c)
{
    num product = -1;
    if (j >= 0 && j < i && s->options->decay == DECAY_LOGS)
        return sim_call(s, &s->unit.exp, TAPE_EXP, sim_sub(s, &s->unit.acc, log_sum(s, i, c), log_sum(s, j, c)));
    if (j < i && s->options->decay == DECAY_LOGS) /* from the given state on */
        return sim_call(s, &s->unit.exp, TAPE_EXP, log_sum(s, i, c));
    if (j < i && s->options->decay == DECAY_POWER && sim_axis(s, ATTEST_AXIS_DECAY) == ATTEST_DECAY_RETNET)
        return power_of(s, i - j);
    for (int64_t t = i; t > j; t--) {
        const num factor = sim_decay_factor(s, t, c);
        product = product < 0 ? factor : sim_mul(s, &s->unit.acc, product, factor);
    }
    return product;
}
