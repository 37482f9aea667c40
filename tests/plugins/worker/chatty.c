/* chatty: correct, and prints 80 KiB in each run, each line of which must be taken. */
#define PLUGIN_SMALL 24
#include "../good.h"

static attest_status run(const attest_call *call)
{
    for (int i = 0; i < 1300; i++)
        if (fprintf(i % 100 ? stdout : stderr, "%-62d\n", i) < 0)
            return ATTEST_IO;
    if (fflush(stdout) != 0 || fflush(stderr) != 0)
        return ATTEST_IO;
    return good_run(call->problem, call->tensors, call->workspace, call->problem->n);
}

PLUGIN("chatty", run)
