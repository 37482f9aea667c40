/* cmd_replay.c - `attest replay --kernel K LINE`: one kernel, one case, every field of its row. */
#include <stdio.h>
#include <string.h>

#include "reports/report.h"
#include "verify/cli.h"
#include "verify/gate.h"
#include "verify/runner.h"

static attest_status find_kernel(attest_subject *subject, const char *name, attest_error *err)
{
    const size_t count = attest_worker_kernel_count(subject->worker);
    if (!name && count == 1) {
        subject->index = 0;
        return ATTEST_OK;
    }
    for (size_t k = 0; name && k < count; k++)
        if (strcmp(attest_worker_kernel(subject->worker, k)->name, name) == 0) {
            subject->index = k;
            return ATTEST_OK;
        }
    return attest_fail(err, ATTEST_BAD_INPUT, "--kernel: no kernel '%s' in %s (it has %zu, the first is '%s')",
                       name ? name : "", subject->library ? subject->library : "the built-in library", count,
                       attest_worker_kernel(subject->worker, 0)->name);
}

/* Every field that has a value, one a line. */
static void print_fields(FILE *out, const attest_row *row)
{
    for (size_t i = 0; i < attest_row_field_count; i++) {
        const attest_field *f = &attest_row_fields[i];
        const char *at = (const char *)row + f->offset;
        char text[256] = "";
        double x;
        int64_t n;
        switch (f->type) {
        case ATTEST_FIELD_TEXT: snprintf(text, sizeof text, "%.255s", at); break;
        case ATTEST_FIELD_REAL:
            memcpy(&x, at, sizeof x);
            if (x == x)
                snprintf(text, sizeof text, "%.9g", x);
            break;
        case ATTEST_FIELD_VERDICT: snprintf(text, sizeof text, "%s", attest_verdict_names[row->verdict]); break;
        case ATTEST_FIELD_REASONS: attest_reasons_text(text, sizeof text, row->reasons); break;
        default: memcpy(&n, at, sizeof n); snprintf(text, sizeof text, "%lld", (long long)n);
        }
        if (*text && f->type == ATTEST_FIELD_TEXT)
            fprintf(out, "%-18s %s\n", f->name, at);
        else if (*text && f->type == ATTEST_FIELD_REAL)
            fprintf(out, "%-18s %-16s %s\n", f->name, text, f->meaning);
        else if (*text)
            fprintf(out, "%-18s %s\n", f->name, text);
    }
}

int attest_command_replay(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { 0 };
    attest_subject subject = { .program = cli->program };
    attest_case c;
    attest_row row;
    char library[4096];
    const char *name;
    int supported = 0, code = 0;
    attest_row_init(&row);
    if (!cli->kernel)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--kernel KERNEL or --kernel LIB.so:KERNEL is needed"));
    if (cli->format && strcmp(cli->format, "text") != 0 && strcmp(cli->format, "json") != 0)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--format=%s: text or json", cli->format));
    ATTEST_TRY(attest_case_parse(&c, cli->argument[0], NULL, NULL, &err));
    attest_split_target(cli->kernel, library, sizeof library, &name);
    subject.library = *library ? library : NULL;
    ATTEST_TRY(attest_worker_start(&subject.worker, subject.library, cli->timeout, &err));
    ATTEST_TRY(find_kernel(&subject, name, &err));
    attest_library_hash(subject.file_hash, subject.library);
    ATTEST_TRY(attest_prepare(&prepared, &c, &err));
    ATTEST_TRY(attest_run_case(&row, &supported, &prepared, &subject, NULL, cli->timeout, &err));
    if (cli->format && strcmp(cli->format, "json") == 0)
        attest_row_print_json(stdout, &row);
    else if (!cli->quiet)
        print_fields(stdout, &row);
    attest_exit exit_code = { 0 };
    attest_exit_add(&exit_code, attest_row_exit(&row));
    code = attest_exit_code(&exit_code);
out:
    attest_prepared_clear(&prepared);
    attest_worker_free(subject.worker);
    return status == ATTEST_OK ? code : attest_cli_error(cli, status, &err);
}
