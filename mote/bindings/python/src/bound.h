#pragma once

// A method with arrays bound to its inputs and outputs once: calling it runs, and nothing else.

#include "mote/bindings/python/src/program.h"

namespace mote::python {

class Bound {
 public:
  // `inputs` and `outputs`: an array for each, used in place until this goes; written and read by whoever holds them. `owner` is the Python
  // object of the program, kept alive.
  Bound(nb::object owner, Program& program, uint32_t method, nb::tuple inputs, nb::tuple outputs);
  ~Bound();
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  PyObject* call();  // the outputs: one bare, several as a tuple; a new reference
  nb::tuple inputs() const { return inputs_; }
  nb::tuple outputs() const { return outputs_; }

 private:
  void bind(const Program::Use& use);

  nb::object owner_;
  Program& program_;
  uint32_t method_;
  nb::tuple inputs_, outputs_;
  nb::object result_;
  std::unique_ptr<ArrayView[]> in_, out_;
};

}  // namespace mote::python
