/* date.c - the date of a run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify/base/base.h"

#define LAST 253402300799 /* of the year 9999 */

attest_status attest_run_date(char text[32], attest_error *err)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    struct tm utc;
    time_t start = time(NULL);
    if (epoch) {
        char *end;
        errno = 0;
        const long long seconds = strtoll(epoch, &end, 10);
        if (strspn(epoch, "0123456789") == 0 || *end || errno || seconds > LAST)
            return attest_fail(err, ATTEST_BAD_INPUT, "SOURCE_DATE_EPOCH=%s: seconds since 1970, at most %lld", epoch,
                               (long long)LAST);
        start = (time_t)seconds;
    }
    if (!gmtime_r(&start, &utc) || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        return attest_fail(err, ATTEST_INTERNAL, "the clock shows no date");
    return ATTEST_OK;
}
