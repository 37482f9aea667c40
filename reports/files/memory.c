/* memory.c - see memory.h. */
#include "reports/files/memory.h"

#include <errno.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int starved;

/* What jansson gets when there is no memory: its reader of strings ends the program by an assertion where one of its
 * buffers did not grow.  Taken once, never given back: after it, all that is read and printed is refused anyway. */
enum { RESERVE = 1 << 18 };
static _Alignas(max_align_t) unsigned char reserve[RESERVE];
static atomic_size_t reserved;

static void *take(size_t size)
{
    void *pointer = malloc(size);
    if (pointer)
        return pointer;
    starved = 1;
    if (size > RESERVE)
        return NULL;
    const size_t whole = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    size_t at = atomic_load(&reserved);
    do { /* what does not fit takes nothing away */
        if (whole > RESERVE - at)
            return NULL;
    } while (!atomic_compare_exchange_weak(&reserved, &at, at + whole));
    return reserve + at;
}

void attest_json_release(void *pointer)
{
    const unsigned char *p = pointer;
    if (!p || p < reserve || p >= reserve + RESERVE)
        free(pointer);
}

void attest_json_begin(void) { json_set_alloc_funcs(take, attest_json_release); }

void attest_starve(void) { starved = 1; }
int attest_starved(void) { return starved; }

attest_status attest_print_failed(attest_error *err, const char *what)
{
    if (starved)
        return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for all of it", what);
    return attest_fail(err, attest_of_errno(ATTEST_IO), "%s: write failed: %s", what, strerror(errno));
}
