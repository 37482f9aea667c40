/* exact_score.c - scores of a row as integers over one power of two (R-EXACT). */
#include "reference/exact/exact.h"

#include <stdlib.h>

/* The steps of every score; the grid holds their numbers. */
static void score_steps(exact_scores *s, const exact_keys *r)
{
    axis_step_set steps[AXIS_STEPS];
    const int count = s->count > 0 ? axis_steps(steps, r->in, (attest_row){ r->b, r->h, r->i }) : 0;
    const int64_t position = ref_position(r->in, r->b, r->i);
    AUTO_MPZ(number);
    for (int k = 0; k < count; k++) {
        exact_integer(number, steps[k].number, s->exponent);
        for (int64_t j = 0; j < s->count; j++) {
            if (!exact_sees(r, r->first + j))
                continue;
            if (axis_step_at(&steps[k], r->first + j))
                exact_integer(number, steps[k].number, s->exponent);
            steps[k].row->exact(s->s[j], number, llabs(position - r->first - j));
        }
    }
}

attest_status exact_scores_new(exact_scores *s, const exact_keys *r, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int64_t d = r->in->p->d;
    const int decayed = axis_decay_of(r->in->p)->vector;
    exact_decays decays = { 0 };
    AUTO_MPZ(x, factor);
    mpz_t *q = exact_integers_new(d);
    s->count = r->last - r->first;
    s->exponent = r->score.low < 0 ? r->score.low : 0;
    s->s = exact_integers_new(s->count);
    if (!q || !s->s) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for %lld scores", (long long)s->count);
        goto out;
    }
    if (decayed)
        ATTEST_TRY(exact_decays_new(&decays, r, err));
    exact_integer(factor, r->in->p->scale, r->scale.low);
    mpz_mul_2exp(factor, factor, (mp_bitcnt_t)(r->product.low - s->exponent));
    for (int64_t c = 0; c < d; c++) {
        axis_feature_integer(q[c], exact_load_q(r, c), r->feature, r->q.low);
        mpz_mul(q[c], q[c], factor);
    }
    for (int64_t j = 0; j < s->count; j++) {
        for (int64_t c = 0; c < d && exact_sees(r, r->first + j); c++) {
            axis_feature_integer(x, exact_load_k(r, r->first + j, c), r->feature, r->k.low);
            if (decayed)
                mpz_mul(x, x, decays.d[j * d + c]);
            mpz_addmul(s->s[j], q[c], x);
        }
    }
    score_steps(s, r);
out:
    exact_decays_free(&decays);
    exact_integers_free(q, d);
    if (status != ATTEST_OK)
        exact_scores_free(s);
    return status;
}

void exact_scores_free(exact_scores *s)
{
    exact_integers_free(s->s, s->count);
    *s = (exact_scores){ .count = 0, .s = NULL, .exponent = 0 };
}
