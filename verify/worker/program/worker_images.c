/* worker_images.c - see worker_images.h. */
#include "verify/worker/program/worker_images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

attest_status attest_images_make(attest_images *images, const attest_table *table, unsigned char *const *base,
                                 char *why, size_t len)
{
    const attest_memory *m = images->memory;
    for (uint32_t i = 0; i < table->count; i++) {
        const size_t bytes = (size_t)table->segment[i].bytes;
        attest_status status = m->alloc(images->context, &images->at[i], bytes);
        if (status == ATTEST_OK)
            status = m->to_device(images->context, images->at[i], base[i], bytes);
        if (status != ATTEST_OK) {
            snprintf(why, len, "the library's device memory: %zu bytes: status %d", bytes, (int)status);
            return status;
        }
    }
    return ATTEST_OK;
}

/* Its numbers somewhere else on the device, NaN where the kernel looks. */
static attest_status hide(attest_images *images, uint32_t i, const void *base, size_t bytes)
{
    const attest_memory *m = images->memory;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(m->alloc(images->context, &images->later[i], bytes));
    ATTEST_TRY(m->to_device(images->context, images->later[i], base, bytes));
    status = m->fill(images->context, images->at[i], 0xff, bytes);
out:
    return status;
}

attest_status attest_images_later(attest_images *images, const attest_table *table, unsigned char *const *base,
                                  void **stream, char *why, size_t len)
{
    const attest_memory *m = images->memory;
    attest_status status = ATTEST_OK;
    for (uint32_t i = 0; i < table->count; i++) {
        const attest_segment *s = &table->segment[i];
        if (s->use == ATTEST_SEGMENT_INPUT && !attest_dtype_counts(s->tensor.dtype))
            ATTEST_TRY(hide(images, i, base[i], (size_t)s->bytes));
    }
    ATTEST_TRY(m->sync(images->context));
    for (uint32_t i = 0; i < table->count; i++)
        if (images->later[i])
            ATTEST_TRY(m->copy_later(images->context, stream, images->at[i], images->later[i],
                                     (size_t)table->segment[i].bytes));
out:
    if (status != ATTEST_OK)
        snprintf(why, len, "the library's copies on another stream: status %d", (int)status);
    return status;
}

attest_status attest_images_fetch(const attest_images *images, const attest_table *table, unsigned char *const *base,
                                  uint32_t *changed, char *why, size_t len)
{
    const attest_memory *m = images->memory;
    attest_status status = ATTEST_OK;
    for (uint32_t i = 0; i < table->count && status == ATTEST_OK; i++) {
        const size_t bytes = (size_t)table->segment[i].bytes;
        if (table->segment[i].use != ATTEST_SEGMENT_INPUT) {
            status = m->to_host(images->context, base[i], images->at[i], bytes);
            continue;
        }
        unsigned char *copy = malloc(bytes);
        status = copy ? m->to_host(images->context, copy, images->at[i], bytes) : ATTEST_NO_MEMORY;
        if (status == ATTEST_OK && memcmp(copy, base[i], bytes) != 0 && !*changed)
            *changed = 1 + i;
        free(copy);
    }
    if (status != ATTEST_OK)
        snprintf(why, len, "the library's to_host() gave status %d", (int)status);
    return status;
}

void attest_images_free(attest_images *images, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (images->at[i])
            images->memory->free(images->context, images->at[i]);
        if (images->later[i])
            images->memory->free(images->context, images->later[i]);
    }
}
