/* bench_figures.c - figures that two jobs of a table make together. */
#include "verify/bench/bench_table.h"

#include <math.h>
#include <string.h>

int64_t attest_bench_multiply_adds(const attest_problem *p) { return attest_feature_dim(p) + p->e; }

double attest_bench_call_cost(const attest_bench_table *table, int call)
{
    double cost[ATTEST_BENCH_ROUNDS_MAX];
    if (table->costs < 0)
        return NAN;
    for (int r = 0; r < table->rounds && r < ATTEST_BENCH_ROUNDS_MAX; r++)
        cost[r] = table->job[table->costs].costs[r][call];
    return attest_bench_time(cost, table->rounds).least;
}

double attest_bench_honesty(const attest_bench_table *table)
{
    double sum = 0;
    if (table->costs < 0 || table->mpfr < 0)
        return NAN;
    const attest_bench_job *mpfr = &table->job[table->mpfr];
    for (int call = 0; call < ATTEST_YARD_CALLS; call++)
        sum += (double)mpfr->calls[call] * attest_bench_call_cost(table, call);
    return attest_bench_time(mpfr->sample, table->rounds).least / sum;
}

int attest_bench_unreliable(const attest_bench_table *table)
{
    const attest_problem *p = &table->own.c.problem;
    return attest_bench_honesty(table) > ATTEST_BENCH_HONEST && table->pairs * (p->d + p->e) >= ATTEST_BENCH_LARGE;
}

static const attest_bench_spread unknown = { NAN, NAN, NAN };

static attest_bench_spread scaled(attest_bench_spread s, double by)
{
    return (attest_bench_spread){ s.median * by, s.least * by, s.most * by };
}

static int timed(const attest_bench_table *table, int n) { return n >= 0 && !table->job[n].why[0]; }

attest_bench_spread attest_bench_over(const attest_bench_table *table, int n, int by)
{
    if (!timed(table, n) || !timed(table, by))
        return unknown;
    const attest_bench_job *a = &table->job[n], *b = &table->job[by];
    if (a->device.memory || b->device.memory)
        return attest_bench_ratio(a->walls, b->walls, table->rounds);
    return attest_bench_ratio(a->sample, b->sample, table->rounds);
}

attest_bench_spread attest_bench_speed_up(const attest_bench_table *table)
{
    const int one = table->best, more = table->threaded;
    if (!timed(table, one) || !timed(table, more) ||
        strcmp(table->job[one].options.path, table->job[more].options.path) != 0)
        return unknown;
    return attest_bench_ratio(table->job[one].walls, table->job[more].walls, table->rounds);
}

attest_bench_spread attest_bench_kernel_speed_up(const attest_bench_table *table, int n)
{
    if (table->job[n].options.threads < 2 || !timed(table, n) || !timed(table, n - 1))
        return unknown;
    return attest_bench_ratio(table->job[n - 1].walls, table->job[n].walls, table->rounds);
}

attest_bench_spread attest_bench_of_multiply_adds(const attest_bench_table *table, int n)
{
    int lanes;
    const char *what;
    const int64_t burst = attest_machine_burst(&lanes, &what);
    if (!timed(table, table->machine) || !timed(table, n) || table->job[n].device.memory)
        return unknown;
    const attest_bench_job *job = &table->job[n];
    const int width = job->p->acc == ATTEST_F64 ? lanes : 2 * lanes;
    const double work = (double)attest_bench_multiply_adds(job->p) * (double)table->pairs / width / (double)burst;
    const int threads = job->options.threads > 1 ? job->options.threads : 1;
    return scaled(attest_bench_ratio(table->job[table->machine].sample, job->sample, table->rounds), work / threads);
}

/* `work` over the time of row n. */
static attest_bench_spread rate(const attest_bench_table *table, int n, double work)
{
    const attest_bench_spread time = attest_bench_time(table->job[n].sample, table->rounds);
    return (attest_bench_spread){ work / time.median, work / time.most, work / time.least };
}

attest_bench_spread attest_bench_tera(const attest_bench_table *table, int n)
{
    const attest_bench_job *job = &table->job[n];
    if (!timed(table, n) || !job->device.memory)
        return unknown;
    return rate(table, n, 2e-12 * (double)attest_bench_multiply_adds(job->p) * (double)table->pairs);
}

attest_bench_spread attest_bench_stream(const attest_bench_table *table, int n)
{
    if (!timed(table, n) || !table->job[n].device.memory)
        return unknown;
    return rate(table, n, 1e-9 * (double)table->job[n].device.bytes);
}

attest_bench_spread attest_bench_of_reading(const attest_bench_table *table, int n)
{
    if (!timed(table, table->reading) || !timed(table, n))
        return unknown;
    const attest_bench_job *job = &table->job[n], *read = &table->job[table->reading];
    if (attest_bench_by_wall(job)) /* the yardstick is one core's */
        return unknown;
    return scaled(attest_bench_ratio(read->sample, job->sample, table->rounds),
                  (double)attest_bench_input_bytes(job->in) / (double)read->workspace_size);
}

attest_bench_spread attest_bench_over_peak(const attest_bench_table *table, const attest_bench_job *job)
{
    int lanes;
    const char *what;
    const int64_t burst = attest_machine_burst(&lanes, &what);
    if (!timed(table, table->machine) || job->why[0])
        return unknown;
    const double work = (double)attest_bench_multiply_adds(job->p) * (double)table->pairs / lanes / (double)burst;
    const double threads = job->options.threads > 1 ? job->options.threads : 1;
    return scaled(attest_bench_ratio(job->sample, table->job[table->machine].sample, table->rounds), threads / work);
}

double attest_bench_largest_bound(const attest_bench_job *job, int64_t *known)
{
    double most = NAN;
    *known = 0;
    for (int64_t at = 0; at < job->enclosures.count; at++) {
        const double bound = job->enclosures.bound[at];
        *known += bound < INFINITY;
        most = bound < INFINITY && !(bound <= most) ? bound : most;
    }
    return most;
}

double attest_bench_rate(const attest_bench_table *table)
{
    int lanes;
    const char *what;
    const int64_t burst = attest_machine_burst(&lanes, &what);
    if (!timed(table, table->machine))
        return NAN;
    return 1e-9 * (double)burst / attest_bench_time(table->job[table->machine].sample, table->rounds).median;
}
