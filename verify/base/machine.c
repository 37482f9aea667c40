/* machine.c - which CPU this is. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verify/base/base.h"

void attest_machine_name(char *text, size_t len)
{
    char line[512], name[256] = "";
    int family = -1, model = -1, stepping = -1;
    FILE *in = fopen("/proc/cpuinfo", "r");
    while (in && fgets(line, sizeof line, in) && line[0] != '\n') {
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':'))
            snprintf(name, sizeof name, "%.*s", (int)strcspn(strchr(line, ':') + 2, "\n"), strchr(line, ':') + 2);
        sscanf(line, "cpu family : %d", &family);
        sscanf(line, "model : %d", &model);
        sscanf(line, "stepping : %d", &stepping);
    }
    if (in)
        fclose(in);
    snprintf(text, len, "%s (family %d model %d stepping %d), %ld CPUs", *name ? name : "unknown CPU", family, model,
             stepping, sysconf(_SC_NPROCESSORS_ONLN));
}
