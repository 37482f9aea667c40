/* isa.c - see isa.h. */
#include "fast/isa.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) && defined(__linux__) && defined(__has_include)
#if __has_include(<sys/platform/x86.h>) /* glibc 2.33: what it read at the start; CPUID traps in virtual machines */
#include <sys/platform/x86.h>
#include <sys/syscall.h>
#include <unistd.h>
#define ISA_AMX
#endif
#endif

static const char *const names[FAST_ISAS] = { "portable", "avx2", "avx512" };

const char *fast_isa_name(fast_isa isa) { return names[isa]; }

static int runs(fast_isa isa)
{
#if defined(__x86_64__)
    if (isa == FAST_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == FAST_AVX512)
        return __builtin_cpu_supports("avx512f") && runs(FAST_AVX2);
#endif
    return isa == FAST_PORTABLE;
}

fast_isa fast_isa_at_most(const char *most)
{
    int isa = FAST_ISAS - 1;
    for (int n = 0; n < FAST_ISAS && most; n++)
        if (strcmp(most, names[n]) == 0)
            isa = n;
    while (!runs((fast_isa)isa))
        isa--;
    return (fast_isa)isa;
}

int fast_has_bf16(void)
{
#if defined(__x86_64__)
    const char *most = getenv("FAST_CPU");
    for (int n = 0; n < FAST_ISAS && most; n++)
        if (strcmp(most, names[n]) == 0)
            return 0;
    return runs(FAST_AVX512) && __builtin_cpu_supports("avx512bf16");
#else
    return 0;
#endif
}

#ifdef ISA_AMX
int fast_has_amx(void) { return fast_has_bf16() && CPU_FEATURE_ACTIVE(AMX_TILE) && CPU_FEATURE_ACTIVE(AMX_BF16); }

int fast_ask_amx(void)
{
    enum { ASK = 0x1023, TILES = 18 }; /* arch_prctl(2): ARCH_REQ_XCOMP_PERM, and which part of the CPU's state */
    return syscall(SYS_arch_prctl, ASK, TILES) == 0;
}
#else
int fast_has_amx(void) { return 0; }
int fast_ask_amx(void) { return 0; }
#endif

int fast_level(void)
{
#ifdef FAST_ALL_ISAS
    return fast_has_amx() && fast_ask_amx() ? FAST_ISAS + 1 : fast_has_bf16() ? FAST_ISAS : (int)fast_isa_used();
#else
    return FAST_PORTABLE;
#endif
}

fast_isa fast_isa_used(void) { return fast_isa_at_most(getenv("FAST_CPU")); }
