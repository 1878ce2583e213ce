# FlatBuffers for every target, cross-compiled ones too.
#   mote_flatbuffers_headers   INTERFACE: the include path of flatbuffers/ and of the generated program_generated.h
#   MOTE_PROGRAM_GENERATED     that header; it is made by flatc from mote/format/program.fbs
# The headers come from the host: they are headers only and the same everywhere. Only flatbuffers/ is made visible, through
# a folder of its own, because the rest of the host's include folder would clash with the C library of another target.
find_program(MOTE_FLATC flatc REQUIRED NO_CMAKE_FIND_ROOT_PATH DOC "The FlatBuffers compiler (Debian: flatbuffers-compiler)")
find_path(MOTE_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h PATHS /usr/include /usr/local/include NO_CMAKE_FIND_ROOT_PATH
          REQUIRED DOC "The folder that holds flatbuffers/ (Debian: libflatbuffers-dev)")

set(_mote_fb_include ${PROJECT_BINARY_DIR}/third_party_include)
if(NOT EXISTS ${_mote_fb_include}/flatbuffers/flatbuffers.h)
  file(MAKE_DIRECTORY ${_mote_fb_include})
  file(CREATE_LINK ${MOTE_FLATBUFFERS_INCLUDE}/flatbuffers ${_mote_fb_include}/flatbuffers SYMBOLIC)
endif()

set(MOTE_PROGRAM_GENERATED ${MOTE_GEN_DIR}/program_generated.h)
set(_mote_fbs ${PROJECT_SOURCE_DIR}/mote/format/program.fbs)
# --gen-object-api is left out: device code reads structs in place, and the writer fills them directly.
add_custom_command(
  OUTPUT ${MOTE_PROGRAM_GENERATED}
  COMMAND ${MOTE_FLATC} --cpp --scoped-enums -o ${MOTE_GEN_DIR} ${_mote_fbs}
  DEPENDS ${_mote_fbs}
  COMMENT "flatc program.fbs"
  VERBATIM)
add_custom_target(mote_program_generated DEPENDS ${MOTE_PROGRAM_GENERATED})

add_library(mote_flatbuffers_headers INTERFACE)
add_dependencies(mote_flatbuffers_headers mote_program_generated)
target_include_directories(mote_flatbuffers_headers SYSTEM INTERFACE ${_mote_fb_include} ${MOTE_GEN_DIR})
