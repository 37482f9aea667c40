/* noticed.c - see noticed.h. */
#include "verify/gate/diagnosis/noticed.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "props/draw/draw.h"
#include "reports/report.h"
#include "reports/table.h"
#include "verify/gate/gate.h"

const int64_t attest_noticed_lengths[ATTEST_NOTICED_LENGTHS] = { 64, 512, 4096 };

enum { ROWS = 4 };

/* The problem of a class at this length: 1 if the kernel serves it.  Way 0 is the preset itself, causal, with d=64 and
 * e=16; 1 with the sizes of the class's first case; 2 that case in all but its length and heads. */
enum { WAYS = 3 };

static int case_of(attest_case *c, const attest_result *result, int way, int64_t n, attest_worker *worker,
                   size_t kernel)
{
    char line[ATTEST_LINE], why[256];
    attest_error err;
    snprintf(line, sizeof line, "variant=%s mask=causal n=%lld d=%lld e=%lld in=%s acc=%s p=%s out=%s family=normal:1",
             result->variant, (long long)n, way ? (long long)result->d : 64, way ? (long long)result->e : 16,
             result->in, result->acc, result->p, result->out);
    if (attest_case_parse(c, way < 2 ? line : result->problem, NULL, NULL, &err) != ATTEST_OK)
        return 0;
    if (way == 2) {
        snprintf(c->family, sizeof c->family, "normal:1");
        c->problem.b = c->problem.hq = c->problem.hkv = 1;
        c->problem.n = c->problem.m = n;
    }
    return attest_worker_supports(worker, kernel, &c->problem, why, sizeof why) > 0;
}

typedef struct figures {
    double *relative; /* [ROWS*e] bound/|o| */
    size_t count;
    double keys;
} figures;

static double share_seen(const unsigned char *keys, int64_t m)
{
    int64_t visible = 0, seen = 0;
    for (int64_t j = 0; j < m; j++) {
        visible += keys[j] != 0;
        seen += keys[j] == ATTEST_KEY_SEEN;
    }
    return visible ? (double)seen / (double)visible : NAN;
}

/* ROWS rows, the last one of them the last of the problem; `o` holds anything. */
static attest_status judge_rows(figures *f, attest_truth *truth, const attest_problem *p, const attest_tensor *o,
                                const attest_declared *declared, attest_error *err)
{
    const attest_tensor_id id = { ATTEST_KIND_ROLE, ATTEST_O };
    attest_status status = ATTEST_OK;
    attest_element *elements = calloc((size_t)p->e, sizeof *elements);
    double *bound = calloc((size_t)p->e, sizeof *bound);
    double *distance = calloc((size_t)p->e * ATTEST_WRONG_COUNT, sizeof *distance);
    unsigned char *keys = calloc((size_t)p->m, 1);
    f->relative = calloc((size_t)p->e * ROWS, sizeof *f->relative);
    if (!elements || !bound || !distance || !keys || !f->relative)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for what an audit would have noticed"));
    for (int64_t r = 1; r <= ROWS; r++) {
        const int64_t i = p->n * r / ROWS - 1;
        attest_row_facts facts;
        ATTEST_TRY(attest_judge_row(elements, &facts, truth, &declared->numerics, declared->flags, id, o,
                                    (attest_row){ 0, 0, i }, err));
        for (int64_t c = 0; c < p->e; c++) {
            const double size = attest_element_size(&elements[c]);
            bound[c] = attest_element_bound(&elements[c]);
            if (size > 0)
                f->relative[f->count++] = bound[c] / size;
        }
        if (r == ROWS)
            ATTEST_TRY(attest_judge_wrong(distance, keys, truth, bound, (attest_row){ 0, 0, i }, err));
    }
    f->keys = share_seen(keys, p->m);
out:
    free(elements);
    free(bound);
    free(distance);
    free(keys);
    return status;
}

static attest_status measure(double *error, double *keys, const attest_case *c, attest_worker *worker, size_t kernel,
                             attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_bundle *inputs = NULL, *outputs = NULL;
    attest_truth *truth = NULL;
    attest_tensor *o;
    attest_declared declared;
    figures f = { .keys = NAN };
    ATTEST_TRY(attest_worker_declared(worker, kernel, &c->problem, &declared, err));
    ATTEST_TRY(attest_bundle_new(&inputs, err));
    ATTEST_TRY(attest_draw_missing(inputs, c, 0, 0, err));
    ATTEST_TRY(attest_truth_new(&truth, &c->problem, inputs, ATTEST_ENGINE_AUTO, err));
    ATTEST_TRY(attest_bundle_new(&outputs, err));
    ATTEST_TRY(attest_bundle_add(outputs, &c->problem, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, 0, &o, err));
    ATTEST_TRY(judge_rows(&f, truth, &c->problem, o, &declared, err));
    gsl_sort(f.relative, 1, f.count);
    *error = f.count ? f.relative[(f.count - 1) / 2] : NAN;
    *keys = f.keys;
out:
    free(f.relative);
    attest_truth_free(truth);
    attest_bundle_free(outputs);
    attest_bundle_free(inputs);
    return status;
}

static attest_status add_class(attest_noticed *entry, const attest_result *result, attest_worker *worker, size_t kernel,
                               attest_error *err)
{
    attest_status status = ATTEST_OK;
    *entry = (attest_noticed){ .kernel = "" };
    snprintf(entry->kernel, sizeof entry->kernel, "%s", result->kernel);
    snprintf(entry->class, sizeof entry->class, "%s", result->class);
    snprintf(entry->variant, sizeof entry->variant, "%s", result->variant);
    for (int l = 0; l < ATTEST_NOTICED_LENGTHS; l++) {
        attest_case c;
        int serves = 0;
        entry->error[l] = entry->keys[l] = NAN;
        for (int way = 0; way < WAYS && !serves; way++)
            serves = case_of(&c, result, way, attest_noticed_lengths[l], worker, kernel);
        if (serves)
            ATTEST_TRY(measure(&entry->error[l], &entry->keys[l], &c, worker, kernel, err));
    }
out:
    return status;
}

/* The first result of each class of each kernel that can tell something of it. */
typedef struct firsts {
    attest_result *result;
    size_t count;
} firsts;

static int is_known(const firsts *all, const attest_result *result)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->result[i].class, result->class) == 0 && strcmp(all->result[i].kernel, result->kernel) == 0)
            return 1;
    return 0;
}

static attest_status find_firsts(firsts *all, const attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result result;
    for (size_t i = 0; i < results->count; i++) {
        ATTEST_TRY(attest_results_get(&result, results, i, err));
        if (result.verdict != ATTEST_PASS || !*result.class || result.n < 2 || result.family_constant ||
            is_known(all, &result))
            continue;
        attest_result *more = realloc(all->result, (all->count + 1) * sizeof *more);
        if (!more)
            ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for the classes of an audit"));
        all->result = more;
        all->result[all->count++] = result;
    }
out:
    return status;
}

static attest_status add_kernel(attest_noticed **list, size_t *count, const firsts *all, const attest_subject *subject,
                                attest_error *err)
{
    attest_status status = ATTEST_OK;
    char name[512];
    attest_subject_name(name, sizeof name, subject);
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->result[i].kernel, name) != 0)
            continue;
        attest_noticed *more = realloc(*list, (*count + 1) * sizeof *more);
        if (!more)
            ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for the classes of an audit"));
        *list = more;
        ATTEST_TRY(add_class(&more[*count], &all->result[i], subject->worker, subject->index, err));
        ++*count;
    }
out:
    return status;
}

attest_status attest_gate_noticed(attest_noticed **list, size_t *count, const attest_results *results,
                                  const attest_gate *gate, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_worker *worker = NULL;
    firsts all = { NULL, 0 };
    *list = NULL;
    *count = 0;
    ATTEST_TRY(find_firsts(&all, results, err));
    for (size_t k = 0; k < gate->plan->kernel_count; k++) {
        attest_subject subject = attest_gate_subject(gate, k);
        const size_t library = gate->plan->kernel[k].library;
        if (k > 0 && library != gate->plan->kernel[k - 1].library) {
            attest_worker_free(worker);
            worker = NULL;
        }
        if (!worker)
            status = attest_plan_start(&worker, gate->plan, library, gate->options->timeout, err);
        if (status == ATTEST_NO_MEMORY)
            goto out;
        status = ATTEST_OK;
        if (!worker)
            continue; /* its results say so */
        subject.worker = worker;
        status = add_kernel(list, count, &all, &subject, err);
        if (status != ATTEST_OK && status != ATTEST_IO)
            goto out;
        status = ATTEST_OK;
    }
out:
    free(all.result);
    attest_worker_free(worker);
    if (status != ATTEST_OK) {
        free(*list);
        *list = NULL;
    }
    return status;
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */
static json_t *numbers(const double *x)
{
    json_t *list = json_array();
    for (int l = 0; l < ATTEST_NOTICED_LENGTHS; l++)
        json_array_append_new(list, attest_json_number(x[l]));
    return list;
}

static json_t *lengths(void)
{
    double x[ATTEST_NOTICED_LENGTHS];
    for (int l = 0; l < ATTEST_NOTICED_LENGTHS; l++)
        x[l] = (double)attest_noticed_lengths[l];
    return numbers(x);
}

static json_t *entry_of(const attest_noticed *entry)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "kernel", attest_json_text(entry->kernel), "class",
                     attest_json_text(entry->class), "variant", attest_json_text(entry->variant), "lengths", lengths(),
                     "noticed_at", numbers(entry->error), "keys_seen_at", numbers(entry->keys));
}

attest_status attest_noticed_write(const attest_noticed *list, size_t count, const char *path, attest_error *err)
{
    attest_output out = { .file = NULL };
    attest_status status = ATTEST_OK;
    json_t *entries = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(entries, entry_of(&list[i]));
    ATTEST_TRY(attest_output_open(&out, path, err));
    status = attest_json_pretty(out.file, entries);
    entries = NULL;
    if (status != ATTEST_OK)
        status = attest_print_failed(err, path);
out:
    json_decref(entries);
    return attest_output_close(&out, status, err);
}

static void error_cell(attest_table *table, double error)
{
    if (error - error == 0)
        attest_table_cell(table, "%.1e", error);
    else
        attest_table_cell(table, "-");
}

attest_status attest_noticed_print(FILE *out, const attest_noticed *list, size_t count, int json, attest_error *err)
{
    attest_column columns[3 + 2 * ATTEST_NOTICED_LENGTHS] = { { .head = "kernel", .flags = ATTEST_COLUMN_FIT },
                                                              { .head = "class", .flags = ATTEST_COLUMN_FIT },
                                                              { .head = "variant", .flags = ATTEST_COLUMN_FIT } };
    char head[ATTEST_NOTICED_LENGTHS][16];
    attest_status status = ATTEST_OK;
    attest_table table;
    for (size_t i = 0; json && i < count; i++)
        if (attest_json_line(out, entry_of(&list[i])) != ATTEST_OK)
            ATTEST_TRY(attest_print_failed(err, "what an audit would have noticed"));
    if (json || count == 0)
        goto out;
    fputs("\nreckoned from what is declared, for mask=causal and normal numbers (no kernel runs):\n"
          "the smallest relative error of an element that is noticed in half the elements, and the share of keys whose "
          "loss the last row shows:\n",
          out);
    for (int l = 0; l < ATTEST_NOTICED_LENGTHS; l++) {
        snprintf(head[l], sizeof head[l], "n=%lld", (long long)attest_noticed_lengths[l]);
        columns[3 + 2 * l] = (attest_column){ .head = head[l], .flags = ATTEST_COLUMN_RIGHT, .width = 7 };
        columns[4 + 2 * l] = (attest_column){ .head = "keys", .flags = ATTEST_COLUMN_RIGHT, .width = 4 };
    }
    attest_table_begin(&table, out, ATTEST_TABLE_CONSOLE, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < count; i++) {
        attest_table_cell(&table, "%s", list[i].kernel);
        attest_table_cell(&table, "%s", list[i].class);
        attest_table_cell(&table, "%s", list[i].variant);
        for (int l = 0; l < ATTEST_NOTICED_LENGTHS; l++) {
            error_cell(&table, list[i].error[l]);
            if (isnan(list[i].keys[l]))
                attest_table_cell(&table, "-");
            else
                attest_table_cell(&table, "%.0f%%", 100 * list[i].keys[l]);
        }
    }
    status = attest_table_end(&table, err);
out:
    return status;
}
