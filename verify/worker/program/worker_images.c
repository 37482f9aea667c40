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

static int is_hidden(const attest_segment *s)
{
    return s->use == ATTEST_SEGMENT_INPUT && !attest_dtype_counts(s->tensor.dtype);
}

/* The numbers of each hidden input somewhere else on the device. */
static attest_status set_aside(attest_images *images, const attest_table *table, unsigned char *const *base)
{
    attest_status status = ATTEST_OK;
    for (uint32_t i = 0; i < table->count; i++) {
        const size_t bytes = (size_t)table->segment[i].bytes;
        if (!is_hidden(&table->segment[i]))
            continue;
        ATTEST_TRY(images->memory->alloc(images->context, &images->later[i], bytes));
        ATTEST_TRY(images->memory->to_device(images->context, images->later[i], base[i], bytes));
    }
out:
    return status;
}

/* NaN where the kernel looks, also in the workspace; then the copies. */
static attest_status hide(attest_images *images, const attest_table *table, void **stream)
{
    const attest_memory *m = images->memory;
    attest_status status = ATTEST_OK;
    for (uint32_t i = 0; i < table->count; i++) {
        const attest_segment *s = &table->segment[i];
        if (images->later[i])
            ATTEST_TRY(m->fill(images->context, images->at[i], 0xff, (size_t)s->bytes));
        else if (s->use == ATTEST_SEGMENT_WORKSPACE)
            ATTEST_TRY(m->fill(images->context, (unsigned char *)images->at[i] + s->start, 0xff, (size_t)s->size));
    }
    ATTEST_TRY(m->sync(images->context));
    for (uint32_t i = 0; i < table->count; i++)
        if (images->later[i])
            ATTEST_TRY(m->copy_later(images->context, stream, images->at[i], images->later[i],
                                     (size_t)table->segment[i].bytes));
out:
    return status;
}

static void free_later(attest_images *images, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (images->later[i])
            images->memory->free(images->context, images->later[i]);
        images->later[i] = NULL;
    }
}

attest_status attest_images_later(attest_images *images, const attest_table *table, unsigned char *const *base,
                                  void **stream)
{
    const attest_memory *m = images->memory;
    attest_status status = ATTEST_OK;
    *stream = NULL;
    if (set_aside(images, table, base) == ATTEST_OK && hide(images, table, stream) == ATTEST_OK)
        return ATTEST_OK;
    *stream = NULL;
    ATTEST_TRY(m->sync(images->context)); /* no copy may come when its memory is gone */
    free_later(images, table->count);
    for (uint32_t i = 0; i < table->count; i++)
        if (is_hidden(&table->segment[i]))
            ATTEST_TRY(m->to_device(images->context, images->at[i], base[i], (size_t)table->segment[i].bytes));
out:
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
    }
    free_later(images, count);
}
