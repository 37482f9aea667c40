/* stop.c - see stop.h.  The only state of attest that is not somebody's own: a handler has no argument. */
#include "verify/base/stop.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t noted;

enum { STOPS = 3 };
static const struct {
    int number;
    const char *name;
} stops[STOPS] = { { SIGINT, "SIGINT" }, { SIGTERM, "SIGTERM" }, { SIGHUP, "SIGHUP" } };

static void note(int signal_number) { noted = signal_number; }

void attest_stop_watch(void)
{
    struct sigaction action, was;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < STOPS; i++) {
        const int hangup = stops[i].number == SIGHUP;
        if (hangup && (sigaction(SIGHUP, NULL, &was) != 0 || was.sa_handler == SIG_IGN))
            continue;
        action.sa_flags = hangup ? 0 : (int)SA_RESETHAND; /* the second one has its usual effect */
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
