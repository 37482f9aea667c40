/* Covering arrays: every pair that can meet does, by conditions written down here and lines drawn elsewhere. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "props/cover/factors.h"
#include "props/generate/generate_draw.h"

Suite *suite_cover(void);

/* ---- a kernel: no window, no state, exponentials only, d below 40 ----------------------------------------------- */

static int serve(void *context, const attest_problem *p)
{
    (void)context;
    return p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_EXP && p->axis[ATTEST_AXIS_WINDOW].value == 0 &&
           p->axis[ATTEST_AXIS_STATE].value == 0 && p->axis[ATTEST_AXIS_UPDATE].value == 0 && p->d < 40;
}

/* Serves less: the default norm, no lengths. */
static int serve_less(void *context, const attest_problem *p)
{
    return serve(context, p) && p->axis[ATTEST_AXIS_NORM].value == 0 && p->axis[ATTEST_AXIS_LENS].value == 0;
}

static attest_cover_kernel kernel_of(int (*supports)(void *, const attest_problem *), uint32_t form)
{
    return (attest_cover_kernel){ { .form = form, .outputs = ATTEST_GIVES_O, .numerics = { .tile = 32 } },
                                  { .supports = supports },
                                  NULL };
}

/* ---- conditions, said once more --------------------------------------------------------------------------------- */

static int is_causal(const attest_case *c) { return c->problem.axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL; }
static int has_lens(const attest_case *c) { return c->problem.axis[ATTEST_AXIS_LENS].value == ATTEST_LENS_DRAW; }
static int is_l2(const attest_case *c) { return c->problem.axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_L2; }
static int is_biased(const attest_case *c) { return c->problem.axis[ATTEST_AXIS_ALIBI].value == ATTEST_ALIBI_DRAW; }
static int is_capped(const attest_case *c) { return c->problem.axis[ATTEST_AXIS_CAP].value == ATTEST_CAP_SET; }
static int is_one_query(const attest_case *c) { return c->problem.n == 1; }
static int is_tile_edge(const attest_case *c) { return c->problem.m >= 31 && c->problem.m <= 33; }
static int is_long(const attest_case *c) { return c->problem.m >= 66; }
static int is_one_wide(const attest_case *c) { return c->problem.d == 1; }
static int is_wide(const attest_case *c) { return c->problem.e >= 66; }
static int is_shared(const attest_case *c) { return c->problem.hq >= 3 * c->problem.hkv; }
static int is_bf16(const attest_case *c) { return c->problem.p == ATTEST_BF16 && c->problem.out == ATTEST_BF16; }
static int is_negative(const attest_case *c) { return c->problem.scale < 0; }
static int is_huge(const attest_case *c) { return strcmp(c->family, "huge") == 0; }
static int is_edges(const attest_case *c) { return strcmp(c->family, "edges") == 0; }

static int (*const conditions[])(const attest_case *) = {
    is_causal,   has_lens, is_l2,     is_biased, is_capped,   is_one_query, is_tile_edge, is_long,
    is_one_wide, is_wide,  is_shared, is_bf16,   is_negative, is_huge,      is_edges,
};
enum { OWN = sizeof conditions / sizeof conditions[0], VALUES = 12, LINES = 4000 };
enum { CONDITIONS = OWN + ATTEST_AXIS_COUNT * VALUES }; /* and every value of every axis */

typedef struct meeting {
    int pair[CONDITIONS][CONDITIONS];
} meeting;

static void meet(meeting *met, const attest_case *c)
{
    int holds[CONDITIONS], count = 0;
    for (int a = 0; a < OWN; a++)
        if (conditions[a](c))
            holds[count++] = a;
    for (int axis = 0; axis < ATTEST_AXIS_COUNT; axis++)
        holds[count++] = OWN + axis * VALUES + (int)c->problem.axis[axis].value;
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            met->pair[holds[a]][holds[b]]++;
}

/* What meets on lines that the property generator draws, of a seed that the array does not have. */
static void meet_drawn(meeting *met, const attest_cover_kernel *k)
{
    for (uint32_t number = 0; number < LINES; number++) {
        attest_case c;
        if (attest_draw_line(&c, 99, number, 0, &k->kernel) && k->host.supports(NULL, &c.problem))
            meet(met, &c);
    }
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static attest_cover *cover_of(const attest_cover_kernel *kernels, size_t count, int strength)
{
    attest_error err = { "" };
    attest_cover *cover = NULL;
    ck_assert_msg(attest_cover_new(&cover, strength, 0, 1, kernels, count, &err) == ATTEST_OK, "%s", err.text);
    return cover;
}

static int next(attest_cover *cover, attest_case *c)
{
    attest_error err = { "" };
    int found;
    ck_assert_msg(attest_cover_next(cover, c, &found, &err) == ATTEST_OK, "%s", err.text);
    return found;
}

/* Each kernel's cases of the array meet every pair that drawn lines show to be possible, and it is small. */
START_TEST(pairs_meet)
{
    const attest_cover_kernel kernels[] = { kernel_of(serve, ATTEST_PARALLEL), kernel_of(serve_less, ATTEST_TILED) };
    static meeting drawn[2], met[2];
    attest_cover *cover = cover_of(kernels, 2, 2);
    attest_case c;
    int cases = 0, compared = 0;
    for (; next(cover, &c); cases++)
        for (int k = 0; k < 2; k++)
            if (kernels[k].host.supports(NULL, &c.problem))
                meet(&met[k], &c);
    for (int k = 0; k < 2; k++) {
        attest_cover_share share;
        attest_cover_measure(&share, cover, (size_t)k);
        ck_assert_uint_gt(share.possible, 4000);
        ck_assert_uint_eq(share.met, share.possible);
        ck_assert_str_eq(share.first[0], "");
        meet_drawn(&drawn[k], &kernels[k]);
        for (int a = 0; a < CONDITIONS; a++)
            for (int b = 0; b < CONDITIONS; b++) {
                compared += drawn[k].pair[a][b] > 0;
                ck_assert_msg(met[k].pair[a][b] || !drawn[k].pair[a][b],
                              "kernel %d: conditions %d and %d meet in %d lines", k, a, b, drawn[k].pair[a][b]);
            }
    }
    ck_assert_int_gt(compared, 3000);
    ck_assert_int_lt(cases, 1500);
    ck_assert_int_gt(cases, 240); /* families times classes of n, at least */
    attest_cover_free(cover);
}
END_TEST

/* A cover that starts anew is one that was made with that strength; what was counted before is forgotten. */
START_TEST(restart_is_new)
{
    const attest_cover_kernel kernel = kernel_of(serve, ATTEST_PARALLEL);
    attest_cover *first = cover_of(&kernel, 1, 2), *second = cover_of(&kernel, 1, 3);
    attest_cover_share a, b;
    attest_error err = { "" };
    attest_case c, same;
    ck_assert(next(first, &c));
    ck_assert_int_eq(attest_cover_restart(first, 3, &err), ATTEST_OK);
    attest_cover_measure(&a, first, 0);
    attest_cover_measure(&b, second, 0);
    ck_assert_uint_eq(a.met, 0);
    ck_assert_uint_gt(a.possible, 4000);
    ck_assert_uint_eq(a.possible, b.possible);
    ck_assert(next(first, &c) && next(second, &same));
    ck_assert_mem_eq(&c.problem, &same.problem, sizeof c.problem);
    attest_cover_free(first);
    attest_cover_free(second);
}
END_TEST

/* Cases that are there count, and what they lack is named. */
START_TEST(given_cases_count)
{
    const attest_cover_kernel kernel = kernel_of(serve, ATTEST_PARALLEL);
    attest_cover *cover = cover_of(&kernel, 1, 3);
    attest_cover_share before, after;
    attest_case c;
    attest_error err;
    attest_cover_measure(&before, cover, 0);
    ck_assert_uint_eq(before.met, 0);
    ck_assert_uint_gt(before.possible, 50000);
    for (int k = 0; k < ATTEST_COVER_FIRST; k++) {
        ck_assert_ptr_nonnull(strstr(before.first[k], ", "));
        ck_assert(k == 0 || strcmp(before.first[k], before.first[k - 1]) != 0);
    }
    ck_assert(attest_case_parse(&c, "variant=softmax mask=causal n=33 d=4", NULL, NULL, &err) == ATTEST_OK);
    attest_cover_add(cover, &c);
    attest_cover_measure(&after, cover, 0);
    ck_assert_uint_gt(after.met, 2000); /* 29 conditions apply: 29 28 27 / 6 triples */
    ck_assert_uint_le(after.met, 7770); /* 37 factors */
    ck_assert(attest_case_parse(&c, "variant=taylor:2 n=33 d=4", NULL, NULL, &err) == ATTEST_OK);
    attest_cover_add(cover, &c); /* is not served */
    const size_t met = after.met;
    attest_cover_measure(&after, cover, 0);
    ck_assert_uint_eq(after.met, met);
    attest_cover_free(cover);
}
END_TEST

START_TEST(same_cases_again)
{
    const attest_cover_kernel kernel = kernel_of(serve_less, ATTEST_TILED);
    attest_cover *one = cover_of(&kernel, 1, 2), *two = cover_of(&kernel, 1, 2);
    for (int i = 0; i < 20; i++) {
        attest_case a, b;
        char line[2][ATTEST_LINE];
        attest_error err;
        ck_assert(next(one, &a) && next(two, &b));
        ck_assert(attest_case_print(line[0], ATTEST_LINE, &a, &err) == ATTEST_OK);
        ck_assert(attest_case_print(line[1], ATTEST_LINE, &b, &err) == ATTEST_OK);
        ck_assert_str_eq(line[0], line[1]);
    }
    attest_cover_free(one);
    attest_cover_free(two);
}
END_TEST

/* Which levels a case has: what changes nothing has none where the array is of live pairs, and large sizes have one. */
static const struct {
    const char *factor, *line;
    int plain, wide; /* 1: the case has a level of the factor; -1: the factor is not there */
} live_rows[] = {
    { "window", "variant=softmax mask=causal window=9 n=9 d=4", 1, 0 },
    { "window", "variant=softmax mask=causal window=8 n=9 d=4", 1, 1 },
    { "window", "variant=softmax mask=causal window=8 n=3 m=20 d=4", 1, 0 },
    { "window", "variant=softmax mask=causal-br window=8 n=3 m=20 d=4", 1, 1 },
    { "window", "variant=softmax mask=causal window=20 n=70 m=9 d=4", 1, 1 },
    { "window", "variant=softmax window=20 n=3 m=20 d=4", 1, 0 },
    { "window", "variant=softmax window=20 n=3 m=21 d=4", 1, 1 },
    { "mask", "variant=softmax mask=causal n=1 m=2 d=4", 1, 1 },
    { "mask", "variant=softmax mask=causal-br n=1 m=9 d=4", 1, 0 },
    { "decay", "variant=retnet mask=causal state=draw n=2 d=4", 1, 1 },
    { "decay", "variant=retnet mask=causal n=2 d=4", 1, 0 },
    { "decay", "variant=retnet mask=causal n=3 d=4", 1, 1 },
    { "alibi", "variant=softmax alibi=draw n=9 m=2 d=4", 1, 0 },
    { "alibi", "variant=softmax alibi=draw n=9 m=3 d=4", 1, 1 },
    { "lens", "variant=softmax mask=causal lens=draw n=2 m=30 d=4", 1, 0 },
    { "n", "variant=softmax n=70 m=2 d=4", 1, 0 },
    { "n", "variant=softmax n=70 m=3 d=4", 1, 1 },
    { "n", "variant=softmax n=1 m=1 d=4", 1, 1 },
    { "m", "variant=softmax mask=causal n=3 m=70 d=4", 1, 0 },
    { "m", "variant=softmax mask=causal-br n=3 m=70 d=4", 1, 1 },
    { "m", "variant=softmax n=1 m=1025 d=4", 0, 1 },
    { "d", "variant=softmax n=3 m=33 d=200", 0, 1 },
    { "family", "variant=softmax family=edges b=2 n=3 d=4", 1, 0 },
    { "family", "variant=softmax family=edges b=2 hq=2 n=3 d=4", 1, 1 },
    { "family", "variant=softmax family=offset n=3 d=4", 1, 1 },
    { "d", "variant=softmax n=3 m=32 d=200", 0, 0 },
    { "e", "variant=softmax n=3 m=33 d=3 e=200", 0, 1 },
    { "b", "variant=softmax b=6 n=3 d=4", 0, 1 },
    { "hkv", "variant=softmax hq=8 hkv=8 n=3 d=4", 0, 1 },
    { "hq/hkv", "variant=softmax hq=8 hkv=1 n=3 d=4", 0, 1 },
    { "queries by 64", "variant=softmax n=70 m=2 d=4", -1, 0 },
    { "queries by 64", "variant=softmax n=70 m=3 d=4", -1, 1 },
    { "keys by 64", "variant=softmax mask=causal n=70 m=71 d=4", -1, 0 },
    { "keys by 64", "variant=softmax mask=causal n=71 m=71 d=4", -1, 1 },
    { "n=m by 64", "variant=softmax n=64 m=65 d=4", -1, 0 },
    { "n=m by 64", "variant=softmax n=64 d=4", -1, 1 },
    { "edge lens", "variant=softmax lens=draw b=3 n=2 m=64 d=4", -1, 0 },
    { "edge lens", "variant=softmax lens=draw b=2 n=2 m=64 d=4 family=edges", -1, 0 },
    { "edge lens", "variant=softmax lens=draw b=3 n=2 m=63 d=4 family=edges", -1, 0 },
    { "edge lens", "variant=softmax lens=draw b=3 n=2 m=64 d=4 family=edges", -1, 1 },
    { "in and heads", "variant=softmax n=2 d=4 in=bf16", -1, 1 },
    { "products", "variant=softmax n=2 d=4 scale=0.001", -1, 0 },
    { "products", "variant=softmax n=2 d=4 scale=0.002 family=huge", -1, 0 },
    { "products", "variant=softmax n=2 d=4 scale=-0.001 family=range:40", -1, 1 },
    { "d by queries", "variant=softmax n=64 m=3 d=65", -1, 0 },
    { "d by queries", "variant=softmax n=65 m=2 d=65", -1, 0 },
    { "d by queries", "variant=softmax n=65 m=3 d=65 e=2", -1, 1 },
    { "d by queries", "variant=softmax n=65 m=3 d=64 e=70", -1, 0 },
    { "e by queries", "variant=softmax n=65 m=3 d=64 e=70", -1, 1 },
    { "d by keys", "variant=softmax mask=causal n=3 m=300 d=70", -1, 0 },
    { "d by keys", "variant=softmax n=3 m=300 d=70", -1, 1 },
    { "e by keys", "variant=softmax n=3 m=300 d=70 e=2", -1, 0 },
    { "sharing by queries", "variant=softmax n=130 d=4", -1, 0 },
    { "sharing by queries", "variant=softmax hq=2 hkv=1 n=130 d=4", -1, 1 },
    { "sharing by keys", "variant=softmax hq=2 hkv=1 n=1 m=64 d=4", -1, 0 },
    { "sharing by keys", "variant=softmax hq=2 hkv=1 n=1 m=1030 d=4", -1, 1 },
    { "left out", "variant=softmax mask=causal window=10 n=73 d=4", -1, 0 },
    { "left out", "variant=softmax mask=causal window=10 n=74 d=4", -1, 1 },
    { "left out", "variant=softmax mask=causal n=300 d=4", -1, 0 },
    { "long mask", "variant=softmax mask=causal-br n=65 m=65 d=4", -1, 0 },
    { "long mask", "variant=softmax mask=causal-br n=65 m=66 d=4", -1, 1 },
    { "long mask", "variant=softmax n=65 m=66 d=4", -1, 0 },
    { "cap and bias", "variant=softmax cap=4 bias=full n=9 d=4", -1, 0 },
    { "cap and bias", "variant=softmax cap=4 bias=full n=9 d=4 family=edges", -1, 1 },
    { "states", "variant=linear mask=causal n=9 d=9 e=33", -1, 0 },
    { "states", "variant=taylor:2 mask=causal n=9 d=9 e=32", -1, 0 },
    { "states", "variant=taylor:2 mask=causal n=9 d=9 e=33", -1, 1 },
    { "chunk", "variant=linear n=64 d=4 chunk=100", 0, 0 },
    { "chunk", "variant=linear n=70 d=4 chunk=100", 0, 1 },
    { "chunk", "variant=linear n=8 d=4 chunk=9", 1, 0 },
    { "chunk", "variant=linear n=9 d=4 chunk=9", 1, 1 },
};

START_TEST(live_levels)
{
    const attest_prop_kernel kernel = { .form = ATTEST_CHUNK };
    for (size_t i = 0; i < sizeof live_rows / sizeof live_rows[0]; i++)
        for (int wide = live_rows[i].plain < 0; wide < 2; wide++) {
            attest_factor factor[ATTEST_FACTORS_MOST];
            attest_error err = { "" };
            attest_case c;
            size_t f = 0;
            attest_factors_list(factor, wide);
            while (strcmp(factor[f].name, live_rows[i].factor) != 0)
                f++;
            ck_assert_msg(attest_case_parse(&c, live_rows[i].line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
            const int level = factor[f].level(&factor[f], &c, &kernel);
            ck_assert_msg((level >= 0) == (wide ? live_rows[i].wide : live_rows[i].plain),
                          "%s of %s, wide %d: level %d", live_rows[i].factor, live_rows[i].line, wide, level);
        }
}
END_TEST

/* What a factor of several parts draws has a level of it, and different levels come. */
START_TEST(joint_redraws)
{
    static const char *const plain[] = { "variant=softmax n=5 d=4", "variant=softmax mask=causal n=9 d=4",
                                         "variant=linear norm=sum hq=4 hkv=2 n=5 m=7 d=3",
                                         "variant=taylor:2 mask=causal n=5 d=3" };
    enum { PLAIN = 4 };
    const attest_prop_kernel kernel = { .form = ATTEST_TILED };
    attest_factor factor[ATTEST_FACTORS_MOST];
    size_t count = attest_factors_joint(factor);
    count += attest_factors_tiles(factor + count);
    ck_assert_uint_eq(count, 16);
    for (size_t f = 0; f < count; f++) {
        int levels = 0;
        uint32_t seen = 0;
        for (uint32_t i = 0; i < 600; i++) {
            attest_error err = { "" };
            attest_dice dice;
            attest_case c;
            ck_assert_msg(attest_case_parse(&c, plain[i % PLAIN], NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
            attest_dice_init(&dice, 1, i, 0);
            factor[f].redraw(&factor[f], &c, &dice);
            const int level = factor[f].level(&factor[f], &c, &kernel);
            ck_assert_int_lt(level, factor[f].levels);
            levels += level >= 0;
            seen |= level >= 0 ? 1u << level : 0;
        }
        ck_assert_msg(levels > 600 / PLAIN * 4 / 5, "%s: %d of 600 have a level", factor[f].name, levels);
        ck_assert_msg(__builtin_popcount(seen) >= factor[f].levels * 2 / 3, "%s: %x of %d levels", factor[f].name, seen,
                      factor[f].levels);
    }
}
END_TEST

Suite *suite_cover(void)
{
    Suite *suite = suite_create("cover");
    TCase *tcase = tcase_create("cover");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, pairs_meet);
    tcase_add_test(tcase, restart_is_new);
    tcase_add_test(tcase, given_cases_count);
    tcase_add_test(tcase, same_cases_again);
    tcase_add_test(tcase, live_levels);
    tcase_add_test(tcase, joint_redraws);
    suite_add_tcase(suite, tcase);
    return suite;
}
