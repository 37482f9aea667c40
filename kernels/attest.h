/* attest.h - the kernel ABI, version 1: all that a kernel under test has to include.
 *
 * A library exports one function, attest_library_v1(); it describes its kernels; attest asks each
 * whether it supports a problem and runs it on tensors that the host owns.  C11, C++ and CUDA; only
 * stdint.h and stddef.h.  Rules of the ABI: every struct starts with its size in bytes; fields are only
 * ever appended; enum values are explicit and never reused; layouts are frozen by tests/kernels/test_abi.c.
 * A kernel allocates nothing that outlives run(), frees nothing of the host, and writes nowhere but to
 * its outputs and its workspace.  Formulas, axes, presets and tensors: `attest list variants`.
 */
#ifndef ATTEST_H
#define ATTEST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTEST_ABI_VERSION 1u

/* ---- status: the one enum of the whole project; 0 is success ---------------------------------- */
typedef enum attest_status {
    ATTEST_OK = 0,
    ATTEST_UNSUPPORTED = 1,  /* the kernel does not serve this problem (supports() says why) */
    ATTEST_BAD_INPUT = 2,    /* usage or input file: the message says what, where, what is allowed */
    ATTEST_NO_MEMORY = 3,    /* an allocation failed or would exceed memory */
    ATTEST_IO = 4,           /* the operating system refused a file or a process */
    ATTEST_NO_DEVICE = 5,    /* the kernel's device is absent */
    ATTEST_KERNEL_ERROR = 6, /* the kernel gave up while running */
    ATTEST_INTERNAL = 70     /* our own bug */
} attest_status;

/* ---- number formats ---------------------------------------------------------------------------- */
typedef enum attest_dtype {
    ATTEST_F32 = 0,
    ATTEST_F64 = 1,
    ATTEST_F16 = 2,
    ATTEST_BF16 = 3,
    ATTEST_I64 = 4, /* `len` only */
    ATTEST_DTYPE_COUNT = 5
} attest_dtype;

/* DLPack type codes, as tensors carry them. */
enum { ATTEST_CODE_INT = 0, ATTEST_CODE_FLOAT = 2, ATTEST_CODE_BFLOAT = 4 };

/* DLPack device types. */
typedef enum attest_device { ATTEST_CPU = 1, ATTEST_CUDA = 2 } attest_device;

/* ---- the axes of a variant, in the order of the problem line ------------------------------------ */
typedef enum attest_axis {
    ATTEST_AXIS_WEIGHT = 0,
    ATTEST_AXIS_CENTER = 1,
    ATTEST_AXIS_FILTER = 2,
    ATTEST_AXIS_FEATURE = 3,
    ATTEST_AXIS_ROPE = 4,
    ATTEST_AXIS_MASK = 5,
    ATTEST_AXIS_WINDOW = 6,
    ATTEST_AXIS_LENS = 7,
    ATTEST_AXIS_DECAY = 8,
    ATTEST_AXIS_GATES = 9,
    ATTEST_AXIS_NORM = 10,
    ATTEST_AXIS_AFFINE = 11,
    ATTEST_AXIS_UPDATE = 12,
    ATTEST_AXIS_EPS = 13,
    ATTEST_AXIS_CLAMP = 14,
    ATTEST_AXIS_CAP = 15,
    ATTEST_AXIS_ALIBI = 16,
    ATTEST_AXIS_STATE = 17,
    ATTEST_AXIS_COUNT = 18
} attest_axis;

/* Values of the axes; 0 is each axis's default.  Order P in `order`, numbers in `number`. */
enum { ATTEST_WEIGHT_EXP = 0, ATTEST_WEIGHT_TAYLOR = 1, ATTEST_WEIGHT_TERM = 2, ATTEST_WEIGHT_POWER = 3 };
enum { ATTEST_CENTER_ZERO = 0, ATTEST_CENTER_MAX = 1, ATTEST_CENTER_MIN = 2, ATTEST_CENTER_MID = 3 };
enum { ATTEST_FILTER_NONE = 0, ATTEST_FILTER_TAU = 1 };
enum {
    ATTEST_FEATURE_IDENTITY = 0,
    ATTEST_FEATURE_ELU1 = 1,
    ATTEST_FEATURE_RELU = 2,
    ATTEST_FEATURE_UNIT = 3,
    ATTEST_FEATURE_SILU = 4,
    ATTEST_FEATURE_SILU_UNIT = 5,
    ATTEST_FEATURE_COSFORMER = 6
};
enum { ATTEST_ROPE_NONE = 0, ATTEST_ROPE_BASE = 1 };
enum { ATTEST_MASK_FULL = 0, ATTEST_MASK_CAUSAL = 1, ATTEST_MASK_CAUSAL_BR = 2 };
enum { ATTEST_WINDOW_NONE = 0, ATTEST_WINDOW_W = 1 }; /* W in `order` */
enum { ATTEST_LENS_NONE = 0, ATTEST_LENS_DRAW = 1 };
enum { ATTEST_DECAY_NONE = 0, ATTEST_DECAY_RETNET = 1, ATTEST_DECAY_SCALAR = 2, ATTEST_DECAY_VECTOR = 3 };
enum {
    ATTEST_GATES_NONE = 0,
    ATTEST_GATES_IN = 1,
    ATTEST_GATES_OUT = 2,
    ATTEST_GATES_INOUT = 3,
    ATTEST_GATES_PRE_OUT = 4,
    ATTEST_GATES_HEADS = 5
};
enum {
    ATTEST_NORM_SUM = 0,
    ATTEST_NORM_SINK = 1,
    ATTEST_NORM_FLOOR = 2, /* F in `number` */
    ATTEST_NORM_NONE = 3,
    ATTEST_NORM_LENGTH = 4,
    ATTEST_NORM_L2 = 5,
    ATTEST_NORM_RMS = 6,
    ATTEST_NORM_LAYERNORM = 7,
    ATTEST_NORM_LENGTH_L2 = 8,
    ATTEST_NORM_LENGTH_RMS = 9,
    ATTEST_NORM_LENGTH_LAYERNORM = 10
};
enum { ATTEST_AFFINE_NONE = 0, ATTEST_AFFINE_DRAW = 1 };
enum { ATTEST_UPDATE_ADD = 0, ATTEST_UPDATE_DELTA = 1, ATTEST_UPDATE_EFLA = 2 };
enum { ATTEST_EPS_ZERO = 0, ATTEST_EPS_SET = 1 };
enum { ATTEST_CLAMP_NONE = 0, ATTEST_CLAMP_SET = 1 };
enum { ATTEST_CAP_NONE = 0, ATTEST_CAP_SET = 1 };
enum { ATTEST_ALIBI_NONE = 0, ATTEST_ALIBI_DRAW = 1 };
enum { ATTEST_STATE_NONE = 0, ATTEST_STATE_DRAW = 1 };

typedef struct attest_setting {
    uint32_t value; /* one of the axis's enum */
    uint32_t order; /* P of taylor:P, term:P, power:P; W of window; else 0 */
    double number;  /* TAU, BASE, F, eps, clamp, cap; else 0 */
} attest_setting;

/* ---- the problem: everything that fixes the function and the shapes ----------------------------- *
 * No input values and no family: a kernel cannot know how its inputs were drawn. */
typedef struct attest_problem {
    uint32_t struct_size;
    uint32_t axis_count;                         /* ATTEST_AXIS_COUNT of the host */
    int64_t b, hq, hkv, n, m, d, e;              /* batch, heads, queries, keys, q/k width, v width */
    int64_t chunk, splits;                       /* for chunk and split forms; never change the truth */
    double scale;                                /* multiplies <phi(q),phi(k)>; an exact double */
    uint32_t in, acc, p, out;                    /* attest_dtype: q k v; arithmetic; cast weights; o */
    attest_setting axis[ATTEST_AXIS_COUNT];
} attest_problem;

/* ---- tensors ------------------------------------------------------------------------------------ *
 * `data` and rows are aligned as in C order, to 64 bytes at most.  A kernel goes by the strides, with offsets of 64
 * bits: attest runs it once more on tensors with other strides, where the last axis of rank 4 has stride 1 still.  One
 * that cannot go by them has run() return ATTEST_UNSUPPORTED; that is no failure, and the row says so.  Gaps between
 * elements hold NaN where it reads, and are not the kernel's to write. */
typedef struct attest_tensor {
    uint32_t struct_size;
    uint8_t code;   /* DLPack type code */
    uint8_t bits;   /* 16, 32, 64 */
    uint16_t lanes; /* 1 */
    uint32_t dtype; /* the same as attest_dtype */
    int32_t rank;   /* 1..4 */
    int32_t device; /* attest_device */
    int32_t device_id;
    void *data;        /* element (0,..,0) */
    int64_t shape[4];  /* unused trailing entries 1 */
    int64_t stride[4]; /* in elements; unused trailing entries 0 */
} attest_tensor;

/* Roles.  Query side [B,Hq,..]: q [N,d] gout sq [N].  KV side [B,Hkv,..]: k [M,d] v [M,e] gin sk b [M]
 * a [M] or [M,d].  Without batch: sink slope [Hq], gamma [Hkv], gain shift [e].  len [B] (int64).
 * Outputs: o u [B,Hq,N,e], z lse [B,Hq,N]. */
typedef enum attest_role {
    ATTEST_Q = 0,
    ATTEST_GOUT = 1,
    ATTEST_SQ = 2,
    ATTEST_K = 3,
    ATTEST_V = 4,
    ATTEST_GIN = 5,
    ATTEST_SK = 6,
    ATTEST_B = 7,
    ATTEST_A = 8,
    ATTEST_SINK = 9,
    ATTEST_SLOPE = 10,
    ATTEST_GAMMA = 11,
    ATTEST_GAIN = 12,
    ATTEST_SHIFT = 13,
    ATTEST_LEN = 14,
    ATTEST_O = 15,
    ATTEST_U = 16,
    ATTEST_Z = 17,
    ATTEST_LSE = 18,
    ATTEST_ROLE_COUNT = 19
} attest_role;

#define ATTEST_MAX_ORDER 64
#define ATTEST_STATE_SLOTS (ATTEST_MAX_ORDER + 1)

/* What run() gets.  A tensor that the problem does not use, or an output that nobody wants, is NULL.
 * States, per degree n: h [B,Hkv,rows,e] and z [B,Hkv,rows]; rows = dim^n in row-major Kronecker order,
 * or C(dim+n-1,n) for a kernel with ATTEST_PACKED_STATE (non-decreasing multi-indices, lexicographic,
 * plain monomials).  h0, z0 are read; ht, zt are written.
 *
 * dim is the width of phi: d, or 2d with feature=cosformer.  S_n(t) = decay(S_n(t-1)) + phi(k_t)^(x n) (x) gin_t v_t
 * (z: without gin and v), without scale and without 1/n!: the query applies scale^n/n! (taylor, term) or scale^n
 * (power).  The token just written is not decayed; h0 and z0 are S(-1), so that a_0 decays them first; decay=vector
 * multiplies row c of S_1 by a_tc.  Only the variant's degrees are not NULL: taylor:P 0..P, term:P and power:P only P.
 * ht is the state after the last key T visible to query n-1 (mask=full: after all keys j < len), decayed up to T and no
 * further: under mask=causal with m > n the keys from n on are not in it.
 * update=delta, efla: only h0.1 and ht.1 [dim,e], no z; S' = decay(S), S = S' + phi(k_t)^T b_t (gin_t v_t - phi(k_t)
 * S').
 */
typedef struct attest_tensors {
    uint32_t struct_size;
    uint32_t role_count;  /* entries of `role` */
    uint32_t state_slots; /* entries of each state array */
    uint32_t reserved;
    const attest_tensor *role[ATTEST_ROLE_COUNT];
    const attest_tensor *h0[ATTEST_STATE_SLOTS];
    const attest_tensor *z0[ATTEST_STATE_SLOTS];
    const attest_tensor *ht[ATTEST_STATE_SLOTS];
    const attest_tensor *zt[ATTEST_STATE_SLOTS];
} attest_tensors;

/* ---- what a kernel declares of its arithmetic ----------------------------------------------------- *
 * The derived bound (reference/derivations.md) is a function of these.  0 = unknown = the loosest row of
 * its class.  Declaring better than the truth fails the audit's traits and, where errors come that near, the
 * bound. */
typedef enum attest_schedule {
    ATTEST_SCHEDULE_UNKNOWN = 0,   /* any order of accumulation, maximum subtracted */
    ATTEST_SCHEDULE_TWO_PASS = 1,  /* all scores, their maximum, then weights and sums */
    ATTEST_SCHEDULE_ONLINE = 2,    /* running maximum over tiles of `tile` keys */
    ATTEST_SCHEDULE_SPLIT = 3,     /* `splits` independent parts, merged by their lse */
    ATTEST_SCHEDULE_DIRECT = 4,    /* polynomial weight evaluated per pair (Horner), then sums */
    ATTEST_SCHEDULE_RECURRENT = 5, /* states of monomials, updated per token */
    ATTEST_SCHEDULE_CHUNK = 6      /* states between chunks of problem.chunk, pairs inside */
} attest_schedule;

typedef enum attest_rounding {
    ATTEST_ROUNDING_UNKNOWN = 0,
    ATTEST_ROUNDING_NEAREST = 1,
    ATTEST_ROUNDING_TRUNCATE = 2
} attest_rounding;

typedef enum attest_answer { ATTEST_UNKNOWN = 0, ATTEST_YES = 1, ATTEST_NO = 2 } attest_answer;

typedef struct attest_numerics {
    uint32_t struct_size;
    uint32_t schedule;      /* attest_schedule */
    int64_t tile;           /* keys a tile (online, split); 0 = unknown */
    int64_t splits;         /* parts of a split kernel; 0 = problem.splits */
    double exp_error;       /* largest relative error of its exp, e.g. 0x1p-23; 0 = unknown; at most 2^-7.  A result
                               below the normal numbers errs by one subnormal more, or is flushed: ATTEST_FTZ */
    uint32_t log2_domain;   /* attest_answer: exponent multiplied by log2(e) first */
    uint32_t cast_in_sum;   /* attest_answer: the denominator adds the cast weights */
    uint32_t p_rounding;    /* attest_rounding of the weight cast to problem.p */
    uint32_t acc_truncates; /* attest_answer: the accumulator rounds toward zero, as tensor cores do */
    double acc_unit;        /* unit roundoff of accumulation; 0 = that of problem.acc; at most 2^-7 */
    int64_t block;          /* terms that are summed by themselves before they join the rest; 0 = unknown */
    double div_error;       /* relative error of the division; 0 = unknown; at most 2^-7 */
    uint32_t scale_dtype;   /* 1 + attest_dtype the scale is rounded to; 0 = unknown */
    uint32_t state_dtype;   /* 1 + attest_dtype of the states, all that goes from token to token; 0 = unknown */
} attest_numerics;

/* The author's own claim, tested beside the derived bound; NULL = none. */
typedef struct attest_claim {
    uint32_t struct_size;
    uint32_t reserved;
    double max_ulp;     /* of problem.out; 0 = not claimed */
    const char *domain; /* prose: where it holds */
} attest_claim;

/* ---- kernels -------------------------------------------------------------------------------------- */
typedef enum attest_form {
    ATTEST_PARALLEL = 1,
    ATTEST_TILED = 2,
    ATTEST_SPLIT = 3,
    ATTEST_RECURRENT = 4,
    ATTEST_CHUNK = 5
} attest_form;

enum {
    ATTEST_DETERMINISTIC = 1u << 0,    /* same bits on every run, whatever the strides and the outputs asked for */
    ATTEST_BATCH_INVARIANT = 1u << 1,  /* a row's bits do not depend on b and the other rows */
    ATTEST_FTZ = 1u << 2,              /* subnormal results may be flushed to zero, by exp too */
    ATTEST_EMPTY_ROW_NAN = 1u << 3,    /* a row without visible key gives NaN instead of o=0, lse=-inf */
    ATTEST_LSE_BASE2 = 1u << 4,        /* lse in base 2 instead of e */
    ATTEST_LSE_WITH_SINK = 1u << 5,    /* lse includes the sink */
    ATTEST_PACKED_STATE = 1u << 6,     /* states in the packed symmetric layout */
    ATTEST_MASKED_FINITE = 1u << 7,    /* masked tokens take part with weight 0: NaN and Inf there spoil rows */
    /* Every sum adds its terms one after another to one accumulator of the unit of acc.  A score: q_c k_c in ascending
     * c, then times scale.  u and z: keys ascending from the row's first visible one, weights not divided, masked keys
     * not at all or as 0; online: each tile (`tile` keys from the first visible one) by itself, then added to what was
     * there, rescaled.  Softmax weights are e^(s-M), M the largest score of the row's visible keys (online: up to the
     * end of the key's tile), all cast to p by one rounding.  Sharpens the bound of schedules two-pass, online and
     * direct. */
    ATTEST_SERIAL_SUMS = 1u << 8
};

/* Outputs and states a kernel can produce or take, as bits. */
enum {
    ATTEST_GIVES_O = 1u << 0,
    ATTEST_GIVES_U = 1u << 1,
    ATTEST_GIVES_Z = 1u << 2,
    ATTEST_GIVES_LSE = 1u << 3,
    ATTEST_GIVES_STATE = 1u << 4, /* writes ht (and zt where not NULL) */
    ATTEST_TAKES_STATE = 1u << 5  /* reads h0, z0 when axis state=draw */
};

typedef struct attest_kernel {
    uint32_t struct_size;
    uint32_t form;        /* attest_form */
    uint32_t device;      /* attest_device */
    uint32_t flags;       /* ATTEST_DETERMINISTIC | ... */
    uint32_t outputs;     /* ATTEST_GIVES_O | ... */
    uint32_t reserved;
    const char *name;     /* [a-z0-9-]+, unique in its library */
    const char *version;
    const char *source;   /* source file */
    const char *summary;  /* one line: the formula or the algorithm */
    const char *variants; /* presets served, separated by spaces: for people; supports() decides */
    const attest_numerics *numerics;
    const attest_claim *claim; /* or NULL */
    /* 1 if the kernel computes this problem, else 0 with the reason in why[0..len-1]. */
    int (*supports)(const attest_problem *problem, char *why, size_t len);
    /* Bytes of scratch run() needs; NULL = none.  The host gives it 64-byte aligned, uninitialised. */
    size_t (*workspace)(const attest_problem *problem);
    attest_status (*run)(const attest_problem *problem, const attest_tensors *tensors, void *workspace, void *stream);
} attest_kernel;

/* Device memory; NULL functions never.  NULL in attest_library = tensors are host memory. */
typedef struct attest_memory {
    uint32_t struct_size;
    uint32_t device; /* attest_device */
    attest_status (*alloc)(void **pointer, size_t bytes);
    void (*free)(void *pointer);
    attest_status (*to_device)(void *device, const void *host, size_t bytes);
    attest_status (*to_host)(void *host, const void *device, size_t bytes);
    attest_status (*fill)(void *device, int byte, size_t bytes);
    attest_status (*sync)(void); /* waits, and returns errors of earlier launches */
    attest_status (*describe)(char *text, size_t len); /* device and driver in words; ATTEST_NO_DEVICE if absent */
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
} attest_library;

/* The one symbol of a library.  May return NULL: it cannot serve this host. */
typedef const attest_library *(*attest_library_function)(const attest_host *host);
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const attest_library *attest_library_v1(const attest_host *host);

#ifdef __cplusplus
}
#endif
#endif
