/* test_props_values.c - values, scores, sums, exact lanes (props/properties/property_values.c, _scores.c, _sums.c,
 * _exact.c, _dyadic.c): hold for built-in kernels, say nothing where they have nothing to say, see their own violation
 * and planted defects. */
#include "tests/props/properties/props_ask.h"

#include <math.h>

#include "kernels/attest_float.h"
#include "props/properties/values.h"

Suite *suite_props_values(void);

#define CAUSAL " mask=causal n=9 m=9 d=3 e=2"

static const question holds[] = {
    { "hull", "softmax-online-bf16", "variant=softmax in=bf16 p=bf16 n=9 m=40 d=4" },
    { "hull", "softmax-split-f32", "variant=softmax1 splits=3 cap=2 alibi=draw hq=2" CAUSAL },
    { "hull", "softmax-two-pass-f32", "variant=fox norm=floor:2" CAUSAL },
    { "hull", "taylor-direct-f32", "variant=taylor:4 family=range:8" CAUSAL },
    { "hull", "taylor-direct-f32", "variant=taylor:3 center=min filter=2 family=range:8" CAUSAL },
    { "hull", "taylor-recurrent-f32", "variant=linear-elu rope=100 mask=causal-br n=6 m=9 d=4 b=2 lens=draw" },
    { "hull", "linear-recurrent-f32", "variant=cosformer n=9 m=4 d=8 eps=0.01" },
    { "hull", "linear-recurrent-f32", "variant=gla feature=elu1 norm=sum" CAUSAL },
    { "constant-value", "softmax-mma-bf16", "variant=softmax in=bf16 p=bf16 n=9 m=40 d=4" },
    { "constant-value", "softmax-split-f32", "variant=softmax gates=out lens=draw b=3 splits=2" CAUSAL },
    { "constant-value", "taylor-chunk-f32", "variant=taylor:3 decay=scalar chunk=4" CAUSAL },
    { "constant-value", "taylor-direct-f32", "variant=linear norm=sum" CAUSAL },
    { "value-additivity", "softmax-online-f32", "variant=softmax family=range:8" CAUSAL },
    { "value-additivity", "softmax-two-pass-f64", "variant=softmax in=f64 norm=length gates=heads hq=4 hkv=2" CAUSAL },
    { "value-additivity", "delta-chunk-f32", "variant=gdn chunk=4 gates=inout" CAUSAL },
    { "value-additivity", "taylor-direct-f32", "variant=taylor:3 filter=1 center=mid" CAUSAL },
    { "duplicate-keys", "softmax-split-f32", "variant=softmax splits=3 n=4 m=9 d=3" },
    { "duplicate-keys", "softmax-two-pass-f32", "variant=l2norm n=4 m=9 d=3" },
    { "duplicate-keys", "softmax-online-f32", "variant=softmax1 n=4 m=9 d=3" },
    { "duplicate-keys", "softmax-two-pass-f32", "variant=softmax norm=length-rms eps=0.1 gates=in n=4 m=9 d=3" },
    { "duplicate-keys", "taylor-packed-f32", "variant=term:3 n=4 m=9 d=3" },
    { "duplicate-keys", "taylor-direct-f32", "variant=taylor:2 eps=1 center=max filter=1 n=4 m=9 d=3" },
    { "equal-keys", "softmax-online-f32", "variant=softmax window=4 n=9 m=9 d=3" },
    { "equal-keys", "softmax-two-pass-f32", "variant=rmsnorm gates=heads hq=2" CAUSAL },
    { "equal-keys", "taylor-recurrent-f32", "variant=taylor:2 state=draw gates=in lens=draw b=2" CAUSAL },
    { "score-shift", "softmax-online-bf16", "variant=softmax in=bf16 p=bf16" CAUSAL },
    { "score-shift", "softmax-two-pass-f32", "variant=layernorm feature=relu scale=-0.5 n=4 m=9 d=3 e=5" },
    { "score-shift", "softmax-split-f32", "variant=fox splits=3 gates=pre-out" CAUSAL },
    { "score-shift", "taylor-direct-f32", "variant=taylor:3 center=mid eps=0.1" CAUSAL },
    { "one-hot", "softmax-online-f32", "variant=softmax scale=-1" CAUSAL },
    { "one-hot", "softmax-two-pass-f32", "variant=softmax window=3 filter=9 n=4 m=9 d=3" },
    { "monotone", "softmax-online-f32", "variant=softmax1 cap=3 clamp=-1 alibi=draw" CAUSAL },
    { "monotone", "softmax-two-pass-f32", "variant=fox norm=floor:3 scale=-1" CAUSAL },
    { "monotone", "taylor-recurrent-f32", "variant=taylor:3 decay=retnet" CAUSAL },
    { "monotone", "linear-recurrent-f32", "variant=linear feature=relu norm=length" CAUSAL },
    { "lse-of-z", "taylor-direct-f32", "variant=taylor:2 eps=0.5 gates=in" CAUSAL },
    { "lse-of-z", "taylor-split-f32", "variant=taylor:2 norm=sink splits=2 hq=2" CAUSAL },
    { "lse-of-z", "taylor-packed-f32", "variant=taylor:3 norm=floor:2 state=draw" CAUSAL },
    { "lse-of-z", "taylor-chunk-f32", "variant=quadratic norm=length chunk=4" CAUSAL },
    { "lse-of-z", "linear-recurrent-f32", "variant=linear" CAUSAL },
    { "lagrange", "taylor-direct-f32", "variant=taylor:5 center=mid family=range:2" CAUSAL },
    { "lagrange", "taylor-packed-f32", "variant=taylor:4 feature=relu gates=out family=range:1" CAUSAL },
    { "order-sum", "taylor-recurrent-f32", "variant=taylor:3 state=draw decay=scalar gates=in" CAUSAL },
    { "order-sum", "taylor-direct-f32", "variant=taylor:2 cap=2 alibi=draw filter=1" CAUSAL },
    { "zero-query", "softmax-online-bf16", "variant=softmax in=bf16 p=bf16 out=f32" CAUSAL },
    { "zero-query", "softmax-split-f32", "variant=no-denominator splits=3 lens=draw b=3 n=4 m=9 d=3" },
    { "zero-query", "taylor-direct-f32", "variant=taylor:3 center=mid feature=silu rope=100 mask=causal n=9 d=4" },
    { "zero-query", "taylor-packed-f32", "variant=taylor:3 norm=floor:3" CAUSAL },
    { "zero-query", "linear-recurrent-f32", "variant=linear norm=length" CAUSAL },
    { "one-key", "softmax-two-pass-f64", "variant=softmax in=f64 rope=100 n=5 m=9 d=4" },
    { "one-key", "softmax-online-f32", "variant=fox cap=3" CAUSAL },
    { "one-key", "softmax-mma-bf16", "variant=softmax in=bf16 p=bf16 n=9 m=40 d=4" },
    { "dyadic", "taylor-recurrent-f32", "variant=taylor:2 state=draw gates=inout decay=scalar" CAUSAL },
    { "dyadic", "taylor-packed-f32", "variant=quadratic norm=sum lens=draw b=3 state=draw n=4 m=9 d=3" },
    { "dyadic", "taylor-chunk-f32", "variant=taylor:1 feature=relu chunk=4 norm=length" CAUSAL },
    { "dyadic", "taylor-split-f32", "variant=taylor:2 window=4 splits=3 gates=pre-out mask=causal-br n=4 m=9 d=3" },
    { "dyadic", "linear-recurrent-f32", "variant=gla state=draw hq=4 hkv=2" CAUSAL },
    { "dyadic", "taylor-direct-f32", "variant=retnet norm=floor:2 mask=causal n=6 d=3" },
};

START_TEST(test_holds) { check_holds(&holds[_i]); }
END_TEST

/* Compared with nothing (0), or does not apply (negative). */
static const question silent[] = {
    { "hull", "taylor-direct-f32", "variant=taylor:3" CAUSAL },
    { "hull", "taylor-direct-f32", "variant=linear-elu alibi=draw" CAUSAL },
    { "hull", "taylor-direct-f32", "variant=linear-relu scale=-1" CAUSAL },
    { "hull", "taylor-direct-f32", "variant=linear-relu clamp=-0.5" CAUSAL },
    { "hull", "taylor-recurrent-f32", "variant=taylor:2 state=draw" CAUSAL },
    { "hull", "softmax-two-pass-f32", "variant=softmax norm=none" CAUSAL },
    { "constant-value", "softmax-two-pass-f32", "variant=softmax eps=0.1" CAUSAL },
    { "constant-value", "softmax-online-f32", "variant=softmax gates=heads hq=2" CAUSAL },
    { "value-additivity", "softmax-two-pass-f32", "variant=l2norm" CAUSAL },
    { "value-additivity", "taylor-recurrent-f32", "variant=taylor:2 state=draw" CAUSAL },
    { "duplicate-keys", "softmax-online-f32", "variant=softmax" CAUSAL },
    { "equal-keys", "softmax-online-f32", "variant=fox" CAUSAL },
    { "equal-keys", "softmax-online-f32", "variant=softmax n=3 m=1 d=2" },
    { "score-shift", "softmax-online-f32", "variant=softmax cap=2" CAUSAL },
    { "score-shift", "softmax-online-f32", "variant=softmax1" CAUSAL },
    { "score-shift", "taylor-direct-f32", "variant=taylor:2" CAUSAL },
    { "score-shift", "softmax-online-f32", "variant=softmax scale=0" CAUSAL },
    { "score-shift", "softmax-two-pass-f32", "variant=softmax in=f16 scale=1e-6" CAUSAL },
    { "one-hot", "taylor-direct-f32", "variant=taylor:2" CAUSAL },
    { "one-hot", "softmax-two-pass-f32", "variant=softmax in=f16 scale=1e-6" CAUSAL },
    { "one-hot", "softmax-online-f32", "variant=softmax feature=relu scale=-1" CAUSAL },
    { "monotone", "taylor-direct-f32", "variant=taylor:2 scale=-1" CAUSAL },
    { "monotone", "taylor-direct-f32", "variant=taylor:3 clamp=-0.5" CAUSAL },
    { "lse-of-z", "softmax-online-f32", "variant=softmax" CAUSAL },
    { "lse-of-z", "linear-recurrent-f32", "variant=linear gates=out" CAUSAL },
    { "lagrange", "taylor-direct-f32", "variant=taylor:2 cap=2" CAUSAL },
    { "order-sum", "taylor-direct-f32", "variant=taylor:0" CAUSAL },
    { "order-sum", "taylor-direct-f32", "variant=taylor:2 center=max" CAUSAL },
    { "zero-query", "softmax-online-f32", "variant=softmax feature=elu1" CAUSAL },
    { "zero-query", "softmax-online-f32", "variant=softmax alibi=draw" CAUSAL },
    { "one-key", "softmax-online-f32", "variant=softmax lens=draw" CAUSAL },
    { "dyadic", "taylor-direct-f32", "variant=term:3" CAUSAL },
    { "dyadic", "taylor-direct-f32", "variant=taylor:2 center=max" CAUSAL },
    { "dyadic", "taylor-direct-f32", "variant=linear weight=power:8 n=9 m=9 d=8" },
};

START_TEST(test_silent) { check_silent(&silent[_i]); }
END_TEST

static const question seen[] = {
    { "hull", "denominator-inverse", "variant=linear-elu n=3 d=3" },
    { "constant-value", "denominator-inverse", "variant=linear-elu n=3 d=3" },
    { "value-additivity", "constant-dropped", "variant=taylor:2 n=7 d=1 e=3" },
    { "duplicate-keys", "padding-weight-one", "variant=taylor:0 n=17 d=3" },
    { "equal-keys", "chunk-first-token-lost", "variant=linear n=12 m=5 d=4" },
    { "score-shift", "center-first-key", "variant=filtered:4 n=17 d=4" },
    { "one-hot", "sum-twice", "variant=softmax n=3 m=4 d=2 e=1" },
    { "monotone", "constant-dropped", "variant=taylor:1 mask=causal n=17 d=3 family=flat" },
    { "lse-of-z", "denominator-unused", "variant=taylor:2 n=7 d=1 e=3" },
    { "lagrange", "constant-dropped", "variant=taylor:2 n=7 d=1 e=3" },
    { "order-sum", "factorial-missing", "variant=taylor:2 n=7 d=1 e=3" },
    { "zero-query", "constant-dropped", "variant=taylor:2 n=7 d=1 e=3" },
    { "one-key", "exp-biased", "variant=softmax n=3 m=1 d=2 e=1" },
    { "dyadic", "chunk-first-token-lost", "variant=taylor:2 n=7 d=1 e=3" },
    { "dyadic", "decay-exponent-low", "variant=simple-gla n=7 d=3 e=3" },
    { "dyadic", "h0-transposed", "variant=linear state=draw n=3 d=3 e=3" },
    { "dyadic", "gate-of-next-token", "variant=linear gates=in n=7 d=3" },
};

START_TEST(test_seen) { check_seen(&seen[_i]); }
END_TEST

/* What is exact by a division, and by how much a quotient may be off otherwise. */
START_TEST(test_quotients)
{
    attest_case c;
    attest_error err;
    ck_assert(attest_case_parse(&c, "variant=taylor:2", NULL, NULL, &err) == ATTEST_OK);
    attest_prop_kernel k = { .numerics = { .div_error = 0x1p-24 } };
    ck_assert(values_quotient_radius(&c.problem, &k, 6, 4) == 0);
    ck_assert(values_quotient_radius(&c.problem, &k, 6, -9) == 6. / 9 * 0x1p-23);
    k.numerics.div_error = 0x1p-22;
    ck_assert(values_quotient_radius(&c.problem, &k, 6, 4) == 1.5 * (0x1p-22 + 0x1p-24));
    ck_assert(values_quotient_radius(&c.problem, &k, 6, 1) == 0);
    k.numerics.div_error = 0;
    ck_assert(values_quotient_radius(&c.problem, &k, 6, 4) == 1.5 * (0x1p-7 + 0x1p-24));
    c.problem.axis[ATTEST_AXIS_NORM] = (attest_setting){ ATTEST_NORM_FLOOR, 0, 4 };
    k.numerics.div_error = 0x1p-24;
    ck_assert(values_quotient_radius(&c.problem, &k, 6, 4) > 0);
}
END_TEST

/* Lagrange's remainder is claimed of each center that has a value, and of no other. */
START_TEST(test_centers)
{
    const attest_property *lagrange = attest_property_find("lagrange");
    const attest_axis_info *axis = &attest_axes[ATTEST_AXIS_CENTER];
    const attest_prop_kernel kernel = { .outputs = ATTEST_GIVES_U | ATTEST_GIVES_Z };
    attest_case c;
    attest_error err;
    ck_assert(attest_case_parse(&c, "variant=taylor:2", NULL, NULL, &err) == ATTEST_OK);
    for (size_t k = 0; k < axis->value_count; k++) {
        c.problem.axis[ATTEST_AXIS_CENTER].value = axis->values[k].value;
        ck_assert_msg(lagrange->applies(&c.problem, &kernel), "center=%s: no row in center_of() of property_sums.c",
                      axis->values[k].name);
    }
    c.problem.axis[ATTEST_AXIS_CENTER].value = 31;
    ck_assert(!lagrange->applies(&c.problem, &kernel));
}
END_TEST

START_TEST(test_decays)
{
    attest_case c;
    attest_error err;
    attest_bundle *inputs;
    attest_tensor *a;
    ck_assert(attest_case_parse(&c, "variant=fox n=3", NULL, NULL, &err) == ATTEST_OK);
    ck_assert(attest_bundle_new(&inputs, &err) == ATTEST_OK);
    ck_assert(values_decay_nonnegative(&c.problem, inputs));
    const attest_tensor_id decay = { ATTEST_KIND_ROLE, ATTEST_DECAY };
    ck_assert(attest_bundle_add(inputs, &c.problem, decay, 0, &a, &err) == ATTEST_OK);
    ck_assert(values_decay_nonnegative(&c.problem, inputs));
    attest_store_bits(a, 2, attest_from_f64(a->dtype, -0.5));
    ck_assert(!values_decay_nonnegative(&c.problem, inputs));
    c.problem.axis[ATTEST_AXIS_DECAY_INPUT].value = ATTEST_DECAY_INPUT_LOG; /* e^-0.5 */
    ck_assert(values_decay_nonnegative(&c.problem, inputs));
    attest_store_bits(a, 2, attest_from_f64(a->dtype, (double)NAN));
    ck_assert(!values_decay_nonnegative(&c.problem, inputs));
    attest_bundle_free(inputs);
}
END_TEST

Suite *suite_props_values(void)
{
    Suite *suite = suite_create("props_values");
    TCase *tcase = tcase_create("properties");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, test_holds, 0, (int)(sizeof holds / sizeof holds[0]));
    tcase_add_loop_test(tcase, test_silent, 0, (int)(sizeof silent / sizeof silent[0]));
    tcase_add_loop_test(tcase, test_seen, 0, (int)(sizeof seen / sizeof seen[0]));
    tcase_add_test(tcase, test_quotients);
    tcase_add_test(tcase, test_centers);
    tcase_add_test(tcase, test_decays);
    suite_add_tcase(suite, tcase);
    return suite;
}
