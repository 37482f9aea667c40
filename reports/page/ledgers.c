/* ledgers.c - see ledgers.h. */
#include "reports/page/ledgers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/input.h"
#include "reports/files/json_file.h"
#include "reports/table.h"

/* The text under a key, "" where there is none. */
static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static long long count_of(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

/* No row is no reason for green. */
static const char *class_of(const json_t *rows, size_t bad)
{
    return bad ? "fail" : json_array_size(rows) > 0 ? "pass" : "undecided";
}

/* ---- planted defects --------------------------------------------------------------------------------------------- */
static int is_defect(const json_t *row)
{
    return *text_of(row, "defect") && json_is_string(json_object_get(row, "base")) &&
           json_is_string(json_object_get(row, "what")) && json_is_integer(json_object_get(row, "cases")) &&
           json_is_integer(json_object_get(row, "differs")) && json_is_integer(json_object_get(row, "killed")) &&
           json_is_object(json_object_get(row, "by"));
}

static int survives(const json_t *row) { return count_of(row, "killed") == 0; }

static void print_defect(attest_table *table, const json_t *row)
{
    const json_t *margin = json_object_get(row, "margin");
    const char *check;
    json_t *kills;
    char by[256] = "";
    json_object_foreach(json_object_get(row, "by"), check, kills)
        snprintf(by + strlen(by), sizeof by - strlen(by), "%s%s", *by ? ", " : "", check);
    attest_table_mark(table, survives(row) ? (attest_mark){ "fail", NULL } : (attest_mark){ NULL, NULL });
    attest_table_cell(table, "%s", text_of(row, "defect"));
    attest_table_cell(table, "%s", text_of(row, "base"));
    attest_table_cell(table, "%s", text_of(row, "what"));
    attest_table_cell(table, "%s", survives(row) ? "survives" : by);
    attest_table_cell(table, "%lld/%lld/%lld", count_of(row, "killed"), count_of(row, "differs"),
                      count_of(row, "cases"));
    attest_table_number(table, json_is_number(margin) ? json_number_value(margin) : __builtin_nan(""));
}

static void head_defects(FILE *out, const json_t *rows)
{
    size_t i, alive = 0, ended = 0;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        alive += survives(row) ? 1u : 0u;
        ended += json_is_false(json_object_get(row, "whole")) ? 1u : 0u;
    }
    fprintf(out,
            "<p class=\"%s\">%zu wrong kernels, each a correct one with one step replaced: %zu caught, %zu "
            "survive%s.%s</p>\n",
            class_of(rows, alive), json_array_size(rows), json_array_size(rows) - alive, alive, alive == 1 ? "s" : "",
            ended ? " Each ran until a part of the suite had caught it: cases, checks and margins are those until then."
                  : "");
}

/* ---- the papers' statements -------------------------------------------------------------------------------------- */
static int is_claim(const json_t *row)
{
    return *text_of(row, "claim") && *text_of(row, "verdict") && json_is_string(json_object_get(row, "statement")) &&
           json_is_string(json_object_get(row, "source")) && json_is_string(json_object_get(row, "expected"));
}

static int is_unexpected(const json_t *row) { return strcmp(text_of(row, "verdict"), text_of(row, "expected")) != 0; }

static void print_claim(attest_table *table, const json_t *row)
{
    attest_table_mark(table, is_unexpected(row) ? (attest_mark){ "fail", NULL } : (attest_mark){ NULL, NULL });
    attest_table_cell(table, "%s", text_of(row, "claim"));
    attest_table_cell(table, "%s", text_of(row, "statement"));
    attest_table_cell(table, "%s", text_of(row, "source"));
    attest_table_cell(table, "%s%s%s", text_of(row, "verdict"), is_unexpected(row) ? "; expected: " : "",
                      is_unexpected(row) ? text_of(row, "expected") : "");
}

static void head_claims(FILE *out, const json_t *rows)
{
    static const char *const kinds[] = { "holds", "holds if", "false as written", "not checkable here" };
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    size_t i, count[KINDS] = { 0 }, unexpected = 0;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const char *verdict = text_of(row, "verdict");
        for (size_t k = 0; k < KINDS; k++)
            count[k] += k == 1 ? strncmp(verdict, "holds if ", 9) == 0 : strcmp(verdict, kinds[k]) == 0;
        unexpected += is_unexpected(row) ? 1u : 0u;
    }
    fprintf(out,
            "<p class=\"%s\">%zu statements: %zu hold, %zu hold under a condition, %zu are false as written, %zu "
            "cannot be checked here; %zu with another verdict than the expected one.</p>\n",
            class_of(rows, unexpected), json_array_size(rows), count[0], count[1], count[2], count[3], unexpected);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */
/* A file of rows, and how it is told. */
typedef struct ledger {
    const char *file, *title, *make, *table;
    int lines; /* a row a line; else one array */
    int (*is_row)(const json_t *row);
    int (*is_first)(const json_t *row); /* it stands before the others */
    void (*head)(FILE *out, const json_t *rows);
    void (*print)(attest_table *table, const json_t *row);
    size_t columns;
    attest_column column[6];
} ledger;

static const ledger ledgers[] = {
    { .file = "defects.json",
      .title = "Planted defects",
      .make = "attest defects",
      .table = "each defect; cases: caught/with other bits than the base kernel/run; margin: error over bound",
      .lines = 1,
      .is_row = is_defect,
      .is_first = survives,
      .head = head_defects,
      .print = print_defect,
      .columns = 6,
      .column = { { .head = "defect", .flags = ATTEST_COLUMN_CODE },
                  { .head = "base kernel", .flags = ATTEST_COLUMN_CODE },
                  { .head = "what is wrong" },
                  { .head = "caught by" },
                  { .head = "cases", .flags = ATTEST_COLUMN_RIGHT },
                  { .head = "margin", .flags = ATTEST_COLUMN_RIGHT } } },
    { .file = "claims.json",
      .title = "What the papers state",
      .make = "attest claims",
      .table = "each statement",
      .is_row = is_claim,
      .is_first = is_unexpected,
      .head = head_claims,
      .print = print_claim,
      .columns = 4,
      .column = { { .head = "claim" }, { .head = "statement" }, { .head = "source" }, { .head = "verdict" } } },
};

/* One row a line, as an array. */
static attest_status read_lines(json_t *rows, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char *line = NULL;
    size_t size = 0, number = 0;
    FILE *in = NULL;
    ATTEST_TRY(attest_input_stream(&in, NULL, path, err));
    while (getline(&line, &size, in) > 0) {
        json_t *row = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        number++;
        if (!row || json_array_append_new(rows, row) != 0)
            ATTEST_TRY(attest_starved() ? attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory to read it", path)
                                        : attest_fail(err, ATTEST_BAD_INPUT, "%s:%zu: no JSON", path, number));
    }
    status = attest_input_ended(in, path, err);
out:
    free(line);
    if (in)
        fclose(in);
    return status;
}

static attest_status read_ledger(json_t **rows, const ledger *l, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    size_t i;
    json_t *row;
    if (!l->lines)
        ATTEST_TRY(attest_json_read(rows, path, err));
    else if (!(*rows = json_array()))
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory to read it", path));
    else
        ATTEST_TRY(read_lines(*rows, path, err));
    if (!json_is_array(*rows))
        ATTEST_TRY(
            attest_fail(err, ATTEST_BAD_INPUT, "%s: no array of rows (`%s --out DIR` writes it)", path, l->make));
    json_array_foreach(*rows, i, row) if (!l->is_row(row)) ATTEST_TRY(attest_fail(
        err, ATTEST_BAD_INPUT, "%s: row %zu is of another kind (`%s --out DIR` writes it)", path, i + 1, l->make));
out:
    return status;
}

static attest_status print_rows(FILE *out, const ledger *l, const json_t *rows, attest_error *err)
{
    attest_table table;
    size_t i;
    json_t *row;
    l->head(out, rows);
    fprintf(out, "<details><summary>%s (%zu)</summary>", l->table, json_array_size(rows));
    attest_table_begin(&table, out, ATTEST_TABLE_HTML, l->column, l->columns);
    for (int first = 1; first >= 0; first--)
        json_array_foreach(rows, i, row) if (l->is_first(row) == first) l->print(&table, row);
    const attest_status status = attest_table_end(&table, err);
    fputs("</details>\n", out);
    return status;
}

attest_status attest_ledgers_print(FILE *out, const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    json_t *rows = NULL;
    char path[4096];
    for (size_t i = 0; i < sizeof ledgers / sizeof ledgers[0]; i++) {
        const ledger *l = &ledgers[i];
        snprintf(path, sizeof path, "%.4000s/%s", dir, l->file);
        fprintf(out, "<h2>%s</h2>\n", l->title);
        if (access(path, F_OK) != 0) {
            fprintf(out, "<p>Not in this folder: <code>%s --out DIR</code> writes %s into it.</p>\n", l->make, l->file);
            continue;
        }
        ATTEST_TRY(read_ledger(&rows, l, path, err));
        ATTEST_TRY(print_rows(out, l, rows, err));
        json_decref(rows);
        rows = NULL;
    }
out:
    json_decref(rows);
    return status;
}
