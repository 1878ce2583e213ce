#include "mote/compiler/schedule/place.h"

#include <algorithm>
#include <map>

#include "mote/compiler/schedule/overlap.h"

namespace mote::schedule {
namespace {

constexpr uint64_t kLargeBuffer = 1024;

bool has_buffer(const Tensor& t) { return t.desc.storage == Storage::kArena || t.desc.storage == Storage::kState; }

// `strip_end`: the first step behind the strip that this one is in. Buffers that hold rows of several trips are live throughout the strip.
void scan_step(const Plan& plan, uint32_t at, uint32_t strip_end, memory::LivenessScan& scan) {
  const Step& s = plan.steps[at];
  const bool range = s.is(ControlOp::kLoop) || s.is(ControlOp::kStrip);
  if (range) scan.add_repeated_range(at, at + s.body);
  const auto visit = [&](const std::vector<TensorId>& operands, bool reads) {
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k] < 0 || !has_buffer(plan.tensor(operands[k]))) continue;
      // A loop reads its condition before each trip and writes the trip's number.
      scan.add_access(static_cast<size_t>(plan.tensor(operands[k]).place), at, reads || at < strip_end, range && !(reads && k == 0));
    }
  };
  visit(s.inputs, true);
  visit(s.outputs, false);
}

// Accesses of each buffer in one run, with the trips of loops.
std::vector<double> traffic(const Plan& plan) {
  std::vector<double> uses(plan.buffers.size(), 0);
  std::vector<std::pair<size_t, double>> ranges;  // end of the range, trips
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    while (!ranges.empty() && ranges.back().first <= i) ranges.pop_back();
    const Step& s = plan.steps[i];
    const double times = ranges.empty() ? 1 : ranges.back().second;
    for (const auto* list : {&s.inputs, &s.outputs})
      for (TensorId t : *list)
        if (t >= 0 && has_buffer(plan.tensor(t))) uses[static_cast<size_t>(plan.tensor(t).place)] += times;
    if (s.is(ControlOp::kLoop)) ranges.push_back({i + 1 + s.body, times * s.trips});
  }
  return uses;
}

// Sets which request may overwrite which other one. Request k is that of buffer buffers[k].
void set_overlaps(const std::vector<size_t>& buffers, const std::vector<Overlap>& overlaps, std::vector<memory::BufferRequest>* requests) {
  std::map<int32_t, int32_t> number;
  for (size_t k = 0; k < buffers.size(); ++k) number[static_cast<int32_t>(buffers[k])] = static_cast<int32_t>(k);
  for (const Overlap& o : overlaps) {
    const auto output = number.find(o.output), input = number.find(o.input);
    if (output == number.end() || input == number.end()) continue;
    memory::BufferRequest& b = (*requests)[static_cast<size_t>(output->second)];
    b.overwrites = input->second;
    b.distance = o.distance;
    b.starts_after = o.starts_after;
  }
}

// Fills one bank with buffers; those that do not fit are returned in *rest.
class BankFiller {
 public:
  BankFiller(Plan& plan, const std::vector<memory::LiveRange>& live, const std::vector<Overlap>& overlaps, memory::Effort effort)
      : plan_(plan), live_ranges_(live), overlaps_(overlaps), effort_(effort) {}

  uint64_t run(std::vector<size_t> buffers, uint64_t limit, uint8_t bank, std::vector<size_t>* rest) {
    const std::vector<double> uses = limit > 0 ? traffic(plan_) : std::vector<double>{};
    for (;;) {
      std::vector<memory::BufferRequest> requests;
      for (size_t b : buffers) requests.push_back({plan_.buffers[b].bytes, plan_.buffers[b].alignment, live_ranges_[b]});
      set_overlaps(buffers, overlaps_, &requests);
      if (limit > 0 && memory::lower_bound(requests) > limit) {
        rest->push_back(evict(buffers, requests, uses));
        continue;
      }
      const uint64_t size = memory::assign_offsets(requests, effort_);
      if (limit > 0 && size > limit) {
        rest->push_back(evict(buffers, requests, uses));
        continue;
      }
      for (size_t k = 0; k < buffers.size(); ++k) {
        plan_.buffers[buffers[k]].bank = bank;
        plan_.buffers[buffers[k]].offset = requests[k].offset;
      }
      return size;
    }
  }

 private:
  // Removes a buffer: of those live at the peak the one with the fewest accesses, then the largest one.
  static size_t evict(std::vector<size_t>& buffers, const std::vector<memory::BufferRequest>& requests, const std::vector<double>& uses) {
    uint64_t peak = 0;
    uint32_t when = 0;
    for (const memory::BufferRequest& b : requests) {
      uint64_t live = 0;
      for (const memory::BufferRequest& o : requests)
        live += o.live.used() && o.live.first <= b.live.first && b.live.first <= o.live.last ? o.bytes : 0;
      if (live > peak) peak = live, when = b.live.first;
    }
    size_t worst = buffers.size();
    for (size_t k = 0; k < buffers.size(); ++k) {
      if (!requests[k].live.used() || requests[k].bytes == 0 || when < requests[k].live.first || requests[k].live.last < when) continue;
      const auto worth = [&](size_t i) { return std::make_pair(uses[buffers[i]], -static_cast<double>(requests[i].bytes)); };
      if (worst == buffers.size() || worth(k) < worth(worst)) worst = k;
    }
    const size_t buffer = buffers[worst];
    buffers.erase(buffers.begin() + static_cast<ptrdiff_t>(worst));
    return buffer;
  }

  Plan& plan_;
  const std::vector<memory::LiveRange>& live_ranges_;
  const std::vector<Overlap>& overlaps_;
  memory::Effort effort_;
};

}  // namespace

std::vector<memory::LiveRange> buffer_live_ranges(const Plan& plan) {
  memory::LivenessScan scan(plan.buffers.size());
  uint32_t strip_end = 0;
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].is(ControlOp::kStrip)) strip_end = i + 1 + plan.steps[i].body;
    scan_step(plan, i, strip_end, scan);
  }
  std::vector<memory::LiveRange> live = scan.live_ranges();
  const auto last = static_cast<uint32_t>(plan.steps.size());
  for (size_t b = 0; b < live.size(); ++b)
    if (plan.buffers[b].state) live[b].extend(0, last);
  // Inputs in the arena are filled before the first step, outputs fetched after the last one.
  for (const Method& m : plan.methods) {
    const uint32_t end = m.first_step + (m.step_count > 0 ? m.step_count - 1 : 0);
    for (const Io& io : m.inputs)
      if (has_buffer(plan.tensor(io.tensor))) live[static_cast<size_t>(plan.tensor(io.tensor).place)].extend(m.first_step, m.first_step);
    for (const Io& io : m.outputs)
      if (has_buffer(plan.tensor(io.tensor))) live[static_cast<size_t>(plan.tensor(io.tensor).place)].extend(end, end);
  }
  return live;
}

bool place_buffers(Plan& plan, uint32_t alignment, memory::Effort effort, std::string* error) {
  const std::vector<memory::LiveRange> live = buffer_live_ranges(plan);
  const std::vector<Overlap> overlaps = find_overlaps(plan, live);
  std::vector<memory::BufferRequest> all;
  std::vector<size_t> rest;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    Buffer& b = plan.buffers[i];
    b.alignment = b.bytes >= kLargeBuffer ? alignment : std::min<uint32_t>(alignment, 16);
    all.push_back({b.bytes, b.alignment, live[i]});
    rest.push_back(i);
  }
  set_overlaps(rest, overlaps, &all);
  plan.lower_bound = memory::lower_bound(all);
  for (size_t bank = 0; bank < plan.banks.size() && !rest.empty(); ++bank) {
    Bank& b = plan.banks[bank];
    std::vector<size_t> here;
    here.swap(rest);
    b.size = BankFiller(plan, live, overlaps, effort).run(here, b.limit > 0 ? b.limit : kMaxBankBytes, static_cast<uint8_t>(bank), &rest);
    b.alignment = std::max(b.alignment, alignment);
  }
  if (rest.empty()) return true;
  uint64_t missing = 0;
  for (size_t i : rest) missing = std::max(missing, plan.buffers[i].bytes);
  *error = "the memory banks are too small: at least " + std::to_string(plan.lower_bound) + " bytes are needed at once";
  for (const Bank& b : plan.banks)
    *error += "; '" + b.name + "' has " + (b.limit > 0 ? std::to_string(b.limit) : "less than 4 GiB of") + " bytes";
  *error += "; the largest tensor that found no place has " + std::to_string(missing);
  return false;
}

}  // namespace mote::schedule
