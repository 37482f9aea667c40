/* memory.h - output that is not whole, because there was no memory for all of it.
 *
 * jansson leaves out what it has no memory for, and says so in one place or in none.  After attest_json_begin(), to be
 * called before anything of jansson, attest_starved() is 1 in a thread in which it had none, or where attest_starve()
 * was called: what was read or printed since is not whole, and no JSON is printed any more.
 */
#ifndef ATTEST_MEMORY_H
#define ATTEST_MEMORY_H

#include "kernels/status.h"

void attest_json_begin(void);
/* free() of what jansson allocated, json_dumps() too. */
void attest_json_release(void *pointer);
void attest_starve(void);
int attest_starved(void);

/* ATTEST_NO_MEMORY there, else ATTEST_IO: "WHAT: ..." */
attest_status attest_print_failed(attest_error *err, const char *what);

#endif
