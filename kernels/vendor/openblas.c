/* openblas.c - vendor-openblas: Q K^T by sgemm, times scale, expf of s - max s, O = P V by sgemm, o_i / sum.  One
 * thread.
 *
 * All N x M products are formed, also those of masked pairs, whose weights are then 0: a masked value that is not
 * finite reaches the output.  The scale is not sgemm's alpha: where alpha is 0, BLAS does not read K and Q, and a NaN
 * there would be lost.  Built as a plugin where OpenBLAS is installed.
 */
#include <cblas.h>
#include <f77blas.h>
#include <math.h>
#include <string.h>

#include "full.h"

/* Row of products -> weights; returns their sum. */
static float weigh(float *restrict s, float scale, int64_t keys, int64_t m)
{
    float most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < keys; j++) {
        s[j] *= scale;
        most = s[j] > most ? s[j] : most;
    }
    for (int64_t j = 0; j < keys; j++) {
        s[j] = expf(s[j] - most);
        sum += s[j];
    }
    for (int64_t j = keys; j < m; j++)
        s[j] = 0;
    return sum;
}

/* c [rows,columns] = op(a) b, all column-major.  By the Fortran name: a host that links another C BLAS (GSL's,
 * say) already has a cblas_sgemm, and that one would be called. */
static void multiply(char transposed, int64_t rows, int64_t columns, int64_t inner, const float *a, const float *b,
                     float *c)
{
    char plain = 'N';
    float zero = 0, one = 1, *in[2];
    blasint r = (blasint)rows, n = (blasint)columns, k = (blasint)inner, lda = transposed == 'N' ? r : k;
    memcpy(in, (const float *[]){ a, b }, sizeof in); /* Fortran knows no const */
    sgemm_(&transposed, &plain, &r, &n, &k, &one, in[0], &lda, in[1], &k, &zero, c, &r);
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    const int64_t n = p->n, m = p->m;
    float *s = call->workspace, *sum = s + n * m;
    yard_head x;
    openblas_set_num_threads(1);
    for (int64_t head = 0; head < p->b * p->hq; head++) {
        if (!yard_head_of(&x, p, t, head))
            return ATTEST_UNSUPPORTED;
        multiply('T', m, n, p->d, x.k, x.q, s); /* s^T = K Q^T */
        for (int64_t i = 0; i < n; i++)
            sum[i] = weigh(s + i * m, (float)p->scale, yard_visible(p, i), m);
        multiply('N', p->e, n, m, x.v, s, x.o); /* o^T = V^T P^T */
        for (int64_t at = 0; at < n * p->e; at++)
            if (sum[at / p->e] > 0)
                x.o[at] /= sum[at / p->e];
    }
    return ATTEST_OK;
}

FULL_LIBRARY("vendor-openblas", "kernels/vendor/openblas.c", "sgemm, expf, sgemm over all pairs; OpenBLAS, one thread",
             0)
