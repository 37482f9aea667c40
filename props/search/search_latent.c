/* search_latent.c - see search_latent.h. */
#include "props/search/search_latent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/draw/distribution_parts.h"

/* The inputs with free values: values from 2^lo to 2^hi, the lowest unit [lo, lo+1) of positions being 0. */
static const struct {
    attest_role role;
    double lo, hi;
    int negative; /* may be negative */
} free_inputs[] = {
    { ATTEST_Q, -12, 6, 1 },
    { ATTEST_K, -12, 6, 1 },
    { ATTEST_V, -12, 4, 1 },
    { ATTEST_GOUT, -6, 0, 0 },
    { ATTEST_Q_HEAD_LOGITS, -8, 4, 1 },
    { ATTEST_GIN, -6, 0, 0 },
    { ATTEST_K_HEAD_LOGITS, -8, 4, 1 },
    { ATTEST_DECAY, -6, 0, 0 },
    { ATTEST_BETA, -6, 1 - 0x1p-8, 0 },
    { ATTEST_SINK, -8, 4, 1 },
    { ATTEST_GAIN, -4, 4, 1 },
    { ATTEST_SHIFT, -8, 4, 1 },
};

enum { INPUTS = sizeof free_inputs / sizeof free_inputs[0], TIE_CHOICES = 8 };
enum { ORDER_AS_IS, ORDER_RISING, ORDER_FALLING, ORDERS };
enum { SIGNS_AS_IS, SIGNS_POSITIVE, SIGNS_ALTERNATE, SIGNS };

/* ---- coordinates ---------------------------------------------------------------------------------------------- */
static int64_t elements_of(const attest_problem *p, int input)
{
    const attest_tensor_id id = { ATTEST_KIND_ROLE, free_inputs[input].role };
    attest_tensor t;
    if (!attest_problem_uses(p, id))
        return 0;
    attest_tensor_describe(&t, p, id, 0);
    return attest_tensor_count(&t);
}

/* Logarithms of decays go down to -2^10: there e^g is 0. */
static double highest(const attest_problem *p, int input)
{
    const int log = free_inputs[input].role == ATTEST_DECAY && attest_log_decays(p);
    return log ? 10 : free_inputs[input].hi;
}

static size_t keys_of(const attest_problem *p) { return (size_t)(p->b * p->hkv * p->m); }

attest_status attest_latent_init(attest_latent *latent, const attest_problem *p, attest_error *err)
{
    size_t most = keys_of(p) + 2;
    *latent = (attest_latent){ .p = p, .groups = INPUTS };
    for (int k = 0; k < INPUTS; k++)
        most += 2 * (size_t)elements_of(p, k);
    latent->coordinates = calloc(most, sizeof *latent->coordinates);
    if (!latent->coordinates)
        return attest_fail(err, ATTEST_NO_MEMORY, "search: no memory for %zu coordinates", most);
    for (int k = 0; k < INPUTS; k++)
        for (int64_t at = elements_of(p, k); at > 0; at--) {
            latent->coordinates[latent->count++] = (attest_coordinate){ .lo = free_inputs[k].lo,
                                                                        .hi = highest(p, k),
                                                                        .group = (uint32_t)k };
            if (free_inputs[k].negative)
                latent->coordinates[latent->count++] = (attest_coordinate){ .choices = 2 };
        }
    for (size_t j = 0; j < keys_of(p); j++)
        latent->coordinates[latent->count++] = (attest_coordinate){ .choices = TIE_CHOICES };
    latent->coordinates[latent->count++] = (attest_coordinate){ .choices = ORDERS };
    latent->coordinates[latent->count++] = (attest_coordinate){ .choices = SIGNS };
    return ATTEST_OK;
}

void attest_latent_clear(attest_latent *latent)
{
    free(latent->coordinates);
    latent->coordinates = NULL;
    latent->count = 0;
}

/* ---- elements --------------------------------------------------------------------------------------------------- */
static double value_at(int input, double position, int negative)
{
    if (position < free_inputs[input].lo + 1)
        return 0;
    const double whole = floor(position), value = ldexp(1 + (position - whole), (int)whole);
    return negative ? -value : value;
}

static double position_of(int input, double value)
{
    int exponent;
    if (value == 0)
        return free_inputs[input].lo + 0.5;
    const double mantissa = frexp(fabs(value), &exponent); /* in [1/2, 1) */
    return exponent - 1 + (2 * mantissa - 1);
}

/* Numbers of one sign are positive, but logarithms of decays. */
static size_t write_tensor(const attest_problem *p, int input, const double *x, attest_tensor *t)
{
    size_t used = 0;
    for (int64_t at = 0; at < attest_tensor_count(t); at++) {
        const double position = x[used++];
        const int log = free_inputs[input].role == ATTEST_DECAY && attest_log_decays(p);
        const int negative = log || (free_inputs[input].negative && x[used++] != 0);
        attest_store_bits(t, at, attest_from_f64(t->dtype, value_at(input, position, negative)));
    }
    return used;
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */
static void copy_row(attest_tensor *t, int64_t to, int64_t from)
{
    const size_t bytes = (size_t)t->shape[3] * attest_dtype_bytes(t->dtype);
    memcpy((char *)t->data + (size_t)to * bytes, (const char *)t->data + (size_t)from * bytes, bytes);
}

static void swap_rows(attest_tensor *t, int64_t one, int64_t other)
{
    for (int64_t c = 0; c < t->shape[3]; c++) {
        const int64_t a = one * t->shape[3] + c, b = other * t->shape[3] + c;
        const uint64_t bits = attest_load_bits(t, a);
        attest_store_bits(t, a, attest_load_bits(t, b));
        attest_store_bits(t, b, bits);
    }
}

/* Keys scaled by powers of two, so that the state of a delta rule stays bounded: as drawn keys are. */
static void shrink_keys(attest_tensor *k, int64_t rows, attest_exact *room)
{
    const int64_t d = k->shape[3];
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t c = 0; c < d; c++)
            room[c].significand = split(attest_load(k, row * d + c), &room[c].exponent);
        const int shrink = attest_key_shrink(room, d);
        for (int64_t c = 0; c < d; c++)
            attest_store_bits(k, row * d + c, attest_from_f64(k->dtype, ldexp(attest_load(k, row * d + c), -shrink)));
    }
}

static double score_of(const attest_tensor *q, const attest_tensor *k, int64_t query, int64_t key)
{
    double sum = 0;
    for (int64_t c = 0; c < k->shape[3]; c++)
        sum += attest_load(q, query * q->shape[3] + c) * attest_load(k, key * k->shape[3] + c);
    return sum;
}

/* Insertion sort of the keys of a head, with their values. */
static void sort_keys(const attest_problem *p, attest_bundle *bundle, int64_t head, int falling)
{
    const attest_tensor *q = attest_bundle_role(bundle, ATTEST_Q);
    attest_tensor *k = attest_bundle_role(bundle, ATTEST_K), *v = attest_bundle_role(bundle, ATTEST_V);
    const int64_t b = head / p->hkv, query_head = b * p->hq + head % p->hkv * (p->hq / p->hkv);
    const int64_t query = query_head * p->n + p->n - 1, first = head * p->m;
    for (int64_t j = 1; j < p->m; j++)
        for (int64_t at = first + j; at > first; at--) {
            const double before = score_of(q, k, query, at - 1), here = score_of(q, k, query, at);
            if (falling ? before >= here : before <= here)
                break;
            swap_rows(k, at - 1, at);
            swap_rows(v, at - 1, at);
        }
}

static void set_signs(const attest_problem *p, attest_tensor *v, int alternate)
{
    for (int64_t at = 0; at < attest_tensor_count(v); at++) {
        const double size = fabs(attest_load(v, at));
        const int negative = alternate && (at / p->e % p->m) % 2 == 1;
        attest_store_bits(v, at, attest_from_f64(v->dtype, negative ? -size : size));
    }
}

/* What concerns all keys of a head; x: after the elements. */
static void arrange(const attest_problem *p, const double *x, attest_bundle *bundle)
{
    attest_tensor *k = attest_bundle_role(bundle, ATTEST_K);
    const int64_t keys = (int64_t)keys_of(p);
    const int order = (int)x[keys], signs = (int)x[keys + 1];
    for (int64_t j = 0; j < keys; j++)
        if (j % p->m > 0 && x[j] == 0)
            copy_row(k, j, j - 1);
    for (int64_t head = 0; order != ORDER_AS_IS && head < p->b * p->hkv; head++)
        sort_keys(p, bundle, head, order == ORDER_FALLING);
    if (signs != SIGNS_AS_IS)
        set_signs(p, attest_bundle_role(bundle, ATTEST_V), signs == SIGNS_ALTERNATE);
}

/* ---- a point ---------------------------------------------------------------------------------------------------- */
attest_status attest_latent_write(const attest_latent *latent, const double *x, attest_bundle *bundle,
                                  attest_error *err)
{
    const attest_problem *p = latent->p;
    for (int k = 0; k < INPUTS; k++)
        if (elements_of(p, k) > 0)
            x += write_tensor(p, k, x, attest_bundle_role(bundle, free_inputs[k].role));
    if (attest_axis_value_of(p, ATTEST_AXIS_UPDATE) != ATTEST_UPDATE_ADD) {
        attest_exact *room = calloc((size_t)p->d, sizeof *room);
        if (!room)
            return attest_fail(err, ATTEST_NO_MEMORY, "search: no memory for a key");
        shrink_keys(attest_bundle_role(bundle, ATTEST_K), (int64_t)keys_of(p), room);
        free(room);
    }
    arrange(p, x, bundle);
    return ATTEST_OK;
}

void attest_latent_read(const attest_latent *latent, double *x, const attest_bundle *bundle)
{
    const attest_problem *p = latent->p;
    for (int k = 0; k < INPUTS; k++) {
        const attest_tensor *t = attest_bundle_role(bundle, free_inputs[k].role);
        for (int64_t at = 0; at < elements_of(p, k); at++) {
            const double value = attest_load(t, at);
            *x++ = position_of(k, value);
            if (free_inputs[k].negative)
                *x++ = value < 0;
        }
    }
    for (size_t j = 0; j < keys_of(p); j++)
        *x++ = TIE_CHOICES - 1;
    *x++ = ORDER_AS_IS;
    *x++ = SIGNS_AS_IS;
}
