// What is decided and written without a device.

#include <gtest/gtest.h>

#include "mote/backends/opencl/blob.h"
#include "mote/backends/opencl/families.h"
#include "mote/backends/opencl/products.h"
#include "mote/backends/opencl/tuning.h"
#include "mote/backends/opencl/winograd.h"
#include "mote/ops/op_id.h"

namespace mote::backends::opencl {
namespace {

// The end of a blob is read back, and no number in it is believed.
TEST(OpenClPlan, BlobsCarryWhatWasFoundOut) {
  const BlobEnd end{{1, 0, 1}, "groups"};
  std::vector<uint8_t> blob(100, 7);
  const std::vector<uint8_t> bytes = bytes_of(end);
  blob.insert(blob.end(), bytes.begin(), bytes.end());
  BlobEnd found;
  uint64_t program = 0;
  ASSERT_TRUE(read_blob(blob.data(), blob.size(), &program, &found));
  EXPECT_EQ(program, 100u);
  EXPECT_EQ(found.narrow, end.narrow);
  EXPECT_EQ(found.tuning, end.tuning);
  blob[blob.size() - 16] = 200;
  EXPECT_FALSE(read_blob(blob.data(), blob.size(), &program, &found));
  EXPECT_FALSE(read_blob(blob.data(), 3, &program, &found));
}

// Sizes that were found are taken on the same device and driver, for the same launches, and no others.
TEST(OpenClPlan, TunedGroupsAreForTheirDevice) {
  Device d;
  d.name = "some GPU", d.driver = "7.1";
  const auto plan_with = [](const char* kernel, size_t x, size_t y) {
    Plan p;
    Launch l;
    l.kernel = kernel;
    l.wanted[0] = l.global[0] = x, l.wanted[1] = l.global[1] = y, l.local[0] = 32, l.local[1] = 4, l.local[2] = 1;
    p.launches.push_back(l);
    return p;
  };
  const std::string text = "groups 1\tsome GPU\t7.1\ndepthwise 0 96 50 1 16 16 1\n";
  Plan p = plan_with("depthwise", 96, 50);
  ASSERT_TRUE(apply_tuning(text, d, &p));
  EXPECT_EQ(p.launches[0].local[0], 16u);
  EXPECT_EQ(p.launches[0].global[1], 64u) << "rounded up to whole groups";
  Plan other = plan_with("depthwise", 97, 50), fixed = plan_with("softmax", 96, 50);
  ASSERT_TRUE(apply_tuning(text, d, &other) && apply_tuning(text + "softmax 0 96 50 1 16 16 1\n", d, &fixed));
  EXPECT_EQ(other.launches[0].local[0], 32u);
  EXPECT_EQ(fixed.launches[0].local[0], 32u) << "a kernel of one size";
  EXPECT_FALSE(apply_tuning("groups 1\tsome GPU\t7.2\n", d, &p));
  EXPECT_FALSE(apply_tuning("groups 1\tsome GPU\t7.1\ndepthwise 0 96 50 1 4000 1 1\n", d, &p));
  EXPECT_FALSE(apply_tuning("", d, &p));
  d.context = nullptr;
}

// f16 and f32 lie in one buffer: the same number of elements from its start is not the same place.
TEST(OpenClPlan, ReshapingToTheOtherKindMovesElements) {
  OpView op;
  op.op = static_cast<uint16_t>(OpId::reshape);
  Operand o;
  o.present = true, o.dtype = DType::f32, o.rank = 1, o.dims[0] = 8, o.place = {5, 128};
  op.inputs = op.outputs = {o};
  Plan plan;
  Recorder r(plan, 1);
  r.use_kernels(true, true);
  ASSERT_EQ(lower_copy(op, &r), nullptr);
  EXPECT_TRUE(plan.launches.empty());
  r.use_kernels(true, false);
  ASSERT_EQ(lower_copy(op, &r), nullptr);
  EXPECT_EQ(plan.launches.size(), 1u);
}

bool pays(int32_t size, int32_t in_c, int32_t out_c) {
  WindowArgs w{};
  w.batch = 1, w.in_h = w.in_w = w.out_h = w.out_w = size, w.in_c = in_c, w.out_c = out_c;
  w.kernel_h = w.kernel_w = 3, w.pad_h = w.pad_w = 1;
  return winograd_pays(w, product_units(tile_for(size * size, out_c, 1, 16), size * size, out_c, 9 * in_c));
}

TEST(OpenClPlan, WinogradsFormIsTakenWhereItPays) {
  EXPECT_TRUE(pays(30, 48, 48)) << "as opencl_backend_test has it";
  EXPECT_TRUE(pays(56, 64, 64));
  EXPECT_FALSE(pays(56, 3, 32)) << "few channels: transforms cost more than they spare";
  EXPECT_FALSE(pays(4, 64, 64)) << "one tile fills a small part of what a product works on";
  EXPECT_FALSE(pays(3000, 64, 64)) << "more memory than it may take";
}

}  // namespace
}  // namespace mote::backends::opencl
