/* run_info.c - run.json: how far a run came, which --resume and the page read. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "reports/report.h"

static int take(const uint8_t *data, size_t size)
{
    attest_run_info info;
    attest_error err;
    char banner[256];
    const attest_status status = attest_run_info_read(&info, fuzz_file(data, size), &err);
    if (status != ATTEST_OK)
        return fuzz_refused(status, &err);
    FUZZ_CHECK(fuzz_is_clean(info.ended) && fuzz_is_clean(info.suite) && fuzz_is_clean(info.options));
    attest_run_info_banner(banner, sizeof banner, &info, 1);
    FUZZ_CHECK(memchr(banner, '\0', sizeof banner));
    return 1;
}

extern const fuzz_reader fuzz_run_info;
const fuzz_reader fuzz_run_info = { "run_info", take, NULL };
