/* late_query_undecayed - the state is read as of its last key; the decays after it are lost: rows beyond len_b, and
 * n > m. */
#include "cpu/steps/heads.h"

static inline void query_as_is(real *f, real *x, const row *r)
{
    row last = *r;
    attest_problem p = *r->p;
    p.axis[ATTEST_AXIS_DECAY].value = ATTEST_DECAY_NONE;
    last.p = &p;
    heads_query(f, x, &last);
}
#define heads_query query_as_is
#define attest_kernel_taylor_recurrent_f32 attest_defect_late_query_undecayed
#include "cpu/taylor_recurrent_f32.c"
