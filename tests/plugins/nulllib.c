/* nulllib: attest_library_v2() refuses every host. */
#include "attest.h"

const attest_library *attest_library_v2(const attest_host *host)
{
    (void)host;
    return NULL;
}
