/* witness_reads.c - which inputs a row reads, as the formula names them: a row that reads a NaN or an infinity has no
 * truth, whatever stands elsewhere.
 */
#include "kernels/attest_float.h"
#include "reference/witness/witness.h"

static int is_finite(double x) { return (attest_f64_bits(x) >> 52 & 0x7ff) != 0x7ff; }

/* `count` elements along the last axis; a tensor that is not read is finite. */
static int finite_run(const attest_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t count)
{
    for (int64_t c = 0; t && c < count; c++)
        if (!is_finite(attest_load(t, attest_offset(t, i0, i1, i2, c))))
            return 0;
    return 1;
}

static int finite_at(const attest_tensor *t, int64_t i0, int64_t i1, int64_t i2)
{
    return finite_run(t, i0, i1, i2, 1);
}

/* The head scores [b,:,token] of gates=heads: the softmax reads all heads. */
static int finite_heads(const attest_tensor *t, int64_t b, int64_t heads, int64_t token)
{
    int good = 1;
    for (int64_t head = 0; t && head < heads; head++)
        good = good && finite_at(t, b, head, token);
    return good;
}

/* The decays between the first key and query i; those of all tokens up to i with a given state. */
static int finite_decays(const wit_case *w, int64_t b, int64_t g, int64_t from, int64_t to)
{
    const int64_t width = w->p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR ? w->p->d : 1;
    int good = from > to || !w->gamma || finite_at(w->gamma, g, 0, 0);
    for (int64_t t = from; w->a && t <= to; t++)
        good = good && finite_run(w->a, b, g, t, width);
    return good;
}

static int finite_key(const wit_case *w, int64_t b, int64_t g, int64_t j)
{
    return finite_at(w->k_scale, b, g, 0) && finite_at(w->v_scale, b, g, 0) && finite_run(w->k, b, g, j, w->p->d) &&
           finite_run(w->v, b, g, j, w->p->e) && finite_at(w->gin, b, g, j) && finite_at(w->strength, b, g, j) &&
           finite_heads(w->sk, b, w->p->hkv, j);
}

static int finite_state(const wit_case *w, int64_t b, int64_t g)
{
    int good = 1;
    for (unsigned n = w->lowest; w->given_state && n <= w->highest; n++) {
        const attest_tensor *h0 = wit_state_tensor(w, ATTEST_KIND_H0, n);
        const attest_tensor *z0 = w->delta ? NULL : wit_state_tensor(w, ATTEST_KIND_Z0, n);
        const int64_t rows = wit_state_rows(w->p, n);
        for (int64_t row = 0; row < rows; row++)
            good = good && finite_run(h0, b, g, row, w->p->e) && finite_at(z0, b, g, row);
    }
    return good;
}

int wit_reads_finite(const wit_case *w, const int64_t *key, int64_t keys, int64_t b, int64_t h, int64_t i)
{
    const int64_t g = wit_head(w->p, h);
    int good = finite_run(w->q, b, h, i, w->p->d) && finite_at(w->gout, b, h, i) && finite_heads(w->sq, b, w->p->hq, i);
    for (int64_t n = 0; n < keys; n++)
        good = good && finite_key(w, b, g, key[n]) && is_finite(wit_bias(w, b, h, i, key[n]));
    good = good && finite_decays(w, b, g, w->given_state ? 0 : key[0] + 1, i);
    good = good && (keys == 0 || finite_at(w->slope, h, 0, 0));
    for (int64_t c = 0; c < w->p->e; c++)
        good = good && finite_at(w->gain, c, 0, 0) && finite_at(w->shift, c, 0, 0);
    return good && finite_at(w->sink, h, 0, 0) && finite_state(w, b, g);
}
