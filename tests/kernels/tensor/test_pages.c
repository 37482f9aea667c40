/* test_pages.c - k and v in pages: shapes, tables, where keys go, and that no kernel gives other bits for them. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/library/library.h"
#include "kernels/tensor/pages.h"
#include "props/draw/draw.h"

Suite *suite_pages(void);

static const attest_tensor_id k_id = { ATTEST_KIND_ROLE, ATTEST_K }, v_id = { ATTEST_KIND_ROLE, ATTEST_V },
                              q_id = { ATTEST_KIND_ROLE, ATTEST_Q },
                              table_id = { ATTEST_KIND_ROLE, ATTEST_BLOCK_TABLE };

#define MUST(call) ck_assert_msg((call) == ATTEST_OK, "%s", err.text)

static attest_case case_of(const char *line)
{
    attest_error err = { "" };
    attest_case c;
    MUST(attest_case_parse(&c, line, NULL, NULL, &err));
    return c;
}

static void check_shape(const attest_tensor *t, int64_t a, int64_t b, int64_t c, int64_t d)
{
    const int64_t want[] = { a, b, c, d };
    int64_t stride = 1;
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        ck_assert_int_eq(t->shape[axis], want[axis]);
        ck_assert_int_eq(t->stride[axis], stride);
        stride *= want[axis];
    }
}

START_TEST(test_shapes)
{
    const attest_case c = case_of("variant=softmax pages=3 b=2 hq=4 hkv=2 n=5 m=7 d=4 e=6 in=bf16");
    const attest_case plain = case_of("variant=softmax b=2 m=7");
    attest_tensor t;
    attest_pages_describe(&t, &c.problem, k_id);
    check_shape(&t, 2 * 3 + 2, 2, 3, 4);
    ck_assert_int_eq(t.dtype, ATTEST_BF16);
    attest_pages_describe(&t, &c.problem, v_id);
    check_shape(&t, 2 * 3 + 2, 2, 3, 6);
    attest_pages_describe(&t, &c.problem, table_id);
    ck_assert_int_eq(t.rank, 2);
    check_shape(&t, 2, 3, 1, 1);
    ck_assert(t.dtype == ATTEST_I64 && t.code == ATTEST_CODE_INT && t.bits == 64 && t.lanes == 1);
    ck_assert(attest_pages_hold(&c.problem, k_id) && attest_pages_hold(&c.problem, v_id));
    ck_assert(!attest_pages_hold(&c.problem, q_id) && !attest_pages_hold(&plain.problem, k_id));
    ck_assert(!attest_pages_hold(&c.problem, (attest_tensor_id){ ATTEST_KIND_H0, ATTEST_K }));
}
END_TEST

/* Distinct pages, all but two; another turn moves each entry and changes the order that the pages lie in, however few
 * they are. */
START_TEST(test_table)
{
    for (int count = 1; count <= 12; count++) {
        char line[128];
        attest_tensor t[2];
        int order[2] = { 0, 0 };
        snprintf(line, sizeof line, "variant=softmax pages=2 b=1 n=1 m=%d d=1", 2 * count - 1);
        const attest_case c = case_of(line);
        for (int turn = 0; turn < 2; turn++) {
            int seen[14] = { 0 }, used = 0;
            attest_pages_describe(&t[turn], &c.problem, table_id);
            t[turn].data = malloc(attest_tensor_bytes(&t[turn]));
            ck_assert_ptr_nonnull(t[turn].data);
            attest_pages_draw(&t[turn], 7, turn);
            for (int n = 0; n < count; n++) {
                const int64_t page = attest_load_int(&t[turn], n);
                ck_assert(page >= 0 && page < count + 2 && !seen[page]);
                seen[page] = 1;
                used++;
                order[turn] += n > 0 && page > attest_load_int(&t[turn], n - 1) ? 1 << n : 0;
            }
            ck_assert_int_eq(used, count);
        }
        for (int n = 0; n < count; n++)
            ck_assert_int_ne(attest_load_int(&t[0], n), attest_load_int(&t[1], n));
        ck_assert_msg(count == 1 || order[0] != order[1], "%d pages lie in one order", count);
        free(t[0].data);
        free(t[1].data);
    }
}
END_TEST

/* Pages count in what a problem needs: few keys in large pages are no small problem. */
START_TEST(test_memory)
{
    attest_error err = { "" };
    uint64_t plain, paged;
    const attest_case few = case_of("variant=softmax b=2 n=1 m=5 d=4"),
                      large = case_of("variant=softmax pages=1000 b=2 n=1 m=5 d=4"),
                      most = case_of("variant=softmax pages=65536 b=4096 hq=64 hkv=64 n=1 m=1 d=128");
    MUST(attest_problem_memory(&few.problem, &plain, &err));
    MUST(attest_problem_memory(&large.problem, &paged, &err));
    ck_assert_uint_eq(paged - plain, 2 * sizeof(float) * 4 * ((2 + 2) * 1000 - 2 * 5));
    ck_assert_int_eq(attest_problem_memory(&most.problem, &paged, &err), ATTEST_BAD_INPUT);
}
END_TEST

/* A key where the table says, NaN in every other token; a changed key is seen, a changed NaN is not. */
START_TEST(test_keys)
{
    attest_error err = { "" };
    const attest_case c = case_of("variant=softmax pages=3 b=2 hkv=2 hq=2 n=2 m=7 d=4 e=2");
    attest_bundle *bundle = NULL;
    attest_pages pages;
    attest_view view;
    int64_t numbers = 0;
    MUST(attest_bundle_new(&bundle, &err));
    MUST(attest_draw_missing(bundle, &c, 0, 0, &err));
    MUST(attest_pages_make(&pages, &c.problem, bundle, 5, &err));
    const attest_tensor *v = attest_bundle_role(bundle, ATTEST_V);
    for (int64_t at = 0; at < 2L * 2 * 7 * 2; at++) {
        const int64_t ch = at % 2, j = at / 2 % 7, g = at / 14 % 2, b = at / 28;
        const int64_t page = attest_load_int(&pages.table, b * 3 + j / 3);
        ck_assert(attest_load_bits(v, attest_offset(v, b, g, j, ch)) ==
                  attest_load_bits(&pages.v, attest_offset(&pages.v, page, g, j % 3, ch)));
    }
    for (int64_t at = 0; at < attest_tensor_count(&pages.v); at++)
        numbers += !isnan(attest_load(&pages.v, at));
    ck_assert_int_eq(numbers, attest_tensor_count(v));
    ck_assert(attest_pages_same(&pages.v, v, &pages.table));
    attest_pages_pad(&pages.v, v, &pages.table); /* of six pages of three, for 2 x 7 keys: four tokens */
    int64_t pads = 0;
    for (int64_t at = 0; at < attest_tensor_count(&pages.v); at++)
        pads += attest_load(&pages.v, at) == ATTEST_PAGES_PAD;
    ck_assert_int_eq(pads, 4 * 2 * 2);
    ck_assert(attest_pages_same(&pages.v, v, &pages.table));
    const int64_t last = attest_load_int(&pages.table, 5);
    attest_store_bits(&pages.v, attest_offset(&pages.v, last, 1, 0, 1), 0x7f); /* key 6 of the last entry */
    ck_assert(!attest_pages_same(&pages.v, v, &pages.table));
    attest_bundle_view(bundle, &view);
    attest_pages_view(&pages, &view);
    ck_assert(view.role[ATTEST_K] == &pages.k && view.role[ATTEST_V] == &pages.v);
    ck_assert(view.role[ATTEST_BLOCK_TABLE] == &pages.table);
    attest_pages_clear(&pages);
    attest_bundle_free(bundle);
}
END_TEST

static const char *const lines[] = {
    "variant=softmax b=2 hq=4 hkv=2 n=3 m=70 d=16 e=32 splits=3 mask=causal-br",
    "variant=softmax b=3 hq=2 n=2 m=100 d=4 e=3 splits=2 lens=draw",
    "variant=softmax b=2 n=5 m=33 d=64 e=64 splits=2 in=bf16 p=bf16",
    "variant=softmax b=2 n=5 m=33 d=64 e=64 splits=2 in=bf16 feature=elu1 rope=100 gates=in",
    "variant=softmax b=2 n=4 m=9 d=3 in=f64",
    "variant=taylor:2 b=2 n=4 m=9 d=3 splits=2 gates=in",
};

static void run(const attest_kernel *kernel, const attest_case *c, attest_bundle *bundle, const attest_pages *pages,
                attest_tensor *o)
{
    attest_error err = { "" };
    attest_view view;
    char why[256] = "";
    const size_t size = attest_kernel_workspace(attest_own(kernel), &c->problem);
    void *workspace = aligned_alloc(64, (size + 127) / 64 * 64);
    ck_assert_ptr_nonnull(workspace);
    attest_tensor_describe(o, &c->problem, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, 0);
    o->data = calloc(1, attest_tensor_bytes(o));
    ck_assert_ptr_nonnull(o->data);
    attest_bundle_view(bundle, &view);
    attest_pages_view(pages, &view);
    view.role[ATTEST_O] = o;
    ck_assert_msg(attest_kernel_run(attest_own(kernel), &c->problem, &view, workspace, size, why, sizeof why) ==
                      ATTEST_OK,
                  "%s: %s %s", kernel->name, why, err.text);
    free(workspace);
}

/* 1 if the kernel serves the line in pages of `tokens`: then with the bits that it has without. */
static int check_kernel(const attest_kernel *kernel, const char *line, int tokens)
{
    attest_error err = { "" };
    char text[256], why[256];
    snprintf(text, sizeof text, "%s pages=%d", line, tokens);
    const attest_case plain = case_of(line), c = case_of(text);
    attest_bundle *bundle = NULL;
    attest_pages pages, none;
    attest_tensor o[2];
    if (!attest_kernel_supports(attest_own(kernel), &c.problem, why, sizeof why))
        return 0;
    MUST(attest_bundle_new(&bundle, &err));
    MUST(attest_draw_missing(bundle, &plain, 0, 0, &err));
    MUST(attest_pages_make(&none, &plain.problem, bundle, 1, &err));
    MUST(attest_pages_make(&pages, &c.problem, bundle, 1, &err));
    run(kernel, &plain, bundle, &none, &o[0]);
    run(kernel, &c, bundle, &pages, &o[1]);
    ck_assert_msg(memcmp(o[0].data, o[1].data, attest_tensor_bytes(&o[0])) == 0, "%s: other bits: %s", kernel->name,
                  text);
    free(o[0].data);
    free(o[1].data);
    attest_pages_clear(&pages);
    attest_bundle_free(bundle);
    return 1;
}

START_TEST(test_kernels)
{
    static const int tokens[] = { 1, 3, 16, 64, 200 };
    const attest_library *own = attest_builtin_library();
    int serving = 0;
    for (uint32_t k = 0; k < own->kernel_count; k++) {
        int served = 0;
        for (size_t n = 0; n < sizeof lines / sizeof lines[0]; n++)
            for (size_t t = 0; t < sizeof tokens / sizeof tokens[0]; t++)
                served += check_kernel(own->kernels[k], lines[n], tokens[t]);
        serving += served > 0;
    }
    ck_assert_int_ge(serving, 9); /* what has SERVE_PAIRS */
}
END_TEST

Suite *suite_pages(void)
{
    Suite *suite = suite_create("pages");
    TCase *all = tcase_create("all");
    tcase_add_test(all, test_shapes);
    tcase_add_test(all, test_table);
    tcase_add_test(all, test_memory);
    tcase_add_test(all, test_keys);
    tcase_add_test(all, test_kernels);
    suite_add_tcase(suite, all);
    return suite;
}
