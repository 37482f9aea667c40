/* main.c - certify [--outputs N] [--normal N] [--seed S] [--family NAME] [--case K] [--line LINE] [--forced] [--list]
 *
 * Enclosures of the dd engine against a truth of the harness's own: N outputs (o and lse) over all families, and N
 * outputs with N(0,1) inputs.  Exit 1 if an enclosure misses the truth, if a decided rounding differs between paths or
 * from the truth's, if bits depend on threads, if an N(0,1) output is not decided, or if the control finds nothing.
 * Every miss prints its command.
 */
#include "tests/certify/certify.h"

#include "reference/engine/flint_headers.h"
#include "verify/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct arguments {
    int64_t outputs, normal;
    uint64_t seed;
    const char *family, *line;
    int number, forced, list;
} arguments;

static int read_arguments(arguments *a, int argc, char **argv)
{
    for (int n = 1; n < argc; n++) {
        const char *value = n + 1 < argc ? argv[n + 1] : NULL;
        const char *name = argv[n];
        if (strcmp(name, "--forced") == 0) {
            a->forced = 1;
            continue;
        }
        if (strcmp(name, "--list") == 0) {
            a->list = 1;
            continue;
        }
        if (!value)
            return 0;
        n++;
        if (strcmp(name, "--outputs") == 0)
            a->outputs = atoll(value);
        else if (strcmp(name, "--normal") == 0)
            a->normal = atoll(value);
        else if (strcmp(name, "--seed") == 0)
            a->seed = strtoull(value, NULL, 10);
        else if (strcmp(name, "--family") == 0)
            a->family = value;
        else if (strcmp(name, "--case") == 0)
            a->number = atoi(value);
        else if (strcmp(name, "--line") == 0)
            a->line = value;
        else
            return 0;
    }
    return 1;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */
static void print_head(void)
{
    char machine[320];
    attest_machine_name(machine, sizeof machine);
    printf("%s\n", machine);
    printf("outputs: elements of o and lse; violated: the truth is outside the enclosure; differ: decided\n"
           "roundings that differ between paths or from the truth's, bits that depend on threads; error/bound:\n"
           "the largest, and its path; undecided: o whose rounding to f32 the bound leaves open; unknown: a truth\n"
           "and no bound; no truth: the problem has none there; ulp open: o whose error in ulps is not known to\n"
           "2^-20; bound/|o|: the median.  violated and differ must be 0; for N(0,1) undecided, unknown and ulp\n"
           "open too.\n");
    printf("%-12s %6s %9s %9s %6s %11s %-8s %9s %9s %8s %8s %9s\n", "family", "cases", "outputs", "violated", "differ",
           "error/bound", "path", "undecided", "unknown", "no truth", "ulp open", "bound/|o|");
}

static void print_totals(const char *name, const certify_totals *t)
{
    int64_t half = 0, below = 0;
    int median = 0;
    for (int n = 0; n < CERTIFY_LOGS; n++)
        half += t->logs[n];
    for (int n = 0; n < CERTIFY_LOGS && 2 * below <= half; n++) {
        below += t->logs[n];
        median = n + CERTIFY_LOG_LOW;
    }
    printf("%-12s %6lld %9lld %9lld %6lld %11.2g %-8s %9lld %9lld %8lld %8lld    2^%-4d\n", name, (long long)t->cases,
           (long long)t->outputs, (long long)t->violations, (long long)t->differ, t->ratio, t->worst ? t->worst : "-",
           (long long)t->undecided, (long long)t->unknown, (long long)t->none, (long long)t->loose, median);
    fflush(stdout);
}

static void add_totals(certify_totals *sum, const certify_totals *t)
{
    sum->cases += t->cases;
    sum->outputs += t->outputs;
    sum->none += t->none;
    sum->unknown += t->unknown;
    sum->violations += t->violations;
    sum->undecided += t->undecided;
    sum->loose += t->loose;
    sum->differ += t->differ;
    if (t->ratio > sum->ratio) {
        sum->ratio = t->ratio;
        sum->worst = t->worst;
    }
    for (int n = 0; n < CERTIFY_LOGS; n++)
        sum->logs[n] += t->logs[n];
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static int run_case(certify_totals *t, const certify_law *law, const arguments *a, int number, int *shown)
{
    certify_case c;
    attest_error err;
    char reproduce[128];
    snprintf(reproduce, sizeof reproduce, "certify --family %s --seed %llu --case %d%s", law->name,
             (unsigned long long)a->seed, number, a->forced ? " --forced" : "");
    if (certify_draw(&c, law, a->seed, number, &err) != ATTEST_OK) {
        printf("%s: %s\n", reproduce, err.text);
        return 0;
    }
    const int good = certify_check(t, &c, a->forced, reproduce, shown);
    if (a->number >= 0)
        printf("%s\n", c.line);
    certify_clear(&c);
    return good;
}

static int run_law(certify_totals *sum, const certify_law *law, const arguments *a, int64_t outputs, int *shown)
{
    certify_totals t = { 0 };
    int good = 1;
    if (law->kind == CERTIFY_LONG && outputs > 12000)
        outputs = 12000; /* each reads 16384 keys */
    if (a->number >= 0)
        good = run_case(&t, law, a, a->number, shown);
    for (int n = 0; a->number < 0 && good && t.outputs < outputs; n++)
        good = run_case(&t, law, a, n, shown);
    print_totals(law->name, &t);
    add_totals(sum, &t);
    return good;
}

static int run_line(certify_totals *t, const char *line, const arguments *a, int *shown)
{
    certify_case c;
    attest_error err;
    char reproduce[ATTEST_LINE + 128];
    snprintf(reproduce, sizeof reproduce, "certify%s%s --line '%s'%s", a->family ? " --family " : "",
             a->family ? a->family : "", line, a->forced ? " --forced" : "");
    if (certify_draw_line(&c, line, certify_law_of(a->family), &err) != ATTEST_OK) {
        printf("%s: %s\n", reproduce, err.text);
        return 0;
    }
    const int good = certify_check(t, &c, a->forced, reproduce, shown);
    certify_clear(&c);
    return good;
}

/* N(0,1) inputs, d = e = 64, N to 2048 */
static int run_normal(certify_totals *sum, const arguments *a, int *shown)
{
    static const struct {
        const char *name, *in;
    } rows[] = { { "N(0,1) f32", "f32" }, { "N(0,1) bf16", "bf16" } };
    static const int sizes[] = { 128, 512, 2048, 1024 };
    int good = 1;
    for (size_t r = 0; r < 2; r++) {
        certify_totals t = { 0 };
        for (int n = 0; good && t.outputs < a->normal / 2; n++) {
            char line[256];
            snprintf(line, sizeof line, "variant=softmax mask=%s n=%d d=64 in=%s seed=%d",
                     n % 8 < 6 ? "causal" : "full", n % 8 < 6 ? sizes[n % 4] : 512, rows[r].in,
                     n + (int)a->seed * 1000);
            good = run_line(&t, line, a, shown);
        }
        print_totals(rows[r].name, &t);
        good = good && t.undecided == 0 && t.loose == 0 && t.unknown == 0;
        add_totals(sum, &t);
    }
    return good;
}

/* The control: cheap tiers that are not proved, forced on f32 inputs, must miss the truth. */
static int run_control(void)
{
    const arguments forced = { .forced = 1 };
    certify_totals t = { 0 };
    int silent = 1000;
    const int good = run_line(&t, "variant=softmax mask=causal n=128 d=64", &forced, &silent);
    printf("control: cheap tiers forced on f32 inputs: %lld violations over %lld outputs on all paths%s\n",
           (long long)t.violations, (long long)t.outputs, t.violations > 0 ? ", detected" : ": NOT DETECTED");
    return good && t.violations > 0;
}

int main(int argc, char **argv)
{
    arguments a = { .outputs = 10200000, .normal = 1100000, .seed = 1, .number = -1 };
    certify_totals sum = { 0 };
    int good = 1, shown = 0, served = 0, wanted = 0;
    if (!read_arguments(&a, argc, argv)) {
        fprintf(stderr, "usage: certify [--outputs N] [--normal N] [--seed S] [--family NAME] [--case K] [--line LINE] "
                        "[--forced] [--list]\n");
        return 2;
    }
    if (a.family && !certify_law_of(a.family)) {
        fprintf(stderr, "certify: no family %s; see --list\n", a.family);
        return 2;
    }
    for (int n = 0; n < certify_law_count; n++) {
        if (a.list)
            printf("%-12s %s\n", certify_laws[n].name, certify_laws[n].why ? certify_laws[n].why : "of props");
        wanted += !a.family || strcmp(a.family, certify_laws[n].name) == 0;
    }
    if (a.list)
        return 0;
    print_head();
    for (int n = 0; !a.line && n < certify_law_count; n++)
        if (!a.family || strcmp(a.family, certify_laws[n].name) == 0) {
            good &= run_law(&sum, &certify_laws[n], &a, a.outputs / wanted, &shown);
            served++;
        }
    if (a.line)
        good &= run_line(&sum, a.line, &a, &shown);
    else if (!a.family && a.normal > 0)
        good &= run_normal(&sum, &a, &shown);
    if (!a.line && !a.family && !a.forced)
        good &= run_control();
    print_totals("total", &sum);
    flint_cleanup();
    return good && (served || a.line) && sum.outputs > 0 && sum.violations == 0 && sum.differ == 0 ? 0 : 1;
}
