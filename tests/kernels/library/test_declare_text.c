/* test_declare_text.c - declarations as words: what every built-in kernel declares survives, what is no word is named.
 */
#include "kernels/library/declare_text.h"
#include "kernels/library/registry.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

Suite *suite_declare_text(void);

START_TEST(test_round_trip)
{
    const attest_library *library = attest_builtin_library();
    for (uint32_t k = 0; k < library->kernel_count; k++) {
        const attest_kernel *kernel = library->kernels[k];
        const attest_declaration given = {
            .numerics = *kernel->numerics, .form = kernel->form, .flags = kernel->flags, .outputs = kernel->outputs
        };
        attest_declaration read;
        attest_error err;
        char text[ATTEST_DECLARATION];
        ck_assert_msg(attest_declaration_print(text, sizeof text, &given, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_msg(attest_declaration_parse(&read, text, &err) == ATTEST_OK, "%s: %s", kernel->name, err.text);
        ck_assert_msg(memcmp(&read.numerics, kernel->numerics, sizeof read.numerics) == 0, "%s: %s", kernel->name,
                      text);
        ck_assert_uint_eq(read.form, given.form);
        ck_assert_uint_eq(read.flags, given.flags);
        ck_assert_uint_eq(read.outputs, given.outputs);
    }
}
END_TEST

START_TEST(test_every_field)
{
    static const char text[] =
        "form=tiled flags=deterministic,ftz,masked-finite,alibi-by-key outputs=o,lse schedule=online tile=32 splits=3 "
        "exp_error=2^-23 log2_domain=yes cast_in_sum=no p_rounding=nearest acc_truncates=yes acc_unit=2^-24 block=8 "
        "div_error=0.001 scale_dtype=f32 state_dtype=bf16 empty_row=nan division=then-cast score_dtype=f16 "
        "compensated=yes score_unit=2^-12 value_unit=2^-13 score_acc=f16 value_acc=f64 score_block=16 "
        "tanh_error=2^-20 log_error=2^-21 sigmoid_error=2^-22 expm1_error=2^-19 scaled_dtype=bf16 decay_products=yes";
    char printed[ATTEST_DECLARATION];
    attest_declaration d;
    attest_error err;
    ck_assert_msg(attest_declaration_parse(&d, text, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_uint_eq(d.numerics.schedule, ATTEST_SCHEDULE_ONLINE);
    ck_assert_uint_eq(d.numerics.scale_dtype, 1 + ATTEST_F32);
    ck_assert_uint_eq(d.numerics.empty_row, ATTEST_EMPTY_NAN);
    ck_assert_uint_eq(d.flags, ATTEST_DETERMINISTIC | ATTEST_FTZ | ATTEST_MASKED_FINITE | ATTEST_ALIBI_BY_KEY);
    ck_assert(d.numerics.exp_error == 0x1p-23 && d.numerics.div_error == 0.001 && d.numerics.tile == 32);
    ck_assert_int_eq(attest_declaration_print(printed, sizeof printed, &d, &err), ATTEST_OK);
    ck_assert_str_eq(printed, text);
    ck_assert_int_eq(attest_declaration_parse(&d, "", &err), ATTEST_OK);
    ck_assert(d.form == ATTEST_PARALLEL && d.outputs == ATTEST_GIVES_O && d.numerics.schedule == 0);
    ck_assert_int_eq(attest_declaration_print(printed, 20, &d, &err), ATTEST_INTERNAL);
}
END_TEST

START_TEST(test_refusals)
{
    static const struct {
        const char *text, *message;
    } rows[] = { { "schedule=flash", "schedule=flash: unknown, two-pass, online" },
                 { "tile=-1", "tile=-1: a whole number" },
                 { "exp_error=2^-", "exp_error=2^-: a number" },
                 { "exp_error=1", "numerics.exp_error is 1" },
                 { "scale_dtype=i64", "scale_dtype=i64: f32, f64, f16 or bf16" },
                 { "flags=deterministic,fast", "flags=deterministic,fast: deterministic, batch-invariant" },
                 { "outputs=", "outputs=: o, u, z" },
                 { "tiles=3", "'tiles=3' declares nothing" },
                 { "online", "'online' declares nothing" },
                 { "tile=3 tile=4", "tile is given twice" } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        attest_declaration d;
        attest_error err;
        ck_assert_int_eq(attest_declaration_parse(&d, rows[i].text, &err), ATTEST_BAD_INPUT);
        ck_assert_msg(strstr(err.text, rows[i].message) != NULL, "%s: %s", rows[i].text, err.text);
    }
}
END_TEST

Suite *suite_declare_text(void)
{
    Suite *s = suite_create("declare_text");
    TCase *t = tcase_create("declare_text");
    tcase_add_test(t, test_round_trip);
    tcase_add_test(t, test_every_field);
    tcase_add_test(t, test_refusals);
    suite_add_tcase(s, t);
    return s;
}
