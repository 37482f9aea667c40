/* ball_witness.h - rows and states of the ball engine beside those of the witness (tests/oracle.h), which shares
 * with it the tensors and the parsed line. */
#ifndef ATTEST_TESTS_BALL_WITNESS_H
#define ATTEST_TESTS_BALL_WITNESS_H

#include "tests/oracle.h"
#include "tests/reference/ball/ball_case.h"

enum { WITNESS_BITS = 512 };

/* 1 if the ball meets the value and its radius is at most 2^-bits of the abs_scale. */
static inline int ball_meets(const arb_t ball, const arb_t value, const mag_t abs_scale, slong bits)
{
    mag_t limit;
    int yes;
    mag_init(limit);
    mag_mul_2exp_si(limit, abs_scale, -bits);
    yes = arb_is_finite(ball) && arb_is_finite(value) && arb_overlaps(ball, value) &&
          mag_cmp(arb_radref(ball), limit) <= 0;
    mag_clear(limit);
    return yes;
}

/* The scores of row (b,h,i), s[m]: its u if the score itself is the weight and v the identity. */
static inline void witness_scores(arb_ptr s, ball_case *x, int64_t b, int64_t h, int64_t i)
{
    static const attest_role read[] = { ATTEST_Q, ATTEST_K, ATTEST_KV_LENS, ATTEST_DECAY };
    static const attest_axis left_out[] = { ATTEST_AXIS_CENTER, ATTEST_AXIS_FILTER, ATTEST_AXIS_GATES,
                                            ATTEST_AXIS_AFFINE, ATTEST_AXIS_EPS,    ATTEST_AXIS_STATE };
    attest_problem p = x->c.problem;
    attest_tensor *t;
    attest_bundle *in;
    oracle want;
    p.e = p.m;
    p.axis[ATTEST_AXIS_WEIGHT] = (attest_setting){ .value = ATTEST_WEIGHT_POWER, .order = 1 };
    p.axis[ATTEST_AXIS_NORM] = (attest_setting){ .value = ATTEST_NORM_NONE };
    for (size_t n = 0; n < sizeof left_out / sizeof left_out[0]; n++)
        p.axis[left_out[n]] = (attest_setting){ 0 };
    if (p.axis[ATTEST_AXIS_DECAY].value != ATTEST_DECAY_VECTOR) /* that one is inside the score */
        p.axis[ATTEST_AXIS_DECAY].value = ATTEST_DECAY_NONE;
    MUST(attest_bundle_new(&in, &x->err), x);
    for (size_t n = 0; n < sizeof read / sizeof read[0]; n++)
        if (attest_problem_uses(&p, ROLE(read[n]))) {
            MUST(attest_bundle_add(in, &p, ROLE(read[n]), 0, &t, &x->err), x);
            memcpy(t->data, attest_bundle_role(x->bundle, read[n])->data, attest_tensor_bytes(t));
        }
    MUST(attest_bundle_add(in, &p, ROLE(ATTEST_V), 0, &t, &x->err), x);
    for (int64_t at = 0; at < p.b * p.hkv * p.m; at++)
        attest_store_bits(t, at * p.m + at % p.m, attest_from_f64(t->dtype, 1));
    oracle_init(&want, &p, in, WITNESS_BITS);
    for (int64_t j = 0; j < p.m; j++)
        oracle_value(s + j, oracle_row(&want, b, h, i), ATTEST_U, j);
    oracle_clear(&want);
    attest_bundle_free(in);
}

/* Row (b,h,i) at `prec` bits: z and u within 2^-bits of their abs_scales, o and every score. */
static inline void check_row(ball_case *x, oracle *want, int64_t b, int64_t h, int64_t i, slong prec, slong bits)
{
    const int64_t e = x->c.problem.e, m = x->c.problem.m;
    const ref_witness *row = oracle_row(want, b, h, i);
    mag_ptr abs_scale = _mag_vec_init((slong)e);
    arb_ptr s = _arb_vec_init((slong)m);
    arb_t value;
    arb_init(value);
    ball_case_row(x, b, h, i, prec);
    ck_assert_msg(x->row.empty == row->empty, "%s: row %d %d reads nothing?", x->line, (int)h, (int)i);
    MUST(ref_abs_scale_row(abs_scale, &x->row, &x->in, ROLE(ATTEST_Z), (attest_row){ b, h, i }, &x->err), x);
    oracle_value(value, row, ATTEST_Z, 0);
    ck_assert_msg(ball_meets(x->row.z, value, abs_scale, bits), "%s: z of row %d %d", x->line, (int)h, (int)i);
    MUST(ref_abs_scale_row(abs_scale, &x->row, &x->in, ROLE(ATTEST_U), (attest_row){ b, h, i }, &x->err), x);
    for (int64_t c = 0; c < e; c++) {
        oracle_value(value, row, ATTEST_U, c);
        ck_assert_msg(ball_meets(x->row.u + c, value, abs_scale + c, bits), "%s: u of row %d %d", x->line, (int)h,
                      (int)i);
        oracle_value(value, row, ATTEST_O, c);
        ck_assert_msg(x->row.illposed || (arb_is_finite(value) && arb_overlaps(x->row.o + c, value)),
                      "%s: o of row %d %d", x->line, (int)h, (int)i);
    }
    witness_scores(s, x, b, h, i);
    for (int64_t j = 0; j < x->row.keys; j++)
        ck_assert_msg(arb_overlaps(x->row.s + j, s + x->row.first + j), "%s: score %d of row %d %d", x->line, (int)j,
                      (int)h, (int)i);
    arb_clear(value);
    _arb_vec_clear(s, (slong)m);
    _mag_vec_clear(abs_scale, (slong)e);
}

/* ht.n or zt.n of KV head (b,g), at 128 bits, within 2^-100 of its abs_scale. */
static inline void check_state(ball_case *x, oracle *want, attest_tensor_id id, int64_t b, int64_t g)
{
    const int z = id.kind == ATTEST_KIND_ZT;
    const int64_t count = wit_state_rows(&x->c.problem, id.index) * (z ? 1 : x->c.problem.e);
    arb_ptr s = _arb_vec_init((slong)count), value = _arb_vec_init((slong)count);
    mag_ptr abs_scale = _mag_vec_init((slong)count);
    MUST(ref_ball_state(s, abs_scale, &x->in, b, g, (int)id.index, z, 128, &x->err), x);
    oracle_state(value, want, id, b, g);
    for (int64_t at = 0; at < count; at++)
        ck_assert_msg(ball_meets(s + at, value + at, abs_scale + at, 100), "%s: state %d.%d entry %d", x->line, z,
                      (int)id.index, (int)at);
    _mag_vec_clear(abs_scale, (slong)count);
    _arb_vec_clear(value, (slong)count);
    _arb_vec_clear(s, (slong)count);
}

#endif
