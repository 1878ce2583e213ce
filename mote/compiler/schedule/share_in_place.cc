// Results computed in place of operands after their last use, and elimination of copies.

#include <algorithm>

#include "mote/compiler/schedule/op_query.h"
#include "mote/compiler/schedule/share.h"
#include "mote/runtime/verify.h"

namespace mote::schedule {

void Sharing::drop_copies() {
  for (uint32_t i = 0; i < plan_.steps.size(); ++i)
    if (!is_frozen(i) && step(i).is(OpId::copy)) dropped_[i] = drop_copy(i);
}

// A copy into a tensor that outlives the value (a state, a carried value, an output) is dropped: the value is computed there.
bool Sharing::drop_copy(uint32_t i) {
  const TensorId from = step(i).inputs[0], to = step(i).outputs[0];
  if (from == to || !owns_buffer(from) || !same_type(from, to) || uses(from).writes.empty()) return false;
  const Uses &u = uses(from), &v = uses(to);
  const uint32_t first = u.writes.front();
  if (u.writes.back() >= i) return false;
  const int32_t level = range_of_[i];
  for (uint32_t w : u.writes)
    if (!inside(w, level) || (u.writes.size() == 1 && range_of_[w] != level)) return false;
  // The old contents must not be read after the new ones are written, except by the step that computes these in place.
  for (uint32_t r : v.reads)
    if (r >= first && r <= i && !(r == first && u.writes.size() == 1)) return false;
  for (uint32_t w : v.writes)
    if (w >= first && w < i) return false;
  const bool read_later = !u.reads.empty() && u.reads.back() > i;
  if (read_later && !v.writes.empty() && v.writes.back() > i) return false;
  const bool shared = desc(to).storage == Storage::kArena || desc(to).storage == Storage::kState;
  if (shared && !free_between(to, first, i)) return false;
  dropped_[i] = true;  // the copy itself must not be checked: its operands are one tensor now
  if (!rename(from, to)) return dropped_[i] = false;
  for (auto* list : {&uses(to).reads, &uses(to).writes}) {
    const auto at = std::find(list->begin(), list->end(), i);
    if (at != list->end()) list->erase(at);
  }
  return true;
}

// Dynamic sizes of input and output are equal in every run.
bool Sharing::sizes_agree(const Step& s, size_t input) const {
  const TensorDesc &y = desc(s.outputs[0]), &x = desc(s.inputs[input]);
  if (x.dynamic == 0 && y.dynamic == 0) return true;
  if (x.dynamic != y.dynamic) return false;
  const auto a = static_cast<size_t>(s.outputs[0]), b = static_cast<size_t>(s.inputs[input]);
  if (a < sizes_.size() && b < sizes_.size() && !sizes_[a].empty() && sizes_[a] == sizes_[b]) return true;
  for (size_t j = 0; j < s.inputs.size(); ++j) {
    if (j == input || s.inputs[j] < 0 || s.inputs[j] == s.inputs[input]) continue;
    const TensorDesc& o = desc(s.inputs[j]);
    if (o.dynamic != 0) return false;
    for (int k = 0; k < o.rank && k < y.rank; ++k)
      if ((y.dynamic >> (y.rank - 1 - k) & 1) != 0 && o.dims[o.rank - 1 - k] != 1) return false;
  }
  return true;
}

// No other operand overlaps those bytes, unless the operator permits it.
bool Sharing::other_operands_permit(const Step& s, size_t input) const {
  const TensorId x = s.inputs[input];
  for (size_t j = 0; j < s.inputs.size(); ++j) {
    const TensorId o = s.inputs[j];
    if (j == input || o < 0 || o == x || !touches(x, o)) continue;
    return false;
  }
  return true;
}

bool Sharing::write_over(uint32_t i, size_t input) {
  const Step& s = step(i);
  const TensorId x = s.inputs[input], y = s.outputs[0];
  if (!in_arena(x) || x == y || !dead_after(x, i) || !other_operands_permit(s, input)) return false;
  // Of another rank (a reshape): both dense, each with its own strides.
  const bool same_rank = desc(x).rank == desc(y).rank;
  if (!same_rank && (!is_dense(desc(x)) || !is_dense(desc(y)))) return false;
  // A fill that precedes this step in y would overwrite x.
  if ((is_static(y) || is_dense(desc(x))) && before_.count(i) == 0 && (i == 0 || free_between(y, 0, i - 1))) {
    const Tensor from = plan_.tensor(x);
    if (try_move(y, from.place, from.at, is_static(y) && same_rank ? from.desc.strides : nullptr)) return true;
  }
  // y is already a part of another buffer: x is computed there instead.
  if (!written_once(x) || !is_static(x) || !is_static(y)) return false;
  const uint32_t written = uses(x).writes[0];
  if (written >= i || loop_of(written) != loop_of(i) || !free_between(y, written, i)) return false;
  const Tensor to = plan_.tensor(y);
  return try_move(x, to.place, to.at, same_rank ? to.desc.strides : nullptr);
}

// An output of the method is the caller's memory: the operand of a step that may work in place is computed there.
bool Sharing::write_into_output(uint32_t i, size_t input) {
  const Step& s = step(i);
  const TensorId x = s.inputs[input], y = s.outputs[0];
  if (!owns_buffer(x) || !written_once(x) || !same_type(x, y) || !dead_after(x, i)) return false;
  const uint32_t written = uses(x).writes[0];
  if (written >= i || range_of_[written] != range_of_[i]) return false;
  const Uses& u = uses(y);
  if (u.writes.front() < i || (!u.reads.empty() && u.reads.front() < i)) return false;
  return rename(x, y);
}

// Makes output 0 of a step share the bytes of one of its inputs, by moving either of them.
void Sharing::write_in_place(uint32_t i) {
  const Step& s = step(i);
  const OpDef* def = is_frozen(i) ? nullptr : definition(ops_, s);
  if (def == nullptr || s.outputs.empty() || s.outputs[0] < 0) return;
  const TensorId y = s.outputs[0];
  if (in_arena(y) && !written_once(y)) return;
  for (size_t j = 0; j < s.inputs.size(); ++j) {
    const TensorId x = s.inputs[j];
    if (x < 0 || !in_arena(x) || !sizes_agree(s, j)) continue;
    TensorDesc out = desc(y);
    std::copy(desc(x).strides, desc(x).strides + kMaxRank, out.strides);
    if (!may_share(*def, 0, static_cast<uint32_t>(j), out, desc(x))) continue;
    if (desc(y).storage == Storage::kOutput ? write_into_output(i, j) : in_arena(y) && write_over(i, j)) return;
  }
}

void Sharing::in_place() {
  // Backwards, so that a whole chain is computed in the output it leads to.
  for (uint32_t i = static_cast<uint32_t>(plan_.steps.size()); i-- > 0;)
    if (!step(i).outputs.empty() && step(i).outputs[0] >= 0 && desc(step(i).outputs[0]).storage == Storage::kOutput) write_in_place(i);
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) write_in_place(i);
}

}  // namespace mote::schedule
