/* test_truth_dd.c - the truth by the dd engine: --engine dd, and rounded tensors that ask it first. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/draw/draw.h"
#include "reference/truth/truth.h"

Suite *suite_truth_dd(void);

#define ID(role) ((attest_tensor_id){ ATTEST_KIND_ROLE, role })

typedef struct scene {
    attest_case c;
    attest_bundle *in;
    attest_truth *dd, *ball, *both; /* both: engine auto */
    attest_error err;
} scene;

static void must(scene *s, attest_status status, const char *line)
{
    ck_assert_msg(status == ATTEST_OK, "%s: %s", line, s->err.text);
}

static void start(scene *s, const char *line)
{
    memset(s, 0, sizeof *s);
    must(s, attest_case_parse(&s->c, line, NULL, NULL, &s->err), line);
    must(s, attest_bundle_new(&s->in, &s->err), line);
    must(s, attest_draw_missing(s->in, &s->c, 0, 0, &s->err), line);
    must(s, attest_truth_new(&s->dd, &s->c.problem, s->in, ATTEST_ENGINE_DD, &s->err), line);
    must(s, attest_truth_new(&s->ball, &s->c.problem, s->in, ATTEST_ENGINE_BALL, &s->err), line);
    must(s, attest_truth_new(&s->both, &s->c.problem, s->in, ATTEST_ENGINE_AUTO, &s->err), line);
}

static void stop(scene *s)
{
    attest_truth_free(s->dd);
    attest_truth_free(s->ball);
    attest_truth_free(s->both);
    attest_bundle_free(s->in);
}

static const char *const lines[] = {
    "variant=softmax mask=causal n=9 d=16 e=5 hq=4 hkv=2 b=2",
    "variant=softmax n=5 m=40 d=7 e=3 lens=draw b=3 in=bf16 out=bf16",
    "variant=softmax n=6 d=4 family=flat out=f16", /* ties and small multiples */
    "variant=softmax n=6 d=4 family=huge",         /* past the range of exp */
    "variant=taylor:3 n=8 d=3 in=f16 out=f16",
    "variant=shifted:2 n=8 d=3",
    "variant=quadratic mask=causal n=7 d=5 window=3",
    "variant=softmax n=4 m=4 d=3 mask=causal-br lens=draw b=4", /* rows without keys */
    "variant=divlen n=6 d=8 acc=f64 out=f64",
};
#define LINES ((int)(sizeof lines / sizeof lines[0]))

/* Every printed element holds the ball engine's, at twice the digits. */
static void check_printed(scene *s, uint32_t role, const char *line)
{
    attest_decimals fast, sure;
    must(s, attest_truth_decimals(&fast, s->dd, ID(role), 30, 0, &s->err), line);
    must(s, attest_truth_decimals(&sure, s->ball, ID(role), 50, 0, &s->err), line);
    ck_assert_msg(fast.engine == ATTEST_ENGINE_DD || strstr(line, "huge"), "%s: %s", line,
                  attest_engine_name(fast.engine));
    ck_assert_msg(fast.engine != ATTEST_ENGINE_DD || fast.bits == 106, "%s: %ld bits", line, fast.bits);
    ck_assert(!fast.exact && fast.count == sure.count);
    for (int64_t n = 0; n < fast.count; n++) {
        arb_t x, y;
        ck_assert_msg(!fast.mid[n] == !sure.mid[n], "%s: element %d", line, (int)n);
        if (!fast.mid[n] || strcmp(sure.mid[n], "-inf") == 0) {
            ck_assert(!fast.mid[n] || strcmp(fast.mid[n], "-inf") == 0);
            continue;
        }
        char text[512];
        arb_init(x);
        arb_init(y);
        snprintf(text, sizeof text, "%s +/- %s", fast.mid[n], fast.rad[n]);
        arb_set_str(x, text, 400);
        snprintf(text, sizeof text, "%s +/- %s", sure.mid[n], sure.rad[n]);
        arb_set_str(y, text, 400);
        ck_assert_msg(arb_overlaps(x, y), "%s: element %d: %s +- %s, truth %s", line, (int)n, fast.mid[n], fast.rad[n],
                      sure.mid[n]);
        ck_assert_msg(mag_cmp_2exp_si(arb_radref(x), -40) < 0, "%s: element %d: rad %s", line, (int)n, fast.rad[n]);
        arb_clear(x);
        arb_clear(y);
    }
    attest_decimals_free(&fast);
    attest_decimals_free(&sure);
}

START_TEST(printed)
{
    scene s;
    char why[160];
    start(&s, lines[_i]);
    check_printed(&s, ATTEST_O, lines[_i]);
    if (attest_problem_has(&s.c.problem, ID(ATTEST_LSE), why, sizeof why))
        check_printed(&s, ATTEST_LSE, lines[_i]);
    stop(&s);
}
END_TEST

/* The same correctly rounded bits whether the dd engine is asked first or not. */
START_TEST(rounded)
{
    static const uint32_t dtypes[] = { ATTEST_F32, ATTEST_F64, ATTEST_F16, ATTEST_BF16 };
    scene s;
    start(&s, lines[_i]);
    for (int k = 0; k < 4; k++) {
        attest_tensor got[3];
        attest_rounding_counts counts[3] = { { 0 } };
        attest_truth *truth[] = { s.ball, s.both, s.dd };
        for (int t = 0; t < 3; t++)
            must(&s, attest_truth_rounded(&got[t], truth[t], ID(ATTEST_O), dtypes[k], &counts[t], &s.err), lines[_i]);
        for (int t = 1; t < 3; t++) {
            ck_assert_msg(memcmp(got[0].data, got[t].data, attest_tensor_bytes(&got[0])) == 0, "%s: %s differs",
                          lines[_i], attest_dtype_name(dtypes[k]));
            ck_assert_int_eq(counts[t].by_enclosure + counts[t].by_tie, attest_tensor_count(&got[0]));
        }
        for (int t = 0; t < 3; t++)
            free(got[t].data);
    }
    stop(&s);
}
END_TEST

/* Rows that the engine does not know: a key that is not finite has no truth; u, z and states come from balls. */
START_TEST(what_it_leaves)
{
    scene s;
    attest_decimals d;
    start(&s, "variant=softmax mask=causal n=6 d=4");
    const attest_tensor *k = attest_bundle_role(s.in, ATTEST_K);
    attest_store_bits(k, attest_offset(k, 0, 0, 3, 1), attest_from_f64(ATTEST_F32, NAN));
    must(&s, attest_truth_decimals(&d, s.dd, ID(ATTEST_O), 20, 0, &s.err), "a NaN");
    for (int64_t n = 0; n < d.count; n++)
        ck_assert_msg((d.mid[n] != NULL) == (n < 3 * 4), "element %d", (int)n);
    ck_assert_int_eq(d.engine, ATTEST_ENGINE_MIXED);
    attest_decimals_free(&d);
    must(&s, attest_truth_decimals(&d, s.dd, ID(ATTEST_Z), 20, 0, &s.err), "z");
    ck_assert_int_eq(d.engine, ATTEST_ENGINE_BALL);
    attest_decimals_free(&d);
    ck_assert_int_eq(attest_truth_decimals(&d, s.dd, ID(ATTEST_O), 20, 128, &s.err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(s.err.text, "106 bits"), "%s", s.err.text);
    stop(&s);
    static const char *const refused[][2] = { { "variant=gla n=2 d=2", "decay" }, { "n=2 d=2 in=f64", "f64" } };
    for (int n = 0; n < 2; n++) {
        attest_truth *none;
        memset(&s, 0, sizeof s);
        must(&s, attest_case_parse(&s.c, refused[n][0], NULL, NULL, &s.err), refused[n][0]);
        must(&s, attest_bundle_new(&s.in, &s.err), refused[n][0]);
        must(&s, attest_draw_missing(s.in, &s.c, 0, 0, &s.err), refused[n][0]);
        ck_assert_int_eq(attest_truth_new(&none, &s.c.problem, s.in, ATTEST_ENGINE_DD, &s.err), ATTEST_BAD_INPUT);
        ck_assert_msg(!none && strstr(s.err.text, refused[n][1]), "%s", s.err.text);
        attest_bundle_free(s.in);
    }
}
END_TEST

Suite *suite_truth_dd(void)
{
    Suite *s = suite_create("truth_dd");
    TCase *t = tcase_create("truth_dd");
    tcase_add_loop_test(t, printed, 0, LINES);
    tcase_add_loop_test(t, rounded, 0, LINES);
    tcase_add_test(t, what_it_leaves);
    suite_add_tcase(s, t);
    return s;
}
