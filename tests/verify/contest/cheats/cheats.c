/* cheats.c - kernels that try to pass or to look fast without computing, and some that are honest.
 *
 * The table at the end says what each does.  test_contest.c has `attest judge` refuse all but `honest-*`; table.py
 * writes which of them the checks of public benchmarks let pass (reports/docs/judge.md).  All serve softmax in f32. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../../plugins/good.h"
#include "tricks.h"

/* ---- wrong outputs ----------------------------------------------------------------------------------------------- */
static void zeros(const attest_call *c) { fill(c, 0); }
static void unwritten(const attest_call *c) { (void)c; }
static void nan_everywhere(const attest_call *c) { fill(c, NAN); }
static void last_row_unwritten(const attest_call *c) { rows(c, 0, c->problem->n - 1); }

static void nan_in_last_row(const attest_call *c)
{
    honest(c);
    for (int64_t b = 0; b < c->problem->b; b++)
        for (int64_t h = 0; h < c->problem->hq; h++)
            for (int64_t x = 0; x < c->problem->e; x++)
                out(c, b, h, c->problem->n - 1)[x] = NAN;
}

/* o of a row: the mean of the keys that it sees, or one key's v. */
static void copy_v(const attest_call *c, int mean)
{
    const attest_problem *p = c->problem;
    for (int64_t r = 0; r < p->b * p->hq * p->n; r++) {
        const int64_t i = r % p->n, h = r / p->n % p->hq, b = r / p->n / p->hq, keys = keys_of(p, i);
        for (int64_t x = 0; x < p->e; x++) {
            float sum = 0;
            for (int64_t j = mean ? 0 : keys - 1; j < keys; j++)
                sum += in(c, ATTEST_V, b, h, j)[x];
            out(c, b, h, i)[x] = mean ? sum / (float)keys : sum;
        }
    }
}
static void mean_of_v(const attest_call *c) { copy_v(c, 1); }
static void last_v(const attest_call *c) { copy_v(c, 0); }

/* Entries of the batch, or heads, from the first one. */
static void copy_first(const attest_call *c, int heads)
{
    const attest_problem *p = c->problem;
    for (int64_t b = 0; b < (heads ? p->b : 1); b++)
        for (int64_t h = 0; h < (heads ? 1 : p->hq); h++)
            for (int64_t i = 0; i < p->n; i++)
                row(c, b, h, i);
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t h = 0; h < p->hq; h++)
            for (int64_t i = 0; i < p->n; i++)
                memmove(out(c, b, h, i), out(c, heads ? b : 0, heads ? 0 : h, i), (size_t)p->e * sizeof(float));
}
static void one_head(const attest_call *c) { copy_first(c, 1); }
static void one_batch(const attest_call *c) { copy_first(c, 0); }

static void first_64_keys(const attest_call *c)
{
    attest_problem p = *c->problem;
    p.m = p.m < 64 ? p.m : 64;
    with_problem(c, &p);
}
static void without_tail(const attest_call *c) /* of an unfinished tile of 8 keys */
{
    attest_problem p = *c->problem;
    p.m = p.m < 8 ? p.m : p.m / 8 * 8;
    with_problem(c, &p);
}
static void every_second_row(const attest_call *c)
{
    const attest_problem *p = c->problem;
    for (int64_t r = 0; r < p->b * p->hq * p->n; r++) {
        const int64_t i = r % p->n, h = r / p->n % p->hq, b = r / p->n / p->hq;
        if (i % 2)
            memmove(out(c, b, h, i), out(c, b, h, i - 1), (size_t)p->e * sizeof(float));
        else
            row(c, b, h, i);
    }
}
static void no_maximum(const attest_call *c) { softmax(c, 0, PLAIN); }
static void no_scale(const attest_call *c)
{
    attest_problem p = *c->problem;
    p.scale = 0.35;
    with_problem(c, &p);
}

/* ---- lower precision --------------------------------------------------------------------------------------------- */
static void bf16_sums(const attest_call *c) { softmax(c, 1, BF16_SUMS); }
static void tf32_inputs(const attest_call *c) { softmax(c, 1, TF32_INPUTS); }
static void noise(const attest_call *c)
{
    honest(c);
    for (int64_t x = 0; x < size_of_o(c); x++)
        ((float *)c->tensors->role[ATTEST_O]->data)[x] += 1e-4f * (float)(rand() % 3 - 1);
}

/* ---- answers of before ------------------------------------------------------------------------------------------- */
static void cached_by_sizes(const attest_call *c)
{
    cached(c, hash_bytes(1, &c->problem->n, 5 * sizeof c->problem->n));
}
static void cached_by_address(const attest_call *c)
{
    uint64_t key = hash_bytes(2, &c->problem->n, 5 * sizeof c->problem->n);
    for (int r = ATTEST_Q; r <= ATTEST_V; r++)
        if (c->tensors->role[r])
            key = hash_bytes(key, &c->tensors->role[r]->data, sizeof(void *));
    cached(c, key);
}
static void cached_by_sample(const attest_call *c) /* the first rows of q, k and v */
{
    uint64_t key = hash_bytes(3, &c->problem->n, 5 * sizeof c->problem->n);
    key = hash_bytes(key, in(c, ATTEST_Q, 0, 0, 0), (size_t)c->problem->d * sizeof(float));
    key = hash_bytes(key, in(c, ATTEST_K, 0, 0, 0), (size_t)c->problem->d * sizeof(float));
    cached(c, hash_bytes(key, in(c, ATTEST_V, 0, 0, 0), (size_t)c->problem->e * sizeof(float)));
}
static void lazy_after_100(const attest_call *c)
{
    static int calls;
    if (++calls <= 100)
        honest(c);
}
static void lazy_after_1000(const attest_call *c)
{
    static int calls;
    if (++calls <= 1000)
        honest(c);
    else
        fill(c, 0);
}
static void cached_after_20(const attest_call *c)
{
    static int calls;
    if (++calls <= 20)
        honest(c);
    else
        cached_by_sizes(c);
}

/* ---- what looks like a test -------------------------------------------------------------------------------------- */
static void stale_output(const attest_call *c) /* numbers that are there may be the reference's */
{
    if (isnan(out(c, 0, 0, 0)[0]))
        honest(c);
}
static void aligned_only(const attest_call *c)
{
    if ((uintptr_t)c->tensors->role[ATTEST_Q]->data % 64 == 0)
        honest(c);
    else
        mean_of_v(c);
}
static void hard_coded_sizes(const attest_call *c) /* those that are published */
{
    if (published(c->problem))
        honest(c);
    else
        fill(c, 0);
}

/* ---- other threads and processes --------------------------------------------------------------------------------- */
static void late_thread(const attest_call *c) { start_late(c, 0); }
static void late_thread_waited(const attest_call *c) { start_late(c, 1); }
static void late_process(const attest_call *c)
{
    if (fork() == 0) {
        honest(c);
        usleep(200000);
        _exit(0);
    }
}
static void threads(const attest_call *c)
{
    pthread_t thread;
    half x = { c, 0, c->problem->n / 2 };
    const int made = pthread_create(&thread, NULL, run_half, &x) == 0;
    rows(c, c->problem->n / 2, c->problem->n);
    if (made)
        pthread_join(thread, NULL);
    else
        run_half(&x);
}

/* ---- the harness ------------------------------------------------------------------------------------------------- */
static void changed_inputs(const attest_call *c) /* so that what is computed from them afterwards is 0 too */
{
    clear_input(c, ATTEST_V);
    fill(c, 0);
}
static void scribbled_inputs(const attest_call *c)
{
    honest(c);
    clear_input(c, ATTEST_Q);
}
static void patched_timer(const attest_call *c)
{
    stop_clock();
    for (int i = 0; i < (c->problem->n < 128 ? 1 : 4); i++)
        honest(c);
}
static void killed_parent(const attest_call *c)
{
    if (c)
        kill(getppid(), SIGKILL);
}
static void exit_zero(const attest_call *c) { _exit(c ? 0 : 1); }
static void forged_verdict(const attest_call *c)
{
    printf("{\"kernel\":\"forged-verdict\",\"verdict\":\"pass\",\"score\":99}\n");
    fflush(stdout);
    fill(c, 0);
}
static void forged_answer(const attest_call *c)
{
    static const unsigned char answer[1024] = { 0x06, 0x57, 0x74, 0x61, 1 };
    fill(c, 0);
    for (int fd = 3; fd < 16; fd++)
        if (write(fd, answer, sizeof answer) < 0)
            continue;
}
static void flush_to_zero(const attest_call *c)
{
    honest(c);
    set_flush_to_zero();
}

/* ---- honest ------------------------------------------------------------------------------------------------------ */
static void seeker(const attest_call *c) /* fails if it finds the seed */
{
    if (finds_seed())
        fill(c, 0);
    else
        honest(c);
}
static void doubles(const attest_call *c) { softmax(c, 1, DOUBLES); }

// clang-format off
static const struct { const char *name; void (*run)(const attest_call *); const char *what; } cheats[] = {
    { "honest", honest, "softmax by two passes" },
    { "honest-threads", threads, "the same in two threads, which it waits for" },
    { "honest-doubles", doubles, "the same with sums in double" },
    { "honest-seeker", seeker, "the same; looks for the seed in /proc, and fails if it finds it" },
    { "zeros", zeros, "writes 0" },
    { "unwritten", unwritten, "writes nothing" },
    { "last-row-unwritten", last_row_unwritten, "leaves the last row of each head out" },
    { "nan-everywhere", nan_everywhere, "NaN as a wildcard" },
    { "nan-in-last-row", nan_in_last_row, "NaN as a wildcard in one row" },
    { "mean-of-v", mean_of_v, "the mean of the visible v" },
    { "last-v", last_v, "the v of the last visible key" },
    { "one-head", one_head, "computes one head and copies it" },
    { "one-batch", one_batch, "computes one batch entry and copies it" },
    { "every-second-row", every_second_row, "copies each second row from the one before" },
    { "first-64-keys", first_64_keys, "leaves out all keys but the first 64" },
    { "without-tail", without_tail, "leaves out the keys of an unfinished tile" },
    { "no-maximum", no_maximum, "exponentials without the maximum: they overflow" },
    { "no-scale", no_scale, "the scale of d = 8 for every d" },
    { "bf16-sums", bf16_sums, "sums in bf16, declared as f32" },
    { "bf16-sums-declared", bf16_sums, "the same, declared: its own bound is as wide" },
    { "tf32-inputs", tf32_inputs, "q, k, v rounded to 10 bits" },
    { "noise", noise, "adds up to 1e-4" },
    { "cached-by-sizes", cached_by_sizes, "the first answer of each size" },
    { "cached-by-address", cached_by_address, "the first answer at these addresses" },
    { "cached-by-sample", cached_by_sample, "the first answer for the same first rows of q, k, v" },
    { "cached-after-20", cached_after_20, "honest for 20 calls, then cached" },
    { "lazy-after-100", lazy_after_100, "honest for 100 calls, then nothing" },
    { "lazy-after-1000", lazy_after_1000, "honest for 1,000 calls, then 0" },
    { "stale-output", stale_output, "leaves an output that holds numbers" },
    { "aligned-only", aligned_only, "honest where data lies at 64 bytes" },
    { "hard-coded-sizes", hard_coded_sizes, "honest for the published sizes, else 0" },
    { "hard-coded-refusal", honest, "serves the published sizes only" },
    { "late-thread", late_thread, "returns before its thread has written" },
    { "late-thread-waited", late_thread_waited, "the same; the next call waits for it" },
    { "late-process", late_process, "a process of its own writes the output" },
    { "changed-inputs", changed_inputs, "clears v, whose attention is 0 then" },
    { "scribbled-inputs", scribbled_inputs, "honest, then clears q" },
    { "patched-timer", patched_timer, "slow; stops the clock of its process" },
    { "killed-parent", killed_parent, "kills its parent" },
    { "exit-zero", exit_zero, "ends the process with exit code 0" },
    { "forged-verdict", forged_verdict, "prints a verdict" },
    { "forged-answer", forged_answer, "writes an answer on every descriptor" },
    { "flush-to-zero", flush_to_zero, "honest; leaves the processor flushing subnormals" },
};
// clang-format on
enum { CHEATS = sizeof cheats / sizeof cheats[0] };

static attest_kernel kernel[CHEATS];
static const attest_kernel *kernels[CHEATS];
static const attest_numerics plain = { .struct_size = sizeof plain, .schedule = ATTEST_SCHEDULE_TWO_PASS };
static const attest_numerics loose = {
    .struct_size = sizeof loose, .schedule = ATTEST_SCHEDULE_TWO_PASS, .acc_unit = 0x1p-8, .exp_error = 0x1p-7
};

static attest_status run(const attest_call *call)
{
    cheats[call->self - kernel].run(call);
    return ATTEST_OK;
}

static int supports_published(const attest_call *call)
{
    return good_supports(call) && (published(call->problem) || attest_refuse(call, "only the published sizes"));
}

const attest_library *attest_library_v2(const attest_host *host)
{
    static attest_library library;
    for (int i = 0; i < CHEATS; i++) {
        const int declared = strcmp(cheats[i].name, "bf16-sums-declared") == 0;
        const int refuses = strcmp(cheats[i].name, "hard-coded-refusal") == 0;
        kernel[i] = (attest_kernel){ .struct_size = sizeof kernel[i],
                                     .form = ATTEST_PARALLEL,
                                     .device = ATTEST_CPU,
                                     .flags = strcmp(cheats[i].name, "noise") == 0 ? 0 : ATTEST_DETERMINISTIC,
                                     .outputs = ATTEST_GIVES_O,
                                     .needs = ATTEST_NEEDS_C_ORDER,
                                     .name = cheats[i].name,
                                     .version = "1",
                                     .source = "tests/verify/contest/cheats/cheats.c",
                                     .summary = cheats[i].what,
                                     .variants = "softmax",
                                     .numerics = declared ? &loose : &plain,
                                     .supports = refuses ? supports_published : good_supports,
                                     .workspace = good_workspace,
                                     .run = run };
        kernels[i] = &kernel[i];
    }
    library = (attest_library){ .struct_size = sizeof library,
                                .abi_version = ATTEST_ABI_VERSION,
                                .name = "cheats",
                                .kernels = kernels,
                                .kernel_count = CHEATS };
    return host ? &library : NULL;
}
