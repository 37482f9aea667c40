#!/bin/sh
# test.sh BUILD: what `make install` makes works from another folder, and `make uninstall` leaves nothing.
set -eu
build=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/attest-packaging-XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
failed=0
# check WHAT COMMAND...: the command succeeds
check() {
    what=$1
    shift
    if ! "$@" >"$work/said" 2>&1; then
        echo "packaging: $what: failed" >&2
        cat "$work/said" >&2
        failed=1
    fi
}

make -s --no-print-directory BUILD="$build" DESTDIR="$work/root" PREFIX=/opt/attest install
home=$work/root/opt/attest
find "$home" ! -type d | sed "s|^$home/||" | sort >"$work/there"
check 'a gate from another folder' sh -c "cd / && '$home/bin/attest' gate --suite smoke --kernel softmax-two-pass-f32"
check 'its name on the path' sh -c "cd / && PATH='$home/bin:$PATH' attest list kernels --quiet"
export PKG_CONFIG_PATH="$home/lib/pkgconfig"
check 'pkg-config' pkg-config --exists attest
include=$(pkg-config --define-variable=prefix="$home" --cflags attest)
check 'the kernel to begin with' ${CC:-cc} -shared -fPIC $include -o "$work/mine.so" "$home/share/attest/template/my_kernel.c"
check 'an audit of it' sh -c "cd / && '$home/bin/attest' audit '$work/mine.so' --suite smoke"
check 'the checker of golden packs' ${CC:-cc} -std=c11 -o "$work/check_golden" "$home/share/attest/golden/check_golden.c" -lm
check 'a golden pack' sh -c "cd / && '$home/bin/attest' export --golden --case '*n=9*' --out '$work/pack' --quiet &&
    for case in '$work'/pack/0*; do cp \$case/o.truth.npy \$case/o.npy; done && '$work/check_golden' '$work/pack' '$work/pack'"
cp "$work/mine.so" "$home/libexec/attest/kernels/mine.so"
check 'a plugin of the folder' sh -c "cd / && '$home/bin/attest' gate --suite smoke --kernel my-kernel | grep my-kernel"
rm "$home/libexec/attest/kernels/mine.so"
for page in "$home"/share/man/man1/*.1; do
    command -v mandoc >/dev/null && check "manual page ${page##*/}" mandoc -T lint -W warning "$page"
done
check 'completion of bash' bash -n "$home/share/bash-completion/completions/attest"
! command -v zsh >/dev/null || check 'completion of zsh' zsh -n "$home/share/zsh/site-functions/_attest"
commands=$("$build/attest" --help | sed -n 's/^  \([a-z-]*\)  .*/\1/p')
for command in $commands; do
    check "manual page of $command" test -s "$home/share/man/man1/attest-$command.1"
    check "completion of $command" grep -q "^    $command:) " "$home/share/bash-completion/completions/attest"
done
make -s --no-print-directory BUILD="$build" DESTDIR="$work/root" PREFIX=/opt/attest uninstall
find "$home" ! -type d >"$work/left"
check "nothing left behind: $(tr '\n' ' ' <"$work/left")" test ! -s "$work/left"
[ "$failed" = 0 ] && echo "packaging: $(wc -l <"$work/there") files installed, tried and taken away"
exit "$failed"
