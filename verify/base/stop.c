/* stop.c - see stop.h.  The only state of attest that is not somebody's own: a handler has no argument. */
#include "verify/base/stop.h"

#include <signal.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t noted;
static volatile double first; /* when: written before `noted`, by the first signal alone */

/* Seconds after the first signal in which another one is taken for the same request. */
#define SAME_REQUEST 0.5

enum { STOPS = 3 };
static const struct {
    int number;
    const char *name;
} stops[STOPS] = { { SIGINT, "SIGINT" }, { SIGTERM, "SIGTERM" }, { SIGHUP, "SIGHUP" } };

/* Async-signal-safe. */
static void note(int signal_number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (!noted) {
        first = seconds;
        noted = signal_number;
    } else if (signal_number != SIGHUP && seconds - first > SAME_REQUEST) {
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
