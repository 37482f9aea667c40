/* values.c - the different values of one field of many results, as words. */
#include <stdio.h>
#include <string.h>

#include "reports/charts/charts.h"

#define MOST 4 /* are named */

typedef struct values {
    size_t offset, count; /* of the field; values met, at most MOST + 1 */
    char value[MOST][512];
} values;

static attest_status take(void *state, const attest_result *result, attest_error *err)
{
    values *v = state;
    const char *text = (const char *)result + v->offset;
    (void)err;
    for (size_t i = 0; i < v->count && i < MOST; i++)
        if (strcmp(v->value[i], text) == 0)
            return ATTEST_OK;
    if (v->count < MOST && *text)
        snprintf(v->value[v->count], sizeof v->value[0], "%s", text);
    v->count += *text && v->count <= MOST;
    return ATTEST_OK;
}

attest_status attest_chart_values(char *text, size_t len, const attest_results *results, size_t offset,
                                  attest_error *err)
{
    values v = { .offset = offset };
    const attest_status status = attest_results_pass(results, &(attest_accumulator){ take, &v }, 1, err);
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < v.count && used < len; i++)
        used += (size_t)snprintf(text + used, len - used, "%s%s",
                                 i == 0            ? ""
                                 : i + 1 < v.count ? ", "
                                                   : " and ",
                                 i < MOST ? v.value[i] : "others");
    return status;
}
