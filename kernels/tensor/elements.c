/* elements.c - the elements of a tensor: loaded and stored by offset. */
#include "kernels/tensor/tensor.h"

#include "kernels/attest_float.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors and .npy files are little endian");

uint64_t attest_load_bits(const attest_tensor *t, int64_t offset)
{
    const int64_t size = (int64_t)attest_dtype_bytes(t->dtype);
    const unsigned char *at = (const unsigned char *)t->data + offset * size;
    uint16_t half;
    uint32_t word;
    uint64_t wide;
    if (size == 1)
        return *at;
    if (size == 2)
        return memcpy(&half, at, sizeof half), half;
    if (size == 4)
        return memcpy(&word, at, sizeof word), word;
    return memcpy(&wide, at, sizeof wide), wide;
}

double attest_load(const attest_tensor *t, int64_t offset)
{
    const uint64_t bits = attest_load_bits(t, offset), exponent = bits >> 23 & 0xff;
    if (t->dtype == ATTEST_F32 && exponent > 0 && exponent < 0xff) /* as attest_to_f64(), for most numbers there are */
        return attest_bits_f64((bits >> 31) << 63 | (exponent + 1023 - 127) << 52 | (bits & 0x7fffff) << 29);
    return t->dtype == ATTEST_BOOL ? (double)bits : attest_to_f64(t->dtype, bits);
}

int64_t attest_load_int(const attest_tensor *t, int64_t offset)
{
    const uint64_t bits = attest_load_bits(t, offset);
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void attest_store_bits(const attest_tensor *t, int64_t offset, uint64_t bits)
{
    const size_t size = attest_dtype_bytes(t->dtype);
    memcpy((unsigned char *)t->data + offset * (int64_t)size, &bits, size); /* little endian: the low bytes */
}

int attest_dtype_counts(uint32_t dtype) { return dtype == ATTEST_I64 || dtype == ATTEST_BOOL; }

int attest_masks(const attest_tensor *mask, int64_t b, int64_t h, int64_t i, int64_t j)
{
    return mask && attest_load_bits(
                       mask, attest_offset(mask, mask->shape[0] > 1 ? b : 0, mask->shape[1] > 1 ? h : 0, i, j)) == 0;
}

int attest_keeps(const attest_tensor *keep, int64_t b, int64_t h, int64_t i, int64_t j)
{
    return !keep || attest_load_bits(keep, attest_offset(keep, b, h, i, j)) != 0;
}

int attest_empty_row_is_free(uint32_t empty_row)
{
    return empty_row == ATTEST_EMPTY_MEAN || empty_row == ATTEST_EMPTY_ANY;
}

int attest_masks_all(const attest_tensor *mask, int64_t b, int64_t h, int64_t i, int64_t first, int64_t last)
{
    for (int64_t j = first; j < last; j++)
        if (!attest_masks(mask, b, h, i, j))
            return 0;
    return 1;
}

double attest_kv_scale(const attest_problem *p, const attest_tensor *scale, int64_t b, int64_t g)
{
    return scale && attest_kv_scaled(p) ? attest_load(scale, attest_offset(scale, b, g, 0, 0)) : 1;
}

attest_status attest_kv_numbers(attest_tensor *t, const attest_problem *p, const attest_tensor *stored,
                                const attest_tensor *scale, attest_error *err)
{
    *t = *stored;
    t->dtype = ATTEST_F64;
    t->code = ATTEST_CODE_FLOAT;
    t->bits = 64;
    attest_tensor_set_order(t);
    const int64_t row = t->shape[2] * t->shape[3];
    double *x = malloc((size_t)attest_tensor_count(t) * sizeof *x + 1);
    t->data = x;
    if (!x)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld numbers of 8 bits",
                           (long long)attest_tensor_count(t));
    for (int64_t b = 0; b < t->shape[0]; b++)
        for (int64_t g = 0; g < t->shape[1]; g++) {
            const double factor = attest_kv_scale(p, scale, b, g);
            for (int64_t n = 0; n < row; n++)
                *x++ = factor * attest_load(stored, attest_offset(stored, b, g, n / t->shape[3], n % t->shape[3]));
        }
    return ATTEST_OK;
}

attest_lengths attest_lengths_of(const attest_problem *p, const attest_tensor *len, const attest_tensor *len_q,
                                 int64_t b)
{
    return (attest_lengths){ len && p->axis[ATTEST_AXIS_LENS].value ? attest_load_int(len, b * len->stride[0]) : p->m,
                             len_q && p->axis[ATTEST_AXIS_LENS_Q].value ? attest_load_int(len_q, b * len_q->stride[0])
                                                                        : p->n };
}

attest_lengths attest_bundle_lengths(const attest_problem *p, const attest_bundle *bundle, int64_t b)
{
    return attest_lengths_of(p, attest_bundle_role(bundle, ATTEST_KV_LENS), attest_bundle_role(bundle, ATTEST_Q_LENS),
                             b);
}
