/* shard_private.h - inside verify/shard: the file of a shard's cases. */
#ifndef ATTEST_SHARD_PRIVATE_H
#define ATTEST_SHARD_PRIVATE_H

#include "verify/shard/shard.h"

#define SHARD_HEAD "attest-shard-1"

/* 1..count. */
int64_t shard_of(const char *line, int64_t count);

#endif
