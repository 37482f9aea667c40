#!/bin/sh
# run.sh: one job of a CI system, whichever it is. It reads the environment:
#     ATTEST_TARGET     what is judged: LIB.so, LIB.so:KERNEL, or the name or glob of built-in kernels
#     ATTEST_EXEC       in place of it: a program behind stdin and stdout (`audit --exec`): Python, Rust, ..
#     ATTEST_BUILD      a command that makes it, run first; empty: it is there
#     ATTEST_SUITE      smoke, ci (default), full, or a file
#     ATTEST_BASELINE   a reviewed baseline to compare with; empty: none
#     ATTEST_OUT        the folder of results and page (default attest-report)
#     ATTEST            the program (default attest)
# Exit code: that of the build where it fails, else that of the audit (0 pass, 1 fail, 3 crash, 4 inconclusive, ...). The
# page is made of each run that began, also of one that a signal ends, which is 143 here. Of an earlier run in the folder
# nothing stays: no report shows it as this one.
set -u
attest=${ATTEST:-attest} out=${ATTEST_OUT:-attest-report}
if [ -z "${ATTEST_TARGET:-}${ATTEST_EXEC:-}" ]; then
    echo "run.sh: ATTEST_TARGET is empty: a library, or the name of built-in kernels (or ATTEST_EXEC: a program)" >&2
    exit 2
fi
for file in results.jsonl results.csv junit.xml results.sarif code-quality.json summary.md trust.json run.json \
    traits.jsonl noticed.json order.json index.html; do
    rm -f "$out/$file"
done
for failure in "$out"/*/failure.txt; do # the folders of broken properties
    [ ! -f "$failure" ] || rm -r "${failure%/failure.txt}"
done
if [ -n "${ATTEST_BUILD:-}" ]; then
    sh -c "$ATTEST_BUILD"
    code=$?
    [ $code = 0 ] || exit $code
fi
if [ -n "${ATTEST_EXEC:-}" ]; then
    set -- --exec "$ATTEST_EXEC"
else
    set -- "$ATTEST_TARGET"
fi
"$attest" audit "$@" --suite "${ATTEST_SUITE:-ci}" --out "$out" ${ATTEST_BASELINE:+--baseline "$ATTEST_BASELINE"} &
audit=$!
trap 'kill -TERM $audit 2>/dev/null' INT TERM HUP # the shell would leave it to run on
wait $audit
code=$?
while kill -0 $audit 2>/dev/null; do # a signal ended the wait alone
    wait $audit
    code=$?
done
[ ! -f "$out/results.jsonl" ] || "$attest" report "$out" --quiet
exit $code
