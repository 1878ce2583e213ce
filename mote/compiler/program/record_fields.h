#pragma once

// The fields of the smaller records, listed in one place for printing and parsing. A visitor is called with (name, number or array) and,
// for numbers of strings, through text(name, field).

#include "mote/format/program.h"

namespace mote::program {

template <class V>
void fields(V& v, Bank& r) {
  v.text("name", r.name);
  v("size", r.size);
  v("alignment", r.alignment);
}
template <class V>
void fields(V& v, Method& r) {
  v.text("name", r.name);
  v("first_instruction", r.first_instruction);
  v("instruction_count", r.instruction_count);
  v("first_input", r.first_input);
  v("input_count", r.input_count);
  v("first_output", r.first_output);
  v("output_count", r.output_count);
}
template <class V>
void fields(V& v, Io& r) {
  v("tensor", r.tensor);
  v.text("name", r.name);
}
template <class V>
void fields(V& v, State& r) {
  v("tensor", r.tensor);
  v("init", r.init);
}
template <class V>
void fields(V& v, Step& r) {
  v("begin", r.begin);
  v("step", r.step);
  v("rows", r.rows);
}
template <class V>
void fields(V& v, OpName& r) {
  v("op", r.op);
  v.text("name", r.name);
}
template <class V>
void fields(V& v, Pair& r) {
  v.text("key", r.key);
  v.text("value", r.value);
}
template <class V>
void fields(V& v, Quant& r) {
  v("tensor", r.tensor);
  v("scale", r.scale);
  v("zero_point", r.zero_point);
}
template <class V>
void fields(V& v, BackendRecord& r) {
  v.text("name", r.name);
  v.text("version", r.version);
  v.text("capabilities", r.capabilities);
  v("segment", r.segment);
  v("device_bytes", r.device_bytes);
}
template <class V>
void fields(V& v, Placement& r) {
  v("first_instruction", r.first_instruction);
  v("instruction_count", r.instruction_count);
  v.text("backend", r.backend);
  v("predicted_ns", r.predicted_ns);
  v("bytes_in", r.bytes_in);
  v("bytes_out", r.bytes_out);
}
template <class V>
void fields(V& v, Golden& r) {
  v("offset", r.offset);
  for (int32_t& d : r.dims) v("dim", d);
  v("method", r.method);
  v("example", r.example);
  v("io", r.io);
  v("is_output", r.is_output);
  v("tolerance", r.tolerance);
  v("segment", r.segment);
}
template <class V>
void fields(V& v, Certificate& r) {
  v("macs", r.macs);
  v("bytes_moved", r.bytes_moved);
  v("constant_bytes", r.constant_bytes);
  v("instance_bytes_32", r.needs.instance_bytes_32);
  v("instance_bytes_64", r.needs.instance_bytes_64);
  v("scratch_base", r.needs.scratch_base);
  v("scratch_per_thread", r.needs.scratch_per_thread);
  v("max_nesting", r.needs.max_nesting);
  v("steps_bound", r.needs.steps_bound);
}

}  // namespace mote::program
