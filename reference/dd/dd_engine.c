/* enclose.c - the dd engine's door: what it serves, its buffers, its paths, floating-point control, threads. */
#include "reference/dd/dd.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/axis/axis.h"
#include "reference/dd/dd_control.h"
#include "reference/dd/dd_driver.h"
#include "reference/dd/dd_table.h"

/* ---- paths ------------------------------------------------------------------------------------------------------- */
static const dd_path *const paths[] = {
#if defined(__x86_64__)
    &dd_path_avx512, &dd_path_avx2,
#endif
    &dd_path_portable
};
enum { PATHS = sizeof paths / sizeof paths[0] };

const char *attest_enclose_path(int n)
{
    for (int k = 0; k < PATHS; k++)
        if (paths[k]->runs() && n-- == 0)
            return paths[k]->name;
    return NULL;
}

static attest_status find_path(const dd_path **path, const char *name, attest_error *err)
{
    char names[64] = "";
    *path = NULL;
    for (int k = PATHS - 1; k >= 0; k--)
        if (paths[k]->runs() && (!name || strcmp(name, paths[k]->name) == 0))
            *path = paths[k];
    for (int k = 0; k < PATHS; k++)
        if (paths[k]->runs())
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? ", " : "", paths[k]->name);
    if (!*path)
        return attest_fail(err, ATTEST_BAD_INPUT, "path=%s: this machine runs %s", name, names);
    return ATTEST_OK;
}

/* ---- what is served ---------------------------------------------------------------------------------------------- */
int attest_enclose_serves(const attest_problem *p, char *why, size_t len)
{
    uint32_t axis;
    if (!axis_served(p, AXIS_DD, 0, &axis)) {
        snprintf(why, len, "engine=dd does not serve this value of %s; allowed are auto, ball, exact, witness",
                 axis < ATTEST_AXIS_COUNT ? attest_axes[axis].key : "an axis of a newer version");
        return 0;
    }
    if (p->in == ATTEST_F64) {
        snprintf(why, len, "engine=dd: in=f64: products are not exact in double; allowed are f32, f16, bf16");
        return 0;
    }
    const double scale = __builtin_fabs(p->scale);
    if (!(scale <= 0x1p200) || (scale != 0 && scale < 0x1p-200)) {
        snprintf(why, len, "engine=dd: scale=%g: allowed is 0 and 2^-200..2^200 in size", p->scale);
        return 0;
    }
    return 1;
}

/* ---- the formula ------------------------------------------------------------------------------------------------- */
static void set_scale(dd_formula *f, double scale)
{
    uint64_t bits;
    memcpy(&bits, &scale, sizeof bits);
    const int power = (bits & (((uint64_t)1 << 52) - 1)) == 0; /* or 0 */
    f->fold = power ? scale : 1;
    f->scale = power ? 1 : scale;
}

static void set_formula(dd_formula *f, const attest_problem *p)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    memset(f, 0, sizeof *f);
    f->exponential = weight->value == ATTEST_WEIGHT_EXP;
    f->order = f->exponential ? 0 : (int)weight->order;
    f->lead[0] = 1;
    if (weight->value == ATTEST_WEIGHT_TAYLOR || weight->value == ATTEST_WEIGHT_TERM)
        memcpy(f->lead, dd_inverse_factorial[f->order], sizeof f->lead);
    f->coefficient = weight->value == ATTEST_WEIGHT_TAYLOR ? dd_inverse_factorial : NULL;
    f->center = p->axis[ATTEST_AXIS_CENTER].value;
    f->norm = p->axis[ATTEST_AXIS_NORM].value;
    f->eps = p->axis[ATTEST_AXIS_EPS].number;
    f->clamp = p->axis[ATTEST_AXIS_CLAMP].value ? p->axis[ATTEST_AXIS_CLAMP].number : __builtin_inf();
    f->relu = p->axis[ATTEST_AXIS_FEATURE].value == ATTEST_FEATURE_RELU;
    set_scale(f, p->scale);
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */
void attest_enclosures_free(attest_enclosures *e)
{
    free(e->hi);
    free(e->lo);
    free(e->bound);
    memset(e, 0, sizeof *e);
}

static attest_status make_room(attest_enclosures *e, int64_t count, attest_error *err)
{
    if (e->count != count) {
        attest_enclosures_free(e);
        e->hi = malloc((size_t)count * sizeof *e->hi);
        e->lo = malloc((size_t)count * sizeof *e->lo);
        e->bound = malloc((size_t)count * sizeof *e->bound);
        e->count = count;
    }
    if (!e->hi || !e->lo || !e->bound) {
        attest_enclosures_free(e);
        return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for %lld enclosures", (long long)count);
    }
    return ATTEST_OK;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* Packs KV head (b,g) and computes its blocks, each thread with scratch of its own; 0: a thread had no memory. */
static int run_head(dd_job *job, int64_t b, int64_t g, int threads)
{
    const int64_t group = job->p->hq / job->p->hkv, blocks = (group * job->p->n + DD_ROWS - 1) / DD_ROWS;
    const size_t rows = dd_scratch(job), packing = dd_pack_scratch(job);
    const size_t bytes = ((rows > packing ? rows : packing) * sizeof(double) + 63) / 64 * 64;
    int good = 1;
    (void)threads;
    dd_pack_start(job, b, g);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        const uint32_t before = dd_control_set();
        double *scratch = aligned_alloc(64, bytes);
        dd_found found;
        if (scratch)
            dd_pack_thread(&found, job, scratch);
#pragma omp for schedule(static)
        for (int64_t panel = 0; panel < job->panels; panel++)
            if (scratch)
                dd_pack_panel(job, panel, &found);
#pragma omp critical
        if (scratch)
            dd_pack_merge(job, &found);
        else
            good = 0;
#pragma omp barrier
#pragma omp single
        dd_pack_finish(job);
#pragma omp for schedule(static)
        for (int64_t panel = 0; panel < job->panels; panel++)
            if (good && job->sliced)
                dd_pack_slice(job, panel);
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = 0; k < blocks; k++)
            if (good)
                dd_block(job, blocks - 1 - k, scratch); /* under a causal mask the long rows first */
        dd_control_restore(before);
        free(scratch);
    }
    return good;
}

#define THREAD_WORK 0x1p18 /* products that are worth a thread: some 30 microseconds */

/* No more threads than a head has work for; how many changes no bit. */
static int thread_count(const attest_enclose_options *options, const attest_problem *p)
{
    const double head = (double)(p->hq / p->hkv) * (double)p->n * (double)p->m * (double)(p->d + p->e);
    int threads = 1;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    threads = options->threads > 0 ? options->threads : threads;
    return head < threads * THREAD_WORK ? 1 + (int)(head / THREAD_WORK) : threads;
}

static attest_status run_all(dd_job *job, const attest_enclose_options *options, attest_error *err)
{
    const attest_problem *p = job->p;
    attest_status status = dd_head_init(&job->head, job, err);
    for (int64_t head = 0; status == ATTEST_OK && head < p->b * p->hkv; head++)
        if (!run_head(job, head / p->hkv, head % p->hkv, thread_count(options, p)))
            status = attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for a thread's rows");
    dd_head_clear(&job->head);
    return status;
}

attest_status attest_enclose(attest_enclosures *o, attest_enclosures *lse, const attest_problem *p,
                             const attest_bundle *in, const attest_enclose_options *options, attest_error *err)
{
    static const attest_enclose_options defaults = { .path = NULL };
    attest_status status = ATTEST_OK;
    char why[160];
    const uint32_t before = dd_control_set();
    dd_job job = { .p = p, .o = o, .lse = lse, .tiers = options ? options->tiers : ATTEST_TIERS_PROVED };
    if (!attest_enclose_serves(p, why, sizeof why))
        ATTEST_TRY(attest_fail(err, ATTEST_UNSUPPORTED, "%s", why));
    ATTEST_TRY(find_path(&job.path, options ? options->path : NULL, err));
    if (!job.path->sound())
        ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "engine=dd: path %s fails its self-test", job.path->name));
    job.q = attest_bundle_role(in, ATTEST_Q);
    job.k = attest_bundle_role(in, ATTEST_K);
    job.v = attest_bundle_role(in, ATTEST_V);
    job.len = p->axis[ATTEST_AXIS_LENS].value ? attest_bundle_role(in, ATTEST_KV_LENS) : NULL;
    job.len_q = p->axis[ATTEST_AXIS_LENS_Q].value ? attest_bundle_role(in, ATTEST_Q_LENS) : NULL;
    if (!job.q || !job.k || !job.v || (p->axis[ATTEST_AXIS_LENS].value && !job.len) ||
        (p->axis[ATTEST_AXIS_LENS_Q].value && !job.len_q))
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "reference: q, k, v, len or len_q is not given"));
    job.panels = (p->m + DD_PANEL - 1) / DD_PANEL;
    job.columns = (p->e + DD_PANEL - 1) / DD_PANEL;
    set_formula(&job.f, p);
    job.sliced = job.path->slices && job.tiers == ATTEST_TIERS_PROVED && p->in == ATTEST_F32;
    job.brief = job.sliced || (job.tiers == ATTEST_TIERS_PROVED && p->in != ATTEST_F32);
    ATTEST_TRY(make_room(o, p->b * p->hq * p->n * p->e, err));
    if (lse)
        ATTEST_TRY(make_room(lse, p->b * p->hq * p->n, err));
    status = run_all(&job, options ? options : &defaults, err);
out:
    dd_control_restore(before);
    return status;
}
