/* hash.c - FNV-1a over bytes and over files. */
#include <stdio.h>

#include "verify/base/base.h"

uint64_t attest_fnv(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * 0x100000001b3ull;
    return hash;
}

void attest_file_hash(char text[20], const char *path)
{
    unsigned char buffer[65536];
    uint64_t hash = ATTEST_FNV_START;
    size_t got;
    text[0] = '\0';
    FILE *in = fopen(path, "rb");
    if (!in)
        return;
    while ((got = fread(buffer, 1, sizeof buffer, in)) > 0)
        hash = attest_fnv(hash, buffer, got);
    if (!ferror(in))
        snprintf(text, 20, "%016llx", (unsigned long long)hash);
    fclose(in);
}
