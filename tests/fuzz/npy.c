/* npy.c - .npy files.  The first byte is the dtype that is asked for; the rest is the file. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/npy/npy.h"

/* Of a file that the header says is good, all bytes can be read. */
static uint64_t sum_of(const attest_npy *a)
{
    uint64_t count = 1, sum = 0;
    for (int axis = 0; axis < a->rank; axis++)
        count *= (uint64_t)a->shape[axis];
    for (uint64_t at = 0; at < count * attest_dtype_bytes(a->dtype); at++)
        sum += ((const unsigned char *)a->data)[at];
    return sum;
}

static void load(const char *path, uint32_t want)
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
    const attest_status status = attest_npy_load(bundle, &c.problem, ids[want / 4 % 3], path, want / 12 % 2, &err);
    if (status != ATTEST_OK)
        fuzz_refused(status, &err);
    attest_bundle_free(bundle);
}

static int take(const uint8_t *data, size_t size)
{
    attest_npy a, header;
    attest_error err;
    if (size == 0)
        return 0;
    const uint32_t want = data[0];
    const char *path = fuzz_file(data + 1, size - 1);
    const attest_status seen = attest_npy_header(&header, path, &err);
    FUZZ_CHECK(header.data == NULL);
    if (seen != ATTEST_OK)
        fuzz_refused(seen, &err);
    load(path, want);
    const attest_status status = attest_npy_read(&a, path, want % (ATTEST_DTYPE_COUNT + 1), &err);
    if (status != ATTEST_OK) {
        FUZZ_CHECK(a.data == NULL);
        return fuzz_refused(status, &err);
    }
    FUZZ_CHECK(seen == ATTEST_OK && header.rank == a.rank && header.dtype == a.dtype);
    FUZZ_CHECK(sum_of(&a) <= 255 * (uint64_t)size * 2);
    attest_npy_free(&a);
    return 1;
}

extern const fuzz_reader fuzz_npy;
const fuzz_reader fuzz_npy = { "npy", take, NULL };
