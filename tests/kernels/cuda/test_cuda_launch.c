/* test_cuda_launch.c - kernels/cuda/host: launches, shared memory and instructions that CUDA refuses (probe.cu), by the
 * GPU. */
#include <check.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

Suite *suite_cuda_launch(void);

#define COUNT(array) (sizeof array / sizeof array[0])

typedef const char *run_probe(const char *name, float *x, size_t count);
typedef int run_allow(const char *name, int bytes);
typedef int run_launch(const unsigned *grid, const unsigned *size, size_t dynamic);

static void *symbol(const char *name)
{
    void *library = dlopen(ATTEST_TEST_BUILD "/cuda/probe.so", RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    void *found = dlsym(library, name);
    ck_assert_ptr_nonnull(found);
    return found;
}

static const char *probe(const char *name, float *x, size_t count)
{
    return ((run_probe *)(uintptr_t)symbol("probe_run"))(name, x, count);
}

enum { SUCCESS = 0, INVALID_VALUE = 1, INVALID_CONFIGURATION = 9 }; /* of cudaError_t */

static int allow(const char *name, int bytes) { return ((run_allow *)(uintptr_t)symbol("probe_allow"))(name, bytes); }

static int launch(const unsigned *grid, const unsigned *size, size_t dynamic)
{
    return ((run_launch *)(uintptr_t)symbol("probe_launch"))(grid, size, dynamic);
}

static const struct {
    unsigned grid[3], size[3];
    size_t dynamic;
    int allowed, want; /* -1: nothing was allowed */
} launches[] = {
    { { 1, 1, 1 }, { 32, 1, 1 }, 48 * 1024, -1, SUCCESS },
    { { 1, 1, 1 }, { 32, 1, 1 }, 48 * 1024 + 1, -1, INVALID_VALUE },
    { { 1, 1, 1 }, { 32, 1, 1 }, 60000, 60000, SUCCESS },
    { { 1, 1, 1 }, { 32, 1, 1 }, 1001, 1000, INVALID_VALUE },
    { { 1, 65535, 1 }, { 1, 1, 1 }, 0, -1, SUCCESS },
    { { 1, 65536, 1 }, { 1, 1, 1 }, 0, -1, INVALID_CONFIGURATION },
    { { 1, 1, 65536 }, { 1, 1, 1 }, 0, -1, INVALID_CONFIGURATION },
    { { 1, 0, 1 }, { 1, 1, 1 }, 0, -1, INVALID_CONFIGURATION },
    { { 1, 1, 1 }, { 1, 1, 64 }, 0, -1, SUCCESS },
    { { 1, 1, 1 }, { 1, 1, 65 }, 0, -1, INVALID_CONFIGURATION },
    { { 1, 1, 1 }, { 1, 1025, 1 }, 0, -1, INVALID_CONFIGURATION },
    { { 1, 1, 1 }, { 32, 33, 1 }, 0, -1, INVALID_CONFIGURATION },
    { { 1, 1, 1 }, { 769546, 494770, 48448661 }, 0, -1, INVALID_CONFIGURATION }, /* 2^64 + 4 threads */
};

START_TEST(test_launch)
{
    if (launches[_i].allowed >= 0)
        ck_assert_int_eq(allow("too-much", launches[_i].allowed), SUCCESS);
    ck_assert_int_eq(launch(launches[_i].grid, launches[_i].size, launches[_i].dynamic), launches[_i].want);
}
END_TEST

/* Shared memory of a block, by the GPU. */
START_TEST(test_allow)
{
    static const struct {
        const char *gpu;
        int most;
    } all[] = { { "v100", 96 },  { "a100", 163 }, { "a2", 99 },    { "ada", 99 },   { "l40s", 99 },
                { "h100", 227 }, { "h200", 227 }, { "b200", 227 }, { "exact", 227 } };
    static const unsigned one[] = { 1, 1, 1 };
    for (size_t i = 0; i < COUNT(all); i++) {
        const int most = all[i].most * 1024;
        setenv("ATTEST_CUDA_HOST_GPU", all[i].gpu, 1);
        ck_assert_int_eq(allow("too-much", most), SUCCESS);
        ck_assert_int_eq(launch(one, one, (size_t)most), SUCCESS);
        ck_assert_int_eq(allow("too-much", most + 1), INVALID_VALUE);
        ck_assert_int_eq(allow("too-much", -1), INVALID_VALUE);
        ck_assert_int_eq(launch(one, one, (size_t)most), SUCCESS);
    }
}
END_TEST

/* Instructions that a GPU is too old for; its vectors are compared without them. */
START_TEST(test_old_gpu)
{
    static const struct {
        const char *probe, *words;
    } all[] = { { "mma-bf16", "mma.m16n8k16 needs sm_80" },
                { "mma-f16", "mma.m16n8k16 needs sm_80" },
                { "copies", "cp.async needs sm_80" },
                { "product-f16", "ldmatrix needs sm_75" } };
    static const char *const young[] = { "a100", "a2", "b200", "exact" };
    float x[128] = { 0 };
    setenv("ATTEST_CUDA_HOST_GPU", "v100", 1);
    const char *said = probe(all[_i].probe, x, 128);
    ck_assert_msg(said && strstr(said, all[_i].words), "%s", said ? said : "nothing was said");
    for (size_t i = 0; i < COUNT(young); i++) {
        setenv("ATTEST_CUDA_HOST_GPU", young[i], 1);
        said = probe(all[_i].probe, x, 128);
        ck_assert_msg(!said, "%s: %s", young[i], said);
    }
}
END_TEST

/* 40000 bytes of static and 10000 of dynamic memory. */
START_TEST(test_both_memories)
{
    float x[64] = { 0 };
    const char *said = probe("both-memories", x, 64);
    ck_assert_msg(said && strstr(said, "more than a block can have"), "%s", said ? said : "nothing was said");
    ck_assert_int_eq(allow("both-memories", 10000), SUCCESS);
    said = probe("both-memories", x, 64);
    ck_assert_msg(!said, "%s", said);
    ck_assert_int_eq(allow("both-memories", 200000), SUCCESS); /* a GPU refuses this, with 40000 more */
    said = probe("both-memories", x, 64);
    ck_assert_msg(said && strstr(said, "more than a block can have"), "%s", said ? said : "nothing was said");
}
END_TEST

Suite *suite_cuda_launch(void)
{
    Suite *suite = suite_create("cuda_launch");
    TCase *t = tcase_create("launch");
    tcase_add_loop_test(t, test_launch, 0, (int)COUNT(launches));
    tcase_add_test(t, test_allow);
    tcase_add_test(t, test_both_memories);
    tcase_add_loop_test(t, test_old_gpu, 0, 4);
    tcase_set_timeout(t, 60);
    suite_add_tcase(suite, t);
    return suite;
}
