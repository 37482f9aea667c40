/* bench_print.c - a table of `attest bench` as Markdown whose columns align, and what stands below it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/table.h"
#include "verify/bench/bench_table.h"

/* ---- cells ------------------------------------------------------------------------------------------------------- */
/* Three significant digits, and the least and most beside them; empty for NaN. */
static const char *spread_text(char *text, size_t len, attest_bench_spread s)
{
    const int digits = s.median >= 99.95 ? 0 : s.median >= 9.995 ? 1 : s.median >= 0.9995 ? 2 : 3;
    text[0] = '\0';
    if (s.median == s.median)
        snprintf(text, len, "%.*f [%.*f .. %.*f]", digits, s.median, digits, s.least, digits, s.most);
    return text;
}

/* The same for a number that may be far from 1. */
static const char *figure_text(char *text, size_t len, attest_bench_spread s)
{
    snprintf(text, len, "%.3g [%.3g .. %.3g]", s.median, s.least, s.most);
    return text;
}

/* Seconds in the largest unit of which there is one. */
static const char *time_text(char *text, size_t len, attest_bench_spread s)
{
    static const char *const units[] = { "s", "ms", "us", "ns" };
    char number[80];
    int n = 0;
    for (; n < 3 && s.median < 0.9995; n++)
        s = (attest_bench_spread){ 1e3 * s.median, 1e3 * s.least, 1e3 * s.most };
    snprintf(text, len, "%s %s", spread_text(number, sizeof number, s), units[n]);
    return text;
}

/* Name, time and time a pair; 0 where there is none, and the row is filled up to its source. */
static int time_cells(attest_table *out, const attest_bench_table *table, const attest_bench_job *job)
{
    char text[96];
    attest_table_cell(out, "%s", job->name);
    if (job->why[0]) {
        attest_table_cell(out, "not timed");
        for (size_t c = 2; c + 1 < out->columns; c++)
            attest_table_cell(out, "%s", "");
        return 0;
    }
    const attest_bench_spread s = attest_bench_time(job->sample, table->rounds);
    attest_table_cell(out, "%s", time_text(text, sizeof text, s));
    attest_table_cell(out, "%.4g", s.median * 1e9 / (double)table->pairs);
    return 1;
}

static void engine_row(attest_table *out, const attest_bench_table *table, int n)
{
    const attest_bench_job *job = &table->job[n];
    char text[96];
    if (time_cells(out, table, job)) {
        attest_table_cell(out, "%s", spread_text(text, sizeof text, attest_bench_over(table, table->mpfr, n)));
        attest_table_cell(out, "%s", spread_text(text, sizeof text, attest_bench_over(table, n, table->naive)));
        attest_table_cell(out, "%s", spread_text(text, sizeof text, attest_bench_over(table, n, table->best)));
        snprintf(text, sizeof text, "%.1e", job->error);
        attest_table_cell(out, "%s", job->compared > 0 ? text : "");
    }
    attest_table_cell(out, "%s", job->source);
}

/* A share in percent; empty for NaN. */
static void share_cell(attest_table *out, attest_bench_spread share)
{
    if (share.median == share.median)
        attest_table_cell(out, "%.*f%%", share.median < 0.095 ? 1 : 0, 100 * share.median);
    else
        attest_table_cell(out, "%s", "");
}

static void kernel_row(attest_table *out, const attest_bench_table *table, int n)
{
    const attest_bench_job *job = &table->job[n];
    const attest_result *judged = &table->judged[n];
    char text[96];
    if (time_cells(out, table, job)) {
        attest_table_cell(out, "%s", spread_text(text, sizeof text, attest_bench_over(table, n, table->naive)));
        share_cell(out, attest_bench_of_multiply_adds(table, n));
        share_cell(out, attest_bench_of_reading(table, n));
        attest_table_cell(out, "%s",
                          judged->verdict == ATTEST_SKIP ? "not judged" : attest_verdict_names[judged->verdict]);
        attest_table_cell(out, "%s",
                          judged->ratio_hi == judged->ratio_hi ? attest_ratio_text(text, judged->ratio_hi) : "");
    }
    attest_table_cell(out, "%s", job->source);
}

/* ---- below the table --------------------------------------------------------------------------------------------- */
static void print_reasons(FILE *out, const attest_bench_table *table)
{
    int apart = 0;
    for (size_t n = 0; n < table->count; n++) {
        const attest_bench_job *job = &table->job[n];
        if (job->why[0])
            fprintf(out, "%s: not timed: %s\n", job->name, job->why);
        apart |= table->judged && !job->why[0] && job->kind == ATTEST_BENCH_KERNEL && job->in != table->own.bundle;
    }
    if (table->judged && table->unjudged > 0)
        fprintf(out, "not judged: the truth of all rows would take about %.0f s; attest gate --device judges\n",
                table->unjudged);
    else if (apart)
        fprintf(out, "not judged: a kernel that ran on the same values stored as f32\n");
}

static void print_dd(FILE *out, const attest_bench_table *table, const attest_bench_job *job)
{
    char text[80];
    int64_t known;
    const double bound = attest_bench_largest_bound(job, &known);
    fprintf(out, "%s: %s times the formula's %lld multiply-adds a pair in double at the machine's peak; ", job->name,
            spread_text(text, sizeof text, attest_bench_over_peak(table, job)),
            (long long)attest_bench_multiply_adds(job->p));
    fprintf(out, "%lld of %lld outputs have a bound", (long long)known, (long long)job->enclosures.count);
    if (known > 0)
        fprintf(out, ", the largest %.2g", bound);
    if (known > 0 && bound > 0)
        fprintf(out, " (2^%.1f)", log2(bound));
    fprintf(out, "\n");
}

static void print_dd_together(FILE *out, const attest_bench_table *table)
{
    char text[80];
    const attest_bench_spread up = attest_bench_speed_up(table);
    const attest_bench_spread narrow = attest_bench_over(table, table->best, table->on_f32);
    if (up.median == up.median)
        fprintf(out, "%s: %s times as fast as one thread, wall against wall%s\n", table->job[table->threaded].name,
                spread_text(text, sizeof text, up),
                getenv("OMP_WAIT_POLICY") ? "" : "; OMP_WAIT_POLICY=passive steadies it on a busy machine");
    if (narrow.median == narrow.median)
        fprintf(out, "%s: %s times what it takes for f32 numbers of the same law\n", table->job[table->best].name,
                spread_text(text, sizeof text, narrow));
}

/* Where a kernel of a device ran, and what it did there a second. */
static void print_device(FILE *out, const attest_bench_table *table, int n)
{
    const attest_bench_device *device = &table->job[n].device;
    char tera[80], stream[80], name[200] = "";
    if (!device->memory || table->job[n].why[0])
        return;
    if (device->memory->describe(device->context, name, sizeof name) != ATTEST_OK)
        snprintf(name, sizeof name, "%s", attest_device_name(device->memory->device));
    fprintf(out, "%s on %s: %s Tflop/s of the formula's multiply-adds, pair by pair; inputs and o once at %s GB/s\n",
            table->job[n].name, name, figure_text(tera, sizeof tera, attest_bench_tera(table, n)),
            figure_text(stream, sizeof stream, attest_bench_stream(table, n)));
}

/* What the columns of shares are of, and what threads bring. */
static void print_shares(FILE *out, const attest_bench_table *table)
{
    char text[80];
    for (int n = 0; n < (int)table->count; n++) {
        print_device(out, table, n);
        const attest_bench_spread up = attest_bench_kernel_speed_up(table, n);
        if (up.median == up.median)
            fprintf(out, "%s: %s times as fast as one thread, wall against wall\n", table->job[n].name,
                    spread_text(text, sizeof text, up));
    }
    const attest_bench_job *memory = &table->job[table->reading];
    const double seconds = attest_bench_time(memory->sample, table->rounds).median;
    fprintf(
        out,
        "of multiply-adds: the formula's, pair by pair (%lld a pair), of the machine's peak in f32 (f64): products "
        "of bf16 (VDPBF16PS) may pass it; of reading: all inputs once, at the %.1f GB/s at which one core reads %.3g "
        "MiB\n",
        (long long)attest_bench_multiply_adds(&table->own.c.problem), 1e-9 * (double)memory->workspace_size / seconds,
        (double)memory->workspace_size / (1 << 20));
}

/* What the yardstick is worth: its calls, what each costs, what it needs beside them. */
static void print_honesty(FILE *out, const attest_bench_table *table)
{
    if (table->mpfr < 0 || table->costs < 0)
        return;
    const attest_bench_job *mpfr = &table->job[table->mpfr];
    const double honesty = attest_bench_honesty(table);
    fprintf(out, "mpfr-128 adds products by %s: least time / sum of calls x least cost = %.3f: ",
            mpfr->product == ATTEST_YARD_FUSED ? "mpfr_fma" : "mpfr_mul and mpfr_add", honesty);
    if (honesty <= ATTEST_BENCH_HONEST)
        fprintf(out, "honest (up to %.2f);", ATTEST_BENCH_HONEST);
    else if (attest_bench_unreliable(table))
        fprintf(out, "UNRELIABLE (above %.2f);", ATTEST_BENCH_HONEST);
    else
        fprintf(out, "above %.2f, set-up weighs at N x M = %lld x %lld: no yardstick at this size;",
                ATTEST_BENCH_HONEST, (long long)mpfr->p->n, (long long)mpfr->p->m);
    for (int call = 0; call < ATTEST_YARD_CALLS; call++)
        fprintf(out, "%s %lld %s at %.1f ns", call ? "," : "", (long long)mpfr->calls[call],
                attest_yard_call_name(call), 1e9 * attest_bench_call_cost(table, call));
    fprintf(out, "\n");
}

static void print_machine(FILE *out, const attest_bench_table *table)
{
    char name[320];
    int lanes;
    const char *what;
    const double rate = attest_bench_rate(table);
    attest_machine_burst(&lanes, &what);
    attest_machine_name(name, sizeof name);
    fprintf(out, "%s", name);
    if (rate == rate)
        fprintf(out, "; peak of one core %.2f x %s a ns, %.1f double flops a ns", rate, what, 2 * rate * lanes);
    fprintf(out, "; peak memory of the process so far %.0f MiB\n", attest_machine_peak_memory());
}

void attest_bench_print(FILE *out, const attest_bench_table *table)
{
    char dd[64];
    snprintf(dd, sizeof dd, "this / %s", table->best >= 0 ? table->job[table->best].name : "dd");
    const attest_column engines[] = { { .head = "engine" },           { .head = "time" },
                                      { .head = "ns/pair" },          { .head = "mpfr-128 / this" },
                                      { .head = "this / naive-f32" }, { .head = dd },
                                      { .head = "max abs(o - dd)" },  { .head = "source" } };
    static const attest_column kernels[] = { { .head = "kernel" },
                                             { .head = "time" },
                                             { .head = "ns/pair" },
                                             { .head = "this / naive-f32" },
                                             { .head = "of multiply-adds" },
                                             { .head = "of reading" },
                                             { .head = "verdict" },
                                             { .head = "max error/bound" },
                                             { .head = "source" } };
    attest_table printed;
    fprintf(out,
            "\n%s\n%lld visible pairs; %d rounds, all rows in turn; median [least .. most]; processor time, but "
            "wall clock for rows with several threads or on a device\n\n",
            table->line, (long long)table->pairs, table->rounds);
    attest_table_begin(&printed, out, ATTEST_TABLE_ALIGNED, table->judged ? kernels : engines, table->judged ? 9 : 8);
    for (int n = 0; n < (int)table->count; n++)
        if (attest_bench_is_row(&table->job[n]))
            (table->judged ? kernel_row : engine_row)(&printed, table, n);
    attest_table_close(&printed);
    fprintf(out, "\n");
    print_reasons(out, table);
    for (size_t n = 0; n < table->count; n++)
        if (table->job[n].kind == ATTEST_BENCH_DD && !table->job[n].why[0])
            print_dd(out, table, &table->job[n]);
    print_dd_together(out, table);
    if (table->judged)
        print_shares(out, table);
    print_honesty(out, table);
    print_machine(out, table);
}
