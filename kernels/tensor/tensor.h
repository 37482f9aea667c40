/* tensor.h - what tensors a problem has, their shapes and types, and owning buffers for them.
 *
 * Answers which tensors a problem has, and holds their elements. Draws no value, reads no file and runs no kernel.
 *
 * The role table is the single list of tensors: name on the command line, role, side, axes, dtype rule.
 * States are named h0.n z0.n ht.n zt.n.  Tensors are BHSD: [B,H,S,D], C order, unless a view says otherwise.
 */
#ifndef ATTEST_TENSOR_H
#define ATTEST_TENSOR_H

#include "kernels/problem/problem.h"

/* A tensor's identity: a plain role, or one of the four state kinds with its degree. */
typedef enum attest_kind {
    ATTEST_KIND_ROLE = 0,
    ATTEST_KIND_H0 = 1,
    ATTEST_KIND_Z0 = 2,
    ATTEST_KIND_HT = 3,
    ATTEST_KIND_ZT = 4
} attest_kind;

typedef struct attest_tensor_id {
    uint32_t kind;  /* attest_kind */
    uint32_t index; /* the attest_role, or the degree n */
} attest_tensor_id;

typedef struct attest_role_info {
    const char *name; /* `q`, `gout`, ... */
    uint32_t role;
    const char *axes; /* letters: b batch, h query head, g kv head, n query, m key, d, e; NULL: in no bundle */
    int output;       /* 1: o u z lse */
    const char *meaning;
} attest_role_info;

/* Roles that problems of this version have.  attest.h names more, which come later. */
#define ATTEST_TENSOR_ROLES (ATTEST_Q_LENS + 1)

extern const attest_role_info attest_roles[ATTEST_TENSOR_ROLES];

/* `q`, `h0.2`, ... -> id; ATTEST_BAD_INPUT lists the names. */
attest_status attest_tensor_id_parse(attest_tensor_id *id, const char *name, attest_error *err);
void attest_tensor_id_print(char *name, size_t len, attest_tensor_id id);
int attest_tensor_id_equal(attest_tensor_id a, attest_tensor_id b);

/* 1 if the formula reads this input tensor.  With state=draw: h0.n and z0.n of the variant's degrees. */
int attest_problem_uses(const attest_problem *p, attest_tensor_id id);

/* The axis whose value makes the formula read this input tensor (gates for `sq`, state for `h0.1`); q, k, v are read by
 * every formula: ATTEST_AXIS_COUNT. */
uint32_t attest_tensor_axis(attest_tensor_id id);

/* 1 if the variant defines this output: o always; u and z unless delta/efla; lse unless delta/efla, and
 * with norm=none only for weight=exp; ht.n and zt.n of the variant's degrees, not with a window.
 * Otherwise 0 and the reason. */
int attest_problem_has(const attest_problem *p, attest_tensor_id id, char *why, size_t len);

/* All input tensors the problem uses / all outputs it has, in drawing order; returns the count (<= max). */
size_t attest_problem_inputs(const attest_problem *p, attest_tensor_id *ids, size_t max);
size_t attest_problem_outputs(const attest_problem *p, attest_tensor_id *ids, size_t max);
#define ATTEST_MAX_TENSORS 300

/* The letters of a tensor's axes in this problem, as attest_role_info has them; `1` for an axis of length 1 that all
 * batch entries or query heads share (bias, attn_mask).  NULL: a state, or no tensor. */
const char *attest_tensor_axes(const attest_problem *p, attest_tensor_id id);

/* Shape and dtype of a tensor (q k v bias: in; o: out; len, len_q: i64; attn_mask, keep: bool; all else f32, f64 if
 * acc=f64); data NULL, host, C-order strides.  `packed`: states in the packed layout. */
void attest_tensor_describe(attest_tensor *t, const attest_problem *p, attest_tensor_id id, int packed);

/* Strides of C order for its shape and rank; trailing entries are as attest.h has them. */
void attest_tensor_set_order(attest_tensor *t);

/* The number of the tensor in the draws: roles in the order q=0 gout=1 ... len=14, h0.n = 15+n, z0.n = 80+n;
 * bias = 275, and up to 530: one for every 2^16 keys; attn_mask = 531, and up to 786 likewise; keep = 787 to 1042;
 * len_q = 1043; k_scale = 1044, v_scale = 1045. */
uint32_t attest_tensor_draw_number(attest_tensor_id id);

int64_t attest_tensor_count(const attest_tensor *t); /* elements */
size_t attest_tensor_bytes(const attest_tensor *t);  /* of a C-order tensor */
size_t attest_dtype_bytes(uint32_t dtype);
int attest_tensor_in_order(const attest_tensor *t); /* 1: C order; strides of axes of length 1 do not matter */

/* Element address by four indices (unused ones 0), by strides. */
static inline int64_t attest_offset(const attest_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    return i0 * t->stride[0] + i1 * t->stride[1] + i2 * t->stride[2] + i3 * t->stride[3];
}
uint64_t attest_load_bits(const attest_tensor *t, int64_t offset); /* stored bits, zero-extended */
double attest_load(const attest_tensor *t, int64_t offset);        /* exact double value (not i64) */
int64_t attest_load_int(const attest_tensor *t, int64_t offset);   /* i64, bool */
void attest_store_bits(const attest_tensor *t, int64_t offset, uint64_t bits);
int attest_dtype_counts(uint32_t dtype); /* whole numbers: i64, bool */

/* What the numbers of k (v) of KV head g of entry b are multiplied by: kv=e4m3, e5m2, `scale` being the tensor k_scale
 * (v_scale); else 1. */
double attest_kv_scale(const attest_problem *p, const attest_tensor *scale, int64_t b, int64_t g);
/* k or v of 8 bits as f64 numbers in C order, multiplied by their scales: exact, for 4 bits times 24 are 28, and no
 * product is below 2^-165 or above 2^144.  The caller frees t->data, on failure too.  NaN and infinity stay. */
attest_status attest_kv_numbers(attest_tensor *t, const attest_problem *p, const attest_tensor *stored,
                                const attest_tensor *scale, attest_error *err);

/* The lengths of batch entry b; `len` and `len_q`: the tensors, or NULL where the problem has none. */
attest_lengths attest_lengths_of(const attest_problem *p, const attest_tensor *len, const attest_tensor *len_q,
                                 int64_t b);

/* 1 if attn_mask hides key j from query i of head h and entry b; NULL: it hides none.  Entries or heads that share it
 * have an axis of length 1. */
int attest_masks(const attest_tensor *mask, int64_t b, int64_t h, int64_t i, int64_t j);
/* 1 if it hides all keys [first,last), or there are none. */
int attest_masks_all(const attest_tensor *mask, int64_t b, int64_t h, int64_t i, int64_t first, int64_t last);
/* 1 unless keep drops key j's weight in row (b,h,i); NULL: nothing is dropped. */
int attest_keeps(const attest_tensor *keep, int64_t b, int64_t h, int64_t i, int64_t j);
/* 1 where a row without a visible key may hold the mean of v, or anything: what it holds is neither judged nor compared
 * with another run.  `empty_row` is an attest_empty_row. */
int attest_empty_row_is_free(uint32_t empty_row);

/* ---- a bundle: all tensors of one case, with owned host memory --------------------------------------- */
typedef struct attest_bundle attest_bundle;

/* Empty bundle. */
attest_status attest_bundle_new(attest_bundle **bundle, attest_error *err);
void attest_bundle_free(attest_bundle *bundle);

/* Adds a zero-filled C-order tensor as attest_tensor_describe() says; replaces one of the same id.
 * *t (or NULL) is borrowed, valid until the bundle is freed. */
attest_status attest_bundle_add(attest_bundle *bundle, const attest_problem *p, attest_tensor_id id, int packed,
                                attest_tensor **t, attest_error *err);

/* Adds a tensor with a given shape and dtype whose `data` (malloc'd) the bundle takes over. */
attest_status attest_bundle_adopt(attest_bundle *bundle, attest_tensor_id id, const attest_tensor *t,
                                  attest_error *err);

/* NULL if absent. */
attest_tensor *attest_bundle_get(const attest_bundle *bundle, attest_tensor_id id);
attest_tensor *attest_bundle_role(const attest_bundle *bundle, attest_role role);

/* attest_lengths_of() the tensors len and len_q of the bundle. */
attest_lengths attest_bundle_lengths(const attest_problem *p, const attest_bundle *bundle, int64_t b);

/* Bytes of all inputs, with k and v in their pages, and of o, u, z, lse; used before allocation (final states are made
 * on demand: attest_bundle_add refuses one that does not fit).  ATTEST_BAD_INPUT when they exceed physical memory
 * ("needs X, this machine has Y"). */
attest_status attest_problem_memory(const attest_problem *p, uint64_t *bytes, attest_error *err);

/* ATTEST_BAD_INPUT if `count` outputs at `element` bytes each number do not fit into the machine's memory: final states
 * have dim^n rows. */
attest_status attest_outputs_memory(const attest_problem *p, const attest_tensor_id *ids, size_t count,
                                    uint64_t element, attest_error *err);

#include "kernels/tensor/view.h" /* the tensors of one call of a kernel */

#endif
