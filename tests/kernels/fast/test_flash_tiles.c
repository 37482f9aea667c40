/* test_flash_tiles.c - kernels/fast/amx: softmax-amx-bf16 on every instruction set that this CPU runs, beside the
 * witness, and with the same bits on all of them; threads; blocks of 32 keys of which a row sees a
 * part.
 */
#include "tests/kernels/fast/isa_suite.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

Suite *suite_flash_tiles(void);

attest_status flash_tiles_run_wide(const attest_call *call); /* flash_tiles_wide.c */

#define KERNEL "softmax-amx-bf16"
#define SOFTMAX "variant=softmax in=bf16 p=bf16 "

/* Odd numbers of channels and keys; edges inside a pair of keys; what test_flash.c has. */
// clang-format off
static const char *const lines[] = {
    SOFTMAX "n=1 m=1 d=1 e=1", SOFTMAX "n=1 m=65 d=1 e=257", SOFTMAX "n=3 m=64 d=257 e=1",
    SOFTMAX "n=49 m=129 d=33 e=16", SOFTMAX "n=13 m=63 d=5 e=97", SOFTMAX "n=65 m=65 d=3 e=17 mask=causal out=f32",
    SOFTMAX "n=50 m=140 d=4 e=8 mask=causal-br out=f16", SOFTMAX "n=140 m=50 d=4 e=8 mask=causal-br",
    SOFTMAX "b=2 n=5 m=70 d=4 e=4 mask=causal lens=draw", SOFTMAX "n=70 m=130 d=4 e=4 mask=causal window=5",
    SOFTMAX "b=2 hq=6 hkv=2 n=20 m=90 d=4 e=4 mask=causal-br", SOFTMAX "n=20 m=100 d=4 e=4 cap=3 clamp=1 norm=sink",
    SOFTMAX "hq=2 n=20 m=100 d=4 e=4 alibi=draw",
    SOFTMAX "hq=3 n=20 m=100 d=4 e=4 alibi=usual",
    SOFTMAX "b=2 hq=2 n=20 m=100 d=4 e=4 bias=full", SOFTMAX "n=70 m=100 d=4 e=4 filter=1 mask=causal",
    SOFTMAX "n=70 m=70 d=4 e=4 mask=causal decay=scalar", SOFTMAX "n=20 m=100 d=4 e=4 eps=0.5 gates=out out=f32",
    SOFTMAX "n=9 m=70 d=4 e=4 gates=pre-out", SOFTMAX "n=20 m=150 d=4 e=4 scale=-3 mask=causal",
    SOFTMAX "n=33 m=97 d=64 e=64", SOFTMAX "n=40 m=96 d=4 e=4 family=subnormal",
    SOFTMAX "n=17 m=33 d=31 e=129 mask=causal",
};
// clang-format on
static const char *const large[] = {
    SOFTMAX "n=400 m=400 d=16 e=16 mask=causal",
};
static const char *const unseen[] = {
    SOFTMAX "n=100 m=100 d=4 e=20 mask=causal",
    SOFTMAX "n=100 m=100 d=4 e=20 mask=causal family=subnormal", /* row by row, a flush counts */
};
static const int64_t tokens[] = { 1, 6, 17, 31, 32, 64, 99 };

static const isa_asked_of *isa_asked(void)
{
    static const isa_asked_of asked = {
        .suite = "flash_tiles",
        .kernel = KERNEL,
        .wide = flash_tiles_run_wide,
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

#if defined(__x86_64__) && defined(__linux__)
/* What LDTILECFG was told last; zeros: the tiles are free. */
__attribute__((target("amx-tile"))) static void configured(uint8_t shape[64]) { _tile_storeconfig(shape); }

/* Where the CPU has tiles, a run asks for them, uses them, and leaves none configured. */
START_TEST(test_tiles)
{
    enum { PERMITTED = 0x1022, TILES = 18 }; /* arch_prctl(2): ARCH_GET_XCOMP_PERM */
    static const uint8_t none[64] = { 0 };
    uint8_t shape[64] = { 1 };
    unsigned long parts = 0;
    scene s;
    unsetenv("FAST_CPU");
    if (!fast_has_amx())
        return;
    isa_open(&s, KERNEL, lines[0]);
    scene_run(&s);
    ck_assert_int_eq(syscall(SYS_arch_prctl, PERMITTED, &parts), 0);
    ck_assert_msg(parts >> TILES & 1, "%s: ran without tiles", s.where);
    configured(shape);
    ck_assert_msg(memcmp(shape, none, sizeof shape) == 0, "%s: tiles stay configured", s.where);
    scene_close(&s);
}
END_TEST
#endif

Suite *suite_flash_tiles(void)
{
    TCase *numbers, *bits;
    Suite *suite = isa_suite(&numbers, &bits);
    tcase_add_loop_test(bits, test_same_bits, 0, COUNT(lines));
#if defined(__x86_64__) && defined(__linux__)
    tcase_add_test(bits, test_tiles);
#endif
    return suite;
}
