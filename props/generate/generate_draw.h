/* generate_draw.h - private to props/: the choices behind a problem line.
 *
 * Choices of attempt a of case N are words of the stream of draws under a tensor number of their own, index 2^16 a + k:
 * what one attempt draws does not depend on how many words the attempts before it took.
 */
#ifndef ATTEST_GENERATE_DRAW_H
#define ATTEST_GENERATE_DRAW_H

#include "props/generate/generate.h"
#include "props/draw/draw.h"

typedef struct attest_dice {
    attest_stream stream;
    uint64_t next;
} attest_dice;

void attest_dice_init(attest_dice *dice, uint64_t seed, uint32_t number, uint32_t attempt);

/* Uniform in 0..sides-1 (to 2^-32 sides). */
uint32_t attest_dice_roll(attest_dice *dice, uint32_t sides);

/* Row of a table whose rows start with a uint32_t weight. */
size_t attest_dice_row(attest_dice *dice, const void *table, size_t rows, size_t bytes);
#define ATTEST_DICE_PICK(dice, table)                                                                                  \
    (&(table)[attest_dice_row(dice, table, sizeof(table) / sizeof(table)[0], sizeof(table)[0])])
#define ATTEST_DICE_ANY(dice, table) ((table)[attest_dice_roll(dice, (uint32_t)(sizeof(table) / sizeof(table)[0]))])

/* Sizes, heads, chunk and splits of a case whose variant is drawn; `attempt`: late ones try sizes that kernels of fixed
 * tiles want. */
void attest_draw_sizes(attest_case *c, attest_dice *dice, const attest_prop_kernel *kernel, uint32_t number,
                       uint32_t attempt);

/* Smaller sizes where the case would take long, or its states would be large; 0 if they are large all the same.  A
 * default scale stays one. */
int attest_limit_sizes(attest_case *c, attest_dice *dice, const attest_prop_kernel *kernel, uint32_t attempt);

/* 1 if a whole line of attempt `attempt`, that contradicts nothing, was drawn into *c; nobody was asked. */
int attest_draw_line(attest_case *c, uint64_t seed, uint32_t number, uint32_t attempt,
                     const attest_prop_kernel *kernel);

#endif
