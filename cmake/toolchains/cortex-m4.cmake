# Cortex-M4F; QEMU runs it as the board mps2-an386.
set(MOTE_CPU_FLAGS "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16")
set(MOTE_BOARD mps2-an386)
include(${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake)
