# How Mote's libraries are compiled.
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/gen)

set(MOTE_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Werror)
# Products and sums round the same way on every machine: no contraction to fused multiply-add.
set(MOTE_COMMON_FLAGS ${MOTE_WARNINGS} -ffp-contract=off -ffunction-sections -fdata-sections)

# Device code: no exceptions, no RTTI, no locks around static objects.
function(mote_device_library name)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE ${MOTE_COMMON_FLAGS} $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics>)
endfunction()

function(mote_host_flags name)
  target_compile_options(${name} PRIVATE ${MOTE_COMMON_FLAGS})
endfunction()

# Host code: the standard library is welcome.
function(mote_host_library name)
  add_library(${name} STATIC ${ARGN})
  mote_host_flags(${name})
endfunction()
