/* bench.h - how long engines, kernels and peers take, side by side.
 *
 * Answers: medians, spreads and ratios of rounds (bench_rounds.h), and for one problem its inputs, its jobs, their
 * times and how they are printed (bench_table.h).  Uses the truth, the kernels and their peers in one process; judges
 * an output only through verify/compare.  Knows no command line.
 */
#ifndef ATTEST_BENCH_H
#define ATTEST_BENCH_H

#include "verify/bench/bench_rounds.h"
#include "verify/bench/bench_table.h"

#endif
