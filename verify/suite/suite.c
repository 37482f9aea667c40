/* suite.c - reads suites: lines and {a,b} lists multiplied out; the lines that begin with ! go to suite_rules.c. */
#include "verify/suite/suite_rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/input.h"
#include "kernels/text.h"
#include "props/draw/draw.h"
#include "verify/base/base.h"

#define MAX_CASES 1000000
#define MAX_BYTES (128 << 20)

/* Made from verify/suites by the Makefile. */
extern const char attest_suite_smoke[], attest_suite_ci[], attest_suite_full[], attest_suite_pairs[],
    attest_suite_killers[], attest_suite_flash_attn[], attest_suite_pytorch[], attest_suite_ggml[], attest_suite_fla[],
    attest_suite_benchdnn[];

typedef struct builtin_suite {
    const char *name, *text;
    int drawn; /* its cases were not written by hand */
} builtin_suite;

static const builtin_suite builtin[] = {
    { "smoke", attest_suite_smoke, 0 },
    { "ci", attest_suite_ci, 0 },
    { "full", attest_suite_full, 0 },
    /* a covering array (props/cover/cover.h), part of ci and full; `make pairs` writes it */
    { "pairs", attest_suite_pairs, 1 },
    /* cases of ci that kill planted defects soonest; `make killers` writes it */
    { "killers", attest_suite_killers, 0 },
    /* inputs of other suites' tests (peer_gates.h) */
    { "flash_attn", attest_suite_flash_attn, 0 },
    { "pytorch", attest_suite_pytorch, 0 },
    { "ggml", attest_suite_ggml, 0 },
    { "fla", attest_suite_fla, 0 },
    { "benchdnn", attest_suite_benchdnn, 0 }
};

typedef struct reader reader;

static const builtin_suite *find_builtin(const char *name)
{
    for (size_t i = 0; i < sizeof builtin / sizeof builtin[0]; i++)
        if (strcmp(name, builtin[i].name) == 0)
            return &builtin[i];
    return NULL;
}

/* What a line is after its lists are multiplied out. */
typedef attest_status (*taker)(reader *r, const char *line, attest_error *err);

/* Where a line stands, for messages, and what is being filled. */
struct reader {
    attest_suite *suite;
    const char *name;
    int line;
    uint64_t *known;              /* [capacity]: keys of the cases, a hash table; 0: free */
    size_t known_count, capacity; /* the latter a power of two, or 0 */
    attest_floor *floors;
    size_t floor_count;
    int included; /* the lines are those of a suite that another one includes */
    int drawn;    /* whose cases were drawn */
};

static attest_status line_error(const reader *r, attest_status status, attest_error *err)
{
    char prefix[300];
    snprintf(prefix, sizeof prefix, "%.256s:%d", r->name, r->line);
    return attest_fail_prefix(err, status, prefix);
}

/* ---- cases ----------------------------------------------------------------------------------------------- */
const char *attest_suite_line(const attest_suite *suite, size_t index) { return suite->text + suite->line[index]; }

void attest_suite_case(attest_case *c, const attest_suite *suite, size_t index)
{
    attest_error none; /* the line was printed from a case: it parses, and without memory */
    attest_case_parse(c, attest_suite_line(suite, index), NULL, NULL, &none);
}

int attest_suite_draws(const attest_suite *suite, const char *line)
{
    for (size_t i = suite->case_count - suite->drawn; i < suite->case_count; i++)
        if (strcmp(attest_suite_line(suite, i), line) == 0)
            return 1;
    return 0;
}

void attest_suite_keep(attest_suite *suite, const char *glob)
{
    const size_t count = suite->case_count, first_drawn = count - suite->drawn;
    suite->case_count = suite->drawn = 0;
    for (size_t i = 0; i < count; i++)
        if (fnmatch(glob, attest_suite_line(suite, i), 0) == 0) {
            suite->line[suite->case_count++] = suite->line[i];
            suite->drawn += i >= first_drawn;
        }
}

attest_status attest_suite_add(attest_suite *suite, const attest_case *c, attest_error *err)
{
    char line[ATTEST_LINE];
    attest_status status = attest_case_print(line, sizeof line, c, err);
    const size_t length = strlen(line) + 1;
    if (status != ATTEST_OK)
        return status;
    if (suite->case_count >= MAX_CASES)
        return attest_fail(err, ATTEST_BAD_INPUT, "more than %d cases", MAX_CASES);
    if (suite->case_count == suite->line_capacity) {
        const size_t capacity = suite->line_capacity ? 2 * suite->line_capacity : 64;
        size_t *grown = realloc(suite->line, capacity * sizeof *grown);
        if (!grown)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", capacity);
        suite->line = grown;
        suite->line_capacity = capacity;
    }
    if (suite->text_capacity - suite->text_size < length) {
        const size_t capacity = 2 * suite->text_capacity + ATTEST_LINE;
        char *grown = realloc(suite->text, capacity);
        if (!grown)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", suite->case_count + 1);
        suite->text = grown;
        suite->text_capacity = capacity;
    }
    memcpy(suite->text + suite->text_size, line, length);
    suite->line[suite->case_count++] = suite->text_size;
    suite->text_size += length;
    return ATTEST_OK;
}

/* What tells cases of a suite apart: the truth, chunk and splits. */
static uint64_t key_of(const attest_case *c)
{
    const uint64_t hash = attest_case_hash(c);
    const int64_t also[] = { c->problem.chunk, c->problem.splits };
    return attest_fnv(attest_fnv(ATTEST_FNV_START, &hash, sizeof hash), also, sizeof also) | 1;
}

static size_t slot_of(const uint64_t *known, size_t capacity, uint64_t key)
{
    size_t at = (size_t)(key >> 1) & (capacity - 1);
    while (known[at] && known[at] != key)
        at = (at + 1) & (capacity - 1);
    return at;
}

/* *fresh: no case with this key was there. */
static attest_status note_key(reader *r, uint64_t key, int *fresh, attest_error *err)
{
    if (2 * r->known_count >= r->capacity) {
        const size_t capacity = r->capacity ? 2 * r->capacity : 256;
        uint64_t *known = calloc(capacity, sizeof *known);
        if (!known)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", capacity);
        for (size_t i = 0; i < r->capacity; i++)
            if (r->known[i])
                known[slot_of(known, capacity, r->known[i])] = r->known[i];
        free(r->known);
        r->known = known;
        r->capacity = capacity;
    }
    const size_t at = slot_of(r->known, r->capacity, key);
    *fresh = r->known[at] == 0;
    r->known[at] = key;
    r->known_count += *fresh != 0;
    return ATTEST_OK;
}

/* One line without lists; a case that is there already is not added again. */
static attest_status add_case(reader *r, const char *line, attest_error *err)
{
    attest_case c;
    int fresh;
    attest_status status = attest_case_parse(&c, line, NULL, NULL, err);
    if (status == ATTEST_OK)
        status = attest_family_check(&c, err);
    if (status != ATTEST_OK) {
        char prefix[200];
        snprintf(prefix, sizeof prefix, "`%.190s`", line);
        return attest_fail_prefix(err, status, prefix);
    }
    status = note_key(r, key_of(&c), &fresh, err);
    if (status != ATTEST_OK || !fresh)
        return status;
    if (r->suite->drawn && !r->drawn)
        return attest_fail(err, ATTEST_BAD_INPUT, "a case behind `!include pairs`, which comes last");
    r->suite->drawn += r->drawn ? 1u : 0u;
    return attest_suite_add(r->suite, &c, err);
}

/* How many lines the lists of one make: the product of their lengths. */
static attest_status check_lists(const char *line, attest_error *err)
{
    size_t lines = 1, length = 0;
    for (const char *at = line; *at; at++) {
        length = *at == '{' ? 1 : length + (*at == ',' && length > 0);
        if (*at == '}' && length > 0) {
            lines *= length;
            length = 0;
        }
        if (lines > MAX_CASES)
            return attest_fail(err, ATTEST_BAD_INPUT, "its lists make more than %d lines", MAX_CASES);
    }
    return ATTEST_OK;
}

/* Replaces the first {..} list by each of its alternatives in turn. */
static attest_status expand_lists(reader *r, const char *line, taker take, attest_error *err)
{
    char one[ATTEST_LINE];
    attest_status status = ATTEST_OK;
    const char *open = strpbrk(line, "{}");
    if (!open)
        return take(r, line, err);
    const char *close = open + 1 + strcspn(open + 1, "{}");
    if (*open != '{' || *close != '}')
        return attest_fail(err, ATTEST_BAD_INPUT, "unbalanced braces: a list is {a,b}, none inside another");
    for (const char *from = open + 1; status == ATTEST_OK;) {
        const size_t length = strcspn(from, ",}");
        const int n = snprintf(one, sizeof one, "%.*s%.*s%s", (int)(open - line), line, (int)length, from, close + 1);
        if (n < 0 || (size_t)n >= sizeof one)
            return attest_fail(err, ATTEST_BAD_INPUT, "the line is longer than %zu bytes", sizeof one - 1);
        status = expand_lists(r, one, take, err);
        if (from + length == close)
            break;
        from += length + 1;
    }
    return status;
}

static attest_status expand(reader *r, const char *line, taker take, attest_error *err)
{
    const attest_status status = check_lists(line, err);
    return status == ATTEST_OK ? expand_lists(r, line, take, err) : status;
}

/* One floor without lists; it is checked when all cases are known. */
static attest_status add_floor(reader *r, const char *text, attest_error *err)
{
    void *list = r->floors;
    attest_status status = attest_rules_grow(&list, r->floor_count, sizeof *r->floors, "!floor", err);
    r->floors = list;
    if (status != ATTEST_OK)
        return status;
    r->floors[r->floor_count] = (attest_floor){ .line = r->line };
    status = attest_floor_read(&r->floors[r->floor_count], text, err);
    r->floor_count += status == ATTEST_OK;
    return status;
}

static attest_status add_allow(reader *r, const char *text, attest_error *err)
{
    return attest_allow_read(r->suite, text, err);
}

/* ---- text ------------------------------------------------------------------------------------------------------ */
static attest_status read_lines(reader *r, const char *text, attest_error *err);

/* The lines of another built-in suite, which includes none itself. */
static attest_status include(reader *r, const char *name, attest_error *err)
{
    const builtin_suite *of = find_builtin(name);
    if (!of)
        return attest_fail(err, ATTEST_BAD_INPUT, "!include %s: not a built-in suite", name);
    if (r->included)
        return attest_fail(err, ATTEST_BAD_INPUT, "!include %s: a suite that is included includes no other", name);
    reader inner = *r;
    inner.name = name;
    inner.line = 0;
    inner.included = 1;
    inner.drawn = of->drawn;
    r->suite->hash = attest_fnv(r->suite->hash, of->text, strlen(of->text));
    const attest_status status = read_lines(&inner, of->text, err);
    const reader outer = *r;
    *r = inner;
    r->name = outer.name;
    r->line = outer.line;
    r->included = r->drawn = 0;
    return status;
}

/* One line without its newline; ends it at a comment and drops blanks at both ends. */
static attest_status read_line(reader *r, const char *from, size_t length, attest_error *err)
{
    char line[ATTEST_LINE];
    if (length >= sizeof line)
        return attest_fail(err, ATTEST_BAD_INPUT, "the line is longer than %zu bytes", sizeof line - 1);
    memcpy(line, from, length);
    line[length] = '\0';
    for (char *hash = strchr(line, '#'); hash; hash = strchr(hash + 1, '#'))
        if (hash == line || hash[-1] == ' ' || hash[-1] == '\t') {
            *hash = '\0';
            break;
        }
    size_t end = strlen(line);
    while (end && strchr(" \t\r", line[end - 1]))
        line[--end] = '\0';
    const char *start = line + strspn(line, " \t");
    if (!*start)
        return ATTEST_OK;
    if (strncmp(start, "!skip ", 6) == 0)
        return attest_rule_read(&r->suite->skips, &r->suite->skip_count, "!skip", start + 6 + strspn(start + 6, " \t"),
                                err);
    if (strncmp(start, "!allow partial ", 15) == 0)
        return expand(r, start + 15 + strspn(start + 15, " \t"), add_allow, err);
    if (strncmp(start, "!floor ", 7) == 0)
        return expand(r, start + 7 + strspn(start + 7, " \t"), add_floor, err);
    if (strncmp(start, "!include ", 9) == 0)
        return include(r, start + 9 + strspn(start + 9, " \t"), err);
    if (*start == '!')
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "`%.*s` is unknown: only !skip, !allow partial, !floor and !include exist",
                           (int)strcspn(start, " \t"), start);
    return expand(r, start, add_case, err);
}

static attest_status read_lines(reader *r, const char *text, attest_error *err)
{
    for (const char *at = text; *at;) {
        const size_t length = strcspn(at, "\n");
        r->line++;
        const attest_status status = read_line(r, at, length, err);
        if (status != ATTEST_OK)
            return line_error(r, status, err);
        at += length + (at[length] == '\n');
    }
    return ATTEST_OK;
}

static attest_status read_text(reader *r, const char *text, attest_error *err)
{
    attest_status status = read_lines(r, text, err);
    if (status != ATTEST_OK)
        return status;
    if (r->suite->case_count == 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: the suite has no case", r->name);
    r->line = 0;
    status = attest_floors_check(r->suite, r->floors, r->floor_count, &r->line, err);
    return status == ATTEST_OK ? ATTEST_OK : line_error(r, status, err);
}

static attest_status read_file(char **text, const char *path, attest_error *err)
{
    uint64_t size;
    FILE *in;
    *text = NULL;
    attest_status status = attest_input_stream(&in, &size, path, err);
    if (status != ATTEST_OK)
        return errno == ENOENT
                   ? attest_fail(err, status, "%s: %s (a suite is smoke, ci, full or a file)", path, strerror(ENOENT))
                   : status;
    if (size > MAX_BYTES)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: longer than %d bytes", path, MAX_BYTES));
    if (!(*text = malloc(size + 1))) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for %zu bytes", path, (size_t)size);
        goto out;
    }
    const size_t got = fread(*text, 1, size, in);
    (*text)[got] = '\0';
    if (got != size || strlen(*text) != size)
        status = attest_fail(err, ATTEST_BAD_INPUT, "%s: %s", path, got != size ? "cannot be read" : "not a text");
out:
    fclose(in);
    if (status != ATTEST_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}

/* The file's name without folder and `.suite`. */
static void name_suite(attest_suite *suite, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const size_t length = strlen(base), tail = length > 6 && strcmp(base + length - 6, ".suite") == 0 ? 6 : 0;
    char name[4096];
    snprintf(name, sizeof name, "%.*s", (int)(length - tail), base);
    attest_text_clean(suite->name, sizeof suite->name, name);
}

attest_status attest_suite_read(attest_suite *suite, const char *name, attest_error *err)
{
    attest_status status = ATTEST_OK;
    reader r = { .suite = suite, .name = name };
    const char *text;
    char *owned = NULL;
    memset(suite, 0, sizeof *suite);
    const builtin_suite *of = find_builtin(name);
    suite->builtin = of != NULL;
    r.drawn = of && of->drawn;
    if (!of)
        ATTEST_TRY(read_file(&owned, name, err));
    text = of ? of->text : owned;
    name_suite(suite, name);
    suite->hash = attest_fnv(ATTEST_FNV_START, text, strlen(text));
    ATTEST_TRY(read_text(&r, text, err));
out:
    free(r.known);
    free(r.floors);
    free(owned);
    if (status != ATTEST_OK)
        attest_suite_clear(suite);
    return status;
}

void attest_suite_clear(attest_suite *suite)
{
    free(suite->line);
    free(suite->text);
    free(suite->skips);
    free(suite->allows);
    memset(suite, 0, sizeof *suite);
}
