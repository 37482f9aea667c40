/* stop.c - see stop.h.  The only state of attest that is not somebody's own: a handler has no argument. */
#include "verify/base/stop.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t noted;

static void note(int signal_number) { noted = signal_number; }

void attest_stop_watch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    action.sa_flags = (int)SA_RESETHAND; /* the second one has its usual effect */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int attest_stop_signal(void) { return noted; }
