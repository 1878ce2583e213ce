#include "mote/compiler/schedule/schedule.h"

#include <algorithm>

#include "mote/compiler/program/registry.h"
#include "mote/compiler/schedule/build.h"
#include "mote/compiler/schedule/order.h"
#include "mote/compiler/schedule/overlap_rows.h"
#include "mote/compiler/schedule/place.h"
#include "mote/compiler/schedule/share.h"
#include "mote/compiler/schedule/strip_search.h"
#include "mote/compiler/schedule/verify_plan.h"

namespace mote::schedule {
namespace {

// Plans with more steps than this are made once, smaller ones in several ways.
constexpr size_t kManySteps = 4000;

struct Attempt {
  bool reorder;
  ShareOptions share;
};

// The sizes of a value in every sample of the open dimensions, as a key. Empty when a size may depend on data: such sizes are at most 1
// in all samples but the first.
std::string size_key(const ir::Value& v) {
  const auto complete = [&](const ir::Facts& f) { return f.dims.size() == v.type.dims.size(); };
  if (v.facts.size() < 3 || !std::all_of(v.facts.begin(), v.facts.end(), complete)) return "";
  std::string key;
  for (int i = 0; i < v.type.rank(); ++i) {
    const auto k = static_cast<size_t>(i);
    if ((v.type.dynamic >> i & 1) != 0 && v.facts[1].dims[k] == v.facts[2].dims[k] && v.facts[1].dims[k] <= 1) return "";
    for (const ir::Facts& f : v.facts) key += std::to_string(f.dims[k]) + ",";
  }
  return key + ";";
}

// The steps before anything shares memory.
struct Fresh {
  Plan plan;
  SizeKeys sizes;
};
bool build(const ir::Graph& graph, const PlanOptions& options, const OpRegistry& ops, bool reorder, Fresh* fresh, std::string* error) {
  Plan* plan = &fresh->plan;
  *plan = Plan{};
  plan->banks = options.banks;
  if (plan->banks.empty()) plan->banks.emplace_back();
  const BlockOrder order = [&](const ir::Block& b) {
    return reorder ? small_order(b, {options.in_place, options.views}) : written_order(b);
  };
  StepBuilder builder(graph, ops, order, options.io_in_arena, *plan, *error);
  if (!builder.run()) return false;
  if (options.in_order) {
    const std::vector<bool> in_order = options.in_order(*plan);
    for (size_t i = 0; i < plan->steps.size() && i < in_order.size(); ++i) plan->steps[i].in_order = in_order[i];
  }
  fresh->sizes.assign(plan->tensors.size(), "");
  for (const auto& [tensor, value] : builder.values()) fresh->sizes[static_cast<size_t>(tensor)] = size_key(*value);
  return true;
}

// Adds strips as long as they make the peak smaller and, with a cost model, the plan no slower.
bool with_strips(const Fresh& fresh, const PlanOptions& options, const OpRegistry& ops, const ShareOptions& share, Plan* best,
                 std::string* error) {
  const auto finish = [&](Plan& plan, std::vector<uint32_t>* origins) {
    *origins = share_memory(plan, ops, share, fresh.sizes);
    drop_unused(plan);
    return place_buffers(plan, options.alignment, memory::Effort::kQuick, error);
  };
  const target::Target& target = options.target != nullptr ? *options.target : *target::named("generic");
  // A working set within a core's own cache gains nothing from strips.
  if (options.strips == Strips::kAuto && best->peak() <= target.cache_bytes[target::kL2]) return true;
  // A slowdown of 0.3 % is below what can be measured; a saving below 5 % of the memory is not worth it.
  const StripLimits limits = options.strips == Strips::kAuto ? StripLimits{1.003, 0.95} : StripLimits{1e30, 1};
  StripSearch search(fresh.plan, ops, finish, target, limits);
  return search.run(options.strip_ram, best);
}

// Replaces the offsets of all buffers by those of the user's memory planner.
bool place_by(Plan& plan, const PlanOptions& options, std::string* error) {
  const std::vector<memory::LiveRange> live = buffer_live_ranges(plan);
  for (size_t bank = 0; bank < plan.banks.size(); ++bank) {
    std::vector<size_t> buffers;
    std::vector<memory::BufferRequest> requests;
    for (size_t i = 0; i < plan.buffers.size(); ++i) {
      const Buffer& b = plan.buffers[i];
      if (b.bank != bank || !live[i].used()) continue;
      buffers.push_back(i);
      requests.push_back({b.bytes, b.alignment, live[i], b.offset});
    }
    if (requests.empty()) continue;
    if (!options.place(plan.banks[bank], &requests, error)) return false;
    uint64_t end = 0;
    for (size_t k = 0; k < buffers.size(); ++k) {
      Buffer& b = plan.buffers[buffers[k]];
      b.offset = requests[k].offset;
      const uint64_t limit = plan.banks[bank].limit > 0 ? plan.banks[bank].limit : kMaxBankBytes;
      if (b.bytes > limit || b.offset > limit - b.bytes || b.offset % b.alignment != 0) {
        *error = "own memory planner: offset " + std::to_string(b.offset) + " of a buffer of " + std::to_string(b.bytes) +
                 " bytes is not aligned to " + std::to_string(b.alignment) + " or beyond the bank's " + std::to_string(limit);
        return false;
      }
      end = std::max(end, b.offset + b.bytes);
    }
    plan.banks[bank].size = end;
  }
  return true;
}

}  // namespace

bool make_plan(const ir::Graph& graph, const PlanOptions& options, Plan* out, std::string* error) {
  const OpRegistry& ops = options.ops != nullptr ? *options.ops : program::builtin_registry();
  const bool v = options.views, in = options.in_place;
  // In ascending order of the bytes they move: of plans with equal memory the first one is taken.
  std::vector<Attempt> attempts = {{false, {in, v, v, v}}};
  if (options.reorder) attempts.push_back({true, {in, v, v, v}});
  if (v) attempts.push_back({options.reorder, {in, true, true, false}});
  if (v) attempts.push_back({options.reorder, {in, true, false, false}});
  Plan best;
  Fresh fresh;
  ShareOptions share;
  bool reordered = false;
  for (size_t i = 0; i < attempts.size(); ++i) {
    if (i == 0 || attempts[i].reorder != reordered) {
      reordered = attempts[i].reorder;
      if (!build(graph, options, ops, reordered, &fresh, error)) return false;
    }
    Plan plan = fresh.plan;
    share_memory(plan, ops, attempts[i].share, fresh.sizes);
    drop_unused(plan);
    if (!place_buffers(plan, options.alignment, memory::Effort::kQuick, error)) return false;
    const bool better = i == 0 || plan.peak() < best.peak();
    if (better) best = std::move(plan), share = attempts[i].share;
    if (best.steps.size() > kManySteps) break;
  }
  if (options.strips != Strips::kOff && !with_strips(fresh, options, ops, share, &best, error)) return false;
  if (options.overlap_rows && !overlap_rows(best, ops, options.alignment, options.strip_ram, error)) return false;
  if (!place_buffers(best, options.alignment, memory::Effort::kThorough, error)) return false;
  if (options.place && !place_by(best, options, error)) return false;
  if (!verify_plan(best, ops, error)) return false;
  *out = std::move(best);
  return true;
}

}  // namespace mote::schedule
