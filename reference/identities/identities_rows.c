/* identities_rows.c - the two sides of an identity: problems, rows, comparisons. */
#include "reference/engine/dyadic.h"
#include "reference/identities/identities_private.h"

#include <stdlib.h>

void identity_side_set(identity_side *s, const attest_problem *p, const attest_bundle *bundle)
{
    s->p = *p;
    s->bundle = bundle;
    attest_error err;
    ref_inputs_set(&s->in, &s->p, bundle, &err); /* owns nothing, and cannot fail, without numbers of 8 bits */
}

void identity_side_with(identity_side *out, const identity_side *s, attest_axis axis, uint32_t value, uint32_t order)
{
    attest_problem p = s->p;
    p.axis[axis] = (attest_setting){ .value = value, .order = order, .number = 0.0 };
    identity_side_set(out, &p, s->bundle);
}

void identity_compare(identity_job *job, const mpq_t left, const mpq_t right)
{
    job->compared++;
    job->different += !mpq_equal(left, right);
}

attest_status identity_rows_new(identity_rows *r, const attest_problem *p, attest_error *err)
{
    *r = (identity_rows){ .n = p->n, .e = p->e };
    r->u = exact_rationals_new(p->n * p->e);
    r->z = exact_rationals_new(p->n);
    r->o = exact_rationals_new(p->n * p->e);
    r->defined = calloc((size_t)p->n, sizeof *r->defined);
    if (r->u && r->z && r->o && r->defined)
        return ATTEST_OK;
    identity_rows_free(r);
    return attest_fail(err, ATTEST_NO_MEMORY, "identities: no memory for %lld rows", (long long)p->n);
}

void identity_rows_free(identity_rows *r)
{
    exact_rationals_free(r->u, r->n * r->e);
    exact_rationals_free(r->z, r->n);
    exact_rationals_free(r->o, r->n * r->e);
    free(r->defined);
    *r = (identity_rows){ .n = 0 };
}

attest_status identity_rows_engine(identity_rows *r, const identity_side *s, const identity_job *job, int with_o,
                                   attest_error *err)
{
    return ref_exact_rows(r->u, r->z, with_o ? r->o : NULL, r->defined, &s->in, job->b, job->h, err);
}

attest_status identity_rows_form(identity_rows *r, const identity_side *s, const identity_job *job,
                                 ref_exact_form_options options, attest_error *err)
{
    return ref_exact_form(r->u, r->z, &s->in, job->b, job->h, &options, err);
}

void identity_compare_rows(identity_job *job, const identity_rows *a, const identity_rows *b, int with_z)
{
    for (int64_t k = 0; k < a->n * a->e; k++)
        identity_compare(job, a->u[k], b->u[k]);
    for (int64_t i = 0; with_z && i < a->n; i++)
        identity_compare(job, a->z[i], b->z[i]);
}
