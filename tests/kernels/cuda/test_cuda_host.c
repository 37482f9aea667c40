/* test_cuda_host.c - kernels/cuda/host: what threads, warps, memory and tensor cores give (probe.cu), that each way to
 * go wrong is told, and the project's CUDA kernels: the same bits in every order of threads, clean under sanitizers. */
#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

Suite *suite_cuda_host(void);

#define BUILT(name) ATTEST_TEST_BUILD "/" name
#define COUNT(array) (sizeof array / sizeof array[0])

typedef const char *run_probe(const char *name, float *x, size_t count);
typedef const char *run_function(int which, float *x, size_t count);

static void *symbol(const char *name)
{
    void *library = dlopen(BUILT("cuda/probe.so"), RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    void *found = dlsym(library, name);
    ck_assert_ptr_nonnull(found);
    return found;
}

static const char *probe(const char *name, float *x, size_t count)
{
    return ((run_probe *)(uintptr_t)symbol("probe_run"))(name, x, count);
}

static const char *const orders[] = { "forward", "reverse", "greedy", "greedy-reverse", "random:1", "random:29" };

/* ---- what the machine gives ---------------------------------------------------------------------------------- */
START_TEST(test_lanes)
{
    float x[64];
    setenv("ATTEST_CUDA_HOST_ORDER", orders[_i], 1);
    for (int i = 0; i < 64; i++)
        x[i] = (float)(i % 32);
    ck_assert_ptr_null(probe("lanes", x, 64));
    for (int i = 0; i < 32; i++) {
        const int down = i % 8 + 3 < 8 ? i + 3 : i, up = i >= 2 ? i - 2 : i, named = i / 16 * 16 + 5;
        const float want = (float)down + 100.0f * (float)up + 10000.0f * (float)named + 1000000.0f * (float)(i ^ 9);
        ck_assert_msg(x[i] == want && x[32 + i] == 1, "lane %d: %a not %a; votes %g", i, (double)x[i], (double)want,
                      (double)x[32 + i]);
    }
    for (int i = 0; i < 32; i++)
        x[i] = (float)i;
    ck_assert_ptr_null(probe("halves", x, 32));
    for (int i = 0; i < 32; i++)
        ck_assert_int_eq((int)x[i], i < 16 ? i ^ 1 : i ^ 2);
    ck_assert_ptr_null(probe("half-votes", x, 64));
    for (int i = 0; i < 32; i++)
        ck_assert_msg(x[i] == (i < 16 ? 0xfdff : 1 << 20) && x[32 + i] == (i < 16 ? 3 : 0),
                      "lane %d: %a, any and all %g", i, (double)x[i], (double)x[32 + i]);
}
END_TEST

/* Lanes that have ended, or never were, are in a mask for nothing. */
START_TEST(test_absent)
{
    float x[64] = { 0 };
    setenv("ATTEST_CUDA_HOST_ORDER", orders[_i], 1);
    const char *said = probe("ended", x, 64);
    ck_assert_msg(!said, "%s", said);
    for (int i = 0; i < 64; i++)
        ck_assert_msg(x[i] == (i < 40 ? 2 : 0), "thread %d: %g", i, (double)x[i]);
    for (int i = 0; i < 16; i++)
        x[i] = (float)i;
    said = probe("small", x, 16);
    ck_assert_msg(!said, "%s", said);
    for (int i = 0; i < 16; i++)
        ck_assert_int_eq((int)x[i], i ^ 1);
}
END_TEST

START_TEST(test_block)
{
    float x[64];
    setenv("ATTEST_CUDA_HOST_ORDER", orders[_i], 1);
    for (int i = 0; i < 64; i++)
        x[i] = (float)(i * i);
    ck_assert_ptr_null(probe("tree", x, 64));
    ck_assert(x[0] == 63.0f * 64 * 127 / 6);
    ck_assert_msg(x[1] != x[1], "shared memory that was never written holds %g", (double)x[1]);
}
END_TEST

START_TEST(test_instances)
{
    float x[17] = { 0 };
    const char *said = probe("instances", x, 17);
    ck_assert_msg(!said, "%s", said);
    for (int i = 0; i < 16; i++)
        ck_assert_int_eq((int)x[i], i);
    ck_assert(x[16] == 1);
}
END_TEST

START_TEST(test_alignments)
{
    static const int want[] = { 4, 8, 16, 8, 32, 1024, 64 };
    float x[16] = { 0 };
    const char *said = probe("alignments", x, 16);
    ck_assert_msg(!said, "%s", said);
    for (int i = 0; i < 7; i++)
        ck_assert_msg(x[i] == (float)want[i] || (i == 5 && x[i] >= 1024), "array %d lies at multiples of %g not %d", i,
                      (double)x[i], want[i]);
}
END_TEST

START_TEST(test_copies)
{
    static const float want[] = { 1, 11, 1, 15, 0 };
    float x[16];
    for (int i = 0; i < 16; i++)
        x[i] = (float)(10 + i);
    ck_assert_ptr_null(probe("copies", x, 16));
    for (int i = 0; i < 5; i++)
        ck_assert_msg(x[8 + i] == want[i], "%d: %g not %g", i, (double)x[8 + i], (double)want[i]);
}
END_TEST

/* sum_t (i + 16 t)(t - j) + j, by hand. */
START_TEST(test_product)
{
    static const char *const names[] = { "product-bf16", "product-f16" };
    float x[128];
    ck_assert_ptr_null(probe(names[_i], x, 128));
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            int want = j;
            for (int t = 0; t < 16; t++)
                want += (i + 16 * t) * (t - j);
            ck_assert_msg(x[i * 8 + j] == (float)want, "%s [%d,%d]: %g not %d", names[_i], i, j, (double)x[i * 8 + j],
                          want);
        }
}
END_TEST

static const struct {
    const char *name, *words;
} wrong[] = {
    { "branch", "this barrier" },
    { "forever", "deadlock: thread" },
    { "gone", "a lane that takes no part" },
    { "nobody", "a lane that takes no part" },
    { "short-product", "ldmatrix is for all lanes of a warp" },
    { "short-mma", "mma is for all lanes of a warp" },
    { "alien", "is not in its own mask 0000ffff" },
    { "outside", "a lane that takes no part" },
    { "masks", "of a warp meet at" },
    { "crooked", "multiples of 16" },
    { "unaligned", "multiples of 16" },
    { "unaligned-dynamic", "multiples of 16" },
    { "two-alignments", "aligned to 16 bytes" },
    { "forgotten", "never waited for this copy" },
    { "copy-to-device", "cp.async to what is not 16 bytes of one shared array" },
    { "copy-from-shared", "cp.async from what is not device memory" },
    { "copy-over-end", "cp.async to what is not 16 bytes of one shared array" },
    { "row-of-device", "ldmatrix of what is not 16 bytes of one shared array" },
    { "row-of-own", "ldmatrix of what is not 16 bytes of one shared array" },
    { "row-over-end", "ldmatrix of what is not 16 bytes of one shared array" },
#ifndef __SANITIZE_ADDRESS__ /* which may keep a thread's array elsewhere, and ends the process at such a write */
    { "copy-from-own", "cp.async from what is not device memory" },
    { "beyond-shared", "shared memory was written outside of its arrays" },
    { "before-shared", "shared memory was written outside of its arrays" },
    { "beyond-device", "device memory was written past its end" },
#endif
    { "greedy-array", "more than a block can have" },
    { "too-much", "more dynamic shared memory" },
    { "too-many", "1 to 1024 threads" },
};

START_TEST(test_wrong)
{
    for (size_t o = 0; o < COUNT(orders); o++) {
        float x[64] = { 0 };
        setenv("ATTEST_CUDA_HOST_ORDER", orders[o], 1);
        const char *said = probe(wrong[_i].name, x, 64);
        ck_assert_msg(said && strstr(said, wrong[_i].words), "%s, %s: %s", wrong[_i].name, orders[o],
                      said ? said : "nothing was said");
        float again[64] = { 0 };
        ck_assert_msg(!probe("lanes", again, 64), "%s leaves something behind", wrong[_i].name);
    }
}
END_TEST

START_TEST(test_environment)
{
    float x[128] = { 0 };
    setenv("ATTEST_CUDA_HOST_ORDER", "random:", 1);
    const char *said = probe("lanes", x, 128);
    ck_assert_msg(said && strstr(said, "ATTEST_CUDA_HOST_ORDER"), "%s", said ? said : "nothing was said");
    setenv("ATTEST_CUDA_HOST_ORDER", "forward", 1);
    setenv("ATTEST_CUDA_HOST_GPU", "k80", 1);
    said = probe("lanes", x, 128);
    ck_assert_msg(said && strstr(said, "ATTEST_CUDA_HOST_GPU"), "%s", said ? said : "nothing was said");
}
END_TEST

/* ---- functions of warp.h: errors as flash.cu declares them --------------------------------------------------- */
static double exact(int which, double x) { return which == 0 ? exp(x) : which == 1 ? log(x) : tanh(x); }

START_TEST(test_functions)
{
    enum { POINTS = 1 << 20 };
    static const struct {
        double least, most, error; /* relative; of tanh absolute */
    } all[] = { { -87.3, 0, 0x1.a4p-24 }, { 0x1p-120, 0x1p120, 0x1p-21 }, { -12, 12, 0x1p-22 } };
    float *x = malloc(POINTS * sizeof *x), *y = malloc(POINTS * sizeof *y);
    double largest = 0;
    ck_assert(x && y);
    for (int i = 0; i < POINTS; i++) {
        const double part = (i + 0.5) / POINTS;
        x[i] = _i == 1 && i % 2 ? (float)(0.5 + 2 * part) /* where log is small */
               : _i == 1        ? (float)exp2(-120 + 240 * part)
                                : (float)(all[_i].least + (all[_i].most - all[_i].least) * part);
        y[i] = x[i];
    }
    ck_assert_ptr_null(((run_function *)(uintptr_t)symbol("probe_function"))(_i, y, POINTS));
    for (int i = 0; i < POINTS; i++) {
        const double want = exact(_i, (double)x[i]), size = _i == 2 || want == 0 ? 1 : fabs(want);
        const double error = fabs((double)y[i] - want) / size;
        largest = error > largest ? error : largest;
        ck_assert_msg(error <= all[_i].error, "function %d of %a: error %a", _i, (double)x[i], error);
    }
    ck_assert_msg(largest > all[_i].error / 16, "the declared error is %g times the largest", all[_i].error / largest);
    free(y);
    free(x);
}
END_TEST

START_TEST(test_function_edges)
{
    float x[256] = { 0 };
    x[0] = -INFINITY, x[1] = NAN, x[2] = -103, x[3] = -88, x[4] = -3e38f;
    ck_assert_ptr_null(((run_function *)(uintptr_t)symbol("probe_function"))(0, x, 256));
    ck_assert(x[0] == 0 && x[1] != x[1] && x[2] == 0x1p-149f && x[4] == 0 && x[5] == 1);
    ck_assert(fabs((double)x[3] - exp(-88)) <= 0x1p-149);
    x[0] = INFINITY, x[1] = NAN, x[2] = 1;
    ck_assert_ptr_null(((run_function *)(uintptr_t)symbol("probe_function"))(1, x, 256));
    ck_assert(isinf(x[0]) && x[1] != x[1] && x[2] == 0);
}
END_TEST

/* ---- the project's kernels ----------------------------------------------------------------------------------- */
enum { ORDERS = 6 };
#define EVERY_ORDER                                                                                                    \
    " --order forward --order reverse --order greedy --order greedy-reverse --order random:1 --order random:2"
#define SOFTMAX " 'variant=softmax mask=causal-br n=33 m=300 d=24 e=140 hq=2 hkv=1' 'variant=softmax n=9 d=8'"
#define FLASH                                                                                                          \
    " 'variant=softmax mask=causal n=150 d=64 hq=2 hkv=1 in=bf16 p=bf16'"                                              \
    " 'variant=softmax mask=causal-br lens=draw window=90 b=2 n=70 m=140 d=72 e=20 cap=4 in=f16 p=f16 out=f32'"
#define FLASH_F32                                                                                                      \
    " 'variant=softmax mask=causal n=70 d=20 e=18 hq=2 hkv=1'"                                                         \
    " 'variant=softmax mask=causal-br lens=draw window=50 b=2 n=40 m=140 d=9 e=70 cap=4'"
#define DECODE                                                                                                         \
    " 'variant=softmax n=1 m=140 d=5 e=128 splits=2'"                                                                  \
    " 'variant=softmax mask=causal-br lens=draw window=50 b=2 hq=4 hkv=2 n=5 m=150 d=20 e=18 cap=4 splits=3'"
#define LINEAR                                                                                                         \
    " 'variant=retnet norm=sum state=draw n=70 d=20 e=35 hq=4 hkv=2 chunk=24'"                                         \
    " 'variant=sla-gla hq=2 n=40 d=9 e=5 chunk=64'"

#define TAYLOR                                                                                                         \
    " 'variant=taylor:3 mask=causal state=draw b=2 n=21 d=9 e=35 hq=4 hkv=2'"                                          \
    " 'variant=simple-gla weight=term:3 norm=sum n=30 d=13 e=5 hq=10 hkv=1'"                                           \
    " 'variant=quadratic mask=full n=5 m=21 d=30 e=40'"
#define DELTA                                                                                                          \
    " 'variant=gdn state=draw n=70 d=9 e=35 hq=4 hkv=2 chunk=24'"                                                      \
    " 'variant=sla-deltanet mask=causal-br hq=2 n=66 m=80 d=20 chunk=64'"                                              \
    " 'variant=deltanet n=20 d=64 e=3 chunk=1'"
#define TAYLOR_CHUNK                                                                                                   \
    " 'variant=taylor:3 mask=causal state=draw n=70 d=9 e=35 hq=4 hkv=2 chunk=24 in=bf16 p=bf16 out=f32'"              \
    " 'variant=quadratic mask=full n=3 m=21 d=30 e=5 chunk=64 in=bf16 p=bf16'"

/* Runs the command; its output to `text`, its exit code is returned. */
static int shell(const char *command, char *text, size_t size)
{
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    const size_t length = fread(text, 1, size - 1, pipe);
    text[length] = '\0';
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int lines_of(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

// clang-format off
#define FAR_BF16 " 'variant=softmax b=2 n=9 d=8 in=bf16 p=bf16'"
#define FAR " 'variant=softmax b=2 n=9 d=8'"
static const struct {
    const char *library, *problems; /* kernels/cuda/LIBRARY.cu */
    int runs;                       /* of its kernels, in one order */
    const char *far;
} libraries[] = {
    { "softmax",      SOFTMAX,      2, FAR },
    { "flash",        FLASH,        2, FAR_BF16 },
    { "flash_f32",    FLASH_F32,    2, FAR },
    { "decode",       DECODE,       2, FAR },
    { "linear",       LINEAR,       2, " 'variant=linear mask=causal b=2 n=9 d=8'" },
    { "taylor",       TAYLOR,       3, " 'variant=taylor:2 mask=causal b=2 n=9 d=8'" },
    { "delta",        DELTA,        3, " 'variant=deltanet b=2 n=9 d=8'" },
    { "taylor_chunk", TAYLOR_CHUNK, 2, " 'variant=taylor:2 mask=causal b=2 n=9 d=8 in=bf16 p=bf16'" },
};
// clang-format on

/* A library as the gate loads it. */
#define RUN BUILT("cuda/run") " --library " BUILT("kernels/cuda-%s-host.so") " %s %s"

/* What `form`, a command with the library's name, options and problems, says in `runs` lines. */
static void check_run(const char *form, const char *library, const char *options, const char *problems, int runs)
{
    char text[8192], command[2048];
    const int length = snprintf(command, sizeof command, form, library, options, problems);
    ck_assert(length > 0 && (size_t)length + sizeof " 2>&1" <= sizeof command);
    strcat(command, " 2>&1");
    const int code = shell(command, text, sizeof text);
    ck_assert_msg(code == 0, "%s: exit code %d\n%s", command, code, text);
    ck_assert_msg(lines_of(text) == runs, "%s: not %d runs\n%s", command, runs, text);
}

START_TEST(test_every_order)
{
    check_run(RUN, libraries[_i].library, EVERY_ORDER, libraries[_i].problems, ORDERS * libraries[_i].runs);
}
END_TEST

START_TEST(test_without_o)
{
    check_run(RUN, libraries[_i].library, "--without-o", libraries[_i].problems, libraries[_i].runs);
}
END_TEST

START_TEST(test_far) { check_run(RUN, libraries[_i].library, "--far", libraries[_i].far, 1); }
END_TEST

START_TEST(test_asan)
{
    check_run("ASAN_OPTIONS=detect_leaks=0 " BUILT("cuda/%s-asan") " %s %s", libraries[_i].library, "",
              libraries[_i].problems, libraries[_i].runs);
}
END_TEST

#ifdef ATTEST_TEST_TSAN
START_TEST(test_tsan)
{
    check_run(BUILT("cuda/%s-tsan") " %s %s", libraries[_i].library, "", libraries[_i].problems, libraries[_i].runs);
}
END_TEST
#endif

/* The bits are those of a GPU's tensor cores: Ampere's are others than Hopper's, H100's and H200's the same; exact sums
 * have bits of their own. */
START_TEST(test_gpus)
{
    static const char *const gpus[] = { "h100", "h200", "a100", "exact" };
    char text[4][1024], command[1024];
    for (size_t i = 0; i < COUNT(gpus); i++) {
        snprintf(command, sizeof command, "ATTEST_CUDA_HOST_GPU=%s %s", gpus[i],
                 BUILT("cuda/run") " --library " BUILT(
                     "kernels/cuda-flash-host.so") " 'variant=softmax n=33 d=64 in=bf16 p=bf16 out=f32'");
        ck_assert_int_eq(shell(command, text[i], sizeof text[i]), 0);
    }
    ck_assert_str_eq(text[0], text[1]);
    ck_assert_str_ne(text[0], text[2]);
    ck_assert_str_ne(text[0], text[3]);
    ck_assert_str_ne(text[2], text[3]);
}
END_TEST

Suite *suite_cuda_host(void)
{
    Suite *suite = suite_create("cuda_host");
    TCase *machine = tcase_create("machine"), *kernels = tcase_create("kernels");
    tcase_add_loop_test(machine, test_lanes, 0, (int)COUNT(orders));
    tcase_add_loop_test(machine, test_absent, 0, (int)COUNT(orders));
    tcase_add_loop_test(machine, test_block, 0, (int)COUNT(orders));
    tcase_add_test(machine, test_instances);
    tcase_add_test(machine, test_alignments);
    tcase_add_test(machine, test_copies);
    tcase_add_loop_test(machine, test_product, 0, 2);
    tcase_add_loop_test(machine, test_wrong, 0, (int)COUNT(wrong));
    tcase_add_test(machine, test_environment);
    tcase_add_loop_test(machine, test_functions, 0, 3);
    tcase_add_test(machine, test_function_edges);
    tcase_add_loop_test(kernels, test_every_order, 0, (int)COUNT(libraries));
    tcase_add_loop_test(kernels, test_without_o, 0, (int)COUNT(libraries));
    tcase_add_loop_test(kernels, test_far, 0, (int)COUNT(libraries));
    tcase_add_loop_test(kernels, test_asan, 0, (int)COUNT(libraries));
#ifdef ATTEST_TEST_TSAN
    tcase_add_loop_test(kernels, test_tsan, 0, (int)COUNT(libraries));
#endif
    tcase_add_test(kernels, test_gpus);
    tcase_set_timeout(machine, 60);
    tcase_set_timeout(kernels, 120);
    suite_add_tcase(suite, machine);
    suite_add_tcase(suite, kernels);
    return suite;
}
