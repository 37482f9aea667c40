/* range.c - see range.h.  All sizes are log2 of magnitudes. */
#include "props/properties/range.h"

#include "props/properties/values.h"

#include "kernels/attest_float.h"

#include <math.h>

/* Smallest nonzero and largest magnitude of a tensor's elements; 0, 0 of none. */
typedef struct span {
    double low, high;
    int finite;
} span;

#define LOG2E 1.4426950408889634

static double below(double x) { return fmin(x, 0); }
static double above(double x) { return fmax(x, 0); }

static span span_of(const attest_bundle *inputs, uint32_t kind, uint32_t index)
{
    const attest_tensor *t = attest_bundle_get(inputs, (attest_tensor_id){ kind, index });
    span s = { INFINITY, -INFINITY, 1 };
    for (int64_t at = 0; t && at < attest_tensor_count(t); at++) {
        const double x = fabs(attest_load(t, at));
        if (x == 0)
            continue;
        s.finite = s.finite && isfinite(x);
        s.low = fmin(s.low, log2(x));
        s.high = fmax(s.high, log2(x));
    }
    if (s.high == -INFINITY)
        s.low = s.high = 0;
    return s;
}

/* `low` and `high` of numbers of 8 bits, as they are stored or times their scale. */
static void stretch(double *low, double *high, const attest_trial *trial, attest_role role)
{
    const span s = span_of(trial->inputs, ATTEST_KIND_ROLE, role == ATTEST_K ? ATTEST_K_SCALE : ATTEST_V_SCALE);
    if (role == ATTEST_Q || !attest_kv_scaled(&trial->c.problem))
        return;
    *low += fmin(s.low, 0);
    *high += fmax(s.high, 0);
}

/* log2 of the largest length of a row of q or k; of 8 bits as their scale makes it. */
static double longest(const attest_bundle *inputs, attest_role role, int64_t d)
{
    const attest_tensor *t = attest_bundle_role(inputs, role);
    const attest_tensor *scale = role == ATTEST_K ? attest_bundle_role(inputs, ATTEST_K_SCALE) : NULL;
    const int64_t head = t->shape[2] * t->shape[3];
    double most = 0, squares = 0;
    for (int64_t at = 0; at < attest_tensor_count(t); at++) {
        const double x = attest_load(t, at) * (scale ? attest_load(scale, at / head) : 1);
        squares = at % d ? squares + x * x : x * x;
        most = fmax(most, squares);
    }
    return most > 0 ? log2(most) / 2 : 0;
}

/* ---- what the product takes: features, scale, weights ------------------------------------------------------------ */

typedef struct side {
    span x;        /* entries */
    double length; /* log2 of the largest row's */
} side;

static side as_it_is(side s, const attest_problem *p)
{
    (void)p;
    return s;
}

/* x+1 or e^x. */
static side elu1(side s, const attest_problem *p)
{
    const double most = exp2(s.x.high);
    return (side){ { -most * LOG2E, log2(most + 1), s.x.finite }, log2(exp2(s.length) + sqrt((double)p->d)) };
}

/* x/norm2(x), with squares. */
static side unit(side s, const attest_problem *p)
{
    (void)p;
    return (side){ { fmin(s.x.low - s.length, 2 * s.x.low), 0, s.x.finite && s.length < 60 }, 0 };
}

/* x/(1+e^-x) */
static side silu(side s, const attest_problem *p)
{
    (void)p;
    s.x.low -= exp2(s.x.high) * LOG2E + 1;
    return s;
}

static side silu_unit(side s, const attest_problem *p) { return unit(silu(s, p), p); }

/* Sines and cosines of pi t/(2 max(n,m)), t < max(n,m), are 0 or at least 1/max(n,m). */
static side cosformer(side s, const attest_problem *p)
{
    s.x.low -= log2((double)(p->n > p->m ? p->n : p->m));
    return s;
}

/* A feature without a row here is nothing that is known: not finite, so that no product is safe. */
static side side_of(const attest_trial *trial, attest_role role)
{
    static side (*const maps[])(side s, const attest_problem *p) = {
        [ATTEST_FEATURE_IDENTITY] = as_it_is,   [ATTEST_FEATURE_ELU1] = elu1, [ATTEST_FEATURE_RELU] = as_it_is,
        [ATTEST_FEATURE_UNIT] = unit,           [ATTEST_FEATURE_SILU] = silu, [ATTEST_FEATURE_SILU_UNIT] = silu_unit,
        [ATTEST_FEATURE_COSFORMER] = cosformer,
    };
    const attest_problem *p = &trial->c.problem;
    side s = { span_of(trial->inputs, ATTEST_KIND_ROLE, role), longest(trial->inputs, role, p->d) };
    stretch(&s.x.low, &s.x.high, trial, role);
    if (p->axis[ATTEST_AXIS_ROPE].value) { /* a cosine of a position may be as small as its own rounding */
        s.x.low -= 24;
        s.x.high += 1;
    }
    const uint32_t feature = p->axis[ATTEST_AXIS_FEATURE].value;
    if (feature < sizeof maps / sizeof maps[0] && maps[feature])
        return maps[feature](s, p);
    s.x.finite = 0;
    return s;
}

/* e^s with or without the row's maximum taken off. */
static span exp_span(const attest_trial *trial, double score)
{
    const attest_problem *p = &trial->c.problem;
    double s = exp2(score);
    if (p->axis[ATTEST_AXIS_CAP].value)
        s = fmin(s, p->axis[ATTEST_AXIS_CAP].number);
    s += values_slope_size(p, trial->inputs) * (double)(p->n + p->m);
    if (p->axis[ATTEST_AXIS_BIAS].value)
        s += exp2(span_of(trial->inputs, ATTEST_KIND_ROLE, ATTEST_BIAS).high);
    if (p->axis[ATTEST_AXIS_CLAMP].value)
        s = fmax(s, -p->axis[ATTEST_AXIS_CLAMP].number);
    return (span){ -2 * s * LOG2E, s * LOG2E, 1 };
}

/* Bits that a sum of products of q and k may lose before it is 0 or exact: two units of the inputs. */
static double lost_bits(const attest_problem *p)
{
    const uint32_t feature = p->axis[ATTEST_AXIS_FEATURE].value;
    const int stored = (feature == ATTEST_FEATURE_IDENTITY || feature == ATTEST_FEATURE_RELU) &&
                       !p->axis[ATTEST_AXIS_ROPE].value;
    return 2 * (attest_format_of(stored ? p->in : p->acc).p - 1);
}

/* log2 of the largest size that cap, alibi and bias give a score of this one. */
static double stepped(const attest_trial *trial, double score)
{
    const attest_problem *p = &trial->c.problem;
    double s = exp2(score);
    s += values_slope_size(p, trial->inputs) * (double)(p->n + p->m);
    if (p->axis[ATTEST_AXIS_BIAS].value)
        s += exp2(span_of(trial->inputs, ATTEST_KIND_ROLE, ATTEST_BIAS).high);
    return log2(s);
}

/* Of order P: powers of a score, which may cancel; monomials of a recurrence, which do not.  No least size is known of
 * a score that alibi or a bias was added to. */
static span poly_span(const attest_trial *trial, const side *q, const side *k, double scale)
{
    const attest_problem *p = &trial->c.problem;
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    const double order = weight->order, factorial = lgamma(order + 1) * LOG2E;
    const double monomial = order * (below(q->x.low) + below(k->x.low) + below(scale));
    const int added = p->axis[ATTEST_AXIS_ALIBI].value || p->axis[ATTEST_AXIS_BIAS].value;
    const double sum = order * below(q->x.low + k->x.low + scale - lost_bits(p));
    const double power = weight->value == ATTEST_WEIGHT_TAYLOR
                             ? -48 /* 1 + ..: a root of T_P is met to one rounding of a rounding */
                         : added ? -1e6
                                 : sum;
    const uint32_t form = trial->kernel.form;
    const int states = form == ATTEST_RECURRENT || form == ATTEST_CHUNK || p->axis[ATTEST_AXIS_UPDATE].value;
    const double low = states ? (form == ATTEST_RECURRENT ? monomial : fmin(monomial, power)) : power;
    const double high = above(q->length) + above(k->length) + above(scale);
    return (span){ low - factorial, order * (added ? above(stepped(trial, high)) : high), 1 };
}

/* ---- decays and gates -------------------------------------------------------------------------------------------- */

/* The smallest product of the nonzero decays of one head and channel. */
static double decay_low(const attest_trial *trial)
{
    const attest_problem *p = &trial->c.problem;
    const attest_tensor *a = attest_bundle_role(trial->inputs, ATTEST_DECAY);
    const int64_t inner = p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR ? p->d : 1;
    double least = 0;
    if (p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_RETNET)
        return below((double)p->n * span_of(trial->inputs, ATTEST_KIND_ROLE, ATTEST_GAMMA).low);
    for (int64_t line = 0; a && line < p->b * p->hkv * inner; line++) {
        double sum = 0;
        for (int64_t j = 0; j < p->m; j++) {
            const double x = attest_load(a, (line / inner * p->m + j) * inner + line % inner);
            const double exponent = attest_log_decays(p) ? x * LOG2E : log2(fabs(x));
            sum += isfinite(exponent) ? below(exponent) : 0;
        }
        least = fmin(least, sum);
    }
    return least;
}

/* gates=heads: a softmax of the logits over `heads` heads. */
static span gate_span(const attest_trial *trial, attest_role given, attest_role logits, int64_t heads)
{
    const span s = span_of(trial->inputs, ATTEST_KIND_ROLE, logits);
    if (trial->c.problem.axis[ATTEST_AXIS_GATES].value != ATTEST_GATES_HEADS)
        return span_of(trial->inputs, ATTEST_KIND_ROLE, given);
    return (span){ -2 * exp2(s.high) * LOG2E - log2((double)heads), 0, s.finite };
}

/* ---- all together ------------------------------------------------------------------------------------------------ */

/* Values, gated, and given states. */
static span value_span(const attest_trial *trial)
{
    span v = span_of(trial->inputs, ATTEST_KIND_ROLE, ATTEST_V);
    stretch(&v.low, &v.high, trial, ATTEST_V);
    const span gin = gate_span(trial, ATTEST_GIN, ATTEST_K_HEAD_LOGITS, trial->c.problem.hkv);
    span s = { fmin(below(v.low), v.low + gin.low), above(v.high) + above(gin.high), v.finite && gin.finite };
    for (uint32_t n = 0; n < ATTEST_STATE_SLOTS; n++) {
        const span h = span_of(trial->inputs, ATTEST_KIND_H0, n), z = span_of(trial->inputs, ATTEST_KIND_Z0, n);
        s.low = fmin(s.low, fmin(h.low, z.low));
        s.high = fmax(s.high, fmax(h.high, z.high));
        s.finite = s.finite && h.finite && z.finite;
    }
    return s;
}

/* The smallest and largest product. */
static span reach(const attest_trial *trial)
{
    const attest_problem *p = &trial->c.problem;
    const side q = side_of(trial, ATTEST_Q), k = side_of(trial, ATTEST_K);
    const double scale = p->scale != 0 ? log2(fabs(p->scale)) : 0;
    const span w = p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_EXP ? exp_span(trial, q.length + k.length + scale)
                                                                          : poly_span(trial, &q, &k, scale);
    const span v = value_span(trial), gout = gate_span(trial, ATTEST_GOUT, ATTEST_Q_HEAD_LOGITS, p->hq);
    const span gain = span_of(trial->inputs, ATTEST_KIND_ROLE, ATTEST_GAIN);
    span all = { fmin(below(q.x.low + k.x.low) + below(scale), below(w.low) + decay_low(trial) + v.low), 0, 1 };
    const double stored = k.x.high + log2((double)p->d) / 2; /* of 8 bits without their scale */
    all.high = fmax(above(q.length + fmax(k.length, attest_kv_scaled(p) ? stored : k.length)) + above(scale),
                    above(w.high) + above(v.high) + log2((double)(p->m + 1)));
    if (p->axis[ATTEST_AXIS_UPDATE].value) { /* b k (k S) once more */
        const span b = span_of(trial->inputs, ATTEST_KIND_ROLE, ATTEST_BETA);
        all.low += 2 * below(k.x.low) + below(b.low);
        all.high += 2 * above(k.length) + above(b.high);
    }
    all.high -= log2(1 - p->axis[ATTEST_AXIS_DROPOUT].number); /* 0 without */
    all.low += below(gout.low) + below(gain.low);
    all.high += above(gout.high) + above(gain.high);
    all.finite = q.x.finite && k.x.finite && v.finite && gout.finite && gain.finite && isfinite(all.low + all.high);
    return all;
}

/* The format of least range that sums, states, scores and scaled inputs may be kept in.  What is stored in f16 is told
 * by its type; coarse sums of which no range is told are f16's; so are states of which nothing is told, and inputs of
 * f16 that a kernel of an unknown schedule has scaled. */
static attest_format narrowest(const attest_trial *trial)
{
    const attest_problem *p = &trial->c.problem;
    const attest_numerics *n = &trial->kernel.numerics;
    const int states = trial->kernel.form == ATTEST_RECURRENT || trial->kernel.form == ATTEST_CHUNK;
    const uint32_t half = 1 + ATTEST_F16, unknown = n->schedule == ATTEST_SCHEDULE_UNKNOWN
                                                        ? 1 + (attest_kv_scaled(p) ? p->in : attest_kv_dtype(p))
                                                        : 0;
    const uint32_t kept[] = { n->state_dtype ? n->state_dtype
                              : states       ? half
                                             : 0,
                              n->scaled_dtype ? n->scaled_dtype : unknown,
                              n->score_dtype,
                              n->score_acc,
                              n->value_acc,
                              !n->score_acc && fmax(n->acc_unit, n->score_unit) >= 0x1p-11 ? half : 0,
                              !n->value_acc && fmax(n->acc_unit, n->value_unit) >= 0x1p-11 ? half : 0 };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (kept[i] == half)
            return attest_format_of(ATTEST_F16);
    return attest_format_of(p->acc);
}

int attest_range_safe(const attest_trial *trial, double margin)
{
    const attest_format f = narrowest(trial);
    const uint32_t norm = trial->c.problem.axis[ATTEST_AXIS_NORM].value;
    const int root = norm == ATTEST_NORM_L2 || norm == ATTEST_NORM_RMS || norm == ATTEST_NORM_LAYERNORM ||
                     norm >= ATTEST_NORM_LENGTH_L2;
    const span r = reach(trial);
    double low = r.low - margin, high = r.high + margin;
    if (root) { /* squares; a mean taken off leaves one rounding of what was there */
        low = 2 * (low - 24 - log2((double)(trial->c.problem.m + trial->c.problem.e)));
        high *= 2;
    }
    if (trial->kernel.flags & ATTEST_FTZ)
        low -= f.p; /* a sum may cancel to one unit of its terms, and is flushed below the normal numbers */
    return r.finite && low >= f.emin && high <= f.emax - 2;
}

int attest_range_finite(const attest_trial *trial, double margin)
{
    const attest_format f = narrowest(trial), cast = attest_format_of(trial->c.problem.p);
    const span r = reach(trial);
    return r.finite && r.high + margin <= (f.emax < cast.emax ? f.emax : cast.emax) - 2;
}
