/* tensor.c - the table of tensors, their shapes and types, and bundles that own their memory. */
#include "kernels/tensor/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Axis letters: b batch, h query head, g KV head, n query, m key, d, e.  The last letter of `a` counts only
 * with decay=vector. */
const attest_role_info attest_roles[ATTEST_TENSOR_ROLES] = {
    { "q", ATTEST_Q, "bhnd", 0, "queries" },
    { "gout", ATTEST_GOUT, "bhn", 0, "output gate of a row" },
    { "sq", ATTEST_Q_HEAD_LOGITS, "bhn", 0, "query-head scores of gates=heads" },
    { "k", ATTEST_K, "bgmd", 0, "keys" },
    { "v", ATTEST_V, "bgme", 0, "values" },
    { "gin", ATTEST_GIN, "bgm", 0, "input gate of a key" },
    { "sk", ATTEST_K_HEAD_LOGITS, "bgm", 0, "KV-head scores of gates=heads" },
    { "b", ATTEST_BETA, "bgm", 0, "write strength of delta and efla" },
    { "a", ATTEST_DECAY, "bgmd", 0, "decay of a token, or of its key dimensions; its logarithm with decay_input=log" },
    { "sink", ATTEST_SINK, "h", 0, "logit added to the denominator" },
    { "slope", ATTEST_SLOPE, "h", 0, "alibi slope" },
    { "gamma", ATTEST_GAMMA, "g", 0, "retention factor" },
    { "gain", ATTEST_GAIN, "e", 0, "factor after rms or layernorm" },
    { "shift", ATTEST_SHIFT, "e", 0, "term after rms or layernorm" },
    { "len", ATTEST_KV_LENS, "b", 0, "visible keys of a batch entry" },
    { "o", ATTEST_O, "bhne", 1, "output" },
    { "u", ATTEST_U, "bhne", 1, "numerator" },
    { "z", ATTEST_Z, "bhn", 1, "denominator" },
    { "lse", ATTEST_LSE, "bhn", 1, "c + ln z" },
    { "attn_mask", ATTEST_MASK, "bhnm", 0, "which keys are visible: 1" },
    { "bias", ATTEST_BIAS, "bhnm", 0, "added to the scores" },
    { "cu_seqlens_q", ATTEST_CU_SEQLENS_Q, NULL, 0, "packed.h" },
    { "cu_seqlens_k", ATTEST_CU_SEQLENS_K, NULL, 0, "packed.h" },
    { "block_table", ATTEST_BLOCK_TABLE, NULL, 0, "pages.h" },
    { "q_scale", ATTEST_Q_SCALE, NULL, 0, "of no problem yet" },
    { "k_scale", ATTEST_K_SCALE, "bg", 0, "what keys of 8 bits are multiplied by" },
    { "v_scale", ATTEST_V_SCALE, "bg", 0, "the same of values" },
    { "keep", ATTEST_KEEP, "bhnm", 0, "which weights dropout keeps: 1" },
    { "len_q", ATTEST_Q_LENS, "b", 0, "queries of a batch entry" },
};

static const struct state_info {
    const char *name;
    uint32_t kind;
    uint32_t draw_base; /* number of degree 0 in the draws */
} states[4] = {
    { "h0", ATTEST_KIND_H0, 15 },
    { "z0", ATTEST_KIND_Z0, 80 },
    { "ht", ATTEST_KIND_HT, 145 }, /* outputs: never drawn */
    { "zt", ATTEST_KIND_ZT, 210 },
};

/* ---- names ----------------------------------------------------------------------------------------- */

static int parse_degree(uint32_t *degree, const char *text)
{
    uint32_t n = 0;
    size_t digits = 0;
    for (; text[digits] >= '0' && text[digits] <= '9' && digits < 3; digits++)
        n = n * 10 + (uint32_t)(text[digits] - '0');
    if (digits == 0 || text[digits] != '\0' || (digits > 1 && text[0] == '0') || n > ATTEST_MAX_ORDER)
        return 0;
    *degree = n;
    return 1;
}

attest_status attest_tensor_id_parse(attest_tensor_id *id, const char *name, attest_error *err)
{
    for (uint32_t r = 0; r < ATTEST_TENSOR_ROLES; r++) {
        if (attest_roles[r].axes && strcmp(name, attest_roles[r].name) == 0) {
            *id = (attest_tensor_id){ ATTEST_KIND_ROLE, r };
            return ATTEST_OK;
        }
    }
    for (size_t s = 0; s < 4; s++) {
        uint32_t degree = 0;
        if (strncmp(name, states[s].name, 2) == 0 && name[2] == '.' && parse_degree(&degree, name + 3)) {
            *id = (attest_tensor_id){ states[s].kind, degree };
            return ATTEST_OK;
        }
    }
    *id = (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_TENSOR_ROLES };
    char names[160] = "";
    for (uint32_t r = 0; r < ATTEST_TENSOR_ROLES; r++) {
        const size_t used = strlen(names);
        if (attest_roles[r].axes)
            snprintf(names + used, sizeof names - used, "%s ", attest_roles[r].name);
    }
    return attest_fail(err, ATTEST_BAD_INPUT, "unknown tensor '%s'; allowed: %sh0.N z0.N ht.N zt.N with N in 0..%d",
                       name, names, ATTEST_MAX_ORDER);
}

void attest_tensor_id_print(char *name, size_t len, attest_tensor_id id)
{
    const char *role = id.index < ATTEST_TENSOR_ROLES ? attest_roles[id.index].name : "?";
    if (id.kind == ATTEST_KIND_ROLE)
        snprintf(name, len, "%s", role);
    else
        snprintf(name, len, "%s.%u", id.kind <= 4 ? states[id.kind - 1].name : "?", id.index);
}

int attest_tensor_id_equal(attest_tensor_id a, attest_tensor_id b) { return a.kind == b.kind && a.index == b.index; }

uint32_t attest_tensor_draw_number(attest_tensor_id id)
{
    const uint32_t role = id.index == ATTEST_BIAS      ? 275
                          : id.index == ATTEST_MASK    ? 531
                          : id.index == ATTEST_KEEP    ? 787
                          : id.index == ATTEST_Q_LENS  ? 1043
                          : id.index == ATTEST_K_SCALE ? 1044
                          : id.index == ATTEST_V_SCALE ? 1045
                                                       : id.index; /* the rest is older */
    return id.kind == ATTEST_KIND_ROLE ? role : states[id.kind - 1].draw_base + id.index;
}

/* ---- which tensors a problem has ------------------------------------------------------------------- */

/* A tensor is read when its axis has one of these values (bit = value). */
static const struct use_rule {
    uint32_t role, axis, values;
} use_rules[] = {
    { ATTEST_GIN, ATTEST_AXIS_GATES, 1u << ATTEST_GATES_IN | 1u << ATTEST_GATES_INOUT },
    { ATTEST_GOUT, ATTEST_AXIS_GATES, 1u << ATTEST_GATES_OUT | 1u << ATTEST_GATES_INOUT | 1u << ATTEST_GATES_PRE_OUT },
    { ATTEST_Q_HEAD_LOGITS, ATTEST_AXIS_GATES, 1u << ATTEST_GATES_HEADS },
    { ATTEST_K_HEAD_LOGITS, ATTEST_AXIS_GATES, 1u << ATTEST_GATES_HEADS },
    { ATTEST_BETA, ATTEST_AXIS_UPDATE, 1u << ATTEST_UPDATE_DELTA | 1u << ATTEST_UPDATE_EFLA },
    { ATTEST_DECAY, ATTEST_AXIS_DECAY, 1u << ATTEST_DECAY_SCALAR | 1u << ATTEST_DECAY_VECTOR },
    { ATTEST_SINK, ATTEST_AXIS_NORM, 1u << ATTEST_NORM_SINK },
    { ATTEST_SLOPE, ATTEST_AXIS_ALIBI, 1u << ATTEST_ALIBI_DRAW },
    { ATTEST_GAMMA, ATTEST_AXIS_DECAY, 1u << ATTEST_DECAY_RETNET },
    { ATTEST_GAIN, ATTEST_AXIS_AFFINE, 1u << ATTEST_AFFINE_DRAW },
    { ATTEST_SHIFT, ATTEST_AXIS_AFFINE, 1u << ATTEST_AFFINE_DRAW },
    { ATTEST_KV_LENS, ATTEST_AXIS_LENS, 1u << ATTEST_LENS_DRAW },
    { ATTEST_Q_LENS, ATTEST_AXIS_LENS_Q, 1u << ATTEST_LENS_Q_DRAW | 1u << ATTEST_LENS_Q_LEN },
    { ATTEST_BIAS, ATTEST_AXIS_BIAS, ~(1u << ATTEST_BIAS_NONE) },
    { ATTEST_MASK, ATTEST_AXIS_ATTN_MASK, ~(1u << ATTEST_ATTN_MASK_NONE) },
    { ATTEST_KEEP, ATTEST_AXIS_DROPOUT, ~(1u << ATTEST_DROPOUT_NONE) },
    { ATTEST_K_SCALE, ATTEST_AXIS_KV, 1u << ATTEST_KV_E4M3 | 1u << ATTEST_KV_E5M2 },
    { ATTEST_V_SCALE, ATTEST_AXIS_KV, 1u << ATTEST_KV_E4M3 | 1u << ATTEST_KV_E5M2 },
};

/* delta and efla keep one matrix of degree 1 and no normaliser. */
static int has_normaliser(const attest_problem *p)
{
    return attest_axis_value_of(p, ATTEST_AXIS_UPDATE) == ATTEST_UPDATE_ADD;
}

/* 1 if the variant keeps a state of this kind (h or z) and degree. */
static int has_state(const attest_problem *p, uint32_t degree, int normaliser)
{
    int lowest, highest;
    if (!attest_variant_degrees(p->axis, &lowest, &highest) || (normaliser && !has_normaliser(p)))
        return 0;
    return (int)degree >= lowest && (int)degree <= highest;
}

int attest_problem_uses(const attest_problem *p, attest_tensor_id id)
{
    if (id.kind == ATTEST_KIND_H0 || id.kind == ATTEST_KIND_Z0)
        return attest_axis_value_of(p, ATTEST_AXIS_STATE) == ATTEST_STATE_DRAW && id.index <= ATTEST_MAX_ORDER &&
               has_state(p, id.index, id.kind == ATTEST_KIND_Z0);
    if (id.kind != ATTEST_KIND_ROLE)
        return 0;
    if (id.index == ATTEST_Q || id.index == ATTEST_K || id.index == ATTEST_V)
        return 1;
    for (size_t r = 0; r < sizeof use_rules / sizeof use_rules[0]; r++)
        if (use_rules[r].role == id.index)
            return (int)(use_rules[r].values >> p->axis[use_rules[r].axis].value & 1u);
    return 0;
}

uint32_t attest_tensor_axis(attest_tensor_id id)
{
    if (id.kind != ATTEST_KIND_ROLE)
        return ATTEST_AXIS_STATE;
    for (size_t r = 0; r < sizeof use_rules / sizeof use_rules[0]; r++)
        if (use_rules[r].role == id.index)
            return use_rules[r].axis;
    return ATTEST_AXIS_COUNT;
}

static int refuse(char *why, size_t len, const char *text)
{
    if (why)
        snprintf(why, len, "%s", text);
    return 0;
}

static int has_final_state(const attest_problem *p, attest_tensor_id id, char *why, size_t len)
{
    if (attest_axis_value_of(p, ATTEST_AXIS_WINDOW) != ATTEST_WINDOW_NONE)
        return refuse(why, len, "a final state is not defined with a window");
    if (id.index > ATTEST_MAX_ORDER || !has_state(p, id.index, id.kind == ATTEST_KIND_ZT))
        return refuse(why, len, "the variant has no state of this kind and degree");
    if (attest_state_rows(attest_feature_dim(p), (int)id.index, 0) < 0)
        return refuse(why, len, "the state would have more than 2^40 rows");
    return 1;
}

int attest_problem_has(const attest_problem *p, attest_tensor_id id, char *why, size_t len)
{
    refuse(why, len, "");
    if (id.kind == ATTEST_KIND_HT || id.kind == ATTEST_KIND_ZT)
        return has_final_state(p, id, why, len);
    if (id.kind != ATTEST_KIND_ROLE || id.index >= ATTEST_TENSOR_ROLES || !attest_roles[id.index].output)
        return refuse(why, len, "it is an input, not an output");
    if (id.index == ATTEST_O)
        return 1;
    if (!has_normaliser(p))
        return refuse(why, len, "update=delta and efla have o and ht.1 only");
    if (id.index == ATTEST_LSE && attest_axis_value_of(p, ATTEST_AXIS_NORM) == ATTEST_NORM_NONE &&
        attest_axis_value_of(p, ATTEST_AXIS_WEIGHT) != ATTEST_WEIGHT_EXP)
        return refuse(why, len, "with norm=none lse exists for weight=exp only");
    return 1;
}

static size_t collect(const attest_problem *p, attest_tensor_id *ids, size_t max, int outputs)
{
    static const uint32_t kinds[2][2] = { { ATTEST_KIND_H0, ATTEST_KIND_Z0 }, { ATTEST_KIND_HT, ATTEST_KIND_ZT } };
    size_t count = 0;
    for (uint32_t kind = 0; kind < 3; kind++) {
        const uint32_t last = kind == 0 ? ATTEST_TENSOR_ROLES : ATTEST_STATE_SLOTS;
        for (uint32_t index = 0; index < last && count < max; index++) {
            const attest_tensor_id id = { kind == 0 ? ATTEST_KIND_ROLE : kinds[outputs][kind - 1], index };
            if (outputs ? attest_problem_has(p, id, NULL, 0) : attest_problem_uses(p, id))
                ids[count++] = id;
        }
    }
    return count;
}

size_t attest_problem_inputs(const attest_problem *p, attest_tensor_id *ids, size_t max)
{
    return collect(p, ids, max, 0);
}

size_t attest_problem_outputs(const attest_problem *p, attest_tensor_id *ids, size_t max)
{
    return collect(p, ids, max, 1);
}

/* ---- shapes ---------------------------------------------------------------------------------------- */

size_t attest_dtype_bytes(uint32_t dtype)
{
    static const size_t bytes[ATTEST_DTYPE_COUNT] = { 4, 8, 2, 2, 8, 1, 1, 4, 1 };
    return dtype < ATTEST_DTYPE_COUNT ? bytes[dtype] : 0;
}

/* Products of sizes stick at the largest number: nothing that large can be allocated. */
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t axis_length(const attest_problem *p, char axis)
{
    switch (axis) {
    case 'b': return p->b;
    case 'h': return p->hq;
    case 'g': return p->hkv;
    case 'n': return p->n;
    case 'm': return p->m;
    case 'd': return p->d;
    case '1': return 1;
    default: return p->e;
    }
}

static uint32_t dtype_of(const attest_problem *p, attest_tensor_id id)
{
    if (id.kind == ATTEST_KIND_ROLE) {
        if (id.index == ATTEST_Q || id.index == ATTEST_BIAS)
            return p->in;
        if (id.index == ATTEST_K || id.index == ATTEST_V)
            return attest_kv_dtype(p);
        if (id.index == ATTEST_O)
            return p->out;
        if (id.index == ATTEST_KV_LENS || id.index == ATTEST_Q_LENS)
            return ATTEST_I64;
        if (id.index == ATTEST_MASK || id.index == ATTEST_KEEP)
            return ATTEST_BOOL;
        if (id.index == ATTEST_K_SCALE || id.index == ATTEST_V_SCALE)
            return ATTEST_F32;
    }
    return p->acc == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
}

const char *attest_tensor_axes(const attest_problem *p, attest_tensor_id id)
{
    static const char *const pairs[] = { "bhnm", "bhnm", "1hnm", "b1nm", "11nm" }; /* by the value of the axis */
    if (id.kind != ATTEST_KIND_ROLE || id.index >= ATTEST_TENSOR_ROLES)
        return NULL;
    if (id.index == ATTEST_BIAS || id.index == ATTEST_MASK)
        return pairs[attest_axis_value_of(p, attest_tensor_axis(id))];
    return attest_roles[id.index].axes;
}

void attest_tensor_describe(attest_tensor *t, const attest_problem *p, attest_tensor_id id, int packed)
{
    memset(t, 0, sizeof *t);
    t->struct_size = (uint32_t)sizeof *t;
    t->dtype = dtype_of(p, id);
    t->code = t->dtype == ATTEST_I64       ? ATTEST_CODE_INT
              : t->dtype == ATTEST_BF16    ? ATTEST_CODE_BFLOAT
              : t->dtype == ATTEST_BOOL    ? ATTEST_CODE_BOOL
              : t->dtype == ATTEST_F8_E4M3 ? ATTEST_CODE_F8_E4M3
              : t->dtype == ATTEST_F8_E5M2 ? ATTEST_CODE_F8_E5M2
                                           : ATTEST_CODE_FLOAT;
    t->bits = (uint8_t)(8 * attest_dtype_bytes(t->dtype));
    t->lanes = 1;
    t->device = ATTEST_CPU;
    if (id.kind == ATTEST_KIND_ROLE) {
        const char *axes = attest_tensor_axes(p, id);
        const int vector = attest_axis_value_of(p, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR;
        t->rank = (int32_t)strlen(axes) - (id.index == ATTEST_DECAY && !vector);
        for (int i = 0; i < t->rank; i++)
            t->shape[i] = axis_length(p, axes[i]);
    } else {
        const int64_t rows = attest_state_rows(attest_feature_dim(p), (int)id.index, packed);
        t->rank = id.kind == ATTEST_KIND_H0 || id.kind == ATTEST_KIND_HT ? 4 : 3;
        t->shape[0] = p->b;
        t->shape[1] = p->hkv;
        t->shape[2] = rows < 0 ? INT64_MAX : rows;
        t->shape[3] = p->e;
    }
    attest_tensor_set_order(t);
}

void attest_tensor_set_order(attest_tensor *t)
{
    int64_t stride = 1;
    for (int i = ATTEST_RANK_ROOM - 1; i >= 0; i--) {
        t->stride[i] = i < t->rank ? stride : 0;
        t->shape[i] = i < t->rank ? t->shape[i] : 1;
        stride = times(stride, t->shape[i]);
    }
}

int64_t attest_tensor_count(const attest_tensor *t)
{
    return times(times(t->shape[0], t->shape[1]), times(t->shape[2], t->shape[3]));
}

size_t attest_tensor_bytes(const attest_tensor *t)
{
    const int64_t bytes = times(attest_tensor_count(t), (int64_t)attest_dtype_bytes(t->dtype));
    return bytes == INT64_MAX ? SIZE_MAX : (size_t)bytes;
}

int attest_tensor_in_order(const attest_tensor *t)
{
    int64_t stride = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        if (t->shape[i] != 1 && t->stride[i] != stride)
            return 0;
        stride *= t->shape[i];
    }
    return 1;
}

/* ---- bundles --------------------------------------------------------------------------------------- */

#define SLOTS (ATTEST_TENSOR_ROLES + 4 * ATTEST_STATE_SLOTS)

/* One slot per possible tensor; a slot is empty while its `data` is NULL. */
struct attest_bundle {
    attest_tensor slot[SLOTS];
};

/* The slot of an id, SLOTS if there is no such tensor. */
static size_t slot_of(attest_tensor_id id)
{
    if (id.kind == ATTEST_KIND_ROLE)
        return id.index < ATTEST_TENSOR_ROLES ? id.index : SLOTS;
    if (id.kind > ATTEST_KIND_ZT || id.index >= ATTEST_STATE_SLOTS)
        return SLOTS;
    return ATTEST_TENSOR_ROLES + (size_t)(id.kind - 1) * ATTEST_STATE_SLOTS + id.index;
}

attest_status attest_bundle_new(attest_bundle **bundle, attest_error *err)
{
    *bundle = calloc(1, sizeof **bundle);
    return *bundle ? ATTEST_OK : attest_fail(err, ATTEST_NO_MEMORY, "no memory for a bundle of tensors");
}

void attest_bundle_free(attest_bundle *bundle)
{
    if (!bundle)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        free(bundle->slot[i].data);
    free(bundle);
}

static uint64_t physical_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

static attest_status too_large(attest_error *err, const char *what, uint64_t bytes)
{
    char need[48];
    if (bytes >= INT64_MAX)
        snprintf(need, sizeof need, "2^63 bytes or more");
    else
        snprintf(need, sizeof need, "%llu bytes", (unsigned long long)bytes);
    return attest_fail(err, ATTEST_BAD_INPUT, "%s needs %s, this machine has %llu", what, need,
                       (unsigned long long)physical_memory());
}

attest_status attest_bundle_add(attest_bundle *bundle, const attest_problem *p, attest_tensor_id id, int packed,
                                attest_tensor **t, attest_error *err)
{
    char name[32];
    attest_tensor described;
    if (t)
        *t = NULL;
    const size_t slot = slot_of(id);
    if (slot == SLOTS)
        return attest_fail(err, ATTEST_INTERNAL, "no tensor of kind %u and number %u", id.kind, id.index);
    attest_tensor_id_print(name, sizeof name, id);
    attest_tensor_describe(&described, p, id, packed);
    const size_t bytes = attest_tensor_bytes(&described);
    if (bytes > physical_memory())
        return too_large(err, name, bytes);
    described.data = calloc(bytes, 1);
    if (!described.data)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %s: %zu bytes", name, bytes);
    free(bundle->slot[slot].data);
    bundle->slot[slot] = described;
    if (t)
        *t = &bundle->slot[slot];
    return ATTEST_OK;
}

attest_status attest_bundle_adopt(attest_bundle *bundle, attest_tensor_id id, const attest_tensor *t, attest_error *err)
{
    const size_t slot = slot_of(id);
    if (slot == SLOTS || !t->data)
        return attest_fail(err, ATTEST_INTERNAL, "cannot adopt tensor kind %u number %u", id.kind, id.index);
    if (bundle->slot[slot].data != t->data)
        free(bundle->slot[slot].data);
    bundle->slot[slot] = *t;
    return ATTEST_OK;
}

attest_tensor *attest_bundle_get(const attest_bundle *bundle, attest_tensor_id id)
{
    const size_t slot = slot_of(id);
    return slot == SLOTS || !bundle->slot[slot].data ? NULL : (attest_tensor *)&bundle->slot[slot];
}

attest_tensor *attest_bundle_role(const attest_bundle *bundle, attest_role role)
{
    return attest_bundle_get(bundle, (attest_tensor_id){ ATTEST_KIND_ROLE, (uint32_t)role });
}

attest_status attest_outputs_memory(const attest_problem *p, const attest_tensor_id *ids, size_t count,
                                    uint64_t element, attest_error *err)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        attest_tensor t;
        uint64_t size;
        attest_tensor_describe(&t, p, ids[i], 0);
        if (__builtin_mul_overflow((uint64_t)attest_tensor_count(&t), element, &size) || size > INT64_MAX - total)
            size = INT64_MAX - total;
        total += size;
    }
    return total > physical_memory() ? too_large(err, "what is asked for", total) : ATTEST_OK;
}

/* Inputs (k and v in their pages), o, u, z and lse; final states are made on demand, and checked one by one when they
 * are added. */
attest_status attest_problem_memory(const attest_problem *p, uint64_t *bytes, attest_error *err)
{
    attest_tensor_id ids[2 * ATTEST_MAX_TENSORS];
    const size_t inputs = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    const size_t count = inputs + attest_problem_outputs(p, ids + inputs, ATTEST_MAX_TENSORS);
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        attest_tensor t;
        if (ids[i].kind == ATTEST_KIND_HT || ids[i].kind == ATTEST_KIND_ZT)
            continue;
        if (attest_pages_hold(p, ids[i]))
            attest_pages_describe(&t, p, ids[i]);
        else
            attest_tensor_describe(&t, p, ids[i], 0);
        const uint64_t size = (uint64_t)attest_tensor_bytes(&t);
        total = size > INT64_MAX - total ? INT64_MAX : total + size;
    }
    *bytes = total;
    return total > physical_memory() ? too_large(err, "the problem", total) : ATTEST_OK;
}
