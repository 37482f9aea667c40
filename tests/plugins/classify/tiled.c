/* tiled: correct online softmax in tiles of 16 keys, each added up by itself, of kernels whose schedule no probe sees.
 *
 *   causal  serves mask=causal alone
 *   short   serves at most 200 keys
 * Each twice: as it is, and with nothing declared (its name ends in -silent).
 */
#include "../good.h"

enum { TILE = 16 };

typedef struct running {
    float m, l, *u; /* [e] */
} running;

/* The keys [first, last) of one query, into what came before. */
static void tile(running *r, const attest_problem *p, const attest_tensors *t, int64_t row, int64_t first, int64_t last)
{
    const attest_tensor *tq = t->role[ATTEST_Q], *tk = t->role[ATTEST_K], *tv = t->role[ATTEST_V];
    const int64_t b = row / p->n / p->hq, h = row / p->n % p->hq, i = row % p->n, g = h * p->hkv / p->hq;
    float s[TILE], m = r->m, l = 0, *u = r->u + p->e;
    for (int64_t j = first; j < last; j++) {
        float dot = 0;
        for (int64_t c = 0; c < p->d; c++)
            dot += good_row(tq, b, h, i)[c * tq->stride[3]] * good_row(tk, b, g, j)[c * tk->stride[3]];
        s[j - first] = (float)p->scale * dot;
        m = fmaxf(m, s[j - first]);
    }
    for (int64_t c = 0; c < p->e; c++)
        u[c] = 0;
    for (int64_t j = first; j < last; j++) {
        const float w = expf(s[j - first] - m);
        l += w;
        for (int64_t c = 0; c < p->e; c++)
            u[c] += w * good_row(tv, b, g, j)[c * tv->stride[3]];
    }
    const float old = first > 0 ? expf(r->m - m) : 0;
    r->m = m;
    r->l = r->l * old + l;
    for (int64_t c = 0; c < p->e; c++)
        r->u[c] = r->u[c] * old + u[c];
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensor *o = call->tensors->role[ATTEST_O];
    const int causal = p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL;
    for (int64_t row = 0; row < p->b * p->hq * p->n; row++) {
        running r = { -INFINITY, 0, call->workspace };
        const int64_t i = row % p->n, keys = causal && i + 1 < p->m ? i + 1 : p->m;
        for (int64_t c = 0; c < p->e; c++)
            r.u[c] = 0;
        for (int64_t first = 0; first < keys; first += TILE)
            tile(&r, p, call->tensors, row, first, first + TILE < keys ? first + TILE : keys);
        for (int64_t c = 0; c < p->e; c++)
            good_row(o, row / p->n / p->hq, row / p->n % p->hq, i)[c * o->stride[3]] = r.u[c] / r.l;
    }
    return ATTEST_OK;
}

static size_t workspace(const attest_call *call) { return 2 * sizeof(float) * (size_t)call->problem->e; }

static int serves_causal(const attest_call *call)
{
    return call->problem->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL ? good_supports(call)
                                                                             : attest_refuse(call, "only mask=causal");
}

static const attest_numerics nothing = { .struct_size = sizeof nothing };
static const attest_numerics tiles = {
    .struct_size = sizeof tiles, .schedule = ATTEST_SCHEDULE_ONLINE, .tile = TILE, .scale_dtype = 1 + ATTEST_F32
};
static const attest_limits few_keys = { .struct_size = sizeof few_keys, .m.most = 200 };

#define KERNEL(ID, NAME, SERVES, LIMITS, FLAGS, NUMERICS)                                                              \
    static const attest_kernel ID = { .struct_size = sizeof ID,                                                        \
                                      .form = ATTEST_TILED,                                                            \
                                      .device = ATTEST_CPU,                                                            \
                                      .flags = FLAGS,                                                                  \
                                      .outputs = ATTEST_GIVES_O,                                                       \
                                      .name = NAME,                                                                    \
                                      .version = "1",                                                                  \
                                      .source = "tests/plugins/classify/tiled.c",                                      \
                                      .summary = "online softmax in tiles of 16",                                      \
                                      .variants = "softmax",                                                           \
                                      .numerics = &NUMERICS,                                                           \
                                      .limits = LIMITS,                                                                \
                                      .supports = SERVES,                                                              \
                                      .workspace = workspace,                                                          \
                                      .run = run };

#define SERIAL ATTEST_DETERMINISTIC | ATTEST_SERIAL_SUMS
KERNEL(causal, "causal", serves_causal, NULL, SERIAL, tiles)
KERNEL(causal_silent, "causal-silent", serves_causal, NULL, ATTEST_DETERMINISTIC, nothing)
KERNEL(short_keys, "short", good_supports, &few_keys, SERIAL, tiles)
KERNEL(short_silent, "short-silent", good_supports, &few_keys, ATTEST_DETERMINISTIC, nothing)

static const attest_kernel *const kernels[] = { &causal, &causal_silent, &short_keys, &short_silent };
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "tiled",
                                        .kernels = kernels,
                                        .kernel_count = 4 };
const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }
