/* test_enclose.c - the dd engine against the certificate harness's own truth: a slice of `make certify`, every family,
 * and what the engine says about its options. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "reference/dd/dd_driver.h"
#include "reference/engine/flint_headers.h"
#include "tests/certify/certify.h"

Suite *suite_dd_engine(void);

/* Every family: enclosures hold the truth, and decided roundings are the same on all paths. */
START_TEST(test_families)
{
    certify_totals sum = { 0 };
    int shown = 0;
    for (int n = 0; n < certify_law_count; n++) {
        const certify_law *law = &certify_laws[n];
        certify_totals t = { 0 };
        for (int number = 0; law->kind != CERTIFY_LONG && t.outputs < (law->fill ? 1500 : 500); number++) {
            certify_case c;
            attest_error err;
            char reproduce[96];
            snprintf(reproduce, sizeof reproduce, "certify --family %s --seed 1 --case %d", law->name, number);
            ck_assert_msg(certify_draw(&c, law, 1, number, &err) == ATTEST_OK, "%s: %s", reproduce, err.text);
            ck_assert_msg(certify_check(&t, &c, 0, reproduce, &shown), "%s fails", reproduce);
            certify_clear(&c);
        }
        ck_assert_msg(t.violations == 0 && t.differ == 0, "%s: %lld of %lld outside the bound, %lld differ", law->name,
                      (long long)t.violations, (long long)t.outputs, (long long)t.differ);
        sum.outputs += t.outputs;
        sum.unknown += t.unknown;
    }
    ck_assert_msg(sum.outputs >= 20000, "only %lld outputs", (long long)sum.outputs);
    ck_assert_msg(sum.unknown * 2 < sum.outputs, "%lld of %lld unknown", (long long)sum.unknown,
                  (long long)sum.outputs);
}
END_TEST

static void check_line(certify_totals *t, const char *line, const char *law, int forced)
{
    certify_case c;
    attest_error err;
    int shown = 1000; /* silent */
    ck_assert_msg(certify_draw_line(&c, line, certify_law_of(law), &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(certify_check(t, &c, forced, line, &shown), "%s fails", line);
    certify_clear(&c);
}

/* Each line was once wrong, or reaches one condition of the driver. */
static const struct {
    const char *line, *law;
    int unknown; /* most rows may be unknown */
} lines[] = {
    { "variant=softmax n=9 d=64 scale=1e20", NULL, 1 }, /* the second part of a huge score */
    { "variant=softmax n=9 d=64 scale=3e16", NULL, 1 },
    { "variant=softmax n=40 m=200 d=16 scale=1e15", "overflow", 1 },
    { "variant=taylor:1 center=max clamp=0.5 n=24 d=16", NULL, 0 }, /* the clamp comes before the center */
    { "variant=taylor:2 center=mid clamp=-0.5 n=24 d=16", NULL, 0 },
    { "variant=taylor:2 center=mid clamp=-9 n=24 d=16", NULL, 0 },
    { "variant=taylor:0 center=max in=f32 n=24 d=16", "dot-cancels", 0 }, /* lse has the center's own error */
    { "variant=taylor:2 center=min eps=1 n=17 m=40 d=80 e=17", NULL, 0 }, /* lse: without eps */
    { "variant=softmax eps=3 n=10 d=33", NULL, 0 },
    { "variant=softmax n=30 d=16 in=f32", "dot-cancels", 1 }, /* errors of scores */
    { "variant=linear n=30 d=16 in=f32", "dot-cancels", 0 },
    { "variant=term:2 n=12 d=17 in=f32", "wide", 1 },
    { "variant=softmax norm=length mask=causal window=5 n=33 d=5 e=130", NULL, 0 },
    { "variant=softmax norm=none n=20 m=70 d=3", NULL, 0 },
    { "variant=linear-relu n=40 d=17", NULL, 0 },
    { "variant=softmax in=bf16 mask=causal n=70 d=64", NULL, 0 }, /* the cheap tier */
    { "variant=softmax in=bf16 mask=causal n=70 d=64 family=negative", NULL, 0 },
    { "variant=softmax in=bf16 mask=causal n=70 d=17", "tier-edge", 0 },
    { "variant=softmax in=f16 lens=draw b=3 mask=causal-br hkv=2 hq=4 n=9 m=40 d=16", NULL, 0 },
    { "variant=softmax n=3 m=1500 d=130 e=1", NULL, 0 }, /* sums folded many times */
    { "variant=softmax n=2 d=2 eps=1e300", NULL, 1 },    /* o in underflow */
    { "weight=power:6 norm=sum n=4 d=2 scale=1e-19 eps=1e190", NULL, 1 },
    { "weight=term:5 norm=sum n=4 d=2 scale=1e-20 eps=1e200", NULL, 1 },
    { "variant=softmax n=12 d=8 eps=1e-3 clamp=-301 scale=1e-3", NULL, 1 },    /* eps beside a shift */
    { "variant=softmax n=20 d=8 scale=1048576 family=normal:0.001", NULL, 1 }, /* a power of two goes into q */
    { "variant=taylor:3 n=20 d=8 scale=1048576 family=normal:0.001 in=bf16", NULL, 1 },
    { "weight=power:1 norm=sum scale=9.313225746154785e-10 in=bf16 n=70 d=17", "tier-edge", 0 },
};

START_TEST(test_lines)
{
    for (size_t n = 0; n < sizeof lines / sizeof lines[0]; n++) {
        certify_totals t = { 0 };
        check_line(&t, lines[n].line, lines[n].law, 0);
        ck_assert_msg(t.violations == 0 && t.differ == 0 && (lines[n].unknown || t.unknown * 2 < t.outputs),
                      "%s: %lld outside the bound, %lld differ, %lld unknown", lines[n].line, (long long)t.violations,
                      (long long)t.differ, (long long)t.unknown);
    }
}
END_TEST

/* Scores a (1 + j 2^-59) scale around a double's half ulps, clamped at the double next above fl(a scale): what a score
 * is in its second part decides. */
START_TEST(test_half_ulps)
{
    for (int t = 1; t <= 16; t++) {
        const double a = 1 + t * 0x1p-20, clamp = nextafter(a * 1.97, 2);
        certify_totals totals = { 0 };
        certify_case c;
        attest_error err;
        char line[160], number[40];
        int shown = 1000;
        attest_double_text(number, sizeof number, clamp);
        snprintf(line, sizeof line, "variant=%s mask=full n=1 m=64 d=2 e=3 scale=1.97%s%s",
                 t % 2 ? "softmax" : "taylor:2 center=max", t % 2 ? " clamp=" : "", t % 2 ? number : "");
        ck_assert_msg(certify_draw_line(&c, line, NULL, &err) == ATTEST_OK, "%s", err.text);
        certify_put(attest_bundle_role(c.in, ATTEST_Q), 0, 0, 0, 0, a);
        certify_put(attest_bundle_role(c.in, ATTEST_Q), 0, 0, 0, 1, 0x1p-40);
        for (int64_t j = 0; j < 64; j++) {
            certify_put(attest_bundle_role(c.in, ATTEST_K), 0, 0, j, 0, 1);
            certify_put(attest_bundle_role(c.in, ATTEST_K), 0, 0, j, 1, (double)((j * 37) % 128) * 0x1p-19);
        }
        ck_assert(certify_check(&totals, &c, 0, line, &shown));
        ck_assert_msg(totals.violations == 0 && totals.unknown == 0, "%s: %lld outside the bound", line,
                      (long long)totals.violations);
        certify_clear(&c);
    }
}
END_TEST

/* N(0,1): every f32 rounding decided, every ulp error known to 2^-20. */
START_TEST(test_normal)
{
    static const char *const types[] = { "f32", "bf16" };
    for (size_t n = 0; n < 2; n++) {
        char line[96];
        certify_totals t = { 0 };
        snprintf(line, sizeof line, "variant=softmax mask=causal n=128 d=64 in=%s", types[n]);
        check_line(&t, line, NULL, 0);
        ck_assert_msg(t.violations == 0 && t.undecided == 0 && t.loose == 0 && t.unknown == 0, "%s: %lld undecided",
                      line, (long long)t.undecided);
    }
}
END_TEST

/* The control: cheap tiers whose condition is not proved give wrong bounds on every path, and the harness sees it. */
START_TEST(test_forced)
{
    certify_totals t = { 0 };
    check_line(&t, "variant=softmax mask=causal n=64 d=64 in=f32", NULL, 1);
    ck_assert_msg(t.violations > 0, "forced tiers pass unnoticed");
    memset(&t, 0, sizeof t);
    check_line(&t, "variant=softmax mask=causal n=64 d=64 in=bf16", NULL, 0);
    ck_assert_msg(t.violations == 0, "bf16: %lld outside the bound", (long long)t.violations);
}
END_TEST

/* A row reads a non-finite number or not; what it does not read changes no bit. */
START_TEST(test_not_finite)
{
    static const double what[] = { NAN, INFINITY, -INFINITY };
    const attest_enclose_options options = { .threads = 1 };
    for (int n = 0; n < 12; n++) {
        attest_error err;
        certify_case c;
        attest_enclosures clean = { 0 }, poked = { 0 };
        const attest_role role = n % 4 == 0 ? ATTEST_Q : n % 4 == 3 ? ATTEST_V : ATTEST_K;
        ck_assert(certify_draw_line(&c,
                                    n % 4 == 2 ? "variant=linear-relu mask=causal n=20 d=8"
                                               : "variant=softmax mask=causal n=20 d=8",
                                    NULL, &err) == ATTEST_OK);
        const attest_problem *p = &c.about.problem;
        attest_tensor *t = attest_bundle_role(c.in, role);
        ck_assert(attest_enclose(&clean, NULL, p, c.in, &options, &err) == ATTEST_OK);
        attest_store_bits(t, attest_offset(t, 0, 0, 7, 3), attest_from_f64(t->dtype, what[n / 4]));
        ck_assert(attest_enclose(&poked, NULL, p, c.in, &options, &err) == ATTEST_OK);
        for (int64_t i = 0; i < 20; i++) {
            const int reads = role == ATTEST_Q ? i == 7 : i >= 7;
            for (int64_t k = i * 8; k < (i + 1) * 8; k++)
                ck_assert_msg(reads ? isinf(poked.bound[k])
                                    : poked.bound[k] < INFINITY &&
                                          fabs(poked.hi[k] - clean.hi[k]) <=
                                              clean.bound[k] + poked.bound[k] + fabs(clean.hi[k]) * 0x1p-52,
                              "case %d row %d", n, (int)i);
        }
        attest_enclosures_free(&clean);
        attest_enclosures_free(&poked);
        certify_clear(&c);
    }
}
END_TEST

/* What is not served is refused with a reason; buffers are used again; NULL options are the defaults. */
START_TEST(test_door)
{
    attest_error err;
    attest_enclosures o = { 0 };
    certify_case c;
    char why[160];
    const attest_enclose_options missing = { .path = "abacus" };
    ck_assert(certify_draw_line(&c, "variant=softmax cap=5 n=4 d=4", NULL, &err) == ATTEST_OK);
    ck_assert(!attest_enclose_serves(&c.about.problem, why, sizeof why) && strstr(why, "cap"));
    ck_assert(attest_enclose(&o, NULL, &c.about.problem, c.in, NULL, &err) == ATTEST_UNSUPPORTED && o.hi == NULL);
    certify_clear(&c);
    ck_assert(certify_draw_line(&c, "variant=softmax n=4 d=4", NULL, &err) == ATTEST_OK);
    ck_assert(attest_enclose(&o, NULL, &c.about.problem, c.in, &missing, &err) == ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "portable") != NULL, "%s", err.text);
    ck_assert(attest_enclose(&o, NULL, &c.about.problem, c.in, NULL, &err) == ATTEST_OK && o.count == 16);
    const double *before = o.hi;
    ck_assert(attest_enclose(&o, NULL, &c.about.problem, c.in, NULL, &err) == ATTEST_OK && o.hi == before);
    attest_enclosures_free(&o);
    ck_assert(o.hi == NULL && o.count == 0);
    certify_clear(&c);
    ck_assert(attest_enclose_path(0) != NULL && attest_enclose_path(3) == NULL);
}
END_TEST

/* The same numbers in the order channel, token, head, batch: the same bits; so on seven threads. */
START_TEST(test_layout)
{
    static const char *const types[] = { "f32", "bf16", "f16" };
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    for (int n = 0; n < 3; n++) {
        const attest_enclose_options options = { .threads = 1 }, many = { .threads = 7 };
        attest_enclosures plain = { 0 }, turned = { 0 };
        attest_error err;
        certify_case c;
        char line[96];
        snprintf(line, sizeof line, "variant=softmax b=2 hq=4 hkv=2 n=9 m=21 d=5 e=18 in=%s", types[n]);
        ck_assert(certify_draw_line(&c, line, NULL, &err) == ATTEST_OK);
        ck_assert(attest_enclose(&plain, NULL, &c.about.problem, c.in, &options, &err) == ATTEST_OK);
        for (int k = 0; k < 3; k++) {
            const attest_tensor_id id = { ATTEST_KIND_ROLE, (uint32_t)roles[k] };
            const attest_tensor *from = attest_bundle_get(c.in, id);
            attest_tensor to = *from;
            to.data = malloc(attest_tensor_bytes(from));
            ck_assert(to.data != NULL);
            for (int axis = 0, stride = 1; axis < 4; stride *= (int)to.shape[axis++])
                to.stride[axis] = stride;
            for (int64_t at = 0; at < attest_tensor_count(from); at++) {
                const int64_t x = at % to.shape[3], i = at / to.shape[3] % to.shape[2],
                              head = at / to.shape[3] / to.shape[2];
                const int64_t b = head / to.shape[1], h = head % to.shape[1];
                attest_store_bits(&to, attest_offset(&to, b, h, i, x),
                                  attest_load_bits(from, attest_offset(from, b, h, i, x)));
            }
            ck_assert(attest_bundle_adopt(c.in, id, &to, &err) == ATTEST_OK);
        }
        ck_assert(attest_enclose(&turned, NULL, &c.about.problem, c.in, &many, &err) == ATTEST_OK);
        const size_t bytes = (size_t)plain.count * sizeof(double);
        ck_assert_msg(memcmp(plain.hi, turned.hi, bytes) == 0 && memcmp(plain.lo, turned.lo, bytes) == 0 &&
                          memcmp(plain.bound, turned.bound, bytes) == 0,
                      "%s", line);
        attest_enclosures_free(&plain);
        attest_enclosures_free(&turned);
        certify_clear(&c);
    }
}
END_TEST

/* Rounding: against exact ends, on both sides of boundaries. */
START_TEST(test_round)
{
    static const struct {
        double hi, lo, bound;
        uint32_t dtype;
        int decided;
        uint64_t bits;
    } cases[] = {
        { 1, 0, 0x1p-60, ATTEST_F32, 1, 0x3f800000 },
        { 1 + 0x1p-24, 0, 0x1p-60, ATTEST_F32, 0, 0 }, /* a midpoint */
        { 1 + 0x1p-24, 0x1p-58, 0x1p-60, ATTEST_F32, 1, 0x3f800001 },
        { 1 + 0x1p-24, -0x1p-58, 0x1p-60, ATTEST_F32, 1, 0x3f800000 },
        { 1 + 0x1p-24, 0x1p-61, 0x1p-60, ATTEST_F32, 0, 0 },
        { 1 + 0x1p-24, 0, 0, ATTEST_F32, 1, 0x3f800000 },             /* exact: to even */
        { 1 - 0x1p-25, 0x1p-80, 0x1p-82, ATTEST_F32, 1, 0x3f800000 }, /* below a power of two */
        { 1 - 0x1p-25, -0x1p-80, 0x1p-82, ATTEST_F32, 1, 0x3f7fffff },
        { 0x1p-150, 0x1p-220, 0x1p-222, ATTEST_F32, 1, 1 }, /* half the least subnormal */
        { 0x1p-150, -0x1p-220, 0x1p-222, ATTEST_F32, 1, 0 },
        { 0x1.ffffffp127, 0x1p60, 0x1p58, ATTEST_F32, 1, 0x7f800000 }, /* overflow begins */
        { 0x1.ffffffp127, -0x1p60, 0x1p58, ATTEST_F32, 1, 0x7f7fffff },
        { 1, 0, 2, ATTEST_F32, 0, 0 },
        { 1, 0, INFINITY, ATTEST_F32, 0, 0 },
        { -1 - 0x1p-8, -0x1p-62, 0x1p-66, ATTEST_BF16, 1, 0xbf81 },
        { -1 - 0x1p-8, 0x1p-62, 0x1p-66, ATTEST_BF16, 1, 0xbf80 },
        { 65520, -0x1p-40, 0x1p-44, ATTEST_F16, 1, 0x7bff },
        { 65520, 0x1p-40, 0x1p-44, ATTEST_F16, 1, 0x7c00 },
        { 3, 0x1p-90, 0x1p-80, ATTEST_F64, 1, 0x4008000000000000 },
        { 3, 0x1p-52, 0x1p-80, ATTEST_F64, 0, 0 },
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        double hi = cases[n].hi, lo = cases[n].lo, bound = cases[n].bound;
        const attest_enclosures e = { 1, &hi, &lo, &bound };
        uint64_t bits = 0;
        const int decided = attest_enclosure_round(&bits, &e, 0, cases[n].dtype);
        ck_assert_msg(decided == cases[n].decided && (!decided || bits == cases[n].bits), "case %zu: %d, %llx", n,
                      decided, (unsigned long long)bits);
    }
}
END_TEST

Suite *suite_dd_engine(void)
{
    Suite *s = suite_create("enclose");
    TCase *t = tcase_create("enclose");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, NULL, flint_cleanup);
    tcase_add_test(t, test_families);
    tcase_add_test(t, test_lines);
    tcase_add_test(t, test_half_ulps);
    tcase_add_test(t, test_normal);
    tcase_add_test(t, test_forced);
    tcase_add_test(t, test_not_finite);
    tcase_add_test(t, test_door);
    tcase_add_test(t, test_layout);
    tcase_add_test(t, test_round);
    suite_add_tcase(s, t);
    return s;
}
