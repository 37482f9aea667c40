/* hash.c - FNV-1a over files, without memory of its own: a result never lacks its hash because there was none. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/hash.h"
#include "kernels/input.h"
#include "verify/base/base.h"

/* 1: the bytes of the file went into the hash. */
static int add_file(uint64_t *hash, const char *path)
{
    unsigned char buffer[65536];
    ssize_t got;
    attest_error none;
    int in;
    if (attest_input_open(&in, NULL, path, &none) != ATTEST_OK)
        return 0;
    while ((got = read(in, buffer, sizeof buffer)) > 0)
        *hash = attest_fnv(*hash, buffer, (size_t)got);
    close(in);
    return got == 0;
}

void attest_file_hash(char text[20], const char *path)
{
    uint64_t hash = ATTEST_FNV_START;
    text[0] = '\0';
    if (add_file(&hash, path))
        snprintf(text, 20, "%016llx", (unsigned long long)hash);
}

void attest_command_hash(char text[20], const char *command)
{
    static const char between[] = " \t\n'\";|&<>()`$=";
    uint64_t hash = ATTEST_FNV_START;
    char word[4096];
    int written = 0, files = 0; /* written: what follows a `>` */
    text[0] = '\0';
    while (*command) {
        const size_t gap = strspn(command, between), length = strcspn(command + gap, between);
        for (size_t i = 0; i < gap; i++)
            written = command[i] == '>' || (written && strchr(" \t'\"", command[i]));
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : 0), command + gap);
        if (*word && !written)
            files += add_file(&hash, word);
        written = 0;
        command += gap + length;
    }
    if (files)
        snprintf(text, 20, "%016llx", (unsigned long long)hash);
}

void attest_file_see(attest_file_seen *seen, const char *path)
{
    *seen = (attest_file_seen){ 0 };
    if (stat(path, &seen->stat) != 0)
        seen->stat.st_ino = 0;
}

int attest_file_is(const attest_file_seen *seen, const char *path)
{
    const struct stat *then = &seen->stat;
    struct stat now;
    char hash[20];
    if (!then->st_ino || (stat(path, &now) == 0 && now.st_ino == then->st_ino && now.st_dev == then->st_dev &&
                          now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
                          now.st_mtim.tv_nsec == then->st_mtim.tv_nsec))
        return 1;
    attest_file_hash(hash, path);
    return *hash && strcmp(hash, seen->hash) == 0;
}
