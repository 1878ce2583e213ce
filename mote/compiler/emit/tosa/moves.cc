// Operators that move elements.

#include "mote/compiler/emit/tosa/windows.h"
#include "mote/compiler/ir/infer.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/depth_to_space/depth_to_space.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/reverse/reverse.h"
#include "mote/ops/scatter_nd/scatter_nd.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/space_to_depth/space_to_depth.h"
#include "mote/ops/split/split.h"
#include "mote/ops/transpose/transpose.h"

namespace mote::emit::tosa {
namespace {

int64_t product(const Dims& d, size_t begin, size_t end) {
  int64_t all = 1;
  for (size_t i = begin; i < end; ++i) all *= d[i];
  return all;
}

Operand reverse(Writer& w, const Operand& x, int axis) {
  return w.op(fb::Op::REVERSE, fb::Attribute::ReverseAttribute, fb::CreateReverseAttribute(w.b, axis).Union(), {x}, x.type, x.dims);
}

Operand slice(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::slice::Attrs>();
  const Dims& out = n.outputs[0]->type.dims;
  Operand x = w.of(n.inputs[0]);
  if (n.inputs.size() > 1) w.fail("positions must be attributes");
  for (const int32_t d : out)
    if (d == 0) w.fail("TOSA has no empty tensors");
  for (int i = 0; w.ok() && i < a.count; ++i) {
    const size_t axis = static_cast<size_t>(a.axes[i] < 0 ? a.axes[i] + static_cast<int>(x.dims.size()) : a.axes[i]);
    if (axis >= x.dims.size() || a.steps[i] == 0) w.fail("an axis is outside of the tensor");
    if (!w.ok()) break;
    const ops::slice::Range r = ops::slice::cut(a.starts[i], a.ends[i], a.steps[i], x.dims[axis]);
    x = strided(w, x, axis, r.start, r.step, static_cast<int32_t>(r.size));
  }
  return x;
}

Operand transposed(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::transpose::Attrs>();
  const Operand x = w.of(n.inputs[0]);
  const int rank = n.inputs[0]->type.rank();
  std::vector<int> perm;
  for (int i = 0; i < rank; ++i) {
    const int axis = a.rank == 0 ? rank - 1 - i : a.perm[i];
    perm.push_back(axis < 0 ? axis + rank : axis);
    if (perm.back() < 0 || perm.back() >= rank) w.fail("axis " + std::to_string(axis) + " is outside of the tensor");
  }
  return w.ok() ? w.transpose(x, perm) : x;
}

Operand concat(Writer& w, const Node& n) {
  const int axis = n.attributes<ops::concat::Attrs>().axis, rank = n.outputs[0]->type.rank();
  std::vector<Operand> parts;
  for (const Value* v : n.inputs) parts.push_back(w.of(v));
  if (!w.ok()) return {};
  return w.op(fb::Op::CONCAT, fb::Attribute::ConcatAttribute, fb::CreateConcatAttribute(w.b, axis < 0 ? axis + rank : axis).Union(), parts,
              parts[0].type, n.outputs[0]->type.dims);
}

void split(Writer& w, const Node& n) {
  const Operand x = w.of(n.inputs[0]);
  const int given = n.attributes<ops::split::Attrs>().axis;
  const size_t axis = static_cast<size_t>(given < 0 ? given + n.inputs[0]->type.rank() : given);
  int32_t start = 0;
  for (const Value* v : n.outputs) {
    if (v == nullptr || !w.ok()) {
      w.fail("a part that nobody uses has no size");
      return;
    }
    w.bind(v, part(w, x, axis, start, v->type.dims[axis]));
    start += v->type.dims[axis];
  }
}

// Reflection, repetition of the edge and the like: slices of one axis, put before and behind it.
Operand extended(Writer& w, const Operand& x, size_t axis, int32_t before, int32_t behind, int32_t mode) {
  const int32_t size = x.dims[axis];
  const auto piece = [&](int32_t count, bool front) -> Operand {
    if (mode == ops::pad::kEdge) {
      std::vector<int64_t> times(x.dims.size(), 1);
      Dims dims = x.dims;
      dims[axis] = count;
      times[axis] = count;
      return w.op(fb::Op::TILE, {part(w, x, axis, front ? 0 : size - 1, 1), w.shape(times)}, x.type, dims);
    }
    const int32_t skip = mode == ops::pad::kReflect ? 1 : 0;
    if (count > size - skip) w.fail("padding of more than one period has no form in TOSA");
    if (!w.ok()) return x;
    if (mode == ops::pad::kWrap) return part(w, x, axis, front ? size - count : 0, count);
    return reverse(w, part(w, x, axis, front ? skip : size - skip - count, count), static_cast<int>(axis));
  };
  std::vector<Operand> parts;
  if (before > 0) parts.push_back(piece(before, true));
  parts.push_back(x);
  if (behind > 0) parts.push_back(piece(behind, false));
  return w.ok() ? joined(w, parts, axis) : x;
}

Operand pad(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::pad::Attrs>();
  Operand x = w.of(n.inputs[0]);
  if (n.input(2) != nullptr) w.fail("padding must be known when compiling");
  std::vector<int64_t> pads;
  for (size_t i = 0; w.ok() && i < x.dims.size(); ++i) {
    const int32_t from = std::max(0, -a.begin[i]), to = x.dims[i] - std::max(0, -a.end[i]);
    if (to <= from) w.fail("TOSA has no empty tensors");
    if (w.ok()) x = part(w, x, i, from, to - from);
    pads.push_back(std::max(0, a.begin[i]));
    pads.push_back(std::max(0, a.end[i]));
  }
  if (!w.ok()) return {};
  if (a.mode != ops::pad::kConstant) {
    for (size_t i = 0; i < x.dims.size(); ++i)
      x = extended(w, x, i, static_cast<int32_t>(pads[2 * i]), static_cast<int32_t>(pads[2 * i + 1]), a.mode);
    return x;
  }
  const Operand with = n.input(1) != nullptr ? w.reshape(w.of(n.inputs[1]), {1}) : w.zero(x.type, static_cast<double>(a.value));
  return w.ok() ? w.op(fb::Op::PAD, {x, w.shape(pads), with}, x.type, n.outputs[0]->type.dims) : x;
}

// TILE and expand: how often each dimension is repeated.
Operand tile(Writer& w, const Node& n) {
  const Dims& out = n.outputs[0]->type.dims;
  const Operand x = w.of(n.inputs[0], static_cast<int>(out.size()));
  std::vector<int64_t> times;
  for (size_t i = 0; w.ok() && i < out.size(); ++i) times.push_back(x.dims[i] == 0 ? 1 : out[i] / x.dims[i]);
  return w.ok() ? w.op(fb::Op::TILE, {x, w.shape(times)}, x.type, out) : x;
}

bool whole_indices(Writer& w, const Operand& i) {
  if (w.ok() && i.type != fb::DType::INT32) w.fail("TOSA has indices of 32 bits");
  return w.ok();
}

Operand gather(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::gather::Attrs>();
  const Operand x = w.of(n.inputs[0]), indices = w.of(n.inputs[1]);
  const size_t axis = static_cast<size_t>(a.axis < 0 ? a.axis + static_cast<int>(x.dims.size()) : a.axis);
  if (a.batch_dims != 0) w.fail("TOSA has no batches of gathered axes");
  if (x.type == fb::DType::BOOL || x.type == fb::DType::INT48) w.fail("TOSA gathers no elements of this type");
  return whole_indices(w, indices) ? w.reshape(gathered(w, x, axis, indices), n.outputs[0]->type.dims) : Operand{};
}

// Rows of a matrix, as the front end writes SCATTER.
Operand scatter(Writer& w, const Node& n) {
  const Operand x = w.of(n.inputs[0]), indices = w.of(n.inputs[1]), updates = w.of(n.inputs[2]);
  if (n.attributes<ops::scatter_nd::Attrs>().reduction != ops::kScatterSet || indices.dims.empty() || indices.dims.back() != 1 ||
      x.dims.empty())
    w.fail("TOSA sets whole slices of the first dimension");
  if (x.type == fb::DType::BOOL || x.type == fb::DType::INT48) w.fail("TOSA scatters no elements of this type");
  if (!whole_indices(w, indices)) return {};
  const int32_t rows = x.dims[0], width = static_cast<int32_t>(product(x.dims, 1, x.dims.size()));
  const int32_t count = static_cast<int32_t>(product(indices.dims, 0, indices.dims.size()));
  const Operand y =
      w.op(fb::Op::SCATTER, {w.reshape(x, {1, rows, width}), w.reshape(indices, {1, count}), w.reshape(updates, {1, count, width})}, x.type,
           {1, rows, width});
  return w.reshape(y, n.outputs[0]->type.dims);
}

// (N, H, W, C) with the channels in blocks of b * b.
Operand depth_to_space(Writer& w, const Operand& x, const Dims& out, int32_t b, int32_t mode) {
  const int32_t c = out[3];
  const Dims &d = x.dims, block{d[0], d[1], d[2], b, b, c}, channel{d[0], d[1], d[2], c, b, b};
  const bool first = mode == ops::kBlockMajor;
  const Operand six = w.reshape(x, first ? block : channel);
  return w.reshape(w.transpose(six, first ? std::vector<int>{0, 1, 3, 2, 4, 5} : std::vector<int>{0, 1, 4, 2, 5, 3}), out);
}

Operand space_to_depth(Writer& w, const Operand& x, const Dims& out, int32_t b, int32_t mode) {
  const Operand six = w.reshape(x, {out[0], out[1], b, out[2], b, x.dims[3]});
  const bool first = mode == ops::kBlockMajor;
  return w.reshape(w.transpose(six, first ? std::vector<int>{0, 1, 3, 2, 4, 5} : std::vector<int>{0, 1, 3, 5, 2, 4}), out);
}

}  // namespace

// GATHER takes (N, K, C) by (N, W): what lies before the axis moves behind it.
Operand gathered(Writer& w, const Operand& x, size_t axis, const Operand& indices) {
  const size_t rank = x.dims.size();
  const int64_t before = product(x.dims, 0, axis), after = product(x.dims, axis + 1, rank);
  const int32_t size = x.dims[axis], count = static_cast<int32_t>(product(indices.dims, 0, indices.dims.size()));
  const auto i32 = [](int64_t v) { return static_cast<int32_t>(v); };
  Operand lines = w.transpose(w.reshape(x, {i32(before), size, i32(after)}), {1, 0, 2});
  lines = w.reshape(lines, {1, size, i32(before * after)});
  Operand y = w.op(fb::Op::GATHER, {lines, w.reshape(indices, {1, count})}, x.type, {1, count, i32(before * after)});
  y = w.transpose(w.reshape(y, {count, i32(before), i32(after)}), {1, 0, 2});
  Dims dims(x.dims.begin(), x.dims.begin() + static_cast<long>(axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + static_cast<long>(axis) + 1, x.dims.end());
  return w.reshape(y, dims);
}

bool lower_moves(Writer& w, const Node& n) {
  Operand y;
  switch (static_cast<OpId>(n.op)) {
    case OpId::copy: y = w.of(n.inputs[0]); break;
    case OpId::reshape: y = w.of(n.inputs[0]); break;
    case OpId::transpose: y = transposed(w, n); break;
    case OpId::concat: y = concat(w, n); break;
    case OpId::split: split(w, n); return true;
    case OpId::slice: y = slice(w, n); break;
    case OpId::pad: y = pad(w, n); break;
    case OpId::tile:
    case OpId::expand: y = tile(w, n); break;
    case OpId::gather: y = gather(w, n); break;
    case OpId::depth_to_space: {
      const auto a = n.attributes<ops::depth_to_space::Attrs>();
      y = w.of(n.inputs[0]);
      if (w.ok()) y = depth_to_space(w, y, n.outputs[0]->type.dims, a.block, a.mode);
      break;
    }
    case OpId::space_to_depth: {
      const auto a = n.attributes<ops::space_to_depth::Attrs>();
      y = w.of(n.inputs[0]);
      if (w.ok()) y = space_to_depth(w, y, n.outputs[0]->type.dims, a.block, a.mode);
      break;
    }
    case OpId::scatter_nd: y = scatter(w, n); break;
    case OpId::reverse: {
      const auto a = n.attributes<ops::reverse::Attrs>();
      y = w.of(n.inputs[0]);
      for (int i = 0; w.ok() && i < a.count; ++i) y = reverse(w, y, a.axes[i] < 0 ? a.axes[i] + n.inputs[0]->type.rank() : a.axes[i]);
      break;
    }
    default: return false;
  }
  if (y.type == fb::DType::INT48 && !n.is(OpId::copy) && !n.is(OpId::reshape)) w.fail("TOSA moves no elements of 48 bits");
  if (w.ok()) w.bind(n.outputs[0], n.is(OpId::reshape) ? w.reshape(y, n.outputs[0]->type.dims) : y);
  return true;
}

}  // namespace mote::emit::tosa
