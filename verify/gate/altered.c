/* altered.c - see altered.h. */
#include "verify/gate/altered.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/attest_float.h"
#include "props/draw/draw.h"

/* Inputs that a draw keeps from most values, and where they go. */
static const struct {
    attest_role role;
    double factor, plus;
} alterations[] = { { ATTEST_SLOPE, 0.5, 0 },
                    { ATTEST_GAMMA, 0.5, 0 },
                    { ATTEST_Q_HEAD_LOGITS, 1, 120 },
                    { ATTEST_K_HEAD_LOGITS, 1, 120 } };

/* The size of the one value of key j that has this share in the last row: the less it weighs there, the larger, so that
 * the loss of any key shows; larger still at both ends and at the edges of tiles.  At most 2^14: f16 holds it. */
static double value_size(const attest_problem *p, double share, int64_t j)
{
    const double lighter = share > 0 ? fmin(fmax(1 / (share * (double)p->m), 1), 0x1p10) : 1;
    const double place = j == 0 || j == p->m - 1 ? 256 : j % 64 == 0 || j % 64 == 63 ? 16 : 1;
    return fmin(exp2(floor(log2(lighter))) * place, 0x1p14);
}

/* The channel of the r-th key that has a value. */
static int64_t channel_of(int64_t r, int64_t e) { return (r + r / e) % e; }

/* One value a key, in a channel that changes from key to key, 0 elsewhere: the bound of a channel is then made of few
 * keys, and the loss of one is outside it.  Keys that `keys` calls seen have none. */
static attest_status alter_values(attest_prepared *prepared, const unsigned char *keys, attest_error *err)
{
    const attest_problem *p = &prepared->c.problem;
    const attest_tensor *from = attest_bundle_role(prepared->inputs, ATTEST_V);
    attest_status status = ATTEST_OK;
    attest_tensor *to;
    double *share = calloc((size_t)p->m, sizeof *share);
    if (!share)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the shares of %lld keys", (long long)p->m);
    ATTEST_TRY(attest_bundle_add(prepared->altered, p, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_V }, 0, &to, err));
    for (int64_t bg = 0; bg < p->b * p->hkv; bg++) {
        ATTEST_TRY(attest_truth_shares(share, prepared->truth,
                                       (attest_row){ bg / p->hkv, bg % p->hkv * (p->hq / p->hkv), p->n - 1 }, err));
        int64_t r = 0;
        for (int64_t j = 0; j < p->m; j++) {
            const int64_t at = (bg * p->m + j) * p->e + channel_of(r, p->e);
            const double size = value_size(p, fabs(share[j]), j);
            for (int64_t c = 0; c < p->e; c++)
                attest_store_bits(to, (bg * p->m + j) * p->e + c, 0);
            if (keys && keys[bg * p->m + j] == ATTEST_KEY_SEEN)
                continue;
            attest_store_bits(to, at, attest_from_f64(to->dtype, attest_load(from, at) < 0 ? -size : size));
            r++;
        }
    }
out:
    free(share);
    return status;
}

void attest_altered_clear(attest_prepared *prepared)
{
    attest_truth_free(prepared->altered_truth);
    attest_bundle_free(prepared->altered);
    prepared->altered_truth = NULL;
    prepared->altered = NULL;
}

attest_status attest_alter(attest_prepared *prepared, const unsigned char *keys, attest_error *err)
{
    const attest_problem *p = &prepared->c.problem;
    attest_status status = ATTEST_OK;
    for (size_t k = 0; k < sizeof alterations / sizeof alterations[0]; k++) {
        const attest_tensor *from = attest_bundle_role(prepared->inputs, alterations[k].role);
        attest_tensor *to;
        if (!from)
            continue;
        if (!prepared->altered)
            ATTEST_TRY(attest_bundle_new(&prepared->altered, err));
        ATTEST_TRY(attest_bundle_add(prepared->altered, p, (attest_tensor_id){ ATTEST_KIND_ROLE, alterations[k].role },
                                     0, &to, err));
        for (int64_t at = 0; at < attest_tensor_count(to); at++)
            attest_store_bits(
                to, at,
                attest_from_f64(to->dtype, attest_load(from, at) * alterations[k].factor + alterations[k].plus));
    }
    if (p->m >= ATTEST_MANY_KEYS) {
        if (!prepared->altered)
            ATTEST_TRY(attest_bundle_new(&prepared->altered, err));
        ATTEST_TRY(alter_values(prepared, keys, err));
    }
    if (prepared->altered) {
        ATTEST_TRY(attest_draw_missing(prepared->altered, &prepared->c, 0, 0, err));
        ATTEST_TRY(attest_truth_new(&prepared->altered_truth, p, prepared->altered, ATTEST_ENGINE_AUTO, err));
    }
out:
    return status;
}
