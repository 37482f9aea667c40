/* ball_decay.c - products of decay factors in balls (R-DECAY-BALL).
 *
 * D_ij = gamma^(i-j), or the product of a_t over t = j+1..i (vector: per key dimension); a given state meets the
 * product over t = 0..i.  Built from token i backwards: D_{i,j-1} = D_ij a_j, one product a token (of logarithms, an
 * exponential before it), so that the relative error grows by 2^-prec a token (2^(2-prec)), inside the ball.
 */
#include "reference/ball/ball.h"

attest_status ref_ball_product_start(ref_ball_product *y, arb_srcptr start, const ref_inputs *in, int64_t b, int64_t g,
                                     int64_t i, slong prec, attest_error *err)
{
    const int64_t count = axis_decay_of(in->p)->vector ? in->p->d : 1;
    *y = (ref_ball_product){ .in = in, .b = b, .g = g, .reached = i, .count = count, .prec = prec };
    y->x = ref_ball_vector(y->count);
    if (!y->x)
        return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for %lld decays", (long long)y->count);
    for (int64_t c = 0; c < y->count; c++) {
        if (start)
            arb_set(y->x + c, start + c);
        else
            arb_one(y->x + c);
    }
    return ATTEST_OK;
}

void ref_ball_product_clear(ref_ball_product *y)
{
    ref_ball_vector_free(y->x, y->count);
    y->x = NULL;
}

void ref_ball_product_reach(ref_ball_product *y, int64_t j)
{
    const int decays = axis_decay_of(y->in->p)->set;
    AUTO_ARB(a);
    for (; y->reached > j; y->reached--) {
        for (int64_t c = 0; decays && c < y->count; c++) {
            axis_decay_ball(a, y->in, y->b, y->g, y->reached, c, y->prec);
            y->bad |= !arb_is_finite(a);
            arb_mul(y->x + c, y->x + c, a, y->prec);
        }
    }
}

attest_status ref_ball_decay_weights(ref_row *row, arb_t state, const ref_inputs *in, int64_t b, int64_t g, int64_t i,
                                     slong prec, attest_error *err)
{
    ref_ball_product y;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(ref_ball_product_start(&y, NULL, in, b, g, i, prec, err));
    for (int64_t j = row->keys - 1; j >= 0; j--) {
        ref_ball_product_reach(&y, row->key[j]);
        arb_mul(row->w + j, row->w + j, y.x, prec);
        arb_get_mag(row->decay + j, y.x);
    }
    if (attest_axis_value_of(in->p, ATTEST_AXIS_STATE) != ATTEST_STATE_NONE) {
        ref_ball_product_reach(&y, -1);
        arb_set(state, y.x);
        arb_get_mag(row->decay0, y.x);
    }
    row->no_truth |= y.bad;
out:
    ref_ball_product_clear(&y);
    return status;
}

attest_status ref_ball_decay_bound(ref_row *row, const ref_inputs *in, int64_t b, int64_t g, int64_t i,
                                   attest_error *err)
{
    ref_ball_product y;
    AUTO_MAG(size);
    attest_status status = ATTEST_OK;
    ATTEST_TRY(ref_ball_product_start(&y, NULL, in, b, g, i, MAG_BITS, err));
    ref_ball_product_reach(&y, -1);
    mag_zero(row->decay0);
    for (int64_t c = 0; c < y.count; c++) {
        arb_get_mag(size, y.x + c);
        mag_max(row->decay0, row->decay0, size);
    }
    row->no_truth |= y.bad;
out:
    ref_ball_product_clear(&y);
    return status;
}
