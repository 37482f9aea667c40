/* worker_disguise.c - see worker_disguise.h. */
#include "verify/worker/worker_disguise.h"

#include <stdio.h>

#include "kernels/attest_float.h"
#include "kernels/hash.h"

#define ELEMENTS_HASHED 256

attest_disguise attest_disguise_of(const attest_problem *p, const attest_bundle *bundle)
{
    const int64_t sizes[] = {
        p->b,          p->hq,           p->hkv,   p->n,     p->m, p->d, p->e, p->in, (int64_t)p->acc,
        (int64_t)p->p, (int64_t)p->out, p->chunk, p->splits
    };
    const attest_tensor *q = attest_bundle_role(bundle, ATTEST_Q);
    uint64_t hash = attest_fnv(ATTEST_FNV_START, sizes, sizeof sizes);
    hash = attest_fnv(hash, &p->scale, sizeof p->scale);
    for (size_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++) {
        const attest_setting *s = &p->axis[axis];
        if (axis > ATTEST_AXIS_STATE && s->value == 0) /* came later: lines without it keep their disguise */
            continue;
        hash = attest_fnv(hash, &s->value, sizeof s->value);
        hash = attest_fnv(hash, &s->order, sizeof s->order);
        hash = attest_fnv(hash, &s->number, sizeof s->number);
    }
    const int64_t count = q ? attest_tensor_count(q) : 0;
    for (int64_t i = 0; i < count && i < ELEMENTS_HASHED; i++) {
        const uint64_t bits = attest_load_bits(q, i);
        hash = attest_fnv(hash, &bits, sizeof bits);
    }
    hash = attest_mix64(hash);
    return (attest_disguise){ .seed = hash, .numbers = (int)(hash & 1), .shift = (int)(hash >> 1 & 1) };
}

uint64_t attest_disguise_stream(const attest_disguise *disguise, uint32_t segment)
{
    return attest_mix64(disguise->seed + segment);
}

uint64_t attest_disguise_next(uint64_t *stream, uint32_t dtype)
{
    return attest_from_f64(dtype, (double)(attest_next64(stream) >> 11) * 0x1p-51 - 2);
}

void attest_disguise_text(char *text, size_t len, const attest_disguise *disguise)
{
    snprintf(text, len, "%s%s%s", disguise->numbers ? "outputs held numbers before the run" : "",
             disguise->numbers && disguise->shift ? "; " : "", disguise->shift ? "data began off 64 bytes" : "");
}
