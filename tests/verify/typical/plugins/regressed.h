/* regressed.h - what the kernels of this folder share.  Each is a built-in kernel with one step less exact than it
 * declares (but `carried`, which is right): inside its bound on long rows, and worse than plain arithmetic.
 */
#ifndef REGRESSED_H
#define REGRESSED_H

#include "cpu/steps/step.h"

#ifndef REGRESSED_UNDECLARED
#define REGRESSED_UNDECLARED 0 /* 1: nothing is declared */
#endif

/* x rounded to nearest with so many binary digits. */
static inline float to_digits(float x, int digits)
{
    int exponent;
    const float part = frexpf(x, &exponent);
    return ldexpf(rintf(ldexpf(part, digits)), exponent - digits);
}

static inline void add_21(float *u, float w, const float *v, int64_t e)
{
    for (int64_t c = 0; c < e; c++)
        u[c] = to_digits(u[c] + w * v[c], 21);
}

/* After the kernel's source: the library with this one kernel, its sums declared compensated or not. */
#define REGRESSED(source, is_compensated)                                                                              \
    const attest_library *attest_library_v2(const attest_host *host)                                                   \
    {                                                                                                                  \
        static attest_numerics declared;                                                                               \
        static attest_kernel kernel;                                                                                   \
        static const attest_kernel *const kernels[] = { &kernel };                                                     \
        static const attest_library library = { .struct_size = sizeof library,                                         \
                                                .abi_version = ATTEST_ABI_VERSION,                                     \
                                                .name = #source,                                                       \
                                                .kernels = kernels,                                                    \
                                                .kernel_count = 1 };                                                   \
        declared = *source.numerics;                                                                                   \
        declared.compensated = is_compensated;                                                                         \
        if (REGRESSED_UNDECLARED)                                                                                      \
            declared = (attest_numerics){ .struct_size = sizeof declared };                                            \
        kernel = source;                                                                                               \
        kernel.numerics = &declared;                                                                                   \
        kernel.flags &= ~(uint32_t)(REGRESSED_UNDECLARED ? ATTEST_SERIAL_SUMS : 0);                                    \
        return host ? &library : (const attest_library *)0;                                                            \
    }

#endif
