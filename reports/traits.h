/* traits.h - a kernel's arithmetic as declared and as inferred: an entry a trait; their table, file, part of the page.
 *
 * The entries are made by verify/classify/classify.h; here they are only told.  DIR/traits.jsonl has one object a line,
 * with the fields of attest_trait in their order, all of them texts.
 */
#ifndef ATTEST_TRAITS_H
#define ATTEST_TRAITS_H

#include <stdio.h>

#include "kernels/status.h"

typedef enum attest_trait_verdict {
    ATTEST_TRAIT_AGREES = 0,     /* looser by at most 4x counts as agreeing */
    ATTEST_TRAIT_FINDING = 1,    /* declared looser than inferred by more than 4x */
    ATTEST_TRAIT_FAIL = 2,       /* declared tighter than two probes infer, or another convention */
    ATTEST_TRAIT_UNDECLARED = 3, /* inferred; the kernel declares nothing */
    ATTEST_TRAIT_HIDDEN = 4,     /* not visible: `why` says why not */
    ATTEST_TRAIT_REMARK = 5,     /* the same by one probe alone: `why` tells what the second says; no verdict */
    ATTEST_TRAIT_VERDICT_COUNT = 6
} attest_trait_verdict;

extern const char *const attest_trait_verdict_names[ATTEST_TRAIT_VERDICT_COUNT];

typedef struct attest_trait {
    char kernel[512]; /* name, or lib.so:name */
    char trait[32], declared[48], inferred[48];
    uint32_t verdict; /* attest_trait_verdict */
    char why[200];    /* one line; may be empty */
} attest_trait;

typedef struct attest_traits {
    attest_trait *trait;
    size_t count, capacity;
} attest_traits;

attest_status attest_traits_add(attest_traits *traits, const attest_trait *trait, attest_error *err);
void attest_traits_clear(attest_traits *traits);

/* A table for each kernel, findings and failures marked by their verdict. */
attest_status attest_traits_print(FILE *out, const attest_traits *traits, attest_error *err);
/* One JSON object and a newline. */
attest_status attest_trait_print_json(FILE *out, const attest_trait *trait);

attest_status attest_traits_write_jsonl(const attest_traits *traits, const char *path, attest_error *err);
/* Appends; a bad line is ATTEST_BAD_INPUT naming file and line. */
attest_status attest_traits_read_jsonl(attest_traits *traits, const char *path, attest_error *err);

/* The section of the page: nothing without an entry. */
attest_status attest_traits_print_html(FILE *out, const attest_traits *traits, attest_error *err);

#endif
