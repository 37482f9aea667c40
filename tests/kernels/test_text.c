/* test_text.c - text from outside, made clean. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/status.h"
#include "kernels/text.h"

Suite *suite_text(void);

static const struct {
    const char *from, *to;
} texts[] = {
    { "softmax-f32", "softmax-f32" },
    { "", "" },
    { "<script>alert(1)</script>", "<script>alert(1)</script>" }, /* a writer's business */
    { "=cmd|' /C calc'!A0", "=cmd|' /C calc'!A0" },
    { "a\x1b]0;owned\x07z", "a\\x1b]0;owned\\x07z" },
    { "two\nlines\r\tand a tab", "two\\x0alines\\x0d\\x09and a tab" },
    { "\x7f", "\\x7f" },
    { "caf\xc3\xa9 \xe2\x88\x91 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x88\x91 \xf0\x9f\x98\x80" },
    { "\xff\xfe", "\\xff\\xfe" },
    { "\xc3", "\\xc3" },                            /* cut */
    { "\xc0\xaf", "\\xc0\\xaf" },                   /* overlong */
    { "\xed\xa0\x80", "\\xed\\xa0\\x80" },          /* a surrogate */
    { "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* beyond the last code point */
    { "\xe2\x80\xaegnp.exe", "\\u{202e}gnp.exe" },
    { "\xc2\x9b"
      "31m",
      "\\u{009b}31m" }, /* CSI in one character */
    { "\xe2\x80\xa8", "\\u{2028}" },
    { "\xef\xbf\xbd\xef\xbf\xbe\xef\xbf\xbf", "\xef\xbf\xbd\\u{fffe}\\u{ffff}" },
    { "\xf0\x9f\xbf\xbf", "\\u{1ffff}" },
};

START_TEST(cleaned)
{
    char got[256];
    const int same = attest_text_clean(got, sizeof got, texts[_i].from);
    ck_assert_msg(strcmp(got, texts[_i].to) == 0, "`%s`, not `%s`", got, texts[_i].to);
    ck_assert_int_eq(same, strcmp(texts[_i].from, texts[_i].to) == 0);
    char own[256];
    strcpy(own, texts[_i].from);
    attest_text_clean_own(own, sizeof own);
    ck_assert_str_eq(own, texts[_i].to);
    char twice[256];
    ck_assert_int_eq(attest_text_clean(twice, sizeof twice, got), 1); /* clean text stays */
}
END_TEST

/* Cut before the character, or the escape, that has no room. */
START_TEST(cut)
{
    static const char from[] = "ab\xc3\xa9\xe2\x88\x91\x1bz";
    static const char *const want[] = { "",           "a",          "ab",         "ab",
                                        "ab\xc3\xa9", "ab\xc3\xa9", "ab\xc3\xa9", "ab\xc3\xa9\xe2\x88\x91" };
    char got[16];
    for (size_t size = 1; size <= 8; size++) {
        memset(got, 'x', sizeof got);
        ck_assert_int_eq(attest_text_clean(got, size, from), 0);
        ck_assert_msg(strcmp(got, want[size - 1]) == 0, "%zu: `%s`", size, got);
        ck_assert_int_eq(got[size], 'x');
    }
    char *large = malloc(10001), small[64];
    memset(large, 'n', 10000);
    large[10000] = '\0';
    ck_assert_int_eq(attest_text_clean(small, sizeof small, large), 0);
    ck_assert_uint_eq(strlen(small), sizeof small - 1);
    free(large);
}
END_TEST

/* Messages are clean whatever is put into them. */
START_TEST(messages)
{
    attest_error err;
    attest_fail(&err, ATTEST_BAD_INPUT, "%s: no such file", "\x1b[2Jx\n.npy");
    ck_assert_str_eq(err.text, "\\x1b[2Jx .npy: no such file");
    attest_fail_prefix(&err, ATTEST_BAD_INPUT, "a\xff");
    ck_assert_str_eq(err.text, "a\\xff: \\x1b[2Jx .npy: no such file");
}
END_TEST

Suite *suite_text(void)
{
    Suite *s = suite_create("text");
    TCase *t = tcase_create("clean");
    tcase_add_loop_test(t, cleaned, 0, sizeof texts / sizeof texts[0]);
    tcase_add_test(t, cut);
    tcase_add_test(t, messages);
    suite_add_tcase(s, t);
    return s;
}
