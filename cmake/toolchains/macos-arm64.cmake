# macOS on Arm. Built only: nothing here can run it.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(MOTE_ZIG_TARGET aarch64-macos)
set(MOTE_ZIG_PRESET macos-arm64)
# Apple's tools that CMake asks for; none is needed to link a plain program.
set(CMAKE_INSTALL_NAME_TOOL true)
set(CMAKE_OSX_SYSROOT "" CACHE STRING "")
set(CMAKE_OSX_DEPLOYMENT_TARGET "" CACHE STRING "")
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
