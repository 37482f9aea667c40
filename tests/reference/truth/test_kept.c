/* test_kept.c - what a row keeps (facts, abs_scales) is what would be made anew, also after the row was computed
 * again. */
#include <stdlib.h>

#include "reference/truth/truth.h"
#include "tests/reference/truth/truth_case.h"

Suite *suite_kept(void);

static const attest_role outputs[] = { ATTEST_O, ATTEST_U, ATTEST_Z, ATTEST_LSE };

static void compare_abs_scales(ball_case *x, int64_t h, int64_t i)
{
    const int64_t e = x->c.problem.e;
    for (size_t r = 0; r < sizeof outputs / sizeof outputs[0]; r++) {
        const attest_tensor_id id = ROLE(outputs[r]);
        const int64_t count = outputs[r] == ATTEST_O || outputs[r] == ATTEST_U ? e : 1;
        mag_ptr fresh = _mag_vec_init((slong)count);
        mag_srcptr kept, again;
        MUST(ref_abs_scale_row(fresh, &x->row, &x->in, id, (attest_row){ 0, h, i }, &x->err), x);
        MUST(ref_abs_scale_kept(&kept, &x->row, &x->in, id, (attest_row){ 0, h, i }, &x->err), x);
        MUST(ref_abs_scale_kept(&again, &x->row, &x->in, id, (attest_row){ 0, h, i }, &x->err), x);
        ck_assert_ptr_eq(kept, again);
        for (int64_t c = 0; c < count; c++)
            ck_assert_msg(mag_equal(kept + c, fresh + c), "%s: output %d of row %d,%d", x->line, (int)outputs[r],
                          (int)h, (int)i);
        _mag_vec_clear(fresh, (slong)count);
    }
}

START_TEST(abs_scales)
{
    static const char *const lines[] = { "n=5 d=3 e=2 mask=causal hq=2 hkv=1", "variant=taylor:3 n=4 d=2 mask=causal",
                                         "variant=softmax1 n=3 d=2", "variant=rmsnorm n=3 d=2 mask=causal" };
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        ball_case x;
        ball_case_start(&x, lines[k], 1);
        for (int64_t h = 0; h < x.c.problem.hq; h++)
            for (int64_t i = x.c.problem.n - 1; i >= 0; i--) {
                ball_case_row(&x, 0, h, i, i % 2 ? 128 : 256);
                compare_abs_scales(&x, h, i);
            }
        ball_case_stop(&x);
    }
}
END_TEST

/* Facts are those of the row at 128 bits, whatever else was asked for: a kernel that needs more changes no other's. */
START_TEST(facts)
{
    truth_case t;
    attest_row_facts first, again;
    ref_row *row;
    start(&t, "n=4 d=3 mask=causal seed=5", 1, ATTEST_ENGINE_AUTO);
    MUST(attest_truth_facts(&first, t.truth, (attest_row){ 0, 0, 1 }, &t.x.err), &t.x);
    MUST(ref_truth_row(&row, t.truth, (attest_row){ 0, 0, 1 }, 512, &t.x.err), &t.x);
    MUST(attest_truth_facts(&again, t.truth, (attest_row){ 0, 0, 1 }, &t.x.err), &t.x);
    ck_assert(memcmp(&first, &again, sizeof first) == 0);
    ck_assert(first.bits == 128 && first.visible == 2 && first.sum_sign == 1 && first.range_hi >= first.range_lo);
    stop(&t);
}
END_TEST

/* ---- rows and engines -------------------------------------------------------------------------------------------- */
/* Each state of a truth, asked for in both orders and at two precisions, is the one that would be made anew, and is
 * made once. */
START_TEST(states_are_kept)
{
    enum { STATES = 24 };
    const ref_state *kept[STATES], *again;
    truth_case t;
    start(&t, "variant=taylor:2 n=5 d=3 e=2 mask=causal b=2 hq=4 hkv=2", 1, ATTEST_ENGINE_AUTO);
    for (int turn = 0; turn < 2; turn++)
        for (int k = turn ? STATES - 1 : 0; k >= 0 && k < STATES; k += turn ? -1 : 1) {
            const int b = k & 1, g = k >> 1 & 1, z = k >> 2 & 1, degree = k / 8;
            const slong prec = degree == 2 ? 256 : 128;
            MUST(ref_truth_state(turn ? &again : &kept[k], t.truth, b, g, degree, z, prec, &t.x.err), &t.x);
            if (turn)
                ck_assert_msg(again == kept[k], "state %d is made twice", k);
            const int64_t count = kept[k]->count;
            ck_assert_int_eq(count, (degree == 2 ? 9 : degree == 1 ? 3 : 1) * (z ? 1 : 2));
            arb_ptr value = ref_ball_vector(count);
            mag_ptr scale = _mag_vec_init((slong)count);
            MUST(ref_ball_state(value, scale, ref_truth_inputs(t.truth), b, g, degree, z, prec, &t.x.err), &t.x);
            for (int64_t c = 0; c < count; c++)
                ck_assert_msg(arb_equal(value + c, kept[k]->value + c) && mag_equal(scale + c, kept[k]->abs_scale + c),
                              "state %d holds another's values", k);
            ref_ball_vector_free(value, count);
            _mag_vec_clear(scale, (slong)count);
        }
    MUST(ref_truth_state(&again, t.truth, 0, 0, 0, 0, 512, &t.x.err), &t.x);
    ck_assert(again != kept[0] && again->prec == 512 && t.truth->states == again && again->next != NULL);
    t.truth->state_bytes_most = 1; /* room for none: the newest alone stays */
    MUST(ref_truth_state(&again, t.truth, 0, 1, 1, 0, 512, &t.x.err), &t.x);
    ck_assert(t.truth->states == again && again->next == NULL && again->g == 1 && again->count == 6);
    MUST(ref_truth_state(&kept[0], t.truth, 0, 1, 1, 0, 512, &t.x.err), &t.x);
    ck_assert_ptr_eq(kept[0], again);
    stop(&t);
}
END_TEST

START_TEST(rows_are_kept)
{
    truth_case t;
    ref_row *row[600], *again;
    start(&t, "n=300 hq=2 d=1", 1, ATTEST_ENGINE_AUTO);
    for (int64_t r = 0; r < 600; r++)
        MUST(ref_truth_row(&row[r], t.truth, (attest_row){ 0, r / 300, r % 300 }, 128, &t.x.err), &t.x);
    for (int64_t r = 0; r < 600; r++) {
        MUST(ref_truth_row(&again, t.truth, (attest_row){ 0, r / 300, r % 300 }, 256, &t.x.err), &t.x);
        ck_assert_msg(again != row[r] && again->prec == 256, "row %d has one precision", (int)r);
        MUST(ref_truth_row(&again, t.truth, (attest_row){ 0, r / 300, r % 300 }, 128, &t.x.err), &t.x);
        ck_assert_msg(again == row[r] && again->prec == 128, "row %d is computed twice or lost", (int)r);
        ball_case_row(&t.x, 0, r / 300, r % 300, 128);
        ck_assert_msg(arb_equal(again->o, t.x.row.o), "row %d holds another row's values", (int)r);
    }
    stop(&t);
    start(&t, "n=3 d=1 b=2 hq=4 hkv=2", 1, ATTEST_ENGINE_AUTO);
    for (int64_t r = 0; r < 2 * 24; r++) {
        MUST(ref_truth_row(&again, t.truth, (attest_row){ r / 12 % 2, r / 3 % 4, r % 3 }, 128, &t.x.err), &t.x);
        ball_case_row(&t.x, r / 12 % 2, r / 3 % 4, r % 3, 128);
        ck_assert_msg(arb_equal(again->o, t.x.row.o), "row %d of 24 holds another row's values", (int)r);
    }
    stop(&t);
    start(&t, "variant=linear-elu n=3 d=2", 1, ATTEST_ENGINE_AUTO); /* decoded features are kept too: e^x at 128 bits */
    MUST(ref_truth_row(&again, t.truth, (attest_row){ 0, 0, 1 }, 128, &t.x.err), &t.x);
    MUST(ref_truth_row(&again, t.truth, (attest_row){ 0, 0, 1 }, 512, &t.x.err), &t.x);
    ball_case_row(&t.x, 0, 0, 1, 512);
    ck_assert_msg(arb_equal(again->z, t.x.row.z) && arb_equal(again->o, t.x.row.o), "a row from stale features");
    stop(&t);
}
END_TEST

Suite *suite_kept(void)
{
    Suite *suite = suite_create("kept");
    TCase *c = tcase_create("kept");
    tcase_add_test(c, abs_scales);
    tcase_add_test(c, facts);
    tcase_add_test(c, states_are_kept);
    tcase_add_test(c, rows_are_kept);
    suite_add_tcase(suite, c);
    return suite;
}
