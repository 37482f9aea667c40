/* test_flash_bf16.c - kernels/fast/softmax: softmax-flash-bf16 on every instruction set that this CPU runs, beside the
 * witness, and with the same bits on all of them; threads; pairs of keys of which a row sees one.
 */
#include "tests/kernels/fast/isa_suite.h"

Suite *suite_flash_bf16(void);

attest_status flash_bf16_run_wide(const attest_call *call); /* flash_bf16_wide.c */

#define KERNEL "softmax-flash-bf16"
#define SOFTMAX "variant=softmax in=bf16 p=bf16 "

/* Odd numbers of channels and keys; edges inside a pair of keys; what test_flash.c has. */
// clang-format off
static const char *const lines[] = {
    SOFTMAX "n=1 m=1 d=1 e=1", SOFTMAX "n=1 m=65 d=1 e=257", SOFTMAX "n=3 m=64 d=257 e=1",
    SOFTMAX "n=49 m=129 d=8 e=16", SOFTMAX "n=13 m=63 d=5 e=33", SOFTMAX "n=65 m=65 d=3 e=17 mask=causal out=f32",
    SOFTMAX "n=50 m=140 d=4 e=8 mask=causal-br out=f16", SOFTMAX "n=140 m=50 d=4 e=8 mask=causal-br",
    SOFTMAX "b=2 n=5 m=70 d=4 e=4 mask=causal lens=draw", SOFTMAX "n=70 m=130 d=4 e=4 mask=causal window=5",
    SOFTMAX "b=2 hq=6 hkv=2 n=20 m=90 d=4 e=4 mask=causal-br", SOFTMAX "n=20 m=100 d=4 e=4 cap=3 clamp=1 norm=sink",
    SOFTMAX "hq=2 n=20 m=100 d=4 e=4 alibi=draw",
    SOFTMAX "hq=3 n=20 m=100 d=4 e=4 alibi=usual",
    SOFTMAX "b=2 hq=2 n=20 m=100 d=4 e=4 bias=full", SOFTMAX "n=70 m=100 d=4 e=4 filter=1 mask=causal",
    SOFTMAX "n=70 m=70 d=4 e=4 mask=causal decay=scalar", SOFTMAX "n=20 m=100 d=4 e=4 eps=0.5 gates=out out=f32",
    SOFTMAX "n=9 m=70 d=4 e=4 gates=pre-out", SOFTMAX "n=20 m=150 d=4 e=4 scale=-3 mask=causal",
};
// clang-format on
static const char *const large[] = {
    SOFTMAX "n=400 m=400 d=16 e=16 mask=causal",
};
static const char *const unseen[] = {
    SOFTMAX "n=100 m=100 d=4 e=20 mask=causal",
};
static const int64_t tokens[] = { 1, 6, 17, 63, 64, 99 };

static const isa_asked_of *isa_asked(void)
{
    static const isa_asked_of asked = {
        .suite = "flash_bf16",
        .kernel = KERNEL,
        .wide = flash_bf16_run_wide,
        .seconds = 120,
        ISA_LIST(lines),
        ISA_LIST(large),
        ISA_LIST(unseen),
        ISA_LIST(tokens),
    };
    return &asked;
}

START_TEST(test_same_bits) { isa_check_same_bits(KERNEL, lines[_i]); }
END_TEST

Suite *suite_flash_bf16(void)
{
    TCase *numbers, *bits;
    Suite *suite = isa_suite(&numbers, &bits);
    tcase_add_loop_test(bits, test_same_bits, 0, COUNT(lines));
    return suite;
}
