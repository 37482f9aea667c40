/* trace.h - private to props/: the family `trace:DIR`, whose tensors are files (kernels/npy/npy.h).
 *
 * DIR holds q.npy, k.npy and v.npy, BHSD, and what else of the problem's inputs it wants to say, by the tensor's name
 * (sink.npy, len.npy, ..); what is missing is drawn as ever.  States are always drawn.  Sizes and dtypes are those of
 * the problem line.  The identity of such a case is the path, not what stands in the files; values that are not finite
 * and keys without bound under update=delta come as they are.
 */
#ifndef ATTEST_TRACE_H
#define ATTEST_TRACE_H

#include "kernels/tensor/tensor.h"

/* ATTEST_BAD_INPUT: no folder is named, it is none, or one of its three files is missing. */
attest_status attest_trace_check(const char *folder, attest_error *err);

/* *given = 1: the folder has the tensor, and it is added to the bundle.  ATTEST_BAD_INPUT names the file: npy.h,
 * another size or dtype than the problem's, a state. */
attest_status attest_trace_read(int *given, attest_bundle *bundle, const attest_problem *p, const char *folder,
                                attest_tensor_id id, attest_error *err);

#endif
