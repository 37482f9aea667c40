/* merge_compact.c - shards with compact results as one run; see shard.h. */
#include <stdlib.h>
#include <string.h>

#include "verify/shard/shard_private.h"

static attest_status list_kept(void *list, const attest_result *result, const attest_compact_mark *mark,
                               attest_error *err)
{
    (void)mark;
    return attest_results_add(list, result, err);
}

/* The results that a shard kept; those without a case come once, of all shards. */
static attest_status keep_part(attest_results *to, attest_compact *whole, const part *p, const attest_run_info *info,
                               attest_error *err)
{
    const double none = __builtin_nan("");
    const attest_compact_mark mark = { .small = none, .large = none };
    attest_status status = ATTEST_OK;
    attest_result r;
    int listed;
    for (size_t i = 0; i < p->results.count; i++) {
        ATTEST_TRY(attest_results_get(&r, &p->results, i, err));
        if (!*r.problem)
            continue;
        memcpy(r.run, info->run, sizeof r.run);
        if (!attest_compact_has_evidence(whole, r.kernel, r.variant))
            attest_gate_no_evidence(&r);
        ATTEST_TRY(attest_compact_keep(&listed, whole, &r, &mark, err));
        if (listed)
            ATTEST_TRY(attest_results_add(to, &r, err));
    }
out:
    return status;
}

/* Their sum; ATTEST_BAD_INPUT: not what their runs said that they had. */
attest_status shard_add_counts(attest_compact **whole, const parts *all, const attest_run_info *info, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_compact_new(whole, err));
    for (size_t n = 0; n < all->count; n++)
        ATTEST_TRY(attest_compact_add(*whole, all->part[n].compact, err));
    if (attest_compact_total(*whole) != info->results)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "the shards count %lld results of cases, their runs had %lld",
                               (long long)attest_compact_total(*whole), (long long)info->results));
    attest_compact_no_evidence(*whole);
out:
    return status;
}

attest_status shard_keep(attest_results *to, attest_compact *whole, const parts *all, const attest_run_info *info,
                         attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t n = 0; n < all->count; n++)
        ATTEST_TRY(keep_part(to, whole, &all->part[n], info, err));
    ATTEST_TRY(attest_compact_extremes(whole, list_kept, to, err));
out:
    return status;
}
