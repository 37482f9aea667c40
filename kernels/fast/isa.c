/* isa.c - see isa.h. */
#include "fast/isa.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
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

#if defined(__x86_64__) && defined(__linux__)
/* arch_prctl(2): which parts of the CPU's state a process may ask for, and asking for one; tiles are part 18. */
enum { XCOMP_SUPPORTED = 0x1021, XCOMP_ASK = 0x1023, XCOMP_TILES = 18 };

int fast_has_amx(void)
{
    unsigned eax, ebx, ecx, edx;
    unsigned long parts = 0;
    if (!fast_has_bf16() || !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        return 0;
    const int tiles = edx >> 24 & 1, bf16 = edx >> 22 & 1;
    return tiles && bf16 && syscall(SYS_arch_prctl, XCOMP_SUPPORTED, &parts) == 0 && (parts >> XCOMP_TILES & 1);
}

int fast_ask_amx(void) { return syscall(SYS_arch_prctl, XCOMP_ASK, XCOMP_TILES) == 0; }
#else
int fast_has_amx(void) { return 0; }
int fast_ask_amx(void) { return 0; }
#endif

int fast_level(void)
{
#ifdef FAST_ALL_ISAS
    return fast_has_amx() ? FAST_ISAS + 1 : fast_has_bf16() ? FAST_ISAS : (int)fast_isa_used();
#else
    return FAST_PORTABLE;
#endif
}

fast_isa fast_isa_used(void) { return fast_isa_at_most(getenv("FAST_CPU")); }
