/* json_file.c - see json_file.h. */
#include "reports/files/json_file.h"

#include "kernels/input.h"
#include "reports/files/memory.h"

attest_status attest_json_read(json_t **value, const char *path, attest_error *err)
{
    json_error_t problem;
    FILE *in;
    *value = NULL;
    const attest_status status = attest_input_stream(&in, NULL, path, err);
    if (status != ATTEST_OK)
        return status;
    *value = json_loadf(in, JSON_REJECT_DUPLICATES, &problem);
    fclose(in);
    if (!attest_starved())
        return *value ? ATTEST_OK : attest_fail(err, ATTEST_BAD_INPUT, "%s:%d: %s", path, problem.line, problem.text);
    json_decref(*value);
    *value = NULL;
    return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory to read it", path);
}
