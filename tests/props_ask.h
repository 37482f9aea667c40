/* props_ask.h - what one property says of a kernel, over a few case numbers.  For the suites of properties. */
#ifndef ATTEST_TEST_PROPS_ASK_H
#define ATTEST_TEST_PROPS_ASK_H

#include <check.h>
#include <stdlib.h>

#include "props/trial.h"
#include "verify/props_host.h"

typedef struct question {
    const char *property, *kernel, *line;
} question;

typedef struct scene {
    attest_props_world world;
    attest_prop_host host;
    attest_prop_kernel kernel;
} scene;

static inline void open_scene(scene *s, const char *library, const char *kernel)
{
    attest_error err = { "" };
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1);
    *s = (scene){ .world = { .timeout_s = 10, .reference = 1 } };
    ck_assert_msg(attest_worker_start(&s->world.subject.worker, library, 5, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_find_kernel(&s->world.subject, kernel, &err) == ATTEST_OK, "%s", err.text);
    s->host = attest_props_host(&s->world);
    s->kernel = attest_props_kernel(&s->world.subject);
}

/* What the property says of case `number`; compared = -1: it does not apply. */
static inline attest_finding ask_with(const scene *s, const question *x, uint32_t number, int planted)
{
    const attest_property *property = attest_property_find(x->property);
    attest_error err = { "" };
    attest_finding found = { .compared = -1 };
    attest_case c;
    attest_bundle *inputs;
    attest_trial trial;
    ck_assert_msg(property != NULL, "no property %s", x->property);
    ck_assert_msg(attest_case_parse(&c, x->line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    if (!property->applies(&c.problem, &s->kernel))
        return found;
    found.compared = 0;
    ck_assert(attest_bundle_new(&inputs, &err) == ATTEST_OK);
    ck_assert_msg(attest_draw_missing(inputs, &c, number, 0, &err) == ATTEST_OK, "%s", err.text);
    ck_assert(attest_trial_init(&trial, &s->host, &s->kernel, &c, number, inputs, planted ? property : NULL, &err) ==
              ATTEST_OK);
    ck_assert_msg(trial.outputs != NULL, "%s on %s: %s", x->kernel, x->line, trial.first.why);
    ck_assert_msg(property->check(&found, &trial, &err) == ATTEST_OK, "%s", err.text);
    attest_trial_clear(&trial);
    attest_bundle_free(inputs);
    return found;
}

/* Over `cases` numbers: the first broken one, else the sum of what was compared and the largest ratio. */
static inline attest_finding ask(const char *library, const question *x, uint32_t cases, int planted)
{
    scene s;
    attest_finding all = { 0 };
    open_scene(&s, library, x->kernel);
    for (uint32_t number = 0; number < cases && !all.broken; number++) {
        const attest_finding found = ask_with(&s, x, number, planted);
        const int64_t compared = all.compared + found.compared;
        if (found.broken || found.ratio > all.ratio)
            all = found;
        all.compared = compared;
    }
    attest_worker_free(s.world.subject.worker);
    return all;
}

#endif
