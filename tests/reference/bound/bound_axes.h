/* bound_axes.h - a small honest kernel in float for every axis, in several orders of operations, with its steps as
 * places where a test can break it. */
#ifndef ATTEST_TESTS_BOUND_AXES_H
#define ATTEST_TESTS_BOUND_AXES_H

#include <math.h>
#include <stdlib.h>

#include "tests/reference/ball/ball_case.h"

enum { AXIS_D = 32, AXIS_KEYS = 160 };

typedef enum axes_form { AXES_DIRECT, AXES_STATES, AXES_DELTA, AXES_DELTA_CHUNK } axes_form;

/* What is done wrongly. */
typedef enum axes_defect {
    AXES_NONE,
    AXES_ANGLE,    /* rope, cosformer: positions one off for keys */
    AXES_FEATURE,  /* unit: not divided; silu: sigmoid only */
    AXES_CAP,      /* no cap */
    AXES_SLOPE,    /* alibi: one token further */
    AXES_USUAL,    /* alibi=usual: of the head before */
    AXES_BIAS,     /* that of the next key */
    AXES_CLAMP,    /* no clamp */
    AXES_FILTER,   /* TAU a quarter larger */
    AXES_DECAY,    /* one factor too many */
    AXES_GATE_IN,  /* twice */
    AXES_GATE_OUT, /* none */
    AXES_EPS,      /* none */
    AXES_MEAN,     /* l2 for rms; layernorm: not centred */
    AXES_SHIFT,    /* no shift */
    AXES_LENGTH,   /* one key too many */
    AXES_FLOOR,    /* z itself */
    AXES_RATE,     /* delta: b a little smaller; efla: b as it is */
    AXES_GIVEN     /* the given state is not decayed */
} axes_defect;

typedef struct axes_sim {
    ball_case x;
    const attest_problem *p;
    attest_truth *truth;
    axes_form form;
    axes_defect defect;
    int backwards; /* sums from the last key on; powers, logarithms */
    int64_t h, g;
    float u[AXIS_D], o[AXIS_D], z, lse;
    float state[AXIS_D * 2 * AXIS_D], z_state[2 * AXIS_D];
} axes_sim;

static inline uint32_t axes_value(const axes_sim *s, uint32_t axis) { return s->p->axis[axis].value; }
static inline float axes_number(const axes_sim *s, uint32_t axis) { return (float)s->p->axis[axis].number; }

static inline float axes_load(const axes_sim *s, attest_role role, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    const attest_tensor *t = s->x.in.role[role];
    return (float)attest_load(t, attest_offset(t, i0, i1, i2, i3));
}

/* ---- tokens ----------------------------------------------------------------------------------------------- */
static inline void axes_rope(const axes_sim *s, float *x, int64_t pos)
{
    const float base = axes_number(s, ATTEST_AXIS_ROPE);
    const int64_t half = s->p->d / 2;
    for (int64_t c = 0; c < half; c++) {
        const float exponent = -2.0f * (float)c / (float)s->p->d;
        const float frequency = s->backwards ? expf(exponent * logf(base)) : powf(base, exponent);
        const float angle = (float)pos * frequency, a = x[c], b = x[c + half];
        x[c] = a * cosf(angle) - b * sinf(angle);
        x[c + half] = a * sinf(angle) + b * cosf(angle);
    }
}

static inline float axes_silu(const axes_sim *s, float x)
{
    if (s->defect == AXES_FEATURE)
        return 1 / (1 + expf(-x));
    return s->backwards ? x * (1 / (1 + expf(-x))) : x / (1 + expf(-x));
}

static inline void axes_unit(const axes_sim *s, float *x)
{
    float sum = 0;
    for (int64_t c = 0; c < s->p->d; c++)
        sum += x[c] * x[c];
    for (int64_t c = 0; c < s->p->d && sum > 0 && s->defect != AXES_FEATURE; c++)
        x[c] = s->backwards ? x[c] * (1 / sqrtf(sum)) : x[c] / sqrtf(sum);
}

/* phi of a token of q or k into x[dim]. */
static inline void axes_token(const axes_sim *s, float *x, attest_role role, int64_t head, int64_t token, int64_t pos)
{
    const uint32_t feature = axes_value(s, ATTEST_AXIS_FEATURE);
    const int64_t d = s->p->d;
    if (s->defect == AXES_ANGLE && role == ATTEST_K)
        pos++;
    for (int64_t c = 0; c < d; c++)
        x[c] = axes_load(s, role, 0, head, token, c);
    if (axes_value(s, ATTEST_AXIS_ROPE))
        axes_rope(s, x, pos);
    for (int64_t c = 0; c < d; c++) {
        if (feature == ATTEST_FEATURE_ELU1)
            x[c] = x[c] >= 0 ? x[c] + 1 : expf(x[c]);
        if (feature == ATTEST_FEATURE_RELU || feature == ATTEST_FEATURE_COSFORMER)
            x[c] = x[c] > 0 ? x[c] : 0;
        if (feature == ATTEST_FEATURE_SILU || feature == ATTEST_FEATURE_SILU_UNIT)
            x[c] = axes_silu(s, x[c]);
    }
    if (feature == ATTEST_FEATURE_UNIT || feature == ATTEST_FEATURE_SILU_UNIT)
        axes_unit(s, x);
    if (feature == ATTEST_FEATURE_COSFORMER) {
        const float angle = 3.14159265f * (float)pos / (2 * (float)(s->p->n > s->p->m ? s->p->n : s->p->m));
        for (int64_t c = 0; c < d; c++) {
            x[d + c] = x[c] * sinf(angle);
            x[c] *= cosf(angle);
        }
    }
}

/* ---- decay and gates -------------------------------------------------------------------------------------- */
static inline float axes_factor(const axes_sim *s, int64_t t, int64_t c)
{
    switch (axes_value(s, ATTEST_AXIS_DECAY)) {
    case ATTEST_DECAY_RETNET: return axes_load(s, ATTEST_GAMMA, s->g, 0, 0, 0);
    case ATTEST_DECAY_SCALAR: return axes_load(s, ATTEST_DECAY, 0, s->g, t, 0);
    case ATTEST_DECAY_VECTOR: return axes_load(s, ATTEST_DECAY, 0, s->g, t, c);
    default: return 1;
    }
}

/* Product over t = j+1..i. */
static inline float axes_decay(const axes_sim *s, int64_t i, int64_t j, int64_t c)
{
    float y = 1;
    if (s->defect == AXES_DECAY)
        j--;
    if (s->backwards && axes_value(s, ATTEST_AXIS_DECAY) == ATTEST_DECAY_RETNET)
        return powf(axes_factor(s, 0, 0), (float)(i - j));
    if (s->backwards)
        for (int64_t t = i; t > j; t--)
            y *= axes_factor(s, t, c);
    else
        for (int64_t t = j + 1; t <= i; t++)
            y *= t < 0 ? 1 : axes_factor(s, t, c);
    return y;
}

static inline float axes_heads(const axes_sim *s, attest_role role, int64_t head, int64_t token, int64_t heads)
{
    float top = -INFINITY, sum = 0;
    for (int64_t h = 0; h < heads; h++)
        top = fmaxf(top, axes_load(s, role, 0, h, token, 0));
    top = s->backwards ? 0 : top;
    for (int64_t h = 0; h < heads; h++)
        sum += expf(axes_load(s, role, 0, h, token, 0) - top);
    return expf(axes_load(s, role, 0, head, token, 0) - top) / sum;
}

static inline float axes_gate_in(const axes_sim *s, int64_t j)
{
    const uint32_t gates = axes_value(s, ATTEST_AXIS_GATES);
    float y = 1;
    if (gates == ATTEST_GATES_IN || gates == ATTEST_GATES_INOUT)
        y = axes_load(s, ATTEST_GIN, 0, s->g, j, 0);
    if (gates == ATTEST_GATES_HEADS)
        y = axes_heads(s, ATTEST_K_HEAD_LOGITS, s->g, j, s->p->hkv);
    return s->defect == AXES_GATE_IN ? y * y : y;
}

static inline float axes_gate_out(const axes_sim *s, int64_t i)
{
    const uint32_t gates = axes_value(s, ATTEST_AXIS_GATES);
    if (s->defect == AXES_GATE_OUT)
        return 1;
    if (gates == ATTEST_GATES_HEADS)
        return axes_heads(s, ATTEST_Q_HEAD_LOGITS, s->h, i, s->p->hq);
    if (gates == ATTEST_GATES_OUT || gates == ATTEST_GATES_INOUT || gates == ATTEST_GATES_PRE_OUT)
        return axes_load(s, ATTEST_GOUT, 0, s->h, i, 0);
    return 1;
}

/* alibi=usual as ggml has it: powers of a rounded base; backwards: products of it, one by one. */
static inline float axes_usual(const axes_sim *s)
{
    int64_t powers = 1;
    while (2 * powers <= s->p->hq)
        powers *= 2;
    const int first = s->h < powers;
    const int64_t power = (first ? s->h + 1 : 2 * (s->h - powers) + 1) - (s->defect == AXES_USUAL);
    const float base = powf(2, (first ? -8.0F : -4.0F) / (float)powers);
    float slope = 1;
    for (int64_t n = 0; n < power; n++)
        slope *= base;
    return s->backwards ? slope : powf(base, (float)power);
}

/* ---- weights ---------------------------------------------------------------------------------------------- */
static inline float axes_score(const axes_sim *s, const float *q, int64_t i, int64_t j)
{
    const int64_t dim = attest_feature_dim(s->p);
    const int vector = axes_value(s, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR;
    float k[2 * AXIS_D], dot = 0;
    axes_token(s, k, ATTEST_K, s->g, j, j);
    for (int64_t n = 0; n < dim; n++) {
        const int64_t c = s->backwards ? dim - 1 - n : n;
        dot += vector ? q[c] * (axes_decay(s, i, j, c) * k[c]) : q[c] * k[c];
    }
    dot *= (float)s->p->scale;
    if (axes_value(s, ATTEST_AXIS_CAP) && s->defect != AXES_CAP) {
        const float cap = axes_number(s, ATTEST_AXIS_CAP);
        dot = cap * tanhf(dot / cap);
    }
    if (axes_value(s, ATTEST_AXIS_ALIBI)) {
        const int64_t back = ref_position(&s->x.in, 0, i) - j + (s->defect == AXES_SLOPE);
        const int usual = axes_value(s, ATTEST_AXIS_ALIBI) == ATTEST_ALIBI_USUAL;
        const float slope = usual ? axes_usual(s) : axes_load(s, ATTEST_SLOPE, s->h, 0, 0, 0);
        dot -= slope * (float)(back < 0 ? -back : back);
    }
    if (axes_value(s, ATTEST_AXIS_BIAS)) {
        const attest_tensor *t = s->x.in.role[ATTEST_BIAS];
        const int64_t key = s->defect == AXES_BIAS && j + 1 < s->p->m ? j + 1 : j;
        dot += axes_load(s, ATTEST_BIAS, 0, t->shape[1] > 1 ? s->h : 0, i, key);
    }
    if (axes_value(s, ATTEST_AXIS_CLAMP) && s->defect != AXES_CLAMP)
        dot = fminf(dot, axes_number(s, ATTEST_AXIS_CLAMP));
    return dot;
}

static inline float axes_weight(const axes_sim *s, float x)
{
    const attest_setting *weight = &s->p->axis[ATTEST_AXIS_WEIGHT];
    float y = 1;
    if (weight->value == ATTEST_WEIGHT_EXP)
        return expf(x);
    for (uint32_t n = weight->order; n > 0; n--)
        y = weight->value == ATTEST_WEIGHT_TAYLOR ? 1 + y * x / (float)n
            : weight->value == ATTEST_WEIGHT_TERM ? y * x / (float)n
                                                  : y * x;
    return y;
}

/* u and z of row i pair by pair; returns the shift of an exponential row whose norm lets it cancel. */
static inline float axes_pairs(axes_sim *s, int64_t i, int shift)
{
    float q[2 * AXIS_D], w[AXIS_KEYS], top = -INFINITY, center = 0;
    int64_t first, last;
    ref_visible(&s->x.in, 0, i, &first, &last);
    axes_token(s, q, ATTEST_Q, s->h, i, ref_position(&s->x.in, 0, i));
    for (int64_t j = first; j < last; j++) {
        w[j] = axes_score(s, q, i, j);
        top = fmaxf(top, w[j]);
    }
    if (axes_value(s, ATTEST_AXIS_CENTER) == ATTEST_CENTER_MAX || shift)
        center = top;
    s->z = 0;
    for (int64_t c = 0; c < s->p->e; c++)
        s->u[c] = 0;
    for (int64_t n = first; n < last; n++) {
        const int64_t j = s->backwards ? last - 1 - (n - first) : n;
        const float tau = axes_number(s, ATTEST_AXIS_FILTER) * (s->defect == AXES_FILTER ? 1.25f : 1);
        float y = axes_weight(s, w[j] - center);
        if (axes_value(s, ATTEST_AXIS_FILTER) && !(w[j] > top - tau))
            y = 0;
        if (axes_value(s, ATTEST_AXIS_DECAY) != ATTEST_DECAY_VECTOR)
            y *= axes_decay(s, i, j, 0);
        s->z += y;
        const float gate = axes_gate_in(s, j);
        for (int64_t c = 0; c < s->p->e; c++) {
            const float v = axes_load(s, ATTEST_V, 0, s->g, j, c);
            s->u[c] += s->backwards ? y * gate * v : y * (gate * v);
        }
    }
    return axes_value(s, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP || axes_value(s, ATTEST_AXIS_CENTER) ? center : 0;
}

/* ---- states of degree 1 ----------------------------------------------------------------------------------- */
static inline void axes_start_states(axes_sim *s)
{
    const int64_t dim = attest_feature_dim(s->p);
    for (int64_t r = 0; r < dim; r++) {
        const attest_tensor *h0 = s->x.in.h0[1], *z0 = s->x.in.z0[1];
        for (int64_t c = 0; c < s->p->e; c++)
            s->state[r * s->p->e + c] = h0 ? (float)attest_load(h0, attest_offset(h0, 0, s->g, r, c)) : 0;
        s->z_state[r] = z0 ? (float)attest_load(z0, attest_offset(z0, 0, s->g, r, 0)) : 0;
    }
}

static inline void axes_decay_states(axes_sim *s, int64_t t)
{
    for (int64_t r = 0; r < attest_feature_dim(s->p); r++) {
        const float a = s->defect == AXES_GIVEN && t == 0 ? 1 : axes_factor(s, t + (s->defect == AXES_DECAY), r);
        for (int64_t c = 0; c < s->p->e; c++)
            s->state[r * s->p->e + c] *= a;
        s->z_state[r] *= a;
    }
}

static inline void axes_read_states(axes_sim *s, int64_t i)
{
    float q[2 * AXIS_D];
    axes_token(s, q, ATTEST_Q, s->h, i, ref_position(&s->x.in, 0, i));
    s->z = 0;
    for (int64_t c = 0; c < s->p->e; c++)
        s->u[c] = 0;
    for (int64_t r = 0; r < attest_feature_dim(s->p); r++) {
        s->z += q[r] * s->z_state[r];
        for (int64_t c = 0; c < s->p->e; c++)
            s->u[c] += q[r] * s->state[r * s->p->e + c];
    }
    s->z *= (float)s->p->scale;
    for (int64_t c = 0; c < s->p->e; c++)
        s->u[c] *= (float)s->p->scale;
}

static inline void axes_states_token(axes_sim *s, int64_t t)
{
    float k[2 * AXIS_D];
    const float gate = axes_gate_in(s, t);
    axes_decay_states(s, t);
    axes_token(s, k, ATTEST_K, s->g, t, t);
    for (int64_t r = 0; r < attest_feature_dim(s->p); r++) {
        s->z_state[r] += k[r];
        for (int64_t c = 0; c < s->p->e; c++)
            s->state[r * s->p->e + c] += k[r] * (gate * axes_load(s, ATTEST_V, 0, s->g, t, c));
    }
}

/* ---- the delta rule --------------------------------------------------------------------------------------- */
static inline float axes_rate(const axes_sim *s, const float *k, int64_t t)
{
    const float b = axes_load(s, ATTEST_BETA, 0, s->g, t, 0);
    float r = 0;
    for (int64_t c = 0; c < attest_feature_dim(s->p); c++)
        r += k[c] * k[c];
    if (axes_value(s, ATTEST_AXIS_UPDATE) != ATTEST_UPDATE_EFLA)
        return s->defect == AXES_RATE ? b * (1 - 0x1p-7f) : b;
    return r > 0 && s->defect != AXES_RATE ? -expm1f(-(b * r)) / r : b;
}

static inline void axes_delta_token(axes_sim *s, int64_t t)
{
    const int64_t e = s->p->e, dim = attest_feature_dim(s->p);
    const float gate = axes_gate_in(s, t);
    float k[2 * AXIS_D];
    axes_decay_states(s, t);
    axes_token(s, k, ATTEST_K, s->g, t, t);
    const float b = axes_rate(s, k, t);
    for (int64_t c = 0; c < e; c++) {
        float old = 0;
        for (int64_t r = 0; r < dim; r++)
            old += k[r] * s->state[r * e + c];
        const float v = gate * axes_load(s, ATTEST_V, 0, s->g, t, c);
        const float write = s->backwards ? b * v - b * old : b * (v - old);
        for (int64_t r = 0; r < dim; r++)
            s->state[r * e + c] += k[r] * write;
    }
}

/* Row i in chunks: states at their ends, inside each the written values by substitution. */
static inline void axes_delta_chunk(axes_sim *s, int64_t i, int64_t chunk)
{
    const int64_t e = s->p->e, dim = attest_feature_dim(s->p);
    static float k[AXIS_KEYS][2 * AXIS_D], w[AXIS_KEYS];
    float q[2 * AXIS_D], rate[AXIS_KEYS], gate[AXIS_KEYS], d[AXIS_KEYS];
    axes_start_states(s);
    axes_token(s, q, ATTEST_Q, s->h, i, i);
    for (int64_t t = 0; t <= i; t++) {
        axes_token(s, k[t], ATTEST_K, s->g, t, t);
        rate[t] = axes_rate(s, k[t], t);
        gate[t] = axes_gate_in(s, t);
    }
    for (int64_t start = 0; start <= i; start += chunk) {
        const int64_t end = start + chunk <= i + 1 ? start + chunk : i + 1;
        for (int64_t c = 0; c < e; c++) {
            for (int64_t t = start; t < end; t++) {
                float old = 0;
                for (int64_t r = 0; r < dim; r++)
                    old += k[t][r] * s->state[r * e + c];
                old *= axes_decay(s, t, start - 1, 0);
                for (int64_t j = start; j < t; j++) {
                    float dot = 0;
                    for (int64_t r = 0; r < dim; r++)
                        dot += k[t][r] * k[j][r];
                    old += axes_decay(s, t, j, 0) * dot * w[j];
                }
                w[t] = rate[t] * (gate[t] * axes_load(s, ATTEST_V, 0, s->g, t, c) - old);
            }
            for (int64_t t = start; t < end; t++)
                d[t] = axes_decay(s, end - 1, t, 0);
            const float a = axes_decay(s, end - 1, start - 1, 0);
            for (int64_t r = 0; r < dim; r++) {
                float sum = a * s->state[r * e + c];
                for (int64_t t = start; t < end; t++)
                    sum += k[t][r] * d[t] * w[t];
                s->state[r * e + c] = sum;
            }
        }
    }
    axes_read_states(s, i);
}

/* ---- the row's end ---------------------------------------------------------------------------------------- */
static inline void axes_root(axes_sim *s)
{
    const uint32_t norm = axes_value(s, ATTEST_AXIS_NORM);
    const int mean = norm != ATTEST_NORM_L2 && norm != ATTEST_NORM_LENGTH_L2;
    const int centred = norm == ATTEST_NORM_LAYERNORM || norm == ATTEST_NORM_LENGTH_LAYERNORM;
    const float eps = s->defect == AXES_EPS ? 0 : axes_number(s, ATTEST_AXIS_EPS);
    float sum = 0, squares = 0;
    for (int64_t c = 0; c < s->p->e; c++)
        sum += s->o[c];
    for (int64_t c = 0; c < s->p->e; c++) {
        if (centred && s->defect != AXES_MEAN)
            s->o[c] -= sum / (float)s->p->e;
        squares += s->o[c] * s->o[c];
    }
    if (mean && !(s->defect == AXES_MEAN && !centred))
        squares /= (float)s->p->e;
    const float root = sqrtf(squares + eps);
    for (int64_t c = 0; c < s->p->e; c++)
        s->o[c] = s->backwards ? s->o[c] * (1 / root) : s->o[c] / root;
}

static inline void axes_norm(axes_sim *s, int64_t i)
{
    const uint32_t norm = axes_value(s, ATTEST_AXIS_NORM);
    int64_t first, last;
    ref_visible(&s->x.in, 0, i, &first, &last);
    const float t = (float)(last - first + (s->defect == AXES_LENGTH)), eps = axes_number(s, ATTEST_AXIS_EPS);
    for (int64_t c = 0; c < s->p->e; c++) {
        if (norm == ATTEST_NORM_LENGTH || norm >= ATTEST_NORM_LENGTH_L2)
            s->o[c] /= t;
        if (norm == ATTEST_NORM_SUM)
            s->o[c] /= s->z + eps;
        if (norm == ATTEST_NORM_FLOOR)
            s->o[c] /= s->defect == AXES_FLOOR ? s->z : fmaxf(s->z, axes_number(s, ATTEST_AXIS_NORM));
    }
    if (norm >= ATTEST_NORM_L2)
        axes_root(s);
    for (int64_t c = 0; c < s->p->e && axes_value(s, ATTEST_AXIS_AFFINE); c++)
        s->o[c] = s->o[c] * axes_load(s, ATTEST_GAIN, c, 0, 0, 0) +
                  (s->defect == AXES_SHIFT ? 0 : axes_load(s, ATTEST_SHIFT, c, 0, 0, 0));
}

static inline void axes_finish(axes_sim *s, int64_t i, float center)
{
    const int before = axes_value(s, ATTEST_AXIS_GATES) == ATTEST_GATES_PRE_OUT;
    const float gate = axes_gate_out(s, i);
    s->lse = center + logf(s->z);
    for (int64_t c = 0; c < s->p->e; c++)
        s->o[c] = before ? s->u[c] * gate : s->u[c];
    axes_norm(s, i);
    for (int64_t c = 0; c < s->p->e && !before; c++)
        s->o[c] *= gate;
}

/* Does a shift by the maximum cancel in o? */
static inline int axes_cancels(const axes_sim *s)
{
    return axes_value(s, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP &&
           axes_value(s, ATTEST_AXIS_NORM) == ATTEST_NORM_SUM && !axes_value(s, ATTEST_AXIS_EPS);
}

/* Row i; rows are to be run in order where there are states. */
static inline void axes_row(axes_sim *s, int64_t i)
{
    float center = 0;
    if (s->form == AXES_DIRECT) {
        center = axes_pairs(s, i, axes_cancels(s));
    } else if (s->form == AXES_DELTA_CHUNK) {
        axes_delta_chunk(s, i, s->p->chunk);
    } else {
        if (i == 0)
            axes_start_states(s);
        if (s->form == AXES_STATES)
            axes_states_token(s, i);
        else
            axes_delta_token(s, i);
        axes_read_states(s, i);
    }
    axes_finish(s, i, center);
}

#endif
