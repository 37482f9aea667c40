/* Drawing of cases in tests: shared by test_family.c and test_draw.c. */
#ifndef ATTEST_FAMILY_CASES_H
#define ATTEST_FAMILY_CASES_H

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "kernels/hash.h"
#include "props/draw/draw.h"

static inline attest_case case_of(const char *line)
{
    attest_case c;
    attest_error err;
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s: %s", line, err.text);
    return c;
}

static inline attest_bundle *draw_case(const attest_case *c, uint32_t case_number, int packed)
{
    attest_bundle *bundle;
    attest_error err;
    ck_assert(attest_bundle_new(&bundle, &err) == ATTEST_OK);
    const attest_status status = attest_draw_missing(bundle, c, case_number, packed, &err);
    ck_assert_msg(status == ATTEST_OK, "family %s: %s", c->family, err.text);
    return bundle;
}

static inline attest_bundle *draw(const char *line)
{
    const attest_case c = case_of(line);
    return draw_case(&c, 0, 0);
}

static inline double at(const attest_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    return attest_load(t, attest_offset(t, i0, i1, i2, i3));
}

static inline uint64_t hash_of(const attest_case *c, uint32_t case_number)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    attest_bundle *bundle = draw_case(c, case_number, 0);
    const size_t count = attest_problem_inputs(&c->problem, ids, ATTEST_MAX_TENSORS);
    uint64_t hash = ATTEST_FNV_START;
    for (size_t i = 0; i < count; i++) {
        const attest_tensor *t = attest_bundle_get(bundle, ids[i]);
        hash = attest_fnv(hash, t->data, attest_tensor_bytes(t));
    }
    attest_bundle_free(bundle);
    return hash;
}

/* scale <q_i, k_j> of head (0,0), in double (the promises are to a per cent). */
static inline double score(const attest_bundle *bundle, const attest_problem *p, int64_t i, int64_t j)
{
    const attest_tensor *q = attest_bundle_role(bundle, ATTEST_Q), *k = attest_bundle_role(bundle, ATTEST_K);
    double sum = 0;
    for (int64_t c = 0; c < p->d; c++)
        sum += at(q, 0, 0, i, c) * at(k, 0, 0, j, c);
    return p->scale * sum;
}

typedef struct frozen_draw {
    const char *line;
    uint64_t hash; /* FNV-1a of all input tensors */
} frozen_draw;

static inline void check_frozen(const frozen_draw *frozen, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const attest_case c = case_of(frozen[i].line);
        const uint64_t hash = hash_of(&c, 0);
        ck_assert_msg(hash == frozen[i].hash, "%s: the draws changed: 0x%016llx", frozen[i].line,
                      (unsigned long long)hash);
    }
}

#endif
