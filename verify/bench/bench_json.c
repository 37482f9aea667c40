/* bench_json.c - a table of `attest bench` as JSON lines; reports/docs/bench.md lists the keys. */
#include <math.h>

#include "reports/report.h"
#include "verify/bench/bench_table.h"

static void set(json_t *object, const char *key, json_t *value) { json_object_set_new(object, key, value); }

static json_t *text(const char *value) { return attest_json_text(value); }

/* What is no number, or no finite one, is null. */
static json_t *number(double x) { return isfinite(x) ? attest_json_number(x) : json_null(); }

static json_t *spread(attest_bench_spread s)
{
    return s.median == s.median ? json_pack("[o,o,o]", number(s.median), number(s.least), number(s.most)) : json_null();
}

/* Seconds of each round, to the last bit. */
static json_t *samples(const double *sample, int rounds)
{
    json_t *list = json_array();
    for (int r = 0; sample && r < rounds; r++)
        json_array_append_new(list, number(sample[r]));
    return list;
}

static void set_mpfr(json_t *to, const attest_bench_table *table)
{
    set(to, "product", text(table->job[table->mpfr].product == ATTEST_YARD_FUSED ? "fma" : "mul+add"));
    set(to, "time_over_calls", number(attest_bench_honesty(table)));
    for (int call = 0; call < ATTEST_YARD_CALLS; call++) {
        char key[64];
        set(to, attest_yard_call_name(call), json_integer(table->job[table->mpfr].calls[call]));
        snprintf(key, sizeof key, "%s_ns", attest_yard_call_name(call));
        set(to, key, number(1e9 * attest_bench_call_cost(table, call)));
    }
}

static void set_dd(json_t *to, const attest_bench_table *table, const attest_bench_job *job)
{
    int64_t known;
    const double bound = attest_bench_largest_bound(job, &known);
    set(to, "path", text(job->options.path));
    set(to, "tiers", text("proved"));
    set(to, "largest_bound", number(bound));
    set(to, "with_bound", json_integer(known));
    set(to, "without_bound", json_integer(job->enclosures.count - known));
    set(to, "this_over_peak", spread(attest_bench_over_peak(table, job)));
}

static void set_times(json_t *to, const attest_bench_table *table, int n)
{
    const attest_bench_job *job = &table->job[n];
    const attest_bench_spread none = { NAN, NAN, NAN },
                              time = job->why[0] ? none : attest_bench_time(job->sample, table->rounds);
    set(to, "pairs", json_integer(table->pairs));
    set(to, "rounds", json_integer(table->rounds));
    set(to, "repeats", json_integer(job->repeats));
    set(to, "threads", json_integer(job->options.threads > 1 ? job->options.threads : 1));
    set(to, "clock", text(attest_bench_by_wall(job) ? "wall" : "processor"));
    set(to, "not_timed", text(job->why));
    set(to, "samples", samples(job->sample, table->rounds));
    set(to, "wall_samples", samples(job->walls, table->rounds));
    set(to, "seconds", spread(time));
    set(to, "ns_per_pair", number(time.median * 1e9 / (double)table->pairs));
    set(to, "mpfr_over_this", spread(attest_bench_over(table, table->mpfr, n)));
    set(to, "this_over_naive", spread(attest_bench_over(table, n, table->naive)));
    set(to, "dd", text(table->best >= 0 ? table->job[table->best].name : ""));
    set(to, "this_over_dd", spread(attest_bench_over(table, n, table->best)));
    if (n == table->threaded)
        set(to, "speed_up", spread(attest_bench_speed_up(table)));
}

static json_t *row(const attest_bench_table *table, int n)
{
    const attest_bench_job *job = &table->job[n];
    json_t *to = json_object();
    set(to, "bench", text(table->judged ? "kernels" : "reference"));
    set(to, "problem", text(table->line));
    set(to, "name", text(job->name));
    set(to, "source", text(job->source));
    set_times(to, table, n);
    set(to, "max_abs_off_dd", number(job->error));
    set(to, "compared", json_integer(job->compared));
    if (job->kind == ATTEST_BENCH_DD && !job->why[0])
        set_dd(to, table, job);
    if (n == table->mpfr)
        set_mpfr(to, table);
    if (table->judged) {
        const attest_result *judged = &table->judged[n];
        set(to, "verdict", text(judged->verdict == ATTEST_SKIP ? "" : attest_verdict_names[judged->verdict]));
        set(to, "max_ratio", number(judged->ratio_hi));
        set(to, "of_multiply_adds", spread(attest_bench_of_multiply_adds(table, n)));
        set(to, "of_reading", spread(attest_bench_of_reading(table, n)));
        set(to, "device", text(attest_device_name(job->device.memory ? job->device.memory->device : ATTEST_CPU)));
        set(to, "tflops", spread(attest_bench_tera(table, n)));
        set(to, "gb_per_s", spread(attest_bench_stream(table, n)));
        if (job->options.threads > 1)
            set(to, "speed_up", spread(attest_bench_kernel_speed_up(table, n)));
    }
    return to;
}

static json_t *machine(const attest_bench_table *table)
{
    char name[320];
    int lanes;
    const char *what;
    const int64_t burst = attest_machine_burst(&lanes, &what);
    const double rate = attest_bench_rate(table);
    json_t *to = json_object();
    attest_machine_name(name, sizeof name);
    set(to, "bench", text("machine"));
    set(to, "cpu", text(name));
    if (table->machine >= 0) {
        set(to, "instruction", text(what));
        set(to, "instructions", json_integer(burst));
        set(to, "samples", samples(table->job[table->machine].sample, table->rounds));
        set(to, "instructions_per_ns", number(rate));
        set(to, "flops_per_ns", number(2 * rate * lanes));
    }
    if (table->reading >= 0) {
        set(to, "read_bytes", json_integer((json_int_t)table->job[table->reading].workspace_size));
        set(to, "read_samples", samples(table->job[table->reading].sample, table->rounds));
    }
    set(to, "peak_memory_so_far_mib", number(attest_machine_peak_memory()));
    return to;
}

void attest_bench_print_json(FILE *out, const attest_bench_table *table)
{
    for (int n = 0; n < (int)table->count; n++)
        if (attest_bench_is_row(&table->job[n]))
            attest_json_line(out, row(table, n));
    attest_json_line(out, machine(table));
}
