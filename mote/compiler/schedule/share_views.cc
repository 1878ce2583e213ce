// Views: reshapes, concatenations, pads, splits and slices without copies.

#include <algorithm>

#include "mote/compiler/schedule/op_query.h"
#include "mote/compiler/schedule/share.h"
#include "mote/format/reader.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/fill/fill.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/split/split.h"
#include "mote/runtime/verify.h"

namespace mote::schedule {

void Sharing::drop_views() {
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& s = step(i);
    const OpDef* def = is_frozen(i) ? nullptr : definition(ops_, s);
    if (def == nullptr || s.inputs.empty() || s.outputs.size() != 1) continue;
    if ((def->flags & kView) == 0 && !s.is(OpId::copy)) continue;
    const TensorId x = s.inputs[0], y = s.outputs[0];
    if (x < 0 || !movable(y, nullptr) || !written_once(y) || !is_dense(desc(x))) continue;
    const bool sized = is_static(x) && is_static(y);
    if (desc(x).storage == Storage::kConstant && desc(x).layout == Layout::kPlain && sized && owns_buffer(y)) {
      members(y).clear();
      Tensor& t = plan_.tensor(y);
      t.desc.storage = Storage::kConstant;
      t.place = plan_.tensor(x).place;
      t.at = plan_.tensor(x).at;
      uses(y).writes.clear();
      dropped_[i] = true;
      continue;
    }
    if (!in_arena(x) || !written_once(x)) continue;
    if (!sized) {
      // The step stays, to set dynamic sizes at run time; it copies nothing when both tensors have one place. Bounds may differ.
      if ((def->flags & kView) == 0 || !owns_buffer(x) || !owns_buffer(y)) continue;
      uint64_t& bytes = plan_.buffers[static_cast<size_t>(plan_.tensor(x).place)].bytes;
      if (!try_move(y, plan_.tensor(x).place, 0, nullptr)) continue;
      bytes = std::max<uint64_t>(bytes, extent_bytes(desc(y)));
      continue;
    }
    if (!try_move(y, plan_.tensor(x).place, plan_.tensor(x).at, nullptr)) continue;
    // Readers of y read x from now on.
    uses(y).writes = uses(x).writes;
    dropped_[i] = true;
  }
}

void Sharing::join_concats() {
  // Later ones first: a concatenation that is an operand of another one then has its final place.
  for (uint32_t i = static_cast<uint32_t>(plan_.steps.size()); i-- > 0;)
    if (!is_frozen(i) && step(i).is(OpId::concat) && !join_concat(i)) dropped_[i] = false;
}

// Moves the operands into the result. Those that cannot be moved are copied there. False when none can be moved.
bool Sharing::join_concat(uint32_t i) {
  const Step s = step(i);
  const TensorId whole = s.outputs[0];
  if (!in_arena(whole) || !is_static(whole) || !written_once(whole) || (i > 0 && !free_between(whole, 0, i - 1))) return false;
  const int rank = desc(whole).rank;
  ops::concat::Attrs attrs;
  if (s.attrs.size() >= sizeof attrs) std::copy(s.attrs.begin(), s.attrs.begin() + sizeof attrs, reinterpret_cast<uint8_t*>(&attrs));
  const int axis = attrs.axis < 0 ? attrs.axis + rank : attrs.axis;
  std::vector<std::pair<TensorId, uint64_t>> copied;
  std::vector<std::pair<TensorId, Tensor>> moved;  // before the move
  dropped_[i] = true;                              // its operands overlap now: not to be checked
  uint64_t at = 0;
  for (const TensorId x : s.inputs) {
    const uint64_t here = at;
    at += static_cast<uint64_t>(desc(x).dims[axis]) * static_cast<uint32_t>(desc(whole).strides[axis]);
    if (extent_bytes(desc(x)) == 0) continue;
    const bool fit = in_arena(x) && is_static(x) && written_once(x) && std::count(s.inputs.begin(), s.inputs.end(), x) == 1 &&
                     loop_of(uses(x).writes[0]) == loop_of(i) && uses(x).writes[0] < i;
    const Tensor w = plan_.tensor(whole);
    const size_t before = moved.size();
    if (fit)
      for (const TensorId m : members(x)) moved.push_back({m, plan_.tensor(m)});
    if (fit && try_move(x, w.place, w.at + here, w.desc.strides)) continue;
    moved.resize(before);
    copied.push_back({x, here});
  }
  // An operand that is copied may be a view of one that has moved: then source and destination may overlap within the result.
  const auto apart = [&](const std::pair<TensorId, uint64_t>& part) {
    const Tensor &w = plan_.tensor(whole), &x = plan_.tensor(part.first);
    if (!in_arena(part.first) || x.place != w.place) return true;
    TensorDesc from = x.desc, to = x.desc;
    std::copy(w.desc.strides, w.desc.strides + kMaxRank, to.strides);
    from.offset = x.at;
    to.offset = w.at + part.second;
    return !overlaps(to, from);
  };
  if (moved.empty() || !std::all_of(copied.begin(), copied.end(), apart)) {
    for (const auto& [t, before] : moved) move(t, before.place, before.at, before.desc.strides);
    return false;
  }
  std::vector<Step>& copies = instead_[i];
  for (const auto& [x, offset] : copied) {
    Step copy;
    copy.op = static_cast<uint16_t>(OpId::copy);
    copy.name = s.name;
    copy.inputs = {x};
    copy.outputs = {add_part(whole, x, offset, i)};
    copies.push_back(std::move(copy));
  }
  return true;
}

void Sharing::join_pads() {
  for (uint32_t i = static_cast<uint32_t>(plan_.steps.size()); i-- > 0;)
    if (!is_frozen(i) && step(i).is(OpId::pad)) dropped_[i] = join_pad(i);
}

// The padding element as a tensor: the operand, or a constant where the attribute is 0. kNone: another attribute.
TensorId Sharing::pad_value(const Step& s, const OpContext& c) {
  if (c.has_input(1)) return desc(s.inputs[1]).storage == Storage::kConstant ? s.inputs[1] : kNone;
  if (c.attrs<ops::pad::Attrs>().value != 0) return kNone;
  Tensor t;
  t.desc.dtype = desc(s.outputs[0]).dtype;
  t.desc.storage = Storage::kConstant;
  t.place = static_cast<int32_t>(plan_.constants.size());
  const std::vector<uint8_t> zero(dtype_bytes(t.desc.dtype), 0);
  plan_.constants.push_back({ir::Bytes::copy_of(zero.data(), zero.size()), ""});
  plan_.tensors.push_back(std::move(t));
  uses_.emplace_back();
  pinned_.push_back(false);
  return static_cast<TensorId>(plan_.tensors.size() - 1);
}

// Fills the padded tensor, then computes its interior in place.
bool Sharing::join_pad(uint32_t i) {
  const Step s = step(i);
  const TensorId x = s.inputs[0], y = s.outputs[0];
  if (!owns_buffer(x) || !written_once(x) || !in_arena(y) || !written_once(y) || (i > 0 && !free_between(y, 0, i - 1))) return false;
  const uint32_t made = uses(x).writes[0];
  const OpQuery query(plan_, s, *definition(ops_, s));
  const auto& attrs = query.context().attrs<ops::pad::Attrs>();
  if (query.dynamic() || attrs.mode != ops::pad::kConstant || made >= i || is_frozen(made) || loop_of(made) != loop_of(i)) return false;
  if (extent_bytes(desc(x)) == 0) return false;  // an empty tensor cannot be a view
  int64_t begin[kMaxRank], end[kMaxRank];
  bool known = false;
  if (!ops::pad::resolve(attrs, query.context(), begin, end, &known).ok() || !known) return false;
  uint64_t at = plan_.tensor(y).at;
  for (int k = 0; k < desc(y).rank; ++k) {
    if (begin[k] < 0 || end[k] < 0) return false;
    at += static_cast<uint64_t>(begin[k]) * static_cast<uint32_t>(desc(y).strides[k]);
  }
  Step fill;
  fill.op = static_cast<uint16_t>(OpId::fill);
  fill.name = s.name;
  fill.inputs = {pad_value(s, query.context())};
  fill.outputs = {y};
  if (fill.inputs[0] < 0) return false;
  ops::fill::Attrs dims;
  dims.rank = desc(y).rank;
  std::copy_n(desc(y).dims, desc(y).rank, dims.dims);
  fill.attrs.assign(reinterpret_cast<const uint8_t*>(&dims), reinterpret_cast<const uint8_t*>(&dims + 1));
  dropped_[i] = true;  // its operands overlap now: not to be checked
  const Tensor to = plan_.tensor(y);
  if (!try_move(x, to.place, at, to.desc.strides)) return false;
  // Fills that precede y must now precede x.
  std::vector<Step>& first = before_[made];
  for (Step& around : before_[i]) {
    uses(around.outputs[0]).writes = {made};
    first.push_back(std::move(around));
  }
  before_.erase(i);
  first.push_back(std::move(fill));
  uses(y).writes = {made};
  return true;
}

// Makes the outputs of a step views into its input 0, at these bytes. False when one of them cannot be.
bool Sharing::cut(uint32_t i, const std::vector<uint64_t>& offsets) {
  const Step& s = step(i);
  const TensorId x = s.inputs[0];
  if (!in_arena(x) || !is_static(x) || !written_once(x)) return false;
  for (const TensorId y : s.outputs)
    if (y >= 0 && (!owns_buffer(y) || !is_static(y) || !written_once(y) || extent_bytes(desc(y)) == 0)) return false;
  const Tensor from = plan_.tensor(x);
  std::vector<std::pair<TensorId, Tensor>> moved;
  for (size_t o = 0; o < s.outputs.size(); ++o) {
    const TensorId y = s.outputs[o];
    if (y < 0) continue;
    moved.push_back({y, plan_.tensor(y)});
    dropped_[i] = true;  // its operands overlap now: not to be checked
    if (try_move(y, from.place, from.at + offsets[o], from.desc.strides)) continue;
    moved.pop_back();
    for (const auto& [t, before] : moved) move(t, before.place, before.at, before.desc.strides);
    return dropped_[i] = false;
  }
  for (const TensorId y : s.outputs)
    if (y >= 0) uses(y).writes = uses(x).writes;
  return true;
}

void Sharing::cut_views() {
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& s = step(i);
    if (is_frozen(i) || (!s.is(OpId::slice) && !s.is(OpId::split))) continue;
    if (s.inputs[0] < 0 || desc(s.inputs[0]).layout != Layout::kPlain) continue;
    const OpQuery query(plan_, s, *definition(ops_, s));
    if (query.dynamic()) continue;
    const TensorDesc& x = desc(s.inputs[0]);
    std::vector<uint64_t> offsets(s.outputs.size(), 0);
    if (s.is(OpId::slice)) {
      ops::slice::Range ranges[kMaxRank];
      if (!ops::slice::resolve(query.context().attrs<ops::slice::Attrs>(), query.context(), ranges).ok()) continue;
      bool plain = true;
      for (int k = 0; k < x.rank; ++k) {
        plain &= ranges[k].size >= 0 && (ranges[k].step == 1 || ranges[k].size <= 1);
        if (plain) offsets[0] += static_cast<uint64_t>(ranges[k].start) * static_cast<uint32_t>(x.strides[k]);
      }
      if (!plain) continue;
    } else {
      std::vector<TensorType> types;
      Diagnostic d;
      if (!query.infer(&types, &d).ok()) continue;
      const int32_t given = query.context().attrs<ops::split::Attrs>().axis, axis = given < 0 ? given + x.rank : given;
      uint64_t at = 0;
      for (size_t o = 0; o < types.size(); ++o) {
        offsets[o] = at;
        at += static_cast<uint64_t>(types[o].dims[axis]) * static_cast<uint32_t>(x.strides[axis]);
      }
    }
    cut(i, offsets);
  }
}

}  // namespace mote::schedule
