/* test_bound_axes.c - honest float arithmetic stays below the bound for every axis, and one wrong step does not. */
#include <stdio.h>

#include "tests/reference/bound/bound_axes.h"

Suite *suite_bound_axes(void);

typedef struct axes_case {
    const char *line;
    axes_form form;
    uint32_t schedule;
} axes_case;

#define DIRECT ATTEST_SCHEDULE_DIRECT
#define TWO_PASS ATTEST_SCHEDULE_TWO_PASS
#define RECURRENT ATTEST_SCHEDULE_RECURRENT
#define SIZES " hq=4 hkv=2 n=16 d=8 e=6"

static const axes_case cases[] = {
    { "variant=softmax rope=10000 mask=causal" SIZES, AXES_DIRECT, TWO_PASS },
    { "variant=softmax rope=0.5 mask=causal" SIZES, AXES_DIRECT, TWO_PASS },
    { "variant=linear-elu rope=10000 mask=causal" SIZES, AXES_DIRECT, DIRECT },
    { "variant=linear-relu rope=100 mask=causal" SIZES, AXES_DIRECT, DIRECT },
    { "variant=cos-taylor:3 rope=10000 mask=causal" SIZES, AXES_DIRECT, DIRECT },
    { "variant=cos-taylor:4" SIZES, AXES_DIRECT, DIRECT },
    { "variant=taylor:2 feature=silu" SIZES, AXES_DIRECT, DIRECT },
    { "variant=taylor:2 feature=silu rope=100" SIZES, AXES_DIRECT, DIRECT },
    { "variant=taylor:2 feature=silu-unit" SIZES, AXES_DIRECT, DIRECT },
    { "variant=taylor:2 feature=silu-unit rope=1000 mask=causal" SIZES, AXES_DIRECT, DIRECT },
    { "variant=cosformer mask=causal" SIZES, AXES_DIRECT, DIRECT },
    { "variant=cosformer rope=10000 mask=causal" SIZES, AXES_DIRECT, DIRECT },
    { "variant=cosformer mask=causal" SIZES, AXES_STATES, RECURRENT },
    { "variant=softmax cap=3" SIZES, AXES_DIRECT, TWO_PASS },
    { "variant=softmax alibi=draw mask=causal-br m=40" SIZES, AXES_DIRECT, TWO_PASS },
    { "variant=softmax cap=30 alibi=draw clamp=1" SIZES, AXES_DIRECT, TWO_PASS },
    { "variant=softmax alibi=usual mask=causal-br m=40 hq=16 hkv=2 n=16 d=8 e=6", AXES_DIRECT, TWO_PASS },
    { "variant=softmax alibi=usual mask=causal hq=12 hkv=2 n=16 d=8 e=6", AXES_DIRECT, TWO_PASS },
    { "variant=taylor:3 cap=30 alibi=usual clamp=1 hq=3 hkv=1 n=16 d=8 e=6", AXES_DIRECT, DIRECT },
    { "variant=softmax bias=full mask=causal" SIZES, AXES_DIRECT, TWO_PASS },
    { "variant=softmax cap=3 bias=head clamp=1 family=edges" SIZES, AXES_DIRECT, TWO_PASS },
    { "variant=taylor:3 bias=shared" SIZES, AXES_DIRECT, DIRECT },
    { "variant=taylor:3 clamp=0.3" SIZES, AXES_DIRECT, DIRECT },
    { "variant=filtered:0.75" SIZES, AXES_DIRECT, DIRECT },
    { "variant=softmax filter=1.5 mask=causal" SIZES, AXES_DIRECT, TWO_PASS },
    { "variant=fox" SIZES, AXES_DIRECT, TWO_PASS },
    { "variant=retnet" SIZES, AXES_DIRECT, DIRECT },
    { "variant=gla" SIZES, AXES_DIRECT, DIRECT },
    { "variant=simple-gla" SIZES, AXES_DIRECT, DIRECT },
    { "variant=taylor:2 decay=scalar mask=causal window=5" SIZES, AXES_DIRECT, DIRECT },
    { "variant=retnet state=draw" SIZES, AXES_STATES, RECURRENT },
    { "variant=gla state=draw" SIZES, AXES_STATES, RECURRENT },
    { "variant=simple-gla state=draw feature=elu1 norm=sum" SIZES, AXES_STATES, RECURRENT },
    { "variant=linear-cos mask=causal" SIZES, AXES_STATES, RECURRENT },
    { "variant=linear-cos" SIZES, AXES_DIRECT, DIRECT },
    { "variant=gate" SIZES, AXES_DIRECT, DIRECT },
    { "variant=divlen mask=causal" SIZES, AXES_DIRECT, DIRECT },
    { "variant=no-denominator" SIZES, AXES_DIRECT, DIRECT },
    { "variant=floor-denominator mask=causal scale=2" SIZES, AXES_DIRECT, DIRECT },
    { "variant=softmax norm=floor:30" SIZES, AXES_DIRECT, DIRECT },
    { "variant=gated-softmax" SIZES, AXES_DIRECT, DIRECT },
    { "variant=softmax gates=heads mask=causal" SIZES, AXES_DIRECT, TWO_PASS },
    { "variant=sla" SIZES, AXES_DIRECT, DIRECT },
    { "variant=sla-gla" SIZES, AXES_STATES, RECURRENT },
    { "variant=l2norm gates=pre-out" SIZES, AXES_DIRECT, DIRECT },
    { "variant=l2norm" SIZES, AXES_DIRECT, DIRECT },
    { "variant=rmsnorm eps=1 gates=out" SIZES, AXES_DIRECT, DIRECT },
    { "variant=rmsnorm eps=0.5 affine=draw gates=pre-out" SIZES, AXES_DIRECT, DIRECT },
    { "variant=layernorm" SIZES, AXES_DIRECT, DIRECT },
    { "variant=layernorm affine=draw eps=0.25" SIZES, AXES_DIRECT, DIRECT },
    { "variant=softmax norm=length-layernorm eps=0.001" SIZES, AXES_DIRECT, DIRECT },
    { "variant=linear norm=length-rms mask=causal" SIZES, AXES_STATES, RECURRENT },
    { "variant=taylor:2 norm=l2 mask=causal" SIZES, AXES_DIRECT, DIRECT },
    { "variant=deltanet" SIZES, AXES_DELTA, RECURRENT },
    { "variant=gdn" SIZES, AXES_DELTA, RECURRENT },
    { "variant=deltanet decay=vector gates=inout state=draw" SIZES, AXES_DELTA, RECURRENT },
    { "variant=efla" SIZES, AXES_DELTA, RECURRENT },
    { "variant=efla feature=silu-unit decay=retnet" SIZES, AXES_DELTA, RECURRENT },
    { "variant=deltanet feature=unit rope=10000" SIZES, AXES_DELTA, RECURRENT },
    { "variant=sla-gdn feature=silu" SIZES, AXES_DELTA, RECURRENT },
    { "variant=deltanet chunk=8" SIZES, AXES_DELTA_CHUNK, ATTEST_SCHEDULE_CHUNK },
    { "variant=gdn chunk=5 state=draw" SIZES, AXES_DELTA_CHUNK, ATTEST_SCHEDULE_CHUNK },
    { "variant=efla chunk=64 feature=relu gates=in" SIZES, AXES_DELTA_CHUNK, DIRECT },
};

static attest_numerics declared(uint32_t schedule)
{
    const attest_numerics n = { .struct_size = sizeof n,
                                .decay_products = ATTEST_YES,
                                .schedule = schedule,
                                .exp_error = 0x1p-23,
                                .log2_domain = ATTEST_NO,
                                .p_rounding = ATTEST_ROUNDING_NEAREST,
                                .acc_truncates = ATTEST_NO,
                                .acc_unit = 0x1p-24,
                                .div_error = 0x1p-24,
                                .scale_dtype = 1 + ATTEST_F32,
                                .state_dtype = 1 + ATTEST_F32 };
    return schedule ? n : (attest_numerics){ .struct_size = sizeof n };
}

typedef struct tally {
    int64_t elements, above, unbounded, undecided, count;
    double worst, least;
    double ratio[8192]; /* of elements that err */
} tally;

static void judge(tally *y, axes_sim *s, attest_role role, const float *got, const attest_numerics *n, int64_t i)
{
    attest_element x[AXIS_D];
    attest_tensor t;
    char why[64];
    const int64_t count = role == ATTEST_O || role == ATTEST_U ? s->p->e : 1;
    if (!attest_problem_has(s->p, ROLE(role), why, sizeof why))
        return;
    attest_tensor_describe(&t, s->p, ROLE(role), 0);
    t.data = calloc((size_t)attest_tensor_count(&t), 8);
    for (int64_t c = 0; c < count; c++)
        attest_store_bits(&t, attest_offset(&t, 0, s->h, i, c), attest_from_f64(t.dtype, (double)got[c]));
    MUST(attest_judge_row(x, NULL, s->truth, n, 0, ROLE(role), &t, (attest_row){ 0, s->h, i }, &s->x.err), &s->x);
    for (int64_t c = 0; c < count; c++) {
        y->elements++;
        y->unbounded += x[c].class == ATTEST_CLASS_UNBOUNDED;
        y->undecided += !x[c].decided;
        if (x[c].class != ATTEST_CLASS_NORMAL)
            continue;
        y->above += !(x[c].ratio_hi <= 1);
        y->worst = fmax(y->worst, x[c].ratio_hi);
        y->least = fmax(y->least, x[c].ratio_lo);
        if (x[c].ratio_hi > 0 && y->count < 8192)
            y->ratio[y->count++] = x[c].ratio_hi;
    }
    free(t.data);
}

/* ht.1 of the KV head (zt.1 too, where there is one) as the last row left it. */
static void judge_state(tally *y, axes_sim *s, const attest_numerics *n, int z_state)
{
    const attest_tensor_id id = { z_state ? ATTEST_KIND_ZT : ATTEST_KIND_HT, 1 };
    const int64_t e = z_state ? 1 : s->p->e, count = attest_feature_dim(s->p) * e;
    attest_element x[2 * AXIS_D * AXIS_D];
    attest_tensor t;
    attest_tensor_describe(&t, s->p, id, 0);
    t.data = calloc((size_t)attest_tensor_count(&t), 8);
    for (int64_t k = 0; k < count; k++)
        attest_store_bits(&t, attest_offset(&t, 0, s->g, k / e, z_state ? 0 : k % e),
                          attest_from_f64(t.dtype, (double)(z_state ? s->z_state[k] : s->state[k])));
    MUST(attest_judge_state(x, s->truth, n, 0, id, 0, &t, 0, s->g, &s->x.err), &s->x);
    for (int64_t k = 0; k < count; k++) {
        y->elements++;
        y->unbounded += x[k].class == ATTEST_CLASS_UNBOUNDED;
        y->undecided += !x[k].decided;
        y->above += !(x[k].ratio_hi <= 1);
        y->worst = fmax(y->worst, x[k].ratio_hi);
        y->least = fmax(y->least, x[k].ratio_lo);
    }
    free(t.data);
}

static void run_case(tally *y, const axes_case *c, axes_defect defect, int backwards, int unknown, int seed)
{
    const attest_numerics n = declared(unknown ? 0 : c->schedule);
    char line[256];
    axes_sim s = { .form = c->form, .defect = defect, .backwards = backwards };
    snprintf(line, sizeof line, "%s seed=%d", c->line, seed);
    ball_case_start(&s.x, line, 1);
    s.p = &s.x.c.problem;
    MUST(attest_truth_new(&s.truth, s.p, s.x.bundle, ATTEST_ENGINE_AUTO, &s.x.err), &s.x);
    s.h = seed % s.p->hq;
    s.g = attest_kv_head(s.p, s.h);
    for (int64_t i = 0; i < s.p->n; i++) {
        axes_row(&s, i);
        judge(y, &s, ATTEST_O, s.o, &n, i);
        if (!axes_cancels(&s))
            judge(y, &s, ATTEST_U, s.u, &n, i);
        if (!axes_cancels(&s) && defect == AXES_NONE)
            judge(y, &s, ATTEST_Z, &s.z, &n, i);
        if (defect == AXES_NONE)
            judge(y, &s, ATTEST_LSE, &s.lse, &n, i);
    }
    if (s.form != AXES_DIRECT)
        judge_state(y, &s, &n, 0);
    if (s.form == AXES_STATES)
        judge_state(y, &s, &n, 1);
    attest_truth_free(s.truth);
    ball_case_stop(&s.x);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Bound over error of the middle element. */
static double median_slack(tally *y)
{
    qsort(y->ratio, (size_t)y->count, sizeof *y->ratio, by_size);
    return y->count ? 1 / y->ratio[y->count / 2] : 0;
}

START_TEST(honest_arithmetic_passes)
{
    static tally y;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (int unknown = 0; unknown < 2; unknown++) {
            y = (tally){ 0 };
            for (int seed = 0; seed < 2; seed++)
                run_case(&y, &cases[k], AXES_NONE, seed & 1, unknown, seed);
            const double slack = median_slack(&y);
            if (getenv("BOUND_FIGURES"))
                printf("%-50s%s worst %.3g median slack %.3g\n", cases[k].line, unknown ? "?" : " ", y.worst, slack);
            ck_assert_msg(y.above == 0, "%s: %lld of %lld above the bound, worst %g", cases[k].line, (long long)y.above,
                          (long long)y.elements, y.worst);
            ck_assert_msg(y.unbounded == 0, "%s: no bound for %lld elements", cases[k].line, (long long)y.unbounded);
            ck_assert_msg(y.undecided == 0, "%s: undecided", cases[k].line);
            ck_assert_msg(unknown || slack < 6000, "%s: median slack %g", cases[k].line, slack);
        }
}
END_TEST

/* A step left out or done wrongly shows for a declared kernel. */
static const struct {
    axes_case c;
    axes_defect defect;
} broken[] = {
    { { "variant=softmax rope=10000 mask=causal" SIZES, AXES_DIRECT, TWO_PASS }, AXES_ANGLE },
    { { "variant=cosformer mask=causal" SIZES, AXES_DIRECT, DIRECT }, AXES_ANGLE },
    { { "variant=cos-taylor:4" SIZES, AXES_DIRECT, DIRECT }, AXES_FEATURE },
    { { "variant=taylor:2 feature=silu" SIZES, AXES_DIRECT, DIRECT }, AXES_FEATURE },
    { { "variant=softmax cap=30" SIZES, AXES_DIRECT, TWO_PASS }, AXES_CAP },
    { { "variant=softmax alibi=draw" SIZES, AXES_DIRECT, TWO_PASS }, AXES_SLOPE },
    { { "variant=softmax alibi=usual hq=12 hkv=2 n=16 d=8 e=6", AXES_DIRECT, TWO_PASS }, AXES_SLOPE },
    { { "variant=softmax alibi=usual hq=12 hkv=2 n=16 d=8 e=6", AXES_DIRECT, TWO_PASS }, AXES_USUAL },
    { { "variant=softmax bias=head" SIZES, AXES_DIRECT, TWO_PASS }, AXES_BIAS },
    { { "variant=softmax clamp=0.5" SIZES, AXES_DIRECT, TWO_PASS }, AXES_CLAMP },
    { { "variant=filtered:0.75" SIZES, AXES_DIRECT, DIRECT }, AXES_FILTER },
    { { "variant=fox" SIZES, AXES_DIRECT, TWO_PASS }, AXES_DECAY },
    { { "variant=retnet" SIZES, AXES_DIRECT, DIRECT }, AXES_DECAY },
    { { "variant=gla" SIZES, AXES_DIRECT, DIRECT }, AXES_DECAY },
    { { "variant=simple-gla state=draw" SIZES, AXES_STATES, RECURRENT }, AXES_GIVEN },
    { { "variant=gated-softmax" SIZES, AXES_DIRECT, DIRECT }, AXES_GATE_IN },
    { { "variant=gated-softmax" SIZES, AXES_DIRECT, DIRECT }, AXES_GATE_OUT },
    { { "variant=sla" SIZES, AXES_DIRECT, DIRECT }, AXES_GATE_IN },
    { { "variant=rmsnorm eps=0.001 gates=pre-out" SIZES, AXES_DIRECT, DIRECT }, AXES_GATE_OUT },
    { { "variant=rmsnorm eps=0.5" SIZES, AXES_DIRECT, DIRECT }, AXES_EPS },
    { { "variant=rmsnorm" SIZES, AXES_DIRECT, DIRECT }, AXES_MEAN },
    { { "variant=layernorm" SIZES, AXES_DIRECT, DIRECT }, AXES_MEAN },
    { { "variant=layernorm affine=draw" SIZES, AXES_DIRECT, DIRECT }, AXES_SHIFT },
    { { "variant=divlen mask=causal" SIZES, AXES_DIRECT, DIRECT }, AXES_LENGTH },
    { { "variant=softmax norm=floor:30" SIZES, AXES_DIRECT, DIRECT }, AXES_FLOOR },
    { { "variant=deltanet" SIZES, AXES_DELTA, RECURRENT }, AXES_RATE },
    { { "variant=gdn" SIZES, AXES_DELTA, RECURRENT }, AXES_DECAY },
    { { "variant=efla" SIZES, AXES_DELTA, RECURRENT }, AXES_RATE },
    { { "variant=deltanet gates=inout chunk=4" SIZES, AXES_DELTA_CHUNK, ATTEST_SCHEDULE_CHUNK }, AXES_GATE_IN },
    { { "variant=gdn chunk=4" SIZES, AXES_DELTA_CHUNK, ATTEST_SCHEDULE_CHUNK }, AXES_DECAY },
};

/* A state that misses a decay, or the last chunk's gate. */
START_TEST(wrong_states_fail)
{
    static const axes_case table[] = { { "variant=gla" SIZES, AXES_STATES, RECURRENT },
                                       { "variant=gdn" SIZES, AXES_DELTA, RECURRENT },
                                       { "variant=gdn chunk=4" SIZES, AXES_DELTA_CHUNK, ATTEST_SCHEDULE_CHUNK } };
    for (int k = 0; k < 3; k++) {
        tally *y = calloc(1, sizeof *y);
        const attest_numerics n = declared(table[k].schedule);
        axes_sim s = { .form = table[k].form, .defect = k == 0 ? AXES_GATE_IN : AXES_DECAY };
        ball_case_start(&s.x, k ? table[k].line : "variant=gla gates=in" SIZES, 1);
        s.p = &s.x.c.problem;
        MUST(attest_truth_new(&s.truth, s.p, s.x.bundle, ATTEST_ENGINE_AUTO, &s.x.err), &s.x);
        for (int64_t i = 0; i < s.p->n; i++)
            axes_row(&s, i);
        judge_state(y, &s, &n, 0);
        ck_assert_msg(y->least > 100, "%s: ratio %g only", table[k].line, y->least);
        attest_truth_free(s.truth);
        ball_case_stop(&s.x);
        free(y);
    }
}
END_TEST

START_TEST(wrong_steps_fail)
{
    static tally y;
    for (size_t k = 0; k < sizeof broken / sizeof broken[0]; k++)
        for (int unknown = 0; unknown < 2; unknown++) {
            y = (tally){ 0 };
            run_case(&y, &broken[k].c, broken[k].defect, 0, unknown, 1);
            if (getenv("BOUND_FIGURES"))
                printf("%-50s%s defect %d: worst %.3g, %lld of %lld\n", broken[k].c.line, unknown ? "?" : " ",
                       broken[k].defect, y.least, (long long)y.above, (long long)y.elements);
            ck_assert_msg(y.least > (unknown ? 2 : 20), "%s: defect %d gives a ratio of %g only", broken[k].c.line,
                          broken[k].defect, y.least);
        }
}
END_TEST

Suite *suite_bound_axes(void)
{
    Suite *s = suite_create("bound_axes");
    TCase *t = tcase_create("bound_axes");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, honest_arithmetic_passes);
    tcase_add_test(t, wrong_steps_fail);
    tcase_add_test(t, wrong_states_fail);
    suite_add_tcase(s, t);
    return s;
}
