/* run.c - one row of the table: inputs are drawn, the program is recorded and attacked, and the error is compared with
 * the bound of a kernel that declares what the row declares. */
#include "tests/simulators/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/library/library.h"
#include "props/draw/draw.h"
#include "reference/reference.h"

/* In the order of derivations.md. */
const sim_section *const sim_sections[] = { &sim_rows_scores, &sim_rows_weights, &sim_rows_sums,      &sim_rows_outputs,
                                            &sim_rows_states, &sim_rows_scans,   &sim_rows_schedules, NULL };

enum { MOST = 4096, ROUNDS = 2 };

static const sim_size usual[] = { { 1, 1 }, { 2, 1 }, { 3, 2 }, { 22, 4 }, { 64, 16 }, { 0, 0 } };

/* ---- inputs: a family of attest, or `wild:E`: numbers of any size from 2^-E to 2^E, zeros, opposites ------------- */
static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static double between(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double)(next(state) >> 11) * 0x1p-53;
}

static void make_wild(attest_tensor *t, uint64_t *state, double reach)
{
    const int64_t count = attest_tensor_count(t);
    const double shift = between(state, -reach, reach) / 2;
    double last = 0;
    for (int64_t k = 0; k < count; k++) {
        const uint64_t kind = next(state) % 8;
        double x = exp2(shift + between(state, -reach, reach) / 2) * (next(state) % 2 ? 1 : -1);
        if (kind == 0)
            x = 0;
        if (kind == 1 || kind == 2)
            x = -last;
        last = x;
        attest_store_bits(t, k, attest_from_f64(t->dtype, x));
    }
}

static void wild(sim *s, double reach, uint64_t *state)
{
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    for (int r = 0; r < 3; r++)
        make_wild(attest_bundle_role(s->bundle, roles[r]), state, roles[r] == ATTEST_V ? 3 * reach : reach);
}

static void multiply(sim *s, attest_role role, double factor, int keep)
{
    attest_tensor *t = attest_bundle_role(s->bundle, role);
    for (int64_t k = 0; t && k < attest_tensor_count(t); k++)
        attest_store_bits(t, k, attest_from_f64(t->dtype, keep ? factor * attest_load(t, k) : factor));
}

/* Every second key has the score 0 and the value 0, the others the score -x and values of one sign. */
static void shares(sim *s, double x, uint64_t *state)
{
    attest_tensor *k = attest_bundle_role(s->bundle, ATTEST_K), *v = attest_bundle_role(s->bundle, ATTEST_V);
    multiply(s, ATTEST_Q, 1, 0);
    for (int64_t j = 0; j < s->c.problem.m; j++) {
        for (int64_t c = 0; c < s->c.problem.d; c++)
            attest_store_bits(k, j * s->c.problem.d + c,
                              attest_from_f64(k->dtype, j % 2 ? -x / s->c.problem.scale / (double)s->c.problem.d : 0));
        for (int64_t c = 0; c < s->c.problem.e; c++)
            attest_store_bits(v, j * s->c.problem.e + c, attest_from_f64(v->dtype, j % 2 ? between(state, 1, 2) : 0));
    }
}

static void small_biases(sim *s, double x, uint64_t *state)
{
    (void)state;
    multiply(s, ATTEST_Q, exp2(-x), 1);
    multiply(s, ATTEST_BIAS, exp2(-x), 1);
}

static void small_values(sim *s, double x, uint64_t *state)
{
    (void)state;
    multiply(s, ATTEST_V, exp2(-x), 1);
}

/* The first key's value is 2^x, the first to be added and the largest: each sum rounds it again. */
static void first(sim *s, double x, uint64_t *state)
{
    attest_tensor *v = attest_bundle_role(s->bundle, ATTEST_V);
    (void)state;
    for (int64_t c = 0; c < s->c.problem.e; c++)
        attest_store_bits(v, c, attest_from_f64(v->dtype, exp2(x) * attest_load(v, c)));
}

/* Gates, gain and decays are 2^-x, values 2^10 times as large; of many channels only the first is not 0. */
static void small_gates(sim *s, double x, uint64_t *state)
{
    static const attest_role roles[] = { ATTEST_GOUT, ATTEST_GIN, ATTEST_GAIN, ATTEST_DECAY };
    for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++)
        multiply(s, roles[r], exp2(-x) * between(state, 1, 2), 0);
    multiply(s, ATTEST_SHIFT, 0, 0);
    multiply(s, ATTEST_V, 1024, 1);
    attest_tensor *v = attest_bundle_role(s->bundle, ATTEST_V);
    for (int64_t k = 0; s->c.problem.e > 2 && k < attest_tensor_count(v); k++)
        if (k % s->c.problem.e)
            attest_store_bits(v, k, 0);
}

/* Queries below the normal numbers, keys of 2^x, of both signs. */
static void flushed(sim *s, double x, uint64_t *state)
{
    attest_tensor *k = attest_bundle_role(s->bundle, ATTEST_K);
    multiply(s, ATTEST_Q, 0x1p-127, 0);
    for (int64_t at = 0; at < attest_tensor_count(k); at++)
        attest_store_bits(k, at, attest_from_f64(k->dtype, between(state, -1, 1) * exp2(x)));
}

/* Every x-th token's decays are 0. */
static void resets(sim *s, double x, uint64_t *state)
{
    attest_tensor *a = attest_bundle_role(s->bundle, ATTEST_DECAY);
    const int64_t count = attest_tensor_count(a), width = count / s->c.problem.m;
    (void)state;
    for (int64_t k = 0; k < count; k++)
        if (k / width % (int64_t)x == 0)
            attest_store_bits(a, k, 0);
}

/* Decays 2^-x, values 0, and a given state of the size `given`. */
static void faint(sim *s, double x, double given, uint64_t *state)
{
    attest_tensor *h = attest_bundle_get(s->bundle, (attest_tensor_id){ ATTEST_KIND_H0, 1 });
    multiply(s, ATTEST_DECAY, exp2(-x) * between(state, 1, 2), 0);
    multiply(s, ATTEST_V, 0, 0);
    for (int64_t k = 0; h && k < attest_tensor_count(h); k++)
        attest_store_bits(h, k, attest_from_f64(h->dtype, given * attest_load(h, k)));
}

static void small_decays(sim *s, double x, uint64_t *state) { faint(s, x, 0x1p20, state); }
static void far_states(sim *s, double x, uint64_t *state) { faint(s, x, 0x1p100, state); }

/* The sink near x. */
static void high_sink(sim *s, double x, uint64_t *state) { multiply(s, ATTEST_SINK, x + between(state, -1, 1), 0); }

/* Decays 2^-x, and all values but the first token's are 0. */
static void early(sim *s, double x, uint64_t *state)
{
    attest_tensor *v = attest_bundle_role(s->bundle, ATTEST_V);
    multiply(s, ATTEST_DECAY, exp2(-x) * between(state, 1, 2), 0);
    multiply(s, ATTEST_GAMMA, exp2(-x) * between(state, 1, 2), 0);
    for (int64_t k = s->c.problem.e; k < attest_tensor_count(v); k++)
        attest_store_bits(v, k, 0);
}

/* The same, and the decays of every second four tokens are 2^x. */
static void waves(sim *s, double x, uint64_t *state)
{
    attest_tensor *a = attest_bundle_role(s->bundle, ATTEST_DECAY);
    early(s, x, state);
    const int64_t count = attest_tensor_count(a), width = count / s->c.problem.m;
    for (int64_t k = 0; k < count; k++)
        if (k / width / 4 % 2)
            attest_store_bits(a, k, attest_from_f64(a->dtype, exp2(x)));
}

/* As early, but keys are 2^10 times as large, values 2^-10 times. */
static void large_keys(sim *s, double x, uint64_t *state)
{
    early(s, x, state);
    multiply(s, ATTEST_K, 0x1p10, 1);
    multiply(s, ATTEST_V, 0x1p-10, 1);
}

/* Decays 2^-x, values 0, a given state 2^15 times as large, and queries 2^-10 times. */
static void faint_queries(sim *s, double x, uint64_t *state)
{
    faint(s, x, 0x1p15, state);
    multiply(s, ATTEST_Q, 0x1p-10, 1);
}

/* Decays 1 - 2^-x, the first value 2^20 times as large. */
static void slow(sim *s, double x, uint64_t *state)
{
    multiply(s, ATTEST_DECAY, 1 - exp2(-x), 0);
    first(s, 20, state);
}

/* Given states 2^-x, the queries 2^20 times as large. */
static void small_states(sim *s, double x, uint64_t *state)
{
    attest_tensor *h = attest_bundle_get(s->bundle, (attest_tensor_id){ ATTEST_KIND_H0, 1 });
    multiply(s, ATTEST_Q, 0x1p20, 1);
    multiply(s, ATTEST_V, 0, 0);
    for (int64_t k = 0; h && k < attest_tensor_count(h); k++)
        attest_store_bits(h, k, attest_from_f64(h->dtype, exp2(-x) * between(state, 1, 2)));
}

static const struct {
    const char *name;
    void (*make)(sim *s, double x, uint64_t *state);
} own[] = {
    { "wild:", wild },
    { "shares:", shares },
    { "small-values:", small_values },
    { "small-biases:", small_biases },
    { "first:", first },
    { "small-gates:", small_gates },
    { "small-decays:", small_decays },
    { "small-states:", small_states },
    { "far-states:", far_states },
    { "slow:", slow },
    { "resets:", resets },
    { "early:", early },
    { "waves:", waves },
    { "large-keys:", large_keys },
    { "faint-queries:", faint_queries },
    { "high-sink:", high_sink },
    { "flushed:", flushed },
};

static attest_status draw(sim *s, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const size_t count = sizeof own / sizeof own[0];
    size_t f = 0;
    double x = 0;
    uint64_t state = s->c.seed * 77 + 5;
    while (f < count && strncmp(s->c.family, own[f].name, strlen(own[f].name)) != 0)
        f++;
    if (f < count) {
        x = strtod(s->c.family + strlen(own[f].name), NULL);
        strcpy(s->c.family, "normal");
    }
    ATTEST_TRY(attest_draw_missing(s->bundle, &s->c, 0, 0, err));
    if (f < count)
        own[f].make(s, x, &state);
out:
    return status;
}

/* ---- the bound -------------------------------------------------------------------------------------------------- */
typedef struct bounded {
    attest_element element[SIM_MONOMIALS * SIM_VALUES];
    int64_t count;
} bounded;

/* What is judged is the largest number of the type: so wrong that one precision decides. */
static attest_status bound(bounded *b, sim *s, attest_tensor_id id, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_truth *truth = NULL;
    attest_tensor got;
    attest_declared declared = { .numerics = *s->numerics, .flags = s->flags };
    const uint32_t outputs = ATTEST_GIVES_O | (id.index == ATTEST_LSE ? ATTEST_GIVES_LSE : 0u);
    char why[256];
    attest_tensor_describe(&got, s->p, id, 0);
    const attest_format f = attest_format_of(got.dtype);
    const double most = ldexp(2 - ldexp(1, 1 - f.p), f.emax);
    got.data = malloc(attest_tensor_bytes(&got));
    if (!got.data)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for an output");
    for (int64_t k = 0; k < attest_tensor_count(&got); k++)
        attest_store_bits(&got, k, attest_from_f64(got.dtype, most));
    if (!attest_declared_resolve(&declared, s->p, outputs, why, sizeof why)) {
        status = attest_fail(err, ATTEST_UNSUPPORTED, "%s", why);
        goto out;
    }
    ATTEST_TRY(attest_truth_new(&truth, s->p, s->bundle, ATTEST_ENGINE_BALL, err));
    if (id.kind == ATTEST_KIND_HT) {
        b->count = attest_tensor_count(&got);
        ATTEST_TRY(attest_judge_state(b->element, truth, &declared.numerics, declared.flags, id, 0, &got, 0, 0, err));
    } else {
        b->count = id.index == ATTEST_O || id.index == ATTEST_U ? s->p->e : 1;
        ATTEST_TRY(attest_judge_row(b->element, NULL, truth, &declared.numerics, declared.flags, id, &got,
                                    (attest_row){ 0, s->options->head, s->i }, err));
    }
out:
    attest_truth_free(truth);
    free(got.data);
    return status;
}

static const num *outputs_of(const sim *s, attest_tensor_id id)
{
    if (id.kind == ATTEST_KIND_HT)
        return s->has_state ? s->state : NULL;
    switch (id.index) {
    case ATTEST_O: return s->o;
    case ATTEST_U: return s->has_u ? s->u : NULL;
    case ATTEST_Z: return s->has_z ? &s->z : NULL;
    default: return s->has_lse ? &s->lse : NULL;
    }
}

/* ---- one problem ------------------------------------------------------------------------------------------------ */
/* The largest ratio of its elements; below 0: nothing to compare.  NAN: the program is not the formula. */
static double ratio_of(sim *s, const bounded *b, const num *output, sim_result *result)
{
    double worst = -1;
    for (int64_t k = 0; k < b->count; k++) {
        const attest_element *element = &b->element[k];
        const long double truth = ((long double)element->truth_lo + element->truth_hi) / 2;
        if (element->class != ATTEST_CLASS_NORMAL || !isfinite(element->bound) || !(element->bound > 0)) {
            result->skipped++;
            continue;
        }
        if (!(fabsl(tape_value(&s->tape, output[k]) - truth) <= 1e-3L * element->bound + 1e-15L * fabsl(truth)))
            return (double)NAN;
        const double ratio = (double)(tape_attack(&s->tape, output[k], ROUNDS) / element->bound);
        result->elements++;
        if (ratio > worst)
            worst = ratio;
    }
    return worst;
}

/* Has the problem this output? */
static int has_output(const attest_problem *p, attest_tensor_id id)
{
    char why[256];
    return attest_problem_has(p, id, why, sizeof why);
}

static double try_line(sim *s, bounded *b, const sim_row *row, const char *line, sim_result *result, attest_error *err)
{
    attest_tensor_id id;
    double ratio = (double)NAN;
    attest_status status = ATTEST_OK;
    s->options = &row->options;
    s->numerics = &row->numerics;
    s->flags = row->flags;
    s->bundle = NULL;
    err->text[0] = '\0';
    ATTEST_TRY(attest_case_parse(&s->c, line, NULL, NULL, err));
    ATTEST_TRY(attest_tensor_id_parse(&id, row->output, err));
    if (!has_output(&s->c.problem, id)) {
        attest_fail(err, ATTEST_BAD_INPUT, "the problem has no %s", row->output);
        return (double)NAN;
    }
    ATTEST_TRY(attest_bundle_new(&s->bundle, err));
    ATTEST_TRY(draw(s, err));
    sim_start(s);
    if (s->keys <= 0) { /* no key is seen */
        ratio = -1;
        goto out;
    }
    ATTEST_TRY(bound(b, s, id, err));
    row->program(s);
    const num *output = outputs_of(s, id);
    if (output && !s->tape.failed)
        ratio = ratio_of(s, b, output, result);
    if (isnan(ratio))
        attest_fail(err, ATTEST_INTERNAL, "the program does not compute the formula");
out:
    sim_end(s);
    attest_bundle_free(s->bundle);
    return status == ATTEST_OK ? ratio : (double)NAN;
}

/* ---- the search ------------------------------------------------------------------------------------------------- */
static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct search {
    sim *s;
    bounded *b;
    double seen[MOST];
    size_t count;
} search;

/* Does the problem need as many queries as keys? */
static int is_square(const sim_row *row)
{
    attest_case c;
    attest_error err;
    char line[ATTEST_LINE];
    snprintf(line, sizeof line, "%s n=1 m=1 d=2", row->line);
    return attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK &&
           (c.problem.axis[ATTEST_AXIS_DECAY].value || c.problem.axis[ATTEST_AXIS_MASK].value);
}

static int search_size(search *h, sim_result *result, const sim_row *row, const char *family, sim_size size, int seeds,
                       attest_error *err)
{
    char line[ATTEST_LINE];
    const int square = is_square(row);
    for (int seed = 0; seed < seeds; seed++) {
        snprintf(line, sizeof line, "%s n=%lld m=%lld d=%lld e=%d family=%s seed=%d", row->line,
                 (long long)(square ? size.keys : 1), (long long)size.keys, (long long)size.d, row->e ? row->e : 2,
                 family, seed);
        const double ratio = try_line(h->s, h->b, row, line, result, err);
        if (isnan(ratio)) {
            snprintf(result->where, sizeof result->where, "%s", line);
            return 0;
        }
        if (ratio > result->worst) {
            result->worst = ratio;
            snprintf(result->where, sizeof result->where, "%s", line);
        }
        if (ratio >= 0 && h->count < MOST)
            h->seen[h->count++] = ratio;
    }
    return 1;
}

/* Small problems cost little: they get more seeds. */
static int seeds_for(const sim_row *row, sim_size size, int most)
{
    const int64_t work = size.keys * size.d;
    int seeds = row->seeds ? row->seeds : work <= 8 ? 24 : work <= 100 ? 6 : 1;
    return most > 0 && seeds > most ? most : seeds;
}

int sim_run(sim_result *result, const sim_row *row, int seeds, char *why, size_t len)
{
    search *h = calloc(1, sizeof *h);
    attest_error err = { 0 };
    int good = h != NULL;
    *result = (sim_result){ .worst = -1 };
    if (h) {
        h->s = calloc(1, sizeof *h->s);
        h->b = calloc(1, sizeof *h->b);
        good = h->s && h->b;
    }
    for (const sim_size *size = row->sizes ? row->sizes : usual; good && size->keys; size++) {
        char families[256], *rest = NULL;
        snprintf(families, sizeof families, "%s", row->families);
        for (char *f = strtok_r(families, " ", &rest); good && f; f = strtok_r(NULL, " ", &rest))
            good = search_size(h, result, row, f, *size, seeds_for(row, *size, seeds), &err);
    }
    if (good && h->count == 0) {
        snprintf(why, len, "nothing to compare");
        good = 0;
    } else if (!good) {
        snprintf(why, len, "%s: %s", err.text, result->where);
    }
    if (good) {
        qsort(h->seen, h->count, sizeof h->seen[0], ascending);
        result->median = h->seen[h->count / 2];
    }
    if (h && h->s)
        tape_free(&h->s->tape);
    free(h ? h->s : NULL);
    free(h ? h->b : NULL);
    free(h);
    return good;
}
