/* rows.h - the walk over all output rows: what every kernel that goes row by row starts with. */
#ifndef ATTEST_CPU_ROWS_H
#define ATTEST_CPU_ROWS_H

#include "dropout.h"
#include "entries.h"

#ifndef step_kv_head
/* The KV head that query head h reads: hq/hkv query heads in a row share one. */
static inline int64_t step_kv_head(const attest_problem *p, int64_t h) { return h * p->hkv / p->hq; }
#endif

#ifndef step_scale
/* One rounding. */
static inline real step_scale(const attest_problem *p) { return (real)p->scale; }
#endif

/* What dropout is to the row. */
static inline void dropout_begin(row *r)
{
    r->keep = NULL;
    if (r->p->axis[ATTEST_AXIS_DROPOUT].value == ATTEST_DROPOUT_NONE)
        return;
    r->keep = dropout_keep(r);
    r->keep_step = r->t->role[ATTEST_KEEP]->stride[3];
    r->kept = dropout_factor(r->p);
}

/* The rows of batch entry r->b, in the order h, i. */
static inline void step_each_row_of(row *r, void (*head)(row *r), void (*body)(const row *r))
{
    const attest_problem *p = r->p;
    for (r->h = 0; r->h < p->hq; r->h++) {
        r->g = step_kv_head(p, r->h);
        if (head && r->h % (p->hq / p->hkv) == 0)
            head(r);
        for (r->i = 0; r->i < p->n; r->i++) {
            step_visible(p, step_length(p, r->t, r->b), r->i, &r->first, &r->last);
            step_narrow(r);
            dropout_begin(r);
            if (!step_row_wanted(r))
                continue;
            if (r->first < r->last)
                body(r);
            else
                step_empty_row(r);
        }
    }
}

/* Calls body for every row that sees a key, in the order b, h, i; the others are empty rows.  Before the first query
 * head of a KV head calls `head` (or NULL), which may make keys and values ready. */
static inline void step_each_row(const attest_call *call, void (*head)(row *r), void (*body)(const row *r))
{
    const attest_problem *p = call->problem;
    one_entry entry_alone;
    row r = { .p = p, .t = call->tensors, .rows = p->n, .scale = step_scale(p), .scratch = (real *)call->workspace };
    for (r.b = 0; r.b < p->b; r.b++) {
        if (entries_are(p)) {
            entries_set(&entry_alone, p, call->tensors, r.b);
            r.p = &entry_alone.p;
            r.t = &entry_alone.t;
        }
        step_each_row_of(&r, head, body);
    }
}

#endif
