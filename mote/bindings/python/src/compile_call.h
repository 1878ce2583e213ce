#pragma once

// One compilation: Python's settings as the driver's options, hooks that call back into Python, the result as a verified program.

#include <memory>
#include <string>
#include <vector>

#include "mote/bindings/python/src/custom_ops.h"
#include "mote/bindings/python/src/failure.h"
#include "mote/compiler/driver/compile.h"
#include "mote/tools/quantize_settings.h"

namespace mote::python {

class CompileCall {
 public:
  // Fields of `settings`, all optional: words (options as `mote compile` takes them), golden (a folder, or a list of dicts of arrays),
  // golden_examples, metadata and evidence (dicts of texts), labels_from (where the labels among them come from), external_weights (a
  // path), print_after (a list), time_passes, passes and late_passes (lists of callables), planner (a callable), memory_limit, quantize
  // (words of `mote compile`), emit_cpp (a path: OUT.h and OUT.cc are written too).
  explicit CompileCall(nb::dict settings);

  // A dict: image, frontend, log, notes, warnings, peak_bytes, lower_bound_bytes, stages_s, quantization (JSON), cpp (a dict). Raises
  // mote.CompileError, or what a hook raised.
  nb::dict run(const frontends::Source& source);

 private:
  void read_words(const std::string& words);
  void read_golden(nb::handle golden);
  void read_texts();
  void set_hooks();
  // Calls Python from the compiler's threadless depth; an exception is kept for run() and stops compiling.
  template <class Work>
  bool guard(std::string* error, Work work);
  bool place(const schedule::Bank& bank, std::vector<memory::BufferRequest>* blocks) const;
  nb::object get(const char* key) const { return settings_.contains(key) ? nb::object(settings_[key]) : nb::none(); }

  nb::dict settings_;
  driver::CompileOptions options_;
  tools::QuantizeSettings quantize_;
  std::shared_ptr<mote_registry> registry_;
  std::unique_ptr<OpRegistry> ops_;
  std::string external_, source_, target_;
  std::unique_ptr<nb::python_error> raised_;
};

}  // namespace mote::python
