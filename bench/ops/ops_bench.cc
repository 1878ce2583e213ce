// Single kernels against the arithmetic peak of this core: ops_bench [ISA ...]

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "mote/core/layout.h"
#include "mote/kernels/select.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/op_id.h"
#include "mote/platform/cpu.h"

namespace {

using namespace mote;
using Clock = std::chrono::steady_clock;

struct Operand {
  std::vector<int32_t> dims;
  Layout layout = Layout::kPlain;
};

// One operator with its memory, ready to be called.
class Call {
 public:
  template <class A>
  Call(OpId op, const A& attrs, const std::vector<Operand>& operands, double work) : flops(work), op_(op), attrs_(sizeof attrs / 4 + 1) {
    std::memcpy(attrs_.data(), &attrs, sizeof attrs);
    descs_.resize(operands.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      TensorDesc& d = descs_[i];
      d.dtype = DType::f32;
      d.rank = static_cast<uint8_t>(operands[i].dims.size());
      d.layout = operands[i].layout;
      std::memcpy(d.dims, operands[i].dims.data(), d.rank * sizeof(int32_t));
      set_dense_strides(d);
      memory_.emplace_back(
          static_cast<size_t>(element_count(d)) + 16 * static_cast<size_t>(d.rank > 1 ? element_count(d) / d.dims[0] : 1) + 32, 0.5f);
      float* at = memory_.back().data();
      while (reinterpret_cast<uintptr_t>(at) % 64 != 0) ++at;
      tensors_.push_back({&d, at});
      numbers_.push_back(static_cast<int32_t>(i));
    }
    context_.tensors = tensors_.data();
    context_.operands = numbers_.data();
    context_.attr_bytes = attrs_.data();
    context_.bounds = descs_.data();
    context_.input_count = static_cast<uint16_t>(operands.size() - 1);
    context_.output_count = 1;
  }
  KernelFn kernel(kernels::Isa isa) const { return kernels::select_for(isa)(static_cast<uint16_t>(op_), context_); }
  const OpContext& context() const { return context_; }
  double flops;

 private:
  OpId op_;
  std::vector<uint32_t> attrs_;
  std::vector<TensorDesc> descs_;
  std::vector<std::vector<float>> memory_;
  std::vector<Tensor> tensors_;
  std::vector<int32_t> numbers_;
  OpContext context_;
};

template <class F>
double seconds(const F& f) {
  const auto start = Clock::now();
  f();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void measure(const std::string& name, const Call& call, kernels::Isa isa) {
  const KernelFn kernel = call.kernel(isa);
  if (kernel == nullptr) {
    std::printf("%-10s %-34s no fast kernel\n", kernels::isa_name(isa), name.c_str());
    return;
  }
  double best = 1e30, peak = 0;
  const int repeats = static_cast<int>(2e7 / call.flops) + 1;
  float sink[3] = {1, 0.999f, 0.001f};
  for (int round = 0; round < 25; ++round) {
    uint64_t operations = 0;
    const double probe = seconds([&] { operations = kernels::probe_fma_for(isa)(4000, sink); });
    if (static_cast<double>(operations) / probe > peak) peak = static_cast<double>(operations) / probe;
    Status status = Status::kOk;
    const double time = seconds([&] {
      for (int i = 0; i < repeats && status.ok(); ++i) status = kernel(call.context());
    });
    if (!status.ok()) return;
    if (time / repeats < best) best = time / repeats;
  }
  std::printf("%-10s %-34s %8.1f GFLOP/s of %6.1f  %5.1f %%\n", kernels::isa_name(isa), name.c_str(), call.flops / best / 1e9, peak / 1e9,
              100 * call.flops / best / peak);
}

Call matmul(int32_t m, int32_t n, int32_t k) {
  ops::matmul::Attrs a;
  a.transpose_b = 1;
  return Call(OpId::matmul, a, {{{m, k}}, {{n, k}, Layout::kPanel16}, {{m, n}}}, 2.0 * m * n * k);
}

Call conv(int32_t size, int32_t channels, int32_t outputs, int32_t kernel, int32_t groups = 1) {
  ops::conv::Attrs a;
  for (int i = 0; i < 2; ++i) a.pads_begin[i] = a.pads_end[i] = kernel / 2;
  a.groups = groups;
  const double per_output = 2.0 * kernel * kernel * channels / groups;
  return Call(OpId::conv, a,
              {{{1, size, size, channels}}, {{outputs, kernel, kernel, channels / groups}, Layout::kPanel16}, {{1, size, size, outputs}}},
              per_output * size * size * outputs);
}

}  // namespace

int main(int argc, char** argv) {
  for (uint8_t i = 1; i < static_cast<uint8_t>(kernels::Isa::kCount); ++i) {
    const auto isa = static_cast<kernels::Isa>(i);
    bool wanted = argc == 1;
    for (int k = 1; k < argc; ++k) wanted |= std::strcmp(argv[k], kernels::isa_name(isa)) == 0;
    if (!wanted || !kernels::can_run(isa, cpu_features())) continue;
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
  return 0;
}
