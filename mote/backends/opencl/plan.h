#pragma once

// From a piece of a model, a Mote program, to kernel launches over device buffers. Nothing here needs a device.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "mote/backends/common/memory_budget.h"
#include "mote/backends/common/piece.h"

namespace mote::backends::opencl {

struct Arg {
  int32_t buffer = -1;         // below 0: the bytes
  std::vector<uint8_t> bytes;  // of a number or struct
};

// Kernels come in forms: what they read and what they write is f32 or f16; those of products multiply f16 (kHalfMath, beside kHalfIn) or
// take dot products of bytes (kByteDots) on devices that have these.
constexpr uint32_t kHalfIn = 1, kHalfOut = 2, kHalfMath = 4, kByteDots = 8;

// What plans depend on, of a device.
struct Target {
  uint32_t compute_units = 16;  // when the device is not known
  bool byte_dots = false;       // cl_khr_integer_dot_product
};

// Of each tensor of a piece (BlobEnd::narrow): it is stored as f16; the product whose result it is multiplies in f16.
constexpr uint8_t kStoredNarrow = 1, kMultipliedNarrow = 2;

struct Launch {
  const char* kernel = "";
  size_t wanted[3] = {1, 1, 1};  // work-items; global: with those that fill the last groups
  size_t global[3] = {1, 1, 1};
  size_t local[3] = {0, 0, 0};  // 0: the driver's choice
  std::vector<Arg> args;
  uint32_t instruction = 0;    // of the piece
  uint32_t kernels = 0;        // which of the device's programs: the form
  double items = 1, each = 1;  // work-items, and units of work of each (work.h)
  const char* like = nullptr;  // the kernel whose work this is like, where it is not like its own
  bool wide = false;           // 8-bit numbers: sums are scaled by numbers of 64 bits
};

struct Plan {
  std::vector<uint64_t> buffer_bytes;  // buffer 0: constants
  std::vector<uint32_t> constants;     // four bytes each, in buffer 0: weights and tables, and where nothing is half all others
  int32_t half_buffer = -1;            // of constants that are stored as f16
  std::vector<uint16_t> halves;
  std::vector<Launch> launches;
  std::vector<int32_t> inputs, outputs;  // buffers
  uint64_t device_bytes() const {
    uint64_t sum = 0;
    for (uint64_t b : buffer_bytes) sum += b;
    return sum;
  }
};

// Collects a plan.
class Recorder {
 public:
  // Counting, launches are made and constants are not.
  Recorder(Plan& plan, const Target& target, bool counting = false) : plan_(plan), target_(target), counting_(counting) {}

  // A launch over at least global[] work-items; with a group size the numbers are rounded up to it.
  class Args {
   public:
    explicit Args(Launch& launch) : launch_(launch) {}
    Args& tensor(const Place& p);
    Args& buffer(const Place& p);  // without its offset: it has none
    template <class T>
    Args& value(const T& v) {
      const auto* p = reinterpret_cast<const uint8_t*>(&v);
      launch_.args.push_back({-1, {p, p + sizeof v}});
      return *this;
    }

    // The kernel of f32, whatever the operator's tensors are.
    Args& plain() {
      launch_.kernels = 0;
      return *this;
    }
    // The kernel of this form beside what the operator's tensors are.
    Args& form(uint32_t more) {
      launch_.kernels |= more;
      return *this;
    }
    Args& like(const char* kernel) {
      launch_.like = kernel;
      return *this;
    }
    Args& wide(bool is) {
      launch_.wide = is;
      return *this;
    }
    Args& each(double units) {
      launch_.each = units;
      return *this;
    }

   private:
    Launch& launch_;
  };
  Args launch(const OpView& op, const char* kernel, const std::vector<size_t>& global, const std::vector<size_t>& local = {});

  // Over channels and positions, in groups that few channels fill too.
  Args launch_positions(const OpView& op, const char* kernel, int32_t channels, int64_t positions);

  Place add_constant(const void* data, size_t words) { return add_bytes(data, words * 4); }
  // Reads no more than `bytes`, which need not fill the last word.
  Place add_bytes(const void* data, size_t bytes);
  // What the launches that follow read and write, and whether a product among them multiplies in f16.
  void use_kernels(bool half_in, bool half_out, bool half_math = false) {
    kernels_ = (half_in ? kHalfIn : 0) | (half_out ? kHalfOut : 0);
    half_math_ = half_in && half_math;
  }
  bool half_math() const { return half_math_; }
  bool changes_kind() const { return kernels_ == kHalfIn || kernels_ == kHalfOut; }
  bool reads_half() const { return (kernels_ & kHalfIn) != 0; }

  // Of f32 values, as the kernels in use read tensors.
  Place add_tensor(const void* data, size_t count);
  // Memory for one launch and the next.
  Place workspace(uint64_t words);
  // (K, N padded to a multiple of `pad`), of weights (N, K) plain or in panels; made once for each constant.
  Place weights(const Operand& w, int32_t n, int32_t k, int32_t padded);
  // The same as f16, divided by a power of two, *scale, so that the largest is below 1.
  Place half_weights(const Operand& w, int32_t n, int32_t k, int32_t padded, float* scale);
  // The same of 8-bit weights, u8 as s8; counted in bytes. in_fours: (K / 4, N padded, 4), counted in fours.
  Place byte_weights(const Operand& w, int32_t n, int32_t k, int32_t padded, bool in_fours = false);
  // (36 points, K, N padded) of weights (N, 3, 3, K), in Winograd's form; likewise.
  Place winograd_weights(const Operand& w, int32_t n, int32_t k, int32_t padded);
  uint32_t compute_units() const { return target_.compute_units; }
  bool byte_dots() const { return target_.byte_dots; }

 private:
  struct Scaled {
    Place place;
    float scale = 1;
  };
  enum class WeightForm { kColumns, kHalfColumns, kFours, kWinograd };
  // What weights were brought into their form from. Constants of a file may overlap: the address alone does not say how many there are.
  struct Weights : std::tuple<const void*, DType, Layout, int32_t, int32_t, int32_t, WeightForm> {
    Weights(const Operand& w, int32_t n, int32_t k, int32_t padded, WeightForm form)
        : tuple(w.data, w.dtype, w.layout, n, k, padded, form) {}
  };
  Place add_halves(const float* values, size_t count);
  // Counts a form of weights that is about to be made.
  void take_columns(int64_t rows, int32_t padded, uint64_t width);

  Plan& plan_;
  const Target target_;
  const bool counting_;
  std::map<Weights, Scaled> weights_;
  MemoryBudget budget_;  // of what the plan itself takes
  int32_t workspace_ = -1;
  uint32_t kernels_ = 0;
  bool half_math_ = false;
};

// 8-bit weights (n, k), plain or in panels; u8 as s8.
std::vector<int8_t> plain_bytes(const Operand& w, int32_t n, int32_t k);
// The power of two that weights are divided by where products multiply in f16.
float half_scale(const std::vector<float>& weights);

// Whether an operator computes with 8-bit numbers.
bool has_bytes(const OpView& op);

// Why an operator cannot run here, or null. With a recorder its launches are added, too.
const char* lower_op(const OpView& op, Recorder* recorder);

// False with *why for a program that cannot run here. narrow: of each tensor kStoredNarrow, kMultipliedNarrow (storage.h); empty: none.
bool make_plan(const Program& program, const Target& target, const std::vector<uint8_t>& narrow, Plan* out, std::string* why);

}  // namespace mote::backends::opencl
