/* search.c - see search.h. */
#include "props/search/search.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_siman.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "props/search/search_rng.h"

const char *const attest_phase_names[ATTEST_PHASE_COUNT] = { "starts", "anneal", "simplex", "boxes" };

enum { TEMPERATURES = 40, SIMPLEX_MOST = 12, BOX_SAMPLES = 2, BOX_HALVINGS = 30, FINEST_STEP = 26 };
#define HOT 0.25
#define COLD 0.0005
#define SPENT 1e300 /* energy of a point that is not evaluated any more */

/* One search: what is left of the phase at hand, and the best point of all. */
typedef struct search {
    const attest_search_problem *problem;
    attest_search_result *result;
    gsl_rng *rng;
    long until;    /* evaluations at which the phase ends */
    double *trial; /* [count], a point in the making */
    attest_status status;
    attest_error *err;
} search;

/* ---- values -------------------------------------------------------------------------------------------- */
static int is_spent(const search *s) { return s->status != ATTEST_OK || s->result->evaluations >= s->until; }

static double evaluate(search *s, const double *x)
{
    double value;
    if (is_spent(s))
        return -SPENT;
    s->result->evaluations++;
    s->status = s->problem->value(&value, s->problem->self, x, s->err);
    if (s->status != ATTEST_OK)
        return -SPENT;
    if (s->result->evaluations == 1 || value > s->result->value) {
        s->result->value = value;
        memmove(s->result->x, x, s->problem->count * sizeof *x);
    }
    return value;
}

/* ---- moves --------------------------------------------------------------------------------------------- */
static double uniform(const gsl_rng *rng, double lo, double hi) { return lo + (hi - lo) * gsl_rng_uniform(rng); }

static double draw(const gsl_rng *rng, const attest_coordinate *c)
{
    return c->choices ? (double)gsl_rng_uniform_int(rng, c->choices) : uniform(rng, c->lo, c->hi);
}

static double inside(const attest_coordinate *c, double x)
{
    return c->choices ? x : x < c->lo ? c->lo : x > c->hi ? c->hi : x;
}

/* Up or down by (hi-lo) 2^-t, t uniform in [0, FINEST_STEP): coarse moves and moves of the last bits are as likely. */
static double step_of(const gsl_rng *rng, const attest_coordinate *c, double most)
{
    const double size = most * (c->hi - c->lo) * exp2(-uniform(rng, 0, FINEST_STEP));
    return gsl_rng_uniform_int(rng, 2) ? size : -size;
}

static void move_coordinate(const gsl_rng *rng, const attest_coordinate *c, double *x, double most)
{
    if (c->choices || gsl_rng_uniform_int(rng, 8) == 0)
        *x = draw(rng, c);
    else
        *x = inside(c, *x + step_of(rng, c, most));
}

static void move_group(const gsl_rng *rng, const attest_search_problem *p, double *x, double most)
{
    const uint32_t group = (uint32_t)gsl_rng_uniform_int(rng, p->groups);
    double step = 0;
    for (size_t i = 0; i < p->count; i++) {
        const attest_coordinate *c = &p->coordinates[i];
        if (c->choices || c->group != group)
            continue;
        if (step == 0)
            step = step_of(rng, c, most);
        x[i] = inside(c, x[i] + step);
    }
}

static void move(const gsl_rng *rng, const attest_search_problem *p, double *x, double most)
{
    if (p->groups && gsl_rng_uniform_int(rng, 16) == 0) {
        move_group(rng, p, x, most);
        return;
    }
    const unsigned long moves = 1 + gsl_rng_uniform_int(rng, 4) / 2; /* 1, 1, 2, 2 */
    for (unsigned long i = 0; i < moves; i++) {
        const size_t at = gsl_rng_uniform_int(rng, p->count);
        move_coordinate(rng, &p->coordinates[at], &x[at], most);
    }
}

/* ---- starts --------------------------------------------------------------------------------------------- */
static void run_starts(search *s)
{
    const attest_search_problem *p = s->problem;
    for (long number = 0; !is_spent(s); number++) {
        int given = 0;
        for (size_t i = 0; i < p->count; i++)
            s->trial[i] = draw(s->rng, &p->coordinates[i]);
        if (p->start)
            s->status = p->start(s->trial, &given, p->self, number, s->err);
        for (size_t i = 0; given && i < p->count; i++)
            s->trial[i] = inside(&p->coordinates[i], s->trial[i]);
        evaluate(s, s->trial);
    }
}

/* ---- simulated annealing ---------------------------------------------------------------------------------- */
/* What gsl_siman moves about: the start and its three copies, made before it begins, since it takes any copy for one
 * that could be made. */
enum { COPIES = 3 };
typedef struct particle {
    search *s;
    struct particle *next; /* the next copy */
    double x[];
} particle;

static void particle_copy(void *from, void *to)
{
    const particle *p = from;
    memcpy(((particle *)to)->x, p->x, p->s->problem->count * sizeof *p->x);
}

/* `at` is the start. */
static void *particle_new(void *at)
{
    particle *start = at, *p = start->next;
    start->next = p->next;
    particle_copy(start, p);
    return p;
}

static void particle_keep(void *at) { (void)at; }

static double particle_energy(void *at)
{
    particle *p = at;
    return -evaluate(p->s, p->x);
}

static void particle_step(const gsl_rng *rng, void *at, double most)
{
    particle *p = at;
    move(rng, p->s->problem, p->x, most);
}

static void run_anneal(search *s)
{
    const long left = s->until - s->result->evaluations;
    const int each = (int)((left + TEMPERATURES - 1) / TEMPERATURES);
    const gsl_siman_params_t params = { .iters_fixed_T = each,
                                        .step_size = 1,
                                        .k = 1,
                                        .t_initial = HOT,
                                        .mu_t = pow(HOT / COLD, 1.0 / TEMPERATURES),
                                        .t_min = COLD };
    const size_t bytes = s->problem->count * sizeof(double);
    char *block = malloc((1 + COPIES) * (sizeof(particle) + bytes));
    if (!block) {
        s->status = attest_fail(s->err, ATTEST_NO_MEMORY, "search: no memory for a point");
        return;
    }
    particle *start = (particle *)block;
    for (size_t k = 0; k <= COPIES; k++) {
        particle *p = (particle *)(block + k * (sizeof *p + bytes));
        p->s = s;
        p->next = (particle *)(block + (k + 1) * (sizeof *p + bytes));
    }
    memcpy(start->x, s->result->x, bytes);
    gsl_siman_solve(s->rng, start, particle_energy, particle_step, NULL, NULL, particle_copy, particle_new,
                    particle_keep, 0, params);
    free(block);
}

/* ---- Nelder-Mead ------------------------------------------------------------------------------------------- */
typedef struct face {
    search *s;
    size_t at[SIMPLEX_MOST]; /* the coordinates that move; the others stay as in s->trial */
    size_t count;
} face;

static double face_energy(const gsl_vector *y, void *self)
{
    face *f = self;
    for (size_t i = 0; i < f->count; i++)
        f->s->trial[f->at[i]] = inside(&f->s->problem->coordinates[f->at[i]], gsl_vector_get(y, i));
    return -evaluate(f->s, f->s->trial);
}

/* Up to SIMPLEX_MOST different reals, chosen at random. */
static void choose_face(face *f, search *s)
{
    const attest_search_problem *p = s->problem;
    size_t seen = 0;
    f->s = s;
    f->count = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (p->coordinates[i].choices)
            continue;
        const size_t at = seen < SIMPLEX_MOST ? seen : gsl_rng_uniform_int(s->rng, seen + 1);
        if (at < SIMPLEX_MOST)
            f->at[at] = i;
        seen++;
    }
    f->count = seen < SIMPLEX_MOST ? seen : SIMPLEX_MOST;
}

/* One simplex from the best point, with edges of 2^-2 to 2^-17 of a range, until it stands still. */
static attest_status run_face(face *f, attest_error *err)
{
    attest_status status = ATTEST_OK;
    search *s = f->s;
    gsl_multimin_fminimizer *m = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, f->count);
    gsl_vector *y = gsl_vector_alloc(f->count), *edge = gsl_vector_alloc(f->count);
    gsl_multimin_function energy = { face_energy, f->count, f };
    const double size = exp2(-uniform(s->rng, 2, 17));
    if (!m || !y || !edge)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "search: no memory for a simplex"));
    memcpy(s->trial, s->result->x, s->problem->count * sizeof *s->trial);
    for (size_t i = 0; i < f->count; i++) {
        const attest_coordinate *c = &s->problem->coordinates[f->at[i]];
        gsl_vector_set(y, i, s->trial[f->at[i]]);
        gsl_vector_set(edge, i, size * (c->hi - c->lo));
    }
    if (gsl_multimin_fminimizer_set(m, &energy, y, edge) == GSL_SUCCESS)
        for (size_t i = 0; i < 20 * f->count && !is_spent(s); i++)
            if (gsl_multimin_fminimizer_iterate(m) != GSL_SUCCESS || gsl_multimin_fminimizer_size(m) < 1e-9)
                break;
out:
    if (m)
        gsl_multimin_fminimizer_free(m);
    gsl_vector_free(y);
    gsl_vector_free(edge);
    return status;
}

static void run_simplex(search *s)
{
    while (!is_spent(s)) {
        face f;
        choose_face(&f, s);
        if (f.count == 0)
            return;
        const attest_status status = run_face(&f, s->err);
        if (s->status == ATTEST_OK)
            s->status = status;
    }
}

/* ---- boxes ------------------------------------------------------------------------------------------------- */
/* The largest of BOX_SAMPLES values with coordinate `at` in [lo, hi), the others as in the best point. */
static double sample_box(search *s, size_t at, double lo, double hi)
{
    double most = -SPENT;
    for (int k = 0; k < BOX_SAMPLES && !is_spent(s); k++) {
        memcpy(s->trial, s->result->x, s->problem->count * sizeof *s->trial);
        s->trial[at] = uniform(s->rng, lo, hi);
        most = fmax(most, evaluate(s, s->trial));
    }
    return most;
}

static void halve_boxes(search *s, size_t at)
{
    const attest_coordinate *c = &s->problem->coordinates[at];
    double lo = c->lo, hi = c->hi;
    if (c->choices) {
        for (uint32_t k = 0; k < c->choices && !is_spent(s); k++) {
            memcpy(s->trial, s->result->x, s->problem->count * sizeof *s->trial);
            s->trial[at] = k;
            evaluate(s, s->trial);
        }
        return;
    }
    for (int k = 0; k < BOX_HALVINGS && !is_spent(s); k++) {
        const double middle = lo + (hi - lo) / 2;
        if (sample_box(s, at, lo, middle) > sample_box(s, at, middle, hi))
            hi = middle;
        else
            lo = middle;
    }
}

static void run_boxes(search *s)
{
    size_t at = gsl_rng_uniform_int(s->rng, s->problem->count);
    for (; !is_spent(s); at = (at + 1) % s->problem->count)
        halve_boxes(s, at);
}

/* ---- a search ------------------------------------------------------------------------------------------------ */
static const struct {
    void (*run)(search *s);
    int eighths; /* of the evaluations, with those of the phases before */
} phases[ATTEST_PHASE_COUNT] = { [ATTEST_PHASE_STARTS] = { run_starts, 1 },
                                 [ATTEST_PHASE_ANNEAL] = { run_anneal, 5 },
                                 [ATTEST_PHASE_SIMPLEX] = { run_simplex, 6 },
                                 [ATTEST_PHASE_BOXES] = { run_boxes, 8 } };

attest_status attest_search(attest_search_result *result, const attest_search_problem *problem,
                            const attest_search_options *options, attest_error *err)
{
    attest_status status = ATTEST_OK;
    search s = { .problem = problem, .result = result, .err = err };
    *result = (attest_search_result){ .value = -SPENT };
    gsl_set_error_handler_off(); /* NULL without memory, in place of abort() */
    if (problem->count == 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "search: nothing to change in this problem");
    result->x = calloc(problem->count + 1, sizeof *result->x);
    s.trial = calloc(problem->count + 1, sizeof *s.trial);
    s.rng = attest_search_rng(options->seed, options->chain);
    if (!result->x || !s.trial || !s.rng)
        ATTEST_TRY(
            attest_fail(err, ATTEST_NO_MEMORY, "search: no memory for points of %zu coordinates", problem->count));
    for (int k = 0; k < ATTEST_PHASE_COUNT; k++) {
        s.until = (options->evaluations * phases[k].eighths + 7) / 8;
        phases[k].run(&s);
        result->reached[k] = result->value;
        ATTEST_TRY(s.status);
    }
out:
    if (s.rng)
        gsl_rng_free(s.rng);
    free(s.trial);
    if (status != ATTEST_OK) {
        free(result->x);
        result->x = NULL;
    }
    return status;
}
