/* safetensors.c - .safetensors files.  The first byte is the dtype that is asked for; the rest is the file. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/safetensors/safetensors.h"

enum { TENSORS = 64 };

/* Of a file that is good, each tensor can be read as its own type and no other; returns how many bytes they have. */
static uint64_t read_all(const attest_safetensors *in, uint32_t want)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < attest_safetensors_count(in) && i < TENSORS; i++) {
        const char *name = attest_safetensors_name(in, i);
        attest_npy a;
        attest_error err;
        for (uint32_t k = 0; k <= ATTEST_DTYPE_COUNT; k++) {
            const attest_status status = attest_safetensors_read(&a, in, name, (want + k) % (ATTEST_DTYPE_COUNT + 1),
                                                                 &err);
            if (status != ATTEST_OK) {
                FUZZ_CHECK(a.data == NULL);
                fuzz_refused(status, &err);
                continue;
            }
            uint64_t size = attest_dtype_bytes(a.dtype), sum = 0;
            for (int axis = 0; axis < a.rank; axis++)
                size *= (uint64_t)a.shape[axis];
            for (uint64_t at = 0; at < size; at++)
                sum += ((const unsigned char *)a.data)[at];
            FUZZ_CHECK(sum <= 255 * size);
            bytes += size;
            attest_npy_free(&a);
        }
    }
    return bytes;
}

static void load(const attest_safetensors *in, uint32_t want)
{
    static const char *const lines[] = { "n=2 d=3", "n=2 d=3 in=bf16 hq=2", "n=1 d=1 b=2 in=f64",
                                         "n=4 in=f16 d=2 hq=2" };
    const attest_tensor_id ids[] = { { ATTEST_KIND_ROLE, ATTEST_Q },
                                     { ATTEST_KIND_ROLE, ATTEST_KV_LENS },
                                     { ATTEST_KIND_H0, 1 } };
    attest_error err;
    attest_case c;
    attest_bundle *bundle;
    FUZZ_CHECK(attest_case_parse(&c, lines[want % 4], NULL, NULL, &err) == ATTEST_OK);
    FUZZ_CHECK(attest_bundle_new(&bundle, &err) == ATTEST_OK);
    const attest_status status = attest_safetensors_load(bundle, &c.problem, ids[want / 4 % 3], in, &err);
    if (status != ATTEST_OK)
        fuzz_refused(status, &err);
    attest_bundle_free(bundle);
}

static int take(const uint8_t *data, size_t size)
{
    attest_safetensors *in;
    attest_error err;
    if (size == 0)
        return 0;
    const attest_status status = attest_safetensors_open(&in, fuzz_file(data + 1, size - 1), &err);
    if (status != ATTEST_OK) {
        FUZZ_CHECK(in == NULL);
        return fuzz_refused(status, &err);
    }
    FUZZ_CHECK(read_all(in, data[0]) <= 2 * (uint64_t)size);
    load(in, data[0]);
    attest_safetensors_close(in);
    return 1;
}

extern const fuzz_reader fuzz_safetensors;
const fuzz_reader fuzz_safetensors = { "safetensors", take, NULL };
