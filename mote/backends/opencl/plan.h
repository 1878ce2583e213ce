#pragma once

// From a piece of a model, a Mote program, to kernel launches over device buffers. Nothing here needs a device.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mote/runtime/program.h"

namespace mote::backends::opencl {

// Part of a device buffer; offset in elements of four bytes.
struct Place {
  int32_t buffer = -1;
  int32_t offset = 0;
};

struct Arg {
  int32_t buffer = -1;         // below 0: the bytes
  std::vector<uint8_t> bytes;  // of a number or struct
};

struct Launch {
  const char* kernel = "";
  size_t global[3] = {1, 1, 1};
  size_t local[3] = {0, 0, 0};  // 0: the driver's choice
  std::vector<Arg> args;
  uint32_t instruction = 0;  // of the piece
};

struct Plan {
  std::vector<uint64_t> buffer_bytes;  // buffer 0: constants
  std::vector<uint32_t> constants;     // four bytes each, in buffer 0
  std::vector<Launch> launches;
  std::vector<int32_t> inputs, outputs;  // buffers
  uint64_t device_bytes() const {
    uint64_t sum = 0;
    for (uint64_t b : buffer_bytes) sum += b;
    return sum;
  }
};

// An operand with its place, in a piece, or only its type, when a compiler asks.
struct Operand {
  bool present = false;
  DType dtype = DType::kNone;
  int rank = 0;
  int32_t dims[kMaxRank] = {};
  Layout layout = Layout::kPlain;
  const void* data = nullptr;  // of constants
  Place place;

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

// Collects a plan.
class Recorder {
 public:
  Recorder(Plan& plan, uint32_t compute_units) : plan_(plan), units_(compute_units) {}

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

   private:
    Launch& launch_;
  };
  Args launch(const OpView& op, const char* kernel, const std::vector<size_t>& global, const std::vector<size_t>& local = {});

  Place add_constant(const void* data, size_t words);
  // Memory for one launch and the next.
  Place workspace(uint64_t words);
  // (K, N padded to a multiple of `pad`), of weights (N, K) plain or in panels; made once for each constant.
  Place weights(const Operand& w, int32_t n, int32_t k, int32_t padded);
  uint32_t compute_units() const { return units_; }

 private:
  Plan& plan_;
  const uint32_t units_;
  std::map<const void*, Place> weights_;
  int32_t workspace_ = -1;
};

// Why an operator cannot run here, or null. With a recorder its launches are added, too.
const char* lower_op(const OpView& op, Recorder* recorder);

// False with *why for a program that cannot run here.
bool make_plan(const Program& program, uint32_t compute_units, Plan* out, std::string* why);

}  // namespace mote::backends::opencl
