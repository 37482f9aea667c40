/* worker_images.h - the segments of a run in the memory of a device: images, each with the canaries of its segment.
 *
 * In the worker.  `base` are the segments where the worker maps them.  A failure's words go into why[len], where a
 * function has it.
 */
#ifndef ATTEST_WORKER_IMAGES_H
#define ATTEST_WORKER_IMAGES_H

#include "verify/worker/worker_protocol.h"

typedef struct attest_images {
    const attest_memory *memory; /* NULL: there are none */
    void *context;               /* of the library's open() */
    void *at[ATTEST_WORKER_SEGMENTS];
    void *later[ATTEST_WORKER_SEGMENTS]; /* of a run on a stream of its own: where its inputs come from */
} attest_images;

/* Each segment is copied to the device. */
attest_status attest_images_make(attest_images *images, const attest_table *table, unsigned char *const *base,
                                 char *why, size_t len);

/* Puts the copies of all inputs that are floats on a stream of its own, *stream, behind what keeps it busy: until then
 * their images, and the workspace, hold NaN, which a kernel reads that works on another stream.  Needs copy_later().
 * *stream NULL: the device has no room or the library failed, and the images are as they were: the kernel runs on the
 * default stream, and is not to blame.  A failure: they are not. */
attest_status attest_images_later(attest_images *images, const attest_table *table, unsigned char *const *base,
                                  void **stream);

/* Outputs and workspace come back to the segments; *changed, if it is 0: 1 + the first input that is another now. */
attest_status attest_images_fetch(const attest_images *images, const attest_table *table, unsigned char *const *base,
                                  uint32_t *changed, char *why, size_t len);

void attest_images_free(attest_images *images, uint32_t count);

#endif
