/* main.c - `make simulate`: all rows of the table, or those whose lemma or program contains the argument.
 *
 *   simulate [--kept FILE] [--write FILE] [--more] [PART]
 * --more: in place of the rows, each of them for every other output and with an axis more.
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

/* What is added to a row's problem: an axis or a type more. */
static const struct {
    const char *words;
    int pairs;  /* 1: of scores of pairs, which programs with states have not */
    int type;   /* 1: another `in` than a row's that stores features in it */
    int states; /* 1: of programs with states alone; of high orders those would be large */
} more[] = {
    { "", 0, 0, 0 },
    { " state=draw", 0, 0, 1 },
    { " gates=inout", 0, 0, 0 },
    { " dropout=0.3", 1, 0, 0 },
    { " norm=none", 0, 0, 0 },
    { " norm=l2", 0, 0, 0 },
    { " norm=rms", 0, 0, 0 },
    { " cap=5", 1, 0, 0 },
    { " lens=draw", 0, 0, 0 },
    { " window=2", 1, 0, 0 },
    { " feature=silu", 0, 0, 0 },
    { " rope=100", 0, 0, 0 },
    { " in=bf16", 0, 1, 0 },
    { " in=f16", 0, 1, 0 },
    { " p=f16", 0, 0, 0 },
    { " out=bf16", 0, 0, 0 },
    { " scale=1", 0, 0, 0 },
    { " scale=-0.3", 0, 0, 0 },
    { " mask=causal", 0, 0, 0 },
    { " alibi=draw", 1, 0, 0 },
    { " alibi=usual", 1, 0, 0 },
    { " bias=full", 1, 0, 0 },
    { " decay=scalar", 0, 0, 0 },
    { " decay=vector", 0, 0, 0 },
    { " clamp=1", 1, 0, 0 },
    { " filter=0.5", 1, 0, 0 },
    { " affine=draw norm=rms", 0, 0, 0 },
    { " center=max", 0, 0, 0 },
};

static int has_states(const sim_row *row)
{
    return row->program == sim_recurrent || row->program == sim_chunk || row->program == sim_delta ||
           row->program == sim_delta_chunk;
}

/* 1 if the word KEY=VALUE has the key of one of `words`. */
static int has_key(const char *words, const char *word)
{
    const size_t key = strcspn(word, "= ") + 1;
    for (const char *at = words; (at = strchr(at, ' ')); at++)
        if (strncmp(at + 1, word, key) == 0)
            return 1;
    return 0;
}

/* The line with `words` (each behind a blank) in place of what it says of their keys. */
static void replace_keys(char *text, size_t len, const char *line, const char *words)
{
    size_t used = 0;
    text[0] = '\0';
    for (const char *word = line; *word; word += strspn(word, " ")) {
        const size_t size = strcspn(word, " ");
        if (!has_key(words, word) && used < len)
            used += (size_t)snprintf(text + used, len - used, "%.*s ", (int)size, word);
        word += size;
    }
    if (used < len)
        snprintf(text + used, len - used, "%s", *words ? words + 1 : words);
}

/* The row for other outputs and with an axis more, where its program computes that (of others nothing is said);
 * tells what is above 1, and then returns 0.  Rows that are known to be above 1 are left out. */
static int try_more(const sim_row *row, int seeds, long *tried)
{
    int good = 1;
    if (row->known || row->alone)
        return 1;
    for (size_t a = 0; a < sizeof more / sizeof more[0]; a++)
        for (size_t k = 0; k < sizeof outputs / sizeof outputs[0]; k++) {
            sim_result result;
            sim_row other = *row;
            char line[ATTEST_LINE], why[512];
            replace_keys(line, sizeof line, row->line, more[a].words);
            other.line = line;
            other.output = outputs[k];
            if ((more[a].pairs && has_states(row)) || (more[a].states && !has_states(row)) ||
                (more[a].type && row->options.scaled) ||
                (*more[a].words == '\0' && strcmp(row->output, outputs[k]) == 0) ||
                !sim_run(&result, &other, seeds, why, sizeof why))
                continue;
            ++*tried;
            if (!(result.worst > 1))
                continue;
            printf("%-18s %-36s %-30s %-5s%s %9.3f  %s\n", row->lemma, row->name, row->declared, outputs[k],
                   more[a].words, result.worst, result.where);
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
