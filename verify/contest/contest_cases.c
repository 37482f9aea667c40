/* contest_cases.c - which cases a kernel is asked: lines of the suite, and the same lines with sizes drawn afresh. */
#include <stdlib.h>
#include <string.h>

#include "props/draw/draw.h"
#include "verify/gate/repeat_checks.h"
#include "verify/suite/suite.h"
#include "verify/contest/contest_private.h"

#define TRIES 4           /* draws at each level of freedom */
#define TIMED_WORK 0x1p17 /* multiplications, at least, of a case that is timed */

/* How much of a line's sizes is drawn: everything; not d and e; n and m alone, with the powers of two in them. */
enum { FREE_ALL, FREE_ROWS, FREE_LENGTHS, FREE_LEVELS };

static attest_status add_case(contest_state *t, const attest_case *c, attest_error *err)
{
    if (t->count == t->capacity) {
        const size_t capacity = t->capacity ? 2 * t->capacity : 64;
        contest_case *cases = realloc(t->cases, capacity * sizeof *cases);
        if (!cases)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", capacity);
        t->cases = cases;
        t->capacity = capacity;
    }
    t->cases[t->count++] = (contest_case){ .c = *c, .baseline = SIZE_MAX };
    return ATTEST_OK;
}

/* 1: the kernel takes the case; -1: it gave no answer. */
static int serves(contest_state *t, const attest_case *c)
{
    char why[256];
    return attest_worker_supports(t->subject.worker, t->subject.index, &c->problem, why, sizeof why);
}

static int64_t power_of_two_in(int64_t n)
{
    const int64_t lowest = n & -n;
    return lowest < 256 ? lowest : 256;
}

/* A length: small, or large enough to be timed.  Above 256 rows the gate judges some, which nobody can foretell. */
static int64_t draw_length(contest_state *t, int64_t was, int large, int level, const attest_problem *p)
{
    const int exp = attest_axis_value_of(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP;
    const int64_t least = large ? (exp ? 257 : 64) : 2, most = large ? (exp ? 384 : 96) : 2 * was < 40 ? 2 * was : 40;
    const int64_t drawn = contest_between(t, least, most > least ? most : least + 1);
    const int64_t unit = level == FREE_LENGTHS ? power_of_two_in(was) : 1;
    return (drawn + unit - 1) / unit * unit;
}

/* Other sizes for the line; 0: these are no case. */
static int draw_sizes(attest_case *c, contest_state *t, const attest_case *line, int large, int level)
{
    static const char *const families[] = { "normal", "uniform", "normal:2", "offset" };
    attest_problem *p = &c->problem;
    const attest_problem *was = &line->problem;
    char text[ATTEST_LINE];
    attest_error err;
    *c = *line;
    p->n = was->n == 1 ? 1 : draw_length(t, was->n, large, level, was); /* a kernel may serve one query only */
    p->m = was->n == was->m && contest_between(t, 0, 3) > 0 ? p->n : draw_length(t, was->m, large, level, was);
    if (level <= FREE_ROWS) {
        p->b = contest_between(t, 1, large ? 1 : 2);
        p->hkv = was->hkv * contest_between(t, 1, large ? 1 : 2);
        p->hq = was->hq * (p->hkv / was->hkv);
    }
    if (level == FREE_ALL) {
        p->d = contest_between(t, large ? 16 : 1, large ? 64 : 2 * was->d);
        p->e = was->e == was->d && contest_between(t, 0, 1)
                   ? p->d
                   : contest_between(t, large ? 16 : 1, large ? 64 : 2 * was->e);
    }
    if (was->scale == attest_default_scale(was->d))
        p->scale = attest_default_scale(p->d);
    if (strncmp(c->family, "trace", 5) == 0 || contest_between(t, 0, 1))
        strcpy(c->family, families[contest_between(t, 0, sizeof families / sizeof families[0] - 1)]);
    return (p->n != was->n || p->m != was->m) && attest_case_print(text, sizeof text, c, &err) == ATTEST_OK &&
           attest_case_parse(c, text, NULL, NULL, &err) == ATTEST_OK;
}

/* One case of other sizes; *found: the kernel serves some. */
static attest_status add_sizes(contest_state *t, const attest_case *line, int large, int *found, attest_error *err)
{
    for (int i = 0; i < TRIES * FREE_LEVELS; i++) {
        attest_case c;
        if (!draw_sizes(&c, t, line, large, i / TRIES) || serves(t, &c) <= 0)
            continue;
        *found = 1;
        t->out->sizes++;
        const attest_status status = add_case(t, &c, err);
        if (status == ATTEST_OK)
            t->cases[t->count - 1].timed = attest_case_work(&c.problem) >= TIMED_WORK;
        return status;
    }
    return ATTEST_OK;
}

/* The numbers 0..count-1 in an order drawn by the seed; malloc'd. */
static size_t *shuffled(contest_state *t, size_t count)
{
    size_t *order = malloc((count ? count : 1) * sizeof *order);
    for (size_t i = 0; order && i < count; i++) {
        const size_t at = (size_t)contest_between(t, 0, (int64_t)i);
        order[i] = order[at];
        order[at] = i;
    }
    return order;
}

/* The kinds of a case's calls: an inspection, fresh ones, and behind the first of these the others. */
static void order_calls(contest_state *t, contest_case *tc)
{
    contest_kind rest[] = { CONTEST_FRESH, CONTEST_FRESH, CONTEST_NEAR, CONTEST_AGAIN };
    const int count = sizeof rest / sizeof rest[0];
    for (int i = count - 1; i > 0; i--) {
        const int at = (int)contest_between(t, 0, i);
        const contest_kind kept = rest[i];
        rest[i] = rest[at];
        rest[at] = kept;
    }
    const int first = tc->many || contest_between(t, 0, 1);
    tc->kind[tc->kinds++] = first ? CONTEST_INSPECT : CONTEST_FRESH;
    tc->kind[tc->kinds++] = first ? CONTEST_FRESH : CONTEST_INSPECT;
    for (int i = 0; i < count; i++)
        tc->kind[tc->kinds++] = rest[i];
}

/* The smallest case with something to sum is called often. */
static void choose_many(contest_state *t)
{
    contest_case *least = NULL;
    for (size_t i = 0; i < t->count; i++) {
        const attest_problem *p = &t->cases[i].c.problem;
        if (p->n > 1 && p->m > 1 && attest_case_work(p) <= ATTEST_CALLS_WORK &&
            (!least || attest_case_work(p) < attest_case_work(&least->c.problem)))
            least = &t->cases[i];
    }
    if (least)
        least->many = 1;
}

attest_status contest_cases_make(contest_state *t, attest_error *err)
{
    const attest_suite *suite = t->contest->suite;
    attest_status status = ATTEST_OK;
    size_t *order = shuffled(t, suite->case_count);
    if (!order)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", suite->case_count));
    for (size_t i = 0; i < suite->case_count && t->out->served < ATTEST_CONTEST_LINES; i++) {
        attest_case line;
        int found = 0;
        attest_suite_case(&line, suite, order[i]);
        if (attest_suite_skip(suite, t->subject.facts->name, &line))
            continue;
        t->out->lines++;
        if (serves(t, &line) == 0)
            continue;
        t->out->served++;
        ATTEST_TRY(add_case(t, &line, err));
        ATTEST_TRY(add_sizes(t, &line, 0, &found, err));
        ATTEST_TRY(add_sizes(t, &line, 1, &found, err));
        t->out->finding[ATTEST_CONTEST_SIZES] += !found;
    }
    t->out->cases = (int64_t)t->count;
    choose_many(t);
    for (size_t i = 0; i < t->count; i++)
        order_calls(t, &t->cases[i]);
out:
    free(order);
    return status;
}
