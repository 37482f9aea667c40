/* peer_run.c - see peer_gates.h: the expected values of a case, made once, and the judging of its runs. */
#include "verify/peer_gates/peer_gates.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "verify/peer_gates/peer_gates_plain.h"
#include "verify/gate/gate.h"

enum { OUTPUTS = 2 }; /* o and one final state: the laws have variants of one degree */

typedef struct expected {
    attest_tensor_id id;
    int64_t count;
    uint32_t dtype;
    double *want, *plain, *magnitude; /* as in a sample */
} expected;

/* One case: one thread at a time works on it. */
typedef struct peer_case {
    expected output[OUTPUTS];
    int count; /* outputs; 0 before the first run */
    int64_t correct, refused;
} peer_case;

typedef struct peer_run {
    const attest_peer_gate *gate;
    peer_case *cases; /* as in the suite */
} peer_run;

static attest_status values_of(double **values, const attest_tensor *t, attest_error *err)
{
    const int64_t count = attest_tensor_count(t);
    *values = malloc((size_t)count * sizeof **values);
    if (!*values)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld values", (long long)count);
    for (int64_t i = 0; i < count; i++)
        (*values)[i] = attest_load(t, i); /* C order */
    return ATTEST_OK;
}

/* The truth of an output, each element rounded once to `dtype`. */
static attest_status rounded_truth(double **values, attest_truth *truth, attest_tensor_id id, uint32_t dtype,
                                   attest_error *err)
{
    attest_tensor t = { 0 };
    attest_rounding_counts counts = { 0 };
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_truth_rounded(&t, truth, id, dtype, &counts, err));
    if (counts.at_cap + counts.no_truth > 0)
        ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "an expected value is not known"));
    ATTEST_TRY(values_of(values, &t, err));
out:
    free(t.data);
    return status;
}

/* sum_j p_ij |v_jc|: o of the same inputs with |v|. */
static attest_status find_magnitude(double **values, const attest_prepared *prepared, attest_tensor_id id,
                                    attest_error *err)
{
    static const attest_kernel_facts no_outputs;
    attest_status status = ATTEST_OK;
    attest_bundle *inputs = NULL;
    attest_truth *truth = NULL;
    ATTEST_TRY(attest_case_bundle(&inputs, prepared, &no_outputs, err));
    const attest_tensor *v = attest_bundle_role(inputs, ATTEST_V);
    for (int64_t i = 0; i < attest_tensor_count(v); i++) {
        const double x = attest_load(v, i);
        if (x < 0)
            attest_store_bits(v, i, attest_from_f64(v->dtype, -x));
    }
    ATTEST_TRY(attest_truth_new(&truth, &prepared->c.problem, inputs, ATTEST_ENGINE_AUTO, err));
    ATTEST_TRY(rounded_truth(values, truth, id, ATTEST_F32, err));
out:
    attest_truth_free(truth);
    attest_bundle_free(inputs);
    return status;
}

static attest_status expect(expected *e, const attest_peer_rule *rule, attest_prepared *prepared, attest_tensor_id id,
                            attest_error *err)
{
    const attest_problem *p = &prepared->c.problem;
    attest_status status = ATTEST_OK;
    attest_tensor t;
    attest_tensor_describe(&t, p, id, 0);
    e->id = id;
    e->count = attest_tensor_count(&t);
    e->dtype = t.dtype;
    ATTEST_TRY(rounded_truth(&e->want, prepared->truth, id, t.dtype, err));
    if (rule->magnitude)
        ATTEST_TRY(find_magnitude(&e->magnitude, prepared, id, err));
    if (rule->plain) {
        e->plain = malloc((size_t)e->count * sizeof *e->plain);
        if (!e->plain)
            ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld values", (long long)e->count));
        ATTEST_TRY(attest_peer_plain(e->plain, p, prepared->inputs, err));
    }
out:
    return status;
}

/* o, and with ATTEST_GIVES_STATE the final state. */
static attest_status expect_all(peer_case *c, const attest_peer_rule *rule, attest_prepared *prepared,
                                attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    attest_status status = ATTEST_OK;
    const size_t count = attest_problem_outputs(&prepared->c.problem, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count && c->count < OUTPUTS; i++) {
        const int o = ids[i].kind == ATTEST_KIND_ROLE && ids[i].index == ATTEST_O;
        if (!o && !(ids[i].kind == ATTEST_KIND_HT && (rule->outputs & ATTEST_GIVES_STATE)))
            continue;
        c->count++; /* also if it fails: clear_case gives back what there is */
        ATTEST_TRY(expect(&c->output[c->count - 1], rule, prepared, ids[i], err));
    }
out:
    return status;
}

static void clear_case(peer_case *c)
{
    for (int i = 0; i < c->count; i++) {
        free(c->output[i].want);
        free(c->output[i].plain);
        free(c->output[i].magnitude);
    }
}

static attest_status judge(void *context, attest_result *result, attest_prepared *prepared,
                           const attest_bundle *outputs, attest_error *err)
{
    const peer_run *run = context;
    const attest_peer_rule *rule = run->gate->rule;
    peer_case *c = &run->cases[prepared->index];
    attest_status status = ATTEST_OK;
    double *got = NULL;
    int refused = 0;
    if (c->count == 0)
        ATTEST_TRY(expect_all(c, rule, prepared, err));
    for (int i = 0; i < c->count && !refused; i++) {
        const expected *e = &c->output[i];
        const attest_tensor *t = attest_bundle_get(outputs, e->id);
        if (!t)
            continue; /* a form without states */
        ATTEST_TRY(values_of(&got, t, err));
        const attest_peer_sample sample = { .count = e->count,
                                            .got = got,
                                            .want = e->want,
                                            .plain = e->plain,
                                            .magnitude = e->magnitude,
                                            .dtype = e->dtype,
                                            .keys = prepared->c.problem.m,
                                            .softmax = attest_axis_value_of(&prepared->c.problem, ATTEST_AXIS_WEIGHT) ==
                                                       ATTEST_WEIGHT_EXP };
        refused = rule->refuses(&sample, run->gate->number);
        free(got);
        got = NULL;
    }
    result->verdict = refused ? ATTEST_FAIL : ATTEST_PASS;
    if (!strchr(result->kernel, ':')) { /* a built-in kernel: correct */
        c->correct++;
        c->refused += refused;
    }
out:
    free(got);
    return status;
}

attest_status attest_peer_run(attest_peer_gate *gate, const attest_options *options, const char *plugin,
                              attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_suite suite = { 0 };
    peer_run run = { gate, NULL };
    const attest_judge judging = { gate->rule->outputs, judge, &run };
    ATTEST_TRY(attest_suite_read(&suite, gate->rule->suite, err));
    run.cases = calloc(suite.case_count, sizeof *run.cases);
    gate->defects = calloc(attest_defect_count, sizeof *gate->defects);
    if (!run.cases || !gate->defects)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", suite.case_count));
    gate->cases = (int64_t)suite.case_count;
    ATTEST_TRY(attest_defects_run(gate->defects, options, &suite, plugin, &judging, 1, err));
    gate->correct = gate->refused = 0;
    for (size_t i = 0; i < suite.case_count; i++) {
        gate->correct += run.cases[i].correct;
        gate->refused += run.cases[i].refused;
    }
out:
    for (size_t i = 0; run.cases && i < suite.case_count; i++)
        clear_case(&run.cases[i]);
    free(run.cases);
    attest_suite_clear(&suite);
    return status;
}

void attest_peer_clear(attest_peer_gate *gates, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(gates[i].defects);
        gates[i].defects = NULL;
    }
}
