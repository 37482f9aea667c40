/* ftz: correct, but leaves the processor flushing subnormal numbers to zero (x86: MXCSR, arm: FPCR). */
#include "good.h"

#if defined(__SSE__)
#include <xmmintrin.h>
static void flush_to_zero(void) { _mm_setcsr(_mm_getcsr() | 0x8040u); /* FTZ and DAZ */ }
#elif defined(__aarch64__)
static void flush_to_zero(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" : : "r"(control | 1u << 24));
}
#else
#include <fenv.h>
static void flush_to_zero(void) { fesetround(FE_TOWARDZERO); } /* another part of the state, but changed as well */
#endif

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    good_run(p, t, call->workspace, p->n);
    flush_to_zero();
    return ATTEST_OK;
}

PLUGIN("ftz", run)
