/* test_search.c - props/search*: the generator behind GSL, the optimiser on a function whose maximum is known, and what
 * a point makes of tensors.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/draw/draw.h"
#include "props/draw/rng.h"
#include "props/search/search_latent.h"
#include "props/search/search_rng.h"

Suite *suite_search(void);

/* ---- the generator ------------------------------------------------------------------------------------------ */
START_TEST(rng_is_the_stream)
{
    const attest_stream stream = { 0x123456789abull, 7, ATTEST_SEARCH_STREAM };
    gsl_rng *rng = attest_search_rng(stream.seed, stream.case_number);
    ck_assert_ptr_nonnull(rng);
    for (int round = 0; round < 2; round++) {
        for (uint64_t index = 0; index < 5; index++) {
            uint32_t words[4];
            attest_draw_words(words, &stream, 0, index);
            for (int w = 0; w < 4; w++)
                ck_assert_uint_eq(gsl_rng_get(rng), words[w]);
        }
        gsl_rng_set(rng, stream.seed);
    }
    uint32_t words[4];
    attest_draw_words(words, &stream, 0, 0);
    ck_assert_double_eq(gsl_rng_uniform(rng), words[0] * 0x1p-32);
    gsl_rng_free(rng);
    gsl_rng *other = attest_search_rng(stream.seed, 8);
    ck_assert_uint_ne(gsl_rng_get(other), words[0]);
    gsl_rng_free(other);
}
END_TEST

/* ---- the optimiser -------------------------------------------------------------------------------------------- */
enum { REALS = 8, CHOICES = 4, COUNT = REALS + CHOICES };

/* -sum (x_i - t_i)^2 - the number of wrong choices: its maximum is 0, at the target. */
typedef struct hill {
    double target[COUNT];
    long asked, outside, starts, fail_at;
} hill;

static attest_status hill_value(double *value, void *self, const double *x, attest_error *err)
{
    hill *h = self;
    *value = 0;
    for (int i = 0; i < COUNT; i++) {
        h->outside += i < REALS ? !(x[i] >= -3 && x[i] <= 5) : !(x[i] >= 0 && x[i] <= 2 && x[i] == floor(x[i]));
        *value -= i < REALS ? (x[i] - h->target[i]) * (x[i] - h->target[i]) : x[i] != h->target[i];
    }
    return ++h->asked == h->fail_at ? attest_fail(err, ATTEST_IO, "asked too often") : ATTEST_OK;
}

/* Start 3 is the target but for one choice; starts beyond the box are brought back. */
static attest_status hill_start(double *x, int *given, void *self, long number, attest_error *err)
{
    hill *h = self;
    (void)err;
    ck_assert_int_eq(number, h->starts++);
    *given = number == 3 || number == 4;
    if (number == 3) {
        memcpy(x, h->target, sizeof h->target);
        x[COUNT - 1] = h->target[COUNT - 1] > 0 ? 0 : 1;
    }
    if (number == 4)
        x[0] = 1e6;
    return ATTEST_OK;
}

static attest_coordinate coordinates[COUNT];

static attest_search_problem hill_problem(hill *h)
{
    for (int i = 0; i < COUNT; i++) {
        coordinates[i] = i < REALS ? (attest_coordinate){ .lo = -3, .hi = 5, .group = (uint32_t)i % 2 }
                                   : (attest_coordinate){ .choices = 3 };
        h->target[i] = i < REALS ? -2 + 0.77 * i : i % 3;
    }
    return (attest_search_problem){
        .count = COUNT, .coordinates = coordinates, .groups = 2, .self = h, .value = hill_value
    };
}

static attest_search_result search(const attest_search_problem *p, uint64_t seed, uint32_t chain, long evaluations)
{
    attest_search_result r;
    attest_error err;
    const attest_search_options options = { seed, chain, evaluations };
    ck_assert_msg(attest_search(&r, p, &options, &err) == ATTEST_OK, "%s", err.text);
    return r;
}

/* The best of as many uniform points. */
static double best_of_uniform(hill *h, long evaluations)
{
    gsl_rng *rng = attest_search_rng(99, 0);
    double best = -INFINITY, value, x[COUNT];
    attest_error err;
    for (long k = 0; k < evaluations; k++) {
        for (int i = 0; i < COUNT; i++)
            x[i] = i < REALS ? -3 + 8 * gsl_rng_uniform(rng) : (double)gsl_rng_uniform_int(rng, 3);
        hill_value(&value, h, x, &err);
        best = fmax(best, value);
    }
    gsl_rng_free(rng);
    return best;
}

START_TEST(known_maximum)
{
    hill h = { .asked = 0 };
    const attest_search_problem p = hill_problem(&h);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        h.asked = 0;
        attest_search_result r = search(&p, seed, 0, 8000);
        ck_assert_int_eq(h.asked, 8000);
        ck_assert_int_eq(r.evaluations, 8000);
        ck_assert_int_eq(h.outside, 0);
        ck_assert_msg(r.value > -1e-6, "seed %d: %g", (int)seed, r.value);
        for (int i = 0; i < COUNT; i++)
            ck_assert_msg(fabs(r.x[i] - h.target[i]) < 1e-3, "seed %d: x[%d] = %g", (int)seed, i, r.x[i]);
        ck_assert(r.reached[ATTEST_PHASE_BOXES] == r.value);
        for (int k = 1; k < ATTEST_PHASE_COUNT; k++)
            ck_assert(r.reached[k] >= r.reached[k - 1]);
        ck_assert(r.reached[ATTEST_PHASE_ANNEAL] > 0.5 * r.reached[ATTEST_PHASE_STARTS]);
        ck_assert(best_of_uniform(&h, 8000) < -1);
        free(r.x);
    }
}
END_TEST

/* Every phase alone moves on from where the one before it ended. */
START_TEST(every_phase_helps)
{
    hill h = { .asked = 0 };
    attest_search_problem p = hill_problem(&h);
    attest_search_result r = search(&p, 5, 0, 1600);
    for (int k = 1; k < ATTEST_PHASE_COUNT; k++)
        ck_assert_msg(r.reached[k] > r.reached[k - 1], "%s: %g after %g", attest_phase_names[k], r.reached[k],
                      r.reached[k - 1]);
    free(r.x);
    p.start = hill_start;
    r = search(&p, 5, 0, 1600);
    ck_assert_int_eq(h.starts, 200); /* an eighth */
    ck_assert(r.reached[ATTEST_PHASE_STARTS] == -1);
    ck_assert_int_eq(h.outside, 0);
    free(r.x);
}
END_TEST

/* Numbers follow from seed and chain alone. */
START_TEST(repeated)
{
    hill h = { .asked = 0 };
    const attest_search_problem p = hill_problem(&h);
    attest_search_result a = search(&p, 3, 1, 500), b = search(&p, 3, 1, 500), c = search(&p, 3, 2, 500),
                         d = search(&p, 4, 1, 500);
    ck_assert(memcmp(a.x, b.x, sizeof(double) * COUNT) == 0 && memcmp(a.reached, b.reached, sizeof a.reached) == 0);
    ck_assert(memcmp(a.x, c.x, sizeof(double) * COUNT) != 0);
    ck_assert(memcmp(a.x, d.x, sizeof(double) * COUNT) != 0);
    for (long n = 1; n < 20; n++) { /* however few */
        h.asked = 0;
        attest_search_result few = search(&p, 3, 1, n);
        ck_assert_int_eq(h.asked, n);
        free(few.x);
    }
    free(a.x);
    free(b.x);
    free(c.x);
    free(d.x);
}
END_TEST

START_TEST(search_errors)
{
    attest_search_result r;
    attest_error err;
    for (long at = 1; at < 400; at += 57) {
        hill h = { .fail_at = at };
        const attest_search_problem p = hill_problem(&h);
        const attest_search_options options = { 1, 0, 400 };
        ck_assert_int_eq(attest_search(&r, &p, &options, &err), ATTEST_IO);
        ck_assert_str_eq(err.text, "asked too often");
        ck_assert_ptr_null(r.x);
        ck_assert_int_eq(h.asked, at);
    }
    const attest_search_problem none = { .count = 0 };
    const attest_search_options options = { 1, 0, 400 };
    ck_assert_int_eq(attest_search(&r, &none, &options, &err), ATTEST_BAD_INPUT);
}
END_TEST

/* ---- points and tensors ------------------------------------------------------------------------------------------ */
typedef struct scene {
    attest_case c;
    attest_bundle *bundle;
    attest_latent latent;
    double *x;
} scene;

static void scene_start(scene *s, const char *line)
{
    attest_error err;
    ck_assert_msg(attest_case_parse(&s->c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert(attest_bundle_new(&s->bundle, &err) == ATTEST_OK);
    ck_assert_msg(attest_draw_missing(s->bundle, &s->c, 0, 0, &err) == ATTEST_OK, "%s", err.text);
    ck_assert(attest_latent_init(&s->latent, &s->c.problem, &err) == ATTEST_OK);
    s->x = calloc(s->latent.count, sizeof *s->x);
    attest_latent_read(&s->latent, s->x, s->bundle);
}

static void scene_write(scene *s)
{
    attest_error err;
    ck_assert(attest_latent_write(&s->latent, s->x, s->bundle, &err) == ATTEST_OK);
}

static void scene_end(scene *s)
{
    attest_latent_clear(&s->latent);
    ck_assert_uint_eq(s->latent.count, 0);
    attest_bundle_free(s->bundle);
    free(s->x);
}

static const char *const lines[] = {
    "variant=softmax n=3 m=5 d=2 e=3",
    "variant=softmax b=2 hq=4 hkv=2 n=3 m=5 d=2 in=bf16",
    "variant=softmax n=2 m=3 d=2 in=f64",
    "variant=softmax n=2 m=3 d=2 in=f16 family=ones",
    "variant=gdn n=4 d=3 e=2",
    "variant=sla n=3 m=3 d=2 hq=2 mask=causal",
    "variant=softmax norm=sink n=2 m=4 d=2",
    "variant=layernorm affine=draw n=3 m=3 d=2 e=3",
    "variant=taylor:2 state=draw n=3 d=2 mask=causal",
};

/* Reading a drawn bundle and writing the point gives every bit back; changing one coordinate changes something. */
START_TEST(read_and_write)
{
    for (size_t l = 0; l < sizeof lines / sizeof lines[0]; l++) {
        scene s;
        attest_bundle *before;
        attest_error err;
        attest_tensor_id ids[ATTEST_MAX_TENSORS];
        scene_start(&s, lines[l]);
        ck_assert(attest_bundle_new(&before, &err) == ATTEST_OK);
        ck_assert(attest_draw_missing(before, &s.c, 0, 0, &err) == ATTEST_OK);
        const size_t count = attest_problem_inputs(&s.c.problem, ids, ATTEST_MAX_TENSORS);
        for (int round = 0; round < 2; round++) {
            scene_write(&s);
            int same = 1;
            for (size_t i = 0; i < count; i++) {
                const attest_tensor *a = attest_bundle_get(before, ids[i]), *b = attest_bundle_get(s.bundle, ids[i]);
                same = same && memcmp(a->data, b->data, attest_tensor_bytes(a)) == 0;
            }
            ck_assert_msg(same == (round == 0), "%s: round %d", lines[l], round);
            s.x[0] += 1;
        }
        attest_bundle_free(before);
        scene_end(&s);
    }
}
END_TEST

/* Any point of the boxes: gates and decays in [0,1], b in [0,2), keys of a delta rule short. */
START_TEST(any_point_is_legal)
{
    for (size_t l = 0; l < sizeof lines / sizeof lines[0]; l++) {
        scene s;
        gsl_rng *rng = attest_search_rng(17, (uint32_t)l);
        scene_start(&s, lines[l]);
        const int delta = attest_axis_value_of(&s.c.problem, ATTEST_AXIS_UPDATE) != ATTEST_UPDATE_ADD;
        for (int round = 0; round < 200; round++) {
            for (size_t i = 0; i < s.latent.count; i++) {
                const attest_coordinate *c = &s.latent.coordinates[i];
                s.x[i] = c->choices   ? (double)gsl_rng_uniform_int(rng, c->choices)
                         : round == 0 ? c->hi
                                      : c->lo + (c->hi - c->lo) * gsl_rng_uniform(rng);
            }
            scene_write(&s);
            static const struct {
                attest_role role;
                double most;
            } most[] = { { ATTEST_DECAY, 1 }, { ATTEST_GIN, 1 }, { ATTEST_GOUT, 1 }, { ATTEST_BETA, 0x1.ffp0 } };
            for (size_t k = 0; k < 4; k++) {
                const attest_tensor *t = attest_bundle_role(s.bundle, most[k].role);
                for (int64_t at = 0; t && at < attest_tensor_count(t); at++)
                    ck_assert(attest_load(t, at) >= 0 && attest_load(t, at) <= most[k].most);
            }
            const attest_tensor *key = attest_bundle_role(s.bundle, ATTEST_K);
            for (int64_t row = 0; delta && row < key->shape[0] * key->shape[1] * key->shape[2]; row++) {
                double sum = 0;
                for (int64_t c = 0; c < key->shape[3]; c++)
                    sum += pow(attest_load(key, row * key->shape[3] + c), 2);
                ck_assert(sum <= 0.75);
            }
        }
        gsl_rng_free(rng);
        scene_end(&s);
    }
}
END_TEST

static double score(const attest_bundle *bundle, int64_t key)
{
    const attest_tensor *q = attest_bundle_role(bundle, ATTEST_Q), *k = attest_bundle_role(bundle, ATTEST_K);
    const int64_t d = q->shape[3], last = (q->shape[2] - 1) * d;
    double sum = 0;
    for (int64_t c = 0; c < d; c++)
        sum += attest_load(q, last + c) * attest_load(k, key * d + c);
    return sum;
}

/* Ties, order and signs: the coordinates after the elements. */
START_TEST(arrangements)
{
    const int64_t m = 6;
    scene s;
    scene_start(&s, "variant=softmax n=2 m=6 d=3 e=2 seed=4");
    double *tie = s.x + s.latent.count - 2 - (size_t)m, *order = s.x + s.latent.count - 2, *signs = order + 1;
    attest_tensor *v = attest_bundle_role(s.bundle, ATTEST_V);
    const double first = attest_load(v, 0);
    double sum = 0, sorted = 0;
    for (int64_t at = 0; at < m; at++)
        sum += score(s.bundle, at) * attest_load(v, 2 * at);
    for (int falling = 0; falling < 2; falling++) {
        *order = 1 + falling;
        scene_write(&s);
        for (int64_t j = 1; j < m; j++)
            ck_assert(falling ? score(s.bundle, j) <= score(s.bundle, j - 1)
                              : score(s.bundle, j) >= score(s.bundle, j - 1));
    }
    for (int64_t at = 0; at < m; at++) /* values went with their keys */
        sorted += score(s.bundle, at) * attest_load(v, 2 * at);
    ck_assert_double_eq_tol(sum, sorted, 1e-12);
    *order = 0;
    scene_write(&s);
    ck_assert_double_eq(attest_load(v, 0), first);
    tie[0] = tie[3] = 0; /* the first key has none before it */
    scene_write(&s);
    for (int64_t j = 1; j < m; j++)
        ck_assert_msg((score(s.bundle, j) == score(s.bundle, j - 1)) == (j == 3), "key %d", (int)j);
    for (int kind = 1; kind < 3; kind++) {
        *signs = kind;
        scene_write(&s);
        for (int64_t at = 0; at < 2 * m; at++)
            ck_assert((attest_load(v, at) < 0) == (kind == 2 && at / 2 % 2 == 1));
    }
    s.x[0] = s.latent.coordinates[0].lo + 0.99; /* the lowest unit of a box */
    scene_write(&s);
    ck_assert_double_eq(attest_load(attest_bundle_role(s.bundle, ATTEST_Q), 0), 0);
    scene_end(&s);
}
END_TEST

Suite *suite_search(void)
{
    Suite *s = suite_create("search");
    TCase *t = tcase_create("search");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, rng_is_the_stream);
    tcase_add_test(t, known_maximum);
    tcase_add_test(t, every_phase_helps);
    tcase_add_test(t, repeated);
    tcase_add_test(t, search_errors);
    tcase_add_test(t, read_and_write);
    tcase_add_test(t, any_point_is_legal);
    tcase_add_test(t, arrangements);
    suite_add_tcase(s, t);
    return s;
}
