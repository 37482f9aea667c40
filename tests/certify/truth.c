/* truth.c - the harness's own truth: the formula, in Arb, and nothing else (certify.h).
 *
 * Rows of one query head at a time: S = Q K^T, weights of visible keys, U = W V by arb_mat_mul.  The witness is not
 * asked instead: it goes key by key and is 23 times slower on 64 rows of 2048 keys with d = e = 64.
 */
#include "tests/certify/certify.h"

#include "kernels/attest_float.h"
#include "reference/engine/flint_headers.h"

#include <math.h>
#include <stdlib.h>

enum { FIRST_PRECISION = 192, LAST_PRECISION = 6144 };
const uint32_t certify_formats[CERTIFY_FORMATS] = { ATTEST_F32, ATTEST_F16, ATTEST_BF16 };

int64_t certify_length(const certify_case *c, int64_t b)
{
    const attest_tensor *len = attest_bundle_role(c->in, ATTEST_KV_LENS);
    if (!c->about.problem.axis[ATTEST_AXIS_LENS].value)
        return c->about.problem.m;
    return attest_load_int(len, attest_offset(len, b, 0, 0, 0));
}

int certify_sees(const attest_problem *p, int64_t len, int64_t i, int64_t j)
{
    const uint32_t mask = p->axis[ATTEST_AXIS_MASK].value;
    const int64_t at = mask == ATTEST_MASK_CAUSAL_BR ? i + len - p->n : i, apart = at - j;
    if (j >= len || (mask != ATTEST_MASK_FULL && apart < 0))
        return 0;
    return !p->axis[ATTEST_AXIS_WINDOW].value || llabs((long long)apart) < (long long)p->axis[ATTEST_AXIS_WINDOW].order;
}

/* ---- reals ------------------------------------------------------------------------------------------------------- */

/* x rounded once to a format; x is finite */
static uint64_t round_to(uint32_t dtype, const arf_t x)
{
    fmpz_t m, e;
    fmpz_init(m);
    fmpz_init(e);
    arf_get_fmpz_2exp(m, e, x); /* m odd or 0 */
    const int negative = fmpz_sgn(m) < 0;
    const slong bits = (slong)fmpz_bits(m), drop = bits > 64 ? bits - 64 : 0;
    fmpz_abs(m, m);
    fmpz_tdiv_q_2exp(m, m, (ulong)drop);
    fmpz_add_si(e, e, drop);
    const slong exponent = fmpz_cmp_si(e, 100000) > 0 ? 100000 : fmpz_cmp_si(e, -100000) < 0 ? -100000 : fmpz_get_si(e);
    const uint64_t result = attest_round_scaled(dtype, negative, fmpz_get_ui(m), (int)exponent, drop > 0);
    fmpz_clear(m);
    fmpz_clear(e);
    return result;
}

/* bits = the rounding of every point of x, or ~0 */
static void round_ball(certify_real *r, const arb_t x)
{
    arf_t low, high;
    arf_init(low);
    arf_init(high);
    arb_get_lbound_arf(low, x, 512);
    arb_get_ubound_arf(high, x, 512);
    for (int n = 0; n < CERTIFY_FORMATS; n++) {
        const uint64_t one = round_to(certify_formats[n], low), other = round_to(certify_formats[n], high);
        r->bits[n] = one == other ? one : ~(uint64_t)0;
    }
    arf_clear(low);
    arf_clear(high);
}

static void set_nothing(certify_real *r, int kind)
{
    *r = (certify_real){ .kind = kind };
    for (int n = 0; n < CERTIFY_FORMATS; n++)
        r->bits[n] = ~(uint64_t)0;
}

/* 1 if x is known well enough: radius <= need or <= 2^-120 |x| */
static int set_real(certify_real *r, const arb_t x, double need)
{
    arf_t rest, part, radius;
    if (!arb_is_finite(x) || arf_cmpabs_2exp_si(arb_midref(x), 1000) > 0) {
        set_nothing(r, CERTIFY_WIDE);
        return isinf(need);
    }
    arf_init(rest);
    arf_init(part);
    arf_init(radius);
    arf_set(rest, arb_midref(x));
    for (int n = 0; n < 3; n++) {
        r->a[n] = arf_get_d(rest, ARF_RND_NEAR);
        arf_set_d(part, r->a[n]);
        arf_sub(rest, rest, part, ARF_PREC_EXACT, ARF_RND_DOWN);
    }
    arf_set_mag(radius, arb_radref(x));
    arf_abs(rest, rest);
    arf_add(radius, radius, rest, 60, ARF_RND_UP);
    r->error = arf_get_d(radius, ARF_RND_UP);
    r->kind = CERTIFY_NUMBER;
    arf_clear(rest);
    arf_clear(part);
    arf_clear(radius);
    if (!(r->error <= need || r->error <= 0x1p-120 * fabs(r->a[0])))
        return 0;
    round_ball(r, x);
    return 1;
}

/* ---- the formula ------------------------------------------------------------------------------------------------- */
typedef struct scene {
    const certify_rows *rows;
    const certify_case *c;
    const attest_problem *p;
    int64_t len, keys;      /* keys below which some row sees */
    int *bad_key, *bad_row; /* not finite */
    slong prec;
} scene;

/* Element of q, k or v as the formula reads it; *bad if it is not finite. */
static double read_number(const scene *s, attest_role role, int64_t h, int64_t row, int64_t c, int *bad)
{
    const attest_tensor *t = attest_bundle_role(s->c->in, role);
    const double x = attest_load(t, attest_offset(t, s->rows->b, h, row, c));
    if (!isfinite(x))
        *bad = 1;
    if (!isfinite(x) || (role != ATTEST_V && s->p->axis[ATTEST_AXIS_FEATURE].value == ATTEST_FEATURE_RELU && x < 0))
        return 0;
    return x;
}

/* S, scaled and clamped: rows x keys */
static void make_scores(arb_mat_t scores, const scene *s)
{
    const attest_problem *p = s->p;
    const int64_t h = s->rows->h, g = h * p->hkv / p->hq;
    arb_mat_t q, k;
    arb_t scale, most;
    arb_init(scale);
    arb_init(most);
    arb_mat_init(q, s->rows->to - s->rows->from, p->d);
    arb_mat_init(k, p->d, s->keys);
    for (int64_t i = 0; i < s->rows->to - s->rows->from; i++)
        for (int64_t c = 0; c < p->d; c++)
            arb_set_d(arb_mat_entry(q, i, c), read_number(s, ATTEST_Q, h, s->rows->from + i, c, &s->bad_row[i]));
    for (int64_t j = 0; j < s->keys; j++)
        for (int64_t c = 0; c < p->d; c++)
            arb_set_d(arb_mat_entry(k, c, j), read_number(s, ATTEST_K, g, j, c, &s->bad_key[j]));
    arb_mat_mul(scores, q, k, s->prec);
    arb_set_d(scale, p->scale);
    arb_mat_scalar_mul_arb(scores, scores, scale, s->prec);
    arb_set_d(most, p->axis[ATTEST_AXIS_CLAMP].number);
    for (int64_t i = 0; p->axis[ATTEST_AXIS_CLAMP].value && i < s->rows->to - s->rows->from; i++)
        for (int64_t j = 0; j < s->keys; j++)
            arb_min(arb_mat_entry(scores, i, j), arb_mat_entry(scores, i, j), most, s->prec);
    arb_mat_clear(q);
    arb_mat_clear(k);
    arb_clear(scale);
    arb_clear(most);
}

static void find_center(arb_t center, const scene *s, const arb_mat_t scores, int64_t row)
{
    const uint32_t kind = s->p->axis[ATTEST_AXIS_CENTER].value;
    arb_t low, high;
    int any = 0;
    arb_zero(center);
    if (kind == ATTEST_CENTER_ZERO)
        return;
    arb_init(low);
    arb_init(high);
    for (int64_t j = 0; j < s->keys; j++)
        if (certify_sees(s->p, s->len, s->rows->from + row, j)) {
            arb_srcptr x = arb_mat_entry(scores, row, j);
            any ? arb_min(low, low, x, s->prec) : arb_set(low, x);
            any ? arb_max(high, high, x, s->prec) : arb_set(high, x);
            any = 1;
        }
    if (kind == ATTEST_CENTER_MID) {
        arb_add(center, low, high, s->prec);
        arb_mul_2exp_si(center, center, -1);
    } else {
        arb_set(center, kind == ATTEST_CENTER_MAX ? high : low);
    }
    arb_clear(low);
    arb_clear(high);
}

static void weigh(arb_t w, const arb_t x, const attest_setting *weight, slong prec)
{
    const slong order = (slong)weight->order;
    if (weight->value == ATTEST_WEIGHT_EXP) {
        arb_exp(w, x, prec);
    } else if (weight->value == ATTEST_WEIGHT_TAYLOR) {
        arb_t term;
        arb_init(term);
        arb_one(term);
        arb_one(w);
        for (slong n = 1; n <= order; n++) {
            arb_mul(term, term, x, prec);
            arb_div_si(term, term, n, prec);
            arb_add(w, w, term, prec);
        }
        arb_clear(term);
    } else {
        arb_pow_ui(w, x, (ulong)order, prec);
        for (slong n = 2; weight->value == ATTEST_WEIGHT_TERM && n <= order; n++)
            arb_div_si(w, w, n, prec);
    }
}

/* What one row came to: keys it sees (-1: it reads what is not finite), sum of weights, center */
typedef struct row_sum {
    int64_t keys;
    arb_t z, center;
} row_sum;

static void make_weights(arb_mat_t weights, row_sum *sums, const scene *s, const arb_mat_t scores)
{
    const attest_problem *p = s->p;
    arb_t x;
    arb_init(x);
    for (int64_t i = 0; i < s->rows->to - s->rows->from; i++) {
        row_sum *sum = &sums[i];
        int bad = s->bad_row[i];
        sum->keys = 0;
        find_center(sum->center, s, scores, i);
        for (int64_t j = 0; j < s->keys; j++) {
            if (!certify_sees(p, s->len, s->rows->from + i, j))
                continue;
            sum->keys++;
            bad |= s->bad_key[j];
            arb_sub(x, arb_mat_entry(scores, i, j), sum->center, s->prec);
            weigh(arb_mat_entry(weights, i, j), x, &p->axis[ATTEST_AXIS_WEIGHT], s->prec);
            arb_add(sum->z, sum->z, arb_mat_entry(weights, i, j), s->prec);
        }
        if (sum->keys > 0 && bad)
            sum->keys = -1;
    }
    arb_clear(x);
}

static void read_values(arb_mat_t v, const scene *s)
{
    const int64_t g = s->rows->h * s->p->hkv / s->p->hq;
    for (int64_t j = 0; j < s->keys; j++)
        for (int64_t c = 0; c < s->p->e; c++)
            arb_set_d(arb_mat_entry(v, j, c), read_number(s, ATTEST_V, g, j, c, &s->bad_key[j]));
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* lse = center + ln z; 1 if known well enough */
static int finish_lse(certify_real *r, row_sum *sum, const scene *s, double need)
{
    arb_t x;
    set_nothing(r, CERTIFY_NONE);
    if (arb_is_nonpositive(sum->z))
        return 1;
    if (!arb_is_positive(sum->z)) {
        r->kind = CERTIFY_WIDE;
        return isinf(need);
    }
    arb_init(x);
    arb_log(x, sum->z, s->prec);
    arb_add(x, x, sum->center, s->prec);
    const int good = set_real(r, x, need);
    arb_clear(x);
    return good;
}

static int finish_row(const scene *s, int64_t i, row_sum *sum, const arb_mat_t u)
{
    const attest_problem *p = s->p;
    const uint32_t norm = p->axis[ATTEST_AXIS_NORM].value;
    certify_real *o = s->rows->o + i * p->e;
    int good = 1;
    arb_t divisor, x;
    set_nothing(&s->rows->lse[i], sum->keys == 0 ? CERTIFY_MINUS_INFINITY : CERTIFY_NONE);
    for (int64_t c = 0; c < p->e; c++)
        set_nothing(&o[c], sum->keys < 0 ? CERTIFY_NONE : CERTIFY_NUMBER);
    if (sum->keys <= 0) {
        for (int64_t c = 0; sum->keys == 0 && c < p->e; c++)
            o[c].bits[0] = o[c].bits[1] = o[c].bits[2] = 0;
        return 1;
    }
    arb_init(divisor);
    arb_init(x);
    arb_set_si(divisor, norm == ATTEST_NORM_LENGTH ? (slong)sum->keys : 1);
    if (norm == ATTEST_NORM_SUM) {
        arb_set_d(divisor, p->axis[ATTEST_AXIS_EPS].number);
        arb_add(divisor, divisor, sum->z, s->prec);
    }
    for (int64_t c = 0; c < p->e; c++) {
        arb_div(x, arb_mat_entry(u, i, c), divisor, s->prec);
        good &= set_real(&o[c], x, s->rows->need_o[i * p->e + c]);
    }
    good &= finish_lse(&s->rows->lse[i], sum, s, s->rows->need_lse[i]);
    arb_clear(divisor);
    arb_clear(x);
    return good;
}

/* All rows at one precision; 1 if all are known well enough. */
static int at_precision(scene *s)
{
    const int64_t count = s->rows->to - s->rows->from;
    arb_mat_t scores, weights, v, u;
    row_sum *sums = malloc((size_t)count * sizeof *sums);
    int good = 1;
    if (!sums)
        abort();
    arb_mat_init(scores, count, s->keys);
    arb_mat_init(weights, count, s->keys);
    arb_mat_init(v, s->keys, s->p->e);
    arb_mat_init(u, count, s->p->e);
    for (int64_t i = 0; i < count; i++) {
        arb_init(sums[i].z);
        arb_init(sums[i].center);
    }
    make_scores(scores, s);
    read_values(v, s);
    make_weights(weights, sums, s, scores);
    arb_mat_mul(u, weights, v, s->prec);
    for (int64_t i = 0; i < count; i++) {
        good &= finish_row(s, i, &sums[i], u);
        arb_clear(sums[i].z);
        arb_clear(sums[i].center);
    }
    arb_mat_clear(scores);
    arb_mat_clear(weights);
    arb_mat_clear(v);
    arb_mat_clear(u);
    free(sums);
    return good;
}

void certify_truth(const certify_rows *rows, const certify_case *c)
{
    scene s = { .rows = rows, .c = c, .p = &c->about.problem, .len = certify_length(c, rows->b) };
    for (int64_t j = 0; j < s.p->m; j++)
        for (int64_t i = rows->from; i < rows->to && s.keys <= j; i++)
            if (certify_sees(s.p, s.len, i, j))
                s.keys = j + 1;
    s.bad_key = calloc((size_t)s.keys + 1, sizeof *s.bad_key);
    s.bad_row = calloc((size_t)(rows->to - rows->from) + 1, sizeof *s.bad_row);
    if (!s.bad_key || !s.bad_row)
        abort();
    for (s.prec = FIRST_PRECISION; s.prec <= LAST_PRECISION; s.prec *= 2)
        if (at_precision(&s))
            break;
    free(s.bad_key);
    free(s.bad_row);
}
