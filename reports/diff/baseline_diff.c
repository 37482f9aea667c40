/* baseline_diff.c - a run against a baseline: its lines as the figures of an earlier run; see diff.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/diff/figures.h"

static int8_t rank_of(int64_t verdict)
{
    attest_result r;
    attest_result_init(&r);
    r.verdict = verdict;
    return (int8_t)attest_result_rank(&r);
}

/* Those of `item` that the line names: `VERDICT PROBLEM`. */
static void take_known(diff_item *item, size_t count, const attest_baseline_line *line)
{
    for (size_t k = 0; k < json_array_size(line->known); k++) {
        const char *text = json_string_value(json_array_get(line->known, k));
        const size_t len = strcspn(text, " ");
        const uint64_t hash = text[len] == ' ' ? diff_line_hash(text + len + 1) : 0;
        for (int64_t v = 0; v < ATTEST_VERDICT_COUNT; v++) {
            if (strlen(attest_verdict_names[v]) != len || strncmp(attest_verdict_names[v], text, len) != 0)
                continue;
            for (size_t i = 0; i < count; i++)
                if (item[i].line == hash) {
                    item[i].verdict = (int8_t)v;
                    item[i].rank = rank_of(v);
                    item[i].failed = v == ATTEST_FAIL || item[i].rank == 0;
                }
        }
    }
}

/* A case that the line does not name passed. */
static attest_status take_line(diff_figures *f, const attest_baseline_line *line, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const size_t first = f->count;
    size_t group;
    ATTEST_TRY(diff_find_group(&group, f, line->kernel, line->class, err));
    for (int64_t i = 0; i < line->cases; i++) {
        ATTEST_TRY(diff_room(f, err));
        diff_item *item = &f->item[f->count++];
        *item = (diff_item){ .group = group, .index = (size_t)i, .verdict = ATTEST_PASS, .rank = rank_of(ATTEST_PASS) };
        diff_each(item, line->each, (size_t)i);
        item->key = diff_key(line->kernel, item->line);
    }
    take_known(f->item + first, f->count - first, line);
out:
    return status;
}

attest_status attest_diff_baseline(attest_diff *diff, const attest_baseline *baseline, const attest_results *now,
                                   attest_error *err)
{
    attest_status status = ATTEST_OK;
    diff_figures then = { .count = 0 }, is = { .count = 0 };
    *diff = (attest_diff){ 0 };
    for (size_t i = 0; i < baseline->count; i++)
        ATTEST_TRY(take_line(&then, &baseline->line[i], err));
    ATTEST_TRY(diff_collect(&is, now, err));
    ATTEST_TRY(diff_compare(diff, &then, &is, now, 1, err));
out:
    diff_figures_clear(&then);
    diff_figures_clear(&is);
    if (status != ATTEST_OK)
        attest_diff_clear(diff);
    return status;
}
