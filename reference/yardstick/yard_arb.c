/* yard_arb.c - attention as a user of Arb writes it: two arb_mat_mul a head, arb_exp (or Horner) per visible pair. */
#include "reference/yardstick/yardstick.h"

#include <stdlib.h>

#include "reference/engine/engine.h"

typedef struct head {
    const attest_problem *p;
    ref_inputs in;
    slong prec;
    arb_mat_t q, keys, scores, values, sums; /* [n,d] scaled, [d,m], [n,m], [m,e], [n,e] */
    arb_ptr series;                          /* [order+1] 1/n! */
    int order;                               /* -1: exp */
    arb_t z, t;
} head;

static void head_init(head *x, const attest_problem *p, const attest_bundle *in, slong prec)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    x->p = p;
    x->prec = prec;
    attest_error err;
    ref_inputs_set(&x->in, p, in, &err); /* owns nothing, and cannot fail: no numbers of 8 bits are served */
    x->order = weight->value == ATTEST_WEIGHT_EXP ? -1 : (int)weight->order;
    arb_mat_init(x->q, p->n, p->d);
    arb_mat_init(x->keys, p->d, p->m);
    arb_mat_init(x->scores, p->n, p->m);
    arb_mat_init(x->values, p->m, p->e);
    arb_mat_init(x->sums, p->n, p->e);
    arb_init(x->z);
    arb_init(x->t);
    x->series = _arb_vec_init(x->order + 1);
    for (int n = 0; n <= x->order; n++) {
        if (n == 0)
            arb_one(x->series);
        else
            arb_div_ui(x->series + n, x->series + n - 1, (ulong)n, prec);
    }
}

static void head_clear(head *x)
{
    arb_mat_clear(x->q);
    arb_mat_clear(x->keys);
    arb_mat_clear(x->scores);
    arb_mat_clear(x->values);
    arb_mat_clear(x->sums);
    arb_clear(x->z);
    arb_clear(x->t);
    _arb_vec_clear(x->series, x->order + 1);
}

/* One head of a tensor, transposed or not; exact. */
static void load(arb_mat_t x, const attest_tensor *t, int64_t b, int64_t h, int transposed)
{
    for (int64_t i = 0; i < t->shape[2]; i++)
        for (int64_t c = 0; c < t->shape[3]; c++)
            arb_set_d(transposed ? arb_mat_entry(x, c, i) : arb_mat_entry(x, i, c),
                      attest_load(t, attest_offset(t, b, h, i, c)));
}

/* s = e^s, or T_P(s) by Horner's rule */
static void weigh(head *x, arb_t s)
{
    if (x->order < 0) {
        arb_exp(s, s, x->prec);
        return;
    }
    arb_set(x->t, x->series + x->order);
    for (int n = x->order - 1; n >= 0; n--) {
        arb_mul(x->t, x->t, s, x->prec);
        arb_add(x->t, x->t, x->series + n, x->prec);
    }
    arb_swap(s, x->t);
}

static void divide_row(head *x, double *o, int64_t b, int64_t i)
{
    int64_t first, last;
    ref_visible(&x->in, b, i, &first, &last);
    arb_zero(x->z);
    for (int64_t j = first; j < last; j++)
        arb_add(x->z, x->z, arb_mat_entry(x->scores, i, j), x->prec);
    for (int64_t c = 0; c < x->p->e; c++) {
        if (first >= last) {
            o[c] = 0;
            continue;
        }
        arb_div(x->t, arb_mat_entry(x->sums, i, c), x->z, x->prec);
        o[c] = arf_get_d(arb_midref(x->t), ARF_RND_NEAR);
    }
}

static void one_head(head *x, double *o, int64_t b, int64_t h)
{
    const attest_problem *p = x->p;
    const int64_t g = attest_kv_head(p, h);
    arb_t scale;
    load(x->q, x->in.role[ATTEST_Q], b, h, 0);
    if (h == 0 || g != attest_kv_head(p, h - 1)) {
        load(x->keys, x->in.role[ATTEST_K], b, g, 1);
        load(x->values, x->in.role[ATTEST_V], b, g, 0);
    }
    arb_init(scale);
    arb_set_d(scale, p->scale);
    arb_mat_scalar_mul_arb(x->q, x->q, scale, x->prec);
    arb_mat_mul(x->scores, x->q, x->keys, x->prec);
    for (int64_t i = 0; i < p->n; i++) {
        int64_t first, last;
        ref_visible(&x->in, b, i, &first, &last);
        for (int64_t j = 0; j < p->m; j++) {
            if (j >= first && j < last)
                weigh(x, arb_mat_entry(x->scores, i, j));
            else
                arb_zero(arb_mat_entry(x->scores, i, j));
        }
    }
    arb_mat_mul(x->sums, x->scores, x->values, x->prec);
    for (int64_t i = 0; i < p->n; i++)
        divide_row(x, o + i * p->e, b, i);
    arb_clear(scale);
}

attest_status attest_yard_arb(double *o, const attest_problem *p, const attest_bundle *in, long bits, attest_error *err)
{
    char why[256];
    head x;
    if (!attest_yard_serves(p, why, sizeof why))
        return attest_fail(err, ATTEST_UNSUPPORTED, "%s", why);
    head_init(&x, p, in, bits);
    for (int64_t h = 0; h < p->b * p->hq; h++)
        one_head(&x, o + h * p->n * p->e, h / p->hq, h % p->hq);
    head_clear(&x);
    return ATTEST_OK;
}
