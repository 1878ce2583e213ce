#pragma once

// A compilation of a model with intermediate values as outputs, run on this machine.

#include <functional>
#include <map>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/run.h"

namespace mote::quant {

// Changes the graph where the quantizer works (CompileOptions::quantize).
using GraphEdit = std::function<bool(ir::Graph& graph, std::string* error)>;

// The name of the output for an intermediate value.
std::string shown_name(int value_id);

class Probe {
 public:
  // `options` as for the program itself; examples and digests are left out.
  bool build(const frontends::Source& source, const driver::CompileOptions& options, const GraphEdit& edit, ir::Problems* problems);

  // A program that exists: `file` and `external` must outlive this.
  bool open(ConstBytes file, ConstBytes external, const OpRegistry* ops, kernels::SelectFn select, std::string* error);

  bool run(const std::vector<driver::Array>& inputs, std::string* error);
  // The program has 8-bit inputs and outputs in place of the model's f32 (driver/narrow_io.h); run() takes and gives f32 all the same.
  void set_narrow_io(bool on) { narrow_io_ = on; }
  // Of the last run; null when it is not shown.
  const driver::Array* value(int id) const;
  const driver::Array& output(size_t index) const { return outputs_[index]; }
  size_t output_count() const { return own_; }  // the model's own
  std::vector<std::string> output_names() const;
  const ProgramTable& table() const { return program_.program().table(); }

 private:
  driver::CompileResult compiled_;
  driver::HostProgram program_;
  std::map<int, size_t> shown_;
  size_t own_ = 0;
  bool narrow_io_ = false;
  std::vector<driver::Array> outputs_;
};

}  // namespace mote::quant
