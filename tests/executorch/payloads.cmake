# Payloads of ExecuTorch's XNNPACK delegate against ExecuTorch's own runtime; the files of payloads/ need no Python.
add_executable(xnnpack_runner payload_runner.cc payload.cc ../torch/case_runner.cc)
mote_host_flags(xnnpack_runner)
target_link_libraries(xnnpack_runner PRIVATE mote_executorch mote_driver mote_tools)

add_executable(stress_payloads stress_payloads.cc payload.cc)
mote_host_flags(stress_payloads)
target_link_libraries(stress_payloads PRIVATE mote_executorch mote_driver mote_model_fuzzing)

add_executable(xnnpack_payloads_test payloads_test.cc payload.cc)
mote_host_flags(xnnpack_payloads_test)
target_compile_definitions(xnnpack_payloads_test PRIVATE MOTE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(xnnpack_payloads_test PRIVATE mote_executorch mote_driver mote_model_fuzzing GTest::gtest_main)
add_test(NAME xnnpack_payloads_test COMMAND xnnpack_payloads_test)
add_test(NAME stress_payloads COMMAND sh -c "\"$<TARGET_FILE:stress_payloads>\" 2000 1 \"${CMAKE_CURRENT_SOURCE_DIR}\"/payloads/*.xnn")
if(NOT MOTE_SANITIZE)
  add_test(NAME executorch_schema COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run.sh ${CMAKE_CURRENT_SOURCE_DIR}/check_schema.py
                                          ${PROJECT_SOURCE_DIR}/mote/compiler/frontends/executorch)
  # Minutes each: only with ctest -C all (./do test --all).
  add_test(NAME xnnpack_ops CONFIGURATIONS all COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run.sh ${CMAKE_CURRENT_SOURCE_DIR}/xnnpack_ops.py
                                    $<TARGET_FILE:xnnpack_runner>)
  add_test(NAME xnnpack_models CONFIGURATIONS all COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run.sh ${CMAKE_CURRENT_SOURCE_DIR}/xnnpack_models.py
                                       $<TARGET_FILE:xnnpack_runner>)
  set_tests_properties(executorch_schema xnnpack_ops xnnpack_models PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 3600)
  set_tests_properties(xnnpack_ops xnnpack_models PROPERTIES LABELS slow)
endif()
