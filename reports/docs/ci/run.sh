#!/bin/sh
# run.sh: one job of a CI system, whichever it is. It reads the environment:
#     ATTEST_TARGET     what is judged: LIB.so, LIB.so:KERNEL, or the name or glob of built-in kernels
#     ATTEST_SUITE      smoke, ci (default), full, or a file
#     ATTEST_BASELINE   a reviewed baseline to compare with; empty: none
#     ATTEST_OUT        the folder of results and page (default attest-report)
#     ATTEST            the program (default attest)
# Exit code: that of the audit (0 pass, 1 fail, 3 crash, 4 inconclusive, ...); the page is made whatever it is.
set -u
attest=${ATTEST:-attest} out=${ATTEST_OUT:-attest-report}
if [ -z "${ATTEST_TARGET:-}" ]; then
    echo "run.sh: ATTEST_TARGET is empty: a library, or the name of built-in kernels" >&2
    exit 2
fi
"$attest" audit "$ATTEST_TARGET" --suite "${ATTEST_SUITE:-ci}" --out "$out" \
    ${ATTEST_BASELINE:+--baseline "$ATTEST_BASELINE"}
code=$?
[ ! -f "$out/results.jsonl" ] || "$attest" report "$out" --quiet
exit $code
