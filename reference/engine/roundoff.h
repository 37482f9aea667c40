/* roundoff.h - what many roundings come to, as upper bounds: mag_t rounds up. */
#ifndef ATTEST_ROUNDOFF_H
#define ATTEST_ROUNDOFF_H

#include <stdint.h>

#include "reference/engine/flint_headers.h"

/* n u/(1 - n u), infinite where n u >= 1 (R-GAMMA). */
void bound_gamma(mag_t g, int64_t n, const mag_t u);
/* lambda sqrt(n) u (1 + gamma_n), or gamma_n where that is smaller (R-PROBABILISTIC). */
#define BOUND_LAMBDA 4
void bound_probabilistic_gamma(mag_t g, int64_t n, const mag_t u);
/* (1+x)(1+y)-1 */
void bound_compose(mag_t z, const mag_t x, const mag_t y);
/* Half the least subnormal of `dtype`, or 2^emin where results are flushed. */
void bound_tiny(mag_t t, uint32_t dtype, uint32_t flags);

#endif
