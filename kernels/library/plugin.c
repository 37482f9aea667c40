/* plugin.c - dlopen, the one symbol, and every check before a foreign library is trusted to be one. */
#include "kernels/library/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define KERNELS_MAX 4096u
#define ERROR_MAX 0x1p-7 /* of a declared relative error: an ulp of bf16; above it a kernel would excuse itself */

static int name_is_legal(const char *name)
{
    return name[0] != '\0' && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

/* Declared numbers that no arithmetic has: they would be taken for something else. */
static attest_status check_numerics(const attest_kernel *k, const char *path, attest_error *err)
{
    const attest_numerics *n = k->numerics;
    const struct {
        const char *name;
        uint32_t value, most;
    } enums[] = {
        { "schedule", n->schedule, ATTEST_SCHEDULE_CHUNK }, { "log2_domain", n->log2_domain, ATTEST_NO },
        { "cast_in_sum", n->cast_in_sum, ATTEST_NO },       { "p_rounding", n->p_rounding, ATTEST_ROUNDING_TRUNCATE },
        { "acc_truncates", n->acc_truncates, ATTEST_NO },   { "scale_dtype", n->scale_dtype, 1 + ATTEST_BF16 },
        { "state_dtype", n->state_dtype, 1 + ATTEST_BF16 }
    };
    const struct {
        const char *name;
        double value, most;
    } numbers[] = { { "tile", (double)n->tile, 0x1p60 },
                    { "splits", (double)n->splits, 0x1p60 },
                    { "exp_error", n->exp_error, ERROR_MAX },
                    { "acc_unit", n->acc_unit, ERROR_MAX },
                    { "block", (double)n->block, 0x1p60 },
                    { "div_error", n->div_error, ERROR_MAX },
                    { "claim.max_ulp", k->claim ? k->claim->max_ulp : 0, 0x1p60 } };
    for (size_t i = 0; i < sizeof enums / sizeof enums[0]; i++)
        if (enums[i].value > enums[i].most)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s': numerics.%s is %u; allowed are 0 to %u", path,
                               k->name, enums[i].name, enums[i].value, enums[i].most);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!(numbers[i].value >= 0 && numbers[i].value <= numbers[i].most))
            return attest_fail(err, ATTEST_BAD_INPUT,
                               "%s: kernel '%s': numerics.%s is %g; allowed are 0 to %g", path, k->name,
                               numbers[i].name, numbers[i].value, numbers[i].most);
    return ATTEST_OK;
}

static attest_status check_kernel(const attest_kernel *k, uint32_t index, const attest_memory *memory, const char *path,
                                  attest_error *err)
{
    if (!k)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel %u is NULL", path, index);
    if (k->struct_size < sizeof *k)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel %u: struct_size is %u, version %u of attest.h has %zu",
                           path, index, k->struct_size, ATTEST_ABI_VERSION, sizeof *k);
    if (!k->name)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel %u has no name", path, index);
    if (!name_is_legal(k->name))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel %u: the name '%s' is not of a-z 0-9 and -", path, index,
                           k->name);
    if (!k->supports)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s' has no supports()", path, k->name);
    if (!k->run)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s' has no run()", path, k->name);
    if (!k->numerics || k->numerics->struct_size < sizeof *k->numerics)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "%s: kernel '%s' has no attest_numerics of at least %zu bytes (zeros mean unknown)", path,
                           k->name, sizeof *k->numerics);
    if (k->claim && k->claim->struct_size < sizeof *k->claim)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s': its attest_claim has struct_size %u, not %zu", path,
                           k->name, k->claim->struct_size, sizeof *k->claim);
    if (k->form < ATTEST_PARALLEL || k->form > ATTEST_CHUNK)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s': form %u is not one of 1..5", path, k->name,
                           k->form);
    if (k->device != ATTEST_CPU && k->device != ATTEST_CUDA)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s': device %u is neither 1 (CPU) nor 2 (CUDA)", path,
                           k->name, k->device);
    if (k->device != ATTEST_CPU && (!memory || memory->device != k->device))
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "%s: kernel '%s' runs on a device, but the library has no attest_memory for it", path,
                           k->name);
    if (!(k->outputs & ATTEST_GIVES_O) || k->outputs >> 6)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "%s: kernel '%s': outputs is 0x%x; bits 0..5, with ATTEST_GIVES_O", path, k->name,
                           k->outputs);
    if (k->flags >> 9)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel '%s': flags is 0x%x; bits 0..8 are known", path, k->name,
                           k->flags);
    return check_numerics(k, path, err);
}

static attest_status check_memory(const attest_memory *m, const char *path, attest_error *err)
{
    if (m->struct_size < sizeof *m)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: attest_memory: struct_size is %u, not %zu", path, m->struct_size,
                           sizeof *m);
    if (!m->alloc || !m->free || !m->to_device || !m->to_host || !m->fill || !m->sync || !m->describe)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: attest_memory lacks a function: all seven are needed", path);
    return ATTEST_OK;
}

attest_status attest_library_check(const attest_library *lib, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    /* The first two fields stand in every version; nothing else is read before they fit. */
    if (lib->struct_size < 2 * sizeof(uint32_t))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: attest_library: struct_size is %u, not %zu", path,
                           lib->struct_size, sizeof *lib);
    if (lib->abi_version != ATTEST_ABI_VERSION)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: made for version %u of attest.h, this program has version %u",
                           path, lib->abi_version, ATTEST_ABI_VERSION);
    if (lib->struct_size < sizeof *lib)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: attest_library: struct_size is %u, not %zu", path,
                           lib->struct_size, sizeof *lib);
    if (lib->kernel_count == 0 || !lib->kernels)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: the library has no kernels", path);
    if (lib->kernel_count > KERNELS_MAX)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernel_count is %u, at most %u are allowed", path,
                           lib->kernel_count, KERNELS_MAX);
    if (lib->memory)
        ATTEST_TRY(check_memory(lib->memory, path, err));
    for (uint32_t i = 0; i < lib->kernel_count; i++) {
        ATTEST_TRY(check_kernel(lib->kernels[i], i, lib->memory, path, err));
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(lib->kernels[i]->name, lib->kernels[j]->name) == 0)
                return attest_fail(err, ATTEST_BAD_INPUT, "%s: kernels %u and %u have the same name '%s'", path, j, i,
                                   lib->kernels[i]->name);
    }
out:
    return status;
}

/* dlopen, but a bare name is a file here, not something to search the system for. */
static void *open_file(const char *path, attest_error *err)
{
    char local[4096];
    struct stat info;
    if (stat(path, &info) != 0) {
        attest_fail(err, ATTEST_BAD_INPUT, "%s: %s", path, strerror(errno));
        return NULL;
    }
    if (!S_ISREG(info.st_mode)) {
        attest_fail(err, ATTEST_BAD_INPUT, "%s: %s, not a shared library", path,
                    S_ISDIR(info.st_mode) ? "a directory" : "not a regular file");
        return NULL;
    }
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

attest_status attest_plugin_open(const attest_library **lib, void **handle, const char *path, const attest_host *host,
                                 attest_error *err)
{
    *lib = NULL;
    *handle = NULL;
    void *opened = open_file(path, err);
    if (!opened)
        return ATTEST_BAD_INPUT;
    void *symbol = dlsym(opened, "attest_library_v1");
    if (!symbol)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: exports no attest_library_v1(): not a kernel library", path);
    attest_library_function function;
    memcpy(&function, &symbol, sizeof function); /* POSIX's way round: ISO C has no such cast */
    const attest_library *found = function(host);
    if (!found)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: attest_library_v1() returned NULL: it does not serve this host",
                           path);
    const attest_status status = attest_library_check(found, path, err);
    if (status != ATTEST_OK)
        return status;
    *lib = found;
    *handle = opened;
    return ATTEST_OK;
}
