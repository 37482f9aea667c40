/* classify_division.c - how exact a division is: means of integers, gates of equal heads, against the exact quotient.
 *
 * A mean shows the division of the sum of values only if it is the same wherever the values stand, and no multiple of a
 * cast weight: else weights were divided, or cast, before they met the values, and nothing is seen.
 */
#include <math.h>

#include "kernels/attest_float.h"
#include "verify/classify/classify_private.h"

/* |got - n/m| / (n/m), the residual n - got m being one rounding. */
static double quotient_error(double got, double n, double m) { return fabs(fma(got, m, -n)) / n; }

enum { NUMERATORS = 16, DENOMINATORS = 31, LAYOUTS = 3, ELSEWHERE = -2, CAST = -3 };

/* n over the first m keys: on the first of them, on the last, or 1 on each of n (where there are so many). */
static void put_numerator(probe_run *s, int64_t b, int layout, int n, int m)
{
    for (int j = 0; j < m; j++)
        classify_put(s, ATTEST_V, b, 0, j, 0, 0);
    for (int j = 0; j < n && layout == 2 && n <= m; j++)
        classify_put(s, ATTEST_V, b, 0, j, 0, 1);
    if (layout < 2 || n > m)
        classify_put(s, ATTEST_V, b, 0, layout == 1 ? m - 1 : 0, 0, n);
}

/* Is o = n w, w = 1/m rounded to p, up or down?  Then p's rounding hides that of a division. */
static int is_cast(const probed_kernel *k, double o, double n, double m)
{
    const int digits = attest_format_of(k->types.p).p;
    const double unit = ldexp(1, ilogb(1 / m) - digits + 1), below = floor(1 / m / unit) * unit;
    const double off = fmin(fabs(o - n * below), fabs(o - n * (below + unit)));
    return digits < attest_format_of(k->types.acc).p && off <= 4 * fmax(classify_unit(k), classify_out_unit(k)) * o;
}

/* Means of n = 1, 3 .. over m = 3, 5 .. keys, the rest of weight 0.  The sum of values is n wherever they stand, so
 * that o is the same; else weights were divided before they met them: ELSEWHERE, or CAST where they were cast then. */
static attest_status divide_by_keys(double *worst, probed_kernel *k, const char *axes, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int same = 1, casts = 1;
    double first[NUMERATORS * DENOMINATORS];
    probe_run s;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=64 e=1", axes, NUMERATORS * DENOMINATORS));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    for (int64_t b = 0; b < NUMERATORS * DENOMINATORS; b++) {
        for (int64_t j = 0; j < 64; j++)
            classify_score(&s, b, j, j < 2 * (b / NUMERATORS) + 3 ? k->path->key : (k->path->exponential ? -1e4 : 0));
    }
    for (int layout = 0; layout < LAYOUTS; layout++) {
        for (int b = 0; b < NUMERATORS * DENOMINATORS; b++)
            put_numerator(&s, b, layout, 2 * (b % NUMERATORS) + 1, 2 * (b / NUMERATORS) + 3);
        ATTEST_TRY(classify_run(&s, err));
        for (int64_t b = 0; b < NUMERATORS * DENOMINATORS && s.ran; b++) {
            const double o = classify_get(&s, ATTEST_O, b, 0, s.last, 0);
            first[b] = layout == 0 ? o : first[b];
            const double n = (double)(2 * (b % NUMERATORS) + 1), m = (double)(2 * (b / NUMERATORS) + 3);
            same = same && o == first[b];
            casts = casts && is_cast(k, o, n, m);
            *worst = fmax(*worst, quotient_error(o, n, m));
        }
    }
    *worst = !same ? ELSEWHERE : casts ? CAST : *worst;
out:
    classify_close(&s);
    return status;
}

/* The gate of one of m = 3, 4 .. equal query heads, the others' logits far below: 1/m. */
static attest_status divide_by_heads(double *worst, probed_kernel *k, attest_error *err)
{
    enum { HEADS = 64 };
    attest_status status = ATTEST_OK;
    probe_run s;
    ATTEST_TRY(classify_open(&s, k, err, "%s gates=heads b=%d hq=%d hkv=1 m=1 e=1", k->path->axes, HEADS - 2, HEADS));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    classify_fill(&s, ATTEST_Q_HEAD_LOGITS, -1e4);
    for (int64_t b = 0; b < HEADS - 2; b++) {
        for (int64_t h = 0; h < b + 3; h++)
            classify_put(&s, ATTEST_Q_HEAD_LOGITS, b, h, s.last, 0, 0);
        classify_score(&s, b, 0, k->path->key);
        classify_put(&s, ATTEST_V, b, 0, 0, 0, k->path->value);
    }
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < HEADS - 2 && s.ran; b++)
        *worst = fmax(*worst, quotient_error(classify_get(&s, ATTEST_O, b, 0, s.last, 0), 1, (double)(b + 3)));
out:
    classify_close(&s);
    return status;
}

/* A split kernel divides in each part, and once more when it has merged them: parts of 4 equal keys, each with the sum
 * n of its values, are exact but for the last division, of n parts/4 by their number. */
static attest_status divide_by_parts(double *worst, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    probe_run s = { .kernel = k };
    for (int splits = 3; splits <= CLASSIFY_PARTS; splits += 2) {
        ATTEST_TRY(classify_open(&s, k, err, "%s b=16 m=%d e=1 splits=%d", k->path->axes, 4 * splits, splits));
        classify_ask_scores(&s);
        for (int64_t b = 0; b < s.problem.b; b++)
            classify_put(&s, ATTEST_V, b, 0, 0, 0, (double)(2 * b + 1));
        ATTEST_TRY(classify_run(&s, err));
        for (int64_t b = 0; b < s.problem.b && s.ran; b++)
            *worst = fmax(
                *worst, quotient_error(classify_get(&s, ATTEST_O, b, 0, s.last, 0), (double)(2 * b + 1), 4.0 * splits));
        classify_close(&s);
    }
out:
    classify_close(&s);
    return status;
}

attest_status classify_div_error(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int linear = !k->path->exponential && k->path->key == 1;
    double worst = -1;
    if (k->path->exponential || linear)
        ATTEST_TRY(divide_by_keys(&worst, k, linear ? "variant=softmax weight=power:1" : k->path->axes, err));
    if (worst >= 0 && k->schedule == ATTEST_SCHEDULE_SPLIT && k->path->exponential)
        ATTEST_TRY(divide_by_parts(&worst, k, err));
    if (worst == -1 && !k->path->mean)
        ATTEST_TRY(divide_by_heads(&worst, k, err));
    if (worst == CAST)
        classify_hidden(out, "means are multiples of 1/m as p rounds it: weights are cast after they were divided");
    else if (worst == ELSEWHERE)
        classify_hidden(out, "a mean depends on which key has the value: the sum of values is not what is divided");
    else if (worst < 0)
        classify_hidden(out, "no variant that the kernel serves here divides by a known number");
    else if (classify_out_unit(k) > classify_unit(k) && worst <= classify_out_unit(k))
        classify_hidden(out, "o has %d digits: a finer division is not to be seen", attest_format_of(k->types.out).p);
    else
        classify_seen(out, worst);
    out->blind = classify_out_unit(k);
out:
    return status;
}
