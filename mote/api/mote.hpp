// Mote for C++17: a thin layer over mote.h. Header only, so that it depends on the C interface alone; nothing here throws
// by itself (the standard containers may, when memory runs out).
//
//   auto model = mote::Model::load("digits.mote");
//   if (!model) return fail(model.error().message);
//   std::vector<float> image(64), scores(10);
//   if (auto error = model->run({mote::input_view(image)}, {mote::output_view(scores)})) return fail(error.message);
//
// Views know their element type and size; run() refuses what is not the tensor's, and says which tensor and what was expected.
//
// A program compiled for a device names its backends, which are loaded from the folder of libmote (docs/backends-in-applications.md):
//
//   auto runtime = mote::Runtime::make({"opencl"});
//   auto model = runtime->load("detector.mote");
//   if (model->degraded()) log(model->degraded().message);
//
// Threads: a Model may be used by any number of threads. Runs of one Model take turns, since they share one instance with its
// memory and state; load a second Model (the mapped file is shared) to run at the same time.
#ifndef MOTE_API_MOTE_HPP_
#define MOTE_API_MOTE_HPP_

#include <deque>
#include <functional>
#include <thread>

#include "mote/api/backends.hpp"
#include "mote/api/view_check.hpp"

namespace mote {

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
  std::optional<std::string> metadata(const std::string& key) const {
    return text(mote_program_metadata(current()->program.get(), key.c_str()));
  }
  std::optional<std::string> evidence(const std::string& key) const {
    return text(mote_program_evidence(current()->program.get(), key.c_str()));
  }
  // What the model is called: its file says so, or else nothing does.
  std::string name() const { return metadata("name").value_or(""); }
  // Where its operators run, in order.
  std::vector<Part> parts() const {
    const auto l = current();
    return api_detail::parts_of(l->program.get(), l->instance.get());
  }
  // True where parts of the program run on the CPU because their backend cannot be had; says which, and why.
  Error degraded() const {
    const auto l = current();
    const ErrorHandle why{mote_error_create()};
    return mote_instance_degraded(l->instance.get(), why.get()) == 0 ? Error{} : make_error(mote_error_status(why.get()), why.get());
  }
  // Runs the examples in the file on this model's backends and kernels, in an instance of its own.
  SelfTest self_test() const {
    const auto l = current();
    mote_instance* made = nullptr;
    const ErrorHandle error{mote_error_create()};
    const mote_instance_options o = instance_options(l->options, mote_program_allocated_bytes(l->program.get()));
    const mote_status status = mote_instance_create(l->program.get(), &o, &made, error.get());
    const InstanceHandle instance(made);
    return status == 0 ? api_detail::self_test(instance.get()) : SelfTest{0, 0, 0, make_error(status, error.get())};
  }
  // Another limit for what program and instance may allocate, from now on; 0: none. Fails, and changes nothing, where they hold more.
  Error set_memory_limit(uint64_t bytes) {
    const auto l = current();
    const std::lock_guard<std::mutex> lock(l->running);
    const uint64_t used = mote_program_allocated_bytes(l->program.get()) + l->described_bytes;
    const ErrorHandle error{mote_error_create()};
    const mote_status status = mote_instance_set_memory_limit(l->instance.get(),
                                                              bytes == 0     ? 0
                                                              : bytes > used ? bytes - used
                                                                             : 1,
                                                              error.get());
    if (status != 0) return make_error(status, error.get());
    l->options.memory_limit_bytes = bytes;
    return {};
  }
  // Bytes that are held for program and instance, and for what inputs() and outputs() say.
  uint64_t allocated_bytes() const {
    const auto l = current();
    return mote_program_allocated_bytes(l->program.get()) + mote_instance_allocated_bytes(l->instance.get()) + l->described_bytes;
  }

  // Runs the method on the caller's buffers, without a copy. One view per input and output, in order. Fills in outputs[i].dims.
  Error run(const std::vector<InputView>& inputs, std::vector<OutputView>& outputs, const RunOptions& options = {}) {
    return run_on(*current(), inputs, outputs, options);
  }
  Error run(const std::vector<InputView>& inputs, std::vector<OutputView>&& outputs, const RunOptions& options = {}) {
    return run(inputs, outputs, options);
  }

  // Runs on a thread of this model, in the order of the calls. The buffers are borrowed until `callback` has returned; it comes on
  // that thread, and must not destroy the model. Uses the program in force when the run starts.
  using Callback = std::function<void(const Error& error, const std::vector<OutputView>& outputs)>;
  Ticket run_async(std::vector<InputView> inputs, std::vector<OutputView> outputs, Callback callback, const RunOptions& options = {}) {
    Ticket ticket;
    auto state = ticket.state_;
    shared_->post([shared = shared_.get(), state, inputs = std::move(inputs), outputs = std::move(outputs), callback = std::move(callback),
                   options]() mutable {
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
    ModelOptions options;  // it was loaded with
    uint32_t method = 0;
    std::vector<TensorSpec> inputs, outputs;
    uint64_t described_bytes = 0;  // of these two
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

  static Expected<LoadedRef> open_file(const std::string& path, const ModelOptions& options) {
    const auto named = [&](Error e) {
      e.message = path + ": " + e.message;
      return e;
    };
    api_detail::Opening opening(options);
    if (opening.error()) return named(opening.error());
    const ErrorHandle error{mote_error_create()};
    mote_program* program = nullptr;
    const mote_status status = mote_program_open_file(path.c_str(), opening.options(), &program, error.get());
    auto loaded = status == 0 ? prepare(ProgramHandle(program), options) : Expected<LoadedRef>(make_error(status, error.get()));
    return loaded ? loaded : named(loaded.error());
  }
  static Expected<LoadedRef> open_bytes(const void* data, size_t size, const ModelOptions& options) {
    api_detail::Opening opening(options);
    if (opening.error()) return opening.error();
    const ErrorHandle error{mote_error_create()};
    mote_program* program = nullptr;
    const mote_status status = mote_program_open_memory(data, size, opening.options(), &program, error.get());
    return status == 0 ? prepare(ProgramHandle(program), options) : Expected<LoadedRef>(make_error(status, error.get()));
  }

  // `options` must live as long as the result.
  static mote_instance_options instance_options(const ModelOptions& options, uint64_t used_bytes) {
    mote_instance_options o{};
    o.struct_size = sizeof o;
    // Nothing left must not read as "no limit".
    if (options.memory_limit_bytes != 0)
      o.memory_limit_bytes = options.memory_limit_bytes > used_bytes ? options.memory_limit_bytes - used_bytes : 1;
    o.threads = options.threads;
    if (!options.kernels.empty()) o.kernels = options.kernels.c_str();
    return o;
  }

  static Expected<LoadedRef> prepare(ProgramHandle program, const ModelOptions& options) {
    auto loaded = std::make_shared<Loaded>();
    loaded->options = options;
    const ErrorHandle error{mote_error_create()};
    if (!options.method.empty()) {
      const mote_status status = mote_program_find_method(program.get(), options.method.c_str(), &loaded->method);
      if (status != 0) return method_error(program.get(), options.method, status);
    }
    const mote_instance_options o = instance_options(options, mote_program_allocated_bytes(program.get()));
    mote_instance* instance = nullptr;
    const mote_status status = mote_instance_create(program.get(), &o, &instance, error.get());
    if (status != 0) return make_error(status, error.get());
    loaded->instance.reset(instance);
    const uint64_t all = o.memory_limit_bytes != 0 ? o.memory_limit_bytes - mote_instance_allocated_bytes(instance) : UINT64_MAX;
    uint64_t left = all;
    if (!specs(program.get(), loaded->method, false, &left, &loaded->inputs) ||
        !specs(program.get(), loaded->method, true, &left, &loaded->outputs))
      return make_error(MOTE_OUT_OF_MEMORY | kMemoryLimit << 8, nullptr);
    loaded->described_bytes = all - left;
    loaded->program = std::move(program);
    return loaded;
  }

  static constexpr mote_status kMemoryLimit = 241;  // the reason, as mote_why_name() has it

  // Copies of what the program says of its inputs or outputs; false where they take more than *left bytes. Names are the file's: any
  // length, and one text may be the name of all.
  static bool specs(const mote_program* program, uint32_t method, bool output, uint64_t* left, std::vector<TensorSpec>* all) {
    const uint32_t count = output ? mote_program_output_count(program, method) : mote_program_input_count(program, method);
    for (uint32_t i = 0; i < count; ++i) {
      mote_tensor_info info{};
      info.struct_size = sizeof info;
      (void)(output ? mote_program_output_info(program, method, i, &info) : mote_program_input_info(program, method, i, &info));
      uint64_t bytes = sizeof(TensorSpec) + info.rank * sizeof(int32_t);
      for (const char* c = info.name; *c != 0 && bytes <= *left; ++c) ++bytes;
      if (bytes > *left) return false;
      *left -= bytes;
      all->push_back({info.name, info.dtype, std::vector<int32_t>(info.dims, info.dims + info.rank), info.dynamic, info.bytes,
                      info.quantized != 0, info.scale, info.zero_point});
    }
    return true;
  }

  static Error method_error(const mote_program* program, const std::string& found, mote_status status) {
    std::string names;
    for (uint32_t i = 0; i < mote_program_method_count(program); ++i)
      names += (i > 0 ? ", " : "") + std::string(mote_program_method_name(program, i));
    Error e = make_error(status, nullptr);
    e.message = "no such method: expected one of " + names + ", found '" + found + "'";
    return e;
  }

  static Error run_on(Loaded& l, const std::vector<InputView>& inputs, std::vector<OutputView>& outputs, const RunOptions& options) {
    if (Error e = api_detail::check_views(l.inputs, inputs, "input")) return e;
    if (Error e = api_detail::check_views(l.outputs, outputs, "output")) return e;
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
      const std::vector<int32_t>& dims = v.dims.empty() ? l.inputs[i].dims : v.dims;
      if (l.inputs[i].dynamic != 0)
        status = mote_instance_set_input_dims(instance, l.method, i, dims.data(), static_cast<uint32_t>(dims.size()), error);
      if (status == 0) status = mote_instance_bind_input(instance, l.method, i, v.data, v.bytes, error);
    }
    for (uint32_t i = 0; i < outputs.size() && status == 0; ++i)
      status = mote_instance_bind_output(instance, l.method, i, outputs[i].data, outputs[i].bytes, error);
    return status;
  }

  std::unique_ptr<Shared> shared_;
};

// What loads models: backends, and the settings of every model that is loaded after they were made. One shape for every language: make it,
// say which backends and limits hold, load, run. Copies share nothing but the backends; one thread at a time.
class Runtime {
 public:
  // With backends by name or absolute path. Fails where one of them cannot be loaded.
  static Expected<Runtime> make(const std::vector<std::string>& backends = {}, ModelOptions options = {}) {
    Runtime runtime(std::move(options));
    if (Error e = runtime.set_backends(backends)) return e;
    return runtime;
  }

  // Exactly these from now on, "cpu" among them or not: models that were loaded keep theirs. On failure nothing changes.
  Error set_backends(const std::vector<std::string>& names) {
    mote_registry* made = nullptr;
    if (const mote_status s = mote_registry_create(&made)) return make_error(s, nullptr);
    std::shared_ptr<mote_registry> registry(made, &mote_registry_release);
    std::vector<std::string> allowed;
    if (Error e = api_detail::load_backends(made, names, &allowed)) return e;
    registry_ = std::move(registry);
    options_.registry = registry_.get();
    options_.backends = std::move(allowed);
    return {};
  }
  std::vector<BackendInfo> backends() const { return api_detail::backends_of(registry_.get()); }

  void set_memory_limit(uint64_t bytes) { options_.memory_limit_bytes = bytes; }
  void set_threads(uint32_t threads) { options_.threads = threads; }
  void set_kernels(std::string name) { options_.kernels = std::move(name); }
  // The policy: where operators must have been placed, and whether the CPU may stand in for a device that is not there.
  void set_policy(std::vector<std::string> require, bool no_fallback) {
    options_.require = std::move(require);
    options_.no_fallback = no_fallback;
  }
  const ModelOptions& options() const { return options_; }

  Expected<Model> load(const std::string& path) const { return Model::load(path, options_); }
  Expected<Model> load(const void* data, size_t size) const { return Model::load(data, size, options_); }
  // Another program in a model's place: Model::swap() with this runtime's settings.
  Error swap(Model& model, const std::string& path) const { return model.swap(path, options_); }

 private:
  explicit Runtime(ModelOptions options) : options_(std::move(options)) {}

  std::shared_ptr<mote_registry> registry_;
  ModelOptions options_;
};

}  // namespace mote

#endif  // MOTE_API_MOTE_HPP_
