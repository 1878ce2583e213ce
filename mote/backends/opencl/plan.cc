#include "mote/backends/opencl/plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mote/backends/common/families.h"
#include "mote/backends/opencl/families.h"
#include "mote/backends/opencl/storage.h"
#include "mote/core/half.h"
#include "mote/core/layout.h"
#include "mote/core/size.h"
#include "mote/ops/op_id.h"

namespace mote::backends::opencl {
namespace {

constexpr uint64_t kMaxBufferBytes = 0x7fffffff;  // kernels count elements in 31 bits

// One entry for each operator that has kernels.
struct Family {
  OpId first, last;
  const char* (*lower)(const OpView&, Recorder*);
};
constexpr Family kFamilies[] = {
    {OpId::copy, OpId::reshape, &lower_copy},
    {OpId::transpose, OpId::pad, &lower_move},
    {OpId::expand, OpId::expand, &lower_move},
    {OpId::depth_to_space, OpId::space_to_depth, &lower_move},
    {OpId::abs, OpId::mish, &lower_unary},
    {OpId::add, OpId::div, &lower_binary},
    {OpId::pow, OpId::prelu, &lower_binary},
    {OpId::reduce_sum, OpId::reduce_prod, &lower_reduce},
    {OpId::reduce_l1, OpId::reduce_sum_square, &lower_reduce},
    {OpId::softmax, OpId::log_softmax, &lower_softmax},
    {OpId::matmul, OpId::matmul, &lower_matmul},
    {OpId::conv, OpId::conv_transpose, &lower_conv},
    {OpId::max_pool, OpId::avg_pool, &lower_pool},
    {OpId::adaptive_avg_pool, OpId::adaptive_avg_pool, &lower_pool},
    {OpId::attention, OpId::attention, &lower_attention},
    {OpId::layer_norm, OpId::layer_norm, &lower_layer_norm},
    {OpId::resize, OpId::resize, &lower_resize},
};

// Of operators that have kernels for 8-bit numbers.
constexpr Family kByteFamilies[] = {
    {OpId::copy, OpId::reshape, &lower_copy},          {OpId::transpose, OpId::pad, &lower_move},
    {OpId::expand, OpId::expand, &lower_move},         {OpId::depth_to_space, OpId::space_to_depth, &lower_move},
    {OpId::max_pool, OpId::max_pool, &lower_q_pool},   {OpId::quantize, OpId::dequantize, &lower_quantize},
    {OpId::q_conv, OpId::q_conv, &lower_q_conv},       {OpId::q_matmul, OpId::q_matmul, &lower_q_matmul},
    {OpId::q_add, OpId::q_mul, &lower_q_binary},       {OpId::q_avg_pool, OpId::q_avg_pool, &lower_q_pool},
    {OpId::q_lut, OpId::q_lut, &lower_q_lut},          {OpId::requantize, OpId::requantize, &lower_requantize},
    {OpId::q_reduce, OpId::q_reduce, &lower_q_reduce}, {OpId::q_softmax, OpId::q_softmax, &lower_q_softmax},
    {OpId::q_concat, OpId::q_concat, &lower_q_concat},
};

bool is_byte(const Operand& o) { return o.present && (o.dtype == DType::s8 || o.dtype == DType::u8); }

const char* check_bytes(const OpView& op) {
  for (const auto* list : {&op.inputs, &op.outputs}) {
    for (const Operand& o : *list) {
      if (!o.present || o.data != nullptr) continue;
      if (!is_byte(o) && o.dtype != DType::f32) return "only 8-bit and f32 numbers are computed there";
      if (o.count() == 0) return "an empty tensor";
    }
  }
  return nullptr;
}

const char* check_operands(const OpView& op) {
  if (op.outputs.empty() || !op.outputs[0].present) return "it has no first output";
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    if (!op.outputs[i].present) continue;
    if (op.outputs[i].dtype != DType::f32) return "only f32 is computed there";
    if (op.outputs[i].count() == 0) return "an empty tensor";
  }
  for (const Operand& o : op.inputs) {
    if (!o.present) continue;
    if (o.dtype != DType::f32 && o.data == nullptr) return "only f32 is computed there";
    if (o.count() == 0 && o.dtype == DType::f32) return "an empty tensor";
    if (o.layout != Layout::kPlain && (o.layout != Layout::kPanel16 || (o.dtype != DType::f32 && o.dtype != DType::f16)))
      return "weights in a packed form it does not read";
  }
  return nullptr;
}

// (N, K) to (K, N padded).
std::vector<float> columns_of(const std::vector<float>& plain, int32_t n, int32_t k, int32_t padded) {
  std::vector<float> out(static_cast<size_t>(k) * static_cast<size_t>(padded), 0.0f);
  for (size_t i = 0; i < static_cast<size_t>(n); ++i)
    for (size_t j = 0; j < static_cast<size_t>(k); ++j) out[j * static_cast<size_t>(padded) + i] = plain[i * static_cast<size_t>(k) + j];
  return out;
}

class Planner {
 public:
  Planner(const Program& program, const Target& target, const std::vector<uint8_t>& narrow, Plan& plan, std::string& why)
      : program_(program), plan_(plan), recorder_(plan, target), narrow_(narrow), why_(why) {}

  bool run() {
    if (!read_piece(program_, &piece_, &why_)) return false;
    if (!narrow_.empty() && narrow_.size() != program_.table().tensors.size) return fail("storage of other tensors than the piece has");
    plan_.buffer_bytes = piece_.buffer_bytes;
    plan_.inputs = piece_.inputs;
    plan_.outputs = piece_.outputs;
    Storage storage(piece_, narrow_, plan_, recorder_);
    storage.begin();
    for (OpView& v : piece_.ops) {
      if (!narrow_.empty() && has_bytes(v)) return fail("8-bit numbers beside f16");
      storage.enter(v);
      place_constants(v);
      for (auto* list : {&v.inputs, &v.outputs})
        for (Operand& o : *list)
          if (is_byte(o)) o.place.offset *= 4;  // counted in elements
      if (const char* why = lower_op(v, &recorder_)) return fail("instruction " + std::to_string(v.instruction) + ": " + why);
      storage.leave();
    }
    storage.end();
    plan_.buffer_bytes[0] = plan_.constants.size() * 4;
    return std::all_of(plan_.buffer_bytes.begin(), plan_.buffer_bytes.end(), [](uint64_t bytes) { return bytes <= kMaxBufferBytes; }) ||
           fail("the piece's weights or tensors are more than kernels can address");
  }

 private:
  bool fail(const std::string& what) {
    why_ = what;
    return false;
  }

  // Constants that kernels read as they are. Weights are brought into another form by those who need them.
  void place_constants(OpView& v) {
    for (size_t i = 0; i < v.inputs.size(); ++i) {
      Operand& o = v.inputs[i];
      if (!o.present || o.data == nullptr || (o.dtype != DType::f32 && !is_byte(o)) || o.layout != Layout::kPlain ||
          (i == 1 && repacks_weights(v)))
        continue;
      const bool half = !is_byte(o) && recorder_.reads_half() && !reads_float(v, i);
      const auto count = static_cast<size_t>(o.count());
      const auto [known, is_new] = constants_.try_emplace({o.data, o.dtype, count, half});
      if (is_new)
        known->second = is_byte(o) ? recorder_.add_bytes(o.data, count)
                        : half     ? recorder_.add_tensor(o.data, count)
                                   : recorder_.add_constant(o.data, count);
      o.place = known->second;
    }
  }

  const Program& program_;
  Plan& plan_;
  Recorder recorder_;
  const std::vector<uint8_t>& narrow_;
  std::string& why_;
  Piece piece_;
  // By address, type, count and whether stored as f16: constants of a file may overlap.
  std::map<std::tuple<const void*, DType, size_t, bool>, Place> constants_;
};

}  // namespace

Recorder::Args& Recorder::Args::tensor(const Place& p) {
  launch_.args.push_back({std::max(p.buffer, 0), {}});
  return value(p.offset);
}

Recorder::Args& Recorder::Args::buffer(const Place& p) {
  launch_.args.push_back({std::max(p.buffer, 0), {}});
  return *this;
}

Recorder::Args Recorder::launch(const OpView& op, const char* kernel, const std::vector<size_t>& global, const std::vector<size_t>& local) {
  Launch l;
  l.kernel = kernel;
  l.instruction = op.instruction;
  l.kernels = kernels_;
  for (size_t i = 0; i < global.size(); ++i) {
    const size_t group = i < local.size() ? local[i] : 1;
    l.wanted[i] = std::max<size_t>(global[i], 1);
    l.global[i] = (l.wanted[i] + group - 1) / group * group;
    l.items *= static_cast<double>(l.global[i]);
  }
  for (size_t i = 0; i < 3 && !local.empty(); ++i) l.local[i] = i < local.size() ? local[i] : 1;
  plan_.launches.push_back(std::move(l));
  return Args(plan_.launches.back());
}

Recorder::Args Recorder::launch_positions(const OpView& op, const char* kernel, int32_t channels, int64_t positions) {
  constexpr size_t kItems = 128;
  size_t width = 1;
  while (width < 32 && width < static_cast<size_t>(channels)) width *= 2;
  return launch(op, kernel, {static_cast<size_t>(channels), static_cast<size_t>(positions)}, {width, kItems / width});
}

Place Recorder::add_bytes(const void* data, size_t bytes) {
  if (counting_) return {0, 0};
  budget_.take(bytes);
  plan_.constants.resize((plan_.constants.size() + 63) / 64 * 64);
  const auto at = static_cast<int32_t>(plan_.constants.size());
  plan_.constants.resize(plan_.constants.size() + (bytes + 3) / 4);  // a last word that is not full ends with zeros
  if (bytes > 0) std::memcpy(plan_.constants.data() + at, data, bytes);
  return {0, at};
}

Place Recorder::add_tensor(const void* data, size_t count) {
  return counting_ || !reads_half() ? add_constant(data, count) : add_halves(static_cast<const float*>(data), count);
}

Place Recorder::add_halves(const float* values, size_t count) {
  plan_.halves.resize((plan_.halves.size() + 63) / 64 * 64);
  const auto at = static_cast<int32_t>(plan_.halves.size());
  for (size_t i = 0; i < count; ++i) {
    const f16 half(values[i]);
    uint16_t bits;
    std::memcpy(&bits, &half, sizeof bits);
    plan_.halves.push_back(bits);
  }
  return {plan_.half_buffer, at};
}

Place Recorder::workspace(uint64_t words) {
  if (workspace_ < 0) {
    workspace_ = static_cast<int32_t>(plan_.buffer_bytes.size());
    plan_.buffer_bytes.push_back(0);
  }
  uint64_t& bytes = plan_.buffer_bytes[static_cast<size_t>(workspace_)];
  bytes = std::max(bytes, words * 4);
  return {workspace_, 0};
}

// Few outputs are padded to many columns: a small file could ask for much.
void Recorder::take_columns(int64_t rows, int32_t padded, uint64_t width) {
  budget_.take(times(times(static_cast<uint64_t>(rows), static_cast<uint64_t>(padded)), width));
}

Place Recorder::weights(const Operand& w, int32_t n, int32_t k, int32_t padded) {
  if (counting_) return {0, 0};
  const auto [known, is_new] = weights_.try_emplace(Weights(w, n, k, padded, WeightForm::kColumns));
  if (!is_new) return known->second.place;
  take_columns(k, padded, sizeof(float));
  const std::vector<float> out = columns_of(plain_weights(w, n, k), n, k, padded);
  return known->second.place = add_constant(out.data(), out.size());
}

Place Recorder::half_weights(const Operand& w, int32_t n, int32_t k, int32_t padded, float* scale) {
  *scale = 1;
  if (counting_) return {0, 0};
  const auto [known, is_new] = weights_.try_emplace(Weights(w, n, k, padded, WeightForm::kHalfColumns));
  if (!is_new) {
    *scale = known->second.scale;
    return known->second.place;
  }
  take_columns(k, padded, sizeof(float));
  std::vector<float> plain = plain_weights(w, n, k);
  *scale = half_scale(plain);
  for (float& v : plain) v /= *scale;
  const std::vector<float> out = columns_of(plain, n, k, padded);
  return (known->second = {add_halves(out.data(), out.size()), *scale}).place;
}

Place Recorder::byte_weights(const Operand& w, int32_t n, int32_t k, int32_t padded, bool in_fours) {
  if (counting_) return {0, 0};
  const auto [known, is_new] = weights_.try_emplace(Weights(w, n, k, padded, in_fours ? WeightForm::kFours : WeightForm::kColumns));
  if (!is_new) return known->second.place;
  const auto wide = static_cast<size_t>(padded), depth = static_cast<size_t>(k);
  take_columns(k, padded, 1);
  std::vector<int8_t> out((depth * wide + 3) / 4 * 4, 0);
  const std::vector<int8_t> plain = plain_bytes(w, n, k);
  for (size_t i = 0; i < static_cast<size_t>(n); ++i)
    for (size_t j = 0; j < depth; ++j) out[in_fours ? (j / 4 * wide + i) * 4 + j % 4 : j * wide + i] = plain[i * depth + j];
  Place p = add_constant(out.data(), out.size() / 4);
  if (!in_fours) p.offset *= 4;
  return known->second.place = p;
}

std::vector<int8_t> plain_bytes(const Operand& w, int32_t n, int32_t k) {
  const auto rows = static_cast<uint32_t>(n), depth = static_cast<uint32_t>(k);
  std::vector<int8_t> out(size_t{rows} * depth);
  const auto* from = static_cast<const uint8_t*>(w.data);
  const uint8_t flip = w.dtype == DType::u8 ? 0x80 : 0;
  for (uint32_t i = 0; i < rows; ++i)
    for (uint32_t j = 0; j < depth; ++j) {
      const size_t at = w.layout == Layout::kPlain ? size_t{i} * depth + j : panel_offset(w.layout, w.dtype, i, j, depth) + j % 4;
      out[size_t{i} * depth + j] = static_cast<int8_t>(from[at] ^ flip);
    }
  return out;
}

float half_scale(const std::vector<float>& weights) {
  float most = 0;
  for (float v : weights) most = std::max(most, std::isfinite(v) ? std::fabs(v) : 0);
  int exponent = 0;
  std::frexp(most, &exponent);
  return most == 0 ? 1 : std::ldexp(1.0f, exponent);
}

bool has_bytes(const OpView& op) {
  for (const auto* list : {&op.inputs, &op.outputs})
    for (const Operand& o : *list)
      if (is_byte(o) && o.data == nullptr) return true;
  return false;
}

const char* lower_op(const OpView& op, Recorder* recorder) {
  return has_bytes(op) ? lower_by_family(kByteFamilies, check_bytes, op, recorder)
                       : lower_by_family(kFamilies, check_operands, op, recorder);
}

bool make_plan(const Program& program, const Target& target, const std::vector<uint8_t>& narrow, Plan* out, std::string* why) {
  Plan plan;
  if (!Planner(program, target, narrow, plan, *why).run()) return false;
  *out = std::move(plan);
  return true;
}

}  // namespace mote::backends::opencl
