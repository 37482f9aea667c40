/* yardstick.h - kernels that other things are timed against.  Not in the registry: no suite judges them, no ledger
 * names them; `attest bench` and its tests do.
 */
#ifndef ATTEST_KERNELS_YARDSTICK_H
#define ATTEST_KERNELS_YARDSTICK_H

#include "kernels/attest.h"

/* The plain float loop: softmax and taylor:P, any mask, f32. */
extern const attest_kernel attest_kernel_naive_f32;

#endif
