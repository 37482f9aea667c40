/* ways.c - the conditions that cases of a run share: tokens of the problem line, sizes, the size of scores; each once
 * by name. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "kernels/hash.h"
#include "reports/diff/figures.h"

/* Sizes from `from` to below `below`.  A case by itself is no condition: default values have none. */
static const struct {
    const char *text;
    size_t offset;
    int64_t from, below;
} sizes[] = {
#define SIZE(key, from, below, text)                                                                                   \
    {                                                                                                                  \
        text, offsetof(attest_result, key), from, below                                                                \
    }
    SIZE(b, 2, INT64_MAX, "b > 1"),     SIZE(hq, 2, INT64_MAX, "hq > 1"),  SIZE(n, 1, 2, "n = 1"),
    SIZE(d, 1, 16, "d < 16"),           SIZE(d, 16, 64, "16 <= d < 64"),   SIZE(d, 64, INT64_MAX, "d >= 64"),
    SIZE(m, 1, 32, "m < 32"),           SIZE(m, 32, 128, "32 <= m < 128"), SIZE(m, 128, 512, "128 <= m < 512"),
    SIZE(m, 512, INT64_MAX, "m >= 512")
#undef SIZE
};

/* Largest scores. */
static const struct {
    const char *text;
    double from, below;
} scores[] = { { "scores below 1", 0, 1 }, { "scores from 1 to 32", 1, 32 }, { "scores above 32", 32, INFINITY } };

/* Number of the condition of this name; DIFF_WAYS: there are too many. */
static size_t number_of(diff_figures *f, const char *name, size_t length)
{
    const uint64_t hash = attest_fnv(ATTEST_FNV_START, name, length);
    for (size_t w = 0; w < f->ways; w++)
        if (f->way_hash[w] == hash)
            return w;
    if (f->ways == DIFF_WAYS)
        return DIFF_WAYS;
    f->way_hash[f->ways] = hash;
    snprintf(f->way[f->ways], sizeof *f->way, "%.*s", (int)length, name);
    return f->ways++;
}

static void put(diff_item *item, diff_figures *f, const char *name, size_t length)
{
    const size_t way = number_of(f, name, length);
    if (way < DIFF_WAYS)
        item->ways[way / 64] |= UINT64_C(1) << way % 64;
}

/* What is told of a token: its key, and its value where that is a name (`mask=causal`, `variant=taylor` for
 * `variant=taylor:2`).  Sizes and the family have rows of their own; a seed is no condition. */
static void put_token(diff_item *item, diff_figures *f, const char *token, size_t length)
{
    static const char *const apart[] = { "b", "hq", "hkv", "n", "m", "d", "e", "seed", "family" };
    const size_t key = strcspn(token, "= "), head = strcspn(token, ": ");
    char given[48];
    if (key >= length)
        return;
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (strlen(apart[i]) == key && strncmp(apart[i], token, key) == 0)
            return;
    snprintf(given, sizeof given, "%.*s given", (int)key, token);
    put(item, f, given, strlen(given));
    if (token[key + 1] >= 'a' && token[key + 1] <= 'z')
        put(item, f, token, head < length ? head : length);
}

/* Families whose large and small terms come in an order, by the key. */
static int is_ordered(const char *family)
{
    static const char *const names[] = { "ramp-up", "ramp-down", "half-peak", "peaked", "stairs" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], family) == 0)
            return 1;
    return 0;
}

void diff_ways_of(diff_item *item, diff_figures *f, const attest_result *r)
{
    char family[48];
    snprintf(family, sizeof family, "family=%s", r->family);
    const size_t number = number_of(f, family, strlen(family));
    item->ordered = (int8_t)is_ordered(r->family);
    memset(item->ways, 0, sizeof item->ways);
    put(item, f, family, strlen(family));
    item->family = (uint8_t)(number < DIFF_WAYS ? number : DIFF_WAYS - 1);
    for (const char *at = r->problem; *at;) {
        const size_t length = strcspn(at, " ");
        put_token(item, f, at, length);
        at += length + (at[length] == ' ');
    }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t size;
        memcpy(&size, (const char *)r + sizes[s].offset, sizeof size);
        if (size >= sizes[s].from && size < sizes[s].below)
            put(item, f, sizes[s].text, strlen(sizes[s].text));
    }
    if (r->hq > r->hkv)
        put(item, f, "hkv < hq", strlen("hkv < hq"));
    for (size_t s = 0; s < sizeof scores / sizeof *scores; s++)
        if (r->abs_score >= scores[s].from && r->abs_score < scores[s].below)
            put(item, f, scores[s].text, strlen(scores[s].text));
}
