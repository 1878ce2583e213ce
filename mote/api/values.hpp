// What mote.hpp speaks in: errors, handles, descriptions, views, options, tickets.
#ifndef MOTE_API_VALUES_HPP_
#define MOTE_API_VALUES_HPP_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mote/api/mote.h"

namespace mote {

// Why something failed. `code` is MOTE_OK where nothing did.
struct Error {
  mote_status status = 0;
  std::string message, op, source, tensor;

  mote_code code() const { return mote_status_code(status); }
  explicit operator bool() const { return status != 0; }
};

// A value, or the error that says why there is none.
template <class T>
class Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Expected(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return value_.has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const Error& error() const { return error_; }

 private:
  std::optional<T> value_;
  Error error_;
};

namespace api_detail {

struct Deleter {
  void operator()(mote_program* p) const { mote_program_release(p); }
  void operator()(mote_instance* p) const { mote_instance_destroy(p); }
  void operator()(mote_error* p) const { mote_error_destroy(p); }
  void operator()(mote_cancel* p) const { mote_cancel_destroy(p); }
  void operator()(mote_registry* p) const { mote_registry_release(p); }
};

}  // namespace api_detail

// Handles of the C interface that release themselves.
using ProgramHandle = std::unique_ptr<mote_program, api_detail::Deleter>;
using InstanceHandle = std::unique_ptr<mote_instance, api_detail::Deleter>;
using ErrorHandle = std::unique_ptr<mote_error, api_detail::Deleter>;
using CancelHandle = std::unique_ptr<mote_cancel, api_detail::Deleter>;
using RegistryHandle = std::unique_ptr<mote_registry, api_detail::Deleter>;

// The C interface's description of a failure as a value. `handle` may be null.
inline Error make_error(mote_status status, const mote_error* handle) {
  Error e;
  e.status = status;
  if (status == 0) return e;
  e.message = mote_error_message(handle);
  e.op = mote_error_op(handle);
  e.source = mote_error_source(handle);
  e.tensor = mote_error_tensor(handle);
  const uint32_t why = mote_status_why(status);
  if (e.message.empty()) e.message = why != 0 ? mote_why_text(why) : mote_code_text(mote_status_code(status));
  return e;
}

// An input or output as the program describes it.
struct TensorSpec {
  std::string name;
  mote_dtype dtype = MOTE_F32;
  std::vector<int32_t> dims;  // upper bounds where dynamic
  uint32_t dynamic = 0;       // bit i: dims[i] may vary
  uint64_t bytes = 0;
  bool quantized = false;
  float scale = 0;
  int32_t zero_point = 0;
};

// A view of bytes whose element type is not known: only their number is checked.
constexpr mote_dtype kUntyped = static_cast<mote_dtype>(0);

// The element type of a C++ type; kUntyped for a class of the caller's, as there are for f16.
template <class T>
constexpr mote_dtype view_dtype() {
  using U = std::remove_cv_t<T>;
  constexpr mote_dtype kSigned[] = {MOTE_S8, MOTE_S16, MOTE_S32, MOTE_S64}, kUnsigned[] = {MOTE_U8, MOTE_U16, MOTE_U32, MOTE_U64};
  if constexpr (std::is_same_v<U, float>) return MOTE_F32;
  else if constexpr (std::is_same_v<U, double>) return MOTE_F64;
  else if constexpr (std::is_same_v<U, bool>) return MOTE_BOOL;
  else if constexpr (std::is_integral_v<U> && sizeof(U) <= 8)
    return (std::is_signed_v<U> ? kSigned : kUnsigned)[sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 1 : sizeof(U) == 4 ? 2 : 3];
  else return kUntyped;
}

// The caller's bytes for an input: exactly those of the tensor. `dims` only for inputs with dynamic dimensions; without them such an
// input has its largest size. A view with an element type is refused where the tensor has another; types that C++ lacks are viewed
// as what holds their bits: f16 and bf16 as uint16_t, bool and pairs of 4-bit values as uint8_t.
struct InputView {
  const void* data = nullptr;
  uint64_t bytes = 0;
  std::vector<int32_t> dims;
  mote_dtype dtype = kUntyped;
};

// The caller's room for an output: exactly the bytes of its largest size. After a run `dims` are the sizes it has.
struct OutputView {
  void* data = nullptr;
  uint64_t bytes = 0;
  std::vector<int32_t> dims;
  mote_dtype dtype = kUntyped;
};

// Bytes whose element type the caller answers for.
inline InputView input_bytes(const void* data, uint64_t bytes, std::vector<int32_t> dims = {}) { return {data, bytes, std::move(dims)}; }
inline OutputView output_bytes(void* data, uint64_t bytes) { return {data, bytes, {}}; }

template <class T>
InputView input_view(const T* values, size_t count, std::vector<int32_t> dims = {}) {
  static_assert(std::is_trivially_copyable_v<T>, "an input is read as plain elements");
  return {values, count * sizeof(T), std::move(dims), view_dtype<T>()};
}
template <class T>
OutputView output_view(T* values, size_t count) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>, "an output is written as plain elements");
  return {values, count * sizeof(T), {}, view_dtype<T>()};
}
template <class T>
InputView input_view(const std::vector<T>& values, std::vector<int32_t> dims = {}) {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> holds bits: use uint8_t");
  return input_view(values.data(), values.size(), std::move(dims));
}
template <class T>
OutputView output_view(std::vector<T>& values) {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> holds bits: use uint8_t");
  return output_view(values.data(), values.size());
}

struct ModelOptions {
  uint64_t memory_limit_bytes = 0;  // most the library may allocate for program and instance together; 0: no limit
  bool verify_digests = false;      // read and compare every byte when loading
  bool read_file = false;           // read the file into memory instead of mapping it
  // Backends the program may use besides the CPU. Without a registry they are loaded, by name or absolute path: see
  // mote_registry_load_backend(). Empty: those of the registry.
  std::vector<std::string> backends;
  const mote_registry* registry = nullptr;
  std::string weights_path;          // external weights
  std::string method;                // empty: the first
  std::vector<std::string> require;  // every operator must have been placed on one of these, "cpu" among them; empty: anywhere
  bool no_fallback = false;          // a part whose backend cannot be had is an error, also where the program has it for the CPU too
  uint32_t threads = 1;              // that share the work of one run
  std::string kernels;               // instruction set of the CPU's kernels; empty: the most able one of this machine
};

// A backend of a registry, with the device it has found; "" while there is none.
struct BackendInfo {
  std::string name, version, device;
  uint32_t units = 0;
};

// A part of a program and what it was compiled to run on ("cpu": Mote's kernels). `runs_on` is what does run it.
struct Part {
  std::string backend, runs_on;
  uint32_t instructions = 0;
  bool has_fallback = false;
  uint64_t bytes_in = 0, bytes_out = 0, device_bytes = 0;
  double predicted_us = 0;
};

// What the golden examples of a program gave.
struct SelfTest {
  uint32_t outputs = 0, failed = 0;
  double largest_error = 0;  // as a part of the largest expected magnitude
  Error error;               // why it failed, or could not be done
  bool passed() const { return !error; }
};

struct RunOptions {
  uint32_t max_steps = 0;
  uint64_t deadline_ns = 0;  // on mote_clock_ns()
  const mote_cancel* cancel = nullptr;
};

// A run under way. Copyable; all copies speak of the same run.
class Ticket {
 public:
  // Stops the run between two instructions, or before it starts. Its callback still comes, with MOTE_CANCELLED.
  void cancel() const { mote_cancel_request(state_->cancel.get()); }
  // Waits until the callback has returned. Not from the callback itself.
  void wait() const {
    std::unique_lock<std::mutex> lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->done; });
  }
  bool done() const {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    return state_->done;
  }
  // The outcome once done.
  Error error() const {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    return state_->error;
  }

 private:
  friend class Model;
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    Error error;
    CancelHandle cancel{mote_cancel_create()};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace mote

#endif  // MOTE_API_VALUES_HPP_
