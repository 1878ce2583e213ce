// What mote.hpp speaks in: errors, handles, descriptions, views, options, tickets.
#ifndef MOTE_API_VALUES_HPP_
#define MOTE_API_VALUES_HPP_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
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

// The caller's bytes for an input. `dims` only for inputs with dynamic dimensions.
struct InputView {
  const void* data = nullptr;
  uint64_t bytes = 0;
  std::vector<int32_t> dims;
};

// The caller's room for an output. After a run `dims` are the sizes it has.
struct OutputView {
  void* data = nullptr;
  uint64_t bytes = 0;
  std::vector<int32_t> dims;
};

template <class T>
InputView input_view(const std::vector<T>& values, std::vector<int32_t> dims = {}) {
  return {values.data(), values.size() * sizeof(T), std::move(dims)};
}
template <class T>
OutputView output_view(std::vector<T>& values) {
  return {values.data(), values.size() * sizeof(T), {}};
}

struct ModelOptions {
  uint64_t memory_limit_bytes = 0;    // most the library may allocate for program and instance together; 0: no limit
  bool verify_digests = false;        // read and compare every byte when loading
  bool read_file = false;             // read the file into memory instead of mapping it
  std::vector<std::string> backends;  // names the program may use; empty: any that is registered
  const mote_registry* registry = nullptr;
  std::string weights_path;  // external weights
  std::string method;        // empty: the first
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
