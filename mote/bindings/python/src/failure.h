#pragma once

// Failures on their way to Python, where they become mote.Error or mote.CompileError.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

#include "mote/api/values.hpp"

namespace mote::python {

namespace nb = nanobind;

// Text with bytes of a model in it, which need not be UTF-8: such bytes are written as \xff.
nb::object text_of(const std::string& text);

// Throws mote.Error, with everything the library says of it.
[[noreturn]] void raise(const Error& error);
[[noreturn]] void raise(mote_code code, const std::string& message);
// Throws a class of mote/_errors.py, made of the message and the fields.
[[noreturn]] void raise_as(const char* name, nb::dict fields, const std::string& message);
// Throws what Python's error indicator holds.
[[noreturn]] void raise_python();

inline void check(mote_status status, const mote_error* error) {
  if (status != 0) raise(make_error(status, error));
}

// For slots and callbacks, which CPython or C calls: a C++ exception becomes Python's error indicator, and null.
template <class Work>
PyObject* guarded(Work work) noexcept {
  try {
    return work();
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetObject(PyExc_RuntimeError, text_of(e.what()).ptr());
  }
  return nullptr;
}

// Runs without the GIL, which other threads may take meanwhile.
class Unlocked {
 public:
  explicit Unlocked(bool wanted) : state_(wanted ? PyEval_SaveThread() : nullptr) {}
  ~Unlocked() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace mote::python
