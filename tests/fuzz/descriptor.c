/* descriptor.c - what a kernel library describes of itself: sizes of structs, names, sets of bits, numerics, limits,
 * claim.  The bytes are laid into the structs; pointers stay good ones or NULL, as a library's own are. */
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/library/library.h"

enum { KERNELS = 3, TEXTS = 32 };

typedef struct described {
    attest_library library;
    attest_memory memory;
    attest_kernel kernel[KERNELS];
    attest_numerics numerics;
    attest_claim claim;
    attest_limits limits;
    const attest_kernel *list[KERNELS];
    char text[KERNELS][4][TEXTS];
} described;

typedef struct source {
    const uint8_t *at;
    size_t left;
} source;

/* The next `size` bytes; zeros behind the end. */
static void next(source *s, void *to, size_t size)
{
    const size_t taken = size < s->left ? size : s->left;
    memset(to, 0, size);
    if (taken > 0)
        memcpy(to, s->at, taken);
    s->at += taken;
    s->left -= taken;
}

static unsigned next_byte(source *s)
{
    uint8_t byte;
    next(s, &byte, 1);
    return byte;
}

static int supports(const attest_call *call)
{
    return call->problem->n % 2 ? 1 : attest_refuse_axis(call, (int)call->problem->m);
}

static attest_status run(const attest_call *call)
{
    (void)call;
    return ATTEST_OK;
}

static attest_status describe(void *context, char *text, size_t len)
{
    (void)context;
    if (len > 0)
        *text = '\0';
    return ATTEST_OK;
}

/* A struct_size that a library of another year could have. */
static uint32_t size_of(unsigned byte, size_t size) { return (uint32_t)(byte % 4 ? size : byte / 4 * 4); }

static void lay_kernel(described *d, source *s, int i)
{
    attest_kernel *k = &d->kernel[i];
    const unsigned what = next_byte(s);
    k->struct_size = size_of(next_byte(s), sizeof *k);
    k->form = next_byte(s) % 8;
    k->device = next_byte(s) % 4;
    next(s, &k->flags, sizeof k->flags);
    k->flags &= what & 1 ? ATTEST_FLAGS_KNOWN : UINT32_MAX;
    k->outputs = next_byte(s);
    k->needs = what & 2 ? next_byte(s) : 0;
    for (int t = 0; t < 4; t++) {
        next(s, d->text[i][t], next_byte(s) % TEXTS);
        d->text[i][t][TEXTS - 1] = '\0';
    }
    k->name = what & 4 ? "a-kernel" : d->text[i][0];
    k->version = d->text[i][1];
    k->summary = d->text[i][2];
    k->variants = d->text[i][3];
    k->numerics = what & 8 ? NULL : &d->numerics;
    k->claim = what & 16 ? &d->claim : NULL;
    k->limits = what & 32 ? &d->limits : NULL;
    k->supports = supports;
    k->run = what & 64 ? NULL : run;
    k->alignment = next_byte(s);
    d->list[i] = what & 128 && what & 1 ? NULL : k;
}

static void lay(described *d, source *s)
{
    memset(d, 0, sizeof *d);
    const uint32_t sizes[] = { size_of(next_byte(s), sizeof d->numerics), size_of(next_byte(s), sizeof d->claim),
                               size_of(next_byte(s), sizeof d->limits) };
    d->memory = (attest_memory){ .struct_size = size_of(next_byte(s), sizeof d->memory),
                                 .device = ATTEST_CUDA,
                                 .describe = describe };
    d->library.struct_size = size_of(next_byte(s), sizeof d->library);
    d->library.abi_version = next_byte(s) % 16 ? ATTEST_ABI_VERSION : next_byte(s);
    d->library.kernels = d->list;
    d->library.kernel_count = 1 + next_byte(s) % KERNELS;
    d->library.memory = next_byte(s) % 16 ? NULL : &d->memory;
    for (int i = 0; i < KERNELS; i++)
        lay_kernel(d, s, i);
    next(s, &d->numerics, sizeof d->numerics);
    next(s, &d->claim, sizeof d->claim);
    next(s, &d->limits, sizeof d->limits);
    d->claim.domain = NULL;
    d->numerics.struct_size = sizes[0];
    d->claim.struct_size = sizes[1];
    d->limits.struct_size = sizes[2];
}

/* Of a library that is taken, a kernel is asked as the worker asks it. */
static void ask(const attest_plugin *plugin)
{
    static const char *const lines[] = { "n=1",
                                         "variant=taylor:2 n=5 d=3 in=bf16",
                                         "variant=sla n=3",
                                         "n=7 out=f16",
                                         "variant=efla n=3",
                                         "mask=causal cap=3 n=9 m=4 hq=4 hkv=2" };
    for (uint32_t i = 0; i < plugin->library.kernel_count; i++)
        for (size_t l = 0; l < sizeof lines / sizeof lines[0]; l++) {
            const attest_loaded k = attest_plugin_loaded(plugin, i);
            attest_declared declared;
            attest_error err;
            attest_case c;
            char why[200] = "";
            FUZZ_CHECK(attest_case_parse(&c, lines[l], NULL, NULL, &err) == ATTEST_OK);
            FUZZ_CHECK(attest_kernel_supports(k, &c.problem, why, sizeof why) || why[0]);
            why[0] = '\0';
            FUZZ_CHECK(attest_declared_of(&declared, k, &c.problem, why, sizeof why) || why[0]);
        }
}

static int take(const uint8_t *data, size_t size)
{
    described *d = malloc(sizeof *d);
    source s = { data, size };
    attest_plugin *plugin;
    attest_error err;
    FUZZ_CHECK(d);
    lay(d, &s);
    const attest_status status = attest_plugin_take(&plugin, &d->library, "fuzz.so", &err);
    if (status == ATTEST_OK)
        ask(plugin);
    else
        FUZZ_CHECK(plugin == NULL && fuzz_refused(status, &err) == 0);
    attest_plugin_free(plugin);
    free(d);
    return status == ATTEST_OK;
}

extern const fuzz_reader fuzz_descriptor;
const fuzz_reader fuzz_descriptor = { "descriptor", take, NULL };
