/* memo.c - judgements that are made once; see compare.h.  A judgement is kept as the fields that it changed. */
#include "verify/compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "reports/report.h"

typedef struct entry {
    struct entry *next;
    uint64_t hash;
    unsigned char *asked; /* what it is the judgement of: all that attest_compare_keys() reads but the truth */
    size_t size;
    unsigned char *keys; /* after it; NULL: none were asked for */
    attest_result before, after;
} entry;

struct attest_memo {
    entry *first;
};

attest_memo *attest_memo_new(void) { return calloc(1, sizeof(attest_memo)); }

static void free_entry(entry *e)
{
    if (!e)
        return;
    free(e->asked);
    free(e->keys);
    free(e);
}

void attest_memo_free(attest_memo *memo)
{
    while (memo && memo->first) {
        entry *next = memo->first->next;
        free_entry(memo->first);
        memo->first = next;
    }
    free(memo);
}

static void put(unsigned char *all, size_t *at, const void *what, size_t size)
{
    if (all && size > 0)
        memcpy(all + *at, what, size);
    *at += size;
}

static size_t count_keys(const attest_problem *p) { return (size_t)(p->b * p->hkv * p->m); }

/* Everything in a row of bytes; `all` NULL: how many they are. */
static size_t describe(unsigned char *all, int stage, const attest_case *c, const attest_bundle *outputs,
                       const attest_numerics *numerics, uint32_t flags, double claim_ulp, const unsigned char *keys)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_outputs(&c->problem, ids, ATTEST_MAX_TENSORS);
    size_t at = 0;
    put(all, &at, &stage, sizeof stage);
    put(all, &at, &claim_ulp, sizeof claim_ulp);
    put(all, &at, &flags, sizeof flags);
    put(all, &at, numerics, sizeof *numerics);
    put(all, &at, keys, keys ? count_keys(&c->problem) : 0);
    for (size_t i = 0; i < count; i++) {
        const attest_tensor *t = attest_bundle_get(outputs, ids[i]);
        const int64_t elements = t ? attest_tensor_count(t) : -1;
        put(all, &at, &elements, sizeof elements);
        for (int64_t k = 0; k < elements; k++) { /* outputs of a case lie in C order */
            const uint64_t bits = attest_load_bits(t, k);
            put(all, &at, &bits, sizeof bits);
        }
    }
    return at;
}

/* The judgement is that of `e`: each field that it changed. */
static void take(attest_result *result, unsigned char *keys, const entry *e, const attest_problem *p)
{
    for (size_t i = 0; i < attest_result_field_count; i++) {
        const attest_field *f = &attest_result_fields[i];
        if (memcmp((const char *)&e->before + f->offset, (const char *)&e->after + f->offset, f->size) != 0)
            memcpy((char *)result + f->offset, (const char *)&e->after + f->offset, f->size);
    }
    if (keys)
        memcpy(keys, e->keys, count_keys(p));
}

static const entry *find(const attest_memo *memo, const entry *like)
{
    const entry *e = memo->first;
    while (e && !(e->hash == like->hash && e->size == like->size && memcmp(e->asked, like->asked, e->size) == 0))
        e = e->next;
    return e;
}

attest_status attest_memo_compare(attest_memo *memo, int stage, attest_result *result, attest_truth *truth,
                                  attest_truth *exp_truth, const attest_case *c, const attest_bundle *outputs,
                                  const attest_numerics *numerics, uint32_t flags, double claim_ulp,
                                  unsigned char *keys, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const size_t count = count_keys(&c->problem);
    const entry *known;
    entry *e = memo ? calloc(1, sizeof *e) : NULL;
    if (e) {
        e->size = describe(NULL, stage, c, outputs, numerics, flags, claim_ulp, keys);
        e->asked = malloc(e->size);
        e->keys = keys ? malloc(count + 1) : NULL;
    }
    if (!e || !e->asked || (keys && !e->keys)) { /* judged, and not kept */
        free_entry(e);
        return attest_compare_keys(result, truth, exp_truth, c, outputs, numerics, flags, claim_ulp, keys, err);
    }
    describe(e->asked, stage, c, outputs, numerics, flags, claim_ulp, keys);
    e->hash = attest_fnv(ATTEST_FNV_START, e->asked, e->size);
    if ((known = find(memo, e)) != NULL) {
        take(result, keys, known, &c->problem);
        goto out;
    }
    e->before = *result;
    ATTEST_TRY(attest_compare_keys(result, truth, exp_truth, c, outputs, numerics, flags, claim_ulp, keys, err));
    e->after = *result;
    if (keys)
        memcpy(e->keys, keys, count);
    e->next = memo->first;
    memo->first = e;
    e = NULL;
out:
    free_entry(e);
    return status;
}
