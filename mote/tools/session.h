#pragma once

// A program opened by a command, with its instance. Failures are thrown as Failure with the file's name in front.

#include <string>
#include <vector>

#include "mote/tools/backends.h"
#include "mote/tools/failure.h"
#include "mote/tools/npy.h"

namespace mote::tools {

struct OpenSettings {
  std::string weights;  // path of external weights, or empty
  bool verify_digests = false;
  std::string kernels;  // instruction set, or empty: the best
  uint32_t threads = 1;
  std::vector<std::string> backends;  // the program may use, besides the CPU; empty: every one of this build
  uint64_t memory_limit = 0;          // most bytes for program and instance, and again for each piece of its backends; 0: no limit
};

class Session {
 public:
  // With the backends of this build and of plug-ins, or with those of a registry.
  explicit Session(const std::string& path, const OpenSettings& settings = {}, RegistryHandle registry = nullptr);

  const std::string& path() const { return path_; }
  mote_program* program() const { return program_.get(); }
  mote_instance* instance() const { return instance_.get(); }

  // The method's number; an empty name is the first one. Lists the names there are when it is not found.
  uint32_t method(const std::string& name) const;
  std::vector<TensorSpec> specs(uint32_t method, bool output) const;

  void create_instance(mote_trace_fn trace = nullptr, void* trace_context = nullptr);
  // Allocates every input and output of a method.
  void own_io(uint32_t method);
  // Checks type and shape, sets dynamic sizes, copies the values in.
  void set_input(uint32_t method, uint32_t index, const NpyArray& array);
  void set_input(uint32_t method, uint32_t index, const std::vector<int32_t>& dims, const void* data, uint64_t bytes);
  NpyArray output(uint32_t method, uint32_t index) const;
  void run(uint32_t method);
  void reset_state();

 private:
  void check(mote_status status, const mote_error* error) const;

  std::string path_, kernels_;
  uint32_t threads_;
  uint64_t memory_limit_;
  RegistryHandle registry_;
  ProgramHandle program_;
  InstanceHandle instance_;
  ErrorHandle error_{mote_error_create()};
};

}  // namespace mote::tools
