// Linked into a `mote` command of its own (kernel_cli_test) with --wrap: the most able kernels of this machine are right but for one, which
// MOTE_WRONG_KERNEL chooses. What finds wrong kernels must find it and name its operator.
//   value  the last element of a matrix product is off
//   parts  a matrix product is right at once, but off when its work is shared
//   none   nothing is wrong

#include <cstdlib>
#include <cstring>

#include "mote/kernels/select.h"
#include "mote/ops/op_id.h"
#include "mote/platform/cpu.h"

using mote::KernelFn;
using mote::OpContext;
using mote::Status;
using mote::kernels::Isa;
using mote::kernels::SelectFn;

namespace {

SelectFn right_select = nullptr;
KernelFn right_matmul = nullptr;

bool chosen(const char* what) {
  const char* wanted = std::getenv("MOTE_WRONG_KERNEL");
  return wanted != nullptr && std::strcmp(wanted, what) == 0;
}

Status wrong_matmul(const OpContext& c) noexcept {
  const Status status = right_matmul(c);
  const bool wrong = chosen("value") || (chosen("parts") && c.threads != nullptr);
  if (status.ok() && wrong && c.output(0).count() > 0) c.output(0).as<float>()[c.output(0).count() - 1] += 0.5f;
  return status;
}

KernelFn select_with_one_wrong(uint16_t op, const OpContext& c) noexcept {
  const KernelFn right = right_select(op, c);
  if (op != static_cast<uint16_t>(mote::OpId::matmul) || right == nullptr) return right;
  right_matmul = right;
  return &wrong_matmul;
}

}  // namespace

// mote::kernels::select_for, as all of the command calls it, and as it is.
extern "C" SelectFn __real__ZN4mote7kernels10select_forENS0_3IsaE(Isa isa) noexcept;
extern "C" SelectFn __wrap__ZN4mote7kernels10select_forENS0_3IsaE(Isa isa) noexcept;

SelectFn __wrap__ZN4mote7kernels10select_forENS0_3IsaE(Isa isa) noexcept {
  const SelectFn right = __real__ZN4mote7kernels10select_forENS0_3IsaE(isa);
  if (isa == Isa::kPortable || isa != mote::kernels::best_isa(mote::cpu_features())) return right;
  right_select = right;
  return &select_with_one_wrong;
}
