#pragma once

// A program with one instance: what mote.Program is. Runs on the caller's arrays in place; results are new arrays of the same library as
// the inputs. One thread runs at a time, others wait for it; clone() makes another instance of the same verified file.

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "mote/bindings/python/src/array_view.h"
#include "mote/bindings/python/src/image.h"

namespace mote::python {

struct MethodSpec {
  std::string name;
  std::vector<Spec> inputs, outputs;
};

struct InstanceOptions {
  uint64_t memory_limit = 0;  // most bytes for program and instance; 0: any
  uint32_t threads = 1;       // that share the work of a run
  std::string kernels;        // instruction set; "": the most able one
};

struct RunLimits {
  double timeout_us = 0;  // 0: none
  uint32_t max_steps = 0;
  const mote_cancel* cancel = nullptr;
};

class Program {
 public:
  Program(std::shared_ptr<const Image> image, const InstanceOptions& options);

  const Image& image() const { return *image_; }
  const std::shared_ptr<const Image>& shared_image() const { return image_; }
  const mote_instance* instance() const { return instance_.get(); }
  InstanceHandle make_instance() const;  // another one, made as this program's was
  uint64_t allocated_bytes() const;
  const std::vector<MethodSpec>& methods() const { return methods_; }
  uint32_t find_method(const std::string& name) const;  // "": the first. Raises mote.Error with the names there are

  // `args` by position, `names` (a dict, may be null) by the inputs' names; all borrowed. One output is returned bare, several as a tuple:
  // a new reference.
  PyObject* call(uint32_t method, PyObject* const* args, size_t count, PyObject* names, const RunLimits& limits);
  // Arrays of zeros for the inputs or outputs of a method, at their largest sizes.
  nb::list empty(uint32_t method, bool outputs) const;

  void reset_state();
  // Copies arrays into buffers of the instance's own, for time_runs().
  void set_inputs(uint32_t method, nb::tuple inputs);
  // Times of runs on them, in nanoseconds; without the GIL. None when a run fails.
  std::vector<uint64_t> time_runs(uint32_t method, uint64_t runs, double seconds);

  // For Bound: the instance with its lock, and who bound buffers to a method last.
  class Use;
  const void*& binder(uint32_t method) { return binders_[method]; }

 private:
  friend class Use;
  void read_methods();
  PyObject* run(uint32_t method, PyObject* const* inputs, size_t count, const RunLimits& limits);
  std::vector<PyObject*> arrange(uint32_t method, PyObject* const* args, size_t count, PyObject* names) const;

  std::shared_ptr<const Image> image_;
  const InstanceOptions options_;
  InstanceHandle instance_;
  ErrorHandle error_{mote_error_create()};
  std::vector<MethodSpec> methods_;
  std::vector<const void*> binders_;
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};  // who holds it
  bool tiny_;                             // not worth handing the GIL over
};

// The instance, held by this thread. Waits without the GIL; raises mote.Error in an operator of the program that runs it again.
class Program::Use {
 public:
  explicit Use(Program& program);
  ~Use() {
    program_.owner_.store({}, std::memory_order_relaxed);
    program_.mutex_.unlock();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  mote_instance* instance() const { return program_.instance_.get(); }
  mote_error* error() const { return program_.error_.get(); }
  void bind_input(uint32_t method, uint32_t index, const Spec& spec, const ArrayView& view) const;
  void bind_output(uint32_t method, uint32_t index, const Spec& spec, void* data, uint64_t bytes) const;
  void run(uint32_t method, const RunLimits& limits) const;
  void fetch(uint32_t method, uint32_t index, const Spec& spec, void* data, uint64_t bytes) const;  // of an output in a bank

 private:
  Program& program_;
};

}  // namespace mote::python
