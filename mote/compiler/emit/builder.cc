#include "mote/compiler/emit/builder.h"

#include <algorithm>
#include <cstring>

#include "mote/compiler/emit/arena_plan.h"
#include "mote/compiler/program/cost.h"
#include "mote/core/layout.h"
#include "mote/core/size.h"
#include "mote/format/reader.h"
#include "mote/ops/op_docs.h"
#include "mote/ops/op_table.h"
#include "mote/runtime/verify.h"

namespace mote::emit {
namespace {

constexpr uint64_t kConstantAlignment = 64;

template <class T>
void append(std::vector<uint8_t>& bytes, const T* data, size_t count) {
  const auto* p = reinterpret_cast<const uint8_t*>(data);
  bytes.insert(bytes.end(), p, p + count * sizeof(T));
}

uint64_t align_up(uint64_t v, uint64_t a) { return (v + a - 1) / a * a; }

}  // namespace

ProgramBuilder::ProgramBuilder(const OpRegistry& registry) : ops_(registry) { bank("arena"); }

void ProgramBuilder::fail(const std::string& why) {
  if (error_.empty()) error_ = why;
}

uint8_t ProgramBuilder::bank(const std::string& name, uint32_t alignment) {
  records_.banks.push_back({0, records_.strings.add(name), alignment});
  return static_cast<uint8_t>(records_.banks.size() - 1);
}

TensorId ProgramBuilder::add_tensor(DType dtype, const Dims& dims, Layout layout, Storage storage, uint8_t dynamic) {
  TensorDesc d{};
  if (dims.size() > kMaxRank) fail("a tensor has " + std::to_string(dims.size()) + " dimensions; at most 8 are possible");
  d.rank = static_cast<uint8_t>(std::min<size_t>(dims.size(), kMaxRank));
  for (int i = 0; i < d.rank; ++i) d.dims[i] = dims[static_cast<size_t>(i)];
  d.dtype = dtype;
  d.layout = layout;
  d.storage = storage;
  d.dynamic = dynamic;
  if (layout == Layout::kPlain) set_dense_strides(d);
  records_.tensors.push_back(d);
  view_of_.push_back(-1);
  view_offset_.push_back(0);
  return static_cast<TensorId>(records_.tensors.size() - 1);
}

TensorId ProgramBuilder::constant(DType dtype, const Dims& dims, const void* data, Layout layout) {
  const TensorId id = add_tensor(dtype, dims, layout, Storage::kConstant, 0);
  constants_.resize(align_up(constants_.size(), kConstantAlignment));
  records_.tensors[static_cast<size_t>(id)].offset = constants_.size();
  append(constants_, static_cast<const uint8_t*>(data), static_cast<size_t>(extent_bytes(desc(id))));
  return id;
}

TensorId ProgramBuilder::constant_f32(const Dims& dims, const std::vector<float>& values) {
  return constant(DType::f32, dims, values.data());
}
TensorId ProgramBuilder::constant_s64(const Dims& dims, const std::vector<int64_t>& values) {
  return constant(DType::s64, dims, values.data());
}

TensorId ProgramBuilder::input(const std::string& name, DType dtype, const Dims& dims, uint8_t dynamic) {
  if (!in_method_) fail("input '" + name + "' is outside of a method");
  const TensorId id = add_tensor(dtype, dims, Layout::kPlain, Storage::kInput, dynamic);
  inputs_.push_back({static_cast<uint32_t>(id), records_.strings.add(name)});
  return id;
}

TensorId ProgramBuilder::temp(DType dtype, const Dims& dims, uint8_t dynamic) {
  return add_tensor(dtype, dims, Layout::kPlain, Storage::kArena, dynamic);
}

TensorId ProgramBuilder::state(DType dtype, const Dims& dims, TensorId init) {
  const TensorId id = add_tensor(dtype, dims, Layout::kPlain, Storage::kState, 0);
  records_.states.push_back({static_cast<uint32_t>(id), init});
  return id;
}

TensorId ProgramBuilder::view(TensorId of, uint64_t offset, const Dims& dims, const std::vector<int32_t>& strides) {
  if (of < 0 || desc(of).storage != Storage::kArena || strides.size() != dims.size()) {
    fail("a view must lie in an intermediate tensor and have a stride for each dimension");
    return kAbsent;
  }
  const TensorId id = add_tensor(desc(of).dtype, dims, Layout::kPlain, Storage::kArena, 0);
  std::copy(strides.begin(), strides.end(), records_.tensors[static_cast<size_t>(id)].strides);
  view_of_[static_cast<size_t>(id)] = of;
  view_offset_[static_cast<size_t>(id)] = offset;
  return id;
}

void ProgramBuilder::set_ring(TensorId tensor, uint16_t rows) {
  TensorDesc& d = records_.tensors[static_cast<size_t>(tensor)];
  d.ring_rows = rows;
  if (d.rank >= 2) d.strides[0] = d.strides[1] * rows;
}

void ProgramBuilder::set_bank(TensorId tensor, uint8_t bank) { records_.tensors[static_cast<size_t>(tensor)].bank = bank; }

void ProgramBuilder::begin_method(const std::string& name) {
  close_method();
  Method m{};
  m.name = records_.strings.add(name);
  m.first_instruction = position();
  records_.methods.push_back(m);
  in_method_ = true;
}

void ProgramBuilder::output(const std::string& name, TensorId tensor) {
  if (!in_method_ || tensor < 0) {
    fail("output '" + name + "' is outside of a method or names no tensor");
    return;
  }
  const bool movable = desc(tensor).storage == Storage::kArena && view_of_[static_cast<size_t>(tensor)] < 0 && desc(tensor).ring_rows == 0;
  const bool viewed = std::count(view_of_.begin(), view_of_.end(), tensor) > 0;
  if (!movable || viewed) {
    const TensorId copy = op(OpId::copy, NoAttrs{}, {tensor});
    if (copy < 0) return;
    tensor = copy;
  }
  records_.tensors[static_cast<size_t>(tensor)].storage = Storage::kOutput;
  records_.tensors[static_cast<size_t>(tensor)].bank = 0;  // it has left its bank
  outputs_.push_back({static_cast<uint32_t>(tensor), records_.strings.add(name)});
}

void ProgramBuilder::close_method() {
  if (!in_method_) return;
  if (!ranges_.empty()) fail("a method ends inside an if, loop or strip");
  Method& m = records_.methods.back();
  m.instruction_count = position() - m.first_instruction;
  m.first_input = static_cast<uint32_t>(records_.ios.size());
  m.input_count = static_cast<uint32_t>(inputs_.size());
  m.first_output = m.first_input + m.input_count;
  m.output_count = static_cast<uint32_t>(outputs_.size());
  for (const auto* list : {&inputs_, &outputs_}) {
    for (const Io& io : *list) {
      TensorDesc& d = records_.tensors[io.tensor];
      if (d.storage == Storage::kInput || d.storage == Storage::kOutput) d.offset = records_.ios.size();
      records_.ios.push_back(io);
    }
  }
  inputs_.clear();
  outputs_.clear();
  in_method_ = false;
}

std::vector<TensorId> ProgramBuilder::add(uint16_t op, const void* attrs, size_t attrs_bytes, const std::vector<TensorId>& inputs,
                                          int outputs, const std::string& name) {
  if (!ok()) return std::vector<TensorId>(static_cast<size_t>(outputs), kAbsent);
  const OpDoc* doc = find_op_doc(op);
  const OpDef* def = ops_.find(op, nullptr);
  const std::string what = doc != nullptr ? "mote::" + doc->name : "operator " + std::to_string(op);
  if (def == nullptr || inputs.size() + static_cast<size_t>(outputs) > kMaxOperands || outputs > kMaxOutputs) {
    fail(what + " is not in this build or has too many operands");
    return {};
  }
  std::vector<Tensor> tensors(inputs.size());
  std::vector<int32_t> operands;
  bool dynamic_input = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands.push_back(inputs[i] < 0 ? -1 : static_cast<int32_t>(i));
    if (inputs[i] < 0) continue;
    tensors[i].desc = &records_.tensors[static_cast<size_t>(inputs[i])];
    dynamic_input |= tensors[i].desc->dynamic != 0;
    if (tensors[i].desc->storage == Storage::kConstant) tensors[i].data = constants_.data() + tensors[i].desc->offset;
  }
  operands.resize(operands.size() + static_cast<size_t>(outputs), -1);
  std::vector<uint32_t> words((attrs_bytes + 3) / 4 + 1);
  std::memcpy(words.data(), attrs, attrs_bytes);
  OpContext c;
  c.tensors = tensors.data();
  c.operands = operands.data();
  c.attr_bytes = words.data();
  c.input_count = static_cast<uint16_t>(inputs.size());
  c.output_count = static_cast<uint16_t>(outputs);
  std::vector<TensorType> types(static_cast<size_t>(outputs));
  Diagnostic d;
  const Status status = def->infer(InferContext(c, types.data(), &d));
  if (!status.ok()) {
    d.status = status;
    d.op = op;
    fail((name.empty() ? "" : name + ": ") + describe(d));
    return {};
  }
  std::vector<TensorId> made;
  for (size_t o = 0; o < types.size(); ++o) {
    Dims dims(types[o].dims, types[o].dims + types[o].rank);
    uint8_t dynamic = 0;
    for (size_t k = 0; k < dims.size(); ++k) {
      const bool bounded = o < next_bounds_.size() && k < next_bounds_[o].size();
      if (dims[k] == kDimUnknown && !bounded)
        fail(what + ": dimension " + std::to_string(k) + " depends on data; give bound_next() its upper bound");
      // With a dynamic input every size may differ from run to run; sizes that cannot are cheap to mark.
      if (dims[k] == kDimUnknown || dynamic_input) dynamic = static_cast<uint8_t>(dynamic | 1 << k);
      if (bounded) dims[k] = next_bounds_[o][k];
    }
    made.push_back(temp(types[o].dtype, dims, dynamic));
  }
  next_bounds_.clear();
  if (ok()) instruction(op, attrs, attrs_bytes, inputs, made, name);
  return made;
}

void ProgramBuilder::instruction(uint16_t op, const void* attrs, size_t attrs_bytes, const std::vector<TensorId>& inputs,
                                 const std::vector<TensorId>& outputs, const std::string& name) {
  if (!ok()) return;
  if (!in_method_) return fail("an instruction is outside of a method");
  Instruction n{};
  n.op = op;
  n.attrs_size = static_cast<uint16_t>(attrs_bytes);
  records_.attrs.resize(align_up(records_.attrs.size(), 4));
  n.attrs = static_cast<uint32_t>(records_.attrs.size());
  append(records_.attrs, static_cast<const uint8_t*>(attrs), attrs_bytes);
  n.operands = static_cast<uint32_t>(records_.operands.size());
  n.input_count = static_cast<uint16_t>(inputs.size());
  n.output_count = static_cast<uint16_t>(outputs.size());
  records_.operands.insert(records_.operands.end(), inputs.begin(), inputs.end());
  records_.operands.insert(records_.operands.end(), outputs.begin(), outputs.end());
  records_.instructions.push_back(n);
  records_.source_names.push_back(records_.strings.add(name));
  if (const OpDoc* doc = find_op_doc(op)) {
    const bool known = std::any_of(records_.op_names.begin(), records_.op_names.end(), [&](const OpName& o) { return o.op == op; });
    if (!known) records_.op_names.push_back({op, records_.strings.add("mote::" + doc->name)});
  }
}

void ProgramBuilder::custom_into(const std::string& symbol, const void* attrs, size_t attrs_bytes, const std::vector<TensorId>& inputs,
                                 const std::vector<TensorId>& outputs) {
  auto it = custom_.find(symbol);
  if (it == custom_.end()) {
    const uint16_t id = static_cast<uint16_t>(kFirstCustomOp + custom_.size());
    it = custom_.emplace(symbol, id).first;
    records_.op_names.push_back({id, records_.strings.add(symbol)});
  }
  instruction(it->second, attrs, attrs_bytes, inputs, outputs, symbol);
}

void ProgramBuilder::control(ControlOp op, const void* attrs, size_t bytes, const std::vector<TensorId>& inputs,
                             const std::vector<TensorId>& outputs) {
  instruction(static_cast<uint16_t>(op), attrs, bytes, inputs, outputs);
}

void ProgramBuilder::begin_if(TensorId condition) {
  ranges_.push_back({position()});
  const IfAttrs a{};
  control(ControlOp::kIf, &a, sizeof a, {condition}, {});
}

void ProgramBuilder::begin_else() {
  if (ranges_.empty()) return fail("else without if");
  const uint32_t at = ranges_.back().control;
  auto* a = reinterpret_cast<IfAttrs*>(records_.attrs.data() + records_.instructions[at].attrs);
  a->then_count = position() - at - 1;
  ranges_.back().is_else = true;
}

void ProgramBuilder::begin_loop(TensorId trip_count, TensorId condition, TensorId counter, uint32_t max_trips) {
  ranges_.push_back({position()});
  const LoopAttrs a{0, max_trips};
  control(ControlOp::kLoop, &a, sizeof a, {trip_count, condition}, {counter});
}

void ProgramBuilder::begin_strip(uint32_t count, const std::vector<Step>& steps) {
  ranges_.push_back({position()});
  const StripAttrs a{0, count, static_cast<uint32_t>(records_.steps.size())};
  records_.steps.insert(records_.steps.end(), steps.begin(), steps.end());
  control(ControlOp::kStrip, &a, sizeof a, {}, {});
}

void ProgramBuilder::end() {
  if (ranges_.empty()) return fail("end without if, loop or strip");
  const Range r = ranges_.back();
  ranges_.pop_back();
  if (!ok()) return;
  const Instruction& n = records_.instructions[r.control];
  uint8_t* attrs = records_.attrs.data() + n.attrs;
  const uint32_t count = position() - r.control - 1;
  if (n.op == static_cast<uint16_t>(ControlOp::kIf)) {
    auto* a = reinterpret_cast<IfAttrs*>(attrs);
    if (r.is_else) a->else_count = count - a->then_count;
    else a->then_count = count;
  } else if (n.op == static_cast<uint16_t>(ControlOp::kLoop)) {
    reinterpret_cast<LoopAttrs*>(attrs)->body_count = count;
  } else {
    reinterpret_cast<StripAttrs*>(attrs)->body_count = count;
  }
}

void ProgramBuilder::delegate(uint32_t backend, uint32_t entry, const std::vector<TensorId>& inputs, const std::vector<TensorId>& outputs) {
  const DelegateAttrs a{backend, entry};
  Placement p{};
  p.first_instruction = position();
  p.instruction_count = 1;
  p.backend = backend < records_.backends.size() ? records_.backends[backend].name : 0;
  for (TensorId t : inputs) p.bytes_in += t >= 0 ? extent_bytes(desc(t)) : 0;
  for (TensorId t : outputs) p.bytes_out += t >= 0 ? extent_bytes(desc(t)) : 0;
  records_.placements.push_back(p);
  control(ControlOp::kDelegate, &a, sizeof a, inputs, outputs);
}

uint32_t ProgramBuilder::backend(const std::string& name, const std::string& version, const std::string& capabilities,
                                 const std::vector<uint8_t>& blob) {
  SegmentData s;
  s.kind = SegmentKind::kBlob;
  s.bytes = blob;
  records_.segments.push_back(s);
  // Constants take segment 0; see finish().
  const uint32_t segment = static_cast<uint32_t>(records_.segments.size());
  records_.backends.push_back({records_.strings.add(name), records_.strings.add(version), records_.strings.add(capabilities), segment, 0});
  return static_cast<uint32_t>(records_.backends.size() - 1);
}

void ProgramBuilder::metadata(const std::string& key, const std::string& value) {
  records_.metadata.push_back({records_.strings.add(key), records_.strings.add(value)});
}
void ProgramBuilder::evidence(const std::string& key, const std::string& value) {
  records_.evidence.push_back({records_.strings.add(key), records_.strings.add(value)});
}
void ProgramBuilder::policy(const std::string& toml) { records_.policy = records_.strings.add(toml); }

void ProgramBuilder::quantization(TensorId tensor, float scale, int32_t zero_point) {
  records_.quants.push_back({static_cast<uint32_t>(tensor), scale, zero_point});
}

void ProgramBuilder::reserve_signature(uint64_t bytes) {
  SegmentData s;
  s.kind = SegmentKind::kSignature;
  s.reserve = bytes;
  records_.segments.push_back(s);
}

void ProgramBuilder::golden(uint32_t method, const std::vector<std::vector<uint8_t>>& inputs,
                            const std::vector<std::vector<uint8_t>>& outputs, float tolerance, const std::vector<Dims>& dims) {
  close_method();
  if (method >= records_.methods.size()) return fail("golden data names a method that does not exist");
  const Method& m = records_.methods[method];
  if (inputs.size() != m.input_count || outputs.size() != m.output_count)
    return fail("golden data must have every input and output of its method");
  golden_examples_.resize(records_.methods.size());
  for (size_t i = 0; i < inputs.size() + outputs.size(); ++i) {
    const bool is_output = i >= inputs.size();
    Golden g{};
    g.method = static_cast<uint16_t>(method);
    g.example = golden_examples_[method];
    g.io = static_cast<uint16_t>(is_output ? i - inputs.size() : i);
    g.is_output = is_output;
    g.tolerance = is_output ? tolerance : 0;
    const TensorDesc& d = records_.tensors[records_.ios[m.first_input + i].tensor];
    for (int k = 0; k < d.rank; ++k)
      g.dims[k] = i < dims.size() && static_cast<size_t>(k) < dims[i].size() ? dims[i][static_cast<size_t>(k)] : d.dims[k];
    const uint64_t bytes = dense_bytes(d.dtype, d.rank, g.dims);
    const std::vector<uint8_t>& data = is_output ? outputs[i - inputs.size()] : inputs[i];
    if (data.size() != bytes)
      return fail("golden data has " + std::to_string(data.size()) + " bytes where the tensor has " + std::to_string(bytes));
    golden_.resize(align_up(golden_.size(), 16));
    g.offset = golden_.size();
    append(golden_, data.data(), data.size());
    records_.goldens.push_back(g);
  }
  ++golden_examples_[method];
}

bool ProgramBuilder::finish(FileBytes* out, std::string* error, const WriteOptions& options) {
  close_method();
  if (!ok()) {
    *error = error_;
    return false;
  }
  ProgramRecords r = records_;
  plan_arena(r, view_of_, view_offset_);
  program::state_costs(r);
  SegmentData constants;
  constants.bytes = constants_;
  constants.flags = external_ ? static_cast<uint8_t>(kExternal) : uint8_t{0};
  r.segments.insert(r.segments.begin(), constants);
  if (!golden_.empty()) {
    SegmentData g;
    g.kind = SegmentKind::kGolden;
    g.bytes = golden_;
    for (Golden& record : r.goldens) record.segment = static_cast<uint32_t>(r.segments.size());
    r.segments.push_back(g);
  }
  return write_program(r, options, ops_, out, error);
}

}  // namespace mote::emit
