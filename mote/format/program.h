#pragma once

// The records of a .mote file as plain structs, read in place. SPEC.md explains them; program.fbs is their schema.

#include "mote/core/status.h"
#include "mote/core/tensor.h"

namespace mote {

constexpr uint16_t kFormatMajor = 0;  // 0 until the format is declared stable
constexpr uint16_t kFormatMinor = 1;
constexpr uint32_t kTableAlignment = 16;  // the program table must start at such an address
constexpr int kMaxNesting = 8;            // of if, loop and strip ranges
constexpr int kMaxBanks = 256;            // what a tensor can name
constexpr uint32_t kNoString = 0;         // string 0 is always empty

// Instructions that steer execution. Their attributes are the structs below.
enum class ControlOp : uint16_t { kIf = 0xff01, kLoop = 0xff02, kStrip = 0xff03, kDelegate = 0xff04 };
constexpr uint16_t kFirstControlOp = 0xff00;
constexpr uint16_t kFirstCustomOp = 0x8000;  // operators found by name: see op_names

struct Instruction {
  uint16_t op;
  uint16_t attrs_size;
  uint32_t attrs;     // offset into the attribute bytes, a multiple of 4
  uint32_t operands;  // first operand: inputs, then outputs
  uint16_t input_count;
  uint16_t output_count;
};

// if: input 0 is a bool scalar. The `then` range follows, then the `else` range.
struct IfAttrs {
  uint32_t then_count;
  uint32_t else_count;
};
// loop: the body follows. Input 0 (optional): s64 trip count. Input 1 (optional): bool scalar, tested before every trip.
// Output 0 (optional): s64 scalar that receives the number of the trip. Never more than max_trips.
struct LoopAttrs {
  uint32_t body_count;
  uint32_t max_trips;
};
// strip: the body follows and runs `count` times. In trip i, body instruction k computes the rows
// [begin + i * step, begin + i * step + rows) of steps[first_step + k], cut to the rows its output has.
struct StripAttrs {
  uint32_t body_count;
  uint32_t count;
  uint32_t first_step;
};
// delegate: runs backends[backend] on the operands.
struct DelegateAttrs {
  uint32_t backend;
  uint32_t entry;
};

struct Method {
  uint32_t name;
  uint32_t first_instruction, instruction_count;
  uint32_t first_input, input_count;    // into ios
  uint32_t first_output, output_count;  // into ios
};

struct Io {
  uint32_t tensor;
  uint32_t name;
};

struct Bank {
  uint64_t size;
  uint32_t name;
  uint32_t alignment;
};

enum class SegmentKind : uint8_t { kConstants = 0, kBlob = 1, kGolden = 2, kSignature = 3 };
enum SegmentFlags : uint8_t { kExternal = 1 };  // the bytes are in another file

struct Segment {
  uint64_t offset;  // from the start of the file
  uint64_t size;
  uint8_t sha256[32];
  SegmentKind kind;
  uint8_t flags;
  uint16_t reserved;
  uint32_t alignment;
};

struct State {
  uint32_t tensor;
  int32_t init;  // a constant tensor with the first value; -1: zeros
};

struct Step {
  int32_t begin, step, rows;
};

struct OpName {
  uint32_t op;
  uint32_t name;
};

struct Pair {
  uint32_t key, value;
};

struct Quant {
  uint32_t tensor;
  float scale;
  int32_t zero_point;
};

struct BackendRecord {
  uint32_t name, version, capabilities;  // strings
  uint32_t segment;
  uint64_t device_bytes;
};

struct Placement {
  uint32_t first_instruction, instruction_count;
  uint32_t backend;  // string
  float predicted_ns;
  uint64_t bytes_in, bytes_out;
};

struct Golden {
  uint64_t offset;
  int32_t dims[kMaxRank];
  uint16_t method, example, io, is_output;
  float tolerance;  // of the largest expected magnitude; 0: the same bits
  uint32_t segment;
};

// The part of a certificate that the verifier computes and compares.
struct CertifiedNeeds {
  uint32_t instance_bytes_32;
  uint32_t instance_bytes_64;
  uint32_t scratch_base;
  uint32_t scratch_per_thread;
  uint32_t max_nesting;
  uint32_t steps_bound;  // most instructions one run of a method executes; 0xffffffff: that or more
};

struct Certificate {
  uint64_t macs;
  uint64_t bytes_moved;
  uint64_t constant_bytes;
  CertifiedNeeds needs;
};

}  // namespace mote
