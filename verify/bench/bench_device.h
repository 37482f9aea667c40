/* bench_device.h - the tensors and the workspace of a timed kernel in the memory of its device, and the wait for what
 * it began there.
 *
 * Caches are warm: the runs of a turn follow each other on the default stream, and the turn ends when the last has
 * ended.  Where a launch takes longer than the kernel, the launch is what is measured.  Times by the device's own
 * events, with caches warm and emptied, are a step of `make gpu-day`.
 */
#ifndef ATTEST_BENCH_DEVICE_H
#define ATTEST_BENCH_DEVICE_H

#include "kernels/library/library.h"

typedef struct attest_bench_device {
    const attest_memory *memory; /* the library's; NULL: the kernel works in the memory of this process */
    void *context;               /* of the library's open() */
    attest_tensor *placed;       /* [count], owned; the view points to them */
    size_t count;
    size_t bytes; /* of the inputs and outputs there */
} attest_bench_device;

/* Puts a copy of each tensor of `view` into the device's memory, inputs with their values and outputs full of NaN, and
 * the view on these copies; *workspace gets `size` bytes there, NULL for 0.  ATTEST_NO_MEMORY or the library's own
 * status, with `name` in the message; then, too, attest_bench_device_clear() frees what there is. */
attest_status attest_bench_device_place(attest_bench_device *d, attest_view *view, void **workspace, size_t size,
                                        const char *name, attest_error *err);

/* Waits for all that was begun on the device. */
attest_status attest_bench_device_wait(const attest_bench_device *d, const char *name, attest_error *err);

/* Copies the view's o into `out`, the tensor it was placed from. */
attest_status attest_bench_device_read(const attest_bench_device *d, const attest_view *view, const attest_tensor *out,
                                       const char *name, attest_error *err);

void attest_bench_device_clear(attest_bench_device *d, void *workspace);

#endif
