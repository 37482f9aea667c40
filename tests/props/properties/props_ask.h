/* props_ask.h - what properties say of kernels, and the checks that the suites of properties share. */
#ifndef ATTEST_TEST_PROPS_ASK_H
#define ATTEST_TEST_PROPS_ASK_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/library/registry.h"
#include "props/properties/trial.h"
#include "verify/properties/props_host.h"

#define DEFECTS ATTEST_TEST_BUILD "/defects/defects.so"

typedef struct question {
    const char *property, *kernel, *line;
} question;

/* A worker with its kernels, and the one of them that is asked; a test may change the kernel's flags. */
typedef struct asked {
    attest_props_world world;
    attest_prop_host host;
    attest_prop_kernel kernel;
} asked;

/* library NULL: the built-in kernels.  reference 0: there are no bounds. */
static inline asked *asked_open(const char *library, int reference)
{
    attest_error err = { "" };
    asked *a = calloc(1, sizeof *a);
    ck_assert_ptr_nonnull(a);
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1);
    a->world = (attest_props_world){ .subject = { .library = library, .program = "attest" },
                                     .timeout_s = 20,
                                     .reference = reference };
    ck_assert_msg(attest_worker_start(&a->world.subject.worker, library, 10, &err) == ATTEST_OK, "%s", err.text);
    a->host = attest_props_host(&a->world);
    return a;
}

static inline void asked_close(asked *a)
{
    attest_worker_free(a->world.subject.worker);
    free(a);
}

/* The kernel of this name is the one that is asked, with the flags that it has. */
static inline void asked_choose(asked *a, const char *kernel)
{
    attest_error err = { "" };
    ck_assert_msg(attest_find_kernel(&a->world.subject, kernel, &err) == ATTEST_OK, "%s", err.text);
    a->kernel = attest_props_kernel(&a->world.subject);
}

/* In place of the count of what was compared: the property is not about the line; the kernel does not serve it. */
enum { ASKED_NOT_ABOUT = -1, ASKED_NOT_SERVED = -2 };

/* The finding of property `name` on these inputs; `violated`: with its own violation planted. */
static inline attest_finding asked_inputs(asked *a, const char *name, const attest_case *c, uint32_t number,
                                          const attest_bundle *inputs, int violated)
{
    const attest_property *property = attest_property_find(name);
    attest_finding found = { 0 };
    attest_trial trial;
    attest_error err = { "" };
    ck_assert_msg(property != NULL, "no property %s", name);
    if (!attest_property_applies(property, &c->problem, &a->kernel))
        return (attest_finding){ .compared = ASKED_NOT_ABOUT };
    if (!a->host.supports(a->host.context, &c->problem))
        return (attest_finding){ .compared = ASKED_NOT_SERVED };
    ck_assert_msg(attest_trial_init(&trial, &a->host, &a->kernel, c, number, inputs, violated ? property : NULL,
                                    &err) == ATTEST_OK,
                  "%s: %s", name, err.text);
    ck_assert_msg(trial.outputs != NULL, "%s: %s", name, trial.first.why);
    ck_assert_msg(property->check(&found, &trial, &err) == ATTEST_OK, "%s: %s", name, err.text);
    attest_trial_clear(&trial);
    return found;
}

/* On case `number` of the line. */
static inline attest_finding asked_case(asked *a, const char *name, const char *line, uint32_t number, int violated)
{
    attest_bundle *inputs = NULL;
    attest_error err = { "" };
    attest_case c;
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s: %s", line, err.text);
    ck_assert_int_eq(attest_bundle_new(&inputs, &err), ATTEST_OK);
    ck_assert_msg(attest_draw_missing(inputs, &c, number, 0, &err) == ATTEST_OK, "%s: %s", line, err.text);
    const attest_finding found = asked_inputs(a, name, &c, number, inputs, violated);
    attest_bundle_free(inputs);
    return found;
}

static inline attest_finding asked_once(asked *a, const char *name, const char *line, int violated)
{
    return asked_case(a, name, line, 0, violated);
}

/* With bounds, over `cases` numbers of a line that the kernel must serve if the property is about it: the first broken
 * one, else the sum of what was compared and the largest ratio. */
static inline attest_finding ask(const char *library, const question *x, uint32_t cases, int violated)
{
    attest_finding all = { 0 };
    asked *a = asked_open(library, 1);
    asked_choose(a, x->kernel);
    for (uint32_t number = 0; number < cases && !all.broken; number++) {
        const attest_finding found = asked_case(a, x->property, x->line, number, violated);
        const int64_t compared = all.compared + found.compared;
        ck_assert_msg(found.compared != ASKED_NOT_SERVED, "%s does not serve %s", x->kernel, x->line);
        if (found.broken || found.ratio > all.ratio)
            all = found;
        all.compared = compared;
    }
    asked_close(a);
    return all;
}

/* ---- checks of one question -------------------------------------------------------------------------------------- */

/* It holds, says something, and sees its own violation. */
static inline void check_holds(const question *x)
{
    const attest_finding found = ask(NULL, x, 4, 0);
    ck_assert_msg(!found.broken, "%s, %s on %s: %s", x->property, x->kernel, x->line, found.what);
    ck_assert_msg(found.compared > 0, "%s says nothing of %s on %s", x->property, x->kernel, x->line);
    const attest_finding planted = ask(NULL, x, 4, 1);
    ck_assert_msg(planted.broken, "%s does not see its violation on %s", x->property, x->line);
}

/* It compares nothing, or is not about the line. */
static inline void check_silent(const question *x)
{
    const attest_finding found = ask(NULL, x, 4, 0);
    ck_assert_msg(found.compared <= 0, "%s says something of %s on %s", x->property, x->kernel, x->line);
    ck_assert(!found.broken);
}

/* It sees the planted defect. */
static inline void check_seen(const question *x)
{
    const attest_finding found = ask(DEFECTS, x, 8, 0);
    ck_assert_msg(found.broken, "%s does not see %s on %s (%ld compared)", x->property, x->kernel, x->line,
                  (long)found.compared);
}

/* 1 for those whose tolerance is always a bound. */
static inline int needs_bounds(const char *property)
{
    return attest_property_find(property)->needs == ATTEST_NEEDS_BOUNDS;
}

/* It sees the planted defect in the first case, without bounds where it can. */
static inline void check_seen_by_bits(const question *x)
{
    asked *a = asked_open(DEFECTS, needs_bounds(x->property));
    asked_choose(a, x->kernel);
    const attest_finding found = asked_once(a, x->property, x->line, 0);
    ck_assert_msg(found.broken, "%s: %s on %s", x->property, x->kernel, x->line);
    asked_close(a);
}

/* Whether a property is about a line, of a deterministic kernel. */
typedef struct about_line {
    const char *property, *line;
    int applies;
} about_line;

static inline void check_about(const about_line *x)
{
    const attest_prop_kernel kernel = { .flags = ATTEST_DETERMINISTIC };
    attest_error err = { "" };
    attest_case c;
    ck_assert_msg(attest_case_parse(&c, x->line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_property_applies(attest_property_find(x->property), &c.problem, &kernel) == x->applies,
                  "%s: %s", x->property, x->line);
}

/* ---- checks of many lines, by bits alone ------------------------------------------------------------------------- */

/* Every line on every built-in kernel that serves it: nothing is broken; more than `least` elements are compared. */
static inline void check_lines_hold(const char *name, const char *const *lines, int count, int64_t least)
{
    const attest_library *library = attest_builtin_library();
    asked *a = asked_open(NULL, needs_bounds(name));
    int64_t compared = 0;
    for (size_t k = 0; k < library->kernel_count; k++) {
        asked_choose(a, library->kernels[k]->name);
        for (int l = 0; l < count; l++) {
            const attest_finding found = asked_once(a, name, lines[l], 0);
            ck_assert_msg(!found.broken, "%s: %s: %s", library->kernels[k]->name, lines[l], found.what);
            compared += found.compared > 0 ? found.compared : 0;
        }
    }
    ck_assert_msg(compared > least, "%s: compared %lld elements, more than %lld wanted: add lines to lines[]", name,
                  (long long)compared, (long long)least);
    asked_close(a);
}

/* Its own violation is seen on every line where something is compared: by every second kernel, `least` times. */
static inline void check_lines_violated(const char *name, const char *const *lines, int count, int least)
{
    const attest_library *library = attest_builtin_library();
    asked *a = asked_open(NULL, needs_bounds(name));
    int tried = 0;
    for (size_t k = 0; k < library->kernel_count; k += 2) {
        asked_choose(a, library->kernels[k]->name);
        for (int l = 0; l < count; l++) {
            const attest_finding found = asked_once(a, name, lines[l], 1);
            tried += found.compared > 0;
            ck_assert_msg(found.compared <= 0 || found.broken, "%s: %s", library->kernels[k]->name, lines[l]);
        }
    }
    ck_assert_msg(tried >= least, "%s: compared on %d lines and kernels, at least %d wanted: add lines to lines[]",
                  name, tried, least);
    asked_close(a);
}

/* A kernel without the flags owes no bits: nothing is said without bounds; within them all holds, and the bound still
 * sees a violation.  Returns how many elements were compared. */
static inline int64_t check_bounds_alone(const question *x, uint32_t flags)
{
    asked *bits = asked_open(NULL, 0), *bounds = asked_open(NULL, 1);
    asked_choose(bits, x->kernel);
    asked_choose(bounds, x->kernel);
    bits->kernel.flags ^= flags;
    bounds->kernel.flags ^= flags;
    ck_assert_int_le(asked_once(bits, x->property, x->line, 0).compared, 0);
    const attest_finding found = asked_once(bounds, x->property, x->line, 0);
    ck_assert_msg(!found.broken, "%s", found.what);
    if (found.compared > 0)
        ck_assert(asked_once(bounds, x->property, x->line, 1).broken);
    asked_close(bits);
    asked_close(bounds);
    return found.compared > 0 ? found.compared : 0;
}

#endif
