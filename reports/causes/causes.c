/* causes.c - groups of failures: the condition that tells them best from passes, then that of those that are left. */
#include "reports/causes/causes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reports/causes/conditions.h"

/* A result that failed or passed. */
typedef struct record {
    size_t kernel, index; /* into the names; into the results */
    int failed;
    double size; /* b hq n m (d + e) */
    condition_case is;
    char *line; /* of `is`; owned */
} record;

typedef struct records {
    record *list;
    size_t count, room;
    char (*kernel)[512];
    size_t kernels, seen; /* `seen`: results looked at */
} records;

/* Of one kernel: failures first, then passes; which conditions each has, 64 of the cases a word. */
typedef struct cases {
    size_t failed, passed, words; /* words: of one condition, over all cases */
    const record **list;          /* [failed + passed] */
    condition_set conditions;
    uint64_t *has; /* [conditions][words] */
} cases;

static int is_failure(int64_t verdict)
{
    return verdict == ATTEST_FAIL || verdict == ATTEST_CRASH || verdict == ATTEST_TIMEOUT;
}

static attest_status no_memory(attest_error *err) { return attest_fail(err, ATTEST_NO_MEMORY, "out of memory"); }

static void records_clear(records *x)
{
    for (size_t i = 0; i < x->count; i++)
        free(x->list[i].line);
    free(x->list);
    free(x->kernel);
}

/* Results come kernel by kernel or case by case: the last ones are looked at first. */
static attest_status kernel_number(size_t *number, records *x, const char *name, attest_error *err)
{
    for (size_t k = x->kernels; k-- > 0;)
        if (strcmp(x->kernel[k], name) == 0) {
            *number = k;
            return ATTEST_OK;
        }
    char(*more)[512] = realloc(x->kernel, (x->kernels + 1) * sizeof *more);
    if (!more)
        return no_memory(err);
    x->kernel = more;
    *number = x->kernels++;
    snprintf(x->kernel[*number], sizeof *more, "%s", name);
    return ATTEST_OK;
}

/* The line, with what it leaves to its preset and to defaults; malloc'd. */
static char *line_of(const attest_result *r)
{
    const char *const given[][2] = { { "weight", r->weight }, { "mask", r->mask }, { "norm", r->norm },
                                     { "update", r->update }, { "in", r->in },     { "acc", r->acc },
                                     { "p", r->p },           { "out", r->out } };
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    fputs(r->problem, out);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (*given[i][1] && !condition_value(r->problem, given[i][0]))
            fprintf(out, " %s=%s", given[i][0], given[i][1]);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static attest_status take_result(void *state, const attest_result *r, attest_error *err)
{
    attest_status status = ATTEST_OK;
    records *x = state;
    const size_t index = x->seen++;
    if (!*r->problem || !(is_failure(r->verdict) || r->verdict == ATTEST_PASS))
        return ATTEST_OK;
    if (x->count == x->room) {
        const size_t room = x->room ? 2 * x->room : 256;
        record *more = realloc(x->list, room * sizeof *more);
        if (!more)
            return no_memory(err);
        x->list = more;
        x->room = room;
    }
    record *new = &x->list[x->count];
    *new = (record){ .index = index,
                     .failed = is_failure(r->verdict),
                     .size = (double)r->b * (double)r->hq * (double)r->n * (double)r->m * (double)(r->d + r->e) };
    ATTEST_TRY(kernel_number(&new->kernel, x, r->kernel, err));
    new->line = line_of(r);
    if (!new->line)
        return no_memory(err);
    x->count++;
    condition_case_of(&new->is, r);
    new->is.line = new->line;
out:
    return status;
}

static void cases_clear(cases *x)
{
    free(x->list);
    free(x->has);
    condition_set_clear(&x->conditions);
}

static attest_status cases_of(cases *x, const records *all, size_t kernel, attest_error *err)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].kernel == kernel)
            *(all->list[i].failed ? &x->failed : &x->passed) += 1;
    x->list = calloc(x->failed + x->passed + 1, sizeof *x->list);
    if (!x->list)
        return no_memory(err);
    size_t failed = 0, passed = x->failed;
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].kernel == kernel)
            x->list[all->list[i].failed ? failed++ : passed++] = &all->list[i];
    return ATTEST_OK;
}

static attest_status read_conditions(cases *x, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const size_t all = x->failed + x->passed;
    const char **lines = calloc(all, sizeof *lines);
    if (!lines)
        return no_memory(err);
    for (size_t i = 0; i < all; i++)
        lines[i] = x->list[i]->line;
    ATTEST_TRY(condition_set_of(&x->conditions, lines, all, err));
    x->words = (all + 63) / 64;
    x->has = calloc(x->conditions.count * x->words, sizeof *x->has);
    if (!x->has)
        ATTEST_TRY(no_memory(err));
    for (size_t i = 0; i < all; i++)
        for (size_t k = 0; k < x->conditions.count; k++)
            if (condition_holds(&x->conditions, k, &x->list[i]->is))
                x->has[k * x->words + i / 64] |= (uint64_t)1 << i % 64;
out:
    free(lines);
    return status;
}

/* Of the failures that are left, and of the passes: those that have conditions a and b. */
static void count(const cases *x, const uint64_t *left, size_t a, size_t b, size_t *failed, size_t *passed)
{
    const uint64_t *p = x->has + a * x->words, *q = x->has + b * x->words;
    *failed = *passed = 0;
    for (size_t w = 0; w < x->words; w++) {
        const uint64_t both = p[w] & q[w];
        const uint64_t first = w < x->failed / 64    ? ~(uint64_t)0
                               : w == x->failed / 64 ? ((uint64_t)1 << x->failed % 64) - 1
                                                     : 0;
        *failed += (size_t)__builtin_popcountll(both & left[w] & first);
        *passed += (size_t)__builtin_popcountll(both & ~first);
    }
}

typedef struct choice {
    size_t a, b, failed, passed, wrong; /* wrong: failures that do not have it, and passes that do */
} choice;

static choice choice_of(const cases *x, const uint64_t *left, size_t remain, size_t a, size_t b)
{
    choice c = { .a = a, .b = b };
    count(x, left, a, b, &c.failed, &c.passed);
    c.wrong = remain - c.failed + c.passed;
    return c;
}

static int less_wrong(const choice *c, const choice *than, int whole, size_t remain)
{
    return c->wrong < than->wrong && (!whole || c->failed == remain);
}

/* The condition that is wrong least often; a pair of them where that halves what is wrong, by 3 at least.  `whole`: of
 * those that all failures have. */
static choice best(const cases *x, const uint64_t *left, size_t remain, int whole)
{
    choice one = { .wrong = SIZE_MAX }, two = { .wrong = SIZE_MAX };
    const size_t most = x->conditions.count, least = whole ? remain : remain / 2;
    for (size_t a = 0; a < most; a++) {
        const choice c = choice_of(x, left, remain, a, a);
        if (less_wrong(&c, &one, whole, remain))
            one = c;
    }
    for (size_t a = 0; one.wrong >= 3 && a < most; a++) {
        if (choice_of(x, left, remain, a, a).failed < least) /* no pair with it is told */
            continue;
        for (size_t b = 0; b < most; b++) {
            const choice c = choice_of(x, left, remain, a, b);
            if (less_wrong(&c, &two, whole, remain))
                two = c;
        }
    }
    const int paired = one.wrong >= 3 && two.wrong <= one.wrong / 2 && two.wrong + 3 <= one.wrong;
    return paired ? two : one;
}

/* Half of the failures that are left or more, and two thirds of the cases that have it failed. */
static int separates(const choice *c, size_t remain)
{
    return c->failed >= 2 && 2 * c->failed >= remain && c->failed >= 2 * c->passed;
}

static int by_size(const void *a, const void *b)
{
    const record *const *x = a, *const *y = b;
    return (*x)->size != (*y)->size ? ((*x)->size > (*y)->size) - ((*x)->size < (*y)->size)
                                    : ((*x)->index > (*y)->index) - ((*x)->index < (*y)->index);
}

/* Failures, sorted: the first half of the room is for the smallest, the other goes over the rest in equal steps. */
static void choose_members(attest_cause *cause, const record **sorted, size_t count)
{
    const size_t room = ATTEST_CAUSE_MEMBERS, half = room / 2;
    cause->smallest = count ? sorted[0]->index : 0;
    cause->members = count < room ? count : room;
    for (size_t i = 0; i < cause->members; i++) {
        const size_t at = count <= room || i < half ? i : half + (i - half + 1) * (count - half) / (room - half) - 1;
        cause->member[i] = sorted[at]->index;
    }
}

/* The failures of the cases that have conditions a and b (NULL: all of them) leave `left` and join the cause. */
static attest_status take(attest_cause *cause, const cases *x, uint64_t *left, const choice *c, attest_error *err)
{
    const record **taken = calloc(x->failed + 1, sizeof *taken);
    size_t count = 0;
    if (!taken)
        return no_memory(err);
    for (size_t i = 0; i < x->failed; i++) {
        const uint64_t bit = (uint64_t)1 << i % 64;
        const uint64_t has = c ? x->has[c->a * x->words + i / 64] & x->has[c->b * x->words + i / 64] : bit;
        if (!(has & left[i / 64] & bit))
            continue;
        taken[count++] = x->list[i];
        left[i / 64] &= ~bit;
    }
    qsort(taken, count, sizeof *taken, by_size);
    cause->of_failed = count;
    choose_members(cause, taken, count);
    free(taken);
    return ATTEST_OK;
}

static void name_cause(attest_cause *cause, const cases *x, const choice *c)
{
    snprintf(cause->text, sizeof cause->text, "%s%s%s", x->conditions.text[c->a], c->a == c->b ? "" : " and ",
             c->a == c->b ? "" : x->conditions.text[c->b]);
    cause->of_passed = c->passed;
}

/* The next cause: 0 if nothing tells the failures that are left from the passes. */
static int next_cause(choice *c, const attest_causes *causes, const cases *x, const uint64_t *left)
{
    *c = best(x, left, causes->left, 0);
    if (separates(c, causes->left))
        return 1;
    if (causes->count > 0)
        return 0;
    *c = best(x, left, causes->left, 1);
    return c->wrong != SIZE_MAX && c->failed >= 2 && 2 * c->passed <= x->passed;
}

static attest_status group(attest_causes *causes, const cases *x, attest_error *err)
{
    const size_t words = (x->failed + x->passed + 63) / 64;
    const int told = x->failed >= 2 && x->passed > 0; /* there is something to tell them from */
    attest_status status = ATTEST_OK;
    choice c;
    uint64_t *left = malloc((words + 1) * sizeof *left);
    if (!left)
        return no_memory(err);
    memset(left, 0xff, (words + 1) * sizeof *left);
    while (told && causes->count < ATTEST_CAUSES_MOST && causes->left > 0 && next_cause(&c, causes, x, left)) {
        attest_cause *cause = &causes->cause[causes->count++];
        name_cause(cause, x, &c);
        ATTEST_TRY(take(cause, x, left, &c, err));
        causes->left -= c.failed;
    }
    ATTEST_TRY(take(&causes->rest, x, left, NULL, err));
out:
    free(left);
    return status;
}

static attest_status find(attest_causes *causes, const records *all, size_t kernel, attest_error *err)
{
    attest_status status = ATTEST_OK;
    cases x = { 0 };
    *causes = (attest_causes){ 0 };
    snprintf(causes->kernel, sizeof causes->kernel, "%s", all->kernel[kernel]);
    ATTEST_TRY(cases_of(&x, all, kernel, err));
    causes->failed = causes->left = x.failed;
    causes->passed = x.passed;
    if (x.failed >= 2 && x.passed > 0)
        ATTEST_TRY(read_conditions(&x, err));
    ATTEST_TRY(group(causes, &x, err));
out:
    cases_clear(&x);
    return status;
}

attest_status attest_causes_find(attest_causes **list, size_t *count, const attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    records all = { 0 };
    const attest_accumulator pass = { take_result, &all };
    *list = NULL;
    *count = 0;
    ATTEST_TRY(attest_results_pass(results, &pass, 1, err));
    *list = calloc(all.kernels + 1, sizeof **list);
    if (!*list)
        ATTEST_TRY(no_memory(err));
    for (size_t k = 0; k < all.kernels; k++) {
        ATTEST_TRY(find(&(*list)[*count], &all, k, err));
        *count += (*list)[*count].failed > 0;
    }
out:
    records_clear(&all);
    if (status != ATTEST_OK) {
        free(*list);
        *list = NULL;
        *count = 0;
    }
    return status;
}

static attest_status print_group(FILE *out, const attest_causes *k, size_t number, const attest_results *results,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_cause *cause = &k->cause[number];
    attest_result *r = malloc(sizeof *r);
    if (!r)
        return no_memory(err);
    ATTEST_TRY(attest_results_get(r, results, cause->smallest, err));
    if (cause->of_failed == k->failed)
        fprintf(out, "common: %s: all %zu failures have %s", k->kernel, k->failed, cause->text);
    else
        fprintf(out, "common: %s: %s%zu of %zu failures have %s", k->kernel, number ? "then " : "", cause->of_failed,
                k->failed, cause->text);
    if (cause->of_passed)
        fprintf(out, ", and %zu of %zu passes too", cause->of_passed, k->passed);
    else
        fprintf(out, ", and none of %zu passes", k->passed);
    fprintf(out, "; the smallest:\n    %s\n", r->reproduction);
out:
    free(r);
    return status;
}

attest_status attest_causes_print(FILE *out, const attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_causes *list = NULL;
    size_t count = 0;
    ATTEST_TRY(attest_causes_find(&list, &count, results, err));
    for (size_t k = 0; k < count; k++)
        for (size_t number = 0; number < list[k].count; number++)
            ATTEST_TRY(print_group(out, &list[k], number, results, err));
out:
    free(list);
    return status;
}
