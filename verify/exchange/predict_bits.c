/* predict_bits.c - see predict_private.h. */
#include <math.h>
#include <stdio.h>

#include "kernels/hash.h"
#include "verify/exchange/predict_private.h"

attest_status attest_predict_path(char path[ATTEST_PREDICT_PATH], const char *dir, const char *folder, const char *name,
                                  attest_error *err)
{
    const int len = snprintf(path, ATTEST_PREDICT_PATH, "%s/%s%s%s", dir, folder ? folder : "", folder ? "/" : "",
                             name);
    return len < ATTEST_PREDICT_PATH ? ATTEST_OK
                                     : attest_fail(err, ATTEST_BAD_INPUT, "%.200s..: the path is too long", dir);
}

void attest_predict_hash(char text[20], const attest_bundle *bundle, const attest_tensor_id *ids, size_t count)
{
    uint64_t hash = ATTEST_FNV_START;
    for (size_t i = 0; i < count; i++) {
        const attest_tensor *t = attest_bundle_get(bundle, ids[i]);
        if (t)
            hash = attest_fnv(hash, t->data, attest_tensor_bytes(t));
    }
    snprintf(text, 20, "%016llx", (unsigned long long)hash);
}

/* By strides: axes from the last on. */
static int64_t offset_of(const attest_tensor *t, int64_t at, int64_t index[4])
{
    int64_t offset = 0;
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        index[axis] = at % t->shape[axis];
        at /= t->shape[axis];
        offset += index[axis] * t->stride[axis];
    }
    return offset;
}

void attest_predict_index(char *text, size_t len, const attest_tensor *t, int64_t at)
{
    int64_t index[4] = { 0 };
    size_t n = 0;
    offset_of(t, at, index);
    for (int axis = 0; axis < t->rank && n < len; axis++)
        n += (size_t)snprintf(text + n, len - n, "%s%lld", axis ? "," : "", (long long)index[axis]);
}

uint64_t attest_predict_bits(const attest_tensor *t, int64_t at)
{
    int64_t index[4];
    return attest_load_bits(t, offset_of(t, at, index));
}

static double value_of(const attest_tensor *t, int64_t at)
{
    int64_t index[4];
    return attest_load(t, offset_of(t, at, index));
}

int attest_predict_same(const attest_tensor *a, const attest_tensor *b, int64_t at)
{
    return attest_predict_bits(a, at) == attest_predict_bits(b, at) ||
           (isnan(value_of(a, at)) && isnan(value_of(b, at)));
}

/* Numbers of a type in their order: bits of a sign and a magnitude. */
static int64_t rank_of(const attest_tensor *t, int64_t at)
{
    const unsigned width = 8 * (unsigned)attest_dtype_bytes(t->dtype);
    const uint64_t bits = attest_predict_bits(t, at), sign = (uint64_t)1 << (width - 1);
    return bits & sign ? -(int64_t)(bits & (sign - 1)) : (int64_t)bits;
}

double attest_predict_steps(const attest_tensor *a, const attest_tensor *b, int64_t at)
{
    return fabs((double)rank_of(a, at) - (double)rank_of(b, at));
}

void attest_predict_measure(attest_hardware *h, const attest_tensor *model, const attest_tensor *exact)
{
    long double change = 0, size = 0; /* squares of doubles do not overflow */
    h->elements = attest_tensor_count(model);
    h->changed = 0;
    h->steps = 0;
    for (int64_t at = 0; at < h->elements; at++) {
        const double x = value_of(model, at), y = value_of(exact, at);
        const long double d = (long double)x - (long double)y;
        if (isfinite(x))
            size += (long double)x * (long double)x;
        if (attest_predict_same(model, exact, at))
            continue;
        h->changed++;
        h->steps = fmax(h->steps, isnan(x) || isnan(y) ? INFINITY : attest_predict_steps(model, exact, at));
        change += isfinite(x) && isfinite(y) ? d * d : (long double)INFINITY;
    }
    h->norm = !(change > 0) ? 0 : size > 0 ? (double)sqrtl(change / size) : INFINITY;
}
