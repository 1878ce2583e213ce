# Reads mote/ops/ops.def and prepares what is derived from it:
#   ops_selected.h/.def   the operators this build links        (runtime table)
#   ops_all.h/.def        every operator                        (documentation, tools, tests)
#   mote_selection.h      element types each operator is built for
#   mote_forms.h          which forms of operators that have some (q_conv.h) are built
# MOTE_OP_SOURCES and MOTE_OP_TESTS list the files. A selective build names its programs in MOTE_OPS_FROM_MODEL.
set(MOTE_OPS_DEF ${PROJECT_SOURCE_DIR}/mote/ops/ops.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${MOTE_OPS_DEF})
set(MOTE_GEN_DIR ${PROJECT_BINARY_DIR}/gen)
file(MAKE_DIRECTORY ${MOTE_GEN_DIR})

# MOTE_ONLY_OPS (name;name): while writing an operator, build and test just these.
# MOTE_SELECTED_OPS: "name:types:forms;…" (masks) or empty for everything with every type.
set(_mote_all_h "")
set(_mote_all_def "")
set(_mote_sel_h "")
set(_mote_sel_def "")
set(_mote_types "")
set(_mote_forms "")
set(MOTE_OP_SOURCES "")
set(MOTE_OP_TESTS "")
set(MOTE_OP_DROPPED "")
file(STRINGS ${MOTE_OPS_DEF} _mote_lines REGEX "^MOTE_OP")
foreach(_line IN LISTS _mote_lines)
  if(NOT _line MATCHES "^MOTE_OP\\(([0-9]+), ([a-z0-9_]+)\\)")
    message(FATAL_ERROR "mote/ops/ops.def: expected MOTE_OP(id, name), found '${_line}'")
  endif()
  set(_op ${CMAKE_MATCH_2})
  set(_dir ${PROJECT_SOURCE_DIR}/mote/ops/${_op})
  if(MOTE_ONLY_OPS AND NOT _op IN_LIST MOTE_ONLY_OPS)
    continue()
  endif()
  if(NOT EXISTS ${_dir}/${_op}.h)
    message(FATAL_ERROR "operator '${_op}' is in ops.def but mote/ops/${_op}/${_op}.h does not exist")
  endif()
  string(APPEND _mote_all_h "#include \"mote/ops/${_op}/${_op}.h\"\n")
  string(APPEND _mote_all_def "${_line}\n")
  list(APPEND MOTE_OP_TESTS ${_dir}/${_op}_test.cc)
  set(_mask "")
  if(MOTE_SELECTED_OPS)
    foreach(_entry IN LISTS MOTE_SELECTED_OPS)
      if(_entry MATCHES "^${_op}:(.+):(.+)$")
        set(_mask ${CMAKE_MATCH_1})
        set(_forms ${CMAKE_MATCH_2})
      endif()
    endforeach()
    if(_mask STREQUAL "")
      list(APPEND MOTE_OP_DROPPED ${_op})
      continue()
    endif()
    string(APPEND _mote_types "  if (op == OpId::${_op}) return ${_mask}u;\n")
    string(APPEND _mote_forms "  if (op == OpId::${_op}) return ${_forms}u;\n")
  endif()
  string(APPEND _mote_sel_h "#include \"mote/ops/${_op}/${_op}.h\"\n")
  string(APPEND _mote_sel_def "${_line}\n")
  list(APPEND MOTE_OP_SOURCES ${_dir}/${_op}.cc)
endforeach()
if(MOTE_SELECTED_OPS)
  set(_mote_default 0u)
else()
  set(_mote_default 0xffffffffu)
endif()
file(CONFIGURE OUTPUT ${MOTE_GEN_DIR}/ops_all.h CONTENT "${_mote_all_h}" @ONLY)
file(CONFIGURE OUTPUT ${MOTE_GEN_DIR}/ops_all.def CONTENT "${_mote_all_def}" @ONLY)
file(CONFIGURE OUTPUT ${MOTE_GEN_DIR}/ops_selected.h CONTENT "${_mote_sel_h}" @ONLY)
file(CONFIGURE OUTPUT ${MOTE_GEN_DIR}/ops_selected.def CONTENT "${_mote_sel_def}" @ONLY)
file(CONFIGURE OUTPUT ${MOTE_GEN_DIR}/mote_selection.h @ONLY CONTENT "#pragma once
#include \"mote/core/dtype.h\"
#include \"mote/ops/op_id.h\"
namespace mote {
constexpr DTypeMask selected_types(OpId op) {
${_mote_types}  (void)op;
  return ${_mote_default};
}
}  // namespace mote
")
file(CONFIGURE OUTPUT ${MOTE_GEN_DIR}/mote_forms.h @ONLY CONTENT "#pragma once
#include \"mote/ops/op_id.h\"
namespace mote {
constexpr uint32_t selected_forms(OpId op) {
${_mote_forms}  (void)op;
  return ${_mote_default};
}
}  // namespace mote
")
if(MOTE_SELECTED_OPS)
  list(LENGTH MOTE_OP_SOURCES _kept)
  list(LENGTH MOTE_OP_DROPPED _dropped)
  list(JOIN MOTE_SELECTED_OPS " " _selected)
  list(JOIN MOTE_OP_DROPPED " " _dropped_names)
  message(STATUS "selective build: ${_kept} operators kept, with masks of their element types: ${_selected}")
  message(STATUS "selective build: ${_dropped} operators dropped: ${_dropped_names}")
endif()
