#include "mote/tools/bisect.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "mote/backends/common/rows.h"
#include "mote/backends/reference/reference_backend.h"
#include "mote/compiler/emit/writer.h"
#include "mote/compiler/placement/pieces.h"
#include "mote/format/reader.h"
#include "mote/kernels/select.h"
#include "mote/ops/op_docs.h"
#include "mote/platform/cpu.h"
#include "mote/tools/placement_view.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

constexpr double kLeastTolerance = 1e-3;  // of the largest expected value, for values in the middle of a model

using Bytes = std::vector<uint8_t>;

// A dense operand of a part.
struct Value {
  DType dtype = DType::kNone;
  std::vector<int32_t> dims, strides;
  Bytes bytes;
  static Value of_type(DType dtype, const std::vector<int32_t>& dims) {
    Value v{dtype, dims, std::vector<int32_t>(dims.size()), {}};
    auto stride = static_cast<int32_t>(dtype_bytes(dtype));
    for (size_t i = dims.size(); i-- > 0;) v.strides[i] = stride, stride *= dims[i];
    v.bytes.resize(static_cast<size_t>(stride));
    return v;
  }
  mote_backend_tensor tensor() {
    return {bytes.data(), dims.data(), strides.data(), static_cast<uint8_t>(dtype), static_cast<uint8_t>(dims.size()), 0};
  }
};

// One call of a backend, as it happened with the CPU in its place.
struct Part {
  std::string backend, version, capabilities;
  Bytes blob;
  std::vector<Value> inputs, outputs;
};

// --- the CPU in the place of backends ---------------------------------------------------------------------------------

struct Handle {
  void* inner = nullptr;
  size_t part = 0;
};
std::vector<Part> captured;  // of the bisection under way; the command runs one

Value value_of(const mote_backend_tensor& t) {
  Value v = Value::of_type(static_cast<DType>(t.dtype), {t.dims, t.dims + t.rank});
  if (t.data != nullptr) backends::copy_rows(t, dtype_bytes(v.dtype), v.bytes.data(), true);
  return v;
}

uint32_t capture_init(const mote_backend_blob* blob, const mote_backend_tensor* in, uint32_t in_count, const mote_backend_tensor* out,
                      uint32_t out_count, void** handle, uint32_t* release) {
  auto h = std::make_unique<Handle>();
  if (const uint32_t error = backends::reference_backend()->init(blob, in, in_count, out, out_count, &h->inner, release)) return error;
  h->part = captured.size();
  captured.push_back({"", blob->version, blob->capabilities, Bytes(blob->data, blob->data + blob->size), {}, {}});
  *handle = h.release();
  return 0;
}
uint32_t capture_execute(void* handle, const mote_backend_tensor* in, uint32_t in_count, const mote_backend_tensor* out,
                         uint32_t out_count) {
  const Handle& h = *static_cast<Handle*>(handle);
  Part& p = captured[h.part];
  p.inputs.clear();
  p.outputs.clear();
  for (uint32_t i = 0; i < in_count; ++i) p.inputs.push_back(value_of(in[i]));
  if (const uint32_t error = backends::reference_backend()->execute(h.inner, in, in_count, out, out_count)) return error;
  for (uint32_t i = 0; i < out_count; ++i) p.outputs.push_back(value_of(out[i]));
  return 0;
}
void capture_destroy(void* handle) {
  backends::reference_backend()->destroy(static_cast<Handle*>(handle)->inner);
  delete static_cast<Handle*>(handle);
}
uint32_t capture_probe(const char*, const char*) { return 0; }

// Runs the example; false with *note when a part is no Mote program, or one of its operators fails.
bool capture(const std::string& path, const OpenSettings& settings, const GoldenExample& example, std::string* note) {
  captured.clear();
  backends::reference_kernels = kernels::select_for(kernels::best_isa(cpu_features()));
  std::vector<mote_backend> stand_ins;
  for (const KnownBackend& k : known_backends()) {
    mote_backend b = *backends::reference_backend();
    b.name = k.device->name;
    b.probe = &capture_probe;
    b.init = &capture_init;
    b.execute = &capture_execute;
    b.destroy = &capture_destroy;
    stand_ins.push_back(b);
  }
  mote_registry* registry = nullptr;
  if (mote_registry_create(&registry) != MOTE_OK) throw Failure("there is too little memory");
  RegistryHandle handle(registry);
  for (const mote_backend& b : stand_ins)
    if (const mote_status s = mote_registry_add_backend(registry, &b, nullptr)) throw Failure("a backend cannot be registered", s);
  try {
    Session session(path, settings, std::move(handle));
    session.create_instance();
    for (const GoldenTensor& t : example.inputs) session.set_input(example.method, t.index, t.array);
    session.own_io(example.method);
    session.run(example.method);
  } catch (const Failure& f) {
    *note = std::string("its parts cannot be run on the CPU: ") + f.what();
    return false;
  }
  return true;
}

// --- parts as graphs --------------------------------------------------------------------------------------------------

struct PartGraph {
  ir::Graph graph;
  std::vector<ir::Node*> nodes;
  std::vector<ir::Value*> inputs;
  std::vector<std::string> names;  // of the nodes
};

std::string text_at(const emit::ProgramRecords& r, size_t i) {
  const std::vector<uint8_t>& pool = r.strings.bytes();
  const uint32_t at = i < r.source_names.size() ? r.source_names[i] : 0;
  return at < pool.size() ? std::string(reinterpret_cast<const char*>(pool.data()) + at) : "";
}

// Every tensor of a piece is written once: views and places in memory do not matter here.
bool graph_of(const Part& part, PartGraph* out) {
  emit::FileBytes file = emit::FileBytes::of_size(part.blob.size());
  if (!part.blob.empty()) std::memcpy(file.data(), part.blob.data(), part.blob.size());
  emit::ProgramRecords r;
  if (!emit::read_records(file.span(), &r) || r.methods.size() != 1) return false;
  const Method& m = r.methods[0];
  ir::Method& method = out->graph.add_method("main");
  std::map<uint32_t, ir::Value*> values;
  for (uint32_t i = 0; i < m.input_count; ++i) {
    const uint32_t t = r.ios[m.first_input + i].tensor;
    const TensorDesc& d = r.tensors[t];
    values[t] = out->graph.add_input(method, "in" + std::to_string(i), d.dtype, ir::Dims(d.dims, d.dims + d.rank));
    out->inputs.push_back(values[t]);
  }
  const auto value = [&](int32_t t) -> ir::Value* {
    if (t < 0) return nullptr;
    const auto found = values.find(static_cast<uint32_t>(t));
    if (found != values.end()) return found->second;
    const TensorDesc& d = r.tensors[static_cast<size_t>(t)];
    if (d.storage != Storage::kConstant || d.bank >= r.segments.size()) return nullptr;
    const uint8_t* data = r.segments[d.bank].bytes.data() + d.offset;
    return values[static_cast<uint32_t>(t)] =
               out->graph.add_constant(d.dtype, ir::Dims(d.dims, d.dims + d.rank), ir::Bytes::copy_of(data, extent_bytes(d)), "", d.layout);
  };
  for (uint32_t k = 0; k < m.instruction_count; ++k) {
    const Instruction& n = r.instructions[m.first_instruction + k];
    std::vector<ir::Value*> operands;
    for (uint32_t i = 0; i < n.input_count; ++i) operands.push_back(value(r.operands[n.operands + i]));
    ir::Node* node = out->graph.add_node(*method.block, n.op, r.attrs.data() + n.attrs, n.attrs_size, operands, n.output_count,
                                         text_at(r, m.first_instruction + k));
    for (uint32_t i = 0; i < n.output_count; ++i) {
      const int32_t t = r.operands[n.operands + n.input_count + i];
      if (t < 0) continue;
      const TensorDesc& d = r.tensors[static_cast<size_t>(t)];
      node->outputs[i]->type = {d.dtype, ir::Dims(d.dims, d.dims + d.rank), 0};
      node->outputs[i]->facts.assign(out->graph.sample_count(), {node->outputs[i]->type.dims, {}});
      values[static_cast<uint32_t>(t)] = node->outputs[i];
    }
    out->nodes.push_back(node);
    out->names.push_back(node->name);
  }
  for (uint32_t i = 0; i < m.output_count; ++i) {
    const auto found = values.find(r.ios[m.first_output + i].tensor);
    if (found == values.end()) return false;
    out->graph.add_output(method, "out" + std::to_string(i), found->second);
  }
  return true;
}

// --- running ----------------------------------------------------------------------------------------------------------

std::string execute(const mote_backend& b, const Part& part, std::vector<Value>* inputs, std::vector<Value>* outputs) {
  std::vector<mote_backend_tensor> in, out;
  for (Value& v : *inputs) in.push_back(v.tensor());
  for (Value& v : *outputs) out.push_back(v.tensor());
  emit::FileBytes bytes = emit::FileBytes::of_size(part.blob.size());
  if (!part.blob.empty()) std::memcpy(bytes.data(), part.blob.data(), part.blob.size());
  const mote_backend_blob blob = {bytes.data(), bytes.size, part.version.c_str(), part.capabilities.c_str(), 0};
  void* handle = nullptr;
  uint32_t release = 0;
  uint32_t error =
      b.init(&blob, in.data(), static_cast<uint32_t>(in.size()), out.data(), static_cast<uint32_t>(out.size()), &handle, &release);
  if (error == 0) {
    error = b.execute(handle, in.data(), static_cast<uint32_t>(in.size()), out.data(), static_cast<uint32_t>(out.size()));
    b.destroy(handle);
  }
  return error == 0 ? ""
                    : std::string(b.name) + " failed with " + std::to_string(error) +
                          (b.describe != nullptr ? std::string(": ") + b.describe(error) : "");
}

double largest_error(const Value& found, const Value& expected, double* largest) {
  const std::vector<double> a = to_doubles(found.dtype, found.bytes.data(), found.bytes.size()),
                            e = to_doubles(expected.dtype, expected.bytes.data(), expected.bytes.size());
  double worst = 0;
  for (size_t i = 0; i < e.size() && i < a.size(); ++i) {
    if (std::isfinite(e[i])) *largest = std::max(*largest, std::fabs(e[i]));
    const bool same = a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i]));
    const double d = same ? 0 : std::fabs(a[i] - e[i]);
    worst = std::max(worst, std::isnan(d) ? INFINITY : d);
  }
  return worst;
}

struct Verdict {
  bool differs = false;
  double error = 0, allowed = 0;
  std::string failure;
};

Verdict judge(const std::vector<Value>& found, const std::vector<Value>& expected, double tolerance) {
  Verdict v;
  for (size_t i = 0; i < expected.size(); ++i) {
    double largest = 0;
    const double error = largest_error(found[i], expected[i], &largest), allowed = tolerance * largest;
    if (error <= allowed || (v.differs && error - allowed < v.error - v.allowed)) continue;
    v = {true, error, allowed, ""};
  }
  return v;
}

class Search {
 public:
  Search(const KnownBackend& backend, const Part& part, PartGraph& graph, double tolerance)
      : backend_(backend), graph_(graph), tolerance_(tolerance) {
    for (size_t i = 0; i < graph.inputs.size() && i < part.inputs.size(); ++i) known_[graph.inputs[i]] = part.inputs[i];
  }

  // The nodes on the backend and on the CPU, with the CPU's values going in; what the CPU gives is kept.
  Verdict compare(const std::vector<ir::Node*>& nodes) {
    const placement::Boundary boundary = placement::boundary_of(nodes);
    std::vector<Value> inputs, found, expected;
    for (ir::Value* v : boundary.inputs) {
      if (known_.count(v) == 0) return failed("a value is not known");
      inputs.push_back(known_.at(v));
    }
    for (const ir::Value* v : boundary.outputs)
      found.push_back(Value::of_type(v->type.dtype, v->type.dims)), expected.push_back(found.back());
    for (const bool cpu : {true, false}) {
      const KnownBackend b = cpu ? KnownBackend{backends::reference_backend(), backends::reference_compiler()} : backend_;
      placement::Blob blob;
      std::string error;
      if (!placement::make_blob(nodes, boundary, *b.compiler, nullptr, &blob, &error)) return failed(error);
      const Part piece{b.compiler->name, blob.version, blob.capabilities, blob.bytes, {}, {}};
      error = execute(*b.device, piece, &inputs, cpu ? &expected : &found);
      if (!error.empty()) return failed(error);
    }
    for (size_t i = 0; i < boundary.outputs.size(); ++i) known_[boundary.outputs[i]] = expected[i];
    return judge(found, expected, tolerance_);
  }

  // Beginnings of growing length, the way one searches a list that is in order: without the operator all is well, with it it is not.
  Bisected run() {
    Bisected b;
    size_t good = 0, bad = graph_.nodes.size();
    Verdict worst = compare(graph_.nodes);
    if (!worst.differs) {
      b.note = worst.failure.empty() ? "the part differs in the program, not by itself" : worst.failure;
      return b;
    }
    while (bad - good > 1) {
      const size_t middle = good + (bad - good) / 2;
      const Verdict v = compare({graph_.nodes.begin(), graph_.nodes.begin() + static_cast<std::ptrdiff_t>(middle)});
      if (!v.failure.empty()) return b.note = v.failure, b;
      if (v.differs) bad = middle, worst = v;
      else good = middle;
    }
    ir::Node* node = graph_.nodes[bad - 1];
    const OpDoc* doc = find_op_doc(node->op);
    b.found = true;
    b.op = doc != nullptr ? doc->name : std::to_string(node->op);
    b.node = node->name;
    b.largest_error = worst.error;
    b.allowed = worst.allowed;
    if (bad > 1)
      (void)compare({graph_.nodes.begin(), graph_.nodes.begin() + static_cast<std::ptrdiff_t>(bad - 1)});  // the CPU's values before it
    b.alone = compare({node}).differs;
    return b;
  }

 private:
  static Verdict failed(const std::string& why) {
    Verdict v;
    v.failure = why;
    return v;
  }
  const KnownBackend backend_;
  PartGraph& graph_;
  const double tolerance_;
  std::map<const ir::Value*, Value> known_;
};

// The names of the backends of the delegates, in the order of the program.
std::vector<std::string> delegate_backends(const std::string& path) {
  std::vector<std::string> names;
  for (const PlacedPart& p : view_placement(path).parts)
    if (p.backend != "cpu") names.push_back(p.backend);
  return names;
}

}  // namespace

Bisected bisect(const std::string& path, const OpenSettings& settings, const GoldenExample& example) {
  Bisected b;
  const std::vector<std::string> names = delegate_backends(path);
  if (names.empty()) {
    b.note = "nothing of it runs on a backend";
    return b;
  }
  if (!capture(path, settings, example, &b.note)) return b;
  double tolerance = kLeastTolerance;
  for (const GoldenTensor& t : example.outputs) tolerance = std::max(tolerance, static_cast<double>(t.tolerance));
  for (size_t i = 0; i < captured.size() && i < names.size(); ++i) {
    Part& part = captured[i];
    const KnownBackend* backend = find_known_backend(names[i]);
    if (backend == nullptr || part.outputs.empty()) continue;
    std::vector<Value> found;
    for (const Value& v : part.outputs) found.push_back(Value::of_type(v.dtype, v.dims));
    b.part = i;
    b.backend = names[i];
    b.note = execute(*backend->device, part, &part.inputs, &found);
    if (b.note.empty() && !judge(found, part.outputs, tolerance).differs) continue;
    PartGraph graph;
    if (backend->compiler == nullptr || !graph_of(part, &graph)) {
      b.note = "this part differs; its operators cannot be tried one by one here";
      return b;
    }
    Bisected inside = Search(*backend, part, graph, tolerance).run();
    inside.part = b.part;
    inside.backend = b.backend;
    return inside;
  }
  b.note = "every part gives what the CPU gives, with the CPU's inputs: the difference is smaller than what is looked for, or elsewhere";
  return b;
}

}  // namespace mote::tools
