# Streaming programs, the examples and their projects; the bundled model is enough, the shared ones are used where they are.
set(_stream ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/stream_test.py --mote $<TARGET_FILE:mote> --shared ${_shared})
set(_run ${PROJECT_SOURCE_DIR}/examples/tiny/run.sh)
add_test(NAME tiny_stream_host COMMAND ${_stream} --board host)
set_tests_properties(tiny_stream_host PROPERTIES TIMEOUT 600 LABELS slow)
find_program(MOTE_ARM_CXX arm-none-eabi-g++)
find_program(MOTE_QEMU_ARM qemu-system-arm)
find_program(MOTE_MAKE make)
if(NOT MOTE_ARM_CXX OR NOT MOTE_QEMU_ARM OR NOT MOTE_MAKE)
  return()
endif()
foreach(_board m4 m55)
  add_test(NAME tiny_stream_${_board} COMMAND ${_stream} --board ${_board})
  add_test(NAME tiny_example_keyword_${_board} COMMAND ${_run} keyword --board ${_board} --mote $<TARGET_FILE:mote>)
  set_tests_properties(tiny_example_keyword_${_board} PROPERTIES PASS_REGULAR_EXPRESSION "rising  (9|100)")
  set_tests_properties(tiny_stream_${_board} PROPERTIES TIMEOUT 600 LABELS slow)
  add_test(NAME tiny_keyword_${_board}
           COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/bench/tiny --mote $<TARGET_FILE:mote> --budgets
                   ${CMAKE_CURRENT_SOURCE_DIR}/budgets.json --board ${_board} ${PROJECT_SOURCE_DIR}/examples/tiny/keyword/whistle.tflite)
  if(EXISTS ${_shared}/models/tflm_person_detect_int8.tflite)
    add_test(NAME tiny_example_person_${_board} COMMAND ${_run} person --board ${_board} --mote $<TARGET_FILE:mote>)
    add_test(NAME tiny_example_anomaly_${_board} COMMAND ${_run} anomaly --board ${_board} --mote $<TARGET_FILE:mote>)
    set_tests_properties(tiny_example_person_${_board} PROPERTIES PASS_REGULAR_EXPRESSION "\nperson  9")
    set_tests_properties(tiny_example_anomaly_${_board} PROPERTIES PASS_REGULAR_EXPRESSION "anomaly found")
    set_tests_properties(tiny_example_person_${_board} tiny_example_anomaly_${_board} PROPERTIES ENVIRONMENT "MOTE_SHARED=${_shared}")
  endif()
  # Zephyr's sample with a stand-in for Zephyr: configured and compiled, not run.
  add_test(NAME tiny_zephyr_${_board}
           COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${PROJECT_SOURCE_DIR}/examples/tiny/zephyr/sample
                   ${CMAKE_CURRENT_BINARY_DIR}/zephyr_${_board} --build-generator ${CMAKE_GENERATOR} --build-options
                   -DZephyr_DIR=${CMAKE_CURRENT_SOURCE_DIR}/zephyr -DZEPHYR_CORE=cortex-${_board} -DCONFIG_MOTE_COMMAND=$<TARGET_FILE:mote>)
endforeach()
