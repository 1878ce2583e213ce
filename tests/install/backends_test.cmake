# Installs Mote into a folder of its own, compiles a model for OpenCL and for XNNPACK, and runs it with programs from outside, in C, C++ and
# Python: with the device, without it, with a fallback, and against a policy.
#   cmake -DBUILD= -DMOTE=<the command> -DMODEL=<a.onnx> -DSOURCE=<this folder> -DWORK=<scratch folder> -DCC= -DCXX=
#         [-DPYTHON=<interpreter> -DPYTHONPATH=<package>] -P backends_test.cmake
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK}/none ${WORK}/elsewhere)
set(ENV{MOTE_OPENCL_CACHE} ${WORK}/kernels)

function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}\n${output}")
  endif()
endfunction()

# expect(CODE PATTERN COMMAND...): that exit code, and the text somewhere in what it says.
set(checked 0)
function(expect code pattern)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors WORKING_DIRECTORY ${WORK}/elsewhere)
  if(NOT result EQUAL code OR NOT "${output}${errors}" MATCHES "${pattern}")
    message(FATAL_ERROR "expected exit code ${code} and '${pattern}', found ${result} of ${ARGN}\n${output}${errors}")
  endif()
  math(EXPR checked "${checked} + 1")
  set(checked ${checked} PARENT_SCOPE)
endfunction()

must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component sdk)
file(GLOB plugin ${WORK}/prefix/lib*/libmote_opencl.so ${WORK}/prefix/lib*/*/libmote_opencl.so)
if(NOT plugin)
  message(FATAL_ERROR "libmote_opencl.so is not installed beside libmote")
endif()

# Whole on the device; in parts; whole with the CPU in its place.
file(WRITE ${WORK}/parts.toml "[op.softmax]\nrequire = [\"cpu\"]\n[op.conv]\nrequire = [\"opencl\"]\n")
file(WRITE ${WORK}/listed.toml "fallback = \"listed\"\n[default]\nrequire = [\"opencl\"]\n")
must(${MOTE} compile ${MODEL} -o ${WORK}/whole.mote --backends opencl)
must(${MOTE} compile ${MODEL} -o ${WORK}/parts.mote --backends opencl,cpu --policy ${WORK}/parts.toml)
must(${MOTE} compile ${MODEL} -o ${WORK}/listed.mote --backends opencl,cpu --policy ${WORK}/listed.toml)

must(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX})
must(${CMAKE_COMMAND} --build ${WORK}/build --target backend_c backend_c_static backend_cpp)

set(absent ${CMAKE_COMMAND} -E env OCL_ICD_VENDORS=${WORK}/none)
execute_process(COMMAND ${WORK}/build/backend_c ${WORK}/whole.mote opencl RESULT_VARIABLE result ERROR_VARIABLE errors OUTPUT_QUIET)
if(result EQUAL 3 AND errors MATCHES "device or driver that a backend needs is not there")
  message(STATUS "SKIPPED: this machine has no OpenCL device (Debian: pocl-opencl-icd)")
  return()
endif()

set(programs c cpp)
set(run_c ${WORK}/build/backend_c)
set(run_cpp ${WORK}/build/backend_cpp)
if(PYTHON)
  list(APPEND programs python)
  set(run_python ${CMAKE_COMMAND} -E env PYTHONPATH=${PYTHONPATH} PYTHONDONTWRITEBYTECODE=1 ${PYTHON} ${SOURCE}/backend_program.py)
endif()
file(COPY_FILE ${plugin} ${WORK}/elsewhere/libmote_mine.so)
foreach(name IN LISTS programs)
  set(run ${run_${name}})
  expect(0 "runs on opencl\n.*degraded: no\nself-test: 1 outputs, 0 wrong" ${run} ${WORK}/whole.mote opencl require no-fallback)
  expect(0 "compiled for cpu, runs on cpu\n.*self-test: 1 outputs, 0 wrong" ${run} ${WORK}/parts.mote opencl)
  # No device: refused, unless the file has the part for the CPU too, and the caller lets it.
  expect(3 "device or driver that a backend needs is not there: 'opencl'" ${absent} ${run} ${WORK}/whole.mote opencl)
  expect(0 "compiled for opencl, runs on cpu\ndegraded: yes\nself-test: 1 outputs, 0 wrong" ${absent} ${run} ${WORK}/listed.mote opencl)
  expect(3 "device or driver that a backend needs is not there: 'opencl'" ${absent} ${run} ${WORK}/listed.mote opencl no-fallback)
  # The policy.
  expect(3 "was compiled to run elsewhere than the caller requires: 'cpu'" ${run} ${WORK}/parts.mote opencl require)
  expect(3 "backend that the caller did not allow: 'opencl'" ${run} ${WORK}/whole.mote xnnpack)
  # Only from the folder of libmote: not the current one, not a path that is not absolute.
  expect(4 "there is no such file" ${run} ${WORK}/whole.mote mine)
  foreach(path ./libmote_mine.so ../elsewhere/libmote_mine.so libmote_mine.so)
    expect(4 "expected the name of a backend, .* or the absolute path of its library: '${path}'" ${run} ${WORK}/whole.mote ${path})
  endforeach()
endforeach()
expect(0 "runs on opencl" ${run_cpp} ${WORK}/whole.mote ${WORK}/elsewhere/libmote_mine.so)
# A program that libmote is linked into looks beside itself, also when it was started by a relative name.
expect(4 "there is no such file" ../build/backend_c_static ${WORK}/whole.mote opencl)
file(COPY_FILE ${plugin} ${WORK}/build/libmote_opencl.so)
expect(0 "self-test: 1 outputs, 0 wrong" ../build/backend_c_static ${WORK}/whole.mote opencl)
# XNNPACK, where its library is installed.
file(WRITE ${WORK}/xnn.toml "[op.conv]\nrequire = [\"xnnpack\"]\n")
execute_process(COMMAND ${MOTE} compile ${MODEL} -o ${WORK}/xnn.mote --backends xnnpack,cpu --policy ${WORK}/xnn.toml
                RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
if(result EQUAL 0)
  foreach(name IN LISTS programs)
    expect(0 "compiled for xnnpack, runs on xnnpack\n.*self-test: 1 outputs, 0 wrong" ${run_${name}} ${WORK}/xnn.mote xnnpack)
  endforeach()
endif()
message(STATUS "programs from outside (${programs}): ${checked} cases as expected")
