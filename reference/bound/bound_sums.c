/* bound_sums.c - upper bounds of sums over keys, in doubles (lemma R-DSUM): the part that costs time. */
#include "reference/bound/bound.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

attest_status bound_sums_init(bound_sums *sums, int64_t keys, attest_error *err)
{
    const size_t n = (size_t)keys + 1;
    *sums = (bound_sums){ .keys = keys };
    fmpz_init(sums->shift);
    double *block = calloc(n * (BOUND_SETS + 3 + BOUND_CHANNELS), sizeof *block);
    if (!block)
        return attest_fail(err, ATTEST_NO_MEMORY, "bound: no memory for %lld keys", (long long)keys);
    for (int t = 0; t < BOUND_SETS; t++)
        sums->coef[t] = block + n * (size_t)(t + 1);
    sums->value = block;
    sums->gate_room = block + n * (BOUND_SETS + 1);
    sums->channels = block + n * (BOUND_SETS + 3);
    return ATTEST_OK;
}

void bound_sums_clear(bound_sums *sums)
{
    free(sums->value);
    fmpz_clear(sums->shift);
    sums->value = NULL;
}

/* A double >= x 2^-shift; a positive x never becomes 0. */
static double scaled_up(const mag_t x, const fmpz_t minus_shift)
{
    if (mag_is_zero(x))
        return 0.0;
    AUTO_MAG(y);
    mag_mul_2exp_fmpz(y, x, minus_shift);
    double r = 0x1p-1000;
    if (mag_cmp_2exp_si(y, -1000) > 0)
        r = mag_cmp_2exp_si(y, 1000) > 0 ? (double)INFINITY : mag_get_d(y); /* mag_get_d is exact there */
    return r;
}

void bound_sums_fill(bound_sums *sums, mag_srcptr const set[BOUND_SETS])
{
    AUTO_MAG(top);
    for (int t = 0; t < BOUND_SETS; t++)
        for (int64_t j = 0; set[t] && j < sums->keys; j++)
            if (!mag_is_inf(set[t] + j))
                mag_max(top, top, set[t] + j);
    fmpz_zero(sums->shift);
    if (!mag_is_zero(top))
        fmpz_neg(sums->shift, MAG_EXPREF(top));
    for (int t = 0; t < BOUND_SETS; t++)
        for (int64_t j = 0; j < sums->keys; j++)
            sums->coef[t][j] = set[t] ? scaled_up(set[t] + j, sums->shift) : 0.0;
    fmpz_neg(sums->shift, sums->shift);
}

/* The stored value, exactly; as attest_load(), but without a call for each of the many. */
static double stored(const attest_tensor *t, int64_t offset)
{
    uint32_t word;
    uint16_t half;
    switch (t->dtype) {
    case ATTEST_F32: memcpy(&word, (const unsigned char *)t->data + 4 * offset, sizeof word); break;
    case ATTEST_BF16:
        memcpy(&half, (const unsigned char *)t->data + 2 * offset, sizeof half);
        word = (uint32_t)half << 16;
        break;
    default: return attest_load(t, offset);
    }
    if ((word >> 23 & 0xff) == 0) /* subnormal: not left to the machine's mode */
        return attest_to_f64(ATTEST_F32, word);
    return (double)attest_bits_f32(word);
}

/* Channel c of v, decoded with its neighbours: they lie side by side in memory. */
const double *bound_sums_channel(bound_sums *sums, const attest_tensor *v, int64_t b, int64_t g, const int64_t *key,
                                 int64_t c)
{
    const int64_t left = c - c % BOUND_CHANNELS;
    const int64_t count = v->shape[3] - left < BOUND_CHANNELS ? v->shape[3] - left : BOUND_CHANNELS;
    if (sums->decoded != left + 1)
        for (int64_t j = 0; j < sums->keys; j++) {
            const int64_t start = attest_offset(v, b, g, key[j], left);
            for (int64_t k = 0; k < count; k++)
                sums->channels[k * sums->keys + j] = stored(v, start + k * v->stride[3]);
        }
    sums->decoded = left + 1;
    return sums->channels + (c - left) * sums->keys;
}

void bound_sums_gates(bound_sums *sums, arb_srcptr gates)
{
    AUTO_ARB(x);
    sums->gate = sums->gate_room;
    sums->gate_error = sums->gate_room + sums->keys + 1;
    for (int64_t j = 0; j < sums->keys; j++) {
        sums->gate[j] = arf_get_d(arb_midref(gates + j), ARF_RND_NEAR);
        arb_set_d(x, sums->gate[j]);
        arb_sub(x, gates + j, x, 128);
        arb_get_abs_ubound_arf(arb_midref(x), x, 53);
        sums->gate_error[j] = arf_get_d(arb_midref(x), ARF_RND_UP);
    }
}

/* value[j] >= |gate_j x_j - mid| + rad: the product and the difference round, the factor covers all; a product that
 * underflows loses less than 2^-1070. */
static void gated(bound_sums *sums, const double *x, double mid, double rad)
{
    for (int64_t j = 0; j < sums->keys; j++) {
        const double y = sums->gate[j] * x[j], size = __builtin_fabs(x[j]);
        const double around = size * sums->gate_error[j] + __builtin_fabs(y) * 0x1p-52 + 0x1p-1070;
        sums->value[j] = (__builtin_fabs(y - mid) + around + rad) * (1 + 0x1p-50);
        sums->raw_top = size > sums->raw_top ? size : sums->raw_top;
        sums->top = sums->value[j] > sums->top ? sums->value[j] : sums->top;
    }
}

void bound_sums_values(bound_sums *sums, const attest_tensor *v, int64_t b, int64_t g, const int64_t *key, int64_t c)
{
    const double *x = bound_sums_channel(sums, v, b, g, key, c);
    sums->top = sums->raw_top = 0;
    if (sums->gate) {
        gated(sums, x, 0, 0);
        return;
    }
    for (int64_t j = 0; j < sums->keys; j++) {
        sums->value[j] = __builtin_fabs(x[j]); /* one instruction, no branch */
        sums->top = sums->value[j] > sums->top ? sums->value[j] : sums->top;
    }
    sums->raw_top = sums->top;
}

void bound_sums_distances(bound_sums *sums, const attest_tensor *v, int64_t b, int64_t g, const int64_t *key, int64_t c,
                          const arb_t o)
{
    const double *x = bound_sums_channel(sums, v, b, g, key, c);
    AUTO_ARB(rest);
    AUTO_MAG(size);
    const double mid = arf_get_d(arb_midref(o), ARF_RND_NEAR);
    arb_set_d(rest, mid);
    arb_sub(rest, o, rest, 128);
    arb_get_mag(size, rest);
    const double rad = ref_mag_upper(size);
    if (sums->gate)
        gated(sums, x, mid, rad);
    else
        for (int64_t j = 0; j < sums->keys; j++) {
            /* >= |v - o|: three roundings, R-DSUM */
            sums->value[j] = (__builtin_fabs(x[j] - mid) + rad) * (1 + 0x1p-50);
        }
}

/* sum <= fl(sum) (1 + (n+2) 2^-52) + n 2^-1074 (R-DSUM). */
static void lift(mag_t out, double sum, const bound_sums *sums)
{
    AUTO_MAG(factor);
    if (sum >= 0 && sum <= DBL_MAX)
        mag_set_d(out, sum);
    else
        mag_inf(out);
    mag_set_ui_2exp_si(factor, (ulong)sums->keys + 2, -52);
    mag_add_ui(factor, factor, 1);
    mag_mul(out, out, factor);
    mag_add_ui_2exp_si(out, out, (ulong)sums->keys, -1074);
}

static void inflate(mag_t out, double sum, const bound_sums *sums)
{
    lift(out, sum, sums);
    mag_mul_2exp_fmpz(out, out, sums->shift);
}

void bound_sums_dot(mag_t out, const bound_sums *sums, int set)
{
    const double *coef = sums->coef[set], *value = sums->value;
    double part[4] = { 0, 0, 0, 0 }; /* any order: R-DSUM holds for each */
    int64_t j = 0;
    for (; j + 4 <= sums->keys; j += 4)
        for (int k = 0; k < 4; k++)
            part[k] += coef[j + k] * value[j + k];
    for (; j < sums->keys; j++)
        part[0] += coef[j] * value[j];
    inflate(out, (part[0] + part[1]) + (part[2] + part[3]), sums);
}

void bound_sums_root(mag_t out, const bound_sums *sums, int set)
{
    double sum = 0; /* a square has two roundings more than R-DSUM's product: of its n + 2, a sum of n needs n - 1 */
    for (int64_t j = 0; j < sums->keys; j++) {
        const double x = sums->coef[set][j] * sums->value[j];
        sum += x * x;
    }
    lift(out, sum, sums);
    mag_sqrt(out, out);
    mag_mul_2exp_fmpz(out, out, sums->shift);
}

void bound_sums_total(mag_t out, const bound_sums *sums, int set)
{
    double sum = 0;
    for (int64_t j = 0; j < sums->keys; j++)
        sum += sums->coef[set][j];
    inflate(out, sum, sums);
}

void bound_sums_sizes(mag_t out, const bound_sums *sums)
{
    double sum = 0;
    for (int64_t j = 0; j < sums->keys; j++)
        sum += sums->value[j];
    lift(out, sum, sums);
}
