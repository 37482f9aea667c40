/* safetensors.h - .safetensors files in and out: named tensors in one file, bf16 and f16 of their own.
 *
 * Answers which tensors a file holds, or why it is refused.  Knows no case beyond the tensors that a file is for.
 *
 * The format (https://huggingface.co/docs/safetensors): 8 bytes, the length of the header, little endian; the header,
 * a JSON object {NAME: {"dtype", "shape", "data_offsets": [first, end]}, ..}, spaces allowed behind it, with texts
 * under "__metadata__"; then the data, C order, little endian, which the offsets count from.
 *
 * Read: F16 BF16 F32 F64, I32 and I64 for `len` (as i64), BOOL and U8 for `attn_mask`, `keep`; F8_E4M3,
 * F8_E5M2, and U8 as either, for k and v of 8 bits.
 * Refused, each with one line naming the file and what is
 * allowed (ATTEST_BAD_INPUT): not a regular file; a header that is longer than the file or 1 MB, that does not begin
 * with '{' or is no JSON object; a name twice; an entry without exactly dtype, shape, data_offsets; another dtype;
 * lengths and offsets that are no integers, negative, or too large; offsets beyond the data or in the wrong order;
 * bytes that differ from what dtype and shape need; tensors that overlap; bytes of the file that no tensor has, between
 * two or behind the last; more than 8 axes; empty axes.  All but the data itself is looked at when the file is opened.
 */
#ifndef ATTEST_SAFETENSORS_H
#define ATTEST_SAFETENSORS_H

#include "kernels/npy/npy.h"

#define ATTEST_SAFETENSORS_HEADER 1000000 /* bytes of a header at most: parsed, it takes many times as much memory */

typedef struct attest_safetensors attest_safetensors;

/* *file: attest_safetensors_close(); NULL on failure.  ATTEST_BAD_INPUT, ATTEST_NO_MEMORY, ATTEST_IO. */
attest_status attest_safetensors_open(attest_safetensors **file, const char *path, attest_error *err);
void attest_safetensors_close(attest_safetensors *file);

/* Names in the order of their data; borrowed. */
size_t attest_safetensors_count(const attest_safetensors *file);
const char *attest_safetensors_name(const attest_safetensors *file, size_t index);

/* The tensor of this name (attest_npy_free()); `want` is the dtype that the problem declares for it, ATTEST_I64 takes
 * I32 too.  ATTEST_BAD_INPUT: no such name, or another dtype. */
attest_status attest_safetensors_read(attest_npy *a, const attest_safetensors *file, const char *name, uint32_t want,
                                      attest_error *err);

/* As attest_npy_load(), of the tensor with the name of `id`; its shape is looked at before its data. */
attest_status attest_safetensors_load(attest_bundle *bundle, const attest_problem *p, attest_tensor_id id,
                                      const attest_safetensors *file, attest_error *err);

typedef struct attest_named_tensor {
    const char *name;
    const attest_tensor *tensor; /* C order */
} attest_named_tensor;

/* Writes the tensors by falling size of an element, else in this order, the header padded with spaces so that data
 * begins at a multiple of 8: each tensor begins at a multiple of its element's size, as readers need that view one
 * buffer by dtype.  The same bytes for the same tensors.  To a temporary file first, then rename.  ATTEST_INTERNAL: not
 * C order, another dtype. */
attest_status attest_safetensors_write(const char *path, const attest_named_tensor *tensors, size_t count,
                                       attest_error *err);

#endif
