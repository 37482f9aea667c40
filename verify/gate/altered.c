/* altered.c - see altered.h. */
#include "verify/gate/altered.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/attest_float.h"
#include "props/cover/cover.h"
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

/* ---- poison ------------------------------------------------------------------------------------------------------ */

/* Inputs [.., .., token, ..]; the first QUERIES are of queries. */
static const attest_role poisoned[] = { ATTEST_Q,   ATTEST_GOUT,          ATTEST_Q_HEAD_LOGITS, ATTEST_K,   ATTEST_V,
                                        ATTEST_GIN, ATTEST_K_HEAD_LOGITS, ATTEST_DECAY,         ATTEST_BETA };
enum { QUERIES = 3 };

double attest_poison_value(const attest_kernel_facts *kernel)
{
    return kernel->flags & ATTEST_MASKED_FINITE ? 1024 : (double)NAN;
}

/* Tokens from `cut` on of batch entry b become `value`. */
static void poison(const attest_tensor *t, int64_t b, int64_t cut, double value)
{
    const uint64_t bits = attest_from_f64(t->dtype, value);
    for (int64_t h = 0; h < t->shape[1]; h++)
        for (int64_t token = cut; token < t->shape[2]; token++)
            for (int64_t c = 0; c < (t->rank == 4 ? t->shape[3] : 1); c++)
                attest_store_bits(t, attest_offset(t, b, h, token, c), bits);
}

int64_t attest_poison_length(const attest_problem *p, const attest_bundle *in, int64_t b)
{
    return attest_bundle_lengths(p, in, b).keys;
}

int64_t attest_poison_cut(const attest_problem *p, int64_t len)
{
    const int64_t most = p->n < p->m ? p->n : p->m, cut = 2 * most / 3;
    if (p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_FULL || cut > len)
        return len;
    return cut;
}

/* Does row (b,h,i) see key j, before the cut? */
static int sees(const attest_prepared *prepared, attest_row at, int64_t j)
{
    const attest_problem *p = &prepared->c.problem;
    const int64_t len = attest_poison_length(p, prepared->inputs, at.b);
    int64_t first, last;
    attest_visible(p, attest_bundle_lengths(p, prepared->inputs, at.b), at.i, &first, &last);
    return j >= first && j < last && j < attest_poison_cut(p, len) &&
           !attest_masks(attest_bundle_role(prepared->inputs, ATTEST_MASK), at.b, at.h, at.i, j);
}

/* With attn_mask: the row of KV head (b,g), before the cut, that sees fewest keys but one at least; i = -1: there is
 * none.  All keys that it does not see are poisoned. */
static attest_row scarce_row(const attest_prepared *prepared, int64_t b, int64_t g)
{
    const attest_problem *p = &prepared->c.problem;
    const int64_t cut = attest_poison_cut(p, attest_poison_length(p, prepared->inputs, b)), group = p->hq / p->hkv;
    attest_row scarce = { b, g * group, -1 };
    int64_t fewest = p->m + 1;
    for (int64_t row = 0; row < group * p->n; row++) {
        const attest_row at = { b, g * group + row / p->n, row % p->n };
        int64_t keys = 0;
        for (int64_t j = 0; j < p->m && at.i < cut; j++)
            keys += sees(prepared, at, j);
        if (keys > 0 && keys < fewest) {
            fewest = keys;
            scarce = at;
        }
    }
    return scarce;
}

static void poison_masked(const attest_bundle *bundle, const attest_prepared *prepared, double value)
{
    static const attest_role roles[] = { ATTEST_K, ATTEST_V, ATTEST_GIN };
    const attest_problem *p = &prepared->c.problem;
    for (int64_t bg = 0; bg < p->b * p->hkv; bg++) {
        const int64_t b = bg / p->hkv, g = bg % p->hkv;
        const attest_row scarce = scarce_row(prepared, b, g);
        for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++) {
            const attest_tensor *t = attest_bundle_role(bundle, roles[r]);
            const uint64_t bits = t ? attest_from_f64(t->dtype, value) : 0;
            for (int64_t j = 0; t && scarce.i >= 0 && j < p->m; j++)
                for (int64_t c = 0; !sees(prepared, scarce, j) && c < (t->rank == 4 ? t->shape[3] : 1); c++)
                    attest_store_bits(t, attest_offset(t, b, g, j, c), bits);
        }
    }
}

int attest_poison_seen(const attest_prepared *prepared, attest_row at)
{
    const attest_problem *p = &prepared->c.problem;
    if (!p->axis[ATTEST_AXIS_ATTN_MASK].value)
        return 0;
    const attest_row scarce = scarce_row(prepared, at.b, attest_kv_head(p, at.h));
    for (int64_t j = 0; scarce.i >= 0 && j < p->m; j++)
        if (sees(prepared, at, j) && !sees(prepared, scarce, j))
            return 1;
    return 0;
}

/* Is the bias of query i and key j read by no row of the entries [from,to) that is compared? */
static int is_hidden(const attest_prepared *prepared, int64_t from, int64_t to, int64_t i, int64_t j)
{
    for (int64_t b = from; b < to; b++)
        for (int64_t h = 0; h < prepared->c.problem.hq; h++)
            if (sees(prepared, (attest_row){ b, h, i }, j))
                return 0;
    return 1;
}

static void poison_bias(const attest_tensor *t, const attest_prepared *prepared, double value)
{
    const uint64_t bits = attest_from_f64(t->dtype, value);
    const int shared = t->shape[0] == 1;
    for (int64_t pair = 0; pair < t->shape[0] * t->shape[2] * t->shape[3]; pair++) {
        const int64_t j = pair % t->shape[3], i = pair / t->shape[3] % t->shape[2],
                      b = pair / t->shape[3] / t->shape[2];
        if (is_hidden(prepared, b, shared ? prepared->c.problem.b : b + 1, i, j))
            for (int64_t h = 0; h < t->shape[1]; h++)
                attest_store_bits(t, attest_offset(t, b, h, i, j), bits);
    }
}

attest_status attest_poison_bundle(attest_bundle **bundle, const attest_prepared *prepared,
                                   const attest_kernel_facts *kernel, attest_error *err)
{
    const attest_problem *p = &prepared->c.problem;
    const double value = attest_poison_value(kernel);
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_case_bundle(bundle, prepared, kernel, err));
    const attest_tensor *bias = attest_bundle_role(*bundle, ATTEST_BIAS);
    if (bias)
        poison_bias(bias, prepared, value);
    if (p->axis[ATTEST_AXIS_ATTN_MASK].value)
        poison_masked(*bundle, prepared, value);
    for (int64_t b = 0; b < p->b; b++) {
        const int64_t cut = attest_poison_cut(p, attest_poison_length(p, prepared->inputs, b));
        for (size_t k = 0; k < sizeof poisoned / sizeof poisoned[0]; k++) {
            const attest_tensor *t = attest_bundle_role(*bundle, poisoned[k]);
            const int log = poisoned[k] == ATTEST_DECAY && attest_log_decays(p);
            if (t)
                poison(t, b, cut, k < QUERIES ? (double)NAN : log ? -value : value); /* e^1024 is infinite */
        }
    }
out:
    return status;
}

/* ---- what is not finite in 8 bits -------------------------------------------------------------------------------- */

/* A key in the middle of those that the last query of (b,h) sees; -1: it sees none. */
static int64_t middle_key(const attest_prepared *prepared, int64_t b, int64_t h)
{
    const attest_problem *p = &prepared->c.problem;
    const attest_tensor *mask = attest_bundle_role(prepared->inputs, ATTEST_MASK);
    const attest_lengths of = attest_bundle_lengths(p, prepared->inputs, b);
    int64_t first, last;
    attest_visible(p, of, of.queries - 1, &first, &last);
    const int64_t keys = of.queries > 0 ? last - first : 0;
    for (int64_t n = 0; n < keys; n++) {
        const int64_t j = first + (keys / 2 + n) % keys;
        if (!attest_masks(mask, b, h, of.queries - 1, j))
            return j;
    }
    return -1;
}

/* The n-th of what is no finite number. */
static uint64_t nonfinite_bits(uint32_t dtype, int is_value, int64_t n)
{
    static const uint8_t e4m3[] = { 0x7f, 0xff }, keys[] = { 0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff },
                         values[] = { 0x7c, 0xfc, 0x7e, 0x7c, 0xfd };
    return dtype == ATTEST_F8_E4M3 ? e4m3[n % 2]
           : is_value              ? values[n % (int64_t)sizeof values]
                                   : keys[n % (int64_t)sizeof keys];
}

attest_status attest_nonfinite_bundle(attest_bundle **bundle, const attest_prepared *prepared,
                                      const attest_kernel_facts *kernel, int as_nan, attest_error *err)
{
    const attest_problem *p = &prepared->c.problem;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_case_bundle(bundle, prepared, kernel, err));
    for (int64_t bg = 0; bg < p->b * p->hkv; bg++) {
        const int64_t b = bg / p->hkv, g = bg % p->hkv, j = middle_key(prepared, b, g * (p->hq / p->hkv));
        const int is_value = (b + g + p->m) % 2 != 0;
        const attest_tensor *t = attest_bundle_role(*bundle, is_value ? ATTEST_V : ATTEST_K);
        const uint64_t bits = nonfinite_bits(t->dtype, is_value, bg + p->m / 2 + p->d);
        if (j >= 0)
            attest_store_bits(t, attest_offset(t, b, g, j, j % t->shape[3]), as_nan ? bits | 3 : bits);
    }
out:
    return status;
}

/* ---- a case among others ----------------------------------------------------------------------------------------- */
/* Each element of the small tensor, and its place at the end of every axis of the large one: copied to the one or to
 * the other. */
static void copy_last(const attest_tensor *small, const attest_tensor *large, int to_large)
{
    const int64_t count = attest_tensor_count(small);
    for (int64_t at = 0; at < count; at++) {
        int64_t rest = at, from = 0, to = 0;
        for (int axis = small->rank - 1; axis >= 0; axis--) {
            const int64_t i = rest % small->shape[axis];
            rest /= small->shape[axis];
            from += i * small->stride[axis];
            to += (i + large->shape[axis] - small->shape[axis]) * large->stride[axis];
        }
        if (to_large)
            attest_store_bits(large, to, attest_load_bits(small, from));
        else
            attest_store_bits(small, from, attest_load_bits(large, to));
    }
}

void attest_extract(const attest_tensor *to, const attest_tensor *from) { copy_last(to, from, 0); }

/* Draws the inputs of prepared->larger. */
static attest_status draw_larger(attest_prepared *prepared, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    attest_prepared *larger = prepared->larger;
    const size_t count = attest_problem_inputs(&larger->c.problem, ids, ATTEST_MAX_TENSORS);
    ATTEST_TRY(attest_bundle_new(&larger->inputs, err));
    status = attest_draw_missing(larger->inputs, &larger->c, 0, 0, err);
    if (status != ATTEST_OK) {
        attest_bundle_free(larger->inputs);
        larger->inputs = NULL;
        return status == ATTEST_BAD_INPUT ? ATTEST_OK : status; /* a family that does not serve the larger sizes */
    }
    for (size_t k = 0; k < count; k++) {
        const attest_tensor *small = attest_bundle_get(prepared->inputs, ids[k]);
        const attest_tensor *large = attest_bundle_get(larger->inputs, ids[k]);
        if (small && large)
            copy_last(small, large, 1);
    }
out:
    return status;
}

attest_status attest_embed(attest_prepared *prepared, attest_error *err)
{
    if (prepared->larger)
        return ATTEST_OK;
    prepared->larger = calloc(1, sizeof *prepared->larger);
    if (!prepared->larger)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a case");
    prepared->larger->c = prepared->c;
    attest_problem *p = &prepared->larger->c.problem;
    /* what a head does goes by how many there are */
    const int counted = p->axis[ATTEST_AXIS_ALIBI].value == ATTEST_ALIBI_USUAL;
    const int heads = attest_bundle_role(prepared->inputs, ATTEST_Q_HEAD_LOGITS) == NULL && !counted;
    p->b += 2;
    p->hq *= heads ? 2 : 1;
    p->hkv *= heads ? 2 : 1;
    prepared->larger->c.seed ^= (uint64_t)1 << 40;
    const attest_status status = attest_cover_affordable(&prepared->larger->c) ? draw_larger(prepared, err) : ATTEST_OK;
    if (status != ATTEST_OK) { /* the next kernel tries again */
        attest_prepared_clear(prepared->larger);
        free(prepared->larger);
        prepared->larger = NULL;
    }
    return status;
}
