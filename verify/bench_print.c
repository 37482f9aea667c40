/* bench_print.c - a table of `attest bench` as Markdown and as JSON lines. */
#include <math.h>
#include <string.h>

#include "verify/bench_table.h"

static int is_row(const attest_bench_job *job)
{
    return job->kind != ATTEST_BENCH_COSTS && job->kind != ATTEST_BENCH_MACHINE;
}

/* job `n` over job `by`, or NaN. */
static attest_bench_spread over(const attest_bench_table *table, int n, int by)
{
    if (n < 0 || by < 0 || table->job[n].why[0] || table->job[by].why[0])
        return (attest_bench_spread){ NAN, NAN, NAN };
    return attest_bench_ratio(table->job[n].sample, table->job[by].sample, table->rounds);
}

/* Three significant digits, and the least and most beside them; empty for NaN. */
static const char *spread_text(char *text, size_t len, attest_bench_spread s)
{
    const int digits = s.median >= 99.95 ? 0 : s.median >= 9.995 ? 1 : s.median >= 0.9995 ? 2 : 3;
    text[0] = '\0';
    if (s.median == s.median)
        snprintf(text, len, "%.*f [%.*f .. %.*f]", digits, s.median, digits, s.least, digits, s.most);
    return text;
}

static attest_bench_spread scaled(attest_bench_spread s, double by)
{
    return (attest_bench_spread){ s.median * by, s.least * by, s.most * by };
}

static double largest_bound(const attest_bench_job *job, int64_t *unknown)
{
    double most = 0;
    *unknown = 0;
    for (int64_t at = 0; at < job->enclosures.count; at++) {
        const double bound = job->enclosures.bound[at];
        *unknown += !(bound < INFINITY);
        most = bound < INFINITY && bound > most ? bound : most;
    }
    return most;
}

/* A dd row's time over that of the formula's multiply-adds in double at the machine's peak: what certainty costs. */
static attest_bench_spread over_peak(const attest_bench_table *table, const attest_bench_job *job)
{
    int lanes;
    const char *what;
    const int64_t burst = attest_machine_burst(&lanes, &what);
    if (table->machine < 0 || table->job[table->machine].why[0])
        return (attest_bench_spread){ NAN, NAN, NAN };
    const double work = (double)attest_bench_multiply_adds(job->p) * (double)table->pairs / lanes / (double)burst;
    const double threads = job->options.threads > 1 ? job->options.threads : 1;
    return scaled(attest_bench_ratio(job->sample, table->job[table->machine].sample, table->rounds), threads / work);
}

static void print_row(FILE *out, const attest_bench_table *table, int n)
{
    const attest_bench_job *job = &table->job[n];
    char time[80], mpfr[80], naive[80], dd[80], error[40] = "";
    if (job->why[0]) {
        fprintf(out, "| %s | %s | %s |  |  |  |  |  |\n", job->name, job->source, job->why);
        return;
    }
    const attest_bench_spread s = attest_bench_time(job->sample, table->rounds);
    if (job->error == job->error)
        snprintf(error, sizeof error, "%.1e", job->error);
    fprintf(out, "| %s | %s | %s | %.4g | %s | %s | %s | %s |\n", job->name, job->source,
            spread_text(time, sizeof time, scaled(s, 1e3)), s.median * 1e9 / (double)table->pairs,
            spread_text(mpfr, sizeof mpfr, over(table, table->mpfr, n)),
            spread_text(naive, sizeof naive, over(table, n, table->naive)),
            spread_text(dd, sizeof dd, over(table, n, table->best)), error);
}

static void print_dd(FILE *out, const attest_bench_table *table, const attest_bench_job *job)
{
    char text[80];
    int64_t unknown;
    const double bound = largest_bound(job, &unknown);
    fprintf(out, "%s: %s times the formula's %lld multiply-adds a pair in double at the machine's peak; ", job->name,
            spread_text(text, sizeof text, over_peak(table, job)), (long long)attest_bench_multiply_adds(job->p));
    fprintf(out, "largest bound 2^%.1f, %lld outputs without one\n", log2(bound), (long long)unknown);
}

/* What the yardstick is worth: its calls, what each costs, what it needs beside them. */
static void print_honesty(FILE *out, const attest_bench_table *table)
{
    if (table->mpfr < 0 || table->costs < 0)
        return;
    const attest_bench_job *mpfr = &table->job[table->mpfr];
    fprintf(out, "mpfr-128 adds products by %s: least time / sum of calls x least cost = %.3f (honest up to 1.15);",
            mpfr->product == ATTEST_YARD_FUSED ? "mpfr_fma" : "mpfr_mul and mpfr_add", attest_bench_honesty(table));
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
    const int64_t burst = attest_machine_burst(&lanes, &what);
    attest_machine_name(name, sizeof name);
    fprintf(out, "%s", name);
    if (table->machine >= 0) {
        const double rate = 1e-9 * (double)burst /
                            attest_bench_time(table->job[table->machine].sample, table->rounds).median;
        fprintf(out, "; peak of one core %.2f x %s a ns, %.1f double flops a ns", rate, what, 2 * rate * lanes);
    }
    fprintf(out, "; peak memory of the process %.0f MiB\n", attest_machine_peak_memory());
}

static void print_kernels(FILE *out, const attest_bench_table *table)
{
    fprintf(out, "| kernel | source | time ms | ns/pair | time / naive-f32 | verdict | max error/bound |\n"
                 "|---|---|---|---|---|---|---|\n");
    for (int n = 0; n < (int)table->count; n++) {
        const attest_bench_job *job = &table->job[n];
        char time[80], naive[80], ratio[40] = "";
        if (job->why[0]) {
            fprintf(out, "| %s | %s | %s |  |  |  |  |\n", job->name, job->source, job->why);
            continue;
        }
        const attest_bench_spread s = attest_bench_time(job->sample, table->rounds);
        if (table->judged[n].ratio_hi == table->judged[n].ratio_hi)
            snprintf(ratio, sizeof ratio, "%.3g", table->judged[n].ratio_hi);
        fprintf(out, "| %s | %s | %s | %.4g | %s | %s | %s |\n", job->name, job->source,
                spread_text(time, sizeof time, scaled(s, 1e3)), s.median * 1e9 / (double)table->pairs,
                spread_text(naive, sizeof naive, over(table, n, table->naive)),
                table->judged[n].verdict == ATTEST_SKIP ? "" : attest_verdict_names[table->judged[n].verdict], ratio);
    }
}

void attest_bench_print(FILE *out, const attest_bench_table *table)
{
    fprintf(out, "\n%s\n%lld visible pairs; %d rounds, all rows in turn; median [least .. most]; processor time, but "
                 "wall clock for rows with several threads\n\n",
            table->line, (long long)table->pairs, table->rounds);
    if (table->judged) {
        print_kernels(out, table);
    } else {
        fprintf(out, "| engine | source | time ms | ns/pair | mpfr-128 / this | this / naive-f32 | this / %s | "
                     "max abs(o - dd) |\n|---|---|---|---|---|---|---|---|\n",
                table->best >= 0 ? table->job[table->best].name : "dd");
        for (int n = 0; n < (int)table->count; n++)
            if (is_row(&table->job[n]))
                print_row(out, table, n);
    }
    fprintf(out, "\n");
    for (size_t n = 0; n < table->count; n++)
        if (table->job[n].kind == ATTEST_BENCH_DD && !table->job[n].why[0])
            print_dd(out, table, &table->job[n]);
    print_honesty(out, table);
    print_machine(out, table);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */
static void json_number(FILE *out, const char *key, double x)
{
    if (isfinite(x))
        fprintf(out, ",\"%s\":%.9g", key, x);
    else
        fprintf(out, ",\"%s\":null", key);
}

static void json_spread(FILE *out, const char *key, attest_bench_spread s)
{
    if (s.median == s.median)
        fprintf(out, ",\"%s\":[%.9g,%.9g,%.9g]", key, s.median, s.least, s.most);
    else
        fprintf(out, ",\"%s\":null", key);
}

static void json_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, ",\"%s\":\"", key);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    fputc('"', out);
}

static void json_mpfr(FILE *out, const attest_bench_table *table)
{
    json_text(out, "product", table->job[table->mpfr].product == ATTEST_YARD_FUSED ? "fma" : "mul+add");
    json_number(out, "time_over_calls", attest_bench_honesty(table));
    for (int call = 0; call < ATTEST_YARD_CALLS; call++) {
        fprintf(out, ",\"%s\":%lld", attest_yard_call_name(call), (long long)table->job[table->mpfr].calls[call]);
        fprintf(out, ",\"%s_ns\":%.4g", attest_yard_call_name(call), 1e9 * attest_bench_call_cost(table, call));
    }
}

static void json_row(FILE *out, const attest_bench_table *table, int n)
{
    const attest_bench_job *job = &table->job[n];
    int64_t unknown;
    fprintf(out, "{\"bench\":\"%s\"", table->judged ? "kernels" : "reference");
    json_text(out, "problem", table->line);
    json_text(out, "name", job->name);
    json_text(out, "source", job->source);
    fprintf(out, ",\"pairs\":%lld,\"rounds\":%d,\"repeats\":%d", (long long)table->pairs, table->rounds, job->repeats);
    json_text(out, "not_timed", job->why);
    const int timed = !job->why[0];
    const attest_bench_spread none = { NAN, NAN, NAN },
                              time = timed ? attest_bench_time(job->sample, table->rounds) : none;
    json_spread(out, "seconds", time);
    json_number(out, "ns_per_pair", time.median * 1e9 / (double)table->pairs);
    json_spread(out, "mpfr_over_this", over(table, table->mpfr, n));
    json_spread(out, "this_over_naive", over(table, n, table->naive));
    json_spread(out, "this_over_dd", over(table, n, table->best));
    json_number(out, "max_abs_off_dd", job->error);
    if (job->kind == ATTEST_BENCH_DD && timed) {
        json_number(out, "largest_bound", largest_bound(job, &unknown));
        fprintf(out, ",\"without_bound\":%lld", (long long)unknown);
        json_spread(out, "this_over_peak", over_peak(table, job));
    }
    if (n == table->mpfr)
        json_mpfr(out, table);
    if (table->judged) {
        json_text(out, "verdict",
                  table->judged[n].verdict == ATTEST_SKIP ? "" : attest_verdict_names[table->judged[n].verdict]);
        json_number(out, "max_ratio", table->judged[n].ratio_hi);
    }
    fprintf(out, "}\n");
}

void attest_bench_print_json(FILE *out, const attest_bench_table *table)
{
    char name[320];
    int lanes;
    const char *what;
    const int64_t burst = attest_machine_burst(&lanes, &what);
    for (int n = 0; n < (int)table->count; n++)
        if (is_row(&table->job[n]))
            json_row(out, table, n);
    attest_machine_name(name, sizeof name);
    fprintf(out, "{\"bench\":\"machine\"");
    json_text(out, "cpu", name);
    if (table->machine >= 0) {
        const double seconds = attest_bench_time(table->job[table->machine].sample, table->rounds).median;
        json_text(out, "instruction", what);
        json_number(out, "instructions_per_ns", 1e-9 * (double)burst / seconds);
        json_number(out, "flops_per_ns", 2e-9 * lanes * (double)burst / seconds);
    }
    json_number(out, "peak_memory_mib", attest_machine_peak_memory());
    fprintf(out, "}\n");
}
