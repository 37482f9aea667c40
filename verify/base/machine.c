/* machine.c - which CPU this is. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verify/base/base.h"

void attest_machine_name(char *text, size_t len)
{
    char about[512], name[256] = "", *rest; /* of the first processor: its name and numbers are the first lines */
    int family = -1, model = -1, stepping = -1;
    const int in = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC); /* a FILE would need memory */
    const ssize_t size = in >= 0 ? read(in, about, sizeof about - 1) : 0;
    about[size > 0 ? size : 0] = '\0';
    for (char *line = strtok_r(about, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *value = strchr(line, ':');
        if (value && strncmp(line, "model name", 10) == 0)
            snprintf(name, sizeof name, "%s", value + 1 + strspn(value + 1, " "));
        sscanf(line, "cpu family : %d", &family);
        sscanf(line, "model : %d", &model);
        sscanf(line, "stepping : %d", &stepping);
    }
    if (in >= 0)
        close(in);
    snprintf(text, len, "%s (family %d model %d stepping %d), %ld CPUs", *name ? name : "unknown CPU", family, model,
             stepping, sysconf(_SC_NPROCESSORS_ONLN));
}
