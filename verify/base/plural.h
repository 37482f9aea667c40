/* counted.h - the word after a count. */
#ifndef ATTEST_COUNTED_H
#define ATTEST_COUNTED_H

#include <stdint.h>

/* `one` of 1, else `several`: "1 kernel", "2 kernels", "0 kernels". */
static inline const char *attest_counted(int64_t count, const char *one, const char *several)
{
    return count == 1 ? one : several;
}

#endif
