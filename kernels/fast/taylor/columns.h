/* columns.h - packed states in vectors over the value channels, and the rows' end: what the Taylor kernels share.
 *
 * A column is LANES channels of all rows of a state: [columns][rows][LANES].  Channel e stands for z, as if each value
 * had one more entry, 1; channels behind it are zeros that nobody reads.
 */
#ifndef ATTEST_FAST_COLUMNS_H
#define ATTEST_FAST_COLUMNS_H

#include "fast/taylor/monomials.h"

#include "cpu/steps/norms.h"

enum { COLUMN_CHANNELS = 16 }; /* the unit of memory and of tasks on every instruction set: whole columns */

static inline int64_t columns_channels(const attest_problem *p) { return fast_up(p->e + 1, COLUMN_CHANNELS); }

#ifndef columns_count
/* Columns that hold a channel. */
static inline int64_t columns_count(const attest_problem *p) { return fast_up(p->e + 1, LANES) / LANES; }
#endif

/* Columns [first,last) of the state of KV head (r->b, r->g): as given, or zeros. */
static inline void columns_load(float *s, const monomials *a, const row *r, int64_t first, int64_t last)
{
    const attest_tensor *const *h0 = r->t->h0, *const *z0 = r->t->z0;
    const int64_t rows = monomials_states(a), e = r->p->e, end = step_min(last * LANES, e + 1);
    memset(s + first * rows * LANES, 0, sizeof *s * (size_t)((last - first) * rows * LANES));
    for (uint32_t n = a->lowest; n <= a->highest && heads_given(r->p); n++)
        for (int64_t at = 0; at < a->first[n + 1] - a->first[n]; at++)
            for (int64_t c = first * LANES; c < end; c++) {
                const attest_tensor *t = c < e ? h0[n] : z0[n];
                const int64_t channel = c < e ? c * t->stride[3] : 0;
                s[(c / LANES * rows + a->first[n] - monomials_first(a) + at) * LANES + c % LANES] = step_load(
                    t, step_offset(t, r->b, r->g, at) + channel);
            }
}

/* The same columns to the tensors ht and zt, where they are not NULL. */
static inline void columns_store(const float *s, const monomials *a, const row *r, int64_t first, int64_t last)
{
    const int64_t rows = monomials_states(a), e = r->p->e, end = step_min(last * LANES, e + 1);
    for (uint32_t n = a->lowest; n <= a->highest; n++)
        for (int64_t c = first * LANES; c < end; c++) {
            const attest_tensor *t = c < e ? r->t->ht[n] : r->t->zt[n];
            const float *from = s + (c / LANES * rows + a->first[n] - monomials_first(a)) * LANES + c % LANES;
            for (int64_t at = 0; t && at < a->first[n + 1] - a->first[n]; at++)
                step_store(t, step_offset(t, r->b, r->g, at) + (c < e ? c * t->stride[3] : 0), from[at * LANES]);
        }
}

#ifndef columns_value
/* Value row t of KV head (r->b, r->g) and its 1, in v[channels], whose other entries are zeros already. */
static inline void columns_value(float *v, float *buffer, const row *r, int64_t t)
{
    const float *value = fast_value(buffer, r->p, r->t, r->b, r->g, t);
    memcpy(v, value, sizeof *v * (size_t)r->p->e);
    v[r->p->e] = 1;
}
#endif

/* Does the row read anything, be it a given state? */
static inline int columns_reads(const row *r) { return heads_before(r, r->last); }

/* Row number `at` of all b hq n; its keys are [0, last). */
static inline row columns_row(const attest_problem *p, const attest_tensors *t, int64_t at)
{
    row r = {
        .p = p, .t = t, .b = at / p->n / p->hq, .h = at / p->n % p->hq, .i = at % p->n, .scale = (float)p->scale
    };
    r.g = r.h / (p->hq / p->hkv);
    step_visible(p, step_length(p, t, r.b), r.i, &r.first, &r.last);
    r.last = step_max(r.last, 0);
    return r;
}

/* The end of that row, of sums u and z in u[e + 1], which are used up. */
static inline void columns_finish(const attest_problem *p, const attest_tensors *t, float *u, int64_t at, int plain)
{
    const row r = columns_row(p, t, at);
    const attest_tensor *o = t->role[ATTEST_O];
    if (!columns_reads(&r)) {
        step_empty_row(&r);
    } else if (!plain) {
        norm_finish(&r, u, u[p->e], 0);
    } else {
        float *to = (float *)o->data + step_offset(o, r.b, r.h, r.i);
        for (int64_t c = 0; c < p->e; c++)
            to[c] = u[c] / u[p->e];
    }
}

/* Is o all that is asked for, and u/z? */
static inline int columns_plain(const attest_problem *p, const attest_tensors *t)
{
    return fast_plain_rows(p, t) && !t->role[ATTEST_U] && !t->role[ATTEST_Z];
}

#endif
