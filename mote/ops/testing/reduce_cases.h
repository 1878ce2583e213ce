#pragma once

// For tests: cases that every reduction must pass.

#include <algorithm>

#include "mote/ops/common/reduce.h"
#include "mote/ops/op_table.h"
#include "mote/ops/testing/harness.h"

namespace mote::optest {

// The result for the values of the reduced elements of a tensor of that type.
using ReduceOracle = std::function<double(DType, const std::vector<double>&)>;

struct ReduceOptions {
  double lo = -4, hi = 4;
  double scale = 1;  // widens the tolerance
  DType result = DType::kNone;
};

inline bool is_float_type(DType t) { return (mask_of(t) & kFloat) != 0; }

// Smallest and largest value of an integer type, as doubles.
inline double lowest_of(DType t) {
  const bool is_signed = (mask_of(t) & mask_of_list(SignedTypes{})) != 0;
  return is_signed ? -std::exp2(static_cast<double>(dtype_bits(t) - 1)) : 0;
}
inline double highest_of(DType t) {
  if (t == DType::boolean) return 1;
  return lowest_of(t) < 0 ? -lowest_of(t) - 1 : std::exp2(static_cast<double>(dtype_bits(t))) - 1;
}

// A whole number as an integer type narrower than 64 bits keeps it.
inline double wrapped(DType t, double v) {
  if (is_float_type(t) || t == DType::boolean || dtype_bits(t) == 64) return v;
  const double range = std::exp2(static_cast<double>(dtype_bits(t)));
  v = v - std::floor(v / range) * range;
  return v > highest_of(t) ? v - range : v;
}

inline ops::ReduceAttrs axes_attrs(const std::vector<int32_t>& axes, int32_t keep_dims) {
  ops::ReduceAttrs a;
  std::copy(axes.begin(), axes.end(), a.axes);
  a.axis_count = static_cast<int32_t>(axes.size());
  a.keep_dims = keep_dims;
  return a;
}

// One shape, set of axes and type; the axes given as attribute and as tensor.
template <class A>
void check_reduce_once(OpId op, A attrs, const Array& x, uint32_t mask, int32_t keep, const ReduceOracle& oracle, const ReduceOptions& o) {
  const Shape& shape = x.shape();
  const int rank = static_cast<int>(shape.size());
  std::vector<int32_t> axes;
  for (int i = 0; i < rank; ++i)
    if ((mask >> i & 1) != 0) axes.push_back(i % 2 == 0 ? i : i - rank);
  auto reduced = [&](int i) { return axes.empty() || (mask >> i & 1) != 0; };
  Shape kept;
  for (int i = 0; i < rank; ++i)
    if (keep != 0 || !reduced(i)) kept.push_back(reduced(i) ? 1 : shape[static_cast<size_t>(i)]);

  static_cast<ops::ReduceAttrs&>(attrs) = axes_attrs(axes, keep);
  const auto r = run(op, attrs, {x});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], kept);
  ASSERT_EQ(r.outputs[0].dtype(), o.result == DType::kNone ? x.dtype() : o.result);
  expect_oracle(
      r.outputs[0],
      [&](const Shape& at) {
        std::vector<double> values;
        for_each_index(shape, [&](const Shape& i) {
          bool mine = true;
          for (int k = 0, y = 0; k < rank; ++k) {
            if (reduced(k)) y += keep;
            else mine = i[static_cast<size_t>(k)] == at[static_cast<size_t>(y++)] && mine;
          }
          if (mine) values.push_back(x.at(i));
        });
        return wrapped(r.outputs[0].dtype(), oracle(x.dtype(), values));
      },
      o.scale);

  static_cast<ops::ReduceAttrs&>(attrs) = axes_attrs({7}, keep);
  Array list(mask % 3 == 0 ? DType::s32 : DType::s64, {static_cast<int32_t>(axes.size())});
  for (size_t i = 0; i < axes.size(); ++i) list.set(static_cast<int64_t>(i), axes[i]);
  const auto by_tensor = run(op, attrs, {x, list});
  ASSERT_TRUE(by_tensor.ok()) << by_tensor.message();
  EXPECT_EQ(by_tensor.outputs[0].bytes(), r.outputs[0].bytes());
}

// One call made by hand, to see what run() never does: inputs whose values are not known yet, or change between infer() and the kernel.
class BareCall {
 public:
  BareCall(OpId op, const void* attrs, const Shape& x, const Shape& numbers) : x_(DType::f32, x), numbers_(DType::s32, numbers) {
    for (const OpDef& d : builtin_ops())
      if (d.id == static_cast<uint16_t>(op)) def_ = &d;
    describe(0, DType::f32, x);
    describe(1, DType::s32, numbers);
    tensors_[0].data = x_.bytes().data();
    context_.tensors = tensors_;
    context_.operands = operands_;
    context_.attr_bytes = attrs;
    context_.input_count = 2;
    context_.output_count = 1;
  }
  // infer() while the values of input 1 are not known.
  Status infer_unknown() { return def_->infer(InferContext(context_, &out, nullptr)); }
  // The kernel, on an output of that shape and with every value of input 1 at `number`.
  Status run_with(double number, DType type, const Shape& y) {
    for (int64_t i = 0; i < numbers_.count(); ++i) numbers_.set(i, number);
    tensors_[1].data = numbers_.bytes().data();
    Array result(type, y);
    result.bytes().resize(result.bytes().size() + 1);
    describe(2, type, y);
    tensors_[2].data = result.bytes().data();
    return def_->select(context_)(context_);
  }

  TensorType out;

 private:
  void describe(int i, DType type, const Shape& shape) {
    desc_[i] = TensorDesc{};
    desc_[i].dtype = type;
    desc_[i].rank = static_cast<uint8_t>(shape.size());
    std::copy(shape.begin(), shape.end(), desc_[i].dims);
    set_dense_strides(desc_[i]);
    tensors_[i].desc = &desc_[i];
  }
  const OpDef* def_ = nullptr;
  Array x_, numbers_;
  TensorDesc desc_[3];
  Tensor tensors_[3];
  int32_t operands_[3] = {0, 1, 2};
  OpContext context_;
};

// What every reduction refuses. `refused`: a type it does not take.
template <class A>
void check_reduce_refusals(OpId op, A attrs, DType refused, DType result) {
  ops::ReduceAttrs& axes = attrs;
  const Array x(DType::f32, {2, 3}), none = Array::none();
  auto why = [&](const Array& in, const Array& list) { return run(op, attrs, {in, list}).status.why(); };
  EXPECT_EQ(why(Array(refused, {2}), none), Why::kDType);
  for (const std::vector<int32_t>& bad : {std::vector<int32_t>{2}, {-3}, {0, 0}, {1, -1}}) {
    axes = axes_attrs(bad, 1);
    EXPECT_EQ(why(x, none), Why::kAxis);
    axes = axes_attrs({}, 0);
    EXPECT_EQ(why(x, Array::of<int64_t>({static_cast<int32_t>(bad.size())}, {bad.begin(), bad.end()})), Why::kAxis);
  }
  EXPECT_EQ(why(x, Array(DType::f32, {1})), Why::kDType);
  EXPECT_EQ(why(x, Array(DType::s64, {1, 1})), Why::kRank);
  axes = axes_attrs({}, 2);
  EXPECT_EQ(why(x, none), Why::kAttribute);
  for (int32_t count : {-1, 9}) {
    axes = axes_attrs({}, 1);
    axes.axis_count = count;
    EXPECT_EQ(why(x, none), Why::kAttribute);
  }

  axes = axes_attrs({}, 0);
  EXPECT_EQ(BareCall(op, &attrs, {2, 1, 3}, {4}).infer_unknown().why(), Why::kAxis);
  BareCall dropped(op, &attrs, {2, 3, 3}, {1});
  ASSERT_TRUE(dropped.infer_unknown().ok());
  EXPECT_EQ(Shape(dropped.out.dims, dropped.out.dims + dropped.out.rank), (Shape{kDimUnknown, 3}));
  EXPECT_TRUE(dropped.run_with(1, result, {2, 3}).ok());
  EXPECT_EQ(dropped.run_with(0, result, {2, 3}).why(), Why::kDimMismatch);
  axes = axes_attrs({}, 1);
  BareCall call(op, &attrs, {2, 1, 3}, {1});
  ASSERT_TRUE(call.infer_unknown().ok());
  EXPECT_EQ(Shape(call.out.dims, call.out.dims + call.out.rank), (Shape{kDimUnknown, 1, kDimUnknown}));
  EXPECT_TRUE(call.run_with(2, result, {2, 1, 1}).ok());
  EXPECT_EQ(call.run_with(2, result, {1, 1, 3}).why(), Why::kDimMismatch);
  EXPECT_EQ(call.run_with(3, result, {2, 1, 1}).why(), Why::kAxis);
}

template <class A>
void check_reduce(OpId op, const A& attrs, const std::vector<DType>& types, DType refused, const ReduceOracle& oracle,
                  const ReduceOptions& o = {}) {
  const Shape shapes[] = {{}, {5}, {0}, {2, 3}, {3, 0, 2}, {2, 3, 4}, {2, 1, 2, 1, 2, 1, 2, 3}};
  for (DType type : types) {
    SCOPED_TRACE(dtype_name(type));
    uint32_t seed = 1;
    for (const Shape& shape : shapes) {
      const Array x = Array::random(type, shape, seed++, o.lo, o.hi);
      std::vector<uint32_t> masks = {0, 0x01, 0x81, 0x7e, 0xff};
      if (shape.size() < 8) masks.clear();
      for (uint32_t m = 0; shape.size() < 8 && m < 1u << shape.size(); ++m) masks.push_back(m);
      for (uint32_t mask : masks)
        for (int32_t keep : {0, 1}) check_reduce_once(op, attrs, x, mask, keep, oracle, o);
    }
  }
  check_reduce_refusals(op, attrs, refused, o.result == DType::kNone ? DType::f32 : o.result);
}

}  // namespace mote::optest
