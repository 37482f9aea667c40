#!/bin/sh
# files.sh ATTEST FOLDER: every place of the command line that names a file, given a FIFO, a folder, an endless device
# and a socket.  Each must be refused at once: exit code 2, one line, nothing printed.  Prints what is not, and the count.
attest=$1 folder=$2
line='variant=softmax n=2 d=2'
mkdir -p "$folder" && cd "$folder" || exit 1
rm -rf ./* && mkfifo fifo && mkdir directory && ln -s /dev/zero device && touch regular || exit 1
/usr/bin/env python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")' || exit 1
"$attest" gate --suite smoke --kernel softmax-two-pass-f32 --max-time 0 --out run --quiet 2>err
"$attest" reference --problem "$line" --format npy --out trace --quiet && mkdir -p store/one failure

refused=0 others=0
# KIND WORDS...: the command, of which each word FILE is a file of this kind
try() {
    timeout 20 "$attest" "$@" >out 2>err </dev/null
    code=$?
    if [ $code = 2 ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ]; then
        refused=$((refused + 1))
    else
        others=$((others + 1))
        echo "attest $*: exit $code: $(head -c 200 err)"
    fi
}
# NAME FOLDER KIND WORDS...: the command, while FOLDER/NAME is a file of this kind
inside() {
    name=$1 at=$2 kind=$3
    shift 3
    [ ! -e "$at/$name" ] || mv "$at/$name" kept
    ln -s "$PWD/$kind" "$at/$name"
    try "$@"
    rm "$at/$name"
    [ ! -e kept ] || mv kept "$at/$name"
}

for kind in fifo directory device socket; do
    for command in gate audit defects; do
        target=
        [ $command != audit ] || target=softmax-two-pass-f32
        try $command --suite $kind $target
    done
    try audit ./$kind
    try audit ./$kind:softmax
    try replay --kernel ./$kind:softmax "$line"
    try replay --kernel softmax-two-pass-f32 ./$kind
    try replay $kind
    try search --kernel ./$kind:softmax --problem "$line" --cases 2
    try props --kernel ./$kind --cases 1
    try reference -t q=$kind -t k=$kind -t v=$kind
    try compare --problem "$line" -t o=$kind
    for name in run.json results.jsonl traits.jsonl trust.json study-order.jsonl study-range.jsonl; do
        inside $name run $kind report run
    done
    for name in run.json results.jsonl; do
        inside $name run $kind gate --suite smoke --kernel softmax-two-pass-f32 --max-time 0 --resume --out run --quiet
    done
    inside repro-id failure $kind replay failure
    inside repro-id store/one $kind props --cases 1 --kernel softmax-two-pass-f32 --property 'scale*' --out store
    inside q.npy trace $kind reference --problem "$line family=trace:trace"
done
echo "$refused refused, $others not"
