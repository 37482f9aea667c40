/* test_repro.c - props/repro: what is printed is read back bit for bit; whatever else is refused in one line. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/draw/rng.h"
#include "props/shrink/repro.h"

Suite *suite_repro(void);

/* CRC-32 by table of nibbles: another way than repro.c. */
static uint32_t crc_of(const char *text, size_t len)
{
    uint32_t table[16], crc = 0xffffffffu;
    for (uint32_t k = 0; k < 16; k++) {
        table[k] = k;
        for (int bit = 0; bit < 4; bit++)
            table[k] = table[k] % 2 ? 0xedb88320u ^ table[k] / 2 : table[k] / 2;
    }
    for (size_t k = 0; k < len; k++) {
        crc = table[(crc ^ (unsigned char)text[k]) % 16] ^ crc / 16;
        crc = table[(crc ^ (unsigned char)text[k] / 16u) % 16] ^ crc / 16;
    }
    return crc ^ 0xffffffffu;
}

static attest_repro repro_of(const char *line, const char *kernel, uint32_t number, int explicit_values)
{
    attest_repro repro = { .property = "key-permutation" };
    attest_case c;
    attest_error err;
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_example_draw(&repro.example, &c, number, &err) == ATTEST_OK, "%s", err.text);
    repro.example.explicit_values = explicit_values;
    snprintf(repro.kernel, sizeof repro.kernel, "%s", kernel);
    return repro;
}

static char *printed(const attest_repro *repro)
{
    char *text;
    attest_error err;
    ck_assert_msg(attest_repro_print(&text, repro, &err) == ATTEST_OK, "%s", err.text);
    return text;
}

static int same(const attest_repro *a, const attest_repro *b)
{
    const attest_problem *p = &a->example.c.problem;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    int equal = strcmp(a->property, b->property) == 0 && strcmp(a->kernel, b->kernel) == 0 &&
                a->example.number == b->example.number && a->example.explicit_values == b->example.explicit_values &&
                memcmp(p, &b->example.c.problem, sizeof *p) == 0 && a->example.c.seed == b->example.c.seed &&
                strcmp(a->example.c.family, b->example.c.family) == 0 &&
                strcmp(a->example.c.preset, b->example.c.preset) == 0;
    for (size_t k = 0; equal && k < count; k++) {
        const attest_tensor *t = attest_bundle_get(a->example.inputs, ids[k]);
        const attest_tensor *other = attest_bundle_get(b->example.inputs, ids[k]);
        equal = other && memcmp(t->data, other->data, attest_tensor_bytes(t)) == 0;
    }
    return equal;
}

/* ---- there and back ----------------------------------------------------------------------------------------- */

static const char *const lines[] = {
    "n=2 d=2",
    "variant=softmax1 b=2 hq=4 hkv=2 n=3 m=4 d=2 e=3 in=bf16 mask=causal-br lens=draw alibi=draw",
    "variant=taylor:2 n=2 d=2 state=draw mask=causal decay=retnet gates=inout",
    "variant=gdn n=3 d=2 in=f16 seed=18446744073709551615",
    "variant=gla n=2 d=3 in=f64 scale=0.3 family=range:0.5",
    "variant=rmsnorm affine=draw eps=0.001 n=2 d=1 family=normal:2",
    "variant=sla n=2 d=2 hq=2 chunk=3 splits=2",
};
enum { LINES = sizeof lines / sizeof lines[0] };

START_TEST(there_and_back)
{
    for (int explicit_values = 0; explicit_values < 2; explicit_values++) {
        attest_error err;
        attest_repro repro = repro_of(lines[_i], "lib dir/a%b,c:d.so:my-kernel", 0xffffffffu, explicit_values), again;
        if (explicit_values) { /* no drawn value, and one that is no number */
            attest_store_bits(attest_bundle_role(repro.example.inputs, ATTEST_V), 0, 0x7f);
            attest_store_bits(attest_bundle_role(repro.example.inputs, ATTEST_Q), 1,
                              attest_from_f64(repro.example.c.problem.in, (double)__builtin_nanf("")));
        }
        char *text = printed(&repro), *second;
        ck_assert_msg(attest_repro_parse(&again, text, &err) == ATTEST_OK, "%s: %s", text, err.text);
        ck_assert_msg(same(&repro, &again), "%s", text);
        second = printed(&again);
        ck_assert_str_eq(text, second);
        ck_assert_uint_eq(strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.=/+:,%"),
                          strlen(text)); /* a word to any shell */
        ck_assert_int_eq(strstr(text, ":q=") != NULL, explicit_values);
        free(text);
        free(second);
        attest_repro_clear(&repro);
        attest_repro_clear(&again);
    }
}
END_TEST

/* Repro ids of this version mean what they meant when it was new. */
START_TEST(known_tokens)
{
    static const char drawn[] = "av1:key-permutation:softmax-two-pass-f32:7:variant=softmax,n=1,m=2,d=1";
    static const char values[] = "av1:run:a.so%3Ab:0:variant=softmax,n=1,m=2,d=1,lens=draw:q=3f800000:k=0.1:v=bf800000."
                                 "7fc00000:len=2";
    char text[400];
    attest_error err;
    attest_repro repro;
    ck_assert_uint_eq(crc_of("123456789", 9), 0xcbf43926u);
    snprintf(text, sizeof text, "%s:%08x", drawn, crc_of(drawn, strlen(drawn)));
    ck_assert_msg(attest_repro_parse(&repro, text, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_str_eq(repro.kernel, "softmax-two-pass-f32");
    ck_assert(repro.example.number == 7 && repro.example.c.problem.m == 2 && !repro.example.explicit_values);
    attest_repro other = repro_of("n=1 m=2 d=1", "softmax-two-pass-f32", 7, 0);
    ck_assert(same(&repro, &other));
    attest_bundle *drawn_again;
    ck_assert(attest_bundle_new(&drawn_again, &err) == ATTEST_OK);
    ck_assert(attest_draw_missing(drawn_again, &repro.example.c, 7, 0, &err) == ATTEST_OK);
    ck_assert_mem_eq(attest_bundle_role(drawn_again, ATTEST_K)->data,
                     attest_bundle_role(repro.example.inputs, ATTEST_K)->data, 8);
    attest_bundle_free(drawn_again);
    char *again = printed(&other);
    ck_assert_str_eq(again, text);
    free(again);
    attest_repro_clear(&repro);
    attest_repro_clear(&other);
    snprintf(text, sizeof text, "%s:%08x", values, crc_of(values, strlen(values)));
    /* the line is printed in its own order: this one is not canonical */
    ck_assert_int_eq(attest_repro_parse(&repro, text, &err), ATTEST_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "canonical"));
}
END_TEST

static const struct {
    const char *body, *says; /* without CRC */
} wrong[] = {
    { "av1:run:k:0:variant=softmax,lens=draw,n=1,m=2,d=1:q=0:k=0.0:v=0.0:len=3", "len is at most m" },
    { "av1:run:k:0:variant=softmax,n=1,d=1:q=0:k=0", "tensor v is missing" },
    { "av1:run:k:0:variant=softmax,n=1,d=1:q=0:v=0:k=0", "tensor k is missing" },
    { "av1:run:k:0:variant=softmax,n=1,d=1:q=0.0:k=0:v=0", "q has 1 values of type f32" },
    { "av1:run:k:0:variant=softmax,n=2,d=1:q=0:k=0.0:v=0.0", "q has 2 values" },
    { "av1:run:k:0:variant=softmax,n=1,d=1:q=:k=0:v=0", "q has 1 values" },
    { "av1:run:k:0:variant=softmax,n=1,d=1:q=100000000:k=0:v=0", "q has 1 values" },
    { "av1:run:k:0:variant=softmax,n=1,d=1,in=bf16:q=10000:k=0:v=0", "q has 1 values of type bf16" },
    { "av1:run:k:0:variant=softmax,n=1,d=1:q=00:k=0:v=0", "q has 1 values" },
    { "av1:run:k:0:variant=softmax,n=1,d=1:q=A:k=0:v=0", "q has 1 values" },
    { "av1:run:k:0:variant=softmax,n=1,d=1:q=0:k=0:v=0:z=0", "more tensors" },
    { "av1:run:k:0:variant=softmax,n=1,d=1:", "tensor q is missing" },
    { "av1:run:k:0:variant=softmax,n=100000,d=8:q=0", "q has 800000 values" },
    { "av1:run:k:0:variant=softmax,n=0,d=1", "n=0" },
    { "av1:run:k:0:variant=softmax,n=1,d=1,nonsense=2", "unknown key" },
    { "av1:run:k:0:variant=softmax,n=1,d=1,family=nonsense", "nonsense" },
    { "av1:run:k:0:variant=softmax,n=64,d=1", "canonical" },
    { "av1:run:k:0:n=1%2", "no problem line" },
    { "av1:run:k:0:n=1 d=1", "no problem line" },
    { "av1:run:k:0:n=1%00", "no problem line" },
    { "av1:run:k:0:", "no problem line" },
    { "av1:run:k:0", "no problem line" },
    { "av1:run:k:4294967296:n=1", "number of the case" },
    { "av1:run:k:01:n=1", "number of the case" },
    { "av1:run:k:-1:n=1", "number of the case" },
    { "av1:run:k", "number of the case" },
    { "av1:run::0:n=1", "no kernel" },
    { "av1:run", "no kernel" },
    { "av1::k:0:n=1", "no property" },
    { "av1:a-property-name-that-is-much-longer-than-any-other-name-of-a-property:k:0:n=1", "no property" },
};

START_TEST(each_mistake_has_its_words)
{
    char text[400];
    attest_error err = { "" };
    attest_repro repro;
    snprintf(text, sizeof text, "%s:%08x", wrong[_i].body, crc_of(wrong[_i].body, strlen(wrong[_i].body)));
    ck_assert_int_eq(attest_repro_parse(&repro, text, &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, wrong[_i].says) && strncmp(err.text, "repro id: ", 10) == 0, "%s: %s", text,
                  err.text);
    ck_assert(repro.example.inputs == NULL);
}
END_TEST

START_TEST(other_words)
{
    attest_error err = { "" };
    attest_repro repro;
    ck_assert_int_eq(attest_repro_parse(&repro, "", &err), ATTEST_BAD_INPUT);
    ck_assert_int_eq(attest_repro_parse(&repro, "n=4 d=2", &err), ATTEST_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "does not begin with av1:"));
    ck_assert_int_eq(attest_repro_parse(&repro, "av2:run:k:0:n=1:00000000", &err), ATTEST_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "another version"));
    ck_assert_int_eq(attest_repro_parse(&repro, "av1:", &err), ATTEST_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "CRC"));
    ck_assert_int_eq(attest_repro_parse(&repro, "av1:run:k:0:n=1:00000000", &err), ATTEST_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "CRC"));
}
END_TEST

START_TEST(long_ones_are_not_printed)
{
    attest_error err;
    attest_repro repro = repro_of("n=4096 d=4", "k", 0, 1);
    char *text = printed(&repro);
    ck_assert_ptr_null(text);
    repro.example.explicit_values = 0; /* drawn: as short as any */
    text = printed(&repro);
    ck_assert_ptr_nonnull(text);
    free(text);
    attest_repro_clear(&repro);
    char *huge = calloc(ATTEST_REPRO_MOST + 2, 1);
    memset(huge, 'a', ATTEST_REPRO_MOST + 1);
    memcpy(huge, "av1:", 4);
    ck_assert_int_eq(attest_repro_parse(&repro, huge, &err), ATTEST_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "too long"));
    free(huge);
}
END_TEST

/* ---- damage ------------------------------------------------------------------------------------------------- */

/* Cuts, flips, swaps, copies at a place that the stream of draws says. */
static void damage(char *text, size_t room, uint32_t number)
{
    uint32_t w[4];
    const attest_stream stream = { 77, number, 0 };
    attest_draw_words(w, &stream, 0, 0);
    const size_t len = strlen(text), at = w[0] % len, other = w[1] % len;
    switch (w[2] % 6) {
    case 0: text[at] = '\0'; break;
    case 1: text[at] ^= (char)(1u << w[3] % 8); break;
    case 2: memmove(text + at, text + at + 1, len - at); break;
    case 3: text[at] = text[other]; break;
    case 4: text[at] = "0:.,=%afnmd-1"[w[3] % 13]; break;
    default:
        if (len + 1 < room) {
            memmove(text + at + 1, text + at, len - at + 1);
            text[at] = text[other];
        }
    }
}

/* With the CRC mended, so that the parts are met too. */
static void mend(char *text, size_t room)
{
    char *last = strrchr(text, ':');
    if (!last || (size_t)(last - text) + 10 > room)
        return;
    snprintf(last, 10, ":%08x", crc_of(text, (size_t)(last - text)));
}

static void expect_refusal_or_same(const char *text, const attest_repro *repro, int mended)
{
    attest_error err = { "" };
    attest_repro got;
    const attest_status status = attest_repro_parse(&got, text, &err);
    if (status != ATTEST_OK) {
        ck_assert_msg(status == ATTEST_BAD_INPUT || status == ATTEST_NO_MEMORY, "%s: %d", text, (int)status);
        ck_assert_msg(err.text[0] && !strchr(err.text, '\n') && got.example.inputs == NULL, "%s: %s", text, err.text);
        return;
    }
    if (!mended)
        ck_assert_msg(same(&got, repro), "%s", text);
    char *again = printed(&got); /* what is accepted is a repro like any other */
    if (again) {
        attest_repro third;
        ck_assert_msg(attest_repro_parse(&third, again, &err) == ATTEST_OK && same(&got, &third), "%s: %s", text,
                      err.text);
        attest_repro_clear(&third);
    }
    free(again);
    attest_repro_clear(&got);
}

START_TEST(damage_is_seen)
{
    char text[4096];
    attest_repro repro = repro_of(lines[_i], "k.so:a", 12, 1);
    char *whole = printed(&repro);
    for (uint32_t round = 0; round < 1500; round++) {
        const int mended = round % 2;
        ck_assert_int_lt(snprintf(text, sizeof text - 16, "%s", whole), (int)sizeof text - 16);
        for (uint32_t times = 0; times <= round % 3 && *text; times++)
            damage(text, sizeof text - 16, 3 * round + times + 10000 * (uint32_t)_i);
        if (mended)
            mend(text, sizeof text);
        expect_refusal_or_same(text, &repro, mended);
    }
    free(whole);
    attest_repro_clear(&repro);
}
END_TEST

Suite *suite_repro(void)
{
    Suite *suite = suite_create("props_token");
    TCase *tc = tcase_create("repro");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, there_and_back, 0, LINES);
    tcase_add_test(tc, known_tokens);
    tcase_add_loop_test(tc, each_mistake_has_its_words, 0, sizeof wrong / sizeof wrong[0]);
    tcase_add_test(tc, other_words);
    tcase_add_test(tc, long_ones_are_not_printed);
    tcase_add_loop_test(tc, damage_is_seen, 0, LINES);
    suite_add_tcase(suite, tc);
    return suite;
}
