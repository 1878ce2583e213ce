// Copies: of everything, of parts along one axis, with a constant around.

#include "mote/backends/common/op_context.h"
#include "mote/backends/xnnpack/operators.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/split/split.h"

namespace mote::backends::xnnpack {
namespace {

// `rows` times `count` neighbours, with these distances between the beginnings.
void add_copy(Session* s, size_t rows, size_t count, const float* from, size_t from_step, float* to, size_t to_step) {
  xnn_operator_t o = nullptr;
  const xnn_status made = s->xnn.xnn_create_copy_nc_x32(count, from_step, to_step, 0, &o);
  s->add(made, o);
  if (made == xnn_status_success) s->check(s->xnn.xnn_setup_copy_nc_x32(o, rows, from, to, s->xnn.threads));
}

size_t product(const Operand& o, int begin, int end) {
  size_t n = 1;
  for (int i = begin; i < end; ++i) n *= static_cast<size_t>(o.dims[i]);
  return n;
}

const char* lower_slice(const OpView& op, Session* s) {
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  for (size_t i = 1; i < op.inputs.size(); ++i)
    if (op.has(i) && op.inputs[i].data == nullptr) return "its range is known only when running";
  ops::slice::Range ranges[kMaxRank];
  const ContextOf context(op);
  if (!ops::slice::resolve(op.attributes<ops::slice::Attrs>(), context.get(), ranges).ok()) return "a range it does not have";
  int axis = -1;
  for (int i = 0; i < x.rank; ++i) {
    if (x.dims[i] == y.dims[i] && ranges[i].start == 0) continue;
    if (axis >= 0) return "a part along several axes";
    axis = i;
  }
  if (axis >= 0 && ranges[axis].step != 1) return "steps other than 1";
  if (s == nullptr) return nullptr;
  if (axis < 0) axis = 0;
  const size_t inner = product(x, x.rank > 0 ? axis + 1 : 0, x.rank), rows = product(x, 0, axis);
  const size_t whole = x.rank > 0 ? static_cast<size_t>(x.dims[axis]) * inner : 1,
               part = x.rank > 0 ? static_cast<size_t>(y.dims[axis]) * inner : 1;
  add_copy(s, rows, part, s->at(x) + (x.rank > 0 ? static_cast<size_t>(ranges[axis].start) * inner : 0), whole, s->at(y), part);
  return nullptr;
}

const char* lower_pad(const OpView& op, Session* s) {
  const auto& a = op.attributes<ops::pad::Attrs>();
  const Operand& x = op.inputs[0];
  if (a.mode != ops::pad::kConstant) return "padding that repeats elements";
  if (x.rank > kMostDims) return "more than six dimensions";
  for (size_t i = 1; i < op.inputs.size(); ++i)
    if (op.has(i) && op.inputs[i].data == nullptr) return "its padding is known only when running";
  int64_t begin[kMaxRank], end[kMaxRank];
  bool known = false;
  const ContextOf context(op);
  if (!ops::pad::resolve(a, context.get(), begin, end, &known).ok() || !known) return "its padding is known only when running";
  std::vector<size_t> shape, before, behind;
  for (int i = 0; i < x.rank; ++i) {
    if (begin[i] < 0 || end[i] < 0) return "padding that cuts off";
    shape.push_back(static_cast<size_t>(x.dims[i]));
    before.push_back(static_cast<size_t>(begin[i]));
    behind.push_back(static_cast<size_t>(end[i]));
  }
  if (op.has(1) && (op.inputs[1].dtype != DType::f32 || op.inputs[1].count() < 1)) return "padding with something else than f32";
  if (s == nullptr) return nullptr;
  const float value = op.has(1) ? *static_cast<const float*>(op.inputs[1].data) : a.value;
  xnn_operator_t o = nullptr;
  const xnn_status made = s->xnn.xnn_create_constant_pad_nd_x32(&value, 0, &o);
  s->add(made, o);
  if (made == xnn_status_success)
    s->check(s->xnn.xnn_setup_constant_pad_nd_x32(o, shape.size(), shape.data(), before.data(), behind.data(), s->at(x),
                                                  s->at(op.outputs[0]), s->xnn.threads));
  return nullptr;
}

// One to many, or many to one, side by side along an axis.
void add_parts(Session* s, const Operand& whole, const std::vector<Operand>& parts, int32_t given, bool join) {
  const int axis = given < 0 ? given + whole.rank : given;
  const size_t inner = product(whole, axis + 1, whole.rank), rows = product(whole, 0, axis),
               step = static_cast<size_t>(whole.dims[axis]) * inner;
  float* at = s->at(whole);
  for (const Operand& p : parts) {
    const size_t count = static_cast<size_t>(p.present ? p.dims[axis] : 0) * inner;
    if (p.present && join) add_copy(s, rows, count, s->at(p), count, at, step);
    if (p.present && !join) add_copy(s, rows, count, at, step, s->at(p), count);
    at += count;
  }
}

}  // namespace

const char* lower_move(const OpView& op, Session* s) {
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  const auto id = static_cast<OpId>(op.op);
  if (id == OpId::slice) return lower_slice(op, s);
  if (id == OpId::pad) return lower_pad(op, s);
  if (id == OpId::split) {
    for (const Operand& o : op.outputs)
      if (!o.present) return "a part that nobody uses";
    if (s != nullptr) add_parts(s, x, op.outputs, op.attributes<ops::split::Attrs>().axis, false);
    return nullptr;
  }
  if (id == OpId::concat) {
    if (s != nullptr) add_parts(s, y, op.inputs, op.attributes<ops::concat::Attrs>().axis, true);
    return nullptr;
  }
  const auto count = static_cast<size_t>(y.count());
  if (x.count() != y.count()) return "it has no kernel there";
  if (s != nullptr) add_copy(s, 1, count, s->at(x), count, s->at(y), count);
  return nullptr;
}

}  // namespace mote::backends::xnnpack
