#pragma once

// The plan level: the order of steps and the place of every tensor. Made from a graph by make_plan (schedule.h), turned into program
// records by assemble::lower. Nothing here points back into the graph.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mote/compiler/ir/graph.h"
#include "mote/format/program.h"

namespace mote::schedule {

using TensorId = int32_t;  // index into Plan::tensors; -1: absent
constexpr TensorId kNone = -1;

// A tensor and its place. desc.offset and desc.bank are set by assemble::lower.
//   constant: `place` is a number in Plan::constants      arena, state: a number in Plan::buffers
//   input, output: the number among the inputs or outputs of the method that lists it
// Several tensors may share a buffer: views, results computed in place, parts of a concatenation.
struct Tensor {
  TensorDesc desc{};
  int32_t place = -1;
  uint64_t at = 0;  // bytes from the start of the buffer or constant
  std::string name;
  std::optional<ir::QuantNote> quant;
};

struct Bank {
  std::string name = "arena";
  uint64_t limit = 0;  // capacity in bytes; 0: no limit
  uint64_t size = 0;   // bytes that the plan needs
  uint32_t alignment = 64;
};

// A range of a bank's bytes, for one or more tensors.
struct Buffer {
  uint64_t bytes = 0;
  uint32_t alignment = 16;
  uint8_t bank = 0;
  bool state = false;   // persists from run to run: overlaps no other buffer
  uint64_t offset = 0;  // in the bank
};

struct Constant {
  ir::Bytes data;
  std::string name;
};

// A future instruction. Control steps are followed by their body, as in the program (SPEC.md section 6).
struct Step {
  uint16_t op = 0;  // OpId, ControlOp, or ir::kCustom
  std::vector<uint8_t> attrs;
  std::vector<TensorId> inputs, outputs;
  std::string name;        // the source model's node
  std::string symbol;      // of custom operators
  uint32_t body = 0;       // if: steps of the first branch; loop, strip: of the body
  uint32_t otherwise = 0;  // if: steps of the second branch
  uint32_t trips = 0;      // loop: upper bound of trips; strip: trips
  mote::Step rows{};       // of a step in a strip
  bool in_order =
      false;  // its kernel computes pixel after pixel: the output may overwrite pixels of input 0 after their last use (overlap.h)

  bool is(ControlOp c) const { return op == static_cast<uint16_t>(c); }
  bool is(OpId id) const { return op == static_cast<uint16_t>(id); }
  bool is_control() const { return op >= kFirstControlOp && op != ir::kCustom; }
};

struct Io {
  std::string name;
  TensorId tensor = kNone;
};

struct Method {
  std::string name;
  uint32_t first_step = 0, step_count = 0;
  std::vector<Io> inputs, outputs;
};

struct State {
  std::string name;
  TensorId tensor = kNone;
  TensorId init = kNone;  // a constant; kNone: zeros
};

struct Plan {
  std::vector<Bank> banks;
  std::vector<Buffer> buffers;
  std::vector<Constant> constants;
  std::vector<Tensor> tensors;
  std::vector<Step> steps;  // of all methods, one after the other
  std::vector<Method> methods;
  std::vector<State> states;
  std::vector<std::pair<std::string, std::string>> metadata, evidence;

  uint64_t lower_bound = 0;  // largest sum of live buffers at any step, all banks together
  uint64_t peak() const {
    uint64_t bytes = 0;
    for (const Bank& b : banks) bytes += b.size;
    return bytes;
  }
  Tensor& tensor(TensorId t) { return tensors[static_cast<size_t>(t)]; }
  const Tensor& tensor(TensorId t) const { return tensors[static_cast<size_t>(t)]; }
};

}  // namespace mote::schedule
