#!/bin/sh
# run.sh BUILD READER SECONDS [OPTION...]: one reader under libFuzzer; prints executions and findings, exit 1 with a
# finding.  What the run kept beside the corpus stays in BUILD/found/READER and is where the next run begins.
set -eu
build=$1 reader=$2 seconds=$3
shift 3
found=$build/found/$reader
mkdir -p "$found"
log=$build/$reader.log
code=0
# What argp holds when options.c leaves it is lost: looking for leaks after each input would take most of the time.
[ "$reader" != options ] || set -- -detect_leaks=0 "$@"
ASAN_OPTIONS=detect_stack_use_after_return=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
    "$build/run/$reader" -max_total_time="$seconds" -max_len=8192 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
    -verbosity=1 -artifact_prefix="$build/crash-$reader-" "$@" "$found" "tests/fuzz/corpus/$reader" >"$log" 2>&1 || code=$?
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
if [ "$code" != 0 ]; then
    tail -n 60 "$log"
    echo "fuzz: $reader: a finding after ${runs:-?} executions: $log, $build/crash-$reader-*" >&2
    exit 1
fi
echo "fuzz: $reader: $runs executions in $seconds s, no finding"
