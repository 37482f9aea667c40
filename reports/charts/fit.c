/* fit.c - slopes on log-log paper, by GSL least squares. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdlib.h>

#include "reports/charts/charts.h"

attest_status attest_fit_loglog(attest_fit *fit, const double *x, const double *y, size_t count, attest_error *err)
{
    attest_status status = ATTEST_OK;
    double cov00, cov01, cov11, sum;
    *fit = (attest_fit){ NAN, NAN, NAN, NAN, 0 };
    double *lx = malloc((count + 1) * sizeof *lx), *ly = malloc((count + 1) * sizeof *ly);
    if (!lx || !ly)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for a fit of %zu points", count));
    for (size_t i = 0; i < count; i++)
        if (isfinite(x[i]) && isfinite(y[i]) && x[i] > 0 && y[i] > 0) {
            lx[fit->points] = log2(x[i]);
            ly[fit->points] = log2(y[i]);
            fit->points++;
        }
    if (fit->points >= 2) {
        gsl_fit_linear(lx, 1, ly, 1, fit->points, &fit->intercept, &fit->slope, &cov00, &cov01, &cov11, &sum);
        fit->residual = sqrt(sum / (double)fit->points);
    }
    if (fit->points >= 3)
        fit->half = gsl_cdf_tdist_Pinv(0.975, (double)fit->points - 2) * sqrt(cov11);
out:
    free(lx);
    free(ly);
    return status;
}
