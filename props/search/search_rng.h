/* search_rng.h - GSL's generator interface over the frozen Philox stream (rng.h): what gsl_siman draws is repeated
 * exactly by (seed, chain) on any machine.
 */
#ifndef ATTEST_SEARCH_RNG_H
#define ATTEST_SEARCH_RNG_H

#include <gsl/gsl_rng.h>
#include <stdint.h>

/* The words of block 0 at indices 0, 1, .., with case number `chain` and tensor number ATTEST_SEARCH_STREAM, which no
 * tensor of a draw has.  The caller's, freed by gsl_rng_free(); NULL without memory.  gsl_rng_set(rng, s) restarts it
 * with seed s, chain kept. */
#define ATTEST_SEARCH_STREAM 0xfffeu
gsl_rng *attest_search_rng(uint64_t seed, uint32_t chain);

#endif
