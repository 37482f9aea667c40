/* props_asked.h - asking properties of kernels in tests: one line, one kernel of a worker, one property. */
#ifndef ATTEST_PROPS_ASKED_H
#define ATTEST_PROPS_ASKED_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "props/trial.h"
#include "verify/props_host.h"

typedef struct asked {
    attest_worker *worker;
    attest_props_world world;
    attest_prop_host host;
} asked;

static inline asked *asked_open(const char *library, int reference)
{
    attest_error err;
    asked *a = calloc(1, sizeof *a);
    ck_assert_ptr_nonnull(a);
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1);
    ck_assert_msg(attest_worker_start(&a->worker, library, 10, &err) == ATTEST_OK, "%s", err.text);
    a->world = (attest_props_world){ .subject = { .worker = a->worker, .library = library, .program = "attest" },
                                     .timeout_s = 20, .reference = reference };
    a->host = attest_props_host(&a->world);
    return a;
}

static inline void asked_close(asked *a)
{
    attest_worker_free(a->worker);
    free(a);
}

/* The kernel of this name is the one that is asked. */
static inline void asked_choose(asked *a, const char *kernel)
{
    attest_error err;
    ck_assert_msg(attest_find_kernel(&a->world.subject, kernel, &err) == ATTEST_OK, "%s", err.text);
}

/* The finding of property `name` on this line; `violated`: with its own violation planted; `other`: flags of the
 * kernel that are taken as the opposite of what they are.  *served = 0: the kernel does not serve the line, or the
 * property is not about it. */
static inline attest_finding asked_once(asked *a, const char *name, const char *line, int violated, uint32_t other,
                                        int *served)
{
    const attest_property *property = attest_property_find(name);
    attest_finding found = { 0 };
    attest_bundle *inputs = NULL;
    attest_trial trial;
    attest_error err;
    attest_case c;
    ck_assert_msg(property != NULL, "no property %s", name);
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s: %s", line, err.text);
    attest_prop_kernel kernel = attest_props_kernel(&a->world.subject);
    kernel.flags ^= other;
    *served = a->host.supports(a->host.context, &c.problem) && property->applies(&c.problem, &kernel);
    if (!*served)
        return found;
    ck_assert_int_eq(attest_bundle_new(&inputs, &err), ATTEST_OK);
    ck_assert_msg(attest_draw_missing(inputs, &c, 0, 0, &err) == ATTEST_OK, "%s: %s", line, err.text);
    ck_assert_msg(attest_trial_init(&trial, &a->host, &kernel, &c, 0, inputs, violated ? property : NULL, &err) ==
                      ATTEST_OK, "%s: %s", line, err.text);
    if (trial.first.end == ATTEST_PROP_DONE)
        ck_assert_msg(property->check(&found, &trial, &err) == ATTEST_OK, "%s: %s: %s", name, line, err.text);
    attest_trial_clear(&trial);
    attest_bundle_free(inputs);
    return found;
}

#endif
