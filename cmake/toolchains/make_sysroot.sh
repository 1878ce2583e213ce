#!/bin/bash
# Debian's libraries of another processor, unpacked in a folder that cross compilers and qemu-user take as root: nothing is installed, and the
# packages of this machine stay as they are.
#
#     make_sysroot.sh ARCHITECTURE FOLDER PACKAGE...      such as arm64 build/sysroot/arm64 libssl-dev
set -euo pipefail
architecture=$1 root=$2
shift 2
wanted="$architecture $*"
[ "$(cat "$root/packages.txt" 2> /dev/null)" != "$wanted" ] || exit 0
command -v apt-get > /dev/null && [ -d /usr/share/keyrings ] ||
  { echo "make_sysroot.sh: expected Debian's apt-get; without it unpack these packages for $architecture in $root: $*" >&2; exit 1; }
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
rm -rf "$root"
mkdir -p "$root"/apt/{state/lists/partial,cache/archives/partial,etc/apt.conf.d,etc/preferences.d}
root=$(cd "$root" && pwd)
: > "$root/apt/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${MOTE_DEBIAN:-http://deb.debian.org/debian} $release main" > "$root/apt/etc/sources.list"
apt() {
  apt-get -q -y -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture" -o "Dir::State=$root/apt/state" \
    -o "Dir::State::status=$root/apt/status" -o "Dir::Cache=$root/apt/cache" -o "Dir::Etc=$root/apt/etc" -o "APT::Sandbox::User=" \
    -o "Dir::Etc::sourcelist=$root/apt/etc/sources.list" -o "Dir::Etc::sourceparts=-" -o "Acquire::Languages=none" "$@"
}
apt update
apt install --download-only --no-install-recommends "$@"
for package in "$root"/apt/cache/archives/*.deb; do
  # The C library's headers are the cross compiler's own.
  case $(basename "$package") in libc6-dev_* | linux-libc-dev_* | libcrypt-dev_* | libnsl-dev_* | libtirpc-dev_*) continue ;; esac
  # Programs and start-up scripts of that processor are of no use here; libraries, headers and CMake files are.
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --wildcards --exclude './usr/bin/*' --exclude './usr/share/doc/*' \
    --exclude './usr/share/man/*' --exclude './usr/share/locale/*' --exclude './dev/*' --exclude './lib/modules/*'
done
# Debian since 12 has /lib in /usr; packages say both.
if [ -d "$root/lib" ] && [ ! -L "$root/lib" ]; then
  cp -a "$root/lib/." "$root/usr/lib/"
  rm -rf "$root/lib"
fi
ln -sfn usr/lib "$root/lib"
# What is linked by a whole path (/lib/...) belongs to this root.
find "$root/usr/lib" -type l -lname '/*' | while read -r link; do ln -sfn "$root$(readlink "$link")" "$link"; done
rm -rf "$root/apt"
echo "$wanted" > "$root/packages.txt"
