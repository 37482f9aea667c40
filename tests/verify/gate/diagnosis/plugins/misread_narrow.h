/* misread_narrow.h - kernels of misread.c that compute the right function and round more than they say: scores, sums,
 * the quotients of two parts of the keys.  Included where `asked` is defined. */
/* Plain softmax, scores or sums rounded to a narrow type. */
static float narrow(uint32_t dtype, float x) { return (float)attest_to_f64(dtype, attest_from_f64(dtype, (double)x)); }

static attest_status run_narrow(asked *a, uint32_t score, uint32_t sums)
{
    const float *q = a->role[ATTEST_Q]->data, *k = a->role[ATTEST_K]->data, *v = a->role[ATTEST_V]->data;
    float *o = a->role[ATTEST_O]->data, *s = malloc(sizeof *s * (size_t)a->p.m);
    for (int64_t row = 0; row < a->p.b * a->p.hq * a->p.n; row++) {
        const int64_t h = row / a->p.n % a->p.hq, b = row / a->p.n / a->p.hq;
        const int64_t head = b * a->p.hkv + h * a->p.hkv / a->p.hq;
        float m = -INFINITY, l = 0;
        for (int64_t j = 0; j < a->p.m; j++) {
            float dot = 0;
            for (int64_t c = 0; c < a->p.d; c++)
                dot += q[row * a->p.d + c] * k[(head * a->p.m + j) * a->p.d + c];
            s[j] = narrow(score, (float)a->p.scale * dot);
            m = fmaxf(m, s[j]);
        }
        for (int64_t j = 0; j < a->p.m; j++)
            l = narrow(sums, l + (s[j] = expf(s[j] - m)));
        for (int64_t c = 0; c < a->p.e; c++) {
            float u = 0;
            for (int64_t j = 0; j < a->p.m; j++)
                u = narrow(sums, u + s[j] * v[(head * a->p.m + j) * a->p.e + c]);
            o[row * a->p.e + c] = u / l;
        }
        if (a->role[ATTEST_LSE])
            ((float *)a->role[ATTEST_LSE]->data)[row] = m + logf(l);
    }
    free(s);
    return ATTEST_OK;
}
static attest_status narrow_scores(asked *a, const attest_kernel *base)
{
    (void)base;
    return run_narrow(a, ATTEST_BF16, ATTEST_F32);
}
static attest_status narrow_half(asked *a, const attest_kernel *base)
{
    (void)base;
    return run_narrow(a, ATTEST_F16, ATTEST_F32);
}
static attest_status narrow_sums(asked *a, const attest_kernel *base)
{
    (void)base;
    return run_narrow(a, ATTEST_F32, ATTEST_F16);
}

/* Plain softmax in two parts, each divided by its own sum and rounded to a narrow type, then merged by their lse. */
static attest_status run_parts(asked *a, uint32_t dtype)
{
    const float *q = a->role[ATTEST_Q]->data, *k = a->role[ATTEST_K]->data, *v = a->role[ATTEST_V]->data;
    float *o = a->role[ATTEST_O]->data, *s = malloc(sizeof *s * (size_t)a->p.m);
    float *part = malloc(2 * sizeof *part * (size_t)a->p.e);
    for (int64_t row = 0; row < a->p.b * a->p.hq * a->p.n; row++) {
        const int64_t h = row / a->p.n % a->p.hq, b = row / a->p.n / a->p.hq;
        const int64_t head = b * a->p.hkv + h * a->p.hkv / a->p.hq, edge[] = { 0, a->p.m / 2, a->p.m };
        float lse[2];
        for (int n = 0; n < 2; n++) {
            float m = -INFINITY, l = 0;
            for (int64_t j = edge[n]; j < edge[n + 1]; j++) {
                s[j] = 0;
                for (int64_t c = 0; c < a->p.d; c++)
                    s[j] += q[row * a->p.d + c] * k[(head * a->p.m + j) * a->p.d + c];
                s[j] *= (float)a->p.scale;
                m = fmaxf(m, s[j]);
            }
            for (int64_t j = edge[n]; j < edge[n + 1]; j++)
                l += s[j] = expf(s[j] - m);
            for (int64_t c = 0; c < a->p.e; c++) {
                float u = 0;
                for (int64_t j = edge[n]; j < edge[n + 1]; j++)
                    u += s[j] * v[(head * a->p.m + j) * a->p.e + c];
                part[n * a->p.e + c] = l > 0 ? narrow(dtype, u / l) : 0;
            }
            lse[n] = m + logf(l);
        }
        const float top = fmaxf(lse[0], lse[1]), x = expf(lse[0] - top), y = expf(lse[1] - top);
        for (int64_t c = 0; c < a->p.e; c++)
            o[row * a->p.e + c] = (x * part[c] + y * part[a->p.e + c]) / (x + y);
        if (a->role[ATTEST_LSE])
            ((float *)a->role[ATTEST_LSE]->data)[row] = top + logf(x + y);
    }
    free(s);
    free(part);
    return ATTEST_OK;
}
static attest_status parts_bf16(asked *a, const attest_kernel *base)
{
    (void)base;
    return run_parts(a, ATTEST_BF16);
}
static attest_status parts_half(asked *a, const attest_kernel *base)
{
    (void)base;
    return run_parts(a, ATTEST_F16);
}
