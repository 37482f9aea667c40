/* exact_integer.c - see exact_integer.h.  With S = <phi(q), phi(k)> - c an integer of two words, X = factor S is the
 * score on the grid 2^-G, and P! 2^(GP) T_P = sum_n (P!/n!) 2^(G(P-n)) X^n by Horner's rule on sign and size, in limbs
 * counted in advance (R-EXACT-WORDS); sums are two's complement. */
#include "reference/exact/exact_integer.h"

#include <stdlib.h>
#include <string.h>

enum { INPUT_BITS = 62, SCORE_BITS = 126, SCORE_LIMBS = 3, SUM_LIMBS = EXACT_WORDS + 3 };

typedef char limb_has_64_bits[GMP_NUMB_BITS == 64 ? 1 : -1];

__extension__ typedef unsigned __int128 size_pair;

/* ---- the head ---------------------------------------------------------------------------------------------------- */

void ref_exact_cache_init(ref_exact_cache *cache)
{
    memset(cache, 0, sizeof *cache);
    cache->b = cache->g = -1;
}

void ref_exact_cache_clear(ref_exact_cache *cache)
{
    free(cache->k_word);
    free(cache->v_word);
    free(cache->q_word);
    free(cache->score);
    free(cache->sum);
    free(cache->sign);
    ref_exact_cache_init(cache);
}

static int make_room(ref_exact_cache *a, const attest_problem *p)
{
    if (a->k_word)
        return 1;
    const size_t m = (size_t)p->m, d = (size_t)p->d, e = (size_t)p->e;
    a->k_word = malloc(m * d * sizeof *a->k_word);
    a->v_word = malloc(m * e * sizeof *a->v_word);
    a->q_word = malloc(d * sizeof *a->q_word);
    a->score = malloc(m * sizeof *a->score);
    a->sum = malloc((e + 1) * SUM_LIMBS * sizeof *a->sum);
    a->sign = malloc(e + 1);
    if (a->k_word && a->v_word && a->q_word && a->score && a->sum && a->sign)
        return 1;
    ref_exact_cache_clear(a);
    return 0;
}

static double load(const ref_inputs *in, attest_role role, int64_t b, int64_t g, int64_t j, int64_t c)
{
    const attest_tensor *t = in->role[role];
    return attest_load(t, attest_offset(t, b, g, j, c));
}

/* Spans of all keys and values, then their integers. */
static int head_fill(ref_exact_cache *a, const ref_inputs *in, int64_t b, int64_t g)
{
    const attest_problem *p = in->p;
    const axis_feature *feature = axis_feature_of(p);
    exact_span_start(&a->k);
    exact_span_start(&a->v);
    exact_span_see(&a->v, 1.0);
    for (int64_t j = 0; j < p->m; j++) {
        for (int64_t c = 0; c < p->d; c++)
            exact_span_see(&a->k, load(in, ATTEST_K, b, g, j, c));
        for (int64_t c = 0; c < p->e; c++)
            exact_span_see(&a->v, load(in, ATTEST_V, b, g, j, c));
    }
    exact_span k = a->k;
    if (!axis_feature_span(&k, feature) || !a->v.finite || k.top - k.low > INPUT_BITS ||
        a->v.top - a->v.low > INPUT_BITS || !make_room(a, p))
        return 0;
    a->k_low = k.low;
    a->v_bits = (int)(a->v.top - a->v.low);
    for (int64_t j = 0; j < p->m; j++) {
        for (int64_t c = 0; c < p->d; c++)
            a->k_word[j * p->d + c] = feature->exact->word(exact_word(load(in, ATTEST_K, b, g, j, c), k.low), k.low);
        for (int64_t c = 0; c < p->e; c++)
            a->v_word[j * p->e + c] = (uint64_t)(exact_word(load(in, ATTEST_V, b, g, j, c), a->v.low) +
                                                 ((int64_t)1 << a->v_bits));
    }
    return 1;
}

/* ---- the size of a row ------------------------------------------------------------------------------------------- */
typedef struct plan {
    int order, taylor;
    long grid;                              /* X = score 2^grid */
    mp_limb_t factor;                       /* X = +-factor S */
    int negative;                           /* the scale is */
    int score_limbs;                        /* of |X| */
    int limbs[EXACT_ORDER + 1];             /* after k products; order: of the weight */
    int sum_limbs;                          /* two's complement */
    mp_limb_t coefficient[EXACT_ORDER + 1]; /* P!/n! */
} plan;

static int limbs_of(long bits) { return (int)((bits + 63) / 64); }

static int bits_of(uint64_t x) { return x ? 64 - __builtin_clzll(x) : 0; }

/* The sizes of every integer of row r (R-EXACT-WORDS); 0 if one does not fit. */
static int plan_row(plan *y, const exact_keys *r)
{
    const attest_problem *p = r->in->p;
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    const axis_center *center = axis_center_of(p);
    const int half = center->least && center->greatest;
    const long shift = r->product.low > 0 ? r->product.low : 0;
    const long factor_bits = r->scale.top - r->scale.low + shift;
    const long q_bits = r->q.top - r->q.low, k_bits = r->k.top - r->k.low;
    const long s_bits = q_bits + k_bits + exact_log2_up(p->d) + (center->least || center->greatest) + half;
    if (weight->order > EXACT_ORDER || q_bits > INPUT_BITS || s_bits > SCORE_BITS || factor_bits > 63)
        return 0;
    const int64_t scale = exact_word(p->scale, r->scale.low);
    y->order = (int)weight->order;
    y->taylor = axis_weight_of(p)->series;
    y->grid = shift - r->product.low + half;
    y->negative = scale < 0;
    y->factor = (mp_limb_t)(scale < 0 ? -scale : scale) << shift;
    y->score_limbs = limbs_of(s_bits + factor_bits > 0 ? s_bits + factor_bits : 1);
    y->coefficient[y->order] = 1;
    for (int n = y->order; n > 0; n--)
        y->coefficient[n - 1] = y->coefficient[n] * (mp_limb_t)n;
    /* |X| and 2^grid are at most 2^step: after k products the size is at most 2^(k step) sum_(i<=k) P!/(P-i)! */
    const long step = y->taylor && y->grid > s_bits + factor_bits ? y->grid : s_bits + factor_bits;
    long bits = 1;
    mp_limb_t terms = 0;
    for (int k = 0; k <= y->order; k++) {
        terms += y->taylor || k == 0 ? y->coefficient[y->order - k] : 0;
        bits = k * step + bits_of(terms);
        if (bits > 64 * EXACT_WORDS)
            return 0;
        y->limbs[k] = limbs_of(bits);
    }
    y->sum_limbs = limbs_of(bits + r->head->v_bits + 1 + exact_log2_up(r->last - r->first) + 1);
    return 1;
}

int exact_integer_keys(exact_keys *r, const ref_inputs *in, attest_row at)
{
    ref_exact_cache *a = in->exact;
    const attest_problem *p = in->p;
    plan y;
    if (!a || !axis_served(p, AXIS_WORDS, EXACT_NO_NORM, NULL))
        return 0;
    const int64_t g = attest_kv_head(p, at.h);
    if (a->b != at.b || a->g != g) {
        a->served = head_fill(a, in, at.b, g);
        a->b = at.b;
        a->g = g;
    }
    if (!a->served || !exact_keys_of_head(r, in, at, &a->k, &a->v))
        return 0;
    r->head = a;
    return plan_row(&y, r);
}

/* ---- the sums ---------------------------------------------------------------------------------------------------- */

/* a->score[j] = S of key first+j, the center taken off; with center=mid doubled. */
static void find_scores(const exact_keys *r)
{
    ref_exact_cache *a = r->head;
    const int64_t d = r->in->p->d, count = r->last - r->first;
    const axis_center *center = axis_center_of(r->in->p);
    if (count == 0) /* then the query is not read */
        return;
    for (int64_t c = 0; c < d; c++)
        a->q_word[c] = r->feature->exact->word(exact_word(exact_load_q(r, c), r->q.low), r->q.low);
    for (int64_t j = 0; j < count; j++) {
        const int64_t *k = a->k_word + (r->first + j) * d;
        exact_wide s = 0;
        for (int64_t c = 0; c < d; c++)
            s += (exact_wide)a->q_word[c] * k[c];
        a->score[j] = s;
    }
    if (!center->least && !center->greatest)
        return;
    exact_wide least = a->score[0], greatest = a->score[0];
    for (int64_t j = 1; j < count; j++) {
        least = a->score[j] < least ? a->score[j] : least;
        greatest = a->score[j] > greatest ? a->score[j] : greatest;
    }
    const int half = center->least && center->greatest, max = center->greatest != (r->in->p->scale < 0);
    const exact_wide off = half ? least + greatest : max ? greatest : least;
    for (int64_t j = 0; j < count; j++)
        a->score[j] = (half ? 2 * a->score[j] : a->score[j]) - off;
}

/* x = |factor S|; whether factor S < 0. */
static int score_limbs(mp_limb_t x[SCORE_LIMBS], const plan *y, exact_wide s)
{
    const size_pair size = s < 0 ? -(size_pair)s : (size_pair)s;
    const size_pair low = (size_pair)(uint64_t)size * y->factor;
    const size_pair high = (size_pair)(uint64_t)(size >> 64) * y->factor + (uint64_t)(low >> 64);
    x[0] = (mp_limb_t)low;
    x[1] = (mp_limb_t)high;
    x[2] = (mp_limb_t)(high >> 64);
    return (s < 0) != y->negative;
}

/* w += or -= c 2^shift by its sign: w is sign and size, and may change the sign.  Nothing leaves the n limbs. */
static int add_constant(mp_limb_t *w, int n, int negative, mp_limb_t c, long shift)
{
    const long at = shift / 64, bit = shift % 64;
    const mp_limb_t part[2] = { c << bit, bit ? c >> (64 - bit) : 0 };
    for (int k = 0; k < 2; k++) {
        if (part[k] == 0) /* limb at+k need not exist then */
            continue;
        if (!negative)
            mpn_add_1(w + at + k, w + at + k, n - at - k, part[k]);
        else if (mpn_sub_1(w + at + k, w + at + k, n - at - k, part[k])) {
            mpn_neg(w, w, n); /* 2^(64n) - |w| + c 2^shift, mod 2^(64n): the size of the difference */
            negative = 0;
        }
    }
    return negative;
}

/* *w = |P! 2^(GP) W(x)| in limbs[order] limbs, one of the two buffers; whether it is below 0. */
static int weight_limbs(mp_limb_t **w, mp_limb_t *spare, const plan *y, const mp_limb_t *x, int x_negative)
{
    const int n = y->score_limbs;
    mp_limb_t *now = *w, *next = spare;
    int negative = x_negative;
    if (y->order == 0) {
        now[0] = 1;
        return 0;
    }
    memset(now, 0, (size_t)y->limbs[1] * sizeof *now);
    memcpy(now, x, (size_t)n * sizeof *now); /* n <= limbs[1] <= limbs[2] ... */
    if (y->taylor)
        negative = add_constant(now, y->limbs[1], negative, y->coefficient[y->order - 1], y->grid);
    for (int k = 2; k <= y->order; k++) {
        const int made = y->limbs[k - 1] + n;
        mpn_mul(next, now, y->limbs[k - 1], x, n);
        for (int at = made; at < y->limbs[k]; at++)
            next[at] = 0;
        negative ^= x_negative;
        if (y->taylor)
            negative = add_constant(next, y->limbs[k], negative, y->coefficient[y->order - k], y->grid * k);
        mp_limb_t *swap = now;
        now = next;
        next = swap;
    }
    *w = now;
    return negative;
}

/* sum[e+1] += (v, 1) w, mod 2^(64 limbs). */
static void add_weight(mp_limb_t *sum, const plan *y, const mp_limb_t *w, int negative, const uint64_t *v, int64_t e)
{
    const int n = y->limbs[y->order], all = y->sum_limbs;
    mp_limb_t *z = sum + e * all;
    for (int64_t c = 0; c < e; c++) {
        mp_limb_t *at = sum + c * all;
        mp_limb_t carry = negative ? mpn_submul_1(at, w, n, v[c]) : mpn_addmul_1(at, w, n, v[c]);
        for (int k = n; k < all; k++) {
            const mp_limb_t was = at[k];
            at[k] = negative ? was - carry : was + carry;
            carry = negative ? was < carry : at[k] < carry;
        }
    }
    if (negative)
        mpn_sub(z, z, all, w, n);
    else
        mpn_add(z, z, all, w, n);
}

void exact_integer_sums(exact_integer_scale *scale, const exact_keys *r)
{
    ref_exact_cache *a = r->head;
    const int64_t e = r->in->p->e;
    mp_limb_t x[SCORE_LIMBS], one[EXACT_WORDS + SCORE_LIMBS], two[EXACT_WORDS + SCORE_LIMBS];
    plan y;
    plan_row(&y, r);
    memset(a->sum, 0, (size_t)((e + 1) * y.sum_limbs) * sizeof *a->sum);
    find_scores(r);
    for (int64_t j = r->first; j < r->last; j++) {
        mp_limb_t *w = one;
        const int x_negative = score_limbs(x, &y, a->score[j - r->first]);
        const int negative = weight_limbs(&w, two, &y, x, x_negative);
        add_weight(a->sum, &y, w, negative, a->v_word + j * e, e);
    }
    const mp_limb_t *z = a->sum + e * y.sum_limbs;
    for (int64_t c = 0; c <= e; c++) {
        mp_limb_t *at = a->sum + c * y.sum_limbs;
        if (c < e) /* sum w (v + 2^bits) - 2^bits z; the sign of z is not settled before its turn */
            mpn_submul_1(at, z, y.sum_limbs, (mp_limb_t)1 << a->v_bits);
        a->sign[c] = at[y.sum_limbs - 1] >> 63 ? -1 : 1;
        if (a->sign[c] < 0)
            mpn_neg(at, at, y.sum_limbs);
    }
    a->limbs = y.sum_limbs;
    scale->exponent = -y.grid * y.order;
    scale->denominator = axis_weight_of(r->in->p)->factorial ? y.coefficient[0] : 1;
}

mpz_srcptr exact_integer_sum(mpz_t view, const exact_keys *r, int64_t c, int negate)
{
    const ref_exact_cache *a = r->head;
    return mpz_roinit_n(view, a->sum + c * a->limbs, (negate ? -a->sign[c] : a->sign[c]) * a->limbs);
}
