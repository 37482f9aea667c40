/* rng.c - the addressing of rng.h over Random123's Philox4x32-10. */
#include "props/draw/rng.h"

#include <Random123/philox.h>

uint64_t attest_draw_index(int64_t b, int64_t h, int64_t token, int64_t channel)
{
    return ((uint64_t)b & 0xfffu) << 52 | ((uint64_t)h & 0xfffu) << 40 | ((uint64_t)token & 0xffffffu) << 16 |
           ((uint64_t)channel & 0xffffu);
}

void attest_draw_words(uint32_t words[4], const attest_stream *stream, uint32_t block, uint64_t index)
{
    const philox4x32_key_t key = { { (uint32_t)stream->seed, (uint32_t)(stream->seed >> 32) } };
    const philox4x32_ctr_t counter = { { stream->case_number, stream->tensor + (block << 16), (uint32_t)index,
                                         (uint32_t)(index >> 32) } };
    const philox4x32_ctr_t drawn = philox4x32_R(10, counter, key);
    for (int i = 0; i < 4; i++)
        words[i] = drawn.v[i];
}

int64_t attest_draw_normal(const attest_stream *stream, uint64_t index)
{
    int64_t sum = -6 * (int64_t)UINT32_MAX; /* 12 words of mean (2^32-1)/2 and variance about 2^64/12 */
    for (uint32_t block = 0; block < 3; block++) {
        uint32_t words[4];
        attest_draw_words(words, stream, block, index);
        sum += (int64_t)words[0] + words[1] + words[2] + words[3];
    }
    return sum;
}
