/* exact_score.c - scores of a row as integers over one power of two (R-EXACT). */
#include "reference/exact/exact.h"

#include <stdlib.h>

/* s -= slope |i+off-j| for every key, then s = min(clamp, s); the grid holds both numbers. */
static void score_steps(exact_scores *s, const exact_keys *r)
{
    const attest_problem *p = r->in->p;
    const attest_tensor *slope = r->in->role[ATTEST_SLOPE];
    const int64_t position = ref_position(r->in, r->b, r->i);
    mpz_t x;
    mpz_init(x);
    if (attest_axis_value_of(p, ATTEST_AXIS_ALIBI) != ATTEST_ALIBI_NONE && s->count > 0) {
        exact_integer(x, attest_load(slope, attest_offset(slope, r->h, 0, 0, 0)), s->exponent);
        for (int64_t j = 0; j < s->count; j++)
            mpz_submul_ui(s->s[j], x, (unsigned long)llabs(position - r->first - j));
    }
    if (attest_axis_value_of(p, ATTEST_AXIS_CLAMP) != ATTEST_CLAMP_NONE) {
        exact_integer(x, p->axis[ATTEST_AXIS_CLAMP].number, s->exponent);
        for (int64_t j = 0; j < s->count; j++)
            if (mpz_cmp(s->s[j], x) > 0)
                mpz_set(s->s[j], x);
    }
    mpz_clear(x);
}

attest_status exact_scores_new(exact_scores *s, const exact_keys *r, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int64_t d = r->in->p->d;
    const int decayed = axis_decay_of(r->in->p)->vector;
    exact_decays decays = { 0 };
    mpz_t x, factor;
    mpz_init(x);
    mpz_init(factor);
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
        for (int64_t c = 0; c < d; c++) {
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
    mpz_clear(factor);
    mpz_clear(x);
    if (status != ATTEST_OK)
        exact_scores_free(s);
    return status;
}

void exact_scores_free(exact_scores *s)
{
    exact_integers_free(s->s, s->count);
    *s = (exact_scores){ .count = 0, .s = NULL, .exponent = 0 };
}
