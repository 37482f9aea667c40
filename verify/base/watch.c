/* watch.c - see watch.h. */
#include "verify/base/watch.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "verify/base/clock.h"

enum { CODE_LATE = 4, TEXT = 256 };

struct attest_watch {
    attest_watch_options options;
    int64_t (*done)(const void *context); /* NULL: only time is told */
    const void *context;
    const char *unit;
    double start;
    pthread_t thread;
    pthread_mutex_t lock; /* held but while the thread waits: who ends the watch knows that the process goes on */
    pthread_cond_t changed;
    int ended, told; /* told: a line of progress stands on the terminal */
};

/* `12 rows of the truth in 3 s` */
static void say_done(char *text, size_t len, const attest_watch *w)
{
    const double seconds = attest_now_seconds() - w->start;
    if (w->done)
        snprintf(text, len, "%" PRId64 " %s in %.0f s", w->done(w->context), w->unit, seconds);
    else
        snprintf(text, len, "%.0f s", seconds);
}

static void tell_progress(attest_watch *w)
{
    char done[TEXT];
    say_done(done, sizeof done, w);
    fprintf(stderr, "\rattest %s: %s\033[K", w->options.command, done);
    w->told = 1;
}

static void clear_progress(attest_watch *w)
{
    if (w->told)
        fprintf(stderr, "\r\033[K");
    w->told = 0;
}

static void end_process(attest_watch *w)
{
    char done[TEXT];
    clear_progress(w);
    say_done(done, sizeof done, w);
    fprintf(stderr, "attest %s: %s=%g is over: %s, and nothing is told\n", w->options.command, w->options.option,
            w->options.limit_s, done);
    fflush(stderr);
    _exit(CODE_LATE);
}

static void *watch(void *context)
{
    attest_watch *w = context;
    pthread_mutex_lock(&w->lock);
    for (double next = 1; !w->ended;) {
        const double limit = w->options.limit_s, passed = attest_now_seconds() - w->start;
        if (limit >= 0 && passed >= limit)
            end_process(w);
        if (w->options.progress && passed >= next) {
            tell_progress(w);
            next = passed + 1;
        }
        double until = w->options.progress ? next : limit;
        until = w->start + (limit >= 0 && limit < until ? limit : until);
        const struct timespec at = { (time_t)until, (long)((until - (double)(time_t)until) * 1e9) };
        pthread_cond_timedwait(&w->changed, &w->lock, &at);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

attest_status attest_watch_start(attest_watch **watched, const attest_watch_options *options, attest_error *err)
{
    pthread_condattr_t clock;
    *watched = NULL;
    if (options->limit_s < 0 && !options->progress)
        return ATTEST_OK;
    attest_watch *w = calloc(1, sizeof *w);
    if (!w)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory to watch the time");
    w->options = *options;
    w->start = attest_now_seconds();
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &clock);
    pthread_condattr_destroy(&clock);
    if (pthread_create(&w->thread, NULL, watch, w) != 0) {
        free(w);
        return attest_fail(err, ATTEST_NO_MEMORY, "no thread to watch the time");
    }
    *watched = w;
    return ATTEST_OK;
}

void attest_watch_count(attest_watch *w, int64_t (*done)(const void *context), const void *context, const char *unit)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->done = done;
    w->context = context;
    w->unit = unit;
    pthread_mutex_unlock(&w->lock);
}

void attest_watch_end(attest_watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->ended = 1;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    clear_progress(w);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
