/* json_file.h - a JSON file, read whole. */
#ifndef ATTEST_JSON_FILE_H
#define ATTEST_JSON_FILE_H

#include <jansson.h>

#include "kernels/status.h"

/* *value is the caller's; NULL on failure.  ATTEST_BAD_INPUT: no regular file, no JSON, a key given twice;
 * ATTEST_NO_MEMORY. */
attest_status attest_json_read(json_t **value, const char *path, attest_error *err);

#endif
