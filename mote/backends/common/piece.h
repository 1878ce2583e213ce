#pragma once

// A piece of a model as backends see it: the Mote program that the compiler hands over, read into operators with operands in buffers.

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "mote/api/backend.h"
#include "mote/api/backend_compiler.h"
#include "mote/runtime/program.h"

namespace mote::backends {

// Part of a buffer; offset in elements of four bytes.
struct Place {
  int32_t buffer = -1;
  int32_t offset = 0;
};

// An operand with its place, in a piece, or only its type, when a compiler asks.
struct Operand {
  bool present = false;
  DType dtype = DType::kNone;
  int rank = 0;
  int32_t dims[kMaxRank] = {};
  Layout layout = Layout::kPlain;
  const void* data = nullptr;  // of constants
  int32_t tensor = -1;         // of the piece's program
  Place place;                 // of what is computed

  int64_t count() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= dims[i];
    return n;
  }
  int32_t dim(int i) const { return dims[i < 0 ? rank + i : i]; }
};

struct OpView {
  uint16_t op = 0;
  const void* attrs = nullptr;  // complete
  std::vector<Operand> inputs, outputs;
  uint32_t instruction = 0;

  template <class A>
  const A& attributes() const {
    return *static_cast<const A*>(attrs);
  }
  bool has(size_t i) const { return i < inputs.size() && inputs[i].present; }
};

struct Piece {
  std::vector<uint64_t> buffer_bytes;    // buffer 0 is the backend's, for constants; then memory banks, inputs, outputs
  std::vector<int32_t> inputs, outputs;  // buffers
  std::vector<uint32_t> input_tensors, output_tensors;
  std::vector<OpView> ops;
  std::deque<std::array<uint64_t, 32>> attrs;  // what ops point to
};

// Opens and verifies the bytes of a blob. The program stays valid as long as they do.
bool open_piece(const void* data, uint64_t size, Program* out);

// False with *why: a form this does not read. Constants point into the program.
bool read_piece(const Program& program, Piece* out, std::string* why);

// What a compiler asks about. *why when its sizes are not known.
OpView view_of(const mote_backend_op& op, const char** why);

// Whether operands are those of the piece's inputs or outputs.
bool operands_fit(const Program& program, const mote_backend_tensor* operands, uint32_t count, bool output);

// The sizes that a piece's inputs or outputs have. Operands that are dynamic in the program around it may be smaller when they come: a
// piece is made for these alone, and reads and writes as much.
class PieceSizes {
 public:
  PieceSizes() = default;
  PieceSizes(const Program& program, bool output);
  bool fit(const mote_backend_tensor* operands, uint32_t count) const noexcept;

 private:
  struct Sizes {
    int32_t dims[kMaxRank];
    int rank;
  };
  std::vector<Sizes> sizes_;
};

// Plain f32 values of constants that are f32 or f16, plain or in panels: (n, k).
std::vector<float> plain_weights(const Operand& w, int32_t n, int32_t k);

// Every word of `needed` (separated by spaces) is one of `known`.
bool has_capabilities(const char* needed, const std::vector<std::string>& known);

}  // namespace mote::backends
