/* Families: the table, what each family promises, the frozen values. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/draw/draw.h"
#include "tests/props/draw/family_cases.h"

Suite *suite_family(void);

/* ---- the table ------------------------------------------------------------------------------------- */

START_TEST(table)
{
    static const struct {
        const char *family, *in, *words; /* words NULL: accepted */
    } rows[] = {
        { "normal", "f32", NULL },
        { "normal:0.25", "f32", NULL },
        { "normal:4096", "f16", NULL },
        { "range:0", "bf16", NULL },
        { "range:0x1p-12", "f32", NULL },
        { "range", "f32", NULL },
        { "nomal", "f32", "allowed: normal uniform flat ones ramp-up negative huge range dyadic peaked" },
        { "cast-edges", "f32", "onehot repeat-max subnormal near-zero-denominator cast-edge positive integers" },
        { "stair", "f32", "half-peak large-products taylor-roots p-underflow zero-keys offset edges trace" },
        { "stairs", "bf16", NULL },
        { "stairs:1", "f16", NULL },
        { "stairs:1048576", "f16", NULL },
        { "stairs:0", "f32", "stairs needs a whole number from 1 to 1048576" },
        { "stairs:1.5", "f32", "stairs needs a whole number from 1 to 1048576" },
        { "stairs:1048577", "f32", "stairs needs a whole number from 1 to 1048576" },
        { "stairs:1e300", "f64", "stairs needs a whole number from 1 to 1048576" },
        { "stairs:x", "f32", "stairs needs a whole number from 1 to 1048576" },
        { "", "f32", "unknown family" },
        { "norm", "f32", "unknown family" },
        { "normal:", "f32", "needs a number" },
        { "normal:x", "f32", "needs a number" },
        { "normal:1x", "f32", "needs a number" },
        { "normal:-1", "f32", "needs a number" },
        { "normal: 1", "f32", "needs a number" },
        { "normal:1 ", "f32", "needs a number" },
        { "normal:0", "f32", "> 0" },
        { "normal:inf", "f64", "needs a number" },
        { "normal:nan", "f64", "needs a number" },
        { "normal:1e999", "f64", "needs a number" },
        { "normal:4097", "f16", "<= 4096 for in=f16" },
        { "range:-1", "f32", ">= 0" },
        { "flat:1", "f32", "flat takes no argument" },
        { "dyadic:", "f32", "dyadic takes no argument" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        attest_case c = case_of("n=2 d=2");
        attest_error err = { "" };
        snprintf(c.family, sizeof c.family, "%s", rows[i].family);
        c.problem.in = strcmp(rows[i].in, "f16") == 0   ? ATTEST_F16
                       : strcmp(rows[i].in, "f64") == 0 ? ATTEST_F64
                                                        : ATTEST_F32;
        const attest_status status = attest_family_check(&c, &err);
        ck_assert_msg(status == (rows[i].words ? ATTEST_BAD_INPUT : ATTEST_OK), "'%s': %d %s", c.family, status,
                      err.text);
        ck_assert_msg(!rows[i].words || strstr(err.text, rows[i].words), "'%s': %s", c.family, err.text);
    }
    for (size_t i = 0; i < attest_family_count; i++) {
        attest_case c = case_of("");
        const char *name = attest_families[i].name;
        snprintf(c.family, sizeof c.family, "%s", name);
        ck_assert(attest_family_of(&c) == &attest_families[i] && strlen(attest_families[i].why) > 20);
        ck_assert(attest_families[i].constant == (strcmp(name, "flat") == 0 || strcmp(name, "ones") == 0 ||
                                                  strcmp(name, "cast-edge") == 0 || strcmp(name, "zero-keys") == 0));
    }
    attest_case c = case_of("");
    strcpy(c.family, "traces:x");
    ck_assert(attest_family_of(&c) == NULL);
}
END_TEST

/* ---- what the families promise ----------------------------------------------------------------------- */

static const char *const shapes[] = {
    "n=5 m=300 d=16",
    "n=5 m=300 d=1",
    "n=5 m=300 d=2 scale=1",
    "n=5 m=300 d=3 in=bf16",
    "n=5 m=300 d=64 in=bf16",
    "n=5 m=300 d=64 in=f16",
    "n=5 m=300 d=100 in=f64",
    "n=5 m=300 d=128 scale=-0.7",
    "n=5 m=300 d=7 scale=200 in=f16",
    "n=5 m=300 d=33 scale=0.01 in=bf16",
    "n=5 m=300 d=5 scale=-1e-9",
    "n=5 m=300 d=40 scale=1e12",
};

typedef struct spread {
    double low, high, mean;
    int distinct;
} spread;

static spread row_spread(const attest_bundle *bundle, const attest_problem *p, int64_t i)
{
    spread s = { 1e300, -1e300, 0, 0 };
    double seen[512];
    for (int64_t j = 0; j < p->m; j++) {
        const double x = score(bundle, p, i, j);
        int known = 0;
        s.low = x < s.low ? x : s.low;
        s.high = x > s.high ? x : s.high;
        s.mean += x / (double)p->m;
        for (int t = 0; t < s.distinct; t++)
            known |= seen[t] - x < 1e-9 && x - seen[t] < 1e-9;
        if (!known && s.distinct < 512)
            seen[s.distinct++] = x;
    }
    return s;
}

/* Calls `check` on every row of the family under every shape. */
static void for_rows(const char *family, void (*check)(const spread *s, double argument, const char *line),
                     double argument)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        char line[160];
        snprintf(line, sizeof line, "%s family=%s seed=11", shapes[i], family);
        const attest_case c = case_of(line);
        attest_bundle *bundle = draw_case(&c, 0, 0);
        for (int64_t row = 0; row < c.problem.n; row++) {
            const spread s = row_spread(bundle, &c.problem, row);
            check(&s, argument, line);
        }
        attest_bundle_free(bundle);
    }
}

static void check_negative(const spread *s, double argument, const char *line)
{
    (void)argument;
    ck_assert_msg(s->low >= -160 && s->high <= -140, "%s: scores %g..%g", line, s->low, s->high);
    ck_assert_msg(s->distinct > 4, "%s: %d scores", line, s->distinct);
}

static void check_huge(const spread *s, double argument, const char *line)
{
    (void)argument;
    ck_assert_msg(s->low < -140 && s->low > -160 && s->high > 140 && s->high < 160, "%s: scores %g..%g", line, s->low,
                  s->high);
    ck_assert_msg(s->distinct >= 16, "%s: %d scores", line, s->distinct);
}

static void check_range(const spread *s, double argument, const char *line)
{
    const double range = s->high - s->low;
    ck_assert_msg(range >= 0.965 * argument && range <= 1.01 * argument, "%s: range %g for %g", line, range, argument);
    if (argument > 1e-3) {
        ck_assert_msg(s->distinct == 31, "%s: %d scores", line, s->distinct);
        ck_assert_msg(s->mean < (s->high + s->low) / 2 - 0.1 * range, "%s: symmetric, mean %g", line, s->mean);
    }
}

START_TEST(score_families)
{
    for_rows("negative", check_negative, 0);
    for_rows("huge", check_huge, 0);
    for_rows("range", check_range, 8);
    for_rows("range:20.5", check_range, 20.5);
    for_rows("range:0.01", check_range, 0.01);
    for_rows("range:0", check_range, 0);
}
END_TEST

START_TEST(small_ranges)
{
    static const char *const lines[] = { "n=4 d=64 family=range:0x1p-12", "n=4 d=16 in=bf16 family=range:0x1p-6",
                                         "n=4 d=3 in=f64 family=range:0x1p-30" };
    static const double ranges[] = { 0x1p-12, 0x1p-6, 0x1p-30 };
    for (int i = 0; i < 3; i++) {
        const attest_case c = case_of(lines[i]);
        attest_bundle *bundle = draw_case(&c, 0, 0);
        const spread s = row_spread(bundle, &c.problem, 0);
        ck_assert_msg(s.high - s.low >= 0.965 * ranges[i] && s.high - s.low <= 1.01 * ranges[i], "%s: %g", lines[i],
                      s.high - s.low);
        attest_bundle_free(bundle);
    }
}
END_TEST

/* The running maximum moves at least once in 16 keys, and a key raises it by 0.03 to 0.11 on average. */
START_TEST(ramp_rises)
{
    static const char *const lines[] = {
        "n=5 m=2000 d=16",         "n=5 m=2000 d=1",
        "n=5 m=2000 d=2 scale=1",  "n=5 m=2000 d=3 in=bf16",
        "n=5 m=2000 d=64 in=bf16", "n=5 m=2000 d=8 in=f16",
        "n=5 m=2000 d=1 in=bf16",  "n=5 m=2000 d=32 scale=-0.7",
        "n=5 m=2000 d=4 scale=9",  "n=2 m=2000 d=5 scale=1e-9",
    };
    for (size_t l = 0; l < sizeof lines / sizeof lines[0]; l++) {
        char line[128];
        snprintf(line, sizeof line, "%s family=ramp-up seed=4", lines[l]);
        const attest_case c = case_of(line);
        attest_bundle *bundle = draw_case(&c, 0, 0);
        for (int64_t i = 0; i < c.problem.n; i++) {
            double most = -1e300;
            int64_t moved = 0;
            for (int64_t j = 0; j < c.problem.m; j++) {
                const double s = score(bundle, &c.problem, i, j);
                moved = s > most ? j : moved;
                most = s > most ? s : most;
                ck_assert_msg(j - moved < 16, "%s: row %lld, no new maximum from key %lld on", line, (long long)i,
                              (long long)moved);
            }
            ck_assert_msg(most > 0.03 * 2000 && most < 0.11 * 2000, "%s: the maximum is %g", line, most);
        }
        attest_bundle_free(bundle);
    }
}
END_TEST

START_TEST(flat_ones_uniform)
{
    attest_bundle *flat = draw("n=20 family=flat in=bf16"), *ones = draw("n=20 family=ones in=f16");
    attest_bundle *uniform = draw("n=1000 m=1 d=64 family=uniform");
    const attest_tensor *u = attest_bundle_role(uniform, ATTEST_Q);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < 320; i++) {
        ck_assert(attest_load_bits(attest_bundle_role(flat, ATTEST_Q), i) == 0);
        ck_assert(attest_load(attest_bundle_role(flat, ATTEST_K), i) != 0);
        ck_assert(attest_load(attest_bundle_role(flat, ATTEST_V), i) != 0);
        ck_assert(attest_load(attest_bundle_role(ones, ATTEST_V), i) == 1);
        ck_assert(attest_load(attest_bundle_role(ones, ATTEST_Q), i) != 0);
    }
    for (int64_t i = 0; i < 64000; i++) {
        const double x = attest_load(u, i);
        ck_assert(x >= -1 && x <= 1);
        sum += x;
        squares += x * x;
    }
    /* mean 0 and second moment 1/3, deviations sqrt(1/3/64000) = 0.00228 and sqrt(4/45/64000) = 0.00118 */
    ck_assert_msg(sum / 64000 < 0.0114 && sum / 64000 > -0.0114, "mean %g", sum / 64000);
    ck_assert_msg(squares / 64000 < 0.3393 && squares / 64000 > 0.3274, "second moment %g", squares / 64000);
    attest_bundle_free(flat);
    attest_bundle_free(ones);
    attest_bundle_free(uniform);
}
END_TEST

/* scale = 0: no score can be shaped; the families fall back to normal draws. */
START_TEST(scale_zero)
{
    static const char *const families[] = { "ramp-up", "negative", "huge", "range" };
    for (int f = 0; f < 4; f++) {
        char line[96];
        snprintf(line, sizeof line, "n=5 d=4 scale=0 family=%s", families[f]);
        attest_case c = case_of(line);
        const uint64_t hash = hash_of(&c, 0);
        strcpy(c.family, "normal");
        ck_assert_msg(hash_of(&c, 0) == hash, "%s", line);
    }
}
END_TEST

/* ---- dyadic: float arithmetic makes no error --------------------------------------------------------- */

/* One weight by Horner in float and in double; every operation of the first must equal the second. */
static void check_weight(const attest_problem *p, float fs, double ds, float *fw, double *dw, const char *line)
{
    const attest_setting *w = &p->axis[ATTEST_AXIS_WEIGHT];
    const int taylor = w->value == ATTEST_WEIGHT_TAYLOR;
    *fw = 1;
    *dw = 1;
    for (uint32_t n = w->order; n > 0; n--) {
        *fw = *fw * fs;
        *dw = *dw * ds;
        if (w->value != ATTEST_WEIGHT_POWER) {
            *fw = *fw / (float)n + (taylor ? 1.0f : 0.0f);
            *dw = *dw / (double)n + (taylor ? 1.0 : 0.0);
        }
    }
    ck_assert_msg((double)*fw == *dw, "%s: weight %a, exactly %a", line, (double)*fw, *dw);
    const double cast = attest_to_f64(p->p, attest_from_f64(p->p, *dw));
    ck_assert_msg(cast == *dw, "%s: weight %a is not exact in the type p", line, *dw);
}

/* The bound that makes every order of accumulation exact, from the largest |q|, |k| and the fullest key. */
static void check_dyadic_bound(const attest_bundle *bundle, const attest_problem *p, const char *line)
{
    const attest_tensor *q = attest_bundle_role(bundle, ATTEST_Q), *k = attest_bundle_role(bundle, ATTEST_K);
    const int elu = attest_axis_value_of(p, ATTEST_AXIS_FEATURE) == ATTEST_FEATURE_ELU1;
    const double size = p->scale < 0 ? -p->scale : p->scale;
    double most = 0, fullest = 0, power = 1;
    for (int64_t i = 0; i < p->n * p->d; i++)
        most = attest_load(q, i) > most ? attest_load(q, i) : most;
    for (int64_t j = 0; j < p->m; j++) {
        double sum = 0;
        for (int64_t c = 0; c < p->d; c++) {
            const double x = at(k, 0, 0, j, c);
            sum += elu ? (x + 1) * (most + 1) : (x < 0 ? -x : x) * most;
        }
        fullest = sum > fullest ? sum : fullest;
    }
    for (uint32_t n = 0; n < p->axis[ATTEST_AXIS_WEIGHT].order; n++)
        power *= size < 1 ? 1 / size + fullest : 1 + size * fullest;
    const double room = p->acc == ATTEST_F64 ? 0x1p53 : 0x1p24, cast = (double)(1ull << attest_format_of(p->p).p);
    ck_assert_msg(4 * (double)p->m * power < room && 2 * power < cast, "%s: sums may reach %g, weights %g", line,
                  4 * (double)p->m * power, 2 * power);
}

static void check_dyadic(const char *line)
{
    const attest_case c = case_of(line);
    const attest_problem *p = &c.problem;
    attest_bundle *bundle = draw_case(&c, 0, 0);
    const attest_tensor *q = attest_bundle_role(bundle, ATTEST_Q), *k = attest_bundle_role(bundle, ATTEST_K);
    const attest_tensor *v = attest_bundle_role(bundle, ATTEST_V);
    int moving = 0;
    check_dyadic_bound(bundle, p, line);
    for (int64_t i = 0; i < p->n; i++) {
        float fu = 0, fz = 0, fabsolute = 0;
        double du = 0, dz = 0, dabsolute = 0;
        for (int64_t j = 0; j < p->m; j++) {
            float fs = 0, fw;
            double ds = 0, dw;
            for (int64_t x = 0; x < p->d; x++) {
                fs += (float)at(q, 0, 0, i, x) * (float)at(k, 0, 0, j, x);
                ds += at(q, 0, 0, i, x) * at(k, 0, 0, j, x);
            }
            moving += ds != 0;
            check_weight(p, (float)p->scale * fs, p->scale * ds, &fw, &dw, line);
            const double value = at(v, 0, 0, j, 0);
            fu += fw * (float)value;
            du += dw * value;
            fz += fw;
            dz += dw;
            /* the largest partial sum that any order of the terms can have */
            fabsolute += (fw < 0 ? -fw : fw) * 2;
            dabsolute += (dw < 0 ? -dw : dw) * 2;
        }
        ck_assert_msg((double)fu == du && (double)fz == dz && (double)fabsolute == dabsolute,
                      "%s: row %lld: u %a %a, z %a %a", line, (long long)i, (double)fu, du, (double)fz, dz);
    }
    ck_assert_msg(moving > 0, "%s: all scores are 0", line);
    attest_bundle_free(bundle);
}

START_TEST(dyadic_is_exact)
{
    static const char *const lines[] = {
        "variant=linear n=64 d=16",
        "variant=quadratic n=64 d=64",
        "variant=taylor:2 n=64 d=16",
        "variant=taylor:2 n=4 m=4096 d=64",
        "variant=taylor:2 n=4 m=1000 d=256",
        "variant=taylor:1 n=4 m=4096 d=4",
        "variant=term:2 n=4 m=500 d=64",
        "variant=term:1 n=4 d=1024",
        "variant=taylor:2 n=64 d=5 scale=2",
        "variant=taylor:2 n=64 d=16 p=bf16",
        "variant=linear n=64 d=64 p=bf16",
        "variant=quadratic n=64 d=16 p=f16",
        "weight=power:4 norm=none n=8 m=64 d=4 scale=1",
        "variant=taylor:0 n=8 m=64 d=4",
        "variant=linear n=1 m=50000 d=16",
        "variant=taylor:2 n=8 m=64 d=16 in=bf16",
        "variant=linear-elu n=16 m=64 d=16",
        "variant=linear-relu n=16 m=64 d=16",
        "variant=elu-taylor:2 n=4 m=400 d=16",
        "variant=taylor:2 n=4 m=4096 d=5 scale=2",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char line[128];
        snprintf(line, sizeof line, "%s family=dyadic", lines[i]);
        check_dyadic(line);
    }
    attest_bundle *bundle = draw("variant=linear-elu n=16 d=16 family=dyadic"); /* elu1 is rational: no negatives */
    for (int64_t i = 0; i < 256; i++)
        ck_assert(attest_load(attest_bundle_role(bundle, ATTEST_Q), i) >= 0 &&
                  attest_load(attest_bundle_role(bundle, ATTEST_K), i) >= 0);
    attest_bundle_free(bundle);
}
END_TEST

/* ---- frozen ------------------------------------------------------------------------------------------ */

static const frozen_draw frozen[] = {
    { "n=8 d=5", 0x9d0e49acaf2cb60bu },
    { "n=8 d=5 in=bf16 family=normal:0.3", 0xa439d17c328bf366u },
    { "n=8 d=5 in=f16 family=uniform", 0xc7d099963b55a48bu },
    { "n=8 d=5 family=flat", 0x73a6b0bb59acb860u },
    { "n=8 d=5 in=f64 family=ones", 0x2b6e74e769b9c4d3u },
    { "n=300 d=5 family=ramp-up", 0x0c54671f286bd418u },
    { "n=40 d=5 family=negative", 0x1d104f945d4ea7e9u },
    { "n=40 d=5 in=bf16 family=huge", 0x9ff8db7c2ce914c0u },
    { "n=70 d=5 family=range", 0x06ca6b5799d44d2bu },
    { "n=8 d=5 family=dyadic variant=taylor:2 state=draw", 0x2ed3c26c06fb321eu },
    { "variant=sla-gdn n=8 d=4 hq=4 hkv=2 seed=9", 0x3e4fe9415dd07e75u },
    { "variant=gla n=8 d=4 seed=9", 0xd432fcfaf489583bu },
    { "variant=softmax1 alibi=draw lens=draw b=3 hq=6 n=4 seed=9", 0x37a3685b339f4434u },
    { "variant=layernorm affine=draw gates=inout n=4 seed=9", 0xe88fa4640eda3077u },
    { "variant=sla-retnet hq=4 n=4 seed=9 state=draw", 0x4952119436af301eu },
};

/* Normal draws in f32 of seed 2^32+1, computed by another program. */
static const struct element {
    uint32_t role;
    int64_t index[4];
    uint64_t bits;
} elements[] = {
    { ATTEST_Q, { 0, 0, 0, 0 }, 0x3fd8ddf8 }, { ATTEST_Q, { 0, 0, 0, 1 }, 0xbe75d74c },
    { ATTEST_Q, { 1, 1, 1, 0 }, 0xbe030025 }, { ATTEST_K, { 0, 0, 1, 1 }, 0x3f64a5b9 },
    { ATTEST_V, { 1, 0, 1, 0 }, 0x3ef5087e }, { ATTEST_V, { 1, 1, 0, 1 }, 0xbf311fb9 },
};

START_TEST(stream_is_frozen)
{
    check_frozen(frozen, sizeof frozen / sizeof frozen[0]);
    attest_bundle *bundle = draw("b=2 hq=2 n=2 d=2 seed=4294967297");
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        const attest_tensor *t = attest_bundle_role(bundle, (attest_role)elements[i].role);
        const int64_t *x = elements[i].index;
        ck_assert_uint_eq(attest_load_bits(t, attest_offset(t, x[0], x[1], x[2], x[3])), elements[i].bits);
    }
    attest_bundle_free(bundle);
}
END_TEST

Suite *suite_family(void)
{
    Suite *suite = suite_create("family");
    TCase *tcase = tcase_create("family");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, table);
    tcase_add_test(tcase, score_families);
    tcase_add_test(tcase, small_ranges);
    tcase_add_test(tcase, ramp_rises);
    tcase_add_test(tcase, flat_ones_uniform);
    tcase_add_test(tcase, scale_zero);
    tcase_add_test(tcase, dyadic_is_exact);
    tcase_add_test(tcase, stream_is_frozen);
    suite_add_tcase(suite, tcase);
    return suite;
}
