/* isa.h - which instruction set the fast kernels use: the best that the CPU has.
 *
 * The environment variable FAST_CPU names the best that may be used (portable, avx2, avx512); another word, or none,
 * means all.  The bits of a kernel may depend on it (simd.h), nothing else does.
 */
#ifndef ATTEST_FAST_ISA_H
#define ATTEST_FAST_ISA_H

typedef enum fast_isa { FAST_PORTABLE = 0, FAST_AVX2 = 1, FAST_AVX512 = 2, FAST_ISAS = 3 } fast_isa;

/* The best of those that this CPU and its system run, at most the one called `most`; NULL: no limit. */
fast_isa fast_isa_at_most(const char *most);

/* The same for the limit that FAST_CPU gives. */
fast_isa fast_isa_used(void);

/* Has the CPU products of pairs of bf16 numbers (AVX512-BF16)?  0 under each of the limits that FAST_CPU names. */
int fast_has_bf16(void);

/* Has the CPU tiles of bf16 numbers (AMX-BF16) beside them, and its system knows them?  0 as above. */
int fast_has_amx(void);

/* Asks the system to let this process use tiles, which the first such instruction needs; 0: it may not.  Once given,
 * this stays: from then on sigaltstack() takes no stack below some 12 KB in this process, as that state has to fit. */
int fast_ask_amx(void);

/* What the kernels of this build use here, one of these words: "avx512bf16" and "amx" where a kernel that has a build
 * of its own for that extension uses it, and the others AVX-512.  `FAST_LEVELS(X)`: X(word), in the order of
 * fast_level(). */
#define FAST_LEVELS(X) X("portable") X("avx2") X("avx512") X("avx512bf16") X("amx")
int fast_level(void);

/* Calls NAME_avx512, NAME_avx2 or NAME_portable; the last alone in the file of a planted defect, which defines it, and
 * where FAST_ONE_ISA is defined. */
#if defined(FAST_PLANTED) || defined(FAST_ONE_ISA) || !defined(__x86_64__)
#define FAST_CALL(name, call) name##_portable(call)
#else
#define FAST_ALL_ISAS
#define FAST_CALL(name, call)                                                                                          \
    ((attest_status(*const[FAST_ISAS])(const attest_call *)){ name##_portable, name##_avx2,                            \
                                                              name##_avx512 }[fast_isa_used()](call))
#endif

/* "portable", "avx2", "avx512". */
const char *fast_isa_name(fast_isa isa);

#endif
