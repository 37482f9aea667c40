/* inputs.c - see inputs.h. */
#include "verify/commands/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/npy/npy.h"
#include "props/draw/draw.h"

/* One `-t NAME=FILE[:LAYOUT]`. */
typedef struct given {
    attest_tensor_id id;
    char file[4096];
    int bshd; /* 1: BSHD */
    attest_npy npy;
} given;

static attest_status parse_given(given *g, const char *text, attest_error *err)
{
    char name[64];
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name || equals[1] == '\0')
        return attest_fail(err, ATTEST_BAD_INPUT, "-t %s: write NAME=FILE or NAME=FILE:LAYOUT", text);
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    attest_status status = attest_tensor_id_parse(&g->id, name, err);
    if (status != ATTEST_OK)
        return attest_fail_prefix(err, status, text);
    if ((size_t)snprintf(g->file, sizeof g->file, "%s", equals + 1) >= sizeof g->file)
        return attest_fail(err, ATTEST_BAD_INPUT, "-t %s: the path is too long", name);
    char *colon = strrchr(g->file, ':');
    if (colon && (strcmp(colon, ":BHSD") == 0 || strcmp(colon, ":BSHD") == 0)) {
        g->bshd = colon[2] == 'S';
        *colon = '\0';
    } else if (colon && !strchr(colon, '/') && !strchr(colon, '.')) {
        return attest_fail(err, ATTEST_BAD_INPUT, "-t %s: layout '%s' is not BHSD or BSHD", text, colon + 1);
    }
    return ATTEST_OK;
}

/* The axes of a tensor in the order of its file: letters of attest_role_info, `r` rows of a state. */
static void file_axes(char axes[8], const given *g)
{
    static const char *const states[] = { "", "bgre", "bgr", "bgre", "bgr" };
    const char *order = g->id.kind == ATTEST_KIND_ROLE ? attest_roles[g->id.index].axes : states[g->id.kind];
    snprintf(axes, 8, "%s", order);
    const size_t rank = strlen(axes);
    if (g->bshd && rank >= 3 && axes[0] == 'b') { /* B H S .. -> B S H .. */
        const char head = axes[1];
        axes[1] = axes[2];
        axes[2] = head;
    }
}

/* Where a size letter lives in attest_sizes; NULL for `r`. */
static int64_t *size_of_letter(attest_sizes *sizes, char letter)
{
    switch (letter) {
    case 'b': return &sizes->b;
    case 'h': return &sizes->hq;
    case 'g': return &sizes->hkv;
    case 'n': return &sizes->n;
    case 'm': return &sizes->m;
    case 'd': return &sizes->d;
    case 'e': return &sizes->e;
    default: return NULL;
    }
}

/* Adds the sizes that one file states to `sizes`; two files that differ are named. */
static attest_status take_sizes(attest_sizes *sizes, const char *from[128], const given *g, attest_error *err)
{
    char axes[8], name[32];
    file_axes(axes, g);
    attest_tensor_id_print(name, sizeof name, g->id);
    const int rank = (int)strlen(axes);
    int have = g->npy.rank;
    const int by_variant = g->id.kind == ATTEST_KIND_ROLE && /* [M] or [M,d]; [B|1,Hq|1,N,M] */
                           (g->id.index == ATTEST_DECAY || g->id.index == ATTEST_BIAS || g->id.index == ATTEST_MASK);
    if (have > rank)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: %d axes, but %s has at most %d", g->file, have, name, rank);
    if (by_variant)
        return ATTEST_OK; /* its shape depends on the variant: checked against the description */
    for (int a = 0; a < rank; a++) {
        const int64_t size = a < rank - have ? 1 : g->npy.shape[a - (rank - have)];
        int64_t *known = size_of_letter(sizes, axes[a]);
        if (!known)
            continue;
        if (*known != 0 && *known != size)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: axis %c of %s is %lld, but %s says %lld", g->file, axes[a],
                               name, (long long)size, from[(unsigned char)axes[a]], (long long)*known);
        *known = size;
        from[(unsigned char)axes[a]] = g->file;
    }
    return ATTEST_OK;
}

static int is_output(attest_tensor_id id)
{
    return id.kind == ATTEST_KIND_HT || id.kind == ATTEST_KIND_ZT ||
           (id.kind == ATTEST_KIND_ROLE && attest_roles[id.index].output);
}

/* --draw a,b,..: draws each named tensor. */
static attest_status draw_named(attest_bundle *inputs, const attest_case *c, const char *list, attest_error *err)
{
    char names[512];
    attest_status status = ATTEST_OK;
    if (strlen(list) >= sizeof names)
        return attest_fail(err, ATTEST_BAD_INPUT, "--draw: the list is too long");
    strcpy(names, list);
    char *save = NULL;
    for (char *name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        attest_tensor_id id;
        status = attest_tensor_id_parse(&id, name, err);
        if (status != ATTEST_OK)
            return attest_fail_prefix(err, status, "--draw");
        if (!attest_problem_uses(&c->problem, id))
            return attest_fail(err, ATTEST_BAD_INPUT, "--draw: this variant does not read %s", name);
        if (attest_bundle_get(inputs, id))
            return attest_fail(err, ATTEST_BAD_INPUT, "--draw: %s is given by -t already", name);
        ATTEST_TRY(attest_draw_tensor(inputs, c, id, 0, 0, err));
    }
out:
    return status;
}

/* With q, k or v given: everything the variant reads must be there; else the rest is drawn. */
static attest_status complete(attest_bundle *inputs, const attest_case *c, int any_qkv, attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    if (!any_qkv)
        return attest_draw_missing(inputs, c, 0, 0, err);
    const size_t count = attest_problem_inputs(&c->problem, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count; i++) {
        char name[32], value[64];
        if (attest_bundle_get(inputs, ids[i]))
            continue;
        attest_tensor_id_print(name, sizeof name, ids[i]);
        const uint32_t axis = attest_tensor_axis(ids[i]);
        if (axis == ATTEST_AXIS_COUNT)
            return attest_fail(err, ATTEST_BAD_INPUT,
                               "tensor %s is missing: with any of q, k, v given, all three must be (-t %s=FILE)", name,
                               name);
        attest_axis_print(value, sizeof value, axis, &c->problem.axis[axis]);
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "tensor %s is missing: %s=%s reads it; give -t %s=FILE or name it in "
                           "--draw",
                           name, attest_axes[axis].key, value, name);
    }
    return ATTEST_OK;
}

static attest_status load_one(attest_bundle *inputs, attest_bundle *outputs, given *g, const attest_problem *p,
                              attest_error *err)
{
    char name[32], why[256];
    attest_tensor_id_print(name, sizeof name, g->id);
    if (!is_output(g->id)) {
        if (!attest_problem_uses(p, g->id))
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: this variant does not read %s", g->file, name);
        return attest_npy_load(inputs, p, g->id, g->file, g->bshd, err);
    }
    if (!outputs)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: %s is an output; `reference` takes inputs only", g->file, name);
    if (!attest_problem_has(p, g->id, why, sizeof why))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: no %s here: %s", g->file, name, why);
    return attest_npy_load(outputs, p, g->id, g->file, g->bshd, err);
}

/* A size that the line states and a file contradicts: the file is named. */
static attest_status check_stated(attest_sizes *sizes, const char *const from[128], const char *line, attest_error *err)
{
    static const char letters[] = "bhgnmde";
    attest_stated stated;
    attest_case c;
    if (attest_case_parse(&c, line, NULL, &stated, err) != ATTEST_OK)
        return ATTEST_OK; /* reported by the parse with the files' sizes */
    const int is_stated[] = { stated.b, stated.hq, stated.hkv, stated.n, stated.m, stated.d, stated.e };
    const int64_t line_says[] = { c.problem.b, c.problem.hq, c.problem.hkv, c.problem.n,
                                  c.problem.m, c.problem.d,  c.problem.e };
    static const char *const keys[] = { "b", "hq", "hkv", "n", "m", "d", "e" };
    for (int i = 0; i < 7; i++) {
        const int64_t *file_says = size_of_letter(sizes, letters[i]);
        if (is_stated[i] && *file_says != 0 && *file_says != line_says[i])
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: %s is %lld there, but the problem line says %s=%lld",
                               from[(unsigned char)letters[i]], keys[i], (long long)*file_says, keys[i],
                               (long long)line_says[i]);
    }
    return ATTEST_OK;
}

attest_status attest_inputs_load(attest_case *c, attest_bundle *inputs, attest_bundle *outputs, const attest_cli *cli,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_sizes sizes = { 0 };
    const char *from[128] = { NULL };
    uint64_t bytes;
    int any_qkv = 0;
    given *all = calloc((size_t)cli->tensor_count + 1, sizeof *all);
    if (!all)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %d tensors", cli->tensor_count));
    for (int i = 0; i < cli->tensor_count; i++) {
        ATTEST_TRY(parse_given(&all[i], cli->tensor[i], err));
        for (int j = 0; j < i; j++)
            if (attest_tensor_id_equal(all[i].id, all[j].id))
                ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "-t %s: this tensor is given twice", cli->tensor[i]));
        any_qkv |= all[i].id.kind == ATTEST_KIND_ROLE &&
                   (all[i].id.index == ATTEST_Q || all[i].id.index == ATTEST_K || all[i].id.index == ATTEST_V);
        ATTEST_TRY(attest_npy_header(&all[i].npy, all[i].file, err));
        ATTEST_TRY(take_sizes(&sizes, from, &all[i], err));
    }
    ATTEST_TRY(check_stated(&sizes, from, cli->problem, err));
    ATTEST_TRY(attest_case_parse(c, cli->problem, &sizes, NULL, err));
    ATTEST_TRY(attest_family_check(c, err));
    ATTEST_TRY(attest_problem_memory(&c->problem, &bytes, err));
    for (int i = 0; i < cli->tensor_count; i++)
        ATTEST_TRY(load_one(inputs, outputs, &all[i], &c->problem, err));
    if (cli->draw)
        ATTEST_TRY(draw_named(inputs, c, cli->draw, err));
    ATTEST_TRY(complete(inputs, c, any_qkv, err));
out:
    free(all);
    return status;
}

/* ---- what is assumed of the arithmetic ----------------------------------------------------------------------- */
int attest_cli_assumes(const attest_cli *cli) { return cli->declare || cli->model || cli->exp_ulp_given; }

attest_status attest_cli_assume(const void *context, attest_declaration *declared, const attest_problem *p,
                                attest_error *err)
{
    const attest_cli *cli = context;
    attest_numerics *numerics = &declared->numerics;
    static const struct {
        const char *name;
        uint32_t schedule, form;
        int argument;
    } models[] = { { "two-pass", ATTEST_SCHEDULE_TWO_PASS, ATTEST_PARALLEL, 0 },
                   { "online", ATTEST_SCHEDULE_ONLINE, ATTEST_TILED, 1 },
                   { "split", ATTEST_SCHEDULE_SPLIT, ATTEST_SPLIT, 1 },
                   { "recurrent", ATTEST_SCHEDULE_RECURRENT, ATTEST_RECURRENT, 0 },
                   { "unknown", ATTEST_SCHEDULE_UNKNOWN, ATTEST_PARALLEL, 0 } };
    char why[160];
    const char *text = cli->model ? cli->model : "unknown";
    const char *colon = strchr(text, ':');
    const size_t len = colon ? (size_t)(colon - text) : strlen(text);
    char *end = NULL;
    const long argument = colon ? strtol(colon + 1, &end, 10) : 0;
    if (cli->declare)
        return attest_declaration_parse(declared, cli->declare, err);
    numerics->acc_truncates = ATTEST_NO;
    /* An ulp is at most 2u relative; 0 would mean that nothing is known. */
    numerics->exp_error = cli->exp_ulp > 0 ? cli->exp_ulp * 2 * attest_unit_roundoff(p->acc) : 0x1p-1000;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        if (strlen(models[i].name) != len || strncmp(models[i].name, text, len) != 0)
            continue;
        if (models[i].argument != (colon != NULL) ||
            (colon && (*end || colon[1] == '\0' || argument < 1 || argument > 1 << 24)))
            break;
        if (!attest_variant_form_legal(p->axis, models[i].form, why, sizeof why))
            return attest_fail(err, ATTEST_BAD_INPUT, "--model=%s: no such form of this variant: %s", text, why);
        declared->form = models[i].form;
        numerics->schedule = models[i].schedule;
        numerics->tile = models[i].schedule == ATTEST_SCHEDULE_ONLINE ? argument : 0;
        numerics->splits = models[i].schedule == ATTEST_SCHEDULE_SPLIT ? argument : 0;
        return ATTEST_OK;
    }
    return attest_fail(err, ATTEST_BAD_INPUT,
                       "--model=%s: two-pass, online:TILE, split:S (1 to 2^24), recurrent or unknown", text);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* FOLDER/NAME of each library in it, and their number. */
static attest_status list_folder(char *path[ATTEST_CLI_LIBRARIES], size_t *found, DIR *dir, const char *folder,
                                 attest_error *err)
{
    const struct dirent *entry;
    while (errno = 0, (entry = readdir(dir)) != NULL) {
        const size_t len = strlen(entry->d_name);
        if (len <= 3 || strcmp(entry->d_name + len - 3, ".so") != 0)
            continue;
        if (*found == ATTEST_CLI_LIBRARIES)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: more than %d libraries", folder, ATTEST_CLI_LIBRARIES);
        if (asprintf(&path[*found], "%s/%s", folder, entry->d_name) < 0) {
            path[*found] = NULL;
            return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory to list it", folder);
        }
        ++*found;
    }
    return errno
               ? attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot be read: %s", folder, strerror(errno))
               : ATTEST_OK;
}

attest_status attest_libraries_find(attest_libraries *l, const attest_cli *cli, attest_error *err)
{
    char folder[4096];
    size_t found = 0;
    l->list[l->count++] = NULL;
    if (!attest_cli_plugins(folder, sizeof folder, cli))
        return ATTEST_OK;
    DIR *dir = opendir(folder);
    if (!dir)
        return errno == ENOENT ? ATTEST_OK
                               : attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot be read: %s", folder,
                                             strerror(errno));
    const attest_status status = list_folder(l->path, &found, dir, folder, err);
    closedir(dir);
    if (status != ATTEST_OK)
        return status;
    qsort(l->path, found, sizeof l->path[0], by_name);
    for (size_t i = 0; i < found; i++)
        l->list[l->count++] = l->path[i];
    return ATTEST_OK;
}

uint32_t attest_cli_device(const char *name)
{
    static const uint32_t known[] = { ATTEST_CPU, ATTEST_CUDA, ATTEST_CUDA_HOST };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, attest_device_name(known[i])) == 0)
            return known[i];
    return 0;
}

void attest_libraries_clear(attest_libraries *l)
{
    for (size_t i = 0; i < ATTEST_CLI_LIBRARIES; i++)
        free(l->path[i]);
}
