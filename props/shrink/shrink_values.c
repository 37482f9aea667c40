/* shrink_values.c - makes the elements of explicit tensors simple: 0, 1, -1, small integers, powers of two, fewer bits;
 * a whole tensor first, then halves of it, down to single elements.  An element only changes to a simpler one that is
 * legal where it stands.
 */
#include "props/shrink/shrink_private.h"

#include "kernels/attest_float.h"

#include <math.h>
#include <stdlib.h>

/* ---- what is simple ----------------------------------------------------------------------------------------- */

static double zero(double x)
{
    (void)x;
    return 0;
}

static double one(double x)
{
    (void)x;
    return 1;
}

static double sign_of(double x) { return x < 0 ? -1 : 1; }

static double small_integer(double x) { return fabs(x) <= 8 ? rint(x) : x; }

/* Towards 0: |x| never grows. */
static double power_of_two(double x)
{
    int exponent;
    const double fraction = frexp(x, &exponent);
    return isfinite(x) && x != 0 ? ldexp(fraction < 0 ? -1 : 1, exponent - 1) : x;
}

/* Half the exponent. */
static double nearer_to_one(double x)
{
    int exponent;
    const double fraction = frexp(x, &exponent);
    return isfinite(x) && x != 0 ? ldexp(2 * fraction, (exponent - 1) / 2) : x;
}

/* Bits of the significand up to the last one that is set. */
static int significant_bits(double x)
{
    int exponent, bits = 0;
    double rest = fabs(frexp(x, &exponent));
    for (; rest > 0; bits++) {
        rest *= 2;
        rest -= rest >= 1;
    }
    return bits;
}

/* The upper half of the bits, the rest cut off. */
static double fewer_bits(double x)
{
    int exponent;
    if (!isfinite(x) || x == 0)
        return x;
    const int kept = (significant_bits(x) + 1) / 2;
    const double fraction = frexp(x, &exponent);
    return ldexp(trunc(ldexp(fraction, kept)), exponent - kept);
}

static double (*const simpler[])(double x) = { zero,         one,        sign_of,      small_integer,
                                               power_of_two, fewer_bits, nearer_to_one };
enum { SIMPLER = sizeof simpler / sizeof simpler[0] };

/* 0 < 1 < -1 < 2 .. < many bits < infinities and NaN. */
static int cost(double x)
{
    int exponent;
    if (!isfinite(x))
        return 10000;
    if (x == 0)
        return signbit(x) ? 1 : 0;
    (void)frexp(x, &exponent);
    return 2 + 2 * (significant_bits(x) - 1) + abs(exponent - 1) + (x < 0);
}

/* ---- what is legal ------------------------------------------------------------------------------------------ */

typedef int (*legal)(double x, double old);

static int any(double x, double old)
{
    (void)old;
    return isfinite(x);
}

static int in_unit(double x, double old)
{
    (void)old;
    return x > 0 && x <= 1;
}

static int positive(double x, double old)
{
    (void)old;
    return x > 0;
}

/* Keys of a delta rule and what it writes: b |phi(k)|^2 stays below 2. */
static int no_larger(double x, double old) { return fabs(x) <= fabs(old); }
static int no_larger_write(double x, double old) { return x >= 0 && x <= old; }

/* A logarithm of a decay: it forgets no more than before. */
static int between(double x, double old) { return x <= 0 && x >= old; }

static const legal legal_role[ATTEST_TENSOR_ROLES] = {
    [ATTEST_GOUT] = in_unit,  [ATTEST_GIN] = in_unit,    [ATTEST_DECAY] = in_unit,
    [ATTEST_GAMMA] = in_unit, [ATTEST_SLOPE] = positive, [ATTEST_BETA] = no_larger_write,
};

static legal legal_of(const attest_problem *p, attest_tensor_id id)
{
    if (id.kind == ATTEST_KIND_ROLE && id.index == ATTEST_K &&
        attest_axis_value_of(p, ATTEST_AXIS_UPDATE) != ATTEST_UPDATE_ADD)
        return no_larger;
    if (id.kind == ATTEST_KIND_ROLE && id.index == ATTEST_DECAY && attest_log_decays(p))
        return between;
    return id.kind == ATTEST_KIND_ROLE && legal_role[id.index] ? legal_role[id.index] : any;
}

/* ---- one candidate ------------------------------------------------------------------------------------------ */

static double changed(double (*change)(double), legal allowed, uint32_t dtype, double old)
{
    const double x = attest_to_f64(dtype, attest_from_f64(dtype, change(old)));
    return allowed(x, old) && cost(x) < cost(old) ? x : old;
}

/* Elements first..last-1 of one tensor changed; *any_change = 0: there is nothing to change. */
static attest_status offer_change(int *any_change, int *kept, attest_shrinker *s, attest_tensor_id id, int64_t first,
                                  int64_t last, double (*change)(double), attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_example candidate = { .inputs = NULL };
    const attest_tensor *old = attest_bundle_get(s->best->example.inputs, id);
    const legal allowed = legal_of(&s->best->example.c.problem, id);
    *kept = *any_change = 0;
    for (int64_t x = first; x < last; x++) {
        const double value = attest_load(old, x), next = changed(change, allowed, old->dtype, value);
        if (cost(next) == cost(value))
            continue;
        if (!candidate.inputs)
            ATTEST_TRY(attest_example_copy(&candidate, &s->best->example, err));
        *any_change = 1;
        attest_store_bits(attest_bundle_get(candidate.inputs, id), x, attest_from_f64(old->dtype, next));
    }
    if (*any_change)
        ATTEST_TRY(attest_shrink_offer(kept, s, &candidate, err));
out:
    attest_example_clear(&candidate);
    return status;
}

/* States are symmetric and long: only as a whole. */
static attest_status simplify(attest_shrinker *s, attest_tensor_id id, double (*change)(double), attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int64_t count = attest_tensor_count(attest_bundle_get(s->best->example.inputs, id));
    const int64_t least = id.kind == ATTEST_KIND_ROLE ? 1 : count;
    for (int64_t width = count; width >= least; width = width > 1 ? (width + 1) / 2 : 0) {
        int more = 0;
        for (int64_t at = 0; at < count && !attest_shrink_spent(s); at += width) {
            int change_here, kept;
            ATTEST_TRY(
                offer_change(&change_here, &kept, s, id, at, at + width < count ? at + width : count, change, err));
            more |= change_here && !kept;
        }
        if (!more)
            break;
    }
out:
    return status;
}

/* ---- lengths ------------------------------------------------------------------------------------------------ */

/* len of entry b: all keys, then half way there, then one more; len_q likewise. */
static attest_status offer_length(int *kept, attest_shrinker *s, attest_tensor_id id, int64_t b, int step,
                                  attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_example candidate = { .inputs = NULL };
    const attest_problem *p = &s->best->example.c.problem;
    const int64_t m = id.index == ATTEST_Q_LENS ? p->n : p->m;
    const int64_t old = attest_load_int(attest_bundle_get(s->best->example.inputs, id), b);
    const int64_t candidates[] = { m, (old + m + 1) / 2, old + 1 };
    *kept = 0;
    if (old >= m)
        return ATTEST_OK;
    ATTEST_TRY(attest_example_copy(&candidate, &s->best->example, err));
    attest_store_bits(attest_bundle_get(candidate.inputs, id), b, (uint64_t)candidates[step]);
    if (p->axis[ATTEST_AXIS_LENS_Q].value == ATTEST_LENS_Q_LEN) { /* both are the same */
        attest_store_bits(attest_bundle_role(candidate.inputs, ATTEST_KV_LENS), b, (uint64_t)candidates[step]);
        attest_store_bits(attest_bundle_role(candidate.inputs, ATTEST_Q_LENS), b, (uint64_t)candidates[step]);
    }
    ATTEST_TRY(attest_shrink_offer(kept, s, &candidate, err));
out:
    attest_example_clear(&candidate);
    return status;
}

static attest_status simplify_lengths(attest_shrinker *s, attest_tensor_id id, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (int64_t b = 0; b < s->best->example.c.problem.b; b++)
        for (int step = 0; step < 3 && !attest_shrink_spent(s); step++) {
            int kept;
            ATTEST_TRY(offer_length(&kept, s, id, b, step, err));
            step = kept ? -1 : step;
        }
out:
    return status;
}

attest_status attest_shrink_values(attest_shrinker *s, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&s->best->example.c.problem, ids, ATTEST_MAX_TENSORS);
    for (size_t k = 0; k < count; k++) {
        if (ids[k].kind == ATTEST_KIND_ROLE && (ids[k].index == ATTEST_KV_LENS || ids[k].index == ATTEST_Q_LENS)) {
            ATTEST_TRY(simplify_lengths(s, ids[k], err));
            continue;
        }
        if (ids[k].kind == ATTEST_KIND_ROLE && /* shrink_parts.c leaves rows and keys out */
            (ids[k].index == ATTEST_MASK || ids[k].index == ATTEST_KEEP))
            continue;
        for (int change = 0; change < (ids[k].kind == ATTEST_KIND_ROLE ? SIMPLER : 1); change++)
            ATTEST_TRY(simplify(s, ids[k], simpler[change], err));
    }
out:
    return status;
}
