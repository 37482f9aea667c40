/* Families hard for a method (props/draw/family_hard.c): what each promises, and the frozen values. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/draw/draw.h"
#include "tests/props/draw/family_cases.h"

Suite *suite_family_hard(void);

/* All dtypes, odd and even widths, both signs of scale. */
static const char *const shapes[] = {
    "n=9 m=300 d=16",
    "n=9 m=300 d=1",
    "n=9 m=300 d=2 scale=1",
    "n=9 m=301 d=3 in=bf16",
    "n=9 m=300 d=64 in=bf16",
    "n=9 m=300 d=64 in=f16",
    "n=9 m=300 d=100 in=f64",
    "n=9 m=7 d=128 scale=-0.7",
    "n=9 m=40 d=5 scale=-200 in=f16",
    "n=9 m=70 d=40 scale=1e12",
    "n=300 m=400 d=9 in=bf16",
    "n=9 m=300 d=7 scale=0.01 in=f16",
    "n=9 m=300 d=1 in=bf16",
    "n=5 m=2 d=33 in=f64 scale=-1e-9",
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

typedef struct row {
    const attest_case *c;
    const attest_bundle *bundle;
    const char *line;
    int64_t i, keys; /* it sees keys 0..keys-1 */
    const double *s;
} row;

typedef void (*row_check)(const row *r);

/* Calls `check` on every row of a line; extra stands before the family. */
static void for_line(const char *shape, const char *extra, const char *family, row_check check)
{
    char line[200];
    snprintf(line, sizeof line, "%s %s family=%s seed=11", shape, extra, family);
    const attest_case c = case_of(line);
    const int causal = c.problem.axis[ATTEST_AXIS_MASK].value != ATTEST_MASK_FULL;
    attest_bundle *bundle = draw_case(&c, 0, 0);
    for (int64_t i = 0; i < c.problem.n; i++) {
        double s[512];
        const int64_t keys = causal && i + 1 < c.problem.m ? i + 1 : c.problem.m;
        for (int64_t j = 0; j < keys; j++)
            s[j] = score(bundle, &c.problem, i, j);
        const row r = { &c, bundle, line, i, keys, s };
        check(&r);
    }
    attest_bundle_free(bundle);
}

static void for_rows(const char *extra, const char *family, row_check check)
{
    for (size_t l = 0; l < SHAPES; l++)
        for_line(shapes[l], extra, family, check);
}

/* ---- stairs -------------------------------------------------------------------------------------------- */

/* Maxima of steps: each 0.7 above the one before, and no key of a step next to another step's. */
static void check_steps(const row *r, int64_t step)
{
    double before = 0;
    for (int64_t first = 0; first < r->keys; first += step) {
        double most = -1e300, least = 1e300;
        for (int64_t j = first; j < first + step && j < r->keys; j++) {
            most = fmax(most, r->s[j]);
            least = fmin(least, r->s[j]);
        }
        const double rise = most - before;
        ck_assert_msg(most - least < 0.15, "%s: row %lld: %g..%g from key %lld on", r->line, (long long)r->i, least,
                      most, (long long)first);
        ck_assert_msg(first == 0 || (rise > 0.6 && rise < 0.8), "%s: row %lld rises by %g at key %lld", r->line,
                      (long long)r->i, rise, (long long)first);
        ck_assert_msg(first > 0 || fabs(most) < 0.15, "%s: starts at %g", r->line, most);
        before = most;
    }
}

static void check_sixteen(const row *r) { check_steps(r, 16); }
static void check_three(const row *r) { check_steps(r, 3); }
static void check_single(const row *r) { check_steps(r, 1); }

static int spread_inside;

static void count_spread(const row *r)
{
    for (int64_t j = 1; j < r->keys && j < 16; j++)
        spread_inside += r->s[j] != r->s[0];
}

START_TEST(stairs)
{
    for_rows("", "stairs", check_sixteen);
    for_rows("", "stairs:3", check_three);
    for_line("n=3 m=400 d=4 in=bf16", "", "stairs:1", check_single); /* two digits of base 256 */
    for_line("n=3 m=400 d=2 in=bf16", "", "stairs:1", check_single);
    for_line("n=3 m=512 d=1", "", "stairs:1", check_single);
    for_line("n=1 m=16 d=1", "", "stairs", count_spread);
    ck_assert_msg(spread_inside == 15, "%d of 15 keys of a step differ from its first", spread_inside);
}
END_TEST

/* ---- half-peak ----------------------------------------------------------------------------------------- */

static int halves;

static void check_half(const row *r)
{
    double rest = 0;
    int different = 0;
    for (int64_t j = 1; j < r->keys; j++) {
        rest += exp(r->s[j]);
        different += r->s[j] != r->s[1];
    }
    const double x = 0.06 * log(r->keys > 1 ? (double)r->keys - 1 : 1);
    ck_assert_msg(r->s[0] == 0, "%s: the peak has score %g", r->line, r->s[0]);
    ck_assert_msg(r->keys == 1 || fabs(log(rest)) <= x, "%s: row %lld of %lld keys: %g beside the peak", r->line,
                  (long long)r->i, (long long)r->keys, rest);
    ck_assert_msg(r->keys < 10 || different > 3, "%s: row %lld: one score", r->line, (long long)r->i);
    halves += r->keys > 2;
}

START_TEST(half_peak)
{
    for_rows("", "half-peak", check_half);
    for_rows("mask=causal", "half-peak", check_half);
    ck_assert(halves > 600);
}
END_TEST

/* Aligned at the end, row i sees n-m more keys; a window's rows see its width. */
START_TEST(half_peak_sees_the_mask)
{
    static const char *const lines[] = { "n=3 m=40 d=8 mask=causal-br", "n=40 d=8 mask=causal window=8" };
    for (int l = 0; l < 2; l++) {
        char line[96];
        snprintf(line, sizeof line, "%s family=half-peak", lines[l]);
        const attest_case c = case_of(line);
        attest_bundle *bundle = draw_case(&c, 0, 0);
        const double keys = l ? 8 : 38 + 2, s = score(bundle, &c.problem, l ? 39 : 2, 5);
        ck_assert_msg(fabs(s + log(keys - 1)) < 0.05 * log(keys - 1), "%s: score %g", line, s);
        attest_bundle_free(bundle);
    }
}
END_TEST

/* ---- large-products -------------------------------------------------------------------------------------- */

static double squares;
static int64_t squared;

static void check_large(const row *r)
{
    const attest_tensor *q = attest_bundle_role(r->bundle, ATTEST_Q), *k = attest_bundle_role(r->bundle, ATTEST_K);
    const int64_t d = r->c->problem.d;
    for (int64_t j = 0; j < r->keys && d > 1; j++) {
        double absolute = 0, before = 0;
        for (int64_t c = 0; c < d; c++) {
            const double product = at(q, 0, 0, r->i, c) * at(k, 0, 0, j, c);
            absolute += fabs(r->c->problem.scale * product);
            ck_assert_msg(c == d - 1 && d % 2 ? product == 0 : product * (c % 2 ? before : 1) * (c % 2 ? -1 : 1) > 0,
                          "%s: products %g, %g", r->line, before, product);
            before = product;
        }
        const int powers = strstr(r->line, "variant=t") != NULL; /* sizes: 0.75 * 1.03 and 1.25 * 1.97 of the bounds */
        const double least = powers ? 0.77 : 24 * sqrt((double)d), most = powers ? 20 : 316 * sqrt((double)d);
        ck_assert_msg(absolute >= 64 * fabs(r->s[j]) && absolute > least * (d % 2 ? 0.66 : 1) && absolute < most,
                      "%s: score %g of products %g", r->line, r->s[j], absolute);
        squares += r->s[j] * r->s[j];
        squared++;
    }
}

START_TEST(large_products)
{
    for_rows("variant=taylor:3", "large-products", check_large);
    for_rows("variant=term:8", "large-products", check_large);
    for (size_t l = 0; l < SHAPES; l++) {
        squares = 0;
        squared = 0;
        for_line(shapes[l], "", "large-products", check_large);
        const double mean = squared > 100 ? sqrt(squares / (double)squared) : 1;
        ck_assert_msg(mean > 0.4 && mean < 2, "%s: scores of size %g", shapes[l], mean);
    }
}
END_TEST

/* ---- taylor-roots ---------------------------------------------------------------------------------------- */

static double taylor(uint32_t order, double s)
{
    double h = 1;
    for (uint32_t n = order; n > 0; n--)
        h = 1 + s / n * h;
    return h;
}

static int near[2];

/* r from the two keys of a pair, and what T is there; each key's distance from r. */
static void check_roots(const row *r)
{
    const attest_problem *p = &r->c->problem;
    const uint32_t order = p->axis[ATTEST_AXIS_WEIGHT].order;
    const int fine = p->in == ATTEST_F32 || p->in == ATTEST_F64;
    const double root = -(r->s[1] + r->s[2]) / 2, most = order % 2 && fine ? 0x1.01p-10 : 0x1.01p-4;
    ck_assert_msg(r->s[0] == 0, "%s: key 0 has score %g", r->line, r->s[0]);
    for (int64_t j = 1; j < r->keys; j++) {
        const double y = -r->s[j] / root - 1, pair = j + 1 < r->keys ? -r->s[j + 1] / root - 1 : -y;
        ck_assert_msg(fabs(y) <= most, "%s: key %lld is off r by %g", r->line, (long long)j, y);
        ck_assert_msg(!fine || (j % 2 ? y > 0 : y < 0), "%s: key %lld: sign of %g", r->line, (long long)j, y);
        ck_assert_msg(j % 2 == 0 || fabs(y + pair) < (!fine ? 0x1p-7 : 0x1p-22), "%s: keys %lld: %g %g", r->line,
                      (long long)j, y, pair);
        near[fabs(y) < 0x1p-12]++;
    }
    /* narrow types: keys 1 and 2 are rounded apart, by up to 2^-9 of r; T' < 8 on these arcs */
    const double loose = !fine ? 0x1p-9 * root : 0x1p-19;
    const double slope = 0x1p-19 / loose + fabs(taylor(order - 1, -root)), tail = loose * root * loose;
    const double others = (double)p->m - 1;
    const double want = order % 2 ? (r->i % 2 ? -(1 - 0x1p-10) / others : 0) : r->i % 2 ? 1 : 0;
    if (order % 2 == 0 && r->i % 2 == 0)
        ck_assert_msg(fabs(taylor(order - 1, -root)) < 16 * loose + 0x1p-18, "%s: T' %g", r->line,
                      taylor(order - 1, -root));
    else
        ck_assert_msg(fabs(taylor(order, -root) - want) < slope * loose + 16 * tail,
                      "%s: row %lld: T(-%.9g) = %g, "
                      "not %g",
                      r->line, (long long)r->i, root, taylor(order, -root), want);
}

START_TEST(taylor_roots)
{
    static const char *const orders[] = { "taylor:1", "taylor:2", "taylor:3",  "taylor:4",  "taylor:5",
                                          "taylor:8", "taylor:9", "taylor:14", "taylor:15", "taylor:3 center=max" };
    static const char *const lines[] = {
        "n=9 m=301 d=16",
        "n=9 m=301 d=1",
        "n=9 m=3 d=2 scale=1",
        "n=9 m=5 d=5 scale=-0.3 in=bf16",
        "n=9 m=31 d=64 in=f16",
        "n=9 m=31 d=100 in=f64 scale=-7",
        "n=9 m=31 d=7 scale=200 in=f16",
    };
    for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++)
        for (size_t l = 0; l < sizeof lines / sizeof lines[0]; l++) {
            char variant[40];
            snprintf(variant, sizeof variant, "variant=%s", orders[o]);
            for_line(lines[l], variant, "taylor-roots", check_roots);
        }
    ck_assert_msg(near[0] > 1000 && near[1] > 1000, "%d keys far, %d near", near[0], near[1]);
}
END_TEST

/* Two keys, the second at the pole of an odd order (m = 2: T_P(-r) = -1): r as theory gives it, and one key alone. */
START_TEST(pole_of_two_keys)
{
    static const struct {
        int order;
        double pole;
    } rows[] = { { 1, 2 }, { 3, 2.5128 }, { 5, 3.2171 }, { 7, 3.9541 } };
    for (int k = 0; k < 4; k++) {
        char line[96];
        snprintf(line, sizeof line, "variant=taylor:%d n=2 m=2 d=4 in=f64 family=taylor-roots", rows[k].order);
        const attest_case c = case_of(line);
        attest_bundle *bundle = draw_case(&c, 0, 0);
        const double k0 = at(attest_bundle_role(bundle, ATTEST_K), 0, 0, 1, 0);
        const double r = -score(bundle, &c.problem, 1, 1) / k0;
        const double there = taylor((uint32_t)rows[k].order, -r);
        ck_assert_msg(fabs(r - rows[k].pole) < 1e-2 && fabs(there + 1 - 0x1p-10) < 0x1p-20, "order %d: %g",
                      rows[k].order, r);
        attest_bundle_free(bundle);
    }
    attest_bundle *bundle = draw("variant=taylor:3 n=2 m=1 d=1 scale=1 in=f64 family=taylor-roots");
    for (int i = 0; i < 2; i++)
        ck_assert(fabs(at(attest_bundle_role(bundle, ATTEST_Q), 0, 0, i, 0) + 1.59607163798) < 1e-9);
    attest_bundle_free(bundle);
}
END_TEST

/* ---- p-underflow ------------------------------------------------------------------------------------------ */

static int below, above, levels;

static void check_underflow(const row *r)
{
    const attest_format format = attest_format_of(r->c->problem.p);
    const double edge = (format.emin - format.p) * log(2), in = ldexp(1, -attest_format_of(r->c->problem.in).p);
    const attest_tensor *v = attest_bundle_role(r->bundle, ATTEST_V);
    const double reach = 2.3 - edge * (0x1p-10 + 2 * in);
    for (int64_t j = 0; j < r->keys; j++) {
        const double x = r->s[j] - (j % 2 ? edge : 0);
        ck_assert_msg(fabs(x) <= (j % 2 ? reach
                                  : j   ? 0.27
                                        : 0),
                      "%s: score %g of key %lld", r->line, r->s[j], (long long)j);
        for (int64_t c = 0; c < v->shape[3]; c++)
            ck_assert((at(v, 0, 0, j, c) != 0) == (j % 2 == 1 || strstr(r->line, "rmsnorm")));
        below += j % 2 && x < -0.5;
        above += j % 2 && x > 0.5;
        levels += j % 2 && j > 1 && r->s[j] != r->s[j - 2];
    }
}

START_TEST(p_underflow)
{
    for_line("n=9 m=70 d=8", "variant=rmsnorm", "p-underflow", check_underflow);
    static const char *const types[] = { "p=f16", "p=bf16", "p=f32", "acc=f64 p=f64" };
    for (size_t l = 0; l < SHAPES; l++)
        for (int t = 0; t < 4; t++) {
            below = above = levels = 0;
            for_line(shapes[l], types[t], "p-underflow", check_underflow);
            const int coarse = t == 3 && (strstr(shapes[l], "bf16") || strstr(shapes[l], "f16"));
            ck_assert_msg(coarse || strstr(shapes[l], "m=7 ") || strstr(shapes[l], "m=2 ") ||
                              (below > 20 && above > 20 && levels > 20),
                          "%s %s: %d below, %d above, %d levels", shapes[l], types[t], below, above, levels);
        }
}
END_TEST

/* ---- zero-keys, where nothing is shaped -------------------------------------------------------------------- */

START_TEST(zero_keys)
{
    attest_bundle *bundle = draw("n=20 d=8 in=f16 family=zero-keys"), *plain = draw("n=20 d=8 in=f16");
    static const attest_role others[] = { ATTEST_Q, ATTEST_V };
    for (int64_t i = 0; i < 160; i++) {
        ck_assert(attest_load_bits(attest_bundle_role(bundle, ATTEST_K), i) == 0);
        for (int k = 0; k < 2; k++)
            ck_assert(attest_load_bits(attest_bundle_role(bundle, others[k]), i) ==
                      attest_load_bits(attest_bundle_role(plain, others[k]), i));
    }
    attest_bundle_free(bundle);
    attest_bundle_free(plain);
    bundle = draw("variant=gdn n=20 d=8 family=zero-keys"); /* keys that are scaled */
    for (int64_t i = 0; i < 160; i++)
        ck_assert(attest_load(attest_bundle_role(bundle, ATTEST_K), i) == 0);
    attest_bundle_free(bundle);
}
END_TEST

/* ---- offset, edges ----------------------------------------------------------------------------------------- */

START_TEST(offset)
{
    attest_bundle *bundle = draw("n=64 d=4 in=f64 family=offset"), *plain = draw("n=64 d=4 in=f64");
    for (int64_t i = 0; i < 256; i++) {
        ck_assert(attest_load(attest_bundle_role(bundle, ATTEST_V), i) ==
                  16 + attest_load(attest_bundle_role(plain, ATTEST_V), i)); /* both have 32 bits behind the point */
        ck_assert(attest_load_bits(attest_bundle_role(bundle, ATTEST_K), i) ==
                  attest_load_bits(attest_bundle_role(plain, ATTEST_K), i));
    }
    attest_bundle_free(bundle);
    attest_bundle_free(plain);
}
END_TEST

/* Of four heads one keeps everything, one has zeros and ones among what does, one is tiny, one is plain.  A plain decay
 * is slow: from 15/16 to 1, and near 15/16 as often as near 1. */
static void check_edge_heads(const char *line, attest_role role, double most)
{
    attest_bundle *bundle = draw(line);
    const attest_tensor *t = attest_bundle_role(bundle, role);
    const int64_t tokens = attest_tensor_count(t) / t->shape[1] / t->shape[0];
    int laws[4] = { 0 };
    for (int64_t h = 0; h < 4; h++) {
        int by_one = 0, zeros = 0, ones = 0, tiny = 0, slow = 0;
        for (int64_t j = 0; j < tokens; j++) {
            const double x = attest_load(t, h * tokens + j);
            ck_assert(x >= 0 && x <= most);
            by_one += x < 1 && x >= 1 - 0x1p-16;
            zeros += x == 0;
            ones += x == 1;
            tiny += x > 0 && x <= 0x1p-20;
            slow += x >= 0.9375 && x < 0.96875;
        }
        laws[0] += by_one + ones == tokens && ones < 3;
        laws[1] += by_one + zeros + ones == tokens && zeros > tokens / 16 && ones > tokens / 16;
        laws[2] += tiny == tokens;
        laws[3] += by_one + zeros + tiny < tokens / 8 && (role == ATTEST_DECAY) == (slow > tokens / 4);
    }
    for (int k = 0; k < 4; k++)
        ck_assert_msg(laws[k] == 1, "%s: %d heads of law %d", line, laws[k], k);
    attest_bundle_free(bundle);
}

START_TEST(edges)
{
    check_edge_heads("variant=simple-gla hq=4 hkv=4 n=128 in=f64 family=edges", ATTEST_DECAY, 1);
    check_edge_heads("variant=softmax gates=in hq=4 hkv=4 n=128 in=f64 family=edges", ATTEST_GIN, 1);
    check_edge_heads("variant=softmax gates=out hq=4 hkv=4 n=128 in=f64 family=edges", ATTEST_GOUT, 1);
    check_edge_heads("variant=deltanet hq=4 hkv=4 n=128 in=f64 family=edges", ATTEST_BETA, 0x1.fffffffffffffp0);
    attest_bundle *bundle = draw("lens=draw b=9 n=9 family=edges"); /* each of the nine laws once */
    int64_t seen = 0;
    for (int64_t b = 0; b < 9; b++)
        seen |= 1 << attest_load_int(attest_bundle_role(bundle, ATTEST_KV_LENS), b);
    ck_assert_int_eq(seen & (1 << 0 | 1 << 1 | 1 << 8 | 1 << 9), 1 << 0 | 1 << 1 | 1 << 8 | 1 << 9);
    attest_bundle_free(bundle);
}
END_TEST

START_TEST(falls_back)
{
    static const char *const lines[] = {
        "family=stairs scale=0",
        "family=half-peak scale=0",
        "family=large-products scale=0",
        "family=large-products e=4 d=1",
        "family=p-underflow scale=0",
        "variant=taylor:2 family=p-underflow",
        "variant=linear family=p-underflow",
        "family=taylor-roots",
        "variant=taylor:3 scale=0 family=taylor-roots",
        "variant=taylor:0 family=taylor-roots",
        "variant=taylor:16 family=taylor-roots",
        "variant=taylor:3 center=mid family=taylor-roots",
        "variant=taylor:3 center=min family=taylor-roots",
        "variant=taylor:3 feature=relu family=taylor-roots",
        "variant=taylor:3 rope=10000 family=taylor-roots",
        "variant=term:3 family=taylor-roots",
    };
    for (size_t l = 0; l < sizeof lines / sizeof lines[0]; l++) {
        char line[128];
        snprintf(line, sizeof line, "n=5 %s %s", strstr(lines[l], "d=1") ? "" : "d=4", lines[l]);
        attest_case c = case_of(line);
        const uint64_t hash = hash_of(&c, 0);
        strcpy(c.family, "normal");
        ck_assert_msg(hash_of(&c, 0) == hash, "%s", line);
    }
}
END_TEST

/* ---- frozen ------------------------------------------------------------------------------------------------ */

static const frozen_draw frozen[] = {
    { "n=300 d=5 family=stairs:2", 0x2f127274a8877a23u },
    { "n=40 d=5 mask=causal in=f16 family=half-peak", 0x34a1709f478a15f0u },
    { "n=8 d=5 in=bf16 family=large-products", 0x95300a05bdfef855u },
    { "n=8 d=5 variant=taylor:5 in=bf16 family=taylor-roots", 0xbed7c406f5d8d116u },
    { "n=8 d=5 variant=taylor:4 in=f64 family=taylor-roots", 0x5160cf68e6693da6u },
    { "n=8 d=5 in=bf16 p=bf16 family=p-underflow", 0x477f6bba143568f6u },
    { "n=8 d=5 in=f64 family=p-underflow", 0x0445aed27443a72au },
    { "n=8 d=5 family=zero-keys", 0x15c77f4decc80820u },
    { "n=8 d=5 in=bf16 family=offset", 0x21d5dd6fdf32a38bu },
    { "variant=gla lens=draw b=3 hq=2 n=8 d=5 family=edges", 0xc865af41c96e5d65u },
    { "variant=gdn hq=2 n=8 d=5 in=bf16 family=edges", 0xf25a70f08af279adu },
};

START_TEST(hard_is_frozen) { check_frozen(frozen, sizeof frozen / sizeof frozen[0]); }
END_TEST

Suite *suite_family_hard(void)
{
    Suite *suite = suite_create("family_hard");
    TCase *tcase = tcase_create("family_hard");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, stairs);
    tcase_add_test(tcase, half_peak);
    tcase_add_test(tcase, half_peak_sees_the_mask);
    tcase_add_test(tcase, large_products);
    tcase_add_test(tcase, taylor_roots);
    tcase_add_test(tcase, pole_of_two_keys);
    tcase_add_test(tcase, p_underflow);
    tcase_add_test(tcase, zero_keys);
    tcase_add_test(tcase, offset);
    tcase_add_test(tcase, edges);
    tcase_add_test(tcase, falls_back);
    tcase_add_test(tcase, hard_is_frozen);
    suite_add_tcase(suite, tcase);
    return suite;
}
