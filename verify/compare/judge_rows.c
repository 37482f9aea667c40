/* judge_rows.c - which rows of a case are judged: all of a small one, chosen ones of a large one. */
#include <stdlib.h>

#include "kernels/hash.h"
#include "verify/compare/compare.h"

#define ALL_ROWS 256 /* n up to which every row is judged */
#define HASH_ROWS 32
#define EDGE_ROWS 11    /* first, last, three edges with both neighbours */
#define UNKNOWN_TILE 64 /* a common tile, for kernels that do not say */

/* splitmix64: 64 well-mixed bits from a counter. */
static uint64_t mix(uint64_t x) { return attest_next64(&x); }

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Rows of one head into i[EDGE_ROWS + HASH_ROWS], ascending, each once; returns how many. */
static int64_t choose(int64_t *i, int64_t n, uint64_t seed, int64_t tile)
{
    const int64_t last_edge = (n - 1) / tile * tile;
    const int64_t edges[3] = { tile, 2 * tile, last_edge };
    int64_t count = 0, unique = 0;
    i[count++] = 0;
    i[count++] = n - 1;
    for (int edge = 0; edge < 3; edge++)
        for (int64_t beside = -1; beside <= 1; beside++)
            if (edges[edge] + beside >= 0 && edges[edge] + beside < n)
                i[count++] = edges[edge] + beside;
    for (uint64_t k = 0; k < HASH_ROWS; k++)
        i[count++] = (int64_t)(mix(seed + k) % (uint64_t)n);
    qsort(i, (size_t)count, sizeof *i, ascending);
    for (int64_t k = 0; k < count; k++)
        if (k == 0 || i[k] != i[unique - 1])
            i[unique++] = i[k];
    return unique;
}

attest_status attest_rows_to_judge(attest_row_index **rows, int64_t *count, const attest_problem *p, uint64_t hash,
                                   int64_t tile, attest_error *err)
{
    const int64_t heads = p->b * p->hq;
    const int64_t per_head = p->n <= ALL_ROWS ? p->n : EDGE_ROWS + HASH_ROWS;
    int64_t chosen[EDGE_ROWS + HASH_ROWS];
    *count = 0;
    *rows = calloc((size_t)(heads * per_head), sizeof **rows);
    if (!*rows)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld rows", (long long)(heads * per_head));
    if (tile < 1 || tile > p->n)
        tile = tile < 1 && UNKNOWN_TILE < p->n ? UNKNOWN_TILE : p->n;
    for (int64_t head = 0; head < heads; head++) {
        const uint64_t seed = mix(hash ^ mix((uint64_t)head));
        const int64_t some = p->n <= ALL_ROWS ? p->n : choose(chosen, p->n, seed, tile);
        for (int64_t k = 0; k < some; k++)
            (*rows)[(*count)++] = (attest_row_index){ head / p->hq, head % p->hq, p->n <= ALL_ROWS ? k : chosen[k] };
    }
    return ATTEST_OK;
}

int64_t attest_rows_present(attest_row_index *rows, int64_t count, const attest_truth *truth)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++)
        if (rows[k].i < attest_truth_lengths(truth, rows[k].b).queries)
            rows[kept++] = rows[k];
    return kept;
}

int64_t attest_rows_all(const attest_problem *p, const attest_truth *truth)
{
    int64_t all = 0;
    for (int64_t b = 0; b < p->b; b++)
        all += p->hq * attest_truth_lengths(truth, b).queries;
    return all;
}
