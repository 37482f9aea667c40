/* fuzz.c - see fuzz.h. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/text.h"

void fuzz_fail(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
    abort();
}

int fuzz_refused(attest_status status, const attest_error *err)
{
    FUZZ_CHECK(status == ATTEST_BAD_INPUT || status == ATTEST_UNSUPPORTED || status == ATTEST_NO_MEMORY);
    FUZZ_CHECK(err->text[0] != '\0' && memchr(err->text, '\0', sizeof err->text) && !strchr(err->text, '\n'));
    return 0;
}

int fuzz_is_clean(const char *text)
{
    static char again[8192];
    return attest_text_clean(again, sizeof again, text);
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    FUZZ_CHECK(text);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static int descriptor = -1;
    static char path[64];
    if (descriptor < 0) {
        descriptor = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    }
    FUZZ_CHECK(descriptor >= 0 && ftruncate(descriptor, 0) == 0);
    FUZZ_CHECK(pwrite(descriptor, data, size, 0) == (ssize_t)size);
    return path;
}

unsigned fuzz_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}
