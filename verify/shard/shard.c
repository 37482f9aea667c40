/* shard.c - which cases a shard has; see shard.h. */
#include "verify/shard/shard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "verify/shard/shard_private.h"

#define SHARDS_MOST 1000000

/* ---- who asks ---------------------------------------------------------------------------------------------------- */
static int read_number(int64_t *n, const char *text, const char **end)
{
    char *behind;
    errno = 0;
    *n = strtoll(text, &behind, 10);
    *end = behind;
    return behind != text && errno == 0 && *text >= '0' && *text <= '9';
}

/* The whole number of an environment variable; *there = 0: it is not set. */
static attest_status from_environment(int64_t *n, int *there, const char *name, attest_error *err)
{
    const char *text = getenv(name), *end;
    *there = text && *text;
    if (*there && (!read_number(n, text, &end) || *end))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s=%.100s: no whole number", name, text);
    return ATTEST_OK;
}

static attest_status check(const attest_shard *s, const char *source, attest_error *err)
{
    if (s->count >= 1 && s->count <= SHARDS_MOST && s->index >= 1 && s->index <= s->count)
        return ATTEST_OK;
    return attest_fail(err, ATTEST_BAD_INPUT, "%s: shard %lld of %lld, it is I/N with 1 <= I <= N <= %d", source,
                       (long long)s->index, (long long)s->count, SHARDS_MOST);
}

attest_status attest_shard_read(attest_shard *shard, const char *text, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t first = 0, step = 1;
    int total, index, least, steps;
    *shard = (attest_shard){ 0, 0 };
    if (text) {
        const char *at;
        if (!read_number(&shard->index, text, &at) || *at++ != '/' || !read_number(&shard->count, at, &at) || *at)
            return attest_fail(err, ATTEST_BAD_INPUT, "--shard=%.100s: write I/N, as 2/3", text);
        return check(shard, "--shard", err);
    }
    ATTEST_TRY(from_environment(&shard->count, &total, "GTEST_TOTAL_SHARDS", err));
    ATTEST_TRY(from_environment(&shard->index, &index, "GTEST_SHARD_INDEX", err));
    if (total && index) {
        shard->index++;
        return check(shard, "GTEST_SHARD_INDEX", err);
    }
    ATTEST_TRY(from_environment(&shard->count, &total, "SLURM_ARRAY_TASK_COUNT", err));
    ATTEST_TRY(from_environment(&shard->index, &index, "SLURM_ARRAY_TASK_ID", err));
    ATTEST_TRY(from_environment(&first, &least, "SLURM_ARRAY_TASK_MIN", err));
    ATTEST_TRY(from_environment(&step, &steps, "SLURM_ARRAY_TASK_STEP", err));
    if (total && index && least) {
        if (step < 1 || (shard->index - first) % step != 0)
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "SLURM_ARRAY_TASK_STEP=%lld does not lead from %lld to %lld",
                                   (long long)step, (long long)first, (long long)shard->index));
        shard->index = (shard->index - first) / step + 1;
        return check(shard, "SLURM_ARRAY_TASK_ID", err);
    }
    *shard = (attest_shard){ 0, 0 };
out:
    if (status != ATTEST_OK)
        *shard = (attest_shard){ 0, 0 };
    return status;
}

/* ---- its cases --------------------------------------------------------------------------------------------------- */
int64_t shard_of(const char *line, int64_t count)
{
    return (int64_t)(attest_mix64(attest_fnv(ATTEST_FNV_START, line, strlen(line))) % (uint64_t)count) + 1;
}

static uint64_t hash_of(const attest_suite *suite)
{
    uint64_t hash = ATTEST_FNV_START;
    for (size_t i = 0; i < suite->case_count; i++)
        hash = attest_fnv(hash, attest_suite_line(suite, i), strlen(attest_suite_line(suite, i)) + 1);
    return hash;
}

attest_status attest_shard_keep(char **cases, attest_suite *suite, const attest_plan *plan, const attest_shard *shard,
                                int lines, attest_error *err)
{
    const size_t whole = suite->case_count, first_drawn = whole - suite->drawn;
    size_t size;
    *cases = NULL;
    FILE *out = open_memstream(cases, &size);
    if (!out)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the cases of a shard");
    fprintf(out, "%s %lld %lld %zu %016llx\n", SHARD_HEAD, (long long)shard->index, (long long)shard->count, whole,
            (unsigned long long)hash_of(suite));
    for (size_t k = 0; k < plan->kernel_count; k++)
        fprintf(out, "kernel %s\n", plan->kernel[k].name);
    suite->case_count = suite->drawn = 0;
    for (size_t i = 0; i < whole; i++) {
        const char *line = suite->text + suite->line[i];
        if (shard_of(line, shard->count) != shard->index)
            continue;
        if (lines)
            fprintf(out, "case %zu %d %s\n", i, i >= first_drawn, line);
        suite->line[suite->case_count++] = suite->line[i];
        suite->drawn += i >= first_drawn;
    }
    if (fclose(out) == 0)
        return ATTEST_OK;
    free(*cases);
    *cases = NULL;
    return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the cases of a shard");
}

attest_status attest_shard_write(const char *cases, const char *dir, attest_error *err)
{
    attest_output out;
    char path[4096];
    if (snprintf(path, sizeof path, "%s/cases.txt", dir) >= (int)sizeof path)
        return attest_fail(err, ATTEST_BAD_INPUT, "%.100s...: the path is too long", dir);
    attest_status status = attest_output_open(&out, path, err);
    if (status == ATTEST_OK && fputs(cases, out.file) == EOF)
        status = attest_print_failed(err, path);
    return attest_output_close(&out, status, err);
}
