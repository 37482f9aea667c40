/* identities_forms.c - one function, many forms: the exact engine against states, chunks, parts, passes and scans. */
#include "reference/exact/exact.h"
#include "reference/identities/identities_private.h"

/* The engine's rows of the left side against one form of the right side. */
static attest_status against(identity_job *job, const identity_rows *engine, ref_exact_form_options options,
                             attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int has_z = attest_axis_value_of(&job->left.p, ATTEST_AXIS_UPDATE) == ATTEST_UPDATE_ADD;
    identity_rows form;
    ATTEST_TRY(identity_rows_new(&form, &job->right.p, err));
    ATTEST_TRY(identity_rows_form(&form, &job->right, job, options, err));
    identity_compare_rows(job, engine, &form, has_z);
out:
    identity_rows_free(&form);
    return status;
}

/* One form for each size from..to. */
static attest_status for_sizes(identity_job *job, ref_exact_form_options options, int64_t from, int64_t to,
                               attest_error *err)
{
    attest_status status = ATTEST_OK;
    identity_rows engine;
    ATTEST_TRY(identity_rows_new(&engine, &job->left.p, err));
    ATTEST_TRY(identity_rows_engine(&engine, &job->left, job, 0, err));
    for (options.size = from; options.size <= to; options.size++)
        ATTEST_TRY(against(job, &engine, options, err));
out:
    identity_rows_free(&engine);
    return status;
}

attest_status identity_recurrent(identity_job *job, attest_error *err)
{
    return for_sizes(job, (ref_exact_form_options){ .kind = REF_FORM_RECURRENT }, 1, 1, err);
}

attest_status identity_packed(identity_job *job, attest_error *err)
{
    return for_sizes(job, (ref_exact_form_options){ .kind = REF_FORM_RECURRENT, .packed = 1 }, 1, 1, err);
}

attest_status identity_chunked(identity_job *job, attest_error *err)
{
    return for_sizes(job, (ref_exact_form_options){ .kind = REF_FORM_CHUNK }, 1, job->right.p.m, err);
}

attest_status identity_split(identity_job *job, attest_error *err)
{
    return for_sizes(job, (ref_exact_form_options){ .kind = REF_FORM_SPLIT }, 0, job->right.p.m, err);
}

attest_status identity_carried(identity_job *job, attest_error *err)
{
    return for_sizes(job, (ref_exact_form_options){ .kind = REF_FORM_CARRIED }, 0, job->right.p.m, err);
}

attest_status identity_scan(identity_job *job, attest_error *err)
{
    static const uint64_t bracketings[] = { 0, 1, 2, 0x5bd1e995ull, 0xc2b2ae3d27d4eb4full };
    attest_status status = ATTEST_OK;
    ref_exact_form_options options = { .kind = REF_FORM_SCAN };
    identity_rows engine;
    ATTEST_TRY(identity_rows_new(&engine, &job->left.p, err));
    ATTEST_TRY(identity_rows_engine(&engine, &job->left, job, 0, err));
    for (size_t k = 0; k < sizeof bracketings / sizeof bracketings[0]; k++) {
        options.bracketing = bracketings[k];
        ATTEST_TRY(against(job, &engine, options, err));
    }
out:
    identity_rows_free(&engine);
    return status;
}

/* One state of one degree: the definition against the recurrence. */
static attest_status compare_state(identity_job *job, int64_t g, int degree, int z_state, attest_error *err)
{
    const attest_problem *p = &job->left.p;
    const int64_t count = attest_state_rows(p->d, degree, 0) * (z_state ? 1 : p->e);
    attest_status status = ATTEST_OK;
    mpq_t *defined = exact_rationals_new(count), *form = exact_rationals_new(count);
    if (!defined || !form) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "identities: no memory for a state");
        goto out;
    }
    if (!ref_exact_state_serves(&job->left.in, job->b, g, degree)) {
        status = attest_fail(err, ATTEST_UNSUPPORTED, "the exact engine does not serve the state of degree %d", degree);
        goto out;
    }
    ATTEST_TRY(ref_exact_state(defined, &job->left.in, job->b, g, degree, z_state, err));
    ATTEST_TRY(ref_exact_form_state(form, &job->right.in, job->b, job->h, degree, z_state, err));
    for (int64_t k = 0; k < count; k++)
        identity_compare(job, defined[k], form[k]);
out:
    exact_rationals_free(form, count);
    exact_rationals_free(defined, count);
    return status;
}

attest_status identity_state(identity_job *job, attest_error *err)
{
    const attest_problem *p = &job->left.p;
    const int delta = attest_axis_value_of(p, ATTEST_AXIS_UPDATE) != ATTEST_UPDATE_ADD;
    attest_status status = ATTEST_OK;
    for (int n = job->left.in.lowest; n <= job->left.in.highest; n++)
        for (int z_state = 0; z_state <= !delta; z_state++)
            ATTEST_TRY(compare_state(job, attest_kv_head(p, job->h), n, z_state, err));
out:
    return status;
}
