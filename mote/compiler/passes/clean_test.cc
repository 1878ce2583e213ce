// fold, branches, shapes, identities, cse, dce: each as a text before and after.

#include "mote/compiler/passes/testing.h"

namespace mote::passes {
namespace {

TEST(FoldTest, ComputesConstantsAndStaticShapes) {
  expect_pass({"fold"},
              R"(
method "m"(%0 "x": f32[2,3]) -> ("y", "s") {
  %1 = add(f32[3]{1,2,3}, f32[]{1}) "Add_0"
  %2 = mul(%0, %1) "Mul_1"
  %3 = shape_of(%0)
  %4 = gather(%3, s64[]{1})
  yield %2, %4
})",
              R"(method "m"(%0 "x": f32[2,3]) -> ("y", "s") {
  %1: f32[2,3] = mul(%0, f32[3]{2, 3, 4}) "Mul_1"
  yield %1, s64[]{3}
}
)");
}

TEST(FoldTest, KeepsWhatDependsOnOpenSizesOrGrows) {
  // 4 is what min(n, 4) gives for every size that was looked at, but not for n = 3.
  const char* text = R"(method "m"(%0 "x": f32[?"n",3]) -> ("y", "z", "k") {
  %1: s64[2] = shape_of(%0)
  %2: s64[] = gather(%1, s64[]{0})
  %3: s64[] = minimum(%2, s64[]{4})
  %4: f32[2000] = expand(f32[1]{1}) {dims=[2000], rank=1}
  %5: s64[] = gather(%1, s64[]{1})
  yield %3, %4, %5
}
)";
  std::string after = text;
  after.replace(after.find("  %5: s64[] ="), std::string("  %5: s64[] = gather(%1, s64[]{1})\n").size(), "");
  after.replace(after.find("%4, %5\n"), 6, "%4, s64[]{3}");
  expect_pass({"fold"}, std::string("symbol \"n\" 4..10\n") + text, after);
}

TEST(BranchesTest, TakesTheKnownBranch) {
  expect_pass({"branches"},
              R"(
method "m"(%0 "x": f32[2]) -> ("y") {
  %1 = if(bool[]{1}) "If_0" {
    %2 = neg(%0) "Neg_1"
    yield %2
  } {
    yield %0
  }
  %3 = abs(%1)
  yield %3
})",
              R"(method "m"(%0 "x": f32[2]) -> ("y") {
  %1: f32[2] = neg(%0) "Neg_1"
  %2: f32[2] = abs(%1)
  yield %2
}
)");
}

TEST(ShapesTest, OperandsBecomeAttributes) {
  expect_pass({"shapes"},
              R"(
symbol "n" 1..4
method "m"(%0 "x": f32[?"n",6,4]) -> ("a", "b", "c", "d", "e") {
  %1 = reshape(%0, s64[2]{0,-1})
  %2 = slice(%0, s64[1]{1}, s64[1]{9223372036854775807}, s64[1]{-1}, s64[1]{2})
  %3 = pad(%0, f32[]{1}, s64[6]{0,1,0,0,2,0})
  %4 = clip(%0, f32[]{0}, f32[]{6})
  %5 = reduce_mean(%0, s64[1]{1})
  yield %1, %2, %3, %4, %5
})",
              R"(method "m"(%0 "x": f32[?"n",6,4]) -> ("a", "b", "c", "d", "e") {
  %1: f32[?4,24] = reshape(%0) {dims=[-1,24], rank=2}
  %2: f32[?4,6,2] = slice(%0) {starts=[1], ends=[2147483647], axes=[-1], steps=[2], count=1}
  %3: f32[?4,9,4] = pad(%0) {begin=[0,1], end=[0,2], value=1}
  %4: f32[?4,6,4] = clip(%0) {lo=0, hi=6}
  %5: f32[?4,1,4] = reduce_mean(%0) {axes=[1], axis_count=1}
  yield %1, %2, %3, %4, %5
}
)");
}

TEST(IdentitiesTest, ArithmeticThatChangesNothingGoes) {
  expect_pass({"identities"},
              R"(
method "m"(%0 "x": f32[2,3]) -> ("y", "z", "w") {
  %1 = add(%0, f32[]{0})
  %2 = mul(f32[1,1]{1}, %1)
  %3 = neg(%2)
  %4 = neg(%3)
  %5 = div(%4, f32[3]{1,1,1})
  %6 = maximum(%5, f32[]{0}) "Max_1"
  %7 = minimum(f32[]{6}, %6) "Min_2"
  %8 = mul(%0, f32[]{0})
  %10 = clip(%8)
  %9 = add(%0, f32[2,2,3]{0,0,0,0,0,0,0,0,0,0,0,0})
  yield %7, %10, %9
})",
              R"(method "m"(%0 "x": f32[2,3]) -> ("y", "z", "w") {
  %1: f32[2,3] = clip(%0) {lo=0, hi=6} "Max_1+Min_2"
  %2: f32[2,3] = mul(%0, f32[]{0})
  %3: f32[2,2,3] = add(%0, @_2)
  yield %1, %2, %3
}
)");
}

TEST(IdentitiesTest, ChainsOfMovesBecomeOne) {
  expect_pass({"identities"},
              R"(
method "m"(%0 "x": f32[1,4,6]) -> ("a", "b", "c", "d") {
  %1 = reshape(%0) {dims=[24], rank=1} "R0"
  %2 = reshape(%1) {dims=[6,4], rank=2} "R1"
  %3 = transpose(%0) {perm=[0,2,1], rank=3} "T0"
  %4 = transpose(%3) {perm=[1,0,2], rank=3} "T1"
  %5 = transpose(%4) {perm=[1,2,0], rank=3} "T2"
  %6 = transpose(%0) {perm=[1,0,2], rank=3} "T3"
  %7 = slice(%0) {starts=[0], ends=[9], axes=[1], steps=[1], count=1}
  %8 = pad(%7)
  %9 = concat(%8)
  %10 = concat(%9, %0) {axis=1}
  %11 = concat(%10, %0) {axis=-2}
  yield %2, %5, %6, %11
})",
              R"(method "m"(%0 "x": f32[1,4,6]) -> ("a", "b", "c", "d") {
  %1: f32[6,4] = reshape(%0) {dims=[6,4], rank=2} "R0+R1"
  %2: f32[4,1,6] = reshape(%0) {dims=[4,1,6], rank=3} "T3"
  %3: f32[1,12,6] = concat(%0, %0, %0) {axis=-2}
  yield %1, %0, %2, %3
}
)");
}

TEST(IdentitiesTest, CastChains) {
  expect_pass({"identities"},
              R"(
method "m"(%0 "x": f16[4], %1 "i": s32[4]) -> ("a", "b", "c") {
  %2 = cast(%0) {to=1} "C0"
  %3 = cast(%2) {to=3} "C1"
  %4 = cast(%2) {to=2} "C2"
  %5 = cast(%1) {to=1} "C3"
  %6 = cast(%5) {to=5} "C4"
  yield %3, %4, %6
})",
              R"(method "m"(%0 "x": f16[4], %1 "i": s32[4]) -> ("a", "b", "c") {
  %2: f64[4] = cast(%0) {to=2} "C0+C2"
  %3: f32[4] = cast(%1) {to=1} "C3"
  %4: s8[4] = cast(%3) {to=5} "C4"
  yield %0, %2, %4
}
)");
}

TEST(IdentitiesTest, AStateIsReadWhereItIsCopied) {
  expect_pass({"identities", "cse", "dce"},
              R"(
state $s: f32[2]
method "m"(%0 "x": f32[2]) -> ("old", "new") {
  %1 = copy($s)
  %2 = add($s, %0)
  assign($s, %2)
  %3 = copy($s)
  yield %1, %3
})",
              R"(method "m"(%0 "x": f32[2]) -> ("old", "new") {
  %1: f32[2] = copy($s)
  %2: f32[2] = add($s, %0)
  assign($s, %2)
  %3: f32[2] = copy($s)
  yield %1, %3
}
)");
}

TEST(CseTest, EqualNodesAndConstantsBecomeOne) {
  expect_pass({"cse"},
              R"(
constant @a: f32[10] = seed 1
constant @b: f32[10] = seed 1
method "m"(%0 "x": f32[10], %1 "c": bool[]) -> ("y") {
  %2 = add(%0, @a)
  %3 = add(%0, @b)
  %4 = if(%1) {
    %5 = add(%0, @a)
    %6 = mul(%5, %2)
    yield %6
  } {
    yield %3
  }
  yield %4
})",
              R"(method "m"(%0 "x": f32[10], %1 "c": bool[]) -> ("y") {
  %2: f32[10] = add(%0, @a)
  %3: f32[10] = if(%1) {
    %4: f32[10] = mul(%2, %2)
    yield %4
  } {
    yield %2
  }
  yield %3
}
)");
}

TEST(DceTest, WhatNobodyUsesGoes) {
  expect_pass({"dce"},
              R"(
state $s: f32[4]
method "m"(%0 "x": f32[4], %1 "c": bool[]) -> ("y", "t") {
  %2 = neg(%0)
  %3 = abs(%2)
  %4, %5 = top_k(%0) {k=2}
  %6, %7 = if(%1) {
    assign($s, %0)
    %8 = exp(%0)
    yield %8, %0
  } {
    yield %0, %0
  }
  %9, %10, %11 = loop(s64[]{3}, _, %0, %0) trips 3 {
    arguments %12: s64[], %13: bool[], %14: f32[4], %15: f32[4]
    %16 = sin(%14)
    yield bool[]{1}, %16, %15, %16
  }
  yield %9, %4
})",
              R"(method "m"(%0 "x": f32[4], %1 "c": bool[]) -> ("y", "t") {
  %2: f32[2] = top_k(%0) {k=2}
  if(%1) {
    assign($s, %0)
    yield 
  } {
    yield 
  }
  %3: f32[4] = loop(s64[]{3}, _, %0) trips 3 {
    arguments %4: s64[], %5: bool[], %6: f32[4]
    %7: f32[4] = sin(%6)
    yield bool[]{1}, %7
  }
  yield %3, %2
}
)");
}

// The crop went with the operands behind the sizes.
TEST(Shapes, ResizeKeepsScalesAndCrop) {
  expect_pass({"shapes"},
              R"(
method "m"(%0 "x": f32[1,8,9,3], %1 "crop": f32[4]) -> ("y", "z") {
  %2 = resize(%0, s64[2]{5,4}, _, f32[4]{0.125, 0.25, 0.75, 0.875}) {mode=1, coordinates=6}
  %3 = resize(%0, s64[2]{5,4}, _, %1) {mode=1, coordinates=6}
  yield %2, %3
})",
              R"(method "m"(%0 "x": f32[1,8,9,3], %1 "crop": f32[4]) -> ("y", "z") {
  %2: f32[1,5,4,3] = resize(%0) {mode=1, coordinates=6, sizes=[5,4], roi_start=[0.125,0.25], roi_end=[0.75,0.875]}
  %3: f32[1,5,4,3] = resize(%0, s64[2]{5, 4}, _, %1) {mode=1, coordinates=6}
  yield %2, %3
}
)");
}

}  // namespace
}  // namespace mote::passes
