/* test_props_files.c - planted defects, found, shrunk, written as repro and folder, and met again from each. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/attest_float.h"
#include "kernels/npy/npy.h"
#include "verify/base/clock.h"
#include "verify/properties/props_explain.h"
#include "verify/properties/props_files.h"
#include "verify/properties/props_run.h"

Suite *suite_props_files(void);

static char folder[] = "/tmp/attest-shrunk-XXXXXX";

static void setup(void)
{
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1);
    strcpy(folder, "/tmp/attest-shrunk-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* ---- planted defects ---------------------------------------------------------------------------------------- */

#define WIDE "b=2 hq=4 hkv=2 n=37 d=16 e=12"

/* `property` NULL: an error beyond the bound. */
static const struct {
    const char *defect, *property, *line;
} rows[] = {
    { "causal-align", "channel-rotation", "b=2 hq=4 hkv=2 n=37 m=50 d=16 e=12 mask=causal" },
    { "length-of-first", "batch-permutation", "b=3 hq=4 hkv=2 n=20 d=8 lens=draw" },
    { "kv-head-zero", "heads-alone", WIDE },
    { "heads-inside", "query-permutation", WIDE },
    { "lse-layout", "query-permutation", WIDE },
    { "gqa-chance", "shared-heads", WIDE },
    { "acc-f16", "key-permutation", WIDE },
    { "merge-u-old", "key-permutation", "n=40 d=8 family=ramp-up splits=4 hq=2" },
    { "scale-padded", "zero-channels", WIDE },
    { "scale-assumed", "zero-channels", WIDE },
    { "tail-dropped", "key-permutation", WIDE },
    { "e-tail-dropped", "value-channels", "b=2 hq=2 n=30 d=6 variant=rmsnorm affine=draw" },
    { "row-neighbour", "query-permutation", WIDE },
    { "dot-f16", "channel-rotation", WIDE },
    { "rows-tail-unwritten", ATTEST_PROPS_RUN, WIDE },
    { "store-tail-over", ATTEST_PROPS_RUN, "b=2 hq=2 n=30 d=6 variant=rmsnorm affine=draw" },
    { "tail-oob", ATTEST_PROPS_RUN, WIDE },
    { "scaled-in-place", ATTEST_PROPS_RUN, WIDE },
    { "exp2-for-exp", NULL, WIDE },
    { "window-short", NULL, "b=2 hq=4 hkv=2 n=37 d=8 mask=causal window=5" },
    { "softcap-hard", NULL, "b=2 hq=4 hkv=2 n=21 d=8 cap=2" },
    { "sink-zero", NULL, "b=2 hq=2 n=21 d=8 variant=softmax1" },
    { "order-low", NULL, "b=2 hq=4 hkv=2 n=21 d=6 variant=taylor:3 mask=causal" },
    { "decay-exponent-low", NULL, "b=2 hq=4 hkv=2 n=40 d=6 variant=retnet chunk=16" },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

typedef struct subject {
    attest_props_world world;
    const attest_property *property; /* NULL: the run itself, or with `bound` the bound */
    int bound;
} subject;

static attest_status try_bound(attest_finding *found, subject *s, const attest_example *e, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { 0 };
    attest_example copy = { .inputs = NULL };
    attest_result row;
    int supported = 0;
    *found = (attest_finding){ 0 };
    attest_result_init(&row);
    ATTEST_TRY(attest_example_copy(&copy, e, err));
    ATTEST_TRY(attest_prepare_inputs(&prepared, &copy.c, copy.inputs, err));
    ATTEST_TRY(attest_run_case(&row, &supported, &prepared, &s->world.subject, NULL, 5, err));
    if (supported && row.reasons & ATTEST_REASON_BOUND)
        *found = (attest_finding){ .compared = 1, .broken = 1, .ratio = row.ratio_lo };
out:
    attest_prepared_clear(&prepared);
    return status;
}

static attest_status try_example(void *context, attest_finding *found, const attest_example *e, attest_error *err)
{
    subject *s = context;
    return s->bound ? try_bound(found, s, e, err)
                    : attest_props_try(found, &s->world, s->property, &e->c, e->number, e->inputs, err);
}

static void start(subject *s, const char *defect, const char *property)
{
    attest_error err;
    *s = (subject){ .world = { .subject = { .program = "attest", .library = ATTEST_TEST_BUILD "/defects/defects.so" },
                               .timeout_s = 5,
                               .reference = 1 },
                    .property = property ? attest_property_find(property) : NULL,
                    .bound = property == NULL };
    ck_assert(!property || s->property || strcmp(property, ATTEST_PROPS_RUN) == 0);
    ck_assert_msg(attest_worker_start(&s->world.subject.worker, s->world.subject.library, 5, &err) == ATTEST_OK, "%s",
                  err.text);
    ck_assert_msg(attest_find_kernel(&s->world.subject, defect, &err) == ATTEST_OK, "%s", err.text);
}

/* The first case of the line that fails, made small. */
static attest_shrunk shrink_row(subject *s, int row)
{
    attest_error err = { "" };
    attest_case c;
    attest_example first = { .inputs = NULL };
    attest_finding found = { 0 };
    attest_shrunk shrunk;
    const attest_shrink_options options = { .attempts = 1500 }; /* no clock: the same on any machine */
    start(s, rows[row].defect, rows[row].property);
    ck_assert_msg(attest_case_parse(&c, rows[row].line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    for (uint32_t number = 0; number < 8 && !found.broken; number++) {
        attest_example_clear(&first);
        ck_assert(attest_example_draw(&first, &c, number, &err) == ATTEST_OK);
        ck_assert_msg(try_example(s, &found, &first, &err) == ATTEST_OK, "%s", err.text);
    }
    ck_assert_msg(found.broken, "%s holds", rows[row].defect);
    ck_assert_msg(attest_shrink(&shrunk, &first, &found, &options, try_example, s, &err) == ATTEST_OK, "%s", err.text);
    ck_assert(shrunk.found.broken && shrunk.found.end == found.end);
    ck_assert_double_ge(shrunk.found.ratio, found.ratio / 2 > 1 ? found.ratio / 2 : 1);
    attest_example_clear(&first);
    return shrunk;
}

static int by_size(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int median(int *sizes)
{
    qsort(sizes, ROWS, sizeof *sizes, by_size);
    return (sizes[ROWS / 2 - 1] + sizes[ROWS / 2] + 1) / 2;
}

/* From the repro id alone: the same bits, and they fail in the same way. */
static void meet_again(subject *s, const attest_repro *repro, const attest_finding *broken)
{
    attest_error err = { "" };
    attest_repro again;
    attest_finding found;
    char *text;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&repro->example.c.problem, ids, ATTEST_MAX_TENSORS);
    ck_assert(attest_repro_print(&text, repro, &err) == ATTEST_OK && text);
    ck_assert_msg(attest_repro_parse(&again, text, &err) == ATTEST_OK, "%s: %s", text, err.text);
    for (size_t k = 0; k < count; k++) {
        const attest_tensor *t = attest_bundle_get(repro->example.inputs, ids[k]);
        ck_assert_mem_eq(t->data, attest_bundle_get(again.example.inputs, ids[k])->data, attest_tensor_bytes(t));
    }
    ck_assert_msg(try_example(s, &found, &again.example, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(found.broken && found.end == broken->end && found.ratio >= broken->ratio &&
                      found.ratio <= broken->ratio,
                  "%s", text);
    ck_assert(s->bound || found.end != ATTEST_PROP_DONE || strcmp(found.what, broken->what) == 0);
    free(text);
    attest_repro_clear(&again);
}

START_TEST(defects_become_small)
{
    int n[ROWS], m[ROWS], d[ROWS], e[ROWS], heads[ROWS];
    for (int row = 0; row < ROWS; row++) {
        subject s;
        const double begun = attest_now_seconds();
        attest_shrunk shrunk = shrink_row(&s, row);
        const double seconds = attest_now_seconds() - begun;
        const attest_problem *p = &shrunk.example.c.problem;
        attest_repro repro = { .example = shrunk.example };
        snprintf(repro.property, sizeof repro.property, "%s", rows[row].property ? rows[row].property : "bound");
        snprintf(repro.kernel, sizeof repro.kernel, "%s:%s", s.world.subject.library, rows[row].defect);
        meet_again(&s, &repro, &shrunk.found);
        n[row] = (int)p->n;
        m[row] = (int)p->m;
        d[row] = (int)p->d;
        e[row] = (int)p->e;
        heads[row] = (int)(p->b * p->hq);
        if (getenv("ATTEST_TELL"))
            printf("%-20s %-18s n=%d m=%d d=%d e=%d b*hq=%d  %ld tries, %ld kept, %.2f s\n", rows[row].defect,
                   repro.property, n[row], m[row], d[row], e[row], heads[row], shrunk.attempts, shrunk.kept, seconds);
        attest_example_clear(&shrunk.example);
        attest_worker_free(s.world.subject.worker);
    }
    ck_assert_int_ge(ROWS, 20);
    ck_assert_int_le(median(n), 4);
    ck_assert_int_le(median(m), 4);
    ck_assert_int_le(median(d), 2);
    ck_assert_int_le(median(e), 2);
    ck_assert_int_eq(median(heads), 1);
}
END_TEST

/* ---- the folder --------------------------------------------------------------------------------------------- */

static attest_repro made_token(const char *line)
{
    attest_repro repro = { .property = "key-permutation", .kernel = "dir/a */.so:k" };
    attest_case c;
    attest_error err;
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert(attest_example_draw(&repro.example, &c, 0, &err) == ATTEST_OK);
    repro.example.explicit_values = 1;
    return repro;
}

/* The text of a file in folder `in`; the caller's. */
static char *text_of(const char *in, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", in, name);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s", path);
    char *text = calloc(1, 1 << 20);
    ck_assert(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* What case.c prints, compiled alone: every value of the tensor, bit for bit. */
static void check_printed(const char *text, const char *name, const attest_tensor *t)
{
    for (int64_t at = 0; at < attest_tensor_count(t); at++) {
        char want[80], bits[80];
        snprintf(want, sizeof want, "\n%s[%d] = %a\n", name, (int)at, t->dtype == ATTEST_I64 ? 0 : attest_load(t, at));
        snprintf(bits, sizeof bits, "\n%s[%d] = %#llx\n", name, (int)at, (unsigned long long)attest_load_bits(t, at));
        if (t->dtype == ATTEST_I64)
            snprintf(want, sizeof want, "\n%s[%d] = %lld\n", name, (int)at, (long long)attest_load_int(t, at));
        ck_assert_msg(strstr(text, want) || strstr(text, bits), "%s", want);
    }
}

static const char *const written[] = {
    "n=2 m=3 d=2 e=1 mask=causal-br lens=draw b=2 alibi=draw",
    "variant=taylor:1 n=2 d=2 state=draw in=f64 scale=0.3",
    "n=2 d=2 in=bf16",
    "n=3 d=1 in=f16 gates=inout",
};

/* case.c compiles alone, and prints what the inputs are; the .npy files hold them. */
static void check_values(const char *in, const attest_example *example)
{
    attest_error err = { "" };
    char command[9000], path[4200];
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&example->c.problem, ids, ATTEST_MAX_TENSORS);
    snprintf(command, sizeof command,
             "cd %s && cc -std=c99 -Wall -Wextra -Werror -pedantic -o %s/case case.c && %s/case >%s/printed", in,
             folder, folder, folder);
    ck_assert_int_eq(system(command), 0);
    char *text = text_of(folder, "printed");
    ck_assert_ptr_nonnull(strstr(text, "scale="));
    for (size_t k = 0; k < count; k++) {
        char name[40];
        attest_npy npy;
        const attest_tensor *t = attest_bundle_get(example->inputs, ids[k]);
        attest_tensor_id_print(name, sizeof name, ids[k]);
        snprintf(path, sizeof path, "%s/%s.npy", in, name);
        ck_assert_msg(attest_npy_read(&npy, path, t->dtype, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_mem_eq(npy.data, t->data, attest_tensor_bytes(t));
        attest_npy_free(&npy);
        if (strchr(name, '.'))
            *strchr(name, '.') = '_';
        check_printed(text, name, t);
    }
    free(text);
}

static void check_words(const char *in, const attest_repro *repro)
{
    attest_error err = { "" };
    attest_repro parsed;
    char *text = text_of(in, "failure.txt"), *printed;
    ck_assert(strstr(text, "the order of keys") && strstr(text, "0x1.8p+3") &&
              strstr(text, "shrunk from case 17, variant="));
    ck_assert(strstr(text, "attest replay av1:key-permutation:dir/a,%2A/.so%3Ak:0:") && strstr(text, "\nq  "));
    free(text);
    text = text_of(in, "repro-id");
    text[strcspn(text, "\n")] = '\0';
    ck_assert(attest_repro_print(&printed, repro, &err) == ATTEST_OK);
    ck_assert_str_eq(text, printed);
    ck_assert_msg(attest_repro_parse(&parsed, text, &err) == ATTEST_OK, "%s", err.text);
    free(text);
    free(printed);
    attest_repro_clear(&parsed);
}

START_TEST(a_folder_says_all)
{
    attest_error err = { "" };
    char in[4096], again[4096], command[9000], store[200];
    attest_repro repro = made_token(written[_i]);
    const attest_finding found = { .compared = 2, .broken = 1, .ratio = 0x1.8p3, .what = "o[0,0,0,0] is \\ */ wrong" };
    const attest_props_report report = { .repro = &repro,
                                         .property = attest_property_find("key-permutation"),
                                         .found = &found,
                                         .first = &repro.example.c,
                                         .first_found = &found,
                                         .first_number = 17,
                                         .program = "attest" };
    if (_i == 0) /* no number: bits, not literals */
        attest_store_bits(attest_bundle_role(repro.example.inputs, ATTEST_V), 1, 0x7fc00001);
    snprintf(store, sizeof store, "%s/new/store", folder);
    ck_assert_msg(attest_props_files(in, sizeof in, store, &report, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_int_eq(strncmp(in, store, strlen(store)), 0);
    check_values(in, &repro.example);
    check_words(in, &repro);
    /* the same failure is the same folder, another one is not, nothing half-written stays */
    ck_assert(attest_props_files(again, sizeof again, store, &report, &err) == ATTEST_OK);
    ck_assert_str_eq(again, in);
    attest_store_bits(attest_bundle_role(repro.example.inputs, ATTEST_Q), 0, 0x3c00);
    ck_assert(attest_props_files(again, sizeof again, store, &report, &err) == ATTEST_OK);
    ck_assert_str_ne(again, in);
    snprintf(command, sizeof command, "test $(ls -A %s | wc -l) = 2 && test $(stat -c %%a %s) = 755", store, in);
    ck_assert_int_eq(system(command), 0);
    attest_repro_clear(&repro);
}
END_TEST

/* Beside a bound of 0 no part of it is a number. */
START_TEST(a_bound_of_nothing)
{
    char *text = NULL;
    size_t size = 0;
    attest_result row;
    FILE *out = open_memstream(&text, &size);
    attest_result_init(&row);
    row.verdict = ATTEST_FAIL;
    row.reasons = ATTEST_REASON_BOUND;
    row.ratio_hi = INFINITY;
    row.bound = row.term_score = row.term_exp = row.term_cast = row.term_accumulation = row.term_division = 0;
    strcpy(row.worst, "o[0,0,0,0]");
    attest_props_explain_row(out, &row);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_msg(strstr(text, "error/bound inf, bound 0") && !strstr(text, "nan"), "%s", text);
    free(text);
}
END_TEST

START_TEST(a_folder_that_cannot_be)
{
    attest_error err = { "" };
    char in[4096], path[200];
    attest_repro repro = made_token("n=1 d=1");
    const attest_finding found = { .broken = 1 };
    const attest_props_report report = { .repro = &repro, .found = &found, .program = "attest" };
    snprintf(path, sizeof path, "%s/file", folder);
    FILE *file = fopen(path, "w");
    fclose(file);
    ck_assert_int_eq(attest_props_files(in, sizeof in, path, &report, &err), ATTEST_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, path));
    ck_assert_int_eq(attest_props_files(in, 20, folder, &report, &err), ATTEST_BAD_INPUT);
    attest_repro_clear(&repro);
}
END_TEST

/* ---- attest replay ------------------------------------------------------------------------------------------ */

#define DEFECTS ATTEST_TEST_BUILD "/defects/defects.so:"

static const struct {
    const char *property, *kernel, *line, *says;
    int code;
} replays[] = {
    { "batch-permutation", "softmax-two-pass-f32", "b=2 n=3 d=2", "verdict    holds\n", 0 },
    { "batch-permutation", "softmax-two-pass-f32", "b=2 n=3 d=2", "found      nothing\n", 0 },
    { "batch-permutation", "softmax-two-pass-f32", "b=1 n=3 d=2", "says nothing of this case", 77 },
    { "query-permutation", DEFECTS "heads-inside", "hq=2 n=5 d=1", "verdict    broken\n", 1 },
    { ATTEST_PROPS_RUN, "softmax-two-pass-f32", "n=3 d=2", "verdict    holds\n", 0 },
    { ATTEST_PROPS_RUN, DEFECTS "tail-oob", "n=3 d=2", "verdict    crash\n", 3 },
    { "key-permutation", DEFECTS "tail-oob", "n=3 d=2", "the kernel crashed", 3 },
    { ATTEST_PROPS_RUN, "linear-recurrent-f32", "n=3 d=2", "says nothing of this case", 77 },
    { "no-such", "softmax-two-pass-f32", "n=3 d=2", "no property `no-such`", 2 },
};

START_TEST(tokens_are_replayed)
{
    attest_error err = { "" };
    attest_case c;
    attest_repro repro = { .property = "" };
    char command[2000], *word;
    snprintf(repro.property, sizeof repro.property, "%s", replays[_i].property);
    snprintf(repro.kernel, sizeof repro.kernel, "%s", replays[_i].kernel);
    ck_assert(attest_case_parse(&c, replays[_i].line, NULL, NULL, &err) == ATTEST_OK);
    ck_assert(attest_example_draw(&repro.example, &c, 0, &err) == ATTEST_OK);
    ck_assert(attest_repro_print(&word, &repro, &err) == ATTEST_OK);
    snprintf(command, sizeof command, "%s/attest replay %s >%s/out 2>&1", ATTEST_TEST_BUILD, word, folder);
    const int status = system(command);
    char *text = text_of(folder, "out");
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == replays[_i].code && strstr(text, replays[_i].says),
                  "%d: %s", status, text);
    free(text);
    free(word);
    attest_repro_clear(&repro);
}
END_TEST

/* States that are not those of case 0 reach a kernel that keeps them packed, and are judged. */
START_TEST(packed_states_are_those_given)
{
    attest_error err = { "" };
    attest_case c;
    attest_result row;
    attest_example e;
    attest_prepared prepared = { .line = "" };
    attest_subject packed = { .program = "attest" };
    int supported;
    ck_assert(attest_case_parse(&c, "variant=taylor:2 b=2 hq=2 n=3 d=3 state=draw mask=causal", NULL, NULL, &err) ==
              ATTEST_OK);
    ck_assert(attest_example_draw(&e, &c, 5, &err) == ATTEST_OK);
    ck_assert(attest_prepare_inputs(&prepared, &c, e.inputs, &err) == ATTEST_OK);
    ck_assert(attest_worker_start(&packed.worker, NULL, 5, &err) == ATTEST_OK);
    ck_assert(attest_find_kernel(&packed, "taylor-packed-f32", &err) == ATTEST_OK);
    attest_result_init(&row);
    ck_assert(attest_run_case(&row, &supported, &prepared, &packed, NULL, 5, &err) == ATTEST_OK);
    ck_assert_msg(supported && row.verdict == ATTEST_PASS, "%s %s", row.worst, row.why);
    attest_prepared_clear(&prepared);
    attest_worker_free(packed.worker);
}
END_TEST

Suite *suite_props_files(void)
{
    Suite *suite = suite_create("props_files");
    TCase *tc = tcase_create("files");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, a_folder_says_all, 0, sizeof written / sizeof written[0]);
    tcase_add_test(tc, a_bound_of_nothing);
    tcase_add_test(tc, a_folder_that_cannot_be);
    tcase_add_loop_test(tc, tokens_are_replayed, 0, sizeof replays / sizeof replays[0]);
    tcase_add_test(tc, packed_states_are_those_given);
    tcase_add_test(tc, defects_become_small);
    suite_add_tcase(suite, tc);
    return suite;
}
