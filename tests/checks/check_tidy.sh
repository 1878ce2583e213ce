#!/bin/bash
# clang-tidy: check_tidy.sh BUILD_DIR AREA [FLAG ...]. Warnings fail. Exit 77 ("skipped") without clang-tidy.
#   device api ir ops                                  minutes together: part of every full test run
#   kernels compiler tools fleet backends              half an hour of processor time: `./do test tidy`, `./do test --all`
# FLAG: compiler flags, of the ISA variant that `kernels` are looked at for. FILES="a.cc b.cc" in the environment: only these of the area.
# The static analyser takes four fifths of the time, so it looks at the code that meets untrusted programs only (device, api).
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v clang-tidy > /dev/null || { echo "skipped: clang-tidy is not installed"; exit 77; }
build=$1 area=$2
shift 2
# Groups include sources, and that is all right.
depth=9 TIDY_CHECKS='--checks=-clang-analyzer-*,-bugprone-suspicious-include'
case $area in
  device) folders=(mote/core mote/format mote/runtime) depth=1 TIDY_CHECKS='' ;;
  api) folders=(mote/api/impl mote/platform mote/backends/null) depth=1 TIDY_CHECKS='' ;;
  ir) folders=(mote/compiler/ir) ;;
  ops | kernels | compiler | tools | fleet | backends) folders=("mote/$area") ;;
  *) echo "expected device, api, ir, ops, kernels, compiler, tools, fleet or backends, found '$area'"; exit 2 ;;
esac
# Sources of this system: no tests, nothing that another system compiles or that stands in for a library this build has.
find "${folders[@]}" -maxdepth $depth -name '*.cc' | grep -Ev '_(test|bench|fuzz|windows|darwin|bare|none)\.cc$|/testing/' | sort > "$build/tidy_$area.txt"
if [ -n "${FILES:-}" ]; then
  tr ' ' '\n' <<< "${FILES//"$PWD/"/}" | sort | comm -12 - "$build/tidy_$area.txt" > "$build/tidy_$area.some"
  mv "$build/tidy_$area.some" "$build/tidy_$area.txt"
fi
# Files that the build compiles in groups (mote_group_sources) are looked at in the same groups: reading headers is most of the work.
while read -r group; do
  grep -oP '#include "\K[^"]+' "$group" | sed "s|^$PWD/||" | sort > "$build/tidy_$area.group"
  [ -z "$(comm -23 "$build/tidy_$area.group" "$build/tidy_$area.txt")" ] || continue
  { comm -13 "$build/tidy_$area.group" "$build/tidy_$area.txt" && echo "$group"; } | sort > "$build/tidy_$area.next"
  mv "$build/tidy_$area.next" "$build/tidy_$area.txt"
done < <(find "$build" -path '*/Unity/unity_*_cxx.cxx')
[ -s "$build/tidy_$area.txt" ] || { echo "no files in $area"; exit 1; }
TIDY_FLAGS="-std=c++17 -I. -I$build/mote/backends/embedded -I$build/mote/tools/embedded -isystem $build/gen"
TIDY_FLAGS+=" -isystem $build/third_party_include $*"
export TIDY_CHECKS TIDY_FLAGS
# shellcheck disable=SC2016  # the inner shell expands them
xargs -n 2 -P "$(nproc)" sh -c 'exec clang-tidy --quiet $TIDY_CHECKS "$@" -- $TIDY_FLAGS' tidy < "$build/tidy_$area.txt"
echo "$(wc -l < "$build/tidy_$area.txt") files and groups of files in $area: nothing found"
