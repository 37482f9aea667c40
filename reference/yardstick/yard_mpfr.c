/* yard_mpfr.c - plain MPFR attention as a careful person writes it by hand: every variable initialised once, inputs
 * converted once, exactly one mpfr call per scalar operation.  Row by row, no N x M array; no row maximum is taken off
 * (attest_yard_in_range).  What calls it makes: yardstick.h.
 *
 * What would be faster still, on MPFR 4.2.0: inputs kept at 53 bits with scores by mpfr_fma and values by mpfr_mul and
 * mpfr_add take 5.7 % less; 120 bits instead of 128, MPFR's path for two limbs, take 14 % less. */
#include "reference/yardstick/yardstick.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "reference/axis/axis.h"

#define RND MPFR_RNDN

const char *attest_yard_call_name(int call)
{
    static const char *const names[ATTEST_YARD_CALLS] = { "mpfr_mul", "mpfr_add", "mpfr_fma", "mpfr_exp", "mpfr_div" };
    return call >= 0 && call < ATTEST_YARD_CALLS ? names[call] : NULL;
}

int attest_yard_serves(const attest_problem *p, char *why, size_t len)
{
    uint32_t axis;
    char value[64];
    if (axis_served(p, AXIS_YARD, 0, &axis))
        return 1;
    if (axis >= ATTEST_AXIS_COUNT) {
        snprintf(why, len, "axis number %u: not known to this version", axis);
        return 0;
    }
    attest_axis_print(value, sizeof value, axis, &p->axis[axis]);
    snprintf(why, len, "%s=%s: the yardsticks serve only weight=exp and taylor:P with norm=sum", attest_axes[axis].key,
             value);
    return 0;
}

/* Largest square of the Euclidean norm of a vector whose elements are all finite; INFINITY where doubles end. */
static double largest_square(const attest_tensor *t)
{
    double most = 0;
    const int64_t vectors = t->shape[0] * t->shape[1] * t->shape[2];
    for (int64_t at = 0; at < vectors; at++) {
        const int64_t i = at % t->shape[2], h = at / t->shape[2] % t->shape[1], b = at / t->shape[2] / t->shape[1];
        double sum = 0;
        int finite = 1;
        for (int64_t c = 0; c < t->shape[3]; c++) {
            const double x = attest_load(t, attest_offset(t, b, h, i, c));
            finite &= isfinite(x) != 0;
            sum += x * x;
        }
        most = finite && sum > most ? sum : most;
    }
    return most;
}

int attest_yard_in_range(const attest_problem *p, const attest_bundle *in, char *why, size_t len)
{
    const double square = p->scale * p->scale * largest_square(attest_bundle_role(in, ATTEST_Q)) *
                          largest_square(attest_bundle_role(in, ATTEST_K));
    if (p->axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_EXP || square <= 7e8 * 7e8)
        return 1;
    snprintf(why, len, "scores may pass 7e8, where e^s leaves the exponents of MPFR");
    return 0;
}

typedef struct yard {
    const attest_problem *p;
    ref_inputs in;
    mpfr_prec_t bits;
    attest_yard_product product;
    int order;         /* of taylor:P; -1: exp */
    mpfr_t *q, *k, *v; /* as the tensors, row-major */
    mpfr_t *u;         /* [e] */
    mpfr_t *series;    /* [order+1] 1/n! */
    mpfr_t scale, s, t, w, z;
    int64_t calls[ATTEST_YARD_CALLS];
} yard;

/* An array of variables, their limbs side by side in the same block (MPFR's custom interface); free() takes it back. */
static mpfr_t *numbers_new(int64_t count, mpfr_prec_t bits)
{
    const size_t limbs = mpfr_custom_get_size(bits), number = count > 0 ? (size_t)count : 1;
    mpfr_t *x = malloc(number * (sizeof *x + limbs));
    char *at = (char *)(x + number);
    for (int64_t i = 0; x && i < count; i++, at += limbs) {
        mpfr_custom_init(at, bits);
        mpfr_custom_init_set(x[i], MPFR_ZERO_KIND, 0, bits, at);
    }
    return x;
}

/* Exact: a variable has at least the bits of a double. */
static mpfr_t *numbers_of(const attest_tensor *t, mpfr_prec_t bits)
{
    mpfr_t *x = numbers_new(attest_tensor_count(t), bits), *at = x;
    for (int64_t b = 0; x && b < t->shape[0]; b++)
        for (int64_t h = 0; h < t->shape[1]; h++)
            for (int64_t i = 0; i < t->shape[2]; i++)
                for (int64_t c = 0; c < t->shape[3]; c++)
                    mpfr_set_d(*at++, attest_load(t, attest_offset(t, b, h, i, c)), RND);
    return x;
}

static void yard_free(yard *y)
{
    mpfr_t *all[] = { y->q, y->k, y->v, y->u, y->series };
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        free(all[n]);
    mpfr_clears(y->scale, y->s, y->t, y->w, y->z, (mpfr_ptr)NULL);
}

static attest_status yard_new(yard *y, const attest_problem *p, const attest_bundle *in, long bits,
                              attest_yard_product product, attest_error *err)
{
    char why[256];
    if (!attest_yard_serves(p, why, sizeof why))
        return attest_fail(err, ATTEST_UNSUPPORTED, "%s", why);
    if (bits < 53)
        return attest_fail(err, ATTEST_BAD_INPUT, "a yardstick of %ld bits: at least 53", bits);
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    *y = (yard){ .p = p, .bits = bits, .product = product };
    if (ref_inputs_set(&y->in, p, in, err) != ATTEST_OK) /* owns nothing: no numbers of 8 bits are served */
        return ATTEST_NO_MEMORY;
    y->order = weight->value == ATTEST_WEIGHT_EXP ? -1 : (int)weight->order;
    mpfr_inits2(y->bits, y->scale, y->s, y->t, y->w, y->z, (mpfr_ptr)NULL);
    mpfr_set_d(y->scale, p->scale, RND);
    y->q = numbers_of(y->in.role[ATTEST_Q], y->bits);
    y->k = numbers_of(y->in.role[ATTEST_K], y->bits);
    y->v = numbers_of(y->in.role[ATTEST_V], y->bits);
    y->u = numbers_new(p->e, y->bits);
    y->series = numbers_new(y->order + 1, y->bits);
    if (!y->q || !y->k || !y->v || !y->u || !y->series) {
        yard_free(y);
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the MPFR variables");
    }
    for (int n = 0; n <= y->order; n++) {
        if (n == 0)
            mpfr_set_ui(y->series[0], 1, RND);
        else
            mpfr_div_ui(y->series[n], y->series[n - 1], (unsigned long)n, RND);
    }
    return ATTEST_OK;
}

/* s = <a,b> */
static void dot(yard *y, mpfr_t s, mpfr_t *a, mpfr_t *b, int64_t count)
{
    mpfr_mul(s, a[0], b[0], RND);
    if (y->product == ATTEST_YARD_FUSED)
        for (int64_t c = 1; c < count; c++)
            mpfr_fma(s, a[c], b[c], s, RND);
    else
        for (int64_t c = 1; c < count; c++) {
            mpfr_mul(y->t, a[c], b[c], RND);
            mpfr_add(s, s, y->t, RND);
        }
    y->calls[ATTEST_YARD_MUL] += 1 + (y->product == ATTEST_YARD_FUSED ? 0 : count - 1);
    y->calls[y->product == ATTEST_YARD_FUSED ? ATTEST_YARD_FMA : ATTEST_YARD_ADD] += count - 1;
}

/* u += w v, or u = w v */
static void add_value(yard *y, mpfr_t *v, int first)
{
    const int64_t e = y->p->e;
    if (first)
        for (int64_t c = 0; c < e; c++)
            mpfr_mul(y->u[c], y->w, v[c], RND);
    else if (y->product == ATTEST_YARD_FUSED)
        for (int64_t c = 0; c < e; c++)
            mpfr_fma(y->u[c], y->w, v[c], y->u[c], RND);
    else
        for (int64_t c = 0; c < e; c++) {
            mpfr_mul(y->t, y->w, v[c], RND);
            mpfr_add(y->u[c], y->u[c], y->t, RND);
        }
    y->calls[ATTEST_YARD_MUL] += first || y->product == ATTEST_YARD_MUL_ADD ? e : 0;
    y->calls[y->product == ATTEST_YARD_FUSED ? ATTEST_YARD_FMA : ATTEST_YARD_ADD] += first ? 0 : e;
}

/* w = e^s, or T_P(s) by Horner's rule */
static void weigh(yard *y)
{
    if (y->order < 0) {
        mpfr_exp(y->w, y->s, RND);
        y->calls[ATTEST_YARD_EXP]++;
        return;
    }
    if (y->order == 0)
        mpfr_set(y->w, y->series[0], RND);
    for (int n = y->order - 1; n >= 0; n--) {
        mpfr_ptr above = n + 1 == y->order ? y->series[y->order] : y->w;
        if (y->product == ATTEST_YARD_FUSED) {
            mpfr_fma(y->w, above, y->s, y->series[n], RND);
        } else {
            mpfr_mul(y->w, above, y->s, RND);
            mpfr_add(y->w, y->w, y->series[n], RND);
        }
    }
    y->calls[ATTEST_YARD_MUL] += y->product == ATTEST_YARD_FUSED ? 0 : y->order;
    y->calls[y->product == ATTEST_YARD_FUSED ? ATTEST_YARD_FMA : ATTEST_YARD_ADD] += y->order;
}

static void one_row(yard *y, double *o, attest_row at)
{
    const attest_problem *p = y->p;
    const int64_t g = attest_kv_head(p, at.h);
    mpfr_t *q = y->q + ((at.b * p->hq + at.h) * p->n + at.i) * p->d;
    mpfr_t *k = y->k + (at.b * p->hkv + g) * p->m * p->d, *v = y->v + (at.b * p->hkv + g) * p->m * p->e;
    int64_t first, last;
    ref_visible(&y->in, at.b, at.i, &first, &last);
    for (int64_t j = first; j < last; j++) {
        dot(y, y->s, q, k + j * p->d, p->d);
        mpfr_mul(y->s, y->s, y->scale, RND);
        y->calls[ATTEST_YARD_MUL]++;
        weigh(y);
        if (j == first) {
            mpfr_set(y->z, y->w, RND);
        } else {
            mpfr_add(y->z, y->z, y->w, RND);
            y->calls[ATTEST_YARD_ADD]++;
        }
        add_value(y, v + j * p->e, j == first);
    }
    for (int64_t c = 0; c < p->e; c++) {
        if (first >= last) {
            o[c] = 0;
            continue;
        }
        mpfr_div(y->u[c], y->u[c], y->z, RND);
        o[c] = mpfr_get_d(y->u[c], RND);
    }
    y->calls[ATTEST_YARD_DIV] += first < last ? p->e : 0;
}

attest_status attest_yard_mpfr(double *o, const attest_problem *p, const attest_bundle *in, long bits,
                               attest_yard_product product, int64_t *calls, attest_error *err)
{
    yard y;
    const attest_status status = yard_new(&y, p, in, bits, product, err);
    if (status != ATTEST_OK)
        return status;
    for (int64_t row = 0; row < p->b * p->hq * p->n; row++)
        one_row(&y, o + row * p->e, (attest_row){ row / p->n / p->hq, row / p->n % p->hq, row % p->n });
    for (int c = 0; calls && c < ATTEST_YARD_CALLS; c++)
        calls[c] = y.calls[c];
    yard_free(&y);
    return ATTEST_OK;
}

/* ---- what one call costs ---------------------------------------------------------------------------------------- */
enum { CALLS = 1 << 16, MOST = 4096, FEW = 512, ROUNDS = 16, SUM = 64 }; /* SUM: keys of a sum of values */

/* Pairs of the first head, spread over its rows: the operands that a run meets, in its order. */
typedef struct operands {
    int64_t count; /* of pairs */
    int64_t i[MOST], j[MOST];
    mpfr_t *x, *w, *z; /* [MOST] scores, weights, sums of weights */
} operands;

static void operands_free(operands *l)
{
    free(l->x);
    free(l->w);
    free(l->z);
}

/* j below the row's last visible key (any j of a row without one). */
static attest_status operands_new(operands *l, yard *y, attest_error *err)
{
    const attest_problem *p = y->p;
    l->x = numbers_new(MOST, y->bits);
    l->w = numbers_new(MOST, y->bits);
    l->z = numbers_new(MOST, y->bits);
    if (!l->x || !l->w || !l->z) {
        operands_free(l);
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the MPFR operands");
    }
    l->count = CALLS / (p->d + p->e) < FEW ? FEW : CALLS / (p->d + p->e);
    l->count = l->count > MOST ? MOST : l->count;
    for (int64_t n = 0; n < l->count; n++) {
        int64_t first, last;
        l->i[n] = n * 37 % p->n;
        ref_visible(&y->in, 0, l->i[n], &first, &last);
        l->j[n] = last > first ? first + n * 101 % (last - first) : n % p->m;
        dot(y, y->s, y->q + l->i[n] * p->d, y->k + l->j[n] * p->d, p->d);
        mpfr_mul(y->s, y->s, y->scale, RND);
        mpfr_set(l->x[n], y->s, RND);
        weigh(y);
        mpfr_set(l->w[n], y->w, RND);
        mpfr_add(l->z[n], l->w[n], n % SUM ? l->z[n - 1] : l->w[n], RND);
    }
    return ATTEST_OK;
}

/* Of this thread: what other processes take is no cost of a call. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The products of all pairs alone. */
static double time_mul(const operands *l, yard *y)
{
    const int64_t d = y->p->d, e = y->p->e;
    const double start = now();
    for (int64_t n = 0; n < l->count; n++) {
        mpfr_t *q = y->q + l->i[n] * d, *k = y->k + l->j[n] * d, *v = y->v + l->j[n] * e;
        for (int64_t c = 0; c < d; c++)
            mpfr_mul(y->t, q[c], k[c], RND);
        for (int64_t c = 0; c < e; c++)
            mpfr_mul(y->t, l->w[n], v[c], RND);
    }
    return now() - start;
}

/* The same products, added up: bare calls, so that a yardstick that does more than these is found out. */
static double time_mul_add(const operands *l, yard *y)
{
    const int64_t d = y->p->d, e = y->p->e;
    const double start = now();
    for (int64_t n = 0; n < l->count; n++) {
        mpfr_t *q = y->q + l->i[n] * d, *k = y->k + l->j[n] * d, *v = y->v + l->j[n] * e;
        mpfr_mul(y->s, q[0], k[0], RND);
        for (int64_t c = 1; c < d; c++) {
            mpfr_mul(y->t, q[c], k[c], RND);
            mpfr_add(y->s, y->s, y->t, RND);
        }
        for (int64_t c = 0; c < e && n % SUM == 0; c++)
            mpfr_mul(y->u[c], l->w[n], v[c], RND);
        for (int64_t c = 0; c < e && n % SUM != 0; c++) {
            mpfr_mul(y->t, l->w[n], v[c], RND);
            mpfr_add(y->u[c], y->u[c], y->t, RND);
        }
    }
    return now() - start;
}

static double time_fma(const operands *l, yard *y)
{
    const int64_t d = y->p->d, e = y->p->e;
    const double start = now();
    for (int64_t n = 0; n < l->count; n++) {
        mpfr_t *q = y->q + l->i[n] * d, *k = y->k + l->j[n] * d, *v = y->v + l->j[n] * e;
        mpfr_mul(y->s, q[0], k[0], RND);
        for (int64_t c = 1; c < d; c++)
            mpfr_fma(y->s, q[c], k[c], y->s, RND);
        for (int64_t c = 0; c < e && n % SUM == 0; c++)
            mpfr_mul(y->u[c], l->w[n], v[c], RND);
        for (int64_t c = 0; c < e && n % SUM != 0; c++)
            mpfr_fma(y->u[c], l->w[n], v[c], y->u[c], RND);
    }
    return now() - start;
}

static double time_exp(const operands *l, yard *y)
{
    const double start = now();
    for (int64_t n = 0; n < FEW; n++)
        mpfr_exp(y->t, l->x[n], RND);
    return now() - start;
}

static double time_div(const operands *l, yard *y)
{
    const double start = now();
    for (int64_t n = 0; n < FEW; n++)
        mpfr_div(y->t, l->w[n], l->z[n], RND);
    return now() - start;
}

enum { MUL, MUL_ADD, FMA, EXP, DIV, LOOPS };

/* What disturbs a loop only adds to its time; every round runs every loop, so that a disturbance longer than a round
 * does not fall on one loop alone: costs are differences of loops. */
static void least(double seconds[LOOPS], const operands *l, yard *y)
{
    static double (*const loop[LOOPS])(const operands *, yard *) = {
        [MUL] = time_mul, [MUL_ADD] = time_mul_add, [FMA] = time_fma, [EXP] = time_exp, [DIV] = time_div,
    };
    for (int n = 0; n < LOOPS; n++)
        seconds[n] = INFINITY;
    for (int round = 0; round < ROUNDS; round++)
        for (int n = 0; n < LOOPS; n++)
            seconds[n] = fmin(seconds[n], loop[n](l, y));
}

attest_status attest_yard_mpfr_costs(double seconds[ATTEST_YARD_CALLS], const attest_problem *p,
                                     const attest_bundle *in, long bits, attest_error *err)
{
    yard y;
    operands l;
    l.count = 0;
    for (int c = 0; c < ATTEST_YARD_CALLS; c++)
        seconds[c] = 0;
    attest_status status = yard_new(&y, p, in, bits, ATTEST_YARD_MUL_ADD, err);
    if (status != ATTEST_OK)
        return status;
    status = operands_new(&l, &y, err);
    if (status == ATTEST_OK) {
        const double products = (double)(l.count * (p->d + p->e));
        const double starts = (double)(l.count + (l.count + SUM - 1) / SUM * p->e); /* products that start a sum */
        double took[LOOPS];
        least(took, &l, &y);
        seconds[ATTEST_YARD_MUL] = took[MUL] / products;
        seconds[ATTEST_YARD_ADD] = (took[MUL_ADD] - took[MUL]) / (products - starts);
        seconds[ATTEST_YARD_FMA] = (took[FMA] - starts * took[MUL] / products) / (products - starts);
        seconds[ATTEST_YARD_EXP] = took[EXP] / FEW;
        seconds[ATTEST_YARD_DIV] = took[DIV] / FEW;
        operands_free(&l);
    }
    yard_free(&y);
    return status;
}
