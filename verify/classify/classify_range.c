/* classify_range.c - a second look at the schedule, by range instead of rounding.
 *
 * weight=exp: A, B, C with scores 0, x and 2x, where e^-2x is 0 in acc; A has a huge value.  A kernel that knows the
 * maximum when it makes A's weight loses it; one that meets C in a later tile or part than B multiplies the value by
 * e^-x twice, and keeps it.  (classify_schedule.c compares bits of ordinary weights.)
 *
 * Polynomial weights and the delta rule: k v overflows in a state, and q k = 1 in a pair does not.
 */
#include <math.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "verify/classify/classify_private.h"

enum { KEYS = CLASSIFY_KEYS, SPLITS = 4 };

typedef struct stand {
    int64_t a, b, c;
} stand;

/* What was seen. */
typedef struct order {
    uint32_t schedule;
    int64_t tile, splits;
} order;

/* kept[n]: is A's value still there, for stand n?  *ran 0: no answer. */
static attest_status ask(int *kept, int *ran, probed_kernel *k, int64_t keys, int splits, const stand *at,
                         int64_t count, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int wide = k->types.acc == ATTEST_F64;
    const double x = wide ? 600 : 70;
    probe_run s;
    *ran = 0;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%lld m=%lld e=1 splits=%d", k->path->axes, (long long)count,
                             (long long)keys, splits));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    for (int64_t b = 0; b < count; b++) {
        for (int64_t j = 0; j < keys; j++)
            classify_score(&s, b, j, -1e4);
        classify_score(&s, b, at[b].a, 0);
        classify_score(&s, b, at[b].b, x);
        classify_score(&s, b, at[b].c, 2 * x);
        classify_put(&s, ATTEST_V, b, 0, at[b].a, 0, wide ? 0x1p1000 : 0x1p100);
    }
    ATTEST_TRY(classify_run(&s, err));
    *ran = s.ran;
    for (int64_t b = 0; b < count && s.ran; b++)
        kept[b] = classify_get(&s, ATTEST_O, b, 0, s.last, 0) > 0;
out:
    classify_close(&s);
    return status;
}

/* Mirrored, for kernels that begin at the last key. */
static stand turn(stand at, int64_t keys, int backwards)
{
    return backwards ? (stand){ keys - 1 - at.a, keys - 1 - at.b, keys - 1 - at.c } : at;
}

/* The nearest C behind A and B that finds A's value; 0: none. */
static attest_status find_tile(int64_t *tile, int *ran, probed_kernel *k, int64_t keys, int backwards,
                               attest_error *err)
{
    attest_status status = ATTEST_OK;
    stand at[KEYS];
    int kept[KEYS];
    int64_t count = 1;
    *tile = 0;
    at[0] = turn((stand){ 1, 2, 3 }, keys, backwards); /* only a tile of 1 parts these three */
    for (int64_t n = 2; n < keys; n++)
        at[count++] = turn((stand){ 0, 1, n }, keys, backwards);
    ATTEST_TRY(ask(kept, ran, k, keys, 1, at, count, err));
    for (int64_t n = 1; n < count && *ran && *tile == 0; n++)
        *tile = kept[n] ? n + 1 : 0;
    if (*tile == 2 && kept[0])
        *tile = 1;
out:
    return status;
}

/* Does a part end after a quarter of the keys where problem.splits is 4, and not where it is 1? */
static attest_status ends_with_part(int *ends, int *ran, probed_kernel *k, int64_t tile, int backwards,
                                    attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int64_t part = 4 * (tile > 0 ? tile : 32) + 1;
    const stand at = backwards ? (stand){ part + 1, part, part - 1 } : (stand){ part - 2, part - 1, part };
    int whole = 0, parted = 0;
    ATTEST_TRY(ask(&whole, ran, k, SPLITS * part, 1, &at, 1, err));
    if (*ran)
        ATTEST_TRY(ask(&parted, ran, k, SPLITS * part, SPLITS, &at, 1, err));
    *ends = parted && !whole;
out:
    return status;
}

static attest_status order_of_softmax(inference *out, order *seen, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t tile = 0, half = 0;
    int ran = 0, parts = 0, backwards = 0;
    if (strcmp(k->mask, "mask=full") != 0 || k->types.in == ATTEST_F16 || k->types.out == ATTEST_F16) {
        classify_hidden(out, "no value of f16 outlives a weight that is 0");
        return ATTEST_OK;
    }
    ATTEST_TRY(find_tile(&tile, &ran, k, KEYS, 0, err));
    if (ran && tile == 0) {
        ATTEST_TRY(find_tile(&tile, &ran, k, KEYS, 1, err));
        backwards = tile > 0;
    }
    if (tile > 0)
        ATTEST_TRY(find_tile(&half, &ran, k, KEYS / 2, backwards, err));
    ATTEST_TRY(ends_with_part(&parts, &ran, k, tile, backwards, err));
    if (!ran) {
        classify_hidden(out, NO_ANSWER);
        return ATTEST_OK;
    }
    *seen = (order){ parts  ? ATTEST_SCHEDULE_SPLIT
                     : tile ? ATTEST_SCHEDULE_ONLINE
                            : ATTEST_SCHEDULE_TWO_PASS,
                     tile, 0 };
    if (tile > 0 && half > 0 && half < tile)
        *seen = (order){ ATTEST_SCHEDULE_SPLIT, 0, classify_parts_of(tile) };
    classify_seen(out, seen->schedule);
out:
    return status;
}

/* Is token 0 of m lost in an overflow, with chunks of `chunk`?  -1: not to be asked. */
static attest_status overflows(int *lost, probed_kernel *k, int m, int chunk, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double large = k->types.acc == ATTEST_F64 ? 0x1p1000 : 0x1p100;
    probe_run s;
    *lost = -1;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=1 m=%d d=1 e=1 chunk=%d", k->path->axes, m, chunk));
    if (!s.bundle || k->types.in != k->types.acc)
        goto out;
    classify_fill(&s, ATTEST_Q, 1 / large);
    classify_put(&s, ATTEST_K, 0, 0, 0, 0, large);
    classify_put(&s, ATTEST_V, 0, 0, 0, 0, large);
    ATTEST_TRY(classify_run(&s, err));
    const double o = classify_get(&s, ATTEST_O, 0, 0, s.last, 0);
    if (s.ran)
        *lost = !(o > 0 && o <= 2 * large);
out:
    classify_close(&s);
    return status;
}

static attest_status states_overflow(int state[CLASSIFY_READS], probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(overflows(&state[CLASSIFY_NEAR], k, 2, 1024, err));
    ATTEST_TRY(overflows(&state[CLASSIFY_CLOSED], k, 8, 2, err));
    ATTEST_TRY(overflows(&state[CLASSIFY_FAR], k, 300, 1024, err));
out:
    return status;
}

static attest_status order_of_states(inference *out, order *seen, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int state[CLASSIFY_READS], one = 0;
    ATTEST_TRY(classify_ask_states(state, &one, states_overflow, k, err));
    if (state[CLASSIFY_NEAR] < 0 || state[CLASSIFY_CLOSED] < 0 || state[CLASSIFY_FAR] < 0) {
        classify_hidden(out, "no product beyond the range of acc could be asked for");
        return status;
    }
    classify_seen_states(out, state, one);
    seen->schedule = (uint32_t)out->value;
out:
    return status;
}

static attest_status order_of(inference *out, order *seen, probed_kernel *k, attest_error *err)
{
    *seen = (order){ 0 };
    return k->path->exponential ? order_of_softmax(out, seen, k, err) : order_of_states(out, seen, k, err);
}

attest_status classify_schedule_again(inference *out, probed_kernel *k, attest_error *err)
{
    order seen;
    return order_of(out, &seen, k, err);
}

attest_status classify_tile_again(inference *out, probed_kernel *k, attest_error *err)
{
    order seen;
    const attest_status status = order_of(out, &seen, k, err);
    if (out->visible)
        classify_seen(out, seen.tile > 0 ? (double)seen.tile : INFINITY);
    return status;
}

attest_status classify_splits_again(inference *out, probed_kernel *k, attest_error *err)
{
    order seen;
    const attest_status status = order_of(out, &seen, k, err);
    if (out->visible)
        classify_seen_parts(out, seen.schedule, seen.splits);
    return status;
}
