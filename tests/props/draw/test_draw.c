/* Draws: independence of the shape, one rounding, the fixed distributions, bounded delta keys, symmetric states. */
#include <check.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/draw/draw.h"
#include "props/draw/rng.h"
#include "tests/props/draw/family_cases.h"

Suite *suite_draw(void);

START_TEST(only_what_is_read)
{
    attest_error err;
    attest_bundle *bundle;
    attest_case c = case_of("variant=linear n=3 d=2");
    ck_assert(attest_bundle_new(&bundle, &err) == ATTEST_OK);
    ck_assert_int_eq(attest_draw_tensor(bundle, &c, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_GIN }, 0, 0, &err),
                     ATTEST_INTERNAL);
    attest_tensor *v = NULL;
    ck_assert(attest_bundle_add(bundle, &c.problem, (attest_tensor_id){ 0, ATTEST_V }, 0, &v, &err) == ATTEST_OK);
    ck_assert(attest_draw_missing(bundle, &c, 0, 0, &err) == ATTEST_OK);
    for (int64_t i = 0; i < 6; i++)
        ck_assert_msg(attest_load(v, i) == 0, "a tensor that was there is drawn again");
    ck_assert(attest_bundle_role(bundle, ATTEST_Q) && attest_bundle_role(bundle, ATTEST_K));
    strcpy(c.family, "nothing");
    ck_assert_int_eq(attest_draw_missing(bundle, &c, 0, 0, &err), ATTEST_OK); /* nothing is missing */
    ck_assert_int_eq(attest_draw_tensor(bundle, &c, (attest_tensor_id){ 0, ATTEST_Q }, 0, 0, &err), ATTEST_BAD_INPUT);
    attest_bundle_free(bundle);
}
END_TEST

/* ---- addressing ------------------------------------------------------------------------------------ */

/* Elements with the same indices are equal; axes beyond the rank have length 1.  Returns how many. */
static int64_t common_elements(const attest_bundle *one, const attest_bundle *two, uint32_t role, const char *what)
{
    const attest_tensor *a = attest_bundle_role(one, (attest_role)role);
    const attest_tensor *b = attest_bundle_role(two, (attest_role)role);
    int64_t n[4], same = 0;
    for (int i = 0; i < 4; i++)
        n[i] = a->shape[i] < b->shape[i] ? a->shape[i] : b->shape[i];
    for (int64_t i0 = 0; i0 < n[0]; i0++)
        for (int64_t i1 = 0; i1 < n[1]; i1++)
            for (int64_t i2 = 0; i2 < n[2]; i2++)
                for (int64_t i3 = 0; i3 < n[3]; i3++, same++)
                    ck_assert_msg(attest_load_bits(a, attest_offset(a, i0, i1, i2, i3)) ==
                                      attest_load_bits(b, attest_offset(b, i0, i1, i2, i3)),
                                  "%s: %s[%lld,%lld,%lld,%lld]", what, attest_roles[role].name, (long long)i0,
                                  (long long)i1, (long long)i2, (long long)i3);
    return same;
}

START_TEST(values_do_not_depend_on_the_shape)
{
    static const struct {
        const char *one, *two;
    } rows[] = {
        { "n=64 d=16", "n=100 d=20 b=2 hq=4 hkv=2 e=3 scale=3" },
        { "n=64 d=16 family=normal:0.3", "m=100 d=20 b=2 hq=4 e=3 family=normal:0.3" },
        { "n=64 d=16 family=uniform", "n=100 m=30 d=20 b=2 hq=4 hkv=2 family=uniform" },
        { "n=64 d=16 family=flat", "n=100 d=20 b=2 hq=4 family=flat" },
        { "n=64 d=16 family=ones", "n=100 d=20 b=2 hq=4 family=ones" },
        { "n=64 d=16 family=ramp-up", "n=100 m=70 e=5 b=2 hq=4 family=ramp-up" },
        { "n=64 d=16 family=negative", "n=100 m=70 e=5 b=2 hq=4 family=negative" },
        { "n=64 d=16 family=huge", "n=100 m=70 e=5 b=2 hq=4 family=huge" },
        { "n=64 d=16 family=range", "n=100 m=70 e=5 b=2 hq=4 family=range" },
        { "n=64 d=16 family=dyadic", "n=100 m=64 e=5 b=2 hq=4 family=dyadic" },
        { "n=64 d=16 family=peaked", "n=100 m=70 e=5 b=2 hq=4 family=peaked d=16" },
        { "n=64 d=16 family=cast-edge", "n=100 m=70 d=20 scale=0.25 e=5 b=2 hq=4 family=cast-edge" },
        { "n=64 d=16 family=subnormal", "n=100 d=20 b=2 hq=4 hkv=2 e=3 scale=3 family=subnormal" },
        { "n=64 d=16 family=positive", "n=100 m=30 d=20 b=2 hq=4 hkv=2 family=positive" },
        { "n=64 d=16 family=integers", "n=100 m=30 d=20 b=2 hq=4 hkv=2 family=integers" },
        { "n=64 d=16 family=stairs:3", "n=100 m=70 e=5 b=2 hq=4 family=stairs:3" },
        { "n=64 d=16 family=half-peak", "n=100 m=64 e=5 b=2 hq=4 family=half-peak" },
        { "n=64 d=16 mask=causal family=half-peak", "n=100 m=70 e=5 b=2 hq=4 mask=causal family=half-peak" },
        { "n=64 d=16 family=large-products", "n=100 m=70 e=5 b=2 hq=4 family=large-products" },
        { "variant=taylor:3 n=64 d=16 family=taylor-roots", "variant=taylor:3 n=100 m=64 d=20 e=5 scale=0.25 b=2 hq=4 "
                                                            "family=taylor-roots" },
        { "variant=taylor:4 n=64 d=16 family=taylor-roots", "variant=taylor:4 n=100 m=70 e=5 b=2 hq=4 "
                                                            "family=taylor-roots" },
        { "n=64 d=16 family=p-underflow", "n=100 m=70 e=5 b=2 hq=4 family=p-underflow" },
        { "n=64 d=16 family=zero-keys", "n=100 m=30 d=20 b=2 hq=4 hkv=2 e=3 scale=3 family=zero-keys" },
        { "n=64 d=16 family=cancel", "n=100 m=70 e=5 b=2 hq=4 family=cancel" },
        { "variant=sla-gdn n=10 d=3 hq=4 hkv=2", "variant=sla-gdn n=12 d=3 hq=8 hkv=4 b=3" },
        { "variant=gla n=10 d=3 hq=2", "variant=gla n=12 d=5 hq=4 b=3" },
        { "variant=softmax1 lens=draw m=10 b=2 hq=3", "variant=softmax1 lens=draw n=12 m=10 b=5 hq=6" },
        { "variant=layernorm affine=draw gates=inout n=4", "variant=layernorm affine=draw gates=inout n=9 e=20 hq=2" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const attest_case c = case_of(rows[i].one), other = case_of(rows[i].two);
        attest_bundle *one = draw_case(&c, 0, 0), *two = draw_case(&other, 0, 0);
        for (uint32_t role = 0; role < ATTEST_O; role++)
            if (attest_bundle_role(one, (attest_role)role))
                ck_assert(common_elements(one, two, role, rows[i].one) > 0);
        attest_bundle_free(one);
        attest_bundle_free(two);
    }
}
END_TEST

/* No two heads, batches, tensors, seeds or cases share their values. */
START_TEST(places_differ)
{
    attest_case c = case_of("b=2 hq=2 n=4 m=4 d=8 e=8");
    attest_bundle *bundle = draw_case(&c, 0, 0);
    const attest_tensor *t[3] = { attest_bundle_role(bundle, ATTEST_Q), attest_bundle_role(bundle, ATTEST_K),
                                  attest_bundle_role(bundle, ATTEST_V) };
    for (int64_t i = 0; i < 3 * 128; i++)
        for (int64_t j = 0; j < i; j++)
            ck_assert_msg(attest_load_bits(t[i / 128], i % 128) != attest_load_bits(t[j / 128], j % 128),
                          "elements %lld and %lld are equal", (long long)i, (long long)j);
    attest_bundle_free(bundle);
    for (size_t f = 0; f < attest_family_drawn; f++) {
        snprintf(c.family, sizeof c.family, "%s", attest_families[f].name);
        c.seed = 0;
        const uint64_t hash = hash_of(&c, 0);
        ck_assert_msg(hash_of(&c, 1) != hash, "%s: the case does not count", c.family);
        c.seed = 1;
        ck_assert_msg(hash_of(&c, 0) != hash, "%s: the seed does not count", c.family);
        c.seed = 1ull << 40;
        ck_assert_msg(hash_of(&c, 0) != hash, "%s: the seed's high word does not count", c.family);
    }
}
END_TEST

/* ---- one rounding ---------------------------------------------------------------------------------- */

/* STD * draw * 2^-32 exactly (53 + 36 bits), then one rounding to p bits. */
static double rounded_normal(double deviation, int64_t draw, int p)
{
    mpfr_t x;
    mpfr_init2(x, 128);
    mpfr_set_d(x, deviation, MPFR_RNDN);
    ck_assert(mpfr_mul_si(x, x, draw, MPFR_RNDN) == 0 && mpfr_div_2ui(x, x, 32, MPFR_RNDN) == 0);
    mpfr_prec_round(x, p, MPFR_RNDN);
    const double value = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
    return value;
}

START_TEST(normal_is_rounded_once)
{
    static const char *const deviations[] = { "1", "0.1", "3.7", "123.456" };
    static const char *const dtypes[] = { "f32", "f64", "bf16" };
    for (int f = 0; f < 3; f++) {
        for (int s = 0; s < 4; s++) {
            char line[96];
            snprintf(line, sizeof line, "n=1024 d=8 seed=3 in=%s family=normal:%s", dtypes[f], deviations[s]);
            const attest_case c = case_of(line);
            attest_bundle *bundle = draw_case(&c, 7, 0);
            const attest_stream stream = { 3, 7, ATTEST_K };
            const attest_tensor *k = attest_bundle_role(bundle, ATTEST_K);
            for (int64_t i = 0; i < 1024 * 8; i++) {
                const int64_t exact = attest_draw_normal(&stream, attest_draw_index(0, 0, i / 8, i % 8));
                const double deviation = strtod(deviations[s], NULL);
                const double want = rounded_normal(deviation, exact, attest_format_of(c.problem.in).p);
                ck_assert_msg(attest_load(k, i) == want, "%s: element %lld is %a, not %a", line, (long long)i,
                              attest_load(k, i), want);
            }
            attest_bundle_free(bundle);
        }
    }
}
END_TEST

/* Draws whose rounding to bf16 by way of f32 is another: they exist, and the drawn tensor has the right one. */
START_TEST(no_double_rounding)
{
    attest_bundle *bundle = draw("n=4096 m=1 d=64 in=bf16");
    const attest_tensor *q = attest_bundle_role(bundle, ATTEST_Q);
    const attest_stream stream = { 0, 0, ATTEST_Q };
    int sensitive = 0;
    for (int64_t i = 0; i < 4096 * 64; i++) {
        const double exact = (double)attest_draw_normal(&stream, attest_draw_index(0, 0, i / 64, i % 64)) * 0x1p-32;
        const uint64_t direct = attest_from_f64(ATTEST_BF16, exact);
        const double once = attest_to_f64(ATTEST_F32, attest_from_f64(ATTEST_F32, exact));
        sensitive += attest_from_f64(ATTEST_BF16, once) != direct;
        ck_assert_uint_eq(attest_load_bits(q, i), direct);
    }
    ck_assert_msg(sensitive > 0, "no draw can tell one rounding from two");
    attest_bundle_free(bundle);
}
END_TEST

/* ---- the other tensors ------------------------------------------------------------------------------- */

START_TEST(fixed_laws)
{
    static const struct {
        const char *line;
        attest_role role;
        double low, high; /* every value is in (low, high] */
    } rows[] = {
        { "gates=inout n=2000 d=1", ATTEST_GIN, 0, 1 },
        { "gates=inout n=2000 d=1", ATTEST_GOUT, 0, 1 },
        { "variant=simple-gla n=2000 d=1", ATTEST_DECAY, 0, 1 },
        { "variant=gla n=200 d=9", ATTEST_DECAY, 0, 1 },
        { "variant=deltanet n=2000 d=1", ATTEST_BETA, 0, 0x1.fffffep+0 },
        { "variant=sla hq=4 n=500 d=1", ATTEST_Q_HEAD_LOGITS, -6, 6 },
        { "variant=sla hq=4 n=500 d=1", ATTEST_K_HEAD_LOGITS, -6, 6 },
        { "variant=softmax1 hq=1000 n=1 d=1", ATTEST_SINK, -6, 6 },
        { "variant=softmax1 hq=1000 n=1 d=1 in=f64", ATTEST_SINK, -6, 6 },
        { "gates=inout n=2000 d=1 in=f64", ATTEST_GIN, 0, 1 },
        { "variant=rmsnorm affine=draw n=1 e=1000 in=f64", ATTEST_GAIN, -0.5, 2.5 },
        { "variant=rmsnorm affine=draw n=1 e=1000", ATTEST_GAIN, -0.5, 2.5 },
        { "variant=rmsnorm affine=draw n=1 e=1000", ATTEST_SHIFT, -6, 6 },
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const attest_case c = case_of(rows[r].line);
        attest_bundle *bundle = draw_case(&c, 0, 0);
        const attest_tensor *t = attest_bundle_role(bundle, rows[r].role);
        const attest_stream stream = { 0, 0, rows[r].role };
        double least = 1e9, most = -1e9;
        for (int64_t i = 0; i < attest_tensor_count(t); i++) {
            const double x = attest_load(t, i);
            least = x < least ? x : least;
            most = x > most ? x : most;
        }
        ck_assert_msg(least > rows[r].low && most <= rows[r].high, "%s: %g..%g", rows[r].line, least, most);
        const double width = rows[r].high - rows[r].low;
        ck_assert_msg(most - least > 0.3 * width, "%s: %g..%g", rows[r].line, least, most);
        /* the first element, straight from its distribution */
        uint32_t words[4];
        attest_draw_words(words, &stream, 0, 0);
        const double normal = (double)attest_draw_normal(&stream, 0) * 0x1p-32, unit = ((double)words[0] + 1) * 0x1p-32;
        const double want = rows[r].role == ATTEST_GAIN   ? 1 + normal / 4
                            : rows[r].role == ATTEST_BETA ? 2 * unit
                            : rows[r].low < 0             ? normal
                                                          : unit;
        const double stored = t->dtype == ATTEST_F64 ? want : (double)(float)want; /* in f64 every draw is exact */
        ck_assert_msg(attest_load(t, 0) == stored, "%s: %a, not %a", rows[r].line, attest_load(t, 0), stored);
        attest_bundle_free(bundle);
    }
}
END_TEST

/* A seed whose first write strength is so near to 2 that it rounds to 2: the number before it is taken. */
START_TEST(write_strength_stays_below_two)
{
    const attest_stream stream = { 20274765, 0, ATTEST_BETA };
    uint32_t words[4];
    attest_draw_words(words, &stream, 0, 0);
    ck_assert((float)(((double)words[0] + 1) * 0x1p-31) == 2.0f);
    attest_bundle *bundle = draw("variant=deltanet n=1 d=1 seed=20274765");
    ck_assert(attest_load(attest_bundle_role(bundle, ATTEST_BETA), 0) == 0x1.fffffep+0);
    attest_bundle_free(bundle);
}
END_TEST

START_TEST(lengths_and_decays)
{
    attest_bundle *bundle = draw("lens=draw b=3000 m=9 n=1 d=1"), *retnet = draw("variant=retnet n=1 d=1 hq=100");
    int seen[10] = { 0 };
    for (int64_t b = 0; b < 3000; b++) {
        const int64_t len = attest_load_int(attest_bundle_role(bundle, ATTEST_KV_LENS), b);
        ck_assert(len >= 0 && len <= 9);
        seen[len]++;
    }
    for (int len = 0; len < 10; len++) /* mean 300, deviation 16.4 */
        ck_assert_msg(seen[len] > 215 && seen[len] < 385, "length %d: %d times", len, seen[len]);
    double half = 0x1p-5;
    for (int64_t g = 0; g < 100; g++, half /= 2)
        ck_assert(attest_load(attest_bundle_role(retnet, ATTEST_GAMMA), g) == (double)(float)(1 - half));
    attest_bundle_free(bundle);
    attest_bundle_free(retnet);
    retnet = draw("variant=retnet n=1 d=1 hq=100 in=f64");
    ck_assert(attest_load(attest_bundle_role(retnet, ATTEST_GAMMA), 47) == 1 - 0x1p-52);
    ck_assert(attest_load(attest_bundle_role(retnet, ATTEST_GAMMA), 99) == 1);
    attest_bundle_free(retnet);
}
END_TEST

/* Slopes against MPFR at 200 bits; and every number of heads has slopes at all. */
/* Rows of every kind occur in attn_mask, tiles of 32 x 32 and padding on the left; all bytes are 0 or 1. */
START_TEST(masks)
{
    int none = 0, one = 0, all = 0, but_last = 0, some = 0, tiles = 0, padded = 0;
    attest_bundle *bundle = draw("attn_mask=full b=4 hq=8 n=64 m=96 d=1");
    const attest_tensor *t = attest_bundle_role(bundle, ATTEST_MASK);
    const unsigned char *byte = t->data;
    for (int64_t row = 0; row < 4 * 8 * 64; row++) {
        int count = 0;
        for (int64_t j = 0; j < 96; j++) {
            ck_assert_uint_le(byte[row * 96 + j], 1);
            count += byte[row * 96 + j];
        }
        none += count == 0;
        one += count == 1;
        all += count == 96;
        but_last += count == 95 && !byte[row * 96 + 95];
        some += count > 1 && count < 95;
    }
    for (int64_t head = 0; head < 4 * 8; head++) {
        int hidden = 0, left = 1;
        const unsigned char *first = byte + head * 64 * 96;
        for (int64_t tile = 0; tile < 2 * 3; tile++) {
            int any = 0;
            for (int64_t at = 0; at < 32 * 32; at++)
                any |= first[(tile / 3 * 32 + at / 32) * 96 + tile % 3 * 32 + at % 32];
            hidden += !any;
        }
        for (int64_t at = 1; at < 64 * 96; at++)
            left &= at % 96 ? first[at] >= first[at - 1] : first[at] == first[0];
        tiles += hidden > 0;
        padded += left && !first[0];
    }
    ck_assert_msg(none > 50 && one > 50 && all > 50 && but_last > 50 && some > 500, "%d %d %d %d %d", none, one, all,
                  but_last, some);
    ck_assert_msg(tiles >= 6 && padded >= 6, "%d %d", tiles, padded);
    attest_bundle_free(bundle);
    bundle = draw("attn_mask=shared n=9 m=9 d=1 seed=3"); /* other seeds begin with other rows */
    attest_bundle *other = draw("attn_mask=shared n=9 m=9 d=1 seed=4");
    ck_assert(memcmp(attest_bundle_role(bundle, ATTEST_MASK)->data, attest_bundle_role(other, ATTEST_MASK)->data, 81));
    attest_bundle_free(other);
    attest_bundle_free(bundle);
}
END_TEST

START_TEST(slopes)
{
    static const int heads[] = { 1, 2, 3, 5, 6, 7, 8, 12, 16, 40, 96, 1000, 3001, 4095, 4096 };
    mpfr_t x;
    mpfr_init2(x, 200);
    for (size_t n = 0; n < sizeof heads / sizeof heads[0]; n++) {
        for (int wide = 0; wide < 2; wide++) {
            char line[96];
            snprintf(line, sizeof line, "alibi=draw n=1 d=1 hq=%d hkv=1 acc=%s", heads[n], wide ? "f64" : "f32");
            attest_bundle *bundle = draw(line);
            const attest_tensor *slope = attest_bundle_role(bundle, ATTEST_SLOPE);
            for (int h = 0; h < heads[n]; h++) {
                mpfr_set_si(x, -8 * (h + 1), MPFR_RNDN);
                mpfr_div_si(x, x, heads[n], MPFR_RNDN);
                mpfr_exp2(x, x, MPFR_RNDN);
                ck_assert_msg(attest_load(slope, h) == (double)mpfr_get_flt(x, MPFR_RNDN), "%s: head %d: %a", line, h,
                              attest_load(slope, h));
            }
            attest_bundle_free(bundle);
        }
    }
    mpfr_clear(x);
    mpfr_free_cache();
}
END_TEST

/* b norm2(k)^2 < 2 under delta and efla, for every b below 2; the row keeps its direction. */
START_TEST(delta_keys_are_small)
{
    static const char *const lines[] = { "n=50 d=16",
                                         "n=50 d=64 in=bf16 family=huge",
                                         "n=50 d=1 in=f16",
                                         "n=50 d=100 family=normal:1000",
                                         "n=50 d=7 family=dyadic",
                                         "n=50 d=3 family=normal:1e-20",
                                         "n=50 d=4 in=f64 family=normal:1e200" };
    for (size_t l = 0; l < sizeof lines / sizeof lines[0]; l++) {
        char line[128];
        snprintf(line, sizeof line, "variant=efla %s", lines[l]);
        attest_case c = case_of(line);
        attest_bundle *bundle = draw_case(&c, 0, 0);
        snprintf(line, sizeof line, "variant=linear mask=causal %s", lines[l]);
        attest_case free_case = case_of(line);
        attest_bundle *larger = draw_case(&free_case, 0, 0);
        const attest_tensor *k = attest_bundle_role(bundle, ATTEST_K), *g = attest_bundle_role(larger, ATTEST_K);
        for (int64_t j = 0; j < 50; j++) {
            double norm = 0, was = 0, ratio = 0;
            for (int64_t x = 0; x < c.problem.d; x++) {
                const double a = at(k, 0, 0, j, x), b = at(g, 0, 0, j, x);
                norm += a * a;
                was += b * b;
                if (a != 0 && ratio == 0)
                    ratio = b / a;
                ck_assert_msg(attest_from_f64(c.problem.in, a * ratio) == attest_from_f64(c.problem.in, b) || b == 0,
                              "%s: key %lld is not scaled as one: %a %a", lines[l], (long long)j, a, b);
            }
            ck_assert_msg(norm < 1, "%s: key %lld has norm^2 %g", lines[l], (long long)j, norm);
            ck_assert_msg(norm == was || norm > 0.18, "%s: key %lld is scaled too far: %g", lines[l], (long long)j,
                          norm);
            ck_assert_msg(ratio == 0 || (attest_f64_bits(ratio) & 0xfffffffffffffu) == 0, "%s: %a", lines[l], ratio);
        }
        attest_bundle_free(bundle);
        attest_bundle_free(larger);
    }
}
END_TEST

/* ---- states ------------------------------------------------------------------------------------------ */

/* Row of the packed layout that holds a full layout's row. */
static int64_t packed_row(int64_t row, int64_t dim, int degree)
{
    int64_t want[8], multi[8] = { 0 };
    for (int k = degree - 1; k >= 0; k--, row /= dim)
        want[k] = row % dim;
    for (int a = 0; a < degree; a++) /* sort */
        for (int b = a + 1; b < degree; b++)
            if (want[b] < want[a]) {
                const int64_t t = want[a];
                want[a] = want[b];
                want[b] = t;
            }
    for (int64_t packed = 0;; packed++) {
        int k = degree - 1;
        if (memcmp(multi, want, (size_t)degree * sizeof multi[0]) == 0)
            return packed;
        while (multi[k] == dim - 1)
            k--;
        multi[k]++;
        for (int later = k + 1; later < degree; later++)
            multi[later] = multi[k];
    }
}

START_TEST(states_are_symmetric)
{
    const attest_case c = case_of("variant=taylor:4 b=2 hq=2 n=2 d=3 e=2 state=draw");
    const attest_case wider = case_of("variant=taylor:4 b=2 hq=2 n=2 d=4 e=3 state=draw");
    attest_bundle *full = draw_case(&c, 0, 0), *packed = draw_case(&c, 0, 1), *wide = draw_case(&wider, 0, 1);
    for (uint32_t kind = ATTEST_KIND_H0; kind <= ATTEST_KIND_Z0; kind++) {
        for (uint32_t n = 0; n <= 4; n++) {
            const attest_tensor_id id = { kind, n };
            const attest_tensor *f = attest_bundle_get(full, id), *s = attest_bundle_get(packed, id);
            const int64_t rows = f->shape[2];
            ck_assert_int_eq(s->shape[2], attest_state_rows(3, (int)n, 1));
            for (int64_t i = 0; i < attest_tensor_count(f); i++) {
                const int64_t channel = i % f->shape[3], row = i / f->shape[3] % rows, head = i / f->shape[3] / rows;
                const double x = attest_load(f, i);
                const double y = at(s, head / 2, head % 2, packed_row(row, 3, (int)n), channel);
                ck_assert_msg(x == y, "kind %u degree %u row %lld: %a %a", kind, n, (long long)row, x, y);
                ck_assert(x != 0 && (kind == ATTEST_KIND_H0 || (x > 0 && x <= 1)));
            }
            for (int64_t a = 0; a < attest_tensor_count(s); a++)
                for (int64_t b = 0; b < a; b++)
                    ck_assert_msg(attest_load(s, a) != attest_load(s, b), "kind %u degree %u: entries %lld and %lld",
                                  kind, n, (long long)a, (long long)b);
        }
    }
    /* (1,2) is row 4 of the packed rows of d = 3 and row 5 of those of d = 4 */
    const attest_tensor_id first = { ATTEST_KIND_H0, 0 }, second = { ATTEST_KIND_H0, 2 };
    const attest_stream stream = { 0, 0, 15 };
    for (int64_t place = 0; place < 8; place++) {
        const int64_t b = place >> 2, g = place >> 1 & 1, channel = place & 1;
        const double value = (double)attest_draw_normal(&stream, attest_draw_index(b, g, 0, channel)) * 0x1p-32;
        ck_assert(at(attest_bundle_get(full, first), b, g, 0, channel) == (double)(float)value);
    }
    ck_assert(at(attest_bundle_get(packed, second), 1, 1, 4, 1) == at(attest_bundle_get(wide, second), 1, 1, 5, 1));
    attest_bundle_free(full);
    attest_bundle_free(packed);
    attest_bundle_free(wide);
}
END_TEST

START_TEST(states_too_large)
{
    attest_error err;
    attest_bundle *bundle;
    attest_case c = case_of("variant=taylor:1 n=1 d=60 e=1 state=draw");
    c.problem.axis[ATTEST_AXIS_WEIGHT].order = 6; /* C(65,6) = 8e7 entries */
    ck_assert(attest_bundle_new(&bundle, &err) == ATTEST_OK);
    ck_assert_int_eq(attest_draw_tensor(bundle, &c, (attest_tensor_id){ ATTEST_KIND_H0, 6 }, 0, 1, &err),
                     ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "too large to draw") != NULL, "%s", err.text);
    attest_bundle_free(bundle);
}
END_TEST

Suite *suite_draw(void)
{
    Suite *suite = suite_create("draw");
    TCase *tcase = tcase_create("draw");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, only_what_is_read);
    tcase_add_test(tcase, values_do_not_depend_on_the_shape);
    tcase_add_test(tcase, places_differ);
    tcase_add_test(tcase, normal_is_rounded_once);
    tcase_add_test(tcase, no_double_rounding);
    tcase_add_test(tcase, fixed_laws);
    tcase_add_test(tcase, write_strength_stays_below_two);
    tcase_add_test(tcase, lengths_and_decays);
    tcase_add_test(tcase, slopes);
    tcase_add_test(tcase, masks);
    tcase_add_test(tcase, delta_keys_are_small);
    tcase_add_test(tcase, states_are_symmetric);
    tcase_add_test(tcase, states_too_large);
    suite_add_tcase(suite, tcase);
    return suite;
}
