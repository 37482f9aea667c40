/* problem.c - facts that follow from a problem: default scale, visible keys, sizes of states, the hash. */
#include "kernels/problem/problem.h"

#include "kernels/attest_float.h"
#include "kernels/hash.h"

#include <math.h>

__extension__ typedef unsigned __int128 wide;

/* 1/sqrt(d) lies in [2^-k, 2^(1-k)) for the least k with 4^k >= d, so its 53-bit significand is
 * m = floor(2^(52+k)/sqrt(d)), the largest m with m^2 d <= 4^(52+k) (below 2^122: no overflow).  The next half
 * step is compared in the same way; it is never met, for (2m+1)^2 d = 4^(53+k) has no solution with m > 0. */
double attest_default_scale(int64_t d)
{
    const wide divisor = (wide)d;
    int k = 0;
    while (k < 8 && (1ll << (2 * k)) < d)
        k++;
    uint64_t low = 1ull << 52, high = 1ull << 53; /* low^2 d <= 4^(52+k) < (high+1)^2 d */
    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        if ((wide)middle * middle * divisor <= (wide)1 << (2 * (52 + k)))
            low = middle;
        else
            high = middle - 1;
    }
    const wide half_step = 2 * (wide)low + 1;
    if (half_step * half_step * divisor < (wide)1 << (2 * (53 + k)))
        low++;
    return (double)low / (double)(1ull << (52 + k)); /* exact: low <= 2^53, division by a power of two */
}

attest_usual attest_usual_slope(const attest_problem *p, int64_t h)
{
    int64_t heads = 1;
    while (2 * heads <= p->hq)
        heads *= 2;
    return h < heads ? (attest_usual){ h + 1, 8, heads } : (attest_usual){ 2 * (h - heads) + 1, 4, heads };
}

double attest_usual_double(const attest_problem *p, int64_t h)
{
    const attest_usual slope = attest_usual_slope(p, h);
    return exp2(-(double)(slope.step * slope.power) / (double)slope.heads);
}

static int64_t clamp_to(int64_t x, int64_t len) { return x < 0 ? 0 : x > len ? len : x; }

int64_t attest_position(const attest_problem *p, attest_lengths of, int64_t i)
{
    return attest_axis_value_of(p, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL_BR ? i + of.keys - of.queries : i;
}

void attest_visible(const attest_problem *p, attest_lengths of, int64_t i, int64_t *first, int64_t *last)
{
    const uint32_t mask = attest_axis_value_of(p, ATTEST_AXIS_MASK);
    const int64_t position = attest_position(p, of, i);
    const attest_setting *window = &p->axis[ATTEST_AXIS_WINDOW];
    int64_t from = 0, to = of.keys;
    if (mask != ATTEST_MASK_FULL)
        to = position + 1;
    if (window->value == ATTEST_WINDOW_W) {
        from = position - (int64_t)window->order + 1;
        if (mask == ATTEST_MASK_FULL)
            to = position + (int64_t)window->order;
    }
    if (i >= of.queries)
        to = 0;
    *first = clamp_to(from, of.keys);
    *last = clamp_to(to, of.keys);
}

int64_t attest_feature_dim(const attest_problem *p)
{
    return attest_axis_value_of(p, ATTEST_AXIS_FEATURE) == ATTEST_FEATURE_COSFORMER ? 2 * p->d : p->d;
}

#define STATE_ROWS_MAX (1ull << 40)

int64_t attest_state_rows(int64_t dim, int n, int packed)
{
    uint64_t rows = 1;
    for (uint64_t k = 1; k <= (uint64_t)n; k++) {
        const uint64_t factor = packed ? (uint64_t)dim + k - 1 : (uint64_t)dim;
        if (__builtin_mul_overflow(rows, factor, &rows))
            return -1; /* k <= 64: the quotient too is above 2^40 */
        if (packed)
            rows /= k; /* C(dim+k-1,k): an integer at every step */
        if (rows > STATE_ROWS_MAX)
            return -1;
    }
    return (int64_t)rows;
}

const char *attest_dtype_name(uint32_t dtype)
{
    static const char *const names[ATTEST_DTYPE_COUNT] = { "f32",  "f64",  "f16", "bf16", "i64",
                                                           "e4m3", "e5m2", "i32", "bool" };
    return dtype < ATTEST_DTYPE_COUNT ? names[dtype] : "?";
}

uint32_t attest_kv_dtype(const attest_problem *p)
{
    switch (p->axis[ATTEST_AXIS_KV].value) {
    case ATTEST_KV_F16: return ATTEST_F16;
    case ATTEST_KV_BF16: return ATTEST_BF16;
    case ATTEST_KV_E4M3: return ATTEST_F8_E4M3;
    case ATTEST_KV_E5M2: return ATTEST_F8_E5M2;
    default: return p->in;
    }
}

attest_status attest_types_check(const attest_problem *p, attest_error *err)
{
    const uint32_t kv = p->axis[ATTEST_AXIS_KV].value;
    const int scaled = attest_kv_scaled(p);
    if (kv == ATTEST_KV_IN || p->in == ATTEST_F32 || (scaled && p->in != ATTEST_F64))
        return ATTEST_OK;
    return attest_fail(err, ATTEST_BAD_INPUT, "kv=%s contradicts in=%s: only beside q in %s may k and v be of %s type",
                       attest_axes[ATTEST_AXIS_KV].values[kv].name, attest_dtype_name(p->in),
                       scaled ? "f32, f16 or bf16" : "f32", scaled ? "that" : "another");
}

const char *attest_form_name(uint32_t form)
{
    static const char *const names[] = { "?", "parallel", "tiled", "split", "recurrent", "chunk" };
    return form < sizeof names / sizeof names[0] ? names[form] : "?";
}

const char *attest_device_name(uint32_t device)
{
    return device == ATTEST_CPU         ? "cpu"
           : device == ATTEST_CUDA      ? "cuda"
           : device == ATTEST_CUDA_HOST ? "cuda-host"
                                        : "?";
}

/* FNV-1a over the value's eight bytes, least significant first. */
static uint64_t add_word(uint64_t hash, uint64_t word)
{
    unsigned char byte[8];
    for (int i = 0; i < 8; i++)
        byte[i] = (unsigned char)(word >> (8 * i));
    return attest_fnv(hash, byte, sizeof byte);
}

/* Axes at their default are left out, so that an axis of a later version changes no hash of an older line. */
static uint64_t add_axes(uint64_t hash, const attest_setting axis[ATTEST_AXIS_COUNT])
{
    for (uint32_t i = 0; i < ATTEST_AXIS_COUNT; i++) {
        if (axis[i].value == 0)
            continue;
        hash = add_word(hash, i);
        hash = add_word(hash, axis[i].value);
        hash = add_word(hash, axis[i].order);
        hash = add_word(hash, attest_f64_bits(axis[i].number));
    }
    return add_word(hash, UINT64_MAX);
}

uint64_t attest_case_hash(const attest_case *c)
{
    const attest_problem *p = &c->problem;
    const uint64_t words[] = {
        (uint64_t)p->b, (uint64_t)p->hq, (uint64_t)p->hkv,          (uint64_t)p->n, (uint64_t)p->m,
        (uint64_t)p->d, (uint64_t)p->e,  attest_f64_bits(p->scale), p->in,          p->acc,
        p->p,           p->out
    };
    uint64_t hash = add_axes(ATTEST_FNV_START, p->axis);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        hash = add_word(hash, words[i]);
    for (const char *f = c->family; *f; f++)
        hash = add_word(hash, (unsigned char)*f);
    hash = add_word(hash, UINT64_MAX);
    hash = add_word(hash, c->seed);
    return attest_mix64(hash); /* every residue of the hash is spread evenly */
}
