/* plugin.c - dlopen, the one symbol, copies of a library's structs, and every check before it is trusted to be one. */
#include "kernels/library/plugin.h"

#include "kernels/input.h"
#include "kernels/library/declared.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNELS_MAX 4096u
#define NAME_MOST 63       /* bytes: results, traits and plans keep as many */
#define ALIGNMENT_MOST 64u /* what every library was promised before `alignment` was a field */

static int name_is_legal(const char *name)
{
    return name[0] != '\0' && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

/* A set of bits, of which this host knows some: those beyond come from a newer attest.h, or from version 1. */
static attest_status check_bits(const attest_kernel *k, const char *field, uint32_t value, uint32_t known,
                                const char *path, attest_error *err)
{
    if (value & ~known)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s': %s is 0x%x; this program does not know bits 0x%x",
                           path, k->name, field, value, value & ~known);
    return ATTEST_OK;
}

static attest_status check_limits(const attest_kernel *k, const char *path, attest_error *err)
{
    const attest_limits *l = k->limits;
    const attest_limit rows[] = { l->b, l->hq, l->hkv, l->n, l->m, l->d, l->e };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].least < 0 || rows[i].most < 0 || rows[i].multiple < 0)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s': a limit is negative", path, k->name);
    return ATTEST_OK;
}

/* What it declares, of the copies. */
static attest_status check_declared(const attest_kernel *k, const char *path, attest_error *err)
{
    char why[200];
    attest_status status = ATTEST_OK;
    ATTEST_TRY(check_bits(k, "flags", k->flags, ATTEST_FLAGS_KNOWN, path, err));
    ATTEST_TRY(check_bits(k, "outputs", k->outputs, ATTEST_OUTPUTS_KNOWN, path, err));
    ATTEST_TRY(check_bits(k, "needs", k->needs, ATTEST_NEEDS_KNOWN, path, err));
    if (!(k->outputs & ATTEST_GIVES_O))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s': outputs is 0x%x, without ATTEST_GIVES_O", path,
                           k->name, k->outputs);
    if (!k->numerics)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s' has no attest_numerics (zeros mean unknown)", path,
                           k->name);
    if (!attest_numerics_check(k->numerics, why, sizeof why))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s': %s", path, k->name, why);
    if (k->claim && !(k->claim->max_ulp >= 0 && k->claim->max_ulp <= 0x1p60))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s': claim.max_ulp is %g; allowed are 0 to %g", path,
                           k->name, k->claim->max_ulp, 0x1p60);
    if (k->alignment > ALIGNMENT_MOST || (k->alignment & (k->alignment - 1)) != 0)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "%s: kernel '%s': alignment is %u; allowed are 0 and powers of two "
                           "up to %u",
                           path, k->name, k->alignment, ALIGNMENT_MOST);
    if (k->limits)
        ATTEST_TRY(check_limits(k, path, err));
out:
    return status;
}

static attest_status check_kernel(const attest_kernel *k, uint32_t index, const attest_memory *memory, const char *path,
                                  attest_error *err)
{
    if (!k->name)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel %u has no name", path, index);
    if (!name_is_legal(k->name))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel %u: the name '%s' is not of a-z 0-9 and -", path, index,
                           k->name);
    if (strlen(k->name) > NAME_MOST)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel %u: the name '%.63s...' is longer than %d", path, index,
                           k->name, NAME_MOST);
    if (!k->supports)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s' has no supports()", path, k->name);
    if (!k->run)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s' has no run()", path, k->name);
    if (k->form < ATTEST_PARALLEL || k->form > ATTEST_CHUNK)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s': form %u is not one of 1..5", path, k->name,
                           k->form);
    if (k->device != ATTEST_CPU && k->device != ATTEST_CUDA && k->device != ATTEST_CUDA_HOST)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "%s: kernel '%s': device %u is neither 1 (CPU) nor 2 (CUDA) nor %u (cuda-host)", path,
                           k->name, k->device, ATTEST_CUDA_HOST);
    if (k->device != ATTEST_CPU && (!memory || memory->device != k->device))
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "%s: kernel '%s' runs on a device, but the library has no attest_memory for it", path,
                           k->name);
    return check_declared(k, path, err);
}

/* ---- copies ------------------------------------------------------------------------------------------------ */
/* Copies a struct that the library points to, or leaves the pointer NULL. */
static attest_status take_struct(const void **pointer, void *copy, size_t size, const char *what, const char *path,
                                 attest_error *err)
{
    uint32_t given = 0;
    if (!*pointer)
        return ATTEST_OK;
    memcpy(&given, *pointer, sizeof given);
    if (given <= sizeof given || given % sizeof(void *) != 0) /* no struct ends inside a pointer */
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: %s: struct_size is %u; %zu in this program", path, what, given,
                           size);
    attest_copy_struct(copy, size, *pointer);
    *pointer = copy;
    return ATTEST_OK;
}

#define TAKE(pointer, copy, what)                                                                                      \
    do {                                                                                                               \
        const void *taken = (pointer);                                                                                 \
        ATTEST_TRY(take_struct(&taken, &(copy), sizeof(copy), what, path, err));                                       \
        (pointer) = taken;                                                                                             \
    } while (0)

static attest_status take_kernel(attest_plugin *plugin, uint32_t index, const char *path, attest_error *err)
{
    attest_plugin_kernel *k = &plugin->kernel[index];
    attest_status status = ATTEST_OK;
    const attest_kernel *from = plugin->library.kernels[index];
    char name[32];
    snprintf(name, sizeof name, "kernel %u", index);
    if (!from)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel %u is NULL", path, index);
    k->self = from;
    TAKE(from, k->kernel, name);
    if (!ATTEST_HAS(attest_kernel, k->self, alignment))
        k->kernel.alignment = ALIGNMENT_MOST;
    TAKE(k->kernel.numerics, k->numerics, "attest_numerics");
    TAKE(k->kernel.claim, k->claim, "attest_claim");
    TAKE(k->kernel.limits, k->limits, "attest_limits");
    ATTEST_TRY(check_kernel(&k->kernel, index, plugin->library.memory, path, err));
    for (uint32_t other = 0; other < index; other++)
        if (strcmp(plugin->kernel[other].kernel.name, k->kernel.name) == 0)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernels %u and %u have the same name '%s'", path, other,
                               index, k->kernel.name);
out:
    return status;
}

static attest_status check_memory(const attest_memory *m, const char *path, attest_error *err)
{
    if (!m->alloc || !m->free || !m->to_device || !m->to_host || !m->fill || !m->sync || !m->describe)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: attest_memory lacks a function: all but copy_later() are needed",
                           path);
    return ATTEST_OK;
}

static attest_status take_library(attest_plugin *plugin, const attest_library *library, const char *path,
                                  attest_error *err)
{
    attest_library *copy = &plugin->library;
    attest_status status = ATTEST_OK;
    attest_copy_struct(copy, sizeof *copy, library);
    if (copy->kernel_count == 0 || !copy->kernels)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: the library has no kernels", path);
    if (copy->kernel_count > KERNELS_MAX)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel_count is %u, at most %u are allowed", path,
                           copy->kernel_count, KERNELS_MAX);
    TAKE(copy->memory, plugin->memory, "attest_memory");
    if (copy->memory)
        ATTEST_TRY(check_memory(copy->memory, path, err));
    plugin->kernel = calloc(copy->kernel_count, sizeof *plugin->kernel);
    if (!plugin->kernel)
        return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for %u kernels", path, copy->kernel_count);
    for (uint32_t i = 0; i < copy->kernel_count; i++)
        ATTEST_TRY(take_kernel(plugin, i, path, err));
out:
    return status;
}

attest_status attest_plugin_take(attest_plugin **plugin, const attest_library *library, const char *path,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    *plugin = NULL;
    /* The first two fields stand in every version; nothing else is read before they fit. */
    if (library->struct_size < 2 * sizeof(uint32_t) || library->struct_size % sizeof(void *) != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: attest_library: struct_size is %u; %zu in this program", path,
                           library->struct_size, sizeof *library);
    if (library->abi_version != ATTEST_ABI_VERSION)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: made for version %u of attest.h, this program has version %u",
                           path, library->abi_version, ATTEST_ABI_VERSION);
    attest_plugin *made = calloc(1, sizeof *made);
    if (!made)
        return attest_fail(err, ATTEST_NO_MEMORY, "%s: out of memory", path);
    made->opened = ATTEST_UNSUPPORTED; /* not asked */
    ATTEST_TRY(take_library(made, library, path, err));
    *plugin = made;
    made = NULL;
out:
    attest_plugin_free(made);
    return status;
}

void attest_plugin_free(attest_plugin *plugin)
{
    if (!plugin)
        return;
    if (plugin->opened == ATTEST_OK && plugin->library.close)
        plugin->library.close(plugin->context);
    free(plugin->kernel);
    free(plugin);
}

/* ---- files ------------------------------------------------------------------------------------------------- */
/* dlopen, but a bare name is a file here, not something to search the system for. */
static void *open_file(const char *path, attest_error *err)
{
    char local[4096];
    int fd;
    if (attest_input_open(&fd, NULL, path, err) != ATTEST_OK)
        return NULL;
    close(fd);
    const int length = snprintf(local, sizeof local, "%s%s", strchr(path, '/') ? "" : "./", path);
    if (length < 0 || (size_t)length >= sizeof local) {
        attest_fail(err, ATTEST_BAD_INPUT, "%s: the path is longer than %zu bytes", path, sizeof local - 1);
        return NULL;
    }
    void *handle = dlopen(local, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        attest_fail(err, ATTEST_BAD_INPUT, "%s: not a library that can be loaded: %s", path, dlerror());
    return handle;
}

/* The library that the opened file describes. */
static attest_status ask_library(const attest_library **library, void *opened, const char *path,
                                 const attest_host *host, attest_error *err)
{
    attest_library_function function;
    void *symbol = dlsym(opened, "attest_library_v2");
    if (!symbol && dlsym(opened, "attest_library_v1"))
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "%s: made for version 1 of attest.h, this program has version %u: adapt it (CHANGELOG) and "
                           "compile it again",
                           path, ATTEST_ABI_VERSION);
    if (!symbol)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: exports no attest_library_v2(): not a kernel library", path);
    memcpy(&function, &symbol, sizeof function); /* POSIX's way round: ISO C has no such cast */
    *library = function(host);
    if (!*library)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: attest_library_v2() returned NULL: it does not serve this host",
                           path);
    return ATTEST_OK;
}

static attest_status call_open(attest_plugin *plugin, const char *path, const attest_host *host, attest_error *err)
{
    char why[256] = "";
    plugin->opened = plugin->library.open ? plugin->library.open(host, &plugin->context, why, sizeof why) : ATTEST_OK;
    why[sizeof why - 1] = '\0';
    if (plugin->opened == ATTEST_OK || plugin->opened == ATTEST_NO_DEVICE)
        return ATTEST_OK;
    return attest_fail(err, ATTEST_BAD_INPUT, "%s: its open() failed with status %d%s%s", path, (int)plugin->opened,
                       why[0] ? ": " : "", why);
}

attest_status attest_plugin_open(attest_plugin **plugin, const char *path, const attest_host *host, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_plugin *made = NULL;
    const attest_library *library;
    void *opened = open_file(path, err);
    *plugin = NULL;
    if (!opened)
        return ATTEST_BAD_INPUT;
    ATTEST_TRY(ask_library(&library, opened, path, host, err));
    ATTEST_TRY(attest_plugin_take(&made, library, path, err));
    ATTEST_TRY(call_open(made, path, host, err));
    *plugin = made;
    made = NULL;
out:
    attest_plugin_free(made);
    return status;
}
