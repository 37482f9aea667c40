/* Labels: what each says of a case, floors in proportion, and which a kernel can meet. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/library/call.h"
#include "kernels/library/registry.h"
#include "tests/stream/stream.h"
#include "props/generate/generate.h"
#include "props/generate/labels.h"

Suite *suite_labels(void);

static const attest_label *find(const char *name)
{
    for (size_t k = 0; k < attest_label_count; k++)
        if (strcmp(attest_labels[k].name, name) == 0)
            return &attest_labels[k];
    ck_abort_msg("no label %s", name);
    return NULL;
}

static attest_prop_kernel a_kernel(uint32_t form, int64_t tile)
{
    return (attest_prop_kernel){ .form = form, .numerics = { .tile = tile } };
}

static int has(const char *label, const char *line, const attest_prop_kernel *kernel, const attest_case_facts *facts)
{
    attest_bundle *inputs = NULL;
    attest_error err = { "" };
    attest_case c;
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert(attest_bundle_new(&inputs, &err) == ATTEST_OK);
    ck_assert_msg(attest_draw_missing(inputs, &c, 0, 0, &err) == ATTEST_OK, "%s", err.text);
    const attest_label *l = find(label);
    const int yes = l->has(&c, kernel, inputs, facts);
    ck_assert_msg(!yes || !l->can || l->can(&c, kernel), "%s: has what it cannot have: %s", label, line);
    attest_bundle_free(inputs);
    return yes;
}

static const attest_case_facts nothing = { .rows = 1, .range = NAN, .abs_score = NAN };

#define HAS(label, line, kernel) ck_assert_msg(has(label, line, kernel, &nothing), "not %s: %s", label, line)
#define LACKS(label, line, kernel) ck_assert_msg(!has(label, line, kernel, &nothing), "%s: %s", label, line)

/* ---- of a line -------------------------------------------------------------------------------------------------- */

START_TEST(of_lines)
{
    static const struct {
        const char *label, *has, *lacks;
    } pairs[] = {
        { "order 0", "variant=taylor:0", "variant=taylor:1" },
        { "order 3", "variant=term:3", "variant=term:4" },
        { "order 8", "variant=taylor:8", "variant=taylor:9" },
        { "order 9 and more", "variant=taylor:9", "variant=taylor:8" },
        { "order 0", "variant=term:0", "variant=softmax" },
        { "mask=full", "n=3", "n=3 mask=causal" },
        { "mask=causal", "n=3 mask=causal", "n=3 mask=causal-br" },
        { "mask=causal-br", "n=3 mask=causal-br", "n=3 mask=causal" },
        { "window", "window=3", "n=3" },
        { "gates", "gates=heads", "n=3" },
        { "GQA", "hq=4 hkv=2", "hq=4" },
        { "KV heads", "hq=2", "hq=2 hkv=1" },
        { "N<M", "n=2 m=3", "n=3 m=3" },
        { "N>M", "n=4 m=3", "n=3 m=3" },
        { "N=1", "n=1 m=3", "n=3 m=1" },
        { "M=1", "n=3 m=1", "n=1 m=3" },
        { "d=1", "d=1 e=2", "d=2 e=1" },
        { "d>8", "d=9", "d=8 e=9" },
        { "e!=d", "d=2 e=3", "d=3" },
        { "scale=2^x", "scale=0.25", "scale=0.75" },
        { "scale<0", "scale=-1", "scale=1" },
        { "in=f16", "in=f16", "in=bf16" },
        { "p=bf16", "in=bf16 p=bf16", "in=bf16" },
        { "out!=in", "out=bf16", "in=bf16" },
        { "family range", "family=range:3", "n=3" },
        { "family normal", "family=normal:2", "family=negative" },
        { "family near-zero-denominator", "variant=linear norm=sum family=near-zero-denominator",
          "variant=linear norm=sum family=negative" },
        /* drawn as normal beside other weights */
        { "family near-zero-denominator", "variant=taylor:1 family=near-zero-denominator",
          "variant=taylor:2 family=near-zero-denominator" },
        { "family taylor-roots", "variant=taylor:2 family=taylor-roots", "variant=term:2 family=taylor-roots" },
        { "family p-underflow", "family=p-underflow", "variant=taylor:2 family=p-underflow" },
    };
    const attest_prop_kernel kernel = a_kernel(ATTEST_PARALLEL, 0);
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
        HAS(pairs[k].label, pairs[k].has, &kernel);
        LACKS(pairs[k].label, pairs[k].lacks, &kernel);
    }
}
END_TEST

/* Exactly one class of rest for each length, as the kernel's parts say. */
START_TEST(of_parts)
{
    static const struct {
        const char *line, *tile, *chunk, *splits;
    } rows[] = {
        { "n=24 m=24 chunk=8 splits=8", "tile: rest 0", "chunk: rest 0", "splits: even" },
        { "n=25 m=25 chunk=8 splits=8", "tile: rest 1", "chunk: rest 1", "splits: rest" },
        { "n=23 m=23 chunk=8 splits=24", "tile: rest -1", "chunk: rest -1", "splits: empty" },
        { "n=20 m=20 chunk=8 splits=21", "tile: rest other", "chunk: rest other", "splits: empty" },
    };
    static const char *const names[3][4] = {
        { "tile: rest 0", "tile: rest 1", "tile: rest -1", "tile: rest other" },
        { "chunk: rest 0", "chunk: rest 1", "chunk: rest -1", "chunk: rest other" },
        { "splits: even", "splits: rest", "splits: empty", "chunk: 1" },
    };
    const attest_prop_kernel kernels[3] = { a_kernel(ATTEST_TILED, 8), a_kernel(ATTEST_CHUNK, 0),
                                            a_kernel(ATTEST_SPLIT, 0) };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        const char *const wanted[3] = { rows[k].tile, rows[k].chunk, rows[k].splits };
        for (int form = 0; form < 3; form++)
            for (int name = 0; name < 4; name++) {
                const int is = strcmp(wanted[form], names[form][name]) == 0;
                ck_assert_msg(has(names[form][name], rows[k].line, &kernels[form], &nothing) == is, "%s: %s",
                              rows[k].line, names[form][name]);
                ck_assert(!has(names[form][name], rows[k].line, &kernels[(form + 1) % 3], &nothing));
            }
    }
    HAS("tile: below", "m=7", &kernels[0]);
    LACKS("tile: below", "m=8", &kernels[0]);
    HAS("chunk: 1", "chunk=1", &kernels[1]);
    LACKS("chunk: 1", "chunk=2", &kernels[1]);
}
END_TEST

/* ---- of tensors ------------------------------------------------------------------------------------------------- */

START_TEST(of_tensors)
{
    const attest_prop_kernel kernel = a_kernel(ATTEST_PARALLEL, 0);
    HAS("ties", "n=3 m=2 d=2 family=flat", &kernel);
    LACKS("ties", "n=3 m=2 d=2", &kernel);
    LACKS("ties", "n=3 m=1 d=2 family=flat", &kernel);
    LACKS("ties", "n=3 m=2 d=2 family=flat alibi=draw", &kernel);
    LACKS("ties", "n=1 m=2 d=2 family=flat mask=causal", &kernel); /* it sees one key */
    HAS("ties", "n=2 m=2 d=2 family=flat mask=causal", &kernel);
    HAS("ties", "n=1 m=16 d=1 hq=3 family=repeat-max", &kernel); /* keys, not queries */
    LACKS("ties", "n=1 m=2 d=1 hq=3 family=repeat-max", &kernel);
    HAS("ties", "n=8 m=8 d=1 mask=causal window=8 family=repeat-max", &kernel);
    LACKS("ties", "n=8 m=8 d=1 mask=causal window=2 family=repeat-max", &kernel);
    HAS("denominator near zero", "variant=taylor:1 n=64 m=2 hq=8 d=1 in=bf16 family=near-zero-denominator", &kernel);
    HAS("denominator near zero", "variant=taylor:3 n=64 m=2 hq=64 d=1 family=near-zero-denominator", &kernel);
    HAS("denominator near zero", "variant=linear norm=sum n=64 m=2 hq=64 d=1 family=near-zero-denominator", &kernel);
    LACKS("denominator near zero", "variant=taylor:1 n=64 m=2 hq=8 d=1 scale=0.0625", &kernel);
    LACKS("denominator near zero", "variant=taylor:1 n=1 m=2 d=1 family=near-zero-denominator", &kernel); /* 2^-3 */
    LACKS("denominator near zero", "variant=taylor:2 n=64 m=2 hq=64 d=1 family=near-zero-denominator", &kernel);
    LACKS("denominator near zero", "variant=term:1 n=64 m=2 hq=64 d=1 family=near-zero-denominator", &kernel);
}
END_TEST

/* ---- of the truth's facts --------------------------------------------------------------------------------------- */

START_TEST(of_facts)
{
    static const struct {
        const char *label, *line;
        attest_case_facts facts;
        int has;
    } rows[] = {
        { "denominator negative", "variant=taylor:1", { .negative_sum = 1 }, 1 },
        { "denominator negative", "variant=taylor:1", { .negative_sum = 0 }, 0 },
        { "denominator negative", "variant=term:1", { .negative_sum = 1 }, 0 }, /* z is there, but divides nothing */
        { "denominator near zero", "variant=linear-relu", { .vanishing = 1 }, 1 },
        { "negative weight", "variant=term:3", { .negative_weight = 2 }, 1 },
        { "negative weight", "variant=based", { .negative_weight = 2 }, 0 }, /* no even order has one */
        { "negative weight", "variant=linear-relu", { .negative_weight = 2 }, 0 },
        { "negative weight", "variant=shifted:1", { .negative_weight = 2 }, 1 },
        { "denominator near zero", "variant=linear-elu", { .vanishing = 1 }, 0 },
        { "empty row", "lens=draw", { .empty = 1 }, 1 },
        { "empty row", "lens=draw", { .empty = 0 }, 0 },
        { "empty row", "n=4 m=3 mask=causal-br", { .empty = 1 }, 1 },
        { "empty row", "n=5 m=3 mask=causal window=2", { .empty = 1 }, 1 },
        { "empty row", "n=4 m=3 mask=causal window=2", { .empty = 1 }, 0 }, /* rows that cannot be empty */
        { "empty row", "n=5 m=3 mask=causal", { .empty = 1 }, 0 },
        { "range 0.01-0.1", "n=3", { .range = 0.01 }, 1 },
        { "range 0.01-0.1", "n=3", { .range = 0.1 }, 0 },
        { "range 0.1-1", "n=3", { .range = 0.1 }, 1 },
        { "range 10-100", "n=3", { .range = 99 }, 1 },
        { "range 100-1000", "n=3", { .range = 100 }, 1 },
        { "range 100-1000", "n=3", { .range = 1000 }, 0 },
        { "range from 1000", "n=3", { .range = 1000 }, 1 },
        { "range below 0.01", "n=3", { .range = 0 }, 1 },
        { "range below 0.01", "n=3", { .range = NAN }, 0 },
        { "subnormal weight", "n=3", { .range = 87.4 }, 1 }, /* 126 ln 2 = 87.34 */
        { "subnormal weight", "n=3", { .range = 87.2 }, 0 },
        { "subnormal weight", "p=f16", { .range = 9.8 }, 1 }, /* 14 ln 2 = 9.70 */
        { "subnormal weight", "p=f16", { .range = 9.6 }, 0 },
        { "subnormal weight", "in=f64", { .range = 700 }, 0 },
        { "subnormal weight", "variant=taylor:2", { .range = 700 }, 0 },
    };
    const attest_prop_kernel kernel = a_kernel(ATTEST_PARALLEL, 0);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        ck_assert_msg(has(rows[k].label, rows[k].line, &kernel, &rows[k].facts) == rows[k].has, "row %zu: %s", k,
                      rows[k].label);
}
END_TEST

/* ---- floors ----------------------------------------------------------------------------------------------------- */

START_TEST(floors)
{
    const attest_label some = { .name = "some", .floor = 40 }, none = { .name = "none", .floor = 0 };
    ck_assert_int_eq(attest_label_floor(&some, 2000), 40);
    ck_assert_int_eq(attest_label_floor(&some, 1000), 20);
    ck_assert_int_eq(attest_label_floor(&some, 4000000000), 80000000);
    ck_assert_int_eq(attest_label_floor(&some, 10), 1);
    ck_assert_int_eq(attest_label_floor(&none, 2000), 0);
    for (size_t k = 0; k < attest_label_count; k++)
        ck_assert_ptr_eq(find(attest_labels[k].name), &attest_labels[k]); /* names are unique */
}
END_TEST

static int serves(void *context, const attest_problem *p)
{
    char why[256];
    return attest_kernel_supports(attest_own(context), p, why, sizeof why);
}

static int possible(const char *label, const char *name)
{
    const attest_library *library = attest_builtin_library();
    for (uint32_t k = 0; k < library->kernel_count; k++) {
        const attest_kernel *kernel = library->kernels[k];
        const attest_prop_kernel facts = stream_declared(kernel);
        const attest_prop_host host = { .context = (void *)(uintptr_t)kernel, .supports = serves };
        if (strcmp(kernel->name, name) == 0)
            return attest_label_possible(find(label), 0, &facts, &host);
    }
    ck_abort_msg("no kernel %s", name);
    return 0;
}

/* What a kernel does not serve is not asked of it. */
START_TEST(what_kernels_can_meet)
{
    static const struct {
        const char *label, *kernel;
        int possible;
    } rows[] = {
        { "denominator negative", "softmax-two-pass-f32", 0 },
        { "denominator negative", "taylor-recurrent-f32", 1 },
        { "denominator negative", "delta-recurrent-f32", 0 },
        { "subnormal weight", "taylor-recurrent-f32", 0 },
        { "subnormal weight", "softmax-online-f32", 1 },
        { "order 3", "linear-recurrent-f32", 0 },
        { "order 8", "taylor-packed-f32", 1 },
        { "in=f64", "softmax-two-pass-f64", 1 },
        { "in=f64", "softmax-two-pass-f32", 0 },
        { "p=f16", "softmax-two-pass-f32", 0 },
        { "p=bf16", "softmax-online-bf16", 1 },
        { "tile: rest -1", "softmax-online-bf16", 1 },
        { "tile: rest -1", "softmax-two-pass-f32", 0 },
        { "splits: empty", "softmax-split-f32", 1 },
        { "chunk: rest 1", "delta-chunk-f32", 1 },
        { "state", "softmax-online-f32", 0 },
        { "state", "taylor-chunk-f32", 1 },
        { "center", "taylor-direct-f32", 1 },
        { "center", "taylor-split-f32", 0 },
        { "empty row", "delta-recurrent-f32", 1 },
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        ck_assert_msg(possible(rows[k].label, rows[k].kernel) == rows[k].possible, "%s on %s", rows[k].label,
                      rows[k].kernel);
}
END_TEST

/* The cases of a run over the built-in kernels may have each label more often than its floor asks.  (Those that depend
 * on the truth: test_floors.c.) */
START_TEST(floors_are_in_reach)
{
    const attest_library *library = attest_builtin_library();
    int *count = calloc(attest_label_count, sizeof *count);
    ck_assert_ptr_nonnull(count);
    for (uint32_t number = 0; number < 2000; number++) {
        const attest_kernel *kernel = library->kernels[number % library->kernel_count];
        const attest_prop_kernel facts = stream_declared(kernel);
        const attest_prop_host host = { .context = (void *)(uintptr_t)kernel, .supports = serves };
        attest_generated made;
        attest_error err = { "" };
        ck_assert_msg(attest_generate(&made, 0, number, &facts, &host, &err) == ATTEST_OK && made.found, "%s",
                      err.text);
        for (size_t k = 0; k < attest_label_count; k++)
            count[k] += attest_labels[k].can(&made.c, &facts);
    }
    for (size_t k = 0; k < attest_label_count; k++)
        ck_assert_msg(count[k] >= attest_labels[k].floor, "%s: %d cases, floor %d", attest_labels[k].name, count[k],
                      attest_labels[k].floor);
    free(count);
}
END_TEST

Suite *suite_labels(void)
{
    Suite *suite = suite_create("props_labels");
    TCase *tcase = tcase_create("labels");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, of_lines);
    tcase_add_test(tcase, of_parts);
    tcase_add_test(tcase, of_tensors);
    tcase_add_test(tcase, of_facts);
    tcase_add_test(tcase, floors);
    tcase_add_test(tcase, what_kernels_can_meet);
    tcase_add_test(tcase, floors_are_in_reach);
    suite_add_tcase(suite, tcase);
    return suite;
}
