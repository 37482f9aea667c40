/* test_props_states.c - neutral steps, writes, states and forms, runs (props/properties/property_neutral.c, _writes.c,
 * _states.c, _runs.c): hold for built-in kernels, say nothing where they have nothing to say, see their own violation
 * and planted defects. */
#include "tests/props/properties/props_ask.h"

Suite *suite_props_states(void);

#define CAUSAL " mask=causal n=9 m=9 d=3 e=2"

static const question holds[] = {
    { "unit-gates", "softmax-online-f32", "variant=softmax" CAUSAL },
    { "unit-gates", "delta-chunk-f32", "variant=deltanet chunk=4" CAUSAL },
    { "unit-decay", "taylor-recurrent-f32", "variant=taylor:2" CAUSAL },
    { "unit-decay", "linear-recurrent-f32", "variant=linear" CAUSAL },
    { "unit-affine", "taylor-direct-f32", "variant=taylor:2 norm=rms eps=1e-6" CAUSAL },
    { "zero-slope", "softmax-two-pass-f32", "variant=softmax cap=2" CAUSAL },
    { "zero-bias", "softmax-online-f32", "variant=softmax cap=2 hq=4 hkv=2 b=2" CAUSAL },
    { "zero-bias", "taylor-direct-f32", "variant=taylor:2 center=max" CAUSAL },
    { "bias-shift", "softmax-split-f32", "variant=softmax hq=4 hkv=2 b=2 splits=3" CAUSAL },
    { "bias-shift", "softmax-flash-f32", "variant=softmax gates=inout cap=2" CAUSAL },
    { "alibi-bias", "softmax-two-pass-f32",
      "variant=softmax alibi=draw clamp=1 hq=4 hkv=2 b=2 n=5 m=9 mask=causal-br" },
    { "alibi-bias", "softmax-online-f32", "variant=softmax alibi=draw lens=draw hq=2 b=2 n=5 m=9 mask=causal-br" },
    { "alibi-bias", "taylor-direct-f32", "variant=taylor:2 alibi=draw" CAUSAL },
    { "alibi-bias", "softmax-two-pass-f32", "variant=softmax alibi=usual hq=6 hkv=2 b=2 n=5 m=9 mask=causal-br" },
    { "shared-heads", "softmax-online-f32", "variant=softmax alibi=usual hq=6 hkv=2" CAUSAL },
    { "open-mask", "softmax-online-f32", "variant=softmax lens=draw hq=4 hkv=2 b=2" CAUSAL },
    { "open-mask", "taylor-direct-f32", "variant=taylor:2 center=mid bias=head hq=2" CAUSAL },
    { "mask-tensor", "softmax-two-pass-f32", "variant=softmax alibi=draw hq=4 hkv=2 b=2" CAUSAL },
    { "mask-tensor", "softmax-online-f32", "variant=softmax window=3 lens=draw rope=10 b=2 hq=2 n=5 m=9 d=4" },
    { "mask-tensor", "taylor-split-f32", "variant=taylor:2 norm=length splits=2 window=4" CAUSAL },
    { "keep-all", "softmax-online-f32", "variant=softmax lens=draw hq=4 hkv=2 b=2" CAUSAL },
    { "keep-all", "taylor-direct-f32", "variant=taylor:2 norm=length gates=inout hq=2" CAUSAL },
    { "keep-all", "softmax-split-f32", "variant=fox splits=2" CAUSAL },
    { "value-additivity", "softmax-two-pass-f32", "variant=softmax dropout=0.25" CAUSAL },
    { "causal-prefix", "softmax-online-f32", "variant=softmax dropout=0.25 hq=4 hkv=2 b=2" CAUSAL },
    { "unseen-keys", "softmax-split-f32", "variant=softmax dropout=0.25 hq=4 hkv=2 b=2 n=5 m=9 mask=causal d=3" },
    { "lse-of-z", "taylor-direct-f32", "variant=taylor:2 dropout=0.25" CAUSAL },
    { "order-sum", "taylor-direct-f32", "variant=taylor:2 dropout=0.25" CAUSAL },
    { "monotone", "softmax-two-pass-f32", "variant=softmax dropout=0.25" CAUSAL },
    { "score-shift", "softmax-two-pass-f32", "variant=softmax dropout=0.25" CAUSAL },
    { "full-length", "softmax-online-f32", "variant=softmax b=2 n=5 m=9 mask=causal-br" },
    { "full-length", "taylor-chunk-f32", "variant=taylor:3 chunk=4 b=2" CAUSAL },
    { "wide-clamp", "softmax-online-f32", "variant=softmax" CAUSAL },
    { "wide-clamp", "taylor-direct-f32", "variant=taylor:3" CAUSAL },
    { "wide-filter", "taylor-direct-f32", "variant=taylor:3 center=max" CAUSAL },
    { "far-sink", "softmax-online-f32", "variant=softmax n=5 m=9 d=3 family=range:40" },
    { "far-sink", "softmax-split-f32", "variant=softmax clamp=-3 n=5 m=9 d=3" },
    { "low-floor", "taylor-direct-f32", "variant=taylor:3 family=range:20" CAUSAL },
    { "low-floor", "softmax-two-pass-f64", "variant=softmax in=f64" CAUSAL },
    { "zero-decay", "taylor-recurrent-f32", "variant=taylor:2 decay=scalar state=draw" CAUSAL },
    { "zero-decay", "linear-recurrent-f32", "variant=gla" CAUSAL },
    { "zero-decay", "taylor-chunk-f32", "variant=taylor:2 decay=scalar chunk=4 lens=draw" CAUSAL },
    { "zero-decay", "delta-chunk-f32", "variant=gdn chunk=4 state=draw" CAUSAL },
    { "zero-decay", "softmax-online-f32", "variant=fox" CAUSAL },
    { "zero-write", "delta-recurrent-f32", "variant=deltanet" CAUSAL },
    { "zero-write", "delta-recurrent-f32", "variant=efla mask=causal n=5 m=9 d=3" },
    { "zero-write", "delta-chunk-f32", "variant=gdn chunk=4" CAUSAL },
    { "zero-write", "delta-chunk-f32", "variant=gdn chunk=4 mask=causal-br n=9 m=9 d=3" },
    { "zero-write", "delta-recurrent-f32", "variant=deltanet mask=causal-br n=5 m=9 d=3" },
    { "repeated-write", "delta-recurrent-f32", "variant=deltanet state=draw" CAUSAL },
    { "repeated-write", "delta-chunk-f32", "variant=gdn chunk=3 gates=inout" CAUSAL },
    { "repeated-write", "delta-parallel-f32", "variant=deltanet feature=relu" CAUSAL },
    { "state-composition", "taylor-recurrent-f32", "variant=taylor:3 state=draw" CAUSAL },
    { "state-composition", "taylor-packed-f32", "variant=taylor:3 decay=scalar hq=4 hkv=2 b=2" CAUSAL },
    { "state-composition", "taylor-packed-f32", "variant=taylor:2 lens=draw b=3 n=4 m=9 d=3" },
    { "state-composition", "taylor-chunk-f32", "variant=taylor:2 chunk=3 decay=retnet" CAUSAL },
    { "state-composition", "taylor-recurrent-f32", "variant=taylor:2 mask=causal-br n=4 m=9 d=3" },
    { "state-composition", "delta-recurrent-f32", "variant=gdn gates=inout" CAUSAL },
    { "state-composition", "delta-chunk-f32", "variant=deltanet chunk=2" CAUSAL },
    { "state-composition", "linear-recurrent-f32", "variant=gla mask=causal n=9 m=9 d=3" },
    { "zero-state", "taylor-packed-f32", "variant=taylor:3 lens=draw b=3" CAUSAL },
    { "zero-state", "taylor-chunk-f32", "variant=taylor:2 chunk=4" CAUSAL },
    { "zero-state", "delta-recurrent-f32", "variant=deltanet" CAUSAL },
    { "chunk-size", "taylor-chunk-f32", "variant=taylor:2 chunk=4" CAUSAL },
    { "chunk-size", "softmax-online-bf16", "variant=softmax in=bf16 p=bf16" CAUSAL },
    { "split-count", "softmax-split-f32", "variant=softmax splits=2" CAUSAL },
    { "split-count", "taylor-split-f32", "variant=taylor:2 splits=2" CAUSAL },
    { "layout", "taylor-packed-f32", "variant=taylor:2 b=2 hq=2" CAUSAL },
    { "o-alone", "taylor-direct-f32", "variant=taylor:2" CAUSAL },
    { "o-alone", "delta-recurrent-f32", "variant=deltanet" CAUSAL },
};

START_TEST(test_holds) { check_holds(&holds[_i]); }
END_TEST

/* Compared with nothing (0), or does not apply (negative). */
static const question silent[] = {
    { "unit-gates", "softmax-online-f32", "variant=softmax gates=out" CAUSAL },
    { "unit-decay", "taylor-recurrent-f32", "variant=taylor:2 n=4 m=4 d=3" },
    { "unit-affine", "taylor-direct-f32", "variant=taylor:2" CAUSAL },
    { "wide-clamp", "taylor-direct-f32", "variant=term:1 scale=1e28" CAUSAL },
    { "wide-filter", "taylor-direct-f32", "variant=term:1 scale=1e28" CAUSAL },
    { "far-sink", "softmax-online-f32", "variant=softmax scale=1e7 n=3 m=3 d=2" },
    { "far-sink", "taylor-direct-f32", "variant=taylor:2" CAUSAL },
    { "zero-decay", "taylor-recurrent-f32", "variant=retnet" CAUSAL },
    { "zero-decay", "linear-recurrent-f32", "variant=gla scale=1e37" CAUSAL },
    { "zero-decay", "taylor-direct-f32", "variant=gla alibi=draw" CAUSAL },
    { "zero-decay", "taylor-direct-f32", "variant=gla clamp=-1" CAUSAL },
    { "zero-write", "delta-parallel-f32", "variant=deltanet" CAUSAL },
    { "zero-write", "delta-recurrent-f32", "variant=deltanet decay=retnet" CAUSAL },
    { "zero-write", "delta-recurrent-f32", "variant=deltanet feature=cosformer" CAUSAL },
    { "repeated-write", "delta-recurrent-f32", "variant=efla" CAUSAL },
    { "repeated-write", "delta-recurrent-f32", "variant=deltanet feature=silu" CAUSAL },
    { "repeated-write", "delta-recurrent-f32", "variant=deltanet rope=100 n=9 m=9 d=4 mask=causal" },
    { "state-composition", "taylor-recurrent-f32", "variant=taylor:2 rope=100 n=9 m=9 d=4 mask=causal" },
    { "state-composition", "taylor-recurrent-f32", "variant=taylor:2 norm=length" CAUSAL },
    { "state-composition", "taylor-recurrent-f32", "variant=taylor:2 decay=scalar lens=draw" CAUSAL },
    { "state-composition", "taylor-recurrent-f32", "variant=taylor:2 mask=causal-br n=9 m=4 d=3" },
    { "state-composition", "taylor-chunk-f32", "variant=taylor:2 chunk=9" CAUSAL },
    { "state-composition", "taylor-chunk-f32", "variant=taylor:2 chunk=3 lens=draw" CAUSAL },
    { "state-composition", "taylor-direct-f32", "variant=taylor:2" CAUSAL },
    { "zero-state", "taylor-recurrent-f32", "variant=taylor:2 state=draw" CAUSAL },
    { "o-alone", "delta-parallel-f32", "variant=deltanet" CAUSAL },
    { "zero-bias", "softmax-two-pass-f32", "variant=softmax alibi=draw" CAUSAL },
    { "zero-bias", "softmax-two-pass-f32", "variant=softmax bias=full" CAUSAL },
    { "zero-bias", "taylor-recurrent-f32", "variant=taylor:2" CAUSAL },
    { "open-mask", "softmax-two-pass-f32", "variant=softmax attn_mask=full" CAUSAL },
    { "open-mask", "softmax-two-pass-f32", "variant=fox" CAUSAL },
    { "keep-all", "softmax-two-pass-f32", "variant=softmax dropout=0.25" CAUSAL },
    { "keep-all", "softmax-two-pass-f32", "variant=rmsnorm" CAUSAL },
    { "keep-all", "softmax-flash-f32", "variant=softmax" CAUSAL },
    { "hull", "softmax-two-pass-f32", "variant=softmax dropout=0.25" CAUSAL },
    { "constant-value", "softmax-two-pass-f32", "variant=softmax dropout=0.25" CAUSAL },
    { "duplicate-keys", "softmax-two-pass-f32", "variant=softmax dropout=0.25 n=9 m=9 d=3" },
    { "equal-keys", "softmax-two-pass-f32", "variant=softmax dropout=0.25 n=9 m=9 d=3" },
    { "one-hot", "softmax-two-pass-f32", "variant=softmax dropout=0.25" CAUSAL },
    { "lagrange", "taylor-direct-f32", "variant=taylor:2 dropout=0.25" CAUSAL },
    { "zero-query", "softmax-two-pass-f32", "variant=softmax dropout=0.25" CAUSAL },
    { "one-key", "softmax-two-pass-f32", "variant=softmax dropout=0.25" CAUSAL },
    { "dyadic", "taylor-direct-f32", "variant=linear dropout=0.5" CAUSAL },
    { "mask-tensor", "softmax-two-pass-f32", "variant=softmax n=9 m=9 d=3" },
    { "mask-tensor", "softmax-two-pass-f32", "variant=softmax mask=causal-br n=9 m=9 d=3" },
    { "mask-tensor", "taylor-recurrent-f32", "variant=taylor:2" CAUSAL },
    { "duplicate-keys", "softmax-two-pass-f32", "variant=softmax attn_mask=full" CAUSAL },
    { "bias-shift", "softmax-two-pass-f32", "variant=softmax clamp=1" CAUSAL },
    { "bias-shift", "softmax-two-pass-f32", "variant=softmax1" CAUSAL },
    { "bias-shift", "taylor-direct-f32", "variant=taylor:2" CAUSAL },
    { "alibi-bias", "softmax-two-pass-f32", "variant=softmax" CAUSAL },
    { "alibi-bias", "softmax-two-pass-f32",
      "variant=softmax alibi=usual hq=12" CAUSAL }, /* roots: no double has them */
    { "heads-alone", "softmax-two-pass-f32", "variant=softmax alibi=usual hq=6 hkv=2" CAUSAL },
    { "alibi-bias", "softmax-online-bf16", "variant=softmax alibi=draw in=bf16 p=bf16 hq=3" CAUSAL },
};

START_TEST(test_silent) { check_silent(&silent[_i]); }
END_TEST

/* Planted defects that the property sees. */
static const question defects[] = {
    { "unit-decay", "causal-leak", "variant=softmax" CAUSAL },
    { "zero-slope", "alibi-slope-assumed", "variant=softmax" CAUSAL },
    { "bias-shift", "bias-transposed", "variant=softmax" CAUSAL },
    { "mask-tensor", "attn-mask-by-tile", "variant=softmax window=3 mask=causal n=20 d=3" },
    { "mask-tensor", "attn-mask-first-batch", "variant=taylor:2 norm=sum lens=draw b=3 n=9 m=9 d=3" },
    { "keep-all", "dropout-unscaled", "variant=softmax" CAUSAL },
    { "key-permutation", "dropout-tail", "variant=softmax dropout=0.5 n=9 m=13 d=3" },
    { "heads-alone", "dropout-kv-head", "variant=taylor:2 dropout=0.5 hq=4 hkv=2" CAUSAL },
    { "alibi-bias", "bias-kv-head", "variant=softmax alibi=draw hq=4 hkv=2" CAUSAL },
    { "alibi-bias", "bias-before-scale", "variant=softmax alibi=draw" CAUSAL },
    { "alibi-bias", "usual-all-heads", "variant=softmax alibi=usual hq=3" CAUSAL },
    { "alibi-bias", "usual-from-0", "variant=softmax alibi=usual hq=2" CAUSAL },
    { "far-sink", "sink-sign", "variant=softmax" CAUSAL },
    { "low-floor", "norm-discarded", "variant=softmax" CAUSAL },
    { "low-floor", "floor-of-abs", "variant=linear norm=sum" CAUSAL },
    { "zero-decay", "chunk-first-decay-lost", "variant=taylor:2 decay=scalar chunk=3" CAUSAL },
    { "zero-decay", "decay-divided", "variant=taylor:2 decay=scalar" CAUSAL },
    { "zero-decay", "decay-of-logs", "variant=taylor:2 decay=scalar" CAUSAL },
    { "state-composition", "h0-decayed-twice", "variant=linear decay=scalar" CAUSAL },
    { "state-composition", "h0-transposed", "variant=linear mask=causal n=9 m=9 d=3 e=3" },
    { "state-composition", "z0-ignored", "variant=taylor:2 chunk=4" CAUSAL },
    { "zero-state", "new-token-decayed", "variant=linear decay=scalar" CAUSAL },
    { "chunk-size", "chunk-scale", "variant=taylor:2 chunk=4" CAUSAL },
    { "split-count", "merge-mean", "variant=softmax splits=3" CAUSAL },
    { "layout", "assume-contig", "variant=softmax b=2 hq=2" CAUSAL },
    { "o-alone", "lse-null-sum", "variant=softmax" CAUSAL },
    { "zero-write", "beta-only-written", "variant=deltanet" CAUSAL },
    { "repeated-write", "erase-missing", "variant=deltanet" CAUSAL },
};

START_TEST(test_defects) { check_seen(&defects[_i]); }
END_TEST

/* One case in 16, and 400 runs of it find what one in 50 gets wrong. */
START_TEST(test_repeat)
{
    static const question good = { "repeat", "softmax-online-f32", "variant=softmax n=3 m=3 d=2 e=2" };
    static const question large = { "repeat", "softmax-online-f32", "variant=softmax n=12 m=12 d=16 e=16" };
    static const question bad = { "repeat", "sometimes", "variant=softmax n=3 m=3 d=2 e=2" };
    asked *a = asked_open(NULL, 1);
    int said = 0;
    asked_choose(a, good.kernel);
    ck_assert_int_eq(asked_once(a, large.property, large.line, 0).compared, ASKED_NOT_ABOUT);
    for (uint32_t number = 0; number < 64; number++) {
        const attest_finding found = asked_case(a, good.property, good.line, number, 0);
        ck_assert_msg(!found.broken, "%s", found.what);
        ck_assert(found.compared == 0 || found.compared == 200 * (3 * 2 + 3)); /* o and lse */
        said += found.compared > 0;
    }
    asked_close(a);
    ck_assert_int_ge(said, 1);
    ck_assert_int_le(said, 10);
    ck_assert(ask(NULL, &good, 64, 1).broken);
    const attest_finding found = ask(ATTEST_TEST_BUILD "/plugins/sometimes.so", &bad, 64, 0);
    ck_assert(found.broken);
    ck_assert_uint_eq(found.end, ATTEST_PROP_FAULT);
    ck_assert_msg(strstr(found.what, "o[0,0,0,0] differs") != NULL, "%s", found.what);
}
END_TEST

Suite *suite_props_states(void)
{
    Suite *suite = suite_create("props_states");
    TCase *tcase = tcase_create("properties");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, test_holds, 0, (int)(sizeof holds / sizeof holds[0]));
    tcase_add_loop_test(tcase, test_silent, 0, (int)(sizeof silent / sizeof silent[0]));
    tcase_add_loop_test(tcase, test_defects, 0, (int)(sizeof defects / sizeof defects[0]));
    tcase_add_test(tcase, test_repeat);
    suite_add_tcase(suite, tcase);
    return suite;
}
