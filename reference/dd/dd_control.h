/* dd_control.h - inside reference/: the thread's floating-point control, as the dd engine's proof needs it: rounding to
 * nearest, subnormals kept, traps masked.  Restore what was there before. */
#ifndef ATTEST_DD_CONTROL_H
#define ATTEST_DD_CONTROL_H

#include <stdint.h>

#if defined(__x86_64__)
/* MXCSR: all exceptions masked, nothing else */
static inline uint32_t dd_control_set(void)
{
    const uint32_t before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(0x1f80);
    return before;
}
static inline void dd_control_restore(uint32_t before) { __builtin_ia32_ldmxcsr(before); }
#elif defined(__aarch64__)
static inline uint32_t dd_control_set(void)
{
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return (uint32_t)before;
}
static inline void dd_control_restore(uint32_t before) { __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)before)); }
#else
/* Not known on this machine: dd_path.sound() refuses what the proof does not cover. */
static inline uint32_t dd_control_set(void) { return 0; }
static inline void dd_control_restore(uint32_t before) { (void)before; }
#endif

#endif
