#include "mote/bindings/python/src/describe.h"

#include <cstring>
#include <map>

namespace mote::python {
namespace {

// What a file says may be no UTF-8.
nb::object text(const char* s) { return nb::steal(PyUnicode_DecodeUTF8(s, static_cast<Py_ssize_t>(std::strlen(s)), "replace")); }

nb::list specs(const std::vector<Spec>& all) {
  nb::list list;
  for (const Spec& s : all) {
    nb::dict d;
    nb::list dims, dynamic;
    for (int32_t i = 0; i < s.rank; ++i) {
      dims.append(s.dims[i]);
      if ((s.dynamic >> i & 1) != 0) dynamic.append(i);
    }
    d["name"] = text(s.name.c_str());
    d["dtype"] = mote_dtype_name(s.stored);
    d["dims"] = dims;
    d["dynamic_axes"] = dynamic;
    d["bytes"] = s.bytes;
    if (!s.element.empty()) d["element"] = text(s.element.c_str());
    if (s.quantized) {
      nb::dict q;
      q["scale"] = s.scale;
      q["zero_point"] = s.zero_point;
      d["quantization"] = q;
    }
    list.append(d);
  }
  return list;
}

using At = mote_status (*)(const mote_program*, uint32_t, const char**, const char**);

nb::dict pairs(const mote_program* p, uint32_t count, At at) {
  nb::dict d;
  for (uint32_t i = 0; i < count; ++i) {
    const char *key = "", *value = "";
    check(at(p, i, &key, &value), nullptr);
    d[text(key)] = text(value);
  }
  return d;
}

nb::dict certificate(const mote_program* p) {
  mote_certificate c{};
  c.struct_size = sizeof c;
  check(mote_program_certificate(p, &c), nullptr);
  nb::dict d;
  d["arena_bytes"] = c.arena_bytes;
  d["instance_bytes"] = c.instance_bytes;
  d["scratch_bytes"] = c.scratch_bytes;
  d["scratch_per_thread_bytes"] = c.scratch_per_thread_bytes;
  d["constant_bytes"] = c.constant_bytes;
  d["macs"] = c.macs;
  d["bytes_moved"] = c.bytes_moved;
  d["steps_bound"] = c.steps_bound;
  return d;
}

nb::list banks(const mote_program* p) {
  mote_certificate c{};
  c.struct_size = sizeof c;
  check(mote_program_certificate(p, &c), nullptr);
  nb::list list;
  for (uint32_t i = 0; i < c.bank_count; ++i) {
    const char* name = "";
    uint64_t bytes = 0;
    uint32_t alignment = 0;
    check(mote_program_bank(p, i, &name, &bytes, &alignment), nullptr);
    nb::dict d;
    d["name"] = name;
    d["bytes"] = bytes;
    d["alignment"] = alignment;
    list.append(d);
  }
  return list;
}

}  // namespace

std::vector<std::string> method_names(const Program& program) {
  std::vector<std::string> names;
  for (const MethodSpec& m : program.methods()) names.push_back(m.name);
  return names;
}

nb::list input_specs(const Program& program, const std::string& method) {
  return specs(program.methods()[program.find_method(method)].inputs);
}
nb::list output_specs(const Program& program, const std::string& method) {
  return specs(program.methods()[program.find_method(method)].outputs);
}

nb::dict describe(const Program& program) {
  const mote_program* p = program.image().program.get();
  nb::list methods, instructions;
  for (const MethodSpec& m : program.methods()) {
    nb::dict d;
    d["name"] = text(m.name.c_str());
    d["inputs"] = specs(m.inputs);
    d["outputs"] = specs(m.outputs);
    methods.append(d);
  }
  std::map<std::string, uint32_t> counts;
  for (uint32_t i = 0; i < mote_program_instruction_count(p); ++i) {
    const char *op = "", *source = "";
    check(mote_program_instruction(p, i, &op, &source), nullptr);
    nb::dict d;
    d["index"] = i;
    d["op"] = text(op);
    d["source"] = text(source);
    instructions.append(d);
    ++counts[op];
  }
  nb::dict ops;
  for (const auto& [name, count] : counts) ops[text(name.c_str())] = count;
  nb::dict d;
  d["file"] = program.image().path.c_str();
  d["file_bytes"] = mote_program_file_bytes(p);
  d["methods"] = methods;
  d["certificate"] = certificate(p);
  d["banks"] = banks(p);
  d["ops"] = ops;
  d["instruction_count"] = mote_program_instruction_count(p);
  d["golden_count"] = mote_program_golden_count(p);
  d["metadata"] = pairs(p, mote_program_metadata_count(p), &mote_program_metadata_at);
  d["evidence"] = pairs(p, mote_program_evidence_count(p), &mote_program_evidence_at);
  d["instructions"] = instructions;
  return d;
}

nb::list golden_records(const Program& program) {
  const mote_program* p = program.image().program.get();
  nb::list list;
  for (uint32_t i = 0; i < mote_program_golden_count(p); ++i) {
    mote_golden g{};
    g.struct_size = sizeof g;
    check(mote_program_golden(p, i, &g), nullptr);
    const MethodSpec& m = program.methods()[g.method];
    const Spec& s = (g.is_output != 0 ? m.outputs : m.inputs)[g.index];
    nb::list dims;
    for (int32_t k = 0; k < s.rank; ++k) dims.append(s.stored == s.dtype ? g.dims[k] : s.dims[k]);
    nb::dict d;
    d["method"] = text(m.name.c_str());
    d["example"] = g.example;
    d["name"] = text(s.name.c_str());
    d["is_output"] = g.is_output != 0;
    d["tolerance"] = g.tolerance;
    d["dims"] = dims;
    d["dtype"] = s.numpy_dtype;
    d["data"] = nb::bytes(g.data, g.bytes);
    list.append(d);
  }
  return list;
}

}  // namespace mote::python
