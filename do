#!/bin/bash
# Everything people and CI do with this repository. `./do help` lists it.
set -euo pipefail
cd "$(dirname "$0")"

jobs=$(nproc)
tests=$((jobs + 1))  # at once: those of the fleet mostly wait
passed=0 failed=0 skipped=0 times="" longest=""

usage() {
  cat << 'END'
./do setup             install what is missing (Debian packages, by apt)
./do demo              build, make the bundled model, run it: result, time, memory
./do test              every test of the release build, of the sanitizers' all but the longest, 20 seconds of each fuzz target; threads under their
                       sanitizer; device code on 64-bit Arm, Cortex-M and WebAssembly (what CI runs)
./do test --fast       the tests of the release build that take less than a minute together
./do test --all        also all of 64-bit Arm, 32-bit Arm, RISC-V, Windows, macOS, optimised code of Clang, clang-tidy over all folders, and
                       AVX-512 and AMX and the longest tests under the sanitizers
./do test PRESET ...   build and test these presets only (cmake --list-presets), or python: the package from `pip install .`; tidy:
                       clang-tidy over all folders; aarch64-kernels: kernels, runtime and C interface on 64-bit Arm
./do stress [MINUTES]  random graphs with new seeds on every processor and instruction set (10 minutes unless said otherwise); findings
                       are made small and kept in build/stress-findings (tests/differential)
./do fuzz [MINUTES [TARGET ...]]
                       fuzz targets of the runtime and its backends, OpenCL on PoCL among them, under sanitizers and with the kernels of
                       every x86 instruction set (10 minutes each; tests/fuzz); findings lie in build/asan-avx512/fuzz
./do package           build/packages/mote_*.deb for this machine, tested in a fresh Debian (as root, with debootstrap)
./do bench             overhead per operator, load time, and the bundled model
./do format            format all code, write docs/generated anew
END
}

# --- set-up ----------------------------------------------------------------------------------------------------------

packages_demo="build-essential cmake ninja-build ccache git python3 flatbuffers-compiler libflatbuffers-dev
  protobuf-compiler libprotobuf-dev libcli11-dev nlohmann-json3-dev libjpeg-dev libpng-dev libhwy-dev
  libssl-dev libcurl4-openssl-dev opencl-headers"
packages_test="$packages_demo libgtest-dev googletest libbenchmark-dev clang libclang-rt-14-dev clang-format clang-tidy gcc-arm-none-eabi
  libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm valgrind python3-venv python3-dev
  nginx-light docker-registry ocl-icd-libopencl1 pocl-opencl-icd libxnnpack-dev libpthreadpool-dev"
# What single presets need besides; a test run without them says so and leaves the preset out.
packages_aarch64="g++-aarch64-linux-gnu qemu-user"
packages_armv7="g++-arm-linux-gnueabihf qemu-user"
packages_riscv64="g++-riscv64-linux-gnu qemu-user"
# The fleet agent on 64-bit Arm: Debian's libraries of that processor, and a kernel, unpacked in build/sysroot.
packages_product="$packages_aarch64 qemu-system-arm"
packages_sysroot="libstdc++6 libgcc-s1 libssl-dev libcurl4-openssl-dev libprotobuf-dev libjpeg-dev libpng-dev libcli11-dev nlohmann-json3-dev zlib1g-dev"
packages_all="$packages_test $packages_aarch64 $packages_armv7 $packages_riscv64 wine64"

setup() {
  local missing=() package as_root=()
  for package in $1; do
    # ${db:Status-Abbrev}: "ii" when installed and configured.
    [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2> /dev/null | cut -c1-2)" = ii ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get > /dev/null || { echo "please install what matches these Debian packages: ${missing[*]}"; return 1; }
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
    pillow==13.0.0 tuf==7.0.1 'securesystemslib[crypto]==1.6.0' scikit-learn==1.9.1 skl2onnx==1.20.0; then
    export MOTE_PYTHON=$PWD/build/venv/bin/python3
  else
    skipped=$((skipped + 1))
    echo "SKIPPED: comparing with ONNX Runtime, LiteRT and TFLite Micro: the PyPI packages could not be installed"
  fi
  # Signatures of models; by itself, so that its wishes for other packages change nothing above.
  if ! install_venv model-signing==1.1.1 pyOpenSSL==26.4.0; then
    skipped=$((skipped + 1))
    echo "SKIPPED: signatures both ways with model-signing: the PyPI packages could not be installed"
  fi
  # Arm's compiler for Ethos-U, by itself for the same reason.
  if { [ -x build/vela/bin/python3 ] || python3 -m venv build/vela; } &&
    build/vela/bin/python3 -m pip install -q --disable-pip-version-check ethos-u-vela==5.2.0; then
    export MOTE_VELA=$PWD/build/vela/bin/vela
  else
    skipped=$((skipped + 1))
    echo "SKIPPED: programs for Ethos-U: the PyPI package ethos-u-vela could not be installed"
  fi
  # TOSA's reference model wants an older numpy.
  if { [ -x build/tosa/bin/python3 ] || python3 -m venv build/tosa; } &&
    build/tosa/bin/python3 -m pip install -q --disable-pip-version-check tosa-tools==2026.8.0; then
    export MOTE_TOSA_PYTHON=$PWD/build/tosa/bin/python3
  else
    skipped=$((skipped + 1))
    echo "SKIPPED: comparing with TOSA's reference model: the PyPI package tosa-tools could not be installed"
  fi
  # Repositories both ways with tuf-js, where there is Node.
  if command -v npm > /dev/null && npm install --silent --no-audit --no-fund --prefix build/tuf-js tuf-js@5.0.1 > /dev/null 2>&1; then
    export MOTE_TUF_JS=$PWD/build/tuf-js
  else
    skipped=$((skipped + 1))
    echo "SKIPPED: repositories both ways with tuf-js: there is no Node, or the npm package could not be installed"
  fi
}

# PyTorch: its operator samples and models come through the compiler (tests/torch), and the Python package is tested with it.
setup_torch() {
  if ! install_venv torch==2.13.0 expecttest==0.3.0 pytest==9.2.0 || ! install_venv --no-deps torchvision==0.28.0; then
    skipped=$((skipped + 1))
    echo "SKIPPED: what needs PyTorch: the PyPI packages could not be installed"
    return
  fi
  # ExecuTorch, with what its exporter imports and no more: its other wishes are not for this.
  if install_venv --no-deps executorch==1.5.1 torchao==0.18.0 ruamel.yaml==0.19.1 tabulate==0.10.0; then
    export MOTE_EXECUTORCH_PYTHON=$PWD/build/venv/bin/python3
  else
    skipped=$((skipped + 1))
    echo "SKIPPED: comparing with ExecuTorch: the PyPI packages could not be installed"
  fi
}

# --- building --------------------------------------------------------------------------------------------------------

# What took how long: SECONDS WHAT.
took() { times+="$(printf '%4d:%02d  %s' "$(($1 / 60))" "$(($1 % 60))" "$2")"$'\n'; }

configure() { cmake --preset "$1" > "build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log"; return 1; }; }

build() {
  local begin=$SECONDS status=0
  mkdir -p build
  echo "--- $1: building"
  configure "$1" && cmake --build "build/$1" -j "$jobs" "${@:2}" || status=1
  took "$((SECONDS - begin))" "  of it building $1"
  return $status
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
  ctest --preset "$preset" $longest -j "$tests" --output-junit "$report" "$@" || true
  if [ ! -f "$report" ]; then count "$preset: ctest" 1; return; fi
  local total bad left
  total=$(attribute tests "$report") bad=$(attribute failures "$report")
  left=$(($(attribute skipped "$report") + $(attribute disabled "$report")))
  passed=$((passed + total - bad - left)) failed=$((failed + bad)) skipped=$((skipped + left))
}

# clang-tidy over what the release preset's own tests leave out (tests/checks/check_tidy.sh); reads sources and generated headers.
test_tidy() {
  if build release --target mote_kernels mote_tools; then run_ctest release -C tidy -L tidy; else count "tidy: build" 1; fi
}

# PRESET [--target TARGET ...]: builds it, or these targets of it, and runs its tests.
test_preset() {
  if build "$@"; then run_ctest "$1"; else count "$1: build" 1; fi
}

# PRESET TESTS TARGET ...: builds the targets and runs the tests whose names match.
test_part() {
  if build "$1" --target "${@:3}"; then run_ctest "$1" -R "$2"; else count "$1: build" 1; fi
}

build_only() {
  if build "$1"; then count "$1: build" 0; else count "$1: build" 1; fi
}

# One fuzz target for some seconds: PRESET NAME TARGET LONGEST_INPUT SECONDS SEEDS... Every call starts from the same inputs and the same
# seed, unless that is given: how far it comes depends on the machine, the way there does not.
fuzz_target() {
  local name=$2 work=build/$1/fuzz
  mkdir -p "$work/$name"
  "build/$1/bin/$3" -seed="${seed:-1}" -max_len="$4" -max_total_time="$5" -timeout="${timeout:-10}" -rss_limit_mb="${memory:-2048}" \
    -print_final_stats=1 -artifact_prefix="$work/$name-" "$work/$name" "${@:6}" > "$work/$name.log" 2>&1
}

# What reads a program or runs one, for ./do fuzz; and what else reads untrusted bytes.
fuzz_runtime="program_fuzz mutate_fuzz op_fuzz call_fuzz host_fuzz isa_fuzz"
fuzz_readers="model_fuzz-onnx model_fuzz-tflite model_fuzz-torch model_fuzz-executorch model_fuzz-tosa json_fuzz metadata_fuzz package_fuzz"
fuzz_readers+=" manifest_fuzz policy_fuzz registry_fuzz"

# PRESET SECONDS NAME...: fuzz targets of a sanitizer build, as many at a time as there are processors; a crash or hang fails.
fuzz_targets() {
  local preset=$1 seconds=$2 work=build/$1/fuzz name
  local names=("${@:3}")
  local -A process=()
  rm -rf "$work" && mkdir -p "$work/seeds" "$work/seeds_torch" "$work/seeds_executorch"
  for name in tests/torch/fixtures/*/model.pt2; do cp "$name" "$work/seeds_torch/$(basename "$(dirname "$name")").pt2"; done
  for name in tests/executorch/fixtures/*/model.pte; do cp "$name" "$work/seeds_executorch/$(basename "$(dirname "$name")").pte"; done
  if ! "build/$preset/bin/make_corpus" "$work/seeds" 500 > "$work/make_corpus.log" 2>&1; then
    cat "$work/make_corpus.log"
    count make_corpus 1
    return
  fi
  echo "--- fuzzing, $seconds s each"
  for name in "${names[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do sleep 0.5; done
    case $name in
      model_fuzz-torch) fuzz_target "$preset" "$name" model_fuzz 262144 "$seconds" "$work/seeds_torch" & ;;
      model_fuzz-executorch) fuzz_target "$preset" "$name" model_fuzz 98304 "$seconds" "$work/seeds_executorch" & ;;
      model_fuzz-*) fuzz_target "$preset" "$name" model_fuzz 32768 "$seconds" "tests/fuzz_models/corpus/${name#*-}" & ;;
      host_fuzz) fuzz_target "$preset" "$name" "$name" 16384 "$seconds" "$work/seeds" tests/fuzz/corpus tests/fuzz/corpus_host & ;;
      # PoCL compiles each kernel when it meets it, for seconds, and never frees some of what it compiled.
      host_fuzz-opencl)
        ASAN_OPTIONS=detect_leaks=0 MOTE_FUZZ_OPENCL=1 MOTE_OPENCL_CACHE=$PWD/$work/kernels timeout=100 memory=8192 \
          fuzz_target "$preset" "$name" host_fuzz 16384 "$seconds" tests/fuzz/corpus_host &
        ;;
      metadata_fuzz) fuzz_target "$preset" "$name" "$name" 16384 "$seconds" tests/fleet/corpus/metadata & ;;
      registry_fuzz) fuzz_target "$preset" "$name" "$name" 16384 "$seconds" tests/fleet/corpus/registry & ;;
      policy_fuzz) fuzz_target "$preset" "$name" "$name" 16384 "$seconds" tests/fleet/corpus/policy & ;;
      json_fuzz | manifest_fuzz | package_fuzz) fuzz_target "$preset" "$name" "$name" 16384 "$seconds" tests/fleet/corpus/package & ;;
      *) fuzz_target "$preset" "$name" "$name" 16384 "$seconds" "$work/seeds" tests/fuzz/corpus & ;;
    esac
    process[$name]=$!
  done
  for name in "${names[@]}"; do
    if wait "${process[$name]}"; then count "$name" 0; else tail -40 "$work/$name.log"; count "$name" 1; fi
    echo "$name: $(grep -oP "number_of_executed_units: *\K.*" "$work/$name.log") executions"
  done
}

# A sanitizer build: tests, then fuzz targets; where every kernel is built also the tests that take minutes there, and OpenCL.
test_sanitized() {
  local more=host_fuzz-opencl left=""
  if [ "$1" = asan ]; then more="" left="-LE long"; fi
  if build "$1"; then run_ctest "$1" $left; fuzz_targets "$1" 20 $fuzz_runtime $fuzz_readers $more; else count "$1: build" 1; fi
}

# The Python package as users install it, and its tests. The compiler goes by the name that the release build has for it: ccache knows the
# objects then.
test_python() {
  echo "--- python: pip install ."
  if ! CC=cc CXX=c++ install_venv --force-reinstall --no-deps . || ! install_venv pytest==9.2.0 mypy==2.4.1 scikit-learn==1.9.1; then
    count "python: pip install ." 1
    return
  fi
  # Not from here: the folder mote would be taken for the package.
  local status=0
  (cd build && venv/bin/python3 -m pytest -q -rs -p no:cacheprovider --rootdir .. ../mote/bindings/python/tests) || status=1
  count "python: pytest" $status
  status=0
  local extension
  extension=$(cd build && venv/bin/python3 -c 'import mote._mote as m; print(m.__file__)') &&
    python3 tests/checks/elf_hardening.py --mixed "$extension" || status=1
  count "python: elf_hardening" $status
}

finish() {
  echo
  [ -z "$times" ] || printf 'minutes\n%s\n' "$times"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

# Installs what a preset needs besides packages_test.
prepare() {
  case $1 in
    aarch64-product)
      setup "$packages_product" && cmake/toolchains/make_sysroot.sh arm64 build/sysroot/arm64 $packages_sysroot linux-image-arm64 > build/sysroot.log
      ;;
    aarch64*) setup "$packages_aarch64" ;;
    armv7) setup "$packages_armv7" ;;
    riscv64) setup "$packages_riscv64" ;;
    windows-x64) setup wine64 && setup_venv ;;
    wasm | macos-arm64) setup_venv ;;
  esac
}

# The bundled model, which other presets build into their programs, is made by the release build. They say so when it is missing.
make_digits() { [ -f build/release/digits_flash.mote ] || build release --target digits || true; }

# Builds and tests presets, each the way it is meant.
test_presets() {
  local preset begin
  for preset in "$@"; do
    begin=$SECONDS
    if ! prepare "$preset"; then
      skipped=$((skipped + 1))
      echo "SKIPPED: $preset: what it needs could not be installed"
      continue
    fi
    case $preset in
      asan | asan-avx512) test_sanitized "$preset" ;;
      python) test_python ;;
      # The whole tree is compiled by Clang for asan; here its optimised device code is tested.
      clang) test_preset clang --target ops_test runtime_test api_test ;;
      # What starts threads.
      tsan) test_preset tsan --target api_test platform_test runtime_test ;;
      tidy) test_tidy ;;
      # What is compiled for 64-bit Arm alone, and what it runs in.
      aarch64-kernels) test_part aarch64 '^(ops_test_neoni8mm|kernels_test_.|runtime_test|api_test)$' api_test kernels_test ops_test runtime_test ;;
      aarch64-product) test_preset aarch64-product --target fleet_test moted mote-tuf ;;
      riscv64) test_preset riscv64 --target ops_test ;;
      size | cortex-m4-all) build_only "$preset" ;;
      macos-arm64) make_digits; build_only "$preset" ;;
      cortex-* | windows-x64 | wasm) make_digits; test_preset "$preset" ;;
      *) test_preset "$preset" ;;
    esac
    took "$((SECONDS - begin))" "$preset"
  done
}

# What CI has time for: it should take less than 50 minutes on two processors; the test command ends with where they went.
presets_ci="release python asan tsan aarch64-kernels cortex-m4 cortex-m55 cortex-m4-all wasm"
presets_all="release python asan-avx512 tsan aarch64 cortex-m4 cortex-m55 cortex-m4-all wasm windows-x64 macos-arm64 armv7 aarch64-product riscv64 clang tidy"

run_tests() {
  case ${1:-} in
    --fast) setup "$packages_test"; build release && ctest --preset release -j "$tests" -LE slow ;;
    --all) longest="-C all"; run_tests $presets_all ;;
    '') run_tests $presets_ci ;;
    -*) usage; exit 2 ;;
    *)
      setup "$packages_test"
      setup_references
      setup_torch
      took "$SECONDS" "packages"
      test_presets "$@"
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

fuzz() {
  setup "$packages_test"
  local name names=("${@:2}") targets=(make_corpus) seed
  seed=$(($(date +%s) % 4294967295))
  [ ${#names[@]} -gt 0 ] || read -ra names <<< "$fuzz_runtime host_fuzz-opencl"
  for name in "${names[@]}"; do targets+=("${name%%-*}"); done
  build asan-avx512 --target "${targets[@]}"
  fuzz_targets asan-avx512 "$((${1:-10} * 60))" "${names[@]}"
  finish
}

# Seeds of their own for each call: the second it starts in, times more than a call gets through.
stress() {
  setup "$packages_test"
  build release --target stress_graphs
  local first=$(($(date +%s) * 100000))
  build/release/bin/stress_graphs --seeds "$first..18446744073709551615" --jobs "$jobs" --seconds "$((${1:-10} * 60))" \
    --report build/stress.txt --keep build/stress-findings
}

# A .deb with the command, the agent, the library and headers; installed and used in a fresh system.
package() {
  setup "$packages_demo debootstrap dpkg-dev"
  build release --target mote moted mote-tuf mote_shared mote_static
  local status=0
  cpack --config build/release/CPackConfig.cmake || status=$?
  count "package: cpack" $status
  mkdir -p build/chroot
  tests/package/chroot_test.sh build/packages/mote_*_"$(dpkg --print-architecture)".deb "$PWD/build/chroot/system" examples/digits/digits.onnx \
    build/release/bin/mote || status=$?
  if [ $status = 77 ]; then skipped=$((skipped + 1)); else count "package: chroot" $status; fi
  finish
}

format() {
  setup "$packages_test"
  git ls-files -co --exclude-standard '*.h' '*.hpp' '*.cc' | xargs clang-format -i
  build release --target mote
  mkdir -p docs/generated
  build/release/bin/mote ops --markdown > docs/generated/operators.md
  build/release/bin/mote ops --aten > docs/generated/aten.md
  build/release/bin/mote ops --tflite > docs/generated/tflite.md
  build/release/bin/mote ops --tosa > docs/generated/tosa.md
  python3 tests/checks/isas_page.py > docs/generated/isas.md
  build release --target mote_shared
  # Without the package tosa-tools this page stays as it is.
  "${MOTE_TOSA_PYTHON:-build/tosa/bin/python3}" tests/tosa/check_ops.py --mote build/release/bin/mote --library build/release/lib/libmote.so \
    --count 1 --table docs/generated/tosa_round_trip.md --write > build/tosa_ops.log 2>&1 || tail -5 build/tosa_ops.log
  build release --target backend_conformance
  local table
  for table in docs/generated/backend_*.md; do
    table=${table#docs/generated/backend_}
    build/release/bin/backend_conformance "${table%.md}" --write --matrix "docs/generated/backend_$table" > build/conformance.log 2>&1 ||
      { tail -5 build/conformance.log; return 1; }
  done
}

case ${1:-help} in
  setup) setup "$packages_all" ;;
  demo) demo ;;
  test) run_tests "${@:2}" ;;
  bench) bench ;;
  stress) stress "${@:2}" ;;
  fuzz) fuzz "${@:2}" ;;
  package) package ;;
  format) format ;;
  help | -h | --help) usage ;;
  *) usage; exit 2 ;;
esac
