#!/bin/sh
# deps.sh PACKAGE...: installs the Debian/Ubuntu packages that are missing, as root or through sudo; says
# nothing and does nothing when all are there.  A name that this release does not know is left out only if
# FLINT is the one-library kind (libflint-arb-dev is part of libflint-dev from FLINT 3 on).
set -eu
missing=
for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
as_root=
if [ "$(id -u)" != 0 ]; then
    as_root=sudo
    command -v sudo >/dev/null || {
        echo "deps: not root and no sudo; install:$missing" >&2
        exit 2
    }
fi
$as_root apt-get update -q
wanted=
for package in $missing; do
    if [ -n "$(apt-cache policy "$package" 2>/dev/null | sed -n 's/^ *Candidate: *//p' | grep -v '(none)')" ]; then
        wanted="$wanted $package"
    elif case $package in libflint-arb-dev | libsubunit-dev | libclang-rt-dev) ;; *) false ;; esac; then
        echo "deps: $package is not in this release; going on without it" >&2
    else
        echo "deps: this release has no package $package" >&2
        exit 2
    fi
done
[ -n "$wanted" ] || exit 0
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $wanted
