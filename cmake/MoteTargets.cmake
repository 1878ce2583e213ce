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

# MOTE_UNITY: compile several operators at once. Half the time for a full build, more for one changed operator.
option(MOTE_UNITY "Compile operators and their tests in groups" ON)
function(mote_group_sources name)
  if(MOTE_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
endfunction()

set(MOTE_SANITIZE "" CACHE STRING "Sanitizers for everything in this build, e.g. address,undefined")
if(MOTE_SANITIZE)
  add_compile_options(-fsanitize=${MOTE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MOTE_SANITIZE})
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

# Tests: much of their code is GoogleTest's macros, which take long to optimise (-O2: 1.7 times as long) and run once.
function(mote_test_flags name)
  mote_host_flags(${name})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# Host code: the standard library is welcome.
function(mote_host_library name)
  add_library(${name} STATIC ${ARGN})
  mote_host_flags(${name})
endfunction()

# The .cc files of a module folder, without its tests, benchmarks and fuzz targets.
function(mote_module_sources out folder)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cc$")
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
