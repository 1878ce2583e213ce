#include "mote/compiler/driver/context.h"

#include <algorithm>
#include <cstdio>

#include "mote/compiler/program/registry.h"

namespace mote::driver {

std::string file_part(const std::string& path) { return path.substr(path.find_last_of("/\\") + 1); }

const OpRegistry& Context::ops() const { return options.plan.ops != nullptr ? *options.plan.ops : program::builtin_registry(); }

void Context::begin_stage(const std::string& name, double fraction) {
  end_stage();
  stage_ = name;
  begin_ = Clock::now();
  if (options.progress) options.progress(name, fraction);
}

void Context::end_stage() {
  if (!stage_.empty()) out.stage_seconds.emplace_back(stage_, std::chrono::duration<double>(Clock::now() - begin_).count());
  stage_.clear();
}

std::function<void(double)> Context::part_of_stage(const char* name, double from, double to) const {
  if (!options.progress) return {};
  return [this, name, from, to](double part) { options.progress(name, from + (to - from) * std::min(part, 1.0)); };
}

// Follows the table of the passes, which are one stage here.
void Context::print_stage_times() {
  std::string table = "stage                                   ms\n";
  for (const auto& [name, seconds] : out.stage_seconds) {
    char line[96];
    std::snprintf(line, sizeof line, "%-20s %22.2f\n", name.c_str(), 1e3 * seconds);
    table += line;
  }
  log(table);
}

bool Context::fail(const std::string& where, const std::string& what, const std::string& advice) {
  problems.push_back({where, what, advice});
  return false;
}

bool Context::prints(const char* level) const {
  return options.passes.print_after.count(level) + options.passes.print_after.count("all") > 0;
}

void Context::log(const std::string& text) {
  if (options.passes.log) options.passes.log(text);
  else out.log += text;
}

}  // namespace mote::driver
