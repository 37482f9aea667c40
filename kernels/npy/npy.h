/* npy.h - .npy files (versions 1.0 to 3.0; C order; little endian) in and out.
 *
 * Answers what a .npy file holds, or why it is refused. Knows no case beyond the tensor that a file is for.
 *
 * Read: f2 f4 f8, u2 or V2 as bf16 (only when `want` is ATTEST_BF16), i4 and i8 for `len` (as i64),
 * b1 and u1 for `attn_mask` and `keep`, bytes of 0 and 1; u1 or V1 as the fp8 that `want` says: numpy has no such type,
 * and ml_dtypes' is saved as V1.
 * Refused, each with one line naming the file and what is allowed (ATTEST_BAD_INPUT): not a regular file,
 * bad magic or version, header that is no dictionary of exactly descr, fortran_order, shape; big endian;
 * Fortran order with more than one axis longer than 1; object and other dtypes; a shape whose bytes overflow
 * or differ from the file's (checked before any allocation, both directions); more than 8 axes; empty axes.
 */
#ifndef ATTEST_NPY_H
#define ATTEST_NPY_H

#include "kernels/tensor/tensor.h"

#define ATTEST_NPY_AXES 8

typedef struct attest_npy {
    uint32_t dtype; /* attest_dtype of `data` */
    int rank;       /* as in the file */
    int64_t shape[ATTEST_NPY_AXES];
    void *data; /* malloc'd, C order; attest_npy_free() */
} attest_npy;

/* `want` is the dtype the problem declares for this tensor; another one in the file is ATTEST_BAD_INPUT. */
attest_status attest_npy_read(attest_npy *a, const char *path, uint32_t want, attest_error *err);

/* The header only: dtype (u2/V2 give ATTEST_BF16), rank, shape; data NULL.  Same checks, file size too. */
attest_status attest_npy_header(attest_npy *a, const char *path, attest_error *err);
void attest_npy_free(attest_npy *a);

/* Reads the file as the problem declares the tensor and hands it to the bundle (replacing one of the same id).  Missing
 * leading axes are 1; `bshd`: the file has tokens before heads.  ATTEST_BAD_INPUT names the file: another size or dtype
 * than the problem's; `len` outside 0..m; `attn_mask`, `keep` with another byte than 0 and 1. */
attest_status attest_npy_load(attest_bundle *bundle, const attest_problem *p, attest_tensor_id id, const char *path,
                              int bshd, attest_error *err);

/* What attest_npy_load() does with an array that is read already and is taken over, freed on failure too; `path` names
 * it in messages. */
attest_status attest_npy_take(attest_bundle *bundle, const attest_problem *p, attest_tensor_id id, attest_npy *a,
                              const char *path, int bshd, attest_error *err);

/* ATTEST_BAD_INPUT if rank and shape of `a`, its data aside, are not those of the problem's tensor. */
attest_status attest_npy_fits(const attest_npy *a, const attest_problem *p, attest_tensor_id id, const char *path,
                              int bshd, attest_error *err);

/* Widens `count` i4 to i8 in place; `data` has room for them. */
void attest_npy_widen(void *data, size_t count);

/* Writes a C-order tensor with its own rank; bf16 as <u2.  To PATH.NUMBER.tmp first, then renamed. */
attest_status attest_npy_write(const char *path, const attest_tensor *t, attest_error *err);

#endif
