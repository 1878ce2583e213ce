#pragma once

// numpy as seen from here: a few of its functions, looked up once. Building needs none of its headers.

#include "mote/bindings/python/src/failure.h"

namespace mote::python {

struct Numpy {
  PyTypeObject* array_type = nullptr;
  PyObject* empty = nullptr;

  // The numpy type for an element type; bf16 is that of ml_dtypes where it is installed, two raw bytes elsewhere.
  nb::object dtype(mote_dtype dtype) const;

  // All return a new reference, or null with Python's error set.
  PyObject* make(PyObject* values, PyObject* dtype) const;
  PyObject* dense_copy(PyObject* object) const;  // of a buffer, or of what has __dlpack__
  PyObject* as_bf16(PyObject* array) const;      // the bits of bfloat16 elements as u16; any other array as it is
};

// Imports numpy on first use.
const Numpy& numpy();

}  // namespace mote::python
