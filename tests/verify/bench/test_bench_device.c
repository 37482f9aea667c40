/* test_bench_device.c - `attest bench kernels` on a device: each step of the library's memory that fails, nothing left
 * there, and the tables of a CUDA kernel on the CPU, by a made-up clock. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reference/ball/ball_case.h"
#include "verify/bench/bench_table.h"

Suite *suite_bench_device(void);

/* ---- a device that fails ----------------------------------------------------------------------------------------- */
/* The context of its functions. */
typedef struct fake {
    int calls, fails_at, held, waits; /* fails_at: the call that fails, from 1; 0: none */
    attest_status as;                 /* what it returns then */
} fake;

static attest_status answer(fake *f) { return ++f->calls == f->fails_at ? f->as : ATTEST_OK; }

static attest_status take(void *context, void **pointer, size_t bytes)
{
    fake *f = context;
    const attest_status status = answer(f);
    *pointer = status == ATTEST_OK ? malloc(bytes) : NULL;
    f->held += *pointer != NULL;
    return status;
}

static void give_back(void *context, void *pointer)
{
    ((fake *)context)->held--;
    free(pointer);
}

static attest_status copy(void *context, void *to, const void *from, size_t bytes)
{
    const attest_status status = answer(context);
    if (status == ATTEST_OK)
        memcpy(to, from, bytes);
    return status;
}

static attest_status fill(void *context, void *to, int byte, size_t bytes)
{
    const attest_status status = answer(context);
    if (status == ATTEST_OK)
        memset(to, byte, bytes);
    return status;
}

static attest_status wait(void *context)
{
    ((fake *)context)->waits++;
    return answer(context);
}

static const attest_memory memory = { .device = ATTEST_CUDA,
                                      .alloc = take,
                                      .free = give_back,
                                      .to_device = copy,
                                      .to_host = copy,
                                      .fill = fill,
                                      .sync = wait };

/* Places, waits, reads and clears; *calls = the fake's until then. */
static attest_status whole_way(fake *f, int *calls, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ball_case x;
    ball_case_start(&x, "variant=taylor:2 mask=causal n=3 d=2 e=1 state=draw", 1);
    attest_bench_device d = { .memory = &memory, .context = f };
    attest_view view;
    attest_tensor out;
    void *workspace;
    attest_bundle_view(x.bundle, &view);
    const attest_tensor *const q = view.role[ATTEST_Q], *const h0 = view.h0[2];
    attest_tensor_describe(&out, &x.c.problem, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, 0);
    out.data = calloc(1, attest_tensor_bytes(&out));
    view.role[ATTEST_O] = &out;
    ATTEST_TRY(attest_bench_device_place(&d, &view, &workspace, 100, "kernel", err));
    ck_assert(view.role[ATTEST_Q] != q && view.role[ATTEST_Q]->device == ATTEST_CUDA && q->device != ATTEST_CUDA);
    ck_assert_mem_eq(view.role[ATTEST_Q]->data, q->data, attest_tensor_bytes(q));
    ck_assert(h0 && view.h0[2] != h0 && view.h0[2]->data != h0->data);
    ck_assert_mem_eq(view.h0[2]->data, h0->data, attest_tensor_bytes(h0));
    ck_assert(isnan(*(const float *)view.role[ATTEST_O]->data));
    memset(view.role[ATTEST_O]->data, 7, attest_tensor_bytes(&out));
    ATTEST_TRY(attest_bench_device_wait(&d, "kernel", err));
    ATTEST_TRY(attest_bench_device_read(&d, &view, &out, "kernel", err));
    ck_assert_int_eq(((const char *)out.data)[attest_tensor_bytes(&out) - 1], 7);
out:
    *calls = f->calls;
    attest_bench_device_clear(&d, workspace);
    free(out.data);
    ball_case_stop(&x);
    return status;
}

START_TEST(each_step_may_fail)
{
    attest_error err = { "" };
    fake f = { .fails_at = 0 };
    int calls, none;
    ck_assert_msg(whole_way(&f, &calls, &err) == ATTEST_OK, "%s", err.text);
    ck_assert(calls > 8 && f.held == 0 && f.waits == 1);
    for (int at = 1; at <= calls; at++) {
        f = (fake){ .fails_at = at, .as = at % 2 ? ATTEST_KERNEL_ERROR : ATTEST_NO_MEMORY };
        ck_assert_int_eq(whole_way(&f, &none, &err), f.as);
        ck_assert_msg(f.held == 0 && none == at && strncmp(err.text, "kernel: ", 8) == 0, "call %d: %d left, %s", at,
                      f.held, err.text);
    }
}
END_TEST

/* ---- turns ------------------------------------------------------------------------------------------------------- */
static double counter(void *context) { return *(double *)context += 1; }

typedef struct runner {
    int begun, waits, fails;
} runner;

static attest_status begin(void *context, attest_error *err)
{
    (void)err;
    ((runner *)context)->begun++;
    return ATTEST_OK;
}

static attest_status end(void *context, attest_error *err)
{
    runner *r = context;
    r->waits++;
    return r->fails ? attest_fail(err, ATTEST_KERNEL_ERROR, "the device") : ATTEST_OK;
}

START_TEST(a_turn_waits_once)
{
    double now = 0, sample[3];
    const attest_bench_clock clock = { counter, counter, NULL, &now };
    runner r = { .begun = 0 };
    attest_bench_subject s = { .run = begin, .wait = end, .context = &r, .sample = sample, .wall = 1 };
    attest_error err;
    ck_assert_int_eq(attest_bench_measure(&s, 1, 3, 10, &clock, &err), ATTEST_OK);
    /* a turn lasts 1 s by this clock, of one run or of ten, and shall last 10 */
    ck_assert_int_eq(s.repeats, 100);
    ck_assert_int_eq(r.begun, 1 + 1 + 10 + 3 * 2 * 100);
    ck_assert_int_eq(r.waits, 1 + 1 + 1 + 3 * 2);
    r = (runner){ .fails = 1 };
    ck_assert_int_eq(attest_bench_measure(&s, 1, 3, 10, &clock, &err), ATTEST_KERNEL_ERROR);
    ck_assert_int_eq(r.waits, 1);
}
END_TEST

#define COUNT(array) (sizeof array / sizeof array[0])

static const char *const libraries[] = { "decode", "delta",   "flash",  "flash_f32",
                                         "linear", "softmax", "taylor", "taylor_chunk" };

static attest_plugin *open_library(const char *name, const attest_host *host)
{
    attest_plugin *plugin;
    attest_error err;
    char path[4096];
    snprintf(path, sizeof path, "%s/kernels/cuda-%s-host.so", ATTEST_TEST_BUILD, name);
    ck_assert_msg(attest_plugin_open(&plugin, path, host, &err) == ATTEST_OK, "%s", err.text);
    return plugin;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */
static attest_status make(attest_bench_table *table, const char *line, attest_plugin *plugin, const char *glob,
                          attest_error *err)
{
    static double now;
    static const attest_bench_clock clock = { counter, counter, NULL, &now };
    attest_plugin *const only[] = { plugin };
    const attest_bench_options options = {
        .rounds = 5, .device = ATTEST_CUDA_HOST, .libraries = only, .library_count = 1, .glob = glob, .clock = &clock
    };
    return attest_bench_kernels(table, line, &options, err);
}

START_TEST(kernels_of_a_device)
{
    static const attest_host host = { .struct_size = sizeof host, .abi_version = ATTEST_ABI_VERSION };
    attest_bench_table *table = calloc(1, sizeof *table);
    attest_plugin *plugin = open_library("softmax", &host);
    attest_error err;
    char *text = NULL;
    size_t size;
    ck_assert_msg(make(table, "mask=causal n=6 d=4", plugin, NULL, &err) == ATTEST_OK, "%s", err.text);
    const attest_bench_job *job = &table->job[0];
    ck_assert_str_eq(job->name, "softmax-online-cuda-f32");
    ck_assert_str_eq(table->job[1].name, "naive-f32");
    ck_assert_int_eq(table->naive, 1);
    ck_assert(job->sample[2] == job->walls[2] && table->judged[0].verdict == ATTEST_PASS);
    ck_assert(table->judged[0].ratio_hi > 0 && table->judged[0].ratio_hi < 1);
    ck_assert(isnan(attest_bench_of_multiply_adds(table, 0).median) && isnan(attest_bench_of_reading(table, 0).median));
    ck_assert(isnan(attest_bench_tera(table, 1).median) && isnan(attest_bench_stream(table, 1).median));
    /* a run takes 1 s by this clock: 21 pairs, d + e multiply-adds each; q, k, v and o, of 24 floats each */
    ck_assert(fabs(attest_bench_tera(table, 0).median - 2e-12 * 21 * 8) < 1e-18);
    ck_assert(fabs(attest_bench_stream(table, 0).median - 1e-9 * 4 * 24 * 4) < 1e-15);
    FILE *out = open_memstream(&text, &size);
    attest_bench_print(out, table);
    attest_bench_print_json(out, table);
    fclose(out);
    ck_assert_msg(strstr(text, "softmax-online-cuda-f32 on cuda-host") && strstr(text, " 3.36e-10 [") &&
                      strstr(text, "\"device\":\"cuda-host\",\"tflops\":[") && strstr(text, "\"clock\":\"wall\"") &&
                      !strstr(text, "vendor"),
                  "%s", text);
    free(text);
    attest_bench_table_clear(table);
    ck_assert_int_eq(make(table, "variant=gdn n=4 d=2", plugin, NULL, &err), ATTEST_UNSUPPORTED);
    ck_assert_msg(strstr(err.text, "no kernel of device cuda-host that matches '*' serves variant=gdn"), "%s",
                  err.text);
    ck_assert_int_eq(make(table, "n=4 d=2", plugin, "flash*", &err), ATTEST_UNSUPPORTED);
    ck_assert_msg(strstr(err.text, "that matches 'flash*' serves"), "%s", err.text);
    attest_plugin_free(plugin);
    free(table);
}
END_TEST

static attest_status refuse(void *context, void **pointer, size_t bytes)
{
    (void)context;
    (void)bytes;
    *pointer = NULL;
    return ATTEST_NO_MEMORY;
}

/* A kernel whose device fails is a row that says so; the others are timed. */
START_TEST(a_device_without_room)
{
    static const attest_host host = { .struct_size = sizeof host, .abi_version = ATTEST_ABI_VERSION };
    attest_bench_table *table = calloc(1, sizeof *table);
    attest_plugin *plugin = open_library("softmax", &host);
    attest_error err;
    plugin->memory.alloc = refuse;
    ck_assert_msg(make(table, "mask=causal n=6 d=4", plugin, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(strstr(table->job[0].why, "alloc() of 96 bytes gave status ") &&
                      strstr(table->job[0].why, ", no memory"),
                  "%s", table->job[0].why);
    ck_assert(table->judged[0].verdict == ATTEST_SKIP && table->judged[1].verdict == ATTEST_PASS);
    attest_bench_table_clear(table);
    attest_plugin_free(plugin);
    free(table);
}
END_TEST

/* Each problem that `bench kernels` has of its own is one that a CUDA kernel serves (of the CPU: all but bf16). */
START_TEST(lines_are_served)
{
    static const attest_host host = { .struct_size = sizeof host, .abi_version = ATTEST_ABI_VERSION };
    attest_error err;
    char why[256];
    for (uint32_t device = ATTEST_CPU; device <= ATTEST_CUDA; device++) {
        const attest_bench_lines lines = attest_bench_lines_of(1, device);
        ck_assert(lines.count >= 5);
        for (size_t l = 0; l < lines.count; l++) {
            attest_case c;
            int served = 0;
            ck_assert_msg(attest_case_parse(&c, lines.line[l], NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
            for (size_t n = 0; n < COUNT(libraries); n++) {
                attest_plugin *plugin = open_library(libraries[n], &host);
                for (uint32_t k = 0; k < plugin->library.kernel_count; k++)
                    served += attest_kernel_supports(attest_plugin_loaded(plugin, k), &c.problem, why, sizeof why);
                attest_plugin_free(plugin);
            }
            ck_assert_msg(served > 0 || (device == ATTEST_CPU && c.problem.in == ATTEST_BF16), "%s: %s", lines.line[l],
                          why);
        }
    }
}
END_TEST

/* More libraries than the bytes for threads' variables of model initial-exec suffice for. */
START_TEST(all_libraries_in_one_process)
{
    static const attest_host host = { .struct_size = sizeof host, .abi_version = ATTEST_ABI_VERSION };
    attest_plugin *plugin[COUNT(libraries)];
    for (size_t n = 0; n < COUNT(libraries); n++)
        plugin[n] = open_library(libraries[n], &host);
    for (size_t n = 0; n < COUNT(libraries); n++)
        attest_plugin_free(plugin[n]);
}
END_TEST

Suite *suite_bench_device(void)
{
    Suite *suite = suite_create("bench_device");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, each_step_may_fail);
    tcase_add_test(all, a_turn_waits_once);
    tcase_add_test(all, kernels_of_a_device);
    tcase_add_test(all, a_device_without_room);
    tcase_add_test(all, lines_are_served);
    tcase_add_test(all, all_libraries_in_one_process);
    suite_add_tcase(suite, all);
    return suite;
}
