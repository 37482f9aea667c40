/* test_dd_guard.c - what keeps the dd engine's proof true: fast-math is refused by the compiler and, where it gets past
 * it, by the self-test; floating-point control is set and restored; an unproved tier is found out; rows at the edge of
 * the lemmas hold the truth or say that they do not know. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "reference/dd/dd_driver.h"
#include "reference/dd/dd.h"
#include "tests/reference/ball/ball_case.h"
#include "tests/reference/dd/dd_paths.h"

Suite *suite_dd_guard(void);

/* ---- what a compiler makes of the transforms --------------------------------------------------------------------- */
#define FOLDER ATTEST_TEST_BUILD "/dd-guard"
#define COMPILE "cd " ATTEST_TEST_ROOT " && ${CC:-cc} -std=c11 -D_GNU_SOURCE -I. "

static char text[1 << 14];

/* Runs a shell command; returns its exit code and the start of what it printed. */
static int run(const char *command)
{
    FILE *in = popen(command, "r");
    ck_assert_ptr_nonnull(in);
    const size_t got = fread(text, 1, sizeof text - 1, in);
    text[got] = '\0';
    while (fgetc(in) != EOF)
        continue;
    const int status = pclose(in);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(fast_math_is_refused)
{
    static const char *const flags[] = { "-Ofast", "-O2 -ffast-math", "-O1 -ffinite-math-only" };
    // clang-format off
    static const char *const paths[] = { "portable", "log", "rows", "bound", "pack",
#if defined(__x86_64__)
                                         "avx2 -mavx2 -mfma", "avx512 -mavx512f -mavx512dq -mfma"
#endif
    }; // clang-format on
    char command[1000];
    for (size_t p = 0; p < sizeof paths / sizeof paths[0]; p++) {
        const int name = (int)strcspn(paths[p], " ");
        snprintf(command, sizeof command, COMPILE "%s -O1 -E -o /dev/null reference/dd/dd_%.*s.c 2>&1", paths[p] + name,
                 name, paths[p]);
        ck_assert_msg(run(command) == 0, "%s: %s", command, text);
        for (size_t n = 0; n < sizeof flags / sizeof flags[0]; n++) {
            snprintf(command, sizeof command, COMPILE "%s %s -E -o /dev/null reference/dd/dd_%.*s.c 2>&1",
                     paths[p] + name, flags[n], name, paths[p]);
            ck_assert_msg(run(command) != 0 && strstr(text, "IEEE arithmetic"), "%s: %s", command, text);
        }
    }
}
END_TEST

/* Builds one path with `flags` and asks its self-test; -1 if it does not build. */
static int sound_with(const char *path, const char *flags)
{
    char command[3000];
    FILE *out;
    ck_assert_int_eq(run("mkdir -p " FOLDER), 0);
    out = fopen(FOLDER "/main.c", "w");
    ck_assert_ptr_nonnull(out);
    fputs("#include \"reference/dd/dd_real.h\"\nint main(void) { return PATH.sound() ? 0 : 3; }\n", out);
    ck_assert_int_eq(fclose(out), 0);
    snprintf(command, sizeof command,
             COMPILE "%s -c -o " FOLDER
                     "/path.o reference/dd/dd_%s.c 2>&1 && ${CC:-cc} -I. -DPATH=dd_path_%s -o " FOLDER "/main " FOLDER
                     "/main.c " FOLDER "/path.o " ATTEST_TEST_BUILD "/reference/dd_table.c 2>&1",
             flags, path, path);
    if (run(command) != 0)
        return -1;
    const int code = run(FOLDER "/main");
    ck_assert_msg(code == 0 || code == 3, "%s %s: exit %d", path, flags, code);
    return code == 0;
}

#define PAST_THE_GUARD " -U__FAST_MATH__ -U__FINITE_MATH_ONLY__ -D__FINITE_MATH_ONLY__=0 "

START_TEST(the_self_test_finds_out)
{
    ck_assert_msg(sound_with("portable", "-O1 -ffp-contract=off") == 1, "%s", text);
    ck_assert_msg(sound_with("portable", "-Ofast" PAST_THE_GUARD) == 0, "portable with -Ofast: %s", text);
    static const char reordered[] = "-O1 -fassociative-math -fno-signed-zeros -fno-trapping-math" PAST_THE_GUARD;
    ck_assert_msg(sound_with("portable", reordered) == 0, "portable, sums reordered: %s", text);
#if defined(__x86_64__)
    if (dd_path_avx2.runs()) {
        ck_assert_msg(sound_with("avx2", "-O1 -ffp-contract=off -mavx2 -mfma") == 1, "%s", text);
        ck_assert_msg(sound_with("avx2", "-Ofast -mavx2 -mfma" PAST_THE_GUARD) == 0, "avx2 with -Ofast: %s", text);
        /* a compiler that contracts intrinsics is found out; one that does not is sound */
        ck_assert_msg(run("${CC:-cc} --version") == 0, "%s", text);
        if (strstr(text, "Free Software Foundation"))
            ck_assert_msg(sound_with("avx2", "-O3 -ffp-contract=fast -mavx2 -mfma") == 0, "avx2, contracted: %s", text);
        if (strstr(text, "Free Software Foundation"))
            ck_assert_msg(sound_with("portable", "-O3 -ffp-contract=fast -mfma") == 0, "portable: %s", text);
    }
    if (dd_path_avx512.runs())
        ck_assert_msg(sound_with("avx512", "-Ofast -mavx512f -mavx512dq -mfma" PAST_THE_GUARD) == 0, "%s", text);
#endif
}
END_TEST

/* ---- runs -------------------------------------------------------------------------------------------------------- */
typedef struct enclosed {
    attest_enclosures o, lse;
} enclosed;

static void enclose(enclosed *y, ball_case *x, const char *path, int threads, uint32_t tiers)
{
    const attest_enclose_options options = { path, threads, tiers };
    MUST(attest_enclose(&y->o, &y->lse, &x->c.problem, x->bundle, &options, &x->err), x);
}

static void leave(enclosed *y)
{
    attest_enclosures_free(&y->o);
    attest_enclosures_free(&y->lse);
}

/* |truth - (hi + lo)| / bound, upward; 0 where the engine does not know. */
static double share(const attest_enclosures *e, int64_t n, const arb_t truth)
{
    arb_t d;
    arf_t part;
    if (!(e->bound[n] < __builtin_inf()))
        return 0;
    arb_init(d);
    arf_init(part);
    arf_set_d(part, e->hi[n]);
    arb_sub_arf(d, truth, part, 400);
    arf_set_d(part, e->lo[n]);
    arb_sub_arf(d, d, part, 400);
    const double above = ref_upper(d), below = -ref_lower(d), error = above > below ? above : below;
    arf_clear(part);
    arb_clear(d);
    return error == 0 ? 0 : error / e->bound[n];
}

typedef struct verdict {
    double worst;
    int64_t known, unknown, outside, without_truth;
} verdict;

/* Everything that the engine says of o and lse against balls of 300 bits. */
static verdict compare(const enclosed *y, ball_case *x)
{
    const attest_problem *p = &x->c.problem;
    verdict v = { 0 };
    for (int64_t r = 0; r < p->b * p->hq * p->n; r++) {
        ball_case_row(x, r / p->n / p->hq, r / p->n % p->hq, r % p->n, 300);
        const int none = x->row.no_truth || x->row.illposed;
        for (int64_t c = 0; c <= p->e; c++) {
            const attest_enclosures *e = c < p->e ? &y->o : &y->lse;
            const int64_t at = c < p->e ? r * p->e + c : r;
            const int known = e->bound[at] < __builtin_inf();
            v.known += known;
            v.unknown += !known;
            if (c == p->e && (x->row.empty || x->row.lse_absent || x->row.lse_open))
                continue;
            if (none) {
                v.without_truth += known;
                continue;
            }
            const double s = share(e, at, c < p->e ? x->row.o + c : x->row.lse);
            v.worst = s > v.worst ? s : v.worst;
            v.outside += !(s <= 1);
        }
    }
    return v;
}

/* ---- floating-point control -------------------------------------------------------------------------------------- */
#if defined(__x86_64__)
static int same(const attest_enclosures *a, const attest_enclosures *b)
{
    const size_t size = (size_t)a->count * sizeof(double);
    return a->count == b->count && memcmp(a->hi, b->hi, size) == 0 && memcmp(a->lo, b->lo, size) == 0 &&
           memcmp(a->bound, b->bound, size) == 0;
}

START_TEST(control_is_set_and_restored)
{
    static const uint32_t controls[] = { 0x1f80 | 0x8040, 0x1f80 | 0x4000, 0x1f80 | 0x2000, 0x1f80 | 0x6000 };
    static const char *const lines[] = { "n=37 d=5 in=f32 mask=causal", "n=20 d=3 in=f32 family=range",
                                         "variant=taylor:3 center=mid n=20 d=3 in=bf16" };
    const uint32_t before = __builtin_ia32_stmxcsr();
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        ball_case x;
        ball_case_start(&x, lines[k], 1);
        for (int n = 0; attest_enclose_path(n); n++)
            for (size_t m = 0; m < sizeof controls / sizeof controls[0]; m++)
                for (int threads = 1; threads <= 2; threads++) {
                    enclosed y = { .o = { 0 } }, z = { .o = { 0 } };
                    enclose(&y, &x, attest_enclose_path(n), threads, ATTEST_TIERS_PROVED);
                    __builtin_ia32_ldmxcsr(controls[m]);
                    enclose(&z, &x, attest_enclose_path(n), 3 - threads, ATTEST_TIERS_PROVED);
                    const uint32_t after = __builtin_ia32_stmxcsr();
                    __builtin_ia32_ldmxcsr(before);
                    ck_assert_msg(after == controls[m], "%s: MXCSR %x, was %x", lines[k], after, controls[m]);
                    ck_assert_msg(same(&y.o, &z.o) && same(&y.lse, &z.lse), "%s: MXCSR %x changes the result", lines[k],
                                  controls[m]);
                    leave(&y);
                    leave(&z);
                }
        __builtin_ia32_ldmxcsr(controls[0]); /* an error on the way restores it too */
        const attest_enclose_options wrong = { "none", 1, 0 };
        enclosed y = { .o = { 0 } };
        const attest_status status = attest_enclose(&y.o, NULL, &x.c.problem, x.bundle, &wrong, &x.err);
        const uint32_t after = __builtin_ia32_stmxcsr();
        __builtin_ia32_ldmxcsr(before);
        ck_assert(status == ATTEST_BAD_INPUT && after == controls[0]);
        ball_case_stop(&x);
    }
}
END_TEST
#endif

/* ---- tiers ------------------------------------------------------------------------------------------------------- */
START_TEST(a_forced_tier_is_found_out)
{
    for (int n = 0; attest_enclose_path(n); n++)
        for (uint32_t tiers = 0; tiers <= ATTEST_TIERS_FORCED; tiers++) {
            ball_case x;
            enclosed y = { .o = { 0 } };
            ball_case_start(&x, "n=40 d=8 e=8 in=f32", 1);
            enclose(&y, &x, attest_enclose_path(n), 1, tiers);
            const verdict v = compare(&y, &x);
            ck_assert_msg(v.known == 360, "%d known", (int)v.known);
            ck_assert_msg((tiers == ATTEST_TIERS_FORCED) == (v.outside > 180) && (v.outside == 0 || v.outside > 180),
                          "path %s, tiers %u: %d of 360 outside", attest_enclose_path(n), tiers, (int)v.outside);
            leave(&y);
            ball_case_stop(&x);
        }
}
END_TEST

/* ---- the edges of the lemmas ------------------------------------------------------------------------------------- */
START_TEST(edges)
{
    static const struct {
        const char *line;
        int known;
    } table[] = {
        { "n=12 d=8 in=f32 eps=0.5", 1 }, /* lse is without eps */
        { "n=12 d=8 in=f32 scale=0", 1 },
        { "n=12 d=8 in=f32 scale=-0.3 clamp=0.1", 1 },
        { "n=12 d=8 in=f32 clamp=-1e9", 1 }, /* all scores alike */
        { "n=12 d=8 in=f32 clamp=-0.5 scale=1e4", 1 },
        { "n=12 d=8 in=f32 scale=3e5", 1 }, /* shifted rows */
        { "n=12 d=8 in=f32 scale=1e11", 1 },
        { "n=12 d=8 in=f32 scale=1e14", 0 },   /* second parts too large */
        { "n=12 d=200 in=f32 scale=1e-3", 1 }, /* a fold within a score */
        { "n=300 d=2 e=3 in=f32 mask=causal window=130", 1 },
        { "n=40 m=33 d=3 in=f32 mask=causal-br lens=draw b=3", 1 },
        { "n=9 d=4 in=f32 hq=6 hkv=2", 1 },
        { "n=12 d=4 in=f32 norm=none", 1 },
        { "n=12 d=4 in=f32 norm=length mask=causal", 1 },
        { "variant=taylor:3 center=max clamp=0.01 n=12 d=8 in=f32", 1 },
        { "variant=taylor:3 center=mid clamp=-0.25 n=12 d=8 in=f32", 1 },
        { "variant=taylor:2 center=min scale=1e6 n=12 d=3 in=f32", 1 },
        { "variant=taylor:2 center=mid scale=1e6 n=12 d=3 in=f32", 1 },
        { "variant=taylor:4 center=max scale=1e25 n=12 d=1 in=f32", 1 },
        { "variant=taylor:64 n=12 d=8 in=f32", 1 },
        { "variant=taylor:63 scale=5 n=12 d=8 in=f32", 1 },
        { "variant=taylor:0 n=12 d=8 in=f32 eps=1e-5", 1 },
        { "weight=term:64 feature=relu norm=sum n=12 d=8 in=f32 eps=1e-30", 1 },
        { "weight=power:7 n=12 d=8 in=f32 norm=none", 1 },
        { "variant=linear-relu n=12 d=8 in=f16", 1 },
        { "n=12 d=8 in=bf16 family=dyadic", 1 },
        { "n=12 d=8 in=f16", 1 },
        { "n=12 d=8 in=bf16 scale=0.3", 1 },
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        ball_case x;
        ball_case_start(&x, table[k].line, 1);
        for (int n = 0; attest_enclose_path(n); n++) {
            enclosed y = { .o = { 0 } };
            enclose(&y, &x, attest_enclose_path(n), 2, ATTEST_TIERS_PROVED);
            const verdict v = compare(&y, &x);
            ck_assert_msg(v.outside == 0 && v.without_truth == 0, "%s, path %s: %d outside, worst %g of the bound",
                          table[k].line, attest_enclose_path(n), (int)v.outside, v.worst);
            ck_assert_msg((v.known > v.unknown) == table[k].known, "%s, path %s: %d known, %d not", table[k].line,
                          attest_enclose_path(n), (int)v.known, (int)v.unknown);
            leave(&y);
        }
        ball_case_stop(&x);
    }
}
END_TEST

/* A row that reads what is not finite is not known, others are not touched by it. */
START_TEST(specials)
{
    static const char *const lines[] = { "n=20 d=3 in=f32 mask=causal",
                                         "variant=linear-relu n=20 d=3 in=f32 mask=causal",
                                         "variant=taylor:2 n=20 d=3 in=bf16 mask=causal" };
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    const double value[] = { __builtin_inf(), -__builtin_inf(), __builtin_nan("") };
    for (size_t k = 0; k < 27; k++) {
        ball_case x;
        enclosed clean = { .o = { 0 } }, y = { .o = { 0 } };
        ball_case_start(&x, lines[k % 3], 1);
        for (int n = 0; attest_enclose_path(n); n++) {
            const attest_role role = roles[k / 3 % 3];
            const attest_tensor *t = attest_bundle_role(x.bundle, role);
            const int64_t at = attest_offset(t, 0, 0, 7, 1);
            const uint64_t bits = attest_load_bits(t, at);
            enclose(&clean, &x, attest_enclose_path(n), 1, 0);
            attest_store_bits(t, at, attest_from_f64(t->dtype, value[k / 9]));
            enclose(&y, &x, attest_enclose_path(n), 1, 0);
            const verdict v = compare(&y, &x);
            ck_assert_msg(v.outside == 0 && v.without_truth == 0, "%s: %d, %d", x.line, (int)v.outside,
                          (int)v.without_truth);
            for (int64_t i = 0; i < 20; i++) {
                const int reads = role == ATTEST_Q ? i == 7 : i >= 7;
                for (int64_t c = 3 * i; c < 3 * i + 3; c++)
                    ck_assert_msg(reads ? y.o.bound[c] == __builtin_inf()
                                        : y.o.hi[c] == clean.o.hi[c] && y.o.lo[c] == clean.o.lo[c],
                                  "%s: %s = %f at 7: row %d", x.line, attest_roles[role].name, value[k / 9], (int)i);
            }
            attest_store_bits(t, at, bits);
        }
        leave(&clean);
        leave(&y);
        ball_case_stop(&x);
    }
}
END_TEST

/* Inputs of any exponent that a float has, subnormals and the largest among them. */
START_TEST(any_exponent)
{
    // clang-format off
    static const char *const lines[] = { "n=9 d=4 e=17 in=f32 scale=1", "n=9 d=4 e=3 in=f32 scale=0.3",
        "variant=taylor:3 n=9 d=4 e=3 in=f32 scale=1e-20", "variant=linear-relu n=9 d=4 e=3 in=f32",
        "n=9 d=4 e=3 in=bf16 scale=1", "variant=taylor:2 center=max n=9 d=4 e=3 in=bf16 scale=1e-10"
    }; // clang-format on
    static const int first[] = { -149, -149, 100, -80, -3, -12 }, last[] = { -120, 127, 127, -30, 3, 66 };
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    uint64_t s = 60;
    int64_t known = 0;
    for (size_t k = 0; k < 216; k++) {
        ball_case x;
        ball_case_start(&x, lines[k % 6], 0);
        for (size_t role = 0; role < 3; role++) {
            const attest_tensor *t = attest_bundle_role(x.bundle, roles[role]);
            const size_t w = (role == 0 ? k / 6 % 6 : role == 1 ? k / 36 % 6 : (k / 6 + k / 36) % 6);
            for (int64_t i = 0; i < 9; i++)
                for (int64_t c = 0; c < (role < 2 ? 4 : x.c.problem.e); c++) {
                    const double y = dd_float(&s, first[w], last[w]); /* rounded where the dtype has fewer bits */
                    attest_store_bits(t, attest_offset(t, 0, 0, i, c), attest_from_f64(t->dtype, y));
                }
        }
        for (int n = 0; attest_enclose_path(n); n++) {
            enclosed y = { .o = { 0 } };
            enclose(&y, &x, attest_enclose_path(n), 1, ATTEST_TIERS_PROVED);
            const verdict v = compare(&y, &x);
            ck_assert_msg(v.outside == 0 && v.without_truth == 0, "%s, windows %d %d, path %s: %d outside, worst %g",
                          x.line, (int)(k / 6 % 6), (int)(k / 36), attest_enclose_path(n), (int)v.outside, v.worst);
            known += v.known;
            leave(&y);
        }
        ball_case_stop(&x);
    }
    ck_assert_msg(known > 10000, "only %d are known", (int)known);
}
END_TEST

/* Large scores that differ in their second parts only: less the center, x is all of what was small. */
START_TEST(near_ties)
{
    static const char *const lines[] = { "n=6 d=2 e=2 in=f32 scale=1",
                                         "variant=taylor:2 center=max n=6 d=2 e=2 in=f32 scale=1",
                                         "variant=taylor:5 center=min n=6 d=2 e=2 in=f32 scale=1",
                                         "variant=taylor:3 center=mid n=6 d=2 e=2 in=f32 scale=-0.75" };
    uint64_t s = 61;
    for (size_t k = 0; k < 4 * 12; k++) {
        const double large = dd_power_of_two(20 + (int)(k / 4) * 4), small = large * 0x1p-54;
        ball_case x;
        ball_case_start(&x, lines[k % 4], 1);
        for (int64_t i = 0; i < 6; i++) {
            ball_case_put(&x, ATTEST_Q, 0, 0, i, 0, 1);
            ball_case_put(&x, ATTEST_Q, 0, 0, i, 1, 1);
            ball_case_put(&x, ATTEST_K, 0, 0, i, 0, large);
            ball_case_put(&x, ATTEST_K, 0, 0, i, 1, small * (double)(int)(random_below(&s, 2001) - 1000) * 0x1p-10);
        }
        for (int n = 0; attest_enclose_path(n); n++) {
            enclosed y = { .o = { 0 } };
            enclose(&y, &x, attest_enclose_path(n), 1, ATTEST_TIERS_PROVED);
            const verdict v = compare(&y, &x);
            ck_assert_msg(v.outside == 0, "%s, scores of %g, path %s: %d outside, worst %g", x.line, large,
                          attest_enclose_path(n), (int)v.outside, v.worst);
            ck_assert_msg(large > 0x1p39 || v.known > v.unknown, "%s, scores of %g: not known", x.line, large);
            leave(&y);
        }
        ball_case_stop(&x);
    }
}
END_TEST

/* ---- the door ---------------------------------------------------------------------------------------------------- */
START_TEST(door)
{
    static const char *const refused[] = { "in=f64 n=4",         "scale=1e300 n=4",
                                           "scale=1e-300 n=4",   "variant=linear-elu n=4",
                                           "n=4 rope=10000 d=4", "n=4 cap=30",
                                           "n=4 norm=sink" };
    char why[200];
    enclosed y = { .o = { 0 } };
    ball_case x;
    int paths = 0;
    for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++) {
        ball_case_start(&x, refused[k], 1);
        ck_assert_msg(!attest_enclose_serves(&x.c.problem, why, sizeof why) && why[0], "%s", refused[k]);
        ck_assert_msg(attest_enclose(&y.o, NULL, &x.c.problem, x.bundle, NULL, &x.err) == ATTEST_UNSUPPORTED, "%s",
                      refused[k]);
        ball_case_stop(&x);
    }
    while (attest_enclose_path(paths))
        paths++;
    ck_assert(paths >= 1 && paths <= 3 && strcmp(attest_enclose_path(paths - 1), "portable") == 0);
    ball_case_start(&x, "n=5 d=3 mask=causal-br m=3 b=2", 1);
    ck_assert(attest_enclose_serves(&x.c.problem, why, sizeof why));
    MUST(attest_enclose(&y.o, &y.lse, &x.c.problem, x.bundle, NULL, &x.err), &x);
    ck_assert(y.o.count == 30 && y.lse.count == 10);
    ck_assert(y.lse.hi[0] == -__builtin_inf() && y.lse.bound[0] == 0 && y.o.hi[0] == 0 && y.o.bound[0] == 0);
    const double *kept = y.o.hi;
    MUST(attest_enclose(&y.o, NULL, &x.c.problem, x.bundle, NULL, &x.err), &x);
    ck_assert_msg(y.o.hi == kept, "buffers are made anew");
    leave(&y);
    ck_assert(!y.o.hi && !y.o.lo && !y.o.bound && y.o.count == 0);
    ball_case_stop(&x);
}
END_TEST

/* Known numbers and boundaries between two of them. */
START_TEST(rounding)
{
    static const struct {
        double hi, lo, bound;
        uint32_t dtype;
        int decided;
        double value;
    } table[] = {
        { 1, 0, 0, ATTEST_F32, 1, 1 },
        { 1 + 0x1p-24, 0, 0, ATTEST_F32, 1, 1 }, /* a tie, known exactly: to even */
        { 1 + 0x3p-24, 0, 0, ATTEST_F32, 1, 1 + 0x1p-22 },
        { 1 + 0x1p-24, 0, 0x1p-100, ATTEST_F32, 0, 0 }, /* a tie, not known exactly */
        { 1 + 0x1p-24, 0x1p-90, 0x1p-100, ATTEST_F32, 1, 1 + 0x1p-23 },
        { 1 + 0x1p-24, -0x1p-90, 0x1p-100, ATTEST_F32, 1, 1 },
        { 1 + 0x1p-24, 0x1p-90, 0x1p-89, ATTEST_F32, 0, 0 },
        { -1 - 0x1p-8, -0x1p-70, 0x1p-80, ATTEST_BF16, 1, -1 - 0x1p-7 },
        { 1.0 / 3, 0, 0x1p-60, ATTEST_F32, 1, 0x1.555556p-2 },
        { 1.0 / 3, 0, 1, ATTEST_F32, 0, 0 },
        { 1.0 / 3, 0, 0x1p-26, ATTEST_F32, 0, 0 },
        { 0, 0, 0, ATTEST_F32, 1, 0 },
        { -__builtin_inf(), 0, 0, ATTEST_F32, 1, -__builtin_inf() },
        { 0x1.fffffep127, 0, 1, ATTEST_F32, 1, 0x1.fffffep127 },
        { 0x1.ffffffp127, 0, 1, ATTEST_F32, 0, 0 }, /* the overflow threshold */
        { 0x1.ffffffp127, 0x1p60, 1, ATTEST_F32, 1, __builtin_inf() },
        { 0x1.8p-149, 0x1p-210, 0x1p-230, ATTEST_F32, 1, 0x1p-148 },
        { 0x1.8p-149, -0x1p-210, 0x1p-230, ATTEST_F32, 1, 0x1p-149 },
        { 1, 0x1p-60, 0x1p-70, ATTEST_F64, 1, 1 },
        { 1, 0x1p-53, 0x1p-70, ATTEST_F64, 0, 0 },
        { 1, 0, __builtin_inf(), ATTEST_F32, 0, 0 },
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        double hi = table[k].hi, lo = table[k].lo, bound = table[k].bound;
        const attest_enclosures e = { 1, &hi, &lo, &bound };
        uint64_t bits = 77;
        const int got = attest_enclosure_round(&bits, &e, 0, table[k].dtype);
        ck_assert_msg(got == table[k].decided, "%a + %a +- %a: %d", hi, lo, bound, got);
        const double value = attest_to_f64(table[k].dtype, bits);
        ck_assert_msg(!got || value == table[k].value, "%a + %a +- %a: %a", hi, lo, bound, value);
    }
}
END_TEST

Suite *suite_dd_guard(void)
{
    Suite *suite = suite_create("dd_guard");
    TCase *tc = tcase_create("guards");
    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, fast_math_is_refused);
    tcase_add_test(tc, the_self_test_finds_out);
#if defined(__x86_64__)
    tcase_add_test(tc, control_is_set_and_restored);
#endif
    tcase_add_test(tc, a_forced_tier_is_found_out);
    tcase_add_test(tc, edges);
    tcase_add_test(tc, specials);
    tcase_add_test(tc, any_exponent);
    tcase_add_test(tc, near_ties);
    tcase_add_test(tc, door);
    tcase_add_test(tc, rounding);
    suite_add_tcase(suite, tc);
    return suite;
}
