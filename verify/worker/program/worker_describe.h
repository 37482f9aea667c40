/* worker_describe.h - inside attest-worker: what it tells of a kernel and of the machine. */
#ifndef ATTEST_WORKER_DESCRIBE_H
#define ATTEST_WORKER_DESCRIBE_H

#include "kernels/library/library.h"
#include "verify/worker/worker.h"

/* `cpu NAME` of /proc/cpuinfo; `cpu` elsewhere. */
void attest_describe_cpu(char *text, size_t len);

/* Kernel `index` of a library, out of its descriptor; `cpu` and `device`: what it runs on. */
void attest_describe_kernel(attest_kernel_facts *f, const attest_plugin *plugin, uint32_t index, const char *cpu,
                            const char *device);

#endif
