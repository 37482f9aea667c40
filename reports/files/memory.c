/* memory.c - see memory.h. */
#include "reports/files/memory.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int starved;

static void *take(size_t size)
{
    void *pointer = malloc(size);
    starved |= !pointer;
    return pointer;
}

void attest_json_begin(void) { json_set_alloc_funcs(take, free); }

void attest_starve(void) { starved = 1; }
int attest_starved(void) { return starved; }

attest_status attest_print_failed(attest_error *err, const char *what)
{
    if (starved)
        return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for all of it", what);
    return attest_fail(err, attest_of_errno(ATTEST_IO), "%s: write failed: %s", what, strerror(errno));
}
