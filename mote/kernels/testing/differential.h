#pragma once

// Differential tests: fast kernels against portable ones, with random operands.

#include <algorithm>
#include <random>
#include <set>

#include "mote/format/reader.h"
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
  // Sizes that exercise vector loops and tails.
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

// Where the harness gets kernels: from `select`, optionally wrapped so that they see three threads.
struct Source {
  kernels::SelectFn select = nullptr;
  bool threads = false;
  KernelFn kernel = nullptr;  // the last one selected
};
inline Source source;
// Operators that expect_close() found a fast kernel for.
inline std::set<uint16_t> ran_fast;

// Simulates three threads in one: executes the parts from the last to the first, each twice, the second time with the output inverted,
// which shows which bytes a part writes. No two parts of a loop may write the same byte, not even with the same value. Working memory (and
// other outputs, which Winograd's form uses as such) is restored between the two, because a part may accumulate into it.
class PartsOfThreads {
 public:
  PartsOfThreads(const OpContext& c, int first)
      : threads_{this, 3, &run_parts}, out_(static_cast<uint8_t*>(c.output(first).data)), bytes_(extent_bytes(*c.output(first).desc)) {
    others_.push_back({static_cast<uint8_t*>(c.scratch.data), c.scratch.size});
    for (int i = first + 1; i < c.output_count; ++i)
      if (c.has_output(i)) others_.push_back({static_cast<uint8_t*>(c.output(i).data), extent_bytes(*c.output(i).desc)});
  }
  const Threads* threads() const { return &threads_; }
  bool overlap() const { return overlap_; }

 private:
  struct Area {
    uint8_t* data;
    size_t size;
  };
  std::vector<uint8_t> others() const {
    std::vector<uint8_t> all;
    for (const Area& a : others_) all.insert(all.end(), a.data, a.data + a.size);
    return all;
  }
  void put_back(const std::vector<uint8_t>& all) {
    size_t at = 0;
    for (const Area& a : others_) {
      std::copy_n(all.data() + at, a.size, a.data);
      at += a.size;
    }
  }
  static void run_parts(void* self, uint32_t count, void (*body)(void*, uint32_t, uint32_t), void* context) {
    PartsOfThreads& p = *static_cast<PartsOfThreads*>(self);
    std::vector<uint8_t> written(p.bytes_), before, after;
    for (uint32_t i = count; i-- > 0;) {
      before.assign(p.out_, p.out_ + p.bytes_);
      const std::vector<uint8_t> others_before = p.others();
      body(context, i, i % 3);
      after.assign(p.out_, p.out_ + p.bytes_);
      const std::vector<uint8_t> others_after = p.others();
      for (size_t k = 0; k < p.bytes_; ++k) p.out_[k] = static_cast<uint8_t>(~before[k]);
      p.put_back(others_before);
      body(context, i, i % 3);
      for (size_t k = 0; k < p.bytes_; ++k) {
        const bool writes = p.out_[k] != static_cast<uint8_t>(~before[k]);
        p.overlap_ |= writes && written[k] != 0;
        written[k] |= static_cast<uint8_t>(writes);
        p.out_[k] = after[k];
      }
      p.put_back(others_after);
    }
  }
  Threads threads_;
  uint8_t* out_;
  size_t bytes_;
  std::vector<Area> others_;
  bool overlap_ = false;
};
inline Status run_shared(KernelFn kernel, const OpContext& alone) noexcept {
  int first = 0;  // optional outputs may be absent
  while (first < alone.output_count && !alone.has_output(first)) ++first;
  if (first == alone.output_count) return kernel(alone);
  PartsOfThreads parts(alone, first);
  OpContext shared = alone;
  shared.threads = parts.threads();
  const Status status = kernel(shared);
  EXPECT_FALSE(parts.overlap()) << "two threads write the same bytes";
  return status;
}

// Vectors of 32-bit Arm flush denormals to 0.
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
  return [](const OpContext& alone) noexcept { return run_shared(source.kernel, alone); };
}

// |fast - portable| <= tolerance * max(1, |portable|) for every element; the same bytes with threads. Every ISA variant must have a kernel
// for these operands, unless `fast` is false. Outputs from `compared` on are working memory.
template <class A>
void expect_close(OpId op, const A& attrs, const std::vector<Array>& inputs, double tolerance, const RunOptions& options = {},
                  bool fast = true, size_t compared = SIZE_MAX) {
  optest::fast_kernels = nullptr;
  const RunResult portable = optest::run(op, attrs, inputs, options);
  ASSERT_TRUE(portable.ok()) << portable.message();
  // Empty operands are dispatched to the portable kernel (core/dispatch.h).
  const auto is_empty = [](const Array& a) { return a.count() == 0; };
  const bool empty =
      std::any_of(inputs.begin(), inputs.end(), is_empty) || std::any_of(portable.outputs.begin(), portable.outputs.end(), is_empty);
  for (uint8_t i = 1; i < static_cast<uint8_t>(Isa::kCount); ++i) {
    const Isa isa = static_cast<Isa>(i);
    if (!kernels::can_run(isa, cpu_features())) continue;
    SCOPED_TRACE(kernels::isa_name(isa));
    source = {kernels::select_for(isa), false, nullptr};
    optest::fast_kernels = &select_from_source;
    const RunResult alone = optest::run(op, attrs, inputs, options);
    EXPECT_TRUE(source.kernel != nullptr || !fast || empty) << "no kernel for this";
    if (source.kernel != nullptr) ran_fast.insert(static_cast<uint16_t>(op));
    source.threads = true;
    const RunResult shared = optest::run(op, attrs, inputs, options);
    optest::fast_kernels = nullptr;
    ASSERT_TRUE(alone.ok() && shared.ok()) << alone.message() << shared.message();
    for (size_t o = 0; o < std::min(compared, alone.outputs.size()); ++o) {
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
