#include "mote/compiler/schedule/strips.h"

#include <algorithm>
#include <map>
#include <set>

#include "mote/compiler/schedule/op_query.h"
#include "mote/compiler/schedule/share.h"
#include "mote/format/reader.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/lp_pool/lp_pool.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/runtime/verify.h"

namespace mote::schedule {
namespace {

template <class A>
A attributes(const Step& s) {
  A a{};
  std::copy_n(s.attrs.begin(), std::min(s.attrs.size(), sizeof a), reinterpret_cast<uint8_t*>(&a));
  return a;
}

std::optional<RowNeed> of_window(const ops::Window& w) {
  const ops::WindowDim& d = w.dim[0];
  if (d.extent() > 0xffff) return std::nullopt;
  return RowNeed{d.stride, d.pad_begin, static_cast<int32_t>(d.extent())};
}

int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

}  // namespace

std::optional<ops::Window> window_of(const Plan& plan, const Step& s) {
  const TensorDesc& x = plan.tensor(s.inputs[0]).desc;
  switch (static_cast<OpId>(s.op)) {
    case OpId::conv: return ops::make_window(attributes<ops::conv::Attrs>(s), x, plan.tensor(s.inputs[1]).desc.dims + 1);
    case OpId::q_conv: return ops::make_window(attributes<ops::q_conv::Attrs>(s), x, plan.tensor(s.inputs[1]).desc.dims + 1);
    case OpId::max_pool: {
      const auto a = attributes<ops::max_pool::Attrs>(s);
      return ops::make_window(a, x, a.kernel);
    }
    case OpId::avg_pool: {
      const auto a = attributes<ops::avg_pool::Attrs>(s);
      return ops::make_window(a, x, a.kernel);
    }
    case OpId::lp_pool: {
      const auto a = attributes<ops::lp_pool::Attrs>(s);
      return ops::make_window(a, x, a.kernel);
    }
    case OpId::q_avg_pool: return ops::q_avg_pool::window_of(attributes<ops::q_avg_pool::Attrs>(s), x);
    default: return std::nullopt;
  }
}

std::optional<RowNeed> row_need(const Plan& plan, const Step& s, const OpDef& def, size_t input) {
  const TensorDesc &x = plan.tensor(s.inputs[input]).desc, &y = plan.tensor(s.outputs[0]).desc;
  if (x.rank != y.rank) return std::nullopt;
  if ((def.flags & kElementwise) != 0 || input > 0 || s.is(OpId::local_response_norm)) {
    const bool by_rows = (def.flags & kElementwise) != 0 || (def.ring_in & operand_bit(static_cast<uint32_t>(input))) != 0;
    return by_rows && x.dims[1] == y.dims[1] ? std::optional<RowNeed>(RowNeed{}) : std::nullopt;
  }
  const std::optional<ops::Window> window = window_of(plan, s);
  return window ? of_window(*window) : std::nullopt;
}

bool works_by_rows(const Plan& plan, const OpRegistry& ops, const Step& s) {
  const OpDef* def = definition(ops, s);
  if (def == nullptr || (def->flags & kRowRange) == 0 || s.outputs.empty() || s.outputs[0] < 0) return false;
  for (size_t o = 1; o < s.outputs.size(); ++o)
    if (s.outputs[o] >= 0) return false;
  const TensorDesc& y = plan.tensor(s.outputs[0]).desc;
  return y.rank >= 3 && y.dims[1] > 0 && !OpQuery(plan, s, *def).dynamic();
}

namespace {

// Turns one segment into a strip. In trip i a step computes the rows [end - rate + i * rate, end + i * rate).
class Strip {
 public:
  Strip(Plan& plan, const OpRegistry& ops, const Segment& segment) : plan_(plan), ops_(ops), segment_(segment), work_(size()) {}

  bool run() {
    for (uint32_t k = 0; k < size(); ++k)
      if (!works_by_rows(plan_, ops_, step(k)) || !made_by_.emplace(step(k).outputs[0], k).second) return false;
    if (!links() || !rates()) return false;
    ends();
    trips_ = 1;
    for (uint32_t k = 0; k < size(); ++k) {
      const int64_t rows = desc(step(k).outputs[0]).dims[1];
      trips_ = std::max(trips_, floor_div(rows - work_[k].end + work_[k].rate - 1, work_[k].rate) + 1);
      step(k).rows = {static_cast<int32_t>(work_[k].end - work_[k].rate), static_cast<int32_t>(work_[k].rate),
                      static_cast<int32_t>(work_[k].rate)};
    }
    if (trips_ < 2) return false;
    over_operands();
    rings();
    return true;
  }

  uint32_t trips() const { return static_cast<uint32_t>(trips_); }

 private:
  struct Link {
    uint32_t from, to;  // steps of the segment
    RowNeed need;
  };
  struct Work {
    int64_t rate = 0, end = 0;
  };

  uint32_t size() const { return segment_.last - segment_.first + 1; }
  Step& step(uint32_t k) { return plan_.steps[segment_.first + k]; }
  const TensorDesc& desc(TensorId t) const { return plan_.tensor(t).desc; }

  // Links producers and consumers of rows inside the segment. False when a tensor made here is read in another way.
  bool links() {
    for (uint32_t k = 0; k < size(); ++k) {
      const OpDef& def = *definition(ops_, step(k));
      for (size_t j = 0; j < step(k).inputs.size(); ++j) {
        const auto found = made_by_.find(step(k).inputs[j]);
        if (found == made_by_.end()) continue;
        const std::optional<RowNeed> need = row_need(plan_, step(k), def, j);
        if (!need || found->second >= k) return false;
        links_.push_back({found->second, k, *need});
      }
    }
    return true;
  }

  // Rows per trip, from the last step through all links.
  bool rates() {
    work_.back().rate = segment_.rows;
    for (bool grown = true; grown;) {
      grown = false;
      for (const Link& l : links_) {
        int64_t &from = work_[l.from].rate, &to = work_[l.to].rate;
        if (from == 0 && to != 0) from = to * l.need.stride, grown = true;
        if (to == 0 && from != 0 && from % l.need.stride == 0) to = from / l.need.stride, grown = true;
        if (from != 0 && to != 0 && from != to * l.need.stride) return false;
      }
    }
    return std::all_of(work_.begin(), work_.end(), [](const Work& w) { return w.rate > 0 && w.rate < 0x10000; });
  }

  // The rows each step can compute in the first trip; then the fewest it must, which keeps rings short.
  void ends() {
    for (uint32_t k = 0; k < size(); ++k) {
      work_[k].end = work_[k].rate;
      for (const Link& l : links_)
        if (l.to == k) work_[k].end = std::min(work_[k].end, floor_div(work_[l.from].end + l.need.pad - l.need.extent, l.need.stride) + 1);
    }
    for (uint32_t k = size(); k-- > 0;) {
      int64_t needed = INT64_MIN;
      for (const Link& l : links_)
        if (l.from == k) needed = std::max(needed, (work_[l.to].end - 1) * l.need.stride - l.need.pad + l.need.extent);
      if (needed != INT64_MIN) work_[k].end = std::min(work_[k].end, needed);
    }
  }

  // The lowest row a link reads in trip 0.
  int64_t lowest(const Link& l) const { return (work_[l.to].end - work_[l.to].rate) * l.need.stride - l.need.pad; }

  bool used_outside(TensorId t) const {
    for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
      if (segment_.first <= i && i <= segment_.last) continue;
      for (const auto* list : {&plan_.steps[i].inputs, &plan_.steps[i].outputs})
        if (std::find(list->begin(), list->end(), t) != list->end()) return true;
    }
    for (const Method& m : plan_.methods)
      for (const auto* list : {&m.inputs, &m.outputs})
        for (const Io& io : *list)
          if (io.tensor == t) return true;
    return false;
  }

  // The step of the segment whose result step k overwrites in place as its only reader; -1: none.
  int32_t in_place_of(uint32_t k) {
    const OpDef& def = *definition(ops_, step(k));
    const TensorId y = step(k).outputs[0];
    if (desc(y).storage != Storage::kArena || is_io(y) || placed_.count(y) > 0) return -1;
    for (size_t j = 0; j < step(k).inputs.size(); ++j) {
      const TensorId x = step(k).inputs[j];
      const auto made = made_by_.find(x);
      if (made == made_by_.end() || desc(x).storage != Storage::kArena || used_outside(x)) continue;
      const auto reads = std::count_if(links_.begin(), links_.end(), [&](const Link& l) { return l.from == made->second; });
      if (reads == 1 && may_share(def, 0, static_cast<uint32_t>(j), desc(y), desc(x))) return static_cast<int32_t>(made->second);
    }
    return -1;
  }

  // Tensors between the steps become rings. Steps that work in place share one.
  void rings() {
    std::vector<uint32_t> leader(size());
    for (uint32_t k = 0; k < size(); ++k) {
      const int32_t over = in_place_of(k);
      leader[k] = over < 0 ? k : leader[static_cast<size_t>(over)];
    }
    for (uint32_t k = 0; k < size(); ++k) {
      if (leader[k] != k || desc(step(k).outputs[0]).storage != Storage::kArena) continue;
      // All rows of a trip need a slot: threads write them concurrently, even those that are never read.
      int64_t rows = work_[k].rate;
      bool whole = false;
      for (uint32_t i = k; i < size(); ++i) {
        if (leader[i] != k) continue;
        whole |= used_outside(step(i).outputs[0]);
        for (const Link& l : links_)
          if (l.from == i) rows = std::max(rows, work_[k].end - lowest(l));
      }
      whole |= rows >= desc(step(k).outputs[0]).dims[1] || rows > 0xffff;
      for (uint32_t i = k; i < size(); ++i)
        if (leader[i] == k) settle(step(i).outputs[0], step(k).outputs[0], whole ? 0 : static_cast<uint16_t>(rows));
    }
  }

  // Moves a tensor into the buffer of `first`, as a ring of these rows; 0: all rows.
  void settle(TensorId t, TensorId first, uint16_t rows) {
    Tensor& tensor = plan_.tensor(t);
    tensor.place = plan_.tensor(first).place;
    if (rows == 0) return;
    tensor.desc.ring_rows = rows;
    tensor.desc.strides[0] = tensor.desc.strides[1] * rows;
    plan_.buffers[static_cast<size_t>(tensor.place)].bytes = extent_bytes(tensor.desc);
  }

  // Computes an element-wise result of the segment in place of an operand from outside whose last use this is: allowed when its rows are
  // not read after they have been overwritten.
  void over_operands() {
    for (uint32_t k = 0; k < size(); ++k) {
      const OpDef& def = *definition(ops_, step(k));
      const TensorId y = step(k).outputs[0];
      if (desc(y).storage != Storage::kArena || !used_outside(y) || is_io(y)) continue;
      for (size_t j = 0; j < step(k).inputs.size(); ++j) {
        const TensorId x = step(k).inputs[j];
        if (x < 0 || made_by_.count(x) > 0 || desc(x).storage != Storage::kArena || is_io(x) || !ends_here(x)) continue;
        if (!may_lie_on(k, def, x) || !rows_are_free(x, k)) continue;
        plan_.tensor(y).place = plan_.tensor(x).place;
        plan_.tensor(y).at = plan_.tensor(x).at;
        placed_.insert(y);
        break;
      }
    }
  }

  // Every operand that is x must permit it: the residual of a convolution may also be the input of its windows.
  bool may_lie_on(uint32_t k, const OpDef& def, TensorId x) {
    for (size_t j = 0; j < step(k).inputs.size(); ++j)
      if (step(k).inputs[j] == x && !may_share(def, 0, static_cast<uint32_t>(j), desc(step(k).outputs[0]), desc(x))) return false;
    return true;
  }

  bool is_io(TensorId t) const {
    return std::any_of(plan_.methods.begin(), plan_.methods.end(), [&](const Method& m) {
      const auto is = [&](const Io& io) { return io.tensor == t; };
      return std::any_of(m.inputs.begin(), m.inputs.end(), is) || std::any_of(m.outputs.begin(), m.outputs.end(), is);
    });
  }

  // Written once before the segment, at its nesting level, not read behind it, and alone in its buffer.
  bool ends_here(TensorId t) const {
    int writes = 0;
    uint32_t end = 0;
    for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& s = plan_.steps[i];
      if (s.is_control() && i < segment_.first && i + s.body + s.otherwise >= segment_.first) return false;
      if (s.is_control()) end = std::max(end, i + s.body + s.otherwise);
      const bool reads = std::find(s.inputs.begin(), s.inputs.end(), t) != s.inputs.end();
      const bool writes_it = std::find(s.outputs.begin(), s.outputs.end(), t) != s.outputs.end();
      if ((reads || writes_it) && (i > segment_.last || (writes_it && i <= end && end > 0))) return false;
      writes += writes_it;
    }
    const auto shares = [&](const Tensor& o) { return o.desc.storage == Storage::kArena && o.place == plan_.tensor(t).place; };
    return writes == 1 && std::count_if(plan_.tensors.begin(), plan_.tensors.end(), shares) == 1;
  }

  bool rows_are_free(TensorId x, uint32_t writer) {
    for (uint32_t k = 0; k < size(); ++k) {
      const OpDef& def = *definition(ops_, step(k));
      for (size_t j = 0; j < step(k).inputs.size(); ++j) {
        if (step(k).inputs[j] != x || k == writer) continue;
        const std::optional<RowNeed> need = row_need(plan_, step(k), def, j);
        if (!need || work_[k].rate * need->stride != work_[writer].rate) return false;
        // Rows the reader still needs in this trip (if it comes later) or the next one.
        const int64_t from = (work_[k].end - (k > writer ? work_[k].rate : 0)) * need->stride - need->pad;
        if (from < work_[writer].end) return false;
      }
    }
    return true;
  }

  Plan& plan_;
  const OpRegistry& ops_;
  const Segment segment_;
  std::vector<Work> work_;
  std::map<TensorId, uint32_t> made_by_;
  std::vector<Link> links_;
  std::set<TensorId> placed_;  // computed in place of an operand from outside
  int64_t trips_ = 1;
};

}  // namespace

bool make_strips(Plan& plan, const OpRegistry& ops, const std::vector<Segment>& segments, std::vector<uint32_t>* origins) {
  std::vector<uint32_t> trips;
  for (const Segment& s : segments) {
    Strip strip(plan, ops, s);
    if (!strip.run()) return false;
    trips.push_back(strip.trips());
  }
  std::vector<Step> steps;
  std::vector<uint32_t> place(plan.steps.size() + 1), from;
  size_t next = 0;
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    place[i] = static_cast<uint32_t>(steps.size());
    if (next < segments.size() && segments[next].first == i) {
      Step s;
      s.op = static_cast<uint16_t>(ControlOp::kStrip);
      s.name = plan.steps[i].name;
      s.body = segments[next].last - i + 1;
      s.trips = trips[next++];
      steps.push_back(std::move(s));
      from.push_back(i);
    }
    steps.push_back(plan.steps[i]);
    from.push_back(i);
  }
  place.back() = static_cast<uint32_t>(steps.size());
  set_steps(plan, std::move(steps), place);
  if (origins != nullptr) *origins = std::move(from);
  return true;
}

}  // namespace mote::schedule
