#!/bin/sh
# leaks.sh: valgrind over one run of each command on small cases; any definite leak or bad access fails.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
grind() {
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible \
        --suppressions=tests/lint/valgrind.supp "$@" >"$out/stdout" 2>"$out/stderr" || {
        code=$?
        echo "leaks: exit $code: $*"
        tail -n 40 "$out/stderr"
        exit 1
    }
    echo "leaks: clean: $*" | cut -c1-110
}
grind "$build/attest" reference --problem 'variant=softmax n=5 d=4 mask=causal' --want o,lse
grind "$build/attest" reference --problem 'variant=taylor:3 center=mid n=5 d=3 hq=4 hkv=2' --want o,u,z --engine ball
grind "$build/attest" reference --problem 'variant=linear n=5 d=3 state=draw' --want ht
grind "$build/attest" list variants
printf 'variant=softmax n={1,9} d=4\nvariant=taylor:2 n=7 d=3\n' >"$out/tiny.suite"
grind "$build/attest" gate --suite "$out/tiny.suite" --jobs 1 --out "$out/report"
grind "$build/attest" report "$out/report"
