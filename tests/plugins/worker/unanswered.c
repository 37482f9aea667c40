/* unanswered: correct, but on mask=causal without an answer to what $UNANSWERED names: supports-crash, supports-hang,
 * workspace-crash, workspace-hang. */
#include <stdlib.h>
#include <string.h>

#define PLUGIN_SUPPORTS supports
#define PLUGIN_WORKSPACE workspace
#define PLUGIN_SMALL 24
#include "../good.h"

static void ask(const attest_call *call, const char *crash, const char *hang)
{
    const char *how = getenv("UNANSWERED");
    volatile int forever = call->problem->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL;
    if (forever && how && strcmp(how, crash) == 0)
        abort();
    while (forever && how && strcmp(how, hang) == 0)
        ;
}

static int supports(const attest_call *call)
{
    ask(call, "supports-crash", "supports-hang");
    return good_supports(call);
}

static size_t workspace(const attest_call *call)
{
    ask(call, "workspace-crash", "workspace-hang");
    return good_workspace(call);
}

static attest_status run(const attest_call *call)
{
    return good_run(call->problem, call->tensors, call->workspace, call->problem->n);
}

PLUGIN("unanswered", run)
