/* witness_lines.h - random problem lines for the witness's cross test: everything that this version serves. */
#ifndef ATTEST_WITNESS_LINES_H
#define ATTEST_WITNESS_LINES_H

#include <stdio.h>
#include <string.h>

#include "kernels/problem.h"

/* splitmix64 */
static inline uint64_t random_word(uint64_t *state)
{
    uint64_t x = (*state += 0x9e3779b97f4a7c15ull);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static inline int pick(uint64_t *state, int below)
{
    return (int)(random_word(state) % (uint64_t)below);
}

/* ---- random lines ------------------------------------------------------------------------------------------- */
typedef struct preset_choice {
    const char *name;
    int max_order;  /* -1: takes none */
    int state;      /* has a recurrence with center zero */
    int center;     /* may be given another center */
    int eps;        /* norm=sum */
} preset_choice;

static const preset_choice presets[] = {
    { "softmax", -1, 0, 0, 1 },    { "softmax1", -1, 0, 0, 0 },   { "taylor", 6, 1, 1, 1 },
    { "taylor", 6, 1, 1, 1 },      { "term", 6, 1, 0, 0 },        { "quadratic", -1, 1, 0, 0 },
    { "linear", -1, 1, 0, 0 },     { "linear-elu", -1, 1, 0, 1 }, { "linear-relu", -1, 1, 0, 1 },
    { "based", -1, 1, 1, 1 },      { "shifted", 6, 0, 0, 1 },
    { "gate", -1, 0, 0, 0 },       { "divlen", -1, 0, 0, 0 },     { "no-denominator", -1, 0, 0, 0 },
    { "floor-denominator", -1, 0, 0, 0 }, { "gated-softmax", -1, 0, 0, 0 },
    { "l2norm", -1, 0, 0, 0 },     { "rmsnorm", -1, 0, 0, 0 },    { "layernorm", -1, 0, 0, 0 },
    { "linear-cos", -1, 1, 0, 0 }, { "cos-taylor", 4, 1, 1, 1 },
};
static const char *const centers[] = { "zero", "max", "min", "mid" };
static const char *const gates[] = { "in", "out", "inout", "pre-out" };
static const char *const norms[] = { "none", "floor:1", "floor:8", "length", "l2", "rms", "layernorm",
                                     "length-l2", "length-rms", "length-layernorm" };
static const char *const features[] = { "unit", "silu", "silu-unit" };
static const char *const clamps[] = { "1", "-0.5" };
static const char *const masks[] = { "full", "causal", "causal-br" };
static const char *const dtypes[] = { "f32", "f16", "bf16", "f64" };
static const char *const families[] = { "normal", "normal", "normal:0.25", "uniform", "flat", "ones",
                                        "ramp-up", "negative", "huge", "range:4", "dyadic" };
static const char *const scales[] = { "1", "0.5", "-0.75", "3" };

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define ADD(...) (used += snprintf(line + used, (size_t)(ATTEST_LINE - used), __VA_ARGS__))

/* Gates, another norm, and the steps of the score; `plain`: no center and no eps, which ask for norm=sum. */
static inline int random_steps(char *line, int used, int plain, int state, uint64_t *r)
{
    const char *norm = plain && pick(r, 4) == 0 ? norms[pick(r, COUNT(norms))] : NULL;
    if (norm)
        ADD(" norm=%s", norm);
    if (norm && (strstr(norm, "rms") || strstr(norm, "layer")) && pick(r, 2))
        ADD(" affine=draw");
    if (norm && (strstr(norm, "rms") || strstr(norm, "layer") || strstr(norm, "l2")) && pick(r, 2))
        ADD(" eps=%s", pick(r, 2) ? "0.5" : "1e-5");
    if (pick(r, 4) == 0)
        ADD(" gates=%s", gates[pick(r, COUNT(gates))]);
    if (plain && pick(r, 8) == 0)
        ADD(" feature=%s", features[pick(r, COUNT(features))]);
    if (!state && pick(r, 8) == 0)
        ADD(" clamp=%s", clamps[pick(r, COUNT(clamps))]);
    if (!state && pick(r, 8) == 0)
        ADD(" cap=%s", pick(r, 2) ? "2" : "0.75");
    if (!state && pick(r, 8) == 0)
        ADD(" alibi=draw");
    return used;
}

/* Writes random line number `number`; every 30th is a larger one. */
static inline void random_line(char *line, int number, uint64_t *r)
{
    int used = 0;
    const preset_choice *preset = &presets[pick(r, COUNT(presets))];
    const int large = number % 30 == 29;
    const int order = preset->max_order < 0 ? 2 : pick(r, large ? 3 : preset->max_order + 1);
    const char *center = preset->center && pick(r, 2) ? centers[pick(r, 4)] : "zero";
    const int window = pick(r, 4) == 0;
    const int state = preset->state && !window && strcmp(center, "zero") == 0 && pick(r, 5) < 2;
    ADD(preset->max_order < 0 ? "variant=%s" : "variant=%s:%d", preset->name, order);
    if (strcmp(center, "zero") != 0)
        ADD(" center=%s", center);
    ADD(" mask=%s", masks[pick(r, 3)]);
    if (window)
        ADD(" window=%d", 1 + pick(r, 6));
    if (pick(r, 4) == 0)
        ADD(" lens=draw");
    const int eps = preset->eps && pick(r, 5) == 0;
    if (eps)
        ADD(" eps=%s", pick(r, 2) ? "0.25" : "1e-6");
    if (state)
        ADD(" state=draw");
    const int plain = !eps && strcmp(center, "zero") == 0 && strcmp(preset->name, "shifted") != 0;
    used = random_steps(line, used, plain, state, r);
    const int hkv = 1 + pick(r, 2), hq = hkv * (1 + pick(r, 2));
    const int d = large ? 8 : 1 + pick(r, order > 4 ? 3 : 4);
    ADD(" b=%d hq=%d hkv=%d", 1 + pick(r, 2), hq, hkv);
    ADD(" n=%d", large ? 12 : 1 + pick(r, 10));
    ADD(" m=%d d=%d", large ? 40 : 1 + pick(r, 10), d);
    ADD(" e=%d", 1 + pick(r, large ? 6 : 3));
    if (pick(r, 2))
        ADD(" scale=%s", scales[pick(r, COUNT(scales))]);
    ADD(" in=%s", dtypes[pick(r, COUNT(dtypes))]);
    ADD(" family=%s seed=%d", families[pick(r, COUNT(families))], number);
}

/* Every value that the lines are to cover must be in at least three of them. */
static const char *const covered[] = {
    "=softmax ", "=softmax1 ", "=taylor:0 ", "=taylor:1 ", "=taylor:2 ", "=taylor:3 ", "=taylor:4 ", "=taylor:5 ",
    "=taylor:6 ", "=term:", "=quadratic ", "=linear ", "=linear-elu ", "=linear-relu ", "=based ", "=shifted:",
    "center=max", "center=min", "center=mid", "mask=full", "mask=causal ", "mask=causal-br", "window=", "lens=draw",
    "=gate ", "=divlen ", "=no-denominator ", "=floor-denominator ", "=gated-softmax ", "gates=in ", "gates=out ",
    "gates=inout ", "gates=pre-out ", "norm=none ", "norm=floor:", "=l2norm ", "=rmsnorm ", "=layernorm ",
    "norm=l2 ", "norm=rms ", "norm=layernorm ", "norm=length-l2 ", "norm=length-rms ", "norm=length-layernorm ",
    "affine=draw",
    "=linear-cos ", "=cos-taylor:", "feature=unit ", "feature=silu ", "feature=silu-unit ", "norm=length ",
    "clamp=", "cap=", "alibi=draw",
    "eps=", "state=draw", "hq=2 hkv=1", "hq=4 hkv=2", "in=f32", "in=f16", "in=bf16", "in=f64", "family=normal ",
    "family=normal:", "family=uniform", "family=flat", "family=ones", "family=ramp-up", "family=negative",
    "family=huge", "family=range:", "family=dyadic",
};

#endif
