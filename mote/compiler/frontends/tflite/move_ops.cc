// Operators that move elements: joins, cuts, pads, other orders.

#include <algorithm>

#include "mote/compiler/frontends/tflite/moves.h"
#include "mote/compiler/frontends/tflite/products.h"
#include "mote/ops/batch_to_space/batch_to_space.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/depth_to_space/depth_to_space.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/q_concat/q_concat.h"
#include "mote/ops/reverse/reverse.h"
#include "mote/ops/reverse_sequence/reverse_sequence.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/space_to_batch/space_to_batch.h"
#include "mote/ops/space_to_depth/space_to_depth.h"
#include "mote/ops/split/split.h"
#include "mote/ops/tile/tile.h"

namespace mote::frontends::tflite {

namespace {

// Parts of open sizes that make a whole of a fixed one: how TensorFlow's tensor lists take a new element.
Value* fixed_as_declared(Op& op, Value* y) {
  const Dims& dims = op.out().dims;
  const bool open = y != nullptr && y->type.dynamic != 0 && dims.size() == y->type.dims.size();
  if (!open || std::any_of(dims.begin(), dims.end(), [](int32_t d) { return d < 0; })) return y;
  ops::slice::Attrs whole;  // its bounds are the declared sizes, where those of the parts add up to more
  whole.count = static_cast<int32_t>(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    whole.axes[i] = static_cast<int32_t>(i);
    whole.ends[i] = dims[i];
    whole.steps[i] = 1;
  }
  return op.b.reshape(op.b.op(OpId::slice, whole, {y}), dims);
}

}  // namespace

void import_concatenation(Op& op) {
  const auto& o = op.options<fb::ConcatenationOptions>();
  std::vector<Value*> parts;
  std::vector<float> scales;
  std::vector<int32_t> zeros;
  bool same = true;
  for (uint32_t i = 0; i < op.inputs(); ++i) {
    parts.push_back(op.value(i));
    scales.push_back(op.in(i).scale());
    zeros.push_back(op.in(i).zero());
    same &= same_quant(op.in(i), op.out());
  }
  if (!op.ok() || parts.empty() || std::find(parts.begin(), parts.end(), nullptr) != parts.end()) return op.fail("an input is missing");
  Value* y = nullptr;
  // Only u8 is rescaled; other types must agree, and TensorFlow Lite joins them as they are.
  if (!same && op.type_in(0) == DType::u8 && op.in(0).quant.present() && need_scale(op, op.out())) {
    const Dims n{static_cast<int32_t>(parts.size())};
    parts.insert(parts.begin(), {op.b.graph().constant<float>(n, scales), op.b.graph().constant<int32_t>(n, zeros)});
    y = op.b.op(OpId::q_concat, ops::q_concat::Attrs{o.axis(), op.out().scale(), op.out().zero(), 1}, parts);
  } else {
    y = parts.size() == 1 ? parts[0] : op.b.op(OpId::concat, ops::concat::Attrs{o.axis()}, parts);
  }
  op.set(activate(op, fixed_as_declared(op, y), o.fused_activation_function()));
}

void import_pack(Op& op) {
  const int32_t axis = op.options<fb::PackOptions>().axis();
  std::vector<Value*> parts;
  for (uint32_t i = 0; i < op.inputs() && op.need({i}); ++i) parts.push_back(op.b.unsqueeze(op.value(i), {axis}));
  if (parts.empty()) return op.fail("there is nothing to pack");
  op.set(parts.size() == 1 ? parts[0] : op.b.op(OpId::concat, ops::concat::Attrs{axis}, parts));
}

namespace {

// Cuts x into as many parts as the operator has outputs.
std::vector<Value*> cut(Op& op, Value* x, int64_t axis, Value* sizes) {
  if (!op.ok() || x == nullptr) return {};
  if (op.outputs() == 1) return {x};
  return op.b.ops(OpId::split, ops::split::Attrs{static_cast<int32_t>(axis)}, {x, sizes}, op.outputs());
}

}  // namespace

void import_unpack(Op& op) {
  const int32_t axis = op.options<fb::UnpackOptions>().axis();
  Value* x = op.value(0);
  if (x == nullptr) return op.fail("the input is missing");
  const int64_t at = axis < 0 ? axis + x->type.rank() : axis;
  if (at < 0 || at >= x->type.rank() || x->type.dims[static_cast<size_t>(at)] != static_cast<int64_t>(op.outputs()))
    return op.fail("axis " + std::to_string(axis) + " must have as many elements as there are outputs (" + std::to_string(op.outputs()) +
                   ")");
  const std::vector<Value*> parts = cut(op, x, at, nullptr);
  for (uint32_t i = 0; i < parts.size(); ++i) op.set(i, op.b.squeeze(parts[i], {at}));
}

void import_split(Op& op) {
  std::vector<int64_t> axis;
  if (!op.need_ints(0, "the axis", &axis) || axis.size() != 1) return op.fail("expected one axis");
  const std::vector<Value*> parts = cut(op, op.value(1), axis[0], nullptr);
  for (uint32_t i = 0; i < parts.size(); ++i) op.set(i, parts[i]);
}

void import_split_v(Op& op) {
  std::vector<int64_t> axis, sizes;
  Value *x = op.value(0), *wanted = op.value(1);
  if (!op.need_ints(2, "the axis", &axis) || axis.size() != 1 || x == nullptr) return op.fail("expected one axis");
  const int64_t at = axis[0] < 0 ? axis[0] + x->type.rank() : axis[0];
  if (at < 0 || at >= x->type.rank()) return op.fail("axis " + std::to_string(axis[0]) + " does not exist");
  if (op.ints(1, &sizes)) {
    int64_t rest = x->type.dims[static_cast<size_t>(at)];
    for (const int64_t s : sizes) rest -= std::max<int64_t>(s, 0);
    std::replace(sizes.begin(), sizes.end(), int64_t{-1}, rest);
    wanted = op.b.graph().constant<int64_t>({static_cast<int32_t>(sizes.size())}, sizes);
  }
  const std::vector<Value*> parts = cut(op, x, at, wanted);
  for (uint32_t i = 0; i < parts.size(); ++i) op.set(i, parts[i]);
}

namespace {

// The value that padding adds: real zero, in the scale of the output.
float pad_value(Op& op) { return op.out().is_quantized() && op.type_in(0) != DType::s32 ? static_cast<float>(op.out().zero()) : 0.0f; }

void pad(Op& op, int32_t mode) {
  Value *x = op.value(0), *value = op.code() == BuiltinOperator::PADV2 ? op.value(2) : nullptr;
  if (x == nullptr) return op.fail("the input is missing");
  ops::pad::Attrs a;
  a.mode = mode;
  a.value = pad_value(op);
  if (value != nullptr && value->type.rank() > 0) value = op.b.reshape(value, {});
  std::vector<int64_t> pads;
  if (!op.ints(1, &pads)) {
    // Known only when running: (n, 2) becomes all begins, then all ends. The file's shape bounds the result.
    Value* runtime = op.b.reshape(op.b.transpose(op.value(1), {1, 0}), {-1});
    return op.set(declare(op, op.b.op(OpId::pad, a, {x, value, runtime})));
  }
  if (pads.size() != x->type.dims.size() * 2)
    return op.fail("expected paddings (" + std::to_string(x->type.rank()) + ", 2), found " + describe(op.in(1)));
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] < 0 || pads[i] > INT32_MAX) return op.fail("paddings must not be negative, found " + std::to_string(pads[i]));
    (i % 2 == 0 ? a.begin : a.end)[i / 2] = static_cast<int32_t>(pads[i]);
  }
  op.set(op.b.op(OpId::pad, a, {x, value}));
}

}  // namespace

void import_pad(Op& op) { pad(op, 0); }

void import_mirror_pad(Op& op) { pad(op, op.options<fb::MirrorPadOptions>().mode() == fb::MirrorPadMode::REFLECT ? 1 : 4); }

void import_transpose(Op& op) {
  std::vector<int64_t> perm;
  Value* x = op.value(0);
  if (!op.need_ints(1, "the permutation", &perm)) return;
  op.set(op.b.transpose(x, to_dims(op, perm)));
}

void import_tile(Op& op) {
  std::vector<int64_t> repeats;
  Value *x = op.value(0), *runtime = op.value(1);
  if (x == nullptr || runtime == nullptr) return op.fail("an input is missing");
  ops::tile::Attrs a;
  if (!op.ints(1, &repeats)) return op.set(declare(op, op.b.op(OpId::tile, a, {x, runtime})));
  if (repeats.size() != x->type.dims.size())
    return op.fail("expected " + std::to_string(x->type.rank()) + " repeats, found " + std::to_string(repeats.size()));
  const Dims r = to_dims(op, repeats);
  std::copy(r.begin(), r.end(), a.repeats);
  op.set(op.b.op(OpId::tile, a, {x}));
}

void import_reverse(Op& op) {
  std::vector<int64_t> axes;
  if (!op.need_ints(1, "the axes", &axes)) return;
  if (axes.size() > static_cast<size_t>(kMaxRank)) return op.fail("too many axes");
  ops::reverse::Attrs a;
  a.count = static_cast<int32_t>(axes.size());
  const Dims d = to_dims(op, axes);
  std::copy(d.begin(), d.end(), a.axes);
  op.set(op.b.op(OpId::reverse, a, {op.value(0)}));
}

void import_reverse_sequence(Op& op) {
  const auto& o = op.options<fb::ReverseSequenceOptions>();
  op.set(op.b.op(OpId::reverse_sequence, ops::reverse_sequence::Attrs{o.batch_dim(), o.seq_dim()}, {op.value(0), op.value(1)}));
}

void import_depth_to_space(Op& op) {
  op.set(op.b.op(OpId::depth_to_space, ops::depth_to_space::Attrs{op.options<fb::DepthToSpaceOptions>().block_size()}, {op.value(0)}));
}

void import_space_to_depth(Op& op) {
  op.set(op.b.op(OpId::space_to_depth, ops::space_to_depth::Attrs{op.options<fb::SpaceToDepthOptions>().block_size()}, {op.value(0)}));
}

namespace {

// Block sizes and their borders, (count) and (count, 2).
template <class A>
bool set_blocks(Op& op, A* a) {
  std::vector<int64_t> block, border;
  if (!op.need_ints(1, "the block sizes", &block) || !op.need_ints(2, "the borders", &border)) return false;
  if (block.size() > static_cast<size_t>(kMaxRank) || border.size() != 2 * block.size()) {
    op.fail("expected as many borders (n, 2) as block sizes (n); found " + std::to_string(border.size() / 2) + " and " +
            std::to_string(block.size()));
    return false;
  }
  a->count = static_cast<int32_t>(block.size());
  const Dims b = to_dims(op, block), e = to_dims(op, border);
  for (size_t i = 0; i < b.size(); ++i) {
    a->block[i] = b[i];
    a->begin[i] = e[2 * i];
    a->end[i] = e[2 * i + 1];
  }
  return op.ok();
}

}  // namespace

void import_space_to_batch(Op& op) {
  ops::space_to_batch::Attrs a;
  a.value = pad_value(op);
  if (set_blocks(op, &a)) op.set(op.b.op(OpId::space_to_batch, a, {op.value(0)}));
}

void import_batch_to_space(Op& op) {
  ops::batch_to_space::Attrs a;
  if (set_blocks(op, &a)) op.set(op.b.op(OpId::batch_to_space, a, {op.value(0)}));
}

}  // namespace mote::frontends::tflite
