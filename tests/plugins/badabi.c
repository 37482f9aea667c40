/* badabi: a library made for version 99 of attest.h. */
#include "attest.h"

static const attest_library library = { .struct_size = sizeof library, .abi_version = 99, .name = "badabi" };

const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }
