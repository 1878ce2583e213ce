#pragma once

// How an operator presents itself: its attributes, what it says of its outputs, and the kernel it picks.
// Everything here is freestanding; nothing allocates.

#include <tuple>
#include <type_traits>

#include "mote/core/status.h"
#include "mote/core/tensor.h"

namespace mote {

struct OpContext;

// Working memory of one instruction: base + threads * per_thread bytes, the same for every ISA.
struct Scratch {
  uint32_t base = 0;
  uint32_t per_thread = 0;
};

// Facts about an operator that tools, tests and the verifier read.
enum OpFlags : uint16_t {
  kElementwise = 1 << 0,    // output i may be written over input i's bytes when shape, type width and strides agree
  kRowRange = 1 << 1,       // can compute a range of output rows (strips), reading ring-buffered rows
  kDataDependent = 1 << 2,  // output sizes depend on values; the kernel sets them
  kCommutative = 1 << 3,    // input 0 and 1 may be exchanged
  kIntegerExact = 1 << 4,   // same bits on every CPU
  kView = 1 << 5,           // the output is the input's bytes under another shape; may share them wholly
  kStateUpdate = 1 << 6,    // output 0 is input 0 updated in place: they may be, and usually are, the same bytes
  kPackedWeights = 1 << 7,  // input 1 may have a panel layout
};

constexpr uint8_t kVariadic = 255;

// Operands in a mask of 8 bits; the last bit stands for all operands from there on.
constexpr uint8_t operand_bit(uint32_t i) { return static_cast<uint8_t>(1u << (i < 7 ? i : 7)); }

// Which outputs a signature marks with '?', as operand bits. "y?..." is any number of them.
constexpr uint8_t optional_outputs(const char* signature) {
  uint32_t mask = 0, output = 0;
  bool behind_arrow = false;
  for (const char* s = signature; *s != 0; ++s) {
    if (s[0] == '-' && s[1] == '>') behind_arrow = true;
    if (!behind_arrow) continue;
    if (*s == ',') ++output;
    if (*s == '?') mask |= s[1] == '.' ? 256u - operand_bit(output) : operand_bit(output);
  }
  return static_cast<uint8_t>(mask);
}

class OpInfo {
 public:
  constexpr explicit OpInfo(const char* summary) : summary_(summary) {}
  constexpr OpInfo inputs(uint8_t least, uint8_t most) const {
    OpInfo r = *this;
    r.min_in_ = least;
    r.max_in_ = most;
    return r;
  }
  constexpr OpInfo inputs(uint8_t n) const { return inputs(n, n); }
  constexpr OpInfo outputs(uint8_t least, uint8_t most) const {
    OpInfo r = *this;
    r.min_out_ = least;
    r.max_out_ = most;
    return r;
  }
  constexpr OpInfo outputs(uint8_t n) const { return outputs(n, n); }
  // Element types that operand `of` may have: input number, or kOfOutput for output 0.
  constexpr OpInfo types(DTypeMask mask, uint8_t of = 0) const {
    OpInfo r = *this;
    r.types_ = mask;
    r.types_of_ = of;
    return r;
  }
  constexpr OpInfo flags(uint16_t f) const {
    OpInfo r = *this;
    r.flags_ = f;
    return r;
  }
  // Working memory: a function `Scratch scratch(const OpContext&) noexcept` that depends on shapes, types and attributes alone.
  constexpr OpInfo scratch(Scratch (*f)(const OpContext&) noexcept) const {
    OpInfo r = *this;
    r.scratch_ = f;
    return r;
  }
  // The ATen operator with the same meaning, e.g. "aten::relu.out".
  constexpr OpInfo aten(const char* name) const {
    OpInfo r = *this;
    r.aten_ = name;
    return r;
  }
  // The ONNX operators a front end maps here, for the reference.
  constexpr OpInfo onnx(const char* names) const {
    OpInfo r = *this;
    r.onnx_ = names;
    return r;
  }
  // Names of inputs and outputs, "x, weights, bias? -> y, indices?". An output with '?' may be absent (operand -1): infer() describes it
  // all the same, kernels ask has_output(). At least one output is always there.
  constexpr OpInfo signature(const char* s) const {
    OpInfo r = *this;
    r.signature_ = s;
    r.optional_out_ = optional_outputs(s);
    return r;
  }
  // Ranks that the operand of types() may have; 0 to kMaxRank unless stated otherwise. For the reference and the tests, which hold it.
  constexpr OpInfo ranks(uint8_t least, uint8_t most) const {
    OpInfo r = *this;
    r.min_rank_ = least;
    r.max_rank_ = most;
    return r;
  }
  // Inputs that kernels read row by row and that may be ring-buffered in a strip, as operand bits; input 0 unless stated otherwise.
  // Of element-wise operators: all.
  constexpr OpInfo rings(uint8_t mask) const {
    OpInfo r = *this;
    r.ring_in_ = mask;
    return r;
  }

  const char* summary_;
  const char* aten_ = "";
  const char* onnx_ = "";
  const char* signature_ = "";
  Scratch (*scratch_)(const OpContext&) noexcept = nullptr;
  DTypeMask types_ = 0;
  uint16_t flags_ = 0;
  uint8_t types_of_ = 0;
  uint8_t min_in_ = 1, max_in_ = 1, min_out_ = 1, max_out_ = 1;
  uint8_t optional_out_ = 0, ring_in_ = 1;
  uint8_t min_rank_ = 0, max_rank_ = kMaxRank;
};
constexpr uint8_t kOfOutput = 128;

// A named, documented member of an attribute struct. Members are (arrays of) int32_t, uint32_t, float, or narrower integers.
template <class S, class T>
struct AttrField {
  const char* name;
  T S::*member;
  const char* doc;
};
template <class S, class T>
constexpr AttrField<S, T> attr(const char* name, T S::*member, const char* doc) {
  return {name, member, doc};
}

// Attributes of an operator that has none.
struct NoAttrs {};
template <class A>
constexpr uint16_t attrs_size = std::is_empty_v<A> ? 0 : static_cast<uint16_t>(sizeof(A));

// Rows of the output (dimension 1) that a call shall compute. `all()` outside of strips.
struct Rows {
  int32_t begin = 0;
  int32_t end = 0x7fffffff;
  constexpr bool all() const { return begin == 0 && end == 0x7fffffff; }
};

// Threads the caller lends. `parallel_for` calls body(context, i) once for every i in [0, count), on any of its threads, and
// returns when all are done. Kernels use it only for work that may be split that way.
struct Threads {
  void* self = nullptr;
  uint32_t count = 1;
  void (*parallel_for)(void* self, uint32_t count, void (*body)(void* context, uint32_t index, uint32_t thread), void* context) = nullptr;
};

// One instruction's view of the world: operands, attributes, memory.
struct OpContext {
  const Tensor* tensors = nullptr;    // of the instance
  const int32_t* operands = nullptr;  // inputs, then outputs; -1 is an absent optional one
  const void* attr_bytes = nullptr;
  const TensorDesc* bounds = nullptr;  // descriptors as planned; actual sizes never exceed them
  uint16_t input_count = 0;
  uint16_t output_count = 0;
  Rows rows;
  ByteSpan scratch;                  // at least what the operator's scratch() asked for, 16-byte aligned
  const Threads* threads = nullptr;  // null: single-threaded

  bool has_input(int i) const { return i < input_count && operands[i] >= 0; }
  const Tensor& input(int i) const { return tensors[operands[i]]; }
  const Tensor& output(int i) const { return tensors[operands[input_count + i]]; }
  bool has_output(int i) const { return i < output_count && operands[input_count + i] >= 0; }
  template <class A>
  const A& attrs() const {
    return *static_cast<const A*>(attr_bytes);
  }

  // Sets the actual size of a dynamic dimension of output `i`, within its bound, and makes the output dense at that size.
  // Only for operators flagged kDataDependent.
  Status set_output_dim(int i, int axis, int32_t size) const noexcept;
};

using KernelFn = Status (*)(const OpContext&) noexcept;

// Given to infer(): reads inputs, writes outputs.
class InferContext {
 public:
  InferContext(const OpContext& op, TensorType* outputs, Diagnostic* diagnostic) : op_(op), outputs_(outputs), diagnostic_(diagnostic) {}

  int inputs() const { return op_.input_count; }
  int outputs() const { return op_.output_count; }
  bool has(int i) const { return op_.has_input(i); }
  const TensorDesc& in(int i) const { return *op_.input(i).desc; }
  TensorType& out(int i) const { return outputs_[i]; }
  const OpContext& op() const { return op_; }

  // True when the values of input i can be read now (constants always, others only while running).
  bool known(int i) const { return has(i) && op_.input(i).data != nullptr; }
  // Element `index` of a dense s32 or s64 input whose values are known, clamped to 32 bits.
  int32_t value(int i, int32_t index) const noexcept;

  // Sets output o to a type and a copy of input i's shape.
  void same_as(int o, int i, DType dtype) const noexcept;
  // Sets output o to the broadcast of inputs [first, last], with that type. Absent inputs are passed over.
  Status broadcast(int o, int first, int last, DType dtype) const noexcept;
  // Sets output o's shape; rank dims of `dims`. Refuses negative sizes other than kDimUnknown.
  Status set(int o, DType dtype, int rank, const int32_t* dims) const noexcept;
  // Checks that input i is one of `types`.
  Status require(int i, DTypeMask types) const noexcept;
  // Axis as the user wrote it (may be negative), to 0..rank-1 in *axis.
  Status axis(int32_t value, int rank, int* out_axis) const noexcept;

  Status reject(Why why, int64_t expected = 0, int64_t found = 0) const noexcept;

 private:
  const OpContext& op_;
  TensorType* outputs_;
  Diagnostic* diagnostic_;
};

// What the runtime knows of an operator. One table of these is made from ops.def; others can be registered in front of it.
struct OpDef {
  uint16_t id;          // 0: matched by name alone (custom operators, overrides)
  uint16_t attrs_size;  // bytes of the attribute struct this build knows
  uint16_t flags;
  uint8_t min_in, max_in, min_out, max_out;  // kVariadic: any number
  uint8_t optional_out;                      // operand bits of outputs that may be absent
  uint8_t ring_in;                           // operand bits of inputs that may be ring-buffered in a strip
  const char* name;                          // "mote::softmax"; null keeps the name out of the binary
  Status (*infer)(const InferContext&) noexcept;
  KernelFn (*select)(const OpContext&) noexcept;  // null result: no kernel for these types
  Scratch (*scratch)(const OpContext&) noexcept;  // null: none
};

}  // namespace mote
