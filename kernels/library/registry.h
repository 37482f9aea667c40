/* registry.h - the built-in kernels, as one library of the same ABI as any other.
 *
 * A new built-in kernel is one file under kernels/cpu ending in `const attest_kernel attest_kernel_NAME`
 * and one row in the table of registry.c.  Built-in kernels have no privileges.
 */
#ifndef ATTEST_REGISTRY_H
#define ATTEST_REGISTRY_H

#include "kernels/attest.h"

/* The library of built-in CPU kernels; constant, never NULL.  Its build_flags end with the instruction set that the
 * fast kernels use here (kernels/fast/isa.h). */
const attest_library *attest_builtin_library(void);

#endif
