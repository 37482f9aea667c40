/* moved.c - one case, then and now: how far its error moved; see diff.h. */
#include <math.h>
#include <stdio.h>

#include "reports/diff/figures.h"

/* Below u/4 (diff.h says why). */
static int is_exact(double error, const diff_item *item) { return error < -item->digits - 2; }

/* At least 3 u. */
static double lifted(double error, const diff_item *item) { return fmax(error, log2(3) - item->digits); }

void diff_moved_add(diff_moved *m, double error, double typical, diff_item *now)
{
    const int typicals = isfinite(typical) && isfinite(now->typical);
    const int errors = isfinite(now->error - error);
    const int was = errors && is_exact(error, now), is = errors && is_exact(now->error, now);
    now->moved = now->above = NAN;
    if (!typicals && !errors) {
        m->alone += isfinite(error) || isfinite(now->error);
        return;
    }
    m->both++;
    m->no_more += was && !is;
    if (errors)
        now->above = (float)(now->error - lifted(error, now));
    if (errors && (now->repeats || was != is))
        now->moved = (float)(lifted(now->error, now) - lifted(error, now));
    else if (!was)
        now->moved = (float)(typicals ? now->typical - typical : now->error - error);
}

int diff_moved_none(const diff_moved *m) { return m->both == 0 && m->alone > 0; }

attest_status diff_moved_tell_none(attest_diff *diff, const diff_group *group, const diff_moved *m, attest_error *err)
{
    return diff_name_case(diff_add(diff, ATTEST_CHANGE_UNCOMPARED, group,
                                   "the errors are NOT compared: no case has one then and now (%zu have one)",
                                   m->alone),
                          NULL, SIZE_MAX, NAN, err);
}

void diff_moved_exact(char text[64], const diff_moved *m)
{
    *text = '\0';
    if (m->no_more > 0)
        snprintf(text, 64, "; %zu %s exact and %s not", m->no_more, m->no_more == 1 ? "was" : "were",
                 m->no_more == 1 ? "is" : "are");
}
