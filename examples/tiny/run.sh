#!/bin/bash
# Compiles a model for a microcontroller, builds a firmware around it with the start-up code of project/, runs that on QEMU.
#   examples/tiny/run.sh keyword|person|anomaly [--board m4|m55] [--model FILE] [--input FILE] [--mote COMMAND]
# keyword   hears a WAV file step by step; the bundled model tells whistles, MODEL may be TensorFlow Lite Micro's yes/no model
# person    looks at a BMP file; TensorFlow Lite Micro's person detection (its person.bmp and no_person.bmp hold signed bytes)
# anomaly   compares a usual sound with an unusual one; MLPerf Tiny's autoencoder
# Models and inputs that are not given come from this folder or from $MOTE_SHARED (default: ../shared beside the repository).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
usage() { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
app=${1:-}
case $app in keyword | person | anomaly) shift ;; *) usage ;; esac
board=m4 model= input= mote=$root/build/release/bin/mote
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --board) board=$2 ;;
    --model) model=$2 ;;
    --input) input=$2 ;;
    --mote) mote=$2 ;;
    *) usage ;;
  esac
  shift 2
done
case $board in m4 | m55) ;; *) usage ;; esac
for tool in arm-none-eabi-g++ qemu-system-arm make "$mote"; do
  command -v "$tool" > /dev/null || { echo "run.sh: '$tool' is missing: ./do setup installs the tools, ./do demo makes mote" >&2; exit 1; }
done
shared=${MOTE_SHARED:-$root/../shared}

options=() words= output=
case $app in
  keyword)
    model=${model:-$here/keyword/whistle.tflite}
    case $(basename "$model") in
      *micro_speech*) words='"silence","unknown","yes","no"' output=labels_softmax input=${input:-$shared/data/audio/yes_1000ms.wav} ;;
      *) words='"noise","rising","falling","warble"' output=scores input=${input:-$here/keyword/rising.wav} ;;
    esac
    # Every 20 ms in; the network looks at the last second five times a second.
    options=(--audio-frontend micro --streaming 10)
    flags="-DOUTPUT=keyword::$output -DOUTPUT_COUNT=keyword::${output}_count -DLABELS='$words'" ;;
  person)
    model=${model:-$shared/models/tflm_person_detect_int8.tflite} input=${input:-$shared/data/images/person.bmp}
    options=(--ram 44k) flags=
    case $(basename "$input") in person.bmp | no_person.bmp) flags=-DSIGNED_PIXELS ;; esac ;;
  anomaly) model=${model:-$shared/models/mlperf_ad_autoenc_int8.tflite} flags= ;;
esac
for file in "$model" ${input:+"$input"}; do
  [ -e "$file" ] || { echo "run.sh: $file is missing: give --model FILE (and --input FILE); README.md says where models are" >&2; exit 1; }
done

input=${input:+$(realpath "$input")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$mote" compile "$model" -o "$work/$app.cc" --emit cpp --target "cortex-$board" --io-in-arena ${options[@]+"${options[@]}"}
make -s -C "$here/project" APP="$here/$app.cc" MODEL="$work/$app.cc" BOARD="$board" OUT="$work" APPFLAGS="$flags" ARG="$input" run
