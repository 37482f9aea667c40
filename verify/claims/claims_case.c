/* claims_case.c - problem lines with drawn or given inputs, for the checks of claims. */
#include "verify/claims/claims_case.h"

#include <stdarg.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/draw/draw.h"

static attest_status parse(claim_case *x, attest_error *err, const char *line, va_list arguments)
{
    char text[ATTEST_LINE];
    memset(x, 0, sizeof *x);
    vsnprintf(text, sizeof text, line, arguments);
    const attest_status status = attest_case_parse(&x->c, text, NULL, NULL, err);
    return status == ATTEST_OK ? attest_bundle_new(&x->bundle, err) : status;
}

attest_status claim_case_parse(claim_case *x, attest_error *err, const char *line, ...)
{
    va_list arguments;
    va_start(arguments, line);
    const attest_status status = parse(x, err, line, arguments);
    va_end(arguments);
    return status;
}

attest_status claim_case_put(claim_case *x, attest_role role, const double *values, attest_error *err)
{
    attest_tensor *t = NULL;
    const attest_tensor_id id = { ATTEST_KIND_ROLE, role };
    const attest_status status = attest_bundle_add(x->bundle, &x->c.problem, id, 0, &t, err);
    for (int64_t at = 0; status == ATTEST_OK && at < attest_tensor_count(t); at++) {
        const uint64_t bits = attest_from_f64(t->dtype, values[at]);
        if (attest_to_f64(t->dtype, bits) != values[at])
            return attest_fail(err, ATTEST_INTERNAL, "%a is no %s", values[at], attest_dtype_name(t->dtype));
        attest_store_bits(t, at, bits);
    }
    return status;
}

attest_status claim_case_ready(claim_case *x, attest_error *err)
{
    const attest_status status = attest_draw_missing(x->bundle, &x->c, 0, 0, err);
    return status != ATTEST_OK ? status
                               : attest_truth_new(&x->truth, &x->c.problem, x->bundle, ATTEST_ENGINE_AUTO, err);
}

attest_status claim_case_open(claim_case *x, attest_error *err, const char *line, ...)
{
    va_list arguments;
    va_start(arguments, line);
    const attest_status status = parse(x, err, line, arguments);
    va_end(arguments);
    return status == ATTEST_OK ? claim_case_ready(x, err) : status;
}

attest_status claim_case_scores(claim_case *x, const double *scores, int64_t count, int unit, attest_error *err,
                                const char *variant, ...)
{
    enum { MOST = 64 };
    static const double one[1] = { 1 };
    char name[128];
    double v[MOST * MOST] = { 0 };
    va_list arguments;
    va_start(arguments, variant);
    vsnprintf(name, sizeof name, variant, arguments);
    va_end(arguments);
    memset(x, 0, sizeof *x);
    if (count > MOST)
        return attest_fail(err, ATTEST_INTERNAL, "%lld scores", (long long)count);
    attest_status status;
    ATTEST_TRY(claim_case_parse(x, err, "variant=%s n=1 m=%lld d=1 e=%lld scale=1 in=f64", name, (long long)count,
                                (long long)(unit ? count : 1)));
    for (int64_t j = 0; j < count; j++)
        v[unit ? j * count + j : j] = 1;
    ATTEST_TRY(claim_case_put(x, ATTEST_Q, one, err));
    ATTEST_TRY(claim_case_put(x, ATTEST_K, scores, err));
    ATTEST_TRY(claim_case_put(x, ATTEST_V, v, err));
    ATTEST_TRY(claim_case_ready(x, err));
out:
    return status;
}

void claim_case_close(claim_case *x)
{
    attest_truth_free(x->truth);
    attest_bundle_free(x->bundle);
    memset(x, 0, sizeof *x);
}
