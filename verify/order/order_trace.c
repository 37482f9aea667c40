/* order_trace.c - the range of the scores of each head of a trace. */
#include <math.h>
#include <string.h>

#include "kernels/npy/npy.h"
#include "kernels/tensor/tensor.h"
#include "reference/reference.h"
#include "verify/order/order_private.h"

/* DIR/q.npy or DIR/k.npy: its last four axes, missing ones 1. */
static attest_status read_shape(int64_t shape[4], uint32_t *dtype, char path[4096], const char *dir, const char *name,
                                attest_error *err)
{
    attest_npy npy;
    attest_status status = ATTEST_OK;
    if (snprintf(path, 4096, "%s/%s.npy", dir, name) >= 4096)
        return attest_fail(err, ATTEST_BAD_INPUT, "--trace: the path is too long");
    ATTEST_TRY(attest_npy_header(&npy, path, err));
    if (npy.rank > 4)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: %d axes, at most 4 (B,H,S,D)", path, npy.rank));
    for (int a = 0; a < 4; a++)
        shape[a] = a < 4 - npy.rank ? 1 : npy.shape[a - (4 - npy.rank)];
    *dtype = npy.dtype;
out:
    return status;
}

typedef struct trace {
    attest_case c;
    attest_bundle *inputs;
    attest_truth *truth;
} trace;

static void trace_clear(trace *t)
{
    attest_truth_free(t->truth);
    attest_bundle_free(t->inputs);
}

/* The orders are of the weights exp(s)/sum exp(s): what changes scores or hides keys may stand in the line, and nothing
 * else. */
static attest_status check_weights(const attest_problem *p, attest_error *err)
{
    const uint64_t scores = ATTEST_BIT(ATTEST_AXIS_FEATURE) | ATTEST_BIT(ATTEST_AXIS_ROPE) |
                            ATTEST_BIT(ATTEST_AXIS_MASK) | ATTEST_BIT(ATTEST_AXIS_WINDOW) |
                            ATTEST_BIT(ATTEST_AXIS_LENS) | ATTEST_BIT(ATTEST_AXIS_CLAMP) | ATTEST_BIT(ATTEST_AXIS_CAP) |
                            ATTEST_BIT(ATTEST_AXIS_ALIBI) | ATTEST_BIT(ATTEST_AXIS_BIAS) |
                            ATTEST_BIT(ATTEST_AXIS_ATTN_MASK) | ATTEST_BIT(ATTEST_AXIS_PAGES) |
                            ATTEST_BIT(ATTEST_AXIS_KV);
    const int axis = attest_axis_unserved(p, scores);
    char value[64];
    if (axis < 0)
        return ATTEST_OK;
    attest_axis_print(value, sizeof value, (uint32_t)axis, &p->axis[axis]);
    return attest_fail(err, ATTEST_BAD_INPUT,
                       "--problem: %s=%s: orders are of the weights of softmax; allowed: what changes scores or hides "
                       "keys (scale, mask, window, rope, cap, ..)",
                       attest_axes[axis].key, value);
}

/* The problem of the files: softmax, whose scores are those of every order; v is one channel of zeros. */
static attest_status load(trace *t, const char *dir, const char *line, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char q[4096], k[4096], text[ATTEST_LINE];
    int64_t of_q[4], of_k[4];
    uint32_t type, type_of_k;
    *t = (trace){ .inputs = NULL };
    ATTEST_TRY(read_shape(of_q, &type, q, dir, "q", err));
    ATTEST_TRY(read_shape(of_k, &type_of_k, k, dir, "k", err));
    if (of_q[0] != of_k[0] || of_q[3] != of_k[3])
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: batch %lld, d %lld, but %s has %lld, %lld", k,
                               (long long)of_k[0], (long long)of_k[3], q, (long long)of_q[0], (long long)of_q[3]));
    const attest_sizes sizes = { of_q[0], of_q[1], of_k[1], of_q[2], of_k[2], of_q[3], 1 };
    if (snprintf(text, sizeof text, "in=%s %s", attest_dtype_name(type), line ? line : "") >= (int)sizeof text)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "--problem: the line is too long"));
    ATTEST_TRY(attest_case_parse(&t->c, text, &sizes, NULL, err));
    ATTEST_TRY(check_weights(&t->c.problem, err));
    ATTEST_TRY(attest_bundle_new(&t->inputs, err));
    ATTEST_TRY(attest_npy_load(t->inputs, &t->c.problem, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_Q }, q, 0, err));
    ATTEST_TRY(attest_npy_load(t->inputs, &t->c.problem, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_K }, k, 0, err));
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&t->c.problem, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        const int is_v = ids[i].kind == ATTEST_KIND_ROLE && ids[i].index == ATTEST_V;
        attest_tensor_id_print(name, sizeof name, ids[i]);
        if (!is_v && !attest_bundle_get(t->inputs, ids[i]))
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "--problem: it reads %s; a trace has q.npy and k.npy", name));
        if (is_v)
            ATTEST_TRY(attest_bundle_add(t->inputs, &t->c.problem, ids[i], 0, NULL, err));
    }
    ATTEST_TRY(attest_truth_new(&t->truth, &t->c.problem, t->inputs, ATTEST_ENGINE_BALL, err));
out:
    return status;
}

/* Upper bounds of the range and of the size of the scores of head (b,h). */
static attest_status measure_head(double *range, double *size, const trace *t, int64_t b, int64_t h, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_row_facts facts;
    *range = *size = 0;
    for (int64_t i = 0; i < t->c.problem.n; i++) {
        ATTEST_TRY(attest_truth_facts(&facts, t->truth, (attest_row){ b, h, i }, err));
        if (facts.visible < 1)
            continue;
        if (!(facts.range_hi >= 0) || !isfinite(facts.range_hi) || !isfinite(facts.abs_score))
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "row (%lld,%lld,%lld) of the trace has no finite scores",
                                   (long long)b, (long long)h, (long long)i));
        *range = fmax(*range, facts.range_hi);
        *size = fmax(*size, facts.abs_score);
    }
out:
    return status;
}

attest_status attest_order_trace(attest_orders *orders, const attest_order_request *request, const char *dir,
                                 const char *line, attest_error *err)
{
    attest_status status = ATTEST_OK;
    trace t;
    ATTEST_TRY(load(&t, dir, line, err));
    for (int64_t b = 0; b < t.c.problem.b; b++)
        for (int64_t h = 0; h < t.c.problem.hq; h++) {
            char head[32];
            double range, size;
            snprintf(head, sizeof head, "b%d h%d", (int)b, (int)h);
            ATTEST_TRY(measure_head(&range, &size, &t, b, h, err));
            for (size_t c = 0; c < request->centers; c++)
                ATTEST_TRY(order_cells(orders, request, head, strcmp(request->center[c], "zero") == 0 ? size : range,
                                       request->center[c], err));
        }
out:
    trace_clear(&t);
    return status;
}
