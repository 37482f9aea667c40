/* test_tdpbf16.c - kernels/model/tdpbf16.h: the model of TDPBF16PS by hand, and against the instruction itself where
 * the CPU has it and the system lets a process use it.
 */
#include "kernels/fast/isa.h"
#include "kernels/model/tdpbf16.h"
#include "tests/kernels/model/bf16_cases.h"

#include <check.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

Suite *suite_tdpbf16(void);

enum { TILE = 256, TILES = 4000 }; /* about a million elements */

/* A row of A and a column of B, of which the first words are given; the others are zeros. */
static float element(float c, const uint32_t *a, const uint32_t *b, int words)
{
    uint32_t row[TDP_PAIRS] = { 0 }, column[TDP_PAIRS] = { 0 };
    for (int k = 0; k < words; k++) {
        row[k] = a[k];
        column[k] = b[k];
    }
    return tdp_bf16(c, row, column, 1);
}

/* By hand: what each clause of the operation does. */
START_TEST(test_clauses)
{
    enum { ONES = 0x3f803f80 };
    static const struct {
        float c;
        uint32_t a[3], b[3];
        float sum;
    } rows[] = {
        { 1, { 0x3f803f80 }, { 0x40004040 }, 6 }, /* 1 + (1 3 + 1 2) */
        /* 2^24 + (1 + 1): VDPBF16PS would lose both */
        { 0x1p24f, { ONES }, { ONES }, 0x1p24f + 2 },
        /* even: 2^24 + 1 + 1 loses both ones; odd entries are zeros */
        { 0, { 0x00003f80, 0x00003f80, 0x00003f80 }, { 0x00004b80, 0x00003f80, 0x00003f80 }, 0x1p24f },
        /* even 2^24, odd 1 + 1: a sum of two chains */
        { 0, { 0x00003f80, 0x3f800000, 0x3f800000 }, { 0x00004b80, 0x3f800000, 0x3f800000 }, 0x1p24f + 2 },
        /* even -1, odd 1, c 2^-30: c is added last */
        { 0x1p-30f, { 0x3f80bf80 }, { ONES }, 0x1p-30f },
        { 0x1p-140f, { 0 }, { 0 }, 0 },                                             /* c below the normal numbers */
        { 0, { 0x3f800000 }, { 0x00400000 }, 0 },                                   /* an entry below them */
        { 0, { 0x00003f80, 0x0000bf80 }, { 0x000000c0, 0x00000080 }, 0 },           /* a chain: 2^-127, so 0 */
        { 0, { 0xbf803f80 }, { 0x008000c0 }, 0 },                                   /* the chains' sum, the same */
        { -0x1p-126f, { 0x3f800000 }, { 0x00c00000 }, 0 },                          /* the last sum, the same */
        { 0, { 0x00007f00, 0x00007f00 }, { 0x00003f80, 0x00003f80 }, INFINITY },    /* past the largest number */
        { 0, { 0x3f807f00 }, { 0x7f003f80 }, INFINITY },                            /* 2^127 + 2^127: the chains' sum */
        { -INFINITY, { 0x00007f00, 0x00007f00 }, { 0x00003f80, 0x00003f80 }, NAN }, /* and -Inf + Inf */
        { 1, { 0x00007f80 }, { 0x00000001 }, NAN },                                 /* Inf times a zero */
    };
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        const float got = element(rows[n].c, rows[n].a, rows[n].b, 3);
        ck_assert_msg(same(got, rows[n].sum), "%d: %a, not %a", (int)n, (double)got, (double)rows[n].sum);
    }
}
END_TEST

#if defined(__x86_64__)
/* d = c + a b, three tiles of 16 rows of 64 bytes. */
__attribute__((target("amx-tile,amx-bf16"), noinline)) static void instruction(float *d, const float *c,
                                                                               const uint32_t *a, const uint32_t *b)
{
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shape = { .palette = 1, .row_bytes = { 64, 64, 64 }, .rows = { 16, 16, 16 } };
    __asm__ volatile("" ::: "memory");
    _tile_loadconfig(&shape);
    _tile_loadd(0, c, 64);
    _tile_loadd(1, a, 64);
    _tile_loadd(2, b, 64);
    _tile_dpbf16ps(0, 1, 2);
    _tile_stored(0, d, 64);
    _tile_release();
    __asm__ volatile("" ::: "memory");
}

/* The whole exponent range; near 1; products near the least normal number; near the largest one; edges. */
static uint32_t word_of(uint64_t *stream, int kind)
{
    const uint32_t r = (uint32_t)random_word(stream), spread = (uint32_t)random_word(stream) & 0x03800380;
    switch (kind) {
    case 0: return some_word(stream);
    case 1: return (r & 0x807f807f) + 0x3d803d80 + spread;
    case 2: return (r & 0x807f807f) + 0x1e001e00 + spread;
    case 3: return (r & 0x807f807f) + 0x5d805d80 + spread;
    default: return r & 0xbfffbfff;
    }
}

static float sum_of(uint64_t *stream, int kind)
{
    const uint32_t r = (uint32_t)random_word(stream), spread = (uint32_t)random_word(stream) & 0x03800000;
    switch (kind) {
    case 0: return some_float(stream, r & 0xffff, r >> 16);
    case 1: return attest_bits_f32((r & 0x807fffff) + 0x3d800000 + spread);
    case 2: return attest_bits_f32((r & 0x807fffff) + (spread & 0x01800000));
    case 3: return attest_bits_f32((r & 0x807fffff) + 0x7c000000 + (spread & 0x03000000));
    default: return attest_bits_f32(r & 0xbfffffff);
    }
}

/* Every kind; every third tile has one pair a row, so that a chain's own rounding is not hidden by others. */
START_TEST(test_instruction)
{
    uint64_t stream = 29;
    static uint32_t a[TILE], b[TILE];
    static float c[TILE], d[TILE];
    for (int tile = 0; tile < TILES && fast_has_amx() && fast_ask_amx(); tile++) {
        for (int n = 0; n < TILE; n++) {
            a[n] = tile % 3 == 1 && n % TDP_PAIRS > 0 ? 0 : word_of(&stream, tile % 5);
            b[n] = word_of(&stream, tile % 5);
            c[n] = sum_of(&stream, tile % 5);
        }
        instruction(d, c, a, b);
        for (int n = 0; n < TILE; n++) {
            const float got = tdp_bf16(c[n], a + n / 16 * TDP_PAIRS, b + n % 16, 16);
            must(same(d[n], got), "tile %d element %d: TDPBF16PS gives %a, the model %a", tile, n, (double)d[n],
                 (double)got);
        }
    }
}
END_TEST
#endif

Suite *suite_tdpbf16(void)
{
    Suite *suite = suite_create("tdpbf16");
    TCase *all = tcase_create("tdpbf16");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, test_clauses);
#if defined(__x86_64__)
    tcase_add_test(all, test_instruction);
#endif
    suite_add_tcase(suite, all);
    return suite;
}
