/* test_delta.c - kernels/fast/linear: delta-wy-f32 on every instruction set that this CPU runs, beside the
 * witness; the vectors of avx512 in portable code; threads; tokens that a row does not see.
 */
#include "tests/kernels/fast/isa_suite.h"

Suite *suite_delta(void);

attest_status linear_run_wide(const attest_call *call); /* linear_wide.c */

#define KERNEL "delta-wy-f32"

/* Chunks of one token to 256, with ends inside groups of 6 and 12 rows and parts of 8 tokens. */
// clang-format off
static const char *const lines[] = {
    "variant=deltanet n=1 d=1 e=1", "variant=deltanet n=40 d=5 e=33", "variant=deltanet n=100 d=4 e=70 state=draw",
    "variant=deltanet n=70 d=8 e=8 chunk=1", "variant=deltanet n=70 d=8 e=8 chunk=13",
    "variant=deltanet n=150 d=3 e=4 chunk=256", "variant=deltanet n=20 m=50 d=4 e=4",
    "variant=deltanet n=50 m=20 d=4 e=4 mask=causal-br state=draw",
    "variant=deltanet n=9 d=257 e=1 feature=unit",
    "variant=deltanet b=2 hq=4 hkv=2 n=40 d=9 e=3 feature=unit",
    "variant=efla n=50 d=6 e=6 chunk=20",
    "variant=gdn n=100 d=8 e=9 chunk=40", "variant=gdn n=40 d=4 e=4 state=draw gates=inout in=bf16",
    "variant=deltanet decay=retnet n=70 d=4 e=4", "variant=deltanet decay=vector n=70 d=4 e=4 chunk=50 state=draw",
    "variant=sla-deltanet hq=2 n=40 d=4 e=4", "variant=sla-gdn hq=4 hkv=2 n=40 d=4 e=4 in=f16 out=f32",
};
// clang-format on
static const char *const large[] = {
    "variant=deltanet b=2 hq=4 hkv=2 n=300 d=64 e=64",
    "variant=gdn n=400 d=80 e=300 state=draw",
};
static const char *const unseen[] = {
    "variant=deltanet n=100 d=4 e=20",
    "variant=gdn n=100 d=4 e=20",
    "variant=gdn chunk=5 n=100 d=4 e=20",
    "variant=deltanet decay=vector n=100 d=4 e=20",
};
static const int64_t tokens[] = { 1, 7, 8, 17, 31, 32, 63, 99 };

static const isa_asked_of *isa_asked(void)
{
    static const isa_asked_of asked = {
        .suite = "delta",
        .kernel = KERNEL,
        .wide = linear_run_wide,
        .seconds = 120,
        ISA_LIST(lines),
        ISA_LIST(large),
        ISA_LIST(unseen),
        ISA_LIST(tokens),
    };
    return &asked;
}

Suite *suite_delta(void)
{
    TCase *numbers, *bits;
    return isa_suite(&numbers, &bits);
}
