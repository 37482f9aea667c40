/* output.c - see output.h. */
#include "reports/output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

attest_status attest_output_open(attest_output *out, const char *path, attest_error *err)
{
    out->file = NULL;
    if ((size_t)snprintf(out->path, sizeof out->path, "%s", path) >= sizeof out->path)
        return attest_fail(err, ATTEST_BAD_INPUT, "%.100s...: the path is too long", path);
    snprintf(out->temporary, sizeof out->temporary, "%s.tmp", path);
    out->file = fopen(out->temporary, "w");
    if (!out->file)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: cannot write: %s", path, strerror(errno));
    return ATTEST_OK;
}

attest_status attest_output_close(attest_output *out, attest_status status, attest_error *err)
{
    if (!out->file)
        return status;
    const int bad = ferror(out->file) || fflush(out->file) != 0;
    const int closed = fclose(out->file);
    out->file = NULL;
    if (status == ATTEST_OK && (bad || closed != 0))
        status = attest_fail(err, ATTEST_IO, "%s: write failed: %s", out->path, strerror(errno));
    if (status == ATTEST_OK && rename(out->temporary, out->path) != 0)
        status = attest_fail(err, ATTEST_IO, "%s: cannot rename into place: %s", out->path, strerror(errno));
    if (status != ATTEST_OK)
        unlink(out->temporary);
    return status;
}
