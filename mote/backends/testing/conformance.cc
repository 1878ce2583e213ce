#include "mote/backends/testing/conformance.h"

#include <algorithm>
#include <cstring>

#include "mote/compiler/placement/node_view.h"
#include "mote/compiler/placement/pieces.h"

namespace mote::backends {
namespace {

using optest::Array;

ir::Type type_of(const Array& a) { return {a.dtype(), ir::Dims(a.shape().begin(), a.shape().end()), 0}; }

// The operator alone in a graph. Bit i of `computed`: input i comes from outside, else it is a constant.
struct Piece {
  ir::Graph graph;
  ir::Node* node = nullptr;
  placement::Boundary boundary;
  std::vector<const Array*> inputs;  // of the boundary
};

void make_piece(const OpCase& c, uint32_t computed, Piece* p) {
  ir::Method& m = p->graph.add_method("main");
  std::vector<ir::Value*> operands;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const Array& a = c.inputs[i];
    if (!a.present()) {
      operands.push_back(nullptr);
    } else if ((computed >> i & 1) != 0) {
      operands.push_back(p->graph.add_input(m, "in" + std::to_string(i), a.dtype(), type_of(a).dims));
      p->boundary.inputs.push_back(operands.back());
      p->inputs.push_back(&a);
    } else {
      operands.push_back(
          p->graph.add_constant(a.dtype(), type_of(a).dims, ir::Bytes::copy_of(a.bytes().data(), a.bytes().size()), "", a.layout()));
    }
  }
  p->node = p->graph.add_node(*m.block, static_cast<uint16_t>(c.op), c.attrs, c.attrs_bytes, operands, c.outputs.size(), "case");
  for (size_t o = 0; o < c.outputs.size(); ++o) {
    ir::Value* v = p->node->outputs[o];
    v->type = type_of(c.outputs[o]);
    v->facts.assign(p->graph.sample_count(), {v->type.dims, {}});
    p->graph.add_output(m, "out" + std::to_string(o), v);
    p->boundary.outputs.push_back(v);
  }
}

// An operand as the runtime hands it over, with `gap` bytes behind each row and in front of the next.
class Operand {
 public:
  Operand(const Array& a, size_t gap, bool filled) : dims_(a.shape()), strides_(a.shape().size()), width_(dtype_bytes(a.dtype())) {
    tensor_.dtype = static_cast<uint8_t>(a.dtype());
    tensor_.rank = static_cast<uint8_t>(dims_.size());
    auto stride = static_cast<int32_t>(width_);
    for (size_t i = dims_.size(); i-- > 0;) {
      strides_[i] = stride;
      stride = stride * std::max(1, dims_[i]) + (i + 1 == dims_.size() && i > 0 ? static_cast<int32_t>(gap) : 0);
    }
    bytes_.assign(static_cast<size_t>(stride) + 64, 0xa5);
    if (filled) move([&](uint8_t* at, size_t flat) { std::memcpy(at, a.bytes().data() + flat * width_, width_); });
    tensor_.data = bytes_.data();
    tensor_.dims = dims_.data();
    tensor_.strides = strides_.data();
  }
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  const mote_backend_tensor& tensor() const { return tensor_; }
  Array read(DType type) {
    Array a(type, dims_);
    move([&](uint8_t* at, size_t flat) {
      std::memcpy(a.bytes().data() + flat * width_, at, width_);
      std::memset(at, 0xa5, width_);
    });
    return a;
  }
  // After read(): nothing was written between rows and behind the tensor.
  bool untouched() const {
    return std::all_of(bytes_.begin(), bytes_.end(), [](uint8_t b) { return b == 0xa5; });
  }

 private:
  void move(const std::function<void(uint8_t*, size_t)>& f) {
    size_t flat = 0;
    optest::for_each_index(dims_, [&](const optest::Shape& index) {
      size_t at = 0;
      for (size_t i = 0; i < index.size(); ++i) at += static_cast<size_t>(index[i]) * static_cast<size_t>(strides_[i]);
      f(bytes_.data() + at, flat++);
    });
  }
  optest::Shape dims_;
  std::vector<int32_t> strides_;
  size_t width_;
  std::vector<uint8_t> bytes_;
  mote_backend_tensor tensor_{};
};

std::string compare(const Array& found, const Array& expected, double tolerance, bool nan) {
  double largest = 1;
  for (int64_t i = 0; i < expected.count(); ++i)
    if (std::isfinite(expected.get(i))) largest = std::max(largest, std::fabs(expected.get(i)));
  for (int64_t i = 0; i < expected.count(); ++i) {
    const double e = expected.get(i), f = found.get(i);
    if (std::isnan(e) && (std::isnan(f) || !nan)) continue;
    if (std::isfinite(e) ? std::fabs(f - e) <= tolerance * largest : e == f) continue;
    return "element " + std::to_string(i) + ": expected " + std::to_string(e) + ", found " + std::to_string(f);
  }
  return "";
}

std::string text_of(const mote_backend& b, const char* what, uint32_t code) {
  const char* text = b.describe != nullptr ? b.describe(code) : "";
  return std::string(what) + " failed with " + std::to_string(code) + " (" + text + ")";
}

std::string run_once(const KnownBackend& known, void* handle, const OpCase& c, const Piece& p, size_t gap, double tolerance) {
  const mote_backend& b = *known.device;
  std::vector<std::unique_ptr<Operand>> in, out;
  std::vector<mote_backend_tensor> inputs, outputs;
  for (const Array* a : p.inputs) in.push_back(std::make_unique<Operand>(*a, gap, true)), inputs.push_back(in.back()->tensor());
  for (const Array& a : c.outputs) out.push_back(std::make_unique<Operand>(a, gap, false)), outputs.push_back(out.back()->tensor());
  if (const uint32_t code =
          b.execute(handle, inputs.data(), static_cast<uint32_t>(inputs.size()), outputs.data(), static_cast<uint32_t>(outputs.size())))
    return text_of(b, "execute", code);
  for (size_t o = 0; o < out.size(); ++o) {
    const std::string wrong = compare(out[o]->read(c.outputs[o].dtype()), c.outputs[o], tolerance, known.carries_nan);
    if (!wrong.empty()) return "output " + std::to_string(o) + (gap > 0 ? " with gaps, " : ", ") + wrong;
    if (!out[o]->untouched()) return "output " + std::to_string(o) + ": bytes outside of it were written";
  }
  return "";
}

std::string run_piece(const KnownBackend& b, const OpCase& c, const Piece& p, double tolerance) {
  placement::Blob blob;
  std::string error;
  if (!placement::make_blob({p.node}, p.boundary, *b.compiler, nullptr, &blob, &error)) return "not lowered: " + error;
  program::FileBytes bytes = program::FileBytes::of_size(blob.bytes.size());
  std::copy(blob.bytes.begin(), blob.bytes.end(), bytes.data());
  std::vector<std::unique_ptr<Operand>> shapes;
  std::vector<mote_backend_tensor> inputs, outputs;
  const auto shape_of = [&](const Array& a) {
    shapes.push_back(std::make_unique<Operand>(a, 0, false));
    mote_backend_tensor t = shapes.back()->tensor();
    t.data = nullptr;
    return t;
  };
  for (const Array* a : p.inputs) inputs.push_back(shape_of(*a));
  for (const Array& a : c.outputs) outputs.push_back(shape_of(a));
  const mote_backend_blob view = {bytes.data(), bytes.size, blob.version.c_str(), blob.capabilities.c_str(), 0};
  void* handle = nullptr;
  uint32_t release = 0;
  if (const uint32_t code = b.device->init(&view, inputs.data(), static_cast<uint32_t>(inputs.size()), outputs.data(),
                                           static_cast<uint32_t>(outputs.size()), &handle, &release))
    return text_of(*b.device, "init", code);
  std::string failure = run_once(b, handle, c, p, 0, tolerance);
  if (failure.empty()) failure = run_once(b, handle, c, p, 12, tolerance);
  b.device->destroy(handle);
  return failure;
}

}  // namespace

CaseResult try_case(const KnownBackend& backend, const OpCase& c, bool run, double tolerance) {
  CaseResult r;
  uint32_t all = 0;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    if (c.inputs[i].present() && c.inputs[i].layout() == Layout::kPlain && dtype_bits(c.inputs[i].dtype()) >= 8) all |= 1u << i;
  // With everything computed, and with constants beside the tensors it is about: the first, or those behind the scales.
  const uint32_t tensors = c.op == OpId::q_concat ? all & ~3u : all & 1u;
  for (const uint32_t computed : {all, tensors}) {
    Piece p;
    make_piece(c, computed, &p);
    const placement::NodeView view(*p.node);
    const char* why = backend.compiler->supports(&view.op());
    if (why != nullptr && r.reason.empty()) r.reason = why;
    if (why != nullptr || p.inputs.empty()) continue;
    r.supported = true;
    if (run && r.failure.empty()) r.failure = run_piece(backend, c, p, tolerance);
    if (computed == tensors) break;
  }
  return r;
}

}  // namespace mote::backends
