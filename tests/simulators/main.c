/* main.c - `make simulate`: all rows of the table, or those whose lemma or program contains the argument.
 *
 *   simulate [--kept FILE] [--write FILE] [PART]
 * Exit code 1 if a ratio is above 1 in a row without a mark `known`, or a program does not compute its formula. */
#include "tests/simulators/rows.h"

#include <stdio.h>
#include <string.h>

static const double loose = 0.3;

static const char *verdict_of(const sim_row *row, const sim_result *result)
{
    if (result->worst > 1)
        return row->known ? "known" : ">1";
    if (row->known)
        return "stale";
    return result->worst < loose ? "loose" : "ok";
}

/* The verdict of this row in the kept table: the fourth word from its columns; NULL if it is not there. */
static const char *kept_verdict(const char *path, const char *title, char *verdict, size_t len)
{
    char line[2048];
    FILE *f = path ? fopen(path, "r") : NULL;
    const char *found = NULL;
    while (f && !found && fgets(line, sizeof line, f)) {
        char word[32];
        if (strncmp(line, title, strlen(title)) != 0)
            continue;
        if (sscanf(line + strlen(title), "%*f %*f %31s", word) == 1) {
            snprintf(verdict, len, "%s", word);
            found = verdict;
        }
    }
    if (f)
        fclose(f);
    return found;
}

static void print_row(FILE *to, const char *title, const sim_result *result, const char *verdict, const char *known)
{
    fprintf(to, "%s %9.3f %7.3f  %-6s %s%s%s\n", title, result->worst, result->median, verdict, result->where,
            known ? "  | " : "", known ? known : "");
    fflush(to);
}

/* 1 if the row is as it should be. */
static int show(const sim_row *row, const char *kept, FILE *written)
{
    sim_result result;
    char title[160], why[512], before[32];
    snprintf(title, sizeof title, "%-18s %-36s %-30s %-5s", row->lemma, row->name, row->declared, row->output);
    if (!sim_run(&result, row, 0, why, sizeof why)) {
        printf("%s broken: %s\n", title, why);
        return 0;
    }
    const char *verdict = verdict_of(row, &result);
    print_row(stdout, title, &result, verdict, row->known);
    if (written)
        print_row(written, title, &result, verdict, row->known);
    const char *old = kept_verdict(kept, title, before, sizeof before);
    if (kept && (!old || strcmp(old, verdict) != 0))
        printf("    the kept table says: %s\n", old ? old : "nothing of this row");
    if (strcmp(verdict, "stale") == 0)
        printf("    the mark is stale: \"%s\" is mended; take it off the row\n", row->known);
    return strcmp(verdict, ">1") != 0;
}

/* ---- more of each row ------------------------------------------------------------------------------------------- */

static const char *const outputs[] = { "o", "u", "z", "lse", "ht.1", "ht.2" };

/* What is added to a row's problem: one axis or type more. */
static const char *const more[] = {
    "",
    " state=draw",
    " gates=inout",
    " norm=none",
    " norm=l2",
    " norm=rms",
    " cap=5",
    " lens=draw",
    " window=2",
    " feature=silu",
    " rope=100",
    " in=bf16",
    " in=f16",
    " p=f16",
    " out=bf16",
    " scale=1",
    " scale=-0.3",
    " mask=causal",
    " alibi=draw",
    " bias=full",
    " decay=scalar",
    " clamp=1",
    " affine=draw norm=rms",
    " center=max",
    " filter=0.5",
    " decay=vector",
};

/* The row with another output and with more axes, where its program computes that: the worst, and 0 if it is above 1
 * where the row itself is not known to be.  A declared row may be asked to compute what its program does not: nothing
 * is said of those. */
static int try_more(const sim_row *row, int seeds, long *tried)
{
    int good = 1;
    for (size_t a = 0; a < sizeof more / sizeof more[0]; a++)
        for (size_t k = 0; k < sizeof outputs / sizeof outputs[0]; k++) {
            sim_result result;
            sim_row other = *row;
            char line[ATTEST_LINE], why[512];
            snprintf(line, sizeof line, "%s%s", row->line, more[a]);
            other.line = line;
            other.output = outputs[k];
            if ((more[a][0] == '\0' && strcmp(row->output, outputs[k]) == 0) ||
                !sim_run(&result, &other, seeds, why, sizeof why))
                continue;
            ++*tried;
            if (!(result.worst > 1) || row->known)
                continue;
            printf("%-18s %-36s %-30s %-5s%s %9.3f  %s\n", row->lemma, row->name, row->declared, outputs[k], more[a],
                   result.worst, result.where);
            fflush(stdout);
            good = 0;
        }
    return good;
}

int main(int argc, char **argv)
{
    int wider = 0;
    long tried = 0;
    const char *kept = NULL, *write = NULL, *part = NULL;
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--kept") == 0 && k + 1 < argc)
            kept = argv[++k];
        else if (strcmp(argv[k], "--write") == 0 && k + 1 < argc)
            write = argv[++k];
        else if (strcmp(argv[k], "--more") == 0)
            wider = 1;
        else
            part = argv[k];
    }
    FILE *written = write ? fopen(write, "w") : NULL;
    int good = !write || written;
    printf("%-18s %-36s %-30s %-5s %9s %7s  %-6s %s\n", "lemma", "program", "declared", "of", "worst", "median", "",
           "where");
    for (const sim_section *const *section = sim_sections; *section; section++)
        for (size_t k = 0; k < (*section)->count; k++) {
            const sim_row *row = &(*section)->row[k];
            if (!part || strstr(row->lemma, part) || strstr(row->name, part))
                good &= wider ? try_more(row, 6, &tried) : show(row, kept, written);
        }
    if (written)
        fclose(written);
    if (wider)
        printf("%ld other outputs and problems of these rows\n", tried);
    return good ? 0 : 1;
}
