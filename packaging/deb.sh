#!/bin/sh
# deb.sh BUILD VERSION: BUILD/deb/attest_VERSION_ARCH.deb from what git holds (HEAD), by dpkg-buildpackage.
set -eu
build=$1 version=$2 tree=$1/deb/attest-$2
for tool in dpkg-buildpackage dh git; do
    command -v $tool >/dev/null || {
        echo "deb: there is no $tool (apt-get install dpkg-dev debhelper git)" >&2
        exit 2
    }
done
rm -rf "$build/deb"
mkdir -p "$tree"
git archive HEAD | tar -x -C "$tree"
cp -R packaging/debian "$tree/debian"
date=$(git log -1 --format=%cD)
cat >"$tree/debian/changelog" <<LOG
attest ($version) unstable; urgency=medium

  * As of commit $(git rev-parse --short=12 HEAD); CHANGELOG.md tells what changed.

 -- attest developers <attest@localhost>  $date
LOG
(cd "$tree" && dpkg-buildpackage -us -uc -b ${JOBS:+-j$JOBS})
ls "$build"/deb/*.deb
