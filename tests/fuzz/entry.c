/* entry.c - libFuzzer's entry points for the harness that FUZZ_READER names. */
#include "tests/fuzz/fuzz.h"

extern const fuzz_reader FUZZ_READER;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_READER.take(data, size);
    return 0;
}

/* By the format's structure and by bytes, in turn. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    if (FUZZ_READER.mutate && fuzz_random(&seed) % 2 == 0)
        return FUZZ_READER.mutate(data, size, most, seed);
    return LLVMFuzzerMutate(data, size, most);
}
