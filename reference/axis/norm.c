/* norm.c - how a row is normalised, and what goes with it: eps inside, gain and shift after (R-QUOTIENT, R-FLOOR,
 * R-LENGTH, R-ROOT). */
#include "reference/axis/rows.h"

/* ---- divisors ---------------------------------------------------------------------------------------------------- */
static void divisor_sum(arb_t z, const ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    (void)h;
    arb_set_d(z, in->p->axis[ATTEST_AXIS_EPS].number);
    arb_add(z, z, row->z, prec);
}

static void exact_sum(mpq_t divisor, const mpq_t z, const attest_problem *p, int64_t keys)
{
    (void)keys;
    mpq_set_d(divisor, p->axis[ATTEST_AXIS_EPS].number); /* exact */
    mpq_add(divisor, divisor, z);
}

static void load_sink(arb_t x, const ref_inputs *in, int64_t h)
{
    const attest_tensor *t = in->role[ATTEST_SINK];
    arb_set_d(x, attest_load(t, attest_offset(t, h, 0, 0, 0)));
}

static void divisor_sink(arb_t z, const ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    load_sink(z, in, h);
    arb_exp(z, z, prec);
    arb_add(z, z, row->z, prec);
}

static void divisor_floor(arb_t z, const ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    (void)h;
    arb_set_d(z, in->p->axis[ATTEST_AXIS_NORM].number);
    arb_max(z, z, row->z, prec);
}

static void exact_floor(mpq_t divisor, const mpq_t z, const attest_problem *p, int64_t keys)
{
    (void)keys;
    mpq_set_d(divisor, p->axis[ATTEST_AXIS_NORM].number); /* exact */
    if (mpq_cmp(divisor, z) < 0)
        mpq_set(divisor, z);
}

static void divisor_one(arb_t z, const ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    (void)row;
    (void)in;
    (void)h;
    (void)prec;
    arb_one(z);
}

static void exact_one(mpq_t divisor, const mpq_t z, const attest_problem *p, int64_t keys)
{
    (void)z;
    (void)p;
    (void)keys;
    mpq_set_ui(divisor, 1, 1);
}

static void divisor_length(arb_t z, const ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    (void)in;
    (void)h;
    (void)prec;
    arb_set_si(z, (slong)row->keys);
}

static void exact_length(mpq_t divisor, const mpq_t z, const attest_problem *p, int64_t keys)
{
    (void)z;
    (void)p;
    mpq_set_si(divisor, keys, 1);
}

/* ---- in balls ---------------------------------------------------------------------------------------------------- */
/* o /= divisor, or ill-posed where the divisor may be 0. */
static void ball_quotient(ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    AUTO_ARB(divisor);
    axis_norm_of(in->p)->divisor(divisor, row, in, h, prec);
    row->illposed = !arb_is_finite(divisor) || arb_contains_zero(divisor);
    for (int64_t c = 0; c < row->e; c++) {
        if (row->illposed)
            arb_indeterminate(row->o + c);
        else
            arb_div(row->o + c, row->o + c, divisor, prec);
    }
}

static void ball_sink(ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    AUTO_ARB(sink);
    load_sink(sink, in, h);
    if (!arb_is_finite(sink))
        row->no_truth = 1;
    ball_quotient(row, in, h, prec);
}

static void ball_plain(ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    (void)row; /* o is u */
    (void)in;
    (void)h;
    (void)prec;
}

/* x -= mean of x; a single value is its own mean, exactly. */
static void subtract_mean(arb_ptr x, int64_t e, slong prec)
{
    AUTO_ARB(mean);
    for (int64_t c = 0; c < e; c++)
        arb_add(mean, mean, x + c, prec);
    arb_div_si(mean, mean, (slong)e, prec);
    for (int64_t c = 0; c < e; c++) {
        if (e == 1)
            arb_zero(x);
        else
            arb_sub(x + c, x + c, mean, prec);
    }
}

int axis_root_norm(arb_ptr x, arb_t root, const attest_problem *p, int64_t keys, slong prec)
{
    const axis_root kind = axis_norm_of(p)->root;
    AUTO_ARB(eps);
    int good;
    if (kind.length && keys == 0)
        return 0;
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
    return good;
}

static void ball_root(ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    AUTO_ARB(root);
    (void)h;
    row->illposed = !axis_root_norm(row->o, root, in->p, row->keys, prec);
    for (int64_t c = 0; row->illposed && c < row->e; c++)
        arb_indeterminate(row->o + c);
}

/* ---- the rows ---------------------------------------------------------------------------------------------------- */
#define ROOT(length, centered, mean)                                                                                   \
    {                                                                                                                  \
        .lemma = "R-ROOT", .kind = AXIS_NORM_ROOT, .ball = ball_root, .root = { 1, length, centered, mean }            \
    }

static const axis_norm norms[] = {
    [ATTEST_NORM_SUM] = { .lemma = "R-QUOTIENT",
                          .serves = AXIS_TIE | AXIS_DD | AXIS_YARD,
                          .kind = AXIS_NORM_QUOTIENT,
                          .ball = ball_quotient,
                          .divisor = divisor_sum,
                          .exact = exact_sum,
                          .eps = 1 },
    [ATTEST_NORM_SINK] = { .lemma = "R-SINK",
                           .serves = AXIS_TIE,
                           .kind = AXIS_NORM_QUOTIENT,
                           .ball = ball_sink,
                           .divisor = divisor_sink,
                           .sink = 1 },
    [ATTEST_NORM_FLOOR] = { .lemma = "R-FLOOR",
                            .kind = AXIS_NORM_FLOOR,
                            .ball = ball_quotient,
                            .divisor = divisor_floor,
                            .exact = exact_floor },
    [ATTEST_NORM_NONE] = { .lemma = "R-PLAIN",
                           .serves = AXIS_TIE | AXIS_DD,
                           .kind = AXIS_NORM_PLAIN,
                           .ball = ball_plain,
                           .divisor = divisor_one,
                           .exact = exact_one },
    [ATTEST_NORM_LENGTH] = { .lemma = "R-LENGTH",
                             .serves = AXIS_DD,
                             .kind = AXIS_NORM_LENGTH,
                             .ball = ball_quotient,
                             .divisor = divisor_length,
                             .exact = exact_length },
    [ATTEST_NORM_L2] = ROOT(0, 0, 0),
    [ATTEST_NORM_RMS] = ROOT(0, 0, 1),
    [ATTEST_NORM_LAYERNORM] = ROOT(0, 1, 1),
    [ATTEST_NORM_LENGTH_L2] = ROOT(1, 0, 0),
    [ATTEST_NORM_LENGTH_RMS] = ROOT(1, 0, 1),
    [ATTEST_NORM_LENGTH_LAYERNORM] = ROOT(1, 1, 1),
};

static const axis_entry affines[] = {
    [ATTEST_AFFINE_NONE] = { AXIS_EVERY, NULL },
    [ATTEST_AFFINE_DRAW] = { AXIS_BALL, "R-ROOT" },
};

static const axis_entry eps[] = {
    [ATTEST_EPS_ZERO] = { AXIS_EVERY, NULL },
    [ATTEST_EPS_SET] = { AXIS_BALL | AXIS_EXACT | AXIS_TIE | AXIS_DD, "R-SINK" }, /* one more term of the divisor */
};

axis_entry axis_norm_entry(uint32_t value)
{
    if (value >= AXIS_ROWS(norms))
        return (axis_entry){ 0, NULL };
    const axis_norm *n = &norms[value];
    return (axis_entry){ n->serves | (n->ball ? AXIS_BALL : 0) | (n->exact ? AXIS_EXACT : 0), n->lemma };
}

axis_entry axis_affine_entry(uint32_t value) { return AXIS_ENTRY(affines, value); }

axis_entry axis_eps_entry(uint32_t value) { return AXIS_ENTRY(eps, value); }

const axis_norm *axis_norm_of(const attest_problem *p) { return &norms[p->axis[ATTEST_AXIS_NORM].value]; }

int axis_divisor(arb_t divisor, const ref_row *row, const ref_inputs *in, int64_t h)
{
    const axis_norm *norm = axis_norm_of(in->p);
    if (!norm->divisor)
        return 0;
    norm->divisor(divisor, row, in, h, row->prec);
    return 1;
}
