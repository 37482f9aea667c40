/* library.c - the planted defects as a library of the same ABI as any other: list.h gives the rows. */
#include "attest.h"

#define DEFECT(id, base, bugs, what) extern const attest_kernel attest_defect_##id;
#include "list.h"
#undef DEFECT

enum {
#define DEFECT(id, base, bugs, what) NUMBER_##id,
#include "list.h"
#undef DEFECT
    COUNT
};

enum { NAME = 48 };

/* Kernel names have `-` where identifiers have `_`. */
static const char *name_of(char name[NAME], const char *id)
{
    int at = 0;
    for (; id[at] && at < NAME - 1; at++)
        name[at] = id[at];
    name[at] = '\0';
    for (at = 0; name[at]; at++)
        name[at] = name[at] == '_' ? '-' : name[at];
    return name;
}

/* The library lives as long as the process; the table is filled once, when the only caller, a worker, loads it. */
const attest_library *attest_library_v2(const attest_host *host)
{
    static attest_kernel copies[COUNT];
    static char names[COUNT][NAME];
    static const attest_kernel *kernels[COUNT];
    static const attest_library library = {
        .struct_size = sizeof library,
        .abi_version = ATTEST_ABI_VERSION,
        .name = "planted defects",
        .build_flags = ATTEST_BUILD_FLAGS,
        .kernels = kernels,
        .kernel_count = COUNT,
    };
#define DEFECT(id, base, bugs, what)                                                                                   \
    copies[NUMBER_##id] = attest_defect_##id;                                                                          \
    copies[NUMBER_##id].name = name_of(names[NUMBER_##id], #id);                                                       \
    copies[NUMBER_##id].source = "kernels/defects/" #id ".c";                                                          \
    copies[NUMBER_##id].summary = what;                                                                                \
    kernels[NUMBER_##id] = &copies[NUMBER_##id];
#include "list.h"
#undef DEFECT
    return host ? &library : (const attest_library *)0;
}
