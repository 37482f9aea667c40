/* cmd_init_kernel.c - `attest init-kernel NAME --lang c|python`: a kernel that passes, to change. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/commands/cli.h"

/* Texts of kernels/template and kernels/attest.h, made by verify/suites/embed.sh. */
extern const char attest_text_my_kernel_c[], attest_text_my_kernel_py[], attest_text_attest_h[];

typedef struct language {
    const char *name, *ending, *text;
    const char *lines; /* printed; %s: the file without its ending */
    int header;        /* 1: attest.h lies beside it */
} language;

static const language languages[] = {
    { "c", "c", attest_text_my_kernel_c, "cc -O2 -shared -fPIC %s.c -o %s.so -lm\nattest audit ./%s.so --suite ci\n",
      1 },
    { "python", "py", attest_text_my_kernel_py, "pip install ./verify/python    # once\npython3 %s.py\npytest %s.py\n",
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
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: %s", path, strerror(errno));
    const int good = fputs(text, out) >= 0;
    return fclose(out) == 0 && good ? ATTEST_OK : attest_fail(err, ATTEST_IO, "%s: cannot be written", path);
}

static attest_status write_kernel(const language *l, const char *name, const char *stem, const char *folder,
                                  attest_error *err)
{
    const struct {
        const char *from, *to;
    } changes[] = { { "-Ikernels kernels/template/", "" },
                    { "build/attest ", "attest " },
                    { "my_kernel", stem },
                    { "my-kernel", name } };
    attest_status status = ATTEST_OK;
    char path[4096], *text = strdup(l->text);
    for (size_t i = 0; text && i < sizeof changes / sizeof changes[0]; i++) {
        char *next = replaced(text, changes[i].from, changes[i].to);
        free(text);
        text = next;
    }
    if (!text)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the text");
    snprintf(path, sizeof path, "%.3900s/%s.%s", folder, stem, l->ending);
    ATTEST_TRY(write_new(path, text, err));
    snprintf(path, sizeof path, "%.3900s/attest.h", folder);
    FILE *there = l->header ? fopen(path, "r") : NULL;
    if (there)
        fclose(there);
    else if (l->header)
        status = write_new(path, attest_text_attest_h, err);
out:
    free(text);
    return status;
}

int attest_command_init_kernel(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    const char *name = cli->argument[0], *wanted = cli->language ? cli->language : "c";
    const char *folder = cli->out ? cli->out : ".";
    const language *l = NULL;
    char stem[64];
    for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++)
        l = strcmp(languages[i].name, wanted) == 0 ? &languages[i] : l;
    if (!l)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--lang=%s: c or python", wanted));
    if (*name < 'a' || *name > 'z' || strlen(name) >= sizeof stem ||
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(name))
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT,
                               "'%s': a name is of a-z 0-9 and -, begins with a letter and has "
                               "at most %zu",
                               name, sizeof stem - 1));
    strcpy(stem, name);
    for (char *at = stem; *at; at++)
        *at = *at == '-' ? '_' : *at;
    if (cli->out)
        ATTEST_TRY(attest_output_dir(cli->out, &err));
    ATTEST_TRY(write_kernel(l, name, stem, folder, &err));
    char *lines = replaced(l->lines, "%s", stem);
    if (lines && !cli->options.quiet)
        printf("%s/%s.%s\n%s", folder, stem, l->ending, lines);
    free(lines);
out:
    return status == ATTEST_OK ? 0 : attest_cli_error(cli, status, &err);
}
