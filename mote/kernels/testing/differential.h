#pragma once

// Fast kernels against portable ones, over operands drawn at random.

#include <random>

#include "mote/kernels/select.h"
#include "mote/ops/testing/harness.h"
#include "mote/platform/cpu.h"

namespace mote::kerneltest {

using kernels::Isa;
using optest::Array;
using optest::RunOptions;
using optest::RunResult;
using optest::Shape;

class Draw {
 public:
  explicit Draw(uint32_t seed) : engine_(seed) {}
  int32_t in(int32_t lo, int32_t hi) { return static_cast<int32_t>(lo + static_cast<int64_t>(engine_() % (int64_t{hi} - lo + 1))); }
  bool one_in(int32_t n) { return in(1, n) == 1; }
  uint32_t seed() { return engine_(); }
  // Sizes that reach vector bodies and tails.
  int32_t size() { return one_in(3) ? in(1, 4) : one_in(2) ? in(5, 40) : in(41, 150); }
  Shape shape(int32_t rank) {
    Shape s;
    for (int32_t i = 0; i < rank; ++i) s.push_back(i + 1 < rank && rank > 1 ? in(1, 6) : size());
    return s;
  }
  Array f32(const Shape& shape, double lo = -4, double hi = 4) { return Array::random(DType::f32, shape, seed(), lo, hi); }

 private:
  std::mt19937 engine_;
};

// What the harness asks for kernels: those of `select`, perhaps wrapped so that they see three threads.
struct Source {
  kernels::SelectFn select = nullptr;
  bool threads = false;
  KernelFn kernel = nullptr;  // the last one asked for
};
inline Source source;

// Three threads, in whose place one runs the parts from the last to the first.
inline void run_backwards(void*, uint32_t count, void (*body)(void*, uint32_t, uint32_t), void* context) {
  for (uint32_t i = count; i-- > 0;) body(context, i, i % 3);
}
inline constexpr Threads kThreads{nullptr, 3, &run_backwards};

// Vectors of 32-bit Arm take denormals for 0.
#if defined(__arm__)
inline constexpr double kLeast = 1.2e-38;
#else
inline constexpr double kLeast = 0;
#endif
inline bool near(double value, double expected, double tolerance) {
  return optest::close(value, expected, tolerance) || (value > expected ? value - expected : expected - value) < kLeast;
}

inline KernelFn select_from_source(uint16_t op, const OpContext& c) noexcept {
  source.kernel = source.select(op, c);
  if (source.kernel == nullptr || !source.threads) return source.kernel;
  return [](const OpContext& alone) noexcept {
    OpContext shared = alone;
    shared.threads = &kThreads;
    return source.kernel(shared);
  };
}

// |fast - portable| <= tolerance * max(1, |portable|) for every element; the same bytes with threads. All instruction sets must have
// a kernel for this unless `fast` is false.
template <class A>
void expect_close(OpId op, const A& attrs, const std::vector<Array>& inputs, double tolerance, const RunOptions& options = {},
                  bool fast = true) {
  optest::fast_kernels = nullptr;
  const RunResult portable = optest::run(op, attrs, inputs, options);
  ASSERT_TRUE(portable.ok()) << portable.message();
  for (uint8_t i = 1; i < static_cast<uint8_t>(Isa::kCount); ++i) {
    const Isa isa = static_cast<Isa>(i);
    if (!kernels::can_run(isa, cpu_features())) continue;
    SCOPED_TRACE(kernels::isa_name(isa));
    source = {kernels::select_for(isa), false, nullptr};
    optest::fast_kernels = &select_from_source;
    const RunResult alone = optest::run(op, attrs, inputs, options);
    EXPECT_TRUE(source.kernel != nullptr || !fast) << "no kernel for this";
    source.threads = true;
    const RunResult shared = optest::run(op, attrs, inputs, options);
    optest::fast_kernels = nullptr;
    ASSERT_TRUE(alone.ok() && shared.ok()) << alone.message() << shared.message();
    for (size_t o = 0; o < alone.outputs.size(); ++o) {
      const Array &y = alone.outputs[o], &expected = portable.outputs[o];
      ASSERT_EQ(y.shape(), expected.shape());
      ASSERT_EQ(y.bytes(), shared.outputs[o].bytes()) << "threads change output " << o;
      if (y.bytes() == expected.bytes()) continue;
      for (int64_t k = 0; k < y.count(); ++k)
        ASSERT_TRUE(near(y.get(k), expected.get(k), tolerance))
            << "output " << o << "[" << k << "]: " << y.get(k) << " for " << expected.get(k);
    }
  }
}
// The same bytes.
template <class A>
void expect_equal(OpId op, const A& attrs, const std::vector<Array>& inputs, const RunOptions& options = {}, bool fast = true) {
  expect_close(op, attrs, inputs, 0, options, fast);
}

// Calls test(Draw) with many seeds until one fails.
template <class F>
void many(uint32_t count, const F& test) {
  for (uint32_t seed = 1; seed <= count; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Draw d(seed);
    test(d);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace mote::kerneltest
