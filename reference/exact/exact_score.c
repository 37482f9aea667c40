/* exact_score.c - dyadic inputs as integers over one power of two, and scores made of them (R-EXACT).
 *
 * Nothing here is rounded.  Exponents are found first, by integer operations on the stored bits, so that
 * every integer is made once, at its final place. */
#include "reference/exact/exact.h"

#include <stdlib.h>

#include "kernels/attest_float.h"

/* What phi does, for the features that keep rationals rational. */
static const struct {
    int served, clips, adds_one;
} features[] = {
    [ATTEST_FEATURE_IDENTITY] = { 1, 0, 0 },
    [ATTEST_FEATURE_ELU1] = { 1, 0, 1 }, /* x+1, for x >= 0 only */
    [ATTEST_FEATURE_RELU] = { 1, 1, 0 },
    [ATTEST_FEATURE_UNIT] = { 0, 0, 0 },
    [ATTEST_FEATURE_SILU] = { 0, 0, 0 },
    [ATTEST_FEATURE_SILU_UNIT] = { 0, 0, 0 },
    [ATTEST_FEATURE_COSFORMER] = { 0, 0, 0 },
};

/* x = +-mantissa * 2^exponent; 0 if x is not finite. */
static int dyadic(uint64_t *mantissa, long *exponent, double x)
{
    const uint64_t bits = attest_f64_bits(x);
    const long field = (long)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & 0xfffffffffffffull;
    *mantissa = field ? fraction | 1ull << 52 : fraction;
    *exponent = (field ? field : 1) - 1075;
    return field != 0x7ff;
}

void exact_span_start(exact_span *s)
{
    *s = (exact_span){ .low = 0, .top = 0, .finite = 1, .negative = 0, .any = 0 };
}

void exact_span_see(exact_span *s, double x)
{
    uint64_t mantissa;
    long exponent;
    if (!dyadic(&mantissa, &exponent, x)) {
        s->finite = 0;
        return;
    }
    if (mantissa == 0)
        return;
    const long low = exponent + __builtin_ctzll(mantissa);
    const long top = exponent + 64 - __builtin_clzll(mantissa);
    s->low = s->any && s->low < low ? s->low : low;
    s->top = s->any && s->top > top ? s->top : top;
    s->negative |= x < 0;
    s->any = 1;
}

int exact_span_feature(exact_span *s, uint32_t feature)
{
    if (feature >= sizeof features / sizeof features[0] || !features[feature].served || !s->finite)
        return 0;
    if (features[feature].adds_one) {
        if (s->negative)
            return 0;
        s->low = s->low < 0 ? s->low : 0;
        s->top = (s->top > 1 ? s->top : 1) + 1;
    }
    return 1;
}

void exact_integer(mpz_t out, double x, long low)
{
    uint64_t mantissa;
    long exponent;
    dyadic(&mantissa, &exponent, x);
    mpz_set_ui(out, mantissa);
    if (exponent >= low)
        mpz_mul_2exp(out, out, (mp_bitcnt_t)(exponent - low));
    else
        mpz_tdiv_q_2exp(out, out, (mp_bitcnt_t)(low - exponent)); /* exact: x is on the grid */
    if (x < 0)
        mpz_neg(out, out);
}

void exact_feature_integer(mpz_t out, double x, uint32_t feature, long low)
{
    exact_integer(out, x, low);
    if (features[feature].clips && mpz_sgn(out) < 0)
        mpz_set_ui(out, 0);
    if (features[feature].adds_one) {
        mpz_t one;
        mpz_init(one);
        exact_integer(one, 1.0, low);
        mpz_add(out, out, one);
        mpz_clear(one);
    }
}

int64_t exact_feature_word(double x, uint32_t feature, long low)
{
    uint64_t mantissa;
    long exponent;
    dyadic(&mantissa, &exponent, x);
    if (mantissa == 0)
        exponent = low;
    const uint64_t size = exponent >= low ? mantissa << (exponent - low) : mantissa >> (low - exponent);
    int64_t word = x < 0 ? -(int64_t)size : (int64_t)size;
    if (features[feature].clips && word < 0)
        word = 0;
    return features[feature].adds_one ? word + ((int64_t)1 << -low) : word;
}

void exact_ratio(mpq_t out, const mpz_t numerator, long exponent, const mpz_t denominator)
{
    mpq_set_num(out, numerator);
    mpq_set_den(out, denominator);
    mpq_canonicalize(out);
    if (exponent >= 0)
        mpq_mul_2exp(out, out, (mp_bitcnt_t)exponent);
    else
        mpq_div_2exp(out, out, (mp_bitcnt_t)-exponent);
}

void exact_degree_coefficient(mpq_t coefficient, const attest_problem *p, int n)
{
    mpz_t factorial;
    mpq_t scale;
    mpz_init_set_ui(factorial, 1);
    mpq_init(scale);
    mpq_set_d(scale, p->scale); /* exact */
    mpq_set_ui(coefficient, 1, 1);
    for (int k = 0; k < n; k++)
        mpq_mul(coefficient, coefficient, scale);
    if (attest_axis_value_of(p, ATTEST_AXIS_WEIGHT) != ATTEST_WEIGHT_POWER)
        mpz_fac_ui(factorial, (unsigned long)n);
    mpq_set_z(scale, factorial);
    mpq_div(coefficient, coefficient, scale);
    mpq_clear(scale);
    mpz_clear(factorial);
}

long exact_log2_up(int64_t x)
{
    return x <= 1 ? 0 : 64 - __builtin_clzll((unsigned long long)x - 1);
}

mpz_t *exact_integers_new(int64_t count)
{
    mpz_t *a = malloc((size_t)(count > 0 ? count : 1) * sizeof *a);
    for (int64_t k = 0; a && k < count; k++)
        mpz_init(a[k]);
    return a;
}

void exact_integers_free(mpz_t *a, int64_t count)
{
    for (int64_t k = 0; a && k < count; k++)
        mpz_clear(a[k]);
    free(a);
}

mpq_t *exact_rationals_new(int64_t count)
{
    mpq_t *a = malloc((size_t)(count > 0 ? count : 1) * sizeof *a);
    for (int64_t k = 0; a && k < count; k++)
        mpq_init(a[k]);
    return a;
}

void exact_rationals_free(mpq_t *a, int64_t count)
{
    for (int64_t k = 0; a && k < count; k++)
        mpq_clear(a[k]);
    free(a);
}

/* ---- scores ---------------------------------------------------------------------------------------------------- */

/* s -= slope |i+off-j| for every key, then s = min(clamp, s); the grid holds both numbers. */
static void score_steps(exact_scores *s, const exact_keys *r)
{
    const attest_problem *p = r->in->p;
    const attest_tensor *slope = r->in->role[ATTEST_SLOPE];
    const int64_t position = ref_position(r->in, r->b, r->i);
    mpz_t x;
    mpz_init(x);
    if (attest_axis_value_of(p, ATTEST_AXIS_ALIBI) != ATTEST_ALIBI_NONE && s->count > 0) {
        exact_integer(x, attest_load(slope, attest_offset(slope, r->h, 0, 0, 0)), s->exponent);
        for (int64_t j = 0; j < s->count; j++)
            mpz_submul_ui(s->s[j], x, (unsigned long)llabs(position - r->first - j));
    }
    if (attest_axis_value_of(p, ATTEST_AXIS_CLAMP) != ATTEST_CLAMP_NONE) {
        exact_integer(x, p->axis[ATTEST_AXIS_CLAMP].number, s->exponent);
        for (int64_t j = 0; j < s->count; j++)
            if (mpz_cmp(s->s[j], x) > 0)
                mpz_set(s->s[j], x);
    }
    mpz_clear(x);
}

attest_status exact_scores_new(exact_scores *s, const exact_keys *r, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int64_t d = r->in->p->d;
    const int decayed = attest_axis_value_of(r->in->p, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR;
    exact_decays decays = { 0 };
    mpz_t x, factor;
    mpz_init(x);
    mpz_init(factor);
    mpz_t *q = exact_integers_new(d);
    s->count = r->last - r->first;
    s->exponent = r->score.low < 0 ? r->score.low : 0;
    s->s = exact_integers_new(s->count);
    if (!q || !s->s) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for %lld scores", (long long)s->count);
        goto out;
    }
    if (decayed)
        ATTEST_TRY(exact_decays_new(&decays, r, err));
    exact_integer(factor, r->in->p->scale, r->scale.low);
    mpz_mul_2exp(factor, factor, (mp_bitcnt_t)(r->product.low - s->exponent));
    for (int64_t c = 0; c < d; c++) {
        exact_feature_integer(q[c], exact_load_q(r, c), r->feature, r->q.low);
        mpz_mul(q[c], q[c], factor);
    }
    for (int64_t j = 0; j < s->count; j++) {
        for (int64_t c = 0; c < d; c++) {
            exact_feature_integer(x, exact_load_k(r, r->first + j, c), r->feature, r->k.low);
            if (decayed)
                mpz_mul(x, x, decays.d[j * d + c]);
            mpz_addmul(s->s[j], q[c], x);
        }
    }
    score_steps(s, r);
out:
    exact_decays_free(&decays);
    exact_integers_free(q, d);
    mpz_clear(factor);
    mpz_clear(x);
    if (status != ATTEST_OK)
        exact_scores_free(s);
    return status;
}

void exact_scores_free(exact_scores *s)
{
    exact_integers_free(s->s, s->count);
    *s = (exact_scores){ .count = 0, .s = NULL, .exponent = 0 };
}
