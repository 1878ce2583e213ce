#!/bin/bash
# clang-tidy over what must not break: check_tidy.sh BUILD_DIR device|api|ir. Warnings fail. Prints "skipped" (exit 77) without clang-tidy.
# The static analyser takes four fifths of the time, so it looks at the code that meets untrusted files only.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v clang-tidy > /dev/null || { echo "skipped: clang-tidy is not installed"; exit 77; }
build=$1
shift
options=()
case $1 in
  device) folders=(mote/core mote/format mote/runtime) ;;
  api) folders=(mote/api/impl mote/platform mote/backends/null) ;;
  ir) folders=(mote/compiler/ir) options=('--checks=-clang-analyzer-*') ;;
  *) echo "device, api or ir, not '$1'"; exit 2 ;;
esac
# Sources of this system: no tests, nothing that another system compiles.
mapfile -t files < <(find "${folders[@]}" -maxdepth 1 -name '*.cc' | grep -Ev '_(test|bench|fuzz|windows|darwin|bare|none)\.cc$' | sort)
clang-tidy --quiet "${options[@]}" "${files[@]}" -- -std=c++17 -I. -I"$build/gen" -isystem "$build/third_party_include"
