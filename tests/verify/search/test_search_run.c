/* test_search_run.c - verify/search_*, case_file.h: what a candidate is worth, searches with any number of threads,
 * case files, and the committed worst cases.
 */
#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/library/registry.h"
#include "props/draw/draw.h"
#include "tests/memory_use.h"
#include "verify/case_file/case_file.h"
#include "verify/gate/gate.h"
#include "verify/search/search.h"

Suite *suite_search_run(void);

static const char *const worker_path = ATTEST_TEST_BUILD "/attest-worker";

static void setup(void) { setenv("ATTEST_WORKER", worker_path, 1); }

static attest_case parse(const char *line)
{
    attest_case c;
    attest_error err;
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    return c;
}

static void start(attest_subject *subject, const char *library, const char *kernel)
{
    attest_error err;
    *subject = (attest_subject){ .library = library, .program = "attest" };
    ck_assert_msg(attest_worker_start(&subject->worker, library, 10, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_find_kernel(subject, kernel, &err) == ATTEST_OK, "%s", err.text);
}

/* ---- the figure of a candidate --------------------------------------------------------------------------------- */
/* The figure is that of the row which all checks of a case give. */
START_TEST(figures_are_the_rows)
{
    static const struct {
        const char *kernel, *line;
    } cases[] = {
        { "softmax-two-pass-f32", "variant=softmax n=2 m=5 d=2 e=3 hq=2 hkv=1 b=2" },
        { "softmax-online-bf16", "variant=softmax n=1 m=8 d=2 e=1 in=bf16 p=bf16" },
        { "taylor-recurrent-f32", "variant=taylor:2 n=3 d=2 mask=causal" },
        { "delta-recurrent-f32", "variant=deltanet n=4 d=2 e=2 mask=causal" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        attest_subject subject;
        attest_evaluator ev;
        attest_result row;
        attest_error err;
        const attest_case c = parse(cases[k].line);
        double figure[ATTEST_OBJECTIVE_COUNT];
        int supported;
        start(&subject, NULL, cases[k].kernel);
        for (uint32_t o = 0; o < 3; o++) {
            ck_assert(attest_evaluator_init(&ev, &c, NULL, &subject, o, 10, &err) == ATTEST_OK);
            ck_assert(attest_evaluate(&figure[o], &ev, &err) == ATTEST_OK);
            ck_assert_int_eq(ev.evaluations, 1);
            ck_assert_int_eq(ev.refuted, 0);
            if (o == 0)
                ck_assert(attest_run_case(&row, &supported, &ev.prepared, &subject, NULL, 10, &err) == ATTEST_OK);
            attest_evaluator_clear(&ev);
        }
        ck_assert_int_eq(row.verdict, ATTEST_PASS);
        ck_assert_double_eq(figure[ATTEST_OBJECTIVE_RATIO], row.ratio_hi);
        ck_assert_double_eq(figure[ATTEST_OBJECTIVE_ULP], row.ulp_hi);
        ck_assert(figure[ATTEST_OBJECTIVE_KAPPA] >= 1 - 1e-12);
        attest_worker_free(subject.worker);
    }
}
END_TEST

static attest_tensor *input(attest_evaluator *ev, attest_role role)
{
    return attest_bundle_role(ev->prepared.inputs, role);
}

static void store(attest_tensor *t, int64_t at, float x) { ((float *)t->data)[at] = x; }

/* kappa: two keys of equal weight, v = 1 and -1+2^-10: o = 2^-11, and its abs_scale is near 1, so 2^11 and not much
 * more. state: S after keys 1 and 1 with b = 1 is v_1 (the delta rule overwrites), sums are v_0 + v_1. */
START_TEST(kappa_and_state)
{
    attest_subject subject;
    attest_evaluator ev;
    attest_error err;
    double figure;
    start(&subject, NULL, "softmax-two-pass-f32");
    attest_case c = parse("variant=softmax n=1 m=2 d=1 e=1");
    ck_assert(attest_evaluator_init(&ev, &c, NULL, &subject, ATTEST_OBJECTIVE_KAPPA, 10, &err) == ATTEST_OK);
    store(input(&ev, ATTEST_Q), 0, 0);
    store(input(&ev, ATTEST_V), 0, 1);
    store(input(&ev, ATTEST_V), 1, -1 + 0x1p-10f);
    ck_assert(attest_evaluate(&figure, &ev, &err) == ATTEST_OK);
    ck_assert_msg(figure > 2000 && figure < 4100, "kappa %g", figure);
    attest_evaluator_clear(&ev);
    ck_assert_int_eq(attest_evaluator_init(&ev, &c, NULL, &subject, ATTEST_OBJECTIVE_STATE, 10, &err),
                     ATTEST_BAD_INPUT);
    attest_worker_free(subject.worker);
    start(&subject, NULL, "taylor-recurrent-f32");
    c = parse("variant=linear n=2 d=1 e=1 mask=causal");
    ck_assert(attest_evaluator_init(&ev, &c, NULL, &subject, ATTEST_OBJECTIVE_STATE, 10, &err) == ATTEST_OK);
    for (int j = 0; j < 2; j++) {
        store(input(&ev, ATTEST_K), j, 4);
        store(input(&ev, ATTEST_V), j, j ? 3 : 2);
    }
    ck_assert(attest_evaluate(&figure, &ev, &err) == ATTEST_OK);
    ck_assert_double_eq_tol(figure, 4 * (2 + 3) / (3.0 * 4), 1e-12);
    attest_evaluator_clear(&ev);
    attest_worker_free(subject.worker);
}
END_TEST

/* Given inputs are used; others are drawn. */
START_TEST(given_inputs)
{
    attest_subject subject;
    attest_prepared prepared;
    attest_bundle *given;
    attest_tensor *q;
    attest_error err;
    const attest_case c = parse("variant=softmax n=1 m=2 d=1");
    start(&subject, NULL, "softmax-two-pass-f32");
    ck_assert(attest_bundle_new(&given, &err) == ATTEST_OK);
    ck_assert(attest_bundle_add(given, &c.problem, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_Q }, 0, &q, &err) ==
              ATTEST_OK);
    store(q, 0, 77);
    ck_assert(attest_prepare_inputs(&prepared, &c, given, &err) == ATTEST_OK);
    ck_assert_double_eq(attest_load(attest_bundle_role(prepared.inputs, ATTEST_Q), 0), 77);
    ck_assert_ptr_nonnull(attest_bundle_role(prepared.inputs, ATTEST_V));
    ck_assert_ptr_null(prepared.exp_truth);
    attest_prepared_clear(&prepared);
    attest_case bad = c;
    bad.problem.axis[ATTEST_AXIS_FEATURE].value = 31; /* a feature that no engine has */
    ck_assert(attest_bundle_new(&given, &err) == ATTEST_OK);
    ck_assert_int_eq(attest_prepare_inputs(&prepared, &bad, given, &err), ATTEST_BAD_INPUT);
    ck_assert_ptr_null(prepared.inputs);
    ck_assert_int_eq(attest_find_kernel(&subject, "nosuch", &err), ATTEST_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "the built-in library"));
    ck_assert_int_eq(attest_find_kernel(&subject, NULL, &err), ATTEST_BAD_INPUT);
    attest_worker_free(subject.worker);
}
END_TEST

static attest_subject memory_subject; /* memory_stays() takes no context */

static void evaluate_twice(void)
{
    attest_evaluator ev;
    attest_error err;
    double figure;
    const attest_case c = parse("variant=softmax n=16 m=16 d=8");
    ck_assert(attest_evaluator_init(&ev, &c, NULL, &memory_subject, 0, 10, &err) == ATTEST_OK);
    for (int round = 0; round < 2; round++)
        ck_assert(attest_evaluate(&figure, &ev, &err) == ATTEST_OK);
    attest_evaluator_clear(&ev);
}

START_TEST(evaluator_memory)
{
    start(&memory_subject, NULL, "softmax-two-pass-f32");
    ck_assert_msg(memory_stays(evaluate_twice), "an evaluator leaves something behind");
    attest_worker_free(memory_subject.worker);
}
END_TEST

/* What a kernel does not survive, or an error above the bound, is counted, and the figure is infinite where there is no
 * number. */
START_TEST(refuted)
{
    static const struct {
        const char *library, *why;
        int infinite;
    } cases[] = {
        { ATTEST_TEST_BUILD "/plugins/nan.so", "no finite number, or an error where the bound is 0", 1 },
        { ATTEST_TEST_BUILD "/plugins/segfault.so", "run() ended the process with", 1 },
        { ATTEST_TEST_BUILD "/plugins/unwritten.so", "was never written", 1 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        attest_subject subject;
        attest_evaluator ev;
        attest_error err;
        double figure;
        const attest_case c = parse("variant=softmax n=2 m=3 d=2");
        start(&subject, cases[k].library, NULL);
        ck_assert_msg(attest_evaluator_init(&ev, &c, NULL, &subject, 0, 10, &err) == ATTEST_OK, "%s", err.text);
        for (int round = 0; round < 2; round++)
            ck_assert(attest_evaluate(&figure, &ev, &err) == ATTEST_OK);
        ck_assert_int_eq(ev.refuted, k == 1 ? 0 : 2); /* a death says nothing of numbers */
        ck_assert_int_eq(ev.crashed, k == 1 ? 2 : 0);
        ck_assert_msg(strstr(ev.why, cases[k].why) != NULL, "%s: %s", cases[k].library, ev.why);
        ck_assert_int_eq(isinf(figure), cases[k].infinite);
        attest_evaluator_clear(&ev);
        attest_worker_free(subject.worker);
    }
}
END_TEST

/* ---- searches ------------------------------------------------------------------------------------------------ */
static attest_search_found find(uint32_t strategy, long evaluations, long jobs)
{
    attest_search_found found;
    attest_error err;
    const attest_search_request request = { .c = parse("variant=softmax n=1 m=3 d=2 e=1"),
                                            .kernel = "softmax-two-pass-f32",
                                            .program = "attest",
                                            .strategy = strategy,
                                            .seed = 11,
                                            .evaluations = evaluations,
                                            .jobs = jobs,
                                            .timeout_s = 10 };
    ck_assert_msg(attest_search_find(&found, &request, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_int_eq(found.evaluations, evaluations);
    return found;
}

static double figure_of(attest_search_found *found)
{
    const attest_case c = parse("variant=softmax n=1 m=3 d=2 e=1");
    attest_subject subject;
    attest_evaluator ev;
    attest_error err;
    double figure;
    start(&subject, NULL, "softmax-two-pass-f32");
    ck_assert(attest_evaluator_init(&ev, &c, found->inputs, &subject, 0, 10, &err) == ATTEST_OK);
    found->inputs = NULL;
    ck_assert(attest_evaluate(&figure, &ev, &err) == ATTEST_OK);
    attest_evaluator_clear(&ev);
    attest_worker_free(subject.worker);
    return figure;
}

START_TEST(any_number_of_threads)
{
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    for (uint32_t strategy = 0; strategy < ATTEST_STRATEGY_COUNT; strategy++) {
        attest_search_found one = find(strategy, 402, 1), two = find(strategy, 402, 2);
        ck_assert_uint_eq(one.chain, two.chain);
        for (size_t k = 0; k < 3; k++) {
            const attest_tensor *a = attest_bundle_role(one.inputs, roles[k]),
                                *b = attest_bundle_role(two.inputs, roles[k]);
            ck_assert(memcmp(a->data, b->data, attest_tensor_bytes(a)) == 0);
        }
        for (int k = 0; strategy == ATTEST_STRATEGY_ANNEAL && k < ATTEST_PHASE_COUNT; k++)
            ck_assert(memcmp(&one.reached[k], &two.reached[k], sizeof(double)) == 0);
        ck_assert(figure_of(&one) == figure_of(&two)); /* takes the inputs */
    }
}
END_TEST

START_TEST(found_and_cleared)
{
    attest_search_found found = find(ATTEST_STRATEGY_RANDOM, 4, 1);
    ck_assert_ptr_nonnull(found.inputs);
    attest_search_found_clear(&found);
    ck_assert_ptr_null(found.inputs);
}
END_TEST

/* random: the largest of draws 1 to N of the seed, no more and no less; the search finds more. */
START_TEST(draws_and_search)
{
    const attest_case c = parse("variant=softmax n=1 m=3 d=2 e=1 seed=11");
    enum { N = 41 };
    attest_subject subject;
    attest_evaluator ev;
    attest_error err;
    double largest = 0, figure;
    start(&subject, NULL, "softmax-two-pass-f32");
    ck_assert(attest_evaluator_init(&ev, &c, NULL, &subject, 0, 10, &err) == ATTEST_OK);
    for (uint32_t k = 1; k <= N; k++) {
        for (uint32_t role = 0; role < 5; role++)
            if (attest_problem_uses(&c.problem, (attest_tensor_id){ ATTEST_KIND_ROLE, role }))
                ck_assert(attest_draw_tensor(ev.prepared.inputs, &c, (attest_tensor_id){ ATTEST_KIND_ROLE, role }, k, 0,
                                             &err) == ATTEST_OK);
        ck_assert(attest_evaluate(&figure, &ev, &err) == ATTEST_OK);
        largest = fmax(largest, figure);
    }
    attest_evaluator_clear(&ev);
    attest_worker_free(subject.worker);
    attest_search_found draws = find(ATTEST_STRATEGY_RANDOM, N, 2), more = find(ATTEST_STRATEGY_RANDOM, 1500, 2),
                        search = find(ATTEST_STRATEGY_ANNEAL, 1500, 2);
    ck_assert_double_eq(figure_of(&draws), largest);
    const double reached = search.reached[ATTEST_PHASE_BOXES], got = figure_of(&search);
    ck_assert_double_eq_tol(got, reached, 1e-9);
    ck_assert_msg(got > 1.2 * figure_of(&more), "search finds %g, draws %g", got, figure_of(&more));
}
END_TEST

/* ---- case files ---------------------------------------------------------------------------------------------- */
static char folder[] = "/tmp/attest-search-XXXXXX";

static void make_folder(void)
{
    setup();
    strcpy(folder, "/tmp/attest-search-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(case_file_keeps_bits)
{
    static const char *const lines[] = { "variant=softmax n=2 m=3 d=2 in=bf16 p=bf16", "variant=gdn n=3 d=2 in=f16",
                                         "variant=softmax n=2 m=2 d=2 lens=draw in=f64",
                                         "variant=softmax family=huge n=2",
                                         "variant=linear state=draw n=2 d=2 mask=causal" };
    for (size_t l = 0; l < sizeof lines / sizeof lines[0]; l++) {
        attest_case_file file = { .c = parse(lines[l]), .value = 0x1.23456789abcdep-3, .evaluations = 12, .seed = 34 };
        attest_case_file back;
        attest_error err;
        char path[64];
        attest_tensor_id ids[ATTEST_MAX_TENSORS];
        strcpy(file.kernel, "k");
        strcpy(file.objective, "ratio");
        strcpy(file.strategy, "anneal");
        ck_assert(attest_bundle_new(&file.inputs, &err) == ATTEST_OK);
        ck_assert(attest_draw_missing(file.inputs, &file.c, 0, 0, &err) == ATTEST_OK);
        snprintf(path, sizeof path, "%s/a.case", folder);
        ck_assert_msg(attest_case_file_write(&file, path, "why", &err) == ATTEST_OK, "%s", err.text);
        ck_assert_msg(attest_case_file_read(&back, path, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_uint_eq(attest_case_hash(&back.c), attest_case_hash(&file.c));
        ck_assert(back.value == file.value && back.evaluations == 12 && back.seed == 34);
        ck_assert_str_eq(back.kernel, "k");
        ck_assert_str_eq(back.objective, "ratio");
        ck_assert_str_eq(back.strategy, "anneal");
        const size_t count = attest_problem_inputs(&file.c.problem, ids, ATTEST_MAX_TENSORS);
        for (size_t i = 0; i < count; i++) {
            const attest_tensor *a = attest_bundle_get(file.inputs, ids[i]);
            const attest_tensor *b = attest_bundle_get(back.inputs, ids[i]);
            ck_assert(memcmp(a->data, b->data, attest_tensor_bytes(a)) == 0);
        }
        attest_case_file_clear(&file);
        attest_case_file_clear(&back);
        ck_assert_ptr_null(back.inputs);
    }
    attest_case_file none = { .c = parse("n=1") };
    attest_error err;
    ck_assert(attest_bundle_new(&none.inputs, &err) == ATTEST_OK);
    ck_assert(attest_draw_missing(none.inputs, &none.c, 0, 0, &err) == ATTEST_OK);
    ck_assert_int_eq(attest_case_file_write(&none, "/nosuch/folder/a.case", "why", &err), ATTEST_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "/nosuch/folder/a.case"));
    attest_case_file_clear(&none);
}
END_TEST

/* A good file with one text replaced: the message names the file and says what is wrong. */
START_TEST(case_file_refusals)
{
    static const char good[] = "# attest case 1\n# why\nkernel=k\nproblem=variant=softmax n=1 m=2 d=1 in=bf16 p=bf16\n"
                               "objective=ratio\nvalue=0x1p-1 (0.5)\nstrategy=anneal\nevaluations=3\nseed=4\n"
                               "tensor q bf16 1 1 1 1\n0x1p+0\ntensor k bf16 1 1 2 1\n0x1p+0\n0x1p+1\n"
                               "tensor v bf16 1 1 2 1\n0x1.8p+0\n-0x1p+0\nend\n";
    static const struct {
        const char *old, *new, *says;
    } spoils[] = {
        { "", "", NULL },
        { "# attest case 1", "# attest case 2", "first line" },
        { "seed=4\n", "", "no line `seed=`" },
        { "seed=4\n", "seed=4\nseed=4\n", ":10: this key is there already" },
        { "seed=4", "seed=four", ":9: this value cannot be read" },
        { "seed=4", "colour=4", ":9: neither a key" },
        { "value=0x1p-1", "value=-1", "cannot be read" },
        { "evaluations=3", "evaluations=3x", "cannot be read" },
        { "kernel=k", "kernel=", "cannot be read" },
        { "n=1 m=2", "n=0 m=2", ":4: this value" },
        { "tensor q bf16 1 1 1 1\n0x1p+0\n", "", "tensor q is missing" },
        { "tensor q bf16", "tensor sink bf16", "no input tensor of this problem" },
        { "tensor q bf16", "tensor o bf16", "no input tensor of this problem" },
        { "tensor q bf16", "tensor q f32", "the problem wants `tensor q bf16 1 1 1 1`" },
        { "tensor k bf16 1 1 2 1", "tensor k bf16 1 1 2 2", "the problem wants" },
        { "tensor k bf16 1 1 2 1\n0x1p+0\n0x1p+1", "tensor q bf16 1 1 1 1\n0x1p+0", "there already" },
        { "0x1.8p+0\n", "0x1.801p+0\n", ":16: a number is missing, or one that the dtype does not hold" },
        { "0x1.8p+0\n", "0x1.8p+0 0x1p+0\n", "numbers left over" },
        { "0x1.8p+0\n", "\n", "a number is missing" },
        { "0x1.8p+0\n", "0x1.8p+0,\n", "a number is missing" },
        { "-0x1p+0\nend\n", "", "the file ends inside a tensor" },
        { "end\n", "", "`end` is missing" },
        { "problem=variant=softmax n=1 m=2 d=1 in=bf16 p=bf16\n", "", "a tensor before the problem" },
    };
    for (size_t k = 0; k < sizeof spoils / sizeof spoils[0]; k++) {
        char path[64];
        attest_case_file file;
        attest_error err = { "" };
        const char *at = strstr(good, spoils[k].old);
        snprintf(path, sizeof path, "%s/b.case", folder);
        FILE *out = fopen(path, "w");
        ck_assert_ptr_nonnull(at);
        fprintf(out, "%.*s%s%s", (int)(at - good), good, spoils[k].new, at + strlen(spoils[k].old));
        fclose(out);
        const attest_status status = attest_case_file_read(&file, path, &err);
        if (!spoils[k].says) {
            ck_assert_msg(status == ATTEST_OK, "%s", err.text);
            attest_case_file_clear(&file);
            continue;
        }
        ck_assert_msg(status == ATTEST_BAD_INPUT, "spoil %zu is not refused", k);
        ck_assert_msg(strstr(err.text, path) && strstr(err.text, spoils[k].says), "spoil %zu: %s", k, err.text);
        ck_assert_ptr_null(file.inputs);
    }
    attest_case_file file;
    attest_error err;
    ck_assert_int_eq(attest_case_file_read(&file, "/nosuch.case", &err), ATTEST_BAD_INPUT);
}
END_TEST

/* ---- the committed worst cases ------------------------------------------------------------------------------- */
static void check_worst(const char *path, unsigned char *seen)
{
    attest_case_file file;
    attest_error err;
    attest_subject subject;
    attest_evaluator ev;
    attest_result row;
    double figure;
    int supported;
    ck_assert_msg(attest_case_file_read(&file, path, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_str_eq(file.objective, "ratio");
    start(&subject, NULL, file.kernel);
    seen[subject.index] = 1;
    attest_bundle *given = file.inputs;
    file.inputs = NULL;
    ck_assert_msg(attest_evaluator_init(&ev, &file.c, given, &subject, 0, 10, &err) == ATTEST_OK, "%s: %s", path,
                  err.text);
    ck_assert(attest_evaluate(&figure, &ev, &err) == ATTEST_OK);
    ck_assert_msg(figure <= 1, "%s: %g times the bound", path, figure);
    ck_assert_msg(fabs(figure / file.value - 1) <= 1e-6, "%s: %.9g, %.9g there", path, figure, file.value);
    ck_assert(attest_run_case(&row, &supported, &ev.prepared, &subject, NULL, 10, &err) == ATTEST_OK);
    ck_assert_msg(row.verdict == ATTEST_PASS, "%s: %s", path, row.why);
    attest_evaluator_clear(&ev);
    attest_worker_free(subject.worker);
}

/* Every file again: the same figure, inside the bound; a file of every built-in kernel. */
START_TEST(worst_cases)
{
    unsigned char seen[256] = { 0 };
    DIR *dir = opendir(ATTEST_TEST_ROOT "/tests/worst-cases");
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[1024];
        const char *dot = strrchr(entry->d_name, '.');
        snprintf(path, sizeof path, "%s/tests/worst-cases/%s", ATTEST_TEST_ROOT, entry->d_name);
        if (dot && strcmp(dot, ".case") == 0)
            check_worst(path, seen);
    }
    closedir(dir);
    for (size_t k = 0; k < attest_builtin_library()->kernel_count; k++)
        ck_assert_msg(seen[k], "no worst case of %s", attest_builtin_library()->kernels[k]->name);
}
END_TEST

Suite *suite_search_run(void)
{
    Suite *s = suite_create("search_run");
    TCase *t = tcase_create("search_run");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, make_folder, remove_folder);
    tcase_add_test(t, figures_are_the_rows);
    tcase_add_test(t, kappa_and_state);
    tcase_add_test(t, given_inputs);
    tcase_add_test(t, evaluator_memory);
    tcase_add_test(t, refuted);
    tcase_add_test(t, any_number_of_threads);
    tcase_add_test(t, found_and_cleared);
    tcase_add_test(t, draws_and_search);
    tcase_add_test(t, case_file_keeps_bits);
    tcase_add_test(t, case_file_refusals);
    tcase_add_test(t, worst_cases);
    suite_add_tcase(s, t);
    return s;
}
