# mote_kernels: the fast kernels, every family's files compiled once for each instruction set of mote/kernels/isa.def.
# MOTE_KERNELS: off, or on where Highway's headers (Debian: libhwy-dev) and a known processor are there.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(_mote_isas avx2 avxvnni avx512 avx512vnni avx512vbmi amx)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(_mote_isas neon neondot neoni8mm)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^armv7")
  set(_mote_isas neonv7)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32" AND MOTE_WASM_SIMD)
  set(_mote_isas wasm)
else()
  set(_mote_isas "")
endif()
set(_mote_flags_avx2 -mavx2 -mfma -mbmi -mbmi2 -mf16c -mlzcnt -maes -mpclmul)
# Without a processor to tune for, GCC parks pointers in vector registers: each time one is fetched, a product waits.
set(_mote_tune_avx512 $<$<CXX_COMPILER_ID:GNU>:-mtune=skylake-avx512>)
set(_mote_flags_avx512 ${_mote_flags_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mprefer-vector-width=512)
# Highway marks its functions so; no kernel uses cryptographic instructions. Instructions are put in order after registers have been given
# out, not before: micro-kernels use all registers as they are written, and would spill.
set(_mote_neon_schedule $<$<CXX_COMPILER_ID:GNU>:-fno-schedule-insns>)
set(_mote_flags_neon -march=armv8-a+crypto ${_mote_neon_schedule})
set(_mote_flags_neonv7 -march=armv7-a -mfpu=neon-vfpv4 -mfp16-format=ieee -D__ARM_VFPV4__=1 ${_mote_neon_schedule})
set(_mote_flags_wasm -msimd128)
set(_mote_base_neondot neon)
set(_mote_flags_neondot -march=armv8.2-a+crypto+dotprod ${_mote_neon_schedule})
set(_mote_base_neoni8mm neon)
set(_mote_flags_neoni8mm -march=armv8.2-a+crypto+dotprod+i8mm ${_mote_neon_schedule})
# Instruction sets that add kernels of a few operators to another one: only mote/kernels/int8, or less, is compiled for them
# (layer_select.cc). Of these,
# _mote_only_: files that are, _mote_list_: operators they serve, _mote_stage_: the set whose end of products they use, _mote_probed_: the
# set whose 8-bit products are measured in their place.
set(_mote_base_avxvnni avx2)
set(_mote_only_avxvnni "/int8/(q_conv|q_matmul|depthwise|depthwise_wide|probe)\\.cc$")
set(_mote_list_avxvnni mote/kernels/int8/kernels_dot.def)
set(_mote_stage_avxvnni avx2)
set(_mote_flags_avxvnni ${_mote_flags_avx2} -mavxvnni)
# Products with weights that pass dot_pairs.h's test, compiled as a layer of their own; the set they belong to asks it first.
set(_mote_first_avx2 avx2pairs)
set(_mote_only_avx2pairs "/int8/(q_conv|q_matmul|probe)\\.cc$")
# Processors with AVX-512 but without its integer products are few: those of avx2 serve them.
set(_mote_integers_avx512 avx2)
set(_mote_base_avx512vnni avx512)
set(_mote_flags_avx512vnni ${_mote_flags_avx512} -mavx512vnni)
# Permutations of bytes across a register: what uses tables, nothing that the probes measure.
set(_mote_base_avx512vbmi avx512vnni)
set(_mote_flags_avx512vbmi ${_mote_flags_avx512vnni} -mavx512vbmi)
set(_mote_only_avx512vbmi "/int8/[a-z]+_vbmi\\.cc$")
set(_mote_list_avx512vbmi mote/kernels/int8/kernels_vbmi.def)
set(_mote_probed_avx512vbmi avx512vnni)
# Tiles serve products alone (8-bit, and those with bf16 weights): fewer files still, and a list of operators of their own.
set(_mote_base_amx avx512vbmi)
set(_mote_flags_amx ${_mote_flags_avx512vbmi} -mamx-tile -mamx-int8 -mamx-bf16)
set(_mote_only_amx "/int8/(q_conv|q_matmul)\\.cc$|_amx\\.cc$")
set(_mote_list_amx mote/kernels/int8/kernels_amx.def)
set(_mote_stage_amx avx512vnni)

# Measured (bench/ops): with -Os transposes take four times as long, reductions three times, norms and pools half as long again.
# Files whose speed was seen to matter in models; the rest is compiled for size.
set(_mote_hot "/(gemm|weights|depthwise|attention|recurrent|common)/")
string(APPEND _mote_hot "|/elementwise/(activations|binary|unary)\\.cc$|/reduce/softmax\\.cc$|/move/(move|shapes|pad)\\.cc$")
string(APPEND _mote_hot "|/int8/(q_conv|q_matmul|stage|depthwise|depthwise_wide|dynamic_quantize)\\.cc$")
string(APPEND _mote_hot "|/int8/q_concat\\.cc$")

find_path(MOTE_HWY_INCLUDE hwy/highway.h PATHS /usr/include)
set(_mote_kernels_default OFF)
if(MOTE_HWY_INCLUDE AND _mote_isas AND NOT CMAKE_SYSTEM_NAME STREQUAL "Generic")
  set(_mote_kernels_default ON)
endif()
option(MOTE_KERNELS "Build the fast kernels (needs Highway)" ${_mote_kernels_default})
if(NOT MOTE_KERNELS)
  set(_mote_isas "")
endif()
set(MOTE_ISAS "" CACHE STRING "Instruction sets to build kernels for, e.g. avx2;avx512 (all that the processor family has when empty)")
if(MOTE_ISAS)
  foreach(_isa IN LISTS MOTE_ISAS)
    if(NOT _isa IN_LIST _mote_isas)
      message(FATAL_ERROR "MOTE_ISAS: '${_isa}' is not one of: ${_mote_isas}")
    endif()
    foreach(_other IN ITEMS "${_mote_base_${_isa}}" "${_mote_integers_${_isa}}")
      if(_other AND NOT _other IN_LIST MOTE_ISAS)
        message(FATAL_ERROR "MOTE_ISAS: '${_isa}' builds on '${_other}', which is not in the list")
      endif()
    endforeach()
  endforeach()
  set(_mote_isas ${MOTE_ISAS})
endif()
# Sanitizers: one instruction set, looked at for memory errors alone. The others are the same sources, and the checks for undefined
# behaviour take minutes to compile here; the differential tests hold the arithmetic.
if(MOTE_SANITIZE)
  list(FILTER _mote_isas EXCLUDE REGEX "avx512|amx")
  set(_mote_kernel_sanitize -fno-sanitize=undefined -fno-sanitize=fuzzer-no-link)
endif()

# Highway's headers in a folder of their own, so that a cross compiler does not see the rest of the host's.
if(MOTE_KERNELS)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/hwy_include)
  file(CREATE_LINK ${MOTE_HWY_INCLUDE}/hwy ${PROJECT_BINARY_DIR}/hwy_include/hwy SYMBOLIC)
endif()

# gen/isas_built.def: the lines of isa.def whose kernels this build has, in isa.def's order.
set(_mote_built "")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/mote/kernels/isa.def)
file(STRINGS ${PROJECT_SOURCE_DIR}/mote/kernels/isa.def _mote_lines REGEX "^MOTE_ISA")
foreach(_line IN LISTS _mote_lines)
  string(REGEX REPLACE "^MOTE_ISA.([a-z0-9]+),.*" "\\1" _isa "${_line}")
  if(_isa IN_LIST _mote_isas)
    string(APPEND _mote_built "${_line}\n")
  endif()
endforeach()
file(CONFIGURE OUTPUT ${MOTE_GEN_DIR}/isas_built.def CONTENT "${_mote_built}" @ONLY)

file(GLOB _mote_families CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/mote/kernels/*/*.cc)
list(FILTER _mote_families EXCLUDE REGEX "_(test|bench)\\.cc$|/common/zeros\\.cc$")
set(_mote_isa_objects "")
# Where arithmetic is not what takes the time, or is written out in vectors by us, code is built for size.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(_mote_small ${_mote_families})
  list(FILTER _mote_small EXCLUDE REGEX "${_mote_hot}")
  # Small functions of core stay inline there too: outside of the kernels' namespace none may be defined.
  set(_mote_inline $<$<CXX_COMPILER_ID:GNU>:--param=max-inline-insns-size=12>)
  set_source_files_properties(${_mote_small} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-Os;${_mote_inline}>")
endif()
set(_mote_all_families ${_mote_families})
set(_mote_integer_families ${_mote_families})
list(FILTER _mote_integer_families INCLUDE REGEX "/int8/")
list(FILTER _mote_families EXCLUDE REGEX "_(amx|vbmi)\\.cc$")
list(FILTER _mote_integer_families EXCLUDE REGEX "_(amx|vbmi)\\.cc$")
# The objects of mote_kernels_<name>, compiled for an instruction set in a namespace of their own.
macro(mote_kernel_flags _name _flags)
  mote_device_flags(mote_kernels_${_name})
  target_compile_options(mote_kernels_${_name} PRIVATE ${_mote_flags_${_flags}} ${_mote_tune_${_name}} -O2 -fno-math-errno
                         -fvisibility=hidden -Wno-psabi ${_mote_kernel_sanitize})
  # No assertions of Highway, which would need its library.
  target_compile_definitions(mote_kernels_${_name} PRIVATE MOTE_ISA_NAME=${_name} HWY_IS_DEBUG_BUILD=0)
  target_include_directories(mote_kernels_${_name} SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/hwy_include)
  list(APPEND _mote_isa_objects $<TARGET_OBJECTS:mote_kernels_${_name}>)
endmacro()
foreach(_isa IN LISTS _mote_isas)
  if(DEFINED _mote_base_${_isa})
    set(_mote_files ${_mote_integer_families})
    if(DEFINED _mote_only_${_isa})
      set(_mote_files ${_mote_all_families})
      list(FILTER _mote_files INCLUDE REGEX ${_mote_only_${_isa}})
    endif()
    add_library(mote_kernels_${_isa} OBJECT ${PROJECT_SOURCE_DIR}/mote/kernels/layer_select.cc ${_mote_files})
    target_compile_definitions(mote_kernels_${_isa} PRIVATE MOTE_ISA_BASE=${_mote_base_${_isa}}
                               $<$<BOOL:${_mote_list_${_isa}}>:MOTE_LAYER_LIST="${_mote_list_${_isa}}">
                               $<$<BOOL:${_mote_probed_${_isa}}>:MOTE_PROBED_ISA=${_mote_probed_${_isa}}>
                               $<$<BOOL:${_mote_stage_${_isa}}>:MOTE_STAGE_ISA=${_mote_stage_${_isa}}>)
  else()
    set(_mote_files ${_mote_families})
    if(DEFINED _mote_integers_${_isa})
      list(FILTER _mote_files EXCLUDE REGEX "/int8/")
    endif()
    add_library(mote_kernels_${_isa} OBJECT ${PROJECT_SOURCE_DIR}/mote/kernels/isa_select.cc ${_mote_files})
    target_compile_definitions(mote_kernels_${_isa} PRIVATE
                               $<$<BOOL:${_mote_integers_${_isa}}>:MOTE_INTEGER_ISA=${_mote_integers_${_isa}}>)
  endif()
  if(DEFINED _mote_first_${_isa})
    set(_mote_first ${_mote_first_${_isa}})
    target_compile_definitions(mote_kernels_${_isa} PRIVATE MOTE_FIRST_ISA=${_mote_first})
    set(_mote_files ${_mote_integer_families})
    list(FILTER _mote_files INCLUDE REGEX ${_mote_only_${_mote_first}})
    add_library(mote_kernels_${_mote_first} OBJECT ${PROJECT_SOURCE_DIR}/mote/kernels/layer_select.cc ${_mote_files})
    target_compile_definitions(mote_kernels_${_mote_first} PRIVATE MOTE_DOT_PAIRS=1 MOTE_STAGE_ISA=${_isa}
                               MOTE_LAYER_LIST="mote/kernels/int8/kernels_dot.def")
    mote_kernel_flags(${_mote_first} ${_isa})
  endif()
  mote_kernel_flags(${_isa} ${_isa})
endforeach()
mote_device_library(mote_kernels mote/kernels/select.cc mote/kernels/portable.cc mote/kernels/common/zeros.cc ${_mote_isa_objects})
target_link_libraries(mote_kernels PUBLIC mote_ops)
# Where fast kernels do the work, the portable ones behind them are built for size: they are a third of the library.
if(_mote_isas)
  target_compile_options(mote_ops PRIVATE $<$<CONFIG:Release>:-Os>)
endif()
