# Writes a header with the texts of files: cmake -DOUT=kernel_texts.h -DROOT=folder -DFILES=a.h|b.h -P write_texts.cmake
# Only when something changed, so that nothing is built again without need.
string(REPLACE "|" ";" _files "${FILES}")
set(_new ${OUT}.new)
file(WRITE ${_new} "#pragma once\nstruct KernelText { const char *path, *text; };\ninline constexpr KernelText kKernelTexts[] = {\n")
foreach(_file IN LISTS _files)
  file(READ ${ROOT}/${_file} _text)
  file(APPEND ${_new} "{\"${_file}\", R\"MOTE(${_text})MOTE\"},\n")
endforeach()
file(APPEND ${_new} "};\n")
execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different ${_new} ${OUT})
