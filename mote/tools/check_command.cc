// Holds a program's placement against a policy and against the program before: what a build should stop for.

#include "mote/tools/check_command.h"

#include <cstdio>

#include "mote/compiler/placement/policy.h"
#include "mote/tools/failure.h"
#include "mote/tools/files.h"
#include "mote/tools/placement_view.h"

namespace mote::tools {
namespace {

struct CheckSettings {
  std::string file, policy, baseline;
};

using Faults = std::vector<std::string>;

std::string shown(const PlacedOp& o) { return (o.node.empty() ? "" : o.node + " ") + "(" + o.op + ")"; }

void check_policy(const PlacementView& view, const placement::Policy& p, Faults* faults) {
  uint64_t moved = 0;
  for (const PlacedPart& part : view.parts) {
    moved += part.bytes_in + part.bytes_out;
    for (const PlacedOp& o : part.ops)
      if (!p.permits(o.op, o.node, o.backend))
        faults->push_back(shown(o) + ": runs on " + o.backend + ", the policy wants " + p.wanted(o.op, o.node));
    if (part.has_fallback && p.fallback == placement::Fallback::kRefuse)
      faults->push_back("the part on " + part.backend + " has a fallback, the policy refuses any");
    if (part.backend != "cpu" && part.ops.empty())
      faults->push_back("the part on " + part.backend + " does not say which operators it holds");
  }
  if (p.max_partitions > 0 && view.parts.size() > p.max_partitions)
    faults->push_back("expected at most " + parts_text(p.max_partitions) + ", found " + std::to_string(view.parts.size()));
  if (p.has_transfer_limit && moved > p.max_transfer_bytes)
    faults->push_back("expected at most " + std::to_string(p.max_transfer_bytes) + " bytes moved, found " + std::to_string(moved));
}

// Operators by place, in order: the same placement gives the same list.
void check_baseline(const PlacementView& now, const PlacementView& before, Faults* faults) {
  if (now.parts.size() != before.parts.size())
    faults->push_back("expected " + parts_text(before.parts.size()) + " as before, found " + std::to_string(now.parts.size()));
  for (size_t i = 0; i < now.parts.size() && i < before.parts.size(); ++i) {
    const PlacedPart &a = now.parts[i], &b = before.parts[i];
    const std::string where = "part " + std::to_string(i) + ": ";
    if (a.backend != b.backend) faults->push_back(where + "was on " + b.backend + ", is on " + a.backend);
    if (a.version != b.version || a.capabilities != b.capabilities)
      faults->push_back(where + "needed version " + b.version + " (" + b.capabilities + ") of its backend, needs " + a.version + " (" +
                        a.capabilities + ")");
    if (a.has_fallback != b.has_fallback) faults->push_back(where + (a.has_fallback ? "has a fallback now" : "has lost its fallback"));
    if (a.ops.size() != b.ops.size())
      faults->push_back(where + "had " + std::to_string(b.ops.size()) + " operators, has " + std::to_string(a.ops.size()));
    for (size_t k = 0; k < a.ops.size() && k < b.ops.size(); ++k) {
      if (a.ops[k].op == b.ops[k].op && a.ops[k].node == b.ops[k].node) continue;
      faults->push_back(where + "was " + shown(b.ops[k]) + ", is " + shown(a.ops[k]));
      break;
    }
  }
}

int check(const CheckSettings& s) {
  const PlacementView view = view_placement(s.file);
  Faults faults;
  if (!s.policy.empty()) {
    std::vector<uint8_t> bytes;
    std::string error;
    placement::Policy policy;
    if (!read_whole_file(s.policy, &bytes, &error)) throw Failure(s.policy + ": " + error);
    if (!placement::parse_policy(std::string(bytes.begin(), bytes.end()), &policy, &error)) throw Failure(s.policy + ": " + error);
    check_policy(view, policy, &faults);
  }
  if (!s.baseline.empty()) check_baseline(view, view_placement(s.baseline), &faults);
  for (const std::string& f : faults) std::printf("%s: %s\n", s.file.c_str(), f.c_str());
  if (faults.empty()) std::printf("%s: placement as expected, %s\n", s.file.c_str(), parts_text(view.parts.size()).c_str());
  return faults.empty() ? kSuccess : kFailed;
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  auto s = std::make_shared<CheckSettings>();
  CLI::App* c = app.add_subcommand("check", "Compare a program's placement with a policy, and with the program before");
  c->add_option("FILE", s->file, "program (.mote)")->required();
  c->add_option("--policy", s->policy, "what placement must keep to (docs/backends.md)");
  c->add_option("--baseline", s->baseline, "program whose placement this one must have");
  c->callback([s, &context] { context.exit_code = check(*s); });
}

}  // namespace mote::tools
