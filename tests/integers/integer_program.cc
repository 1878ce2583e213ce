#include "tests/integers/integer_program.h"

#include <algorithm>
#include <cmath>

#include "mote/compiler/emit/builder.h"
#include "mote/compiler/ir/multiplier.h"
#include "mote/core/layout.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/dynamic_quantize/dynamic_quantize.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/q_add/q_add.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_concat/q_concat.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_lut/q_lut.h"
#include "mote/ops/q_matmul/q_matmul.h"
#include "mote/ops/q_mul/q_mul.h"
#include "mote/ops/q_reduce/q_reduce.h"
#include "mote/ops/q_softmax/q_softmax.h"
#include "mote/ops/q_sub/q_sub.h"
#include "mote/ops/quantize/quantize.h"
#include "mote/ops/requantize/requantize.h"

namespace mote::integers {
namespace {

using emit::Dims;
using emit::kAbsent;
using emit::TensorId;

constexpr int32_t kMostElements = 6000;

class Maker {
 public:
  explicit Maker(fuzz::Dice& dice) : dice_(dice) {}

  bool run(emit::FileBytes* out, std::string* error) {
    b_.begin_method("main");
    const Dims dims = {dice_.chance(4) ? 0 : dice_.between(1, 2), dice_.between(1, 14), dice_.between(1, 14), channels()};
    pool_.push_back(b_.input("x", byte_type(), dims));
    const int steps = dice_.between(1, 7);
    for (int i = 0; i < steps && b_.ok(); ++i) {
      const TensorId made = step();
      if (made < 0 || !b_.ok()) break;
      pool_.push_back(made);
      shown_.push_back(made);
    }
    for (size_t i = 0; i < shown_.size(); ++i)
      if (i + 1 == shown_.size() || dice_.chance(25)) b_.output("y" + std::to_string(i), shown_[i]);
    if (!b_.ok() || shown_.empty()) {
      *error = shown_.empty() ? "no operator took its operands" : b_.error();
      return false;
    }
    return b_.finish(out, error);
  }

 private:
  // --- what is drawn ---
  int32_t channels() { return dice_.chance(30) ? 16 * dice_.between(1, 4) : dice_.between(1, dice_.chance(15) ? 130 : 40); }
  DType byte_type() { return dice_.chance(70) ? DType::s8 : DType::u8; }
  int32_t zero_of(DType t) { return t == DType::u8 ? dice_.between(0, 255) : dice_.chance(30) ? -128 : dice_.between(-128, 127); }
  double real(double lo, double hi) { return lo * std::pow(hi / lo, dice_.below(1000) / 999.0); }
  TensorId any() { return pool_[dice_.below(static_cast<uint32_t>(pool_.size()))]; }
  DType type(TensorId t) const { return b_.desc(t).dtype; }
  int32_t dim(TensorId t, int i) const { return b_.desc(t).dims[i]; }
  int32_t count(TensorId t) const { return element_count(b_.desc(t)); }
  TensorId like(TensorId x) {
    for (int tries = 0; tries < 4; ++tries)
      if (const TensorId y = any(); type(y) == type(x) && same_shape(b_.desc(y), b_.desc(x))) return y;
    return x;
  }
  template <class T>
  TensorId vector(DType t, const std::vector<T>& v) {
    return b_.constant(t, {static_cast<int32_t>(v.size())}, v.data());
  }
  TensorId ints(int32_t n, int32_t lo, int32_t hi) {
    std::vector<int32_t> v(static_cast<size_t>(n));
    for (int32_t& x : v) x = lo + static_cast<int32_t>(dice_.raw() % static_cast<uint32_t>(hi - lo + 1));
    return vector(DType::s32, v);
  }

  // Weights in panels: of all 8 bits, or such that neighbours' products add up within 16 bits.
  TensorId weights(const Dims& dims) {
    int32_t k = 1;
    for (size_t i = 1; i < dims.size(); ++i) k *= dims[i];
    std::vector<int8_t> packed(panel_bytes(Layout::kPanel16k4, DType::s8, static_cast<uint32_t>(dims[0]), static_cast<uint32_t>(k)));
    const uint32_t half = dice_.chance(50) ? 64 : 127;
    for (int32_t n = 0; n < dims[0]; ++n)
      for (int32_t i = 0; i < k; ++i)
        packed[panel_offset(Layout::kPanel16k4, DType::s8, static_cast<uint32_t>(n), static_cast<uint32_t>(i), static_cast<uint32_t>(k)) +
               static_cast<uint32_t>(i) % 4] =
            static_cast<int8_t>(static_cast<int32_t>(dice_.raw() % (2 * half + 1)) - static_cast<int32_t>(half));
    return b_.constant(DType::s8, dims, packed.data(),
                       pairs_fit(packed.data(), packed.size()) ? Layout::kPanel16k4Pairs : Layout::kPanel16k4);
  }

  // Operands 2 and on of a product, and how it ends. Sums of k products have about the size that the multipliers expect.
  template <class A>
  std::vector<TensorId> stage(TensorId x, int32_t n, int32_t k, A* a) {
    std::vector<TensorId> in(8, kAbsent);
    const DType y = byte_type();
    a->to = static_cast<uint32_t>(y);
    a->input_zero = zero_of(type(x));
    a->output_zero = zero_of(y);
    if (dice_.chance(30)) a->clamp_lo = a->output_zero;
    if (dice_.chance(15)) a->weight_zero = dice_.between(-20, 20);
    if (dice_.chance(70)) in[ops::kEpilogueBias] = ints(n, -9000, 9000);
    const double usual = 60 / (74 * 60 * std::sqrt(static_cast<double>(k)));
    std::vector<double> factors(dice_.chance(60) ? static_cast<size_t>(n) : 1);
    for (double& f : factors) f = usual * real(0.2, 5);
    switch (dice_.below(3)) {
      case 0: {
        std::vector<int32_t> m, s;
        for (const double f : factors) m.push_back(ir::quantize_multiplier(f).value), s.push_back(ir::quantize_multiplier(f).shift);
        in[ops::kEpilogueMultiplier] = vector(DType::s32, m);
        in[ops::kEpilogueShift] = vector(DType::s32, s);
        break;
      }
      case 1: in[ops::kEpilogueMultiplier] = vector(DType::f64, factors); break;
      default: in[ops::kEpilogueMultiplier] = vector(DType::f32, std::vector<float>(factors.begin(), factors.end()));
    }
    return in;
  }

  // --- operators ---
  TensorId conv(TensorId x, bool depthwise) {
    if (b_.desc(x).rank != 4) return matmul(x);
    ops::q_conv::Attrs a;
    const int32_t c = dim(x, 3);
    Dims w = {depthwise ? c : dice_.chance(40) ? c : channels(), 1, 1, depthwise ? 1 : c};
    const bool same = dice_.chance(60);
    for (int i = 0; i < 2; ++i) {
      const int32_t kernel = same ? 1 + 2 * dice_.between(0, 1) : dice_.between(1, std::min(4, dim(x, i + 1)));
      w[static_cast<size_t>(i) + 1] = kernel;
      a.pads_begin[i] = same ? kernel / 2 : dice_.between(0, 1);
      a.pads_end[i] = same ? kernel / 2 : dice_.between(0, 1);
      a.strides[i] = same ? 1 : dice_.between(1, 2);
    }
    a.groups = depthwise ? c : 1;
    std::vector<TensorId> in = stage(x, w[0], w[1] * w[2] * w[3], &a);
    in[0] = x, in[1] = weights(w);
    if (same && w[0] == c && dice_.chance(60)) residual(x, &a, &in);
    while (in.back() == kAbsent) in.pop_back();
    return b_.op(OpId::q_conv, a, in);
  }
  // The input itself, or another of its shape, is added.
  void residual(TensorId x, ops::q_conv::Attrs* a, std::vector<TensorId>* in) {
    const TensorId other = like(x);
    a->to = static_cast<uint32_t>(type(other));
    a->output_zero = zero_of(type(other));
    a->clamp_lo = ops::kNoClampLo;
    ops::QuantBinaryAttrs sum = binary(type(other));
    in->push_back(other);
    if (dice_.chance(60)) {
      sum.mode = static_cast<uint32_t>(ops::QuantMode::kSums);
      sum.b_shift = -dice_.between(0, 14);
      in->push_back(ints(dim(x, 3), 1, 1 << 18));
    }
    ops::q_conv::set_sum_attrs(*a, sum);
  }
  TensorId matmul(TensorId x) {
    const int32_t k = dim(x, b_.desc(x).rank - 1), n = channels();
    ops::q_matmul::Attrs a;
    std::vector<TensorId> in = stage(x, n, k, &a);
    in[0] = x, in[1] = weights({n, k});
    while (in.back() == kAbsent) in.pop_back();
    return b_.op(OpId::q_matmul, a, in);
  }
  // Scales found while running, a product that gives f32, and back to 8 bits.
  TensorId dynamic(TensorId x) {
    const float scale = static_cast<float>(real(0.01, 0.1));
    const TensorId s = vector(DType::f32, std::vector<float>{scale});
    const TensorId f = b_.op(OpId::dequantize, ops::dequantize::Attrs{}, {x, s});
    ops::dynamic_quantize::Attrs how;
    how.mode = static_cast<uint32_t>(dice_.between(1, 2));
    how.axis = b_.desc(x).rank - 1;
    const std::vector<TensorId> q = b_.ops(OpId::dynamic_quantize, how, {f}, 3);
    if (q.size() != 3) return kAbsent;
    const int32_t k = dim(x, b_.desc(x).rank - 1), n = channels();
    ops::q_matmul::Attrs a;
    a.to = static_cast<uint32_t>(DType::f32);
    const std::vector<float> factors(static_cast<size_t>(n), 0.01f);
    const TensorId y =
        b_.op(OpId::q_matmul, a, {q[0], weights({n, k}), kAbsent, vector(DType::f32, factors), kAbsent, q[2], kAbsent, q[1]});
    ops::quantize::Attrs back;
    back.to = static_cast<uint32_t>(byte_type());
    const DType type = static_cast<DType>(back.to);
    const uint8_t zero = static_cast<uint8_t>(zero_of(type));
    return b_.op(OpId::quantize, back, {y, vector(DType::f32, std::vector<float>{scale * 4}), vector(type, std::vector<uint8_t>{zero})});
  }
  ops::QuantBinaryAttrs binary(DType t) {
    ops::QuantBinaryAttrs a;
    a.mode = dice_.below(2);
    a.a_zero = zero_of(t), a.b_zero = zero_of(t), a.y_zero = zero_of(t);
    const ir::Multiplier p = ir::quantize_multiplier(real(0.1, 0.5)), q = ir::quantize_multiplier(real(0.1, 0.5)),
                         y = ir::quantize_multiplier(real(0.3, 1.5) / (1 << 20));
    a.left_shift = 20;
    a.a_multiplier = p.value, a.a_shift = p.shift;
    a.b_multiplier = q.value, a.b_shift = q.shift;
    a.y_multiplier = y.value, a.y_shift = y.shift;
    a.a_scale = static_cast<float>(real(0.01, 0.1)), a.b_scale = static_cast<float>(real(0.01, 0.1)), a.y_scale = 0.07f;
    if (dice_.chance(30)) a.clamp_lo = a.y_zero;
    return a;
  }
  TensorId product(TensorId x) {
    ops::q_mul::Attrs a;
    a.mode = dice_.below(2);
    a.a_zero = zero_of(type(x)), a.b_zero = zero_of(type(x)), a.y_zero = zero_of(type(x));
    const ir::Multiplier m = ir::quantize_multiplier(real(0.001, 0.1));
    a.multiplier = m.value, a.shift = m.shift;
    a.a_scale = 0.02f, a.b_scale = 0.03f, a.y_scale = static_cast<float>(real(0.01, 0.2));
    return b_.op(OpId::q_mul, a, {x, like(x)});
  }
  TensorId pool(TensorId x, bool average) {
    if (b_.desc(x).rank != 4) return table(x);
    ops::q_avg_pool::Attrs a;
    ops::max_pool::Attrs m;
    for (int i = 0; i < 2; ++i) {
      a.kernel[i] = m.kernel[i] = std::min(dim(x, i + 1), dice_.between(1, 3));
      a.strides[i] = m.strides[i] = dice_.between(1, 2);
      a.pads_begin[i] = m.pads_begin[i] = a.kernel[i] > 1 ? dice_.between(0, 1) : 0;
    }
    if (!average) return b_.op(OpId::max_pool, m, {x});
    a.mode = dice_.below(2);
    a.input_zero = zero_of(type(x));
    a.output_zero = a.mode == 0 ? a.input_zero : zero_of(type(x));
    a.multiplier = static_cast<float>(real(0.3, 2));
    return b_.op(OpId::q_avg_pool, a, {x});
  }
  TensorId mean(TensorId x) {
    ops::q_reduce::Attrs a;
    a.axes[0] = 1, a.axes[1] = 2;
    a.axis_count = b_.desc(x).rank == 4 ? 2 : 1;
    a.kind = dice_.below(4);
    a.mode = dice_.below(2);
    a.input_zero = zero_of(type(x)), a.output_zero = zero_of(type(x));
    const double factor = real(0.05, 1.5);
    a.multiplier = ir::quantize_multiplier(factor).value, a.shift = ir::quantize_multiplier(factor).shift;
    a.real_multiplier = static_cast<float>(factor);
    return b_.op(OpId::q_reduce, a, {x});
  }
  TensorId table(TensorId x) {
    std::vector<uint8_t> entries(256);
    for (uint8_t& e : entries) e = static_cast<uint8_t>(dice_.raw());
    return b_.op(OpId::q_lut, ops::q_lut::Attrs{}, {x, vector(byte_type(), entries)});
  }
  TensorId scaled(TensorId x) {
    ops::requantize::Attrs a;
    a.to = static_cast<uint32_t>(byte_type());
    a.input_zero = zero_of(type(x)), a.output_zero = zero_of(static_cast<DType>(a.to));
    const double factor = real(0.2, 3);
    const ir::Multiplier m = ir::quantize_multiplier(factor);
    if (dice_.chance(50)) return b_.op(OpId::requantize, a, {x, vector(DType::f32, std::vector<float>{static_cast<float>(factor)})});
    return b_.op(OpId::requantize, a,
                 {x, vector(DType::s32, std::vector<int32_t>{m.value}), vector(DType::s32, std::vector<int32_t>{m.shift})});
  }
  TensorId joined(TensorId x) {
    if (2 * count(x) > kMostElements) return table(x);
    ops::q_concat::Attrs a;
    a.axis = dice_.between(0, b_.desc(x).rank - 1);
    a.mode = dice_.below(2);
    a.output_scale = 0.04f;
    a.output_zero = zero_of(type(x));
    const std::vector<float> scales = {dice_.chance(30) ? 0.04f : static_cast<float>(real(0.01, 0.1)), 0.03f};
    return b_.op(OpId::q_concat, a,
                 {vector(DType::f32, scales), vector(DType::s32, std::vector<int32_t>{a.output_zero, zero_of(type(x))}), x, like(x)});
  }
  TensorId softmax(TensorId x) {
    ops::q_softmax::Attrs a;
    a.multiplier = dice_.between(1 << 30, 0x7ffffffe);
    a.shift = dice_.between(20, 24);
    a.diff_min = -dice_.between(20, 255);
    return b_.op(OpId::q_softmax, a, {x});
  }

  TensorId step() {
    const TensorId x = dice_.chance(70) ? pool_.back() : any();
    if (count(x) == 0 || count(x) > kMostElements) return kAbsent;
    switch (dice_.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3: return conv(x, false);
      case 4:
      case 5: return conv(x, true);
      case 6: return matmul(x);
      case 7: return dynamic(x);
      case 8: return b_.op(dice_.chance(70) ? OpId::q_add : OpId::q_sub, binary(type(x)), {x, like(x)});
      case 9: return product(x);
      case 10: return pool(x, true);
      case 11: return pool(x, false);
      case 12: return mean(x);
      case 13: return scaled(x);
      case 14: return joined(x);
      default: return dice_.chance(50) ? table(x) : softmax(x);
    }
  }

  fuzz::Dice& dice_;
  emit::ProgramBuilder b_;
  std::vector<TensorId> pool_, shown_;
};

}  // namespace

bool make_program(fuzz::Dice& dice, emit::FileBytes* out, std::string* error) { return Maker(dice).run(out, error); }

}  // namespace mote::integers
