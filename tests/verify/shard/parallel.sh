#!/bin/sh
# parallel.sh BUILD: reports/docs/shards.sh by GNU parallel, killed with its shards in the middle, called again; the merge
# must be the run of one piece.  Exit code 1: it was not; 2: parallel is missing.
set -u
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")/../../.." && pwd)
command -v parallel >/dev/null || { echo "parallel.sh: parallel is missing: make deps-long" >&2; exit 2; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "parallel.sh: $*" >&2; exit 1; }
set -f # the glob is attest's
options="--suite smoke --kernel *-recurrent-f32 --device cpu"
export SOURCE_DATE_EPOCH=1700000000 JOBS=2
"$build/attest" gate $options --quiet --out "$dir/one" >/dev/null
one=$?
setsid sh "$here/reports/docs/shards.sh" "$build/attest" 6 "$dir/run" $options >"$dir/log" 2>&1 &
group=$!
results() { for i in 1 2 3 4 5 6; do cat "$dir/run/shard-$i/results.jsonl" 2>/dev/null; done | wc -l; }
until [ "$(results)" -gt 5 ]; do
    kill -0 $group 2>/dev/null || fail "it ended before it could be killed: $(cat "$dir/log")"
    sleep 0.02
done
ps -o args= -g $group | grep -q '[p]arallel' || fail "shards.sh did not use parallel"
kill -9 -$group
wait $group 2>/dev/null
kept=$(results) unfinished=0
for i in 1 2 3 4 5 6; do
    grep -q '"finished": 1' "$dir/run/shard-$i/run.json" 2>/dev/null || unfinished=$((unfinished + 1))
done
[ $unfinished -gt 0 ] || fail "all shards had ended"
sh "$here/reports/docs/shards.sh" "$build/attest" 6 "$dir/run" $options >"$dir/log" 2>&1
[ $? = $one ] || fail "another exit code than one run: $(cat "$dir/log")"
python3 "$here/tests/verify/shard/same.py" "$dir/one" "$dir/run/all" || fail "not the run of one piece"
echo "parallel: killed with $kept results and $unfinished of 6 shards unfinished, then went on"
