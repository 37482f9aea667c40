/* hash.c - FNV-1a over files, without memory of its own: a result never lacks its hash because there was none. */
#include <stdio.h>
#include <unistd.h>

#include "kernels/hash.h"
#include "kernels/input.h"
#include "verify/base/base.h"

void attest_file_hash(char text[20], const char *path)
{
    unsigned char buffer[65536];
    uint64_t hash = ATTEST_FNV_START;
    ssize_t got;
    text[0] = '\0';
    attest_error none;
    int in;
    if (attest_input_open(&in, NULL, path, &none) != ATTEST_OK)
        return;
    while ((got = read(in, buffer, sizeof buffer)) > 0)
        hash = attest_fnv(hash, buffer, (size_t)got);
    if (got == 0)
        snprintf(text, 20, "%016llx", (unsigned long long)hash);
    close(in);
}
