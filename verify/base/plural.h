/* plural.h - the word after a count. */
#ifndef ATTEST_PLURAL_H
#define ATTEST_PLURAL_H

#include <stdint.h>

/* `one` of 1, else `several`: "1 kernel", "2 kernels", "0 kernels". */
static inline const char *attest_plural(int64_t count, const char *one, const char *several)
{
    return count == 1 ? one : several;
}

#endif
