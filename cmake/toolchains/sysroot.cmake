# With MOTE_SYSROOT, a folder that make_sysroot.sh made: Debian's libraries of the target, for what needs more than the C and C++ libraries
# (the command, the compiler, the fleet agent). The C library to compile with stays the cross compiler's, so that objects are the same.
set(MOTE_SYSROOT "" CACHE PATH "Root with the target's libraries (cmake/toolchains/make_sysroot.sh)")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MOTE_SYSROOT)
if(MOTE_SYSROOT)
  get_filename_component(_sysroot "${MOTE_SYSROOT}" ABSOLUTE)
  if(NOT EXISTS ${_sysroot}/packages.txt)
    message(FATAL_ERROR "MOTE_SYSROOT: ${_sysroot} has no packages.txt: make it with cmake/toolchains/make_sysroot.sh, or run "
                        "'./do test aarch64-product' once, which makes it")
  endif()
  list(PREPEND CMAKE_FIND_ROOT_PATH ${_sysroot})
  foreach(_kind EXE SHARED MODULE)
    set(CMAKE_${_kind}_LINKER_FLAGS_INIT "-Wl,-rpath-link,${_sysroot}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
  endforeach()
  list(POP_FRONT CMAKE_CROSSCOMPILING_EMULATOR _emulator)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${_emulator};-L;${_sysroot}")
endif()
