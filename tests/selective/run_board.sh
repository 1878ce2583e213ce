#!/bin/bash
# Builds firmware with some operators for a Cortex-M4 and runs it on QEMU: those of the bundled model (MOTE_OPS_FROM_MODEL), the same by their
# names (MOTE_ONLY_OPS), and all of these but one, which the board must refuse.
#   run_board.sh SOURCE WORK DIGITS_FLASH.mote OPERATOR...
set -euo pipefail
source=$1 work=$2 digits=$3
shift 3
fail() { echo "FAIL: $*"; exit 1; }

# build NAME OPTION: firmware in $work/NAME
build() {
  local to=$work/$1
  mkdir -p "$to"
  cmake -S "$source" -B "$to" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$source/cmake/toolchains/cortex-m4.cmake" -DCMAKE_BUILD_TYPE=MinSizeRel \
        -DMOTE_HOST=OFF -DMOTE_TESTS=OFF "-DMOTE_DIGITS_MODEL=$digits" "$2" > "$to.log" || { cat "$to.log"; fail "configuring $1"; }
  cmake --build "$to" --target digits_baremetal > "$to.log" || { tail -40 "$to.log"; fail "building $1"; }
}
run() {
  timeout 120 qemu-system-arm -M mps2-an386 -nographic -monitor none -serial none -icount shift=0 -semihosting-config \
    enable=on,target=native -kernel "$work/$1/bin/digits_baremetal.elf" 2>&1 || true
}
code_bytes() { awk '$1 == "code" { print $2 }' <<< "$1"; }
names() { local IFS=';'; echo "$*"; }

build from_model "-DMOTE_OPS_FROM_MODEL=$digits"
text=$(run from_model)
echo "$text"
grep -q "^PASS" <<< "$text" || fail "firmware for the model does not run it"
small=$(code_bytes "$text")

build by_name "-DMOTE_ONLY_OPS=$(names "$@")"
text=$(run by_name)
grep -q "^PASS" <<< "$text" || { echo "$text"; fail "firmware with the operators $* does not run the model"; }
large=$(code_bytes "$text")
echo "code: $small bytes for the model, $large bytes for its operators with every element type"
[ "$small" -lt "$large" ] || fail "expected less for the model alone"

build one_missing "-DMOTE_ONLY_OPS=$(names "${@:2}")"
text=$(run one_missing)
grep -q "^FAIL: open" <<< "$text" || { echo "$text"; fail "firmware without $1 does not refuse the model"; }
echo PASS
