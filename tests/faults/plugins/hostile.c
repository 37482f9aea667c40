/* hostile.c - a kernel library that does its host one harm: which, and where, is in a name (acts.h has the harms).
 *
 * As hostile.so it has a kernel `f-PLACE-HARM` for each harm and each place of supports, workspace, run, and three that
 * are right.  As a file PLACE-HARM.so it has the three, and does the harm in its constructor, open, close or
 * destructor.  The harm is done at the first call in a process.  Where a harm that is to be refused succeeds, run()
 * fails and says so. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "../../plugins/good.h"
#include "acts.h"

enum { PLACES = 3, CALM = 3, MOST = CALM + PLACES * ACTS_MOST };

static char file_place[32], file_harm[64];

/* What this file is called: `PLACE-HARM`. */
static void read_name(void)
{
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)read_name, &info) || !info.dli_fname)
        return;
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(file_place, sizeof file_place, "%s", slash ? slash + 1 : info.dli_fname);
    char *dash = strchr(file_place, '-'), *dot = dash ? strrchr(dash, '.') : NULL;
    if (!dot)
        return;
    *dash = *dot = '\0';
    snprintf(file_harm, sizeof file_harm, "%s", dash + 1);
}

static void act_of_file(const char *place)
{
    char why[256];
    if (strcmp(file_place, place) == 0)
        act(file_harm, why, sizeof why, NULL);
}

__attribute__((constructor)) static void constructed(void)
{
    read_name();
    act_of_file("constructor");
}

__attribute__((destructor)) static void destroyed(void) { act_of_file("destructor"); }

static attest_status opened(const attest_host *host, void **context, char *why, size_t len)
{
    (void)host, (void)context, (void)why, (void)len;
    act_of_file("open");
    return ATTEST_OK;
}

static void closed(void *context)
{
    (void)context;
    act_of_file("close");
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */
static const char *const places[PLACES] = { "supports", "workspace", "run" };
static attest_kernel kernel[MOST];
static const attest_kernel *kernels[MOST];
static char name[MOST][64];
static int done[MOST];
static const attest_numerics numerics = { .struct_size = sizeof numerics, .schedule = ATTEST_SCHEDULE_TWO_PASS };

/* Kernel `index` does its harm, once in a process unless it ends it. */
static int harm(const attest_call *call, int index, int place)
{
    if (done[index])
        return 0;
    done[index] = 1;
    return act(name[index] + strlen(places[place]) + 3, call->why, call->why_size, call);
}

#define INDEX(call) (int)((call)->self - kernel)
static int bad_supports(const attest_call *call)
{
    const int spoilt = harm(call, INDEX(call), 0);
    return spoilt ? 0 : good_supports(call);
}

static size_t bad_workspace(const attest_call *call)
{
    return harm(call, INDEX(call), 1) ? SIZE_MAX : good_workspace(call);
}

static attest_status bad_run(const attest_call *call)
{
    good_run(call->problem, call->tensors, call->workspace, call->problem->n);
    const int spoilt = harm(call, INDEX(call), 2);
    return spoilt == ACT_STATUS ? (attest_status)spoilt : spoilt ? ATTEST_KERNEL_ERROR : ATTEST_OK;
}

static attest_status calm_run(const attest_call *call)
{
    return good_run(call->problem, call->tensors, call->workspace, call->problem->n);
}

static attest_library library = { .struct_size = sizeof library,
                                  .abi_version = ATTEST_ABI_VERSION,
                                  .name = "hostile",
                                  .kernels = kernels,
                                  .open = opened,
                                  .close = closed };

static void add_kernel(int place, const char *text)
{
    const uint32_t n = library.kernel_count++;
    if (place < 0)
        snprintf(name[n], sizeof name[n], "f-%s", text);
    else
        snprintf(name[n], sizeof name[n], "f-%s-%s", places[place], text);
    kernel[n] = (attest_kernel){ .struct_size = sizeof(attest_kernel),
                                 .form = ATTEST_PARALLEL,
                                 .device = ATTEST_CPU,
                                 .flags = ATTEST_DETERMINISTIC,
                                 .outputs = ATTEST_GIVES_O,
                                 .name = name[n],
                                 .version = "1",
                                 .source = "<script>alert(1)</script>",
                                 .summary = "\033[2J=cmd|' /C calc'!A0 \xff\xfe",
                                 .variants = "softmax",
                                 .numerics = &numerics,
                                 .supports = place == 0 ? bad_supports : good_supports,
                                 .workspace = place == 1 ? bad_workspace : good_workspace,
                                 .run = place < 0    ? calm_run
                                        : place == 2 ? bad_run
                                                     : calm_run };
    kernels[n] = &kernel[n];
}

/* $FAULTS_ROWS: ` PLACE-HARM ` of each row that is wanted. */
static int is_wanted(const char *place, const char *text)
{
    char row[128];
    const char *rows = getenv("FAULTS_ROWS");
    snprintf(row, sizeof row, " %s-%s ", place, text);
    return rows && strstr(rows, row);
}

const attest_library *attest_library_v2(const attest_host *host)
{
    if (library.kernel_count)
        return host ? &library : NULL;
    add_kernel(-1, "calm-first");
    for (int place = 0; place < PLACES && !*file_harm; place++)
        for (size_t i = 0; i < act_count(); i++)
            if (is_wanted(places[place], act_name(i)))
                add_kernel(place, act_name(i));
    add_kernel(-1, "calm-middle");
    add_kernel(-1, "calm-last");
    return host ? &library : NULL;
}
