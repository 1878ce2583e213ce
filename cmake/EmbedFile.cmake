# mote_embed_file(out_source out_include file symbol): turns a file into C++ source, readable by every target and tool chain.
#   extern const unsigned char <symbol>[];  extern const unsigned int <symbol>_size;   in <symbol without mote_>_data.h
# The bytes are 64-byte aligned; on bare metal they lie in section .model, for the linker script to place.
# The source is written by the build, this file as a script, whenever the file changes.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${file} hex HEX)
  string(LENGTH "${hex}" nibbles)
  math(EXPR bytes "${nibbles} / 2")
  string(REGEX REPLACE "(................................................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  file(WRITE ${out} "#include \"${stem}_data.h\"
${section}alignas(64) extern const unsigned char ${symbol}[] = {
${hex}};
extern const unsigned int ${symbol}_size = ${bytes};
")
  return()
endif()

set(_mote_embed_script ${CMAKE_CURRENT_LIST_FILE})
function(mote_embed_file out_source out_include file symbol)
  string(REGEX REPLACE "^mote_" "" stem ${symbol})
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  file(CONFIGURE OUTPUT ${dir}/${stem}_data.h @ONLY CONTENT "#pragma once
extern const unsigned char ${symbol}[];
extern const unsigned int ${symbol}_size;
")
  set(section "")
  if(CMAKE_SYSTEM_NAME STREQUAL Generic)
    set(section "[[gnu::section(\".model\")]] ")
  endif()
  add_custom_command(
    OUTPUT ${dir}/${stem}_data.cc
    COMMAND ${CMAKE_COMMAND} -Dfile=${file} -Dsymbol=${symbol} -Dstem=${stem} "-Dsection=${section}" -Dout=${dir}/${stem}_data.cc -P
            ${_mote_embed_script}
    DEPENDS ${file} ${_mote_embed_script}
    VERBATIM)
  set(${out_source} ${dir}/${stem}_data.cc PARENT_SCOPE)
  set(${out_include} ${dir} PARENT_SCOPE)
endfunction()
