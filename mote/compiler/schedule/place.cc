#include "mote/compiler/schedule/place.h"

#include <algorithm>
#include <map>

#include "mote/compiler/schedule/overlap.h"

namespace mote::schedule {
namespace {

constexpr uint64_t kLarge = 1024;
constexpr uint64_t kMostBankBytes = 0xffffffffu;

bool has_buffer(const Tensor& t) { return t.desc.storage == Storage::kArena || t.desc.storage == Storage::kState; }

// `strip_end`: first step behind the strip this one is in. What rows of several trips lie in is needed all through it.
void scan_step(const Plan& plan, uint32_t at, uint32_t strip_end, emit::LifeScan& scan) {
  const Step& s = plan.steps[at];
  const bool range = s.is(ControlOp::kLoop) || s.is(ControlOp::kStrip);
  if (range) scan.repeats(at, at + s.body);
  const auto visit = [&](const std::vector<TensorId>& operands, bool reads) {
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k] < 0 || !has_buffer(plan.tensor(operands[k]))) continue;
      // A loop looks at its condition before each trip and writes the trip's number.
      scan.access(static_cast<size_t>(plan.tensor(operands[k]).place), at, reads || at < strip_end, range && !(reads && k == 0));
    }
  };
  visit(s.inputs, true);
  visit(s.outputs, false);
}

// How often each byte of a buffer is read or written in one run, with the trips of loops.
std::vector<double> traffic(const Plan& plan) {
  std::vector<double> uses(plan.buffers.size(), 0);
  std::vector<std::pair<size_t, double>> ranges;  // end, times
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

// Tells blocks, which stand for these buffers, what they may lie on.
void relate(const std::vector<size_t>& buffers, const std::vector<Overlap>& overlaps, std::vector<emit::Block>* blocks) {
  std::map<int32_t, int32_t> number;
  for (size_t k = 0; k < buffers.size(); ++k) number[static_cast<int32_t>(buffers[k])] = static_cast<int32_t>(k);
  for (const Overlap& o : overlaps) {
    const auto output = number.find(o.output), input = number.find(o.input);
    if (output == number.end() || input == number.end()) continue;
    emit::Block& b = (*blocks)[static_cast<size_t>(output->second)];
    b.over = input->second;
    b.distance = o.distance;
    b.behind = o.behind;
  }
}

// The buffers of one bank; those that do not fit are handed back in *rest.
class BankFill {
 public:
  BankFill(Plan& plan, const std::vector<emit::Life>& lives, const std::vector<Overlap>& overlaps, emit::Effort effort)
      : plan_(plan), lives_(lives), overlaps_(overlaps), effort_(effort) {}

  uint64_t run(std::vector<size_t> buffers, uint64_t limit, uint8_t bank, std::vector<size_t>* rest) {
    const std::vector<double> uses = limit > 0 ? traffic(plan_) : std::vector<double>{};
    for (;;) {
      std::vector<emit::Block> blocks;
      for (size_t b : buffers) blocks.push_back({plan_.buffers[b].bytes, plan_.buffers[b].alignment, lives_[b]});
      relate(buffers, overlaps_, &blocks);
      if (limit > 0 && emit::live_bound(blocks) > limit) {
        rest->push_back(leave_out(buffers, blocks, uses));
        continue;
      }
      const uint64_t size = emit::place_blocks(blocks, effort_);
      if (limit > 0 && size > limit) {
        rest->push_back(leave_out(buffers, blocks, uses));
        continue;
      }
      for (size_t k = 0; k < buffers.size(); ++k) {
        plan_.buffers[buffers[k]].bank = bank;
        plan_.buffers[buffers[k]].offset = blocks[k].offset;
      }
      return size;
    }
  }

 private:
  // Takes out, of what is alive when most is, the buffer whose bytes are used least.
  static size_t leave_out(std::vector<size_t>& buffers, const std::vector<emit::Block>& blocks, const std::vector<double>& uses) {
    uint64_t most = 0;
    uint32_t when = 0;
    for (const emit::Block& b : blocks) {
      uint64_t live = 0;
      for (const emit::Block& o : blocks)
        live += o.life.used() && o.life.first <= b.life.first && b.life.first <= o.life.last ? o.bytes : 0;
      if (live > most) most = live, when = b.life.first;
    }
    size_t worst = buffers.size();
    for (size_t k = 0; k < buffers.size(); ++k) {
      if (!blocks[k].life.used() || blocks[k].bytes == 0 || when < blocks[k].life.first || blocks[k].life.last < when) continue;
      const auto worth = [&](size_t i) { return std::make_pair(uses[buffers[i]], -static_cast<double>(blocks[i].bytes)); };
      if (worst == buffers.size() || worth(k) < worth(worst)) worst = k;
    }
    const size_t buffer = buffers[worst];
    buffers.erase(buffers.begin() + static_cast<ptrdiff_t>(worst));
    return buffer;
  }

  Plan& plan_;
  const std::vector<emit::Life>& lives_;
  const std::vector<Overlap>& overlaps_;
  emit::Effort effort_;
};

}  // namespace

std::vector<emit::Life> buffer_lives(const Plan& plan) {
  emit::LifeScan scan(plan.buffers.size());
  uint32_t strip_end = 0;
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].is(ControlOp::kStrip)) strip_end = i + 1 + plan.steps[i].body;
    scan_step(plan, i, strip_end, scan);
  }
  std::vector<emit::Life> lives = scan.lives();
  const auto last = static_cast<uint32_t>(plan.steps.size());
  for (size_t b = 0; b < lives.size(); ++b)
    if (plan.buffers[b].state) lives[b].cover(0, last);
  // Inputs in the arena are filled before the first step, outputs fetched after the last one.
  for (const Method& m : plan.methods) {
    const uint32_t end = m.first_step + (m.step_count > 0 ? m.step_count - 1 : 0);
    for (const Io& io : m.inputs)
      if (has_buffer(plan.tensor(io.tensor))) lives[static_cast<size_t>(plan.tensor(io.tensor).place)].cover(m.first_step, m.first_step);
    for (const Io& io : m.outputs)
      if (has_buffer(plan.tensor(io.tensor))) lives[static_cast<size_t>(plan.tensor(io.tensor).place)].cover(end, end);
  }
  return lives;
}

bool place_buffers(Plan& plan, uint32_t alignment, emit::Effort effort, std::string* error) {
  const std::vector<emit::Life> lives = buffer_lives(plan);
  const std::vector<Overlap> overlaps = find_overlaps(plan, lives);
  std::vector<emit::Block> all;
  std::vector<size_t> rest;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    Buffer& b = plan.buffers[i];
    b.alignment = b.bytes >= kLarge ? alignment : std::min<uint32_t>(alignment, 16);
    all.push_back({b.bytes, b.alignment, lives[i]});
    rest.push_back(i);
  }
  relate(rest, overlaps, &all);
  plan.lower_bound = emit::live_bound(all);
  for (size_t bank = 0; bank < plan.banks.size() && !rest.empty(); ++bank) {
    Bank& b = plan.banks[bank];
    std::vector<size_t> here;
    here.swap(rest);
    b.size = BankFill(plan, lives, overlaps, effort).run(here, b.limit > 0 ? b.limit : kMostBankBytes, static_cast<uint8_t>(bank), &rest);
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
