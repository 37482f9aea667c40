/* call.c - see call.h. */
#include "kernels/library/call.h"
#include "kernels/problem/problem.h"

#include <stdio.h>

static attest_call call_of(attest_loaded k, const attest_problem *p, char *why, size_t len)
{
    if (len > 0)
        why[0] = '\0';
    return (attest_call){ .struct_size = (uint32_t)sizeof(attest_call),
                          .self = k.self,
                          .context = k.context,
                          .problem = p,
                          .why = why,
                          .why_size = len };
}

/* A kernel may have forgotten the end of its text. */
static void end_text(char *why, size_t len)
{
    if (len > 0)
        why[len - 1] = '\0';
}

static int inside_limits(const attest_limits *limits, const attest_problem *p, char *why, size_t len)
{
    const struct {
        const char *name;
        int64_t size;
        attest_limit limit;
    } rows[] = { { "b", p->b, limits->b }, { "hq", p->hq, limits->hq }, { "hkv", p->hkv, limits->hkv },
                 { "n", p->n, limits->n }, { "m", p->m, limits->m },    { "d", p->d, limits->d },
                 { "e", p->e, limits->e } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const attest_limit l = rows[i].limit;
        const long long size = rows[i].size;
        if (l.least > 0 && size < l.least)
            snprintf(why, len, "%s=%lld is below the kernel's limit of %lld", rows[i].name, size, (long long)l.least);
        else if (l.most > 0 && size > l.most)
            snprintf(why, len, "%s=%lld is above the kernel's limit of %lld", rows[i].name, size, (long long)l.most);
        else if (l.multiple > 0 && size % l.multiple != 0)
            snprintf(why, len, "%s=%lld is no multiple of %lld, as the kernel needs", rows[i].name, size,
                     (long long)l.multiple);
        else
            continue;
        return 0;
    }
    return 1;
}

/* What a kernel that gave no reason is refused for: the axis that it named. */
static void word_reason(char *why, size_t len, const attest_problem *p, int32_t axis)
{
    char value[64];
    if (axis < 0) {
        snprintf(why, len, "supports() gave no reason");
    } else if (axis >= ATTEST_AXIS_COUNT) {
        snprintf(why, len, "axis number %d is not known to this version", axis);
    } else {
        attest_axis_print(value, sizeof value, (uint32_t)axis, &p->axis[axis]);
        snprintf(why, len, "%s=%s is not served", attest_axes[axis].key, value);
    }
}

int attest_kernel_supports(attest_loaded k, const attest_problem *p, char *why, size_t len)
{
    int32_t axis = -1;
    attest_call call = call_of(k, p, why, len);
    call.axis = &axis;
    if (k.kernel->limits && !inside_limits(k.kernel->limits, p, why, len))
        return 0;
    const int supported = k.kernel->supports(&call) != 0;
    end_text(why, len);
    if (supported && len > 0)
        why[0] = '\0';
    else if (!supported && len > 0 && !why[0])
        word_reason(why, len, p, axis);
    return supported;
}

size_t attest_kernel_workspace(attest_loaded k, const attest_problem *p)
{
    const attest_call call = call_of(k, p, NULL, 0);
    return k.kernel->workspace ? k.kernel->workspace(&call) : 0;
}

const attest_numerics *attest_kernel_numerics(attest_loaded k, const attest_problem *p)
{
    const attest_call call = call_of(k, p, NULL, 0);
    return k.kernel->numerics_of ? k.kernel->numerics_of(&call) : NULL;
}

attest_status attest_kernel_run(attest_loaded k, const attest_problem *p, const attest_view *view, void *workspace,
                                size_t workspace_size, char *why, size_t len)
{
    const attest_tensors tensors = attest_view_tensors(view);
    attest_call call = call_of(k, p, why, len);
    call.outputs = attest_view_wanted(view);
    call.tensors = &tensors;
    call.workspace = workspace;
    call.workspace_size = workspace_size;
    call.stream = k.stream;
    const attest_status status = k.kernel->run(&call);
    end_text(why, len);
    return status;
}
