/* generate_draw.h - the choices behind a problem line, for those who draw lines: props/generate and props/cover.
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

/* Each size to the nearest that the kernel's limits allow, up before down; a default scale stays one. */
void attest_keep_limits(attest_problem *p, const attest_limits *limits);

/* Smaller sizes where the case would take long, or its states would be large; 0 if they are large all the same.  What
 * the kernel's limits allow is kept, a default scale stays one. */
int attest_limit_sizes(attest_case *c, attest_dice *dice, const attest_prop_kernel *kernel, uint32_t attempt);

/* Parts of a line, each drawn for itself: an order, a filter's threshold, types, the scale; the family, which the
 * variant may choose. */
uint32_t attest_draw_order(attest_dice *dice);
double attest_draw_tau(attest_dice *dice);
void attest_draw_types(attest_problem *p, attest_dice *dice);
void attest_draw_scale(attest_problem *p, attest_dice *dice, const char *family);
void attest_draw_family_name(attest_case *c, attest_dice *dice);

/* Sets an axis to a value with a drawn number, and what must go with it. */
void attest_redraw_axis(attest_case *c, attest_dice *dice, attest_axis axis, uint32_t value);

/* Any of the families that are drawn, each as likely as another, whatever the variant. */
void attest_redraw_family(attest_case *c, attest_dice *dice);

/* The rows of types that are drawn; row(): that of the problem, ATTEST_TYPES_ROWS for others. */
enum { ATTEST_TYPES_ROWS = 12 };
size_t attest_types_row(const attest_problem *p);
void attest_types_set(attest_problem *p, size_t row);

/* 1 if the line contradicts nothing that a kernel need not be asked about. */
int attest_line_consistent(const attest_case *c);

/* 1 if a whole line of attempt `attempt`, that contradicts nothing, was drawn into *c; nobody was asked. */
int attest_draw_line(attest_case *c, uint64_t seed, uint32_t number, uint32_t attempt,
                     const attest_prop_kernel *kernel);

#endif
