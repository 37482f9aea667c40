/* worker_describe.c - see worker_describe.h. */
#include "verify/worker/program/worker_describe.h"

#include <stdio.h>
#include <string.h>

void attest_describe_cpu(char *text, size_t len)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(text, len, "cpu");
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        snprintf(text, len, "cpu %.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (f)
        fclose(f);
}

static void copy_text(char *to, size_t len, const char *from) { snprintf(to, len, "%s", from ? from : ""); }

void attest_describe_kernel(attest_kernel_facts *f, const attest_plugin *plugin, uint32_t index, const char *cpu,
                            const char *device)
{
    const attest_kernel *k = &plugin->kernel[index].kernel;
    copy_text(f->name, sizeof f->name, k->name);
    copy_text(f->version, sizeof f->version, k->version);
    copy_text(f->source, sizeof f->source, k->source);
    copy_text(f->summary, sizeof f->summary, k->summary);
    copy_text(f->variants, sizeof f->variants, k->variants);
    copy_text(f->build_flags, sizeof f->build_flags, plugin->library.build_flags);
    copy_text(f->device, sizeof f->device, k->device == ATTEST_CPU ? cpu : device);
    f->form = k->form;
    f->device_type = k->device;
    f->flags = k->flags;
    f->outputs = k->outputs;
    f->needs = k->needs;
    f->alignment = k->alignment;
    f->differs = k->numerics_of != NULL;
    f->numerics = *k->numerics;
    f->limits = k->limits ? *k->limits : (attest_limits){ 0 };
    f->has_claim = k->claim != NULL;
    f->claim_ulp = k->claim ? k->claim->max_ulp : 0;
    copy_text(f->claim_domain, sizeof f->claim_domain, k->claim ? k->claim->domain : NULL);
}
