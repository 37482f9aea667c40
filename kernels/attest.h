/* attest.h - the kernel ABI, version 2: all that a kernel under test has to include.
 *
 * A library exports one function, attest_library_v2(); it describes its kernels; attest asks each whether it serves a
 * problem and runs it on tensors that the host owns.  C11, C++17 and CUDA; only stdint.h and stddef.h.
 *
 * How it grows, so that a library and a host of different years work together:
 *  - Every struct starts with its size in bytes.  Fields are appended, never moved.  Who reads a struct reads no
 *    further than its struct_size; what is missing counts as 0, and 0 always means unknown, none or the default.
 *  - Structs without struct_size never change: attest_setting, attest_limit.
 *  - Numbers of enums are explicit and never reused.  Arrays that grow are given by pointer and count, or have
 *    room for all that will ever be (ATTEST_AXIS_ROOM, ATTEST_ROLE_ROOM, ATTEST_RANK_ROOM): an index that this header
 *    names is inside them on every host, and what an older host does not know stands there as 0 or NULL.
 *  - Whatever changes what a kernel has to compute or to read is an axis.  A kernel refuses every axis that it does not
 *    know and that is not at its default (attest_axis_unserved() is that rule, the same for all), and values likewise.
 *  - Whatever would make a host judge a kernel too strictly, if the host did not know of it, is a bit of `flags`,
 *    `outputs` or `needs`.  A host refuses a library that sets a bit, or an enum's value, which the host does not know.
 * Layouts are frozen by tests/kernels/test_abi.c; libraries of other years: tests/verify/worker/test_worker_versions.c.
 *
 * A kernel allocates nothing that outlives run(), but for what open() holds until close(); it frees nothing of the
 * host and writes nowhere but to its outputs and its workspace.  Formulas, axes, presets: `attest list variants`.
 */
#ifndef ATTEST_H
#define ATTEST_H
/* clang-format off */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTEST_ABI_VERSION 2u

#define ATTEST_BIT(number) (UINT64_C(1) << (number))

/* 1 if the struct that `pointer` points to is long enough to have `field`. */
#define ATTEST_HAS(type, pointer, field) \
    ((pointer)->struct_size >= offsetof(type, field) + sizeof(((const type *)0)->field))

/* attest_numerics_init() and the like: all zero but the size.  C can write { .struct_size = sizeof x, ... } as well. */
#ifdef __cplusplus
#define ATTEST_ZERO {}
#else
#define ATTEST_ZERO { 0 }
#endif
#define ATTEST_INIT(type)                         \
    static inline type type##_init(void)          \
    {                                             \
        type made = ATTEST_ZERO;                  \
        made.struct_size = (uint32_t)sizeof made; \
        return made;                              \
    }

/* ---- status: the one enum of the whole project; 0 is success ---------------------------------- */
typedef enum attest_status {
    ATTEST_OK = 0,
    ATTEST_UNSUPPORTED = 1,  /* the kernel does not serve this problem, or tensors with these strides */
    ATTEST_BAD_INPUT = 2,    /* usage or input file: the message says what, where, what is allowed */
    ATTEST_NO_MEMORY = 3,    /* an allocation failed or would exceed memory */
    ATTEST_IO = 4,           /* the operating system refused a file or a process */
    ATTEST_NO_DEVICE = 5,    /* the kernel's device is absent */
    ATTEST_KERNEL_ERROR = 6, /* the kernel gave up while running */
    ATTEST_INTERNAL = 70     /* our own bug */
} attest_status;

typedef enum attest_tristate { ATTEST_UNKNOWN = 0, ATTEST_YES = 1, ATTEST_NO = 2 } attest_tristate;

/* ---- number formats ----------------------------------------------------------------------------
 * f8: of k and v (kv=e4m3, kv=e5m2); i32: named now, in no problem of this version. */
typedef enum attest_dtype {
    ATTEST_F32 = 0, ATTEST_F64 = 1, ATTEST_F16 = 2, ATTEST_BF16 = 3, ATTEST_I64 = 4,
    ATTEST_F8_E4M3 = 5, ATTEST_F8_E5M2 = 6, /* OCP; e4m3: to 448, NaN is 0x7f and 0xff, no infinity (DLPack's e4m3fn) */
    ATTEST_I32 = 7, ATTEST_BOOL = 8, /* a byte, 0 or 1 */
    ATTEST_DTYPE_COUNT = 9
} attest_dtype;

/* DLPack type codes, as tensors carry them. */
enum { ATTEST_CODE_INT = 0, ATTEST_CODE_FLOAT = 2, ATTEST_CODE_BFLOAT = 4, ATTEST_CODE_BOOL = 6 };
enum { ATTEST_CODE_F8_E4M3 = 10, ATTEST_CODE_F8_E5M2 = 12 };

/* DLPack device types; from 1000 on: a device's source, run by the CPU: its results are not the device's. */
typedef enum attest_device { ATTEST_CPU = 1, ATTEST_CUDA = 2, ATTEST_CUDA_HOST = 1002 } attest_device;

/* ---- the axes of a variant, in the order of the problem line ------------------------------------ */
typedef enum attest_axis {
    ATTEST_AXIS_WEIGHT = 0, ATTEST_AXIS_CENTER = 1, ATTEST_AXIS_FILTER = 2, ATTEST_AXIS_FEATURE = 3,
    ATTEST_AXIS_ROPE = 4, ATTEST_AXIS_MASK = 5, ATTEST_AXIS_WINDOW = 6, ATTEST_AXIS_LENS = 7, ATTEST_AXIS_DECAY = 8,
    ATTEST_AXIS_GATES = 9, ATTEST_AXIS_NORM = 10, ATTEST_AXIS_AFFINE = 11, ATTEST_AXIS_UPDATE = 12,
    ATTEST_AXIS_EPS = 13, ATTEST_AXIS_CLAMP = 14, ATTEST_AXIS_CAP = 15, ATTEST_AXIS_ALIBI = 16, ATTEST_AXIS_STATE = 17,
    ATTEST_AXIS_BIAS = 18, ATTEST_AXIS_ATTN_MASK = 19, ATTEST_AXIS_PAGES = 20, ATTEST_AXIS_KV = 21,
    ATTEST_AXIS_DECAY_INPUT = 22, ATTEST_AXIS_DROPOUT = 23, ATTEST_AXIS_LENS_Q = 24, ATTEST_AXIS_PACKED = 25,
    ATTEST_AXIS_COUNT = 26 /* of this header */
} attest_axis;

#define ATTEST_AXIS_ROOM 64u /* no version 2 has more: a set of axes is a uint64_t */

/* Values of the axes; 0 is each axis's default.  Order P in `order`, numbers in `number`. */
enum { ATTEST_WEIGHT_EXP = 0, ATTEST_WEIGHT_TAYLOR = 1, ATTEST_WEIGHT_TERM = 2, ATTEST_WEIGHT_POWER = 3 };
enum { ATTEST_CENTER_ZERO = 0, ATTEST_CENTER_MAX = 1, ATTEST_CENTER_MIN = 2, ATTEST_CENTER_MID = 3 };
enum { ATTEST_FILTER_NONE = 0, ATTEST_FILTER_TAU = 1, ATTEST_DECAY_INPUT_FACTOR = 0, ATTEST_DECAY_INPUT_LOG = 1 };
enum { ATTEST_FEATURE_IDENTITY = 0, ATTEST_FEATURE_ELU1 = 1, ATTEST_FEATURE_RELU = 2, ATTEST_FEATURE_UNIT = 3 };
enum { ATTEST_FEATURE_SILU = 4, ATTEST_FEATURE_SILU_UNIT = 5, ATTEST_FEATURE_COSFORMER = 6 };
enum { ATTEST_MASK_FULL = 0, ATTEST_MASK_CAUSAL = 1, ATTEST_MASK_CAUSAL_BR = 2 };
enum { ATTEST_WINDOW_NONE = 0, ATTEST_WINDOW_W = 1, ATTEST_DROPOUT_NONE = 0, ATTEST_DROPOUT_R = 1 }; /* W: `order` */
enum { ATTEST_LENS_Q_NONE = 0, ATTEST_LENS_Q_DRAW = 1, ATTEST_PAGES_NONE = 0, ATTEST_PAGES_T = 1 };
enum { ATTEST_LENS_NONE = 0, ATTEST_LENS_DRAW = 1, ATTEST_LENS_Q_LEN = 2, ATTEST_ROPE_NONE = 0, ATTEST_ROPE_BASE = 1 };
enum { ATTEST_DECAY_NONE = 0, ATTEST_DECAY_RETNET = 1, ATTEST_DECAY_SCALAR = 2, ATTEST_DECAY_VECTOR = 3 };
enum { ATTEST_GATES_NONE = 0, ATTEST_GATES_IN = 1, ATTEST_GATES_OUT = 2, ATTEST_PACKED_OFF = 0, ATTEST_PACKED_ON = 1 };
enum { ATTEST_GATES_INOUT = 3, ATTEST_GATES_PRE_OUT = 4, ATTEST_GATES_HEADS = 5, ATTEST_ATTN_MASK_SHARED = 4 };
enum {
    ATTEST_NORM_SUM = 0, ATTEST_NORM_SINK = 1, ATTEST_NORM_FLOOR = 2, /* F in `number` */
    ATTEST_NORM_NONE = 3, ATTEST_NORM_LENGTH = 4,
    ATTEST_NORM_L2 = 5, ATTEST_NORM_RMS = 6, ATTEST_NORM_LAYERNORM = 7, /* by (x - mean)^2, not E[x^2] - mean^2 */
    ATTEST_NORM_LENGTH_L2 = 8, ATTEST_NORM_LENGTH_RMS = 9, ATTEST_NORM_LENGTH_LAYERNORM = 10
};
enum { ATTEST_UPDATE_ADD = 0, ATTEST_UPDATE_DELTA = 1, ATTEST_UPDATE_EFLA = 2, ATTEST_BIAS_SHARED = 4 };
enum { ATTEST_AFFINE_NONE = 0, ATTEST_AFFINE_DRAW = 1, ATTEST_EPS_ZERO = 0, ATTEST_EPS_SET = 1 };
enum { ATTEST_CLAMP_NONE = 0, ATTEST_CLAMP_SET = 1, ATTEST_STATE_NONE = 0, ATTEST_STATE_DRAW = 1 };
enum { ATTEST_ALIBI_NONE = 0, ATTEST_ALIBI_DRAW = 1, ATTEST_ALIBI_USUAL = 2, ATTEST_CAP_NONE = 0, ATTEST_CAP_SET = 1 };
enum { ATTEST_BIAS_NONE = 0, ATTEST_BIAS_FULL = 1, ATTEST_BIAS_HEAD = 2, ATTEST_BIAS_BATCH = 3 };
enum { ATTEST_KV_IN = 0, ATTEST_KV_F16 = 1, ATTEST_KV_BF16 = 2, ATTEST_KV_E4M3 = 3, ATTEST_KV_E5M2 = 4 };
enum { ATTEST_ATTN_MASK_NONE = 0, ATTEST_ATTN_MASK_FULL = 1, ATTEST_ATTN_MASK_HEAD = 2, ATTEST_ATTN_MASK_BATCH = 3 };

typedef struct attest_setting {
    uint32_t value; /* one of the axis's enum; 0 is the default */
    uint32_t order; /* P of taylor:P, term:P, power:P; W of window, T of pages; else 0 */
    double number;  /* TAU, BASE, F, eps, clamp, cap, R of dropout; else 0 */
} attest_setting;

/* ---- the problem: everything that fixes the function and the shapes ----------------------------- *
 * No input values and no family: a kernel cannot know how its inputs were drawn.  The axes have room, and are not
 * behind a pointer: problems are copied and changed, and a copy that shared its axes would change the original. */
typedef struct attest_problem {
    uint32_t struct_size;
    uint32_t axis_count;                   /* axes that the host knows; those from here on are 0 */
    int64_t b, hq, hkv, n, m, d, e;        /* batch, heads, queries, keys, q/k width, v width */
    double scale;                          /* multiplies <phi(q),phi(k)>; an exact double */
    uint32_t in, acc, p, out;              /* attest_dtype: q (k v: as kv says); arithmetic; cast weights; o */
    attest_setting axis[ATTEST_AXIS_ROOM];
    int64_t chunk, splits;                 /* for chunk and split forms; never change the truth */
} attest_problem;

#define ATTEST_AXES_KNOWN (ATTEST_BIT(ATTEST_AXIS_COUNT) - 1) /* the axes that this header names */

/* The first axis that is not at its default and not in the set `served` (ATTEST_BIT(ATTEST_AXIS_MASK) | ...); -1: there
 * is none.  Every supports() begins with it, for it also finds the axes of hosts that are newer than this header. */
static inline int attest_axis_unserved(const attest_problem *problem, uint64_t served)
{
    for (unsigned axis = 0; axis < ATTEST_AXIS_ROOM; axis++)
        if (problem->axis[axis].value != 0 && !(served >> axis & 1u))
            return (int)axis;
    return -1;
}

/* ---- tensors ------------------------------------------------------------------------------------ *
 * `data` is aligned to its element, or as the kernel's `alignment` says; rows lie from there as in C order.  A kernel
 * goes by the strides, with offsets of 64 bits: attest runs it once more with other strides, where the last axis of
 * rank 4 has stride 1 still, and data and rows are aligned as in C order, to 64 bytes at most.  One that cannot sets
 * ATTEST_NEEDS_C_ORDER, or has run() return ATTEST_UNSUPPORTED, as it may for data that begins off 64 bytes; that is no
 * failure, and the result says so.  Gaps hold NaN where a kernel reads, and are not its to write; outputs anything. */
#define ATTEST_RANK_ROOM 8

typedef struct attest_tensor {
    uint32_t struct_size;
    uint8_t code;   /* DLPack type code */
    uint8_t bits;   /* 8, 16, 32, 64 */
    uint16_t lanes; /* 1 */
    uint32_t dtype; /* the same as attest_dtype */
    int32_t rank;   /* at most 4 in this version */
    int32_t device; /* attest_device */
    int32_t device_id;
    void *data;                       /* element (0,..,0) */
    int64_t shape[ATTEST_RANK_ROOM];  /* unused trailing entries 1 */
    int64_t stride[ATTEST_RANK_ROOM]; /* in elements; unused trailing entries 0 */
} attest_tensor;

/* Roles; behind each its name in problem lines and files.  Query side [B,Hq,..], KV side [B,Hkv,..].
 *
 * lens_q=draw: entry b has queries i < len_q[b], of 0..N; lens_q=len: N=M, len_q is len, a problem of n=m=len[b].
 * Rows i >= len_q[b] of o, u, z, lse are absent: a kernel may leave anything there, and nobody judges or compares it.
 * packed=on: [B,H,N,..] and [B,H,M,..], outputs too, are [1,H,T,..] (not bias, attn_mask, keep; k and v in pages), one
 * sequence after another: token i of entry b is token cu_seqlens[b] + i of T = cu_seqlens[B]; if all are empty T is 1,
 * nobody's (NaN; finite for ATTEST_MASKED_FINITE).  n, m: the most tokens of a sequence (max_seqlen).  len, len_q stay.
 * In a strided run tokens lie outside heads ([T,H,d]), or they or heads far apart.  cu_seqlens: int64. */
typedef enum attest_role {
    ATTEST_Q = 0,              /* q [B,Hq,N,d]; a NaN must reach o of its row wherever IEEE operations pass it on */
    ATTEST_GOUT = 1,           /* gout [B,Hq,N]: output gate of a row */
    ATTEST_Q_HEAD_LOGITS = 2,  /* sq [B,Hq,N]: of gates=heads */
    ATTEST_K = 3,              /* k [B,Hkv,M,d], type in or kv's; in pages: ATTEST_BLOCK_TABLE */
    ATTEST_V = 4,              /* v [B,Hkv,M,e]; likewise */
    ATTEST_GIN = 5,            /* gin [B,Hkv,M]: input gate of a key */
    ATTEST_K_HEAD_LOGITS = 6,  /* sk [B,Hkv,M]: of gates=heads */
    ATTEST_BETA = 7,           /* b [B,Hkv,M]: write strength of delta and efla */
    ATTEST_DECAY = 8,          /* a [B,Hkv,M] or [B,Hkv,M,d]: decay of a token or channel (drawn: 0..1), or its ln */
    /* sink [Hq], slope [Hq] (alibi=draw), gamma [Hkv].  alibi=usual has no tensor: P the largest power of two <= Hq,
     * slope_h is 2^(-8(h+1)/P) for h < P, else 2^(-4(2(h-P)+1)/P): a power of a rounded base, products of bases one by
     * one, an exponential; in acc or wider, wherever made.  Not covered: a slope or a base rounded to f16 or bf16. */
    ATTEST_SINK = 9, ATTEST_SLOPE = 10, ATTEST_GAMMA = 11,
    ATTEST_GAIN = 12, ATTEST_SHIFT = 13, ATTEST_KV_LENS = 14, /* gain [e], shift [e], len [B] of int64 */
    ATTEST_O = 15,             /* o [B,Hq,N,e]: output; in a backward pass o and lse are saved, and read */
    ATTEST_U = 16, ATTEST_Z = 17, ATTEST_LSE = 18, /* u [B,Hq,N,e]: numerator, z [B,Hq,N]: denominator, lse [B,Hq,N] */
    ATTEST_MASK = 19,          /* attn_mask [B|1,Hq|1,N,M], bool: 1 = visible, where mask, window and len let it be */
    ATTEST_BIAS = 20,          /* bias [B|1,Hq|1,N,M], type in: s := s + bias, after scale and cap, before clamp */
    ATTEST_CU_SEQLENS_Q = 21, ATTEST_CU_SEQLENS_K = 22, /* cu_seqlens_q, cu_seqlens_k [B+1], int64: packed=on */
    ATTEST_BLOCK_TABLE = 23,   /* block_table [B,ceil(M/T)], int64; pages=T: key j < M of entry b is token j%T of page
                                  [b,j/T] of k and v [page,Hkv,T,..]; all else there is NaN, but finite in pages of
                                  the table for ATTEST_MASKED_FINITE; no page twice, another order in each run */
    /* K, V: k_scale, v_scale [B,Hkv], f32, finite, > 0, of kv=e4m3, e5m2: keys are K k, values V v.  Once in acc:
     * K times k, q, score or scale; V times v, weight (cast or not), sum, 1/l or quotient (in `out` first: UNKNOWN
     * alone).  K k, V v: scaled_dtype; K, V, scale K: normal or undecided; not: f8 q, weights; K in a state's power. */
    ATTEST_Q_SCALE = 24, ATTEST_K_SCALE = 25, ATTEST_V_SCALE = 26,
    ATTEST_KEEP = 27,          /* keep [B,Hq,N,M], bool; dropout=R: u sums c keep D w gin v, c = 1/(1-R); z and lse are
                                  those without.  R, 1-R and c in acc or wider; c times w, its cast, v, the sum, the
                                  quotient or 1/l, once (of an unknown schedule c times a cast w may be cast again) */
    ATTEST_Q_LENS = 28,        /* len_q [B], int64 */
    ATTEST_ROLE_COUNT = 29 /* of this header */
} attest_role;

#define ATTEST_ROLE_ROOM 64u
#define ATTEST_MAX_ORDER 64
#define ATTEST_STATE_SLOTS (ATTEST_MAX_ORDER + 1)

/* What run() gets.  A tensor that the problem does not use, or an output that nobody wants, is NULL.
 * States, per degree n: h [B,Hkv,rows,e] and z [B,Hkv,rows]; rows = dim^n in row-major Kronecker order,
 * or C(dim+n-1,n) for a kernel with ATTEST_PACKED_STATE (non-decreasing multi-indices, lexicographic,
 * plain monomials).  h0, z0 are read: a row is the same in every order of its index; ht, zt are written.
 *
 * dim is the width of phi: d, or 2d with feature=cosformer.  S_n(t) = decay(S_n(t-1)) + phi(k_t)^(x n) (x) gin_t v_t
 * (z: without gin and v), without scale and without 1/n!: the query applies scale^n/n! (taylor, term) or scale^n
 * (power).  The token just written is not decayed; h0 and z0 are S(-1), so that a_0 decays them first; decay=vector
 * multiplies row c of S_1 by a_tc.  Only the variant's degrees are not NULL: taylor:P 0..P, term:P and power:P only P.
 * ht is the state after the last key T visible to query n-1, of lens_q len_q-1 (unless mask=causal: after all j < len),
 * decayed up to T and no further: under mask=causal with m > n the keys from n on are not in it.  Of no key: 0, or h0.
 * update=delta, efla: only h0.1 and ht.1 [dim,e], no z; S' = decay(S), S = S' + phi(k)^T b (gin v - phi(k) S').
 *
 * Gradients, named now and NULL in this version: grad[r] has the shape of role r and is read for an output (do is
 * grad[ATTEST_O]), written for an input (dq is grad[ATTEST_Q]); states likewise. */
typedef struct attest_tensors {
    uint32_t struct_size;
    uint32_t role_count;  /* roles that the host knows; `role` and `grad` have ATTEST_ROLE_ROOM entries anyway */
    uint32_t state_slots; /* entries of each array of states */
    uint32_t reserved;
    const attest_tensor *const *role;
    const attest_tensor *const *h0, *const *z0, *const *ht, *const *zt;
    const attest_tensor *const *grad;
    const attest_tensor *const *grad_h0, *const *grad_z0, *const *grad_ht, *const *grad_zt;
} attest_tensors;

/* ---- what a kernel declares of its arithmetic ----------------------------------------------------- *
 * The derived bound (reference/derivations.md) is a function of these.  0 = unknown = the loosest row of its class.
 * Relative errors are against the exact value: k ulp against the correctly rounded one are (2 k + 1) unit roundoffs.
 * Declaring better than the truth fails the audit's traits and, where errors come that near, the bound.
 * (not used): the bound does not sharpen by it yet.  Where a kernel says that it does worse than any bound covers, the
 * host skips the problem: `unsupported declaration`. */
typedef enum attest_schedule {
    ATTEST_SCHEDULE_UNKNOWN = 0,   /* any order of accumulation, maximum subtracted; nothing is taken off a sum again;
                                      may store o in `out` before norm, gain and gate (all others: once) */
    ATTEST_SCHEDULE_TWO_PASS = 1,  /* all scores, their maximum, then weights and sums */
    ATTEST_SCHEDULE_ONLINE = 2,    /* running maximum over tiles of `tile` keys */
    ATTEST_SCHEDULE_SPLIT = 3,     /* `splits` parts, merged by lse or maxima (o - sigmoid (o - o_p): division=4) */
    ATTEST_SCHEDULE_DIRECT = 4,    /* polynomial weight evaluated per pair (Horner), then sums */
    ATTEST_SCHEDULE_RECURRENT = 5, /* states of monomials, one a head, token by token; delta: S + k (b (v - k S)) */
    ATTEST_SCHEDULE_CHUNK = 6      /* states between chunks of problem.chunk, pairs inside.  Not covered: quotients of
                                      prefixes of decays; of delta an inverse triangle, U - W S apart, k k^T in p */
} attest_schedule;

typedef enum attest_rounding {
    ATTEST_ROUNDING_UNKNOWN = 0, ATTEST_ROUNDING_NEAREST = 1, ATTEST_ROUNDING_TRUNCATE = 2
} attest_rounding;

/* Where weights w are divided by their sum l.  cast() is the cast to problem.p. */
typedef enum attest_division {
    ATTEST_DIVISION_UNKNOWN = 0,    /* any of 1, 2, 3; of an unknown schedule also 4 */
    ATTEST_DIVISION_AFTER_SUM = 1,  /* (sum of cast(w) v) / l */
    ATTEST_DIVISION_THEN_CAST = 2,  /* sum of cast(w / l) v (not covered: w / l = e^(s - lse)) */
    ATTEST_DIVISION_AFTER_CAST = 3, /* sum of (cast(w) / l) v */
    ATTEST_DIVISION_RUNNING = 4     /* a running mean: l += w, o += (w / l) (v - o), of keys, tiles or parts */
} attest_division;

/* What a row without a visible key and without a given state holds. */
typedef enum attest_empty_row {
    ATTEST_EMPTY_ZERO = 0, /* o = u = z = 0, lse = -inf */
    ATTEST_EMPTY_NAN = 1,  /* NaN, or as zero */
    ATTEST_EMPTY_MEAN = 2, /* the mean of v, of equal weights; such rows are not judged yet */
    ATTEST_EMPTY_ANY = 3   /* anything: such rows are not judged */
} attest_empty_row;

typedef struct attest_numerics {
    uint32_t struct_size;
    uint32_t schedule;      /* attest_schedule */
    int64_t tile;           /* keys a tile (online, split); 0 = unknown */
    int64_t splits;         /* parts of a split kernel; 0 = problem.splits */
    double exp_error;       /* largest relative error of its exp, e.g. 0x1p-23, and e^0 = 1; 0 = unknown; at most
                               2^-7.  A result below the normal ones errs by one subnormal more, or is 0: ATTEST_FTZ.
                               Then feature=elu1 is e^x itself, not expm1(x) + 1 */
    uint32_t log2_domain;   /* attest_tristate: exponent multiplied by log2(e) = c first; rescales 2^((m - m') c) or of
                               stored m c, not fma(m, c, -fl(m' c)) */
    uint32_t cast_in_sum;   /* attest_tristate: the denominator adds the cast weights */
    uint32_t p_rounding;    /* attest_rounding of the weight cast to problem.p */
    uint32_t acc_truncates; /* attest_tristate: the accumulator rounds toward zero, as tensor cores do */
    double acc_unit;        /* unit roundoff of accumulation; 0 = that of problem.acc; at most 2^-7.  Its range is that
                               of score_acc and value_acc; where these are 0, acc's, and f16's from 2^-11 on */
    int64_t block;          /* keys that are summed by themselves before they join the rest; 0 = unknown */
    double div_error;       /* relative error of the division; 0 = unknown; at most 2^-7.  Angles (rope, cosformer) and
                               slopes (alibi=usual), what they are made of: 4.5 ulp whatever this and exp_error say */
    uint32_t scale_dtype;   /* 1 + attest_dtype the scale is rounded to, q, k or <q,k> multiplied by it once, and then a
                               bias added once in acc.  0 = unknown: or divided by sqrt(d), sqrt(scale) on both sides */
    uint32_t state_dtype;   /* 1 + dtype of states between tokens (CHUNK: chunks) or parts' o (SPLIT), once; 0 = acc */
    uint32_t empty_row;     /* attest_empty_row */
    uint32_t division;      /* attest_division; with ATTEST_SERIAL_SUMS it is AFTER_SUM */
    uint32_t score_dtype;   /* 1 + dtype of stored scores, each step (s/c, tanh, c tanh; not s - max, sink); 0 = acc */
    uint32_t compensated;   /* attest_tristate: sums carry their rounding errors along, as Kahan's (not used) */
    double score_unit;      /* unit roundoff of the sums of products of q and k; 0 = acc_unit.  Where it and the next */
    double value_unit;      /* one, of weights and v, are above acc_unit, the bound takes the largest for all */
    uint32_t score_acc;     /* 1 + attest_dtype whose range the accumulator of scores has; 0 = acc */
    uint32_t value_acc;     /* the same of weights and values, and of states */
    int64_t score_block;    /* channels that are summed by themselves in a score; 0 = unknown (not used) */
    double tanh_error;      /* relative error of tanh under cap; 0 = unknown: it may be made of exponentials */
    double log_error;       /* of the log of an lse or in a merge; 0 = 4.5 ulp of acc; more is not covered */
    double sigmoid_error;   /* of a sigmoid made of exp, not tanh; the larger of it and exp_error is taken for both */
    double expm1_error;     /* relative error of update=efla's 1 - e^-x; 0 = unknown: e^-x may be taken off 1 */
    uint32_t scaled_dtype;  /* 1 + dtype of q, k, v once scaled, turned (sin, cos, products too), gated or decayed, of
                               features (elu if exp_error is 0, sigmoid, unit's norm; no monomials), of delta's writes,
                               but for RECURRENT b k and b v, q taken to kv's; 0 = acc (UNKNOWN: in, kv's of 16 bits) */
    uint32_t decay_products; /* attest_tristate: multiplied (RECURRENT: yes); else e^logs, ln 0 in 2 emin..emin ln 2.
                                decay_input=log: an exp of exp_error, in acc, of each or of sums; e^g is kept in acc */
} attest_numerics;

/* The author's own claim, tested beside the derived bound; NULL = none. */
typedef struct attest_claim {
    uint32_t struct_size;
    uint32_t reserved;
    double max_ulp;     /* of problem.out; 0 = not claimed */
    const char *domain; /* prose: where it holds */
} attest_claim;

/* Sizes that a kernel serves.  The host checks them before supports() and gives the reason; 0 = no limit. */
typedef struct attest_limit { int64_t least, most, multiple; } attest_limit;

typedef struct attest_limits {
    uint32_t struct_size, reserved;
    attest_limit b, hq, hkv, n, m, d, e;
} attest_limits;

/* ---- kernels -------------------------------------------------------------------------------------- */
typedef enum attest_form {
    ATTEST_PARALLEL = 1, ATTEST_TILED = 2, ATTEST_SPLIT = 3, ATTEST_RECURRENT = 4, ATTEST_CHUNK = 5
} attest_form;

/* Flags.  Bit 3 was version 1's ATTEST_EMPTY_ROW_NAN: now attest_numerics.empty_row. */
enum {
    ATTEST_DETERMINISTIC = 1u << 0,    /* same bits each run, whatever strides, bases, pages, outputs asked, threads */
    ATTEST_BATCH_INVARIANT = 1u << 1,  /* a row's bits depend on its q, visible k and v alone: not on b, n or i */
    ATTEST_FTZ = 1u << 2,              /* subnormal numbers of acc, read or made, may be 0; of exp too */
    ATTEST_LSE_BASE2 = 1u << 4,        /* lse in base 2 instead of e */
    ATTEST_LSE_WITH_SINK = 1u << 5,    /* lse includes the sink; of a row without keys it is -inf */
    ATTEST_PACKED_STATE = 1u << 6,     /* states in the packed symmetric layout */
    ATTEST_MASKED_FINITE = 1u << 7,    /* masked tokens have weight 0: NaN, Inf there spoil rows (visible: always) */
    /* Every sum adds its terms one after another to one accumulator of the unit of acc.  A score: q_c k_c in ascending
     * c, then times scale.  u and z: keys ascending from the row's first visible one, weights not divided, masked keys
     * not at all or as 0; online: each tile (`tile` keys from the first visible one) by itself, then added to what was
     * there, rescaled.  Softmax weights are e^(s-M), M the largest score of the row's visible keys (online: up to the
     * end of the key's tile), all cast to p by one rounding.  Split: consecutive keys a part, each as if two-pass, then
     * joined in order, with no lse of lse's.  Sharpens the bound of schedules two-pass, online, split (exp), direct. */
    ATTEST_SERIAL_SUMS = 1u << 8,
    /* Alibi under mask=causal, causal-br adds slope (j - C), C a whole number that all keys of a row share (0: by
     * column; m - 1; others up to i + off), not -slope (i + off - j), and as a bias is added.  That cancels, but
     * slope j errs by its own size: without this flag the bound is that of the distance.  lse is the formula's.  Of
     * weight=exp; with u, z, clamp, another norm than sum, eps or schedule DIRECT the host skips such problems. */
    ATTEST_ALIBI_BY_KEY = 1u << 9,
    ATTEST_FLAGS_KNOWN = 0x3f7u
};

/* Outputs and states a kernel can produce or take, as bits; in a call, those that are wanted. */
enum {
    ATTEST_GIVES_O = 1u << 0, ATTEST_GIVES_U = 1u << 1, ATTEST_GIVES_Z = 1u << 2, ATTEST_GIVES_LSE = 1u << 3,
    ATTEST_GIVES_STATE = 1u << 4, /* writes ht (and zt where not NULL) */
    ATTEST_TAKES_STATE = 1u << 5, /* reads h0, z0 when axis state=draw */
    ATTEST_GIVES_GRAD = 1u << 6,  /* a backward pass; never wanted in this version */
    ATTEST_OUTPUTS_KNOWN = 0x7fu
};

/* What a kernel needs of the host.  C_ORDER: tensors in C order, nothing between; no run with other strides. */
enum { ATTEST_NEEDS_C_ORDER = 1u << 0,
    ATTEST_NEEDS_KNOWN = 0x1u };

/* What every function of a kernel gets: the questions of one problem.  Valid during the call. */
typedef struct attest_call {
    uint32_t struct_size;
    uint32_t outputs;                 /* ATTEST_GIVES_O | ...: wanted of run() */
    const struct attest_kernel *self; /* the kernel's own descriptor, where the library has it */
    void *context;                    /* what the library's open() made; else NULL */
    const attest_problem *problem;
    const attest_tensors *tensors; /* run() only */
    void *workspace;               /* run() only: the bytes asked for, 64-byte aligned, uninitialised */
    size_t workspace_size;
    void *stream; /* of a device: CUDA's cudaStream_t; NULL = the default stream.  The host waits by memory->sync() */
    char *why;    /* supports() writes the reason of a 0 here, run() that of a failure; ends with 0 */
    size_t why_size;
    int32_t *axis; /* supports() may name the axis of a 0 instead, by attest_refuse_axis(); else NULL */
} attest_call;

/* Copies `reason` to call->why and returns 0: `return attest_refuse(call, "only f32")`. */
static inline int attest_refuse(const attest_call *call, const char *reason)
{
    size_t at = 0;
    for (; reason[at] != '\0' && at + 1 < call->why_size; at++)
        call->why[at] = reason[at];
    if (call->why_size > 0)
        call->why[at] = '\0';
    return 0;
}

/* Returns 0; the host says that the value of this axis is not served: `return attest_refuse_axis(call, axis)`. */
static inline int attest_refuse_axis(const attest_call *call, int axis)
{
    if (ATTEST_HAS(attest_call, call, axis) && call->axis)
        *call->axis = axis;
    return 0;
}

typedef struct attest_kernel {
    uint32_t struct_size;
    uint32_t form;        /* attest_form */
    uint32_t device;      /* attest_device */
    uint32_t flags;       /* ATTEST_DETERMINISTIC | ... */
    uint32_t outputs;     /* ATTEST_GIVES_O | ... */
    uint32_t needs;       /* ATTEST_NEEDS_C_ORDER | ... */
    const char *name;     /* [a-z0-9-]+, at most 63, unique in its library */
    const char *version;
    const char *source;   /* source file */
    const char *summary;  /* one line: the formula or the algorithm */
    const char *variants; /* presets served, separated by spaces: for people; supports() decides */
    const attest_numerics *numerics; /* true of every problem that is served; zeros = unknown, not NULL */
    const attest_claim *claim;       /* or NULL */
    /* 1 if the kernel computes this problem, else 0 with the reason in call->why, or the axis. */
    int (*supports)(const attest_call *call);
    /* Bytes of scratch run() needs; NULL = none. */
    size_t (*workspace)(const attest_call *call);
    attest_status (*run)(const attest_call *call);
    const attest_limits *limits; /* or NULL */
    /* NULL, or: what holds of this problem beyond *numerics, for kernels that are several; NULL = nothing.  What it
     * points to lives as long as the library. */
    const attest_numerics *(*numerics_of)(const attest_call *call);
    uint32_t alignment, reserved; /* bytes, of `data`: 0 = its element, or a power of two to 64; older structs: 64 */
} attest_kernel;

/* Device memory; only copy_later() may be NULL.  NULL in attest_library = host memory.  `context` is open()'s. */
typedef struct attest_memory {
    uint32_t struct_size;
    uint32_t device; /* attest_device */
    attest_status (*alloc)(void *context, void **pointer, size_t bytes);
    void (*free)(void *context, void *pointer);
    attest_status (*to_device)(void *context, void *device, const void *host, size_t bytes);
    attest_status (*to_host)(void *context, void *host, const void *device, size_t bytes);
    attest_status (*fill)(void *context, void *device, int byte, size_t bytes);
    attest_status (*sync)(void *context); /* waits for all streams, and returns errors of earlier launches */
    attest_status (*describe)(void *context, char *text, size_t len); /* device, driver; or ATTEST_NO_DEVICE */
    /* A copy on the device, put on *stream; NULL there: first sets it, to a stream that waits for no other, is not
     * waited for, and is busy a while.  A case's second run is on it, behind its inputs; if this fails, on NULL. */
    attest_status (*copy_later)(void *context, void **stream, void *to, const void *from, size_t bytes);
} attest_memory;

typedef struct attest_host {
    uint32_t struct_size;
    uint32_t abi_version;
    void (*log)(const char *line); /* one line to stderr */
} attest_host;

typedef struct attest_library {
    uint32_t struct_size;
    uint32_t abi_version;    /* ATTEST_ABI_VERSION it was compiled with */
    const char *name;
    const char *build_flags; /* how it was compiled, or NULL */
    const attest_kernel *const *kernels;
    uint32_t kernel_count;
    uint32_t reserved;
    const attest_memory *memory;
    /* NULL, or: called once, before any function of a kernel or of `memory`; *context holds what they share (a CUDA
     * context, an interpreter).  ATTEST_NO_DEVICE: the kernels are skipped; another failure: the library is refused,
     * for the reason in why.  close() gets the context at the end, but not after a crash or a timeout. */
    attest_status (*open)(const attest_host *host, void **context, char *why, size_t why_size);
    void (*close)(void *context);
} attest_library;

ATTEST_INIT(attest_problem) ATTEST_INIT(attest_tensor) ATTEST_INIT(attest_tensors) ATTEST_INIT(attest_numerics)
ATTEST_INIT(attest_claim) ATTEST_INIT(attest_limits) ATTEST_INIT(attest_call) ATTEST_INIT(attest_kernel)
ATTEST_INIT(attest_memory) ATTEST_INIT(attest_library)

/* The one symbol of a library.  May return NULL: it cannot serve this host. */
typedef const attest_library *(*attest_library_function)(const attest_host *host);
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const attest_library *attest_library_v2(const attest_host *host);

#ifdef __cplusplus
}
#endif
#endif
