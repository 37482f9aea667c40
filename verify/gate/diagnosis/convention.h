/* convention.h - inside verify/gate/diagnosis: a row of the table of conventions, and a case that is changed by it. */
#ifndef ATTEST_CONVENTION_H
#define ATTEST_CONVENTION_H

#include "verify/gate/gate.h"

/* Which KV head stands where query head h, or KV head g, of the changed problem reads. */
enum { ATTEST_HEADS_SAME = 0, ATTEST_HEADS_IN_TURN = 1, ATTEST_HEADS_FIRST = 2 };

/* A case as it ran, and as a convention would have it. */
typedef struct attest_changed {
    const attest_case *was;
    const attest_bundle *inputs, *outputs; /* of the run */
    attest_case c;                         /* changed; sizes may be smaller */
    attest_bundle *in, *out;               /* of `c`, copies */
    attest_numerics numerics;
    uint32_t flags;
    int64_t skipped_keys, skipped_queries; /* at the start, which `c` has not */
    int heads;
    attest_role given; /* a tensor that the run has not and `edit` fills; ATTEST_Q: none */
} attest_changed;

typedef struct attest_convention {
    const char *name;    /* as it is told; NULL: the setting, or the declaration */
    const char *setting; /* of one axis, as in a problem line: `mask=full`; or NULL */
    const char *declare; /* words: the case runs again as if the kernel declared them; or NULL */
    int64_t reasons;     /* of `declare`: asked where the failure has one of them */
    int partial;         /* 1: a case that is partial fits: rows that it would have failed in are then not judged */
    int arithmetic;      /* 1: other arithmetic, whose bound is looser: asked where no other row fits */
    /* Changes problem, flags, what is skipped, heads; 0: the case has nothing that it could change.  NULL: nothing. */
    int (*change)(attest_changed *t);
    /* Changes the tensors, once they are there. */
    attest_status (*edit)(attest_changed *t, attest_error *err);
} attest_convention;

extern const attest_convention attest_convention_table[];
extern const size_t attest_convention_count;

const char *attest_convention_name(const attest_convention *row);

/* Makes t->c, t->in and t->out of what ran; *applies = 0: the row says nothing of this case, or no function of this
 * version is what it would be.  The caller clears *t in any case. */
attest_status attest_changed_make(attest_changed *t, int *applies, const attest_convention *row, attest_error *err);
void attest_changed_clear(attest_changed *t);

#endif
