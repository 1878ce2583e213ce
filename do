#!/bin/bash
# Everything people and CI do with this repository. `./do help` lists it.
set -euo pipefail
cd "$(dirname "$0")"

jobs=$(nproc)
passed=0 failed=0 skipped=0

usage() {
  cat << 'END'
./do setup             install what is missing (Debian packages, by apt)
./do demo              build, make the bundled model, run it: result, time, memory
./do test              build and run every test of the release and sanitizer builds
./do test --fast       the tests of the release build that take less than a minute together
./do test --all        also Clang, threads, 32- and 64-bit Arm, Cortex-M, Windows, macOS, WebAssembly, fuzzing
./do test PRESET ...   build and test these presets only (cmake --list-presets)
./do bench             overhead per operator, load time, and the bundled model
./do format            format all code, write docs/generated anew
END
}

# --- set-up ----------------------------------------------------------------------------------------------------------

packages_demo="build-essential cmake ninja-build ccache git python3 flatbuffers-compiler libflatbuffers-dev
  protobuf-compiler libprotobuf-dev libcli11-dev nlohmann-json3-dev libjpeg-dev libpng-dev"
packages_test="$packages_demo libgtest-dev googletest libbenchmark-dev clang libclang-rt-14-dev clang-format clang-tidy gcc-arm-none-eabi
  libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm python3-venv"
packages_all="$packages_test g++-aarch64-linux-gnu g++-arm-linux-gnueabihf qemu-user wine64"

setup() {
  local missing=() package as_root=()
  for package in $1; do
    # ${db:Status-Abbrev}: "ii" when installed and configured.
    [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2> /dev/null | cut -c1-2)" = ii ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get > /dev/null || { echo "please install what matches these Debian packages: ${missing[*]}"; exit 1; }
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  echo "installing: ${missing[*]}"
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# PyPI packages, pinned, in a virtual environment of the build folder.
install_venv() {
  [ -x build/venv/bin/python3 ] || python3 -m venv build/venv || return 1
  build/venv/bin/python3 -m pip install -q --disable-pip-version-check "$@"
}

# Zig's compiler and wasmtime.
setup_venv() { install_venv ziglang==0.17.0 wasmtime==50.0.1; }

# The runtimes that whole models are compared with; tests find them through MOTE_PYTHON and are skipped by name without it.
setup_references() {
  if install_venv numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1 ai-edge-litert==2.3.0 tflite==2.18.0 tflite-micro==0.dev20261023182759 \
    pillow==13.0.0; then
    export MOTE_PYTHON=$PWD/build/venv/bin/python3
  else
    skipped=$((skipped + 1))
    echo "SKIPPED: comparing with ONNX Runtime, LiteRT and TFLite Micro: the PyPI packages could not be installed"
  fi
}

# --- building --------------------------------------------------------------------------------------------------------

configure() { cmake --preset "$1" > "build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log"; return 1; }; }

build() {
  mkdir -p build
  echo "--- $1: building"
  configure "$1" && cmake --build "build/$1" -j "$jobs" "${@:2}"
}

# --- testing ---------------------------------------------------------------------------------------------------------

# Counts one step that is no ctest test (a build, a fuzz target).
count() {
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $1"; fi
}

# A number of the summary that ctest writes: attribute NAME FILE.
attribute() { grep -oPm1 "$1=\"\K[0-9]+" "$2" || echo 0; }

# Runs the tests of a built preset and adds up the results.
run_ctest() {
  local preset=$1 report=$PWD/build/$1/ctest.xml
  shift
  rm -f "$report"
  ctest --preset "$preset" -j "$jobs" --output-junit "$report" "$@" || true
  if [ ! -f "$report" ]; then count "$preset: ctest" 1; return; fi
  local total bad left
  total=$(attribute tests "$report") bad=$(attribute failures "$report")
  left=$(($(attribute skipped "$report") + $(attribute disabled "$report")))
  passed=$((passed + total - bad - left)) failed=$((failed + bad)) skipped=$((skipped + left))
}

test_preset() {
  local preset=$1
  shift
  if build "$preset"; then run_ctest "$preset" "$@"; else count "$preset: build" 1; fi
}

build_only() {
  build "$1" && count "$1: build" 0 || count "$1: build" 1
}

# What starts threads, under the thread sanitizer.
test_threads() {
  if build tsan --target api_test runtime_test; then run_ctest tsan; else count "tsan: build" 1; fi
}

# Each fuzz target for some seconds, from generated seeds and what is kept in tests/fuzz/corpus; a crash or hang fails. Every call
# starts from the same inputs and the same seed: how far it comes depends on the machine, the way there does not.
fuzz() {
  local seconds=$1 name log corpus
  build fuzz --target program_fuzz mutate_fuzz op_fuzz make_corpus || { count "fuzz: build" 1; return; }
  rm -rf build/fuzz/seeds build/fuzz/corpus
  mkdir -p build/fuzz/seeds
  build/fuzz/bin/make_corpus build/fuzz/seeds 500 > build/fuzz/make_corpus.log 2>&1 || { cat build/fuzz/make_corpus.log; count make_corpus 1; }
  for name in program_fuzz mutate_fuzz op_fuzz; do
    log=build/fuzz/$name.log corpus=build/fuzz/corpus/$name
    mkdir -p "$corpus"
    echo "--- $name: $seconds s"
    if build/fuzz/bin/$name -seed=1 -max_len=16384 -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
         -artifact_prefix=build/fuzz/ "$corpus" build/fuzz/seeds $(ls -d tests/fuzz/corpus 2> /dev/null) > "$log" 2>&1; then
      count "$name" 0
    else
      tail -40 "$log"
      count "$name" 1
    fi
    grep "number_of_executed_units" "$log" || true
  done
}

# Mutated ONNX and TFLite files through the compiler, for some seconds; likewise.
fuzz_models() {
  local log=build/fuzz/model_fuzz.log seeds=(tests/fuzz_models/corpus)
  build fuzz --target model_fuzz || { count "model_fuzz: build" 1; return; }
  rm -rf build/fuzz/corpus/model_fuzz
  mkdir -p build/fuzz/corpus/model_fuzz
  [ ! -d ../shared/models ] || seeds+=(../shared/models)
  echo "--- model_fuzz: $1 s"
  build/fuzz/bin/model_fuzz -seed=1 -max_len=131072 -max_total_time="$1" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix=build/fuzz/ build/fuzz/corpus/model_fuzz "${seeds[@]}" > "$log" 2>&1 && count model_fuzz 0 || { tail -40 "$log"; count model_fuzz 1; }
  grep "number_of_executed_units" "$log" || true
}

finish() {
  echo
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

test_all() {
  local fuzz_seconds=$1
  setup "$packages_all"
  setup_references
  test_preset release
  test_preset asan
  test_preset cortex-m4
  test_preset cortex-m55
  test_preset clang
  test_threads
  build_only cortex-m4-all
  test_preset aarch64 -LE host
  test_preset armv7 -LE host
  if setup_venv; then
    test_preset windows-x64
    test_preset wasm
    build_only macos-arm64
  else
    skipped=$((skipped + 3))
    echo "SKIPPED: windows-x64, wasm, macos-arm64: PyPI packages ziglang and wasmtime could not be installed"
  fi
  fuzz "$fuzz_seconds"
  fuzz_models "$fuzz_seconds"
}

run_tests() {
  case ${1:-} in
    --fast) setup "$packages_test"; build release && ctest --preset release -j "$jobs" -LE slow ;;
    --all) test_all 60; finish ;;
    '')
      setup "$packages_test"
      setup_references
      test_preset release
      test_preset asan
      test_preset cortex-m4
      test_preset cortex-m55
      finish
      ;;
    -*) usage; exit 2 ;;
    *)
      setup "$packages_all"
      setup_references
      local preset
      for preset in "$@"; do
        case $preset in
          windows-x64 | wasm) setup_venv; test_preset "$preset" ;;
          macos-arm64) setup_venv; build_only "$preset" ;;
          size | cortex-m4-all) build_only "$preset" ;;
          fuzz) fuzz 60; fuzz_models 60 ;;
          tsan) test_threads ;;
          *) test_preset "$preset" ;;
        esac
      done
      finish
      ;;
  esac
}

# --- the rest --------------------------------------------------------------------------------------------------------

demo() {
  setup "$packages_demo"
  mkdir -p build
  echo "--- building build/release/bin/mote"
  cmake --preset release -DMOTE_TESTS=OFF > build/release.configure.log 2>&1 || { cat build/release.configure.log; return 1; }
  cmake --build build/release -j "$jobs" --target mote digits
  local mote=build/release/bin/mote model=build/release/digits.mote
  echo; echo "--- $mote inspect $model"
  "$mote" inspect "$model"
  echo; echo "--- $mote run $model --input image=examples/digits/input_7.npy --top 3"
  "$mote" run "$model" --input image=examples/digits/input_7.npy --top 3
  echo; echo "--- $mote selftest $model"
  "$mote" selftest "$model"
  echo; echo "--- $mote bench $model --duration 1"
  "$mote" bench "$model" --duration 1
}

bench() {
  setup "$packages_test"
  build release
  local program
  for program in build/release/bin/*_bench; do
    [ -x "$program" ] || continue
    echo "--- $(basename "$program")"
    "$program"
  done
  build/release/bin/mote bench build/release/digits.mote
}

format() {
  setup "$packages_test"
  git ls-files -co --exclude-standard '*.h' '*.hpp' '*.cc' | xargs clang-format -i
  build release --target mote
  mkdir -p docs/generated
  build/release/bin/mote ops --markdown > docs/generated/operators.md
}

case ${1:-help} in
  setup) setup "$packages_all" ;;
  demo) demo ;;
  test) run_tests "${@:2}" ;;
  bench) bench ;;
  format) format ;;
  help | -h | --help) usage ;;
  *) usage; exit 2 ;;
esac
