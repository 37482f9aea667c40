/* stop.c - see stop.h.  The only state of attest that is not somebody's own: a handler has no argument. */
#include "verify/base/stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t noted;

/* Nanoseconds after a signal in which another one of its number is taken for the same request. */
#define SAME_REQUEST 500000000

enum { STOPS = 3 };
static const struct {
    int number;
    const char *name;
} stops[STOPS] = { { SIGINT, "SIGINT" }, { SIGTERM, "SIGTERM" }, { SIGHUP, "SIGHUP" } };

/* When the first of each came, in nanoseconds; 0: none did.  Two threads may have a handler each at once. */
static _Atomic int64_t first[STOPS];
#if ATOMIC_LLONG_LOCK_FREE != 2
#error "a signal handler needs atomic 64-bit numbers without locks"
#endif

static int place_of(int signal_number)
{
    int i = 0;
    while (i < STOPS - 1 && stops[i].number != signal_number)
        i++;
    return i;
}

/* Async-signal-safe. */
static void note(int signal_number)
{
    struct timespec now;
    int64_t before = 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t at = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + 1;
    if (atomic_compare_exchange_strong(&first[place_of(signal_number)], &before, at)) {
        noted = signal_number;
    } else if (signal_number != SIGHUP && at - before > SAME_REQUEST) {
        signal(signal_number, SIG_DFL); /* its usual effect, once this handler returns */
        raise(signal_number);
    }
}

void attest_stop_watch(void)
{
    struct sigaction action, was;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < STOPS; i++) {
        if (stops[i].number == SIGHUP && (sigaction(SIGHUP, NULL, &was) != 0 || was.sa_handler == SIG_IGN))
            continue;
        sigaction(stops[i].number, &action, NULL);
    }
}

int attest_stop_signal(void) { return noted; }

const char *attest_stop_name(void)
{
    const int number = noted;
    for (int i = 0; i < STOPS; i++)
        if (stops[i].number == number)
            return stops[i].name;
    return NULL;
}

int attest_stop_exit(const char *name)
{
    for (int i = 0; i < STOPS; i++)
        if (strcmp(stops[i].name, name) == 0)
            return 128 + stops[i].number;
    return 0;
}
