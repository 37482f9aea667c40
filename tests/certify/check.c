/* check.c - one case on all paths against the truth (certify.h). */
#include "tests/certify/certify.h"

#include "kernels/attest_float.h"
#include "reference/engine/flint_headers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIGS = 8, BLOCK = 64 };

/* One way to run the engine, and what it said. */
typedef struct config {
    const char *path;
    attest_tiers tiers;
    attest_enclosures o, lse;
} config;

typedef struct scene {
    certify_totals *totals;
    const certify_case *c;
    const char *reproduce;
    int *shown, here, has_lse, count; /* here: misses of this case */
    config config[CONFIGS];
    certify_real *o, *lse; /* a block of rows */
    double *need_o, *need_lse;
} scene;

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static attest_status run_one(attest_enclosures *o, attest_enclosures *lse, const scene *s, const config *g, int threads,
                             attest_error *err)
{
    const attest_enclose_options options = { .path = g->path, .threads = threads, .tiers = g->tiers };
    return attest_enclose(o, s->has_lse ? lse : NULL, &s->c->about.problem, s->c->in, &options, err);
}

static int same_bytes(const attest_enclosures *a, const attest_enclosures *b)
{
    const size_t bytes = (size_t)a->count * sizeof(double);
    return a->count == b->count && memcmp(a->hi, b->hi, bytes) == 0 && memcmp(a->lo, b->lo, bytes) == 0 &&
           memcmp(a->bound, b->bound, bytes) == 0;
}

static attest_status run_all(scene *s, int forced, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_enclosures o = { 0 }, lse = { 0 };
    const char *path;
    for (int n = 0; (path = attest_enclose_path(n)) && s->count + 2 <= CONFIGS; n++)
        for (int tiers = forced ? 2 : 0; tiers < (forced ? 3 : 2); tiers++) {
            config *g = &s->config[s->count++];
            *g = (config){ .path = path, .tiers = (attest_tiers)tiers };
            ATTEST_TRY(run_one(&g->o, &g->lse, s, g, 1, err));
            if (tiers == ATTEST_TIERS_NONE)
                continue;
            ATTEST_TRY(run_one(&o, &lse, s, g, 2, err));
            if (!same_bytes(&g->o, &o) || (s->has_lse && !same_bytes(&g->lse, &lse))) {
                s->totals->differ++;
                printf("%s: path %s: two threads give other bits\n", s->reproduce, path);
            }
        }
out:
    attest_enclosures_free(&o);
    attest_enclosures_free(&lse);
    return status;
}

/* ---- one element ------------------------------------------------------------------------------------------------- */

static void show(scene *s, const config *g, const char *what, int64_t n, const certify_real *t,
                 const attest_enclosures *e, const char *why)
{
    if (s->here++ == 0 && (*s->shown)++ < 25)
        printf("%s\n    %s\n    path=%s tiers=%d %s[%lld]: %s: truth %a%+a+-%a, hi %a lo %a bound %a\n", s->reproduce,
               s->c->line, g->path, (int)g->tiers, what, (long long)n, why, t->a[0], t->a[1], t->error, e->hi[n],
               e->lo[n], e->bound[n]);
}

/* sign of |truth - (hi + lo)| - bound: -1 surely below or equal, 1 surely above, 0 open; exact arithmetic */
static int compare_exactly(const certify_real *t, double hi, double lo, double bound)
{
    const double parts[5] = { t->a[0], t->a[1], t->a[2], -hi, -lo };
    arf_t sum, x;
    arf_init(sum);
    arf_init(x);
    for (int n = 0; n < 5; n++) {
        arf_set_d(x, parts[n]);
        arf_add(sum, sum, x, ARF_PREC_EXACT, ARF_RND_DOWN);
    }
    arf_abs(sum, sum);
    arf_set_d(x, bound);
    arf_sub(sum, sum, x, ARF_PREC_EXACT, ARF_RND_DOWN); /* error - bound, but for the truth's own error */
    arf_set_d(x, t->error);
    const int result = arf_cmpabs(sum, x) <= 0 && !arf_is_zero(x) ? 0 : arf_sgn(sum) <= 0 ? -1 : 1;
    arf_clear(sum);
    arf_clear(x);
    return result;
}

/* Does the enclosure hold the truth?  Raises the largest ratio. */
static int holds(scene *s, const config *g, const certify_real *t, double hi, double lo, double bound)
{
    const double error = fabs((t->a[0] - hi) + (t->a[1] - lo) + t->a[2]);
    const double slack = 0x1p-103 * fabs(t->a[0]) + 0x1p-50 * error + 0x1p-1060 + t->error;
    if (bound > 0 && error / bound > s->totals->ratio) {
        s->totals->ratio = error / bound;
        s->totals->worst = g->path;
    }
    return error + slack <= bound || compare_exactly(t, hi, lo, bound) < 0;
}

static void check_element(scene *s, const config *g, const char *what, const certify_real *t,
                          const attest_enclosures *e, int64_t n)
{
    const double hi = e->hi[n], lo = e->lo[n], bound = e->bound[n];
    const char *why = NULL;
    if (isinf(bound) && bound > 0)
        return;
    if (!(bound >= 0) || t->kind == CERTIFY_NONE)
        why = "there is no truth, and a bound";
    else if (t->kind == CERTIFY_WIDE)
        why = "the truth is not enclosed well enough";
    else if (t->kind == CERTIFY_MINUS_INFINITY)
        why = hi == -INFINITY && lo == 0 && bound == 0 ? NULL : "not -inf";
    else if (!isfinite(hi) || !(fabs(lo) <= ldexp(1, ilogb(hi == 0 ? 1 : hi) - 52)))
        why = "hi, lo are no pair";
    else if (!holds(s, g, t, hi, lo, bound))
        why = "outside the bound";
    if (!why)
        return;
    s->totals->violations++;
    show(s, g, what, n, t, e, why);
}

/* ---- roundings --------------------------------------------------------------------------------------------------- */

static int same_value(uint64_t a, uint64_t b, uint32_t dtype)
{
    return a == b || attest_to_f64(dtype, a) == attest_to_f64(dtype, b); /* zeros of both signs */
}

/* Roundings that are decided agree with the truth's and with each other's. */
static void check_roundings(scene *s, const certify_real *t, int64_t n)
{
    for (int f = 0; f < CERTIFY_FORMATS; f++) {
        uint64_t first = t->bits[f], bits;
        for (int k = 0; k < s->count; k++) {
            const attest_enclosures *e = &s->config[k].o;
            const int decided = attest_enclosure_round(&bits, e, n, certify_formats[f]);
            s->totals->undecided += k == 0 && f == 0 && !decided && isfinite(e->bound[n]);
            if (!decided)
                continue;
            if (first != ~(uint64_t)0 && !same_value(first, bits, certify_formats[f])) {
                s->totals->differ++;
                show(s, &s->config[k], attest_dtype_name(certify_formats[f]), n, t, e, "rounds otherwise");
            }
            first = first == ~(uint64_t)0 ? bits : first;
        }
    }
}

static void count_element(scene *s, const certify_real *t, const attest_enclosures *e, int64_t n, int is_o)
{
    certify_totals *totals = s->totals;
    const double size = fabs(e->hi[n]), bound = e->bound[n];
    totals->outputs++;
    totals->none += t->kind == CERTIFY_NONE;
    totals->unknown += t->kind != CERTIFY_NONE && isinf(bound);
    if (!is_o)
        return;
    const config *full = &s->config[s->count > 1 && s->config[1].tiers == ATTEST_TIERS_NONE];
    const attest_format f = attest_format_of(s->c->about.problem.out);
    const int exponent = size > 0 ? ilogb(size) : f.emin;
    const double fine = ldexp(1, (exponent > f.emin ? exponent : f.emin) - f.p - 20);
    totals->loose += isfinite(full->o.bound[n]) && full->o.bound[n] > fine;
    if (size > 0 && bound > 0 && isfinite(bound)) {
        const int at = ilogb(bound / size) - CERTIFY_LOG_LOW;
        totals->logs[at < 0 ? 0 : at >= CERTIFY_LOGS ? CERTIFY_LOGS - 1 : at]++;
    }
}

/* ---- a case ------------------------------------------------------------------------------------------------------ */

static double least_bound(const scene *s, int64_t n, int is_o)
{
    double least = INFINITY;
    for (int k = 0; k < s->count; k++) {
        const double bound = is_o ? s->config[k].o.bound[n] : s->has_lse ? s->config[k].lse.bound[n] : INFINITY;
        least = bound < least ? bound : least;
    }
    return least / 4096;
}

static void check_rows(scene *s, int64_t b, int64_t h, int64_t from, int64_t to)
{
    const attest_problem *p = &s->c->about.problem;
    const int64_t row = (b * p->hq + h) * p->n + from;
    const certify_rows rows = {
        .b = b, .h = h, .from = from, .to = to, .o = s->o, .lse = s->lse, .need_o = s->need_o, .need_lse = s->need_lse
    };
    for (int64_t n = 0; n < (to - from) * p->e; n++)
        s->need_o[n] = least_bound(s, row * p->e + n, 1);
    for (int64_t n = 0; n < to - from; n++)
        s->need_lse[n] = least_bound(s, row + n, 0);
    certify_truth(&rows, s->c);
    for (int64_t n = 0; n < (to - from) * p->e; n++) {
        const int64_t at = row * p->e + n;
        count_element(s, &s->o[n], &s->config[0].o, at, 1);
        for (int k = 0; k < s->count; k++)
            check_element(s, &s->config[k], "o", &s->o[n], &s->config[k].o, at);
        check_roundings(s, &s->o[n], at);
    }
    for (int64_t n = 0; s->has_lse && n < to - from; n++) {
        count_element(s, &s->lse[n], &s->config[0].lse, row + n, 0);
        for (int k = 0; k < s->count; k++)
            check_element(s, &s->config[k], "lse", &s->lse[n], &s->config[k].lse, row + n);
    }
}

static void check_all_rows(scene *s)
{
    const attest_problem *p = &s->c->about.problem;
    for (int64_t head = 0; head < p->b * p->hq; head++)
        for (int64_t from = 0; from < p->n; from += BLOCK)
            check_rows(s, head / p->hq, head % p->hq, from, from + BLOCK < p->n ? from + BLOCK : p->n);
}

int certify_check(certify_totals *totals, const certify_case *c, int forced, const char *reproduce, int *shown)
{
    const size_t e = (size_t)c->about.problem.e;
    attest_error err;
    char why[160];
    scene s = { .totals = totals, .c = c, .reproduce = reproduce, .shown = shown };
    s.has_lse = attest_problem_has(&c->about.problem, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_LSE }, why,
                                   sizeof why);
    s.o = calloc(BLOCK * e, sizeof *s.o);
    s.lse = calloc(BLOCK, sizeof *s.lse);
    s.need_o = calloc(BLOCK * e, sizeof *s.need_o);
    s.need_lse = calloc(BLOCK, sizeof *s.need_lse);
    totals->cases++;
    const int good = s.o && s.lse && s.need_o && s.need_lse && run_all(&s, forced, &err) == ATTEST_OK;
    if (good)
        check_all_rows(&s);
    else
        printf("%s: %s\n    %s\n", reproduce, err.text, c->line);
    for (int k = 0; k < s.count; k++) {
        attest_enclosures_free(&s.config[k].o);
        attest_enclosures_free(&s.config[k].lse);
    }
    free(s.o);
    free(s.lse);
    free(s.need_o);
    free(s.need_lse);
    return good;
}
