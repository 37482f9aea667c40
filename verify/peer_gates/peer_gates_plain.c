/* peer_plain.c - see peer_gates_plain.h. */
#include "verify/peer_gates/peer_gates_plain.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/attest_float.h"

typedef struct plain_run {
    const attest_problem *p;
    const attest_tensor *q, *k, *v, *slope, *len;
    float *key;   /* [m,d]: T(scale k) of one head */
    float *score; /* [m]: of one row, then its weights */
} plain_run;

/* T(x) */
static float narrow(uint32_t dtype, float x) { return (float)attest_to_f64(dtype, attest_from_f64(dtype, (double)x)); }

static float value(const attest_tensor *t, int64_t b, int64_t h, int64_t i, int64_t c)
{
    return (float)attest_load(t, attest_offset(t, b, h, i, c));
}

static attest_status check_axes(const attest_problem *p, attest_error *err)
{
    static const uint32_t served[] = { ATTEST_AXIS_MASK,  ATTEST_AXIS_WINDOW, ATTEST_AXIS_LENS,  ATTEST_AXIS_CAP,
                                       ATTEST_AXIS_ALIBI, ATTEST_AXIS_PAGES,  ATTEST_AXIS_PACKED };
    for (uint32_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++) {
        int known = 0;
        for (size_t i = 0; i < sizeof served / sizeof served[0]; i++)
            known |= axis == served[i];
        if (!known && p->axis[axis].value != 0)
            return attest_fail(err, ATTEST_UNSUPPORTED, "the plain softmax knows no %s", attest_axes[axis].key);
    }
    return p->in == ATTEST_F64 ? attest_fail(err, ATTEST_UNSUPPORTED, "the plain softmax knows no in=f64") : ATTEST_OK;
}

/* s_ij of row (b,h,i) and key j. */
static float score(const plain_run *r, int64_t b, int64_t h, int64_t i, int64_t j, int64_t len)
{
    const attest_problem *p = r->p;
    const int64_t offset = p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL_BR ? len - p->n : 0;
    float sum = 0;
    for (int64_t c = 0; c < p->d; c++)
        sum += value(r->q, b, h, i, c) * r->key[j * p->d + c];
    float s = narrow(p->in, sum);
    if (p->axis[ATTEST_AXIS_CAP].value == ATTEST_CAP_SET) {
        const float cap = (float)p->axis[ATTEST_AXIS_CAP].number;
        s = narrow(p->in, cap * narrow(p->in, tanhf(narrow(p->in, s / cap))));
    }
    const double slope = p->axis[ATTEST_AXIS_ALIBI].value == ATTEST_ALIBI_USUAL ? attest_usual_double(p, h)
                         : r->slope ? attest_load(r->slope, h * r->slope->stride[0])
                                    : 0;
    if (p->axis[ATTEST_AXIS_ALIBI].value != ATTEST_ALIBI_NONE)
        s -= (float)slope * fabsf((float)(i + offset - j));
    return s;
}

static void scale_keys(const plain_run *r, int64_t b, int64_t h)
{
    const attest_problem *p = r->p;
    for (int64_t j = 0; j < p->m; j++)
        for (int64_t c = 0; c < p->d; c++)
            r->key[j * p->d + c] = narrow(p->in, value(r->k, b, attest_kv_head(p, h), j, c) * (float)p->scale);
}

static void row(double *o, const plain_run *r, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = r->p;
    const int64_t len = r->len ? attest_load_int(r->len, b * r->len->stride[0]) : p->m;
    int64_t first, last;
    float largest = -INFINITY, sum = 0;
    attest_visible(p, (attest_lengths){ len, p->n }, i, &first, &last);
    for (int64_t j = first; j < last; j++) {
        r->score[j] = score(r, b, h, i, j, len);
        largest = fmaxf(largest, r->score[j]);
    }
    for (int64_t j = first; j < last; j++)
        sum += r->score[j] = expf(r->score[j] - largest);
    for (int64_t j = first; j < last; j++)
        r->score[j] = narrow(p->in, r->score[j] / sum);
    for (int64_t c = 0; c < p->e; c++) {
        float x = 0;
        for (int64_t j = first; j < last; j++)
            x += r->score[j] * value(r->v, b, attest_kv_head(p, h), j, c);
        o[c] = (double)narrow(p->in, x);
    }
}

attest_status attest_peer_plain(double *o, const attest_problem *p, const attest_bundle *inputs, attest_error *err)
{
    plain_run r = { .p = p,
                    .q = attest_bundle_role(inputs, ATTEST_Q),
                    .k = attest_bundle_role(inputs, ATTEST_K),
                    .v = attest_bundle_role(inputs, ATTEST_V),
                    .slope = attest_bundle_role(inputs, ATTEST_SLOPE),
                    .len = attest_bundle_role(inputs, ATTEST_KV_LENS) };
    const attest_status status = check_axes(p, err);
    if (status != ATTEST_OK)
        return status;
    r.key = malloc((size_t)(p->m * (p->d + 1)) * sizeof *r.key);
    if (!r.key)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld keys", (long long)p->m);
    r.score = r.key + p->m * p->d;
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t h = 0; h < p->hq; h++) {
            scale_keys(&r, b, h);
            for (int64_t i = 0; i < p->n; i++)
                row(o + ((b * p->hq + h) * p->n + i) * p->e, &r, b, h, i);
        }
    free(r.key);
    return ATTEST_OK;
}
