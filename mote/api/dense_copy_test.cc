#include "mote/api/impl/dense_copy.h"

#include <gtest/gtest.h>

#include <vector>

#include "mote/core/size.h"

namespace mote::api {
namespace {

TensorDesc desc(DType dtype, std::vector<int32_t> dims) {
  TensorDesc d{};
  d.dtype = dtype;
  d.rank = static_cast<uint8_t>(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) d.dims[i] = dims[i];
  set_dense_strides(d);
  return d;
}

TEST(DenseCopy, RowsWithGapsBetweenThem) {
  TensorDesc d = desc(DType::s16, {2, 2, 3});
  d.strides[1] = 10;  // two elements of gap
  d.strides[0] = 30;  // and a row of gap
  std::vector<int16_t> memory(30, -1);
  const std::vector<int16_t> dense = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const Tensor t{&d, memory.data()};
  EXPECT_EQ(dense_bytes(d), 24u);
  copy_to_tensor(t, dense.data());
  EXPECT_EQ(memory[0], 1);
  EXPECT_EQ(memory[3], -1);
  EXPECT_EQ(memory[5], 4);
  EXPECT_EQ(memory[15], 7);
  EXPECT_EQ(memory[22], 12);
  EXPECT_EQ(memory[23], -1);
  std::vector<int16_t> back(12);
  copy_from_tensor(t, back.data());
  EXPECT_EQ(back, dense);
}

TEST(DenseCopy, BooleansComeInAsZeroOrOne) {
  const TensorDesc d = desc(DType::boolean, {4});
  uint8_t memory[4] = {9, 9, 9, 9};
  const uint8_t dense[4] = {0, 1, 2, 255};
  copy_to_tensor({&d, memory}, dense);
  EXPECT_EQ(std::vector<int>(memory, memory + 4), (std::vector<int>{0, 1, 1, 1}));
}

TEST(DenseCopy, ScalarsEmptyTensorsAndHalfBytes) {
  const TensorDesc scalar = desc(DType::f64, {}), empty = desc(DType::f32, {3, 0, 2}), nibbles = desc(DType::s4, {3});
  double value = 0;
  const double two = 2;
  copy_to_tensor({&scalar, &value}, &two);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(dense_bytes(empty), 0u);
  copy_to_tensor({&empty, nullptr}, nullptr);
  copy_from_tensor({&empty, nullptr}, nullptr);
  uint8_t pairs[3] = {0, 0, 7};
  const uint8_t dense[2] = {0x21, 0x03};
  EXPECT_EQ(dense_bytes(nibbles), 2u);
  copy_to_tensor({&nibbles, pairs}, dense);
  EXPECT_EQ(pairs[1], 0x03);
  EXPECT_EQ(pairs[2], 7);
}

}  // namespace
}  // namespace mote::api
