/* draw.c - drawing of tensors: q, k, v by the family, all others by the fixed distributions of family.h. */
#include "props/draw/family_distribution.h"
#include "props/draw/trace.h"

#include "kernels/attest_float.h"

#include <stdlib.h>
#include <string.h>

typedef __int128 signed_wide;
typedef unsigned __int128 wide;

static uint64_t round_once(uint32_t dtype, attest_exact x)
{
    return attest_round_scaled(dtype, x.negative, x.significand, x.exponent, x.sticky);
}

/* ---- fixed distributions ------------------------------------------------------------------------------------ */

static uint32_t first_word(const attest_stream *stream, attest_place at)
{
    uint32_t words[4];
    attest_draw_words(words, stream, 0, attest_place_index(at));
    return words[0];
}

/* (w+1) 2^-32, in (0,1]. */
static attest_exact unit_draw(const attest_stream *stream, attest_place at)
{
    return attest_exact_wide((signed_wide)first_word(stream, at) + 1, -32);
}

static uint64_t distribution_normal(const attest_stream *stream, attest_place at, uint32_t dtype)
{
    return round_once(dtype, attest_distribution_normal(stream, at));
}

static uint64_t distribution_unit(const attest_stream *stream, attest_place at, uint32_t dtype)
{
    return round_once(dtype, unit_draw(stream, at));
}

/* -(w+1) 2^-32, in [-1,0): of decays from 1/e to 1. */
static uint64_t distribution_log_decay(const attest_stream *stream, attest_place at, uint32_t dtype)
{
    attest_exact x = unit_draw(stream, at);
    x.negative = 1;
    return round_once(dtype, x);
}

/* (w+1) 2^-31; where that rounds to 2, the number before 2. */
static uint64_t distribution_write(const attest_stream *stream, attest_place at, uint32_t dtype)
{
    attest_exact x = unit_draw(stream, at);
    const uint64_t two = attest_round_scaled(dtype, 0, 2, 0, 0);
    x.exponent++;
    const uint64_t bits = round_once(dtype, x);
    return bits == two ? two - 1 : bits;
}

/* 1 + normal/4. */
static uint64_t distribution_gain(const attest_stream *stream, attest_place at, uint32_t dtype)
{
    const int64_t draw = attest_draw_normal(stream, attest_place_index(at));
    return round_once(dtype, attest_exact_wide(((signed_wide)1 << 34) + draw, -34));
}

/* 1 - 2^(-5-g); from g = 59 on it is nearer to 1 than any dtype shows. */
static uint64_t distribution_gamma(const attest_stream *stream, attest_place at, uint32_t dtype)
{
    (void)stream;
    const int places = at.h < 58 ? 5 + (int)at.h : 63;
    return attest_round_scaled(dtype, 0, ((uint64_t)1 << places) - 1, -places, 0);
}

/* Laws of the tensors that need nothing but their place; slope and len need sizes, q k v the family. */
static const attest_fixed_law fixed_laws[ATTEST_TENSOR_ROLES] = {
    [ATTEST_GOUT] = distribution_unit,   [ATTEST_Q_HEAD_LOGITS] = distribution_normal,
    [ATTEST_GIN] = distribution_unit,    [ATTEST_K_HEAD_LOGITS] = distribution_normal,
    [ATTEST_BETA] = distribution_write,  [ATTEST_DECAY] = distribution_unit,
    [ATTEST_SINK] = distribution_normal, [ATTEST_GAMMA] = distribution_gamma,
    [ATTEST_GAIN] = distribution_gain,   [ATTEST_SHIFT] = distribution_normal,
    [ATTEST_BIAS] = distribution_normal,
};

static attest_fixed_law fixed_law(const attest_problem *p, uint32_t role)
{
    return role == ATTEST_DECAY && attest_log_decays(p) ? distribution_log_decay : fixed_laws[role];
}

/* ---- slope: 2^(-8(h+1)/Hq) rounded to f32 ------------------------------------------------------------- */

#define ROOTS 60

/* root[k] = 2^(2^-k) in units of 2^-62, for k = 1..ROOTS: floor(sqrt(root[k-1] 2^62)).  A relative error x of
 * root[k-1] gives x/2, the floor 2^-62 more: each is low by less than 2^-61 relative. */
static void make_roots(uint64_t root[ROOTS + 1])
{
    root[0] = (uint64_t)1 << 63;
    for (int k = 1; k <= ROOTS; k++) {
        const wide square = (wide)root[k - 1] << 62;
        uint64_t r = 0;
        for (uint64_t bit = (uint64_t)1 << 63; bit; bit >>= 1)
            if ((wide)(r | bit) * (r | bit) <= square)
                r |= bit;
        root[k] = r;
    }
}

/* 2^(part/whole), 0 <= part < whole, as a product over the binary digits of part/whole, in units of 2^-62: low
 * by at most 60 (2^-61 + 2^-62) from the factors and their products and 2^-60 from the digits cut off, relative;
 * below 2^-54 together, that is fewer than 2^9 units. */
static uint64_t power_of_two(const uint64_t root[ROOTS + 1], int64_t part, int64_t whole)
{
    uint64_t y = (uint64_t)1 << 62;
    for (int k = 1; k <= ROOTS; k++) {
        part *= 2;
        if (part >= whole) {
            part -= whole;
            y = (uint64_t)((wide)y * root[k] >> 62);
        }
    }
    return y;
}

/* The f32 nearest to 2^(-8(h+1)/heads).  A fractional exponent gives an irrational number, never a tie: if both
 * ends of the error interval (2^-30 of an f32 ulp wide) round alike, that is the nearest.  They always do: of all
 * heads of all Hq <= 4096 none comes nearer to a rounding boundary than 2^-23 of an ulp. */
static attest_status slope_bits(uint64_t *bits, const uint64_t root[ROOTS + 1], int64_t h, int64_t heads,
                                attest_error *err)
{
    const int64_t down = (8 * (h + 1) + heads - 1) / heads, part = down * heads - 8 * (h + 1);
    const uint64_t low = power_of_two(root, part, heads);
    const int exact = part == 0;
    *bits = attest_round_scaled(ATTEST_F32, 0, low, -62 - (int)down, !exact);
    if (!exact && attest_round_scaled(ATTEST_F32, 0, low + 512, -62 - (int)down, 0) != *bits)
        return attest_fail(err, ATTEST_INTERNAL, "slope of head %lld of %lld is too near to a rounding boundary",
                           (long long)h, (long long)heads);
    return ATTEST_OK;
}

static attest_status draw_slope(attest_tensor *t, attest_error *err)
{
    uint64_t root[ROOTS + 1], bits = 0;
    attest_status status = ATTEST_OK;
    make_roots(root);
    for (int64_t h = 0; h < t->shape[0]; h++) {
        ATTEST_TRY(slope_bits(&bits, root, h, t->shape[0], err));
        if (t->dtype == ATTEST_F64)
            bits = attest_f64_bits(attest_to_f64(ATTEST_F32, bits));
        attest_store_bits(t, attest_offset(t, h, 0, 0, 0), bits);
    }
out:
    return status;
}

/* Of 0..most. */
static void draw_len(attest_tensor *t, int64_t most, const attest_stream *stream, int edges)
{
    for (int64_t b = 0; b < t->shape[0]; b++) {
        const uint64_t word = first_word(stream, (attest_place){ b, 0, 0, 0 });
        const uint64_t plain = word * (uint64_t)(most + 1) >> 32;
        attest_store_bits(t, attest_offset(t, b, 0, 0, 0),
                          edges ? (uint64_t)attest_edge_length(stream, b, most) : plain);
    }
}

/* len_q, of 0..n: one entry in four has no query, one has all, the others any number (family edges, of lens_q=len: as
 * len).  Where fewer than two entries (of one: it) have some, the first that have none get all: a case with nothing to
 * judge tells nothing, and one sequence alone begins at 0 whoever counts. */
static void draw_len_q(attest_tensor *t, int64_t n, const attest_stream *stream, int edges)
{
    int64_t some = 0;
    for (int64_t b = 0; b < t->shape[0]; b++) {
        const uint64_t word = first_word(stream, (attest_place){ b, 0, 0, 0 });
        const uint64_t inner = (word & 0x3fffffff) * (uint64_t)(n + 1) >> 30;
        const uint64_t plain = word >> 30 == 0 ? 0 : word >> 30 == 1 ? (uint64_t)n : inner;
        const uint64_t len = edges ? (uint64_t)attest_edge_length(stream, b, n) : plain;
        attest_store_bits(t, attest_offset(t, b, 0, 0, 0), len);
        some += len > 0;
    }
    for (int64_t b = 0; b < t->shape[0] && some < 2; b++) {
        const int64_t at = attest_offset(t, b, 0, 0, 0);
        if (attest_load_bits(t, at) == 0) {
            attest_store_bits(t, at, (uint64_t)n);
            some++;
        }
    }
}

/* len and len_q of lens_q=len: what the bundle holds of the other, else drawn as the len that both are. */
static void draw_same_len(attest_tensor *t, const attest_bundle *bundle, const attest_case *c, uint32_t role,
                          attest_stream stream, int edges)
{
    const attest_tensor *other = attest_bundle_role(bundle, role == ATTEST_Q_LENS ? ATTEST_KV_LENS : ATTEST_Q_LENS);
    stream.tensor = attest_tensor_draw_number((attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_KV_LENS });
    if (!other)
        draw_len_q(t, c->problem.n, &stream, edges);
    for (int64_t b = 0; other && b < t->shape[0]; b++)
        attest_store_bits(t, attest_offset(t, b, 0, 0, 0), attest_load_bits(other, attest_offset(other, b, 0, 0, 0)));
}

/* ---- roles ----------------------------------------------------------------------------------------- */

/* Where an element stands, from its indices and the letters of the role's axes. */
static attest_place place_of(const char *axes, const int64_t index[4])
{
    attest_place at = { 0, 0, 0, 0 };
    for (int i = 0; i < 4 && axes[i]; i++) {
        switch (axes[i]) {
        case 'b': at.b = index[i]; break;
        case 'h':
        case 'g': at.h = index[i]; break;
        case 'n':
        case 'm': at.token = index[i]; break;
        default: at.channel = index[i]; break;
        }
    }
    return at;
}

/* Next index in row-major order over the first `axes` axes; 0 after the last. */
static int next_index(int64_t index[4], const int64_t shape[4], int axes)
{
    for (int i = axes - 1; i >= 0; i--) {
        if (++index[i] < shape[i])
            return 1;
        index[i] = 0;
    }
    return 0;
}

static void draw_fixed(attest_tensor *t, const char *axes, const attest_stream *stream, attest_fixed_law distribution)
{
    int64_t index[4] = { 0 }, offset = 0;
    do
        attest_store_bits(t, offset++, distribution(stream, place_of(axes, index), t->dtype));
    while (next_index(index, t->shape, 4));
}

/* A bias goes by query and key: the key is the channel, its high bits are in the tensor's number. */
static void draw_bias(attest_tensor *t, const attest_stream *stream, attest_fixed_law distribution)
{
    int64_t index[4] = { 0 }, offset = 0;
    do {
        attest_stream part = *stream;
        part.tensor += (uint32_t)(index[3] >> 16);
        const attest_place at = { index[0], index[1], index[2], index[3] & 0xffff };
        attest_store_bits(t, offset++, distribution(&part, at, t->dtype));
    } while (next_index(index, t->shape, 4));
}

int attest_key_shrink(const attest_exact *row, int64_t count)
{
    int unit = INT32_MIN;
    for (int64_t c = 0; c < count; c++) {
        const int top = row[c].significand ? row[c].exponent + 64 - __builtin_clzll(row[c].significand) : INT32_MIN;
        unit = top > unit ? top : unit;
    }
    if (unit == INT32_MIN)
        return 0;
    unit -= 32;
    wide sum = 0;
    for (int64_t c = 0; c < count; c++) {
        const int drop = unit - row[c].exponent;
        const uint64_t significand = row[c].significand;
        if (significand) {
            const uint64_t kept = drop >= 64 ? 0 : drop >= 0 ? significand >> drop : significand << -drop;
            sum += (wide)(kept + 1) * (kept + 1);
        }
    }
    int s = unit;
    for (wide room = 3; room < 4 * sum; room *= 4)
        s++;
    return s > 0 ? s : 0;
}

/* k_scale or v_scale: the draw goes by the numbers of the head. */
static attest_status draw_scales(attest_tensor *t, const attest_case *c, uint32_t role, uint32_t case_number,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (int64_t b = 0; b < t->shape[0]; b++)
        for (int64_t g = 0; g < t->shape[1]; g++) {
            uint64_t bits;
            ATTEST_TRY(attest_draw_kv_scale(&bits, c, role, case_number, b, g, err));
            attest_store_bits(t, attest_offset(t, b, g, 0, 0), bits);
        }
out:
    return status;
}

/* k_scale or v_scale of KV head g: as given, or as it will be drawn; 1 where there is none. */
static attest_status scale_of(double *scale, const attest_bundle *bundle, const attest_case *c, uint32_t role,
                              uint32_t case_number, int64_t b, int64_t g, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const uint32_t scales = role == ATTEST_K ? ATTEST_K_SCALE : ATTEST_V_SCALE;
    const attest_tensor *given = attest_bundle_role(bundle, scales);
    uint64_t bits;
    *scale = 1;
    if (role == ATTEST_Q || !attest_kv_scaled(&c->problem))
        return ATTEST_OK;
    if (given) {
        *scale = attest_kv_scale(&c->problem, given, b, g);
        return ATTEST_OK;
    }
    ATTEST_TRY(attest_draw_kv_scale(&bits, c, scales, case_number, b, g, err));
    *scale = attest_to_f64(ATTEST_F32, bits);
out:
    return status;
}

/* q, k or v; k and v of 8 bits are what is drawn over their scale.  update=delta and efla: each key is scaled by a
 * power of two so that its state stays bounded. */
static attest_status draw_family(attest_tensor *t, const attest_bundle *bundle, const attest_case *c, uint32_t role,
                                 uint32_t case_number, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_distribution distribution;
    const int64_t width = t->shape[3];
    const int scaled = role != ATTEST_Q && attest_kv_scaled(&c->problem);
    int64_t index[4] = { 0 }, offset = 0;
    double scale = 1;
    attest_exact *row = calloc((size_t)width, sizeof *row);
    if (!row)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a row of %lld values", (long long)width);
    attest_distribution_make(&distribution, c, role, case_number);
    do {
        attest_draw_row(row, &distribution, (attest_place){ index[0], index[1], index[2], 0 }, width);
        if (index[2] == 0)
            ATTEST_TRY(scale_of(&scale, bundle, c, role, case_number, index[0], index[1], err));
        for (int64_t channel = 0; channel < width; channel++)
            attest_store_bits(t, offset++,
                              scaled ? attest_round_over(t->dtype, row[channel], scale)
                                     : round_once(t->dtype, row[channel]));
    } while (next_index(index, t->shape, 3));
out:
    free(row);
    return status;
}

/* ---- states ---------------------------------------------------------------------------------------- */

#define STATE_TOKENS ((int64_t)1 << 24)

/* C(n, k), or STATE_TOKENS + 1 if it is larger than STATE_TOKENS. */
static int64_t binomial(int64_t n, int64_t k)
{
    int64_t value = 1;
    for (int64_t i = 1; i <= k && n >= k; i++) {
        value = value * (n - k + i) / i; /* exact: a binomial each time; n < 2^18 */
        if (value > STATE_TOKENS)
            return STATE_TOKENS + 1;
    }
    return n >= k ? value : 0;
}

/* The token under which the entry of a multi-index is drawn: the rank of the sorted multi-index i_1 <= ... <= i_n
 * among all such in colexicographic order, sum_k C(i_k + k - 1, k).  It does not depend on dim. */
static int64_t symmetric_rank(const int64_t *multi, int degree)
{
    int64_t sorted[ATTEST_MAX_ORDER], rank = 0;
    for (int k = 0; k < degree; k++) {
        int at = k;
        for (; at > 0 && sorted[at - 1] > multi[k]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = multi[k];
    }
    for (int k = 0; k < degree; k++)
        rank += binomial(sorted[k] + k, k + 1);
    return rank;
}

/* Next multi-index: row-major Kronecker, or the next non-decreasing one in lexicographic order. */
static void next_multi(int64_t *multi, int degree, int64_t dim, int packed)
{
    int i = degree - 1;
    while (i >= 0 && multi[i] == dim - 1)
        i--;
    if (i < 0)
        return;
    multi[i]++;
    for (int k = i + 1; k < degree; k++)
        multi[k] = packed ? multi[i] : 0;
}

static attest_status draw_state(attest_tensor *t, const attest_problem *p, attest_tensor_id id,
                                const attest_stream *stream, int packed, attest_error *err)
{
    const int degree = (int)id.index;
    const int64_t dim = attest_feature_dim(p), heads = t->shape[0] * t->shape[1];
    const attest_fixed_law distribution = id.kind == ATTEST_KIND_H0 ? distribution_normal : distribution_unit;
    if (binomial(dim + degree - 1, degree < dim ? degree : dim - 1) > STATE_TOKENS)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "a state of degree %d and dimension %lld is too large to draw; "
                           "allowed: 2^24 different entries",
                           degree, (long long)dim);
    for (int64_t head = 0; head < heads; head++) {
        int64_t multi[ATTEST_MAX_ORDER] = { 0 }, offset = head * t->shape[2] * t->shape[3];
        for (int64_t r = 0; r < t->shape[2]; r++) {
            attest_place at = { head / t->shape[1], head % t->shape[1], symmetric_rank(multi, degree), 0 };
            for (; at.channel < t->shape[3]; at.channel++)
                attest_store_bits(t, offset++, distribution(stream, at, t->dtype));
            next_multi(multi, degree, dim, packed);
        }
    }
    return ATTEST_OK;
}

/* ---- entry points ---------------------------------------------------------------------------------- */

attest_status attest_draw_tensor(attest_bundle *bundle, const attest_case *c, attest_tensor_id id, uint32_t case_number,
                                 int packed, attest_error *err)
{
    attest_status status;
    attest_tensor *t;
    char name[32];
    int given = 0;
    const char *folder = attest_family_folder(c);
    const char *axes = attest_tensor_axes(&c->problem, id);
    const int edges = attest_family_of(c) == &attest_families[FAMILY_EDGES];
    const attest_fixed_law edge = edges && id.kind == ATTEST_KIND_ROLE ? attest_edge_law(&c->problem, id.index) : NULL;
    const attest_stream stream = { c->seed, case_number, attest_tensor_draw_number(id) };
    const int same = c->problem.axis[ATTEST_AXIS_LENS_Q].value == ATTEST_LENS_Q_LEN;
    attest_tensor_id_print(name, sizeof name, id);
    if (!attest_problem_uses(&c->problem, id))
        return attest_fail(err, ATTEST_INTERNAL, "the problem does not read %s", name);
    ATTEST_TRY(attest_family_check(c, err));
    if (folder)
        ATTEST_TRY(attest_trace_read(&given, bundle, &c->problem, folder, id, err));
    if (given)
        goto out;
    ATTEST_TRY(attest_bundle_add(bundle, &c->problem, id, packed, &t, err));
    if (id.kind != ATTEST_KIND_ROLE)
        status = draw_state(t, &c->problem, id, &stream, packed, err);
    else if (id.index == ATTEST_SLOPE)
        status = draw_slope(t, err);
    else if (same && (id.index == ATTEST_KV_LENS || id.index == ATTEST_Q_LENS))
        draw_same_len(t, bundle, c, id.index, stream, edges);
    else if (id.index == ATTEST_KV_LENS)
        draw_len(t, c->problem.m, &stream, edges);
    else if (id.index == ATTEST_Q_LENS)
        draw_len_q(t, c->problem.n, &stream, 0);
    else if (id.index == ATTEST_MASK)
        attest_draw_mask(t, &stream);
    else if (id.index == ATTEST_KEEP)
        attest_draw_keep(t, c->problem.axis[ATTEST_AXIS_DROPOUT].number, &stream);
    else if (id.index == ATTEST_BIAS)
        draw_bias(t, &stream, edge ? edge : fixed_laws[id.index]);
    else if (id.index == ATTEST_K_SCALE || id.index == ATTEST_V_SCALE)
        status = draw_scales(t, c, id.index, case_number, err);
    else if (edge || fixed_laws[id.index])
        draw_fixed(t, axes, &stream, edge ? edge : fixed_law(&c->problem, id.index));
    else
        status = draw_family(t, bundle, c, id.index, case_number, err);
out:
    return status;
}

attest_status attest_draw_missing(attest_bundle *bundle, const attest_case *c, uint32_t case_number, int packed,
                                  attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&c->problem, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count; i++)
        if (!attest_bundle_get(bundle, ids[i]))
            ATTEST_TRY(attest_draw_tensor(bundle, c, ids[i], case_number, packed, err));
out:
    return status;
}
