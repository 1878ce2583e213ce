// Copies, transposes, slices, joins, pads.

#include "mote/backends/common/op_context.h"
#include "mote/backends/opencl/device_types.h"
#include "mote/backends/opencl/families.h"
#include "mote/ops/common/number.h"
#include "mote/ops/common/space_depth.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/depth_to_space/depth_to_space.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/split/split.h"
#include "mote/ops/transpose/transpose.h"

namespace mote::backends::opencl {
namespace {

struct Steps {
  int32_t of[kMaxRank] = {};
};

Steps dense_steps(const Operand& o) {
  Steps s;
  int32_t step = 1;
  for (int i = o.rank - 1; i >= 0; --i) {
    s.of[i] = step;
    step *= o.dims[i];
  }
  return s;
}

// A walk over sizes[0 .. rank), which end at dimension 7.
WalkArgs walk_of(int rank, const int32_t* sizes, const int32_t* from, const int32_t* to) {
  WalkArgs w{};
  w.count = 1;
  for (int i = 0; i < 8; ++i) {
    const int k = i - (8 - rank);
    w.size[i] = k < 0 ? 1 : sizes[k];
    w.a[i] = k < 0 ? 0 : from[k];
    w.out[i] = k < 0 ? 0 : to[k];
    w.count *= w.size[i];
  }
  return w;
}

void add_move(const OpView& op, Recorder& r, const Place& from, const Place& to, const WalkArgs& w, const Place* table = nullptr) {
  if (w.count == 0) return;
  int last = 7;
  while (last > 0 && w.size[last] == 1) --last;
  const bool leaps = w.a[last] != w.out[last];
  const bool bytes = op.outputs[0].dtype != DType::f32;
  auto args = r.launch(op, bytes ? "move_bytes" : "move", {static_cast<size_t>(w.count)}, {64}).like(leaps ? "leaps" : nullptr);
  args.tensor(from);
  if (bytes) args.tensor(table != nullptr ? *table : Place{});
  args.tensor(to).value(w);
  if (bytes) args.value(int32_t{table != nullptr ? 1 : 0});
}

Place behind(const Place& p, int64_t elements) { return {p.buffer, p.offset + static_cast<int32_t>(elements)}; }

bool constants(const OpView& op) {
  for (size_t i = 1; i < op.inputs.size(); ++i)
    if (op.inputs[i].present && op.inputs[i].data == nullptr) return false;
  return true;
}

int axis_of(int32_t axis, int rank) { return axis < 0 ? axis + rank : axis; }

const char* transpose(const OpView& op, Recorder* r) {
  const auto& a = op.attributes<ops::transpose::Attrs>();
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  if (r == nullptr) return nullptr;
  const Steps from = dense_steps(x), to = dense_steps(y);
  int32_t steps[kMaxRank];
  for (int i = 0; i < y.rank; ++i) steps[i] = from.of[a.rank == 0 ? x.rank - 1 - i : axis_of(a.perm[i], x.rank)];
  add_move(op, *r, x.place, y.place, walk_of(y.rank, y.dims, steps, to.of));
  return nullptr;
}

const char* concat(const OpView& op, Recorder* r) {
  const Operand& y = op.outputs[0];
  const int axis = axis_of(op.attributes<ops::concat::Attrs>().axis, y.rank);
  for (const Operand& x : op.inputs)
    if (x.dtype != y.dtype) return "only f32 is computed there";
  if (r == nullptr) return nullptr;
  int64_t at = 0;
  for (const Operand& x : op.inputs) {
    add_part(op, *r, x, axis, at, nullptr);
    at += x.dims[axis];
  }
  return nullptr;
}

const char* split(const OpView& op, Recorder* r) {
  const Operand& x = op.inputs[0];
  const int axis = axis_of(op.attributes<ops::split::Attrs>().axis, x.rank);
  for (const Operand& y : op.outputs)
    if (!y.present) return "a part of it is not used";
  if (r == nullptr) return nullptr;
  const Steps from = dense_steps(x);
  int64_t at = 0;
  for (const Operand& y : op.outputs) {
    add_move(op, *r, behind(x.place, at * from.of[axis]), y.place, walk_of(y.rank, y.dims, from.of, dense_steps(y).of));
    at += y.dims[axis];
  }
  return nullptr;
}

const char* slice(const OpView& op, Recorder* r) {
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  ops::slice::Range ranges[kMaxRank];
  const ContextOf context(op);
  if (!ops::slice::resolve(op.attributes<ops::slice::Attrs>(), context.get(), ranges).ok()) return "a range that makes no sense";
  if (r == nullptr) return nullptr;
  const Steps from = dense_steps(x);
  int32_t steps[kMaxRank];
  int64_t at = 0;
  for (int i = 0; i < x.rank; ++i) {
    at += ranges[i].start * from.of[i];
    steps[i] = static_cast<int32_t>(ranges[i].step) * from.of[i];
  }
  add_move(op, *r, behind(x.place, at), y.place, walk_of(y.rank, y.dims, steps, dense_steps(y).of));
  return nullptr;
}

const char* expand(const OpView& op, Recorder* r) {
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  if (r == nullptr) return nullptr;
  const Steps from = dense_steps(x);
  int32_t steps[kMaxRank] = {};
  for (int i = 0; i < x.rank; ++i) steps[i + y.rank - x.rank] = x.dims[i] == 1 ? 0 : from.of[i];
  add_move(op, *r, x.place, y.place, walk_of(y.rank, y.dims, steps, dense_steps(y).of));
  return nullptr;
}

const char* space_depth(const OpView& op, Recorder* r) {
  const auto& a = op.attributes<ops::depth_to_space::Attrs>();  // of both directions
  const bool to_space = op.op == static_cast<uint16_t>(OpId::depth_to_space);
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  if (r == nullptr) return nullptr;
  const Operand &space = to_space ? y : x, &depth = to_space ? x : y;
  const int32_t b = a.block, channels = space.dims[3];
  const int32_t c_step = a.mode == ops::kBlockMajor ? 1 : b * b, column = a.mode == ops::kBlockMajor ? channels : 1;
  const Steps s = dense_steps(space), d = dense_steps(depth);
  const int32_t dims[6] = {depth.dims[0], depth.dims[1], b, depth.dims[2], b, channels};
  const int32_t ss[6] = {s.of[0], b * s.of[1], s.of[1], b * s.of[2], s.of[2], 1};
  const int32_t ds[6] = {d.of[0], d.of[1], b * column, d.of[2], column, c_step};
  add_move(op, *r, x.place, y.place, to_space ? walk_of(6, dims, ds, ss) : walk_of(6, dims, ss, ds));
  return nullptr;
}

const char* pad(const OpView& op, Recorder* r) {
  const auto& a = op.attributes<ops::pad::Attrs>();
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  if (a.mode > ops::pad::kEdge) return "a way of padding without a kernel";
  int64_t begin[kMaxRank], end[kMaxRank];
  bool known = false;
  const ContextOf context(op);
  if (!ops::pad::resolve(a, context.get(), begin, end, &known).ok() || !known) return "a padding that makes no sense";
  for (int i = 0; i < x.rank; ++i)
    if (a.mode == ops::pad::kReflect && (begin[i] < 0 || end[i] < 0 || begin[i] >= x.dims[i] || end[i] >= x.dims[i]))
      return "a reflection of more than the tensor";
  if (r == nullptr) return nullptr;
  int32_t sizes[kMaxRank], before[kMaxRank];
  for (int i = 0; i < x.rank; ++i) sizes[i] = x.dims[i], before[i] = static_cast<int32_t>(begin[i]);
  WalkArgs w = walk_of(y.rank, y.dims, sizes, sizes);
  for (int i = 0; i < 8; ++i) {
    const int k = i - (8 - y.rank);
    w.a[i] = k < 0 ? 1 : sizes[k];
    w.b[i] = k < 0 ? 0 : before[k];
  }
  const bool bytes = x.dtype != DType::f32;
  auto args = r->launch(op, bytes ? "pad_bytes" : "pad", {static_cast<size_t>(w.count)}, {64});
  args.tensor(x.place).tensor(y.place).value(w).value(a.mode);
  if (!bytes) {
    args.value(op.has(1) ? *static_cast<const float*>(op.inputs[1].data) : a.value);
    return nullptr;
  }
  const uint8_t value = op.has(1) ? *static_cast<const uint8_t*>(op.inputs[1].data)
                                  : ops::number_bits<uint8_t>(x.dtype, ops::Number::of(static_cast<double>(a.value)));
  args.value(int32_t{value});
  return nullptr;
}

}  // namespace

void add_part(const OpView& op, Recorder& r, const Operand& x, int axis, int64_t at, const Place* table) {
  const Operand& y = op.outputs[0];
  const Steps to = dense_steps(y);
  add_move(op, r, x.place, behind(y.place, at * to.of[axis]), walk_of(x.rank, x.dims, dense_steps(x).of, to.of), table);
}

const char* lower_copy(const OpView& op, Recorder* r) {
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  if (x.dtype != y.dtype) return "only f32 is computed there";
  if (!constants(op)) return "its shape is known only when running";
  const bool there = r != nullptr && x.place.buffer == y.place.buffer && x.place.offset == y.place.offset && !r->changes_kind();
  if (r == nullptr || there) return nullptr;
  const int32_t count = static_cast<int32_t>(x.count()), one = 1;
  add_move(op, *r, x.place, y.place, walk_of(1, &count, &one, &one));
  return nullptr;
}

const char* lower_move(const OpView& op, Recorder* r) {
  if (op.inputs.empty() || !op.inputs[0].present || op.inputs[0].dtype != op.outputs[0].dtype) return "only f32 is computed there";
  const auto id = static_cast<OpId>(op.op);
  if (id == OpId::concat) return concat(op, r);
  if (!constants(op)) return "it reads sizes or indices when running";
  switch (id) {
    case OpId::transpose: return transpose(op, r);
    case OpId::split: return split(op, r);
    case OpId::slice: return slice(op, r);
    case OpId::pad: return pad(op, r);
    case OpId::expand: return expand(op, r);
    default: return space_depth(op, r);
  }
}

}  // namespace mote::backends::opencl
