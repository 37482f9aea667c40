/* test_problem_facts.c - what follows from a problem: hash, default scale, visible keys, states; status.h too. */
#include "kernels/attest_float.h"
#include "kernels/problem/problem.h"
#include "tests/kernels/base_random.h"

#include <check.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *suite_problem_facts(void);

static attest_case parsed(const char *line)
{
    attest_case c;
    attest_error err = { "" };
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s: %s", line, err.text);
    return c;
}

/* ---- hash -------------------------------------------------------------------------------------------------- */
START_TEST(hash_same)
{
    static const char *const same[][2] = {
        { "variant=based", "variant=taylor:2" },
        { "variant=softmax weight=taylor:2", "variant=based" },
        { "variant=shifted:3", "variant=taylor:3 center=max" },
        { "chunk=8 splits=4", "" },
        { "variant=gate", "clamp=5 norm=length gates=out" },
        { "variant=softmax1", "norm=sink" },
        { "d=16 e=16 scale=0.25", "" },
        { "eps=0.0", "eps=0" },
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        const attest_case a = parsed(same[i][0]), b = parsed(same[i][1]);
        ck_assert_msg(attest_case_hash(&a) == attest_case_hash(&b), "`%s` and `%s`", same[i][0], same[i][1]);
    }
}
END_TEST

static const char *const different[] = {
    "",
    "variant=taylor:0",
    "variant=taylor:1",
    "variant=taylor:2",
    "variant=term:2",
    "variant=quadratic",
    "weight=term:2",
    "weight=power:2",
    "variant=shifted:2",
    "weight=taylor:2 center=min",
    "weight=taylor:2 center=mid",
    "filter=1",
    "filter=2",
    "feature=elu1",
    "feature=relu",
    "feature=unit",
    "feature=silu",
    "feature=silu-unit",
    "feature=cosformer",
    "rope=2",
    "rope=3",
    "mask=causal",
    "mask=causal-br",
    "window=1",
    "window=2",
    "lens=draw",
    "mask=causal decay=retnet",
    "mask=causal decay=scalar",
    "variant=gla",
    "gates=in",
    "gates=out",
    "gates=inout",
    "gates=pre-out",
    "gates=heads",
    "norm=sink",
    "norm=floor:1",
    "norm=floor:2",
    "norm=none",
    "norm=length",
    "norm=l2",
    "norm=rms",
    "norm=layernorm",
    "norm=length-l2",
    "norm=length-rms",
    "norm=length-layernorm",
    "norm=rms affine=draw",
    "variant=deltanet",
    "variant=efla",
    "eps=1",
    "eps=2",
    "clamp=1",
    "clamp=2",
    "cap=1",
    "cap=2",
    "alibi=draw",
    "alibi=usual",
    "bias=full",
    "bias=head",
    "bias=batch",
    "bias=shared",
    "attn_mask=full",
    "attn_mask=head",
    "attn_mask=batch",
    "attn_mask=shared",
    "lens_q=draw",
    "lens_q=len lens=draw m=64",
    "packed=on",
    "pages=1",
    "pages=2",
    "kv=f16",
    "kv=bf16",
    "kv=e4m3",
    "kv=e5m2",
    "dropout=0.1",
    "dropout=0.5",
    "variant=gla decay_input=log",
    "variant=simple-gla decay_input=log",
    "variant=taylor:2 state=draw",
    "b=2",
    "hq=2",
    "hq=2 hkv=1",
    "n=65 m=64",
    "m=65",
    "d=17 e=16 scale=0.25",
    "e=17",
    "scale=0",
    "scale=-0",
    "scale=1",
    "in=f64",
    "in=f16",
    "in=bf16",
    "acc=f64 p=f32",
    "p=f16",
    "p=bf16",
    "p=f64",
    "out=f64",
    "out=f16",
    "out=bf16",
    "family=flat",
    "family=normal:1",
    "seed=1",
    "seed=256",
};

START_TEST(hash_different)
{
    enum { COUNT = sizeof different / sizeof different[0] };
    uint64_t hash[COUNT];
    int bucket[64] = { 0 };
    for (size_t i = 0; i < COUNT; i++) {
        const attest_case c = parsed(different[i]);
        hash[i] = attest_case_hash(&c);
        for (size_t j = 0; j < i; j++)
            must(hash[i] != hash[j], "`%s` and `%s`", different[i], different[j]);
    }
    /* mod 64 picks one case of 64: 6400 consecutive seeds fill every residue about 100 times */
    attest_case c = parsed("");
    for (c.seed = 0; c.seed < 6400; c.seed++)
        bucket[attest_case_hash(&c) % 64]++;
    for (int i = 0; i < 64; i++)
        must(bucket[i] > 50 && bucket[i] < 150, "residue %d: %d of 6400", i, bucket[i]);
}
END_TEST

/* Computed apart, from the definition in problem.c's comments; they never change. */
static const struct {
    const char *line;
    uint64_t hash;
} known[] = {
    { "", 0x7018d8c0d39501dfull },
    { "variant=softmax mask=causal n=5 d=64 in=bf16", 0x8b14daed27ce3dcdull },
    { "variant=taylor:4 center=max b=2 hq=6 hkv=3 n=7 m=9 d=4 e=5 scale=1 seed=42", 0x177d56ea1e78194bull },
    { "variant=filtered:0.5 in=f64 family=range:8", 0x40b9efbd3487bfbcull },
    { "variant=sla-gdn acc=f64 p=f16", 0x4ebb05583b86d94dull },
    { "variant=floor-denominator window=3 eps=0 cap=50 family=trace:%C3%A9%20b "
      "seed=18446744073709551615",
      0xf55d4bcfce457996ull },
    { "scale=-0", 0x1914dad6c36554f5ull },
};

START_TEST(hash_known)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const attest_case c = parsed(known[i].line);
        ck_assert_msg(attest_case_hash(&c) == known[i].hash, "`%s`: %016llx", known[i].line,
                      (unsigned long long)attest_case_hash(&c));
    }
}
END_TEST

/* ---- facts ------------------------------------------------------------------------------------------------- */
/* Every d against MPFR's correctly rounded 1/sqrt(d). */
START_TEST(default_scale)
{
    int c_differs = 0;
    mpfr_t x;
    mpfr_init2(x, 53);
    for (int64_t d = 1; d <= 65535; d++) {
        mpfr_set_ui(x, (unsigned long)d, MPFR_RNDN);
        mpfr_rec_sqrt(x, x, MPFR_RNDN);
        const double want = mpfr_get_d(x, MPFR_RNDN);
        must(attest_default_scale(d) == want, "d=%lld: %a, not %a", (long long)d, attest_default_scale(d), want);
        c_differs += 1.0 / sqrt((double)d) != want;
    }
    mpfr_clear(x);
    /* 1.0/sqrt(d) rounds twice */
    ck_assert_int_eq(c_differs, 15058);
}
END_TEST

static int is_visible(const attest_problem *p, int64_t len, int64_t i, int64_t j)
{
    const uint32_t mask = p->axis[ATTEST_AXIS_MASK].value;
    const int64_t window = p->axis[ATTEST_AXIS_WINDOW].order;
    const int64_t off = mask == ATTEST_MASK_CAUSAL_BR ? len - p->n : 0;
    if (j < 0 || j >= len)
        return 0;
    if (mask != ATTEST_MASK_FULL && j > i + off)
        return 0;
    if (p->axis[ATTEST_AXIS_WINDOW].value == ATTEST_WINDOW_NONE)
        return 1;
    return mask == ATTEST_MASK_FULL ? llabs(i - j) < window : i + off - j < window;
}

static void check_visible(const attest_problem *p, int64_t len, int64_t i)
{
    int64_t first, last;
    attest_visible(p, (attest_lengths){ len, p->n }, i, &first, &last);
    must(first >= 0 && last <= len && (first <= len && last >= 0), "[%d,%d) of %d", (int)first, (int)last, (int)len);
    for (int64_t j = -2; j < len + 3; j++)
        must((j >= first && j < last) == is_visible(p, len, i, j), "mask %u window %u n=%d len=%d i=%d j=%d: [%d,%d)",
             p->axis[ATTEST_AXIS_MASK].value, p->axis[ATTEST_AXIS_WINDOW].order, (int)p->n, (int)len, (int)i, (int)j,
             (int)first, (int)last);
}

START_TEST(visible_keys)
{
    attest_problem p = parsed("").problem;
    for (uint32_t mask = 0; mask < 3; mask++)
        for (uint32_t window = 0; window < 9; window++)
            for (p.n = 1; p.n < 7; p.n++)
                for (int64_t len = 0; len < 8; len++)
                    for (int64_t i = 0; i < p.n; i++) {
                        p.axis[ATTEST_AXIS_MASK].value = mask;
                        p.axis[ATTEST_AXIS_WINDOW].value = window ? ATTEST_WINDOW_W : ATTEST_WINDOW_NONE;
                        p.axis[ATTEST_AXIS_WINDOW].order = window;
                        check_visible(&p, len, i);
                    }
    int64_t first, last;
    p = parsed("n=16777216 mask=causal window=2147483647").problem;
    attest_visible(&p, (attest_lengths){ p.m, p.n }, p.n - 1, &first, &last);
    ck_assert(first == 0 && last == p.m);
}
END_TEST

/* Number of non-decreasing multi-indices of length n over `dim` symbols, counted. */
static int64_t count_indices(int64_t dim, int n, int64_t from)
{
    int64_t count = 0;
    if (n == 0)
        return 1;
    for (int64_t i = from; i < dim; i++)
        count += count_indices(dim, n - 1, i);
    return count;
}

START_TEST(states_and_heads)
{
    for (int64_t dim = 1; dim < 7; dim++) {
        int64_t power = 1;
        for (int n = 0; n < 7; n++) {
            ck_assert_int_eq(attest_state_rows(dim, n, 0), power);
            ck_assert_int_eq(attest_state_rows(dim, n, 1), count_indices(dim, n, 0));
            power *= dim;
        }
    }
    ck_assert_int_eq(attest_state_rows(2, 40, 0), 1ll << 40);
    ck_assert_int_eq(attest_state_rows(2, 41, 0), -1);
    ck_assert_int_eq(attest_state_rows(1, 64, 0), 1);
    ck_assert_int_eq(attest_state_rows(2, 64, 1), 65);
    ck_assert_int_eq(attest_state_rows(65535, 2, 0), 65535ll * 65535);
    ck_assert_int_eq(attest_state_rows(65535, 2, 1), 65535ll * 65536 / 2);
    ck_assert_int_eq(attest_state_rows(65535, 3, 1), -1);
    ck_assert_int_eq(attest_state_rows(131070, 64, 0), -1);
    ck_assert_int_eq(attest_state_rows(131070, 64, 1), -1);
    ck_assert_int_eq(attest_state_rows(1ll << 41, 1, 0), -1);
    attest_problem p = parsed("variant=cosformer hq=6 hkv=3 d=5").problem;
    ck_assert_int_eq(attest_feature_dim(&p), 10);
    for (int64_t h = 0; h < 6; h++)
        ck_assert_int_eq(attest_kv_head(&p, h), h / 2);
    p = parsed("variant=linear-relu d=5").problem;
    ck_assert_int_eq(attest_feature_dim(&p), 5);
    ck_assert_uint_eq(attest_axis_value_of(&p, ATTEST_AXIS_FEATURE), ATTEST_FEATURE_RELU);
}
END_TEST

START_TEST(names_and_numbers)
{
    static const char *const dtypes[] = { "f32", "f64", "f16", "bf16", "i64", "e4m3" };
    static const char *const forms[] = { "?", "parallel", "tiled", "split", "recurrent", "chunk", "?" };
    static const struct {
        double x;
        const char *text;
    } exact[] = {
        { 0.0, "0" },
        { -0.0, "-0" },
        { 1.0, "1" },
        { 0.1, "0.1" },
        { 1e4, "10000" },
        { 100.0, "100" },
        { 1e6, "1e+06" },
        { 1e23, "1e+23" },
        { 0.25, "0.25" },
        { -1.5, "-1.5" },
        { INFINITY, "inf" },
        { -INFINITY, "-inf" },
        { NAN, "nan" },
        { 0x1p-1074, "5e-324" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 0x1.fffffffffffffp1023, "1.7976931348623157e+308" },
    };
    char text[64], shorter[400];
    uint64_t random = 13;
    for (uint32_t i = 0; i < 6; i++)
        ck_assert_str_eq(attest_dtype_name(i), dtypes[i]);
    for (uint32_t i = 0; i < 7; i++)
        ck_assert_str_eq(attest_form_name(i), forms[i]);
    ck_assert_str_eq(attest_device_name(ATTEST_CPU), "cpu");
    ck_assert_str_eq(attest_device_name(ATTEST_CUDA), "cuda");
    ck_assert_str_eq(attest_device_name(ATTEST_CUDA_HOST), "cuda-host");
    ck_assert_str_eq(attest_device_name(0), "?");
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        attest_double_text(text, sizeof text, exact[i].x);
        ck_assert_str_eq(text, exact[i].text);
    }
    for (int i = 0; i < 20000; i++) {
        const uint64_t word = random_word(&random);
        const double x = i % 2 ? attest_bits_f64(word) : (double)(int64_t)(word >> 40) / 1000.0;
        if (!isfinite(x))
            continue;
        attest_double_text(text, sizeof text, x);
        must(attest_f64_bits(strtod(text, NULL)) == attest_f64_bits(x), "%a as %s", x, text);
        int digits = 0;
        for (const char *c = text; *c && *c != 'e'; c++)
            digits += *c >= '0' && *c <= '9' && (digits > 0 || *c != '0');
        if (digits > 1 && !(x == floor(x) && fabs(x) < 1e15)) {
            snprintf(shorter, sizeof shorter, "%.*g", digits - 1, x);
            must(strtod(shorter, NULL) != x, "%s could be %s", text, shorter);
        }
    }
}
END_TEST

START_TEST(error_lines)
{
    attest_error err = { "" };
    char longer[2 * ATTEST_ERROR_TEXT];
    ck_assert_int_eq(attest_fail(&err, ATTEST_IO, "a %d\nb\rc %s", 7, "x"), ATTEST_IO);
    ck_assert_str_eq(err.text, "a 7 b c x");
    ck_assert_int_eq(attest_fail_prefix(&err, ATTEST_BAD_INPUT, "file"), ATTEST_BAD_INPUT);
    ck_assert_str_eq(err.text, "file: a 7 b c x");
    ck_assert_int_eq(attest_fail(&err, ATTEST_INTERNAL, "%s, again: %s", err.text, err.text), ATTEST_INTERNAL);
    ck_assert_str_eq(err.text, "file: a 7 b c x, again: file: a 7 b c x");
    memset(longer, 'y', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    attest_fail(&err, ATTEST_IO, "%s", longer);
    ck_assert_uint_eq(strlen(err.text), ATTEST_ERROR_TEXT - 1);
    attest_fail_prefix(&err, ATTEST_IO, "p");
    ck_assert_uint_eq(strlen(err.text), ATTEST_ERROR_TEXT - 1);
    ck_assert(strncmp(err.text, "p: yyy", 6) == 0);
}
END_TEST

Suite *suite_problem_facts(void)
{
    Suite *suite = suite_create("problem_facts");
    TCase *tcase = tcase_create("facts");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, hash_same);
    tcase_add_test(tcase, hash_different);
    tcase_add_test(tcase, hash_known);
    tcase_add_test(tcase, default_scale);
    tcase_add_test(tcase, visible_keys);
    tcase_add_test(tcase, states_and_heads);
    tcase_add_test(tcase, names_and_numbers);
    tcase_add_test(tcase, error_lines);
    suite_add_tcase(suite, tcase);
    return suite;
}
