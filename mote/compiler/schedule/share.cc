#include "mote/compiler/schedule/share.h"

#include <algorithm>
#include <limits>

#include "mote/compiler/schedule/op_query.h"
#include "mote/format/reader.h"
#include "mote/runtime/verify.h"

namespace mote::schedule {

Sharing::Sharing(Plan& plan, const OpRegistry& ops, const SizeKeys& sizes)
    : plan_(plan),
      ops_(ops),
      sizes_(sizes),
      uses_(plan.tensors.size()),
      members_(plan.buffers.size()),
      range_of_(plan.steps.size(), -1),
      dropped_(plan.steps.size(), false),
      in_strip_(plan.steps.size(), false),
      pinned_(plan.tensors.size(), false) {
  for (TensorId t = 0; t < static_cast<TensorId>(plan.tensors.size()); ++t)
    if (desc(t).storage == Storage::kArena || desc(t).storage == Storage::kState) members(t).push_back(t);
  scan();
}

void Sharing::open(std::vector<int32_t>& stack, uint32_t first, uint32_t count, bool loop) {
  if (count == 0) return;
  ranges_.push_back({first, first + count - 1, stack.empty() ? -1 : stack.back(), loop});
  stack.push_back(static_cast<int32_t>(ranges_.size() - 1));
}

// Collects control ranges and the accesses of every tensor, in step order.
void Sharing::scan() {
  std::vector<int32_t> stack;
  std::map<uint32_t, uint32_t> else_at;  // first step of a second branch -> its length
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    while (!stack.empty() && ranges_[static_cast<size_t>(stack.back())].last < i) stack.pop_back();
    if (const auto found = else_at.find(i); found != else_at.end()) open(stack, i, found->second, false);
    range_of_[i] = stack.empty() ? -1 : stack.back();
    const Step& s = step(i);
    for (TensorId t : s.inputs)
      if (t >= 0) uses(t).reads.push_back(i);
    for (TensorId t : s.outputs)
      if (t >= 0) uses(t).writes.push_back(i);
    if (s.is(ControlOp::kIf) || s.is(ControlOp::kDelegate)) {
      if (s.otherwise > 0) else_at[i + 1 + s.body] = s.otherwise;
      open(stack, i + 1, s.body, false);
    } else if (s.is(ControlOp::kLoop) || s.is(ControlOp::kStrip)) {
      // The condition is read before each trip.
      if (s.inputs.size() > 1 && s.inputs[1] >= 0) uses(s.inputs[1]).reads.push_back(i + s.body);
      open(stack, i + 1, s.body, true);
      if (s.is(ControlOp::kStrip)) std::fill_n(in_strip_.begin() + i + 1, s.body, true);
    }
  }
  // Inputs in the arena are written by the caller before the first step, outputs read behind the last one.
  for (const Method& m : plan_.methods) {
    for (const Io& io : m.inputs)
      if (in_arena(io.tensor)) uses(io.tensor).writes.insert(uses(io.tensor).writes.begin(), m.first_step);
    for (const Io& io : m.outputs)
      if (in_arena(io.tensor)) uses(io.tensor).reads.push_back(std::numeric_limits<uint32_t>::max());
    for (const auto* list : {&m.inputs, &m.outputs})
      for (const Io& io : *list) pinned_[static_cast<size_t>(io.tensor)] = true;
  }
  for (TensorId t = 0; t < static_cast<TensorId>(plan_.tensors.size()); ++t)
    if (desc(t).ring_rows != 0) pinned_[static_cast<size_t>(t)] = true;
  for (Uses& u : uses_) std::sort(u.reads.begin(), u.reads.end());
}

int32_t Sharing::loop_of(uint32_t i) const {
  int32_t r = range_of_[i];
  while (r >= 0 && !ranges_[static_cast<size_t>(r)].loop) r = ranges_[static_cast<size_t>(r)].around;
  return r;
}

bool Sharing::inside(uint32_t i, int32_t range) const {
  return range < 0 || (ranges_[static_cast<size_t>(range)].first <= i && i <= ranges_[static_cast<size_t>(range)].last);
}

bool Sharing::share_bytes(TensorId a, TensorId b) const {
  const Tensor &x = plan_.tensor(a), &y = plan_.tensor(b);
  return x.at < y.at + extent_bytes(y.desc) && y.at < x.at + extent_bytes(x.desc);
}

bool Sharing::touches(TensorId out, TensorId other) const {
  if (out == other) return true;
  const Tensor &a = plan_.tensor(out), &b = plan_.tensor(other);
  const auto has_buffer = [](const Tensor& t) { return t.desc.storage == Storage::kArena || t.desc.storage == Storage::kState; };
  if (!has_buffer(a) || !has_buffer(b) || a.place != b.place) return false;
  TensorDesc da = a.desc, db = b.desc;
  da.offset = a.at;
  db.offset = b.at;
  return overlaps(da, db);
}

// Whether the program's verifier will accept the overlaps of a step's operands.
bool Sharing::legal(const Step& s) const {
  const OpDef* def = definition(ops_, s);
  if (def == nullptr) return true;
  for (size_t k = 0; k < s.outputs.size(); ++k) {
    const TensorId out = s.outputs[k];
    if (out < 0) continue;
    for (size_t j = 0; j < s.inputs.size() + k; ++j) {
      const TensorId other = j < s.inputs.size() ? s.inputs[j] : s.outputs[j - s.inputs.size()];
      if (other < 0 || !touches(out, other)) continue;
      const bool together = out == other || plan_.tensor(out).at == plan_.tensor(other).at;
      const bool allowed =
          j < s.inputs.size() && together && may_share(*def, static_cast<uint32_t>(k), static_cast<uint32_t>(j), desc(out), desc(other));
      if (!allowed) return false;
    }
  }
  return true;
}

bool Sharing::legal_around(TensorId t) const {
  // Copies and fills that replace a step are steps, too.
  const auto fine = [&](uint32_t i) {
    if (i >= plan_.steps.size()) return true;
    for (const auto* more : {&before_, &instead_})
      if (const auto found = more->find(i); found != more->end())
        for (const Step& s : found->second)
          if (!legal(s)) return false;
    return dropped_[i] || legal(step(i));
  };
  return std::all_of(uses(t).writes.begin(), uses(t).writes.end(), fine) && std::all_of(uses(t).reads.begin(), uses(t).reads.end(), fine);
}

bool Sharing::dead_after(TensorId t, uint32_t i) {
  uint32_t first_read = std::numeric_limits<uint32_t>::max(), first_write = first_read;
  for (const TensorId m : members(t)) {
    if (m != t && !share_bytes(m, t)) continue;
    const Uses& u = uses(m);
    if (!u.reads.empty()) first_read = std::min(first_read, u.reads.front());
    if (!u.writes.empty()) first_write = std::min(first_write, u.writes.front());
    if ((!u.reads.empty() && u.reads.back() > i) || (!u.writes.empty() && u.writes.back() > i)) return false;
  }
  // In a loop: written before it is read in each trip, and not used outside.
  const int32_t loop = loop_of(i);
  return loop < 0 || (inside(std::min(first_read, first_write), loop) && first_write < first_read);
}

bool Sharing::free_between(TensorId t, uint32_t first, uint32_t last) {
  for (const TensorId m : members(t)) {
    if (m == t || !share_bytes(m, t)) continue;
    for (const auto* list : {&uses(m).writes, &uses(m).reads})
      for (uint32_t i : *list)
        if (first <= i && i <= last) return false;
  }
  return true;
}

void Sharing::move(TensorId t, int32_t place, uint64_t at, const int32_t* strides) {
  std::vector<TensorId>& from = members(t);
  from.erase(std::find(from.begin(), from.end(), t));
  Tensor& tensor = plan_.tensor(t);
  tensor.place = place;
  tensor.at = at;
  if (strides != nullptr) std::copy(strides, strides + kMaxRank, tensor.desc.strides);
  members(t).push_back(t);
}

bool Sharing::movable(TensorId t, const int32_t* strides) {
  if (!in_arena(t) || plan_.tensor(t).at != 0) return false;
  if (members(t).size() == 1) return !pinned_[static_cast<size_t>(t)];
  const bool same = strides == nullptr || std::equal(strides, strides + desc(t).rank, desc(t).strides);
  const auto pinned = [&](TensorId m) { return pinned_[static_cast<size_t>(m)]; };
  return same && is_dense(desc(t)) && extent_bytes(desc(t)) == plan_.buffers[static_cast<size_t>(plan_.tensor(t).place)].bytes &&
         std::none_of(members(t).begin(), members(t).end(), pinned);
}

bool Sharing::try_move(TensorId t, int32_t place, uint64_t at, const int32_t* strides) {
  if (!movable(t, strides)) return false;
  const std::vector<TensorId> all = members(t);
  std::vector<Tensor> before;
  for (TensorId m : all) before.push_back(plan_.tensor(m));
  for (TensorId m : all) move(m, place, at + plan_.tensor(m).at, all.size() == 1 ? strides : nullptr);
  if (std::all_of(all.begin(), all.end(), [&](TensorId m) { return legal_around(m); })) return true;
  for (size_t k = 0; k < all.size(); ++k) move(all[k], before[k].place, before[k].at, before[k].desc.strides);
  return false;
}

// A new tensor for the part of `whole` that `like` would fill; written by a step that replaces step `written`.
TensorId Sharing::add_part(TensorId whole, TensorId like, uint64_t at, uint32_t written) {
  Tensor t = plan_.tensor(like);
  t.quant.reset();
  t.desc.storage = Storage::kArena;
  std::copy(desc(whole).strides, desc(whole).strides + kMaxRank, t.desc.strides);
  t.place = plan_.tensor(whole).place;
  t.at = plan_.tensor(whole).at + at;
  plan_.tensors.push_back(std::move(t));
  uses_.push_back({{written}, {}});
  pinned_.push_back(false);
  const auto id = static_cast<TensorId>(plan_.tensors.size() - 1);
  members(id).push_back(id);
  return id;
}

// The step with this number, and the steps inserted before it or in its place.
std::vector<Step*> Sharing::steps_at(uint32_t i) {
  std::vector<Step*> out = {&plan_.steps[i]};
  for (auto* more : {&before_, &instead_})
    if (const auto found = more->find(i); found != more->end())
      for (Step& s : found->second) out.push_back(&s);
  return out;
}

// Replaces `from` by `to` in every step; undone when the verifier would then reject a step.
bool Sharing::rename(TensorId from, TensorId to) {
  if (!uses(from).reads.empty() && uses(from).reads.back() >= plan_.steps.size()) return false;  // an output in the arena
  std::vector<TensorId*> changed;
  for (const auto* list : {&uses(from).writes, &uses(from).reads}) {
    for (uint32_t i : *list) {
      for (Step* s : steps_at(i))
        for (auto* operands : {&s->inputs, &s->outputs})
          for (TensorId& t : *operands)
            if (t == from) t = to, changed.push_back(&t);
    }
  }
  if (!legal_around(from)) {
    for (TensorId* t : changed) *t = from;
    return false;
  }
  Uses &a = uses(to), &b = uses(from);
  for (auto part : {&Uses::writes, &Uses::reads}) {
    (a.*part).insert((a.*part).end(), (b.*part).begin(), (b.*part).end());
    std::sort((a.*part).begin(), (a.*part).end());
    (b.*part).clear();
  }
  std::vector<TensorId>& old = members(from);
  old.erase(std::find(old.begin(), old.end(), from));
  return true;
}

bool Sharing::same_type(TensorId a, TensorId b) const {
  const TensorDesc &x = desc(a), &y = desc(b);
  return x.dtype == y.dtype && x.dynamic == y.dynamic && x.layout == y.layout && same_shape(x, y) &&
         std::equal(x.strides, x.strides + kMaxRank, y.strides);
}

// Removes dropped steps, inserts their replacements, and updates the lengths of control ranges and methods.
std::vector<uint32_t> Sharing::finish() {
  std::vector<uint32_t> place(plan_.steps.size() + 1, 0), origins;  // where each step, or what stands for it, begins; and back
  std::vector<Step> steps;
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    place[i] = static_cast<uint32_t>(steps.size());
    if (const auto found = before_.find(i); found != before_.end()) steps.insert(steps.end(), found->second.begin(), found->second.end());
    if (!dropped_[i]) steps.push_back(plan_.steps[i]);
    else if (const auto found = instead_.find(i); found != instead_.end())
      steps.insert(steps.end(), found->second.begin(), found->second.end());
    origins.resize(steps.size(), i);
  }
  place.back() = static_cast<uint32_t>(steps.size());
  set_steps(plan_, std::move(steps), place);
  return origins;
}

void set_steps(Plan& plan, std::vector<Step> steps, const std::vector<uint32_t>& place) {
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    const Step& old = plan.steps[i];
    if (!old.is_control()) continue;
    Step& s = steps[place[i]];
    s.body = place[i + 1 + old.body] - place[i] - 1;
    s.otherwise = place[i + 1 + old.body + old.otherwise] - place[i + 1 + old.body];
  }
  for (Method& m : plan.methods) {
    const uint32_t end = place[m.first_step + m.step_count];
    m.first_step = place[m.first_step];
    m.step_count = end - m.first_step;
  }
  plan.steps = std::move(steps);
}

void drop_unused(Plan& plan) {
  std::vector<int32_t> tensors(plan.tensors.size(), -1), buffers(plan.buffers.size(), -1), constants(plan.constants.size(), -1);
  const auto each_reference = [&](const auto& visit) {
    for (Step& s : plan.steps)
      for (auto* list : {&s.inputs, &s.outputs})
        for (TensorId& t : *list) visit(t);
    for (Method& m : plan.methods)
      for (auto* list : {&m.inputs, &m.outputs})
        for (Io& io : *list) visit(io.tensor);
    for (State& s : plan.states) visit(s.tensor), visit(s.init);
  };
  each_reference([&](TensorId& t) {
    if (t >= 0) tensors[static_cast<size_t>(t)] = 0;
  });
  Plan kept;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] < 0) continue;
    tensors[i] = static_cast<int32_t>(kept.tensors.size());
    kept.tensors.push_back(plan.tensors[i]);
    Tensor& t = kept.tensors.back();
    const auto number = [&](std::vector<int32_t>& numbers, auto& from, auto& to) {
      int32_t& n = numbers[static_cast<size_t>(t.place)];
      if (n < 0) {
        n = static_cast<int32_t>(to.size());
        to.push_back(from[static_cast<size_t>(t.place)]);
      }
      t.place = n;
    };
    if (t.desc.storage == Storage::kConstant) number(constants, plan.constants, kept.constants);
    else if (t.desc.storage <= Storage::kState) number(buffers, plan.buffers, kept.buffers);
  }
  each_reference([&](TensorId& t) { t = t < 0 ? t : tensors[static_cast<size_t>(t)]; });
  plan.tensors = std::move(kept.tensors);
  plan.buffers = std::move(kept.buffers);
  plan.constants = std::move(kept.constants);
}

std::vector<uint32_t> share_memory(Plan& plan, const OpRegistry& ops, const ShareOptions& options, const SizeKeys& sizes) {
  Sharing sharing(plan, ops, sizes);
  if (options.in_place) sharing.drop_copies();
  if (options.reshapes) sharing.drop_views();
  if (options.concats) sharing.join_concats();
  if (options.concats) sharing.join_pads();
  if (options.splits) sharing.cut_views();
  if (options.in_place) sharing.in_place();
  return sharing.finish();
}

}  // namespace mote::schedule
