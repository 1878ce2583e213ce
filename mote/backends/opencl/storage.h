#pragma once

// Tensors of a piece that are stored as f16 beside others that stay f32: which ones, where they lie, and conversions where an operator has
// both kinds.

#include "mote/backends/opencl/plan.h"

namespace mote::backends::opencl {

// Of each tensor of a piece's program 1 where f16 is good enough: as many as leave the results, on inputs like those that examples are
// made of, within three quarters of `tolerance`, relative to the largest value of each output. Measured on this CPU with tensors rounded;
// those whose values come near f16's range stay f32. Empty when the piece cannot be run.
// With `math`, products whose operands are f16 multiply in f16 (kMultipliedNarrow) where that fits in, too.
std::vector<uint8_t> choose_narrow(const Program& program, double tolerance, bool math);

// Whether kernels of an operator read f16: of what it reads, all that is computed is f16, and no constant is too fine for it.
bool reads_half(const OpView& op, const std::vector<uint8_t>& narrow);

class Storage {
 public:
  // narrow: of each tensor; empty: everything is f32.
  Storage(Piece& piece, const std::vector<uint8_t>& narrow, Plan& plan, Recorder& recorder)
      : piece_(piece), narrow_(narrow), plan_(plan), recorder_(recorder) {}

  // Buffers, and inputs as they are stored.
  void begin();
  // Before an operator: its kind of kernels, and copies of operands that are of the other kind. After it: its results of the other kind.
  void enter(OpView& op);
  void leave();
  // Outputs as the host gets them.
  void end();

 private:
  struct Late {
    Place from, to;
    int64_t count;
    bool to_half;
  };
  bool is_narrow(const Operand& o) const { return o.tensor >= 0 && (narrow_[static_cast<size_t>(o.tensor)] & kStoredNarrow) != 0; }
  void place_mixed();
  void convert(const Place& from, const Place& to, int64_t count, bool to_half);
  int32_t at_host(int32_t stored, bool in);
  Place temporary(int64_t count);

  Piece& piece_;
  const std::vector<uint8_t>& narrow_;
  Plan& plan_;
  Recorder& recorder_;
  std::vector<Late> late_;
  int32_t temporaries_ = -1;
  int64_t temporary_words_ = 0;
};

}  // namespace mote::backends::opencl
