/* stream.h - all that the first cases of a seed draw, lines and tensors, in one number.
 *
 * The kernels that are asked for are made up: every form, and one that serves all.
 */
#ifndef ATTEST_TESTS_STREAM_H
#define ATTEST_TESTS_STREAM_H

#include <pthread.h>
#include <string.h>

#include "props/generate/generate.h"

enum { STREAM_CASES = 200, STREAM_THREADS = 8 };

/* Cases 0..199 of two seeds: known answers. */
static const struct stream_answer {
    uint64_t seed, hash;
} stream_answers[] = {
    { 0, 0x9d8bb4bbd2b6cca9 },
    { 20261121, 0x887fe45197f4eba9 },
};
enum { STREAM_SEEDS = sizeof stream_answers / sizeof stream_answers[0] };

static inline uint64_t stream_add(uint64_t hash, uint64_t word)
{
    for (int i = 0; i < 8; i++) {
        hash ^= word >> (8 * i) & 0xff;
        hash *= 0x100000001b3ull; /* FNV-1a */
    }
    return hash;
}

static inline int stream_serve(void *context, const attest_problem *p)
{
    (void)context;
    (void)p;
    return 1;
}

static inline attest_prop_kernel stream_kernel(uint32_t number)
{
    static const uint32_t schedules[] = { ATTEST_SCHEDULE_UNKNOWN, ATTEST_SCHEDULE_TWO_PASS,  ATTEST_SCHEDULE_ONLINE,
                                          ATTEST_SCHEDULE_SPLIT,   ATTEST_SCHEDULE_RECURRENT, ATTEST_SCHEDULE_CHUNK };
    static const uint32_t forms[] = { ATTEST_PARALLEL, ATTEST_PARALLEL,  ATTEST_TILED,
                                      ATTEST_SPLIT,    ATTEST_RECURRENT, ATTEST_CHUNK };
    return (attest_prop_kernel){ .form = forms[number % 6],
                                 .outputs = ATTEST_GIVES_O,
                                 .numerics = { .schedule = schedules[number % 6], .tile = 32 } };
}

/* What a kernel of the registry declares. */
static inline attest_prop_kernel stream_declared(const attest_kernel *kernel)
{
    return (attest_prop_kernel){ .form = kernel->form,
                                 .flags = kernel->flags,
                                 .outputs = kernel->outputs,
                                 .numerics = *kernel->numerics,
                                 .limits = kernel->limits ? *kernel->limits : (attest_limits){ 0 } };
}

static inline uint64_t stream_bundle(uint64_t hash, const attest_problem *p, const attest_bundle *inputs)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    for (size_t k = 0; k < count; k++) {
        const attest_tensor *t = attest_bundle_get(inputs, ids[k]);
        hash = stream_add(hash, attest_tensor_draw_number(ids[k]));
        for (int64_t at = 0; at < attest_tensor_count(t); at++)
            hash = stream_add(hash, attest_load_bits(t, at));
    }
    return hash;
}

/* One case: its line and its tensors; 0 if it cannot be made. */
static inline uint64_t stream_case(uint64_t seed, uint32_t number)
{
    const attest_prop_host host = { .supports = stream_serve };
    const attest_prop_kernel kernel = stream_kernel(number);
    attest_generated made;
    attest_bundle *inputs = NULL;
    attest_error err;
    char line[ATTEST_LINE];
    uint64_t hash = 0xcbf29ce484222325ull;
    if (attest_generate(&made, seed, number, &kernel, &host, &err) != ATTEST_OK || !made.found ||
        attest_case_print(line, sizeof line, &made.c, &err) != ATTEST_OK)
        return 0;
    for (const char *c = line; *c; c++)
        hash = stream_add(hash, (unsigned char)*c);
    if (attest_bundle_new(&inputs, &err) != ATTEST_OK)
        return 0;
    const attest_status status = attest_draw_missing(inputs, &made.c, number, 0, &err);
    hash = status == ATTEST_OK ? stream_bundle(hash, &made.c.problem, inputs) : 0;
    attest_bundle_free(inputs);
    return hash;
}

typedef struct stream_part {
    uint64_t seed, *hash;
    uint32_t first, step;
} stream_part;

static inline void *stream_run(void *context)
{
    const stream_part *part = context;
    for (uint32_t number = part->first; number < STREAM_CASES; number += part->step)
        part->hash[number] = stream_case(part->seed, number);
    return NULL;
}

/* Of cases 0..STREAM_CASES-1, made by `threads` threads in turn; 0 if one cannot be made. */
static inline uint64_t stream_hash(uint64_t seed, uint32_t threads)
{
    uint64_t each[STREAM_CASES] = { 0 }, hash = 0xcbf29ce484222325ull;
    stream_part part[STREAM_THREADS];
    pthread_t thread[STREAM_THREADS];
    for (uint32_t k = 0; k < threads; k++) {
        part[k] = (stream_part){ seed, each, k, threads };
        if (pthread_create(&thread[k], NULL, stream_run, &part[k]) != 0)
            return 0;
    }
    for (uint32_t k = 0; k < threads; k++)
        pthread_join(thread[k], NULL);
    for (uint32_t number = 0; number < STREAM_CASES; number++) {
        if (each[number] == 0)
            return 0;
        hash = stream_add(hash, each[number]);
    }
    return hash;
}

#endif
