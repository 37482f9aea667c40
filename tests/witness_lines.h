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
};
static const char *const centers[] = { "zero", "max", "min", "mid" };
static const char *const masks[] = { "full", "causal", "causal-br" };
static const char *const dtypes[] = { "f32", "f16", "bf16", "f64" };
static const char *const families[] = { "normal", "normal", "normal:0.25", "uniform", "flat", "ones",
                                        "ramp-up", "negative", "huge", "range:4", "dyadic" };
static const char *const scales[] = { "1", "0.5", "-0.75", "3" };

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define ADD(...) (used += snprintf(line + used, (size_t)(ATTEST_LINE - used), __VA_ARGS__))

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
    if (preset->eps && pick(r, 5) == 0)
        ADD(" eps=%s", pick(r, 2) ? "0.25" : "1e-6");
    if (state)
        ADD(" state=draw");
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
    "eps=", "state=draw", "hq=2 hkv=1", "hq=4 hkv=2", "in=f32", "in=f16", "in=bf16", "in=f64", "family=normal ",
    "family=normal:", "family=uniform", "family=flat", "family=ones", "family=ramp-up", "family=negative",
    "family=huge", "family=range:", "family=dyadic",
};

#endif
