#!/bin/sh
# install.sh install|uninstall BUILD DESTDIR PREFIX: puts attest below DESTDIR/PREFIX, or takes away what it put there.
# The list below is the only one: what is installed is what uninstall removes, and nothing else.
#   bin/attest is a link to libexec/attest/attest, beside which the worker and kernels/ (plugins) are found.
set -eu
what=$1 build=$2 prefix=$4 root=$3$4

# file MODE SOURCE TARGET
file() {
    case $what in
    install) install -D -m "$1" "$2" "$root/$3" ;;
    uninstall) rm -f "$root/$3" ;;
    esac
}

libexec=libexec/attest share=share/attest doc=share/doc/attest
file 755 "$build/attest" $libexec/attest
file 755 "$build/attest-worker" $libexec/attest-worker
for plugin in "$build"/kernels/*.so; do
    [ -e "$plugin" ] && file 755 "$plugin" "$libexec/kernels/${plugin##*/}"
done
for header in attest.h attest_float.h; do
    file 644 kernels/$header include/$header
done
for suite in verify/suites/*.suite; do
    file 644 "$suite" "$share/suites/${suite##*/}"
done
for source in kernels/template/*; do
    file 644 "$source" "$share/template/${source##*/}"
done
for source in examples/golden/*; do
    file 644 "$source" "$share/golden/${source##*/}"
done
for text in README.md CHANGELOG.md LICENSE; do
    file 644 $text $doc/$text
done
for text in reports/docs/*.md reports/docs/*.png; do
    [ -e "$text" ] && file 644 "$text" "$doc/$text"
done
for page in "$build"/packaging/man1/*.1; do
    file 644 "$page" "share/man/man1/${page##*/}"
done
file 644 "$build/packaging/bash/attest" share/bash-completion/completions/attest
file 644 "$build/packaging/zsh/_attest" share/zsh/site-functions/_attest

case $what in
install)
    mkdir -p "$root/bin" "$root/lib/pkgconfig" "$root/$libexec/kernels"
    ln -sf ../$libexec/attest "$root/bin/attest"
    version=$(sed -n 's/^.define ATTEST_VERSION "\(.*\)"/\1/p' reports/result.h)
    cat >"$root/lib/pkgconfig/attest.pc" <<PC
prefix=$prefix
includedir=\${prefix}/include
kernels=\${prefix}/$libexec/kernels
suites=\${prefix}/$share/suites

Name: attest
Description: certified tests of attention kernels: the header of a kernel's library
Version: $version
Cflags: -I\${includedir}
PC
    ;;
uninstall)
    rm -f "$root/bin/attest" "$root/lib/pkgconfig/attest.pc"
    for folder in $libexec/kernels $libexec $share/suites $share/template $share/golden $share $doc/reports/docs $doc/reports $doc; do
        [ ! -d "$root/$folder" ] || rmdir "$root/$folder" 2>/dev/null ||
            echo "uninstall: $root/$folder holds files that attest did not install" >&2
    done
    ;;
esac
