#pragma once

#include "mote/core/status.h"

namespace mote {

// A value or the Status that says why there is none. T must be default-constructible and cheap to move.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(static_cast<T&&>(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(status) {}            // NOLINT(google-explicit-constructor)
  Result(Status::Code code) : status_(code) {}          // NOLINT(google-explicit-constructor)

  bool ok() const { return status_.ok(); }
  Status status() const { return status_; }
  T& value() { return value_; }
  const T& value() const { return value_; }

 private:
  T value_{};
  Status status_;
};

}  // namespace mote

// Declares `lhs` and gives it the value of the Result `expr`, or returns the failure.
#define MOTE_ASSIGN(lhs, expr) MOTE_ASSIGN_AT_(lhs, expr, __LINE__)
#define MOTE_ASSIGN_AT_(lhs, expr, line) MOTE_ASSIGN_IN_(lhs, expr, line)
#define MOTE_ASSIGN_IN_(lhs, expr, line)                            \
  auto mote_result_##line = (expr);                                 \
  if (!mote_result_##line.ok()) return mote_result_##line.status(); \
  lhs = static_cast<decltype(mote_result_##line)&&>(mote_result_##line).value()
