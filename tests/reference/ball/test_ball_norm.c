/* test_ball_norm.c - l2, rms, layernorm, their forms of u/t, gain and shift in the ball engine: values by hand, where
 * they are ill-posed, and abs_scales that are not below the Jacobian's. */
#include "tests/reference/ball/ball_case.h"

#include <math.h>
#include <stdio.h>

Suite *suite_ball_norm(void);

/* One key of weight 1 (power:0), so u = v = values; with m = 2 the second key's values are 0 and t = 2. */
static void start(ball_case *x, const char *line, const double *values)
{
    ball_case_start(x, line, 0);
    for (int64_t c = 0; c < x->c.problem.e; c++) {
        ball_case_put(x, ATTEST_V, 0, 0, 0, c, values[c]);
        if (attest_bundle_role(x->bundle, ATTEST_GAIN)) {
            ball_case_put(x, ATTEST_GAIN, c, 0, 0, 0, (double)(c + 2));
            ball_case_put(x, ATTEST_SHIFT, c, 0, 0, 0, 0.5 * (double)(c + 1));
        }
    }
    if (attest_bundle_role(x->bundle, ATTEST_GOUT))
        ball_case_put(x, ATTEST_GOUT, 0, 0, 0, 0, 0.5);
}

#define ONE "variant=quadratic weight=power:0 n=1 m=1 d=1 e=2 "
#define PAIR "variant=quadratic weight=power:0 n=1 m=2 d=1 e=2 "

START_TEST(by_hand)
{
    /* every radicand is the square of a dyadic number */
    static const struct {
        const char *line;
        double u[2], o[2];
    } table[] = {
        { ONE "norm=l2", { 0, -4 }, { 0, -1 } },
        { ONE "norm=l2 eps=144", { 3, -4 }, { 3 / 13.0, -4 / 13.0 } },
        { ONE "norm=l2 eps=39", { 3, 4 }, { 0.375, 0.5 } }, /* 25 + 39 = 64 */
        { ONE "norm=rms", { 4, -4 }, { 1, -1 } },
        { ONE "norm=rms eps=51.5", { 3, 4 }, { 0.375, 0.5 } }, /* 12.5 + 51.5 */
        { ONE "norm=layernorm", { 3, 7 }, { -1, 1 } },
        { ONE "norm=layernorm eps=12", { 3, 7 }, { -0.5, 0.5 } }, /* 4 + 12 */
        { ONE "norm=layernorm eps=12 affine=draw", { 3, 7 }, { -0.5, 2.5 } },
        { ONE "norm=rms affine=draw", { 4, -4 }, { 2.5, -2 } },
        { ONE "norm=rms affine=draw gates=out", { 4, -4 }, { 1.25, -1 } },   /* after gain and shift */
        { ONE "norm=rms eps=60 gates=pre-out", { 4, -4 }, { 0.25, -0.25 } }, /* 2 / sqrt(4 + 60) */
        { ONE "norm=rms eps=48 gates=out", { 4, -4 }, { 0.25, -0.25 } },     /* 4 / sqrt(16 + 48) / 2 */
        { PAIR "norm=length-l2 eps=39", { 6, 8 }, { 0.375, 0.5 } },
        { PAIR "norm=length-rms eps=51.5", { 6, 8 }, { 0.375, 0.5 } },
        { PAIR "norm=length-layernorm eps=12", { 6, 14 }, { -0.5, 0.5 } },
        { "variant=quadratic weight=power:0 n=1 m=1 d=1 e=1 norm=layernorm eps=4", { 6, 0 }, { 0, 0 } },
    };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        ball_case x;
        start(&x, table[t].line, table[t].u);
        ball_case_row(&x, 0, 0, 0, 128);
        ck_assert_msg(!x.row.illposed && !x.row.no_truth, "%s", table[t].line);
        for (int64_t c = 0; c < x.row.e; c++) {
            const int dyadic = t != 1;
            const double mid = arf_get_d(arb_midref(x.row.o + c), ARF_RND_NEAR);
            ck_assert_msg(dyadic ? ball_is_double(x.row.o + c, table[t].o[c], 100) : mid == table[t].o[c],
                          "%s: o[%d] is %.17g", table[t].line, (int)c, mid);
        }
        ball_case_stop(&x);
    }
}
END_TEST

START_TEST(illposed_empty_and_unread)
{
    static const struct {
        const char *line;
        double u[2];
        int illposed;
    } table[] = {
        { ONE "norm=l2", { 0, 0 }, 1 },
        { ONE "norm=l2 eps=1", { 0, 0 }, 0 },
        { ONE "norm=rms", { 0, 0 }, 1 },
        { ONE "norm=layernorm", { 5, 5 }, 1 },
        { ONE "norm=layernorm eps=1", { 5, 5 }, 0 },
        { "variant=quadratic weight=power:0 n=1 m=1 d=1 e=1 norm=layernorm", { 5, 0 }, 1 },
        { "variant=quadratic weight=power:0 n=1 m=1 d=1 e=1 norm=length-layernorm", { 5, 0 }, 1 },
        { ONE "norm=rms gates=out", { 0, 0 }, 1 },
    };
    static const char *const norms[] = { "l2", "rms", "layernorm", "length-l2", "length-rms", "length-layernorm" };
    ball_case x;
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        start(&x, table[t].line, table[t].u);
        ball_case_row(&x, 0, 0, 0, 256);
        ck_assert_msg(x.row.illposed == table[t].illposed && !x.row.no_truth, "%s", table[t].line);
        ball_case_stop(&x);
    }
    for (size_t t = 0; t < sizeof norms / sizeof norms[0]; t++)
        for (int affine = 0; affine < 2 && !(affine && strstr(norms[t], "l2")); affine++) {
            char line[128];
            snprintf(line, sizeof line, "n=2 m=1 d=1 e=2 mask=causal-br norm=%s%s", norms[t],
                     affine ? " affine=draw" : "");
            ball_case_start(&x, line, 1);
            if (affine)
                ball_case_put(&x, t % 2 ? ATTEST_GAIN : ATTEST_SHIFT, 1, 0, 0, 0, NAN);
            ball_case_row(&x, 0, 0, 0, 128);
            ck_assert_msg(x.row.empty && !x.row.no_truth && arb_is_zero(x.row.o) && arb_is_zero(x.row.z), "%s", line);
            ball_case_row(&x, 0, 0, 1, 128);
            ck_assert_msg(!x.row.empty && x.row.no_truth == affine, "%s", line);
            ball_case_stop(&x);
        }
}
END_TEST

/* Gauges by hand with u = (3, 4) or (3, 7) and power:0, where the abs_scale of u_c is |v_c|. */
START_TEST(abs_scales)
{
    static const struct {
        const char *line;
        double u[2], abs_scale[2];
    } table[] = {
        /* y = (0.375, 0.5), s = 8, T = 3 * 0.375 + 4 * 0.5 = 3.125 */
        { ONE "norm=l2 eps=39", { 3, 4 }, { (3 + 0.375 * 3.125) / 8, (4 + 0.5 * 3.125) / 8 } },
        { ONE "norm=rms eps=51.5", { 3, 4 }, { (3 + 0.375 * 1.5625) / 8, (4 + 0.5 * 1.5625) / 8 } },
        { PAIR "norm=length-rms eps=51.5", { 6, 8 }, { (3 + 0.375 * 1.5625) / 8, (4 + 0.5 * 1.5625) / 8 } },
        /* y = (-0.5, 0.5), s = 4, T/2 = 2.5, mean 5 */
        { ONE "norm=layernorm eps=12", { 3, 7 }, { (3 + 5 + 1.25) / 4, (7 + 5 + 1.25) / 4 } },
        { ONE "norm=layernorm eps=12 affine=draw gates=out",
          { 3, 7 },
          { (2 * 9.25 / 4 + 0.5) / 2, (3 * 13.25 / 4 + 1) / 2 } },
        /* y = (0.25, -0.25), s = 8, g = 2, T/2 = 0.5 */
        { ONE "norm=rms eps=60 gates=pre-out", { 4, -4 }, { (2 + 0.125) / 8, (2 + 0.125) / 8 } },
    };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        ball_case x;
        start(&x, table[t].line, table[t].u);
        mag_ptr abs_scale = _mag_vec_init(2);
        ball_case_row(&x, 0, 0, 0, 128);
        MUST(ref_abs_scale_row(abs_scale, &x.row, &x.in, ROLE(ATTEST_O), (attest_row){ 0, 0, 0 }, &x.err), &x);
        for (int c = 0; c < 2; c++) {
            const double got = ref_mag_upper(abs_scale + c), want = table[t].abs_scale[c];
            ck_assert_msg(got >= want * (1 - 1e-12) && got < want * 1.001, "%s: %d: %g, not %g", x.line, c, got, want);
        }
        _mag_vec_clear(abs_scale, 2);
        ball_case_stop(&x);
    }
}
END_TEST

Suite *suite_ball_norm(void)
{
    Suite *s = suite_create("ball_norms");
    TCase *t = tcase_create("ball_norms");
    tcase_add_test(t, by_hand);
    tcase_add_test(t, illposed_empty_and_unread);
    tcase_add_test(t, abs_scales);
    suite_add_tcase(s, t);
    return s;
}
