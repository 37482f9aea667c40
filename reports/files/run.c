/* run.c - see run.h. */
#include "reports/files/run.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "kernels/text.h"
#include "reports/files/json_file.h"
#include "reports/files/memory.h"
#include "reports/files/output.h"

/* One key of the file: a text of `size` bytes, or (0) a whole number. */
static const struct {
    const char *key;
    size_t offset, size;
} keys[] = {
#define TEXT(field)                                                                                                    \
    {                                                                                                                  \
#field, offsetof(attest_run_info, field), sizeof((attest_run_info *)0)->field                                  \
    }
#define NUMBER(field)                                                                                                  \
    {                                                                                                                  \
#field, offsetof(attest_run_info, field), 0                                                                    \
    }
    TEXT(tool),      TEXT(run),        TEXT(suite),      TEXT(suite_hash), TEXT(cases_hash), TEXT(kernels_hash),
    TEXT(options),   TEXT(device),     TEXT(flags),      TEXT(shard),      TEXT(baseline),   TEXT(ended),
    TEXT(fail_on),   TEXT(would_pass), NUMBER(cases),    NUMBER(done),     NUMBER(planned),  NUMBER(results),
    NUMBER(refused), NUMBER(complete), NUMBER(finished), NUMBER(lines)
};
#define KEYS (sizeof keys / sizeof keys[0])

static json_t *to_json(const attest_run_info *info)
{
    json_t *object = json_object();
    for (size_t k = 0; k < KEYS; k++) {
        const char *at = (const char *)info + keys[k].offset;
        int64_t n = 0;
        if (!keys[k].size)
            memcpy(&n, at, sizeof n);
        json_object_set_new(object, keys[k].key, keys[k].size ? json_string(at) : json_integer(n));
    }
    return object;
}

attest_status attest_run_info_write(const attest_run_info *info, const char *path, attest_error *err)
{
    attest_output out;
    attest_status status = attest_output_open(&out, path, err);
    if (status != ATTEST_OK)
        return status;
    json_t *object = to_json(info);
    if (!object || json_object_size(object) != KEYS)
        status = attest_fail(err, ATTEST_NO_MEMORY, "no memory for %s", path);
    else if (json_dumpf(object, out.file, JSON_INDENT(1) | JSON_PRESERVE_ORDER) != 0 || fputc('\n', out.file) == EOF)
        status = attest_print_failed(err, path);
    json_decref(object);
    return attest_output_close(&out, status, err);
}

/* Keys that came later: a file without them is of a run that had none. */
static int is_later(const char *key)
{
    return strcmp(key, "shard") == 0 || strcmp(key, "baseline") == 0 || strcmp(key, "lines") == 0 ||
           strcmp(key, "fail_on") == 0 || strcmp(key, "would_pass") == 0;
}

attest_status attest_run_info_read(attest_run_info *info, const char *path, attest_error *err)
{
    json_t *object;
    attest_status status = attest_json_read(&object, path, err);
    *info = (attest_run_info){ .cases = 0 };
    for (size_t k = 0; k < KEYS && status == ATTEST_OK; k++) {
        const json_t *value = json_object_get(object, keys[k].key);
        char *at = (char *)info + keys[k].offset;
        const int64_t n = json_integer_value(value);
        const char *text = json_string_value(value);
        if (!value && is_later(keys[k].key))
            continue;
        if (keys[k].size && text && strlen(text) < keys[k].size)
            attest_text_clean(at, keys[k].size, text);
        else if (!keys[k].size && json_is_integer(value))
            memcpy(at, &n, sizeof n);
        else
            status = attest_fail(err, ATTEST_BAD_INPUT, "%s: key '%s' is missing or of another type", path,
                                 keys[k].key);
    }
    if (status == ATTEST_OK && (info->complete >> 1 || info->finished >> 1))
        status = attest_fail(err, ATTEST_BAD_INPUT, "%s: 'complete' and 'finished' are 0 or 1", path);
    if (status == ATTEST_OK && info->complete && info->results + info->refused != info->planned)
        status = attest_fail(err, ATTEST_BAD_INPUT,
                             "%s: complete, and 'results' and 'refused' are not together what was 'planned'", path);
    json_decref(object);
    return status;
}

attest_status attest_run_info_whole(const attest_run_info *info, size_t results, const char *dir, attest_error *err)
{
    return !info->finished || info->lines == 0 || (int64_t)results == info->lines
               ? ATTEST_OK
               : attest_fail(err, ATTEST_BAD_INPUT, "%s: results.jsonl has %zu of the %lld results that its run wrote",
                             dir, results, (long long)info->lines);
}

void attest_run_info_banner(char *text, size_t len, const attest_run_info *info, size_t seen)
{
    const long long done = info->done > 0 || *info->ended ? (long long)info->done : (long long)seen;
    const char *why = *info->ended ? info->ended : info->done < info->cases ? "killed" : "its files were not written";
    text[0] = '\0';
    if (info->running)
        snprintf(text, len, "unfinished: results of %zu of %lld %s (it still ran when this was written)", seen,
                 (long long)info->cases, info->cases == 1 ? "case" : "cases");
    else if (!info->finished && *info->ended && info->done == info->cases)
        snprintf(text, len, "unfinished: all %lld %s, but not all that follows (%s)", done,
                 info->cases == 1 ? "case" : "cases", why);
    else if (!info->finished)
        snprintf(text, len, "unfinished: %lld of %lld %s (%s)", done, (long long)info->cases,
                 info->cases == 1 ? "case" : "cases", why);
}
