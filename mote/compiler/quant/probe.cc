#include "mote/compiler/quant/probe.h"

#include <cstdlib>

#include "mote/compiler/driver/narrow_io.h"

namespace mote::quant {
namespace {

constexpr char kPrefix[] = "mote.value.";

}  // namespace

std::string shown_name(int id) { return kPrefix + std::to_string(id); }

bool Probe::build(const frontends::Source& source, const driver::CompileOptions& options, const GraphEdit& edit, ir::Problems* problems) {
  driver::CompileOptions o = options;
  o.golden.count = 0;
  o.golden.given.clear();
  o.write.digests = false;
  o.external_weights = false;
  o.plan = {};
  o.plan.ops = options.plan.ops;
  o.passes.print_after.clear();
  o.passes.time_passes = false;
  o.passes.winograd = false;
  o.quantize = edit;
  o.progress = nullptr;
  if (!driver::compile(source, o, &compiled_, problems)) return false;
  std::string error;
  if (open(compiled_.file.span(), {}, o.plan.ops, o.select, &error)) return true;
  problems->push_back({"calibration", error, ""});
  return false;
}

bool Probe::open(ConstBytes file, ConstBytes external, const OpRegistry* ops, kernels::SelectFn select, std::string* error) {
  if (!program_.open(file, external, {}, error, ops, select)) return false;
  const std::vector<std::string> names = output_names();
  own_ = names.size();
  for (size_t i = names.size(); i-- > 0;) {
    if (names[i].compare(0, sizeof kPrefix - 1, kPrefix) != 0) break;
    shown_[std::atoi(names[i].c_str() + sizeof kPrefix - 1)] = i;
    own_ = i;
  }
  return true;
}

bool Probe::run(const std::vector<driver::Array>& inputs, std::string* error) {
  return narrow_io_ ? driver::run_real(program_, inputs, &outputs_, error) : program_.run(0, inputs, &outputs_, error);
}

const driver::Array* Probe::value(int id) const {
  const auto it = shown_.find(id);
  return it == shown_.end() ? nullptr : &outputs_[it->second];
}

std::vector<std::string> Probe::output_names() const {
  const ProgramTable& t = program_.program().table();
  std::vector<std::string> names;
  for (uint32_t i = 0; i < t.methods[0].output_count; ++i) names.push_back(t.string(t.ios[t.methods[0].first_output + i].name));
  return names;
}

}  // namespace mote::quant
