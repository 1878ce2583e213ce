// Mote for C++17: a thin layer over mote.h. Header only, so that it depends on the C interface alone; nothing here throws
// by itself (the standard containers may, when memory runs out).
//
//   auto model = mote::Model::load("digits.mote");
//   if (!model) return fail(model.error().message);
//   std::vector<float> image(64), scores(10);
//   if (auto error = model->run({mote::input_view(image)}, {mote::output_view(scores)})) return fail(error.message);
//
// Threads: a Model may be used by any number of threads. Runs of one Model take turns, since they share one instance with its
// memory and state; load a second Model (the mapped file is shared) to run at the same time.
#ifndef MOTE_API_MOTE_HPP_
#define MOTE_API_MOTE_HPP_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
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
  uint64_t memory_limit_bytes = 0;      // most the library may allocate for program and instance together; 0: no limit
  bool verify_digests = false;          // read and compare every byte when loading
  bool read_file = false;               // read the file into memory instead of mapping it
  std::vector<std::string> backends;    // names the program may use; empty: any that is registered
  const mote_registry* registry = nullptr;
  std::string weights_path;             // external weights
  std::string method;                   // empty: the first
};

struct RunOptions {
  uint32_t max_steps = 0;
  uint64_t deadline_ns = 0;             // on mote_clock_ns()
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

// A program with one instance, ready to run.
class Model {
 public:
  // Maps a file; it must not change while the model lives.
  static Expected<Model> load(const std::string& path, const ModelOptions& options = {}) {
    auto loaded = open_file(path, options);
    if (!loaded) return loaded.error();
    return Model(*loaded);
  }
  // Uses the caller's bytes: 16-byte aligned, unchanging, there as long as the model (and runs after a swap) need them.
  static Expected<Model> load(const void* data, size_t size, const ModelOptions& options = {}) {
    auto loaded = open_bytes(data, size, options);
    if (!loaded) return loaded.error();
    return Model(*loaded);
  }

  Model(Model&&) = default;
  Model& operator=(Model&&) = default;

  std::vector<TensorSpec> inputs() const { return current()->inputs; }
  std::vector<TensorSpec> outputs() const { return current()->outputs; }
  std::optional<std::string> metadata(const std::string& key) const { return text(mote_program_metadata(current()->program.get(), key.c_str())); }
  std::optional<std::string> evidence(const std::string& key) const { return text(mote_program_evidence(current()->program.get(), key.c_str())); }
  // Bytes the library holds for program and instance.
  uint64_t allocated_bytes() const {
    const auto l = current();
    return mote_program_allocated_bytes(l->program.get()) + mote_instance_allocated_bytes(l->instance.get());
  }

  // Runs the method on the caller's buffers, without a copy. One view per input and output, in order. Fills in outputs[i].dims.
  Error run(const std::vector<InputView>& inputs, std::vector<OutputView>& outputs, const RunOptions& options = {}) {
    return run_on(*current(), inputs, outputs, options);
  }
  Error run(const std::vector<InputView>& inputs, std::vector<OutputView>&& outputs, const RunOptions& options = {}) { return run(inputs, outputs, options); }

  // Runs on a thread of this model, in the order of the calls. The buffers are borrowed until `callback` has returned; it comes on
  // that thread, and must not destroy the model. Uses the program in force when the run starts.
  using Callback = std::function<void(const Error& error, const std::vector<OutputView>& outputs)>;
  Ticket run_async(std::vector<InputView> inputs, std::vector<OutputView> outputs, Callback callback, const RunOptions& options = {}) {
    Ticket ticket;
    auto state = ticket.state_;
    shared_->post([shared = shared_.get(), state, inputs = std::move(inputs), outputs = std::move(outputs), callback = std::move(callback), options]() mutable {
      RunOptions own = options;
      own.cancel = state->cancel.get();
      Error error = run_on(*shared->get(), inputs, outputs, own);
      if (callback) callback(error, outputs);
      const std::lock_guard<std::mutex> lock(state->mutex);
      state->error = std::move(error);
      state->done = true;
      state->changed.notify_all();
    });
    return ticket;
  }

  // Puts another program in this one's place, while other threads run: runs that have started finish with the old one, later ones
  // use the new one, with fresh state. On failure nothing changes. Inputs and outputs may differ; look at inputs() again.
  Error swap(const std::string& path, const ModelOptions& options = {}) {
    auto loaded = open_file(path, options);
    if (!loaded) return loaded.error();
    shared_->set(*loaded);
    return {};
  }
  Error swap(const void* data, size_t size, const ModelOptions& options = {}) {
    auto loaded = open_bytes(data, size, options);
    if (!loaded) return loaded.error();
    shared_->set(*loaded);
    return {};
  }

  // Sets state tensors to their first value.
  void reset_state() {
    const auto l = current();
    const std::lock_guard<std::mutex> lock(l->running);
    (void)mote_instance_reset_state(l->instance.get());
  }

 private:
  // One program with its instance. Runs hold a reference, so that a swap cannot pull it away under them.
  struct Loaded {
    ProgramHandle program;
    InstanceHandle instance;
    uint32_t method = 0;
    std::vector<TensorSpec> inputs, outputs;
    std::mutex running;
  };
  using LoadedRef = std::shared_ptr<Loaded>;

  // What the model's threads share: the program in force, and the queue of asynchronous runs.
  class Shared {
   public:
    explicit Shared(LoadedRef loaded) : loaded_(std::move(loaded)) {}
    ~Shared() {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
      }
      changed_.notify_all();
      if (worker_.joinable()) worker_.join();  // runs still queued are done first
    }
    LoadedRef get() {
      const std::lock_guard<std::mutex> lock(mutex_);
      return loaded_;
    }
    void set(LoadedRef loaded) {
      const std::lock_guard<std::mutex> lock(mutex_);
      loaded_.swap(loaded);
    }
    void post(std::function<void()> job) {
      const std::lock_guard<std::mutex> lock(mutex_);
      jobs_.push_back(std::move(job));
      if (!worker_.joinable()) worker_ = std::thread([this] { work(); });
      changed_.notify_one();
    }

   private:
    void work() {
      std::unique_lock<std::mutex> lock(mutex_);
      for (;;) {
        changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        auto job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        job = nullptr;
        lock.lock();
      }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    LoadedRef loaded_;
    std::deque<std::function<void()>> jobs_;
    std::thread worker_;
    bool stop_ = false;
  };

  explicit Model(LoadedRef loaded) : shared_(std::make_unique<Shared>(std::move(loaded))) {}

  LoadedRef current() const { return shared_->get(); }
  static std::optional<std::string> text(const char* s) { return s != nullptr ? std::optional<std::string>(s) : std::nullopt; }

  static mote_open_options open_options(const ModelOptions& options, std::vector<const char*>* names) {
    mote_open_options o{};
    o.struct_size = sizeof o;
    if (options.verify_digests) o.flags |= MOTE_OPEN_VERIFY_DIGESTS;
    if (options.read_file) o.flags |= MOTE_OPEN_READ;
    o.registry = options.registry;
    o.memory_limit_bytes = options.memory_limit_bytes;
    if (!options.weights_path.empty()) o.weights_path = options.weights_path.c_str();
    for (const std::string& b : options.backends) names->push_back(b.c_str());
    if (!names->empty()) o.backends = names->data();
    o.backend_count = static_cast<uint32_t>(names->size());
    return o;
  }

  static Expected<LoadedRef> open_file(const std::string& path, const ModelOptions& options) {
    std::vector<const char*> names;
    const mote_open_options o = open_options(options, &names);
    const ErrorHandle error{mote_error_create()};
    mote_program* program = nullptr;
    const mote_status status = mote_program_open_file(path.c_str(), &o, &program, error.get());
    return status == 0 ? prepare(ProgramHandle(program), options) : Expected<LoadedRef>(make_error(status, error.get()));
  }
  static Expected<LoadedRef> open_bytes(const void* data, size_t size, const ModelOptions& options) {
    std::vector<const char*> names;
    const mote_open_options o = open_options(options, &names);
    const ErrorHandle error{mote_error_create()};
    mote_program* program = nullptr;
    const mote_status status = mote_program_open_memory(data, size, &o, &program, error.get());
    return status == 0 ? prepare(ProgramHandle(program), options) : Expected<LoadedRef>(make_error(status, error.get()));
  }

  static Expected<LoadedRef> prepare(ProgramHandle program, const ModelOptions& options) {
    auto loaded = std::make_shared<Loaded>();
    const ErrorHandle error{mote_error_create()};
    if (!options.method.empty()) {
      const mote_status status = mote_program_find_method(program.get(), options.method.c_str(), &loaded->method);
      if (status != 0) return make_error(status, nullptr);
    }
    mote_instance_options o{};
    o.struct_size = sizeof o;
    if (options.memory_limit_bytes != 0) {
      const uint64_t used = mote_program_allocated_bytes(program.get());
      // Nothing left must not read as "no limit".
      o.memory_limit_bytes = options.memory_limit_bytes > used ? options.memory_limit_bytes - used : 1;
    }
    mote_instance* instance = nullptr;
    const mote_status status = mote_instance_create(program.get(), &o, &instance, error.get());
    if (status != 0) return make_error(status, error.get());
    loaded->instance.reset(instance);
    loaded->inputs = specs(program.get(), loaded->method, false);
    loaded->outputs = specs(program.get(), loaded->method, true);
    loaded->program = std::move(program);
    return loaded;
  }

  static std::vector<TensorSpec> specs(const mote_program* program, uint32_t method, bool output) {
    std::vector<TensorSpec> all;
    const uint32_t count = output ? mote_program_output_count(program, method) : mote_program_input_count(program, method);
    for (uint32_t i = 0; i < count; ++i) {
      mote_tensor_info info{};
      info.struct_size = sizeof info;
      (void)(output ? mote_program_output_info(program, method, i, &info) : mote_program_input_info(program, method, i, &info));
      all.push_back({info.name, info.dtype, std::vector<int32_t>(info.dims, info.dims + info.rank), info.dynamic, info.bytes, info.quantized != 0, info.scale, info.zero_point});
    }
    return all;
  }

  static Error count_error(const char* what, size_t expected, size_t found) {
    Error e;
    e.status = MOTE_INVALID_ARGUMENT;
    e.message = "cannot run: the number of " + std::string(what) + " is wrong: expected " + std::to_string(expected) + ", found " + std::to_string(found);
    return e;
  }

  static Error run_on(Loaded& l, const std::vector<InputView>& inputs, std::vector<OutputView>& outputs, const RunOptions& options) {
    if (inputs.size() != l.inputs.size()) return count_error("inputs", l.inputs.size(), inputs.size());
    if (outputs.size() != l.outputs.size()) return count_error("outputs", l.outputs.size(), outputs.size());
    const std::lock_guard<std::mutex> lock(l.running);
    const ErrorHandle error{mote_error_create()};
    mote_status status = bind_all(l, inputs, outputs, error.get());
    mote_run_options o{};
    o.struct_size = sizeof o;
    o.max_steps = options.max_steps;
    o.deadline_ns = options.deadline_ns;
    o.cancel = options.cancel;
    if (status == 0) status = mote_instance_run(l.instance.get(), l.method, &o, error.get());
    if (status != 0) return make_error(status, error.get());
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      uint32_t rank = 0;
      int32_t dims[MOTE_MAX_RANK];
      (void)mote_instance_output_dims(l.instance.get(), l.method, i, dims, &rank);
      outputs[i].dims.assign(dims, dims + rank);
    }
    return {};
  }

  static mote_status bind_all(Loaded& l, const std::vector<InputView>& inputs, const std::vector<OutputView>& outputs, mote_error* error) {
    mote_instance* instance = l.instance.get();
    mote_status status = 0;
    for (uint32_t i = 0; i < inputs.size() && status == 0; ++i) {
      const InputView& v = inputs[i];
      if (!v.dims.empty()) status = mote_instance_set_input_dims(instance, l.method, i, v.dims.data(), static_cast<uint32_t>(v.dims.size()), error);
      if (status == 0) status = mote_instance_bind_input(instance, l.method, i, v.data, v.bytes, error);
    }
    for (uint32_t i = 0; i < outputs.size() && status == 0; ++i) status = mote_instance_bind_output(instance, l.method, i, outputs[i].data, outputs[i].bytes, error);
    return status;
  }

  std::unique_ptr<Shared> shared_;
};

}  // namespace mote

#endif  // MOTE_API_MOTE_HPP_
