/* problem.c - problem lines, their families, and what is asked of a problem before its tensors are made. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "props/draw/draw.h"

/* What every command asks of a problem: nothing of it may depend on luck. */
static void ask(const attest_case *c)
{
    const attest_problem *p = &c->problem;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    attest_tensor t;
    attest_error err;
    uint64_t bytes;
    int64_t first, last;
    const int64_t rows[] = { 0, p->n / 2, p->n - 1 };
    size_t count = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    FUZZ_CHECK(count >= 3 && count <= ATTEST_MAX_TENSORS);
    count += attest_problem_outputs(p, ids + count, ATTEST_MAX_TENSORS - count);
    FUZZ_CHECK(count <= ATTEST_MAX_TENSORS);
    const int small = attest_problem_memory(p, &bytes, &err) == ATTEST_OK && bytes < 1 << 16;
    for (size_t i = 0; small && i < count; i++) {
        attest_tensor_describe(&t, p, ids[i], 0);
        FUZZ_CHECK(t.rank >= 1 && attest_tensor_count(&t) >= 1);
    }
    for (size_t i = 0; i < 3; i++) {
        attest_visible(p, (attest_lengths){ p->m, p->n }, rows[i], &first, &last);
        FUZZ_CHECK(first >= last || (first >= 0 && last <= p->m));
    }
}

/* Small problems whose family needs no file. */
static void draw(const attest_case *c)
{
    attest_error err;
    attest_bundle *bundle;
    uint64_t bytes;
    const attest_family_info *family = attest_family_of(c);
    if (!family || (size_t)(family - attest_families) >= attest_family_drawn ||
        attest_variant_degrees(c->problem.axis, &(int){ 0 }, &(int){ 0 }) ||
        attest_problem_memory(&c->problem, &bytes, &err) != ATTEST_OK || bytes > 2048)
        return;
    FUZZ_CHECK(attest_bundle_new(&bundle, &err) == ATTEST_OK);
    const attest_status status = attest_draw_missing(bundle, c, 0, 0, &err);
    if (status != ATTEST_OK)
        fuzz_refused(status, &err);
    attest_bundle_free(bundle);
}

static int take(const uint8_t *data, size_t size)
{
    char line[ATTEST_LINE], again[ATTEST_LINE];
    attest_case c, d;
    attest_stated stated;
    attest_error err;
    attest_sizes sizes = { 0 };
    char *text = fuzz_text(data, size);
    const attest_status status = attest_case_parse(&c, text, size > 0 && data[0] % 2 ? &sizes : NULL, &stated, &err);
    free(text);
    if (status != ATTEST_OK)
        return fuzz_refused(status, &err);
    const attest_status printed = attest_case_print(line, sizeof line, &c, &err);
    if (printed != ATTEST_OK) { /* longer than a line may be */
        FUZZ_CHECK(printed == ATTEST_INTERNAL);
        return 1;
    }
    FUZZ_CHECK(attest_case_parse(&d, line, NULL, NULL, &err) == ATTEST_OK);
    FUZZ_CHECK(attest_case_print(again, sizeof again, &d, &err) == ATTEST_OK && strcmp(line, again) == 0);
    FUZZ_CHECK(attest_case_hash(&c) == attest_case_hash(&d));
    ask(&c);
    const attest_status family = attest_family_check(&c, &err);
    if (family != ATTEST_OK)
        return fuzz_refused(family, &err);
    draw(&c);
    return 1;
}

extern const fuzz_reader fuzz_problem;
const fuzz_reader fuzz_problem = { "problem", take, NULL };
