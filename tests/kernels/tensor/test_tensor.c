/* Which tensors a problem has, their names, shapes and types; elements by strides; bundles. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/tensor/view.h"

Suite *suite_tensor(void);

static attest_problem problem_of(const char *line)
{
    attest_case c;
    attest_error err;
    const attest_status status = attest_case_parse(&c, line, NULL, NULL, &err);
    ck_assert_msg(status == ATTEST_OK, "%s: %s", line, err.text);
    return c.problem;
}

static attest_tensor_id id_of(const char *name)
{
    attest_tensor_id id;
    attest_error err;
    ck_assert_msg(attest_tensor_id_parse(&id, name, &err) == ATTEST_OK, "%s: %s", name, err.text);
    return id;
}

START_TEST(names_round_trip)
{
    static const char *const kinds[] = { "h0", "z0", "ht", "zt" };
    static const char *const bad[] = {
        "", "x", "Q", "qq", "h0", "h0.", "h0.65", "h0.01", "h0.-1", "h0.1 ", "h1.1", "z0.1x", "ht.999999999999", "len.1"
    };
    attest_error err;
    char name[32];
    for (uint32_t r = 0; r < ATTEST_TENSOR_ROLES; r++) {
        ck_assert_uint_eq(attest_roles[r].role, r);
        if (!attest_roles[r].axes) { /* in no bundle, and so in no file */
            ck_assert_int_eq(attest_tensor_id_parse(&(attest_tensor_id){ 0, 0 }, attest_roles[r].name, &err),
                             ATTEST_BAD_INPUT);
            continue;
        }
        const attest_tensor_id id = id_of(attest_roles[r].name);
        ck_assert(attest_tensor_id_equal(id, (attest_tensor_id){ ATTEST_KIND_ROLE, r }));
        attest_tensor_id_print(name, sizeof name, id);
        ck_assert_str_eq(name, attest_roles[r].name);
    }
    for (uint32_t kind = 0; kind < 4; kind++) {
        for (uint32_t degree = 0; degree <= ATTEST_MAX_ORDER; degree++) {
            char text[32];
            snprintf(text, sizeof text, "%s.%u", kinds[kind], degree);
            const attest_tensor_id id = id_of(text);
            ck_assert(attest_tensor_id_equal(id, (attest_tensor_id){ kind + 1, degree }));
            attest_tensor_id_print(name, sizeof name, id);
            ck_assert_str_eq(name, text);
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        attest_tensor_id id;
        ck_assert_msg(attest_tensor_id_parse(&id, bad[i], &err) == ATTEST_BAD_INPUT, "'%s' was accepted", bad[i]);
        ck_assert_msg(strstr(err.text, "lse") && strstr(err.text, "h0.N"), "'%s': %s", bad[i], err.text);
    }
    ck_assert(!attest_tensor_id_equal(id_of("h0.1"), id_of("z0.1")));
    ck_assert(!attest_tensor_id_equal(id_of("h0.1"), id_of("h0.2")));
}
END_TEST

START_TEST(draw_numbers)
{
    static const struct {
        const char *name;
        uint32_t number;
    } rows[] = { { "q", 0 },          { "gout", 1 },   { "sq", 2 },    { "k", 3 },       { "v", 4 },
                 { "gin", 5 },        { "sk", 6 },     { "b", 7 },     { "a", 8 },       { "sink", 9 },
                 { "slope", 10 },     { "gamma", 11 }, { "gain", 12 }, { "shift", 13 },  { "len", 14 },
                 { "h0.0", 15 },      { "h0.64", 79 }, { "z0.0", 80 }, { "z0.64", 144 }, { "bias", 275 },
                 { "attn_mask", 531 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_msg(attest_tensor_draw_number(id_of(rows[i].name)) == rows[i].number, "%s", rows[i].name);
}
END_TEST

/* `name:dtype[shape]` of a list of ids. */
static void describe_all(char *text, size_t size, const attest_problem *p, const attest_tensor_id *ids, size_t count)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        attest_tensor t;
        char name[32];
        attest_tensor_describe(&t, p, ids[i], 0);
        attest_tensor_id_print(name, sizeof name, ids[i]);
        used += (size_t)snprintf(text + used, size - used, "%s%s:%s[", i ? " " : "", name, attest_dtype_name(t.dtype));
        for (int a = 0; a < t.rank; a++)
            used += (size_t)snprintf(text + used, size - used, "%s%lld", a ? "," : "", (long long)t.shape[a]);
        used += (size_t)snprintf(text + used, size - used, "]");
    }
}

static const struct shape_row {
    const char *line, *inputs, *outputs;
} shape_rows[] = {
    { "b=2 hq=6 hkv=3 n=4 m=5 d=2 e=7 out=bf16", "q:f32[2,6,4,2] k:f32[2,3,5,2] v:f32[2,3,5,7]",
      "o:bf16[2,6,4,7] u:f32[2,6,4,7] z:f32[2,6,4] lse:f32[2,6,4]" },
    { "variant=softmax1 hq=2 n=3 d=1 in=f64 alibi=draw lens=draw b=2",
      "q:f64[2,2,3,1] k:f64[2,2,3,1] v:f64[2,2,3,1] sink:f64[2] slope:f64[2] len:i64[2]",
      "o:f64[2,2,3,1] u:f64[2,2,3,1] z:f64[2,2,3] lse:f64[2,2,3]" },
    { "b=2 hq=4 hkv=2 n=3 m=5 d=1 in=bf16 bias=full",
      "q:bf16[2,4,3,1] k:bf16[2,2,5,1] v:bf16[2,2,5,1] bias:bf16[2,4,3,5]",
      "o:bf16[2,4,3,1] u:f32[2,4,3,1] z:f32[2,4,3] lse:f32[2,4,3]" },
    { "b=2 hq=4 hkv=2 n=3 m=5 d=1 in=f16 bias=head", "q:f16[2,4,3,1] k:f16[2,2,5,1] v:f16[2,2,5,1] bias:f16[1,4,3,5]",
      "o:f16[2,4,3,1] u:f32[2,4,3,1] z:f32[2,4,3] lse:f32[2,4,3]" },
    { "b=2 hq=4 hkv=2 n=3 m=5 d=1 bias=batch", "q:f32[2,4,3,1] k:f32[2,2,5,1] v:f32[2,2,5,1] bias:f32[2,1,3,5]",
      "o:f32[2,4,3,1] u:f32[2,4,3,1] z:f32[2,4,3] lse:f32[2,4,3]" },
    { "b=2 hq=4 hkv=2 n=3 m=5 d=1 in=f64 bias=shared", "q:f64[2,4,3,1] k:f64[2,2,5,1] v:f64[2,2,5,1] bias:f64[1,1,3,5]",
      "o:f64[2,4,3,1] u:f64[2,4,3,1] z:f64[2,4,3] lse:f64[2,4,3]" },
    { "b=2 hq=4 hkv=2 n=3 m=5 d=1 attn_mask=full",
      "q:f32[2,4,3,1] k:f32[2,2,5,1] v:f32[2,2,5,1] attn_mask:bool[2,4,3,5]",
      "o:f32[2,4,3,1] u:f32[2,4,3,1] z:f32[2,4,3] lse:f32[2,4,3]" },
    { "b=2 hq=4 hkv=2 n=3 m=5 d=1 attn_mask=batch bias=head",
      "q:f32[2,4,3,1] k:f32[2,2,5,1] v:f32[2,2,5,1] attn_mask:bool[2,1,3,5] bias:f32[1,4,3,5]",
      "o:f32[2,4,3,1] u:f32[2,4,3,1] z:f32[2,4,3] lse:f32[2,4,3]" },
    { "variant=taylor:2 n=3 d=2 e=1 in=bf16 state=draw",
      "q:bf16[1,1,3,2] k:bf16[1,1,3,2] v:bf16[1,1,3,1] h0.0:f32[1,1,1,1] h0.1:f32[1,1,2,1] h0.2:f32[1,1,4,1] "
      "z0.0:f32[1,1,1] z0.1:f32[1,1,2] z0.2:f32[1,1,4]",
      "o:bf16[1,1,3,1] u:f32[1,1,3,1] z:f32[1,1,3] lse:f32[1,1,3] ht.0:f32[1,1,1,1] ht.1:f32[1,1,2,1] "
      "ht.2:f32[1,1,4,1] zt.0:f32[1,1,1] zt.1:f32[1,1,2] zt.2:f32[1,1,4]" },
    { "variant=quadratic n=2 d=2 e=1", "q:f32[1,1,2,2] k:f32[1,1,2,2] v:f32[1,1,2,1]",
      "o:f32[1,1,2,1] u:f32[1,1,2,1] z:f32[1,1,2] ht.2:f32[1,1,4,1] zt.2:f32[1,1,4]" },
    { "variant=linear-elu n=2 d=1 window=1", "q:f32[1,1,2,1] k:f32[1,1,2,1] v:f32[1,1,2,1]",
      "o:f32[1,1,2,1] u:f32[1,1,2,1] z:f32[1,1,2] lse:f32[1,1,2]" },
    { "variant=cosformer n=2 d=3 e=1", "q:f32[1,1,2,3] k:f32[1,1,2,3] v:f32[1,1,2,1]",
      "o:f32[1,1,2,1] u:f32[1,1,2,1] z:f32[1,1,2] lse:f32[1,1,2] ht.1:f32[1,1,6,1] zt.1:f32[1,1,6]" },
    { "variant=gdn n=2 d=2 e=3 hq=4 hkv=2 state=draw",
      "q:f32[1,4,2,2] k:f32[1,2,2,2] v:f32[1,2,2,3] b:f32[1,2,2] a:f32[1,2,2] h0.1:f32[1,2,2,3]",
      "o:f32[1,4,2,3] ht.1:f32[1,2,2,3]" },
    { "variant=gla n=2 d=3 e=1", "q:f32[1,1,2,3] k:f32[1,1,2,3] v:f32[1,1,2,1] a:f32[1,1,2,3]",
      "o:f32[1,1,2,1] u:f32[1,1,2,1] z:f32[1,1,2] ht.1:f32[1,1,3,1] zt.1:f32[1,1,3]" },
    { "variant=sla-retnet n=2 d=1 hq=4 hkv=2",
      "q:f32[1,4,2,1] sq:f32[1,4,2] k:f32[1,2,2,1] v:f32[1,2,2,1] sk:f32[1,2,2] gamma:f32[2]",
      "o:f32[1,4,2,1] u:f32[1,4,2,1] z:f32[1,4,2] ht.1:f32[1,2,1,1] zt.1:f32[1,2,1]" },
    { "variant=layernorm affine=draw gates=inout n=2 m=3 d=1 e=4",
      "q:f32[1,1,2,1] gout:f32[1,1,2] k:f32[1,1,3,1] v:f32[1,1,3,4] gin:f32[1,1,3] gain:f32[4] shift:f32[4]",
      "o:f32[1,1,2,4] u:f32[1,1,2,4] z:f32[1,1,2] lse:f32[1,1,2]" },
    { "variant=gate n=2 d=1", "q:f32[1,1,2,1] gout:f32[1,1,2] k:f32[1,1,2,1] v:f32[1,1,2,1]",
      "o:f32[1,1,2,1] u:f32[1,1,2,1] z:f32[1,1,2] lse:f32[1,1,2]" },
    { "gates=pre-out n=2 d=1", "q:f32[1,1,2,1] gout:f32[1,1,2] k:f32[1,1,2,1] v:f32[1,1,2,1]",
      "o:f32[1,1,2,1] u:f32[1,1,2,1] z:f32[1,1,2] lse:f32[1,1,2]" },
    { "variant=no-denominator gates=in n=2 d=1", "q:f32[1,1,2,1] k:f32[1,1,2,1] v:f32[1,1,2,1] gin:f32[1,1,2]",
      "o:f32[1,1,2,1] u:f32[1,1,2,1] z:f32[1,1,2] lse:f32[1,1,2]" },
    { "variant=efla n=2 d=1", "q:f32[1,1,2,1] k:f32[1,1,2,1] v:f32[1,1,2,1] b:f32[1,1,2]",
      "o:f32[1,1,2,1] ht.1:f32[1,1,1,1]" },
};

START_TEST(axis_that_reads_a_tensor)
{
    static const struct {
        const char *name;
        uint32_t axis;
    } cases[] = {
        { "q", ATTEST_AXIS_COUNT },     { "v", ATTEST_AXIS_COUNT },
        { "sq", ATTEST_AXIS_GATES },    { "sink", ATTEST_AXIS_NORM },
        { "gamma", ATTEST_AXIS_DECAY }, { "b", ATTEST_AXIS_UPDATE },
        { "h0.1", ATTEST_AXIS_STATE },  { "z0.0", ATTEST_AXIS_STATE },
        { "bias", ATTEST_AXIS_BIAS },   { "attn_mask", ATTEST_AXIS_ATTN_MASK },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attest_tensor_id id;
        attest_error err;
        ck_assert_int_eq(attest_tensor_id_parse(&id, cases[i].name, &err), ATTEST_OK);
        ck_assert_msg(attest_tensor_axis(id) == cases[i].axis, "%s", cases[i].name);
    }
}
END_TEST

START_TEST(tensors_of_variants)
{
    for (size_t i = 0; i < sizeof shape_rows / sizeof shape_rows[0]; i++) {
        const attest_problem p = problem_of(shape_rows[i].line);
        attest_tensor_id ids[ATTEST_MAX_TENSORS];
        char text[1024];
        describe_all(text, sizeof text, &p, ids, attest_problem_inputs(&p, ids, ATTEST_MAX_TENSORS));
        ck_assert_msg(strcmp(text, shape_rows[i].inputs) == 0, "%s\n gives  %s\n wanted %s", shape_rows[i].line, text,
                      shape_rows[i].inputs);
        describe_all(text, sizeof text, &p, ids, attest_problem_outputs(&p, ids, ATTEST_MAX_TENSORS));
        ck_assert_msg(strcmp(text, shape_rows[i].outputs) == 0, "%s\n gives  %s\n wanted %s", shape_rows[i].line, text,
                      shape_rows[i].outputs);
        ck_assert_uint_eq(attest_problem_inputs(&p, ids, 2), 2);
    }
}
END_TEST

START_TEST(absent_outputs_say_why)
{
    static const struct {
        const char *line, *name, *why;
    } rows[] = {
        { "variant=gdn", "u", "update" },
        { "variant=gdn", "zt.1", "no state" },
        { "variant=linear", "lse", "norm=none" },
        { "variant=linear window=3", "ht.1", "window" },
        { "variant=softmax", "ht.0", "no state" },
        { "variant=taylor:2", "ht.3", "no state" },
        { "variant=taylor:12", "ht.12", "2^40" },
        { "variant=softmax", "k", "input" },
        { "variant=taylor:2 state=draw", "h0.1", "input" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const attest_problem p = problem_of(rows[i].line);
        char why[128] = "";
        ck_assert_msg(!attest_problem_has(&p, id_of(rows[i].name), why, sizeof why), "%s has %s", rows[i].line,
                      rows[i].name);
        ck_assert_msg(strstr(why, rows[i].why) != NULL, "%s %s: '%s'", rows[i].line, rows[i].name, why);
    }
    const attest_problem p = problem_of("variant=taylor:2");
    ck_assert(!attest_problem_uses(&p, id_of("h0.1")) && !attest_problem_uses(&p, id_of("o")));
    ck_assert(!attest_problem_uses(&p, id_of("ht.1")) && attest_problem_uses(&p, id_of("q")));
}
END_TEST

START_TEST(described_layout)
{
    static const struct {
        const char *in;
        uint32_t dtype;
        int code, bits;
    } rows[] = { { "f32", ATTEST_F32, ATTEST_CODE_FLOAT, 32 },
                 { "f64", ATTEST_F64, ATTEST_CODE_FLOAT, 64 },
                 { "f16", ATTEST_F16, ATTEST_CODE_FLOAT, 16 },
                 { "bf16", ATTEST_BF16, ATTEST_CODE_BFLOAT, 16 } };
    attest_tensor t;
    for (size_t i = 0; i < 4; i++) {
        char line[64];
        snprintf(line, sizeof line, "in=%s b=2 n=3 d=5", rows[i].in);
        const attest_problem p = problem_of(line);
        attest_tensor_describe(&t, &p, id_of("k"), 0);
        ck_assert(t.struct_size == sizeof t && t.dtype == rows[i].dtype && t.code == rows[i].code);
        ck_assert(t.bits == rows[i].bits && t.lanes == 1 && t.device == ATTEST_CPU && t.data == NULL);
        ck_assert(t.stride[0] == 15 && t.stride[1] == 15 && t.stride[2] == 5 && t.stride[3] == 1);
        ck_assert_int_eq(attest_tensor_count(&t), 30);
        ck_assert_uint_eq(attest_tensor_bytes(&t), 30 * (size_t)rows[i].bits / 8);
    }
    attest_problem p = problem_of("variant=taylor:3 lens=draw b=3 d=4 e=2 hkv=1");
    attest_tensor_describe(&t, &p, id_of("len"), 0);
    ck_assert(t.rank == 1 && t.code == ATTEST_CODE_INT && t.bits == 64 && t.shape[1] == 1 && t.stride[1] == 0);
    attest_tensor_describe(&t, &p, id_of("ht.3"), 1);
    ck_assert_int_eq(t.shape[2], 20); /* C(6,3) */
    attest_tensor_describe(&t, &p, id_of("ht.3"), 0);
    ck_assert_int_eq(t.shape[2], 64);
    p = problem_of("variant=taylor:64 d=64 b=4096 n=16 hq=4096");
    attest_tensor_describe(&t, &p, id_of("h0.64"), 0);
    ck_assert(attest_tensor_bytes(&t) == SIZE_MAX);
}
END_TEST

START_TEST(elements_by_strides)
{
    static const struct {
        uint32_t dtype;
        uint64_t bits;
        double value;
    } rows[] = { { ATTEST_F32, 0x40490fdbu, 0x1.921fb6p+1 },
                 { ATTEST_F64, 0xc000000000000001u, -0x1.0000000000001p+1 },
                 { ATTEST_F16, 0x3c01u, 0x1.004p+0 },
                 { ATTEST_BF16, 0xbf81u, -0x1.02p+0 },
                 { ATTEST_I64, 0xfffffffffffffffdu, 0 } };
    for (size_t i = 0; i < 5; i++) {
        unsigned char memory[64];
        const int64_t size = (int64_t)attest_dtype_bytes(rows[i].dtype);
        attest_tensor t = {
            .dtype = rows[i].dtype, .rank = 2, .data = memory, .shape = { 2, 3, 1, 1 }, .stride = { 1, 2, 0, 0 }
        }; /* transposed */
        memset(memory, 0xa5, sizeof memory);
        const int64_t at = attest_offset(&t, 1, 2, 0, 0);
        ck_assert_int_eq(at, 5);
        attest_store_bits(&t, at, rows[i].bits);
        ck_assert_uint_eq(attest_load_bits(&t, at), rows[i].bits);
        if (rows[i].dtype == ATTEST_I64)
            ck_assert_int_eq(attest_load_int(&t, at), -3);
        else
            ck_assert(attest_load(&t, at) == rows[i].value);
        for (int64_t byte = 0; byte < 64; byte++)
            if (byte < 5 * size || byte >= 6 * size)
                ck_assert_msg(memory[byte] == 0xa5, "dtype %u: byte %lld was touched", rows[i].dtype, (long long)byte);
    }
}
END_TEST

START_TEST(bundles)
{
    attest_error err;
    attest_bundle *bundle;
    attest_tensor *t, *again, adopted;
    attest_view view;
    const attest_problem p = problem_of("variant=taylor:1 n=3 d=1 state=draw");
    ck_assert_int_eq(attest_bundle_new(&bundle, &err), ATTEST_OK);
    ck_assert_int_eq(attest_bundle_add(bundle, &p, id_of("k"), 0, &t, &err), ATTEST_OK);
    ck_assert(t == attest_bundle_role(bundle, ATTEST_K) && attest_bundle_role(bundle, ATTEST_Q) == NULL);
    for (int64_t i = 0; i < 3; i++)
        ck_assert_uint_eq(attest_load_bits(t, i), 0);
    attest_store_bits(t, 0, 7);
    ck_assert_int_eq(attest_bundle_add(bundle, &p, id_of("k"), 0, &again, &err), ATTEST_OK);
    ck_assert(again == t && attest_load_bits(again, 0) == 0);
    ck_assert_int_eq(attest_bundle_add(bundle, &p, id_of("zt.1"), 0, NULL, &err), ATTEST_OK);
    ck_assert_int_eq(attest_bundle_add(bundle, &p, id_of("h0.64"), 0, NULL, &err), ATTEST_OK);
    ck_assert_int_eq(attest_bundle_add(bundle, &p, id_of("z0.0"), 0, NULL, &err), ATTEST_OK);
    ck_assert_int_eq(attest_bundle_add(bundle, &p, id_of("ht.64"), 0, NULL, &err), ATTEST_OK);
    attest_tensor_describe(&adopted, &p, id_of("len"), 0);
    adopted.data = calloc(1, 8);
    ck_assert_int_eq(attest_bundle_adopt(bundle, id_of("len"), &adopted, &err), ATTEST_OK);
    attest_bundle_view(bundle, &view);
    const attest_view copy = view; /* a view of its own: nothing of it points into the other */
    const attest_tensors tensors = attest_view_tensors(&copy);
    ck_assert(tensors.struct_size == sizeof tensors && tensors.role_count == ATTEST_ROLE_COUNT);
    ck_assert(tensors.state_slots == ATTEST_STATE_SLOTS && tensors.role == copy.role && tensors.zt == copy.zt);
    ck_assert(tensors.role[ATTEST_K] == t && !tensors.role[ATTEST_ROLE_ROOM - 1] && !tensors.grad[ATTEST_Q]);
    ck_assert(!tensors.grad_h0[64] && tensors.zt[1] && tensors.h0[64] && tensors.ht[64] && tensors.z0[0]);
    ck_assert_uint_eq(attest_view_wanted(&copy), ATTEST_GIVES_STATE);
    ck_assert(view.role[ATTEST_K] == t && view.role[ATTEST_Q] == NULL);
    ck_assert(view.role[ATTEST_KV_LENS] && memcmp(view.role[ATTEST_KV_LENS], &adopted, sizeof adopted) == 0);
    ck_assert(view.zt[1] && !view.zt[0] && !view.ht[1] && !view.z0[1] && view.h0[64] && !view.h0[63]);
    ck_assert(attest_bundle_get(bundle, (attest_tensor_id){ 9, 0 }) == NULL);
    adopted.data = NULL;
    ck_assert_int_eq(attest_bundle_adopt(bundle, id_of("len"), &adopted, &err), ATTEST_INTERNAL);
    for (uint32_t kind = 0; kind < 6; kind++) /* a slot for each id that exists, none beyond */
        for (uint32_t index = 0; index < 70; index++) {
            const attest_tensor_id id = { kind, index };
            const int there = attest_tensor_id_equal(id, id_of("k")) || attest_tensor_id_equal(id, id_of("len")) ||
                              attest_tensor_id_equal(id, id_of("z0.0")) || attest_tensor_id_equal(id, id_of("zt.1")) ||
                              attest_tensor_id_equal(id, id_of("h0.64")) || attest_tensor_id_equal(id, id_of("ht.64"));
            ck_assert_msg((attest_bundle_get(bundle, id) != NULL) == there, "kind %u number %u", kind, index);
        }
    ck_assert_int_eq(attest_bundle_add(bundle, &p, (attest_tensor_id){ 0, 99 }, 0, &t, &err), ATTEST_INTERNAL);
    attest_bundle_free(bundle);
    attest_bundle_free(NULL);
}
END_TEST

START_TEST(memory)
{
    attest_error err;
    uint64_t bytes;
    attest_bundle *bundle;
    attest_problem p = problem_of("b=2 hq=4 hkv=2 n=3 m=5 d=7 e=6 in=bf16 out=f16");
    ck_assert_int_eq(attest_problem_memory(&p, &bytes, &err), ATTEST_OK);
    /* q, k, v in bf16; o in f16; u, z, lse in f32 */
    ck_assert_uint_eq(bytes, 2 * (2 * 4 * 3 * 7 + 2 * 2 * 5 * 7 + 2 * 2 * 5 * 6 + 2 * 4 * 3 * 6) +
                                 4 * (2 * 4 * 3 * 6 + 2 * (2 * 4 * 3)));
    p = problem_of("variant=taylor:10 d=16");
    ck_assert_msg(attest_problem_memory(&p, &bytes, &err) == ATTEST_OK, "a state that nobody asks for counts");
    p = problem_of("b=4096 hq=4096 n=16777216 d=65535");
    ck_assert_int_eq(attest_problem_memory(&p, &bytes, &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "needs 2^63 bytes or more, this machine has") != NULL, "%s", err.text);
    ck_assert_int_eq(attest_bundle_new(&bundle, &err), ATTEST_OK);
    ck_assert_int_eq(attest_bundle_add(bundle, &p, id_of("v"), 0, NULL, &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strncmp(err.text, "v needs", 7) == 0, "%s", err.text);
    ck_assert(attest_bundle_role(bundle, ATTEST_V) == NULL);
    attest_bundle_free(bundle);
}
END_TEST

Suite *suite_tensor(void)
{
    Suite *suite = suite_create("tensor");
    TCase *tcase = tcase_create("tensor");
    tcase_add_test(tcase, names_round_trip);
    tcase_add_test(tcase, draw_numbers);
    tcase_add_test(tcase, tensors_of_variants);
    tcase_add_test(tcase, axis_that_reads_a_tensor);
    tcase_add_test(tcase, absent_outputs_say_why);
    tcase_add_test(tcase, described_layout);
    tcase_add_test(tcase, elements_by_strides);
    tcase_add_test(tcase, bundles);
    tcase_add_test(tcase, memory);
    suite_add_tcase(suite, tcase);
    return suite;
}
