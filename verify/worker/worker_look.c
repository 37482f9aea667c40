/* worker_look.c - see worker_look.h. */
#include "verify/worker/worker_look.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reports/result.h"

const char *attest_segment_name(char *name, size_t len, const attest_segment *s)
{
    if (s->use == ATTEST_SEGMENT_WORKSPACE)
        snprintf(name, len, "the workspace");
    else
        attest_tensor_id_print(name, len, (attest_tensor_id){ s->kind, s->index });
    return name;
}

/* Adds a reason; the first one also says why. */
void attest_run_blame(attest_run_result *result, unsigned reason, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!result->why[0])
        vsnprintf(result->why, sizeof result->why, format, arguments);
    va_end(arguments);
    result->reasons |= reason;
}

/* 1 + the place of the first byte in [from, to) that is not `byte`; 0 if there is none.  A process that the kernel left
 * may write while this reads. */
static uint64_t changed(const unsigned char *at, uint64_t from, uint64_t to, unsigned char byte)
{
    if (from >= to || (at[from] == byte && memcmp(at + from, at + from + 1, to - from - 1) == 0)) /* each as the next */
        return 0;
    while (from < to && at[from] == byte)
        from++;
    return from < to ? from + 1 : 0;
}

/* Of every island of every segment, what lies before the data and after it. */
void attest_look_canaries(attest_run_result *result, const attest_layout *l)
{
    char name[32];
    for (uint32_t i = 0; i < l->table.count; i++) {
        const attest_segment *s = &l->table.segment[i];
        const uint64_t end = s->start + s->size;
        for (uint64_t k = 0; k < s->islands; k++) {
            const unsigned char *at = l->base + s->offset + k * s->bytes;
            const uint64_t before = changed(at, 0, s->start, attest_canary(s->use));
            const uint64_t after = changed(at, end, s->bytes, attest_canary(s->use));
            if (before)
                attest_run_blame(result, ATTEST_REASON_WROTE_OUTSIDE, "wrote %llu bytes before %s",
                                 (unsigned long long)(s->start - (before - 1)),
                                 attest_segment_name(name, sizeof name, s));
            if (after)
                attest_run_blame(result, ATTEST_REASON_WROTE_OUTSIDE, "wrote at byte %llu past the end of %s",
                                 (unsigned long long)(after - end), attest_segment_name(name, sizeof name, s));
        }
    }
}

/* They are mapped read-only, which a kernel can undo. */
void attest_look_inputs(attest_run_result *result, const attest_layout *l)
{
    char name[32];
    for (uint32_t i = 0; i < l->table.count; i++) {
        const attest_segment *s = &l->table.segment[i];
        if (s->use == ATTEST_SEGMENT_INPUT && !attest_layout_input_same(l, i))
            attest_run_blame(result, ATTEST_REASON_WROTE_INPUT, "changed %s",
                             attest_segment_name(name, sizeof name, s));
    }
}

/* Between the elements of the outputs, whose values are lost by looking. */
void attest_look_gaps(attest_run_result *result, const attest_layout *l)
{
    char name[32];
    for (uint32_t i = 0; i < l->table.count; i++) {
        const attest_segment *s = &l->table.segment[i];
        if (s->use != ATTEST_SEGMENT_OUTPUT)
            continue;
        const attest_tensor t = attest_layout_view(l, s);
        attest_layout_blank(&t, s->use);
        if (changed(l->base + s->offset, 0, s->islands * s->bytes, attest_canary(s->use)))
            attest_run_blame(result, ATTEST_REASON_WROTE_OUTSIDE, "wrote between the elements of %s",
                             attest_segment_name(name, sizeof name, s));
    }
}

static void name_element(char *text, size_t len, const attest_segment *s, const attest_walker *w)
{
    char name[32];
    size_t n = (size_t)snprintf(text, len, "%s[", attest_segment_name(name, sizeof name, s));
    for (int axis = 0; axis < s->tensor.rank && n < len; axis++)
        n += (size_t)snprintf(text + n, len - n, "%s%lld", axis ? "," : "", (long long)w->index[axis]);
    if (n < len)
        snprintf(text + n, len - n, "]");
}

static void blame_element(attest_run_result *result, unsigned reason, const char *what, const attest_segment *s,
                          const attest_walker *w)
{
    char where[160];
    name_element(where, sizeof where, s, w);
    attest_run_blame(result, reason, "%s %s", where, what);
}

int attest_look_early(char *where, size_t len, const attest_layout *l)
{
    for (uint32_t i = 0; i < l->table.count; i++) {
        const attest_segment *s = &l->table.segment[i];
        if (s->use != ATTEST_SEGMENT_OUTPUT)
            continue;
        const attest_tensor second = attest_layout_view(l, s), *first = l->tensor[i];
        attest_walker w = { { 0 } };
        do {
            const int64_t at = attest_layout_element(l, i, &w);
            const double a = at < 0 ? 0 : attest_load(first, at);
            const double b = attest_load(&second, attest_walker_offset(&w, &second));
            if (at >= 0 && isnan(b) && !isnan(a)) {
                name_element(where, len, s, &w);
                return 1;
            }
        } while (attest_walk(&w, &second, second.rank));
    }
    return 0;
}

/* After the second run: elements that neither run wrote, which hold what they held before, and bits that differ. */
void attest_look_outputs(attest_run_result *result, const attest_layout *l, int deterministic, const char *how)
{
    char differs[160];
    snprintf(differs, sizeof differs, "differs between two runs%s", how);
    for (uint32_t i = 0; i < l->table.count; i++) {
        const attest_segment *s = &l->table.segment[i];
        if (s->use != ATTEST_SEGMENT_OUTPUT)
            continue;
        const attest_tensor second = attest_layout_view(l, s), *first = l->tensor[i];
        uint64_t stream = attest_disguise_stream(&l->disguise, i);
        attest_walker w = { { 0 } };
        unsigned seen = 0;
        do {
            const uint64_t before = l->disguise.numbers ? attest_disguise_next(&stream, second.dtype)
                                                        : attest_poison[0][second.dtype];
            const int64_t at = attest_layout_element(l, i, &w);
            if (at < 0)
                continue;
            const uint64_t a = attest_load_bits(first, at);
            const uint64_t b = attest_load_bits(&second, attest_walker_offset(&w, &second));
            const int unwritten = a == before && b == attest_poison[1][second.dtype];
            if (unwritten && !(seen & ATTEST_REASON_UNWRITTEN_OUTPUT)) {
                seen |= ATTEST_REASON_UNWRITTEN_OUTPUT;
                blame_element(result, ATTEST_REASON_UNWRITTEN_OUTPUT, "was never written", s, &w);
            } else if (!unwritten && a != b && deterministic && !(seen & ATTEST_REASON_NONDETERMINISTIC)) {
                seen |= ATTEST_REASON_NONDETERMINISTIC;
                blame_element(result, ATTEST_REASON_NONDETERMINISTIC, differs, s, &w);
            }
        } while (attest_walk(&w, &second, second.rank));
    }
}
