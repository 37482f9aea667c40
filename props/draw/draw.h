/* draw.h - inputs of a problem: the same bits for the same line, on any machine and for any shape around them.
 *
 * Answers: which families of inputs there are and what a tensor of one holds (family.h), the frozen stream of random
 * words behind them (rng.h).  distribution_parts.h, the exact arithmetic of drawn values, is a header of its own: the
 * search shares it.  Reads files for `trace:DIR` through kernels/npy.  Knows no property, no kernel and no truth.
 */
#ifndef ATTEST_DRAW_H
#define ATTEST_DRAW_H

#include "props/draw/family.h"
#include "props/draw/rng.h"

#endif
