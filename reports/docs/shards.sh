#!/bin/sh
# shards.sh ATTEST N OUT GATE-OPTION...: a suite in N shards on this machine, by GNU parallel or else xargs, and their
# merge in OUT/all.  A shard that was killed goes on when this is called again; one that finished is not run again.
# Exit code: that of the merge, the same as of one run; 4 where a shard did not finish.  JOBS: shards at a time.
set -u
finished() { [ -f "$1/run.json" ] && grep -q '"finished": 1' "$1/run.json"; }
if [ "$1" = --one ]; then
    attest=$2 n=$3 out=$4/shard-$5 i=$5
    shift 5
    finished "$out" && exit 0
    resume=
    [ -f "$out/run.json" ] && resume=--resume
    "$attest" gate "$@" --shard "$i/$n" --jobs 1 --quiet $resume --out "$out"
    finished "$out" # its verdict is the merge's to tell
    exit
fi
attest=$1 n=$2 out=$3 jobs=${JOBS:-$(nproc)}
shift 3
if command -v parallel >/dev/null 2>&1; then
    seq "$n" | parallel --will-cite -q -j "$jobs" sh "$0" --one "$attest" "$n" "$out" '{}' "$@"
else
    seq "$n" | xargs -I '{}' -P "$jobs" sh "$0" --one "$attest" "$n" "$out" '{}' "$@"
fi
set --
for i in $(seq "$n"); do
    finished "$out/shard-$i" || { echo "shard $i of $n did not finish: the same command goes on" >&2; exit 4; }
    set -- "$@" "$out/shard-$i"
done
exec "$attest" merge "$@" --out "$out/all"
