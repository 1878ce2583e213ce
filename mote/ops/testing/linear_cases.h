#pragma once

// For tests only: what the tests of convolutions, matrix products and pools share.

#include <cmath>
#include <cstring>

#include "mote/ops/op_table.h"
#include "mote/ops/testing/harness.h"

namespace mote::optest {

inline double activation_oracle(uint32_t kind, double a, double b, double x) {
  if (std::isnan(x)) return x;
  switch (kind) {
    case 1: return std::min(std::max(x, a), b);
    case 2: return std::max(x, 0.0);
    case 3: return std::min(std::max(x, 0.0), 6.0);
    case 4: return x < 0 ? a * x : x;
    case 5: return 1 / (1 + std::exp(-x));
    case 6: return std::tanh(x);
    case 7: return x / (1 + std::exp(-x));
    case 8: return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0);
    case 9: return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case 10: return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * std::pow(x, 3))));
    case 11: return std::min(std::max(a * x + b, 0.0), 1.0);
    case 12: return x < 0 ? a * (std::exp(x) - 1) : x;
    case 13: return std::log(1 + std::exp(x));
    case 14: return x * std::tanh(std::log(1 + std::exp(x)));
    default: return x;
  }
}

// Value of an array that is broadcast to an index, aligned at the last dimension.
inline double broadcast_value(const Array& v, const Shape& at) {
  Shape i(v.shape().size());
  for (size_t k = 0; k < i.size(); ++k) i[k] = v.shape()[k] == 1 ? 0 : at[at.size() - i.size() + k];
  return v.at(i);
}

// Products that make up one output of weights (O, ...): how much the tolerance of a sum grows.
inline double products_per_output(const Shape& weights) {
  return static_cast<double>(std::max<int64_t>(1, count_of(weights) / std::max(1, weights[0])));
}

struct WeightCase {
  DType type;
  Layout layout;
};
// Weight types and layouts that f32 operands take.
inline const std::vector<WeightCase>& weight_cases() {
  static const std::vector<WeightCase> cases = {
      {DType::f32, Layout::kPlain},  {DType::f32, Layout::kPanel16},    {DType::f16, Layout::kPlain}, {DType::f16, Layout::kPanel16},
      {DType::bf16, Layout::kPlain}, {DType::bf16, Layout::kPanel16k2}, {DType::s8, Layout::kPlain},  {DType::s8, Layout::kPanel16k4},
      {DType::s4, Layout::kPlain},   {DType::s4, Layout::kPanel16k8}};
  return cases;
}

// A tensor of which only some rows (dimension 1) are in memory: row r at r % ring. Bytes that hold no row are `poison`.
struct StripTensor {
  TensorDesc desc{};
  std::vector<uint8_t> bytes;
  int32_t row_bytes = 0, whole_rows = 0;

  StripTensor(DType dtype, const Shape& shape, int32_t ring, uint8_t poison) : whole_rows(shape[1]) {
    desc.dtype = dtype;
    desc.rank = static_cast<uint8_t>(shape.size());
    std::copy(shape.begin(), shape.end(), desc.dims);
    set_dense_strides(desc);
    row_bytes = desc.strides[1];
    const int32_t rows = ring > 0 ? ring : whole_rows;
    desc.ring_rows = static_cast<uint16_t>(ring);
    desc.strides[0] = rows * row_bytes;
    bytes.assign(static_cast<size_t>(shape[0]) * static_cast<size_t>(desc.strides[0]), poison);
  }
  uint8_t* row(int32_t batch, int32_t r) {
    return bytes.data() + batch * desc.strides[0] + (desc.ring_rows != 0 ? r % desc.ring_rows : r) * row_bytes;
  }
  const uint8_t* row_of(const Array& a, int32_t batch, int32_t r) const { return a.bytes().data() + (batch * whole_rows + r) * row_bytes; }
  void fill(const Array& a, int32_t first, int32_t last) {
    for (int32_t n = 0; n < desc.dims[0]; ++n)
      for (int32_t r = std::max(0, first); r < std::min(last, whole_rows); ++r)
        std::memcpy(row(n, r), row_of(a, n, r), static_cast<size_t>(row_bytes));
  }
};

// Computes rows [rows.begin, rows.end) with input 0, the residual (input 3) and the outputs as strips of `ring` rows (0: whole).
inline void check_one_strip(const OpDef& def, const void* attrs, const std::vector<Array>& inputs, const std::vector<Array>& expected,
                            Rows rows, std::pair<int32_t, int32_t> needed, int32_t in_ring, int32_t out_ring) {
  // Not the poison of inputs: a NaN that passes through a kernel keeps its bits.
  constexpr uint8_t kUnwritten = 0xa5;
  std::vector<StripTensor> strips;
  std::vector<TensorDesc> descs(inputs.size());
  std::vector<Tensor> tensors;
  std::vector<int32_t> operands;
  strips.reserve(inputs.size() + expected.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Array& a = inputs[i];
    operands.push_back(a.present() ? static_cast<int32_t>(i) : -1);
    tensors.emplace_back();
    if (!a.present()) continue;
    if (i == 0 || i == 3) {
      strips.emplace_back(a.dtype(), a.shape(), i == 0 ? in_ring : out_ring, 0xff);
      strips.back().fill(a, i == 0 ? needed.first : rows.begin, i == 0 ? needed.second : rows.end);
      tensors[i] = {&strips.back().desc, strips.back().bytes.data()};
      continue;
    }
    TensorDesc& d = descs[i];
    d.dtype = a.dtype();
    d.rank = static_cast<uint8_t>(a.shape().size());
    d.layout = a.layout();
    std::copy(a.shape().begin(), a.shape().end(), d.dims);
    if (d.layout == Layout::kPlain) set_dense_strides(d);
    tensors[i] = {&d, const_cast<uint8_t*>(a.bytes().data())};
  }
  const size_t first_output = strips.size();
  for (const Array& a : expected) {
    strips.emplace_back(a.dtype(), a.shape(), out_ring, kUnwritten);
    operands.push_back(static_cast<int32_t>(tensors.size()));
    tensors.push_back({&strips.back().desc, strips.back().bytes.data()});
  }
  OpContext c;
  c.tensors = tensors.data();
  c.operands = operands.data();
  c.attr_bytes = attrs;
  c.input_count = static_cast<uint16_t>(inputs.size());
  c.output_count = static_cast<uint16_t>(expected.size());
  c.rows = rows;
  KernelFn kernel = fast_kernels != nullptr ? fast_kernels(def.id, c) : nullptr;
  if (kernel == nullptr) kernel = def.select(c);
  ASSERT_TRUE(kernel(c).ok());
  for (size_t o = 0; o < expected.size(); ++o) {
    StripTensor& y = strips[first_output + o];
    StripTensor blank(expected[o].dtype(), expected[o].shape(), out_ring, kUnwritten);
    for (int32_t n = 0; n < y.desc.dims[0]; ++n) {
      for (int32_t r = rows.begin; r < std::min(rows.end, y.whole_rows); ++r) {
        EXPECT_EQ(std::memcmp(y.row(n, r), y.row_of(expected[o], n, r), static_cast<size_t>(y.row_bytes)), 0) << def.name << " row " << r;
        std::memset(y.row(n, r), kUnwritten, static_cast<size_t>(y.row_bytes));
      }
    }
    EXPECT_EQ(y.bytes, blank.bytes) << def.name << " wrote rows it was not asked for";
  }
}

// Computes an operator's output strip by strip, from whole and from ring-buffered inputs, and compares with the whole. needed(begin, end)
// says which rows of input 0 those rows of the output read; it may reach beyond the input.
template <class A>
void check_strips(OpId op, const A& attrs, const std::vector<Array>& inputs,
                  const std::function<std::pair<int32_t, int32_t>(int32_t, int32_t)>& needed, int outputs = 1) {
  const RunResult whole = run(op, attrs, inputs, outputs);
  ASSERT_TRUE(whole.ok()) << whole.message();
  const OpDef* def = nullptr;
  for (const OpDef& d : builtin_ops())
    if (d.id == static_cast<uint16_t>(op)) def = &d;
  ASSERT_NE(def, nullptr);
  ASSERT_NE(def->flags & kRowRange, 0);
  const int32_t in_rows = inputs[0].shape()[1], out_rows = whole.outputs[0].shape()[1];
  for (int32_t height = 1; height <= out_rows + 1; ++height) {
    for (int32_t begin = 0; begin < out_rows; begin += height) {
      const int32_t end = begin + height;
      const auto rows = needed(begin, std::min(end, out_rows));
      const int32_t ring = std::max(1, std::min(rows.second, in_rows) - std::max(0, rows.first));
      check_one_strip(*def, &attrs, inputs, whole.outputs, {begin, end}, {0, in_rows}, 0, 0);
      check_one_strip(*def, &attrs, inputs, whole.outputs, {begin, end}, rows, ring, height);
    }
  }
}

// Rows of the input that a window reads.
template <class A>
std::function<std::pair<int32_t, int32_t>(int32_t, int32_t)> window_rows(const A& a, int32_t kernel) {
  return [=](int32_t begin, int32_t end) {
    const int32_t first = begin * a.strides[0] - a.pads_begin[0];
    return std::make_pair(first, (end - 1) * a.strides[0] - a.pads_begin[0] + (kernel - 1) * a.dilations[0] + 1);
  };
}

}  // namespace mote::optest
