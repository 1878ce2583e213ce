#pragma once

// Runs one operator the way the runtime does, and compares it with an oracle.
//
// run() infers the outputs, allocates them between guard bytes, runs the kernel on dense tensors, and again with gaps between the
// rows of every input and output of rank 2 or more, and again without the optional outputs; the results must agree and nothing
// outside the tensors may change.
// Each run is entered into a ledger, from which the coverage check at the end of the test program tells what was never tried.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "mote/core/op.h"
#include "mote/ops/op_id.h"
#include "mote/ops/testing/array.h"

namespace mote::optest {

struct RunResult {
  Status status;
  Diagnostic diagnostic;
  std::vector<Array> outputs;
  bool ok() const { return status.ok(); }
  std::string message() const;
};

struct RunOptions {
  int outputs = 1;
  std::vector<Shape> bounds;  // upper bounds of outputs whose size depends on data; empty: inferred
  bool in_place = false;      // also run with output 0 on input 0's bytes
  Rows rows;
};

// Kernels that run() asks for before the portable ones; null: none. Set once, before the tests.
extern KernelFn (*fast_kernels)(uint16_t op, const OpContext&) noexcept;

// Told of every run that went well, with what the operator gave; null: nobody. Set once, before the tests.
extern void (*on_case)(OpId op, const void* attrs, size_t attrs_bytes, const std::vector<Array>& inputs, const RunOptions& options,
                       const std::vector<Array>& outputs);

RunResult run_bytes(OpId op, const void* attrs, size_t attrs_bytes, const std::vector<Array>& inputs, const RunOptions& options);

template <class A>
RunResult run(OpId op, const A& attrs, const std::vector<Array>& inputs, const RunOptions& options = {}) {
  return run_bytes(op, &attrs, attrs_size<A>, inputs, options);
}
template <class A>
RunResult run(OpId op, const A& attrs, const std::vector<Array>& inputs, int outputs) {
  RunOptions options;
  options.outputs = outputs;
  return run_bytes(op, &attrs, attrs_size<A>, inputs, options);
}

// Runs an operator on elements under two shapes that make no difference to it (dimensions of 1, for instance): the outputs must have
// the same bytes. For ranks that other tests do not reach.
template <class A>
void expect_same_elements(OpId op, const A& attrs, const std::vector<Array>& inputs, const A& other_attrs, const std::vector<Array>& others,
                          const RunOptions& options = {}, const RunOptions& other_options = {}) {
  const RunResult a = run(op, attrs, inputs, options), b = run(op, other_attrs, others, other_options);
  ASSERT_TRUE(a.ok()) << a.message();
  ASSERT_TRUE(b.ok()) << b.message();
  for (size_t o = 0; o < a.outputs.size(); ++o) EXPECT_EQ(a.outputs[o].bytes(), b.outputs[o].bytes()) << "output " << o;
}

// What infer() says of the outputs while the values of the `hidden` inputs cannot be read, as at compile time.
Status infer_bytes(OpId op, const void* attrs, const std::vector<Array>& inputs, const std::vector<size_t>& hidden,
                   std::vector<TensorType>* outputs);

// The element types of a list, as values.
template <class... Ts>
std::vector<DType> types_of(TypeList<Ts...>) {
  return {dtype_of<Ts>...};
}

// Relative tolerance that fits a type: about four units in the last place for f32 and f64, one for f16 and bf16, 0 for integers.
double tolerance_of(DType type);
// |a - b| <= tolerance * max(1, |b|), NaN equals NaN, infinities equal themselves.
bool close(double a, double b, double tolerance);

void expect_values(const Array& actual, const std::vector<double>& expected, double tolerance = -1);
void expect_shape(const Array& actual, const Shape& shape);
// Compares every element with oracle(index). `scale` widens the tolerance for long sums. The expected value is rounded to the type first.
void expect_oracle(const Array& actual, const std::function<double(const Shape&)>& oracle, double scale = 1);

}  // namespace mote::optest
