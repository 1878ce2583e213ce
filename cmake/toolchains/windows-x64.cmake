# Windows on x86-64; programs run under Wine.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(MOTE_ZIG_TARGET x86_64-windows-gnu)
set(MOTE_ZIG_PRESET windows-x64)
# Debian has the loader outside of the path.
find_program(MOTE_WINE NAMES wine64 wine PATHS /usr/lib/wine NO_CMAKE_FIND_ROOT_PATH)
set(CMAKE_CROSSCOMPILING_EMULATOR ${MOTE_WINE})
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
