#include "mote/compiler/schedule/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "mote/compiler/emit/builder.h"
#include "mote/compiler/schedule/place.h"
#include "mote/compiler/schedule/verify_plan.h"
#include "mote/ops/max_pool/max_pool.h"

namespace mote::schedule {
namespace {

Tensor image(int32_t place, int32_t rows, int32_t width, int32_t channels, int32_t gap = 0) {
  Tensor t;
  t.desc.dtype = DType::s8;
  t.desc.rank = 4;
  t.desc.storage = Storage::kArena;
  const int32_t dims[] = {1, rows, width, channels}, pixel = channels + gap;
  const int32_t strides[] = {rows * width * pixel, width * pixel, pixel, 1};
  std::copy(dims, dims + 4, t.desc.dims);
  std::copy(strides, strides + 4, t.desc.strides);
  t.place = place;
  return t;
}

// One pooling step from buffer 0 to buffer 1.
Plan pooling(const ops::max_pool::Attrs& a, const Tensor& x, const Tensor& y) {
  Plan plan;
  plan.banks.emplace_back();
  plan.tensors = {x, y};
  for (const Tensor& t : plan.tensors) {
    plan.buffers.emplace_back();
    plan.buffers.back().bytes = t.at + static_cast<uint64_t>(t.desc.strides[0]);
  }
  Step s;
  s.op = static_cast<uint16_t>(OpId::max_pool);
  const auto* p = reinterpret_cast<const uint8_t*>(&a);
  s.attrs.assign(p, p + sizeof a);
  s.inputs = {0};
  s.outputs = {1};
  s.in_order = true;
  plan.steps = {s};
  plan.methods.push_back({"main", 0, 1, {{"x", 0}}, {{"y", 1}}});
  return plan;
}

// The least distance with which no byte is written before its last read, by looking at every pixel.
int64_t least_distance(const ops::max_pool::Attrs& a, const Tensor& x, const Tensor& y) {
  const auto first = [](int32_t i, int32_t stride, int32_t pad) { return std::max(0, i * stride - pad); };
  int64_t least_read = INT64_MAX, distance = INT64_MIN;
  for (int32_t i = y.desc.dims[1] * y.desc.dims[2] - 1; i >= 0; --i) {
    const int32_t r = i / y.desc.dims[2], c = i % y.desc.dims[2];
    const int64_t read = int64_t{first(r, a.strides[0], a.pads_begin[0])} * x.desc.strides[1] +
                         int64_t{first(c, a.strides[1], a.pads_begin[1])} * x.desc.strides[2];
    const int64_t written = int64_t{r} * y.desc.strides[1] + int64_t{c} * y.desc.strides[2] + y.desc.dims[3];
    least_read = std::min(least_read, read);
    distance = std::max(distance, written - least_read);
  }
  return distance + static_cast<int64_t>(y.at) - static_cast<int64_t>(x.at);
}

TEST(Overlap, TheDistanceIsTheLeastThatWorks) {
  std::mt19937 random(1);
  const auto pick = [&](int32_t least, int32_t most) {
    return least + static_cast<int32_t>(random() % static_cast<uint32_t>(most - least + 1));
  };
  for (int i = 0; i < 500; ++i) {
    ops::max_pool::Attrs a{};
    int32_t in[2], out[2];
    for (int d = 0; d < 2; ++d) {
      a.kernel[d] = pick(1, 4);
      a.strides[d] = pick(1, 3);
      a.dilations[d] = 1;
      a.pads_begin[d] = pick(0, a.kernel[d] - 1);
      a.pads_end[d] = pick(0, a.kernel[d] - 1);
      in[d] = pick(a.kernel[d], 12);
      out[d] = (in[d] + a.pads_begin[d] + a.pads_end[d] - a.kernel[d]) / a.strides[d] + 1;
    }
    const int32_t channels = pick(1, 9);
    Tensor x = image(0, in[0], in[1], channels), y = image(1, out[0], out[1], channels, pick(0, 2));
    x.at = static_cast<uint64_t>(pick(0, 3));
    y.at = static_cast<uint64_t>(pick(0, 3));
    const Plan plan = pooling(a, x, y);
    const std::vector<Overlap> found = find_overlaps(plan, {{0, 0}, {0, 0}});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].distance, least_distance(a, x, y)) << "case " << i;
  }
}

TEST(Overlap, OnlyWhereTheInputEndsAndTheKernelIsInOrder) {
  ops::max_pool::Attrs a{};
  a.kernel[0] = a.kernel[1] = a.strides[0] = a.strides[1] = a.dilations[0] = a.dilations[1] = 1;
  const Tensor x = image(0, 4, 4, 8), y = image(1, 4, 4, 8);
  Plan plan = pooling(a, x, y);
  EXPECT_EQ(find_overlaps(plan, {{0, 0}, {0, 0}}).size(), 1u);
  EXPECT_TRUE(find_overlaps(plan, {{0, 1}, {0, 0}}).empty()) << "the input is read again";
  plan.steps[0].in_order = false;
  EXPECT_TRUE(find_overlaps(plan, {{0, 0}, {0, 0}}).empty());
}

TEST(Overlap, PlansAreSmallerAndVerified) {
  ops::max_pool::Attrs a{};
  for (int d = 0; d < 2; ++d) a.kernel[d] = 3, a.strides[d] = a.dilations[d] = a.pads_begin[d] = a.pads_end[d] = 1;
  Plan plan = pooling(a, image(0, 16, 16, 8), image(1, 16, 16, 8));
  std::string error;
  ASSERT_TRUE(place_buffers(plan, 16, memory::Effort::kThorough, &error)) << error;
  EXPECT_LE(plan.peak(), 16u * 16 * 8 + 2 * 16 * 8 + 32);
  EXPECT_TRUE(verify_plan(plan, emit::builtin_registry(), &error)) << error;
  const uint64_t offset = plan.buffers[0].offset;
  plan.buffers[0].offset = offset - 16;
  EXPECT_FALSE(verify_plan(plan, emit::builtin_registry(), &error)) << "the output overtakes the input";
}

}  // namespace
}  // namespace mote::schedule
