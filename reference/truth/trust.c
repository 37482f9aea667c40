/* trust.c - versions of what reference/ is linked with and compiled by. */
#include "reference/reference.h"

#include <stdio.h>

#include "reference/engine/engine.h"
#include "reference/reference.h"

#ifndef ATTEST_REFERENCE_FLAGS
#define ATTEST_REFERENCE_FLAGS ""
#endif

static void set(attest_library_version *v, const char *name, const char *loaded, const char *compiled)
{
    v->name = name;
    snprintf(v->loaded, sizeof v->loaded, "%s", loaded);
    snprintf(v->compiled, sizeof v->compiled, "%s", compiled);
}

size_t attest_reference_libraries(attest_library_version *list, size_t len)
{
    attest_library_version all[ATTEST_LIBRARIES_MAX];
    size_t count = 0;
    char gmp[64];
    snprintf(gmp, sizeof gmp, "%d.%d.%d", __GNU_MP_VERSION, __GNU_MP_VERSION_MINOR, __GNU_MP_VERSION_PATCHLEVEL);
    set(&all[count++], "FLINT", flint_version, FLINT_VERSION);
#if __FLINT_RELEASE < 30000
    set(&all[count++], "Arb", arb_version, ARB_VERSION);
#endif
    set(&all[count++], "MPFR", mpfr_get_version(), MPFR_VERSION_STRING);
    set(&all[count++], "GMP", gmp_version, gmp);
    for (size_t k = 0; k < count && k < len; k++)
        list[k] = all[k];
    return count;
}

void attest_reference_versions(char *text, size_t len)
{
    attest_library_version list[ATTEST_LIBRARIES_MAX];
    const size_t count = attest_reference_libraries(list, ATTEST_LIBRARIES_MAX);
    size_t at = 0;
    for (size_t k = 0; k < count && at < len; k++)
        at += (size_t)snprintf(text + at, len - at, "%s%s %s", k ? ", " : "", list[k].name, list[k].loaded);
}

const char *attest_reference_compiler(void)
{
#ifdef __clang__
    return "clang " __clang_version__ " " ATTEST_REFERENCE_FLAGS;
#else
    return "gcc " __VERSION__ " " ATTEST_REFERENCE_FLAGS;
#endif
}
