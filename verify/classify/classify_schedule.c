/* classify_schedule.c - in which order a kernel works.
 *
 * weight=exp: three keys A, B, C with rising scores 0, x, x+y, all others far below; o is the weight of A.  A kernel
 * that knows the maximum when it makes that weight gives e^-(x+y) in one exponential; one that meets C after A in a
 * later tile or part gives e^-x e^-y, two roundings more, whose bits differ for some of 16 pairs x, y.  So the nearest
 * C behind A with other bits is the first key of the next tile.  Parts of a split kernel do the same at places that
 * move with the number of keys, or with problem.splits.
 *
 * Polynomial weights and the delta rule: q = (1,1), k = (K, 1-K) has the product 1 exactly, and pairs give v back;
 * states hold K v and (1-K) v, rounded, and lose about K times as much as they add up again.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "verify/classify/classify_private.h"

enum { PAIRS = 16, KEYS = CLASSIFY_KEYS, SPLITS = 4 };
#define SCORE_B 11.0390625 /* exact with the factors 1 + i/32 of the queries, in float */
#define SCORE_C 49.5546875 /* C's weight of 1 is the whole denominator, in double too */
#define REST (-1e4)
#define LOST (-1)

/* ---- weight=exp ---------------------------------------------------------------------------------------------- */

/* Where A, B and C stand. */
typedef struct stand {
    int64_t a, b, c;
} stand;

/* Bits of A's weight for every pair; lost: one of them is not that weight, within the rounding of any cast. */
typedef struct answer {
    uint64_t o[PAIRS];
    int lost;
} answer;

static int same(const answer *x, const answer *y) { return memcmp(x->o, y->o, sizeof x->o) == 0; }

/* One answer for each of `count` stands; *ran 0: the kernel did not answer; LOST: not with weights, so that their bits
 * say nothing (a running mean takes off what it has added; f16 holds no weight so small). */
static attest_status ask(answer *answers, int *ran, probed_kernel *k, int64_t keys, int splits, const stand *at,
                         int64_t count, attest_error *err)
{
    attest_status status = ATTEST_OK;
    probe_run s;
    *ran = 0;
    ATTEST_TRY(classify_open_line(&s, k, err, "%s %s b=%lld n=%d m=%lld d=%d e=1 scale=1 splits=%d", k->path->axes,
                                  k->mask, (long long)count, PAIRS, (long long)keys,
                                  attest_format_of(k->types.in).p >= 24 ? 1 : 3, splits));
    if (!s.bundle)
        goto out;
    for (int64_t b = 0; b < count; b++) {
        for (int i = 0; i < PAIRS; i++)
            for (int c = 0; c < s.spread; c++)
                classify_put(&s, ATTEST_Q, b, 0, i, c, 1 + i / 32.0);
        for (int64_t j = 0; j < keys; j++)
            classify_score(&s, b, j, REST);
        classify_score(&s, b, at[b].a, 0);
        classify_score(&s, b, at[b].b, SCORE_B);
        classify_score(&s, b, at[b].c, SCORE_C);
        classify_put(&s, ATTEST_V, b, 0, at[b].a, 0, 1);
    }
    ATTEST_TRY(classify_run(&s, err));
    *ran = s.ran;
    for (int64_t b = 0; b < count && s.ran; b++) {
        answers[b].lost = 0;
        for (int i = 0; i < PAIRS; i++) {
            const double o = classify_get(&s, ATTEST_O, b, 0, i, 0), w = exp(-SCORE_C * (1 + i / 32.0));
            answers[b].o[i] = attest_f64_bits(o);
            answers[b].lost |= !(fabs(o - w) <= w / 16);
        }
        *ran = answers[b].lost ? LOST : *ran;
    }
out:
    classify_close(&s);
    return status;
}

/* The distance from A to the nearest C that rescales it, among `keys` keys; 0: not even the farthest one does.
 * `backwards`: from the end. */
static attest_status find_tile(int64_t *tile, int *ran, probed_kernel *k, int64_t keys, int backwards,
                               attest_error *err)
{
    attest_status status = ATTEST_OK;
    answer answers[KEYS];
    stand at[KEYS];
    int64_t count = 1;
    *tile = 0;
    at[0] = backwards ? (stand){ keys - 3, keys - 2, keys - 1 } : (stand){ 2, 1, 0 }; /* C first: one exponential */
    for (int64_t n = keys - 1; n >= 2; n--)
        at[count++] = backwards ? (stand){ keys - 1, keys - 2, keys - 1 - n } : (stand){ 0, 1, n };
    ATTEST_TRY(ask(answers, ran, k, keys, 1, at, 2, err));
    if (*ran != 1 || same(&answers[1], &answers[0]))
        return status;
    ATTEST_TRY(ask(answers, ran, k, keys, 1, at, count, err));
    for (int64_t n = 1; n < count && *ran == 1 && !same(&answers[n], &answers[0]); n++)
        *tile = keys - n;
out:
    return status;
}

/* A tile of 1 and one of 2 both part A from a C two behind it; with B before A, at an odd place, only a tile of 1 parts
 * A from the next key. */
static attest_status tell_one_from_two(int64_t *tile, int *ran, probed_kernel *k, int backwards, attest_error *err)
{
    const int64_t end = KEYS - 1;
    const stand at[2] = { backwards ? (stand){ end - 2, end - 1, end } : (stand){ 2, 1, 0 },
                          backwards ? (stand){ end - 2, end - 1, end - 3 } : (stand){ 2, 1, 3 } };
    answer answers[2];
    const attest_status status = ask(answers, ran, k, KEYS, 1, at, 2, err);
    if (*ran == 1 && !same(&answers[0], &answers[1]))
        *tile = 1;
    return status;
}

/* Does a part end after a quarter of the keys where problem.splits is 4?  C, in the part before (`backwards`: behind),
 * comes first: one exponential without parts, so that splits = 1 gives other bits. */
static attest_status ends_at(int *ends, int *ran, probed_kernel *k, int64_t part, int backwards, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const stand at = backwards ? (stand){ part - 1, part - 2, part } : (stand){ part, part + 1, part - 1 };
    answer whole, parted;
    *ends = 0;
    ATTEST_TRY(ask(&whole, ran, k, SPLITS * part, 1, &at, 1, err));
    if (*ran == 1)
        ATTEST_TRY(ask(&parted, ran, k, SPLITS * part, SPLITS, &at, 1, err));
    *ends = *ran == 1 && !same(&whole, &parted);
out:
    return status;
}

/* At a key inside a tile, and, as parts may be whole tiles, at the end of one. */
static attest_status ends_with_part(int *ends, int *ran, probed_kernel *k, int64_t tile, int backwards,
                                    attest_error *err)
{
    const int64_t tiles = 4 * (tile > 0 ? tile : 32);
    attest_status status = ends_at(ends, ran, k, tiles + 1, backwards, err);
    if (status == ATTEST_OK && *ran == 1 && !*ends && tile > 1)
        status = ends_at(ends, ran, k, tiles, backwards, err);
    return status;
}

static attest_status schedule_of_softmax(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t tile = 0, half = 0;
    int ran = 0, parts = 0, backwards = 0;
    if (strcmp(k->mask, "mask=full") != 0) {
        classify_hidden(out, "without mask=full the queries of a problem do not see the same keys");
        return ATTEST_OK;
    }
    ATTEST_TRY(find_tile(&tile, &ran, k, KEYS, 0, err));
    if (ran == 1 && tile == 0) {
        backwards = 1;
        ATTEST_TRY(find_tile(&tile, &ran, k, KEYS, 1, err));
    }
    if (tile > 0)
        ATTEST_TRY(find_tile(&half, &ran, k, KEYS / 2, backwards, err));
    if (tile == 2)
        ATTEST_TRY(tell_one_from_two(&tile, &ran, k, backwards, err));
    if (ran == 1)
        ATTEST_TRY(ends_with_part(&parts, &ran, k, tile, backwards && tile > 0, err));
    k->absorbs = ran == LOST;
    if (ran != 1) {
        classify_hidden(out, "%s", ran ? "a small weight does not come back from o as it went in" : NO_ANSWER);
        return status;
    }
    k->tile = tile;
    k->schedule = parts ? ATTEST_SCHEDULE_SPLIT : tile ? ATTEST_SCHEDULE_ONLINE : ATTEST_SCHEDULE_TWO_PASS;
    if (tile > 0 && half > 0 && half < tile) { /* it moves with the number of keys */
        k->schedule = ATTEST_SCHEDULE_SPLIT;
        k->splits = classify_parts_of(tile);
        k->tile = 0;
    }
    classify_seen(out, k->schedule);
out:
    return status;
}

/* ---- polynomial weights, delta rule -------------------------------------------------------------------------- */

/* The weight of a score of 1 over all weights, m - 1 of them of score 0. */
static double share_of_one(const probed_kernel *k, int m)
{
    const int taylor = k->path->mean && k->path->key == 0; /* 1 + s + s^2/2 */
    return taylor ? 2.5 / (2.5 + (m - 1)) : 1;
}

/* The largest relative error of token 0 of m, whose product is made of K and 1-K, with chunks of `chunk`; -1: not to be
 * asked. */
static attest_status lost_of_one(double *lost, probed_kernel *k, int m, int chunk, double K, attest_error *err)
{
    enum { VALUES = 16 };
    attest_status status = ATTEST_OK;
    probe_run s;
    *lost = -1;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=1 m=%d d=2 e=%d chunk=%d", k->path->axes, m, VALUES, chunk));
    if (!s.bundle)
        goto out;
    classify_fill(&s, ATTEST_Q, 1);
    classify_put(&s, ATTEST_K, 0, 0, 0, 0, K);
    const double rest = classify_put(&s, ATTEST_K, 0, 0, 0, 1, 1 - K);
    for (int c = 0; c < VALUES; c++)
        classify_put(&s, ATTEST_V, 0, 0, 0, c, 1 + classify_even(c));
    if (rest != 1 - K || k->types.in != k->types.acc)
        goto out;
    ATTEST_TRY(classify_run(&s, err));
    for (int c = 0; c < VALUES && s.ran; c++) {
        const double v = share_of_one(k, m) * classify_get(&s, ATTEST_V, 0, 0, 0, c);
        const double error = fabs(classify_get(&s, ATTEST_O, 0, 0, s.last, c) - v) / v;
        *lost = error <= *lost ? *lost : error == error ? error : INFINITY;
    }
out:
    classify_close(&s);
    return status;
}

/* Is token 0 of m read from a state?  A pair loses a unit or two whatever K is, a state about K/2, and so less of a
 * smaller K.  -1: neither, or not to be asked. */
static attest_status reads_state(int *state, probed_kernel *k, int m, int chunk, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double limit = 256 * classify_unit(k);
    double large, small;
    ATTEST_TRY(lost_of_one(&large, k, m, chunk, 0x1p13, err));
    ATTEST_TRY(lost_of_one(&small, k, m, chunk, 0x1p9, err));
    *state = large < 0 || small < 0 ? -1 : large <= limit ? 0 : small <= large / 4 ? 1 : -1;
out:
    return status;
}

static attest_status reads_states(int state[CLASSIFY_READS], probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(reads_state(&state[CLASSIFY_NEAR], k, 2, 1024, err));
    ATTEST_TRY(reads_state(&state[CLASSIFY_CLOSED], k, 8, 2, err));
    ATTEST_TRY(reads_state(&state[CLASSIFY_FAR], k, 300, 1024, err));
out:
    return status;
}

attest_status classify_ask_states(int state[CLASSIFY_READS], int *one, classify_reads *reads, probed_kernel *k,
                                  attest_error *err)
{
    attest_status status = ATTEST_OK;
    int causal[CLASSIFY_READS] = { -1, -1, -1 };
    const char *mask = k->mask;
    *one = 0;
    for (int n = 0; n < CLASSIFY_READS; n++)
        state[n] = -1;
    ATTEST_TRY(reads(state, k, err));
    if (state[CLASSIFY_NEAR] != 1 || strcmp(mask, "mask=full") != 0)
        return status;
    k->mask = "mask=causal";
    status = reads(causal, k, err);
    k->mask = mask;
    *one = causal[CLASSIFY_NEAR] < 0;
    if (!*one)
        memcpy(state, causal, sizeof causal);
out:
    return status;
}

void classify_seen_states(inference *out, const int state[CLASSIFY_READS], int one)
{
    const int behind = state[CLASSIFY_CLOSED] || state[CLASSIFY_FAR];
    classify_seen(out, state[CLASSIFY_NEAR] ? ATTEST_SCHEDULE_RECURRENT
                       : behind             ? ATTEST_SCHEDULE_CHUNK
                                            : ATTEST_SCHEDULE_DIRECT);
    if (!one)
        return;
    out->either = ATTEST_SCHEDULE_CHUNK;
    snprintf(out->why, sizeof out->why, "one state of all keys, under mask=full alone: chunk and recurrent are alike");
}

static attest_status schedule_of_states(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int state[CLASSIFY_READS], one = 0;
    ATTEST_TRY(classify_ask_states(state, &one, reads_states, k, err));
    if (state[CLASSIFY_NEAR] < 0 || state[CLASSIFY_CLOSED] < 0 ||
        (state[CLASSIFY_FAR] < 0 &&
         !state[CLASSIFY_CLOSED])) { /* behind a short chunk is enough: some refuse long ones */
        classify_hidden(out, "no product with rounded parts, in the types served, comes back as from pairs or states");
        return status;
    }
    classify_seen_states(out, state, one);
    k->schedule = (uint32_t)out->value;
out:
    return status;
}

attest_status classify_schedule(inference *out, probed_kernel *k, attest_error *err)
{
    return k->path->exponential ? schedule_of_softmax(out, k, err) : schedule_of_states(out, k, err);
}

attest_status classify_tile(inference *out, probed_kernel *k, attest_error *err)
{
    (void)err;
    if (!k->path->exponential)
        classify_hidden(out, "polynomial weights are not rescaled: no tile changes a bit");
    else if (k->schedule == ATTEST_SCHEDULE_UNKNOWN)
        classify_hidden(out, "the schedule is not visible");
    else
        classify_seen(out, k->tile > 0 ? (double)k->tile : INFINITY);
    return ATTEST_OK;
}

void classify_seen_parts(inference *out, uint32_t schedule, int64_t parts)
{
    if (schedule == ATTEST_SCHEDULE_SPLIT)
        classify_seen(out, (double)parts);
    else
        classify_hidden(out, "no part of a split kernel was seen");
}

attest_status classify_splits(inference *out, probed_kernel *k, attest_error *err)
{
    (void)err;
    classify_seen_parts(out, k->schedule, k->splits);
    return ATTEST_OK;
}
