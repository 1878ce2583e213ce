#pragma once

// Compares fast kernels with the portable ones while a program runs: each chosen instruction is computed three times from the same memory,
// by the fast kernel on one thread, by the fast kernel in the parts that two threads would compute (last part first) and by the portable
// kernel. So a kernel that is wrong is named by the operator it computes, whatever comes behind it.

#include <map>
#include <string>
#include <vector>

#include "mote/compiler/driver/values.h"
#include "mote/kernels/select.h"
#include "mote/runtime/op_registry.h"
#include "mote/runtime/program.h"

namespace mote::driver {

// What counts as different: of the largest element, floats and 16-bit ones. Kernels see the same inputs, so they differ by the rounding of
// one operator alone.
inline constexpr double kKernelTolerance = 1e-3, kKernelHalfTolerance = 2e-2;
// Where sums cancel, a result's last bits are those of the operands: so much more, of the product of their largest elements.
inline constexpr double kKernelCancelled = 1e-5;

// An instruction whose kernels differ.
struct KernelDifference {
  uint32_t instruction = 0, output = 0;
  std::string op, node;  // the operator and the nodes of the model it comes from
  bool between_parts =
      false;  // on one thread and in parts the fast kernel gives different bits; otherwise it differs from the portable one
  Difference difference;
  double allowed = 0;
  std::string text() const;  // "q_depthwise_conv 'Conv_3': ..."
};

class KernelCheck {
 public:
  // `work`: multiply-adds that the portable kernels may take in all (cheap instructions first, one of several that are alike); 0: every
  // instruction each time it runs.
  KernelCheck(kernels::SelectFn fast, uint64_t work) : select_(fast), work_(work) {}

  const std::vector<KernelDifference>& differences() const { return differences_; }
  size_t compared() const { return compared_; }  // instructions, each counted once

  // For HostProgram. Between an Active and its end, select() answers for instances that are made, and what it gave works.
  void attach(const Program& program, const OpRegistry& ops);
  static KernelFn select(uint16_t op, const OpContext& c) noexcept;
  class Active {
   public:
    explicit Active(KernelCheck* check);
    ~Active();
    Active(const Active&) = delete;
    Active& operator=(const Active&) = delete;

   private:
    KernelCheck* before_;
  };

 private:
  struct Entry {
    uint32_t instruction = 0;
    bool wanted = false, compared = false;
    KernelFn fast = nullptr;
  };
  struct Saved;

  static Status compare_kernels(const OpContext& c) noexcept;
  Status compare(Entry& e, const OpContext& c);
  void judge(const Entry& e, uint32_t output, const Array& found, const Array& expected, bool parts, double allowed);
  bool is_read(int32_t tensor) const;  // by an instruction, or by the caller
  void choose();

  const kernels::SelectFn select_;
  const uint64_t work_;
  const Program* program_ = nullptr;
  const OpRegistry* ops_ = nullptr;
  std::map<const int32_t*, Entry> entries_;  // by the place of an instruction's operands
  std::vector<KernelDifference> differences_;
  size_t compared_ = 0;
};

}  // namespace mote::driver
