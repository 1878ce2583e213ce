// Single kernels against the arithmetic peak of this core: ops_bench [ISA ...]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include "bench/ops/families.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"
#include "mote/platform/cpu.h"

namespace {

using namespace mote;
using bench::Call;
using Clock = std::chrono::steady_clock;

template <class F>
double seconds(const F& f) {
  const auto start = Clock::now();
  f();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Goes over as much memory as a call must, as fast as this core can.
class Traffic {
 public:
  explicit Traffic(const Call& call) : in_(blocks(call.input_bytes())), out_(blocks(call.output_bytes())), memory_(in_ + out_ + 64) {
    from_ = memory_.data() + (64 - reinterpret_cast<uintptr_t>(memory_.data()) % 64);
  }
  void run(const kernels::Probes& probes, float* sink) const {
    const uint64_t both = in_ < out_ ? in_ : out_;
    probes.copy(from_, from_ + in_, both);
    if (in_ > both) probes.read(from_ + both, in_ - both, sink);
    if (out_ > both) probes.write(from_ + in_ + both, out_ - both);
  }

 private:
  static uint64_t blocks(uint64_t bytes) { return (bytes + kernels::kProbeBlock - 1) / kernels::kProbeBlock * kernels::kProbeBlock; }
  uint64_t in_, out_;
  std::vector<uint8_t> memory_;
  uint8_t* from_;
};

// Best times of a call, of its traffic, and the best arithmetic rate, taken in turns.
struct Times {
  double call = 1e30, traffic = 1e30, peak = 0;
};

bool take_times(const Call& call, KernelFn kernel, const kernels::Probes& probes, Times* t) {
  const auto probe = call.integer() ? probes.dot_s8 : probes.fma_f32;
  const Traffic traffic(call);
  const double bytes = static_cast<double>(call.input_bytes() + call.output_bytes());
  const int repeats = static_cast<int>(2e7 / (call.operations + 2 * bytes)) + 1;
  float sink[3] = {1, 0.999f, 0.001f};
  for (int round = 0; round < 60; ++round) {
    uint64_t operations = 0;
    const double time_of_probe = seconds([&] { operations = probe(4000, sink); });
    t->peak = std::max(t->peak, static_cast<double>(operations) / time_of_probe);
    bool ok = true;
    t->call = std::min(t->call, seconds([&] {
                                  for (int i = 0; i < repeats && ok; ++i) ok = kernel(call.context()).ok();
                                }) / repeats);
    if (!ok) return false;
    t->traffic = std::min(t->traffic, seconds([&] {
                                        for (int i = 0; i < repeats; ++i) traffic.run(probes, sink);
                                      }) / repeats);
  }
  return true;
}

const char* only = nullptr;  // part of the names of what is measured

// The roofline of a product is its arithmetic; others may be held back by memory (`memory`).
void measure(const std::string& name, const Call& call, kernels::Isa isa, bool memory = false) {
  if (only != nullptr && name.find(only) == std::string::npos) return;
  const KernelFn kernel = call.kernel(isa);
  const kernels::Probes probes = kernels::probes_for(isa);
  Times t;
  if (kernel == nullptr || probes.fma_f32 == nullptr || !take_times(call, kernel, probes, &t)) {
    std::printf("%-10s %-34s no fast kernel\n", kernels::isa_name(isa), name.c_str());
    return;
  }
  const double arithmetic = call.operations / t.peak;
  const bool by_memory = memory && t.traffic > arithmetic;
  std::printf("%-10s %-34s %8.1f %s of %6.1f  %5.1f %% of %s\n", kernels::isa_name(isa), name.c_str(), call.operations / t.call / 1e9,
              call.integer() ? "GOP/s  " : "GFLOP/s", t.peak / 1e9, 100 * (by_memory ? t.traffic : arithmetic) / t.call,
              by_memory ? "memory" : "arithmetic");
}

Call matmul(int32_t m, int32_t n, int32_t k) {
  ops::matmul::Attrs a;
  a.transpose_b = 1;
  return Call(OpId::matmul, a, {{{m, k}}, {{n, k}, DType::f32, Layout::kPanel16}, {{m, n}}}, 2.0 * m * n * k);
}

// Sums scaled back to 8 bits by one float.
Call q_matmul(int32_t m, int32_t n, int32_t k) {
  return Call(
      OpId::q_matmul, ops::q_matmul::Attrs{},
      {{{m, k}, DType::u8}, {{n, k}, DType::s8, Layout::kPanel16k4Pairs}, {{n}, DType::s32}, {{1}, DType::f32}, {{m, n}, DType::u8}},
      2.0 * m * n * k);
}

template <class A>
Call any_conv(OpId op, A a, int32_t size, int32_t channels, int32_t outputs, int32_t kernel, int32_t groups) {
  for (int i = 0; i < 2; ++i) a.pads_begin[i] = a.pads_end[i] = kernel / 2;
  a.groups = groups;
  const bool integer = op == OpId::q_conv;
  const DType type = integer ? DType::u8 : DType::f32, weights = integer ? DType::s8 : DType::f32;
  std::vector<bench::Operand> operands = {
      {{1, size, size, channels}, type},
      {{outputs, kernel, kernel, channels / groups}, weights, integer ? Layout::kPanel16k4Pairs : Layout::kPanel16}};
  if (integer) operands.insert(operands.end(), {{{outputs}, DType::s32}, {{1}, DType::f32}});
  operands.push_back({{1, size, size, outputs}, type});
  return Call(op, a, operands, 2.0 * kernel * kernel * channels / groups * size * size * outputs);
}
Call conv(int32_t size, int32_t channels, int32_t outputs, int32_t kernel, int32_t groups = 1) {
  return any_conv(OpId::conv, ops::conv::Attrs{}, size, channels, outputs, kernel, groups);
}
Call q_conv(int32_t size, int32_t channels, int32_t outputs, int32_t kernel, int32_t groups = 1) {
  return any_conv(OpId::q_conv, ops::q_conv::Attrs{}, size, channels, outputs, kernel, groups);
}

void measure_floats(kernels::Isa isa) {
  measure("matmul 48 x 64 x 128", matmul(48, 64, 128), isa);
  measure("matmul 196 x 256 x 256", matmul(196, 256, 256), isa);
  measure("matmul 49 x 320 x 960", matmul(49, 320, 960), isa);
  measure("matmul 128 x 384 x 384", matmul(128, 384, 384), isa);
  measure("matmul 1 x 256 x 784", matmul(1, 256, 784), isa);
  measure("conv 1x1 28x28 32 -> 192", conv(28, 32, 192, 1), isa);
  measure("conv 1x1 56x56 16 -> 96", conv(56, 16, 96, 1), isa);
  measure("conv 3x3 28x28 64 -> 64", conv(28, 64, 64, 3), isa);
  measure("conv 3x3 14x14 128 -> 128", conv(14, 128, 128, 3), isa);
  measure("depthwise 3x3 28x28 192", conv(28, 192, 192, 3, 192), isa);
  measure("depthwise 5x5 14x14 240", conv(14, 240, 240, 5, 240), isa);
}

void measure_integers(kernels::Isa isa) {
  measure("q_matmul 48 x 64 x 128", q_matmul(48, 64, 128), isa);
  measure("q_matmul 196 x 256 x 256", q_matmul(196, 256, 256), isa);
  measure("q_matmul 49 x 320 x 960", q_matmul(49, 320, 960), isa);
  measure("q_matmul 128 x 384 x 384", q_matmul(128, 384, 384), isa);
  measure("q_matmul 1 x 256 x 784", q_matmul(1, 256, 784), isa);
  measure("q_conv 1x1 28x28 32 -> 192", q_conv(28, 32, 192, 1), isa);
  measure("q_conv 1x1 56x56 16 -> 96", q_conv(56, 16, 96, 1), isa);
  measure("q_conv 1x1 56x56 144 -> 24", q_conv(56, 144, 24, 1), isa);
  measure("q_conv 1x1 28x28 192 -> 32", q_conv(28, 192, 32, 1), isa);
  measure("q_conv 1x1 14x14 96 -> 576", q_conv(14, 96, 576, 1), isa);
  measure("q_conv 1x1 14x14 576 -> 96", q_conv(14, 576, 96, 1), isa);
  measure("q_conv 3x3 28x28 64 -> 64", q_conv(28, 64, 64, 3), isa);
  measure("q_conv 3x3 14x14 128 -> 128", q_conv(14, 128, 128, 3), isa);
  measure("q_conv 3x3 56x56 3 -> 32", q_conv(56, 3, 32, 3), isa);
  measure("q_conv 1x1 7x7 160 -> 960", q_conv(7, 160, 960, 1), isa);
  measure("q_conv depthwise 3x3 28x28 192", q_conv(28, 192, 192, 3, 192), isa);
  measure("q_conv depthwise 5x5 14x14 240", q_conv(14, 240, 240, 5, 240), isa);
}

}  // namespace

// ops_bench [ISA ...] [--only PART_OF_A_NAME]
int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[argc - 2], "--only") == 0) {
    only = argv[argc - 1];
    argc -= 2;
  }
  for (uint8_t i = 1; i < static_cast<uint8_t>(kernels::Isa::kCount); ++i) {
    const auto isa = static_cast<kernels::Isa>(i);
    bool wanted = argc == 1;
    for (int k = 1; k < argc; ++k) wanted |= std::strcmp(argv[k], kernels::isa_name(isa)) == 0;
    if (!wanted || !kernels::can_run(isa, cpu_features())) continue;
    measure_floats(isa);
    measure_integers(isa);
    bench::each_family([&](const char* name, const Call& call) { measure(name, call, isa, true); });
  }
  return 0;
}
