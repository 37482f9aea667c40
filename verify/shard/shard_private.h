/* shard_private.h - inside verify/shard: the file of a shard's cases, and a shard as it is read. */
#ifndef ATTEST_SHARD_PRIVATE_H
#define ATTEST_SHARD_PRIVATE_H

#include "verify/shard/shard.h"

#define SHARD_HEAD "attest-shard-1"

/* 1..count. */
int64_t shard_of(const char *line, int64_t count);

typedef struct part_case {
    size_t index; /* in the whole suite */
    int drawn;
    char *line;
} part_case;

typedef struct part {
    const char *dir;
    attest_run_info info;
    attest_shard shard;
    size_t whole;
    char whole_hash[20];
    char **kernel;
    size_t kernels;
    part_case *of;
    size_t cases;
    attest_results results;
    attest_compact *compact; /* NULL: all results are there */
} part;

typedef struct parts {
    part *part; /* in the order of their numbers */
    size_t count;
} parts;

/* Of compact shards: the sum of their counts in *whole, the caller's, and then the results that it keeps.
 * ATTEST_BAD_INPUT: they count others than their runs had. */
attest_status shard_add_counts(attest_compact **whole, const parts *all, const attest_run_info *info,
                               attest_error *err);
attest_status shard_keep(attest_results *to, attest_compact *whole, const parts *all, const attest_run_info *info,
                         attest_error *err);

#endif
