#!/bin/sh
# install.sh ATTEST [PYTHON..]: in a fresh virtual environment of each Python, pip installs the package and pytest, a kernel
# passes, one with a planted bug fails with its name and a command that reproduces it.  Needs a package index.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
attest=$(readlink -f "$1")
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/test_mine.py" <<'END'
import numpy as np
import pytest
import attest

def softmax(p, q, k, v, scale):
    s = np.float32(scale) * np.einsum("bhnd,bhmd->bhnm", q, p.repeat(k))
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.einsum("bhnm,bhme->bhne", w / w.sum(axis=-1, keepdims=True), p.repeat(v))

@attest.kernel(schedule="two-pass")
def mine(p, q, k, v):
    return softmax(p, q, k, v, p.scale)

@attest.kernel(schedule="two-pass")
def unscaled(p, q, k, v):
    return softmax(p, q, k, v, 1)

def test_mine():
    attest.check(mine)

def test_unscaled():
    attest.check(unscaled)

@pytest.mark.attest(mine, suite="smoke")
def test_each(attest_result):
    attest_result.check()
END
for python in "${@:-python3}"; do
    rm -rf "$folder/venv"
    "$python" -m venv "$folder/venv"
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check "$root/verify/python" pytest
    (cd "$folder" && ATTEST="$attest" "$folder/venv/bin/python" -m pytest -q -p no:cacheprovider test_mine.py > "$folder/out" 2>&1) &&
        { echo "install: $python: the planted bug passed" >&2; exit 1; }
    for text in 'FAIL unscaled' 'attest replay --kernel' '1 failed' 'skipped'; do
        grep -q "$text" "$folder/out" || { cat "$folder/out" >&2; echo "install: $python: no '$text'" >&2; exit 1; }
    done
    echo "install: $("$folder/venv/bin/python" --version): $(tail -n 1 "$folder/out")"
done
