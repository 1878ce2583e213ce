#include <algorithm>

#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"

namespace mote::frontends::torch {
namespace {

// A number for each spatial dimension; one stands for all.
bool per_axis(Op& o, const char* name, int spatial, int64_t otherwise, int32_t* out) {
  std::vector<int64_t> given = o.integers(name, {otherwise});
  if (given.size() == 1) given.resize(static_cast<size_t>(spatial), given[0]);
  if (given.empty()) given.resize(static_cast<size_t>(spatial), otherwise);
  if (static_cast<int>(given.size()) != spatial) {
    o.refuse(std::string("'") + name + "': expected " + std::to_string(spatial) + " values, found " + std::to_string(given.size()));
    return false;
  }
  for (int i = 0; i < spatial; ++i) out[i] = static_cast<int32_t>(std::clamp<int64_t>(given[static_cast<size_t>(i)], INT32_MIN, INT32_MAX));
  return true;
}

// "same" and "valid", or numbers.
bool read_padding(Op& o, int spatial, const ir::Dims& weights, const int32_t* dilations, int32_t* begin, int32_t* end) {
  const std::string mode = o.text("padding", "");
  if (mode == "valid") return true;
  if (mode == "same") {
    for (int i = 0; i < spatial; ++i) {
      const int32_t total = dilations[i] * (weights[static_cast<size_t>(i) + 2] - 1);
      begin[i] = total / 2;
      end[i] = total - total / 2;
    }
    return true;
  }
  if (!per_axis(o, "padding", spatial, 0, begin)) return false;
  std::copy(begin, begin + spatial, end);
  return true;
}

// (C, O/groups, kernel...) to Mote's (O, kernel..., C/groups).
Value* transposed_weights(Op& o, Value* w, int32_t groups) {
  const ir::Dims dims = dims_of(w);
  if (groups < 1 || dims.size() < 3 || dims[0] % groups != 0 || !w->type.is_static()) {
    o.refuse("expected fixed weights whose channels divide into " + std::to_string(groups) + " groups");
    return nullptr;
  }
  std::vector<int64_t> split{groups, dims[0] / groups}, joined{int64_t{dims[1]} * groups};
  std::vector<int> perm{0, 2};
  for (size_t i = 1; i < dims.size(); ++i) split.push_back(dims[i]);
  for (size_t i = 2; i < dims.size(); ++i) {
    perm.push_back(static_cast<int>(i) + 1);
    joined.push_back(dims[i]);
  }
  perm.push_back(1);
  joined.push_back(dims[0] / groups);
  return o.reshape(o.transpose(o.reshape(w, split), perm), joined);
}

struct Operands {
  Value *x, *w, *bias;
};

template <class A>
Value* apply(Op& o, OpId id, const A& a, const Operands& in) {
  if (!o.b.ok()) return nullptr;
  return in.bias != nullptr ? o.b.op(id, a, {in.x, in.w, in.bias}) : o.b.op(id, a, {in.x, in.w});
}

void import_convolution(Op& o) {
  Operands in{o.in("input"), o.in("weight"), o.tensor("bias")};
  const int spatial = rank_of(in.w) - 2;
  if (!o.b.ok()) return;
  if (spatial < 1 || spatial > 3) return o.refuse("expected 1 to 3 spatial dimensions, found " + std::to_string(spatial));
  const DType t = dtype_of_value(in.x), wide = is_float(t) ? t : DType::f64;
  const bool single = rank_of(in.x) == spatial + 1;  // without a batch
  if (single) in.x = o.unsqueeze(in.x, {0});
  const bool transposed = o.flag("transposed", o.node.target.find("conv_transpose") != std::string::npos);
  const int32_t groups = static_cast<int32_t>(std::clamp<int64_t>(o.integer("groups", 1), 0, INT32_MAX));
  in.x = o.cast(in.x, wide);
  in.w = o.cast(in.w, wide);
  in.bias = in.bias == nullptr ? nullptr : o.cast(in.bias, wide);
  Value* y = nullptr;
  if (transposed) {
    ops::conv_transpose::Attrs a;
    a.groups = groups;
    if (!per_axis(o, "stride", spatial, 1, a.strides) || !per_axis(o, "dilation", spatial, 1, a.dilations) ||
        !per_axis(o, "output_padding", spatial, 0, a.output_padding) ||
        !read_padding(o, spatial, dims_of(in.w), a.dilations, a.pads_begin, a.pads_end))
      return;
    in.w = transposed_weights(o, in.w, groups);
    in.x = o.channels_last(in.x);
    y = apply(o, OpId::conv_transpose, a, in);
  } else {
    ops::conv::Attrs a;
    a.groups = groups;
    if (!per_axis(o, "stride", spatial, 1, a.strides) || !per_axis(o, "dilation", spatial, 1, a.dilations) ||
        !read_padding(o, spatial, dims_of(in.w), a.dilations, a.pads_begin, a.pads_end))
      return;
    in.w = o.channels_last(in.w);
    in.x = o.channels_last(in.x);
    y = apply(o, OpId::conv, a, in);
  }
  y = o.cast(o.channels_first(y), t);
  o.out(single ? o.squeeze(y, {0}) : y);
}

}  // namespace

void add_conv_ops(OpTable& t);
void add_conv_ops(OpTable& t) {
  add_lines(t, {
                   {"aten.convolution", "default", &import_convolution, kReal},
                   {"aten.conv1d", "default padding", &import_convolution, kReal},
                   {"aten.conv2d", "default padding", &import_convolution, kReal},
                   {"aten.conv3d", "default padding", &import_convolution, kReal},
                   {"aten.conv_transpose1d", "default", &import_convolution, kReal},
                   {"aten.conv_transpose2d", "input", &import_convolution, kReal},
                   {"aten.conv_transpose3d", "input", &import_convolution, kReal},
               });
}

}  // namespace mote::frontends::torch
