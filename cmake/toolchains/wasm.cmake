# WebAssembly with WASI; programs run under PyPI's wasmtime.
set(CMAKE_SYSTEM_NAME WASI)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(MOTE_ZIG_TARGET wasm32-wasi)
set(MOTE_ZIG_PRESET wasm)
set(CMAKE_EXECUTABLE_SUFFIX .wasm)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
# WebAssembly has no way to ask what an engine can do: one that has no vectors refuses a program that uses them.
set(MOTE_WASM_SIMD ON CACHE BOOL "Use 128-bit vectors (WebAssembly SIMD)")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MOTE_WASM_SIMD)
if(MOTE_WASM_SIMD)
  string(APPEND CMAKE_C_FLAGS_INIT " -msimd128")
  string(APPEND CMAKE_CXX_FLAGS_INIT " -msimd128")
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR "${_venv}/bin/python3;${CMAKE_CURRENT_LIST_DIR}/../run_wasm.py")
# WASI has no mmap; its C library emulates it by reading.
string(APPEND CMAKE_C_FLAGS_INIT " -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_PROCESS_CLOCKS -D_WASI_EMULATED_SIGNAL")
string(APPEND CMAKE_CXX_FLAGS_INIT " -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_PROCESS_CLOCKS -D_WASI_EMULATED_SIGNAL")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-lwasi-emulated-mman -lwasi-emulated-process-clocks -lwasi-emulated-signal")
