/* isa_suite.h - the suite of a fast kernel: what isa_scene.h checks, of a table of problems.
 *
 * A test file includes it, has isa_asked() give its table, and its suite made by isa_suite().
 */
#ifndef ATTEST_TEST_ISA_SUITE_H
#define ATTEST_TEST_ISA_SUITE_H

#include "tests/kernels/fast/isa_scene.h"

typedef struct isa_asked_of {
    const char *suite, *kernel;
    attest_status (*wide)(const attest_call *call); /* its loops in the vectors of avx512, in portable code */
    const char *const *lines;                       /* beside the witness, and with those loops */
    const char *const *large;                       /* with work for four threads */
    const char *const *unseen;                      /* of 100 tokens of one head, under a causal mask */
    const int64_t *tokens;                          /* of those, the ones that are no numbers */
    size_t line_count, large_count, unseen_count, token_count;
    int seconds; /* for a case */
} isa_asked_of;

#define ISA_LIST(list) .list = list, .ISA_COUNT_##list = COUNT(list)
#define ISA_COUNT_lines line_count
#define ISA_COUNT_large large_count
#define ISA_COUNT_unseen unseen_count
#define ISA_COUNT_tokens token_count

/* The file's table. */
static const isa_asked_of *isa_asked(void);

START_TEST(test_witness) { isa_check_witness(isa_asked()->kernel, isa_asked()->lines[_i]); }
END_TEST

START_TEST(test_wide) { isa_check_wide(isa_asked()->kernel, isa_asked()->lines[_i], isa_asked()->wide); }
END_TEST

#ifdef _OPENMP /* without it there is one thread */
START_TEST(test_threads) { isa_check_threads(isa_asked()->kernel, isa_asked()->large[_i], 4); }
END_TEST
#endif

START_TEST(test_unseen)
{
    for (size_t n = 0; n < isa_asked()->token_count; n++)
        isa_check_unseen(isa_asked()->kernel, isa_asked()->unseen[_i], isa_asked()->tokens[n]);
}
END_TEST

/* The file adds what else it has to the two test cases. */
static Suite *isa_suite(TCase **numbers, TCase **bits)
{
    const isa_asked_of *asked = isa_asked();
    Suite *suite = suite_create(asked->suite);
    *numbers = tcase_create("numbers");
    *bits = tcase_create("bits");
    tcase_set_timeout(*numbers, asked->seconds);
    tcase_set_timeout(*bits, asked->seconds);
    tcase_add_loop_test(*numbers, test_witness, 0, (int)asked->line_count);
    tcase_add_loop_test(*bits, test_wide, 0, (int)asked->line_count);
#ifdef _OPENMP
    tcase_add_loop_test(*bits, test_threads, 0, (int)asked->large_count);
#endif
    tcase_add_loop_test(*bits, test_unseen, 0, (int)asked->unseen_count);
    suite_add_tcase(suite, *numbers);
    suite_add_tcase(suite, *bits);
    return suite;
}

#endif
