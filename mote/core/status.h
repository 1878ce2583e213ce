#pragma once

#include <cstdint>

namespace mote {

// Which rule was broken. One list (why.def) feeds the enum and the texts that host tools print.
enum class Why : uint16_t {
#define MOTE_WHY(value, name, text) k##name = value,
#include "mote/core/why.def"
#undef MOTE_WHY
};

// Outcome of an operation that can fail. 32 bits, trivially copyable, never allocates.
// Bits 0-7 hold the code, bits 8-23 the reason (Why). Zero is success.
class [[nodiscard]] Status {
 public:
  enum Code : uint8_t {
#define MOTE_STATUS(value, name, text) k##name = value,
#include "mote/core/status.def"
#undef MOTE_STATUS
  };

  constexpr Status(Code code = kOk) : bits_(code) {}  // NOLINT(google-explicit-constructor)
  constexpr Status(Code code, Why why) : bits_(code | static_cast<uint32_t>(why) << 8) {}
  static constexpr Status from_bits(uint32_t bits) { return Status(bits, 0); }

  constexpr bool ok() const { return bits_ == 0; }
  constexpr Code code() const { return static_cast<Code>(bits_ & 0xff); }
  constexpr Why why() const { return static_cast<Why>(bits_ >> 8 & 0xffff); }
  constexpr uint32_t bits() const { return bits_; }

 private:
  constexpr Status(uint32_t bits, int) : bits_(bits) {}
  uint32_t bits_;
};

constexpr bool operator==(Status a, Status b) { return a.bits() == b.bits(); }
constexpr bool operator!=(Status a, Status b) { return a.bits() != b.bits(); }

// Texts for people. In a source file of their own, so that a device that never prints does not carry them.
const char* status_text(Status::Code code) noexcept;
const char* status_name(Status::Code code) noexcept;
const char* why_text(Why why) noexcept;
const char* why_name(Why why) noexcept;

// What exactly went wrong; the caller may own one and pass it along. Fields that do not apply are -1 or 0.
struct Diagnostic {
  Status status;
  int32_t instruction = -1;  // index into the program's instructions
  int32_t op = -1;           // operator id
  int32_t tensor = -1;       // index into the program's tensors
  int32_t expected = 0;
  int32_t found = 0;
  const char* name = nullptr;  // points into the program file: an unknown operator or feature
};

// A size for a Diagnostic, which holds at most 2^31 - 1: messages need no more, and 32-bit machines pass it in one register.
constexpr int32_t clamp32(uint64_t v) { return v > 0x7fffffff ? 0x7fffffff : static_cast<int32_t>(v); }

}  // namespace mote

// Returns from the enclosing function when `expr` is not ok.
#define MOTE_TRY(expr)                                                              \
  do {                                                                              \
    if (::mote::Status mote_status = (expr); !mote_status.ok()) return mote_status; \
  } while (0)
