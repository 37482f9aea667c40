/* test_kv_type.c - k and v of another type than q: what is of which type, that no family draws numbers beyond the range
 * of the type, and that kernels read them as the numbers that they are. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/library/library.h"
#include "props/draw/draw.h"

Suite *suite_kv_type(void);

#define MUST(call) ck_assert_msg((call) == ATTEST_OK, "%s", err.text)

static attest_case case_of(const char *line)
{
    attest_error err = { "" };
    attest_case c;
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s: %s", line, err.text);
    return c;
}

static uint32_t dtype_of(const char *line, attest_role role)
{
    const attest_case c = case_of(line);
    attest_tensor t;
    attest_tensor_describe(&t, &c.problem, (attest_tensor_id){ ATTEST_KIND_ROLE, role }, 0);
    return t.dtype;
}

START_TEST(test_types)
{
    static const attest_role others[] = { ATTEST_Q, ATTEST_O, ATTEST_BIAS, ATTEST_GIN };
    static const struct {
        const char *line;
        uint32_t kv;
    } rows[] = { { "kv=f16 gates=in bias=full", ATTEST_F16 },
                 { "kv=bf16 gates=in bias=full", ATTEST_BF16 },
                 { "kv=e4m3 gates=in bias=full", ATTEST_F8_E4M3 },
                 { "kv=e5m2 gates=in bias=full", ATTEST_F8_E5M2 },
                 { "kv=in gates=in bias=full", ATTEST_F32 } };
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        const attest_case c = case_of(rows[n].line);
        ck_assert_uint_eq(attest_kv_dtype(&c.problem), rows[n].kv);
        ck_assert_uint_eq(dtype_of(rows[n].line, ATTEST_K), rows[n].kv);
        ck_assert_uint_eq(dtype_of(rows[n].line, ATTEST_V), rows[n].kv);
        for (size_t r = 0; r < sizeof others / sizeof others[0]; r++)
            ck_assert_uint_eq(dtype_of(rows[n].line, others[r]), ATTEST_F32);
    }
    ck_assert_uint_eq(dtype_of("in=bf16", ATTEST_K), ATTEST_BF16);
}
END_TEST

/* Every family: its k and v are in the range of the type, and some are not 0. */
START_TEST(test_families)
{
    static const char *const types[] = { "f16", "bf16", "e4m3", "e5m2" };
    attest_error err = { "" };
    for (size_t f = 0; f < attest_family_drawn; f++) {
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
            char line[256];
            attest_bundle *bundle = NULL;
            snprintf(line, sizeof line, "kv=%s n=9 d=4 family=%s", types[t], attest_families[f].name);
            const attest_case c = case_of(line);
            MUST(attest_bundle_new(&bundle, &err));
            MUST(attest_draw_missing(bundle, &c, 0, 0, &err));
            for (attest_role role = ATTEST_K; role <= ATTEST_V; role++) {
                const attest_tensor *x = attest_bundle_role(bundle, role);
                double sum = 0;
                for (int64_t at = 0; at < attest_tensor_count(x); at++)
                    sum += fabs(attest_load(x, at));
                ck_assert_msg(isfinite(sum), "%s: not finite", line);
                ck_assert_msg(sum > 0 || strstr(line, "zero") || strstr(line, "flat"), "%s: all 0", line);
            }
            attest_bundle_free(bundle);
        }
    }
}
END_TEST

/* The same numbers in f32; of 8 bits, as kernels multiply them by their scales, which is one rounding. */
static double scale_at(const attest_bundle *bundle, attest_role role, int64_t head)
{
    const attest_tensor *scale = attest_bundle_role(bundle, role == ATTEST_K ? ATTEST_K_SCALE : ATTEST_V_SCALE);
    return scale ? attest_load(scale, head) : 1;
}

static void widen(attest_bundle *wide, const attest_problem *p, const attest_bundle *narrow)
{
    attest_error err = { "" };
    for (attest_role role = ATTEST_K; role <= ATTEST_V; role++) {
        const attest_tensor *from = attest_bundle_role(narrow, role);
        attest_tensor *to;
        MUST(attest_bundle_add(wide, p, (attest_tensor_id){ ATTEST_KIND_ROLE, role }, 0, &to, &err));
        for (int64_t at = 0; at < attest_tensor_count(from); at++)
            ((float *)to->data)[at] = (float)(scale_at(narrow, role, at / (from->shape[2] * from->shape[3])) *
                                              attest_load(from, at));
    }
}

static void run(attest_tensor *o, const attest_kernel *kernel, const attest_problem *p, const attest_bundle *bundle)
{
    attest_view view;
    char why[256] = "";
    const size_t size = attest_kernel_workspace(attest_own(kernel), p);
    void *workspace = aligned_alloc(64, (size + 127) / 64 * 64);
    ck_assert_ptr_nonnull(workspace);
    attest_tensor_describe(o, p, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, 0);
    o->data = calloc(1, attest_tensor_bytes(o));
    ck_assert_ptr_nonnull(o->data);
    attest_bundle_view(bundle, &view);
    view.role[ATTEST_O] = o;
    ck_assert_msg(attest_kernel_run(attest_own(kernel), p, &view, workspace, size, why, sizeof why) == ATTEST_OK,
                  "%s: %s", kernel->name, why);
    free(workspace);
}

/* 1 if the kernel serves the line with k and v of that type: then with the bits that it gives for the same numbers. */
static int check_kernel(const attest_kernel *kernel, const char *line, const char *type)
{
    attest_error err = { "" };
    char text[256], why[256];
    snprintf(text, sizeof text, "%s kv=%s", line, type);
    const attest_case plain = case_of(line), c = case_of(text);
    attest_bundle *narrow = NULL, *wide = NULL;
    attest_tensor o[2];
    if (!attest_kernel_supports(attest_own(kernel), &c.problem, why, sizeof why))
        return 0;
    MUST(attest_bundle_new(&narrow, &err));
    MUST(attest_bundle_new(&wide, &err));
    MUST(attest_draw_missing(narrow, &c, 0, 0, &err));
    widen(wide, &plain.problem, narrow);
    MUST(attest_draw_missing(wide, &plain, 0, 0, &err)); /* the rest: drawn alike */
    run(&o[0], kernel, &plain.problem, wide);
    run(&o[1], kernel, &c.problem, narrow);
    ck_assert_msg(memcmp(o[0].data, o[1].data, attest_tensor_bytes(&o[0])) == 0, "%s: other bits: %s", kernel->name,
                  text);
    free(o[0].data);
    free(o[1].data);
    attest_bundle_free(narrow);
    attest_bundle_free(wide);
    return 1;
}

static const char *const lines[] = {
    "variant=softmax b=2 hq=4 hkv=2 n=3 m=70 d=16 e=32 splits=3 mask=causal-br",
    "variant=softmax b=2 n=5 m=33 d=64 e=64 splits=2 lens=draw p=bf16",
    "variant=softmax b=2 n=40 m=70 d=80 e=20 splits=2 feature=elu1 rope=100 gates=in",
    "variant=taylor:2 b=2 n=4 m=9 d=3 splits=2 gates=in",
    "variant=gla n=70 d=20 e=9",
    "variant=linear mask=causal state=draw n=37 d=5 e=3",
};

START_TEST(test_kernels)
{
    const attest_library *own = attest_builtin_library();
    int kernels = 0, runs = 0;
    for (size_t k = 0; k < own->kernel_count; k++) {
        int served = 0;
        for (size_t n = 0; n < sizeof lines / sizeof lines[0]; n++)
            served += check_kernel(own->kernels[k], lines[n], "f16") + check_kernel(own->kernels[k], lines[n], "bf16") +
                      check_kernel(own->kernels[k], lines[n], "e4m3") + check_kernel(own->kernels[k], lines[n], "e5m2");
        kernels += served > 0;
        runs += served;
    }
    ck_assert_int_ge(runs, 36);   /* 18 pairs of a kernel and a line, each with two types */
    ck_assert_int_ge(kernels, 9); /* what has SERVE_PAIRS and in=f32, and SERVE_LINEAR_TABLE */
}
END_TEST

/* ---- 8 bits ------------------------------------------------------------------------------------------------------ */

/* By the OCP definition: (-1)^s 2^(x-bias) 1.f, or 2^(1-bias) 0.f. */
static double eight(int byte, int fraction_bits, int bias)
{
    const int fraction = byte & ((1 << fraction_bits) - 1), power = (byte & 0x7f) >> fraction_bits;
    const double size = ldexp(fraction + (power ? 1 << fraction_bits : 0), (power ? power : 1) - bias - fraction_bits);
    return byte & 0x80 ? -size : size;
}

START_TEST(test_eight_bits)
{
    for (int byte = 0; byte < 256; byte++) {
        const double a = attest_to_f64(ATTEST_F8_E4M3, (uint64_t)byte),
                     b = attest_to_f64(ATTEST_F8_E5M2, (uint64_t)byte);
        if ((byte & 0x7f) == 0x7f)
            ck_assert(isnan(a));
        else
            ck_assert(a == eight(byte, 3, 7) && attest_from_f64(ATTEST_F8_E4M3, a) == (uint64_t)byte);
        if ((byte & 0x7f) > 0x7c)
            ck_assert(isnan(b));
        else if ((byte & 0x7f) == 0x7c)
            ck_assert(isinf(b) && (b < 0) == (byte > 0x7f));
        else
            ck_assert(b == eight(byte, 2, 15));
        if ((byte & 0x7f) <= 0x7c)
            ck_assert_uint_eq(attest_from_f64(ATTEST_F8_E5M2, b), (uint64_t)byte);
    }
    ck_assert(attest_to_f64(ATTEST_F8_E4M3, 0x7e) == 448 && attest_to_f64(ATTEST_F8_E5M2, 0x7b) == 57344);
    ck_assert_uint_eq(attest_from_f64(ATTEST_F8_E4M3, 1e9), 0x7e);
    ck_assert_uint_eq(attest_from_f64(ATTEST_F8_E4M3, -470), 0xfe);
    ck_assert_uint_eq(attest_from_f64(ATTEST_F8_E4M3, 17), attest_from_f64(ATTEST_F8_E4M3, 16)); /* ties to even */
    ck_assert_uint_eq(attest_from_f64(ATTEST_F8_E4M3, 19), attest_from_f64(ATTEST_F8_E4M3, 20));
    ck_assert_uint_eq(attest_from_f64(ATTEST_F8_E4M3, 0x1p-10), 0); /* the tie at half the least */
    ck_assert_uint_eq(attest_from_f64(ATTEST_F8_E4M3, (double)INFINITY), 0x7f);
    ck_assert_uint_eq(attest_from_f64(ATTEST_F8_E5M2, 1e9), 0x7c);
}
END_TEST

/* The least and the largest product of a number and a scale are doubles. */
START_TEST(test_numbers)
{
    attest_error err = { "" };
    const attest_case c = case_of("kv=e5m2 b=2 n=3 d=4");
    attest_bundle *bundle;
    attest_tensor x;
    MUST(attest_bundle_new(&bundle, &err));
    MUST(attest_draw_missing(bundle, &c, 0, 0, &err));
    attest_tensor *k = attest_bundle_role(bundle, ATTEST_K), *scale = attest_bundle_role(bundle, ATTEST_K_SCALE);
    ck_assert(scale && scale->dtype == ATTEST_F32 && scale->rank == 2 && scale->shape[0] == 2 && scale->shape[1] == 1);
    attest_store_bits(k, 0, 1);
    attest_store_bits(scale, 0, 1);
    attest_store_bits(k, 12, 0x7b);
    attest_store_bits(scale, 1, 0x7f7fffff);
    MUST(attest_kv_numbers(&x, &c.problem, k, scale, &err));
    ck_assert(attest_load(&x, 0) == 0x1p-165);
    ck_assert(attest_load(&x, 12) == 57344 * 0x1.fffffep127);
    free(x.data);
    attest_bundle_free(bundle);
}
END_TEST

/* What numbers of 8 bits are, in per cent: subnormal and not 0; the largest. */
typedef struct shares {
    double subnormal, cut;
} shares;

static shares shares_of(const attest_tensor *t, int64_t from, int64_t count)
{
    const attest_format f = attest_format_of(t->dtype);
    const double least = ldexp(1, f.emin), most = t->dtype == ATTEST_F8_E4M3 ? 448 : 57344;
    shares s = { 0, 0 };
    for (int64_t at = from; at < from + count; at++) {
        const double x = fabs(attest_load(t, at));
        s.subnormal += x > 0 && x < least;
        s.cut += x == most;
    }
    return (shares){ 100 * s.subnormal / (double)count, 100 * s.cut / (double)count };
}

/* Scales of heads differ, are no powers of two, and some are 1; some heads are subnormal, of some numbers are cut. */
static void check_scales(const char *type)
{
    attest_error err = { "" };
    char text[64];
    attest_bundle *bundle;
    int ones = 0, powers = 0, small = 0, cut = 0;
    snprintf(text, sizeof text, "kv=%s b=8 hq=8 n=9 d=8", type);
    const attest_case c = case_of(text);
    MUST(attest_bundle_new(&bundle, &err));
    MUST(attest_draw_missing(bundle, &c, 0, 0, &err));
    for (attest_role role = ATTEST_K_SCALE; role <= ATTEST_V_SCALE; role++)
        for (int64_t at = 0; at < 64; at++) {
            const double x = attest_load(attest_bundle_role(bundle, role), at);
            const attest_tensor *t = attest_bundle_role(bundle, role == ATTEST_K_SCALE ? ATTEST_K : ATTEST_V);
            const shares s = shares_of(t, at * 72, 72);
            int exponent;
            ck_assert(x > 0 && isfinite(x));
            ones += x == 1;
            powers += x != 1 && frexp(x, &exponent) == 0.5;
            small += s.subnormal > 20;
            cut += s.cut > 0;
        }
    ck_assert_msg(ones > 3 && ones < 40 && powers == 0 && small >= 8 && small < 40 && cut >= 4 && cut < 40,
                  "%s: %d ones, %d powers of two, %d subnormal, %d cut", type, ones, powers, small, cut);
    attest_bundle_free(bundle);
}

START_TEST(test_scales)
{
    check_scales("e4m3");
    check_scales("e5m2");
}
END_TEST

/* Whatever the family, few numbers are cut; of the families that are drawn over scales, some. */
START_TEST(test_cut)
{
    attest_error err = { "" };
    int some = 0;
    for (size_t f = 0; f < attest_family_drawn; f++)
        for (int kv = 0; kv < 2; kv++) {
            char text[128];
            attest_bundle *bundle;
            snprintf(text, sizeof text, "kv=%s b=8 hq=4 n=40 d=16 family=%s", kv ? "e5m2" : "e4m3",
                     attest_families[f].name);
            const attest_case c = case_of(text);
            MUST(attest_bundle_new(&bundle, &err));
            MUST(attest_draw_missing(bundle, &c, 0, 0, &err));
            for (attest_role role = ATTEST_K; role <= ATTEST_V; role++) {
                const attest_tensor *t = attest_bundle_role(bundle, role);
                const shares s = shares_of(t, 0, attest_tensor_count(t));
                ck_assert_msg(s.cut < 10, "%s: %g %% of %s are cut", text, s.cut, role == ATTEST_K ? "k" : "v");
                some += s.cut > 0;
            }
            attest_bundle_free(bundle);
        }
    ck_assert_int_ge(some, 20);
}
END_TEST

/* Suite ci repeats few sizes, from one seed: its cases have subnormal heads of k and of v all the same, also where
 * there is one KV head. */
START_TEST(test_turns)
{
    static const char *const axes[] = { "",         "mask=causal", "window=5",   "feature=elu1",   "gates=in",
                                        "rope=100", "bias=full",   "alibi=draw", "attn_mask=full", "dropout=0.25",
                                        "n=1 m=65", "n=3 m=129",   "n=2 m=100",  "n=1 m=70" };
    attest_error err = { "" };
    for (int kv = 0; kv < 2; kv++) {
        int small[2] = { 0, 0 };
        for (size_t n = 0; n < sizeof axes / sizeof axes[0]; n++) {
            char text[128];
            attest_bundle *bundle;
            snprintf(text, sizeof text, "kv=%s b=2 hq=2 hkv=1 %s %s", kv ? "e5m2" : "e4m3", n < 10 ? "n=9 d=4" : "d=64",
                     axes[n]);
            const attest_case c = case_of(text);
            MUST(attest_bundle_new(&bundle, &err));
            MUST(attest_draw_missing(bundle, &c, 0, 0, &err));
            for (attest_role role = ATTEST_K; role <= ATTEST_V; role++) {
                const attest_tensor *t = attest_bundle_role(bundle, role);
                for (int64_t b = 0; b < 2; b++)
                    small[role == ATTEST_V] +=
                        shares_of(t, b * attest_tensor_count(t) / 2, attest_tensor_count(t) / 2).subnormal > 20;
            }
            attest_bundle_free(bundle);
        }
        ck_assert_msg(small[0] >= 2 && small[1] >= 2, "%s: %d of k, %d of v", kv ? "e5m2" : "e4m3", small[0], small[1]);
    }
}
END_TEST

Suite *suite_kv_type(void)
{
    Suite *suite = suite_create("kv_type");
    TCase *kv = tcase_create("kv_type");
    tcase_add_test(kv, test_types);
    tcase_add_test(kv, test_families);
    tcase_add_test(kv, test_kernels);
    tcase_add_test(kv, test_eight_bits);
    tcase_add_test(kv, test_numbers);
    tcase_add_test(kv, test_scales);
    tcase_add_test(kv, test_cut);
    tcase_add_test(kv, test_turns);
    suite_add_tcase(suite, kv);
    return suite;
}
