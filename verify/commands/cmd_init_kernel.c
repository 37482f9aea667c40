/* cmd_init_kernel.c - `attest init-kernel NAME --lang c|c++|cuda|python|rust`: a kernel that passes, to change,
 * and a file for CI. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/commands/cli.h"

/* Texts of kernels/template, kernels/attest.h and kernels/cuda/library.h, made by verify/suites/embed.sh. */
extern const char attest_text_my_kernel_c[], attest_text_my_kernel_cpp[], attest_text_my_kernel_cu[],
    attest_text_my_kernel_py[], attest_text_my_kernel_rs[], attest_text_ci_yml[], attest_text_attest_h[],
    attest_text_library_h[];

typedef struct language {
    const char *name, *ending, *text;
    const char *build, *audit; /* one line each, printed and in the file for CI; %s: the file without its ending */
    int headers;               /* that lie beside it: 1 attest.h, 2 library.h too */
} language;

#define RESULTS " --suite ci --out attest-results"

static const language languages[] = {
    { "c", "c", attest_text_my_kernel_c, "cc -O2 -shared -fPIC %s.c -o %s.so -lm", "attest audit ./%s.so" RESULTS, 1 },
    { "c++", "cpp", attest_text_my_kernel_cpp, "c++ -std=c++17 -O2 -shared -fPIC %s.cpp -o %s.so",
      "attest audit ./%s.so" RESULTS, 1 },
    { "cuda", "cu", attest_text_my_kernel_cu, "nvcc -std=c++17 -O2 -shared -Xcompiler -fPIC %s.cu -o %s.so",
      "attest audit ./%s.so" RESULTS, 2 },
    { "python", "py", attest_text_my_kernel_py, "pip install \"$ATTEST_SOURCES/verify/python\" pytest",
      "attest audit --exec 'python3 -m attest.serve %s.py %s'" RESULTS, 0 },
    { "rust", "rs", attest_text_my_kernel_rs, "rustc --edition 2021 -O %s.rs -o %s", "attest audit --exec ./%s" RESULTS,
      0 },
};

/* `text` with every `from` as `to`; malloc'd; NULL: no memory. */
static char *replaced(const char *text, const char *from, const char *to)
{
    size_t count = 0;
    for (const char *at = strstr(text, from); at; at = strstr(at + strlen(from), from))
        count++;
    char *made = malloc(strlen(text) + count * strlen(to) + 1), *end = made;
    for (const char *at = text; made;) {
        const char *next = strstr(at, from);
        const size_t len = next ? (size_t)(next - at) : strlen(at);
        memcpy(end, at, len);
        end += len;
        *end = '\0';
        if (!next)
            break;
        end = stpcpy(end, to);
        at = next + strlen(from);
    }
    return made;
}

/* A file that is not there yet. */
static attest_status write_new(const char *path, const char *text, attest_error *err)
{
    FILE *out = fopen(path, "wx");
    if (!out)
        return attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: %s", path,
                           errno == EEXIST ? "there already; it is not overwritten" : strerror(errno));
    const int good = fputs(text, out) >= 0;
    if (fclose(out) == 0 && good)
        return ATTEST_OK;
    const attest_status status = attest_fail(err, attest_of_errno(ATTEST_IO), "%s: cannot be written: %s", path,
                                             strerror(errno));
    unlink(path);
    return status;
}

typedef struct change {
    const char *from, *to;
} change;

/* The text with each change made, one after the other; malloc'd; NULL: no memory. */
static char *changed(const char *text, const change *list, size_t count)
{
    char *now = strdup(text);
    for (size_t i = 0; now && i < count; i++) {
        char *next = replaced(now, list[i].from, list[i].to);
        free(now);
        now = next;
    }
    return now;
}

/* FOLDER/STEM.ENDING, which is not there yet. */
static attest_status write_changed(const char *folder, const char *stem, const char *ending, const char *text,
                                   const change *list, size_t count, attest_error *err)
{
    char path[4096], *now = changed(text, list, count);
    if (!now)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the text");
    snprintf(path, sizeof path, "%.3900s/%s.%s", folder, stem, ending);
    const attest_status status = write_new(path, now, err);
    free(now);
    return status;
}

/* A header, unless it is there. */
static attest_status write_header(const char *folder, const char *name, const char *text, attest_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%.3900s/%s", folder, name);
    FILE *there = fopen(path, "r");
    if (!there)
        return write_new(path, text, err);
    fclose(there);
    return ATTEST_OK;
}

static attest_status write_kernel(const language *l, const char *name, const char *stem, const char *folder,
                                  const char *build, const char *audit, attest_error *err)
{
    const change of_kernel[] = { { "-Ikernels -Ikernels/cuda kernels/template/", "" },
                                 { "-Ikernels kernels/template/", "" },
                                 { "kernels/template/", "" },
                                 { "build/attest ", "attest " },
                                 { "my_kernel", stem },
                                 { "my-kernel", name } };
    const change of_ci[] = {
        { "BUILD-LINE", build }, { "AUDIT-LINE", audit }, { "my_kernel", stem }, { "my-kernel", name }
    };
    attest_status status = ATTEST_OK;
    ATTEST_TRY(write_changed(folder, stem, l->ending, l->text, of_kernel, sizeof of_kernel / sizeof of_kernel[0], err));
    ATTEST_TRY(write_changed(folder, stem, "ci.yml", attest_text_ci_yml, of_ci, sizeof of_ci / sizeof of_ci[0], err));
    if (l->headers > 0)
        ATTEST_TRY(write_header(folder, "attest.h", attest_text_attest_h, err));
    if (l->headers > 1)
        ATTEST_TRY(write_header(folder, "library.h", attest_text_library_h, err));
out:
    return status;
}

static const language *language_of(const char *wanted, attest_error *err)
{
    for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++)
        if (strcmp(languages[i].name, wanted) == 0)
            return &languages[i];
    attest_fail(err, ATTEST_BAD_INPUT, "--lang=%s: c, c++, cuda, python or rust", wanted);
    return NULL;
}

/* The name in files: `-` becomes `_`. */
static attest_status stem_of(char stem[64], const char *name, attest_error *err)
{
    if (*name < 'a' || *name > 'z' || strlen(name) >= 64 ||
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(name))
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "'%s': a name is of a-z 0-9 and -, begins with a letter and has at most 63", name);
    strcpy(stem, name);
    for (char *at = stem; *at; at++)
        *at = *at == '-' ? '_' : *at;
    return ATTEST_OK;
}

int attest_command_init_kernel(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    const char *name = cli->argument[0], *folder = cli->out ? cli->out : ".";
    const language *l = language_of(cli->language ? cli->language : "c", &err);
    char stem[64], *build = NULL, *audit = NULL;
    status = l ? stem_of(stem, name, &err) : ATTEST_BAD_INPUT;
    if (status != ATTEST_OK)
        goto out;
    build = replaced(l->build, "%s", stem);
    audit = replaced(l->audit, "%s", stem);
    if (!build || !audit)
        ATTEST_TRY(attest_fail(&err, ATTEST_NO_MEMORY, "no memory for the lines"));
    if (cli->out)
        ATTEST_TRY(attest_output_dir(cli->out, &err));
    ATTEST_TRY(write_kernel(l, name, stem, folder, build, audit, &err));
    if (!cli->options.quiet)
        printf("%s/%s.%s\n%s\n%s\n%s/%s.ci.yml\n", folder, stem, l->ending, build, audit, folder, stem);
out:
    free(build);
    free(audit);
    return status == ATTEST_OK ? 0 : attest_cli_error(cli, status, &err);
}
