# Installs Mote into a folder of its own, builds a C and a C++ program against what is there, and runs them.
#   cmake -DBUILD=<build folder> -DPROGRAM=<a.mote> -DSOURCE=<this folder> -DWORK=<scratch folder> [-DCC= -DCXX=] -P install_test.cmake
file(REMOVE_RECURSE ${WORK})
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component sdk)

# Only the interface is installed, and it stands on its own.
file(GLOB_RECURSE headers RELATIVE ${WORK}/prefix/include ${WORK}/prefix/include/*)
list(SORT headers)
set(expected aten.hpp backend.h backend_compiler.h backend_plugin.h custom_op.h export.h instance.h mote.h mote.hpp ops.h program.h status.h
    values.hpp view_check.hpp)
list(TRANSFORM expected PREPEND mote/api/)
if(NOT headers STREQUAL expected)
  message(FATAL_ERROR "installed headers: expected ${expected}, found ${headers}")
endif()

run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK}/build)
foreach(program c_shared c_static cpp_shared)
  run(${WORK}/build/${program} ${PROGRAM})
  if(NOT output MATCHES "^y f32 16 bytes")
    message(FATAL_ERROR "${program}: expected 'y f32 16 bytes', found '${output}'")
  endif()
endforeach()

# The shared library exports mote_* and nothing else.
file(GLOB library ${WORK}/prefix/lib*/libmote.so ${WORK}/prefix/lib*/*/libmote.so)
find_program(NM nm)
if(NM AND library)
  run(${NM} -D --defined-only ${library})
  string(REGEX MATCHALL "[^\n]+" lines "${output}")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES " mote_[a-z0-9_]+$")
      message(FATAL_ERROR "libmote.so exports what it should not: ${line}")
    endif()
  endforeach()
endif()

find_program(PKG_CONFIG pkg-config)
file(GLOB pc_folder ${WORK}/prefix/lib*/pkgconfig ${WORK}/prefix/lib*/*/pkgconfig)
if(PKG_CONFIG AND pc_folder)
  run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_folder} ${PKG_CONFIG} --cflags --libs mote)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run(${CC} ${SOURCE}/c_program.c -o ${WORK}/c_pkg_config ${flags})
endif()
message(STATUS "installed headers, CMake package and pkg-config file work")
