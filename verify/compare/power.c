/* power.c - see power.h. */
#include "verify/compare/power.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

attest_status power_init(power_tally *t, const attest_problem *p, int64_t rows, unsigned char *keys, attest_error *err)
{
    const size_t e = (size_t)p->e;
    *t = (power_tally){ .e = p->e, .m = p->m, .hkv = p->hkv, .kv_group = p->hq / p->hkv };
    t->key_count = p->b * p->hkv * p->m;
    t->distance = calloc(ATTEST_WRONG_COUNT * e, sizeof *t->distance);
    t->bound = calloc(e, sizeof *t->bound);
    t->own_keys = keys ? NULL : calloc((size_t)t->key_count + 1, 1);
    t->keys = keys ? keys : t->own_keys;
    t->relative = calloc((size_t)rows * e + 1, sizeof *t->relative);
    if (!t->distance || !t->bound || !t->keys || !t->relative)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the power of a case of %lld keys",
                           (long long)t->key_count);
    return ATTEST_OK;
}

void power_clear(power_tally *t)
{
    free(t->distance);
    free(t->bound);
    free(t->own_keys);
    free(t->relative);
}

/* The bound tells the element from each wrong answer that there is. */
static int tells(const power_tally *t, int64_t c)
{
    int answers = 0;
    for (int64_t k = 0; k < ATTEST_WRONG_COUNT; k++) {
        const double distance = t->distance[k * t->e + c];
        if (isnan(distance))
            continue;
        answers++;
        if (!(t->bound[c] < distance))
            return 0;
    }
    return answers > 0;
}

attest_status power_add(power_tally *t, attest_truth *truth, const attest_element *elements, int64_t b, int64_t h,
                        int64_t i, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int64_t head = (b * t->hkv + h / t->kv_group) * t->m;
    int sized = 0, sees = 0;
    for (int64_t c = 0; c < t->e; c++)
        t->bound[c] = attest_element_bound(&elements[c]);
    ATTEST_TRY(attest_judge_wrong(t->distance, t->keys + head, truth, t->bound, (attest_row){ b, h, i }, err));
    for (int64_t c = 0; c < t->e; c++) {
        const double size = attest_element_size(&elements[c]);
        if (isinf(t->bound[c]))
            continue;
        t->elements++;
        t->telling += tells(t, c);
        sized = sized || size > 0;
        sees = sees || t->bound[c] < size / 2;
        if (size > 0)
            t->relative[t->relative_count++] = t->bound[c] / size;
    }
    t->rows++;
    t->rows_blind += sized && !sees;
out:
    return status;
}

void power_finish(attest_result *result, power_tally *t)
{
    int64_t visible = 0, seen = 0;
    for (int64_t j = 0; j < t->key_count; j++) {
        visible += t->keys[j] != 0;
        seen += t->keys[j] == ATTEST_KEY_SEEN;
    }
    result->rows_blind = t->rows_blind;
    result->telling = t->elements ? (double)t->telling / (double)t->elements : NAN;
    result->keys_seen = visible ? (double)seen / (double)visible : NAN;
    if (t->relative_count == 0)
        return;
    gsl_sort(t->relative, 1, (size_t)t->relative_count);
    result->noticed = t->relative[0];
    result->noticed_median = t->relative[(t->relative_count - 1) / 2];
}
