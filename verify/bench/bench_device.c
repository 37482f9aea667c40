/* bench_device.c - see bench_device.h. */
#include "verify/bench/bench_device.h"

#include <stdlib.h>

static attest_status failed(attest_error *err, attest_status status, const char *name, const char *what, size_t bytes)
{
    return attest_fail(err, status, "%s: its library's %s() of %zu bytes gave status %d%s", name, what, bytes,
                       (int)status, status == ATTEST_NO_MEMORY ? ", no memory" : "");
}

static attest_status place_one(attest_bench_device *d, const attest_tensor **slot, int input, const char *name,
                               attest_error *err)
{
    attest_status status;
    if (!*slot)
        return ATTEST_OK;
    attest_tensor *to = &d->placed[d->count];
    const size_t bytes = attest_tensor_bytes(*slot);
    *to = **slot;
    to->device = (int32_t)d->memory->device;
    to->data = NULL;
    status = d->memory->alloc(d->context, &to->data, bytes);
    if (status != ATTEST_OK)
        return failed(err, status, name, "alloc", bytes);
    d->count++;
    status = input ? d->memory->to_device(d->context, to->data, (*slot)->data, bytes)
                   : d->memory->fill(d->context, to->data, 0xff, bytes); /* NaN: not what was there before */
    if (status != ATTEST_OK)
        return failed(err, status, name, input ? "to_device" : "fill", bytes);
    d->bytes += bytes;
    *slot = to;
    return ATTEST_OK;
}

attest_status attest_bench_device_place(attest_bench_device *d, attest_view *view, void **workspace, size_t size,
                                        const char *name, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *workspace = NULL;
    d->placed = calloc(ATTEST_ROLE_COUNT + 4 * ATTEST_STATE_SLOTS, sizeof *d->placed);
    if (!d->placed)
        return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for its tensors", name);
    for (size_t r = 0; r < ATTEST_ROLE_COUNT; r++)
        ATTEST_TRY(place_one(d, &view->role[r], r >= ATTEST_TENSOR_ROLES || !attest_roles[r].output, name, err));
    for (size_t n = 0; n < ATTEST_STATE_SLOTS; n++) {
        ATTEST_TRY(place_one(d, &view->h0[n], 1, name, err));
        ATTEST_TRY(place_one(d, &view->z0[n], 1, name, err));
        ATTEST_TRY(place_one(d, &view->ht[n], 0, name, err));
        ATTEST_TRY(place_one(d, &view->zt[n], 0, name, err));
    }
    if (size > 0 && (status = d->memory->alloc(d->context, workspace, size)) != ATTEST_OK) {
        *workspace = NULL;
        ATTEST_TRY(failed(err, status, name, "alloc", size));
    }
out:
    return status;
}

attest_status attest_bench_device_wait(const attest_bench_device *d, const char *name, attest_error *err)
{
    const attest_status status = d->memory->sync(d->context);
    return status == ATTEST_OK
               ? ATTEST_OK
               : attest_fail(err, status, "%s: a run failed on its device: status %d", name, (int)status);
}

attest_status attest_bench_device_read(const attest_bench_device *d, const attest_view *view, const attest_tensor *out,
                                       const char *name, attest_error *err)
{
    const size_t bytes = attest_tensor_bytes(out);
    const attest_status status = d->memory->to_host(d->context, out->data, view->role[ATTEST_O]->data, bytes);
    return status == ATTEST_OK ? ATTEST_OK : failed(err, status, name, "to_host", bytes);
}

void attest_bench_device_clear(attest_bench_device *d, void *workspace)
{
    for (size_t i = 0; i < d->count; i++)
        d->memory->free(d->context, d->placed[i].data);
    if (workspace)
        d->memory->free(d->context, workspace);
    free(d->placed);
    d->placed = NULL;
    d->count = d->bytes = 0;
}
