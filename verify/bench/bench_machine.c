/* bench_machine.c - which CPU this is, how many multiply-adds it does, and how fast it reads memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "verify/bench/bench_rounds.h"

#define STEPS 400000
#define CHAINS 12 /* more than latency times ports of any CPU so far (4 x 2) */

double attest_machine_peak_memory(void)
{
    struct rusage use;
    return getrusage(RUSAGE_SELF, &use) == 0 ? (double)use.ru_maxrss / 1024 : 0;
}

/* CHAINS independent sums, each multiplied by `a` and added `b` to, STEPS times; the operators are the vector's own. */
#define BURN(vector, fused)                                                                                            \
    vector x[CHAINS];                                                                                                  \
    for (int c = 0; c < CHAINS; c++)                                                                                   \
        x[c] = start + (double)c;                                                                                      \
    for (int n = 0; n < STEPS; n++) {                                                                                  \
        x[0] = fused(x[0]), x[1] = fused(x[1]);                                                                        \
        x[2] = fused(x[2]), x[3] = fused(x[3]);                                                                        \
        x[4] = fused(x[4]), x[5] = fused(x[5]);                                                                        \
        x[6] = fused(x[6]), x[7] = fused(x[7]);                                                                        \
        x[8] = fused(x[8]), x[9] = fused(x[9]);                                                                        \
        x[10] = fused(x[10]), x[11] = fused(x[11]);                                                                    \
    }                                                                                                                  \
    for (int c = 1; c < CHAINS; c++)                                                                                   \
        x[0] += x[c];                                                                                                  \
    return x[0][0]

typedef double pair __attribute__((vector_size(16)));
#define PAIR_STEP(x) ((x)*a + b)

static double burn_pair(double start_at, double a_at, double b_at)
{
    const pair start = { start_at, start_at }, a = { a_at, a_at }, b = { b_at, b_at };
    BURN(pair, PAIR_STEP);
}

#if defined(__x86_64__)
#include <immintrin.h>
#define FMA_STEP_4(x) _mm256_fmadd_pd(x, a, b)
#define FMA_STEP_8(x) _mm512_fmadd_pd(x, a, b)

__attribute__((target("avx2,fma"))) static double burn_4(double start_at, double a_at, double b_at)
{
    const __m256d start = _mm256_set1_pd(start_at), a = _mm256_set1_pd(a_at), b = _mm256_set1_pd(b_at);
    BURN(__m256d, FMA_STEP_4);
}

__attribute__((target("avx512f"))) static double burn_8(double start_at, double a_at, double b_at)
{
    const __m512d start = _mm512_set1_pd(start_at), a = _mm512_set1_pd(a_at), b = _mm512_set1_pd(b_at);
    BURN(__m512d, FMA_STEP_8);
}

static int has_8(void) { return __builtin_cpu_supports("avx512f"); }
static int has_4(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

static int has_pair(void) { return 1; }

/* Sums of all words in several vectors: no load waits for another. */
#define WORD(vector, c) (*(const vector *)(memory + n + (c) * sizeof(vector)))
#define READ(vector)                                                                                                   \
    vector a = { 0 }, b = a, c = a, d = a;                                                                             \
    for (size_t n = 0; n + 8 * sizeof(vector) <= bytes; n += 8 * sizeof(vector)) {                                     \
        a += WORD(vector, 0), b += WORD(vector, 1), c += WORD(vector, 2), d += WORD(vector, 3);                        \
        a += WORD(vector, 4), b += WORD(vector, 5), c += WORD(vector, 6), d += WORD(vector, 7);                        \
    }                                                                                                                  \
    a += b + c + d;                                                                                                    \
    return a[0]

typedef unsigned long long words_2 __attribute__((vector_size(16), aligned(8), may_alias));
static unsigned long long read_pair(const char *memory, size_t bytes) { READ(words_2); }

#if defined(__x86_64__)
typedef unsigned long long words_4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef unsigned long long words_8 __attribute__((vector_size(64), aligned(8), may_alias));
__attribute__((target("avx2"))) static unsigned long long read_4(const char *memory, size_t bytes) { READ(words_4); }
__attribute__((target("avx512f"))) static unsigned long long read_8(const char *memory, size_t bytes) { READ(words_8); }
#endif

typedef struct burner {
    int (*has)(void);
    double (*burn)(double start, double a, double b);
    unsigned long long (*read)(const char *memory, size_t bytes);
    int lanes, instructions; /* an instruction a step and chain, or a product and a sum */
    const char *what;
} burner;

static const burner *widest(void)
{
    static const burner all[] = {
#if defined(__x86_64__)
        { has_8, burn_8, read_8, 8, 1, "512-bit FMA" },
        { has_4, burn_4, read_4, 4, 1, "256-bit FMA" },
#endif
        { has_pair, burn_pair, read_pair, 2, 2, "128-bit multiply and add" },
    };
    const burner *b = all;
    while (!b->has())
        b++;
    return b;
}

int64_t attest_machine_burst(int *lanes, const char **what)
{
    const burner *b = widest();
    *lanes = b->lanes;
    *what = b->what;
    return (int64_t)STEPS * CHAINS * b->instructions;
}

attest_status attest_machine_burn(void *context, attest_error *err)
{
    volatile double start = 1, a = 0.999, b = 0.001, sink; /* volatile: nothing is known before the run */
    (void)context;
    (void)err;
    sink = widest()->burn(start, a, b);
    (void)sink;
    return ATTEST_OK;
}

void attest_machine_read(const void *memory, size_t bytes)
{
    volatile unsigned long long sink = widest()->read(memory, bytes);
    (void)sink;
}
