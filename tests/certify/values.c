/* values.c - the harness's laws of values: what props' families do not reach (certify.h). */
#include "tests/certify/certify.h"

#include "kernels/attest_float.h"
#include "kernels/hash.h"

#include <math.h>

/* ---- random numbers ---------------------------------------------------------------------------------------------- */
uint64_t certify_word(certify_random *r) { return attest_next64(&r->state); }

int certify_below(certify_random *r, int n) { return (int)((certify_word(r) >> 32) * (uint64_t)n >> 32); }
int certify_between(certify_random *r, int a, int b) { return a + certify_below(r, b - a + 1); }
double certify_unit(certify_random *r) { return (double)(certify_word(r) >> 11) * 0x1p-53; }

double certify_normal(certify_random *r)
{
    double sum = -6;
    for (int n = 0; n < 6; n++) {
        const uint64_t w = certify_word(r);
        sum += (double)(w >> 32) * 0x1p-32 + (double)(uint32_t)w * 0x1p-32;
    }
    return sum;
}

double certify_wide(certify_random *r, int a, int b)
{
    const double x = ldexp(1 + certify_unit(r), certify_between(r, a, b));
    return certify_word(r) & 1 ? x : -x;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */
void certify_put(attest_tensor *t, int64_t b, int64_t h, int64_t row, int64_t c, double x)
{
    const attest_format f = attest_format_of(t->dtype);
    const double top = ldexp(2 - ldexp(1, 1 - f.p), f.emax), sized = fabs(x) > top ? copysign(top, x) : x;
    attest_store_bits(t, attest_offset(t, b, h, row, c), attest_from_f64(t->dtype, sized));
}

/* Where a law is: the tensor's element, and draws that are the same for all elements of a tensor. */
typedef struct place {
    const attest_problem *p;
    certify_random *r;
    int64_t b, h, row, c;
} place;

static void fill(attest_bundle *in, attest_role role, const attest_problem *p, certify_random *r,
                 double (*value)(const place *, const double *), const double *with)
{
    attest_tensor *t = attest_bundle_role(in, role);
    place at = { .p = p, .r = r };
    for (at.b = 0; at.b < t->shape[0]; at.b++)
        for (at.h = 0; at.h < t->shape[1]; at.h++)
            for (at.row = 0; at.row < t->shape[2]; at.row++)
                for (at.c = 0; at.c < t->shape[3]; at.c++)
                    certify_put(t, at.b, at.h, at.row, at.c, value(&at, with));
}

static double normal_of(const place *at, const double *with) { return with[0] * certify_normal(at->r); }
static double wide_of(const place *at, const double *with) { return certify_wide(at->r, (int)with[0], (int)with[1]); }

static int least_exponent(const attest_problem *p)
{
    return attest_format_of(p->in).emin - attest_format_of(p->in).p + 1;
}

static int most_exponent(const attest_problem *p) { return attest_format_of(p->in).emax; }

/* q and k normal so that scores have about this deviation */
static void fill_scores(attest_bundle *in, const attest_problem *p, certify_random *r, double deviation)
{
    const double scale = p->scale == 0 ? 1 : fabs(p->scale), size = sqrt(deviation / scale / sqrt((double)p->d));
    const double skew = ldexp(1, certify_between(r, -3, 3)), one = size * skew, other = size / skew;
    fill(in, ATTEST_Q, p, r, normal_of, &one);
    fill(in, ATTEST_K, p, r, normal_of, &other);
}

static const double unit_size = 1;

/* ---- laws -------------------------------------------------------------------------------------------------------- */
static void steep(const attest_problem *p, attest_bundle *in, certify_random *r)
{
    fill_scores(in, p, r, 20 + 280 * certify_unit(r));
    fill(in, ATTEST_V, p, r, normal_of, &unit_size);
}

static void overflow(const attest_problem *p, attest_bundle *in, certify_random *r)
{
    fill_scores(in, p, r, ldexp(1, certify_between(r, 8, 70)));
    fill(in, ATTEST_V, p, r, normal_of, &unit_size);
}

static double subnormal_of(const place *at, const double *with)
{
    return ldexp((double)certify_between(at->r, -7, 7), (int)with[0]);
}

static void subnormal(const attest_problem *p, attest_bundle *in, certify_random *r)
{
    for (int role = 0; role < 3; role++) {
        const double least = least_exponent(p) + (certify_below(r, 3) ? 0 : certify_below(r, 24));
        fill(in, role == 0 ? ATTEST_Q : role == 1 ? ATTEST_K : ATTEST_V, p, r, subnormal_of, &least);
    }
}

/* every exponent; channels of q and k balance, or not */
static double balanced_of(const place *at, const double *with)
{
    certify_random channel = { (uint64_t)at->c * 7919 + 17 };
    const int e = certify_between(&channel, -(int)with[0], (int)with[0]) * (int)with[1];
    return certify_wide(at->r, e - 3, e);
}

static void wide(const attest_problem *p, attest_bundle *in, certify_random *r)
{
    const int top = most_exponent(p), least = least_exponent(p);
    const double all[2] = { least, top }, one[2] = { certify_below(r, top), 1 }, other[2] = { one[0], -1 };
    const int balanced = certify_below(r, 4) != 0;
    fill(in, ATTEST_Q, p, r, balanced ? balanced_of : wide_of, balanced ? one : all);
    fill(in, ATTEST_K, p, r, balanced ? balanced_of : wide_of, balanced ? other : all);
    if (certify_below(r, 2))
        fill(in, ATTEST_V, p, r, wide_of, all);
    else
        fill(in, ATTEST_V, p, r, normal_of, &unit_size);
}

/* large products that cancel: q = (A, A, rest), k = (B, -B, rest), to a few last places of B */
static void dot_cancels(const attest_problem *p, attest_bundle *in, certify_random *r)
{
    attest_tensor *q = attest_bundle_role(in, ATTEST_Q), *k = attest_bundle_role(in, ATTEST_K);
    const int room = most_exponent(p) > 20 ? 45 : 6, a = certify_between(r, 0, room), b = certify_between(r, 0, room);
    fill_scores(in, p, r, 2);
    fill(in, ATTEST_V, p, r, normal_of, &unit_size);
    for (int64_t head = 0; p->d > 1 && head < p->b * p->hq; head++)
        for (int64_t i = 0; i < p->n; i++) {
            const double x = certify_wide(r, a, a);
            certify_put(q, head / p->hq, head % p->hq, i, 0, x);
            certify_put(q, head / p->hq, head % p->hq, i, p->d - 1, x);
        }
    for (int64_t head = 0; p->d > 1 && head < p->b * p->hkv; head++)
        for (int64_t j = 0; j < p->m; j++) {
            const double x = certify_wide(r, b, b);
            certify_put(k, head / p->hkv, head % p->hkv, j, 0, x);
            certify_put(k, head / p->hkv, head % p->hkv, j, p->d - 1, -x);
        }
}

/* row j and j^1 of k and v: equal keys, v = +-x up to a last place now and then */
static void copy_pairs(const attest_problem *p, attest_bundle *in, certify_random *r, int values)
{
    attest_tensor *k = attest_bundle_role(in, ATTEST_K), *v = attest_bundle_role(in, ATTEST_V);
    for (int64_t head = 0; head < p->b * p->hkv; head++)
        for (int64_t j = 1; j < p->m; j += 2) {
            const int64_t b = head / p->hkv, h = head % p->hkv;
            for (int64_t c = 0; c < p->d; c++)
                certify_put(k, b, h, j, c, attest_load(k, attest_offset(k, b, h, j - 1, c)));
            for (int64_t c = 0; values && c < p->e; c++) {
                const double x = attest_load(v, attest_offset(v, b, h, j - 1, c));
                certify_put(v, b, h, j, c, certify_below(r, 40) ? -x : -x * (1 + 0x1p-23));
            }
        }
}

static void outputs_cancel(const attest_problem *p, attest_bundle *in, certify_random *r)
{
    fill_scores(in, p, r, 0.5 + 4 * certify_unit(r));
    fill(in, ATTEST_V, p, r, normal_of, &unit_size);
    copy_pairs(p, in, r, 1);
}

/* few distinct keys, few distinct v: exact ties and midpoints */
static double small_of(const place *at, const double *with)
{
    return ldexp((double)certify_between(at->r, -(int)with[0], (int)with[0]), -(int)with[1]);
}

static void ties(const attest_problem *p, attest_bundle *in, certify_random *r)
{
    const double few[2] = { certify_between(r, 0, 2), certify_between(r, 0, 3) };
    const double v[2] = { certify_between(r, 1, 300), certify_between(r, 0, 12) };
    fill(in, ATTEST_Q, p, r, small_of, few);
    fill(in, ATTEST_K, p, r, small_of, few);
    fill(in, ATTEST_V, p, r, small_of, v);
    copy_pairs(p, in, r, 0);
}

static void not_finite(const attest_problem *p, attest_bundle *in, certify_random *r)
{
    static const double what[] = { NAN, INFINITY, -INFINITY };
    fill_scores(in, p, r, 1);
    fill(in, ATTEST_V, p, r, normal_of, &unit_size);
    for (int n = certify_between(r, 1, 3); n > 0; n--) {
        const int role = certify_below(r, 3);
        attest_tensor *t = attest_bundle_role(in, role == 0 ? ATTEST_Q : role == 1 ? ATTEST_K : ATTEST_V);
        const int64_t at = attest_offset(t, certify_below(r, (int)t->shape[0]), certify_below(r, (int)t->shape[1]),
                                         certify_below(r, (int)t->shape[2]), certify_below(r, (int)t->shape[3]));
        attest_store_bits(t, at, attest_from_f64(t->dtype, what[certify_below(r, 3)]));
    }
}

static double column_of(const place *at, const double *with)
{
    certify_random column = { (uint64_t)at->c * 104729 + (uint64_t)with[0] };
    const attest_format f = attest_format_of(at->p->in);
    switch (certify_below(&column, 4)) {
    case 0: return 0;
    case 1: return ldexp((double)certify_between(at->r, -1, 1), f.emin - f.p + 1);
    case 2: return certify_wide(at->r, f.emax - 1, f.emax);
    default: return certify_normal(at->r);
    }
}

static void columns(const attest_problem *p, attest_bundle *in, certify_random *r)
{
    const double seed = certify_below(r, 1000);
    fill_scores(in, p, r, 1 + 10 * certify_unit(r));
    fill(in, ATTEST_V, p, r, column_of, &seed);
}

/* exponents spread by up to 30: at the edge of what the cheap tiers accept */
static void tier_edge(const attest_problem *p, attest_bundle *in, certify_random *r)
{
    const int spread = certify_between(r, 0, 24), values = certify_between(r, 0, 40);
    const double q[2] = { -spread - 1, -1 }, v[2] = { -values / 2, values - values / 2 };
    fill(in, ATTEST_Q, p, r, wide_of, q);
    fill(in, ATTEST_K, p, r, wide_of, q);
    fill(in, ATTEST_V, p, r, wide_of, v);
}

/* one key ahead by 20..760, its v small; the others' v as large as there is */
static void spike(const attest_problem *p, attest_bundle *in, certify_random *r)
{
    attest_tensor *q = attest_bundle_role(in, ATTEST_Q), *k = attest_bundle_role(in, ATTEST_K),
                  *v = attest_bundle_role(in, ATTEST_V);
    const double ahead = 20 + 740 * certify_unit(r), size = sqrt(ahead / (p->scale == 0 ? 1 : fabs(p->scale)));
    const int top = most_exponent(p), low = certify_below(r, 3);
    const double large[2] = { top - certify_below(r, 20), top }, level = certify_below(r, 2) ? 0 : -size * 0.9;
    fill_scores(in, p, r, 0.1);
    fill(in, ATTEST_V, p, r, wide_of, large);
    for (int64_t head = 0; head < p->b * p->hq; head++)
        for (int64_t i = 0; i < p->n; i++)
            certify_put(q, head / p->hq, head % p->hq, i, 0, size);
    for (int64_t head = 0; head < p->b * p->hkv; head++)
        for (int64_t j = 0; j < p->m; j++) {
            const double one = copysign(1, p->scale);
            const int first = j % 29 == 0;
            certify_put(k, head / p->hkv, head % p->hkv, j, 0, one * (first ? size + level : level));
            for (int64_t c = 0; first && c < p->e; c++)
                certify_put(v, head / p->hkv, head % p->hkv, j, c,
                            low == 0 ? 0 : certify_wide(r, low == 1 ? least_exponent(p) : -20, -10));
        }
}

/* scores around the roots of odd Taylor polynomials: sums of weights that nearly vanish */
static void root(const attest_problem *p, attest_bundle *in, certify_random *r)
{
    static const double roots[] = { 1, 1.5960716379833215, 2.1806071240358600, 2.7590028072, 3.3335 };
    attest_tensor *q = attest_bundle_role(in, ATTEST_Q), *k = attest_bundle_role(in, ATTEST_K);
    const uint32_t order = p->axis[ATTEST_AXIS_WEIGHT].order;
    const double at = -roots[order / 2 < 5 ? order / 2 : 4], spread = ldexp(1, -certify_below(r, 22));
    const double size = sqrt(1 / (p->scale == 0 ? 1 : fabs(p->scale)));
    fill_scores(in, p, r, 0x1p-30);
    fill(in, ATTEST_V, p, r, normal_of, &unit_size);
    for (int64_t head = 0; head < p->b * p->hq; head++)
        for (int64_t i = 0; i < p->n; i++)
            certify_put(q, head / p->hq, head % p->hq, i, 0, size);
    for (int64_t head = 0; head < p->b * p->hkv; head++)
        for (int64_t j = 0; j < p->m; j++)
            certify_put(k, head / p->hkv, head % p->hkv, j, 0,
                        size * copysign(1, p->scale) * (at + spread * certify_normal(r)));
}

/* scores equal in a double's 53 bits but not below: X + a few ulps of X, X itself the clamp now and then */
static void beside(const attest_problem *p, attest_bundle *in, certify_random *r)
{
    attest_tensor *q = attest_bundle_role(in, ATTEST_Q), *k = attest_bundle_role(in, ATTEST_K);
    const int big = certify_below(r, 4) ? certify_below(r, 5) : certify_below(r, 60), down = certify_between(r, 20, 30);
    const double near_one = certify_below(r, 2) ? 0x1p-20 : 1; /* a scale near 2 makes 1.5 ulps of 0.5 */
    const double zero = 0, x = ldexp(1 + near_one * certify_unit(r), big), y = 1 + near_one * certify_unit(r);
    fill(in, ATTEST_Q, p, r, normal_of, &zero);
    fill(in, ATTEST_K, p, r, normal_of, &zero);
    fill(in, ATTEST_V, p, r, normal_of, &unit_size);
    for (int64_t head = 0; head < p->b * p->hq; head++)
        for (int64_t i = 0; i < p->n; i++) {
            certify_put(q, head / p->hq, head % p->hq, i, 0, x);
            certify_put(q, head / p->hq, head % p->hq, i, p->d - 1, p->d > 1 ? ldexp(1, big - down) : x);
        }
    for (int64_t head = 0; head < p->b * p->hkv; head++)
        for (int64_t j = 0; j < p->m; j++) {
            certify_put(k, head / p->hkv, head % p->hkv, j, 0, y);
            if (p->d > 1)
                certify_put(k, head / p->hkv, head % p->hkv, j, p->d - 1,
                            ldexp((double)certify_between(r, -64, 64), down - 58));
        }
}

const certify_law certify_laws[] = {
    { "normal", NULL, CERTIFY_ANY, NULL },
    { "normal:4", NULL, CERTIFY_ANY, NULL },
    { "uniform", NULL, CERTIFY_ANY, NULL },
    { "flat", NULL, CERTIFY_ANY, NULL },
    { "ones", NULL, CERTIFY_ANY, NULL },
    { "ramp-up", NULL, CERTIFY_ANY, NULL },
    { "negative", NULL, CERTIFY_ANY, NULL },
    { "huge", NULL, CERTIFY_ANY, NULL },
    { "range:8", NULL, CERTIFY_ANY, NULL },
    { "range:90", NULL, CERTIFY_ANY, NULL },
    { "dyadic", NULL, CERTIFY_ANY, NULL },
    { "steep", steep, CERTIFY_ANY, "scores to +-700" },
    { "overflow", overflow, CERTIFY_ANY, "scores far past the overflow of exp" },
    { "subnormal", subnormal, CERTIFY_ANY, "subnormal q, k, v" },
    { "wide", wide, CERTIFY_ANY, "every exponent of the format" },
    { "dot-cancels", dot_cancels, CERTIFY_ANY, "products of 2^90 in scores of 1" },
    { "o-cancels", outputs_cancel, CERTIFY_ANY, "o nearly 0" },
    { "ties", ties, CERTIFY_ANY, "equal scores, o on midpoints" },
    { "not-finite", not_finite, CERTIFY_ANY, "a NaN or infinity that some rows read" },
    { "columns", columns, CERTIFY_ANY, "columns of v zero, least, largest" },
    { "tier-edge", tier_edge, CERTIFY_ANY, "exponents at the edge of the cheap tiers" },
    { "spike", spike, CERTIFY_ANY, "weights at underflow meet values at overflow" },
    { "root", root, CERTIFY_ODD_TAYLOR, "odd Taylor sums near 0" },
    { "beside", beside, CERTIFY_ANY, "scores that agree in 53 bits" },
    { "long", steep, CERTIFY_LONG, "16384 keys" },
};
const int certify_law_count = (int)(sizeof certify_laws / sizeof certify_laws[0]);
