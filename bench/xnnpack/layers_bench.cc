// Every layer of MobileNetV2 by Mote's kernels and by XNNPACK, between marks that count.c counts: xnnpack_bench f32|int8 [ISA [KIND]]
// Prints one line for each layer: kind, shape, how often it occurs. The order of counts is Mote, XNNPACK for each layer. Results are
// compared, so that both do the same work; it fails when they differ.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

#include "bench/ops/call.h"
#include "bench/xnnpack/peer.h"
#include "mote/ops/common/activation.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"
#include "mote/platform/cpu.h"

namespace {

using namespace mote;
using bench::Call;
using bench::Layer;
using bench::Operand;

void mark_begin() { __asm__ volatile("hint #112" ::: "memory"); }
void mark_end() { __asm__ volatile("hint #120" ::: "memory"); }

std::mt19937 engine(7);
float draw() { return static_cast<float>(static_cast<int32_t>(engine() % 2001) - 1000) / 1000; }

// A convolution's or, for the classifier, a matrix product's operands: x, weights, more, y.
std::vector<Operand> operands_of(const Layer& l, DType type, Layout layout, const std::vector<Operand>& more) {
  const bool matrix = l.size == 1;
  std::vector<Operand> o;
  if (matrix) o = {{{1, l.channels}, type}, {{l.outputs, l.channels}, type, layout}};
  else o = {{{1, l.size, l.size, l.channels}, type}, {{l.outputs, l.kernel, l.kernel, l.channels / l.groups()}, type, layout}};
  o.insert(o.end(), more.begin(), more.end());
  if (matrix) o.push_back({{1, l.outputs}, type});
  else o.push_back({{1, l.output_size(), l.output_size(), l.outputs}, type});
  return o;
}

template <class A>
void set_window(const Layer& l, A* a) {
  for (int i = 0; i < 2; ++i) a->strides[i] = l.stride, a->pads_begin[i] = l.pad_begin(), a->pads_end[i] = l.pad_end();
  a->groups = l.groups();
}

template <class T>
void pack(const std::vector<T>& plain, int32_t n, DType type, Layout layout, uint8_t* to) {
  const uint32_t k_count = static_cast<uint32_t>(plain.size()) / static_cast<uint32_t>(n), group = panel_shape(layout, type).k_group;
  std::memset(to, 0, panel_bytes(layout, type, static_cast<uint32_t>(n), k_count));
  for (uint32_t i = 0; i < plain.size(); ++i) {
    const uint32_t k = i % k_count;
    std::memcpy(to + panel_offset(layout, type, i / k_count, k, k_count) + k % group * sizeof(T), &plain[i], sizeof(T));
  }
}

bool count(const Layer& l, const Call& call, kernels::Isa isa, bench::Peer* peer) {
  const KernelFn kernel = call.kernel(isa);
  if (kernel == nullptr || peer == nullptr)
    return std::fprintf(stderr, "%s %d: %s\n", l.kind, l.channels, kernel == nullptr ? "no fast kernel" : "XNNPACK refuses"), false;
  if (!kernel(call.context()).ok()) return false;
  mark_begin();
  const Status status = kernel(call.context());
  mark_end();
  peer->run();
  mark_begin();
  peer->run();
  mark_end();
  std::printf("%s %dx%d %d->%d /%d %d\n", l.kind, l.size, l.size, l.channels, l.outputs, l.stride, l.times);
  return status.ok();
}

size_t size_of(const Tensor& t) { return static_cast<size_t>(t.count()); }

bool run_f32(const Layer& l, kernels::Isa isa) {
  const std::vector<Operand> operands = operands_of(l, DType::f32, Layout::kPanel16, {{{l.outputs}}});
  ops::conv::Attrs conv;
  ops::matmul::Attrs matmul;
  set_window(l, &conv);
  matmul.transpose_b = 1;
  if (l.relu6()) conv.activation = static_cast<uint32_t>(ops::Activation::kRelu6);
  const Call call = l.size == 1 ? Call(OpId::matmul, matmul, operands, 0) : Call(OpId::conv, conv, operands, 0);
  const Tensor &x = call.context().input(0), &y = call.context().output(0);
  std::vector<float> weights(static_cast<size_t>(l.outputs * l.kernel * l.kernel * (l.channels / l.groups()))), theirs(size_of(y) + 64);
  std::vector<float> input(size_of(x) + 64);
  for (float& v : weights) v = draw();
  for (size_t i = 0; i < size_of(x); ++i) input[i] = x.as<float>()[i] = draw();
  for (int32_t i = 0; i < l.outputs; ++i) call.context().input(2).as<float>()[i] = draw();
  pack(weights, l.outputs, DType::f32, Layout::kPanel16, call.context().input(1).as<uint8_t>());
  const auto peer = bench::make_peer(l, input.data(), weights.data(), call.context().input(2).as<const float>(), theirs.data());
  if (!count(l, call, isa, peer.get())) return false;
  for (size_t i = 0; i < size_of(y); ++i)
    if (std::fabs(theirs[i] - y.as<float>()[i]) > 1e-3f)
      return std::fprintf(stderr, "output %zu: %g, XNNPACK %g\n", i, static_cast<double>(y.as<float>()[i]), static_cast<double>(theirs[i])),
             false;
  return true;
}

// A positive real number as TFLite's multiplier and shift.
void to_fixed(double real, int32_t* multiplier, int32_t* shift) {
  const double fraction = std::frexp(real, shift);
  *multiplier = static_cast<int32_t>(std::llround(fraction * 2147483648.0));
  if (*multiplier < 0) *multiplier = 1 << 30, ++*shift;
}

template <class A>
A with_scales(A a, const bench::Scales& s) {
  a.input_zero = s.input_zero, a.output_zero = s.output_zero;
  a.clamp_lo = s.lo, a.clamp_hi = s.hi;
  return a;
}

bool run_int8(const Layer& l, kernels::Isa isa) {
  // Behind ReLU6 the zero point is the least value, as in TFLite's models.
  const bool behind_relu = l.depthwise() || l.kind[0] == 'p';
  bench::Scales s{0.0235f, l.relu6() ? 0.0235f : 0.09f, behind_relu ? -128 : 3, l.relu6() ? -128 : 3, -128, 127, {}};
  for (int32_t i = 0; i < l.outputs; ++i) s.weights.push_back(l.size == 1 ? 0.004f : 0.004f + 0.0003f * static_cast<float>(i % 7));
  const std::vector<Operand> operands =
      operands_of(l, DType::s8, Layout::kPanel16k4, {{{l.outputs}, DType::s32}, {{l.outputs}, DType::s32}, {{l.outputs}, DType::s32}});
  ops::q_conv::Attrs conv;
  set_window(l, &conv);
  const Call call = l.size == 1 ? Call(OpId::q_matmul, with_scales(ops::q_matmul::Attrs{}, s), operands, 0)
                                : Call(OpId::q_conv, with_scales(conv, s), operands, 0);
  const OpContext& c = call.context();
  const Tensor &x = c.input(0), &y = c.output(0);
  std::vector<int8_t> weights(static_cast<size_t>(l.outputs * l.kernel * l.kernel * (l.channels / l.groups()))), theirs(size_of(y) + 64);
  std::vector<int8_t> input(size_of(x) + 64);
  for (int8_t& v : weights) v = static_cast<int8_t>(static_cast<int32_t>(engine() % 255) - 127);
  for (size_t i = 0; i < size_of(x); ++i) input[i] = x.as<int8_t>()[i] = static_cast<int8_t>(engine());
  for (int32_t i = 0; i < l.outputs; ++i) {
    c.input(2).as<int32_t>()[i] = static_cast<int32_t>(engine() % 2001) - 1000;
    to_fixed(static_cast<double>(s.input) * static_cast<double>(s.weights[static_cast<size_t>(i)]) / static_cast<double>(s.output),
             c.input(3).as<int32_t>() + i, c.input(4).as<int32_t>() + i);
  }
  pack(weights, l.outputs, DType::s8, Layout::kPanel16k4, c.input(1).as<uint8_t>());
  const auto peer = bench::make_peer(l, s, input.data(), weights.data(), c.input(2).as<const int32_t>(), theirs.data());
  if (!count(l, call, isa, peer.get())) return false;
  for (size_t i = 0; i < size_of(y); ++i)
    if (std::abs(theirs[i] - y.as<int8_t>()[i]) > 1)
      return std::fprintf(stderr, "output %zu: %d, XNNPACK %d\n", i, y.as<int8_t>()[i], theirs[i]), false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string type = argc > 1 ? argv[1] : "";
  if (argc > 4 || (type != "f32" && type != "int8")) return std::fprintf(stderr, "usage: xnnpack_bench f32|int8 [ISA [KIND]]\n"), 2;
  kernels::Isa isa = kernels::best_isa(cpu_features());
  for (uint8_t i = 1; argc > 2 && i < static_cast<uint8_t>(kernels::Isa::kCount); ++i)
    if (std::strcmp(argv[2], kernels::isa_name(static_cast<kernels::Isa>(i))) == 0) isa = static_cast<kernels::Isa>(i);
  std::printf("isa %s\n", kernels::isa_name(isa));
  for (const Layer& l : bench::mobilenet_v2()) {
    if (argc > 3 && std::strcmp(argv[3], l.kind) != 0) continue;
    if (!(type == "f32" ? run_f32(l, isa) : run_int8(l, isa))) return std::fprintf(stderr, "%s %d failed\n", l.kind, l.size), 1;
  }
  return 0;
}
