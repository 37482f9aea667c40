/* tile_product.h - products of tiles of bf16 numbers, with the same bits on every CPU: those of TDPBF16PS, whose order,
 * roundings and flushes model/tdpbf16.h has.
 *
 *     amx              the instruction, in tiles of 16 rows
 *     avx512, avx2     chains of multiply-adds, while subnormal numbers count as zeros (dot_flush())
 *     portable, wide   the model
 *
 * A holds rows of pairs: pair k of row r lies at a + r a_step + k DOT_PAIR, as dot_put() and dot_cast() write it.  B
 * holds panels of words [count][PANEL], b_step floats apart.  `count`, the number of pairs of a row, is a multiple of
 * TDP_PAIRS: rows are filled up with zeros.
 * tile_open() before products on this thread, tile_close() behind them.
 */
#ifndef ATTEST_FAST_AMX_TILE_PRODUCT_H
#define ATTEST_FAST_AMX_TILE_PRODUCT_H

#include "fast/dot.h"

#include "model/tdpbf16.h"

typedef struct tile_pairs { /* A */
    const float *at;
    int64_t step;
} tile_pairs;

typedef struct tile_words { /* B */
    const float *at;
    int64_t step;
} tile_words;

/* ---- what differs: the numbers of a half, a chain's step, a sum ----------------------------------------------- */

/* The even or the odd number of a pair, in every lane; those of words. */
static inline vec tile_number(const float *pair, int odd)
{
    uint32_t word;
    memcpy(&word, pair, sizeof word);
    if (DOT_PAIR == 1)
        word = odd ? word & 0xffff0000u : word << 16;
    else
        memcpy(&word, pair + odd, sizeof word);
    return (vec)(uvec)(word - (uvec){ 0 });
}
static inline vec tile_numbers(ivec words, int odd)
{
    return odd ? (vec)(words & (int32_t)0xffff0000) : (vec)(words << 16);
}

#if defined(SIMD_512) || defined(SIMD_256)
static inline vec tile_step(vec sum, vec a, vec b) { return vec_fma(a, b, sum); }
#else
static inline vec tile_step(vec sum, vec a, vec b)
{
    for (int lane = 0; lane < LANES; lane++)
        sum[lane] = dp_fma(sum[lane], (uint16_t)((uvec)a >> 16)[lane], (uint16_t)((uvec)b >> 16)[lane]);
    return sum;
}
#endif

#ifndef tile_sum
static inline vec tile_sum(vec a, vec b)
{
#if defined(SIMD_512) || defined(SIMD_256)
    return a + b;
#else
    for (int lane = 0; lane < LANES; lane++)
        a[lane] = tdp_add(a[lane], b[lane]);
    return a;
#endif
}
#endif

#ifndef tile_begin
/* What the sums begin with that will lie at `to`. */
static inline vec tile_begin(const float *to)
{
    (void)to;
    return vec_of(0);
}
#endif

#ifndef tile_last
/* Where the pairs of A and B end. */
static inline int64_t tile_last(int64_t count) { return count; }
#endif

/* ---- without the instruction ----------------------------------------------------------------------------------- */

/* One vector of each of `rows` rows, to_step floats apart; numbers of B that are not in [low,high), two a pair, count
 * as zeros.  Between dot_flush() and dot_unflush(). */
static inline __attribute__((always_inline)) void tile_rows(float *to, int64_t to_step, tile_pairs a,
                                                            const float *words, int64_t count, int rows, int64_t low,
                                                            int64_t high)
{
    vec sum[ROWS];
    for (int r = 0; r < rows; r++)
        sum[r] = tile_begin(to + r * to_step);
    for (int64_t first = 0; first < tile_last(count); first += TDP_PAIRS) {
        vec chain[2][ROWS];
        for (int odd = 0; odd < 2; odd++) {
            for (int r = 0; r < rows; r++)
                chain[odd][r] = vec_of(0);
            for (int64_t k = first; k < first + TDP_PAIRS; k++) {
                const int seen = 2 * k + odd >= low && 2 * k + odd < high;
                const vec b = seen ? tile_numbers(dot_words(words + k * PANEL), odd) : vec_of(0);
                for (int r = 0; r < rows; r++)
                    chain[odd][r] = tile_step(chain[odd][r], tile_number(a.at + r * a.step + k * DOT_PAIR, odd), b);
            }
        }
        for (int r = 0; r < rows; r++)
            sum[r] = tile_sum(sum[r], tile_sum(chain[0][r], chain[1][r]));
    }
    for (int r = 0; r < rows; r++)
        vec_store(to + r * to_step, sum[r]);
}

/* A vector of one row; B counts as zero outside [low,high). */
__attribute__((noinline)) static void tile_row(float *to, const float *a, const float *words, int64_t count,
                                               int64_t low, int64_t high)
{
    tile_rows(to, 0, (tile_pairs){ a, 0 }, words, count, 1, low, high);
}

/* ---- products --------------------------------------------------------------------------------------------------- */
#if defined(SIMD_AMX)
_Static_assert(ROWS == 16 && LANES == 16 && DOT_PAIR == 1, "tiles");

/* The compiler does not know which memory tile instructions read and write. */
static inline void tile_fence(void) { __asm__ volatile("" ::: "memory"); }

/* All eight tiles have 16 rows of 64 bytes. */
static inline void tile_open(void)
{
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shape = { .palette = 1 };
    for (int tile = 0; tile < 8; tile++) {
        shape.row_bytes[tile] = 64;
        shape.rows[tile] = 16;
    }
    __asm__ volatile("" : : "r"(&shape) : "memory");
    _tile_loadconfig(&shape);
}
static inline void tile_close(void) { _tile_release(); }

/* One panel, and two. */
static inline void tile_panel(float *to, int64_t to_step, tile_pairs a, const float *words, int64_t count)
{
    _tile_zero(0);
    _tile_zero(1);
    for (int64_t k = 0; k < count; k += TDP_PAIRS) {
        _tile_loadd(4, a.at + k, 4 * a.step);
        _tile_loadd(5, words + k * PANEL, 4 * PANEL);
        _tile_loadd(6, words + k * PANEL + LANES, 4 * PANEL);
        _tile_dpbf16ps(0, 4, 5);
        _tile_dpbf16ps(1, 4, 6);
    }
    _tile_stored(0, to, 4 * to_step);
    _tile_stored(1, to + LANES, 4 * to_step);
}
static inline void tile_two_panels(float *to, int64_t to_step, tile_pairs a, tile_words b, int64_t count)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t k = 0; k < count; k += TDP_PAIRS) {
        const float *first = b.at + k * PANEL, *second = first + b.step;
        _tile_loadd(4, a.at + k, 4 * a.step);
        _tile_loadd(5, first, 4 * PANEL);
        _tile_loadd(6, first + LANES, 4 * PANEL);
        _tile_dpbf16ps(0, 4, 5);
        _tile_dpbf16ps(1, 4, 6);
        _tile_loadd(7, second, 4 * PANEL);
        _tile_loadd(5, second + LANES, 4 * PANEL);
        _tile_dpbf16ps(2, 4, 7);
        _tile_dpbf16ps(3, 4, 5);
    }
    _tile_stored(0, to, 4 * to_step);
    _tile_stored(1, to + LANES, 4 * to_step);
    _tile_stored(2, to + 2 * LANES, 4 * to_step);
    _tile_stored(3, to + 3 * LANES, 4 * to_step);
}

/* to[ROWS][panels][PANEL], rows to_step floats apart: A's rows times B's panels. */
static inline void tile_products(float *to, int64_t to_step, tile_pairs a, tile_words b, int64_t count, int64_t panels)
{
    int64_t n = 0;
    tile_fence();
    for (; n + 2 <= panels; n += 2)
        tile_two_panels(to + n * PANEL, to_step, a, (tile_words){ b.at + n * b.step, b.step }, count);
    if (n < panels)
        tile_panel(to + n * PANEL, to_step, a, b.at + n * b.step, count);
    tile_fence();
}
#else
static inline void tile_open(void) {}
static inline void tile_close(void) {}

__attribute__((noinline)) static void tile_vector(float *to, int64_t to_step, tile_pairs a, const float *words,
                                                  int64_t count)
{
    tile_rows(to, to_step, a, words, count, ROWS, 0, 2 * count);
}
static inline void tile_products(float *to, int64_t to_step, tile_pairs a, tile_words b, int64_t count, int64_t panels)
{
    const unsigned before = dot_flush();
    for (int64_t n = 0; n < panels; n++)
        for (int64_t lane = 0; lane < PANEL; lane += LANES)
            tile_vector(to + n * PANEL + lane, to_step, a, b.at + n * b.step + lane, count);
    dot_unflush(before);
}
#endif

#endif
