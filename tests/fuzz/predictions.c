/* predictions.c - predictions.jsonl: what a kernel's bits are to be. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/exchange/predict.h"

/* What is told of a case of kernel `k` without inputs. */
static void look(const attest_predictions *predictions)
{
    static const char line[] = "variant=softmax n=4 d=2";
    attest_kernel_facts kernel = { .name = "k", .version = "1" };
    attest_prepared prepared = { .index = 0 };
    attest_bundle *outputs;
    attest_result result;
    attest_error err;
    attest_result_init(&result);
    snprintf(prepared.line, sizeof prepared.line, "%s", line);
    FUZZ_CHECK(attest_case_parse(&prepared.c, line, NULL, NULL, &err) == ATTEST_OK);
    FUZZ_CHECK(attest_bundle_new(&prepared.inputs, &err) == ATTEST_OK &&
               attest_bundle_new(&outputs, &err) == ATTEST_OK);
    FUZZ_CHECK(attest_predictions_look(predictions, &result, &kernel, &prepared, outputs, &err) == ATTEST_OK);
    FUZZ_CHECK(result.predicted[0] && fuzz_is_clean(result.predicted));
    attest_bundle_free(prepared.inputs);
    attest_bundle_free(outputs);
}

/* The folder whose predictions.jsonl is fuzz_file(): made once, as the file has one path for all inputs. */
static char dir[64], path[96];

static void remove_folder(void)
{
    unlink(path);
    rmdir(dir);
}

static void make_folder(const char *file)
{
    snprintf(dir, sizeof dir, "/tmp/fuzz-XXXXXX");
    FUZZ_CHECK(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/predictions.jsonl", dir);
    FUZZ_CHECK(symlink(file, path) == 0 && atexit(remove_folder) == 0);
}

static int take(const uint8_t *data, size_t size)
{
    attest_predictions *predictions;
    attest_error err;
    const char *file = fuzz_file(data, size);
    if (!dir[0])
        make_folder(file);
    const attest_status status = attest_predictions_read(&predictions, dir, &err);
    if (status != ATTEST_OK)
        return fuzz_refused(status, &err);
    look(predictions);
    attest_predictions_free(predictions);
    return 1;
}

extern const fuzz_reader fuzz_predictions;
const fuzz_reader fuzz_predictions = { "predictions", take, NULL };
