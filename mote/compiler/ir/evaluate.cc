#include "mote/compiler/ir/evaluate.h"

#include <algorithm>
#include <cstring>

#include "mote/ops/op_docs.h"
#include "mote/ops/op_table.h"
#include "mote/runtime/op_registry.h"

namespace mote::ir {
namespace {

constexpr size_t kAlignment = 64;

const OpDef* definition(const Node& node) {
  static const OpRegistry registry(builtin_ops());
  return registry.find(node.op, nullptr);
}

// Memory that kernels may read and write: aligned, with room behind the end.
class Memory {
 public:
  uint8_t* make(size_t bytes) {
    bytes_.assign(bytes + 2 * kAlignment, 0);
    const size_t at = reinterpret_cast<uintptr_t>(bytes_.data()) % kAlignment;
    return bytes_.data() + (kAlignment - at) % kAlignment;
  }

 private:
  std::vector<uint8_t> bytes_;
};

TensorDesc make_desc(DType dtype, int rank, const int32_t* dims, Layout layout) {
  TensorDesc d{};
  d.dtype = dtype;
  d.rank = static_cast<uint8_t>(rank);
  for (int i = 0; i < rank; ++i) d.dims[i] = dims[i];
  d.layout = layout;
  d.storage = Storage::kArena;
  if (layout == Layout::kPlain) set_dense_strides(d);
  return d;
}

// Operands as a kernel sees them. Misaligned data is copied.
struct Call {
  std::vector<TensorDesc> descs, bounds;
  std::vector<Tensor> tensors;
  std::vector<int32_t> operands;
  std::vector<Memory> memory;
  std::vector<uint32_t> attrs;
  OpContext context;

  Call(const Node& node, const OpDef& def, const std::vector<Operand>& inputs, size_t outputs) {
    const size_t n = inputs.size() + outputs;
    descs.resize(n);
    tensors.resize(n);
    memory.resize(n + 1);
    operands.assign(n, -1);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Operand& o = inputs[i];
      if (!o.present) continue;
      operands[i] = static_cast<int32_t>(i);
      descs[i] = make_desc(o.dtype, static_cast<int>(o.dims.size()), o.dims.data(), o.layout);
      tensors[i].desc = &descs[i];
      const bool empty = std::find(o.dims.begin(), o.dims.end(), 0) != o.dims.end();  // known, and still no null pointer
      if (!o.data.present() && !empty) continue;
      const bool aligned = o.data.size > 0 && reinterpret_cast<uintptr_t>(o.data.data) % 16 == 0;
      // Kernels do not write to inputs.
      tensors[i].data = const_cast<uint8_t*>(o.data.data);
      if (aligned) continue;
      uint8_t* copy = memory[i].make(o.data.size);
      if (o.data.size > 0) std::memcpy(copy, o.data.data, o.data.size);
      tensors[i].data = copy;
    }
    attrs.assign(std::max<size_t>(node.attrs.size(), def.attrs_size) / 4 + 1, 0);
    if (!node.attrs.empty()) std::memcpy(attrs.data(), node.attrs.data(), node.attrs.size());
    context.tensors = tensors.data();
    context.operands = operands.data();
    context.attr_bytes = attrs.data();
    context.input_count = static_cast<uint16_t>(inputs.size());
    context.output_count = static_cast<uint16_t>(outputs);
  }
};

std::string type_text(const Operand& o) {
  if (!o.present) return "-";
  std::string text = dtype_name(o.dtype);
  text += "[";
  for (size_t i = 0; i < o.dims.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(o.dims[i]);
  return text + "]";
}

// Expected and found, as far as there are such numbers; sets of element types by their names.
std::string expectation(const Diagnostic& d) {
  if (d.expected == 0 && d.found == 0) return "";
  if (d.status.why() != Why::kDType) return "; expected " + std::to_string(d.expected) + ", found " + std::to_string(d.found);
  std::string names;
  for (uint8_t t = 1; t < kDTypeCount; ++t)
    if ((static_cast<DTypeMask>(d.expected) >> t & 1) != 0)
      names += (names.empty() ? "" : " ") + std::string(dtype_name(static_cast<DType>(t)));
  return "; expected " + names + ", found " + dtype_name(static_cast<DType>(d.found));
}

std::string refusal(const Node& node, const std::vector<Operand>& inputs, const Diagnostic& d) {
  const OpDoc* doc = find_op_doc(node.op);
  std::string text = (doc != nullptr ? "mote::" + doc->name : "operator " + std::to_string(node.op)) + "(";
  for (size_t i = 0; i < inputs.size(); ++i) text += (i > 0 ? ", " : "") + type_text(inputs[i]);
  return text + "): " + why_text(d.status.why()) + expectation(d);
}

// As the program verifier has it: the inputs an operator cannot do without are there.
bool lacks_input(const OpDef& def, const std::vector<Operand>& inputs) {
  for (size_t i = 0; i < inputs.size() && i < def.min_in; ++i)
    if (!inputs[i].present) return true;
  return false;
}

bool wrong_operands(const Node& node, const OpDef& def, size_t inputs, size_t outputs) {
  const bool few = inputs < def.min_in || outputs < def.min_out;
  const bool many = (def.max_in != kVariadic && inputs > def.max_in) || (def.max_out != kVariadic && outputs > def.max_out);
  return few || many || node.attrs.size() > def.attrs_size;
}

}  // namespace

uint16_t op_flags(const Node& node) {
  const OpDef* def = node.is_operator() ? definition(node) : nullptr;
  return def != nullptr ? def->flags : uint16_t{0};
}

bool ask_types(const Node& node, const std::vector<Operand>& inputs, std::vector<TensorType>* out, std::string* error) {
  const OpDef* def = definition(node);
  Diagnostic d;
  if (def == nullptr) {
    *error = "operator " + std::to_string(node.op) + " is not in this build";
    return false;
  }
  for (const Operand& o : inputs) {
    if (!o.present) continue;
    Type t{o.dtype, o.dims, 0};
    if (t.fits()) continue;
    *error = "a tensor has " + std::to_string(o.dims.size()) + " dimensions and " + std::to_string(t.byte_size()) +
             " bytes; at most 8 dimensions and 2 GiB are possible";
    return false;
  }
  if (wrong_operands(node, *def, inputs.size(), node.outputs.size())) {
    d.status = {Status::kShape, Why::kInputCount};
    *error = refusal(node, inputs, d);
    return false;
  }
  if (lacks_input(*def, inputs)) {
    d.status = {Status::kShape, Why::kInputMissing};
    *error = refusal(node, inputs, d);
    return false;
  }
  Call call(node, *def, inputs, node.outputs.size());
  out->assign(node.outputs.size(), TensorType{});
  const Status status = def->infer(InferContext(call.context, out->data(), &d));
  if (status.ok()) return true;
  d.status = status;
  *error = refusal(node, inputs, d);
  return false;
}

bool run_operator(const Node& node, const std::vector<Operand>& inputs, const std::vector<uint8_t>& unknown, std::vector<TensorType>* types,
                  std::vector<Bytes>* out) {
  const OpDef* def = definition(node);
  if (def == nullptr) return false;
  Call call(node, *def, inputs, types->size());
  for (size_t o = 0; o < types->size(); ++o) {
    if (node.outputs[o] == nullptr) continue;
    const size_t k = inputs.size() + o;
    const TensorType& t = (*types)[o];
    const Type type{t.dtype, Dims(t.dims, t.dims + t.rank), 0};
    if (!type.fits()) return false;
    call.descs[k] = make_desc(t.dtype, t.rank, t.dims, Layout::kPlain);
    call.descs[k].dynamic = unknown[o];
    call.operands[k] = static_cast<int32_t>(k);
    call.tensors[k] = {&call.descs[k], call.memory[k].make(static_cast<size_t>(type.byte_size()))};
  }
  call.bounds = call.descs;
  call.context.bounds = call.bounds.data();
  if (def->scratch != nullptr) {
    const Scratch s = def->scratch(call.context);
    const uint64_t bytes = uint64_t{s.base} + s.per_thread;
    if (bytes > kMaxTensorBytes) return false;
    call.context.scratch = {call.memory.back().make(static_cast<size_t>(bytes)), static_cast<size_t>(bytes)};
  }
  const KernelFn kernel = def->select(call.context);
  if (kernel == nullptr || !kernel(call.context).ok()) return false;
  out->assign(types->size(), Bytes{});
  for (size_t o = 0; o < types->size(); ++o) {
    if (node.outputs[o] == nullptr) continue;
    const TensorDesc& d = call.descs[inputs.size() + o];
    TensorType& t = (*types)[o];
    for (int i = 0; i < t.rank; ++i) t.dims[i] = d.dims[i];
    const Type type{t.dtype, Dims(t.dims, t.dims + t.rank), 0};
    (*out)[o] = Bytes::copy_of(call.tensors[inputs.size() + o].data, static_cast<size_t>(type.byte_size()));
  }
  return true;
}

}  // namespace mote::ir
