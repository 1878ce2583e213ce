#!/bin/sh
# Instructions per operator of a run, and per load, counted by callgrind: figures that hold on a busy machine.
#   bench/count.sh BUILD_DIR
set -eu
bin=${1:?usage: bench/count.sh BUILD_DIR}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count() { # program, ops, runs
  valgrind --tool=callgrind --callgrind-out-file="$work/out" "$1" --ops "$2" --runs "$3" >/dev/null 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
  sed -n 's/^summary: //p' "$work/out"
}
per_run() { echo $((($(count "$1" "$2" 11) - $(count "$1" "$2" 1)) / 10)); }
a=$(per_run "$bin/overhead_bench" 100)
b=$(per_run "$bin/overhead_bench" 200)
echo "run:  $(((b - a) / 100)) instructions per operator (16 f32 each, arithmetic included), $((b - (b - a) * 2)) per run besides"
a=$(per_run "$bin/load_bench" 100)
b=$(per_run "$bin/load_bench" 200)
echo "load: $b instructions to open and verify 200 operators, $(((b - a) / 100)) for each"
