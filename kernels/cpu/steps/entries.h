/* entries.h - a batch entry as a problem of its own: lens_q=draw and len, packed=on.
 *
 * Where sequences have different lengths or lie one after another, a kernel is given each entry's problem, with n the
 * entry's own queries, and tensors that begin where the entry's do: its steps then are those of any other problem.
 */
#ifndef ATTEST_CPU_ENTRIES_H
#define ATTEST_CPU_ENTRIES_H

#include "step.h"

typedef struct one_entry {
    attest_problem p;
    attest_tensors t;
    attest_tensor own[ATTEST_ROLE_COUNT];
    const attest_tensor *role[ATTEST_ROLE_ROOM];
} one_entry;

static inline int entries_are(const attest_problem *p)
{
    return p->axis[ATTEST_AXIS_LENS_Q].value != ATTEST_LENS_Q_NONE || p->axis[ATTEST_AXIS_PACKED].value;
}

#ifndef entries_queries
/* Queries of entry b: len_q_b, or all n. */
static inline int64_t entries_queries(const attest_problem *p, const attest_tensors *t, int64_t b)
{
    const attest_tensor *len = t->role[ATTEST_Q_LENS];
    if (p->axis[ATTEST_AXIS_LENS_Q].value == ATTEST_LENS_Q_NONE)
        return p->n;
    return ((const int64_t *)len->data)[b * len->stride[0]];
}
#endif

#ifndef entries_start
/* The first token of entry b in packed tensors of this side, ATTEST_CU_SEQLENS_Q or ATTEST_CU_SEQLENS_K. */
static inline int64_t entries_start(const attest_tensors *t, attest_role side, int64_t b)
{
    const attest_tensor *starts = t->role[side];
    return ((const int64_t *)starts->data)[b * starts->stride[0]];
}
#endif

/* Which cu_seqlens a packed tensor goes by; ATTEST_ROLE_COUNT: it is not packed. */
static inline attest_role entries_side(const attest_problem *p, attest_role role)
{
    switch (role) {
    case ATTEST_K:
    case ATTEST_V: return p->axis[ATTEST_AXIS_PAGES].value ? ATTEST_ROLE_COUNT : ATTEST_CU_SEQLENS_K;
    case ATTEST_GIN:
    case ATTEST_K_HEAD_LOGITS:
    case ATTEST_BETA:
    case ATTEST_DECAY: return ATTEST_CU_SEQLENS_K;
    case ATTEST_Q:
    case ATTEST_GOUT:
    case ATTEST_Q_HEAD_LOGITS:
    case ATTEST_O:
    case ATTEST_U:
    case ATTEST_Z:
    case ATTEST_LSE: return ATTEST_CU_SEQLENS_Q;
    default: return ATTEST_ROLE_COUNT;
    }
}

#ifndef entries_move
static inline void entries_move(attest_tensor *t, int64_t elements)
{
    t->data = (char *)t->data + elements * (t->bits / 8);
}
#endif

/* Entry b; indices stay as they are: a packed tensor begins at its first token, and its batch axis has stride 0. */
static inline void entries_set(one_entry *x, const attest_problem *p, const attest_tensors *t, int64_t b)
{
    x->p = *p;
    x->t = *t;
    x->t.role = x->role;
    x->p.n = entries_queries(p, t, b);
    for (unsigned r = 0; r < ATTEST_ROLE_ROOM; r++) {
        const attest_role role = (attest_role)r;
        const attest_role side = r < ATTEST_ROLE_COUNT ? entries_side(p, role) : ATTEST_ROLE_COUNT;
        x->role[r] = t->role[r];
        if (!t->role[r] || side == ATTEST_ROLE_COUNT || !p->axis[ATTEST_AXIS_PACKED].value)
            continue;
        x->own[r] = *t->role[r];
        entries_move(&x->own[r], entries_start(t, side, b) * x->own[r].stride[2]);
        x->own[r].stride[0] = 0;
        x->role[r] = &x->own[r];
    }
    x->p.axis[ATTEST_AXIS_LENS_Q].value = ATTEST_LENS_Q_NONE;
    x->p.axis[ATTEST_AXIS_PACKED].value = ATTEST_PACKED_OFF;
}

/* Has this tensor an entry of its own for each b?  Not where all share it, and where pages hold it. */
static inline int entries_own(const attest_problem *p, const attest_tensor *t, unsigned role)
{
    const int vector = (role >= ATTEST_SINK && role <= ATTEST_SHIFT) || role == ATTEST_CU_SEQLENS_Q ||
                       role == ATTEST_CU_SEQLENS_K;
    const int paged = p->axis[ATTEST_AXIS_PAGES].value && (role == ATTEST_K || role == ATTEST_V);
    return !vector && !paged && t->shape[0] > 1;
}

/* Calls `run` for each entry as a problem of b=1: of kernels that share out the rows of all entries among threads, and
 * have no states. */
static inline attest_status entries_each(const attest_call *call, attest_status (*run)(const attest_call *call))
{
    attest_call one = *call;
    attest_status status = ATTEST_OK;
    one_entry x;
    if (!entries_are(call->problem))
        return run(call);
    one.problem = &x.p;
    one.tensors = &x.t;
    for (int64_t b = 0; b < call->problem->b && status == ATTEST_OK; b++) {
        entries_set(&x, call->problem, call->tensors, b);
        x.p.b = 1;
        for (unsigned r = 0; r < ATTEST_ROLE_COUNT; r++)
            if (x.role[r] && entries_own(call->problem, x.role[r], r)) {
                x.own[r] = *x.role[r];
                entries_move(&x.own[r], b * x.own[r].stride[0]);
                x.own[r].shape[0] = 1;
                x.role[r] = &x.own[r];
            }
        status = run(&one);
    }
    return status;
}

#endif
