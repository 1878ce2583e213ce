#include "mote/compiler/driver/check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "mote/ops/op_docs.h"

namespace mote::driver {
namespace {

constexpr double kTolerance = 1e-4;      // of f32 outputs (DESIGN.md, Numbers)
constexpr double kHalfTolerance = 1e-2;  // of f16 and bf16 ones: their last bits differ with every order of summing
constexpr double kFault = 1e-2;          // beyond this a float output is wrong, not rounded differently
constexpr double kMostRounding = 0.25;   // what an example allows at most: more would prove nothing
constexpr double kSpread = 4;            // how many times further than inputs a rounding away an output may be off
constexpr uint64_t kSpreadRuns = 3;
constexpr uint64_t kSeed = 0x6d6f7465;

double tolerance_of(DType t) {
  if (!is_float(t)) return 0;
  return t == DType::f16 || t == DType::bf16 ? kHalfTolerance : kTolerance;
}

// How far kernels of other machines may be off: several times what two orders of the same sums already differ by. A power of ten, so that
// it does not depend on which machine compiles. Of quantized models a last bit that differs may grow through every layer.
double rounding_of(const Difference& d, DType t, bool quantized) {
  if (!is_float(t) || !d.same_type || d.specials_differ || d.largest_error == 0 || d.largest_expected == 0) return 0;
  if (!quantized && d.largest_error > kFault * d.largest_expected) return 0;
  return std::min(kMostRounding, std::pow(10.0, std::ceil(std::log10(8 * d.largest_error / d.largest_expected))));
}

// Inputs a rounding of 16-bit floats away (of their own type where the program has none of those): half of the elements move.
std::vector<Array> nudged(const std::vector<Array>& inputs, bool half, uint64_t seed) {
  std::vector<Array> out = inputs;
  Random random(seed);
  for (Array& a : out) {
    const uint64_t count = a.data.size() / std::max<size_t>(dtype_bytes(a.dtype), 1);
    for (uint64_t i = 0; is_float(a.dtype) && i < count; ++i) {
      if (random.next() >> 63 == 0) continue;
      uint8_t* low = a.data.data() + i * dtype_bytes(a.dtype);
      // The last bit of the fraction that counts: of f32 bit 13, which is the last one of f16 (of bf16 bit 16, but that is as f32's half).
      if (a.dtype == DType::f32 && half) low[1] ^= 0x20;
      else low[0] ^= 1;
    }
  }
  return out;
}

std::string text(double v) {
  char s[32];
  std::snprintf(s, sizeof s, "%.3g", v);
  return s;
}

class Checker {
 public:
  Checker(const Signature& signature, HostProgram* reference, HostProgram& program, bool quantized, bool own, CheckResult* out)
      : signature_(signature), reference_(reference), program_(program), quantized_(quantized), own_(own), out_(*out) {}

  // False when the inputs cannot be run: *why says it.
  bool add(Example e, std::string* why) {
    std::vector<Array> expected, found;
    if (!program_.run(e.method, e.inputs, &found, why)) return false;
    if (reference_ == nullptr) expected = found;
    else if (!reference_->run(e.method, e.inputs, &expected, why)) return false;
    e.outputs.resize(expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      Comparison c;
      c.method = e.method;
      c.example = out_.examples.size();
      c.output = signature_.methods[e.method].outputs[i].name;
      if (reference_ != nullptr) c.against = Comparison::Against::kUnoptimised;
      if (e.outputs[i].dtype != DType::kNone) expected[i] = e.outputs[i], c.against = Comparison::Against::kGiven;
      c.difference = difference(found[i], expected[i]);
      judge(e, i, c.difference, expected[i], found[i]);
      c.tolerance = static_cast<double>(e.tolerances.back());
      out_.compared.push_back(std::move(c));
    }
    out_.examples.push_back(std::move(e));
    return true;
  }

 private:
  void judge(Example& e, size_t i, const Difference& d, Array& expected, Array& found) {
    const std::string& name = signature_.methods[e.method].outputs[i].name;
    const double tolerance = tolerance_of(found.dtype);
    e.tolerances.push_back(static_cast<float>(std::max(tolerance, rounding_of(d, found.dtype, quantized_))));
    if (d.within(tolerance)) {
      e.outputs[i] = std::move(own_ ? found : expected);
      return;
    }
    const bool far = is_float(found.dtype) && d.same_type && !d.specials_differ && d.largest_error > kFault * d.largest_expected;
    bool wrong = !d.same_type || d.specials_differ || far;
    if (far && !quantized_ && reference_ != nullptr) {
      const double spread = spread_of(e, i);
      wrong = d.largest_error > kSpread * spread;
      const double relative = std::pow(10.0, std::ceil(std::log10(std::max(spread, d.largest_error) / d.largest_expected)));
      if (!wrong) e.tolerances.back() = static_cast<float>(std::min(kMostRounding, std::max(tolerance, relative)));
    }
    const std::string how = !d.same_type
                                ? "expected " + type_text(expected.dtype, expected.dims) + ", found " + type_text(found.dtype, found.dims)
                                : "largest error " + text(d.largest_error) + " of " + text(d.largest_expected);
    if (wrong && !quantized_) {
      out_.faults.push_back("output '" + name + "' is not what the model gives without optimisation: " + how);
    } else {
      out_.notes.push_back("output '" + name + "' rounds differently than the model does without optimisation (" + how +
                           "); the example holds the program's own result");
    }
    e.outputs[i] = std::move(found);
  }

  // How far the model's own output moves when its inputs do by a rounding: where that is much (a norm of values that are nearly equal, in
  // 16-bit floats), no output is more right than another.
  double spread_of(const Example& e, size_t output) {
    const Span<const TensorDesc> tensors = program_.program().table().tensors;
    bool half = false;
    for (size_t t = 0; t < tensors.size; ++t) half |= tensors[t].dtype == DType::f16 || tensors[t].dtype == DType::bf16;
    double most = 0;
    std::vector<Array> still;
    std::string why;
    if (!reference_->run(e.method, e.inputs, &still, &why)) return 0;
    for (uint64_t seed = 1; seed <= kSpreadRuns; ++seed) {
      std::vector<Array> moved;
      std::string ignored;
      if (!reference_->run(e.method, nudged(e.inputs, half, seed), &moved, &ignored)) continue;
      const Difference d = difference(moved[output], still[output]);
      if (d.same_type) most = std::max(most, d.largest_error);
    }
    return most;
  }

  const Signature& signature_;
  HostProgram* reference_;
  HostProgram& program_;
  bool quantized_, own_;
  CheckResult& out_;
};

// Sizes of open dimensions: first in the middle, then the largest, then the smallest. The middle may be one the model cannot take.
constexpr size_t kSamples[] = {2, 0, 1};

}  // namespace

bool is_quantized(Span<const Instruction> instructions) {
  return std::any_of(instructions.begin(), instructions.end(), [](const Instruction& n) {
    const OpDoc* doc = n.op < kFirstCustomOp ? find_op_doc(n.op) : nullptr;
    return doc != nullptr && (doc->name.compare(0, 2, "q_") == 0 || doc->name.find("quantize") != std::string::npos);
  });
}

bool make_examples(const Signature& signature, const GoldenOptions& options, HostProgram* reference, HostProgram& program, bool quantized,
                   bool own, CheckResult* out, std::string* error) {
  Checker checker(signature, reference, program, quantized, own, out);
  for (size_t i = 0; i < options.given.size(); ++i) {
    Example e;
    std::string why;
    if (!resolve_given(signature, options.given[i], &e, &why) || !checker.add(std::move(e), &why)) {
      *error = "golden example " + std::to_string(i + 1) + ": " + why;
      return false;
    }
  }
  if (!options.given.empty()) return true;
  for (uint32_t m = 0; m < signature.methods.size(); ++m) {
    for (int i = 0; i < options.count; ++i) {
      std::string why;
      bool done = false;
      for (size_t attempt = 0; attempt < std::size(kSamples) && !done; ++attempt) {
        const size_t sample = kSamples[(static_cast<size_t>(i) + attempt) % std::size(kSamples)];
        Example e;
        e.method = m;
        e.inputs = make_inputs(signature.methods[m], sample, kSeed + static_cast<uint64_t>(i));
        done = checker.add(std::move(e), &why);
      }
      if (!done) out->notes.push_back("no golden example: made-up inputs cannot be run (" + why + "); give some with --golden");
      if (!done) break;
    }
  }
  return true;
}

bool check_example(const Signature& signature, HostProgram& reference, HostProgram& program, bool quantized, Example e, CheckResult* out,
                   std::string* error) {
  return Checker(signature, &reference, program, quantized, false, out).add(std::move(e), error);
}

}  // namespace mote::driver
