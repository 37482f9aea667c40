/* classify_ask.h - the traits of one kernel, for the tests of the classifier. */
#ifndef ATTEST_TEST_CLASSIFY_ASK_H
#define ATTEST_TEST_CLASSIFY_ASK_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reports/traits.h"
#include "verify/classify/classify.h"

static inline void use_our_worker(void) { setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1); }

/* Traits of one kernel of a library (NULL: built-in). */
static inline attest_traits classify(const char *library, const char *kernel)
{
    attest_traits traits = { 0 };
    attest_classify_fault fault;
    attest_worker *worker;
    attest_error err;
    int found = 0;
    ck_assert_msg(attest_worker_start(&worker, library, 10, &err) == ATTEST_OK, "%s", err.text);
    for (size_t k = 0; k < attest_worker_kernel_count(worker); k++)
        if (strcmp(attest_worker_kernel(worker, k)->name, kernel) == 0) {
            found = 1;
            ck_assert_msg(attest_classify(&traits, &fault, worker, k, kernel, 10, &err) == ATTEST_OK, "%s", err.text);
        }
    ck_assert_msg(found, "no kernel %s", kernel);
    attest_worker_free(worker);
    return traits;
}

static inline const attest_trait *trait_of(const attest_traits *traits, const char *name)
{
    for (size_t n = 0; n < traits->count; n++)
        if (strcmp(traits->trait[n].trait, name) == 0)
            return &traits->trait[n];
    ck_abort_msg("no trait %s", name);
    return NULL;
}

#endif
