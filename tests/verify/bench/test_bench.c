/* test_bench.c - `attest bench`: jobs, tables and what is printed of them, by a made-up clock.  Nothing here depends on
 * how long something takes. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/yardstick/yardstick.h"
#include "tests/reference/ball/ball_case.h"
#include "verify/commands/cli.h"
#include "verify/bench/bench_table.h"

Suite *suite_bench(void);

#define COUNT(array) (sizeof array / sizeof array[0])

/* ---- jobs -------------------------------------------------------------------------------------------------------- */
START_TEST(pairs_and_expectations)
{
    static const struct {
        const char *line;
        int64_t pairs;
    } cases[] = { { "n=7 m=5 d=2", 35 },
                  { "mask=causal n=7 d=2 hq=3 hkv=1", 84 },
                  { "mask=causal n=3 m=9 d=2", 6 },
                  { "mask=causal-br n=3 m=5 d=2 b=2", 24 },
                  { "mask=causal-br n=5 m=3 d=2", 6 } };
    for (size_t n = 0; n < COUNT(cases); n++) {
        ball_case x;
        ball_case_start(&x, cases[n].line, 1);
        ck_assert_msg(attest_bench_pairs(&x.c.problem, x.bundle) == cases[n].pairs, "%s: %lld pairs", x.line,
                      (long long)attest_bench_pairs(&x.c.problem, x.bundle));
        ball_case_stop(&x);
    }
    ball_case x;
    ball_case_start(&x, "mask=causal n=512 d=64", 1);
    const int64_t pairs = attest_bench_pairs(&x.c.problem, x.bundle), many = INT64_C(1) << 28; /* 16384 x 16384 */
    attest_bench_job job = { .p = &x.c.problem, .each = attest_bench_each(ATTEST_BENCH_MPFR, NULL) };
    ck_assert(attest_bench_expected(&job, pairs) < 3 && attest_bench_expected(&job, many) > ATTEST_BENCH_LONGEST);
    job.each = attest_bench_each(ATTEST_BENCH_DD, "avx512");
    ck_assert(attest_bench_expected(&job, many) > 3 && attest_bench_expected(&job, many) < 10);
    ck_assert(attest_bench_each(ATTEST_BENCH_DD, "avx2") > job.each);
    ck_assert(attest_bench_each(ATTEST_BENCH_DD, "portable") > attest_bench_each(ATTEST_BENCH_DD, "avx2"));
    job.each = ATTEST_BENCH_PLAIN;
    ck_assert(attest_bench_expected(&job, many) < 10);
    ck_assert_int_eq(attest_bench_multiply_adds(&x.c.problem), 64 + 64);
    ball_case_stop(&x);
    ball_case_start(&x, "n=3 d=5 e=2", 1);
    ck_assert_int_eq(attest_bench_multiply_adds(&x.c.problem), 5 + 2);
    ball_case_stop(&x);
}
END_TEST

/* One run of a job of each kind gives the row's o; a job that is off is told apart. */
START_TEST(jobs_compute_and_are_compared)
{
    static const uint32_t kinds[] = { ATTEST_BENCH_DD, ATTEST_BENCH_MPFR, ATTEST_BENCH_ARB, ATTEST_BENCH_EXACT,
                                      ATTEST_BENCH_KERNEL };
    ball_case x;
    attest_bench_job dd = { .kind = ATTEST_BENCH_DD, .name = "dd" };
    ball_case_start(&x, "variant=taylor:2 mask=causal n=6 d=4", 1);
    dd.p = &x.c.problem;
    dd.in = x.bundle;
    MUST(attest_bench_job_prepare(&dd, 3, &x.err), &x);
    MUST(attest_bench_job_run(&dd, &x.err), &x);
    for (size_t n = 0; n < COUNT(kinds); n++) {
        attest_bench_job job = {
            .kind = kinds[n], .name = "job", .p = dd.p, .in = dd.in, .kernel = attest_own(&attest_kernel_naive_f32)
        };
        MUST(attest_bench_job_prepare(&job, 3, &x.err), &x);
        MUST(attest_bench_job_run(&job, &x.err), &x);
        MUST(attest_bench_job_read(&job, &x.err), &x);
        MUST(attest_bench_job_compare(&job, &dd, &x.err), &x);
        ck_assert_msg(job.error < (kinds[n] == ATTEST_BENCH_KERNEL ? 1e-5 : 1e-15) && job.compared == 24,
                      "kind %u: %g of %lld", kinds[n], job.error, (long long)job.compared);
        ck_assert(fabs(job.o[23]) > 1e-3);
        job.o[3] += 0x1p-20; /* not the last: the largest error stays */
        ck_assert_int_eq(attest_bench_job_compare(&job, &dd, &x.err),
                         kinds[n] == ATTEST_BENCH_KERNEL ? ATTEST_OK : ATTEST_INTERNAL);
        ck_assert(job.error > 0x1p-21);
        attest_bench_job_clear(&job);
        ck_assert_ptr_null(job.o);
    }
    for (int64_t at = 0; at < 24; at++)
        dd.enclosures.bound[at] = INFINITY;
    dd.o[0] = 1e9; /* nothing to compare with: no figure */
    MUST(attest_bench_job_compare(&dd, &dd, &x.err), &x);
    ck_assert(dd.error != dd.error && dd.compared == 0);
    attest_bench_job_clear(&dd);
    ball_case_stop(&x);
}
END_TEST

/* ---- tables ------------------------------------------------------------------------------------------------------ */
static double counter(void *context) { return *(double *)context += 1; } /* every turn takes 1 s: nothing is repeated */

static attest_bench_table *table_of(int kernels, const char *line, const char *glob, int threads)
{
    static double time;
    static const attest_bench_clock clock = { counter, counter, NULL, &time };
    const attest_bench_options options = { .rounds = 5, .threads = threads, .glob = glob, .clock = &clock };
    attest_bench_table *table = calloc(1, sizeof *table);
    attest_error err;
    const attest_status status = (kernels ? attest_bench_kernels : attest_bench_reference)(table, line, &options, &err);
    ck_assert_msg(status == ATTEST_OK, "%s: %s", line, err.text);
    return table;
}

static const attest_bench_job *row_named(const attest_bench_table *table, const char *name)
{
    for (size_t n = 0; n < table->count; n++)
        if (strcmp(table->job[n].name, name) == 0)
            return &table->job[n];
    return NULL;
}

static void table_free(attest_bench_table *table)
{
    attest_bench_table_clear(table);
    ck_assert_uint_eq(table->count, 0);
    free(table);
}

static char *printed(const attest_bench_table *table, void (*print)(FILE *, const attest_bench_table *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    print(out, table);
    fclose(out);
    return text;
}

/* All lines of the table are as long as its first, and the one that starts so has that cell. */
static void check_columns(const char *text, const char *starts, const char *cell)
{
    const char *row = strstr(text, "\n| ");
    const size_t width = strcspn(row + 1, "\n");
    int found = 0;
    for (; row && row[1] == '|'; row = strchr(row + 1, '\n')) {
        ck_assert_msg(strcspn(row + 1, "\n") == width, "%s", text);
        if (strncmp(row + 1, starts, strlen(starts)) == 0)
            found = strstr(row + 1, cell) && strstr(row + 1, cell) < row + 1 + width;
    }
    ck_assert_msg(found, "%s", text);
}

START_TEST(a_table_of_engines)
{
    attest_bench_table *table = table_of(0, "mask=causal n=6 d=4", NULL, 2);
    static const char *const names[] = {
        "dd-portable", "mpfr-128", "arb-mat-96", "naive-f32", "mpfr-calls", "machine"
    };
    for (size_t n = 0; n < COUNT(names); n++) {
        const attest_bench_job *job = row_named(table, names[n]);
        ck_assert_msg(job && !job->why[0] && job->sample[4] == 1 && job->repeats == 1, "%s", names[n]);
    }
    ck_assert(row_named(table, "vendor-onednn")->why[0] && row_named(table, "vendor-openblas")->why[0]);
    ck_assert_ptr_null(row_named(table, "exact"));
    ck_assert(table->best == 0 && table->mpfr >= 0 && table->naive >= 0);
    ck_assert_int_eq(table->pairs, 21);
    for (size_t n = 0; n < table->count; n++)
        ck_assert(table->job[n].kind > ATTEST_BENCH_EXACT || table->job[n].error <= 1e-15);
    int lanes;
    const char *what;
    const double burst = (double)attest_machine_burst(&lanes, &what); /* a second, by this clock */
    ck_assert(fabs(attest_bench_rate(table) / burst - 1e-9) < 1e-15);
    const double peak = attest_bench_over_peak(table, &table->job[table->best]).median;
    ck_assert_msg(fabs(peak * 21 * (4 + 4) / lanes / burst - 1) < 1e-9, "%g", peak);
    ck_assert(fabs(attest_bench_over_peak(table, &table->job[table->threaded]).median / peak - 2) < 1e-9);
    char *text = printed(table, attest_bench_print), *json = printed(table, attest_bench_print_json);
    check_columns(text, "| arb-mat-96 ", "| 1.00 [1.00 .. 1.00] s ");
    ck_assert_msg(strstr(text, "21 visible pairs; 5 rounds") && strstr(text, "-2-threads |") &&
                      strstr(text, "mpfr_exp at") && strstr(text, "24 of 24 outputs have a bound, the largest ") &&
                      strstr(text, "vendor-onednn: not timed: not installed when attest was built") &&
                      strstr(text, "-2-threads: 3.00 [3.00 .. 3.00] times as fast as one thread") &&
                      strstr(text, "of the process so far "),
                  "%s", text);
    ck_assert_msg(strstr(json, "\"name\":\"mpfr-128\"") && strstr(json, "\"time_over_calls\":") &&
                      strstr(json, "\"mpfr_over_this\":[1,1,1]") && strstr(json, "{\"bench\":\"machine\",\"cpu\":\"") &&
                      strstr(json, "\"samples\":[1,1,1,1,1],\"wall_samples\":[3,3,3,3,3]") &&
                      strstr(json, "\"speed_up\":[3,3,3]") && strstr(json, "\"threads\":2,\"clock\":\"wall\"") &&
                      strstr(json, "\"compared\":24") && strstr(json, "\"instructions\":"),
                  "%s", json);
    ck_assert(!strstr(json, "mpfr-calls") && !strstr(text, "| machine"));
    for (int r = 0; r < 5; r++)
        table->job[table->naive].sample[r] = 2;
    ck_assert(attest_bench_over(table, table->mpfr, table->naive).median == 0.5);
    free(text);
    free(json);
    table_free(table);
}
END_TEST

static void check_verdict(const attest_bench_table *table, const char *says, int unreliable)
{
    char *text = printed(table, attest_bench_print);
    ck_assert_msg(strstr(text, says) && attest_bench_unreliable(table) == unreliable, "%s: %s", says, text);
    free(text);
}

START_TEST(honesty_is_least_time_over_least_cost)
{
    attest_bench_table *table = table_of(0, "mask=causal n=2 d=2 e=1", "mpfr-128", 1);
    double(*cost)[ATTEST_YARD_CALLS] = table->job[table->costs].costs;
    double *sample = table->job[table->mpfr].sample, calls = 0;
    for (int r = 0; r < 5; r++) {
        sample[r] = 10 + r;
        for (int c = 0; c < ATTEST_YARD_CALLS; c++)
            cost[r][c] = r == c ? 0.5 : 3;
    }
    for (int c = 0; c < ATTEST_YARD_CALLS; c++) {
        calls += (double)table->job[table->mpfr].calls[c];
        ck_assert(attest_bench_call_cost(table, c) == 0.5);
    }
    ck_assert(fabs(attest_bench_honesty(table) - 20 / calls) < 1e-12);
    ck_assert_uint_eq(table->count, 3); /* with the costs and the machine */
    for (int r = 0; r < 5; r++)
        sample[r] = calls * 0.5 * 1.16;
    check_verdict(table, "= 1.160: above 1.15, set-up weighs at N x M = 2 x 2", 0);
    table->pairs = INT64_C(1) << 24; /* too much for set-up to be the reason */
    check_verdict(table, "= 1.160: UNRELIABLE (above 1.15)", 1);
    sample[2] = calls * 0.5 * 1.14;
    check_verdict(table, "= 1.140: honest (up to 1.15)", 0);
    table_free(table);
}
END_TEST

START_TEST(a_narrow_table_has_f32_beside_it)
{
    attest_bench_table *table = table_of(0, "mask=causal n=6 d=4 in=bf16", "[dn]*", 1);
    char name[64];
    snprintf(name, sizeof name, "dd-%s-on-f32", attest_enclose_path(0));
    const attest_bench_job *f32 = row_named(table, name), *naive = row_named(table, "naive-f32");
    ck_assert_msg(f32 && f32->p->in == ATTEST_F32 && f32->error != f32->error, "%s", name);
    ck_assert_uint_eq(table->job[table->best].p->in, ATTEST_BF16);
    /* the same values for the float kernel, other ones for dd */
    ck_assert(naive && naive->p->in == ATTEST_F32 && naive->error < 1e-5);
    for (int64_t at = 0; at < 24; at++)
        ck_assert(attest_load(attest_bundle_role(naive->in, ATTEST_K), at) ==
                  attest_load(attest_bundle_role(table->own.bundle, ATTEST_K), at));
    ck_assert(attest_load(attest_bundle_role(f32->in, ATTEST_K), 0) !=
              attest_load(attest_bundle_role(naive->in, ATTEST_K), 0));
    char *text = printed(table, attest_bench_print);
    ck_assert_msg(strstr(text, ": 1.00 [1.00 .. 1.00] times what it takes for f32 numbers"), "%s", text);
    free(text);
    table_free(table);
    table = table_of(0, "variant=taylor:2 n=4 d=2", "exact", 1);
    ck_assert(row_named(table, "exact")->sample[0] == 1);
    table_free(table);
}
END_TEST

START_TEST(a_table_of_kernels)
{
    attest_bench_table *table = table_of(1, "mask=causal n=20 d=4", "softmax-two-pass-f32", 1);
    const attest_bench_job *naive = row_named(table, "naive-f32");
    ck_assert(row_named(table, "softmax-two-pass-f32") && naive && !row_named(table, "softmax-online-f32"));
    for (size_t n = 0; n < 2; n++)
        ck_assert_msg(table->judged[n].verdict == ATTEST_PASS && table->judged[n].ratio_hi > 0, "%s: %s",
                      table->job[n].name, table->judged[n].why);
    char *text = printed(table, attest_bench_print);
    check_columns(text, "| naive-f32 ", "| pass ");
    free(text);
    table_free(table);
    table = table_of(1, "mask=causal n=20 d=4 in=bf16", "naive-f32", 1); /* alone; no numbers are drawn anew */
    ck_assert(!row_named(table, "softmax-two-pass-f32") && !table->fresh.bundle && table->wide.bundle);
    text = printed(table, attest_bench_print);
    check_columns(text, "| naive-f32 ", "| not judged ");
    ck_assert_msg(strstr(text, "\nnot judged: a kernel that ran on the same values stored as f32\n"), "%s", text);
    free(text);
    table_free(table);
}
END_TEST

/* No score may leave MPFR's exponents; no output has a bound. */
START_TEST(yardsticks_keep_out_of_their_range)
{
    attest_bench_table *table = table_of(0, "n=4 d=16 family=normal:3e4", NULL, 1);
    const attest_bench_job *mpfr = row_named(table, "mpfr-128"), *arb = row_named(table, "arb-mat-96");
    ck_assert(mpfr && arb && table->mpfr < 0);
    ck_assert_msg(strstr(mpfr->why, "leaves the exponents of MPFR") && strcmp(mpfr->why, arb->why) == 0, "%s",
                  mpfr->why);
    ck_assert_int_eq(table->job[table->best].compared, 64);
    table_free(table);
    table = table_of(0, "n=4 d=16 family=normal:1e17", "dd-*", 1);
    char *text = printed(table, attest_bench_print), *json = printed(table, attest_bench_print_json);
    ck_assert_msg(strstr(text, "0 of 64 outputs have a bound\n") && !strstr(text, "e+00 "), "%s", text);
    ck_assert_msg(strstr(json, "\"largest_bound\":null,\"with_bound\":0,") &&
                      strstr(json, "\"max_abs_off_dd\":null,\"compared\":0"),
                  "%s", json);
    free(text);
    free(json);
    table_free(table);
}
END_TEST

START_TEST(tables_refuse)
{
    static const struct {
        const char *line, *glob, *says;
        int kernels;
        attest_status status;
    } cases[] = { { "n=0", NULL, "n=0", 0, ATTEST_BAD_INPUT },
                  { "n=4 d=2", "nosuch*", "nosuch*", 0, ATTEST_UNSUPPORTED },
                  { "n=4 d=2", "nosuch*", "nosuch*", 1, ATTEST_UNSUPPORTED },
                  { "variant=gdn mask=causal n=4 d=2", "naive*", "naive-f32: only softmax", 1, ATTEST_UNSUPPORTED },
                  { "family=nosuch n=4 d=2", NULL, "nosuch", 0, ATTEST_BAD_INPUT },
                  { "variant=gdn mask=causal n=4 d=2", "dd-*", "nothing to time: ", 0, ATTEST_UNSUPPORTED },
                  { "variant=deltanet mask=causal n=4 d=2", "mpfr*", "mpfr-128: ", 0, ATTEST_UNSUPPORTED },
                  { "cap=5 n=4 d=2", "arb*", "arb-mat-96: cap=5: the yardsticks", 0, ATTEST_UNSUPPORTED } };
    static double time;
    static const attest_bench_clock clock = { counter, counter, NULL, &time };
    attest_bench_table *table = calloc(1, sizeof *table);
    for (size_t n = 0; n < COUNT(cases); n++) {
        const attest_bench_options options = { .rounds = 5, .threads = 1, .glob = cases[n].glob, .clock = &clock };
        attest_error err;
        const attest_status status = (cases[n].kernels ? attest_bench_kernels
                                                       : attest_bench_reference)(table, cases[n].line, &options, &err);
        ck_assert_msg(status == cases[n].status && strstr(err.text, cases[n].says), "%s: %s", cases[n].line, err.text);
        ck_assert_msg(!strstr(err.text, "no row") || !cases[n].glob || strncmp(cases[n].glob, "nosuch", 6) == 0, "%s",
                      err.text);
    }
    free(table);
}
END_TEST

/* A kernel that refuses, and one whose run would take long, are rows that say so. */
START_TEST(rows_say_why_not)
{
    attest_bench_table *table = calloc(1, sizeof *table);
    char folder[] = "/tmp/attest-bench-XXXXXX", broken[64];
    const attest_bench_options some = { .glob = "vendor-o[np]*" }, all = { .plugins = mkdtemp(folder) };
    attest_error err;
    attest_bench_job *job;
    const attest_loaded naive = attest_own(&attest_kernel_naive_f32);
    ck_assert_int_eq(attest_bench_table_start(table, "cap=3 mask=causal n=4 d=2 in=bf16", 5, &err), ATTEST_OK);
    const attest_problem *p;
    const attest_bundle *in;
    ck_assert_int_eq(attest_bench_in_f32(&p, &in, table, &err), ATTEST_OK);
    ck_assert(p == &table->wide.c.problem && in == table->wide.bundle && !table->fresh.bundle);
    ck_assert_int_eq(attest_bench_add_kernel(table, &all, naive, NULL, 0, p, in, &err), ATTEST_OK);
    ck_assert_msg(strstr(table->job[0].why, "only softmax"), "%s", table->job[0].why);
    table->pairs = INT64_C(1) << 50;
    table->wide.c.problem.axis[ATTEST_AXIS_CAP].value = 0;
    ck_assert_int_eq(attest_bench_add_kernel(table, &all, naive, NULL, 0, p, in, &err), ATTEST_OK);
    ck_assert_msg(strstr(table->job[1].why, "would take"), "%s", table->job[1].why);
    ck_assert_int_eq(attest_bench_add_vendors(table, &some, p, in, &err), ATTEST_OK);
    ck_assert_uint_eq(table->count, 4);
    ck_assert_int_eq(attest_bench_time_all(table, &some, &err), ATTEST_UNSUPPORTED);
    ck_assert_msg(strstr(err.text, "vendor-openblas: not installed"), "%s", err.text);
    ck_assert(attest_bench_wanted(&some, "vendor-onednn") && !attest_bench_wanted(&some, "dd"));
    /* asked for by name it runs, however long; what is installed but broken is not "not installed" */
    ck_assert_int_eq(attest_bench_add_kernel(table, &some, naive, NULL, ATTEST_BENCH_PLAIN, p, in, &err), ATTEST_OK);
    ck_assert_str_eq(table->job[4].why, "");
    ck_assert(table->job[4].each == ATTEST_BENCH_PLAIN && table->job[1].each > ATTEST_BENCH_PLAIN);
    snprintf(broken, sizeof broken, "%s/vendor-onednn.so", folder);
    ck_assert_int_eq(fclose(fopen(broken, "w")), 0);
    ck_assert_int_eq(attest_bench_add_vendors(table, &all, p, in, &err), ATTEST_OK);
    ck_assert(strstr(table->job[5].why, "not installed") && strstr(table->job[6].why, "/vendor-onednn.so"));
    ck_assert(remove(broken) == 0 && remove(folder) == 0);
    while (attest_bench_add(&job, table, ATTEST_BENCH_DD, "more", "", &err) == ATTEST_OK) {
    }
    ck_assert(table->count == ATTEST_BENCH_JOBS && !job && strstr(err.text, "more than 96 rows"));
    ck_assert_int_eq(attest_bench_add_vendors(table, &all, p, in, &err), ATTEST_INTERNAL);
    table_free(table);
}
END_TEST

START_TEST(plugins_are_beside_the_executable)
{
    attest_cli cli = { .options = { .program = "attest" } }; /* found through PATH */
    char folder[300], own[256], here[64] = "/tmp/attest-plugins-XXXXXX", there[80], program[80];
    ck_assert_ptr_nonnull(mkdtemp(here));
    snprintf(there, sizeof there, "%s/kernels", here);
    snprintf(program, sizeof program, "%s/attest", here);
    const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    ck_assert(n > 0);
    own[n] = '\0';
    strcpy(strrchr(own, '/'), "/kernels");
    ck_assert(attest_cli_plugins(folder, sizeof folder, &cli));
    ck_assert_str_eq(folder, own);
    cli.options.program = program; /* a link to the executable, without a folder beside it */
    ck_assert(attest_cli_plugins(folder, sizeof folder, &cli));
    ck_assert_str_eq(folder, own);
    ck_assert_int_eq(mkdir(there, 0700), 0);
    ck_assert(attest_cli_plugins(folder, sizeof folder, &cli));
    ck_assert_str_eq(folder, there);
    ck_assert(attest_cli_plugins(folder, strlen(there) + 1, &cli));
    ck_assert_int_eq(rmdir(there) + rmdir(here), 0);
}
END_TEST

Suite *suite_bench(void)
{
    Suite *suite = suite_create("bench");
    TCase *tables = tcase_create("tables");
    tcase_set_timeout(tables, 30);
    tcase_add_test(tables, pairs_and_expectations);
    tcase_add_test(tables, jobs_compute_and_are_compared);
    tcase_add_test(tables, a_table_of_engines);
    tcase_add_test(tables, honesty_is_least_time_over_least_cost);
    tcase_add_test(tables, a_narrow_table_has_f32_beside_it);
    tcase_add_test(tables, a_table_of_kernels);
    tcase_add_test(tables, yardsticks_keep_out_of_their_range);
    tcase_add_test(tables, tables_refuse);
    tcase_add_test(tables, rows_say_why_not);
    tcase_add_test(tables, plugins_are_beside_the_executable);
    suite_add_tcase(suite, tables);
    return suite;
}
