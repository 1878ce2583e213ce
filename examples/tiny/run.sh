#!/bin/bash
# Compiles an anomaly model (MLPerf Tiny's autoencoder) for a Cortex-M4, builds a firmware around it, runs that on QEMU.
#   examples/tiny/run.sh MODEL.tflite [MOTE]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
model=${1:?usage: examples/tiny/run.sh MODEL.tflite [MOTE]}
mote=${2:-$root/build/release/bin/mote}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$mote" compile "$model" -o "$work/anomaly.cc" --emit cpp --target cortex-m4 --io-in-arena
arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -std=c++17 -O2 -fno-exceptions -fno-rtti \
  -ffunction-sections -fdata-sections -DMOTE_BOARD_CLOCK_HZ=25000000 -I"$root" -I"$work" \
  "$here/main.cc" "$work/anomaly.cc" "$root/tests/baremetal/startup.cc" "$root/tests/baremetal/semihosting.cc" \
  -nostartfiles --specs=nosys.specs -Wl,--gc-sections -Wl,--no-warn-rwx-segments -L"$root/bench/board" -T"$root/bench/board/m4.ld" -o "$work/firmware.elf"
qemu-system-arm -M mps2-an386 -nographic -monitor none -serial none -semihosting-config enable=on,target=native -kernel "$work/firmware.elf"
