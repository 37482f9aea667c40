/* tiles.h - states in registers while a block of tokens and queries goes by: what the Taylor kernels share.
 *
 * ROWS monomials and two columns of channels (columns.h), or fewer monomials and three columns, are held at a time:
 * each token of the block enters before the next, and a query reads where it stands.  A state moves between memory and
 * registers once a block.
 * Errors     a token: one multiply-add an entry, with decays a product more; a query: one multiply-add a monomial, and
 *            an addition a group.
 */
#ifndef ATTEST_FAST_TILES_H
#define ATTEST_FAST_TILES_H

#include "fast/taylor/columns.h"

enum { TILES_VECS = 3, TILES_ROWS = ROWS, TILES_ROWS_OF_3 = ROWS == 16 ? 8 : ROWS * 2 / 3 };

/* So many monomials are summed by themselves: hundreds, one by one, would each round the whole sum.  A multiple of
 * every tile's rows, so that the bits do not depend on the vectors. */
enum { TILES_GROUP = 48 };
_Static_assert(TILES_GROUP % TILES_ROWS == 0 && TILES_GROUP % TILES_ROWS_OF_3 == 0 && TILES_ROWS_OF_3 % 2 == 0,
               "groups");

/* What a tile reads: from `column` on, and from the state's row `at` on. */
typedef struct tiles_tile {
    float *s;               /* the state there */
    float *const *u;        /* what each query read so far: its row of u, from channel 0 on */
    const float *k, *q, *v; /* k and q [rows][TILES_UNIT]; v [TILES_UNIT][channels] */
    const float *decay;     /* NULL: none.  Those of rows are `apart` */
    const int64_t *until;   /* of each query */
    int64_t column, states, apart, channels, tokens, reads;
} tiles_tile;

#ifndef tiles_add
/* s becomes a s + x v; a = 1 without decays. */
static inline vec tiles_add(vec s, vec a, vec x, vec v, int decays)
{
    return decays ? vec_fma(s, a, x * v) : vec_fma(x, v, s);
}
#endif

/* Token t enters: k, v and decay are its own. */
static inline __attribute__((always_inline)) void tiles_enter(vec s[TILES_ROWS][TILES_VECS], const float *k,
                                                              const float *v, const float *decay, int64_t apart,
                                                              int rows, int vecs)
{
    vec value[TILES_VECS];
    for (int c = 0; c < vecs; c++)
        value[c] = vec_load(v + c * LANES);
    for (int n = 0; n < rows; n++) {
        const vec x = vec_of(k[n * TILES_UNIT]), a = vec_of(decay ? decay[n * apart] : 1);
        for (int c = 0; c < vecs; c++)
            s[n][c] = tiles_add(s[n][c], a, x, value[c], decay != NULL);
    }
}

/* u += <q, s> of so many rows. */
static inline __attribute__((always_inline)) void tiles_read(float *u, vec s[TILES_ROWS][TILES_VECS], const float *q,
                                                             int rows, int vecs)
{
    vec sum[TILES_VECS];
    for (int c = 0; c < vecs; c++)
        sum[c] = vec_load(u + c * LANES);
    for (int n = 0; n < rows; n++)
        for (int c = 0; c < vecs; c++)
            sum[c] = vec_fma(vec_of(q[n * TILES_UNIT]), s[n][c], sum[c]);
    for (int c = 0; c < vecs; c++)
        vec_store(u + c * LANES, sum[c]);
}

/* The block goes by `rows` monomials and `vecs` columns. */
static inline __attribute__((always_inline)) void tiles_pass(const tiles_tile *tile, int rows, int vecs, int decays)
{
    const float *k = tile->k, *q = tile->q, *v = tile->v, *decay = decays ? tile->decay : NULL;
    const int64_t *until = tile->until;
    const int64_t apart = tile->apart, channels = tile->channels, reads = tile->reads, between = tile->states * LANES;
    vec s[TILES_ROWS][TILES_VECS];
    for (int n = 0; n < rows; n++)
        for (int c = 0; c < vecs; c++)
            s[n][c] = vec_load(tile->s + c * between + n * LANES);
    int64_t t = 0;
    for (int64_t i = 0; i < reads; i++) {
        for (; t < until[i]; t++)
            tiles_enter(s, k + t, v + t * channels, decays ? decay + t : NULL, apart, rows, vecs);
        tiles_read(tile->u[i] + tile->column * LANES, s, q + i, rows, vecs);
    }
    for (; t < tile->tokens; t++)
        tiles_enter(s, k + t, v + t * channels, decays ? decay + t : NULL, apart, rows, vecs);
    for (int n = 0; n < rows; n++)
        for (int c = 0; c < vecs; c++)
            vec_store(tile->s + c * between + n * LANES, s[n][c]);
}

#define TILES_PASS(rows, vecs, decays)                                                                                 \
    static void tiles_pass_##rows##_##vecs##_##decays(const tiles_tile *tile) { tiles_pass(tile, rows, vecs, decays); }
#define TILES_PASSES(rows, vecs) TILES_PASS(rows, vecs, 0) TILES_PASS(rows, vecs, 1)
TILES_PASSES(TILES_ROWS, 1)
TILES_PASSES(TILES_ROWS, 2)
TILES_PASSES(TILES_ROWS_OF_3, 3)
TILES_PASSES(2, 1)
TILES_PASSES(2, 2)
TILES_PASSES(2, 3)
TILES_PASSES(1, 1)
TILES_PASSES(1, 2)
TILES_PASSES(1, 3)

#define TILES_BOTH(rows, vecs)                                                                                         \
    {                                                                                                                  \
        tiles_pass_##rows##_##vecs##_0, tiles_pass_##rows##_##vecs##_1                                                 \
    }

#ifndef tiles_left
/* Rows that are not worked off yet. */
static inline int64_t tiles_left(int64_t states, int64_t at) { return states - at; }
#endif

/* A block, as all its tiles see it. */
typedef struct tiles_block {
    const monomials *a;
    float *state;           /* [columns][rows][LANES] */
    float *const *u;        /* of each query, its row of u: sums are added to it */
    const float *k, *q, *v; /* k and q [all rows][TILES_UNIT], v [tokens][channels]; no queries: q NULL */
    const float *decay;     /* NULL: none; [TILES_UNIT], or of each row where they are `apart` */
    const int64_t *until;   /* of each query, how many of the block's tokens it sees */
    int64_t channels, tokens, reads;
    int apart;
} tiles_block;

/* What each query read of groups that are done. */
typedef struct tiles_sums {
    vec u[TILES_UNIT][TILES_VECS];
} tiles_sums;

/* A group is done: what was read of it joins the sums, or is the first of them, and the next starts from 0. */
static void tiles_group(tiles_sums *sums, const tiles_block *b, int64_t column, int vecs, int first)
{
    for (int64_t i = 0; i < b->reads; i++)
        for (int c = 0; c < vecs; c++) {
            float *u = b->u[i] + (column + c) * LANES;
            sums->u[i][c] = first ? vec_load(u) : sums->u[i][c] + vec_load(u);
            vec_store(u, vec_of(0));
        }
}

/* The sums are what the queries read. */
static void tiles_joined(const tiles_sums *sums, const tiles_block *b, int64_t column, int vecs)
{
    for (int64_t i = 0; i < b->reads; i++)
        for (int c = 0; c < vecs; c++) {
            float *u = b->u[i] + (column + c) * LANES;
            vec_store(u, sums->u[i][c] + vec_load(u));
        }
}

/* All monomials of the columns [column, column + vecs). */
static void tiles_columns(const tiles_block *b, int64_t column, int vecs)
{
    typedef void pass(const tiles_tile *tile);
    static pass *const passes[TILES_VECS][3][2] = {
        { TILES_BOTH(1, 1), TILES_BOTH(2, 1), TILES_BOTH(TILES_ROWS, 1) },
        { TILES_BOTH(1, 2), TILES_BOTH(2, 2), TILES_BOTH(TILES_ROWS, 2) },
        { TILES_BOTH(1, 3), TILES_BOTH(2, 3), TILES_BOTH(TILES_ROWS_OF_3, 3) },
    };
    const int64_t states = monomials_states(b->a), first = monomials_first(b->a);
    const int64_t most = vecs == 3 ? TILES_ROWS_OF_3 : TILES_ROWS;
    tiles_sums sums;
    int groups = 0;
    for (int64_t at = 0, rows; tiles_left(states, at) > 0; at += rows) {
        const tiles_tile tile = { .s = b->state + (column * states + at) * LANES,
                                  .u = b->u,
                                  .column = column,
                                  .k = b->k + (first + at) * TILES_UNIT,
                                  .q = b->reads > 0 ? b->q + (first + at) * TILES_UNIT : NULL,
                                  .v = b->v + column * LANES,
                                  .decay = b->apart ? b->decay + at * TILES_UNIT : b->decay,
                                  .apart = b->apart ? TILES_UNIT : 0,
                                  .until = b->until,
                                  .states = states,
                                  .channels = b->channels,
                                  .tokens = b->tokens,
                                  .reads = b->reads };
        if (at > 0 && at % TILES_GROUP == 0)
            tiles_group(&sums, b, column, vecs, groups++ == 0);
        rows = tiles_left(states, at) >= most ? most : tiles_left(states, at) >= 2 ? 2 : 1;
        passes[vecs - 1][rows == most ? 2 : rows - 1][b->decay != NULL](&tile);
    }
    if (groups > 0)
        tiles_joined(&sums, b, column, vecs);
}

/* How many of the columns [column,last) go by together: three where that leaves none alone. */
static inline int tiles_vecs(int64_t column, int64_t last)
{
    return last - column == 3 ? 3 : last - column >= 2 ? 2 : 1;
}

#endif
