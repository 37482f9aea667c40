/* status.c - formatting of error lines. */
#include "kernels/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The arguments may point into err->text, so the new line is built beside it. */
static void store(attest_error *err, const char *line)
{
    size_t i = 0;
    for (; line[i] && i + 1 < sizeof err->text; i++)
        err->text[i] = line[i] == '\n' || line[i] == '\r' ? ' ' : line[i];
    err->text[i] = '\0';
}

attest_status attest_fail(attest_error *err, attest_status status, const char *format, ...)
{
    char line[ATTEST_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(line, sizeof line, format, arguments) < 0)
        line[0] = '\0';
    va_end(arguments);
    store(err, line);
    return status;
}

attest_status attest_fail_prefix(attest_error *err, attest_status status, const char *prefix)
{
    return attest_fail(err, status, "%s: %s", prefix, err->text);
}
