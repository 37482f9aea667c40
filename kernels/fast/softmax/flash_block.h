/* flash_block.h - what the loops of flash_kernel.h hand each other: the call, a block of queries, a part of a tile. */
#ifndef ATTEST_FAST_FLASH_BLOCK_H
#define ATTEST_FAST_FLASH_BLOCK_H

#include "fast/simd.h"
#include "fast/softmax/flash.h"

#ifndef FLASH_PART
#define FLASH_PART PANEL /* keys of a tile that an arithmetic takes together */
#endif

enum { FLASH_GROUPS = FLASH_QUERIES / ROWS, FLASH_PANELS = FLASH_KEYS / PANEL };
_Static_assert((int)PANEL <= (int)FLASH_PANEL_MOST && FLASH_KEYS % PANEL == 0 && FLASH_QUERIES % ROWS == 0, "blocking");
_Static_assert(FLASH_KEYS % FLASH_PART == 0 && FLASH_PART % PANEL == 0, "parts");

/* A call under way; the same for all threads. */
typedef struct flash {
    const attest_problem *p;
    const attest_tensors *t;
    flash_layout at;
    float *shared;
    int steps, filter, plain_rows; /* score_steps() does something; so does a filter; o is u/l, and no more */
} flash;

/* Up to FLASH_QUERIES queries of a head. */
typedef struct flash_block {
    const flash *x;
    row r[FLASH_QUERIES]; /* those from `rows` on see nothing */
    int64_t rows;
    const float *keys, *values; /* packed, of the KV head */
    const unsigned char *rough;
    float *q, *o, *s, *raw, *sum, *m, *highest, *row, *D;
} flash_block;

/* A group and a tile: what its rows see of the tile's keys, and where they see it, FLASH_PART keys at a time. */
typedef struct flash_part {
    int low[ROWS], high[ROWS]; /* keys [low,high) of the tile; none: 0, 0 */
    int first, last;           /* of those keys, all rows together */
    int whole;                 /* every row sees all of these */
    int64_t group, tile;
} flash_part;

/* Which lanes from key j of the tile on does row n see? */
static inline ivec flash_seen(const flash_part *part, int n, int j)
{
    const ivec key = ivec_lanes() + j;
    return (key >= part->low[n]) & (key < part->high[n]);
}

#endif
