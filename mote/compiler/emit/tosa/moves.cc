// Operators that move elements.

#include "mote/compiler/emit/tosa/writer.h"
#include "mote/compiler/ir/infer.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/reverse/reverse.h"
#include "mote/ops/scatter_nd/scatter_nd.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/split/split.h"
#include "mote/ops/transpose/transpose.h"

namespace mote::emit::tosa {
namespace {

int64_t product(const Dims& d, size_t begin, size_t end) {
  int64_t all = 1;
  for (size_t i = begin; i < end; ++i) all *= d[i];
  return all;
}

Operand slice_of(Writer& w, const Operand& x, const std::vector<int64_t>& start, const Dims& size) {
  return w.op(fb::Op::SLICE, {x, w.shape(start), w.shape({size.begin(), size.end()})}, x.type, size);
}

Operand reverse(Writer& w, const Operand& x, int axis) {
  return w.op(fb::Op::REVERSE, fb::Attribute::ReverseAttribute, fb::CreateReverseAttribute(w.b, axis).Union(), {x}, x.type, x.dims);
}

Operand slice(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::slice::Attrs>();
  const Dims& out = n.outputs[0]->type.dims;
  const Operand x = w.of(n.inputs[0]);
  std::vector<int64_t> start(x.dims.size(), 0);
  if (n.inputs.size() > 1) w.fail("positions must be attributes");
  for (int i = 0; w.ok() && i < a.count; ++i) {
    const size_t axis = static_cast<size_t>(a.axes[i] < 0 ? a.axes[i] + static_cast<int>(x.dims.size()) : a.axes[i]);
    if (axis >= x.dims.size() || a.steps[i] != 1) {
      w.fail("TOSA has slices of step 1 only");
      break;
    }
    const int64_t size = x.dims[axis], begin = a.starts[i] < 0 ? a.starts[i] + size : a.starts[i];
    start[axis] = std::clamp<int64_t>(begin, 0, size);
  }
  return w.ok() ? slice_of(w, x, start, out) : x;
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
  std::vector<int64_t> start(x.dims.size(), 0);
  for (const Value* v : n.outputs) {
    if (v == nullptr || !w.ok()) {
      w.fail("a part that nobody uses has no size");
      return;
    }
    w.bind(v, slice_of(w, x, start, v->type.dims));
    start[axis] += v->type.dims[axis];
  }
}

Operand pad(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::pad::Attrs>();
  const Operand x = w.of(n.inputs[0]);
  std::vector<int64_t> pads;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    pads.push_back(a.begin[i]);
    pads.push_back(a.end[i]);
    if (a.begin[i] < 0 || a.end[i] < 0) w.fail("TOSA pads, and cuts nothing off");
  }
  if (a.mode != ops::pad::kConstant || n.input(2) != nullptr) w.fail("TOSA pads with a constant");
  if (!w.ok()) return {};
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

// GATHER takes (N, K, C) by (N, W): what lies before the axis moves behind it.
Operand gather(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::gather::Attrs>();
  const Operand x = w.of(n.inputs[0]), indices = w.of(n.inputs[1]);
  const size_t rank = x.dims.size(), axis = static_cast<size_t>(a.axis < 0 ? a.axis + static_cast<int>(rank) : a.axis);
  if (a.batch_dims != 0) w.fail("TOSA has no batches of gathered axes");
  if (x.type == fb::DType::BOOL || x.type == fb::DType::INT48) w.fail("TOSA gathers no elements of this type");
  if (!whole_indices(w, indices)) return {};
  const int64_t before = product(x.dims, 0, axis), after = product(x.dims, axis + 1, rank);
  const int32_t size = x.dims[axis], count = static_cast<int32_t>(product(indices.dims, 0, indices.dims.size()));
  const auto i32 = [](int64_t v) { return static_cast<int32_t>(v); };
  Operand lines = w.transpose(w.reshape(x, {i32(before), size, i32(after)}), {1, 0, 2});
  lines = w.reshape(lines, {1, size, i32(before * after)});
  Operand y = w.op(fb::Op::GATHER, {lines, w.reshape(indices, {1, count})}, x.type, {1, count, i32(before * after)});
  y = w.transpose(w.reshape(y, {count, i32(before), i32(after)}), {1, 0, 2});
  return w.reshape(y, n.outputs[0]->type.dims);
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

}  // namespace

bool lower_moves(Writer& w, const Node& n) {
  Operand y;
  switch (static_cast<OpId>(n.op)) {
    case OpId::copy: y = w.of(n.inputs[0]); break;
    case OpId::reshape: y = w.of(n.inputs[0]); break;
    case OpId::transpose: {
      const auto a = n.attributes<ops::transpose::Attrs>();
      y = w.of(n.inputs[0]);
      if (w.ok()) y = w.transpose(y, std::vector<int>(a.perm, a.perm + n.inputs[0]->type.rank()));
      break;
    }
    case OpId::concat: y = concat(w, n); break;
    case OpId::split: split(w, n); return true;
    case OpId::slice: y = slice(w, n); break;
    case OpId::pad: y = pad(w, n); break;
    case OpId::tile:
    case OpId::expand: y = tile(w, n); break;
    case OpId::gather: y = gather(w, n); break;
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
