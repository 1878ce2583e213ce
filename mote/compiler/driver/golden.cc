#include "mote/compiler/driver/golden.h"

#include <algorithm>

#include "mote/format/evidence.h"

namespace mote::driver {
namespace {

std::string source_name(const ir::Graph& graph, const char* kind, const ir::Method& m, const std::string& name) {
  for (const auto& [key, value] : graph.evidence)
    if (key == kind + m.name + "." + name) return value;
  return "";
}

Signature::Io io_of(const ir::Value& value, const std::string& name, const std::string& source_name) {
  Signature::Io io{name, value.type.dtype, {}, source_name};
  for (const ir::Facts& f : value.facts) io.dims.emplace_back(f.dims.begin(), f.dims.end());
  if (io.dims.empty()) io.dims.emplace_back(value.type.dims.begin(), value.type.dims.end());
  return io;
}

const Array* find(const GivenExample& given, const Signature::Io& wanted, bool only_one) {
  auto it = given.end();
  for (const std::string& name : {wanted.name, wanted.source_name}) {
    if (name.empty() || it != given.end()) continue;
    it = given.find(name);
    if (it == given.end()) it = given.find(file_name_of(name));
  }
  if (it == given.end() && only_one) it = given.find("");
  return it == given.end() ? nullptr : &it->second;
}

bool fits(const Signature::Io& io, const Array& a) {
  const auto& most = io.dims.front();
  if (a.dtype != io.dtype || a.dims.size() != most.size()) return false;
  for (size_t i = 0; i < most.size(); ++i) {
    const bool open = std::any_of(io.dims.begin(), io.dims.end(), [&](const auto& d) { return i >= d.size() || d[i] != most[i]; });
    if (open ? a.dims[i] > most[i] : a.dims[i] != most[i]) return false;
  }
  return true;
}

}  // namespace

Signature signature_of(const ir::Graph& graph) {
  Signature s;
  for (const ir::Method& m : graph.methods) {
    Signature::Method out;
    for (size_t i = 0; i < m.block->arguments.size(); ++i)
      out.inputs.push_back(io_of(*m.block->arguments[i], m.input_names[i], source_name(graph, kSourceInput, m, m.input_names[i])));
    for (size_t i = 0; i < m.block->results.size(); ++i)
      out.outputs.push_back(io_of(*m.block->results[i], m.output_names[i], source_name(graph, kSourceOutput, m, m.output_names[i])));
    s.methods.push_back(std::move(out));
  }
  return s;
}

bool resolve_given(const Signature& signature, const GivenExample& given, Example* out, std::string* error) {
  const Signature::Method& m = signature.methods[0];
  for (const Signature::Io& io : m.inputs) {
    const Array* a = find(given, io, m.inputs.size() == 1);
    if (a == nullptr || !fits(io, *a)) {
      *error = "input '" + io.name + "': expected " + type_text(io.dtype, io.dims.front()) + ", found " +
               (a == nullptr ? "nothing" : type_text(a->dtype, a->dims));
      return false;
    }
    out->inputs.push_back(*a);
  }
  for (const Signature::Io& io : m.outputs) {
    const Array* a = find(given, io, false);
    if (a != nullptr && a->dtype != io.dtype) {
      *error = "output '" + io.name + "': expected " + dtype_name(io.dtype) + ", found " + type_text(a->dtype, a->dims);
      return false;
    }
    out->outputs.push_back(a != nullptr ? *a : Array{});
  }
  return true;
}

std::vector<Array> make_inputs(const Signature::Method& method, size_t sample, uint64_t seed) {
  Random random(seed);
  std::vector<Array> inputs;
  for (const Signature::Io& io : method.inputs)
    inputs.push_back(make_random(io.dtype, io.dims[std::min(sample, io.dims.size() - 1)], random));
  return inputs;
}

void add_examples(const std::vector<Example>& examples, emit::ProgramRecords* records) {
  if (examples.empty()) return;
  std::vector<uint8_t> bytes;
  const auto segment = static_cast<uint32_t>(records->segments.size());
  std::map<uint32_t, uint16_t> counts;  // of each method
  for (const Example& e : examples) {
    const uint16_t number = counts[e.method]++;
    for (size_t i = 0; i < e.inputs.size() + e.outputs.size(); ++i) {
      const bool is_output = i >= e.inputs.size();
      const size_t io = is_output ? i - e.inputs.size() : i;
      const Array& a = is_output ? e.outputs[io] : e.inputs[io];
      Golden g{};
      g.method = static_cast<uint16_t>(e.method);
      g.example = number;
      g.io = static_cast<uint16_t>(io);
      g.is_output = is_output ? 1 : 0;
      g.tolerance = is_output ? e.tolerances[io] : 0;
      g.segment = segment;
      for (size_t k = 0; k < a.dims.size(); ++k) g.dims[k] = static_cast<int32_t>(a.dims[k]);
      bytes.resize((bytes.size() + 15) / 16 * 16);
      g.offset = bytes.size();
      bytes.insert(bytes.end(), a.data.begin(), a.data.end());
      records->goldens.push_back(g);
    }
  }
  emit::SegmentData data;
  data.kind = SegmentKind::kGolden;
  data.bytes = std::move(bytes);
  records->segments.push_back(std::move(data));
}

}  // namespace mote::driver
