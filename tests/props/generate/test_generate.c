/* The generator: the frozen stream of lines and tensors, cases made alone, and what it draws for the built-in kernels.
 */
#include <check.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "kernels/library/call.h"
#include "kernels/library/registry.h"
#include "props/generate/generate_draw.h"
#include "tests/stream/stream.h"

Suite *suite_generate(void);

enum { CASES = 6000 }; /* a rest of keys comes once in some 600 */

/* ---- the stream ------------------------------------------------------------------------------------------------- */

START_TEST(known_answers)
{
    for (int k = 0; k < STREAM_SEEDS; k++)
        for (uint32_t threads = 1; threads <= 2; threads++) {
            const uint64_t hash = stream_hash(stream_answers[k].seed, threads);
            ck_assert_msg(hash == stream_answers[k].hash, "seed %" PRIu64 ", %u threads: %016" PRIx64,
                          stream_answers[k].seed, threads, hash);
        }
}
END_TEST

static void generate(char line[ATTEST_LINE], attest_generated *made, uint64_t seed, uint32_t number,
                     const attest_prop_kernel *kernel, const attest_prop_host *host)
{
    attest_error err = { "" };
    ck_assert_msg(attest_generate(made, seed, number, kernel, host, &err) == ATTEST_OK, "%s", err.text);
    line[0] = '\0';
    if (made->found)
        ck_assert_msg(attest_case_print(line, ATTEST_LINE, &made->c, &err) == ATTEST_OK, "%s", err.text);
}

/* A case is the same whatever was made before it; other seeds and numbers give others. */
START_TEST(cases_stand_alone)
{
    const attest_prop_host host = { .supports = stream_serve };
    const attest_prop_kernel kernel = stream_kernel(0);
    attest_generated made;
    char line[3][ATTEST_LINE];
    int same[2] = { 0, 0 };
    for (uint32_t number = 0; number < 50; number++) {
        generate(line[0], &made, 7, number, &kernel, &host);
        generate(line[1], &made, 7, number + 1000, &kernel, &host);
        generate(line[2], &made, 8, number, &kernel, &host);
        ck_assert_uint_eq(made.c.seed, 8);
        ck_assert(strstr(line[0], " seed=7") != NULL);
        same[0] += strcmp(line[0], line[1]) == 0;
        line[2][strlen(line[2]) - 1] = '7';
        same[1] += strcmp(line[0], line[2]) == 0;
        generate(line[1], &made, 7, number, &kernel, &host);
        ck_assert_str_eq(line[0], line[1]);
    }
    ck_assert_int_lt(same[0], 3);
    ck_assert_int_lt(same[1], 3);
}
END_TEST

/* ---- what is drawn for the built-in kernels --------------------------------------------------------------------- */

static int serves(void *context, const attest_problem *p)
{
    const attest_kernel *kernel = context;
    attest_error err;
    char why[256];
    ck_assert_msg(attest_variant_check(p->axis, p->n, p->m, &err) == ATTEST_OK, "asked about: %s", err.text);
    return attest_kernel_supports(attest_own(kernel), p, why, sizeof why);
}

/* What was seen of a run over all built-in kernels. */
typedef struct seen {
    int preset[64], order[ATTEST_MAX_ORDER + 1], value[ATTEST_AXIS_COUNT][16], rest[32], in[ATTEST_DTYPE_COUNT];
    long tries, small, unequal;
} seen;

static void look(seen *s, const attest_generated *made, const attest_kernel *kernel)
{
    const attest_problem *p = &made->c.problem;
    for (size_t k = 0; k < attest_preset_count; k++) {
        const size_t length = strlen(attest_presets[k].name);
        s->preset[k] += strncmp(made->c.preset, attest_presets[k].name, length) == 0 &&
                        (made->c.preset[length] == '\0' || made->c.preset[length] == ':');
    }
    s->order[p->axis[ATTEST_AXIS_WEIGHT].order] += p->axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_EXP;
    for (int a = 0; a < ATTEST_AXIS_COUNT; a++)
        s->value[a][p->axis[a].value]++;
    if (kernel->numerics->tile == 32)
        s->rest[p->m % 32]++;
    s->in[p->in]++;
    s->tries += made->tries;
    s->small += p->n <= 40 && p->m <= 40;
    s->unequal += p->n != p->m;
}

static void run_builtin(seen *s, uint64_t seed)
{
    const attest_library *library = attest_builtin_library();
    memset(s, 0, sizeof *s);
    for (uint32_t number = 0; number < CASES; number++) {
        const attest_kernel *kernel = library->kernels[number % library->kernel_count];
        const attest_prop_kernel facts = stream_declared(kernel);
        const attest_prop_host host = { .context = (void *)(uintptr_t)kernel, .supports = serves };
        attest_generated made;
        char line[ATTEST_LINE];
        generate(line, &made, seed, number, &facts, &host);
        ck_assert_msg(made.found, "case %u: no problem for %s", number, kernel->name);
        ck_assert_msg(serves(host.context, &made.c.problem), "%s", line);
        const attest_problem *x = &made.c.problem;
        ck_assert_msg(x->n <= ATTEST_GENERATE_TOKENS && x->m <= ATTEST_GENERATE_TOKENS && x->b <= ATTEST_GENERATE_BATCH,
                      "%s", line);
        look(s, &made, kernel);
    }
}

START_TEST(builtin_kernels)
{
    for (uint64_t seed = 0; seed < 3; seed++) {
        seen s;
        run_builtin(&s, seed);
        for (size_t k = 0; k < attest_preset_count; k++)
            ck_assert_msg(s.preset[k] > 0, "seed %" PRIu64 ": no case of %s", seed, attest_presets[k].name);
        for (int order = 0; order <= 8; order++)
            ck_assert_msg(s.order[order] > 0, "seed %" PRIu64 ": no case of order %d", seed, order);
        for (int a = 0; a < ATTEST_AXIS_COUNT; a++)
            for (uint32_t v = 0; v < attest_axes[a].value_count; v++)
                ck_assert_msg(s.value[a][v] > 0, "seed %" PRIu64 ": no case of value %u of %s", seed, v,
                              attest_axes[a].key);
        for (int rest = 0; rest < 32; rest++)
            ck_assert_msg(s.rest[rest] > 0, "seed %" PRIu64 ": no rest of %d keys", seed, rest);
        for (int type = ATTEST_F32; type <= ATTEST_BF16; type++)
            ck_assert_msg(s.in[type] > 0, "seed %" PRIu64 ": no case of type %d", seed, type);
        ck_assert_msg(s.tries < 6 * CASES, "%g tries a case", (double)s.tries / CASES);
        ck_assert_msg(s.small > CASES * 3 / 4, "%ld small cases", s.small);
        ck_assert_msg(s.unequal > CASES / 4, "%ld cases of n != m", s.unequal);
    }
}
END_TEST

/* ---- kernels that are hard to please ---------------------------------------------------------------------------- */

static int serves_nothing(void *context, const attest_problem *p)
{
    (void)p;
    ++*(int *)context;
    return 0;
}

START_TEST(starved)
{
    int asked = 0;
    const attest_prop_host host = { .context = &asked, .supports = serves_nothing };
    const attest_prop_kernel kernel = stream_kernel(1);
    attest_generated made;
    char line[ATTEST_LINE];
    generate(line, &made, 1, 2, &kernel, &host);
    ck_assert(!made.found);
    ck_assert_int_eq(made.tries, ATTEST_GENERATE_TRIES);
    ck_assert_int_gt(asked, ATTEST_GENERATE_TRIES / 2);
    ck_assert_int_le(asked, ATTEST_GENERATE_TRIES);
}
END_TEST

static uint32_t at(const attest_problem *p, attest_axis axis) { return p->axis[axis].value; }

static int serves_blocks(const attest_problem *p)
{
    return p->d % 16 == 0 && p->d == p->e && p->n % 16 == 0 && p->m % 16 == 0 && p->in == ATTEST_BF16 &&
           at(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP && at(p, ATTEST_AXIS_NORM) == ATTEST_NORM_SUM;
}
static int serves_states(const attest_problem *p) { return at(p, ATTEST_AXIS_STATE) == ATTEST_STATE_DRAW; }
static int serves_alibi(const attest_problem *p) { return at(p, ATTEST_AXIS_ALIBI) == ATTEST_ALIBI_DRAW; }
static int serves_power(const attest_problem *p) { return at(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_POWER; }

typedef int (*serves_some)(const attest_problem *p);

static int serve_some(void *context, const attest_problem *p) { return (*(serves_some *)context)(p); }

/* A kernel that serves one drawn line in 100 is missed by all tries of a case once in 56 ((1 - 1/100)^400).  Where more
 * than one case in 10 is missed, less than one line in 174 is served: it draws too little of what it asks. */
enum { HARD_SEEDS = 8, HARD_CASES = 40, HARD_LEAST = HARD_SEEDS * HARD_CASES * 9 / 10 };

/* Whole blocks only; nothing but with given states, with a bias; weights that its schedule makes unlikely. */
START_TEST(hard_to_please)
{
    serves_some some[] = { serves_blocks, serves_states, serves_alibi, serves_power };
    for (size_t k = 0; k < sizeof some / sizeof some[0]; k++) {
        const attest_prop_host host = { .context = &some[k], .supports = serve_some };
        attest_prop_kernel kernel = stream_kernel(1);
        int found = 0;
        for (uint32_t number = 0; number < HARD_SEEDS * HARD_CASES; number++) {
            attest_generated made;
            char line[ATTEST_LINE];
            generate(line, &made, number % HARD_SEEDS, number / HARD_SEEDS, &kernel, &host);
            ck_assert(!made.found || some[k](&made.c.problem));
            found += made.found;
        }
        ck_assert_msg(found >= HARD_LEAST, "kernel %zu: %d of %d cases found, at least %d wanted", k, found,
                      HARD_SEEDS * HARD_CASES, HARD_LEAST);
    }
}
END_TEST

static int serve_fixed(void *context, const attest_problem *p)
{
    const attest_limits *l = context;
    return p->b >= l->b.least && p->hkv % 2 == 0 && p->n >= 16 && p->n % 16 == 0 && p->m <= 100 && p->d == 64 &&
           p->e % 32 == 0 && p->e <= 128 && at(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP;
}

/* Sizes keep to declared limits: the first or second line is served already, where one in 400 was not. */
START_TEST(declared_limits)
{
    attest_limits limits = { .b = { .least = 2 },
                             .hkv = { .multiple = 2 },
                             .n = { .least = 16, .multiple = 16 },
                             .m = { .most = 100 },
                             .d = { .least = 64, .most = 64 },
                             .e = { .most = 130, .multiple = 32 } };
    const attest_prop_host host = { .context = &limits, .supports = serve_fixed };
    attest_prop_kernel kernel = { .form = ATTEST_TILED, .outputs = ATTEST_GIVES_O, .limits = limits };
    int tries = 0, e_more = 0, n_more = 0;
    for (uint32_t number = 0; number < 100; number++) {
        attest_generated made;
        char line[ATTEST_LINE];
        generate(line, &made, 1, number, &kernel, &host);
        ck_assert(made.found);
        tries += made.tries;
        e_more += made.c.problem.e > 32;
        n_more += made.c.problem.n > 16;
    }
    ck_assert_int_lt(tries, 400);
    ck_assert_int_gt(e_more, 1);
    ck_assert_int_gt(n_more, 5);
}
END_TEST

/* Limits that no case can have change nothing, and overflow nothing. */
START_TEST(limits_out_of_reach)
{
    const attest_limits limits = { .b = { .least = INT64_MAX },
                                   .n = { .multiple = INT64_MAX },
                                   .e = { .least = 3, .most = 1 } };
    attest_problem p = { .b = 1, .hq = 2, .hkv = 1, .n = 5, .m = 6, .d = 7, .e = 8, .scale = 1 };
    attest_keep_limits(&p, &limits);
    ck_assert(p.b == 1 && p.hq == 2 && p.hkv == 1 && p.n == 5 && p.m == 6 && p.d == 7 && p.e == 1 && p.scale == 1);
    p.scale = attest_default_scale(7);
    attest_keep_limits(&p, &(attest_limits){ .d = { .multiple = 4 }, .hq = { .least = 4 } });
    ck_assert(p.d == 8 && p.scale == attest_default_scale(8) && p.hq == 4 && p.hkv == 1);
}
END_TEST

/* Heads that a line allows, whatever a kernel says of one kind of them. */
START_TEST(limits_of_heads)
{
    static const attest_limits limits[] = {
        { .hq = { .most = 1 } },
        { .hq = { .multiple = 8 } },
        { .hq = { .least = 4 } },
        { .hq = { .least = 5, .most = 5 } },
        { .hkv = { .least = 2, .multiple = 2 }, .hq = { .multiple = 8 } },
        { .hkv = { .most = 1 }, .hq = { .least = 3, .most = 3 } },
        { .hkv = { .least = 3 }, .hq = { .most = 2 } }, /* of none: nothing changes */
        { .b = { .least = 5000 }, .d = { .multiple = 1 << 18 } },
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        for (int64_t hkv = 1; hkv <= 5; hkv++)
            for (int64_t group = 1; group <= 4; group++) {
                attest_problem p = {
                    .b = 2, .hq = hkv * group, .hkv = hkv, .n = 3, .m = 4, .d = 5, .e = 6, .scale = 1
                };
                const attest_limits *l = &limits[i];
                attest_keep_limits(&p, l);
                ck_assert(p.hkv >= 1 && p.hq >= p.hkv && p.hq % p.hkv == 0 && p.b == 2 && p.d == 5);
                if (i == 6)
                    ck_assert(p.hkv == hkv && p.hq == hkv * group);
                else
                    ck_assert((l->hq.most == 0 || p.hq <= l->hq.most) && p.hq >= l->hq.least &&
                              (l->hq.multiple == 0 || p.hq % l->hq.multiple == 0) && p.hkv >= l->hkv.least &&
                              (l->hkv.most == 0 || p.hkv <= l->hkv.most) &&
                              (l->hkv.multiple == 0 || p.hkv % l->hkv.multiple == 0));
            }
}
END_TEST

Suite *suite_generate(void)
{
    Suite *suite = suite_create("props_generate");
    TCase *tcase = tcase_create("generate");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, known_answers);
    tcase_add_test(tcase, cases_stand_alone);
    tcase_add_test(tcase, builtin_kernels);
    tcase_add_test(tcase, starved);
    tcase_add_test(tcase, hard_to_please);
    tcase_add_test(tcase, declared_limits);
    tcase_add_test(tcase, limits_out_of_reach);
    tcase_add_test(tcase, limits_of_heads);
    suite_add_tcase(suite, tcase);
    return suite;
}
