#!/bin/bash
# Builds a runtime for one model alone (MOTE_OPS_FROM_MODEL), runs that model, and makes sure that it is much smaller than the
# full runtime and refuses, with the reason, what it was not built for.
#   run.sh SOURCE WORK DIGITS.mote OTHER_OP.mote OTHER_TYPE.mote FULL_RUN_FILE
set -euo pipefail
source=$1 work=$2 digits=$3 other_op=$4 other_type=$5 full=$6
fail() { echo "FAIL: $*"; exit 1; }

cmake -S "$source" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=MinSizeRel -DMOTE_HOST=OFF -DMOTE_TESTS=OFF -DMOTE_SELECTIVE_TEST=ON \
      "-DMOTE_OPS_FROM_MODEL=$digits" > "$work.log" || { cat "$work.log"; fail "configuring"; }
grep "selective build" "$work.log" || fail "configuring did not say what was dropped"
cmake --build "$work" --target run_file > "$work.log" || { tail -40 "$work.log"; fail "building"; }

run=$work/bin/run_file
"$run" "$digits" || fail "the model it was built for does not run"
text=$("$run" "$other_op") && fail "a program with another operator ran"
echo "$text"
grep -q "operator this runtime does not have: mote::add" <<< "$text" || fail "the reason is not clear"
text=$("$run" "$other_type") && fail "a program with another element type ran"
echo "$text"
grep -q "no kernel for this operator and element type" <<< "$text" || fail "the reason is not clear"
for file in "$other_op" "$other_type"; do
  # These have no golden data: the full build must get as far as finding that out.
  text=$("$full" "$file" || true)
  grep -q "no golden examples" <<< "$text" || fail "the full build refuses $file as well"
done

bytes() { size -A "$1" | awk '$1 == ".text" || $1 == ".rodata" { n += $2 } END { print n }'; }
small=$(bytes "$run") large=$(bytes "$full")
echo "code and constants: $small bytes for this model, $large bytes for every operator"
[ $((small * 8)) -lt "$large" ] || fail "expected less than an eighth"
echo PASS
