/* worker_layout.c - see worker_layout.h. */
#include "verify/worker/worker_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/attest_float.h"
#include "kernels/tensor/packed.h"
#include "kernels/tensor/pages.h"

#define FAR_ELEMENTS (UINT64_C(1) << 32)
#define FAR_ENTRIES 16
#define FAR_PAGES 64 /* of k and v in pages: page * stride is where 32 bits end first */
#define GAPS 8

const uint64_t attest_poison[ATTEST_WORKER_RUNS][ATTEST_DTYPE_COUNT] = {
    { [ATTEST_F32] = 0x7fc0dead, [ATTEST_F64] = 0x7ff8dead0badcafe, [ATTEST_F16] = 0x7e5d, [ATTEST_BF16] = 0x7fdd },
    { [ATTEST_F32] = 0xffd5beef, [ATTEST_F64] = 0xfffbbeef0ddba115, [ATTEST_F16] = 0xff2b, [ATTEST_BF16] = 0xffeb }
};

static const unsigned char workspace_fill[ATTEST_WORKER_RUNS] = { 0xff, 0x7b };

static uint64_t round_up(uint64_t x, uint64_t unit) { return (x + unit - 1) / unit * unit; }

/* ---- strides ----------------------------------------------------------------------------------------------------- */
/* The axis whose entries, at most so many, lie far apart: batch entries, else tokens of a packed tensor, else heads;
 * -1: none. */
static int far_axis(const attest_tensor *t, int64_t most, int packed)
{
    const int tokens = packed && t->shape[2] > 1 && t->shape[2] <= most;
    const int axis = t->shape[0] > 1 ? 0 : tokens ? 2 : 1;
    return t->rank >= 3 && t->shape[axis] > 1 && t->shape[axis] <= most ? axis : -1;
}

/* Elements between two rows of channels: the row keeps its alignment, up to 64 bytes. */
static int64_t row_gap(const attest_tensor *t)
{
    const int64_t element = (int64_t)attest_dtype_bytes(t->dtype), row = t->shape[3] * element, lowest = row & -row;
    return (lowest < ATTEST_WORKER_ALIGN ? lowest : ATTEST_WORKER_ALIGN) / element;
}

/* Heads inside tokens, unless it is they that lie far apart.  `gap`: another one in each of GAPS tensors, so that those
 * of one shape have other strides. */
static void spread_out(attest_tensor *t, int far, int64_t gap)
{
    static const int heads_inside[] = { 0, 2, 1, 3 }, heads_outside[] = { 0, 1, 2, 3 };
    const int *order = far == 1 || t->rank < 3 ? heads_outside : heads_inside;
    int64_t stride = t->rank == 4 ? 1 : 1 + gap;
    for (int n = t->rank - 1; n >= 0; n--) {
        t->stride[order[n]] = stride;
        stride *= t->shape[order[n]];
        stride += order[n] == 3 ? gap * row_gap(t) : 0;
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

/* Strides and size of the segment of tensor `number`. */
static void place(attest_segment *s, uint32_t number, attest_spread how, uint64_t page, int64_t most, int packed)
{
    attest_tensor *t = &s->tensor;
    const uint64_t element = attest_dtype_bytes(t->dtype);
    const int far = how == ATTEST_SPREAD_FAR ? far_axis(t, most, packed) : -1;
    if (how == ATTEST_SPREAD_NONE)
        attest_tensor_set_order(t);
    else
        spread_out(t, far, 1 + number % GAPS);
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
static attest_segment *add_segment(attest_layout *l, uint32_t use, attest_tensor_id id)
{
    attest_segment *s = &l->table.segment[l->table.count++];
    memset(s, 0, sizeof *s);
    s->use = use;
    s->kind = id.kind;
    s->index = id.index;
    s->islands = 1;
    s->offset = l->bytes;
    return s;
}

/* The cu_seqlens of a packed tensor; NULL: it is not packed. */
static const int64_t *starts_of(const attest_layout *l, uint32_t kind, uint32_t index)
{
    const uint32_t side = attest_packed_side(l->p, (attest_tensor_id){ kind, index });
    return side ? l->begins[side - ATTEST_CU_SEQLENS_Q].data : NULL;
}

/* Adds tensor `t` of the bundle, or the block_table, or a cu_seqlens. */
static void add_tensor(attest_layout *l, uint32_t use, attest_tensor_id id, const attest_tensor *t,
                       const attest_problem *p, attest_spread how, size_t page, uint64_t room)
{
    const uint32_t number = l->table.count;
    attest_segment *s = add_segment(l, use, id);
    l->tensor[number] = t;
    s->tensor = *t;
    if (attest_pages_hold(p, id))
        attest_pages_describe(&s->tensor, p, id);
    const int64_t *starts = starts_of(l, id.kind, id.index);
    if (starts)
        attest_packed_describe(&s->tensor, p, id, starts[p->b]);
    s->tensor.data = NULL;
    place(s, number, how, page, attest_pages_hold(p, id) ? FAR_PAGES : FAR_ENTRIES, starts != NULL);
    s->bytes += room;
    l->far |= s->islands > 1;
    l->bytes += s->islands * s->bytes;
}

static attest_status add_blocks(attest_layout *l, const attest_problem *p, attest_spread how, size_t page,
                                uint64_t room, attest_error *err)
{
    const attest_tensor_id id = { ATTEST_KIND_ROLE, ATTEST_BLOCK_TABLE };
    attest_pages_describe(&l->blocks, p, id);
    l->blocks.data = malloc(attest_tensor_bytes(&l->blocks));
    if (!l->blocks.data)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for block_table");
    add_tensor(l, ATTEST_SEGMENT_INPUT, id, &l->blocks, p, how, page, room);
    return ATTEST_OK;
}

/* cu_seqlens_q and cu_seqlens_k. */
static attest_status make_begins(attest_layout *l, attest_error *err)
{
    for (uint32_t n = 0; n < 2 && attest_packed_are(l->p); n++) {
        const uint32_t role = ATTEST_CU_SEQLENS_Q + n;
        attest_packed_describe(&l->begins[n], l->p, (attest_tensor_id){ ATTEST_KIND_ROLE, role }, 0);
        l->begins[n].data = malloc(attest_tensor_bytes(&l->begins[n]));
        if (!l->begins[n].data)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for cu_seqlens");
        attest_packed_starts(l->begins[n].data, l->p, l->bundle, role);
    }
    return ATTEST_OK;
}

static attest_status list_segments(attest_layout *l, size_t page, const attest_problem *p, const attest_bundle *bundle,
                                   uint64_t workspace, uint64_t room, attest_spread how, attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    char name[32];
    attest_status status = ATTEST_OK;
    const size_t inputs = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    const size_t outputs = attest_problem_outputs(p, ids + inputs, ATTEST_MAX_TENSORS - inputs);
    l->bytes = round_up(sizeof(attest_table), page);
    ATTEST_TRY(make_begins(l, err));
    for (size_t i = 0; i < inputs + outputs; i++) {
        attest_tensor *t = attest_bundle_get(bundle, ids[i]);
        if (!t && i < inputs) {
            attest_tensor_id_print(name, sizeof name, ids[i]);
            return attest_fail(err, ATTEST_INTERNAL, "the kernel's input %s is not in the bundle", name);
        }
        if (!t)
            continue;
        add_tensor(l, i < inputs ? ATTEST_SEGMENT_INPUT : ATTEST_SEGMENT_OUTPUT, ids[i], t, p, how, page, room);
    }
    if (attest_pages_are(p))
        ATTEST_TRY(add_blocks(l, p, how, page, room, err));
    for (uint32_t n = 0; n < 2 && l->begins[n].data; n++)
        add_tensor(l, ATTEST_SEGMENT_INPUT, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_CU_SEQLENS_Q + n },
                   &l->begins[n], p, how, page, room);
    if (workspace) {
        attest_segment *s = add_segment(l, ATTEST_SEGMENT_WORKSPACE, (attest_tensor_id){ UINT32_MAX, 0 });
        s->size = workspace;
        s->bytes = round_up(workspace, page);
        l->bytes += s->bytes;
    }
out:
    return status;
}

/* Bytes that are filled: all but the middle of a large workspace, which is the last segment. */
static uint64_t filled_bytes(const attest_layout *l)
{
    const attest_segment *last = &l->table.segment[l->table.count - 1];
    return l->table.count && last->use == ATTEST_SEGMENT_WORKSPACE && last->bytes > 2 * ATTEST_WORKER_FILLED
               ? last->offset + ATTEST_WORKER_FILLED
               : l->bytes;
}

static attest_status map_segments(attest_layout *l, attest_error *err)
{
    const unsigned long long bytes = l->bytes;
    int failed = 0;
    l->memory = memfd_create("shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (l->memory < 0)
        return attest_fail(err, ATTEST_NO_MEMORY, "cannot make shared memory: %s", strerror(errno));
    if (ftruncate(l->memory, (off_t)l->bytes) < 0)
        return attest_fail(err, ATTEST_NO_MEMORY, "%llu bytes of shared memory: %s", bytes, strerror(errno));
    do /* takes the pages now, so that a lack of memory is an error and not a SIGBUS */
        failed = posix_fallocate(l->memory, 0, (off_t)filled_bytes(l));
    while (failed == EINTR);
    if (failed)
        return attest_fail(err, ATTEST_NO_MEMORY, "%llu bytes of shared memory: %s", bytes, strerror(failed));
    if (fcntl(l->memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return attest_fail(err, ATTEST_IO, "cannot seal shared memory: %s", strerror(errno));
    void *at = mmap(NULL, (size_t)l->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, l->memory, 0);
    if (at == MAP_FAILED)
        return attest_fail(err, ATTEST_NO_MEMORY, "cannot map %llu bytes: %s", bytes, strerror(errno));
    l->base = at;
    return ATTEST_OK;
}

attest_status attest_layout_make(attest_layout *l, size_t page, const attest_problem *p, const attest_bundle *bundle,
                                 uint64_t workspace, uint64_t room, attest_spread how, attest_error *err)
{
    memset(l, 0, sizeof *l);
    l->memory = -1;
    l->p = p;
    l->bundle = bundle;
    const attest_status status = list_segments(l, page, p, bundle, workspace, room, how, err);
    return status == ATTEST_OK ? map_segments(l, err) : status;
}

void attest_layout_clear(attest_layout *l)
{
    if (l->base)
        munmap(l->base, (size_t)l->bytes);
    if (l->memory >= 0)
        close(l->memory);
    free(l->blocks.data);
    free(l->begins[0].data);
    free(l->begins[1].data);
    l->blocks.data = l->begins[0].data = l->begins[1].data = NULL;
    l->base = NULL;
    l->memory = -1;
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

void attest_layout_keep(const attest_layout *l)
{
    for (uint32_t i = 0; i < l->table.count; i++) {
        const attest_segment *s = &l->table.segment[i];
        if (s->use != ATTEST_SEGMENT_OUTPUT)
            continue;
        const attest_tensor t = attest_layout_view(l, s);
        const int64_t *starts = starts_of(l, s->kind, s->index);
        if (starts)
            attest_packed_keep(l->tensor[i], &t, starts);
        else
            attest_layout_copy(l->tensor[i], &t);
        attest_absent_clear(l->tensor[i], (attest_tensor_id){ s->kind, s->index }, l->p, l->bundle);
    }
}

int64_t attest_layout_element(const attest_layout *l, uint32_t number, const attest_walker *w)
{
    const attest_segment *s = &l->table.segment[number];
    const attest_tensor *t = l->tensor[number];
    const int64_t *starts = starts_of(l, s->kind, s->index);
    attest_walker at = *w;
    if (s->kind != ATTEST_KIND_ROLE)
        return attest_walker_offset(w, t);
    if (starts) {
        at.index[0] = attest_packed_entry(starts, l->p->b, w->index[2]);
        at.index[2] -= at.index[0] < 0 ? 0 : starts[at.index[0]];
    }
    if (at.index[0] < 0 || at.index[2] >= attest_bundle_lengths(l->p, l->bundle, at.index[0]).queries)
        return -1;
    return attest_walker_offset(&at, t);
}

/* Of an input that lies in pages. */
static int in_pages(const attest_layout *l, const attest_segment *s)
{
    return l->blocks.data && s->kind == ATTEST_KIND_ROLE && (s->index == ATTEST_K || s->index == ATTEST_V);
}

int attest_layout_input_same(const attest_layout *l, uint32_t number)
{
    const attest_segment *s = &l->table.segment[number];
    const attest_tensor t = attest_layout_view(l, s);
    const int64_t *starts = starts_of(l, s->kind, s->index);
    return in_pages(l, s) ? attest_pages_same(&t, l->tensor[number], &l->blocks)
           : starts       ? attest_packed_same(&t, l->tensor[number], starts)
                          : attest_layout_same(&t, l->tensor[number]);
}

int attest_layout_same(const attest_tensor *a, const attest_tensor *b)
{
    const int last = a->rank - 1;
    const size_t element = attest_dtype_bytes(a->dtype);
    const int adjacent = a->stride[last] == 1 && b->stride[last] == 1;
    attest_walker w = { { 0 } };
    do {
        const int64_t x = attest_walker_offset(&w, a), y = attest_walker_offset(&w, b);
        if (adjacent && memcmp((const char *)a->data + (size_t)x * element, (const char *)b->data + (size_t)y * element,
                               (size_t)a->shape[last] * element) != 0)
            return 0;
        for (int64_t c = 0; !adjacent && c < a->shape[last]; c++)
            if (attest_load_bits(a, x + c * a->stride[last]) != attest_load_bits(b, y + c * b->stride[last]))
                return 0;
    } while (attest_walk(&w, a, last));
    return 1;
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

/* The canary beside a workspace and its bytes, which are all equal. */
static void fill_workspace(const attest_layout *l, const attest_segment *s, int run)
{
    const uint64_t part = s->bytes > 2 * ATTEST_WORKER_FILLED ? ATTEST_WORKER_FILLED : s->bytes;
    unsigned char *at = l->base + s->offset;
    memset(at, workspace_fill[run], (size_t)part);
    memset(at + s->bytes - part, workspace_fill[run], (size_t)part);
    memset(at, attest_canary(s->use), (size_t)s->start);
    memset(at + s->start + s->size, attest_canary(s->use), (size_t)(s->bytes - s->start - s->size));
}

static void fill_input(const attest_layout *l, const attest_segment *s, uint32_t number)
{
    const attest_tensor t = attest_layout_view(l, s);
    const int64_t *starts = starts_of(l, s->kind, s->index);
    if (in_pages(l, s)) {
        attest_pages_copy(&t, l->tensor[number], &l->blocks);
        if (l->finite)
            attest_pages_pad(&t, l->tensor[number], &l->blocks);
    } else if (starts) {
        if (l->finite && starts[l->p->b] == 0) /* the one token that is nobody's */
            set_all(&t, attest_from_f64(t.dtype, ATTEST_PAGES_PAD));
        attest_packed_copy(&t, l->tensor[number], starts);
    } else
        attest_layout_copy(&t, l->tensor[number]);
}

void attest_layout_fill(attest_layout *l, int run)
{
    if (l->blocks.data)
        attest_pages_draw(&l->blocks, l->order, run);
    for (uint32_t i = 0; i < l->table.count; i++) {
        attest_segment *s = &l->table.segment[i];
        const uint64_t shift = shift_of(l, s);
        s->start = run == 0 ? s->bytes - round_up(s->size + shift, ATTEST_WORKER_ALIGN) + shift : 0;
        if (s->use == ATTEST_SEGMENT_WORKSPACE) {
            fill_workspace(l, s, run);
            continue;
        }
        memset(l->base + s->offset, attest_canary(s->use), (size_t)(s->islands * s->bytes));
        const attest_tensor t = attest_layout_view(l, s);
        if (s->use == ATTEST_SEGMENT_INPUT)
            fill_input(l, s, i);
        else if (run == 0 && l->disguise.numbers)
            set_numbers(&t, &l->disguise, i);
        else
            set_all(&t, attest_poison[run][t.dtype]);
    }
    memcpy(l->base, &l->table, offsetof(attest_table, segment) + l->table.count * sizeof l->table.segment[0]);
}
