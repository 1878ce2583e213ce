#include "mote/compiler/passes/testing.h"

namespace mote::passes {
namespace {

const std::vector<std::string> kPasses = {"channels_last", "fold", "identities", "cse", "dce"};

TEST(ChannelsLastTest, OnlyInputAndOutputKeepTheirTransposes) {
  expect_pass(kPasses,
              R"(
constant @w: f32[8,3,3,3] = seed 1
constant @v: f32[8,1,1,8] = seed 2
method "m"(%0 "x": f32[1,3,8,6]) -> ("y", "p") {
  %1 = transpose(%0) {perm=[0,2,3,1], rank=4} "Conv_0"
  %2 = conv(%1, @w) {pads_begin=[1,1], pads_end=[1,1]} "Conv_0"
  %3 = transpose(%2) {perm=[0,3,1,2], rank=4} "Conv_0"
  %4 = add(%3, f32[8,1,1]{1,2,3,4,-1,-2,-3,-4}) "Add_1"
  %5 = add(%4, f32[]{3}) "Add_2"
  %6 = clip(%5) {lo=0, hi=6} "Clip_3"
  %7 = mul(%4, %6) "Mul_4"
  %8 = transpose(%7) {perm=[0,2,3,1], rank=4} "Conv_5"
  %9 = conv(%8, @v) "Conv_5"
  %10 = transpose(%9) {perm=[0,3,1,2], rank=4} "Conv_5"
  %11 = concat(%10, %7) {axis=1} "Concat_6"
  %12 = reduce_mean(%11) {axes=[2,3], axis_count=2, keep_dims=0} "Pool_7"
  %13 = pad(%11) {begin=[0,0,1,0], end=[0,0,0,2]} "Pad_8"
  %14 = slice(%13) {starts=[4], ends=[12], axes=[1], steps=[1], count=1} "Slice_9"
  %15 = softmax(%14) {axis=1} "Softmax_10"
  yield %15, %12
})",
              R"(method "m"(%0 "x": f32[1,3,8,6]) -> ("y", "p") {
  %1: f32[1,8,6,3] = transpose(%0) {perm=[0,2,3,1], rank=4} "Conv_0"
  %2: f32[1,8,6,8] = conv(%1, @w) {pads_begin=[1,1], pads_end=[1,1]} "Conv_0"
  %3: f32[1,8,6,8] = add(%2, f32[1,1,1,8]{1, 2, 3, 4, -1, -2, -3, -4}) "Add_1"
  %4: f32[1,8,6,8] = add(%3, f32[]{3}) "Add_2"
  %5: f32[1,8,6,8] = clip(%4) {lo=0, hi=6} "Clip_3"
  %6: f32[1,8,6,8] = mul(%3, %5) "Mul_4"
  %7: f32[1,8,6,8] = conv(%6, @v) "Conv_5"
  %8: f32[1,8,6,16] = concat(%7, %6) {axis=3} "Concat_6"
  %9: f32[1,16] = reduce_mean(%8) {axes=[1,2], axis_count=2, keep_dims=0} "Pool_7"
  %10: f32[1,9,8,16] = pad(%8) {begin=[0,1], end=[0,0,2]} "Pad_8"
  %11: f32[1,9,8,8] = slice(%10) {starts=[4], ends=[12], axes=[3], steps=[1], count=1} "Slice_9"
  %12: f32[1,9,8,8] = softmax(%11) {axis=3} "Softmax_10"
  %13: f32[1,8,9,8] = transpose(%12) {perm=[0,3,1,2], rank=4} "Softmax_10"
  yield %13, %9
}
)");
}

TEST(ChannelsLastTest, NoTransposeWhereOneByOneIsFlattened) {
  expect_pass(kPasses,
              R"(
constant @w: f32[8,1,1,4] = seed 1
constant @m: f32[8,3] = seed 2
method "m"(%0 "x": f32[2,5,5,4]) -> ("y") {
  %1 = conv(%0, @w)
  %2 = transpose(%1) {perm=[0,3,1,2], rank=4}
  %3 = reduce_mean(%2) {axes=[2,3], axis_count=2}
  %4 = reshape(%3) {dims=[2,8], rank=2}
  %5 = matmul(%4, @m)
  yield %5
})",
              R"(method "m"(%0 "x": f32[2,5,5,4]) -> ("y") {
  %1: f32[2,5,5,8] = conv(%0, @w)
  %2: f32[2,1,1,8] = reduce_mean(%1) {axes=[1,2], axis_count=2}
  %3: f32[2,8] = reshape(%2) {dims=[2,8], rank=2}
  %4: f32[2,3] = matmul(%3, @m)
  yield %4
}
)");
}

TEST(ChannelsLastTest, ReshapesThatKeepAxesTogetherArePassed) {
  // A channel shuffle, and a detection head's flattening.
  expect_pass(kPasses,
              R"(
symbol "n" 1..3
constant @w: f32[8,1,1,8] = seed 1
method "m"(%0 "x": f32[?"n",5,3,8]) -> ("y", "z") {
  %1 = conv(%0, @w) "A"
  %2 = transpose(%1) {perm=[0,3,1,2], rank=4} "A"
  %3 = reshape(%2) {dims=[-1,2,4,5,3], rank=5} "S"
  %4 = transpose(%3) {perm=[0,2,1,3,4], rank=5} "S"
  %5 = reshape(%4) {dims=[-1,8,5,3], rank=4} "S"
  %6 = transpose(%5) {perm=[0,2,3,1], rank=4} "B"
  %7 = conv(%6, @w) "B"
  %8 = transpose(%7) {perm=[0,3,1,2], rank=4} "B"
  %9 = reshape(%8) {dims=[-1,8,15], rank=3} "H"
  %10 = transpose(%9) {perm=[0,2,1], rank=3} "H"
  %11 = sigmoid(%10) "Sigmoid"
  yield %11, %7
})",
              R"(method "m"(%0 "x": f32[?"n",5,3,8]) -> ("y", "z") {
  %1: f32[?3,5,3,8] = conv(%0, @w) "A"
  %2: f32[?3,5,3,2,4] = reshape(%1) {dims=[-1,5,3,2,4], rank=5} "S"
  %3: f32[?3,5,3,4,2] = transpose(%2) {perm=[0,1,2,4,3], rank=5} "S"
  %4: f32[?3,5,3,8] = reshape(%3) {dims=[-1,5,3,8], rank=4} "S"
  %5: f32[?3,5,3,8] = conv(%4, @w) "B"
  %6: f32[?3,15,8] = reshape(%5) {dims=[-1,15,8], rank=3} "H"
  %7: f32[?3,15,8] = sigmoid(%6) "Sigmoid"
  yield %7, %5
}
)");
}

TEST(ChannelsLastTest, ValuesUsedInBlocksKeepTheirLayout) {
  expect_pass(kPasses,
              R"(
method "m"(%0 "x": f32[1,4,4,2], %1 "c": bool[]) -> ("y") {
  %2 = transpose(%0) {perm=[0,3,1,2], rank=4}
  %3 = relu(%2)
  %4 = if(%1) {
    %5 = neg(%3)
    yield %5
  } {
    yield %3
  }
  %6 = transpose(%4) {perm=[0,2,3,1], rank=4}
  yield %6
})",
              R"(method "m"(%0 "x": f32[1,4,4,2], %1 "c": bool[]) -> ("y") {
  %2: f32[1,4,4,2] = relu(%0)
  %3: f32[1,2,4,4] = transpose(%2) {perm=[0,3,1,2], rank=4}
  %4: f32[1,2,4,4] = if(%1) {
    %5: f32[1,2,4,4] = neg(%3)
    yield %5
  } {
    yield %3
  }
  %6: f32[1,4,4,2] = transpose(%4) {perm=[0,2,3,1], rank=4}
  yield %6
}
)");
}

TEST(ChannelsLastTest, QuantizedChainsMoveToo) {
  expect_pass(kPasses,
              R"(
method "m"(%0 "x": f32[1,4,4,2]) -> ("y") {
  %1 = transpose(%0) {perm=[0,3,1,2], rank=4}
  %2 = quantize(%1, f32[2]{0.1,0.2}, s8[2]{1,2}) {axis=1} "Q"
  %3 = dequantize(%2, f32[2]{0.1,0.2}, s8[2]{1,2}) {axis=-3} "DQ"
  %4 = transpose(%3) {perm=[0,2,3,1], rank=4}
  yield %4
})",
              R"(method "m"(%0 "x": f32[1,4,4,2]) -> ("y") {
  %1: s8[1,4,4,2] = quantize(%0, f32[2]{0.100000001, 0.200000003}, s8[2]{1, 2}) {axis=3} "Q"
  %2: f32[1,4,4,2] = dequantize(%1, f32[2]{0.100000001, 0.200000003}, s8[2]{1, 2}) {axis=3} "DQ"
  yield %2
}
)");
}

TEST(ChannelsLastTest, OperandsInAnotherLayoutAreWeighed) {
  // Two large values in their own layout outweigh one: the sum is made there.
  expect_pass(kPasses,
              R"(
method "m"(%0 "x": f32[1,4,4,2], %1 "a": f32[1,2,4,4]) -> ("y") {
  %2 = transpose(%0) {perm=[0,3,1,2], rank=4}
  %3 = add(%2, %1)
  %4 = mul(%3, %1)
  yield %4
})",
              R"(method "m"(%0 "x": f32[1,4,4,2], %1 "a": f32[1,2,4,4]) -> ("y") {
  %2: f32[1,2,4,4] = transpose(%0) {perm=[0,3,1,2], rank=4}
  %3: f32[1,2,4,4] = add(%2, %1)
  %4: f32[1,2,4,4] = mul(%3, %1)
  yield %4
}
)");
}

}  // namespace
}  // namespace mote::passes
