/* chunk_first_token_lost - off by one at the boundary: the token is in neither part until the chunk closes. */
#include "cpu/steps/chunk.h"

static inline real read_from_second(chunk *a, real *u, real *x, real f, const row *r, double scale)
{
    chunk b = *a;
    const int64_t skip = a->count > 1;
    b.k += skip * token_dim(r->p);
    b.v += skip * r->p->e;
    b.from += skip;
    b.count -= skip;
    return chunk_read(&b, u, x, f, r, scale);
}
#define chunk_read read_from_second
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_first_token_lost
#include "cpu/taylor_chunk_f32.c"
