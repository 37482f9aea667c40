/* problem.h - the problem line: parse, print, hash, limits.
 *
 * Answers which function a line names, with which sizes, types and inputs, and what the table of variants says of it
 * (variant.h). Touches no tensor, no kernel and nothing above kernels/.
 *
 * A case is an attest_problem (what the kernel sees) plus what the kernel must not see: the preset's name,
 * the input family and the seed.  Its one-line text `key=value ...` is its identity: keys in any order,
 * printed in the order of problem_line.c's table, without what equals the preset's or the default value (variant
 * is always printed), and parse(print(c)) = c.  Spaces and % inside values are percent-encoded.
 */
#ifndef ATTEST_PROBLEM_H
#define ATTEST_PROBLEM_H

#include "kernels/problem/variant.h"

#define ATTEST_LINE 1024
#define ATTEST_FAMILY 256

typedef struct attest_case {
    attest_problem problem;
    char preset[48];            /* `softmax`, `taylor:4` as canonical text */
    char family[ATTEST_FAMILY]; /* `normal`, `range:8`, `trace:DIR`, decoded; checked by props, not here */
    uint64_t seed;
} attest_case;

/* Which sizes and defaults the line itself stated; others may be taken from files. */
typedef struct attest_stated {
    unsigned b : 1, hq : 1, hkv : 1, n : 1, m : 1, d : 1, e : 1, scale : 1, in : 1;
} attest_stated;

/* Sizes that input files gave, used where the line does not state them; 0 = not known. */
typedef struct attest_sizes {
    int64_t b, hq, hkv, n, m, d, e;
} attest_sizes;

/* Parses `line` (NULL or empty: the default problem) and checks everything that does not need tensors:
 * unknown or repeated key, bad value, ranges (sizes >= 1; b hq hkv <= 4096; n m <= 2^24; d e <= 65535;
 * finite scale; hq a multiple of hkv), contradictory axes, recurrence-only settings.  `sizes` (or NULL)
 * fills sizes the line leaves out; a stated size that differs from it is ATTEST_BAD_INPUT naming both.
 * `stated` may be NULL.  Defaults: b=1 hq=1 hkv=hq n=64 m=n d=16 e=d, scale = nearest double to the real
 * 1/sqrt(d), in=f32, acc=f32 (f64 if in=f64), p=acc, out=in, chunk=64, splits=1, family=normal, seed=0. */
attest_status attest_case_parse(attest_case *c, const char *line, const attest_sizes *sizes, attest_stated *stated,
                                attest_error *err);

/* Writes the canonical line; `len` should be ATTEST_LINE.  ATTEST_INTERNAL if it does not fit. */
attest_status attest_case_print(char *line, size_t len, const attest_case *c, attest_error *err);

/* 64-bit hash over resolved axes, sizes, dtypes, scale bits, family and seed (not the preset's spelling,
 * not chunk and splits: they never change the truth).  Stable across versions: tests hold known answers. */
uint64_t attest_case_hash(const attest_case *c);

/* The double nearest to the real number 1/sqrt(d), by exact integer comparison; d in 1..65535. */
double attest_default_scale(int64_t d);

/* Query head h reads KV head floor(h*hkv/hq). */
static inline int64_t attest_kv_head(const attest_problem *p, int64_t h) { return h * p->hkv / p->hq; }

static inline uint32_t attest_axis_value_of(const attest_problem *p, attest_axis axis) { return p->axis[axis].value; }

/* The slope of a query head with alibi=usual: base^power, base = 2^-(step/heads), `heads` a power of two. */
typedef struct attest_usual {
    int64_t power, step, heads; /* heads: the largest power of two of at most Hq; step: 8, behind that many heads 4 */
} attest_usual;

attest_usual attest_usual_slope(const attest_problem *p, int64_t h);
/* With alibi=usual: the slope as a double, within 2^-52 of itself, by the library's exp2: not for a truth. */
double attest_usual_double(const attest_problem *p, int64_t h);

/* Does the tensor a hold logarithms of decays? */
static inline int attest_log_decays(const attest_problem *p)
{
    return p->axis[ATTEST_AXIS_DECAY_INPUT].value == ATTEST_DECAY_INPUT_LOG;
}

/* Are weights dropped? */
static inline int attest_drops(const attest_problem *p)
{
    return p->axis[ATTEST_AXIS_DROPOUT].value != ATTEST_DROPOUT_NONE;
}

/* The type of k and v: `in`, or what kv says; with kv it is narrower than `in`. */
uint32_t attest_kv_dtype(const attest_problem *p);

/* Are k and v of 8 bits, with k_scale and v_scale? */
static inline int attest_kv_scaled(const attest_problem *p) { return p->axis[ATTEST_AXIS_KV].value >= ATTEST_KV_E4M3; }

/* ATTEST_BAD_INPUT naming both keys where the types contradict kv: f16 and bf16 are told for in=f32, 8 bits for in=f32,
 * f16 and bf16. */
attest_status attest_types_check(const attest_problem *p, attest_error *err);

/* The lengths of one batch entry: m and n, or what len (lens) and len_q (lens_q) hold. */
typedef struct attest_lengths {
    int64_t keys, queries;
} attest_lengths;

/* Position i+off of query i among the keys: off = keys - queries with causal-br, else 0. */
int64_t attest_position(const attest_problem *p, attest_lengths of, int64_t i);

/* Keys visible to query i of a batch entry of these lengths: the half-open range [*first, *last); empty when
 * *first >= *last.  causal: j<=i; causal-br: j<=i+off; window W: i+off-j < W (mask=full: abs(i-j) < W); lens: j < keys;
 * lens_q: none from i = queries on.  What query `queries`-1 sees, -1 too, tells the last key of a final state. */
void attest_visible(const attest_problem *p, attest_lengths of, int64_t i, int64_t *first, int64_t *last);

/* dim of the feature map: d, or 2d for cosformer. */
int64_t attest_feature_dim(const attest_problem *p);

/* Rows of a state of degree n: dim^n, or C(dim+n-1,n) packed; -1 if above 2^40. */
int64_t attest_state_rows(int64_t dim, int n, int packed);

const char *attest_dtype_name(uint32_t dtype); /* f32 f64 f16 bf16 i64 */
const char *attest_form_name(uint32_t form);   /* parallel tiled split recurrent chunk */

/* cpu cuda cuda-host, as --device has it; ? of another number. */
const char *attest_device_name(uint32_t device);

/* Shortest decimal text that reads back as the same double. */
void attest_double_text(char *text, size_t len, double x);

#endif
