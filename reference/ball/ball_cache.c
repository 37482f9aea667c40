/* ball_cache.c - what the rows of one head share: decoded blocks, states of the delta rule. */
#include "reference/ball/ball.h"

#include <string.h>

void ref_ball_cache_init(ref_ball_cache *cache) { memset(cache, 0, sizeof *cache); }

void ref_ball_cache_clear(ref_ball_cache *cache)
{
    ref_block_clear(&cache->k);
    ref_block_clear(&cache->v);
    ref_block_clear(&cache->gin);
    ref_delta_runs_free(cache->delta);
    cache->delta = NULL;
}
