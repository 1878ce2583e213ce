#!/bin/bash
# A .deb of ./do package in a fresh Debian of its architecture, which is this machine's: installed by dpkg with what it depends on, then the command, the agent and the
# library are used. The program that the command compiles there has the bytes that HOST_MOTE's has.
#
#     chroot_test.sh PACKAGE.deb FOLDER MODEL HOST_MOTE       as root; FOLDER keeps the fresh system for the next time
set -euo pipefail
package=$1 folder=$2 model=$3 host=$4
skip() { echo "skipped: $1"; exit 77; }
architecture=$(dpkg-deb --field "$package" Architecture)
[ "$architecture" = "$(dpkg --print-architecture)" ] || skip "the package is for $architecture"
[ "$(id -u)" = 0 ] || skip "chroot needs root"
command -v debootstrap > /dev/null || skip "debootstrap is missing"
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
if [ ! -e "$folder/.complete" ]; then
  rm -rf "$folder"
  debootstrap --variant=minbase --arch="$architecture" --include=libprotobuf32,libjpeg62-turbo,libpng16-16,libssl3,libcurl4,libstdc++6 \
    "$release" "$folder" "${MOTE_DEBIAN:-http://deb.debian.org/debian}" > "$folder.log" 2>&1 || { tail -5 "$folder.log"; exit 1; }
  touch "$folder/.complete"
fi
in_chroot() { chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C "$@"; }
trap 'in_chroot dpkg --purge mote > /dev/null 2>&1; rm -rf "$folder/tmp/mote"' EXIT
rm -rf "$folder/tmp/mote" && mkdir "$folder/tmp/mote"
cp "$package" "$folder/tmp/mote/mote.deb"
cp "$model" "$folder/tmp/mote/"
name=$(basename "$model")
in_chroot dpkg --install /tmp/mote/mote.deb
in_chroot mote --version
in_chroot mote compile "/tmp/mote/$name" -o /tmp/mote/there.mote
"$host" compile "$model" -o "$folder/tmp/mote/here.mote" > /dev/null
cmp "$folder/tmp/mote/there.mote" "$folder/tmp/mote/here.mote" || { echo "FAILED: the program compiled there has other bytes"; exit 1; }
in_chroot mote selftest /tmp/mote/there.mote
for program in moted mote-tuf; do
  said=$(in_chroot $program --help 2>&1 || true)
  [[ $said == *"usage: $program"* ]] || { echo "FAILED: $program does not start: $said"; exit 1; }
done
for file in usr/include/mote/api/mote.h usr/lib/pkgconfig/mote.pc usr/lib/cmake/mote/mote-config.cmake usr/lib/libmote.so usr/lib/libmote.a; do
  [ -e "$folder/$file" ] || { echo "FAILED: /$file is not in the package"; exit 1; }
done
in_chroot dpkg --purge mote > /dev/null
[ ! -e "$folder/usr/bin/mote" ] || { echo "FAILED: purging leaves files"; exit 1; }
echo "PASS: $(basename "$package") on $architecture"
