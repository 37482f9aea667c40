#!/bin/sh
# Usage: cpus.sh BUILD
# Every fast kernel on CPUs that lack what this one may have, as qemu-x86_64 plays them: no illegal instruction, and a
# verdict of pass.  Each kernel runs inside `attest bench`, in one process, beside the truth and its bound.
# qemu64 has SSE3, Nehalem SSE4.2, Haswell AVX2 and FMA.  The last two runs ask the same of the truth's own vectors.
set -u
command -v qemu-x86_64 >/dev/null || { echo "cpus.sh: qemu-x86_64 (qemu-user) comes with make deps-long" >&2; exit 2; }
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
mkdir "$here/build"
cp "$1/attest" "$1/attest-worker" "$here/build/" # without the vendors' libraries, which may ask for more than qemu64 has
cd "$here" || exit 2
failed=0 ran=0
bench() { # bench KERNEL CPU PROBLEM
    qemu-x86_64 -cpu "$2" build/attest bench kernels --quiet --rounds=5 --kernel="$1" --problem="$3" 2>&1
}
while read -r kernel problem; do
    for cpu in qemu64 Nehalem Haswell; do
        out=$(bench "$kernel" "$cpu" "$problem")
        ran=$((ran + 1))
        if echo "$out" | grep "^| $kernel " | grep -q '| pass '; then
            continue
        fi
        failed=$((failed + 1))
        echo "cpus.sh: $kernel on $cpu does not pass: qemu-x86_64 -cpu $cpu attest bench kernels --kernel $kernel --problem '$problem'"
        echo "$out" | tail -n 3
    done
done <<'LIST'
softmax-flash-f32 variant=softmax mask=causal n=33 d=8
softmax-flash-bf16 variant=softmax mask=causal n=33 d=8 in=bf16 p=bf16
softmax-amx-bf16 variant=softmax mask=causal n=33 d=8 in=bf16 p=bf16
softmax-decode-f32 variant=softmax n=1 m=70 d=9
taylor-packed-fast-f32 variant=taylor:3 mask=causal n=9 d=3
taylor-chunk-fast-f32 variant=taylor:2 mask=causal n=40 d=3 chunk=16
linear-chunk-f32 variant=gla mask=causal n=40 d=5
linear-chunk-state-bf16 variant=linear mask=causal n=40 d=5 chunk=8
delta-wy-f32 variant=deltanet mask=causal n=40 d=5 chunk=8
LIST
for engine in dd-avx2:Haswell dd-portable:qemu64; do
    out=$(qemu-x86_64 -cpu "${engine#*:}" build/attest bench reference --quiet --rounds=5 --engine="${engine%:*}" \
        --problem='variant=softmax n=9 d=4' 2>&1)
    ran=$((ran + 1))
    echo "$out" | grep -q "^| ${engine%:*} " && continue
    failed=$((failed + 1))
    echo "cpus.sh: no row of ${engine%:*} on ${engine#*:}"
    echo "$out" | tail -n 3
done
echo "cpus: $ran runs, $failed failed"
[ "$failed" = 0 ]
