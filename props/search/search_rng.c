/* search_rng.c - see search_rng.h. */
#include "props/search/search_rng.h"

#include "props/draw/draw.h"

typedef struct stream_state {
    attest_stream stream;
    uint64_t next; /* word: four a counter */
    uint32_t words[4];
} stream_state;

static void stream_set(void *state, unsigned long seed)
{
    stream_state *s = state;
    s->stream.seed = seed;
    s->stream.tensor = ATTEST_SEARCH_STREAM;
    s->next = 0;
}

static unsigned long stream_get(void *state)
{
    stream_state *s = state;
    if (s->next % 4 == 0)
        attest_draw_words(s->words, &s->stream, 0, s->next / 4);
    return s->words[s->next++ % 4];
}

static double stream_get_double(void *state) { return (double)stream_get(state) * 0x1p-32; }

static const gsl_rng_type stream_type = { "attest-philox", UINT32_MAX,       0, sizeof(stream_state), stream_set,
                                          stream_get,      stream_get_double };

gsl_rng *attest_search_rng(uint64_t seed, uint32_t chain)
{
    gsl_rng *rng = gsl_rng_alloc(&stream_type);
    if (!rng)
        return NULL;
    stream_state *s = gsl_rng_state(rng);
    s->stream.case_number = chain;
    gsl_rng_set(rng, seed);
    return rng;
}
