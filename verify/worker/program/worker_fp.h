/* worker_fp.h - the floating-point state of the worker: read, set, compared; told in words. */
#ifndef ATTEST_WORKER_FP_H
#define ATTEST_WORKER_FP_H

#include <fenv.h>
#include <stdio.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#define FP_WORD "mxcsr"
#else
#define FP_WORD "fpcr"
#endif

typedef struct fp_control {
    unsigned long word, x87; /* MXCSR without its exception flags (arm: FPCR); x87 control word */
    int round;               /* fegetround() */
    int held;                /* x87 registers that are not empty; MMX has the same */
} fp_control;

static inline fp_control fp_get(void)
{
    fp_control s = { 0, 0, fegetround(), 0 };
#if defined(__x86_64__)
    unsigned short state[14]; /* halves of 32 bits: control, status and tag word, and of the last instruction */
    __asm__ volatile("fnstenv %0\n\tfnclex\n\tfldcw %0" : "+m"(state)); /* it masked what was not */
    s.x87 = state[0];
    for (unsigned tags = state[4]; tags != 0xffffu; tags = (tags >> 2) | 0xc000u)
        s.held += (tags & 3u) != 3u;
    s.word = _mm_getcsr() & ~0x3fu;
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr" : "=r"(s.word));
#endif
    return s;
}

static inline void fp_set(fp_control s)
{
    fesetround(s.round);
#if defined(__x86_64__)
    const unsigned short x87 = (unsigned short)s.x87;
    __asm__ volatile("fninit\n\tfldcw %0" /* fninit leaves the registers empty */
                     :
                     : "m"(x87)
                     : "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)");
    _mm_setcsr((unsigned)s.word);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(s.word));
#endif
}

/* What the bits of the control word mean. */
static inline const char *word_text(char *text, size_t len, unsigned long word)
{
#if defined(__x86_64__)
    static const char *const rounding[4] = { "", " round-down", " round-up", " round-to-zero" };
    snprintf(text, len, "%s%s%s%s", word & 0x8000u ? " FTZ" : "", word & 0x40u ? " DAZ" : "",
             (word & 0x1f80u) != 0x1f80u ? " traps" : "", rounding[word >> 13 & 3u]);
#else
    static const char *const rounding[4] = { "", " round-up", " round-down", " round-to-zero" };
    snprintf(text, len, "%s%s", word >> 24 & 1u ? " FZ" : "", rounding[word >> 22 & 3u]);
#endif
    return text[0] ? text + 1 : "no flag";
}

/* 1 and the words in text[64] if the state is no longer `before`. */
static inline int fp_compare(char *text, size_t len, const char *when, fp_control before, fp_control after)
{
    char bits[48];
    if (before.word != after.word)
        snprintf(text, len, "%.6s%s 0x%lx -> 0x%lx (%.27s)", when, FP_WORD, before.word, after.word,
                 word_text(bits, sizeof bits, after.word));
    else if (before.x87 != after.x87)
        snprintf(text, len, "%sx87 0x%lx -> 0x%lx", when, before.x87, after.x87);
    else if (before.held != after.held)
        snprintf(text, len, "%sx87 or MMX: %d of 8 registers left in use", when, after.held);
    else if (before.round != after.round)
        snprintf(text, len, "%srounding %d -> %d", when, before.round, after.round);
    else
        return 0;
    return 1;
}

#endif
