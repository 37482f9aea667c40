/* Sequences one after another: where their tokens lie, and that kernels read them there; rows that are absent. */
#include "kernels/tensor/packed.h"
#include "kernels/tensor/pages.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/library/library.h"
#include "props/draw/draw.h"

#define MUST(call) ck_assert_msg((call) == ATTEST_OK, "%s", err.text)

Suite *suite_packed(void);

static attest_case case_of(const char *line)
{
    attest_case c;
    attest_error err = { "" };
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s: %s", line, err.text);
    return c;
}

static attest_tensor_id id_of(attest_role role) { return (attest_tensor_id){ ATTEST_KIND_ROLE, role }; }

/* A bundle of drawn inputs, with these lengths where they are not NULL. */
static attest_bundle *bundle_of(const attest_case *c, const int64_t *len, const int64_t *len_q)
{
    attest_error err = { "" };
    attest_bundle *bundle = NULL;
    MUST(attest_bundle_new(&bundle, &err));
    MUST(attest_draw_missing(bundle, c, 0, 0, &err));
    for (int64_t b = 0; b < c->problem.b; b++) {
        if (len)
            attest_store_bits(attest_bundle_role(bundle, ATTEST_KV_LENS), b, (uint64_t)len[b]);
        if (len_q)
            attest_store_bits(attest_bundle_role(bundle, ATTEST_Q_LENS), b, (uint64_t)len_q[b]);
    }
    return bundle;
}

START_TEST(test_sides)
{
    static const struct {
        attest_role role;
        uint32_t side;
    } rows[] = { { ATTEST_Q, ATTEST_CU_SEQLENS_Q },
                 { ATTEST_GOUT, ATTEST_CU_SEQLENS_Q },
                 { ATTEST_O, ATTEST_CU_SEQLENS_Q },
                 { ATTEST_LSE, ATTEST_CU_SEQLENS_Q },
                 { ATTEST_K, ATTEST_CU_SEQLENS_K },
                 { ATTEST_GIN, ATTEST_CU_SEQLENS_K },
                 { ATTEST_DECAY, ATTEST_CU_SEQLENS_K },
                 { ATTEST_BIAS, 0 },
                 { ATTEST_MASK, 0 },
                 { ATTEST_SINK, 0 },
                 { ATTEST_KV_LENS, 0 },
                 { ATTEST_Q_LENS, 0 },
                 { ATTEST_CU_SEQLENS_Q, 0 } };
    const attest_case on = case_of("packed=on b=2"), off = case_of("b=2"), paged = case_of("packed=on pages=4 b=2");
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        ck_assert_uint_eq(attest_packed_side(&on.problem, id_of(rows[n].role)), rows[n].side);
        ck_assert_uint_eq(attest_packed_side(&off.problem, id_of(rows[n].role)), 0);
    }
    ck_assert_uint_eq(attest_packed_side(&paged.problem, id_of(ATTEST_K)), 0);
    ck_assert_uint_eq(attest_packed_side(&paged.problem, id_of(ATTEST_GIN)), ATTEST_CU_SEQLENS_K);
    ck_assert_uint_eq(attest_packed_side(&on.problem, (attest_tensor_id){ ATTEST_KIND_H0, ATTEST_Q }), 0);
}
END_TEST

/* Sequences of no token, too: [0,0,3]. */
START_TEST(test_starts)
{
    static const int64_t lengths[][3] = { { 0, 0, 3 }, { 3, 0, 2 }, { 1, 4, 0 }, { 0, 0, 0 }, { 4, 4, 4 } };
    const attest_case c = case_of("packed=on lens=draw lens_q=draw b=3 n=4 m=4 d=1");
    for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++) {
        static const int64_t keys[] = { 1, 2, 3 };
        attest_bundle *bundle = bundle_of(&c, keys, lengths[n]);
        int64_t q[4], k[4], t = 0;
        attest_packed_starts(q, &c.problem, bundle, ATTEST_CU_SEQLENS_Q);
        attest_packed_starts(k, &c.problem, bundle, ATTEST_CU_SEQLENS_K);
        ck_assert(k[0] == 0 && k[1] == 1 && k[2] == 3 && k[3] == 6 && q[0] == 0);
        for (int64_t b = 0; b < 3; b++) {
            ck_assert_int_eq(q[b + 1] - q[b], lengths[n][b]);
            for (int64_t i = 0; i < lengths[n][b]; i++)
                ck_assert_int_eq(attest_packed_entry(q, 3, t++), b);
        }
        ck_assert_int_eq(attest_packed_entry(q, 3, t), -1);
        attest_bundle_free(bundle);
    }
}
END_TEST

/* Every token where cu_seqlens says, nothing else; what changes is seen, and what comes back is what went in. */
START_TEST(test_tokens)
{
    static const int64_t keys[] = { 2, 0, 3 }, queries[] = { 0, 3, 1 };
    attest_error err = { "" };
    const attest_case c = case_of("packed=on lens=draw lens_q=draw gates=inout b=3 hq=4 hkv=2 n=3 m=5 d=2 e=3");
    attest_bundle *bundle = bundle_of(&c, keys, queries);
    attest_packed packed;
    attest_tensor back, *lse;
    attest_view view;
    MUST(attest_bundle_add(bundle, &c.problem, id_of(ATTEST_LSE), 0, &lse, &err));
    MUST(attest_packed_make(&packed, &c.problem, bundle, &err));
    const attest_tensor *v = attest_bundle_role(bundle, ATTEST_V), *p = &packed.own[ATTEST_V];
    ck_assert(p->shape[0] == 1 && p->shape[1] == 2 && p->shape[2] == 5 && p->shape[3] == 3);
    ck_assert(packed.own[ATTEST_GOUT].shape[2] == 4 && packed.own[ATTEST_GOUT].rank == 3);
    ck_assert(packed.own[ATTEST_LSE].shape[2] == 4 && !packed.own[ATTEST_KV_LENS].data);
    for (int64_t b = 0, t = 0; b < 3; b++)
        for (int64_t j = 0; j < keys[b]; j++, t++)
            for (int64_t at = 0; at < 6; at++)
                ck_assert(attest_load_bits(v, attest_offset(v, b, at / 3, j, at % 3)) ==
                          attest_load_bits(p, attest_offset(p, 0, at / 3, t, at % 3)));
    ck_assert(attest_packed_same(p, v, packed.starts[1]));
    attest_tensor_describe(&back, &c.problem, id_of(ATTEST_V), 0);
    back.data = calloc(1, attest_tensor_bytes(&back));
    ck_assert_ptr_nonnull(back.data);
    attest_packed_keep(&back, p, packed.starts[1]);
    ck_assert(attest_packed_same(p, &back, packed.starts[1]));
    ck_assert(attest_load_bits(&back, attest_offset(&back, 1, 0, 0, 0)) == 0); /* of no sequence: not written */
    attest_store_bits(p, attest_offset(p, 0, 1, 4, 2), 0x7f);
    ck_assert(!attest_packed_same(p, v, packed.starts[1]));
    attest_bundle_view(bundle, &view);
    attest_packed_view(&packed, &view);
    ck_assert(view.role[ATTEST_Q] == &packed.own[ATTEST_Q] && view.role[ATTEST_CU_SEQLENS_K]->shape[0] == 4);
    ck_assert(attest_load_int(view.role[ATTEST_CU_SEQLENS_Q], 3) == 4 && view.role[ATTEST_KV_LENS]->shape[0] == 3);
    free(back.data);
    attest_packed_clear(&packed);
    attest_bundle_free(bundle);
}
END_TEST

/* Sequences that are all empty: one token, which is nobody's. */
START_TEST(test_nobody)
{
    static const int64_t none[] = { 0, 0 };
    attest_error err = { "" };
    const attest_case c = case_of("packed=on lens=draw lens_q=draw b=2 n=3 m=5 d=2");
    attest_bundle *bundle = bundle_of(&c, none, none);
    attest_packed packed;
    MUST(attest_packed_make(&packed, &c.problem, bundle, &err));
    ck_assert(packed.own[ATTEST_Q].shape[2] == 1 && packed.own[ATTEST_V].shape[2] == 1);
    ck_assert(isnan(attest_load(&packed.own[ATTEST_Q], 0)) && isnan(attest_load(&packed.own[ATTEST_V], 1)));
    attest_packed_clear(&packed);
    attest_bundle_free(bundle);
}
END_TEST

START_TEST(test_absent)
{
    static const int64_t queries[] = { 0, 3, 1 };
    attest_error err = { "" };
    const attest_case c = case_of("lens_q=draw b=3 hq=2 n=3 m=2 d=2 in=bf16"), plain = case_of("b=3 hq=2 n=3 m=2 d=2");
    attest_bundle *bundle = bundle_of(&c, NULL, queries);
    static const attest_role roles[] = { ATTEST_O, ATTEST_LSE };
    for (int r = 0; r < 2; r++) {
        attest_tensor *t;
        MUST(attest_bundle_add(bundle, &c.problem, id_of(roles[r]), 0, &t, &err));
        memset(t->data, 0x40, attest_tensor_bytes(t));
        const uint64_t was = attest_load_bits(t, 0), gone = attest_from_f64(t->dtype, r ? -(double)INFINITY : 0);
        attest_absent_clear(t, id_of(roles[r]), &plain.problem, bundle);
        ck_assert(attest_load_bits(t, 0) == was);
        attest_absent_clear(t, id_of(ATTEST_Q), &c.problem, bundle);
        ck_assert(attest_load_bits(t, 0) == was);
        attest_absent_clear(t, id_of(roles[r]), &c.problem, bundle);
        for (int64_t at = 0; at < 3 * 2 * 3 * (r ? 1 : 2); at++) {
            const int64_t row = r ? at : at / 2;
            ck_assert(attest_load_bits(t, at) == (row % 3 < queries[row / 6] ? was : gone));
        }
    }
    attest_bundle_free(bundle);
}
END_TEST

static const char *const lines[] = {
    "variant=softmax b=2 hq=4 hkv=2 n=3 m=70 d=16 e=32 splits=3 mask=causal-br",
    "variant=softmax b=3 hq=2 n=2 m=100 d=4 e=3 splits=2 lens=draw",
    "variant=softmax b=4 hq=2 n=5 m=9 d=4 e=3 splits=2 lens=draw lens_q=draw mask=causal-br",
    "variant=softmax b=2 n=5 m=33 d=64 e=64 splits=2 in=bf16 p=bf16 lens_q=draw",
    "variant=softmax b=3 n=5 m=33 d=64 e=64 splits=2 in=bf16 feature=elu1 rope=100 gates=inout lens_q=draw",
    "variant=softmax b=3 hq=2 n=6 m=9 d=4 lens_q=draw bias=full alibi=none attn_mask=head gates=heads",
    "variant=softmax b=3 n=4 m=9 d=3 in=f64 lens_q=draw lens=draw mask=causal window=3",
    "variant=taylor:2 b=3 n=4 m=9 d=3 splits=2 gates=in lens_q=draw lens=draw chunk=3",
    "variant=softmax b=3 hq=2 n=4 m=70 d=16 lens=draw lens_q=draw pages=16 splits=2",
    "variant=linear b=4 n=5 m=9 d=3 lens=draw lens_q=draw mask=causal-br gates=inout chunk=2",
    "variant=simple-gla b=4 n=7 d=3 lens_q=draw mask=causal chunk=2",
    "variant=gla b=4 n=7 d=3 mask=causal chunk=2 state=draw",
    "variant=gla b=4 n=7 d=3 lens=draw lens_q=len mask=causal-br chunk=2",
    "variant=gdn b=4 hq=2 n=7 d=3 lens=draw lens_q=len chunk=2",
    "variant=softmax b=4 hq=2 n=7 d=4 splits=2 lens=draw lens_q=len mask=causal",
    "variant=gdn b=3 hq=2 n=7 d=3 chunk=2",
};

/* One run on a packed, or padded, bundle; outputs come back padded, absent rows cleared. */
static void run(const attest_kernel *kernel, const attest_case *c, attest_bundle *bundle)
{
    attest_error err = { "" };
    attest_view view, padded;
    attest_packed packed;
    attest_pages pages;
    attest_tensor *t;
    char why[256] = "";
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_outputs(&c->problem, ids, ATTEST_MAX_TENSORS);
    const size_t size = attest_kernel_workspace(attest_own(kernel), &c->problem);
    void *workspace = aligned_alloc(64, (size + 127) / 64 * 64);
    ck_assert_ptr_nonnull(workspace);
    for (size_t n = 0; n < count; n++) {
        const int state = ids[n].kind != ATTEST_KIND_ROLE;
        if (state ? (kernel->outputs & ATTEST_GIVES_STATE) != 0 : kernel->outputs >> (ids[n].index - ATTEST_O) & 1u)
            MUST(attest_bundle_add(bundle, &c->problem, ids[n], (kernel->flags & ATTEST_PACKED_STATE) != 0, &t, &err));
    }
    attest_bundle_view(bundle, &view);
    padded = view;
    MUST(attest_packed_make(&packed, &c->problem, bundle, &err));
    MUST(attest_pages_make(&pages, &c->problem, bundle, 1, &err));
    attest_packed_view(&packed, &view);
    attest_pages_view(&pages, &view);
    ck_assert_msg(attest_kernel_run(attest_own(kernel), &c->problem, &view, workspace, size, why, sizeof why) ==
                      ATTEST_OK,
                  "%s: %s", kernel->name, why);
    attest_packed_outputs(&packed, padded.role);
    for (size_t n = 0; n < count; n++)
        if (attest_bundle_get(bundle, ids[n]))
            attest_absent_clear(attest_bundle_get(bundle, ids[n]), ids[n], &c->problem, bundle);
    attest_packed_clear(&packed);
    attest_pages_clear(&pages);
    free(workspace);
}

/* 1 if the kernel serves the line packed: then with the bits that it has padded, of every output. */
static int check_kernel(const attest_kernel *kernel, const char *line, int seed)
{
    char text[256], why[256];
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    snprintf(text, sizeof text, "%s seed=%d", line, seed);
    const attest_case plain = case_of(text);
    attest_case c = plain;
    c.problem.axis[ATTEST_AXIS_PACKED].value = ATTEST_PACKED_ON;
    if (!attest_kernel_supports(attest_own(kernel), &c.problem, why, sizeof why))
        return 0;
    attest_bundle *padded = bundle_of(&plain, NULL, NULL), *packed = bundle_of(&c, NULL, NULL);
    run(kernel, &plain, padded);
    run(kernel, &c, packed);
    const size_t count = attest_problem_outputs(&c.problem, ids, ATTEST_MAX_TENSORS);
    for (size_t n = 0; n < count; n++) {
        const attest_tensor *a = attest_bundle_get(padded, ids[n]), *b = attest_bundle_get(packed, ids[n]);
        ck_assert_msg(!a || memcmp(a->data, b->data, attest_tensor_bytes(a)) == 0, "%s: other bits: %s", kernel->name,
                      text);
    }
    attest_bundle_free(padded);
    attest_bundle_free(packed);
    return 1;
}

START_TEST(test_kernels)
{
    const attest_library *own = attest_builtin_library();
    int serving = 0;
    for (uint32_t k = 0; k < own->kernel_count; k++) {
        int served = 0;
        for (size_t n = 0; n < sizeof lines / sizeof lines[0]; n++)
            for (int seed = 0; seed < 4; seed++)
                served += check_kernel(own->kernels[k], lines[n], seed);
        serving += served > 0;
    }
    ck_assert_int_ge(serving, 16); /* pair by pair, with a state, softmax-flash-f32, softmax-decode-f32 */
}
END_TEST

Suite *suite_packed(void)
{
    Suite *suite = suite_create("packed");
    TCase *all = tcase_create("all");
    tcase_add_test(all, test_sides);
    tcase_add_test(all, test_starts);
    tcase_add_test(all, test_tokens);
    tcase_add_test(all, test_nobody);
    tcase_add_test(all, test_absent);
    tcase_add_test(all, test_kernels);
    suite_add_tcase(suite, all);
    return suite;
}
