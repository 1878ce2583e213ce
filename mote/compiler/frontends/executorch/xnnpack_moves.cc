// Nodes that move elements or convert them.

#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/executorch/xnnpack_op.h"

namespace mote::frontends::executorch {
namespace {

using Sizes = flatbuffers::Vector<uint32_t>;

// A list of the file as sizes; fails the node when it does not have `count` entries.
std::vector<int64_t> sizes_of(XnnOp& o, const Sizes* list, size_t count, const char* what) {
  std::vector<int64_t> out;
  const size_t found = list == nullptr ? 0 : list->size();
  if (found != count || count > static_cast<size_t>(kMaxRank)) {
    o.fail(std::string(what) + " has " + std::to_string(found) + " entries; expected " + std::to_string(count) + ", at most " +
           std::to_string(kMaxRank));
    return out;
  }
  for (size_t i = 0; i < count; ++i) out.push_back(o.size(list->Get(static_cast<uint32_t>(i)), what));
  return out;
}

// Integers stay what they are where both values have the same scale; otherwise they are converted.
template <class F>
void move(XnnOp& o, uint32_t in, uint32_t out, F f) {
  if (o.same_quant(o.tensor(in), o.tensor(out)) && o.held(in).scale == nullptr) {
    Value* v = o.raw(in);
    if (o.b.ok()) v = f(v);
    return o.tensor(out).quant.kind == XnnQuant::Kind::kNone ? o.set_real(out, v) : o.set(out, v);
  }
  Value* v = o.real(in);
  if (o.b.ok()) o.set_real(out, f(v));
}

}  // namespace

void import_xnn_transpose(XnnOp& o) {
  const auto& n = o.fields<xfb::Transpose>();
  const std::vector<int64_t> perm = sizes_of(o, n.perm(), static_cast<size_t>(rank_of(o.raw(n.input_id()))), "the permutation");
  if (!o.b.ok()) return;
  std::vector<int> order(perm.begin(), perm.end()), sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int>(i)) return o.fail("its list of axes is no permutation");
  move(o, n.input_id(), n.output_id(), [&](Value* v) { return o.transpose(v, order); });
}

void import_xnn_reshape(XnnOp& o) {
  const auto& n = o.fields<xfb::Reshape>();
  std::vector<int64_t> dims = sizes_of(o, n.new_shape(), n.num_dims(), "the shape");
  // One size may be open: 0.
  if (std::count(dims.begin(), dims.end(), 0) > 1) return o.fail("more than one size of the shape is open");
  std::replace(dims.begin(), dims.end(), int64_t{0}, int64_t{-1});
  move(o, n.input_id(), n.output_id(), [&](Value* v) { return o.reshape(v, dims); });
}

void import_xnn_slice(XnnOp& o) {
  const auto& n = o.fields<xfb::Slice>();
  const size_t rank = static_cast<size_t>(rank_of(o.raw(n.input_id())));
  const std::vector<int64_t> offsets = sizes_of(o, n.offsets(), rank, "the list of offsets"),
                             sizes = sizes_of(o, n.sizes(), rank, "the list of sizes");
  if (!o.b.ok()) return;
  move(o, n.input_id(), n.output_id(), [&](Value* v) {
    for (size_t i = 0; i < rank && v != nullptr; ++i) {
      const int axis = static_cast<int>(i);
      const bool whole = offsets[i] == 0 && (sizes[i] == 0 || sizes[i] == v->type.dims[i]);
      if (whole) continue;
      const int64_t end = sizes[i] == 0 ? INT32_MAX : offsets[i] + sizes[i];
      if (is_fixed(v, axis) && sizes[i] != 0 && end > v->type.dims[i])
        o.fail("it takes elements " + std::to_string(offsets[i]) + " to " + std::to_string(end) + " of a dimension of " +
               std::to_string(v->type.dims[i]));
      v = o.slice(v, axis, offsets[i], end);
    }
    return v;
  });
}

void import_xnn_pad(XnnOp& o) {
  const auto& n = o.fields<xfb::ConstantPad>();
  const size_t rank = static_cast<size_t>(rank_of(o.raw(n.input_id())));
  const std::vector<int64_t> before = sizes_of(o, n.pre_paddings(), rank, "the list of paddings"),
                             after = sizes_of(o, n.post_paddings(), rank, "the list of paddings");
  const XnnTensor& t = o.tensor(n.input_id());
  float value = n.padding_value();
  if (t.per_tensor() && o.same_quant(t, o.tensor(n.output_id()))) {
    const float lo = t.dtype == DType::u8 ? 0.0f : -128.0f;
    value = std::nearbyint(std::clamp(value / t.quant.scale + static_cast<float>(t.quant.zero), lo, lo + 255.0f));
  }
  move(o, n.input_id(), n.output_id(), [&](Value* v) { return o.pad(v, before, after, value); });
}

void import_xnn_concat(XnnOp& o) {
  const auto& n = o.fields<xfb::Cat>();
  const uint32_t all[] = {n.input1_id(), n.input2_id(), n.input3_id(), n.input4_id(), n.input5_id()};
  using N = xfb::NodeUnion;
  const N type = o.node.node_type();
  const size_t count = type == N::XNNConcatenate2 ? 2 : type == N::XNNConcatenate3 ? 3 : type == N::XNNConcatenate4 ? 4 : 5;
  const XnnTensor& y = o.tensor(n.output_id());
  std::vector<Value*> parts;
  bool same = true;
  for (size_t i = 0; i < count; ++i) same = same && o.same_quant(o.tensor(all[i]), y) && o.held(all[i]).scale == nullptr;
  for (size_t i = 0; i < count; ++i) parts.push_back(same ? o.raw(all[i]) : o.real(all[i], y.is_float() ? y.dtype : DType::f32));
  if (!o.b.ok()) return;
  const int32_t axis = o.size(n.axis(), "the axis");
  if (axis >= rank_of(parts[0])) return o.fail("there is no axis " + std::to_string(axis));
  Value* v = o.concat(parts, axis);
  if (same && y.quant.kind != XnnQuant::Kind::kNone) o.set(n.output_id(), v);
  else o.set_real(n.output_id(), v);
}

void import_xnn_copy(XnnOp& o) {
  const auto& n = o.fields<xfb::Unary>();
  move(o, n.input_id(), n.output_id(), [&](Value* v) { return v; });
}

void import_xnn_convert(XnnOp& o) {
  const auto& n = o.fields<xfb::Unary>();
  const XnnTensor& y = o.tensor(n.output_id());
  if (!y.dynamic()) return import_xnn_copy(o);
  Value* x = o.real(n.input_id());
  o.set_held(n.output_id(), quantize_xnn_rows(o.b, x, y.quant.nonbatch_dims));
}

}  // namespace mote::frontends::executorch
