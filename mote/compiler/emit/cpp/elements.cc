#include "mote/compiler/emit/cpp/elements.h"

#include <algorithm>

#include "mote/compiler/program/registry.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/op_docs.h"
#include "mote/ops/q_mul/q_mul.h"
#include "mote/ops/q_reduce/q_reduce.h"

namespace mote::emit {
namespace {

bool is_byte(DType t) { return t == DType::s8 || t == DType::u8; }

KernelCall element_call(const char* type, const char* function, std::vector<int32_t> inputs) {
  KernelCall call;
  call.header = "elements.h";
  call.type = type;
  call.function = function;
  call.inputs = std::move(inputs);
  return call;
}

// The results of an operator for all 256 elements; empty when it fails.
std::vector<uint8_t> results_of(const Source& s, const Instruction& n, const OpDef& def, const OpDoc& doc) {
  std::vector<uint8_t> attrs = doc.default_attrs;
  attrs.resize(doc.attrs_size);
  std::copy_n(s.records.attrs.begin() + n.attrs, std::min<size_t>(n.attrs_size, attrs.size()), attrs.begin());
  std::vector<uint8_t> x(256), y(256);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i);
  TensorDesc in{}, out{};
  for (TensorDesc* d : {&in, &out}) d->rank = 1, d->dims[0] = 256, d->strides[0] = 1, d->storage = Storage::kArena;
  in.dtype = s.desc(s.input(n, 0)).dtype;
  out.dtype = s.desc(s.output(n, 0)).dtype;
  std::vector<Tensor> tensors = {{&in, x.data()}};
  std::vector<int32_t> operands = {0};
  for (uint32_t i = 1; i < n.input_count; ++i) {
    operands.push_back(s.input(n, i) < 0 ? -1 : static_cast<int32_t>(tensors.size()));
    if (s.input(n, i) >= 0) tensors.push_back(s.constant(s.input(n, i)));
  }
  operands.push_back(static_cast<int32_t>(tensors.size()));
  tensors.push_back({&out, y.data()});
  OpContext c;
  c.tensors = tensors.data();
  c.operands = operands.data();
  c.attr_bytes = attrs.data();
  c.input_count = n.input_count;
  c.output_count = 1;
  const KernelFn kernel = def.select(c);
  if (kernel == nullptr || !kernel(c).ok()) y.clear();
  return y;
}

// Functions of one element as lookup tables: activations, requantize, clamps.
std::optional<KernelCall> table(const Source& s, const Instruction& n, Constants* constants) {
  const OpDef* def = n.op < kFirstCustomOp ? program::builtin_registry().find(n.op, nullptr) : nullptr;
  const OpDoc* doc = n.op < kFirstCustomOp ? find_op_doc(n.op) : nullptr;
  if (def == nullptr || doc == nullptr || (def->flags & kElementwise) == 0 || def->scratch != nullptr || n.output_count != 1 ||
      n.input_count == 0)
    return std::nullopt;
  for (uint32_t i = 1; i < n.input_count; ++i) {
    const int32_t t = s.input(n, i);
    if (t < 0) continue;
    const bool whole = static_cast<OpId>(n.op) == OpId::q_lut || element_count(s.desc(t)) == 1;
    if (s.desc(t).storage != Storage::kConstant || !whole) return std::nullopt;
  }
  if (s.input(n, 0) < 0 || s.output(n, 0) < 0) return std::nullopt;
  const TensorDesc &x = s.desc(s.input(n, 0)), &y = s.desc(s.output(n, 0));
  if (!is_byte(x.dtype) || !is_byte(y.dtype) || x.dynamic != 0 || y.dynamic != 0 || !same_shape(x, y)) return std::nullopt;
  const auto image = [](TensorDesc d) {
    d.dtype = DType::s8;
    return is_image(d);
  };
  const bool flat = is_dense(x) && is_dense(y) && x.ring_rows == 0 && y.ring_rows == 0;
  if (!(image(x) && image(y)) && !flat) return std::nullopt;
  const std::vector<uint8_t> results = results_of(s, n, *def, *doc);
  if (results.empty()) return std::nullopt;
  const std::string name = pointer_text(constants->bytes(results.data(), results.size()), "uint8_t");
  const std::vector<int32_t> operands = {s.input(n, 0), s.output(n, 0)};
  if (image(x) && image(y)) {
    KernelCall call = element_call("TableRows", "look_up_rows", operands);
    call.geometry = "{" + rows_text(x) + ", " + rows_text(y) + ", " + name + "}";
    call.by_rows = true;
    return call;
  }
  KernelCall call = element_call("Table", "look_up", operands);
  call.geometry = "{" + name + ", " + std::to_string(element_count(x)) + "}";
  return call;
}

}  // namespace

std::optional<std::string> pairs_text(DType type, const TensorDesc& a, const TensorDesc& b, const TensorDesc& y) {
  const auto size = static_cast<int32_t>(dtype_bytes(type));
  for (const TensorDesc* d : {&a, &b, &y})
    if (d->dtype != type || d->layout != Layout::kPlain || d->ring_rows != 0 || d->dynamic != 0) return std::nullopt;
  struct Dim {
    int32_t size, a, b, y;
  };
  std::vector<Dim> dims;
  for (int i = 0; i < y.rank; ++i) {
    const auto step = [&](const TensorDesc& d) {
      const int k = i - (y.rank - d.rank);
      return k < 0 || d.dims[k] == 1 ? 0 : d.strides[k] / size;
    };
    if (y.dims[i] == 1) continue;
    const Dim next{y.dims[i], step(a), step(b), y.strides[i] / size};
    // Dimensions that follow each other in all three are one.
    if (!dims.empty()) {
      Dim& last = dims.back();
      if (last.a == next.a * next.size && last.b == next.b * next.size && last.y == next.y * next.size) {
        last = {last.size * next.size, next.a, next.b, next.y};
        continue;
      }
    }
    dims.push_back(next);
  }
  if (dims.size() > 4) return std::nullopt;
  while (dims.size() < 4) dims.insert(dims.begin(), {1, 0, 0, 0});
  const auto list = [&](int32_t Dim::*m) { return list_text({dims[0].*m, dims[1].*m, dims[2].*m, dims[3].*m}); };
  return "{" + list(&Dim::size) + ", " + list(&Dim::a) + ", " + list(&Dim::b) + ", " + list(&Dim::y) + "}";
}

namespace {

std::optional<KernelCall> sum(const Source& s, const Instruction& n, const char* function) {
  const std::vector<int32_t> operands = {s.input(n, 0), s.input(n, 1), s.output(n, 0)};
  const std::optional<std::string> pairs = pairs_text(DType::s8, s.desc(operands[0]), s.desc(operands[1]), s.desc(operands[2]));
  const std::optional<std::string> how = sum_text(s.attrs<ops::QuantBinaryAttrs>(n));
  if (!pairs || !how) return std::nullopt;
  KernelCall call = element_call("SumPairs", function, operands);
  call.geometry = "{" + *pairs + ", " + *how + "}";
  return call;
}

std::optional<KernelCall> product(const Source& s, const Instruction& n) {
  const auto a = s.attrs<ops::q_mul::Attrs>(n);
  const std::vector<int32_t> operands = {s.input(n, 0), s.input(n, 1), s.output(n, 0)};
  if (a.mode != 0 || a.shift > 0 || a.shift < -31 || a.multiplier < 0) return std::nullopt;
  const std::optional<std::string> pairs = pairs_text(DType::s8, s.desc(operands[0]), s.desc(operands[1]), s.desc(operands[2]));
  if (!pairs) return std::nullopt;
  const ops::IntRange r = ops::clamp_range(a.clamp_lo, a.clamp_hi, DType::s8);
  KernelCall call = element_call("MulPairs", "multiply_pairs", operands);
  call.geometry = "{" + *pairs + ", " + scale_text(a.multiplier, a.shift);
  for (const int32_t v : {a.a_zero, a.b_zero, a.y_zero, r.lo, r.hi}) call.geometry += ", " + std::to_string(v);
  call.geometry += "}";
  return call;
}

}  // namespace

std::optional<KernelCall> reduction_call(const Source& s, const Instruction& n, DType type) {
  auto a = s.attrs<ops::q_reduce::Attrs>(n);
  const TensorDesc &x = s.desc(s.input(n, 0)), &y = s.desc(s.output(n, 0));
  const auto kind = static_cast<ops::q_reduce::Kind>(a.kind);
  if (s.input(n, 1) >= 0 || a.mode != 0 || (kind != ops::q_reduce::Kind::kMean && kind != ops::q_reduce::Kind::kSum)) return std::nullopt;
  if (x.dtype != type || !is_dense(x) || !is_dense(y) || x.dynamic != 0 || element_count(x) == 0) return std::nullopt;
  bool reduced[kMaxRank] = {};
  for (int i = 0; i < x.rank; ++i) reduced[i] = a.axis_count == 0;
  for (int i = 0; i < a.axis_count && i < kMaxRank; ++i) reduced[a.axes[i] < 0 ? a.axes[i] + x.rank : a.axes[i]] = true;
  int64_t outer = 1, count = 1, inner = 1;
  for (int i = 0; i < x.rank; ++i) {
    if (reduced[i] && inner > 1) return std::nullopt;
    (reduced[i] ? count : count > 1 ? inner : outer) *= x.dims[i];
  }
  if (count > (type == DType::s8 ? 1 << 20 : 1 << 14)) return std::nullopt;
  int32_t multiplier = a.multiplier, shift = a.shift;
  if (kind == ops::q_reduce::Kind::kMean) {  // as q_reduce::scaled has it
    const int32_t up = std::min(31 - ops::leading_zeros(static_cast<uint32_t>(count)), 31 + shift);
    multiplier = ops::wrap_to_s32((int64_t{multiplier} << up) / count);
    shift -= up;
  }
  KernelCall call = element_call("Reduction", "reduce_sum", {s.input(n, 0), s.output(n, 0)});
  call.geometry = list_text({outer, count, inner, multiplier, shift, -count * a.input_zero, a.output_zero});
  return call;
}

namespace {

std::optional<KernelCall> maximum(const Source& s, const Instruction& n) {
  const auto a = s.attrs<ops::max_pool::Attrs>(n);
  const TensorDesc &x = s.desc(s.input(n, 0)), &y = s.desc(s.output(n, 0));
  if (!is_image(x) || !is_image(y) || s.output(n, 1) >= 0) return std::nullopt;
  ops::Window w = ops::make_window(a, x, a.kernel);
  for (int i = 0; i < 2; ++i) {
    w.dim[i].out = y.dims[i + 1];
    // Every window has an element.
    if (w.dim[i].dilation != 1 || w.dim[i].pad_begin >= w.dim[i].kernel ||
        int64_t{w.dim[i].out - 1} * w.dim[i].stride - w.dim[i].pad_begin >= w.dim[i].in)
      return std::nullopt;
  }
  if (!fits(w)) return std::nullopt;
  KernelCall call = element_call("MaxPool", "max_pool", {s.input(n, 0), s.output(n, 0)});
  call.header = "pool.h";
  call.geometry = "{" + rows_text(x) + ", " + rows_text(y) + ", " + window_text(w) + "}";
  call.by_rows = call.in_order = true;
  return call;
}

}  // namespace

std::optional<KernelCall> find_element_kernel(const Source& s, const Instruction& n, Constants* constants) {
  switch (static_cast<OpId>(n.op)) {
    case OpId::q_add: return sum(s, n, "add_pairs");
    case OpId::q_sub: return sum(s, n, "subtract_pairs");
    case OpId::q_mul: return product(s, n);
    case OpId::q_reduce: return reduction_call(s, n, DType::s8);
    case OpId::max_pool: return maximum(s, n);
    default: return table(s, n, constants);
  }
}

}  // namespace mote::emit
