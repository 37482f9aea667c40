/* classify_scale.c - the type that the scale is rounded to: slope of score over product, for two scales that every
 * narrower type misses.  Both must be met as numbers of one type.
 */
#include <math.h>
#include <stdio.h>

#include "kernels/attest_float.h"
#include "verify/classify/classify_private.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { POINTS = 1024 };

/* Scales that f32, f16 and bf16 each miss by a quarter of a unit or more, f32 in either direction. */
static double awkward_scale(int n) { return 1 + (n == 0 ? 29491.45 : 37712.55) * 0x1p-23; }

/* The score scale x of one token, as an output shows it: lse; else o beside a key of score 0; else o = scale x. */
static double seen_score(const probe_run *s, int64_t b)
{
    const double o = classify_get(s, ATTEST_O, b, 0, s->last, 0);
    if (!s->kernel->path->exponential)
        return o / s->kernel->path->value;
    return s->kernel->outputs & ATTEST_GIVES_LSE ? classify_lse(s, b) : log(o / (1 - o));
}

/* Slope of y over x by least squares (a constant is the exponential's, not the scale's), and its standard error. */
static double line_of(double *deviation, const double *x, const double *y)
{
    double x0 = 0, y0 = 0, xx = 0, xy = 0, yy = 0;
    for (int n = 0; n < POINTS; n++) {
        x0 += x[n] / POINTS;
        y0 += y[n] / POINTS;
    }
    for (int n = 0; n < POINTS; n++) {
        xx += (x[n] - x0) * (x[n] - x0);
        xy += (x[n] - x0) * (y[n] - y0);
        yy += (y[n] - y0) * (y[n] - y0);
    }
    *deviation = sqrt(fmax(yy - xy * xy / xx, 0) / xx / POINTS);
    return xy / xx;
}

/* q for a score of path->key x, x in [1,2), so that a state holds no more digits than key and value have; returns x. */
static double put_query(probe_run *s, int64_t b)
{
    double x = 0;
    for (int c = 0; c < s->spread; c++) {
        x += classify_put(s, ATTEST_Q, b, 0, s->last, c, 1 + classify_even(b) - x);
        classify_put(s, ATTEST_K, b, 0, 0, c, s->kernel->path->key);
    }
    return x;
}

/* What the kernel multiplies products by, less `of`. */
static attest_status effective_scale(double *off, double *deviation, probed_kernel *k, double of, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const classify_path *path = k->path;
    const int alone = !path->exponential || k->outputs & ATTEST_GIVES_LSE;
    double x[POINTS], y[POINTS];
    char scale[40];
    probe_run s;
    attest_double_text(scale, sizeof scale, of);
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1 scale=%s", path->axes, POINTS, alone ? 1 : 2, scale));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    for (int64_t b = 0; b < POINTS; b++) {
        x[b] = path->exponential ? classify_score(&s, b, alone ? 0 : 1, -20 - 40 * classify_even(b)) : put_query(&s, b);
        classify_put(&s, ATTEST_V, b, 0, alone ? 0 : 1, 0, path->value);
    }
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < POINTS && s.ran; b++) {
        y[b] = fma(-of, x[b], seen_score(&s, b) / (path->exponential ? 1 : path->key));
    }
    if (s.ran)
        *off = line_of(deviation, x, y);
out:
    classify_close(&s);
    return status;
}

/* The type whose nearest number to `of` the kernel multiplies by; not visible: none, or several would do. */
static attest_status type_of_scale(inference *out, probed_kernel *k, double of, attest_error *err)
{
    static const uint32_t formats[] = { ATTEST_F64, ATTEST_F32, ATTEST_F16, ATTEST_BF16 };
    double seen = NAN, deviation = 0, off[COUNT(formats)];
    const attest_status status = effective_scale(&seen, &deviation, k, of, err);
    const double room = k->path->exponential && k->argument != 1 ? 2 * classify_unit(k) : 0; /* of scale log2(e) */
    size_t nearest = 0;
    double second = INFINITY;
    for (size_t n = 0; n < COUNT(formats); n++) {
        const double as = attest_to_f64(formats[n], attest_from_f64(formats[n], of)) - of;
        off[n] = fabs(seen - as);
        nearest = off[n] < off[nearest] ? n : nearest;
    }
    for (size_t n = 0; n < COUNT(formats); n++)
        second = n != nearest ? fmin(second, off[n]) : second;
    if (!(seen == seen))
        classify_hidden(out, "no score could be asked for");
    else if (second < 6 * deviation + room)
        classify_hidden(out, "scores are %.3g +- %.1g off scale: several types would", seen, deviation);
    else if (off[nearest] > 6 * deviation + 0x1p-50 + room)
        classify_hidden(out, "scores are %.3g +- %.1g off scale: no type, met once, does that", seen, deviation);
    else
        classify_seen(out, 1 + formats[nearest]);
    return status;
}

attest_status classify_scale_dtype(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    inference other;
    ATTEST_TRY(type_of_scale(out, k, awkward_scale(0), err));
    if (!out->visible)
        goto out;
    ATTEST_TRY(type_of_scale(&other, k, awkward_scale(1), err));
    if (!other.visible)
        *out = other;
    else if (other.value != out->value)
        classify_hidden(out, "two scales are met as numbers of two types");
out:
    return status;
}
