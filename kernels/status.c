/* status.c - formatting of error lines. */
#include "kernels/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/text.h"

/* The arguments may point into err->text, so the new line is built beside it. */
static void store(attest_error *err, char *line)
{
    for (char *at = line; *at; at++)
        *at = *at == '\n' || *at == '\r' ? ' ' : *at;
    attest_text_clean(err->text, sizeof err->text, line);
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

attest_status attest_of_errno(attest_status status) { return errno == ENOMEM ? ATTEST_NO_MEMORY : status; }
