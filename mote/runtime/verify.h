#pragma once

#include "mote/runtime/program.h"

namespace mote {

constexpr int kMaxOperands = 64;  // of one instruction
constexpr int kMaxOutputs = 16;

// Proves that a program whose structure is sound (read_table) also makes sense: every operator is known and gets operands and
// attributes it accepts, every output has the type and shape the operator gives, nothing writes where it may not, control
// ranges nest. Computes what an instance needs into *needs (its certificate is compared by Program::open, not here, so that a
// writer can use this to make the certificate). One pass, no allocation, about 2 kB of stack.
Status verify_meaning(const Program& program, MemoryNeeds* needs, Diagnostic* diagnostic) noexcept;

// How one instruction's kernel will be called; shared by verifier and instance.
enum class CallKind : uint8_t { kStatic, kDynamic, kIf, kLoop, kStrip, kDelegate };
CallKind call_kind(const Program& program, const Instruction& n, const OpDef* def) noexcept;

// Whether writing output `a` may touch bytes of the operand `b`: verified descriptors, arena and state ones in the same bank. Writers
// plan with the same rule.
bool overlaps(const TensorDesc& a, const TensorDesc& b) noexcept;
// Whether an operator may write output number `output` over input number `input` when both start at the same byte.
bool may_share(const OpDef& def, uint32_t output, uint32_t input, const TensorDesc& out, const TensorDesc& in) noexcept;

}  // namespace mote
