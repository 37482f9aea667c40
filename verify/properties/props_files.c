/* props_files.c - see props_files.h. */
#include "verify/properties/props_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/attest_float.h"
#include "kernels/hash.h"
#include "kernels/npy/npy.h"
#include "verify/base/base.h"
#include "verify/gate/gate.h"

enum { PATH = 4096 };

/* ---- failure.txt -------------------------------------------------------------------------------------------- */

static const char *const ends[] = {
    "the values differ",       "the kernel refused",           "the kernel crashed",
    "the kernel was too late", "the kernel reported an error", "the kernel broke a rule of the harness"
};

static void tell_finding(FILE *out, const attest_finding *found)
{
    if (!found->broken) {
        fprintf(out, "found      nothing\n");
        return;
    }
    fprintf(out, "found      %s: %s\n", ends[found->end], found->what);
    fprintf(out, "ratio      %a (%.6g), difference/tolerance; infinite where bits must agree\n", found->ratio,
            found->ratio);
}

enum { SMALL = 64 }; /* elements of a tensor that is told */

static void tell_tensors(FILE *out, const attest_example *example)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&example->c.problem, ids, ATTEST_MAX_TENSORS);
    for (size_t k = 0; k < count; k++) {
        const attest_tensor *t = attest_bundle_get(example->inputs, ids[k]);
        char name[40];
        attest_tensor_id_print(name, sizeof name, ids[k]);
        if (attest_tensor_count(t) > SMALL)
            continue;
        fprintf(out, "%-10s", name);
        for (int64_t at = 0; at < attest_tensor_count(t); at++)
            if (attest_dtype_counts(t->dtype))
                fprintf(out, " %" PRId64, attest_load_int(t, at));
            else
                fprintf(out, " %a", attest_load(t, at));
        fputc('\n', out);
    }
}

attest_status attest_props_tell(FILE *out, const attest_props_report *report, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_repro *repro = report->repro;
    char line[ATTEST_LINE], program[600], *text = NULL;
    ATTEST_TRY(attest_case_print(line, sizeof line, &repro->example.c, err));
    ATTEST_TRY(attest_repro_print(&text, repro, err));
    const int ended = attest_finding_ended(report->found);
    if (ended && report->property)
        fprintf(out, "property   " ATTEST_PROPS_RUN ", when %s is asked\n", repro->property);
    else
        fprintf(out, "property   %s\n", repro->property);
    const int of_run = ended || !report->property;
    fprintf(out, "statement  %s\n", of_run ? "the kernel's run ends well" : report->property->statement);
    if (!of_run)
        fprintf(out, "about      %s\ntolerance  %s\n", report->property->variants, report->property->lemma);
    fprintf(out, "kernel     %s\nproblem    %s\ncase       %" PRIu32 ", %s\n", repro->kernel, line,
            repro->example.number, repro->example.explicit_values ? "values of its own" : "drawn");
    tell_finding(out, report->found);
    if (!of_run)
        fprintf(out,
                "inputs     as they were drawn; a statement about other ones (q = 0, say) puts those in their place\n");
    tell_tensors(out, &repro->example);
    if (report->first) {
        ATTEST_TRY(attest_case_print(line, sizeof line, report->first, err));
        fprintf(out, "\nshrunk from case %" PRIu32 ", %s\n", report->first_number, line);
        if (report->first_found)
            tell_finding(out, report->first_found);
    }
    attest_shell_quote(program, sizeof program, report->program);
    if (text)
        fprintf(out, "\nto see it again:\n\n    %s replay %s\n", program, text);
    else
        fprintf(out, "\ntoo many values for a repro id: the inputs are the .npy files and case.c\n");
out:
    free(text);
    return status;
}

/* ---- case.c ------------------------------------------------------------------------------------------------- */

/* A comment to the end of the line: nothing in the text can end it. */
static void comment(FILE *out, const char *label, const char *text)
{
    fprintf(out, "// %s", label);
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' || *text == '\\' ? '?' : *text, out);
    fputc('\n', out);
}

/* How elements of a type are written in C: as numbers, or as bits. */
typedef struct literal {
    const char *c_type, *format; /* of printf, in case.c's main() */
} literal;

static const literal as_number[ATTEST_DTYPE_COUNT] = {
    [ATTEST_F32] = { "float", "%a" },      [ATTEST_F64] = { "double", "%a" },    [ATTEST_F16] = { "uint16_t", "%#x" },
    [ATTEST_BF16] = { "uint16_t", "%#x" }, [ATTEST_I64] = { "int64_t", "%lld" }, [ATTEST_BOOL] = { "uint8_t", "%d" },
};
static const literal as_bits[ATTEST_DTYPE_COUNT] = {
    [ATTEST_F32] = { "uint32_t", "%#llx" }, [ATTEST_F64] = { "uint64_t", "%#llx" },
    [ATTEST_F16] = { "uint16_t", "%#x" },   [ATTEST_BF16] = { "uint16_t", "%#x" },
    [ATTEST_I64] = { "int64_t", "%lld" },   [ATTEST_BOOL] = { "uint8_t", "%d" },
};

/* Numbers, unless one is no number: infinities and NaN have no literal. */
static const literal *literal_of(const attest_tensor *t)
{
    for (int64_t at = 0; !attest_dtype_counts(t->dtype) && at < attest_tensor_count(t); at++)
        if (!isfinite(attest_load(t, at)))
            return &as_bits[t->dtype];
    return &as_number[t->dtype];
}

static void write_element(FILE *out, const attest_tensor *t, const literal *l, int64_t at)
{
    if (attest_dtype_counts(t->dtype))
        fprintf(out, "%" PRId64, attest_load_int(t, at));
    else if (l->format[1] == 'a')
        fprintf(out, "%a%s", attest_load(t, at), t->dtype == ATTEST_F32 ? "f" : "");
    else
        fprintf(out, "0x%" PRIx64, attest_load_bits(t, at));
}

/* Identifiers have no dots. */
static void name_of(char name[40], attest_tensor_id id)
{
    attest_tensor_id_print(name, 40, id);
    for (char *at = name; *at; at++)
        *at = *at == '.' ? '_' : *at;
}

static void write_tensor(FILE *out, const attest_tensor *t, attest_tensor_id id)
{
    const literal *l = literal_of(t);
    const int bits = !attest_dtype_counts(t->dtype) && l->format[1] != 'a';
    char name[40];
    name_of(name, id);
    fprintf(out, "\n// %s", name);
    for (int axis = 0; axis < t->rank; axis++)
        fprintf(out, "[%" PRId64 "]", t->shape[axis]);
    fprintf(out, ", C order, %s%s\n", attest_dtype_name(t->dtype), bits ? ", stored bits" : "");
    fprintf(out, "static const %s %s[%" PRId64 "] = {", l->c_type, name, attest_tensor_count(t));
    for (int64_t at = 0; at < attest_tensor_count(t); at++) {
        fprintf(out, at % t->shape[t->rank - 1] == 0 ? "\n    " : " ");
        write_element(out, t, l, at);
        fputc(',', out);
        if (bits)
            fprintf(out, " /* %a */", attest_load(t, at));
    }
    fprintf(out, "\n};\n");
}

static void write_sizes(FILE *out, const attest_problem *p)
{
    const struct {
        const char *name;
        int64_t size;
    } sizes[] = { { "B", p->b }, { "HQ", p->hq }, { "HKV", p->hkv }, { "N", p->n },
                  { "M", p->m }, { "D", p->d },   { "E", p->e } };
    fprintf(out, "#include <stdint.h>\n#include <stdio.h>\n\nenum {");
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        fprintf(out, "%s SIZE_%s = %" PRId64, k ? "," : "", sizes[k].name, sizes[k].size);
    fprintf(out, " };\nstatic const double scale = %a;\n", p->scale);
}

static void write_main(FILE *out, const attest_example *example, const attest_tensor_id *ids, size_t count)
{
    fprintf(out, "\n// Prints all of it; paste the arrays into a test of your own.\nint main(void)\n{\n");
    fprintf(out, "    printf(\"b=%%d hq=%%d hkv=%%d n=%%d m=%%d d=%%d e=%%d scale=%%a\\n\", SIZE_B, SIZE_HQ, SIZE_HKV, "
                 "SIZE_N, SIZE_M, SIZE_D,\n           SIZE_E, scale);\n");
    for (size_t k = 0; k < count; k++) {
        const literal *l = literal_of(attest_bundle_get(example->inputs, ids[k]));
        const char *cast = l->format[1] == 'a'        ? "(double)"
                           : strstr(l->format, "llx") ? "(unsigned long long)"
                           : strstr(l->format, "lld") ? "(long long)"
                                                      : "(unsigned)";
        char name[40];
        name_of(name, ids[k]);
        fprintf(out, "    for (size_t i = 0; i < sizeof %s / sizeof %s[0]; i++)\n", name, name);
        fprintf(out, "        printf(\"%s[%%zu] = %s\\n\", i, %s%s[i]);\n", name, l->format, cast, name);
    }
    fprintf(out, "    return 0;\n}\n");
}

attest_status attest_props_literal(FILE *out, const attest_props_report *report, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_example *example = &report->repro->example;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&example->c.problem, ids, ATTEST_MAX_TENSORS);
    char line[ATTEST_LINE];
    ATTEST_TRY(attest_case_print(line, sizeof line, &example->c, err));
    comment(out, "problem:  ", line);
    comment(out, "kernel:   ", report->repro->kernel);
    comment(out, "property: ", report->repro->property);
    comment(out, "          ", report->property ? report->property->statement : "the kernel's run ends well");
    comment(out, "found:    ", report->found->what);
    write_sizes(out, &example->c.problem);
    for (size_t k = 0; k < count; k++)
        write_tensor(out, attest_bundle_get(example->inputs, ids[k]), ids[k]);
    write_main(out, example, ids, count);
out:
    return status;
}

/* ---- the folder --------------------------------------------------------------------------------------------- */

static attest_status tell_token(FILE *out, const attest_props_report *report, attest_error *err)
{
    char *text;
    const attest_status status = attest_repro_print(&text, report->repro, err);
    if (status == ATTEST_OK && text)
        fprintf(out, "%s\n", text);
    free(text);
    return status;
}

static const struct {
    const char *name;
    attest_status (*write)(FILE *out, const attest_props_report *report, attest_error *err);
} texts[] = { { "failure.txt", attest_props_tell }, { "case.c", attest_props_literal }, { "repro-id", tell_token } };

/* PATH bytes of folder/name; 0: too long. */
static int join(char path[PATH], const char *folder, const char *name)
{
    const int n = snprintf(path, PATH, "%s/%s", folder, name);
    return n > 0 && n < PATH;
}

static attest_status write_text(const char *folder, size_t k, const attest_props_report *report, attest_error *err)
{
    char path[PATH];
    FILE *out = join(path, folder, texts[k].name) ? fopen(path, "w") : NULL;
    if (!out)
        return attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot write %s: %s", folder, texts[k].name,
                           strerror(errno));
    const attest_status status = texts[k].write(out, report, err);
    const int failed = ferror(out);
    if ((fclose(out) != 0 || failed) && status == ATTEST_OK)
        return attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot write it: %s", path, strerror(errno));
    return status;
}

static attest_status write_all(const char *folder, const attest_props_report *report, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_example *example = &report->repro->example;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&example->c.problem, ids, ATTEST_MAX_TENSORS);
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
        ATTEST_TRY(write_text(folder, k, report, err));
    for (size_t k = 0; k < count; k++) {
        char name[40], file[48], path[PATH];
        attest_tensor_id_print(name, sizeof name, ids[k]);
        snprintf(file, sizeof file, "%s.npy", name);
        if (!join(path, folder, file))
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: the path is too long", folder);
        ATTEST_TRY(attest_npy_write(path, attest_bundle_get(example->inputs, ids[k]), err));
    }
out:
    return status;
}

/* Of all that the folder is about. */
static uint64_t hash_of(const attest_repro *repro)
{
    const attest_problem *p = &repro->example.c.problem;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    const uint64_t words[] = { attest_case_hash(&repro->example.c), repro->example.number, (uint64_t)p->chunk,
                               (uint64_t)p->splits };
    uint64_t hash = attest_fnv(ATTEST_FNV_START, repro->kernel, strlen(repro->kernel));
    hash = attest_fnv(hash, words, sizeof words);
    for (size_t k = 0; k < count; k++) {
        const attest_tensor *t = attest_bundle_get(repro->example.inputs, ids[k]);
        hash = attest_fnv(hash, t->data, attest_tensor_bytes(t));
    }
    return hash;
}

/* What a failed write left behind. */
static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    char path[PATH];
    while (dir && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.' && join(path, folder, entry->d_name))
            unlink(path);
    if (dir)
        closedir(dir);
    rmdir(folder);
}

attest_status attest_props_files(char *folder, size_t len, const char *parent, const attest_props_report *report,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    char temporary[PATH] = "";
    const uint64_t hash = hash_of(report->repro);
    const int n = snprintf(folder, len, "%s/%s-%016" PRIx64, parent, report->repro->property, hash);
    const int t = snprintf(temporary, sizeof temporary, "%s/.%s-%016" PRIx64 "-XXXXXX", parent, report->repro->property,
                           hash);
    int made = 0;
    if (n <= 0 || (size_t)n >= len || t <= 0 || t >= PATH)
        return attest_fail(err, ATTEST_BAD_INPUT, "%.200s: the path is too long", parent);
    ATTEST_TRY(attest_output_dir(parent, err));
    made = mkdtemp(temporary) != NULL;
    if (!made)
        ATTEST_TRY(attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot write into it: %s", parent,
                               strerror(errno)));
    ATTEST_TRY(write_all(temporary, report, err));
    if (chmod(temporary, 0755) != 0) /* mkdtemp() made it for its owner alone */
        status = attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot open it to others: %s", temporary,
                             strerror(errno));
    else if (rename(temporary, folder) == 0)
        made = 0;
    else if (errno != EEXIST && errno != ENOTEMPTY) /* it is there: the same failure */
        status = attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot make it: %s", folder, strerror(errno));
out:
    if (made)
        remove_folder(temporary);
    return status;
}
