/* hollow: the built-in kernels with a part of what makes them right taken away.
 *
 *   bare-K      kernel K, and none of its declarations but those that are worse than nothing declared
 *   lost-K      kernel K without the last key
 *   lostbare-K  both
 *   inner-K     kernel K without key m/3 (mask=full, nothing that depends on positions)
 *   quiet-K     kernel K, which gives o alone
 *   zeros       serves everything, declares nothing, writes 0 into o
 *
 * bare-K and quiet-K are right, the others are wrong.
 */
#include "attest.h"
#include "library/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS 32
enum { BARE, LOST, LOSTBARE, INNER, QUIET, WAYS };

static const attest_kernel *base_of(const attest_call *call)
{
    const attest_library *all = attest_builtin_library();
    const char *name = strchr(call->self->name, '-') + 1;
    for (uint32_t k = 0; k < all->kernel_count; k++)
        if (strcmp(all->kernels[k]->name, name) == 0)
            return all->kernels[k];
    return NULL;
}

static attest_call call_of(const attest_call *call, const attest_kernel *base)
{
    attest_call inner = *call;
    inner.self = base;
    return inner;
}

static int supports(const attest_call *call)
{
    const attest_kernel *base = base_of(call);
    const attest_call inner = call_of(call, base);
    return base->supports(&inner);
}

/* Without a last key: masks whose place does not depend on m, and one key at least is left. */
static int supports_lost(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (p->m < 2 || p->n > p->m || p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL_BR ||
        p->axis[ATTEST_AXIS_LENS].value != 0)
        return attest_refuse(call, "only where the last key can be left out");
    return supports(call);
}

static size_t workspace(const attest_call *call)
{
    const attest_kernel *base = base_of(call);
    const attest_call inner = call_of(call, base);
    return base->workspace ? base->workspace(&inner) : 0;
}

static attest_status run(const attest_call *call)
{
    const attest_kernel *base = base_of(call);
    const attest_call inner = call_of(call, base);
    return base->run(&inner);
}

static attest_status run_lost(const attest_call *call)
{
    const attest_kernel *base = base_of(call);
    attest_call inner = call_of(call, base);
    attest_problem p = *call->problem;
    p.m--;
    inner.problem = &p;
    return base->run(&inner);
}

/* Places of keys matter to nobody: what else would tell that one is left out? */
static int supports_inner(const attest_call *call)
{
    static const uint32_t places[] = { ATTEST_AXIS_WINDOW, ATTEST_AXIS_DECAY, ATTEST_AXIS_ALIBI, ATTEST_AXIS_ROPE,
                                       ATTEST_AXIS_GATES,  ATTEST_AXIS_STATE, ATTEST_AXIS_UPDATE };
    const attest_problem *p = call->problem;
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++)
        if (p->axis[places[k]].value != 0)
            return attest_refuse(call, "only where places do not matter");
    if (p->axis[ATTEST_AXIS_MASK].value != ATTEST_MASK_FULL ||
        p->axis[ATTEST_AXIS_FEATURE].value == ATTEST_FEATURE_COSFORMER)
        return attest_refuse(call, "only where places do not matter");
    return supports_lost(call);
}

/* k or v without token `key`, in C order; free() its data. */
static attest_tensor without(const attest_tensor *t, int64_t key)
{
    const size_t size = t->dtype == ATTEST_F64 ? 8 : t->dtype == ATTEST_F32 ? 4 : 2;
    attest_tensor to = *t;
    to.shape[2]--;
    to.stride[3] = 1;
    to.stride[2] = to.shape[3];
    to.stride[1] = to.shape[2] * to.stride[2];
    to.stride[0] = to.shape[1] * to.stride[1];
    char *data = malloc(size * (size_t)(to.shape[0] * to.stride[0]));
    to.data = data;
    for (int64_t row = 0; data && row < to.shape[0] * to.shape[1] * to.shape[2]; row++) {
        const int64_t token = row % to.shape[2], head = row / to.shape[2];
        const int64_t from = head / to.shape[1] * t->stride[0] + head % to.shape[1] * t->stride[1] +
                             (token + (token >= key)) * t->stride[2];
        for (int64_t c = 0; c < to.shape[3]; c++)
            memcpy(data + (int64_t)size * (row * to.stride[2] + c),
                   (const char *)t->data + (int64_t)size * (from + c * t->stride[3]), size);
    }
    return to;
}

static attest_status run_inner(const attest_call *call)
{
    const attest_kernel *base = base_of(call);
    const attest_tensor *roles[ATTEST_ROLE_ROOM];
    attest_call inner = call_of(call, base);
    attest_problem p = *call->problem;
    attest_tensors tensors = *call->tensors;
    attest_tensor k = without(tensors.role[ATTEST_K], p.m / 3), v = without(tensors.role[ATTEST_V], p.m / 3);
    attest_status status = ATTEST_NO_MEMORY;
    memcpy(roles, tensors.role, sizeof roles);
    roles[ATTEST_K] = &k;
    roles[ATTEST_V] = &v;
    tensors.role = roles;
    p.m--;
    inner.problem = &p;
    inner.tensors = &tensors;
    if (k.data && v.data)
        status = base->run(&inner);
    free(k.data);
    free(v.data);
    return status;
}

static int supports_all(const attest_call *call)
{
    (void)call;
    return 1;
}

static attest_status run_zeros(const attest_call *call)
{
    const attest_tensor *o = call->tensors->role[ATTEST_O];
    const size_t size = o->dtype == ATTEST_F64 ? 8 : o->dtype == ATTEST_F32 ? 4 : 2;
    for (int64_t at[4] = { 0 }; at[0] < o->shape[0]; at[0]++)
        for (at[1] = 0; at[1] < o->shape[1]; at[1]++)
            for (at[2] = 0; at[2] < o->shape[2]; at[2]++)
                for (at[3] = 0; at[3] < o->shape[3]; at[3]++) {
                    int64_t offset = 0;
                    for (int a = 0; a < 4; a++)
                        offset += at[a] * o->stride[a];
                    memset((char *)o->data + (int64_t)size * offset, 0, size);
                }
    return ATTEST_OK;
}

/* What makes a bound larger than that of nothing declared stays. */
static attest_numerics bare(const attest_numerics *n)
{
    return (attest_numerics){ .struct_size = sizeof *n,
                              .acc_unit = n->acc_unit,
                              .acc_truncates = n->acc_truncates,
                              .state_dtype = n->state_dtype,
                              .empty_row = n->empty_row,
                              .score_dtype = n->score_dtype,
                              .score_unit = n->score_unit,
                              .value_unit = n->value_unit,
                              .score_acc = n->score_acc,
                              .value_acc = n->value_acc };
}

const attest_library *attest_library_v2(const attest_host *host)
{
    static const attest_numerics nothing = { .struct_size = sizeof nothing };
    static const attest_kernel zeros = { .struct_size = sizeof zeros,
                                         .form = ATTEST_PARALLEL,
                                         .device = ATTEST_CPU,
                                         .flags = ATTEST_DETERMINISTIC,
                                         .outputs = ATTEST_GIVES_O | ATTEST_TAKES_STATE,
                                         .name = "zeros",
                                         .version = "1",
                                         .source = "hollow.c",
                                         .summary = "0",
                                         .variants = "all",
                                         .numerics = &nothing,
                                         .supports = supports_all,
                                         .run = run_zeros };
    static const char *const ways[WAYS] = { "bare", "lost", "lostbare", "inner", "quiet" };
    static attest_kernel kernel[WAYS * KERNELS];
    static attest_numerics numerics[WAYS * KERNELS];
    static char name[WAYS * KERNELS][64];
    static const attest_kernel *list[WAYS * KERNELS + 1] = { &zeros };
    static attest_library library = { .struct_size = sizeof library,
                                      .abi_version = ATTEST_ABI_VERSION,
                                      .name = "hollow",
                                      .kernels = list,
                                      .kernel_count = 1 };
    const attest_library *all = attest_builtin_library();
    (void)host;
    if (all->kernel_count > KERNELS)
        return NULL;
    library.kernel_count = 1;
    for (int way = 0; way < WAYS; way++)
        for (uint32_t k = 0; k < all->kernel_count; k++) {
            const int at = way * KERNELS + (int)k;
            kernel[at] = *all->kernels[k];
            const int says = way == LOST || way == INNER || way == QUIET, right = way == BARE || way == QUIET;
            numerics[at] = says ? *kernel[at].numerics : bare(kernel[at].numerics);
            snprintf(name[at], sizeof name[at], "%s-%s", ways[way], kernel[at].name);
            kernel[at].name = name[at];
            kernel[at].numerics = &numerics[at];
            kernel[at].flags &= says ? ~0u : ~(uint32_t)ATTEST_SERIAL_SUMS;
            kernel[at].outputs &= way == QUIET ? ATTEST_GIVES_O | ATTEST_TAKES_STATE : ~0u;
            kernel[at].supports = right ? supports : way == INNER ? supports_inner : supports_lost;
            kernel[at].workspace = workspace;
            kernel[at].run = right ? run : way == INNER ? run_inner : run_lost;
            list[library.kernel_count++] = &kernel[at];
        }
    return &library;
}
