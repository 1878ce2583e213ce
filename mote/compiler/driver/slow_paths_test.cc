#include "mote/compiler/driver/slow_paths.h"

#include <gtest/gtest.h>

#include "mote/compiler/emit/builder.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/softsign/softsign.h"

namespace mote::driver {
namespace {

std::vector<SlowPath> paths_of(emit::ProgramBuilder& b, kernels::Isa isa) {
  EXPECT_TRUE(b.ok()) << b.error();
  return slow_paths(b.records(), emit::builtin_registry(), isa);
}

// softsign has no fast kernel; relu has one for f32, none for f64.
TEST(SlowPaths, NamesWhatNoFastKernelServes) {
  const kernels::Isa best = kernels::best_isa(~0u);
  if (best == kernels::Isa::kPortable) GTEST_SKIP() << "built without fast kernels";
  emit::ProgramBuilder b;
  b.begin_method("main");
  const emit::TensorId x = b.input("x", DType::f32, {100, 200}), small = b.input("small", DType::f32, {9});
  const emit::TensorId wide = b.input("wide", DType::f64, {100, 200});
  b.output("a", b.op(OpId::softsign, ops::softsign::Attrs{}, {b.op(OpId::relu, NoAttrs{}, {x}, "fast")}, "bend"));
  b.output("b", b.op(OpId::softsign, ops::softsign::Attrs{}, {small}, "tiny"));
  b.output("c", b.op(OpId::relu, NoAttrs{}, {wide}, "double"));
  const std::vector<SlowPath> found = paths_of(b, best);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].op, "mote::softsign");
  EXPECT_EQ(found[0].elements, 20000);
  EXPECT_NE(found[0].reason.find("no fast kernel"), std::string::npos) << found[0].reason;
  EXPECT_EQ(found[1].op, "mote::relu");
  EXPECT_NE(found[1].reason.find("do not serve"), std::string::npos) << found[1].reason;
  EXPECT_EQ(describe(found).size(), 2u);
}

TEST(SlowPaths, SeveralOfOneKindAreOneLine) {
  const kernels::Isa best = kernels::best_isa(~0u);
  if (best == kernels::Isa::kPortable) GTEST_SKIP() << "built without fast kernels";
  emit::ProgramBuilder b;
  b.begin_method("main");
  const emit::TensorId x = b.input("x", DType::f32, {100, 200});
  b.output("y", b.op(OpId::softsign, ops::softsign::Attrs{}, {b.op(OpId::softsign, ops::softsign::Attrs{}, {x})}));
  const std::vector<std::string> lines = describe(paths_of(b, best));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("2 instructions"), std::string::npos) << lines[0];
}

// Averages of 8 bits have a kernel on microcontrollers, softsign has none.
TEST(SlowPaths, OnMicrocontrollers) {
  emit::ProgramBuilder b;
  b.begin_method("main");
  ops::q_avg_pool::Attrs pool;
  pool.kernel[0] = pool.kernel[1] = 2;
  b.output("a", b.op(OpId::q_avg_pool, pool, {b.input("x", DType::s8, {1, 20, 20, 8})}));
  b.output("b", b.op(OpId::softsign, ops::softsign::Attrs{}, {b.input("y", DType::f32, {2000})}));
  b.output("c", b.op(OpId::relu, NoAttrs{}, {b.input("z", DType::f32, {9})}));
  ASSERT_TRUE(b.ok()) << b.error();
  const OpRegistry& ops = emit::builtin_registry();
  EXPECT_EQ(op_names(slow_paths_on_board(b.records(), ops, 0)), (std::vector<std::string>{"relu", "softsign"}));
  const std::vector<SlowPath> large = slow_paths_on_board(b.records(), ops, kWorthAWordOnBoard);
  ASSERT_EQ(large.size(), 1u);
  EXPECT_EQ(large[0].op, "mote::softsign");
  EXPECT_NE(large[0].reason.find("--emit cpp"), std::string::npos) << large[0].reason;
}

TEST(SlowPaths, NothingToSayWhereAllIsPortable) {
  emit::ProgramBuilder b;
  b.begin_method("main");
  b.output("y", b.op(OpId::softsign, ops::softsign::Attrs{}, {b.input("x", DType::f32, {100, 200})}));
  EXPECT_TRUE(paths_of(b, kernels::Isa::kPortable).empty());
}

}  // namespace
}  // namespace mote::driver
