/* bench_json.c - a table of `attest bench` as JSON lines; README.md lists the keys. */
#include <math.h>

#include "verify/bench/bench_table.h"
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

/* Seconds of each round, to the last bit. */
static void json_samples(FILE *out, const char *key, const double *sample, int rounds)
{
    fprintf(out, ",\"%s\":[", key);
    for (int r = 0; sample && r < rounds; r++)
        fprintf(out, "%s%.17g", r ? "," : "", sample[r]);
    fprintf(out, "]");
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
        fprintf(out, ",\"%s_ns\":%.17g", attest_yard_call_name(call), 1e9 * attest_bench_call_cost(table, call));
    }
}

static void json_dd(FILE *out, const attest_bench_table *table, const attest_bench_job *job)
{
    int64_t known;
    json_text(out, "path", job->options.path);
    json_text(out, "tiers", "proved");
    json_number(out, "largest_bound", attest_bench_largest_bound(job, &known));
    fprintf(out, ",\"with_bound\":%lld,\"without_bound\":%lld", (long long)known,
            (long long)(job->enclosures.count - known));
    json_spread(out, "this_over_peak", attest_bench_over_peak(table, job));
}

static void json_times(FILE *out, const attest_bench_table *table, int n)
{
    const attest_bench_job *job = &table->job[n];
    const attest_bench_spread none = { NAN, NAN, NAN },
                              time = job->why[0] ? none : attest_bench_time(job->sample, table->rounds);
    fprintf(out, ",\"pairs\":%lld,\"rounds\":%d,\"repeats\":%d", (long long)table->pairs, table->rounds, job->repeats);
    fprintf(out, ",\"threads\":%d", job->options.threads > 1 ? job->options.threads : 1);
    json_text(out, "clock", job->options.threads > 1 ? "wall" : "processor");
    json_text(out, "not_timed", job->why);
    json_samples(out, "samples", job->sample, table->rounds);
    json_samples(out, "wall_samples", job->walls, table->rounds);
    json_spread(out, "seconds", time);
    json_number(out, "ns_per_pair", time.median * 1e9 / (double)table->pairs);
    json_spread(out, "mpfr_over_this", attest_bench_over(table, table->mpfr, n));
    json_spread(out, "this_over_naive", attest_bench_over(table, n, table->naive));
    json_text(out, "dd", table->best >= 0 ? table->job[table->best].name : "");
    json_spread(out, "this_over_dd", attest_bench_over(table, n, table->best));
    if (n == table->threaded)
        json_spread(out, "speed_up", attest_bench_speed_up(table));
}

static void json_row(FILE *out, const attest_bench_table *table, int n)
{
    const attest_bench_job *job = &table->job[n];
    fprintf(out, "{\"bench\":\"%s\"", table->judged ? "kernels" : "reference");
    json_text(out, "problem", table->line);
    json_text(out, "name", job->name);
    json_text(out, "source", job->source);
    json_times(out, table, n);
    json_number(out, "max_abs_off_dd", job->error);
    fprintf(out, ",\"compared\":%lld", (long long)job->compared);
    if (job->kind == ATTEST_BENCH_DD && !job->why[0])
        json_dd(out, table, job);
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
    const double rate = attest_bench_rate(table);
    for (int n = 0; n < (int)table->count; n++)
        if (attest_bench_is_row(&table->job[n]))
            json_row(out, table, n);
    attest_machine_name(name, sizeof name);
    fprintf(out, "{\"bench\":\"machine\"");
    json_text(out, "cpu", name);
    if (table->machine >= 0) {
        json_text(out, "instruction", what);
        fprintf(out, ",\"instructions\":%lld", (long long)burst);
        json_samples(out, "samples", table->job[table->machine].sample, table->rounds);
        json_number(out, "instructions_per_ns", rate);
        json_number(out, "flops_per_ns", 2 * rate * lanes);
    }
    json_number(out, "peak_memory_so_far_mib", attest_machine_peak_memory());
    fprintf(out, "}\n");
}
