/* results.h - changes of result files that keep most of their structure. */
#ifndef ATTEST_FUZZ_RESULTS_H
#define ATTEST_FUZZ_RESULTS_H

#include <stddef.h>
#include <stdint.h>

size_t fuzz_results_mutate(uint8_t *data, size_t size, size_t most, unsigned seed);

#endif
