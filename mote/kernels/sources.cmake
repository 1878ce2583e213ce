# The files of each set of kernels (core/isa.def, column `kernels`), and how x86 compiles them. FAST (-O2): files whose speed matters in
# models. SMALL (-Os): files that are bound by memory, or whose inner loops are unrolled by hand. Measured with bench/ops, -Os would make
# transposes four times and reductions three times as slow, norms and pools by half. Other processors compile everything with -O2.
set(MOTE_KERNELS_FLOAT_FAST
    attention/attention.cc common/activate.cc common/epilogue.cc depthwise/depthwise.cc depthwise/grouped.cc
    depthwise/window3x3.cc elementwise/activations.cc elementwise/binary.cc elementwise/unary.cc gemm/conv.cc gemm/conv_transpose.cc
    gemm/matmul.cc gemm/matmul_dense.cc gemm/gemv_f32.cc gemm/winograd.cc move/move.cc move/pad.cc move/shapes.cc recurrent/recurrent.cc
    reduce/softmax.cc weights/embedding.cc weights/grouped.cc weights/matmul.cc)
set(MOTE_KERNELS_FLOAT_SMALL
    elementwise/cast.cc elementwise/compare.cc elementwise/rows.cc move/gather.cc move/resize.cc move/scatter.cc pool/pool.cc probe/probe.cc
    reduce/arg.cc reduce/norm.cc reduce/reduce.cc)
set(MOTE_KERNELS_INT8_FAST
    int8/depthwise/depthwise.cc int8/depthwise/depthwise_wide.cc int8/elementwise/dynamic_quantize.cc int8/elementwise/q_concat.cc
    int8/gemm/q_conv.cc int8/gemm/q_matmul.cc int8/requantize/epilogue.cc)
set(MOTE_KERNELS_INT8_SMALL
    int8/depthwise/depthwise_neon.cc int8/elementwise/binary.cc int8/elementwise/q_avg_pool.cc int8/elementwise/q_reduce.cc
    int8/elementwise/requantize.cc int8/gemm/probe.cc int8/lookup/lut.cc int8/lookup/q_softmax.cc)
# Files of single variants.
set(MOTE_KERNELS_VARIANT_FAST gemm/matmul_amx.cc)
set(MOTE_KERNELS_VARIANT_SMALL int8/gemm/probe_amx.cc int8/lookup/lut_vbmi.cc int8/lookup/softmax_vbmi.cc)

# The loop nests of common/loops.h, compiled once for each variant that has element-wise kernels.
set(MOTE_KERNELS_LOOPS common/loops.cc)

set(MOTE_KERNELS_float ${MOTE_KERNELS_LOOPS} ${MOTE_KERNELS_FLOAT_FAST} ${MOTE_KERNELS_FLOAT_SMALL})
set(MOTE_KERNELS_int8 ${MOTE_KERNELS_LOOPS} ${MOTE_KERNELS_INT8_FAST} ${MOTE_KERNELS_INT8_SMALL})
set(MOTE_KERNELS_all ${MOTE_KERNELS_float} ${MOTE_KERNELS_int8})
list(REMOVE_DUPLICATES MOTE_KERNELS_all)
# 8-bit convolutions and matrix products, for variants with other dot-product instructions.
set(MOTE_KERNELS_dot
    int8/depthwise/depthwise.cc int8/depthwise/depthwise_wide.cc int8/gemm/probe.cc int8/gemm/q_conv.cc int8/gemm/q_matmul.cc)
set(MOTE_KERNELS_maddubs int8/gemm/q_conv.cc int8/gemm/q_matmul.cc int8/gemm/probe.cc)
# Lookup tables in registers, for variants with byte permutations.
set(MOTE_KERNELS_table ${MOTE_KERNELS_LOOPS} int8/lookup/lut_vbmi.cc int8/lookup/softmax_vbmi.cc)
# Tile registers: 8-bit products, and f32 with bf16 weights.
set(MOTE_KERNELS_tile int8/gemm/q_conv.cc int8/gemm/q_matmul.cc int8/gemm/probe_amx.cc gemm/matmul_amx.cc)

# The sets with probes of their own (probe/, int8/gemm), and those with an epilogue of their own (int8/requantize).
set(MOTE_KERNELS_WITH_FLOAT all float)
set(MOTE_KERNELS_WITH_DOT all int8 dot maddubs tile)
set(MOTE_KERNELS_WITH_EPILOGUE all int8)
