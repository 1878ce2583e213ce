# Cortex-M55 with Helium; QEMU runs it as the board mps3-an547.
set(MOTE_CPU_FLAGS "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard")
set(MOTE_BOARD mps3-an547)
include(${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake)
