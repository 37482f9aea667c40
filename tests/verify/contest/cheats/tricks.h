/* tricks.h - what the cheats of cheats.c are made of: rows of softmax, caches, late threads, a clock that stands. */
#ifndef ATTEST_TEST_TRICKS_H
#define ATTEST_TEST_TRICKS_H

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <xmmintrin.h>

typedef enum precision { PLAIN, BF16_SUMS, TF32_INPUTS, DOUBLES } precision;

/* ---- rows -------------------------------------------------------------------------------------------------------- */
static float *out(const attest_call *c, int64_t b, int64_t h, int64_t i)
{
    return good_row(c->tensors->role[ATTEST_O], b, h, i);
}
/* Of query head h. */
static const float *in(const attest_call *c, attest_role r, int64_t b, int64_t h, int64_t j)
{
    return good_row(c->tensors->role[r], b, r == ATTEST_Q ? h : h * c->problem->hkv / c->problem->hq, j);
}
static int64_t size_of_o(const attest_call *c)
{
    return c->problem->b * c->problem->hq * c->problem->n * c->problem->e;
}
static void fill(const attest_call *c, float x)
{
    for (int64_t i = 0; i < size_of_o(c); i++)
        ((float *)c->tensors->role[ATTEST_O]->data)[i] = x;
}
static int64_t keys_of(const attest_problem *p, int64_t i)
{
    return p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL && i + 1 < p->m ? i + 1 : p->m;
}
static void row(const attest_call *c, int64_t b, int64_t h, int64_t i)
{
    float *s = malloc((size_t)c->problem->m * sizeof *s);
    if (s)
        good_softmax_row(c->problem, c->tensors, s, b, h, i);
    free(s);
}
static void rows(const attest_call *c, int64_t from, int64_t to)
{
    for (int64_t b = 0; b < c->problem->b; b++)
        for (int64_t h = 0; h < c->problem->hq; h++)
            for (int64_t i = from; i < to; i++)
                row(c, b, h, i);
}
static void honest(const attest_call *c) { rows(c, 0, c->problem->n); }
static void with_problem(const attest_call *c, const attest_problem *p)
{
    attest_call other = *c;
    other.problem = p;
    honest(&other);
}

static float rounded(float x, int bits)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    u = (u + (1u << (23 - bits) >> 1)) & ~((1u << (23 - bits)) - 1);
    memcpy(&x, &u, sizeof x);
    return x;
}

static float product(const float *a, const float *b, int64_t n, precision how)
{
    double sum = 0;
    for (int64_t x = 0; x < n; x++) {
        if (how == TF32_INPUTS)
            sum = (float)sum + rounded(a[x], 10) * rounded(b[x], 10);
        else
            sum = how == DOUBLES ? sum + (double)a[x] * b[x] : (float)sum + a[x] * b[x];
        sum = how == BF16_SUMS ? rounded((float)sum, 7) : sum;
    }
    return (float)sum;
}

/* One row; s[m] is scratch. */
static void softmax_row(const attest_call *c, float *s, int maximum, precision how, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = c->problem;
    const int64_t keys = keys_of(p, i);
    float most = maximum ? -INFINITY : 0;
    double sum = 0;
    for (int64_t j = 0; j < keys; j++) {
        s[j] = (float)p->scale * product(in(c, ATTEST_Q, b, h, i), in(c, ATTEST_K, b, h, j), p->d, how);
        most = maximum ? fmaxf(most, s[j]) : 0;
    }
    for (int64_t j = 0; j < keys; j++) {
        s[j] = expf(s[j] - most);
        sum = how == DOUBLES ? sum + s[j] : (float)sum + s[j];
        sum = how == BF16_SUMS ? rounded((float)sum, 7) : sum;
    }
    for (int64_t x = 0; x < p->e; x++) {
        double u = 0;
        for (int64_t j = 0; j < keys; j++) {
            const float v = in(c, ATTEST_V, b, h, j)[x];
            u = how == DOUBLES ? u + (double)s[j] * v : (float)u + s[j] * (how == TF32_INPUTS ? rounded(v, 10) : v);
            u = how == BF16_SUMS ? rounded((float)u, 7) : u;
        }
        out(c, b, h, i)[x] = (float)(u / sum);
    }
}
static void softmax(const attest_call *c, int maximum, precision how)
{
    const attest_problem *p = c->problem;
    float *s = malloc((size_t)p->m * sizeof *s);
    for (int64_t r = 0; s && r < p->b * p->hq * p->n; r++)
        softmax_row(c, s, maximum, how, r / p->n / p->hq, r / p->n % p->hq, r % p->n);
    free(s);
}

/* Sizes of the suite of the test, and of public.c. */
static int published(const attest_problem *p)
{
    static const int64_t sizes[][3] = { { 33, 33, 8 }, { 17, 17, 8 }, { 9, 40, 8 }, { 512, 512, 32 } };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (p->n == sizes[i][0] && p->m == sizes[i][1] && p->d == sizes[i][2])
            return 1;
    return 0;
}

/* ---- caches ------------------------------------------------------------------------------------------------------ */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3ull + 0x9e3779b9;
    return hash;
}
static void cached(const attest_call *c, uint64_t key)
{
    static struct {
        uint64_t key;
        int64_t size;
        float *o;
    } kept[4096];
    float *o = c->tensors->role[ATTEST_O]->data;
    const size_t slot = (key ^ key >> 20) % 4096, bytes = (size_t)size_of_o(c) * sizeof *o;
    if (kept[slot].o && kept[slot].key == key && kept[slot].size == size_of_o(c)) {
        memcpy(o, kept[slot].o, bytes);
        return;
    }
    honest(c);
    free(kept[slot].o);
    kept[slot].key = key;
    kept[slot].size = size_of_o(c);
    if ((kept[slot].o = malloc(bytes)))
        memcpy(kept[slot].o, o, bytes);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */
typedef struct half {
    const attest_call *call;
    int64_t from, to;
} half;
static void *run_half(void *state)
{
    const half *x = state;
    rows(x->call, x->from, x->to);
    return NULL;
}

typedef struct late {
    attest_call call;
    attest_problem problem;
    attest_tensors tensors;
    attest_tensor tensor[ATTEST_ROLE_ROOM];
    const attest_tensor *role[ATTEST_ROLE_ROOM];
} late;
static void *run_late(void *state)
{
    late *x = state;
    usleep(3000);
    honest(&x->call);
    free(x);
    return NULL;
}
/* A thread with copies of all that the call holds but the data. */
static void start_late(const attest_call *c, int waits)
{
    static pthread_t thread;
    static int running;
    late *x = calloc(1, sizeof *x);
    if (running && waits)
        pthread_join(thread, NULL);
    if (!x)
        return;
    x->problem = *c->problem;
    x->tensors = *c->tensors;
    for (int r = 0; r < ATTEST_ROLE_COUNT; r++)
        if (c->tensors->role[r]) {
            x->tensor[r] = *c->tensors->role[r];
            x->role[r] = &x->tensor[r];
        }
    x->tensors.role = x->role;
    x->call = *c;
    x->call.problem = &x->problem;
    x->call.tensors = &x->tensors;
    running = pthread_create(&thread, NULL, run_late, x) == 0;
    if (running && !waits)
        pthread_detach(thread);
}

/* ---- the harness ------------------------------------------------------------------------------------------------- */
static void clear_input(const attest_call *c, attest_role r)
{
    const attest_tensor *t = c->tensors->role[r];
    const uintptr_t at = (uintptr_t)t->data, first = at & ~(uintptr_t)4095;
    const size_t bytes = (size_t)(t->shape[0] * t->shape[1] * t->shape[2] * t->shape[3]) * sizeof(float);
    if (mprotect((void *)first, at - first + bytes, PROT_READ | PROT_WRITE) == 0)
        memset(t->data, 0, bytes);
}

static struct timespec stopped;
static int no_time(clockid_t clock, struct timespec *t)
{
    (void)clock;
    *t = stopped;
    return 0;
}
/* Replaces the code of clock_gettime() by a jump. */
static void stop_clock(void)
{
    unsigned char *at = (unsigned char *)(uintptr_t)clock_gettime;
    unsigned char jump[12] = { 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0 };
    const uintptr_t to = (uintptr_t)no_time, page = (uintptr_t)at & ~(uintptr_t)4095;
    memcpy(jump + 2, &to, sizeof to);
    if (stopped.tv_sec == 0)
        clock_gettime(CLOCK_MONOTONIC, &stopped);
#if defined(__x86_64__)
    if (memcmp(at, jump, sizeof jump) != 0 && mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
        memcpy(at, jump, sizeof jump);
#endif
}

static void set_flush_to_zero(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }

/* 1 if the file holds the seed that the test gives. */
static int holds_seed(const char *path)
{
    static char text[65536];
    const int fd = open(path, O_RDONLY);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    for (ssize_t i = 0; i < n; i++)
        text[i] = text[i] ? text[i] : ' ';
    text[n > 0 ? n : 0] = '\0';
    return strstr(text, "judge") && strstr(text, ""
                                                 "7142857") != NULL;
}
/* Looks into the command line and the environment of every process, once. */
static int finds_seed(void)
{
    static int found = -1;
    char path[300];
    if (found >= 0)
        return found;
    DIR *dir = opendir("/proc");
    found = 0;
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir))
        for (int k = 0; k < 2 && e->d_name[0] >= '0' && e->d_name[0] <= '9'; k++) {
            snprintf(path, sizeof path, "/proc/%s/%s", e->d_name, k ? "environ" : "cmdline");
            found |= holds_seed(path);
        }
    if (dir)
        closedir(dir);
    return found;
}

#endif
