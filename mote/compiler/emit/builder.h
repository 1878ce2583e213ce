#pragma once

// Builds programs instruction by instruction: the writer's front. Shapes come from the operators themselves; memory for
// intermediate tensors is planned by their lifetimes. What the compiler plans better it writes through ProgramRecords directly.

#include <initializer_list>
#include <string>
#include <vector>

#include "mote/compiler/emit/writer.h"
#include "mote/ops/op_id.h"

namespace mote::emit {

using TensorId = int32_t;
constexpr TensorId kAbsent = -1;  // an optional input that is not there
using Dims = std::vector<int32_t>;

// Errors are kept: after the first, calls do nothing and finish() reports it.
//
//   ProgramBuilder b;
//   b.begin_method("main");
//   TensorId x = b.input("x", DType::f32, {1, 8});
//   TensorId y = b.op(OpId::relu, NoAttrs{}, {x});
//   b.output("y", y);
//   FileBytes file; std::string error;
//   if (!b.finish(&file, &error)) ...
class ProgramBuilder {
 public:
  explicit ProgramBuilder(const OpRegistry& ops = builtin_registry());

  // --- tensors ---
  // A constant; `data` is copied. Panel layouts: the bytes are already packed.
  TensorId constant(DType dtype, const Dims& dims, const void* data, Layout layout = Layout::kPlain);
  TensorId constant_f32(const Dims& dims, const std::vector<float>& values);
  TensorId constant_s64(const Dims& dims, const std::vector<int64_t>& values);
  // An input of the open method. Bit i of `dynamic`: dims[i] is only an upper bound.
  TensorId input(const std::string& name, DType dtype, const Dims& dims, uint8_t dynamic = 0);
  // An intermediate tensor; most are made by op().
  TensorId temp(DType dtype, const Dims& dims, uint8_t dynamic = 0);
  // A tensor kept from run to run, shared by the methods. Starts as zeros or as `init`, a constant.
  TensorId state(DType dtype, const Dims& dims, TensorId init = kAbsent);
  // Part of another intermediate tensor: the same bytes from `offset` on, with the strides given (bytes).
  TensorId view(TensorId of, uint64_t offset, const Dims& dims, const std::vector<int32_t>& strides);
  // Rows (dimension 1) of an intermediate tensor kept modulo `rows`: for strips.
  void set_ring(TensorId tensor, uint16_t rows);
  // Moves an intermediate tensor to another bank (see bank()).
  void set_bank(TensorId tensor, uint8_t bank);
  uint8_t bank(const std::string& name, uint32_t alignment = 64);

  // --- methods ---
  void begin_method(const std::string& name);
  // Makes a tensor an output of the open method. Constants and inputs are copied into one.
  void output(const std::string& name, TensorId tensor);

  // --- instructions ---
  // Adds an instruction whose single output is a new intermediate tensor with the type and shape the operator gives.
  template <class A>
  TensorId op(OpId id, const A& attrs, const std::vector<TensorId>& inputs, const std::string& name = "") {
    const auto out = ops(id, attrs, inputs, 1, name);
    return out.empty() ? kAbsent : out[0];
  }
  template <class A>
  std::vector<TensorId> ops(OpId id, const A& attrs, const std::vector<TensorId>& inputs, int outputs, const std::string& name = "") {
    return add(static_cast<uint16_t>(id), &attrs, attrs_size<A>, inputs, outputs, name);
  }
  // The same into tensors that exist already.
  template <class A>
  void op_into(OpId id, const A& attrs, const std::vector<TensorId>& inputs, const std::vector<TensorId>& outputs,
               const std::string& name = "") {
    instruction(static_cast<uint16_t>(id), &attrs, attrs_size<A>, inputs, outputs, name);
  }
  // An operator found by its symbolic name, e.g. "acme::blend". Its output types are given, or inferred when the registry has it.
  void custom_into(const std::string& symbol, const void* attrs, size_t attrs_bytes, const std::vector<TensorId>& inputs,
                   const std::vector<TensorId>& outputs);
  void instruction(uint16_t op, const void* attrs, size_t attrs_bytes, const std::vector<TensorId>& inputs,
                   const std::vector<TensorId>& outputs, const std::string& name = "");
  // Upper bounds for output sizes that depend on data: used by the next op().
  void bound_next(const std::vector<Dims>& bounds) { next_bounds_ = bounds; }

  // --- control flow; each begin has its end ---
  void begin_if(TensorId condition);
  void begin_else();
  void begin_loop(TensorId trip_count, TensorId condition, TensorId counter, uint32_t max_trips);
  void begin_strip(uint32_t count, const std::vector<Step>& steps);  // one step for each instruction of the body
  void end();
  void delegate(uint32_t backend, uint32_t entry, const std::vector<TensorId>& inputs, const std::vector<TensorId>& outputs);

  // --- the rest of the file ---
  uint32_t backend(const std::string& name, const std::string& version, const std::string& capabilities, const std::vector<uint8_t>& blob);
  void metadata(const std::string& key, const std::string& value);
  void evidence(const std::string& key, const std::string& value);
  void policy(const std::string& toml);
  void quantization(TensorId tensor, float scale, int32_t zero_point);
  // One golden example: the bytes of every input and expected output of a method, dense, in order. Dims of dynamic tensors: `dims`
  // (inputs, then outputs); empty for static ones.
  void golden(uint32_t method, const std::vector<std::vector<uint8_t>>& inputs, const std::vector<std::vector<uint8_t>>& outputs,
              float tolerance, const std::vector<Dims>& dims = {});
  void reserve_signature(uint64_t bytes);
  void external_constants() { external_ = true; }  // constants go to a second file: external_bytes() after finish()
  const std::vector<uint8_t>& external_bytes() const { return constants_; }

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  const TensorDesc& desc(TensorId id) const { return records_.tensors[static_cast<size_t>(id)]; }
  // For what this class has no call for; indices stay valid.
  ProgramRecords& records() { return records_; }

  bool finish(FileBytes* out, std::string* error, const WriteOptions& options = {});

 private:
  struct Range {
    uint32_t control;
    bool is_else = false;
  };
  TensorId add_tensor(DType dtype, const Dims& dims, Layout layout, Storage storage, uint8_t dynamic);
  std::vector<TensorId> add(uint16_t op, const void* attrs, size_t attrs_bytes, const std::vector<TensorId>& inputs, int outputs,
                            const std::string& name);
  void control(ControlOp op, const void* attrs, size_t bytes, const std::vector<TensorId>& inputs, const std::vector<TensorId>& outputs);
  void close_method();
  void fail(const std::string& why);
  uint32_t position() const { return static_cast<uint32_t>(records_.instructions.size()); }

  const OpRegistry& ops_;
  ProgramRecords records_;
  std::vector<uint8_t> constants_;
  std::vector<uint8_t> golden_;
  std::vector<Range> ranges_;
  std::vector<Io> inputs_, outputs_;
  std::vector<TensorId> view_of_;  // per tensor; -1: not a view
  std::vector<uint64_t> view_offset_;
  std::vector<Dims> next_bounds_;
  std::map<std::string, uint16_t> custom_;
  std::vector<uint16_t> golden_examples_;
  bool external_ = false;
  bool in_method_ = false;
  std::string error_;
};

}  // namespace mote::emit
