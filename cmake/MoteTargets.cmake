# How Mote's libraries are compiled.
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/gen)

set(MOTE_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Werror)
# Products and sums round the same way on every machine: no contraction to fused multiply-add.
set(MOTE_COMMON_FLAGS ${MOTE_WARNINGS} -ffp-contract=off -ffunction-sections -fdata-sections)

# -O2: GCC 12 for aarch64 crashes on the reductions of some kernels with -O3, and warns of accesses that cannot happen.
# Fast kernels choose their own flags.
foreach(_language C CXX)
  string(REPLACE "-O3" "-O2" CMAKE_${_language}_FLAGS_RELEASE "${CMAKE_${_language}_FLAGS_RELEASE}")
endforeach()

# MOTE_UNITY: compile several files of some targets as one. The headers of the standard library, CLI11 and nlohmann-json take most of a host
# file's time, and every file instantiates them again: a full build takes half the time so, a single changed file a little more.
option(MOTE_UNITY "Compile operators, host libraries and tests in groups of files" ON)
function(mote_group_sources name)
  if(MOTE_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
endfunction()

set(MOTE_SANITIZE "" CACHE STRING "Sanitizers for everything in this build, e.g. address,undefined")
if(MOTE_SANITIZE)
  add_compile_options(-fsanitize=${MOTE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MOTE_SANITIZE})
elseif(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_link_options(-Wl,--gc-sections)  # what nobody calls: 2.5 % of the mote command, nearly what its hardening adds
endif()

# Device code: no exceptions, no RTTI, no locks around static objects, and so no tables to unwind it with (they would be a fourteenth of the
# library). Sanitizers show the way to an error with them.
if(NOT MOTE_SANITIZE)
  set(_mote_no_tables -fno-asynchronous-unwind-tables -fno-unwind-tables)
endif()
function(mote_device_flags name)
  target_compile_options(${name} PRIVATE ${MOTE_COMMON_FLAGS} ${_mote_no_tables}
                         $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics>)
endfunction()
function(mote_device_library name)
  add_library(${name} STATIC ${ARGN})
  mote_device_flags(${name})
endfunction()

# GCC 12 sees accesses out of bounds in std::vector::insert that do not happen; Clang still looks, and so do the sanitizers.
function(mote_host_flags name)
  target_compile_options(${name} PRIVATE ${MOTE_COMMON_FLAGS}
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
endfunction()

# What makes an error in memory harder to use, for programs and libraries of Linux. All are linked so that nothing that the loader has
# written can be overwritten; host code, and the parts of libmote that know an operating system (api, platform), are compiled with checks
# too (mote_harden_code). Core, format, operators, runtime and kernels are not: they run where nothing supports a stack protector, and
# kernels pay for it: CET alone adds 1.1 % to their code (113 objects of operators and kernels, GCC 12, x86-64, before linking).
function(mote_harden_link name)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(${name} PRIVATE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  endif()
endfunction()
function(mote_harden_code name)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR MOTE_SANITIZE)
    return()
  endif()
  get_target_property(_type ${name} TYPE)
  if(_type STREQUAL STATIC_LIBRARY)
    set_property(GLOBAL APPEND PROPERTY MOTE_HARDENED_LIBRARIES ${name})  # elf_hardening looks at every object of these
  endif()
  target_compile_options(${name} PRIVATE -fstack-protector-strong $<$<CONFIG:Release>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|i.86")
    target_compile_options(${name} PRIVATE -fcf-protection=full)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64")
    target_compile_options(${name} PRIVATE -mbranch-protection=standard)
  endif()
endfunction()

# What no fuzz target runs and no test waits for: under sanitizers not optimised and without fuzzers' counters, in 40 % of the time.
function(mote_quick_sanitized name)
  if(MOTE_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)
    if(MOTE_SANITIZE MATCHES "fuzzer-no-link")
      target_compile_options(${name} PRIVATE -fno-sanitize=fuzzer-no-link)
    endif()
  endif()
endfunction()

# Tests: much of their code is GoogleTest's macros, which take long to optimise (-O2: 1.7 times as long) and run once.
# LONG: the test's own code takes most of its time.
function(mote_test_flags name)
  mote_host_flags(${name})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(NOT "LONG" IN_LIST ARGN)
    mote_quick_sanitized(${name})
  endif()
endfunction()

# Host code: the standard library is welcome.
function(mote_host_library name)
  add_library(${name} STATIC ${ARGN})
  mote_host_flags(${name})
  mote_harden_code(${name})
endfunction()

# The .cc files of a module folder, without its tests, benchmarks and fuzz targets.
function(mote_module_sources out folder)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cc$")
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
