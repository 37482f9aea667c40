/* github.c - workflow commands and the step summary of GitHub's actions. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/ci/ci.h"

#define SUMMARY_MOST ((size_t)1000000) /* of 1 MiB, with room for what is said at the cut */

/* A value of a command: in properties `:` and `,` are escaped too. */
static void print_value(FILE *out, const char *text, int property)
{
    for (; *text; text++)
        if (strchr(property ? "%\r\n:," : "%\r\n", *text))
            fprintf(out, "%%%02X", (unsigned char)*text);
        else
            fputc(*text, out);
}

static void print_one(FILE *out, const attest_result *result)
{
    char title[640], text[4096];
    snprintf(title, sizeof title, "%s: %s", result->kernel, attest_verdict_names[result->verdict]);
    snprintf(text, sizeof text, "%s%s%s%s%.700s", result->problem, *result->problem && *result->why ? ": " : "",
             result->why, *result->reproduction ? "\nreproduce: " : "", result->reproduction);
    fprintf(out, "::%s ", attest_ci_is_error(result) ? "error" : "warning");
    if (*result->file) {
        fputs("file=", out);
        print_value(out, result->file, 1);
        fputs(",line=1,", out);
    }
    fputs("title=", out);
    print_value(out, title, 1);
    fputs("::", out);
    print_value(out, text, 0);
    fputc('\n', out);
}

int attest_ci_on_github(void)
{
    const char *github = getenv("GITHUB_ACTIONS");
    return github && strcmp(github, "true") == 0;
}

void attest_ci_print_error(FILE *out, const char *title, const char *text)
{
    fputs("::error title=", out);
    print_value(out, title, 1);
    fputs("::", out);
    print_value(out, text, 0);
    fputc('\n', out);
}

attest_status attest_ci_print_annotations(FILE *out, const attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result result;
    size_t bad = 0, errors = 0;
    int of;
    for (int rank = 0; rank < ATTEST_RANKS_BAD; rank++)
        for (size_t i = 0; i < results->count; i++) {
            ATTEST_TRY(attest_results_rank(&of, results, i, err));
            if (of != rank)
                continue;
            ATTEST_TRY(attest_results_get(&result, results, i, err));
            errors += attest_ci_is_error(&result) != 0;
            if (bad++ < ATTEST_ANNOTATIONS)
                print_one(out, &result);
        }
    if (bad > ATTEST_ANNOTATIONS)
        fprintf(out, "::%s title=attest::and %zu more; results.jsonl has all, the summary the first\n",
                errors ? "error" : "warning", bad - ATTEST_ANNOTATIONS);
    if (ferror(out))
        status = attest_print_failed(err, "the annotations");
out:
    return status;
}

/* Of a text at most SUMMARY_MOST bytes, whole lines. */
static int append(FILE *file, const char *text, size_t size)
{
    size_t end = size;
    if (size > SUMMARY_MOST)
        for (end = SUMMARY_MOST; end > 0 && text[end - 1] != '\n'; end--)
            ;
    const int written = fwrite(text, 1, end, file) == end;
    if (end < size)
        fputs("\ncut here: no more fits into the summary of a step; summary.md has it all\n", file);
    return written;
}

/* Waits for nobody who reads, as a pipe would. */
static FILE *open_summary(const char *path)
{
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    FILE *file = fd >= 0 ? fdopen(fd, "a") : NULL;
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

attest_status attest_ci_append_summary(const char *path, const attest_results *results, const attest_run_info *run,
                                       attest_error *err)
{
    attest_status status = ATTEST_OK;
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size), *file = NULL;
    if (!memory)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the summary");
    status = attest_results_print_summary(memory, results, NULL, run, err);
    if (fclose(memory) != 0 && status == ATTEST_OK)
        status = attest_fail(err, ATTEST_NO_MEMORY, "no memory for the summary");
    if (status == ATTEST_OK && !(file = open_summary(path)))
        status = attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: %s", path, strerror(errno));
    const int written = file && append(file, text, size);
    if (file && (fclose(file) != 0 || !written))
        status = attest_print_failed(err, path);
    free(text);
    return status;
}
