/* trust.h - what the reference rests on: the lemmas of derivations.md, the compiler and the libraries it runs with.
 *
 * The table of lemmas is made from the document by tables/lemmas.awk at build time: it says what the document says.
 */
#ifndef ATTEST_TRUST_H
#define ATTEST_TRUST_H

#include <stddef.h>

typedef struct attest_lemma {
    const char *name;      /* R-...: proved there; C-...: cited, not proved again */
    const char *section;   /* its heading, without the marks */
    const char *statement; /* as written there, up to its proof */
    const char *source;    /* of C-..., else "" */
} attest_lemma;

extern const attest_lemma attest_lemmas[];
extern const size_t attest_lemma_count;

/* `loaded`: the version that the library itself states, at run time; `compiled`: that of its header. */
typedef struct attest_library_version {
    const char *name;
    char loaded[64], compiled[64];
} attest_library_version;

/* Fills list[0..len-1] with FLINT, Arb where it is a library of its own, MPFR and GMP; returns how many there are. */
#define ATTEST_LIBRARIES_MAX 4
size_t attest_reference_libraries(attest_library_version *list, size_t len);

/* Name and version of the compiler of reference/, with the options that decide what its arithmetic means. */
const char *attest_reference_compiler(void);

#endif
