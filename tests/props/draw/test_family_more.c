/* Families at an edge (props/draw/family_edges.c): what each promises, and the frozen values. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/draw/draw.h"
#include "tests/props/draw/family_cases.h"

Suite *suite_family_more(void);

/* Every width of a short and a long code, all dtypes, both signs of scale. */
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
};

typedef void (*row_check)(const double *s, int64_t i, int64_t keys, const attest_bundle *bundle, const char *line);

/* Calls `check` with the scores of every row of the family under every shape; the row sees `keys` keys. */
static void for_rows(const char *family, int causal, row_check check)
{
    for (size_t l = 0; l < sizeof shapes / sizeof shapes[0]; l++) {
        char line[160];
        snprintf(line, sizeof line, "%s family=%s seed=11", shapes[l], family);
        const attest_case c = case_of(line);
        attest_bundle *bundle = draw_case(&c, 0, 0);
        for (int64_t i = 0; i < c.problem.n; i++) {
            double s[512];
            const int64_t keys = causal && i + 1 < c.problem.m ? i + 1 : c.problem.m;
            for (int64_t j = 0; j < keys; j++)
                s[j] = score(bundle, &c.problem, i, j);
            check(s, i, keys, bundle, line);
        }
        attest_bundle_free(bundle);
    }
}

static double largest(const double *s, int64_t keys)
{
    double most = s[0];
    for (int64_t j = 1; j < keys; j++)
        most = s[j] > most ? s[j] : most;
    return most;
}

/* ---- peaked, ramp-down --------------------------------------------------------------------------------- */

static int64_t last_peak, peaks_moved;

static void check_peaked(const double *s, int64_t i, int64_t keys, const attest_bundle *bundle, const char *line)
{
    const double most = largest(s, keys);
    int64_t peak = 0;
    double rest = 0;
    (void)bundle;
    for (int64_t j = 0; j < keys; j++)
        if (s[j] == most)
            peak = j;
        else
            rest += exp(s[j] - most);
    ck_assert_msg(rest < 1e-3, "%s: row %lld of %lld keys: %g besides the peak", line, (long long)i, (long long)keys,
                  rest);
    ck_assert_msg(most > 24 && most < 140, "%s: the peak's score is %g", line, most);
    ck_assert_msg(peak <= i && peak < 256, "%s: row %lld has its peak at %lld", line, (long long)i, (long long)peak);
    peaks_moved += peak != last_peak;
    last_peak = peak;
}

START_TEST(peaked)
{
    for_rows("peaked", 1, check_peaked);
    for_rows("peaked", 0, check_peaked);
    ck_assert_msg(peaks_moved > 300, "the peak moved %lld times", (long long)peaks_moved);
}
END_TEST

START_TEST(ramp_down_falls)
{
    static const char *const lines[] = { "m=2000 d=16 n=3", "m=2000 d=3 n=3 scale=-3", "m=2000 d=64 n=3 in=bf16" };
    for (size_t l = 0; l < sizeof lines / sizeof lines[0]; l++) {
        char line[128];
        snprintf(line, sizeof line, "%s family=ramp-down seed=4", lines[l]);
        const attest_case c = case_of(line);
        attest_bundle *bundle = draw_case(&c, 0, 0);
        for (int64_t i = 0; i < c.problem.n; i++) {
            double most = -1e300;
            for (int64_t j = 0; j < c.problem.m; j++) {
                const double s = score(bundle, &c.problem, i, j);
                ck_assert_msg(j < 16 || s < most, "%s: row %lld has a new maximum at key %lld", line, (long long)i,
                              (long long)j);
                most = s > most ? s : most;
                if (j == c.problem.m - 1)
                    ck_assert_msg(s < -0.03 * 2000 && s > -0.11 * 2000, "%s: the last score is %g", line, s);
            }
        }
        attest_bundle_free(bundle);
    }
}
END_TEST

/* ---- cancel, onehot, repeat-max, subnormal --------------------------------------------------------------- */

static void check_cancel(const double *s, int64_t i, int64_t keys, const attest_bundle *bundle, const char *line)
{
    const attest_tensor *v = attest_bundle_role(bundle, ATTEST_V);
    for (int64_t c = 0; c < v->shape[3]; c++) {
        double u = 0, z = 0;
        for (int64_t j = 0; j < keys; j++) {
            const double x = at(v, 0, 0, j, c);
            ck_assert_msg(s[j] > 0.98 && s[j] < 1.02, "%s: score %g", line, s[j]);
            ck_assert_msg(fabs(x) >= 1 && fabs(x) <= 2, "%s: v = %g", line, x);
            u += exp(s[j]) * x;
            z += exp(s[j]);
        }
        const double most = 0x1p-5 + (keys % 2 ? 2.1 / (double)keys : 0);
        ck_assert_msg(fabs(u) <= most * z, "%s: row %lld of %lld keys: o = %g", line, (long long)i, (long long)keys,
                      u / z);
    }
}

static int maxima_above_one;

static void check_repeat(const double *s, int64_t i, int64_t keys, const attest_bundle *bundle, const char *line)
{
    const attest_tensor *v = attest_bundle_role(bundle, ATTEST_V);
    const double most = largest(s, keys);
    int maxima = 0;
    for (int64_t j = 0; j < keys; j++) {
        maxima += s[j] == most;
        ck_assert_msg(keys < 2 || s[j] == most || s[j] < most - 0.9, "%s: row %lld: %g after %g", line, (long long)i,
                      s[j], most);
        for (int64_t c = 0; c < v->shape[3]; c++)
            ck_assert_msg(signbit(at(v, 0, 0, j, c)) == signbit(at(v, 0, 0, 0, c)), "%s: signs of v", line);
    }
    ck_assert_msg(maxima >= keys / 4, "%s: row %lld: %d maxima of %lld keys", line, (long long)i, maxima,
                  (long long)keys);
    maxima_above_one += maxima > 1;
}

START_TEST(cancel_and_repeat)
{
    for_rows("cancel", 0, check_cancel);
    for_rows("cancel", 1, check_cancel);
    for_rows("repeat-max", 0, check_repeat);
    for_rows("repeat-max", 1, check_repeat);
    ck_assert(maxima_above_one > 100);
}
END_TEST

START_TEST(onehot)
{
    attest_bundle *bundle = draw("n=4 m=20 e=7 b=2 hq=2 in=bf16 family=onehot");
    const attest_tensor *v = attest_bundle_role(bundle, ATTEST_V);
    for (int64_t head = 0; head < 4; head++)
        for (int64_t j = 0; j < 20; j++)
            for (int64_t c = 0; c < 7; c++)
                ck_assert(at(v, head / 2, head % 2, j, c) == (j % 7 == c));
    ck_assert(attest_load(attest_bundle_role(bundle, ATTEST_Q), 0) != 0);
    attest_bundle_free(bundle);
}
END_TEST

START_TEST(subnormal)
{
    static const struct {
        const char *in;
        int emin;
    } rows[] = { { "f32", -126 }, { "bf16", -126 }, { "f16", -14 }, { "f64", -1022 } };
    for (int r = 0; r < 4; r++) {
        char line[96];
        snprintf(line, sizeof line, "n=100 d=10 scale=1 in=%s family=subnormal", rows[r].in);
        const attest_case c = case_of(line);
        attest_bundle *bundle = draw_case(&c, 0, 0);
        const attest_tensor *q = attest_bundle_role(bundle, ATTEST_Q), *k = attest_bundle_role(bundle, ATTEST_K);
        const double least = ldexp(1, rows[r].emin);
        int below = 0, moves = 0;
        for (int64_t i = 0; i < 1000; i++) {
            ck_assert_msg(isfinite(attest_load(k, i)), "%s: %lld", line, (long long)i);
            below += fabs(attest_load(q, i)) < least;
            moves += fabs(score(bundle, &c.problem, i / 10, i % 10)) > 0.5;
        }
        ck_assert_msg(below > 640 && below < 730, "%s: %d of 1000 are subnormal", line, below); /* 683 +- 15 */
        ck_assert_msg(moves > 300, "%s: %d of 1000 scores above 1/2", line, moves);
        attest_bundle_free(bundle);
    }
}
END_TEST

/* ---- near-zero-denominator ------------------------------------------------------------------------------- */

static double weight_of(const attest_setting *w, double s)
{
    double h = 1;
    for (uint32_t n = w->order; n > 0; n--)
        h = w->value == ATTEST_WEIGHT_TAYLOR ? 1 + s / n * h : h * s;
    return h;
}

START_TEST(denominator_vanishes)
{
    static const char *const lines[] = {
        "variant=taylor:1",          "variant=taylor:3",
        "variant=taylor:5 scale=-2", "variant=taylor:7",
        "variant=taylor:15",         "variant=taylor:3 in=bf16",
        "variant=linear norm=sum",   "variant=linear norm=sum in=bf16 scale=-1",
        "weight=power:3 norm=sum",   "weight=term:3 norm=sum in=f16",
    };
    for (size_t l = 0; l < sizeof lines / sizeof lines[0]; l++) {
        char line[128];
        snprintf(line, sizeof line, "%s n=20 m=100 d=6 family=near-zero-denominator", lines[l]);
        const attest_case c = case_of(line);
        attest_bundle *bundle = draw_case(&c, 0, 0);
        for (int64_t i = 0; i < 20; i++) {
            double z = 0, size = 0;
            for (int64_t j = 0; j < 100; j++) {
                const double w = weight_of(&c.problem.axis[ATTEST_AXIS_WEIGHT], score(bundle, &c.problem, i, j));
                z += w;
                size += fabs(w);
                ck_assert_msg(j % 2 == 0 || fabs(z) <= size / 4, "%s: row %lld, %lld keys: z %g of %g", line,
                              (long long)i, (long long)j + 1, z, size);
            }
        }
        attest_bundle_free(bundle);
    }
}
END_TEST

/* Where a family has nothing to shape it is `normal`. */
START_TEST(falls_back)
{
    static const char *const lines[] = {
        "family=peaked scale=0",
        "family=ramp-down scale=0",
        "family=cancel scale=0",
        "family=repeat-max scale=0",
        "family=cast-edge scale=0",
        "family=near-zero-denominator",
        "variant=taylor:2 family=near-zero-denominator",
        "variant=taylor:3 center=max family=near-zero-denominator",
        "variant=quadratic family=near-zero-denominator",
        "variant=linear-relu family=near-zero-denominator",
        "variant=linear scale=0 family=near-zero-denominator",
        "variant=taylor:17 family=near-zero-denominator",
    };
    for (size_t l = 0; l < sizeof lines / sizeof lines[0]; l++) {
        char line[128];
        snprintf(line, sizeof line, "n=5 d=4 %s", lines[l]);
        attest_case c = case_of(line);
        const uint64_t hash = hash_of(&c, 0);
        strcpy(c.family, "normal");
        ck_assert_msg(hash_of(&c, 0) == hash, "%s", line);
    }
}
END_TEST

/* ---- cast-edge ------------------------------------------------------------------------------------------- */

/* Each weight that is not 1 is 1/2 (1 + f u'), u' = 2^-(bits-1); libm's exp here is good to 2^-52. */
static void check_edges(const char *line, int bits, double tolerance)
{
    const attest_case c = case_of(line);
    attest_bundle *bundle = draw_case(&c, 0, 0);
    double lowest = 1, highest = 0;
    for (int64_t i = 0; i < c.problem.n; i++) {
        double f = -1;
        for (int64_t j = 0; j < c.problem.m; j++) {
            const double s = score(bundle, &c.problem, i, j);
            ck_assert_msg((j % 64 == 0) == (s == 0), "%s: score %g of key %lld", line, s, (long long)j);
            ck_assert(at(attest_bundle_role(bundle, ATTEST_V), 0, 0, j, 0) == 1.625);
            if (s != 0)
                f = (2 * exp(s) - 1) * ldexp(1, bits - 1);
        }
        const double edge = i % 8 == 3 ? 0.5 + 0x1p-12 : i % 8 == 7 ? 1 - 0x1p-12 : -1;
        ck_assert_msg(f > 0 && f < 1, "%s: row %lld: f = %.17g", line, (long long)i, f);
        ck_assert_msg(edge < 0 || fabs(f - edge) < tolerance, "%s: row %lld: f = %.17g", line, (long long)i, f);
        lowest = f < lowest ? f : lowest;
        highest = f > highest && edge < 0 ? f : highest;
    }
    ck_assert_msg(lowest < 0.2 && highest > 0.8, "%s: f from %g to %g", line, lowest, highest);
    attest_bundle_free(bundle);
}

/* Of family edges every third length is a multiple of 8, 16, .. 128; all, one and no keys, and the neighbours of those,
 * come too; none is outside 0..m, however few keys there are. */
START_TEST(lengths_at_edges)
{
    attest_bundle *bundle = draw("lens=draw b=900 m=200 n=1 d=1 family=edges");
    int of64 = 0, whole = 0, beside = 0, ends = 0;
    for (int64_t b = 0; b < 900; b++) {
        const int64_t len = attest_load_int(attest_bundle_role(bundle, ATTEST_KV_LENS), b);
        ck_assert(len >= 0 && len <= 200);
        of64 += len > 0 && len % 64 == 0;
        whole += len > 0 && len % 8 == 0;
        beside += len % 8 == 1 || len % 8 == 7;
        ends += len == 0 || len == 1 || len == 199 || len == 200;
    }
    ck_assert_int_gt(of64, 100);
    ck_assert_int_ge(whole, 300);
    ck_assert_int_gt(beside, 150);
    ck_assert_int_ge(ends, 400); /* four laws of nine */
    attest_bundle_free(bundle);
    for (int m = 1; m < 8; m++) {
        char line[80];
        snprintf(line, sizeof line, "lens=draw b=20 m=%d n=1 d=1 family=edges", m);
        bundle = draw(line);
        for (int64_t b = 0; b < 20; b++) {
            const int64_t len = attest_load_int(attest_bundle_role(bundle, ATTEST_KV_LENS), b);
            ck_assert(len >= 0 && len <= m);
        }
        attest_bundle_free(bundle);
    }
}
END_TEST

START_TEST(edges_of_the_cast)
{
    check_edges("n=32 m=70 d=16 in=bf16 p=bf16 family=cast-edge", 8, 0x1p-18);
    check_edges("n=32 m=70 d=16 p=bf16 family=cast-edge", 8, 0x1p-18);
    check_edges("n=32 m=70 d=3 in=bf16 p=bf16 scale=-0.3 family=cast-edge", 8, 0x1p-15);
    check_edges("n=32 m=70 d=64 in=f16 p=f16 family=cast-edge", 11, 0x1p-18);
    check_edges("n=32 m=70 d=2 in=f32 family=cast-edge", 24, 0x1p-18);
    check_edges("n=32 m=70 d=5 in=f64 p=bf16 family=cast-edge", 8, 0x1p-18);
    attest_bundle *one = draw("n=5 m=5 d=1 in=bf16 p=bf16 scale=1 family=cast-edge"); /* the first part alone */
    ck_assert(at(attest_bundle_role(one, ATTEST_Q), 0, 0, 3, 0) == -0x1.6p-1);
    attest_bundle_free(one);
}
END_TEST

/* ---- distributions of other projects' tests
 * ------------------------------------------------------------------------- */

/* Every value inside and on the grid, its mean and mean square those of the uniform distribution, to 5 deviations. */
static void check_uniform(const attest_tensor *t, double least, double most, double step)
{
    const int64_t count = attest_tensor_count(t);
    const double levels = (most - least) / step + 1, mean = (least + most) / 2;
    const double variance = step * step * (levels * levels - 1) / 12;
    double sum = 0, squares = 0;
    int64_t lowest = 0, highest = 0;
    for (int64_t i = 0; i < count; i++) {
        const double x = attest_load(t, i);
        ck_assert_msg(x >= least && x <= most && (x - least) / step == floor((x - least) / step), "%g", x);
        sum += x - mean;
        squares += (x - mean) * (x - mean);
        lowest += x < least + (most - least) / 16;
        highest += x > most - (most - least) / 16;
    }
    ck_assert_msg(fabs(sum / (double)count) < 5 * sqrt(variance / (double)count), "mean %g", sum / (double)count);
    ck_assert_msg(fabs(squares / (double)count / variance - 1) < 5 / sqrt((double)count), "variance");
    ck_assert(lowest > count / 32 && highest > count / 32);
}

START_TEST(of_other_projects)
{
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    attest_bundle *positive = draw("n=500 d=16 in=f64 family=positive");
    attest_bundle *integers = draw("n=500 d=16 in=f16 family=integers");
    for (int r = 0; r < 3; r++) {
        const double most = roles[r] == ATTEST_Q ? 4 : 2;
        check_uniform(attest_bundle_role(positive, roles[r]), 0, 1 - 0x1p-32, 0x1p-32);
        check_uniform(attest_bundle_role(integers, roles[r]), -most, most, 1);
    }
    attest_bundle_free(positive);
    attest_bundle_free(integers);
}
END_TEST

/* ---- frozen ------------------------------------------------------------------------------------------------ */

static const frozen_draw frozen[] = {
    { "n=300 d=9 family=peaked", 0xbfccb7f99205496eu },
    { "n=300 d=5 family=ramp-down", 0x7294d237f0a8b118u },
    { "n=8 d=5 in=bf16 family=cancel", 0x1c5cb70f7de23426u },
    { "n=8 d=5 e=3 in=f16 family=onehot", 0x0d26cd09c1f0f8adu },
    { "n=40 d=5 family=repeat-max", 0x4951b493b4619cfbu },
    { "n=8 d=5 in=bf16 family=subnormal", 0x72affa1ad7791760u },
    { "n=8 d=5 variant=taylor:3 family=near-zero-denominator", 0x061749eccacf9ae6u },
    { "n=8 d=5 variant=linear in=f16 family=near-zero-denominator", 0xfc575399fcd46a16u },
    { "n=70 d=5 in=bf16 p=bf16 family=cast-edge", 0xcdeab9e840eb0f2cu },
    { "n=70 d=5 in=f64 family=cast-edge", 0xe2dee0ead39d922eu },
    { "n=8 d=5 in=bf16 family=positive", 0xc98c149a03b1af28u },
    { "n=8 d=5 in=f16 family=integers", 0x70e6b9223113d73fu },
};

START_TEST(more_is_frozen) { check_frozen(frozen, sizeof frozen / sizeof frozen[0]); }
END_TEST

/* Of keep: the share of zeros is the rate, but for rows that keep all or drop all, one of 16 each. */
START_TEST(kept_weights)
{
    static const double rates[] = { 0.1, 0.5, 0.9 };
    for (size_t k = 0; k < sizeof rates / sizeof rates[0]; k++) {
        char line[64];
        int64_t all = 0, none = 0, zeros = 0, drawn = 0;
        snprintf(line, sizeof line, "dropout=%g b=2 hq=4 n=64 m=80 d=1", rates[k]);
        const attest_case c = case_of(line);
        attest_bundle *bundle = draw_case(&c, 0, 0);
        const attest_tensor *t = attest_bundle_role(bundle, ATTEST_KEEP);
        for (int64_t row = 0; row < 2 * 4 * 64; row++) {
            int64_t kept = 0;
            for (int64_t j = 0; j < 80; j++) {
                ck_assert(attest_load_int(t, row * 80 + j) == 0 || attest_load_int(t, row * 80 + j) == 1);
                kept += attest_load_int(t, row * 80 + j);
            }
            all += kept == 80;
            none += kept == 0;
            zeros += kept % 80 ? 80 - kept : 0;
            drawn += kept % 80 ? 80 : 0;
        }
        ck_assert_msg(all >= 32 && all <= 40 && none >= 32 && none <= 40, "%s: %d all, %d none", line, (int)all,
                      (int)none);
        ck_assert_msg(fabs((double)zeros / (double)drawn - rates[k]) < 0.01, "%s: %d of %d", line, (int)zeros,
                      (int)drawn);
        attest_bundle_free(bundle);
    }
}
END_TEST

Suite *suite_family_more(void)
{
    Suite *suite = suite_create("family_more");
    TCase *tcase = tcase_create("family_more");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, peaked);
    tcase_add_test(tcase, ramp_down_falls);
    tcase_add_test(tcase, cancel_and_repeat);
    tcase_add_test(tcase, onehot);
    tcase_add_test(tcase, subnormal);
    tcase_add_test(tcase, denominator_vanishes);
    tcase_add_test(tcase, falls_back);
    tcase_add_test(tcase, edges_of_the_cast);
    tcase_add_test(tcase, lengths_at_edges);
    tcase_add_test(tcase, of_other_projects);
    tcase_add_test(tcase, more_is_frozen);
    tcase_add_test(tcase, kept_weights);
    suite_add_tcase(suite, tcase);
    return suite;
}
