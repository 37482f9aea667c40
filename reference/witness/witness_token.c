/* witness_token.c - what a token carries besides k and v: its decay and its gates, by the witness; slopes of heads. */
#include "reference/witness/witness.h"

/* What is stored of the decay of token t: gamma_g, a_t or its entry c; 1 without decay. */
double wit_stored(const wit_case *w, const attest_tensor *t, int64_t b, int64_t h, int64_t j, int64_t c)
{
    const attest_tensor *scale = t == w->k ? w->k_scale : t == w->v ? w->v_scale : NULL;
    const double x = attest_load(t, attest_offset(t, b, h, j, c));
    return scale ? x * attest_load(scale, attest_offset(scale, b, h, 0, 0)) : x;
}

static double stored_decay(const wit_case *w, int64_t b, int64_t g, int64_t c, int64_t t)
{
    if (w->gamma)
        return attest_load(w->gamma, attest_offset(w->gamma, g, 0, 0, 0));
    if (!w->a)
        return 1.0;
    const int vector = w->p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR;
    return attest_load(w->a, attest_offset(w->a, b, g, t, vector ? c : 0));
}

void wit_decay(wit *r, const wit_case *w, int64_t b, int64_t g, int64_t c, int64_t from, int64_t to)
{
    wit a;
    wit_set_ui(r, 1);
    if (w->p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_NONE)
        return;
    wit_init(&a, w->bits);
    for (int64_t t = from; t <= to; t++) {
        const double stored = stored_decay(w, b, g, c, t);
        wit_set_double(&a, stored);
        if (w->p->axis[ATTEST_AXIS_DECAY_INPUT].value == ATTEST_DECAY_INPUT_LOG)
            isfinite(stored) ? wit_exp(&a, &a) : wit_set_unknown(&a);
        wit_mul(r, r, &a);
    }
    wit_clear(&a);
}

/* e^x_h / sum over the heads of e^x, x the scores [b,:,token] */
static void share_of_head(wit *r, const wit_case *w, const attest_tensor *x, int64_t b, int64_t h, int64_t heads,
                          int64_t token)
{
    wit sum, t;
    wit_init(&sum, w->bits);
    wit_init(&t, w->bits);
    for (int64_t head = 0; head < heads; head++) {
        wit_set_double(&t, attest_load(x, attest_offset(x, b, head, token, 0)));
        wit_exp(&t, &t);
        wit_add(&sum, &sum, &t);
        if (head == h)
            wit_set(r, &t);
    }
    wit_div(r, r, &sum);
    wit_clear(&sum);
    wit_clear(&t);
}

void wit_gin(wit *r, const wit_case *w, int64_t b, int64_t g, int64_t j)
{
    wit_set_ui(r, 1);
    if (w->gin)
        wit_set_double(r, attest_load(w->gin, attest_offset(w->gin, b, g, j, 0)));
    if (w->sk)
        share_of_head(r, w, w->sk, b, g, w->p->hkv, j);
}

void wit_dropped(wit *r, const wit_case *w, int64_t b, int64_t h, int64_t i, int64_t j)
{
    wit share;
    wit_set_ui(r, 1);
    if (!w->keep)
        return;
    if (attest_load_int(w->keep, attest_offset(w->keep, b, h, i, j)) == 0) {
        wit_set_ui(r, 0);
        return;
    }
    wit_init(&share, w->bits);
    wit_set_double(&share, w->p->axis[ATTEST_AXIS_DROPOUT].number);
    wit_sub(&share, r, &share);
    wit_div(r, r, &share);
    wit_clear(&share);
}

void wit_gout(wit *r, const wit_case *w, int64_t b, int64_t h, int64_t i)
{
    wit_set_ui(r, 1);
    if (w->gout)
        wit_set_double(r, attest_load(w->gout, attest_offset(w->gout, b, h, i, 0)));
    if (w->sq)
        share_of_head(r, w, w->sq, b, h, w->p->hq, i);
}

/* ---- slopes --------------------------------------------------------------------------------------------------- */
void wit_slope(wit *slope, const wit_case *w, int64_t head)
{
    const unsigned long h = (unsigned long)head;
    unsigned long heads = 1;
    wit two;
    if (w->slope) {
        wit_set_double(slope, attest_load(w->slope, attest_offset(w->slope, head, 0, 0, 0)));
        return;
    }
    while (heads <= (unsigned long)w->p->hq / 2)
        heads += heads;
    wit_init(&two, w->bits);
    wit_set_ui(&two, 8 * (h < heads ? h + 1 : 2 * (h - heads) + 1));
    wit_set_ui(slope, h < heads ? heads : 2 * heads);
    wit_div(slope, &two, slope);
    wit_set_ui(&two, 2);
    wit_pow(slope, &two, slope);
    wit_set_ui(&two, 1);
    wit_div(slope, &two, slope);
    wit_clear(&two);
}
