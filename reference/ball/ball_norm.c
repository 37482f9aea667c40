/* ball_norm.c - the norms that divide by a root: l2, rms, layernorm and the same of u/t, in balls. */
#include "reference/ball/ball.h"

static const struct {
    int root, length, centered, mean;
} kinds[] = {
    [ATTEST_NORM_L2] = { 1, 0, 0, 0 },
    [ATTEST_NORM_RMS] = { 1, 0, 0, 1 },
    [ATTEST_NORM_LAYERNORM] = { 1, 0, 1, 1 },
    [ATTEST_NORM_LENGTH_L2] = { 1, 1, 0, 0 },
    [ATTEST_NORM_LENGTH_RMS] = { 1, 1, 0, 1 },
    [ATTEST_NORM_LENGTH_LAYERNORM] = { 1, 1, 1, 1 },
};

ref_root_kind ref_root_norm_kind(const attest_problem *p)
{
    const uint32_t norm = attest_axis_value_of(p, ATTEST_AXIS_NORM);
    if (norm >= sizeof kinds / sizeof kinds[0] || !kinds[norm].root)
        return (ref_root_kind){ 0, 0, 0, 0 };
    return (ref_root_kind){ 1, kinds[norm].length, kinds[norm].centered, kinds[norm].mean };
}

/* x -= mean of x; a single value is its own mean, exactly. */
static void subtract_mean(arb_ptr x, int64_t e, slong prec)
{
    arb_t mean;
    arb_init(mean);
    for (int64_t c = 0; c < e; c++)
        arb_add(mean, mean, x + c, prec);
    arb_div_si(mean, mean, (slong)e, prec);
    for (int64_t c = 0; c < e; c++) {
        if (e == 1)
            arb_zero(x);
        else
            arb_sub(x + c, x + c, mean, prec);
    }
    arb_clear(mean);
}

int ref_root_norm(arb_ptr x, arb_t root, const attest_problem *p, int64_t keys, slong prec)
{
    const ref_root_kind kind = ref_root_norm_kind(p);
    arb_t eps;
    int good;
    if (kind.length && keys == 0)
        return 0;
    arb_init(eps);
    for (int64_t c = 0; kind.length && c < p->e; c++)
        arb_div_si(x + c, x + c, (slong)keys, prec);
    if (kind.centered)
        subtract_mean(x, p->e, prec);
    arb_dot(root, NULL, 0, x, 1, x, 1, (slong)p->e, prec);
    if (kind.mean)
        arb_div_si(root, root, (slong)p->e, prec);
    arb_set_d(eps, p->axis[ATTEST_AXIS_EPS].number);
    arb_add(root, root, eps, prec);
    good = arb_is_positive(root) && arb_is_finite(root);
    if (good)
        arb_sqrt(root, root, prec);
    for (int64_t c = 0; good && c < p->e; c++)
        arb_div(x + c, x + c, root, prec);
    arb_clear(eps);
    return good;
}

void ref_ball_norm_root(ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    arb_t root;
    (void)h;
    arb_init(root);
    row->illposed = !ref_root_norm(row->o, root, in->p, row->keys, prec);
    for (int64_t c = 0; row->illposed && c < row->e; c++)
        arb_indeterminate(row->o + c);
    arb_clear(root);
}
