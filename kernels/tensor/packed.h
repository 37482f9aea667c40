/* packed.h - sequences of different lengths: rows that are absent, and sequences one after another without gaps.
 *
 * With lens_q=draw and len rows i >= len_q[b] of o, u, z and lse are absent.  Whatever a kernel leaves there, bundles
 * hold what an empty row has, so that nobody but the worker has to know of them.
 * With packed=on a kernel gets tensors of queries as [1,Hq,T,..], those of keys as [1,Hkv,T,..], and cu_seqlens_q and
 * cu_seqlens_k [B+1] of int64: token i of entry b is token cu_seqlens[b]+i.  What the formula reads is the same as
 * without, so that bundles, files and engines hold padded tensors; only what a kernel is given is packed.
 */
#ifndef ATTEST_PACKED_H
#define ATTEST_PACKED_H

#include "kernels/tensor/view.h"

/* 1 if the problem is packed. */
static inline int attest_packed_are(const attest_problem *p)
{
    return attest_axis_value_of(p, ATTEST_AXIS_PACKED) != ATTEST_PACKED_OFF;
}

/* Which cu_seqlens says where the tokens of this tensor begin: ATTEST_CU_SEQLENS_Q, ATTEST_CU_SEQLENS_K; 0: it is not
 * packed.  Not bias, attn_mask and keep, nor k and v in pages. */
uint32_t attest_packed_side(const attest_problem *p, attest_tensor_id id);

/* Shape and type of a packed tensor of so many tokens, or of a cu_seqlens; data NULL, host, C-order strides.  Of no
 * tokens at all it has one, which is nobody's. */
void attest_packed_describe(attest_tensor *t, const attest_problem *p, attest_tensor_id id, int64_t tokens);

/* Where each sequence begins, of cu_seqlens_q (`side`) or cu_seqlens_k, and where the last ends; starts[B+1]. */
void attest_packed_starts(int64_t *starts, const attest_problem *p, const attest_bundle *bundle, uint32_t side);

/* The entry of token t; -1: it is nobody's. */
int64_t attest_packed_entry(const int64_t *starts, int64_t entries, int64_t t);

/* Copies the tokens of the sequences, from the padded tensor or to it; nothing else is written. */
void attest_packed_copy(const attest_tensor *packed, const attest_tensor *plain, const int64_t *starts);
void attest_packed_keep(const attest_tensor *plain, const attest_tensor *packed, const int64_t *starts);

/* 1 if each token there has the bits that it has in `plain`. */
int attest_packed_same(const attest_tensor *packed, const attest_tensor *plain, const int64_t *starts);

/* Rows that are absent of an output (o, u, z, lse) of a bundle become those of an empty row: 0, of lse -inf.  Nothing
 * happens to other tensors, and without lens_q. */
void attest_absent_clear(const attest_tensor *t, attest_tensor_id id, const attest_problem *p,
                         const attest_bundle *bundle);

/* ---- packed tensors with memory of their own: for kernels that are run without a worker -------------------------- */
typedef struct attest_packed {
    const attest_problem *p;
    int64_t *starts[2];                   /* of queries, of keys */
    attest_tensor own[ATTEST_ROLE_COUNT]; /* by role; data NULL: it is not packed */
} attest_packed;

/* The inputs of a bundle, packed, and room for the outputs that it has.  Without packed=on nothing is made.  Cleared
 * with attest_packed_clear(), also after an error.  ATTEST_NO_MEMORY. */
attest_status attest_packed_make(attest_packed *packed, const attest_problem *p, const attest_bundle *bundle,
                                 attest_error *err);
void attest_packed_clear(attest_packed *packed);

/* Puts them into a view in place of the padded ones; nothing where nothing was made. */
void attest_packed_view(const attest_packed *packed, attest_view *view);

/* Copies the outputs to where `role` says, padded. */
void attest_packed_outputs(const attest_packed *packed, const attest_tensor *const *role);

#endif
