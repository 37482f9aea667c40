/* nulllib: attest_library_v1() refuses every host. */
#include "attest.h"

const attest_library *attest_library_v1(const attest_host *host)
{
    (void)host;
    return NULL;
}
