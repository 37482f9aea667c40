/* classify_run.c - questions to a kernel: the problem it serves, inputs put by hand, a run in its worker. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "reports/result.h"
#include "verify/classify/classify_private.h"

/* An added number is 2^60 v beside an erased 2^-60 S: less than half a unit of any format here. */
#define DELTA_KEY 0x1p-60

static const classify_path paths[] = {
    { "variant=softmax", 0, 1, 1, 1, 0 },  { "variant=linear", 1, 1, 0, 0, 0 },
    { "variant=term:1", 1, 1, 0, 0, 0 },   { "variant=softmax weight=power:1", 1, 1, 0, 1, 0 },
    { "variant=taylor:2", 0, 1, 0, 1, 0 }, { "variant=deltanet", DELTA_KEY, 1 / DELTA_KEY, 0, 0, 0 },
    { "variant=retnet", 1, 1, 0, 0, 1 },   { "variant=simple-gla", 1, 1, 0, 0, 1 },
    { "variant=gla", 1, 1, 0, 0, 1 },      { "variant=gdn", DELTA_KEY, 1 / DELTA_KEY, 0, 0, 1 },
};

/* The finer the output, the more is seen. */
static const classify_types types[] = {
    { ATTEST_F32, ATTEST_F32, ATTEST_F32, ATTEST_F32 },     { ATTEST_F64, ATTEST_F64, ATTEST_F64, ATTEST_F64 },
    { ATTEST_F32, ATTEST_F32, ATTEST_BF16, ATTEST_F32 },    { ATTEST_F32, ATTEST_F32, ATTEST_F16, ATTEST_F32 },
    { ATTEST_BF16, ATTEST_F32, ATTEST_F32, ATTEST_F32 },    { ATTEST_F16, ATTEST_F32, ATTEST_F32, ATTEST_F32 },
    { ATTEST_BF16, ATTEST_F32, ATTEST_BF16, ATTEST_F32 },   { ATTEST_F16, ATTEST_F32, ATTEST_F16, ATTEST_F32 },
    { ATTEST_BF16, ATTEST_F32, ATTEST_F32, ATTEST_BF16 },   { ATTEST_F16, ATTEST_F32, ATTEST_F32, ATTEST_F16 },
    { ATTEST_BF16, ATTEST_F32, ATTEST_BF16, ATTEST_BF16 },  { ATTEST_F16, ATTEST_F32, ATTEST_F16, ATTEST_F16 },
    { ATTEST_BF16, ATTEST_BF16, ATTEST_BF16, ATTEST_BF16 }, { ATTEST_F16, ATTEST_F16, ATTEST_F16, ATTEST_F16 },
};

static const char *const masks[] = { "mask=full", "mask=causal-br", "mask=causal" };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

void classify_hidden(inference *out, const char *format, ...)
{
    va_list list;
    *out = (inference){ 0 };
    va_start(list, format);
    vsnprintf(out->why, sizeof out->why, format, list);
    va_end(list);
}

void classify_other(inference *out, const char *format, ...)
{
    va_list list;
    classify_seen(out, NAN);
    va_start(list, format);
    vsnprintf(out->why, sizeof out->why, format, list);
    va_end(list);
}

void classify_seen(inference *out, double value) { *out = (inference){ .visible = 1, .value = value }; }

/* ---- problems ------------------------------------------------------------------------------------------------ */

static attest_status parse(attest_problem *p, const classify_types *t, const char *line, attest_error *err)
{
    char text[ATTEST_LINE];
    attest_case c;
    snprintf(text, sizeof text, "%s in=%s acc=%s p=%s out=%s", line, attest_dtype_name(t->in),
             attest_dtype_name(t->acc), attest_dtype_name(t->p), attest_dtype_name(t->out));
    const attest_status status = attest_case_parse(&c, text, NULL, NULL, err);
    *p = c.problem;
    return status;
}

/* A kernel whose supports() dies or is late is not asked again: that is the fault of this line. */
static int served(probed_kernel *k, const attest_problem *p, const char *line)
{
    char why[128];
    if (*k->dead)
        return 0;
    const int answer = attest_worker_supports(k->worker, k->index, p, why, sizeof why);
    if (answer < 0)
        snprintf(k->dead, sizeof k->dead, "%s", why);
    if (answer < 0 && !*k->fault->line) {
        snprintf(k->fault->line, sizeof k->fault->line, "%s", line);
        k->fault->run = (attest_run_result){ .state = answer == ATTEST_SUPPORTS_LATE ? ATTEST_RUN_TIMEOUT
                                                                                     : ATTEST_RUN_CRASH,
                                             .fp_state = "ok" };
        snprintf(k->fault->run.why, sizeof k->fault->run.why, "%s", why);
    }
    return answer > 0;
}

/* Channels a score takes: numbers of 24 bits are three of 8. */
static int spread_of(uint32_t in) { return attest_format_of(in).p >= 24 ? 1 : 3; }

/* All inputs, rates and decays 1 (logarithms 0), and the outputs that the kernel gives and the variant has; final
 * states in full. */
static attest_status add_tensors(probe_run *s, attest_error *err)
{
    static const uint32_t gives[] = { [ATTEST_O] = ATTEST_GIVES_O,
                                      [ATTEST_U] = ATTEST_GIVES_U,
                                      [ATTEST_Z] = ATTEST_GIVES_Z,
                                      [ATTEST_LSE] = ATTEST_GIVES_LSE };
    attest_status status = ATTEST_OK;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t inputs = attest_problem_inputs(&s->problem, ids, ATTEST_MAX_TENSORS);
    const size_t outputs = attest_problem_outputs(&s->problem, ids + inputs, ATTEST_MAX_TENSORS - inputs);
    ATTEST_TRY(attest_bundle_new(&s->bundle, err));
    for (size_t n = 0; n < inputs + outputs; n++) {
        const uint32_t bit = ids[n].kind == ATTEST_KIND_ROLE && n >= inputs ? gives[ids[n].index] : ATTEST_GIVES_STATE;
        if (n < inputs || s->kernel->outputs & bit)
            ATTEST_TRY(attest_bundle_add(s->bundle, &s->problem, ids[n], 0, NULL, err));
    }
    classify_fill(s, ATTEST_BETA, 1);
    classify_fill(s, ATTEST_DECAY, attest_log_decays(&s->problem) ? 0 : 1);
    classify_fill(s, ATTEST_GAMMA, 1);
out:
    return status;
}

/* A line of ours that cannot be parsed. */
static attest_status own_error(attest_status status) { return status == ATTEST_NO_MEMORY ? status : ATTEST_INTERNAL; }

attest_status classify_open_line(probe_run *s, probed_kernel *k, attest_error *err, const char *format, ...)
{
    attest_status status = ATTEST_OK;
    char line[ATTEST_LINE];
    va_list list;
    *s = (probe_run){ .kernel = k, .spread = spread_of(k->types.in) };
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    snprintf(s->line, sizeof s->line, "%s", line);
    if ((status = parse(&s->problem, &k->types, line, err)) != ATTEST_OK)
        return status != ATTEST_NO_MEMORY && k->path->square ? ATTEST_OK
                                                             : attest_fail_prefix(err, own_error(status), line);
    s->last = s->problem.n - 1;
    if (served(k, &s->problem, s->line))
        ATTEST_TRY(add_tensors(s, err));
out:
    return status;
}

attest_status classify_open(probe_run *s, probed_kernel *k, attest_error *err, const char *format, ...)
{
    char line[ATTEST_LINE], d[16] = "";
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    const char *m = strstr(line, " m=");
    if (!strstr(line, " d="))
        snprintf(d, sizeof d, " d=%d", spread_of(k->types.in));
    return classify_open_line(s, k, err, "%s%s%s %s n=%lld", line, d, strstr(line, " scale=") ? "" : " scale=1",
                              k->mask, m && strcmp(k->mask, "mask=causal") == 0 ? strtoll(m + 3, NULL, 10) : 1);
}

void classify_close(probe_run *s)
{
    attest_bundle_free(s->bundle);
    s->bundle = NULL;
}

#define FAULTS                                                                                                         \
    (ATTEST_REASON_WROTE_OUTSIDE | ATTEST_REASON_READ_OUTSIDE | ATTEST_REASON_WROTE_INPUT | ATTEST_REASON_FP_STATE)

attest_status classify_run(probe_run *s, attest_error *err)
{
    static const char *const ends[] = { "", "", "crashed", "was late", "ended its process" };
    probed_kernel *k = s->kernel;
    attest_run_result run;
    s->ran = 0;
    if (attest_stop_signal() && !*k->dead)
        snprintf(k->dead, sizeof k->dead, "a signal has asked for the end");
    if (!s->bundle || *k->dead)
        return ATTEST_OK;
    const attest_status status = attest_worker_run(k->worker, k->index, &s->problem, s->bundle, k->timeout_s, &run,
                                                   err);
    if (status != ATTEST_OK)
        return status;
    s->ran = run.state == ATTEST_RUN_DONE && run.status == ATTEST_OK;
    if ((!s->ran || run.reasons & FAULTS) && !*k->fault->line) {
        snprintf(k->fault->line, sizeof k->fault->line, "%s", s->line);
        k->fault->run = run;
    }
    k->unsteady |= (run.reasons & ATTEST_REASON_NONDETERMINISTIC) != 0;
    if (run.state > ATTEST_RUN_UNSUPPORTED && run.state < COUNT(ends))
        snprintf(k->dead, sizeof k->dead, "the kernel %s in a probe", ends[run.state]);
    else if (!s->ran)
        snprintf(k->dead, sizeof k->dead, "the kernel refused to run in a probe");
    return ATTEST_OK;
}

/* ---- elements ------------------------------------------------------------------------------------------------ */

static attest_tensor *tensor_of(const probe_run *s, attest_role role)
{
    return s->bundle ? attest_bundle_role(s->bundle, role) : NULL;
}

double classify_put(probe_run *s, attest_role role, int64_t b, int64_t h, int64_t i, int64_t c, double x)
{
    attest_tensor *t = tensor_of(s, role);
    if (!t)
        return NAN;
    const int64_t at = attest_offset(t, b, h, i, c);
    attest_store_bits(t, at, attest_from_f64(t->dtype, x));
    return attest_load(t, at);
}

double classify_get(const probe_run *s, attest_role role, int64_t b, int64_t h, int64_t i, int64_t c)
{
    const attest_tensor *t = tensor_of(s, role);
    return t ? attest_load(t, attest_offset(t, b, h, i, c)) : NAN;
}

double classify_lse(const probe_run *s, int64_t b)
{
    return classify_get(s, ATTEST_LSE, b, 0, s->last, 0) * (s->kernel->base2 ? log(2) : 1);
}

void classify_fill(probe_run *s, attest_role role, double x)
{
    attest_tensor *t = tensor_of(s, role);
    for (int64_t at = 0; t && at < attest_tensor_count(t); at++)
        attest_store_bits(t, at, attest_from_f64(t->dtype, x));
}

void classify_ask_scores(probe_run *s)
{
    for (int64_t b = 0; b < s->problem.b; b++)
        for (int64_t h = 0; h < s->problem.hq; h++)
            for (int64_t i = 0; i < s->problem.n; i++)
                for (int64_t c = 0; c < s->spread; c++)
                    classify_put(s, ATTEST_Q, b, h, i, c, 1);
}

double classify_score(probe_run *s, int64_t b, int64_t j, double x)
{
    double sum = 0;
    for (int64_t c = 0; c < s->spread; c++)
        sum += classify_put(s, ATTEST_K, b, 0, j, c, x - sum);
    return sum;
}

double classify_unit(const probed_kernel *k) { return attest_unit_roundoff(k->types.acc); }
double classify_out_unit(const probed_kernel *k) { return attest_unit_roundoff(k->types.out); }
double classify_cast_unit(const probed_kernel *k)
{
    const double p = attest_unit_roundoff(k->types.p);
    return p > classify_unit(k) ? p : 0;
}

double classify_near_rest(const probed_kernel *k) { return k->types.acc == ATTEST_F64 ? -1000 : -128; }

double classify_even(int64_t i)
{
    const double x = (double)(i + 1) * 0.61803398874989485;
    return x - floor(x);
}

/* ---- how a kernel is asked ----------------------------------------------------------------------------------- */

static int serves_types(probed_kernel *k, const classify_types *t)
{
    attest_problem p;
    attest_error err; /* the delta rule has no mask=full */
    char line[ATTEST_LINE];
    snprintf(line, sizeof line, "%s %s n=%d m=2 d=%d e=1 scale=1", k->path->axes, k->mask,
             strcmp(k->mask, "mask=causal") == 0 ? 2 : 1, spread_of(t->in));
    return parse(&p, t, line, &err) == ATTEST_OK && served(k, &p, line);
}

void classify_begin(probed_kernel *k)
{
    for (size_t a = 0; a < COUNT(paths); a++)
        for (size_t m = 0; m < COUNT(masks); m++)
            for (size_t t = 0; t < COUNT(types); t++) {
                k->path = &paths[a];
                k->mask = masks[m];
                k->types = types[t];
                if (serves_types(k, &types[t]))
                    return;
            }
    k->path = NULL;
}

int classify_narrow(probed_kernel *narrow, probed_kernel *k)
{
    *narrow = *k;
    for (size_t t = 0; t < COUNT(types); t++) {
        narrow->types = types[t];
        if (attest_format_of(types[t].p).p < attest_format_of(types[t].acc).p && serves_types(k, &types[t]))
            return 1;
    }
    return 0;
}
