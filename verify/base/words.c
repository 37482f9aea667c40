/* words.c - words of a shell command and of a kernel's name. */
#include <stdio.h>
#include <string.h>

#include "verify/base/base.h"

void attest_shell_quote(char *text, size_t len, const char *word)
{
    size_t at = 0;
    const int plain = *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                            "_-+=./:,@%") == strlen(word);
    if (!plain && at + 1 < len)
        text[at++] = '\'';
    for (; *word && at + 6 < len; word++) {
        if (*word == '\'') {
            memcpy(text + at, "'\\''", 4);
            at += 4;
        } else {
            text[at++] = *word;
        }
    }
    if (!plain && at + 1 < len)
        text[at++] = '\'';
    if (len > 0)
        text[at < len ? at : len - 1] = '\0';
}

void attest_split_target(const char *target, char *library, size_t library_len, const char **kernel)
{
    const char *colon = strrchr(target, ':');
    const char *so = strstr(target, ".so");
    const int file = so != NULL || strchr(target, '/') != NULL;
    library[0] = '\0';
    *kernel = NULL;
    if (strncmp(target, "exec:", 5) == 0) { /* a program is one kernel */
        snprintf(library, library_len, "%s", target);
        return;
    }
    if (!file) {
        *kernel = target;
        return;
    }
    snprintf(library, library_len, "%s", target);
    if (colon && !strchr(colon, '/') && colon > so) {
        library[(size_t)(colon - target) < library_len ? (size_t)(colon - target) : library_len - 1] = '\0';
        *kernel = colon + 1;
    }
}
