/* worker_layout.c - see worker_layout.h. */
#include "verify/worker/worker_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAR_ELEMENTS (UINT64_C(1) << 32)
#define FAR_ENTRIES 16

const uint64_t attest_poison[ATTEST_WORKER_RUNS][ATTEST_DTYPE_COUNT] = {
    { [ATTEST_F32] = 0x7fc0dead, [ATTEST_F64] = 0x7ff8dead0badcafe, [ATTEST_F16] = 0x7e5d, [ATTEST_BF16] = 0x7fdd },
    { [ATTEST_F32] = 0xffd5beef, [ATTEST_F64] = 0xfffbbeef0ddba115, [ATTEST_F16] = 0xff2b, [ATTEST_BF16] = 0xffeb }
};

static const unsigned char workspace_fill[ATTEST_WORKER_RUNS] = { 0xff, 0x7b };

static uint64_t round_up(uint64_t x, uint64_t unit) { return (x + unit - 1) / unit * unit; }

/* ---- strides ----------------------------------------------------------------------------------------------------- */
static void c_order(attest_tensor *t)
{
    int64_t stride = 1;
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        t->stride[axis] = stride;
        stride *= t->shape[axis];
    }
}

/* The axis whose entries lie far apart; -1: none. */
static int far_axis(const attest_tensor *t)
{
    const int axis = t->shape[0] > 1 ? 0 : 1;
    return t->rank >= 3 && t->shape[axis] > 1 && t->shape[axis] <= FAR_ENTRIES ? axis : -1;
}

/* Elements between two rows of channels: the row keeps its alignment, up to 64 bytes. */
static int64_t row_gap(const attest_tensor *t)
{
    const int64_t element = (int64_t)attest_dtype_bytes(t->dtype), row = t->shape[3] * element, lowest = row & -row;
    return (lowest < ATTEST_WORKER_ALIGN ? lowest : ATTEST_WORKER_ALIGN) / element;
}

/* Heads inside tokens, unless it is they that lie far apart. */
static void spread_out(attest_tensor *t, int far)
{
    static const int heads_inside[] = { 0, 2, 1, 3 }, heads_outside[] = { 0, 1, 2, 3 };
    const int *order = far == 1 || t->rank < 3 ? heads_outside : heads_inside;
    int64_t stride = t->rank == 4 ? 1 : 2;
    for (int n = t->rank - 1; n >= 0; n--) {
        t->stride[order[n]] = stride;
        stride *= t->shape[order[n]];
        stride += order[n] == 3 ? row_gap(t) : 0;
    }
}

/* Elements from the first to the last, of one entry of axis `far` (-1: of all). */
static int64_t span_of(const attest_tensor *t, int far)
{
    int64_t last = 0;
    for (int axis = 0; axis < t->rank; axis++)
        last += axis == far ? 0 : (t->shape[axis] - 1) * t->stride[axis];
    return last + 1;
}

/* Strides and size of a tensor's segment. */
static void place(attest_segment *s, attest_spread how, uint64_t page)
{
    attest_tensor *t = &s->tensor;
    const uint64_t element = attest_dtype_bytes(t->dtype);
    const int far = how == ATTEST_SPREAD_FAR ? far_axis(t) : -1;
    if (how == ATTEST_SPREAD_NONE)
        c_order(t);
    else
        spread_out(t, far);
    s->size = (uint64_t)span_of(t, far) * element;
    s->bytes = round_up(s->size + (how == ATTEST_SPREAD_NONE ? ATTEST_WORKER_ALIGN : 0), page); /* room for a shift */
    if (far < 0)
        return;
    s->axis = (uint32_t)far;
    s->islands = (uint64_t)t->shape[far];
    /* The last entry's offset in 32 bits, signed or not, meets the gap after the first entry. */
    s->apart = round_up((FAR_ELEMENTS * element + 2 * s->bytes) / (s->islands - 1) + 2 * ATTEST_WORKER_GUARD, page);
    t->stride[far] = (int64_t)(s->apart / element);
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */
static attest_segment *add_segment(attest_layout *l, attest_shared *shared, uint32_t use, attest_tensor_id id)
{
    attest_segment *s = &shared->segment[l->count++];
    memset(s, 0, sizeof *s);
    s->use = use;
    s->kind = id.kind;
    s->index = id.index;
    s->islands = 1;
    s->offset = l->bytes;
    return s;
}

static attest_status list_segments(attest_layout *l, attest_worker *worker, const attest_problem *p,
                                   const attest_bundle *bundle, uint64_t workspace, attest_spread how,
                                   attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    char name[32];
    const size_t inputs = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    const size_t outputs = attest_problem_outputs(p, ids + inputs, ATTEST_MAX_TENSORS - inputs);
    l->bytes = round_up(sizeof(attest_shared), worker->page);
    for (size_t i = 0; i < inputs + outputs; i++) {
        attest_tensor *t = attest_bundle_get(bundle, ids[i]);
        if (!t && i < inputs) {
            attest_tensor_id_print(name, sizeof name, ids[i]);
            return attest_fail(err, ATTEST_INTERNAL, "the kernel's input %s is not in the bundle", name);
        }
        if (!t)
            continue;
        l->tensor[l->count] = t;
        attest_segment *s = add_segment(l, worker->shared, i < inputs ? ATTEST_SEGMENT_INPUT : ATTEST_SEGMENT_OUTPUT,
                                        ids[i]);
        s->tensor = *t;
        s->tensor.data = NULL;
        place(s, how, worker->page);
        l->far |= s->islands > 1;
        l->bytes += s->islands * s->bytes;
    }
    if (workspace) {
        attest_segment *s = add_segment(l, worker->shared, ATTEST_SEGMENT_WORKSPACE,
                                        (attest_tensor_id){ UINT32_MAX, 0 });
        s->size = workspace;
        s->bytes = round_up(workspace, worker->page);
        l->bytes += s->bytes;
    }
    worker->shared->segment_count = l->count;
    return ATTEST_OK;
}

static attest_status map_segments(attest_layout *l, const attest_worker *worker, attest_error *err)
{
    const size_t header = (size_t)round_up(sizeof(attest_shared), worker->page);
    int failed = 0;
    if (ftruncate(worker->memory, (off_t)header) < 0 || ftruncate(worker->memory, (off_t)l->bytes) < 0)
        return attest_fail(err, ATTEST_IO, "cannot size shared memory: %s", strerror(errno));
    do /* takes the pages now, so that a lack of memory is an error and not a SIGBUS */
        failed = posix_fallocate(worker->memory, 0, (off_t)l->bytes);
    while (failed == EINTR);
    if (failed)
        return attest_fail(err, ATTEST_NO_MEMORY, "%llu bytes of shared memory: %s", (unsigned long long)l->bytes,
                           strerror(failed));
    void *at = mmap(NULL, (size_t)l->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, worker->memory, 0);
    if (at == MAP_FAILED)
        return attest_fail(err, ATTEST_NO_MEMORY, "cannot map %llu bytes: %s", (unsigned long long)l->bytes,
                           strerror(errno));
    l->base = at;
    return ATTEST_OK;
}

attest_status attest_layout_make(attest_layout *l, attest_worker *worker, const attest_problem *p,
                                 const attest_bundle *bundle, uint64_t workspace, attest_spread how, attest_error *err)
{
    memset(l, 0, sizeof *l);
    const attest_status status = list_segments(l, worker, p, bundle, workspace, how, err);
    return status == ATTEST_OK ? map_segments(l, worker, err) : status;
}

void attest_layout_clear(attest_layout *l)
{
    if (l->base)
        munmap(l->base, (size_t)l->bytes);
    l->base = NULL;
}

attest_tensor attest_layout_view(const attest_layout *l, const attest_segment *s)
{
    attest_tensor t = s->tensor;
    if (s->islands > 1)
        t.stride[s->axis] = (int64_t)(s->bytes / attest_dtype_bytes(t.dtype));
    t.data = l->base + s->offset + s->start;
    return t;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */
int attest_walk(attest_walker *w, const attest_tensor *t, int axes)
{
    for (int axis = axes - 1; axis >= 0; axis--) {
        if (++w->index[axis] < t->shape[axis])
            return 1;
        w->index[axis] = 0;
    }
    return 0;
}

void attest_layout_copy(const attest_tensor *to, const attest_tensor *from)
{
    const int last = to->rank - 1;
    const size_t element = attest_dtype_bytes(to->dtype);
    const int adjacent = to->stride[last] == 1 && from->stride[last] == 1;
    attest_walker w = { { 0 } };
    do {
        const int64_t a = attest_walker_offset(&w, to), b = attest_walker_offset(&w, from);
        if (adjacent)
            memcpy((char *)to->data + (size_t)a * element, (const char *)from->data + (size_t)b * element,
                   (size_t)to->shape[last] * element);
        for (int64_t c = 0; !adjacent && c < to->shape[last]; c++)
            attest_store_bits(to, a + c * to->stride[last], attest_load_bits(from, b + c * from->stride[last]));
    } while (attest_walk(&w, to, last));
}

static void set_all(const attest_tensor *t, uint64_t bits)
{
    attest_walker w = { { 0 } };
    do
        attest_store_bits(t, attest_walker_offset(&w, t), bits);
    while (attest_walk(&w, t, t->rank));
}

void attest_layout_blank(const attest_tensor *t, uint32_t use)
{
    uint64_t bits;
    memset(&bits, attest_canary(use), sizeof bits);
    set_all(t, bits);
}

static void set_numbers(const attest_tensor *t, const attest_disguise *disguise, uint32_t segment)
{
    uint64_t stream = attest_disguise_stream(disguise, segment);
    attest_walker w = { { 0 } };
    do
        attest_store_bits(t, attest_walker_offset(&w, t), attest_disguise_next(&stream, t->dtype));
    while (attest_walk(&w, t, t->rank));
}

/* Bytes that a tensor's data lies behind a multiple of ATTEST_WORKER_ALIGN in run 0. */
static uint64_t shift_of(const attest_layout *l, const attest_segment *s)
{
    const uint64_t element = attest_dtype_bytes(s->tensor.dtype),
                   unit = l->alignment > element ? l->alignment : element;
    return l->disguise.shift && s->use != ATTEST_SEGMENT_WORKSPACE ? unit % ATTEST_WORKER_ALIGN : 0;
}

void attest_layout_fill(const attest_layout *l, attest_shared *shared, int run)
{
    for (uint32_t i = 0; i < l->count; i++) {
        attest_segment *s = &shared->segment[i];
        const uint64_t shift = shift_of(l, s);
        s->start = run == 0 ? s->bytes - round_up(s->size + shift, ATTEST_WORKER_ALIGN) + shift : 0;
        memset(l->base + s->offset, attest_canary(s->use), (size_t)(s->islands * s->bytes));
        if (s->use == ATTEST_SEGMENT_WORKSPACE) {
            memset(l->base + s->offset + s->start, workspace_fill[run], (size_t)s->size);
            continue;
        }
        const attest_tensor t = attest_layout_view(l, s);
        if (s->use == ATTEST_SEGMENT_INPUT)
            attest_layout_copy(&t, l->tensor[i]);
        else if (run == 0 && l->disguise.numbers)
            set_numbers(&t, &l->disguise, i);
        else
            set_all(&t, attest_poison[run][t.dtype]);
    }
}
