/* bound_delta_lost.c - update=delta and efla: what underflow loses, and what rounding to narrow types does to factors
 * that are stored times decays, and to pairs that are cast (R-DELTA). */
#include "reference/bound/bound_row.h"

__attribute__((noinline)) void bound_raise(mag_t y, const mag_t x)
{
    if (mag_cmp(y, x) < 0)
        mag_set(y, x);
}

/* |v_t|, the largest, before its gate. */
static void raw_value(mag_t y, const delta_job *job, int64_t t)
{
    const attest_tensor *v = job->in->role[ATTEST_V];
    AUTO_MAG(x);
    mag_zero(y);
    for (int64_t c = 0; c < job->in->p->e; c++) {
        mag_set_d(x, attest_load(v, attest_offset(v, job->b, job->g, t, c)));
        bound_raise(y, x);
    }
}

void bound_delta_unit(mag_t y, const delta_job *job, int64_t t)
{
    AUTO_MAG(x, one);
    mag_one(one);
    mag_mul_ui(x, job->m->tiny_sum, 8 * (ulong)(attest_feature_dim(job->m->p) + t + 2));
    bound_decay_flush(y, job->m, one, job->logs, t + 1);
    if (attest_log_decays(job->m->p)) { /* a factor that is an exponential below 2^emin */
        mag_add(y, y, job->m->normal);
        mag_add(y, y, job->m->normal);
    }
    mag_add(y, y, x);
    mag_mul(y, y, job->most);
}

void bound_delta_decays_lost(mag_t y, const delta_job *job, int64_t t)
{
    AUTO_MAG(unit);
    mag_zero(y);
    if (!job->m->decays || job->recurrent)
        return;
    bound_delta_unit(unit, job, t);
    mag_add_ui(y, job->key_top, 1); /* the product of a key and its decay underflows too, whatever the key's size */
    mag_mul(y, y, job->written);
    mag_add(y, y, job->peak);
    mag_mul(y, y, unit);
}

/* 2 eta_q sqrt(dim) A x: what eta_q in each entry of a vector does to products with columns of norm2 x.  Twice, for the
 * other factor may be rounded as well. */
static void stored_times(mag_t y, const delta_job *job, const mag_t x)
{
    AUTO_MAG(root);
    mag_set_ui(root, (ulong)attest_feature_dim(job->m->p));
    mag_sqrt(root, root);
    mag_mul(y, job->m->scaled_tiny, root);
    mag_mul(y, y, x);
    mag_mul(y, y, job->most);
    mag_mul_2exp_si(y, y, 1);
}

void bound_delta_pairs_lost(mag_t y, const delta_job *job, const mag_t kappa)
{
    AUTO_MAG(x);
    mag_zero(y);
    if (!bound_stores_decayed(job->m))
        return;
    mag_add(x, job->key_top, kappa);
    mag_mul(x, x, job->written);
    mag_add(x, x, job->peak);
    stored_times(y, job, x);
}

void bound_delta_end_lost(mag_t y, const delta_job *job, int64_t tokens)
{
    AUTO_MAG(x);
    mag_zero(y);
    if (!bound_stores_decayed(job->m))
        return;
    stored_times(y, job, job->written);
    if (job->m->vector)
        return;
    mag_mul_ui(x, job->m->scaled_tiny, 2 * (ulong)tokens); /* or what was written, times decays */
    mag_mul(x, x, job->key_top);
    mag_addmul(y, x, job->most);
}

void bound_delta_query_lost(mag_t y, const delta_job *job, const mag_t query)
{
    AUTO_MAG(x);
    mag_zero(y);
    if (job->m->scales_inputs)
        stored_times(y, job, job->mass);
    if (job->m->gates_inputs && job->m->gates_rows)
        bound_ungated(y, job->row->gout);
    bound_delta_pairs_lost(x, job, query);
    mag_mul_2exp_si(x, x, 1); /* once it is scaled and once it is decayed */
    mag_max(y, y, x);
}

/* Underflow of any of the operations that make one written value: each loses tiny times other factors. */
void bound_delta_lose(mag_t y, const delta_job *job, const delta_token *token, int64_t t)
{
    const ref_delta *d = &job->row->delta;
    AUTO_MAG(x, z);
    mag_add(x, token->before, d->value + t);
    mag_add(x, x, job->peak); /* a decay may be flushed */
    mag_add(x, x, job->written);
    mag_add_ui(x, x, 1);
    mag_add_ui(z, job->key_top, 1);
    mag_mul(z, z, z);
    mag_mul(x, x, z);
    mag_add_ui(z, d->rate + t, 1);
    mag_mul(x, x, z);
    bound_delta_unit(z, job, t);
    mag_addmul(y, x, z);
    if (job->m->gates_values && (job->m->flags & ATTEST_FTZ || !axis_gates_of(job->m->p)->stored)) {
        mag_mul(x, d->rate + t, job->m->normal); /* a stored gate that is flushed, one of gates=heads: R-GATE */
        mag_mul_2exp_si(x, x, 3);
        raw_value(z, job, t);
        mag_addmul(y, x, z);
    }
}

void bound_delta_cast(mag_t y, delta_job *job, const mag_t query, const mag_t g)
{
    const bound_model *m = job->m;
    AUTO_MAG(x, most);
    if (job->recurrent || mag_is_zero(m->u_cast))
        return;
    mag_mul(x, query, job->fresh);
    mag_mul(x, x, m->scale);
    mag_addmul(x, x, g); /* what is cast is the product as it was computed */
    mag_addmul(y, x, m->u_cast);
    mag_add_ui(x, m->scale, 1); /* before or after the scale */
    mag_mul(x, x, job->most);
    mag_mul(x, x, job->written);
    mag_addmul(y, x, m->tiny_cast);
    mag_mul(x, query, job->key_top);
    mag_mul(x, x, m->room);
    mag_mul(x, x, m->scale);
    mag_mul(x, x, job->most);
    mag_set_ui_2exp_si(most, 1, attest_format_of(m->p->p).emax - 1);
    if (!(mag_cmp(x, most) <= 0))
        job->overflow = 1;
}
