/* trust.h - what the verdicts of a run rest on: a list of facts beside its results, DIR/trust.json.
 *
 * The gate writes it with the results, so that the page tells what judged them, whoever makes the page later.
 * An array of objects {"kind", "name", "text", "source"}, all strings.
 */
#ifndef ATTEST_REPORTS_TRUST_H
#define ATTEST_REPORTS_TRUST_H

#include <stdio.h>

#include "kernels/status.h"

/* kind `base`: name what, text which version; `proved`: name a lemma, text its statement, source where it stands;
 * `cited`: name, statement, source of what is taken on trust.  The strings are owned by the list. */
typedef struct attest_fact {
    char *kind, *name, *text, *source;
} attest_fact;

typedef struct attest_facts {
    attest_fact *fact;
    size_t count, capacity;
} attest_facts;

/* Copies the four strings; on failure the list is as it was. */
attest_status attest_facts_add(attest_facts *facts, const char *kind, const char *name, const char *text,
                               const char *source, attest_error *err);
void attest_facts_clear(attest_facts *facts);

attest_status attest_facts_write(const attest_facts *facts, const char *path, attest_error *err);
/* Appends, texts made clean (text.h) and of at most 4095 bytes; ATTEST_BAD_INPUT names the file and the entry that is
 * no such object. */
attest_status attest_facts_read(attest_facts *facts, const char *path, attest_error *err);

#endif
