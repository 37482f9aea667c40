/* witness_lines.h - random problem lines for the witness's cross test: every preset in turn, and on top of it settings
 * of any axis that do not contradict it.
 */
#ifndef ATTEST_WITNESS_LINES_H
#define ATTEST_WITNESS_LINES_H

#include <stdio.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/problem/problem.h"

static inline uint64_t random_word(uint64_t *state) { return attest_next64(state); }

static inline int pick(uint64_t *state, int below) { return (int)(random_word(state) % (uint64_t)below); }

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define ADD(...) (used += snprintf(line + used, (size_t)(ATTEST_LINE - used), __VA_ARGS__))

/* ---- random settings ---------------------------------------------------------------------------------------- */
typedef struct random_axis {
    const char *key;
    int one_in; /* how often the axis is set */
    const char *values[12];
} random_axis;

static const random_axis random_axes[] = {
    { "weight", 8, { "exp", "taylor:1", "taylor:2", "taylor:3", "term:1", "term:3", "power:1", "power:2" } },
    { "center", 2, { "zero", "max", "min", "mid", "min", "mid" } },
    { "filter", 6, { "0.5", "1", "2.5" } },
    { "feature", 2, { "elu1", "relu", "unit", "silu", "silu-unit", "cosformer", "cosformer", "cosformer" } },
    { "rope", 2, { "10000", "2", "0.5" } },
    { "mask", 2, { "full", "causal", "causal-br", "causal", "causal-br" } },
    { "window", 4, { "1", "2", "3", "6" } },
    { "lens", 4, { "draw" } },
    { "decay", 2, { "retnet", "scalar", "vector", "vector" } },
    { "gates", 2, { "in", "out", "inout", "pre-out", "heads", "heads" } },
    { "norm",
      3,
      { "sum", "sink", "none", "floor:1", "floor:8", "length", "l2", "rms", "layernorm", "length-l2", "length-rms",
        "length-layernorm" } },
    { "affine", 3, { "draw" } },
    { "update", 3, { "delta", "efla", "efla" } },
    { "eps", 4, { "0.25", "1e-6" } },
    { "clamp", 8, { "1", "-0.5" } },
    { "cap", 8, { "2", "0.75" } },
    { "alibi", 6, { "draw", "usual", "usual" } },
    { "bias", 4, { "full", "head", "batch", "shared" } },
    { "attn_mask", 4, { "full", "head", "batch", "shared" } },
    { "state", 2, { "draw" } },
    { "pages", 8, { "1", "3", "16" } },
    { "lens_q", 4, { "draw", "len lens=draw" } },
    { "packed", 8, { "on" } },
    { "kv", 5, { "f16", "bf16", "e4m3", "e5m2" } },
    { "decay_input", 8, { "log" } },
    { "dropout", 6, { "0.1", "0.5", "0.9" } },
};
static const char *const dtypes[] = { "f32", "f16", "bf16", "f64" };
static const char *const families[] = { "normal",  "normal",   "normal:0.25", "uniform", "flat",  "ones",
                                        "ramp-up", "negative", "huge",        "range:4", "dyadic" };
static const int widths[] = { 1, 2, 2, 3, 4, 4 };
static const char *const scales[] = { "1", "0.5", "-0.75", "3" };

static inline int random_preset(char *line, const attest_preset *preset, int large, uint64_t *r)
{
    static const char *const limits[] = { "0.5", "1", "2.5" };
    int used = 0;
    ADD("variant=%s", preset->name);
    if (preset->argument == ATTEST_ARG_ORDER)
        ADD(":%d", pick(r, large ? 3 : 7));
    else if (preset->argument != ATTEST_ARG_NONE)
        ADD(":%s", limits[pick(r, 3)]);
    return used;
}

static inline int random_sizes(char *line, int used, int number, int large, uint64_t *r)
{
    const int hkv = 1 + pick(r, 2), hq = hkv * (1 + pick(r, 2));
    ADD(" b=%d hq=%d hkv=%d n=%d", 1 + pick(r, 2), hq, hkv, large ? 12 : 1 + pick(r, 9));
    if (pick(r, 3) == 0)
        ADD(" m=%d", large ? 40 : 1 + pick(r, 9));
    ADD(" d=%d e=%d", large ? 8 : widths[pick(r, COUNT(widths))], 1 + pick(r, large ? 6 : 3));
    if (pick(r, 2))
        ADD(" scale=%s", scales[pick(r, COUNT(scales))]);
    ADD(" in=%s", dtypes[pick(r, COUNT(dtypes))]);
    ADD(" family=%s seed=%d ", families[pick(r, COUNT(families))], number);
    return used;
}

/* Does the line parse, with d even under rope and given states small enough to be written down row by row? */
static inline int usable(const char *line, attest_case *c)
{
    const attest_problem *p = &c->problem;
    attest_error err;
    int lowest, highest;
    if (attest_case_parse(c, line, NULL, NULL, &err) != ATTEST_OK)
        return 0;
    attest_variant_degrees(p->axis, &lowest, &highest);
    return (attest_axis_value_of(p, ATTEST_AXIS_ROPE) == ATTEST_ROPE_NONE || p->d % 2 == 0) &&
           (attest_axis_value_of(p, ATTEST_AXIS_STATE) == ATTEST_STATE_NONE ||
            attest_state_rows(attest_feature_dim(p), highest, 0) <= 300);
}

/* A line of this preset, parsed: settings are added one by one, from a random axis on, few to every other line; one
 * that contradicts what the line has is left out.  0: there is no such line. */
static inline int compose(char *line, attest_case *c, const attest_preset *preset, int number, uint64_t *r)
{
    const int large = number % 30 == 29, first = pick(r, COUNT(random_axes)), rare = pick(r, 2) ? 1 : 4;
    int used = 0;
    for (int tries = 0; tries < 100 && !(used && usable(line, c)); tries++) {
        used = random_preset(line, preset, large, r);
        used = random_sizes(line, used, number, large, r);
    }
    for (int n = 0; n < COUNT(random_axes); n++) {
        const random_axis *axis = &random_axes[(first + n) % COUNT(random_axes)];
        int values = 0;
        while (values < COUNT(axis->values) && axis->values[values])
            values++;
        if (pick(r, rare * axis->one_in))
            continue;
        const int before = used;
        ADD("%s=%s ", axis->key, axis->values[pick(r, values)]);
        if (!usable(line, c))
            line[used = before] = '\0';
    }
    return usable(line, c);
}

/* ---- what the lines must cover ------------------------------------------------------------------------------ */
/* Texts that must be in at least three lines. */
static const char *const covered[] = {
    "taylor:0 ",      "taylor:1 ",       "taylor:2 ",      "taylor:3 ",      "taylor:4 ",     "taylor:5 ",
    "taylor:6 ",      "hq=2 hkv=1",      "hq=4 hkv=2",     "in=f32",         "in=f16",        "in=bf16",
    "in=f64",         "family=normal ",  "family=normal:", "family=uniform", "family=flat",   "family=ones",
    "family=ramp-up", "family=negative", "family=huge",    "family=range:",  "family=dyadic",
};

/* A line with one value of an axis, or with two values that meet. */
typedef struct wish {
    uint32_t a, va, b, vb;
} wish;

#define PAIR(a, va, b, vb)                                                                                             \
    {                                                                                                                  \
        ATTEST_AXIS_##a, ATTEST_##a##_##va, ATTEST_AXIS_##b, ATTEST_##b##_##vb                                         \
    }
static const wish pairs[] = {
    PAIR(STATE, DRAW, DECAY, RETNET),     PAIR(STATE, DRAW, DECAY, SCALAR),
    PAIR(STATE, DRAW, DECAY, VECTOR),     PAIR(STATE, DRAW, UPDATE, DELTA),
    PAIR(STATE, DRAW, UPDATE, EFLA),      PAIR(STATE, DRAW, FEATURE, COSFORMER),
    PAIR(STATE, DRAW, ROPE, BASE),        PAIR(STATE, DRAW, GATES, HEADS),
    PAIR(STATE, DRAW, LENS, DRAW),        PAIR(UPDATE, DELTA, DECAY, RETNET),
    PAIR(UPDATE, DELTA, DECAY, SCALAR),   PAIR(UPDATE, DELTA, DECAY, VECTOR),
    PAIR(UPDATE, EFLA, DECAY, RETNET),    PAIR(UPDATE, EFLA, DECAY, SCALAR),
    PAIR(UPDATE, EFLA, DECAY, VECTOR),    PAIR(UPDATE, DELTA, FEATURE, COSFORMER),
    PAIR(UPDATE, DELTA, ROPE, BASE),      PAIR(UPDATE, DELTA, GATES, HEADS),
    PAIR(UPDATE, DELTA, MASK, CAUSAL_BR), PAIR(UPDATE, EFLA, GATES, HEADS),
    PAIR(DECAY, SCALAR, WEIGHT, EXP),     PAIR(DECAY, SCALAR, WINDOW, W),
    PAIR(DECAY, RETNET, WINDOW, W),       PAIR(DECAY, SCALAR, LENS, DRAW),
    PAIR(DECAY, RETNET, LENS, DRAW),      PAIR(DECAY, VECTOR, LENS, DRAW),
    PAIR(UPDATE, DELTA, LENS_Q, LEN),     PAIR(DECAY, VECTOR, LENS_Q, LEN),
    PAIR(DECAY, SCALAR, MASK, CAUSAL_BR), PAIR(DECAY, VECTOR, ROPE, BASE),
    PAIR(DECAY, VECTOR, GATES, HEADS),    PAIR(ROPE, BASE, FEATURE, COSFORMER),
    PAIR(ROPE, BASE, FEATURE, RELU),      PAIR(ROPE, BASE, FEATURE, ELU1),
    PAIR(ROPE, BASE, MASK, CAUSAL_BR),    PAIR(FEATURE, COSFORMER, MASK, CAUSAL_BR),
    PAIR(FEATURE, COSFORMER, MASK, FULL), PAIR(FILTER, TAU, CENTER, MAX),
    PAIR(FILTER, TAU, CENTER, ZERO),      PAIR(FILTER, TAU, DECAY, SCALAR),
    PAIR(FILTER, TAU, NORM, LENGTH),      PAIR(FILTER, TAU, WEIGHT, EXP),
};

/* Wish number k: the pairs, then every value of every axis, then the same again. */
static inline wish wish_of(int k)
{
    int count = COUNT(pairs);
    for (uint32_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++)
        count += (int)attest_axes[axis].value_count;
    k %= count;
    if (k < COUNT(pairs))
        return pairs[k];
    k -= COUNT(pairs);
    uint32_t axis = 0;
    while (k >= (int)attest_axes[axis].value_count)
        k -= (int)attest_axes[axis++].value_count;
    const uint32_t value = attest_axes[axis].values[k].value;
    return (wish){ axis, value, axis, value };
}

static inline int granted(const attest_case *c, wish w)
{
    return c->problem.axis[w.a].value == w.va && c->problem.axis[w.b].value == w.vb;
}

/* Random line number `number`, parsed: the presets in turn on odd numbers, the wishes in turn on even ones; every 30th
 * is a larger line.  0: none was found. */
static inline int random_line(char *line, attest_case *c, int number, uint64_t *r)
{
    const wish w = wish_of(number / 2);
    for (int tries = 0; tries < 20000; tries++) {
        const size_t turn = number % 2 ? (size_t)number / 2 : (size_t)random_word(r);
        if (compose(line, c, &attest_presets[turn % attest_preset_count], number, r) && (number % 2 || granted(c, w)))
            return 1;
    }
    return 0;
}

#endif
